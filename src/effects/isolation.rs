//! The agent at work in a slot instead of the user's checkout (`--isolate`): what it did is taken over into the user's
//! repository object by object, and only what was kept ever reaches the user's branch.

pub mod lent;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effects::clock;
use crate::effects::files;
use crate::effects::guard::way::{displace, excludes};
use crate::effects::keep;
use crate::effects::modes;
use crate::effects::quarantine::{self, Quarantine};
use crate::effects::repo::Repo;
use crate::effects::slot::{Base, Ignored, Slot, lfs};
use crate::effects::workspace::{Edited, Settled, Start, Stock, Workspace};
use crate::effects::{mirror, pipes, program};
use crate::error::{Error, Result};
use crate::model::gate::Fate;
use crate::model::git::whose::{OWN, Whose};
use crate::model::output;
use crate::model::record::START_IS_GONE;
use crate::model::slot::Provisions;
use crate::model::text;

/// The user's repository, and the slot beside it.
#[derive(Debug)]
pub struct Isolation {
    /// The user's repository.
    pub user: Repo,
    /// Where the agent works.
    pub slot: Slot,
    /// The user's branch that this session works for (`refs/heads/…`).
    pub branch: String,
}

impl Isolation {
    /// Finds the slot for the branch that is checked out.
    pub fn of(user: Repo) -> Result<Isolation> {
        let (branch, _) = user.ready_head()?;
        let slot = Slot::of(&user, AGENTS, Provisions::default())?;
        Ok(Isolation { user, slot, branch })
    }

    /// Finds the slot again in which the agent of a dead session worked.
    pub fn after_a_crash(user: &Repo, start: &Start, provisions: Provisions) -> Result<Isolation> {
        let user = user.reopened()?;
        let slot = Slot::of(&user, AGENTS, provisions)?;
        Ok(Isolation {
            user,
            slot,
            branch: start.branch.clone(),
        })
    }

    /// Puts the slot on the tip of the user's branch.
    pub fn renew(&self) -> Result<Repo> {
        let (branch, commit) = self.user.ready_head()?;
        if branch != self.branch {
            let short = |name: &str| name.trim_start_matches("refs/heads/").to_owned();
            let (old, new) = (short(&self.branch), short(&branch));
            return Err(Error::unsafe_repo(format!(
                "{new} is checked out now, and this session worked for {old}"
            ))
            .hint(format!(
                "start evolve again to work for {new}, or go back with `git switch {}`",
                text::shell_word(&old)
            )));
        }
        self.put_on(&commit)
    }

    /// Puts the slot on a commit of the user's repository.
    pub fn put_on(&self, commit: &str) -> Result<Repo> {
        // Whatever becomes of the branch: what the slot borrows from stays in the user's repository.
        let name = self.user.slot_ref();
        self.user
            .set_ref(&name, commit, "evolve: what a slot is on")?;
        let base = Base {
            branch: &self.branch,
            commit,
        };
        self.slot.renew(&self.user, base, Ignored::Stay)
    }

    /// Returns an error if there is no slot any more, or not all of it: somebody removed it, or put a link in its place, and the work of
    /// this cycle is gone with it. To be asked before anything is read or removed there, and before anything is judged.
    pub fn refuse_gone(&self) -> Result<()> {
        match self.slot.is_left() {
            true => Ok(()),
            false => Err(Error::unsafe_repo(
                "the copy that the agent worked in was removed or replaced meanwhile",
            )
            .hint(
                "the branch and your files are as they were; run evolve again, it makes a new copy",
            )),
        }
    }

    /// Says whether agents of a loop work at a root, or its goals are measured there, if it is a slot's.
    pub fn is_of_loop(root: &Path) -> bool {
        root.file_name()
            .is_some_and(|name| name == AGENTS || name == MEASURING)
    }

