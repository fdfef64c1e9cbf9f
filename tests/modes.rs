//! Modes by which an agent shuts out the user that runs it: they are given back, and the cycle is judged like any other.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;

use crate::harness::{Run, TestRepo, finish};

/// What an agent can do to modes with one command.
const SHUT: [&str; 14] = [
    "chmod 555 .",
    "chmod 000 .",
    "chmod 000 .git",
    "chmod 500 .git/objects .git/objects/?? .git/refs/heads .git/refs .git",
    "chmod 000 .git/objects/??/*",
    "chmod 000 .git/HEAD .git/index .git/config",
    "chmod 000 .git/logs/HEAD .git/hooks .git/info .git/logs .git/refs",
    "chmod 000 .git/evolve",
    "chmod -R a-rwx .git",
    "chmod 000 .agents",
    "chmod 000 .agents/evolve/* .agents/evolve",
    "chmod 000 GOALS.yaml tracked unt/f",
    "chmod 000 sub",
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

/// Runs the program on the repository from a folder beside it.
fn from_outside(repo: &TestRepo, arguments: &[&str]) -> Run {
    let mut command = repo.command(repo.program());
    command.current_dir(repo.home()).arg("-C").arg(repo.root());
    command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command.spawn().unwrap())
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
    for (index, shut) in SHUT.into_iter().enumerate() {
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
        if index < 3 {
            repo.evolve(&["--agent=false", "--max-cycles=1"]).expect(0);
        }
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

#[test]
fn a_folder_that_the_user_keeps_shut_stays_so_also_where_an_undo_writes_in_it() {
    let repo = lived_in();
    set(&repo, "sub/deep", 0o555);
    set(&repo, "sub", 0o2550);
    set(&repo, "unt", 0o500);
    let (before, files) = (folders(&repo), repo.files());
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.newest()["notes"], serde_json::Value::Null);
    assert_eq!(folders(&repo), before);
    fs::remove_file(repo.path("a")).unwrap();
    repo.git(&["commit", "--quiet", "--all", "-m", "without a"]);
    let edit = "chmod -R u+w sub unt; rm sub/kept; echo other >sub/deep/file; rm unt/f";
    for shut in ["", "; chmod 000 sub", "; rm -rf sub unt"] {
        repo.cycle(&format!("{edit}{shut}")).expect(0);
        assert_eq!(repo.each("result").last().unwrap(), "regressed", "{shut}");
        assert_eq!(folders(&repo), before, "{shut}");
        assert_eq!(repo.files(), files, "{shut}");
    }
    // Else the test's own folder could not be removed.
    for folder in ["sub", "sub/deep", "unt"] {
        set(&repo, folder, 0o755);
    }
}

/// What users, packagers and other programs shut by themselves.
const SHUT_BEFORE: [(&str, u32); 9] = [
    ("tracked", 0o444),
    ("secret.key", 0o400),
    ("run.sh", 0o555),
    ("unt/f", 0o400),
    (".git/credentials", 0o400),
    (".git/config", 0o400),
    (".git/hooks/pre-push", 0o555),
    (".git/lfs/objects/aa/bb/aabb", 0o444),
    (".git/annex/objects/a/K/K", 0o444),
];

/// A lived-in repository with files that were shut before any agent.
fn shut_before(is_normal_user: bool) -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: test -e a, weight: 5}\n  - {id: kept, description: d, check: test -e sub/kept, weight: 3}\n  - {id: c, description: d, check: test -e c, weight: 1}\n",
    );
    for name in ["sub/kept", "tracked", "secret.key", "run.sh"] {
        repo.write(name, "one\n");
    }
    set(&repo, "run.sh", 0o755);
    repo.commit_all("second");
    // Objects are shut in there, too.
    repo.git(&["init", "--quiet", "nested"]);
    repo.write("nested/f", "");
    repo.git(&["-C", "nested", "add", "."]);
    repo.git(&[
        "-C",
        "nested",
        "-c",
        "user.name=n",
        "-c",
        "user.email=n",
        "commit",
        "-qm",
        "n",
    ]);
    for (name, mode) in SHUT_BEFORE {
        if !repo.has(name) {
            repo.write(name, "\n");
        }
        set(&repo, name, mode);
    }
    set(&repo, ".git/annex/objects/a/K", 0o555);
    match is_normal_user {
        true => repo.by_normal_user(),
        false => repo,
    }
}

