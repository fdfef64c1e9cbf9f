//! What no commit holds and a check may see all the same: bytes that git's conversions hide, and empty folders. It counts for
//! nothing, and nothing of it is left by an undo.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use evolve::effects::repo::Repo;
use evolve::effects::workspace::{WayOut, Workspace};

use crate::harness::{EVOLVE_PID, TestRepo};

/// Goal `a` fails until the word `good` is in a file, `keep` passes as long as there is a file `b`.
const GOALS: &str = "version: 1
goals:
  - {id: a, description: a, check: grep -q good a.txt, weight: 5, retries: 0}
  - {id: keep, description: b, check: test -e b, weight: 3, retries: 0}
";

fn repository() -> TestRepo {
    let repo = TestRepo::empty();
    repo.write("GOALS.yaml", GOALS);
    repo.write("a.txt", "bad\n");
    repo.write("b", "");
    repo.write("id.txt", "x $Id$ y\n");
    repo.write("lines.txt", "one\ntwo\n");
    repo.commit_all("first");
    repo
}

/// Attributes by which the commit of a file lacks the word that is in the tree, and what is written there.
const HIDING: [(&str, &str, &str); 3] = [
    ("ident", "a.txt ident", "printf 'bad $Id: good $\\n' >a.txt"),
    (
        "ident, uncommitted",
        "*.txt ident",
        "printf 'bad $Id: good $\\n' >a.txt; git add a.txt",
    ),
    (
        "line ends",
        "a.txt text",
        "printf 'bad\\r\\n' >a.txt; git config core.autocrlf input",
    ),
];

#[test]
fn a_goal_is_judged_by_bytes_that_a_commit_holds() {
    for (what, attributes, script) in HIDING {
        for (commit, isolate) in [(true, false), (false, false), (true, true)] {
            let repo = repository();
            if what == "line ends" {
                let check = "test $(wc -c <a.txt) -eq 5";
                repo.write("GOALS.yaml", &GOALS.replace("grep -q good a.txt", check));
                repo.commit_all("line ends count");
            }
            let commit = if commit {
                "git add -A; git commit -qm x"
            } else {
                "true"
            };
            let agent = format!("echo '{attributes}' >.gitattributes; {script}; {commit}");
            repo.agent_does(&[&agent]);
            let isolate = if isolate { "--isolate" } else { "--quiet" };
            repo.run(&["--max-cycles=1", isolate]).expect(0);
            let record = repo.newest();
            assert_eq!(record["result"], "unchanged", "{what}: {record}");
            assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
        }
    }
}

#[test]
fn an_undo_leaves_no_words_in_files_that_git_converts() {
    for (what, attributes, script) in [
        (
            "ident",
            "id.txt ident",
            "printf 'x $Id: evil $ y\\n' >id.txt",
        ),
        (
            "line ends",
            "*.txt text",
            "printf 'one\\r\\ntwo\\r\\n' >lines.txt",
        ),
        (
            "an encoding",
            "lines.txt working-tree-encoding=UTF-16",
            "iconv -t UTF-16 lines.txt >l; mv l lines.txt",
        ),
    ] {
        let repo = repository();
        let before = repo.files();
        let record = |repo: &TestRepo| repo.newest()["result"].to_string();
        repo.cycle(&format!(
            "rm b; echo '{attributes}' >.gitattributes; {script}; git add -A; git commit -qm x; git status"
        ))
        .expect(0);
        assert_eq!(record(&repo), "\"regressed\"", "{what}");
        for name in ["id.txt", "lines.txt", "a.txt"] {
            let key = name.as_bytes().to_vec();
            assert_eq!(repo.files().get(&key), before.get(&key), "{what}: {name}");
        }
        repo.git(&["update-index", "--refresh"]);
        // The attributes may be the user's own as well.
        let repo = repository();
        repo.write(".gitattributes", &format!("{attributes}\n"));
        if what == "an encoding" {
            let bytes: Vec<_> = "\u{feff}one\ntwo\n"
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect();
            fs::write(repo.path("lines.txt"), bytes).unwrap();
        }
        repo.commit_all("attributes");
        repo.git(&["rm", "-q", "--cached", "-r", "."]);
        repo.git(&["reset", "-q", "--hard"]);
        let before = repo.files();
        repo.cycle(&format!(
            "rm b; {script}; git add -A; git commit -qm x; git status"
        ))
        .expect(0);
        assert_eq!(record(&repo), "\"regressed\"", "{what}");
        for name in ["id.txt", "lines.txt", "a.txt"] {
            let key = name.as_bytes().to_vec();
            assert_eq!(repo.files().get(&key), before.get(&key), "{what}: {name}");
        }
    }
}

