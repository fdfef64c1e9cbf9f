//! An agent that removes or replaces `.git` (G-09): the run stops and writes nothing, and the command that it prints puts
//! everything back as it was before the agent. What only leads to the git directory, and that of a linked working tree, is put back.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::harness::{EVOLVE_PID, Run, TestRepo, finish, output};

/// A repository with something of everything that only `.git` has.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("README", "one\n");
    repo.commit_all("readme");
    sh(
        &repo,
        "set -e
         git branch side; git tag -am annotated v1; git pack-refs --all
         echo more >>README; git stash push -qm entry
         git config alias.st status; echo 'exit 0' >.git/hooks/pre-push
         mkdir -p .git/evolve/quarantine/old; echo precious >.git/evolve/quarantine/old/file
         echo mine >notes",
    );
    repo
}

fn sh(repo: &TestRepo, script: &str) -> String {
    let shown = output(repo.command("sh").args(["-c", script])).stdout;
    String::from_utf8_lossy(&shown).into_owned()
}

/// Lists every file of the working tree with its bytes, git's included.
const LIST: &str = "find . -type f -exec sha1sum {} + | sort";

fn state(repo: &TestRepo) -> String {
    sh(
        repo,
        "git show-ref; git stash list; git reflog; git config --list --local; cat .git/hooks/pre-push; git show stash@{0}",
    )
}

/// The command between backticks on the line of the hint that puts the folder back.
fn way_back(run: &Run) -> String {
    command_in(run, "cp -a ")
}

/// The command between backticks on the line of the hint that holds some words.
fn command_in(run: &Run, words: &str) -> String {
    let is_it = |line: &&str| line.starts_with("hint: ") && line.contains(words);
    let hint = run.stderr.lines().find(is_it);
    let hint = hint.unwrap_or_else(|| panic!("no hint: {}", run.stderr));
    hint.split('`').nth(1).expect("a command").to_owned()
}

const WAYS: [(&str, &str); 4] = [
    ("removed", "rm -rf .git"),
    ("moved", "mv .git hidden"),
    (
        "replaced",
        "rm -rf .git; git init -q; git add README; git -c user.name=n -c user.email=n commit -qm n",
    ),
    ("copied", "cp -a .git new; rm -rf .git; mv new .git"),
];

