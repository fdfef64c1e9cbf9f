//! What a report tells beside the ledger: briefs and logs, as far as they are still there, and what a cycle changed. Reads within
//! bounds, takes no lock, and disturbs no session.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::effects::changed::{self, Changed};
use crate::effects::ledger::Ledger;
use crate::effects::papers::{Paper, papers};
use crate::effects::repo::{Difference, Repo};
use crate::error::{Error, Result};
use crate::model::ledger as names;
use crate::model::record::Record;
use crate::model::report::{self, Change, Seen};
use crate::model::text;

/// Returns a recorded cycle with what is known of it besides.
pub fn seen(repo: &Repo, ledger: &Ledger, record: &Record) -> Seen {
    let papers = papers(&repo.private, record);
    let snapshots = changed::snapshots(repo, ledger, record);
    let text = |paper: Option<Paper>| paper.map(|paper| paper.text).unwrap_or_default();
    Seen {
        brief: text(papers.brief),
        log: text(papers.log),
        change: change(repo, ledger, record),
        record: record.clone(),
        before: snapshots.before,
        after: snapshots.after,
    }
}

/// Returns what a cycle changed, be it undone since; none where the commits are gone, or nothing changed.
fn change(repo: &Repo, ledger: &Ledger, record: &Record) -> Option<Change> {
    record.agent.as_ref()?;
    let changed = Changed::of(repo, ledger, record).ok()??;
    let old = repo.tree_of(&changed.from).ok()?;
    let new = repo.tree_of(&changed.to).ok()?;
    let mut differences = repo.differences(&old, &new).ok()?;
    differences.retain(|one| !names::is_ledger_path(&one.path));
    // A path that is of another type now is listed twice.
    differences.dedup_by(|one, other| one.path == other.path);
    if differences.is_empty() {
        return None;
    }
    let files = differences.len();
    differences.truncate(report::FILES);
    let lines = lines(repo, &old, &new, &differences).unwrap_or_default();
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
fn lines(repo: &Repo, old: &str, new: &str, differences: &[Difference]) -> Result<Vec<Counted>> {
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
    fn counted_lines_are_read_with_any_path() {
        let lines = counted;
        assert_eq!(lines(b"1\t2\ta\tb"), Some((b"a\tb".to_vec(), Some((1, 2)))));
        assert_eq!(lines(b"-\t-\t\xff"), Some((b"\xff".to_vec(), None)));
        assert_eq!(lines(b"odd"), None);
    }
}
