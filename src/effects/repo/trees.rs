//! Trees and blobs: what differs between two, what content is, and trees built with another ledger. No ref is touched.

use std::cmp::Ordering;
use std::path::Path;

use git2::{FileMode, ObjectType, Oid};

use super::Repo;
use super::commits::twice;
use super::failure::{broken, oid};
use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::ledger;

/// The part of a mode that says what an entry is: a file, a link, a folder or a submodule.
const KIND: i32 = 0o170_000;
/// The mode of a folder.
const FOLDER: i32 = 0o040_000;

/// One path that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The path below the root, as git stores it.
    pub path: Vec<u8>,
    /// The entry in the old tree.
    pub old: Option<Entry>,
    /// The entry in the new tree.
    pub new: Option<Entry>,
}

/// A file as a tree holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The object's id.
    pub id: String,
    /// The file mode: 0o100644, 0o100755, 0o120000 (link) or 0o160000 (submodule).
    pub mode: u32,
}

impl Repo {
    /// Returns the paths in which two trees differ, submodules included, in git's order. A path that is of another type now,
    /// such as a link that was a file, is listed as gone and as new.
    pub fn differences(&self, old: &str, new: &str) -> Result<Vec<Difference>> {
        let mut found = Vec::new();
        self.compare(&mut found, &[], Some(oid(old)?), Some(oid(new)?))?;
        Ok(found)
    }

    /// Lists the files and submodules of a commit, in git's order.
    pub fn files_of(&self, commit: &str) -> Result<Vec<(Vec<u8>, Entry)>> {
        let mut found = Vec::new();
        self.compare(&mut found, &[], None, Some(oid(&self.tree_of(commit)?)?))?;
        let files = found.into_iter();
        Ok(files
            .filter_map(|one| one.new.map(|new| (one.path, new)))
            .collect())
    }

