//! Checks: how many run at once and in which order, what the way they end means, and that nothing of them is left.

use std::fs;
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{EVOLVE_PID, Run, TestRepo, assert_gone, finish, is_alive, pid_in};

/// A shell loop that waits for files in `$OUT`.
fn until(files: &[&str]) -> String {
    let all: String = files
        .iter()
        .map(|file| format!("until [ -e \"$OUT/{file}\" ]; do sleep 0.02; done; "))
        .collect();
    all
}

/// A goal whose check is any shell text; `more` are further lines of the goal.
fn goal(id: &str, check: &str, more: &str) -> String {
    let check = check.replace('\n', "\n      ");
    let mut text = format!("  - id: {id}\n    description: goal {id}\n    weight: 5\n");
    for line in more.lines() {
        text.push_str(&format!("    {line}\n"));
    }
    text.push_str(&format!("    check: |\n      {check}\n"));
    text
}

fn repo(goals: &[String]) -> TestRepo {
    TestRepo::with_goals(&goals.concat()).with_out()
}

/// The snapshot that `measure --json` prints.
#[track_caller]
fn measured(repo: &TestRepo, arguments: &[&str]) -> Value {
    let all: Vec<&str> = ["measure", "--json"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    let run = repo.evolve(&all).expect(0);
    serde_json::from_str(&run.stdout).unwrap()
}

/// One goal of a snapshot.
#[track_caller]
fn of<'a>(snapshot: &'a Value, id: &str) -> &'a Value {
    let goals = snapshot["goals"].as_array().unwrap();
    goals
        .iter()
        .find(|goal| goal["id"] == id)
        .unwrap_or_else(|| panic!("no {id} in {snapshot}"))
}

#[test]
fn as_many_checks_run_side_by_side_as_asked_for() {
    let pair = |settings: &str| {
        let goals = [
            goal(
                "a",
                &format!("touch \"$OUT/a\"; {}", until(&["b"])),
                "timeout: 1",
            ),
            goal(
                "b",
                &format!("touch \"$OUT/b\"; {}", until(&["a"])),
                "timeout: 20",
            ),
        ];
        let repo = TestRepo::empty().with_out();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\n{settings}goals:\n{}", goals.concat()),
        );
        repo.commit_all("first");
        repo
    };
    let rows: [(&str, &[&str], Option<&str>, bool); 5] = [
        ("", &["--jobs=2"], None, true),
        ("", &["--jobs=1"], None, false),
        ("", &[], Some("1"), false),
        ("evolve: {jobs: 1}\n", &[], None, false),
        ("evolve: {jobs: 1}\n", &["--jobs=2"], None, true),
    ];
    for (settings, arguments, env, is_met) in rows {
        let mut repo = pair(settings);
        if let Some(jobs) = env {
            repo.env.push(("EVOLVE_JOBS".to_owned(), jobs.to_owned()));
        }
        let snapshot = measured(&repo, arguments);
        let wanted = if is_met { "pass" } else { "fail" };
        assert_eq!(
            of(&snapshot, "a")["result"],
            wanted,
            "{settings} {arguments:?} {env:?}"
        );
        assert_eq!(of(&snapshot, "b")["result"], "pass");
    }
}

#[test]
fn by_default_as_many_checks_run_at_once_as_there_are_cores() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let others = |own: usize| {
        let files: Vec<String> = (0..cores)
            .filter(|other| *other != own)
            .map(|other| format!("is-{other}"))
            .collect();
        let names: Vec<&str> = files.iter().map(String::as_str).collect();
        format!("touch \"$OUT/is-{own}\"; {}", until(&names))
    };
    let goals: Vec<String> = (0..cores)
        .map(|own| goal(&format!("g{own}"), &others(own), "timeout: 60"))
        .collect();
    let repo = repo(&goals);
    assert_eq!(measured(&repo, &[])["goals_passing"], cores);
}

