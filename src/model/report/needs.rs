//! What waits for a person: each thing with its reason and the way on. Pure.

use std::cmp::Reverse;

use serde::Serialize;

use super::{Material, NAME, REASON, line};
use crate::model::goals::Goals;
use crate::model::select;
use crate::model::snapshot::Measurement;
use crate::model::strikes::{self, Standing};
use crate::model::text;
use crate::model::work::SHORT_ID;

/// How many things of one kind are named.
const NAMED: usize = 20;

/// One thing that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Need {
    /// What waits.
    pub what: String,
    /// Why; may be empty.
    pub why: String,
    /// What to do.
    pub way_on: String,
}

impl Need {
    fn new(what: impl Into<String>, why: &str, way_on: impl Into<String>) -> Need {
        Need {
            what: what.into(),
            why: line(why, REASON),
            way_on: way_on.into(),
        }
    }
}

/// Returns everything that waits for a person, what stops the loop first.
pub(super) fn all(material: &Material<'_>) -> Vec<Need> {
    let mut needs = in_the_way(material);
    match material.goals {
        Ok(goals) => needs.extend(some(stuck(material, goals))),
        Err(none) => needs.push(Need::new(
            "The goals cannot be read",
            none.why,
            match none.is_there {
                true => "`evolve validate` shows each problem with its place",
                false => "`evolve init` looks at the repository and writes them",
            },
        )),
    }
    needs.extend(some(unmeasured(material)));
    needs.extend(some(flaky(material)));
    let set_aside = material.set_aside.iter().map(|item| {
        let id: String = item.id().chars().take(SHORT_ID).collect();
        Need::new(
            format!("Work item set aside: {}", line(&item.title, NAME)),
            &format!("it failed {} times", item.failures),
            format!("do it by hand (`evolve work done {id}` takes it off), or write it down in smaller parts (`evolve work add TITLE`) and drop it: `evolve work drop {id}`"),
        )
    });
    needs.extend(some(set_aside));
    let problems = material.problems.iter().map(|problem| {
        let way_on = "`evolve audit` holds every record against git";
        Need::new(
            "A file of the ledger is not as it should be",
            problem,
            way_on,
        )
    });
    needs.extend(some(problems));
    needs
}

/// Returns what keeps the next session from working as ever.
fn in_the_way(material: &Material<'_>) -> Vec<Need> {
    let state = &material.state;
    let mut needs = Vec::new();
    if let Some(kill) = &state.kill {
        needs.push(Need::new(
            "A KILL file keeps every session from running",
            &kill.path,
            kill.way_past(),
        ));
    }
    if let Some(words) = &state.stop {
        let way_on = "`evolve stop --off` takes the file away";
        needs.push(Need::new(
            "A STOP file keeps the loop from running",
            words,
            way_on,
        ));
    }
    if let Some(cycle) = state.interrupted_cycle {
        needs.push(Need::new(
            format!("Cycle {cycle} was cut short and is not settled"),
            "its session ended in the middle of it",
            "the next run of `evolve` undoes it first",
        ));
    }
    let newest = material.records.last();
    if let Some(newest) = newest.filter(|it| it.is_environment_change()) {
        needs.push(Need::new(
            format!(
                "Something outside the repository changed in cycle {}",
                newest.cycle
            ),
            newest.reason.as_deref().unwrap_or_default(),
            "`evolve measure` shows what fails now without any change",
        ));
    } else if let Some(ended) = material.ended.filter(|ended| ended.is_asking)
        && state.running_since.is_none()
    {
        needs.push(Need::new(
            "What ended the newest session is for you to see to",
            &ended.reason,
            match material.records.is_empty() {
                true => "put that right, and run `evolve` again",
                false => "`git log` and `evolve show` tell what happened; then run `evolve` again",
            },
        ));
    }
    needs
}

/// Says whether a person has to see to something before a session can work as ever.
pub(super) fn is_kept_from_working(material: &Material<'_>) -> bool {
    !in_the_way(material).is_empty()
}

