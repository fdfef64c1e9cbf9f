//! Tells which of the user's files have no copy while an agent works: once a session for each, in one line.

use crate::effects::keep::Kept;
use crate::effects::workspace::some_of;
use crate::session::Session;

/// Warns of what `kept` holds no copy of, unless that was said when `earlier` was made.
pub(super) fn warn(session: &Session, kept: &Kept, earlier: Option<&Kept>) {
    if kept.is_protection_cut && !earlier.is_some_and(|earlier| earlier.is_protection_cut) {
        session.events.warn(
            "`protect` names more files that git ignores than are held: 2,000 of them with 256 MiB in all, found among 50,000 entries of ignored folders; the others, and new ones, an agent could change",
        );
    }
    let is_said = |file: &String| earlier.is_some_and(|earlier| earlier.too_large.contains(file));
    let unsaid = kept.too_large.iter().filter(|file| !is_said(file));
    let (nested, large): (Vec<String>, Vec<String>) =
        unsaid.cloned().partition(|file| file.ends_with('/'));
    let is_said = |file: &&String| earlier.is_some_and(|earlier| earlier.unreadable.contains(file));
    let unreadable = kept.unreadable.iter().filter(|file| !is_said(file));
    let words = [
        (
            unreadable.cloned().collect(),
            "not readable for the user that runs evolve",
        ),
        (large, "untracked and too large to copy"),
        (
            nested,
            "with a repository of its own and too many files to copy them all",
        ),
    ];
    for (files, why) in words {
        let them = match files.len() {
            0 => continue,
            1 => "it",
            _ => "them",
        };
        session.events.warn(format!(
            "{why}, an agent could lose {them}: {}",
            some_of(&files)
        ));
    }
}
