//! A search that begins, or does not: what a start that cannot go on says, and that it leaves nothing.

use std::fs;

use crate::harness::{TestRepo, finish, signal};
use crate::terminal::Terminal;

/// The numbers of the searches that there are folders or refs of.
fn numbers(repo: &TestRepo) -> Vec<String> {
    let folders = fs::read_dir(repo.private().join("search"));
    let folders = folders.into_iter().flatten().flatten();
    let mut all: Vec<String> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| name.parse::<u64>().is_ok())
        .collect();
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/evolve/search"]);
    all.extend(
        refs.lines()
            .filter_map(|name| name.split('/').nth(3).map(str::to_owned)),
    );
    all.sort();
    all.dedup();
    all
}

#[test]
fn a_start_that_begins_nothing_leaves_nothing() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let none = ["search", "sh score.sh", "--files=x", "--agent=nobody-here"];
    repo.evolve(&none).expect(4);
    assert_eq!(numbers(&repo), Vec::<String>::new());
    let said = repo.error(2, &["search", "discard"]);
    assert!(said.contains("there is no search to discard"), "{said}");

    repo.search(&["--max-attempts=1"]).expect(0);
    repo.evolve(&none).expect(4);
    repo.write("GOALS.yaml", "version: 1\ngoals: {}\n");
    repo.commit_all("goals");
    repo.search(&["--goals-as-gates"]).expect(2);
    assert_eq!(numbers(&repo), ["1"]);
    // As an earlier version left one.
    fs::create_dir_all(repo.private().join("search/2")).unwrap();
    let discarded = repo.answer(&["search", "discard"]);
    let winner = "its winner, attempt 1, is on no branch: `git branch NAME [commit]` keeps it, until git clears away what nothing refers to\n";
    assert_eq!(discarded, format!("search 1 is discarded\n{winner}"));
    repo.search(&["--max-attempts=1"]).expect(0);
    let status = repo.answer(&["search", "status"]);
    assert!(status.contains("search     1 "), "{status}");
}

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
fn what_is_empty_is_named_before_anything_begins() {
    let repo = TestRepo::with_number("1");
    for words in [
        &["search", "sh score.sh", "--files", ""][..],
        &["search", "sh score.sh", "--files=x", "--gate", " "],
        &["search", "sh score.sh", "--files=x", "--lens", ""],
        &["search", "sh score.sh", "--files=x", "--holdout", ""],
        &["search", "sh score.sh", "--files=x", "--prepare", ""],
        &["search", "", "--files=x"],
        &["search", "init", "--files", ""],
        &["search", "init", "--fitness", ""],
    ] {
        let said = repo.error(2, words);
        assert!(said.contains("it is empty"), "{words:?}: {said}");
    }
    for line in ["files: ['']", "gates: ['']", "lenses: [' ']", "holdout: ''"] {
        repo.write("SEARCH.yaml", &format!("fitness: sh score.sh\n{line}\n"));
        repo.commit_all("search");
        let said = repo.error(2, &["search"]);
        assert!(said.contains("empty"), "{line}: {said}");
    }
    assert_eq!(numbers(&repo), Vec::<String>::new());
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
fn a_mistyped_command_is_no_fitness_command() {
    let repo = TestRepo::with_number("1");
    repo.write("SEARCH.yaml", "fitness: sh score.sh\nfiles: [x]\n");
    repo.commit_all("search");
    for (typed, meant) in [("statsu", "status"), ("bord", "board"), ("aply", "apply")] {
        let said = repo.error(2, &["search", typed]);
        let words = format!("did you mean `evolve search {meant}`?");
        assert!(said.contains(&words), "{said}");
    }
    // What is there, or reads like a command, is one.
    repo.write("statsu", "#!/bin/sh\ncat x\n");
    repo.commit_all("a script");
    repo.evolve(&["search", "statsu", "--agent=nobody-here"])
        .expect(4);
    repo.evolve(&["search", "./bord", "--agent=nobody-here"])
        .expect(4);
}

#[test]
fn a_fitness_command_that_an_option_took_is_named() {
    let repo = TestRepo::with_number("1");
    for (words, option) in [
        (&["--files", "x", "sh score.sh"][..], "--files"),
        (&["--files=x", "--gate", "true", "sh score.sh"], "--gate"),
        (&["--files=x", "--lens", "caching", "sh score.sh"], "--lens"),
    ] {
        let said = repo.error(2, &[&["search"], words].concat());
        let taken = format!(
            "`sh score.sh` was taken as one of {option}: put the fitness command first, or after `--`"
        );
        assert!(said.contains("there is no fitness command"), "{said}");
        assert!(said.contains(&taken), "{said}");
    }
    let said = repo.error(2, &["search", "--files", "x"]);
    assert!(!said.contains("was taken"), "{said}");
    repo.evolve(&[
        "search",
        "--agent=nobody-here",
        "--files",
        "x",
        "--",
        "cat x",
    ])
    .expect(4);
}

#[test]
fn a_copy_that_cannot_be_made_ready_names_no_log_that_is_gone() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let prepare = "--prepare=echo first; echo out of memory; exit 3";
    let said = repo.search(&[prepare]).expect(2).stderr;
    assert!(said.contains("out of memory"), "{said}");
    assert!(said.contains("first"), "{said}");
    assert!(!said.contains(".log"), "{said}");
    assert_eq!(numbers(&repo), Vec::<String>::new());
}