#[test]
fn a_removed_or_replaced_git_folder_stops_the_run_and_the_printed_command_puts_it_back() {
    for (what, script) in WAYS {
        let repo = repository();
        let (before, head) = (state(&repo), repo.head());
        let run = repo.cycle(&format!(
            "touch a; rm notes; {script}; {LIST} >\"$OUT/left\""
        ));
        assert_eq!(run.code, 3, "{what}: {}", run.stderr);
        assert_eq!(
            sh(&repo, LIST),
            repo.said("left"),
            "{what}: something was written"
        );
        sh(&repo, &way_back(&run));
        assert_eq!(state(&repo), before, "{what}");
        repo.git(&["fsck", "--strict"]);
        let precious = repo.path(".git/evolve/quarantine/old/file");
        assert_eq!(fs::read_to_string(precious).unwrap(), "precious\n");

        // The rest is what any start after a crash does.
        repo.agent_does(&["touch a"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
        assert_eq!(repo.read("notes"), "mine\n", "{what}");
        repo.git(&["merge-base", "--is-ancestor", &head, "HEAD"]);
        assert_eq!(
            fs::read_to_string(repo.path(".git/evolve/quarantine/old/file")).unwrap(),
            "precious\n"
        );
        assert!(!copies(&repo), "{what}: the copy is still there");
    }
}

#[test]
fn the_printed_command_is_safe_to_paste_whatever_the_folder_is_called() {
    let names: [&[u8]; 4] = [
        b"it's; touch canary",
        b"$(touch canary) `touch canary`",
        b"two\nlines\x1b[2J",
        b"caf\xe9 %s",
    ];
    for name in names {
        let repo = repository();
        let folder = repo.out("there").join(OsStr::from_bytes(name));
        fs::create_dir_all(&folder).unwrap();
        output(repo.command("cp").args(["-a", "."]).arg(&folder));
        repo.agent_does(&["rm -rf .git"]);
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command.arg(format!("--agent={}", repo.agent()));
        command.current_dir(&folder).stdout(Stdio::piped());
        let run = finish(command.stderr(Stdio::piped()).spawn().unwrap()).expect(3);
        let shown = way_back(&run);
        output(repo.command("sh").args(["-c", &shown]).current_dir("/"));
        output(
            repo.command("git")
                .args(["fsck", "--strict"])
                .current_dir(&folder),
        );
        assert!(
            !repo.has("canary") && !folder.join("canary").exists(),
            "{shown}"
        );
    }
}

/// Whether a copy of a git directory lies in the user's folder for such things.
fn copies(repo: &TestRepo) -> bool {
    let folder = repo.home().join(".local/state/evolve");
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn the_copy_is_not_lost_when_the_program_is_started_again_first() {
    for (what, script) in WAYS {
        let repo = repository();
        let before = state(&repo);
        repo.cycle(&format!("touch a; {script}")).expect(3);
        repo.agent_does(&["touch a"]);
        let again = repo.run(&["--max-cycles=1"]);
        if what == "copied" {
            // That one is as good as the first.
            assert_eq!(again.code, 0, "{}", again.stderr);
            continue;
        }
        assert_eq!(again.code, 3, "{what}: {}", again.stderr);
        sh(&repo, &way_back(&again));
        assert_eq!(state(&repo), before, "{what}");
    }
}

#[test]
fn a_new_clone_in_the_place_of_a_repository_that_a_session_died_in_is_worked_in_when_the_copy_is_gone()
 {
    let repo = repository();
    sh(&repo, "git clone -q . \"$OUT/elsewhere\"");
    repo.cycle(&format!("touch a; kill -9 {EVOLVE_PID}; sleep 60"));
    sh(
        &repo,
        "cd ..; rm -rf repo; git clone -q \"$OUT/elsewhere\" repo; cd repo; git config user.name n; git config user.email n",
    );
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--max-cycles=1"]).expect(3);
    let first = run.stderr.find("rm -rf").unwrap();
    assert!(first < run.stderr.find("cp -a").unwrap(), "{}", run.stderr);
    sh(&repo, &command_in(&run, "rm -rf"));
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn what_was_written_to_in_place_before_the_git_folder_was_removed_is_whole_in_its_copy() {
    let damage = "chmod -R u+w .git; for f in $(find .git/objects .git/refs .git/logs -type f); do echo bad >$f; done; rm -rf .git";
    for ends in ["", "kill -9 $EVOLVE_PID; sleep 60"] {
        let repo = repository();
        let before = state(&repo);
        let run =
            repo.cycle(&format!("touch a; {damage}; {ends}").replace("$EVOLVE_PID", EVOLVE_PID));
        let run = match ends {
            "" => run.expect(3),
            _ => repo.run(&["--max-cycles=1"]).expect(3),
        };
        sh(&repo, &way_back(&run));
        repo.git(&["fsck", "--full", "--strict"]);
        assert_eq!(state(&repo), before);
        repo.agent_does(&["touch a"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    }
}

#[test]
fn a_git_folder_that_vanished_under_a_linked_tree_is_put_back() {
    let repo = repository();
    let linked = repo.out("linked");
    repo.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "work",
        linked.to_str().unwrap(),
    ]);
    let before = state(&repo);
    let git = repo.path(".git");
    repo.agent_does(&["true"]);
    let script = format!("rm -rf '{}'", git.display());
    fs::write(repo.out("1.sh"), script).unwrap();
    let dir = linked.to_str().unwrap();
    let run = repo.run(&["-C", dir, "--max-cycles=1"]).expect(3);
    sh(&repo, &way_back(&run));
    assert_eq!(state(&repo), before);
    repo.run(&["-C", dir, "--max-cycles=1"]);
    repo.git(&["-C", dir, "fsck", "--strict"]);
    assert_eq!(
        repo.git(&["-C", dir, "status", "--porcelain", "--untracked-files=no"]),
        ""
    );
}

#[test]
fn where_no_copy_can_be_made_that_is_said_once_and_the_run_goes_on() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5)]).with_out();
    fs::write(repo.out("file"), "no folder").unwrap();
    let state = repo.out("file").display().to_string();
    repo.env.push(("XDG_STATE_HOME".to_owned(), state));
    repo.agent_does(&["touch a", "touch b"]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    assert_eq!(
        run.stderr.matches("there is no copy of it").count(),
        1,
        "{}",
        run.stderr
    );
}

/// A working tree whose git directory lies elsewhere, with a commit, an untracked file and what else `repository` has.
fn elsewhere(way: &str) -> (TestRepo, PathBuf) {
    let repo = repository();
    let tree = repo.out("tree");
    let script = match way {
        "linked" => "git worktree add -q -b work \"$OUT/tree\"",
        "separate" => {
            "mkdir \"$OUT/tree\"; git archive HEAD | tar -x -C \"$OUT/tree\"; cp -a .git \"$OUT/separate\"
             echo \"gitdir: $OUT/separate\" >\"$OUT/tree/.git\"; cd \"$OUT/tree\"; git checkout -q -b work"
        }
        _ => {
            "mkdir \"$OUT/tree\"; git archive HEAD | tar -x -C \"$OUT/tree\"; cp -a .git \"$OUT/separate\"
             ln -s \"$OUT/separate\" \"$OUT/tree/.git\"; cd \"$OUT/tree\"; git checkout -q -b work"
        }
    };
    sh(&repo, &format!("set -e; {script}"));
    fs::write(tree.join("notes"), "mine\n").unwrap();
    (repo, tree)
}

fn gitfile(tree: &Path) -> (Option<PathBuf>, Option<String>) {
    let path = tree.join(".git");
    (fs::read_link(&path).ok(), fs::read_to_string(path).ok())
}

/// What must hold when the cycle of an agent that took the way to the git directory is settled.
#[track_caller]
fn assert_settled(repo: &TestRepo, tree: &Path, what: &str) {
    let dir = tree.to_str().unwrap();
    repo.git(&["-C", dir, "fsck", "--strict", "--no-dangling"]);
    assert_eq!(
        repo.git(&["-C", dir, "status", "--porcelain"]),
        "?? notes",
        "{what}"
    );
    assert_eq!(
        repo.git(&["-C", dir, "symbolic-ref", "HEAD"]),
        "refs/heads/work"
    );
    assert_eq!(fs::read_to_string(tree.join("notes")).unwrap(), "mine\n");
    let history = fs::read_to_string(tree.join(".agents/evolve/cycle-history.jsonl")).unwrap();
    assert_eq!(history.lines().count(), 1, "{what}: {history}");
}

#[test]
fn a_git_file_that_leads_elsewhere_is_put_back_whatever_an_agent_did_to_it() {
    for way in ["linked", "separate", "link"] {
        for script in [
            "rm .git",
            "rm .git; echo 'gitdir: /nowhere' >.git",
            "rm .git; git init -q; git add README; git commit -qm own",
            "mv .git away; ln -s nowhere .git; rm away",
        ] {
            let what = format!("{way}: {script}");
            let (repo, tree) = elsewhere(way);
            let before = gitfile(&tree);
            repo.agent_does(&[&format!("{script}; echo x >notes")]);
            let dir = tree.to_str().unwrap();
            let run = repo.run(&["-C", dir, "--max-cycles=1"]);
            assert_eq!(run.code, 0, "{what}: {}", run.stderr);
            assert_eq!(gitfile(&tree), before, "{what}");
            let said = "was removed or replaced and is back";
            assert!(run.stdout.contains(said), "{what}: {}", run.stdout);
            assert_settled(&repo, &tree, &what);
            assert!(repo.kept_outside("gitfile").is_none(), "{what}");
        }
    }
}

#[test]
fn a_linked_tree_that_was_made_again_does_not_take_the_place_of_one_whose_cycle_is_unsettled() {
    for is_by_agent in [false, true] {
        let (repo, tree) = elsewhere("linked");
        let dir = tree.to_str().unwrap();
        let add = format!("git worktree add -q '{dir}' work");
        let remove = "T=\"$PWD\"; cd \"$(git rev-parse --git-common-dir)\"; git worktree remove --force \"$T\"";
        let again = if is_by_agent { &add[..] } else { "true" };
        let bad = "echo x >notes; touch bad; git add bad; git commit -qm bad";
        repo.agent_does(&[&format!("{bad}; {remove}; {again}"), "touch a"]);
        let run = repo.run(&["-C", dir, "--max-cycles=1"]).expect(3);
        if !is_by_agent {
            assert!(run.stderr.contains("mkdir -p "), "{}", run.stderr);
            sh(&repo, &add);
        }
        let refused = repo.run(&["-C", dir, "--max-cycles=1"]).expect(3);
        let way_out = command_in(&refused, "git worktree remove");
        let (way_out, _) = way_out.rsplit_once(" && evolve").expect("it is run there");
        sh(&repo, &format!("set -e; {way_out}"));
        let last = repo.run(&["-C", dir, "--max-cycles=1"]);
        assert_eq!(last.code, 0, "{}", last.stderr);
        assert_eq!(fs::read_to_string(tree.join("notes")).unwrap(), "mine\n");
        assert!(!tree.join("bad").exists());
        let history = fs::read_to_string(tree.join(".agents/evolve/cycle-history.jsonl")).unwrap();
        assert_eq!(history.lines().count(), 2, "{history}");
    }
}

#[test]
fn the_git_directory_of_a_linked_tree_that_an_agent_removed_is_put_back_by_the_next_start() {
    for script in [
        "rm -rf \"$(git rev-parse --git-dir)\"",
        "D=\"$(git rev-parse --git-dir)\"; rm -rf .git \"$D\"",
        "rm -rf \"$(git rev-parse --git-common-dir)/worktrees\"",
        "C=\"$(git rev-parse --git-common-dir)\"; rm .git; git --git-dir=\"$C\" worktree prune --expire=now",
    ] {
        let (repo, tree) = elsewhere("linked");
        let before = gitfile(&tree);
        repo.agent_does(&[&format!("{script}; echo x >notes; touch bad")]);
        let dir = tree.to_str().unwrap();
        let run = repo.run(&["-C", dir, "--max-cycles=1"]).expect(3);
        assert!(run.stderr.contains("run evolve again"), "{}", run.stderr);
        repo.agent_does(&["touch a"]);
        let again = repo.run(&["-C", dir, "--max-cycles=1"]);
        assert_eq!(again.code, 0, "{script}: {}", again.stderr);
        assert_eq!(gitfile(&tree), before, "{script}");
        let history = fs::read_to_string(tree.join(".agents/evolve/cycle-history.jsonl")).unwrap();
        let results = ["interrupted", "improved"];
        for (line, result) in history.lines().zip(results) {
            assert!(
                line.contains(&format!("\"result\":\"{result}\"")),
                "{script}: {line}"
            );
        }
        assert_eq!(history.lines().count(), 2, "{script}: {history}");
        assert_eq!(fs::read_to_string(tree.join("notes")).unwrap(), "mine\n");
        assert!(!tree.join("bad").exists(), "{script}");
        assert_eq!(
            repo.git(&["-C", dir, "status", "--porcelain"]),
            "?? notes",
            "{script}"
        );
        repo.git(&["-C", dir, "fsck", "--strict", "--no-dangling"]);
    }
}

#[test]
fn a_git_file_that_was_removed_before_the_session_died_is_put_back_by_the_next_start() {
    for way in ["linked", "separate", "link"] {
        let (repo, tree) = elsewhere(way);
        let before = gitfile(&tree);
        repo.agent_does(&[&format!(
            "rm .git; echo x >notes; touch bad; kill -9 {EVOLVE_PID}"
        )]);
        let dir = tree.to_str().unwrap();
        repo.run(&["-C", dir, "--max-cycles=1"]);
        assert_eq!(gitfile(&tree), (None, None), "{way}");
        repo.agent_does(&["touch a"]);
        let again = repo.run(&["-C", dir, "--max-cycles=1"]);
        assert_eq!(again.code, 0, "{way}: {}", again.stderr);
        assert_eq!(gitfile(&tree), before, "{way}");
        assert_eq!(fs::read_to_string(tree.join("notes")).unwrap(), "mine\n");
        assert!(
            !tree.join("bad").exists() && tree.join("a").exists(),
            "{way}"
        );
        assert!(repo.kept_outside("gitfile").is_none(), "{way}");
    }
}

#[test]
fn a_git_folder_that_was_moved_and_to_which_something_leads_is_moved_back() {
    for script in [
        "mv .git gg; ln -s gg .git",
        "mkdir own; mv .git own/gg; ln -s \"$PWD/own/gg\" .git",
        "mv .git \"$OUT/gg\"; ln -s \"$OUT/gg\" .git",
        "mv .git gg; echo 'gitdir: gg' >.git",
    ] {
        for ends in ["", &format!("; kill -9 {EVOLVE_PID}; sleep 60")] {
            let repo = repository();
            let before = state(&repo);
            repo.agent_does(&[&format!(
                "echo x >>README; git commit -qam x; {script}{ends}"
            )]);
            let run = repo.run(&["--max-cycles=1"]);
            let what = format!("{script} {ends}: {}", run.stderr);
            if ends.is_empty() {
                assert_eq!(run.code, 0, "{what}");
                assert!(run.stdout.contains("and is back"), "{what} {}", run.stdout);
                assert_eq!(repo.each("result"), ["unchanged"], "{what}");
            } else {
                repo.agent_does(&["touch a"]);
                repo.run(&["--max-cycles=1"]).expect(0);
                assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
            }
            assert!(
                fs::symlink_metadata(repo.path(".git")).unwrap().is_dir(),
                "{what}"
            );
            assert!(!repo.has("gg") && !repo.out("gg").exists(), "{what}");
            for line in before
                .lines()
                .filter(|line| line.contains("refs/tags") || line.contains("side"))
            {
                assert!(state(&repo).contains(line), "{what}: {line}");
            }
            repo.git(&["fsck", "--strict", "--no-dangling"]);
            assert_eq!(repo.status(), ["?? notes"], "{what}");
        }
    }
}

#[test]
fn another_git_file_than_that_of_a_session_that_died_is_refused_with_both_ways_out() {
    for (words, is_put_back) in [("`mv ", true), ("`rm ", false)] {
        let (repo, tree) = elsewhere("linked");
        let before = gitfile(&tree);
        repo.agent_does(&[&format!(
            "rm .git; git init -q; git -c user.name=a -c user.email=b commit -q --allow-empty -m own; kill -9 {EVOLVE_PID}"
        )]);
        let dir = tree.to_str().unwrap();
        repo.run(&["-C", dir, "--max-cycles=1"]);
        let refused = repo.run(&["-C", dir, "--max-cycles=1"]).expect(3);
        assert!(refused.stderr.contains("is not the one that a session"));
        sh(&repo, &command_in(&refused, words));
        repo.agent_does(&["touch a"]);
        if !is_put_back {
            repo.run(&["-C", dir, "--max-cycles=1"]);
            assert!(tree.join(".git").is_dir());
            continue;
        }
        assert!(repo.out("tree.git-of-the-agent").is_dir());
        repo.run(&["-C", dir, "--max-cycles=1"]).expect(0);
        assert_eq!(gitfile(&tree), before);
        let history = fs::read_to_string(tree.join(".agents/evolve/cycle-history.jsonl")).unwrap();
        assert_eq!(history.matches("\"interrupted\"").count(), 1);
    }
}

#[test]
fn a_cycle_whose_private_folder_was_removed_is_settled_by_the_next_start() {
    for (what, script) in [
        ("removed", "rm -rf .git/evolve"),
        (
            "made anew",
            "rm -rf .git/evolve; mkdir -p .git/evolve/keep; echo bad >.git/evolve/keep/0; echo x >.git/evolve/journal.json",
        ),
        (
            "a link",
            "rm -rf .git/evolve; mkdir \"$OUT/x\"; ln -s \"$OUT/x\" .git/evolve",
        ),
    ] {
        let repo = repository();
        repo.write("b", "");
        repo.commit_all("b");
        repo.write("notes", "mine\n");
        let (before, head) = (state(&repo), repo.head());
        let run = repo.cycle(&format!(
            "{script}; rm b; echo changed >notes; touch a; git add a b; git commit -qm evil
             git config core.fsmonitor \"touch '$OUT/planted'\""
        ));
        assert_eq!(run.code, 3, "{what}: {}", run.stderr);
        repo.agent_does(&["touch a"]);
        let again = repo.run(&["--max-cycles=1"]);
        assert_eq!(again.code, 0, "{what}: {}", again.stderr);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
        assert!(repo.has("b"), "{what}: an unjudged change was kept");
        assert_eq!(repo.read("notes"), "mine\n", "{what}");
        assert!(
            !repo.out("planted").exists(),
            "{what}: a setting was believed"
        );
        repo.git(&["merge-base", "--is-ancestor", &head, "HEAD"]);
        assert!(sh(&repo, "git config --list --local").contains("alias.st"));
        assert!(before.contains("alias.st"));
        let precious = repo.path(".git/evolve/quarantine/old/file");
        assert_eq!(
            fs::read_to_string(precious).unwrap(),
            "precious\n",
            "{what}"
        );
        assert!(!copies(&repo), "{what}: the copy is still there");
        // What is settled is not settled again.
        repo.agent_does(&["true"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(
            repo.each("result")[..2],
            ["interrupted", "improved"],
            "{what}"
        );
        assert_eq!(
            repo.each("result")
                .iter()
                .filter(|r| *r == "interrupted")
                .count(),
            1
        );
    }
}

/// What an agent leaves in the way inside `.git`. Each takes `a` along, which a goal wants.
const IN_THE_WAY: [(&str, &str); 26] = [
    (
        "refs/heads",
        "rm -rf .git/refs/heads; ln -s \"$OUT/theirs\" .git/refs/heads",
    ),
    (
        "refs/evolve",
        "rm -rf .git/refs/evolve; ln -s \"$OUT/theirs\" .git/refs/evolve",
    ),
    ("logs", "rm -rf .git/logs; ln -s \"$OUT/theirs\" .git/logs"),
    (
        "logs/refs",
        "rm -rf .git/logs/refs; ln -s \"$OUT/theirs\" .git/logs/refs",
    ),
    (
        "a folder as the log of the stash",
        "mkdir -p .git/logs/refs/stash; echo x >.git/logs/refs/stash/x",
    ),
    (
        "HEAD as link",
        "cp .git/HEAD \"$OUT/theirs/HEAD\"; ln -sf \"$OUT/theirs/HEAD\" .git/HEAD",
    ),
    (
        "HEAD as link to a branch",
        "rm .git/HEAD; ln -s refs/heads/side .git/HEAD",
    ),
    (
        "HEAD as link to its branch",
        "ln -sf refs/heads/main .git/HEAD",
    ),
    ("HEAD as folder", "rm .git/HEAD; mkdir .git/HEAD"),
    ("a huge HEAD", "truncate -s 20G .git/HEAD"),
    ("an empty index", ": >.git/index"),
    ("garbage as index", "echo garbage >.git/index"),
    ("a cut index", "truncate -s 40 .git/index"),
    ("junk behind the index", "printf %30s x >>.git/index"),
    ("index as folder", "rm .git/index; mkdir .git/index"),
    (
        "index as link",
        "mv .git/index \"$OUT/theirs/index\"; ln -s \"$OUT/theirs/index\" .git/index",
    ),
    (
        "half an index",
        "git update-index --split-index; rm .git/sharedindex.*",
    ),
    (
        "packed-refs as folder",
        "rm -f .git/packed-refs; mkdir .git/packed-refs",
    ),
    ("junk as packed-refs", "echo junk >.git/packed-refs"),
    ("huge packed-refs", "truncate -s 20G .git/packed-refs"),
    (
        "locks as folders",
        "mkdir -p .git/index.lock/x .git/HEAD.lock .git/refs/heads/main.lock",
    ),
    (
        "a file as refs/evolve",
        "rm -rf .git/refs/evolve; echo junk >.git/refs/evolve",
    ),
    (
        "a branch below the branch",
        "git checkout -q -b tmp; git branch -qD main; git branch main/x; git commit -q --allow-empty -m x",
    ),
    (
        "the branch as link",
        "rm .git/refs/heads/main; ln -s refs/heads/side .git/refs/heads/main",
    ),
    (
        "a branch as link",
        "ln -s refs/heads/main .git/refs/heads/side",
    ),
    (
        "refs in a circle",
        "echo ref: refs/heads/loop >.git/refs/heads/main; echo ref: refs/heads/main >.git/refs/heads/loop",
    ),
];

/// A repository whose goal `a` passes and `c` fails, with files beside it that nobody may write to.
fn with_files_of_others() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("c", 5)]).with_out();
    repo.write("a", "a\n");
    repo.commit_all("a");
    repo.write("notes", "mine\n");
    sh(
        &repo,
        "git branch side; git pack-refs --all; mkdir \"$OUT/theirs\"
         for name in main HEAD index; do echo theirs >\"$OUT/theirs/$name\"; done",
    );
    repo
}

