//! What is worked on next, and when nothing is: strikes, work items, dormancy, the baseline, and what an agent is told.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{TestRepo, pid_in, signal, unpadded, wait_until};

/// The queue's file.
const QUEUE: &str = ".agents/rpi/next-work.jsonl";

/// A repository in which nothing fails.
fn healthy() -> TestRepo {
    TestRepo::with_goals("  - {id: fine, description: fine, check: 'true', weight: 5}\n")
}

/// A repository whose goal `a` was tried three times in vain, while a lighter goal does not fail.
fn struck() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    repo.agent_does(&["", "", ""]);
    repo.run(&["--max-cycles=3"]).expect(0);
    repo.evolve(&["--agent=true"]).expect(11);
    assert_eq!(repo.records().len(), 3);
    repo
}

/// A repository whose goal `a` an agent gave up.
fn declined() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    let run = repo.cycle("echo 'no way' >\"$EVOLVE_GIVE_UP\"").expect(0);
    let told = "  a is declined and passed over from now on; `evolve retry a` lets it be worked on again\n";
    assert!(run.stdout.contains(told), "{}", run.stdout);
    repo.evolve(&["--agent=true"]).expect(11);
    assert_eq!(repo.records().len(), 1);
    repo
}

/// Replaces a text in the goals file and commits that.
fn edit_goals(repo: &TestRepo, old: &str, new: &str) {
    let goals = repo.read("GOALS.yaml");
    assert!(goals.contains(old), "{goals}");
    repo.write("GOALS.yaml", &goals.replace(old, new));
    repo.commit_all("other goals");
}

/// Every file and folder below a folder with everything that writing to it would change.
fn listing(folder: &Path) -> BTreeMap<String, String> {
    let mut listed = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let bytes = if meta.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            let state = format!(
                "{:o} {}.{} {}",
                meta.mode(),
                meta.mtime(),
                meta.mtime_nsec(),
                evolve::model::digest::full(&bytes)
            );
            listed.insert(path.display().to_string(), state);
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    listed
}

#[track_caller]
fn dry_run_that_writes_nothing(repo: &TestRepo) -> String {
    let everything = repo.root().parent().unwrap().to_owned();
    // Its script is written here.
    let _ = repo.agent();
    let before = listing(&everything);
    let run = repo.run(&["--dry-run"]).expect(0);
    assert_eq!(listing(&everything), before);
    run.stdout
}

#[test]
fn a_dry_run_writes_nothing_at_all_and_names_selection_and_queue() {
    let repo = TestRepo::with_goals(
        "  - {id: light, description: light one, check: test -e light, weight: 2}\n  \
         - {id: heavy, description: the heavy one, check: test -e heavy, weight: 7}\n",
    );
    repo.write(QUEUE, "{\"title\": \"tidy up\", \"severity\": \"high\", \"type\": \"bug\"}\n{\"title\": \"elsewhere\", \"target_repo\": \"other\"}\n");
    repo.commit_all("work");
    repo.agent_does(&["touch paid"]);
    let said = dry_run_that_writes_nothing(&repo);
    for part in [
        "dry run: would work on heavy",
        "heaviest failing goal, weight 7",
        "weight:      7",
        "description: the heavy one",
        "check:       test -e heavy",
        "tidy up",
        "high",
    ] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
    assert!(!said.contains("elsewhere"), "{said}");
    assert_eq!(repo.calls(), 0);
}

#[test]
fn a_dry_run_writes_nothing_with_a_history_in_a_dirty_tree() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.cycle("touch a").expect(0);
    repo.write("a", "edited");
    repo.write("untracked", "");
    let said = dry_run_that_writes_nothing(&repo);
    assert!(said.contains("would work on b"), "{said}");
    assert!(said.contains("the only failing goal, weight 3"), "{said}");
}

#[test]
fn a_dry_run_tells_of_a_crashed_cycle_and_leaves_it_alone() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch half; echo $$ >../agent/pid; exec sleep 100"]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    let pid = pid_in(&repo.outside().join("pid"));
    let said = dry_run_that_writes_nothing(&repo);
    assert!(!said.contains("died"), "{said}");
    signal(&child, "KILL");
    child.wait().unwrap();
    repo.command("kill")
        .args(["-9", &pid.to_string()])
        .status()
        .unwrap();
    wait_until("the agent is gone", || !crate::harness::is_alive(pid));
    let said = dry_run_that_writes_nothing(&repo);
    assert!(
        said.contains("cycle 1 of a session that died is unsettled"),
        "{said}"
    );
    assert!(repo.has("half"));
}

#[test]
fn a_dry_run_foresees_that_somebody_elses_change_wakes_a_declined_goal() {
    let repo = declined();
    let said = dry_run_that_writes_nothing(&repo);
    assert!(said.contains("a human is needed"), "{said}");
    assert!(said.contains("a (declined): no way"), "{said}");
    repo.write("new", "");
    repo.commit_all("somebody else");
    let said = dry_run_that_writes_nothing(&repo);
    assert!(said.contains("would work on a"), "{said}");
}

#[test]
fn who_looks_is_told_that_a_declined_goal_waits_until_somebody_else_changed_something() {
    let repo = declined();
    let waits = |repo: &TestRepo| {
        let doctor = repo.evolve(&["doctor"]).stdout;
        let status: Value = serde_json::from_str(&repo.answer(&["status", "--json"])).unwrap();
        [
            doctor.contains("a waits for a person"),
            repo.answer(&["report", "--md"])
                .contains("a was declined by the agent"),
            status["declined"] == json!(["a"]),
        ]
    };
    assert_eq!(waits(&repo), [true; 3]);
    // What is not committed is in no cycle's start.
    repo.write("new", "");
    assert_eq!(waits(&repo), [true; 3]);
    repo.commit_all("somebody else");
    let before = repo.files();
    assert_eq!(waits(&repo), [false; 3]);
    assert_eq!(repo.files(), before);
}

#[test]
fn a_dry_run_foresees_the_item_that_an_unwired_script_becomes() {
    let repo = healthy();
    repo.write("scripts/check-style.sh", "exit 0\n");
    repo.commit_all("a script");
    let said = dry_run_that_writes_nothing(&repo);
    assert!(
        said.contains("would work on next-work:Unwired script: scripts/check-style.sh"),
        "{said}"
    );
}

#[test]
fn the_heaviest_failing_goal_comes_first_and_ties_are_broken_by_the_files_order() {
    let repo = TestRepo::with_files_wanted(&[("c", 3), ("z", 7), ("b", 7), ("d", 5)]);
    repo.agent_does(&["touch $EVOLVE_GOAL_ID"; 4]);
    repo.run(&["--max-cycles=4"]).expect(0);
    assert_eq!(repo.each("goal_id"), ["z", "b", "d", "c"]);
}

