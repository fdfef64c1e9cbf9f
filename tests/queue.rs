//! The queue and the retries while the loop runs: what people add is kept, what agents write is judged.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::harness::{TestRepo, everything_below, finish, signal, wait_until};

const QUEUE: &str = ".agents/rpi/next-work.jsonl";
const RETRIES: &str = ".agents/evolve/retries.jsonl";

/// The items of the queue, one a line.
fn items(repo: &TestRepo) -> Vec<Value> {
    let text = repo.read(QUEUE);
    let item = |line: &str| serde_json::from_str(line).unwrap();
    text.lines().map(item).collect()
}

fn titles(repo: &TestRepo) -> Vec<String> {
    let title = |item: &Value| item["title"].as_str().unwrap().to_owned();
    items(repo).iter().map(title).collect()
}

#[test]
fn two_hundred_items_added_side_by_side_while_cycles_run_are_all_there() {
    let wanted = [("a", 5), ("b", 5), ("c", 5), ("d", 5), ("e", 5)];
    let repo = TestRepo::with_files_wanted(&wanted).with_out();
    let script = |(index, (name, _)): (usize, &(&str, u8))| {
        let enough = 35 * (index + 1);
        format!(
            "until [ $(ls \"$OUT\" | grep -c added) -ge {enough} ]; do sleep 0.02; done; touch {name}"
        )
    };
    let scripts: Vec<String> = wanted.iter().enumerate().map(script).collect();
    repo.agent_does(&scripts.iter().map(String::as_str).collect::<Vec<_>>());
    let child = repo.spawn_run(&["--max-cycles=5"]);
    let add = |number: usize| {
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command.args(["work", "add", &format!("item {number}")]);
        let out = repo.out(&format!("added-{number}"));
        (command, out)
    };
    let commands: Vec<_> = (0..200).map(add).collect();
    let next = std::sync::Mutex::new(commands);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some((mut command, out)) = { next.lock().unwrap().pop() } {
                    crate::harness::output(&mut command);
                    fs::write(out, "").unwrap();
                }
            });
        }
    });
    finish(child).expect(0);
    assert_eq!(repo.each("result"), ["improved"; 5]);
    let mut found = titles(&repo);
    found.sort();
    let mut expected: Vec<String> = (0..200).map(|number| format!("item {number}")).collect();
    expected.sort();
    assert_eq!(found, expected);
    // What was added before the last cycle ended is committed, and no line was ever taken for damage.
    assert!(
        repo.records()
            .iter()
            .all(|record| !record.to_string().contains("put back"))
    );
    let committed = repo.git(&["show", &format!("HEAD:{QUEUE}")]);
    assert!(
        committed.lines().count() >= 175,
        "{}",
        committed.lines().count()
    );
}

