//! Sockets, devices and what lies too deep, which no commit holds and git does not list: nothing is measured with one that an agent, or its code, left.

use std::fs;
use std::os::unix::net::UnixListener;

use crate::harness::TestRepo;

/// Code that leaves a socket at `NAME`.
const BIND: &str = "python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('NAME')\"";

fn bind(name: &str) -> String {
    BIND.replace("NAME", name)
}

/// A goal that a file `s` meets, and one that wants the tracked `kept`.
fn repository(setting: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve: {{{setting}}}\ngoals:\n  - {{id: a, description: d, check: test -e s, weight: 5, retries: 0}}\n  - {{id: kept, description: d, check: test -e kept, weight: 3, retries: 0}}\n"),
    );
    repo.write("kept", "kept\n");
    repo.commit_all("first");
    repo
}

#[test]
fn a_socket_of_the_agents_meets_no_goal_now_or_later() {
    for setting in ["isolate: false", "isolate: true", "measure: clean"] {
        let repo = repository(setting);
        repo.agent_does(&[&bind("s"), &format!("{}; rm kept", bind("s")), "true"]);
        repo.run(&["--max-cycles=2"]).expect(0);
        assert_eq!(repo.each("result"), ["unchanged", "regressed"], "{setting}");
        // Of a cycle that is undone nothing stays in a copy.
        let run = repo.run(&["--max-cycles=1"]);
        assert_eq!(
            repo.newest()["result"],
            "unchanged",
            "{setting}: {}",
            run.stdout
        );
        assert!(fs::symlink_metadata(repo.path("s")).is_err(), "{setting}");
    }
}

#[test]
fn what_lies_too_deep_for_git_meets_no_goal() {
    for setting in ["isolate: false", "isolate: true"] {
        let repo = repository(setting);
        let goals = repo.read("GOALS.yaml");
        let deep = goals.replace(
            "test -e s",
            "find . -name .git -prune -o -name deep.txt -print | grep -q .",
        );
        repo.write("GOALS.yaml", &deep);
        repo.commit_all("deep");
        let name = "d".repeat(200);
        repo.agent_does(&[&format!(
            "echo x >seen; for n in $(seq 25); do mkdir {name}; cd -P {name}; done; echo x >deep.txt"
        )]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "unchanged", "{setting}: {record:#}");
        assert!(fs::symlink_metadata(repo.path(&name)).is_err(), "{setting}");
    }
}

#[test]
fn a_socket_in_the_place_of_a_tracked_file_is_its_removal() {
    for setting in ["isolate: false", "isolate: true"] {
        let repo = repository(setting);
        repo.agent_does(&[&format!("rm kept; {}; echo x >s", bind("kept"))]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{setting}: {record:#}");
        assert_eq!(repo.read("kept"), "kept\n", "{setting}");
    }
}

#[test]
fn a_pipe_of_the_users_that_is_written_to_stays() {
    let repo = repository("isolate: false");
    let made = repo.command("mkfifo").arg("mine").status().unwrap();
    assert!(made.success());
    repo.agent_does(&["exec 3<>mine; echo x >&3; touch s"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(fs::symlink_metadata(repo.path("mine")).is_ok());
}

#[test]
fn a_socket_at_which_somebody_listens_stays() {
    let repo = repository("isolate: false");
    let near = repo.outside().join("near");
    std::os::unix::fs::symlink(repo.root(), &near).unwrap();
    let place = near.join("served");
    // It comes while the agent is at work.
    repo.agent_does(&[
        "touch s \"$OUT/began\"; while ! test -e \"$OUT/bound\"; do sleep 0.05; done",
    ]);
    let repo = repo.with_out();
    let child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("began");
    let listener = UnixListener::bind(&place).unwrap();
    fs::write(repo.out("bound"), "").unwrap();
    crate::harness::finish(child).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert!(repo.path("served").exists());
    drop(listener);
}

#[test]
fn a_tracked_file_that_is_taken_out_of_git_in_a_copy_is_not_measured_with() {
    let repo = repository("isolate: true");
    repo.agent_does(&["git rm -q --cached kept; echo kept >.gitignore; echo x >s"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed", "{record:#}");
    assert_eq!(record["newly_failing"][0], "kept", "{record:#}");
    assert_eq!(repo.read("kept"), "kept\n");
}

#[test]
fn a_socket_that_a_sample_leaves_is_gone_before_the_next() {
    let repo = TestRepo::with_number("1");
    let scored = |number: u64| {
        let lines = format!("test -e s && echo 100 || echo {number}\n{}\n", bind("s"));
        format!("cat >x <<'END'\n{lines}END\n")
    };
    repo.write("x", "echo 1\n");
    repo.commit_all("a script");
    repo.attempts(&[&scored(2), &scored(3)]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        "sh x",
        "--files=x",
        "--max-attempts=2",
        "--yes",
        &agent,
    ];
    repo.evolve(&words).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}
