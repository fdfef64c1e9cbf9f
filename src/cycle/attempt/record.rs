//! What an attempt comes to: the evidence for its verdict, and the record of its cycle.

use super::Attempt;
use crate::effects::clock;
use crate::effects::workspace::{Settled, Start, Stock, Written};
use crate::error::Result;
use crate::model::gate::{self, AgentEnd, Change, Evidence, Fate, Verdict};
use crate::model::goals;
use crate::model::record::{CycleResult, Record, UNDO};
use crate::model::select::Task;
use crate::model::snapshot::FORMAT;
use crate::session::{Cut, Session};

impl Attempt<'_> {
    /// Returns the verdict on a change whose cycle was cut short.
    pub fn cut_short(&mut self, cut: Cut, change: &Change) -> Verdict {
        self.cut = Some(cut);
        gate::judge(&self.evidence(change))
    }

    /// Puts together what the verdict is made of.
    pub fn evidence<'e>(&'e self, change: &'e Change) -> Evidence<'e> {
        const NEVER_RAN: &AgentEnd = &AgentEnd::Done;
        Evidence {
            task: self.task,
            before: self.before,
            after: self.after.as_ref().map_err(Clone::clone),
            change,
            agent: self.run.as_ref().map_or(NEVER_RAN, |run| &run.end),
            worker: match &self.run {
                Some(run) if run.report.name == UNDO => "the undo",
                Some(_) | None => "the agent",
            },
            gave_up: self.run.as_ref().and_then(|run| run.gave_up.as_deref()),
            cut_short: self.cut.as_ref().map(Cut::reason),
        }
    }

    /// Returns the record of the settled cycle.
    pub fn record(
        &self,
        session: &Session,
        start: &Start,
        stock: &Stock,
        verdict: &Verdict,
        settled: &Settled,
    ) -> Result<Record> {
        let last = self.after.as_ref().unwrap_or(self.before);
        let of_run = self.run.iter().flat_map(|run| [&run.opened, &run.unread]);
        let of_run = of_run.flatten().cloned();
        let mut notes: Vec<_> = of_run.chain(stock.notes.iter().cloned()).collect();
        notes.extend(self.written.iter().flat_map(Written::notes));
        notes.extend(self.came_words(session, verdict.fate));
        notes.extend(settled.notes.iter().cloned());
        Ok(Record {
            result: verdict.result,
            commit_sha: settled.commit.clone(),
            reverted_to: settled.was_undone.then(|| start.commit.clone()),
            goals_passing: last.goals_passing,
            goals_total: last.goals_total,
            goals_added: match verdict.fate {
                Fate::Keep => stock.change.goals_added,
                Fate::Undo | Fate::Leave => 0,
            },
            score_after: Some(last.score),
            newly_failing: verdict.newly_failing.clone(),
            newly_passing: verdict.newly_passing.clone(),
            reason: verdict.reason.clone(),
            content: Some(
                session
                    .home()
                    .content(&session.home().tree_of(&settled.commit)?)?,
            ),
            agent: self.run.as_ref().map(|run| run.report.clone()),
            notes,
            ..self.interrupted_record(session, start)
        })
    }

    /// Returns the record that a crash would leave: the cycle undone, `interrupted`.
    pub(super) fn interrupted_record(&self, session: &Session, start: &Start) -> Record {
        Record {
            format: FORMAT,
            cycle: start.cycle,
            goal_id: Some(self.task.goal_id()),
            result: CycleResult::Interrupted,
            commit_sha: start.commit.clone(),
            reverted_to: None,
            goals_passing: self.before.goals_passing,
            goals_total: self.before.goals_total,
            goals_added: 0,
            timestamp: clock::timestamp(),
            score_before: Some(self.before.score),
            score_after: Some(self.before.score),
            newly_failing: Vec::new(),
            newly_passing: Vec::new(),
            reason: None,
            definition: match self.task {
                Task::Goal(id) => self.goals.find(id).map(goals::Goal::definition),
                Task::Item(_) => None,
            },
            content: Some(start.content.clone()),
            session: Some(session.id.clone()),
            agent: None,
            notes: Vec::new(),
        }
    }
}
