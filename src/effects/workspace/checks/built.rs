//! What checks build before they run it, and what they run of it: ignored by git, or no text. A build may reach it by way of links
//! that it points elsewhere each time, as in `build/current/tool`.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::effects::files::{self, is_beneath};
use crate::effects::keep::{self, Restored};
use crate::effects::proc_table::WrittenTo;
use crate::effects::quarantine::Quarantine;
use crate::effects::watch;
use crate::effects::workspace::leftovers::strays::Left;
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::Result;
use crate::model::check;
use crate::model::goals::Goals;
use crate::model::output;

/// The most bytes of a file that are looked at to tell text from what is none.
const TEXT_LIMIT: u64 = 256 << 10;
/// The most links on a way, as for the kernel.
const MOST_LINKS: usize = 40;

/// The way to a file.
#[derive(Debug, Default)]
pub(in crate::effects::workspace) struct Way {
    /// The links on it, each by its real place below the root.
    pub links: Vec<String>,
    /// Where it leads below the root; none if that is elsewhere, or no text.
    pub end: Option<String>,
}

impl Workspace<'_> {
    /// Says whether a file that a check runs may be what checks build: it is not in `tree`, and ignored by git or no text.
    pub fn may_be_built(&self, tree: &str, file: &str) -> bool {
        let is_tracked = |file: &String| self.repo.may_have_file(tree, file);
        let way = self.way_to(file);
        let end = way.end.iter();
        let mut all = end.clone().chain(&way.links);
        let mut is_ignored =
            || self.repo.is_ignored(file) || all.any(|one| self.repo.is_ignored(one));
        !is_tracked(&file.to_owned())
            && !end.clone().chain(&way.links).any(is_tracked)
            && (is_ignored() || end.clone().any(|end| !self.is_text(end)))
    }

    /// Says whether a file is one that tools make and that is not in `tree`: who protected it would have every build undone.
    pub fn is_product(&self, tree: &str, file: &str) -> bool {
        let begin = || files::begin_of(&self.repo.root.join(file), output::TELLING);
        !self.repo.may_have_file(tree, file) && output::is_made(file, &begin())
    }

    /// Returns what checks would run if it were there: it is not, neither in `tree` nor beside it; and the patterns of what they run.
    pub fn unbuilt(&self, goals: &Goals, tree: &str) -> (Vec<String>, Vec<String>) {
        let yardstick = self.yardstick(goals, &|_| true);
        let mut run = yardstick.frozen;
        let is_there = |file: &String| files::is_there(&self.repo.root.join(file)).unwrap_or(true);
        let is_name = |file: &String| !check::is_pattern(file);
        run.retain(|file| is_name(file) && !self.repo.may_have_file(tree, file) && !is_there(file));
        (run, yardstick.open)
    }

    /// Takes away what checks run and was not there before the agent, and what that leads to: ignored by git or no text, and not in
    /// the agent's commits up to `tip`. Checks build theirs; in a commit it would be frozen from then on.
    pub(in crate::effects::workspace) fn take_unbuilt(
        &self,
        start: &Start,
        tip: &str,
        left: &mut Left,
    ) -> Result<()> {
        let root = &self.repo.root;
        let unbuilt = start.kept.unbuilt(root).into_iter();
        let found: Vec<_> = unbuilt.flat_map(String::from_utf8).collect();
        if found.is_empty() {
            return Ok(());
        }
        let tree = self.repo.tree_of(tip)?;
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        for file in found {
            if !self.may_be_built(&tree, &file) {
                continue;
            }
            let way = self.way_to(&file);
            let behind = way.links.into_iter().chain(way.end);
            let is_new = |one: &String| {
                *one == file
                    || !start.kept.was_there(one.as_bytes())
                        && !self.repo.may_have_file(&start.tree, one)
                        && !self.repo.may_have_file(&tree, one)
            };
            for one in behind.filter(is_new) {
                let is_there = fs::symlink_metadata(root.join(&one)).is_ok();
                if is_there && is_beneath(root, one.as_bytes()) {
                    quarantine.take(root, one.as_bytes())?;
                }
            }
            left.unbuilt.push(file);
        }
        if !left.unbuilt.is_empty() {
            left.notes.push(format!(
                "made by the agent, run by checks and in no commit, so that checks have to build their own: {}",
                some_of(&left.unbuilt)
            ));
        }
        left.notes.extend(quarantine.notes());
        Ok(())
    }

    /// Says whether a file is text, as far as it is small enough to be read.
    pub fn is_text(&self, file: &str) -> bool {
        let bytes = files::read_bounded(&self.repo.root.join(file), TEXT_LIMIT);
        let bytes = bytes.ok().flatten();
        bytes.is_some_and(|bytes| !bytes.contains(&0) && std::str::from_utf8(&bytes).is_ok())
    }

    /// Returns what has to be as it was for these files to be: the links on the way to each, and where it leads.
    pub fn behind(&self, files: &[String]) -> Vec<String> {
        let ways = files.iter().map(|file| self.way_to(file));
        let mut all: Vec<_> = ways
            .flat_map(|way| way.links.into_iter().chain(way.end))
            .collect();
        all.sort();
        all.dedup();
        all
    }

    /// Follows the way to a file, link by link.
    pub(in crate::effects::workspace) fn way_to(&self, file: &str) -> Way {
        let root = &self.repo.root;
        let parts = |path: &Path| -> Vec<OsString> {
            let named = path.components().filter(|part| *part != Component::CurDir);
            named.map(|part| part.as_os_str().to_owned()).collect()
        };
        let mut left: VecDeque<OsString> = parts(Path::new(file)).into();
        let (mut at, mut way) = (PathBuf::new(), Way::default());
        while let Some(part) = left.pop_front() {
            if part == OsStr::new("..") {
                if !at.pop() {
                    return way;
                }
                continue;
            }
            at.push(part);
            let Ok(target) = fs::read_link(root.join(&at)) else {
                continue;
            };
            way.links.extend(at.to_str().map(str::to_owned));
            at.pop();
            let below = match target.is_absolute() {
                true => {
                    at = PathBuf::new();
                    target.strip_prefix(root).ok()
                }
                false => Some(target.as_path()),
            };
            let Some(below) = below.filter(|_| way.links.len() < MOST_LINKS) else {
                return way;
            };
            for part in parts(below).into_iter().rev() {
                left.push_front(part);
            }
        }
        way.end = at.to_str().map(str::to_owned);
        way
    }

    /// Returns what tells a file that checks run from another version: what lies behind a link is a file of its own, unless that is
    /// elsewhere.
    pub fn fingerprint(&self, file: &str) -> Option<String> {
        match self.way_to(file).end {
            Some(_) => self.version_of(file),
            None => watch::digest_of(&self.repo.root.join(file)),
        }
    }

    /// Returns what tells a file from another version: where a link leads, or the digest of the bytes; none if there is neither.
    pub fn version_of(&self, file: &str) -> Option<String> {
        watch::version_of(&self.repo.root.join(file))
    }

    /// Puts a built file back as it was before the agent, as far as it has a copy.
    pub fn put_back_built(
        &self,
        start: &Start,
        file: &str,
        quarantine: &mut Quarantine,
    ) -> Result<Restored> {
        let folders = keep::folders(&self.repo.own_places());
        let kept = &start.kept;
        let folders = (&folders[..], &WrittenTo::default());
        kept.put_back_built(&self.repo.root, file.as_bytes(), folders, quarantine)
    }
}
