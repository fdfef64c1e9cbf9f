//! The verdict table, row by row: what becomes of the change, what is recorded, what is committed, what is told.

use serde_json::{Value, json};

use crate::harness::{TestRepo, finish};

/// What became of a cycle's change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Kept,
    Undone,
    /// There was nothing to keep or undo.
    Nothing,
}

/// Asserts that the only cycle of a session was settled, recorded and committed like this, and returns its record.
#[track_caller]
fn expect_cycle(repo: &TestRepo, start: &str, fate: Fate, result: &str) -> Value {
    let record = repo.newest();
    assert_eq!(record["result"], result, "{record:#}");
    assert_eq!(evolve::model::schema::check("record", &record), Ok(()));
    // The session's end, the record's commit, and then what the record calls `commit_sha`.
    let settled = repo.git(&["rev-parse", "HEAD~2"]);
    assert_eq!(record["commit_sha"], settled.as_str(), "{record:#}");
    let (reverted_to, is_made) = match fate {
        Fate::Kept => (Value::Null, true),
        Fate::Undone => (json!(start), true),
        Fate::Nothing => (Value::Null, false),
    };
    assert_eq!(record["reverted_to"], reverted_to, "{record:#}");
    assert_eq!(settled != start, is_made, "{:?}", repo.subjects());
    repo.git(&["merge-base", "--is-ancestor", start, &settled]);
    assert_eq!(repo.content("HEAD"), repo.content(&settled));
    match fate {
        Fate::Kept => assert_ne!(repo.content("HEAD"), repo.content(start)),
        Fate::Undone | Fate::Nothing => assert_eq!(repo.content("HEAD"), repo.content(start)),
    }
    let kept_reachable = repo.git(&["for-each-ref", "refs/evolve"]);
    assert_eq!(fate == Fate::Undone, !kept_reachable.is_empty());
    expect_commit(repo, "HEAD~1", &record);
    assert_eq!(repo.status(), Vec::<String>::new());
    record
}

/// Asserts that a record's commit says what the record says, and holds it.
#[track_caller]
fn expect_commit(repo: &TestRepo, commit: &str, record: &Value) {
    let goal = record["goal_id"].as_str().unwrap_or_default();
    let result = record["result"].as_str().unwrap();
    let what = format!("{goal} {result}");
    let subject = format!("evolve: cycle {} — {}", record["cycle"], what.trim_start());
    assert_eq!(repo.git(&["log", "-1", "--format=%s", commit]), subject);
    for (key, value) in [
        ("Evolve-Cycle", record["cycle"].to_string()),
        ("Evolve-Goal", goal.to_owned()),
        ("Evolve-Result", result.to_owned()),
    ] {
        assert_eq!(repo.trailer(commit, key), value, "{key}");
    }
    let score: f64 = repo.trailer(commit, "Evolve-Score").parse().unwrap();
    assert_eq!(record["score_after"], score);
    let history = repo.git(&[
        "show",
        &format!("{commit}:.agents/evolve/cycle-history.jsonl"),
    ]);
    assert_eq!(history.lines().last().unwrap(), record.to_string());
}

#[track_caller]
fn reason(record: &Value) -> &str {
    record["reason"].as_str().unwrap_or_default()
}

/// Two goals: `a` fails, `b` passes.
fn one_fails_and_one_passes() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo
}

/// A goals file that names the scripted agent with a time limit of two seconds.
fn with_two_seconds_for_the_agent(repo: &TestRepo) {
    let goals = repo.read("GOALS.yaml");
    let agent = repo.outside().join("agent");
    repo.write(
        "GOALS.yaml",
        &format!(
            "evolve:\n  agent: {{command: [sh, {}], timeout: 2s}}\n{goals}",
            agent.display()
        ),
    );
    repo.commit_all("an agent");
}

