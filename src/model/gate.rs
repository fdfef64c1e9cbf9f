//! Keep or undo: the verdict on a cycle, a function of two snapshots and the change. Pure.

use crate::model::record::{CycleResult, DECLINED, STILL_FAILS};
use crate::model::select::Task;
use crate::model::snapshot::{self, Snapshot};
use crate::model::{text, yardstick};

/// The start of the reason of a cycle in which not only the agent moved the branch, or not for certain.
pub const BY_OTHERS: &str = "somebody else ";
/// How git's words on a movement begin that brings no commit.
const NO_COMMIT: [&str; 3] = ["checkout: ", "reset: ", "Branch: renamed "];
/// How many movements by others a reason names.
const SHOWN: usize = 10;

/// Who, other than a person, may have moved the branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspect {
    /// Hardly anybody: the agent left its mark on commits of its own.
    #[default]
    Nobody,
    /// The agent, if its git did not get the mark: it left none anywhere.
    Agent,
    /// A check: the agent had ended.
    Check,
}

/// What an agent's work came to, as far as the verdict looks at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The content differs from the start's.
    pub is_made: bool,
    /// Commits that somebody else made meanwhile, or of which it cannot be told who made them, in words.
    pub by_others: Vec<String>,
    /// Who else may have made these commits.
    pub suspect: Suspect,
    /// How history was rewritten, in words.
    pub rewritten: Option<String>,
    /// Frozen files that were changed, and what of GOALS.yaml moved, in words.
    pub goalposts: Vec<String>,
    /// The user's own files that the change took into a commit.
    pub taken: Vec<String>,
    /// The user's own files that are not as they were, and of which no copy is left.
    pub destroyed: Vec<String>,
    /// What stands in a commit where a file of the user's needs the place, in words.
    pub ousted: Vec<String>,
    /// What of the work is in no commit that the user can have, in words.
    pub unheld: Vec<String>,
    /// Paths in its commits that git refuses to check out.
    pub refused: Vec<String>,
    /// How many goals it added to GOALS.yaml.
    pub goals_added: usize,
}

impl Change {
    /// Says in words what somebody else did, or may have done.
    pub fn others(&self) -> String {
        let or_who = match self.suspect {
            Suspect::Nobody => "",
            Suspect::Agent => ", or the agent without its mark",
            Suspect::Check => ", or a check did",
        };
        let is_no_commit = |words: &String| {
            let (_, movement) = words.split_once(' ').unwrap_or_default();
            NO_COMMIT.iter().any(|begin| movement.starts_with(begin))
        };
        let did = match self.by_others.iter().all(is_no_commit) {
            true => "moved HEAD",
            false => "committed",
        };
        let what = text::some_of(&self.by_others, SHOWN);
        format!("{BY_OTHERS}{did}{or_who}: {what}")
    }

    /// Says whether the change is undone whatever the goals say, so that nothing needs to be measured.
    pub fn is_condemned(&self) -> bool {
        self.rewritten.is_some()
            || [
                &self.goalposts,
                &self.taken,
                &self.destroyed,
                &self.ousted,
                &self.unheld,
                &self.refused,
            ]
            .iter()
            .any(|found| !found.is_empty())
    }
}

/// How the agent's run ended, as far as the verdict looks at it.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentEnd {
    /// It says that it is done.
    Done,
    /// It ended badly, timed out or was stuck; in words.
    Badly(String),
}

/// Everything that a verdict is made of.
#[derive(Clone, Debug)]
pub struct Evidence<'a> {
    /// What was worked on.
    pub task: &'a Task,
    /// The first snapshot.
    pub before: &'a Snapshot,
    /// The second one, or why there is none.
    pub after: Result<&'a Snapshot, String>,
    /// What the agent changed.
    pub change: &'a Change,
    /// How the agent ended.
    pub agent: &'a AgentEnd,
    /// What it is called in a sentence, as in "the agent".
    pub worker: &'static str,
    /// Why the agent gave up, in its words.
    pub gave_up: Option<&'a str>,
    /// What cut the cycle short: KILL, a signal, the time limit, a failure of `evolve` itself.
    pub cut_short: Option<String>,
}

