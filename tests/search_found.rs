//! What a fresh look at searches found, each as it was found.

use std::fs;

use crate::harness::TestRepo;

/// How many attempts there are.
fn newest(repo: &TestRepo) -> u64 {
    repo.lineage().newest()
}

#[test]
fn a_result_that_is_not_written_for_the_untouched_code_is_no_score() {
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", ". ./x; echo $n\n");
    repo.write("x", "n=1\n");
    repo.commit_all("second");
    repo.attempts(&[
        "printf 'n=1\\necho \"{\\\\\"score\\\\\": 999}\" >$EVOLVE_RESULT\\n' >x",
        "echo n=3 >x",
    ]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["invalid", "accepted 3"]);
}

#[test]
fn a_folder_may_come_where_a_file_was_and_a_file_where_a_folder_was() {
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", "[ ! -f x/y ] || exec cat x/y; cat x\n");
    repo.commit_all("second");
    repo.attempts(&["rm x; mkdir x; echo 3 >x/y", "rm -r x; echo 4 >x"]);
    repo.search(&["--files=x/**", "--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 3", "accepted 4"]);
    assert_eq!(repo.of_attempt(2, "x"), "4");
}

#[test]
fn pipes_in_a_copy_keep_nobody_waiting() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[
        "rm .gitignore; mkfifo .gitignore; echo 2 >x",
        "mkdir -p deep; mkfifo deep/.gitattributes; echo 3 >x",
    ]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn any_file_name_can_be_in_an_attempt() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[
        "echo a >'\"quoted'; echo b >\"$(printf 'end\\r')\"; echo c >\"$(printf 'two\\nlines')\"; echo 2 >x",
    ]);
    repo.search(&["--files=**", "--max-attempts=1"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    let names = repo.git(&["ls-tree", "-z", "--name-only", "refs/evolve/search/1/1"]);
    for name in ["\"quoted", "end\r", "two\nlines"] {
        assert!(names.split('\0').any(|found| found == name), "{names:?}");
    }
}

#[test]
fn what_the_holdout_refuted_is_not_varied_when_it_comes_again() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "holdout.sh",
        "if grep -q 9 x; then echo 0; else echo 1; fi\n",
    );
    repo.commit_all("second");
    repo.attempts(&["echo 9 >x", "echo 5 >x", "echo 9 >x", "echo 6 >x"]);
    repo.search(&["--holdout=sh holdout.sh", "--max-attempts=4", "--stale=off"])
        .expect(0);
    assert_eq!(
        repo.endings(),
        ["refuted 9", "accepted 5", "duplicate 9", "accepted 6"]
    );
    let lineage = repo.lineage();
    assert_eq!(lineage.proposal(4).unwrap().parents, [2]);
}

#[test]
fn a_stop_leaves_the_rest_of_a_generation_alone() {
    let repo = TestRepo::with_number("1");
    let stop = repo.private().join("search/1/stop");
    let script = format!(
        "touch '{}'; echo $((1 + EVOLVE_ATTEMPT)) >x",
        stop.display()
    );
    repo.attempts(&[&script]);
    let more = ["--strategy=population", "-k=12", "--yes"];
    repo.search(&more).expect(0);
    assert_eq!(newest(&repo), 1);
    repo.attempts(&["echo $((1 + EVOLVE_ATTEMPT)) >x"]);
    repo.evolve(&["search", "resume", "--yes"]).expect(0);
    assert!(newest(&repo) > 12);
}

