//! An agent's work on an attempt, in a slot of its own.

use std::path::Path;

use chrono::Local;

use super::measure::{commit, stopped};
use crate::effects::agent::{self, AgentRun, Call, Outbox, Variable};
use crate::effects::search::edit::{Found, take_over};
use crate::effects::search::{papers, refs};
use crate::effects::slot::Base;
use crate::effects::{clock, excludes};
use crate::error::{Error, Result};
use crate::model::agent::{CannotRun, wait};
use crate::model::gate::AgentEnd;
use crate::model::lesson::Lesson;
use crate::model::search::brief::{self, Material};
use crate::model::search::call;
use crate::model::search::lineage::{Edited, Id, Lineage, Proposal, Status};
use crate::model::{mask, text};
use crate::search::dice;
use crate::session::{Cut, Ending, Searching, Slots, resting};

/// The longest summary that is kept, in characters.
const SUMMARY: usize = 300;

/// An agent's work to be done.
#[derive(Debug)]
pub struct Job {
    proposal: Proposal,
    nth: usize,
    parents: Vec<String>,
    brief: String,
    /// Everything that is known, as JSON.
    call: String,
    /// What agents learned so far.
    known: Vec<Lesson>,
    dice: u64,
    max_cost: Option<f64>,
}

/// Puts together what an agent needs.
/// No more is to be spent in all than `max_cost`, in USD.
pub fn job(lineage: &Lineage, id: Id, nth: usize, max_cost: Option<f64>) -> Result<Job> {
    let proposal = lineage.proposal(id).cloned();
    let proposal = proposal.ok_or_else(|| Error::internal("BUG: an edit of the baseline"))?;
    let parents = proposal
        .parents
        .iter()
        .map(|parent| commit(lineage, *parent).to_owned());
    let cost = lineage.spent().cost_usd;
    let standing = crate::search::told(lineage);
    let material = Material {
        lineage,
        proposal: &proposal,
        standing: &standing,
    };
    Ok(Job {
        parents: parents.collect(),
        brief: brief::write(&material),
        call: format!("{:#}\n", call::call(&material, nth)),
        known: brief::known(lineage),
        dice: dice::roll(lineage.plan.seed, id, "edit", nth),
        max_cost: max_cost
            .filter(|most| *most < f64::MAX)
            .map(|most| (most - cost).max(0.0)),
        nth,
        proposal,
    })
}

impl Job {
    /// Lets the agent work, and takes over what it left. One that cannot run for a reason that passes by itself is waited for and
    /// called again (rule 12).
    pub async fn run(&self, session: &Searching, lane: usize) -> Result<Edited, Cut> {
        let mut refusals = 0;
        loop {
            let (run, found) = self.call(session, lane).await?;
            let found = match found {
                Ok(found) => found,
                Err(why) => return Ok(without_attempt(run, why)),
            };
            let is_changed = !found.changed.is_empty();
            match run
                .cannot_run
                .as_ref()
                .filter(|_| !is_changed && run.gave_up.is_none())
            {
                None => return self.edited(session, run, found),
                Some(refusal) => {
                    refusals += 1;
                    wait_out(session, refusal, refusals).await?;
                }
            }
        }
    }

    /// Calls the agent once; else why nothing can be made of what it left.
    async fn call(
        &self,
        session: &Searching,
        lane: usize,
    ) -> Result<(AgentRun, Result<Found, String>), Cut> {
        let id = self.proposal.id;
        let parent = &self.parents[0];
        let base = Base {
            branch: &session.site.request.branch,
            commit: parent,
        };
        let slot = session.site.slot(Slots::Agent, lane, parent).await?;
        let folder = session.site.folder(id)?;
        let brief_file = papers::write(&folder, "brief.txt", &self.brief)?;
        let call_file = papers::write(&folder, "call.json", &self.call)?;
        let name = |what: &str| match self.nth {
            0 => folder.join(what),
            nth => folder.join(format!("{}-{what}", nth + 1)),
        };
        let repo = session.site.user.git.elsewhere(&slot.root);
        let of_git = repo.all_settings()?;
        let excludes = excludes::of_slot(&session.site.user, &of_git)?;
        let ground = session.site.user.ground_of_slot(&slot.root);
        let root = slot.root.clone();
        session.warn(session.lent.agent_begins()?);
        let run = session
            .agent
            .work(
                &session.site.supervisor,
                &session.site.events.of_attempt(id),
                Call {
                    root: &slot.root,
                    session: &session.site.id,
                    variables: self.variables(
                        &slot.root,
                        &call_file,
                        agent::git_settings(&of_git, &excludes),
                    ),
                    checks: std::slice::from_ref(&session.site.request.fitness),
                    max_cost: self.max_cost,
                    brief: &self.brief,
                    brief_file: &brief_file,
                    log: name("agent.log"),
                    folder: &name("agent"),
                    open: &|| root.is_dir().then(Vec::new),
                    sandbox: (&session.site.sandbox, &ground),
                    is_kept: true,
                },
            )
            .await;
        session.warn(session.lent.agent_ended()?);
        let run = run?;
        let when = format!("while the agent of attempt {id} ran");
        session.site.heed_stop(&slot, parent, &when)?;
        if run.report.status == "stopped" {
            return Err(stopped(session));
        }
        if !run.unkillable.is_empty() {
            let left = &run.unkillable;
            return Err(Error::unsafe_repo(format!(
                "the agent of attempt {id} left processes that cannot be ended: {left:?}"
            ))
            .hint("end them, or what they wait for, then run `evolve search resume`")
            .into());
        }
        if !slot.is_left() {
            let why = "it removed or replaced its copy of the repository".to_owned();
            return Ok((run, Err(why)));
        }
        match take_over(&session.site.user, &slot, base, &session.editable) {
            Ok(found) => Ok((run, Ok(found))),
            Err(cause) if cause.is_of_machine() || cause.is_halt() => Err(cause.into()),
            Err(cause) => Ok((
                run,
                Err(format!("what it left is no attempt: {}", cause.message)),
            )),
        }
    }

