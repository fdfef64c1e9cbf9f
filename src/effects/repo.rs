//! The repository as objects and refs: reading, building trees and commits, moving refs by compare-and-swap. The only
//! place that knows git2. The working tree and the user's index are `workspace`'s business.

pub mod attributes;
mod commits;
mod copies;
mod failure;
mod identity;
mod merges;
pub mod objects;
mod open;
mod operation;
mod past;
mod patch;
mod reach;
mod reflog;
mod refs;
mod revert;
mod shared;
mod staged;
mod standing;
mod tracked;
mod trees;
mod unverified;
mod whole;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use git2::{ErrorCode, Repository};

use crate::effects::git::Git;
use crate::effects::guard::modules::Modules;
use crate::effects::guard::users::Users;
use crate::effects::led;
use crate::effects::pipes::Plain;
use crate::effects::places::Places;
use crate::effects::sandbox::Ground;
use crate::error::{Error, Result};
use crate::model::git::sharing::Sharing;
use crate::model::leads::Leads;
use crate::model::{exact, text};

use failure::{broken, oid};
use identity::Identity;
use operation::in_progress;

pub use copies::Merged;
pub use identity::{SETTINGS as IDENTITY, committer};
pub use merges::Merges;
pub use past::Past;
pub use reach::Remembered;
pub use refs::{SYMBOLIC, root_of_linked};
pub use revert::Without;
pub use tracked::{Indexed, LISTING, Tracked, Written as WrittenIndex, indexed_in, listed_in};
pub use trees::{Difference, Entry, hash_blob, hash_file};
pub use whole::Standing;

/// The mode of a submodule in a tree.
pub const SUBMODULE: u32 = 0o160_000;

/// How long the lock of a ref is waited for: it is held for as long as one small file takes to be written.
const REF_PATIENCE: Duration = Duration::from_secs(3);

/// A git repository with a working tree.
pub struct Repo {
    inner: Repository,
    /// The root of the working tree.
    pub root: PathBuf,
    /// `evolve`'s private directory, below the git directory of this working tree.
    pub private: PathBuf,
    /// The git program, at work in the same tree.
    pub git: Git,
    /// The repositories of its submodules.
    pub modules: Arc<Modules>,
    /// The user's own configuration of git, as it was before the session's first agent.
    pub users: Arc<OnceLock<Users>>,
    /// Whose the commits are that are made here; asked for once, before any agent.
    identity: Arc<OnceLock<Identity>>,
    /// How it is shared with other users.
    sharing: Arc<OnceLock<Sharing>>,
    /// The root of the user's working tree: this one's, or that of the repository whose slot it is.
    pub home: PathBuf,
    /// It is a slot's: nobody but an agent and `evolve` is at work in it, and its history is thrown away.
    pub is_slot: bool,
    is_durable: bool,
    /// How what runs in its copies is led to their code; found when the first of them is used.
    leads: Arc<OnceLock<Leads>>,
    /// The folders that are known to hold nothing but plain files.
    pub plain: Arc<Plain>,
}

/// Where HEAD is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The branch (`refs/heads/…`), its name standing for its bytes exactly; none when HEAD is detached.
    pub branch: Option<String>,
    /// The commit; none on a branch without one.
    pub commit: Option<String>,
}

