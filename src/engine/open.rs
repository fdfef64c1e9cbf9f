//! What happens once before the first cycle: the baseline of a first run, and the check that every check script is wired.

use std::fs;
use std::path::Path;

use crate::cycle::{
    clear_after_checks, load_goals, measure_before, refuse_unmeasurable, warn_of_elsewhere,
    warn_of_lack,
};
use crate::effects::clock;
use crate::effects::journal::Journal;
use crate::effects::ledger::Ledger;
use crate::error::Result;
use crate::model::goals::{Goals, Where};
use crate::model::ledger as names;
use crate::model::record::unseen;
use crate::model::summary;
use crate::model::sweep::{self, Part};
use crate::model::text;
use crate::model::work::{NewItem, Queue, Severity};
use crate::session::{Carried, Cut, Progress, Session};

/// Prepares a session's first cycle.
pub async fn open(session: &Session, progress: &mut Progress) -> Result<(), Cut> {
    if let Some(halt) = session.stop.look_for_kill() {
        return Err(halt.into());
    }
    Ledger::exclude_private_files(session.home(), session.agent.leaves())?;
    for problem in progress.ledger.problems() {
        session.events.warn(problem);
    }
    if session.stop_file().is_some() {
        return Ok(());
    }
    let unseen = unseen::spans(&progress.ledger.history.records);
    let mut start = session.begin_first(&unseen)?;
    let goals = load_goals(session, &start)?;
    if progress.ledger.history.records.is_empty() && session.home().is_ignored(names::HISTORY) {
        session
            .events
            .note("evolve's files in .agents are committed although git ignores that folder");
    }
    if session.home().misjudges_case() {
        session.events.warn(
            "core.ignoreCase is set, though names that differ by case alone are different files here: git sees one of two such files, a goal may be met by what is in no commit, and an untracked file may be lost; `git config --unset core.ignoreCase`".to_owned(),
        );
    }
    warn_of_elsewhere(session, &goals);
    queue_unwired_scripts(session, progress, &goals)?;
    // A baseline that git does not have is nobody's: a session died that measured it, or somebody put it there.
    let is_first_run = progress.ledger.history.records.is_empty()
        && (!progress.ledger.is_in_git()
            || progress
                .ledger
                .snapshot(session.home(), names::BASELINE)
                .is_none());
    if !is_first_run || session.options.skip_baseline {
        progress.opened = Some(start);
        return Ok(());
    }
    session
        .journal_file
        .write(&Journal::measuring(&session.id, 0))?;
    start.kept.look(&session.repo.root, None);
    let mut baseline = measure_before(session, progress, &start, &goals, "baseline").await?;
    session.tell_measured(&baseline, "baseline");
    clear_after_checks(session, progress, &start)?;
    warn_of_lack(session, progress, &goals, &baseline, 0).await?;
    refuse_unmeasurable(&baseline, &goals)?;
    session.goals_file.refuse_failed_unread(&goals, &baseline)?;
    baseline.cycle = Some(0);
    baseline.session = Some(session.id.clone());
    progress.ledger.write_snapshot(names::BASELINE, &baseline)?;
    progress.ledger.write(
        names::BASELINE_REPORT,
        summary::baseline_report(&baseline).into_bytes(),
    )?;
    progress.note_snapshot(&baseline);
    let mut listed = start.kept.clone();
    if session.isolation.is_none() {
        let note = || session.workspace().note_came(&start, &mut listed);
        let touched = session.with_settings_held(0, note)?;
        if goals.settings.measure == Where::Here {
            progress.written.extend(touched);
        }
        progress.note_came(&start.kept, &listed);
    }
    let mut kept = listed.clone();
    kept.note_outputs(&session.repo.root, None, &listed, &[]);
    kept.look(&session.repo.root, Some(&listed));
    progress.kept = Some(kept);
    progress.carried = Some(Carried {
        snapshot: baseline,
        file: names::BASELINE.to_owned(),
        content: start.content,
    });
    Ok(())
}

/// Queues each `scripts/check-*.sh` that is in no check, once.
fn queue_unwired_scripts(session: &Session, progress: &mut Progress, goals: &Goals) -> Result<()> {
    let parts = sweep::parts(
        goals.settings.sweep.as_deref(),
        session.options.sweep.as_deref(),
    );
    let queue = &mut progress.ledger.queue;
    let added = add_unwired(&session.repo.root, &parts, goals, queue);
    if added > 0 {
        progress.ledger.write_queue()?;
        let verb = if added == 1 { "is" } else { "are" };
        session.events.note(format!(
            "{} {verb} in no check: queued, see `evolve work list`",
            text::count(added, "check script")
        ));
    }
    Ok(())
}

/// Adds each `scripts/check-*.sh` below `root` that is in no check, unless the queue has or had it; returns how many. None where no
/// work is looked for: the `parts` of a sweep are none (`sweep: []`).
pub fn add_unwired(root: &Path, parts: &[Part], goals: &Goals, queue: &mut Queue) -> usize {
    if parts.is_empty() {
        return 0;
    }
    let mut added = 0;
    for script in unwired_scripts(root, goals) {
        let item = NewItem {
            title: format!("Unwired script: {script} — wire to GOALS.yaml or delete"),
            kind: "tech-debt".to_owned(),
            severity: Severity::High,
            source: "wiring check".to_owned(),
            description: "The script is named in no check, so nothing notices when it fails."
                .to_owned(),
            ..NewItem::default()
        };
        added += usize::from(queue.add(item, &clock::timestamp()));
    }
    added
}

/// Returns the scripts `scripts/check-*.sh` that no check names.
fn unwired_scripts(root: &Path, goals: &Goals) -> Vec<String> {
    let Ok(folder) = fs::read_dir(root.join("scripts")) else {
        return Vec::new();
    };
    let mut scripts: Vec<String> = folder
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("check-") && name.ends_with(".sh"))
        .map(|name| format!("scripts/{name}"))
        .filter(|script| {
            !goals
                .goals
                .iter()
                .any(|goal| goal.check.contains(script.as_str()))
        })
        .collect();
    scripts.sort();
    scripts
}
