//! Folders of evolve's own outside `.git` that would lie in the working tree: what is in them would count as what an agent left.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::harness::{Run, TestRepo};

fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch a"]);
    repo
}

fn set(repo: &mut TestRepo, variable: &str, folder: &Path) {
    let folder = folder.display().to_string();
    repo.env.push((variable.to_owned(), folder));
}

/// Asserts that a run was refused before anything was done, and that the refusal names the folder and the variable.
fn assert_refused(repo: &TestRepo, run: Run, words: &[&str]) {
    let run = run.expect(3);
    for words in words {
        assert!(run.stderr.contains(words), "{words}: {}", run.stderr);
    }
    assert_eq!(repo.calls(), 0);
    assert_eq!(repo.subjects(), ["first"]);
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_run_is_refused_where_its_safety_copy_would_lie_in_the_working_tree() {
    for (variable, below, named) in [
        ("HOME", "", ".local/state/evolve"),
        ("HOME", "home", "home/.local/state/evolve"),
        ("XDG_STATE_HOME", ".state", ".state/evolve"),
    ] {
        let mut repo = repository();
        let folder = repo.path(below);
        set(&mut repo, variable, &folder);
        let way_out = "XDG_STATE_HOME=/somewhere/else evolve";
        let run = repo.run(&["--max-cycles=1"]);
        assert_refused(&repo, run, &[&*repo.path(named).to_string_lossy(), way_out]);
        for reading in ["status", "validate", "history", "measure"] {
            repo.evolve(&[reading]).expect(0);
        }
        repo.evolve(&["--dry-run"]).expect(0);
        assert_eq!(repo.status(), Vec::<String>::new(), "{variable} {below}");
        let elsewhere = repo.outside().join("state");
        set(&mut repo, "XDG_STATE_HOME", &elsewhere);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"]);
        assert_eq!(repo.status(), Vec::<String>::new(), "{variable} {below}");
    }
}

#[test]
fn a_link_that_leads_into_the_working_tree_is_followed() {
    let mut repo = repository();
    fs::create_dir(repo.path("dot")).unwrap();
    let folder = repo.outside().join("state");
    symlink(repo.path("dot"), &folder).unwrap();
    set(&mut repo, "XDG_STATE_HOME", &folder);
    let run = repo.run(&["--max-cycles=1"]);
    let named = repo.path("dot/evolve");
    assert_refused(&repo, run, &[&named.to_string_lossy()]);
}

#[test]
fn copies_for_agents_and_checks_are_refused_in_the_working_tree_and_nothing_else_is() {
    let mut repo = repository();
    let folder = repo.path(".cache");
    set(&mut repo, "XDG_CACHE_HOME", &folder);
    let named = repo.path(".cache/evolve").display().to_string();
    let way_out = "XDG_CACHE_HOME=/somewhere/else evolve";
    let run = repo.run(&["--isolate", "--max-cycles=1"]);
    assert_refused(&repo, run, &[&named, way_out]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let audit = repo.evolve(&["audit", "--remeasure=1"]).expect(3);
    assert!(audit.stderr.contains(way_out), "{}", audit.stderr);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(!repo.has(".cache"));
}

#[test]
fn a_clean_copy_to_measure_in_is_refused_in_the_working_tree_before_anything_is_written() {
    let mut repo = TestRepo::empty();
    let goals = "version: 1\nevolve: {measure: clean}\ngoals:\n  \
                 - {id: a, description: d, check: test -e a, weight: 5}\n";
    repo.write("GOALS.yaml", goals);
    repo.commit_all("first");
    repo.agent_does(&["touch a"]);
    let folder = repo.path(".cache");
    set(&mut repo, "XDG_CACHE_HOME", &folder);
    let run = repo.run(&["--max-cycles=1"]);
    assert_refused(&repo, run, &["XDG_CACHE_HOME=/somewhere/else evolve"]);
    assert!(!repo.has(".agents"));
}

#[test]
fn a_file_in_the_place_of_a_folder_of_evolves_is_refused_and_no_stop_file() {
    for file in [".agents", ".agents/evolve"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.write(file, "notes\n");
        repo.commit_file(file);
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(3);
        let words = format!("{file} is not a plain folder");
        assert!(run.stderr.contains(&words), "{}", run.stderr);
        assert_eq!(repo.calls(), 0);
    }
}
