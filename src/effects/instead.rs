//! What lies in a working tree and would be taken in place of what checks run.

use std::collections::BTreeSet;
use std::path::Path;

use crate::effects::files::{self, is_beneath};
use crate::effects::repo::Repo;
use crate::model::check::Instead;
use crate::model::yardstick::Yardstick;

/// The most bytes of a file that may have nothing in it.
const BLANK_LIMIT: u64 = 1 << 10;

/// Returns what a tool would take in place of another file now, or a shell in place of a program, in the working tree at `root`, of
/// which `changed` are the files that a commit changes: one of these that makes a package may come where it has nothing in it.
pub fn taken(yardstick: &Yardstick, root: &Path, changed: &[String]) -> Vec<Instead> {
    let is_file = |path: &str| root.join(path).is_file();
    let mut taken = yardstick.taken_instead(&is_file);
    // What no commit holds, or what is elsewhere, is written to by whoever likes.
    let may_come = |path: &String| {
        changed.contains(path) && is_beneath(root, path.as_bytes()) && is_blank(&root.join(path))
    };
    taken.retain(|one| !one.is_package_of() || !may_come(&one.path));
    taken
}

/// Returns what of the files that differ from `tree` would have make take a target for done, in words.
pub fn taken_for_done(
    yardstick: &Yardstick,
    repo: &Repo,
    tree: &str,
    changed: &[String],
) -> BTreeSet<String> {
    let was_there = |path: &str| {
        let is_folder = repo.is_folder(tree, path.as_bytes());
        repo.may_have_file(tree, path) || is_folder.unwrap_or(false)
    };
    yardstick.taken_for_done(changed, &was_there)
}

/// Says whether nothing but white space is in a file. A comment may name an encoding by which it is none.
fn is_blank(file: &Path) -> bool {
    let is_file = file.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let bytes = files::read_bounded(file, BLANK_LIMIT).ok().flatten();
    is_file && bytes.is_some_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
}
