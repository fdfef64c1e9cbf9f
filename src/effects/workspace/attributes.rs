//! Attributes that an agent leaves and git or the ledger cannot live with.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::submodules::Home;
use super::undo::beside::is_attributes;
use super::{Start, Workspace, status};
use crate::effects::files::{self, is_beneath};
use crate::effects::git::Git;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Difference;
use crate::effects::repo::attributes::{FILE, MOST, all_files, said};
use crate::error::{Error, Result};
use crate::model::git::conversion::{ATTRIBUTES, Conversion, LineEnds};
use crate::model::{exact, ledger};

/// What is said of a change with attributes that git refuses.
pub const REFUSED: &str =
    "git refuses the attributes that it brought: working-tree-encoding without a value";

/// Says whether git ended because of attributes: with an encoding that has no value it does nothing at all, whatever it is
/// asked for.
pub(super) fn are_refused(error: &Error) -> bool {
    const SAID: &str = "no valid working-tree-encodings";
    error.message.contains(SAID)
}

fn has_refused(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n');
    let mut lines = lines.filter(|line| !line.trim_ascii_start().starts_with(b"#"));
    lines.any(|line| {
        let words = line.split(u8::is_ascii_whitespace);
        let mut words = words.filter(|word| !word.is_empty()).skip(1);
        words.any(|word| word == status::ENCODING.as_bytes())
    })
}

