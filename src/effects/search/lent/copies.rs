//! What the commands of a search run of what its copies are lent, and the copies of it: what an agent changes is put back, and of what
//! commands write over the earlier bytes are kept.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::beside::{self, Beside};
use crate::effects::files;
use crate::effects::keep::{Kept, Restored};
use crate::effects::proc_table::WrittenTo;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::text;

/// These files as they were at a moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Copies {
    /// What the commands run; some of it they may build only later.
    pub files: Vec<String>,
    /// The lent folders, if one holds any of it.
    beside: Vec<Beside>,
    kept: Kept,
}

impl Copies {
    /// Nothing is copied yet.
    pub(super) fn of(files: Vec<String>) -> Copies {
        Copies {
            files,
            ..Copies::default()
        }
    }

    /// Copies what is there now into `folder`; of what is as it was, the copy is used again.
    pub(super) fn make(&mut self, root: &Path, folder: &Path, links: &[String]) -> Result<()> {
        let (beside, mut files) = beside::found(root, links, &self.files);
        files.extend_from_slice(&self.files);
        files.sort();
        files.dedup();
        let paths = files.iter().map(|file| file.clone().into_bytes());
        let paths = (paths.collect(), Vec::new());
        let last = std::mem::take(&mut self.kept);
        self.kept = Kept::make(root, folder, paths, Some(&last))?;
        self.kept.note_built(&files);
        self.kept.note_lent();
        self.beside = beside;
        Ok(())
    }

    /// Returns the files that are too large for a copy, or cannot be read.
    pub(super) fn uncopied(&self) -> Vec<String> {
        let uncopied: BTreeSet<Vec<u8>> = self.kept.uncopied().collect();
        let files = self.files.iter();
        let files = files.filter(|file| uncopied.contains(file.as_bytes()));
        files.cloned().collect()
    }

    /// Returns the files that commands run and that are not what they were.
    pub(super) fn changed(&self, root: &Path) -> Vec<String> {
        let changed: BTreeSet<Vec<u8>> = self.kept.changed(root).into_iter().collect();
        let files = self.files.iter().filter(|file| {
            changed.contains(file.as_bytes())
                || self.kept.is_changed_uncopied(root, file.as_bytes())
                || self.has_come(root, file)
        });
        files.cloned().collect()
    }

    /// Says whether a file is there and was not.
    fn has_come(&self, root: &Path, file: &str) -> bool {
        let meta = root.join(file).symlink_metadata();
        !self.kept.is_listed(file.as_bytes()) && meta.is_ok_and(|meta| !meta.is_dir())
    }

    /// Puts back what an agent made of the files; returns what is to be told.
    pub(super) fn restore(
        &self,
        root: &Path,
        folder: &Path,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let mut words = Vec::new();
        let mut is_back = false;
        let folders = [folder.to_owned()];
        let written_to = WrittenTo::default();
        for file in &self.files {
            let path = file.as_bytes();
            if self.kept.is_changed_uncopied(root, path) {
                return Err(Error::unsafe_repo(format!(
                    "{file}, which the commands run and copies are lent, was written to while an agent was at work, and it has no copy: it is too large, or could not be read"
                ))
                .hint("put it back as it was, and run `evolve search resume`"));
            }
            if !self.kept.is_listed(path) {
                if self.has_come(root, file) {
                    // Behind a link lies what is somebody else's.
                    if !files::is_beneath(root, path) {
                        return Err(led_away(file));
                    }
                    quarantine.take(root, path)?;
                    words.push(format!(
                        "{file}, which the commands run and copies are lent, came while an agent was at work, and is taken away"
                    ));
                    is_back = true;
                }
                continue;
            }
            let from = (&folders[..], &written_to);
            match self.kept.put_back_built(root, path, from, quarantine)? {
                Restored::Back => {
                    words.push(format!(
                        "{file}, which the commands run and copies are lent, was changed while an agent was at work, and is put back"
                    ));
                    is_back = true;
                }
                Restored::LedAway | Restored::Lost => return Err(led_away(file)),
                Restored::InUse => {
                    return Err(Error::unsafe_repo(format!(
                        "{file}, which the commands run and copies are lent, was changed while an agent was at work, and a running program has it open"
                    ))
                    .hint("end that program, put the file back as it was (that is in the quarantine), and run `evolve search resume`"));
                }
                Restored::Left | Restored::Grows => {}
            }
        }
        // A builder's notes may lie in another lent folder than what it builds.
        for beside in self.beside.iter().filter(|_| is_back) {
            let from = (&folders[..], &written_to);
            words.extend(beside.put_back(root, &self.kept, from, quarantine)?);
        }
        Ok(words)
    }

    /// Keeps what files were before commands wrote over them, where that may be somebody's; returns what is to be told.
    pub(super) fn written(
        &self,
        root: &Path,
        folder: &Path,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let mut words = Vec::new();
        let folders = [folder.to_owned()];
        for file in &self.files {
            let path = file.as_bytes();
            if self.kept.keep_written(root, path, &folders, quarantine)? {
                words.push(format!(
                    "{file}, which the commands run and copies are lent, was written while attempts were measured (lend it not, where no command builds it)"
                ));
            }
            if self.kept.is_changed_uncopied(root, path) {
                words.push(format!(
                    "{file}, which the commands run and copies are lent, was written while attempts were measured, and it had no copy"
                ));
            }
        }
        Ok(words)
    }

    /// Says of the files that have no copy what comes of an agent that writes to them.
    pub(super) fn uncopied_words(&self) -> Option<String> {
        let files = self.uncopied();
        (!files.is_empty()).then(|| {
            format!(
                "these files, which the commands run and copies are lent, have no copy, as they are too large or cannot be read; where an agent writes to one, the search ends: {}",
                text::some_of(&files, NAMED)
            )
        })
    }
}

/// The error of a file that cannot be put back.
fn led_away(file: &str) -> Error {
    Error::unsafe_repo(format!(
        "{file}, which the commands run and copies are lent, was changed, and so was its copy or the way to it"
    ))
    .hint("put it back as it was, and run `evolve search resume`")
}

/// How many files are named.
const NAMED: usize = 10;