#[test]
fn a_goal_that_passed_before_is_measured_again_before_an_agent_is_paid_for_it() {
    // Before and after the first cycle, before the second one, again alone, and then for ever.
    for (steps, chosen, runs, measured) in [
        (
            ["exit 0", "exit 0", "exit 1", "exit 0"],
            "b",
            5,
            json!({"result": "pass", "flaky": true}),
        ),
        (
            ["exit 0", "exit 0", "exit 1", "exit 1"],
            "f",
            5,
            json!({"result": "fail", "flaky": null}),
        ),
    ] {
        let repo = TestRepo::empty();
        let f = repo.check_in_turn("f", &steps);
        repo.commit_goals(&format!(
            "  - {{id: f, description: f, check: {f}, weight: 9}}\n  \
             - {{id: b, description: b, check: test -e b, weight: 3}}\n"
        ));
        repo.cycle("touch other").expect(0);
        repo.cycle("").expect(0);
        assert_eq!(repo.each("goal_id"), ["b", chosen]);
        assert_eq!(repo.runs("f"), runs);
        let snapshot = repo.json(".agents/evolve/fitness-2.json");
        let goal = &snapshot["goals"][0];
        assert_eq!(goal["attempts"], 2);
        assert_eq!(
            json!({"result": goal["result"], "flaky": goal["flaky"]}),
            measured
        );
    }
}

#[test]
fn a_dry_run_in_a_tree_that_a_run_would_refuse_says_so() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let said = repo.evolve(&["--dry-run"]).expect(0).stdout;
    assert!(!said.contains("a run would not begin"), "{said}");
    repo.write("GOALS.yaml", &(repo.read("GOALS.yaml") + "# more\n"));
    let words = "\na run would not begin: 1 tracked file has uncommitted changes (GOALS.yaml); commit or stash them first\n";
    let said = repo.evolve(&["--dry-run"]).expect(0).stdout;
    assert!(said.contains(words), "{said}");
    let said = repo.evolve(&["--dry-run", "--isolate"]).expect(0).stdout;
    assert!(!said.contains("a run would not begin"), "{said}");
}

#[test]
fn a_dry_run_says_what_else_keeps_a_run_from_beginning() {
    let repo = TestRepo::empty();
    repo.write("x", "");
    repo.commit_all("first");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: d, check: test -e a, weight: 5}\n",
    );
    let words = "GOALS.yaml is not committed, so an undo could not bring it back; commit it first: `git add GOALS.yaml && git commit -m 'goals'`";
    for arguments in [&["--dry-run"][..], &["--dry-run", "--isolate"]] {
        let said = repo.evolve(arguments).expect(0).stdout;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains(&format!("a run would not begin: {words}")),
            "{said}"
        );
    }
    repo.agent_does(&["touch a"]);
    let refused = repo.run(&["--max-cycles=1"]).expect(3).stderr;
    assert!(
        refused.contains("is not committed, so an undo"),
        "{refused}"
    );
    repo.commit_all("goals");
    repo.write(".gitattributes", "*.jsonl working-tree-encoding=UTF-16\n");
    repo.commit_all("attributes");
    let told = repo.evolve(&["--dry-run", "--json"]).expect(0).stdout;
    assert!(
        told.contains("a run would not begin: git's attributes make something else"),
        "{told}"
    );
}

#[test]
fn a_goal_that_was_flaky_is_measured_again_before_an_agent_is_paid_for_it() {
    let repo = TestRepo::empty();
    // Baseline, after, confirmed: flaky. Then it fails before the second cycle, and passes alone.
    let f = repo.check_in_turn("f", &["exit 0", "exit 1", "exit 0", "exit 1", "exit 0"]);
    repo.commit_goals(&format!(
        "  - {{id: f, description: f, check: {f}, weight: 9}}\n  \
         - {{id: b, description: b, check: test -e b, weight: 3}}\n"
    ));
    let said = repo.cycle("touch other").expect(0).stdout;
    assert_eq!(said.matches("f is flaky: it failed").count(), 1, "{said}");
    assert_eq!(repo.newest()["result"], "unchanged");
    let after = repo.json(".agents/evolve/fitness-1-post.json");
    assert_eq!(
        (&after["goals"][0]["flaky"], &after["goals"][0]["attempts"]),
        (&json!(true), &json!(2))
    );
    repo.cycle("").expect(0);
    assert_eq!(repo.each("goal_id"), ["b", "b"]);
    // A person who reads of it in the morning hears it, too.
    for notes in repo.each("notes") {
        let told = "f is flaky: it failed and passed on the same content";
        assert!(notes.contains(told), "{notes}");
    }
    repo.evolve(&["report", "--out=../agent/page.html"])
        .expect(0);
    let page = std::fs::read_to_string(repo.outside().join("page.html")).unwrap();
    assert!(page.contains("<td class=\"flaky\">≈</td>"), "{page}");
}

#[test]
fn a_goal_that_was_seen_to_fail_is_not_measured_again_before_the_agent() {
    let repo = TestRepo::empty();
    let a = repo.check_in_turn("a", &["exit 1"]);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: {a}, weight: 9}}\n"
    ));
    repo.cycle("touch other").expect(0);
    // The baseline and after the agent.
    assert_eq!(repo.runs("a"), 2);
}

#[test]
fn a_goal_that_passed_only_in_a_change_that_was_undone_is_not_doubted() {
    let repo = TestRepo::empty();
    let a = repo.check_in_turn("a", &["exit 1", "exit 0", "exit 1"]);
    repo.write("b", "");
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: {a}, weight: 9}}\n  \
         - {{id: b, description: b, check: test -e b, weight: 3, retries: 0}}\n"
    ));
    repo.cycle("rm b").expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    repo.cycle("").expect(0);
    // The baseline, after the first agent, before and after the second one.
    assert_eq!(repo.runs("a"), 4);
}

#[test]
fn a_goal_is_struck_after_three_cycles_without_progress_and_passed_over() {
    let repo = TestRepo::with_files_wanted(&[("c", 1), ("a", 9), ("b", 5)]);
    repo.write("c", "");
    repo.commit_all("c");
    // Unchanged, failed, regressed: each is without progress.
    repo.agent_does(&["touch other", "exit 7", "rm c", "touch b"]);
    let run = repo.run(&[]).expect(11);
    assert_eq!(repo.each("goal_id"), ["a", "a", "a", "b"]);
    assert_eq!(
        repo.each("result"),
        ["unchanged", "failed", "regressed", "improved"]
    );
    assert!(
        run.stdout.contains("passed over: a (struck)"),
        "{}",
        run.stdout
    );
    let struck = "a is struck after 3 cycles without progress and passed over from now on; `evolve retry a` lets it be worked on again";
    assert_eq!(run.stdout.matches(struck).count(), 1, "{}", run.stdout);
    let third = run.stdout.split("\ncycle 3 ").nth(1).unwrap();
    let third = third.split("\ncycle 4 ").next().unwrap();
    assert!(third.ends_with(&format!("\n  {struck}")), "{third}");
    let reason = "a human is needed: a (struck: passed before and no longer: c (exit 1))";
    assert!(run.stdout.contains(reason), "{}", run.stdout);
    assert!(!run.stdout.contains("in the queue"), "{}", run.stdout);
}

