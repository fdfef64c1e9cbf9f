//! Recorded commits are measured again: the same goals, in a slot that no agent was ever in.

use std::collections::HashMap;

use super::Recorded;
use crate::effects::measure::Measurer;
use crate::effects::repo::Repo;
use crate::effects::slot::{Base, Ignored, Preparation, Prepared, Slot};
use crate::effects::stop::Halt;
use crate::effects::workspace::Workspace;
use crate::error::Result;
use crate::model::audit::{self, Disagreement};
use crate::model::goals::{self, Goal, Goals};
use crate::model::snapshot::Measurement;

/// What measuring one commit again came to.
#[derive(Debug)]
pub enum Again {
    /// It was measured.
    Measured(Compared),
    /// The slot could not be made ready to measure in, and why.
    NotReady(String),
    /// The goals that were measured then cannot be found.
    NoGoals,
    /// It was cut short.
    Halted(Halt),
}

/// What a commit that was measured again showed.
#[derive(Debug)]
pub struct Compared {
    /// What differs.
    pub differs: Vec<Disagreement>,
    /// What could not be measured, in words.
    pub skipped: Vec<String>,
    /// The goals that agreed only when they were measured once more.
    pub unsteady: Vec<String>,
}

/// Measures a recorded commit again and compares. A goal with another result than recorded is measured once more alone, as often
/// as it allows. `measurer` works in the slot.
pub async fn remeasure(
    repo: &Repo,
    slot: &Slot,
    measurer: &Measurer,
    recorded: &Recorded,
    goals_file: &str,
) -> Result<Again> {
    let Some(goals) = goals_of(repo, recorded, goals_file)? else {
        return Ok(Again::NoGoals);
    };
    let slot = Slot {
        root: slot.root.clone(),
        provisions: goals.settings.provisions(),
        written: slot.written.clone(),
        is_led: false,
    };
    let base = Base {
        branch: "refs/heads/audit",
        commit: &recorded.commit,
    };
    let copy = slot.renew(repo, base, Ignored::Go)?;
    let preparation = Preparation {
        user: repo,
        base,
        supervisor: &measurer.supervisor,
        fence: &measurer.fence,
        log: None,
        session: &measurer.session,
    };
    match (slot.prepare(&preparation).await?, measurer.stop.halt()) {
        (Prepared::Ready, _) => {}
        (Prepared::Stopped, Some(halt)) => return Ok(Again::Halted(halt)),
        (Prepared::Failed(why), _) => return Ok(Again::NotReady(why)),
        (Prepared::Astray(led), _) => return Ok(Again::NotReady(led.words())),
        (Prepared::Stopped, None) => return Ok(Again::NotReady("it was stopped".to_owned())),
    }
    let all: Vec<&Goal> = goals.goals.iter().collect();
    let mut now = match measurer.measure(&goals, &all, &HashMap::new(), None).await {
        Ok(now) => now,
        Err(halt) => return Ok(Again::Halted(halt)),
    };
    let mut unsteady = Vec::new();
    // Checks may have broken its git, or led it into another repository.
    let own = |copy| match slot.has_own_git_dir() {
        true => Ok(copy),
        false => slot.remake_git_dir(repo, base),
    };
    let mut copy = own(copy)?;
    let written = Workspace { repo: &copy }.tracked_changes();
    let written = written.unwrap_or_default();
    for id in audit::differing(&recorded.snapshot, &now) {
        let Some(goal) = goals.find(&id) else {
            continue;
        };
        if !written.is_empty() {
            // Then it may be met by what other checks write, which counted for nothing.
            copy = own(copy)?;
            Workspace { repo: &copy }.drop_written()?;
            let again = measurer
                .measure(&goals, &[goal], &HashMap::new(), None)
                .await;
            match again.map(|again| agreeing(again, recorded)) {
                Ok(Some(agreeing)) => {
                    now.retain(|measured| measured.id != id);
                    now.push(agreeing);
                    continue;
                }
                Ok(None) => {}
                Err(halt) => return Ok(Again::Halted(halt)),
            }
        }
        match measure_alone(measurer, &goals, goal, recorded).await {
            Ok(Some(agreeing)) => {
                now.retain(|measured| measured.id != id);
                now.push(agreeing);
                unsteady.push(id);
            }
            Ok(None) => {}
            Err(halt) => return Ok(Again::Halted(halt)),
        }
    }
    let shown = audit::of_measured(&recorded.snapshot, &now);
    let disagreement = |what| Disagreement {
        cycle: Some(recorded.cycle),
        commit: Some(recorded.commit.clone()),
        what,
    };
    Ok(Again::Measured(Compared {
        differs: shown.differs.into_iter().map(disagreement).collect(),
        skipped: shown.skipped,
        unsteady,
    }))
}

/// Measures one goal alone until it has the recorded result; none if it never has.
async fn measure_alone(
    measurer: &Measurer,
    goals: &Goals,
    goal: &Goal,
    recorded: &Recorded,
) -> Result<Option<Measurement>, Halt> {
    for _ in 0..goal.retries {
        let again = measurer
            .measure(goals, &[goal], &HashMap::new(), None)
            .await?;
        if let Some(again) = agreeing(again, recorded) {
            return Ok(Some(again));
        }
    }
    Ok(None)
}

/// Returns the measurement that has the recorded result.
fn agreeing(again: Vec<Measurement>, recorded: &Recorded) -> Option<Measurement> {
    let is_as_recorded = |again: &Measurement| {
        let known = recorded.snapshot.find(&again.id);
        known.is_some_and(|known| known.result == again.result)
    };
    again.into_iter().find(is_as_recorded)
}

/// Returns the goals that the snapshot was taken of: those of the commit itself, or of the start of its cycle.
fn goals_of(repo: &Repo, recorded: &Recorded, goals_file: &str) -> Result<Option<Goals>> {
    let start = recorded.snapshot.cycle_start_sha.as_ref();
    for commit in [Some(&recorded.commit), start].into_iter().flatten() {
        if !repo.has_commit(commit) {
            continue;
        }
        let bytes = repo
            .file(&repo.tree_of(commit)?, goals_file)?
            .unwrap_or_default();
        let read = goals::read_goals(goals_file, &bytes).ok();
        let is_it = |goals: &Goals| goals.digest == recorded.snapshot.goals_digest;
        if let Some(goals) = read.map(|(goals, _)| goals).filter(is_it) {
            return Ok(Some(goals));
        }
    }
    Ok(None)
}
