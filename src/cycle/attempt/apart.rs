//! Goals that are newly met in a copy in which checks wrote tracked files: what one of them wrote may be what another is met by, and no
//! commit holds it.

use super::Attempt;
use crate::effects::watch::Watch;
use crate::effects::workspace::Start;
use crate::model::output;
use crate::model::snapshot::{self, Snapshot};
use crate::session::{Cut, Progress, Session};

impl Attempt<'_> {
    /// Measures goals one after the other where checks wrote to tracked files of a copy, each on what is committed. One that passes now,
    /// did not before the agent, and does not pass so either fails: as often as it allows, that is tried again.
    pub(super) async fn measure_apart(
        &mut self,
        session: &Session,
        progress: &Progress,
        start: &Start,
        watch: &mut Watch,
        after: &mut Snapshot,
    ) -> Result<(), Cut> {
        let written = watch.written.take().unwrap_or_default();
        let written: Vec<String> = written.into_iter().collect();
        if let (Some(note), Some(stock)) = (output::written_in_copy(&written), &mut self.stock)
            && ![&progress.found[..], &stock.notes].concat().contains(&note)
        {
            stock.notes.push(note);
        }
        let mut doubted = snapshot::newly_passing(self.before, after);
        if written.is_empty() || doubted.is_empty() {
            return Ok(());
        }
        let goals = doubted.iter().filter_map(|id| self.goals.find(id));
        let retries = goals.map(|goal| goal.retries).max().unwrap_or_default();
        let expected = progress.expected_durations(&session.repo, &session.goals_file, self.goals);
        let mut measured = Vec::new();
        for _ in 0..=retries {
            measured = session
                .measure_apart(self.goals, &expected, start.cycle, watch)
                .await?;
            doubted = snapshot::not_passing(&doubted, &measured);
            if doubted.is_empty() {
                break;
            }
        }
        for mut measurement in measured {
            if doubted.contains(&measurement.id) {
                let reason = measurement.reason.take();
                measurement.reason = Some(output::met_by_written(reason, &written));
                after.replace(measurement);
            }
        }
        Ok(())
    }
}