fn assert_as_before(repo: &TestRepo, what: &str, side: &str) {
    let found = ["a", "notes"].map(|name| repo.read(name));
    assert_eq!(found, ["a\n", "mine\n"], "{what}");
    assert_eq!(repo.status(), ["?? notes"], "{what}");
    assert_eq!(repo.git(&["rev-parse", "side"]), side, "{what}");
    assert_eq!(
        repo.git(&["symbolic-ref", "HEAD"]).trim(),
        "refs/heads/main",
        "{what}"
    );
    assert_eq!(
        sh(repo, "cat \"$OUT/theirs/main\"; ls \"$OUT/theirs\""),
        "theirs\nHEAD\nindex\nmain\n",
        "{what}"
    );
}

#[test]
fn what_an_agent_puts_in_the_way_inside_the_git_folder_is_moved_away_and_the_cycle_is_undone() {
    let first = with_files_of_others();
    for (what, script) in IN_THE_WAY {
        let repo = first.copied();
        let side = repo.git(&["rev-parse", "side"]);
        let run = repo.cycle(&format!("touch c; rm a notes; {script}"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{what}: {}", run.stderr);
        assert_as_before(&repo, what, &side);
        let next = repo.cycle("true");
        assert_eq!(next.code, 0, "{what}: {}", next.stderr);
        assert_eq!(repo.each("result"), ["regressed", "unchanged"], "{what}");
    }
}

#[test]
fn a_folder_in_the_place_of_the_stashs_log_goes_to_the_quarantine_and_the_entries_are_back() {
    let repo = repository();
    let before = state(&repo);
    let run = repo.cycle(
        "touch a; rm .git/logs/refs/stash; mkdir .git/logs/refs/stash; echo x >.git/logs/refs/stash/x",
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains(".git/logs/refs/stash → "),
        "{}",
        run.stdout
    );
    let stash = "git stash list; git show stash@{0}";
    assert!(before.contains(&sh(&repo, stash).lines().next().unwrap()[..9]));
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(repo.read("README"), "one\nmore\n");
}

/// Folders in the place of settings, with or without something in them.
const FOLDERS_FOR_SETTINGS: [&str; 4] = [
    "rm .git/info/exclude; mkdir .git/info/exclude; echo x >.git/info/exclude/x",
    "rm .git/info/exclude; mkdir .git/info/exclude",
    "rm .git/hooks/pre-push; mkdir -p .git/hooks/pre-push/deep",
    "rm .git/config; mkdir .git/config; echo x >.git/config/x",
];

#[test]
fn a_folder_in_the_place_of_a_setting_keeps_no_session_from_going_on() {
    for script in FOLDERS_FOR_SETTINGS {
        let repo = repository();
        let settings = "cat .git/info/exclude .git/hooks/pre-push; git config --list --local";
        let run = repo.cycle("true").expect(0);
        assert!(run.stderr.is_empty(), "{}", run.stderr);
        let before = sh(&repo, settings);
        let run = repo.cycle(&format!("touch a; echo changed >notes; {script}"));
        assert_eq!(run.code, 0, "{script}: {}", run.stderr);
        assert_eq!(repo.each("result")[1], "improved", "{script}");
        assert_eq!(sh(&repo, settings), before, "{script}");
        assert_eq!(repo.read("notes"), "mine\n", "{script}");
        repo.cycle("true").expect(0);
    }
}

#[test]
fn where_the_session_dies_with_something_in_the_way_the_next_start_undoes_the_cycle() {
    let first = with_files_of_others();
    let of_recovery = [
        "refs/heads",
        "the branch as link",
        "HEAD as link to a branch",
        "HEAD as folder",
        "an empty index",
        "junk as packed-refs",
    ];
    let cases = IN_THE_WAY
        .iter()
        .filter(|(what, _)| of_recovery.contains(what));
    for (what, script) in cases {
        let repo = first.copied();
        let side = repo.git(&["rev-parse", "side"]);
        repo.agent_does(&[&format!(
            "rm a notes; {script}; kill -9 {EVOLVE_PID}; sleep 60"
        )]);
        repo.run(&["--max-cycles=1"]);
        let next = repo.cycle("true");
        assert_eq!(next.code, 0, "{what}: {}", next.stderr);
        assert_eq!(
            repo.each("result")[0],
            "interrupted",
            "{what}: {}",
            next.stderr
        );
        assert_as_before(&repo, what, &side);
    }
}

#[test]
fn a_head_that_was_a_link_to_a_branch_stays_one_also_to_another() {
    for (script, leads_to) in [
        ("true", "refs/heads/side"),
        (
            "ln -sfn refs/heads/other .git/worktrees/wt/HEAD",
            "refs/heads/other",
        ),
    ] {
        let repo = with_files_of_others();
        sh(
            &repo,
            "git branch other; git worktree add -q \"$OUT/wt\" side; ln -sf refs/heads/side .git/worktrees/wt/HEAD",
        );
        let run = repo.cycle(&format!("{script}; touch c")).expect(0);
        assert_eq!(
            repo.each("result"),
            ["improved"],
            "{script}: {}",
            run.stdout
        );
        let led = sh(&repo, "readlink .git/worktrees/wt/HEAD");
        assert_eq!(led.trim(), leads_to);
    }
}

#[test]
fn links_that_the_user_has_in_the_git_folder_stay_as_they_are() {
    let repo = with_files_of_others();
    sh(
        &repo,
        "mv .git/logs \"$OUT/logs\"; ln -s \"$OUT/logs\" .git/logs; mkdir \"$OUT/tags\"
         rm -rf .git/refs/tags; ln -s \"$OUT/tags\" .git/refs/tags",
    );
    let links = "readlink .git/logs .git/refs/tags";
    let before = sh(&repo, links);
    let run = repo.cycle("touch c; rm .git/refs/tags; mkdir .git/refs/tags");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stderr);
    assert_eq!(sh(&repo, links), before);
}

#[test]
fn a_working_tree_whose_git_folder_is_made_of_links_is_worked_in_and_they_stay() {
    let repo = with_files_of_others();
    // As `git-new-workdir` makes it.
    sh(
        &repo,
        "git branch other; git pack-refs --all; mkdir \"$OUT/shared\"
         for name in config refs objects info hooks packed-refs; do mv .git/$name \"$OUT/shared\"; ln -s \"$OUT/shared/$name\" .git/$name; done
         mkdir -p \"$OUT/shared/logs\"; mv .git/logs/refs \"$OUT/shared/logs\"; ln -s \"$OUT/shared/logs/refs\" .git/logs/refs",
    );
    let state = "find .git -type l | sort | xargs readlink; git rev-parse other";
    let before = sh(&repo, state);
    let run = repo.cycle("touch c; git branch -qD other");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stderr);
    assert_eq!(sh(&repo, state), before);
    repo.git(&["fsck", "--strict"]);
}

