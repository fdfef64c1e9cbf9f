//! The repository as objects and refs: reading, building trees and commits, moving refs by compare-and-swap. The only
//! place that knows git2. The working tree and the user's index are `workspace`'s business.

mod copies;
mod failure;
pub mod objects;
mod past;
mod reach;
mod refs;
mod trees;
mod whole;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use git2::{
    ConfigLevel, ErrorCode, ObjectType, Repository, RepositoryOpenFlags, RepositoryState,
    Signature, Sort,
};

use crate::effects::files;
use crate::effects::git::Git;
use crate::effects::guard::modules::Modules;
use crate::effects::guard::users::{self, Users};
use crate::effects::mirror::way_back::way_back_in;
use crate::effects::modes;
use crate::effects::pipes;
use crate::effects::places::Places;
use crate::effects::sandbox::Ground;
use crate::error::{Error, Kind, Result};
use crate::model::{exact, mask, text};

use failure::{broken, oid, refused};

pub use copies::Merged;
pub use past::Past;
pub use reach::Remembered;
pub use refs::SYMBOLIC;
pub use trees::{Difference, Entry, hash_blob};
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
    identity: Arc<OnceLock<(String, String)>>,
    /// It is a slot's: nobody but an agent and `evolve` is at work in it, and its history is thrown away.
    pub is_slot: bool,
    is_durable: bool,
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
    /// Opens the repository whose working tree holds `dir`.
    pub fn discover(dir: &Path) -> Result<Repo> {
        users::refuse_pipes()?;
        let repo = Repo::discover_to_read(dir)?;
        match repo.is_bare() {
            true => Err(Error::unsafe_repo(format!(
                "{} is a bare repository: there are no files to work on",
                repo.root.display()
            ))
            .hint("run evolve in a clone of it")),
            false => Ok(repo),
        }
    }

    /// Opens the repository that holds `dir`, to read its history: it may be a bare one, which is its own root.
    pub fn discover_to_read(dir: &Path) -> Result<Repo> {
        modes::refuse_shut(dir)?;
        pipes::refuse_git_above(dir)?;
        let inner = Repository::discover(dir).map_err(|cause| cannot_open(dir, &cause))?;
        let root = inner.workdir().unwrap_or(inner.path()).to_owned();
        // A path with a link in it would not be found again as the prefix of another.
        let root = root
            .canonicalize()
            .map_err(|cause| Error::io("open", &root, cause))?;
        let private = inner.path().join("evolve");
        let git = Git::at(&root);
        Ok(Repo {
            inner,
            root,
            private,
            git,
            modules: Arc::default(),
            users: Arc::default(),
            identity: Arc::default(),
            is_slot: false,
            is_durable: false,
        })
    }

    /// Opens a git directory for its refs alone: it need have no working tree.
    pub fn open_git_dir(git_dir: &Path) -> Result<Repo> {
        let inner = Repository::open_bare(git_dir).map_err(|cause| cannot_open(git_dir, &cause))?;
        Ok(Repo {
            inner,
            root: git_dir.to_owned(),
            private: git_dir.join("evolve"),
            git: Git::at(git_dir),
            modules: Arc::default(),
            users: Arc::default(),
            identity: Arc::default(),
            is_slot: false,
            is_durable: false,
        })
    }

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

    /// Finds the git directory for `dir` without opening the repository.
    pub fn places(dir: &Path) -> Option<Places> {
        if pipes::hides_git(dir) {
            return None;
        }
        let nowhere: [&OsStr; 0] = [];
        let git_dir = Repository::discover_path(dir, nowhere).ok()?;
        // Only that of a linked tree leads elsewhere; an agent may have written one for any other.
        let shared = git_dir
            .parent()
            .filter(|folder| folder.ends_with("worktrees"));
        let shared = shared.and_then(Path::parent).map(Path::to_owned);
        Some(Places {
            common: shared.unwrap_or_else(|| git_dir.clone()),
            private: git_dir.join("evolve"),
            git_dir,
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
        Ground::of_repo(&self.root, &self.own_places(), self.is_slot)
    }

    /// Opens the repository of a slot at `root`, and no other that may lie around it. `evolve`'s private directory is that of
    /// the repository the slot belongs to.
    pub fn open_slot(root: &Path, user: &Repo) -> Result<Repo> {
        let nowhere_else: [&OsStr; 0] = [];
        let inner = Repository::open_ext(root, RepositoryOpenFlags::NO_SEARCH, nowhere_else)
            .map_err(|cause| cannot_open(root, &cause))?;
        Ok(Repo {
            inner,
            root: root.to_owned(),
            private: user.private.clone(),
            git: user.git.elsewhere(root),
            // Those that are there are an agent's, or made by what ran beside one.
            modules: Arc::new(Modules::none()),
            users: user.users.clone(),
            identity: user.identity.clone(),
            is_slot: true,
            is_durable: false,
        })
    }

    /// Has libgit2 sync each object, ref and reflog that it writes, and the folders they are in: what the journal says was
    /// done is then on the disk. It notes its movements of branches also where the repository keeps no reflog. To be called before anything is asked of the repository, because libgit2 looks up its
    /// `core.fsyncObjectFiles` once.
    pub fn make_durable(&mut self) -> Result<()> {
        let path = self.private.join("durable.config");
        let wanted = b"[core]\n\tfsyncObjectFiles = true\n\tlogAllRefUpdates = true\n";
        if !files::read(&path).is_ok_and(|found| found == wanted) {
            files::replace(&path, wanted)?;
        }
        let config = self.inner.config();
        config
            .and_then(|mut config| config.add_file(&path, ConfigLevel::App, true))
            .map_err(broken("set up syncing"))?;
        self.is_durable = true;
        self.identity();
        Ok(())
    }

    /// Opens the same repository again: what another process did is then seen for certain.
    pub fn reopened(&self) -> Result<Repo> {
        let again = match self.is_slot {
            true => Repo::open_slot(&self.root, self),
            false => Repo::discover(&self.root),
        };
        match again {
            Ok(mut again) if again.root == self.root && again.private == self.private => {
                if self.is_durable {
                    again.make_durable()?;
                }
                again.git = self.git.clone();
                again.modules = self.modules.clone();
                again.users = self.users.clone();
                again.identity = self.identity.clone();
                Ok(again)
            }
            // There may be another repository around this one.
            Ok(_) | Err(_) => Err(Error::unsafe_repo(format!(
                "{} is no longer a git repository: its .git is gone or was replaced",
                self.root.display()
            ))
            .hint("the files are as the agent left them, nothing was done to them")),
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
        if let Some((what, way_out)) = in_progress(self.inner.state()) {
            return Err(Error::unsafe_repo(format!("{what} is in progress here")).hint(way_out));
        }
        match self.head()? {
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
            Head { branch: None, .. } => Err(Error::unsafe_repo(
                "HEAD is detached: there is no branch to commit to",
            )
            .hint("check out a branch, as in `git switch main` or `git switch -c maintenance`")),
            Head { commit: None, .. } => {
                Err(Error::unsafe_repo("this repository has no commit yet")
                    .hint("make the first one: `git add -A && git commit -m 'first commit'`"))
            }
        }
    }

    /// Ends a merge, rebase, cherry-pick or bisect that was left in progress; says which it was.
    pub fn end_operation(&self) -> Result<Option<&'static str>> {
        let found = in_progress(self.inner.state());
        if found.is_some() {
            self.inner
                .cleanup_state()
                .map_err(broken("end an operation in progress"))?;
        }
        Ok(found.map(|(what, _)| what))
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

    /// Returns the id of a commit's tree.
    pub fn tree_of(&self, commit: &str) -> Result<String> {
        Ok(self.commit(commit)?.tree_id().to_string())
    }

    fn commit(&self, id: &str) -> Result<git2::Commit<'_>> {
        self.inner
            .find_commit(oid(id)?)
            .map_err(broken("read a commit"))
    }

    fn tree(&self, id: &str) -> Result<git2::Tree<'_>> {
        self.inner
            .find_tree(oid(id)?)
            .map_err(broken("read a tree"))
    }

    /// Says whether `ancestor` is `commit` or an ancestor of it.
    pub fn descends(&self, commit: &str, ancestor: &str) -> Result<bool> {
        let (commit, ancestor) = (oid(commit)?, oid(ancestor)?);
        let descends = || self.inner.graph_descendant_of(commit, ancestor);
        Ok(commit == ancestor || descends().map_err(broken("compare commits"))?)
    }

    /// Returns the commits of `tip` that `start` does not have, newest first, and at most `limit` of them.
    pub fn commits_since(&self, start: &str, tip: &str, limit: usize) -> Result<Vec<Commit>> {
        let what = "list commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        walk.set_sorting(Sort::TOPOLOGICAL).map_err(broken(what))?;
        walk.push(oid(tip)?).map_err(broken(what))?;
        walk.hide(oid(start)?).map_err(broken(what))?;
        let mut commits = Vec::new();
        for id in walk.take(limit) {
            let commit = self
                .inner
                .find_commit(id.map_err(broken(what))?)
                .map_err(broken(what))?;
            let subject = commit.summary_bytes().unwrap_or_default();
            commits.push(Commit {
                id: commit.id().to_string(),
                subject: String::from_utf8_lossy(subject).into_owned(),
            });
        }
        Ok(commits)
    }

    /// Stores a commit without moving any ref. Its message may hold words of others: what a terminal would act on is left
    /// out, and what looks like a secret is masked.
    pub fn store_commit(&self, tree: &str, parent: &str, message: &str) -> Result<String> {
        let tree = self.tree(tree)?;
        if tree.is_empty() {
            // Git knows the empty tree without storing it, and misses it all the same when it checks its objects.
            let empty = self.inner.treebuilder(None).and_then(|tree| tree.write());
            empty.map_err(self.cannot("store a tree"))?;
        }
        let parent = self.commit(parent)?;
        self.write_commit(&tree, &[&parent], message)
    }

    fn write_commit(
        &self,
        tree: &git2::Tree<'_>,
        parents: &[&git2::Commit<'_>],
        message: &str,
    ) -> Result<String> {
        let message = mask::secrets(&text::clean(message));
        let signature = self.signature()?;
        let text = self
            .inner
            .commit_create_buffer(&signature, &signature, &message, tree, parents)
            .map_err(broken("make a commit"))?;
        // Not `Repository::commit`: where the disk is full that returns the id of nothing, and no error.
        let odb = self.inner.odb();
        odb.and_then(|odb| odb.write(ObjectType::Commit, &text))
            .map(|id| id.to_string())
            .map_err(self.cannot("store a commit"))
    }

    /// Turns a failure to write into an error that says what was tried, and where.
    fn cannot(&self, what: &str) -> impl Fn(git2::Error) -> Error {
        let what = format!("{what} in {}", self.inner.path().display());
        move |cause| refused(&what, &cause)
    }

    fn signature(&self) -> Result<Signature<'static>> {
        let now = crate::effects::clock::now();
        let time = git2::Time::new(now.timestamp(), 0);
        let (name, email) = self.identity();
        Signature::new(name, email, &time).map_err(broken("sign a commit"))
    }

    /// Returns name and address of who is configured to make commits.
    fn identity(&self) -> &(String, String) {
        self.identity.get_or_init(|| {
            let configured = self.inner.signature().ok();
            let (name, email) = match &configured {
                Some(found) => (found.name().ok(), found.email().ok()),
                None => (None, None),
            };
            let or = |found: Option<&str>, default: &str| found.unwrap_or(default).to_owned();
            (or(name, "evolve"), or(email, "evolve@localhost"))
        })
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
        let until = Instant::now() + REF_PATIENCE;
        loop {
            let moved = self
                .inner
                .reference_matching(name, oid(new)?, true, oid(old)?, note);
            match moved {
                Ok(_) => return Ok(true),
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
            .map(|_| ())
            .map_err(self.cannot("write HEAD"))
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

fn cannot_open(dir: &Path, cause: &git2::Error) -> Error {
    let shown = dir.display();
    match cause.code() {
        ErrorCode::NotFound => match way_back_in(dir) {
            Some(way_back) => Error::unsafe_repo(format!(
                "{shown} is not in a git repository: its .git is gone since an agent worked there"
            ))
            .hint(format!(
                "this puts it back as it was before the agent: `{way_back}`"
            )),
            None => Error::unsafe_repo(format!("{shown} is not in a git repository"))
                .hint("run evolve in one, name it with `-C DIR`, or make one with `git init`"),
        },
        ErrorCode::Owner => {
            Error::unsafe_repo(format!("{shown} belongs to another user")).hint(format!(
                "if you trust it: `git config --global --add safe.directory {}`",
                text::shell_word(dir.as_os_str().as_bytes())
            ))
        }
        _ => Error::new(
            Kind::Unsafe,
            format!("cannot open the repository of {shown}: {}", cause.message()),
        )
        .hint("evolve needs a repository that libgit2 reads: SHA-1, files as ref storage"),
    }
}

/// Names an operation in progress, with the way out of it.
fn in_progress(state: RepositoryState) -> Option<(&'static str, &'static str)> {
    match state {
        RepositoryState::Clean => None,
        RepositoryState::Merge => Some((
            "a merge",
            "finish it with `git commit`, or end it with `git merge --abort`",
        )),
        RepositoryState::Revert | RepositoryState::RevertSequence => Some((
            "a revert",
            "finish it with `git revert --continue`, or end it with `git revert --abort`",
        )),
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => Some((
            "a cherry-pick",
            "finish it with `git cherry-pick --continue`, or end it with `git cherry-pick --abort`",
        )),
        RepositoryState::Bisect => Some(("a bisect", "end it with `git bisect reset`")),
        RepositoryState::Rebase
        | RepositoryState::RebaseInteractive
        | RepositoryState::RebaseMerge => Some((
            "a rebase",
            "finish it with `git rebase --continue`, or end it with `git rebase --abort`",
        )),
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => Some((
            "a `git am`",
            "finish it with `git am --continue`, or end it with `git am --abort`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_of_another_user_is_refused_with_the_way_to_trust_it() {
        let owner = git2::Error::new(ErrorCode::Owner, git2::ErrorClass::Config, "not owned");
        let error = cannot_open(Path::new("/srv/theirs"), &owner);
        assert_eq!(error.kind, Kind::Unsafe);
        assert_eq!(
            error.to_string(),
            "/srv/theirs belongs to another user\n\
             hint: if you trust it: `git config --global --add safe.directory /srv/theirs`"
        );
    }
}
