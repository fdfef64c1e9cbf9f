//! The user's own files that git does not track (rule 11): never lost, never moved, never in a commit of the loop's.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Stdio;

use crate::harness::{TestRepo, files_below, finish, output, wait_until};

/// Goals `a` (fails) and `b` (passes), ignored `*.log` and `build/`, and untracked files of the user's: plain, executable,
/// in folders, with odd names, a link, and a repository of its own.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.write(".gitignore", "*.log\nbuild/\n");
    repo.write("src/code", "code\n");
    repo.commit_all("b");
    for name in [
        "notes",
        "own/list",
        "own/deep/er",
        "src/mine",
        "sp ace [x]*",
        "-dash",
        "#hash",
        "!bang",
    ] {
        repo.write(name, &format!("{name} is mine\n"));
    }
    repo.write("tool", "echo mine\n");
    fs::set_permissions(repo.path("tool"), fs::Permissions::from_mode(0o750)).unwrap();
    std::os::unix::fs::symlink("no/where", repo.path("pointer")).unwrap();
    output(repo.command("git").args(["init", "--quiet", "nest"]));
    repo.write("nest/inside", "mine\n");
    let identity = ["-C", "nest", "-c", "user.name=n", "-c", "user.email=n"];
    repo.git(&[&identity[..], &["add", "inside"]].concat());
    repo.git(&[&identity[..], &["commit", "--quiet", "-m", "n"]].concat());
    repo
}

fn untracked(repo: &TestRepo) -> Vec<String> {
    let status = repo.git(&["status", "--porcelain", "--untracked-files=all"]);
    let own = |line: &str| match line.starts_with("?? nest/") {
        true => "?? nest/".to_owned(),
        false => line.to_owned(),
    };
    let lines = status.lines().filter(|line| line.starts_with("??"));
    lines.map(own).collect()
}

/// Asserts that no commit since `start` holds a file of the user's, under any ref.
#[track_caller]
fn assert_never_committed(repo: &TestRepo, start: &str) {
    let touched = repo.git(&["log", "--name-only", "--format=", &format!("{start}..HEAD")]);
    let own = |line: &&str| {
        !line.starts_with(".agents/")
            && !["", "a", "b", "src/code", "src", ".gitignore"].contains(line)
    };
    let taken: Vec<_> = touched.lines().filter(own).collect();
    assert_eq!(taken, Vec::<&str>::new());
}

fn text(repo: &TestRepo) -> String {
    repo.newest().to_string()
}

#[test]
fn untracked_files_are_back_byte_for_byte_whatever_an_agent_did_to_them() {
    let table = [
        (
            "deleted",
            "rm -rf notes own src/mine sp* -- -dash tool pointer line*",
        ),
        (
            "changed",
            "for f in notes own/list own/deep/er src/mine tool ./-dash '#hash'; do echo changed >>$f; done",
        ),
        (
            "changed in place, same length",
            "printf X | dd of=notes conv=notrunc 2>/dev/null; touch -d 2000-01-01 notes",
        ),
        ("mode changed", "chmod 600 tool notes"),
        ("moved", "mv notes elsewhere; mv own other"),
        (
            "replaced by a link to the same",
            "cp notes other; rm notes; ln -s other notes",
        ),
        ("the link changed", "rm pointer; ln -s else pointer"),
        ("the link made a file", "rm pointer; echo x >pointer"),
        (
            "made folders of",
            "rm notes tool; mkdir notes tool; echo x >notes/x",
        ),
        ("the folder made a file", "rm -r own; echo x >own"),
        ("the folder made a link", "mv own other; ln -s other own"),
        (
            "a folder of the user's and of the repository's removed",
            "git rm -rq src; rm -rf src",
        ),
        ("cleaned", "git clean -fdxq"),
        ("stashed", "git stash -qu"),
    ];
    for (what, script) in table {
        for (verdict, rest) in [
            ("kept", "touch a; git add a; git commit -qm a"),
            ("undone", "rm -f b; git add b; git commit -qm w"),
            ("no change", "git checkout -q HEAD . 2>/dev/null"),
        ] {
            let repo = repository();
            repo.write("line\nbreak", "mine\n");
            let (start, before, status) = (repo.head(), users(&repo), untracked(&repo));
            let run = repo.cycle(&format!("{script}\n{rest}"));
            assert_eq!(run.code, 0, "{what}, {verdict}: {}", run.stderr);
            assert_eq!(users(&repo), before, "{what}, {verdict}: {}", text(&repo));
            let still: Vec<_> = untracked(&repo)
                .into_iter()
                .filter(|line| status.contains(line))
                .collect();
            assert_eq!(still, status, "{what}, {verdict}");
            let dirty: Vec<_> = repo
                .status()
                .into_iter()
                .filter(|line| !line.starts_with("??"))
                .collect();
            assert_eq!(dirty, Vec::<String>::new(), "{what}, {verdict}");
            let taken = repo.git(&[
                "log",
                "--name-only",
                "-z",
                "--format=",
                &format!("{start}..HEAD"),
            ]);
            for name in ["notes", "own/list", "tool", "pointer", "src/mine"] {
                assert!(
                    !taken.split('\0').any(|path| path == name),
                    "{what}, {verdict}: {taken}"
                );
            }
        }
    }
}

#[test]
fn what_a_check_writes_for_the_first_time_while_no_agent_runs_stays_as_it_writes_it_and_is_kept_twice()
 {
    let report = "  - {id: c, description: d, check: 'date +%N >>$OUT/n; cp $OUT/n report', weight: 2}\n\
        \x20 - {id: a, description: d, check: test -e a, weight: 5}\n\
        \x20 - {id: b, description: d, check: test -e b, weight: 3}\n\
        \x20 - {id: e, description: d, check: test -e e, weight: 3}\n";
    let repo = TestRepo::with_goals(report).with_out();
    repo.agent_does(&["touch a", "touch b", "touch e"]);
    let run = repo.run(&["--max-cycles=3"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"; 3], "{}", run.stdout);
    assert!(!run.stdout.contains("put back"), "{}", run.stdout);
    assert_eq!(repo.read("report"), repo.said("n"));
    let kept = files_below(&repo.private().join("quarantine"));
    let written = repo.said("n");
    let lines: Vec<_> = written.split_inclusive('\n').collect();
    let first = [lines[0].to_owned(), lines[..2].concat()];
    let kept: Vec<_> = kept.values().map(|(_, bytes)| &bytes[..]).collect();
    assert_eq!(kept, first.each_ref().map(|text| text.as_bytes()));
}

/// The user's untracked files.
fn users(repo: &TestRepo) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
    const OWN: [&[u8]; 12] = [
        b"notes",
        b"own/list",
        b"own/deep/er",
        b"src/mine",
        b"sp ace [x]*",
        b"line\nbreak",
        b"-dash",
        b"#hash",
        b"!bang",
        b"tool",
        b"pointer",
        b"nest/inside",
    ];
    let mut files = repo.files();
    files.retain(|path, _| OWN.contains(&path.as_slice()));
    files
}

#[test]
fn the_agents_version_of_an_untracked_file_is_in_the_quarantine_and_the_record_says_so() {
    let repo = repository();
    repo.cycle("echo changed >notes; rm tool").expect(0);
    assert_eq!(repo.quarantined()[&b"notes"[..]].1, b"changed\n");
    let notes = repo.newest()["notes"].to_string();
    for words in [
        "untracked files put back: notes, tool",
        "moved out of the way: notes",
    ] {
        assert!(notes.contains(words), "{notes}");
    }
}

#[test]
fn a_file_that_is_exchanged_for_one_with_the_same_bytes_has_its_mode_back() {
    let repo = repository();
    let before = users(&repo);
    repo.cycle("cp tool new; chmod 600 new; mv new tool; touch a")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(users(&repo), before);
}

#[test]
fn what_the_user_makes_of_an_untracked_file_between_two_cycles_is_what_comes_back() {
    let repo = TestRepo::empty();
    // The command stands for a person.
    let edits = "test -e .git/edited || { echo second >mine; touch .git/edited; }";
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve:\n  on_cycle: '{edits}'\ngoals:\n  - {{id: a, description: a, check: test -e a, weight: 5}}\n"),
    );
    repo.commit_all("goals");
    repo.write("mine", "first\n");
    repo.agent_does(&["true", "rm mine"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.calls(), 2);
    assert_eq!(repo.read("mine"), "second\n");
}

#[test]
fn of_many_files_that_are_put_back_ten_are_named() {
    let repo = repository();
    for number in 10..22 {
        repo.write(&format!("many/{number}"), "mine\n");
    }
    repo.cycle("rm -r many").expect(0);
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("untracked files put back: many/10, many/11,")
            && notes.contains("many/19 and 2 more"),
        "{notes}"
    );
    assert!(repo.has("many/10") && repo.has("many/21"));
}

