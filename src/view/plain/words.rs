//! The words of single lines of the story.

use super::HUMAN_NEEDED;
use crate::event::Event;
use crate::model::record::{REFUSED, Record};
use crate::model::snapshot::Measurement;
use crate::model::text::{self, clean_line, count, duration, number};
use crate::model::usage::{Spent, Usage};
use crate::view::style::{self, BAD, FAINT, GOOD, paint};
use crate::view::tables::value;

const RETRY_HINT: &str = "hint: `evolve retry ID` lets a goal be worked on again";
/// The endings of a session that was to do one thing.
const DONE: &str = "done";
const NOT_DONE: &str = "not-done";
/// The ending of a session that reached a limit of the user's.
const LIMIT: &str = "limit";
/// The ending of a session that an error ended.
const FAILED: &str = "failed";

/// Returns how an agent's call ended, behind who it was: `done after 3m 07s: 12 turns, 45,120 tokens, $0.42; 1 commit, 4 files`.
pub fn agent_line(event: &Event) -> String {
    let Event::AgentFinished {
        status,
        duration_s,
        commits,
        has_leftovers,
        files,
        turns,
        tokens,
        cost_usd,
    } = event
    else {
        return String::new();
    };
    let usage = Usage {
        tokens: *tokens,
        cost_usd: *cost_usd,
    };
    let mut said = Vec::new();
    if let Some(turns) = turns {
        if *turns > 0 {
            said.push(count(usize::try_from(*turns).unwrap_or(usize::MAX), "turn"));
        }
        said.push(usage.words());
    }
    let mut said = Vec::from_iter((!said.is_empty()).then(|| said.join(", ")));
    if let (Some(commits), Some(files)) = (commits, files) {
        let own = commits.saturating_sub(usize::from(*has_leftovers));
        let (own, files) = ((own, count(own, "commit")), count(*files, "file"));
        said.push(match (has_leftovers, own) {
            (false, (_, commits)) => format!("{commits}, {files}"),
            (true, (0, _)) => format!("{files}, committed by evolve"),
            (true, (_, commits)) => {
                format!("{commits} and one by evolve of what was left, {files}")
            }
        });
    }
    let (status, after) = (clean_line(status), duration(*duration_s));
    match said.is_empty() {
        true => format!("{status} after {after}"),
        false => format!("{status} after {after}: {}", said.join("; ")),
    }
}

/// Returns how a session begins: its version, name and counts, and its agent with whether that was found out.
pub fn session_line(
    names: &[&String; 2],
    counts: &[usize; 2],
    agent: Option<(&str, bool)>,
) -> String {
    let [version, session] = names;
    let [goals, jobs] = counts;
    let mut line = format!(
        "evolve {version} · session {session} · {}",
        count(*goals, "goal")
    );
    if let Some((agent, is_found)) = agent {
        line.push_str(&format!(" · agent {}", clean_line(agent)));
        if is_found {
            line.push_str(", the first that is installed");
        }
    }
    line.push_str(&format!(" · {} at once", count(*jobs, "check")));
    line
}

/// Returns what came of a check.
pub fn check_line(measurement: &Measurement) -> String {
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

/// How wide the time is that a check took, so that what stands behind it stands in a column: as `12m 34s`.
const TIME: usize = 7;
/// The widest column of ids.
const IDS: usize = 40;

/// Returns a goal as its check ended, in the order of the table of all, whose other columns nobody knows yet; its ids have at most
/// so many characters.
pub fn goal_line(measurement: &Measurement, remarks: String, longest_id: usize) -> String {
    let style::Cell(mark, word) = style::mark(measurement.result);
    let said = [value(measurement), remarks];
    let said: Vec<String> = said.into_iter().filter(|it| !it.is_empty()).collect();
    let mut took = duration(measurement.duration_s);
    if !said.is_empty() {
        took = format!("{took:<TIME$}  ");
    }
    format!(
        "{}  {:<width$}  {}{}",
        paint(mark, &word),
        clean_line(&measurement.id),
        paint(FAINT, &took),
        said.join("  "),
        width = longest_id.min(IDS)
    )
}

/// Returns the scores and counts of a cycle: `score 61.5 → 92.3 (8 → 12 of 13 goals)`; of an undone one what was measured, and where
/// the repository is again: `measured 56.4 → 59, back at 56.4 (6 of 13 goals)`. Where it is again nobody measured if the environment
/// changed.
pub fn outcome(record: &Record, before: Option<usize>) -> String {
    let is_undone = record.is_undone();
    let is_back = is_undone && !record.is_environment_change();
    let score = match (record.measured_way(), record.score_left()) {
        (Some(way), Some(left)) if is_back => {
            format!("measured {way}, back at {}", number(left))
        }
        (Some(way), _) if is_undone => format!("measured {way}"),
        (Some(way), _) => format!("score {way}"),
        (None, Some(left)) => format!("score {}", number(left)),
        (None, None) => match record.score_after {
            Some(after) if is_undone => format!("measured {}", number(after)),
            Some(after) => format!("score {}", number(after)),
            None => "no score".to_owned(),
        },
    };
    let passing = match before {
        Some(before) if is_back => before.to_string(),
        Some(before) if before != record.goals_passing => {
            format!("{before} → {}", record.goals_passing)
        }
        Some(_) | None => record.goals_passing.to_string(),
    };
    let total = count(record.goals_total, "goal");
    match before {
        // What was measured is not what passes.
        None if is_undone && record.measured_way().is_some() => score,
        None | Some(_) => format!("{score} ({passing} of {total})"),
    }
}

/// Returns how a session ended. An ending in an error is only counted: the error itself is printed once, by whoever ends the program.
pub fn ended(event: &Event) -> Vec<String> {
    let Event::SessionEnded {
        reason,
        ending,
        cycles,
        exit_code,
        has_stuck,
        trajectory,
        spent,
    } = event
    else {
        return Vec::new();
    };
    let style = if *exit_code == 0 { GOOD } else { BAD };
    // What is asked of a person says so itself.
    let word = match *ending {
        HUMAN_NEEDED => "stopped",
        NOT_DONE => "not done",
        ending => ending,
    };
    // What limit was reached says its reason.
    if let Some(words) = reason.strip_prefix(word).filter(|_| *ending == LIMIT) {
        let mut lines = vec![format!("{} {}", paint(style, word), clean_line(words))];
        lines.extend(trajectory.as_deref().map(clean_line));
        lines.extend(paid(spent));
        return lines;
    }
    let mut line = paint(style, word);
    match usize::try_from(*cycles).unwrap_or(usize::MAX) {
        0 if *ending == FAILED => return paid(spent),
        0 => {}
        // Whoever asks for one thing asked for no loop.
        _ if matches!(*ending, DONE | NOT_DONE | REFUSED) => {}
        cycles => line.push_str(&format!(" after {}", count(cycles, "cycle"))),
    }
    if *ending != FAILED {
        let reason = text::clean(reason).trim().replace('\n', "\n  ");
        line.push_str(&format!(": {reason}"));
    }
    let mut lines = vec![line];
    if *has_stuck {
        lines.push(RETRY_HINT.to_owned());
    }
    lines.extend(trajectory.as_deref().map(clean_line));
    lines.extend(paid(spent));
    lines
}

/// Returns what the agents reported of a whole session, if one was called.
fn paid(spent: &Spent) -> Vec<String> {
    if spent.calls == 0 {
        return Vec::new();
    }
    let calls = count(usize::try_from(spent.calls).unwrap_or(usize::MAX), "call");
    vec![format!("agent: {calls}, {}", spent.words())]
}