#[test]
fn a_goal_that_passes_without_a_change_and_fails_again_is_struck_like_any_other() {
    let repo = TestRepo::empty();
    let flag = repo.outside().join("flag").display().to_string();
    // Each time it is looked for it is gone again.
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: \"rm '{flag}'\", weight: 5}}\n"
    ));
    let touch = format!("touch '{flag}'");
    repo.agent_does(&[&touch, &touch, &touch]);
    let run = repo.run(&[]).expect(11);
    assert_eq!(repo.each("result"), ["unchanged"; 3]);
    assert_eq!(repo.each("reason"), ["passes without a change"; 3]);
    let reason = "a human is needed: a (struck: passes without a change)";
    assert!(run.stdout.contains(reason), "{}", run.stdout);
}

#[test]
fn a_goal_that_fails_by_what_lies_in_the_git_directory_is_told_before_the_session_ends() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: a, check: test -e a, weight: 9}\n  - {id: b, description: b, check: '! find . -name \"*-brief.txt\" | grep .', weight: 5}\n",
    );
    repo.commit_all("first");
    let run = repo.cycle("touch a");
    assert_eq!(repo.each("result"), ["regressed"]);
    let said = [run.stdout, run.stderr].concat();
    let told = "b fails and names .git/evolve/logs/";
    assert!(said.contains(told), "{said}");
    assert!(said.contains("have its check pass by .git/ ("), "{said}");
}

#[test]
fn no_linter_of_the_projects_texts_finds_evolves_in_the_git_directory() {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: a, check: test -e a, weight: 9}\n  - {id: b, description: b, check: '! find .git -name \"*.md\" | grep .', weight: 5}\n",
    );
    repo.commit_all("first");
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_goal_whose_output_names_evolves_own_records_is_told_once_with_the_way_out() {
    let summary = ".agents/evolve/session-summary.md";
    for (check, way_out) in [
        (
            format!("! ls {summary}"),
            "most tools have a setting for that",
        ),
        (
            format!("test ! -e {summary} || {{ echo prettier: {summary}; exit 1; }}"),
            "for prettier: a line `.agents/` in .prettierignore",
        ),
    ] {
        let repo = TestRepo::empty();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\ngoals:\n  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - id: b\n    description: b\n    check: '{check}'\n    weight: 5\n"),
        );
        repo.commit_all("first");
        repo.agent_does(&["touch a", "", "", ""]);
        let run = repo.run(&[]).expect(11);
        let words = format!(
            "b fails and names {summary}, a record of evolve's own that no agent can change: have its check pass by .agents/ ({way_out})"
        );
        let said = [run.stdout, run.stderr].concat();
        assert_eq!(said.matches(&words).count(), 1, "{said}");
        let records = repo.records();
        assert_eq!(records[1]["notes"], serde_json::json!([words]));
        assert!(records[2].get("notes").is_none(), "{}", records[2]);
    }
}

#[test]
fn an_ending_at_struck_goals_says_how_much_waits_in_the_queue_and_why() {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    repo.answer(&["work", "add", "One"]);
    repo.agent_does(&["", "", ""]);
    let run = repo.run(&[]).expect(11);
    let waits = "1 item waits in the queue, which is worked on when no goal fails";
    assert!(run.stdout.contains(waits), "{}", run.stdout);
    let summary = repo.read(".agents/evolve/session-summary.md");
    assert!(summary.contains(waits), "{summary}");
    repo.answer(&["work", "add", "Two"]);
    let quiet = repo.run(&["-q"]).expect(11);
    let wait = "2 items wait in the queue, which is worked on when no goal fails";
    assert!(quiet.stderr.contains(wait), "{}", quiet.stderr);
    assert_eq!(repo.calls(), 3);
}

#[test]
fn one_or_two_cycles_without_progress_never_strike() {
    let repo = TestRepo::with_files_wanted(&[("a", 9), ("b", 5)]);
    repo.agent_does(&["", "", "touch a"]);
    repo.run(&["--max-cycles=3"]).expect(0);
    assert_eq!(repo.each("goal_id"), ["a", "a", "a"]);
    assert_eq!(repo.newest()["result"], "improved");
}

#[test]
fn an_interrupted_cycle_is_no_strike() {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    let kill = repo.kill_file();
    fs::create_dir_all(kill.parent().unwrap()).unwrap();
    repo.agent_does(&[
        "",
        "",
        &format!("touch '{}'; sleep 100", kill.display()),
        "touch a",
    ]);
    repo.run(&[]).expect(0);
    fs::remove_file(&kill).unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["unchanged", "unchanged", "interrupted", "improved"]
    );
}

#[test]
fn what_lets_a_struck_goal_be_worked_on_again() {
    type Deed = fn(&TestRepo);
    let deeds: [(&str, Deed, bool); 5] = [
        (
            "another check",
            |repo| edit_goals(repo, "check: test -e a", "check: test -f a"),
            true,
        ),
        (
            "evolve retry",
            |repo| drop(repo.evolve(&["retry", "a"]).expect(0)),
            true,
        ),
        (
            "another weight",
            |repo| edit_goals(repo, "weight: 9", "weight: 10"),
            false,
        ),
        (
            "another description",
            |repo| edit_goals(repo, "file a exists", "a is there"),
            false,
        ),
        (
            "somebody else's change",
            |repo| {
                repo.write("other", "");
                repo.commit_all("somebody else");
            },
            false,
        ),
    ];
    for (name, deed, wakes) in deeds {
        let repo = struck();
        deed(&repo);
        repo.agent_does(&["touch a"]);
        let code = if wakes { 0 } else { 11 };
        let run = repo.run(&["--max-cycles=1"]);
        assert_eq!(
            (run.code, repo.records().len()),
            (code, if wakes { 4 } else { 3 }),
            "{name}"
        );
        if wakes {
            assert_eq!(repo.newest()["result"], "improved", "{name}");
        }
    }
}

#[test]
fn a_struck_goal_that_passed_meanwhile_starts_anew() {
    let repo = struck();
    repo.write("a", "");
    repo.commit_all("a by hand");
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "idle");
    assert_eq!(repo.newest()["newly_passing"], json!(["a"]));
    repo.git(&["rm", "-q", "a"]);
    repo.commit_all("without a");
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["goal_id"], "a");
}

