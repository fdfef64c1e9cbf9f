//! What the commands of a search run of that which its copies are lent: all attempts share it, and an agent reaches it in the user's
//! checkout. What an agent makes of it there is put back; what commands build there is theirs.

mod ahead;
mod beside;
mod copies;
mod left;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::effects::files::Stamp;
use crate::effects::isolation::lent::is_lent;
use crate::effects::program;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::effects::workspace::Workspace;
use crate::error::Result;
use crate::model::search::lineage::Request;

use ahead::Ahead;
use copies::Copies;
use left::List;
pub use left::{is_left, left_by_agents, put_back_left};

/// The folder of the copies below that of a search, with one for each session.
const FOLDER: &str = "lent";

/// These files as they were before the agents that are at work.
#[derive(Debug)]
pub struct Lent {
    root: PathBuf,
    /// One for the whole session: of what becomes of a file again and again, one version is kept.
    quarantine: RefCell<Quarantine>,
    /// Where the copies are.
    folder: PathBuf,
    copies: RefCell<Copies>,
    /// What would be taken in their place.
    ahead: RefCell<Ahead>,
    /// How many agents are at work, and how many have ended.
    agents: Cell<(usize, usize)>,
    /// What was told.
    told: RefCell<BTreeSet<String>>,
}

/// How the files stood at a moment, and which agents were at work.
#[derive(Debug)]
pub struct Stood {
    stamps: Vec<Option<Stamp>>,
    /// What came in front of them.
    ahead: Vec<String>,
    agents: (usize, usize),
}

impl Lent {
    /// Copies them before anything of the session runs, for a search whose files are in the folder `search`.
    pub fn of(user: &Repo, search: &Path, session: &str, request: &Request) -> Result<Lent> {
        let (files, mut ahead) = found_by(user, request)?;
        ahead.note(&user.root);
        let lent = Lent {
            root: user.root.clone(),
            quarantine: RefCell::new(Quarantine::of(&user.private, session, 0)),
            folder: search.join(FOLDER).join(session),
            copies: RefCell::new(Copies::of(files)),
            ahead: RefCell::new(ahead),
            agents: Cell::default(),
            told: RefCell::default(),
        };
        // Before the copies: whoever comes meanwhile knows whose they are.
        lent.write_list(false)?;
        lent.copy()?;
        lent.write_list(false)?;
        Ok(lent)
    }

    /// Notes of what the copies are, and whether an agent is at work, for the case that this session dies.
    fn write_list(&self, is_agent_at_work: bool) -> Result<()> {
        let ahead = self.ahead.borrow().clone();
        if ahead.links.is_empty() {
            return Ok(());
        }
        let copies = self.copies.borrow().clone();
        List::of(copies, ahead, is_agent_at_work).write(&self.folder)
    }

    /// Copies the files as they are now; of what is as it was, the copy is used again.
    fn copy(&self) -> Result<()> {
        let links = &self.ahead.borrow().links;
        let mut copies = self.copies.borrow_mut();
        copies.make(&self.root, &self.folder, links)
    }

    /// Says which files have no copy, before any agent begins.
    pub fn uncopied(&self) -> Option<String> {
        self.copies.borrow().uncopied_words()
    }

    /// Notes that an agent begins its work: what the files are now counts until the last of those that are at work has ended. Returns
    /// what is to be told of what commands made of them since.
    pub fn agent_begins(&self) -> Result<Vec<String>> {
        let (at_work, ended) = self.agents.get();
        let mut words = Vec::new();
        if at_work == 0 {
            // Before the first agent only the untouched code was there.
            if ended > 0 {
                words = self.tell_written()?;
            }
            self.copy()?;
            self.ahead.borrow_mut().note(&self.root);
            self.write_list(true)?;
        }
        self.agents.set((at_work + 1, ended));
        Ok(words)
    }

    /// Notes that an agent has ended, and puts back what changed; returns what is to be told.
    pub fn agent_ended(&self) -> Result<Vec<String>> {
        let (at_work, ended) = self.agents.get();
        let words = self.put_back()?;
        self.agents.set((at_work.saturating_sub(1), ended + 1));
        if at_work <= 1 {
            self.write_list(false)?;
        }
        Ok(words)
    }

