//! Keep or undo: the verdict on a cycle, a function of two snapshots and the change. Pure.

use crate::model::record::{CycleResult, DECLINED};
use crate::model::select::Task;
use crate::model::snapshot::{self, Snapshot};

/// What an agent's work came to, as far as the verdict looks at it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// The content differs from the start's.
    pub is_made: bool,
    /// Commits that somebody else made meanwhile, in words.
    pub by_others: Vec<String>,
    /// How history was rewritten, in words.
    pub rewritten: Option<String>,
    /// Frozen files that were changed, and what of GOALS.yaml moved, in words.
    pub goalposts: Vec<String>,
    /// The user's own files that the change took into a commit.
    pub taken: Vec<String>,
    /// How many goals it added to GOALS.yaml.
    pub goals_added: usize,
}

impl Change {
    /// Says whether the change is undone whatever the goals say, so that nothing needs to be measured.
    pub fn is_condemned(&self) -> bool {
        self.rewritten.is_some() || !self.goalposts.is_empty() || !self.taken.is_empty()
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
        let reason = format!("somebody else committed: {}", change.by_others.join(", "));
        (Fate::Leave, CycleResult::Interrupted, Some(reason))
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
        return Some(format!("goalposts moved: {}", change.goalposts.join(", ")));
    }
    if let Some(how) = &change.rewritten {
        return Some(format!("history rewritten: {how}"));
    }
    if !change.taken.is_empty() {
        return Some(format!(
            "took a file of the user's: {}",
            change.taken.join(", ")
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
                Some(format!("no change; the agent {how}")),
            ),
            AgentEnd::Done if passes_now => (
                CycleResult::Unchanged,
                Some("passes without a change".to_owned()),
            ),
            AgentEnd::Done => (
                CycleResult::Unchanged,
                Some("the agent changed nothing".to_owned()),
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
            let reason = still.map_or("it still fails".to_owned(), |why| {
                format!("it still fails: {why}")
            });
            (CycleResult::Unchanged, Some(reason))
        }
    }
}