/// Returns how many failing goals the next session goes on with, whatever waits for a person.
pub(super) fn open_goals(material: &Material<'_>) -> usize {
    let (Ok(goals), Some(newest)) = (material.goals, material.newest) else {
        return 0;
    };
    if is_kept_from_working(material) {
        return 0;
    }
    let is_open = |id: &str| {
        let goal = goals.find(id);
        let standing = |goal| strikes::standing(goal, material.records, material.retries);
        goal.is_some_and(|goal| matches!(standing(goal), Standing::Open))
    };
    let failing = select::failing_goals(newest);
    failing.iter().filter(|goal| is_open(&goal.id)).count()
}

/// Returns the goals that are passed over until a person says otherwise, the heaviest first.
fn stuck<'a>(
    material: &'a Material<'_>,
    goals: &'a Goals,
) -> impl ExactSizeIterator<Item = Need> + 'a {
    let mut heaviest_first: Vec<_> = goals.goals.iter().collect();
    heaviest_first.sort_by_key(|goal| Reverse(goal.weight));
    let stuck = heaviest_first.into_iter().filter_map(|goal| {
        let id = line(&goal.id, NAME);
        let (word, why) = match strikes::standing(goal, material.records, material.retries) {
            Standing::Open => return None,
            Standing::Struck(why) => ("was struck after three cycles without progress", why),
            Standing::Declined(why) => ("was declined by the agent", why),
        };
        let retry = format!("`evolve retry {}`", text::shell_word(&id));
        let way_on = format!("mend it or its check by hand, or allow another attempt: {retry}");
        Some(Need::new(format!("{id} {word}"), &why, way_on))
    });
    stuck.collect::<Vec<_>>().into_iter()
}

/// Returns the goals of which nobody knows whether they hold, because their checks could not run.
fn unmeasured<'a>(material: &'a Material<'_>) -> impl ExactSizeIterator<Item = Need> + 'a {
    const WAY_ON: &str = "install what its check runs, put the folder that has it on the PATH, or make its file one that can be run: `evolve measure` shows what the check says";
    let unmeasured = heaviest_first(material, Measurement::cannot_run);
    unmeasured.into_iter().map(|goal| {
        let why = goal.reason.as_deref().unwrap_or_default();
        Need::new(
            format!("{} could not be measured", line(&goal.id, NAME)),
            why,
            WAY_ON,
        )
    })
}

/// Returns the goals whose checks said both of the same content when they were measured last.
fn flaky<'a>(material: &'a Material<'_>) -> impl ExactSizeIterator<Item = Need> + 'a {
    let flaky = heaviest_first(material, |goal| goal.flaky);
    flaky.into_iter().map(|goal| {
        Need::new(
            format!("{} is flaky", line(&goal.id, NAME)),
            "it failed and passed on the same content",
            "no agent is called for it: mend its check, or have it measured more often (`retries`)",
        )
    })
}

/// Returns the newest measurements that are meant, of what still is a goal, the heaviest first.
fn heaviest_first<'a>(
    material: &'a Material<'_>,
    is_meant: impl Fn(&Measurement) -> bool,
) -> Vec<&'a Measurement> {
    let is_goal = |id: &str| material.goals.is_ok_and(|goals| goals.find(id).is_some());
    let measured = material.newest.iter().flat_map(|newest| &newest.goals);
    let mut meant: Vec<_> = measured
        .filter(|goal| is_meant(goal) && is_goal(&goal.id))
        .collect();
    meant.sort_by_key(|goal| Reverse(goal.weight));
    meant
}

/// Returns the first of many, and one that counts the rest.
fn some(needs: impl ExactSizeIterator<Item = Need>) -> Vec<Need> {
    let more = needs.len().saturating_sub(NAMED);
    let mut named: Vec<Need> = needs.take(NAMED).collect();
    if more > 0 {
        let what = format!("{more} more of this kind");
        named.push(Need::new(
            what,
            "",
            "`evolve status` and `evolve work list` name them",
        ));
    }
    named
}
