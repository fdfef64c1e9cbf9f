//! Which goal or work item is next, and why. Pure.

use crate::model::goals::Goals;
use crate::model::record::Record;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::strikes::{self, Retry, Standing};
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Every goal that could be measured passes, and the queue is empty.
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
        match strikes::standing(goal, seen.records, seen.retries) {
            Standing::Open => {
                return Choice::Work(goal_selection(seen, measurement, &stuck, others_failing));
            }
            Standing::Struck(reason) => stuck.push(stuck_goal(goal.id.clone(), "struck", reason)),
            Standing::Declined(reason) => {
                stuck.push(stuck_goal(goal.id.clone(), "declined", reason))
            }
        }
    }
    if !stuck.is_empty() {
        return Choice::HumanNeeded(stuck);
    }
    match seen.queue.next(seen.repository) {
        Some(item) => Choice::Work(item_selection(item)),
        None => Choice::Nothing,
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

fn stuck_goal(goal_id: String, standing: &'static str, reason: String) -> Stuck {
    Stuck {
        goal_id,
        standing,
        reason,
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

fn item_selection(item: WorkItem) -> Selection {
    Selection {
        reason: format!(
            "no goal fails; most severe item of the queue ({})",
            item.severity.word()
        ),
        task: Task::Item(Box::new(item)),
        needs_recheck: false,
    }
}
