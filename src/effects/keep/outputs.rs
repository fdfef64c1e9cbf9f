//! Untracked files that something else than an agent writes anew again and again: the reports and caches of checks, and logs whose
//! writer opens and closes them for each line. What was written while no agent ran is known for one; its later versions are
//! neither an agent's damage nor anything to take back.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::copy::{Copy, Output, is_unchanged, write};
use super::{Kept, from_hex, grown, in_the_way, to_hex};
use crate::effects::files::{self, is_beneath};
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};

/// How many bytes at a file's end tell whether something was added to it or it was made anew.
const END: u64 = 64;
/// How many files are opened to read these.
const OPENED: usize = 1_000;

/// What tells that a file was written to, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    size: u64,
    modified: (i64, i64),
    inode: u64,
    /// Its last bytes; none where they were not read.
    end: Option<Vec<u8>>,
}

impl Seen {
    fn of(meta: &Metadata) -> Seen {
        Seen {
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            inode: meta.ino(),
            end: None,
        }
    }

    /// Says how a file was written to until it became what it is now, if it was.
    fn became(&self, now: &Seen, file: &Path) -> Option<Output> {
        if (self.size, self.modified, self.inode) == (now.size, now.modified, now.inode) {
            return None;
        }
        let has_end = || self.end.is_none() || end_of(file, self.size) == self.end;
        match self.inode == now.inode && now.size > self.size && has_end() {
            true => Some(Output::Grown),
            false => Some(Output::Rewritten),
        }
    }
}

impl Kept {
    /// Looks at the untracked files before anything is measured.
    pub fn look(&mut self, root: &Path) {
        let mut seen = BTreeMap::new();
        for name in self.untracked.keys() {
            let Some(mut one) = look_at(root, name) else {
                continue;
            };
            if seen.len() < OPENED {
                one.end = end_of(&place(root, name), one.size);
            }
            seen.insert(name.clone(), one);
        }
        self.seen = seen;
    }

    /// Notes which of the files were written to since they were looked at for `before`, or earlier, or came since; `frozen` ones, which
    /// checks run, are nobody's output.
    pub fn note_outputs(&mut self, root: &Path, before: &[&Kept], frozen: &[String]) {
        let mut found: BTreeMap<String, Output> = BTreeMap::new();
        for earlier in before {
            let noted = earlier.untracked.iter();
            let noted = noted.filter_map(|(name, entry)| Some((name.clone(), entry.output?)));
            let changed = earlier.seen.iter().filter_map(|(name, seen)| {
                let now = look_at(root, name)?;
                Some((name.clone(), seen.became(&now, &place(root, name))?))
            });
            // What checks make they make anew.
            let came = earlier.came.iter();
            let came = came.filter(|name| look_at(root, name).is_some());
            let came = came.map(|name| (name.clone(), Output::Rewritten));
            for (name, output) in noted.chain(changed).chain(came) {
                // What was made anew once may well have been longer another time.
                let is_rewritten = found.get(&name) == Some(&Output::Rewritten);
                found.insert(
                    name,
                    if is_rewritten {
                        Output::Rewritten
                    } else {
                        output
                    },
                );
            }
        }
        for (name, entry) in &mut self.untracked {
            let is_frozen = || frozen.iter().any(|path| path.as_bytes() == from_hex(name));
            entry.output = found.get(name).copied().filter(|_| !is_frozen());
        }
    }
}

/// What outputs, and files that came while goals were measured, were like right after the agent, by their names in hex; none for one
/// that was gone.
#[derive(Clone, Debug, Default)]
pub struct AfterAgent(BTreeMap<String, Option<Seen>>);

impl AfterAgent {
    /// Says whether a file is there and was written to since.
    fn is_written_since(&self, root: &Path, name: &str) -> bool {
        let now = look_at(root, name);
        now.is_some_and(|now| match self.0.get(name) {
            Some(Some(seen)) => seen.became(&now, &place(root, name)).is_some(),
            Some(None) | None => true,
        })
    }
}

impl Kept {
    /// Takes over which files came while the goals of this cycle were measured, but for `frozen` ones, which checks run.
    pub fn take_late(&mut self, listed: &Kept, frozen: &[String]) {
        self.late.clone_from(&listed.late);
        for path in frozen {
            self.late.remove(&to_hex(path.as_bytes()));
        }
    }

