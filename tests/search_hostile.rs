//! Agents of a search that do what they should not: what is the user's stays byte for byte as it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::harness::{TestRepo, assert_gone, everything_below};

/// Everything of the checkout and of its git directory but what `evolve` keeps there for itself, and objects, which nothing
/// names.
fn theirs(repo: &TestRepo) -> BTreeMap<PathBuf, (u32, u64)> {
    let mut all = everything_below(&repo.root());
    let own = |path: &Path| {
        ["evolve", "objects", "refs/evolve"]
            .iter()
            .any(|own| path.starts_with(repo.path(".git").join(own)))
    };
    all.retain(|path, _| !own(path));
    all
}

/// The refs with their commits; none of `evolve`'s but those of attempts.
fn refs(repo: &TestRepo) -> Vec<String> {
    let listed = repo.git(&["for-each-ref"]);
    let is_attempt = |line: &&str| line.contains("\trefs/evolve/search/1/");
    let all = listed.lines().filter(|line| !is_attempt(line));
    all.map(str::to_owned).collect()
}

/// A repository with some of everything that a user may have there.
fn lived_in() -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.write("edited", "old\n");
    repo.write("staged", "old\n");
    repo.write("folder/file", "kept\n");
    repo.commit_all("more");
    for message in ["one", "two"] {
        repo.write("edited", &format!("stashed {message}\n"));
        repo.git(&["stash", "push", "-q", "-m", message]);
    }
    repo.git(&["tag", "mine"]);
    repo.git(&["branch", "other", "HEAD~1"]);
    repo.write("edited", "mine, not committed\n");
    repo.write("staged", "mine, staged\n");
    repo.git(&["add", "staged"]);
    repo.write("staged", "mine, staged and edited\n");
    repo.write("untracked", "mine, untracked\n");
    repo.write("kept.ignored", "mine, ignored\n");
    repo
}

/// Searches with an agent that does this in its first attempt, and what is right in the second; holds all that is the user's
/// against what it was.
fn survives(repo: &TestRepo, what: &str, script: &str) {
    let (before, refs_before) = (theirs(repo), refs(repo));
    let user = repo.root().display().to_string();
    let first = format!("USER_REPO='{user}'\n{script}");
    repo.attempts(&[&first, "ls -A | grep -v .agents >$OUT/seen; echo 3 >x"]);
    let run = repo.search(&["--max-attempts=2"]);
    assert_eq!(run.code, 0, "{what}: {}{}", run.stdout, run.stderr);
    let endings = repo.endings();
    assert_eq!(endings[1], "accepted 3", "{what}: {endings:?}");
    assert_eq!(refs(repo), refs_before, "{what}");
    let after = theirs(repo);
    for (path, held) in &before {
        assert_eq!(after.get(path), Some(held), "{what}: {}", path.display());
    }
    for path in after.keys() {
        assert!(before.contains_key(path), "{what}: {}", path.display());
    }
    assert!(
        !repo.out("ran").exists(),
        "{what}: something planted was run"
    );
    let seen = ".git\n.gitignore\nedited\nfolder\ngate.sh\nscore.sh\nstaged\nx\n";
    assert_eq!(repo.said("seen"), seen, "{what}");
}