#[test]
fn a_branch_that_is_another_name_of_one_is_refused_with_the_way_out() {
    let repo = with_files_of_others();
    sh(
        &repo,
        "git symbolic-ref refs/heads/alias refs/heads/main; git symbolic-ref HEAD refs/heads/alias",
    );
    let run = repo.cycle("touch c").expect(3);
    let told = "the branch alias is only another name of main";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("git switch main"), "{}", run.stderr);
}

/// What an agent, or whoever, can put in the place of a file of evolve's.
const JUNK: [(&str, &str); 4] = [
    (
        "a folder",
        "mkdir -p \"$at/deep\"; echo junk >\"$at/deep/file\"",
    ),
    ("a link", "ln -s /nowhere/at/all \"$at\""),
    ("a pipe", "mkfifo \"$at\""),
    ("a file", "echo junk >\"$at\""),
];

const OWN_FILES: [&str; 4] = [
    "anchor",
    "durable.config",
    "session.json",
    "last-session.json",
];
const OWN_FOLDERS: [&str; 2] = ["asked", "guard"];

/// Each file or folder of evolve's, with what is none of its kind.
fn misplaced() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let of_files = OWN_FILES.iter().map(|name| (*name, &JUNK[..3]));
    let of_folders = OWN_FOLDERS.iter().map(|name| (*name, &JUNK[1..]));
    let all = of_files.chain(of_folders);
    all.flat_map(|(name, ways)| ways.iter().map(move |(what, way)| (name, *what, *way)))
}

