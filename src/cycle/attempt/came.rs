//! Untracked files that came while goals were measured after an agent: no commit holds them, so that a clone lacks what the goals may
//! have been met with.

use super::Attempt;
use crate::effects::keep::to_hex;
use crate::effects::workspace::Start;
use crate::error::Result;
use crate::model::gate::Fate;
use crate::model::goals::Where;
use crate::model::output::{self, Came};
use crate::model::text;
use crate::session::{Progress, Session};

impl Attempt<'_> {
    /// Notes which came. Where somebody moved HEAD or the branch meanwhile, or goals are measured in a copy of the commit, none is told.
    pub(super) fn note_came(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<()> {
        let is_clean = self.goals.settings.measure == Where::Clean;
        let Some(stock) = &mut self.stock else {
            return Ok(());
        };
        let workspace = session.workspace();
        if is_clean || !session.has_git_dir() || !workspace.moved_since(start, stock)?.is_empty() {
            return Ok(());
        }
        if session.isolation.is_some() {
            // In the user's own tree that was done with what checks wrote.
            stock.notes.extend(workspace.clear_pipes(start)?);
        }
        let came = workspace.came_since_stock(start, stock)?;
        progress.came.extend(came.iter().map(|path| to_hex(path)));
        self.came = came.iter().map(text::path).collect();
        Ok(())
    }

    /// Says which came, for the record.
    pub(super) fn came_words(&self, session: &Session, fate: Fate) -> Option<String> {
        let place = match (fate, session.isolation.is_some()) {
            (Fate::Keep, false) => Came::WithKept,
            (Fate::Undo, false) => Came::WithUndone,
            (Fate::Keep, true) => Came::InCopy,
            (Fate::Undo, true) | (Fate::Leave, _) => return None,
        };
        (!self.came.is_empty()).then(|| output::came(&self.came, place))
    }
}
