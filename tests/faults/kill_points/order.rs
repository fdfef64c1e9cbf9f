//! The order of what is written: a file is on the disk before it gets its name, the name before anything builds on it, and
//! the journal before what it announces. Read from a trace of all processes of a session.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;

use super::scenario::Scenario;
use crate::harness::{TestRepo, finish};

/// What a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Evolve,
    /// A git that `evolve` calls.
    Git,
    /// An agent, a check, and whatever these call.
    Other,
}

/// One thing that was done, in the order of its completion.
#[derive(Clone, Debug)]
enum Deed {
    /// Made, where nothing was.
    Made(String),
    Wrote(String, String),
    Synced(String),
    /// Renamed or linked.
    Named {
        from: String,
        to: String,
    },
    Removed(String),
    Started(String),
}

/// Runs a session under `strace` and returns what was done by whom.
fn deeds(scenario: Scenario, repo: &TestRepo) -> Vec<(Who, Deed)> {
    let log = repo.out("trace");
    let mut command = repo.command("strace");
    command.args(["-f", "-y", "-s", "100000", "-e"]);
    command.arg(
        "trace=process,?open,openat,?write,?writev,?pwrite64,fsync,fdatasync,?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat",
    );
    command
        .arg("-o")
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_evolve"));
    command.args(scenario.arguments(repo));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(command.spawn().unwrap()).expect(0);
    let root = repo.root().display().to_string();
    let text = String::from_utf8_lossy(&fs::read(log).unwrap()).into_owned();
    let mut who: BTreeMap<String, Who> = BTreeMap::new();
    let mut begun: BTreeMap<String, String> = BTreeMap::new();
    let mut deeds = Vec::new();
    for line in text.lines() {
        let (pid, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        let call = match (
            call.strip_suffix("<unfinished ...>"),
            call.strip_prefix("<... "),
        ) {
            (Some(begin), _) => {
                begun.insert(pid.to_owned(), begin.trim_end().to_owned());
                continue;
            }
            (None, Some(end)) => {
                let begin = begun.remove(pid).unwrap_or_default();
                begin + end.split_once("resumed>").map_or("", |(_, end)| end)
            }
            (None, None) => call.to_owned(),
        };
        // A child may be heard of before its parent's call is over.
        let parent = || {
            let is_starting = |call: &String| call.starts_with("clone") || call.contains("fork");
            let parent = begun.iter().find(|(_, call)| is_starting(call));
            parent.and_then(|(parent, _)| who.get(parent).copied())
        };
        let own = who.get(pid).copied().or_else(parent).unwrap_or(Who::Evolve);
        who.entry(pid.to_owned()).or_insert(own);
        let (Some((name, rest)), Some((_, result))) =
            (call.split_once('('), call.rsplit_once(" = "))
        else {
            continue;
        };
        if result.starts_with('-') {
            continue;
        }
        let words = strings(rest);
        let absolute = |name: &str| match name.starts_with('/') {
            true => name.to_owned(),
            false => format!("{root}/{name}"),
        };
        let deed = match name {
            "clone" | "clone3" | "fork" | "vfork" => {
                let child = result.split(|c: char| !c.is_ascii_digit()).next().unwrap();
                who.entry(child.to_owned()).or_insert(own);
                continue;
            }
            "execve" => {
                let program = words.first().cloned().unwrap_or_default();
                let is_first = deeds.is_empty() && program.ends_with("/evolve");
                let new = match (own, program.rsplit('/').next()) {
                    _ if is_first => Who::Evolve,
                    (Who::Evolve, Some("evolve")) => Who::Evolve,
                    (Who::Evolve | Who::Git, Some("git")) => Who::Git,
                    _ => Who::Other,
                };
                who.insert(pid.to_owned(), new);
                Deed::Started(words.join(" "))
            }
            "open" | "openat" if rest.contains("O_CREAT|O_EXCL") => match opened(result) {
                Some(file) => Deed::Made(file),
                None => continue,
            },
            "write" | "writev" | "pwrite64" => match opened(rest) {
                Some(file) => Deed::Wrote(file, words.join(" ")),
                None => continue,
            },
            "fsync" | "fdatasync" => Deed::Synced(opened(rest).unwrap_or_default()),
            "rename" | "renameat" | "renameat2" | "link" | "linkat" => Deed::Named {
                from: absolute(&words[0]),
                to: absolute(&words[1]),
            },
            "unlink" | "unlinkat" => Deed::Removed(absolute(&words[0])),
            _ => continue,
        };
        deeds.push((who[pid], deed));
    }
    deeds
}

/// The strings of a call's arguments, still escaped.
fn strings(arguments: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = arguments;
    while let Some((_, after)) = rest.split_once('"') {
        let mut end = 0;
        let bytes = after.as_bytes();
        while end < bytes.len() && bytes[end] != b'"' {
            end += 1 + usize::from(bytes[end] == b'\\');
        }
        found.push(after.get(..end).unwrap_or_default().to_owned());
        rest = after.get(end + 1..).unwrap_or_default();
    }
    found
}

/// The file behind the first argument, as in `3</path>`.
fn opened(arguments: &str) -> Option<String> {
    let (_, file) = arguments.split_once('<')?;
    let (file, _) = file.split_once('>')?;
    file.starts_with('/').then(|| file.to_owned())
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Checks that whatever gets its name was synced before, and that `evolve` syncs the folder before it names anything else.
fn names_follow_bytes(deeds: &[(Who, Deed)]) {
    let mut unsynced: BTreeSet<String> = BTreeSet::new();
    let mut unsure: Option<String> = None;
    let mut named = 0;
    // The copy of .git is there for what an agent does to it, not for a machine that goes down, and so are second names of files:
    // they are made before a check may take the first away, and what the disk is told of names keeps its order.
    let counts = |(who, deed): &&(Who, Deed)| {
        let is_copied = matches!(deed, Deed::Named { to, .. }
            if to.contains("/.local/state/evolve/") && !to.ends_with(OUTSIDE)
                || to.contains("/.git/evolve/links/"));
        *who != Who::Other && !is_copied
    };
    for (who, deed) in deeds.iter().filter(counts) {
        match deed {
            Deed::Wrote(file, _) => {
                unsynced.insert(file.clone());
            }
            Deed::Synced(path) => {
                unsynced.remove(path);
                if unsure.as_deref().is_some_and(|file| folder(file) == path) {
                    unsure = None;
                }
            }
            Deed::Named { from, to } => {
                assert!(
                    !unsynced.contains(from),
                    "{to} got its name before its bytes were synced"
                );
                if *who == Who::Evolve {
                    assert_eq!(
                        unsure, None,
                        "its folder was not synced before {to} got its name"
                    );
                    unsure = Some(to.clone());
                    named += 1;
                }
            }
            Deed::Removed(file) => {
                unsynced.remove(file);
            }
            Deed::Made(_) => {}
            Deed::Started(_) => assert_eq!(unsure, None, "its folder was not synced"),
        }
    }
    assert_eq!(unsure, None, "its folder was not synced");
    assert!(
        named > 20,
        "only {named} files got a name: is the trace read right?"
    );
}

/// The place of the first deed from `from` on for which this holds.
fn place(deeds: &[(Who, Deed)], from: usize, what: &str, is_it: impl Fn(&Deed) -> bool) -> usize {
    let found = deeds[from..].iter().position(|(_, deed)| is_it(deed));
    from + found.unwrap_or_else(|| panic!("{what} never happens after deed {from}"))
}

/// How the name of the journal outside the repository ends.
const OUTSIDE: &str = ".journal";

/// The place from which the journal says this, for certain: outside the repository first, then in it.
fn said(deeds: &[(Who, Deed)], from: usize, phase: &str) -> usize {
    let words = format!("\\\"phase\\\":\\\"{phase}\\\"");
    let is_written = |deed: &Deed, name: &str| matches!(deed, Deed::Wrote(file, text) if file.contains(name) && text.contains(&words));
    let outside = place(deeds, from, phase, |deed| is_written(deed, ".journal."));
    let named = place(deeds, outside, phase, |deed| is_named(deed, OUTSIDE));
    let written = place(deeds, from, phase, |deed| {
        is_written(deed, "/.journal.json")
    });
    assert!(
        named < written,
        "{phase}: the repository had it before it was outside"
    );
    let named = place(
        deeds,
        written,
        phase,
        |deed| matches!(deed, Deed::Named { to, .. } if to.ends_with("/evolve/journal.json")),
    );
    place(
        deeds,
        named,
        phase,
        |deed| matches!(deed, Deed::Synced(path) if path.ends_with(".git/evolve")),
    )
}

fn is_named(deed: &Deed, end: &str) -> bool {
    matches!(deed, Deed::Named { to, .. } if to.ends_with(end))
}

#[test]
fn what_is_written_is_on_the_disk_before_anything_builds_on_it() {
    for scenario in [
        Scenario::Kept,
        Scenario::Undone,
        Scenario::Item,
        Scenario::Sweep,
    ] {
        let repo = scenario.prepared();
        let deeds = deeds(scenario, &repo);
        names_follow_bytes(&deeds);
        let history = "/cycle-history.jsonl";
        let branch = "/refs/heads/main";
        let mut recorded_from = 0;
        match scenario {
            Scenario::Sweep => {
                let said = said(&deeds, 0, "sweeping");
                let swept = place(
                    &deeds,
                    0,
                    "the sweep",
                    |deed| matches!(deed, Deed::Started(words) if words.contains("look.sh")),
                );
                assert!(said < swept, "the sweep ran before the journal said so");
            }
            Scenario::Kept
            | Scenario::Undone
            | Scenario::Item
            | Scenario::Apart
            | Scenario::ApartUndone => {
                let said = said(&deeds, 0, "agent");
                let agent = repo.outside().join("agent").display().to_string();
                let ran = place(
                    &deeds,
                    0,
                    "the agent",
                    |deed| matches!(deed, Deed::Started(words) if words.contains(&agent) && !words.contains("--agent")),
                );
                assert!(said < ran, "the agent ran before the journal said so");
                recorded_from = ran;
            }
        }
        if scenario == Scenario::Undone {
            let kept = place(
                &deeds,
                recorded_from,
                "the work's ref",
                |deed| matches!(deed, Deed::Named { to, .. } if to.contains("/refs/evolve/")),
            );
            let said = said(&deeds, recorded_from, "undoing");
            assert!(kept < said, "the work was in danger when its undo began");
            let moved = place(&deeds, said, "the undo", |deed| is_named(deed, branch));
            recorded_from = moved;
        }
        let said = said(&deeds, recorded_from, "recording");
        let written = place(&deeds, recorded_from, "the record", |deed| {
            is_named(deed, history)
        });
        assert!(
            said < written,
            "the record was written before the journal had it"
        );
        let committed = place(&deeds, written, "its commit", |deed| is_named(deed, branch));
        let before = deeds[..written].iter();
        let is_of_evolve = |lock: &Deed| matches!(lock, Deed::Made(file) | Deed::Removed(file) if file.ends_with("/.git/index.lock"));
        let mut locks = before.filter(|(who, deed)| *who == Who::Evolve && is_of_evolve(deed));
        let lock = locks.next_back();
        assert!(
            matches!(lock, Some((_, Deed::Made(_)))),
            "a commit of somebody else's could take the record with it"
        );
        let followed = place(&deeds, committed, "its index", |deed| {
            is_named(deed, "/.git/index")
        });
        let unlocked = place(
            &deeds,
            written,
            "the end of the lock",
            |deed| matches!(deed, Deed::Removed(file) if file.ends_with("/.git/index.lock")),
        );
        assert!(
            followed < unlocked,
            "a commit of somebody else's could take the record away"
        );
        let cleared = place(
            &deeds,
            recorded_from,
            "the end",
            |deed| matches!(deed, Deed::Removed(file) if file.ends_with("/evolve/journal.json")),
        );
        assert!(
            committed < cleared,
            "the journal went before the record was committed"
        );
        place(
            &deeds,
            cleared,
            "the end outside",
            |deed| matches!(deed, Deed::Removed(file) if file.ends_with(OUTSIDE)),
        );
    }
}
