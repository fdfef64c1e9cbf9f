//! What checks build and then run: ignored by git, or no text. It follows from the sources, which an agent may change, so that it is
//! not frozen; but an agent's own version of it is not measured.

use super::Attempt;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Stock, some_of};
use crate::error::Result;
use crate::model::goals::Where;
use crate::session::Session;

impl Attempt<'_> {
    /// Puts built files that the agent changed back before the goals are measured: what checks build then follows from the sources.
    /// One behind a link that leads elsewhere now moves the goalposts; one without a copy is named.
    pub(super) fn put_back_built(
        &mut self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        if self.goals.settings.measure == Where::Clean {
            return Ok(());
        }
        let workspace = session.workspace();
        let mut quarantine = Quarantine::of(&session.repo.private, &start.session, start.cycle);
        let mut uncopied = Vec::new();
        for (file, before) in &self.built {
            if workspace.fingerprint(file) == *before {
                continue;
            }
            if !workspace.put_back_built(start, file, &mut quarantine)? {
                stock.change.goalposts.push(format!("{file} changed"));
            } else if workspace.fingerprint(file) == *before {
                self.rebuilt.push(file.clone());
            } else {
                uncopied.push(file.clone());
            }
        }
        stock.notes.extend(quarantine.notes());
        if !uncopied.is_empty() {
            stock.notes.push(format!(
                "changed, run by checks, and without a copy because git does not track it: {}",
                some_of(&uncopied)
            ));
        }
        Ok(())
    }

    /// Names the built files that were put back and that no check built anew: what the agent made of them was not measured.
    pub(super) fn note_unbuilt(&self, session: &Session, stock: &mut Stock) {
        let workspace = session.workspace();
        let is_same = |file: &&String| {
            let mut built = self.built.iter();
            built.any(|(built, before)| built == *file && workspace.fingerprint(file) == *before)
        };
        let unbuilt: Vec<_> = self.rebuilt.iter().filter(is_same).cloned().collect();
        if !unbuilt.is_empty() {
            stock.notes.push(format!(
                "put back before the goals were measured, because checks run it, git does not track it, and no check built it anew: {}",
                some_of(&unbuilt)
            ));
        }
    }
}
