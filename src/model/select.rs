//! Which goal or work item is next, and why. Pure.

use serde::Serialize;

use crate::model::goals::{Goal, Goals};
use crate::model::record::Record;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::strikes::{self, Retry, Standing};
use crate::model::text;
use crate::model::work::{Queue, WorkItem};

/// What a cycle works on.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// The goal with this id.
    Goal(String),
    /// An item of the queue.
    Item(Box<WorkItem>),
}

impl Task {
    /// Returns the name it has in records: the goal's id, or `next-work:<title>`.
    pub fn goal_id(&self) -> String {
        match self {
            Task::Goal(id) => id.clone(),
            Task::Item(item) => format!("{}{}", crate::model::record::NEXT_WORK, item.title),
        }
    }
}

/// What to work on next, and the reason in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    /// The goal or item.
    pub task: Task,
    /// Why this one.
    pub reason: String,
    /// It passed a moment ago or was flaky before: it is measured once more, alone, before an agent is paid.
    pub needs_recheck: bool,
}

/// A failing goal that no agent is asked for again, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stuck {
    /// The goal's id.
    pub goal_id: String,
    /// `struck` or `declined`.
    pub standing: &'static str,
    /// The newest record's reason.
    pub reason: String,
}

/// What selecting came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// There is something to do.
    Work(Selection),
    /// Every goal that could be measured passes, and the queue has nothing that can be worked on.
    Nothing,
    /// Goals fail, and all of them are struck or declined.
    HumanNeeded(Vec<Stuck>),
}

/// What selecting looks at.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The goals.
    pub goals: &'a Goals,
    /// The first snapshot of this cycle.
    pub before: &'a Snapshot,
    /// The newest snapshot before that one.
    pub earlier: Option<&'a Snapshot>,
    /// The history.
    pub records: &'a [Record],
    /// Goals asked for again.
    pub retries: &'a [Retry],
    /// The queue.
    pub queue: &'a Queue,
    /// The name that the queue's items are addressed to.
    pub repository: &'a str,
}

/// Chooses the heaviest failing goal that is neither struck nor declined, ties by file order; without a failing goal the
/// most severe work item for this repository.
pub fn select(seen: &Seen<'_>) -> Choice {
    let failing = failing_goals(seen.before);
    let mut stuck = Vec::new();
    let mut others_failing = failing.len();
    for measurement in failing {
        let Some(goal) = seen.goals.find(&measurement.id) else {
            continue;
        };
        others_failing -= 1;
        match Stuck::of(goal, seen.records, seen.retries) {
            Some(one) => stuck.push(one),
            None => {
                return Choice::Work(goal_selection(seen, measurement, &stuck, others_failing));
            }
        }
    }
    if !stuck.is_empty() {
        return Choice::HumanNeeded(stuck);
    }
    match seen.queue.next(seen.repository) {
        Some(item) => Choice::Work(item_selection(seen, item)),
        None => Choice::Nothing,
    }
}

/// Says why nothing was chosen.
pub fn nothing_to_do(queue: &Queue, repository: &str) -> String {
    match queue.set_aside(repository).len() {
        0 => "no goal fails and the queue is empty".to_owned(),
        count => format!(
            "no goal fails and what is left in the queue is set aside ({}, see `evolve work list`)",
            text::count(count, "item")
        ),
    }
}

/// Returns the goals that fail and are not tolerated, heaviest first, ties in file order.
pub fn failing_goals(snapshot: &Snapshot) -> Vec<&Measurement> {
    let mut failing: Vec<_> = snapshot
        .with(CheckResult::Fail)
        .filter(|goal| !goal.tolerated)
        .collect();
    failing.sort_by_key(|goal| std::cmp::Reverse(goal.weight));
    failing
}

impl Stuck {
    /// Returns how it stands with a goal that no agent is asked for again; none if it may be worked on.
    pub fn of(goal: &Goal, records: &[Record], retries: &[Retry]) -> Option<Stuck> {
        let (standing, reason) = match strikes::standing(goal, records, retries) {
            Standing::Open => return None,
            Standing::Struck(reason) => ("struck", reason),
            Standing::Declined(reason) => ("declined", reason),
        };
        Some(Stuck {
            goal_id: goal.id.clone(),
            standing,
            reason,
        })
    }
}

