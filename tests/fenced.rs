//! What `evolve`'s own git runs for the user is held back like the agent that wrote a part of it: real Landlock, real
//! bubblewrap. The user's filter loads whatever lies in a folder that git ignores, as programs load their packages.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::harness::{TestRepo, pid_in};

/// What an agent puts among the packages of the filter: it tries to write elsewhere, and says where it was loaded.
const PACKAGE: &str = r#"
mkdir -p packages
cat >packages/one <<'END'
echo x >>"$HOME/canary"
echo x >>"$OUT/canary"
echo x >>loaded
END
"#;

/// A repository whose user has a filter for all text.
fn repo(settings: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "filter",
        "#!/bin/sh\nfor one in packages/*; do test -e \"$one\" && . \"$PWD/$one\"; done\nexec cat\n",
    );
    fs::set_permissions(repo.path("filter"), fs::Permissions::from_mode(0o755)).unwrap();
    repo.write(".gitattributes", "*.txt filter=mine\n");
    repo.write(".gitignore", "packages\nloaded\n");
    repo.write("a.txt", "a\n");
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\n{settings}goals:\n  - {{id: good, description: a is good, check: grep -q good a.txt, weight: 5}}\n"
        ),
    );
    for key in ["filter.mine.clean", "filter.mine.smudge"] {
        repo.git(&["config", key, "./filter"]);
    }
    repo.commit_all("first");
    fs::write(repo.home().join("canary"), "mine\n").unwrap();
    fs::write(repo.out("canary"), "mine\n").unwrap();
    repo
}

#[track_caller]
fn canaries_live(repo: &TestRepo) {
    for canary in [repo.home().join("canary"), repo.out("canary")] {
        assert_eq!(fs::read_to_string(canary).unwrap(), "mine\n");
    }
}

/// The copy that the agent works in.
fn copy(repo: &TestRepo) -> PathBuf {
    let all = fs::read_dir(repo.home().join(".cache/evolve")).unwrap();
    let mut copies = all.map(|entry| entry.unwrap().path().join("agent"));
    copies.find(|copy| copy.is_dir()).unwrap()
}

/// Says whether a package was loaded by the filter in a tree.
fn was_loaded(tree: &Path) -> bool {
    tree.join("loaded").exists()
}

#[test]
fn a_package_that_an_agent_writes_for_a_filter_of_the_users_stays_in_the_sandbox() {
    for (sandbox, end) in [
        ("--sandbox=landlock", "echo good >a.txt"),
        ("--sandbox=bwrap", "echo good >a.txt"),
        ("--sandbox=landlock", "echo bad >a.txt; rm GOALS.yaml"),
        ("--sandbox=bwrap", "echo bad >a.txt; rm GOALS.yaml"),
    ] {
        let repo = repo("");
        repo.agent_does(&[&format!("{PACKAGE}{end}")]);
        let run = repo.run(&["--max-cycles=1", sandbox]).expect(0);
        let is_kept = end.contains("good");
        let result = repo.newest()["result"].clone();
        assert_eq!(result == "improved", is_kept, "{sandbox}: {}", run.stdout);
        assert!(was_loaded(&repo.root()), "{sandbox}");
        canaries_live(&repo);
        let text = if is_kept { "good\n" } else { "a\n" };
        assert_eq!(repo.read("a.txt"), text, "{sandbox}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{sandbox}");
    }
}

#[test]
fn without_a_sandbox_such_a_package_is_run_as_anything_else_of_the_agents() {
    let repo = repo("");
    let run = repo.cycle(&format!("{PACKAGE}echo good >a.txt")).expect(0);
    assert!(was_loaded(&repo.root()), "{}", run.stdout);
    let canary = fs::read_to_string(repo.out("canary")).unwrap();
    assert_ne!(canary, "mine\n");
}

#[test]
fn a_package_in_a_copy_stays_in_that_copy_also_when_the_next_session_makes_it_anew() {
    for sandbox in ["--sandbox=landlock", "--sandbox=bwrap"] {
        let repo = repo("");
        repo.agent_does(&[&format!("{PACKAGE}echo good >a.txt")]);
        let run = repo
            .run(&["--max-cycles=1", sandbox, "--isolate"])
            .expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
        canaries_live(&repo);
        assert!(!was_loaded(&repo.root()), "{sandbox}");
        let loaded = copy(&repo).join("loaded");
        fs::remove_file(&loaded).unwrap();
        repo.write("a.txt", "a\n");
        repo.commit_all("worse again");
        // The copy was made anew already when this one begins.
        let again = "rm loaded; echo good >a.txt; rm -r packages";
        fs::write(repo.out("1.sh"), format!("set -e; {again}")).unwrap();
        let run = repo
            .run(&["--max-cycles=1", sandbox, "--isolate"])
            .expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{}", run.stdout);
        assert!(!loaded.exists(), "{sandbox}");
        canaries_live(&repo);
    }
}

#[test]
fn what_a_dead_session_left_is_settled_in_the_sandbox_that_its_goals_file_asked_for() {
    let broken = "rm -rf .git/objects/??; ";
    for (sandbox, broken) in [("landlock", ""), ("bwrap", ""), ("landlock", broken)] {
        let repo = repo(&format!("evolve: {{sandbox: {sandbox}}}\n"));
        // What the file says after the agent counts for nothing, and there may be no commit to read it from.
        let work = "echo bad >a.txt; sed -i '/^evolve/d' GOALS.yaml; echo $$ >pid; exec sleep 300";
        repo.agent_does(&[&format!("{PACKAGE}{broken}{work}")]);
        let mut child = repo.spawn_run(&["--max-cycles=1"]);
        pid_in(&repo.path("pid"));
        child.kill().unwrap();
        child.wait().unwrap();
        fs::write(repo.out("1.sh"), "echo good >a.txt").unwrap();
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(
            repo.each("result"),
            ["interrupted", "improved"],
            "{}",
            run.stdout
        );
        assert!(was_loaded(&repo.root()), "{sandbox}");
        canaries_live(&repo);
    }
}

#[test]
fn a_filter_has_no_network_where_checks_have_none() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let package = format!(
        "mkdir -p packages; echo 'bash -c \": </dev/tcp/127.0.0.1/{port}\" && echo x >>loaded' >packages/one; echo good >a.txt"
    );
    for sandbox in ["landlock", "bwrap"] {
        for (network, is_open) in [("all", true), ("none", false)] {
            let repo = repo(&format!(
                "evolve: {{sandbox: {{mode: {sandbox}, network: {network}}}}}\n"
            ));
            let run = repo.cycle(&package).expect(0);
            assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
            assert_eq!(was_loaded(&repo.root()), is_open, "{sandbox} {network}");
        }
    }
}
