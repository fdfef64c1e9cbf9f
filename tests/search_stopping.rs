//! How a search stops and goes on: what runs is finished or ended, and the lineage comes out as if nothing had been.

use crate::harness::search::essence;
use crate::harness::{TestRepo, assert_gone, finish, signal, signal_pid};

/// An agent that waits in attempt 3 until it is told to go on, or for long.
const WAITS: &str = "if [ $EVOLVE_ATTEMPT = 3 ] && [ ! -e $OUT/go ]; then echo $$ >$OUT/agent-pid; touch $OUT/waits; until [ -e $OUT/go ]; do sleep 0.02; done; fi\necho $(($(cat x) + EVOLVE_DICE % 9 - 3)) >x";
const MORE: [&str; 2] = ["--stale=off", "--max-attempts=6"];

fn repository() -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[WAITS]);
    repo
}

fn undisturbed() -> Vec<String> {
    let repo = repository();
    std::fs::write(repo.out("go"), "").unwrap();
    repo.search(&MORE).expect(0);
    essence(&repo.lineage())
}

fn begun(repo: &TestRepo, more: &[&str]) -> std::process::Child {
    let words = repo.search_words(&[&MORE[..], more].concat());
    let child = repo.spawn(&words.iter().map(String::as_str).collect::<Vec<_>>());
    repo.wait_for("waits");
    child
}

/// Goes on, and holds the lineage against the undisturbed one.
fn goes_on(repo: &TestRepo, what: &str) {
    std::fs::write(repo.out("go"), "").unwrap();
    repo.resume().expect(0);
    assert_eq!(essence(&repo.lineage()), undisturbed(), "{what}");
    let refs = repo.git(&["for-each-ref", "--format=%(refname)"]);
    let others = refs
        .lines()
        .filter(|line| !line.starts_with("refs/evolve/search/1/"));
    assert_eq!(others.collect::<Vec<_>>(), ["refs/heads/main"], "{what}");
    let run = repo.resume().expect(2);
    assert!(run.stderr.contains("is over"), "{}", run.stderr);
}

#[test]
fn stop_lets_the_running_attempt_finish() {
    let repo = repository();
    let child = begun(&repo, &[]);
    repo.write(".agents/evolve/STOP", "");
    std::fs::write(repo.out("go"), "").unwrap();
    let run = finish(child).expect(0);
    assert_eq!(repo.endings().len(), 3, "{}", run.stdout);
    std::fs::remove_file(repo.path(".agents/evolve/STOP")).unwrap();
    goes_on(&repo, "STOP");
}

#[test]
fn a_kill_file_ends_what_runs_and_it_is_done_again() {
    let repo = repository();
    let child = begun(&repo, &[]);
    repo.kill();
    finish(child).expect(0);
    assert_gone(&[repo.out("agent-pid")]);
    assert_eq!(repo.endings().len(), 2);
    let run = repo.resume();
    assert_eq!(repo.endings().len(), 2, "{}{}", run.stdout, run.stderr);
    std::fs::remove_file(repo.kill_file()).unwrap();
    goes_on(&repo, "KILL");
}

#[test]
fn a_signal_ends_what_runs_and_is_the_exit_code() {
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let repo = repository();
        let child = begun(&repo, &[]);
        signal(&child, name);
        finish(child).expect(code);
        assert_gone(&[repo.out("agent-pid")]);
        goes_on(&repo, name);
    }
}

#[test]
fn the_end_of_its_time_ends_what_runs() {
    let repo = repository();
    // Long enough to come to the attempt that waits, which never ends by itself.
    let child = begun(&repo, &["--max-time=15s"]);
    finish(child).expect(0);
    assert_gone(&[repo.out("agent-pid")]);
    assert_eq!(repo.endings().len(), 2);
    std::fs::write(repo.out("go"), "").unwrap();
    repo.evolve(&["search", "resume", "--max-time=10m"])
        .expect(0);
    goes_on_nowhere(&repo);
}

fn goes_on_nowhere(repo: &TestRepo) {
    assert_eq!(essence(&repo.lineage()), undisturbed());
}

