//! What `evolve report` tells: every figure of the ledger as one plain value. Pure.
//!
//! Whatever others wrote (ids, reasons, briefs, logs, paths) is cleaned, masked and cut here, once, so that whoever draws a
//! report only has to escape it. A report is bounded however long the history is: what is left out is counted.

mod cycles;
mod grid;
mod needs;
mod series;
mod spending;
mod verdict;

use serde::Serialize;

use crate::model::counted::Counted;
use crate::model::goals::Goals;
use crate::model::ledger::KillFile;
use crate::model::record::{CycleResult, Record, TakenBack, Tally};
use crate::model::snapshot::Snapshot;
use crate::model::strikes::Retry;
use crate::model::summary::Ended;
use crate::model::usage::Spent;
use crate::model::work::{Counts, WorkItem};
use crate::model::{mask, text};

pub use cycles::{Entry, FileLine, GoalChange};
pub use grid::{Cell, Column, Grid, Row};
pub use needs::Need;
pub use series::{Curve, Point, Series, Value};
pub use spending::{Spender, Spending};
pub use verdict::Verdict;

/// How many cycles are told one by one, the newest: as many as have snapshots in the tree.
pub const CYCLES: usize = 100;
/// How many characters of a brief are told.
pub const BRIEF: usize = 6_000;
/// How many characters of the end of an agent's log are told.
pub const LOG: usize = 4_000;
/// How many files of a cycle's change are told.
pub const FILES: usize = 30;
/// How many items of the queue are told.
const ITEMS: usize = 50;
/// How many characters of a reason or note are told.
const REASON: usize = 1_000;
/// How many characters of a name are told.
const NAME: usize = 200;

/// Why the goals cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct NoGoals<'a> {
    /// The reason.
    pub why: &'a str,
    /// There is a file.
    pub is_there: bool,
}

/// What a report is made of.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// The repository's name.
    pub name: &'a str,
    /// All records, oldest first.
    pub records: &'a [Record],
    /// The newest cycles, oldest first, with what is known of them besides: the last of `records`.
    pub seen: &'a [Seen],
    /// The snapshot of the first run.
    pub baseline: Option<&'a Snapshot>,
    /// The newest snapshot of what is in the repository.
    pub newest: Option<&'a Snapshot>,
    /// The goals as they are now, or why they cannot be read.
    pub goals: Result<&'a Goals, NoGoals<'a>>,
    /// Goals that were asked for again.
    pub retries: &'a [Retry],
    /// Work that is queued, in the order in which it will be done.
    pub open: &'a [WorkItem],
    /// Work that failed too often.
    pub set_aside: &'a [WorkItem],
    /// Which cycles were taken back.
    pub taken_back: &'a TakenBack,
    /// How much work there is, and what became of it.
    pub counts: Counts,
    /// How the newest session ended, as its summary says.
    pub ended: Option<&'a Ended>,
    /// What stands in the loop's way, or is under way.
    pub state: State,
    /// What is wrong with the files of the ledger.
    pub problems: &'a [String],
    /// Versions and hashes, by name.
    pub provenance: &'a [(&'a str, String)],
}

/// What stands in the loop's way, or is under way.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// When the session at work started.
    pub running_since: Option<String>,
    /// The KILL file that is there.
    pub kill: Option<KillFile>,
    /// What the STOP file says.
    pub stop: Option<String>,
    /// The cycle that a dead session left unsettled.
    pub interrupted_cycle: Option<u64>,
}

/// One cycle with what is known of it besides its record.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its record.
    pub record: Record,
    /// Its first snapshot.
    pub before: Option<Snapshot>,
    /// Its second snapshot.
    pub after: Option<Snapshot>,
    /// What its agent was told; empty if that is gone.
    pub brief: String,
    /// The end of what its agent printed; empty if that is gone.
    pub log: String,
    /// What it changed; none where that cannot be told any more.
    pub change: Option<Change>,
}

/// Which files a cycle changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// How many there are.
    pub files: usize,
    /// The first of them: path, lines added and lines removed; none for what is not text.
    pub listed: Vec<(String, Option<(u64, u64)>)>,
}

