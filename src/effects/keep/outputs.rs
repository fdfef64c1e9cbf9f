//! Untracked files that something else than an agent writes anew again and again: the reports and caches of checks, and logs whose
//! writer opens and closes them for each line. What was written anew twice while no agent ran is known for one, since a person may save
//! a file once at such a time; its later versions are neither an agent's damage nor anything to take back.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::copy::{Copy, FILE_LIMIT, Output, digest_of, is_unchanged, stamp, write};
use super::{Kept, from_hex, grown, in_the_way, to_hex};
use crate::effects::files::{self, is_beneath};
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::{output, text};

/// How many bytes at a file's end tell whether something was added to it or it was made anew.
const END: u64 = 64;
/// How many files are opened to read these.
const OPENED: usize = 1_000;
/// How many bytes are read to tell a file that was written to from another one.
const READ: u64 = 64 << 20;

/// What tells that a file was written to, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    size: u64,
    modified: (i64, i64),
    inode: u64,
    /// Its last bytes; none where they were not read.
    end: Option<Vec<u8>>,
    /// The digest of all its bytes; none where they were not read.
    digest: Option<String>,
}

/// What was done to untracked files while goals were measured, by their names in hex.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Measured {
    /// What they were like before.
    seen: BTreeMap<String, Seen>,
    /// Those that checks run: nobody's output.
    pub(super) frozen: BTreeSet<String>,
}

/// What was done to a file, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Became {
    /// It was written to, and holds the same bytes.
    Touched,
    /// Something was added to it.
    Grown,
    /// It was made anew.
    Rewritten,
}

impl Seen {
    fn of(meta: &Metadata) -> Seen {
        Seen {
            size: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            inode: meta.ino(),
            end: None,
            digest: None,
        }
    }

    /// Says whether a file was not written to until it became what it is now.
    fn is_same(&self, now: &Seen) -> bool {
        (self.size, self.modified, self.inode) == (now.size, now.modified, now.inode)
    }

    /// Says how a file was written to until it became what it is now, if it was.
    fn became(&self, now: &Seen, file: &Path) -> Option<Became> {
        if self.is_same(now) {
            return None;
        }
        if self.size == now.size && self.digest.is_some() && digest_of(file) == self.digest {
            return Some(Became::Touched);
        }
        let has_end = || self.end.is_none() || end_of(file, self.size) == self.end;
        match self.inode == now.inode && now.size > self.size && has_end() {
            true => Some(Became::Grown),
            false => Some(Became::Rewritten),
        }
    }
}

impl Kept {
    /// Looks at the untracked files before anything is measured; what `last` tells of one that is still the same is not read again.
    pub fn look(&mut self, root: &Path, last: Option<&Kept>) {
        let mut seen = BTreeMap::new();
        let mut left = READ;
        for name in self.untracked.keys() {
            let file = place(root, name);
            let Some(meta) = meta_of(&file) else {
                continue;
            };
            let mut one = Seen::of(&meta);
            if seen.len() < OPENED {
                one.end = end_of(&file, one.size);
                one.digest = last.and_then(|last| last.digest_at(name, &meta));
                if one.digest.is_none() && one.size <= FILE_LIMIT.min(left) {
                    left -= one.size;
                    one.digest = digest_of(&file);
                }
            }
            seen.insert(name.clone(), one);
        }
        self.measured.seen = seen;
    }

    /// Returns the digest of a file, if it is still what it was when it was read.
    fn digest_at(&self, name: &str, meta: &Metadata) -> Option<String> {
        let copied = self.untracked.get(name);
        let copied = copied.filter(|copy| copy.stamp == stamp(meta));
        copied.and_then(|copy| copy.digest.clone()).or_else(|| {
            let seen = self.measured.seen.get(name);
            let seen = seen.filter(|seen| seen.is_same(&Seen::of(meta)));
            seen.and_then(|seen| seen.digest.clone())
        })
    }

