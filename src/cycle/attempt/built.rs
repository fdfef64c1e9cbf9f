//! What checks build and then run: ignored by git, or no text. It follows from the sources, which an agent may change, so that it is
//! not frozen; but an agent's own version of it is not measured.

use super::Attempt;
use crate::effects::files;
use crate::effects::keep::Restored;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Stock, some_of};
use crate::error::Result;
use crate::model::goals::{Goal, Goals, Where};
use crate::session::Session;

impl Attempt<'_> {
    /// Puts built files that the agent changed back before the goals are measured: what checks build then follows from the sources.
    /// One behind a link that leads elsewhere now, or whose copies were changed, too, moves the goalposts; one without a copy is named.
    pub(super) fn put_back_built(
        &mut self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        if self.goals.settings.measure == Where::Clean {
            return Ok(());
        }
        self.built
            .extend(stock.unbuilt.iter().map(|file| (file.clone(), None)));
        self.put_back.extend_from_slice(&stock.unbuilt);
        let workspace = session.workspace();
        let mut quarantine = Quarantine::of(&session.repo.private, &start.session, start.cycle);
        let is_changed =
            |(file, before): &&(String, Option<String>)| workspace.version_of(file) != *before;
        let changed: Vec<_> = self.built.iter().filter(is_changed).collect();
        let mut uncopied = Vec::new();
        for (file, _) in changed {
            let is_there = files::is_there(&session.repo.root.join(file)).unwrap_or(true);
            match workspace.put_back_built(start, file, &mut quarantine)? {
                Restored::LedAway | Restored::Lost | Restored::InUse => {
                    stock.change.goalposts.push(format!("{file} changed"));
                }
                // One that was only removed forges nothing.
                Restored::Back if is_there => self.put_back.push(file.clone()),
                Restored::Back | Restored::Grows => {}
                Restored::Left => uncopied.push(file.clone()),
            }
        }
        stock.notes.extend(quarantine.notes());
        note_uncopied(stock, &uncopied);
        Ok(())
    }

    /// Refuses the built files that were put back and that no check built anew: what the agent made of them was not measured, and
    /// what was measured may not follow from the sources.
    pub(super) fn refuse_unbuilt(&self, session: &Session, stock: &mut Stock) {
        let (_, mut unbuilt) = self.told_apart(session);
        // What was not there before cannot be believed.
        let was_there = |file: &String| {
            let mut built = self.built.iter();
            built.any(|(built, before)| built == file && before.is_some())
        };
        unbuilt.retain(was_there);
        let words = |file: &String| format!("{file} changed, and no check builds it");
        stock.change.goalposts.extend(unbuilt.iter().map(words));
    }

    /// Tells the built files that were put back apart: those that checks built anew since, and those that are what they were before
    /// the agent.
    fn told_apart(&self, session: &Session) -> (Vec<String>, Vec<String>) {
        let workspace = session.workspace();
        let is_anew = |file: &String| {
            let mut built = self.built.iter();
            !built.any(|(built, before)| built == file && workspace.version_of(file) == *before)
        };
        self.put_back.iter().cloned().partition(is_anew)
    }

    /// Returns the goals whose checks run a file that was put back and built anew while the goals were measured: beside the check
    /// that built it another one may have run what was put back.
    pub(super) fn in_doubt(&self, session: &Session) -> Vec<&'_ Goal> {
        let (mut anew, _) = self.told_apart(session);
        anew.extend(self.written_loose(session));
        let runs_one = |goal: &&Goal| {
            let alone = Goals {
                goals: vec![(*goal).clone()],
                ..self.goals.clone()
            };
            let workspace = session.workspace();
            let is_file = |path: &str| workspace.has_file_on_disk(path.as_bytes());
            let yardstick = workspace.yardstick(&alone, &is_file);
            let runs = workspace.behind(&yardstick.frozen);
            runs.iter().any(|file| anew.contains(file))
        };
        match anew.is_empty() {
            true => Vec::new(),
            false => self.goals.goals.iter().filter(runs_one).collect(),
        }
    }
}

/// Names what checks run, the agent changed, and there is no copy of.
pub(super) fn note_uncopied(stock: &mut Stock, files: &[String]) {
    if !files.is_empty() {
        stock.notes.push(format!(
            "changed, and run by checks; too large for a copy (more than 10 MiB), so it was not put back: {}",
            some_of(files)
        ));
    }
}
