//! What agents learn is told to later ones, once, and sinks where it does not help; a person can drop it.

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::TestRepo;

/// What a brief says under its heading of lessons, a line each.
fn told(repo: &TestRepo, call: usize) -> Vec<String> {
    let brief = repo.brief(call);
    let part = brief
        .split("## Lessons from earlier cycles\n\n")
        .nth(1)
        .unwrap_or_default();
    let lines = part.lines().take_while(|line| line.starts_with("- "));
    lines.map(|line| line[2..].to_owned()).collect()
}

/// A goal that no agent reaches, and one lesson from the first attempt.
fn in_vain(cycles: usize) -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let first = "printf 'Look at the cache.\\nRun the linter\\n' >$EVOLVE_LESSONS; exit 1";
    let scripts: Vec<&str> = std::iter::once(first)
        .chain((1..cycles).map(|_| "exit 1"))
        .collect();
    repo.agent_does(&scripts);
    for cycle in 0..cycles {
        if cycle > 0 && cycle % 3 == 0 {
            repo.answer(&["retry", "a"]);
        }
        repo.run(&["--max-cycles=1"]).expect(0);
    }
    repo
}

#[test]
fn lessons_that_differ_in_the_marks_of_a_list_are_one_and_are_told_without_them() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.cycle(
        "printf '%s\\n' '- Use ok in files' '* Use ok in files.' 'Use ok in files' '# Run it first' >$EVOLVE_LESSONS; exit 1",
    )
    .expect(0);
    repo.cycle("touch a").expect(0);
    assert_eq!(told(&repo, 2), ["Run it first", "Use ok in files"]);
}

#[test]
fn a_lesson_that_was_told_in_three_failed_attempts_at_a_goal_sinks_below_newer_ones() {
    let repo = in_vain(4);
    assert_eq!(told(&repo, 2), ["Run the linter", "Look at the cache."]);
    // What says the same is no other lesson.
    repo.answer(&["retry", "a"]);
    repo.cycle("printf 'look at  the cache\\nRead the log\\n' >$EVOLVE_LESSONS; exit 1")
        .expect(0);
    assert_snapshot!(repo.answer(&["lessons", "list"]), @r#"
    327777  cycle 1  a  Look at the cache.
    e4500f  cycle 1  a  Run the linter
    855a3f  cycle 5  a  Read the log
    "#);
    assert_snapshot!(repo.answer(&["lessons", "list", "--goal", "a"]), @r#"
    855a3f  cycle 5  a                   Read the log
    e4500f  cycle 1  a  sunk, failed 4×  Run the linter
    327777  cycle 1  a  sunk, failed 4×  Look at the cache.
    "#);
    repo.cycle("touch a").expect(0);
    assert_eq!(
        told(&repo, 6),
        ["Read the log", "Run the linter", "Look at the cache."]
    );
}

#[test]
fn a_dropped_lesson_is_told_and_learned_no_more_and_git_keeps_the_word() {
    let repo = in_vain(1);
    assert_snapshot!(repo.error(2, &["lessons", "drop", "read"]), @r#"
    error: no lesson is called read
    hint: `evolve lessons list` shows them
    "#);
    assert_snapshot!(repo.answer(&["lessons", "drop", "look at"]), @"dropped: Look at the cache.");
    assert_snapshot!(repo.answer(&["lessons", "list"]), @"e4500f  cycle 1  a  Run the linter");
    repo.cycle("echo 'Look at the cache!' >$EVOLVE_LESSONS; exit 1")
        .expect(0);
    assert_eq!(told(&repo, 2), ["Run the linter"]);
    let lessons = repo.git(&["show", "HEAD:.agents/evolve/lessons.jsonl"]);
    assert_eq!(lessons.lines().count(), 3, "{lessons}");
    assert!(
        lessons
            .lines()
            .last()
            .unwrap_or_default()
            .contains("\"dropped\":true"),
        "{lessons}"
    );
    repo.cycle("touch a").expect(0);
    assert_eq!(told(&repo, 3), ["Run the linter"]);
    assert!(!repo.private().join("asked/dropped-lessons.jsonl").exists());
    repo.answer(&["audit"]);
}

#[test]
fn a_repository_without_lessons_says_so() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    assert_snapshot!(repo.answer(&["lessons", "list"]), @"no lessons yet");
}

#[test]
fn programs_are_told_each_lesson_and_with_a_goal_what_it_came_to() {
    let repo = in_vain(4);
    let told = |arguments: &[&str]| -> serde_json::Value {
        let said = repo
            .evolve(&[&["lessons", "list", "--json"], arguments].concat())
            .expect(0);
        serde_json::from_str(&said.stdout).unwrap()
    };
    let all = told(&[]);
    assert_eq!(all["goal_id"], serde_json::Value::Null);
    let first = &all["lessons"][0];
    assert_eq!(first["text"], "Look at the cache.");
    assert_eq!(
        (&first["goal_id"], &first["cycle"]),
        (&"a".into(), &1.into())
    );
    assert!(
        first["id"].as_str().unwrap().starts_with("327777"),
        "{first}"
    );
    assert!(first.get("failed").is_none(), "{first}");
    let of_goal = told(&["--goal=a"]);
    assert_eq!(of_goal["goal_id"], "a");
    let last = &of_goal["lessons"][1];
    assert_eq!((&last["failed"], &last["told"]), (&3.into(), &true.into()));
}

#[test]
fn a_goal_that_nobody_knows_has_no_lessons_and_what_was_meant_is_named() {
    let repo = in_vain(1);
    let list = ["lessons", "list", "--goal", "aa"];
    for more in [&[][..], &["--json"]] {
        let run = repo.evolve(&[&list[..], more].concat()).expect(2);
        let told =
            "error: no cycle worked on aa, and no goal is called so\nhint: did you mean a?\n";
        assert_eq!((&*run.stdout, &*run.stderr), ("", told));
    }
    // What was learned of a goal that is gone is told by its name.
    let lesson = r#"{"format":1,"goal_id":"gone","cycle":1,"timestamp":"2026-02-03T04:05:06Z","text":"the cache lies"}"#;
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write(".agents/evolve/lessons.jsonl", &format!("{lesson}\n"));
    repo.answer(&["lessons", "list", "--goal", "gone"]);
}

#[test]
fn the_bare_command_lists_what_was_learned() {
    let repo = in_vain(1);
    assert_eq!(repo.answer(&["lessons"]), repo.answer(&["lessons", "list"]));
}

#[test]
fn what_an_agent_leaves_that_is_too_large_to_be_read_is_told_in_the_record() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch a; head -c 1048577 /dev/zero | tr '\\0' x >\"$EVOLVE_LESSONS\"; mkfifo \"$EVOLVE_NEXT_WORK\""]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved");
    let notes: Vec<&str> = record["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(
        notes,
        [
            "left out: .agents/evolve/outbox/lessons has 1048577 bytes, more than the 1048576 that are read",
            "left out: .agents/evolve/outbox/next-work.jsonl is no plain file"
        ]
    );
}
