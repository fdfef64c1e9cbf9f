//! The history as lines: each was added by the commit that recorded it, and is still there.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::{Disagreement, Trailers, some_of};
use crate::model::mask;
use crate::model::record::{Record, read_record};

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
/// there before the oldest commit that can be seen.
pub fn lines(now: &[String], written: &[Written], unseen: &HashSet<String>) -> Lines {
    let mut lines = Lines::default();
    let adders = adders(written);
    let mut strays = Vec::new();
    // A line that stands there twice was recorded twice, or one of them is a copy.
    let (mut taken, mut before) = (HashSet::new(), HashSet::new());
    let mut untried = HashMap::new();
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
        let left = untried
            .entry(line.as_str())
            .or_insert_with(|| recorders(&adders, written, line, record.cycle));
        let recorder = left.find(|it| taken.insert(*it));
        if recorder.is_none() && !(unseen.contains(line) && before.insert(line.as_str())) {
            strays.push((line.as_str(), record.cycle));
        }
        lines.records.push((record, recorder));
    }
    lines.distinct = untried.len();
    // Copies of one line are told of once.
    let mut known = HashSet::new();
    strays.retain(|stray| known.insert(*stray));
    let explained = lines.find_lost(now, written, &adders, &strays, unseen);
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
        let what = match commit {
            Some(commit) if commit.is_of_agent => "an agent's commit wrote the record",
            Some(_) | None => "the record was written by no commit that records its cycle",
        };
        let commit = commit.map(|commit| commit.commit.clone());
        lines.disagree(Some(cycle), commit, what.to_owned());
    }
    lines.find_empty(written);
    lines.number(written);
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
        unseen: &HashSet<String>,
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
                let was_recorded = recorders.next().is_some() || unseen.contains(line);
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
mod tests {
    use super::*;

    fn line(cycle: u64, passing: usize) -> String {
        format!(
            r#"{{"format":1,"cycle":{cycle},"goal_id":null,"result":"idle","commit_sha":"c","reverted_to":null,"goals_passing":{passing},"goals_total":2,"goals_added":0,"timestamp":"t"}}"#
        )
    }

    fn recording(cycle: u64) -> Written {
        Written {
            commit: format!("commit{cycle}"),
            trailers: Trailers {
                cycle: Some(cycle),
                result: Some("idle".to_owned()),
                ..Trailers::default()
            },
            added: vec![line(cycle, 1)],
            ..Written::default()
        }
    }

    fn by_hand(added: &[String], lost: &[String]) -> Written {
        Written {
            commit: "by-hand".to_owned(),
            added: added.to_vec(),
            lost: lost.to_vec(),
            ..Written::default()
        }
    }

    /// The disagreements, as `cycle commit what`.
    fn told(now: &[String], written: &[Written]) -> Vec<String> {
        let found = lines(now, written, &HashSet::new()).disagreements;
        let shown = |one: &Disagreement| {
            format!(
                "{} {} {}",
                one.cycle.unwrap_or(0),
                one.commit.as_deref().unwrap_or("-"),
                one.what
            )
        };
        found.iter().map(shown).collect()
    }

    #[test]
    fn a_history_whose_lines_were_each_recorded_agrees() {
        let now = [line(1, 1), line(2, 1)];
        let found = lines(&now, &[recording(1), recording(2)], &HashSet::new());
        assert_eq!((found.disagreements, found.notes), (vec![], vec![]));
        let recorders: Vec<_> = found.records.iter().map(|(_, place)| *place).collect();
        assert_eq!(recorders, [Some(0), Some(1)]);
    }

    #[test]
    fn each_way_to_forge_a_line_is_named() {
        let (one, two) = (line(1, 1), line(2, 1));
        let changed = line(1, 2);
        let both = [recording(1), recording(2)];
        let with = |last: Written| [both.to_vec(), vec![last]].concat();
        for (now, written, expected) in [
            (
                vec![changed.clone(), two.clone()],
                with(by_hand(
                    std::slice::from_ref(&changed),
                    std::slice::from_ref(&one),
                )),
                vec!["1 by-hand the record was changed: goals_passing was 1, is 2"],
            ),
            (
                vec![one.clone()],
                with(by_hand(&[], std::slice::from_ref(&two))),
                vec!["2 by-hand the record was removed"],
            ),
            (
                vec![one.clone(), two.clone(), line(3, 1)],
                with(by_hand(&[line(3, 1)], &[])),
                vec!["3 by-hand the record was written by no commit that records its cycle"],
            ),
            (
                vec![one.clone(), two.clone(), one.clone()],
                with(by_hand(std::slice::from_ref(&one), &[])),
                vec!["1 by-hand the record was written by no commit that records its cycle"],
            ),
            (
                vec![two.clone(), one.clone()],
                with(Written {
                    is_reordered: true,
                    ..by_hand(&[], &[])
                }),
                vec![
                    "0 by-hand the order of the records was changed",
                    "2 commit2 the numbers do not continue: cycle 2 follows 0",
                    "1 commit1 the numbers do not continue: cycle 1 follows 2",
                ],
            ),
            (
                vec![one.clone(), two.clone()],
                with(Written {
                    added: vec![],
                    ..recording(3)
                }),
                vec!["3 commit3 it says that it records the cycle, and adds no record"],
            ),
            (
                vec![one.clone(), line(4, 1)],
                vec![recording(1), recording(4)],
                vec!["4 commit4 the numbers do not continue: cycle 4 follows 1"],
            ),
            (
                vec![one.clone(), "<<<<<<< HEAD".to_owned()],
                vec![recording(1), by_hand(&["<<<<<<< HEAD".to_owned()], &[])],
                vec!["0 by-hand line 2 of the history is no record: expected value"],
            ),
        ] {
            assert_eq!(told(&now, &written), expected);
        }
    }

