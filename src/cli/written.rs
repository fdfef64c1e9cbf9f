//! Whether tracked files changed while goals were measured for somebody who looks on: that is told, and nothing is put back. In a
//! cycle the loop sees to it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::cli::options::Global;
use crate::effects::lock;
use crate::effects::repo::{Head, Repo};
use crate::effects::stop::Halt;
use crate::effects::watch::version_of;
use crate::effects::workspace::Workspace;
use crate::error::Result;
use crate::model::goals::Goal;
use crate::model::snapshot::{CheckResult, Snapshot};
use crate::model::text::{self, some_of};

/// What was measured, and what ended it early.
type Measured = (Snapshot, Option<Halt>);

/// How many files are named.
const NAMED: usize = 10;

/// The tracked files as they were before anything was measured; nothing where nobody looked.
pub(super) struct Before(Option<State>);

struct State {
    head: Option<Head>,
    /// The files with changes, each with what tells its bytes from others; none where it is gone.
    changed: BTreeMap<Vec<u8>, Option<String>>,
}

impl Before {
    /// Looks at the tracked files before these goals are measured.
    pub(super) fn look(repo: &Repo, goals: &[&Goal]) -> Before {
        match goals {
            [] => Before(None),
            _ => Before(state(repo)),
        }
    }

    /// Hands on what was measured, and warns of what changed meanwhile. Looks only where a check may have run.
    pub(super) fn told(
        &self,
        global: &Global,
        repo: &Repo,
        goals: &[&Goal],
        measured: Result<Measured>,
    ) -> Result<Measured> {
        let has_run = measured.as_ref().is_ok_and(|(snapshot, halt)| {
            let mut all = snapshot.goals.iter();
            halt.is_some() || all.any(|goal| goal.result != CheckResult::Skip)
        });
        if let Some(warning) = has_run.then(|| self.warning(repo, goals)).flatten() {
            global.warn(&warning);
        }
        measured
    }

    /// Says what changed, and what is to be done.
    pub(super) fn warning(&self, repo: &Repo, goals: &[&Goal]) -> Option<String> {
        let before = self.0.as_ref()?;
        let after = state(repo)?;
        let differs = |path: &&Vec<u8>| before.changed.get(*path) != after.changed.get(*path);
        let gone = before.changed.iter();
        let gone = gone.filter(|(path, _)| !after.changed.contains_key(*path));
        // Of what has no changes any more, some is as it was, and HEAD has it now.
        let is_kept = |(path, version): &(&Vec<u8>, &Option<String>)| {
            **version == version_of(&repo.root.join(OsStr::from_bytes(path)))
        };
        let (kept, lost): (Vec<_>, Vec<_>) = gone.partition(is_kept);
        let lost = lost.into_iter().map(|(path, _)| path);
        let mut files: Vec<&Vec<u8>> = after.changed.keys().chain(lost).filter(differs).collect();
        files.sort();
        let unsaved = files
            .iter()
            .filter(|path| before.changed.contains_key(**path));
        let unsaved = match unsaved.count() {
            0 => String::new(),
            1 => ", of which 1 had changes that were not committed".to_owned(),
            several => format!(", of which {several} had changes that were not committed"),
        };
        let names: Vec<String> = files.iter().map(text::path).collect();
        let whose = match goals {
            [one] => format!("the check of {} ran", one.id),
            _ => "the checks ran".to_owned(),
        };
        let commit = |state: &State| state.head.as_ref().map(|head| head.commit.clone());
        let moved = match (before.head == after.head, commit(before) == commit(&after)) {
            (true, _) => None,
            (false, true) => Some("another branch was checked out".to_owned()),
            (false, false) => Some("HEAD moved to another commit".to_owned()),
        };
        let kept: Vec<String> = kept.iter().map(|(path, _)| text::path(path)).collect();
        let committed = (!kept.is_empty() && moved.is_some()).then(|| {
            let count = text::count(kept.len(), "file");
            format!(
                "changes to {count} were committed: {}",
                some_of(&kept, NAMED)
            )
        });
        let changed = (!files.is_empty()).then(|| {
            let count = text::count(files.len(), "tracked file");
            format!("{count} changed{unsaved}: {}", some_of(&names, NAMED))
        });
        let what = [moved, committed, changed].into_iter().flatten();
        let what: Vec<String> = what.collect();
        (!what.is_empty()).then(|| {
            format!(
                "while {whose}, {}; a check that changes files is to be told to look only, as `cargo fmt --check` does",
                what.join(", and ")
            )
        })
    }
}

/// Returns how tracked files stand; nothing where a session is at work, whose agent changes files.
fn state(repo: &Repo) -> Option<State> {
    if lock::holder(&repo.private.join("lock")).is_some() {
        return None;
    }
    let changed = Workspace { repo }.tracked_changes().ok()?;
    let version = |path: Vec<u8>| {
        let version = version_of(&repo.root.join(OsStr::from_bytes(&path)));
        (path, version)
    };
    Some(State {
        head: repo.head().ok(),
        changed: changed.into_iter().map(version).collect(),
    })
}
