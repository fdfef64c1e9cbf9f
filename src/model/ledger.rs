//! The names of everything that `evolve` keeps in a repository, and which paths are whose. Pure.

use serde::{Serialize, Serializer};

/// The folder of `evolve`'s own files; every path below it is a ledger path.
pub const FOLDER: &str = ".agents/evolve";
/// The queue of harvested work; a ledger path too.
pub const QUEUE: &str = ".agents/rpi/next-work.jsonl";
/// The folder of what is never committed, where a git directory stands in its working tree.
const PRIVATE: &str = ".git/evolve/";
/// The folders on the way to ledger paths, outermost first.
pub const FOLDERS: [&str; 3] = [".agents", FOLDER, ".agents/rpi"];
/// What stands before and after the session's name in the message of the commit that ends it.
const SESSION: &str = "evolve: session ";
const ENDED: &str = " ended — ";
/// One record a cycle.
pub const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
/// The snapshot of the first run.
pub const BASELINE: &str = ".agents/evolve/fitness-0-baseline.json";
/// The baseline in words.
pub const BASELINE_REPORT: &str = ".agents/evolve/cycle-0-report.md";
/// What this session did, in words.
pub const SUMMARY: &str = ".agents/evolve/session-summary.md";
/// What this session changed, goal by goal.
pub const DELTA: &str = ".agents/evolve/session-fitness-delta.md";
/// What agents learned.
pub const LESSONS: &str = ".agents/evolve/lessons.jsonl";
/// Goal and time of each `evolve retry`.
pub const RETRIES: &str = ".agents/evolve/retries.jsonl";
/// When a sweep ran last.
pub const LAST_SWEEP: &str = ".agents/evolve/last-sweep-date";
/// Stops the loop after the running cycle; never committed.
pub const STOP: &str = ".agents/evolve/STOP";
/// Acknowledges a kill; never committed.
pub const KILLED: &str = ".agents/evolve/KILLED.json";
/// What the agent may write for `evolve`; never committed.
pub const OUTBOX: &str = ".agents/evolve/outbox";

/// How many lines the active history file may have.
pub const HISTORY_LINES: usize = 5_000;
/// How many of its oldest lines move to a segment when there are more.
pub const SEGMENT_LINES: usize = 4_000;
/// How many bytes the active history file may have before its oldest lines move: less than what is read of it by more than the
/// longest record, so that it is never refused.
const HISTORY_BYTES: usize = 8 << 20;
/// How many lines of the queue are read. Each is held apart, and a file of empty lines alone would fill the memory.
const QUEUE_LINES: usize = 20_000;
/// How many items of the queue are read, which may all stand in one line.
const QUEUE_ITEMS: usize = 10_000;
/// How many values a line of the queue may hold: a line is understood as a whole, and a value takes a hundred bytes of memory
/// however few it is written with.
const LINE_VALUES: usize = 100_000;
/// How many snapshots of either kind stay in the tree.
pub const SNAPSHOTS_KEPT: u64 = 100;

/// How the words of a stop file begin of which it cannot be told whether it is there.
pub const UNDECIDABLE: &str = "cannot be looked at";

/// A KILL file that is there, or of which that cannot be told. In JSON it is its path.
#[derive(Clone, Debug)]
pub struct KillFile {
    /// Where it is, or what keeps it from being looked for.
    pub path: String,
    /// What it says, or why that cannot be told.
    pub words: String,
}

impl KillFile {
    /// Says how it is got out of the way.
    pub fn way_past(&self) -> &'static str {
        way_past_kill(&self.words)
    }
}

impl Serialize for KillFile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.path)
    }
}

/// Says how a KILL file with these words is got out of the way.
pub fn way_past_kill(words: &str) -> &'static str {
    match words.starts_with(UNDECIDABLE) {
        true => "mend what is in the place of its folder",
        false => "`evolve stop --off --kill` takes it away",
    }
}

/// Returns the path of a cycle's first snapshot.
pub fn snapshot(cycle: u64) -> String {
    format!("{FOLDER}/fitness-{cycle}.json")
}

/// Returns the path of a cycle's second snapshot.
pub fn post_snapshot(cycle: u64) -> String {
    format!("{FOLDER}/fitness-{cycle}-post.json")
}

/// Returns the path of a segment of the history, numbered from 1.
pub fn segment(number: usize) -> String {
    format!("{FOLDER}/cycle-history.{number:04}.jsonl")
}

/// Returns the most bytes of a file that are read: many times more than any comes to, and few enough to be held in memory
/// several times over.
pub fn most_bytes(name: &str) -> u64 {
    match name {
        QUEUE => 3 << 20,
        LESSONS => 4 << 20,
        RETRIES | LAST_SWEEP => 1 << 20,
        HISTORY => 10 << 20,
        _ => 16 << 20,
    }
}

/// Returns why a file of so many bytes is not read; none if it is.
pub fn too_large(name: &str, bytes: u64) -> Option<String> {
    let most = most_bytes(name);
    let why = || format!("{name} has {bytes} bytes, more than the {most} that are read");
    (bytes > most).then(why)
}

