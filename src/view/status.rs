//! Where a repository stands, as text for people.

use crate::model::sandbox::Available;
use crate::model::status::{Now, Searching, Status};
use crate::model::text::{clean_line, cut, number, passing, shell_word};
use crate::view::style::{BAD, GOOD, ODD, STRONG, paint};
use crate::view::width::hanging;

/// Says how it stands with a search.
fn searching(search: &Searching) -> String {
    let name = search
        .number
        .map_or("a search".to_owned(), |number| format!("search {number}"));
    let stands = match &search.session {
        Some(running) => format!(
            "at work, process {} since {}",
            running.pid,
            clean_line(&running.started_at)
        ),
        None => "unfinished".to_owned(),
    };
    format!("{name} is {stands} — `evolve search status` says more")
}

/// Says what a session does.
fn doing(now: &Now) -> String {
    let goal = now.goal_id.as_deref().unwrap_or("what was chosen");
    let does = match now.phase {
        "measuring" => "goals are measured".to_owned(),
        "sweeping" => "programs look for work".to_owned(),
        "agent" => format!("the agent works on {goal}, or its change is measured"),
        "undoing" => format!("the change for {goal} is taken back"),
        "recording" => format!("what became of {goal} is recorded"),
        _ => "the session is closed".to_owned(),
    };
    format!("cycle {}: {does}", now.cycle)
}

/// How much of a reason is shown, in characters.
const REASON: usize = 500;

/// How wide the names are, with the blanks behind them.
const NAMES: usize = 11;

/// Returns the status as a page of `name  value` lines.
pub fn page(status: &Status, width: Option<usize>) -> String {
    let mut page = String::new();
    let mut line = |name: &str, value: String| {
        let lines = hanging(&format!("{name:<NAMES$}{value}"), NAMES, width);
        page.push_str(&format!("{}\n", lines.join("\n")));
    };
    let branch = status.branch.as_deref().map_or("detached HEAD", |branch| {
        branch.strip_prefix("refs/heads/").unwrap_or(branch)
    });
    line(
        "repository",
        format!(
            "{} on {}",
            clean_line(&status.repository),
            clean_line(branch)
        ),
    );
    line(
        "goals",
        match (status.goals_total, &status.no_goals) {
            (Some(total), _) => total.to_string(),
            (None, Some((file, false))) => {
                let none = format!("none: there is no {}", clean_line(file));
                let named = named(file);
                paint(ODD, &format!("{none}; `evolve init{named}` writes one"))
            }
            (None, Some((file, true))) => {
                let broken = format!("{} cannot be read", clean_line(file));
                let named = named(file);
                paint(BAD, &format!("{broken}; `evolve validate{named}` says why"))
            }
            (None, None) => paint(BAD, "they cannot be read; `evolve validate` says why"),
        },
    );
    line(
        "session",
        match &status.session {
            Some(running) => paint(
                GOOD,
                &format!(
                    "at work, process {} since {}",
                    running.pid,
                    clean_line(&running.started_at)
                ),
            ),
            None => "none".to_owned(),
        },
    );
    if let Some(now) = &status.now {
        line("now", clean_line(&doing(now)));
    }
    if let Some(search) = &status.search {
        line("search", paint(GOOD, &searching(search)));
    }
    line("protected", clean_line(&status.protections.line()));
    let sandboxes = status.sandboxes.iter();
    let sandboxes: Vec<String> = sandboxes.map(sandbox).collect();
    line("sandboxes", sandboxes.join("; "));
    if let Some(path) = &status.kill {
        line(
            "KILL",
            paint(
                BAD,
                &format!(
                    "{} — `evolve stop --off --kill` takes it away",
                    clean_line(path)
                ),
            ),
        );
    }
    if let Some(words) = &status.stop {
        let words = match words.is_empty() {
            true => "asked for",
            false => words,
        };
        line(
            "STOP",
            paint(
                ODD,
                &format!("{} — `evolve stop --off` takes it away", clean_line(words)),
            ),
        );
    }
    if let Some(cycle) = status.interrupted_cycle {
        line(
            "unsettled",
            paint(
                ODD,
                &format!(
                    "cycle {cycle} was cut short; the next run undoes it first, and tells what you changed here since from it"
                ),
            ),
        );
    }
    line("score", score(status) + &scored(status));
    line("cycles", status.cycles.to_string());
    if let Some(newest) = &status.newest {
        let goal = newest.goal_id.as_deref().unwrap_or("nothing to do");
        let reason = newest.why().map_or(String::new(), |why| {
            format!(" — {}", cut(&clean_line(&why), REASON))
        });
        let words = format!(
            "cycle {}, {}: {}{reason}",
            newest.cycle,
            clean_line(goal),
            paint(STRONG, newest.result.word())
        );
        line("newest", words);
    }
    for (name, goals) in [("struck", &status.struck), ("declined", &status.declined)] {
        if !goals.is_empty() {
            let ids = clean_line(&goals.join(", "));
            line(
                name,
                paint(
                    ODD,
                    &format!("{ids} — `evolve retry ID` allows another attempt"),
                ),
            );
        }
    }
    let queue = &status.queue;
    line(
        "queue",
        format!(
            "{} open, {} set aside, {}",
            queue.open,
            queue.set_aside,
            queue.off()
        ),
    );
    for problem in &status.problems {
        line("problem", paint(ODD, &clean_line(problem)));
    }
    page
}

/// Returns how a command is told of a goals file: not at all of the one that is meant anyway.
fn named(file: &str) -> String {
    match file {
        "GOALS.yaml" => String::new(),
        other => format!(" --goals {}", shell_word(clean_line(other))),
    }
}

fn sandbox(available: &Available) -> String {
    let word = available.sandbox.word();
    let detail = clean_line(&available.detail);
    match available.works {
        true => format!("{} ({detail})", paint(GOOD, word)),
        false => paint(ODD, &detail),
    }
}

/// Says of which cycle the score is, while another one is at work.
fn scored(status: &Status) -> String {
    let now = status.now.as_ref();
    let newest = status.newest.as_ref().map(|newest| newest.cycle);
    match (now.filter(|_| status.score.is_some()), newest) {
        (None, _) => String::new(),
        (Some(now), Some(newest)) if newest >= now.cycle => String::new(),
        (Some(now), Some(newest)) => {
            format!(
                ", after cycle {newest}; cycle {} is not recorded yet",
                now.cycle
            )
        }
        (Some(now), None) => format!(", before cycle {}", now.cycle),
    }
}

fn score(status: &Status) -> String {
    let pass = match (status.goals_passing, status.goals_total) {
        (Some(pass), Some(total)) => format!(", {}", passing(pass, total)),
        (Some(_) | None, _) => String::new(),
    };
    match (status.score, status.baseline_score) {
        (Some(now), Some(baseline)) => {
            format!("{} (baseline {}){pass}", number(now), number(baseline))
        }
        (Some(now), None) => format!("{}{pass}", number(now)),
        (None, _) => "none is recorded yet".to_owned(),
    }
}
