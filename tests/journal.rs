//! An agent can write to all of `.git/evolve`. A running session believes what it remembers, the next start what lies outside
//! the repository; neither believes the agent.

use std::fs;

use crate::harness::{TestRepo, is_alive, pid_in, signal_pid};

/// What an agent can do to what `evolve` knows of the cycle.
const ATTACKS: [(&str, &str); 9] = [
    ("emptied", "echo '{}' >.git/evolve/journal.json"),
    ("garbage", "echo rubbish >.git/evolve/journal.json"),
    ("removed", "rm -f .git/evolve/journal.json"),
    (
        "a folder",
        "rm -f .git/evolve/journal.json; mkdir -p .git/evolve/journal.json/x",
    ),
    (
        "nothing in progress",
        "sed -i 's/\"phase\":\"agent\"/\"phase\":\"measuring\"/' .git/evolve/journal.json",
    ),
    (
        "another start",
        "sed -i \"s/$(git rev-parse main~1)/$(git rev-parse main)/g\" .git/evolve/journal.json",
    ),
    ("no copies", "rm -rf .git/evolve/keep .git/evolve/guard"),
    (
        "other copies",
        "for file in .git/evolve/keep/* .git/evolve/guard/*; do echo forged >$file; done",
    ),
    ("no lock", "rm -f .git/evolve/lock"),
];

/// What a running session need not read again: even the one outside is an agent's to write.
const ATTACKS_OUTSIDE: [(&str, &str); 3] = [
    (
        "both garbage",
        "for it in .git/evolve/journal.json $HOME/.local/state/evolve/*.journal; do echo rubbish >$it; done",
    ),
    (
        "both removed",
        "rm .git/evolve/journal.json $HOME/.local/state/evolve/*.journal",
    ),
    (
        "both with another start",
        "sed -i \"s/$(git rev-parse main~1)/$(git rev-parse main)/g\" .git/evolve/journal.json $HOME/.local/state/evolve/*.journal",
    ),
];

/// Breaks goal `b`, and changes what only the copies hold.
const EVIL: &str = "rm b; touch a; git add -A; git commit -qm evil; echo changed >notes; git config core.fsmonitor /bin/false";

/// Ends the program in mid-cycle.
const PID: &str = "pid=$(head -1 .git/evolve/lock | cut -d' ' -f1)";
const KILL: &str = "kill -9 $pid; sleep 300";

fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    repo.write("b", "");
    repo.commit_all("b");
    repo.write("notes", "mine\n");
    repo
}

/// What must hold when the agent's work was taken back.
#[track_caller]
fn assert_undone(repo: &TestRepo, head: &str, what: &str) {
    assert!(repo.has("b"), "{what}: an unjudged change was kept");
    assert_eq!(repo.read("notes"), "mine\n", "{what}");
    assert!(
        !repo.git(&["config", "--list"]).contains("fsmonitor"),
        "{what}"
    );
    repo.git(&["merge-base", "--is-ancestor", head, "HEAD"]);
    repo.git(&["fsck", "--strict", "--no-dangling"]);
    assert!(!repo.private().join("journal.json").exists(), "{what}");
    assert_eq!(repo.journal_outside(), None, "{what}");
}

#[test]
fn whatever_an_agent_writes_into_the_journal_its_session_settles_the_cycle_from_memory() {
    for (what, attack) in ATTACKS.into_iter().chain(ATTACKS_OUTSIDE) {
        let repo = repository();
        let head = repo.head();
        let run = repo.cycle(&format!("{EVIL}; {attack}"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{what}");
        assert_undone(&repo, &head, what);
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["regressed", "improved"], "{what}");
    }
}

#[test]
fn whatever_an_agent_writes_into_the_journal_the_next_start_settles_the_cycle_from_outside() {
    for (what, attack) in ATTACKS {
        let repo = repository();
        let head = repo.head();
        repo.cycle(&format!("{PID}; {EVIL}; {attack}; {KILL}"))
            .expect(137);
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]);
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
        assert_undone(&repo, &head, what);
    }
}

#[test]
fn where_neither_journal_can_be_understood_nothing_is_touched() {
    let repo = repository();
    repo.cycle(&format!("{PID}; {EVIL}; {KILL}")).expect(137);
    let outside = repo.journal_outside().unwrap();
    fs::write(&outside, "rubbish").unwrap();
    repo.agent_does(&["touch a"]);
    let (head, status) = (repo.head(), repo.status());
    let run = repo.run(&[]).expect(3);
    assert!(
        run.stderr.contains(outside.to_str().unwrap()),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("remove that file"), "{}", run.stderr);
    assert_eq!((repo.head(), repo.status()), (head, status));
    // The one in the repository is as it was written.
    fs::remove_file(&outside).unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_session_whose_lock_was_removed_is_not_taken_for_a_dead_one() {
    let repo = repository();
    repo.agent_does(&["rm .git/evolve/lock; echo $$ >\"$OUT/pid\"; sleep 300"]);
    let first = repo.spawn_run(&["--max-cycles=1"]);
    let agent = pid_in(&repo.out("pid"));
    let run = repo.run(&["--max-cycles=1"]).expect(5);
    assert!(run.stderr.contains("another evolve"), "{}", run.stderr);
    assert!(is_alive(agent), "the agent of a living session was ended");
    signal_pid(agent, "KILL");
    crate::harness::finish(first).expect(0);
    assert_eq!(repo.calls(), 1);
}

#[test]
fn a_cycle_that_was_settled_under_another_home_is_not_settled_again() {
    let mut repo = repository();
    repo.cycle(&format!("{PID}; {EVIL}; {KILL}")).expect(137);
    let elsewhere = repo.out("state").display().to_string();
    repo.env.push(("XDG_STATE_HOME".to_owned(), elsewhere));
    // The first home is out of reach just then.
    let [home, away] = [repo.home().join(".local"), repo.out("away")];
    fs::rename(&home, &away).unwrap();
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    repo.env.pop();
    let _ = fs::remove_dir_all(&home);
    fs::rename(&away, &home).unwrap();
    let head = repo.head();
    let run = repo.run(&[]).expect(3);
    let outside = repo.journal_outside().unwrap();
    assert!(
        run.stderr.contains("has a record of it") && run.stderr.contains(outside.to_str().unwrap()),
        "{}",
        run.stderr
    );
    assert_eq!(repo.head(), head);
    fs::remove_file(outside).unwrap();
    fs::remove_file(repo.private().join("journal.json")).unwrap();
    repo.cycle("true").expect(0);
    assert!(repo.has("a"));
}

#[test]
fn a_folder_that_a_check_puts_in_the_journals_place_does_not_keep_a_dead_session_from_being_settled()
 {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: it sleeps, weight: 5, check: \"if [ -e $OUT/check ]; then . $OUT/check; fi; test -e a\"}\n",
    );
    repo.commit_all("first");
    let script = "rm .git/evolve/journal.json; mkdir -p .git/evolve/journal.json/x; echo $$ >\"$OUT/pid\"; sleep 300";
    fs::write(repo.out("check"), script).unwrap();
    let mut child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    child.kill().unwrap();
    child.wait().unwrap();
    fs::remove_file(repo.out("check")).unwrap();
    let run = repo.cycle("touch a").expect(0);
    assert!(run.stdout.contains("session that died"), "{}", run.stdout);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(!repo.private().join("journal.json").exists());
    assert_eq!(repo.journal_outside(), None);
}
