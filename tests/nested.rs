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
            // There is nothing in the pipe that could be lost.
            assert!(!run.stderr.contains("could lose"), "{}", run.stderr);
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

/// A repository whose goal `a` fails and `b` passes, with a tracked file `d/e/x`, the user's `notes/mine`, an ignored folder
/// `out`, and a submodule `sm` with a file `in/x`.
fn with_folders() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    repo.write("d/e/x", "1\n");
    repo.write("out/x", "1\n");
    repo.write(".gitignore", "out/\n");
    sh(
        &repo,
        r#"set -e
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
export GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=o GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=o
git init -q "$OUT/sm"; mkdir "$OUT/sm/in"; echo 1 >"$OUT/sm/in/x"
git -C "$OUT/sm" add .; git -C "$OUT/sm" commit -qm one
git submodule -q add "$OUT/sm" sm; git add .; git commit -qm first"#,
    );
    repo.write("notes/mine", "mine\n");
    repo
}

/// Makes repositories, and files that lead to some, in folders of every kind.
const PLANT: &str = r#"
git init -q d; git init -q "$OUT/theirs"; echo "gitdir: $OUT/theirs/.git" >d/e/.git
git init -q notes; git init -q sm/in; git init -q out/tool; mkdir -p out/a/b; git init -q out/a/b/tool
mkdir new; echo "gitdir: nowhere" >new/.git; git init -q fresh; echo 1 >fresh/f
echo changed >d/e/x; echo new >d/e/new"#;

/// What is called `.git` in the tree, but for its own and the submodule's.
fn planted(repo: &TestRepo) -> Vec<String> {
    let found = sh(repo, "find . -name .git | sort");
    let is_own = |path: &str| path.starts_with("./.git") || path == "./sm/.git";
    found
        .lines()
        .filter(|path| !is_own(path))
        .map(|path| path[2..].to_owned())
        .collect()
}

#[track_caller]
fn assert_named(repo: &TestRepo) {
    let notes = repo.newest()["notes"].to_string();
    for path in [
        "d/.git",
        "d/e/.git",
        "notes/.git",
        "sm/in/.git",
        "new/.git",
        "fresh/",
    ] {
        assert!(notes.contains(path), "{path} is not named: {notes}");
    }
}

#[test]
fn repositories_that_an_agent_planted_go_to_the_quarantine_with_an_undo() {
    for is_killed in [false, true] {
        let repo = with_folders();
        let script = format!("{PLANT}; git rm -qf b; git commit -qm b");
        if is_killed {
            repo.agent_does(&[&format!("{script}; touch \"$OUT/there\"; sleep 300")]);
            let mut dying = repo.spawn_run(&[]);
            repo.wait_for("there");
            dying.kill().unwrap();
            dying.wait().unwrap();
            repo.agent_does(&["true"]);
            repo.run(&["--max-cycles=1"]).expect(0);
        } else {
            repo.cycle(&script).expect(0);
            assert_named(&repo);
        }
        let result = ["regressed", "interrupted"][usize::from(is_killed)];
        assert_eq!(repo.each("result")[0], result);
        assert_eq!(
            planted(&repo),
            ["out/a/b/tool/.git", "out/tool/.git"],
            "{result}"
        );
        assert_eq!(repo.read("d/e/x") + &repo.read("notes/mine"), "1\nmine\n");
        assert_eq!(repo.status(), ["?? notes/"], "{result}");
        let kept = sh(&repo, "find .git/evolve/quarantine");
        for path in ["d/.git/HEAD", "d/e/.git", "new/.git", "fresh/f"] {
            assert!(kept.contains(path), "{path} is lost: {kept}");
        }
    }
}

#[test]
fn repositories_that_an_agent_planted_hide_nothing_of_a_kept_change() {
    let repo = with_folders();
    repo.cycle(&format!("{PLANT}; touch a")).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_named(&repo);
    let left = [
        "fresh/.git",
        "new/.git",
        "out/a/b/tool/.git",
        "out/tool/.git",
    ];
    assert_eq!(planted(&repo), left);
    assert_eq!(repo.git(&["show", "HEAD:d/e/x"]), "changed");
    assert_eq!(repo.git(&["show", "HEAD:d/e/new"]), "new");
    assert_eq!(repo.read("notes/mine"), "mine\n");
}