#[test]
fn what_an_agent_puts_in_the_place_of_evolves_own_files_goes_to_the_quarantine_and_is_told() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let ways: Vec<_> = misplaced().collect();
    let scripts: Vec<String> = ways
        .iter()
        .map(|(name, _, way)| format!("at=.git/evolve/{name}; rm -rf $at; {way}; touch a"))
        .collect();
    let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
    repo.agent_does(&scripts);
    for (name, what, _) in ways {
        repo.run(&["--max-cycles=1"]).expect(0);
        let told = repo.newest()["notes"].to_string();
        let moved = format!("moved out of the way: {name} →");
        assert!(told.contains(&moved), "{what} for {name}: {told}");
        assert_eq!(repo.newest()["result"], "improved", "{what} for {name}");
        sh(&repo, "git rm -q a && git commit -qm again");
    }
    let anchor = fs::read_to_string(repo.private().join("anchor")).unwrap();
    assert_eq!(
        repo.git(&["cat-file", "-t", anchor.trim()]).trim(),
        "commit"
    );
}

#[test]
fn what_stands_in_the_place_of_evolves_own_files_keeps_no_session_from_starting() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.cycle("ls \"$HOME\"/.local/state/evolve/*.journal >\"$OUT/journal\"; touch a")
        .expect(0);
    let journal = PathBuf::from(repo.said("journal").trim());
    let private = repo.private();
    let mut places: Vec<_> = misplaced()
        .filter(|(name, ..)| *name != "anchor")
        .map(|(name, what, way)| (private.join(name), what, way))
        .collect();
    places.push((journal, JUNK[0].0, JUNK[0].1));
    for (place, what, way) in places {
        let shown = place.display();
        sh(&repo, &format!("at='{shown}'; rm -rf \"$at\"; {way}"));
        let told = repo.evolve(&["doctor", "--agent", "true"]);
        assert!(
            told.stdout.contains(&*shown.to_string()),
            "{what}: {}",
            told.stdout
        );
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        let name = place.file_name().unwrap().to_string_lossy().into_owned();
        let moved = format!("{name} → ");
        assert!(
            run.stdout.contains(&moved),
            "{what} for {name}: {}",
            run.stdout
        );
    }
}

