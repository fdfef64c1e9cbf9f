//! What of the copies outlives a session that died: a list beside them says of what they are copies, and whether an agent was at work.
//! Whoever comes next puts back what an agent changed, and keeps what stood there before where a command wrote over it.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::FOLDER;
use super::ahead::Ahead;
use super::copies::Copies;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::search::store::Store;
use crate::effects::{files, proc_table};
use crate::error::{Error, Result};

/// The file among the copies that says of what they are copies.
const LIST: &str = "list.json";
/// The largest such list that is read, in bytes.
const LIST_BYTES: u64 = 16 << 20;

/// What is known of the copies.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct List {
    /// The process whose they are, and when it was started: as long as it lives, they are nobody else's business.
    owner: (u32, u64),
    /// What changes is an agent's, and is put back; else it is the commands' own.
    is_agent_at_work: bool,
    copies: Copies,
    ahead: Ahead,
}

impl List {
    /// Returns the list of copies of this process.
    pub(super) fn of(copies: Copies, ahead: Ahead, is_agent_at_work: bool) -> List {
        let own = std::process::id();
        List {
            owner: (own, proc_table::start_time(own).unwrap_or(0)),
            is_agent_at_work,
            copies,
            ahead,
        }
    }

    /// Writes it into the folder of the copies.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let list = serde_json::to_vec(self)
            .map_err(|cause| Error::internal(format!("cannot write JSON: {cause}")))?;
        files::make_folder(folder)?;
        files::replace(&folder.join(LIST), &list)
    }

    /// Returns the list in a folder of copies; none where it cannot be read.
    fn read(folder: &Path) -> Result<Option<List>> {
        let bytes = files::read_bounded(&folder.join(LIST), LIST_BYTES)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn is_at_work(&self) -> bool {
        let (owner, started) = self.owner;
        owner != std::process::id() && proc_table::is_alive(owner, Some(started))
    }

    /// Puts back, or keeps, what became of the files; returns what is to be told.
    fn settle(
        &self,
        root: &Path,
        folder: &Path,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let mut words = match self.is_agent_at_work {
            true => self.ahead.take(root, quarantine)?,
            false => self.ahead.told(root),
        };
        words.extend(match self.is_agent_at_work {
            true => self.copies.restore(root, folder, quarantine)?,
            false => self.copies.written(root, folder, quarantine)?,
        });
        Ok(words)
    }
}

/// Says whether a session that died left anything to be put back or kept. Costs next to nothing where none did.
pub fn is_left(private: &Path) -> bool {
    !folders(private).is_empty()
}

/// Puts back what agents of sessions that died had changed, whatever search they were of, and keeps what commands wrote over; returns
/// what is to be told. To be called by who holds the lock of searches.
pub fn put_back_left(user: &Repo, session: &str) -> Result<Vec<String>> {
    let folders = folders(&user.private);
    if folders.is_empty() {
        return Ok(Vec::new());
    }
    // What is at work still could write again.
    Store::end_left(&user.private)?;
    let mut quarantine = Quarantine::of(&user.private, session, 0);
    let mut words = Vec::new();
    for folder in folders {
        match List::read(&folder)? {
            Some(list) => {
                let settled = list.settle(&user.root, &folder, &mut quarantine);
                let shown = folder.display();
                let way = format!("put it back as it was, remove {shown}, and run it again");
                words.extend(settled.map_err(|error| error.hint(way))?);
                remove(&folder)?;
            }
            // Of what these are copies nobody can tell: each may be the last.
            None => {
                let below = folder.strip_prefix(&user.private).unwrap_or(&folder);
                quarantine.take_from(&user.private, below, below)?;
            }
        }
        remove_above(&folder);
    }
    words.extend(quarantine.notes());
    Ok(words)
}

/// Removes a folder of copies that nobody needs any more.
pub(super) fn remove(folder: &Path) -> Result<()> {
    files::remove_all(folder).map_err(|cause| Error::io("remove", folder, cause))?;
    remove_above(folder);
    Ok(())
}

/// Removes the folder around those of the sessions, if it was the last.
fn remove_above(folder: &Path) {
    let _ = folder.parent().map(fs::remove_dir);
}

/// Returns the files that are what an agent of a session that died made of them.
pub fn left_by_agents(user: &Repo) -> Vec<String> {
    let lists = folders(&user.private).into_iter();
    let lists = lists.filter_map(|folder| List::read(&folder).ok().flatten());
    let lists = lists.filter(|list| list.is_agent_at_work);
    let mut found: Vec<String> = lists
        .flat_map(|list| {
            let new = list.ahead.came(&user.root).into_keys();
            let changed = list.copies.changed(&user.root).into_iter();
            changed.chain(new).collect::<Vec<_>>()
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the folders of copies of sessions that are over.
fn folders(private: &Path) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let searches = entries(private.join("search"));
    let all = searches.flat_map(|search| entries(search.path().join(FOLDER)));
    let all = all.map(|entry| entry.path());
    let is_over = |folder: &PathBuf| {
        let list = List::read(folder).ok().flatten();
        folder.is_dir() && !list.is_some_and(|list| list.is_at_work())
    };
    all.filter(is_over).collect()
}
