//! What a search says to a person, and what it does with what a person says.

use std::fs;

use crate::harness::{Run, TestRepo, finish, signal};

/// What a run said on either stream.
fn said(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}

/// A repository whose search somebody stopped in its third attempt: the scores are 2, 3 and 4.
fn stopped() -> TestRepo {
    let repo = TestRepo::with_number("1");
    let stop = repo.private().join("search/1/stop");
    let third = format!("touch '{}'; echo 4 >x", stop.display());
    repo.attempts(&["echo 2 >x", "echo 3 >x", &third]);
    repo.search(&[]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3", "accepted 4"]);
    repo
}

/// A search that waits in its third attempt; the scores so far are 2 and 3.
fn waiting(repo: &TestRepo) -> std::process::Child {
    let waits = "touch $OUT/waits; until [ -e $OUT/go ]; do sleep 0.02; done; echo 4 >x";
    repo.attempts(&["echo 2 >x", "echo 3 >x", waits]);
    let words = repo.search_words(&["--max-attempts=3"]);
    let child = repo.spawn(&words.iter().map(String::as_str).collect::<Vec<_>>());
    repo.wait_for("waits");
    child
}

fn lineage_file(repo: &TestRepo) -> String {
    fs::read_to_string(repo.private().join("search/1/lineage.jsonl")).unwrap()
}

fn write_stop(repo: &TestRepo, words: &str) {
    repo.write(".agents/evolve/STOP", words);
}

fn remove_stop(repo: &TestRepo) {
    fs::remove_file(repo.path(".agents/evolve/STOP")).unwrap();
}

#[test]
fn a_search_that_is_over_takes_no_notes_and_prunes_nothing() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x", "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    for words in [&["prune", "2"][..], &["note", "try", "harder"]] {
        let said = repo.error(2, &[&["search"], words].concat());
        assert!(said.contains("search 1 is over"), "{said}");
        assert!(said.contains("`evolve search apply ID`"), "{said}");
    }
    let board = repo.answer(&["search", "board"]);
    assert!(!board.contains("pruned"), "{board}");
}

#[test]
fn what_is_pruned_is_at_once_neither_the_best_nor_applied() {
    let repo = stopped();
    let before = lineage_file(&repo);
    repo.answer(&["search", "prune", "3"]);
    let status = repo.answer(&["search", "status"]);
    assert!(status.contains("best       attempt 2: 3"), "{status}");
    let board = repo.answer(&["search", "board"]);
    assert!(board.contains("accepted, pruned"), "{board}");
    assert!(board.contains("accepted, best"), "{board}");
    let show = repo.answer(&["search", "show", "3"]);
    assert!(show.contains("accepted, pruned"), "{show}");
    let document = repo.answer(&["search", "show", "3", "--json"]);
    assert!(document.contains("\"pruned\": true"), "{document}");
    repo.answer(&["search", "report", "--out", "page.html"]);
    assert!(repo.read("page.html").contains("pruned"));
    fs::remove_file(repo.path("page.html")).unwrap();
    let said = repo.error(2, &["search", "apply", "3"]);
    assert!(said.contains("attempt 3 is pruned"), "{said}");
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "3\n");
    assert_eq!(lineage_file(&repo), before);
}

#[test]
fn what_was_made_from_a_pruned_attempt_is_pruned_as_well() {
    let repo = stopped();
    repo.answer(&["search", "prune", "2"]);
    let status = repo.answer(&["search", "status"]);
    assert!(status.contains("best       attempt 1: 2"), "{status}");
    let said = repo.error(2, &["search", "apply", "3"]);
    assert!(said.contains("attempt 3 is pruned"), "{said}");
}

