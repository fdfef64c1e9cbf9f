//! Bad input gets a clear error and loses nothing: goals files, states of a repository, ledgers, agents.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::{TestRepo, everything_below, finish, wait_until};

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
const QUEUE: &str = ".agents/rpi/next-work.jsonl";

/// One goal that fails until the file `a` is there.
fn wanting_a() -> TestRepo {
    TestRepo::with_files_wanted(&[("a", 5)])
}

/// A repository whose goals file holds this text.
fn with_goals_file(text: impl AsRef<[u8]>) -> TestRepo {
    let repo = TestRepo::empty();
    fs::write(repo.path("GOALS.yaml"), text).unwrap();
    repo.commit_all("first");
    repo
}

/// Asserts that the loop and every command that reads the goals say the same and end with 2, and that nothing is written
/// to the working tree, to history or to any ref. Returns what they say.
#[track_caller]
fn refused_everywhere(repo: &TestRepo) -> String {
    let before = everything_below(&repo.root());
    let said = repo.error(2, &["validate"]);
    for arguments in [&["measure"][..], &["--dry-run"], &["measure", "--json"]] {
        assert_eq!(repo.error(2, arguments), said);
    }
    assert_eq!(everything_below(&repo.root()), before);
    let (head, status) = (repo.head(), repo.status());
    let run = repo.run(&[]).expect(2);
    assert_eq!(repo.redacted(&run.stderr), said);
    assert_eq!(run.stdout, "");
    assert_eq!(repo.calls(), 0);
    assert_eq!((repo.head(), repo.status()), (head, status));
    assert!(!repo.has(".agents"));
    said
}