    /// Notes which of the files were written to since they were looked at for `last`'s cycle or for this one, and by that whose they
    /// are; `frozen` ones, which checks run, are nobody's output. What came or holds the same bytes as before is as doubtful as what
    /// was written to once: somebody may rely on it.
    pub fn note_outputs(
        &mut self,
        root: &Path,
        last: Option<&Kept>,
        start: &Kept,
        frozen: &[String],
    ) {
        let frozen: BTreeSet<_> = frozen.iter().map(|it| to_hex(it.as_bytes())).collect();
        for (name, entry) in &mut self.untracked {
            if frozen.contains(name) {
                (entry.output, entry.is_doubtful) = (None, false);
                continue;
            }
            let became = |earlier: &Kept| {
                let seen = earlier.measured.seen.get(name)?;
                seen.became(&look_at(root, name)?, &place(root, name))
            };
            // A file of the last cycle's that holds the same bytes was put back, for one.
            let by_last = last.and_then(became);
            let by_last = by_last.filter(|it| *it != Became::Touched);
            let became = by_last.max(became(start));
            let known = [last, Some(start)].into_iter().flatten();
            let known = known.filter_map(|it| it.untracked.get(name));
            let (mut output, mut is_doubtful) = (None, false);
            for known in known {
                output = known.output.or(output);
                is_doubtful |= known.is_doubtful;
                entry.is_earlier_kept |= known.is_earlier_kept;
            }
            (entry.output, entry.is_doubtful) = after(output, is_doubtful, became);
        }
        self.measured.frozen = frozen;
    }
}

/// Returns what a file is, and whether that is doubtful, after something was done to it while no agent ran. Once, a person may have
/// saved it; what was made anew twice is an output.
fn after(
    output: Option<Output>,
    is_doubtful: bool,
    became: Option<Became>,
) -> (Option<Output>, bool) {
    match (output, became) {
        (Some(_), Some(Became::Rewritten)) => (Some(Output::Rewritten), false),
        (Some(output), _) => (Some(output), false),
        (None, Some(Became::Rewritten)) if is_doubtful => (Some(Output::Rewritten), false),
        (None, Some(Became::Grown)) => (Some(Output::Grown), false),
        (None, Some(Became::Touched | Became::Rewritten)) => (None, true),
        (None, None) => (None, is_doubtful),
    }
}

/// What untracked files were like right after the agent, by their names in hex; none for one that was gone.
#[derive(Clone, Debug, Default)]
pub struct AfterAgent(BTreeMap<String, Option<Seen>>);

impl AfterAgent {
    /// Looks at a file again that was put back after the agent.
    pub fn look_again(&mut self, root: &Path, path: &[u8]) {
        let name = to_hex(path);
        let seen = look_at(root, &name);
        self.0.insert(name, seen);
    }

    /// Says whether a file is there and was written to since.
    fn is_written_since(&self, root: &Path, name: &str) -> bool {
        let now = look_at(root, name);
        now.is_some_and(|now| match self.0.get(name) {
            Some(Some(seen)) => seen.became(&now, &place(root, name)).is_some(),
            Some(None) | None => true,
        })
    }

    /// Says the same, and also of a file that is gone since.
    pub(super) fn is_changed_since(&self, root: &Path, name: &str) -> bool {
        let was_there = matches!(self.0.get(name), Some(Some(_)));
        was_there && look_at(root, name).is_none() || self.is_written_since(root, name)
    }
}

impl Kept {
    /// Returns those files, in hex, that somebody may have written anew before the agent and that hold other bytes since it, which are not
    /// the agent's: what was doubtful is an output from then on, and of an output the earlier bytes are kept.
    pub fn made_since(&self, root: &Path, after: &AfterAgent) -> Vec<String> {
        let may_be_made = |entry: &Copy| match entry.output {
            Some(Output::Rewritten) => !entry.is_earlier_kept,
            Some(_) => false,
            None => entry.is_doubtful,
        };
        let files = self.untracked.iter();
        let made = files.filter(|(name, entry)| {
            may_be_made(entry)
                && after.is_written_since(root, name)
                && !is_unchanged(root, &from_hex(name), entry)
        });
        made.map(|(name, _)| name.clone()).collect()
    }