    #[test]
    fn what_an_agent_wrote_and_evolve_put_right_is_a_note() {
        let forged = Written {
            is_of_agent: true,
            ..by_hand(&[line(9, 1)], &[line(1, 1)])
        };
        let put_right = Written {
            lost: vec![line(9, 1)],
            added: vec![line(1, 1), line(2, 1)],
            ..recording(2)
        };
        let now = [line(1, 1), line(2, 1)];
        let found = lines(&now, &[recording(1), forged, put_right], &HashSet::new());
        assert_eq!(found.disagreements, []);
        assert_eq!(
            found.notes,
            [
                "commit by-hand changed the history; that was put right",
                "commit commit2 put right what nobody had recorded",
            ]
        );
        let harmless = Written {
            is_of_agent: true,
            ..by_hand(&[], &[])
        };
        let found = lines(
            &now,
            &[recording(1), recording(2), harmless],
            &HashSet::new(),
        );
        assert_eq!((found.disagreements, found.notes), (vec![], vec![]));
        let kept = Written {
            is_of_agent: true,
            ..recording(3)
        };
        let now = [line(1, 1), line(2, 1), line(3, 1)];
        assert_eq!(
            told(&now, &[recording(1), recording(2), kept]),
            ["3 commit3 an agent's commit wrote the record"]
        );
    }

    #[test]
    fn a_merge_that_drops_records_of_one_side_is_named_with_what_to_do() {
        let merge = Written {
            is_merge: true,
            ..by_hand(&[], &[line(2, 2), line(3, 2)])
        };
        let theirs = |cycle| Written {
            commit: format!("theirs{cycle}"),
            added: vec![line(cycle, 2)],
            ..recording(cycle)
        };
        let mut written = vec![recording(1), recording(2), theirs(2), theirs(3), merge];
        let now = [line(1, 1), line(2, 1)];
        let found = lines(&now, &written, &HashSet::new());
        let removed = "the record was removed by a merge, which kept one side of the history";
        assert_eq!(
            told(&now, &written),
            [
                format!("2 by-hand {removed}"),
                format!("3 by-hand {removed}")
            ]
        );
        assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
        assert!(
            found.notes[0]
                .starts_with("merge by-hand dropped records of the other side: run evolve"),
            "{:?}",
            found.notes
        );
        // What it says to do is enough.
        written.push(by_hand(&[line(2, 2), line(3, 2)], &[]));
        let now = [line(1, 1), line(2, 1), line(2, 2), line(3, 2)];
        assert_eq!(told(&now, &written), Vec::<String>::new());
    }

    #[test]
    fn copies_of_lines_are_told_of_once_and_quickly() {
        const COPIES: usize = 30_000;
        let one = line(1, 1);
        let mut now = vec![one.clone(); COPIES];
        now.extend((2..1000).map(|cycle| line(cycle, 1)));
        let copied = by_hand(&vec![one.clone(); COPIES], &[]);
        let mut written = vec![recording(1), copied];
        written.extend((2..1000).map(recording));
        written.extend((2..1000).map(|cycle| Written {
            commit: format!("again{cycle}"),
            ..recording(cycle)
        }));
        now.extend((2..1000).map(|cycle| line(cycle, 1)));
        let began = std::time::Instant::now();
        let found = lines(&now, &written, &HashSet::new());
        // With a look at each copy for each copy it would be far more.
        assert!(began.elapsed() < std::time::Duration::from_secs(20));
        assert_eq!(
            told(&now, &written),
            ["1 by-hand the record was written by no commit that records its cycle"]
        );
        assert_eq!(
            found.notes,
            [
                "cycles 1, 2, 3, 4, 5 and 994 more are recorded more than once, as after a merge of two branches that both ran"
            ]
        );
    }

    #[test]
    fn a_number_that_two_branches_used_is_a_note_and_what_is_out_of_sight_is_none() {
        let now = [line(1, 1), line(2, 1), line(2, 2), line(3, 1)];
        let other = Written {
            added: vec![line(2, 2)],
            ..recording(2)
        };
        let unseen = HashSet::from([line(1, 1)]);
        let found = lines(&now, &[recording(2), other, recording(3)], &unseen);
        assert_eq!(found.disagreements, []);
        assert_eq!(found.notes.len(), 1, "{:?}", found.notes);
        assert!(found.notes[0].starts_with("cycle 2 is recorded more than once"));
    }
}
