//! The past of a commit, read once: every commit that it descends from, and the ledger's folder in each.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use git2::{ObjectType, Oid, Sort};

use super::Repo;
use super::failure::{broken, oid};
use crate::effects::files;
use crate::error::Result;
use crate::model::ledger;

/// What stands in the message of every commit that `evolve` makes about a cycle.
const MARKS: [&str; 2] = ["Evolve-Cycle: ", "revert: evolve cycle "];

/// All commits that a commit descends from, itself included, children before parents. A commit is named by its place.
pub struct Past {
    commits: Vec<Ancestor>,
    places: HashMap<Oid, usize>,
}

struct Ancestor {
    id: Oid,
    tree: Oid,
    parents: Vec<usize>,
    /// The ledger's folder, as a tree.
    ledger: Option<Oid>,
    /// Some of its parents are not in this repository: a shallow clone ends here.
    is_cut: bool,
    /// The message, if it is one of `evolve`'s.
    message: Option<Box<str>>,
    /// When it was made first, in seconds since 1970.
    time: i64,
}

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} commits", self.commits.len())
    }
}

impl Repo {
    /// Reads the past of a commit.
    pub fn past(&self, tip: &str) -> Result<Past> {
        let what = "walk the history";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        walk.set_sorting(Sort::TOPOLOGICAL).map_err(broken(what))?;
        walk.push(oid(tip)?).map_err(broken(what))?;
        let ids = walk
            .collect::<Result<Vec<Oid>, _>>()
            .map_err(broken(what))?;
        let places: HashMap<Oid, usize> = ids
            .iter()
            .enumerate()
            .map(|(place, id)| (*id, place))
            .collect();
        let cut = self.cut_off();
        let mut folders = HashMap::new();
        let commits = ids
            .into_iter()
            .map(|id| {
                let commit = self
                    .inner
                    .find_commit(id)
                    .map_err(broken("read a commit"))?;
                let message = String::from_utf8_lossy(commit.message_raw_bytes());
                let is_ours = MARKS.iter().any(|mark| message.contains(mark))
                    || ledger::is_end_message(message.trim_start());
                Ok(Ancestor {
                    id,
                    tree: commit.tree_id(),
                    parents: commit
                        .parent_ids()
                        .filter_map(|id| places.get(&id).copied())
                        .collect(),
                    ledger: self.ledger_folder(&mut folders, commit.tree_id())?,
                    is_cut: cut.contains(&id),
                    message: is_ours.then(|| message.trim_start().into()),
                    time: commit.author().when().seconds(),
                })
            })
            .collect::<Result<_>>()?;
        Ok(Past { commits, places })
    }

    /// Returns the commits at which a shallow clone ends.
    fn cut_off(&self) -> HashSet<Oid> {
        let listed = files::read(&self.common_path("shallow")).unwrap_or_default();
        let listed = String::from_utf8_lossy(&listed);
        listed
            .lines()
            .filter_map(|line| Oid::from_str(line.trim()).ok())
            .collect()
    }

    /// Returns the ledger's folder in a tree. `folders` remembers what was found in each version of the folder around it.
    fn ledger_folder(
        &self,
        folders: &mut HashMap<Oid, Option<Oid>>,
        tree: Oid,
    ) -> Result<Option<Oid>> {
        let (outer, inner) = ledger::FOLDER
            .split_once('/')
            .unwrap_or((ledger::FOLDER, ""));
        let child = |tree: Oid, name: &str| -> Result<Option<Oid>> {
            let tree = self.inner.find_tree(tree).map_err(broken("read a tree"))?;
            let entry = tree.get_name(name);
            Ok(entry
                .filter(|entry| entry.kind() == Some(ObjectType::Tree))
                .map(|entry| entry.id()))
        };
        let Some(outer) = child(tree, outer)? else {
            return Ok(None);
        };
        if let Some(known) = folders.get(&outer) {
            return Ok(*known);
        }
        let found = child(outer, inner)?;
        folders.insert(outer, found);
        Ok(found)
    }

    /// Returns the files of a commit's ledger folder with their ids, by name; what lies in folders below it is left out.
    pub fn ledger_listing(&self, past: &Past, place: usize) -> Result<Vec<(String, String)>> {
        let Some(id) = past.commits[place].ledger else {
            return Ok(Vec::new());
        };
        let tree = self.inner.find_tree(id).map_err(broken("read a tree"))?;
        Ok(tree
            .iter()
            .filter(|entry| entry.kind() == Some(ObjectType::Blob))
            .filter_map(|entry| {
                let name = entry.name().ok()?;
                Some((format!("{}/{name}", ledger::FOLDER), entry.id().to_string()))
            })
            .collect())
    }

    /// Returns how many bytes a blob has, without reading them.
    pub fn blob_size(&self, id: &str) -> Result<usize> {
        let database = self
            .inner
            .odb()
            .map_err(broken("open the object database"))?;
        let header = database
            .read_header(oid(id)?)
            .map_err(broken("read a file"))?;
        Ok(header.0)
    }

