//! Writing the files of a commit into a slot.

use crate::effects::repo::Repo;
use crate::error::{Error, Result};

/// The words that keep a command of git's settings together.
const QUOTES: [char; 2] = ['\'', '"'];
/// What the user can do instead.
const WITHOUT: &str = "run without --isolate and `measure: clean`";

/// Writes the files of the commit that a slot's index has, those first that are programs which its filters run.
pub fn check_out(repo: &Repo, user: &Repo, commit: &str) -> Result<()> {
    let programs = filters(user, commit)?;
    if !programs.is_empty() {
        let some = [
            "checkout-index",
            "--force",
            "--quiet",
            "-u",
            "-z",
            "--stdin",
        ];
        repo.git.run_with(&some, programs.as_bytes())?;
    }
    let all = ["checkout-index", "--all", "--force", "--quiet", "-u"];
    repo.git
        .run(&all)
        .map(|_| ())
        .map_err(|cause| match cause.is_of_machine() || cause.is_halt() {
            true => cause,
            false => told(user, &cause),
        })
}

/// Says what keeps a copy from being made (exit 3).
fn told(user: &Repo, cause: &Error) -> Error {
    match user.is_partial() {
        true => Error::unsafe_repo(format!(
            "this is a partial clone, which has not all files that a copy of it needs: {}",
            cause.message
        ))
        .hint(format!(
            "{WITHOUT}, or get the files with `git fetch --refetch --no-filter`"
        )),
        false => Error::unsafe_repo(format!(
            "no copy of this repository can be made: {}",
            cause.message
        ))
        .hint(format!(
            "{WITHOUT}, or look why a `git clone` with the same filters fails"
        )),
    }
}

/// Returns the files of the commit that the commands of filters name, each ended by a NUL.
fn filters(user: &Repo, commit: &str) -> Result<String> {
    let tree = user.tree_of(commit)?;
    let settings = user.copied_settings()?;
    let commands = settings
        .iter()
        .filter(|(name, _)| name.starts_with("filter."));
    let words = commands
        .filter_map(|(_, value)| value.as_deref())
        .flat_map(str::split_whitespace)
        .map(|word| word.trim_matches(QUOTES).trim_start_matches("./"));
    let files = words.filter(|word| user.has_file(&tree, word));
    Ok(files.map(|file| format!("{file}\0")).collect())
}