#[test]
fn a_check_that_must_be_alone_runs_beside_no_other() {
    let alone = |id: &str| {
        let look = "for i in 1 2 3 4 5; do [ \"$(ls \"$OUT\"/running.*)\" = \"$OUT/running.ME\" ] || exit 1; sleep 0.1; done";
        let look = look.replace("ME", id);
        goal(
            id,
            &format!("touch \"$OUT/running.{id}\"\n{look}\nrm \"$OUT/running.{id}\""),
            "alone: true",
        )
    };
    let together = |id: &str| {
        let check = format!("touch \"$OUT/running.{id}\"; sleep 0.3; rm \"$OUT/running.{id}\"");
        goal(id, &check, "")
    };
    let repo = repo(&[alone("x"), together("a"), alone("y"), together("b")]);
    let snapshot = measured(&repo, &["--jobs=4"]);
    assert_eq!(snapshot["goals_passing"], 4, "{snapshot}");
}

#[test]
fn the_check_that_took_longest_last_time_starts_first() {
    let note = |id: &str| goal(id, &format!("echo {id} >>\"$OUT/order\""), "");
    let repo = repo(&[note("short"), note("long"), note("longest")]);
    repo.run(&["--max-cycles=1", "--skip-baseline", "--jobs=1"])
        .expect(0);
    assert_eq!(repo.said("order"), "short\nlong\nlongest\n");
    let mut snapshot = repo.json(".agents/evolve/fitness-1.json");
    for (index, seconds) in [0.1, 5.0, 9.0].into_iter().enumerate() {
        snapshot["goals"][index]["duration_s"] = seconds.into();
    }
    repo.write(".agents/evolve/fitness-1.json", &snapshot.to_string());
    repo.commit_all("what the checks took");
    // With it, what was recorded counts, and not what somebody made of that.
    fs::remove_file(repo.path(".git/evolve/anchor")).unwrap();
    for arguments in [&["measure", "--jobs=1"][..], &["--dry-run", "--jobs=1"]] {
        fs::remove_file(repo.out("order")).unwrap();
        repo.evolve(arguments).expect(0);
        assert_eq!(repo.said("order"), "longest\nlong\nshort\n");
    }
}