#[test]
fn what_fixes_the_goal_is_kept_and_every_field_of_the_record_is_filled() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle("touch a && git add a && git commit -qm 'make a'")
        .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Kept, "improved");
    for (field, value) in [
        ("format", json!(1)),
        ("cycle", json!(1)),
        ("goal_id", json!("a")),
        ("goals_passing", json!(2)),
        ("goals_total", json!(2)),
        ("goals_added", json!(0)),
        ("score_before", json!(37.5)),
        ("score_after", json!(100.0)),
        ("newly_failing", json!([])),
        ("newly_passing", json!(["a"])),
        ("reason", Value::Null),
    ] {
        assert_eq!(record[field], value, "{field}");
    }
    let agent = &record["agent"];
    assert_eq!(agent["name"], repo.agent().as_str());
    assert_eq!(
        (&agent["status"], &agent["exit"]),
        (&json!("done"), &json!(0))
    );
    assert!(agent["duration_s"].is_number());
    assert_eq!(
        (&agent["tokens"], &agent["cost_usd"]),
        (&Value::Null, &Value::Null)
    );
    assert!(
        record["timestamp"]
            .as_str()
            .unwrap()
            .starts_with("2026-02-03T04:05:")
    );
    for digest in ["definition", "content", "session"] {
        assert!(
            record[digest].as_str().is_some_and(|text| text.len() > 8),
            "{digest}"
        );
    }
    assert_eq!(repo.git(&["log", "-1", "--format=%s", "HEAD~2"]), "make a");
}

#[test]
fn the_content_of_a_record_tells_whether_the_content_is_the_same() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.agent_does(&["", "touch c", "rm c && git rm -q --cached c"]);
    repo.run(&["--max-cycles=3"]).expect(0);
    let content = repo.each("content");
    assert_eq!(content[0], content[2]);
    assert_ne!(content[0], content[1]);
    let definition = repo.each("definition");
    assert_eq!(definition[0], definition[1]);
}

#[test]
fn what_the_agent_left_uncommitted_becomes_a_commit_that_says_so() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let start = repo.head();
    repo.cycle("touch a").expect(0);
    expect_cycle(&repo, &start, Fate::Kept, "improved");
    assert_eq!(
        repo.subjects()[2],
        "evolve: cycle 1, what the agent left uncommitted"
    );
    assert_eq!(repo.trailer("HEAD~2", "Evolve-Cycle"), "1");
}

#[test]
fn a_commit_of_somebody_else_is_left_as_it_is_even_if_a_goal_regressed() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.agent_does(&[
        "git rm -q b && git commit -qm 'the agent' && echo theirs >theirs && git add theirs && \
         env -u GIT_REFLOG_ACTION git commit -qm 'a colleague'",
        "touch a",
    ]);
    let run = repo.run(&[]).expect(11);
    assert!(
        run.stdout.contains("somebody else committed"),
        "{}",
        run.stdout
    );
    let record = expect_cycle(&repo, &start, Fate::Kept, "interrupted");
    assert!(
        reason(&record).starts_with("somebody else committed: "),
        "{record:#}"
    );
    assert_eq!(repo.subjects()[2..4], ["a colleague", "the agent"]);
    assert!(repo.has("theirs") && !repo.has("b"));
    assert!(!repo.has(".agents/evolve/fitness-1-post.json"));
    assert_eq!(repo.calls(), 1);
}

#[test]
fn a_killed_cycle_is_undone_and_recorded_as_interrupted() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    let kill = repo.kill_file();
    repo.cycle(&format!(
        "touch a && mkdir -p '{}' && echo enough >kill && mv kill '{}' && sleep 100",
        kill.parent().unwrap().display(),
        kill.display()
    ))
    .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Undone, "interrupted");
    assert!(reason(&record).contains("enough"), "{record:#}");
    assert_eq!(record["score_after"], record["score_before"]);
    assert_eq!(record["agent"]["status"], "stopped");
    assert_eq!(repo.subjects()[2], "revert: evolve cycle 1 interrupted");
    assert!(!repo.has("a"));
}

/// A cause of `regressed`: what it is, what the agent does, how the reason starts, and the undo's subject.
struct Cause {
    name: &'static str,
    script: &'static str,
    reason: &'static str,
    subject: &'static str,
}

