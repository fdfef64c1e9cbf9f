//! Where a repository stands, as text for people.

use crate::model::record::Record;
use crate::model::sandbox::Available;
use crate::model::select::Stuck;
use crate::model::status::{Now, Searching, Status};
use crate::model::text::{clean_line, cut, number, passing, shell_word, some_of};
use crate::model::told::Waiting;
use crate::model::unrecorded::Unrecorded;
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

/// Says what a session does, which waits or is at work; none between two cycles.
fn doing(status: &Status) -> Option<String> {
    let session = status.session.as_ref();
    let waiting = session.and_then(|session| session.waiting.as_ref());
    let does = match (waiting, &status.now) {
        (Some(wait), _) => waits(wait),
        (None, Some(now)) => at_work(now),
        (None, None) => return None,
    };
    let before = match status.now.as_ref().map(|now| now.cycle) {
        Some(0) => "the baseline: ".to_owned(),
        Some(cycle) => format!("cycle {cycle}: "),
        None => String::new(),
    };
    let since = status.now.as_ref().and_then(|now| now.since.as_ref());
    let since = since.filter(|_| waiting.is_none());
    let since = since.map_or(String::new(), |since| format!(", since {since}"));
    Some(before + &does + &since)
}

fn waits(wait: &Waiting) -> String {
    format!("waits until {}: {}", wait.until, wait.reason)
}

/// Says how far a cycle has come.
fn at_work(now: &Now) -> String {
    let goal = now.goal_id.as_deref().unwrap_or("what was chosen");
    match now.phase {
        "measuring" => "goals are measured".to_owned(),
        "sweeping" => "programs look for work".to_owned(),
        "agent" => format!("the agent works on {goal}, or its change is measured"),
        "undoing" => format!("the change for {goal} is taken back"),
        "recording" => format!("what became of {goal} is recorded"),
        _ => "the session is closed".to_owned(),
    }
}

/// How much of a reason is shown, in characters.
const REASON: usize = 500;

/// How much of one is shown where several stand together, in characters.
const SHORT_REASON: usize = 120;

/// How many goals are named, the worst first.
const NAMED: usize = 5;

/// How wide the names are, with the blanks behind them.
const NAMES: usize = 11;

/// Returns the status as a page of `name  value` lines.
pub fn page(status: &Status, width: Option<usize>) -> String {
    let mut rows = vec![
        ("repository", place(status)),
        ("goals", goals(status)),
        ("session", session(status)),
    ];
    rows.extend(status.unrecorded.as_ref().map(|one| ("last", last(one))));
    rows.extend(doing(status).map(|does| ("now", clean_line(&does))));
    let log = status.now.as_ref().and_then(|now| now.log.as_ref());
    rows.extend(log.map(|log| ("log", clean_line(log))));
    let search = status.search.as_ref();
    rows.extend(search.map(|search| ("search", paint(GOOD, &searching(search)))));
    rows.push(("protected", clean_line(&status.protections.line())));
    let sandboxes: Vec<String> = status.sandboxes.iter().map(sandbox).collect();
    rows.push(("sandboxes", sandboxes.join("; ")));
    rows.extend(in_the_way(status));
    rows.push(("score", score(status) + &scored(status)));
    rows.extend(unmet(status));
    rows.push(("cycles", status.cycles.to_string()));
    let newest = status.newest.as_ref();
    rows.extend(newest.map(|newest| ("newest", what_became(newest))));
    rows.extend(passed_over(status));
    let queue = &status.queue;
    let (open, aside, off) = (queue.open, queue.set_aside, queue.off());
    rows.push(("queue", format!("{open} open, {aside} set aside, {off}")));
    let problems = status.problems.iter();
    rows.extend(problems.map(|problem| ("problem", paint(ODD, &clean_line(problem)))));
    let lines = rows
        .iter()
        .flat_map(|(name, value)| hanging(&format!("{name:<NAMES$}{value}"), NAMES, width));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Says where the repository is, and on which branch.
fn place(status: &Status) -> String {
    let branch = status.branch.as_deref().map_or("detached HEAD", |branch| {
        branch.strip_prefix("refs/heads/").unwrap_or(branch)
    });
    let (repository, branch) = (clean_line(&status.repository), clean_line(branch));
    format!("{repository} on {branch}")
}

/// Says how many goals there are, or why that is not known.
fn goals(status: &Status) -> String {
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
    }
}

