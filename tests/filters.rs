//! Filters of the user's that load what an agent may write: what they do to git's settings while `evolve`'s own git runs them
//! does not stay.

use std::fs;

use crate::harness::{EVOLVE_PID, TestRepo};

/// A repository whose filter runs every script of the folder `parts`.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5)]).with_out();
    repo.write("b", "b\n");
    repo.write("t.up", "one\n");
    repo.write(".gitattributes", "*.up filter=up\n");
    repo.write(
        "tools/up",
        "for it in parts/*; do . \"./$it\"; done; exec cat\n",
    );
    repo.write("parts/one", "true\n");
    repo.commit_all("first");
    repo.git(&["config", "filter.up.clean", "sh tools/up"]);
    repo.git(&["config", "filter.up.smudge", "sh tools/up"]);
    repo
}

/// What an agent adds to the filter, while a file is there that says that it may.
const PLANT: &str = r#"
cat >parts/two <<'P'
echo ran >>"$OUT/ran"
cd "$(git rev-parse --show-toplevel)"
printf '#!/bin/sh\n' >.git/hooks/pre-commit; chmod 755 .git/hooks/pre-commit
git config core.fsmonitor 'touch "$OUT/monitor"'
P
echo two >t.up
"#;

/// The settings and hooks of the repository.
fn settings(repo: &TestRepo) -> (String, Vec<String>) {
    let hooks = fs::read_dir(repo.path(".git/hooks")).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut hooks: Vec<_> = hooks.map(|entry| name(entry.unwrap())).collect();
    hooks.sort();
    (repo.read(".git/config"), hooks)
}

/// Says what is left of what a filter planted after an agent that ends like this.
fn wrong_after(end: &str, arguments: &[&str]) -> String {
    let repo = repository();
    let before = settings(&repo);
    repo.agent_does(&[&format!("{PLANT}\n{end}"), "echo three >t.up; touch c"]);
    let run = repo.run(arguments);
    let mut wrong = String::new();
    if run.code != 0 {
        wrong.push_str(&format!("exit {}: {}; ", run.code, run.stderr));
    }
    if !repo.out("ran").exists() {
        wrong.push_str("the filter never ran; ");
    }
    if settings(&repo) != before {
        wrong.push_str(&format!("planted: {:?}; ", settings(&repo)));
    }
    match wrong.is_empty() {
        true => wrong,
        false => format!("{end}, {arguments:?}: {wrong}\n"),
    }
}

#[test]
fn a_filter_leaves_no_settings_behind_when_a_cycle_ends() {
    let ends = ["touch a", "touch a; git add .; git commit -qm a", "rm b"];
    let options: [&[&str]; 2] = [&["--max-cycles=1"], &["--max-cycles=2"]];
    let wrong: String = ends
        .iter()
        .flat_map(|end| options.map(|options| wrong_after(end, options)))
        .collect();
    assert_eq!(wrong, "");
}

#[test]
fn nor_does_one_that_takes_a_change_to_the_users_branch() {
    let wrong = wrong_after("touch a", &["--max-cycles=1", "--isolate"]);
    assert_eq!(wrong, "");
}

#[test]
fn nor_does_one_that_undoes_what_a_dead_session_left() {
    let repo = repository();
    let before = settings(&repo);
    repo.agent_does(&[&format!("{PLANT}\nkill -9 {EVOLVE_PID}; sleep 60")]);
    assert_ne!(repo.run(&["--max-cycles=1"]).code, 0);
    repo.agent_does(&["true"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(repo.out("ran").exists());
    assert_eq!(settings(&repo), before);
}
