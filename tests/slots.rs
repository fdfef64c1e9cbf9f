//! What stands in a copy when it is made ready for the next cycle: paths that lead out of it, links that are lent no more, and
//! a copy that somebody removed.

use std::fs;
use std::path::PathBuf;

use crate::harness::TestRepo;

/// A repository that lends `deep/er/cache` to its copies, which git ignores.
fn lending() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4), ("c", 3)]).with_out();
    repo.write(".gitignore", "/deep\n");
    repo.commit_all("ignored");
    repo.write("deep/er/cache/shared", "shared\n");
    repo
}

/// A folder of the user's that no cycle may touch.
fn precious(repo: &TestRepo) -> PathBuf {
    let outside = repo.out("precious");
    for folder in ["cache", "er/cache"] {
        fs::create_dir_all(outside.join(folder)).unwrap();
        fs::write(outside.join(folder).join("p"), "precious\n").unwrap();
    }
    outside
}

fn assert_untouched(outside: &std::path::Path, what: &str) {
    for folder in ["cache", "er/cache"] {
        let folder = outside.join(folder);
        assert!(!folder.is_symlink(), "{what}: {}", folder.display());
        let kept = fs::read_to_string(folder.join("p"));
        assert_eq!(kept.unwrap_or_default(), "precious\n", "{what}");
    }
}

/// The copy that agents work in.
fn copy(repo: &TestRepo) -> PathBuf {
    let all = repo.home().join(".cache/evolve").canonicalize().unwrap();
    let mut entries = fs::read_dir(all).unwrap();
    entries.next().unwrap().unwrap().path().join("agent")
}

#[test]
fn nothing_is_removed_or_linked_behind_a_link_that_an_agent_put_where_a_lent_path_leads() {
    for place in ["deep", "deep/er"] {
        let repo = lending();
        let outside = precious(&repo);
        let plant = format!("rm -rf {place}; ln -s $OUT/precious {place}; touch a");
        repo.agent_does(&[&plant, "cp deep/er/cache/shared $OUT/lent; touch b"]);
        repo.run(&["--isolate", "--link=deep/er/cache", "--max-cycles=2"])
            .expect(0);
        assert_untouched(&outside, &plant);
        assert_eq!(repo.said("lent"), "shared\n", "{plant}");
    }
}

#[test]
fn nothing_is_linked_behind_a_link_in_the_copy_that_checks_run_in() {
    let repo = lending();
    let outside = precious(&repo);
    repo.agent_does(&[
        "rm -rf deep; ln -s $OUT/precious deep; touch a; git add -f deep a; git commit -qm a",
        "touch b",
    ]);
    repo.write(
        "GOALS.yaml",
        &format!("{}evolve: {{measure: clean}}\n", repo.read("GOALS.yaml")),
    );
    repo.commit_all("measured in a clean copy");
    repo.run(&["--isolate", "--link=deep/er/cache", "--max-cycles=2"]);
    assert_untouched(&outside, "measure: clean");
}

#[test]
fn a_link_that_is_lent_no_more_goes_and_what_it_led_to_stays() {
    let repo = lending();
    repo.write("deep/other", "other\n");
    repo.agent_does(&["touch a", "touch b", "touch c"]);
    let both = [
        "--isolate",
        "--max-cycles=1",
        "--link=deep/er/cache",
        "--link=deep/other",
    ];
    repo.run(&both).expect(0);
    let copy = copy(&repo);
    assert!(copy.join("deep/er/cache").is_symlink() && copy.join("deep/other").is_symlink());
    repo.run(&both[..3]).expect(0);
    assert!(copy.join("deep/er/cache").is_symlink() && !copy.join("deep/other").is_symlink());
    repo.run(&both[..2]).expect(0);
    assert!(!copy.join("deep/er/cache").is_symlink());
    assert_eq!(repo.read("deep/er/cache/shared"), "shared\n");
    assert_eq!(repo.read("deep/other"), "other\n");
}
