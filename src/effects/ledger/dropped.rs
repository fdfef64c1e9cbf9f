//! Lessons that a person drops. `lessons.jsonl` only ever grows, and only what git has of it counts; so a person's word is noted aside
//! until a session has committed it as one more line.

use super::lines::beginning;
use super::{Ledger, asked, line, refuse_links};
use crate::effects::repo::Repo;
use crate::effects::{files, lock};
use crate::error::Result;
use crate::model::lesson::{self, Lesson};

/// The file below the folder of what was asked for.
const NAME: &str = "dropped-lessons.jsonl";
/// The most bytes of it that are read.
const MOST: u64 = 1 << 20;

/// Drops a lesson, given as the line that says so.
pub fn drop_lesson(repo: &Repo, dropped: &Lesson) -> Result<()> {
    refuse_links(&repo.root)?;
    let line = line("lesson", dropped)?;
    let _turn = lock::turn(&repo.private)?;
    asked::note(&repo.private, NAME, &line)
}

impl Ledger {
    /// Returns what is noted and not known yet, and whether anything is noted at all.
    fn newly_dropped(&self) -> Result<(Vec<Lesson>, bool)> {
        let noted = lesson::parse(&beginning(&asked::place(&self.private, NAME), MOST)?);
        let is_there = !noted.is_empty();
        let is_known = |one: &Lesson| {
            let mut known = self.lessons.iter();
            known.any(|other| other.dropped && other.id() == one.id())
        };
        let new = noted
            .into_iter()
            .filter(|one| one.dropped && !is_known(one));
        Ok((new.collect(), is_there))
    }

    /// Sees what people dropped, and writes nothing.
    pub(super) fn see_dropped(&mut self) -> Result<()> {
        let (new, _) = self.newly_dropped()?;
        self.lessons.extend(new);
        Ok(())
    }

    /// Forgets what people dropped where git has it, which this ledger was just read from, and takes in the rest.
    pub(super) fn settle_dropped(&mut self) -> Result<()> {
        let (new, is_there) = self.newly_dropped()?;
        if is_there && new.is_empty() {
            return files::remove(&asked::place(&self.private, NAME));
        }
        self.learn(new)
    }

    /// Takes in what people dropped meanwhile.
    pub fn refresh_lessons(&mut self) -> Result<()> {
        let (new, _) = self.newly_dropped()?;
        self.learn(new)
    }
}
