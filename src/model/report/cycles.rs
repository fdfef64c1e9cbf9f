//! The newest cycles one by one, with all that is known of them. Pure.

use std::collections::HashMap;

use serde::Serialize;

use super::{BRIEF, Figure, LOG, NAME, REASON, Seen, Tone, block, line, moment, tone};
use crate::model::brief::broken_output;
use crate::model::record::{BY_OTHERS, Record, TakenBack};
use crate::model::snapshot::{Measurement, Snapshot};
use crate::model::text::{self, duration, number};
use crate::model::usage::Usage;

/// How many notes, and how many changed goals, of a cycle are told.
const LISTED: usize = 20;
/// How many bytes of briefs, logs and outputs a report holds at most, as they stand in its file: the newest cycles' first.
const LONG_TEXTS: usize = 2 << 20;

/// One cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// What leads to it from elsewhere in the report.
    pub anchor: String,
    /// Its number.
    pub cycle: u64,
    /// What became of it.
    pub result: &'static str,
    /// What that means to the eye.
    pub tone: Tone,
    /// What became of its change, where that is not in the repository; else empty.
    pub fate: &'static str,
    /// Which cycle took its change back, in words; empty if none did.
    pub taken_back: String,
    /// The goal or work item; a word where there was nothing to do.
    pub goal: String,
    /// The scores before and after.
    pub score: String,
    /// The same in few words.
    pub course: String,
    /// When it was recorded.
    pub when: String,
    /// Why, in words; may be empty.
    pub reason: String,
    /// What else its record says.
    pub facts: Vec<Figure>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
    /// Goals whose result or value changed.
    pub changes: Vec<GoalChange>,
    /// The size of its change in words; empty where that cannot be told.
    pub size: String,
    /// The files that it changed, at most so many.
    pub files: Vec<FileLine>,
    /// How many more files it changed.
    pub more_files: usize,
    /// What the agent was told.
    pub brief: String,
    /// The end of what the agent printed.
    pub log: String,
    /// What the checks said that it broke.
    pub broken: String,
    /// Brief, log and output are left out, because the report would be too large.
    pub is_cut: bool,
}

/// A file that a cycle changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileLine {
    /// Its path.
    pub path: String,
    /// Lines added; none for what is not text.
    pub added: Option<u64>,
    /// Lines removed.
    pub removed: Option<u64>,
}

/// A goal whose result or value changed in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoalChange {
    /// The goal.
    pub goal: String,
    /// What it was.
    pub was: String,
    /// What it is.
    pub is: String,
}

/// Returns the cycles, the newest first.
pub(super) fn entries(seen: &[Seen], taken_back: &TakenBack) -> Vec<Entry> {
    let anchors = anchors(seen);
    let mut left = LONG_TEXTS;
    let newest_first = seen.iter().zip(anchors).rev();
    newest_first
        .map(|(seen, anchor)| {
            let mut entry = entry(seen, anchor);
            entry.taken_back = taken_back.words(&seen.record).unwrap_or_default();
            let size = [&entry.brief, &entry.log, &entry.broken].map(|text| escaped_len(text));
            match left.checked_sub(size.iter().sum()) {
                Some(rest) => left = rest,
                None => {
                    left = 0;
                    entry.is_cut = true;
                    entry.brief.clear();
                    entry.log.clear();
                    entry.broken.clear();
                }
            }
            entry
        })
        .collect()
}

/// Returns what leads to each cycle. Two branches that both ran may have used a number twice.
pub(super) fn anchors(seen: &[Seen]) -> Vec<String> {
    let mut used: HashMap<u64, usize> = HashMap::new();
    let anchor = |seen: &Seen| {
        let cycle = seen.record.cycle;
        let times = used.entry(cycle).or_default();
        *times += 1;
        match times {
            1 => format!("cycle-{cycle}"),
            times => format!("cycle-{cycle}-{times}"),
        }
    };
    seen.iter().map(anchor).collect()
}

/// Returns how many bytes a text has once it is escaped.
fn escaped_len(text: &str) -> usize {
    let len = |byte: u8| match byte {
        b'<' | b'>' | b'&' | b'"' | b'\'' | b'/' => 6,
        _ => 1,
    };
    text.bytes().map(len).sum()
}

fn entry(seen: &Seen, anchor: String) -> Entry {
    let record = &seen.record;
    let change = seen.change.as_ref();
    let listed = change.map_or(&[][..], |change| &change.listed);
    let broken = seen
        .after
        .as_ref()
        .map(|after| broken_output(record, after));
    Entry {
        anchor,
        cycle: record.cycle,
        result: record.result.word(),
        tone: tone(record.result),
        fate: record.fate().unwrap_or_default(),
        taken_back: String::new(),
        goal: line(record.goal_id.as_deref().unwrap_or("nothing to do"), NAME),
        score: record.scores(),
        course: record.course(),
        when: moment(&record.timestamp),
        reason: reason(seen),
        facts: facts(seen),
        notes: some(record.notes.iter().map(|note| line(note, REASON)).collect()),
        changes: changes(seen),
        size: size(seen),
        files: listed.iter().map(file).collect(),
        more_files: change.map_or(0, |change| change.files.saturating_sub(listed.len())),
        brief: beginning(&block(&seen.brief), BRIEF),
        log: end(&block(&seen.log), LOG),
        broken: broken.map_or(String::new(), |said| beginning(&block(&said), LOG)),
        is_cut: false,
    }
}

