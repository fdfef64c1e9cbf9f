//! What a record says became of its cycle, held against what its commits and snapshots show.

use super::witness::{Witness, is_adrift, quoted, snapshot_of};
use crate::model::gate::BY_OTHERS;
use crate::model::record::{CycleResult, NEXT_WORK, Record};
use crate::model::snapshot::{self, CheckResult, Snapshot};

/// The reasons for which a change stays in a branch although its cycle was interrupted, as they begin.
const LEFT_AS_IT_IS: [&str; 2] = [BY_OTHERS, "the branch no longer holds"];
/// The reason of a cycle whose goal passes although nothing was changed.
const WITHOUT_A_CHANGE: &str = "passes without a change";

/// Holds what became of the cycle against what its commits and snapshots show.
pub fn of_result(witness: &Witness<'_>) -> Vec<String> {
    let mut found = Vec::from_iter(of_content(witness));
    found.extend(of_kept(witness.record));
    found.extend(of_goal(witness));
    found.extend(of_goals_added(witness));
    found.extend(of_newly_failing(witness));
    found.extend(of_newly_passing(witness));
    found
}

fn is_kept(result: CycleResult) -> bool {
    match result {
        CycleResult::Improved
        | CycleResult::Harvested
        | CycleResult::Unchanged
        | CycleResult::Idle => true,
        CycleResult::Regressed | CycleResult::Failed | CycleResult::Interrupted => false,
    }
}

fn is_item(record: &Record) -> bool {
    let goal = record.goal_id.as_ref();
    goal.is_some_and(|id| id.starts_with(NEXT_WORK))
}

fn has_reason(record: &Record, starts: &[&str]) -> bool {
    let reason = record.reason.as_deref().unwrap_or_default();
    starts.iter().any(|start| reason.starts_with(start))
}

/// Whether the content is another one afterwards, and may be.
fn of_content(witness: &Witness<'_>) -> Option<String> {
    let record = witness.record;
    let (commit, start) = (witness.commit.seen()?, witness.start.seen()?);
    if is_adrift(record, &witness.start) {
        return None;
    }
    let is_changed = commit.content != start.content;
    let may_be = match record.result {
        CycleResult::Improved | CycleResult::Harvested => is_changed,
        CycleResult::Regressed | CycleResult::Failed | CycleResult::Idle => !is_changed,
        CycleResult::Unchanged => {
            !is_changed || !(is_item(record) || has_reason(record, &[WITHOUT_A_CHANGE]))
        }
        CycleResult::Interrupted => !is_changed || has_reason(record, &LEFT_AS_IT_IS),
    };
    let is = match is_changed {
        true => "is not",
        false => "is",
    };
    (!may_be).then(|| {
        format!(
            "result is {}, and the content {is} the start's",
            record.result.word()
        )
    })
}

/// Whether what was kept could be kept: nothing was undone, and nothing got worse.
fn of_kept(record: &Record) -> Vec<String> {
    let mut found = Vec::new();
    let word = record.result.word();
    if is_kept(record.result) && record.is_undone() {
        found.push(format!(
            "result is {word}, and reverted_to says that it was undone"
        ));
    }
    if is_kept(record.result) && !record.newly_failing.is_empty() {
        found.push(format!(
            "result is {word}, and newly_failing has {}",
            record.newly_failing.join(", ")
        ));
    }
    found
}