    fn variables(&self, root: &Path, call: &Path, mut of_git: Vec<Variable>) -> Vec<Variable> {
        let outbox = Outbox::below(root);
        let proposal = &self.proposal;
        of_git.extend([
            ("EVOLVE_ROLE".into(), "edit".into()),
            ("EVOLVE_ATTEMPT".into(), proposal.id.to_string().into()),
            ("EVOLVE_OPERATOR".into(), proposal.operator.word().into()),
            (
                "EVOLVE_LENS".into(),
                proposal.lens.clone().unwrap_or_default().into(),
            ),
            ("EVOLVE_PARENTS".into(), self.parents.join(" ").into()),
            ("EVOLVE_DICE".into(), self.dice.to_string().into()),
            ("EVOLVE_CALL".into(), call.into()),
            ("EVOLVE_SUMMARY".into(), outbox.summary.into()),
        ]);
        of_git
    }

    /// Says what an agent's work came to, its commit made.
    fn edited(&self, session: &Searching, run: AgentRun, found: Found) -> Result<Edited, Cut> {
        let id = self.proposal.id;
        for what in &run.unread {
            session.site.events.warn(format!("attempt {id}: {what}"));
        }
        let is_changed = !found.changed.is_empty();
        let (status, reason) = match (&run.gave_up, &run.end) {
            (Some(why), _) => (Status::Declined, Some(why.clone())),
            (None, _) if is_changed => (Status::Changed, None),
            (None, AgentEnd::Badly(why)) => (Status::Failed, Some(why.clone())),
            (None, AgentEnd::Done) => (Status::Unchanged, None),
        };
        let subject = found.subject.as_ref().filter(|_| is_changed);
        let said = line(&run.summary).or_else(|| line(subject?));
        let summary = said.or_else(|| {
            let files = text::some_of(&found.changed, 3);
            is_changed.then(|| format!("changes {files}"))
        });
        let commit = match status {
            Status::Changed => {
                let subject = summary.as_deref().unwrap_or("an attempt");
                let message = self.message(subject);
                let commit =
                    session
                        .site
                        .user
                        .store_commit(&found.tree, &self.parents[0], &message)?;
                refs::set(&session.site.user, &session.site.store, id, &commit)?;
                Some(commit)
            }
            Status::Unchanged | Status::Declined | Status::Failed => None,
        };
        Ok(Edited {
            status,
            content: commit.is_some().then_some(found.tree),
            commit,
            summary,
            reason,
            lessons: brief::learned(&self.known, id, &run.lessons),
            left_out: found.left_out,
            duration_s: run.report.duration_s,
            tokens: run.report.tokens,
            cost_usd: run.report.cost_usd,
        })
    }

    fn message(&self, subject: &str) -> String {
        let proposal = &self.proposal;
        let parents: Vec<String> = proposal.parents.iter().map(ToString::to_string).collect();
        format!(
            "attempt {}: {subject}\n\nEvolve-Attempt: {}\nEvolve-Operator: {}\nEvolve-Parents: {}\n",
            proposal.id,
            proposal.id,
            proposal.operator.word(),
            parents.join(" ")
        )
    }
}

/// Waits until an agent that could not run for the `nth` time in a row may be called again; where it will not be, that cuts the search
/// short.
async fn wait_out(session: &Searching, refusal: &CannotRun, nth: u32) -> Result<(), Cut> {
    let site = &session.site;
    let now = clock::now().with_timezone(&Local);
    let Some(rest) = wait(refusal.kind, &refusal.message, nth, now) else {
        return Err(resting::cannot_run(refusal, &session.agent.name).into());
    };
    if let Some(ending) = resting::too_long(&site.stop, refusal, rest) {
        return Err(Cut::Over(ending));
    }
    let reason = resting::shown(refusal);
    let asked = || site.stop.asked_to_stop();
    let rested = resting::rest(&site.stop, &site.events, rest, &reason, || true, asked);
    match rested.await? {
        Some(words) => Err(Cut::Over(Ending::stopped(&site.user, &words))),
        None => Ok(()),
    }
}

/// Says what an agent's work came to of which nothing is left.
fn without_attempt(run: AgentRun, why: String) -> Edited {
    Edited {
        status: Status::Failed,
        content: None,
        commit: None,
        summary: line(&run.summary),
        reason: Some(text::clean_line(&why)),
        left_out: Vec::new(),
        lessons: Vec::new(),
        duration_s: run.report.duration_s,
        tokens: run.report.tokens,
        cost_usd: run.report.cost_usd,
    }
}

/// Returns the first line of an agent's words that says something.
fn line(words: &str) -> Option<String> {
    let clean = mask::secrets(&text::clean(words));
    let line = clean.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(text::cut(line, SUMMARY).to_string())
}