#[test]
fn a_line_that_is_being_appended_is_not_taken_for_a_whole_one() {
    for while_measured in [false, true] {
        let repo = TestRepo::with_goals(
            "  - {id: a, description: d, weight: 5, check: 'touch $OUT/here; until test -e $OUT/go; do sleep 0.02; done; test -e a'}\n",
        )
        .with_out();
        repo.agent_does(&["touch a"]);
        fs::create_dir_all(repo.private()).unwrap();
        fs::create_dir_all(repo.path(QUEUE).parent().unwrap()).unwrap();
        let turn = fs::File::create(repo.private().join("turn")).unwrap();
        let go = || fs::write(repo.out("go"), "").unwrap();
        let start = || repo.spawn_run(&["--max-cycles=1"]);
        let begun = match while_measured {
            true => {
                let child = start();
                repo.wait_for("here");
                Some(child)
            }
            false => None,
        };
        // As `evolve work add` does it, seen in the middle of its write.
        turn.lock().unwrap();
        let line = "{\"title\": \"asked for\", \"severity\": \"low\"}\n";
        let append = |text: &str| {
            let mut file = fs::OpenOptions::new();
            let mut file = file
                .append(true)
                .create(true)
                .open(repo.path(QUEUE))
                .unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        append(&line[..20]);
        go();
        let child = begun.unwrap_or_else(start);
        // Long enough for whoever does not wait for the turn to read it.
        std::thread::sleep(std::time::Duration::from_secs(2));
        append(&line[20..]);
        turn.unlock().unwrap();
        finish(child).expect(0);
        assert_eq!(
            titles(&repo),
            ["asked for"],
            "while measured: {while_measured}"
        );
        let committed = repo.git(&["show", &format!("HEAD:{QUEUE}")]);
        assert_eq!(committed.lines().count(), 1, "{committed}");
    }
}

#[test]
fn what_a_person_asks_for_while_an_agent_runs_is_kept() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]).with_out();
    repo.cycle("true").expect(0);
    repo.agent_does(&[
        "touch \"$OUT/here\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; touch a",
    ]);
    let child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("here");
    repo.evolve(&[
        "work",
        "add",
        "mine",
        "--severity=critical",
        "--description=at length",
        "--type=bug",
    ])
    .expect(0);
    repo.evolve(&["retry", "a"]).expect(0);
    fs::write(repo.out("go"), "").unwrap();
    finish(child).expect(0);
    let item = &items(&repo)[0];
    for (field, value) in [
        ("title", json!("mine")),
        ("severity", json!("critical")),
        ("description", json!("at length")),
        ("type", json!("bug")),
        ("source", json!("evolve work add")),
        ("state", json!("available")),
        ("appeared_in_cycle", json!(2)),
    ] {
        assert_eq!(item[field], value, "{item:#}");
    }
    assert!(
        repo.git(&["show", &format!("HEAD:{RETRIES}")])
            .contains("\"a\"")
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

/// The files that the queue and the retries are also noted in while a session lives.
const ASKED: [&str; 2] = ["asked/next-work.jsonl", "asked/retries.jsonl"];

#[test]
fn what_a_person_asks_for_survives_an_agents_everyday_git() {
    for everyday in ["git reset -q --hard", "git checkout -q .", "git stash -q"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]).with_out();
        repo.evolve(&["work", "add", "one"]).expect(0);
        repo.cycle("true").expect(0);
        repo.evolve(&["retry", "a"]).expect(0);
        repo.cycle("true").expect(0);
        let retries = repo.read(RETRIES);
        let wait = "touch \"$OUT/here\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done";
        repo.agent_does(&[&format!("{wait}; {everyday}; touch a")]);
        let child = repo.spawn_run(&["--max-cycles=1"]);
        repo.wait_for("here");
        repo.evolve(&["work", "add", "two"]).expect(0);
        repo.evolve(&["retry", "a"]).expect(0);
        fs::write(repo.out("go"), "").unwrap();
        finish(child).expect(0);
        assert_eq!(titles(&repo), ["one", "two"], "{everyday}");
        assert_eq!(items(&repo)[1]["appeared_in_cycle"], json!(3));
        let asked = repo.read(RETRIES);
        let added = asked.strip_prefix(&retries).expect("the earlier lines");
        assert_eq!(added.lines().count(), 1, "{everyday}: {asked}");
        assert!(added.contains("\"a\""), "{everyday}: {asked}");
        let committed = repo.git(&["show", &format!("HEAD:{QUEUE}")]);
        assert!(committed.contains("\"two\""), "{everyday}: {committed}");
        assert_eq!(repo.git(&["status", "--porcelain"]), "", "{everyday}");
        let notes = repo.newest()["notes"].to_string();
        assert!(notes.contains("asked for meanwhile"), "{everyday}: {notes}");
        for name in ASKED {
            assert!(!repo.private().join(name).exists(), "{everyday}: {name}");
        }
    }
}

#[test]
fn what_a_person_asks_for_survives_a_kill_after_an_agents_reset() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]).with_out();
    repo.evolve(&["work", "add", "one"]).expect(0);
    repo.cycle("true").expect(0);
    repo.agent_does(&[
        "touch \"$OUT/here\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; git reset -q --hard; touch \"$OUT/done\"; sleep 600",
        "touch a",
    ]);
    let child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("here");
    repo.evolve(&["work", "add", "two"]).expect(0);
    fs::write(repo.out("go"), "").unwrap();
    repo.wait_for("done");
    signal(&child, "KILL");
    finish(child);
    let again = repo.evolve(&["work", "add", "two"]).expect(0);
    assert!(
        again.stdout.contains("already in the queue"),
        "{}",
        again.stdout
    );
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(titles(&repo), ["one", "two"]);
    assert!(!repo.private().join(ASKED[0]).exists());
}

