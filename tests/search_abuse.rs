//! What breaks other programs of this kind, one row each: attempts that crash, hang, say no number or leave processes. The
//! search goes on, counts each, and the rest of its attempts are measured as ever; with the same seed it is the same search.

use evolve::search::ending::Ending;
use evolve::search::standing::Standing;

use crate::harness::TestRepo;
use crate::harness::search::essence;

/// Both strategies, each for twelve attempts, of which every third has a fault.
const STRATEGIES: [&[&str]; 2] = [
    &["--strategy=climb"],
    &["--strategy=population", "-k=4", "-g=5", "--yes"],
];
const TWELVE: [&str; 2] = ["--stale=off", "--max-attempts=12"];
const VARY: &str = "[ $((EVOLVE_ATTEMPT % 3)) = 0 ] && fault=fault\necho $(($(cut -d' ' -f1 x) + EVOLVE_DICE % 9 - 3)) $EVOLVE_ATTEMPT $fault >x";

/// A repository whose fitness command does this with an attempt that has a fault.
fn with_fault(fault: &str) -> TestRepo {
    let repo = TestRepo::with_number("1 0");
    repo.write(
        "score.sh",
        &format!("if grep -q fault x; then\n{fault}\nfi\ncut -d' ' -f1 x\n"),
    );
    repo.commit_all("a fault");
    repo.attempts(&[VARY]);
    repo
}

/// Searches with this fault in both strategies; returns what stands in `$OUT/left`.
fn searches(what: &str, fault: &str, more: &[&str], expected: Option<Ending>) -> Vec<String> {
    let search = |strategy: &&[&str]| {
        let repo = with_fault(fault);
        let words = [*strategy, &TWELVE, more].concat();
        let run = repo.search(&words);
        assert_eq!(run.code, 0, "{what}: {}{}", run.stdout, run.stderr);
        let lineage = repo.lineage();
        let standing = Standing::of(&lineage);
        assert_eq!(standing.len(), 13, "{what}: {}", run.stdout);
        assert!(standing.best() > 0, "{what}: {:?}", repo.endings());
        for id in 1..=12 {
            let ending = standing.settled(id).ending;
            match expected.filter(|_| id % 3 == 0) {
                Some(expected) => assert_eq!(ending, expected, "{what}: attempt {id}"),
                None => assert!(ending.is_valid(), "{what}: attempt {id}: {ending:?}"),
            }
        }
        let left = std::fs::read_to_string(repo.out("left"));
        left.unwrap_or_default()
    };
    STRATEGIES.iter().map(search).collect()
}

#[test]
fn an_attempt_that_crashes_is_invalid_and_no_other_one_is() {
    for (what, fault) in [
        ("an exception", "python3 -c 'raise ValueError(1)' || exit"),
        (
            "an exit",
            "python3 -c 'import os; print(9); os._exit(1)' || exit",
        ),
        ("a segmentation fault", "kill -SEGV $$"),
        ("a kill of its group", "echo 9; kill -KILL 0"),
        (
            "a signal once it has its number",
            "echo 9; exec sh -c 'kill -SEGV $$'",
        ),
        ("an end by request", "echo 9; exec sh -c 'kill -TERM $$'"),
        ("a bus error in a child", "sh -c 'kill -BUS $$' || exit"),
    ] {
        searches(what, fault, &[], Some(Ending::Invalid));
    }
}

#[test]
fn an_attempt_that_says_no_number_is_invalid_and_no_other_one_is() {
    for fault in [
        "echo NaN; exit",
        "echo inf; exit",
        "echo 1,089; exit",
        "echo 9 >&2; exit",
        "exit",
        "echo '{\"score\": NaN}' >\"$EVOLVE_RESULT\"; echo 9; exit",
    ] {
        searches(fault, fault, &[], Some(Ending::Invalid));
    }
}

#[test]
fn an_attempt_that_never_ends_is_ended_and_no_other_one_is() {
    for (what, fault) in [
        ("an endless loop", "while :; do :; done"),
        ("an endless output", "yes"),
    ] {
        searches(what, fault, &["--timeout=2s"], Some(Ending::Invalid));
    }
}

#[test]
fn what_an_attempt_starts_and_leaves_is_ended_with_it() {
    let fault =
        "for i in 1 2 3; do (setsid sleep 3000 >/dev/null 2>&1 & echo $! >>$OUT/left); done";
    for left in searches("children", fault, &[], None) {
        assert_eq!(left.lines().count() % 3, 0);
        assert!(left.lines().count() >= 12);
        for pid in left.lines() {
            assert!(!crate::harness::is_alive(pid.parse().unwrap()), "{pid}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_search_three_times_and_another_one_another() {
    for strategy in STRATEGIES {
        let searched = |seed: &str| {
            let repo = with_fault("exit 1");
            let agent = format!("--agent={}", repo.agent());
            let words = ["search", "sh score.sh", "--files=x", seed, &agent];
            let words = [&words, strategy, &TWELVE].concat();
            repo.evolve(&words).expect(0);
            essence(&repo.lineage())
        };
        let first = searched("--seed=7");
        assert_eq!(searched("--seed=7"), first);
        assert_eq!(searched("--seed=7"), first);
        assert_ne!(searched("--seed=8"), first);
    }
}

#[test]
fn ten_attempts_in_a_row_that_come_to_nothing_measure_the_untouched_code_again() {
    let repo = TestRepo::with_number("1 0");
    repo.write(
        "score.sh",
        "[ ! -e $OUT/broken ] || exit 1\ncut -d' ' -f1 x\n",
    );
    repo.commit_all("depends on the world");
    repo.attempts(&["touch $OUT/broken; echo 2 $EVOLVE_ATTEMPT >x"]);
    let run = repo.search(&["--max-attempts=30"]).expect(11);
    assert_eq!(repo.endings(), vec!["invalid"; 10]);
    assert!(
        run.stdout.contains("the environment changed"),
        "{}",
        run.stdout
    );
}
