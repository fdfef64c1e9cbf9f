//! Looking at a search: what is told while it runs and at its end, and what its views show.

use serde_json::Value;

use crate::harness::TestRepo;

/// What an agent does as each attempt, by its number.
const AGENT: &str = "case $EVOLVE_ATTEMPT in
1) echo 5 >value; echo five >$EVOLVE_SUMMARY;;
2) echo 3 >value; echo 'token=ghp_0123456789abcdefghijklmnopqrstuvwxyz' >$EVOLVE_SUMMARY;;
3) echo nan >value;;
4) echo 3 >value;;
5) echo 'nothing left' >$EVOLVE_GIVE_UP;;
6) echo 5.00001 >value; touch other;;
7) echo bad >value;;
esac
";

/// A repository in which a search of seven attempts was run with this strategy.
fn searched(more: &[&str]) -> (TestRepo, String) {
    let repo = TestRepo::empty();
    repo.write("value", "2\n");
    repo.commit_all("first");
    let script = repo.outside().join("agent.sh");
    std::fs::write(&script, AGENT).unwrap();
    let agent = format!("sh {}", script.display());
    let mut arguments = vec![
        "search",
        "cat value",
        "--files",
        "value",
        "--seed=1",
        "--max-attempts=7",
        "--direction=max",
    ];
    arguments.extend(["--gate", "! grep -q bad value", "--agent", &agent]);
    arguments.extend(more);
    let run = repo.evolve(&arguments).expect(0);
    assert_eq!(run.stderr, "");
    (repo, run.stdout)
}

#[test]
fn without_a_number_the_best_attempt_is_shown() {
    let (repo, _) = searched(&[]);
    let shown = repo.evolve(&["search", "show"]).expect(0).stdout;
    assert_eq!(
        shown,
        repo.evolve(&["search", "show", "6"]).expect(0).stdout
    );
    let patch = repo.evolve(&["search", "diff"]).expect(0).stdout;
    assert!(patch.contains("+5.00001"), "{patch}");
}

#[test]
fn where_nothing_is_better_there_is_no_best_attempt_to_compare() {
    let repo = TestRepo::empty();
    repo.write("value", "2\n");
    repo.commit_all("first");
    let options = [
        "search",
        "cat value",
        "--files=value",
        "--max-attempts=1",
        "--direction=max",
        "--agent=echo 1 >value",
    ];
    repo.evolve(&options).expect(0);
    let refused = repo.evolve(&["search", "diff"]).expect(2).stderr;
    assert!(
        refused.contains("no attempt is better than the untouched code"),
        "{refused}"
    );
}

