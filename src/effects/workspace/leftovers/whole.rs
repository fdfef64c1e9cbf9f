//! HEAD, the branch and the index after an agent: where one of them is or leads to what git cannot read, because the agent
//! damaged or removed what it had committed, or wrote something else there, the branch is put back on the commit that it
//! started from, and the index is made anew. What stands in the tree is the agent's work then. Refs that take the names of the
//! branch or of the work's own refs away go elsewhere.

use std::fs;

use crate::effects::files;
use crate::effects::git::may_refuse;
use crate::effects::guard::way::{displace, excludes};
use crate::effects::mirror::Mirror;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Standing;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::exact;
use crate::model::exact::short_branch;

/// Reads all of the index, and lists nothing of it.
const READ_INDEX: [&str; 4] = ["ls-files", "-z", "--", ".git"];

impl Workspace<'_> {
    /// Puts back what is broken; says what that was, and what else was done for it. To be done before git is called. A slot that
    /// is broken is made anew instead.
    pub fn mend_place(&self, start: &Start) -> Result<Vec<String>> {
        if self.repo.is_slot {
            return Ok(Vec::new());
        }
        let is_broken = |name: &str| -> Result<bool> {
            Ok(self.repo.standing(name, &start.commit)? == Standing::Broken)
        };
        // No cycle begins on a branch that only stands for another one, and none could be recorded there.
        let alias = self.repo.stands_for(&start.branch);
        let head = is_broken("HEAD")?;
        let branch = alias.is_some() || is_broken(&start.branch)?;
        if !head && !branch {
            return Ok(Vec::new());
        }
        let locks = self.clear_locks(start)?;
        let own = short_branch(&start.branch);
        let mut said = "HEAD was left where git cannot read".to_owned();
        if branch {
            let to = self.newest_whole(start)?;
            match alias {
                Some(_) => self.repo.remove_ref(&start.branch)?,
                None => self.repo.remove_broken_ref(&start.branch)?,
            }
            self.repo.set_ref(&start.branch, &to, &start.mark())?;
            let left = match alias.as_deref().map(short_branch) {
                Some(other) => format!("made only another name of {}", exact::shown(other)),
                None => "left where git cannot read".to_owned(),
            };
            said = format!("{own} was {left}, and put back on {to}");
        }
        if head && self.repo.standing("HEAD", &start.commit)? == Standing::Broken {
            let text = format!("ref: {}\n", start.branch);
            files::replace(&self.repo.git_dir().join("HEAD"), text.as_bytes())?;
        }
        for name in ["HEAD", &start.branch] {
            self.repo
                .drop_broken_movements(name, &[&start.mark()], &start.commit)?;
        }
        Ok([said].into_iter().chain(locks).collect())
    }

    /// Returns where the branch goes back to: to the start, or to the newest commit on it that is not certain to be the agent's.
    fn newest_whole(&self, start: &Start) -> Result<String> {
        if self.movements_by_others(start)?.words.is_empty() {
            return Ok(start.commit.clone());
        }
        for movement in self.repo.movements(&start.branch) {
            if movement.new == start.commit {
                break;
            }
            let is_whole = self.repo.is_whole(&movement.new, &start.commit)?;
            if is_whole && self.repo.descends(&movement.new, &start.commit)? {
                return Ok(movement.new);
            }
        }
        Ok(start.commit.clone())
    }

    /// Moves refs away that stand in the way of the branch or of the refs that keep the work: a ref `main/x` leaves no place for
    /// `main`, nor the reverse. They are kept under the names of others; says which. To be done before any ref is written.
    pub fn clear_names(&self, start: &Start) -> Result<Vec<String>> {
        if self.repo.is_slot {
            return Ok(Vec::new());
        }
        let whose = start.whose();
        let work = &whose.work_ref;
        let names = [
            start.branch.clone(),
            work.clone(),
            format!("{work}-branch"),
            format!("{work}-others/1"),
            whose.kept_as("refs/heads/any"),
        ];
        let is_taken = |other: &String| names.iter().any(|name| excludes(name, other));
        let mut taken = self.repo.all_refs()?;
        taken.retain(|name, _| is_taken(name));
        let mut notes = match taken.is_empty() {
            true => Vec::new(),
            false => self.clear_locks(start)?,
        };
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        notes.extend(displace(
            self.repo,
            &whose,
            &names,
            &taken,
            &mut quarantine,
        )?);
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// Makes the index anew if git cannot read it: the start's, brought to what HEAD has. Returns what was done. To be done before
    /// git is asked for anything that is in it.
    pub fn mend_index(&self, start: &Start) -> Result<Vec<String>> {
        match may_refuse(self.repo.git.run(&READ_INDEX))? {
            Some(_) => Ok(Vec::new()),
            None => self.make_index_anew(start),
        }
    }

    fn make_index_anew(&self, start: &Start) -> Result<Vec<String>> {
        let mut notes = vec!["the index was left where git cannot read it".to_owned()];
        notes.extend(self.clear_locks(start)?);
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let index = self.repo.git_dir().join("index");
        let mut clear = || match fs::symlink_metadata(&index) {
            Ok(_) => {
                quarantine.take_from(self.repo.git_dir(), "index".as_ref(), ".git/index".as_ref())
            }
            Err(_) => Ok(()),
        };
        clear()?;
        if !self.repo.is_slot
            && let Ok(mirror) = Mirror::of(&self.repo.own_places())
        {
            // With it the user's marks and what is left out of the tree are as they were.
            mirror.lend_again(std::slice::from_ref(&index))?;
        }
        if self.repo.git.run(&READ_INDEX).is_err() {
            clear()?;
        }
        self.bring_index_to_head(start)?;
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// Makes the index what HEAD has, where that has a commit; files stay as they are.
    pub fn bring_index_to_head(&self, start: &Start) -> Result<()> {
        let head = self.repo.head().ok().and_then(|head| head.commit);
        let commit = head.as_ref().unwrap_or(&start.commit);
        let reset = ["read-tree", "--reset", commit];
        self.repo.git.run(&reset).map(|_| ())
    }
}
