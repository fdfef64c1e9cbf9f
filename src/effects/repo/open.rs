//! Opening repositories, and finding their places without.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{ConfigLevel, ErrorCode, Repository, RepositoryOpenFlags};

use super::Repo;
use super::failure::broken;
use crate::effects::git::Git;
use crate::effects::guard::modules::Modules;
use crate::effects::guard::users;
use crate::effects::mirror::way_back::way_back_in;
use crate::effects::pipes::Plain;
use crate::effects::places::{self, Places};
use crate::effects::{files, modes, pipes};
use crate::error::{Error, Kind, Result};
use crate::model::text;

impl Repo {
    /// Opens the repository whose working tree holds `dir`.
    pub fn discover(dir: &Path) -> Result<Repo> {
        Repo::discover_again(dir, Arc::default())
    }

    /// Does the same, where some is known of its folders.
    fn discover_again(dir: &Path, plain: Arc<Plain>) -> Result<Repo> {
        users::refuse_pipes()?;
        let repo = Repo::discover_knowing(dir, plain)?;
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
        Repo::discover_knowing(dir, Arc::default())
    }

    fn discover_knowing(dir: &Path, plain: Arc<Plain>) -> Result<Repo> {
        modes::refuse_shut(dir)?;
        pipes::refuse_git_above(dir, &plain)?;
        let inner = open_around(dir)?;
        let root = inner.workdir().unwrap_or(inner.path()).to_owned();
        // A path with a link in it would not be found again as the prefix of another.
        let root = root
            .canonicalize()
            .map_err(|cause| Error::io("open", &root, cause))?;
        let private = inner.path().join("evolve");
        let git = Git::at(&root);
        Ok(Repo {
            inner,
            home: root.clone(),
            root,
            private,
            git,
            modules: Arc::default(),
            users: Arc::default(),
            identity: Arc::default(),
            sharing: Arc::default(),
            is_slot: false,
            is_durable: false,
            leads: Arc::default(),
            plain,
        })
    }