#[test]
fn doctor_tells_of_a_lock_or_an_anchor_that_is_none_as_what_keeps_a_run_from_starting() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    for name in ["lock", "anchor"] {
        let place = repo.private().join(name);
        fs::create_dir_all(&place).unwrap();
        let told = repo.evolve(&["doctor", "--agent", "true"]).expect(10);
        let named = place.display().to_string();
        assert!(told.stdout.contains(&named), "{}", told.stdout);
        let refused = repo.run(&["--max-cycles=1"]).expect(1);
        assert!(refused.stderr.contains(&named), "{}", refused.stderr);
        fs::remove_dir(&place).unwrap();
    }
}

#[test]
fn what_an_agent_removes_of_other_programs_things_in_the_git_folder_is_put_back_and_told() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let made = "set -e
        mkdir -p .git/annex/objects/Ab/Cd/K .git/rr-cache/1 .git/svn
        echo only-copy >.git/annex/objects/Ab/Cd/K/K; chmod 444 .git/annex/objects/Ab/Cd/K/K
        echo log >.git/annex/log; ln -s objects .git/annex/link
        echo resolved >.git/rr-cache/1/postimage; echo map >.git/svn/.rev_map
        git rev-parse HEAD >.git/ORIG_HEAD; echo gone >.git/MERGE_MSG; echo gone >.git/gc.log";
    sh(&repo, made);
    let listed = "cd .git && find annex rr-cache svn ORIG_HEAD -printf '%p %y %m %l\\n' | sort; cat $(find annex rr-cache svn ORIG_HEAD -type f | sort)";
    let before = sh(&repo, listed);
    repo.cycle("rm -rf .git/annex .git/rr-cache .git/svn .git/ORIG_HEAD .git/MERGE_MSG .git/gc.log; touch a")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(sh(&repo, listed), before);
    let told = repo.newest()["notes"].to_string();
    let back =
        "what was removed is back: .git/ORIG_HEAD, .git/annex (3 files), .git/rr-cache, .git/svn";
    assert!(told.contains(back), "{told}");
    assert!(!repo.path(".git/MERGE_MSG").exists() && !repo.path(".git/gc.log").exists());

    // What came into a folder that was there before, and a folder that was replaced.
    sh(
        &repo,
        "mkdir .git/annex/objects/Ab/Cd/L; echo second >.git/annex/objects/Ab/Cd/L/L; git rm -q a; git commit -qm again",
    );
    repo.cycle("rm -rf .git/annex/objects/Ab; mv .git/svn .git/gone; ln -s /tmp .git/svn; touch a")
        .expect(0);
    assert_eq!(
        sh(&repo, "cat .git/annex/objects/Ab/Cd/*/* .git/svn/.rev_map"),
        "only-copy\nsecond\nmap\n"
    );
    assert!(
        fs::symlink_metadata(repo.path(".git/svn"))
            .unwrap()
            .is_dir()
    );
}