    /// Takes stock of what an agent did in the slot, and takes its commits over into the user's repository, where they stay
    /// under the start's work ref. Where the slot's own repository cannot be used any more, its files are taken for the
    /// agent's work, and the change says so. Nothing is left of a slot that was removed.
    pub fn take_stock(&self, start: &Start) -> Result<Stock> {
        if self.refuse_gone().is_err() {
            return Ok(Stock::untouched(start));
        }
        // Twice: a git that was killed is no broken repository.
        let looked = self.look(start).or_else(|cause| {
            tracing::debug!("the slot is looked at again: {cause}");
            self.look(start)
        });
        let why = match looked {
            Ok(Some(stock)) => return Ok(stock),
            Ok(None) => "the .git of its copy was removed, replaced or broken".to_owned(),
            // The machine's fault, not the copy's: what is in it has to stay until it can be looked at.
            Err(cause) if cause.is_of_machine() || cause.is_halt() => {
                return Err(cause);
            }
            Err(cause) => format!("its copy cannot be read: {}", cause.message),
        };
        let repo = self.remake(start)?;
        let mut stock = (Workspace { repo: &repo }).take_stock(start)?;
        stock.change.rewritten = Some(why);
        self.take_over(&repo, start, &stock)?;
        Ok(stock)
    }

    /// Takes stock with the slot's own repository; none if that cannot be used any more.
    fn look(&self, start: &Start) -> Result<Option<Stock>> {
        let private = &self.user.private;
        let mut quarantine = Quarantine::of(private, &start.session, start.cycle);
        let root = &self.slot.root;
        let mut enter = |folder: &Path| {
            modes::open_folder(&root.join(folder));
        };
        pipes::clear(root, &self.user.plain, &mut enter, &mut quarantine)?;
        mirror::clear_damaged_in(&self.slot.root, &mut quarantine)?;
        let Some(repo) = self.slot.reclaim(&self.user)? else {
            return Ok(None);
        };
        let workspace = Workspace { repo: &repo };
        let mut stock = workspace.take_stock(start)?;
        let edited = workspace.edited_modules(&self.user.root, &start.in_modules)?;
        let (loose, edited): (Vec<_>, Vec<_>) =
            edited.into_iter().partition(|it| self.may_be_taken(it));
        stock
            .change
            .unheld
            .extend(edited.iter().map(Edited::in_words));
        stock
            .notes
            .extend(self.take_loose(&loose, &mut quarantine)?);
        let emptied = self.emptied(&repo)?.into_iter();
        let emptied =
            emptied.map(|path| format!("the submodule {} was emptied", text::path(&path)));
        stock.change.unheld.extend(emptied);
        let lent = lent::changed(&self.user, start).into_iter();
        let lent = lent.map(|path| format!("{path} changed"));
        stock.change.goalposts.extend(lent);
        stock.notes.extend(quarantine.notes());
        if let Err(cause) = self.take_over(&repo, start, &stock) {
            // What a git that was killed left would be in the way of the next one.
            (Workspace { repo: &self.user }).clear_locks(start)?;
            return Err(cause);
        }
        // Every object was looked at on its way here: who leads to whom is not for the slot to say.
        if stock.change.rewritten.is_none() && !self.user.descends(&stock.tip, &start.commit)? {
            stock.change.rewritten =
                Some("the work does not go on from the commit it started from".to_owned());
        }
        Ok(Some(stock))
    }

    /// Says whether what is loose in a submodule is all that it holds beside its commit, and no more than the quarantine should be filled
    /// with.
    fn may_be_taken(&self, edited: &Edited) -> bool {
        let sizes = self.precious(edited).map(|file| quarantine::size(&file));
        !edited.loose.is_empty()
            && edited.loose.len() <= MOST_LOOSE
            && sizes.sum::<u64>() <= LOOSE_LIMIT
    }

    /// Returns what is loose in a submodule, but for what tools keep in folders of theirs.
    fn precious<'a>(&'a self, edited: &'a Edited) -> impl Iterator<Item = PathBuf> + 'a {
        let loose = edited.loose.iter();
        let precious = loose.filter(|path| !output::is_of_tools(&text::path(path)));
        precious.map(|path| self.slot.root.join(OsStr::from_bytes(path)))
    }

