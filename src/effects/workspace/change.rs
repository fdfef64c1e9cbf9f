//! What a change consists of, file by file, as the verdict and the record tell it.

use std::collections::{BTreeSet, HashSet};

use super::{Start, Workspace};
use crate::effects::files::is_within;
use crate::effects::repo::Difference;
use crate::error::Result;
use crate::model::exact::short_branch;
use crate::model::gate::Change;
use crate::model::ledger::is_ledger_path;
use crate::model::text;

/// The files of a change.
#[derive(Debug, Default)]
pub(super) struct Changed {
    /// All but those of the ledger, with slashes.
    pub files: Vec<String>,
    /// Those that are gone, the ledger's included.
    pub gone: Vec<Vec<u8>>,
    /// Those that hold what they held, and can be executed now.
    pub made_executable: Vec<String>,
    /// Links that lead out of the repository, each with its target.
    pub links_out: Vec<String>,
}

impl Workspace<'_> {
    /// Sorts the differences that a change makes; what it took of the user's files is added to it.
    pub(super) fn changed_files(
        &self,
        start: &Start,
        differences: Vec<Difference>,
        change: &mut Change,
    ) -> Result<Changed> {
        let mut changed = Changed::default();
        for difference in differences {
            if difference.new.is_none() {
                changed.gone.push(difference.path.clone());
            }
            if is_ledger_path(&difference.path) {
                continue;
            }
            let path = String::from_utf8_lossy(&difference.path).into_owned();
            let is_new = difference.old.is_none() && difference.new.is_some();
            let kept = &start.kept;
            if is_new && is_refused(&difference.path) {
                change.refused.push(text::path(&difference.path));
            }
            if is_new && kept.is_users(&difference.path) {
                change.taken.push(path.clone());
            } else if is_new && let Some(file) = kept.ousted_by(&difference.path) {
                let file = text::path(&file);
                change.ousted.push(format!(
                    "{} ({file} was there)",
                    text::path(&difference.path)
                ));
            }
            if is_made_executable(&difference) {
                changed.made_executable.push(path.clone());
            }
            changed.links_out.extend(self.leads_out(&difference)?);
            changed.files.push(path);
        }
        // A file that became a link or the reverse is listed as gone and as new.
        changed.files.dedup();
        Ok(changed)
    }

    /// Returns a link that is new or leads elsewhere, with its target, if that is outside of the repository: what stands for it there
    /// is in no commit, and may change at any time.
    fn leads_out(&self, difference: &Difference) -> Result<Option<String>> {
        let Some(link) = difference.new.as_ref().filter(|entry| entry.is_link()) else {
            return Ok(None);
        };
        let target = self.repo.blob(&link.id)?;
        let shown = || format!("{} → {}", text::path(&difference.path), text::path(&target));
        Ok(is_outside(&difference.path, &target).then(shown))
    }

    /// Adds files of the user's that one commit of the agent's took and a later one took out again: their bytes would be
    /// published with the branch. So would paths that git refuses. Says so of all that was taken: an undo adds to history, and takes
    /// nothing out of it.
    pub(super) fn note_taken_meanwhile(
        &self,
        start: &Start,
        tip: &str,
        moved: &[Vec<u8>],
        change: &mut Change,
    ) -> Result<Option<String>> {
        let was_moved = |path: &[u8]| moved.iter().any(|place| is_within(path, place));
        let is_users = |path: &[u8]| start.kept.is_users(path) || was_moved(path);
        let is_wanted = |path: &[u8]| !is_ledger_path(path) && (is_users(path) || is_refused(path));
        let mut known: HashSet<_> = change.taken.iter().cloned().collect();
        let mut refused: BTreeSet<_> = change.refused.drain(..).collect();
        for path in self.repo.brought_since(&start.commit, tip, is_wanted)? {
            let shown = String::from_utf8_lossy(&path).into_owned();
            if is_refused(&path) {
                refused.insert(text::path(&path));
            } else if known.insert(shown.clone()) {
                change.taken.push(shown);
            }
        }
        change.refused = refused.into_iter().collect();
        let what = match (change.taken.is_empty(), change.refused.is_empty()) {
            (false, _) => "was taken",
            (true, false) => "git refuses",
            (true, true) => return Ok(None),
        };
        Ok(change.rewritten.is_none().then(|| {
            format!(
                "what {what} stays in the history of {} after an undo: look at the commits after {} before you publish it",
                short_branch(&start.branch),
                start.commit
            )
        }))
    }
}

/// Says whether the target of a link at this path lies outside of the root, by its words alone.
pub fn is_outside(path: &[u8], target: &[u8]) -> bool {
    let mut depth = path.iter().filter(|byte| **byte == b'/').count();
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            _ => depth += 1,
        }
    }
    target.starts_with(b"/")
}

/// Says whether git keeps a path from every index and working tree, whatever a commit holds: by the names of `git fsck`, and the
/// one that `.git` has on Windows, which `core.protectNTFS` refuses everywhere.
fn is_refused(path: &[u8]) -> bool {
    let mut names = path.split(|byte| *byte == b'/');
    names.any(|name| match name {
        b"" | b"." | b".." => true,
        name => name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1"),
    })
}

/// Says whether a file holds what it held, and nothing changed but that it can be executed now.
fn is_made_executable(difference: &Difference) -> bool {
    match (&difference.old, &difference.new) {
        (Some(old), Some(new)) => {
            (old.id == new.id) && (old.mode, new.mode) == (0o100_644, 0o100_755)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_outside, is_refused};

    #[test]
    fn a_path_is_refused_by_a_name_that_stands_for_another_place_or_for_gits_own() {
        for path in [
            "../x",
            "a/./b",
            "a/..",
            "a//b",
            ".git/config",
            "a/.GIT",
            "Git~1",
        ] {
            assert!(is_refused(path.as_bytes()), "{path}");
        }
        for path in ["..x", "a/...", ".gitignore", "a/.git-x/b", "git", "git~2"] {
            assert!(!is_refused(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn a_link_leads_out_by_its_root_or_by_more_steps_up_than_it_is_deep() {
        for (path, target, expected) in [
            ("tests", "/tmp/tests", true),
            ("tests", "../tests", true),
            ("a/b/link", "../../../x", true),
            ("a/b/link", "../../x", false),
            ("a/link", "./b/../../c", false),
            ("a/link", "b/../../../c", true),
            ("link", "a", false),
            ("link", "..name", false),
        ] {
            let found = is_outside(path.as_bytes(), target.as_bytes());
            assert_eq!(found, expected, "{path} → {target}");
        }
    }
}