#[test]
fn what_only_a_pruned_attempt_was_ahead_of_is_the_best_everywhere_and_nothing_is_bred_from_the_pruned()
 {
    let repo = TestRepo::with_number("1");
    let stop = repo.private().join("search/1/stop");
    let fifth = format!("touch '{}'; echo 8 >x", stop.display());
    repo.attempts(&["echo 9 >x", "echo 3 >x", "echo 5 >x", "echo 4 >x", &fifth]);
    repo.search(&["--strategy=population", "-k=4", "-g=2", "--yes"])
        .expect(0);
    repo.answer(&["search", "prune", "1"]);
    let status = repo.answer(&["search", "status"]);
    assert!(status.contains("best       attempt 3: 5"), "{status}");
    assert!(status.contains("crossover of 3 and 4"), "{status}");
    let board = repo.answer(&["search", "board"]);
    assert!(board.contains("accepted, best"), "{board}");
    assert!(!board.contains("maybe luck"), "{board}");
    assert!(!board.contains("not the best: attempt 1"), "{board}");
    repo.attempts(&["false", "false", "false", "false", "false", "echo 6 >x"]);
    let run = repo.evolve(&["search", "resume", "--yes"]).expect(0);
    assert!(
        run.stdout.contains("crossover of 3 and 4"),
        "{}",
        run.stdout
    );
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "6\n");
}

#[test]
fn what_is_pruned_while_an_attempt_is_under_way_is_not_told_as_the_best_once_that_ends() {
    let repo = TestRepo::with_number("1");
    let waits = "touch $OUT/waits; until [ -e $OUT/go ]; do sleep 0.02; done; echo 0 >x";
    repo.attempts(&["echo 2 >x", "echo 3 >x", waits]);
    let words = repo.search_words(&["--max-attempts=3", "--json"]);
    let child = repo.spawn(&words.iter().map(String::as_str).collect::<Vec<_>>());
    repo.wait_for("waits");
    repo.answer(&["search", "prune", "2"]);
    fs::write(repo.out("go"), "").unwrap();
    let told = finish(child).expect(0).stdout;
    let events = told.lines().map(|line| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event
    });
    let ended = events.filter(|event| event["event"] == "attempt-ended");
    let bests: Vec<_> = ended.map(|event| event["best"].clone()).collect();
    assert_eq!(bests, [0, 1, 2, 1]);
}

#[test]
fn what_is_pruned_while_an_attempt_is_under_way_is_not_the_best() {
    let repo = TestRepo::with_number("1");
    let child = waiting(&repo);
    repo.answer(&["search", "prune", "2"]);
    let running = repo.answer(&["search", "status"]);
    signal(&child, "INT");
    let ended = finish(child).expect(130);
    assert!(running.contains("best       attempt 1: 2"), "{running}");
    let status = repo.answer(&["search", "status"]);
    assert!(
        status.contains("best       attempt 1: 2"),
        "{status}{ended:?}"
    );
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "2\n");
}

