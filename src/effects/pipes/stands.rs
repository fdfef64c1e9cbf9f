//! What may stand where in a git directory. Git and libgit2 write through a link that stands where a file or a folder of
//! theirs belongs, to wherever that leads, and fail for good at a folder in the place of a file or the reverse.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, FileType};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::git::is_index;
use crate::effects::modes::Folders;
use crate::model::exact;

/// The most bytes of HEAD and of a lock: names are shorter.
const HEAD: u64 = 64 << 10;
/// The most bytes of a ref's own file.
const REF: u64 = 8 << 10;
/// The most bytes of what git notes beside: a message, or what was fetched from a repository with a million refs.
const NOTE: u64 = 64 << 20;
/// The most bytes of a reflog.
const LOG: u64 = 256 << 20;
/// The most bytes of an index, and of packed refs: ten million of either.
const LIST: u64 = 1 << 30;
/// How many seconds a change of state may seem to be older than it is.
const SLACK: i64 = 2;
/// How many hex digits an object's id has.
const ID: usize = 40;

/// A part of a git directory, by what git puts there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The git directory of a repository.
    GitDir,
    /// That of a submodule.
    ModuleDir,
    /// What holds those of submodules.
    Modules,
    /// What holds those of linked working trees.
    Trees,
    /// `refs`.
    Refs,
    /// Below a folder of `refs`.
    OfRefs,
    /// `logs`.
    Logs,
    /// `logs/refs`.
    LogsOfRefs,
    /// Below a folder of `logs/refs`.
    OfLogs,
    /// `objects`.
    Objects,
    /// Anything else.
    Other,
}

/// What belongs somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A file of at most so many bytes.
    File(u64),
    /// HEAD, of which git can read what it says.
    Head,
    /// Packed refs that git can read.
    Packed,
    /// An index that is whole.
    Index,
    /// A folder.
    Folder,
    /// A ref, or a folder of them.
    Ref,
    /// A file of at most so many bytes, or a folder.
    Either(u64),
    /// Whatever somebody puts there.
    Anything,
}

/// What is wrong with what stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is of another kind than what belongs there, or nothing that git can read.
    Kind,
    /// It has so many bytes.
    Size(u64),
}

/// What stood in a git directory before an agent.
#[derive(Debug, Default)]
pub struct Stood {
    /// Links below it with where they lead, by their path there or, where they lie elsewhere, by their whole path; none where
    /// that is not known, and every link counts as the user's.
    pub links: Option<BTreeMap<String, String>>,
    /// Its folders.
    pub folders: Folders,
    /// When that was, in seconds since 1970.
    pub since: i64,
}

impl Part {
    /// Returns what belongs in this part by a name, and which part a folder there is.
    pub fn child(self, name: &[u8]) -> (Wanted, Part) {
        match self {
            Part::GitDir | Part::ModuleDir => self.in_git_dir(name),
            Part::Modules => (Wanted::Either(NOTE), Part::Modules),
            Part::Trees => (Wanted::Either(NOTE), Part::GitDir),
            Part::Refs if is_kind(name) => (Wanted::Folder, Part::OfRefs),
            Part::Refs | Part::OfRefs if name.ends_with(b".lock") => {
                (Wanted::File(HEAD), Part::OfRefs)
            }
            Part::Refs | Part::OfRefs => (Wanted::Ref, Part::OfRefs),
            Part::Logs if name == b"refs" => (Wanted::Folder, Part::LogsOfRefs),
            Part::Logs if name == b"HEAD" => (Wanted::File(LOG), Part::OfLogs),
            Part::LogsOfRefs if is_kind(name) => (Wanted::Folder, Part::OfLogs),
            Part::LogsOfRefs if name == b"stash" => (Wanted::File(LOG), Part::OfLogs),
            Part::Logs | Part::LogsOfRefs | Part::OfLogs => (Wanted::Either(LOG), Part::OfLogs),
            Part::Objects if is_of_objects(name) => (Wanted::Folder, Part::Other),
            Part::Objects | Part::Other => (Wanted::Anything, Part::Other),
        }
    }

    fn in_git_dir(self, name: &[u8]) -> (Wanted, Part) {
        let file = |limit| (Wanted::File(limit), Part::Other);
        match name {
            b"refs" => (Wanted::Folder, Part::Refs),
            b"logs" => (Wanted::Folder, Part::Logs),
            b"objects" => (Wanted::Folder, Part::Objects),
            b"modules" => (Wanted::Folder, Part::Modules),
            b"worktrees" => (Wanted::Folder, Part::Trees),
            b"HEAD" if self == Part::ModuleDir => (Wanted::Head, Part::Other),
            b"HEAD" => file(HEAD),
            b"packed-refs" => (Wanted::Packed, Part::Other),
            b"index" => (Wanted::Index, Part::Other),
            name if name.starts_with(b"sharedindex.") => file(LIST),
            name if name.ends_with(b".lock") => file(LIST),
            name if name.ends_with(b"HEAD") || name.ends_with(b"_MSG") => file(NOTE),
            _ => (Wanted::Anything, Part::Other),
        }
    }

