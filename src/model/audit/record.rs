//! One record, held against its commit, the trailers of the commit that recorded it, its start and its snapshots.

use super::measured::{of_definitions, of_measurements, of_origin, of_other_goals};
use super::result::of_result;
use super::times::of_times;
use super::witness::{Sight, Witness, cycle_start, is_adrift, quoted, snapshot_of};
use super::{Disagreement, Trailers, some_of, undone_cycle};
use crate::model::figures;
use crate::model::goals::{Goal, Goals};
use crate::model::mask;
use crate::model::record::{CycleResult, NEXT_WORK, Record};
use crate::model::snapshot::{FORMAT, Snapshot};
use crate::model::text;

/// Returns what does not agree with the record.
pub fn of_record(witness: &Witness<'_>) -> Vec<Disagreement> {
    let mut found = of_recorder(witness);
    found.extend(of_fields(witness));
    found.extend(of_times(witness));
    found.extend(of_commits(witness));
    found.extend(of_snapshots(witness));
    found.extend(of_result(witness));
    let commit = witness
        .recorder
        .map_or(&witness.record.commit_sha[..], |recorder| recorder.id);
    let disagreement = |what| Disagreement {
        cycle: Some(witness.record.cycle),
        commit: Some(commit.to_owned()),
        what,
    };
    found.into_iter().map(disagreement).collect()
}

/// Holds the message of the commit that recorded it against the record.
fn of_recorder(witness: &Witness<'_>) -> Vec<String> {
    let Some(recorder) = &witness.recorder else {
        return Vec::new();
    };
    let mut found = of_trailers(witness.record, recorder.trailers);
    let repeated = recorder.trailers.repeated.iter();
    found.extend(repeated.map(|name| format!("the commit has the trailer {name} more than once")));
    let session = witness.record.session.as_deref();
    if let Some(said) = recorder.session.filter(|said| Some(*said) != session) {
        found.push(format!(
            "session is {} in the record and {} in the summary that came with it",
            quoted(session),
            quoted(Some(said))
        ));
    }
    let message = witness.record.message();
    let meant = message.lines().next().unwrap_or_default();
    if recorder.subject.trim() != meant.trim() {
        found.push(format!(
            "the commit's subject is {}, the record's is {}",
            quoted(Some(recorder.subject)),
            quoted(Some(meant))
        ));
    }
    found
}

/// Finds what every record has that came with a commit of its own, and formats of which nothing is known.
fn of_fields(witness: &Witness<'_>) -> Vec<String> {
    let record = witness.record;
    let mut found: Vec<String> = [
        ("record", Some(record.format)),
        (
            "first snapshot",
            snapshot_of(witness, 0).map(|it| it.format),
        ),
        (
            "second snapshot",
            snapshot_of(witness, 1).map(|it| it.format),
        ),
    ]
    .into_iter()
    .filter_map(|(what, format)| Some((what, format.filter(|format| *format != FORMAT)?)))
    .map(|(what, format)| format!("the {what} has format {format}, which is not {FORMAT}"))
    .collect();
    if witness.recorder.is_none() {
        return found;
    }
    let goal = record.goal_id.as_ref();
    let is_goal = goal.is_some_and(|id| !id.starts_with(NEXT_WORK));
    // One that was cut short may have been so before its agent ended.
    let has_agent = !matches!(record.result, CycleResult::Idle | CycleResult::Interrupted);
    let starts = |which| {
        snapshot_of(witness, which).is_none_or(|snapshot| snapshot.cycle_start_sha.is_some())
    };
    found.extend(
        [
            ("content", record.content.is_some()),
            ("score_before", record.score_before.is_some()),
            ("score_after", record.score_after.is_some()),
            ("session", record.session.is_some()),
            ("definition", record.definition.is_some() || !is_goal),
            ("agent", record.agent.is_some() || !has_agent),
            ("cycle_start_sha of the first snapshot", starts(0)),
            ("cycle_start_sha of the second snapshot", starts(1)),
        ]
        .into_iter()
        .filter(|(_, is_there)| !is_there)
        .map(|(field, _)| format!("{field} is missing")),
    );
    if record.result == CycleResult::Idle && record.agent.is_some() {
        found.push("result is idle, and the record has an agent".to_owned());
    }
    found
}