fn modes_before(repo: &TestRepo) -> Vec<(&'static str, u32)> {
    let folder = [(".git/annex/objects/a/K", 0o555)];
    let all = SHUT_BEFORE.into_iter().chain(folder);
    all.map(|(name, _)| (name, mode(&repo.path(name))))
        .collect()
}

#[test]
fn what_was_shut_before_the_agent_stays_as_it_was_without_a_word() {
    for is_normal_user in [false, true] {
        let repo = shut_before(is_normal_user);
        let before = modes_before(&repo);
        assert_eq!(before[..9], SHUT_BEFORE);
        for (script, result) in [
            ("touch a", "improved"),
            ("rm sub/kept; rm -f tracked; echo two >tracked", "regressed"),
            (
                "rm sub/kept; chmod u+w run.sh; echo two >run.sh; chmod 555 run.sh",
                "regressed",
            ),
        ] {
            let run = repo.cycle(script).expect(0);
            assert_eq!(repo.each("result").last().unwrap(), result, "{script}");
            assert_eq!(modes_before(&repo), before, "{script}");
            let notes = repo.newest()["notes"].to_string();
            for said in [&notes, &run.stdout, &run.stderr] {
                assert!(!said.contains("is open again"), "{script}: {said}");
                assert!(!said.contains("settings of git"), "{script}: {said}");
            }
            assert!(repo.quarantined().is_empty(), "{script}");
        }
        set(&repo, ".git/annex/objects/a/K", 0o755);
    }
}

#[test]
fn what_was_shut_before_and_opened_or_shut_further_by_the_agent_has_its_mode_again() {
    for is_normal_user in [false, true] {
        for shut in ["000", "644"] {
            let repo = shut_before(is_normal_user);
            let before = modes_before(&repo);
            repo.cycle(&format!(
                "touch a; chmod {shut} tracked secret.key unt/f .git/credentials .git/config"
            ))
            .expect(0);
            assert_eq!(repo.each("result"), ["improved"], "{shut}");
            assert_eq!(modes_before(&repo), before, "{shut}");
            let notes = repo.newest()["notes"].to_string();
            assert!(notes.contains("secret.key"), "{notes}");
            set(&repo, ".git/annex/objects/a/K", 0o755);
        }
    }
}

#[test]
fn a_branch_called_objects_is_kept_when_its_mode_is_taken_away() {
    let repo = lived_in();
    repo.git(&["branch", "objects/a/b"]);
    repo.hand_over();
    let places = ".git/refs/heads/objects/a/b .git/logs/refs/heads/objects/a/b";
    repo.cycle(&format!("touch a; chmod 000 {places}"))
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    let notes = said(&repo);
    assert!(!notes.contains("was removed"), "{notes}");
    for place in places.split(' ') {
        assert_eq!(mode(&repo.path(place)) & 0o600, 0o600, "{place}");
    }
}

#[test]
fn a_run_that_was_killed_after_its_agent_had_shut_everything_is_settled_by_the_next_start() {
    for shut in [
        "chmod 000 .",
        "chmod 000 .git",
        "chmod -R a-rwx .git",
        "chmod 000 .git/evolve/* .git/evolve sub unt",
        "chmod 000 $HOME/.local/state/evolve/* $HOME/.local/state/evolve .git/evolve",
        "chmod 000 GOALS.yaml tracked unt/f; chmod -R a-w .",
    ] {
        let repo = lived_in();
        let (before, files) = (folders(&repo), repo.files());
        let kill = format!(
            "pid=$(head -n 1 .git/evolve/lock | cut -d' ' -f1); rm sub/kept; echo other >tracked; {shut}; kill -9 $pid; sleep 60"
        );
        repo.cycle(&kill).expect(137);
        // By its name, as a scheduler does: nobody can go to it.
        from_outside(&repo, &["--agent=true", "--max-cycles=1"]).expect(0);
        let results = repo.each("result");
        assert_eq!(results[0], "interrupted", "{shut}");
        assert_eq!(folders(&repo), before, "{shut}");
        assert_eq!(repo.files(), files, "{shut}");
    }
}

