//! What is too large, or no file at all: refused, passed over or kept within bounds, never read as a whole.

use std::fs::{self, File};
use std::os::unix::fs::symlink;

use crate::chance::cases;
use crate::harness::{EVOLVE_PID, TestRepo};
use crate::memory::{finish_bounded, held};

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
const QUEUE: &str = ".agents/rpi/next-work.jsonl";
/// What a run may hold whose check prints without end.
const MOST_WITH_OUTPUT: u64 = 20 << 10;

fn wanting_a() -> TestRepo {
    TestRepo::with_files_wanted(&[("a", 5)]).with_out()
}

#[test]
fn output_without_end_or_sense_is_bounded_in_memory_and_leaves_a_clean_tail() {
    let bytes = cases(300_000_000, 4_000_000_000);
    for noise in [
        format!("head -c {bytes} /dev/urandom"),
        format!(
            "yes \"$(printf '\\033[31m\\033]0;t\\007\\302\\233')\" | tr -d '\\n' | head -c {bytes}"
        ),
    ] {
        let check = format!(
            "{noise}; echo; echo the end; cat /proc/{EVOLVE_PID}/status >\"$OUT/memory\"; exit 1"
        );
        let repo = TestRepo::with_goals(&format!(
            "  - id: loud\n    description: d\n    check: |\n      {check}\n    weight: 5\n"
        ))
        .with_out();
        let run = repo.evolve(&["measure", "--json"]).expect(0);
        let snapshot: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let tail = snapshot["goals"][0]["output_tail"].as_str().unwrap();
        assert!(
            tail.len() <= 2048 && tail.ends_with("the end\n"),
            "{tail:?}"
        );
        crate::nasty::assert_clean(tail);
        let memory = repo.said("memory");
        let kilobytes = held(&memory).unwrap();
        assert!(kilobytes < MOST_WITH_OUTPUT, "{kilobytes}: {memory}");
    }
}

#[test]
fn a_report_as_large_as_is_read_is_read_within_the_bounds() {
    let most = 32 << 20;
    // What stands in a report: its beginning, one of so many, what comes between two, and its end.
    let filled = |begin: &str, one: &dyn Fn(usize) -> String, end: &str| {
        let mut text = begin.to_owned();
        for index in 0.. {
            let more = one(index);
            if text.len() + more.len() + end.len() > most {
                break;
            }
            text += &more;
        }
        text + end
    };
    let objects = |_| "{\"a\":1},".to_owned();
    for (read, report) in [
        ("json: 'r#/a'", filled("{\"x\":[", &objects, "0],\"a\":2}")),
        ("json: 'r#/x'", filled("{\"x\":[", &objects, "0]}")),
        (
            "json: 'r#/x/y'",
            filled("{\"x\":{", &|key| format!("\"{key}\":1,"), "\"a\":2}}"),
        ),
        (
            "json: 'r#/a'",
            filled("{\"a\":\"", &|_| "1".repeat(100), "\"}"),
        ),
        (
            "sarif: r",
            filled(
                "{\"runs\":[",
                &|_| "{\"results\":[{\"ruleId\":\"a\",\"level\":\"error\"}]},".to_owned(),
                "{}]}",
            ),
        ),
        (
            "sarif: r",
            filled(
                "{\"runs\":[{\"results\":[",
                &|id| format!("{{\"ruleId\":\"{id}\"}},"),
                "{}]}]}",
            ),
        ),
        (
            "sarif: r",
            filled(
                "{\"runs\":[{\"results\":[],\"tool\":{\"driver\":{\"rules\":[",
                &|id| format!("{{\"id\":\"{id}\"}},"),
                "{}]}}}]}",
            ),
        ),
        (
            "hyperfine: r",
            filled(
                "{\"results\":[",
                &|id| format!("{{\"command\":\"{id}\"}},"),
                "{}]}",
            ),
        ),
        (
            "lcov: r",
            filled(
                "SF:a\n",
                &|line| format!("DA:{line},1\n"),
                "end_of_record\n",
            ),
        ),
        (
            "lcov: r",
            filled(
                "",
                &|file| format!("SF:{file}\nDA:1,1\nend_of_record\n"),
                "",
            ),
        ),
        (
            "{lcov: r, of: functions}",
            filled(
                "SF:a\n",
                &|index| format!("FNL:{index},1\n"),
                "end_of_record\n",
            ),
        ),
    ] {
        let read = read.trim_matches(['{', '}']);
        let repo = TestRepo::with_goals(&format!(
            "  - id: large\n    description: d\n    check: cp .git/large r\n    weight: 5\n    continuous: {{metric: m, threshold: 1, direction: at-least, read: {{{read}}}}}\n"
        ));
        repo.write(".git/large", &report);
        eprintln!("{read}: {}", &report[..report.len().min(60)]);
        let run = finish_bounded(repo.spawn(&["measure", "--json"])).expect(0);
        let snapshot: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let goal = &snapshot["goals"][0];
        assert!(
            goal["value"].is_number() || goal["reason"].is_string(),
            "{goal}"
        );
    }
}

