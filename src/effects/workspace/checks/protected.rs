//! What `protect` names and git does not track: an agent may neither change it nor add to it.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::effects::files::is_beneath;
use crate::effects::keep;
use crate::effects::proc_table::WrittenTo;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::leftovers::strays::Left;
use crate::effects::workspace::status::ignored_in;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::ledger;
use crate::model::yardstick::Protection;

/// How many ignored files are protected at most: all are looked at, and copied where they changed, in each cycle.
const MOST_FILES: usize = 2_000;
/// How many bytes they may have in all.
const MOST_BYTES: u64 = 256 << 20;
/// How many entries of ignored folders are looked at to find them.
const MOST_ENTRIES: usize = 50_000;
/// The same where all that is asked is what is new: an agent may have put it behind many others.
const MOST_TO_COMPARE: usize = 1_000_000;

/// How far ignored files are looked for.
struct Bounds {
    files: usize,
    bytes: u64,
    entries: usize,
}

/// Ignored files that are protected.
#[derive(Debug, Default)]
pub struct Protected {
    /// Their paths.
    pub files: BTreeSet<Vec<u8>>,
    /// There are more than are held, or may be.
    pub is_cut: bool,
}

impl Workspace<'_> {
    /// Returns the patterns of `protect` that are the name of no file yet, be it tracked or not.
    pub fn protecting_nothing<'a>(&self, patterns: &'a [String]) -> Result<Vec<&'a str>> {
        let mut idle = Vec::new();
        for pattern in patterns {
            let one = std::slice::from_ref(pattern);
            let protection = Protection::of(one).follow(&|file| self.leads_to(file));
            let mut asked = ["ls-files", "-z", "--cached", "--others", "--"]
                .map(OsString::from)
                .to_vec();
            asked.extend(protection.places().into_iter().map(OsString::from));
            let listed = self.repo.git.run(&asked)?;
            let mut paths = listed.split(|byte| *byte == 0);
            let is_used = paths.any(|path| protection.is_match(Path::new(OsStr::from_bytes(path))));
            idle.extend((!is_used).then_some(pattern.as_str()));
        }
        Ok(idle)
    }

    /// Finds ignored files that are protected. Asks git only about the folders that the patterns begin with, and looks into ignored
    /// folders only where a pattern leads there.
    pub fn ignored_and_protected(&self, protection: &Protection) -> Result<Protected> {
        let bounds = Bounds {
            files: MOST_FILES,
            bytes: MOST_BYTES,
            entries: MOST_ENTRIES,
        };
        self.find_protected(protection, bounds)
    }

    fn find_protected(&self, protection: &Protection, mut bounds: Bounds) -> Result<Protected> {
        let mut found = Protected::default();
        if protection.is_empty() {
            return Ok(found);
        }
        let places = protection.places();
        let places: Vec<_> = places.iter().map(OsStr::new).collect();
        let (mut folders, mut seen) = (VecDeque::new(), BTreeSet::new());
        for path in ignored_in(&self.repo.git, &places)? {
            match path.strip_suffix(b"/") {
                Some(folder) => folders.push_back(folder.to_vec()),
                None => self.note_if(protection, path, &mut found, &mut bounds),
            }
        }
        while let Some(folder) = folders.pop_front() {
            if !protection.reaches(&String::from_utf8_lossy(&folder)) || is_own(&folder) {
                continue;
            }
            if !seen.insert(folder.clone()) {
                continue;
            }
            let place = self.repo.root.join(OsStr::from_bytes(&folder));
            let listed = fs::read_dir(place).into_iter().flatten().flatten();
            let mut listed: Vec<_> = listed.collect();
            listed.sort_by_key(fs::DirEntry::file_name);
            for entry in listed {
                if bounds.entries == 0 {
                    found.is_cut = true;
                    return Ok(found);
                }
                bounds.entries -= 1;
                let name = entry.file_name();
                let path = [&folder[..], b"/", name.as_bytes()].concat();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && name != ".git" => folders.push_back(path),
                    Ok(kind) if kind.is_file() || kind.is_symlink() => {
                        self.note_if(protection, path, &mut found, &mut bounds);
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
        Ok(found)
    }

    fn note_if(
        &self,
        protection: &Protection,
        path: Vec<u8>,
        found: &mut Protected,
        bounds: &mut Bounds,
    ) {
        let below = Path::new(OsStr::from_bytes(&path));
        if !protection.is_match(below) || is_own(&path) {
            return;
        }
        let Ok(meta) = fs::symlink_metadata(self.repo.root.join(below)) else {
            return;
        };
        if found.files.len() == bounds.files || meta.len() > bounds.bytes {
            found.is_cut = true;
            return;
        }
        bounds.bytes -= meta.len();
        found.files.insert(path);
    }

    /// Names the protected files that git does not track and that are not what they were, and those that came: these go to the
    /// quarantine. The others are put back when the cycle is settled. What is loose waits for what checks write.
    pub(in crate::effects::workspace) fn look_at_protected(
        &self,
        start: &Start,
        left: &mut Left,
    ) -> Result<()> {
        let protection = start.kept.protection();
        if protection.is_empty() {
            return Ok(());
        }
        let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
        for path in start.kept.changed_protected(&self.repo.root) {
            left.goalposts.push(format!("{} changed", shown(&path)));
        }
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let (new, is_cut) = self.new_protected(start)?;
        if is_cut {
            left.goalposts.push(format!(
                "what is new of what `protect` names cannot be told: git ignores more than {MOST_TO_COMPARE} files where it leads"
            ));
        }
        let written_to = WrittenTo::default();
        for path in new {
            if keep::is_made_in_use(&self.repo.root, &path, start.began(), &written_to) {
                let words = format!("{} is new, and a running program has it open", shown(&path));
                left.goalposts.push(words);
                continue;
            }
            quarantine.take(&self.repo.root, &path)?;
            match keep::is_loose(&protection, &path) {
                true => left.loose.push(shown(&path)),
                false => left.goalposts.push(format!("{} is new", shown(&path))),
            }
        }
        left.notes.extend(quarantine.notes());
        Ok(())
    }

    /// Takes away the ignored files that are protected and were not there, after an undo: checks wrote them to what is undone. What a
    /// running program has open is its own.
    pub(in crate::effects) fn take_new_protected(
        &self,
        start: &Start,
        quarantine: &mut Quarantine,
    ) -> Result<()> {
        let (new, _) = self.new_protected(start)?;
        let root = &self.repo.root;
        let written_to = WrittenTo::default();
        let is_in_use = |path: &[u8]| keep::is_made_in_use(root, path, start.began(), &written_to);
        let is_free = |path: &&Vec<u8>| is_beneath(root, path) && !is_in_use(path);
        let mut new = new.iter().filter(is_free);
        new.try_for_each(|path| quarantine.take(root, path))
    }

    /// Returns the ignored files that are protected and were not there, and whether there may be more; none where there were too
    /// many before to be told apart.
    pub(in crate::effects::workspace) fn new_protected(
        &self,
        start: &Start,
    ) -> Result<(Vec<Vec<u8>>, bool)> {
        if start.kept.is_protection_cut || start.kept.protection().is_empty() {
            return Ok((Vec::new(), false));
        }
        let bounds = Bounds {
            files: usize::MAX,
            bytes: u64::MAX,
            entries: MOST_TO_COMPARE,
        };
        let found = self.find_protected(&start.kept.protection(), bounds)?;
        let files = found.files.into_iter();
        let new = files.filter(|path| !start.kept.is_listed(path));
        let is_untracked = |path: &Vec<u8>| {
            !self
                .repo
                .may_have_file(&start.tree, &String::from_utf8_lossy(path))
        };
        Ok((new.filter(is_untracked).collect(), found.is_cut))
    }
}

/// Says whether a path is `evolve`'s own.
fn is_own(path: &[u8]) -> bool {
    ledger::is_ledger_path(path) || path.starts_with(ledger::FOLDER.as_bytes())
}
