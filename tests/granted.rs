//! What a sandbox grants beside the repository: only that is named, and what cannot be granted is said.

use std::fs;

use serde_json::Value;

use crate::harness::TestRepo;

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
