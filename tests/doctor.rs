//! `evolve doctor`: what it finds, in every state that a repository and a machine can be in, and that it changes nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::harness::{TestRepo, assert_gone, everything_below};

/// A repository with one goal, and a PATH on which there is an agent of this name besides what git and shells need.
fn with_agent(script: &str) -> TestRepo {
    let mut repo = TestRepo::with_goals(
        "  - {id: a, description: file a exists, check: test -e a && mytool, weight: 5}\n",
    )
    .with_out();
    repo.installs("");
    install(&repo, "claude", script);
    install(&repo, "mytool", "exit 0");
    repo.env
        .push(("ANTHROPIC_API_KEY".to_owned(), "x".to_owned()));
    repo
}

fn install(repo: &TestRepo, name: &str, script: &str) {
    let program = repo.outside().join("bin").join(name);
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What `evolve doctor --json` finds; it has to end with `code`.
#[track_caller]
fn examined(repo: &TestRepo, code: i32) -> Vec<Value> {
    let run = repo.evolve(&["doctor", "--json"]).expect(code);
    assert_eq!(run.stderr, "");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let checked = evolve::model::schema::check("doctor", &document);
    assert_eq!(checked, Ok(()), "{document}");
    assert_eq!(document["can_run"], code == 0, "{document}");
    document["findings"].as_array().unwrap().clone()
}

/// The findings about one thing that are no `ok`, as level and message.
fn about(findings: &[Value], topic: &str) -> Vec<(String, String)> {
    let of_topic = |one: &&Value| one["about"] == topic && one["level"] != "ok";
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let found = findings.iter().filter(of_topic);
    found
        .map(|one| (word(&one["level"]), word(&one["message"])))
        .collect()
}

#[track_caller]
fn assert_problem(findings: &[Value], topic: &str, words: &str) {
    let found = about(findings, topic);
    let fits = |(level, message): &(String, String)| level == "problem" && message.contains(words);
    assert!(found.iter().any(fits), "{topic}: {words}: {findings:#?}");
}

#[test]
fn where_all_is_in_order_it_says_so_and_changes_nothing() {
    let repo = with_agent("echo '2.1.9 (Claude Code)'");
    let folder = repo.root().parent().unwrap().to_owned();
    let before = everything_below(&folder);
    let run = repo.evolve(&["doctor"]).expect(0);
    assert!(everything_below(&folder) == before, "something was written");
    let page = repo.redacted(&run.stdout);
    for line in [
        "ok       identity     commits would be made by Tester <tester@example.invalid>\n",
        "ok       repository   [root] on main\n",
        "ok       goals        GOALS.yaml: 1 goal\n",
        "ok       agents       claude would be called: the first that is installed\n",
        "ok       agents       claude 2.1.9 (Claude Code) at [outside]/bin/claude, logged in (ANTHROPIC_API_KEY)\n",
        "ok       kill         there is no KILL file\n",
        "ok       stop         there is no STOP file\n",
        "ok       lock         nobody is at work here\n",
        "\nthe loop could run here: ",
    ] {
        assert!(page.contains(line), "{line} is not in {page}");
    }
    assert!(!page.contains("problem"), "{page}");
    let findings = examined(&repo, 0);
    assert!(findings.iter().any(|one| one["about"] == "git"));
}

#[test]
fn what_only_the_interactive_path_has_is_named_with_the_line_that_helps() {
    let repo = with_agent("echo 1");
    let findings = examined(&repo, 0);
    let of_path = about(&findings, "path");
    let cron = of_path.iter().find(|(_, words)| words.starts_with("cron "));
    let (level, words) = cron.unwrap();
    assert_eq!(level, "note");
    assert_eq!(
        words,
        "cron would not find claude, mytool: its PATH is /usr/bin:/bin"
    );
    let finding = findings.iter().find(|one| one["message"] == **words);
    let bin = repo.outside().join("bin");
    let line = format!("PATH={}:/usr/bin:/bin", bin.display());
    assert!(
        finding.unwrap()["hints"][0]
            .as_str()
            .unwrap()
            .ends_with(&line)
    );
}

#[test]
fn a_program_that_checks_call_and_that_is_nowhere_is_named_with_its_goals() {
    let repo = with_agent("echo 1");
    fs::remove_file(repo.outside().join("bin/mytool")).unwrap();
    // The check can still fail: it asks for a file first.
    assert_eq!(about(&examined(&repo, 0), "path")[0].0, "note");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: a, check: mytool, weight: 5}\n",
    );
    repo.commit_all("another check");
    let findings = examined(&repo, 10);
    assert_problem(&findings, "path", "mytool (called by a)");
    let cron = findings.iter().find(|one| {
        let message = one["message"].as_str().unwrap();
        one["about"] == "path" && message.starts_with("cron ")
    });
    assert!(
        !cron.unwrap()["message"]
            .as_str()
            .unwrap()
            .contains("all that is called")
    );
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: a, check: mytool, weight: 5}\n  - {id: b, description: b, check: git --version, weight: 5}\n",
    );
    repo.commit_all("another goal");
    let of_path = about(&examined(&repo, 0), "path");
    let missing = of_path.iter().find(|(_, words)| words.contains("mytool"));
    let (level, words) = missing.unwrap();
    assert_eq!(level, "note");
    assert!(words.ends_with("skipped: mytool (called by a)"), "{words}");
}