    /// Returns the part that a folder is: that of a submodule may lie below others, as its name has slashes.
    pub fn seen(self, folder: &Path) -> Part {
        let has = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
        match self {
            Part::Modules if has("HEAD") || has("objects") => Part::ModuleDir,
            _ => self,
        }
    }
}

/// Says whether refs of this kind lie in a folder.
fn is_kind(name: &[u8]) -> bool {
    [&b"heads"[..], b"tags", b"remotes", b"evolve"].contains(&name)
}

fn is_of_objects(name: &[u8]) -> bool {
    let is_prefix = name.len() == 2 && name.iter().all(u8::is_ascii_hexdigit);
    is_prefix || name == b"pack" || name == b"info"
}

impl Stood {
    /// Returns the name by which a link is noted that lies in or beside the git directory that others share.
    pub fn name_of(common: &Path, path: &Path) -> String {
        let below = path.strip_prefix(common).unwrap_or(path);
        exact::decode(below.as_os_str().as_bytes())
    }

    /// Says what is wrong with what stands at a path below a git directory; `place` is the shared one, and the one looked
    /// through.
    pub fn wrong(
        &self,
        common: &Path,
        git_dir: &Path,
        path: &Path,
        kind: FileType,
        wanted: Wanted,
    ) -> Option<Wrong> {
        if wanted == Wanted::Anything {
            return None;
        }
        let full = git_dir.join(path);
        let is_wrong = if kind.is_symlink() {
            !self.may_be_link(common, &full)
        } else if kind.is_dir() {
            let is_folder = matches!(wanted, Wanted::Folder | Wanted::Ref | Wanted::Either(_));
            !is_folder && !self.folders.has(full.strip_prefix(common).unwrap_or(&full))
        } else if kind.is_file() {
            return self.wrong_file(&full, wanted);
        } else {
            kind.is_socket()
        };
        is_wrong.then_some(Wrong::Kind)
    }

    fn may_be_link(&self, common: &Path, full: &Path) -> bool {
        let Some(links) = &self.links else {
            return true;
        };
        let Ok(target) = fs::read_link(full) else {
            return false;
        };
        let target = target.as_os_str().as_bytes();
        let Some(was) = links.get(&Stood::name_of(common, full)) else {
            return false;
        };
        let was = exact::encode(was);
        let is_head = full.file_name().is_some_and(|name| name == "HEAD");
        // Any other ref libgit2 would write through such a link.
        was == target || is_head && is_symbolic(&was) && is_symbolic(target)
    }

    fn wrong_file(&self, full: &Path, wanted: Wanted) -> Option<Wrong> {
        let meta = fs::symlink_metadata(full).ok()?;
        let limit = match wanted {
            Wanted::File(limit) | Wanted::Either(limit) => limit,
            Wanted::Head => HEAD,
            Wanted::Packed | Wanted::Index => LIST,
            Wanted::Ref => REF,
            Wanted::Folder => return Some(Wrong::Kind),
            Wanted::Anything => return None,
        };
        if meta.len() > limit {
            return Some(Wrong::Size(meta.len()));
        }
        let is_new = meta.ctime() + SLACK >= self.since;
        let is_readable = match wanted {
            Wanted::Head if is_new => is_head,
            Wanted::Packed if is_new => is_packed_refs,
            Wanted::Index if is_new => is_index,
            _ => return None,
        };
        let bytes = files::read_bounded(full, limit).ok().flatten()?;
        (!is_readable(&bytes)).then_some(Wrong::Kind)
    }

    /// Returns the links that others of git's files lie behind, and that are there no more, each with where it led.
    pub fn lost_links(&self, common: &Path) -> Vec<(PathBuf, PathBuf)> {
        let links = self.links.iter().flatten();
        let counts = |(name, target): &(&String, &String)| {
            let first = name.split('/').next().unwrap_or_default();
            let part = Part::GitDir.child(first.as_bytes());
            part.0 != Wanted::Anything && !is_symbolic(&exact::encode(target))
        };
        let path = |name: &str| PathBuf::from(std::ffi::OsStr::from_bytes(&exact::encode(name)));
        let all = links.filter(counts);
        all.map(|(name, target)| (common.join(path(name)), path(target)))
            .filter(|(link, target)| fs::read_link(link).ok().as_ref() != Some(target))
            .collect()
    }
}

/// Says whether this is where a link leads that stands for another ref, as git made them long ago.
fn is_symbolic(target: &[u8]) -> bool {
    target.starts_with(b"refs/") && !target.split(|byte| *byte == b'/').any(|it| it == b"..")
}