#[test]
fn results_are_shown_in_the_order_of_the_file_whatever_ends_first() {
    let repo = repo(&[
        goal(
            "zebra",
            &format!("{} touch \"$OUT/z\"", until(&["m"])),
            "timeout: 20",
        ),
        goal(
            "mole",
            &format!("{} touch \"$OUT/m\"", until(&["a"])),
            "timeout: 20",
        ),
        goal("ant", "touch \"$OUT/a\"", ""),
    ]);
    let snapshot = measured(&repo, &["--jobs=3"]);
    let ids: Vec<_> = snapshot["goals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|goal| goal["id"].clone())
        .collect();
    assert_eq!(ids, ["zebra", "mole", "ant"]);
    let table = repo.evolve(&["measure", "--jobs=3"]).expect(0).stdout;
    let place = |id: &str| table.find(id).unwrap();
    assert!(
        place("zebra") < place("mole") && place("mole") < place("ant"),
        "{table}"
    );
}

#[test]
fn a_check_leads_a_session_and_a_process_group_of_its_own() {
    let repo = repo(&[goal(
        "own",
        "set -- $(cut -d' ' -f5,6 /proc/$$/stat); [ \"$1 $2\" = \"$$ $$\" ]",
        "",
    )]);
    assert_eq!(measured(&repo, &[])["goals_passing"], 1);
}

#[test]
fn the_processes_of_a_goal_are_told_from_those_of_evolve_whatever_it_is_called() {
    let check = |id: &str| format!("case $_EVOLVE_RUN in */check/{id}) ;; *) exit 1; esac");
    let ids = ["git", "agent", "prepare"];
    let goals: Vec<String> = ids.iter().map(|id| goal(id, &check(id), "")).collect();
    let snapshot = measured(&repo(&goals), &[]);
    for id in ids {
        assert_eq!(of(&snapshot, id)["result"], "pass", "{id}");
    }
}

#[test]
fn a_check_finds_its_input_empty() {
    let repo = repo(&[goal("in", "! read line", "timeout: 20")]);
    let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
    command
        .args(["measure", "--gate"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The pipe stays open and full, so that only another input than this one is empty.
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"something\n").unwrap();
    finish(child).expect(0);
    drop(stdin);
}

#[test]
fn the_way_a_check_ends_decides() {
    let rows = [
        ("exit 0", "pass", 0.into(), ""),
        ("exit 1", "fail", 1.into(), "exit 1"),
        ("exit 255", "fail", 255.into(), "exit 255"),
        ("exit 77", "skip", 77.into(), "skipped by the check itself"),
        (
            "no-such-program-anywhere",
            "skip",
            127.into(),
            "no-such-program-anywhere",
        ),
        (
            "./not-executable",
            "skip",
            126.into(),
            "cannot be executed (exit 126)",
        ),
        ("kill -9 $$", "fail", Value::Null, "ended by signal 9"),
        ("sleep 300", "fail", Value::Null, "timed out after 1s"),
    ];
    let goals: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(index, (check, ..))| goal(&format!("g{index}"), check, "timeout: 1"))
        .collect();
    let repo = repo(&goals);
    repo.write("not-executable", "");
    repo.commit_all("a file");
    let snapshot = measured(&repo, &[]);
    for (index, (check, result, exit, reason)) in rows.iter().enumerate() {
        let goal = of(&snapshot, &format!("g{index}"));
        assert_eq!(goal["result"], *result, "{check}");
        assert_eq!(goal["exit"], *exit, "{check}");
        let said = goal["reason"].as_str().unwrap_or_default();
        assert!(
            said.contains(reason) && said.is_empty() == reason.is_empty(),
            "{check}: {said}"
        );
    }
    assert_eq!(snapshot["goals_passing"], 1);
    assert_eq!(snapshot["goals_total"], rows.len());
    // A skip counts in the total and never as passing.
    assert_eq!(snapshot["score"], 12.5);
}

#[test]
fn a_value_is_read_as_the_goal_says_and_held_against_its_threshold() {
    const NONE: Option<f64> = None;
    let rows = [
        ("echo 81 of 90", "at-least", "", "pass", Some(90.0)),
        ("echo 79.9", "at-least", "", "fail", Some(79.9)),
        ("echo 80", "at-least", "", "pass", Some(80.0)),
        ("echo 80", "at-most", "", "pass", Some(80.0)),
        ("echo 80.5", "at-most", "", "fail", Some(80.5)),
        ("echo -3", "at-most", "", "pass", Some(-3.0)),
        ("echo 95 >&2", "at-least", "", "fail", NONE),
        ("echo none", "at-least", "", "fail", NONE),
        ("true", "at-most", "", "fail", NONE),
        ("echo 90; echo NaN", "at-least", "", "fail", NONE),
        ("echo inf", "at-least", "", "fail", NONE),
        ("echo 90; exit 3", "at-least", "", "fail", Some(90.0)),
        ("echo 5", "", "", "pass", Some(5.0)),
        ("echo none", "", "", "pass", NONE),
        (
            "echo 'a 81 b'; echo 'a 82 b'; echo 7",
            "at-least",
            "read: {regex: 'a ([0-9]+) b'}",
            "pass",
            Some(82.0),
        ),
        (
            "echo 'cov 83' >&2",
            "at-least",
            "read: {regex: 'cov [0-9]+'}",
            "fail",
            NONE,
        ),
        (
            "echo 'cov 83' >&2",
            "at-least",
            "read: {regex: 'cov ([0-9]+)'}",
            "pass",
            Some(83.0),
        ),
        (
            "echo '{\"a\": [{\"b\": 84.5}]}'",
            "at-least",
            "read: {json: '-#/a/0/b'}",
            "pass",
            Some(84.5),
        ),
        (
            "echo '{\"a\": 1}'",
            "at-least",
            "read: {json: '-#/b'}",
            "fail",
            NONE,
        ),
        (
            "mkdir -p out; echo '{\"lines\": 85}' >out/cov.json; echo 3",
            "at-least",
            "read: {json: 'out/cov.json#/lines'}",
            "pass",
            Some(85.0),
        ),
        (
            "echo 85",
            "at-least",
            "read: {json: 'no-such.json#/lines'}",
            "fail",
            NONE,
        ),
    ];
    let goals: Vec<String> = rows
        .iter()
        .enumerate()
        .map(|(index, (check, direction, read, ..))| {
            let direction = match *direction {
                "" => String::new(),
                direction => format!("\n  direction: {direction}"),
            };
            let read = match *read {
                "" => String::new(),
                read => format!("\n  {read}"),
            };
            let more = format!("continuous:\n  metric: things\n  threshold: 80{direction}{read}");
            goal(&format!("g{index}"), check, &more)
        })
        .collect();
    let repo = repo(&goals);
    let snapshot = measured(&repo, &[]);
    for (index, (check, direction, read, result, value)) in rows.iter().enumerate() {
        let goal = of(&snapshot, &format!("g{index}"));
        assert_eq!(
            goal["result"], *result,
            "{check} {direction} {read}: {goal}"
        );
        assert_eq!(goal["value"].as_f64(), *value, "{check} {direction} {read}");
        if *result == "fail" {
            assert!(goal["reason"].is_string(), "{goal}");
        }
    }
}

#[test]
fn within_its_tolerance_a_goal_that_passed_is_neither_a_regression_nor_chosen() {
    let floor = "continuous: {threshold: 80, direction: at-least, tolerance: 1}";
    let goals = || {
        [
            goal("a", "test -e a", ""),
            goal("floor", "cat level", floor),
        ]
    };
    for (level, result) in [("79.5", "improved"), ("78.9", "regressed")] {
        let repo = repo(&goals());
        repo.write("level", "80\n");
        repo.commit_all("level");
        repo.cycle(&format!("touch a; echo {level} >level"))
            .expect(0);
        assert_eq!(repo.newest()["result"], result, "{level}");
        let post = repo.json(".agents/evolve/fitness-1-post.json");
        assert_eq!(of(&post, "floor")["result"], "fail", "{level}");
    }
    // What never passed has no claim to its tolerance.
    let repo = repo(&goals());
    repo.write("level", "79.5\n");
    repo.write("a", "");
    repo.commit_all("level");
    repo.cycle("echo 80 >level").expect(0);
    assert_eq!(repo.newest()["goal_id"], "floor");
    // It passes now: a drop within the tolerance is not chosen, a deeper one is.
    repo.write("level", "79.5\n");
    repo.commit_all("a little less");
    let run = repo.evolve(&["--dry-run"]).expect(0);
    assert!(run.stdout.contains("nothing to do"), "{}", run.stdout);
    repo.write("level", "78\n");
    repo.commit_all("much less");
    let run = repo.evolve(&["--dry-run"]).expect(0);
    assert!(run.stdout.contains("would work on floor"), "{}", run.stdout);
}

/// A script whose processes try to outlive it, each its own way; each leaves its pid in a file.
fn escapes() -> (String, Vec<&'static str>) {
    let stay = |name: &str| format!("sh -c 'echo $$ >\"$OUT/{name}\"; exec sleep 300'");
    let script = [
        format!("{} &", stay("background")),
        format!("setsid {} &", stay("session")),
        format!("(setsid {} & ) &", stay("double")),
        format!("nohup {} >/dev/null 2>&1 &", stay("nohup")),
        format!(
            "env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid {} &",
            stay("bare")
        ),
        "setsid sh -c 'trap \"\" TERM HUP INT; echo $$ >\"$OUT/deaf\"; while :; do sleep 1; done' &"
            .to_owned(),
        "sh -c 'echo $$ >\"$OUT/stopped\"; kill -STOP $$' &".to_owned(),
    ]
    .join("\n");
    let files = vec![
        "background",
        "session",
        "double",
        "nohup",
        "bare",
        "deaf",
        "stopped",
    ];
    let wait = until(&files).replace("-e", "-s");
    (format!("{script}\n{wait}\n"), files)
}

#[test]
fn nothing_that_a_check_starts_outlives_it_and_an_open_output_delays_nobody() {
    let (script, files) = escapes();
    for end in ["exit 0", "sleep 300"] {
        let repo = repo(&[goal("e", &format!("{script}{end}"), "timeout: 3")]);
        let snapshot = measured(&repo, &[]);
        let wanted = if end == "exit 0" { "pass" } else { "fail" };
        assert_eq!(of(&snapshot, "e")["result"], wanted, "{end}: {snapshot}");
        let pids: Vec<_> = files.iter().map(|file| repo.out(file)).collect();
        assert_gone(&pids);
    }
}

#[test]
fn nothing_that_an_agent_starts_outlives_it() {
    let (script, files) = escapes();
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.cycle(&format!("{script}touch a")).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let pids: Vec<_> = files.iter().map(|file| repo.out(file)).collect();
    assert_gone(&pids);
}

#[test]
fn a_background_process_of_an_agent_cannot_flip_a_result_while_checks_run() {
    let check = "rm -f \"$OUT/flag\"; sleep 0.5; test -e \"$OUT/flag\"";
    let repo = repo(&[goal("a", check, "")]);
    let helper = "env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh -c 'while :; do touch \"$OUT/flag\"; sleep 0.05; done' &";
    repo.cycle(&format!("touch x; {helper} {}", until(&["flag"])))
        .expect(0);
    assert_eq!(repo.newest()["result"], "unchanged");
}

#[test]
fn a_check_that_is_over_its_time_is_asked_to_end_first() {
    let repo = repo(&[
        goal(
            "tidy",
            "trap 'touch \"$OUT/tidied\"; exit 0' TERM; sleep 300 & wait",
            "timeout: 1",
        ),
        // A shell in front of the program does not cut that short when it ends at once.
        goal(
            "behind",
            "sh -c 'trap \"sleep 0.5; touch \\\"$OUT/too\\\"; exit 0\" TERM; sleep 300 & wait'; true",
            "timeout: 1",
        ),
    ]);
    let snapshot = measured(&repo, &[]);
    // What they say when asked to end does not count.
    for (id, file) in [("tidy", "tidied"), ("behind", "too")] {
        assert!(repo.out(file).exists(), "{id}");
        assert_eq!(of(&snapshot, id)["result"], "fail", "{id}");
    }
}

#[test]
fn a_check_that_ignores_to_be_ended_is_killed_with_all_that_it_started() {
    let repo = repo(&[goal(
        "deaf",
        "trap '' TERM; echo $$ >\"$OUT/one\"\nsh -c 'echo $$ >\"$OUT/two\"; while :; do sleep 1; done' &\nwhile :; do sleep 1; done",
        "timeout: 1",
    )]);
    let snapshot = measured(&repo, &[]);
    assert_eq!(of(&snapshot, "deaf")["reason"], "timed out after 1s");
    assert_gone(&[repo.out("one"), repo.out("two")]);
}

#[test]
fn a_stopped_check_is_woken_to_end() {
    // Killed only after its grace, it could not run its last words.
    let repo = repo(&[goal(
        "stopped",
        "trap 'touch \"$OUT/woken\"; exit 1' TERM; echo $$ >\"$OUT/pid\"; kill -STOP $$; sleep 300 & wait",
        "timeout: 1",
    )]);
    let snapshot = measured(&repo, &[]);
    assert_eq!(of(&snapshot, "stopped")["reason"], "timed out after 1s");
    assert!(repo.out("woken").exists());
    assert_gone(&[repo.out("pid")]);
}

#[test]
fn much_output_does_not_bury_the_result_and_it_is_said_what_of_it_is_left_out() {
    let repo = repo(&[
        goal("loud", "seq 1 200000; exit 1", ""),
        goal("quiet", "true", ""),
    ]);
    let page = repo.evolve(&["measure"]).expect(0).stdout;
    let lines: Vec<&str> = page.lines().collect();
    assert!(lines.len() < 45, "{page}");
    let left_out = lines.iter().find(|line| line.starts_with("    … "));
    let words = "lines and all before: run its check by itself to see that";
    assert!(left_out.is_some_and(|line| line.ends_with(words)), "{page}");
    assert!(page.contains("\n    199999\n    200000\n"), "{page}");
    let last = lines.last().unwrap();
    assert!(
        last.starts_with("score 50: 1 of 2 goals") && last.ends_with("; failing loud"),
        "{page}"
    );
    assert_eq!(page.matches("score 50").count(), 2, "{page}");
}

#[test]
fn endless_output_is_bounded_in_memory_log_and_snapshot() {
    let check = &format!(
        "[ -e a ] && exit 0\nhead -c 100000000 /dev/zero | tr '\\0' x; echo the end\ngrep VmHWM /proc/{EVOLVE_PID}/status >\"$OUT/memory\"; exit 1"
    );
    let repo = repo(&[goal("loud", check, "")]);
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let baseline = repo.json(".agents/evolve/fitness-0-baseline.json");
    let tail = of(&baseline, "loud")["output_tail"].as_str().unwrap();
    assert!(
        tail.starts_with("…\n") && tail.len() <= 2052 && tail.ends_with("xxxthe end\n"),
        "{tail}"
    );
    let logs = repo.private().join("logs");
    let session = fs::read_dir(logs).unwrap().next().unwrap().unwrap().path();
    let log = fs::read(session.join("0-baseline/loud.log")).unwrap();
    assert!(log.len() > 16 << 20 && log.len() < (16 << 20) + 1000);
    assert!(String::from_utf8_lossy(&log[log.len() - 100..]).contains("limit"));
    let memory = repo.said("memory");
    let kilobytes: u64 = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(kilobytes < 80_000, "{memory}");
}

#[test]
fn a_check_has_a_log_if_it_said_anything_and_none_of_an_earlier_attempt() {
    // It fails after the agent, is confirmed twice, and says something at the first of these only.
    let breaks = "[ -e a ] || exit 0; echo x >>\"$OUT/runs\"; [ \"$(grep -c x \"$OUT/runs\")\" -gt 2 ] || echo said; exit 1";
    let repo = repo(&[goal("mends", "test -e a", ""), goal("breaks", breaks, "")]);
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    let logs = repo.private().join("logs");
    let session = fs::read_dir(logs).unwrap().next().unwrap().unwrap().path();
    let log = |name: &str| fs::read_to_string(session.join(name)).ok();
    assert_eq!(log("1-after/breaks.log").as_deref(), Some("said\n"));
    assert_eq!(log("1-after/mends.log"), None);
    assert_eq!(log("1-confirm/breaks.log").as_deref(), Some(""));
    assert_eq!(log("1-agent.log").as_deref(), Some(""));
}

#[test]
fn what_a_program_prints_reaches_neither_terminal_nor_ledger_raw() {
    let noise = r"printf 'red \033[31m title \033]0;x\007 clear \033[2J c1 \302\233 bidi \342\200\256 bad \377\376 bell \a\b\000 last\n'";
    let repo = repo(&[
        goal("fails", &format!("{noise}; {noise} >&2; exit 1"), ""),
        goal("skips", &format!("{noise}; exit 127"), ""),
        goal(
            "reads",
            noise,
            "continuous: {threshold: 1, direction: at-least, read: {regex: 'red (.*) last'}}",
        ),
    ]);
    repo.agent_does(&[&format!(
        "{noise}; {noise} >\"$EVOLVE_GIVE_UP\"; {noise} >\"$EVOLVE_LESSONS\""
    )]);
    let is_harmless = |text: &str| {
        text.chars()
            .all(|c| c == '\n' || c == '\t' || !(c.is_control() || c == '\u{202e}'))
    };
    let run = repo.run(&["--max-cycles=1", "-v"]).expect(0);
    assert!(
        is_harmless(&run.stdout) && is_harmless(&run.stderr),
        "{run:?}"
    );
    assert!(run.stdout.contains("last"), "{run:?}");
    for arguments in [
        &["measure"][..],
        &["measure", "--json"],
        &["history"],
        &["show", "1"],
        &["status"],
        &["--dry-run"],
    ] {
        let run = repo.evolve(arguments);
        assert!(
            is_harmless(&run.stdout) && is_harmless(&run.stderr),
            "{arguments:?} {run:?}"
        );
    }
    for entry in fs::read_dir(repo.path(".agents/evolve")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = fs::read_to_string(&path).unwrap();
            assert!(is_harmless(&text), "{}", path.display());
            assert!(!text.contains("\\u001b"), "{}", path.display());
        }
    }
    assert!(is_harmless(&repo.brief(1)));
}

