//! The outbox: three files in which an agent may leave words for `evolve`.

use std::fs;
use std::path::{Path, PathBuf};

use super::REASON_CHARS;
use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::{ledger, mask, text};

/// The most bytes of an outbox file that are read.
const OUTBOX_LIMIT: u64 = 1 << 20;

/// The files that an agent may write, below the working directory.
#[derive(Clone, Debug)]
pub struct Outbox {
    /// `EVOLVE_GIVE_UP`.
    pub give_up: PathBuf,
    /// `EVOLVE_NEXT_WORK`.
    pub next_work: PathBuf,
    /// `EVOLVE_LESSONS`.
    pub lessons: PathBuf,
    /// `EVOLVE_SUMMARY`, in a search.
    pub summary: PathBuf,
    folder: PathBuf,
    root: PathBuf,
}

impl Outbox {
    /// Names the files of the outbox.
    pub fn below(root: &Path) -> Outbox {
        let folder = root.join(ledger::OUTBOX);
        Outbox {
            give_up: folder.join("give-up"),
            next_work: folder.join("next-work.jsonl"),
            lessons: folder.join("lessons"),
            summary: folder.join("summary"),
            folder,
            root: root.to_owned(),
        }
    }

    /// Says whether its folder is there and the working tree's own.
    fn is_own(&self) -> bool {
        self.folder.is_dir() && !self.is_blocked(&self.folder)
    }

    /// Says whether anything but a folder stands on the way to a place: what is behind a link is somebody else's.
    fn is_blocked(&self, place: &Path) -> bool {
        let is_other =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| !meta.file_type().is_dir());
        let mut way = place.ancestors().take_while(|path| *path != self.root);
        way.any(is_other)
    }

    /// Makes the outbox anew, empty. A link on the way to it is refused (exit 3).
    pub(super) fn empty(root: &Path) -> Result<Outbox> {
        let outbox = Outbox::below(root);
        let failed = |cause| Error::io("empty", &outbox.folder, cause);
        let above = outbox.folder.parent();
        if above.is_some_and(|above| outbox.is_blocked(above)) {
            let folder = outbox.folder.display();
            return Err(
                Error::unsafe_repo(format!("no plain folder leads to {folder}"))
                    .hint("evolve writes its files there and follows no links; move it away"),
            );
        }
        if outbox.is_blocked(&outbox.folder) {
            fs::remove_file(&outbox.folder).map_err(failed)?;
        }
        fs::create_dir_all(&outbox.folder).map_err(failed)?;
        outbox.drop_contents()?;
        Ok(outbox)
    }

    /// Removes what was left in the outbox, now that it is read. Where the folder is gone or a link leads to it nothing is there
    /// that is `evolve`'s, and nothing is made.
    pub(super) fn drop_contents(&self) -> Result<()> {
        if !self.is_own() {
            return Ok(());
        }
        let failed = |cause| Error::io("empty", &self.folder, cause);
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            files::remove_all(&path).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns why the agent gave up. A file that is there and says nothing is giving up without a reason.
    pub(super) fn gave_up(&self, told: &mut Vec<String>) -> Option<String> {
        fs::symlink_metadata(&self.give_up)
            .ok()
            .filter(|meta| meta.is_file() && self.is_own())?;
        let words = text::clean_line(self.read(&self.give_up, told).trim());
        let words: String = mask::secrets(&words).chars().take(REASON_CHARS).collect();
        Some(if words.is_empty() {
            "no reason given".to_owned()
        } else {
            words
        })
    }

    /// Reads one of its files, which an agent wrote: bounded, without following a link; what cannot be read is nothing, and is `told`.
    pub(super) fn read(&self, path: &Path, told: &mut Vec<String>) -> String {
        if !self.is_own() {
            return String::new();
        }
        files::read_text(path, OUTBOX_LIMIT).unwrap_or_else(|error| {
            let root = format!("{}/", self.root.display());
            told.push(format!("left out: {}", error.message.replace(&root, "")));
            String::new()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_made_or_removed_where_the_folder_is_not_ones_own() {
        for link in [".agents", ".agents/evolve", ".agents/evolve/outbox"] {
            let (root, other) = (tempfile::tempdir(), tempfile::tempdir());
            let (root, other) = (root.expect("a folder"), other.expect("a folder"));
            let mut told = Vec::new();
            let outbox = Outbox::empty(root.path()).expect("an outbox");
            fs::write(&outbox.give_up, "words").expect("a file");
            assert!(outbox.gave_up(&mut told).is_some());
            outbox.drop_contents().expect("emptied");
            assert!(!outbox.give_up.exists() && outbox.folder.is_dir());

            let theirs = Outbox::empty(other.path()).expect("an outbox");
            fs::write(&theirs.give_up, "words").expect("a file");
            fs::remove_dir_all(root.path().join(link)).expect("removed");
            let (from, to) = (other.path().join(link), root.path().join(link));
            std::os::unix::fs::symlink(from, &to).expect("a link");
            outbox.drop_contents().expect("left alone");
            assert_eq!(outbox.gave_up(&mut told), None, "{link}");
            assert_eq!(outbox.read(&outbox.give_up, &mut told), "", "{link}");
            assert_eq!(told, Vec::<String>::new());
            let made = Outbox::empty(root.path());
            assert_eq!(made.is_ok(), link.ends_with("outbox"), "{link}");
            assert!(theirs.give_up.exists(), "{link}");
        }
    }

    #[test]
    fn what_is_gone_as_a_whole_stays_so() {
        let root = tempfile::tempdir().expect("a folder");
        let gone = root.path().join("gone");
        Outbox::below(&gone).drop_contents().expect("nothing to do");
        assert!(!gone.exists());
    }
}
