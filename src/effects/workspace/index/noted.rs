//! Which tracked files are not as the index has noted them. In a large tree git is asked about these alone: it looks at files by their
//! whole paths, which takes several times as long as going from one to the next.

use std::path::Path;

use super::restat::MANY;
use crate::effects::files::{self, Moment};
use crate::effects::git::{Listed, Noted, each_indexed};
use crate::effects::near::{Near, Seen};
use crate::effects::parallel::side_by_side;
use crate::effects::repo::WrittenIndex;
use crate::effects::workspace::Workspace;

/// How many files git is asked about one by one: their names are on its command line.
const MOST: usize = 500;

/// A file as the index has it.
struct Entry {
    /// Where its path ends in the list of all of them.
    end: usize,
    mode: u32,
    noted: Noted,
    /// Git has the last word, whatever is noted.
    is_open: bool,
}

impl Workspace<'_> {
    /// Returns the tracked files of which git may say that they are not as the `index` has them, in its order; all others it would
    /// call unchanged. Nothing where it is to be asked about all: in a small tree, of a conflict, of very many files, and wherever it
    /// is the one to read the index.
    pub(in crate::effects::workspace) fn unlike_noted(
        &self,
        index: Option<&WrittenIndex>,
    ) -> Option<Vec<Vec<u8>>> {
        let WrittenIndex { bytes, written } = index?;
        let (mut paths, mut entries) = (Vec::new(), Vec::new());
        let mut has_conflict = false;
        each_indexed(bytes, |one: &Listed<'_>| {
            has_conflict |= one.stage != 0;
            if one.is_assumed {
                return;
            }
            paths.extend_from_slice(one.path);
            entries.push(Entry {
                end: paths.len(),
                mode: one.mode,
                noted: one.noted,
                is_open: one.is_intended || is_racy(one.noted, *written),
            });
        })?;
        if has_conflict || entries.len() < MANY {
            return None;
        }
        let root = &*self.repo.root;
        let (first, second) = entries.split_at(entries.len() / 2);
        let begin = first.last().map_or(0, |entry| entry.end);
        let look = |begin, entries| Ok(unlike(root, &paths, begin, entries));
        let both = side_by_side(|| look(0, first), || look(begin, second));
        let (mut found, rest) = both.ok()?;
        found.extend(rest);
        (found.len() <= MOST).then_some(found)
    }
}

/// Returns the paths of the files that are not as noted; the first begins at `begin` of all paths.
fn unlike(root: &Path, paths: &[u8], mut begin: usize, entries: &[Entry]) -> Vec<Vec<u8>> {
    let mut near = Near::below(root);
    let mut found = Vec::new();
    // The folder of the file before, and whether it is a real one.
    let mut last: Option<(&[u8], bool)> = None;
    for entry in entries {
        let path = &paths[begin..entry.end];
        begin = entry.end;
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let folder = &path[..slash.map_or(0, |at| at + 1)];
        let is_real = match last {
            Some((last, is_real)) if last == folder => is_real,
            Some(_) | None => files::is_beneath(root, folder),
        };
        last = Some((folder, is_real));
        let is_as_noted = !entry.is_open
            && is_real
            && near
                .look(path)
                .is_some_and(|seen| is_kind(entry.mode, seen) && is_noted(entry.noted, seen));
        if !is_as_noted && found.len() <= MOST {
            found.push(path.to_vec());
        }
    }
    found
}

/// Says whether a file may have been changed in the moment after git noted it: the index is not newer than its content.
fn is_racy(noted: Noted, written: Moment) -> bool {
    i64::from(noted.modified.0) >= written.0
}

/// Says whether what is seen is what a mode of the index says: a link, or a file that can be executed or not. Where a system has no
/// such thing, and for a submodule, git has to tell.
fn is_kind(mode: u32, seen: Seen) -> bool {
    const EXECUTABLE: u32 = 0o100;
    match mode {
        0o120_000 => seen.is_link(),
        0o100_644 => seen.is_file() && seen.mode & EXECUTABLE == 0,
        0o100_755 => seen.is_file() && seen.mode & EXECUTABLE != 0,
        _ => false,
    }
}

