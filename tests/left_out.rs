//! What an agent's tools made beside its work: evolve commits none of it, and measures nothing with it.

use std::path::PathBuf;

use crate::harness::TestRepo;

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