#[test]
fn a_stop_file_ends_a_search_before_it_begins_and_is_named() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    write_stop(&repo, "not today");
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    let named = "STOP file .agents/evolve/STOP: not today";
    assert!(run.stdout.contains(named), "{run:?}");
    assert!(!said(&run).contains("baseline"), "{run:?}");
    assert!(!repo.private().join("search").exists());
    let run = repo.search(&["--max-attempts=1", "--json"]).expect(0);
    assert!(run.stdout.contains(named), "{run:?}");
    remove_stop(&repo);
    repo.search(&["--max-attempts=1"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
}

#[test]
fn a_stop_file_keeps_a_search_from_going_on() {
    let repo = stopped();
    let before = lineage_file(&repo);
    write_stop(&repo, "not today");
    let run = repo.resume().expect(0);
    let named = "STOP file .agents/evolve/STOP: not today";
    assert!(run.stdout.contains(named), "{run:?}");
    assert_eq!(lineage_file(&repo), before);
}

#[test]
fn a_search_that_a_stop_file_ends_names_it() {
    let repo = TestRepo::with_number("1");
    let stop = repo.path(".agents/evolve");
    let script = format!(
        "mkdir -p '{0}'; echo enough >$OUT/words; mv $OUT/words '{0}/STOP'; echo 2 >x",
        stop.display()
    );
    repo.attempts(&[&script]);
    let run = repo.search(&[]).expect(0);
    let named = "STOP file .agents/evolve/STOP: enough";
    assert!(run.stdout.contains(named), "{run:?}");
    assert_eq!(repo.endings(), ["accepted 2"]);
}

#[test]
fn a_last_measurement_that_fails_is_told() {
    let repo = TestRepo::with_number("1");
    repo.write(
        "score.sh",
        "echo >>$OUT/count; [ $(wc -l <$OUT/count) -lt 5 ] || exit 3\ncat x\n",
    );
    repo.commit_all("a score that there is four times");
    repo.attempts(&["echo 2 >x"]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    assert!(
        run.stdout.contains("could not be measured once more: ") && run.stdout.contains("exit 3"),
        "{run:?}"
    );
    repo.answer(&["search", "report", "--out", "page.html"]);
    let page = repo.read("page.html");
    assert!(page.contains("could not be measured once more"), "{page}");
}

#[test]
fn a_branch_that_git_cannot_make_is_refused_before_anything_is_measured() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    repo.git(&["branch", "ok/deep"]);
    for (name, why) in [
        ("main/x", "the branch main is there"),
        ("ok", "the branch ok/deep is there"),
        ("refs/heads/q", "name it without refs/heads/"),
    ] {
        let option = format!("--branch={name}");
        let said = repo.error(2, &["search", "apply", &option]);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_branch_is_made_from_the_commit_that_a_detached_head_is_on() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    repo.git(&["checkout", "-q", "--detach"]);
    let said = repo.error(3, &["search", "apply"]);
    assert!(said.contains("HEAD is detached"), "{said}");
    repo.evolve(&["search", "apply", "--branch=det"]).expect(0);
    assert_eq!(repo.git(&["show", "det:x"]).trim(), "2");
    assert_eq!(repo.read("x"), "1\n");
}

#[test]
fn what_is_in_the_way_of_an_apply_is_to_be_moved_away_or_committed() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x; echo new >new.txt"]);
    repo.search(&["--files=**", "--max-attempts=1"]).expect(0);
    repo.write("new.txt", "mine\n");
    let said = repo.error(3, &["search", "apply"]);
    assert!(said.contains("in the way: new.txt"), "{said}");
    assert!(said.contains("move it away or commit it"), "{said}");
    assert_eq!(repo.read("new.txt"), "mine\n");
}

#[test]
fn whoever_finds_a_search_running_is_told_how_to_look_at_it_and_to_end_it() {
    let repo = TestRepo::with_number("1");
    let child = waiting(&repo);
    let runs = [repo.search(&[]), repo.evolve(&["search", "discard"])];
    signal(&child, "INT");
    finish(child).expect(130);
    for run in runs {
        let said = run.expect(5).stderr;
        assert!(said.contains("`evolve search status`"), "{said}");
        assert!(said.contains("`evolve search stop`"), "{said}");
        assert!(!said.contains("`evolve stop`"), "{said}");
    }
}

#[test]
fn an_apply_says_which_gates_ran_again_and_what_was_measured() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let more = ["--gate=sh gate.sh", "--max-attempts=1"];
    repo.search(&more).expect(0);
    repo.git(&["checkout", "-q", "-b", "elsewhere"]);
    let said = repo.evolve(&["search", "apply"]).expect(0).stdout;
    for line in [
        "\ngates: 1 passed again: sh gate.sh\n",
        "\nfitness: not measured again, the branch is where the search began: recorded 2, at its end 2 against 1\n",
    ] {
        assert!(said.contains(line), "{said}");
    }
    repo.git(&["checkout", "-q", "main"]);
    repo.write("other", "");
    repo.write("score.sh", "echo 1$(cat x)\n");
    repo.commit_all("second");
    let said = repo.evolve(&["search", "apply"]).expect(0).stdout;
    let line =
        "\nfitness: measured beside the branch as it was: 12 against 11; the search recorded 2\n";
    assert!(said.contains(line), "{said}");
}

