//! Puts the ledger's files right: what stands in the tree and is not what git and memory have goes to the quarantine.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::Ledger;
use super::chain::Chain;
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Repo, hash_blob};
use crate::error::Result;
use crate::model::growth::Growth;
use crate::model::ledger as names;
use crate::model::{exact, text};

/// How much later than it says the kernel may have stamped a file: its clock for files goes in steps.
const STAMP_STEP: Duration = Duration::from_secs(2);
/// How many changed snapshots and reports are named.
const NAMED: usize = 5;

/// A file of the ledger as it should be.
enum Wanted<'a> {
    /// A blob of git's, by its id.
    Blob(String),
    /// What was written since the last commit.
    Written(&'a [u8]),
}

impl Wanted<'_> {
    /// Says whether this is it.
    fn is(&self, found: &[u8]) -> bool {
        match self {
            Wanted::Blob(id) => hash_blob(found) == *id,
            Wanted::Written(bytes) => *bytes == found,
        }
    }
}

impl Ledger {
    /// Compares every file of the ledger with what it should be, and puts it right; returns what was found, in words. The
    /// queue and the retries are left out, because others write to them too, and so are the history's segments, which
    /// nothing is decided from. Files that were not touched since the last look are passed over.
    pub fn put_right(&mut self, repo: &Repo) -> Result<Vec<String>> {
        if !self.is_checked_out(repo)? {
            return Ok(Vec::new());
        }
        let mut quarantine = Quarantine::of(&repo.private, "ledger", 0);
        let mut said = Vec::new();
        for folder in names::FOLDERS {
            let is_other = |meta: fs::Metadata| !meta.is_dir();
            if fs::symlink_metadata(repo.root.join(folder)).is_ok_and(is_other) {
                quarantine.take(&repo.root, folder.as_bytes())?;
                said.push(format!("{folder} was no plain folder"));
            }
        }
        let began = SystemTime::now();
        let mut changed = Vec::new();
        for (name, wanted) in self.wanted(repo)? {
            let Some(words) = self.look_at(repo, &name, &wanted, &mut quarantine)? else {
                continue;
            };
            match [names::HISTORY, names::LESSONS].contains(&name.as_str()) {
                true => said.push(format!("{name} {words}")),
                false => changed.push(name),
            }
        }
        if !changed.is_empty() {
            let more = match changed.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            changed.truncate(NAMED);
            said.push(format!("{}{more}: changed", changed.join(", ")));
        }
        self.verified = Some(began);
        let kept = match quarantine.moved.is_empty() {
            true => "",
            false => "; what stood there is in .git/evolve/quarantine",
        };
        Ok(said
            .into_iter()
            .map(|what| format!("{what}, and put right as git has it{kept}"))
            .collect())
    }

    /// Returns the names of the files that lie in `evolve`'s own folder.
    pub fn there(&self) -> BTreeSet<String> {
        let names = files::plain_names_in(&self.root, names::FOLDER);
        names.into_iter().collect()
    }

    /// Makes the files in `evolve`'s own folder those that were there `before` an agent: what came anew goes to the quarantine,
    /// and what git has comes back. What is in them is not looked at. Returns what was moved, in words.
    pub fn restore_names(
        &self,
        repo: &Repo,
        before: &BTreeSet<String>,
        cycle: u64,
    ) -> Result<Vec<String>> {
        let now = self.there();
        let mut quarantine = Quarantine::of(&repo.private, "ledger", cycle);
        // A person may have asked for a goal again; and what ends so is about to take another's name.
        let is_anybodys = |name: &str| {
            name == names::RETRIES || names::is_private(name) || name.ends_with(".tmp")
        };
        for name in now.difference(before) {
            let is_there = || fs::symlink_metadata(repo.root.join(name)).is_ok();
            if !is_anybodys(name) && !self.pending.contains_key(name) && is_there() {
                quarantine.take(&repo.root, name.as_bytes())?;
            }
        }
        let gone: Vec<_> = before.difference(&now).collect();
        let tree = self.tree.as_ref().filter(|_| !gone.is_empty());
        let committed = tree.map(|tree| repo.ledger_files(tree)).transpose()?;
        for (name, entry) in committed.into_iter().flatten() {
            if gone.contains(&&name) && !is_anybodys(&name) && !self.pending.contains_key(&name) {
                files::replace(&repo.root.join(&name), &repo.blob(&entry.id)?)?;
            }
        }
        Ok(quarantine.notes().collect())
    }

