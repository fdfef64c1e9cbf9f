//! A winner on its way to the branch: what becomes of an `apply` that was killed, and what is said of one that is done.

use crate::harness::{TestRepo, pid_in};

/// A repository whose search is over; its winner has a 2 in `x`.
fn searched() -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo $(($(cat x) + 1)) >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    repo
}

#[test]
fn a_search_that_begins_completes_first_what_a_killed_apply_began() {
    let repo = searched();
    let to = repo.apply_cut_short();
    repo.git(&["update-ref", "refs/heads/main", &to]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert!(run.stdout.contains("completed: "), "{run:?}");
    assert!(!repo.applying().exists());
    assert_eq!(repo.status(), [""; 0]);
    assert_eq!(repo.read("x"), "2\n");
    assert_eq!(repo.endings(), ["accepted 3"]);
}

#[test]
fn a_killed_apply_whose_commit_git_has_collected_since_stops_nobody() {
    let commands: [&[&str]; 4] = [
        &["search", "apply"],
        &["search", "discard"],
        &["search", "echo 1", "--files=x", "--max-attempts=1"],
        &["--max-cycles=1"],
    ];
    for words in commands {
        let repo = searched();
        repo.write("GOALS.yaml", "version: 1\nmission: m\ngoals:\n  - {id: a, description: a, weight: 1, check: \"true\"}\n");
        repo.commit_all("goals");
        let to = repo.apply_cut_short();
        let told = std::fs::read_to_string(repo.applying()).unwrap();
        let gone = told.replace(&to, &"1234".repeat(10));
        std::fs::write(repo.applying(), gone).unwrap();
        let agent = format!("--agent={}", repo.agent());
        let takes_agent = words.len() != 2;
        let words: Vec<&str> = words
            .iter()
            .copied()
            .chain(takes_agent.then_some(&*agent))
            .collect();
        repo.evolve(&words).expect(0);
        assert!(!repo.applying().exists(), "{words:?}");
    }
}

#[test]
fn nothing_is_applied_while_a_cycle_that_was_cut_short_waits_to_be_settled() {
    let repo = searched().with_out();
    repo.write("GOALS.yaml", "version: 1\nmission: m\ngoals:\n  - {id: a, description: a, weight: 1, check: test -e a}\n");
    repo.commit_all("goals");
    repo.agent_does(&["echo $$ >\"$OUT/pid\"; sleep 300"]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    pid_in(&repo.out("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    let (head, text) = (repo.head(), repo.read("x"));
    let said = repo.error(3, &["search", "apply"]);
    assert!(said.contains("waits to be settled"), "{said}");
    assert_eq!((repo.head(), repo.read("x")), (head, text));
    repo.cycle("touch a").expect(0);
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "2\n");
}

#[test]
fn the_winner_of_an_earlier_search_is_named_when_another_begins_and_can_be_applied_still() {
    let repo = searched();
    repo.attempts(&["echo 0 >x"]);
    let waits = "the winner of search 1, attempt 1, is on no branch: `evolve search apply --search 1` lands it";
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert!(run.stdout.contains(waits), "{run:?}");
    let run = repo.evolve(&["search", "apply"]).expect(2);
    assert!(run.stderr.contains("there is nothing to apply"), "{run:?}");
    let run = repo.evolve(&["search", "apply", "--search=1"]).expect(0);
    assert!(run.stdout.contains("attempt 1 is on main"), "{run:?}");
    assert_eq!(repo.read("x"), "2\n");
    assert_eq!(repo.trailer("HEAD", "Evolve-Search"), "1");
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert!(!run.stdout.contains("on no branch"), "{run:?}");
    let of_first = |what| repo.answer(&["search", what, "--search=1"]);
    assert!(of_first("status").contains("applied    attempt 1 is on main\n"));
    assert!(of_first("board").contains("\napplied: attempt 1 is on main\n"));
    let status = repo.answer(&["search", "status", "--search=1", "--json"]);
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["applied"], serde_json::json!(["main"]));
    assert!(!repo.answer(&["search", "status"]).contains("applied"));
    let page = repo.answer(&["search", "report", "--search=1", "--out=-"]);
    for [name, value] in [
        ["Gates", "none"],
        ["Hold-out", "none"],
        ["Better", "higher"],
        ["Repeats", "3"],
        ["Applied to", "main"],
    ] {
        let row = format!("<dt>{name}</dt><dd>{value}</dd>");
        assert!(page.contains(&row), "{row}\n{page}");
    }
    let run = repo.evolve(&["search", "apply", "--search=9"]).expect(2);
    assert!(run.stderr.contains("there is no search 9 here"), "{run:?}");
}