#[test]
fn what_looks_like_a_secret_is_in_no_snapshot_even_where_the_tail_begins() {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    // The kept part of the output begins in the middle of the token.
    let fill = "x".repeat(2048 - 20);
    for (check, leak) in [
        (format!("echo 'token {token} end'; exit 1"), "0123456789"),
        (
            format!("printf '%s\\n' '{token} {fill}' | head -c 2070; exit 1"),
            "ABCDEFGHIJ012345",
        ),
        (
            "echo 'API_KEY=abcdef0123456'; exit 127".to_owned(),
            "abcdef",
        ),
    ] {
        let repo = repo(&[goal("leak", &check, ""), goal("fine", "true", "")]);
        let snapshot = measured(&repo, &[]).to_string();
        assert!(!snapshot.contains(leak), "{}", &snapshot[..800]);
    }
}

#[test]
fn variables_that_name_another_repository_or_steer_evolve_reach_neither_checks_nor_agent() {
    let repo = repo(&[goal("a", "env >\"$OUT/check-env\"; test -e a", "")]);
    let other = TestRepo::with_files_wanted(&[("other", 1)]);
    let untouched = other.head();
    let git_dir = other.path(".git").display().to_string();
    let index = other.path(".git/index").display().to_string();
    let work_tree = other.root().display().to_string();
    repo.agent_does(&["env >\"$OUT/agent-env\"; touch a; git add a; git commit -qm 'make a'"]);
    let agent = repo.agent();
    let run: Run = repo.evolve_with(
        &[
            ("GIT_DIR", &git_dir),
            ("GIT_INDEX_FILE", &index),
            ("GIT_WORK_TREE", &work_tree),
            ("GIT_OBJECT_DIRECTORY", &git_dir),
            ("EVOLVE_AGENT", &agent),
            ("EVOLVE_JOBS", "1"),
            ("EVOLVE_CYCLE", "99"),
            ("EVOLVE_ANYTHING", "leak"),
        ],
        &["--max-cycles=1"],
    );
    run.expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(other.head(), untouched);
    assert_eq!(other.status(), Vec::<String>::new());
    let names = |file: &str| -> Vec<String> {
        let text = repo.said(file);
        let mut names: Vec<String> = text
            .lines()
            .filter_map(|line| line.split_once('=').map(|(name, _)| name.to_owned()))
            .filter(|name| {
                name.starts_with("EVOLVE_")
                    || [
                        "GIT_DIR",
                        "GIT_INDEX_FILE",
                        "GIT_WORK_TREE",
                        "GIT_OBJECT_DIRECTORY",
                    ]
                    .contains(&name.as_str())
            })
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("check-env"), Vec::<String>::new());
    assert_eq!(
        names("agent-env"),
        [
            "EVOLVE_BRIEF",
            "EVOLVE_CYCLE",
            "EVOLVE_GIVE_UP",
            "EVOLVE_GOAL_ID",
            "EVOLVE_LESSONS",
            "EVOLVE_NEXT_WORK"
        ]
    );
    assert!(repo.said("agent-env").contains("\nEVOLVE_CYCLE=1\n"));
}

