//! Which failing goals are worth another attempt (rule 4): struck after three cycles without progress, declined after an
//! agent gave up. Decided from records and retries alone, so that a shallow clone decides the same. Pure.

use serde::{Deserialize, Serialize};

use crate::model::goals::Goal;
use crate::model::record::Record;

/// How many cycles in a row without progress set a goal aside.
pub const LIMIT: usize = 3;

/// One line of `retries.jsonl`: from here on the earlier attempts at a goal no longer count.
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
    /// Why, where `evolve` itself wrote it.
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
    if newest.is_declined() {
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
        .filter(|retry| retry.goal_id == goal.id)
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

/// Returns the ids of goals that were declined and would be passed over, which a change by somebody else wakes.
pub fn declined<'a>(goals: &'a [Goal], records: &[Record], retries: &[Retry]) -> Vec<&'a Goal> {
    goals
        .iter()
        .filter(|goal| matches!(standing(goal, records, retries), Standing::Declined(_)))
        .collect()
}
