//! A search that begins, or does not: what a start that cannot go on says, and that it leaves nothing.

use crate::harness::{TestRepo, finish, signal};
use crate::terminal::Terminal;

#[test]
fn a_limit_below_what_is_used_is_no_answer() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo $(($(cat x) + 1)) >x"]);
    let mut terminal = Terminal::new(50, 160);
    let more = ["--strategy=population", "-k=2", "-g=3"];
    let words = repo.search_words(&more);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let child = terminal.start_typed(&repo, &words);
    let question = "what is to be otherwise";
    terminal.answer(1, "[s]top and keep", "a");
    terminal.answer(1, question, "max-attempts=2");
    let said = "2 attempts are made already; write more, or nothing, and then s to stop";
    terminal.answer(1, said, "k=3 max_attempts=1");
    terminal.answer(2, said, "generations=1");
    let said = "1 generation is done already; write more, or nothing, and then s to stop";
    terminal.answer(1, said, "max-attempts=3 generations=2");
    terminal.answer(2, "[s]top and keep", "c");
    assert_eq!(terminal.watch(child, |_| {}), 0);
    assert_eq!(repo.endings().len(), 3, "{}", terminal.all().join("\n"));
}

#[test]
fn the_end_of_what_is_typed_is_no_answer() {
    let repo = TestRepo::with_number("1");
    repo.write("a.py", "x = 1\n");
    repo.commit_all("more");
    repo.attempts(&["echo 'x = 2' >a.py"]);
    let mut terminal = Terminal::new(50, 160);
    let agent = format!("--agent={}", repo.agent());
    let child = terminal.start_typed(&repo, &["search", "sh score.sh", &agent]);
    terminal.answer(1, "Which files may attempts change? [a.py]", "\u{4}");
    assert_eq!(terminal.watch(child, |_| {}), 2);
    let text = terminal.all().join("\n");
    let said = "it is not said which files attempts may change";
    assert!(text.contains(said), "{text}");
    assert!(!repo.out("called").exists());
}

#[test]
fn the_status_of_the_repository_names_a_search() {
    let repo = TestRepo::with_number("1");
    let look = || repo.answer(&["status"]);
    assert!(!look().contains("search"), "{}", look());
    repo.attempts(&["touch $OUT/waits; sleep 60"]);
    let words = repo.search_words(&[]);
    let child = repo.spawn(&words.iter().map(String::as_str).collect::<Vec<_>>());
    repo.wait_for("waits");
    let (running, json) = (look(), repo.answer(&["status", "--json"]));
    let doctor = repo.evolve(&["doctor"]);
    let pid = child.id();
    signal(&child, "INT");
    finish(child).expect(130);
    assert!(
        running.contains("search 1 is at work, process"),
        "{running}"
    );
    assert!(running.contains("`evolve search status`"), "{running}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["search"]["number"], 1);
    assert_eq!(json["search"]["session"]["pid"], pid);
    let lock = "a search is at work here";
    assert!(doctor.stdout.contains(lock), "{doctor:?}");
    assert!(!doctor.stdout.contains("nobody is at work"), "{doctor:?}");
    let unfinished = look();
    assert!(
        unfinished.contains("search 1 is unfinished"),
        "{unfinished}"
    );
    repo.evolve(&["search", "discard"]).expect(0);
    assert!(!look().contains("search"), "{}", look());
}

#[test]
fn a_strategy_with_options_of_its_own_is_told_where_they_stand() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "SEARCH.yaml",
        "fitness: sh score.sh\nstrategy: {population: {k: 4}}\n",
    );
    let said = repo.error(2, &["search"]);
    let hint = "write strategy: population, and k and generations beside it";
    assert!(said.contains(hint), "{said}");
}

#[test]
fn a_benchmark_that_prints_a_time_is_proposed_to_be_small() {
    let repo = TestRepo::with_number("1");
    repo.write("bench.py", "print('took', 3, 'seconds')\nprint(3)\n");
    repo.write("tests/test_a.py", "import unittest\n");
    repo.commit_all("bench");
    repo.evolve(&["search", "init"]).expect(0);
    let page = repo.read("SEARCH.yaml");
    assert!(page.contains("\ndirection: min"), "{page}");
    assert!(page.contains("bench.py speaks of a time"), "{page}");
    assert!(
        page.contains("python3 -m unittest discover -s tests"),
        "{page}"
    );
    for key in [
        "k",
        "generations",
        "lenses",
        "until",
        "agent",
        "seed",
        "sandbox",
    ] {
        assert!(page.contains(&format!("\n# {key}: ")), "{key}: {page}");
    }
}
