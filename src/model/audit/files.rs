//! Files that are written once: a snapshot or a segment of the history may leave the tree, and never changes.

use std::collections::HashMap;

use super::Disagreement;
use crate::model::ledger;

/// A commit that put a version of a snapshot or segment into the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filed {
    /// The commit.
    pub commit: String,
    /// The file's path.
    pub name: String,
    /// The version, as git's id of its bytes.
    pub id: String,
    /// The cycle that the commit recorded.
    pub records: Option<u64>,
    /// An agent made it in a cycle; what it wrote counts for nothing.
    pub is_of_agent: bool,
}

impl Filed {
    /// Says whether a cycle's record came with the file: a snapshot with its own cycle's, all else with any.
    fn is_written_with_its_record(&self) -> bool {
        match ledger::cycle_of_snapshot(&self.name) {
            Some(cycle) => self.records == Some(cycle),
            None => self.records.is_some(),
        }
    }
}

/// Finds files that were written again, in commits from the oldest to the newest. Two branches that both ran may each have
/// written one of the same name; `descends` says whether the commit of one place in the list descends from that of another.
pub fn files(filed: &[Filed], descends: impl Fn(usize, usize) -> bool) -> Vec<Disagreement> {
    let mut established: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
    let mut found = Vec::new();
    for (place, file) in filed
        .iter()
        .enumerate()
        .filter(|(_, file)| !file.is_of_agent)
    {
        let versions = established.entry(&file.name).or_default();
        let is_known = versions.iter().any(|(_, id)| *id == file.id);
        let is_first = || !versions.iter().any(|(first, _)| descends(place, *first));
        if is_known || (file.is_written_with_its_record() && is_first()) {
            versions.push((place, &file.id));
        } else if !versions.is_empty() {
            found.push(Disagreement {
                cycle: ledger::cycle_of_snapshot(&file.name),
                commit: Some(file.commit.clone()),
                what: format!("{} was changed after it was written", file.name),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filed(name: &str, id: &str, records: Option<u64>) -> Filed {
        Filed {
            commit: format!("commit-of-{id}"),
            name: name.to_owned(),
            id: id.to_owned(),
            records,
            is_of_agent: false,
        }
    }

    #[test]
    fn a_file_is_written_with_its_record_and_never_again() {
        let snapshot = ledger::post_snapshot(3);
        let segment = ledger::segment(1);
        let of_agent = |file| Filed {
            is_of_agent: true,
            ..file
        };
        for (what, later, is_fine) in [
            (
                "put back after it had left the tree",
                filed(&snapshot, "a", None),
                true,
            ),
            ("changed by hand", filed(&snapshot, "b", None), false),
            (
                "changed in a later cycle",
                filed(&snapshot, "b", Some(4)),
                false,
            ),
            (
                "changed by an agent, and put right",
                of_agent(filed(&snapshot, "b", None)),
                true,
            ),
            (
                "another branch's same cycle",
                filed(&snapshot, "b", Some(3)),
                true,
            ),
            (
                "another branch's, without a record",
                filed(&snapshot, "b", None),
                false,
            ),
            (
                "another branch's baseline",
                filed(ledger::BASELINE, "t", Some(1)),
                true,
            ),
            (
                "another branch's segment",
                filed(&segment, "t", Some(9)),
                true,
            ),
            (
                "the same cycle once more",
                filed(&snapshot, "b", Some(3)),
                false,
            ),
            (
                "a segment touched by hand",
                filed(&segment, "t", None),
                false,
            ),
            (
                "a segment touched with a record",
                filed(&segment, "t", Some(9)),
                false,
            ),
            (
                "the baseline measured again",
                filed(ledger::BASELINE, "t", Some(9)),
                false,
            ),
            ("another file", filed(&ledger::snapshot(9), "x", None), true),
        ] {
            let first = [
                filed(ledger::BASELINE, "z", Some(1)),
                filed(&snapshot, "a", Some(3)),
                filed(&segment, "s", Some(4)),
            ];
            let name = later.name.clone();
            let all = [first.to_vec(), vec![later]].concat();
            // A line of history, but for the version that came from another branch.
            let is_beside = |place: usize| what.starts_with("another branch") && place == 3;
            let found = files(&all, |place, earlier| earlier < place && !is_beside(place));
            assert_eq!(found.is_empty(), is_fine, "{what}: {found:?}");
            if let Some(found) = found.first() {
                assert_eq!(
                    found.what,
                    format!("{name} was changed after it was written")
                );
                assert_eq!(found.cycle, ledger::cycle_of_snapshot(&name));
            }
        }
    }
}
