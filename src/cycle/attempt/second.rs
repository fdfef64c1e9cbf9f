//! The second measurement of a cycle: what the agent's change came to. What newly fails is measured once more, alone.

use super::Attempt;
use super::compared::Stood;
use super::written::named;
use crate::cycle::choose;
use crate::effects::clock;
use crate::effects::watch::Watch;
use crate::effects::workspace::{Start, Written, some_of};
use crate::error::Result;
use crate::model::gate::Suspect;
use crate::model::ledger as names;
use crate::model::select::Task;
use crate::model::slot;
use crate::model::snapshot::{self, CheckResult, Snapshot};
use crate::session::{Cut, Progress, Session};

impl Attempt<'_> {
    /// Measures after the agent, with the user's untracked files as they were. What checks remove of these is put back, however large
    /// it is.
    pub(super) async fn measure_after(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<(), Cut> {
        self.put_back_untracked(session, start)?;
        self.restore_own(session, progress, start)?;
        session.link_uncopied(start)?;
        let mut written = self.take_written(session, start);
        let measured = self
            .measure_written(session, progress, start, &mut written)
            .await;
        self.written = Some(written);
        self.note_lost(session);
        if measured.is_ok() {
            self.note_came(session, progress, start)?;
        }
        let notes = session.settle_links(start.cycle)?;
        if let Some(stock) = &mut self.stock {
            stock.notes.extend(notes);
        }
        measured
    }

    /// Makes evolve's own files what will be kept of them: what an agent made of them is not measured. In the user's own working
    /// tree others may have added to them, and what they added is judged now.
    fn restore_own(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<()> {
        let workspace = session.workspace();
        if session.isolation.is_some() {
            return workspace.restore_ledger(start);
        }
        let Some(stock) = &self.stock else {
            return Ok(());
        };
        if !workspace.moved_since(start, stock)?.is_empty() {
            return Ok(());
        }
        let ledger = &mut progress.ledger;
        let mut found = ledger.judge_files(&session.repo, start.cycle, &clock::timestamp())?;
        if let Task::Item(item) = self.task {
            // A check may ask git whether the tree is clean.
            ledger.queue.release(item.key);
            ledger.write_queue()?;
        }
        let moved = ledger.restore_names(&session.repo, &self.own_before, start.cycle)?;
        workspace.restore_ledger_index(start, stock)?;
        found.wrong.extend(moved);
        let found = found.beyond(&self.own_found);
        let wrong = found.wrong.iter().cloned();
        wrong.for_each(|what| session.events.warn(what));
        let said = [&found.wrong[..], &found.added].concat();
        session.note_in_journal(start.cycle, &said)?;
        self.own_found.wrong.extend(found.wrong);
        self.own_found.added.extend(found.added);
        Ok(())
    }

    /// Measures until what is measured is in a commit, twice at most, and once more without what checks make themselves.
    async fn measure_written(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
        written: &mut Written,
    ) -> Result<(), Cut> {
        let mut watch = Watch::over(self.to_watch(session, start)).and_tracked();
        let mut second = self
            .measure_once(session, progress, start, &mut watch, written)
            .await;
        let mut stood = self.look_at_refs(session, start)?;
        let is_written = second.as_ref().is_ok_and(|(_, files)| !files.is_empty());
        if is_written || second.is_ok() && stood != Stood::Fast {
            // It may have been somebody else who wrote, and only once.
            second = self
                .measure_once(session, progress, start, &mut watch, written)
                .await;
            stood = self.look_at_refs(session, start)?;
        }
        if let Ok((_, files)) = &second
            && let Some(taken_out) = self.take_out(session, start, files)?
        {
            second = self
                .measure_once(session, progress, start, &mut watch, written)
                .await;
            stood = self.look_at_refs(session, start)?;
            let files = second.as_mut().ok().map(|(_, files)| files);
            self.settle_taken_out(session, start, taken_out, files, written)?;
        }
        if let Ok((after, files)) = &mut second
            && files.is_empty()
        {
            let held = (after, &mut *written);
            let apart = self.measure_apart(session, progress, start, &mut watch, held);
            if let Err(cut) = apart.await {
                second = Err(cut);
            }
        }
        let (after, files) = match second {
            Ok(second) => second,
            // The change itself may be what cannot be made ready.
            Err(Cut::Unprepared(why)) => {
                self.after = Err(why.into());
                return Ok(());
            }
            Err(cut) => return Err(cut),
        };
        self.note_swapped(session, progress, start, &watch);
        if let Stood::Loose(moved) = stood {
            self.after = Err(format!(
                "what checks compare with was moved each time the goals were measured: {}",
                some_of(&moved)
            ));
            return Ok(());
        }
        if let (Stood::Fetched(moved), Some(stock)) = (stood, &mut self.stock) {
            // Whether that was honest cannot be told from here, and whose work it would cost is the agent's.
            stock.change.suspect = Suspect::Check;
            let each = |words| format!("{words}; it was fetched each time the goals were measured");
            stock.change.by_others.extend(moved.into_iter().map(each));
        }
        if self.is_by_others() {
            self.after = Err("not measured".to_owned());
            return Ok(());
        }
        if !files.is_empty() {
            let writers = self
                .writers(session, &after, &files, start, written)
                .await?;
            // Of what the agent left uncommitted, or committed, only git's patterns keep it out.
            let is_new = |file: &String| !session.repo.may_have_file(&start.tree, file);
            let is_input = |file: &String| slot::is_input(file);
            let advice = match () {
                () if files.iter().any(is_input) => "commit what they write, or have them compare",
                () if files.iter().all(is_new) => "they are new: name them in .gitignore",
                () => {
                    "commit what they write, have them compare, or take what is only built out of git, by `git rm --cached` and .gitignore"
                }
            };
            self.after = Err(format!(
                "checks write tracked files, so that what is measured is in no commit: {} ({advice})",
                named(&files, &writers)
            ));
            return Ok(());
        }
        progress
            .ledger
            .write_snapshot(&names::post_snapshot(start.cycle), &after)?;
        self.after = Ok(after);
        Ok(())
    }

    fn is_by_others(&self) -> bool {
        let stock = self.stock.as_ref();
        stock.is_some_and(|stock| !stock.change.by_others.is_empty())
    }

    /// Measures all goals; returns the tracked files that were written to meanwhile and are put back, too.
    async fn measure_once(
        &mut self,
        session: &Session,
        progress: &Progress,
        start: &Start,
        watch: &mut Watch,
        written: &mut Written,
    ) -> Result<(Snapshot, Vec<String>), Cut> {
        session.workspace().note_unwritten(written);
        let after = self.measure_second(session, progress, start, watch).await?;
        let files = self.put_back_written(session, start, written)?;
        if let Some(tracked) = &mut watch.tracked {
            tracked.add(written.take_touched());
        }
        Ok((after, files))
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
    ) -> Result<Vec<String>, Cut> {
        let goals = ids.iter().filter_map(|id| self.goals.find(id));
        let goals: Vec<_> = goals.collect();
        let measured = session
            .measure(
                self.goals,
                &goals,
                &Default::default(),
                start.cycle,
                "blame",
            )
            .await?;
        let mut now = self.before.clone();
        for measurement in measured {
            now.replace(measurement);
        }
        now.tolerate(self.before, self.goals);
        Ok(snapshot::newly_failing(self.before, &now))
    }

    /// Measures every goal again: those once more that may have run what was built only then, and what newly fails, one at a time.
    async fn measure_second(
        &self,
        session: &Session,
        progress: &Progress,
        start: &Start,
        watch: &mut Watch,
    ) -> Result<Snapshot, Cut> {
        let measured = choose::measure_all(session, progress, start, self.goals, "after", watch);
        let mut after = measured.await?;
        let doubted = self.in_doubt(session);
        if !doubted.is_empty() {
            let expected =
                progress.expected_durations(&session.repo, &session.goals_file, self.goals);
            let cycle = start.cycle;
            let again = session
                .measure_watched(self.goals, &doubted, &expected, cycle, "rebuilt", watch)
                .await?;
            again.into_iter().for_each(|one| after.replace(one));
        }
        after.tolerate(self.before, self.goals);
        session.tell_measured(&after, "after");
        for id in snapshot::newly_failing(self.before, &after) {
            self.confirm(session, start, watch, &mut after, &id).await?;
        }
        Ok(after)
    }

    /// Measures a newly failing goal again, alone, as often as it allows or until it is no regression; if it passes it is
    /// flaky.
    async fn confirm(
        &self,
        session: &Session,
        start: &Start,
        watch: &mut Watch,
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
                    &[goal],
                    &Default::default(),
                    start.cycle,
                    "confirm",
                    watch,
                )
                .await?;
            for mut measurement in again {
                measurement.attempts = attempt + 2;
                // The record tells it.
                measurement.flaky = measurement.result == CheckResult::Pass;
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
