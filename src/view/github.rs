//! What GitHub Actions makes something of: groups in the log, an annotation for each failing goal, the job's summary. Pure.
//!
//! The forms are those of the runner's workflow commands ("Workflow commands for GitHub Actions").

use std::cmp::Reverse;

use crate::error::{Error, Spot};
use crate::event::Event;
use crate::model::mask;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text::{against, clean, clean_line, count, duration, markdown, number, passing};
use crate::view::plain::Line;

/// The most annotations of one kind that a step shows; what comes after is dropped by GitHub.
const MOST: usize = 10;
/// How much of a check's last line is shown, in characters.
const SAID: usize = 200;

/// The story of a session in the log of a job, each cycle in a group of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Groups {
    is_open: bool,
}

impl Groups {
    /// Returns the lines as they stand in the log: what is told of `event`, between the begin and the end of its cycle's group.
    /// What came of a cycle is to be seen without opening it.
    pub fn lines(&mut self, event: &Event, lines: Vec<Line>) -> Vec<Line> {
        let mut told: Vec<Line> = lines.into_iter().map(harmless_line).collect();
        match event {
            Event::Selected { .. } => {
                self.is_open = true;
                if let Some(Line::Out(heading)) = told.first_mut() {
                    *heading = format!("::group::{}", value(&bare(heading)));
                }
            }
            Event::CycleFinished { .. } | Event::SessionEnded { .. } if self.is_open => {
                self.is_open = false;
                told.insert(0, Line::Out("::endgroup::".to_owned()));
            }
            _ => {}
        }
        told
    }
}

/// Returns one annotation for each failing goal, the heaviest first, at its line of the goals file; `line` says which that is. The
/// last that is shown names those that are not.
pub fn annotations(
    snapshot: &Snapshot,
    file: &str,
    line: impl Fn(&str) -> Option<usize>,
) -> String {
    let mut failing: Vec<_> = snapshot.with(CheckResult::Fail).collect();
    failing.sort_by_key(|goal| Reverse(goal.weight));
    let (shown, more) = failing.split_at(failing.len().min(MOST));
    let more: Vec<String> = more.iter().map(|goal| clean_line(&goal.id)).collect();
    let more = (!more.is_empty()).then(|| format!("\n\nfailing, too: {}", more.join(", ")));
    let mut told = String::new();
    for (at, goal) in shown.iter().enumerate() {
        let line = line(&goal.id).unwrap_or(1);
        let last = at + 1 == shown.len();
        let more = more.as_deref().filter(|_| last).unwrap_or_default();
        told.push_str(&format!(
            "::error file={},line={line},title={}::{}\n",
            property(file),
            property(&format!("goal {}", goal.id)),
            value(&(why(goal) + &last_line(goal) + more))
        ));
    }
    told
}

/// Returns the last line that a check said, on a line of its own; empty if it said nothing.
fn last_line(goal: &Measurement) -> String {
    let tail = goal.output_tail.as_deref().unwrap_or_default();
    let last = tail
        .lines()
        .map(clean_line)
        .rfind(|line| !line.trim().is_empty());
    last.map_or_else(String::new, |last| {
        format!("\n{}", mask::line(last.trim(), SAID))
    })
}

/// Returns one annotation for each place of a file that cannot be read as it is meant. The last that is shown counts those that are
/// not.
pub fn spots<'a>(spots: impl Iterator<Item = &'a Spot>, file: &str) -> Vec<String> {
    let spots: Vec<_> = spots.collect();
    let more = spots.len().saturating_sub(MOST);
    let annotation = |(at, spot): (usize, &&Spot)| {
        let mut message = format!("{}\n{}", spot.message, spot.hint);
        if more > 0 && at + 1 == MOST {
            message.push_str(&format!("\nand {}", count(more, "more problem")));
        }
        format!(
            "::error file={},line={},col={}::{}",
            property(file),
            spot.line,
            spot.column,
            value(mask::secrets(&clean(&message)).trim())
        )
    };
    let shown = spots.iter().take(MOST);
    shown.enumerate().map(annotation).collect()
}

/// Returns the annotation of an error that has no place in a file.
pub fn error(error: &Error) -> String {
    let lines = [vec![error.message.clone()], error.hints.clone()].concat();
    let message = mask::secrets(&clean(&lines.join("\n")));
    format!("::error title=evolve::{}", value(message.trim()))
}

/// Returns the summary of a job, in Markdown: the score, and each goal with what it came to.
pub fn summary(snapshot: &Snapshot) -> String {
    let mut page = format!(
        "### evolve: score {}, {}\n\n| | goal | value | weight | time | |\n| --- | --- | --- | --- | --- | --- |\n",
        number(snapshot.score),
        passing(snapshot.goals_passing, snapshot.goals_total)
    );
    for goal in &snapshot.goals {
        let mark = match goal.result {
            CheckResult::Pass => "pass",
            CheckResult::Fail => "**FAIL**",
            CheckResult::Skip => "skip",
        };
        let value = match (goal.value, goal.threshold) {
            (Some(value), Some(threshold)) => against(value, threshold),
            (Some(value), None) => number(value),
            (None, _) => String::new(),
        };
        let why = match goal.result {
            CheckResult::Pass => String::new(),
            CheckResult::Fail | CheckResult::Skip => markdown(&why(goal)),
        };
        page.push_str(&format!(
            "| {mark} | {} | {value} | {} | {} | {why} |\n",
            markdown(&goal.id),
            goal.weight,
            duration(goal.duration_s)
        ));
    }
    page.push('\n');
    mask::secrets(&page)
}

