//! The story of the loop, line by line, for people. Progress and verdicts go to stdout, warnings to stderr.

mod printer;
mod words;

use std::collections::BTreeSet;

use crate::event::Event;
use crate::model::output;
use crate::model::record::{CycleResult, Record, UNDO};
use crate::model::search::view::Digits;
use crate::model::snapshot::{CheckResult, Measurement};
use crate::model::text::{self, clean_line, count, duration, number, passing};
use crate::model::yardstick::LEANED_ON;
use crate::view::search::story;
use crate::view::style::{self, BAD, FAINT, ODD, STRONG, paint};
use crate::view::tables::Reasons;

use words::{agent_line, check_line, ended, goal_line, outcome, session_line};

pub use printer::{Printer, Stream};

/// The purpose of a measurement of which each goal is told as its check ends, also where something else shows what goes on.
pub const EACH_TOLD: &str = "measure";
/// After how many seconds of checks it is told how far a measurement has come, where nothing else is said before its end: whoever
/// reads along, such as the watchdog of a CI system, should see that it goes on.
const TOLD_AFTER: f64 = 15.0;
/// The ending that asks for a person.
const HUMAN_NEEDED: &str = "human-needed";
/// The ending of a search that asks for one.
const ENVIRONMENT_CHANGED: &str = "environment-changed";

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Nothing: errors are printed by whoever ends the program.
    Quiet,
    /// What came of it, without who begins and the steps on the way.
    Results,
    /// What has ended; something else shows what goes on.
    Ended,
    /// The story.
    #[default]
    Normal,
    /// The story and each check.
    Verbose,
}

/// A step on the way to what comes of a cycle.
#[derive(Clone, Copy, Debug)]
enum Step {
    Beginning,
    End,
}

/// Where a line belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// To stdout.
    Out(String),
    /// To stderr.
    Err(String),
}

/// The story so far, as much of it as the next line needs. Pure: events in, lines out.
///
/// What belongs to a cycle stands indented under its heading. The heading tells what is worked on, so what is told before
/// that is known is held back until then.
#[derive(Clone, Debug, Default)]
pub struct Story {
    detail: Detail,
    chapter: Chapter,
    /// How many goals passed before the cycle, as far as it was told.
    passing: Option<usize>,
    /// What was told of changes that checks lean on.
    leaned_on: BTreeSet<String>,
    /// The folders of tools that git does not ignore.
    unignored: BTreeSet<String>,
    /// What was told to be done to files in them, as notes begin.
    done_there: BTreeSet<String>,
    /// No agent is called: a change is taken back.
    is_undo: bool,
    /// Each goal is told as its check ends.
    is_each_told: bool,
    /// How far the measurement has come.
    checks: Checks,
    /// Long reasons that were told.
    reasons: Reasons,
    /// The best score of a search, as far as it was told.
    best_score: Option<f64>,
    /// What is told behind what the cycle comes to.
    following: Vec<String>,
}

/// How far a measurement has come.
#[derive(Clone, Debug, Default)]
struct Checks {
    all: usize,
    done: usize,
    failing: usize,
    /// How many characters the longest id has.
    longest_id: usize,
    /// How long those took, in seconds, that have ended since it was told.
    untold_s: f64,
}

/// Where in a session the story is.
#[derive(Clone, Debug, Default)]
enum Chapter {
    /// Before, between or after cycles.
    #[default]
    Between,
    /// In a cycle whose heading is still to come, with what is known of it and what it holds back.
    Opening(u64, Option<String>, Vec<String>),
    /// Below a cycle's heading.
    Cycle,
}

impl Checks {
    /// Takes in how a check ended; returns how far the measurement has come, where that is worth a line.
    fn take(&mut self, measurement: &Measurement) -> Option<String> {
        self.done += 1;
        self.failing += usize::from(measurement.result == CheckResult::Fail);
        self.untold_s += measurement.duration_s;
        if self.untold_s < TOLD_AFTER || self.done == self.all {
            return None;
        }
        self.untold_s = 0.0;
        let (all, done) = (count(self.all, "check"), self.done);
        Some(match self.failing {
            0 => format!("{done} of {all} done"),
            failing => format!("{done} of {all} done, {failing} failing"),
        })
    }
}

impl Story {
    /// Begins a story.
    pub fn new(detail: Detail) -> Story {
        Story {
            detail,
            ..Story::default()
        }
    }

    /// Returns the lines that tell of `event`; none if it is not worth one.
    pub fn lines(&mut self, event: &Event) -> Vec<Line> {
        let lines = self.tell(event);
        match self.detail {
            Detail::Quiet => quietly(event),
            Detail::Results | Detail::Ended | Detail::Normal | Detail::Verbose => lines,
        }
    }

