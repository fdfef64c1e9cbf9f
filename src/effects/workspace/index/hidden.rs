//! Changes that git was told not to look at: files marked assume-unchanged or skip-worktree that differ all the same. A
//! status does not show them, and an undo would write over them.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use super::restat::{Doubtful, Entry, Whereabouts};
use crate::effects::files::is_beneath;
use crate::effects::git::{Git, may_refuse};
use crate::effects::modes::Folders;
use crate::effects::near::Near;
use crate::effects::parallel::side_by_side;
use crate::effects::repo::{LISTING, WrittenIndex};
use crate::effects::workspace::status::{self, Status};
use crate::effects::workspace::submodules::Home;
use crate::effects::workspace::{Start, Workspace, ended};
use crate::error::Result;
use crate::model::exact;
use crate::model::record::unseen::Span;

/// How many files are hashed by one call of git.
const AT_ONCE: usize = 200;

/// An entry of the index that git does not look at.
struct Marked {
    /// Below the repository's own root.
    path: Vec<u8>,
    /// As `git ls-files -v` shows it.
    tag: char,
    id: String,
    is_executable: bool,
    is_submodule: bool,
    /// Missing on disk by design: a sparse checkout leaves it out.
    may_be_missing: bool,
}

/// What the index lists.
#[derive(Default)]
struct Listed {
    marked: Vec<Marked>,
    submodules: Vec<Vec<u8>>,
}

/// What git was told not to look at.
#[derive(Debug, Default)]
pub struct Hidden {
    /// Paths whose files differ all the same.
    pub changes: Vec<Vec<u8>>,
    /// The same inside submodules.
    pub within: Vec<Vec<u8>>,
    /// The submodules within those that git may go into.
    pub nested: Vec<Vec<u8>>,
    /// All marks inside submodules, and of the repository itself all but those that a sparse checkout makes, as in `h path`; a path stands for its bytes exactly.
    pub flags: Vec<String>,
}

impl Hidden {
    /// Returns the paths whose files differ, for people.
    pub fn names(&self) -> Vec<String> {
        let all = self.changes.iter().chain(&self.within);
        all.map(|path| String::from_utf8_lossy(path).into_owned())
            .collect()
    }
}

impl Home {
    fn flags(&self, marked: &[Marked]) -> Vec<String> {
        // Of the repository itself it is known which files lay where.
        let is_own = |marked: &&Marked| !marked.may_be_missing || !self.folder.is_empty();
        let own = marked.iter().filter(is_own);
        own.map(|marked| {
            let path = exact::decode(&self.whole(&marked.path));
            format!("{} {path}", marked.tag)
        })
        .collect()
    }
}

fn path_of(flag: &str) -> &str {
    flag.split_once(' ').map_or("", |(_, path)| path)
}

