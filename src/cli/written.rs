//! Whether tracked files changed while goals were measured for somebody who looks on: that is told, and nothing is put back. In a
//! cycle the loop sees to it.

use std::collections::BTreeSet;

use crate::effects::lock;
use crate::effects::repo::Repo;
use crate::effects::workspace::Workspace;
use crate::model::goals::Goal;
use crate::model::snapshot::{CheckResult, Snapshot};
use crate::model::text::{self, some_of};

/// How many files are named.
const NAMED: usize = 10;

/// The tracked files that had changes before anything was measured; none where nobody looked.
pub(super) struct Before(Option<BTreeSet<Vec<u8>>>);

impl Before {
    /// Looks at the tracked files before these goals are measured.
    pub(super) fn look(repo: &Repo, goals: &[&Goal]) -> Before {
        match goals {
            [] => Before(None),
            _ => Before(changes(repo)),
        }
    }

    /// Says which files have changes now that had none, and what is to be done. Looks only where a check ran.
    pub(super) fn warning(
        &self,
        repo: &Repo,
        (goals, snapshot): (&[&Goal], &Snapshot),
    ) -> Option<String> {
        let before = self.0.as_ref()?;
        let mut all = snapshot.goals.iter();
        all.find(|goal| goal.result != CheckResult::Skip)?;
        let after = changes(repo)?;
        let new: Vec<String> = after.difference(before).map(text::path).collect();
        let whose = match goals {
            [one] => format!("the check of {} ran", one.id),
            _ => "the checks ran".to_owned(),
        };
        (!new.is_empty()).then(|| {
            format!(
                "while {whose}, {} changed: {}; a check that changes files is to be told to look only, as `cargo fmt --check` does",
                text::count(new.len(), "tracked file"),
                some_of(&new, NAMED)
            )
        })
    }
}

/// Returns the tracked files that have changes; none where a session is at work, whose agent changes files.
fn changes(repo: &Repo) -> Option<BTreeSet<Vec<u8>>> {
    match lock::holder(&repo.private.join("lock")) {
        Some(_) => None,
        None => Workspace { repo }.tracked_changes().ok(),
    }
}
