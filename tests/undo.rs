//! The undo (rule 10): whatever an agent did to branch, index and files, a regression ends with exactly the start's
//! content, in one commit, and nothing outside the repository is touched.

use std::fs;

use crate::harness::{TestRepo, output};

/// The repository that agents do their worst to: goal `a` fails, goal `b` passes until somebody takes `b` away. Beside
/// them a file of every kind, three commits, and branches that are behind, beside and at odds with `main`.
fn repository() -> TestRepo {
    let repo = TestRepo::empty();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    repo.write("README", "one\n");
    repo.write("dir/one", "1\n");
    repo.commit_all("first");
    repo.git(&["branch", "behind"]);
    repo.write("dir/two", "2\n");
    repo.write("dir/deep/three", "3\n");
    repo.commit_all("second");
    for (branch, file, text) in [
        ("side", "from-side", "side\n"),
        ("third", "from-third", "third\n"),
        ("clash", "README", "another\n"),
    ] {
        repo.git(&["switch", "--quiet", "--create", branch]);
        repo.write(file, text);
        repo.commit_all(branch);
        repo.git(&["switch", "--quiet", "main"]);
    }
    repo.write("README", "two\n");
    repo.write("run.sh", "echo run\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(repo.path("run.sh"), executable).unwrap();
    std::os::unix::fs::symlink("README", repo.path("link")).unwrap();
    repo.commit_all("third");
    repo
}

/// Everything that an undo must leave as it was.
#[derive(Debug, PartialEq)]
struct State {
    content: Vec<String>,
    files: std::collections::BTreeMap<Vec<u8>, (u32, Vec<u8>)>,
    status: Vec<String>,
    branch: String,
}

fn state(repo: &TestRepo) -> State {
    State {
        content: repo.content("HEAD"),
        files: repo.files(),
        status: repo.status(),
        branch: repo.git(&["symbolic-ref", "HEAD"]),
    }
}

/// Runs one cycle of an agent that breaks something, and asserts everything that an undo promises. Returns the reason.
#[track_caller]
fn undone(repo: &TestRepo, what: &str, script: &str) -> String {
    let cycle = repo.records().len() + 1;
    let (start, before) = (repo.head(), state(repo));
    let run = repo.cycle(script);
    assert_eq!(run.code, 0, "{what}\n{}\n{}", run.stdout, run.stderr);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed", "{what}: {record:#}");
    assert_eq!(record["reverted_to"], start.as_str(), "{what}");
    assert_eq!(state(repo), before, "{what}");
    repo.git(&["fsck", "--strict", "--no-dangling"]);
    repo.git(&["merge-base", "--is-ancestor", &start, "refs/heads/main"]);
    for left in [
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "rebase-merge",
        "rebase-apply",
    ] {
        assert!(!repo.path(".git").join(left).exists(), "{what}: {left}");
    }
    // One that came to its end leaves that behind with git itself.
    let is_ended = what.ends_with(" left");
    assert!(
        !is_ended || !repo.path(".git/AUTO_MERGE").exists(),
        "{what}"
    );
    let of_bisect = "ls .git | grep BISECT; git for-each-ref refs/bisect";
    let left = output(repo.command("sh").args(["-c", of_bisect])).stdout;
    assert_eq!(String::from_utf8_lossy(&left), "", "{what}");
    let work = format!(
        "refs/evolve/{}/{cycle}",
        record["session"].as_str().unwrap()
    );
    let undo = record["commit_sha"].as_str().unwrap();
    let range = format!("{start}..HEAD");
    let undos = repo.git(&[
        "log",
        "--format=%H",
        "--fixed-strings",
        "--grep=revert: evolve cycle",
        &range,
    ]);
    assert_eq!(undos, undo, "{what}");
    let message = repo.git(&["show", "--no-patch", "--format=%B", undo]);
    let reason = record["reason"].as_str().unwrap().to_owned();
    let subject = message.lines().next().unwrap();
    let expected = match reason.split_once(':') {
        Some((
            kind @ ("history rewritten"
            | "goalposts moved"
            | "took a file of the user's"
            | "left what no commit holds"),
            _,
        )) => {
            format!("revert: evolve cycle {cycle}, {kind}")
        }
        _ => format!("revert: evolve cycle {cycle} regression in b"),
    };
    assert_eq!(subject, expected, "{what}");
    assert!(message.contains(&reason), "{what}: {message}");
    let range = format!("{start}..{work}");
    let commits = repo.git(&["log", "--format=Undoes %H %s", &range]);
    for line in commits.lines() {
        assert!(message.contains(line), "{what}: {line}\n{message}");
    }
    reason
}

/// Tries every row, so that one run shows all rows that fail.
#[track_caller]
fn for_each(table: &[(&str, &str)], row: impl Fn(&str, &str) + std::panic::RefUnwindSafe) {
    let fails =
        |(what, script): &&(&str, &str)| std::panic::catch_unwind(|| row(what, script)).is_err();
    let failed: Vec<_> = table.iter().filter(fails).map(|(what, _)| what).collect();
    assert!(failed.is_empty(), "these rows fail: {failed:#?}");
}

#[test]
fn whatever_an_agent_did_on_the_branch_is_undone_exactly() {
    let table = [
        ("one commit", "git rm -q b; git commit -qm w"),
        ("two commits", "touch n; git add n; git commit -qm n; git rm -q b; git commit -qm w"),
        ("a merge", "git merge -q --no-edit side; git rm -q b; git commit -qm w"),
        ("an octopus", "git merge -q --no-edit side third; git rm -q b; git commit -qm w"),
        ("a merge of another history", "git switch -q --orphan x; echo x >x; git add x; git commit -qm x
            git switch -q main; git merge -q --no-edit --allow-unrelated-histories x; git rm -q b; git commit -qm w"),
        ("an empty commit before", "git commit -q --allow-empty -m e; git rm -q b; git commit -qm w"),
        ("an empty commit after", "git rm -q b; git commit -qm w; git commit -q --allow-empty -m e"),
        ("a revert of its own", "touch n; git add n; git commit -qm n; git revert --no-edit HEAD; git rm -q b; git commit -qm w"),
        ("only uncommitted", "rm b; echo new >n; echo changed >README"),
        ("staged and not committed", "git rm -q b; echo new >n; git add n"),
        ("staged, then changed again", "rm b; echo 1 >n; git add n; echo 2 >n; echo 3 >README; git add README; echo 4 >README"),
        ("taken out of the index only", "rm b; git rm -q --cached README dir/one"),
        ("intended to be added", "rm b; echo new >n; git add -N n"),
        ("committed and uncommitted", "git rm -q b; git commit -qm w; echo new >n; rm dir/one; git mv dir/two two"),
        ("a merge with conflicts left", "rm b; git merge -q clash"),
        ("a cherry-pick with conflicts left", "git rm -q b; git commit -qm w; git cherry-pick clash"),
        ("a revert with conflicts left", "git rm -q b; echo 3 >README; git commit -qam w; git revert --no-edit HEAD~1"),
        ("a bisect left", "git rm -q b; git commit -qm w; git bisect start; git bisect bad; git bisect good HEAD~1"),
        ("a stash", "echo 3 >README; git stash -q; git rm -q b; git commit -qm w"),
        ("a lock left", "git rm -q b; git commit -qm w; touch .git/index.lock"),
        ("renames", "git mv dir moved; git mv README dir; git rm -q b; git commit -qm w"),
        ("swapped names", "git mv README t; git mv link README; git mv t link; git rm -q b; git commit -qm w"),
        ("modes", "chmod -x run.sh; chmod +x README; git rm -q b; git commit -qam w"),
        ("a file becomes a link", "rm README; ln -s dir/one README; git rm -q b; git add -A; git commit -qm w"),
        ("a link becomes a file", "rm link; echo x >link; git rm -q b; git add -A; git commit -qm w"),
        ("a link that leads elsewhere", "ln -sfn /etc/passwd link; git rm -q b; git add -A; git commit -qm w"),
        ("a file becomes a folder", "git rm -q README b; mkdir README; echo x >README/x; git add -A; git commit -qm w"),
        ("a folder becomes a file", "git rm -rq dir b; echo x >dir; git add -A; git commit -qm w"),
        ("a folder becomes a link to another", "git mv dir other; ln -s other dir; git rm -q b; git add -A; git commit -qm w"),
        ("a folder becomes a dangling link", "git rm -rq dir b; ln -s nowhere dir; git add -A; git commit -qm w"),
        ("everything removed", "git rm -rqf . && git checkout -q HEAD GOALS.yaml; git commit -qm w"),
        ("a file becomes a pipe", "rm README dir/one b; mkfifo README dir/one"),
        ("a change hidden by a pipe", "git update-index --assume-unchanged README; rm README b; mkfifo README"),
        ("everything removed, uncommitted", "rm -rf b dir README link run.sh"),
        ("a repository of its own", "rm b; git init -q nest; touch nest/x; git -C nest add x; git -C nest -c user.name=n -c user.email=n commit -qm n"),
        ("a repository of its own, added", "rm b; git init -q nest; touch nest/x; git -C nest add x
            git -C nest -c user.name=n -c user.email=n commit -qm n
            git config -f .gitmodules submodule.nest.path nest; git config -f .gitmodules submodule.nest.url ../nest; git add -A; git commit -qm w"),
        ("a change hidden from git", "git update-index --assume-unchanged README; echo hidden >README; git rm -q b; git commit -qm w"),
        ("a removal hidden from git", "git update-index --assume-unchanged b; rm b"),
        ("a change behind skip-worktree", "git update-index --skip-worktree README; echo hidden >README; git rm -q b; git commit -qm w"),
    ];
    for_each(&table, |what, script| {
        let reason = undone(&repository(), what, script);
        match what.ends_with("conflicts left") {
            true => assert!(reason.ends_with(" in conflict"), "{what}: {reason}"),
            false => assert_eq!(reason, "passed before and no longer: b (exit 1)", "{what}"),
        }
    });
}

#[test]
fn rewritten_history_is_undone_and_the_branch_is_back_on_its_start() {
    let table = [
        (
            "an amended start",
            "echo 3 >README; git commit -qa --amend -m amended",
        ),
        (
            "an amended start and a commit",
            "git commit -q --amend -m amended; touch a; git add a; git commit -qm a",
        ),
        (
            "a rebase",
            "git rebase -q --no-ff --exec 'git commit -q --amend -m again' HEAD~2",
        ),
        ("a reset to the parent", "git reset -q --hard HEAD~1"),
        ("a soft reset to the parent", "git reset -q --soft HEAD~1"),
        (
            "a mixed reset and a commit",
            "git reset -q HEAD~2; git add -A; git commit -qm squashed",
        ),
        ("a switch to a branch behind", "git switch -q behind"),
        (
            "a commit on a branch behind",
            "git switch -q behind; touch a; git add a; git commit -qm a",
        ),
        (
            "a commit here, then a switch to a branch behind",
            "touch a; git add a; git commit -qm a; git switch -q behind",
        ),
        (
            "a detached HEAD behind",
            "git checkout -q --detach HEAD~1; touch a; git add a; git commit -qm a",
        ),
        (
            "a rebase with conflicts left",
            "echo 3 >README; git commit -qam three; git rebase -q clash",
        ),
        (
            "a finished rebase onto another branch",
            "touch a; git add a; git commit -qm a; git rebase -q --onto side behind",
        ),
        (
            "an orphan branch",
            "git switch -q --orphan new; git checkout -q main GOALS.yaml; touch a b; git add a b; git commit -qm a",
        ),
        (
            "an orphan branch without a commit",
            "git checkout -q --orphan new; touch a",
        ),
        (
            "an orphan branch, emptied",
            "git switch -q --orphan new; git checkout -q main GOALS.yaml; git rm -q --cached GOALS.yaml",
        ),
        (
            "the branch deleted",
            "git switch -q -c new; touch a; git add a; git commit -qm a; git branch -qD main",
        ),
        (
            "the branch deleted, HEAD behind",
            "git switch -q behind; git branch -qD main",
        ),
        ("the branch renamed", "git branch -m renamed; touch a"),
        (
            "the branch renamed after a commit",
            "touch a; git add a; git commit -qm a; git branch -m renamed",
        ),
    ];
    for_each(&table, |what, script| {
        let repo = repository();
        let start = repo.head();
        let reason = undone(&repo, what, script);
        assert!(
            reason.starts_with("history rewritten: "),
            "{what}: {reason}"
        );
        assert_eq!(repo.git(&["rev-parse", "HEAD~3"]), start, "{what}");
    });
}

#[test]
fn work_on_a_new_branch_that_continues_the_start_is_taken_over_and_judged() {
    let table = [
        ("a new branch", "git switch -q -c new"),
        (
            "a new branch, the start's moved along",
            "touch n; git add n; git commit -qm n; git switch -q -c new",
        ),
        ("a detached HEAD", "git checkout -q --detach"),
    ];
    for_each(&table, |what, script| {
        let repo = repository();
        let start = repo.head();
        repo.cycle(&format!(
            "{script}; touch a; git add a; git commit -qm 'make a'; touch left"
        ))
        .expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{what}");
        assert_eq!(
            repo.git(&["symbolic-ref", "HEAD"]),
            "refs/heads/main",
            "{what}"
        );
        assert!(repo.subjects().contains(&"make a".to_owned()), "{what}");
        repo.git(&["cat-file", "-e", "HEAD:left"]);
        repo.git(&["merge-base", "--is-ancestor", &start, "HEAD"]);
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");

        let repo = repository();
        let reason = undone(
            &repo,
            what,
            &format!("{script}; git rm -q b; git commit -qm w"),
        );
        assert!(reason.starts_with("passed before"), "{what}: {reason}");
    });
}

#[test]
fn a_branch_that_an_agent_made_only_another_name_of_one_is_a_branch_again() {
    for (script, dies) in [
        (
            "git branch -m main trunk; git symbolic-ref refs/heads/main refs/heads/trunk",
            false,
        ),
        (
            "git branch trunk; git symbolic-ref refs/heads/main refs/heads/trunk",
            false,
        ),
        (
            "git branch -m main trunk; git symbolic-ref refs/heads/main refs/heads/trunk",
            true,
        ),
        (
            "git checkout -q --orphan trunk; git commit -qm other; git checkout -q main; git symbolic-ref refs/heads/main refs/heads/trunk; git reset -q --hard",
            false,
        ),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        assert_eq!(repo.git(&["branch", "--show-current"]), "main");
        let start = repo.head();
        let work = format!("{script}; touch a; git add a; git commit -qm work");
        let waits = if dies {
            "touch $OUT/there; sleep 100"
        } else {
            "true"
        };
        repo.agent_does(&[&format!("{work}; {waits}"), "touch a"]);
        if dies {
            let mut child = repo.spawn_run(&["--max-cycles=1"]);
            repo.wait_for("there");
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            let run = repo.run(&["--max-cycles=1"]).expect(0);
            let said = "main was made only another name of trunk";
            assert!(run.stdout.contains(said), "{script}: {}", run.stdout);
        }
        repo.run(&["--max-cycles=1"]).expect(0);
        let first = if dies { "interrupted" } else { "regressed" };
        assert_eq!(repo.each("result"), [first, "improved"], "{script}");
        assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        repo.git(&["merge-base", "--is-ancestor", &start, "refs/heads/main"]);
        let is_alias = repo.git(&["for-each-ref", "--format=%(symref)", "refs/heads/main"]);
        assert_eq!(is_alias, "", "{script}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn work_on_the_start_branch_stays_reachable_when_head_was_left_elsewhere() {
    let repo = repository();
    let script = "touch a; git add a; git commit -qm kept-here; git rev-parse HEAD >../agent/work; git switch -q behind";
    undone(&repo, "work left behind", script);
    let work = fs::read_to_string(repo.outside().join("work")).unwrap();
    let refs = repo.git(&["for-each-ref", "--contains", work.trim(), "refs/evolve"]);
    assert_ne!(refs, "", "no ref under refs/evolve holds {work}");
}

#[test]
fn the_work_of_an_undone_cycle_stays_reachable_with_its_uncommitted_part() {
    let repo = repository();
    undone(
        &repo,
        "work",
        "git rm -q b; git commit -qm w; echo precious >n",
    );
    let session = repo.newest()["session"].as_str().unwrap().to_owned();
    let kept = format!("refs/evolve/{session}/1:n");
    assert_eq!(repo.git(&["show", &kept]), "precious");
    repo.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(repo.git(&["show", &kept]), "precious");
}

#[test]
fn an_orphan_branch_that_holds_nothing_at_all_is_undone() {
    for script in [
        "git switch -q --orphan new",
        "git checkout -q --orphan new; git rm -rqf .",
    ] {
        undone(&repository(), script, script);
    }
}

#[test]
fn what_goes_through_a_filter_comes_back_as_it_was_on_disk() {
    let filtered = || {
        let repo = repository();
        repo.git(&["config", "filter.lfs.clean", "sed s/plain/stored/"]);
        repo.git(&["config", "filter.lfs.smudge", "sed s/stored/plain/"]);
        repo.write(".gitattributes", "*.big filter=lfs\n*.txt text eol=crlf\n*.wide text working-tree-encoding=UTF-16LE eol=lf\n");
        repo.write("data.big", "plain\n");
        repo.write("lines.txt", "one\r\ntwo\r\n");
        repo.write("text.wide", "a\0b\0\n\0");
        repo.commit_all("filtered");
        assert_eq!(repo.git(&["cat-file", "blob", "HEAD:data.big"]), "stored");
        assert_eq!(
            repo.git(&["cat-file", "blob", "HEAD:lines.txt"]),
            "one\ntwo"
        );
        assert_eq!(repo.git(&["cat-file", "blob", "HEAD:text.wide"]), "ab");
        repo
    };
    let table = [
        (
            "changed",
            "echo more plain >>data.big; printf 'x\\r\\n' >>lines.txt; printf 'c\\0\\n\\0' >>text.wide; git rm -q b; git commit -qam w",
        ),
        (
            "removed",
            "git rm -q b data.big lines.txt text.wide; git commit -qm w",
        ),
        (
            "changed and left so",
            "echo more >>data.big; echo x >lines.txt; rm text.wide b",
        ),
        (
            "attributes removed",
            "git rm -q b .gitattributes; git add --renormalize .; git commit -qm w",
        ),
    ];
    for_each(&table, |what, script| {
        undone(&filtered(), what, script);
    });
}

#[test]
fn odd_names_are_undone_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let names: [&[u8]; 12] = [
        b"sp ace",
        b"line\nbreak",
        b"-dash",
        b"n\xffn",
        b"quo\"te'",
        b"tab\t",
        b":(glob)x",
        b"*",
        b"~",
        b"back\\slash",
        b"#hash ",
        b"\xc3\xa9",
    ];
    let named = || {
        let repo = repository();
        for name in names {
            for folder in ["names", "."] {
                let path = repo.path(folder).join(std::ffi::OsStr::from_bytes(name));
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, name).unwrap();
            }
        }
        repo.commit_all("names");
        repo
    };
    let table = [
        (
            "changed",
            "for f in * names/*; do [ -f \"./$f\" ] && [ \"$f\" != GOALS.yaml ] && echo changed >>\"./$f\"; done; rm b; git commit -qam w",
        ),
        (
            "changed and left so",
            "for f in names/*; do echo changed >>\"$f\"; done; rm b",
        ),
        ("removed", "git rm -rq names b; git commit -qm w"),
        (
            "made folders of",
            "for f in names/*; do rm \"$f\"; mkdir \"$f\"; touch \"$f/x\"; done; rm b",
        ),
        (
            "made",
            "mkdir made; for f in names/*; do cp \"$f\" \"$f-2\"; cp \"$f\" made; done; git add -A; git commit -qm made; rm b",
        ),
        (
            "renamed",
            "git mv names other; git rm -q b; git commit -qm w",
        ),
    ];
    for_each(&table, |what, script| {
        undone(&named(), what, script);
    });
}

#[test]
fn nothing_outside_the_repository_is_touched_through_a_link() {
    let table = [
        (
            "committed",
            "rm -r dir; ln -s ../agent/away dir; git rm -q b; git add -A; git commit -qm w",
        ),
        ("left uncommitted", "rm -r dir b; ln -s ../agent/away dir"),
        (
            "ignored",
            "git rm -rq dir b; echo /dir >.gitignore; git add .gitignore; git commit -qm w; ln -s ../agent/away dir",
        ),
        (
            "deeper",
            "rm -r dir/deep b; ln -s ../../agent/away/deep dir/deep; git add -A; git commit -qm w",
        ),
        (
            "over the ledger",
            "rm -r .agents b; ln -s ../agent/away .agents; git add -f .agents; git commit -qam w",
        ),
        (
            "over the ledger's folder",
            "rm -r .agents/evolve b; ln -s ../../agent/away .agents/evolve",
        ),
        (
            "over the history",
            "rm b; ln -sf ../../../agent/away/one .agents/evolve/cycle-history.jsonl",
        ),
        (
            "over the queue",
            "rm b; mkdir -p .agents/rpi; ln -s ../../../agent/away/one .agents/rpi/next-work.jsonl",
        ),
        (
            "over the folder of the queue",
            "rm b; ln -s ../../agent/away .agents/rpi",
        ),
        (
            "over the outbox",
            "rm b; rm -r .agents/evolve/outbox; ln -s ../../../agent/away .agents/evolve/outbox",
        ),
        (
            "over a snapshot to come",
            "rm b; ln -s ../../../agent/away/one .agents/evolve/fitness-1-post.json",
        ),
    ];
    for_each(&table, |what, script| {
        let repo = repository();
        let away = repo.outside().join("away");
        fs::create_dir_all(away.join("deep")).unwrap();
        for file in ["one", "two", "deep/three"] {
            fs::write(away.join(file), "not yours\n").unwrap();
        }
        undone(&repo, what, script);
        assert!(
            fs::symlink_metadata(repo.path(".agents")).unwrap().is_dir(),
            "{what}"
        );
        assert!(
            fs::symlink_metadata(repo.path(".agents/evolve"))
                .unwrap()
                .is_dir(),
            "{what}"
        );
        let mut left: Vec<_> = fs::read_dir(&away)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["deep", "one", "two"], "{what}");
        for file in ["one", "two", "deep/three"] {
            assert_eq!(
                fs::read_to_string(away.join(file)).unwrap(),
                "not yours\n",
                "{what}: {file}"
            );
        }
        assert_eq!(repo.records().len(), 1, "{what}");
    });
}

/// A repository with a submodule `sm` that has two commits and is at the first.
fn with_submodule() -> TestRepo {
    let repo = repository();
    let other = repo.outside().join("other");
    let git = |arguments: &[&str]| {
        let other = other.to_str().unwrap();
        repo.git(
            &[
                &["-C", other, "-c", "user.name=o", "-c", "user.email=o"],
                arguments,
            ]
            .concat(),
        );
    };
    fs::create_dir(&other).unwrap();
    git(&["init", "--quiet"]);
    fs::write(other.join("x"), "1\n").unwrap();
    git(&["add", "x"]);
    git(&["commit", "--quiet", "-m", "one"]);
    let url = other.to_str().unwrap();
    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        url,
        "sm",
    ]);
    fs::write(other.join("x"), "2\n").unwrap();
    git(&["commit", "--quiet", "-am", "two"]);
    repo.commit_all("submodule");
    repo
}

#[test]
fn a_submodule_is_undone_without_the_network() {
    let bump = "git -C sm -c protocol.file.allow=always pull -q; git add sm; git commit -qm bump; ";
    let table = [
        ("bumped", format!("{bump}git rm -q b; git commit -qm w")),
        ("bumped, uncommitted", format!("{}; rm b", bump.split(';').next().unwrap())),
        ("removed", "git rm -q sm b; git commit -qm w".to_owned()),
        ("deinitialised", "git submodule -q deinit -f sm; git rm -q sm b; git commit -qm w".to_owned()),
        ("made a file of", "git rm -q sm b; echo x >sm; git add sm; git commit -qm w".to_owned()),
        ("another added", "git -c protocol.file.allow=always submodule -q add ../agent/other sm2; git rm -q b; git commit -qm w".to_owned()),
        ("changed inside", "echo changed >sm/x; rm b".to_owned()),
        ("changed inside only, committed there", "echo changed >sm/x; git -C sm -c user.name=n -c user.email=n commit -qam n; rm b".to_owned()),
    ];
    let rows: Vec<(&str, &str)> = table
        .iter()
        .map(|(what, script)| (*what, script.as_str()))
        .collect();
    for_each(&rows, |what, script| {
        let repo = with_submodule();
        let commit = repo.git(&["-C", "sm", "rev-parse", "HEAD"]);
        undone(&repo, what, script);
        assert_eq!(
            repo.git(&["-C", "sm", "rev-parse", "HEAD"]),
            commit,
            "{what}"
        );
    });
}

#[test]
fn a_submodule_that_was_never_fetched_is_not_fetched_by_an_undo() {
    let repo = with_submodule();
    repo.git(&["submodule", "--quiet", "deinit", "--force", "sm"]);
    fs::remove_dir_all(repo.path(".git/modules")).unwrap();
    repo.git(&["config", "protocol.file.allow", "always"]);
    let commit = repo.git(&["-C", "../agent/other", "rev-parse", "HEAD"]);
    let bump =
        format!("git update-index --cacheinfo 160000,{commit},sm; git rm -q b; git commit -qm w");
    undone(&repo, "not fetched", &bump);
    assert!(!repo.has("sm/x") && !repo.path(".git/modules").exists());
}

#[test]
fn a_repository_whose_git_folder_is_gone_is_never_taken_for_one_around_it() {
    for script in ["rm -rf .git", "mv .git hidden", "rm -rf .git; git init -q"] {
        let repo = repository();
        let around = repo.root().parent().unwrap().to_owned();
        let git = |arguments: &[&str]| {
            let around = around.to_str().unwrap();
            repo.git(
                &[
                    &["-C", around, "-c", "user.name=o", "-c", "user.email=o"],
                    arguments,
                ]
                .concat(),
            )
        };
        git(&["init", "--quiet", "--initial-branch=main"]);
        fs::write(around.join("mine"), "mine\n").unwrap();
        git(&["add", "mine"]);
        git(&["commit", "--quiet", "-m", "mine"]);
        let before = (
            git(&["for-each-ref"]),
            git(&["status", "--porcelain", "--untracked-files=no"]),
        );
        let run = repo.cycle(script);
        assert_ne!(run.code, 0, "{script}");
        assert!(run.stderr.contains(".git"), "{script}: {}", run.stderr);
        let after = (
            git(&["for-each-ref"]),
            git(&["status", "--porcelain", "--untracked-files=no"]),
        );
        assert_eq!(after, before, "{script}");
        assert_eq!(repo.read("README"), "two\n");
    }
}

#[test]
fn the_ledger_survives_whatever_an_agent_does_to_it() {
    let table = [
        ("added by force", "git add -A -f; git commit -qm all; rm b"),
        (
            "added by force and kept",
            "touch a; git add -A -f; git commit -qm all",
        ),
        ("removed", "rm -rf .agents b"),
        (
            "removed by a commit",
            "git rm -rqf .agents b; git commit -qm w",
        ),
        (
            "taken out of the index",
            "git rm -rq --cached .agents; rm b",
        ),
        (
            "forged",
            "for f in .agents/evolve/*.*; do echo forged >$f; done; rm b",
        ),
        (
            "forged by a commit",
            "for f in .agents/evolve/*.*; do echo forged >$f; done; touch a; git add -A -f; git commit -qm w",
        ),
        (
            "replaced by folders",
            "rm -rf .agents/evolve/*; mkdir .agents/evolve/cycle-history.jsonl .agents/evolve/fitness-1.json; touch a",
        ),
        ("forgotten with history", "git reset -q --hard HEAD~3; rm b"),
    ];
    for_each(&table, |what, script| {
        let repo = repository();
        repo.cycle("echo learned >$EVOLVE_LESSONS; touch other")
            .expect(0);
        let ledger = |commit: &str| {
            let listed = repo.git(&["ls-tree", "-r", commit, ".agents"]);
            let of_cycle_1 = |line: &&str| {
                line.contains("fitness-0")
                    || line.contains("fitness-1")
                    || line.contains("lessons")
                    || line.contains("cycle-0")
            };
            listed
                .lines()
                .filter(of_cycle_1)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let (before, first) = (ledger("HEAD"), repo.records()[0].clone());
        assert_eq!(before.len(), 5, "{before:?}");
        repo.cycle(script).expect(0);
        assert_eq!(repo.each("cycle"), ["1", "2"], "{what}");
        assert_eq!(repo.records()[0], first, "{what}");
        assert_eq!(ledger("HEAD"), before, "{what}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
        repo.git(&["diff-index", "--quiet", "HEAD"]);
    });
}

#[test]
fn what_an_agent_stages_of_the_ledger_is_in_no_commit_of_what_it_left() {
    for (what, script) in [
        (
            "forged",
            "for it in .agents/evolve/*.*; do echo forged >$it; done; git add -A -f",
        ),
        (
            "forged, and a file removed",
            "for it in .agents/evolve/*.*; do echo forged >$it; done; git add -A -f; git rm -q run.sh",
        ),
        (
            "new, and a file removed",
            "echo forged >.agents/evolve/fitness-99.json; git add -A -f; git rm -q run.sh",
        ),
        (
            "removed, and a file, too",
            "git rm -rq --cached .agents; git rm -q run.sh",
        ),
        (
            "in conflict, and a file removed",
            "git rm -q run.sh; path=.agents/evolve/cycle-history.jsonl; id=$(git rev-parse :$path)
             printf '0 %s\\t%s\\n100644 %s 1\\t%s\\n100644 %s 2\\t%s\\n' $(echo $id | tr 0-9a-f 0) $path $id $path $id $path | git update-index --index-info",
        ),
    ] {
        let repo = repository();
        repo.cycle("touch other").expect(0);
        let start = repo.head();
        repo.cycle(&format!("touch a; {script}")).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{what}");
        let left = repo.newest()["commit_sha"].as_str().unwrap().to_owned();
        assert_eq!(repo.git(&["rev-parse", &format!("{left}^")]), start, "{what}");
        let changed = repo.git(&["diff", "--name-only", &start, &left]);
        assert!(changed.lines().any(|name| name == "a"), "{what}: {changed}");
        assert!(!changed.contains(".agents"), "{what}: {changed}");
    }
}

#[test]
fn the_users_next_commit_takes_nothing_of_the_ledger_away() {
    for script in [
        "touch a",
        "rm b",
        "rm b; rm -r .agents/evolve",
        "git add -A -f; git commit -qm all",
    ] {
        let repo = repository();
        repo.cycle(script).expect(0);
        repo.write("mine", "mine\n");
        repo.git(&["add", "mine"]);
        repo.git(&["commit", "--quiet", "-m", "mine"]);
        let changed = repo.git(&["diff", "--name-only", "HEAD~1", "HEAD"]);
        assert_eq!(changed, "mine", "{script}");
    }
}

#[test]
fn a_tree_with_tracked_changes_is_refused_and_nothing_is_written() {
    let table = [
        ("changed", "echo 3 >README", "README"),
        ("staged", "echo new >wip; git add wip", "wip"),
        ("staged for removal", "git rm -q --cached README", "README"),
        ("removed", "rm dir/one", "dir/one"),
        ("a mode", "chmod -x run.sh", "run.sh"),
        ("the goals", "echo '# more' >>GOALS.yaml", "GOALS.yaml"),
        (
            "hidden by assume-unchanged",
            "git update-index --assume-unchanged README; echo 3 >README",
            "README",
        ),
        (
            "hidden by skip-worktree",
            "git update-index --skip-worktree README; echo 3 >README",
            "README",
        ),
    ];
    for (what, script, named) in table {
        let repo = repository();
        let mut shell = repo.command("sh");
        output(shell.args(["-c", script]));
        let seen = |repo: &TestRepo| {
            let index = repo.git(&["ls-files", "--stage", "-v"]);
            (repo.files(), index, repo.git(&["for-each-ref"]))
        };
        let before = seen(&repo);
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(3);
        assert!(
            run.stderr.contains(&format!("  {named}")),
            "{what}: {}",
            run.stderr
        );
        assert_eq!(seen(&repo), before, "{what}");
        assert_eq!((repo.calls(), repo.has(".agents")), (0, false), "{what}");
    }
}

#[test]
fn hooks_of_the_users_neither_stop_nor_hold_up_nor_change_what_evolve_commits() {
    for (end, result) in [("touch a", "improved"), ("rm b", "regressed")] {
        let repo = repository();
        let ran = repo.path(".git/ran");
        for (hook, script) in [
            ("pre-commit", "exit 1"),
            ("prepare-commit-msg", "echo changed >\"$1\""),
            ("commit-msg", "sleep 300"),
            ("post-commit", "echo changed >README"),
            ("post-checkout", "sleep 300"),
            ("post-index-change", "exit 1"),
            ("reference-transaction", "exit 1"),
            ("post-rewrite", "exit 1"),
        ] {
            let path = format!(".git/hooks/{hook}");
            repo.write(
                &path,
                &format!("#!/bin/sh\necho {hook} >>'{}'\n{script}\n", ran.display()),
            );
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(repo.path(&path), executable).unwrap();
        }
        repo.cycle(end).expect(0);
        assert_eq!(repo.newest()["result"], result);
        assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
        assert_eq!(repo.status(), Vec::<String>::new(), "{end}");
    }
}

#[test]
fn a_conflict_that_an_agent_leaves_is_undone_and_named() {
    let aside =
        "git switch -qc f; echo 1 >z; git add z; git commit -qm z; git switch -q main; echo 2 >z";
    for script in [
        format!("{aside}; touch a; git add -A; git commit -qm z2; git merge -q f"),
        format!(
            "{aside}; git add z; git stash -q; touch a; echo 3 >z; git add -A; git commit -qm z2; git stash pop -q"
        ),
        format!("{aside}; touch a; git add -A; git commit -qm z2; git cherry-pick f"),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.agent_does(&[&script]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{script}");
        let reason = repo.each("reason")[0].clone();
        assert_eq!(
            reason, "left what no commit holds: z in conflict",
            "{script}"
        );
        assert!(!repo.has("z"), "{script}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{script}");
    }
}

#[test]
fn head_and_branch_are_put_back_though_an_agent_changed_nothing_else() {
    for script in [
        "git checkout -q --orphan elsewhere",
        "git update-ref -d refs/heads/main",
        "git checkout -q --detach; git branch -qD main",
    ] {
        undone(&repository(), script, script);
    }
}

#[test]
fn a_file_that_became_a_link_is_back_after_an_undo_and_not_called_a_new_one() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: test -e a, weight: 5}\n  - {id: k, description: d, check: grep -q keep k, weight: 4}\n",
    );
    repo.write("k", "keep\n");
    repo.commit_all("k");
    repo.cycle("touch a; rm k; ln -s a k").expect(0);
    let newest = repo.newest();
    assert_eq!(newest["result"], "regressed");
    assert_eq!(repo.read("k"), "keep\n");
    let notes = newest["notes"].to_string();
    assert!(
        notes.contains("the undo removed") && notes.contains(": a\""),
        "{notes}"
    );
}