fn goal_selection(
    seen: &Seen<'_>,
    chosen: &Measurement,
    passed_over: &[Stuck],
    others: usize,
) -> Selection {
    let mut reason = match others {
        0 if passed_over.is_empty() => format!("the only failing goal, weight {}", chosen.weight),
        _ => format!("heaviest failing goal, weight {}", chosen.weight),
    };
    if !passed_over.is_empty() {
        let names: Vec<_> = passed_over
            .iter()
            .map(|stuck| format!("{} ({})", stuck.goal_id, stuck.standing))
            .collect();
        reason.push_str(&format!("; passed over: {}", names.join(", ")));
    }
    let doubtful = |earlier: &Measurement| earlier.result == CheckResult::Pass || earlier.flaky;
    let earlier = seen.earlier.and_then(|snapshot| snapshot.find(&chosen.id));
    Selection {
        task: Task::Goal(chosen.id.clone()),
        reason,
        needs_recheck: earlier.is_some_and(doubtful) && chosen.attempts < 2,
    }
}

fn item_selection(seen: &Seen<'_>, item: WorkItem) -> Selection {
    let has_worse = |others: Vec<WorkItem>| others.iter().any(|it| it.severity < item.severity);
    let is_open_worse = has_worse(seen.queue.open(seen.repository));
    let is_aside_worse = has_worse(seen.queue.set_aside(seen.repository));
    let among = match (item.has_failed(), is_open_worse, is_aside_worse) {
        (false, true, _) | (false, _, true) => " that did not fail before",
        // What never failed goes first, so all that are open failed.
        (true, _, true) => " that is not set aside",
        (true, _, false) | (false, false, false) => "",
    };
    Selection {
        reason: format!(
            "no goal fails; most severe item of the queue{among} ({})",
            item.severity.word()
        ),
        task: Task::Item(Box::new(item)),
        needs_recheck: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals;
    use crate::model::record::CycleResult;
    use proptest::prelude::*;

    /// Goals `g0`, `g1`, … of these weights.
    fn goals_of(weights: &[u8]) -> Goals {
        let goal = |(index, weight)| {
            format!("  - {{id: g{index}, description: d, check: 'false', weight: {weight}}}\n")
        };
        let list: String = weights.iter().enumerate().map(goal).collect();
        let read = goals::read_goals("GOALS.yaml", format!("goals:\n{list}").as_bytes());
        read.expect("valid goals").0
    }

    /// A snapshot of these goals, a letter each: p passes, f fails, s is skipped, t is tolerated.
    fn snapshot(goals: &Goals, results: &str) -> Snapshot {
        let measured = |(goal, letter): (&crate::model::goals::Goal, char)| Measurement {
            id: goal.id.clone(),
            result: match letter {
                'p' => CheckResult::Pass,
                's' => CheckResult::Skip,
                _ => CheckResult::Fail,
            },
            weight: goal.weight,
            value: None,
            threshold: None,
            duration_s: 0.0,
            reason: None,
            exit: None,
            attempts: 1,
            flaky: false,
            tolerated: letter == 't',
            output_tail: None,
        };
        let measured = goals.goals.iter().zip(results.chars()).map(measured);
        Snapshot::new(Some(1), "t".into(), None, "d".into(), measured.collect())
    }

    fn declined(goals: &Goals, id: &str) -> Record {
        Record {
            format: 1,
            cycle: 1,
            goal_id: Some(id.to_owned()),
            result: CycleResult::Failed,
            commit_sha: String::new(),
            reverted_to: None,
            goals_passing: 0,
            goals_total: 0,
            goals_added: 0,
            timestamp: String::new(),
            score_before: None,
            score_after: None,
            newly_failing: vec![],
            newly_passing: vec![],
            reason: Some("declined: no".to_owned()),
            definition: goals.find(id).map(crate::model::goals::Goal::definition),
            content: None,
            session: None,
            agent: None,
            notes: vec![],
        }
    }

    /// Selects among goals of the weights 3, 7, 7, with these results and one item in the queue.
    fn selected(results: &str, records: &[&str], earlier: Option<&Snapshot>) -> Choice {
        let goals = goals_of(&[3, 7, 7]);
        let records: Vec<_> = records.iter().map(|id| declined(&goals, id)).collect();
        select(&Seen {
            goals: &goals,
            before: &snapshot(&goals, results),
            earlier,
            records: &records,
            retries: &[],
            queue: &Queue::parse("{\"title\": \"tidy up\", \"severity\": \"low\"}\n"),
            repository: "repo",
        })
    }

    #[test]
    fn the_choice_and_its_reason_follow_from_results_and_records() {
        let rows: [(&str, &[&str], &str, &str); 9] = [
            ("fff", &[], "g1", "heaviest failing goal, weight 7"),
            ("fpf", &[], "g2", "heaviest failing goal, weight 7"),
            ("fps", &[], "g0", "the only failing goal, weight 3"),
            ("fft", &[], "g1", "heaviest failing goal, weight 7"),
            (
                "fff",
                &["g1"],
                "g2",
                "heaviest failing goal, weight 7; passed over: g1 (declined)",
            ),
            (
                "fff",
                &["g1", "g2"],
                "g0",
                "heaviest failing goal, weight 3; passed over: g1 (declined), g2 (declined)",
            ),
            (
                "ppp",
                &[],
                "next-work:tidy up",
                "no goal fails; most severe item of the queue (low)",
            ),
            (
                "spt",
                &[],
                "next-work:tidy up",
                "no goal fails; most severe item of the queue (low)",
            ),
            // A goal that was given up and passes now keeps nothing from being done.
            (
                "ppp",
                &["g1"],
                "next-work:tidy up",
                "no goal fails; most severe item of the queue (low)",
            ),
        ];
        for (results, records, task, reason) in rows {
            match selected(results, records, None) {
                Choice::Work(selection) => {
                    let chosen = (selection.task.goal_id(), selection.reason);
                    assert_eq!(chosen, (task.to_owned(), reason.to_owned()), "{results}");
                    assert!(!selection.needs_recheck, "{results}");
                }
                other => panic!("{results}: {other:?}"),
            }
        }
    }

    #[test]
    fn the_reason_says_so_where_a_more_severe_item_is_passed_over() {
        let low = "{\"title\": \"a\", \"severity\": \"low\"}\n";
        let failed = "{\"title\": \"b\", \"severity\": \"high\", \"failures\": 1}\n";
        let aside = "{\"title\": \"c\", \"severity\": \"critical\", \"failures\": 3}\n";
        let equal = "{\"title\": \"d\", \"severity\": \"low\", \"failures\": 1}\n";
        for (queue, reason) in [
            (vec![low, equal], "queue (low)"),
            (vec![low, failed], "queue that did not fail before (low)"),
            (vec![low, aside], "queue that did not fail before (low)"),
            (vec![failed, equal], "queue (high)"),
            (vec![failed, aside], "queue that is not set aside (high)"),
        ] {
            let goals = goals_of(&[3]);
            let choice = select(&Seen {
                goals: &goals,
                before: &snapshot(&goals, "p"),
                earlier: None,
                records: &[],
                retries: &[],
                queue: &Queue::parse(&queue.concat()),
                repository: "repo",
            });
            let Choice::Work(selection) = choice else {
                panic!("nothing was chosen of {queue:?}");
            };
            let wanted = format!("no goal fails; most severe item of the {reason}");
            assert_eq!(selection.reason, wanted, "{queue:?}");
        }
    }

    #[test]
    fn goals_that_fail_and_are_all_stuck_need_a_person_though_the_queue_has_work() {
        let Choice::HumanNeeded(stuck) = selected("pff", &["g1", "g2"], None) else {
            panic!("not left to a person");
        };
        let stuck: Vec<_> = stuck
            .iter()
            .map(|one| (one.goal_id.as_str(), one.standing))
            .collect();
        assert_eq!(stuck, [("g1", "declined"), ("g2", "declined")]);
    }

    #[test]
    fn without_a_failing_goal_and_without_work_there_is_nothing_to_do() {
        let goals = goals_of(&[3]);
        let choice = select(&Seen {
            goals: &goals,
            before: &snapshot(&goals, "p"),
            earlier: None,
            records: &[],
            retries: &[],
            queue: &Queue::parse("{\"title\": \"x\", \"target_repo\": \"other\"}\n"),
            repository: "repo",
        });
        assert_eq!(choice, Choice::Nothing);
    }

    #[test]
    fn the_queue_is_called_empty_only_where_nothing_of_this_repositorys_is_set_aside() {
        let set_aside = "{\"title\": \"hard\", \"failures\": 3}\n";
        for (queue, repository, said) in [
            ("", "repo", "no goal fails and the queue is empty"),
            (
                set_aside,
                "repo",
                "no goal fails and what is left in the queue is set aside (1 item, see `evolve work list`)",
            ),
            (
                "{\"title\": \"hard\", \"failures\": 3, \"target_repo\": \"other\"}\n",
                "repo",
                "no goal fails and the queue is empty",
            ),
        ] {
            let queue = Queue::parse(queue);
            assert_eq!(nothing_to_do(&queue, repository), said);
        }
    }

    #[test]
    fn a_goal_is_doubtful_if_it_passed_or_was_flaky_and_was_measured_once_since() {
        let goals = goals_of(&[3]);
        for (earlier, is_flaky, attempts, needs_recheck) in [
            (Some("p"), false, 1, true),
            (Some("f"), true, 1, true),
            (Some("f"), false, 1, false),
            (Some("s"), false, 1, false),
            (Some("p"), false, 2, false),
            (None, false, 1, false),
        ] {
            let earlier = earlier.map(|results| {
                let mut earlier = snapshot(&goals, results);
                earlier.goals[0].flaky = is_flaky;
                earlier
            });
            let mut before = snapshot(&goals, "f");
            before.goals[0].attempts = attempts;
            let choice = select(&Seen {
                goals: &goals,
                before: &before,
                earlier: earlier.as_ref(),
                records: &[],
                retries: &[],
                queue: &Queue::default(),
                repository: "repo",
            });
            let Choice::Work(selection) = choice else {
                panic!("nothing was chosen");
            };
            assert_eq!(selection.needs_recheck, needs_recheck, "{earlier:?}");
        }
    }

    proptest! {
        #[test]
        fn no_failing_goal_is_heavier_than_the_chosen_one_nor_as_heavy_and_before_it(
            all in prop::collection::vec((1u8..=10, prop::sample::select(vec!['p', 'f', 's', 't'])), 1..8)
        ) {
            let weights: Vec<u8> = all.iter().map(|(weight, _)| *weight).collect();
            let results: String = all.iter().map(|(_, letter)| *letter).collect();
            let goals = goals_of(&weights);
            let choice = select(&Seen {
                goals: &goals,
                before: &snapshot(&goals, &results),
                earlier: None,
                records: &[],
                retries: &[],
                queue: &Queue::default(),
                repository: "repo",
            });
            let failing = || all.iter().enumerate().filter(|(_, (_, letter))| *letter == 'f');
            match choice {
                Choice::Nothing => prop_assert_eq!(failing().count(), 0),
                Choice::Work(selection) => {
                    let id = selection.task.goal_id();
                    let chosen = goals.goals.iter().position(|goal| goal.id == id);
                    let chosen = chosen.expect("the chosen goal is one of them");
                    prop_assert_eq!(all[chosen].1, 'f');
                    for (index, (weight, _)) in failing() {
                        let comes_later = *weight < all[chosen].0 || (*weight == all[chosen].0 && index >= chosen);
                        prop_assert!(comes_later, "g{} was passed over for {}", index, id);
                    }
                }
                Choice::HumanNeeded(stuck) => prop_assert!(false, "{:?}", stuck),
            }
        }
    }
}