#[test]
fn what_an_agent_puts_of_another_kind_in_the_place_of_other_programs_files_goes_to_the_quarantine()
{
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    sh(
        &repo,
        "mkdir -p .git/annex/objects \"$OUT/theirs\"; echo only-copy >.git/annex/objects/k; ln -s k .git/annex/objects/l",
    );
    for (script, is_back) in [
        ("ln -s \"$OUT/theirs\" k", true),
        ("ln -s /nowhere k", true),
        ("mkdir k; echo x >k/x", true),
        ("rm l; mkdir l; mv moved k", true),
        ("rm l; echo x >l; mv moved k", true),
        ("echo changed >k", false),
    ] {
        repo.cycle(&format!(
            "touch a; cd .git/annex/objects; mv k moved; {script}; rm -f moved"
        ))
        .expect(0);
        let told = repo.newest()["notes"].to_string();
        let moved = "moved out of the way: .git/annex/objects/";
        assert_eq!(told.contains(moved), is_back, "{script}: {told}");
        let kept = sh(&repo, "cat .git/annex/objects/l; ls \"$OUT/theirs\"");
        let wanted = if is_back { "only-copy\n" } else { "changed\n" };
        assert_eq!(kept, wanted, "{script}");
        sh(&repo, "git rm -q a && git commit -qm again");
    }
}