fn session(status: &Status) -> String {
    let Some(running) = &status.session else {
        return "none".to_owned();
    };
    let since = clean_line(&running.started_at);
    let words = format!("at work, process {} since {since}", running.pid);
    paint(GOOD, &words)
}

/// Says how a session ended that recorded nothing.
fn last(one: &Unrecorded) -> String {
    let reason = cut(&clean_line(&one.reason), REASON);
    let words = format!(
        "ended {}, recorded nothing: {}: {reason}",
        clean_line(&one.ended_at),
        clean_line(&one.ending)
    );
    match one.is_asking {
        true => paint(ODD, &words),
        false => words,
    }
}

/// Says what keeps a session from beginning, or makes it begin with something else.
fn in_the_way(status: &Status) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if let Some(kill) = &status.kill {
        let words = format!("{} — {}", clean_line(&kill.path), kill.way_past());
        rows.push(("KILL", paint(BAD, &words)));
    }
    if let Some(words) = &status.stop {
        let words = match words.is_empty() {
            true => "asked for".to_owned(),
            false => clean_line(words),
        };
        let words = format!("{words} — `evolve stop --off` takes it away");
        rows.push(("STOP", paint(ODD, &words)));
    }
    if let Some(cycle) = status.interrupted_cycle {
        let words = format!(
            "cycle {cycle} was cut short; the next run undoes it first, and tells what you changed here since from it"
        );
        rows.push(("unsettled", paint(ODD, &words)));
    }
    rows
}

/// Says what became of a cycle, and why.
fn what_became(record: &Record) -> String {
    let goal = clean_line(record.goal_id.as_deref().unwrap_or("nothing to do"));
    let result = paint(STRONG, record.result.word());
    let reason = record.why().map_or(String::new(), |why| {
        format!(" — {}", cut(&clean_line(&why), REASON))
    });
    format!("cycle {}, {goal}: {result}{reason}", record.cycle)
}

/// Names the goals that did not pass when they were measured last, the worst of them.
fn unmet(status: &Status) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if !status.failing.is_empty() {
        let ids = clean_line(&some_of(&status.failing, NAMED));
        rows.push(("failing", paint(BAD, &ids)));
    }
    if !status.tolerated.is_empty() {
        let ids = clean_line(&some_of(&status.tolerated, NAMED));
        rows.push(("tolerated", format!("{ids} — worse, but within tolerance")));
    }
    if !status.flaky.is_empty() {
        let ids = clean_line(&some_of(&status.flaky, NAMED));
        let words = format!("{ids} — failed and passed on the same content");
        rows.push(("flaky", paint(ODD, &words)));
    }
    if !status.skipped.is_empty() {
        let ids = clean_line(&some_of(&status.skipped, NAMED));
        let words = format!("{ids} — `evolve measure` says why");
        rows.push(("skipped", paint(ODD, &words)));
    }
    if !status.unmeasured.is_empty() {
        let ids = clean_line(&some_of(&status.unmeasured, NAMED));
        let words = format!("{ids} — not measured yet, the next cycle does");
        rows.push(("new", paint(ODD, &words)));
    }
    rows
}

/// Names the goals that no cycle works on any more, the worst of them with the reason.
fn passed_over(status: &Status) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    for name in ["struck", "declined"] {
        let those = status.stuck.iter().filter(|one| one.standing == name);
        let those: Vec<&Stuck> = those.collect();
        let (first, rest) = those.split_at(those.len().min(NAMED));
        let mut words: Vec<String> = first
            .iter()
            .map(|one| {
                let reason = cut(&clean_line(&one.reason), SHORT_REASON);
                format!("{}: {reason}", clean_line(&one.goal_id))
            })
            .collect();
        if !rest.is_empty() {
            let ids: Vec<&str> = rest.iter().map(|one| one.goal_id.as_str()).collect();
            words.push(format!("and {}", clean_line(&ids.join(", "))));
        }
        if let Some(last) = words.last_mut() {
            let which = match those.as_slice() {
                [one] => shell_word(clean_line(&one.goal_id)),
                _ => "ID".to_owned(),
            };
            last.push_str(&format!(" — `evolve retry {which}` allows another attempt"));
        }
        rows.extend(words.iter().map(|words| (name, paint(ODD, words))));
    }
    rows
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
    if let Some(at) = &status.measured_at {
        return format!(", measured {} and not recorded", clean_line(at));
    }
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
