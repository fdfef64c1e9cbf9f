//! Gathers what git holds of a history, for `model::audit` to judge. Reads only: no lock, no file, no ref.

mod baseline;
mod beside;
mod chronicle;
mod goals_files;
mod remeasure;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use serde::Deserialize;

use crate::effects::repo::{Difference, Past, Repo};
use crate::error::{Error, Result};
use crate::model::audit::{
    self, Audit, BY_OTHERS, Disagreement, Kept, Recorder, Sight, Trailers, Undo, Witness, Written,
};
use crate::model::exact;
use crate::model::goals::Goals;
use crate::model::ledger as names;
use crate::model::record::{BASELINE_IS_ADRIFT, CycleResult, History, Record, START_IS_GONE};
use crate::model::snapshot::{FORMAT, Snapshot};
use crate::model::{mask, text, yardstick};

use chronicle::Chronicle;
use goals_files::{Found, GoalsFiles};

pub use remeasure::{Again, Compared, remeasure};

/// What was recorded of a commit, so that it can be measured again.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The cycle.
    pub cycle: u64,
    /// The commit that the cycle left.
    pub commit: String,
    /// The snapshot that was taken of its content.
    pub snapshot: Snapshot,
}

/// Everything that is read once and asked for often.
struct Auditor<'a> {
    repo: &'a Repo,
    past: Past,
    goals_file: Option<&'a str>,
    /// The goals of files that were measured.
    goals: GoalsFiles,
    is_shallow: bool,
    /// Snapshots that were held against their records.
    snapshots: HashSet<(String, String)>,
    /// Records whose snapshots were taken of goals that are not in the goals file.
    other_goals: usize,
    /// Snapshots of which there is more than one version.
    repeated: HashSet<String>,
    /// Keys of records and snapshots that nothing here reads.
    unknown: BTreeSet<String>,
}

/// Holds the history of HEAD against everything that git knows of it. Returns what was found, and the records with their
/// snapshots, newest first, as far as there are `wanted`. `goals_file` is its path in the repository, if it has one.
pub fn audit(
    repo: &Repo,
    goals_file: Option<&str>,
    wanted: usize,
) -> Result<(Audit, Vec<Recorded>)> {
    let head = repo.head()?.commit.ok_or_else(|| {
        Error::unsafe_repo("this repository has no commit yet, so there is no history to audit")
    })?;
    let told = |error: Error| match repo.is_partial() {
        true => Error::unsafe_repo(format!(
            "this is a partial clone, which has not all files of its history: {}",
            error.message
        ))
        .hint("get them with `git fetch --refetch --no-filter`, or audit in a whole clone"),
        false => error,
    };
    let past = repo.past(&head).map_err(told)?;
    let mut auditor = Auditor {
        is_shallow: (0..past.len()).any(|place| past.is_cut(place)),
        repo,
        past,
        goals_file,
        goals: GoalsFiles::default(),
        snapshots: HashSet::new(),
        other_goals: 0,
        repeated: HashSet::new(),
        unknown: BTreeSet::new(),
    };
    auditor.run(head, wanted).map_err(told)
}