#[test]
fn what_head_and_index_of_another_linked_tree_alone_held_stays_reachable_and_is_told() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let tree = repo.outside().join("w");
    let shown = tree.display();
    let ids = sh(
        &repo,
        &format!(
            "set -e; git worktree add -q --detach '{shown}'; cd '{shown}'
             echo mine >m; git add m; git commit -qm 'only here'; git rev-parse HEAD
             echo v1 >staged; git add staged; git rev-parse :staged; echo v2 >staged"
        ),
    );
    let (commit, blob) = ids.trim().split_once('\n').expect("two ids");
    repo.cycle(
        "cp .git/index .git/worktrees/w/index; git rev-parse main >.git/worktrees/w/HEAD; touch a",
    )
    .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let told = repo.newest()["notes"].to_string();
    assert!(
        told.contains(".git/worktrees/w: HEAD was moved and the index replaced"),
        "{told}"
    );
    assert_eq!(told.matches("worktrees/w: ").count(), 1, "{told}");
    let kept = sh(
        &repo,
        &format!("git for-each-ref --format='%(refname)' --contains {commit}"),
    );
    assert!(
        kept.trim().ends_with("-refs/worktrees/w") && told.contains(kept.trim()),
        "{kept}: {told}"
    );
    let staged = sh(
        &repo,
        &format!(
            "rm -rf .git/worktrees/w/logs; git reflog expire --expire=now --all; git gc -q --prune=now; git cat-file -p {blob}; git show {}:staged",
            kept.trim()
        ),
    );
    assert_eq!(staged, "v1\nv1\n");

    // What a person commits there meanwhile is lost to nobody, and nothing is said.
    sh(
        &repo,
        &format!(
            "cd '{shown}'; git reset -q --hard {commit}; echo v3 >staged; git add staged; cd -; git rm -q a; git commit -qm again"
        ),
    );
    repo.cycle(&format!("(cd '{shown}'; git commit -qm done); touch a"))
        .expect(0);
    let told = repo.newest()["notes"].to_string();
    assert!(!told.contains("worktrees/w"), "{told}");
}

#[test]
fn an_operation_that_is_a_link_of_an_agents_is_ended_and_nothing_behind_the_link_is_touched() {
    for name in ["rebase-merge", "rebase-apply", "sequencer"] {
        let repo = repository();
        let photos = repo.outside().join("photos");
        fs::create_dir_all(photos.join("deep")).unwrap();
        for file in ["one", "deep/two", "todo"] {
            fs::write(photos.join(file), "pick 1 precious\n").unwrap();
        }
        let merge = "git rev-parse HEAD >.git/MERGE_HEAD";
        let link = format!("ln -s {} .git/{name}", photos.display());
        repo.agent_does(&[&format!("touch a; {link}; {merge}"), "true"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        for file in ["one", "deep/two", "todo"] {
            let text = fs::read_to_string(photos.join(file));
            assert_eq!(text.unwrap(), "pick 1 precious\n", "{name}: {file}");
        }
        assert!(fs::symlink_metadata(repo.path(".git").join(name)).is_err());
        repo.run(&["--max-cycles=1"]).expect(0);
    }
}