#[test]
fn a_program_that_is_to_tell_of_cycles_and_is_nowhere_is_named_with_its_setting() {
    let repo = with_agent("echo 1");
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {on_cycle: \"jqq -r .goal\", on_end: \"cat | no-such-mail\"}\ngoals:\n  - {id: a, description: a, check: test -e a, weight: 5}\n",
    );
    repo.commit_all("hooks");
    let of_path = about(&examined(&repo, 0), "path");
    let missing = of_path.iter().find(|(_, words)| words.contains("jqq"));
    let (level, words) = missing.unwrap();
    assert_eq!(level, "note");
    let named = "fails each time: on_cycle (jqq), on_end (no-such-mail)";
    assert!(words.ends_with(named), "{words}");
}

#[test]
fn what_checks_call_is_known_before_the_goals_are_committed() {
    let repo = with_agent("echo 1");
    repo.git(&["rm", "-q", "--cached", "GOALS.yaml"]);
    repo.git(&["commit", "-q", "-m", "none"]);
    fs::remove_file(repo.outside().join("bin/mytool")).unwrap();
    let findings = examined(&repo, 10);
    assert_problem(&findings, "goals", "GOALS.yaml");
    let page = repo.evolve(&["doctor"]).expect(10).stdout;
    assert!(page.contains("mytool"), "{page}");
}

#[test]
fn a_folder_that_tools_fill_and_git_does_not_ignore_is_a_note() {
    let repo = with_agent("echo 1");
    repo.write("target/x", "");
    let words = "git does not ignore target/: what tools put there may come into commits";
    let found = about(&examined(&repo, 0), "repository");
    assert_eq!(found, [("note".to_owned(), words.to_owned())]);
    repo.write(".gitignore", "target/\n");
    assert_eq!(about(&examined(&repo, 0), "repository"), []);
}

#[test]
fn an_agent_that_hangs_is_a_note_and_nothing_of_it_is_left() {
    let repo = with_agent("echo $$ >\"$OUT/pid\"\nsleep 1000 &\necho $! >\"$OUT/child\"\nwait");
    let findings = examined(&repo, 0);
    let (level, words) = &about(&findings, "agents")[0];
    assert_eq!(level, "note");
    assert!(
        words.contains("`--version` had not answered after 2 s"),
        "{words}"
    );
    assert_gone(&[repo.out("pid"), repo.out("child")]);
}

#[test]
fn an_agent_of_the_users_own_is_never_started() {
    let repo = with_agent("echo 1");
    install(&repo, "mine", "touch \"$OUT/started\"");
    repo.write(
        "GOALS.yaml",
        "evolve:\n  agent: mine\n  agents: {mine: {programs: [mine], args: [x]}}\ngoals:\n  - {id: a, description: d, check: 'true', weight: 1}\n",
    );
    repo.commit_all("mine");
    let findings = examined(&repo, 0);
    let called = findings.iter().find(|one| one["about"] == "agents");
    assert_eq!(called.unwrap()["message"], "mine would be called");
    assert!(!repo.out("started").exists());
}

