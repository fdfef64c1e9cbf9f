//! What lies beside the files that the commands of a search run in what is lent: a builder's notes, by which it takes its work for done.
//! Where what an agent built is put back, so is all of that: else an attempt would be measured by what was built of another one.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::effects::files;
use crate::effects::isolation::lent::is_lent;
use crate::effects::keep::{Kept, Restored, list_below};
use crate::effects::proc_table::WrittenTo;
use crate::effects::quarantine::{Quarantine, size};
use crate::error::Result;

/// The most files of a lent folder that are copied for that.
const MOST: usize = 500;
/// Their most bytes in all.
const MOST_BYTES: u64 = 32 << 20;
/// The most files that are looked for afterwards.
const MOST_NOW: usize = 10_000;

/// A lent folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Beside {
    link: String,
    /// All its files have copies.
    is_whole: bool,
}

/// Returns the lent folders, if one of them holds any of what the commands `run`, and the files of those that are small enough to be
/// copied whole.
pub(super) fn found(root: &Path, links: &[String], run: &[String]) -> (Vec<Beside>, Vec<String>) {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    let is_in = |link: &String, file: &String| {
        file != link && is_lent(std::slice::from_ref(link), file.as_bytes())
    };
    if !run
        .iter()
        .any(|file| links.iter().any(|link| is_in(link, file)))
    {
        return (folders, files);
    }
    for link in links.iter().filter(|link| is_folder(root, link)) {
        let (found, is_all) = below(root, link, MOST);
        let sizes = found.iter().map(|path| size(&root.join(path)));
        let is_whole = is_all && sizes.sum::<u64>() <= MOST_BYTES;
        if is_whole {
            files.extend(found);
        }
        folders.push(Beside {
            link: link.clone(),
            is_whole,
        });
    }
    (folders, files)
}

impl Beside {
    /// Says whether a file lies in it.
    pub(super) fn holds(&self, file: &str) -> bool {
        is_lent(std::slice::from_ref(&self.link), file.as_bytes())
    }

    /// Makes it what it was, after something that commands run in it was put back; returns what is to be told.
    pub(super) fn put_back(
        &self,
        root: &Path,
        kept: &Kept,
        from: (&[PathBuf], &WrittenTo),
        quarantine: &mut Quarantine,
    ) -> Result<Option<String>> {
        let link = &self.link;
        if !self.is_whole {
            return Ok(Some(format!(
                "{link} holds more than is copied, so that only what the commands run there was put back: where a builder has notes of its own there, an attempt may be measured by what was built of another one (have it built in the copies)"
            )));
        }
        let mut is_changed = false;
        for path in below(root, link, MOST_NOW).0 {
            let is_new = !kept.is_listed(path.as_bytes());
            // Its writer would go on in the file that is moved away.
            if is_new && !is_open(&root.join(&path), from.1) {
                quarantine.take(root, path.as_bytes())?;
                is_changed = true;
            }
        }
        for path in kept.built_paths().filter(|path| self.holds(path)) {
            let restored = kept.put_back_built(root, path.as_bytes(), from, quarantine)?;
            is_changed |= restored == Restored::Back;
        }
        Ok(is_changed.then(|| {
            format!("what else changed in {link} meanwhile is as it was, too: by a builder's notes there, what was put back would be taken for what is to be built")
        }))
    }
}

/// Says whether another program has a file open to write to it.
fn is_open(file: &Path, written_to: &WrittenTo) -> bool {
    let meta = file.symlink_metadata();
    meta.is_ok_and(|meta| written_to.has_of_others((meta.dev(), meta.ino())))
}

/// Says whether a lent path is a folder of the checkout itself.
fn is_folder(root: &Path, link: &str) -> bool {
    let meta = root.join(link).symlink_metadata();
    files::is_beneath(root, link.as_bytes()) && meta.is_ok_and(|meta| meta.is_dir())
}

/// Returns the files below a folder, at most `most`, and whether these are all.
fn below(root: &Path, link: &str, most: usize) -> (Vec<String>, bool) {
    let folder = format!("{}/", link.trim_end_matches('/'));
    let (found, is_all) = list_below(root, folder.as_bytes(), most);
    let count = found.len();
    let files = found.into_iter().filter(|path| !path.ends_with(b"/"));
    let files: Vec<_> = files.map(String::from_utf8).collect();
    let is_text = files.iter().all(|file| file.is_ok());
    let files: Vec<String> = files.into_iter().flatten().collect();
    (files, is_all && is_text && count <= most)
}
