//! Trees and blobs: what differs between two, what content is, and trees built with another ledger. No ref is touched.

use std::path::Path;

use git2::{ErrorCode, FileMode, ObjectType, Oid};

use super::{Repo, broken, oid};
use crate::error::Result;
use crate::model::ledger;

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
    /// Returns the paths in which two trees differ, submodules included.
    pub fn differences(&self, old: &str, new: &str) -> Result<Vec<Difference>> {
        if old == new {
            return Ok(Vec::new());
        }
        let (old, new) = (self.tree(old)?, self.tree(new)?);
        let diff = self
            .inner
            .diff_tree_to_tree(Some(&old), Some(&new), None)
            .map_err(broken("compare trees"))?;
        let entry = |file: git2::DiffFile<'_>| {
            file.exists().then(|| Entry {
                id: file.id().to_string(),
                mode: u32::from(file.mode()),
            })
        };
        Ok(diff
            .deltas()
            .map(|delta| Difference {
                path: delta
                    .new_file()
                    .path_bytes()
                    .or(delta.old_file().path_bytes())
                    .unwrap_or_default()
                    .to_vec(),
                old: entry(delta.old_file()),
                new: entry(delta.new_file()),
            })
            .collect())
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
        let Ok(child) = self.inner.find_tree(entries[index].id) else {
            return Ok(());
        };
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
        match self.tree(tree)?.get_path(Path::new(path)) {
            Ok(entry) => Ok(self
                .inner
                .find_blob(entry.id())
                .ok()
                .map(|blob| blob.content().to_vec())),
            Err(cause) if cause.code() == ErrorCode::NotFound => Ok(None),
            Err(cause) => Err(broken("read a tree")(cause)),
        }
    }

    /// Says whether a tree holds a file at `path`.
    pub fn has_file(&self, tree: &str, path: &str) -> bool {
        self.tree(tree).is_ok_and(|tree| {
            tree.get_path(Path::new(path))
                .is_ok_and(|entry| entry.kind() == Some(ObjectType::Blob))
        })
    }

    /// Returns the files of a tree below the ledger paths, with their ids.
    pub fn ledger_files(&self, tree: &str) -> Result<Vec<(String, Entry)>> {
        let tree = self.tree(tree)?;
        let mut found = Vec::new();
        if let Ok(queue) = tree.get_path(Path::new(ledger::QUEUE)) {
            let mode = u32::try_from(queue.filemode()).unwrap_or(0o100_644);
            found.push((
                ledger::QUEUE.to_owned(),
                Entry {
                    id: queue.id().to_string(),
                    mode,
                },
            ));
        }
        let Some(folder) = tree
            .get_path(Path::new(ledger::FOLDER))
            .ok()
            .and_then(|entry| self.inner.find_tree(entry.id()).ok())
        else {
            return Ok(found);
        };
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
        self.inner
            .find_blob(oid(id)?)
            .map(|blob| blob.content().to_vec())
            .map_err(broken("read a file"))
    }

    /// Stores bytes as a blob.
    pub fn store(&self, bytes: &[u8]) -> Result<String> {
        self.inner
            .blob(bytes)
            .map(|id| id.to_string())
            .map_err(broken("store a file"))
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
        update
            .create_updated(&self.inner, &base)
            .map(|id| id.to_string())
            .map_err(broken("build a tree"))
    }

    /// Returns a tree without what stands, as a file or link, where the ledger's folders have to be.
    fn without_obstacles(&self, content: &str) -> Result<git2::Tree<'_>> {
        let mut tree = self.tree(content)?;
        for folder in ledger::FOLDERS {
            let is_obstacle = |entry: git2::TreeEntry<'_>| entry.kind() != Some(ObjectType::Tree);
            if tree.get_path(Path::new(folder)).is_ok_and(is_obstacle) {
                let mut update = git2::build::TreeUpdateBuilder::new();
                update.remove(folder);
                let without = update
                    .create_updated(&self.inner, &tree)
                    .map_err(broken("build a tree"))?;
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

fn file_mode(mode: u32) -> FileMode {
    match mode {
        0o100_755 => FileMode::BlobExecutable,
        0o120_000 => FileMode::Link,
        _ => FileMode::Blob,
    }
}