#[test]
fn a_goals_file_of_two_gigabytes_is_refused_unread() {
    let repo = wanting_a();
    File::create(repo.path("GOALS.yaml"))
        .unwrap()
        .set_len(2 << 30)
        .unwrap();
    let run = finish_bounded(repo.spawn(&["validate"])).expect(2);
    assert!(run.stderr.contains("2147483648 bytes"), "{}", run.stderr);
}

#[test]
fn a_ledger_that_is_too_large_is_refused_with_its_file_and_left_as_it_is() {
    for (name, bytes) in [
        (HISTORY, format!("{}\n", "x".repeat(1 << 20)).repeat(100)),
        (QUEUE, "x".repeat(100 << 20)),
        (QUEUE, "\n".repeat(100_000)),
        (QUEUE, "{\"title\":\"\"}\n".repeat(100_000)),
        (QUEUE, entry_of(100_000)),
        (
            QUEUE,
            format!("{{\"title\":\"a\",\"x\":[{}1]}}\n", "1,".repeat(2_000_000)),
        ),
        (
            HISTORY,
            format!("{{\"reason\":\"{}\"}}\n", "x".repeat(20 << 20)),
        ),
    ] {
        let repo = wanting_a();
        repo.write(name, &bytes);
        repo.commit_all("large");
        for arguments in [
            &["status"][..],
            &["work", "list"],
            &["--dry-run"],
            &["--agent=true", "--max-cycles=1"],
        ] {
            let run = finish_bounded(repo.spawn(arguments)).expect(1);
            assert!(run.stderr.contains(name), "{arguments:?}: {}", run.stderr);
            assert!(
                run.stderr.len() < 1000,
                "{arguments:?}: {} bytes",
                run.stderr.len()
            );
        }
        assert_eq!(repo.read(name), bytes);
    }
}

/// A line of the queue that is one entry with so many items.
fn entry_of(items: usize) -> String {
    let item = |number| format!("{{\"title\":\"i{number}\",\"severity\":\"low\"}}");
    let items: Vec<_> = (0..items).map(item).collect();
    format!(
        "{{\"source_epic\":\"e\",\"items\":[{}]}}\n",
        items.join(",")
    )
}

