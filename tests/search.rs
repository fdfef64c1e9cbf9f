//! Searches from end to end: what attempts come to, what of a hostile agent's doings is left, how a search stops and goes on.

use std::fs;

use evolve::model::search::lineage::Status;
use evolve::search::standing::Standing;

use crate::harness::{TestRepo, assert_gone};

/// Changes both numbers of a file by what the dice say.
const VARY: &str = r#"awk -v dice="$EVOLVE_DICE" '
  function part(n) { return int(dice / n) % 1000 / 1000 - 0.5 }
  { printf "%.6f %.6f\n", $1 + 4 * part(7) * part(11), $2 + 4 * part(13) * part(17) }' x >new && cat new >x && rm new
echo "both numbers a little" >"$EVOLVE_SUMMARY""#;

#[test]
fn a_real_number_becomes_better_and_every_new_best_is_a_commit_from_its_parent() {
    for (strategy, most) in [("climb", "40"), ("population", "12")] {
        let repo = TestRepo::with_number("5 -3");
        repo.write(
            "score.sh",
            "awk '{ print ($1 - 1) ^ 2 + ($2 - 2) ^ 2 }' x\n",
        );
        repo.commit_all("a hill");
        repo.attempts(&[VARY]);
        let of = format!("--strategy={strategy}");
        let end = format!("--max-attempts={most}");
        let run = repo
            .search(&["--direction=min", &of, &end, "--yes"])
            .expect(0);
        let lineage = repo.lineage();
        let standing = Standing::of(&lineage);
        let best = standing.best();
        assert!(best > 0, "{}", run.stdout);
        assert_eq!(standing.score(0), Some(41.0));
        assert!(standing.score(best) < Some(41.0));
        for id in 1..=lineage.newest() {
            let name = format!("refs/evolve/search/1/{id}");
            let parent = match lineage.proposal(id).unwrap().parents[0] {
                0 => repo.head(),
                parent => repo.git(&["rev-parse", &format!("refs/evolve/search/1/{parent}")]),
            };
            assert_eq!(repo.git(&["rev-parse", &format!("{name}^")]), parent);
            assert_eq!(repo.git(&["diff", "--name-only", &parent, &name]), "x");
            let subject = repo.git(&["log", "-1", "--format=%s", &name]);
            assert_eq!(subject, format!("attempt {id}: both numbers a little"));
        }
    }
}

#[test]
fn every_ending_is_told_apart() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[
        "echo 3 >x",
        "echo no way >\"$EVOLVE_GIVE_UP\"",
        "exit 4",
        "true",
        "echo 2 >x",
        "echo 2 >x",
        "echo 3.0 >x",
        "echo bad >x",
        "echo words >x",
        "echo NaN >x",
        "echo inf >x",
        "echo 1,089 >x",
        ": >x",
        "rm x",
        "echo 1 >x",
        "echo 4 >x; exit 1",
    ]);
    let more = ["--gate=sh gate.sh", "--stale=off", "--max-attempts=16"];
    repo.search(&more).expect(0);
    let expected = [
        "accepted 3",
        "declined",
        "agent failed",
        "unchanged 3",
        "worse 2",
        "duplicate 2",
        "equal 3",
        "gate failed",
        "invalid",
        "invalid",
        "invalid",
        "invalid",
        "invalid",
        "invalid",
        "duplicate 1",
        "accepted 4",
    ];
    assert_eq!(repo.endings(), expected);
    let called = repo.said("called");
    assert_eq!(
        called.lines().filter(|id| *id == "3").count(),
        2,
        "{called}"
    );
    let lineage = repo.lineage();
    let reason = |id| lineage.attempt(id).edited().unwrap().reason.clone();
    assert_eq!(reason(2).as_deref(), Some("no way"));
    assert_eq!(lineage.attempt(3).edited().unwrap().status, Status::Failed);
    // The newest of equals is what is varied; a content that was there before is not.
    let parents: Vec<u64> = (1..=16)
        .map(|id| lineage.proposal(id).unwrap().parents[0])
        .collect();
    assert_eq!(parents, [0, 1, 1, 1, 1, 1, 1, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
}

#[test]
fn an_agent_that_failed_tries_once_more_in_a_clean_copy() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[
        "[ -e $OUT/once ] || { touch $OUT/once; touch left; exit 1; }; ls >$OUT/seen; echo 2 >x",
    ]);
    repo.search(&["--max-attempts=1"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    assert_eq!(repo.said("seen"), "gate.sh\nscore.sh\nx\n");
    assert_eq!(repo.lineage().attempt(1).edits.len(), 2);
}

#[test]
fn a_change_of_the_same_length_within_the_second_of_the_checkout_is_seen() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo $((EVOLVE_ATTEMPT + 1)) >x; sleep 1.1"]);
    repo.search(&["--max-attempts=4"]).expect(0);
    let expected = ["accepted 2", "accepted 3", "accepted 4", "accepted 5"];
    assert_eq!(repo.endings(), expected);
}