/// Whether the result fits the goal, and the goal's measurements fit the result.
fn of_goal(witness: &Witness<'_>) -> Vec<String> {
    let record = witness.record;
    let word = record.result.word();
    let mut found = Vec::new();
    let is_item = is_item(record);
    let fits = match record.result {
        CycleResult::Idle => record.goal_id.is_none(),
        CycleResult::Harvested => is_item,
        CycleResult::Improved => record.goal_id.is_some() && !is_item,
        CycleResult::Unchanged
        | CycleResult::Regressed
        | CycleResult::Failed
        | CycleResult::Interrupted => record.goal_id.is_some(),
    };
    if !fits {
        found.push(format!(
            "result is {word}, and goal_id is {}",
            quoted(record.goal_id.as_deref())
        ));
    }
    let Some(id) = record.goal_id.as_ref().filter(|_| !is_item) else {
        return found;
    };
    let fails = |before: &Snapshot| {
        let goal = before.find(id);
        goal.is_some_and(|goal| goal.result == CheckResult::Fail && !goal.tolerated)
    };
    if snapshot_of(witness, 0).is_some_and(|before| !fails(before)) {
        found.push(format!(
            "the cycle worked on {id}, which does not fail in the first snapshot"
        ));
    }
    let passes = snapshot_of(witness, 1).map(|after| after.passes(id));
    match (record.result, passes) {
        (CycleResult::Improved, Some(false)) => found.push(format!(
            "result is improved, and {id} does not pass in the second snapshot"
        )),
        (CycleResult::Unchanged, Some(true)) if !has_reason(record, &[WITHOUT_A_CHANGE]) => found
            .push(format!(
                "result is unchanged, and {id} passes in the second snapshot"
            )),
        _ => {}
    }
    found
}

/// Whether as many goals were added as it says. What somebody else's commits added, with which the change was brought
/// together, is counted by no record.
fn of_goals_added(witness: &Witness<'_>) -> Option<String> {
    let record = witness.record;
    let said = record.goals_added;
    let is = match is_kept(record.result) && record.result != CycleResult::Idle {
        true => witness.added?,
        false => 0,
    };
    let is_joined = record
        .notes
        .iter()
        .any(|note| note.starts_with("brought together with"));
    let agrees = match is_joined {
        true => said <= is,
        false => said == is,
    };
    (!agrees).then(|| format!("goals_added is {said} in the record and {is} in its commits"))
}

/// Whether those goals got worse that it names. A cycle that was cut short may name none.
fn of_newly_failing(witness: &Witness<'_>) -> Option<String> {
    let record = witness.record;
    let before = snapshot_of(witness, 0)?;
    let worse = match snapshot_of(witness, 1) {
        Some(after) => snapshot::newly_failing(before, after),
        None if witness.snapshots[1].is_gone() => Vec::new(),
        None => return None,
    };
    let is_cut = record.result == CycleResult::Interrupted;
    // What was measured too late to be written down, or of nothing: a cut cycle is believed there.
    let is_open = is_cut && (record.newly_failing.is_empty() || witness.snapshots[1].is_gone());
    (!is_open && worse != record.newly_failing).then(|| {
        let said = &record.newly_failing;
        disagree("newly_failing", said, &worse)
    })
}

/// Whether those goals pass anew that it names: first what passes after the agent and did not before, then what somebody else
/// had mended before the cycle began.
fn of_newly_passing(witness: &Witness<'_>) -> Option<String> {
    let record = witness.record;
    let said = &record.newly_passing;
    let before = snapshot_of(witness, 0)?;
    let anew = match snapshot_of(witness, 1) {
        Some(after) => snapshot::newly_passing(before, after),
        None if witness.snapshots[1].is_gone() => Vec::new(),
        None => return None,
    };
    let agrees = match record.result {
        CycleResult::Interrupted => {
            witness.snapshots[1].is_gone()
                || said.iter().all(|id| anew.contains(id) || before.passes(id))
        }
        _ => {
            let mended = said.strip_prefix(&anew[..]);
            mended.is_some_and(|mended| mended.iter().all(|id| before.passes(id)))
        }
    };
    (!agrees).then(|| disagree("newly_passing", said, &anew))
}

fn disagree(field: &str, said: &[String], is: &[String]) -> String {
    format!(
        "{field} is [{}] in the record and [{}] in the snapshots",
        said.join(", "),
        is.join(", ")
    )
}