#[test]
fn adding_everything_passes_the_users_files_and_the_ledger_by() {
    let repo = repository();
    let (start, before) = (repo.head(), users(&repo));
    repo.cycle("touch a; git add -A; git commit -qm 'all of it'")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", text(&repo));
    let of_agent = repo.git(&["rev-parse", "HEAD^{/all of it}"]);
    assert_eq!(repo.git(&["diff", "--name-only", &start, &of_agent]), "a");
    assert_eq!(users(&repo), before);
    assert_never_committed(&repo, &start);
}

#[test]
fn adding_everything_passes_a_file_with_a_line_break_in_its_name_by() {
    for name in ["one\ntwo", "one\r", "one\rtwo"] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.write(name, "mine\n");
        repo.cycle("touch a; git add -A; git commit -qm a")
            .expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{name:?}");
        assert_eq!(repo.read(name), "mine\n");
        assert_eq!(repo.git(&["ls-files", "--", "one*"]), "", "{name:?}");
    }
}

#[test]
fn the_users_own_excludes_hold_while_the_agent_runs() {
    for (configured, is_linked) in [(true, false), (false, false), (false, true)] {
        let repo = repository();
        let file = match configured {
            true => repo.home().join("my-excludes"),
            false => repo.home().join(".config/git/ignore"),
        };
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        match is_linked {
            true => {
                let dotfile = repo.home().join("dotfiles-ignore");
                fs::write(&dotfile, "*.swp").unwrap();
                std::os::unix::fs::symlink(dotfile, &file).unwrap();
            }
            false => fs::write(&file, "*.swp").unwrap(),
        }
        if configured {
            repo.git(&["config", "core.excludesFile", "~/my-excludes"]);
        }
        repo.cycle("touch a x.swp; git add -A; git commit -qm 'all of it'")
            .expect(0);
        let of_agent = repo.git(&["rev-parse", "HEAD^{/all of it}"]);
        assert_eq!(
            repo.git(&["diff", "--name-only", &format!("{of_agent}~1"), &of_agent]),
            "a"
        );
    }
}

#[test]
fn taking_a_file_of_the_users_into_a_commit_is_undone_and_named() {
    let table = [
        (
            "by force",
            "touch a; git add -f notes a; git commit -qm w",
            "notes",
        ),
        (
            "everything by force",
            "touch a; git add -A -f; git commit -qm w",
            "notes",
        ),
        (
            "changed first",
            "touch a; echo changed >notes; git add -f notes a; git commit -qm w",
            "notes",
        ),
        (
            "staged only",
            "touch a; git add -f own/deep/er",
            "own/deep/er",
        ),
        (
            "an ignored one",
            "touch a; git add -f x.log a; git commit -qm w",
            "x.log",
        ),
        (
            "one in an ignored folder",
            "touch a; git add -f build a; git commit -qm w",
            "build/out",
        ),
        (
            "the rule that ignored it removed",
            "touch a; rm .gitignore; git add -A; git commit -qm w",
            "x.log",
        ),
        (
            "a link",
            "touch a; git add -f pointer; git commit -qm w",
            "pointer",
        ),
        (
            "with a line break in its name",
            "touch a; git add a; git add -f line?break; git commit -qm w",
            "line break",
        ),
        (
            "a repository of its own",
            "touch a; git add -f nest; git commit -qm w",
            "nest",
        ),
        (
            "what was a repository of its own",
            "touch a; mv nest/.git ../agent/nested; git add -f nest/inside; git commit -qm w",
            "nest/inside",
        ),
        (
            "taken out in the next commit",
            "git add -f notes; git commit -qm w; git rm -q --cached notes; touch a; git add a; git commit -qm x",
            "notes",
        ),
        (
            "taken out, and that left uncommitted",
            "touch a; git add -f notes a; git commit -qm w; git rm -q --cached notes",
            "notes",
        ),
        (
            "an ignored one, taken out in the next commit",
            "touch a; git add -f x.log a; git commit -qm w; git rm -q --cached x.log; git commit -qm x",
            "x.log",
        ),
        (
            "taken out on a branch that was merged",
            "git checkout -qb side; git add -f notes; git commit -qm w; git rm -q --cached notes; git commit -qm x; git checkout -q -; touch a; git add a; git commit -qm a; git merge -q --no-ff -m m side",
            "notes",
        ),
        (
            "brought by a merge alone",
            "git checkout -qb side; touch c; git add c; git commit -qm c; git checkout -q -; touch a; git add a; git commit -qm a; git merge -q --no-ff --no-commit side; git add -f notes; git commit -qm m; git rm -q --cached notes; git commit -qm x",
            "notes",
        ),
    ];
    for (what, script, named) in table {
        let repo = repository();
        if what == "with a line break in its name" {
            repo.write("line\nbreak", "mine\n");
        }
        repo.write("x.log", "my log\n");
        repo.write("build/out", "my output\n");
        let (start, before, content) = (repo.head(), users(&repo), repo.content("HEAD"));
        let status = untracked(&repo);
        let run = repo.cycle(script);
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{what}: {record:#}");
        let reason = record["reason"].as_str().unwrap();
        assert!(
            reason.starts_with("took a file of the user's: ") && reason.contains(named),
            "{what}: {reason}"
        );
        let notes = record["notes"].to_string();
        let published = format!(
            "stays in the history of main after an undo: look at the commits after {start}"
        );
        assert!(notes.contains(&published), "{what}: {notes}");
        assert_eq!(record["reverted_to"], start.as_str(), "{what}");
        assert_eq!(repo.content("HEAD"), content, "{what}");
        assert_eq!(users(&repo), before, "{what}");
        assert_eq!(
            (repo.read("x.log"), repo.read("build/out")),
            ("my log\n".into(), "my output\n".into()),
            "{what}"
        );
        assert_eq!(untracked(&repo), status, "{what}");
        let is_dirty = |line: &String| !line.starts_with("??");
        assert!(!repo.status().iter().any(is_dirty), "{what}");
    }
}

#[test]
fn what_takes_the_place_of_a_file_of_the_users_is_not_called_that_file() {
    let table = [
        (
            "a folder in a file's place",
            "touch a; rm notes; mkdir notes; echo x >notes/x; git add -f notes; git commit -qm w",
            "notes/x (notes was there)",
        ),
        (
            "a file in a folder's place",
            "touch a; rm -r own; echo x >own; git add -A; git commit -qm w",
            "own (own/deep/er was there)",
        ),
        (
            "a file in the place of a folder with tracked files, uncommitted",
            "touch a; rm -r src; echo x >src",
            "src (src/mine was there)",
        ),
        (
            "a link in a folder's place",
            "touch a; rm -r own; ln -s src own",
            "own (own/deep/er was there)",
        ),
    ];
    for (what, script, named) in table {
        let repo = repository();
        let (before, content, status) = (users(&repo), repo.content("HEAD"), untracked(&repo));
        repo.cycle(script).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{what}: {record:#}");
        let reason = format!("took the place of a file of the user's: {named}");
        assert_eq!(record["reason"], reason.as_str(), "{what}");
        // Nothing of the user's is in a commit.
        let notes = record["notes"].to_string();
        assert!(!notes.contains("before you publish it"), "{what}: {notes}");
        assert_eq!(repo.content("HEAD"), content, "{what}");
        assert_eq!(users(&repo), before, "{what}");
        assert_eq!(untracked(&repo), status, "{what}");
        assert!(
            !repo.status().iter().any(|line| !line.starts_with("??")),
            "{what}"
        );
    }
    // Without one there, it is a change like any other.
    let repo = repository();
    repo.write("lib/x", "tracked\n");
    repo.commit_file("lib/x");
    repo.cycle("touch a; rm -r lib; echo x >lib").expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record:#}");
    assert_eq!(record["notes"], serde_json::Value::Null);
}

/// The repository with a folder `src` in which are a tracked file, an untracked one, one too large to copy, and an ignored file and
/// folder that are so by their whole paths.
fn with_a_folder_to_move() -> (TestRepo, String) {
    let repo = repository();
    repo.write(".gitignore", "*.log\nbuild/\n/src/local.env\n/src/out/\n");
    repo.commit_file(".gitignore");
    let start = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.write("src/local.env", "KEY=mine\n");
    repo.write("src/out/deep/er", "mine\n");
    let large = fs::File::create(repo.path("src/large")).unwrap();
    large.set_len(11 << 20).unwrap();
    (repo, start)
}

#[test]
fn what_of_the_users_an_agent_moves_goes_back_and_into_no_commit() {
    for (script, result) in [
        ("git mv src lib; touch a; git commit -qm w", "improved"),
        ("mv src lib; touch a", "improved"),
        (
            "ln src/mine ../agent/other-name; git mv src lib; touch a; git commit -qm w",
            "improved",
        ),
        ("git mv src lib; touch a; rm b", "regressed"),
        (
            "git mv src lib; touch a; git add -A; git commit -qm w; rm b",
            "regressed",
        ),
        (
            "mkdir -p x/y; git mv src x/y/lib; touch a; git add -A; git commit -qm w",
            "regressed",
        ),
    ] {
        let (repo, start) = with_a_folder_to_move();
        let before = users(&repo);
        repo.agent_does(&[script]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), [result], "{script}");
        let record = repo.records()[0].to_string();
        assert!(record.contains("was moved, and put back: "), "{record}");
        assert_eq!(users(&repo), before, "{script}");
        assert_eq!(repo.read("src/local.env"), "KEY=mine\n", "{script}");
        assert_eq!(repo.read("src/out/deep/er"), "mine\n", "{script}");
        let large = fs::metadata(repo.path("src/large")).unwrap();
        assert_eq!(large.len(), 11 << 20, "{script}");
        // What the agent itself committed stays in history; evolve says so.
        if !script.contains("add -A") {
            let range = format!("{start}..HEAD");
            let touched = repo.git(&["log", "--name-only", "--format=", &range]);
            for taken in ["mine", "local.env", "out/deep/er", "large"] {
                assert!(!touched.contains(taken), "{script}: {touched}");
            }
        }
    }
}

#[test]
fn a_file_of_the_users_that_was_moved_out_of_the_way_of_another_goes_to_the_quarantine() {
    let repo = repository();
    repo.agent_does(&[
        "touch a; mv notes moved; echo theirs >notes; mv tool gone; rm gone; echo x >new",
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.read("notes"), "notes is mine\n");
    assert_eq!(repo.read("tool"), "echo mine\n");
    let quarantined = repo.quarantined();
    assert_eq!(quarantined[&b"moved"[..]].1, b"notes is mine\n");
    assert_eq!(quarantined[&b"notes"[..]].1, b"theirs\n");
    // What took the place of a removed file on the disk is the agent's.
    let kept = repo.git(&["ls-tree", "--name-only", "HEAD"]);
    assert!(kept.contains("new") && !kept.contains("moved"), "{kept}");
}

#[test]
fn ignored_files_that_are_gone_are_listed() {
    let repo = repository();
    repo.write("x.log", "");
    repo.write("build/out", "");
    repo.write("kept.log", "");
    let run = repo.cycle("touch a; rm -r x.log build").expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("ignored files that are gone: build/, x.log\""),
        "{notes}"
    );
    assert!(run.stderr.contains("x.log") || run.stdout.contains("x.log"));
}

#[test]
fn what_only_an_undone_gitignore_ignored_goes_to_the_quarantine_and_the_users_stays() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.write("src/file", "");
    repo.commit_all("b");
    repo.write("mine.junk", "mine\n");
    repo.write("src/mine.junk", "mine\n");
    repo.cycle(
        "rm b; printf '*.junk\\njunk/\\n' >.gitignore; mkdir -p junk/deep sub/junk
         for it in new.junk src/new.junk junk/deep/one sub/junk/two; do echo theirs >$it; done",
    )
    .expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    for mine in ["mine.junk", "src/mine.junk"] {
        assert_eq!(repo.read(mine), "mine\n");
    }
    for theirs in ["new.junk", "src/new.junk", "junk", "sub", ".gitignore"] {
        assert!(!repo.has(theirs), "{theirs}");
    }
    let moved: Vec<_> = repo.quarantined().into_keys().collect();
    assert_eq!(moved, [&b"new.junk"[..], b"one", b"two"]);
}

