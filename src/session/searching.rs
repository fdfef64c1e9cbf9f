//! What every step of a search may read, and where its attempts are worked on and measured.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Blamed, Cut, Unready};
use crate::effects::agent::Agent;
use crate::effects::lock::Lock;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::sandbox::{Profile, Sandbox};
use crate::effects::search::goalposts::Goalposts;
use crate::effects::search::lent::Lent;
use crate::effects::search::sample::Sampler;
use crate::effects::search::store::Store;
use crate::effects::slot::{Base, Preparation, Prepared, Slot, Written};
use crate::effects::stop::Stop;
use crate::error::{Error, Result};
use crate::event::Events;
use crate::model::ledger::STOP;
use crate::model::search::editable::{self, Editable};
use crate::model::search::lineage::Request;
use crate::model::slot::Provisions;

/// What every step may read; nothing in here changes while a search runs.
#[derive(Debug)]
pub struct Searching {
    /// Where its attempts are.
    pub site: Site,
    /// Which files attempts may change.
    pub editable: Editable,
    /// What they may not put in front of what the gates and the fitness command run; known when the first is measured.
    pub goalposts: OnceCell<Goalposts>,
    /// Nor in front of what the hold-out runs.
    pub goalposts_of_holdout: OnceCell<Goalposts>,
    /// What the commands run of that which copies are lent.
    pub lent: Lent,
    /// The agent.
    pub agent: Agent,
    /// Held as long as the search runs.
    pub lock: Lock,
}

/// Where the attempts of a search are, and what measures them there.
#[derive(Debug)]
pub struct Site {
    /// The session's id.
    pub id: String,
    /// The user's repository.
    pub user: Repo,
    /// The files of the search.
    pub store: Store,
    /// What is worked on, and how it is measured.
    pub request: Request,
    /// Starts and ends agents and commands.
    pub supervisor: Supervisor,
    /// Holds them back.
    pub sandbox: Sandbox,
    /// Ends everything.
    pub stop: Stop,
    /// Who is told.
    pub events: Events,
    /// What was written beside slots.
    pub written: Written,
}

/// How the names of a search's slots begin.
const SEARCH: &str = "search-";

/// What a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// An agent works in it.
    Agent,
    /// Attempts are measured in it.
    Measure,
    /// What an attempt is held against is measured in it.
    Beside,
    /// It is tried in it what the others lack.
    Try,
    /// What is to be applied is measured in it, maybe while the search goes on.
    Apply,
    /// So is the branch that it is held against.
    Tip,
}

impl Slots {
    /// Those that a search works in.
    pub const OF_SEARCH: [Slots; 4] = [Slots::Agent, Slots::Measure, Slots::Beside, Slots::Try];
    /// Those in which what is to be applied is measured.
    pub const OF_APPLY: [Slots; 2] = [Slots::Apply, Slots::Tip];

    /// Says whether a search is at work at a root, if it is a slot's.
    pub fn is_of_search(root: &Path) -> bool {
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let is_in = |slots: &Slots| name.starts_with(&format!("{SEARCH}{}-", slots.word()));
        Slots::OF_SEARCH.iter().any(is_in)
    }

    fn word(self) -> &'static str {
        match self {
            Slots::Agent => "agent",
            Slots::Measure => "measure",
            Slots::Beside => "beside",
            Slots::Try => "try",
            Slots::Apply => "apply",
            Slots::Tip => "tip",
        }
    }
}

impl Searching {
    /// Puts back what agents at work made of what copies are lent, and tells of it.
    pub fn put_back_lent(&self) -> Result<()> {
        self.warn(self.lent.put_back()?);
        Ok(())
    }

    /// Tells of what was found.
    pub fn warn(&self, words: Vec<String>) {
        words
            .into_iter()
            .for_each(|words| self.site.events.warn(words));
    }
}

impl Site {
    /// Returns the slot for a purpose and lane, on a commit, made ready: with nothing in it that somebody left there.
    pub async fn slot(&self, slots: Slots, lane: usize, commit: &str) -> Result<Slot, Cut> {
        self.slot_with((slots, lane), &[], commit).await
    }

