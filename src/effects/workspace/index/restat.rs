//! Has git look anew at what somebody may have changed. Git takes a file for unchanged whose time and size are those that its
//! index has noted, and whoever can write the index can note those of another content. The time of the last change of state
//! (`ctime`) cannot be set: what is older than the cycle is as it was then, and what is not is read again. A folder that is moved
//! changes nothing of the files in it: what is another file than lay there is read again, too, however old it is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effects::git::Git;
use crate::effects::modes::{Done, Folders};
use crate::effects::near::{Near, Seen};
use crate::effects::parallel::side_by_side;
use crate::effects::repo::{LISTING, hash_file};
use crate::effects::workspace::submodules::Home;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;

/// How many files it takes until a second thread pays.
pub(super) const MANY: usize = 2_000;

/// What came of looking anew.
#[derive(Debug, Default)]
pub(in crate::effects::workspace) struct Distrusted {
    /// The index had to be made anew.
    pub is_mended: bool,
    /// What was done.
    pub notes: Vec<String>,
    /// The tracked files that nobody touched since the start.
    pub untouched: Untouched,
    /// What the index lists (`Repo::listing`).
    pub listed: Vec<u8>,
}

/// Which files lay where when the cycle began.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Whereabouts {
    /// Paths in the order of the index, each ended by a NUL.
    paths: Vec<u8>,
    /// Device and inode of each.
    places: Vec<(u64, u64)>,
}

impl Whereabouts {
    /// Notes where a tracked file lies, one after the other in the order of the index.
    pub(in crate::effects::workspace) fn add(&mut self, path: &[u8], seen: Seen) {
        self.paths.extend_from_slice(path);
        self.paths.push(0);
        self.places.push(seen.place);
    }

    /// Returns what says of one path after the other, in the order of the index, whether what is seen there now is what lay there.
    fn in_turn(&self) -> impl FnMut(&[u8], Seen) -> bool {
        let mut place = self.places_in_turn();
        move |path, seen| place(path) == Some(seen.place)
    }

    /// Returns what says of one path after the other, in the order of the index, device and inode of what lay there.
    pub(in crate::effects::workspace) fn places_in_turn(
        &self,
    ) -> impl FnMut(&[u8]) -> Option<(u64, u64)> {
        let paths = self.paths.split(|byte| *byte == 0);
        let mut all = paths.zip(&self.places).peekable();
        move |path| {
            while all.next_if(|(one, _)| *one < path).is_some() {}
            let there = all.peek().filter(|(one, _)| *one == path);
            there.map(|(_, place)| **place)
        }
    }
}

/// Paths in the order of the index, each ended by a NUL.
#[derive(Debug, Default)]
pub(in crate::effects::workspace) struct Untouched(Vec<u8>);

impl Untouched {
    fn add(&mut self, path: &[u8]) {
        self.0.extend_from_slice(path);
        self.0.push(0);
    }

    /// Returns what says of one path after the other, in the order of the index, whether it is one of them.
    pub(in crate::effects::workspace) fn in_turn(&self) -> impl FnMut(&[u8]) -> bool {
        let mut all = self.0.split(|byte| *byte == 0).peekable();
        move |path| {
            while all.next_if(|one| *one < path).is_some() {}
            all.next_if_eq(&path).is_some()
        }
    }
}

impl Workspace<'_> {
    /// Forgets what the index has noted of files that changed since the start, so that git compares their content. To be done
    /// before git is asked what an agent changed. Files that git is told not to look at are compared elsewhere (`hidden`).
    /// Those that were shut by a mode since are open to their owner then.
    pub(in crate::effects::workspace) fn distrust_index(
        &self,
        start: &Start,
    ) -> Result<Distrusted> {
        let (mut notes, listed) = match self.repo.listing() {
            Ok(listed) => (Vec::new(), listed),
            Err(cause) => match self.mend_index(start)? {
                notes if notes.is_empty() => return Err(cause),
                notes => (notes, self.repo.listing()?),
            },
        };
        let is_mended = !notes.is_empty();
        let (known, _) = start.guarded.folders(&self.repo.own_places());
        let (mut doubtful, mut opened) = (Doubtful::default(), Vec::new());
        let mut untouched = Untouched::default();
        let entries: Vec<_> = listed
            .split(|byte| *byte == 0)
            .filter_map(Entry::of)
            .collect();
        for (entry, is_new) in entries.iter().zip(self.are_new(start, &known, &entries)?) {
            if !is_new {
                untouched.add(entry.path);
                continue;
            }
            let path = OsStr::from_bytes(entry.path);
            let is_known = known.has_file(path.as_ref());
            if !is_known && self.open_tracked(path.as_ref(), &entry.line[..6]) {
                opened.push(PathBuf::from(path));
            }
            if entry.is_merged_file() {
                doubtful.add(entry);
            }
        }
        // What is found the same now is not noted as such: by the attributes of before the agent it may be another.
        doubtful.forget(&self.repo.git)?;
        let mut done = Done::default();
        done.note("", &Folders::default(), opened, Vec::new());
        notes.extend(done.notes());
        Ok(Distrusted {
            is_mended,
            notes,
            untouched,
            listed,
        })
    }

    /// Does the same inside submodules that git may go into, by the age of their files alone.
    pub(in crate::effects::workspace) fn distrust_within(&self, start: &Start) -> Result<()> {
        for Home { git, folder } in self.homes_within() {
            let listed = git.run(&LISTING)?;
            let folder = self.repo.root.join(OsStr::from_bytes(&folder));
            let mut near = Near::below(&folder);
            let mut doubtful = Doubtful::default();
            for entry in listed.split(|byte| *byte == 0).filter_map(Entry::of) {
                let is_new = |seen| start.is_unverified(seen);
                if entry.is_merged_file() && near.look(entry.path).is_some_and(is_new) {
                    doubtful.add(&entry);
                }
            }
            doubtful.forget(&git)?;
        }
        Ok(())
    }

    /// Says of each of these whether its file was touched since its content was last compared, or is another one. In a large tree
    /// that takes its time: one half is looked at beside the other.
    fn are_new(&self, start: &Start, known: &Folders, entries: &[Entry<'_>]) -> Result<Vec<bool>> {
        let root = &self.repo.root;
        let look = |entries: &[Entry<'_>]| -> Vec<bool> {
            let mut near = Near::below(root);
            let mut is_fresh = fresh(start, known, root);
            let is_new = |entry: &Entry<'_>| {
                let seen = near.look(entry.path);
                let is_unverified =
                    |seen| start.is_unverified(seen) && !entry.is_held_by(root, seen);
                seen.is_some_and(|seen| match entry.is_merged_file() {
                    true => is_fresh(entry.path, seen) || is_unverified(seen),
                    false => start.is_unverified(seen),
                })
            };
            entries.iter().map(is_new).collect()
        };
        if entries.len() < MANY {
            return Ok(look(entries));
        }
        let (first, second) = entries.split_at(entries.len() / 2);
        let (mut new, rest) = side_by_side(|| Ok(look(first)), || Ok(look(second)))?;
        new.extend(rest);
        Ok(new)
    }
}