    /// Has submodules made ready anew, as no commit would hold what is loose in them; that goes to the quarantine. Says so.
    fn take_loose(&self, edited: &[Edited], quarantine: &mut Quarantine) -> Result<Option<String>> {
        if edited.is_empty() {
            return Ok(None);
        }
        for file in edited.iter().flat_map(|it| self.precious(it)) {
            let path = file.strip_prefix(&self.slot.root).unwrap_or(&file);
            quarantine.take(&self.slot.root, path.as_os_str().as_bytes())?;
        }
        let paths: Vec<_> = edited.iter().map(|it| it.path.clone()).collect();
        self.slot.unprepare(&paths)?;
        let words: Vec<_> = edited.iter().map(Edited::in_words).collect();
        Ok(Some(format!(
            "taken out of the copy before the goals were measured, as no commit of it can hold that: {}",
            words.join("; ")
        )))
    }

    /// Lists the submodules that the slot was made ready with, has still by its index, and holds no files of any more.
    fn emptied(&self, slot: &Repo) -> Result<Vec<Vec<u8>>> {
        let mut emptied = self.slot.emptied()?;
        if !emptied.is_empty() {
            let listed = slot.tracked_folders()?.modules;
            emptied.retain(|path| listed.contains(path));
        }
        Ok(emptied)
    }

    fn remake(&self, start: &Start) -> Result<Repo> {
        let base = Base {
            branch: &start.branch,
            commit: &start.commit,
        };
        self.slot.remake_git_dir(&self.user, base)
    }

    /// Copies the agent's commits into the user's repository, each object checked on its way.
    fn take_over(&self, repo: &Repo, start: &Start, stock: &Stock) -> Result<()> {
        if stock.tip == start.commit {
            return Ok(());
        }
        let note = "evolve: the work of a cycle";
        repo.set_ref(&start.work_ref(), &stock.tip, note)?;
        let mut wanted = vec![start.work_ref()];
        // What the agent committed on the branch before it left HEAD elsewhere is its work, too.
        if let Some(was) = repo.resolve(&start.branch)?
            && !repo.descends(&stock.tip, &was)?
        {
            let name = format!("{}-branch", start.work_ref());
            repo.set_ref(&name, &was, note)?;
            // Where the work ref is there after a crash, all of it is.
            wanted.insert(0, name);
        }
        let refs = wanted.iter().map(|name| format!("+{name}:{name}").into());
        let mut told = OsString::from("--upload-pack=");
        told.push(text::shell_word(program::git().as_bytes()));
        told.push(TELLING_ALL);
        let arguments: Vec<OsString> = TAKE_OVER
            .iter()
            .map(OsString::from)
            .chain([told, self.slot.root.clone().into_os_string()])
            .chain(refs)
            .collect();
        self.user.git.run(&arguments)?;
        lfs::take_over(&self.user, repo)
    }

    /// Settles a cycle in the slot: a change that is not kept is gone from it, and stays under the work ref. Where somebody took
    /// the start out of the branch meanwhile, the commit that the branch is on now is what is left.
    pub fn settle(&self, start: &Start, stock: &Stock, fate: Fate) -> Result<Settled> {
        let now = self.user.resolve(&start.branch)?;
        let others = match now {
            Some(now) if !self.user.descends(&now, &start.commit)? => Some(now),
            Some(_) | None => None,
        };
        let mut notes: Vec<_> = others.iter().map(|_| START_IS_GONE.to_owned()).collect();
        match fate {
            Fate::Keep | Fate::Leave => {
                notes.extend(lent::put_back_missing(&self.user, start)?);
                Ok(Settled {
                    notes,
                    ..Isolation::kept(start, stock)
                })
            }
            Fate::Undo => {
                notes.extend(self.undo(start)?);
                Ok(Settled {
                    commit: others.unwrap_or_else(|| start.commit.clone()),
                    was_undone: stock.tip != start.commit || stock.change.rewritten.is_some(),
                    was_outrun: false,
                    made: Vec::new(),
                    notes,
                })
            }
        }
    }