#[test]
fn a_repository_that_cannot_be_looked_into_is_refused_with_the_true_reason() {
    let repo = lived_in();
    for (shut, name) in [(".", "repo"), (".git", ".git")] {
        let was = mode(&repo.path(shut));
        set(&repo, shut, 0);
        for command in [&["--agent=true"][..], &["status"]] {
            let run = from_outside(&repo, command).expect(3);
            let path = repo.path(shut).canonicalize().unwrap();
            let path = path.display();
            assert!(path.to_string().ends_with(name));
            let said = format!("{path} cannot be looked into: its mode is 000\n");
            assert!(run.stderr.contains(&said), "{}", run.stderr);
            assert!(run.stderr.contains(&format!("`chmod u+rwx {path}`")));
        }
        set(&repo, shut, was);
    }
    repo.cycle("touch a").expect(0);
}

#[test]
fn what_the_user_cannot_read_is_named_once_and_ends_no_run() {
    let repo = lived_in();
    repo.write("secret", "theirs");
    repo.write("closed/in", "theirs");
    repo.hand_over();
    set(&repo, "secret", 0);
    set(&repo, "closed", 0);
    let lose = "chmod 700 closed; rm -rf closed";
    repo.agent_does(&["touch x", "rm -f secret", lose]);
    let run = repo.run(&["--max-cycles=3"]).expect(0);
    let said =
        "not readable for the user that runs evolve, an agent could lose them: secret, closed/";
    assert_eq!(run.stderr.matches(said).count(), 1, "{}", run.stderr);
    let notes: Vec<_> = repo.each("notes");
    let gone = "untracked files that are gone and had no copy: secret";
    assert!(notes[1].contains(gone), "{notes:?}");
    let lost =
        "removed, and of what was in it there was no copy, because it could not be read: closed/";
    assert!(notes[2].contains(lost), "{notes:?}");
    assert!(run.stdout.contains(lost), "{}", run.stdout);
    assert!(!notes[1].contains("closed"), "{notes:?}");
    assert_eq!(mode(&repo.path("closed")), 0);
    set(&repo, "closed", 0o700);
    assert_eq!(fs::read_dir(repo.path("closed")).unwrap().count(), 0);
}

#[test]
fn an_agent_that_shuts_its_copy_is_judged_like_any_other() {
    for (script, result) in [
        ("touch a; chmod 000 sub GOALS.yaml .agents", "improved"),
        ("rm sub/kept; chmod 000 .git sub; chmod 000 .", "regressed"),
    ] {
        let repo = lived_in();
        repo.agent_does(&[script]);
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), [result], "{script}");
    }
}

