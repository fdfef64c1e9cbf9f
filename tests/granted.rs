//! What a sandbox grants beside the repository: only that is named, and what cannot be granted is said.

use std::fs;

use serde_json::Value;

use crate::harness::{TestRepo, finish, output, wait_until};

/// A repository with this under `sandbox:`.
fn repo(sandbox: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\nevolve:\n  sandbox: {sandbox}\ngoals:\n  - {{id: a, description: file a exists, check: test -e a, weight: 5}}\n"
        ),
    );
    repo.commit_all("first");
    repo
}

#[test]
fn only_what_was_granted_is_named_and_the_rest_is_warned_of_once() {
    for mode in ["landlock", "bwrap"] {
        let repo = repo("{}");
        let hooks = repo.path(".git/hooks/mine/");
        let write = format!(
            "[~/made/, ~/nothing, $NOWHERE/x/, ~/.config/evolve/, {}]",
            hooks.display()
        );
        let goals = repo.read("GOALS.yaml");
        let sandbox = format!("{{mode: {mode}, write: {write}}}");
        repo.write("GOALS.yaml", &goals.replace("{}", &sandbox));
        repo.commit_all("paths");
        let warned = |said: &str| {
            for (entry, why) in [
                (
                    "~/nothing",
                    "nothing is there; a / at its end has a folder made",
                ),
                ("$NOWHERE/x/", "$NOWHERE is not set to an absolute path"),
                (
                    "~/.config/evolve/",
                    "git's hooks and settings and evolve's own files are never granted",
                ),
                (
                    &hooks.display().to_string(),
                    "git's hooks and settings and evolve's own files are never granted",
                ),
            ] {
                let line = format!("sandbox: write: {entry} is left out: {why}\n");
                assert_eq!(said.matches(&line).count(), 1, "{entry}\n{said}");
            }
        };
        warned(&repo.evolve(&["validate"]).expect(0).stderr);
        let run = repo.cycle("mkdir -p \"$HOME/made/x\"; echo x >a").expect(0);
        warned(&format!("{}{}", run.stdout, run.stderr));
        let named = "the repository, a temporary folder and ~/made/;";
        assert!(run.stdout.contains(named), "{}", run.stdout);
        assert!(repo.home().join("made/x").is_dir());
        assert!(!hooks.exists());
        let status = repo.evolve(&["status", "--json"]).expect(0);
        let status: Value = serde_json::from_str(&status.stdout).unwrap();
        assert_eq!(
            status["protections"]["write"],
            serde_json::json!(["~/made/"])
        );
    }
}

#[test]
fn a_file_that_is_there_is_granted_again_as_soon_as_it_is() {
    let repo = repo("{mode: bwrap, write: [~/late]}");
    repo.agent_does(&["echo x >a"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!run.stdout.contains("~/late;"), "{}", run.stdout);
    fs::write(repo.home().join("late"), "").unwrap();
    repo.git(&["rm", "-q", "a"]);
    repo.git(&["commit", "-qm", "gone"]);
    fs::write(repo.out("1.sh"), "echo x >>\"$HOME/late\"; echo x >a").unwrap();
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(run.stdout.contains("and ~/late;"), "{}", run.stdout);
    assert_eq!(fs::read_to_string(repo.home().join("late")).unwrap(), "x\n");
}

#[test]
fn a_required_sandbox_that_leaves_the_network_to_checks_says_so_and_nothing_of_the_machine() {
    let repo = repo("{mode: bwrap, network: none, require: true}");
    let said = repo.cycle("echo x >a").expect(2).stderr;
    assert!(
        said.contains("in which nobody has the network, but checks keep the network"),
        "{said}"
    );
    assert!(said.contains("hint: add `checks: true`"), "{said}");
    assert!(
        !said.contains("machine") && !said.contains("install"),
        "{said}"
    );
}

#[test]
fn a_program_that_starts_others_and_comes_after_the_agent_is_not_reached_from_bubblewrap() {
    // One of those that it is kept out of, and the one in which there is never so much that it is left open.
    const FOLDER: &str = "/var/tmp";
    let repo = repo("{}");
    let before = tempfile::tempdir_in(FOLDER).unwrap();
    fs::write(before.path().join("file"), "text\n").unwrap();
    // An agent that waits until the server is there, and tells of what was there before it.
    let reaches = |sandbox: &str| {
        let escaped = repo.out("escaped");
        let late = repo.out("late");
        let work = format!(
            "touch up; while [ -e up ]; do sleep 0.02; done; cat '{}/file' >a; new={FOLDER}/new-of-$$; echo x >$new && rm $new && echo wrote >>a; \
             tmux -S \"$(cat '{}')\" new-window -d 'touch {}'; true",
            before.path().display(),
            late.display(),
            escaped.display()
        );
        repo.agent_does(&[]);
        fs::write(repo.out("1.sh"), &work).unwrap();
        fs::write(repo.out("2.sh"), &work).unwrap();
        let child = repo.spawn_run(&["--max-cycles=1", sandbox]);
        wait_until("the agent is at work", || repo.has("up"));
        let after = tempfile::tempdir_in(FOLDER).unwrap();
        let socket = after.path().join("socket");
        let tmux = |words: &[&str]| {
            let mut command = repo.command("tmux");
            command.arg("-S").arg(&socket).args(words);
            output(&mut command);
        };
        tmux(&["new-session", "-d", "sleep 300"]);
        fs::write(late, socket.display().to_string()).unwrap();
        fs::remove_file(repo.path("up")).unwrap();
        finish(child).expect(0);
        // What was asked of the server before this is done when it has answered.
        tmux(&["new-window", "-d", "true"]);
        if sandbox == "--sandbox=none" {
            wait_until("it got out", || escaped.exists());
        }
        tmux(&["kill-server"]);
        let said = repo.read("a");
        repo.git(&["rm", "--quiet", "a"]);
        repo.git(&["commit", "--quiet", "--message=again"]);
        (escaped.exists(), said)
    };
    assert_eq!(reaches("--sandbox=bwrap"), (false, "text\n".to_owned()));
    let wrote = "text\nwrote\n".to_owned();
    assert_eq!(reaches("--sandbox=none"), (true, wrote));
}