    fn tell(&mut self, event: &Event) -> Vec<Line> {
        let lines = match event {
            Event::SessionStarted {
                session,
                version,
                goals,
                agent,
                agent_found,
                jobs,
                protections,
                ..
            } => {
                self.is_undo = agent.as_deref() == Some(UNDO);
                if self.detail == Detail::Results {
                    return Vec::new();
                }
                let agent = agent.as_deref().map(|agent| (agent, *agent_found));
                let agent = agent.filter(|_| !self.is_undo);
                let header = session_line(&[version, session], &[*goals, *jobs], agent);
                let protections = clean_line(&format!("protections: {}", protections.line()));
                let lines = match self.is_undo {
                    true => vec![header],
                    false => vec![header, protections],
                };
                lines.iter().map(|line| paint(FAINT, line)).collect()
            }
            Event::Warning { message } => {
                self.unignored.extend(output::warned_of(message));
                let warning = paint(ODD, "warning:");
                return vec![Line::Err(format!("{warning} {}", clean_line(message)))];
            }
            Event::Note {
                message,
                follows: true,
            } if !matches!(self.chapter, Chapter::Between) => {
                self.following.push(clean_line(message));
                Vec::new()
            }
            Event::Note { message, .. } => self.note(clean_line(message)),
            Event::CycleStarted { cycle, .. } => {
                self.chapter = Chapter::Opening(*cycle, None, Vec::new());
                Vec::new()
            }
            Event::MeasureStarted {
                checks,
                longest_id,
                purpose,
            } => {
                self.is_each_told = *purpose == EACH_TOLD;
                self.checks = Checks {
                    all: *checks,
                    longest_id: *longest_id,
                    ..Checks::default()
                };
                self.verbose(|| {
                    let checks = count(*checks, "check");
                    paint(FAINT, &format!("running {checks} ({purpose})"))
                })
            }
            Event::CheckStarted { goal_id, .. } => self.verbose(|| {
                let id = clean_line(goal_id);
                paint(FAINT, &format!("  {id} …"))
            }),
            Event::CheckFinished { measurement }
                if self.is_each_told && matches!(self.detail, Detail::Ended | Detail::Verbose) =>
            {
                let remarks = self.reasons.remarks(measurement);
                vec![goal_line(measurement, remarks, self.checks.longest_id)]
            }
            Event::CheckFinished { measurement }
                if self.is_each_told && self.detail == Detail::Normal =>
            {
                return self
                    .checks
                    .take(measurement)
                    .map(Line::Err)
                    .into_iter()
                    .collect();
            }
            Event::CheckFinished { measurement } => self.verbose(|| check_line(measurement)),
            Event::MeasureFinished { .. } => self.measured(event),
            // At once, heading or not: whoever watches should know what takes so long.
            Event::SweepStarted { with } if self.tells_of(Step::Beginning) => {
                vec![format!("sweep: {}", clean_line(with))]
            }
            Event::Selected {
                goal_id, reason, ..
            } => {
                let heading = heading(&clean_line(goal_id), Some(&clean_line(reason)));
                self.head(heading)
            }
            Event::AgentStarted { log, .. } if self.tells_of(Step::Beginning) => {
                let worker = self.worker();
                self.in_its_place(format!("{worker} at work, log {}", clean_line(log)))
            }
            Event::AgentActivity { last, .. } => last.as_ref().map_or(Vec::new(), |last| {
                self.verbose(|| paint(FAINT, &format!("agent: {}", clean_line(last))))
            }),
            Event::AgentFinished { .. } if self.tells_of(Step::End) => {
                let line = format!("{} {}", self.worker(), agent_line(event));
                let mut lines = self.open(None);
                lines.extend(self.in_its_place(line));
                lines
            }
            Event::CycleFinished { record } => self.finished(record),
            // Nothing else would tell, once it is over, what was waited for.
            Event::Waiting { seconds, reason } if self.detail != Detail::Results => {
                let wait = duration(*seconds);
                self.in_its_place(format!("waiting {wait}: {}", clean_line(reason)))
            }
            Event::SearchStarted { .. }
            | Event::AttemptStarted { .. }
            | Event::AttemptEdited { .. }
            | Event::AttemptMeasuring { .. }
            | Event::AttemptMeasured { .. }
            | Event::AttemptEnded { .. }
            | Event::GenerationEnded { .. }
            | Event::SearchEnded { .. } => self.of_search(event),
            Event::SessionEnded { .. } => {
                let mut lines = self.leave();
                lines.extend(ended(event));
                lines
            }
            Event::SweepStarted { .. }
            | Event::AgentStarted { .. }
            | Event::AgentFinished { .. }
            | Event::Waiting { .. } => Vec::new(),
        };
        lines.into_iter().map(Line::Out).collect()
    }

