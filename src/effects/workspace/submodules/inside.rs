//! The way into submodules: what is uncommitted there is found, and put on the stash there, by the rule that
//! `guard::modules` states.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::effects::files::{is_beneath, is_within};
use crate::effects::git::{Git, may_refuse};
use crate::effects::guard::modules::{Ground, submodules};
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::attributes::are_refused;
use crate::effects::workspace::status::{self, Status};
use crate::effects::workspace::undo::put_back::Changed;
use crate::effects::workspace::{Start, Workspace, ended};
use crate::error::Result;
use crate::model::exact;

/// Stages files that git does not track yet.
const ADD: [&str; 4] = [
    "add",
    "--ignore-errors",
    "--pathspec-from-file=-",
    "--pathspec-file-nul",
];

/// Lists what the index has and a commit has not.
const ADDED: [&str; 6] = [
    "diff-index",
    "--cached",
    "--name-only",
    "--no-renames",
    "--diff-filter=A",
    "-z",
];

/// A repository of the working tree: this one, or a submodule that git may go into.
pub(in crate::effects::workspace) struct Home {
    pub git: Git,
    /// Its folder below the root of the working tree, with a slash at the end; empty for the root itself.
    pub folder: Vec<u8>,
}

impl Home {
    /// Returns the path below the root of the working tree of what is below this one's own.
    pub fn whole(&self, path: &[u8]) -> Vec<u8> {
        [&self.folder, path].concat()
    }
}

/// What an agent left uncommitted inside submodules, and is put away.
#[derive(Default)]
pub struct PutAway {
    /// For the record.
    pub notes: Vec<String>,
    /// What git could not keep of it, in words.
    pub unheld: Vec<String>,
}

