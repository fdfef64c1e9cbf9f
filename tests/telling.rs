//! `on_cycle` and `on_end`: commands of the user's that are told what became of a cycle and of the session.

use evolve::model::schema;
use serde_json::Value;

use crate::harness::{TestRepo, finish, wait_until};

/// A repository whose goal is that `a` exists, with these lines below `evolve:`.
fn with_hooks(hooks: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\nevolve:\n{hooks}goals:\n  - {{id: a, description: file a, check: test -e a, weight: 5}}\n"
        ),
    );
    repo.write("scripts/tell.sh", "cat >>\"$OUT/told\"\n");
    repo.commit_all("first");
    repo
}

fn told(repo: &TestRepo) -> Vec<Value> {
    let text = std::fs::read_to_string(repo.out("told")).unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const BOTH: &str = "  on_cycle: sh scripts/tell.sh\n  on_end: sh scripts/tell.sh\n";

#[test]
fn each_record_and_the_end_are_told_once_they_are_committed() {
    let repo = with_hooks(
        "  on_cycle: 'cat >>\"$OUT/told\"; git log -1 --format=%s >>\"$OUT/at\"'\n  on_end: sh scripts/tell.sh\n",
    );
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    let told = told(&repo);
    let results: Vec<_> = told.iter().map(|one| one["result"].as_str()).collect();
    assert_eq!(results, [Some("improved"), Some("idle"), None]);
    let records = repo.records();
    assert_eq!(told[..2], records[..]);
    assert_eq!(told[2]["event"], "session-ended");
    assert_eq!(told[2]["ending"], "limit");
    assert_eq!(told[2]["cycles"], 2);
    let at = std::fs::read_to_string(repo.out("at")).unwrap();
    assert!(
        at.lines()
            .all(|subject| subject.starts_with("evolve: cycle ")),
        "{at}"
    );
}

#[test]
fn a_cycle_that_is_cut_short_is_told_unless_a_kill_did_that() {
    for (way, code, wanted) in [
        ("--now", 130, vec![Some("interrupted"), None]),
        ("--kill", 0, vec![]),
    ] {
        let repo = with_hooks(BOTH);
        repo.agent_does(&["touch b; touch \"$OUT/begun\"; sleep 300"]);
        let child = repo.spawn_run(&[]);
        wait_until("the agent", || repo.out("begun").exists());
        repo.evolve(&["stop", way]).expect(0);
        finish(child).expect(code);
        assert_eq!(repo.each("result"), ["interrupted"], "{way}");
        let told = told(&repo);
        let results: Vec<_> = told.iter().map(|one| one["result"].as_str()).collect();
        assert_eq!(results, wanted, "{way}");
    }
}

#[test]
fn a_cycle_whose_session_died_is_told_by_the_next_one() {
    for isolated in [&["--max-cycles=1"][..], &["--max-cycles=1", "--isolate"]] {
        let repo = with_hooks(BOTH);
        repo.agent_does(&["touch $OUT/at-work; sleep 300", "touch a"]);
        let mut struck = repo.spawn_run(isolated);
        repo.wait_for("at-work");
        struck.kill().unwrap();
        struck.wait().unwrap();
        repo.run(isolated).expect(0);
        let told = told(&repo);
        let results: Vec<_> = told.iter().map(|one| one["result"].as_str()).collect();
        assert_eq!(results, [Some("interrupted"), Some("improved"), None]);
        assert_eq!(told[..2], repo.records()[..]);
    }
}

#[test]
fn the_end_is_told_even_where_the_summary_cannot_be_written() {
    let summary = ".agents/evolve/session-summary.md";
    let repo = with_hooks(&format!(
        "  on_cycle: 'cat >/dev/null; rm -f {summary}; mkdir -p {summary}/full'\n  on_end: sh scripts/tell.sh\n"
    ));
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--json", "--max-cycles=1"]);
    assert_eq!(run.code, 1, "{}{}", run.stdout, run.stderr);
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    assert_eq!(last["event"], "session-ended");
    assert_eq!(last["exit_code"], 1);
    assert_eq!(told(&repo).len(), 1);
    assert!(run.stderr.contains("session-summary.md"), "{}", run.stderr);
}

#[test]
fn the_end_is_told_as_the_last_event_of_the_stream_with_its_time() {
    let repo = with_hooks("  on_end: sh scripts/tell.sh\n");
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--json", "--max-cycles=1"]).expect(0);
    let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
    let mut told = told(&repo).pop().unwrap();
    assert_eq!(schema::check("event", &told), Ok(()), "{told}");
    // Each is told at once, which may be a second apart.
    let time = |event: &Value| event["time"].as_str().map(str::len);
    assert_eq!(time(&told), time(&last));
    told["time"] = last["time"].clone();
    assert_eq!(told, last);
}

#[test]
fn a_command_that_fails_or_hangs_or_floods_is_a_warning_and_changes_nothing() {
    let repo =
        with_hooks("  on_cycle: echo no >&2; exit 3\n  on_end: yes | head -c 100000000; exit 4\n");
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(
        run.stderr
            .contains("warning: on_cycle ended with exit 3; its output is in "),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("warning: on_end ended with exit 4; its output is in "),
        "{}",
        run.stderr
    );
    assert_eq!(repo.newest()["result"], "improved");
    let log = run
        .stderr
        .lines()
        .find_map(|line| line.split_once("on_cycle ended with exit 3; its output is in "));
    assert_eq!(std::fs::read_to_string(log.unwrap().1).unwrap(), "no\n");
}

#[test]
fn nothing_that_such_a_command_started_outlives_it() {
    let repo = with_hooks(
        "  on_cycle: 'setsid sleep 300 & echo $! >>\"$OUT/pids\"'\n  on_end: 'setsid sleep 300 & echo $! >>\"$OUT/pids\"'\n",
    );
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let pids = std::fs::read_to_string(repo.out("pids")).unwrap();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        assert!(!crate::harness::is_alive(pid.parse().unwrap()), "{pid}");
    }
}