#[test]
fn the_checkout_stays_as_it_was_whatever_an_agent_does_with_git() {
    let table = [
        ("nothing but its work", "echo 2 >x"),
        (
            "the stash",
            "echo 2 >x; git stash list >$OUT/stashes; git stash; git stash drop; git stash drop; git stash drop; git stash pop; git stash clear; echo 2 >x",
        ),
        (
            "refs",
            "echo 2 >x; git update-ref refs/heads/main mine~1; git branch -D other; git tag -d mine; git update-ref refs/evolve/search/1/9 HEAD; git pack-refs --all; git reflog expire --expire=now --all; git gc -q --prune=now",
        ),
        (
            "settings",
            "echo 2 >x; git config user.name evil; git config core.fsmonitor 'touch $OUT/ran'; git config core.worktree $USER_REPO; git config core.hooksPath $PWD/h; git config alias.status '!touch $OUT/ran'",
        ),
        (
            "commits",
            "echo 2 >x; echo more >y; git add -A; git commit -qm work; echo 4 >x; git commit -qam more; git reset -q --hard HEAD~1",
        ),
        (
            "branches",
            "git checkout -q -b mine-too; echo 2 >x; git commit -qam work; git checkout -q other; git checkout -q --detach; echo 2 >x",
        ),
        (
            "hooks",
            "echo 2 >x; mkdir -p .git/hooks; for h in post-checkout pre-commit post-index-change reference-transaction; do printf '#!/bin/sh\\ntouch $OUT/ran\\n' >.git/hooks/$h; chmod +x .git/hooks/$h; done; git commit --no-verify -qam x; rm -f $OUT/ran",
        ),
        (
            "filters",
            "echo 2 >x; echo '* filter=evil' >.gitattributes; mkdir -p .git/info; echo '* filter=evil' >.git/info/attributes; git config filter.evil.clean 'touch $OUT/ran; cat'; git config filter.evil.smudge 'touch $OUT/ran; cat'; git config filter.evil.required true",
        ),
        (
            "an index that lies",
            "echo 2 >x; git update-index --assume-unchanged x score.sh; git update-index --skip-worktree gate.sh; echo >gate.sh",
        ),
        ("a broken index", "echo 2 >x; echo rubbish >.git/index"),
        ("a lock", "echo 2 >x; touch .git/index.lock .git/HEAD.lock"),
        ("no index", "echo 2 >x; rm .git/index"),
        ("no .git", "echo 2 >x; rm -rf .git"),
        (
            "a link for .git",
            "echo 2 >x; rm -rf .git; ln -s $USER_REPO/.git .git",
        ),
        (
            "a file for .git",
            "echo 2 >x; rm -rf .git; echo \"gitdir: $USER_REPO/.git\" >.git",
        ),
        (
            "links in .git",
            "echo 2 >x; rm -rf .git/refs; ln -s $USER_REPO/.git/refs .git/refs; rm .git/index; ln -s $USER_REPO/.git/index .git/index; rm .git/HEAD; ln -s $USER_REPO/.git/HEAD .git/HEAD",
        ),
        (
            "a common directory",
            "echo 2 >x; echo $USER_REPO/.git >.git/commondir",
        ),
        (
            "alternates",
            "echo 2 >x; echo /nowhere >.git/objects/info/alternates",
        ),
        (
            "what is kept of its copy",
            "echo 2 >x; for f in index refs lent used; do echo rubbish >$PWD.$f; done",
        ),
    ];
    for (what, script) in table {
        let repo = lived_in();
        survives(&repo, what, script);
        assert_eq!(repo.endings()[0], "accepted 2", "{what}");
        if what == "the stash" {
            assert_eq!(repo.said("stashes"), "");
        }
    }
}

