//! Tracked files that checks write to while goals are measured after the agent: they are put back, and the goals whose checks write
//! them are looked for.

use std::collections::{BTreeMap, HashMap};

use super::Attempt;
use crate::effects::workspace::{Start, TakenOut, Written, some_of};
use crate::error::Result;
use crate::model::goals::Where;
use crate::model::slot::is_input;
use crate::model::snapshot::Snapshot;
use crate::session::{Cut, Session};

/// How long all checks together may take, in seconds, for each to be run alone once more.
const ALONE_SECONDS: f64 = 60.0;

/// The goal whose check writes a file, by the file.
type Writers = BTreeMap<String, String>;

impl Attempt<'_> {
    /// Says which goal's check writes each of these tracked files: the first that does so when it is measured alone. That is tried only
    /// where all of them together were quick; a measurement that fails changes nothing of the verdict.
    pub(super) async fn writers(
        &mut self,
        session: &Session,
        after: &Snapshot,
        files: &[String],
        start: &Start,
        written: &mut Written,
    ) -> Result<Writers, Cut> {
        let goals = self.goals;
        let mut writers = Writers::new();
        let took: f64 = after.goals.iter().map(|goal| goal.duration_s).sum();
        if took > ALONE_SECONDS {
            return Ok(writers);
        }
        let durations = after.goals.iter();
        let expected = durations.map(|goal| (goal.id.clone(), goal.duration_s));
        let expected: HashMap<_, _> = expected.collect();
        for goal in &goals.goals {
            session.workspace().note_unwritten(written);
            let measured = session
                .measure(goals, &[goal], &expected, start.cycle, "alone")
                .await;
            let own = self.put_back_written(session, start, written);
            match measured {
                Ok(_) => {}
                Err(cut @ (Cut::Halt(_) | Cut::Over(_))) => return Err(cut),
                Err(Cut::Failed(error)) if error.is_halt() => return Err(error.into()),
                Err(Cut::Failed(_) | Cut::Unprepared(_)) => return Ok(writers),
            }
            for file in own?.into_iter().filter(|file| files.contains(file)) {
                writers.entry(file).or_insert_with(|| goal.id.clone());
            }
            if writers.len() == files.len() {
                break;
            }
        }
        Ok(writers)
    }

    /// Returns what is known to be written after the agent, to be added to: of each file it is told once.
    pub(super) fn take_written(&mut self, session: &Session, start: &Start) -> Written {
        let known = self.written.take();
        known.unwrap_or_else(|| session.workspace().unwritten(start))
    }

    /// Takes files that checks wrote out of the commit of what the agent left uncommitted, if only that brought them. What says what a
    /// build needs, as a lock file does, is meant to be in a commit, also where a tool normalises it: it stays.
    pub(super) fn take_out(
        &mut self,
        session: &Session,
        start: &Start,
        files: &[String],
    ) -> Result<Option<TakenOut>> {
        let may_be = self.measures_here(session) && !files.iter().any(|file| is_input(file));
        match self.stock.as_mut().filter(|_| may_be) {
            Some(stock) => session.workspace().take_out(start, stock, files),
            None => Ok(None),
        }
    }

    /// Leaves these files out if checks, measured without them, removed each or made it anew: then they are what checks write. What
    /// they only write over is the agent's work, without which nothing is judged: it is taken in again, and counts among the `files`
    /// that were written to. There are none of these where the measuring was cut short.
    pub(super) fn settle_taken_out(
        &mut self,
        session: &Session,
        start: &Start,
        taken_out: TakenOut,
        files: Option<&mut Vec<String>>,
        written: &Written,
    ) -> Result<()> {
        let Some(stock) = &mut self.stock else {
            return Ok(());
        };
        let workspace = session.workspace();
        let is_made = |file: &String| written.was_removed(file) || !workspace.is_gone(file);
        match files {
            Some(files) if !files.is_empty() || !taken_out.files.iter().all(is_made) => {
                files.extend(taken_out.files.iter().cloned());
                workspace.take_in_again(start, stock, taken_out)
            }
            Some(_) | None => {
                taken_out.leave_out(stock);
                Ok(())
            }
        }
    }

    /// Puts the user's untracked files back that an agent changed or removed in the user's own working tree, unless somebody moved HEAD
    /// or the branch meanwhile. The journal says so, too: after a crash nothing else would tell.
    pub(super) fn put_back_untracked(&mut self, session: &Session, start: &Start) -> Result<()> {
        let is_here = self.measures_here(session);
        let Some(stock) = self.stock.as_mut().filter(|_| is_here) else {
            return Ok(());
        };
        let workspace = session.workspace();
        if workspace.moved_since(start, stock)?.is_empty() {
            let notes = workspace.put_back_untracked(start, &stock.tip)?;
            session.note_in_journal(start.cycle, &notes)?;
            stock.notes.extend(notes);
        }
        Ok(())
    }

    /// Puts tracked files back that checks wrote to after the undo, in the user's own working tree.
    pub fn put_back_after_undo(&mut self, session: &Session, start: &Start) -> Result<()> {
        if !self.measures_here(session) {
            return Ok(());
        }
        let mut written = self.take_written(session, start);
        let put_back = session.workspace().put_back_written(start, &mut written);
        self.written = Some(written);
        put_back.map(drop)
    }

    /// Says whether goals are measured in the user's own working tree, and that is still a repository's.
    pub(super) fn measures_here(&self, session: &Session) -> bool {
        session.isolation.is_none()
            && self.goals.settings.measure == Where::Here
            && session.has_git_dir()
    }

    /// Puts tracked files back that checks wrote to in the user's own working tree; returns which. Where somebody moved HEAD or the
    /// branch meanwhile, they may be theirs.
    pub(super) fn put_back_written(
        &self,
        session: &Session,
        start: &Start,
        written: &mut Written,
    ) -> Result<Vec<String>> {
        let is_here = self.measures_here(session);
        let Some(stock) = self.stock.as_ref().filter(|_| is_here) else {
            return Ok(Vec::new());
        };
        let workspace = session.workspace();
        match workspace.moved_since(start, stock)?.is_empty() {
            true => workspace.put_back_written(start, written),
            false => Ok(Vec::new()),
        }
    }
}

/// Names files, each with the goal whose check writes it where that is known.
pub(super) fn named(files: &[String], writers: &Writers) -> String {
    let named = files.iter().map(|file| match writers.get(file) {
        Some(goal) => format!("{file} by the check of {goal}"),
        None => file.clone(),
    });
    some_of(&named.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_with_their_writers_where_these_are_known() {
        let files = ["f1", "f2", "f3"].map(str::to_owned);
        let of = |pairs: &[(&str, &str)]| {
            let pairs = pairs
                .iter()
                .map(|(file, goal)| (file.to_string(), goal.to_string()));
            named(&files, &pairs.collect())
        };
        assert_eq!(of(&[]), "f1, f2, f3");
        assert_eq!(of(&[("f2", "b")]), "f1, f2 by the check of b, f3");
        assert_eq!(
            of(&[("f1", "a"), ("f2", "a"), ("f3", "c")]),
            "f1 by the check of a, f2 by the check of a, f3 by the check of c"
        );
    }
}