#[test]
fn each_ending_is_told_with_its_reason_and_the_report_names_the_winner() {
    let (_, told) = searched(&[]);
    for line in [
        "\nbaseline · score 2\n",
        "\nattempt 1 · accepted, the best so far · score 5, +3 (+150 %) · five\n",
        "\nattempt 2 · worse · score 3, +1 (+50.0 %): attempt 1 has 5 · ",
        "\nattempt 3 · invalid: the last line of stdout is no finite number: nan",
        "\nattempt 4 · duplicate · score 3, +1 (+50.0 %): the content of attempt 2",
        "\nattempt 5 · declined: nothing left\n",
        "\nattempt 6 · accepted, the best so far · score 5.00001, +3 (+150 %)",
        "\nattempt 7 · gate failed: ! grep -q bad value: exit 1",
        "\nwinner     attempt 6: 5.00001, +3 (+150 %), the baseline 2; mutation of 1\n",
        "way        the baseline (2) → attempt 1 (5) → attempt 6 (5.00001)\n",
        "attempts   7 attempts: 2 accepted, 1 worse, 1 invalid, 1 duplicate, 1 declined, 1 gate failed\n",
        "`evolve search diff 6` shows what it changes\n",
        "`evolve search apply` lands it\n",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(!told.contains("ghp_0123"), "{told}");
}

#[test]
fn board_status_show_and_diff_answer_people_and_programs() {
    let (repo, _) = searched(&[]);
    let board = repo.answer(&["search", "board", "--chart"]);
    let lines: Vec<&str> = board.lines().collect();
    assert!(
        lines[1].starts_with("rank  id  score    delta  percent  made"),
        "{board}"
    );
    assert!(
        lines[2].starts_with("1     6   5.00001  +3     +150 %"),
        "{board}"
    );
    assert!(board.contains("5.00001 ┤"), "{board}");
    let status = repo.answer(&["search", "status"]);
    assert!(
        status.contains("state      ended: all attempts are done\n"),
        "{status}"
    );
    assert!(status.contains("7 of 7 attempts\n"), "{status}");
    let show = repo.answer(&["search", "show", "6"]);
    assert!(
        show.contains("left out       other (not editable)\n"),
        "{show}"
    );
    assert!(
        show.contains("at the end, beside the baseline: 5.00001 against 2"),
        "{show}"
    );
    assert!(
        show.contains("brief .git/evolve/search/1/6/brief.txt"),
        "{show}"
    );
    let diff = repo.answer(&["search", "diff", "6", "1"]);
    assert!(diff.contains("\n-5\n+5.00001\n"), "{diff}");
    let diff = repo.answer(&["search", "diff", "6"]);
    assert!(diff.contains("\n-2\n+5.00001\n"), "{diff}");
    assert_eq!(
        repo.answer(&["search", "diff", "6", "--stat"]),
        "changed: 1 file, 1 line added, 1 removed\nvalue  2  +  -\n"
    );
    for (words, key) in [
        ("board", "attempts"),
        ("status", "overview"),
        ("show 6", "measured"),
    ] {
        let mut arguments = vec!["search"];
        arguments.extend(words.split(' '));
        arguments.push("--json");
        let document: Value =
            serde_json::from_str(&repo.evolve(&arguments).expect(0).stdout).unwrap();
        assert_eq!(document["format"], 1);
        assert!(!document[key].is_null(), "{document}");
    }
    let wrong = repo.error(2, &["search", "show", "8"]);
    assert!(
        wrong.contains("search 1 has no attempt 8: the newest is 7"),
        "{wrong}"
    );
    let none = repo.error(2, &["search", "diff", "5"]);
    assert!(
        none.contains("attempt 5 has no change to show: declined"),
        "{none}"
    );
}

#[test]
fn a_program_is_told_each_step_of_a_population_and_a_page_is_written() {
    let (repo, told) = searched(&[
        "--strategy=population",
        "-k2",
        "--stale=off",
        "--yes",
        "--json",
    ]);
    let events: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    assert_eq!(named("attempt-ended"), 8);
    assert!(named("generation-ended") >= 3, "{told}");
    assert_eq!((named("search-started"), named("search-ended")), (1, 1));
    let end = events.last().unwrap();
    assert_eq!(
        (&end["exit_code"], &end["overview"]["search"]),
        (&0.into(), &1.into())
    );
    let board = repo.answer(&["search", "board"]);
    assert!(board.contains("\ngeneration  best  "), "{board}");
    repo.answer(&["search", "report", "--out", "page.html"]);
    let page = repo.read("page.html");
    for words in [
        "<h2 id=\"tree\">",
        "<svg",
        "Generation",
        "+5",
        "One number decides",
        // The agent said nothing of it.
        "<dt>Cost</dt><dd><span class=\"value\">unknown</span>",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("ghp_0123"), "{page}");
}

#[test]
fn one_attempt_is_shown_with_its_whole_brief_its_tasks_and_what_the_gate_printed() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "score.sh",
        "echo weighing; echo '{\"score\":'$(cat x)',\"tasks\":{\"latency\":12.5,\"memory\":'$(cat x)'}}' >$EVOLVE_RESULT\n",
    );
    repo.write(
        "gate.sh",
        "grep -q bad x || exit 0\nfor n in 1 2 3; do echo \"  test $n: bad\"; done\necho token=ghp_0123456789abcdefghijklmnopqrstuvwxyz\nexit 1\n",
    );
    repo.commit_all("second");
    repo.attempts(&["echo 2 >x", "echo bad >x", "echo much >x"]);
    repo.search(&["--gate=sh gate.sh", "--max-attempts=3"])
        .expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "gate failed", "invalid"]);
    let show = repo.answer(&["search", "show", "1"]);
    assert!(
        show.contains("\ntasks          latency 12.5, memory 2\n"),
        "{show}"
    );
    for line in std::fs::read_to_string(repo.outside().join("brief-1"))
        .unwrap()
        .lines()
    {
        assert!(show.contains(format!("    {line}").trim_end()), "{line}");
    }
    let show = repo.answer(&["search", "show", "2"]);
    assert!(
        show.contains(
            "\nend of the gate's log .git/evolve/search/1/2/first-gate-1.log\n      test 1: bad\n      test 2: bad\n"
        ),
        "{show}"
    );
    assert!(!show.contains("ghp_0123"), "{show}");
    let show = repo.answer(&["search", "show", "3"]);
    assert!(
        show.contains(
            "\nend of the measurement's log .git/evolve/search/1/3/first-1.log\n    weighing\n"
        ),
        "{show}"
    );
    let document = |id: &str| -> Value {
        serde_json::from_str(&repo.answer(&["search", "show", id, "--json"])).unwrap()
    };
    assert_eq!(document("1")["tasks"]["memory"], 2.0);
    assert!(document("1")["output_tail"].is_null());
    let tail = document("2")["output_tail"].to_string();
    assert!(tail.contains("test 3: bad"), "{tail}");
}

#[test]
fn an_earlier_search_is_looked_at_by_its_number() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    repo.attempts(&["echo 7 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let of_first = |words: &[&str]| repo.answer(&[&["search"], words, &["--search=1"]].concat());
    assert!(of_first(&["status"]).contains("best       attempt 1: 2"));
    assert!(of_first(&["board"]).starts_with("search 1 "));
    assert!(of_first(&["show", "1"]).contains("score          2, +1"));
    assert!(of_first(&["diff", "1"]).contains("\n+2\n"));
    assert!(of_first(&["export"]).contains("\"samples\":[2.0]"));
    let newest = repo.answer(&["search", "status"]);
    assert!(newest.contains("best       attempt 1: 7"), "{newest}");
    let none = repo.error(2, &["search", "board", "--search=3"]);
    assert!(
        none.contains("there is no search 3 here\nhint: there are: 1, 2"),
        "{none}"
    );
}

#[test]
fn without_a_search_each_view_says_so() {
    let repo = TestRepo::empty();
    for words in [
        &["board"][..],
        &["status"],
        &["show", "1"],
        &["diff", "1"],
        &["report"],
    ] {
        let error = repo.error(2, &[&["search"], words].concat());
        assert!(error.contains("there is no search here"), "{error}");
    }
}
