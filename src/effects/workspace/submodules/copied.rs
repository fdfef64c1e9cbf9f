//! Submodules of a copy: no commit of it holds what is in them, and git does not work there. Where a file of a submodule's commit
//! differs that is a change that no commit holds. What came or changed beside them and is not ignored there is taken away before the
//! goals are measured again.
//!
//! What is ignored is said by the `.gitignore` files of the submodule's commit, by those that were there before the agent
//! (`prepare` or a check made them), and by the user's own excludes; one that the agent wrote has no say in it, nor has the
//! repository of the submodule that is in the copy.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::inside::joined;
use super::replaced::{Rules, files_in, files_of};
use crate::effects::excludes;
use crate::effects::files::{self, Stamp, is_beneath, is_within};
use crate::effects::guard::modules::{self, is_checked_out};
use crate::effects::repo::{Entry, SUBMODULE};
use crate::effects::workspace::{Workspace, some_of};
use crate::error::Result;
use crate::model::{digest, exact, text};

/// The most bytes of a file with rules of what is ignored.
const RULES_LIMIT: u64 = 1 << 20;

/// What lies in the submodules of a copy that is not of their commits and not ignored, with what each file is. Text stands for
/// the bytes of a path exactly.
pub type Loose = BTreeMap<String, String>;

/// A submodule of a copy that holds what its commit does not.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    /// Its path below the root of the copy.
    pub path: Vec<u8>,
    /// What came or changed beside the files of its commit, below the root of the copy; none where these themselves differ.
    pub loose: Vec<Vec<u8>>,
}

impl Edited {
    /// Says so.
    pub fn in_words(&self) -> String {
        let name = text::path(&self.path);
        if self.loose.is_empty() {
            return format!("files of the submodule {name} were changed");
        }
        let loose: Vec<_> = self.loose.iter().map(text::path).collect();
        format!(
            "the submodule {name} holds what its commit does not: {}",
            some_of(&loose)
        )
    }
}

/// A submodule that is checked out in a copy.
pub(super) struct Copied {
    /// Its path below the root of the copy.
    pub(super) path: Vec<u8>,
    /// The files of its commit; none where no repository is known to have that.
    pub(super) files: Vec<(Vec<u8>, Entry)>,
    /// The git directory that has these.
    pub(super) place: PathBuf,
}