#[test]
fn beside_a_users_file_only_what_an_undone_gitignore_ignored_is_moved() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.write("out/mine", "mine\n");
    let inode = || fs::metadata(repo.path("out/mine")).unwrap().ino();
    let before = inode();
    repo.cycle("rm b; echo '*.junk' >.gitignore; mkdir new; for it in out new; do echo theirs >$it/$it.junk; done")
        .expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    // Never moved, not even for a moment: it is no copy that was put back.
    assert_eq!(
        (repo.read("out/mine").as_str(), inode()),
        ("mine\n", before)
    );
    assert!(!text(&repo).contains("put back"), "{}", text(&repo));
    assert!(!repo.has("out/out.junk") && !repo.has("new"));
    let moved: Vec<_> = repo.quarantined().into_keys().collect();
    assert_eq!(moved, [&b"new.junk"[..], b"out.junk"]);
}

#[test]
fn what_only_an_undone_gitignore_ignored_takes_nothing_of_evolves_own_along() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    // No record is committed there yet.
    repo.cycle(
        "rm b; echo '*.junk' >.gitignore; mkdir .agents/new; echo theirs >.agents/new/one.junk",
    )
    .expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    assert!(!repo.has(".agents/new"));
    let moved: Vec<_> = repo.quarantined().into_keys().collect();
    assert_eq!(moved, [b"one.junk"]);
}

#[test]
fn an_ignored_file_where_the_undo_must_write_goes_to_the_quarantine() {
    let repo = repository();
    repo.write("gone", "tracked\n");
    repo.commit_file("gone");
    repo.cycle("git rm -q gone b; echo gone >>.gitignore; git commit -qam w; echo precious >gone")
        .expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    assert_eq!(repo.read("gone"), "tracked\n");
    assert_eq!(repo.quarantined()[&b"gone"[..]].1, b"precious\n");
    assert!(text(&repo).contains("moved out of the way: gone"));
}

#[test]
fn what_was_edited_after_the_agent_goes_to_the_quarantine() {
    // The check stands for a person who edits while the second measurement runs.
    let edit = "test ! -e started || { echo precious >src/code; rm -rf made; echo precious >made; test -e b; }";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: b, description: b, check: '{edit}', weight: 5, retries: 0}}\n"
    ));
    repo.write("b", "");
    repo.write("src/code", "code\n");
    repo.commit_all("b");
    repo.cycle("echo agent >src/code; echo agent >made; touch started; git add -A; git rm -q b; git commit -qm w").expect(0);
    assert_eq!(repo.newest()["result"], "regressed", "{}", text(&repo));
    assert_eq!(repo.read("src/code"), "code\n");
    assert!(!repo.has("made") && !repo.has("started"));
    let quarantined = repo.quarantined();
    assert_eq!(quarantined[&b"code"[..]].1, b"precious\n");
    assert_eq!(quarantined[&b"made"[..]].1, b"precious\n");
    assert_eq!(repo.status(), Vec::<String>::new());
}

/// A repository whose goal `a` builds `out` from `source` where that is newer, and looks at it; it was built before.
fn with_build(out: &str) -> TestRepo {
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: d, check: 'mkdir -p target; test ! source -nt {out} || cp source {out}; grep -q two {out}', weight: 5}}\n  - {{id: b, description: d, check: test -e b, weight: 5}}\n"
    ));
    repo.write("b", "");
    repo.write("source", "one\n");
    repo.commit_all("source");
    fs::create_dir_all(repo.path("target")).unwrap();
    let built = fs::File::create(repo.path(out)).unwrap();
    (&built).write_all(b"one\0\n").unwrap();
    repo
}

