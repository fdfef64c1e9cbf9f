//! Filters of the user's that load what an agent may write: what they do to git's settings while `evolve`'s own git runs them
//! does not stay.

use std::fs;

use crate::compared::sh;
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

#[test]
fn attributes_that_make_something_else_of_the_ledger_are_refused_with_the_way_out() {
    for (attributes, shown) in [
        (
            "*.jsonl filter=lfs diff=lfs -text",
            "filter=lfs for .agents/evolve/cycle-history.jsonl",
        ),
        (
            "*.md working-tree-encoding=UTF-16",
            "working-tree-encoding=UTF-16 for .agents/evolve/session-summary.md",
        ),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.write(".gitattributes", &format!("{attributes}\n"));
        repo.commit_all("attributes");
        repo.agent_does(&["touch a"]);
        let run = repo.run(&[]).expect(3);
        assert!(run.stderr.contains(shown), "{}", run.stderr);
        assert_eq!(repo.calls(), 0);
        let told = repo.evolve(&["doctor", "--agent=true"]).expect(10).stdout;
        assert!(told.contains(shown), "{told}");
        let lines = run
            .stderr
            .lines()
            .filter_map(|line| line.strip_prefix("  "));
        let lines: Vec<&str> = lines.collect();
        repo.write(
            ".gitattributes",
            &format!("{attributes}\n{}\n", lines.join("\n")),
        );
        repo.commit_all("except evolve's own");
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"]);
        repo.git(&["update-index", "--refresh"]);
        assert_eq!(repo.status(), Vec::<String>::new());
    }
}

#[test]
fn a_change_that_has_the_ledger_converted_can_be_taken_back_and_what_converts_nothing_is_let_be() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    for odd in [
        "* filter",
        "* filter=",
        "*.md working-tree-encoding=UTF-8",
        "* -filter",
    ] {
        repo.write(".gitattributes", &format!("{odd}\n"));
        repo.commit_all("attributes");
        repo.run(&["--dry-run"]).expect(0);
        repo.evolve(&["doctor", "--agent=true"]).expect(0);
    }
    repo.write("b", "");
    repo.commit_all("b");
    repo.evolve(&["work", "add", "convert it"]).expect(0);
    repo.cycle("touch a").expect(0);
    repo.write(".git/info/attributes", "[attr]large -text\n");
    repo.cycle("echo '*.jsonl large' >>.gitattributes")
        .expect(0);
    repo.write(".git/info/attributes", "[attr]large filter=lfs\n");
    repo.run(&["--max-cycles=1"]).expect(3);
    repo.evolve(&["undo", "2"]).expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
}

#[test]
fn a_change_that_has_the_ledger_converted_is_taken_back_so_that_the_next_session_can_begin() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5), ("c", 5)]);
    for script in [
        "echo '*.jsonl filter=lfs' >.agents/.gitattributes",
        "echo 'evolve/** working-tree-encoding=UTF-16' >.agents/.gitattributes",
        // No commit holds the attributes.
        "echo .gitattributes >>.gitignore; echo '*.jsonl filter=lfs' >.gitattributes",
        "printf '.gitignore\\n.gitattributes\\n' >.agents/.gitignore; echo '*.jsonl filter=lfs' >.agents/.gitattributes",
        r#"echo '"*.jsonl" filter=lfs' >.agents/.gitattributes"#,
        "echo 'last-sweep-date filter=lfs' >.gitattributes",
        "echo 'cycle-history.*.jsonl working-tree-encoding=UTF-16' >.gitattributes",
        // Git passes links over.
        "ln -s nowhere .agents/.gitattributes; echo 'lessons.jsonl working-tree-encoding=UTF-16' >.gitattributes",
    ] {
        let said = repo.cycle(&format!("touch a; {script}")).expect(0);
        let reason =
            "goalposts moved: git's attributes make something else of evolve's own files: ";
        assert!(said.stdout.contains(reason), "{script}: {}", said.stdout);
        for folder in ["", ".agents/"] {
            let left = repo.root().join(format!("{folder}.gitattributes"));
            assert!(std::fs::symlink_metadata(left).is_err(), "{script}");
        }
    }
    repo.cycle("touch a b c; echo '*.jsonl -text' >.gitattributes")
        .expect(0);
    assert_eq!(
        repo.each("result"),
        [vec!["regressed"; 8], vec!["improved"]].concat()
    );
}

