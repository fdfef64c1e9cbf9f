//! What an agent's tools made beside its work: evolve commits none of it, and measures nothing with it.

use std::path::PathBuf;

use crate::harness::{TestRepo, files_below};

const GOALS: &str = "version: 1
goals:
  - {id: good, description: d, check: grep -q good a.txt, weight: 5}
  - {id: unmade, description: d, check: \"! test -e main.o\", weight: 3}
";
/// What a compiler, an interpreter and a coverage tool leave.
const MADE: &str = "printf '\\177ELF' >main.o; mkdir -p p/__pycache__; echo x >p/__pycache__/m.cpython-312.pyc; echo x >.coverage";

fn repository(setting: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("GOALS.yaml", &format!("{GOALS}{setting}"));
    repo.write("a.txt", "bad\n");
    repo.commit_all("first");
    repo
}

#[test]
fn what_tools_made_is_left_out_of_the_commit_and_nothing_is_measured_with_it() {
    for setting in [
        "",
        "evolve: {isolate: true}\n",
        "evolve: {measure: clean}\n",
    ] {
        let repo = repository(setting);
        repo.agent_does(&[&format!(
            "echo good >a.txt; git commit -qam mended; {MADE}; echo x >new.txt"
        )]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{setting}: {record:#}");
        let notes = record["notes"].to_string();
        for made in ["main.o", "p/__pycache__/m.cpython-312.pyc", ".coverage"] {
            assert!(!repo.git(&["ls-files"]).contains(made), "{setting}: {made}");
            assert!(notes.contains(made), "{setting}: {notes}");
            assert!(!repo.path(made).exists(), "{setting}: {made}");
        }
        assert!(repo.git(&["ls-files"]).contains("new.txt"), "{setting}");
        assert!(
            notes.contains("left out of the commit"),
            "{setting}: {notes}"
        );
        let kept: Vec<PathBuf> = repo
            .quarantined()
            .into_keys()
            .map(|it| String::from_utf8(it).unwrap().into())
            .collect();
        assert!(
            kept.iter().any(|it| it.ends_with("main.o")),
            "{setting}: {kept:?}"
        );
        assert_eq!(repo.status(), Vec::<String>::new(), "{setting}");
    }
}

#[test]
fn what_tools_made_and_the_agent_committed_itself_is_kept_and_named() {
    let repo = repository("");
    repo.agent_does(&[&format!(
        "echo good >a.txt; {MADE}; rm main.o; git add -A; git commit -qm mended"
    )]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    let named = "the change commits what tools made, which git had better ignore: p/__pycache__/ (1 file), .coverage";
    assert!(record["notes"].to_string().contains(named), "{record:#}");
}

#[test]
fn a_fixture_of_machine_code_that_is_moved_is_committed_where_it_is_now() {
    for setting in ["", "evolve: {isolate: true}\n"] {
        let repo = repository(setting);
        repo.write("fixtures/a.elf", "\x7fELF code\n");
        repo.write("fixtures/b.txt", "text\n");
        repo.commit_all("fixtures");
        repo.agent_does(&["mkdir t; mv fixtures t/fixtures; echo good >a.txt"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{setting}");
        let tracked = repo.git(&["ls-files"]);
        assert!(tracked.contains("t/fixtures/a.elf"), "{setting}: {tracked}");
    }
}

#[test]
fn what_the_user_had_and_tools_made_stays_and_is_no_part_of_a_change() {
    let repo = repository("");
    repo.write(".coverage", "mine\n");
    repo.agent_does(&["echo good >a.txt; echo theirs >.coverage"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(repo.read(".coverage"), "mine\n");
    assert!(!repo.git(&["ls-files"]).contains(".coverage"));
}

/// Writes a log of its own, other bytes each time, once the file is good.
const LOGGING: &str = "version: 1
goals:
  - id: good
    description: d
    check: grep -q good a.txt && mkdir -p logs && date +%s%N >logs/tests.log
    weight: 5
  - id: told
    description: d
    check: grep -q PASS logs/tests.log
    weight: 3
";

fn with_goals(goals: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("GOALS.yaml", goals);
    repo.write("a.txt", "bad\n");
    repo.commit_all("first");
    repo
}

fn notes(repo: &TestRepo) -> String {
    repo.newest()["notes"].to_string()
}

#[test]
fn a_log_that_checks_write_anew_is_left_out_of_the_commit_and_meets_no_goal() {
    for (more, has_commit) in [("", false), ("; echo x >new.txt", true)] {
        let repo = with_goals(LOGGING);
        repo.agent_does(&[&format!(
            "echo good >a.txt; git commit -qam mended; mkdir logs; echo PASS >logs/tests.log{more}"
        )]);
        repo.run(&["--jobs=1", "--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{record:#}");
        assert_eq!(record["goals_passing"], 1, "{record:#}");
        let told = "left out of the commit of what the agent left, as checks write it anew and git had better ignore it: logs/tests.log";
        assert!(notes(&repo).contains(told), "{record:#}");
        assert!(!notes(&repo).contains("in no commit"), "{record:#}");
        let tracked = repo.git(&["ls-files"]);
        assert!(!tracked.contains("tests.log"), "{tracked}");
        assert_eq!(tracked.contains("new.txt"), has_commit, "{tracked}");
        let subjects = repo.subjects().join("\n");
        let by_evolve = "what the agent left uncommitted";
        assert_eq!(subjects.contains(by_evolve), has_commit, "{subjects}");
        assert_eq!(repo.status(), ["?? logs/"]);
        let kept = files_below(&repo.private().join("quarantine"));
        assert!(
            kept.values().any(|(_, bytes)| bytes == b"PASS\n"),
            "{kept:?}"
        );
    }
}

#[test]
fn a_cache_that_checks_remove_is_left_out_of_the_commit() {
    let goals = "version: 1
goals:
  - {id: good, description: d, check: rm -f cache.txt; grep -q good a.txt, weight: 5}
";
    let repo = with_goals(goals);
    repo.agent_does(&["echo good >a.txt; git commit -qam mended; echo x >cache.txt"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", notes(&repo));
    assert!(notes(&repo).contains("cache.txt"), "{}", notes(&repo));
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_lock_file_that_a_check_makes_anew_is_not_left_out_but_undone_with_what_to_do() {
    let goals = "version: 1
goals:
  - {id: builds, description: d, check: \"! test -e package.json || cat package.json >package-lock.json\", weight: 4}
  - {id: locked, description: d, check: test -e package.json && test -e package-lock.json, weight: 5}
";
    let repo = with_goals(goals);
    repo.agent_does(&[
        "echo '{}' >package.json; echo '{ }' >package-lock.json",
        "echo '{}' | tee package.json >package-lock.json",
    ]);
    repo.run(&["--jobs=1", "--max-cycles=2"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["regressed", "improved"],
        "{}",
        notes(&repo)
    );
    let reason = &repo.each("reason")[0];
    let said =
        "package-lock.json by the check of builds (commit what they write, or have them compare)";
    assert!(reason.contains(said), "{reason}");
    assert_eq!(repo.git(&["show", "HEAD:package-lock.json"]), "{}");
}

#[test]
fn what_checks_only_write_over_or_the_agent_committed_itself_is_undone_with_its_change() {
    let over = "version: 1
goals:
  - {id: good, description: d, check: \"grep -q good a.txt && { ! test -e new.txt || date +%s%N >new.txt; }\", weight: 5}
";
    let anew = "version: 1
goals:
  - {id: good, description: d, check: \"grep -q good a.txt && date +%s%N >new.txt\", weight: 5}
";
    for (goals, script) in [
        (over, "echo good >a.txt; echo mine >new.txt"),
        (
            anew,
            "echo good >a.txt; echo mine >new.txt; git add -A; git commit -qm mended",
        ),
        (
            anew,
            "echo good >a.txt; echo mine >new.txt; echo other >other.txt; git add -A; git commit -qm mended; echo left >left.txt",
        ),
    ] {
        let repo = with_goals(goals);
        repo.agent_does(&[script]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{script}: {record:#}");
        let reason = record["reason"].to_string();
        let expected = "checks write tracked files, so that what is measured is in no commit: new.txt by the check of good (they are new: name them in .gitignore)";
        assert!(reason.contains(expected), "{script}: {reason}");
        assert!(!notes(&repo).contains("left out"), "{script}: {record:#}");
        let work = repo.git(&["for-each-ref", "--format=%(refname)", "refs/evolve"]);
        let work = work.lines().next().unwrap_or_default();
        let kept = repo.git(&["show", &format!("{work}:new.txt")]);
        assert_eq!(kept, "mine", "{script}: {work}");
        assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "bad", "{script}");
    }
}

#[test]
fn what_somebody_wrote_once_to_a_file_that_the_agent_left_costs_no_change() {
    let goals = "version: 1
goals:
  - id: good
    description: d
    check: grep -q good a.txt || exit 1; test -e ../once || { echo >../once; echo theirs >new.txt; }
    weight: 5
";
    let repo = with_goals(goals);
    repo.agent_does(&["echo good >a.txt; echo mine >new.txt"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", notes(&repo));
    assert_eq!(repo.git(&["show", "HEAD:new.txt"]), "mine");
}