#[test]
fn tracked_files_that_change_while_goals_are_measured_are_named_once() {
    let repo = repo(&[
        goal("fmt", "echo >>b; echo >>theirs; echo >>new", ""),
        goal("lint", "rm -f a; test -e b", ""),
        goal("fine", "true", ""),
    ]);
    for file in ["a", "b", "theirs"] {
        repo.write(file, "");
    }
    repo.commit_all("files");
    let warning = |arguments: &[&str]| {
        repo.git(&["checkout", "--quiet", "."]);
        repo.write("theirs", "mine\n");
        let run = repo.evolve(arguments).expect(0);
        (run.stdout, run.stderr)
    };
    let told = "a check that changes files is to be told to look only, as `cargo fmt --check` does";
    let (stdout, stderr) = warning(&["measure", "--json"]);
    serde_json::from_str::<Value>(&stdout).unwrap();
    assert_eq!(
        stderr,
        format!(
            "warning: while the checks ran, 3 tracked files changed, of which 1 had changes that were not committed: a, b, theirs; {told}\n"
        )
    );
    let (_, stderr) = warning(&["measure", "lint"]);
    assert_eq!(
        stderr,
        format!("warning: while the check of lint ran, 1 tracked file changed: a; {told}\n")
    );
    assert_eq!(warning(&["measure", "fine"]).1, "");
    assert_eq!(warning(&["-q", "measure"]).1, "");
    // What was so before is nobody's news.
    repo.evolve(&["measure", "lint"]).expect(0);
    assert_eq!(repo.evolve(&["measure", "lint"]).stderr, "");
}

