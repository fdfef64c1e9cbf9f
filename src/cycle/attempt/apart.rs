//! Goals that are met where checks wrote tracked files, for good in a copy or for a moment anywhere: what one of them wrote may be what
//! another is met by, and no commit holds it.

use std::collections::{BTreeSet, HashMap};

use super::Attempt;
use crate::effects::watch::{Done, Watch};
use crate::effects::workspace::{Start, Written};
use crate::model::output;
use crate::model::snapshot::{self, Snapshot};
use crate::session::{Cut, Progress, Session};

impl Attempt<'_> {
    /// Measures goals one after the other where checks wrote to tracked files, each on what is committed. One that passes now and does not
    /// pass so fails, if it did not pass before the agent, or passed then on what was committed: that is tried twice where goals may be
    /// measured again. Where checks wrote such files before the agent, too, and not in the user's own tree, it is measured what was met
    /// by what was committed then.
    pub(super) async fn measure_apart(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
        watch: &mut Watch,
        (after, written_here): (&mut Snapshot, &mut Written),
    ) -> Result<(), Cut> {
        let Done { written, rewritten } = watch.tracked.take().unwrap_or_default();
        let named: Vec<String> = written.iter().cloned().collect();
        if let (Some(note), Some(stock)) = (output::written_in_copy(&named), &mut self.stock)
            && ![&progress.found[..], &stock.notes].concat().contains(&note)
        {
            stock.notes.push(note);
        }
        let is_of_commit = progress.written.is_empty();
        progress.written.extend(written.iter().cloned());
        let written: Vec<String> = written.union(&rewritten).cloned().collect();
        let mut doubted = match is_of_commit || !self.measures_here(session) {
            true => snapshot::passing(after),
            // What passed there before may have been what other checks wrote, and cannot be told any more.
            false => snapshot::newly_passing(self.before, after),
        };
        // Of a change that makes something worse anyway nothing more is to be known.
        let is_worse = !snapshot::newly_failing(self.before, after).is_empty();
        if written.is_empty() || doubted.is_empty() || is_worse {
            return Ok(());
        }
        let goals = doubted.iter().filter_map(|id| self.goals.find(id));
        let retries = goals.map(|goal| goal.retries).max().unwrap_or_default();
        let expected = progress.expected_durations(&session.repo, &session.goals_file, self.goals);
        let mut measured = Vec::new();
        // Each time all goals are measured: what some of them build, others need.
        for _ in 0..=retries.min(1) {
            let mut put_back = || {
                let put_back = self.put_back_written(session, start, written_here);
                session.workspace().note_unwritten(written_here);
                put_back.map(drop)
            };
            measured = session
                .measure_apart(self.goals, &expected, start.cycle, watch, &mut put_back)
                .await?;
            doubted = snapshot::not_passing(&doubted, &measured);
            if doubted.is_empty() {
                break;
            }
        }
        if !is_of_commit && doubted.iter().any(|id| self.before.passes(id)) {
            let unmet = self.unmet_at_start(session, progress, start, &expected);
            let unmet = unmet.await?;
            doubted.retain(|id| !self.before.passes(id) || !unmet.contains(id));
        }
        for mut measurement in measured {
            if doubted.contains(&measurement.id) {
                let reason = measurement.reason.take();
                measurement.reason = Some(output::met_by_written(reason, &written));
                after.replace(measurement);
            }
        }
        after.tolerate(self.before, self.goals);
        Ok(())
    }

    /// Returns the goals that are not met by what was committed when the cycle began, each measured like that: that they pass was what
    /// other checks wrote, before the agent, too.
    async fn unmet_at_start(
        &self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
        expected: &HashMap<String, f64>,
    ) -> Result<BTreeSet<String>, Cut> {
        if let Some((content, unmet)) = &progress.unmet
            && *content == start.content
        {
            return Ok(unmet.clone());
        }
        let measured = session
            .measure_start_apart(self.goals, expected, start)
            .await?;
        let all = self.goals.goals.iter().map(|goal| goal.id.clone());
        let all: Vec<String> = all.collect();
        let unmet: BTreeSet<String> = snapshot::not_passing(&all, &measured).into_iter().collect();
        progress.unmet = Some((start.content.clone(), unmet.clone()));
        Ok(unmet)
    }
}