/// What happens to the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays, and becomes part of the branch.
    Keep,
    /// It is taken back.
    Undo,
    /// It is left exactly as it is: somebody else's work is in it.
    Leave,
}

/// Keep or undo, with result and reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What happens to the change.
    pub fate: Fate,
    /// What the record will say.
    pub result: CycleResult,
    /// Why.
    pub reason: Option<String>,
    /// Goals that passed before and no longer do, or that can no longer be measured.
    pub newly_failing: Vec<String>,
    /// Goals that pass now and did not before.
    pub newly_passing: Vec<String>,
}

/// Judges a cycle; the first row of the table that holds decides.
pub fn judge(evidence: &Evidence<'_>) -> Verdict {
    let change = evidence.change;
    let (newly_failing, newly_passing) = match &evidence.after {
        Ok(after) => (
            snapshot::newly_failing(evidence.before, after),
            snapshot::newly_passing(evidence.before, after),
        ),
        Err(_) => Default::default(),
    };
    let (fate, result, reason) = if !change.by_others.is_empty() {
        (Fate::Leave, CycleResult::Interrupted, Some(change.others()))
    } else if let Some(reason) = &evidence.cut_short {
        (Fate::Undo, CycleResult::Interrupted, Some(reason.clone()))
    } else if let Some(reason) = regression(evidence, &newly_failing) {
        (Fate::Undo, CycleResult::Regressed, Some(reason))
    } else if let Some(words) = evidence.gave_up {
        (
            Fate::Undo,
            CycleResult::Failed,
            Some(format!("{DECLINED}{words}")),
        )
    } else {
        let (result, reason) = progress(evidence);
        (Fate::Keep, result, reason)
    };
    Verdict {
        fate,
        result,
        reason,
        newly_failing,
        newly_passing,
    }
}

/// Says what made the change unacceptable, if something did.
fn regression(evidence: &Evidence<'_>, newly_failing: &[String]) -> Option<String> {
    let change = evidence.change;
    if !change.goalposts.is_empty() {
        return Some(yardstick::moved(&change.goalposts));
    }
    if let Some(how) = &change.rewritten {
        return Some(format!("history rewritten: {how}"));
    }
    if !change.taken.is_empty() {
        return Some(format!(
            "took a file of the user's: {}",
            text::some_of(&change.taken, SHOWN)
        ));
    }
    if !change.destroyed.is_empty() {
        return Some(format!(
            "destroyed a file of the user's with its copies: {}",
            text::some_of(&change.destroyed, SHOWN)
        ));
    }
    if !change.ousted.is_empty() {
        return Some(format!(
            "took the place of a file of the user's: {}",
            text::some_of(&change.ousted, SHOWN)
        ));
    }
    if !change.unheld.is_empty() {
        return Some(format!(
            "left what no commit holds: {}",
            text::some_of(&change.unheld, SHOWN)
        ));
    }
    if !change.refused.is_empty() {
        return Some(format!(
            "committed paths that git refuses: {}",
            text::some_of(&change.refused, SHOWN)
        ));
    }
    if let Err(why) = &evidence.after {
        return Some(format!("second measurement impossible: {why}"));
    }
    if newly_failing.is_empty() {
        return None;
    }
    let after = evidence.after.as_ref().ok();
    let with_reason = |id: &String| match after.and_then(|after| after.find(id)?.reason.as_deref())
    {
        Some(reason) => format!("{id} ({reason})"),
        None => id.clone(),
    };
    let (passed, failed): (Vec<_>, Vec<_>) = newly_failing
        .iter()
        .partition(|id| evidence.before.passes(id));
    let parts: Vec<_> = [
        ("passed before and no longer", passed),
        ("can no longer be measured", failed),
    ]
    .into_iter()
    .filter(|(_, ids)| !ids.is_empty())
    .map(|(what, ids)| {
        let goals: Vec<_> = ids.into_iter().map(with_reason).collect();
        format!("{what}: {}", goals.join(", "))
    })
    .collect();
    Some(parts.join("; "))
}