#[test]
fn why_the_untouched_code_has_no_score_decides_what_is_advised() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let number = "hint: the last line of stdout has to be the number alone, as in 3.5 or 1e-6";
    let copy = "a copy has only what is committed";
    let checkout = "try the command in the checkout";
    for (script, more, hint) in [
        ("echo hello", "--repeats=3", number),
        ("echo nan", "--repeats=3", number),
        ("echo 1,089", "--repeats=3", number),
        ("true", "--repeats=3", number),
        ("sleep 60", "--timeout=1s", "--timeout"),
        ("no-such-program", "--repeats=3", checkout),
        ("exit 3", "--repeats=3", checkout),
        ("cat x", "--gate=false", checkout),
    ] {
        repo.write("score.sh", &format!("{script}\n"));
        repo.commit_all(script);
        let said = repo.search(&[more]).expect(2).stderr;
        assert!(said.contains(hint), "{script}: {said}");
        assert!(!said.contains(copy), "{script}: {said}");
    }
    let said = repo.search(&["--gate=echo >built", "--gate=cat built"]);
    let said = said.expect(2).stderr;
    assert!(said.contains("each gate begins in a clean copy"), "{said}");
    repo.write("new", "untracked\n");
    let said = repo.search(&["--gate=false"]).expect(2).stderr;
    assert!(said.contains(copy), "{said}");
    assert!(!said.contains(checkout), "{said}");
}

#[test]
fn the_agent_of_the_goals_file_is_that_of_a_search() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let goals = |agent: &str| {
        format!(
            "version: 1\nevolve:\n  agent: {agent}\ngoals:\n  - {{id: a, description: a, check: 'true', weight: 5}}\n"
        )
    };
    repo.write("GOALS.yaml", &goals(&repo.agent()));
    repo.commit_all("goals");
    let begin = ["search", "sh score.sh", "--files=x", "--max-attempts=1"];
    repo.evolve(&begin).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    // What the search itself is told goes before it.
    repo.write("SEARCH.yaml", "fitness: sh score.sh\nagent: nobody-there\n");
    repo.commit_all("search");
    let said = repo.evolve(&begin).expect(4).stderr;
    assert!(said.contains("nobody-there"), "{said}");
    repo.git(&["rm", "-q", "SEARCH.yaml"]);
    repo.write("GOALS.yaml", "version: 1\ngoals: {}\n");
    repo.commit_all("broken goals");
    repo.search(&["--max-attempts=1"]).expect(0);
    let said = repo.evolve(&begin).expect(4).stderr;
    assert!(said.contains("GOALS.yaml cannot be read"), "{said}");
    assert!(said.contains("no attempt could be made"), "{said}");
    assert!(said.contains("`evolve search --agent"), "{said}");
    assert!(said.contains("`agent:` in SEARCH.yaml"), "{said}");
    assert!(!said.contains("fixed"), "{said}");
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
fn help_shows_a_file_that_can_be_read() {
    let repo = TestRepo::empty();
    let page = repo.answer(&["help", "searching"]);
    let file: String = page
        .lines()
        .skip_while(|line| !line.starts_with("SEARCH.yaml"))
        .skip(1)
        .take_while(|line| !line.starts_with('`'))
        .map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line)))
        .collect();
    let read = evolve::model::search::file::read_search(file.as_bytes());
    let read = read.unwrap_or_else(|why| panic!("{why:?}\n{file}"));
    assert_eq!(read.seed, Some(7));
    let resume = repo.answer(&["search", "resume", "--help"]);
    assert!(!resume.contains("first known one"), "{resume}");
    assert_eq!(
        resume.matches("[default: the search's own").count(),
        4,
        "{resume}"
    );
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
