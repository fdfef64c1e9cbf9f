//! The index after the ledger was committed: just what the commit has, whatever stands in the way of the short way there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;

use evolve::effects::repo::Repo;
use evolve::effects::workspace::Workspace;

use crate::harness::TestRepo;

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
const LESSONS: &str = ".agents/evolve/lessons.jsonl";
const BASELINE: &str = ".agents/evolve/fitness-0-baseline.json";
const QUEUE: &str = ".agents/rpi/next-work.jsonl";

/// A repository with the ledger of one cycle, and a queue.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write(QUEUE, "{\"title\": \"one\", \"severity\": \"low\"}\n");
    repo.commit_all("a queue");
    repo.cycle("touch a; echo learned >\"$EVOLVE_LESSONS\"")
        .expect(0);
    assert!(repo.has(LESSONS) && repo.has(QUEUE));
    repo
}

/// Has the index follow the ledger of HEAD, as after its commit.
fn follow(repo: &TestRepo) {
    let opened = Repo::discover(&repo.root()).unwrap();
    let tree = opened.tree_of(&repo.head()).unwrap();
    let wanted = opened.ledger_files(&tree).unwrap();
    let workspace = Workspace { repo: &opened };
    let index = workspace.lock_index().unwrap();
    workspace.sync_ledger(index, &wanted).unwrap();
}

/// Asserts that the index is HEAD's tree, its times and all.
fn assert_followed(repo: &TestRepo, what: &str) {
    let staged = repo.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(staged, "", "{what}");
    // Compares no content, so that a time that was not noted shows.
    let noted = repo.git(&["diff-files", "--name-only", "--", HISTORY, BASELINE]);
    assert_eq!(noted, "", "{what}");
}

/// Sets a file's text, of the same length, and gives it the time back that it had.
fn forge(repo: &TestRepo, name: &str) {
    let file = repo.path(name);
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    let text = repo.read(name).replace("improved", "worsened");
    assert_ne!(text, repo.read(name));
    fs::write(&file, text).unwrap();
    let opened = fs::File::options().write(true).open(&file).unwrap();
    opened.set_modified(time).unwrap();
}