/// Returns what says of one file after the other, in the order of the index, whether it was touched since the start, or is another
/// one than lay there. After a crash that is told by the folders as they are `known`: a file that is moved by itself is dated anew.
pub(in crate::effects::workspace) fn fresh(
    start: &Start,
    known: &Folders,
    root: &Path,
) -> impl FnMut(&[u8], Seen) -> bool {
    let mut is_there = start.whereabouts.as_ref().map(|all| all.in_turn());
    let mut is_exchanged = known.exchanged(root);
    move |path, seen| {
        let is_other = match is_there.as_mut() {
            Some(is_there) => !is_there(path, seen),
            None => is_exchanged(path),
        };
        is_other || start.is_since(seen)
    }
}

/// Entries of the index whose files git is to compare by content.
#[derive(Default)]
pub(super) struct Doubtful(Vec<u8>);

impl Doubtful {
    pub(super) fn add(&mut self, entry: &Entry<'_>) {
        self.0.extend_from_slice(entry.line);
        self.0.push(0);
    }

    /// Has git forget what its index has noted of their files; says whether there is any.
    pub(super) fn forget(&self, git: &Git) -> Result<bool> {
        if self.0.is_empty() {
            return Ok(false);
        }
        git.run_with(&["update-index", "-z", "--index-info"], &self.0)?;
        Ok(true)
    }
}

/// A line of `git ls-files -v --stage` of a file that git looks at, without its tag.
pub(super) struct Entry<'a> {
    /// As in `100644 <id> 0<tab>path`.
    line: &'a [u8],
    path: &'a [u8],
}

impl<'a> Entry<'a> {
    pub(super) fn of(line: &'a [u8]) -> Option<Entry<'a>> {
        let line = line.strip_prefix(b"H ")?;
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let path = &line[tab + 1..];
        Some(Entry { line, path })
    }

    /// Says whether it is a file that no merge left in conflict.
    pub(super) fn is_merged_file(&self) -> bool {
        let words = &self.line[..self.line.len() - self.path.len() - 1];
        words.starts_with(b"1") && !words.starts_with(b"16") && words.ends_with(b" 0")
    }

    /// Says whether the file that is seen there holds, byte for byte, what the index does. Git may call such a file changed all the
    /// same: one that was committed before the attributes by which it would be converted now.
    pub(super) fn is_held_by(&self, root: &Path, seen: Seen) -> bool {
        let id = self.line.split(|byte| *byte == b' ').nth(1);
        let file = || root.join(OsStr::from_bytes(self.path));
        seen.is_file() && hash_file(&file()).map(String::into_bytes).as_deref() == id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(inode: u64) -> Seen {
        Seen {
            mode: 0o100_644,
            place: (1, inode),
            ..Seen::default()
        }
    }

    #[test]
    fn a_file_is_there_if_it_is_the_one_that_lay_at_its_path() {
        let mut all = Whereabouts::default();
        for (path, inode) in [("a", 1), ("b", 2), ("b.c", 3), ("b/c", 4)] {
            all.add(path.as_bytes(), seen(inode));
        }
        let is_there = |asked: &[(&str, u64)]| -> Vec<bool> {
            let mut is_there = all.in_turn();
            let asked = asked.iter();
            asked
                .map(|(path, inode)| is_there(path.as_bytes(), seen(*inode)))
                .collect()
        };
        assert_eq!(is_there(&[("a", 1), ("b", 2), ("b/c", 4)]), [true; 3]);
        // Exchanged, new, and three sides of a conflict.
        assert_eq!(is_there(&[("b.c", 4), ("b/c", 3)]), [false; 2]);
        assert_eq!(
            is_there(&[("aa", 1), ("b", 2), ("c", 4)]),
            [false, true, false]
        );
        assert_eq!(is_there(&[("b", 2), ("b", 2), ("b", 2)]), [true; 3]);
        assert!(!Whereabouts::default().in_turn()(b"a", seen(1)));
    }
}
