//! Where the caller is, which goals file is meant there, and whether a loop is at work.

use std::path::{Path, PathBuf};

use crate::cli::options::Global;
use crate::effects::journal::JournalFile;
use crate::effects::lock;
use crate::effects::repo::Repo;
use crate::effects::slot::Slot;
use crate::error::{Error, Kind, Result};
use crate::session::GoalsFile;

/// Returns the working directory.
pub fn current_dir() -> Result<PathBuf> {
    std::env::current_dir()
        .map_err(|cause| Error::internal(format!("cannot tell the working directory: {cause}")))
}

/// Finds the repository of the working directory, to steer what works in it; refuses a copy.
pub fn to_steer() -> Result<Repo> {
    let repo = Repo::discover(&current_dir()?)?;
    refuse_in_copy(&repo.root)?;
    Ok(repo)
}

/// Says where the goals are: `--goals`, relative to the caller, or GOALS.yaml in the root.
pub fn goals_file(global: &Global, repo: &Repo) -> Result<GoalsFile> {
    let Some(path) = &global.file.goals else {
        return Ok(GoalsFile::of_root(repo));
    };
    let absolute = current_dir()?.join(path);
    let folder = absolute
        .parent()
        .and_then(|folder| folder.canonicalize().ok());
    let real = match (folder, absolute.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        (None, _) | (_, None) => absolute.clone(),
    };
    let below_root = |path: &Path| {
        let below = path.strip_prefix(&repo.root).ok()?;
        Some(below.to_string_lossy().into_owned())
    };
    // A link outside may lead to a file inside, which then counts as one.
    let real = match below_root(&real) {
        Some(_) => real,
        None => real.canonicalize().unwrap_or(real),
    };
    let in_repo = below_root(&real);
    Ok(GoalsFile::new(real, in_repo, path.display().to_string()))
}

/// Refuses in a copy what is to be said of the repository that it was made of: nothing would come of it (exit 5).
pub fn refuse_in_copy(root: &Path) -> Result<()> {
    match Slot::copied_from(root) {
        None => Ok(()),
        Some(from) => {
            let from = from.display();
            let what = format!(
                "this is a copy that evolve made of {from}, and nothing comes of that here"
            );
            Err(Error::new(Kind::Locked, what).hint(format!(
                "it is to be said in {from}; what an agent found out goes where its brief says"
            )))
        }
    }
}

/// Refuses to write a file that people keep in the repository under a running cycle (exit 5), or over one that was cut short (exit 3).
pub fn refuse_beside_loop(repo: &Repo) -> Result<()> {
    match lock::holder(&repo.private.join("lock")) {
        None => refuse_unsettled(repo),
        Some(holder) => Err(Error::new(
            Kind::Locked,
            format!(
                "the loop is at work here (process {}), and could take that for a change of its agent's",
                holder.pid
            ),
        )
        .hint("wait until it has ended, or `evolve stop`")),
    }
}

/// Refuses to write where a session left a cycle to be settled: what is written now would count as its agent's, and be undone.
pub fn refuse_unsettled(repo: &Repo) -> Result<()> {
    match JournalFile::of(&repo.own_places()).is_there() {
        false => Ok(()),
        true => Err(Error::unsafe_repo(
            "a cycle of the loop was cut short and waits to be settled",
        )
        .hint("run `evolve --max-cycles=1` first, it puts everything back")),
    }
}