    /// Returns what is told of a search. Its end is told in a report of its own.
    fn of_search(&mut self, event: &Event) -> Vec<String> {
        match event {
            Event::SearchStarted { overview, .. } => {
                self.best_score = overview.best_score;
                if self.detail == Detail::Results {
                    return Vec::new();
                }
                let lines = story::started(event);
                lines.iter().map(|line| paint(FAINT, line)).collect()
            }
            Event::AttemptStarted { .. } if self.tells_of(Step::Beginning) => {
                vec![paint(FAINT, &story::begun(event))]
            }
            Event::AttemptEdited { .. } => self.verbose(|| paint(FAINT, &story::edited(event))),
            Event::AttemptMeasuring {
                attempt,
                purpose,
                beside,
                ..
            } => self.verbose(|| {
                let line = story::measuring(*attempt, purpose, *beside);
                paint(FAINT, &format!("  {line}"))
            }),
            Event::AttemptEnded {
                attempt,
                best_score,
                baseline,
                ..
            } => {
                // What it was held against is the best before it.
                let known = [self.best_score, *best_score, *baseline];
                self.best_score = *best_score;
                vec![story::ended(
                    attempt,
                    &Digits::of(known.into_iter().flatten()),
                )]
            }
            Event::GenerationEnded { generation } => vec![story::generation(generation)],
            _ => Vec::new(),
        }
    }

