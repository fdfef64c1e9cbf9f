//! Where a search stands, as `name  value` lines.

use super::{applied, at_rest, counted, going_on, score, shown, stale, way};
use crate::model::search::lineage::Direction;
use crate::model::search::view::{Limit, Overview};
use crate::model::text::{clean_line, duration, number};
use crate::model::usage::dollars;
use crate::view::style::{GOOD, ODD, paint};
use crate::view::width::hanging;

/// How wide the names are, with the blanks behind them.
const NAMES: usize = 11;
/// How many of the things that are under way are told.
const AHEAD: usize = 16;

/// The process that a search runs in.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its id.
    pub pid: u32,
    /// Since when.
    pub since: String,
}

/// Returns where a search stands; `running` if a session is at work on it, `cut_short` if an `apply` was killed half way.
pub fn page(
    overview: &Overview,
    running: Option<&Running>,
    cut_short: bool,
    width: Option<usize>,
) -> String {
    let digits = overview.digits();
    let mut page = String::new();
    let mut line = |name: &str, value: String| {
        let lines = hanging(&format!("{name:<NAMES$}{value}"), NAMES, width);
        page.push_str(&format!("{}\n", lines.join("\n")));
    };
    line(
        "search",
        format!(
            "{} · {} · {} is better · seed {} · since {} on {}",
            overview.search,
            overview.strategy,
            overview.direction.better_word(),
            overview.seed,
            clean_line(&overview.started),
            clean_line(&overview.branch)
        ),
    );
    if let Some(objective) = &overview.objective {
        line("objective", clean_line(objective));
    }
    line("fitness", clean_line(&overview.fitness));
    line("state", state(overview, running));
    if cut_short {
        let words = "an apply was cut short; `evolve search apply` completes it";
        line("", paint(ODD, words));
    }
    if let Some(baseline) = overview.baseline {
        let noise = overview.row(0).and_then(|row| row.reason.as_deref());
        let noise = noise.map_or(String::new(), |words| format!(", {words}"));
        line("baseline", format!("{}{noise}", digits.show(baseline)));
    }
    let best = overview.row(overview.best).filter(|row| !row.is_baseline());
    let best = best.and_then(|row| Some((row, score(row, &digits)?)));
    line(
        "best",
        match best {
            Some((row, score)) => format!("attempt {}: {score}", row.id),
            None => match overview.ended {
                Some(_) => "nothing is better than the baseline".to_owned(),
                None => "nothing is better than the baseline yet".to_owned(),
            },
        },
    );
    if let Some((style, words)) = shown(overview) {
        line("", paint(style, &words));
    }
    if overview.way.len() > 1 {
        line("way", way(overview));
    }
    if let Some(words) = applied(overview) {
        line("applied", words);
    }
    let endings = match running {
        Some(_) => overview.endings.clone(),
        None => at_rest(&overview.endings),
    };
    line("attempts", counted(overview.attempts(), &endings));
    if let Some(generation) = overview.asked_about.filter(|_| running.is_some()) {
        line(
            "waits",
            format!("for an answer at its terminal, before generation {generation}"),
        );
    }
    for (at, words) in overview.ahead.iter().take(AHEAD).enumerate() {
        let name = match (at, running) {
            (0, Some(_)) if overview.asked_about.is_some() => "then",
            (0, Some(_)) => "under way",
            (0, None) => "on resume",
            _ => "",
        };
        line(name, clean_line(&words.words));
    }
    for (at, limit) in overview.limits.iter().enumerate() {
        line(
            if at == 0 { "limits" } else { "" },
            used(limit, overview.direction),
        );
    }
    if overview.spent.calls > 0 {
        line("cost", overview.spent.words());
    }
    page
}

fn state(overview: &Overview, running: Option<&Running>) -> String {
    match (running, &overview.ended_words) {
        (Some(running), _) => paint(
            GOOD,
            &format!(
                "at work, process {} since {}",
                running.pid,
                clean_line(&running.since)
            ),
        ),
        (None, Some(words)) if !overview.can_go_on => format!("ended: {words}"),
        (None, words) => {
            let words = words.as_deref().unwrap_or("stopped");
            paint(ODD, &format!("{words} — {}", going_on(overview)))
        }
    }
}

/// Returns how much of a limit is used: `12 of 60 attempts`.
fn used(limit: &Limit, direction: Direction) -> String {
    let used = limit.used.map_or("?".to_owned(), number);
    let of = number(limit.of);
    match limit.name {
        "attempts" => format!("{used} of {of} attempts"),
        "generations" => format!("generation {used} of {of}"),
        "stale" => stale(limit.used.unwrap_or(0.0) as u64, limit.of),
        "cost" => format!(
            "{} of {}",
            limit.used.map_or("cost unknown".to_owned(), dollars),
            dollars(limit.of)
        ),
        "time" => format!("{} for a session", duration(limit.of)),
        _ => format!(
            "until a score of {of} or {}, now {used}",
            direction.better_word()
        ),
    }
}