    /// Takes these files for outputs, and those that were for outputs of which nothing needs to be kept any more.
    pub fn know_made(&mut self, names: &[String]) {
        for name in names {
            if let Some(entry) = self.untracked.get_mut(name) {
                entry.is_earlier_kept =
                    matches!(entry.output, Some(Output::Rewritten | Output::Built));
                (entry.output, entry.is_doubtful) = (Some(Output::Rewritten), false);
            }
        }
    }

    /// Returns the files that nobody but the user and an agent is known to have written anew, and on whose ways nothing stands that is
    /// `held` by a commit. A snapshot that is held by now, or gone, is as it is in a clone.
    pub fn without_outputs(&self, root: &Path, held: &dyn Fn(&[u8]) -> bool) -> Kept {
        let files = self.untracked.iter().filter(|(name, entry)| {
            let path = from_hex(name);
            let is_made_anew = match entry.output {
                Some(Output::Rewritten | Output::Built) => true,
                Some(Output::Snapshot) => {
                    held(&path) || fs::symlink_metadata(place(root, name)).is_err()
                }
                Some(Output::Grown) | None => false,
            };
            !is_made_anew && in_the_way(root, &path).is_none_or(|it| !held(&it))
        });
        Kept {
            untracked: files
                .map(|(name, entry)| (name.clone(), entry.clone()))
                .collect(),
            ..Kept::default()
        }
    }

    /// Looks at the files right after the agent: what is written to from then on, the agent did not write.
    pub fn look_after_agent(&self, root: &Path) -> AfterAgent {
        let seen = |name: &String| (name.clone(), look_at(root, name));
        AfterAgent(self.untracked.keys().map(seen).collect())
    }

    /// Returns the same, with those for outputs that are written to since the agent, whose change is kept: a build whose sources
    /// changed makes them anew, or somebody saved them.
    pub fn with_late_outputs(&self, root: &Path, after: &AfterAgent) -> Cow<'_, Kept> {
        // What a program only adds to holds the user's bytes as well.
        let may_be_made = |name: &String, entry: &Copy| {
            let is_free = entry.output.is_none() && !entry.is_protected;
            is_free && !self.measured.frozen.contains(name)
        };
        let written: Vec<_> = self
            .untracked
            .iter()
            .filter(|(name, entry)| may_be_made(name, entry))
            .map(|(name, _)| name)
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

    /// Keeps in the quarantine what files held before the agent that are written to since and left so: always of those that nobody was
    /// known to write anew, and once a session of outputs; `left` has both for outputs. What tools build in folders of theirs is made
    /// anew by them, and not kept.
    pub fn keep_earlier(
        &self,
        root: &Path,
        folders: &[PathBuf],
        after: &AfterAgent,
        left: &Kept,
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        for (name, entry) in &self.untracked {
            let left = left.untracked.get(name);
            let may_be_lost = match entry.output {
                None => left.is_some_and(|it| it.output.is_some()),
                // Who wrote it if nobody did since is the agent.
                Some(Output::Rewritten) => {
                    !entry.is_earlier_kept && after.is_written_since(root, name)
                }
                Some(Output::Grown | Output::Built | Output::Snapshot) => false,
            };
            let path = from_hex(name);
            let is_gone = look_at(root, name).is_none();
            if !may_be_lost || is_gone || is_unchanged(root, &path, entry) {
                continue;
            }
            if let Some(source) = entry.source(folders)
                && !is_made_anew(&text::path(&path), &source, entry)
            {
                keep_in(quarantine, root, &path, &source, entry)?;
            }
        }
        Ok(())
    }