/// A name, what it stands at, and a word more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// What it stands at.
    pub value: String,
    /// More about it; may be empty.
    pub note: String,
}

impl Figure {
    fn new(name: &str, value: impl Into<String>, note: impl Into<String>) -> Figure {
        Figure {
            name: name.to_owned(),
            value: value.into(),
            note: note.into(),
        }
    }
}

/// What a word or figure means to the eye. There is always a word or a sign beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// It is well.
    Good,
    /// It is not.
    Bad,
    /// It deserves a look.
    Odd,
    /// It may be overlooked.
    Faint,
}

/// One item of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What is to be done.
    pub title: String,
    /// How bad it is.
    pub severity: &'static str,
    /// What sort of work it is.
    pub kind: String,
    /// Who found it.
    pub source: String,
    /// Where it stands: open, or set aside after so many failures.
    pub state: String,
}

/// Everything that a report tells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The repository's name.
    pub name: String,
    /// Where things stand, in one sentence.
    pub verdict: Verdict,
    /// How the newest session stands; empty if there was none.
    pub session: String,
    /// The few numbers that matter most.
    pub figures: Vec<Figure>,
    /// What waits for a person.
    pub needs: Vec<Need>,
    /// The score over all cycles.
    pub curve: Curve,
    /// Each goal in each of the newest cycles.
    pub grid: Grid,
    /// Measured values over the newest cycles.
    pub series: Vec<Series>,
    /// How many more goals have measured values.
    pub more_series: usize,
    /// The newest cycles, the newest first.
    pub cycles: Vec<Entry>,
    /// How many older cycles there are.
    pub older_cycles: usize,
    /// Work that waits: what is open first.
    pub queue: Vec<Item>,
    /// How much more work waits.
    pub more_queue: usize,
    /// What became of the work that does not wait any more, in words.
    pub off_queue: String,
    /// What the agents used.
    pub spending: Spending,
    /// Versions and hashes.
    pub provenance: Vec<Figure>,
}

impl Report {
    /// Puts a report together.
    pub fn new(material: &Material<'_>) -> Report {
        let needs = needs::all(material);
        let (series, more_series) = series::values(material);
        let cycles = cycles::entries(material.seen, material.taken_back);
        let provenance = material.provenance.iter();
        Report {
            name: line(material.name, NAME),
            verdict: verdict::of(material, needs.len()),
            session: session(material),
            figures: figures(material),
            needs,
            curve: series::curve(material),
            grid: grid::of(material),
            series,
            more_series,
            cycles,
            older_cycles: material.records.len().saturating_sub(material.seen.len()),
            queue: queue(material),
            more_queue: (material.open.len() + material.set_aside.len()).saturating_sub(ITEMS),
            off_queue: material.counts.off(),
            spending: spending::of(material.records),
            provenance: provenance
                .map(|(name, value)| Figure::new(name, line(value, NAME), ""))
                .collect(),
        }
    }
}

fn figures(material: &Material<'_>) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(newest) = material.newest {
        let note = material.baseline.map_or(String::new(), |baseline| {
            format!("{} at the baseline", text::number(baseline.score))
        });
        figures.push(Figure::new("Score", text::number(newest.score), note));
        let counted = Counted::of(material.goals.ok(), newest);
        let passing = format!("{} of {}", counted.passing, counted.total);
        figures.push(Figure::new(
            "Goals that pass",
            passing,
            not_passing(&counted),
        ));
    }
    if let (None, Some(record)) = (material.newest, material.records.last()) {
        let note = || format!("by the record of cycle {}", record.cycle);
        let score = record.score_left().map(text::number);
        figures.extend(score.map(|score| Figure::new("Score", score, note())));
        let passing = record.passing_left();
        let passing = passing.map(|(passing, total)| format!("{passing} of {total}"));
        figures.extend(passing.map(|passing| Figure::new("Goals that pass", passing, note())));
    }
    figures.push(Figure::new(
        "Cycles",
        material.records.len().to_string(),
        results(material.records),
    ));
    let spent = spending::total(material.records.iter());
    if spent.calls > 0 {
        figures.push(agents(&spent));
    }
    let waiting = format!("{} open", material.open.len());
    let mut note = material.counts.off();
    if !material.set_aside.is_empty() {
        note = format!("{} set aside, {note}", material.set_aside.len());
    }
    figures.push(Figure::new("Queue", waiting, note));
    figures
}

