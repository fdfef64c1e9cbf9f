//! One record, and everything that git holds about it.

use super::Trailers;
use crate::model::goals::Goals;
use crate::model::record::Record;
use crate::model::snapshot::Snapshot;
use crate::model::text;

/// What can be seen of something that a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight<T> {
    /// It is there.
    Seen(T),
    /// It is not there.
    Gone,
    /// It may be there, beyond what a shallow clone holds, or is not asked for.
    Unseen,
}

impl<T> Sight<T> {
    /// Returns what is seen.
    pub fn seen(&self) -> Option<&T> {
        match self {
            Sight::Seen(seen) => Some(seen),
            Sight::Gone | Sight::Unseen => None,
        }
    }

    /// Says whether it is known not to be there.
    pub fn is_gone(&self) -> bool {
        matches!(self, Sight::Gone)
    }
}

/// A commit that a record names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The digest of its content.
    pub content: String,
    /// Its message.
    pub message: String,
    /// It is an ancestor of the commit that has to follow it: the cycle's own of the record's, the start of the cycle's own.
    pub is_followed: bool,
}

/// The commit that recorded a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Recorder<'a> {
    /// The commit.
    pub id: &'a str,
    /// The first line of its message.
    pub subject: &'a str,
    /// Its trailers.
    pub trailers: &'a Trailers,
    /// When it was made, in seconds since 1970.
    pub time: i64,
    /// The session that the summary names which came with it.
    pub session: Option<&'a str>,
}

/// One record, and everything that git holds about it.
#[derive(Clone, Debug)]
pub struct Witness<'a> {
    /// The record.
    pub record: &'a Record,
    /// The commit that recorded it.
    pub recorder: Option<Recorder<'a>>,
    /// The commit that the record names.
    pub commit: Sight<Kept>,
    /// The commit that the cycle started from.
    pub start: Sight<Kept>,
    /// The snapshots before and after, as they were committed with the record, or why one cannot be read.
    pub snapshots: [Sight<Result<Snapshot, String>>; 2],
    /// The snapshot that the first one says it was taken over from.
    pub origin: Sight<Result<Snapshot, String>>,
    /// The goals that were measured, as a file of the start has them; gone if the start has a goals file and none of its files
    /// is what was measured.
    pub goals: Sight<&'a Goals>,
    /// How many goals of that file the record's commit has that the start has not, where both can be seen.
    pub added: Option<usize>,
    /// In what the content of the undo differs from the start's.
    pub differs_in: Vec<String>,
}

/// Returns a value in quotes, or a word for its absence.
pub(super) fn quoted(value: Option<&str>) -> String {
    value.map_or("missing".to_owned(), |value| {
        format!("\"{}\"", text::clean_line(value))
    })
}

/// Says whether somebody took the start of the cycle out of the branch, as its record says.
pub fn is_adrift(record: &Record, start: &Sight<Kept>) -> bool {
    record.has_lost_its_start() && !start.seen().is_some_and(|start| start.is_followed)
}

/// Returns the commit that the cycle started from, as the first snapshot has it.
pub(super) fn cycle_start<'a>(witness: &'a Witness<'_>) -> Option<&'a String> {
    snapshot_of(witness, 0)?.cycle_start_sha.as_ref()
}

/// Returns the first (0) or second (1) snapshot, where it can be read.
pub(super) fn snapshot_of<'a>(witness: &'a Witness<'_>, which: usize) -> Option<&'a Snapshot> {
    witness.snapshots[which].seen()?.as_ref().ok()
}