    /// Returns the id of a file in a tree; none if it is not there or no file.
    pub fn file_id(&self, tree: &str, path: &str) -> Result<Option<String>> {
        let tree = self.tree(tree)?;
        let entry = tree.get_path(Path::new(path)).ok();
        Ok(entry
            .filter(|entry| entry.kind() == Some(ObjectType::Blob))
            .map(|entry| entry.id().to_string()))
    }

    /// Returns path and id of the files of a tree that by their names may be goals files.
    pub fn files_like_goals(&self, tree: &str) -> Result<Vec<(String, String)>> {
        let mut found = Vec::new();
        let tree = self.tree(tree)?;
        tree.walk(git2::TreeWalkMode::PreOrder, |parent, entry| {
            if let (Some(ObjectType::Blob), Ok(name)) = (entry.kind(), entry.name()) {
                let small = name.to_lowercase();
                if small.ends_with(".yaml") || small.ends_with(".yml") || small.contains("goals") {
                    found.push((format!("{parent}{name}"), entry.id().to_string()));
                }
            }
            git2::TreeWalkResult::Ok
        })
        .map_err(broken("read a tree"))?;
        Ok(found)
    }

    /// Returns who made a commit again at a later time, as `git commit --amend` and `git rebase` do; none where it was committed as
    /// it was made, be it for somebody else.
    pub fn rewriter(&self, id: &str) -> Option<String> {
        let commit = self.inner.find_commit(oid(id).ok()?).ok()?;
        let (author, committer) = (commit.author(), commit.committer());
        let is_same = author.when().seconds() == committer.when().seconds();
        (!is_same).then(|| String::from_utf8_lossy(committer.name_bytes()).into_owned())
    }

    /// Says whether a commit is in the repository, wherever.
    pub fn has_commit(&self, id: &str) -> bool {
        oid(id).is_ok_and(|id| self.inner.find_commit(id).is_ok())
    }
}

impl Past {
    /// Returns how many commits there are.
    pub fn len(&self) -> usize {
        self.commits.len()
    }

    /// Says whether there is no commit.
    pub fn is_empty(&self) -> bool {
        self.commits.is_empty()
    }

    /// Returns a commit's id.
    pub fn id(&self, place: usize) -> String {
        self.commits[place].id.to_string()
    }

    /// Returns the id of a commit's tree.
    pub fn tree(&self, place: usize) -> String {
        self.commits[place].tree.to_string()
    }

    /// Returns the places of a commit's parents.
    pub fn parents(&self, place: usize) -> &[usize] {
        &self.commits[place].parents
    }

    /// Returns the message of a commit that `evolve` made about a cycle or a session's end, or that says so.
    pub fn message(&self, place: usize) -> Option<&str> {
        self.commits[place].message.as_deref()
    }

    /// Returns when a commit was made first, in seconds since 1970.
    pub fn time(&self, place: usize) -> i64 {
        self.commits[place].time
    }

    /// Says whether a shallow clone ends at a commit.
    pub fn is_cut(&self, place: usize) -> bool {
        self.commits[place].is_cut
    }

    /// Says whether two commits have the very same ledger folder.
    pub fn has_same_ledger(&self, one: usize, other: usize) -> bool {
        self.commits[one].ledger == self.commits[other].ledger
    }

    /// Returns the place of a commit.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.places.get(&Oid::from_str(id).ok()?).copied()
    }

    /// Says whether `ancestor` is `commit` or an ancestor of it.
    pub fn descends(&self, commit: usize, ancestor: usize) -> bool {
        self.between(ancestor, commit).last() == Some(&ancestor)
    }

    /// Says whether `ancestor` is `commit` or an ancestor of it, or may be one by a way that a shallow clone cuts off.
    pub fn may_descend(&self, commit: usize, ancestor: usize) -> bool {
        // As a rule it is, and then nothing beyond it is looked at.
        let is_cut = |place: &usize| self.is_cut(*place);
        self.descends(commit, ancestor) || self.between(self.len(), commit).iter().any(is_cut)
    }

    /// Returns the commits on the way from `tip` back to where a shallow clone cuts it off; none if there is more than one way.
    pub fn until_cut(&self, tip: usize) -> Vec<usize> {
        let mut way = vec![tip];
        let mut place = tip;
        while !self.is_cut(place) {
            let [parent] = self.parents(place) else {
                return Vec::new();
            };
            place = *parent;
            way.push(place);
        }
        way
    }

    /// Returns the commits on the ways from `tip` back to `start`: what was committed after `start`, then `start` itself if
    /// `tip` descends from it.
    pub fn between(&self, start: usize, tip: usize) -> Vec<usize> {
        let mut seen = std::collections::BTreeSet::new();
        let mut next = vec![tip];
        while let Some(place) = next.pop() {
            // Parents have higher places than their children, so that beyond the start's nothing leads to it.
            if place <= start && seen.insert(place) && place != start {
                next.extend(self.parents(place));
            }
        }
        seen.into_iter().collect()
    }
}