/// Names the progress of a cycle in which nothing got worse.
fn progress(evidence: &Evidence<'_>) -> (CycleResult, Option<String>) {
    let passes_now = match (evidence.task, &evidence.after) {
        (Task::Goal(id), Ok(after)) => after.passes(id),
        (Task::Goal(_), Err(_)) | (Task::Item(_), _) => false,
    };
    if !evidence.change.is_made {
        return match evidence.agent {
            AgentEnd::Badly(how) => (
                CycleResult::Failed,
                Some(format!("no change; {} {how}", evidence.worker)),
            ),
            AgentEnd::Done if passes_now => (
                CycleResult::Unchanged,
                Some("passes without a change".to_owned()),
            ),
            AgentEnd::Done => (
                CycleResult::Unchanged,
                Some(format!("{} changed nothing", evidence.worker)),
            ),
        };
    }
    match evidence.task {
        Task::Item(_) => (CycleResult::Harvested, None),
        Task::Goal(_) if passes_now => (CycleResult::Improved, None),
        Task::Goal(id) => {
            let still = match &evidence.after {
                Ok(after) => after.find(id).and_then(|goal| goal.reason.clone()),
                Err(_) => None,
            };
            let reason = still.map_or(STILL_FAILS.to_owned(), |why| {
                format!("{STILL_FAILS}: {why}")
            });
            (CycleResult::Unchanged, Some(reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::{CheckResult, Measurement};
    use crate::model::work::Queue;
    use proptest::prelude::*;

    fn measured(id: &str, result: CheckResult) -> Measurement {
        Measurement {
            id: id.to_owned(),
            result,
            weight: 5,
            value: None,
            threshold: None,
            duration_s: 0.0,
            reason: (result != CheckResult::Pass).then(|| "exit 1".to_owned()),
            exit: None,
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        }
    }

    /// A snapshot of the goals a, b, …, a letter each: p passes, f fails, s is skipped, - is missing.
    fn snapshot(results: &str) -> Snapshot {
        let goals = "abcdef".chars().zip(results.chars());
        let result = |letter| match letter {
            'p' => Some(CheckResult::Pass),
            'f' => Some(CheckResult::Fail),
            's' => Some(CheckResult::Skip),
            _ => None,
        };
        let goals = goals
            .filter_map(|(id, letter)| Some(measured(&id.to_string(), result(letter)?)))
            .collect();
        Snapshot::new(Some(1), "t".into(), None, "d".into(), goals)
    }

    fn item() -> Task {
        let item = Queue::parse("{\"title\": \"tidy up\"}\n").next("repo");
        Task::Item(Box::new(item.expect("an item")))
    }

    /// What a cycle came to; the goal `a` failed before and `b` passed, unless said otherwise.
    #[derive(Clone, Debug)]
    struct Case {
        task: Task,
        before: &'static str,
        after: Option<&'static str>,
        change: Change,
        agent: AgentEnd,
        gave_up: Option<&'static str>,
        cut_short: Option<&'static str>,
    }

    impl Case {
        /// A change after which every goal passes.
        fn good() -> Case {
            Case {
                task: Task::Goal("a".to_owned()),
                before: "fp",
                after: Some("pp"),
                change: Change {
                    is_made: true,
                    ..Change::default()
                },
                agent: AgentEnd::Done,
                gave_up: None,
                cut_short: None,
            }
        }

        fn idle() -> Case {
            Case {
                after: Some("fp"),
                change: Change::default(),
                ..Case::good()
            }
        }

        fn judged(&self) -> Verdict {
            let before = snapshot(self.before);
            let after = self.after.map(snapshot);
            judge(&Evidence {
                task: &self.task,
                before: &before,
                after: after.as_ref().ok_or_else(|| "disk full".to_owned()),
                change: &self.change,
                agent: &self.agent,
                worker: "the agent",
                gave_up: self.gave_up,
                cut_short: self.cut_short.map(str::to_owned),
            })
        }
    }

    #[test]
    fn a_change_is_condemned_by_what_no_goal_can_make_good_and_by_nothing_else() {
        let words = || vec!["x".to_owned()];
        let good = Change {
            is_made: true,
            by_others: words(),
            goals_added: 1,
            ..Change::default()
        };
        assert!(!good.is_condemned());
        for bad in [
            Change {
                rewritten: Some("x".to_owned()),
                ..good.clone()
            },
            Change {
                goalposts: words(),
                ..good.clone()
            },
            Change {
                taken: words(),
                ..good.clone()
            },
            Change {
                destroyed: words(),
                ..good.clone()
            },
            Change {
                ousted: words(),
                ..good.clone()
            },
            Change {
                unheld: words(),
                ..good.clone()
            },
            Change {
                refused: words(),
                ..good.clone()
            },
        ] {
            assert!(bad.is_condemned(), "{bad:?}");
        }
    }

    #[test]
    fn each_row_of_the_table_gives_its_fate_result_and_reason() {
        let words = |words: &str| vec![words.to_owned()];
        let made = |change| Case {
            change: Change {
                is_made: true,
                ..change
            },
            ..Case::good()
        };
        let badly = AgentEnd::Badly("timed out after 1h".to_owned());
        use CycleResult::{Failed, Harvested, Improved, Interrupted, Regressed, Unchanged};
        use Fate::{Keep, Leave, Undo};
        let rows = [
            (
                made(Change {
                    by_others: words("abc commit: x"),
                    ..Change::default()
                }),
                (Leave, Interrupted, "somebody else committed: abc commit: x"),
            ),
            (
                made(Change {
                    by_others: words("abc commit: x"),
                    suspect: Suspect::Agent,
                    ..Change::default()
                }),
                (
                    Leave,
                    Interrupted,
                    "somebody else committed, or the agent without its mark: abc commit: x",
                ),
            ),
            (
                made(Change {
                    by_others: words("abc checkout: moving from main to x"),
                    ..Change::default()
                }),
                (
                    Leave,
                    Interrupted,
                    "somebody else moved HEAD: abc checkout: moving from main to x",
                ),
            ),
            (
                Case {
                    cut_short: Some("KILL"),
                    ..Case::good()
                },
                (Undo, Interrupted, "KILL"),
            ),
            (
                Case {
                    after: Some("pf"),
                    ..Case::good()
                },
                (Undo, Regressed, "passed before and no longer: b (exit 1)"),
            ),
            (
                Case {
                    before: "fpf",
                    after: Some("p-s"),
                    ..Case::good()
                },
                (
                    Undo,
                    Regressed,
                    "passed before and no longer: b; can no longer be measured: c (exit 1)",
                ),
            ),
            (
                made(Change {
                    goalposts: words("x changed"),
                    ..Change::default()
                }),
                (Undo, Regressed, "goalposts moved: x changed"),
            ),
            (
                made(Change {
                    rewritten: Some("amended".to_owned()),
                    ..Change::default()
                }),
                (Undo, Regressed, "history rewritten: amended"),
            ),
            (
                made(Change {
                    taken: words("notes"),
                    ..Change::default()
                }),
                (Undo, Regressed, "took a file of the user's: notes"),
            ),
            (
                made(Change {
                    destroyed: words("notes"),
                    ..Change::default()
                }),
                (
                    Undo,
                    Regressed,
                    "destroyed a file of the user's with its copies: notes",
                ),
            ),
            (
                made(Change {
                    ousted: words("lib (lib/mine was there)"),
                    ..Change::default()
                }),
                (
                    Undo,
                    Regressed,
                    "took the place of a file of the user's: lib (lib/mine was there)",
                ),
            ),
            (
                made(Change {
                    unheld: words("d is a repository"),
                    ..Change::default()
                }),
                (
                    Undo,
                    Regressed,
                    "left what no commit holds: d is a repository",
                ),
            ),
            (
                made(Change {
                    refused: words("a/../b"),
                    ..Change::default()
                }),
                (Undo, Regressed, "committed paths that git refuses: a/../b"),
            ),
            (
                Case {
                    after: None,
                    ..Case::good()
                },
                (Undo, Regressed, "second measurement impossible: disk full"),
            ),
            (
                Case {
                    gave_up: Some("no way"),
                    ..Case::good()
                },
                (Undo, Failed, "declined: no way"),
            ),
            (
                Case {
                    agent: badly.clone(),
                    ..Case::idle()
                },
                (Keep, Failed, "no change; the agent timed out after 1h"),
            ),
            (Case::idle(), (Keep, Unchanged, "the agent changed nothing")),
            (
                Case {
                    after: Some("pp"),
                    ..Case::idle()
                },
                (Keep, Unchanged, "passes without a change"),
            ),
            (
                Case {
                    task: item(),
                    before: "pp",
                    ..Case::good()
                },
                (Keep, Harvested, ""),
            ),
            (
                Case {
                    task: item(),
                    before: "pp",
                    after: Some("pp"),
                    ..Case::idle()
                },
                (Keep, Unchanged, "the agent changed nothing"),
            ),
            (Case::good(), (Keep, Improved, "")),
            (
                Case {
                    agent: badly,
                    ..Case::good()
                },
                (Keep, Improved, ""),
            ),
            (
                Case {
                    after: Some("fp"),
                    ..Case::good()
                },
                (Keep, Unchanged, "it still fails: exit 1"),
            ),
        ];
        for (case, (fate, result, reason)) in rows {
            let verdict = case.judged();
            let said = verdict.reason.as_deref().unwrap_or_default();
            assert_eq!(
                (verdict.fate, verdict.result, said),
                (fate, result, reason),
                "{case:?}"
            );
        }
    }

    fn case() -> impl Strategy<Value = Case> {
        let results = || prop::sample::select(vec!["fp", "pp", "ff", "ps", "sp", "sf", "p-", "ss"]);
        let words = || prop::collection::vec("[a-z]{1,3}", 0..2);
        let lists = (
            words(),
            words(),
            words(),
            (words(), words(), words(), words()),
        );
        let change = (any::<bool>(), lists, any::<bool>());
        let change = change.prop_map(
            |(
                is_made,
                (by_others, goalposts, taken, (destroyed, ousted, unheld, refused)),
                is_rewritten,
            )| {
                Change {
                    is_made,
                    suspect: Suspect::Nobody,
                    by_others,
                    rewritten: is_rewritten.then(|| "amended".to_owned()),
                    goalposts,
                    taken,
                    destroyed,
                    ousted,
                    unheld,
                    refused,
                    goals_added: 0,
                }
            },
        );
        let task = prop::sample::select(vec![Task::Goal("a".to_owned()), item()]);
        let agent = prop::sample::select(vec![AgentEnd::Done, AgentEnd::Badly("ended".to_owned())]);
        let maybe = || prop::option::of(Just("words"));
        let after = prop::option::of(results());
        (task, results(), after, change, agent, maybe(), maybe()).prop_map(
            |(task, before, after, change, agent, gave_up, cut_short)| Case {
                task,
                before,
                after,
                change,
                agent,
                gave_up,
                cut_short,
            },
        )
    }

    proptest! {
        #[test]
        fn nothing_is_kept_that_speaks_against_it(case in case()) {
            let verdict = case.judged();
            let change = &case.change;
            let is_sound = change.by_others.is_empty() && !change.is_condemned() && case.after.is_some();
            let is_wanted = case.gave_up.is_none() && case.cut_short.is_none();
            let is_kept = is_sound && is_wanted && verdict.newly_failing.is_empty();
            prop_assert_eq!(verdict.fate == Fate::Keep, is_kept);
            prop_assert_eq!(verdict.fate == Fate::Leave, !change.by_others.is_empty());
            let is_progress = matches!(verdict.result, CycleResult::Improved | CycleResult::Harvested);
            prop_assert!(!is_progress || (is_kept && change.is_made));
            let is_plain = matches!(verdict.result, CycleResult::Improved | CycleResult::Harvested);
            prop_assert_eq!(verdict.reason.is_none(), is_plain);
        }
    }
}
