//! Each goal in each of the newest cycles. Pure.

use std::collections::HashMap;

use serde::Serialize;

use super::{Material, NAME, Seen, Tone, line, tone};
use crate::model::record::{CycleResult, Record};
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text::{against, number};

/// How many goals are told.
const GOALS: usize = 2_000;
/// How many cells there are at most, which take about a megabyte: with more goals fewer cycles are told.
const CELLS: usize = 30_000;
/// How many cycles are told at least.
const FEWEST: usize = 10;

/// Each goal in each of the newest cycles.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grid {
    /// The cycles, oldest first; the first may be the baseline.
    pub columns: Vec<Column>,
    /// The goals, in the file's order.
    pub rows: Vec<Row>,
    /// How many cycles there are besides.
    pub more_cycles: usize,
    /// How many goals there are besides.
    pub more_goals: usize,
    /// How many of those are not known to pass.
    pub more_unmet: usize,
}

/// A cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Its number, or a word for the baseline.
    pub name: String,
    /// Where it is told, if it is.
    pub anchor: String,
    /// What became of it, in a word.
    pub result: &'static str,
    /// The same as a sign.
    pub sign: &'static str,
    /// What that means to the eye.
    pub tone: Tone,
}

/// A goal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its id.
    pub goal: String,
    /// Its weight.
    pub weight: u8,
    /// What it says; empty where the goals file has it no longer.
    pub description: String,
    /// The goals file has it no longer.
    pub is_gone: bool,
    /// Its result in each cycle, as it was measured last there, be it of a change that was undone.
    pub cells: Vec<Cell>,
    /// Its result in what is in the repository.
    pub now: Cell,
}

/// What a goal came to in a cycle.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cell {
    /// The result as a word; empty where it was not measured.
    pub word: &'static str,
    /// The same as a sign.
    pub sign: &'static str,
    /// The cycle worked on this goal.
    pub is_chosen: bool,
    /// The measured value; empty without one.
    pub value: String,
}

/// Returns the grid of the newest cycles, with the baseline in front where they reach back to it.
pub(super) fn of(material: &Material<'_>) -> Grid {
    let newest = material.newest.map(by_id).unwrap_or_default();
    let passes = |(id, _): &(&str, u8)| {
        let goal = newest.get(id);
        goal.is_some_and(|goal| goal.result == CheckResult::Pass)
    };
    let (goals, left_out) = telling(goals(material), GOALS, passes);
    let most = (CELLS / goals.len().max(1)).max(FEWEST);
    let first = material.seen.len().saturating_sub(most);
    let cycles = &material.seen[first..];
    let more_cycles = material.records.len().saturating_sub(cycles.len());
    let baseline = material.baseline.filter(|_| more_cycles == 0);
    let anchors = super::cycles::anchors(material.seen);
    let columns = baseline
        .map(|_| baseline_column())
        .into_iter()
        .chain(cycles.iter().zip(&anchors[first..]).map(column))
        .collect();
    let snapshots: Vec<Option<ById<'_>>> = baseline
        .map(|baseline| Some(by_id(baseline)))
        .into_iter()
        .chain(cycles.iter().map(|seen| measured(seen).map(by_id)))
        .collect();
    let chosen: Vec<Option<&str>> = baseline
        .map(|_| None)
        .into_iter()
        .chain(cycles.iter().map(|seen| seen.record.goal_id.as_deref()))
        .collect();
    let row = |(id, weight): &(&str, u8)| Row {
        goal: line(id, NAME),
        weight: *weight,
        description: description(material, id),
        is_gone: material.goals.is_ok_and(|goals| goals.find(id).is_none()),
        cells: snapshots
            .iter()
            .zip(&chosen)
            .map(|(snapshot, chosen)| {
                let goal = snapshot.as_ref().and_then(|goals| goals.get(id).copied());
                cell(goal, *chosen == Some(*id))
            })
            .collect(),
        now: cell(newest.get(id).copied(), false),
    };
    Grid {
        columns,
        rows: goals.iter().map(row).collect(),
        more_cycles,
        more_goals: left_out.len(),
        more_unmet: left_out.iter().filter(|goal| !passes(goal)).count(),
    }
}