    /// Keeps in the quarantine what outputs held before the agent, where nothing wrote to them since: who saves a file while goals are
    /// measured makes it look like an output, and its bytes would be nowhere.
    pub fn keep_overwritten(
        &self,
        root: &Path,
        folders: &[PathBuf],
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
                keep_in(quarantine, root, &path, &source, entry)?;
            }
        }
        Ok(())
    }
}

/// Puts a copy of a file that stays as it is into the quarantine.
pub(super) fn keep_in(
    quarantine: &mut Quarantine,
    root: &Path,
    path: &[u8],
    source: &Path,
    entry: &Copy,
) -> Result<()> {
    let place = quarantine.place_for(path, entry.size())?;
    let folder = place.parent().unwrap_or(root);
    fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, cause))?;
    write(source, entry, &place)
}

/// Does the same, unless it is there with the same bytes.
pub(super) fn keep_once(
    quarantine: &mut Quarantine,
    root: &Path,
    path: &[u8],
    source: &Path,
    entry: &Copy,
) -> Result<()> {
    match quarantine.has(path, source) {
        true => Ok(()),
        false => keep_in(quarantine, root, path, source, entry),
    }
}

/// Says whether tools make a file anew whenever it is gone: machine code and its like, and what lies in folders of theirs. Where people
/// have such folders, too, that is what is no text, or what checks run; and of what these run elsewhere, what is no text.
pub(super) fn is_made_anew(path: &str, file: &Path, entry: &Copy) -> bool {
    let mut bytes = [0; 8 << 10];
    let read = files::open(file).and_then(|file| file.read_at(&mut bytes, 0));
    let begin = &bytes[..read.unwrap_or(0)];
    let is_of_tools = || match (entry.is_loose, entry.output) {
        (true, _) => output::is_of_tools_alone(path),
        (false, Some(Output::Built)) => output::is_of_tools(path) || !is_text(begin),
        (false, _) => output::is_of_tools(path) && begin.contains(&0),
    };
    let is_built = entry.output == Some(Output::Built);
    is_of_tools() || is_built && output::is_made(path, begin)
}

/// Says whether a file that begins so may be text.
fn is_text(begin: &[u8]) -> bool {
    // The last letter may be cut.
    let is_right =
        std::str::from_utf8(begin).map_or_else(|error| error.error_len().is_none(), |_| true);
    is_right && !begin.contains(&0)
}

/// Says whether a file is an output that is there, with all that was in it where something is only added.
pub fn is_output(root: &Path, path: &[u8], entry: &Copy, folders: &[PathBuf]) -> bool {
    let file = root.join(OsStr::from_bytes(path));
    let is_built = entry.output == Some(Output::Built);
    let is_file = |meta: Metadata| meta.is_file() || is_built && meta.is_symlink();
    fs::symlink_metadata(&file).is_ok_and(is_file)
        && is_beneath(root, path)
        && match entry.output {
            None | Some(Output::Snapshot) => false,
            Some(Output::Rewritten | Output::Built) => true,
            Some(Output::Grown) => entry
                .source(folders)
                .is_some_and(|copy| grown::begins_like(&file, &copy)),
        }
}

pub(super) fn place(root: &Path, name: &str) -> PathBuf {
    root.join(OsStr::from_bytes(&from_hex(name)))
}

fn look_at(root: &Path, name: &str) -> Option<Seen> {
    meta_of(&place(root, name)).map(|meta| Seen::of(&meta))
}

fn meta_of(file: &Path) -> Option<Metadata> {
    let meta = fs::symlink_metadata(file).ok();
    meta.filter(Metadata::is_file)
}

/// Returns the last bytes of the first `size` of a file.
fn end_of(file: &Path, size: u64) -> Option<Vec<u8>> {
    let from = size.saturating_sub(END);
    let mut bytes = vec![0; usize::try_from(size - from).ok()?];
    let open = files::open(file).ok()?;
    open.read_exact_at(&mut bytes, from).ok()?;
    Some(bytes)
}