#[test]
fn what_a_link_in_place_of_the_copy_leads_to_is_left_alone() {
    let repo = lived_in().with_out();
    let victim = repo.outside().join("victim");
    fs::create_dir_all(victim.join(".agents/evolve/outbox")).unwrap();
    fs::create_dir_all(victim.join("shut")).unwrap();
    fs::write(victim.join(".agents/evolve/outbox/give-up"), "precious").unwrap();
    fs::set_permissions(victim.join("shut"), Permissions::from_mode(0o000)).unwrap();
    nix::unistd::mkfifo(&victim.join(".gitignore"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    repo.agent_does(&["d=$PWD; cd /; rm -rf \"$d\"; ln -s \"$OUT/victim\" \"$d\""]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(3);
    assert!(
        run.stderr.contains("was removed or replaced meanwhile"),
        "{}",
        run.stderr
    );
    assert!(fs::symlink_metadata(victim.join(".gitignore")).is_ok());
    assert!(victim.join(".agents/evolve/outbox/give-up").exists());
    assert_eq!(mode(&victim.join("shut")), 0);
    assert!(!repo.newest().to_string().contains("precious"));
    repo.cycle("touch a").expect(0);
}

/// What lies below these folders and their own modes, by its path.
fn below(repo: &TestRepo, folders: &[&str]) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    let mut paths: Vec<_> = folders.iter().map(|name| repo.path(name)).collect();
    while let Some(path) = paths.pop() {
        found.insert(path.display().to_string(), mode(&path));
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            paths.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    found
}

#[test]
fn in_a_repository_that_a_group_shares_what_is_made_in_git_is_the_groups_too() {
    const FOLDERS: [&str; 3] = [".git/objects", ".git/refs", ".git/logs"];
    for (setting, folder, readable) in [
        ("group", 0o2770, 0o440),
        ("0660", 0o2770, 0o440),
        ("all", 0o2775, 0o444),
        ("0640", 0o2750, 0o440),
    ] {
        for script in [
            "touch a",
            "touch a; git add a; git commit -qm a",
            "touch a; rm -rf .git/objects/??",
            "touch a; rm -rf .git/refs .git/logs",
        ] {
            let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
            for (path, mode) in below(&repo, &FOLDERS) {
                let wanted = match (Path::new(&path).is_dir(), mode & 0o200) {
                    (true, _) => folder,
                    (false, 0) => readable,
                    (false, _) => readable | (folder & 0o222),
                };
                fs::set_permissions(path, Permissions::from_mode(wanted)).unwrap();
            }
            repo.git(&["config", "core.sharedRepository", setting]);
            repo.agent_does(&[script, "touch b"]);
            let run = "umask 077; exec \"$0\" --max-cycles=2 --agent \"$1\"";
            let mut command = repo.command("sh");
            command.args(["-c", run, env!("CARGO_BIN_EXE_evolve"), &repo.agent()]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            finish(command.spawn().unwrap()).expect(0);
            assert_eq!(repo.records().len(), 2);
            for (path, mode) in below(&repo, &FOLDERS) {
                let what = format!("{setting}, {script}: {path} {mode:o}");
                match Path::new(&path).is_dir() {
                    true => assert_eq!(mode & 0o7777, folder, "{what}"),
                    false => assert_eq!(mode & 0o444, readable, "{what}"),
                }
            }
        }
    }
}

#[test]
fn a_file_outside_of_the_repository_over_which_the_agent_made_a_hard_link_keeps_its_mode() {
    for (is_kept, script) in [(true, "touch a"), (false, "rm -f b")] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 9)]).with_out();
        repo.write("b", "b\n");
        repo.write("tracked", "mine\n");
        repo.commit_all("files");
        let key = repo.out("key");
        fs::write(&key, "key\n").unwrap();
        fs::set_permissions(&key, Permissions::from_mode(0o400)).unwrap();
        repo.cycle(&format!(
            "ln -f \"$OUT/key\" tracked; ln -f \"$OUT/key\" .git/description; {script}"
        ))
        .expect(0);
        let wanted = if is_kept { "improved" } else { "regressed" };
        assert_eq!(repo.newest()["result"], wanted, "{script}");
        assert_eq!(mode(&key), 0o400, "{script}");
        assert_eq!(fs::read_to_string(&key).unwrap(), "key\n");
        let content = if is_kept { "key\n" } else { "mine\n" };
        assert_eq!(repo.read("tracked"), content, "{script}");
        assert_eq!(mode(&repo.path("tracked")) & 0o600, 0o600, "{script}");
        if is_kept {
            assert_eq!(mode(&repo.path("tracked")) & 0o077, 0, "{script}");
        }
    }
}