#[test]
fn a_struck_goal_that_passes_when_a_cycle_begins_anew_starts_anew_too() {
    let repo = struck().with_out();
    repo.write("a", "");
    let commit = format!(
        "cd '{}' && echo mine >mine && git add mine && git commit -qm mine; exit 1",
        repo.root().display()
    );
    let check = repo.check_in_turn("check", &[&commit, "exit 1", "exit 0"]);
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &format!("{goals}  - {{id: c, description: c, check: {check}, weight: 5}}\n"),
    );
    repo.commit_all("a by hand, and a goal whose check commits once");
    repo.agent_does(&["touch c"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(run.stdout.contains("begins anew"), "{}", run.stdout);
    assert_eq!(repo.newest()["goal_id"], "c");
    assert_eq!(repo.newest()["newly_passing"], json!(["c", "a"]));
}

#[test]
fn what_lets_a_declined_goal_be_worked_on_again() {
    type Deed = fn(&TestRepo);
    let deeds: [(&str, Deed, bool); 4] = [
        (
            "another check",
            |repo| edit_goals(repo, "check: test -e a", "check: test -f a"),
            true,
        ),
        (
            "evolve retry",
            |repo| drop(repo.evolve(&["retry", "a"]).expect(0)),
            true,
        ),
        (
            "somebody else's change",
            |repo| {
                repo.write("other", "");
                repo.commit_all("somebody else");
            },
            true,
        ),
        (
            "somebody else's empty commit",
            |repo| repo.commit_all("nothing"),
            false,
        ),
    ];
    for (name, deed, wakes) in deeds {
        let repo = declined();
        deed(&repo);
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]);
        assert_eq!(run.code, if wakes { 0 } else { 11 }, "{name}");
        assert_eq!(repo.records().len(), if wakes { 2 } else { 1 }, "{name}");
    }
}