#[test]
fn what_a_filter_keeps_out_of_commits_is_in_the_file_still_or_in_the_quarantine() {
    for script in [
        "true",
        "touch book.ipynb; touch x",
        "echo more >>book.ipynb",
        "rm b; touch book.ipynb",
        "rm b; echo more >>book.ipynb",
    ] {
        let repo = repository();
        repo.git(&["config", "filter.outputs.clean", "sed /^OUTPUT/d"]);
        repo.git(&["config", "filter.outputs.smudge", "cat"]);
        repo.write(".gitattributes", "*.ipynb filter=outputs\n");
        repo.write("book.ipynb", "cell\nOUTPUT mine\n");
        repo.commit_all("a notebook");
        repo.cycle(script).expect(0);
        let kept = repo.quarantined();
        let mut all = kept.values().map(|(_, bytes)| bytes.clone());
        let is_mine = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains("OUTPUT mine");
        let is_there = is_mine(repo.read("book.ipynb").as_bytes());
        assert!(is_there || all.any(|it| is_mine(&it)), "{script}: {kept:?}");
    }
}

#[test]
fn line_ends_of_a_file_that_the_agent_did_not_touch_stay() {
    let repo = repository();
    repo.write(".gitattributes", "*.txt text\n");
    repo.write("a.txt", "bad\r\n");
    repo.commit_all("text");
    assert_eq!(repo.status(), Vec::<String>::new());
    let opened = Repo::discover(&repo.root()).unwrap();
    let workspace = Workspace { repo: &opened };
    let start = workspace.begin("session", 1, WayOut::Commit, &[]).unwrap();
    workspace.take_stock(&start).unwrap();
    assert_eq!(repo.read("a.txt"), "bad\n", "it was touched since");
    repo.write("a.txt", "bad\r\n");
    repo.git(&["add", "a.txt"]);
    let mut start = workspace.begin("session", 2, WayOut::Commit, &[]).unwrap();
    // As if all of it were long ago.
    start.since += 60;
    workspace.take_stock(&start).unwrap();
    assert_eq!(repo.read("a.txt"), "bad\r\n");
}

#[test]
fn a_filter_that_fails_takes_no_file_away() {
    let repo = repository();
    repo.write(".gitattributes", "a.txt filter=broken\n");
    repo.git(&["config", "filter.broken.clean", "cat"]);
    repo.git(&["config", "filter.broken.smudge", "false"]);
    repo.git(&["config", "filter.broken.required", "true"]);
    repo.commit_all("filter");
    let run = repo.cycle("echo good >a.txt").expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", run.stderr);
    assert_eq!(repo.read("a.txt"), "good\n");
    let notes = repo.newest()["notes"].to_string();
    assert!(notes.contains("git cannot write them anew"), "{notes}");
}

#[test]
fn empty_folders_count_for_nothing_and_are_gone_after_an_undo() {
    let check = "test -d out -o -d old -o -d lib/deep";
    let goals = GOALS.replace("grep -q good a.txt", check);
    for isolate in ["--quiet", "--isolate"] {
        for (script, result) in [
            ("mkdir out; echo x >n", "unchanged"),
            ("mkdir -p out lib/deep/er; rm b", "regressed"),
            (
                "mkdir -p out/target; rm b; git rm -q lib/f; mkdir -p lib",
                "regressed",
            ),
            ("mkdir out; chmod 500 out", "unchanged"),
        ] {
            let repo = TestRepo::empty();
            repo.write("GOALS.yaml", &goals);
            repo.write(".gitignore", "target/\n");
            repo.write("lib/f", "f\n");
            repo.write("b", "");
            repo.commit_all("first");
            fs::create_dir_all(repo.path("users/own")).unwrap();
            repo.agent_does(&[script]);
            repo.run(&["--max-cycles=1", isolate]).expect(0);
            assert_eq!(
                repo.newest()["result"],
                result,
                "{script}: {}",
                repo.newest()
            );
            assert!(!repo.has("out") && !repo.has("lib/deep"), "{script}");
            assert!(repo.has("users/own") && repo.has("lib/f"), "{script}");
        }
    }
}

