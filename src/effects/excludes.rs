//! The private excludes file that the agent's git is given: the user's own excludes, the untracked files that were there
//! before, and the ledger, so that its `git add -A` passes them by.

use std::path::PathBuf;

use crate::effects::files;
use crate::effects::git::Settings;
use crate::effects::guard::users;
use crate::effects::keep::Kept;
use crate::effects::places;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::ledger;

/// The most bytes of the user's excludes that are read.
const READ_LIMIT: u64 = 16 << 20;

/// Writes the excludes for one run of an agent and returns the file.
pub fn write(repo: &Repo, of_git: &Settings, kept: &Kept) -> Result<PathBuf> {
    let mut lines = always(repo, of_git);
    for path in kept.listed_paths().filter(|path| kept.is_users(path)) {
        lines.push(b'/');
        lines.extend(escaped(&path));
        lines.push(b'\n');
    }
    let path = repo.private.join("excludes");
    files::replace(&path, &lines)?;
    Ok(path)
}

/// Writes the excludes for agents in slots, where none of the user's untracked files is.
pub fn of_slot(user: &Repo, of_git: &Settings) -> Result<PathBuf> {
    let lines = always(user, of_git);
    let path = user.private.join("search/excludes");
    files::replace_unsynced(&path, &lines)?;
    Ok(path)
}

/// Returns what every agent's git passes by: the user's own excludes and the ledger.
fn always(repo: &Repo, of_git: &Settings) -> Vec<u8> {
    let mut lines = users_own(repo, of_git);
    if !lines.is_empty() && !lines.ends_with(b"\n") {
        lines.push(b'\n');
    }
    lines.extend_from_slice(format!("/{}/\n/{}\n", ledger::FOLDER, ledger::QUEUE).as_bytes());
    lines
}

/// Returns what the user's own `core.excludesFile` says, or git's default for it.
pub fn users_own(repo: &Repo, of_git: &Settings) -> Vec<u8> {
    let mut set = of_git.values(|name| name == b"core.excludesfile");
    let set = set.next_back().map(String::from_utf8_lossy);
    let configured = set.and_then(|path| match is_plain(&path) {
        true => Some(users::in_home(path.trim())),
        false => expanded(repo),
    });
    let default = || {
        let folder = places::of_user("XDG_CONFIG_HOME", ".config");
        folder.map(|folder| folder.join("git/ignore"))
    };
    let file = configured.or_else(default);
    let read = |file: PathBuf| files::read_followed(&file, READ_LIMIT).ok().flatten();
    file.and_then(read).unwrap_or_default()
}

/// Returns the lines of the `.gitignore` of a folder as they would stand in one of the folder that its path goes from.
pub fn below(folder: &[u8], rules: &[u8]) -> Vec<u8> {
    let rules = rules.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rules);
    let mut lines = Vec::new();
    for line in rules.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let (not, pattern) = match line.strip_prefix(b"!") {
            Some(pattern) => (&b"!"[..], pattern),
            None => (&b""[..], line),
        };
        lines.extend_from_slice(not);
        if !folder.is_empty() {
            // Blanks at the end mean nothing, nor does a slash there for where it begins.
            let end = pattern.iter().rposition(|byte| *byte != b' ');
            let is_anchored = pattern[..end.unwrap_or(0)].contains(&b'/');
            lines.push(b'/');
            lines.extend(escaped(folder));
            lines.extend_from_slice(if is_anchored { b"/" } else { b"/**/" });
        }
        lines.extend_from_slice(match folder.is_empty() {
            true => pattern,
            false => pattern.strip_prefix(b"/").unwrap_or(pattern),
        });
        lines.push(b'\n');
    }
    lines
}

/// Says whether a path as it is set means what it says, the home directory of this user aside: not `~other/`, `%(prefix)/`, nor
/// `:(optional)`.
fn is_plain(path: &str) -> bool {
    !path.starts_with(['%', ':']) && (path.starts_with("~/") || !path.starts_with('~'))
}

/// Returns the path as git itself reads it: below the home of another user, or where git is installed.
fn expanded(repo: &Repo) -> Option<PathBuf> {
    let asked = ["config", "--type=path", "--get", "core.excludesFile"];
    let path = repo.git.run(&asked).ok()?;
    Some(PathBuf::from(String::from_utf8_lossy(&path).trim()))
}

/// Escapes what means something in a pattern, which can hold no line break, nor end in a carriage return: any one letter stands for
/// these.
fn escaped(path: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::new();
    for (index, byte) in path.iter().enumerate() {
        if matches!(byte, b'\\' | b'*' | b'?' | b'[' | b']' | b' ' | b'#' | b'!') {
            pattern.push(b'\\');
        }
        let is_last = index + 1 == path.len();
        pattern.push(match byte {
            b'\n' => b'?',
            b'\r' if is_last => b'?',
            byte => *byte,
        });
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::{below, escaped, is_plain};

    #[test]
    fn rules_of_a_folder_mean_the_same_above_it() {
        let rules = b"\xef\xbb\xbf*.o\r\n# words\n\n/build\n!keep/\ndocs/*.html\n\\#x \n";
        let above =
            b"/a\\*/**/*.o\n/a\\*/build\n!/a\\*/**/keep/\n/a\\*/docs/*.html\n/a\\*/**/\\#x \n";
        assert_eq!(below(b"a*", rules), above);
        assert_eq!(
            below(b"", rules),
            b"*.o\n/build\n!keep/\ndocs/*.html\n\\#x \n"
        );
    }

    #[test]
    fn a_path_that_means_more_than_it_says_is_left_to_git() {
        for path in ["~/x", "/x", "x", ""] {
            assert!(is_plain(path), "{path}");
        }
        for path in ["~other/x", "~", "%(prefix)/x", ":(optional)~/x"] {
            assert!(!is_plain(path), "{path}");
        }
    }

    #[test]
    fn a_path_is_escaped_so_that_it_means_only_itself() {
        assert_eq!(escaped(b"a b*[x].txt"), b"a\\ b\\*\\[x\\].txt");
        assert_eq!(escaped(b"a\nb"), b"a?b");
        assert_eq!(escaped(b"a\rb\r"), b"a\rb?");
    }
}
