//! What checks run of that which copies are lent: an agent reaches it in the user's checkout. There it is put back before the goals are
//! measured, as what checks build is.

use super::Attempt;
use super::built::note_uncopied;
use crate::effects::isolation::Isolation;
use crate::effects::isolation::lent::is_lent;
use crate::effects::keep::{self, Kept, Restored};
use crate::effects::proc_table::WrittenTo;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Stock, Workspace, some_of};
use crate::error::Result;
use crate::model::emptied;
use crate::model::goals::Where;
use crate::model::output;
use crate::session::Session;

impl Attempt<'_> {
    /// Notes which of the files that checks run, and may have built, are lent, and what they are before the agent.
    pub(super) fn note_lent(&mut self, session: &Session, built: &[String]) {
        if session.isolation.is_none() && self.goals.settings.measure == Where::Here {
            return;
        }
        let links = &session.options.provisions.link;
        self.tops = session.tops(self.goals);
        self.links = session
            .isolation
            .as_ref()
            .map(Isolation::links)
            .unwrap_or_default();
        let lender = Workspace {
            repo: session.home(),
        };
        let lent = built.iter().filter(|file| is_lent(links, file.as_bytes()));
        let lent: Vec<String> = lent.cloned().collect();
        let version = |file: String| {
            let version = lender.version_of(&file);
            (file, version)
        };
        self.lent = lender.behind(&lent).into_iter().map(version).collect();
    }

    /// Names what the checkout lost of what copies are lent while the agent ran, and links again to what it, or a command that it ran,
    /// put something else in the place of: the goals are measured with what is lent.
    pub(super) fn lend_again(
        &mut self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        let lost = self.tops.look_again(&session.home().root);
        stock
            .notes
            .extend(emptied::lost_words(emptied::BY_AGENT, &lost));
        let isolation = session.isolation.as_ref();
        let Some(isolation) = isolation.filter(|it| it.refuse_gone().is_ok()) else {
            return Ok(());
        };
        let is_gone = |path: &&String| !isolation.slot.is_lent(&isolation.user, path);
        let mut replaced = Vec::new();
        let mut quarantine = Quarantine::of(&isolation.user.private, &start.session, start.cycle);
        for path in self.links.iter().filter(is_gone) {
            let is_theirs = !self.is_run_through(path)
                && !start
                    .kept
                    .protected_links()
                    .any(|link| link == path.as_bytes());
            let is_replaced = match is_theirs {
                true => {
                    isolation.lend_again(&session.repo, path, !lost.is_empty(), &mut quarantine)?
                }
                // It is put back, and judged, as what checks run is.
                false => session.repo.root.join(path).is_dir(),
            };
            if is_replaced {
                replaced.push(path.as_str());
            }
        }
        stock.notes.extend(emptied::replaced_words(&replaced));
        stock.notes.extend(quarantine.notes());
        Ok(())
    }

    /// Says whether checks run files by way of a link where the agent's own may have been put: no command installs into such a folder.
    fn is_run_through(&self, link: &str) -> bool {
        self.built.iter().any(|(file, _)| file == link) && !output::is_of_tools(&format!("{link}/"))
    }

    /// Says what the checkout lost of what copies are lent while the goals were measured.
    pub(super) fn note_lost(&mut self, session: &Session) {
        let lost = self.tops.look_again(&session.home().root);
        if let Some(stock) = &mut self.stock {
            stock
                .notes
                .extend(emptied::lost_words(emptied::BY_CHECKS, &lost));
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
        let repo = session.home();
        let (lender, kept) = (Workspace { repo }, copies(session, start));
        let (root, folders) = (&*repo.root, keep::folders(&repo.own_places()));
        let mut quarantine = Quarantine::of(&repo.private, &start.session, start.cycle);
        let mut uncopied = Vec::new();
        let written_to = WrittenTo::default();
        for (file, before) in &self.lent {
            if lender.version_of(file) == *before {
                continue;
            }
            let from = (&folders[..], &written_to);
            match kept.put_back_built(root, file.as_bytes(), from, &mut quarantine)? {
                Restored::LedAway | Restored::Lost | Restored::InUse => {
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
        let back: Vec<String> = self
            .lent_back
            .iter()
            .map(|(file, _)| file.clone())
            .collect();
        stock.notes.extend(keep::put_back_words(&back));
        stock.notes.extend(quarantine.notes());
        note_uncopied(stock, &uncopied);
        Ok(())
    }

    /// Names what checks run and was written while the goals were measured, though no check wrote it before an agent ran: text that no
    /// tool's folder has. Whether a check builds it of what changed, or runs what forges it, cannot be told.
    pub(super) fn note_written(&self, session: &Session, start: &Start, stock: &mut Stock) {
        let here = session.workspace();
        let (built, lent) = (self.built.iter(), self.lent.iter());
        let built = built.filter(|_| self.goals.settings.measure == Where::Here);
        let all = built.map(|one| (&here, &start.kept, one));
        let lender = Workspace {
            repo: session.home(),
        };
        let kept = copies(session, start);
        let all = all.chain(lent.map(|one| (&lender, kept, one)));
        let is_written = |(workspace, kept, (file, before)): &(
            &Workspace<'_>,
            &Kept,
            &(String, Option<String>),
        )| {
            before.is_some()
                && workspace.version_of(file) != *before
                && !workspace.is_gone(file)
                && workspace.is_text(file)
                && !output::is_of_tools(file)
                && !kept.is_of_checks(file.as_bytes())
        };
        let written = all.filter(is_written);
        let written: Vec<String> = written.map(|(_, _, (file, _))| file.clone()).collect();
        if !written.is_empty() {
            stock.notes.push(format!(
                "run by checks, and written while the goals were measured (`protect` it where no check builds it): {}",
                some_of(&written)
            ));
        }
    }

    /// Refuses those of them that no check built anew since: what the agent made of them was not measured.
    pub(super) fn refuse_lent(&self, session: &Session, stock: &mut Stock) {
        let root = &session.home().root;
        let is_left = |(file, version): &&(String, _)| keep::version_at(root, file) == *version;
        let left = self.lent_back.iter().filter(is_left);
        let words = left.map(|(file, _)| format!("{file} changed, and no check builds it"));
        stock.change.goalposts.extend(words);
    }
}

/// Returns the copies of what is lent.
fn copies<'s>(session: &Session, start: &'s Start) -> &'s Kept {
    match session.isolation {
        Some(_) => &start.lent,
        None => &start.kept,
    }
}