/// Returns why the text of a file is not read; none if it is.
pub fn refusal(name: &str, text: &str) -> Option<String> {
    if let Some(why) = too_large(name, text.len() as u64) {
        return Some(why);
    }
    match name {
        QUEUE => queue_refusal(text).map(|why| format!("{name} {why}")),
        _ => None,
    }
}

/// Returns why the text of a queue is not read.
fn queue_refusal(text: &str) -> Option<String> {
    let mut items = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if index == QUEUE_LINES {
            return Some(format!("has more than {QUEUE_LINES} lines"));
        }
        let (objects, values) = parts_of(line);
        items += objects;
        if items > QUEUE_ITEMS {
            return Some(format!("has more than {QUEUE_ITEMS} items"));
        }
        if values > LINE_VALUES {
            let line = index + 1;
            return Some(format!("has more than {LINE_VALUES} values in line {line}"));
        }
    }
    None
}

/// Counts the objects of a line of JSON, and its values: with each but the first of a list or object comes a comma. What stands
/// in a text is none.
fn parts_of(line: &str) -> (usize, usize) {
    let (mut objects, mut values) = (0, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for byte in line.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' => (objects, values) = (objects + 1, values + 1),
            b'[' | b',' => values += 1,
            _ => {}
        }
    }
    (objects, values)
}

/// Returns how many of the history's oldest lines move to a segment: none while it is short.
pub fn lines_to_move(history: &str) -> usize {
    let lines = history.lines().count();
    if lines > HISTORY_LINES {
        return SEGMENT_LINES;
    }
    match history.len() > HISTORY_BYTES {
        true => lines * 4 / 5,
        false => 0,
    }
}

/// Says whether a path is that of a segment of the history.
pub fn is_segment(path: &str) -> bool {
    let name = path.strip_prefix(FOLDER).unwrap_or_default();
    let number = name.strip_prefix("/cycle-history.");
    number.is_some_and(|rest| rest.ends_with(".jsonl"))
}

/// Returns the cycle of a snapshot's path.
pub fn cycle_of_snapshot(path: &str) -> Option<u64> {
    let name = path
        .strip_prefix(FOLDER)?
        .strip_prefix("/fitness-")?
        .strip_suffix(".json")?;
    name.strip_suffix("-post").unwrap_or(name).parse().ok()
}

/// Says whether a file is a snapshot, the baseline included.
pub fn is_snapshot(path: &str) -> bool {
    path == BASELINE || cycle_of_snapshot(path).is_some()
}

/// Returns the message of the commit that ends a session.
pub fn end_message(session: &str, word: &str, reason: &str) -> String {
    format!("{SESSION}{session}{ENDED}{word}\n\n{reason}\n")
}

/// Says whether a message is that of a commit that ends a session.
pub fn is_end_message(message: &str) -> bool {
    let subject = message.lines().next().unwrap_or_default();
    let rest = subject
        .strip_prefix(SESSION)
        .and_then(|rest| rest.split_once(ENDED));
    rest.is_some_and(|(session, _)| !session.contains(' '))
}

/// Says whether a path belongs to the ledger; everything else is content.
pub fn is_ledger_path(path: &[u8]) -> bool {
    path == QUEUE.as_bytes()
        || path
            .strip_prefix(FOLDER.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Returns the first of `evolve`'s own files that an output names.
pub fn named_in(output: &str) -> Option<&str> {
    let files = [&format!("{FOLDER}/"), QUEUE, PRIVATE].map(|place| output.find(place));
    let named = &output[files.into_iter().flatten().min()?..];
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || "/._-".contains(c));
    let end = named.find(is_end).unwrap_or(named.len());
    Some(named[..end].trim_end_matches(['.', '/']))
}

/// Returns the folder that a check passes by, so that it does not see this file of `evolve`'s.
pub fn passed_by(named: &str) -> &'static str {
    match named.starts_with(PRIVATE) {
        true => ".git/",
        false => ".agents/",
    }
}