#[test]
fn a_search_that_measured_nothing_is_not_in_the_way_of_the_next() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--prepare=exit 3", "--max-attempts=1"])
        .expect(2);
    repo.search(&["--max-attempts=1"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
}

#[test]
fn a_search_goes_on_when_the_environment_is_repaired() {
    let repo = TestRepo::with_number("1");
    let tool = repo.out("tool");
    fs::write(&tool, "").unwrap();
    let score = format!("[ -e '{}' ] || exit 1\ncat x\n", tool.display());
    repo.write("score.sh", &score);
    repo.commit_all("second");
    repo.attempts(&["rm -f $OUT/tool; echo $((1 + EVOLVE_ATTEMPT)) >x"]);
    let more = ["--stale=off", "--max-attempts=12"];
    repo.search(&more).expect(11);
    let broken = newest(&repo);
    assert_eq!(broken, 10);
    repo.resume().expect(11);
    repo.attempts(&["echo $((1 + EVOLVE_ATTEMPT)) >x"]);
    fs::write(&tool, "").unwrap();
    repo.resume().expect(0);
    assert_eq!(repo.endings()[10..], ["accepted 12", "accepted 13"]);
}

#[test]
fn only_the_branch_that_has_what_the_search_began_with_gets_an_attempt() {
    let repo = TestRepo::with_number("1");
    repo.write("secret", "not for others\n");
    repo.commit_all("a mistake");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repo.write("other", "");
    repo.commit_all("without it");
    let before = repo.git(&["rev-parse", "HEAD"]);
    let run = repo.evolve(&["search", "apply"]).expect(11);
    assert!(
        run.stderr.contains("its history would come along"),
        "{}",
        run.stderr
    );
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), before);
    assert!(!repo.path("secret").exists());
}

#[test]
fn searches_of_two_working_trees_leave_each_other_alone() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let second = repo.outside().join("second");
    let at = second.to_str().unwrap().to_owned();
    repo.git(&["worktree", "add", "-q", &at, "-b", "second"]);
    let mut words = vec!["-C".to_owned(), at.clone()];
    words.extend(repo.search_words(&["--max-attempts=1"]));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    repo.evolve(&words).expect(0);
    repo.evolve(&["-C", &at, "search", "discard"]).expect(0);
    let refs = repo.git(&["for-each-ref", "--format=%(refname)", "refs/evolve"]);
    let kept: Vec<&str> = refs.lines().collect();
    assert_eq!(kept, ["refs/evolve/search/1/0", "refs/evolve/search/1/1"]);
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "2\n");
}

#[test]
fn a_search_whose_lineage_is_damaged_can_be_given_up() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let file = repo.private().join("search/1/lineage.jsonl");
    let damaged = fs::read_to_string(&file).unwrap() + "garbage\n";
    fs::write(&file, damaged).unwrap();
    fs::remove_file(repo.kept_outside("search-1").unwrap()).unwrap();
    let run = repo.evolve(&["search", "board"]).expect(2);
    assert!(
        run.stderr.contains("evolve search discard"),
        "{}",
        run.stderr
    );
    repo.evolve(&["search", "discard"]).expect(0);
    assert_eq!(repo.git(&["for-each-ref", "refs/evolve"]), "");
}

#[test]
fn an_apply_that_was_killed_while_it_wrote_leaves_no_lock_in_the_way() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let to = repo.git(&["rev-parse", "refs/evolve/search/1/1"]);
    let landing =
        serde_json::json!({"branch": "refs/heads/main", "from": repo.head(), "to": to.trim()});
    let begun = repo.applying();
    let locks = [".git/index.lock", ".git/refs/heads/main.lock"].map(|lock| repo.path(lock));
    for lock in &locks {
        fs::write(lock, "").unwrap();
    }
    fs::write(&begun, landing.to_string()).unwrap();
    // One that was there before is somebody else's.
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(600);
    let set = |time| {
        fs::File::open(&locks[1])
            .unwrap()
            .set_modified(time)
            .unwrap()
    };
    set(long_ago);
    let said = repo.evolve(&["search", "apply"]).expect(3).stderr;
    assert!(said.contains("main.lock"), "{said}");
    assert!(locks[1].exists());
    set(std::time::SystemTime::now());
    let run = repo.evolve(&["search", "apply"]).expect(0);
    let said = format!("{}{}", run.stdout, run.stderr);
    assert!(
        said.contains("removed a lock that was left behind"),
        "{said}"
    );
    assert_eq!(repo.read("x"), "2\n");
    assert!(!begun.exists() && !locks.iter().any(|lock| lock.exists()));
}

