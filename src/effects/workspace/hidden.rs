//! Changes that git was told not to look at: files marked assume-unchanged or skip-worktree that differ all the same. A
//! status does not show them, and an undo would write over them.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use super::restat::Whereabouts;
use super::status::{self, Status};
use super::{Start, Workspace, ended};
use crate::effects::files::is_beneath;
use crate::effects::git::Git;
use crate::effects::modes::Folders;
use crate::effects::near::Near;
use crate::effects::parallel::side_by_side;
use crate::error::Result;
use crate::model::exact;

/// How many files are hashed by one call of git.
const AT_ONCE: usize = 200;

/// An entry of the index that git does not look at.
struct Marked {
    path: Vec<u8>,
    /// As `git ls-files -v` shows it.
    tag: char,
    id: String,
    is_executable: bool,
    /// Missing on disk by design: a sparse checkout leaves it out.
    may_be_missing: bool,
}

/// What the index lists.
#[derive(Default)]
struct Listed {
    marked: Vec<Marked>,
    untracked: Vec<Vec<u8>>,
    submodules: Vec<Vec<u8>>,
}

/// What git was told not to look at.
#[derive(Debug, Default)]
pub struct Hidden {
    /// Paths whose files differ all the same.
    pub changes: Vec<Vec<u8>>,
    /// All marks but those that a sparse checkout makes, as in `h path`; a path stands for its bytes exactly.
    pub flags: Vec<String>,
}

fn flags(marked: &[Marked]) -> Vec<String> {
    let own = marked.iter().filter(|marked| !marked.may_be_missing);
    own.map(|marked| format!("{} {}", marked.tag, exact::decode(&marked.path)))
        .collect()
}

fn path_of(flag: &str) -> &str {
    flag.split_once(' ').map_or("", |(_, path)| path)
}