#[test]
fn each_cause_of_a_regression_undoes_the_change_and_is_named() {
    let causes = [
        Cause {
            name: "a goal that passed fails",
            script: "git rm -q b && touch a && git add a && git commit -qm 'a for b'",
            reason: "passed before and no longer: b (exit 1)",
            subject: "revert: evolve cycle 1 regression in b",
        },
        Cause {
            name: "a goal can no longer be measured",
            script: "touch a broken && git add a broken && git commit -qm 'a, and broken'",
            reason: "can no longer be measured: c (cannot be executed (exit 127)",
            subject: "revert: evolve cycle 1 regression in c",
        },
        Cause {
            name: "goalposts moved",
            script: "sed -i 's/test -e a/test -e b/' GOALS.yaml",
            reason: "goalposts moved: goal a: check changed",
            subject: "revert: evolve cycle 1, goalposts moved",
        },
        Cause {
            name: "history rewritten",
            script: "git reset -q --hard HEAD~1 && touch a && git add a && git commit -qm 'a, anew'",
            reason: "history rewritten: ",
            subject: "revert: evolve cycle 1, history rewritten",
        },
        Cause {
            name: "a file of the user's",
            script: "touch a && git add -f a mine && git commit -qm 'a, and what is mine'",
            reason: "took a file of the user's: mine",
            subject: "revert: evolve cycle 1, took a file of the user's",
        },
    ];
    for cause in causes {
        let repo = one_fails_and_one_passes();
        let goals = repo.read("GOALS.yaml");
        let c =
            "  - {id: c, description: c, check: '[ ! -e broken ] || exit 127; false', weight: 1}\n";
        repo.write("GOALS.yaml", &format!("{goals}{c}"));
        repo.commit_all("c");
        repo.write("later", "");
        repo.commit_all("later");
        repo.write("mine", "precious");
        let start = repo.head();
        repo.cycle(cause.script).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{}: {record:#}", cause.name);
        assert!(
            reason(&record).starts_with(cause.reason),
            "{}: {record:#}",
            cause.name
        );
        assert_eq!(record["reverted_to"], start.as_str(), "{}", cause.name);
        let undo = record["commit_sha"].as_str().unwrap();
        assert_eq!(repo.git(&["rev-parse", "HEAD~2"]), undo, "{}", cause.name);
        assert_eq!(repo.git(&["log", "-1", "--format=%s", undo]), cause.subject);
        let said = repo.git(&["log", "-1", "--format=%b", undo]);
        assert!(said.contains(cause.reason), "{}: {said}", cause.name);
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{}", cause.name);
        assert_eq!(repo.read("mine"), "precious", "{}", cause.name);
        assert_eq!(repo.status(), ["?? mine"], "{}", cause.name);
    }
}

#[test]
fn an_undone_cycle_records_what_was_measured_and_its_undo_names_each_commit() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle(
        "git rm -q b && git commit -qm 'without b' && git rev-parse HEAD >../agent/sha && \
         touch a && git add a && git commit -qm 'with a'",
    )
    .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Undone, "regressed");
    for (field, value) in [
        ("goals_passing", json!(1)),
        ("score_before", json!(37.5)),
        ("score_after", json!(62.5)),
        ("newly_failing", json!(["b"])),
        ("newly_passing", json!(["a"])),
    ] {
        assert_eq!(record[field], value, "{field}");
    }
    let said = repo.git(&["log", "-1", "--format=%b", "HEAD~2"]);
    let sha = std::fs::read_to_string(repo.outside().join("sha")).unwrap();
    assert!(
        said.contains(&format!("{} without b", sha.trim())),
        "{said}"
    );
    assert!(said.contains("with a") && said.contains(&start), "{said}");
}

#[test]
fn a_change_in_which_the_agent_gave_up_is_undone_and_its_words_are_recorded() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle("touch a && echo 'needs a licence' >\"$EVOLVE_GIVE_UP\"")
        .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Undone, "failed");
    assert_eq!(reason(&record), "declined: needs a licence");
    assert_eq!(repo.subjects()[2], "revert: evolve cycle 1 declined");
}

#[test]
fn giving_up_without_a_change_makes_no_undo_and_counts_before_a_bad_end() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle("echo 'needs a licence' >\"$EVOLVE_GIVE_UP\"; exit 7")
        .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Nothing, "failed");
    assert_eq!(reason(&record), "declined: needs a licence");
}

#[test]
fn a_regression_counts_before_giving_up() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle("git rm -q b && echo no >\"$EVOLVE_GIVE_UP\"")
        .expect(0);
    expect_cycle(&repo, &start, Fate::Undone, "regressed");
}

