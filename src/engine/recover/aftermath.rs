//! What a person did to the tree after a session had died, before this start: an undo must not take it along.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::effects::files;
use crate::effects::journal::{Journal, JournalFile, Phase};
use crate::effects::repo::Repo;
use crate::effects::workspace::{Later, Workspace, some_of};
use crate::error::{Error, Result};
use crate::model::{exact, text};

/// How many files a refusal lists.
const SHOWN: usize = 10;

/// Keeps what is later than the dead session's end apart from what is undone, and says what was done. Refuses, before anything is
/// undone, where that cannot be (exit 3). In a slot nobody is at work but the agent.
pub fn keep_apart(
    repo: &Repo,
    journal_file: &JournalFile,
    journal: &mut Journal,
) -> Result<Vec<String>> {
    let (Some(end), None) = (journal.ended, &journal.slot) else {
        return Ok(Vec::new());
    };
    let is_undo = matches!(journal.phase, Phase::Agent | Phase::Undoing);
    let (true, Some(start)) = (
        is_undo || journal.phase == Phase::Sweeping,
        &mut journal.start,
    ) else {
        return Ok(Vec::new());
    };
    let workspace = Workspace { repo };
    if journal.phase == Phase::Agent && workspace.is_left_to_others(start)? {
        return Ok(Vec::new());
    }
    let later = workspace.look_for_later(start, end)?;
    if !later.refused.is_empty() {
        return Err(refuse(&workspace, &later)?);
    }
    let mut notes = Vec::new();
    if is_undo {
        notes.extend(workspace.leave_as_they_are(start, &later.stays)?);
        notes.extend(told(&later));
    }
    // From here on the end that counts is this start's own: it writes to the tree.
    journal.ended = None;
    journal_file.write(journal)?;
    Ok(notes)
}

/// Says what stays as somebody left it, and what does not.
fn told(later: &Later) -> Vec<String> {
    let lists = [
        (
            "written after the session had died, and left as it is",
            &(&later.stays - &later.in_the_way),
        ),
        (
            "written after the session had died, where a file is that comes back, and moved out of its way",
            &later.in_the_way,
        ),
        (
            "removed by the agent, or after the session had died, and back",
            &later.gone,
        ),
    ];
    let some = lists.iter().filter(|(_, paths)| !paths.is_empty());
    some.map(|(what, paths)| format!("{what}: {}", some_of(&shown(paths))))
        .collect()
}

fn shown(paths: &BTreeSet<Vec<u8>>) -> Vec<String> {
    let names = paths.iter().map(|path| String::from_utf8_lossy(path));
    names.map(|name| text::clean_line(&name)).collect()
}

/// Makes ready what the user is told to do, so that the stash holds his changes alone.
fn refuse(workspace: &Workspace<'_>, later: &Later) -> Result<Error> {
    let both = workspace.unstage(later)?;
    let list = workspace.repo.private.join("later");
    let paths = &later.refused;
    let known = workspace.repo.modules.known();
    let is_module = |path: &Vec<u8>| known.contains_key(&exact::decode(path));
    if paths.len() > SHOWN {
        let files = paths.iter().filter(|path| !is_module(path));
        let ended = files.flat_map(|path| path.iter().copied().chain([0]));
        files::replace(&list, &ended.collect::<Vec<_>>())?;
    }
    let error = refusal(paths, &is_module, &list);
    Ok(match both.is_empty() {
        true => error,
        false => error.hint(format!(
            "what the agent had staged of {} before that may be in your version; it alone is in the stash, too (`git show 'stash@{{0}}^2:FILE'`)",
            some_of(&shown(&both))
        )),
    })
}

/// `list` is a file with all of the paths, where they are many, but for those of submodules: each of these has a stash of its own.
fn refusal(paths: &BTreeSet<Vec<u8>>, is_module: &dyn Fn(&Vec<u8>) -> bool, list: &Path) -> Error {
    let (count, names) = (paths.len(), shown(paths));
    let lines: String = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("\n  {name}"))
        .collect();
    let more = match count.saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("\n  … and {more} more"),
    };
    let (noun, verb) = match count {
        1 => ("file", "was"),
        _ => ("files", "were"),
    };
    let (modules, files): (Vec<_>, Vec<_>) = paths.iter().partition(|path| is_module(path));
    let stash = "git stash push --include-untracked";
    let own = match (files.is_empty(), count <= SHOWN) {
        (true, _) => None,
        (false, true) => {
            let words: Vec<_> = files.iter().map(text::shell_word).collect();
            Some(format!("{stash} -- {}", words.join(" ")))
        }
        (false, false) => Some(format!(
            "{stash} --pathspec-from-file={} --pathspec-file-nul",
            text::shell_word(list.as_os_str().as_bytes())
        )),
    };
    let within = modules.iter().map(text::shell_word);
    let within = within.map(|module| stash.replacen("git", &format!("git -C {module}"), 1));
    let ways: Vec<_> = own.into_iter().chain(within).collect();
    let ways = ways
        .iter()
        .map(|way| format!("`{way}`"))
        .collect::<Vec<_>>()
        .join(" and ");
    Error::unsafe_repo(format!(
        "{count} {noun} {verb} changed or staged after a session that was cut short had ended; undoing what its agent left would take that along:{lines}{more}"
    ))
    .hint(format!(
        "put it aside with {ways}, run evolve again, then `git stash pop`; or commit it: what the agent left stays beside it then"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(count: usize) -> BTreeSet<Vec<u8>> {
        (0..count)
            .map(|number| format!("f {number:02}").into_bytes())
            .collect()
    }

    #[test]
    fn a_refusal_lists_the_first_ten_files_and_says_how_to_put_them_aside() {
        let one = refusal(&paths(1), &|_| false, Path::new("a list"));
        assert!(one.message.starts_with("1 file was changed"), "{one}");
        let hint = one.hints.join(" ");
        assert!(
            hint.contains("git stash push --include-untracked -- 'f 00'`"),
            "{hint}"
        );
        let ten = refusal(&paths(10), &|_| false, Path::new("a list"));
        assert!(ten.message.ends_with("\n  f 09"), "{ten}");
        let more = refusal(&paths(12), &|_| false, Path::new("a list"));
        assert!(more.message.ends_with("\n  f 09\n  … and 2 more"), "{more}");
        let hint = more.hints.join(" ");
        assert!(
            hint.contains("--pathspec-from-file='a list' --pathspec-file-nul`"),
            "{hint}"
        );
    }

    #[test]
    fn what_is_in_a_submodule_goes_to_its_own_stash() {
        let is_module = |path: &Vec<u8>| path == b"f 00";
        let both = refusal(&paths(2), &is_module, Path::new("a list"));
        let hint = both.hints.join(" ");
        assert!(
            hint.contains("`git stash push --include-untracked -- 'f 01'` and `git -C 'f 00' stash push --include-untracked`"),
            "{hint}"
        );
        let only = refusal(&paths(1), &is_module, Path::new("a list"));
        let hint = only.hints.join(" ");
        assert!(
            hint.contains("aside with `git -C 'f 00' stash push --include-untracked`,"),
            "{hint}"
        );
    }
}