#[test]
fn what_git_collected_of_a_search_is_named_with_what_can_be_done() {
    let repo = stopped();
    let before = lineage_file(&repo);
    let copy = repo.outside().join("copy");
    let copy = copy.to_str().unwrap();
    repo.git(&["clone", "-q", "--mirror", ".", copy]);
    for id in ["1", "2", "3"] {
        let name = format!("refs/evolve/search/1/{id}");
        repo.git(&["update-ref", "-d", &name]);
    }
    repo.git(&["reflog", "expire", "--expire=now", "--all"]);
    repo.git(&["gc", "-q", "--prune=now"]);
    for (words, attempts) in [
        (
            &["resume"][..],
            "those of attempt 1, attempt 2, attempt 3: ",
        ),
        (&["apply"], "those of attempt 3: "),
        (&["diff", "2", "1"], "those of attempt 1, attempt 2: "),
    ] {
        let said = repo.error(3, &[&["search"], words].concat());
        assert!(said.contains("are gone from the repository"), "{said}");
        assert!(said.contains(attempts), "{said}");
        assert!(said.contains("`evolve search discard`"), "{said}");
    }
    assert_eq!(lineage_file(&repo), before);
    let show = repo.answer(&["search", "show", "3"]);
    assert!(show.contains("which is gone from the repository"), "{show}");
    repo.answer(&["search", "report", "--out", "page.html"]);
    fs::remove_file(repo.path("page.html")).unwrap();
    // As the hint says.
    let all = "refs/evolve/search/1/*:refs/evolve/search/1/*";
    repo.git(&["fetch", "-q", copy, all]);
    repo.evolve(&["search", "resume", "--max-time=1ms"])
        .expect(0);
    repo.evolve(&["search", "apply", "2"]).expect(0);
    assert_eq!(repo.read("x"), "3\n");
}

#[test]
fn a_discard_completes_first_what_a_killed_apply_began() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let cut_short = "an apply was cut short; `evolve search apply` completes it";
    let status = repo.answer(&["search", "status"]);
    assert!(!status.contains(cut_short), "{status}");
    let to = repo.git(&["rev-parse", "refs/evolve/search/1/1"]);
    let landing =
        serde_json::json!({"branch": "refs/heads/main", "from": repo.head(), "to": to.trim()});
    let begun = repo.applying();
    fs::write(&begun, landing.to_string()).unwrap();
    // As far as a kill may leave it: the branch has moved, the checkout has not.
    repo.git(&["update-ref", "refs/heads/main", to.trim()]);
    let status = repo.answer(&["search", "status"]);
    assert!(status.contains(cut_short), "{status}");
    let run = repo.evolve(&["search", "discard"]).expect(0);
    assert!(run.stdout.contains("search 1 is discarded"), "{run:?}");
    assert!(said(&run).contains("completed: "), "{run:?}");
    assert!(!begun.exists());
    assert_eq!(repo.head(), to.trim());
    assert_eq!(repo.read("x"), "2\n");
}

#[test]
fn a_path_that_is_not_lent_is_warned_of() {
    let repo = TestRepo::with_number("1");
    repo.write("n.txt", "tracked\n");
    repo.write("deep/n.txt", "tracked\n");
    repo.commit_all("second");
    repo.write("data.ignored", "lent\n");
    repo.attempts(&["echo 2 >x"]);
    let links = ["--link=dta", "--link=n.txt", "--link=deep"];
    let more = ["--link=data.ignored", "--max-attempts=1"];
    let run = repo.search(&[&links[..], &more].concat()).expect(0);
    let said = said(&run);
    let count = |words: &str| said.matches(words).count();
    assert_eq!(count("dta is not lent: it is not there"), 1, "{said}");
    assert_eq!(count("n.txt is not lent: git tracks"), 1, "{said}");
    assert_eq!(count("deep is not lent: git tracks"), 1, "{said}");
    assert_eq!(
        count("data.ignored of your checkout is lent as it is"),
        1,
        "{said}"
    );
}

