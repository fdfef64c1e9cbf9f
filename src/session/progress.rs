//! What a session has learned so far.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::SystemTime;

use chrono::{DateTime, Utc};

use crate::effects::changed;
use crate::effects::clock;
use crate::effects::files::Dated;
use crate::effects::keep::Kept;
use crate::effects::ledger::Ledger;
use crate::effects::repo::Repo;
use crate::effects::unrecorded;
use crate::effects::workspace::Start;
use crate::model::goals::{self, Goals};
use crate::model::ledger as names;
use crate::model::record::Recorded;
use crate::model::snapshot::{self, Measurement, Snapshot};
use crate::model::usage::Spent;

use super::GoalsFile;

/// The newest sweep of this session.
#[derive(Clone, Debug)]
pub struct LastSweep {
    /// When it began.
    pub at: DateTime<Utc>,
    /// The cycle it was part of.
    pub cycle: u64,
    /// What came of it; none if it did not get as far.
    pub told: Option<String>,
}

/// A snapshot that may serve as the next cycle's first.
#[derive(Clone, Debug)]
pub struct Carried {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The file that holds it.
    pub file: String,
    /// The content it was measured on.
    pub content: String,
}

/// What a run has learned so far.
#[derive(Debug)]
pub struct Progress {
    /// The ledger, in memory.
    pub ledger: Ledger,
    /// The second snapshot of a cycle that kept its change, or the baseline.
    pub carried: Option<Carried>,
    /// The newest snapshot of what is in the repository.
    pub newest: Option<Snapshot>,
    /// Goals that pass at the start of this cycle and did not when the last one was recorded: somebody else mended them. A cycle may
    /// begin several times before it is recorded.
    pub mended: Vec<String>,
    /// The first snapshot of this session.
    pub first: Option<Snapshot>,
    /// What this session recorded.
    pub recorded: Recorded,
    /// The cycle that the start of this session recorded for one that died.
    pub recovered: Option<u64>,
    /// Where the last of these cycles started.
    pub start: Option<Start>,
    /// A moment before the last look at the content of what was changed in tracked files: before the agent that it was for.
    pub verified: Option<Dated>,
    /// Copies of the user's untracked files, from the last cycle.
    pub kept: Option<Kept>,
    /// Copies of what the user's checkout lent, from the last cycle.
    pub lent: Option<Kept>,
    /// When the session began, as files are dated; none where an agent of it ran.
    pub began: Option<SystemTime>,
    /// What the agents of this session used.
    pub spent: Spent,
    /// How often in a row an agent could not run for a reason that passes.
    pub refusals: u32,
    /// How the tree was found at the session's start, for a first cycle that follows at once.
    pub opened: Option<Start>,
    /// The newest sweep of this session, be it a vain one.
    pub last_sweep: Option<LastSweep>,
    /// The cycles of this session that did a sweep's item, and nobody looked yet whether what was found is gone.
    pub unproven: BTreeSet<u64>,
    /// It was said that there is no copy of the git directory.
    pub is_unmirrored: bool,
    /// The settings of which it was said that not all of their code is followed.
    pub unfollowed: Vec<String>,
    /// The folders of tools of which it was said that git does not ignore them.
    pub unignored: BTreeSet<String>,
    /// The goals of which it was said that they may fail by evolve's own files.
    pub own_records: BTreeSet<String>,
    /// How many cycles in a row worked on what agents left.
    pub found_in_a_row: usize,
    /// How often in a row the branch was moved while the goals were first measured.
    pub outrun_in_a_row: u32,
    /// The refs of good changes of the last cycles in a row that somebody else's commits kept from the branch.
    pub kept_off: Vec<String>,
    /// Where the programs that checks call were found first.
    pub programs: BTreeMap<String, String>,
    /// Goals were measured since the tree was looked at for this cycle.
    pub is_measured: bool,
    /// The untracked files that came while goals were measured in this session, in hex.
    pub came: BTreeSet<String>,
    /// Files that checks run and do something to themselves: that was so before an agent was called.
    pub touched: BTreeSet<String>,
    /// The tracked files of which it was said that checks write to them in a copy.
    pub written: BTreeSet<String>,
    /// The goals that are not met by what is committed alone, with the digest of the content of which that was measured last.
    pub unmet: Option<(String, BTreeSet<String>)>,
    /// What a reader of the next record should know of what was found before an agent was called.
    pub found: Vec<String>,
    /// What of it was not told yet, as the lines of the cycle that records it do that.
    pub untold: Vec<String>,
}

