//! What checks run of that which copies are lent: an agent reaches it in the user's checkout. There it is put back before the goals are
//! measured, as what checks build is.

use super::Attempt;
use super::built::note_uncopied;
use crate::effects::files::is_within;
use crate::effects::keep::{self, Kept, Restored};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::workspace::{Start, Stock, Workspace};
use crate::error::Result;
use crate::model::goals::Where;
use crate::session::Session;

impl Attempt<'_> {
    /// Notes which of the files that checks run, and may have built, are lent, and what they are before the agent.
    pub(super) fn note_lent(&mut self, session: &Session, built: &[String]) {
        let links = &session.options.provisions.link;
        let is_lent = |file: &&String| {
            let mut links = links.iter();
            links.any(|link| is_within(file.as_bytes(), link.as_bytes()))
        };
        let is_clean = self.goals.settings.measure == Where::Clean;
        let repo = match &session.isolation {
            Some(isolation) => &isolation.user,
            None if is_clean => &session.repo,
            None => return,
        };
        let lender = Workspace { repo };
        let lent: Vec<String> = built.iter().filter(is_lent).cloned().collect();
        let version = |file: String| {
            let version = lender.version_of(&file);
            (file, version)
        };
        self.lent = lender.behind(&lent).into_iter().map(version).collect();
    }

    /// Returns whose files are lent, and the copies of them.
    fn lender<'s>(&self, session: &'s Session, start: &'s Start) -> (&'s Repo, &'s Kept) {
        match &session.isolation {
            Some(isolation) => (&isolation.user, &start.lent),
            None => (&session.repo, &start.kept),
        }
    }

    /// Puts those that the agent changed back before the goals are measured. One whose copies were changed, too, moves the goalposts; one
    /// without a copy is named.
    pub(super) fn put_back_lent(
        &mut self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        let (repo, kept) = self.lender(session, start);
        let lender = Workspace { repo };
        let (root, folders) = (&*repo.root, keep::folders(&repo.own_places()));
        let mut quarantine = Quarantine::of(&repo.private, &start.session, start.cycle);
        let mut uncopied = Vec::new();
        for (file, before) in &self.lent {
            if lender.version_of(file) == *before {
                continue;
            }
            match kept.put_back_built(root, file.as_bytes(), &folders, &mut quarantine)? {
                Restored::LedAway | Restored::Lost => {
                    stock.change.goalposts.push(format!("{file} changed"));
                }
                Restored::Back => {
                    let version = keep::version_at(root, file);
                    self.lent_back.push((file.clone(), version));
                }
                Restored::Grows => {}
                Restored::Left => uncopied.push(file.clone()),
            }
        }
        stock.notes.extend(quarantine.notes());
        note_uncopied(stock, &uncopied);
        Ok(())
    }

    /// Refuses those of them that no check built anew since: what the agent made of them was not measured.
    pub(super) fn refuse_lent(&self, session: &Session, start: &Start, stock: &mut Stock) {
        let (repo, _) = self.lender(session, start);
        let is_left =
            |(file, version): &&(String, _)| keep::version_at(&repo.root, file) == *version;
        let left = self.lent_back.iter().filter(is_left);
        let words = left.map(|(file, _)| format!("{file} changed, and no check builds it"));
        stock.change.goalposts.extend(words);
    }
}
