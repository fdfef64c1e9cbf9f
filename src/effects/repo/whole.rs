//! Whether what a ref leads to is there in whole: an agent can damage or remove the objects that it has made, and write
//! anything into HEAD and refs.

use std::collections::HashSet;
use std::fs;

use git2::{ErrorCode, ObjectType, Odb, Oid};

use super::failure::{broken, oid};
use super::{Repo, SUBMODULE};
use crate::error::{Error, OBJECTS_WAY_OUT, Result};
use crate::model::text;

/// The largest object that is read to see whether it is whole; of a larger one it is seen that it is there.
const READ_LIMIT: usize = 64 << 20;

/// What a ref leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing: there is no such ref, or HEAD is on a branch without a commit.
    Nowhere,
    /// A commit that is there with all that came with it.
    Whole(String),
    /// Nothing that git could read.
    Broken,
}

impl Repo {
    /// Says what a ref leads to. Of what `since` has nothing is read.
    pub fn standing(&self, name: &str, since: &str) -> Result<Standing> {
        let is_head = name == "HEAD";
        let found = match self.inner.find_reference(name) {
            Ok(found) => found,
            Err(cause) if cause.code() == ErrorCode::NotFound && !is_head => {
                return Ok(Standing::Nowhere);
            }
            Err(cause) => return broken_unless_machine(broken("read a ref")(cause)),
        };
        let leads_to = found.symbolic_target_bytes();
        if leads_to.is_some_and(|target| !target.starts_with(b"refs/")) {
            return Ok(Standing::Broken);
        }
        match found.peel_to_commit() {
            Ok(commit) => {
                let commit = commit.id().to_string();
                Ok(match self.is_whole(&commit, since)? {
                    true => Standing::Whole(commit),
                    false => Standing::Broken,
                })
            }
            Err(_) if is_head && self.is_unborn() => Ok(Standing::Nowhere),
            Err(cause) => broken_unless_machine(broken("read a ref")(cause)),
        }
    }

    fn is_unborn(&self) -> bool {
        let head = self.inner.head();
        head.is_err_and(|cause| cause.code() == ErrorCode::UnbornBranch)
    }

    /// Says whether an object is there and a commit.
    pub fn is_commit(&self, id: &str) -> bool {
        oid(id).is_ok_and(|id| self.inner.find_commit(id).is_ok())
    }

    /// Says whether a commit is there with all that it and those before it brought that `since` does not have.
    pub fn is_whole(&self, commit: &str, since: &str) -> Result<bool> {
        is_read(self.read_new(commit, since))
    }

    fn read_new(&self, commit: &str, since: &str) -> Result<()> {
        let what = "read new commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        walk.push(oid(commit)?).map_err(broken(what))?;
        walk.hide(oid(since)?).map_err(broken(what))?;
        let is_partial = self.is_partial();
        let mut known = HashSet::new();
        for id in walk {
            let commit = self.inner.find_commit(id.map_err(broken(what))?);
            let commit = commit.map_err(broken(what))?;
            if is_partial {
                // Its trees and files may lie elsewhere.
                continue;
            }
            let before = commit.parent(0).ok().map(|parent| parent.tree_id());
            self.read_changed(before, commit.tree_id(), &mut known)?;
        }
        Ok(())
    }

    /// Reads what one tree has that another has not, but for what is known.
    fn read_changed(
        &self,
        before: Option<Oid>,
        tree: Oid,
        known: &mut HashSet<String>,
    ) -> Result<()> {
        let mut found = Vec::new();
        self.compare(&mut found, &[], before, Some(tree))?;
        for difference in found {
            let new = difference.new.filter(|new| new.mode != SUBMODULE);
            if let Some(new) = new
                && known.insert(new.id.clone())
            {
                self.read_object(oid(&new.id)?)?;
            }
        }
        Ok(())
    }