#[test]
fn a_queue_as_large_as_is_read_is_held_within_bounds_and_shown_in_part() {
    let with_keys = |number| {
        let keys: Vec<_> = (0..18).map(|key| format!("\"k{key}\":1")).collect();
        format!(
            "{{\"title\":\"i{number}\",\"description\":\"{}\",{}}}\n",
            "d".repeat(120),
            keys.join(",")
        )
    };
    let flat: String = (0..9_999).map(with_keys).collect();
    let long =
        |key: &str, more: &str| format!("{{\"{key}\":\"{}\"{more}}}\n", "word ".repeat(600_000));
    for (queue, rows) in [
        (entry_of(9_998), 51),
        (flat, 51),
        (long("title", ""), 1),
        (long("description", ",\"title\":\"t\""), 1),
    ] {
        let repo =
            TestRepo::with_goals("  - {id: a, description: d, check: \"true\", weight: 5}\n");
        repo.write(QUEUE, &queue);
        repo.commit_all("large");
        finish_bounded(repo.spawn(&["status"])).expect(0);
        let shown = finish_bounded(repo.spawn(&["work", "list"]))
            .expect(0)
            .stdout;
        assert_eq!(shown.lines().count(), rows, "{shown}");
        assert!(shown.len() < 20_000, "{} bytes", shown.len());
        let dry = finish_bounded(repo.spawn(&["--dry-run"])).expect(0).stdout;
        assert!(dry.len() < 60_000, "{} bytes", dry.len());
        repo.agent_does(&["touch done"]);
        finish_bounded(repo.spawn_run(&["--max-cycles=1"])).expect(0);
        assert_eq!(repo.newest()["result"], "harvested");
        let message = repo.git(&["log", "-1", "--format=%B", "--grep=Evolve-Result"]);
        assert!(message.len() < 5_000, "{} bytes", message.len());
        finish_bounded(repo.spawn(&["audit"])).expect(0);
    }
}

#[test]
fn a_history_that_is_too_large_is_not_audited() {
    let repo = wanting_a();
    repo.write(
        HISTORY,
        &format!("{{\"reason\":\"{}\"}}\n", "x".repeat(2 << 20)),
    );
    repo.commit_all("a long line");
    let run = finish_bounded(repo.spawn(&["audit"])).expect(10);
    assert!(
        run.stdout.contains("is no record: it has 2097"),
        "{}",
        run.stdout
    );
    repo.write(
        HISTORY,
        &format!("{{\"reason\":\"{}\"}}\n", "x".repeat(20 << 20)),
    );
    repo.commit_all("a longer one");
    let run = finish_bounded(repo.spawn(&["audit"])).expect(3);
    assert!(
        run.stderr.contains("more than the 10485760"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_history_of_broken_lines_is_told_in_few_words_and_gone_on_with() {
    let repo = wanting_a();
    repo.write(
        HISTORY,
        &format!("{{\"cycle\":\"{}\"}}\n", "\u{202e}x".repeat(500)).repeat(5_000),
    );
    repo.commit_all("broken");
    repo.agent_does(&["touch a"]);
    let run = finish_bounded(repo.spawn_run(&["--max-cycles=1"])).expect(0);
    assert!(
        run.stderr.contains("4950 more such lines"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.len() < 100_000, "{} bytes", run.stderr.len());
}

#[test]
fn an_outbox_of_pipes_links_and_endless_files_is_passed_over() {
    let repo = wanting_a();
    let secret = repo.out("secret");
    fs::write(&secret, "{\"title\":\"stolen\"}\n").unwrap();
    symlink(&secret, repo.out("link")).unwrap();
    repo.agent_does(&[
        "mkfifo \"$EVOLVE_LESSONS\" \"$EVOLVE_GIVE_UP\"; ln -s \"$OUT/secret\" \"$EVOLVE_NEXT_WORK\"; touch a",
        "mkdir \"$EVOLVE_LESSONS\" \"$EVOLVE_GIVE_UP\"; truncate -s 2G \"$EVOLVE_NEXT_WORK\"; touch b",
    ]);
    finish_bounded(repo.spawn_run(&["--max-cycles=1"])).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    repo.write(
        "GOALS.yaml",
        "goals:\n  - {id: b, description: d, check: test -e b, weight: 5}\n",
    );
    repo.commit_all("another");
    finish_bounded(repo.spawn_run(&["--max-cycles=1"])).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert!(!repo.has(QUEUE) || !repo.read(QUEUE).contains("stolen"));
    assert!(!repo.has(".agents/evolve/lessons.jsonl"));
}