/// As after a kill between the two writes, or between taking in and forgetting; and what no `evolve` would have left there.
#[test]
fn what_is_noted_aside_is_taken_in_once_whatever_stands_there() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4), ("c", 3), ("d", 2)]);
    repo.evolve(&["work", "add", "one"]).expect(0);
    repo.cycle("touch a").expect(0);
    let place = repo.private().join(ASKED[0]);
    let note = |lines: &str| {
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, lines).unwrap();
    };
    let known = repo.read(QUEUE);
    note(&format!(
        "{known}{{\"title\":\"two\"}}\n{{\"title\":\"cut sho"
    ));
    let listed = repo.evolve(&["work", "list"]).expect(0).stdout;
    assert!(listed.contains("two"), "{listed}");
    assert!(place.exists());
    repo.cycle("touch b").expect(0);
    assert_eq!(titles(&repo), ["one", "two"]);
    assert!(!place.exists());
    let flood = |number| format!("{{\"title\":\"t{number}\"}}\n");
    note(&(0..20_000).map(flood).collect::<String>());
    let run = repo.cycle("touch c").expect(0);
    assert!(
        run.stderr.contains("more than 1000 lines"),
        "{}",
        run.stderr
    );
    assert_eq!(titles(&repo).len(), 1_002);
    assert!(!place.exists());
    fs::create_dir(&place).unwrap();
    repo.cycle("touch d").expect(0);
    assert_eq!(titles(&repo).len(), 1_002);
    assert!(!place.exists());
}

#[test]
fn what_an_agent_writes_to_the_queue_itself_has_no_say_on_state() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.evolve(&["work", "add", "mine"]).expect(0);
    let lines = [
        json!({"title": "plain", "severity": "critical"}).to_string(),
        json!({"title": "done", "consumed": true, "state": "consumed", "failures": 3, "x": "y"})
            .to_string(),
        json!({"source_epic": "epic", "items": [{"title": "in an entry"}, {"no": "title"}]})
            .to_string(),
        json!({"title": "MINE", "state": "consumed"}).to_string(),
        "no item at all".to_owned(),
        "[1]".to_owned(),
    ];
    let script = format!(
        "sed -i s/available/consumed/ {QUEUE}; cat >>{QUEUE} <<'END'\n{}\nEND\ntouch a",
        lines.join("\n")
    );
    repo.cycle(&script).expect(0);
    assert_eq!(titles(&repo), ["mine", "plain", "done", "in an entry"]);
    for item in items(&repo) {
        assert_eq!(item["state"], "available", "{item:#}");
        assert_eq!(item["consumed"], false, "{item:#}");
        assert_eq!(item["failures"], Value::Null, "{item:#}");
    }
    assert_eq!(items(&repo)[3]["source"], "epic");
    let notes = repo.newest()["notes"].to_string();
    for said in [
        "1 line was changed or gone",
        "3 items came into the queue",
        "2 lines that appeared",
        "quarantine",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    let kept = repo.quarantined();
    assert_eq!(kept[&b"next-work.jsonl"[..]].1, b"no item at all\n[1]\n");
}

#[test]
fn a_thousand_items_at_most_appear_while_one_agent_runs() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let script = format!(
        "mkdir -p .agents/rpi; for n in $(seq 1100); do echo \"{{\\\"title\\\": \\\"item $n\\\"}}\"; done >>{QUEUE}; touch a"
    );
    repo.cycle(&script).expect(0);
    assert_eq!(items(&repo).len(), 1000);
    let notes = repo.newest()["notes"].to_string();
    assert!(notes.contains("100 lines that appeared"), "{notes}");
}