#[test]
fn a_change_that_a_cycle_kept_wakes_no_declined_goal() {
    let repo = TestRepo::with_files_wanted(&[("a", 9), ("b", 5)]);
    repo.agent_does(&["echo 'no way' >\"$EVOLVE_GIVE_UP\"", "touch b"]);
    let run = repo.run(&[]).expect(11);
    assert_eq!(repo.each("goal_id"), ["a", "b"]);
    assert!(
        run.stdout.contains("passed over: a (declined)"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("a human is needed: a (declined: no way)"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_woken_goal_stays_awake_after_the_next_cycle() {
    let repo = declined();
    repo.write("other", "");
    repo.commit_all("somebody else");
    repo.agent_does(&["", "touch a"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["failed", "unchanged", "improved"]);
    let retries = repo.git(&["show", "HEAD:.agents/evolve/retries.jsonl"]);
    assert_eq!(retries.lines().count(), 1);
}

#[test]
fn somebody_elses_change_wakes_a_declined_goal_but_forgives_no_strikes() {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    repo.agent_does(&["", "", "echo no >\"$EVOLVE_GIVE_UP\""]);
    repo.run(&["--max-cycles=3"]).expect(0);
    repo.write("other", "");
    repo.commit_all("somebody else");
    let run = repo.evolve(&["--agent=true"]).expect(11);
    assert_eq!(repo.records().len(), 3);
    assert!(run.stdout.contains("a (struck: "), "{}", run.stdout);
}

#[test]
fn a_person_is_asked_for_every_goal_that_is_stuck_with_its_reason() {
    let repo = TestRepo::with_files_wanted(&[("a", 9), ("b", 5)]);
    repo.agent_does(&["", "", "", "echo 'no way' >\"$EVOLVE_GIVE_UP\""]);
    let run = repo.run(&[]).expect(11);
    let asked = "a human is needed: a (struck: the agent changed nothing); b (declined: no way)";
    assert!(run.stdout.contains(asked), "{}", run.stdout);
    let summary = repo.read(".agents/evolve/session-summary.md");
    for line in [
        "## A human is needed",
        "- a (struck): the agent changed nothing",
        "- b (declined): no way",
    ] {
        assert!(
            summary.lines().any(|found| found == line),
            "{line} is not in\n{summary}"
        );
    }
    assert!(!repo.has(".agents/evolve/fitness-5.json"));
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn stuck_goals_keep_the_queue_closed() {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    repo.write(QUEUE, "{\"title\": \"tidy up\"}\n");
    repo.commit_all("work");
    repo.agent_does(&["echo 'no way' >\"$EVOLVE_GIVE_UP\"", "touch tidy"]);
    repo.run(&[]).expect(11);
    assert_eq!(repo.calls(), 1);
}

#[test]
fn work_for_this_repository_is_harvested_by_severity_and_other_work_is_left() {
    let repo = healthy();
    repo.git(&[
        "remote",
        "add",
        "origin",
        "https://example.invalid/team/widget.git",
    ]);
    repo.write(
        QUEUE,
        "{\"title\": \"any\", \"severity\": \"low\"}\n\
         {\"title\": \"theirs\", \"severity\": \"critical\", \"target_repo\": \"gadget\"}\n\
         {\"items\": [{\"title\": \"for all\", \"severity\": \"moderate\", \"target_repo\": \"*\"}, \
         {\"title\": \"ours\", \"severity\": \"high\"}], \"target_repo\": \"widget\", \"consumed\": false}\n\
         {\"title\": \"not for the folder's name\", \"severity\": \"critical\", \"target_repo\": \"repo\"}\n\
         {\"title\": \"nobody said\"}\n",
    );
    repo.commit_all("work");
    repo.agent_does(&["touch done-$EVOLVE_CYCLE"; 4]);
    repo.run(&[]).expect(0);
    let harvested: Vec<_> = repo.each("goal_id").into_iter().take(5).collect();
    assert_eq!(
        harvested,
        [
            "next-work:ours",
            "next-work:for all",
            "next-work:any",
            "next-work:nobody said",
            "null"
        ]
    );
    let lines: Vec<Value> = repo
        .read(QUEUE)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let consumed: Vec<_> = lines.iter().map(|line| line["consumed"] == true).collect();
    assert_eq!(consumed, [true, false, true, false, true]);
}

#[test]
fn an_item_that_failed_goes_last_and_is_set_aside_after_three_failures() {
    let repo = healthy();
    repo.write(
        QUEUE,
        "{\"title\": \"hard\", \"severity\": \"critical\"}\n{\"title\": \"easy\", \"severity\": \"low\"}\n",
    );
    repo.commit_all("work");
    repo.agent_does(&["exit 7", "touch easy", "exit 7", "exit 7"]);
    repo.run(&[]).expect(0);
    let hard = "next-work:hard";
    assert_eq!(
        repo.each("goal_id"),
        [hard, "next-work:easy", hard, hard, "null", "null", "null"]
    );
    let listed = repo.evolve(&["work", "list"]).expect(0).stdout;
    assert!(
        listed.contains("hard") && listed.contains("set aside"),
        "{listed}"
    );
    let said = dry_run_that_writes_nothing(&repo);
    let why =
        "no goal fails and what is left in the queue is set aside (1 item, see `evolve work list`)";
    assert!(
        said.contains(&format!("nothing to do — {why}")) && said.contains("hard"),
        "{said}"
    );
    assert_eq!(repo.newest()["reason"], why);
}

#[test]
fn cycles_on_what_agents_left_are_counted_and_not_how_often_one_began() {
    let repo = TestRepo::empty();
    let commit = format!(
        "cd '{}' && echo mine >mine && git add mine && git commit -qm mine; exit 0",
        repo.root().display()
    );
    // The baseline, both measurements of the first cycle, and the first one of the second, which begins anew.
    let check = repo.check_in_turn("check", &["exit 0", "exit 0", "exit 0", &commit, "exit 0"]);
    repo.write(
        "GOALS.yaml",
        &format!("goals:\n  - {{id: c, description: c, check: {check}, weight: 5}}\n"),
    );
    repo.write(QUEUE, "{\"title\": \"begin\"}\n");
    repo.commit_all("first");
    let leaves = "touch \"file-$EVOLVE_CYCLE\"; \
                  echo \"{\\\"title\\\": \\\"after $EVOLVE_CYCLE\\\"}\" >\"$EVOLVE_NEXT_WORK\"";
    repo.agent_does(&[leaves; 22]);
    let run = repo.run(&["--max-cycles=30"]).expect(11);
    assert!(run.stdout.contains("begins anew"), "{}", run.stdout);
    assert_eq!(repo.each("result"), ["harvested"; 21]);
    assert!(run.stdout.contains("the last 20 cycles"), "{}", run.stdout);
}

#[test]
fn three_idle_cycles_on_the_same_content_are_dormancy() {
    let repo = TestRepo::empty();
    let fine = repo.check_in_turn("fine", &["exit 0"]);
    repo.commit_goals(&format!(
        "  - {{id: fine, description: fine, check: {fine}, weight: 5}}\n"
    ));
    let run = repo.run(&["--json"]).expect(0);
    assert_eq!(repo.each("result"), ["idle", "idle", "idle"]);
    assert_eq!(run.events().pop().unwrap()["ending"], "dormant");
    // The baseline has no failing goal, so that the first cycle measures afresh.
    assert_eq!(repo.runs("fine"), 4);
    assert!(repo.json(".agents/evolve/fitness-1.json")["taken_from"].is_null());
    assert_eq!(repo.subjects()[1], "evolve: cycle 3 — idle");
    assert_eq!(repo.calls(), 0);
}

#[test]
fn a_dormant_repository_is_measured_once_and_left_alone() {
    let repo = TestRepo::empty();
    let fine = repo.check_in_turn("fine", &["exit 0"]);
    repo.commit_goals(&format!(
        "  - {{id: fine, description: fine, check: {fine}, weight: 5}}\n"
    ));
    repo.run(&[]).expect(0);
    let (head, runs, files) = (
        repo.head(),
        repo.runs("fine"),
        listing(&repo.path(".agents")),
    );
    let run = repo.run(&["--json"]).expect(0);
    assert_eq!(run.events().pop().unwrap()["ending"], "dormant");
    assert_eq!(repo.runs("fine"), runs + 1);
    assert_eq!(repo.head(), head);
    let content = |files: BTreeMap<String, String>| -> Vec<_> {
        let last = |state: String| state.rsplit(' ').next().unwrap().to_owned();
        files
            .into_iter()
            .map(|(path, state)| (path, last(state)))
            .collect()
    };
    assert_eq!(content(listing(&repo.path(".agents"))), content(files));
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_changed_repository_is_no_longer_dormant() {
    let repo = healthy();
    repo.run(&[]).expect(0);
    repo.write("new", "");
    repo.commit_all("new");
    repo.run(&[]).expect(0);
    assert_eq!(repo.each("result"), ["idle"; 6]);
}

#[test]
fn work_between_idle_cycles_starts_their_count_anew() {
    let repo = healthy();
    repo.run(&["--max-cycles=2"]).expect(0);
    repo.evolve(&["work", "add", "tidy up"]).expect(0);
    repo.agent_does(&[""]);
    repo.run(&["--max-cycles=1"]).expect(0);
    repo.git(&["rm", "-q", "--cached", QUEUE]);
    fs::remove_file(repo.path(QUEUE)).unwrap();
    repo.git(&["commit", "-qm", "no work"]);
    repo.run(&[]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["idle", "idle", "unchanged", "idle", "idle", "idle"]
    );
}

#[test]
fn skipped_goals_are_named_in_each_idle_record_and_at_the_ending() {
    let repo = TestRepo::with_goals(
        "  - {id: fine, description: fine, check: 'true', weight: 5}\n  \
         - {id: odd, description: odd, check: no-such-tool --all, weight: 5}\n",
    );
    for records in [3, 3] {
        let run = repo.run(&[]).expect(0);
        assert_eq!(repo.records().len(), records);
        for reason in repo.each("reason") {
            assert!(
                reason.contains("; not measured: odd (cannot be executed (exit 127)"),
                "{reason}"
            );
        }
        let ending = run
            .stdout
            .lines()
            .rfind(|line| line.contains("dormant"))
            .unwrap_or_default();
        assert!(
            ending.contains("odd") || run.stdout.ends_with("odd"),
            "{}",
            run.stdout
        );
    }
    assert_eq!(repo.newest()["score_after"], 50.0);
}

#[test]
fn where_no_goal_can_be_measured_nothing_is_recorded_and_what_is_missing_is_named() {
    let repo = TestRepo::with_goals(
        "  - {id: odd, description: odd, check: no-such-tool --all, weight: 5}\n  \
         - {id: even, description: even, check: neither-this, weight: 5}\n",
    );
    let head = repo.head();
    for arguments in [&["--skip-baseline"][..], &[]] {
        repo.agent_does(&["touch a"]);
        let run = repo.run(arguments).expect(2);
        for part in [
            "no-such-tool --all",
            "neither-this",
            &std::env::var("PATH").unwrap(),
        ] {
            assert!(
                run.stderr.contains(part),
                "{part} is not in\n{}",
                run.stderr
            );
        }
        assert_eq!(repo.head(), head);
        assert_eq!(repo.status(), Vec::<String>::new());
        assert_eq!((repo.calls(), repo.records().len()), (0, 0));
        assert!(!repo.has(".agents/evolve/fitness-1.json"));
    }
}

/// How a goal that passed behaves after the agent: its `retries`, each run after the baseline, and what follows.
struct Newly {
    retries: u8,
    steps: &'static [&'static str],
    result: &'static str,
    attempts: u64,
    flaky: bool,
}

#[test]
fn what_newly_fails_is_measured_again_alone_before_it_counts() {
    for newly in [
        Newly {
            retries: 2,
            steps: &["exit 1", "exit 0"],
            result: "improved",
            attempts: 2,
            flaky: true,
        },
        Newly {
            retries: 2,
            steps: &["exit 1", "exit 1", "exit 0"],
            result: "improved",
            attempts: 3,
            flaky: true,
        },
        Newly {
            retries: 1,
            steps: &["exit 1", "exit 1", "exit 0"],
            result: "regressed",
            attempts: 2,
            flaky: false,
        },
        Newly {
            retries: 2,
            steps: &["exit 1", "exit 1", "exit 1", "exit 0"],
            result: "regressed",
            attempts: 3,
            flaky: false,
        },
        Newly {
            retries: 0,
            steps: &["exit 1", "exit 0"],
            result: "regressed",
            attempts: 1,
            flaky: false,
        },
        Newly {
            retries: 1,
            steps: &["exit 77", "exit 77", "exit 0"],
            result: "regressed",
            attempts: 2,
            flaky: false,
        },
        Newly {
            retries: 1,
            steps: &["exit 77", "exit 0"],
            result: "improved",
            attempts: 2,
            flaky: true,
        },
    ] {
        let repo = TestRepo::empty();
        let steps = [&["exit 0"], newly.steps].concat();
        let f = repo.check_in_turn("f", &steps);
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: test -e a, weight: 9}}\n  \
             - {{id: f, description: f, check: {f}, weight: 3, retries: {}}}\n",
            newly.retries
        ));
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.newest()["result"], newly.result, "{steps:?}");
        let after = repo.json(".agents/evolve/fitness-1-post.json");
        let goal = &after["goals"][1];
        assert_eq!(goal["attempts"], newly.attempts, "{steps:?}");
        assert_eq!(goal["flaky"] == true, newly.flaky, "{steps:?}");
        // Each of these runs, the baseline, and after an undo whose fault it was.
        assert_eq!(repo.runs("f"), steps.len(), "{steps:?}");
    }
}

#[test]
fn a_goal_that_failed_and_is_skipped_once_is_no_regression() {
    let repo = TestRepo::empty();
    let f = repo.check_in_turn("f", &["exit 1", "exit 77", "exit 1"]);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: test -e a, weight: 9}}\n  \
         - {{id: f, description: f, check: {f}, weight: 3}}\n"
    ));
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let after = repo.json(".agents/evolve/fitness-1-post.json");
    assert_eq!(after["goals"][1]["result"], "fail");
    assert!(after["goals"][1]["flaky"].is_null());
}

