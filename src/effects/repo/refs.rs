//! Refs by their names, which may be any bytes: `model::exact` holds them as text. libgit2's binding takes short names that are
//! UTF-8; the others go through the `git` program. They are listed by their files: libgit2 lists nothing more where one ref lies a
//! hundred folders deep, and waits for ever at a pipe.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use git2::{ErrorCode, Reference};

use super::Repo;
use super::failure::{broken, oid};
use crate::effects::files::{self, Moment};
use crate::error::{Error, Result};
use crate::model::git::whose::OWN;
use crate::model::{digest, exact};

/// How a target begins that is another ref.
pub const SYMBOLIC: &str = "ref:";
/// From how many bytes on libgit2 takes no name.
const LONGEST_NAME: usize = 1024;
/// The ref that holds the commit which the main working tree's slot is on; of a linked one, its name follows.
const OF_SLOT: &str = "refs/evolve/slot";
/// Refs that each working tree has for itself.
const OF_ONE_TREE: [&str; 3] = ["refs/bisect", "refs/worktree", "refs/rewritten"];
/// The most bytes of the file of packed refs: ten million of them.
const PACKED_LIMIT: u64 = 1 << 30;
/// The most bytes of a ref's own file; names are shorter.
const LOOSE_LIMIT: u64 = 8 << 10;

impl Repo {
    /// Returns all refs by name, each with the object it points to, or with the ref as in `ref:refs/heads/main`. Those that
    /// are broken are left out. Names stand for their bytes exactly.
    pub fn all_refs(&self) -> Result<BTreeMap<String, String>> {
        // First, as git does it: it packs a ref before it removes the ref's own file.
        let loose = self.loose_refs()?;
        // Working trees that share a repository by links have one for that file, too.
        let packed = self.common_path("packed-refs");
        let packed = packed.canonicalize().unwrap_or(packed);
        let packed = files::read_bounded(&packed, PACKED_LIMIT)?;
        let packed = packed.unwrap_or_default();
        let lines = packed.split(|byte| *byte == b'\n');
        let mut found: BTreeMap<String, String> = lines.filter_map(packed_ref).collect();
        for (name, target) in loose {
            match target {
                Some(target) => found.insert(name, target),
                // A broken one hides a packed one of its name.
                None => found.remove(&name),
            };
        }
        Ok(found)
    }

    /// Returns the ref that holds the commit which this working tree's slot is on: each tree has a slot, and refs are common to all.
    pub fn slot_ref(&self) -> String {
        slot_ref_of(self.git_dir(), &self.common_path(""))
    }

    /// Says whether a ref is that of another working tree's slot, which a session there writes whenever it likes.
    pub fn is_slot_ref_of_another(&self, name: &str) -> bool {
        name.starts_with(OF_SLOT)
            && name != self.slot_ref()
            && self.slot_refs().any(|slot| slot == name)
    }

    /// Says whether a ref leaves that of a slot no place.
    pub fn is_in_way_of_slot(&self, name: &str) -> bool {
        let is_below = |slot: String| name.starts_with(&format!("{slot}/"));
        name.starts_with(OF_SLOT) && self.slot_refs().any(is_below)
    }

    /// Returns the refs of the slots of all working trees.
    fn slot_refs(&self) -> impl Iterator<Item = String> {
        let common = self.common_path("");
        self.git_dirs()
            .map(move |git_dir| slot_ref_of(&git_dir, &common))
    }

    /// Returns the git directories of all working trees, the main one's first, be it bare.
    pub fn git_dirs(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(self.common_path("")).chain(self.linked_trees())
    }

    /// Returns the names of the remotes, as far as they are text; none where that cannot be told.
    pub fn remotes(&self) -> Vec<String> {
        let names = self.inner.remotes();
        let names = names
            .iter()
            .flat_map(|names| names.iter().flatten().flatten());
        names.map(str::to_owned).collect()
    }

    /// Returns the refs outside the packed ones, with what they point to; with nothing where they are broken.
    fn loose_refs(&self) -> Result<Vec<(String, Option<String>)>> {
        let mut found = Vec::new();
        for (name, path) in self.files_of_refs()? {
            let name = exact::decode(&name);
            let target = match is_name(&name) {
                true => read_loose(&path)?,
                false => Some(None),
            };
            // One that is gone by now is packed, or nowhere.
            found.extend(target.map(|target| (name, target)));
        }
        Ok(found)
    }