    /// Returns an error unless all is there that a tree has and another has not.
    pub fn require_whole(&self, tree: &str, before: &str) -> Result<()> {
        match self.is_partial() {
            true => Ok(()),
            false => self.read_changed(Some(oid(before)?), oid(tree)?, &mut HashSet::new()),
        }
    }

    /// Refuses a commit of which git lacks a folder or the content of a file, or has it only as an empty or cut off object: nothing could
    /// put that back where an agent writes over it. What is packed is not read.
    pub fn refuse_lacking(&self, commit: &str) -> Result<()> {
        if self.is_partial() {
            return Ok(());
        }
        let odb = self.inner.odb().map_err(broken("read objects"))?;
        let loose = self.loose();
        let mut known = HashSet::new();
        let mut folders = vec![(Vec::new(), oid(&self.tree_of(commit)?)?)];
        while let Some((folder, id)) = folders.pop() {
            let tree = self.inner.find_tree(id);
            let tree = tree.map_err(|_| lacks(&folder, None))?;
            for entry in &tree {
                let path = || [&folder[..], entry.name_bytes()].concat();
                match entry.kind() {
                    Some(ObjectType::Tree) if known.insert(entry.id()) => {
                        folders.push(([&path()[..], b"/"].concat(), entry.id()));
                    }
                    Some(ObjectType::Blob) if !is_there(&odb, &loose, entry.id()) => {
                        let broken = loose.contains(&entry.id()).then_some(entry.id());
                        return Err(lacks(&path(), broken));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Lists the objects that lie in files of their own.
    fn loose(&self) -> HashSet<Oid> {
        let mut found = HashSet::new();
        let folders = fs::read_dir(self.common_path("objects")).into_iter();
        for folder in folders.flatten().flatten() {
            let begin = folder.file_name();
            let begin = begin.to_string_lossy();
            if begin.len() != 2 {
                continue;
            }
            let files = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            let id = |file: fs::DirEntry| {
                Oid::from_str(&format!("{begin}{}", file.file_name().to_string_lossy())).ok()
            };
            found.extend(files.filter_map(id));
        }
        found
    }

    fn read_object(&self, id: Oid) -> Result<()> {
        let what = "read an object";
        let odb = self.inner.odb().map_err(broken(what))?;
        let (length, _) = odb.read_header(id).map_err(broken(what))?;
        if length <= READ_LIMIT {
            odb.read(id).map_err(broken(what))?;
        }
        Ok(())
    }
}

/// Says whether an object is there; of one in a file of its own, whether its beginning can be read, too: after a crash it may be empty.
fn is_there(odb: &Odb<'_>, loose: &HashSet<Oid>, id: Oid) -> bool {
    match loose.contains(&id) {
        true => odb.read_header(id).is_ok(),
        false => odb.exists(id),
    }
}

/// The refusal of what git lacks; the path of a folder ends with a slash. Git makes no object anew where a `broken` one lies.
fn lacks(path: &[u8], broken: Option<Oid>) -> Error {
    let shown = text::path(path);
    let word = text::shell_word(path);
    let first = broken.map_or_else(String::new, |id| {
        let id = id.to_string();
        let (folder, file) = id.split_at(2);
        format!("rm -f \"$(git rev-parse --git-path objects)/{folder}/{file}\" && ")
    });
    let hint = match path.ends_with(b"/") {
        true => OBJECTS_WAY_OUT.to_owned(),
        false => format!(
            "if the file is as it was committed, `{first}git hash-object -w {word}` gives it back; else {OBJECTS_WAY_OUT}"
        ),
    };
    Error::unsafe_repo(format!(
        "git lacks {shown}, which HEAD has: its object is missing or broken"
    ))
    .hint(hint)
}

fn is_read(read: Result<()>) -> Result<bool> {
    match read {
        Ok(()) => Ok(true),
        Err(cause) if cause.is_of_machine() => Err(cause),
        Err(_) => Ok(false),
    }
}

fn broken_unless_machine(cause: Error) -> Result<Standing> {
    match cause.is_of_machine() {
        true => Err(cause),
        false => Ok(Standing::Broken),
    }
}
