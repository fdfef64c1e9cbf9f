//! The lines that tell of a search while it runs, in the words of the loop's.

use super::of_ending;
use crate::event::Event;
use crate::model::search::view::{Digits, Generation, Row, made, name, signed};
use crate::model::text::{clean_line, count, cut, duration};
use crate::model::usage::Usage;
use crate::view::style::{FAINT, GOOD, STRONG, paint};

/// How much of what an agent says that it changed stands on a line, in characters.
const SUMMARY: usize = 120;
/// How much of a reason stands on a line, in characters.
const REASON: usize = 300;

/// Returns the lines with which a search begins.
pub fn started(event: &Event) -> Vec<String> {
    let Event::SearchStarted {
        session,
        version,
        overview,
        agent,
        agent_found,
        protections,
    } = event
    else {
        return Vec::new();
    };
    let mut words = vec![
        format!("evolve {version}"),
        format!("session {session}"),
        format!("search {}", overview.search),
        overview.strategy.to_owned(),
        format!(
            "agent {}{}",
            clean_line(agent),
            if *agent_found {
                ", the first that is installed"
            } else {
                ""
            }
        ),
        format!("{} at once", overview.agents),
        format!("seed {}", overview.seed),
    ];
    let attempts = usize::try_from(overview.attempts()).unwrap_or(usize::MAX);
    if attempts > 0 {
        words.push(format!("goes on after {}", count(attempts, "attempt")));
    }
    vec![
        words.join(" · "),
        format!(
            "fitness: {} ({} is better)",
            clean_line(&overview.fitness),
            overview.direction.better_word()
        ),
        clean_line(&format!("protections: {}", protections.line())),
    ]
}

/// Returns the line with which an attempt begins: `attempt 7 · mutation of 3 · lens caching`.
pub fn begun(event: &Event) -> String {
    let Event::AttemptStarted {
        attempt,
        operator,
        parents,
        lens,
        again,
        ..
    } = event
    else {
        return String::new();
    };
    let mut line = format!("attempt {attempt} · {}", made(operator, parents));
    if let Some(lens) = lens {
        line.push_str(&format!(" · lens {}", clean_line(lens)));
    }
    if *again {
        line.push_str(" · once more");
    }
    line
}

/// Returns the line that tells that an attempt is measured.
pub fn measuring(attempt: u64, purpose: &str, beside: Option<u64>) -> String {
    let what = match (purpose, beside) {
        ("first", _) => String::new(),
        ("holdout", _) => " by the hold-out".to_owned(),
        (_, Some(other)) => format!(" again beside {}", name(other)),
        (_, None) => " again".to_owned(),
    };
    format!("measuring {}{what}", name(attempt))
}

/// Returns the line that tells what an agent's work came to.
pub fn edited(event: &Event) -> String {
    let Event::AttemptEdited {
        attempt,
        status,
        reason,
        left_out,
        duration_s,
        tokens,
        cost_usd,
        ..
    } = event
    else {
        return String::new();
    };
    let usage = Usage {
        tokens: *tokens,
        cost_usd: *cost_usd,
    };
    let mut line = format!(
        "  attempt {attempt} {status} after {}: {}",
        duration(*duration_s),
        usage.words()
    );
    if let Some(reason) = reason {
        line.push_str(&format!("; {}", cut(&clean_line(reason), REASON)));
    }
    if !left_out.is_empty() {
        line.push_str(&format!(
            "; {} to what is not editable left out",
            count(left_out.len(), "change")
        ));
    }
    line
}

