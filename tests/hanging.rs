//! What `evolve` itself would wait for without end: git that hangs, pipes where it or its git opens files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Child;

use crate::harness::{Run, TestRepo, finish, is_alive, pid_in, signal, wait_until};

/// A git that hangs at this command, deaf to SIGTERM, once the file `$OUT/hang` is there; the filters of others do as well.
fn with_hanging_git(command: &str) -> TestRepo {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let git = which::which("git").unwrap();
    let folder = repo.out("bin");
    fs::create_dir_all(&folder).unwrap();
    let shim = folder.join("git");
    let text = format!(
        "#!/bin/sh\nif [ -e \"$OUT/hang\" ]; then case \" $* \" in *' {command} '*) trap '' TERM; echo $$ >\"$OUT/git\"; while :; do sleep 0.1; done;; esac; fi\nexec {} \"$@\"\n",
        git.display()
    );
    fs::write(&shim, text).unwrap();
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", folder.display());
    repo.env.push(("PATH".to_owned(), path));
    repo
}

type End = fn(&TestRepo, &Child);
const ENDS: [(&str, End, i32); 3] = [
    ("KILL", |repo, _| repo.kill(), 0),
    ("TERM", |_, child| signal(child, "TERM"), 143),
    ("INT", |_, child| signal(child, "INT"), 130),
];

/// Waits until git hangs, ends the session, and says what came of it.
#[track_caller]
fn end(repo: &TestRepo, child: Child, end: End) -> Run {
    let git = pid_in(&repo.out("git"));
    end(repo, &child);
    let run = finish(child);
    assert!(!is_alive(git), "git lives");
    fs::remove_file(repo.out("git")).unwrap();
    run
}

#[test]
fn git_that_hangs_before_an_agent_was_called_is_ended_with_the_session() {
    for (what, by, code) in ENDS {
        let repo = with_hanging_git("status");
        fs::write(repo.out("hang"), "").unwrap();
        let run = end(&repo, repo.spawn_run(&[]), by);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{what}: {said}");
        assert!(said.contains("`git status "), "{what}: {said}");
        assert_eq!(repo.records().len(), 0, "{what}");
        fs::remove_file(repo.out("hang")).unwrap();
        let _ = fs::remove_file(repo.kill_file());
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{what}");
    }
}

#[test]
fn git_that_hangs_after_the_agent_is_ended_with_the_session_and_the_next_one_undoes() {
    for (command, (what, by, code)) in ["ls-files", "add"].into_iter().zip(ENDS) {
        let repo = with_hanging_git(command);
        let content = repo.content("HEAD");
        repo.agent_does(&["touch a loose; touch \"$OUT/hang\""]);
        let run = end(&repo, repo.spawn_run(&[]), by);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, code, "{what}: {said}");
        assert!(said.contains("`git "), "{what}: {said}");
        fs::remove_file(repo.out("hang")).unwrap();
        let _ = fs::remove_file(repo.kill_file());
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
        let settled = repo.records()[0]["commit_sha"].as_str().unwrap().to_owned();
        assert_eq!(repo.content(&settled), content, "{what}");
        assert!(!repo.has("loose"), "{what}");
    }
}

#[test]
fn a_lock_file_of_git_that_was_ended_is_not_in_the_way() {
    let repo = with_hanging_git("add");
    // Git that is killed has no time to remove it.
    repo.agent_does(&["touch a; touch .git/index.lock \"$OUT/hang\""]);
    let run = end(&repo, repo.spawn_run(&[]), |repo, _| repo.kill());
    run.expect(0);
    fs::remove_file(repo.out("hang")).unwrap();
    fs::remove_file(repo.kill_file()).unwrap();
    fs::write(repo.path(".git/index.lock"), "").unwrap();
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_kill_acts_though_its_acknowledgement_would_wait_for_a_pipe() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    let config = repo.read(".git/config");
    repo.agent_does(&[
        "rm .git/config; mkfifo .git/config; touch loose; echo $$ >\"$OUT/pid\"; sleep 300",
    ]);
    let child = repo.spawn_run(&[]);
    let pid = pid_in(&repo.out("pid"));
    repo.kill();
    finish(child).expect(0);
    assert!(!is_alive(pid));
    assert_eq!(repo.read(".git/config"), config);
    assert_eq!(repo.each("result"), ["interrupted"]);
    wait_until("it is acknowledged", || {
        repo.has(".agents/evolve/KILLED.json")
    });
    assert!(!repo.has("loose"));
}