#[test]
fn an_agent_that_ends_badly_without_a_change_has_failed() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle("echo 'out of ideas' >&2; exit 7").expect(0);
    let record = expect_cycle(&repo, &start, Fate::Nothing, "failed");
    assert_eq!(
        reason(&record),
        "no change; the agent ended with exit 7: out of ideas"
    );
    assert_eq!(record["agent"]["status"], "failed");
    assert_eq!(record["agent"]["exit"], 7);
}

/// An agent that a signal or its time limit ends: what it does, what becomes of that, why, and its status.
struct Ended {
    script: &'static str,
    fate: Fate,
    result: &'static str,
    reason: &'static str,
    status: &'static str,
}

#[test]
fn an_agent_that_times_out_or_is_ended_by_a_signal_is_judged_by_its_change() {
    for ended in [
        Ended {
            script: "kill -9 $$",
            fate: Fate::Nothing,
            result: "failed",
            reason: "no change; the agent was ended by signal 9",
            status: "failed",
        },
        Ended {
            script: "sleep 100",
            fate: Fate::Nothing,
            result: "failed",
            reason: "no change; the agent timed out after 2s",
            status: "timed out",
        },
        Ended {
            script: "touch a; sleep 100",
            fate: Fate::Kept,
            result: "improved",
            reason: "",
            status: "timed out",
        },
        Ended {
            script: "rm b; sleep 100",
            fate: Fate::Undone,
            result: "regressed",
            reason: "passed before and no longer: b (exit 1)",
            status: "timed out",
        },
    ] {
        let repo = one_fails_and_one_passes();
        with_two_seconds_for_the_agent(&repo);
        let start = repo.head();
        repo.agent_does(&[ended.script]);
        repo.evolve(&["--max-cycles=1"]).expect(0);
        let record = expect_cycle(&repo, &start, ended.fate, ended.result);
        assert_eq!(reason(&record), ended.reason);
        assert_eq!(record["agent"]["status"], ended.status);
        assert_eq!(record["agent"]["exit"], Value::Null);
    }
}

#[test]
fn an_agent_that_ends_badly_with_a_change_is_judged_like_any_other() {
    for (script, fate, result) in [
        ("touch a; exit 7", Fate::Kept, "improved"),
        ("touch c; exit 7", Fate::Kept, "unchanged"),
        ("rm b; exit 7", Fate::Undone, "regressed"),
    ] {
        let repo = one_fails_and_one_passes();
        let start = repo.head();
        repo.cycle(script).expect(0);
        let record = expect_cycle(&repo, &start, fate, result);
        assert_eq!(record["agent"]["exit"], 7);
    }
}

#[test]
fn an_agent_that_changes_nothing_leaves_the_cycle_unchanged() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle("git commit -q --allow-empty -m 'nothing at all'; git reset -q --hard HEAD~1")
        .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Nothing, "unchanged");
    assert_eq!(reason(&record), "the agent changed nothing");
    assert_eq!(record["newly_passing"], json!([]));
}

#[test]
fn a_goal_that_passes_now_without_a_change_is_unchanged_and_says_so() {
    let repo = TestRepo::empty();
    let flag = repo.outside().join("flag").display().to_string();
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: test -e '{flag}', weight: 5}}\n"
    ));
    let start = repo.head();
    repo.cycle(&format!("touch '{flag}'")).expect(0);
    let record = expect_cycle(&repo, &start, Fate::Nothing, "unchanged");
    assert_eq!(reason(&record), "passes without a change");
    assert_eq!(record["newly_passing"], json!(["a"]));
    assert_eq!(record["score_after"], 100.0);
}

/// Goals that evolve's own files decide: one fails by the summary of the first cycle, one by a line of the queue, one by a file
/// that is none of evolve's.
fn judged_by_own_files(measure: &str) -> TestRepo {
    let repo = TestRepo::empty();
    let goal = |id: &str, check: &str| {
        format!("  - {{id: {id}, description: {id}, check: '{check}', weight: 5}}\n")
    };
    let summary = ".agents/evolve/session-summary.md";
    let goals = [
        goal("a", "test -e a"),
        goal(
            "nice",
            &format!("test ! -e {summary} || grep -q nice {summary}"),
        ),
        goal("empty", "! grep -q later .agents/rpi/next-work.jsonl"),
        goal(
            "more",
            &format!("test ! -e {summary} || test -e .agents/evolve/more.md"),
        ),
    ];
    let settings = format!("evolve: {{measure: {measure}}}");
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\n{settings}\ngoals:\n{}", goals.concat()),
    );
    repo.commit_all("first");
    repo.answer(&["work", "add", "later"]);
    repo
}