impl Workspace<'_> {
    /// Lists what lies loose in the submodules of a slot. To be called right before an agent: what is there then `prepare` made, or
    /// a check. `lender` is the root of the user's checkout.
    pub fn loose_in_modules(&self, lender: &Path) -> Result<Loose> {
        let mut loose = Loose::new();
        for module in self.copied(lender)? {
            loose.extend(self.loose_in(&module, lender, None)?);
        }
        Ok(loose)
    }

    /// Returns the submodules of a slot that hold other files than the commit that its index has of them: files of that commit that
    /// differ, as far as the checkout at `lender`, or what is there, has it, or else what came or changed since this lay loose there.
    pub fn edited_modules(&self, lender: &Path, before: &Loose) -> Result<Vec<Edited>> {
        let mut edited = Vec::new();
        for module in self.copied(lender)? {
            let mut loose = Vec::new();
            let is_edited = self.is_edited(&module)?;
            if !is_edited {
                let now = self.loose_in(&module, lender, Some(before))?;
                let new = now
                    .iter()
                    .filter(|(path, what)| before.get(*path) != Some(what));
                loose.extend(new.map(|(path, _)| exact::encode(path)));
            }
            if is_edited || !loose.is_empty() {
                let path = module.path;
                edited.push(Edited { path, loose });
            }
        }
        Ok(edited)
    }

    /// Finds the submodules that are checked out, and those within them.
    pub(super) fn copied(&self, lender: &Path) -> Result<Vec<Copied>> {
        let root = &self.repo.root;
        let mut open = Vec::new();
        for path in self.repo.tracked_folders()?.modules {
            let id = self.link_of(&path)?;
            open.extend(id.map(|id| (path, id)));
        }
        let mut found = Vec::new();
        while let Some((path, id)) = open.pop() {
            if !is_beneath(root, &[&path[..], b"/.git"].concat()) || !is_checked_out(root, &path) {
                continue;
            }
            let mut places = [lender, root]
                .into_iter()
                .filter_map(|root| modules::git_dir_at(root, &path));
            let files = places.find_map(|place| Some((files_of(&place, &id)?, place)));
            let (files, place) = files.unwrap_or_default();
            let within = files.iter().filter(|(_, entry)| entry.mode == SUBMODULE);
            open.extend(within.map(|(below, entry)| (joined(&path, below), entry.id.clone())));
            found.push(Copied { path, files, place });
        }
        Ok(found)
    }

    /// Says whether a file of the commit is not as that has it.
    fn is_edited(&self, module: &Copied) -> Result<bool> {
        for (below, entry) in &module.files {
            if !self.is_as_in(&joined(&module.path, below), entry)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lists what lies loose in a submodule. Of the `.gitignore` files that do, those are believed that are what they were `before`;
    /// all are where that is not given.
    fn loose_in(&self, module: &Copied, lender: &Path, before: Option<&Loose>) -> Result<Loose> {
        let mut rules = excludes::users_own(self.repo, &self.repo.git.all_settings()?);
        rules.push(b'\n');
        if let Some(place) = modules::git_dir_at(lender, &module.path) {
            rules.extend(read_rules(&place.join("info/exclude")));
            rules.push(b'\n');
        }
        let of_commit = module.files.iter().filter(|(_, entry)| !entry.is_link());
        let of_commit = of_commit.map(|(below, _)| below.clone());
        let mut ignoring: Vec<_> = of_commit.filter(|below| is_rules(below)).collect();
        let mut loose = self.beside(module, &self.rules_of(module, &rules, &mut ignoring))?;
        let mut believed = loose.clone();
        believed.retain(|path, what| {
            let is_known = before.is_none_or(|before| before.get(path) == Some(what));
            is_rules(&exact::encode(path)) && what.starts_with(FILE) && is_known
        });
        if !believed.is_empty() {
            let below = |path: &String| exact::encode(path)[module.path.len() + 1..].to_vec();
            ignoring.extend(believed.keys().map(below));
            loose = self.beside(module, &self.rules_of(module, &rules, &mut ignoring))?;
            loose.extend(believed);
        }
        Ok(loose)
    }

    /// Returns what these `.gitignore` files of a submodule say, after other rules, as one such file in its folder would.
    fn rules_of(&self, module: &Copied, first: &[u8], ignoring: &mut [Vec<u8>]) -> Vec<u8> {
        // What is further down goes before what is above it.
        ignoring.sort_by_key(|below| below.iter().filter(|byte| **byte == b'/').count());
        let mut rules = first.to_vec();
        for below in ignoring {
            let file = joined(&module.path, below);
            let folder = below.strip_suffix(RULES).unwrap_or_default();
            let text = read_rules(&self.repo.root.join(OsStr::from_bytes(&file)));
            rules.extend(excludes::below(
                folder.strip_suffix(b"/").unwrap_or(folder),
                &text,
            ));
        }
        rules
    }

    /// Lists what is in the folder of a submodule and neither of its commit, nor in a submodule within that is checked out, nor named
    /// by these rules.
    fn beside(&self, module: &Copied, rules: &[u8]) -> Result<Loose> {
        let root = &self.repo.root;
        let folder = root.join(OsStr::from_bytes(&module.path));
        let (mut known, mut within) = (BTreeSet::new(), Vec::new());
        for (below, entry) in &module.files {
            known.insert(&below[..]);
            if entry.mode == SUBMODULE && is_checked_out(root, &joined(&module.path, below)) {
                within.push(&below[..]);
            }
        }
        let listed = self.not_ignored_in(&folder, Rules::These(rules))?;
        let listed = listed.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        let mut all = Vec::new();
        for below in listed {
            match below.strip_suffix(b"/") {
                Some(repository) => {
                    let files = files_in(&folder.join(OsStr::from_bytes(repository)));
                    let files = files.iter().map(|file| file.as_os_str().as_bytes());
                    all.extend(files.map(|file| joined(repository, file)));
                }
                None => all.push(below.to_vec()),
            }
        }
        let is_loose = |below: &Vec<u8>| {
            let is_within_one = within.iter().any(|one| is_within(below, one));
            !known.contains(&below[..]) && !is_within_one
        };
        all.retain(is_loose);
        let looks = |below: Vec<u8>| {
            let what = what_is(&folder.join(OsStr::from_bytes(&below)));
            (exact::decode(&joined(&module.path, &below)), what)
        };
        Ok(all.into_iter().map(looks).collect())
    }
}

/// The name of a file with rules of what is ignored.
const RULES: &[u8] = b".gitignore";

/// How it begins what is said of a file.
const FILE: &str = "file ";

fn is_rules(path: &[u8]) -> bool {
    path.rsplit(|byte| *byte == b'/').next() == Some(RULES)
}

fn read_rules(file: &Path) -> Vec<u8> {
    let read = files::read_bounded(file, RULES_LIMIT).ok().flatten();
    read.unwrap_or_default()
}

/// Says what is at a path: a file by its bytes, a link by where it leads, and anything else by when something was last done to it.
fn what_is(path: &Path) -> String {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return "nothing".to_owned();
    };
    if let Ok(target) = fs::read_link(path) {
        return format!("link {}", exact::decode(target.as_os_str().as_bytes()));
    }
    let is_file = meta.is_file();
    let read = is_file.then(|| files::read_bounded(path, files::LARGEST).ok().flatten());
    match read.flatten() {
        Some(bytes) => format!("{FILE}{:o} {}", meta.mode() & 0o100, digest::full(&bytes)),
        None => format!("other {:?}", Stamp::of(&meta)),
    }
}