/// Says whether a ledger path is one that is never committed.
pub fn is_private(path: &str) -> bool {
    let outbox = path.strip_prefix(OUTBOX);
    let is_outbox = outbox.is_some_and(|below| below.is_empty() || below.starts_with('/'));
    path == STOP || path == KILLED || is_outbox
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_two_named_places_are_ledger_paths() {
        for (path, is_ledger) in [
            (".agents/evolve/fitness-1.json", true),
            (".agents/evolve", true),
            (".agents/rpi/next-work.jsonl", true),
            (".agents/evolved/x", false),
            (".agents/rpi/notes.md", false),
            (".agents/learnings.md", false),
            ("src/.agents/evolve/x", false),
        ] {
            assert_eq!(is_ledger_path(path.as_bytes()), is_ledger, "{path}");
        }
    }

    #[test]
    fn the_commit_that_ends_a_session_is_known_by_its_message() {
        let message = end_message("s-1", "limit", "one cycle");
        assert_eq!(message, "evolve: session s-1 ended — limit\n\none cycle\n");
        assert!(is_end_message(&message));
        for other in [
            "",
            "evolve: sessions end — well",
            "evolve: session tests that ended — at last",
            "evolve: cycle 1 — idle\n\nevolve: session s ended — x",
        ] {
            assert!(!is_end_message(other), "{other}");
        }
    }

    #[test]
    fn only_a_queue_of_sensible_size_is_read() {
        let lines = |count: usize| "[]\n".repeat(count);
        assert_eq!(refusal(QUEUE, &lines(QUEUE_LINES)), None);
        assert!(refusal(QUEUE, &lines(QUEUE_LINES + 1)).is_some());
        assert_eq!(refusal(HISTORY, &lines(QUEUE_LINES + 1)), None);
        assert_eq!(refusal(QUEUE, &"x".repeat(3 << 20)), None);
        let items = |count: usize| format!("{{\"items\":[{}{{}}]}}", "{},".repeat(count - 1));
        assert_eq!(refusal(QUEUE, &items(QUEUE_ITEMS - 1)), None);
        let why = refusal(QUEUE, &items(QUEUE_ITEMS)).unwrap_or_default();
        assert_eq!(why, format!("{QUEUE} has more than {QUEUE_ITEMS} items"));
        let numbers = format!("{{}}\n[{}1]", "1,".repeat(LINE_VALUES));
        let why = refusal(QUEUE, &numbers).unwrap_or_default();
        assert_eq!(
            why,
            format!("{QUEUE} has more than {LINE_VALUES} values in line 2")
        );
        let more = ",1".repeat(LINE_VALUES - 1);
        assert_eq!(refusal(QUEUE, &format!("[1{more}]")), None);
        assert!(refusal(QUEUE, &format!("[{{}}{more}]")).is_some());
        let hidden = r"\,".repeat(LINE_VALUES + 1);
        assert!(refusal(QUEUE, &hidden).is_some(), "outside of a text");
        let words = format!("{{\"title\":\"\\\"{}\"}}", "[{,".repeat(LINE_VALUES));
        assert_eq!(refusal(QUEUE, &words), None, "all of it is one text");
        let why = refusal(QUEUE, &"x".repeat((3 << 20) + 1)).unwrap_or_default();
        assert!(why.starts_with(QUEUE) && why.contains("3145729"), "{why}");
    }

    #[test]
    fn a_history_of_many_lines_or_bytes_is_cut_long_before_it_is_refused() {
        let history =
            |lines: usize, length: usize| format!("{}\n", "x".repeat(length)).repeat(lines);
        assert_eq!(lines_to_move(""), 0);
        assert_eq!(lines_to_move(&history(HISTORY_LINES, 100)), 0);
        assert_eq!(
            lines_to_move(&history(HISTORY_LINES + 1, 100)),
            SEGMENT_LINES
        );
        assert_eq!(lines_to_move(&history(8, (1 << 20) - 1)), 0);
        assert_eq!(lines_to_move(&history(10, 1 << 20)), 8);
        assert_eq!(lines_to_move(&history(1, 15 << 20)), 0);
    }

    #[test]
    fn a_file_is_read_up_to_a_size_of_its_own() {
        for (name, most) in [
            (QUEUE, 3_145_728),
            (LESSONS, 4_194_304),
            (RETRIES, 1_048_576),
            (LAST_SWEEP, 1_048_576),
            (HISTORY, 10_485_760),
            (BASELINE, 16_777_216),
        ] {
            assert_eq!(too_large(name, most), None);
            let why = format!(
                "{name} has {} bytes, more than the {most} that are read",
                most + 1
            );
            assert_eq!(too_large(name, most + 1), Some(why));
        }
    }

    #[test]
    fn only_what_stops_acknowledges_or_comes_from_the_agent_is_never_committed() {
        for (path, expected) in [
            (".agents/evolve/STOP", true),
            (".agents/evolve/KILLED.json", true),
            (".agents/evolve/outbox", true),
            (".agents/evolve/outbox/lesson.txt", true),
            (".agents/evolve/outbox-of-mine", false),
            (".agents/evolve/lessons.jsonl", false),
            (".agents/rpi/next-work.jsonl", false),
        ] {
            assert_eq!(is_private(path), expected, "{path}");
        }
    }

    #[test]
    fn an_output_names_files_of_evolves() {
        for (output, expected) in [
            (
                "[warn] .agents/evolve/session-summary.md\n[warn] a",
                Some(SUMMARY),
            ),
            ("/x/.agents/rpi/next-work.jsonl:3: no", Some(QUEUE)),
            ("see .agents/evolve/.", Some(FOLDER)),
            (".agents/evolved/x .agents/rpi/notes.md", None),
            ("", None),
        ] {
            assert_eq!(named_in(output), expected, "{output}");
        }
    }

    #[test]
    fn the_cycle_of_a_snapshot_is_read_from_its_name() {
        assert_eq!(cycle_of_snapshot(&snapshot(12)), Some(12));
        assert_eq!(cycle_of_snapshot(&post_snapshot(7)), Some(7));
        assert!(is_segment(&segment(3)) && !is_segment(HISTORY));
        assert_eq!(cycle_of_snapshot(BASELINE), None);
        assert_eq!(cycle_of_snapshot("fitness-3.json"), None);
    }
}
