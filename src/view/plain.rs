//! The story of the loop, line by line, for people. Progress and verdicts go to stdout, warnings to stderr.

use std::io::{self, Write};

use crate::event::Event;
use crate::model::record::Record;
use crate::model::snapshot::Measurement;
use crate::model::text::{self, clean_line, count, duration, number};
use crate::view::style::{self, BAD, FAINT, GOOD, ODD, STRONG, paint};

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Nothing: errors are printed by whoever ends the program.
    Quiet,
    /// The story.
    #[default]
    Normal,
    /// The story and each check.
    Verbose,
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
#[derive(Clone, Debug, Default)]
pub struct Story {
    detail: Detail,
    cycle: Option<u64>,
    /// How many goals passed before the cycle, as far as it was told.
    passing: Option<usize>,
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
            Detail::Quiet => Vec::new(),
            Detail::Normal | Detail::Verbose => lines,
        }
    }

    fn tell(&mut self, event: &Event) -> Vec<Line> {
        let lines = match event {
            Event::SessionStarted {
                session,
                version,
                goals,
                agent,
                jobs,
            } => vec![session_line(
                &[version, session],
                &[*goals, *jobs],
                agent.as_deref(),
            )],
            Event::Warning { message } => {
                let warning = paint(ODD, "warning:");
                return vec![Line::Err(format!("{warning} {}", clean_line(message)))];
            }
            Event::Note { message } => vec![clean_line(message)],
            Event::CycleStarted { cycle, .. } => {
                self.cycle = Some(*cycle);
                Vec::new()
            }
            Event::MeasureStarted { checks, purpose } => self.verbose(|| {
                let checks = count(*checks, "check");
                paint(FAINT, &format!("running {checks} ({purpose})"))
            }),
            Event::CheckStarted { goal_id } => self.verbose(|| {
                let id = clean_line(goal_id);
                paint(FAINT, &format!("  {id} …"))
            }),
            Event::CheckFinished { measurement } => self.verbose(|| check_line(measurement)),
            Event::MeasureFinished { .. } => self.measured(event),
            Event::Selected { goal_id, reason } => vec![self.selected(goal_id, reason)],
            Event::AgentStarted { name, log } => {
                let (name, log) = (clean_line(name), clean_line(log));
                vec![format!("agent {name} is at work, log in {log}")]
            }
            Event::AgentFinished {
                status,
                duration_s,
                commits,
                files,
            } => vec![format!(
                "agent {} after {}: {}, {}",
                clean_line(status),
                duration(*duration_s),
                count(*commits, "commit"),
                count(*files, "file")
            )],
            Event::CycleFinished { record } => self.finished(record),
            Event::Waiting { seconds, reason } => {
                let wait = duration(*seconds);
                vec![format!("waiting {wait}: {}", clean_line(reason))]
            }
            Event::SessionEnded { .. } => ended(event),
        };
        lines.into_iter().map(Line::Out).collect()
    }

    fn verbose(&self, line: impl FnOnce() -> String) -> Vec<String> {
        match self.detail {
            Detail::Verbose => vec![line()],
            Detail::Quiet | Detail::Normal => Vec::new(),
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
            "{}: score {}, {goals_passing} of {goals_total} goals pass",
            if *purpose == "baseline" {
                "baseline"
            } else {
                "measured"
            },
            number(*score)
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
                vec![line]
            }
            "measure" => vec![line],
            _ => self.verbose(|| format!("{line} ({purpose})")),
        }
    }

    fn selected(&self, goal_id: &str, reason: &str) -> String {
        let (goal, reason) = (paint(STRONG, &clean_line(goal_id)), clean_line(reason));
        match self.cycle {
            Some(cycle) => format!("cycle {cycle} · {goal}: {reason}"),
            None => format!("{goal}: {reason}"),
        }
    }

    fn finished(&mut self, record: &Record) -> Vec<String> {
        let before = self.passing;
        if !record.is_undone() {
            self.passing = Some(record.goals_passing);
        }
        let verdict = paint(style::of_cycle(record.result), record.result.word());
        let mut parts = vec![verdict];
        parts.extend(record.goal_id.as_deref().map(clean_line));
        parts.push(outcome(record, before));
        let mut lines = vec![parts.join(" · ")];
        let undone = if record.is_undone() { "undone: " } else { "" };
        match &record.reason {
            Some(reason) => lines.push(format!("  {undone}{}", clean_line(reason))),
            None if record.is_undone() => lines.push("  undone".to_owned()),
            None => {}
        }
        lines.extend(
            record
                .notes
                .iter()
                .map(|note| format!("  {}", clean_line(note))),
        );
        lines
    }
}

/// Writes the story to two streams.
pub struct Printer<'a> {
    story: Story,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

impl<'a> Printer<'a> {
    /// Makes a printer; both streams take text with ANSI styles.
    pub fn new(detail: Detail, out: &'a mut dyn Write, err: &'a mut dyn Write) -> Printer<'a> {
        let story = Story::new(detail);
        Printer { story, out, err }
    }

    /// Tells of one event.
    pub fn show(&mut self, event: &Event) -> io::Result<()> {
        for line in self.story.lines(event) {
            match line {
                Line::Out(text) => writeln!(self.out, "{text}")?,
                Line::Err(text) => writeln!(self.err, "{text}")?,
            }
        }
        self.out.flush()
    }
}