#[test]
fn after_a_cycle_the_index_has_the_ledger_and_its_times() {
    let repo = repository();
    assert_followed(&repo, "one cycle");
    repo.cycle("touch b").expect(0);
    assert_followed(&repo, "another one");
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn the_index_has_what_was_committed_whatever_was_made_of_the_files_and_of_it() {
    let staged = |repo: &TestRepo, script: &str| {
        let done = repo.command("sh").args(["-ec", script]).status().unwrap();
        assert!(done.success(), "{script}");
    };
    let mode = |repo: &TestRepo, mode| {
        fs::set_permissions(repo.path(HISTORY), fs::Permissions::from_mode(mode)).unwrap();
    };
    type Deed<'d> = &'d dyn Fn(&TestRepo);
    let table: [(&str, Deed<'_>); 12] = [
        ("nothing", &|_| {}),
        ("forged, the time of before", &|repo| forge(repo, HISTORY)),
        ("executable", &|repo| mode(repo, 0o755)),
        ("removed", &|repo| {
            fs::remove_file(repo.path(HISTORY)).unwrap();
        }),
        ("a link", &|repo| {
            fs::remove_file(repo.path(HISTORY)).unwrap();
            symlink("../../GOALS.yaml", repo.path(HISTORY)).unwrap();
        }),
        ("a folder", &|repo| {
            fs::remove_file(repo.path(HISTORY)).unwrap();
            repo.write(&format!("{HISTORY}/mine"), "mine\n");
        }),
        ("forged and staged", &|repo| {
            forge(repo, HISTORY);
            staged(repo, "git add -f .agents");
        }),
        ("not in the index", &|repo| {
            staged(repo, "git rm -rq --cached .agents");
        }),
        ("more in the index", &|repo| {
            staged(
                repo,
                "echo x >.agents/evolve/STOP; echo x >.agents/evolve/fitness-99.json; git add -f .agents; rm .agents/evolve/STOP",
            );
        }),
        ("a file in the index where the folder is", &|repo| {
            staged(
                repo,
                "git rm -rq --cached .agents; printf '100644 %s\\t.agents/evolve\\0' $(git hash-object -w GOALS.yaml) | git update-index -z --index-info",
            );
        }),
        ("in conflict", &|repo| {
            staged(
                repo,
                &format!(
                    "id=$(git rev-parse :{HISTORY}); printf '0 %s\\t{HISTORY}\\n100644 %s 1\\t{HISTORY}\\n100644 %s 2\\t{HISTORY}\\n' $(echo $id | tr 0-9a-f 0) $id $id | git update-index --index-info"
                ),
            );
        }),
        ("not to be looked at, and another version staged", &|repo| {
            staged(
                repo,
                &format!(
                    "printf '100644 %s\\t{HISTORY}\\0' $(git hash-object -w GOALS.yaml) | git update-index -z --index-info; git update-index --assume-unchanged {HISTORY}"
                ),
            );
        }),
    ];
    for (what, deed) in table {
        let repo = repository();
        let history = repo.read(HISTORY);
        deed(&repo);
        follow(&repo);
        assert_eq!(repo.read(HISTORY), history, "{what}");
        mode(&repo, 0o644);
        repo.git(&["update-index", "--refresh"]);
        assert_followed(&repo, what);
        let is_kept = what.starts_with("forged") || ["a link", "a folder"].contains(&what);
        assert_eq!(!repo.quarantined().is_empty(), is_kept, "{what}");
    }
}

#[test]
fn a_line_that_a_person_adds_to_the_queue_stays_in_the_file_and_is_not_staged() {
    let repo = repository();
    let text = repo.read(QUEUE) + "{\"title\": \"two\", \"severity\": \"low\"}\n";
    repo.write(QUEUE, &text);
    follow(&repo);
    assert_eq!(repo.read(QUEUE), text);
    assert_followed(&repo, "the queue");
    assert_eq!(repo.status(), [format!(" M {QUEUE}")]);
}

#[test]
fn what_a_filter_makes_of_the_ledger_is_not_in_the_index() {
    for attributes in ["* filter=loud", "* filter=broken", "* text eol=crlf ident"] {
        let repo = repository();
        repo.git(&["config", "filter.loud.clean", "tr a-z A-Z"]);
        repo.git(&["config", "filter.broken.clean", "false"]);
        // Not in the tree: the cycle's own commits are no matter here.
        fs::write(repo.root().join(".git/info/attributes"), attributes).unwrap();
        let history = repo.read(HISTORY);
        repo.write(HISTORY, &history);
        follow(&repo);
        assert_eq!(repo.read(HISTORY), history, "{attributes}");
        let staged = repo.git(&["diff", "--cached", "--name-only"]);
        assert_eq!(staged, "", "{attributes}");
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_of_the_ledger_stays_in_the_index_and_out_of_the_tree() {
    let repo = repository();
    repo.git(&["update-index", "--skip-worktree", BASELINE]);
    fs::remove_file(repo.path(BASELINE)).unwrap();
    follow(&repo);
    assert!(!repo.has(BASELINE));
    let listed = repo.git(&["ls-files", "-v", BASELINE]);
    assert_eq!(listed, format!("S {BASELINE}"));
    assert_followed(&repo, "left out");
}

#[test]
fn an_index_of_many_files_follows_as_a_small_one_does() {
    let repo = repository();
    let id = repo.git(&["rev-parse", ":GOALS.yaml"]);
    let many = (0..20_000).map(|n| format!("100644 {id}\tmany/a-file-with-a-long-name/{n:05}\0"));
    let mut adding = repo.command("git");
    adding.args(["update-index", "-z", "--index-info"]);
    let mut adding = adding.stdin(Stdio::piped()).spawn().unwrap();
    let many: String = many.collect();
    std::io::Write::write_all(&mut adding.stdin.take().unwrap(), many.as_bytes()).unwrap();
    assert!(adding.wait().unwrap().success());
    assert!(fs::metadata(repo.path(".git/index")).unwrap().len() > 1 << 20);
    let history = repo.read(HISTORY);
    for what in ["forged", "more"] {
        match what {
            "forged" => forge(&repo, HISTORY),
            _ => {
                repo.write(".agents/evolve/fitness-99.json", "{}\n");
                repo.git(&["add", "--force", ".agents/evolve/fitness-99.json"]);
            }
        }
        follow(&repo);
        assert_eq!(repo.read(HISTORY), history, "{what}");
        let staged = repo.git(&["diff", "--cached", "--name-only", "--", ".agents"]);
        assert_eq!(staged, "", "{what}");
    }
    assert_eq!(repo.git(&["ls-files", "many"]).lines().count(), 20_000);
}