/// Returns the line that tells what an attempt came to:
/// `attempt 4 · worse · score 2, +0.1 (+5 %): attempt 3 has 2.3 · summary`.
pub fn ended(row: &Row, known: &Digits) -> String {
    let digits = known.with(row.score);
    let mut line = match row.is_baseline() {
        true => paint(STRONG, "baseline"),
        false => {
            let ending = match (row.pruned, row.new_best) {
                (true, _) => format!("{}, pruned", row.ending),
                (false, true) => format!("{}, the best so far", row.ending),
                (false, false) => row.ending.to_owned(),
            };
            let ending = paint(of_ending(row.ending), &ending);
            format!("attempt {} · {ending}", row.id)
        }
    };
    if let Some(score) = super::score(row, &digits) {
        line.push_str(&format!(" · score {score}"));
    }
    if let Some(reason) = &row.reason {
        line.push_str(&format!(": {}", cut(&clean_line(reason), REASON)));
    }
    if let Some(summary) = &row.summary {
        line.push_str(&format!(" · {}", cut(&clean_line(summary), SUMMARY)));
    }
    line
}

/// Returns the line that tells how a generation ended.
pub fn generation(generation: &Generation) -> String {
    let all = generation.last + 1 - generation.first;
    let digits = Digits::of([generation.best, generation.mean].into_iter().flatten());
    let mut line = paint(STRONG, &format!("generation {}", generation.number));
    match generation.best.zip(generation.mean) {
        Some((best, mean)) => line.push_str(&format!(
            " · best {}, mean {}, {} of {all} valid and new",
            digits.show(best),
            digits.show(mean),
            generation.valid
        )),
        None => line.push_str(&format!(
            " · none of {all} is valid and new: its survivors stay"
        )),
    }
    match (generation.stale, generation.gained) {
        (0, Some(gained)) => {
            line.push_str(&format!(
                " · {}",
                paint(GOOD, &format!("the best moved by {}", signed(gained)))
            ));
        }
        (0, None) => {}
        (stale, _) => line.push_str(&paint(FAINT, &format!(" · no new best, {stale} in a row"))),
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::search::lineage::Operator;

    fn plain(line: &str) -> String {
        anstream::adapter::strip_str(line).to_string()
    }

    #[test]
    fn an_ending_says_score_difference_reason_and_what_was_changed() {
        let row = Row {
            id: 4,
            operator: Some(Operator::Mutation),
            parents: vec![3],
            ending: "worse",
            score: Some(2.0),
            delta: Some(0.1),
            percent: Some(5.26),
            reason: Some("attempt 3 has 2.3".to_owned()),
            summary: Some("a table\u{1b}[2J".to_owned()),
            ..Row::default()
        };
        assert_eq!(
            plain(&ended(&row, &Digits::of([2.3, 1.9]))),
            "attempt 4 · worse · score 2, +0.1 (+5.3 %): attempt 3 has 2.3 · a table"
        );
        let best = Row {
            ending: "accepted",
            new_best: true,
            reason: None,
            summary: None,
            ..row.clone()
        };
        assert_eq!(
            plain(&ended(&best, &Digits::of([1.9]))),
            "attempt 4 · accepted, the best so far · score 2, +0.1 (+5.3 %)"
        );
        let pruned = Row {
            pruned: true,
            ..best
        };
        assert_eq!(
            plain(&ended(&pruned, &Digits::of([1.9]))),
            "attempt 4 · accepted, pruned · score 2, +0.1 (+5.3 %)"
        );
        let invalid = Row {
            ending: "invalid",
            score: None,
            delta: None,
            reason: Some("no number".to_owned()),
            summary: None,
            ..row
        };
        assert_eq!(
            plain(&ended(&invalid, &Digits::default())),
            "attempt 4 · invalid: no number"
        );
    }

    #[test]
    fn a_generation_says_its_best_its_mean_and_how_far_the_best_moved() {
        let row = Generation {
            number: 2,
            first: 5,
            last: 6,
            valid: 2,
            best: Some(2.5),
            mean: Some(2.25),
            gained: Some(0.5),
            ..Generation::default()
        };
        assert_eq!(
            plain(&generation(&row)),
            "generation 2 · best 2.5, mean 2.25, 2 of 2 valid and new · the best moved by +0.5"
        );
        let stale = Generation {
            valid: 0,
            best: None,
            mean: None,
            gained: Some(0.0),
            stale: 2,
            ..row
        };
        assert_eq!(
            plain(&generation(&stale)),
            "generation 2 · none of 2 is valid and new: its survivors stay · no new best, 2 in a row"
        );
    }
}