#[test]
fn what_a_build_makes_anew_of_a_good_change_stays() {
    for (out, is_kept) in [("made", true), ("target/made", false)] {
        let repo = with_build(out);
        repo.cycle("sleep 1; echo two >source").expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{}", text(&repo));
        assert_eq!(repo.read(out), "two\n", "{}", text(&repo));
        let quarantined = repo.quarantined();
        let earlier = quarantined.get(&b"made"[..]).map(|(_, bytes)| &bytes[..]);
        assert_eq!(earlier, is_kept.then_some(&b"one\0\n"[..]));
        repo.evolve(&["measure"]).expect(0);
    }
}

#[test]
fn what_a_check_only_added_to_keeps_what_was_in_it_whatever_writes_over_it_later() {
    let repo = TestRepo::with_goals("  - {id: a, description: d, check: sh runner, weight: 5}\n");
    repo.write("runner", ". ./code\n");
    repo.write("code", "echo run >>log; test -e a\n");
    repo.commit_all("code");
    repo.write("log", "precious\n");
    repo.cycle("touch a; echo 'echo x >log; test -e a' >code")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", text(&repo));
    assert_eq!(repo.read("log"), "precious\nrun\n", "{}", text(&repo));
}

#[test]
fn what_a_build_makes_anew_of_a_change_that_is_undone_is_as_it_was() {
    let repo = with_build("made");
    repo.cycle("sleep 1; echo two >source; git rm -q b")
        .expect(0);
    assert_eq!(repo.newest()["result"], "regressed", "{}", text(&repo));
    assert_eq!(repo.read("made"), "one\0\n");
}

#[test]
fn what_checks_run_is_as_it_was_whatever_writes_to_it_later() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'sh own.sh', weight: 5}\n  - {id: w, description: d, check: 'sh code', weight: 5}\n",
    );
    repo.write("code", "true\n");
    repo.commit_all("code");
    repo.write("own.sh", "test -e a\n");
    repo.cycle("touch a; echo 'sleep 0.2; echo true >own.sh' >code")
        .expect(0);
    assert_eq!(repo.read("own.sh"), "test -e a\n", "{}", text(&repo));
}

#[test]
fn a_file_behind_a_link_is_never_taken_for_the_users_own() {
    let repo = repository();
    let away = repo.outside().join("away");
    fs::create_dir_all(&away).unwrap();
    fs::write(away.join("list"), "somebody else's\n").unwrap();
    let before = users(&repo);
    for rest in ["touch a", "rm b", "echo /own >>.gitignore; touch a"] {
        repo.cycle(&format!("rm -r own; ln -s ../agent/away own; {rest}"))
            .expect(0);
        assert_eq!(
            fs::read_to_string(away.join("list")).unwrap(),
            "somebody else's\n"
        );
        assert_eq!(fs::read_dir(&away).unwrap().count(), 1);
        assert_eq!(users(&repo), before);
    }
}

#[test]
fn files_too_large_to_copy_are_named_once_a_session_and_all_in_one_line() {
    let repo = repository();
    for name in ["large", "larger"] {
        let file = fs::File::create(repo.path(name)).unwrap();
        file.set_len((10 << 20) + 1).unwrap();
    }
    repo.agent_does(&["true", "true"]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    let warned: Vec<&str> = run
        .stderr
        .lines()
        .chain(run.stdout.lines())
        .filter(|line| line.contains("too large to copy"))
        .collect();
    assert_eq!(warned.len(), 1, "{}{}", run.stdout, run.stderr);
    assert!(
        warned[0]
            .contains("untracked and too large to copy, an agent could lose them: large, larger"),
        "{warned:?}"
    );
}

#[test]
fn files_too_large_to_copy_are_named_before_the_agent_starts() {
    let repo = repository();
    let large = fs::File::create(repo.path("large")).unwrap();
    large.set_len((10 << 20) + 1).unwrap();
    let fits = fs::File::create(repo.path("fits")).unwrap();
    fits.set_len(10 << 20).unwrap();
    repo.agent_does(&["rm large fits"]);
    let run = repo.run(&["--max-cycles=1", "--json"]).expect(0);
    let event = |word: &str| run.stdout.lines().position(|line| line.contains(word));
    let said = event("too large to copy, an agent could lose it: large").expect(&run.stdout);
    assert!(
        said < event("agent-started").expect(&run.stdout),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("lose it: fits"), "{}", run.stdout);
    assert!(
        !run.stdout
            .contains("too large to copy, an agent could lose it: nest/"),
        "{}",
        run.stdout
    );
    assert_eq!(fs::metadata(repo.path("fits")).unwrap().len(), 10 << 20);
    assert!(!repo.has("large"));
    assert!(
        run.stdout.contains("are gone and had no copy: large\""),
        "{}",
        run.stdout
    );
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("untracked files that are gone and had no copy: large\""),
        "{notes}"
    );
}

#[test]
fn files_too_large_to_copy_are_named_where_they_were_changed() {
    let repo = repository();
    for name in ["changed", "left", "logged"] {
        let file = fs::File::create(repo.path(name)).unwrap();
        file.set_len((10 << 20) + 1).unwrap();
    }
    let mut writer = fs::File::options()
        .append(true)
        .open(repo.path("logged"))
        .unwrap();
    repo.agent_does(&["echo more >>changed; echo more >>logged", "touch left"]);
    for (option, expected) in [("--progress=plain", "changed"), ("--json", "left")] {
        let run = repo.run(&["--max-cycles=1", option]).expect(0);
        let notes = repo.newest()["notes"].to_string();
        let named = format!("untracked files that were changed and had no copy: {expected}");
        assert!(notes.contains(&format!("{named}\"")), "{notes}");
        let told = format!("{}{}", run.stdout, run.stderr);
        assert!(told.contains(&named), "{told}");
    }
    std::io::Write::write_all(&mut writer, b"x").unwrap();
}

#[test]
fn leftovers_become_a_commit_without_the_users_files() {
    let repo = repository();
    repo.write("x.log", "my log\n");
    let start = repo.head();
    repo.cycle("touch a; echo more >>src/code").expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    let commit = repo.newest()["commit_sha"].as_str().unwrap().to_owned();
    assert_eq!(
        repo.git(&["diff", "--name-only", &start, &commit]),
        "a\nsrc/code"
    );
    assert!(
        repo.subjects()
            .contains(&"evolve: cycle 1, what the agent left uncommitted".to_owned())
    );
    assert_never_committed(&repo, &start);
}

#[test]
fn the_users_edits_of_ledger_files_never_count_as_dirty() {
    let repo = repository();
    repo.cycle("touch other").expect(0);
    repo.write(".agents/evolve/fitness-1.json", "mine\n");
    repo.write(".agents/evolve/extra", "mine\n");
    repo.write(".agents/rpi/next-work.jsonl", "{\"title\":\"mine\"}\n");
    fs::remove_file(repo.path(".agents/evolve/session-summary.md")).unwrap();
    repo.git(&["add", "--force", ".agents/rpi"]);
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["unchanged", "improved"]);
    assert!(
        repo.git(&["show", "HEAD:.agents/rpi/next-work.jsonl"])
            .contains("\"mine\"")
    );
    assert_eq!(repo.read(".agents/evolve/extra"), "mine\n");
}

#[test]
fn the_ledger_is_committed_where_git_ignores_its_folder_and_that_is_said_once() {
    const SAID: &str = "committed although git ignores that folder";
    for rule in [".agents\n", ".agents/evolve/\n", "*.jsonl\n*.json\n"] {
        let repo = repository();
        repo.write(".gitignore", rule);
        repo.git(&["commit", "--quiet", "-am", "ignore"]);
        let first = repo.cycle("touch other").expect(0);
        assert!(first.stdout.contains(SAID), "{rule}: {}", first.stdout);
        repo.git(&["cat-file", "-e", "HEAD:.agents/evolve/cycle-history.jsonl"]);
        repo.git(&["cat-file", "-e", "HEAD:.agents/evolve/fitness-1.json"]);
        let second = repo.cycle("rm b").expect(0);
        assert!(!second.stdout.contains(SAID), "{rule}: {}", second.stdout);
        assert_eq!(repo.each("cycle"), ["1", "2"]);
        let own: Vec<_> = repo
            .status()
            .into_iter()
            .filter(|line| line.contains(".agents"))
            .collect();
        assert_eq!(own, Vec::<String>::new());
    }
}