#[test]
fn what_is_changed_outside_the_editable_files_is_in_no_attempt_and_listed() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x; echo mine >y; echo echo 9 >score.sh; mkdir d; touch d/z; rm gate.sh; touch a.ignored"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    assert_eq!(
        repo.git(&["diff", "--name-only", "HEAD", "refs/evolve/search/1/1"]),
        "x"
    );
    let lineage = repo.lineage();
    let mut left_out = lineage.attempt(1).edited().unwrap().left_out.clone();
    left_out.sort();
    assert_eq!(left_out, ["d/z", "gate.sh", "score.sh", "y"]);
}

#[test]
fn what_fitness_and_gates_run_stays_whatever_the_files_say() {
    let repo = TestRepo::with_number("1");
    repo.write("lib/helper.sh", "cat x\n");
    repo.write("score.sh", "sh lib/helper.sh\n");
    repo.write("hold.sh", "cat x\n");
    repo.commit_all("a helper");
    repo.attempts(&["echo 2 >x; for f in score.sh gate.sh hold.sh; do echo echo 9 >$f; done"]);
    let words = [
        "--files=**",
        "--gate=sh gate.sh",
        "--holdout=sh hold.sh",
        "--max-attempts=1",
    ];
    repo.search(&words).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    assert_eq!(
        repo.git(&["diff", "--name-only", "HEAD", "refs/evolve/search/1/1"]),
        "x"
    );
}

#[test]
fn a_file_that_the_fitness_command_runs_is_editable_only_by_its_name_and_that_is_said() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo echo 9 >score.sh"]);
    let run = repo
        .search(&["--files=score.sh", "--max-attempts=1"])
        .expect(0);
    assert!(
        run.stderr.contains("can change the yardstick"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.endings(), ["accepted 9"]);
}

/// A fitness command whose n-th run adds the n-th of these to what stands in `x`, or hold-out.
fn noisy(repo: &TestRepo, steps: &[&str]) -> String {
    let steps: Vec<String> = steps
        .iter()
        .map(|step| format!("awk '{{ print $1 + {step} }}' \"$HERE/x\""))
        .collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    format!("HERE=$PWD {}", repo.check_in_turn("noisy", &steps))
}

#[test]
fn what_looks_better_under_noise_is_confirmed_or_not() {
    let repo = TestRepo::with_number("10");
    // Three of the baseline, then for each attempt one, and three of both in turn; at the end three of both again.
    let steps = [
        "0", ".1", "-.1", ".2", ".1", "0", ".2", ".1", "0", "0", ".1", "0", ".2", "-.1", ".1", "0",
        "0", "0", "0", "0", "0", "0", "0",
    ];
    let command = noisy(&repo, &steps);
    repo.attempts(&["echo 12 >x", "echo 12.05 >x", "echo 11 >x"]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        &command,
        "--files=x",
        &agent,
        "--seed=1",
        "--max-attempts=3",
    ];
    let run = repo.evolve(&words).expect(0);
    let endings = repo.endings();
    assert_eq!(endings[0], "accepted 12.1", "{}", run.stderr);
    assert!(endings[1].starts_with("unconfirmed"), "{endings:?}");
    assert!(endings[2].starts_with("worse"), "{endings:?}");
    let said = run.stdout;
    assert!(
        said.contains("\nbaseline · score 10: noisy, 9.9 to 10.1\n"),
        "{said}"
    );
    let status = repo.answer(&["search", "status"]);
    assert!(
        status.contains("noisy, 9.9 to 10.1\n") && status.contains("\nbaseline   10"),
        "{status}"
    );
    assert!(
        said.contains("winner     attempt 1: ") && said.contains("measured once more"),
        "{said}"
    );
}