#[test]
fn what_an_agent_does_to_evolves_own_files_is_neither_kept_nor_measured() {
    let edit = "cd .agents/evolve; echo nice >>session-summary.md; touch more.md; : >../rpi/next-work.jsonl; cd ../..\n";
    let commit = format!("{edit}git add -f .agents; git commit -qm 'nicer records'\n");
    let change = format!("{commit}touch b\n");
    for (place, measure, script) in [
        ("--progress=none", "here", edit),
        ("--progress=none", "here", &commit),
        ("--progress=none", "here", &change),
        ("--progress=none", "clean", &commit),
        ("--isolate", "here", edit),
        ("--isolate", "here", &commit),
        ("--isolate", "here", &change),
        ("--isolate", "clean", &change),
    ] {
        let repo = judged_by_own_files(measure);
        repo.agent_does(&["touch a", script]);
        repo.run(&[place, "--max-cycles=1"]).expect(0);
        repo.run(&[place, "--max-cycles=1"]).expect(0);
        let record = repo.newest();
        let told = format!("{place} {measure} {script}\n{record:#}");
        assert_eq!(record["goal_id"], "nice", "{told}");
        assert_eq!(record["result"], "unchanged", "{told}");
        assert_eq!(record["newly_passing"], json!([]), "{told}");
        assert_eq!(record["score_after"], record["score_before"], "{told}");
        assert_eq!(record["goals_passing"], 1, "{told}");
        let there = repo.read(".agents/rpi/next-work.jsonl");
        assert_eq!(there.matches("later").count(), 1, "{told}\n{there}");
        assert!(!repo.has(".agents/evolve/more.md"), "{told}");
        assert!(repo.status().is_empty(), "{told}\n{:?}", repo.status());
    }
}

#[test]
fn a_change_that_makes_nothing_worse_is_kept_though_the_goal_still_fails() {
    let repo = one_fails_and_one_passes();
    let start = repo.head();
    repo.cycle("echo halfway >notes && git add notes && git commit -qm 'half of it'")
        .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Kept, "unchanged");
    assert_eq!(reason(&record), "it still fails: exit 1");
    assert_eq!(repo.read("notes"), "halfway\n");
}

#[test]
fn a_work_item_that_passes_the_gate_is_harvested_and_consumed() {
    let repo =
        TestRepo::with_goals("  - {id: fine, description: fine, check: 'true', weight: 5}\n");
    repo.write(
        ".agents/rpi/next-work.jsonl",
        "{\"title\": \"tidy up\", \"severity\": \"high\", \"mine\": 1}\n",
    );
    repo.commit_all("work");
    let start = repo.head();
    repo.cycle("[ -z \"$EVOLVE_GOAL_ID\" ] && grep -q in_progress .agents/rpi/next-work.jsonl && touch tidy")
        .expect(0);
    let record = expect_cycle(&repo, &start, Fate::Kept, "harvested");
    assert_eq!(record["goal_id"], "next-work:tidy up");
    assert_eq!(record["definition"], Value::Null);
    let item = repo.json(".agents/rpi/next-work.jsonl");
    for (field, value) in [
        ("state", json!("consumed")),
        ("consumed", json!(true)),
        ("consumed_by", json!("evolve cycle 1")),
        ("claimed_by", Value::Null),
        ("failed_at", Value::Null),
        ("mine", json!(1)),
    ] {
        assert_eq!(item[field], value, "{field}");
    }
    assert!(item["consumed_at"].is_string());
    let committed = repo.git(&["show", "HEAD~1:.agents/rpi/next-work.jsonl"]);
    assert_eq!(
        committed,
        repo.read(".agents/rpi/next-work.jsonl").trim_end()
    );
}