    /// Returns the same, lent more of the checkout.
    pub async fn slot_with(
        &self,
        place: (Slots, usize),
        more: &[String],
        commit: &str,
    ) -> Result<Slot, Cut> {
        let slot = self.known_slot(place, more)?;
        let base = Base {
            branch: &self.request.branch,
            commit,
        };
        let repo = slot.go_to(&self.user, base)?;
        let log = self.logs().join(format!("prepare-{}.log", name(place)));
        let ground = self.user.ground_of_slot(&slot.root);
        let how = Preparation {
            user: &self.user,
            base,
            supervisor: &self.supervisor,
            fence: &self.sandbox.fence(Profile::Checks, &ground)?,
            log: Some(&log),
            session: &self.id,
        };
        let prepared = match slot.make_clean(&repo, &how).await {
            // What was at work there may have locked its folders.
            Err(cause) if !cause.is_halt() => {
                tracing::debug!("{}: {cause}", slot.root.display());
                slot.remove()?;
                let repo = slot.go_to(&self.user, base)?;
                slot.make_clean(&repo, &how).await?
            }
            prepared => prepared?,
        };
        match (prepared, self.stop.halt()) {
            (Prepared::Ready, _) => Ok(slot),
            (Prepared::Stopped, Some(halt)) => Err(halt.into()),
            (Prepared::Stopped, None) => Err(Error::internal("prepare was stopped").into()),
            (Prepared::Failed(why), _) => Err(Cut::Unprepared(Unready {
                why,
                by: Blamed::Command(log),
            })),
            (Prepared::Astray(led), _) => Err(Cut::Unprepared(led.into())),
        }
    }

    /// Returns the slot for a purpose and lane as it is.
    pub fn known_slot(&self, place: (Slots, usize), more: &[String]) -> Result<Slot, Cut> {
        let provisions = Provisions {
            link: [&self.request.link[..], more].concat(),
            prepare: self.request.prepare.clone(),
        };
        let purpose = format!("{SEARCH}{}", name(place));
        let slot = Slot::of(&self.user, &purpose, provisions)?;
        Ok(Slot {
            written: self.written.clone(),
            is_led: editable::conversion(&self.request.files).is_some(),
            ..slot
        })
    }

    /// Removes the slots for these purposes, which nobody needs any more; one that cannot be removed is only told of.
    pub fn remove_slots(&self, all: &[Slots]) {
        for slots in all {
            let purpose = format!("{SEARCH}{}-", slots.word());
            if let Err(cause) = Slot::remove_all_of(&self.user, &purpose) {
                self.events.warn(cause.to_string());
            }
        }
    }

    /// Returns where the commands of an attempt's measurement are run.
    pub fn sampler(&self, slot: &Slot, id: u64) -> Result<Sampler> {
        Ok(Sampler {
            supervisor: self.supervisor.clone(),
            root: slot.root.clone(),
            sandbox: self.sandbox.clone(),
            ground: self.user.ground_of_slot(&slot.root),
            session: self.id.clone(),
            timeout: Duration::from_secs_f64(self.request.timeout_s),
            folder: self.folder(id)?,
            own: self.store.make_own_folder()?,
        })
    }

    /// Returns where a gate of an attempt's measurement is run.
    pub fn sampler_of_gate(&self, slot: &Slot, id: u64, gate: &str) -> Result<Sampler> {
        Ok(Sampler {
            timeout: Duration::from_secs_f64(self.request.gate_timeout_s(gate)),
            ..self.sampler(slot, id)?
        })
    }

    /// Heeds a STOP file that whoever worked in a slot on this commit left there, at a time that `when` tells. One that the commit has is
    /// nobody's word.
    pub fn heed_stop(&self, slot: &Slot, commit: &str, when: &str) -> Result<()> {
        if !self.user.has_file(&self.user.tree_of(commit)?, STOP)? {
            self.stop.heed_in_copy(&slot.root, when);
        }
        Ok(())
    }

    /// Returns the folder of what is kept of an attempt beside its commit, made.
    pub fn folder(&self, id: u64) -> Result<PathBuf> {
        self.store.make_folder_of(id)
    }

    /// Returns the folder of the session's logs.
    pub fn logs(&self) -> PathBuf {
        self.store.folder.clone()
    }
}

/// Returns how a slot is called.
fn name((slots, lane): (Slots, usize)) -> String {
    format!("{}-{lane}", slots.word())
}