#[test]
fn every_problem_of_a_goals_file_is_told_at_once_each_with_its_place_and_a_hint() {
    let repo = with_goals_file(
        "version: 9
mision: typo
evolve:
  timeout: 5x
goals:
  - id: Not Kebab
    description: first
    check: \"true\"
    weight: 11
  - id: twice
    description: second
    check: true
    weigth: 3
  - id: twice
    description: third
    check: \"true\"
    weight: 2
    continuous: {metric: m, threshold: high, direction: up}
",
    );
    assert_snapshot!(refused_everywhere(&repo), @r#"
    error: version: expected a whole number from 1 to 3, not the number 9
     --> GOALS.yaml:1:10
      |
    1 | version: 9
      |          ^
    hint: 3 is the most

    error: unknown key "mision"
     --> GOALS.yaml:2:1
      |
    2 | mision: typo
      | ^^^^^^
    hint: did you mean mission?

    error: timeout: "5x" is not a duration
     --> GOALS.yaml:4:12
      |
    4 |   timeout: 5x
      |            ^^
    hint: write seconds, as in 90, or a unit, as in "2m"

    error: id: "Not Kebab" is not in kebab-case
     --> GOALS.yaml:6:9
      |
    6 |   - id: Not Kebab
      |         ^^^^^^^^^
    hint: write not-kebab

    error: weight: expected a whole number from 1 to 10, not the number 11
     --> GOALS.yaml:9:13
      |
    9 |     weight: 11
      |             ^^
    hint: 10 is the most

    error: check: expected text, not the value true
      --> GOALS.yaml:12:12
       |
    12 |     check: true
       |            ^^^^
    hint: put it in quotes: "true"

    error: unknown key "weigth"
      --> GOALS.yaml:13:5
       |
    13 |     weigth: 3
       |     ^^^^^^
    hint: did you mean weight?

    error: the id "twice" is taken, by the goal on line 10
      --> GOALS.yaml:14:9
       |
    14 |   - id: twice
       |         ^^^^^
    hint: give each goal an id of its own

    error: threshold: expected a number, not the text "high"
      --> GOALS.yaml:18:40
       |
    18 |     continuous: {metric: m, threshold: high, direction: up}
       |                                        ^^^^
    hint: write a number, as in 80 or 0.5

    error: direction: expected at-least or at-most, not the text "up"
      --> GOALS.yaml:18:57
       |
    18 |     continuous: {metric: m, threshold: high, direction: up}
       |                                                         ^^
    hint: did you mean at-least?
    "#);
}

#[test]
fn a_file_without_goals_says_so_and_how_to_get_one() {
    for text in [
        "",
        "\n\n",
        "# nothing yet\n",
        "null\n",
        "goals:\n",
        "goals: []\n",
        "version: 1\n",
    ] {
        let said = refused_everywhere(&with_goals_file(text));
        assert!(said.contains("No goals to measure"), "{text:?}: {said}");
        assert!(said.contains("hint: "), "{text:?}: {said}");
    }
    let repo = TestRepo::empty();
    repo.commit_all("first");
    assert_snapshot!(refused_everywhere(&repo), @r#"
    error: No goals to measure: there is no GOALS.yaml
    hint: `evolve init` looks at this repository and writes one; `evolve demo` shows a run
    "#);
}

#[test]
fn a_goals_file_that_lies_where_it_is_not_looked_for_is_told_of() {
    let goals = "goals: [{id: a, description: d, check: 'true', weight: 1}]\n";
    let repo = TestRepo::empty();
    repo.write("packages/a/GOALS.yaml", goals);
    repo.write("packages/a/src/x", "");
    let said = repo.error(2, &["-C", "packages/a/src", "validate"]);
    assert_snapshot!(said, @r#"
    error: No goals to measure: there is no GOALS.yaml
    hint: the one in the root is read, not packages/a/GOALS.yaml, unless it is named with `--goals`: its commands run in the root then
    hint: `evolve init` looks at this repository and writes one; `evolve demo` shows a run
    "#);
    repo.write("goals.yml", goals);
    let said = repo.error(2, &["measure"]);
    assert!(
        said.contains("hint: is goals.yml meant? Rename it, or name it: `--goals goals.yml`"),
        "{said}"
    );
}

#[test]
fn a_goals_file_that_is_named_and_not_there_is_told_with_what_lies_in_its_place() {
    let repo = with_goals_file("goals: [{id: a, description: d, check: 'true', weight: 1}]\n");
    repo.write("ci/quick.yaml", "");
    assert_snapshot!(repo.error(2, &["validate", "--goals", "GAOLS.yaml"]), @r#"
    error: No goals to measure: there is no GAOLS.yaml (--goals)
    hint: did you mean GOALS.yaml, which lies in the same folder?
    hint: a path counts from the current directory; without --goals it is GOALS.yaml in the repository's root
    "#);
    for (named, found) in [
        ("nope.yaml", "did you mean GOALS.yaml, which"),
        ("ci/qiuck.yaml", "did you mean quick.yaml, which"),
        (
            "ci/nope.yaml",
            "`evolve init --goals ci/nope.yaml` writes one",
        ),
        ("no/such.yaml", "there is no folder "),
    ] {
        let said = repo.error(2, &["measure", "--goals", named]);
        assert!(said.contains(&format!("hint: {found}")), "{said}");
    }
}

#[test]
fn validate_names_the_agents_that_a_mistyped_one_may_be() {
    let named = |agent: &str| {
        let goals = "goals: [{id: a, description: d, check: 'true', weight: 1}]\n";
        let settings = format!("evolve: {{agent: {agent}, agents: {{mine: {{like: codex}}}}}}");
        let repo = with_goals_file(format!("{settings}\n{goals}"));
        repo.evolve(&["validate"]).expect(0).stderr
    };
    assert_snapshot!(named("claud"), @"warning: no agent and no program is called `claud`: did you mean `claude`? The known agents are claude, codex, gemini, opencode, aider, copilot, qwen, pi, kilo, mine");
    assert!(named("mien").contains("did you mean `mine`?"));
    for known in ["claude", "mine", "sh", "'no-such-program --flag'"] {
        assert_eq!(named(known), "", "{known}");
    }
}

#[test]
fn hostile_yaml_is_refused_in_few_words() {
    let bomb = (1..12).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, level| {
        let alias = format!("*a{},", level - 1).repeat(9);
        format!("{text}a{level}: &a{level} [{alias}]\n")
    });
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("a bomb of aliases", bomb.into_bytes()),
        ("an alias to itself", b"goals: &a [*a]\n".to_vec()),
        ("deep maps", "{a: ".repeat(60_000).into_bytes()),
        ("deep lists", "[".repeat(200_000).into_bytes()),
        ("deep dashes", "- ".repeat(100_000).into_bytes()),
        ("two megabytes", vec![b'#'; 2 << 20]),
        ("one long word", vec![b'x'; 250_000]),
        ("no UTF-8", b"goals:\n  - id: \xff\xfe\n".to_vec()),
        ("a NUL", b"goals:\n  - id: \"a\0b\"\n".to_vec()),
        ("tabs", b"goals:\n\t- id: a\n".to_vec()),
        ("two documents", b"goals: []\n---\ngoals: []\n".to_vec()),
        ("a list", b"- a\n- b\n".to_vec()),
        ("a number", b"42\n".to_vec()),
        ("a tag", b"goals: !!python/object:os.system [ls]\n".to_vec()),
        ("an unknown alias", b"goals: *nowhere\n".to_vec()),
        ("an open quote", b"goals: \"open\n".to_vec()),
        ("a key twice", b"goals: []\ngoals: []\n".to_vec()),
    ];
    for (name, bytes) in cases {
        let said = refused_everywhere(&with_goals_file(bytes));
        assert!(said.starts_with("error: "), "{name}: {said}");
        assert!(said.contains("GOALS.yaml"), "{name}: {said}");
        assert!(said.len() < 2_000, "{name}: {} bytes", said.len());
        assert!(
            !said.contains('\0') && !said.contains("panicked"),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_weight_that_is_no_whole_number_from_1_to_10_is_refused() {
    for weight in [
        "0", "11", "-1", "5.5", "010", "0x5", ".nan", ".inf", "'5'", "five", "", "[5]", "1e1",
    ] {
        let repo = with_goals_file(format!(
            "goals:\n  - id: a\n    description: d\n    check: ls\n    weight: {weight}\n"
        ));
        let said = repo.error(2, &["validate"]);
        assert!(
            said.contains("GOALS.yaml:5:") && said.contains("weight"),
            "{weight}: {said}"
        );
    }
}

#[test]
fn a_goals_file_with_a_byte_order_mark_and_windows_line_ends_is_read() {
    let repo = with_goals_file(
        "\u{feff}version: 1\r\ngoals:\r\n  - id: a\r\n    description: d\r\n    check: test -e a\r\n    weight: 5\r\n",
    );
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_goals_file_that_is_no_plain_file_is_refused() {
    let directory = TestRepo::empty();
    directory.write("GOALS.yaml/x", "");
    directory.commit_all("first");
    assert_snapshot!(refused_everywhere(&directory), @r#"
    error: GOALS.yaml is no plain file
    hint: put the goals into a plain file, or name one with --goals
    "#);

    let fifo = TestRepo::empty();
    fifo.commit_all("first");
    let made = fifo.command("mkfifo").arg("GOALS.yaml").status().unwrap();
    assert!(made.success());
    assert_snapshot!(refused_everywhere(&fifo), @r#"
    error: GOALS.yaml is no plain file
    hint: put the goals into a plain file, or name one with --goals
    "#);

    let link = TestRepo::empty();
    link.write(
        "goals/real.yaml",
        "goals: [{id: a, description: d, check: ls, weight: 1}]\n",
    );
    std::os::unix::fs::symlink("goals/real.yaml", link.path("GOALS.yaml")).unwrap();
    link.commit_all("first");
    assert_snapshot!(refused_everywhere(&link), @r#"
    error: GOALS.yaml is a link, no plain file
    hint: put the goals into the file itself, or name the other one with --goals
    "#);
    link.answer(&["measure", "--goals", "goals/real.yaml"]);

    let big = with_goals_file(vec![b'#'; 2 << 20]);
    assert_snapshot!(refused_everywhere(&big), @r#"
    error: GOALS.yaml: 2097152 bytes are more than the 262144 that are read
    hint: keep goals short; a long check can be a script of its own
    "#);
}

/// Brings a repository into a state with these commands, then asserts that the loop refuses it, names the state and the way
/// out, and changes nothing but its private directory; looking still works.
#[track_caller]
fn state_is_refused(script: &str) -> String {
    let repo = wanting_a();
    repo.write("f", "base\n");
    repo.commit_all("f");
    let script = format!(
        "git switch -qc other && echo other >f && git commit -qam other\n\
         git switch -q main && echo main >f && git commit -qam main\n{script}\n"
    );
    let made = repo.command("sh").args(["-c", &script]).output().unwrap();
    let is_private =
        |path: &Path| path.starts_with(repo.private()) || path.starts_with(repo.path(".git/info"));
    let everything = || {
        let mut found = everything_below(&repo.root());
        found.retain(|path, _| !is_private(path));
        found
    };
    let before = everything();
    let run = repo.run(&[]).expect(3);
    assert_eq!(run.stdout, "", "{made:?}");
    assert_eq!(repo.calls(), 0);
    assert_eq!(everything(), before);
    repo.answer(&["measure"]);
    repo.answer(&["validate"]);
    repo.answer(&["status"]);
    assert_eq!(everything(), before);
    repo.redacted(&run.stderr)
}

#[test]
fn an_operation_in_progress_is_refused_with_the_way_out() {
    assert_snapshot!(state_is_refused("git merge other"), @r#"
    error: a merge is in progress here
    hint: finish it with `git commit`, or end it with `git merge --abort`
    "#);
    assert_snapshot!(state_is_refused("git rebase other"), @r#"
    error: a rebase is in progress here
    hint: finish it with `git rebase --continue`, or end it with `git rebase --abort`
    "#);
    assert_snapshot!(state_is_refused("git rebase --apply other"), @r#"
    error: a rebase is in progress here
    hint: finish it with `git rebase --continue`, or end it with `git rebase --abort`
    "#);
    assert_snapshot!(state_is_refused("git cherry-pick other"), @r#"
    error: a cherry-pick is in progress here
    hint: finish it with `git cherry-pick --continue`, or end it with `git cherry-pick --abort`
    "#);
    assert_snapshot!(state_is_refused("git revert --no-edit HEAD~1 HEAD~2"), @r#"
    error: a revert is in progress here
    hint: finish it with `git revert --continue`, or end it with `git revert --abort`
    "#);
    // Between two of its commits.
    let committed = "git commit --allow-empty -qm a";
    assert_snapshot!(
        state_is_refused(&format!("git revert --no-edit HEAD~1 HEAD; git add f; {committed}")),
        @r#"
    error: a revert is in progress here
    hint: finish it with `git revert --continue`, or end it with `git revert --abort`
    "#);
    assert_snapshot!(
        state_is_refused(&format!("git cherry-pick other main~1; git add f; {committed}")),
        @r#"
    error: a cherry-pick is in progress here
    hint: finish it with `git cherry-pick --continue`, or end it with `git cherry-pick --abort`
    "#);
    assert_snapshot!(state_is_refused("git bisect start && git bisect bad"), @r#"
    error: a bisect is in progress here
    hint: end it with `git bisect reset`
    "#);
    assert_snapshot!(
        state_is_refused("git format-patch -q -1 other --stdout >.git/p && git am .git/p"),
        @r#"
    error: a `git am` is in progress here
    hint: finish it with `git am --continue`, or end it with `git am --abort`
    "#
    );
}

#[test]
fn conflicts_in_the_ledger_that_git_takes_for_no_operation_are_refused() {
    let commit = "mkdir -p .agents/evolve; echo $(git branch --show-current) >.agents/evolve/fitness-1.json; git add .agents; git commit -qm l";
    let script = format!(
        "git switch -qc third HEAD~1; {commit}; git switch -q main; {commit}; git merge -q --squash third"
    );
    assert_snapshot!(state_is_refused(&script), @r#"
    error: a merge left conflicts in evolve's own files: .agents/evolve/fitness-1.json
    hint: keep this branch's: `git restore --source=HEAD --staged --worktree .agents/evolve`, and commit the rest; or take the merge back: `git reset --merge`
    "#);
}

#[test]
fn a_head_without_a_branch_is_refused() {
    assert_snapshot!(state_is_refused("git switch -q --detach"), @r#"
    error: HEAD is detached: there is no branch to commit to
    hint: check out a branch, as in `git switch main` or `git switch -c maintenance`
    "#);
}

#[test]
fn a_head_that_git_left_as_a_link_is_refused_with_a_way_out_that_helps() {
    let script = "git config core.preferSymlinkRefs true; git symbolic-ref HEAD refs/heads/main; test -h .git/HEAD";
    assert_snapshot!(state_is_refused(script), @r#"
    error: HEAD is a link to a file, from which nobody but git itself tells the branch
    hint: have git write it: `git config core.preferSymlinkRefs false`, then `git symbolic-ref HEAD "$(git symbolic-ref HEAD)"`
    "#);
    let repo = wanting_a();
    let way_out = "git config core.preferSymlinkRefs false; git symbolic-ref HEAD \"$(git symbolic-ref HEAD)\"";
    let script = format!("{script}; {way_out}");
    let made = repo.command("sh").args(["-c", &script]).status().unwrap();
    assert!(made.success());
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.newest()["result"], "improved");
}

#[test]
fn a_repository_without_a_commit_is_refused_by_the_loop_and_measured_all_the_same() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "goals: [{id: a, description: d, check: ls, weight: 1}]\n",
    );
    let run = repo.run(&[]).expect(3);
    assert_snapshot!(repo.redacted(&run.stderr), @r#"
    error: this repository has no commit yet
    hint: make the first one: `git add -A && git commit -m 'first commit'`
    "#);
    repo.answer(&["measure"]);
    repo.answer(&["validate"]);
    repo.answer(&["status"]);
}

#[test]
fn a_folder_that_is_in_no_repository_is_refused_by_every_command() {
    let repo = wanting_a();
    let folder = repo.outside();
    let folder = folder.to_str().unwrap();
    let said = repo.error(3, &["-C", folder]);
    assert_snapshot!(said, @r#"
    error: [outside] is not in a git repository
    hint: run evolve in one, name it with `-C DIR`, or make one with `git init`
    "#);
    for command in [
        &["measure"][..],
        &["validate"],
        &["status"],
        &["history"],
        &["show", "1"],
        &["work", "list"],
        &["work", "add", "x"],
        &["retry", "a"],
        &["stop"],
        &["--dry-run"],
    ] {
        let all: Vec<_> = ["-C", folder].iter().chain(command).copied().collect();
        assert_eq!(repo.error(3, &all), said, "{command:?}");
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
}

#[test]
fn a_bare_repository_is_refused() {
    let repo = wanting_a();
    let bare = repo.outside().join("bare");
    repo.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    let before = everything_below(&bare);
    let bare_name = bare.to_str().unwrap();
    let said = repo.error(3, &["-C", bare_name, "measure"]);
    assert_snapshot!(said, @r#"
    error: [outside]/bare is a bare repository: there are no files to work on
    hint: run evolve in a clone of it
    "#);
    assert_eq!(repo.error(3, &["-C", bare_name]), said);
    assert_eq!(everything_below(&bare), before);
}

#[test]
fn a_repository_that_libgit2_cannot_read_is_refused_in_words() {
    let repo = wanting_a();
    let other = repo.outside().join("sha256");
    let other = other.to_str().unwrap();
    repo.git(&["init", "--quiet", "--object-format=sha256", other]);
    assert_snapshot!(repo.error(3, &["-C", other]), @r#"
    error: cannot open the repository of [outside]/sha256: unknown object format 'sha256'
    hint: evolve needs a repository that libgit2 reads: SHA-1, files as ref storage
    "#);
}

#[test]
fn untracked_goals_are_measured_and_refused_by_the_loop() {
    let repo = TestRepo::empty();
    repo.commit_all("first");
    repo.write(
        "GOALS.yaml",
        "goals: [{id: a, description: d, check: test -e a, weight: 1}]\n",
    );
    let before = (repo.head(), repo.status());
    repo.answer(&["measure"]);
    repo.answer(&["validate"]);
    assert!(repo.answer(&["--dry-run"]).contains("would work on a"));
    let run = repo.run(&[]).expect(3);
    assert_snapshot!(repo.redacted(&run.stderr), @r#"
    error: GOALS.yaml is not committed, so an undo could not bring it back
    hint: commit it first: `git add GOALS.yaml && git commit -m 'goals'`
    "#);
    assert_eq!(repo.calls(), 0);
    assert_eq!((repo.head(), repo.status()), before);
}

#[test]
fn a_dirty_tree_is_refused_with_its_files_and_keeps_every_byte() {
    let repo = wanting_a();
    for name in ["staged", "changed", "gone"] {
        repo.write(name, "old\n");
    }
    repo.commit_all("files");
    repo.write("staged", "new\n");
    repo.git(&["add", "staged"]);
    repo.write("changed", "new\n");
    fs::remove_file(repo.path("gone")).unwrap();
    repo.write("untracked", "mine\n");
    let (head, status) = (repo.head(), repo.status());
    let run = repo.run(&[]).expect(3);
    assert_snapshot!(repo.redacted(&run.stderr), @r#"
    error: 3 tracked files have uncommitted changes, which an undo could not tell from the agent's:
      changed
      gone
      staged
    hint: commit or stash them first, or let the agent work in a copy: `evolve --isolate`
    "#);
    assert_eq!((repo.head(), repo.status()), (head, status));
    assert_eq!(repo.read("changed"), "new\n");
    assert_eq!(repo.calls(), 0);
    assert!(!repo.has(".agents"));
    assert!(repo.answer(&["--dry-run"]).contains("would work on a"));
}

#[test]
fn a_linked_worktree_is_worked_on_beside_the_main_one_with_a_lock_of_its_own() {
    let repo = wanting_a();
    let linked = repo.outside().join("linked");
    let linked = linked.to_str().unwrap();
    repo.git(&["worktree", "add", "--quiet", "-b", "side", linked]);
    let go = repo.outside().join("go");
    let slow = format!(
        "until [ -e {} ]; do sleep 0.05; done; touch a",
        go.display()
    );
    let agent = format!("--agent={slow}");
    let busy = repo.spawn(&[&agent, "--max-cycles=1"]);
    wait_until("the main worktree is at work", || {
        repo.answer(&["status"]).contains("at work")
    });
    repo.evolve(&["--agent=touch a", "--max-cycles=1"])
        .expect(5);
    repo.evolve(&["-C", linked, "--agent=touch a", "--max-cycles=1"])
        .expect(0);
    fs::write(go, "").unwrap();
    finish(busy).expect(0);
    assert!(repo.private().join("lock").exists());
    assert!(repo.path(".git/worktrees/linked/evolve/lock").exists());
    for branch in ["main", "side"] {
        assert!(
            repo.content(branch)
                .iter()
                .any(|line| line.ends_with("\ta")),
            "{branch}"
        );
    }
}

#[test]
fn what_a_check_writes_into_tracked_files_is_known_to_be_new() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a, check: 'date +%N >stamp; test -e a', weight: 5}\n",
    );
    repo.write("stamp", "old\n");
    repo.commit_all("stamp");
    let run = repo.cycle("touch a").expect(3);
    for told in [
        "1 tracked file has uncommitted changes since the session began",
        "stamp",
        "if a check or a sweep's command writes them, let it write where git ignores it",
    ] {
        assert!(run.stderr.contains(told), "{told}:\n{}", run.stderr);
    }
}

#[test]
fn a_shallow_clone_is_worked_on() {
    let repo = wanting_a();
    repo.commit_all("second");
    let clone = repo.outside().join("clone");
    let clone = clone.to_str().unwrap();
    let url = format!("file://{}", repo.root().display());
    repo.git(&["clone", "--quiet", "--depth=1", &url, clone]);
    repo.evolve(&["-C", clone, "--agent=touch a", "--max-cycles=1"])
        .expect(0);
    let history = fs::read_to_string(Path::new(clone).join(HISTORY)).unwrap();
    assert!(history.contains("\"improved\""), "{history}");
}

#[test]
fn in_a_folder_below_the_root_everything_is_as_in_the_root() {
    let repo = wanting_a();
    repo.write("sub/deep/file", "");
    repo.write(
        "sub/other.yaml",
        "goals: [{id: b, description: d, check: test -e GOALS.yaml, weight: 1}]\n",
    );
    repo.commit_all("sub");
    let sub = repo.path("sub/deep");
    let sub = sub.to_str().unwrap();
    let answer = repo.answer(&["-C", sub, "measure", "--goals", "../other.yaml"]);
    assert!(answer.starts_with("pass  b"), "{answer}");
    repo.evolve(&["-C", sub, "--agent=touch a", "--max-cycles=1"])
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(!repo.has("sub/deep/a") && !repo.has("sub/deep/.agents"));
}

#[test]
fn a_goals_file_outside_the_repository_is_used_and_neither_copied_nor_committed() {
    let repo = TestRepo::empty();
    repo.commit_all("first");
    let goals = repo.outside().join("goals.yaml");
    fs::write(
        &goals,
        "goals: [{id: a, description: d, check: test -e a, weight: 1}]\n",
    )
    .unwrap();
    let goals = format!("--goals={}", goals.display());
    repo.agent_does(&["touch a"]);
    repo.run(&[&goals, "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.content("HEAD").len(), 1);
}

#[test]
fn another_folder_is_named_before_or_after_the_command() {
    let repo = wanting_a();
    let root = repo.root();
    let root = root.to_str().unwrap();
    let from = repo.outside();
    let ask = |arguments: &[&str]| {
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command
            .current_dir(&from)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        finish(command.spawn().unwrap())
    };
    assert_eq!(
        ask(&["-C", root, "validate"]).expect(0).stdout,
        ask(&["validate", "-C", root]).expect(0).stdout
    );
    ask(&["-C", root, "--agent=touch a", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_snapshot!(repo.redacted(&ask(&["-C", "nowhere", "status"]).expect(2).stderr), @r#"
    error: cannot go to nowhere: No such file or directory (os error 2)
    hint: name a folder with -C that is there, or leave it out
    "#);
}

#[test]
fn git_variables_that_name_another_repository_are_not_heeded() {
    let mut repo = wanting_a();
    let other = TestRepo::with_files_wanted(&[("b", 1)]);
    let before = everything_below(&other.root());
    repo.agent_does(&["env | grep ^GIT_ >\"$HOME/seen\"; git log -1 >/dev/null && touch a && git add a && git commit -qm a"]);
    let other_git = other.path(".git").display().to_string();
    for (name, value) in [
        ("GIT_DIR", other_git.clone()),
        ("GIT_WORK_TREE", other.root().display().to_string()),
        ("GIT_INDEX_FILE", format!("{other_git}/index")),
        ("GIT_COMMON_DIR", other_git.clone()),
        ("GIT_OBJECT_DIRECTORY", format!("{other_git}/objects")),
    ] {
        repo.env.push((name.to_owned(), value));
    }
    repo.run(&["--max-cycles=1"]).expect(0);
    let seen = fs::read_to_string(repo.home().join("seen")).unwrap();
    assert!(!seen.contains(&other_git), "{seen}");
    repo.env.clear();
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_eq!(everything_below(&other.root()), before);
}

fn record(cycle: u64) -> String {
    format!(
        "{{\"format\":1,\"cycle\":{cycle},\"goal_id\":\"z\",\"result\":\"improved\",\"commit_sha\":\"{}\",\"reverted_to\":null,\
         \"goals_passing\":1,\"goals_total\":1,\"goals_added\":0,\"timestamp\":\"2026-01-01T00:00:00Z\",\"score_before\":1.0,\
         \"score_after\":2.0,\"newly_failing\":[],\"newly_passing\":[],\"reason\":null,\"definition\":null,\"content\":null,\
         \"session\":null,\"agent\":null}}",
        "a".repeat(40)
    )
}

#[test]
fn a_damaged_history_is_read_as_far_as_possible_and_kept_byte_for_byte() {
    let (one, two) = (record(1), record(2));
    let torn = &record(3)[..40];
    let cases: Vec<(&str, Vec<u8>, u64, usize)> = vec![
        (
            "a torn last line",
            format!("{one}\n{two}\n{torn}").into_bytes(),
            3,
            1,
        ),
        (
            "no newline at the end",
            format!("{one}\n{two}").into_bytes(),
            3,
            0,
        ),
        (
            "Windows line ends",
            format!("{one}\r\n{two}\r\n").into_bytes(),
            3,
            0,
        ),
        (
            "a byte order mark",
            format!("\u{feff}{one}\n{two}\n").into_bytes(),
            3,
            0,
        ),
        (
            "blank lines",
            format!("\n{one}\n\n \n{two}\n\n").into_bytes(),
            3,
            0,
        ),
        (
            "conflict markers",
            format!("<<<<<<< a\n{one}\n=======\n{two}\n>>>>>>> b\n").into_bytes(),
            3,
            3,
        ),
        (
            "duplicate numbers",
            format!("{one}\n{two}\n{two}\n").into_bytes(),
            3,
            0,
        ),
        (
            "numbers out of order",
            format!("{}\n{one}\n", record(7)).into_bytes(),
            8,
            0,
        ),
        (
            "an unknown field",
            format!("{}\n", one.replacen('{', "{\"mood\":\"fine\",", 1)).into_bytes(),
            2,
            0,
        ),
        (
            "no format",
            format!("{}\n", one.replacen("\"format\":1,", "", 1)).into_bytes(),
            2,
            0,
        ),
        (
            "an unknown result",
            format!("{}\n{two}\n", one.replace("improved", "blessed")).into_bytes(),
            3,
            1,
        ),
        (
            "no UTF-8",
            [format!("{one}\n").as_bytes(), b"\xff\xfe{\n"].concat(),
            2,
            1,
        ),
        ("other things", b"[]\n1\nnull\n{}\n\"x\"\n".to_vec(), 1, 5),
        (
            "a huge number",
            format!(
                "{one}\n{}\n",
                record(2).replace(":2,", ":18446744073709551615000,")
            )
            .into_bytes(),
            2,
            1,
        ),
    ];
    for (name, bytes, next, problems) in cases {
        let repo = wanting_a();
        fs::create_dir_all(repo.path(HISTORY).parent().unwrap()).unwrap();
        fs::write(repo.path(HISTORY), &bytes).unwrap();
        let said = repo.evolve(&["history"]).expect(0).stderr;
        assert_eq!(said.lines().count(), problems, "{name}: {said}");
        let status: Value =
            serde_json::from_str(&repo.evolve(&["status", "--json"]).expect(0).stdout).unwrap();
        assert_eq!(
            status["problems"].as_array().unwrap().len(),
            problems,
            "{name}"
        );
        let run = repo.cycle("touch a").expect(0);
        assert_eq!(
            run.stderr.matches("warning: ").count(),
            problems,
            "{name}: {}",
            run.stderr
        );
        let now = fs::read(repo.path(HISTORY)).unwrap();
        let rest = now
            .strip_prefix(bytes.as_slice())
            .unwrap_or_else(|| panic!("{name}: {}", String::from_utf8_lossy(&now)));
        let rest = String::from_utf8(rest.to_vec()).unwrap();
        let added: Value = serde_json::from_str(rest.trim_start_matches('\n')).unwrap();
        assert_eq!(added["cycle"], next, "{name}");
        assert_eq!(added["result"], "improved", "{name}");
    }
}

#[test]
fn problems_of_the_ledger_are_named_with_file_and_line() {
    let repo = wanting_a();
    repo.write(HISTORY, &format!("{}\n{{\"cycle\":\n", record(1)));
    repo.write(QUEUE, "nonsense\n{\"no\":\"title\"}\n");
    assert_snapshot!(repo.redacted(&repo.evolve(&["history"]).expect(0).stderr), @"warning: .agents/evolve/cycle-history.jsonl, line 2: not a record: EOF while parsing a value");
    assert_snapshot!(repo.redacted(&repo.evolve(&["work", "list"]).expect(0).stderr), @r#"
    warning: .agents/rpi/next-work.jsonl, line 1: not JSON: expected ident
    warning: .agents/rpi/next-work.jsonl, line 2: neither a title nor items
    "#);
    assert_snapshot!(repo.redacted(&repo.cycle("touch a").expect(0).stderr), @r#"
    warning: .agents/evolve/cycle-history.jsonl, line 2: not a record: EOF while parsing a value
    warning: .agents/rpi/next-work.jsonl, line 1: not JSON: expected ident
    warning: .agents/rpi/next-work.jsonl, line 2: neither a title nor items
    "#);
}

#[test]
fn beside_what_a_newer_program_wrote_nothing_is_written_and_everything_is_shown() {
    let newer = record(2).replace("\"format\":1", "\"format\":2");
    for (name, text) in [
        (HISTORY, format!("{}\n{newer}\n", record(1))),
        (
            HISTORY,
            "{\"format\":2,\"cycle\":2,\"outcome\":\"blessed\"}\n".to_owned(),
        ),
        (
            ".agents/evolve/lessons.jsonl",
            "{\"format\":2,\"lesson\":\"x\"}\n".to_owned(),
        ),
        (
            ".agents/evolve/retries.jsonl",
            "{\"format\":7}\n".to_owned(),
        ),
        (
            ".agents/evolve/fitness-0-baseline.json",
            "{\n  \"format\": 2\n}\n".to_owned(),
        ),
    ] {
        let repo = wanting_a();
        repo.write(name, &text);
        repo.commit_all("newer");
        let (head, status) = (repo.head(), repo.status());
        let run = repo.run(&[]).expect(3);
        assert!(
            run.stderr.contains("a newer evolve") && run.stderr.contains(name),
            "{}",
            run.stderr
        );
        repo.error(3, &["retry", "a"]);
        repo.error(3, &["work", "add", "x"]);
        for command in [
            &["status", "--json"][..],
            &["history", "--json"],
            &["work", "list"],
            &["measure"],
            &["--dry-run"],
        ] {
            repo.evolve(command).expect(0);
        }
        assert_eq!((repo.head(), repo.status()), (head, status), "{name}");
        assert_eq!(repo.read(name), text);
        assert_eq!(repo.calls(), 0);
    }
}

#[test]
fn malformed_lines_of_the_queue_are_reported_and_kept_byte_for_byte() {
    let lines: [&[u8]; 7] = [
        b"not json at all\n",
        b"{\"title\": \"torn\n",
        b"\xff\xfe bytes\r\n",
        b"<<<<<<< ours\n",
        b"[1,  2]\n",
        b"\n",
        b"{ \"severity\" : \"high\", \"no title\": 1 }\n",
    ];
    let mut bytes = lines.concat();
    bytes.extend_from_slice(b"{\"title\":\"do it\",\"severity\":\"low\",\"mood\":\"kept\"}\n");
    let repo = TestRepo::with_goals("  - {id: a, description: d, check: ls, weight: 5}\n");
    fs::create_dir_all(repo.path(".agents/rpi")).unwrap();
    fs::write(repo.path(QUEUE), &bytes).unwrap();
    let run = repo.cycle("touch done").expect(0);
    assert_eq!(repo.each("goal_id"), ["next-work:do it"]);
    assert_eq!(run.stderr.matches("warning: ").count(), 6, "{}", run.stderr);
    let now = fs::read(repo.path(QUEUE)).unwrap();
    let rest = now
        .strip_prefix(lines.concat().as_slice())
        .expect("the malformed lines are as they were");
    let item: Value = serde_json::from_slice(rest).unwrap();
    assert_eq!(
        (&item["consumed"], &item["mood"]),
        (&Value::Bool(true), &Value::from("kept"))
    );
}

#[test]
fn snapshots_that_are_garbage_are_passed_over() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.agent_does(&["touch a", "touch b"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    for name in [
        "fitness-0-baseline.json",
        "fitness-1.json",
        "fitness-1-post.json",
    ] {
        repo.write(
            &format!(".agents/evolve/{name}"),
            "{\"format\": 1, \"goals\": [{",
        );
    }
    repo.evolve(&["show", "1"]).expect(0);
    repo.evolve(&["status", "--json"]).expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
}

#[test]
fn a_baseline_that_was_cut_off_is_taken_again() {
    let repo = wanting_a();
    repo.write(
        ".agents/evolve/fitness-0-baseline.json",
        "{\"format\": 1, \"goals\": [{",
    );
    repo.cycle("touch a").expect(0);
    assert_eq!(
        repo.json(".agents/evolve/fitness-0-baseline.json")["goals"][0]["result"],
        "fail"
    );
}

#[test]
fn an_agent_that_cannot_run_is_told_before_anything_is_written() {
    let mut repo = wanting_a();
    repo.installs("");
    repo.write("agent.sh", "#!/bin/sh\ntouch a\n");
    repo.commit_all("agent");
    let (head, status) = (repo.head(), repo.status());
    assert_snapshot!(repo.error(4, &[]), @r#"
    error: no agent is configured and none is installed, so nothing could be fixed
    hint: install one of claude, codex, gemini, opencode, aider, copilot, qwen, pi, kilo
    hint: or name any other: `evolve --agent 'my-agent --flag'`, or `evolve: {agent: …}` in GOALS.yaml or in ~/.config/evolve/config.yaml
    hint: `evolve measure` and `evolve --dry-run` need no agent
    "#);
    assert_snapshot!(repo.error(4, &["--agent=no-such-agent --print"]), @r#"
    error: the agent cannot run: `no-such-agent` is missing or not executable
    hint: the agent is `no-such-agent --print`; install it, or name another with --agent
    "#);
    assert_snapshot!(repo.error(4, &["--agent=./agent.sh"]), @r#"
    error: the agent cannot run: `./agent.sh` is missing or not executable in [root], where the agent is called
    hint: the agent is `./agent.sh`; make it one that can be run: `chmod +x ./agent.sh`
    "#);
    assert_snapshot!(repo.error(4, &["--agent=/"]), @r#"
    error: the agent cannot run: `/` is missing or not executable
    hint: the agent is `/`; install it, or name another with --agent
    "#);
    let agent = repo.outside().join("fix.sh");
    fs::rename(repo.path("agent.sh"), &agent).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&agent, executable).unwrap();
    repo.git(&["checkout", "--quiet", "."]);
    let run = repo.evolve(&["--isolate", "--agent=../agent/fix.sh"]);
    let said = run.expect(4).stderr;
    let hint = "/agent/fix.sh: name it by its whole path, or commit it to the repository\n";
    assert!(said.contains(hint), "{said}");
    for (agent, words) in [
        (
            "sh nope.sh --fast",
            "error: the agent cannot run: there is no nope.sh\n",
        ),
        ("if", "the shell cannot read its command line\nhint: sh: "),
        (
            "echo 'a",
            "the shell cannot read its command line\nhint: sh: ",
        ),
    ] {
        let error = repo.error(4, &["--agent", agent]);
        assert!(error.contains(words), "{agent}: {error}");
    }
    assert_eq!((repo.head(), repo.status()), (head, status));
    assert!(!repo.has(".agents"));
}

#[test]
fn goals_of_which_none_can_be_measured_end_the_session_with_nothing_recorded() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: no-such-linter --all, weight: 5}\n  - {id: b, description: d, check: exit 77, weight: 5}\n",
    );
    let head = repo.head();
    let run = repo.run(&[]).expect(2);
    assert_snapshot!(repo.redacted(&run.stderr), @r#"
    error: no goal can be measured:
      a: no-such-linter --all — cannot be executed (exit 127): sh: 1: no-such-linter: not found
      b: exit 77 — skipped by the check itself (exit 77)
    hint: install what is missing or mend the checks; PATH is [path]
    "#);
    assert_eq!(run.stderr, repo.evolve(&["measure"]).expect(2).stderr);
    let mut path = std::env::var_os("PATH").unwrap();
    path.push(OsStr::from_bytes(b":/caf\xe9"));
    let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
    command.arg("measure").env("PATH", path);
    let run = finish(
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    assert!(run.stderr.contains(":/caf\\351'\n"), "{}", run.stderr);
    assert_eq!((repo.head(), repo.status()), (head, Vec::<String>::new()));
    assert_eq!(repo.calls(), 0);
    assert!(!repo.has(HISTORY));
}

#[test]
fn what_a_terminal_would_act_on_and_secrets_do_not_reach_it() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: \"red \\e[31m\\a\\u202e {token}\", check: \"echo '\\e[2J {token}'; test -e a\", weight: 5}}\n"
    ));
    repo.write(
        QUEUE,
        &format!(
            "{{\"title\":\"t\\u001b[31m\\u202e {token}\",\"description\":\"\\u001b]0;x\\u0007\"}}\n"
        ),
    );
    repo.git(&[
        "switch",
        "--quiet",
        "-c",
        &format!("b\u{202e}\u{9b}-{token}"),
    ]);
    let mut runs = vec![
        repo.evolve(&["--dry-run"]).expect(0),
        repo.evolve(&["validate"]).expect(0),
        repo.evolve(&["measure"]).expect(0),
        repo.evolve(&["measure", "--json"]).expect(0),
        repo.evolve(&["status"]).expect(0),
        repo.evolve(&["work", "list"]).expect(0),
    ];
    repo.agent_does(&[&format!("echo 'worn \x1b[5m {token}' >\"$EVOLVE_GIVE_UP\"")]);
    runs.push(repo.run(&["-v", "--max-cycles=1"]).expect(0));
    runs.push(repo.evolve(&["history"]).expect(0));
    runs.push(repo.evolve(&["show", "1"]).expect(0));
    runs.push(repo.evolve(&["status"]).expect(0));
    runs.push(
        repo.evolve(&[&format!("--agent=no-such-agent {token}")])
            .expect(4),
    );
    for run in runs {
        let text = run.stdout + &run.stderr;
        assert!(
            !text.contains(['\x1b', '\u{202e}', '\u{9b}', '\x07']),
            "{text:?}"
        );
        assert!(!text.contains(token), "{text}");
    }
}

#[test]
fn no_reference_in_any_input_is_ever_fetched() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/s.json", listener.local_addr().unwrap());
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let goals = repo.read("GOALS.yaml");
    let reference = format!(
        "# yaml-language-server: $schema={url}\nx-more: {{$ref: \"{url}\", $schema: \"{url}\"}}\n"
    );
    repo.write("GOALS.yaml", &format!("{reference}{goals}"));
    repo.commit_all("goals");
    let document = format!("{{\"$schema\":\"{url}\",\"$ref\":\"{url}\",\"title\":\"x\"}}\n");
    repo.write(".agents/rpi/next-work.jsonl", &document);
    repo.evolve(&["validate"]).expect(0);
    repo.evolve(&["work", "list"]).expect(0);
    repo.cycle(&format!(
        "touch a; printf %s '{document}' >\"$EVOLVE_NEXT_WORK\"; printf %s '{document}' >\"$EVOLVE_LESSONS\""
    ))
    .expect(0);
    for arguments in [&["audit"][..], &["history"], &["status", "--json"]] {
        repo.evolve(arguments).expect(0);
    }
    let met = listener.accept().map_err(|cause| cause.kind());
    assert_eq!(
        met.err(),
        Some(std::io::ErrorKind::WouldBlock),
        "{url} was asked for"
    );
    // Nor is there anything in the program that could.
    let lock = include_str!("../Cargo.lock");
    for client in ["reqwest", "ureq", "hyper", "rustls", "native-tls", "curl"] {
        assert!(!lock.contains(&format!("name = \"{client}\"")), "{client}");
    }
}

#[test]
fn a_warning_about_the_goals_shows_its_line_and_what_to_do() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "goals:\n  - id: a\n    description: d\n    check: echo 5\n    weight: 5\n    continuous: {threshold: 3}\n",
    );
    repo.commit_all("goals");
    let expected = "\
warning: without a direction the exit code alone decides, the value is only shown
 --> GOALS.yaml:6:29
  |
6 |     continuous: {threshold: 3}
  |                             ^
hint: add direction: at-least or direction: at-most
";
    for command in ["validate", "measure", "ratchet"] {
        assert_eq!(
            repo.evolve(&[command]).expect(0).stderr,
            expected,
            "{command}"
        );
        assert_eq!(
            repo.evolve(&[command, "-q"]).expect(0).stderr,
            "",
            "{command}"
        );
    }
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    let line = "warning: GOALS.yaml:6:29: without a direction";
    assert!(run.stderr.starts_with(line), "{}", run.stderr);
}

#[test]
fn what_cannot_be_linked_is_told_by_whatever_looks_at_the_goals_as_by_a_run() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let goals = repo.read("GOALS.yaml");
    let linked = |path: &str| {
        let text = format!("{goals}evolve: {{isolate: true, link: [{path}]}}\n");
        repo.write("GOALS.yaml", &text);
        repo.commit_all("link");
    };
    linked("GOALS.yaml");
    let error = "GOALS.yaml cannot be linked: git tracks it, so a copy has it";
    for (words, code) in [
        (&["validate"][..], 2),
        (&["--dry-run"], 2),
        (&["doctor"], 10),
    ] {
        let run = repo.evolve(words).expect(code);
        let said = run.stdout + &run.stderr;
        assert!(said.contains(error), "{words:?}: {said}");
    }
    repo.run(&["--max-cycles=1"]).expect(2);
    linked("deps");
    let warning = "deps is to be linked, and is not in the checkout";
    for words in [&["validate"][..], &["--dry-run"], &["doctor"]] {
        let run = repo.evolve(words);
        let said = run.stdout + &run.stderr;
        assert!(said.contains(warning), "{words:?}: {said}");
    }
}

#[test]
fn a_check_that_the_shell_cannot_read_is_refused_by_whatever_would_run_it() {
    let mut repo = TestRepo::empty();
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: 'if true; then echo', weight: 5}\n",
    );
    repo.env
        .push(("EVOLVE_AGENT".to_owned(), "true".to_owned()));
    for command in [
        &["measure"][..],
        &["measure", "b"],
        &["--dry-run"],
        &["--max-cycles=1"],
        &["--max-cycles=1", "--skip-baseline"],
        &["validate"],
    ] {
        let run = repo.evolve(command).expect(2);
        let said = "check: the shell cannot read it: ";
        assert!(run.stderr.contains(said), "{command:?}: {}", run.stderr);
        assert!(run.stderr.contains("GOALS.yaml:4:"), "{}", run.stderr);
    }
    let doctor = repo.evolve(&["doctor"]).expect(10);
    assert!(
        doctor.stdout.contains("the shell cannot read it"),
        "{}",
        doctor.stdout
    );
    // What goes on is what can be measured without it.
    repo.evolve(&["measure", "a"]).expect(0);
}
