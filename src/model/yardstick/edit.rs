//! What an edit of the goals file amounts to: what it loosens, and what it may do (rule 9). Pure.

use crate::model::goals::{Goal, Goals};
use crate::model::text;

/// What an edit of the goals file amounts to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalsEdit {
    /// What moved the goalposts, in words; empty if the edit is allowed.
    pub moved: Vec<String>,
    /// How many goals were added.
    pub added: usize,
    /// What counts from the next cycle on, in words: an edit that is allowed may be a bad one all the same.
    pub told: Vec<String>,
}

/// Compares the goals as loaded with an edited file. Allowed are new goals, a higher weight, a stricter threshold in the
/// same direction, and another description, pillar or tags. Not so another mission: every brief begins with it.
pub fn compare_goals(loaded: &Goals, edited: &Goals) -> GoalsEdit {
    let mut edit = GoalsEdit::default();
    if loaded.settings != edited.settings {
        edit.moved.push("the `evolve:` block changed".to_owned());
    }
    if loaded.mission != edited.mission {
        edit.moved.push("the mission changed".to_owned());
    }
    for goal in &loaded.goals {
        match edited.find(&goal.id) {
            None => edit.moved.push(format!("goal {} is gone", goal.id)),
            Some(later) => {
                edit.moved.extend(loosened(goal, later));
                edit.told.extend(tightened(goal, later));
            }
        }
    }
    let is_new = |goal: &&Goal| loaded.find(&goal.id).is_none();
    for goal in edited.goals.iter().filter(is_new) {
        edit.added += 1;
        edit.told
            .push(format!("goal {} is new, weight {}", goal.id, goal.weight));
    }
    edit
}

/// Says what of a goal counts for more, or is harder to meet.
fn tightened(goal: &Goal, later: &Goal) -> Vec<String> {
    let threshold = |goal: &Goal| goal.continuous.as_ref()?.threshold;
    let mut told = Vec::new();
    if goal.weight != later.weight {
        told.push(format!("weight {} → {}", goal.weight, later.weight));
    }
    if let (Some(old), Some(new)) = (threshold(goal), threshold(later))
        && old != new
    {
        told.push(format!(
            "threshold {} → {}",
            text::number(old),
            text::number(new)
        ));
    }
    if goal.description != later.description {
        told.push("another description".to_owned());
    }
    told.into_iter()
        .map(|words| format!("goal {}: {words}", goal.id))
        .collect()
}

/// Says what of a goal became easier or simply other.
fn loosened(goal: &Goal, later: &Goal) -> Vec<String> {
    let mut what = Vec::new();
    if goal.check != later.check {
        what.push("check changed");
    }
    if later.weight < goal.weight {
        what.push("weight lowered");
    }
    if (goal.kind, goal.alone) != (later.kind, later.alone)
        || (goal.timeout, goal.retries) != (later.timeout, later.retries)
    {
        what.push("the way it is measured changed");
    }
    match (&goal.continuous, &later.continuous) {
        (None, None) => {}
        (Some(old), Some(new)) => {
            let is_threshold_kept_or_stricter = match (old.threshold, new.threshold) {
                (None, None) => true,
                (Some(old_threshold), Some(new_threshold)) => {
                    // The old threshold must be met by whatever just meets the new one.
                    old_threshold == new_threshold
                        || (old.direction.is_some() && old.is_met_by(new_threshold))
                }
                (None, Some(_)) | (Some(_), None) => false,
            };
            if !is_threshold_kept_or_stricter {
                what.push("threshold loosened");
            }
            if old.direction != new.direction
                || old.read != new.read
                || new.tolerance > old.tolerance
            {
                what.push("the way its value is judged changed");
            }
        }
        (None, Some(_)) | (Some(_), None) => what.push("the way its value is judged changed"),
    }
    what.into_iter()
        .map(|words| format!("goal {}: {words}", goal.id))
        .collect()
}
