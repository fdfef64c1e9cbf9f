//! The second measurement of a cycle: what the agent's change came to. What newly fails is measured once more, alone.

use super::Attempt;
use crate::cycle::choose;
use crate::effects::watch::Watch;
use crate::effects::workspace::Start;
use crate::model::ledger as names;
use crate::model::snapshot::{self, CheckResult, Snapshot};
use crate::session::{Cut, Progress, Session};

impl Attempt<'_> {
    /// Measures after the agent.
    pub(super) async fn measure_after(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<(), Cut> {
        let mut watch = Watch::over(self.to_watch(session, start));
        let second = self.measure_second(session, progress, (start, &mut watch));
        let after = match second.await {
            Ok(after) => after,
            // The change itself may be what cannot be made ready.
            Err(Cut::Unprepared(why)) => {
                self.after = Err(why);
                return Ok(());
            }
            Err(cut) => return Err(cut),
        };
        self.note_swapped(session, progress, (start, &watch));
        progress
            .ledger
            .write_snapshot(&names::post_snapshot(start.cycle), &after)?;
        self.after = Ok(after);
        Ok(())
    }

    /// Measures again after the change was brought together with commits of others; a failure ends up in the evidence.
    pub async fn measure_again(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) {
        if let Err(cut) = self.measure_after(session, progress, start).await {
            self.cut = Some(cut);
        }
    }

    /// Measures goals on what is in the tree now; returns those that are worse than before the agent.
    pub async fn still_failing(
        &self,
        session: &Session,
        start: &Start,
        ids: &[String],
    ) -> Vec<String> {
        let goals = ids.iter().filter_map(|id| self.goals.find(id));
        let goals: Vec<_> = goals.collect();
        let purpose = (start.cycle, "blame");
        let measured = session
            .measure(self.goals, &goals, &Default::default(), purpose)
            .await;
        let Ok(measured) = measured else {
            return Vec::new();
        };
        let mut now = self.before.clone();
        for measurement in measured {
            now.replace(measurement);
        }
        now.tolerate(self.before, self.goals);
        snapshot::newly_failing(self.before, &now)
    }

    /// Measures every goal again: those once more that may have run what was built only then, and what newly fails, one at a time.
    async fn measure_second(
        &self,
        session: &Session,
        progress: &Progress,
        (start, watch): (&Start, &mut Watch),
    ) -> Result<Snapshot, Cut> {
        let place = (start, self.goals);
        let mut after =
            choose::measure_all(session, progress, place, ("after", &mut *watch)).await?;
        let doubted = self.in_doubt(session);
        if !doubted.is_empty() {
            let expected = progress.expected_durations();
            let purpose = (start.cycle, "rebuilt");
            let again = session
                .measure_watched(self.goals, (&doubted, &expected), purpose, watch)
                .await?;
            again.into_iter().for_each(|one| after.replace(one));
        }
        after.tolerate(self.before, self.goals);
        session.tell_measured(&after, "after");
        for id in snapshot::newly_failing(self.before, &after) {
            self.confirm(session, (start, watch), &mut after, &id)
                .await?;
        }
        Ok(after)
    }

    /// Measures a newly failing goal again, alone, as often as it allows or until it is no regression; if it passes it is
    /// flaky.
    async fn confirm(
        &self,
        session: &Session,
        (start, watch): (&Start, &mut Watch),
        after: &mut Snapshot,
        id: &str,
    ) -> Result<(), Cut> {
        let Some(goal) = self.goals.find(id) else {
            return Ok(());
        };
        for attempt in 0..goal.retries {
            let again = session
                .measure_watched(
                    self.goals,
                    (&[goal], &Default::default()),
                    (start.cycle, "confirm"),
                    watch,
                )
                .await?;
            for mut measurement in again {
                measurement.attempts = attempt + 2;
                measurement.flaky = measurement.result == CheckResult::Pass;
                if measurement.flaky {
                    session.events.note(format!(
                        "{id} is flaky: it failed and passed on the same content"
                    ));
                }
                after.replace(measurement);
                after.tolerate(self.before, self.goals);
            }
            if !snapshot::newly_failing(self.before, after).contains(&goal.id) {
                return Ok(());
            }
        }
        Ok(())
    }
}