#[test]
fn stop_file_acknowledgement_and_outbox_are_never_committed() {
    const PRIVATE: [&str; 3] = [
        ".agents/evolve/STOP",
        ".agents/evolve/KILLED.json",
        ".agents/evolve/outbox/lessons",
    ];
    for rest in ["touch a", "rm b", "true"] {
        let repo = repository();
        let files = PRIVATE.join(" ");
        repo.cycle(&format!(
            "echo {{}} | tee {files}; git add -f {files}; git commit -qm private; {rest}"
        ))
        .expect(0);
        let committed = repo.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
        let indexed = repo.git(&["ls-files"]);
        for file in PRIVATE {
            assert!(
                !committed.contains(file) && !indexed.contains(file),
                "{rest}: {file}"
            );
        }
        let own: Vec<_> = repo
            .status()
            .into_iter()
            .filter(|line| line.contains(".agents"))
            .collect();
        assert_eq!(own, Vec::<String>::new(), "{rest}");
        assert!(
            repo.has(".agents/evolve/STOP"),
            "{rest}: a stop is the user's to take away"
        );
        repo.cycle("true").expect(0);
        assert_eq!(repo.calls(), 1, "{rest}: the stop holds");
    }
}

#[test]
fn a_ledger_folder_that_is_a_link_is_refused() {
    for folder in [".agents", ".agents/evolve", ".agents/rpi"] {
        let repo = repository();
        let away = repo.outside().join("away");
        fs::create_dir(&away).unwrap();
        if let Some(parent) = repo.path(folder).parent() {
            fs::create_dir_all(parent).unwrap();
        }
        std::os::unix::fs::symlink(&away, repo.path(folder)).unwrap();
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(3);
        assert!(run.stderr.contains(folder), "{}", run.stderr);
        assert_eq!(fs::read_dir(&away).unwrap().count(), 0, "{folder}");
        assert_eq!(repo.calls(), 0);
    }
}

#[test]
fn untracked_files_are_not_lost_when_somebody_else_committed_meanwhile() {
    let repo = repository();
    let before = users(&repo);
    let colleague = "env -u GIT_REFLOG_ACTION git commit -q --allow-empty -m colleague";
    let run = repo.cycle(&format!(
        "rm notes; rm -r own; echo x >own; echo changed >tool; git commit -q --allow-empty -m agent; {colleague}"
    ));
    run.expect(11);
    assert_eq!(repo.newest()["result"], "interrupted");
    assert_eq!(repo.read("notes"), "notes is mine\n");
    assert_eq!(repo.read("tool"), "changed\n", "it may be the colleague's");
    let quarantined = repo.quarantined();
    for (name, path) in [
        ("tool", "tool"),
        ("list", "own/list"),
        ("er", "own/deep/er"),
    ] {
        assert_eq!(quarantined[name.as_bytes()], before[path.as_bytes()]);
    }
    assert!(
        text(&repo).contains("untracked files put back: notes"),
        "{}",
        text(&repo)
    );
    assert!(
        text(&repo).contains("as it was before the agent: tool → "),
        "{}",
        text(&repo)
    );
}

#[test]
fn what_evolve_itself_prints_into_the_tree_is_not_rolled_back() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch a"]);
    let out = std::fs::File::create(repo.path("nohup.out")).unwrap();
    let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
    command.arg(format!("--agent={}", repo.agent()));
    command
        .args(["--max-cycles=1", "--skip-baseline"])
        .stdout(out);
    assert!(command.status().unwrap().success());
    let said = repo.read("nohup.out");
    assert!(
        said.contains("cycle 1") && said.contains("improved"),
        "{said}"
    );
    assert_eq!(repo.status(), ["?? nohup.out"]);
}

#[test]
fn a_log_that_somebody_elses_program_writes_to_goes_on_growing_and_an_agents_lines_do_not() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("dev.log", "one\n");
    repo.write("notes", "mine\n");
    let server = "exec >>dev.log; while read -r line; do echo \"$line\"; done";
    let mut server = repo
        .command("sh")
        .args(["-c", server])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = server.stdin.take().unwrap();
    let inode = || fs::metadata(repo.path("dev.log")).unwrap().ino();
    said.write_all(b"two\n").unwrap();
    wait_until("the server writes", || repo.read("dev.log").contains("two"));
    let before = inode();
    let go = repo.out("go");
    repo.agent_does(&[
        "touch a; echo evil >>notes; touch $OUT/go; while [ -e $OUT/go ]; do sleep 0.02; done",
    ]);
    let run = repo.spawn_run(&["--max-cycles=1", "--skip-baseline"]);
    repo.wait_for("go");
    said.write_all(b"three\n").unwrap();
    wait_until("the server writes", || {
        repo.read("dev.log").contains("three")
    });
    fs::remove_file(&go).unwrap();
    finish(run).expect(0);
    assert_eq!(repo.newest()["result"], "improved", "{}", text(&repo));
    let is_named = text(&repo).contains("was left, because a program is writing to it: dev.log");
    assert!(is_named, "{}", text(&repo));
    assert_eq!((inode(), repo.read("notes")), (before, "mine\n".to_owned()));
    said.write_all(b"four\n").unwrap();
    wait_until("the server writes", || {
        repo.read("dev.log").contains("four")
    });
    drop(said);
    server.wait().unwrap();
    assert_eq!(repo.read("dev.log"), "one\ntwo\nthree\nfour\n");
}

/// A repository whose check writes an untracked report anew and adds to an untracked log.
fn with_outputs() -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'date +%s.%N >report.xml; echo line >>app.log; test -e a', weight: 5}
  - {id: b, description: d, check: test -e b, weight: 3}
  - {id: c, description: d, check: test -e c, weight: 3}\n",
    );
    for file in ["report.xml", "app.log", "notes"] {
        repo.write(file, "mine\n");
    }
    repo
}

#[test]
fn what_checks_write_beside_the_tracked_files_stays_as_they_wrote_it_and_is_kept_at_most_twice() {
    let repo = with_outputs();
    let agents = [
        "touch a",
        "rm -f a; touch b",
        "rm -f a; touch c",
        "touch b",
        "touch c",
    ];
    repo.agent_does(&agents);
    let run = repo.run(&["--max-cycles=5"]).expect(0);
    let results = ["improved", "regressed", "regressed", "improved", "improved"];
    assert_eq!(repo.each("result"), results, "{}", run.stdout);
    assert!(!run.stdout.contains("put back"), "{}", run.stdout);
    assert!(repo.read("app.log").starts_with("mine\nline\n"));
    assert!(repo.read("app.log").lines().count() > agents.len());
    let quarantined = files_below(&repo.private().join("quarantine"));
    let reports = quarantined
        .keys()
        .filter(|path| path.ends_with(b"report.xml"));
    assert_eq!(
        (reports.count(), quarantined.len()),
        (2, 2),
        "{quarantined:?}"
    );
}

#[test]
fn a_report_of_changes_that_are_undone_is_put_back_once_and_kept_at_most_twice() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'cp n report; test -e never', weight: 9}
  - {id: bad, description: d, check: test ! -e bad, weight: 5}\n",
    );
    repo.write("n", "0\n");
    repo.commit_file("n");
    repo.agent_does(&["echo $EVOLVE_CYCLE >n; touch bad"; 3]);
    repo.run(&["--max-cycles=3"]);
    assert_eq!(repo.each("result"), ["regressed"; 3]);
    assert_eq!(repo.read("report"), "3\n");
    let quarantined = files_below(&repo.private().join("quarantine"));
    let kept: Vec<_> = quarantined.values().map(|(_, bytes)| &bytes[..]).collect();
    let reports = kept
        .iter()
        .filter(|bytes| [&b"0\n"[..], b"1\n"].contains(bytes));
    assert_eq!((reports.count(), kept.len()), (2, 2), "{quarantined:?}");
}

/// A repository whose check makes a report where there is none, and copies `f` to it.
fn with_a_late_report() -> TestRepo {
    let check =
        "cp f report.xml; date +%N >>report.xml; test -e notes || echo mine >notes; grep -q MARK f";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: d, check: '{check}', weight: 5}}\n"
    ));
    repo.write("f", "begun\n");
    repo.commit_file("f");
    repo
}

