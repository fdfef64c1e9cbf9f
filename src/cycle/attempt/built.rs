//! What checks build and then run: ignored by git, or no text. It follows from the sources, which an agent may change, so that it is
//! not frozen; but an agent's own version of it is not measured.

use super::{Attempt, SCRIPT_LIMIT};
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Stock, some_of};
use crate::error::Result;
use crate::model::goals::{Goal, Goals, Where};
use crate::model::yardstick::{Tree, Yardstick};
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
        let (_, unbuilt) = self.told_apart(session);
        if !unbuilt.is_empty() {
            stock.notes.push(format!(
                "put back before the goals were measured, because checks run it, git does not track it, and no check built it anew: {}",
                some_of(&unbuilt)
            ));
        }
        stock.change.unbuilt = unbuilt;
    }

    /// Tells the built files that were put back apart: those that checks built anew since, and those that are what they were before
    /// the agent.
    fn told_apart(&self, session: &Session) -> (Vec<String>, Vec<String>) {
        let workspace = session.workspace();
        let is_anew = |file: &String| {
            let mut built = self.built.iter();
            !built.any(|(built, before)| built == file && workspace.fingerprint(file) == *before)
        };
        self.rebuilt.iter().cloned().partition(is_anew)
    }

    /// Returns the goals whose checks run a file that was put back and built anew while the goals were measured: beside the check
    /// that built it another one may have run what was put back.
    pub(super) fn in_doubt(&self, session: &Session) -> Vec<&'_ Goal> {
        let (anew, _) = self.told_apart(session);
        let runs_one = |goal: &&Goal| {
            let alone = Goals {
                goals: vec![(*goal).clone()],
                ..self.goals.clone()
            };
            let yardstick = yardstick_of(session, &alone, |path| {
                session.workspace().has_file_on_disk(path.as_bytes())
            });
            let runs = session.workspace().with_targets(yardstick.frozen);
            runs.iter().any(|file| anew.contains(file))
        };
        match anew.is_empty() {
            true => Vec::new(),
            false => self.goals.goals.iter().filter(runs_one).collect(),
        }
    }
}

/// Returns what may not move of a repository, with the scripts that are there.
pub(super) fn yardstick_of(
    session: &Session,
    goals: &Goals,
    is_file: impl Fn(&str) -> bool,
) -> Yardstick {
    let read = |path: &str| files::read_text(&session.repo.root.join(path), SCRIPT_LIMIT).ok();
    Yardstick::of(goals, &is_file).with_scripts(&Tree {
        is_file: &is_file,
        files_in: &|folder| files::names_in(&session.repo.root, folder),
        read: &read,
    })
}
