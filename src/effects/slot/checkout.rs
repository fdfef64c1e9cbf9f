//! Writing the files of a commit into a slot.

use crate::effects::git::Git;
use crate::effects::repo::Repo;
use crate::error::{Error, Kind, Result};

/// The words that keep a command of git's settings together.
const QUOTES: [char; 2] = ['\'', '"'];
/// The programs of filters that look at nothing beside the file and git's own folder.
const ALONE: [&str; 4] = ["git-lfs ", "git lfs ", "git-crypt ", "\"git-crypt\" "];
/// What the user can do instead.
const WITHOUT: &str = "do without what needs one (--isolate, `measure: clean`, a search)";

/// Writes the files of the commit that a slot's index has, those first that are programs which its filters run.
pub fn check_out(repo: &Repo, user: &Repo, commit: &str) -> Result<()> {
    let programs = programs_of_filters(user, commit)?;
    write_programs(&repo.git, &programs)?;
    let all = ["checkout-index", "--all", "--force", "--quiet", "-u"];
    repo.git
        .run(&all)
        .map(|_| ())
        .map_err(|cause| match cause.is_of_machine() || cause.is_halt() {
            true => cause,
            false => told(user, &cause),
        })
}

/// Writes these files as the index has them.
pub fn write_programs(git: &Git, programs: &str) -> Result<()> {
    if programs.is_empty() {
        return Ok(());
    }
    let some = [
        "checkout-index",
        "--force",
        "--quiet",
        "-u",
        "-z",
        "--stdin",
    ];
    git.run_with(&some, programs.as_bytes()).map(drop)
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
        false if cause.kind == Kind::Unsafe => Error {
            message: format!("no copy of this repository can be made: {}", cause.message),
            ..cause.clone()
        },
        false => Error::unsafe_repo(format!(
            "no copy of this repository can be made: {}",
            cause.message
        ))
        .hint(format!(
            "{WITHOUT}, or look why a `git clone` with the same filters fails"
        )),
    }
}

/// Says whether filters write files that may be led by others: all but those that are known to look at nothing beside what they
/// write.
pub fn has_filters(user: &Repo) -> Result<bool> {
    let settings = user.copied_settings()?;
    let mut commands = settings.iter().filter(|(name, _)| {
        name.starts_with("filter.") && (name.ends_with(".smudge") || name.ends_with(".process"))
    });
    let is_alone = |command: &str| ALONE.iter().any(|known| command.starts_with(known));
    Ok(commands.any(|(_, command)| !command.as_deref().is_none_or(is_alone)))
}

/// Returns the files of the commit that the commands of filters name, each ended by a NUL.
pub fn programs_of_filters(user: &Repo, commit: &str) -> Result<String> {
    let settings = user.copied_settings()?;
    let mut commands = settings
        .iter()
        .filter(|(name, _)| name.starts_with("filter."))
        .peekable();
    if commands.peek().is_none() {
        return Ok(String::new());
    }
    let tree = user.tree_of(commit)?;
    let words = commands
        .filter_map(|(_, value)| value.as_deref())
        .flat_map(str::split_whitespace)
        .map(|word| word.trim_matches(QUOTES).trim_start_matches("./"));
    let mut files = String::new();
    for word in words {
        if user.has_file(&tree, word)? {
            files.push_str(word);
            files.push('\0');
        }
    }
    Ok(files)
}