/// Goals `a`, and `cov` at least 80 with a tolerance of a half, whose value stands in the file `cov`.
fn with_coverage(cov: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("cov", cov);
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 2}\n  \
         - {id: cov, description: cov, check: cat cov, weight: 8, retries: 0, \
         continuous: {threshold: 80, direction: at-least, tolerance: 0.5}}\n",
    );
    repo
}

#[test]
fn within_its_tolerance_a_goal_that_passed_is_neither_a_regression_nor_chosen() {
    let repo = with_coverage("80\n");
    repo.agent_does(&["touch a; echo 79.6 >cov"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "idle"]);
    let snapshot = repo.json(".agents/evolve/fitness-2.json");
    let goal = &snapshot["goals"][1];
    // The result is always against the threshold.
    assert_eq!(
        (&goal["result"], &goal["tolerated"]),
        (&json!("fail"), &json!(true))
    );
    assert_eq!(repo.newest()["score_after"], 20.0);
    // A later session goes on tolerating it.
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "idle");
}

#[test]
fn beyond_its_tolerance_a_goal_that_passed_is_a_regression() {
    let repo = with_coverage("80\n");
    repo.cycle("touch a; echo 79.4 >cov").expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    assert_eq!(repo.newest()["newly_failing"], json!(["cov"]));
}

#[test]
fn a_goal_that_never_passed_is_chosen_within_its_tolerance_too() {
    let repo = with_coverage("79.9\n");
    repo.cycle("echo 80 >cov").expect(0);
    assert_eq!(
        (&repo.newest()["goal_id"], &repo.newest()["result"]),
        (&json!("cov"), &json!("improved"))
    );
}

#[test]
fn a_goal_that_is_within_its_tolerance_when_measured_again_is_not_chosen() {
    let repo = TestRepo::empty();
    let cov = repo.check_in_turn("cov", &["echo 80", "echo 80", "echo 70", "echo 79.8"]);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: test -e a, weight: 2}}\n  \
         - {{id: cov, description: cov, check: {cov}, weight: 8, \
         continuous: {{threshold: 80, direction: at-least, tolerance: 0.5}}}}\n"
    ));
    repo.cycle("touch other").expect(0);
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("goal_id"), ["a", "a"]);
}

#[test]
fn a_goal_that_is_within_its_tolerance_when_confirmed_is_no_regression() {
    let repo = TestRepo::empty();
    let cov = repo.check_in_turn("cov", &["echo 80", "echo 70", "echo 79.8", "echo 70"]);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: test -e a, weight: 9}}\n  \
         - {{id: cov, description: cov, check: {cov}, weight: 8, \
         continuous: {{threshold: 80, direction: at-least, tolerance: 0.5}}}}\n"
    ));
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(repo.runs("cov"), 3);
}

#[test]
fn an_unwired_check_script_becomes_a_work_item_once() {
    for arguments in [
        &["--max-cycles=1"][..],
        &["--max-cycles=1", "--skip-baseline"],
    ] {
        let repo = TestRepo::with_goals(
            "  - {id: wired, description: wired, check: sh scripts/check-wired.sh, weight: 5}\n",
        );
        repo.write("scripts/check-wired.sh", "#!/bin/sh\nexit 0\n");
        repo.write("scripts/check-loose.sh", "#!/bin/sh\nexit 0\n");
        repo.write("scripts/other.sh", "#!/bin/sh\nexit 0\n");
        repo.commit_all("scripts");
        repo.agent_does(&["touch looked-at"]);
        repo.run(arguments).expect(0);
        let item = repo.json(QUEUE);
        let title = "Unwired script: scripts/check-loose.sh — wire to GOALS.yaml or delete";
        assert_eq!(item["title"], title);
        assert_eq!(
            (&item["severity"], &item["type"]),
            (&json!("high"), &json!("tech-debt"))
        );
        assert_eq!(item["state"], "consumed");
        // Consumed, though the script is still there: it is not queued again.
        repo.run(arguments).expect(0);
        assert_eq!(repo.read(QUEUE).lines().count(), 1);
        assert_eq!(repo.each("result"), ["harvested", "idle"]);
    }
}

#[test]
fn where_no_work_is_looked_for_a_check_script_that_is_in_no_check_is_none() {
    for is_of_user in [false, true] {
        let repo =
            TestRepo::with_goals("  - {id: a, description: a, check: \"true\", weight: 5}\n");
        if is_of_user {
            let folder = repo.home().join(".config/evolve");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("config.yaml"), "sweep: []\n").unwrap();
        } else {
            let goals = repo.read("GOALS.yaml");
            repo.write("GOALS.yaml", &format!("evolve: {{sweep: []}}\n{goals}"));
        }
        repo.write("scripts/check-loose.sh", "#!/bin/sh\nexit 0\n");
        repo.commit_all("scripts");
        repo.agent_does(&["touch looked-at"]);
        let said = repo.run(&["--dry-run"]).expect(0).stdout;
        assert!(!said.contains("check-loose"), "{said}");
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["idle"]);
        assert!(!repo.has(QUEUE));
    }
}

