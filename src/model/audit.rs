//! Whether a history proves itself: what git holds of it goes in, what does not agree comes out. Pure.

mod again;
mod baseline;
mod files;
mod lines;
mod measured;
mod record;
mod result;
mod times;
mod witness;

use serde::Serialize;

use crate::model::text;

pub use crate::model::gate::BY_OTHERS;
pub use again::{Shown, differing, of_measured};
pub use baseline::{Baseline, With, of_baseline};
pub use files::{Filed, files};
pub use lines::{Lines, Unseen, Written, lines};
pub use record::of_record;
pub use witness::{Kept, Recorder, Sight, Witness, is_adrift};

/// Something in a history that does not agree with something else in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Disagreement {
    /// The cycle whose record or snapshot it is about.
    pub cycle: Option<u64>,
    /// The commit in which it shows, in full.
    pub commit: Option<String>,
    /// What differs, in words.
    pub what: String,
}

/// All that an audit found: the document of `evolve audit --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Audit {
    /// Version of the format.
    pub format: u32,
    /// The commit whose history was audited, in full.
    pub head: String,
    /// How many commits were looked through.
    pub commits: usize,
    /// How many records the history has.
    pub records: usize,
    /// How many snapshots were held against their records.
    pub snapshots: usize,
    /// How many undo commits were held against their starts.
    pub undos: usize,
    /// How many records are of a change that a person had taken back, or brought back.
    pub taken_back: usize,
    /// The cycles whose commits were measured again, with each of their goals.
    pub remeasured: Vec<u64>,
    /// The cycles that were to be measured again, and of which not all goals could be.
    pub unmeasured: Vec<u64>,
    /// What does not agree, by cycle; empty if everything does.
    pub disagreements: Vec<Disagreement>,
    /// What a reader should know besides, such as what could not be seen.
    pub notes: Vec<String>,
}

/// What a commit of `evolve` says about itself in the last paragraph of its message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trailers {
    /// `Evolve-Cycle`.
    pub cycle: Option<u64>,
    /// `Evolve-Goal`.
    pub goal: Option<String>,
    /// `Evolve-Result`.
    pub result: Option<String>,
    /// `Evolve-Score`.
    pub score: Option<String>,
    /// Those of them that stand there more than once.
    pub repeated: Vec<&'static str>,
}

impl Trailers {
    const NAMES: [&'static str; 4] = [
        "Evolve-Cycle",
        "Evolve-Goal",
        "Evolve-Result",
        "Evolve-Score",
    ];

    /// Reads the trailers of a commit message. What an agent said may stand further up; only the end counts.
    pub fn of(message: &str) -> Trailers {
        let end = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
        let all = |name: &'static str| {
            let value = move |line: &'_ str| -> Option<String> {
                let value = line.strip_prefix(name)?.strip_prefix(": ")?;
                Some(value.to_owned())
            };
            end.lines().filter_map(value)
        };
        let named = |name| all(name).next();
        let is_repeated = |name: &&'static str| all(name).nth(1).is_some();
        Trailers {
            repeated: Trailers::NAMES.into_iter().filter(is_repeated).collect(),
            cycle: named("Evolve-Cycle").and_then(|number| number.parse().ok()),
            goal: named("Evolve-Goal"),
            result: named("Evolve-Result"),
            score: named("Evolve-Score"),
        }
    }

    /// Returns the cycle that the commit says it records.
    pub fn records(&self) -> Option<u64> {
        self.cycle.filter(|_| self.result.is_some())
    }
}

/// An undo commit, as its message says it and as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undo {
    /// The commit.
    pub commit: String,
    /// The cycle that it undoes.
    pub cycle: u64,
    /// The start that its message names.
    pub start: Option<String>,
    /// The paths in which its content differs from the start's; none if the start cannot be seen.
    pub differs_in: Option<Vec<String>>,
    /// A record names it, or tells that its cycle was interrupted.
    pub is_recorded: bool,
    /// The ref on which a record tells of it, where this history has none: it was taken over from there.
    pub taken_from: Option<String>,
}

