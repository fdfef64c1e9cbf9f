//! What a sweep found, and a cycle was to mend, is looked for once more: a kept change says nothing of it.

use super::*;

/// A shellcheck that finds something in `a.sh` until that holds the word `quoted`.
fn install_honest_shellcheck(repo: &mut TestRepo) {
    let calls = repo.outside().join("sweeps");
    let script = format!(
        "echo x >>'{}'\ngrep -q quoted a.sh && {{ echo '[]'; exit 0; }}\ncat <<'END'\n{ONE_FINDING}\nEND\nexit 1",
        calls.display()
    );
    install(repo, "shellcheck", &script);
}

#[test]
fn a_finding_that_is_still_there_after_its_cycle_is_told_and_recorded() {
    let mut repo = repo_with("");
    install_honest_shellcheck(&mut repo);
    repo.agent_does(&["echo '# a comment' >>a.sh"]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["harvested", "idle"]);
    assert_eq!(sweeps(&repo), 2, "{}", run.stdout);
    let said = "shellcheck still finds in a.sh what cycle 1 was to mend; the item counts as done";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    // It is told once, with the cycle that records it.
    assert!(!run.stderr.contains("still finds"), "{}", run.stderr);
    let notes = &repo.each("notes")[1];
    assert!(notes.contains(said), "{notes}");
    // Nothing is queued twice, and the same is not told by each session.
    assert_eq!(items(&repo).len(), 1);
    let run = idle(&repo);
    assert!(!run.stdout.contains("still finds"), "{}", run.stdout);
    // The next sweep does.
    set_clock(&mut repo, "2026-02-20T00:00:00Z");
    let run = idle(&repo);
    assert!(run.stdout.contains(said), "{}", run.stdout);
    assert_eq!(items(&repo).len(), 1);
}

#[test]
fn a_finding_that_is_gone_is_told_to_be() {
    let mut repo = repo_with("");
    install_honest_shellcheck(&mut repo);
    repo.agent_does(&["echo '# quoted' >>a.sh"]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["harvested", "idle"]);
    let said = "shellcheck no longer finds what cycle 1 mended";
    assert!(run.stdout.contains(said), "{}", run.stdout);
    assert!(!run.stdout.contains("still finds"), "{}", run.stdout);
}

#[test]
fn a_change_that_was_taken_back_is_no_longer_asked_for() {
    let mut repo = repo_with("");
    install_honest_shellcheck(&mut repo);
    repo.cycle("echo '# a comment' >>a.sh").expect(0);
    repo.evolve(&["undo", "1"]).expect(0);
    set_clock(&mut repo, "2026-02-20T00:00:00Z");
    let run = idle(&repo);
    assert!(!run.stdout.contains("still finds"), "{}", run.stdout);
}

#[test]
fn what_is_still_found_is_told_where_nothing_is_recorded_too() {
    let mut repo = repo_with("sweep: [linters, {run: 'test ! -e ../agent/broken || exit 9'}]");
    install_honest_shellcheck(&mut repo);
    repo.agent_does(&["echo '# a comment' >>a.sh"]);
    repo.run(&[]).expect(0);
    set_clock(&mut repo, "2026-02-20T00:00:00Z");
    fs::write(repo.outside().join("broken"), "").unwrap();
    let records = repo.each("result").len();
    let run = idle(&repo);
    assert_eq!(repo.each("result").len(), records, "{}", run.stdout);
    let told = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(told.matches("still finds in a.sh").count(), 1, "{told}");
}

#[test]
fn what_could_not_be_looked_for_in_one_cycle_is_looked_for_in_the_next() {
    let mut repo = repo_with("");
    install_honest_shellcheck(&mut repo);
    let dirty = format!("echo dirty >>'{}'", repo.path("a.sh").display());
    // The baseline, both measurements of the first cycle, and that of the second: no sweep runs over changes.
    let check = repo.check_in_turn("check", &["exit 0", "exit 0", "exit 0", &dirty, "exit 0"]);
    repo.write(
        "GOALS.yaml",
        &format!(
            "evolve: {{on_cycle: git checkout -q a.sh}}\ngoals:\n  - {{id: c, description: c, check: {check}, weight: 5}}\n"
        ),
    );
    repo.commit_all("a check that writes once");
    repo.agent_does(&["echo '# quoted' >>a.sh"]);
    let run = repo.run(&["--max-cycles=3"]).expect(0);
    assert_eq!(repo.each("result"), ["harvested", "idle", "idle"]);
    assert!(run.stderr.contains("no sweep, because"), "{}", run.stderr);
    let said = "shellcheck no longer finds what cycle 1 mended";
    assert!(run.stdout.contains(said), "{}", run.stdout);
}