#[test]
fn a_work_item_that_does_not_pass_the_gate_is_released_with_its_failure() {
    for (script, fate, result) in [
        ("rm b", Fate::Undone, "regressed"),
        ("", Fate::Nothing, "unchanged"),
        ("exit 7", Fate::Nothing, "failed"),
        ("echo no >\"$EVOLVE_GIVE_UP\"", Fate::Nothing, "failed"),
    ] {
        let repo = TestRepo::with_files_wanted(&[("b", 3)]);
        repo.write("b", "");
        repo.write(".agents/rpi/next-work.jsonl", "{\"title\": \"tidy up\"}\n");
        repo.commit_all("work");
        let start = repo.head();
        repo.cycle(script).expect(0);
        expect_cycle(&repo, &start, fate, result);
        let item = repo.json(".agents/rpi/next-work.jsonl");
        assert_eq!(item["state"], "available", "{result}");
        assert_eq!(item["failures"], 1, "{result}");
        assert!(
            item["failed_at"].is_string() && item["claimed_by"].is_null(),
            "{item}"
        );
    }
}

#[test]
fn a_work_item_of_an_interrupted_cycle_is_released_without_a_failure() {
    let repo = TestRepo::with_files_wanted(&[("b", 3)]);
    repo.write("b", "");
    repo.write(".agents/rpi/next-work.jsonl", "{\"title\": \"tidy up\"}\n");
    repo.commit_all("work");
    let kill = repo.kill_file();
    std::fs::create_dir_all(kill.parent().unwrap()).unwrap();
    repo.cycle(&format!("touch '{}'; sleep 100", kill.display()))
        .expect(0);
    assert_eq!(repo.newest()["result"], "interrupted");
    let item = repo.json(".agents/rpi/next-work.jsonl");
    assert_eq!(item["state"], "available");
    assert!(
        item["failures"].is_null() && item["failed_at"].is_null(),
        "{item}"
    );
}

#[test]
fn an_idle_cycle_is_recorded_without_a_goal_and_without_an_agent() {
    let repo =
        TestRepo::with_goals("  - {id: fine, description: fine, check: 'true', weight: 5}\n");
    let start = repo.head();
    repo.run(&["--max-cycles=1"]).expect(0);
    let record = expect_cycle(&repo, &start, Fate::Nothing, "idle");
    for field in ["goal_id", "definition", "agent", "reverted_to"] {
        assert_eq!(record[field], Value::Null, "{field}");
    }
    assert_eq!(reason(&record), "no goal fails and the queue is empty");
    assert_eq!(record["goals_passing"], 1);
    assert_eq!(repo.calls(), 0);
    assert!(!repo.has(".agents/evolve/fitness-1-post.json"));
}

#[test]
fn a_regression_that_outlives_its_undo_is_the_environments() {
    let repo = TestRepo::empty();
    let service = repo.outside().join("service").display().to_string();
    std::fs::write(&service, "").unwrap();
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  \
         - {{id: b, description: b, check: test -e '{service}', weight: 3, retries: 0}}\n"
    ));
    let start = repo.head();
    repo.agent_does(&[&format!("touch a; rm '{service}'")]);
    repo.run(&[]).expect(11);
    let record = expect_cycle(&repo, &start, Fate::Undone, "regressed");
    assert!(
        reason(&record).starts_with("environment changed: "),
        "{record:#}"
    );
    assert_eq!(record["newly_failing"], json!(["b"]));
    assert_eq!(repo.calls(), 1);
}

#[test]
fn where_the_environment_changed_nothing_says_that_all_is_as_before_and_what_is_to_be_installed_is_told()
 {
    let repo = TestRepo::empty();
    repo.write("package-lock.json", "{}\n");
    repo.write(".gitignore", "/installed\n");
    repo.write("installed", "");
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  \
         - {id: b, description: b, check: test -e installed, weight: 3, retries: 0}\n",
    );
    repo.agent_does(&["echo '[]' >package-lock.json; touch a; rm installed"]);
    let run = repo.run(&[]).expect(11);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(!said.contains("back at"), "{said}");
    let hint = "it touched package-lock.json; install again what is there now (`npm ci`)";
    let ending = said
        .lines()
        .find(|line| line.contains("environment changed") && line.contains(hint));
    assert!(ending.is_some(), "{said}");
    let status = repo.evolve(&["status", "--json"]).expect(0);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["failing"], json!(["a", "b"]), "{status:#}");
    assert_eq!(status["goals_passing"], 0, "{status:#}");
    assert_eq!(status["score"], 0.0, "{status:#}");
    let history = repo.evolve(&["history"]).expect(0).stdout;
    assert!(!history.contains("→ 37.5 "), "{history}");
    let delta = repo.read(".agents/evolve/session-fitness-delta.md");
    assert!(!delta.contains("back at"), "{delta}");
}

