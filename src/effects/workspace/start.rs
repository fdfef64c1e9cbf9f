//! The state that a cycle starts from, and how what git keeps beside the tree is made the same again after its agent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Loose, Whereabouts, Workspace};
use crate::effects::files::{self, Dated, Moment};
use crate::effects::guard::Guarded;
use crate::effects::guard::programs::PutBack;
use crate::effects::guard::users::Users;
use crate::effects::keep::Kept;
use crate::effects::mirror::{self, Mirror};
use crate::effects::modes::Folders;
use crate::effects::near::Seen;
use crate::effects::pipes::{self, Plain};
use crate::effects::places::Places;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::git::compared::{Compared, Refs};
use crate::model::git::movement::Movement;
use crate::model::git::whose::Whose;
use crate::model::record::work_ref;

/// How many seconds before the start a file may be dated that was changed since: file systems count coarser than clocks.
const SLACK: i64 = 2;

/// The state that a cycle starts from and that an undo goes back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// The session.
    pub session: String,
    /// The cycle's number.
    pub cycle: u64,
    /// The branch that is worked on (`refs/heads/…`).
    pub branch: String,
    /// The commit that it was on.
    pub commit: String,
    /// That commit's tree.
    pub tree: String,
    /// The digest of that tree's content.
    pub content: String,
    /// How many movements HEAD had made, in a journal of before the newest of them was noted; else none.
    #[serde(default)]
    pub head_movements: usize,
    /// How many movements the branch had made, in such a journal.
    #[serde(default)]
    pub branch_movements: usize,
    /// The newest of HEAD's movements and of the branch's, as far as there were any.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub newest_movements: (Option<Movement>, Option<Movement>),
    /// The user's files that git does not track.
    pub kept: Kept,
    /// What is lent to a slot from the user's checkout and `protect` names.
    #[serde(default, skip_serializing_if = "Kept::is_empty")]
    pub lent: Kept,
    /// What lay loose in the submodules of a slot right before the agent; after a crash it counts as the agent's.
    #[serde(skip)]
    pub in_modules: Arc<Loose>,
    /// What git was told not to look at, as in `h path`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// What git holds for the user beside them.
    #[serde(default, skip_serializing_if = "Guarded::is_empty")]
    pub guarded: Guarded,
    /// The user's own configuration of git, outside the repository.
    #[serde(default, skip_serializing_if = "Users::is_empty")]
    pub users: Users,
    /// What checks compare with.
    #[serde(default, skip_serializing_if = "Compared::is_empty")]
    pub compared: Compared,
    /// All refs before the agent, where they are not remembered beside the settings.
    #[serde(skip)]
    pub refs: Option<Arc<Refs>>,
    /// The folders of the tree with their modes; remembered with the rest when an agent is about to work.
    #[serde(skip)]
    pub folders: Arc<Folders>,
    /// Which tracked files lay where; after a crash what is `guarded` tells of their folders alone.
    #[serde(skip)]
    pub whereabouts: Option<Arc<Whereabouts>>,
    /// What was called `.git` below the root of the working tree right before the agent, without its own; none where that is
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repositories: Option<Vec<String>>,
    /// What was called `.gitignore` then; none where that is not known, as after a crash.
    #[serde(skip)]
    pub ignoring: Option<Arc<BTreeSet<PathBuf>>>,
    /// The pipes, sockets and devices then; none where that is not known.
    #[serde(skip)]
    pub unlisted: Option<Arc<BTreeSet<PathBuf>>>,
    /// When the cycle started, in seconds since 1970; a lock file older than that is not the agent's.
    pub since: i64,
    /// The same as the file system dates what is changed, from before the tree was looked at; none after a crash.
    #[serde(skip)]
    pub dated: Option<Dated>,
    /// From when on a tracked file may have been changed without that its content was compared: before the last cycle's agent.
    /// None where that is the start.
    #[serde(skip)]
    pub unverified_since: Option<Dated>,
    /// Git's attributes made something else of the ledger's files then.
    #[serde(skip)]
    pub is_ledger_converted: bool,
}

fn is_unknown(movements: &(Option<Movement>, Option<Movement>)) -> bool {
    *movements == (None, None)
}

/// What was done to make git's settings what they were.
#[derive(Debug, Default)]
pub struct SettingsBack {
    /// What a reader of the record should know.
    pub notes: Vec<String>,
    /// Why the cycle cannot stand: what git keeps was replaced by what git cannot use.
    pub broken: Option<String>,
    /// The index is another than git left there.
    pub is_index_back: bool,
}

impl Start {
    /// The same start, for the cycle with this number.
    pub fn of_cycle(self, cycle: u64) -> Start {
        Start { cycle, ..self }
    }

    /// Returns the moment from which on what was changed may have been changed since the cycle started.
    pub(super) fn began(&self) -> Moment {
        self.dated.map_or((self.since, 0), |dated| dated.moment)
    }

    /// Says whether a file's state may have been changed since. What another file system than that of `evolve`'s own files dates, or
    /// what is asked after a crash, is told to the second only.
    pub(super) fn is_since(&self, seen: Seen) -> bool {
        is_since(seen, self.dated, self.since)
    }

    /// Says whether a file's state may have been changed since its content was last compared. Checks that ran after that may have
    /// written what an index of theirs calls unchanged.
    pub(super) fn is_unverified(&self, seen: Seen) -> bool {
        let earlier = self.unverified_since;
        self.is_since(seen) || earlier.is_some() && is_since(seen, earlier, self.since)
    }