#[test]
fn a_folder_whose_files_went_away_does_not_count_either() {
    let repo = TestRepo::empty();
    let check = "test -d lib -a ! -e lib/f";
    repo.write("GOALS.yaml", &GOALS.replace("grep -q good a.txt", check));
    repo.write("lib/f", "f\n");
    repo.write("b", "");
    repo.commit_all("first");
    repo.cycle("rm lib/f").expect(0);
    assert_eq!(repo.newest()["result"], "unchanged", "{}", repo.newest());
    assert!(!repo.has("lib"));
}

#[test]
fn the_users_empty_folders_stay_and_come_back() {
    for script in [
        "rmdir users/own; touch good; printf 'good\\n' >a.txt",
        "rm -r users; rm b",
        "rm -r users; mkdir elsewhere; ln -s elsewhere users; rm b",
        "echo x >users/own/f; git add .; git commit -qm x; rm b",
        "mkdir target/new; rm -r users",
    ] {
        let repo = repository();
        repo.write(".gitignore", "target/\n");
        repo.commit_all("ignored");
        fs::create_dir_all(repo.path("users/own")).unwrap();
        fs::create_dir_all(repo.path("target")).unwrap();
        fs::set_permissions(repo.path("users/own"), fs::Permissions::from_mode(0o710)).unwrap();
        repo.cycle(script).expect(0);
        let meta = fs::symlink_metadata(repo.path("users/own")).unwrap();
        assert_eq!(meta.permissions().mode() & 0o7777, 0o710, "{script}");
        assert_eq!(
            repo.has("target/new"),
            script.contains("target/new"),
            "{script}"
        );
        assert_eq!(repo.status(), Vec::<String>::new(), "{script}");
    }
}

/// Folders are exchanged, which leaves the files in them as old as they were, and git is told that each file is the other one: by a
/// filter for the length of one call.
const EXCHANGE: &str = "mv one other; mv two one; mv other two
git config filter.swap.clean 'git cat-file blob HEAD:%f'; mkdir -p .git/info; echo '* filter=swap' >.git/info/attributes
git add one two; git config --remove-section filter.swap; rm .git/info/attributes
test -z \"$(git status --porcelain)\" || exit 9";

/// A repository with old files in the folders that `EXCHANGE` exchanges. Files are dated by the machine: with a clock that stands in the
/// past, every one of them is younger than the cycle.
fn folders_to_exchange() -> TestRepo {
    let mut repo = TestRepo::empty();
    repo.env.push(("EVOLVE_CLOCK".to_owned(), String::new()));
    let goals = GOALS.replace("a.txt", "one/a.txt");
    repo.write("GOALS.yaml", &goals);
    repo.write("one/a.txt", "bad\n");
    repo.write("two/a.txt", "good\n");
    repo.write("b", "");
    repo.commit_all("first");
    // What is as old as the cycle is looked at anyway.
    std::thread::sleep(std::time::Duration::from_secs(4));
    repo
}

#[test]
fn old_files_in_folders_that_were_exchanged_count_as_what_a_commit_holds() {
    for (after, is_kept) in [("touch made", true), ("touch made; rm b", false)] {
        let repo = folders_to_exchange();
        repo.cycle(&format!("{EXCHANGE}; {after}")).expect(0);
        let record = repo.newest();
        let wanted = if is_kept { "improved" } else { "regressed" };
        assert_eq!(record["result"], wanted, "{record}");
        let held = repo.git(&["cat-file", "blob", "HEAD:one/a.txt"]);
        assert_eq!(repo.read("one/a.txt"), format!("{held}\n"), "{after}");
        assert_eq!(held, if is_kept { "good" } else { "bad" }, "{after}");
    }
}