#[test]
fn a_title_that_is_none_is_refused_from_people_and_cut_where_a_file_has_it() {
    let repo = TestRepo::with_goals("  - {id: a, description: d, check: \"true\", weight: 5}\n");
    let run = repo.evolve(&["work", "add", &"y".repeat(501)]).expect(2);
    assert!(
        run.stderr.contains("501 characters, more than the 500"),
        "{}",
        run.stderr
    );
    assert!(!repo.has(QUEUE));
    repo.evolve(&["work", "add", &"y".repeat(500)]).expect(0);
    let (long, other) = ("z".repeat(3_000), format!("{}Z", "z".repeat(3_000)));
    let line = |title: &str| format!("{{\"title\":\"{title}\",\"severity\":\"high\"}}\n");
    let text = format!("{}{}{}", repo.read(QUEUE), line(&long), line(&other));
    repo.write(QUEUE, &text);
    repo.commit_all("long titles");
    repo.cycle("touch done").expect(0);
    let title = format!("{}…", "z".repeat(499));
    assert_eq!(repo.newest()["goal_id"], format!("next-work:{title}"));
    assert_eq!(repo.newest()["result"], "harvested");
    let kept = items(&repo);
    assert_eq!(kept[1]["title"], long, "the file keeps it as it is");
    assert_eq!(kept[1]["state"], "consumed");
    assert_eq!(
        kept[2]["title"], other,
        "another one, with the same beginning"
    );
    assert!(kept[2]["state"].is_null());
    let shown = repo.answer(&["work", "list"]);
    assert!(shown.contains(&title) && !shown.contains(&long), "{shown}");
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn agents_that_leave_each_other_work_without_end_are_stopped() {
    let repo = TestRepo::with_goals("  - {id: fine, description: d, check: 'true', weight: 1}\n");
    repo.evolve(&["work", "add", "mine"]).expect(0);
    let script =
        "echo more >>log; echo '{\"title\": \"again '$EVOLVE_CYCLE'\"}' >>$EVOLVE_NEXT_WORK";
    repo.agent_does(&[script; 25]);
    let run = repo.run(&[]).expect(11);
    assert!(
        run.stdout
            .contains("20 cycles all worked on what agents had left"),
        "{}",
        run.stdout
    );
    // The user's own item does not count.
    assert_eq!(repo.each("result"), ["harvested"; 21]);
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn what_is_gone_from_the_queue_between_two_sessions_is_put_back_unless_that_was_committed() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5), ("c", 5)]);
    for title in ["one", "two", "three"] {
        repo.evolve(&["work", "add", title]).expect(0);
    }
    repo.cycle("touch a").expect(0);
    let all = repo.read(QUEUE);
    let without = all
        .lines()
        .filter(|line| !line.contains("two"))
        .map(|line| format!("{line}\n"));
    let without: String = without.collect();
    repo.write(QUEUE, &without);
    let run = repo.cycle("touch b").expect(0);
    assert!(
        run.stderr
            .contains("1 item that git has was gone, and is put back"),
        "{}",
        run.stderr
    );
    assert_eq!(titles(&repo), ["one", "three", "two"]);
    let mut lines: Vec<String> = repo
        .read(QUEUE)
        .lines()
        .map(|line| format!("{line}\n"))
        .collect();
    lines.retain(|line| !line.contains("three"));
    repo.write(QUEUE, &lines.concat());
    repo.git(&["commit", "--quiet", "--all", "-m", "done"]);
    repo.cycle("touch c").expect(0);
    assert_eq!(titles(&repo), ["one", "two"]);
}

#[test]
fn what_was_queued_or_asked_for_again_is_shown_at_once_and_taken_as_shown() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.cycle("echo cannot be done >\"$EVOLVE_GIVE_UP\"")
        .expect(0);
    let status = || -> Value { serde_json::from_str(&repo.answer(&["status", "--json"])).unwrap() };
    assert_eq!(status()["declined"], json!(["a"]));
    let before = everything_below(&repo.root());
    let dry = repo.evolve(&["--dry-run"]).expect(0).stdout;
    assert!(dry.contains("a human is needed"), "{dry}");
    assert_eq!(everything_below(&repo.root()), before, "it wrote something");
    // Asked for again: the dry run and the status know, and the run does as they say.
    repo.evolve(&["retry", "a"]).expect(0);
    assert_eq!(status()["declined"], json!([]));
    let dry = repo.evolve(&["--dry-run"]).expect(0).stdout;
    assert!(dry.contains("would work on a\n"), "{dry}");
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["failed", "improved"]);
    // Queued after cycles were recorded, through the command and by hand.
    repo.evolve(&["work", "add", "tidy up", "--severity=low"])
        .expect(0);
    let by_hand = repo.read(QUEUE) + "{\"title\":\"look here\",\"severity\":\"critical\"}\n";
    repo.write(QUEUE, &by_hand);
    let listed = repo.answer(&["work", "list"]);
    assert!(
        listed.contains("tidy up") && listed.contains("look here"),
        "{listed}"
    );
    assert_eq!(status()["queue"]["open"], 2);
    let dry = repo.evolve(&["--dry-run"]).expect(0).stdout;
    assert!(dry.contains("would work on next-work:look here"), "{dry}");
    repo.cycle("touch done").expect(0);
    assert_eq!(repo.newest()["goal_id"], "next-work:look here");
    // What a run would put back is there, too.
    repo.write(QUEUE, "");
    let problems = status()["problems"].to_string();
    assert!(problems.contains("a run would put them back"), "{problems}");
    let dry = repo.evolve(&["--dry-run"]).expect(0).stdout;
    assert!(dry.contains("would work on next-work:tidy up"), "{dry}");
    repo.cycle("touch more").expect(0);
    assert_eq!(repo.newest()["goal_id"], "next-work:tidy up");
}