#[test]
fn what_a_check_takes_back_or_commits_is_told_by_whatever_measures() {
    let repo = repo(&[
        goal("tidy", "git checkout -q -- mine; test -e mine", ""),
        goal(
            "keep",
            "git commit -qam kept --allow-empty; test -e mine",
            "",
        ),
        goal("leave", "git checkout -q -B other", ""),
        goal(
            "size",
            "cp one mine; echo 1",
            "continuous: {metric: n, threshold: 9, direction: at-most}",
        ),
    ]);
    repo.write("mine", "");
    repo.write("one", "1\n");
    repo.commit_all("files");
    let told =
        "; a check that changes files is to be told to look only, as `cargo fmt --check` does\n";
    let unsaved = "1 tracked file changed, of which 1 had changes that were not committed: mine";
    for (arguments, what) in [
        (
            &["measure", "tidy"][..],
            format!("the check of tidy ran, {unsaved}"),
        ),
        (
            &["measure", "keep"],
            "the check of keep ran, HEAD moved to another commit, and changes to 1 file were committed: mine".to_owned(),
        ),
        (
            &["measure", "leave"],
            "the check of leave ran, another branch was checked out".to_owned(),
        ),
        (
            &["--dry-run", "--jobs=1"],
            format!("the checks ran, HEAD moved to another commit, and {unsaved}"),
        ),
        (&["ratchet"], format!("the check of size ran, {unsaved}")),
    ] {
        repo.git(&["reset", "--hard", "--quiet"]);
        repo.git(&["checkout", "--quiet", "-B", "main"]);
        repo.write("mine", &format!("work of mine before {arguments:?}\n"));
        let run = repo.evolve(arguments).expect(0);
        assert_eq!(
            run.stderr,
            format!("warning: while {what}{told}"),
            "{arguments:?}"
        );
    }
}

