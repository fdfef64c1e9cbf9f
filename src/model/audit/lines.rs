//! The history as lines: each was added by the commit that recorded it, and is still there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::{Disagreement, Trailers, some_of};
use crate::model::record::{CycleResult, Record, read_record};
use crate::model::{mask, text};

/// A commit that wrote to the history, as compared with its parents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The commit.
    pub commit: String,
    /// What it says about itself.
    pub trailers: Trailers,
    /// An agent made it in a cycle; what it wrote counts for nothing.
    pub is_of_agent: bool,
    /// It brings branches together.
    pub is_merge: bool,
    /// The lines that it added.
    pub added: Vec<String>,
    /// The lines that it took away.
    pub lost: Vec<String>,
    /// Lines that it kept stand in another order now.
    pub is_reordered: bool,
}

/// The lines that were there before the oldest commits that can be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unseen {
    /// Those that are taken for recorded.
    pub recorded: HashSet<String>,
    /// Those of an agent's commit, which may have made some of them up.
    pub doubtful: HashSet<String>,
}

impl Unseen {
    /// Says whether a line was there.
    fn has(&self, line: &str) -> bool {
        self.recorded.contains(line) || self.doubtful.contains(line)
    }
}

/// The lines of a history, held against the commits that wrote them.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    /// The records, in the file's order, each with the place in the list of commits of the one that recorded it; none where
    /// that cannot be seen or is not to be found.
    pub records: Vec<(Record, Option<usize>)>,
    /// How many records there are, a line that stands there twice counted once.
    pub distinct: usize,
    /// What does not agree.
    pub disagreements: Vec<Disagreement>,
    /// What a reader should know besides.
    pub notes: Vec<String>,
}

/// Holds the lines that the history has `now` against the commits that wrote to it, oldest first. The lines in `unseen` were
/// there before the oldest commit that can be seen; of what a cycle left in a commit that `is_hidden`, the commit that recorded it
/// may not be seen, either.
pub fn lines(
    now: &[String],
    written: &[Written],
    unseen: &Unseen,
    is_hidden: impl Fn(&str) -> bool,
) -> Lines {
    let mut lines = Lines::default();
    let adders = adders(written);
    let mut strays = Vec::new();
    let mut hidden = HashSet::new();
    // A line that stands there twice was recorded twice, or one of them is a copy.
    let (mut taken, mut before) = (HashSet::new(), HashSet::new());
    let mut untried = HashMap::new();
    // Lines that stand there as they were recorded, and once more.
    let (mut unfounded, mut doubled) = (HashSet::new(), HashSet::new());
    for (index, line) in now.iter().enumerate() {
        let record = match read_record(line) {
            Ok(record) => record,
            Err(why) => {
                let what = format!("line {} of the history is no record: {why}", index + 1);
                let commit = adders.get(line.as_str()).and_then(|all| all.first());
                let commit = commit.map(|adder| written[*adder].commit.clone());
                lines.disagree(None, commit, what);
                continue;
            }
        };
        let is_first = !untried.contains_key(line.as_str());
        let left = untried
            .entry(line.as_str())
            .or_insert_with(|| recorders(&adders, written, line, record.cycle));
        let recorder = left.find(|it| taken.insert(*it));
        if recorder.is_none() && !(unseen.has(line) && before.insert(line.as_str())) {
            strays.push((line.as_str(), record.cycle));
            match is_first {
                true => unfounded.insert(line.as_str()),
                false => !unfounded.contains(line.as_str()) && doubled.insert(line.as_str()),
            };
            // A copy was recorded by nobody, wherever.
            match is_first && !unseen.has(line) && is_hidden(&record.commit_sha) {
                true => hidden.insert(line.as_str()),
                false => hidden.remove(line.as_str()),
            };
        }
        lines.records.push((record, recorder));
    }
    lines.distinct = untried.len();
    // Copies of one line are told of once.
    let mut known = HashSet::new();
    strays.retain(|stray| known.insert(*stray));
    let explained = lines.find_lost(now, written, &adders, &strays, unseen);
    let mut brought = Vec::new();
    let mut doublings: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, cycle) in strays {
        if explained.contains(line) {
            continue;
        }
        let added = adders
            .get(line)
            .into_iter()
            .flatten()
            .map(|index| &written[*index]);
        let (records, others): (Vec<_>, Vec<_>) = added.partition(|commit| commit.records(cycle));
        let commit = others.first().or(records.last()).copied();
        if let Some(commit) = commit.filter(|it| hidden.contains(line) && !it.is_of_agent) {
            brought.push(commit.commit.clone());
            continue;
        }
        let merge = commit.filter(|it| it.is_merge && !it.is_of_agent);
        if let Some(merge) = merge.filter(|_| doubled.contains(line)) {
            *doublings.entry(&merge.commit).or_default() += 1;
            continue;
        }
        let what = match commit {
            Some(commit) if commit.is_of_agent => "an agent's commit wrote the record",
            Some(_) | None => "the record was written by no commit that records its cycle",
        };
        let commit = commit.map(|commit| commit.commit.clone());
        lines.disagree(Some(cycle), commit, what.to_owned());
    }
    for (merge, count) in doublings {
        let what = format!(
            "the merge doubled {}: run evolve where it ran before, and it takes one of each out again",
            text::count(count, "record")
        );
        lines.disagree(None, Some(merge.to_owned()), what);
    }
    brought.dedup();
    if !brought.is_empty() {
        lines.notes.push(format!(
            "{} brought in records that other commits recorded, as after a merge that had left them out: which ones is not to be seen in this clone",
            numbered("commit", &brought)
        ));
    }
    lines.find_empty(written);
    lines.number(written);
    lines.hold_apart(written);
    lines
}