fn why(goal: &Measurement) -> String {
    let why = goal.reason.as_deref().unwrap_or("the check fails");
    mask::secrets(&clean_line(why))
}

/// Returns a page of which the runner takes no line for a command of its own: it looks for `::` at a line's start, blanks or
/// none before it, and for `##[` anywhere.
pub fn harmless(page: &str) -> String {
    let harmless = |line: &str| {
        let line = line.replace("##[", "## [");
        match bare(&line).trim_start().starts_with("::") {
            true => line.replacen("::", ": :", 1),
            false => line,
        }
    };
    page.split_inclusive('\n').map(harmless).collect()
}

fn harmless_line(line: Line) -> Line {
    match line {
        Line::Out(text) => Line::Out(harmless(&text)),
        Line::Err(text) => Line::Err(harmless(&text)),
    }
}

fn bare(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn value(text: &str) -> String {
    let text = text.replace("##[", "## [").replace('%', "%25");
    text.replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    value(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::plain::{Detail, Story};
    use crate::view::samples;

    #[test]
    fn each_cycle_is_a_group_and_what_came_of_it_stands_below() {
        let mut story = Story::new(Detail::Normal);
        let mut groups = Groups::default();
        let mut told = Vec::new();
        for event in samples::events() {
            let lines = story.lines(&event);
            told.extend(groups.lines(&event, lines));
        }
        let out = told.iter().filter_map(|line| match line {
            Line::Out(line) => Some(bare(line)),
            Line::Err(_) => None,
        });
        let out: Vec<String> = out.skip_while(|line| !line.starts_with("::")).collect();
        assert_eq!(
            out[..7],
            [
                "::group::cycle 3 · tests-pass: heaviest failing goal (weight 9)",
                "  measured: score 61.5, 8 of 13 goals pass; failing tests-pass, docs; skipped lint",
                "  agent at work, log .git/evolve/logs/3-agent.log",
                "  agent done after 3m 07s: 12 turns, 45,120 tokens, cost unknown; 1 commit, 4 files",
                "::endgroup::",
                "  improved · score 61.5 → 92.3 (8 → 12 of 13 goals)",
                "cycle 4 · nothing to do",
            ]
        );
    }

    #[test]
    fn nothing_that_is_told_is_taken_for_a_command() {
        for text in ["::set-output name=a::b", "  ::add-mask::x", "a ##[error]b"] {
            let text = harmless(text);
            assert!(!text.trim_start().starts_with("::"), "{text}");
            assert!(!text.contains("##["), "{text}");
        }
    }

    #[test]
    fn a_failing_goal_is_annotated_at_its_line_with_its_reason_escaped() {
        let mut failing = samples::measurement("lint", CheckResult::Fail);
        failing.reason = Some("100 % wrong,\nsee: a::b".to_owned());
        let snapshot = samples::snapshot(vec![
            failing,
            samples::measurement("docs", CheckResult::Pass),
        ]);
        let told = annotations(&snapshot, "a,b:GOALS.yaml", |id| {
            (id == "lint").then_some(7)
        });
        assert_eq!(
            told,
            "::error file=a%2Cb%3AGOALS.yaml,line=7,title=goal lint::100 %25 wrong, see: a::b\n"
        );
    }

    #[test]
    fn the_heaviest_goals_are_annotated_with_what_they_said_and_the_last_names_the_others() {
        let failing = |at: u8| {
            let mut goal = samples::measurement(&format!("g{at}"), CheckResult::Fail);
            (goal.weight, goal.reason) = (at, Some("exit 1".to_owned()));
            goal.output_tail = (at == 12).then(|| "a\nb: wrong\n\n".to_owned());
            goal
        };
        let snapshot = samples::snapshot((1..=12).map(failing).collect());
        let told = annotations(&snapshot, "G", |_| Some(1));
        let told: Vec<&str> = told.lines().collect();
        assert_eq!(told.len(), MOST);
        assert_eq!(
            told[0],
            "::error file=G,line=1,title=goal g12::exit 1%0Ab: wrong"
        );
        let last = "::error file=G,line=1,title=goal g3::exit 1%0A%0Afailing, too: g2, g1";
        assert_eq!(told[MOST - 1], last);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_annotated_at_its_place() {
        let spot = Spot {
            file: "GOALS.yaml".to_owned(),
            line: 3,
            column: 5,
            length: 1,
            text: "    x: y".to_owned(),
            skipped: 0,
            message: "unknown key: \"x\"".to_owned(),
            hint: "did you mean id?".to_owned(),
        };
        assert_eq!(
            spots([&spot].into_iter(), "a/GOALS.yaml"),
            ["::error file=a/GOALS.yaml,line=3,col=5::unknown key: \"x\"%0Adid you mean id?"]
        );
    }

    #[test]
    fn the_summary_is_a_table_that_nothing_breaks_out_of() {
        let mut failing = samples::measurement("lint", CheckResult::Fail);
        failing.reason = Some("a | b <script>\n# c".to_owned());
        let page = summary(&samples::snapshot(vec![failing]));
        assert_eq!(page.lines().count(), 6, "{page}");
        assert!(
            page.contains("| **FAIL** | lint |  | 5 | 0.3 s | a \\| b \\<script\\> # c |"),
            "{page}"
        );
    }
}