#[test]
fn a_report_that_came_while_goals_were_measured_stays_as_a_check_writes_it_later_and_is_kept_once()
{
    for agent in [
        "echo MARK >>f",
        "echo MARK >>f; rm report.xml",
        "echo MARK >>f; echo x >report.xml",
    ] {
        let repo = with_a_late_report();
        repo.agent_does(&[agent]);
        repo.run(&["--max-cycles=1", "--skip-baseline"]).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{agent}");
        let report = repo.read("report.xml");
        assert!(report.starts_with("begun\nMARK\n"), "{agent}: {report}");
        let kept = files_below(&repo.private().join("quarantine"));
        let is_first = |(_, bytes): &(u32, Vec<u8>)| {
            let bytes = String::from_utf8_lossy(bytes);
            bytes.starts_with("begun\n") && !bytes.contains("MARK")
        };
        assert!(kept.values().any(is_first), "{agent}: {kept:?}");
    }
}

#[test]
fn a_report_that_came_while_goals_were_measured_meets_no_goal_as_an_agent_forged_it() {
    for flags in [&[][..], &["--skip-baseline"]] {
        let check = "test report -nt f || cp f report; grep -q MARK report";
        let repo = TestRepo::with_goals(&format!(
            "  - {{id: a, description: d, check: '{check}', weight: 5}}\n"
        ));
        repo.write("f", "begun\n");
        repo.commit_file("f");
        repo.agent_does(&["echo other >>f; sleep 0.1; echo MARK >report"]);
        repo.run(&[&["--max-cycles=1"], flags].concat()).expect(0);
        assert_eq!(repo.newest()["result"], "unchanged", "{}", text(&repo));
        let kept = repo.quarantined();
        let is_forged = |(_, bytes): &(u32, Vec<u8>)| bytes == b"MARK\n";
        assert!(kept.values().any(is_forged), "{kept:?}");
    }
}

/// Checks that `notes` is what it was before changed code wrote over it, or that its earlier bytes are kept beside a change that is.
fn assert_precious(repo: &TestRepo, result: &str) {
    assert_eq!(repo.newest()["result"], result, "{}", text(repo));
    let kept = repo.quarantined();
    match result {
        "improved" => assert_eq!(kept[&b"notes"[..]].1, b"precious\n"),
        _ => assert_eq!(repo.read("notes"), "precious\n"),
    }
}

#[test]
fn a_file_that_a_program_loads_and_saves_is_not_lost_where_the_changed_program_writes_over_it() {
    for (agent, result) in [
        ("touch a", "improved"),
        ("touch a; git rm -q b", "regressed"),
    ] {
        let repo = TestRepo::with_goals(
            "  - {id: a, description: d, check: sh runner && test -e a, weight: 5}
  - {id: b, description: d, check: test -e b, weight: 5}\n",
        );
        repo.write("runner", ". ./code\n");
        repo.write(
            "code",
            "cp notes notes.new; cat notes.new >notes; rm notes.new\n",
        );
        repo.write("b", "");
        repo.commit_all("code");
        repo.write("notes", "precious\n");
        repo.cycle(&format!("{agent}; echo 'echo x >notes' >code"))
            .expect(0);
        assert_precious(&repo, result);
    }
}

#[test]
fn what_a_person_made_or_saved_while_goals_were_measured_is_not_lost_where_changed_code_writes_over_it()
 {
    let cases = [
        ("touch a", "improved"),
        ("touch a; git rm -q b", "regressed"),
    ]
    .into_iter()
    .flat_map(|case| [(case, &[][..]), (case, &["--skip-baseline"])])
    .flat_map(|case| [(case, None), (case, Some("old words\n"))]);
    for (((agent, result), flags), earlier) in cases {
        let repo = TestRepo::with_goals(
            "  - {id: a, description: d, check: 'test -e $OUT/made || { echo precious >notes; touch $OUT/made; }; sh runner && test -e a', weight: 5}
  - {id: b, description: d, check: test -e b, weight: 5}\n",
        )
        .with_out();
        repo.write("runner", ". ./code\n");
        repo.write("code", "true\n");
        repo.write("b", "");
        repo.commit_all("code");
        if let Some(earlier) = earlier {
            repo.write("notes", earlier);
        }
        repo.agent_does(&[&format!("{agent}; echo 'echo x >notes' >code")]);
        repo.run(&[&["--max-cycles=1"], flags].concat()).expect(0);
        assert_precious(&repo, result);
    }
}

#[test]
fn a_file_that_came_while_goals_were_measured_and_that_no_check_writes_again_is_put_back() {
    let repo = with_a_late_report();
    repo.agent_does(&["echo MARK >>f; echo changed >notes"]);
    repo.run(&["--max-cycles=1", "--skip-baseline"]).expect(0);
    assert_eq!(repo.read("notes"), "mine\n");
    let said = "untracked files put back: notes";
    assert!(text(&repo).contains(said), "{}", text(&repo));
}

#[test]
fn what_a_person_saved_while_goals_were_measured_is_put_back_where_an_agent_wrote_over_it() {
    for (goals, agent) in [("", "echo MARK >>f"), (BAD, "touch bad")] {
        for flags in [
            &["--max-cycles=1"][..],
            &["--max-cycles=1", "--skip-baseline"],
        ] {
            let repo = with_a_person_who_saves(goals);
            repo.agent_does(&[&format!("echo agents >notes; {agent}")]);
            repo.run(flags);
            assert_eq!(repo.read("notes"), "saved\n", "{agent} {flags:?}");
            let is_agents = |(_, bytes): &(u32, Vec<u8>)| bytes == b"agents\n";
            let kept = repo.quarantined();
            assert!(kept.values().any(is_agents), "{agent} {flags:?}: {kept:?}");
            let said = "untracked files put back: notes";
            assert!(text(&repo).contains(said), "{}", text(&repo));
        }
    }
}

#[test]
fn what_a_person_saved_twice_while_goals_were_measured_is_not_lost_where_changed_code_writes_over_it()
 {
    let check = "for n in 0 1; do test -e $OUT/made$n || { echo precious $n >notes; touch $OUT/made$n; break; }; done; sh runner && test -e a";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: d, check: '{check}', weight: 5}}
  - {{id: b, description: d, check: test -e b, weight: 4}}\n"
    ))
    .with_out();
    repo.write("runner", ". ./code\n");
    repo.write("code", "true\n");
    repo.commit_all("code");
    repo.agent_does(&["touch a", "echo 'echo x >notes' >code; touch b"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "improved"]);
    let quarantined = files_below(&repo.private().join("quarantine"));
    for words in ["precious 0\n", "precious 1\n"] {
        let is_kept = |(_, bytes): &(u32, Vec<u8>)| bytes == words.as_bytes();
        assert!(
            quarantined.values().any(is_kept),
            "{words}: {quarantined:?}"
        );
    }
}

#[test]
fn goals_are_measured_with_what_a_person_saved_while_they_were_and_not_with_an_agents_version() {
    let check = "test -e $OUT/made || { echo saved >notes; touch $OUT/made; }; grep -q magic notes";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: d, check: '{check}', weight: 5}}\n"
    ))
    .with_out();
    repo.write("notes", "old\n");
    repo.cycle("echo magic >notes; touch other").expect(0);
    assert_eq!(repo.newest()["result"], "unchanged", "{}", text(&repo));
    assert_eq!(repo.read("notes"), "saved\n");
}

#[test]
fn goals_are_measured_with_untracked_files_as_they_were_before_the_agent() {
    for script in [
        "cp f golden; touch x",
        "rm golden; cp f golden",
        "mv golden gone; ln -s f golden",
    ] {
        let repo = TestRepo::with_goals(
            "  - {id: a, description: d, check: cmp -s golden f, weight: 5}\n",
        );
        repo.write("f", "begun\n");
        repo.commit_file("f");
        repo.write("golden", "done\n");
        repo.cycle(&format!("{script}; touch new")).expect(0);
        assert_eq!(repo.newest()["result"], "unchanged", "{script}");
        assert_eq!(repo.read("golden"), "done\n", "{script}");
        let said = "untracked files put back: golden";
        assert_eq!(text(&repo).matches(said).count(), 1, "{}", text(&repo));
    }
}