/// Returns how the newest session stands; empty if there was none.
fn session(material: &Material<'_>) -> String {
    match (&material.state.running_since, material.ended) {
        (Some(since), _) => format!("A session has been at work since {}.", moment(since)),
        (None, Some(ended)) => {
            format!("The newest session ended: {}.", line(&ended.reason, REASON))
        }
        (None, None) => String::new(),
    }
}

fn agents(spent: &Spent) -> Figure {
    let calls = text::count(usize::try_from(spent.calls).unwrap_or(usize::MAX), "call");
    match spent.unknown_cost < spent.calls {
        true => {
            let note = format!("{calls}, {}", spent.token_words());
            Figure::new("Agents", spent.cost_words(), note)
        }
        false => Figure::new("Agents", calls, spent.words()),
    }
}

fn not_passing(counted: &Counted) -> String {
    let counts = [
        (counted.failing, "failing"),
        (counted.skipped, "skipped"),
        (counted.unmeasured.len(), "not measured yet"),
    ];
    let words: Vec<String> = counts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    words.join(", ")
}

/// Returns what cycles came to: `2 improved, 1 regressed`.
fn results(records: &[Record]) -> String {
    let tally: Tally = records.iter().map(|record| record.result).collect();
    let tally = tally.words();
    let (_, words) = tally.split_once(": ").unwrap_or(("", ""));
    words.to_owned()
}

fn queue(material: &Material<'_>) -> Vec<Item> {
    let all = material.open.iter().chain(material.set_aside);
    all.take(ITEMS).map(item).collect()
}

fn item(item: &WorkItem) -> Item {
    let words = |text: &Option<String>| text.as_deref().map_or(String::new(), |it| line(it, NAME));
    let failures = text::count(
        usize::try_from(item.failures).unwrap_or(usize::MAX),
        "failure",
    );
    Item {
        title: line(&item.title, REASON),
        severity: item.severity.word(),
        kind: words(&item.kind),
        source: words(&item.source),
        state: match (item.is_set_aside(), item.failures) {
            (true, _) => format!("set aside after {failures}"),
            (false, 0) => "open".to_owned(),
            (false, _) => format!("open, {failures}"),
        },
    }
}

/// Returns words of others as one clean line of at most so many characters, without secrets.
fn line(words: &str, most: usize) -> String {
    text::cut(&mask::secrets(&text::clean_line(words)), most)
}

/// Returns text of others in lines, clean and without secrets.
fn block(words: &str) -> String {
    mask::secrets(&text::clean(words))
}

/// Returns a time for people: `2026-02-11 21:00`; as it stands where it is none.
fn moment(time: &str) -> String {
    let time = line(time, NAME);
    match (time.get(..10), time.get(10..11), time.get(11..16)) {
        (Some(day), Some("T"), Some(minute)) if time.ends_with('Z') => format!("{day} {minute}"),
        _ => time,
    }
}

/// Returns what a cycle's result means to the eye.
fn tone(result: CycleResult) -> Tone {
    match result {
        CycleResult::Improved | CycleResult::Harvested => Tone::Good,
        CycleResult::Regressed => Tone::Bad,
        CycleResult::Unchanged | CycleResult::Failed | CycleResult::Interrupted => Tone::Odd,
        CycleResult::Idle => Tone::Faint,
    }
}

/// Returns the snapshot of what is in the repository after a cycle; none where the environment changed in it.
fn left(seen: &Seen) -> Option<&Snapshot> {
    match seen.record.is_undone() {
        true if seen.record.is_environment_change() => None,
        true => seen.before.as_ref(),
        false => seen.after.as_ref().or(seen.before.as_ref()),
    }
}

#[cfg(test)]
mod tests;