    /// Puts back what changed while agents are at work; returns what is to be told. To be done before a command.
    pub fn put_back(&self) -> Result<Vec<String>> {
        match self.agents.get().0 {
            0 => Ok(Vec::new()),
            _ => {
                let (copies, mut quarantine) = (self.copies.borrow(), self.quarantine.borrow_mut());
                let mut words = self.ahead.borrow().take(&self.root, &mut quarantine)?;
                words.extend(copies.restore(&self.root, &self.folder, &mut quarantine)?);
                drop(quarantine);
                Ok(self.untold(words))
            }
        }
    }

    /// Returns how the files stand now.
    pub fn stood(&self) -> Stood {
        let stamp = |file: &String| Stamp::at(&self.root.join(file));
        Stood {
            stamps: self.copies.borrow().files.iter().map(stamp).collect(),
            ahead: self.ahead.borrow().came(&self.root).into_keys().collect(),
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
        let copies = self.copies.borrow();
        let both = before.stamps.iter().zip(&now.stamps).zip(&copies.files);
        let changed = both.filter(|((before, now), _)| before != now);
        let changed = changed.map(|(_, file)| file);
        let came = now.ahead.iter();
        let came = came.filter(|path| !before.ahead.contains(path));
        changed.chain(came).cloned().collect()
    }

    /// Keeps what files were that commands wrote since they were copied, where that may be somebody's, and names them: whether a command
    /// builds them, or the code that it runs forges them, cannot be told.
    fn tell_written(&self) -> Result<Vec<String>> {
        let (copies, mut quarantine) = (self.copies.borrow(), self.quarantine.borrow_mut());
        let mut words = copies.written(&self.root, &self.folder, &mut quarantine)?;
        words.extend(self.ahead.borrow().told(&self.root));
        drop(quarantine);
        Ok(self.untold(words))
    }

    /// Returns of these words, and of what was moved, what was not told yet: where a file went is told once.
    fn untold(&self, mut words: Vec<String>) -> Vec<String> {
        words.extend(self.quarantine.borrow().notes());
        let mut told = self.told.borrow_mut();
        words.retain(|words| {
            let what = words.split_once(" → ").map_or(&words[..], |(what, _)| what);
            told.insert(what.to_owned())
        });
        words
    }

    /// Ends it: nothing of it stays. Returns what is to be told, of what commands wrote since the last agent began, too.
    pub fn end(&self) -> Result<Vec<String>> {
        let mut words = self.put_back()?;
        words.extend(self.tell_written()?);
        left::remove(&self.folder)?;
        Ok(words)
    }
}

/// Returns the files that are meant, and what would be taken in their place. Of what is lent that is also what the commands run by way of
/// others, and what these import: no attempt shows what an agent makes of it.
fn found_by(user: &Repo, request: &Request) -> Result<(Vec<String>, Ahead)> {
    if request.link.is_empty() {
        return Ok((Vec::new(), Ahead::default()));
    }
    let workspace = Workspace { repo: user };
    let tree = user.tree_of(&request.base)?;
    let is_file =
        |path: &str| user.may_have_file(&tree, path) || workspace.has_file_on_disk(path.as_bytes());
    let (mut files, mut ahead) = (Vec::new(), Ahead::default());
    for goals in [request.measured_by(), request.held_out_by()] {
        let mut yardstick = workspace.yardstick(&goals, &is_file);
        ahead.instead.extend(yardstick.in_front_of_followed());
        ahead.fronts.append(&mut yardstick.fronts);
        files.extend(yardstick.let_go(&|file| workspace.may_be_built(&tree, file)));
        files.append(&mut yardstick.followed);
        // What is not there yet commands build; an agent's own is not taken for it.
        files.extend(workspace.unbuilt(&goals, &tree).0);
        // Programs of packages, and of folders in PATH.
        let programs =
            program::called_by_checks(&goals, &yardstick.packaged, &|_| true, &user.root);
        let below = programs.values().map(Path::new);
        let below = below.filter_map(|place| place.strip_prefix(&user.root).ok()?.to_str());
        files.extend(below.map(str::to_owned));
    }
    ahead.links.clone_from(&request.link);
    ahead
        .instead
        .retain(|one| is_lent(&request.link, one.path.as_bytes()));
    files.retain(|file| is_lent(&request.link, file.as_bytes()));
    let mut files = workspace.behind(&files);
    files.retain(|file| {
        let meta = user.root.join(file).symlink_metadata();
        meta.map_or(true, |meta| meta.is_file() || meta.is_symlink())
    });
    Ok((files, ahead))
}