impl Workspace<'_> {
    /// Reads the state of the tree with its ignored files, and what is hidden from git. `noted` gets the tracked files that are shut to
    /// their owner; with the rest comes where all of them lie. What was last changed in one of the spans that are `unseen` is compared
    /// by content.
    pub fn look_at_all(
        &self,
        noted: &mut Folders,
        unseen: &[Span],
    ) -> Result<(Status, Hidden, Whereabouts)> {
        let git = &self.repo.git;
        let root = &self.repo.root;
        let mut near = Near::below(root);
        let mut whereabouts = Whereabouts::default();
        let mut doubtful = Doubtful::default();
        let mut note = |line: &[u8], path: &[u8]| {
            let Some(seen) = near.look(path) else {
                return;
            };
            whereabouts.add(path, seen);
            if !is_marked(line) {
                noted.note_seen(path, seen);
            }
            let is_doubtful =
                |entry: &Entry<'_>| entry.is_merged_file() && !entry.is_held_by(root, seen);
            if unseen.iter().any(|span| span.contains(&seen.changed.0))
                && let Some(entry) = Entry::of(line).filter(is_doubtful)
            {
                doubtful.add(&entry);
            }
        };
        let (mut status, listed) = side_by_side(
            || status::read(git, true),
            || Ok(list_index(git, &self.repo.listing()?, &mut note)),
        )?;
        if doubtful.forget(git)? {
            let shown = std::mem::replace(&mut status, status::read(git, true)?);
            let mut concealed = status.dirty.clone();
            concealed.retain(|path| !shown.dirty.contains(path));
            status.concealed = concealed;
        }
        let submodules = listed.submodules;
        self.repo.modules.find(self.ground(), submodules.clone());
        self.look_into_submodules(&mut status, true)?;
        let hidden = self.hidden(listed.marked)?;
        let unset = [submodules, hidden.nested.clone()].concat();
        status.within.extend(self.in_unset(&unset));
        Ok((status, hidden, whereabouts))
    }

    /// Reads the state of the tree without its ignored files, what is hidden from git, and which submodules there are. The untracked files are looked
    /// for beside the changes of tracked ones: in a large tree either takes its time.
    pub fn look(&self) -> Result<(Status, Hidden, Vec<Vec<u8>>)> {
        let git = &self.repo.git;
        let (untracked, (mut status, listed)) = side_by_side(
            || status::list_untracked(git),
            || {
                let index = self.repo.index();
                let bytes = index.as_ref().map(|index| &index.bytes[..]);
                let listed = self.repo.listing_of(bytes)?;
                Ok((self.tracked_state(index.as_ref())?, listed))
            },
        )?;
        let listed = list_index(git, &listed, &mut |_, _| {});
        status.add_untracked(&untracked);
        self.look_into_submodules(&mut status, false)?;
        let hidden = self.hidden(listed.marked)?;
        let submodules = [listed.submodules, hidden.nested.clone()].concat();
        status.within.extend(self.in_unset(&submodules));
        Ok((status, hidden, submodules))
    }

    /// Reads the state of the tracked files alone.
    pub(in crate::effects::workspace) fn tracked_state(
        &self,
        index: Option<&WrittenIndex>,
    ) -> Result<Status> {
        let git = &self.repo.git;
        let unlike = self.unlike_noted(index);
        let status = match &unlike {
            // There may be no HEAD to compare with.
            Some(paths) if self.repo.head()?.commit.is_some() => {
                status::read_tracked_of(git, paths)?
            }
            Some(_) | None => status::read_tracked(git)?,
        };
        Ok(Status { unlike, ..status })
    }

    /// Has git look again at what it was told not to look at since the start. Says whether there was any of that.
    pub fn take_back_flags(&self, start: &Start, hidden: &Hidden) -> Result<bool> {
        let before: BTreeSet<_> = start.flags.iter().collect();
        let new = hidden.flags.iter().filter(|flag| !before.contains(flag));
        let mut paths: Vec<_> = new.map(|flag| exact::encode(path_of(flag))).collect();
        paths.extend(hidden.changes.iter().chain(&hidden.within).cloned());
        self.set_flags(&["--no-assume-unchanged", "--no-skip-worktree"], &paths)?;
        Ok(!paths.is_empty())
    }

    /// Gives the index back the flags that it had at the start.
    pub fn give_flags_back(&self, start: &Start) -> Result<()> {
        if start.flags.is_empty() {
            return Ok(());
        }
        let root = self.root_home();
        let marked = list_index(&root.git, &self.repo.listing()?, &mut |_, _| {}).marked;
        let mut now: BTreeSet<_> = root.flags(&marked).into_iter().collect();
        for (home, listed) in self.listed_within()? {
            now.extend(home.flags(&listed.marked));
        }
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        for flag in start.flags.iter().filter(|flag| !now.contains(*flag)) {
            let path = exact::encode(path_of(flag));
            if flag.starts_with(|tag: char| tag.is_ascii_lowercase()) {
                assumed.push(path.clone());
            }
            if flag.starts_with(['S', 's']) {
                skipped.push(path);
            }
        }
        self.set_flags(&["--assume-unchanged"], &assumed)?;
        self.set_flags(&["--skip-worktree"], &skipped)
    }

    /// Sets marks of files; in a submodule that git may not go into there is nothing to set.
    pub(in crate::effects::workspace) fn set_flags(
        &self,
        flags: &[&str],
        paths: &[Vec<u8>],
    ) -> Result<()> {
        let known = self.repo.modules.known().into_keys();
        let known = known.map(|name| [&exact::encode(&name)[..], b"/"].concat());
        let known: Vec<Vec<u8>> = known.collect();
        for home in self.homes_within().chain([self.root_home()]) {
            let is_within = |path: &[u8], folder: &[u8]| {
                folder.len() > home.folder.len() && path.starts_with(folder)
            };
            let is_own = |path: &&Vec<u8>| {
                let mut others = known.iter();
                path.starts_with(&home.folder) && !others.any(|folder| is_within(path, folder))
            };
            let below = |path: &Vec<u8>| path[home.folder.len()..].to_vec();
            let own: Vec<_> = paths.iter().filter(is_own).map(below).collect();
            if own.is_empty() {
                continue;
            }
            for flag in flags {
                set_flag(&home.git, flag, &own)?;
            }
        }
        Ok(())
    }

    /// Lists the index of each submodule that git may go into.
    fn listed_within(&self) -> Result<Vec<(Home, Listed)>> {
        let homes = self.homes_within();
        let listed = |home: Home| {
            let listed = home.git.run(&LISTING)?;
            let listed = list_index(&home.git, &listed, &mut |_, _| {});
            Ok((home, listed))
        };
        homes.map(listed).collect()
    }

    fn hidden(&self, marked: Vec<Marked>) -> Result<Hidden> {
        let root = self.root_home();
        let mut hidden = Hidden {
            flags: root.flags(&marked),
            changes: self.hidden_changes(&root, marked)?,
            ..Hidden::default()
        };
        for (home, listed) in self.listed_within()? {
            let nested = listed.submodules.iter();
            hidden.nested.extend(nested.map(|path| home.whole(path)));
            hidden.flags.extend(home.flags(&listed.marked));
            let changes = self.hidden_changes(&home, listed.marked)?;
            hidden.within.extend(changes);
        }
        Ok(hidden)
    }

    /// Returns the marked files whose content on disk is not that of the index.
    fn hidden_changes(&self, home: &Home, all: Vec<Marked>) -> Result<Vec<Vec<u8>>> {
        let mut changed = Vec::new();
        let mut to_hash = Vec::new();
        for marked in all {
            let whole = home.whole(&marked.path);
            let file = self.repo.root.join(OsStr::from_bytes(&whole));
            let is_changed = match fs::symlink_metadata(&file) {
                Ok(meta) if marked.is_submodule && meta.is_dir() => {
                    self.is_elsewhere(&whole, &marked.id)?
                }
                Ok(meta) if !is_beneath(&self.repo.root, &whole) || meta.is_dir() => true,
                Ok(meta) if meta.is_symlink() => self.hash_of_file(&whole, true)? != marked.id,
                Ok(meta) if meta.is_file() => {
                    let is_executable = meta.mode() & 0o100 != 0;
                    if is_executable == marked.is_executable || !heeds_modes(&home.git) {
                        to_hash.push(marked);
                        continue;
                    }
                    true
                }
                Ok(_) => true,
                Err(_) => !marked.may_be_missing,
            };
            if is_changed {
                changed.push(whole);
            }
        }
        for some in to_hash.chunks(AT_ONCE) {
            let mut arguments = vec![OsStr::new("hash-object"), OsStr::new("--")];
            arguments.extend(some.iter().map(|marked| OsStr::from_bytes(&marked.path)));
            let ids = home.git.run(&arguments)?;
            let ids = String::from_utf8_lossy(&ids).into_owned();
            let differs = some
                .iter()
                .zip(ids.lines())
                .filter(|(marked, id)| marked.id != *id);
            changed.extend(differs.map(|(marked, _)| home.whole(&marked.path)));
        }
        Ok(changed)
    }

    /// Says whether HEAD of a submodule is on another commit than the index has of it.
    fn is_elsewhere(&self, path: &[u8], id: &str) -> Result<bool> {
        let dot_git = [path, b"/.git"].concat();
        let is_there = is_beneath(&self.repo.root, &dot_git)
            && fs::symlink_metadata(self.repo.root.join(OsStr::from_bytes(&dot_git))).is_ok();
        match self.inside(path) {
            Some(git) => {
                let head = may_refuse(git.run(&["rev-parse", "--verify", "HEAD"]))?;
                // It may be on a branch without a commit.
                Ok(head.is_none_or(|head| head.trim_ascii() != id.as_bytes()))
            }
            // One that is not set up has no HEAD; in one of an agent's nobody looks.
            None => Ok(is_there),
        }
    }

    /// Says whether there are patterns of what a sparse checkout holds.
    pub(in crate::effects::workspace) fn has_sparse_patterns(&self) -> bool {
        let patterns = self.repo.git_dir().join("info/sparse-checkout");
        fs::symlink_metadata(patterns).is_ok()
    }

    /// Says whether not every tracked file is checked out.
    pub fn is_sparse(&self) -> bool {
        is_sparse(&self.repo.git)
    }
}