    /// Returns who works, in a word.
    fn worker(&self) -> &'static str {
        match self.is_undo {
            true => "undo",
            false => "agent",
        }
    }

    /// Returns a line as it stands where the story is: under a heading, or for itself; none if it is held back.
    fn in_its_place(&mut self, line: String) -> Vec<String> {
        match &mut self.chapter {
            Chapter::Between => vec![line],
            Chapter::Opening(_, _, held) => {
                held.push(line);
                Vec::new()
            }
            Chapter::Cycle => vec![format!("  {line}")],
        }
    }

    /// Returns a note at once, where it is known what is worked on: it may be how whoever waits gets away.
    fn note(&mut self, line: String) -> Vec<String> {
        let mut lines = match self.chapter {
            Chapter::Opening(_, Some(_), _) => self.open(None),
            Chapter::Opening(_, None, _) | Chapter::Between | Chapter::Cycle => Vec::new(),
        };
        lines.extend(self.in_its_place(line));
        lines
    }

    /// Takes in what a cycle works on. It is told at once, but where something else shows it for as long as nothing has come of it.
    fn head(&mut self, heading: String) -> Vec<String> {
        match (&mut self.chapter, self.detail) {
            (Chapter::Opening(_, known, _), Detail::Ended) => {
                *known = Some(heading);
                Vec::new()
            }
            _ => self.open(Some(heading)),
        }
    }

    /// Begins a cycle's lines with its heading, this one where none was known before, and goes on with what was held back.
    fn open(&mut self, heading: Option<String>) -> Vec<String> {
        match std::mem::take(&mut self.chapter) {
            Chapter::Opening(cycle, known, held) => {
                self.chapter = Chapter::Cycle;
                let heading = known.or(heading).map(|it| format!(" · {it}"));
                let mut lines = vec![format!("cycle {cycle}{}", heading.unwrap_or_default())];
                lines.extend(held.into_iter().map(|line| format!("  {line}")));
                lines
            }
            chapter @ (Chapter::Between | Chapter::Cycle) => {
                self.chapter = chapter;
                heading.into_iter().collect()
            }
        }
    }

    /// Leaves the cycle; what was held back for a heading that never came stands for itself.
    fn leave(&mut self) -> Vec<String> {
        let mut lines = match std::mem::take(&mut self.chapter) {
            chapter @ Chapter::Opening(_, Some(_), _) => {
                self.chapter = chapter;
                let lines = self.open(None);
                self.chapter = Chapter::Between;
                lines
            }
            Chapter::Opening(_, None, held) => held,
            Chapter::Between | Chapter::Cycle => Vec::new(),
        };
        let following = self.following.drain(..);
        lines.extend(following.map(|line| format!("  {line}")));
        lines
    }

    /// Returns a line that only some want to read, and these at once, heading or not.
    fn verbose(&self, line: impl FnOnce() -> String) -> Vec<String> {
        let indent = match self.chapter {
            Chapter::Between => "",
            Chapter::Opening(..) | Chapter::Cycle => "  ",
        };
        match self.detail {
            Detail::Verbose => vec![format!("{indent}{}", line())],
            Detail::Quiet | Detail::Results | Detail::Ended | Detail::Normal => Vec::new(),
        }
    }

    fn tells_of(&self, step: Step) -> bool {
        match (self.detail, step) {
            (Detail::Results, _) | (Detail::Ended, Step::Beginning) => false,
            (Detail::Ended, Step::End) => true,
            (Detail::Quiet | Detail::Normal | Detail::Verbose, _) => true,
        }
    }

    /// The first measurement of a cycle is part of the story; of the second one the verdict tells.
    fn measured(&mut self, event: &Event) -> Vec<String> {
        let Event::MeasureFinished {
            score,
            goals_passing,
            goals_total,
            failing,
            skipped,
            purpose,
        } = event
        else {
            return Vec::new();
        };
        let mut line = format!(
            "{}: score {}, {}",
            if *purpose == "baseline" {
                "baseline"
            } else {
                "measured"
            },
            number(*score),
            passing(*goals_passing, *goals_total)
        );
        for (word, style, ids) in [("failing", BAD, failing), ("skipped", ODD, skipped)] {
            if !ids.is_empty() {
                let ids = clean_line(&ids.join(", "));
                line.push_str(&format!("; {} {ids}", paint(style, word)));
            }
        }
        match *purpose {
            "baseline" | "before" => {
                self.passing = Some(*goals_passing);
                match self.tells_of(Step::End) {
                    true => self.in_its_place(line),
                    false => Vec::new(),
                }
            }
            "measure" => vec![line],
            _ => self.verbose(|| format!("{line} ({purpose})")),
        }
    }

    fn finished(&mut self, record: &Record) -> Vec<String> {
        let before = self.passing;
        if !record.is_undone() {
            self.passing = Some(record.goals_passing);
        }
        let mut lines = match (&self.chapter, &record.goal_id) {
            (Chapter::Opening(..), None) => self.open(Some(heading("nothing to do", None))),
            (Chapter::Opening(..), Some(goal)) => self.open(Some(heading(&clean_line(goal), None))),
            (Chapter::Between | Chapter::Cycle, _) => Vec::new(),
        };
        let verdict = paint(style::of_cycle(record.result), record.result.word());
        let reason = record.reason.as_deref().map(clean_line);
        if record.result == CycleResult::Idle {
            let reason = reason.map_or(String::new(), |reason| format!(": {reason}"));
            lines.push(format!("  {verdict}{reason}"));
        } else {
            lines.push(format!("  {verdict} · {}", outcome(record, before)));
            match (record.fate(), reason) {
                (Some(fate), Some(reason)) => lines.push(format!("  {fate}: {reason}")),
                (Some(fate), None) => lines.push(format!("  {fate}")),
                (None, Some(reason)) => lines.push(format!("  {reason}")),
                (None, None) => {}
            }
        }
        // Where files went and which are gone is for the user to know at once.
        let notes = record
            .notes
            .iter()
            .filter(|note| self.is_news(note, record));
        let notes: Vec<&String> = notes.collect();
        lines.extend(
            notes
                .into_iter()
                .map(|note| format!("  {}", clean_line(note))),
        );
        lines.extend(self.leave());
        lines
    }
}

impl Story {
    /// Says whether a note is worth a line: that a check leans on what was changed is told once, and not of what was undone, unless
    /// a person may take it in; and once what is done to files of tools that git does not ignore.
    fn is_news(&mut self, note: &str, record: &Record) -> bool {
        if let Some(begin) = output::note_on(note, &self.unignored) {
            return self.done_there.insert(begin.to_owned());
        }
        if !note.starts_with(LEANED_ON) {
            return true;
        }
        (!record.is_undone() || record.is_offered()) && self.leaned_on.insert(note.to_owned())
    }
}

/// Returns what a cycle works on, and why.
fn heading(what: &str, why: Option<&str>) -> String {
    let what = paint(STRONG, what);
    why.map_or(what.clone(), |why| format!("{what}: {why}"))
}

/// Errors only: an ending that asks for somebody is one. What ended in an error is printed by whoever ends the program.
fn quietly(event: &Event) -> Vec<Line> {
    match event {
        Event::SessionEnded {
            reason,
            ending: HUMAN_NEEDED,
            ..
        } => {
            let reason = text::clean(reason).trim().to_owned();
            vec![Line::Err(format!("{} {reason}", paint(BAD, "error:")))]
        }
        Event::SearchEnded {
            reason,
            ending: ENVIRONMENT_CHANGED,
            ..
        } => {
            let reason = clean_line(reason);
            vec![Line::Err(format!("{} {reason}", paint(BAD, "error:")))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