#[test]
fn a_killed_engine_leaves_nothing_and_the_search_goes_on() {
    let repo = repository();
    let mut child = begun(&repo, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    let agent = crate::harness::pid_in(&repo.out("agent-pid"));
    crate::harness::wait_until("the agent is gone", || !crate::harness::is_alive(agent));
    goes_on(&repo, "SIGKILL");
}

#[test]
fn a_lock_that_a_killed_engine_left_on_a_ref_is_in_nobodys_way() {
    let repo = repository();
    let mut child = begun(&repo, &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = |id: u32| repo.path(&format!(".git/refs/evolve/search/1/{id}.lock"));
    std::fs::write(lock(3), "").unwrap();
    goes_on(&repo, "a lock");
    assert!(!lock(3).exists());
    std::fs::write(lock(1), "").unwrap();
    repo.evolve(&["search", "discard"]).expect(0);
    assert!(!lock(1).exists());
    // One of a search that never began.
    std::fs::create_dir_all(lock(0).parent().unwrap()).unwrap();
    std::fs::write(lock(0), "").unwrap();
    repo.search(&["--max-attempts=1"]).expect(0);
}

#[test]
fn only_one_search_runs_and_an_unfinished_one_is_named() {
    let repo = repository();
    let child = begun(&repo, &[]);
    repo.search(&[]).expect(5);
    repo.resume().expect(5);
    repo.evolve(&["search", "discard"]).expect(5);
    signal(&child, "INT");
    finish(child).expect(130);
    let said = repo.search(&[]).expect(2).stderr;
    assert!(
        said.contains("resume") && said.contains("discard"),
        "{said}"
    );
    repo.evolve(&["search", "discard"]).expect(0);
    let refs = repo.git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, "refs/heads/main");
}

#[test]
fn evolve_stop_now_ends_a_search_that_runs_beside_no_loop() {
    let repo = repository();
    let child = begun(&repo, &[]);
    let said = repo.answer(&["stop", "--now"]);
    assert!(said.starts_with("process [pid] ends"), "{said}");
    assert!(said.contains("`evolve search resume`"), "{said}");
    finish(child).expect(130);
    assert_gone(&[repo.out("agent-pid")]);
    goes_on(&repo, "stop --now");
}

#[test]
fn evolve_stop_says_that_a_search_ends_when_what_runs_is_done() {
    let repo = repository();
    let child = begun(&repo, &[]);
    let said = repo.answer(&["stop", "for", "today"]);
    assert!(
        said.contains("the search ends when what runs is done: .agents/evolve/STOP"),
        "{said}"
    );
    std::fs::write(repo.out("go"), "").unwrap();
    finish(child).expect(0);
    assert_eq!(repo.endings().len(), 3);
}

#[test]
fn a_search_and_its_supervising_process_that_somebody_stopped_both_are_woken_by_stop_kill_and_now()
{
    for (words, code) in [("--kill", 0), ("--now", 130)] {
        let repo = repository();
        let child = begun(&repo, &[]);
        let lock = std::fs::read_to_string(repo.private().join("search.lock")).unwrap();
        let pids = lock.lines().map(|line| line.split(' ').next().unwrap());
        let pids: Vec<u32> = pids.map(|pid| pid.parse().unwrap()).collect();
        assert_eq!((pids.len(), pids[0]), (2, child.id()), "{lock}");
        // The supervising process last: evolve itself would wake it.
        for pid in [pids[0], pids[1]] {
            signal_pid(pid, "STOP");
        }
        repo.answer(&["stop", words]);
        finish(child).expect(code);
        assert_gone(&[repo.out("agent-pid")]);
    }
}

#[test]
fn no_signal_is_blocked_in_what_a_search_starts() {
    // By the shell itself: some of them block nothing in what they start.
    let blocked = "while read -r name value; do case $name in SigBlk:) echo $value;; esac; done </proc/$$/status >>$OUT/blocked";
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", &format!("{blocked}\ncat x\n"));
    repo.commit_all("a score that looks");
    repo.attempts(&[&format!("{blocked}\necho 2 >x")]);
    repo.search(&["--max-attempts=1", &format!("--gate={blocked}")])
        .expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    let said = repo.said("blocked");
    assert!(said.lines().count() >= 5, "{said}");
    for line in said.lines() {
        assert_eq!(line, "0000000000000000");
    }
}

#[test]
fn a_search_that_is_cut_short_before_its_code_was_measured_promises_nothing() {
    let repo = TestRepo::with_number("1");
    repo.write("score.sh", "touch $OUT/measuring; sleep 60\n");
    repo.commit_all("slow");
    repo.attempts(&["true"]);
    let words = repo.search_words(&[]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let child = repo.spawn(&words);
    repo.wait_for("measuring");
    signal(&child, "INT");
    let run = finish(child).expect(130);
    assert!(
        run.stdout.ends_with(
            "; the untouched code was not measured yet, so nothing of the search stays\n"
        ),
        "{run:?}"
    );
    assert!(!run.stdout.contains("resume"), "{run:?}");
    assert!(!repo.private().join("search/1").exists());
}

#[test]
fn a_stop_file_that_is_left_in_a_copy_ends_the_search_when_what_runs_is_done() {
    let stop = "mkdir -p .agents/evolve; echo because >.agents/evolve/STOP";
    let command = format!(
        "{} stop because >/dev/null",
        TestRepo::empty().program().display()
    );
    let measured = format!("test $(cat x) = 1 || {{ {stop}; }}\ncat x\n");
    for (agent, score, when) in [
        (stop, "cat x\n", "while the agent of attempt 1 ran"),
        (&command, "cat x\n", "while the agent of attempt 1 ran"),
        ("true", &measured, "while attempt 1 was measured"),
    ] {
        let repo = TestRepo::with_number("1");
        repo.write("score.sh", score);
        repo.commit_all("score");
        repo.attempts(&[&format!("echo 2 >x; {agent}"), "echo 3 >x"]);
        let run = repo.search(&["--max-attempts=2"]).expect(0);
        let reason = format!("STOP file .agents/evolve/STOP: because (written in its copy {when})");
        assert!(run.stdout.contains(&reason), "{agent}: {}", run.stdout);
        assert_eq!(repo.endings().len(), 1, "{agent}: {}", run.stdout);
        // It is no word of the next one's.
        repo.resume().expect(0);
        assert_eq!(repo.endings().len(), 2, "{agent}");
    }
}
