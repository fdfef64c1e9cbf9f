//! What comes while goals are measured after an agent: it is in no commit, is named, and where a test runner wrote it to hold tests
//! against, the next agent may renew it.

use crate::harness::TestRepo;

/// Writes a report once the file is good.
const REPORTING: &str = "version: 1
goals:
  - {id: good, description: d, check: \"grep -q good a.txt && echo done >report.txt && mkdir -p coverage && echo x >coverage/a && echo x >ignored.log\", weight: 5}
  - {id: kept, description: d, check: test -e kept.txt, weight: 3}
";

fn reporting(setting: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("GOALS.yaml", &format!("{REPORTING}{setting}"));
    repo.write("a.txt", "bad\n");
    repo.write("kept.txt", "");
    repo.write(".gitignore", "*.log\n");
    repo.commit_all("first");
    repo
}

/// Returns the note on what came in the newest record.
fn note(repo: &TestRepo) -> Option<String> {
    let notes = repo.newest()["notes"].clone();
    let notes = notes.as_array().cloned().unwrap_or_default();
    let mut notes = notes.iter().filter_map(|note| note.as_str());
    let note = notes.find(|note| note.contains("in no commit"));
    note.map(str::to_owned)
}

#[test]
fn what_checks_make_after_the_agent_and_no_commit_holds_is_named_with_what_to_do() {
    let made = "made by a check, or by somebody, while the goals were measured, and in no commit: coverage/, report.txt";
    let repair = "echo good >a.txt; git commit -qam mended";
    for (setting, script, expected) in [
        (
            "",
            repair,
            Some(format!("{made} (commit them, or have git ignore them)")),
        ),
        ("evolve: {isolate: true}\n", repair, Some(made.to_owned())),
        ("evolve: {measure: clean}\n", repair, None),
        (
            "",
            "echo good >a.txt; git rm -q kept.txt; git commit -qam mended",
            Some(format!("{made} (the change is undone: remove them)")),
        ),
        (
            "",
            "echo good >a.txt; printf 'report.txt\\ncoverage/\\n' >>.gitignore; git commit -qam mended",
            None,
        ),
    ] {
        let repo = reporting(setting);
        repo.agent_does(&[script]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(note(&repo), expected, "{setting}: {script}");
    }
}

#[test]
fn what_was_there_before_the_agent_is_not_named() {
    let repo = reporting("");
    repo.write("report.txt", "mine\n");
    repo.write("coverage/a", "mine\n");
    repo.agent_does(&["echo good >a.txt; git commit -qam mended"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(note(&repo), None);
}

/// Holds what is put out against a snapshot, and writes one where there is none, as test runners do.
const TEST: &str = "test -e snap.test || exit 0
mkdir -p __snapshots__
if test -e __snapshots__/a.snap; then sh renew.sh | cmp -s - __snapshots__/a.snap
else sh renew.sh >__snapshots__/a.snap; fi
";
const RENEW: &str = "echo '// Jest Snapshot v1, https://example.org'; cat out.txt\n";
const TESTED: &str = "version: 1
goals:
  - {id: tests, description: d, check: sh test.sh, weight: 9}
  - {id: good, description: d, check: grep -q good a.txt, weight: 5}
  - {id: better, description: d, check: grep -q better a.txt, weight: 3}
";
const SNAPSHOT: &str = "__snapshots__/a.snap";

/// A repository whose first agent adds a test and leaves its snapshot to the checks.
fn tested(setting: &str, second: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("GOALS.yaml", &format!("{TESTED}{setting}"));
    repo.write("test.sh", TEST);
    repo.write("renew.sh", RENEW);
    repo.write("a.txt", "bad\n");
    repo.write("out.txt", "1\n");
    repo.commit_all("first");
    repo.agent_does(&[
        "echo good >a.txt; echo >snap.test; git add -A; git commit -qm mended",
        second,
    ]);
    repo
}

fn of(number: u32) -> String {
    format!("// Jest Snapshot v1, https://example.org\n{number}\n")
}

#[test]
fn a_snapshot_that_a_check_wrote_may_be_renewed_removed_and_committed_by_the_next_agent() {
    let renew = "echo good better >a.txt; echo 2 >out.txt; mkdir -p __snapshots__; sh renew.sh >__snapshots__/a.snap";
    let commit = "git add -A; git commit -qm better";
    for setting in ["", "evolve: {isolate: true}\n"] {
        for second in [format!("{renew}; {commit}"), renew.to_owned()] {
            let repo = tested(setting, &second);
            repo.run(&["--max-cycles=2"]).expect(0);
            let told = format!("{setting}: {second}");
            assert_eq!(repo.each("result"), ["improved", "improved"], "{told}");
            assert_eq!(
                repo.git(&["show", "HEAD:__snapshots__/a.snap"]),
                of(2).trim_end(),
                "{told}"
            );
            assert_eq!(repo.read(SNAPSHOT), of(2), "{told}");
            assert_eq!(repo.status(), Vec::<String>::new(), "{told}");
            let is_first = |bytes: &(u32, Vec<u8>)| bytes.1 == of(1).as_bytes();
            let kept = repo.quarantined();
            assert!(
                !setting.is_empty() || kept.values().any(is_first),
                "{told}: {kept:?}"
            );
        }
    }
    let removed =
        "echo good better >a.txt; echo 2 >out.txt; rm __snapshots__/a.snap; git commit -qam better";
    let repo = tested("", removed);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    assert_eq!(repo.read(SNAPSHOT), of(2));
}

#[test]
fn a_snapshot_that_a_check_wrote_is_named_and_in_no_commit_of_evolves_own() {
    let repo = tested("", "echo good better >a.txt");
    repo.run(&["--max-cycles=1"]).expect(0);
    let expected = "made by a check, or by somebody, while the goals were measured, and in no commit: __snapshots__/a.snap (commit it, or have git ignore it; a check with `CI=1` in front writes no snapshot)";
    assert_eq!(note(&repo).as_deref(), Some(expected));
    let repo = tested("", "echo good better >a.txt");
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    assert_eq!(repo.status(), ["?? __snapshots__/"]);
    assert_eq!(repo.read(SNAPSHOT), of(1));
    assert!(repo.quarantined().is_empty());
}

#[test]
fn a_snapshot_that_a_check_wrote_is_as_it_was_after_the_undo_of_a_change_that_renewed_it() {
    let renew = "echo better >a.txt; echo 2 >out.txt; mkdir -p __snapshots__; sh renew.sh >__snapshots__/a.snap";
    for second in [
        format!("{renew}; git add -A; git commit -qm better"),
        renew.to_owned(),
    ] {
        let repo = tested("", &second);
        repo.run(&["--max-cycles=2"]).expect(0);
        assert_eq!(repo.each("result"), ["improved", "regressed"], "{second}");
        assert_eq!(repo.status(), ["?? __snapshots__/"], "{second}");
        assert_eq!(repo.read(SNAPSHOT), of(1), "{second}");
    }
}

#[test]
fn a_snapshot_that_was_there_when_the_session_began_stays_the_users() {
    let repo = tested(
        "",
        "echo good better >a.txt; echo 2 >out.txt; sh renew.sh >__snapshots__/a.snap; git add -A --force; git commit -qm better",
    );
    repo.run(&["--max-cycles=1"]).expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    assert_eq!(repo.status(), ["?? __snapshots__/"]);
    assert_eq!(repo.read(SNAPSHOT), of(1));
}

#[test]
fn what_is_only_called_like_a_snapshot_stays_the_users() {
    let repo = tested(
        "",
        "echo good better >a.txt; echo 2 >out.txt; mkdir -p __snapshots__; sh renew.sh >__snapshots__/a.snap; git add -A; git commit -qm better",
    );
    repo.write("renew.sh", "cat out.txt\n");
    repo.commit_all("no header");
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    assert_eq!(repo.read(SNAPSHOT), "1\n");
}

#[test]
fn a_snapshot_that_an_agent_renews_and_has_git_ignore_meets_no_goal() {
    let repo = tested(
        "",
        "echo good better >a.txt; echo 2 >out.txt; sh renew.sh >__snapshots__/a.snap; echo /__snapshots__/ >.gitignore; git add -A; git commit -qm better",
    );
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    assert_eq!(repo.read(SNAPSHOT), of(1));
}

#[test]
fn what_checks_write_to_tracked_files_in_a_copy_is_named() {
    let repo = TestRepo::empty();
    repo.write("a.txt", "bad\n");
    repo.write("made.txt", "bad\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {isolate: true, jobs: 1}\ngoals:\n  - {id: makes, description: d, check: cp a.txt made.txt && grep -q good a.txt, weight: 9}\n  - {id: made, description: d, check: grep -q good made.txt, weight: 5, alone: true}\n",
    );
    repo.commit_all("first");
    let writes = ["echo good >a.txt", "cp a.txt made.txt", "touch more"];
    repo.agent_does(&writes);
    let named = "written to in the copy while the goals were measured: made.txt (";
    repo.run(&["--max-cycles=1"]).expect(0);
    let notes = repo.newest()["notes"].to_string();
    assert!(notes.contains(named), "{notes}");
    // Before an agent is paid, too.
    repo.evolve(&["work", "add", "the made file"]).expect(0);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    let is_warning = |line: &str| line.contains("warning: tracked") && line.contains(named);
    assert!(run.stderr.lines().any(is_warning), "{}", run.stderr);
    repo.evolve(&["work", "add", "more"]).expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
    let notes = repo.newest()["notes"].to_string();
    assert!(!notes.contains("made.txt"), "{notes}");
}