/// Returns why a cycle came to what it did, and what a check leans on of its kept change. A good one has no reason but what it
/// brought about.
fn reason(seen: &Seen) -> String {
    let leaned_on = seen.record.leaned_on();
    if let Some(reason) = &seen.record.reason {
        let words: Vec<_> = [reason.clone()].into_iter().chain(leaned_on).collect();
        return line(&words.join("; "), REASON);
    }
    let (own, others) = seen.record.passing_since(seen.before.as_ref());
    let mut words = Vec::new();
    if !own.is_empty() {
        words.push(format!("passes now: {}", own.join(", ")));
    }
    if !others.is_empty() {
        words.push(format!("passes since, {BY_OTHERS}{}", others.join(", ")));
    }
    words.extend(leaned_on);
    line(&words.join("; "), REASON)
}

fn facts(seen: &Seen) -> Vec<Figure> {
    let record = &seen.record;
    let (own, others) = record.passing_since(seen.before.as_ref());
    let list = |ids: &[String]| {
        let ids: Vec<String> = ids.iter().map(|id| line(id, NAME)).collect();
        (!ids.is_empty()).then(|| text::some_of(&ids, LISTED))
    };
    let passing = format!("{} of {} goals", record.goals_passing, record.goals_total);
    let commit = |sha: &String| line(sha, NAME);
    let left = record.commit_words();
    let all = [
        ("Passing, as measured last", Some(passing)),
        ("Passes now", list(&own)),
        (
            "Passes since",
            list(&others).map(|ids| format!("{BY_OTHERS}{ids}")),
        ),
        ("Got worse", list(&record.newly_failing)),
        (
            "Goals added",
            (record.goals_added > 0).then(|| record.goals_added.to_string()),
        ),
        ("Agent", agent(record)),
        ("Commit", Some(commit(&left))),
        (
            match record.is_refused() {
                true => "Stays at",
                false => "Undone to",
            },
            record.reverted_to.as_ref().map(commit),
        ),
        ("Session", record.session.as_ref().map(|id| line(id, NAME))),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some(Figure::new(name, value?, "")))
        .collect()
}

fn agent(record: &Record) -> Option<String> {
    let agent = record.agent.as_ref()?;
    let usage = Usage {
        tokens: agent.tokens,
        cost_usd: agent.cost_usd,
    };
    let exit = agent
        .exit
        .map_or(String::new(), |exit| format!(", exit {exit}"));
    let used = match record.is_undo() {
        true => String::new(),
        false => format!("; {}", usage.words()),
    };
    Some(format!(
        "{}: {} after {}{exit}{used}",
        line(&agent.name, NAME),
        line(&agent.status, NAME),
        duration(agent.duration_s),
    ))
}

/// Returns the first of many lines, and how many more there are.
fn some(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn changes(seen: &Seen) -> Vec<GoalChange> {
    let (Some(before), Some(after)) = (&seen.before, &seen.after) else {
        return Vec::new();
    };
    let changed = after
        .goals
        .iter()
        .filter_map(|goal| goal_change(before, goal));
    changed.take(LISTED).collect()
}

fn goal_change(before: &Snapshot, goal: &Measurement) -> Option<GoalChange> {
    let earlier = before.find(&goal.id);
    if earlier.is_some_and(|earlier| earlier.result == goal.result && earlier.value == goal.value) {
        return None;
    }
    let words = |goal: &Measurement| match goal.value {
        Some(value) => format!("{} ({})", goal.result.word(), number(value)),
        None => goal.result.word().to_owned(),
    };
    Some(GoalChange {
        goal: line(&goal.id, NAME),
        was: earlier.map_or("new".to_owned(), words),
        is: words(goal),
    })
}

fn size(seen: &Seen) -> String {
    let Some(change) = &seen.change else {
        return String::new();
    };
    let lines = change.listed.iter().filter_map(|(_, lines)| *lines);
    let (added, removed) = lines.fold((0, 0), |sum, lines| (sum.0 + lines.0, sum.1 + lines.1));
    let least = match change.files > change.listed.len() {
        true => "at least ",
        false => "",
    };
    let fate = seen.record.fate();
    let fate = fate.map_or(String::new(), |fate| format!(", {fate}"));
    let files = text::count(change.files, "file");
    format!("{files}, {least}+{added} −{removed}{fate}")
}

fn file((path, lines): &(String, Option<(u64, u64)>)) -> FileLine {
    FileLine {
        path: line(path, NAME),
        added: lines.map(|(added, _)| added),
        removed: lines.map(|(_, removed)| removed),
    }
}

/// Returns the beginning of a text; its last line tells that something is missing.
fn beginning(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}\n…", text[..end].trim_end()),
    }
}

/// Returns the end of a text; its first line tells that something is missing.
fn end(text: &str, most: usize) -> String {
    let text = text.trim();
    let skipped = text.chars().count().saturating_sub(most);
    match text.char_indices().nth(skipped) {
        Some((start, _)) if skipped > 0 => format!("…\n{}", text[start..].trim_start()),
        Some(_) | None => text.to_owned(),
    }
}