/// Holds the trailers of the commit that recorded it against the record.
fn of_trailers(record: &Record, trailers: &Trailers) -> Vec<String> {
    let goal = record.goal_id.as_deref().map(text::clean_line);
    let score = record.score_after.map(|score| score.to_string());
    let pairs = [
        ("Evolve-Goal", &trailers.goal, goal.as_deref()),
        (
            "Evolve-Result",
            &trailers.result,
            Some(record.result.word()),
        ),
        ("Evolve-Score", &trailers.score, score.as_deref()),
    ];
    pairs
        .into_iter()
        .map(|(name, said, meant)| (name, said.as_deref().map(str::trim), meant.map(str::trim)))
        .filter(|(_, said, meant)| said != meant)
        .map(|(name, said, meant)| {
            format!(
                "the trailer {name} is {}, the record has {}",
                quoted(said),
                quoted(meant)
            )
        })
        .collect()
}

/// Holds the commits that the record names against it.
fn of_commits(witness: &Witness<'_>) -> Vec<String> {
    let record = witness.record;
    let mut found = Vec::new();
    let sha = &record.commit_sha;
    // Somebody else took the start out of the branch, and the change was never on it: there is nothing to hold.
    let is_adrift = is_adrift(witness.record, &witness.start);
    match &witness.commit {
        Sight::Gone | Sight::Seen(_) if is_adrift && Some(sha) == cycle_start(witness) => {}
        Sight::Gone => found.push(format!("commit_sha {sha} is no commit of this repository")),
        Sight::Seen(commit) => {
            if !commit.is_followed {
                found.push(format!(
                    "commit_sha {sha} is no ancestor of the record's commit"
                ));
            }
            if let Some(content) = record.content.as_ref().filter(|it| **it != commit.content) {
                found.push(format!(
                    "content is {content} in the record and {} in commit_sha",
                    commit.content
                ));
            }
            // What was undone in a slot never was on the branch.
            let has_undo = record
                .reverted_to
                .as_ref()
                .is_some_and(|start| start != sha);
            if has_undo && !is_adrift && undone_cycle(&commit.message) != Some(record.cycle) {
                found.push(format!(
                    "commit_sha {sha} is no commit that undoes the cycle"
                ));
            } else if has_undo && !is_adrift {
                found.extend(of_undo_words(record, &commit.message));
            }
        }
        Sight::Unseen => {}
    }
    let start = cycle_start(witness);
    match (&witness.start, start) {
        _ if is_adrift => {}
        (Sight::Gone, Some(start)) => {
            found.push(format!(
                "cycle_start_sha {start} is no commit of this repository"
            ));
        }
        (Sight::Seen(seen), Some(start)) if !seen.is_followed => {
            found.push(format!(
                "cycle_start_sha {start} is no ancestor of commit_sha"
            ));
        }
        _ => {}
    }
    if let (Some(undone_to), Some(start)) = (&record.reverted_to, start)
        && undone_to != start
    {
        found.push(format!(
            "reverted_to is {undone_to}, the cycle started from {start}"
        ));
    }
    if !witness.differs_in.is_empty() {
        found.push(format!(
            "the undo did not restore its start: {}",
            some_of(&witness.differs_in)
        ));
    }
    found
}

/// Holds the snapshots against the record, and each against itself.
fn of_snapshots(witness: &Witness<'_>) -> Vec<String> {
    let record = witness.record;
    let mut found = Vec::new();
    for (which, name) in ["first", "second"].into_iter().enumerate() {
        if let Sight::Seen(Err(why)) = &witness.snapshots[which] {
            found.push(format!("the {name} snapshot cannot be read: {why}"));
        }
        if let Some(snapshot) = snapshot_of(witness, which) {
            found.extend(of_snapshot(witness, name, snapshot));
        }
    }
    if witness.snapshots[0] == Sight::Gone && record.result != CycleResult::Interrupted {
        found.push("the first snapshot was not committed with the record".to_owned());
    }
    let before = snapshot_of(witness, 0);
    let last = match &witness.snapshots[1] {
        Sight::Seen(Ok(after)) => Some(("second", after)),
        Sight::Gone => before.map(|it| ("first", it)),
        // A cycle that was cut short may have no other.
        Sight::Unseen if record.result == CycleResult::Interrupted => {
            before.map(|it| ("first", it))
        }
        Sight::Unseen | Sight::Seen(Err(_)) => None,
    };
    found.extend(figures::of_record(record, before, last));
    found
}

