//! What a slot takes over of the repository it belongs to, and how a slot's work is brought together with work of others.

use std::fs;
use std::io::ErrorKind::NotFound;
use std::os::unix::fs::PermissionsExt;

use git2::{ConfigLevel, ErrorCode, ObjectType};

use super::failure::{broken, oid};
use super::{Repo, SYMBOLIC};
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::git::config;

/// Settings of a repository that a slot has, too: whose commits they are, and how files are read and written. Where work comes
/// from and goes to (`remote`, `branch`, `url`) and what would run by itself is left behind.
const COPIED: [&str; 16] = [
    "user.",
    "author.",
    "committer.",
    "filter.",
    "lfs.",
    "diff.",
    "merge.",
    "i18n.",
    "submodule.",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.symlinks",
    "core.filemode",
    "core.ignorecase",
    "core.attributesfile",
];

/// The hooks that can refuse a commit or change it.
const COMMIT_HOOKS: [&str; 3] = ["pre-commit", "prepare-commit-msg", "commit-msg"];

/// What bringing two lines of work together came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// A commit with both.
    Clean(String),
    /// Both changed these paths, and not alike.
    Conflict(Vec<String>),
}

impl Repo {
    /// Returns the settings that a slot of this repository has, too, as name and value.
    pub fn copied_settings(&self) -> Result<Vec<config::Setting>> {
        let what = "read the configuration";
        let whole = self.inner.config().map_err(broken(what))?;
        let mut found = Vec::new();
        // A linked working tree has settings of its own, which go before the common ones.
        for level in [ConfigLevel::Local, ConfigLevel::Worktree] {
            let local = match whole.open_level(level) {
                Ok(local) => local,
                Err(cause) if cause.code() == ErrorCode::NotFound => continue,
                Err(cause) => return Err(broken(what)(cause)),
            };
            let entries = local.entries(None).map_err(broken(what))?;
            let add = |entry: &git2::ConfigEntry<'_>| {
                if let (Ok(name), true) = (entry.name(), entry.has_value())
                    && let Ok(value) = entry.value()
                    && COPIED.iter().any(|copied| name.starts_with(copied))
                {
                    found.push((name.to_owned(), Some(value.to_owned())));
                }
            };
            entries.for_each(add).map_err(broken(what))?;
        }
        Ok(found)
    }

    /// Names the hooks of this repository alone that a commit runs, and that no slot has.
    pub fn commit_hooks(&self) -> Vec<&'static str> {
        let config = self.inner.config().and_then(|mut config| config.snapshot());
        let set = config.ok().and_then(|config| {
            let level = config.get_entry("core.hookspath").ok()?.level();
            Some((level, config.get_path("core.hookspath").ok()?))
        });
        let folder = match set {
            None => self.common_path("hooks"),
            Some((ConfigLevel::Local | ConfigLevel::Worktree, path)) => self.root.join(path),
            // Slots have the user's other settings, too.
            Some(_) => return Vec::new(),
        };
        let is_active = |name: &&str| {
            let meta = fs::metadata(folder.join(name));
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        COMMIT_HOOKS.into_iter().filter(is_active).collect()
    }

    /// Returns the branches, remote branches and tags that a slot of this repository has, too, as name and id.
    pub fn copied_refs(&self) -> Result<Vec<(String, String)>> {
        const KINDS: [&str; 3] = ["refs/heads/", "refs/tags/", "refs/remotes/"];
        let is_copied = |(name, target): &(String, String)| {
            let is_of_kind = KINDS.iter().any(|kind| name.starts_with(kind));
            is_of_kind && !target.starts_with(SYMBOLIC) && !exact::is_odd(name)
        };
        Ok(self.all_refs()?.into_iter().filter(is_copied).collect())
    }

    /// Says whether an object is there; for what is lost if it is taken for missing, ask `find_object`.
    pub fn has_object(&self, id: &str) -> bool {
        let odb = self.inner.odb();
        odb.is_ok_and(|odb| oid(id).is_ok_and(|id| odb.exists(id)))
    }

    /// Says whether the id of an object that is there begins so.
    pub fn has_prefix(&self, start: &str) -> bool {
        let (Ok(odb), Ok(id)) = (self.inner.odb(), git2::Oid::from_str(start)) else {
            return false;
        };
        odb.exists_prefix(id, start.len()).is_ok()
    }

    /// Says whether an object is there. Where the folders of objects cannot be looked into, that is an error.
    pub fn find_object(&self, id: &str) -> Result<bool> {
        let what = "look for an object";
        let odb = self.inner.odb().map_err(broken(what))?;
        match odb.read_header(oid(id)?) {
            Ok(_) => return Ok(true),
            Err(cause) if cause.code() != ErrorCode::NotFound => return Err(broken(what)(cause)),
            Err(_) => {}
        }
        // Git's library takes a folder that it cannot look into for an empty one.
        let objects = self.common_path("objects");
        let (folder, name) = id.split_at(2.min(id.len()));
        let loose = objects.join(folder).join(name);
        let looked = [
            (fs::symlink_metadata(&loose).map(drop), loose),
            (
                fs::read_dir(objects.join("pack")).map(drop),
                objects.join("pack"),
            ),
        ];
        for (found, path) in looked {
            match found {
                Ok(()) => {}
                Err(cause) if cause.kind() == NotFound => {}
                Err(cause) => return Err(Error::io("read", &path, cause)),
            }
        }
        Ok(false)
    }

    /// Says whether an id is that of a commit that is there.
    pub fn find_commit(&self, id: &str) -> Result<bool> {
        let Some(known) = oid(id).ok().filter(|known| known.to_string() == id) else {
            return Ok(false);
        };
        if !self.find_object(id)? {
            return Ok(false);
        }
        let found = self.inner.find_object(known, None);
        let found = found.map_err(broken("read a commit"))?;
        Ok(found.kind() == Some(ObjectType::Commit))
    }

    /// Brings the commit `theirs` together with `ours` and stores the result, with both as its parents. Of the ledger it has
    /// what `ours` has.
    pub fn merge(&self, ours: &str, theirs: &str, message: &str) -> Result<Merged> {
        let what = "merge";
        let base = self
            .inner
            .merge_base(oid(ours)?, oid(theirs)?)
            .map_err(broken(what))?;
        let tree = self.tree_of(ours)?;
        let ledger = self.ledger_files(&tree)?;
        let with_ledger = |commit: &str| -> Result<git2::Tree<'_>> {
            self.tree(&self.with_ledger(&self.tree_of(commit)?, &ledger)?)
        };
        let (base, theirs_tree) = (with_ledger(&base.to_string())?, with_ledger(theirs)?);
        let mut index = self
            .inner
            .merge_trees(&base, &self.tree(&tree)?, &theirs_tree, None)
            .map_err(broken(what))?;
        if index.has_conflicts() {
            let conflicts = index.conflicts().map_err(broken(what))?;
            let path = |one: git2::IndexConflict| {
                let entry = one.our.or(one.their).or(one.ancestor)?;
                Some(String::from_utf8_lossy(&entry.path).into_owned())
            };
            let mut paths: Vec<String> = conflicts.flatten().filter_map(path).collect();
            paths.dedup();
            return Ok(Merged::Conflict(paths));
        }
        let tree = index.write_tree_to(&self.inner).map_err(broken(what))?;
        let tree = self.tree(&tree.to_string())?;
        let parents = [self.commit(ours)?, self.commit(theirs)?];
        let merged = self.write_commit(&tree, &parents.each_ref(), message)?;
        Ok(Merged::Clean(merged))
    }
}
