//! The files that judge a change, while the goals are measured: checks call what the agent wrote.

use std::collections::BTreeSet;

use super::Attempt;
use crate::effects::isolation::lent;
use crate::effects::quarantine::Quarantine;
use crate::effects::watch::Watch;
use crate::effects::workspace::{Start, Stock};
use crate::error::Result;
use crate::model::check;
use crate::model::goals::Where;
use crate::session::{Progress, Session};

const WHEN: &str = "while the goals were measured";

impl Attempt<'_> {
    /// Returns which files are watched while the goals are measured: all that checks run, but for what they build first. That is
    /// ignored by git, or no text. What is protected is watched whatever it is, and so is what of it a slot is lent.
    pub(super) fn to_watch(&self, session: &Session, start: &Start) -> Vec<String> {
        let workspace = session.workspace();
        let is_written_by_hand = |file: &&String| {
            !start.kept.was_ignored(file.as_bytes()) && !workspace.may_be_built(&start.tree, file)
        };
        let files = self.fingerprints.iter().map(|(file, _)| file);
        let files = files.filter(is_written_by_hand).cloned();
        let protected = start.kept.protected_paths().map(String::from_utf8);
        let lent = lent::named(start);
        let all: BTreeSet<_> = files.chain(protected.flatten()).chain(lent).collect();
        all.into_iter().collect()
    }

    /// Notes what was done to these files. Where checks did something to one before an agent was called it is a habit of theirs,
    /// and so it is where their text says so: a check that failed then may not have come that far.
    pub(super) fn note_swapped(
        &mut self,
        session: &Session,
        progress: &Progress,
        start: &Start,
        watch: &Watch,
    ) {
        let is_tracked = |file: &str| session.repo.may_have_file(&start.tree, file);
        let is_said = |file: &str| {
            let mut goals = self.goals.goals.iter();
            goals.any(|goal| check::touches(&goal.check, file))
        };
        let is_habit = |file: &str| progress.touched.contains(file);
        let changed = watch.changed();
        let changed = changed.filter(|file| is_tracked(file) || !is_habit(file));
        let changed = changed.map(|file| (file.clone(), "changed"));
        let touched = watch.touched();
        let touched = touched.filter(|file| is_tracked(file) && !is_habit(file) && !is_said(file));
        let touched = touched.map(|file| (file.clone(), "was changed"));
        let found: Vec<_> = touched.chain(changed).collect();
        self.swapped.extend(found);
    }

    /// Refuses what was done to these files while the goals were measured, and puts the files back.
    pub fn look_at_watched(
        &mut self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        let swapped = std::mem::take(&mut self.swapped);
        if swapped.is_empty() {
            return Ok(());
        }
        let words = |(file, what): (&String, &&str)| format!("{file} {what} {WHEN}");
        stock.change.goalposts.extend(swapped.iter().map(words));
        self.put_back_goals(session, start, stock)?;
        // A slot is made anew.
        if session.isolation.is_some() || self.goals.settings.measure == Where::Clean {
            return Ok(());
        }
        // Before git is called.
        stock.notes.extend(session.guard(start)?);
        let mut quarantine = Quarantine::of(&session.repo.private, &start.session, start.cycle);
        let is_swapped = |path: &[u8]| swapped.keys().any(|file| file.as_bytes() == path);
        session
            .workspace()
            .put_back_those(&is_swapped, &mut quarantine)?;
        stock.notes.extend(quarantine.notes());
        Ok(())
    }
}