#[test]
fn a_check_that_leaves_an_untracked_file_with_the_same_bytes_makes_it_no_output() {
    for check in [
        "touch golden",
        "cat golden >$OUT/g; cat $OUT/g >golden",
        "cp golden golden.new; mv golden.new golden",
    ] {
        for flags in [&[][..], &["--skip-baseline"]] {
            let repo = TestRepo::with_goals(&format!(
                "  - {{id: a, description: d, check: '{check}; cmp -s golden f', weight: 5}}\n"
            ))
            .with_out();
            repo.write("f", "begun\n");
            repo.commit_file("f");
            repo.write("golden", "done\n");
            repo.agent_does(&["cp f golden; touch new"]);
            repo.run(&[&["--max-cycles=1"], flags].concat()).expect(0);
            assert_eq!(repo.newest()["result"], "unchanged", "{check} {flags:?}");
            assert_eq!(repo.read("golden"), "done\n", "{check} {flags:?}");
        }
    }
}

#[test]
fn what_a_check_makes_the_same_until_an_agent_changes_something_stays_as_it_makes_it_then() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'sort f >list; grep -q MARK f', weight: 5}\n",
    );
    repo.write("f", "begun\n");
    repo.commit_file("f");
    repo.write("list", "begun\n");
    repo.cycle("echo MARK >>f").expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(repo.read("list"), "MARK\nbegun\n");
    assert!(!text(&repo).contains("put back"), "{}", text(&repo));
    assert_eq!(repo.quarantined()[&b"list"[..]].1, b"begun\n");
}

#[test]
fn what_stands_in_the_way_of_an_untracked_file_and_is_in_no_commit_meets_no_goal() {
    for script in [
        "mv own away; mkdir other; cp f other/golden; ln -s other own",
        "mv own away; echo file >own",
    ] {
        let repo = TestRepo::with_goals(
            "  - {id: a, description: d, check: '! test -d own || cmp -s own/golden f', weight: 5}\n  - {id: b, description: d, check: cmp -s own/golden f, weight: 4}\n",
        );
        repo.write("f", "begun\n");
        repo.commit_file("f");
        repo.write("own/golden", "done\n");
        repo.cycle(&format!(
            "{script}; printf 'own\\naway\\nother\\n' >.gitignore; git add .gitignore; git commit -qm x"
        ))
        .expect(0);
        assert_eq!(repo.newest()["result"], "unchanged", "{script}");
        assert_eq!(repo.read("own/golden"), "done\n", "{script}");
    }
}

#[test]
fn what_an_agent_removes_from_the_quarantine_is_back() {
    for script in [
        "rm -rf .git/evolve/quarantine",
        "find .git/evolve/quarantine -type f -delete",
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]);
        let names = ["notes", "my.lock"];
        names.iter().for_each(|name| repo.write(name, "mine\n"));
        repo.agent_does(&[
            "for f in notes my.lock; do echo its own >$f; done; touch a",
            &format!("{script}; touch b"),
        ]);
        repo.run(&["--max-cycles=2"]).expect(0);
        let kept = repo.quarantined();
        for name in names {
            let (_, bytes) = &kept[name.as_bytes()];
            assert_eq!(bytes, b"its own\n", "{script}: {name}");
        }
        let said = "files of the quarantine were removed and are back: 2";
        assert!(text(&repo).contains(said), "{}", text(&repo));
    }
}

/// A goal that a file `bad` breaks.
const BAD: &str = "  - {id: nobad, description: d, check: 'test ! -e bad', weight: 2}\n";

/// A repository whose check saves an untracked file the first time that it runs, as a person could at that moment.
fn with_a_person_who_saves(goals: &str) -> TestRepo {
    let check =
        "test -e \"$OUT/saved\" || { echo saved >notes; touch \"$OUT/saved\"; }; grep -q MARK f";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: d, check: '{check}', weight: 5}}\n{goals}"
    ))
    .with_out();
    repo.write("f", "begun\n");
    repo.commit_file("f");
    repo.write("notes", "first\n");
    repo
}

#[test]
fn a_log_that_checks_only_add_to_is_put_back_where_an_agent_took_from_it() {
    let repo = with_outputs();
    repo.cycle("touch a; echo evil >app.log; echo evil >notes; rm report.xml")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert!(repo.read("app.log").starts_with("mine\n"));
    assert_eq!(repo.read("notes"), "mine\n");
    assert!(repo.has("report.xml"));
    let said = "untracked files put back: app.log, notes";
    assert!(text(&repo).contains(said), "{}", text(&repo));
}

#[test]
fn a_script_that_a_check_runs_and_writes_is_nobodys_output() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'date +%N >n; cat n >>own.sh; true; test -e a', weight: 5}
  - {id: b, description: d, check: sh own.sh, weight: 3}\n",
    );
    repo.write("own.sh", "exit 1\n");
    repo.cycle("touch a; echo exit 0 >own.sh").expect(0);
    assert_eq!(repo.newest()["result"], "regressed", "{}", text(&repo));
    assert!(repo.read("own.sh").starts_with("exit 1\n"));
}