#[test]
fn what_showed_no_improvement_in_the_end_is_measured_again_before_it_is_applied() {
    let repo = TestRepo::with_number("1");
    // The fifth time and later nothing is better than anything.
    repo.write(
        "score.sh",
        "echo >>$OUT/count; [ $(wc -l <$OUT/count) -lt 5 ] || exec echo 1\ncat x\n",
    );
    repo.commit_all("a score that lies at first");
    repo.attempts(&["echo 2 >x"]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert!(run.stdout.contains("no improvement shown"), "{run:?}");
    assert!(
        run.stdout.contains("lands it only where it is better"),
        "{run:?}"
    );
    for view in ["status", "board"] {
        let said = repo.evolve(&["search", view]).expect(0).stdout;
        assert!(said.contains("no improvement shown"), "{view}: {said}");
    }
    let before = repo.head();
    let said = repo.evolve(&["search", "apply"]).expect(11).stderr;
    assert!(said.contains("no longer better: 1 against 1"), "{said}");
    assert_eq!(repo.head(), before);
}

#[test]
fn a_number_that_was_taken_for_sure_and_is_not_is_told_and_committed_as_measured_last() {
    let repo = TestRepo::with_number("1");
    // The fifth time and later an attempt scores less.
    repo.write(
        "score.sh",
        "echo >>$OUT/count; [ $(cat x) = 1 ] || [ $(wc -l <$OUT/count) -lt 5 ] || exec echo 1.5\ncat x\n",
    );
    repo.commit_all("a score that turns noisy");
    repo.attempts(&["echo 2 >x"]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert!(run.stdout.contains("noisy after all"), "{run:?}");
    repo.evolve(&["search", "apply"]).expect(0);
    let message = repo.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains("attempt 1: 1 → 1.5"), "{message}");
    assert!(message.contains("Evolve-Score: 1.5"), "{message}");
}

#[test]
fn a_branch_is_made_for_an_attempt_only_by_a_name_that_git_takes() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    for name in ["HEAD", "-f", "@{-1}", "a..b", "main"] {
        let option = format!("--branch={name}");
        repo.evolve(&["search", "apply", &option]).expect(2);
    }
    repo.evolve(&["search", "apply", "--branch=better/one"])
        .expect(0);
    assert_eq!(repo.git(&["show", "better/one:x"]).trim(), "2");
    assert_eq!(repo.read("x"), "1\n");
}

#[test]
fn what_was_committed_after_a_killed_apply_is_not_undone_when_it_is_completed() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let from = repo.head();
    repo.evolve(&["search", "apply"]).expect(0);
    let landing = serde_json::json!({"branch": "refs/heads/main", "from": from, "to": repo.head()});
    repo.git(&["revert", "--no-edit", "-m1", "HEAD"]);
    let reverted = repo.head();
    let begun = repo.applying();
    fs::write(&begun, landing.to_string()).unwrap();
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "1\n");
    assert!(repo.status().is_empty(), "{:?}", repo.status());
    assert_eq!(repo.head(), reverted);
    assert!(!begun.exists());
}

#[test]
fn what_could_not_be_measured_in_the_end_is_measured_before_it_is_applied() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "score.sh",
        "echo >>$OUT/count; [ $(wc -l <$OUT/count) -lt 5 ] || exit 3\ncat x\n",
    );
    repo.commit_all("a score that breaks");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let before = repo.head();
    let said = repo.evolve(&["search", "apply"]).expect(11).stderr;
    assert!(said.contains("there is no score on the branch"), "{said}");
    assert_eq!(repo.head(), before);
}