#[test]
fn an_agent_steers_no_search_and_a_person_beside_it_does() {
    let repo = TestRepo::with_number("1");
    let evolve = format!(
        "'{}' -C '{}'",
        repo.program().display(),
        repo.root().display()
    );
    let tries = format!(
        "for words in 'note faster' 'prune 1' apply resume discard; do
  {evolve} search $words >>$OUT/said 2>&1; echo $? >>$OUT/codes
  env -i PATH=\"$PATH\" HOME=\"$HOME\" setsid {evolve} search $words >>$OUT/said 2>&1; echo $? >>$OUT/codes
done
touch $OUT/waits; until [ -e $OUT/go ]; do sleep 0.02; done; echo 3 >x"
    );
    repo.attempts(&["echo 2 >x", &tries, "echo 4 >x"]);
    let words = repo.search_words(&["--max-attempts=3"]);
    let child = repo.spawn(&words.iter().map(String::as_str).collect::<Vec<_>>());
    repo.wait_for("waits");
    let tried = fs::read_to_string(repo.out("said")).unwrap();
    repo.answer(&["search", "note", "mind the cache"]);
    repo.answer(&["search", "prune", "1"]);
    fs::write(repo.out("go"), "").unwrap();
    let run = finish(child).expect(0);
    assert_eq!(
        repo.said("codes").lines().collect::<Vec<_>>(),
        ["5"; 10],
        "{tried}"
    );
    assert_eq!(
        tried.matches("run by what it started").count(),
        10,
        "{tried}"
    );
    assert_eq!(repo.lineage().notes.len(), 2);
    assert!(
        run.stdout
            .contains("noted, for every brief from now on: mind the cache"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("attempt 1 is pruned"), "{}", run.stdout);
}

#[test]
fn an_agent_of_the_loop_steers_no_search_and_what_another_repositorys_agent_says_to_one_counts() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("x", "1\n");
    repo.write("score.sh", "cat x\n");
    repo.commit_all("more");
    let stop = repo.private().join("search/1/stop");
    repo.attempts(&[&format!("touch '{}'; echo 2 >x", stop.display())]);
    repo.search(&[]).expect(0);
    let evolve = repo.program();
    let steer = format!(
        "'{}' -C '{}' search note faster 2>\"$OUT/said\"; echo $? >\"$OUT/code\"; touch a",
        evolve.display(),
        repo.root().display()
    );
    repo.cycle(&steer).expect(0);
    assert_eq!(repo.said("code").trim(), "5", "{}", repo.said("said"));
    // As where evolve's own tests are a check of its own.
    let other = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    other.cycle(&steer).expect(0);
    assert_eq!(other.said("code").trim(), "0", "{}", other.said("said"));
}

#[test]
fn nothing_is_applied_while_a_search_runs() {
    let repo = TestRepo::with_number("1");
    let child = waiting(&repo);
    for words in [&["search", "apply"][..], &["search", "apply", "2"]] {
        let said = repo.error(5, words);
        assert!(
            said.contains("a search is at work in this repository"),
            "{said}"
        );
    }
    fs::write(repo.out("go"), "").unwrap();
    finish(child).expect(0);
    repo.answer(&["search", "apply"]);
    assert_eq!(repo.read("x"), "4\n");
}

#[test]
fn under_a_kill_file_nothing_is_applied_and_the_exit_code_says_so() {
    let repo = stopped();
    repo.kill();
    let run = repo.evolve(&["search", "apply"]).expect(10);
    assert!(
        said(&run).contains("nothing was applied: KILL file"),
        "{run:?}"
    );
    assert_eq!(repo.read("x"), "1\n");
}