impl Progress {
    /// Starts from a ledger.
    pub fn new(repo: &Repo, mut ledger: Ledger) -> Progress {
        let newest = ledger.history.newest();
        let newest = newest.map(|record| (changed::believed(repo, &ledger, record), record));
        let (doubt, newest) = match newest {
            Some((snapshots, record)) => (snapshots.doubt.clone(), snapshots.newest(record)),
            None => (None, None),
        };
        ledger.report(doubt);
        Progress {
            ledger,
            carried: None,
            newest,
            mended: Vec::new(),
            first: None,
            recorded: Recorded::default(),
            recovered: None,
            start: None,
            verified: None,
            kept: None,
            lent: None,
            began: Some(clock::file_time()),
            spent: Spent::default(),
            refusals: 0,
            opened: None,
            last_sweep: None,
            unproven: BTreeSet::new(),
            is_unmirrored: false,
            unfollowed: Vec::new(),
            unignored: BTreeSet::new(),
            own_records: BTreeSet::new(),
            found_in_a_row: 0,
            outrun_in_a_row: 0,
            kept_off: Vec::new(),
            programs: BTreeMap::new(),
            is_measured: false,
            came: BTreeSet::new(),
            touched: BTreeSet::new(),
            written: BTreeSet::new(),
            unmet: None,
            found: Vec::new(),
            untold: Vec::new(),
        }
    }

    /// Starts from a ledger to tell of it: before the first cycle is recorded, the baseline is what is known of the repository. What a
    /// later session measured that recorded nothing is newer.
    pub fn to_look_at(repo: &Repo, ledger: Ledger) -> Progress {
        let mut progress = Progress::new(repo, ledger);
        if progress.ledger.history.newest().is_none() {
            progress.newest = progress.ledger.snapshot(repo, names::BASELINE);
        }
        let newest = progress.ledger.history.newest();
        let measured = unrecorded::read(&repo.private, newest).and_then(|one| one.measured);
        progress.newest = measured.or(progress.newest.take());
        progress
    }

    /// Keeps for the next record what was found before an agent was called; says whether nobody was told of it yet.
    pub fn note_found(&mut self, found: &str) -> bool {
        let is_new = !self.found.iter().any(|note| note == found);
        if is_new {
            self.found.push(found.to_owned());
        }
        is_new
    }

    /// Notes the untracked files that came between two looks, while goals were measured.
    pub fn note_came(&mut self, earlier: &Kept, now: &Kept) {
        let names = now.untracked.keys();
        let new = names.filter(|name| !earlier.untracked.contains_key(*name));
        self.came.extend(new.cloned());
    }

    /// Keeps for the next record what was found, and leaves it to that to tell it.
    pub fn note_for_record(&mut self, found: &str) {
        if self.note_found(found) {
            self.untold.push(found.to_owned());
        }
    }

    /// Notes the newest snapshot of what is in the repository.
    pub fn note_snapshot(&mut self, snapshot: &Snapshot) {
        self.first.get_or_insert_with(|| snapshot.clone());
        if let Some(newest) = &self.newest {
            self.mended = snapshot::still_mended(&self.mended, newest, snapshot);
        }
        self.newest = Some(snapshot.clone());
    }

    /// Returns what came of the sweep in this cycle, if there was one.
    pub fn swept_in(&self, cycle: u64) -> Option<&str> {
        let last = self.last_sweep.as_ref();
        last.filter(|last| last.cycle == cycle)?.told.as_deref()
    }

    /// Returns how long each check of these goals took last; nothing of those that were another command then.
    pub fn expected_durations(
        &self,
        repo: &Repo,
        file: &GoalsFile,
        goals: &Goals,
    ) -> HashMap<String, f64> {
        let Some(newest) = &self.newest else {
            return HashMap::new();
        };
        let earlier = match newest.goals_digest == goals.digest {
            true => None,
            false => match goals_of(repo, file, newest) {
                Some(goals) => Some(goals),
                // Nobody can tell which of them are the same.
                None => return HashMap::new(),
            },
        };
        let check = |goals: &Goals, id: &str| goals.find(id).map(|goal| goal.check.clone());
        let is_same = |goal: &&Measurement| {
            let earlier = earlier.as_ref();
            earlier.is_none_or(|earlier| check(earlier, &goal.id) == check(goals, &goal.id))
        };
        let same = newest.goals.iter().filter(is_same);
        same.map(|goal| (goal.id.clone(), goal.duration_s))
            .collect()
    }
}

/// Returns the goals by which a snapshot was measured, if the commit that it began at has them.
fn goals_of(repo: &Repo, file: &GoalsFile, snapshot: &Snapshot) -> Option<Goals> {
    let tree = repo.tree_of(snapshot.cycle_start_sha.as_ref()?).ok()?;
    let bytes = repo.file(&tree, file.in_repo.as_ref()?).ok()??;
    let (goals, _) = goals::read_goals(&file.shown, &bytes).ok()?;
    (goals.digest == snapshot.goals_digest).then_some(goals)
}
