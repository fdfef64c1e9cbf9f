//! How much of what checks and agents printed is kept: the newest sessions, and of a long session the newest cycles.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::error::Result;

/// How many sessions' logs are kept.
const SESSIONS_KEPT: usize = 50;
/// How many cycles' logs of one session are kept.
const CYCLES_KEPT: usize = 100;
/// The most bytes of logs of one session, apart from its newest cycle's.
const BYTES_KEPT: u64 = 1 << 30;
/// After how many cycles old logs are looked for.
const EVERY: usize = 10;

/// Removes links that an agent put where logs are written from `cycle` on: what is written would go elsewhere, and what is old
/// there be removed. Removes pipes and their like, too: they would be waited for.
pub fn drop_links(private: &Path, session: &str, cycle: u64) -> Result<()> {
    let logs = private.join("logs");
    let own = logs.join(session);
    files::remove_unless_folder(&logs)?;
    files::remove_unless_folder(&own)?;
    for entry in fs::read_dir(&own).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = cycle_of(&name.to_string_lossy());
        if number.is_none_or(|number| number >= cycle) {
            drop_links_in(&entry.path())?;
        }
    }
    Ok(())
}

fn drop_links_in(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_dir() && !meta.is_file() => files::remove(path),
        Ok(meta) if meta.is_dir() => {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries
                .map(|entry| entry.path())
                .try_for_each(|path| drop_links_in(&path))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Returns the number of the cycle that a log is named after.
fn cycle_of(name: &str) -> Option<u64> {
    name.split('-').next()?.parse().ok()
}

/// Removes the logs of all but the newest sessions; their names sort by time.
pub fn drop_old_sessions(private: &Path) {
    let Ok(entries) = fs::read_dir(private.join("logs")) else {
        return;
    };
    let mut sessions: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    sessions.sort();
    for old in sessions.iter().rev().skip(SESSIONS_KEPT) {
        remove(old);
    }
}

/// Removes the logs of a session's oldest cycles, once in a while; `done` cycles have been recorded.
pub fn drop_old_cycles(session: &Path, done: usize) {
    if done.is_multiple_of(EVERY) {
        drop_beyond(session, CYCLES_KEPT, BYTES_KEPT);
    }
}

fn drop_beyond(session: &Path, cycles: usize, bytes: u64) {
    let mut found: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(session).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(cycle) = cycle_of(&name.to_string_lossy()) {
            found.entry(cycle).or_default().push(entry.path());
        }
    }
    let mut held = 0;
    for (index, paths) in found.values().rev().enumerate() {
        held += paths.iter().map(|path| size(path)).sum::<u64>();
        if index >= cycles || (index > 0 && held > bytes) {
            paths.iter().for_each(|path| remove(path));
        }
    }
}

/// Returns the bytes of a file, or of all files below a folder; links are not followed.
fn size(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|entry| size(&entry.path())).sum()
        }
        Ok(meta) => meta.len(),
        Err(_) => 0,
    }
}

/// Removes a log; one that cannot be removed is in nobody's way.
fn remove(path: &Path) {
    if let Err(cause) = files::remove_all(path) {
        tracing::debug!("{}: {cause}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<_> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_long_session_keeps_the_logs_of_its_newest_cycles_as_far_as_there_is_room() {
        let made = || {
            let folder = tempfile::tempdir().expect("a folder");
            for cycle in 8..=11 {
                let checks = folder.path().join(format!("{cycle}-before"));
                fs::create_dir(&checks).expect("a folder");
                fs::write(checks.join("goal.log"), [b'x'; 60]).expect("a file");
                let agent = folder.path().join(format!("{cycle}-agent.log"));
                fs::write(agent, [b'x'; 40]).expect("a file");
            }
            fs::write(folder.path().join("ao-inject.log"), "x").expect("a file");
            folder
        };
        let of = |cycles: &[u64]| {
            let mut names = vec!["ao-inject.log".to_owned()];
            for cycle in cycles {
                names.extend([format!("{cycle}-agent.log"), format!("{cycle}-before")]);
            }
            names.sort();
            names
        };
        for (cycles, bytes, kept) in [
            (100, 1000, &[8, 9, 10, 11][..]),
            (2, 1000, &[10, 11]),
            (100, 300, &[9, 10, 11]),
            (100, 299, &[10, 11]),
            (100, 1, &[11]),
        ] {
            let folder = made();
            drop_beyond(folder.path(), cycles, bytes);
            assert_eq!(
                left(folder.path()),
                of(kept),
                "{cycles} cycles, {bytes} bytes"
            );
        }
        drop_beyond(Path::new("/nowhere/at/all"), 1, 1);
    }

    #[test]
    fn old_logs_are_looked_for_once_in_a_while() {
        let folder = tempfile::tempdir().expect("a folder");
        for cycle in 1..=CYCLES_KEPT + 1 {
            fs::write(folder.path().join(format!("{cycle}-brief.txt")), "").expect("a file");
        }
        drop_old_cycles(folder.path(), EVERY + 1);
        assert_eq!(left(folder.path()).len(), CYCLES_KEPT + 1);
        drop_old_cycles(folder.path(), EVERY);
        assert_eq!(left(folder.path()).len(), CYCLES_KEPT);
    }
}