/// Returns the marked entries of an index and its submodules, as it is `listed` (`Repo::listing`). `each` is called with the line of each
/// file, and the path in it.
fn list_index(git: &Git, listed: &[u8], each: &mut dyn FnMut(&[u8], &[u8])) -> Listed {
    const SUBMODULE: &[u8] = b" 160000 ";
    // Asked at the first such entry: most repositories have none.
    let is_sparse = LazyCell::new(|| is_sparse(git));
    let mut found = Listed::default();
    for line in listed.split(|byte| *byte == 0) {
        let rest = line.get(1..).unwrap_or_default();
        let is_submodule = rest.starts_with(SUBMODULE);
        let (tag, tab) = match (line.first(), line.iter().position(|byte| *byte == b'\t')) {
            (Some(tag), Some(tab)) => (*tag, tab),
            (Some(_) | None, _) => continue,
        };
        match is_submodule {
            true => found.submodules.push(line[tab + 1..].to_vec()),
            false => each(line, &line[tab + 1..]),
        }
        if !is_marked(line) {
            continue;
        }
        let words = String::from_utf8_lossy(&line[..tab]).into_owned();
        let mut words = words.split(' ').skip(1);
        let (mode, id) = (words.next(), words.next());
        found.marked.push(Marked {
            tag: char::from(tag),
            path: line[tab + 1..].to_vec(),
            is_executable: mode == Some("100755"),
            is_submodule,
            id: id.unwrap_or_default().to_owned(),
            may_be_missing: tag.eq_ignore_ascii_case(&b'S') && *is_sparse,
        });
    }
    found
}