#[test]
fn a_new_best_that_the_hold_out_speaks_against_is_refuted() {
    let repo = TestRepo::with_number("1 5");
    repo.write("score.sh", "cut -d' ' -f1 x\n");
    repo.write("hold.sh", "cut -d' ' -f2 x\n");
    repo.commit_all("two numbers");
    repo.attempts(&["echo 2 4 >x", "echo 3 5 >x", "echo 4 no >x", "echo 2 9 >x"]);
    repo.search(&["--holdout=sh hold.sh", "--max-attempts=4"])
        .expect(0);
    assert_eq!(
        repo.endings(),
        ["refuted 2", "accepted 3", "refuted 4", "worse 2"]
    );
    let lineage = repo.lineage();
    assert_eq!(Standing::of(&lineage).best(), 2);
    assert_eq!(lineage.proposal(2).unwrap().parents, [0]);
    for id in 1..=4 {
        assert!(!repo.said(&format!("brief-{id}")).contains("hold.sh"));
    }
}

#[test]
fn a_hold_out_that_an_option_gives_is_in_nothing_that_an_agent_gets() {
    let repo = TestRepo::with_number("1");
    let got = repo.out("got").display().to_string();
    repo.attempts(&[&format!(
        "(env; cat \"$EVOLVE_CALL\"; find . -type f -exec cat {{}} +) >'{got}'; echo 4 >x"
    )]);
    repo.search(&["--holdout=cut -b1 x", "--max-attempts=1"])
        .expect(0);
    assert_eq!(repo.endings(), ["accepted 4"]);
    let got = String::from_utf8_lossy(&fs::read(got).unwrap()).into_owned();
    assert!(
        got.contains("EVOLVE_CALL=") && got.contains("\"parents\""),
        "{got}"
    );
    for text in [got, repo.said("brief-1")] {
        assert!(!text.contains("cut -b1"), "{text}");
    }
}

#[test]
fn a_search_ends_with_the_score_or_the_number_of_attempts_that_is_asked_for() {
    let repo = TestRepo::with_number("1");
    let next = "echo $(($(cat x) + 1)) >x";
    repo.attempts(&[next]);
    let run = repo.search(&["--until=4"]).expect(0);
    assert!(run.stdout.contains("reached"), "{}", run.stdout);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3", "accepted 4"]);
    let run = repo.search(&["--max-attempts=2"]).expect(0);
    assert!(run.stdout.contains("all attempts"), "{}", run.stdout);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn two_agents_work_at_once_and_the_lineage_is_as_if_nobody_had_been_late() {
    let slow_first = "case $EVOLVE_ATTEMPT in *[13579]) touch $OUT/began-$EVOLVE_ATTEMPT; until [ -e $OUT/began-$((EVOLVE_ATTEMPT + 1)) ]; do sleep 0.02; done;; *) touch $OUT/began-$EVOLVE_ATTEMPT;; esac\necho $(($(cat x) * 10 + EVOLVE_ATTEMPT)) >x";
    let plain = "echo $(($(cat x) * 10 + EVOLVE_ATTEMPT)) >x";
    let lineages = [slow_first, plain].map(|script| {
        let repo = TestRepo::with_number("1");
        repo.attempts(&[script]);
        repo.search(&["--agents=2", "--benchmarks=2", "--max-attempts=6"])
            .expect(0);
        let lineage = repo.lineage();
        let parents: Vec<u64> = (1..=6)
            .map(|id| lineage.proposal(id).unwrap().parents[0])
            .collect();
        assert_eq!(parents, [0, 0, 1, 2, 3, 4]);
        crate::harness::search::essence(&lineage)
    });
    assert_eq!(lineages[0], lineages[1]);
}

#[test]
fn what_an_agent_or_a_fitness_command_leaves_running_is_ended() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "score.sh",
        "setsid sleep 3000 >/dev/null 2>&1 & echo $! >$OUT/fitness\ncat x\n",
    );
    repo.commit_all("leaves something");
    repo.attempts(&["(setsid sleep 3000 >/dev/null 2>&1 & echo $! >$OUT/agent-left); echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    assert_gone(&[repo.out("fitness"), repo.out("agent-left")]);
    assert_eq!(repo.endings(), ["accepted 2"]);
}
