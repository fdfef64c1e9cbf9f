//! The files that judge a change, while the goals are measured: checks call what the agent wrote.

use super::{Attempt, SCRIPT_LIMIT};
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Stock};
use crate::error::Result;
use crate::model::goals::Where;
use crate::session::Session;

impl Attempt<'_> {
    /// Returns which files are watched while the goals are measured: all that checks run, but for what they build first. That is
    /// ignored by git, or no text.
    pub(super) fn to_watch(&self, session: &Session, start: &Start) -> Vec<String> {
        let is_text = |file: &str| {
            let path = session.repo.root.join(file);
            files::read_text(&path, SCRIPT_LIMIT).is_ok()
        };
        let is_written_by_hand = |file: &&String| {
            session.repo.has_file(&start.tree, file)
                || !session.repo.is_ignored(file)
                    && !start.kept.was_ignored(file.as_bytes())
                    && is_text(file)
        };
        let files = self.fingerprints.iter().map(|(file, _)| file);
        files.filter(is_written_by_hand).cloned().collect()
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
        let words = |file: &String| format!("{file} changed while the goals were measured");
        stock.change.goalposts.extend(swapped.iter().map(words));
        self.put_back_goals(session, start, stock)?;
        // A slot is made anew.
        if session.isolation.is_some() || self.goals.settings.measure == Where::Clean {
            return Ok(());
        }
        // Before git is called.
        stock.notes.extend(session.guard(start)?);
        let mut quarantine = Quarantine::of(&session.repo.private, &start.session, start.cycle);
        let is_swapped = |path: &[u8]| swapped.iter().any(|file| file.as_bytes() == path);
        session
            .workspace()
            .put_back_those(&is_swapped, &mut quarantine)?;
        stock.notes.extend(quarantine.notes());
        Ok(())
    }
}