    /// Returns the files that nobody but the user and an agent is known to have written anew, and on whose ways nothing stands that is
    /// `held` by a commit.
    pub fn without_outputs(&self, root: &Path, held: &dyn Fn(&[u8]) -> bool) -> Kept {
        let files = self.untracked.iter().filter(|(name, entry)| {
            let is_made_anew = matches!(entry.output, Some(Output::Rewritten | Output::Built));
            let is_others = is_made_anew || self.late.contains(*name);
            !is_others && in_the_way(root, &from_hex(name)).is_none_or(|it| !held(&it))
        });
        Kept {
            untracked: files
                .map(|(name, entry)| (name.clone(), entry.clone()))
                .collect(),
            ..Kept::default()
        }
    }

    /// Looks at those files and at outputs right after the agent.
    pub fn look_after_agent(&self, root: &Path) -> AfterAgent {
        let outputs = self.untracked.iter();
        let outputs = outputs.filter(|(_, entry)| entry.output == Some(Output::Rewritten));
        let names = outputs.map(|(name, _)| name).chain(&self.late);
        let seen = |name: &String| (name.clone(), look_at(root, name));
        AfterAgent(names.map(seen).collect())
    }

    /// Returns the same, with those of the late files for outputs that were written since: checks made them, and make them anew.
    /// What only the agent wrote to may be somebody's.
    pub fn with_late_outputs(&self, root: &Path, after: &AfterAgent) -> Cow<'_, Kept> {
        let late = self.late.iter();
        let written: Vec<_> = late
            .filter(|name| after.is_written_since(root, name))
            .collect();
        if written.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut kept = self.clone();
        for name in written {
            if let Some(entry) = kept.untracked.get_mut(name) {
                entry.output = Some(Output::Rewritten);
            }
        }
        Cow::Owned(kept)
    }

    /// Keeps in the quarantine what outputs held before the agent, where nothing wrote to them since: who saves a file while goals are
    /// measured makes it look like an output, and its bytes would be nowhere.
    pub fn keep_overwritten(
        &self,
        (root, folders): (&Path, &[PathBuf]),
        after: &AfterAgent,
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        for (name, seen) in &after.0 {
            let entry = self.untracked.get(name);
            let entry = entry.filter(|entry| entry.output == Some(Output::Rewritten));
            let (Some(entry), Some(_)) = (entry, seen) else {
                continue;
            };
            let path = from_hex(name);
            if after.is_written_since(root, name)
                || fs::symlink_metadata(place(root, name)).is_err()
                || is_unchanged(root, &path, entry)
            {
                continue;
            }
            if let Some(source) = entry.source(folders) {
                let place = quarantine.place_for(&path)?;
                let folder = place.parent().unwrap_or(root);
                fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, cause))?;
                write(&source, entry, &place)?;
            }
        }
        Ok(())
    }
}

/// Says whether a file is an output that is there, with all that was in it where something is only added.
pub fn is_output(root: &Path, path: &[u8], entry: &Copy, folders: &[PathBuf]) -> bool {
    let file = root.join(OsStr::from_bytes(path));
    let is_built = entry.output == Some(Output::Built);
    let is_file = |meta: Metadata| meta.is_file() || is_built && meta.is_symlink();
    fs::symlink_metadata(&file).is_ok_and(is_file)
        && is_beneath(root, path)
        && match entry.output {
            None => false,
            Some(Output::Rewritten | Output::Built) => true,
            Some(Output::Grown) => entry
                .source(folders)
                .is_some_and(|copy| grown::begins_like(&file, &copy)),
        }
}

fn place(root: &Path, name: &str) -> PathBuf {
    root.join(OsStr::from_bytes(&from_hex(name)))
}

fn look_at(root: &Path, name: &str) -> Option<Seen> {
    let meta = fs::symlink_metadata(place(root, name)).ok()?;
    meta.is_file().then(|| Seen::of(&meta))
}

/// Returns the last bytes of the first `size` of a file.
fn end_of(file: &Path, size: u64) -> Option<Vec<u8>> {
    let from = size.saturating_sub(END);
    let mut bytes = vec![0; usize::try_from(size - from).ok()?];
    let open = files::open(file).ok()?;
    open.read_exact_at(&mut bytes, from).ok()?;
    Some(bytes)
}
