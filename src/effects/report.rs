//! What a report tells beside the ledger: briefs and logs, as far as they are still there, and what a cycle changed. Reads within
//! bounds, takes no lock, and disturbs no session.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::repo::{Difference, Repo};
use crate::error::{Error, Result};
use crate::model::ledger as names;
use crate::model::record::Record;
use crate::model::report::{self, Change, Seen};
use crate::model::snapshot::Snapshot;
use crate::model::text;

/// How many bytes are read of the end of a log, and of a brief: a character has up to four, and colours are cleaned away.
const LOG_BYTES: u64 = 64 << 10;
/// The same of a brief; none that is written is larger.
const BRIEF_BYTES: u64 = 1 << 20;

/// Returns a cycle with what is known of it besides its record and its snapshots.
pub fn seen(
    repo: &Repo,
    record: Record,
    (before, after): (Option<Snapshot>, Option<Snapshot>),
) -> Seen {
    let change = change(repo, &record, before.as_ref());
    let log = |kind: &str| log(&repo.private, &record, kind);
    let brief = log("brief.md").and_then(|path| files::read_text(&path, BRIEF_BYTES).ok());
    let end = log("agent.log").and_then(|path| end(&path).ok());
    Seen {
        brief: brief.unwrap_or_default(),
        log: end.unwrap_or_default(),
        change,
        record,
        before,
        after,
    }
}

/// Returns the path of a cycle's log of this kind; none if it is gone, or a link leads to it.
fn log(private: &Path, record: &Record, kind: &str) -> Option<PathBuf> {
    let session = record.session.as_deref().filter(|id| is_session(id))?;
    let name = format!("logs/{session}/{}-{kind}", record.cycle);
    let path = private.join(&name);
    let is_plain = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
    (is_plain && files::is_beneath(private, name.as_bytes())).then_some(path)
}

/// Says whether a word can be the name of a session: it stands in paths and in names of refs.
fn is_session(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    !word.is_empty() && word.len() <= 100 && word.chars().all(is_part)
}

/// Reads the end of a log. What may be cut in two is left out: the first line.
fn end(path: &Path) -> std::io::Result<String> {
    let mut file = files::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(LOG_BYTES);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(match (skipped, text.split_once('\n')) {
        (0, _) | (_, None) => text.into_owned(),
        (_, Some((_, rest))) => rest.to_owned(),
    })
}

/// Returns what a cycle changed, be it undone since; none where the commits are gone, or nothing changed.
fn change(repo: &Repo, record: &Record, before: Option<&Snapshot>) -> Option<Change> {
    record.agent.as_ref()?;
    // What others committed meanwhile is no part of it.
    let start = record
        .brought_together_with()
        .or(record.reverted_to.as_deref());
    let start = start.or(before.and_then(|before| before.cycle_start_sha.as_deref()))?;
    let end = match record.is_undone() {
        true => {
            let session = record.session.as_deref().filter(|id| is_session(id))?;
            let work = format!("refs/evolve/{session}/{}", record.cycle);
            repo.resolve(&work).ok()??
        }
        false => record.commit_sha.clone(),
    };
    let (old, new) = (repo.tree_of(start).ok()?, repo.tree_of(&end).ok()?);
    let mut differences = repo.differences(&old, &new).ok()?;
    differences.retain(|one| !names::is_ledger_path(&one.path));
    // A path that is of another type now is listed twice.
    differences.dedup_by(|one, other| one.path == other.path);
    if differences.is_empty() {
        return None;
    }
    let files = differences.len();
    differences.truncate(report::FILES);
    let lines = lines(repo, (&old, &new), &differences).unwrap_or_default();
    let of = |path: &[u8]| lines.iter().find(|(known, _)| known == path)?.1;
    let listed = differences
        .iter()
        .map(|one| (text::path(&one.path), of(&one.path)))
        .collect();
    Some(Change { files, listed })
}

/// A path with the lines added and removed there; none for what is no text.
type Counted = (Vec<u8>, Option<(u64, u64)>);

/// Counts lines as git does, without any program that its settings name.
fn lines(
    repo: &Repo,
    (old, new): (&str, &str),
    differences: &[Difference],
) -> Result<Vec<Counted>> {
    const WORDS: [&str; 7] = [
        "diff-tree",
        "-r",
        "-z",
        "--numstat",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
    ];
    let mut words = WORDS.map(OsString::from).to_vec();
    words.extend([old, new, "--"].map(OsString::from));
    let paths = differences.iter().map(|one| one.path.clone());
    words.extend(paths.map(OsString::from_vec));
    let said = repo.git.run(&words)?;
    let rows = said.split(|byte| *byte == 0).filter(|row| !row.is_empty());
    Ok(rows.filter_map(counted).collect())
}

/// Reads `12\t3\tpath`, or `-\t-\tpath` for what is no text.
fn counted(row: &[u8]) -> Option<Counted> {
    let mut parts = row.splitn(3, |byte| *byte == b'\t');
    let mut number = || std::str::from_utf8(parts.next()?).ok();
    let (added, removed) = (number()?, number()?);
    let lines = added.parse().ok().zip(removed.parse().ok());
    Some((parts.next()?.to_vec(), lines))
}

/// Opens a file with what the desktop opens such files with.
pub fn open(path: &Path) -> Result<()> {
    // Why none of them opens it is told in the words of a debugger.
    open::that_detached(path).map_err(|_| {
        let shown = text::path(path.as_os_str().as_bytes());
        Error::internal("nothing here opens a web page").hint(format!(
            "the report is there all the same: open {shown} in a browser"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_session_as_they_are_called_leads_to_files_and_refs() {
        assert!(is_session("20260203T040506Z-1a2b"));
        for word in ["", "..", "a/b", "a b", "../../etc", &"a".repeat(101)] {
            assert!(!is_session(word), "{word}");
        }
    }

    #[test]
    fn the_end_of_a_long_log_begins_with_a_whole_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("1-agent.log");
        fs::write(&path, "short\nlog\n").expect("a file");
        assert_eq!(end(&path).expect("text"), "short\nlog\n");
        fs::write(&path, "0123456789\n".repeat(10_000)).expect("a file");
        let end = end(&path).expect("text");
        assert!(end.starts_with("0123456789\n") && end.len() as u64 <= LOG_BYTES);
    }

    #[test]
    fn counted_lines_are_read_with_any_path() {
        let lines = counted;
        assert_eq!(lines(b"1\t2\ta\tb"), Some((b"a\tb".to_vec(), Some((1, 2)))));
        assert_eq!(lines(b"-\t-\t\xff"), Some((b"\xff".to_vec(), None)));
        assert_eq!(lines(b"odd"), None);
    }
}