/// Returns the cycle that a commit of this message undoes.
pub fn undone_cycle(message: &str) -> Option<u64> {
    let rest = message.strip_prefix("revert: evolve cycle ")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

/// Returns the start whose content an undo commit of this message says it has.
pub fn undone_to(message: &str) -> Option<&str> {
    let named = |line: &'_ str| line.strip_prefix("The content is again that of ").is_some();
    let line = message.lines().rfind(|line| named(line))?;
    line.rsplit(' ').next()?.strip_suffix('.')
}

/// Holds an undo commit against what it says; `next` is the number of the cycle that is not recorded yet.
pub fn of_undo(undo: &Undo, next: u64) -> Vec<Disagreement> {
    let mut found = Vec::new();
    if undo.taken_from.is_some() {
        // Applied to other content, it restores nothing.
        return found;
    }
    let mut disagree = |what: String| {
        found.push(Disagreement {
            cycle: Some(undo.cycle),
            commit: Some(undo.commit.clone()),
            what,
        });
    };
    if let Some(paths) = undo.differs_in.as_ref().filter(|paths| !paths.is_empty()) {
        let start = undo.start.as_deref().unwrap_or_default();
        disagree(format!(
            "the undo did not restore its start {start}: {}",
            some_of(paths)
        ));
    }
    if undo.start.is_none() {
        disagree("the undo names no start".to_owned());
    }
    if !undo.is_recorded && undo.cycle != next {
        disagree("it says that it undoes the cycle, and no record says so".to_owned());
    }
    found
}

/// Holds a commit of the ledger against what it may change: the ledger, and nothing else. It records `cycle`, or ends a session
/// where that is none; `others` are the paths outside the ledger in which it differs from its parents.
pub fn of_ledger_commit(
    commit: &str,
    cycle: Option<u64>,
    others: &[String],
) -> Option<Disagreement> {
    let which = match cycle {
        Some(_) => "the record's commit",
        None => "the commit that ends a session",
    };
    (!others.is_empty()).then(|| Disagreement {
        cycle,
        commit: Some(commit.to_owned()),
        what: format!("{which} changes more than the ledger: {}", some_of(others)),
    })
}

/// Joins paths for people, cut where it gets long.
fn some_of(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    text::some_of(paths, SHOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_of_the_ledger_changes_nothing_else() {
        assert_eq!(of_ledger_commit("c", Some(3), &[]), None);
        let paths: Vec<String> = (0..6).map(|number| format!("p{number}")).collect();
        let found = of_ledger_commit("c", Some(3), &paths).expect("a disagreement");
        assert_eq!((found.cycle, found.commit.as_deref()), (Some(3), Some("c")));
        let what =
            "the record's commit changes more than the ledger: p0, p1, p2, p3, p4 and 1 more";
        assert_eq!(found.what, what);
        let found = of_ledger_commit("c", None, &paths[..1]).expect("a disagreement");
        let what = "the commit that ends a session changes more than the ledger: p0";
        assert_eq!((found.cycle, &found.what[..]), (None, what));
    }

    #[test]
    fn trailers_are_what_stands_in_the_last_paragraph() {
        let message = "evolve: cycle 12 — a improved\n\nEvolve-Result: idle\n\nEvolve-Cycle: 12\nEvolve-Goal: a b\nEvolve-Score: 92.3\n";
        let trailers = Trailers::of(message);
        assert_eq!(trailers.cycle, Some(12));
        assert_eq!(trailers.goal.as_deref(), Some("a b"));
        assert_eq!(trailers.result, None);
        assert_eq!(trailers.score.as_deref(), Some("92.3"));
        assert_eq!(trailers.records(), None);
        let whole = Trailers::of("x\n\nEvolve-Cycle: 3\nEvolve-Result: idle");
        assert_eq!(whole.records(), Some(3));
        assert_eq!(Trailers::of(""), Trailers::default());
        let twice =
            Trailers::of("x\n\nEvolve-Result: idle\nEvolve-Cycle: 3\nEvolve-Result: improved");
        assert_eq!(twice.repeated, ["Evolve-Result"]);
    }

    #[test]
    fn an_undo_says_what_it_undoes_and_to_what() {
        let message = "revert: evolve cycle 7 regression in a\n\nwhy\n\nThe content is again that of abc.\nUndoes d e\n";
        assert_eq!(undone_cycle(message), Some(7));
        assert_eq!(undone_to(message), Some("abc"));
        assert_eq!(
            undone_cycle("revert: evolve cycle 8, goalposts moved"),
            Some(8)
        );
        assert_eq!(undone_cycle("Revert \"evolve: cycle 7\""), None);
        assert_eq!(undone_to("revert: evolve cycle 7"), None);
    }

    #[test]
    fn an_undo_is_exact_names_its_start_and_is_recorded() {
        let good = Undo {
            commit: "c".to_owned(),
            cycle: 3,
            start: Some("s".to_owned()),
            differs_in: Some(vec![]),
            is_recorded: true,
            taken_from: None,
        };
        assert_eq!(of_undo(&good, 9), []);
        let taken_over = Undo {
            differs_in: Some(vec!["p".to_owned()]),
            is_recorded: false,
            taken_from: Some("refs/heads/main".to_owned()),
            ..good.clone()
        };
        assert_eq!(of_undo(&taken_over, 9), []);
        let paths: Vec<String> = (0..7).map(|number| format!("p{number}")).collect();
        for (undo, what) in [
            (
                Undo {
                    differs_in: Some(paths),
                    ..good.clone()
                },
                "the undo did not restore its start s: p0, p1, p2, p3, p4 and 2 more",
            ),
            (
                Undo {
                    start: None,
                    differs_in: None,
                    ..good.clone()
                },
                "the undo names no start",
            ),
            (
                Undo {
                    is_recorded: false,
                    ..good.clone()
                },
                "it says that it undoes the cycle, and no record says so",
            ),
        ] {
            let found = of_undo(&undo, 9);
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].what, what);
            assert_eq!(found[0].cycle, Some(3));
        }
        let running = Undo {
            is_recorded: false,
            ..good
        };
        assert_eq!(
            of_undo(&running, 3),
            [],
            "its record is about to be written"
        );
    }
}