#[test]
fn the_baseline_travels_with_the_first_record_and_the_first_cycle_starts_at_the_users_head() {
    let repo = TestRepo::with_files_wanted(&[("light", 2), ("heavy", 6), ("b", 2)]);
    repo.write("b", "");
    repo.commit_all("b");
    let start = repo.head();
    repo.cycle("git rev-parse HEAD >../agent/head; cat .agents/evolve/fitness-1.json >../agent/first; touch heavy")
        .expect(0);
    let seen = fs::read_to_string(repo.outside().join("head")).unwrap();
    assert_eq!(seen.trim(), start);
    assert_eq!(repo.git(&["rev-parse", "HEAD~3"]), start);
    let added = repo.git(&["show", "--name-only", "--format=", "HEAD~1"]);
    for file in [
        "fitness-0-baseline.json",
        "cycle-0-report.md",
        "fitness-1.json",
        "fitness-1-post.json",
        "cycle-history.jsonl",
    ] {
        assert!(
            added
                .lines()
                .any(|line| line == format!(".agents/evolve/{file}")),
            "{file} is not in\n{added}"
        );
    }
    let baseline = repo.json(".agents/evolve/fitness-0-baseline.json");
    assert_eq!(
        (&baseline["cycle"], &baseline["score"]),
        (&json!(0), &json!(20.0))
    );
    assert_eq!(baseline["cycle_start_sha"], start.as_str());
    assert_eq!(
        repo.read(".agents/evolve/cycle-0-report.md"),
        "# Cycle-0 Baseline\n\n**Total goals:** 3\n**Passing:** 1\n**Failing:** 2\n\n\
         - [weight 6] heavy: fail\n- [weight 2] light: fail\n"
    );
}

#[test]
fn the_baseline_serves_as_the_first_cycles_snapshot_and_is_never_repeated() {
    let repo = TestRepo::empty();
    let a = repo.check_in_turn("a", &["exit 1", "exit 0"]);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: {a}, weight: 9}}\n"
    ));
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.runs("a"), 2);
    let first = repo.json(".agents/evolve/fitness-1.json");
    assert_eq!(first["taken_from"], "fitness-0-baseline.json");
    assert_eq!(first["cycle"], 1);
    let baseline = repo.read(".agents/evolve/fitness-0-baseline.json");
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.runs("a"), 3);
    assert_eq!(
        repo.read(".agents/evolve/fitness-0-baseline.json"),
        baseline
    );
}

#[test]
fn no_baseline_is_taken_where_it_is_not_wanted_nor_later() {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1", "--skip-baseline"]).expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "idle"]);
    assert!(!repo.has(".agents/evolve/fitness-0-baseline.json"));
    assert!(!repo.has(".agents/evolve/cycle-0-report.md"));
    assert!(repo.json(".agents/evolve/fitness-1.json")["taken_from"].is_null());
}

#[test]
fn the_second_snapshot_of_a_kept_cycle_is_taken_over_and_that_of_an_undone_one_is_not() {
    let repo = TestRepo::with_files_wanted(&[("c", 1), ("a", 9), ("b", 5)]);
    repo.write("c", "");
    repo.commit_all("c");
    repo.agent_does(&["touch a", "rm c", "touch b", ""]);
    repo.run(&["--max-cycles=3"]).expect(0);
    let taken: Vec<_> = (1..=3)
        .map(|cycle| {
            repo.json(&format!(".agents/evolve/fitness-{cycle}.json"))["taken_from"].clone()
        })
        .collect();
    assert_eq!(
        taken,
        [
            json!("fitness-0-baseline.json"),
            json!("fitness-1-post.json"),
            Value::Null
        ]
    );
    // Another session measures afresh, and so does a cycle after which nothing fails.
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(repo.json(".agents/evolve/fitness-4.json")["taken_from"].is_null());
}

#[test]
fn goals_that_an_agent_added_are_counted_and_count_from_the_next_cycle_on() {
    let added =
        "echo '  - {id: new, description: new, check: test -e new, weight: 9}' >>GOALS.yaml";
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.agent_does(&[&format!("touch a; {added}"), "touch new"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("goal_id"), ["a", "new"]);
    assert_eq!(repo.each("goals_added"), ["1", "0"]);
    assert_eq!(repo.each("goals_total"), ["2", "3"]);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    // What was measured without the new goal serves no longer.
    assert!(repo.json(".agents/evolve/fitness-2.json")["taken_from"].is_null());
}

#[test]
fn goals_of_an_undone_cycle_are_not_counted_as_added() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.cycle(
        "rm b; echo '  - {id: new, description: new, check: test -e new, weight: 9}' >>GOALS.yaml",
    )
    .expect(0);
    assert_eq!(
        (&repo.newest()["result"], &repo.newest()["goals_added"]),
        (&json!("regressed"), &json!(0))
    );
}

/// What an agent leaves in its outbox, as a script.
const LEAVES: &str = "echo 'mind the gap' >\"$EVOLVE_LESSONS\"; \
                      echo '{\"title\": \"found it\", \"severity\": \"low\", \"consumed\": true}' >\"$EVOLVE_NEXT_WORK\"; ";

#[test]
fn lessons_and_found_work_are_taken_over_unless_the_cycle_was_interrupted() {
    let kill = "mkdir -p \"$HOME/.config/evolve\"; touch \"$HOME/.config/evolve/KILL\"; sleep 100";
    for (script, result, is_taken) in [
        ("touch a", "improved", true),
        ("rm b", "regressed", true),
        ("echo no >\"$EVOLVE_GIVE_UP\"", "failed", true),
        (kill, "interrupted", false),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
        repo.write("b", "");
        repo.commit_all("b");
        repo.cycle(&format!("{LEAVES}{script}")).expect(0);
        assert_eq!(repo.newest()["result"], result);
        let lessons = repo.has(".agents/evolve/lessons.jsonl");
        assert_eq!((lessons, repo.has(QUEUE)), (is_taken, is_taken), "{result}");
        if is_taken {
            let lesson = repo.json(".agents/evolve/lessons.jsonl");
            assert_eq!(
                (&lesson["text"], &lesson["goal_id"]),
                (&json!("mind the gap"), &json!("a"))
            );
            let item = repo.json(QUEUE);
            // What an agent says of the state of its find counts for nothing.
            assert_eq!(
                (&item["title"], &item["state"]),
                (&json!("found it"), &json!("available"))
            );
            let committed = repo.git(&["show", "--name-only", "--format=", "HEAD~1"]);
            assert!(
                committed.contains("lessons.jsonl") && committed.contains(QUEUE),
                "{committed}"
            );
        }
    }
}

