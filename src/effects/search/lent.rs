//! What the commands of a search run of that which its copies are lent: all attempts share it, and an agent reaches it in the user's
//! checkout. There it is put back before each command.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::effects::files::{self, Stamp};
use crate::effects::isolation::lent::is_lent;
use crate::effects::keep::{self, Kept, Restored};
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::workspace::Workspace;
use crate::error::{Error, Result};
use crate::model::search::lineage::Request;

/// These files as they were when the session began, and which agents are at work.
#[derive(Debug)]
pub struct Lent {
    root: PathBuf,
    /// One for the whole session: of what becomes of a file again and again, one version is kept.
    quarantine: RefCell<Quarantine>,
    /// Where the copies are.
    folder: PathBuf,
    kept: Kept,
    files: RefCell<Vec<String>>,
    /// The untouched code is measured.
    is_baseline: Cell<bool>,
    /// How many agents are at work, and how many have ended.
    agents: Cell<(usize, usize)>,
    /// What was told.
    told: RefCell<BTreeSet<String>>,
}

/// How the files stood at a moment, and which agents were at work.
#[derive(Debug, PartialEq, Eq)]
pub struct Stood {
    stamps: Vec<Option<Stamp>>,
    agents: (usize, usize),
}

/// An agent that is at work as long as this is held.
#[derive(Debug)]
pub struct AtWork<'l>(&'l Lent);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let (at_work, ended) = self.0.agents.get();
        self.0.agents.set((at_work - 1, ended + 1));
    }
}

impl Lent {
    /// Copies them to a folder, before an agent of the session runs. Copies that a session left there which died are moved to the
    /// quarantine: what it had yet to put back has no other.
    pub fn of(user: &Repo, folder: PathBuf, session: &str, request: &Request) -> Result<Lent> {
        let mut quarantine = Quarantine::of(&user.private, session, 0);
        if folder.exists() {
            let name = Path::new("lent");
            quarantine.take_from(folder.parent().unwrap_or(&folder), name, name)?;
        }
        let workspace = Workspace { repo: user };
        let tree = user.tree_of(&request.base)?;
        let is_file = |path: &str| {
            user.may_have_file(&tree, path) || workspace.has_file_on_disk(path.as_bytes())
        };
        let mut files = Vec::new();
        if !request.link.is_empty() {
            for goals in [request.measured_by(), request.held_out_by()] {
                let mut yardstick = workspace.yardstick(&goals, &is_file);
                files.extend(yardstick.let_go(&|file| workspace.may_be_built(&tree, file)));
            }
        }
        files.retain(|file| is_lent(&request.link, file.as_bytes()));
        let mut files = workspace.behind(&files);
        files.retain(|file| keep::is_small(&user.root, file));
        let paths = files.iter().map(|file| file.clone().into_bytes()).collect();
        let mut kept = Kept::default();
        if !files.is_empty() {
            kept = Kept::make(&user.root, &folder, (paths, Vec::new()), None)?;
        }
        kept.note_built(&files);
        kept.note_lent();
        Ok(Lent {
            root: user.root.clone(),
            quarantine: RefCell::new(quarantine),
            folder,
            kept,
            files: RefCell::new(files),
            is_baseline: Cell::default(),
            agents: Cell::default(),
            told: RefCell::default(),
        })
    }

    /// Notes that an agent is at work.
    pub fn at_work(&self) -> AtWork<'_> {
        let (at_work, ended) = self.agents.get();
        self.agents.set((at_work + 1, ended));
        AtWork(self)
    }

    /// Returns how the files stand now.
    pub fn stood(&self) -> Stood {
        let files = self.files.borrow();
        let stamp = |file: &String| Stamp::at(&self.root.join(file));
        Stood {
            stamps: files.iter().map(stamp).collect(),
            agents: self.agents.get(),
        }
    }

    /// Returns the files to which something was done since while an agent was at work: it may have been the agent. What a command
    /// builds itself, with no agent there, is its own.
    pub fn doubtful(&self, before: &Stood) -> Vec<String> {
        let now = self.stood();
        if before.agents.0 == 0 && before.agents == now.agents {
            return Vec::new();
        }
        self.changed(before, &now)
    }

    fn changed(&self, before: &Stood, now: &Stood) -> Vec<String> {
        let files = self.files.borrow();
        let both = before.stamps.iter().zip(&now.stamps).zip(&*files);
        let changed = both.filter(|((before, now), _)| before != now);
        changed.map(|(_, file)| file.clone()).collect()
    }

    /// Notes that the untouched code is measured: what commands write by then, they build.
    pub fn begin_baseline(&self) -> Stood {
        self.is_baseline.set(true);
        self.stood()
    }

    /// Lets go of what the commands wrote since.
    pub fn end_baseline(&self, before: &Stood) {
        self.is_baseline.set(false);
        let built = self.changed(before, &self.stood());
        self.files.borrow_mut().retain(|file| !built.contains(file));
    }

    /// Puts back what changed; returns what is to be told of it.
    pub fn put_back(&self) -> Result<Vec<String>> {
        let mut words = Vec::new();
        if self.is_baseline.get() {
            return Ok(words);
        }
        let mut quarantine = self.quarantine.borrow_mut();
        let folders = [self.folder.clone()];
        for file in self.files.borrow().iter() {
            let path = file.as_bytes();
            let kept = &self.kept;
            match kept.put_back_built(&self.root, path, &folders, &mut quarantine)? {
                Restored::Back => words.push(format!(
                    "{file}, which the commands run and copies are lent, was changed by an agent or a command: it is put back, before each command from now on, too"
                )),
                Restored::LedAway | Restored::Lost => {
                    return Err(Error::unsafe_repo(format!(
                        "{file}, which the commands run and copies are lent, was changed, and so was its copy or the way to it"
                    ))
                    .hint("put it back as it was, and run `evolve search resume`"));
                }
                Restored::Left | Restored::Grows | Restored::InUse => {}
            }
        }
        words.extend(quarantine.notes());
        words.retain(|words| self.told.borrow_mut().insert(words.clone()));
        Ok(words)
    }

    /// Removes the copies.
    pub fn drop_copies(&self) -> Result<()> {
        files::remove_all(&self.folder).map_err(|cause| Error::io("remove", &self.folder, cause))
    }
}
