//! Which failing goals are worth another attempt (rule 4): struck after three cycles without progress, declined after an
//! agent gave up. Decided from records and retries alone, so that a shallow clone decides the same. Pure.

use serde::{Deserialize, Serialize};

use crate::model::goals::Goal;
use crate::model::record::{History, Record};
use crate::model::snapshot::FORMAT;

/// How many cycles in a row without progress set a goal aside.
pub const LIMIT: usize = 3;

/// One line of `retries.jsonl`: from here on the earlier attempts at a goal no longer count, or, where `evolve` itself
/// wrote it, an agent's giving up no longer does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Version of the format.
    pub format: u32,
    /// The goal.
    pub goal_id: String,
    /// The newest cycle when it was asked for; records up to it no longer count.
    pub after_cycle: u64,
    /// When it was asked for, RFC 3339 in UTC.
    pub at: String,
    /// Why, where `evolve` itself wrote it: then strikes stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a goal stands after its earlier attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may be worked on.
    Open,
    /// Its last three cycles were all without progress, with the newest one's reason.
    Struck(String),
    /// The agent of its newest cycle gave up, with its reason.
    Declined(String),
}

/// Returns how a goal stands.
pub fn standing(goal: &Goal, records: &[Record], retries: &[Retry]) -> Standing {
    let attempts = attempts_that_count(goal, records, retries);
    let Some(newest) = attempts.last() else {
        return Standing::Open;
    };
    let reason = || {
        newest
            .reason
            .clone()
            .unwrap_or_else(|| newest.result.word().to_owned())
    };
    let is_woken = retries
        .iter()
        .any(|retry| retry.goal_id == goal.id && retry.after_cycle >= newest.cycle);
    if newest.is_declined() && !is_woken {
        return Standing::Declined(reason());
    }
    let last = attempts.iter().rev().take(LIMIT);
    let is_struck =
        attempts.len() >= LIMIT && last.clone().all(|record| record.is_without_progress());
    match is_struck {
        true => Standing::Struck(reason()),
        false => Standing::Open,
    }
}

/// Returns the attempts at a goal since it last passed, was defined anew or asked for again; oldest first.
fn attempts_that_count<'a>(
    goal: &Goal,
    records: &'a [Record],
    retries: &[Retry],
) -> Vec<&'a Record> {
    let definition = goal.definition();
    let asked_after = retries
        .iter()
        .filter(|retry| retry.goal_id == goal.id && retry.reason.is_none())
        .map(|retry| retry.after_cycle)
        .max()
        .unwrap_or(0);
    let mut attempts = Vec::new();
    for record in records.iter().filter(|record| record.cycle > asked_after) {
        if !record.is_undone() && record.newly_passing.contains(&goal.id) {
            attempts.clear();
        }
        if record.goal_id.as_deref() != Some(&goal.id) {
            continue;
        }
        let is_same = record.definition.as_ref().map(|known| *known == definition);
        match (is_same, record.is_without_progress()) {
            (Some(true), true) => attempts.push(record),
            // An interrupted cycle and a changed environment count neither way.
            (Some(true), false) | (None, _) => {}
            (Some(false), _) => attempts.clear(),
        }
    }
    attempts
}

/// Returns what lets declined goals be worked on again: somebody else changed the content since the newest record, so
/// that a cycle starts from another than that one left. What a cycle kept wakes nothing.
pub fn woken(
    goals: &[Goal],
    history: &History,
    retries: &[Retry],
    content: &str,
    now: &str,
) -> Vec<Retry> {
    let newest = history.newest();
    let is_changed = newest
        .and_then(|newest| newest.content.as_deref())
        .is_some_and(|left| left != content);
    let is_declined = |goal: &&Goal| {
        matches!(
            standing(goal, &history.records, retries),
            Standing::Declined(_)
        )
    };
    goals
        .iter()
        .filter(|goal| is_changed && is_declined(goal))
        .map(|goal| Retry {
            format: FORMAT,
            goal_id: goal.id.clone(),
            after_cycle: history.next_cycle() - 1,
            at: now.to_owned(),
            reason: Some("somebody else changed the content".to_owned()),
        })
        .collect()
}