#[test]
fn what_an_agent_changes_is_not_told_where_it_measures() {
    let check = "[ ! -e \"$OUT/at-work\" ] || echo >>b; test -e a";
    let repo = repo(&[goal("a", check, "")]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.agent_does(&[&format!(
        "touch \"$OUT/at-work\"; '{}' measure a >\"$OUT/measured\" 2>&1; rm \"$OUT/at-work\"; git checkout -q b; touch a",
        repo.program().display()
    )]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let said = fs::read_to_string(repo.out("measured")).unwrap();
    assert!(said.starts_with("FAIL  a"), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn a_measurement_that_is_interrupted_leaves_no_check_behind() {
    let repo = repo(&[goal("long", "echo $$ >\"$OUT/pid\"; sleep 300", "")]);
    let child = repo.spawn(&["measure"]);
    let pid = pid_in(&repo.out("pid"));
    crate::harness::signal(&child, "INT");
    finish(child).expect(130);
    assert!(!is_alive(pid));
}

#[test]
fn of_a_measurement_that_is_interrupted_what_was_measured_is_shown() {
    for (arguments, word, code) in [
        (&["measure"][..], "INT", 130),
        (&["measure", "--json"], "TERM", 143),
    ] {
        let repo = repo(&[
            goal(
                "long",
                "until [ -e $OUT/b.done ]; do sleep 0.05; done; sleep 0.3; echo $$ >\"$OUT/pid\"; sleep 300",
                "",
            ),
            goal("b", "echo no b; touch $OUT/b.done; exit 1", ""),
        ]);
        let child = repo.spawn(&[arguments, &["--jobs=2"]].concat());
        pid_in(&repo.out("pid"));
        crate::harness::signal(&child, word);
        let run = finish(child).expect(code);
        let signal = match word {
            "INT" => "Ctrl-C (SIGINT)",
            _ => "SIGTERM",
        };
        let told = format!("error: interrupted: 1 of 2 measured ({signal})\n");
        assert_eq!(run.stderr, told);
        let lines: Vec<&str> = run.stdout.lines().collect();
        match arguments.contains(&"--json") {
            true => assert_eq!(run.stdout, ""),
            false => {
                assert!(lines[0].starts_with("FAIL  b  "), "{lines:?}");
                assert_eq!(lines[1..], ["", "output of b", "    no b"]);
            }
        }
    }
}