impl Auditor<'_> {
    fn run(&mut self, head: String, wanted: usize) -> Result<(Audit, Vec<Recorded>)> {
        let text = chronicle::text_of(self.repo, &self.past, 0)?;
        let now: Vec<String> = chronicle::lines_of(&text).collect();
        let records = History::parse(&String::from_utf8_lossy(&text)).records;
        let of_agents = self.made_by_agents(&records)?;
        let chronicle = Chronicle::of(self.repo, &self.past, text, &now, &of_agents)?;
        let is_hidden = |commit: &str| self.is_shallow && self.past.place(commit).is_none();
        let lines = audit::lines(&now, &chronicle.written, &chronicle.unseen, is_hidden);
        let filed = self.with_records(chronicle.filed, &lines.records, &chronicle.written);
        let mut disagreements = lines.disagreements;
        let mut notes = lines.notes;
        let place = |index: usize| self.past.place(&filed[index].commit);
        let descends = |later, earlier| match (place(later), place(earlier)) {
            (Some(later), Some(earlier)) => self.past.descends(later, earlier),
            _ => false,
        };
        disagreements.extend(audit::files(&filed, descends));
        let mut versions = HashMap::new();
        for file in &filed {
            if *versions.entry(&file.name).or_insert(&file.id) != &file.id {
                self.repeated.insert(file.name.clone());
            }
        }
        if self.is_shallow {
            // The version of the other branch may be beyond what the clone holds.
            let mut seen = HashSet::new();
            let cycles = records.iter().map(|record| record.cycle);
            for cycle in cycles.filter(|cycle| !seen.insert(*cycle)) {
                let names = [names::snapshot(cycle), names::post_snapshot(cycle)];
                self.repeated.extend(names);
            }
        }
        disagreements.extend(self.baselines(&filed, &lines.records, &chronicle.written)?);
        let mut recorded = Vec::new();
        let mut unseen = 0;
        for (record, recorder) in lines.records.iter().rev() {
            let recorder = recorder.map(|index| &chronicle.written[index]);
            unseen += usize::from(recorder.is_none());
            let keeps = recorded.len() < wanted;
            let (found, snapshot) = self.hold(record, recorder)?;
            disagreements.extend(found);
            recorded.extend(snapshot.filter(|_| keeps));
        }
        let recorders = lines.records.iter().filter_map(|(_, recorder)| *recorder);
        let recorders = recorders.map(|index| &chronicle.written[index].commit[..]);
        disagreements.extend(self.more_than_the_ledger(&recorders.collect(), &of_agents)?);
        notes.extend(self.unknown_keys(&now));
        let undos = self.undos(&records, &of_agents)?;
        let next = records.iter().map(|record| record.cycle).max().unwrap_or(0) + 1;
        disagreements.extend(undos.iter().flat_map(|undo| audit::of_undo(undo, next)));
        notes.extend(undos.iter().filter_map(|undo| {
            let (name, commit) = (undo.taken_from.as_ref()?, &undo.commit);
            let cycle = undo.cycle;
            Some(format!(
                "commit {commit} takes back cycle {cycle}, whose record is not in this history, but on {name}"
            ))
        }));
        if self.is_shallow && unseen > 0 {
            notes.push(format!(
                "this clone is shallow: {} could not be held against the commits that made them",
                text::count(unseen, "record")
            ));
        }
        let adrift = records.iter().filter(|one| one.has_lost_its_start());
        notes.extend(adrift.map(|one| format!("cycle {}: {START_IS_GONE}", one.cycle)));
        let adrift = records.iter().filter(|one| one.has_lost_its_baseline());
        notes.extend(adrift.map(|one| format!("cycle {}: {BASELINE_IS_ADRIFT}", one.cycle)));
        if self.other_goals > 0 {
            notes.push(format!(
                "{} were measured with other goals than {} of their start: which goals these are cannot be seen",
                text::count(self.other_goals, "cycle"),
                self.goals_file.unwrap_or("a file of the repository")
            ));
        }
        notes.extend(self.rewritten(&disagreements));
        disagreements.sort();
        disagreements.dedup();
        let taken_back = records.iter().filter(|one| one.takes_back().is_some());
        let taken_back: HashSet<_> = taken_back.map(|one| (one.cycle, &one.commit_sha)).collect();
        let audit = Audit {
            format: FORMAT,
            head,
            commits: self.past.len(),
            records: lines.distinct,
            snapshots: self.snapshots.len(),
            undos: undos.len(),
            taken_back: taken_back.len(),
            remeasured: Vec::new(),
            unmeasured: Vec::new(),
            disagreements,
            notes,
        };
        Ok((audit, recorded))
    }

    /// Returns the commits that agents made in recorded cycles: whatever these say about themselves is only said.
    fn made_by_agents(&self, records: &[Record]) -> Result<HashSet<usize>> {
        let mut recorders: HashMap<u64, Vec<usize>> = HashMap::new();
        for place in 0..self.past.len() {
            let trailers = self.past.message(place).map(Trailers::of);
            if let Some(cycle) = trailers.and_then(|trailers| trailers.records()) {
                recorders.entry(cycle).or_default().push(place);
            }
        }
        let mut made = HashSet::new();
        for record in records {
            let is_mixed = record
                .reason
                .as_ref()
                .is_some_and(|reason| reason.starts_with(BY_OTHERS));
            let Some(tip) = self.past.place(&record.commit_sha).filter(|_| !is_mixed) else {
                continue;
            };
            let candidates = recorders.get(&record.cycle).into_iter().flatten();
            // Its own recorder follows the commit; what an agent forged in mid-cycle comes before it.
            let follows = |place: &&usize| **place < tip && self.past.descends(**place, tip);
            let Some(recorder) = candidates.rev().copied().find(|place| follows(&place)) else {
                continue;
            };
            let start = self.start_of(recorder, record.cycle)?;
            let between = match start {
                Some(start) => self.past.between(start, tip),
                None if self.is_shallow && !record.has_lost_its_start() => self.past.until_cut(tip),
                None => continue,
            };
            let is_agents =
                |place: &usize| Some(*place) != start && !(record.is_undone() && *place == tip);
            made.extend(between.into_iter().filter(is_agents));
        }
        Ok(made)
    }

    /// Returns the start of a cycle, as its first snapshot has it.
    fn start_of(&self, recorder: usize, cycle: u64) -> Result<Option<usize>> {
        #[derive(Deserialize)]
        struct Started {
            cycle_start_sha: Option<String>,
        }
        let tree = self.past.tree(recorder);
        let bytes = self
            .repo
            .file(&tree, &names::snapshot(cycle))?
            .unwrap_or_default();
        let started: Option<Started> = serde_json::from_slice(&bytes).ok();
        let start = started.and_then(|started| started.cycle_start_sha);
        Ok(start.and_then(|start| self.past.place(&start)))
    }

    /// Notes at each file which cycle its commit truly recorded.
    fn with_records(
        &self,
        filed: Vec<audit::Filed>,
        records: &[(Record, Option<usize>)],
        written: &[Written],
    ) -> Vec<audit::Filed> {
        let cycles: HashMap<&str, u64> = records
            .iter()
            .filter_map(|(record, place)| Some((written[(*place)?].commit.as_str(), record.cycle)))
            .collect();
        let with_record = |file: audit::Filed| audit::Filed {
            records: file.records.or(cycles.get(file.commit.as_str()).copied()),
            ..file
        };
        filed.into_iter().map(with_record).collect()
    }

    /// Holds one record against everything that it names.
    fn hold(
        &mut self,
        record: &Record,
        recorder: Option<&Written>,
    ) -> Result<(Vec<Disagreement>, Option<Recorded>)> {
        let place = recorder.and_then(|written| self.past.place(&written.commit));
        let snapshots = [
            self.snapshot(place, &names::snapshot(record.cycle))?,
            self.snapshot(place, &names::post_snapshot(record.cycle))?,
        ];
        let before = match &snapshots[0] {
            Sight::Seen(Ok(before)) => Some(before),
            Sight::Seen(Err(_)) | Sight::Gone | Sight::Unseen => None,
        };
        let start = before.and_then(|before| before.cycle_start_sha.clone());
        let origin = self.origin(place, before)?;
        let session = match place {
            Some(place) => self.session_beside(place)?,
            None => None,
        };
        let commit = self.kept(&record.commit_sha, place.unwrap_or(0))?;
        let tip = self.past.place(&record.commit_sha);
        let started = match &start {
            Some(start) => self.kept(start, tip.unwrap_or(0))?,
            None => Sight::Unseen,
        };
        let (goals, added) = match (&started, &start, before) {
            (Sight::Seen(_), Some(start), Some(before)) => self.goals_of(start, before, record)?,
            _ => (Sight::Unseen, None),
        };
        let mut differs_in = Vec::new();
        if let (Some(back_to), Some(commit)) = (&record.reverted_to, commit.seen())
            && !audit::is_adrift(record, &started)
            && self.repo.has_commit(back_to)
            && self.repo.content(&self.repo.tree_of(back_to)?)? != commit.content
        {
            let trees = [back_to, &record.commit_sha].map(|id| self.repo.tree_of(id));
            let [start, undone] = trees;
            differs_in = self.differences(&start?, &undone?)?;
        }
        let snapshot = {
            let kept = match (&snapshots[1], record.is_undone()) {
                (Sight::Seen(Ok(after)), false) => Some(after),
                _ => before,
            };
            kept.filter(|_| commit.seen().is_some()).cloned()
        };
        let found = audit::of_record(&Witness {
            record,
            recorder: recorder.map(|written| Recorder {
                id: &written.commit,
                subject: place
                    .and_then(|place| self.past.message(place)?.lines().next())
                    .unwrap_or_default(),
                trailers: &written.trailers,
                time: place.map_or(0, |place| self.past.time(place)),
                session: session.as_deref(),
            }),
            commit,
            start: started,
            snapshots,
            origin,
            goals: match &goals {
                Sight::Seen(goals) => Sight::Seen(goals),
                Sight::Gone => Sight::Gone,
                Sight::Unseen => Sight::Unseen,
            },
            added,
            differs_in,
        });
        let recorded = snapshot.map(|snapshot| Recorded {
            cycle: record.cycle,
            commit: record.commit_sha.clone(),
            snapshot,
        });
        Ok((found, recorded))
    }

    /// Reads a snapshot of a record, and counts it, once. Where two branches each wrote one of that name, and the commit that wrote
    /// the record's cannot be seen, whose it is cannot be, either.
    fn snapshot(
        &mut self,
        recorder: Option<usize>,
        name: &str,
    ) -> Result<Sight<Result<Snapshot, String>>> {
        if recorder.is_none() && self.is_shallow && self.repeated.contains(name) {
            return Ok(Sight::Unseen);
        }
        let tree = self.past.tree(recorder.unwrap_or(0));
        if let Some(id) = self.repo.id_at(&tree, name)? {
            self.snapshots.insert((name.to_owned(), id));
        }
        self.snapshot_at(recorder, name)
    }

    /// Reads a snapshot as a commit has it; where none can be seen, as HEAD has it.
    fn snapshot_at(
        &mut self,
        recorder: Option<usize>,
        name: &str,
    ) -> Result<Sight<Result<Snapshot, String>>> {
        let tree = self.past.tree(recorder.unwrap_or(0));
        let Some(bytes) = self.repo.file(&tree, name)? else {
            return Ok(match recorder {
                Some(_) => Sight::Gone,
                None => Sight::Unseen,
            });
        };
        self.note_unknown("snapshot", name, &bytes);
        let read = serde_json::from_slice(&bytes);
        Ok(Sight::Seen(
            read.map_err(|cause| mask::json_problem(&cause)),
        ))
    }

    /// Returns what there is of a commit, and whether the commit at `follower` descends from it, as far as can be seen.
    fn kept(&self, id: &str, follower: usize) -> Result<Sight<Kept>> {
        let place = self.past.place(id);
        if place.is_none() && self.is_shallow {
            // It may be there from before the clone was cut; what it is an ancestor of cannot be seen.
            return Ok(Sight::Unseen);
        }
        if place.is_none() && !self.repo.has_commit(id) {
            return Ok(Sight::Gone);
        }
        let message = place.and_then(|place| self.past.message(place));
        Ok(Sight::Seen(Kept {
            content: self.repo.content(&self.repo.tree_of(id)?)?,
            message: message.unwrap_or_default().to_owned(),
            is_followed: place.is_some_and(|place| self.past.may_descend(follower, place)),
        }))
    }

    /// Returns the goals that a snapshot was taken of, as a file of its start has them, and how many the record's commit added
    /// to that file.
    fn goals_of(
        &mut self,
        start: &str,
        before: &Snapshot,
        record: &Record,
    ) -> Result<(Sight<Rc<Goals>>, Option<usize>)> {
        let (path, goals) = match self.goals_measured(start, before)? {
            Sight::Seen(found) => found,
            Sight::Gone => return Ok((Sight::Gone, None)),
            Sight::Unseen => {
                self.other_goals += 1;
                return Ok((Sight::Unseen, None));
            }
        };
        let mut added = None;
        if self.repo.has_commit(&record.commit_sha) {
            let later = self.repo.tree_of(&record.commit_sha)?;
            added = self
                .goals
                .at(self.repo, &later, &path)?
                .map(|edited| yardstick::compare_goals(&goals, &edited).added);
        }
        Ok((Sight::Seen(goals), added))
    }

    /// Returns the goals that a snapshot was taken of, and where a file of its start has them; gone if the start has a goals file
    /// and none of its files is what was measured.
    fn goals_measured(&mut self, start: &str, snapshot: &Snapshot) -> Result<Sight<Found>> {
        let tree = self.repo.tree_of(start)?;
        let wanted = &snapshot.goals_digest;
        if let Some(found) = self.goals.find(self.repo, &tree, self.goals_file, wanted)? {
            return Ok(Sight::Seen(found));
        }
        let has_goals = match self.goals_file {
            Some(name) => self.repo.has_file(&tree, name)?,
            None => false,
        };
        Ok(match has_goals {
            true => Sight::Gone,
            false => Sight::Unseen,
        })
    }

    /// Returns the paths outside the ledger in which two trees differ. A file that stood where a folder of the ledger has to be is
    /// none of them: the ledger took its place.
    fn differences(&self, one: &str, other: &str) -> Result<Vec<String>> {
        let differences = self.repo.differences(one, other)?;
        let is_content = |one: &&Difference| {
            let is_folder = |folder: &&str| folder.as_bytes() == one.path;
            let is_obstacle = one.new.is_none() && names::FOLDERS.iter().any(is_folder);
            !is_obstacle && !names::is_ledger_path(&one.path)
        };
        let mut paths: Vec<String> = differences
            .iter()
            .filter(is_content)
            .map(|one| text::clean_line(&String::from_utf8_lossy(&one.path)))
            .collect();
        paths.dedup();
        Ok(paths)
    }

    /// Returns every undo commit that is not an agent's invention.
    fn undos(&self, records: &[Record], of_agents: &HashSet<usize>) -> Result<Vec<Undo>> {
        let mut told: HashSet<(u64, &str)> = HashSet::new();
        let mut interrupted = HashSet::new();
        for record in records {
            told.insert((record.cycle, &record.commit_sha));
            if record.result == CycleResult::Interrupted {
                interrupted.insert(record.cycle);
            }
        }
        let mut undos = Vec::new();
        let mut on_branches: Option<HashMap<_, _>> = None;
        for place in (0..self.past.len()).filter(|place| !of_agents.contains(place)) {
            let message = self.past.message(place).unwrap_or_default();
            let Some(cycle) = audit::undone_cycle(message) else {
                continue;
            };
            let commit = self.past.id(place);
            let start = audit::undone_to(message).map(str::to_owned);
            let is_there = start
                .as_ref()
                .is_some_and(|start| self.repo.has_commit(start));
            let differs_in = match &start {
                Some(start) if is_there => {
                    let start = self.repo.tree_of(start)?;
                    Some(self.differences(&start, &self.past.tree(place))?)
                }
                Some(_) | None => None,
            };
            let is_recorded = told.contains(&(cycle, &commit)) || interrupted.contains(&cycle);
            let taken_from = match (&start, is_recorded) {
                (Some(start), false) => {
                    let known = match &on_branches {
                        Some(known) => known,
                        None => on_branches.insert(self.undone_on_branches()?),
                    };
                    known.get(&(cycle, start.clone())).cloned()
                }
                _ => None,
            };
            undos.push(Undo {
                is_recorded,
                taken_from,
                commit,
                cycle,
                start,
                differs_in,
            });
        }
        Ok(undos)
    }

    /// Returns the undone cycles that histories of branches tell of, by cycle and start, with the first branch that does.
    fn undone_on_branches(&self) -> Result<HashMap<(u64, String), String>> {
        let mut undone = HashMap::new();
        for (name, id) in self.repo.all_refs()? {
            let is_branch = name.starts_with("refs/heads/") || name.starts_with("refs/remotes/");
            if !is_branch || !self.repo.has_commit(&id) {
                continue;
            }
            let tree = self.repo.tree_of(&id)?;
            let text = self.repo.file(&tree, names::HISTORY)?.unwrap_or_default();
            for record in History::parse(&String::from_utf8_lossy(&text)).records {
                if let Some(start) = record.reverted_to {
                    let first = undone.entry((record.cycle, start));
                    first.or_insert_with(|| exact::shown(&name));
                }
            }
        }
        Ok(undone)
    }
}