#[test]
fn the_agent_that_a_run_is_to_call_is_looked_at() {
    let repo = with_agent("echo 1");
    install(&repo, "mine", "touch \"$OUT/started\"");
    let looked_at = |agent: &str, code| {
        let run = repo
            .evolve(&["doctor", "--json", "--agent", agent])
            .expect(code);
        let page: Value = serde_json::from_str(&run.stdout).unwrap();
        let findings = page["findings"].as_array().unwrap();
        let found = findings.iter().find(|one| one["about"] == "agents");
        let word = |key: &str| found.unwrap()[key].as_str().unwrap().to_owned();
        format!("{}: {}", word("level"), word("message"))
    };
    assert_eq!(
        looked_at("mine --fast", 0),
        "ok: mine --fast would be called"
    );
    assert!(!repo.out("started").exists());
    assert_eq!(looked_at("claude", 0), "ok: claude would be called");
    let said = looked_at("codex", 10);
    assert!(
        said.starts_with("problem: ") && said.contains("codex is not installed"),
        "{said}"
    );
    let said = looked_at("nothing-of-this-name -x", 10);
    assert!(
        said.starts_with("problem: ") && said.contains("nothing-of-this-name"),
        "{said}"
    );
    repo.evolve(&["doctor", "--agent", " "]).expect(2);
    let said = repo.error(2, &["--agent=mine", "doctor"]);
    assert!(said.contains("write --agent after `doctor`"), "{said}");
}

#[test]
fn without_git_on_the_path_it_answers_all_the_same() {
    let repo = with_agent("echo 1");
    fs::remove_file(repo.outside().join("bin/git")).unwrap();
    let findings = examined(&repo, 10);
    assert_problem(&findings, "git", "git is not on the PATH");
}