impl Workspace<'_> {
    /// Reads the state of the tree with its ignored files, and what is hidden from git. `noted` gets the tracked files that are shut to
    /// their owner; with the rest comes where all of them lie.
    pub fn look_at_all(&self, noted: &mut Folders) -> Result<(Status, Hidden, Whereabouts)> {
        let git = &self.repo.git;
        let mut near = Near::below(&self.repo.root);
        let mut whereabouts = Whereabouts::default();
        let mut note = |path: &[u8], is_marked: bool| {
            if let Some(seen) = near.look(path) {
                whereabouts.add(path, seen);
                if !is_marked {
                    noted.note_seen(path, seen);
                }
            }
        };
        let (mut status, listed) = side_by_side(
            || status::read(git, true),
            || self.list_index(&["--cached"], &mut note),
        )?;
        self.repo.modules.find(self.ground(), listed.submodules);
        self.look_into_submodules(&mut status)?;
        Ok((status, self.hidden(listed.marked)?, whereabouts))
    }

    /// Reads the state of the tree without its ignored files, what is hidden from git, and which submodules there are. The untracked files are looked
    /// for beside the changes of tracked ones: in a large tree either takes its time.
    pub fn look(&self) -> Result<(Status, Hidden, Vec<Vec<u8>>)> {
        let git = &self.repo.git;
        let with_untracked = ["--cached", "--others", "--exclude-standard"];
        let (mut status, listed) = side_by_side(
            || status::read_tracked(git),
            || self.list_index(&with_untracked, &mut |_, _| {}),
        )?;
        status.add_untracked(listed.untracked);
        self.look_into_submodules(&mut status)?;
        Ok((status, self.hidden(listed.marked)?, listed.submodules))
    }

    /// Has git look again at what it was told not to look at since the start.
    pub fn take_back_flags(&self, start: &Start, hidden: &Hidden) -> Result<()> {
        let before: BTreeSet<_> = start.flags.iter().collect();
        let new = hidden.flags.iter().filter(|flag| !before.contains(flag));
        let mut paths: Vec<_> = new.map(|flag| exact::encode(path_of(flag))).collect();
        paths.extend(hidden.changes.iter().cloned());
        self.set_flags(&["--no-assume-unchanged", "--no-skip-worktree"], &paths)
    }

    /// Gives the index back the flags that it had at the start.
    pub fn give_flags_back(&self, start: &Start) -> Result<()> {
        if start.flags.is_empty() {
            return Ok(());
        }
        let marked = self.list_index(&["--cached"], &mut |_, _| {})?.marked;
        let now: BTreeSet<_> = flags(&marked).into_iter().collect();
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

    fn set_flags(&self, flags: &[&str], paths: &[Vec<u8>]) -> Result<()> {
        if paths.is_empty() {
            return Ok(());
        }
        for flag in flags {
            let arguments = ["update-index", flag, "-z", "--stdin"];
            self.repo.git.run_with(&arguments, &ended(paths))?;
        }
        Ok(())
    }

    fn hidden(&self, marked: Vec<Marked>) -> Result<Hidden> {
        Ok(Hidden {
            flags: flags(&marked),
            changes: self.hidden_changes(marked)?,
        })
    }

    /// Returns the marked files whose content on disk is not that of the index.
    fn hidden_changes(&self, all: Vec<Marked>) -> Result<Vec<Vec<u8>>> {
        let mut changed = Vec::new();
        let mut to_hash = Vec::new();
        for marked in all {
            let file = self.repo.root.join(OsStr::from_bytes(&marked.path));
            match fs::symlink_metadata(&file) {
                Ok(meta) if !is_beneath(&self.repo.root, &marked.path) || meta.is_dir() => {
                    changed.push(marked.path);
                }
                Ok(meta) if meta.is_symlink() => {
                    if self.hash_of_file(&marked.path, true)? != marked.id {
                        changed.push(marked.path);
                    }
                }
                Ok(meta) if meta.is_file() => {
                    let is_executable = meta.mode() & 0o100 != 0;
                    match is_executable != marked.is_executable && self.heeds_modes() {
                        true => changed.push(marked.path),
                        false => to_hash.push(marked),
                    }
                }
                Ok(_) => changed.push(marked.path),
                Err(_) if marked.may_be_missing => {}
                Err(_) => changed.push(marked.path),
            }
        }
        for some in to_hash.chunks(AT_ONCE) {
            let mut arguments = vec![OsStr::new("hash-object"), OsStr::new("--")];
            arguments.extend(some.iter().map(|marked| OsStr::from_bytes(&marked.path)));
            let ids = self.repo.git.run(&arguments)?;
            let ids = String::from_utf8_lossy(&ids).into_owned();
            let differs = some
                .iter()
                .zip(ids.lines())
                .filter(|(marked, id)| marked.id != *id);
            changed.extend(differs.map(|(marked, _)| marked.path.clone()));
        }
        Ok(changed)
    }

    /// Says whether git looks at whether a file can be executed.
    fn heeds_modes(&self) -> bool {
        let asked = ["config", "--type=bool", "--get", "core.fileMode"];
        !self.repo.git.run(&asked).is_ok_and(|is| is == b"false\n")
    }

    /// Says whether there are patterns of what a sparse checkout holds.
    pub(super) fn has_sparse_patterns(&self) -> bool {
        let patterns = self.repo.git_dir().join("info/sparse-checkout");
        fs::symlink_metadata(patterns).is_ok()
    }

    /// Says whether not every tracked file is checked out.
    pub fn is_sparse(&self) -> bool {
        is_sparse(&self.repo.git)
    }

    /// Lists the marked entries of the index and its submodules, and the untracked files if `what` names others, too. `each` is
    /// called with the path of each file, and whether it is marked.
    fn list_index(&self, what: &[&str], each: &mut dyn FnMut(&[u8], bool)) -> Result<Listed> {
        const SUBMODULE: &[u8] = b" 160000 ";
        let arguments = [&["ls-files", "-v", "--stage", "-z"], what].concat();
        let listed = self.repo.git.run(&arguments)?;
        // Asked at the first such entry: most repositories have none.
        let is_sparse = LazyCell::new(|| self.is_sparse());
        let mut found = Listed::default();
        for line in listed.split(|byte| *byte == 0) {
            if let Some(path) = line.strip_prefix(b"? ") {
                found.untracked.push(path.to_vec());
                continue;
            }
            if line
                .get(1..)
                .is_some_and(|rest| rest.starts_with(SUBMODULE))
            {
                let tab = line.iter().position(|byte| *byte == b'\t');
                found
                    .submodules
                    .extend(tab.map(|tab| line[tab + 1..].to_vec()));
                continue;
            }
            // As in `h 100644 <id> 0<tab>path`: a small letter is assume-unchanged, an S skip-worktree.
            let (tag, tab) = match (line.first(), line.iter().position(|byte| *byte == b'\t')) {
                (Some(tag), Some(tab)) if tag.is_ascii_lowercase() || *tag == b'S' => (*tag, tab),
                (Some(_), Some(tab)) => {
                    each(&line[tab + 1..], false);
                    continue;
                }
                (Some(_) | None, _) => continue,
            };
            each(&line[tab + 1..], true);
            let words = String::from_utf8_lossy(&line[..tab]).into_owned();
            let mut words = words.split(' ').skip(1);
            let (mode, id) = (words.next(), words.next());
            found.marked.push(Marked {
                tag: char::from(tag),
                path: line[tab + 1..].to_vec(),
                is_executable: mode == Some("100755"),
                id: id.unwrap_or_default().to_owned(),
                may_be_missing: tag.eq_ignore_ascii_case(&b'S') && *is_sparse,
            });
        }
        Ok(found)
    }
}

/// Says whether a working tree does not hold every tracked file.
pub(super) fn is_sparse(git: &Git) -> bool {
    let sparse = ["config", "--type=bool", "--get", "core.sparseCheckout"];
    git.run(&sparse).is_ok_and(|is| is == b"true\n")
}