/// Returns which commits added each line, oldest first.
fn adders(written: &[Written]) -> HashMap<&str, Vec<usize>> {
    let mut adders: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, commit) in written.iter().enumerate() {
        for line in &commit.added {
            let adders = adders.entry(line).or_default();
            if adders.last() != Some(&index) {
                adders.push(index);
            }
        }
    }
    adders
}

/// Returns the commits that recorded the cycle of a line, with that line, oldest first.
fn recorders<'a>(
    adders: &'a HashMap<&str, Vec<usize>>,
    written: &'a [Written],
    line: &str,
    cycle: u64,
) -> impl Iterator<Item = usize> + use<'a> {
    let adders = adders.get(line).into_iter().flatten().copied();
    adders.filter(move |index| written[*index].records(cycle))
}

impl Written {
    /// Says whether it is the commit of a cycle's record.
    fn records(&self, cycle: u64) -> bool {
        self.trailers.records() == Some(cycle) && !self.is_of_agent
    }
}

impl Lines {
    fn disagree(&mut self, cycle: Option<u64>, commit: Option<String>, what: String) {
        self.disagreements.push(Disagreement {
            cycle,
            commit,
            what,
        });
    }

    /// Finds recorded lines that are gone, and says what became of them: changed into one of the strays, or removed. Returns
    /// the strays that are explained by that.
    fn find_lost<'a>(
        &mut self,
        now: &[String],
        written: &[Written],
        adders: &HashMap<&str, Vec<usize>>,
        strays: &[(&'a str, u64)],
        unseen: &Unseen,
    ) -> HashSet<&'a str> {
        let now: HashSet<&str> = now.iter().map(String::as_str).collect();
        let mut told = HashSet::new();
        let mut explained = HashSet::new();
        let (mut passing, mut righting, mut dropping) = (Vec::new(), Vec::new(), Vec::new());
        let mut new_of = HashMap::new();
        for (line, cycle) in strays {
            new_of.entry(*cycle).or_insert(*line);
        }
        for commit in written.iter().rev() {
            let mut is_passing = commit.is_reordered && commit.is_of_agent;
            let mut is_righting = false;
            for line in &commit.lost {
                let Ok(record) = read_record(line) else {
                    continue;
                };
                let mut recorders = recorders(adders, written, line, record.cycle);
                let was_recorded = recorders.next().is_some() || unseen.recorded.contains(line);
                if !was_recorded {
                    is_righting = true;
                    continue;
                }
                if now.contains(line.as_str()) {
                    is_passing = true;
                    continue;
                }
                if !told.insert(line) {
                    continue;
                }
                let new = new_of.get(&record.cycle).copied();
                let what = match new {
                    Some(new) => format!("the record was changed: {}", changes(line, new)),
                    None if commit.is_merge => {
                        dropping.push(commit.commit.clone());
                        "the record was removed by a merge, which kept one side of the history"
                            .to_owned()
                    }
                    None => "the record was removed".to_owned(),
                };
                explained.extend(new);
                self.disagree(Some(record.cycle), Some(commit.commit.clone()), what);
            }
            if commit.is_reordered && !commit.is_of_agent {
                let what = "the order of the records was changed".to_owned();
                self.disagree(None, Some(commit.commit.clone()), what);
            } else if is_passing {
                passing.push(commit.commit.clone());
            } else if is_righting {
                righting.push(commit.commit.clone());
            }
        }
        dropping.dedup();
        if !dropping.is_empty() {
            self.notes.push(format!(
                "{} dropped records of the other side: run evolve where it ran before, and it takes them in again unless it ran there since the merge; or append their lines to the history again, or merge again and keep the lines of both, as `merge=union` in .gitattributes does",
                numbered("merge", &dropping)
            ));
        }
        if !passing.is_empty() {
            self.notes.push(format!(
                "{} changed the history; that was put right",
                numbered("commit", &passing)
            ));
        }
        if !righting.is_empty() {
            self.notes.push(format!(
                "{} put right what nobody had recorded",
                numbered("commit", &righting)
            ));
        }
        explained
    }

