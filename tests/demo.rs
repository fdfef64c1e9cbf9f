//! `evolve demo`: the whole loop in half a second, on a repository of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::harness::{Run, TestRepo, finish, redacted};

/// Runs the demonstration from the sealed environment's folder of repositories, with no git identity anywhere.
fn demo(sealed: &TestRepo, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Run {
    let mut command = sealed.command(env!("CARGO_BIN_EXE_evolve"));
    command
        .env_remove("GIT_AUTHOR_DATE")
        .env_remove("GIT_COMMITTER_DATE");
    command
        .env("TMPDIR", sealed.outside())
        .current_dir(sealed.home());
    command
        .arg("demo")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    change(&mut command);
    finish(command.spawn().unwrap())
}

/// The repository that the demonstration says it made.
#[track_caller]
fn made(run: &Run) -> PathBuf {
    let line = run
        .stdout
        .lines()
        .find_map(|line| line.trim().strip_prefix("cd "));
    PathBuf::from(
        line.unwrap_or_else(|| panic!("{}", run.stdout))
            .trim_matches('\''),
    )
}

fn git(sealed: &TestRepo, root: &Path, arguments: &[&str]) -> String {
    sealed.git(&[&["-C", root.to_str().unwrap()], arguments].concat())
}

/// Asserts that the results appear in this order, and that the repository is as clean as its history is telling.
#[track_caller]
fn tells_the_story(sealed: &TestRepo, run: &Run) -> PathBuf {
    assert_eq!(run.stderr, "");
    let mut rest = run.stdout.as_str();
    for word in ["improved", "regressed", "harvested", "dormant"] {
        let at = rest
            .find(word)
            .unwrap_or_else(|| panic!("{word} is not in {rest}"));
        rest = &rest[at + word.len()..];
    }
    let root = made(run);
    assert_eq!(git(sealed, &root, &["status", "--porcelain"]), "");
    root
}

#[test]
fn the_demonstration_improves_regresses_harvests_and_goes_dormant() {
    let sealed = TestRepo::empty();
    let run = demo(&sealed, &[], |_| {}).expect(0);
    let root = tells_the_story(&sealed, &run);
    let folder = root.parent().unwrap().display().to_string();
    assert_snapshot!(redacted(&run.stdout).replace(&folder, "[folder]"), @r#"
    A small repository in [folder]/calc, with three goals and one item of work.

    evolve 0.1.0 · session [session] · 3 goals · agent sh [folder]/agent.sh · [jobs] at once
    protections: no sandbox: the agent may write wherever you may; its git cannot push
    baseline: score 47.37, 1 of 3 goals pass; failing usage-documented, open-ends
    cycle 1 · usage-documented: heaviest failing goal, weight 6
      agent at work, log .git/evolve/logs/[session]/1-agent.log
      agent done after [s]: 1 commit, 1 file
      improved · score 47.37 → 78.95 (1 → 2 of 3 goals)
    cycle 2 · open-ends: the only failing goal, weight 4
      agent at work, log .git/evolve/logs/[session]/2-agent.log
      agent done after [s]: 1 commit, 1 file
      regressed · measured 78.95 → 52.63, back at 78.95 (2 of 3 goals)
      undone: passed before and no longer: tests-pass (exit 1)
      the undone work stays under refs/evolve/[session]/2
    cycle 3 · open-ends: the only failing goal, weight 4
      measured: score 78.95, 2 of 3 goals pass; failing open-ends
      agent at work, log .git/evolve/logs/[session]/3-agent.log
      agent done after [s]: 1 file, committed by evolve
      improved · score 78.95 → 100 (2 → 3 of 3 goals)
      changed what a check leans on and only `protect` would freeze: calc.sh
    cycle 4 · next-work:Teach calc to multiply: no goal fails; most severe item of the queue (medium)
      measured: score 100, 3 of 3 goals pass
      agent at work, log .git/evolve/logs/[session]/4-agent.log
      agent done after [s]: 1 commit, 1 file
      harvested · score 100 (3 of 3 goals)
    cycle 5 · nothing to do
      measured: score 100, 3 of 3 goals pass
      idle: no goal fails and the queue is empty
    cycle 6 · nothing to do
      measured: score 100, 3 of 3 goals pass
      idle: no goal fails and the queue is empty
    cycle 7 · nothing to do
      measured: score 100, 3 of 3 goals pass
      idle: no goal fails and the queue is empty
    dormant after 7 cycles: no goal fails and the queue is empty
    score 47.37 → 100, goals passing 1 → 3 of 3, 7 cycles: 2 improved, 1 harvested, 1 regressed, 3 idle
    agent: 4 calls, tokens and cost unknown

    Where to look:
      cd [folder]/calc
      git log --stat        every step, the undo included
      evolve history        what became of each cycle
      evolve show 2         the cycle that was undone
      evolve report --open  one page about all of it, in the browser
      cat .agents/evolve/session-summary.md
    "#);
    // The README shows the same of a process that has a number like any other.
    let (_, shown) = include_str!("../README.md")
        .split_once("$ evolve demo\n")
        .unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert!(shown.contains(&format!("Z-{:x} ", 6543)), "{shown}");
    assert_eq!(
        redacted(shown).replace("/tmp/evolve-demo-6543", "[folder]"),
        redacted(&run.stdout).replace(&folder, "[folder]")
    );
    let log = git(&sealed, &root, &["log", "--reverse", "--format=%an: %s"]);
    assert_snapshot!(redacted(&log), @r#"
    Demo: calc: first version
    Demo: README: say how to use it
    Demo: evolve: cycle 1 — usage-documented improved
    Demo: calc: take the open end out
    Demo: revert: evolve cycle 2 regression in tests-pass
    Demo: evolve: cycle 2 — open-ends regressed
    Demo: evolve: cycle 3, what the agent left uncommitted
    Demo: evolve: cycle 3 — open-ends improved
    Demo: calc: multiply
    Demo: evolve: cycle 4 — next-work:Teach calc to multiply harvested
    Demo: evolve: cycle 5 — idle
    Demo: evolve: cycle 6 — idle
    Demo: evolve: cycle 7 — idle
    Demo: evolve: session [session] ended — dormant
    "#);
    let said = sealed
        .evolve(&["-C", root.to_str().unwrap(), "measure", "--gate"])
        .expect(0)
        .stdout;
    assert!(said.contains("score 100: 3 of 3 goals pass"), "{said}");
}

#[test]
fn what_the_demonstration_points_to_is_there() {
    let sealed = TestRepo::empty();
    let run = demo(&sealed, &[], |_| {}).expect(0);
    let root = made(&run);
    let at = root.to_str().unwrap();
    assert!(
        sealed
            .answer(&["-C", at, "show", "2"])
            .starts_with("cycle 2 · open-ends · regressed")
    );
    assert!(sealed.answer(&["-C", at, "history"]).contains("harvested"));
    assert!(root.join(".agents/evolve/session-summary.md").is_file());
    assert!(git(&sealed, &root, &["log", "--stat"]).contains("revert: evolve cycle 2"));
}

#[test]
fn the_demonstration_needs_no_git_identity_and_no_configuration_and_heeds_neither() {
    let sealed = TestRepo::empty();
    let run = demo(&sealed, &[], |command| {
        command
            .env_remove("HOME")
            .env_remove("GIT_CONFIG_NOSYSTEM")
            .env("HOME", sealed.home());
        command
            .env("EVOLVE_AGENT", "false")
            .env("GIT_DIR", sealed.path(".git"));
    });
    tells_the_story(&sealed, &run.expect(0));
    // A user's own configuration of evolve and git neither changes nor breaks it.
    let config = sealed.home().join(".config/evolve/config.yaml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, "limits: {max_cycles: 1}\n").unwrap();
    fs::write(
        sealed.home().join(".gitconfig"),
        "[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n[core]\n\thooksPath = /nowhere\n\tautocrlf = true\n",
    )
    .unwrap();
    let run = demo(
        &sealed,
        &[
            "--keep-in",
            sealed.outside().join("second").to_str().unwrap(),
        ],
        |_| {},
    );
    tells_the_story(&sealed, &run.expect(0));
    assert_eq!(sealed.git(&["count-objects"]), "0 objects, 0 kilobytes");
}

#[test]
fn the_demonstration_runs_in_a_folder_that_cannot_be_written() {
    let sealed = TestRepo::empty();
    let folder = sealed.home().join("read-only");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let run = demo(&sealed, &[], |command| {
        command.current_dir(&folder);
    });
    tells_the_story(&sealed, &run.expect(0));
    // Root may write anywhere; nothing may have been written all the same.
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_demonstration_copes_with_blanks_and_quotes_in_its_folder() {
    let sealed = TestRepo::empty();
    let folder = sealed.outside().join("a b's \"c\"");
    fs::create_dir(&folder).unwrap();
    let run = demo(&sealed, &[], |command| {
        command.env("TMPDIR", &folder);
    })
    .expect(0);
    for word in ["improved", "regressed", "harvested", "dormant"] {
        assert!(run.stdout.contains(word), "{}", run.stdout);
    }
    // What it says to type works in a shell.
    let cd = run
        .stdout
        .lines()
        .find(|line| line.trim().starts_with("cd "))
        .unwrap();
    let script = format!("{cd} && git rev-parse --show-toplevel");
    let shell = sealed.command("sh").args(["-c", &script]).output().unwrap();
    let top = String::from_utf8(shell.stdout).unwrap();
    assert!(top.contains("a b's \"c\""), "{cd}: {top}");
}

#[test]
fn the_demonstration_is_kept_where_the_user_says_and_takes_no_folder_that_is_taken() {
    let sealed = TestRepo::empty();
    let run = demo(&sealed, &["--keep-in", "kept/here"], |_| {}).expect(0);
    let root = tells_the_story(&sealed, &run);
    let kept = sealed.home().join("kept/here/calc").canonicalize().unwrap();
    assert_eq!(root, kept);
    assert_eq!(fs::read_dir(sealed.outside()).unwrap().count(), 0);
    let head = git(&sealed, &root, &["rev-parse", "HEAD"]);
    let again = demo(&sealed, &["--keep-in", "kept/here"], |_| {}).expect(2);
    assert_snapshot!(sealed.redacted(&again.stderr), @r#"
    error: kept/here/calc is there already
    hint: name another folder with --keep-in
    "#);
    assert_eq!(again.stdout, "");
    assert_eq!(git(&sealed, &root, &["rev-parse", "HEAD"]), head);
    let quiet = demo(&sealed, &["-q", "--keep-in", "quiet"], |_| {}).expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn a_search_shows_what_becomes_of_attempts_and_leaves_the_branch_alone_until_it_is_applied() {
    let repo = TestRepo::empty();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("demo");
    let shown = repo.evolve(&["demo", "search", "--keep-in", place.to_str().unwrap()]);
    assert_eq!(shown.code, 0, "{}{}", shown.stdout, shown.stderr);
    let root = place.join("top");
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(&root)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(git(&["status", "--porcelain"]), "");
    assert_eq!(git(&["log", "--oneline", "main"]).lines().count(), 1);
    let at = root.to_str().unwrap();
    let board = repo.evolve(&["-C", at, "search", "board"]).stdout;
    for ending in [
        "accepted",
        "worse",
        "gate failed",
        "invalid",
        "duplicate",
        "declined",
    ] {
        assert!(board.contains(ending), "{ending}: {board}");
    }
    let size = |root: &std::path::Path| std::fs::read(root.join("top.sh")).unwrap().len();
    let before = size(&root);
    let applied = repo.evolve(&["-C", at, "search", "apply"]);
    assert_eq!(applied.code, 0, "{}", applied.stderr);
    assert!(size(&root) * 3 < before, "{before}");
    assert_eq!(git(&["status", "--porcelain"]), "");
}