    /// Puts the slot on a cycle's start again, what checks had built there included: an agent may have made its own of it, and it stays
    /// in the slot. So does what is protected and ignored, and what the slot is lent of that. Says what else was put back.
    pub fn undo(&self, start: &Start) -> Result<Vec<String>> {
        // First: of the slot less may be left.
        let mut notes = lent::put_back(&self.user, start)?;
        let slot = self.put_on(&start.commit)?;
        let workspace = Workspace { repo: &slot };
        let edited = workspace.edited_modules(&self.user.root, &start.in_modules)?;
        let edited: Vec<_> = edited.into_iter().map(|it| it.path).collect();
        if !edited.is_empty() {
            self.slot.unprepare(&edited)?;
        }
        let mut quarantine = Quarantine::of(&self.user.private, &start.session, start.cycle);
        let folders = keep::folders(&slot.own_places());
        let kept = &start.kept;
        kept.put_back_all_built(&slot.root, &folders, &mut quarantine)?;
        kept.take_unbuilt(&slot.root, &mut quarantine)?;
        workspace.take_new_protected(start, &mut quarantine)?;
        let put_back = kept.put_back_protected(&slot.root, &folders, &mut quarantine)?;
        notes.extend(put_back.notes());
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// What settling a kept change comes to. Commits without a change of content stay in the slot.
    pub fn kept(start: &Start, stock: &Stock) -> Settled {
        let commit = match stock.change.is_made {
            true => &stock.tip,
            false => &start.commit,
        };
        Settled {
            commit: commit.clone(),
            was_undone: false,
            was_outrun: false,
            made: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Makes way for the ref that only sessions of this working tree write: removes the lock that a dead session left of it, and moves
    /// away what leaves it no place; says what. To be called by who holds the lock.
    pub fn tidy(user: &Repo) -> Result<Vec<String>> {
        let name = user.slot_ref();
        let lock = user.common_path(&format!("{name}.lock"));
        if fs::symlink_metadata(&lock).is_ok() {
            files::remove(&lock)?;
        }
        let mut taken = user.all_refs()?;
        taken.retain(|other, _| excludes(&name, other));
        let session = clock::session_id();
        let mut quarantine = Quarantine::of(&user.private, &session, 0);
        let whose = Whose {
            branch: String::new(),
            mark: String::new(),
            work_ref: format!("{OWN}{session}/0"),
            start: None,
        };
        let mut notes = displace(user, &whose, &[name], &taken, &mut quarantine)?;
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    /// Lets go of the commit that the slot is on, at the session's end.
    pub fn leave(&self) -> Result<()> {
        self.user.remove_ref(&self.user.slot_ref())
    }

    /// Forgets the work ref of a change that is on the user's branch.
    pub fn forget_work(&self, start: &Start) -> Result<()> {
        self.user.remove_ref(&start.work_ref())
    }
}

/// How many files that are loose in a submodule are moved away; with more the cycle is undone.
const MOST_LOOSE: usize = 10_000;

/// How many bytes they may have.
const LOOSE_LIMIT: u64 = 64 << 20;

/// The name of the slot that agents work in.
const AGENTS: &str = "agent";
/// What the slot is for in which goals are measured as a clone would have them.
pub const MEASURING: &str = "measure";

/// How the slot's git tells of its refs: also of those that the user's own settings hide from who fetches.
const TELLING_ALL: &str = " -c transfer.hideRefs=!refs -c uploadpack.hideRefs=!refs upload-pack";

/// How commits are fetched from a slot: nothing but the refs named, with every object looked at.
const TAKE_OVER: [&str; 12] = [
    "-c",
    "fetch.fsckObjects=true",
    "-c",
    "fetch.writeCommitGraph=false",
    "-c",
    "protocol.file.allow=always",
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--update-shallow",
];
