//! `--goals-as-gates`: the goals are measured on the untouched code, where attempts are, and those that pass become gates.

use std::collections::HashMap;

use crate::effects::measure::Measurer;
use crate::effects::sandbox::Profile;
use crate::model::goals::{Goal, Goals};
use crate::model::search::lineage::Request;
use crate::model::snapshot::CheckResult;
use crate::model::text;
use crate::session::{Cut, Site, Slots};

/// How many names a line holds.
const NAMED: usize = 8;

/// Adds the checks of the goals that pass on the untouched code to the gates, with their limits of time, and tells which they
/// are. A goal with a threshold is none: a gate knows nothing but its exit code.
pub async fn add_goals(site: &Site, request: &mut Request, goals: &Goals) -> Result<(), Cut> {
    let base = &site.request.base;
    let (with_threshold, chosen): (Vec<&Goal>, Vec<&Goal>) = goals
        .goals
        .iter()
        .partition(|goal| goal.threshold().is_some());
    let logs = site.logs();
    let mut measured = Vec::new();
    for goal in &chosen {
        // As a gate begins in a clean copy, too.
        let slot = site.slot(Slots::Measure, 0, base).await?;
        let ground = site.user.ground_of_slot(&slot.root);
        let measurer = Measurer {
            supervisor: site.supervisor.clone(),
            stop: site.stop.clone(),
            events: site.events.clone(),
            root: slot.root,
            jobs: 1,
            session: site.id.clone(),
            fence: site.sandbox.fence(Profile::Checks, &ground)?,
        };
        measured.extend(
            measurer
                .measure(goals, &[*goal], &HashMap::new(), Some(&logs))
                .await?,
        );
    }
    let passes = |goal: &&Goal| {
        let of_it = measured.iter().find(|one| one.id == goal.id);
        of_it.is_some_and(|one| one.result == CheckResult::Pass)
    };
    let (passing, failing): (Vec<&Goal>, Vec<&Goal>) = chosen.into_iter().partition(passes);
    let names = |goals: &[&Goal]| {
        let ids: Vec<String> = goals.iter().map(|goal| goal.id.clone()).collect();
        text::some_of(&ids, NAMED)
    };
    let count = (passing.len(), goals.goals.len());
    let mut said = format!("{} of {} goals are gates", count.0, count.1);
    for (words, those) in [
        ("", &passing),
        ("not passing: ", &failing),
        ("measured against a threshold: ", &with_threshold),
    ] {
        if !those.is_empty() {
            let sign = if words.is_empty() { ":" } else { ";" };
            said.push_str(&format!("{sign} {words}{}", names(those)));
        }
    }
    site.events.note(said);
    for goal in passing {
        let limit = goal.timeout.or(goals.settings.timeout);
        let limit = limit.map(|limit| (goal.check.clone(), limit.as_secs_f64()));
        request.gate_timeouts_s.extend(limit);
        request.gates.push(goal.check.clone());
    }
    Ok(())
}
