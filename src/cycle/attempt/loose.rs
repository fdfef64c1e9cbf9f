//! What git ignores and `protect` matches by a wildcard alone, as in `tests/**`: tests build and write such files, so that what checks
//! write anew is theirs. What an agent made of them is not measured, and where no check writes it, it moves the goalposts, unless it is
//! what tools leave by the way.

use super::Attempt;
use crate::effects::keep::{self, Restored};
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Stock, some_of};
use crate::error::Result;
use crate::model::goals::Where;
use crate::model::output;
use crate::session::Session;

impl Attempt<'_> {
    /// Puts such files that the agent changed back before the goals are measured, with the time they had; those that it made are in the
    /// quarantine. In a clean copy there is none of them, so that they are only named.
    pub(super) fn put_back_loose(
        &mut self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        let workspace = session.workspace();
        let root = &session.repo.root;
        let mut quarantine = Quarantine::of(&session.repo.private, &start.session, start.cycle);
        let mut grown = Vec::new();
        let new = stock.loose.iter();
        self.loose = new.map(|file| (file.clone(), None)).collect();
        for file in start.kept.changed_loose(root) {
            match workspace.put_back_built(start, &file, &mut quarantine)? {
                Restored::LedAway | Restored::Lost => {
                    stock.change.goalposts.push(format!("{file} changed"));
                }
                Restored::Back => {
                    stock.after_agent.look_again(root, file.as_bytes());
                    let version = keep::version_at(root, &file);
                    self.loose.push((file, version));
                }
                Restored::Grows => grown.push(file),
                Restored::InUse => {
                    let words = format!("{file} changed, and a running program has it open");
                    stock.change.goalposts.push(words);
                }
                Restored::Left => {}
            }
        }
        stock.notes.extend(keep::grown_words(&grown));
        stock.notes.extend(quarantine.notes());
        if self.goals.settings.measure == Where::Clean && !self.loose.is_empty() {
            let files = std::mem::take(&mut self.loose).into_iter();
            let files: Vec<_> = files.map(|(file, _)| file).collect();
            stock.notes.push(format!(
                "protected, ignored by git, and as before again, though the copy that is measured has none of it: {}",
                some_of(&files)
            ));
        }
        Ok(())
    }

    /// Refuses what of these files no check wrote anew since: it was the agent's doing.
    pub(super) fn refuse_loose(&self, session: &Session, stock: &mut Stock) {
        if self.after.is_err() {
            return;
        }
        let loose = self.loose.iter();
        let loose = loose.filter(|(file, _)| !output::is_left_by_the_way(file));
        let left = loose.filter(|one| !is_written(session, one));
        let words = left.map(|(file, version)| {
            let what = match version {
                Some(_) => "changed",
                None => "is new",
            };
            format!("{file} {what}, and no check writes it")
        });
        stock.change.goalposts.extend(words);
    }

    /// Returns those of these files that checks wrote anew since.
    pub(super) fn written_loose(&self, session: &Session) -> impl Iterator<Item = String> {
        let written = self.loose.iter().filter(|one| is_written(session, one));
        written.map(|(file, _)| file.clone())
    }
}

/// Says whether a file was written, or removed, since it had this version.
fn is_written(session: &Session, (file, version): &(String, Option<keep::Version>)) -> bool {
    keep::version_at(&session.repo.root, file) != *version
}