    /// Makes git's settings what they were before the agent, and gives its folder back what that has lost; says what had
    /// changed. To be done before git is called or the repository opened again.
    pub fn put_back_settings(&self, places: &Places, plain: &Plain) -> Result<SettingsBack> {
        let mut quarantine = Quarantine::of(&places.private, &self.session, self.cycle);
        let stood = self.guarded.stood(places, self.since);
        let around = self.guarded.around(places);
        let cleared = pipes::clear_git(places, plain, &stood, &around, &mut quarantine)?;
        let mirror = Mirror::of(places).ok();
        let mirror = mirror.filter(|_| !self.guarded.is_empty());
        if let Some(mirror) = &mirror {
            mirror.clear_links(self.began(), &mut quarantine)?;
        }
        let mut notes = self
            .guarded
            .put_back_settings(places, "the agent", &mut quarantine)?;
        if !self.guarded.is_empty() {
            mirror::clear_damaged(places, self.began(), &mut quarantine)?;
        }
        if let Some(mirror) = &mirror {
            notes.extend(mirror.give_back(&mut quarantine)?);
            mirror.lend_again(&cleared.misplaced)?;
        }
        let head = places.git_dir.join("HEAD");
        if cleared.misplaced.contains(&head) && std::fs::symlink_metadata(&head).is_err() {
            files::replace(&head, format!("ref: {}\n", self.branch).as_bytes())?;
        }
        notes.extend(quarantine.notes());
        Ok(SettingsBack {
            notes,
            broken: cleared.reason(&places.common),
            is_index_back: cleared.misplaced.contains(&places.git_dir.join("index")),
        })
    }

    /// Moves away and removes what came among git's objects and cannot be relied on; says what. Unlike
    /// `put_back_settings` this needs nothing that was remembered: it may be asked for before the agent.
    pub fn clear_objects(&self, places: &Places) -> Result<Vec<String>> {
        let mut quarantine = Quarantine::of(&places.private, &self.session, self.cycle);
        mirror::clear_damaged(places, self.began(), &mut quarantine)?;
        Ok(quarantine.notes().collect())
    }

    /// Makes git's settings what they were once more, when git has run the user's filters for the last time: these may have loaded
    /// what the agent wrote. Says what had changed.
    pub fn hold_settings(&self, places: &Places) -> Result<Vec<String>> {
        let mut quarantine = Quarantine::of(&places.private, &self.session, self.cycle);
        let mut notes = self
            .guarded
            .put_back_settings(places, "the agent", &mut quarantine)?;
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// Makes the programs in the working tree what they were that settings of git name. To be done before git is called.
    pub fn put_back_programs(&self, places: &Places) -> Result<PutBack> {
        let mut quarantine = Quarantine::of(&places.private, &self.session, self.cycle);
        let mut put_back = self.guarded.put_back_programs(places, &mut quarantine)?;
        put_back.notes.extend(quarantine.notes());
        Ok(put_back)
    }

    /// Has git go by the user's own configuration as it was; says what of it changed. To be done before git is called.
    pub fn hold_users(&self, repo: &Repo) -> Result<Vec<String>> {
        let changed = self.users.hold(&repo.git, &repo.private)?;
        Ok(changed.into_iter().collect())
    }

    /// Puts back refs and entries of the stash that are gone or were moved away since; says which.
    pub fn put_back_refs(&self, repo: &Repo) -> Result<Vec<String>> {
        let whose = self.whose();
        if self.guarded.is_empty() {
            return Ok(Vec::new());
        }
        // With one that is left no ref can be written.
        let mut notes = Workspace { repo }.clear_locks(self)?;
        let mut quarantine = Quarantine::of(&repo.private, &self.session, self.cycle);
        let put_back = self.guarded.put_back_refs(repo, &whose, &mut quarantine)?;
        notes.extend(put_back);
        if let Ok(mirror) = Mirror::of(&repo.own_places()) {
            notes.extend(mirror.give_logs_back(&whose, &mut quarantine)?);
        }
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// Returns where a ref beside HEAD leads that was written since.
    pub fn root_ref(&self, repo: &Repo, name: &str) -> Option<String> {
        repo.root_ref(name, self.since)
    }

    /// Returns whose the refs are that moved since.
    pub fn whose(&self) -> Whose {
        Whose {
            branch: self.branch.clone(),
            mark: self.mark(),
            work_ref: self.work_ref(),
            start: Some(self.commit.clone()),
        }
    }

    /// Returns the value of `GIT_REFLOG_ACTION` that marks the agent's movements of refs.
    pub fn mark(&self) -> String {
        format!("evolve-{}-{}", self.session, self.cycle)
    }

    /// Returns the ref under which the agent's work stays reachable.
    pub fn work_ref(&self) -> String {
        work_ref(&self.session, self.cycle)
    }
}

fn is_since(seen: Seen, dated: Option<Dated>, since: i64) -> bool {
    match dated {
        Some(dated) if dated.device == seen.place.0 => seen.changed >= dated.moment,
        Some(_) | None => seen.changed.0 + SLACK >= since,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_in_the_tick_of_the_start_may_have_been_changed_since_and_nothing_earlier() {
        let seen = |device, changed| Seen {
            mode: 0o100_644,
            changed,
            place: (device, 1),
            ..Seen::default()
        };
        let dated = Dated {
            device: 1,
            moment: (100, 500),
        };
        let here = |changed| is_since(seen(1, changed), Some(dated), 101);
        assert_eq!(
            [(100, 499), (100, 500), (100, 501), (101, 0), (99, 900)].map(here),
            [false, true, true, true, false]
        );
        // Another file system's clock, and none.
        for told in [
            is_since(seen(2, (99, 0)), Some(dated), 101),
            is_since(seen(1, (99, 0)), None, 101),
        ] {
            assert!(told);
        }
        assert!(!is_since(seen(2, (98, 999)), Some(dated), 101));
    }
}