#[test]
fn a_goal_that_fails_as_before_once_it_can_be_measured_again_is_no_change_of_the_environment() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  \
         - {id: c, description: c, check: '[ ! -e broken ] || exit 127; false', weight: 3, retries: 0}\n",
    );
    let start = repo.head();
    repo.cycle("touch a broken").expect(0);
    let record = expect_cycle(&repo, &start, Fate::Undone, "regressed");
    assert!(
        reason(&record).starts_with("can no longer be measured: c"),
        "{record:#}"
    );
}

#[test]
fn the_events_tell_a_kept_cycle_in_order() {
    let repo = one_fails_and_one_passes();
    repo.agent_does(&["touch a"]);
    let events = repo.run(&["--max-cycles=1", "--json"]).expect(0).events();
    let told: Vec<_> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .filter(|kind| !kind.starts_with("check-"))
        .collect();
    assert_eq!(
        told,
        [
            "session-started",
            "measure-started",
            "measure-finished",
            "cycle-started",
            "selected",
            "agent-started",
            "agent-finished",
            "measure-started",
            "measure-finished",
            "cycle-finished",
            "session-ended"
        ]
    );
    let event = |kind: &str| events.iter().find(|event| event["event"] == kind).unwrap();
    assert_eq!(event("selected")["goal_id"], "a");
    assert_eq!(event("agent-finished")["files"], 1);
    assert_eq!(event("cycle-finished")["record"], repo.newest());
    assert_eq!(event("session-ended")["exit_code"], 0);
    assert_eq!(event("session-ended")["ending"], "limit");
    assert_eq!(event("session-ended")["cycles"], 1);
}

#[test]
fn the_events_of_an_undone_cycle_tell_of_each_further_measurement() {
    let repo = one_fails_and_one_passes();
    repo.agent_does(&["rm b"]);
    let events = repo.run(&["--max-cycles=1", "--json"]).expect(0).events();
    let purposes: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "measure-started")
        .map(|event| event["purpose"].as_str().unwrap())
        .collect();
    assert_eq!(
        purposes,
        ["baseline", "after", "confirm", "confirm", "blame"]
    );
    let record = &events
        .iter()
        .find(|event| event["event"] == "cycle-finished")
        .unwrap()["record"];
    assert_eq!(record["result"], "regressed");
}

/// A repository with a change that breaks the goal `b`, whose check waits where it is measured once more without that.
fn waits_for_blame() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let (broken, waits) = (repo.out("broken"), repo.out("waits"));
    let check = format!(
        "test -e b && if test -e {}; then touch {}; exec sleep 300; fi",
        broken.display(),
        waits.display()
    );
    repo.write("check-b", &check);
    repo.write("b", "");
    repo.commit_goals(
        "  - {id: a, description: d, check: test -e a, weight: 5}\n  \
         - {id: b, description: d, check: sh check-b, weight: 3}\n",
    );
    repo.commit_all("b");
    repo.agent_does(&["rm b; touch \"$OUT/broken\""]);
    repo
}

#[test]
fn what_could_not_be_measured_without_the_change_is_not_blamed_on_it() {
    for options in [&[][..], &["--isolate"]] {
        let repo = waits_for_blame();
        let child = repo.spawn_run(&[&["--max-cycles=1"], options].concat());
        repo.wait_for("waits");
        repo.kill();
        finish(child).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "interrupted", "{record:#}");
        assert!(reason(&record).contains("KILL file"), "{record:#}");
        assert!(repo.has("b") && !repo.has("a"));
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn a_file_whose_name_is_no_text_in_evolves_own_folder_ends_no_run() {
    for flags in [&[][..], &["--isolate"]] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.agent_does(&[
            "mkdir -p .agents/evolve; : >\".agents/evolve/$(printf 'n\\377te')\"; touch a",
        ]);
        repo.run(&[&["--max-cycles=1"], flags].concat()).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{flags:?}");
    }
}
