//! The note that a session ended with all that it had started: the supervising process, which outlives a killed `evolve`, writes
//! it beside the journal (`….ended`) when nothing is left, before it lets go of the lock. The next start learns from it what was
//! done to the tree by the session, and what later (`model::aftermath`).

use std::fs::{self, File, Metadata};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::futimens;
use nix::sys::time::TimeSpec;
use nix::unistd::getppid;

use crate::effects::{clock, files, proc_table};
use crate::model::aftermath::{Clocks, Note, Times};

/// The most bytes of a note.
const LIMIT: u64 = 4096;

/// What a supervising process knows from its beginning, to note the end.
#[derive(Debug)]
pub struct Watch {
    journals: Vec<PathBuf>,
    /// The `evolve` that it works for.
    writer: Option<(u32, u64)>,
    began: Clocks,
}

impl Watch {
    /// Begins, for the `evolve` that started this process and that keeps these journals, the first of which counts most.
    pub fn begin(journals: Vec<PathBuf>) -> Watch {
        let evolve = getppid().as_raw().unsigned_abs();
        Watch {
            journals,
            writer: proc_table::start_time(evolve).map(|started| (evolve, started)),
            began: clock::clocks(),
        }
    }

    /// Notes that nothing is left, beside the first journal that is there: where there is none, nothing was in progress. Times of
    /// files are compared with that of a file: one of those held open, which lies beside the repository's, is touched.
    pub fn note_end(&self, held: &[OwnedFd]) {
        let Some(writer) = self.writer else { return };
        let is_there = |journal: &&PathBuf| fs::symlink_metadata(journal).is_ok();
        let Some(journal) = self.journals.iter().find(is_there) else {
            return;
        };
        let ended = clock::clocks();
        let note = Note {
            writer,
            boot: proc_table::boot_id(),
            at: held.iter().find_map(touched).unwrap_or(ended.wall),
            began: self.began,
            ended,
        };
        let Ok(text) = serde_json::to_string(&note) else {
            return;
        };
        let line = text + "\n";
        // Without a note the next start goes by what else it knows.
        let _ = files::replace(&path_beside(journal), line.as_bytes());
    }
}

/// Touches a file; returns the time that it has then.
fn touched(file: &OwnedFd) -> Option<i64> {
    let file = File::from(file.try_clone().ok()?);
    futimens(file.as_fd(), &TimeSpec::UTIME_NOW, &TimeSpec::UTIME_NOW).ok()?;
    Some(times(&file.metadata().ok()?).changed)
}

/// Returns the note beside a journal; none if there is none that can be understood. It tells of no earlier time than that of its
/// own file, which nobody can set.
pub fn read(journal: &Path) -> Option<Note> {
    let file = path_beside(journal);
    let bytes = files::read_bounded(&file, LIMIT).ok()??;
    let note: Note = serde_json::from_slice(&bytes).ok()?;
    let written = times(&fs::symlink_metadata(file).ok()?).changed;
    Some(Note {
        at: note.at.max(written),
        ..note
    })
}

/// Removes the note beside a journal.
pub fn remove(journal: &Path) {
    // One that stays tells of a session that nobody asks about any more.
    let _ = fs::remove_file(path_beside(journal));
}

fn path_beside(journal: &Path) -> PathBuf {
    journal.with_extension("ended")
}

/// Returns the times of a file, in nanoseconds since 1970.
pub fn times(meta: &Metadata) -> Times {
    let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
    Times {
        changed: nanoseconds(meta.ctime(), meta.ctime_nsec()),
        modified: nanoseconds(meta.mtime(), meta.mtime_nsec()),
    }
}