    /// Compares two versions of a folder. Only the folders below it that differ are read: libgit2's own comparison reads
    /// all of them, which takes longer than a status in a large repository.
    pub(super) fn compare(
        &self,
        found: &mut Vec<Difference>,
        folder: &[u8],
        old: Option<Oid>,
        new: Option<Oid>,
    ) -> Result<()> {
        if old == new {
            return Ok(());
        }
        let (mut old, mut new) = (self.listed(old)?.peekable(), self.listed(new)?.peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some(new)) => old.place().cmp(&new.place()),
            };
            let was = old.next_if(|_| order.is_le());
            let is = new.next_if(|_| order.is_ge());
            let Some(any) = was.as_ref().or(is.as_ref()) else {
                continue;
            };
            let path = [folder, &any.name].concat();
            if any.is_tree() {
                let (old, new) = (was.map(|tree| tree.id), is.map(|tree| tree.id));
                self.compare(found, &[&path[..], b"/"].concat(), old, new)?;
                continue;
            }
            let (was, is) = (was.map(Entry::from), is.map(Entry::from));
            let pairs = match (was, is) {
                (was, is) if was == is => continue,
                (Some(was), Some(is)) if was.kind() != is.kind() => {
                    vec![(Some(was), None), (None, Some(is))]
                }
                pair => vec![pair],
            };
            found.extend(pairs.into_iter().map(|(old, new)| Difference {
                path: path.clone(),
                old,
                new,
            }));
        }
    }

    fn listed(&self, tree: Option<Oid>) -> Result<std::vec::IntoIter<TreeEntry>> {
        let entries = match tree {
            Some(id) => {
                let tree = self.inner.find_tree(id).map_err(broken("read a tree"))?;
                self.entries(&tree)
            }
            None => Vec::new(),
        };
        Ok(entries.into_iter())
    }

    /// Returns the digest of a tree's content: the tree without the ledger paths. Writes nothing.
    pub fn content(&self, tree: &str) -> Result<String> {
        let mut entries = self.entries(&self.tree(tree)?);
        self.replace_child(&mut entries, ".agents", |repo, agents| {
            agents.retain(|entry| entry.name != b"evolve");
            repo.replace_child(agents, "rpi", |_, rpi| {
                rpi.retain(|entry| entry.name != b"next-work.jsonl");
                Ok(())
            })
        })?;
        hash_tree(&entries).map(|id| id.to_string())
    }

    fn entries(&self, tree: &git2::Tree<'_>) -> Vec<TreeEntry> {
        tree.iter()
            .map(|entry| TreeEntry {
                mode: entry.filemode_raw(),
                name: entry.name_bytes().to_vec(),
                id: entry.id(),
            })
            .collect()
    }

    /// Changes the subtree called `name` with `change`; drops it if nothing is left in it.
    fn replace_child(
        &self,
        entries: &mut Vec<TreeEntry>,
        name: &str,
        change: impl FnOnce(&Repo, &mut Vec<TreeEntry>) -> Result<()>,
    ) -> Result<()> {
        let Some(index) = entries
            .iter()
            .position(|entry| entry.name == name.as_bytes())
        else {
            return Ok(());
        };
        if !entries[index].is_tree() {
            return Ok(());
        }
        let child = self.inner.find_tree(entries[index].id);
        let child = child.map_err(broken("read a tree"))?;
        let mut children = self.entries(&child);
        change(self, &mut children)?;
        if children.is_empty() {
            entries.remove(index);
        } else {
            entries[index].id = hash_tree(&children)?;
        }
        Ok(())
    }

    /// Returns the bytes of a file in a tree; none if it is not there or no file.
    pub fn file(&self, tree: &str, path: &str) -> Result<Option<Vec<u8>>> {
        let id = self.id_to_read(tree, path)?;
        id.map(|id| self.blob_of(id)).transpose()
    }

    /// Returns the id of the file that a tree has at a path, to read it: what is too large is refused.
    pub(super) fn id_to_read(&self, tree: &str, path: &str) -> Result<Option<Oid>> {
        let entry = self.entry_at(&self.tree(tree)?, path.as_bytes())?;
        let entry = entry.filter(|entry| entry.kind() == Some(ObjectType::Blob));
        if let Some(entry) = &entry {
            self.refuse_large(entry.id(), path)?;
        }
        Ok(entry.map(|entry| entry.id()))
    }

    /// Returns what a tree has at a path, if anything. A folder on the way that is there and cannot be read is an error, and no
    /// empty one: whoever goes by this would take away what is in it.
    fn entry_at(
        &self,
        tree: &git2::Tree<'_>,
        path: &[u8],
    ) -> Result<Option<git2::TreeEntry<'static>>> {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        let mut parts = path.splitn(2, |byte| *byte == b'/');
        let name = parts.next().unwrap_or_default();
        let rest = parts.next();
        // Git has no name with such a byte.
        let named = |name: &[u8]| tree.get_name_bytes(name);
        let Some(entry) = Some(name).filter(|it| !it.contains(&0)).and_then(named) else {
            return Ok(None);
        };
        match rest {
            None => Ok(Some(entry.to_owned())),
            Some(rest) if entry.kind() == Some(ObjectType::Tree) => {
                let folder = self.inner.find_tree(entry.id());
                self.entry_at(&folder.map_err(broken("read a tree"))?, rest)
            }
            Some(_) => Ok(None),
        }
    }

    /// Returns the bytes of a file. One that is there and cannot be read is an error, and no empty one.
    pub(super) fn blob_of(&self, id: Oid) -> Result<Vec<u8>> {
        let blob = self.inner.find_blob(id);
        let blob = blob.map_err(broken("read a file"))?;
        Ok(blob.content().to_vec())
    }

    /// Refuses a file of the ledger that is larger than what is read of it, before it is in memory.
    fn refuse_large(&self, id: Oid, path: &str) -> Result<()> {
        let header = self.inner.odb().and_then(|odb| odb.read_header(id));
        let Ok((bytes, _)) = header else {
            return Ok(());
        };
        match ledger::too_large(path, bytes as u64) {
            Some(why) if ledger::is_ledger_path(path.as_bytes()) => {
                Err(Error::internal(why).hint(files::TOO_LARGE))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Says whether a tree holds a file at `path`.
    pub fn has_file(&self, tree: &str, path: &str) -> Result<bool> {
        let entry = self.entry_at(&self.tree(tree)?, path.as_bytes())?;
        Ok(entry.is_some_and(|entry| entry.kind() == Some(ObjectType::Blob)))
    }

    /// Says whether a tree holds a file at `path`, or cannot be asked: for whoever takes away or lets go what none holds.
    pub fn may_have_file(&self, tree: &str, path: &str) -> bool {
        self.has_file(tree, path).unwrap_or(true)
    }

    /// Says whether a tree holds a folder at `path`.
    pub fn is_folder(&self, tree: &str, path: &[u8]) -> Result<bool> {
        let entry = self.entry_at(&self.tree(tree)?, path)?;
        Ok(entry.is_some_and(|entry| entry.kind() == Some(ObjectType::Tree)))
    }

    /// Returns the id of what stands at `path` in a tree.
    pub fn id_at(&self, tree: &str, path: impl AsRef<[u8]>) -> Result<Option<String>> {
        let entry = self.entry_at(&self.tree(tree)?, path.as_ref())?;
        Ok(entry.map(|entry| entry.id().to_string()))
    }

    /// Returns the ids of a tree's ledger, by which it is known whether two are the same.
    pub fn ledger_ids(&self, tree: &str) -> Result<[Option<String>; 2]> {
        let tree = self.tree(tree)?;
        let id = |path: &str| -> Result<Option<String>> {
            let entry = self.entry_at(&tree, path.as_bytes())?;
            Ok(entry.map(|entry| entry.id().to_string()))
        };
        Ok([id(ledger::FOLDER)?, id(ledger::QUEUE)?])
    }

    /// Returns the files of a tree below the ledger paths, with their ids.
    pub fn ledger_files(&self, tree: &str) -> Result<Vec<(String, Entry)>> {
        let tree = self.tree(tree)?;
        let mut found = Vec::new();
        if let Some(queue) = self.entry_at(&tree, ledger::QUEUE.as_bytes())? {
            let mode = u32::try_from(queue.filemode()).unwrap_or(0o100_644);
            found.push((
                ledger::QUEUE.to_owned(),
                Entry {
                    id: queue.id().to_string(),
                    mode,
                },
            ));
        }
        let folder = self.entry_at(&tree, ledger::FOLDER.as_bytes())?;
        let folder = folder.filter(|entry| entry.kind() == Some(ObjectType::Tree));
        let Some(folder) = folder else {
            return Ok(found);
        };
        let folder = self.inner.find_tree(folder.id());
        let folder = folder.map_err(broken("read a tree"))?;
        folder
            .walk(git2::TreeWalkMode::PreOrder, |parent, entry| {
                if entry.kind() != Some(ObjectType::Tree)
                    && let Ok(name) = entry.name()
                {
                    let mode = u32::try_from(entry.filemode()).unwrap_or(0o100_644);
                    let path = format!("{}/{parent}{name}", ledger::FOLDER);
                    found.push((
                        path,
                        Entry {
                            id: entry.id().to_string(),
                            mode,
                        },
                    ));
                }
                git2::TreeWalkResult::Ok
            })
            .map_err(broken("read a tree"))?;
        Ok(found)
    }

    /// Returns the bytes of a blob.
    pub fn blob(&self, id: &str) -> Result<Vec<u8>> {
        self.blob_of(oid(id)?)
    }

    /// Stores bytes as a blob.
    pub fn store(&self, bytes: &[u8]) -> Result<String> {
        twice(|| self.inner.blob(bytes))
            .map(|id| id.to_string())
            .map_err(self.cannot("store a file"))
    }

    /// Builds a tree that has the content of `content`, and of the ledger paths exactly `files`.
    pub fn with_ledger(&self, content: &str, files: &[(String, Entry)]) -> Result<String> {
        let base = self.without_obstacles(content)?;
        let mut update = git2::build::TreeUpdateBuilder::new();
        for (path, _) in self.ledger_files(&base.id().to_string())? {
            if !files.iter().any(|(kept, _)| *kept == path) {
                update.remove(path);
            }
        }
        for (path, entry) in files {
            update.upsert(path.as_str(), oid(&entry.id)?, file_mode(entry.mode));
        }
        twice(|| update.create_updated(&self.inner, &base))
            .map(|id| id.to_string())
            .map_err(self.cannot("build a tree"))
    }

    /// Builds a tree that has the new version of each of these files, and is `base` otherwise.
    pub fn with_files(&self, base: &str, changed: &[Difference]) -> Result<String> {
        let base = self.tree(base)?;
        let mut update = git2::build::TreeUpdateBuilder::new();
        for one in changed {
            if let Some(new) = &one.new {
                update.upsert(one.path.as_slice(), oid(&new.id)?, file_mode(new.mode));
            }
        }
        twice(|| update.create_updated(&self.inner, &base))
            .map(|id| id.to_string())
            .map_err(self.cannot("build a tree"))
    }

    /// Builds a tree that differs from `base` in exactly these files: in their new version, or gone.
    pub fn with_changes(&self, base: &str, changed: &[(Vec<u8>, Option<Entry>)]) -> Result<String> {
        // First what is gone: a file may stand where a folder was, or a folder where a file was.
        let mut gone = git2::build::TreeUpdateBuilder::new();
        let mut new = git2::build::TreeUpdateBuilder::new();
        for (path, entry) in changed {
            match entry {
                Some(entry) => new.upsert(path.as_slice(), oid(&entry.id)?, file_mode(entry.mode)),
                None => gone.remove(path.as_slice()),
            };
        }
        let told = || self.cannot("build a tree");
        let left = gone.create_updated(&self.inner, &self.tree(base)?);
        let left = self.tree(&left.map_err(told())?.to_string())?;
        let whole = new.create_updated(&self.inner, &left).map_err(told())?;
        Ok(whole.to_string())
    }

    /// Returns a tree without what stands, as a file or link, where the ledger's folders have to be.
    fn without_obstacles(&self, content: &str) -> Result<git2::Tree<'_>> {
        let mut tree = self.tree(content)?;
        for folder in ledger::FOLDERS {
            let is_obstacle = |entry: git2::TreeEntry<'_>| entry.kind() != Some(ObjectType::Tree);
            if self
                .entry_at(&tree, folder.as_bytes())?
                .is_some_and(is_obstacle)
            {
                let mut update = git2::build::TreeUpdateBuilder::new();
                update.remove(folder);
                let without = update
                    .create_updated(&self.inner, &tree)
                    .map_err(self.cannot("build a tree"))?;
                tree = self
                    .inner
                    .find_tree(without)
                    .map_err(broken("read a tree"))?;
            }
        }
        Ok(tree)
    }
}

/// An entry of a tree object.
struct TreeEntry {
    mode: i32,
    name: Vec<u8>,
    id: Oid,
}

impl TreeEntry {
    fn is_tree(&self) -> bool {
        self.mode & KIND == FOLDER
    }

    /// Returns what git sorts entries by: a folder's name as if it ended with a slash.
    fn place(&self) -> Vec<u8> {
        let slash: &[u8] = if self.is_tree() { b"/" } else { b"" };
        [&self.name, slash].concat()
    }
}

impl From<TreeEntry> for Entry {
    fn from(entry: TreeEntry) -> Entry {
        let mode = match entry.mode & KIND {
            // Old programs wrote other modes of files, too.
            0o100_000 if entry.mode & 0o100 == 0 => 0o100_644,
            0o100_000 => 0o100_755,
            kind => kind,
        };
        Entry {
            id: entry.id.to_string(),
            mode: mode.unsigned_abs(),
        }
    }
}

impl Entry {
    /// Says whether it is a plain file or a link.
    pub fn is_file(&self) -> bool {
        matches!(self.kind(), 0o100_000 | 0o120_000)
    }

    /// Says whether it is a link.
    pub fn is_link(&self) -> bool {
        self.kind() == 0o120_000
    }

    /// Returns what it is, apart from whether it can be executed.
    fn kind(&self) -> u32 {
        self.mode & KIND.unsigned_abs()
    }
}

/// Returns the id that a tree of these entries has, without storing it.
fn hash_tree(entries: &[TreeEntry]) -> Result<Oid> {
    let mut bytes = Vec::new();
    for entry in entries {
        bytes.extend_from_slice(format!("{:o} ", entry.mode).as_bytes());
        bytes.extend_from_slice(&entry.name);
        bytes.push(0);
        bytes.extend_from_slice(entry.id.as_bytes());
    }
    Oid::hash_object(ObjectType::Tree, &bytes).map_err(broken("hash a tree"))
}

/// Returns the id that a blob of these bytes has, without storing it.
pub fn hash_blob(bytes: &[u8]) -> String {
    Oid::hash_object(ObjectType::Blob, bytes)
        .map(|id| id.to_string())
        .unwrap_or_default()
}

/// Returns the id that a file has as it is, however large; none if it cannot be read.
pub fn hash_file(file: &Path) -> Option<String> {
    let id = Oid::hash_file(ObjectType::Blob, file).ok()?;
    Some(id.to_string())
}

fn file_mode(mode: u32) -> FileMode {
    match mode {
        0o100_755 => FileMode::BlobExecutable,
        0o120_000 => FileMode::Link,
        _ => FileMode::Blob,
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const CHANGES: &str = "
        set -e
        git init -q . && git config user.name t && git config user.email t@example.invalid
        mkdir -p a b/c d same/deep
        for file in a/x a.b a-b b/c/y d/z mode link file same/deep/file gone; do echo $file >$file; done
        ln -s a/x turns
        git add -A && git update-index --add --cacheinfo 160000,$(printf %040d 1),module
        git update-index --add --cacheinfo 160000,$(printf %040d 1),moved && git commit -qm old
        rm -r a b/c && echo file >a && echo file >b/c
        rm link && ln -s a link && rm turns && echo file >turns && chmod +x mode && rm gone
        rm file && mkdir file && echo x >file/x && echo more >>d/z && echo new >d/new
        git add -A && git update-index --add --cacheinfo 160000,$(printf %040d 1),module
        git update-index --add --cacheinfo 160000,$(printf %040d 2),moved && git commit -qm new";

    #[test]
    fn the_differences_of_two_trees_are_those_that_git_lists() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(folder.path());
            command
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .env("GIT_CONFIG_NOSYSTEM", "1");
            let output = command.output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            String::from_utf8(output.stdout).expect("UTF-8")
        };
        run("sh", &["-c", CHANGES]);
        let repo = Repo::discover(folder.path()).expect("a repository");
        let id = |name: &str| run("git", &["rev-parse", name]).trim().to_owned();
        let (old, new) = (id("HEAD~^{tree}"), id("HEAD^{tree}"));
        let compare = [
            "diff-tree",
            "-r",
            "--no-renames",
            "--full-index",
            &old,
            &new,
        ];
        // As in `:100644 120000 <id> <id> T<tab>path`; a change of type is two lines of ours.
        let none = "0".repeat(40);
        let mut listed = Vec::new();
        for line in run("git", &compare).lines() {
            let words: Vec<&str> = line[1..].split_whitespace().collect();
            let side = |mode: &str, id: &str| (id != none).then(|| format!("{mode} {id}"));
            let (was, is) = (side(words[0], words[2]), side(words[1], words[3]));
            match words[4] {
                "T" => listed.extend([
                    (words[5].to_owned(), was, None),
                    (words[5].to_owned(), None, is),
                ]),
                _ => listed.push((words[5].to_owned(), was, is)),
            }
        }
        let shown = |entry: Option<Entry>| entry.map(|one| format!("{:06o} {}", one.mode, one.id));
        let found = repo
            .differences(&old, &new)
            .expect("differences")
            .into_iter();
        let found: Vec<_> = found
            .map(|one| {
                (
                    String::from_utf8(one.path).expect("UTF-8"),
                    shown(one.old),
                    shown(one.new),
                )
            })
            .collect();
        assert_eq!(found, listed);
        let is_new =
            |one: &Difference| one.old.is_none() && one.new.as_ref().is_some_and(Entry::is_file);
        let (at, added) = (
            id("HEAD~:same"),
            repo.differences(&old, &new).expect("differences"),
        );
        let added: Vec<_> = added.into_iter().filter(is_new).collect();
        let built = repo.with_files(&at, &added).expect("a tree");
        assert_eq!(repo.differences(&at, &built).expect("differences"), added);
        assert_eq!(found.len(), 15, "{found:?}");
    }
}