#[test]
fn a_brief_holds_everything_that_the_agent_has_to_know() {
    let repo = TestRepo::empty();
    repo.write("scripts/check.sh", "echo 'three <errors> & more'; exit 3\n");
    repo.write(
        "GOALS.yaml",
        "mission: Stay well\nevolve: {protect: ['ci/**']}\ngoals:\n  \
        - {id: a, description: all is well, check: sh scripts/check.sh, weight: 5}\n",
    );
    repo.commit_all("goals");
    repo.agent_does(&[&format!("{LEAVES}exit 7"), ""]);
    repo.run(&["--max-cycles=2"]).expect(0);
    let (first, second) = (repo.brief(1), repo.brief(2));
    let outbox = repo.path(".agents/evolve/outbox");
    for part in [
        "Its mission: Stay well.",
        "**a** — all is well",
        "    sh scripts/check.sh\n",
        "It fails now: exit 3.",
        "three <errors> & more",
        "Do not touch GOALS.yaml or what its checks run (scripts/check.sh), nor anything under ci/**",
        "If you prune an allowlist, add a goal that keeps it pruned.",
        "\"This cannot be done honestly\" is a good answer",
        &outbox.join("give-up").display().to_string(),
        &outbox.join("next-work.jsonl").display().to_string(),
        &outbox.join("lessons").display().to_string(),
    ] {
        assert!(first.contains(part), "{part} is not in\n{first}");
    }
    for absent in [
        "Earlier attempts",
        "Lessons from",
        "failing test first",
        "## Context",
    ] {
        assert!(!first.contains(absent), "{absent} is in\n{first}");
    }
    for part in [
        "- cycle 1: failed — no change; the agent ended with exit 7",
        "- mind the gap",
    ] {
        assert!(second.contains(part), "{part} is not in\n{second}");
    }
}

#[test]
fn a_brief_for_a_work_item_tells_what_is_known_of_it() {
    let repo = healthy();
    repo.write(QUEUE, "{\"title\": \"tidy up\", \"severity\": \"moderate\", \"type\": \"bug\", \"source\": \"a sweep\", \
        \"description\": \"the attic\", \"evidence\": \"dust\"}\n");
    repo.commit_all("work");
    repo.cycle("touch tidy").expect(0);
    let brief = repo.brief(1);
    for part in [
        "**tidy up**",
        "the attic",
        "Evidence: dust",
        "Severity medium, type bug, found by a sweep.",
    ] {
        assert!(brief.contains(part), "{part} is not in\n{brief}");
    }
}

#[test]
fn a_failing_test_first_and_more_context_are_passed_on() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let ao = repo.outside().join("ao");
    fs::write(
        &ao,
        "#!/bin/sh\n[ \"$*\" = inject ] && echo 'what we knew'\n",
    )
    .unwrap();
    fs::set_permissions(&ao, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!(
        "{}:{}",
        repo.outside().display(),
        std::env::var("PATH").unwrap()
    );
    repo.env.push(("PATH".to_owned(), path));
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1", "--test-first"]).expect(0);
    let brief = repo.brief(1);
    assert!(brief.contains("Write a failing test first"), "{brief}");
    assert!(brief.contains("## Context\n\nwhat we knew\n"), "{brief}");
}

#[test]
fn context_comes_from_no_program_that_an_agent_made() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    let path = format!(
        "{}:{}",
        repo.path("bin").display(),
        std::env::var("PATH").unwrap()
    );
    repo.env.push(("PATH".to_owned(), path));
    repo.agent_does(&[
        "mkdir bin; printf '#!/bin/sh\necho forged\n' >bin/ao; chmod +x bin/ao; touch a",
        "touch b",
    ]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert!(repo.has("bin/ao") && repo.has("b"));
    assert!(!repo.brief(2).contains("forged"), "{}", repo.brief(2));
}

#[test]
fn a_session_that_recorded_anything_ends_with_trajectory_summary_and_why_it_stopped() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.agent_does(&["touch a", ""]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    let way = "score 0 → 62.5, goals passing 0 → 1 of 2, 2 cycles: 1 improved, 1 unchanged";
    let why = "limit of 2 cycles reached (--max-cycles)";
    assert!(
        run.stdout.contains(way) && run.stdout.contains(why),
        "{}",
        run.stdout
    );
    let summary = unpadded(&repo.read(".agents/evolve/session-summary.md"));
    for line in [
        format!("- ended: {why}"),
        format!("- {way}"),
        "| 1 | a | improved | 0 → 62.5 | unknown | unknown | |".to_owned(),
        "| 2 | b | unchanged | 62.5 → 62.5 | unknown | unknown | the agent changed nothing |"
            .to_owned(),
    ] {
        assert!(
            summary.lines().any(|found| found == line),
            "{line} is not in\n{summary}"
        );
    }
    let running = repo.git(&["show", "HEAD~1:.agents/evolve/session-summary.md"]);
    assert!(running.contains("- ended: running"), "{running}");
    let delta = unpadded(&repo.read(".agents/evolve/session-fitness-delta.md"));
    assert!(
        delta
            .lines()
            .any(|line| line == "| a | 5 | fail | fail | pass | |"),
        "{delta}"
    );
    let subject = &repo.subjects()[0];
    assert!(
        subject.starts_with("evolve: session ") && subject.ends_with(" ended — limit"),
        "{subject}"
    );
    let changed = repo.git(&["show", "--name-only", "--format=", "HEAD"]);
    assert_eq!(changed, ".agents/evolve/session-summary.md");
}

#[test]
fn the_last_line_of_a_session_tells_of_this_session_and_names_the_baseline_where_it_differs() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("a", "");
    repo.commit_all("there");
    repo.evolve(&["--agent=true"]).expect(0);
    repo.git(&["rm", "--quiet", "a"]);
    repo.git(&["commit", "--quiet", "--message=gone"]);
    let run = repo.cycle("touch a").expect(0);
    let way = "score 0 → 100, goals passing 0 → 1 of 1, 1 cycle: 1 improved; the baseline: score 100, goals passing 1 of 1";
    assert!(run.stdout.contains(way), "{}", run.stdout);
}

#[test]
fn a_session_without_a_record_only_prints_its_trajectory() {
    let repo = declined();
    let (head, summary) = (repo.head(), repo.read(".agents/evolve/session-summary.md"));
    let run = repo.evolve(&["--agent=true"]).expect(11);
    assert!(run.stdout.contains("score 0 → 0"), "{}", run.stdout);
    assert_eq!(repo.head(), head);
    assert_eq!(repo.read(".agents/evolve/session-summary.md"), summary);
}

#[test]
fn a_goal_that_fails_first_in_each_cycle_waits_for_a_person_and_is_told_once_a_cycle() {
    let repo = TestRepo::empty();
    let f = repo.check_in_turn(
        "f",
        &[
            "exit 0", "exit 1", "exit 0", "exit 1", "exit 0", "exit 1", "exit 0",
        ],
    );
    repo.commit_goals(&format!(
        "  - {{id: f, description: f, check: {f}, weight: 9}}\n"
    ));
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    let told = "f is flaky: it failed and passed on the same content";
    assert_eq!(run.stdout.matches(told).count(), 2, "{}", run.stdout);
    let status = repo.answer(&["status"]);
    let row = "flaky      f — failed and passed on the same content";
    assert!(status.contains(row), "{status}");
    let report = repo.answer(&["report", "--md"]);
    assert!(report.contains("one thing waits for you"), "{report}");
    assert!(report.contains("f is flaky"), "{report}");
}
