//! What checks find by its name where no commit need tell of a change: programs, in node_modules too.

use std::collections::BTreeMap;

use crate::effects::{exchanged, program};
use crate::error::Result;
use crate::model::goals::{Goals, Where};
use crate::model::yardstick::{self, Yardstick};
use crate::session::Session;

/// What of it there was before the agent.
#[derive(Debug, Default)]
pub struct Aside {
    /// Where the programs are that checks call.
    programs: BTreeMap<String, String>,
    /// What tells those of them that lie in the repository from other versions.
    versions: BTreeMap<String, Option<String>>,
}

impl Aside {
    /// Looks for it.
    pub fn of(session: &Session, goals: &Goals, yardstick: &Yardstick) -> Aside {
        let programs = programs(session, goals, yardstick);
        let versions = program::versions(&programs, &session.repo.root);
        Aside { programs, versions }
    }

    /// Returns the programs that something was put in front of, in words. No undo reaches what git does not track, and the next
    /// session would believe it: they are remembered.
    pub fn put_in_front(
        &self,
        session: &Session,
        goals: &Goals,
        yardstick: &Yardstick,
    ) -> Result<Vec<String>> {
        let now = programs(session, goals, yardstick);
        let moved = yardstick::put_in_front(&self.programs, &now);
        exchanged::List::of(&session.home().own_places()).add(&moved)?;
        Ok(moved.iter().map(ToString::to_string).collect())
    }

    /// Returns the programs in the repository that are not what they were.
    pub fn changed(&self, session: &Session) -> Vec<String> {
        let now = program::versions(&self.programs, &session.repo.root);
        let is_other = |path: &&String| now.get(*path) != self.versions.get(*path);
        self.versions.keys().filter(is_other).cloned().collect()
    }
}

/// Returns where the programs are that checks call. What git ignores of node_modules is in no copy in which they are measured.
pub fn programs(
    session: &Session,
    goals: &Goals,
    yardstick: &Yardstick,
) -> BTreeMap<String, String> {
    let is_clean = goals.settings.measure == Where::Clean;
    let is_measured = |path: &str| !is_clean || !session.repo.is_ignored(path);
    program::called_by_checks(
        goals,
        (&yardstick.packaged, &is_measured),
        &session.repo.root,
    )
}