#[test]
fn copies_of_untracked_files_that_an_agent_wrote_to_are_not_believed() {
    let table = [
        (
            "overwritten",
            "for f in .git/evolve/keep/*; do echo changed >$f; done",
        ),
        ("removed", "rm -rf .git/evolve/keep"),
        (
            "changed and given their time back",
            "for f in .git/evolve/keep/*; do touch -r $f /tmp/t.$$; printf X | dd of=$f conv=notrunc 2>/dev/null; touch -r /tmp/t.$$ $f; done; rm /tmp/t.$$",
        ),
    ];
    for (what, script) in table {
        let repo = repository();
        // In the second cycle the copy of the first would be used again.
        let again = "rm b; git commit -qam b; echo changed >notes; chmod 777 tool";
        repo.agent_does(&[
            &format!("{script}; {again}"),
            &format!("{script}; {again}"),
            again,
        ]);
        repo.run(&["--max-cycles=3"]);
        assert_eq!(repo.read("notes"), "notes is mine\n", "{what}");
        let mode = fs::metadata(repo.path("tool"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o750, "{what}");
        assert!(repo.has("b"), "{what}");
    }
}

#[test]
fn a_file_of_which_no_copy_is_left_as_it_was_is_named_and_no_agent_is_called_again() {
    let repo = repository();
    let destroy = "rm b; git commit -qam b; for f in .git/evolve/keep/* ~/.local/state/evolve/*/git/evolve/keep/*; do echo changed >$f; done; echo changed >notes";
    repo.agent_does(&[destroy, "true"]);
    let run = repo.run(&["--max-cycles=2"]).expect(11);
    assert_eq!(repo.calls(), 1);
    assert!(
        text(&repo).contains("CANNOT be put back, because their copies were changed, too: notes"),
        "{}",
        text(&repo)
    );
    assert!(run.stdout.contains("CANNOT be put back"), "{}", run.stdout);
    // Whatever the goal says, nothing of such a change is taken.
    let record = repo.records().pop().expect("a record");
    assert_eq!(record["result"], "regressed");
    assert_eq!(
        record["reason"],
        "destroyed a file of the user's with its copies: notes"
    );
    assert!(repo.has("b"));
    assert_eq!(repo.read("own/list"), "own/list is mine\n");
}

#[test]
fn what_is_moved_and_logged_goes_to_the_private_folder_whatever_links_an_agent_put_there() {
    let repo = repository();
    let outside = repo.outside().join("elsewhere");
    for name in ["quarantine", "logs", "second"] {
        fs::create_dir_all(outside.join(name)).unwrap();
    }
    fs::write(outside.join("precious"), "precious\n").unwrap();
    let to = outside.display();
    repo.agent_does(&[
        &format!(
            "cd .git/evolve; rm -rf quarantine; ln -s '{to}/quarantine' quarantine
             ln -s '{to}/logs' \"logs/$(ls logs)/1-after\"; mkdir \"logs/$(ls logs)/2-after\"
             ln -s '{to}/precious' \"logs/$(ls logs)/2-after/b.log\"
             cd ../..; rm b; git commit -qam b; echo changed >notes"
        ),
        &format!(
            "cd .git/evolve; rm -rf logs; ln -s '{to}/second' logs
             cd ../..; rm b; git commit -qam b; echo changed >notes"
        ),
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
    for folder in ["quarantine", "logs", "second"] {
        let entries = fs::read_dir(outside.join(folder)).unwrap().count();
        assert_eq!(entries, 0, "{folder}");
    }
    let precious = fs::read_to_string(outside.join("precious")).unwrap();
    assert_eq!(precious, "precious\n");
    assert_eq!(repo.read("notes"), "notes is mine\n");
    let moved = fs::symlink_metadata(repo.path(".git/evolve/quarantine")).unwrap();
    assert!(moved.is_dir());
}

#[test]
fn a_name_that_git_keeps_for_itself_goes_to_the_quarantine_and_the_cycle_is_judged() {
    for (script, name) in [
        ("ln -s README .gitmodules", ".gitmodules"),
        ("echo x >git~1", "git~1"),
        ("mkdir .git.; echo x >.git./x", ".git./x"),
    ] {
        for isolated in [&["--max-cycles=1"][..], &["--max-cycles=1", "--isolate"]] {
            let repo = TestRepo::with_files_wanted(&[("a", 5)]);
            repo.agent_does(&[&format!("touch a; {script}")]);
            repo.run(isolated).expect(0);
            assert_eq!(repo.each("result"), ["improved"], "{script} {isolated:?}");
            let notes = repo.newest()["notes"].to_string();
            assert!(
                notes.contains(&format!("git cannot commit {name}")),
                "{notes}"
            );
            assert_eq!(repo.status(), Vec::<String>::new(), "{script}");
            assert_eq!(repo.quarantined().len(), 1, "{script}");
        }
    }
}

#[test]
fn what_is_moved_with_a_link_left_in_its_place_is_back_and_not_the_link() {
    let repo = TestRepo::empty();
    repo.write(".gitignore", ".env\ncache\n");
    repo.commit_goals("  - {id: a, description: a, check: test -e a, weight: 5}\n");
    repo.write(".env", "KEY=mine\n");
    repo.write("cache/x", "mine\n");
    repo.cycle(
        "touch a; mkdir conf; mv .env conf/env; ln -s conf/env .env; mv cache old; ln -s old cache",
    )
    .expect(0);
    let notes = repo.newest()["notes"].to_string();
    let told = "was moved, and put back: .env (as conf/env), cache (as old)";
    assert!(notes.contains(told), "{notes}");
    for (name, text) in [(".env", "KEY=mine\n"), ("cache/x", "mine\n")] {
        assert_eq!(repo.read(name), text);
        let meta = fs::symlink_metadata(repo.path(name)).unwrap();
        assert!(meta.is_file(), "{name}");
    }
    assert!(
        !fs::symlink_metadata(repo.path("cache"))
            .unwrap()
            .is_symlink()
    );
}

#[test]
fn a_tracked_file_that_git_cannot_take_as_the_agent_left_it_is_what_it_was() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write(
        ".gitattributes",
        "*.wide text working-tree-encoding=UTF-16LE\n",
    );
    repo.write("text.wide", "a\0\n\0");
    repo.commit_all("wide");
    // Half a character.
    repo.cycle("touch a; printf b >>text.wide").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.read("text.wide"), "a\0\n\0");
    let notes = repo.newest()["notes"].to_string();
    assert!(notes.contains("git cannot commit text.wide"), "{notes}");
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_eq!(repo.quarantined().len(), 1);
}

#[test]
fn a_new_file_that_git_cannot_take_keeps_no_cycle_from_being_settled() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.git(&["config", "filter.gone.clean", "no-such-program"]);
    repo.git(&["config", "filter.gone.required", "true"]);
    repo.write(".gitattributes", "*.big filter=gone\n");
    repo.commit_all("attributes");
    repo.cycle("touch a b c; echo bytes >one.big; echo more >two.big")
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(repo.has("a") && repo.has("b") && !repo.has("one.big"));
    let notes = repo.newest()["notes"].to_string();
    assert!(notes.contains("git cannot commit one.big"), "{notes}");
    assert_eq!(repo.status(), Vec::<String>::new());
    let kept = repo.quarantined();
    assert_eq!(kept.len(), 2, "{kept:?}");
}

#[test]
fn an_untracked_file_that_a_kept_change_makes_git_ignore_is_put_back_all_the_same_and_named() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3), ("c", 2)]);
    repo.write(".gitignore", "*.log\n");
    repo.commit_all("ignored");
    for name in ["notes.txt", "own/deep/list", "here.txt", "always.log"] {
        repo.write(name, &format!("{name} is mine\n"));
    }
    repo.agent_does(&[
        "touch a; printf '*.log\\n*.txt\\nown/\\nbuilt/\\n' >.gitignore; git add a .gitignore; git commit -qm a
         mkdir built; echo x >built/x",
        "git clean -fdXq; touch b; git add b; git commit -qm b; mkdir built; echo y >built/y",
        "echo changed >notes.txt; rm -r own built; touch c; git add c; git commit -qm c",
    ]);
    repo.run(&["--max-cycles=3"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"; 3]);
    for name in ["notes.txt", "own/deep/list", "here.txt"] {
        assert_eq!(repo.read(name), format!("{name} is mine\n"));
    }
    assert!(!repo.has("built"), "an agent's build output is nobody's");
    let notes = |cycle: usize| repo.records()[cycle]["notes"].to_string();
    let named = "the change makes git ignore files of yours that it does not track, so later sessions make no copies of them: here.txt, notes.txt, own/deep/list";
    assert!(notes(0).contains(named), "{}", notes(0));
    assert!(
        notes(1).contains("untracked files put back: here.txt, notes.txt, own/deep/list"),
        "{}",
        notes(1)
    );
    assert!(!notes(1).contains("the change makes git ignore"));
    assert!(notes(1).contains("ignored files that are gone: always.log"));
    assert!(
        notes(2).contains("untracked files put back: notes.txt, own/deep/list"),
        "{}",
        notes(2)
    );
}

#[test]
fn a_file_that_was_untracked_and_that_the_user_commits_between_two_cycles_is_tracked_from_then_on()
{
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("notes.txt", "mine\n");
    repo.agent_does(&[
        "touch a; echo '*.txt' >.gitignore; git add a .gitignore; git commit -qm a",
        "touch b; echo more >>notes.txt; git add -u; git add b; git commit -qm b",
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    repo.git(&["add", "--force", "notes.txt"]);
    repo.git(&["commit", "--quiet", "-m", "notes"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"; 2]);
    assert_eq!(repo.read("notes.txt"), "mine\nmore\n");
}

#[test]
fn a_folder_of_a_tool_that_git_does_not_ignore_is_told_once_with_the_way_out() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("target/x", "mine\n");
    repo.write("target/y", "mine\n");
    repo.agent_does(&["echo 1 >target/x; echo 1 >target/y"; 2]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    let told = run.stderr.matches("add to .gitignore: target/\n").count();
    assert_eq!(told, 1, "{}", run.stderr);
    for begin in [
        "untracked files put back: target/",
        "moved out of the way: target/",
    ] {
        assert_eq!(
            run.stdout.matches(begin).count(),
            1,
            "{begin}\n{}",
            run.stdout
        );
    }
    // The records have it all.
    for notes in repo.each("notes") {
        assert_eq!(
            notes.matches("moved out of the way: target/").count(),
            2,
            "{notes}"
        );
    }
    // Nothing is said of a folder that git tracks something in.
    repo.git(&["add", "target/y"]);
    repo.git(&["commit", "--quiet", "--message=y"]);
    repo.agent_does(&["true"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!run.stderr.contains(".gitignore"), "{}", run.stderr);
}

#[test]
fn what_tools_made_and_a_change_commits_is_named_once_it_comes() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]);
    let make = "mkdir -p node_modules/x; echo $EVOLVE_CYCLE >node_modules/x/i.js";
    repo.agent_does(&[&format!("{make}; touch a"), &format!("{make}; touch b")]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    let said =
        "the change commits what tools made, which git had better ignore: node_modules/ (1 file)";
    assert_eq!(run.stdout.matches(said).count(), 1, "{}", run.stdout);
    assert!(repo.each("notes")[0].contains(said));
}

#[test]
fn a_setting_of_another_system_that_has_git_take_two_files_for_one_is_named() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let said = "core.ignoreCase";
    assert!(!repo.cycle("true").expect(0).stderr.contains(said));
    repo.git(&["config", said, "true"]);
    let run = repo.cycle("touch a").expect(0);
    assert!(run.stderr.contains(said), "{}", run.stderr);
}