/// Parts `all` into `most` of them to tell and the rest, both in their order: what passes is left out first, from the end on.
pub(super) fn telling<T>(
    all: Vec<T>,
    most: usize,
    passes: impl Fn(&T) -> bool,
) -> (Vec<T>, Vec<T>) {
    let unmet = all.iter().filter(|one| !passes(one)).count();
    let (mut unmet_room, mut passing_room) = (most, most.saturating_sub(unmet));
    all.into_iter().partition(|one| {
        let room = match passes(one) {
            true => &mut passing_room,
            false => &mut unmet_room,
        };
        let is_told = *room > 0;
        *room = room.saturating_sub(1);
        is_told
    })
}

type ById<'a> = HashMap<&'a str, &'a Measurement>;

fn by_id(snapshot: &Snapshot) -> ById<'_> {
    let goals = snapshot.goals.iter();
    goals.map(|goal| (goal.id.as_str(), goal)).collect()
}

/// Returns the last measurement of a cycle, be it of a change that was undone.
fn measured(seen: &Seen) -> Option<&Snapshot> {
    seen.after.as_ref().or(seen.before.as_ref())
}

/// Returns the goals of the newest measurement with their weights, then those of the file that it lacks; without either, those
/// of any cycle.
fn goals<'a>(material: &'a Material<'_>) -> Vec<(&'a str, u8)> {
    let mut found: Vec<(&str, u8)> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let mut add = |id: &'a str, weight: u8| {
        if known.insert(id) {
            found.push((id, weight));
        }
    };
    for goal in material.goals.iter().flat_map(|goals| &goals.goals) {
        add(&goal.id, goal.weight);
    }
    let of_cycles = material.seen.iter().rev().filter_map(measured);
    for snapshot in material.newest.into_iter().chain(of_cycles) {
        for goal in &snapshot.goals {
            add(&goal.id, goal.weight);
        }
    }
    found
}

fn description(material: &Material<'_>, id: &str) -> String {
    let goal = material.goals.ok().and_then(|goals| goals.find(id));
    goal.map_or(String::new(), |goal| line(&goal.description, NAME))
}

fn baseline_column() -> Column {
    Column {
        name: "start".to_owned(),
        anchor: String::new(),
        result: "baseline",
        sign: "",
        tone: Tone::Faint,
    }
}

fn column((seen, anchor): (&Seen, &String)) -> Column {
    let record = &seen.record;
    Column {
        name: record.cycle.to_string(),
        anchor: anchor.clone(),
        result: record.result.word(),
        sign: sign(record),
        tone: tone(record.result),
    }
}

/// Returns the sign of what became of a cycle.
fn sign(record: &Record) -> &'static str {
    match record.result {
        CycleResult::Improved => "▲",
        CycleResult::Harvested => "◆",
        CycleResult::Unchanged => "=",
        CycleResult::Regressed => "↶",
        CycleResult::Failed => "!",
        CycleResult::Interrupted => "‖",
        CycleResult::Idle => "·",
    }
}

fn cell(goal: Option<&Measurement>, is_chosen: bool) -> Cell {
    let Some(goal) = goal else {
        return Cell {
            is_chosen,
            ..Cell::default()
        };
    };
    let (word, sign) = match goal.result {
        CheckResult::Pass if goal.flaky => ("flaky", "≈"),
        CheckResult::Pass => ("pass", "✓"),
        CheckResult::Fail if goal.tolerated => ("near", "~"),
        CheckResult::Fail => ("fail", "✗"),
        CheckResult::Skip => ("skip", "–"),
    };
    Cell {
        word,
        sign,
        is_chosen,
        value: match (goal.value, goal.threshold) {
            (Some(value), Some(threshold)) => against(value, threshold),
            (Some(value), None) => number(value),
            (None, _) => String::new(),
        },
    }
}