impl Workspace<'_> {
    /// Returns where submodules are looked for.
    pub fn ground(&self) -> Ground<'_> {
        Ground {
            root: &self.repo.root,
            private: (!self.repo.is_slot).then_some(self.repo.private.as_path()),
            git: &self.repo.git,
        }
    }

    /// Refuses submodules that an agent of an earlier session made, where what the user has in one could not be protected (exit 3).
    pub(in crate::effects::workspace) fn judge_strangers(&self) -> Result<()> {
        let (modules, ground) = (&self.repo.modules, self.ground());
        if !ground.has_strangers() {
            return Ok(());
        }
        let listed = self.repo.git.run(&["ls-files", "--stage", "-z"])?;
        let listed = submodules(&listed);
        modules.find(ground, listed.clone());
        modules.judge_strangers(ground, listed)
    }

    /// Returns git, at work in the submodule at this path; none where it may not go.
    pub(in crate::effects::workspace) fn inside(&self, path: &[u8]) -> Option<Git> {
        let root = &self.repo.root;
        let folder = root.join(OsStr::from_bytes(path));
        let is_open = self.repo.modules.is_open(root, path);
        is_open.then(|| self.repo.git.elsewhere(&folder))
    }

    /// Returns this repository itself.
    pub(in crate::effects::workspace) fn root_home(&self) -> Home {
        Home {
            git: self.repo.git.clone(),
            folder: Vec::new(),
        }
    }

    /// Returns the submodules that git may go into, the outer ones first, each as it is when it is asked for.
    pub(in crate::effects::workspace) fn homes_within(&self) -> impl Iterator<Item = Home> {
        let known = self.repo.modules.known().into_keys();
        known.filter_map(|name| {
            let path = exact::encode(&name);
            Some(Home {
                git: self.inside(&path)?,
                folder: [&path[..], b"/"].concat(),
            })
        })
    }

    /// Adds to a state the submodules in which changes are uncommitted, be it in one within, and their untracked files; the
    /// ignored ones only if asked for.
    pub fn look_into_submodules(&self, status: &mut Status, with_ignored: bool) -> Result<()> {
        let mut changed = Vec::new();
        for home in self.homes_within() {
            let path = || home.folder[..home.folder.len() - 1].to_vec();
            let said = status::read_inside(&home.git, with_ignored);
            if let Err(refused) = &said
                && are_refused(refused)
            {
                return said.map(drop);
            }
            let Some(found) = may_refuse(said)? else {
                changed.push(path());
                continue;
            };
            let whole = |files: &[Vec<u8>]| -> Vec<_> {
                files.iter().map(|below| home.whole(below)).collect()
            };
            status.within.extend(whole(&found.untracked));
            status.ignored.extend(whole(&found.ignored));
            if !found.dirty.is_empty() {
                changed.push(path());
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        let listed = self.repo.git.run(&["ls-files", "--stage", "-z"])?;
        for path in submodules(&listed) {
            let is_around = |inner: &Vec<u8>| is_within(inner, &path);
            if changed.iter().any(is_around) {
                status.add_submodule(path);
            }
        }
        Ok(())
    }

    /// Reads the state of the tree without its ignored files.
    pub fn state(&self) -> Result<Status> {
        let mut status = status::read(&self.repo.git, false)?;
        if !self.repo.modules.is_found() {
            let listed = self.repo.git.run(&["ls-files", "--stage", "-z"])?;
            self.repo.modules.find(self.ground(), submodules(&listed));
        }
        self.look_into_submodules(&mut status, false)?;
        Ok(status)
    }

    /// Takes files of the user's out of the index of a submodule that `commit` does not have: whoever goes back to that would
    /// remove them.
    pub(in crate::effects::workspace) fn unstage_users(
        &self,
        start: &Start,
        path: &[u8],
        git: &Git,
        commit: &str,
    ) -> Result<()> {
        let added = may_refuse(git.run(&[&ADDED[..], &[commit]].concat()))?.unwrap_or_default();
        let added = added.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        let is_users = |below: &&[u8]| start.kept.was_there(&joined(path, below));
        let users: Vec<Vec<u8>> = added.filter(is_users).map(<[u8]>::to_vec).collect();
        if users.is_empty() {
            return Ok(());
        }
        let remove = ["update-index", "--force-remove", "-z", "--stdin"];
        git.run_with(&remove, &ended(&users)).map(|_| ())
    }

    /// Puts away what the agent changed inside a submodule without a commit there: no commit of this repository can hold it,
    /// so it may neither be measured nor stay. What git cannot put on the stash goes to the quarantine, and the change with it.
    pub fn stash_in_submodules(&self, start: &Start, status: &Status) -> Result<PutAway> {
        let mut away = PutAway::default();
        let all: Vec<String> = self.repo.modules.known().into_keys().collect();
        // The inner ones first: what they leave may be a change of the outer one's.
        for name in all.iter().rev() {
            let path = exact::encode(name);
            let mut unstaged = status.unstaged.iter();
            let is_changed = unstaged.any(|changed| is_within(&path, changed));
            let is_added =
                |one: &Vec<u8>| *one != path && is_within(one, &path) && !start.kept.was_there(one);
            let is_looked_at = is_changed || status.within.iter().any(is_added);
            let Some(git) = self.inside(&path).filter(|_| is_looked_at) else {
                continue;
            };
            self.unstage_users(start, &path, &git, "HEAD")?;
            let home = Home {
                git,
                folder: joined(&path, b""),
            };
            let Some(found) = self.uncommitted(start, &home)? else {
                continue;
            };
            let shown = String::from_utf8_lossy(&path);
            if self.stash(start, &home, &found)? {
                let note = format!("uncommitted changes inside {shown} are in its stash");
                away.notes.push(note);
            }
            if let Some(left) = self.uncommitted(start, &home)? {
                // Which commit a submodule within is on, `replaced` judges.
                let dirty = left.dirty.iter().map(|below| home.whole(below));
                let mut changed = dirty.filter(|one| !all.contains(&exact::decode(one)));
                if left.untracked.is_empty() && changed.next().is_none() {
                    continue;
                }
                let unheld = format!("changes inside {shown} that git cannot stash");
                away.unheld.push(unheld);
                away.notes.extend(self.quarantine_in(start, &home, &left)?);
            }
        }
        Ok(away)
    }

    /// Returns what is uncommitted in a submodule and not the user's; none if nothing is.
    fn uncommitted(&self, start: &Start, home: &Home) -> Result<Option<Status>> {
        let Some(mut found) = may_refuse(status::read_inside(&home.git, false))? else {
            return Ok(None);
        };
        found
            .untracked
            .retain(|below| !below.ends_with(b"/") && !start.kept.was_there(&home.whole(below)));
        let is_any = !found.dirty.is_empty() || !found.untracked.is_empty();
        Ok(is_any.then_some(found))
    }

    /// Has git put what is uncommitted in a submodule on the stash there; says whether anything is there then. Git would look into a
    /// repository in it that the agent made or changed: where there is one, nothing is done.
    fn stash(&self, start: &Start, home: &Home, found: &Status) -> Result<bool> {
        let git = &home.git;
        let within = submodules(&git.run(&["ls-files", "--stage", "-z"])?);
        let is_closed = |below: &Vec<u8>| {
            let path = home.whole(below);
            let dot_git = self.repo.root.join(OsStr::from_bytes(&path)).join(".git");
            dot_git.exists() && self.inside(&path).is_none()
        };
        if within.iter().any(is_closed) {
            return Ok(false);
        }
        if !found.untracked.is_empty() {
            // What git cannot add stays, and is seen afterwards.
            may_refuse(git.run_with(&ADD, &ended(&found.untracked)))?;
        }
        let words = format!("evolve: cycle {}, what the agent left", start.cycle);
        let by = [
            "-c",
            "user.name=evolve",
            "-c",
            "user.email=evolve@localhost",
        ];
        let push = ["stash", "push", "--message", &words];
        let newest = || may_refuse(git.run(&["rev-parse", "--verify", "--quiet", "refs/stash"]));
        let before = newest()?;
        may_refuse(git.run(&[&by[..], &push].concat()))?;
        Ok(newest()? != before)
    }

    /// Moves what is uncommitted in a submodule to the quarantine, and makes index and files what its HEAD has; says what was moved.
    fn quarantine_in(&self, start: &Start, home: &Home, left: &Status) -> Result<Vec<String>> {
        let root = &self.repo.root;
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        // Where HEAD is on no commit, the undo makes it what it was at the start.
        let head = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        if may_refuse(home.git.run(&head))?.is_none() {
            return Ok(Vec::new());
        }
        let changed = Changed {
            git: &home.git,
            folder: &home.folder,
            paths: &left.dirty,
        };
        may_refuse(self.put_back_changed(&changed, &mut quarantine))?;
        // It ends a merge of which nothing is left, as the stash does.
        may_refuse(home.git.run(&["reset", "--quiet"]))?;
        // Also what was only staged before.
        let untracked = self.uncommitted(start, home)?.map(|it| it.untracked);
        for below in untracked.unwrap_or_default() {
            let file = home.whole(&below);
            if is_beneath(root, &file) {
                quarantine.take(root, &file)?;
                self.remove_empty_folders(&file);
            }
        }
        Ok(quarantine.notes().collect())
    }
}

/// Returns the path of what is below a folder.
pub(super) fn joined(folder: &[u8], below: &[u8]) -> Vec<u8> {
    [folder, b"/", below].concat()
}