    /// Writes what a merge left out to the files of the tree, where these are what the merge made of them.
    pub(super) fn write_joined(&self, repo: &Repo, chain: &Chain) -> Result<()> {
        if !self.is_checked_out(repo)? {
            return Ok(());
        }
        let joined = chain.restored.iter();
        for (name, bytes) in joined.filter(|(name, _)| chain.joined.contains(name)) {
            let path = self.root.join(name);
            let found = files::read_bounded(&path, names::most_bytes(name));
            let Ok(found) = found else {
                continue;
            };
            let found = found.map(|bytes| hash_blob(&bytes));
            if found == repo.id_at(&chain.tree, name)? {
                files::replace(&path, bytes)?;
            }
        }
        Ok(())
    }

    /// Says whether the files of the tree are this ledger's: another branch may be checked out beside a session in a slot.
    pub(super) fn is_checked_out(&self, repo: &Repo) -> Result<bool> {
        match &self.branch {
            Some(branch) => Ok(repo.head()?.branch.as_ref() == Some(branch)),
            None => Ok(true),
        }
    }

    /// Returns what every file should be: as git has it, and as it was written since.
    fn wanted(&self, repo: &Repo) -> Result<Vec<(String, Wanted<'_>)>> {
        let committed = match &self.tree {
            Some(tree) => repo.ledger_files(tree)?,
            None => Vec::new(),
        };
        let is_own = |name: &str| {
            ![names::QUEUE, names::RETRIES].contains(&name) && !names::is_private(name)
        };
        let mut wanted: Vec<_> = committed
            .into_iter()
            .filter(|(name, _)| {
                is_own(name) && !names::is_segment(name) && !self.pending.contains_key(name)
            })
            .map(|(name, entry)| (name, Wanted::Blob(entry.id)))
            .collect();
        let written = self.pending.iter().filter(|(name, _)| is_own(name));
        wanted.extend(written.filter_map(|(name, bytes)| {
            let bytes = bytes.as_deref()?;
            Some((name.clone(), Wanted::Written(bytes)))
        }));
        Ok(wanted)
    }

    /// Looks at one file, and puts it right. Says what was wrong with it.
    fn look_at(
        &self,
        repo: &Repo,
        name: &str,
        wanted: &Wanted<'_>,
        quarantine: &mut Quarantine,
    ) -> Result<Option<String>> {
        let path = repo.root.join(name);
        if self.is_untouched(&path) {
            return Ok(None);
        }
        let found = match files::read_bounded(&path, names::most_bytes(name)) {
            Err(error) if error.is_shortage() => return Err(error),
            found => found,
        };
        let is_needed = || matches!(wanted, Wanted::Written(_)) || super::STANDING.contains(&name);
        match &found {
            Ok(Some(bytes)) if self.is_in_memory(name, bytes) || wanted.is(bytes) => {
                return Ok(None);
            }
            // Nobody reads a snapshot from the tree; git may have been told to leave it out.
            Ok(None) if !is_needed() => return Ok(None),
            Ok(_) | Err(_) => {}
        }
        let wanted = match wanted {
            Wanted::Blob(id) => Cow::Owned(repo.blob(id)?),
            Wanted::Written(bytes) => Cow::Borrowed(*bytes),
        };
        let words = match &found {
            Ok(Some(bytes)) => match Growth::of(&exact::decode(&wanted), &exact::decode(bytes)) {
                // Git may write other line ends.
                Growth::Same => return Ok(None),
                growth => growth.in_words().map(|words| format!("had {words}")),
            },
            Ok(None) => Some("was gone".to_owned()),
            Err(_) => Some("was no plain file".to_owned()),
        };
        if !matches!(found, Ok(None)) {
            quarantine.take(&repo.root, name.as_bytes())?;
        }
        files::replace(&path, &wanted)?;
        Ok(words.map(|words| text::clean_line(&words)))
    }

    /// Says whether a file that was read from git holds what was read, which takes no digest of it.
    fn is_in_memory(&self, name: &str, found: &[u8]) -> bool {
        let is_read = name == names::HISTORY && !self.pending.contains_key(name);
        is_read && exact::is_of(&self.history_text, found)
    }

    /// Says whether a file was not changed since the last look. The time of its last change of any kind cannot be set.
    fn is_untouched(&self, path: &std::path::Path) -> bool {
        let Some(verified) = self.verified.and_then(|time| time.checked_sub(STAMP_STEP)) else {
            return false;
        };
        let Ok(since) = verified.duration_since(UNIX_EPOCH) else {
            return false;
        };
        fs::symlink_metadata(path).is_ok_and(|meta| {
            meta.is_file() && u64::try_from(meta.ctime()).is_ok_and(|time| time < since.as_secs())
        })
    }
}