/// A commit in a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its full id.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Repo")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Repo {
    /// Returns the branch that HEAD names, be there a commit on it or not.
    pub fn symbolic_head(&self) -> Result<Option<String>> {
        let head = self.inner.find_reference("HEAD");
        let head = head.map_err(broken("read HEAD"))?;
        Ok(head.symbolic_target().ok().flatten().map(str::to_owned))
    }

    /// Says whether it has no working tree.
    pub fn is_bare(&self) -> bool {
        self.inner.is_bare()
    }

    /// Says whether it is a partial clone, which has its commits and gets files from elsewhere when git needs them.
    pub fn is_partial(&self) -> bool {
        let config = self.inner.config().and_then(|mut config| config.snapshot());
        config.is_ok_and(|config| {
            config.get_bytes("extensions.partialclone").is_ok()
                || config
                    .entries(Some("remote\\..*\\.promisor"))
                    .is_ok_and(|mut entries| entries.next().is_some())
        })
    }

    /// Returns the places of this repository.
    pub fn own_places(&self) -> Places {
        Places {
            git_dir: self.git_dir().to_owned(),
            common: self.common_path(""),
            private: self.private.clone(),
        }
    }

    /// Returns what may be written to by whoever works here in a sandbox.
    pub fn ground(&self) -> Ground {
        let ground = Ground::of_repo(&self.root, &self.own_places(), self.is_slot);
        match self.is_slot {
            true => ground.led(self.leads().at(&self.root)),
            false => ground,
        }
    }

    /// Returns the same for a copy at `root` that only checks enter.
    pub fn ground_of_slot(&self, root: &Path) -> Ground {
        Ground::of_slot(root).led(self.leads().at(root))
    }

    /// Returns how what runs in its copies is led to their code.
    pub fn leads(&self) -> &Leads {
        self.leads.get_or_init(|| led::leads(&self.home))
    }

    /// Returns the folders below the root from which modules are taken first, as variables say, and an environment where copies are
    /// used.
    pub fn module_folders(&self) -> Vec<String> {
        match self.leads.get() {
            Some(leads) => leads.folders(),
            None => led::by_variables(&self.home).folders(),
        }
    }

    /// Returns the git directory of this working tree.
    pub fn git_dir(&self) -> &Path {
        self.inner.path()
    }

    /// Returns a path below the git directory shared by all working trees, such as `info/exclude`.
    pub fn common_path(&self, name: &str) -> PathBuf {
        self.inner.commondir().join(name)
    }

    /// Returns where HEAD is.
    pub fn head(&self) -> Result<Head> {
        let head = self
            .inner
            .find_reference("HEAD")
            .map_err(broken("read HEAD"))?;
        let branch = head.symbolic_target_bytes().map(exact::decode);
        let commit = match self.inner.head() {
            Ok(reference) => Some(
                reference
                    .peel_to_commit()
                    .map_err(broken("read HEAD"))?
                    .id()
                    .to_string(),
            ),
            Err(cause) if cause.code() == ErrorCode::UnbornBranch => None,
            Err(cause) => return Err(broken("read HEAD")(cause)),
        };
        Ok(Head { branch, commit })
    }

    /// Returns branch and commit of a HEAD that the loop can work on; else says why not and the way out (exit 3).
    pub fn ready_head(&self) -> Result<(String, String)> {
        self.refuse_in_progress()?;
        let head = self.head()?;
        if let Some(other) = head.branch.as_ref().and_then(|it| self.stands_for(it)) {
            return Err(another_name(&head, &other));
        }
        match head {
            Head {
                branch: Some(branch),
                commit: Some(commit),
            } if !exact::is_odd(&branch) => Ok((branch, commit)),
            Head {
                branch: Some(branch),
                commit: Some(_),
            } => Err(Error::unsafe_repo(format!(
                "the name of the branch {} is not UTF-8",
                exact::shown(branch.trim_start_matches("refs/heads/"))
            ))
            .hint("rename it, as in `git branch -m maintenance`, or check out another one")),
            Head { branch: None, .. } if self.inner.path().join("HEAD").is_symlink() => {
                Err(Error::unsafe_repo(
                    "HEAD is a link to a file, from which nobody but git itself tells the branch",
                )
                .hint(
                    "have git write it: `git config core.preferSymlinkRefs false`, then `git symbolic-ref HEAD \"$(git symbolic-ref HEAD)\"`",
                ))
            }
            Head { branch: None, .. } => Err(Error::unsafe_repo(
                "HEAD is detached: there is no branch to commit to",
            )
            .hint("check out a branch, as in `git switch main` or `git switch -c maintenance`")),
            Head { commit: None, .. } => Err(self.no_commit(&head)),
        }
    }

    /// Returns the error of a HEAD that leads to no commit: the branch may be gone, or there is none yet.
    fn no_commit(&self, head: &Head) -> Error {
        let others = match self.git.run(&["for-each-ref", "--count=1", "refs/heads"]) {
            Ok(others) => others,
            Err(cause) => return cause,
        };
        let branch = head.branch.as_deref().filter(|_| !others.is_empty());
        match branch.map(|branch| branch.trim_start_matches("refs/heads/")) {
            Some(branch) => Error::unsafe_repo(format!(
                "HEAD is on the branch {}, which has no commit",
                exact::shown(branch)
            ))
            .hint("check out one that has, as in `git switch main` (`git branch` lists them); `git reflog` says where it was, if it was removed"),
            None => Error::unsafe_repo("this repository has no commit yet")
                .hint("make the first one: `git add -A && git commit -m 'first commit'`"),
        }
    }

    /// Returns the ref for which another one only stands.
    pub fn stands_for(&self, name: &str) -> Option<String> {
        let target = self.target_of(name)?;
        target.strip_prefix(refs::SYMBOLIC).map(str::to_owned)
    }

    /// Returns the commit that HEAD is on, whether a branch is checked out or not. Refuses a repository in the middle of
    /// something.
    pub fn ready_commit(&self) -> Result<String> {
        self.refuse_in_progress()?;
        let head = self.head()?;
        let no_commit = || self.no_commit(&head);
        head.commit.clone().ok_or_else(no_commit)
    }

    fn refuse_in_progress(&self) -> Result<()> {
        match in_progress(self.state()) {
            Some((what, way_out)) => {
                Err(Error::unsafe_repo(format!("{what} is in progress here")).hint(way_out))
            }
            None => Ok(()),
        }
    }

    /// Returns the commit a ref points to; none if there is no such ref.
    pub fn resolve(&self, name: &str) -> Result<Option<String>> {
        match self.inner.find_reference(name) {
            Ok(reference) => {
                let commit = reference.peel_to_commit().map_err(broken("read a ref"))?;
                Ok(Some(commit.id().to_string()))
            }
            Err(cause) if cause.code() == ErrorCode::NotFound => Ok(None),
            Err(cause) => Err(broken("read a ref")(cause)),
        }
    }

    /// Reads the user's own configuration of git, the first time this is called; to be done before an agent is.
    pub fn read_users(&self) -> Result<&Users> {
        match self.users.get() {
            Some(users) => Ok(users),
            None => {
                let users = Users::read(&self.git, &self.root, &self.own_places())?;
                Ok(self.users.get_or_init(|| users))
            }
        }
    }

    /// Moves a ref from `old` to `new`; false if it no longer was at `old`. Another git that writes it just now is waited for.
    pub fn move_ref(&self, name: &str, old: &str, new: &str, note: &str) -> Result<bool> {
        if let Some(name) = refs::odd(name) {
            let words = ["update-ref", "--no-deref", "-m", note].map(OsString::from);
            let moved = self.call(words, [name, new.into(), old.into()]);
            return match moved {
                Err(cause) if cause.is_of_machine() => Err(cause),
                moved => Ok(moved.is_ok()),
            };
        }
        let until = Instant::now() + REF_PATIENCE;
        loop {
            let moved = self
                .inner
                .reference_matching(name, oid(new)?, true, oid(old)?, note);
            match moved {
                Ok(_) => {
                    self.clear_lock_of_written(name)?;
                    return Ok(true);
                }
                Err(cause) if cause.code() == ErrorCode::Modified => return Ok(false),
                Err(cause) if cause.code() == ErrorCode::Locked && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(cause) => return Err(self.cannot("move a ref")(cause)),
            }
        }
    }

    /// Makes HEAD name a branch; neither index nor working tree change.
    pub fn attach_head(&self, branch: &str, note: &str) -> Result<()> {
        self.inner
            .reference_symbolic("HEAD", branch, true, note)
            .map_err(self.cannot("write HEAD"))?;
        self.clear_lock_of_written("HEAD")
    }

    /// Returns the repository's name: the last part of `origin`'s URL without `.git`, else of the root folder.
    pub fn name(&self) -> String {
        let origin = self.inner.find_remote("origin").ok();
        let url = origin
            .as_ref()
            .and_then(|remote| remote.url().ok())
            .unwrap_or_default();
        let last = url
            .trim_end_matches('/')
            .rsplit(['/', ':'])
            .next()
            .unwrap_or_default();
        let name = last.strip_suffix(".git").unwrap_or(last);
        if !name.is_empty() {
            return name.to_owned();
        }
        self.root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    /// Says whether git would ignore a path.
    pub fn is_ignored(&self, path: &str) -> bool {
        self.inner.is_path_ignored(path).unwrap_or(false)
    }
}

/// The error of a branch that is another's second name: what is committed would move that one.
fn another_name(head: &Head, other: &str) -> Error {
    let short = |name: &str| name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    let branch = head.branch.as_deref().map(short).unwrap_or_default();
    let other = short(other);
    Error::unsafe_repo(format!(
        "the branch {} is only another name of {}",
        exact::shown(&branch),
        exact::shown(&other)
    ))
    .hint(format!(
        "check out that one, as in `git switch {}`",
        text::shell_word(&other)
    ))
}
