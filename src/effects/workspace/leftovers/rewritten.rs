//! Files that only the commit of an agent's leftovers brought, and that checks write anew: the logs and reports of its own run of them.
//! In that commit each measurement would be of what is in none; so they are taken out of it, and whoever makes them may make them again.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::message;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Difference;
use crate::effects::workspace::{Start, Stock, Workspace};
use crate::error::Result;
use crate::model::output;

/// What was taken out of the commit of leftovers.
#[derive(Debug)]
pub struct TakenOut {
    /// The files.
    pub files: Vec<String>,
    /// The commit with them.
    tip: String,
    quarantine: Quarantine,
}

impl TakenOut {
    /// Leaves them out; says so.
    pub fn leave_out(self, stock: &mut Stock) {
        stock.notes.push(output::taken_out(&self.files));
        stock.notes.extend(self.quarantine.notes());
        stock.left_out.extend(self.files);
    }
}

impl Workspace<'_> {
    /// Takes files out of the commit of leftovers, and out of the tree, if only that commit brought them: what the agent committed itself
    /// and what was there before is none of it. None otherwise, and where somebody moved the branch.
    pub fn take_out(
        &self,
        start: &Start,
        stock: &mut Stock,
        files: &[String],
    ) -> Result<Option<TakenOut>> {
        if files.is_empty() || !stock.has_leftovers || stock.change.rewritten.is_some() {
            return Ok(None);
        }
        let parents = self.repo.parents_of(&stock.tip)?;
        let [parent] = &parents[..] else {
            return Ok(None);
        };
        let (before, tree) = (self.repo.tree_of(parent)?, self.repo.tree_of(&stock.tip)?);
        let brought = self.repo.differences(&before, &tree)?;
        let is_new = |one: &&Difference| {
            let is_file = one.new.as_ref().is_some_and(|new| new.is_file());
            let name = String::from_utf8_lossy(&one.path);
            one.old.is_none()
                && is_file
                && files.contains(&name.into_owned())
                && matches!(self.repo.id_at(&start.tree, &one.path), Ok(None))
        };
        let new: Vec<_> = brought.iter().filter(is_new).collect();
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let mut has_room = |one: &Difference| {
            let place = self.repo.root.join(OsStr::from_bytes(&one.path));
            quarantine.has_room_for(&place)
        };
        if new.len() != files.len() || !new.iter().all(|one| has_room(one)) {
            return Ok(None);
        }
        let without: Vec<_> = new.iter().map(|one| (one.path.clone(), None)).collect();
        let left = self.repo.with_changes(&tree, &without)?;
        let tip = match left == before {
            true => parent.clone(),
            false => self.repo.store_commit(&left, parent, &message(start))?,
        };
        if !self.move_tip(start, stock, &tip)? {
            return Ok(None);
        }
        let entries = new.iter().map(|one| (one.path.as_slice(), None));
        self.set_entries(&self.repo.git, entries)?;
        for one in &new {
            quarantine.take(&self.repo.root, &one.path)?;
            self.remove_empty_folders(&one.path);
        }
        let earlier = std::mem::replace(&mut stock.tip, tip);
        stock.has_leftovers = left != before;
        stock.files.retain(|file| !files.contains(file));
        self.list_commits(start, stock)?;
        Ok(Some(TakenOut {
            files: files.to_vec(),
            tip: earlier,
            quarantine,
        }))
    }

    /// Takes them into the commit again, and puts them back: no check makes them, so that they are what the agent wrote.
    pub fn take_in_again(&self, start: &Start, stock: &mut Stock, out: TakenOut) -> Result<()> {
        let TakenOut {
            files,
            tip,
            mut quarantine,
        } = out;
        if self.move_tip(start, stock, &tip)? {
            for file in &files {
                let place = self.repo.root.join(OsStr::from_bytes(file.as_bytes()));
                if fs::symlink_metadata(place).is_ok() {
                    quarantine.take(&self.repo.root, file.as_bytes())?;
                }
            }
            let (left, tree) = (self.repo.tree_of(&stock.tip)?, self.repo.tree_of(&tip)?);
            self.write_files(&tip, &self.repo.differences(&left, &tree)?)?;
            stock.tip = tip;
            stock.has_leftovers = true;
            stock.files.extend(files);
            stock.files.sort();
            self.list_commits(start, stock)?;
        }
        stock.notes.extend(quarantine.notes());
        Ok(())
    }

    /// Moves the branch from the stock's commit to another one; says whether nobody else had moved it.
    fn move_tip(&self, start: &Start, stock: &mut Stock, tip: &str) -> Result<bool> {
        let (branch, mark) = (&start.branch, start.mark());
        let is_moved = self.repo.move_ref(branch, &stock.tip, tip, &mark)?;
        if let Some(position) = stock.position.as_mut().filter(|_| is_moved) {
            let tip = Some(tip.to_owned());
            position.head.commit.clone_from(&tip);
            position.branch = tip;
        }
        Ok(is_moved)
    }
}