    /// Finds commits that say they record a cycle and add no record.
    fn find_empty(&mut self, written: &[Written]) {
        let claims = |commit: &&Written| commit.added.is_empty() && !commit.is_of_agent;
        for commit in written.iter().filter(claims) {
            if let Some(cycle) = commit.trailers.records() {
                let what = "it says that it records the cycle, and adds no record".to_owned();
                self.disagree(Some(cycle), Some(commit.commit.clone()), what);
            }
        }
    }

    /// Checks that no commit is what two cycles came to: a cycle with a change has one of its own, and so a record that is a copy of
    /// another's, under a new number, is found.
    fn hold_apart(&mut self, written: &[Written]) {
        let mut cycles: HashMap<String, u64> = HashMap::new();
        let mut found = Vec::new();
        for (record, recorder) in &self.records {
            let has_change = matches!(
                record.result,
                CycleResult::Improved | CycleResult::Harvested | CycleResult::Regressed
            );
            if !has_change {
                continue;
            }
            let first = *cycles
                .entry(record.commit_sha.clone())
                .or_insert(record.cycle);
            if first != record.cycle {
                let what = format!("commit_sha is what cycle {first} came to");
                found.push((record.cycle, *recorder, what));
            }
        }
        for (cycle, recorder, what) in found {
            let commit = recorder.map(|index| written[index].commit.clone());
            self.disagree(Some(cycle), commit, what);
        }
    }

    /// Checks that the numbers continue. Two branches that both ran have some twice after they were merged.
    fn number(&mut self, written: &[Written]) {
        let mut highest = 0;
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        let mut repeated = BTreeSet::new();
        for (record, recorder) in &self.records {
            let cycle = record.cycle;
            if !seen.insert(cycle) {
                repeated.insert(cycle);
            } else if cycle != highest + 1 {
                let what = format!("the numbers do not continue: cycle {cycle} follows {highest}");
                found.push((cycle, *recorder, what));
            }
            highest = highest.max(cycle);
        }
        if !repeated.is_empty() {
            let verb = match repeated.len() {
                1 => "is",
                _ => "are",
            };
            let repeated: Vec<_> = repeated.iter().map(u64::to_string).collect();
            self.notes.push(format!(
                "{} {verb} recorded more than once, as after a merge of two branches that both ran",
                numbered("cycle", &repeated)
            ));
        }
        for (cycle, recorder, what) in found {
            let commit = recorder.map(|index| written[index].commit.clone());
            self.disagree(Some(cycle), commit, what);
        }
    }
}

/// Names one thing, or several of a kind.
fn numbered(kind: &str, names: &[String]) -> String {
    let plural = match names.len() {
        1 => "",
        _ => "s",
    };
    format!("{kind}{plural} {}", some_of(names))
}

/// Names the fields in which two lines differ, with both values.
fn changes(old: &str, new: &str) -> String {
    const SHOWN: usize = 60;
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_default();
    let (old, new) = (read(old), read(new));
    let keys = |value: &Value| -> Vec<String> {
        let fields = value.as_object().into_iter().flatten();
        fields.map(|(key, _)| key.clone()).collect()
    };
    let mut names = keys(&old);
    names.extend(keys(&new).into_iter().filter(|key| old.get(key).is_none()));
    let shown = |value: Option<&Value>| match value {
        Some(value) => mask::line(&value.to_string(), SHOWN),
        None => "nothing".to_owned(),
    };
    let differences: Vec<String> = names
        .iter()
        .filter(|name| old.get(name) != new.get(name))
        .map(|name| {
            format!(
                "{name} was {}, is {}",
                shown(old.get(name)),
                shown(new.get(name))
            )
        })
        .collect();
    match differences.is_empty() {
        true => "the same fields, written otherwise".to_owned(),
        false => differences.join("; "),
    }
}

#[cfg(test)]
mod tests;