fn is_id(bytes: &[u8]) -> bool {
    bytes.len() == ID && bytes.iter().all(u8::is_ascii_hexdigit)
}

fn is_head(bytes: &[u8]) -> bool {
    let other = bytes.strip_prefix(b"ref:").map(<[u8]>::trim_ascii);
    other.map_or(is_id(bytes.trim_ascii_end()), |it| it.starts_with(b"refs/"))
}

/// Says whether git and libgit2 can read a file of packed refs: comments, then refs, each with what a tag leads to. Where a name stands
/// twice, or out of the order that the file claims, one finds what another does not.
fn is_packed_refs(bytes: &[u8]) -> bool {
    if bytes.last().is_some_and(|last| *last != b'\n') {
        return false;
    }
    let is_sorted = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .is_some_and(|head| head.starts_with(b"#") && head.ends_with(b" sorted "));
    let mut last: &[u8] = b"";
    let mut seen = HashSet::new();
    let mut is_in_order = |name| match is_sorted {
        true => std::mem::replace(&mut last, name) < name,
        false => seen.insert(name),
    };
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.map(<[u8]>::trim_ascii_end);
    let mut is_ref_above = false;
    lines.skip_while(|line| line.starts_with(b"#")).all(|line| {
        let is_peeled = line.strip_prefix(b"^").is_some_and(is_id) && is_ref_above;
        is_ref_above = line.len() > ID + 1 && is_id(&line[..ID]) && line[ID] == b' ';
        is_ref_above && is_in_order(&line[ID + 1..]) || is_peeled
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_git_directory_has_its_kind() {
        for (path, wanted) in [
            ("HEAD", Wanted::File(HEAD)),
            ("index", Wanted::Index),
            ("index.lock", Wanted::File(LIST)),
            ("ORIG_HEAD", Wanted::File(NOTE)),
            ("packed-refs", Wanted::Packed),
            ("refs", Wanted::Folder),
            ("refs/heads", Wanted::Folder),
            ("refs/evolve", Wanted::Folder),
            ("refs/stash", Wanted::Ref),
            ("refs/heads/objects/a", Wanted::Ref),
            ("refs/heads/main.lock", Wanted::File(HEAD)),
            ("logs/HEAD", Wanted::File(LOG)),
            ("logs/refs", Wanted::Folder),
            ("logs/refs/stash", Wanted::File(LOG)),
            ("logs/refs/heads/main", Wanted::Either(LOG)),
            ("objects/ab", Wanted::Folder),
            ("objects/ab/cd", Wanted::Anything),
            ("worktrees/one/HEAD", Wanted::File(HEAD)),
            ("lfs", Wanted::Anything),
            ("annex/objects", Wanted::Anything),
            ("hooks/pre-push", Wanted::Anything),
        ] {
            let mut found = (Wanted::Folder, Part::GitDir);
            for name in path.split('/') {
                found = found.1.child(name.as_bytes());
            }
            assert_eq!(found.0, wanted, "{path}");
        }
    }

    #[test]
    fn packed_refs_are_comments_and_refs_to_the_last_byte() {
        let (id, other) = ("a".repeat(ID), "0123456789".repeat(4));
        for (text, is_readable) in [
            (String::new(), true),
            (
                "# pack-refs with: peeled fully-peeled sorted \n".to_owned(),
                true,
            ),
            (format!("# a\n# b\n{id} refs/heads/main\n"), true),
            (
                format!("{id} refs/tags/v1\n^{other}\n{other} refs/tags/v2\n"),
                true,
            ),
            ("junk\n".to_owned(), false),
            (format!("{id} refs/heads/main"), false),
            (format!("^{id}\n"), false),
            (format!("{id}\n"), false),
            (format!("{id} refs/heads/a\n\n"), false),
            (format!("{id} refs/heads/a\n# late\n"), false),
            (format!("{id} refs/tags/b\n{id} refs/tags/a\n"), true),
            (format!("{id} refs/tags/b\n{other} refs/tags/b\n"), false),
            (
                format!("# pack-refs with: sorted \n{id} refs/tags/b\n{id} refs/tags/a\n"),
                false,
            ),
        ] {
            assert_eq!(is_packed_refs(text.as_bytes()), is_readable, "{text:?}");
        }
    }

    #[test]
    fn a_head_names_a_ref_or_a_commit() {
        let id = "a".repeat(ID);
        for (text, is_readable) in [
            ("ref: refs/heads/main\n".to_owned(), true),
            (format!("{id}\n"), true),
            (String::new(), false),
            ("ref: junk\n".to_owned(), false),
            ("junk".to_owned(), false),
        ] {
            assert_eq!(is_head(text.as_bytes()), is_readable, "{text:?}");
        }
    }
}