fn session_line(names: &[&String; 2], counts: &[usize; 2], agent: Option<&str>) -> String {
    let [version, session] = names;
    let [goals, jobs] = counts;
    let mut line = format!(
        "evolve {version} · session {session} · {}",
        count(*goals, "goal")
    );
    if let Some(agent) = agent {
        line.push_str(&format!(" · agent {}", clean_line(agent)));
    }
    line.push_str(&format!(" · {} at once", count(*jobs, "check")));
    paint(FAINT, &line)
}

fn check_line(measurement: &Measurement) -> String {
    let style::Cell(mark, word) = style::mark(measurement.result);
    let mut line = format!(
        "  {} {} {}",
        paint(mark, &word),
        clean_line(&measurement.id),
        paint(FAINT, &duration(measurement.duration_s))
    );
    if let Some(reason) = &measurement.reason {
        line.push_str(&format!(": {}", clean_line(reason)));
    }
    line
}

/// Returns the scores and counts of a cycle: `score 61.5 → 92.3 (8 → 12 of 13)`.
fn outcome(record: &Record, before: Option<usize>) -> String {
    let score = match (record.score_before, record.score_after) {
        (Some(before), Some(after)) if before.to_bits() != after.to_bits() => {
            format!("score {} → {}", number(before), number(after))
        }
        (_, Some(score)) | (Some(score), None) => format!("score {}", number(score)),
        (None, None) => "no score".to_owned(),
    };
    let passing = match before {
        Some(before) if before != record.goals_passing => {
            format!("{before} → {}", record.goals_passing)
        }
        Some(_) | None => record.goals_passing.to_string(),
    };
    format!("{score} ({passing} of {})", record.goals_total)
}

fn ended(event: &Event) -> Vec<String> {
    let Event::SessionEnded {
        reason,
        ending,
        cycles,
        exit_code,
        trajectory,
    } = event
    else {
        return Vec::new();
    };
    let style = if *exit_code == 0 { GOOD } else { BAD };
    let cycles = count(usize::try_from(*cycles).unwrap_or(usize::MAX), "cycle");
    let reason = text::clean(reason).trim().replace('\n', "\n  ");
    let mut lines = vec![format!("{} after {cycles}: {reason}", paint(style, ending))];
    lines.extend(trajectory.as_deref().map(clean_line));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::CycleResult;
    use crate::view::samples::{events, finished, measured, record};

    fn told(detail: Detail, events: &[Event]) -> (String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut printer = Printer::new(detail, &mut out, &mut err);
        for event in events {
            printer.show(event).expect("written");
        }
        let plain = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("UTF-8");
            anstream::adapter::strip_str(&text).to_string()
        };
        (plain(out), plain(err))
    }

    #[test]
    fn the_story_of_a_session_reads_from_top_to_bottom() {
        let (out, err) = told(Detail::Normal, &events());
        let story = "\
evolve 0.1.0 · session s-1 · 13 goals · agent claude · 2 checks at once
2 items harvested
measured: score 61.5, 8 of 13 goals pass; failing tests-pass, docs; skipped lint
cycle 3 · tests-pass: heaviest failing goal (weight 9)
agent claude is at work, log in .git/evolve/logs/3-agent.log
agent done after 3m 07s: 1 commit, 4 files
improved · tests-pass · score 61.5 → 92.3 (8 → 12 of 13)
waiting 5m 00s: rate limit
dormant after 1 cycle: three idle cycles in a row on the same content
score 61.5 → 92.3
";
        assert_eq!(out, story);
        assert_eq!(err, "warning: lint: command not found\n");
    }

    #[test]
    fn quiet_says_nothing_and_verbose_names_each_check() {
        assert_eq!(
            told(Detail::Quiet, &events()),
            (String::new(), String::new())
        );
        let (out, _) = told(Detail::Verbose, &events());
        assert!(out.contains("\nrunning 13 checks (before)\n"), "{out}");
        assert!(out.contains("\n  FAIL docs 0.3 s\n"), "{out}");
    }

    #[test]
    fn an_undone_cycle_says_why_and_the_next_starts_from_before_it() {
        let undone = Record {
            result: CycleResult::Regressed,
            reverted_to: Some("b".repeat(40)),
            goals_passing: 7,
            reason: Some("docs fails".to_owned()),
            ..record()
        };
        let (out, _) = told(
            Detail::Normal,
            &[
                measured("baseline"),
                finished(undone),
                measured("after"),
                finished(record()),
            ],
        );
        let story = "\
baseline: score 61.5, 8 of 13 goals pass; failing tests-pass, docs; skipped lint
regressed · tests-pass · score 61.5 → 92.3 (8 → 7 of 13)
  undone: docs fails
improved · tests-pass · score 61.5 → 92.3 (8 → 12 of 13)
";
        assert_eq!(out, story);
    }

    #[test]
    fn every_result_appears_as_its_word() {
        for result in [
            CycleResult::Unchanged,
            CycleResult::Failed,
            CycleResult::Harvested,
            CycleResult::Interrupted,
            CycleResult::Idle,
        ] {
            let record = Record {
                result,
                goal_id: None,
                score_before: None,
                ..record()
            };
            let (out, _) = told(Detail::Normal, &[finished(record)]);
            assert_eq!(out, format!("{} · score 92.3 (12 of 13)\n", result.word()));
        }
    }
}