#[test]
fn attributes_that_git_itself_refuses_are_put_aside_and_the_change_is_taken_back() {
    let bare = "working-tree-encoding >.gitattributes";
    for script in [
        format!("echo '*.txt' {bare}"),
        format!("echo '*.txt' {bare}; git add .gitattributes; git commit -qm x || :"),
        format!("echo '*.txt' {bare}; git add .gitattributes; rm .gitattributes"),
        format!("echo '.agents/**' {bare}; git add -A; git commit -qm x"),
        format!(
            "mkdir d; cd d; echo x >t.txt; git add t.txt; echo '[attr]odd working-tree-encoding' >../.gitattributes; echo '*.txt odd' {bare}"
        ),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.write("words.txt", "words\n");
        repo.commit_all("words");
        let said = repo.cycle(&format!("touch a; echo more >>words.txt; {script}"));
        let (code, said) = (said.code, said.stdout);
        assert_eq!(code, 0, "{script}: {said}");
        assert_eq!(repo.each("result"), ["regressed"], "{script}: {said}");
        assert!(said.contains("goalposts moved: git"), "{script}: {said}");
        assert_eq!(repo.read("words.txt"), "words\n", "{script}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{script}");
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("result"), ["regressed", "improved"], "{script}");
    }
}

#[test]
fn so_are_those_that_it_refuses_inside_a_submodule() {
    let staged = "git update-index --add --cacheinfo 100644,$(git hash-object -w .gitattributes),.gitattributes";
    let committed = "git update-ref HEAD $(git commit-tree -p HEAD -m x $(git write-tree))";
    for (more, dies) in [
        ("true".to_owned(), false),
        ("true".to_owned(), true),
        (staged.to_owned(), false),
        (format!("{staged}; {committed}"), false),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        let made = r#"git init -q "$OUT/m"; cd "$OUT/m"; echo words >words.txt; git add .; git -c user.name=u -c user.email=e@x commit -qm x; cd "$OLDPWD"
            git -c protocol.file.allow=always submodule -q add "$OUT/m" m; git commit -qm m"#;
        sh(&repo, made);
        let planted = "echo '*.txt working-tree-encoding' >.gitattributes; echo more >>words.txt";
        repo.agent_does(&[
            &format!("touch a; cd m; {planted}; {more}; touch $OUT/there; [ ! -e $OUT/dies ] || sleep 100"),
            "touch a",
        ]);
        let first = match dies {
            true => {
                fs::write(repo.out("dies"), "").unwrap();
                let mut child = repo.spawn_run(&["--max-cycles=1"]);
                repo.wait_for("there");
                child.kill().unwrap();
                child.wait().unwrap();
                "interrupted"
            }
            false => {
                let said = repo.run(&["--max-cycles=1"]).expect(0).stdout;
                assert!(said.contains("goalposts moved: git"), "{more}: {said}");
                "regressed"
            }
        };
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), [first, "improved"], "{more}");
        assert_eq!(repo.read("m/words.txt"), "words\n", "{more}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{more}");
    }
}