/// Holds what the undo commit says of the regression against the record. What was measured after it, or settled by another
/// session, it cannot tell.
fn of_undo_words(record: &Record, message: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_cut = record.result == CycleResult::Interrupted;
    let subject = message.lines().next().unwrap_or_default();
    let goals = record.newly_failing.join(", ");
    if let Some((_, named)) = subject.split_once(" regression in ")
        && !is_cut
        && named.trim() != goals
    {
        found.push(format!(
            "newly_failing is [{goals}] in the record, the undo commit names {}",
            text::clean_line(named)
        ));
    }
    let Some(reason) = &record.reason else {
        return found;
    };
    let said = message.lines().nth(2).unwrap_or_default().trim();
    let is_masked = mask::is_masked(said) || mask::is_masked(reason);
    if !is_cut && !is_masked && !record.is_environment_change() && said != reason.trim() {
        found.push(format!(
            "reason is {} in the record and {} in the undo commit",
            quoted(Some(reason)),
            quoted(Some(said))
        ));
    }
    found
}

/// Holds a snapshot against its place, its own measurements, and the goals that were measured.
fn of_snapshot(witness: &Witness<'_>, name: &str, snapshot: &Snapshot) -> Vec<String> {
    let mut found = Vec::new();
    if snapshot.cycle != Some(witness.record.cycle) {
        let cycle = snapshot
            .cycle
            .map_or("none".to_owned(), |cycle| cycle.to_string());
        found.push(format!("the {name} snapshot is of cycle {cycle}"));
    }
    found.extend(figures::miscounted(name, snapshot));
    if let Some(first) = snapshot_of(witness, 0)
        && (&first.goals_digest, &first.cycle_start_sha)
            != (&snapshot.goals_digest, &snapshot.cycle_start_sha)
    {
        found
            .push("the second snapshot was taken of other goals, or from another start".to_owned());
    }
    found.extend(of_measurements(
        name,
        snapshot,
        witness.goals.seen().copied(),
    ));
    found.extend(of_origin(witness, name, snapshot));
    found.extend(of_goals(witness, name, snapshot));
    found
}

/// Holds a snapshot against the goals that were measured.
fn of_goals(witness: &Witness<'_>, name: &str, snapshot: &Snapshot) -> Vec<String> {
    let mut found = Vec::new();
    let goals = match witness.goals {
        Sight::Seen(goals) => goals,
        Sight::Gone => {
            found.push(of_other_goals(name));
            return found;
        }
        Sight::Unseen => return found,
    };
    found.extend(of_definitions(name, snapshot, goals));
    found.extend(match name {
        "first" => of_definition(witness.record, goals),
        _ => of_tolerance(witness, goals),
    });
    found
}

fn of_definition(record: &Record, goals: &Goals) -> Option<String> {
    let (id, said) = (record.goal_id.as_ref()?, record.definition.as_ref()?);
    let is = goals.find(id).map(Goal::definition);
    (is.as_ref() != Some(said)).then(|| {
        format!(
            "definition is {said} in the record and {} in the start's goals file",
            is.as_deref().unwrap_or("missing")
        )
    })
}

/// Whether only that was let pass as near enough which is near enough.
fn of_tolerance(witness: &Witness<'_>, goals: &Goals) -> Option<String> {
    let (before, after) = (snapshot_of(witness, 0)?, snapshot_of(witness, 1)?);
    let mut again = after.clone();
    again.tolerate(before, goals);
    let pairs = again.goals.iter().zip(&after.goals);
    let wrong: Vec<_> = pairs
        .filter(|(is, said)| is.tolerated != said.tolerated)
        .map(|(is, _)| is.id.clone())
        .collect();
    (!wrong.is_empty()).then(|| {
        format!(
            "what the second snapshot tolerates is not what the start's goals file does: {}",
            some_of(&wrong)
        )
    })
}

#[cfg(test)]
mod tests;