#[test]
fn old_files_in_folders_that_were_exchanged_before_a_crash_are_what_they_were() {
    let repo = folders_to_exchange();
    repo.agent_does(&[&format!("{EXCHANGE}; kill -9 {EVOLVE_PID}; exit 1"), "true"]);
    let run = repo.run(&["--max-cycles=1"]);
    assert_ne!(run.code, 0, "{}", run.stderr);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["interrupted", "unchanged"],
        "{}",
        run.stdout
    );
    assert_eq!(repo.read("one/a.txt"), "bad\n");
    assert_eq!(repo.read("two/a.txt"), "good\n");
}

/// Where an agent puts what meets a goal and a `.gitignore` that hides both, and whether that is named.
const SELF_HIDING: [(&str, bool); 6] = [
    ("d", true),
    ("d/e", true),
    ("src", true),
    (".venv", false),
    ("ours/d", false),
    ("made", false),
];

#[test]
fn what_a_gitignore_hides_that_hides_itself_is_named_unless_tools_filled_the_folder() {
    for (folder, is_named) in SELF_HIDING {
        let repo = TestRepo::empty();
        repo.write("src/code", "code\n");
        repo.write(".gitignore", "/ours/\n");
        repo.commit_all("src");
        repo.commit_goals(&format!(
            "  - {{id: a, description: a, check: 'mkdir -p made; echo \"*\" >made/.gitignore; test -e {folder}/t', weight: 5}}\n"
        ));
        let hide = format!("mkdir -p {folder}; echo '*' >{folder}/.gitignore; echo x >{folder}/t");
        repo.agent_does(&[&format!("{hide}; touch more")]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{folder}");
        let said = format!("which no commit holds and goals may be met by: {folder}/.gitignore");
        assert_eq!(
            run.stdout.contains(&said),
            is_named,
            "{folder}: {}",
            run.stdout
        );
        assert!(!repo.git(&["ls-files", folder]).contains("/t"), "{folder}");
    }
}

/// Makes `$tree` of the index with one more entry that git itself would never make, and commits it.
const HAND_MADE: &str = "blob=$(echo x | git hash-object -w --stdin)
inner=$(printf '100644 blob %s\\tconfig\\n' $blob | git mktree)
tree=$( (git ls-tree $(git write-tree); printf '040000 tree %s\\tNAME\\n' $inner) | git mktree)
git reset -q --soft $(git commit-tree $tree -p HEAD -m evil)";

#[test]
fn a_commit_with_paths_that_git_refuses_is_undone_also_where_a_later_one_is_without_them() {
    for (name, after) in [
        ("..", ""),
        (".git", ""),
        ("..", "; git read-tree HEAD^; git commit -qm after"),
    ] {
        let repo = repository();
        let start = repo.head();
        let made = HAND_MADE.replace("NAME", name);
        repo.agent_does(&[&format!("echo good >a.txt; git add a.txt; {made}{after}")]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{name}{after}: {record}");
        let expected = format!("committed paths that git refuses: {name}/config");
        assert_eq!(record["reason"], expected, "{after}");
        let said = format!(
            "what git refuses stays in the history of main after an undo: look at the commits after {start}"
        );
        assert!(run.stdout.contains(&said), "{}", run.stdout);
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{name}{after}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{name}{after}");
    }
}

#[test]
fn a_pipe_of_the_agents_meets_no_goal_and_is_in_no_later_checks_way() {
    let goals = "version: 1
evolve: {timeout: 5s}
goals:
  - {id: a, description: a, check: test -p p.txt, weight: 5, retries: 0}
  - {id: keep, description: b, check: \"! cat *.txt | grep -q TODO\", weight: 3, retries: 0}
";
    for isolate in ["--isolate", "--quiet"] {
        let repo = repository();
        repo.write("GOALS.yaml", goals);
        repo.commit_all("goals");
        // The user's own stays.
        fs::create_dir_all(repo.path("mine")).unwrap();
        let mine = repo.path("mine/pipe").display().to_string();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&mine)
                .status()
                .unwrap()
                .success()
        );
        repo.agent_does(&["mkfifo p.txt q.txt; echo 1 >c; git add c; git commit -qm c"]);
        repo.run(&["--max-cycles=1", isolate]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "unchanged", "{isolate}: {record}");
        let notes = record["notes"].to_string();
        assert!(
            notes.contains("p.txt") && !notes.contains("mine"),
            "{isolate}: {notes}"
        );
        assert!(!repo.path("p.txt").exists() && !repo.path("q.txt").exists());
        assert!(repo.path("mine/pipe").exists());
    }
}

#[test]
fn each_path_that_git_refuses_is_named_once_however_many_commits_there_are() {
    let repo = repository();
    let entries = "printf '040000 tree %s\\tNAME\\n' $inner";
    let both = ["..", ".git"]
        .map(|name| entries.replace("NAME", name))
        .join("; ");
    let made = HAND_MADE.replace(entries, &both);
    repo.agent_does(&[&format!("git commit -q --allow-empty -m one; {made}")]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let expected = "committed paths that git refuses: ../config, .git/config";
    assert_eq!(repo.newest()["reason"], expected);
}

#[test]
fn a_file_that_is_taken_out_of_git_and_ignored_meets_no_goal_and_is_as_before() {
    for (what, script, isolate) in [
        (
            "uncommitted",
            "git rm -q --cached a.txt; echo a.txt >.gitignore; echo good >a.txt",
            false,
        ),
        (
            "committed",
            "git rm -q --cached a.txt; echo a.txt >.gitignore; echo good >a.txt; git add .gitignore; git commit -qm x",
            false,
        ),
        (
            "in a copy",
            "git rm -q --cached a.txt; echo a.txt >.gitignore; echo good >a.txt",
            true,
        ),
    ] {
        let repo = repository();
        repo.agent_does(&[script]);
        let options: &[&str] = if isolate { &["--isolate"] } else { &[] };
        repo.run(&[&["--max-cycles=1"], options].concat()).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "unchanged", "{what}: {record:#}");
        let how = match isolate {
            true => "which the change takes from your checkout",
            false => "as before the agent",
        };
        let named = format!("no longer tracked, ignored and still there, {how}: a.txt");
        let notes = record["notes"].to_string();
        assert!(notes.contains(&named), "{what}: {notes}");
        if !isolate {
            assert_eq!(repo.read("a.txt"), "bad\n", "{what}");
            assert!(notes.contains("quarantine"), "{what}: {notes}");
        }
    }
}

#[test]
fn a_file_that_is_no_longer_tracked_and_as_it_was_stays_and_is_named() {
    let repo = repository();
    repo.write("made", "built\n");
    repo.commit_all("a build output");
    repo.agent_does(&[
        "git rm -q --cached made; echo made >.gitignore; echo good >a.txt; git add -A; git commit -qm x",
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    let notes = record["notes"].to_string();
    assert!(
        notes.contains("still there, as before the agent: made"),
        "{notes}"
    );
    assert!(!notes.contains("quarantine"), "{notes}");
    assert_eq!(repo.read("made"), "built\n");
    assert!(!repo.git(&["ls-files"]).contains("made"));
}

#[test]
fn a_file_that_a_checkout_converts_and_that_is_no_longer_tracked_stays_as_it_was() {
    let repo = repository();
    repo.write(".gitattributes", "made text eol=crlf\n");
    repo.write("made", "built\r\n");
    repo.commit_all("a build output");
    repo.agent_does(&[
        "git rm -q --cached made; echo made >.gitignore; echo good >a.txt; git add -A; git commit -qm x",
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    let notes = record["notes"].to_string();
    assert!(
        notes.contains("still there, as before the agent: made"),
        "{notes}"
    );
    assert!(!notes.contains("quarantine"), "{notes}");
    assert_eq!(repo.read("made"), "built\r\n");
}
