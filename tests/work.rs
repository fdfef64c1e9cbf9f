//! `evolve work`: items are taken off the queue by hand, also while the loop runs, and what git and agents do does not bring them back.

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::{TestRepo, finish};

const QUEUE: &str = ".agents/rpi/next-work.jsonl";

/// A goal that passes, and three items of work.
fn queued() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("a", "");
    repo.commit_all("a");
    for (title, severity) in [
        ("Mend the parser", "low"),
        ("Mend the printer", "high"),
        ("Say more", "medium"),
    ] {
        repo.answer(&["work", "add", title, "--severity", severity]);
    }
    repo
}

fn open(repo: &TestRepo) -> Vec<String> {
    let document: Value =
        serde_json::from_str(&repo.evolve(&["work", "list", "--json"]).expect(0).stdout).unwrap();
    let items = document["open"].as_array().unwrap();
    items
        .iter()
        .map(|item| item["title"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn items_are_listed_with_ids_and_taken_off_by_id_title_or_how_one_begins() {
    let repo = queued();
    assert_snapshot!(repo.answer(&["work", "list"]), @r#"
    e4e14f  [high]    Mend the printer  (task)  evolve work add
    aa4cb1  [medium]  Say more          (task)  evolve work add
    3778b4  [low]     Mend the parser   (task)  evolve work add
    "#);
    assert_snapshot!(repo.answer(&["work", "done", "say"]), @"done: Say more");
    let document: Value =
        serde_json::from_str(&repo.evolve(&["work", "list", "--json"]).expect(0).stdout).unwrap();
    let id = document["open"][0]["id"].as_str().unwrap().to_owned();
    assert_snapshot!(repo.answer(&["work", "drop", &id[..6]]), @"dropped: Mend the printer");
    assert_eq!(open(&repo), ["Mend the parser"]);
    let lines: Vec<Value> = repo
        .read(QUEUE)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let by: Vec<&Value> = lines.iter().map(|line| &line["consumed_by"]).collect();
    assert_eq!(
        by,
        [
            &Value::Null,
            &Value::from("evolve work drop"),
            &Value::from("evolve work done")
        ]
    );
    // The loop takes that over, and nothing that is off comes again.
    assert_snapshot!(repo.answer(&["work", "add", "mend the PRINTER"]), @"queued: mend the PRINTER");
    assert_snapshot!(repo.answer(&["work", "add", "mend the Printer"]), @"already in the queue, as e2a995");
    assert_snapshot!(repo.answer(&["work", "add", "say more"]), @"done already (evolve work done); what is left of it can be queued under another title");
    assert_snapshot!(repo.answer(&["work", "drop", "mend the PRINTER"]), @"dropped: mend the PRINTER");
    repo.agent_does(&["echo 1 >made"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("goal_id")[0], "next-work:Mend the parser");
    assert_eq!(repo.each("result"), ["harvested", "idle"]);
    assert!(!repo.private().join("asked/closed-work.jsonl").exists());
}

#[test]
fn what_was_dropped_is_queued_anew_as_an_item_of_its_own_and_is_not_counted_as_done() {
    let repo = queued();
    repo.answer(&["work", "done", "say more"]);
    for _ in 0..2 {
        repo.answer(&["work", "drop", "mend the printer"]);
        let said = repo.error(2, &["work", "drop", "mend the printer"]);
        assert!(
            said.starts_with("error: Mend the printer is dropped already\n"),
            "{said}"
        );
        let said = repo.answer(&["work", "add", "Mend the printer"]);
        assert_eq!(said.trim_end(), "queued: Mend the printer");
        assert_eq!(open(&repo), ["Mend the printer", "Mend the parser"]);
    }
    let said = repo.answer(&["status"]);
    assert!(
        said.contains("2 open, 0 set aside, 1 done, 2 dropped\n"),
        "{said}"
    );
    let text = repo.read(QUEUE);
    let again: Vec<Value> = (text.lines())
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["again"].clone())
        .collect();
    let first = Value::Null;
    assert_eq!(
        again,
        [&first, &first, &first, &Value::from(1), &Value::from(2)].map(Clone::clone)
    );
    repo.agent_does(&["echo 1 >made", "echo 2 >made"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(
        repo.each("goal_id"),
        ["next-work:Mend the printer", "next-work:Mend the parser"]
    );
    assert_snapshot!(repo.answer(&["work", "add", "Mend the printer"]), @"done already (evolve cycle 1); what is left of it can be queued under another title");
}

#[test]
fn what_is_dropped_and_queued_anew_while_the_loop_runs_is_worked_on() {
    let repo = queued();
    repo.agent_does(&[
        "touch $OUT/at-work; until [ -e $OUT/go ]; do sleep 0.05; done; echo 1 >made",
        "echo 2 >made",
        "echo 3 >made",
    ]);
    let run = repo.spawn_run(&["--max-cycles=3"]);
    repo.wait_for("at-work");
    repo.answer(&["work", "drop", "say more"]);
    assert_snapshot!(repo.answer(&["work", "add", "Say more", "--severity", "critical"]), @"queued: Say more");
    std::fs::write(repo.out("go"), "").unwrap();
    finish(run).expect(0);
    assert_eq!(
        repo.each("goal_id"),
        [
            "next-work:Mend the printer",
            "next-work:Say more",
            "next-work:Mend the parser"
        ]
    );
}

#[test]
fn what_a_person_added_and_dropped_while_an_agent_ran_is_not_told_as_taken_in() {
    let repo = queued();
    repo.agent_does(&[
        "touch $OUT/at-work; until [ -e $OUT/go ]; do sleep 0.05; done; echo 1 >made",
    ]);
    let run = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("at-work");
    repo.answer(&["work", "add", "Not needed after all"]);
    repo.answer(&["work", "add", "Needed"]);
    repo.answer(&["work", "drop", "not needed after all"]);
    std::fs::write(repo.out("go"), "").unwrap();
    let run = finish(run).expect(0);
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("\"1 item came into the queue while the agent ran, from it or from somebody else, and is open: see `evolve work list`\""),
        "{notes}"
    );
    let told = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(told.matches("came into the queue").count(), 1, "{told}");
    assert_eq!(open(&repo), ["Say more", "Needed", "Mend the parser"]);
}

#[test]
fn what_names_no_item_or_several_is_an_error_that_names_what_may_be_meant() {
    let repo = queued();
    let before = repo.read(QUEUE);
    assert_snapshot!(repo.error(2, &["work", "drop", "mend"]), @r#"
    error: mend could be any of 2 items
    hint: write more of one of
      e4e14faa236e (Mend the printer)
      3778b4beaea8 (Mend the parser)
    "#);
    assert_snapshot!(repo.error(2, &["work", "done", "mend the prniter"]), @r#"
    error: no open item is called mend the prniter
    hint: did you mean e4e14f (Mend the printer)
    "#);
    assert_snapshot!(repo.error(2, &["work", "done", "zzz"]), @r#"
    error: no open item is called zzz
    hint: `evolve work list` shows them
    "#);
    assert_eq!(repo.read(QUEUE), before);
    repo.answer(&["work", "done", "say more"]);
    assert_snapshot!(repo.error(2, &["work", "done", "say more"]), @r#"
    error: Say more is done already
    hint: `evolve work list` shows what is open
    "#);
}

#[test]
fn an_item_taken_off_while_the_loop_runs_is_off_in_the_next_cycle_and_an_agent_brings_it_not_back()
{
    let repo = queued();
    // The item in hand is the printer; the agent throws away what is not committed.
    repo.agent_does(&["touch $OUT/at-work; until [ -e $OUT/go ]; do sleep 0.05; done; echo 1 >made; git checkout -q -- .agents 2>/dev/null; git clean -fdq .agents; true"]);
    let run = repo.spawn_run(&["--max-cycles=2"]);
    repo.wait_for("at-work");
    assert_snapshot!(repo.answer(&["work", "drop", "mend the parser"]), @"dropped: Mend the parser; the loop at work takes that in before its next cycle");
    assert_snapshot!(repo.error(5, &["work", "done", "mend the printer"]), @r#"
    error: evolve cycle 1 is at work on Mend the printer
    hint: wait until that cycle is over, or end it with `evolve stop --now`
    "#);
    assert!(!open(&repo).contains(&"Mend the parser".to_owned()));
    std::fs::write(repo.out("go"), "").unwrap();
    finish(run).expect(0);
    assert_eq!(
        repo.each("goal_id"),
        ["next-work:Mend the printer", "next-work:Say more"]
    );
    let committed = repo.git(&["show", &format!("HEAD:{QUEUE}")]);
    let line = committed
        .lines()
        .find(|line| line.contains("parser"))
        .unwrap_or_default();
    assert!(
        line.contains("\"consumed_by\":\"evolve work drop\""),
        "{committed}"
    );
    repo.answer(&["audit"]);
}

#[test]
fn what_a_person_closes_changes_nothing_else_of_its_line() {
    let repo = crate::harness::TestRepo::with_files_wanted(&[("a", 5)]);
    let entry = "{ \"source_epic\" : \"e\", \"x-big\": 12345678901234567890123, \"items\": [ {\"title\": \"one\", \"mine\": [1.50, {\"k\": \"\\u00fc\"}]}, {\"title\": \"two\"} ] }\n";
    let flat = "{\"title\":  \"three\",  \"cost\": 1.50, \"state\": \"available\" }\n";
    let queue = ".agents/rpi/next-work.jsonl";
    repo.write(queue, &format!("{entry}{flat}"));
    repo.commit_all("queue");
    repo.answer(&["work", "done", "one"]);
    repo.answer(&["work", "drop", "three"]);
    let text = repo.read(queue);
    let lines: Vec<&str> = text.lines().collect();
    for (line, kept) in [
        (
            0,
            "{ \"source_epic\" : \"e\", \"x-big\": 12345678901234567890123, \"items\": [ {\"title\": \"one\", \"mine\": [1.50, {\"k\": \"\\u00fc\"}]",
        ),
        (0, "{\"title\": \"two\"} ] }"),
        (
            1,
            "{\"title\":  \"three\",  \"cost\": 1.50, \"state\": \"consumed\"",
        ),
    ] {
        assert!(lines[line].contains(kept), "{kept}\n{}", lines[line]);
    }
    let first: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    assert_eq!(first["items"][0]["state"], "consumed");
}

#[test]
fn several_items_are_taken_off_at_once_or_none_where_one_is_unknown() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    for title in ["one", "two", "three"] {
        repo.answer(&["work", "add", title]);
    }
    repo.error(2, &["work", "drop", "one", "nope"]);
    repo.error(2, &["work", "done"]);
    assert_eq!(open(&repo).len(), 3);
    assert_eq!(
        repo.answer(&["work", "done", "three", "one", "ONE"]),
        "done: three\ndone: one\n"
    );
    assert_eq!(open(&repo), ["two"]);
}

#[test]
fn the_bare_command_lists_what_is_queued() {
    let repo = queued();
    assert_eq!(repo.answer(&["work"]), repo.answer(&["work", "list"]));
}