/// Says whether git does not look at what a line of `git ls-files -v` names, as in `h 100644 <id> 0<tab>path`: a small letter is
/// assume-unchanged, an S skip-worktree.
fn is_marked(line: &[u8]) -> bool {
    let tag = line.first();
    tag.is_some_and(|tag| tag.is_ascii_lowercase() || *tag == b'S')
}

/// Sets a mark of files; what the index does not have any more has none.
fn set_flag(git: &Git, flag: &str, paths: &[Vec<u8>]) -> Result<()> {
    let arguments = ["update-index", flag, "-z", "--stdin"];
    if may_refuse(git.run_with(&arguments, &ended(paths)))?.is_some() {
        return Ok(());
    }
    let listed = git.run(&["ls-files", "-z"])?;
    let listed: BTreeSet<&[u8]> = listed.split(|byte| *byte == 0).collect();
    let there = paths.iter().filter(|path| listed.contains(&path[..]));
    let there: Vec<Vec<u8>> = there.cloned().collect();
    git.run_with(&arguments, &ended(&there)).map(|_| ())
}

/// Says whether git looks at whether a file can be executed.
fn heeds_modes(git: &Git) -> bool {
    let asked = ["config", "--type=bool", "--get", "core.fileMode"];
    !git.run(&asked).is_ok_and(|is| is == b"false\n")
}

/// Says whether a working tree does not hold every tracked file.
pub(in crate::effects::workspace) fn is_sparse(git: &Git) -> bool {
    let sparse = ["config", "--type=bool", "--get", "core.sparseCheckout"];
    git.run(&sparse).is_ok_and(|is| is == b"true\n")
}
