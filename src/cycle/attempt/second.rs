//! The second measurement of a cycle: what the agent's change came to. What newly fails is measured once more, alone.

use super::Attempt;
use crate::cycle::choose;
use crate::effects::watch::Watch;
use crate::effects::workspace::{Start, some_of};
use crate::error::Result;
use crate::model::goals::Where;
use crate::model::ledger as names;
use crate::model::snapshot::{self, CheckResult, Snapshot};
use crate::session::{Cut, Progress, Session};

/// How long all checks together may take, in seconds, for each to be run alone once more.
const ALONE_SECONDS: f64 = 60.0;

impl Attempt<'_> {
    /// Measures after the agent. What checks remove of the user's untracked files is put back, however large it is.
    pub(super) async fn measure_after(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<(), Cut> {
        session.link_uncopied(start)?;
        let measured = self.measure_written(session, progress, start).await;
        let notes = session.settle_links(start.cycle)?;
        if let Some(stock) = &mut self.stock {
            stock.notes.extend(notes);
        }
        measured
    }

    /// Measures until what is measured is in a commit, twice at most.
    async fn measure_written(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<(), Cut> {
        let mut watch = Watch::over(self.to_watch(session, start));
        let place = (start, &mut watch);
        let mut second = self.measure_once(session, progress, place).await;
        if second
            .as_ref()
            .is_ok_and(|(_, written)| !written.is_empty())
        {
            // It may have been somebody else who wrote, and only once.
            let place = (start, &mut watch);
            second = self.measure_once(session, progress, place).await;
        }
        let (after, written) = match second {
            Ok(second) => second,
            // The change itself may be what cannot be made ready.
            Err(Cut::Unprepared(why)) => {
                self.after = Err(why.into());
                return Ok(());
            }
            Err(cut) => return Err(cut),
        };
        self.note_swapped(session, progress, (start, &watch));
        if !written.is_empty() {
            let writer = self.writer(session, (&after, &written), start).await?;
            let by = writer.map_or(String::new(), |by| format!(", {by}"));
            self.after = Err(format!(
                "checks write tracked files, so that what is measured is in no commit: {}{by} (commit what they write, or have them compare)",
                some_of(&written)
            ));
            return Ok(());
        }
        progress
            .ledger
            .write_snapshot(&names::post_snapshot(start.cycle), &after)?;
        self.after = Ok(after);
        Ok(())
    }

    /// Says which goal's check writes these tracked files: the first that does so when each is measured alone. That is tried only
    /// where all of them together were quick; what keeps it from being told changes nothing of the verdict.
    async fn writer(
        &mut self,
        session: &Session,
        (after, written): (&Snapshot, &[String]),
        start: &Start,
    ) -> Result<Option<String>> {
        let goals = self.goals;
        let took: f64 = after.goals.iter().map(|goal| goal.duration_s).sum();
        if took > ALONE_SECONDS {
            return Ok(None);
        }
        let durations = after.goals.iter();
        let expected = durations.map(|goal| (goal.id.clone(), goal.duration_s));
        let expected = expected.collect();
        for goal in &goals.goals {
            let purpose = (start.cycle, "blame");
            let measured = session.measure(goals, &[goal], &expected, purpose).await;
            let own = self.put_back_written(session, start)?;
            if measured.is_err() {
                return Ok(None);
            }
            if !own.is_empty() {
                let is_all = written.iter().all(|file| own.contains(file));
                let some = if is_all { "" } else { "some of them " };
                return Ok(Some(format!("{some}by the check of {}", goal.id)));
            }
        }
        Ok(None)
    }

    /// Measures all goals; returns the tracked files that were written to meanwhile and are put back, too.
    async fn measure_once(
        &mut self,
        session: &Session,
        progress: &Progress,
        place: (&Start, &mut Watch),
    ) -> Result<(Snapshot, Vec<String>), Cut> {
        let start = place.0;
        let after = self.measure_second(session, progress, place).await?;
        let written = self.put_back_written(session, start)?;
        Ok((after, written))
    }

    /// Says whether goals are measured in the user's own working tree, and that is still a repository's.
    pub fn measures_here(&self, session: &Session) -> bool {
        session.isolation.is_none()
            && self.goals.settings.measure == Where::Here
            && session.has_git_dir()
    }

    /// Puts tracked files back that checks wrote to in the user's own working tree; returns which. Where somebody moved HEAD or the
    /// branch meanwhile, they may be theirs.
    fn put_back_written(&mut self, session: &Session, start: &Start) -> Result<Vec<String>> {
        let is_here = self.measures_here(session);
        let Some(stock) = self.stock.as_mut().filter(|_| is_here) else {
            return Ok(Vec::new());
        };
        let workspace = session.workspace();
        if !workspace.moved_since(start, stock)?.is_empty() {
            return Ok(Vec::new());
        }
        let written = workspace.put_back_written(start)?;
        stock.notes.extend(written.notes);
        Ok(written.files)
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
            let definitions = (&session.goals_file, self.goals);
            let expected = progress.expected_durations(&session.repo, definitions);
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