#[test]
fn an_agent_cannot_change_what_they_run() {
    let repo = with_hooks(BOTH);
    repo.agent_does(&["touch a; echo 'touch \"$OUT/pwned\"' >scripts/tell.sh"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let newest = repo.newest();
    assert_eq!(newest["result"], "regressed");
    assert!(
        newest["reason"]
            .as_str()
            .unwrap()
            .contains("scripts/tell.sh"),
        "{newest}"
    );
    assert!(!repo.out("pwned").exists());
    assert_eq!(told(&repo).len(), 2);
}

#[test]
fn they_stand_in_the_goals_file_alone_whose_commands_are_frozen() {
    let repo = with_hooks("");
    let folder = repo.home().join(".config/evolve");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.yaml"), "on_cycle: ./notify.sh\n").unwrap();
    let run = repo.run(&["--max-cycles=1"]).expect(2);
    assert!(
        run.stderr
            .contains("on_cycle belongs under evolve: in GOALS.yaml"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_kill_ends_the_session_without_a_word_and_a_limit_of_time_does_not() {
    let repo = with_hooks(BOTH);
    repo.agent_does(&[
        "mkdir -p \"$HOME/.config/evolve\"; touch \"$HOME/.config/evolve/KILL\"; sleep 30",
    ]);
    repo.run(&[]).expect(0);
    assert_eq!(told(&repo), Vec::<Value>::new());
    let repo = with_hooks(BOTH);
    repo.agent_does(&["sleep 30"]);
    repo.run(&["--max-time=3s"]).expect(0);
    let told = told(&repo);
    assert_eq!(told.last().unwrap()["ending"], "limit", "{told:?}");
}

/// The blocks of YAML in the README's section about being told.
fn examples() -> Vec<String> {
    let readme = include_str!("../README.md");
    let section = readme.split_once("### Being told").unwrap().1;
    let section = section.split_once("\n## ").unwrap().0;
    let blocks = section.split("```yaml\n").skip(1);
    blocks
        .map(|block| block.split_once("```").unwrap().0.to_owned())
        .collect()
}

#[test]
fn the_examples_of_the_readme_tell_by_chat_by_mail_and_by_a_pull_request() {
    let examples = examples();
    assert_eq!(examples.len(), 2);
    for (example, expected) in examples.iter().zip([
        vec![
            "curl --silent --fail --json {\"text\":\"improved: a \"} https://chat.invalid/hook",
            "mail -s evolve in repo me@example.com < limit: limit of 1 cycle reached (--max-cycles)",
        ],
        vec!["git push origin evolve", "gh pr view evolve", "gh pr create --head evolve --fill"],
    ]) {
        let mut repo = TestRepo::empty().with_out();
        let goals = "goals:\n  - {id: a, description: file a, check: test -e a, weight: 5}\n";
        repo.write("GOALS.yaml", &format!("version: 1\n{example}{goals}"));
        repo.commit_all("first");
        let programs = repo.outside().join("programs");
        std::fs::create_dir(&programs).unwrap();
        for (name, rest) in [
            ("curl", ""),
            ("mail", "printf ' < %s' \"$(head -n 1)\" >>\"$OUT/calls-made\"\n"),
            ("gh", "case $2 in view) echo >>\"$OUT/calls-made\"; exit 1;; esac\n"),
        ] {
            let script = format!(
                "#!/bin/sh\nprintf '%s' \"{name} $*\" >>\"$OUT/calls-made\"\n{rest}echo >>\"$OUT/calls-made\"\n"
            );
            crate::harness::write_program(&programs.join(name), &script);
        }
        let path = crate::harness::with_git(
            &repo,
            "case $1 in push) echo \"git $*\" >>\"$OUT/calls-made\"; exit;; esac",
        );
        repo.env.push(("PATH".to_owned(), format!("{}:{path}", programs.display())));
        repo.env.push(("CHAT_WEBHOOK".to_owned(), "https://chat.invalid/hook".to_owned()));
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(run.stderr, "");
        let calls = std::fs::read_to_string(repo.out("calls-made")).unwrap();
        let calls: Vec<&str> = calls.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(calls, expected);
    }
}

#[test]
fn the_whole_reason_of_an_error_is_told_in_one_line() {
    let repo = with_hooks("  on_end: sh scripts/tell.sh\n");
    let goals = repo.read("GOALS.yaml").replace(
        "check: test -e a",
        "check: 'test -e a || echo \"goals: [{idd: b}]\" >GOALS.yaml; test -e a'",
    );
    repo.write("GOALS.yaml", &goals);
    repo.commit_all("a check that breaks the goals");
    repo.agent_does(&["touch a"]);
    let run = repo.run(&[]);
    assert_ne!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let told = told(&repo);
    let last = told.last().unwrap();
    assert_eq!(last["ending"], "failed", "{last}");
    let reason = last["reason"].as_str().unwrap();
    assert!(
        reason.contains("uncommitted changes") && reason.contains("GOALS.yaml"),
        "{reason}"
    );
    assert!(!reason.contains('\n'), "{reason}");
}