#[test]
fn what_is_no_text_in_words_of_others_is_none_in_the_records_either() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    fs::create_dir_all(repo.path(".agents/rpi")).unwrap();
    let line = b"{\"title\":\"odd\xff\\udbff\\udfff\",\"severity\":\"high\"}\n";
    fs::write(repo.path(".agents/rpi/next-work.jsonl"), line).unwrap();
    repo.agent_does(&[
        "touch a",
        "touch b",
        "printf 'words \\364\\217\\277\\277 \\377' >\"$EVOLVE_GIVE_UP\"",
    ]);
    repo.run(&["--max-cycles=2"]).expect(0);
    let history = fs::read(repo.path(".agents/evolve/cycle-history.jsonl")).unwrap();
    let history = String::from_utf8(history).expect("the history is text");
    assert!(history.contains("odd\u{fffd}\u{fffd}"), "{history}");
    repo.evolve(&["audit"]).expect(0);
}

#[test]
fn what_was_added_before_an_agent_floods_the_queue_is_taken_in() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.evolve(&["work", "add", "mine"]).expect(0);
    repo.commit_all("queue");
    let before = titles(&repo);
    repo.cycle(&format!(
        "echo '{{\"title\":\"added by a person\"}}' >>{QUEUE}; seq 20000 | sed 's/.*/{{\"title\":\"t&\"}}/' >>{QUEUE}; touch a"
    ))
    .expect(0);
    let now = titles(&repo);
    assert_eq!(now[..before.len()], before[..]);
    assert_eq!(now[before.len()], "added by a person");
    assert!(now.len() < 2_000, "{}", now.len());
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("too long") && notes.contains("moved out of the way"),
        "{notes}"
    );
    assert!(!notes.contains("changed or gone"), "{notes}");
}

#[test]
fn a_check_that_asks_git_whether_the_tree_is_clean_passes_while_an_item_is_worked_on() {
    for agents in ["git add -A; git commit -qm mine", ":"] {
        let repo = TestRepo::with_goals(
            "  - {id: clean, description: d, check: git diff --exit-code, weight: 5}\n",
        );
        for title in ["one", "two", "three"] {
            repo.answer(&["work", "add", title]);
        }
        let script = format!("echo more >>f; {agents}");
        repo.agent_does(&[&script, &script, &script]);
        repo.run(&["--max-cycles=3"]).expect(0);
        assert_eq!(repo.each("result"), ["harvested"; 3], "{agents}");
    }
}

#[test]
fn what_arrives_in_an_idle_wait_ends_it_and_is_told() {
    type Arrives = fn(&TestRepo);
    let arrivals: [(Arrives, &str, &str); 3] = [
        (
            |repo| drop(repo.answer(&["work", "add", "more"])),
            "there is new work in the queue",
            "harvested",
        ),
        (
            |repo| {
                let retry = json!({"format": 1, "goal_id": "a", "after_cycle": 1, "at": "2026-02-03T04:05:06Z"});
                repo.write(RETRIES, &format!("{retry}\n"));
            },
            "a goal may be worked on again",
            "idle",
        ),
        (
            |repo| {
                repo.write("other", "");
                repo.commit_all("other");
            },
            "HEAD is at another commit",
            "idle",
        ),
    ];
    for (arrive, words, next) in arrivals {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.write("a", "");
        repo.commit_all("a");
        repo.agent_does(&["touch more"]);
        let child = repo.spawn_run(&["--idle-wait=300s", "--max-cycles=2"]);
        wait_until("the first idle cycle", || {
            let is_cycle = |subject: &String| subject.starts_with("evolve: cycle 1");
            repo.subjects().iter().any(is_cycle) && !repo.private().join("journal.json").exists()
        });
        // The wait has begun.
        std::thread::sleep(std::time::Duration::from_millis(300));
        arrive(&repo);
        let run = finish(child).expect(0);
        assert_eq!(repo.each("result"), ["idle", next], "{words}");
        let told = format!("the wait is over: {words}\n");
        assert!(run.stdout.contains(&told), "{}", run.stdout);
        assert!(run.stdout.contains("`evolve work add`"), "{}", run.stdout);
    }
}
