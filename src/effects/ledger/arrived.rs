//! What gives a loop that rests something to do: new lines of the files that others write, too, and commits.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::effects::files;
use crate::effects::repo::Repo;
use crate::model::ledger as names;

/// The files that others write, each with what a new line of it is.
const SHARED: [(&str, &str); 2] = [
    (names::QUEUE, "there is new work in the queue"),
    (names::RETRIES, "a goal may be worked on again"),
];

/// What is there before anything arrives.
#[derive(Debug)]
pub struct Arrived {
    files: [Before; 2],
    commit: Option<String>,
}

/// A file as it was then.
#[derive(Debug)]
struct Before {
    stamp: Option<Stamp>,
    text: String,
}

/// Number, length and time of a file: it is read again where they differ only.
type Stamp = (u64, u64, i64, i64);

impl Arrived {
    /// Looks at the files as they are now: before a cycle reads them, so that nothing comes unseen between it and the rest.
    pub fn since_now(repo: &Repo) -> Arrived {
        Arrived {
            files: SHARED.map(|(name, _)| Before {
                stamp: stamp(repo, name),
                text: text(repo, name).unwrap_or_default(),
            }),
            commit: None,
        }
    }

    /// Looks at the commit that is there now: a cycle ends with one of its own.
    pub fn look_at_commit(&mut self, repo: &Repo) {
        self.commit = commit(repo);
    }

    /// Says what came since, if anything did. What cannot be read now has not come.
    pub fn news(&self, repo: &Repo) -> Option<&'static str> {
        let mut files = SHARED.iter().zip(&self.files);
        let of_file = files.find_map(|((name, words), before)| {
            if stamp(repo, name) == before.stamp {
                return None;
            }
            let now = text(repo, name)?;
            has_new_line(&before.text, &now).then_some(*words)
        });
        let is_moved = || commit(repo).is_some_and(|now| Some(now) != self.commit);
        of_file.or_else(|| is_moved().then_some("HEAD is at another commit"))
    }
}

fn stamp(repo: &Repo, name: &str) -> Option<Stamp> {
    let meta = fs::symlink_metadata(repo.root.join(name)).ok()?;
    Some((meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec()))
}

fn text(repo: &Repo, name: &str) -> Option<String> {
    files::read_exactly(&repo.root.join(name), names::most_bytes(name)).ok()
}

fn commit(repo: &Repo) -> Option<String> {
    repo.head().ok()?.commit
}

/// Says whether a text has a line that it did not have before.
fn has_new_line(before: &str, now: &str) -> bool {
    if before == now {
        return false;
    }
    let known: HashSet<&str> = before.lines().collect();
    let mut lines = now.lines().filter(|line| !line.trim().is_empty());
    lines.any(|line| !known.contains(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_new_that_was_not_there_and_is_not_empty() {
        for (before, now, expected) in [
            ("a\n", "a\n", false),
            ("a\n", "a\n\n", false),
            ("a\nb\n", "b\n", false),
            ("a\n", "a\nb\n", true),
            ("", "b", true),
            ("a\n", "b\n", true),
        ] {
            assert_eq!(has_new_line(before, now), expected, "{before:?} {now:?}");
        }
    }
}