impl Workspace<'_> {
    /// Does what can be done again; a second time, with the attributes of the start, where git refuses those that are there. Returns
    /// then what was put aside, too.
    pub(super) fn despite_attributes<T>(
        &self,
        start: &Start,
        mut act: impl FnMut() -> Result<T>,
    ) -> Result<(T, Option<Vec<String>>)> {
        let refused = match act() {
            Err(error) if are_refused(&error) => error,
            done => return done.map(|done| (done, None)),
        };
        match self.put_refused_aside(start)? {
            Some(aside) => Ok((act()?, Some(aside))),
            None => Err(refused),
        }
    }

    /// Moves attributes away that git refuses, in submodules too; those of the start take their place, or none at all. Says which;
    /// none if there are none.
    fn put_refused_aside(&self, start: &Start) -> Result<Option<Vec<String>>> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let mut is_any = false;
        for home in [self.root_home()].into_iter().chain(self.homes_within()) {
            for path in all_files(&home.git)? {
                is_any |= self.put_aside(start, &home, &path, &mut quarantine)?;
            }
        }
        Ok(is_any.then(|| quarantine.notes().collect()))
    }

    /// Does so with one file of a repository's, if git refuses it; says whether it does.
    fn put_aside(
        &self,
        start: &Start,
        home: &Home,
        below: &[u8],
        quarantine: &mut Quarantine,
    ) -> Result<bool> {
        let root = &self.repo.root;
        let path = home.whole(below);
        if !is_beneath(root, &path) {
            return Ok(false);
        }
        let place = root.join(OsStr::from_bytes(&path));
        let found = files::read_bounded(&place, MOST).ok().flatten();
        let indexed = || blob(&home.git, b":", below);
        let text = found.or_else(indexed).unwrap_or_default();
        if !has_refused(&text) {
            return Ok(false);
        }
        if fs::symlink_metadata(&place).is_ok() {
            quarantine.take(root, &path)?;
        }
        let was = match home.folder.is_empty() {
            true => self.repo.file(&start.tree, &exact::decode(&path))?,
            // It may be at a commit of the agent's.
            false => blob(&home.git, b"HEAD:", below).filter(|text| !has_refused(text)),
        };
        // Where no file is, git goes by what is staged.
        if was.is_some() || indexed().is_some() {
            files::replace(&place, &was.unwrap_or_default())?;
        }
        Ok(true)
    }

    /// Returns the files that a checkout of `tree` writes otherwise than one of the start's, as other attributes lead it: what stands in
    /// them may be other bytes then, though no commit changed them. Those of which both write what is committed are none of these. Paths
    /// are in git's order.
    pub(super) fn converted_otherwise(
        &self,
        start: &Start,
        tree: &str,
        differences: &[Difference],
    ) -> Result<BTreeSet<Vec<u8>>> {
        if !differences.iter().any(|one| is_attributes(&one.path)) {
            return Ok(BTreeSet::new());
        }
        let was = self.attributes_in(&start.tree)?;
        let is = self.attributes_in(tree)?;
        let settings = self.repo.git.run(&["config", "--list", "-z"])?;
        let ends = LineEnds::of_settings(&settings);
        let is_other = |was: &Said, is: &Said| {
            was != is
                && [was, is]
                    .map(|said| conversion(said, ends))
                    .contains(&Conversion::Both)
        };
        let other = is.into_iter();
        let other =
            other.filter(|(path, said)| was.get(path).is_some_and(|was| is_other(was, said)));
        Ok(other.map(|(path, _)| path).collect())
    }

    /// Returns what the attributes of a tree say of how each of its files is converted, as git lists it.
    fn attributes_in(&self, tree: &str) -> Result<HashMap<Vec<u8>, Said>> {
        // Git goes by the attributes of an index or by those on disk, and not in each version by those of a tree.
        // An agent may have left a link there, by which git would write elsewhere.
        let folder = self.repo.private.join("attributes");
        files::make_empty_folder(&folder)?;
        let git = self.repo.git.passing().with_index(&folder.join("index"));
        let ask = || {
            git.run(&["read-tree", tree])?;
            let paths = git.run(&["ls-files", "-z"])?;
            let arguments = [
                &["check-attr", "-z", "--cached", "--stdin"][..],
                &ATTRIBUTES,
            ];
            git.run_with(&arguments.concat(), &paths)
        };
        let listed = ask();
        files::remove_all(&folder).map_err(|cause| Error::io("remove", &folder, cause))?;
        let listed = listed?;
        let mut found: HashMap<Vec<u8>, Said> = HashMap::new();
        for (path, attribute, value) in said(&listed) {
            let (attribute, value) = [attribute, value].map(String::from_utf8_lossy).into();
            let all = found.entry(path.to_vec()).or_default();
            all.push((attribute.into_owned(), value.into_owned()));
        }
        Ok(found)
    }

    /// Moves attributes out of the way of the ledger that are in no commit, so that no undo would remove them, and that are not the
    /// user's; says which.
    pub(super) fn clear_attributes(&self, start: &Start, tree: &str) -> Result<Vec<String>> {
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let below = ledger::FOLDERS.map(|folder| format!("{folder}/{FILE}"));
        for path in below.into_iter().chain([FILE.to_owned()]) {
            let is_there = fs::symlink_metadata(self.repo.root.join(&path)).is_ok();
            let is_new = is_there && !start.kept.was_there(path.as_bytes());
            if is_new
                && is_beneath(&self.repo.root, path.as_bytes())
                && !self.repo.has_file(tree, &path)?
            {
                quarantine.take(&self.repo.root, path.as_bytes())?;
            }
        }
        Ok(quarantine.notes().collect())
    }
}

/// Attributes of a file with their values.
type Said = Vec<(String, String)>;

/// Returns what git does to a file with these attributes.
fn conversion(said: &Said, ends: LineEnds) -> Conversion {
    let mut found = Conversion::None;
    for (attribute, value) in said {
        found.add(attribute, value, ends);
    }
    found
}

/// Returns a file as `place` has it, a commit or the index (`:`); none where it has none.
fn blob(git: &Git, place: &[u8], path: &[u8]) -> Option<Vec<u8>> {
    let name = [place, path].concat();
    let arguments = ["cat-file", "blob"].map(OsStr::new);
    git.run(&[&arguments[..], &[OsStr::from_bytes(&name)]].concat())
        .ok()
}
