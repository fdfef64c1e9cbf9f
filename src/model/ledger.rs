//! The names of everything that `evolve` keeps in a repository, and which paths are whose. Pure.

/// The folder of `evolve`'s own files; every path below it is a ledger path.
pub const FOLDER: &str = ".agents/evolve";
/// The queue of harvested work; a ledger path too.
pub const QUEUE: &str = ".agents/rpi/next-work.jsonl";
/// The folders on the way to ledger paths, outermost first.
pub const FOLDERS: [&str; 3] = [".agents", FOLDER, ".agents/rpi"];
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
/// How many snapshots of either kind stay in the tree.
pub const SNAPSHOTS_KEPT: u64 = 100;

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

/// Returns the cycle of a snapshot's path.
pub fn cycle_of_snapshot(path: &str) -> Option<u64> {
    let name = path
        .strip_prefix(FOLDER)?
        .strip_prefix("/fitness-")?
        .strip_suffix(".json")?;
    name.strip_suffix("-post").unwrap_or(name).parse().ok()
}

/// Says whether a path belongs to the ledger; everything else is content.
pub fn is_ledger_path(path: &[u8]) -> bool {
    path == QUEUE.as_bytes()
        || path
            .strip_prefix(FOLDER.as_bytes())
            .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Says whether a ledger path is one that is never committed.
pub fn is_private(path: &str) -> bool {
    path == STOP || path == KILLED || path.starts_with(OUTBOX)
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
    fn the_cycle_of_a_snapshot_is_read_from_its_name() {
        assert_eq!(cycle_of_snapshot(&snapshot(12)), Some(12));
        assert_eq!(cycle_of_snapshot(&post_snapshot(7)), Some(7));
        assert_eq!(cycle_of_snapshot(BASELINE), None);
        assert_eq!(cycle_of_snapshot("fitness-3.json"), None);
    }
}