#[test]
fn the_checkout_stays_as_it_was_whatever_an_agent_does_with_its_files() {
    let table = [
        (
            "a folder for the file",
            "rm x; mkdir x; touch x/y",
            "invalid",
        ),
        (
            "a link for the file",
            "rm x; ln -s $USER_REPO/edited x",
            "unchanged",
        ),
        ("a pipe for the file", "rm x; mkfifo x", "unchanged"),
        (
            "a link for a folder",
            "echo 2 >x; rm -rf folder; ln -s $USER_REPO/folder folder",
            "accepted 2",
        ),
        (
            "a repository within",
            "echo 2 >x; git init -q within; touch within/y; (cd within; git add -A; git commit -qm x)",
            "accepted 2",
        ),
        ("no files", "rm -rf *", "invalid"),
        ("no files at all", "rm -rf * .g*", "invalid"),
        (
            "its copy removed",
            "echo 2 >x; rm -rf \"$PWD\"",
            "agent failed",
        ),
        (
            "its copy moved away",
            "echo 2 >x; mv \"$PWD\" $OUT/moved; mkdir \"$PWD\"",
            "invalid",
        ),
        (
            "its copy a link",
            "echo 2 >x; mv \"$PWD\" $OUT/moved; ln -s $USER_REPO \"$PWD\"",
            "agent failed",
        ),
        (
            "its copy a file",
            "echo 2 >x; mv \"$PWD\" $OUT/moved; touch \"$PWD\"",
            "agent failed",
        ),
    ];
    for (what, script, ending) in table {
        let repo = lived_in();
        let script = script.replace("$OUT/moved", "$OUT/moved-$$");
        survives(&repo, what, &script);
        let endings = repo.endings();
        assert_eq!(
            endings[0].split(" 1").next(),
            Some(ending),
            "{what}: {endings:?}"
        );
    }
}

#[test]
fn folders_that_an_agent_locked_are_opened_again() {
    for (what, script) in [
        (
            "a new folder",
            "echo 2 >x; mkdir locked; touch locked/y; chmod 0 locked",
        ),
        ("a folder of the commit", "echo 2 >x; chmod 0 folder"),
        (
            "a folder in the git directory",
            "echo 2 >x; chmod 0 .git/objects",
        ),
        ("the git directory", "echo 2 >x; chmod 0 .git"),
        ("a file", "echo 2 >x; chmod 0 folder/file x"),
        ("its copy", "echo 2 >x; chmod 0 ."),
    ] {
        let repo = lived_in().by_normal_user();
        repo.attempts(&[script, "echo 3 >x"]);
        repo.hand_over();
        let before = theirs(&repo);
        let run = repo.search(&["--max-attempts=2"]);
        assert_eq!(run.code, 0, "{what}: {}{}", run.stdout, run.stderr);
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"], "{what}");
        assert_eq!(theirs(&repo), before, "{what}");
    }
}

#[test]
fn what_a_fitness_command_does_to_its_copy_is_gone_with_the_next_attempt() {
    let repo = lived_in();
    repo.write(
        "score.sh",
        "ls -A >$OUT/seen; cat x\necho 9 >edited; rm -rf .git; touch left; chmod 0 folder; rm -f gate.sh\n",
    );
    repo.commit_file("score.sh");
    let before = theirs(&repo);
    repo.attempts(&["echo $((EVOLVE_ATTEMPT + 1)) >x"]);
    repo.search(&["--max-attempts=3"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3", "accepted 4"]);
    assert!(!repo.said("seen").contains("left"), "{}", repo.said("seen"));
    assert_eq!(theirs(&repo), before);
}

#[test]
fn processes_that_an_agent_leaves_change_nothing_of_a_later_attempt() {
    let repo = lived_in();
    repo.attempts(&[
        "echo 2 >x; (setsid sh -c 'echo $$ >$OUT/left; while :; do echo 99 >x; sleep 0.01; done' >/dev/null 2>&1 &); until [ -s $OUT/left ]; do :; done",
        "echo 3 >x",
    ]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_gone(&[repo.out("left")]);
    let endings = repo.endings();
    assert!(
        endings[1] == "accepted 3" || endings == ["accepted 99", "worse 3"],
        "{endings:?}"
    );
}

#[test]
fn discarding_a_search_leaves_nothing_of_it() {
    let repo = lived_in();
    let refs_before = repo.git(&["for-each-ref"]);
    repo.attempts(&["echo 2 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_ne!(repo.git(&["for-each-ref"]), refs_before);
    repo.evolve(&["search", "discard"]).expect(0);
    assert_eq!(repo.git(&["for-each-ref"]), refs_before);
    assert!(!repo.private().join("search/1").exists());
}