#[test]
fn outside_of_a_repository_in_an_empty_one_and_in_a_broken_one_it_says_what_is_wrong() {
    let repo = with_agent("echo 1");
    let outside = repo.outside().display().to_string();
    let run = repo
        .evolve(&["-C", &outside, "doctor", "--json"])
        .expect(10);
    assert!(
        run.stdout.contains("is not in a git repository"),
        "{}",
        run.stdout
    );
    let mut empty = TestRepo::empty();
    empty.installs("claude");
    let findings = examined(&empty, 10);
    assert_problem(&findings, "repository", "no commit yet");
    assert_problem(&findings, "goals", "there is no GOALS.yaml");
    fs::write(repo.path(".git/HEAD"), "nonsense\n").unwrap();
    let findings = examined(&repo, 10);
    assert!(!about(&findings, "repository").is_empty(), "{findings:#?}");
    fs::write(repo.path(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(repo.path(".git/config"), "[core\n").unwrap();
    let findings = examined(&repo, 10);
    assert!(!about(&findings, "repository").is_empty(), "{findings:#?}");
}

#[test]
fn each_thing_that_keeps_the_loop_from_running_is_a_problem_with_what_to_do() {
    let repo = with_agent("echo 1");
    repo.kill();
    repo.write(".agents/evolve/STOP", "for today\n");
    let findings = examined(&repo, 10);
    assert_problem(&findings, "kill", ": enough");
    assert_problem(&findings, "stop", ": for today");
    fs::remove_file(repo.kill_file()).unwrap();
    fs::remove_file(repo.path(".agents/evolve/STOP")).unwrap();
    repo.write("GOALS.yaml", "goals:\n  - {id: a}\n");
    let findings = examined(&repo, 10);
    assert_problem(&findings, "goals", "problems, the first on line 2: ");
    assert_problem(
        &findings,
        "repository",
        "1 tracked file has uncommitted changes",
    );
    fs::remove_file(repo.outside().join("bin/claude")).unwrap();
    let untold = "which one would be called cannot be told: a file that may name it cannot be read";
    let untold = [("note".to_owned(), untold.to_owned())];
    assert_eq!(about(&examined(&repo, 10), "agents"), untold);
    repo.git(&["checkout", "-q", "GOALS.yaml"]);
    let config = repo.home().join(".config/evolve/config.yaml");
    fs::write(&config, "agent: x\njob: 2\n").unwrap();
    let findings = examined(&repo, 10);
    assert_eq!(about(&findings, "agents"), untold);
    assert_problem(&findings, "config", "unknown key \"job\"");
    fs::remove_file(config).unwrap();
    let findings = examined(&repo, 10);
    assert_problem(&findings, "agents", "none is installed");
    let hints = findings.iter().filter(|one| one["level"] == "problem");
    assert!(
        hints
            .clone()
            .all(|one| !one["hints"].as_array().unwrap().is_empty())
    );
}

#[test]
fn a_git_folder_that_cannot_be_written_to_is_a_problem() {
    let repo = with_agent("echo 1").by_normal_user();
    fs::set_permissions(repo.path(".git"), fs::Permissions::from_mode(0o555)).unwrap();
    let findings = examined(&repo, 10);
    fs::set_permissions(repo.path(".git"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_problem(&findings, "permissions", "git's own");
}

#[test]
fn a_session_at_work_is_told_and_is_no_problem() {
    let repo = with_agent("echo 1");
    repo.agent_does(&["touch \"$OUT/begun\"; until [ -e \"$OUT/go\" ]; do sleep 0.1; done"]);
    let run = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("begun");
    let findings = examined(&repo, 0);
    let found = about(&findings, "lock");
    assert!(
        found[0]
            .1
            .starts_with("an evolve is at work here: process ")
    );
    fs::write(repo.out("go"), "").unwrap();
    crate::harness::finish(run);
}

#[test]
fn goals_that_agents_got_no_further_with_are_a_note() {
    let repo = with_agent("echo 1");
    assert_eq!(about(&examined(&repo, 0), "goals"), []);
    repo.agent_does(&["true", "true", "true"]);
    repo.run(&["--max-cycles=3"]).expect(0);
    let words = "a waits for a person: no agent got further";
    let expected = [("note".to_owned(), words.to_owned())];
    assert_eq!(about(&examined(&repo, 0), "goals"), expected);
    // Whoever mended it is not asked again.
    repo.evolve(&["retry", "a"]).expect(0);
    assert_eq!(about(&examined(&repo, 0), "goals"), []);
}

#[test]
fn what_the_agent_of_a_session_that_is_at_work_or_died_left_is_not_the_users_to_commit() {
    let repo = with_agent("echo 1");
    repo.agent_does(&["echo '# half' >>GOALS.yaml; touch \"$OUT/begun\"; sleep 600"]);
    let left_to = |whom: &str| {
        let findings = examined(&repo, 0);
        let found = about(&findings, "repository");
        let words = "1 tracked file has uncommitted changes: GOALS.yaml";
        assert_eq!(found[0], ("note".to_owned(), words.to_owned()), "{whom}");
        let page = repo.evolve(&["doctor"]).expect(0).stdout;
        let hint = format!("leave it to the {whom}");
        assert!(page.contains(&hint) && !page.contains("stash"), "{page}");
    };
    let mut run = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("begun");
    left_to("evolve that is at work");
    run.kill().unwrap();
    run.wait().unwrap();
    left_to("next run");
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!repo.read("GOALS.yaml").contains("half"));
}

#[test]
fn a_path_into_the_repository_is_a_note() {
    let mut repo = with_agent("echo 1");
    fs::create_dir(repo.path("bin")).unwrap();
    symlink("/bin/sh", repo.path("bin/sh2")).unwrap();
    let path = format!(
        "{}:{}",
        repo.path("bin").display(),
        repo.outside().join("bin").display()
    );
    repo.env.push(("PATH".to_owned(), path));
    let found = about(&examined(&repo, 0), "path");
    assert!(
        found
            .iter()
            .any(|(_, words)| words.contains("leads into the repository"))
    );
}
