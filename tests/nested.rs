//! A repository of its own in the working tree that git does not track: the user's files, whatever an agent does to them.

use std::fs;

use crate::harness::{TestRepo, output};

fn sh(repo: &TestRepo, script: &str) -> String {
    let shown = output(repo.command("sh").args(["-c", script])).stdout;
    String::from_utf8_lossy(&shown).into_owned()
}

/// A nested repository with a branch, a stash, packed and loose objects, staged, changed, untracked and ignored files, a link,
/// an empty folder, and what cannot be kept.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    sh(
        &repo,
        "set -e
         export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=n GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=n
         git init -q -b main nest; cd nest; echo '*.o' >.gitignore; echo 1 >f; git add .; git commit -qm one
         git checkout -q -b side; echo 2 >g; git add g; git commit -qm two; git gc -q; git checkout -q main
         echo s >>f; git stash -q; echo 3 >staged; git add staged; echo 4 >>f; echo 5 >new; echo 6 >x.o
         ln -s f link; mkdir empty; chmod 750 new; mkfifo pipe",
    );
    repo
}

const SEEN: &str = "cd nest; git fsck --strict; git show-ref; git stash list; git status --short --ignored; git diff --cached; git diff; git log --all --format=%H; cat new x.o; readlink link; stat -c %a new; ls -d empty";

#[test]
fn an_untracked_repository_is_as_before_whatever_an_agent_did_to_it() {
    for (what, script) in [
        ("removed", "rm -rf nest"),
        ("moved", "mv nest elsewhere"),
        ("its git directory removed", "rm -rf nest/.git"),
        (
            "reset and collected",
            "cd nest; git stash drop -q; git branch -qD side; git reset -q --hard; git clean -fdxq; git reflog expire --expire=now --all; git gc -q --prune=now; cd ..",
        ),
        (
            "damaged",
            "for f in $(find nest -type f); do chmod u+w $f; : >$f; done",
        ),
        ("made a link", "mv nest elsewhere; ln -s elsewhere nest"),
        ("made a file", "rm -rf nest; echo x >nest"),
    ] {
        for rest in ["touch a; git add a; git commit -qm a", "true"] {
            let repo = repository();
            let before = sh(&repo, SEEN);
            let run = repo.cycle(&format!("{script}; {rest}"));
            assert_eq!(run.code, 0, "{what}: {}", run.stderr);
            assert_eq!(sh(&repo, SEEN), before, "{what}: {}", repo.newest());
        }
    }
}

#[test]
fn a_repository_with_too_many_files_is_named_before_the_agent_starts() {
    let repo = repository();
    for n in 0..10_001 {
        fs::write(repo.path(&format!("nest/{n}")), "").unwrap();
    }
    repo.agent_does(&["touch a; rm nest/.git/HEAD"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(
        run.stderr
            .contains("too many files to copy them all, an agent could lose it: nest/"),
        "{}",
        run.stderr
    );
    assert!(
        repo.has("nest/.git/HEAD"),
        "what the repository holds comes first"
    );
}
