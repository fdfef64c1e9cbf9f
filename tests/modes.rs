//! Modes by which an agent shuts out the user that runs it: they are given back, and the cycle is judged like any other.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::harness::TestRepo;

/// What an agent can do to modes with one command.
const SHUT: [&str; 18] = [
    "chmod 555 .",
    "chmod 000 .",
    "chmod 000 .git",
    "chmod 500 .git .git/refs .git/refs/heads",
    "chmod 500 .git/objects .git/objects/??",
    "chmod 000 .git/objects/??/*",
    "chmod 000 .git/HEAD .git/index .git/config",
    "chmod 000 .git/hooks .git/info .git/logs",
    "chmod 000 .git/refs; chmod 000 .git/logs/HEAD",
    "chmod 000 .git/evolve",
    "chmod -R a-rwx .git",
    "chmod 000 .agents",
    "chmod 000 .agents/evolve/* .agents/evolve",
    "chmod 000 GOALS.yaml tracked",
    "chmod 000 sub",
    "chmod 000 unt",
    "chmod 000 unt/f",
    "chmod -R 000 sub unt; chmod 000 .",
];

/// A repository with a tracked and an untracked folder, worked on by a user without special rights.
fn lived_in() -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: test -e a, weight: 5}\n  - {id: kept, description: d, check: test -e sub/kept, weight: 3}\n",
    );
    repo.write("sub/kept", "kept\n");
    repo.write("sub/deep/file", "deep\n");
    repo.write("tracked", "tracked\n");
    repo.commit_all("second");
    repo.write("unt/f", "untracked\n");
    set(&repo, "unt", 0o750);
    repo.by_normal_user()
}

fn set(repo: &TestRepo, path: &str, mode: u32) {
    fs::set_permissions(repo.path(path), Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

/// The modes of the folders of a tree, but for those of git's objects.
fn folders(repo: &TestRepo) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let mut folders = vec![repo.root()];
    while let Some(folder) = folders.pop() {
        found.insert(folder.display().to_string(), mode(&folder));
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap();
            let is_left_out = ["objects", "evolve", ".agents"]
                .iter()
                .any(|name| entry.file_name() == *name);
            if entry.file_type().unwrap().is_dir() && !is_left_out {
                folders.push(entry.path());
            }
        }
    }
    found.retain(|name, _| !name.contains("/refs/evolve") && !name.contains("/logs/refs"));
    found
}

/// What the newest record says that was done about modes.
fn said(repo: &TestRepo) -> String {
    let notes = repo.newest()["notes"].to_string();
    let is_said = notes.contains("as before: ") || notes.contains("is open again: ");
    assert!(is_said, "{notes}");
    notes
}

#[test]
fn a_good_change_is_kept_whatever_the_agent_shut_by_a_mode() {
    for shut in SHUT {
        let repo = lived_in();
        let before = folders(&repo);
        repo.cycle(&format!("touch a; {shut}")).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{shut}");
        said(&repo);
        let after = folders(&repo);
        for (folder, mode) in before {
            assert_eq!(after.get(&folder), Some(&mode), "{shut}: {folder}");
        }
        assert_eq!(repo.read("unt/f"), "untracked\n");
        assert!(repo.quarantined().is_empty(), "{shut}");
        assert_eq!(repo.status(), ["?? unt/"], "{shut}");
        repo.evolve(&["--agent=false", "--max-cycles=1"]).expect(0);
    }
}

#[test]
fn a_regression_is_undone_whatever_the_agent_shut_by_a_mode() {
    for shut in SHUT {
        let repo = lived_in();
        let (start, before, files) = (repo.head(), folders(&repo), repo.files());
        let script = format!("rm sub/kept; echo other >tracked; mkdir new; touch new/x; {shut}");
        repo.cycle(&script).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{shut}");
        said(&repo);
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{shut}");
        assert_eq!(repo.files(), files, "{shut}");
        assert_eq!(folders(&repo), before, "{shut}");
    }
}