#[test]
fn an_undo_ends_though_a_check_ran_what_left_attributes_that_git_refuses() {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: d, check: sh all.sh; test -e a, weight: 5}\n",
    );
    repo.write("all.sh", "sh inner.sh\n");
    repo.write("inner.sh", "true\n");
    repo.write("words.txt", "words\n");
    repo.commit_all("first");
    let planted = "echo '*.txt working-tree-encoding' >.gitattributes; echo more >>words.txt";
    repo.cycle(&format!("touch a; echo \"{planted}\" >inner.sh"));
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(repo.read("words.txt"), "words\n");
    assert_eq!(repo.status(), Vec::<String>::new());
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_start_settles_a_cycle_that_died_with_attributes_that_git_refuses() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("words.txt", "words\n");
    repo.commit_all("words");
    let attributes = "echo '*.txt working-tree-encoding' >.gitattributes";
    repo.agent_does(&[&format!(
        "touch a; echo more >>words.txt; {attributes}; touch $OUT/there; sleep 100"
    )]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("there");
    child.kill().unwrap();
    child.wait().unwrap();
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.read("words.txt"), "words\n");
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_file_that_git_converts_and_nobody_touched_keeps_its_bytes_however_new_it_is() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5), ("c", 5)]);
    repo.write(".gitattributes", "*.txt text\n");
    repo.write("words.txt", "one\r\ntwo\r\n");
    repo.commit_all("words");
    repo.agent_does(&["touch a", "touch b"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.read("words.txt"), "one\r\ntwo\r\n");
    // Of what an agent touched a clone has the same.
    repo.cycle("touch c words.txt").expect(0);
    assert_eq!(repo.read("words.txt"), "one\ntwo\n");
    assert_eq!(repo.each("result"), ["improved"; 3]);
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

/// Stores like Git LFS: `clean` keeps a file in the git directory and prints a pointer, `smudge` finds it there, or in the git
/// directory that this one borrows from, and fails where it is in neither.
const STORE: &str = r#"dir=$(git rev-parse --git-common-dir)
case $1 in
clean)
    cat >"$dir/kept.$$"; oid=$(sha256sum <"$dir/kept.$$" | cut -c1-64)
    place=$dir/lfs/objects/$(echo "$oid" | cut -c1-2)/$(echo "$oid" | cut -c3-4)
    mkdir -p "$place"; mv "$dir/kept.$$" "$place/$oid"; echo "oid $oid";;
smudge)
    read -r word oid; below=lfs/objects/$(echo "$oid" | cut -c1-2)/$(echo "$oid" | cut -c3-4)/$oid
    lender=$(cat "$dir/objects/info/alternates" 2>/dev/null)
    cat "$dir/$below" 2>/dev/null || cat "$lender/../$below";;
esac
"#;

#[test]
fn what_git_lfs_keeps_of_a_change_in_a_copy_lands_with_it() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5), ("c", 1)]).with_out();
    fs::write(repo.out("store"), STORE).unwrap();
    for way in ["clean", "smudge"] {
        let line = format!("sh '{}' {way}", repo.out("store").display());
        repo.git(&["config", "--global", &format!("filter.big.{way}"), &line]);
    }
    repo.git(&["config", "--global", "filter.big.required", "true"]);
    repo.write(".gitattributes", "*.big filter=big\n");
    repo.write("x.big", "one\n");
    repo.write("b", "");
    repo.commit_all("first");
    // Whoever writes into the copy's store can write there what is not what its name says.
    let forged = "a".repeat(64);
    repo.agent_does(&[&format!(
        "touch a; echo two >x.big; git add -A; git commit -qm two; mkdir -p .git/lfs/objects/aa/aa; echo evil >.git/lfs/objects/aa/aa/{forged}"
    )]);
    let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
    assert_eq!(repo.read("x.big"), "two\n");
    assert!(repo.git(&["show", "HEAD:x.big"]).starts_with("oid "));
    assert_eq!(repo.status(), Vec::<String>::new());
    let taken = fs::read_dir(repo.path(".git/lfs/objects/aa/aa"));
    assert_eq!(taken.into_iter().flatten().count(), 0);
    // What of it was undone can be looked at, too.
    repo.agent_does(&["rm b; echo three >x.big"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    assert_eq!(repo.read("x.big"), "two\n");
    let work = repo.git(&["for-each-ref", "--format=%(refname)", "refs/evolve/*/2"]);
    assert_eq!(
        repo.git(&["cat-file", "--filters", &format!("{work}:x.big")]),
        "three"
    );
}