    /// Opens a git directory for its refs alone: it need have no working tree.
    pub fn open_git_dir(git_dir: &Path) -> Result<Repo> {
        let inner = Repository::open_bare(git_dir).map_err(|cause| cannot_open(git_dir, &cause))?;
        Ok(Repo {
            inner,
            root: git_dir.to_owned(),
            home: git_dir.to_owned(),
            private: git_dir.join("evolve"),
            git: Git::at(git_dir),
            modules: Arc::default(),
            users: Arc::default(),
            identity: Arc::default(),
            sharing: Arc::default(),
            is_slot: false,
            is_durable: false,
            leads: Arc::default(),
            plain: Arc::default(),
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

    /// Opens the repository of a slot at `root`, and no other that may lie around it. `evolve`'s private directory is that of
    /// the repository the slot belongs to.
    pub fn open_slot(root: &Path, user: &Repo) -> Result<Repo> {
        let nowhere_else: [&OsStr; 0] = [];
        let inner = Repository::open_ext(root, RepositoryOpenFlags::NO_SEARCH, nowhere_else)
            .map_err(|cause| cannot_open(root, &cause))?;
        Ok(Repo {
            inner,
            root: root.to_owned(),
            home: user.home.clone(),
            private: user.private.clone(),
            git: user.git.elsewhere(root),
            // Those that are there are an agent's, or made by what ran beside one.
            modules: Arc::new(Modules::none()),
            users: user.users.clone(),
            identity: user.identity.clone(),
            sharing: Arc::default(),
            is_slot: true,
            is_durable: false,
            leads: user.leads.clone(),
            plain: user.plain.clone(),
        })
    }

    /// Has libgit2 forget what it read. It would hold the trees and commits of every cycle, up to 256 MB, and hardly one of them is
    /// asked for twice.
    pub fn hold_no_objects() {
        git2::opts::enable_caching(false);
    }

    /// Has libgit2 sync each object, ref and reflog that it writes, and the folders they are in: what the journal says was
    /// done is then on the disk. It notes its movements of branches also where the repository keeps no reflog. To be called before
    /// anything is asked of the repository, because libgit2 looks up its `core.fsyncObjectFiles` once.
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
        if self.sharing.get().is_none() {
            // What an earlier session left; later it would be a change of modes beside an agent.
            self.share_objects();
        }
        Ok(())
    }

    /// Says whether git was told that names which differ by case alone are the same file, and the file system has them apart: the setting
    /// came along with a repository that was copied from another system.
    pub fn misjudges_case(&self) -> bool {
        let config = self.inner.config();
        let is_told = config.and_then(|config| config.get_bool("core.ignorecase"));
        let stamp = |name| {
            let meta = fs::symlink_metadata(self.root.join(name)).ok()?;
            Some((meta.dev(), meta.ino()))
        };
        is_told.unwrap_or(false) && stamp(".git").is_some() && stamp(".git") != stamp(".GIT")
    }

    /// Opens the same repository again: what another process did is then seen for certain.
    pub fn reopened(&self) -> Result<Repo> {
        let again = match self.is_slot {
            true => Repo::open_slot(&self.root, self),
            false => Repo::discover_again(&self.root, self.plain.clone()),
        };
        match again {
            Ok(mut again) if again.root == self.root && again.private == self.private => {
                again.git = self.git.clone();
                again.modules = self.modules.clone();
                again.users = self.users.clone();
                again.identity = self.identity.clone();
                again.sharing = self.sharing.clone();
                if self.is_durable {
                    again.make_durable()?;
                }
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
}

/// Opens the repository around `dir` with the working tree in which its `.git` lies, as git does: that may be a file or a link
/// that leads to a git directory somewhere else.
fn open_around(dir: &Path) -> Result<Repository> {
    let nowhere: [&OsStr; 0] = [];
    let opened = Repository::open_ext(dir, RepositoryOpenFlags::CROSS_FS, nowhere);
    let inner = opened.map_err(|cause| cannot_open(dir, &cause))?;
    let leads_there = |folder: &Path| {
        Repository::discover_path(folder, nowhere).is_ok_and(|found| found == inner.path())
    };
    match inner.workdir() {
        Some(root) if !leads_there(root) => {}
        Some(_) | None => return Ok(inner),
    }
    // libgit2 takes the folder around a git directory for the working tree where a link leads to it.
    let absolute = dir.canonicalize();
    let absolute = absolute.map_err(|cause| Error::io("open", dir, cause))?;
    let has_git = |folder: &&Path| fs::symlink_metadata(folder.join(".git")).is_ok();
    match absolute.ancestors().find(has_git) {
        Some(root) if leads_there(root) => {
            let set = inner.set_workdir(root, false);
            set.map_err(|cause| cannot_open(dir, &cause))?;
            Ok(inner)
        }
        Some(_) | None => Err(Error::unsafe_repo(format!(
            "{} is a git directory, and its working tree lies elsewhere",
            inner.path().display()
        ))
        .hint("run evolve in the working tree, or name that with `-C DIR`")),
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
                "this puts it back as it was before the agent: {way_back}"
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
        _ => {
            let error = format!("cannot open the repository of {shown}: {}", cause.message());
            let error = Error::new(Kind::Unsafe, error);
            match shut_settings() {
                Some(file) => error.hint(format!(
                    "git reads {} first, and you may not: look at `ls -ld` of it and of the folders above, or set HOME (XDG_CONFIG_HOME) to a folder of yours",
                    text::shell_word(file.as_os_str().as_bytes())
                )),
                None if error.message.contains("failed to parse config file") => {
                    error.hint("mend that file, at the line that is named")
                }
                None => error.hint(
                    "evolve needs a repository that libgit2 reads: SHA-1, files as ref storage",
                ),
            }
        }
    }
}

/// Returns the file of the user's own settings for git that cannot be looked at, if there is one.
fn shut_settings() -> Option<PathBuf> {
    let of_home = std::env::home_dir().map(|home| home.join(".gitconfig"));
    let of_user = places::of_user("XDG_CONFIG_HOME", ".config");
    let files = [of_home, of_user.map(|folder| folder.join("git/config"))];
    let is_denied = |cause: std::io::Error| cause.kind() == std::io::ErrorKind::PermissionDenied;
    let is_shut = |file: &PathBuf| match fs::metadata(file) {
        // To open a pipe could wait for ever.
        Ok(meta) => meta.is_file() && fs::File::open(file).is_err_and(is_denied),
        Err(cause) => is_denied(cause),
    };
    files.into_iter().flatten().find(is_shut)
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