/// Says whether all is as noted, by the lower 32 bits of each number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the index has no more of them"
)]
fn is_noted(noted: Noted, seen: Seen) -> bool {
    let moment = |(seconds, nanos): Moment| (seconds as u32, nanos as u32);
    let now = Noted {
        changed: moment(seen.changed),
        modified: moment(seen.modified),
        inode: seen.place.1 as u32,
        owner: seen.owner,
        group: seen.group,
        size: seen.size as u32,
    };
    now == noted
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTED: Noted = Noted {
        changed: (7, 8),
        modified: (5, 6),
        inode: 4,
        owner: 3,
        group: 2,
        size: 1,
    };

    fn seen() -> Seen {
        Seen {
            mode: 0o100_644,
            owner: 3,
            group: 2,
            size: 1,
            modified: (5, 6),
            changed: (7, 8),
            place: (9, 4),
        }
    }

    #[test]
    fn a_file_is_as_noted_if_each_number_is() {
        assert!(is_noted(NOTED, seen()));
        let changes: [fn(&mut Seen); 8] = [
            |seen| seen.owner = 0,
            |seen| seen.group = 0,
            |seen| seen.size = 0,
            |seen| seen.modified.0 = 0,
            |seen| seen.modified.1 = 0,
            |seen| seen.changed.0 = 0,
            |seen| seen.changed.1 = 0,
            |seen| seen.place.1 = 0,
        ];
        for change in changes {
            let mut other = seen();
            change(&mut other);
            assert!(!is_noted(NOTED, other), "{other:?}");
        }
        // Of longer numbers the index has only a part.
        let long = Seen {
            size: (1 << 32) + 1,
            place: (9, (3 << 32) + 4),
            ..seen()
        };
        assert!(is_noted(NOTED, long));
    }

    #[test]
    fn a_file_that_is_as_old_as_the_index_may_have_been_changed_since() {
        let at = |seconds, nanos| is_racy(NOTED, (seconds, nanos));
        assert_eq!([at(4, 9), at(5, 9), at(6, 0)], [true, true, false]);
    }

    /// Runs a script in a repository of more files than are looked at one by one, all as old as the hills.
    fn shell(root: &Path, script: &str) {
        let mut shell = std::process::Command::new("sh");
        shell.current_dir(root).args(["-ec", script]);
        shell.env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = shell.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
    }

    fn large() -> (tempfile::TempDir, crate::effects::repo::Repo) {
        let yard = tempfile::tempdir().unwrap();
        let root = yard.path();
        for number in 0..MANY + 100 {
            let folder = root.join(format!("f/{}", number % 50));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(format!("n{number}")), "text\n").unwrap();
        }
        shell(
            root,
            "ln -s nowhere link; find . -exec touch -h -d 2001-02-03 {} +
             git init -q; git config user.name T; git config user.email t@t.invalid
             git add --all; git commit -qm first",
        );
        let repo = crate::effects::repo::Repo::discover(root).unwrap();
        (yard, repo)
    }

    #[test]
    fn what_git_calls_changed_in_a_large_tree_is_what_it_says_where_it_is_asked_about_all() {
        let (yard, repo) = large();
        let workspace = Workspace { repo: &repo };
        assert_eq!(
            workspace.unlike_noted(repo.index().as_ref()),
            Some(Vec::new())
        );
        for (what, script) in [
            (
                "edited to the same length and dated back",
                "echo TEXT >f/1/n1; touch -d 2001-02-03 f/1/n1",
            ),
            ("made executable", "chmod +x f/2/n2"),
            ("removed", "rm f/3/n3"),
            ("made a link", "ln -sf n4 f/4/n54"),
            (
                "a folder where a file was",
                "rm f/5/n5; mkdir f/5/n5; echo >f/5/n5/x",
            ),
            ("a link to another place", "ln -sfn elsewhere link"),
            (
                "a folder that was moved and linked",
                "mv f/6 g; ln -s ../g f/6",
            ),
            ("only to be added", "echo new >new; git add -N new"),
            ("staged", "echo more >>f/7/n7; git add f/7/n7"),
            (
                "staged and edited again",
                "echo more >>f/8/n8; git add f/8/n8; echo again >>f/8/n8",
            ),
            ("new and staged", "echo >staged; git add staged"),
            ("taken out of the index", "git rm -q --cached f/9/n9"),
            ("removed and staged", "git rm -q f/10/n10"),
            (
                "not looked at",
                "git update-index --assume-unchanged f/11/n11; echo >f/11/n11",
            ),
            (
                "forgotten",
                "git ls-files -s f/12/n12 | git update-index --index-info",
            ),
        ] {
            shell(yard.path(), script);
            let asked = crate::effects::workspace::status::read_tracked(&repo.git).unwrap();
            let unlike = workspace.unlike_noted(repo.index().as_ref()).expect(what);
            assert!(unlike.len() < 100, "{what}: {}", unlike.len());
            let found = workspace.tracked_state(repo.index().as_ref()).unwrap();
            let sorted = |mut paths: Vec<Vec<u8>>| {
                paths.sort();
                paths
            };
            assert_eq!(sorted(found.dirty), sorted(asked.dirty), "{what}");
            assert_eq!(sorted(found.unstaged), sorted(asked.unstaged), "{what}");
        }
        let conflict = "id=$(git rev-parse HEAD:f/13/n13)
            printf '100644 %s 1\\tf/13/n13\\n100644 %s 2\\tf/13/n13\\n' $id $id | git update-index --index-info";
        shell(yard.path(), conflict);
        assert_eq!(workspace.unlike_noted(repo.index().as_ref()), None);
        let unmerged = workspace
            .tracked_state(repo.index().as_ref())
            .unwrap()
            .unmerged;
        assert_eq!(unmerged, [b"f/13/n13"]);
    }

    #[test]
    fn the_kind_of_a_file_is_that_of_its_mode() {
        let is = |mode, seen_mode| {
            let mode_seen = Seen {
                mode: seen_mode,
                ..seen()
            };
            is_kind(mode, mode_seen)
        };
        for (mode, seen_mode) in [
            (0o100_644, 0o100_644),
            (0o100_644, 0o100_600),
            (0o100_755, 0o100_700),
            (0o120_000, 0o120_777),
        ] {
            assert!(is(mode, seen_mode), "{mode:o} {seen_mode:o}");
        }
        for (mode, seen_mode) in [
            (0o100_644, 0o100_755),
            (0o100_755, 0o100_644),
            (0o100_644, 0o120_777),
            (0o100_644, 0o040_755),
            (0o120_000, 0o100_644),
            (0o160_000, 0o040_755),
        ] {
            assert!(!is(mode, seen_mode), "{mode:o} {seen_mode:o}");
        }
    }
}