    /// Returns name and path of each file that may be a ref, outside the packed ones. Some kinds are of one working tree only.
    fn files_of_refs(&self) -> Result<Vec<(Vec<u8>, PathBuf)>> {
        let common = self.common_path("");
        let is_linked = self.git_dir() != common;
        let mut folders = vec![(b"refs".to_vec(), common.join("refs"))];
        if is_linked {
            let own = |kind: &&str| (kind.as_bytes().to_vec(), self.git_dir().join(kind));
            folders.extend(OF_ONE_TREE.iter().map(own));
        }
        let mut found = Vec::new();
        while let Some((above, folder)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(cause) if is_no_folder(&cause) => continue,
                Err(cause) => return Err(Error::io("read", &folder, cause)),
            };
            for entry in entries {
                let entry = entry.map_err(|cause| Error::io("read", &folder, cause))?;
                let name = [above.as_slice(), b"/", entry.file_name().as_bytes()].concat();
                let is_others = is_linked
                    && above == b"refs"
                    && OF_ONE_TREE.iter().any(|kind| kind.as_bytes() == name);
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !is_others => folders.push((name, entry.path())),
                    Ok(kind) if kind.is_file() || kind.is_symlink() => {
                        found.push((name, entry.path()));
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        Ok(found)
    }

    /// Returns what a ref with a UTF-8 name points to, as in `all_refs`; none if there is no such ref, or it is broken.
    pub fn target_of(&self, name: &str) -> Option<String> {
        let reference = self.inner.find_reference(name).ok()?;
        target(&reference)
    }

    /// Returns where a ref leads that lies beside HEAD and was written since then, in seconds since 1970. Git takes one for another
    /// ref of its name, but for those of its own.
    pub fn root_ref(&self, name: &str, since: i64) -> Option<String> {
        let is_gits = name == "HEAD" || name == "AUTO_MERGE" || name.ends_with("_HEAD");
        if is_gits || name.starts_with("refs/") || name.split('/').any(|part| part == "..") {
            return None;
        }
        self.root_places(name).find_map(|path| {
            let meta = fs::symlink_metadata(&path).ok()?;
            let is_new = meta.ctime() >= since && !meta.is_dir();
            is_new.then(|| loose_ref(&path)).flatten()
        })
    }

    /// Returns the names of all that lies beside HEAD but the folder of refs: where such a ref, or a folder above it, may be.
    pub fn beside_head(&self) -> Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for folder in self.root_places("") {
            let cannot = |cause| Error::io("read", &folder, cause);
            for entry in fs::read_dir(&folder).map_err(cannot)? {
                names.insert(exact::decode(entry.map_err(cannot)?.file_name().as_bytes()));
            }
        }
        names.remove("refs");
        Ok(names)
    }

    /// Removes such a ref.
    pub fn remove_root_ref(&self, name: &str) -> Result<()> {
        let mut places = self.root_places(name);
        places.try_for_each(|path| match loose_ref(&path) {
            Some(_) => files::remove(&path),
            None => Ok(()),
        })
    }

    /// Returns where such a ref would be: of this working tree, and of all.
    fn root_places(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let name = in_bytes(name);
        let shared = self.common_path("");
        let own = self.git_dir().to_owned();
        let is_other = own.components().ne(shared.components());
        let places = [Some(own), is_other.then_some(shared)];
        places
            .into_iter()
            .flatten()
            .map(move |folder| folder.join(&name))
    }

    /// Returns the folder of the other working tree that has this branch checked out, if one is there that does.
    pub fn tree_on(&self, branch: &str) -> Option<PathBuf> {
        self.tree_where(branch, |_| true)
    }

    /// The same of working trees that went to the branch before a moment.
    pub fn tree_on_before(&self, branch: &str, moment: Moment) -> Option<PathBuf> {
        self.tree_where(branch, |head| {
            let meta = fs::symlink_metadata(head);
            meta.is_ok_and(|meta| (meta.ctime(), meta.ctime_nsec()) < moment)
        })
    }

    fn tree_where(&self, branch: &str, is_wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        let common = self.common_path("");
        let is_on = |git_dir: &Path| {
            let place = git_dir.join("HEAD");
            let head = loose_ref(&place);
            let is_on = head.is_some_and(|head| head.strip_prefix(SYMBOLIC) == Some(branch));
            is_on && is_wanted(&place)
        };
        let is_linked = self.git_dir().components().ne(common.components());
        if is_linked
            && !self.inner.is_bare()
            && is_on(&common)
            && let Some(main) = root_of_main(&common)
        {
            return Some(main);
        }
        let mut trees = self.linked_trees().filter(|tree| is_on(tree));
        trees.find_map(|tree| root_of_linked(&tree))
    }

    /// Returns the git directories of linked working trees.
    fn linked_trees(&self) -> impl Iterator<Item = PathBuf> {
        let trees = fs::read_dir(self.common_path("worktrees"));
        trees.into_iter().flatten().flatten().map(|it| it.path())
    }

    /// Returns the roots of the working trees that share this repository's refs and objects, this one among them.
    pub fn working_trees(&self) -> impl Iterator<Item = PathBuf> {
        let main = root_of_main(&self.common_path(""));
        let linked = self.linked_trees().filter_map(|tree| root_of_linked(&tree));
        linked.chain(main).chain([self.root.clone()])
    }

    /// Sets a ref, wherever it was.
    pub fn set_ref(&self, name: &str, target: &str, note: &str) -> Result<()> {
        if let Some(name) = odd(name) {
            let words = ["update-ref", "--no-deref", "-m", note].map(OsString::from);
            return self.call(words, [name, target.into()]);
        }
        // For nothing it would take a lock, and could fail to take that away.
        if self.target_of(name).as_deref() == Some(target) {
            return Ok(());
        }
        self.inner
            .reference(name, oid(target)?, true, note)
            .map_err(self.cannot("write a ref"))?;
        self.clear_lock_of_written(name)
    }

    /// Makes a ref, which must not be there yet.
    pub fn make_ref(&self, name: &str, target: &str, note: &str) -> Result<()> {
        let nothing = "0".repeat(target.len());
        let words = ["update-ref", "--no-deref", "-m", note].map(OsString::from);
        self.call(words, [in_bytes(name), target.into(), nothing.into()])
    }

    /// Makes a ref stand for another.
    pub fn set_symbolic_ref(&self, name: &str, other: &str, note: &str) -> Result<()> {
        if odd(name).is_some() || odd(other).is_some() {
            let words = ["symbolic-ref", "-m", note].map(OsString::from);
            return self.call(words, [name, other].map(in_bytes));
        }
        self.inner
            .reference_symbolic(name, other, true, note)
            .map_err(self.cannot("write a ref"))?;
        self.clear_lock_of_written(name)
    }

    /// Removes a ref; one that is not there is fine.
    pub fn remove_ref(&self, name: &str) -> Result<()> {
        if let Some(name) = odd(name) {
            let words = ["update-ref", "--no-deref", "-d"].map(OsString::from);
            return self.call(words, [name]);
        }
        match self.inner.find_reference(name) {
            Ok(mut reference) => {
                reference.delete().map_err(broken("remove a ref"))?;
                self.remove_own_lock(name)
            }
            Err(cause) if cause.code() == ErrorCode::NotFound => Ok(()),
            Err(cause) => Err(broken("remove a ref")(cause)),
        }
    }

    /// Removes the lock of a ref that nobody else writes, if it outlived the write: libgit2 does not say when it could not
    /// take its lock away (`git_filebuf_cleanup` in its filebuf.c returns nothing).
    fn remove_own_lock(&self, name: &str) -> Result<()> {
        match name.starts_with(OWN) {
            true => files::remove(&self.common_path(&format!("{name}.lock"))),
            false => Ok(()),
        }
    }

    /// Removes the lock of a ref that was written just now, if it outlived that: where it can, libgit2 makes the ref's name a second
    /// one of its lock, and does not look whether the first could be taken away (`p_rename` in its posix.c). Any other lock is
    /// somebody else's.
    pub(super) fn clear_lock_of_written(&self, name: &str) -> Result<()> {
        let path = self.path_of_ref(name);
        self.share_ref(&path);
        let lock = self.path_of_ref(&format!("{name}.lock"));
        let file = |path: &Path| {
            let meta = fs::symlink_metadata(path).ok()?;
            Some((meta.dev(), meta.ino()))
        };
        match file(&lock) {
            Some(left) if file(&path) == Some(left) => files::remove(&lock),
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the file that a ref of this name would be in.
    fn path_of_ref(&self, name: &str) -> PathBuf {
        let is_of = |kind: &&str| name.starts_with(&format!("{kind}/"));
        let above = match name == "HEAD" || OF_ONE_TREE.iter().any(is_of) {
            true => self.git_dir().to_owned(),
            false => self.common_path(""),
        };
        above.join(in_bytes(name))
    }

    /// Removes the file of a ref if it is none, or stands for others in a circle: nothing could be written in its place.
    pub fn remove_broken_ref(&self, name: &str) -> Result<()> {
        let path = self.path_of_ref(name);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_dir());
        let is_broken = || match loose_ref(&path) {
            Some(target) if target.starts_with(SYMBOLIC) => {
                let found = self.inner.find_reference(name);
                found.and_then(|found| found.resolve()).is_err()
            }
            Some(_) => false,
            None => true,
        };
        match is_file && is_broken() {
            true => files::remove(&path),
            false => Ok(()),
        }
    }

    pub(super) fn call(
        &self,
        words: impl IntoIterator<Item = OsString>,
        names: impl IntoIterator<Item = OsString>,
    ) -> Result<()> {
        let arguments: Vec<_> = words.into_iter().chain(names).collect();
        self.git.run(&arguments).map(|_| ())
    }
}

fn target(reference: &Reference<'_>) -> Option<String> {
    match (reference.target(), reference.symbolic_target_bytes()) {
        (Some(id), _) => Some(id.to_string()),
        (None, Some(other)) => Some(format!("{SYMBOLIC}{}", exact::decode(other))),
        (None, None) => None,
    }
}

/// Reads a line of the file of packed refs; none if it is a comment, or the object that a tag leads to.
fn packed_ref(line: &[u8]) -> Option<(String, String)> {
    let space = line.iter().position(|byte| *byte == b' ')?;
    let id = id(&line[..space])?;
    let name = exact::decode(&line[space + 1..]);
    is_name(&name).then_some((name, id))
}

/// Returns where the main working tree is, by its git directory; none of a bare repository.
fn root_of_main(git_dir: &Path) -> Option<PathBuf> {
    let is_in_tree = git_dir.ends_with(".git");
    git_dir.parent().filter(|_| is_in_tree).map(Path::to_owned)
}

/// Returns where a linked working tree is, by its git directory. Of one that somebody removed, git lists what is left.
pub fn root_of_linked(git_dir: &Path) -> Option<PathBuf> {
    let link = files::read_bounded(&git_dir.join("gitdir"), LOOSE_LIMIT).ok()??;
    // As in `/there/.git`.
    let link = git_dir.join(OsStr::from_bytes(link.trim_ascii_end()));
    let root = link.parent().map(Path::to_owned)?;
    root.is_dir().then_some(root)
}

/// Reads the file of a ref; none if it is broken, or is none.
fn loose_ref(path: &Path) -> Option<String> {
    read_loose(path).ok()??
}

/// Reads the file of a ref: what it points to, and nothing where it is broken; none if there is no such file.
fn read_loose(path: &Path) -> Result<Option<Option<String>>> {
    let mut place = path.to_owned();
    if let Ok(other) = fs::read_link(path) {
        // How symbolic refs were made long ago. Any other link git follows.
        let other = other.as_os_str().as_bytes();
        if other.starts_with(b"refs/") {
            return Ok(Some(Some(format!("{SYMBOLIC}{}", exact::decode(other)))));
        }
        let Ok(end) = path.canonicalize() else {
            return Ok(Some(None));
        };
        place = end;
    }
    let bytes = match files::read_bounded(&place, LOOSE_LIMIT) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(None),
        Err(cause) if cause.is_of_machine() => return Err(cause),
        Err(_) => return Ok(Some(None)),
    };
    Ok(Some(match bytes.strip_prefix(SYMBOLIC.as_bytes()) {
        Some(other) => Some(format!("{SYMBOLIC}{}", exact::decode(other.trim_ascii()))),
        // What stands behind a blank git does not read.
        None => bytes.split(u8::is_ascii_whitespace).next().and_then(id),
    }))
}

/// Says whether there is no such folder, or something else in its place.
fn is_no_folder(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Returns an object's id, written out in full.
pub(super) fn id(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let is_id = text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_owned())
}

/// Says whether git takes this for a ref's name: part by part, because libgit2 takes none that is long.
fn is_name(name: &str) -> bool {
    // What a byte beyond ASCII is has no part in it.
    let name = exact::shown(name).replace(r"\x", "x");
    name.starts_with("refs/")
        && name
            .split('/')
            .all(|part| Reference::is_valid_name(&format!("refs/{part}")))
}

/// Returns a name's bytes if libgit2 does not take it: it is not UTF-8, or too long.
pub(super) fn odd(name: &str) -> Option<OsString> {
    (exact::is_odd(name) || name.len() >= LONGEST_NAME).then(|| in_bytes(name))
}

pub(super) fn in_bytes(name: &str) -> OsString {
    OsString::from_vec(exact::encode(name))
}

/// Returns the ref of the slot of a working tree, which its git directory tells: the main one's has no name. One that no ref can have is
/// told by its digest.
fn slot_ref_of(git_dir: &Path, common: &Path) -> String {
    let is_linked = git_dir.components().ne(common.components());
    let Some(name) = git_dir.file_name().filter(|_| is_linked) else {
        return OF_SLOT.to_owned();
    };
    let named = format!("{OF_SLOT}-{}", exact::decode(name.as_bytes()));
    match Reference::is_valid_name(&named) {
        true => named,
        false => format!("{OF_SLOT}-{}", digest::full(name.as_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn repository() -> (tempfile::TempDir, Repo) {
        let folder = tempfile::tempdir().expect("a folder");
        git(folder.path(), &["init", "-q", "."]);
        let words = "-c user.name=t -c user.email=t@example.invalid commit -q --allow-empty -m x";
        git(folder.path(), &words.split(' ').collect::<Vec<_>>());
        let repo = Repo::discover(folder.path()).expect("it opens");
        (folder, repo)
    }

    fn git(folder: &Path, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(folder);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
    }

    #[test]
    fn a_ref_does_not_go_back_in_time_while_git_packs_it() {
        const MOVEMENTS: usize = 40;
        let (folder, repo) = repository();
        // To walk through these takes long enough for git to get ahead.
        for number in 0..2000 {
            let empty = repo.common_path(&format!("refs/tags/empty/{number}"));
            fs::create_dir_all(empty).expect("it is made");
        }
        let blob = |number: usize| {
            let id = repo.inner.blob(number.to_string().as_bytes());
            id.expect("it is stored").to_string()
        };
        let targets: Vec<String> = (0..=MOVEMENTS).map(blob).collect();
        git(folder.path(), &["update-ref", "refs/tags/t", &targets[0]]);
        let reached = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for (number, target) in targets.iter().enumerate().skip(1) {
                    git(folder.path(), &["update-ref", "refs/tags/t", target]);
                    reached.store(number, Ordering::SeqCst);
                    git(folder.path(), &["pack-refs", "--all"]);
                }
            });
            while reached.load(Ordering::SeqCst) < MOVEMENTS {
                let before = reached.load(Ordering::SeqCst);
                let refs = repo.all_refs().expect("they are listed");
                let found = refs.get("refs/tags/t");
                let now = targets.iter().position(|target| Some(target) == found);
                assert!(now.is_some_and(|now| now >= before), "{before}: {now:?}");
            }
        });
    }

    #[test]
    fn refs_that_cannot_be_listed_are_not_taken_for_gone() {
        let (_folder, repo) = repository();
        let refs = repo.common_path("refs");
        fs::rename(&refs, repo.common_path("away")).expect("it is moved");
        assert_eq!(repo.all_refs().expect("there are none"), BTreeMap::new());
        std::os::unix::fs::symlink("refs", &refs).expect("it is made");
        assert!(repo.all_refs().is_err());
    }
}