#[test]
fn under_a_kill_file_a_search_neither_begins_nor_goes_on_and_says_so_in_one_line() {
    let repo = stopped();
    let before = lineage_file(&repo);
    repo.kill();
    for run in [repo.resume(), repo.search(&[])] {
        let run = run.expect(0);
        assert!(run.stdout.starts_with("KILL file"), "{run:?}");
        assert_eq!(said(&run).lines().count(), 1, "{run:?}");
    }
    assert_eq!(lineage_file(&repo), before);
}

#[test]
fn what_is_refused_is_said_with_what_to_do() {
    let repo = TestRepo::with_number("1");
    let begun = repo.error(2, &["search", "sh score.sh"]);
    assert!(begun.contains("or with `files:` in SEARCH.yaml"), "{begun}");
    let option = repo.error(2, &["search", "sh score.sh", "--files=x", "-k=3"]);
    assert!(
        option.contains("hint: add --strategy population, or leave -k out"),
        "{option}"
    );
    repo.write(
        "file.yaml",
        "fitness: sh score.sh\nfiles: [x]\ngenerations: 3\n",
    );
    let key = repo.error(2, &["search", "--file=file.yaml"]);
    assert!(
        key.contains("add strategy: population, or leave generations out"),
        "{key}"
    );
    fs::remove_file(repo.path("file.yaml")).unwrap();

    repo.attempts(&["echo 0 >x", "echo 2 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let nothing = repo.error(2, &["search", "apply"]);
    assert!(nothing.contains("there is nothing to apply"), "{nothing}");
    assert!(nothing.contains("hint: `evolve search board`"), "{nothing}");
    for words in [
        &["show", "abc"][..],
        &["diff", "abc"],
        &["prune", "abc"],
        &["apply", "abc"],
    ] {
        let said = repo.error(2, &[&["search"], words].concat());
        assert!(said.contains("as `evolve search board` lists it"), "{said}");
        assert!(!said.contains("evolve history"), "{said}");
    }
    repo.search(&["--max-attempts=2"]).expect(0);
    let name = repo.error(2, &["search", "apply", "--branch=a..b"]);
    assert!(name.contains("a..b is no name for a branch"), "{name}");
    assert!(
        name.contains("hint: name it as in --branch faster"),
        "{name}"
    );
    repo.answer(&["search", "apply"]);
    let again = repo.error(2, &["search", "apply"]);
    assert!(again.contains("is on the branch already"), "{again}");
    assert!(again.contains("hint: `git log` shows it"), "{again}");
}

#[test]
fn an_attempt_is_called_what_its_agent_called_its_last_commit() {
    let repo = TestRepo::with_number("1");
    let commits = "git commit -qam 'faster by a table'";
    repo.attempts(&[
        &format!("echo 2 >x; {commits}"),
        &format!("echo 3 >x; {commits}; echo 'in its own words' >$EVOLVE_SUMMARY"),
        "git reset -q --hard HEAD~1; echo 4 >x",
    ]);
    repo.search(&["--max-attempts=3"]).expect(0);
    let lineage = repo.lineage();
    let summary = |id| lineage.attempt(id).edited().unwrap().summary.clone();
    assert_eq!(
        [1, 2, 3].map(|id| summary(id).unwrap()),
        ["faster by a table", "in its own words", "changes x"]
    );
}

#[test]
fn a_summary_that_is_too_large_to_be_read_is_told() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x; head -c 1048577 /dev/zero | tr '\\0' x >$EVOLVE_SUMMARY"]);
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    let told = "attempt 1: left out: .agents/evolve/outbox/summary has 1048577 bytes, more than the 1048576 that are read";
    assert!(
        run.stderr.contains(told) || run.stdout.contains(told),
        "{} {}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn a_search_whose_agent_failed_each_time_ends_as_with_one_that_cannot_run() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["exit 1"; 4]);
    let run = repo.search(&["--max-attempts=2"]).expect(4);
    assert!(run.stdout.contains("nothing was tried"), "{}", run.stdout);
    let repo = TestRepo::with_number("1");
    repo.attempts(&["exit 1", "echo 2 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
}
