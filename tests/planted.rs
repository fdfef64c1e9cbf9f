//! What an agent plants where `evolve`'s git might read or execute it: in repositories inside the working tree, its own and
//! those that were there, and in the user's own configuration. Nothing of it is executed or believed, and the user's own
//! work in submodules is guarded as before.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::{TestRepo, output};

/// A repository whose goal `a` fails and `b` passes, with two submodules: `sm`, in which there is a submodule `deep`, and
/// `old`, whose `.git` is a folder. `$OUT/evil` writes a line to `$OUT/ran`, and what it reads to its output.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    let evil = repo.out("evil");
    fs::write(&evil, "#!/bin/sh\necho ran >>\"$OUT/ran\"; cat\n").unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    sh(
        &repo,
        r#"set -e
export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
export GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=o GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=o
for name in deep sm old; do
    git init -q "$OUT/$name"; echo 1 >"$OUT/$name/x"; echo '*.o' >"$OUT/$name/.gitignore"
    git -C "$OUT/$name" add .; git -C "$OUT/$name" commit -qm one
done
git -C "$OUT/sm" submodule -q add "$OUT/deep" deep; git -C "$OUT/sm" commit -qm deep
git submodule -q add "$OUT/sm" sm; git submodule -q update --init --recursive
git clone -q "$OUT/old" old; git submodule -q add "$OUT/old" old
git add .; git commit -qm first"#,
    );
    assert!(repo.path("old/.git").is_dir() && repo.path("sm/deep/.git").is_file());
    repo
}

fn sh(repo: &TestRepo, script: &str) -> String {
    let said = output(repo.command("sh").args(["-c", script])).stdout;
    String::from_utf8_lossy(&said).into_owned()
}

fn notes(repo: &TestRepo) -> String {
    repo.newest()["notes"].to_string()
}

/// Has git run `$OUT/evil` whenever it looks at, writes or commits a file in the repository at `$1`.
const PLANT: &str = r#"
plant() {
    git -C "$1" config filter.evil.clean "$OUT/evil"; git -C "$1" config filter.evil.smudge "$OUT/evil"
    git -C "$1" config core.fsmonitor "$OUT/evil"; git -C "$1" config core.hooksPath "$OUT/hooks"
    dir=$(git -C "$1" rev-parse --absolute-git-dir)
    mkdir -p "$dir/hooks" "$dir/info" "$OUT/hooks"; echo '* filter=evil' >"$dir/info/attributes"
    for hook in pre-commit post-checkout post-index-change reference-transaction; do
        cp "$OUT/evil" "$dir/hooks/$hook"; cp "$OUT/evil" "$OUT/hooks/$hook"
    done
    echo changed >>"$1/x"; sleep 0.02; touch "$1/x"
}
new() { git init -q "$1"; echo 1 >"$1/x"; git -C "$1" add x; git -C "$1" -c user.name=n -c user.email=n commit -qm n; }
"#;

/// What an agent does with repositories in the tree.
const NESTED: [(&str, &str); 17] = [
    ("a new one", "new sub; plant sub"),
    (
        "a new one, committed as a submodule",
        "new sub; git add sub; git commit -qm sub; plant sub",
    ),
    (
        "a new one, committed, that no look at submodules is to miss",
        "new sub; git add sub; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url ./x
         git config -f .gitmodules submodule.sub.ignore none; git add .gitmodules; git commit -qm sub; plant sub",
    ),
    (
        "a new one in a folder",
        "mkdir -p d; new d/sub; git add d/sub; git commit -qm sub; plant d/sub",
    ),
    (
        "one in a tracked file's place",
        "rm b; new b; plant b",
    ),
    ("the settings of a submodule", "plant sm"),
    ("the settings of a submodule within one", "plant sm/deep"),
    ("the settings of one with a folder for .git", "plant old"),
    (
        "another repository in a submodule's place",
        "rm -rf sm; new sm; plant sm",
    ),
    (
        "another repository in place of one with a folder for .git",
        "rm -rf old/.git; new old; plant old",
    ),
    (
        "another repository in place of one within a submodule",
        "rm -rf sm/deep; new sm/deep; plant sm/deep",
    ),
    (
        "another repository behind a submodule's .git",
        "new $OUT/theirs; plant $OUT/theirs; echo gitdir: $OUT/theirs/.git >sm/.git; echo changed >sm/x",
    ),
    (
        "a link in a submodule's place",
        "new $OUT/theirs; plant $OUT/theirs; rm -rf sm; ln -s $OUT/theirs sm",
    ),
    (
        "a link in place of a submodule's git directory",
        "new $OUT/theirs; plant $OUT/theirs; rm -rf .git/modules/sm; ln -s $OUT/theirs/.git .git/modules/sm; echo changed >sm/x",
    ),
    (
        "a link in place of a .git",
        "new $OUT/theirs; plant $OUT/theirs; rm -rf old/.git; ln -s $OUT/theirs/.git old/.git; echo changed >old/x",
    ),
    (
        "settings that a submodule shares with another",
        "new $OUT/theirs; plant $OUT/theirs; echo $OUT/theirs/.git >.git/modules/sm/commondir; echo changed >sm/x",
    ),
    (
        "settings that the repository shares with another",
        "new $OUT/theirs; plant $OUT/theirs; cp -r .git/objects .git/refs $OUT/theirs/.git/; echo $OUT/theirs/.git >.git/commondir",
    ),
];

/// Says what is wrong with what came of an agent that does this, before it breaks something or not, and of the session after
/// that.
fn wrong_with(what: &str, script: &str, (end, result): (&str, &str)) -> String {
    let repo = repository();
    let theirs =
        "cat \"$OUT\"/theirs/.git/config \"$OUT\"/theirs/.git/info/attributes 2>/dev/null; true";
    let run = repo.cycle(&format!(
        "{end}\n{PLANT}\n{script}\n({theirs}) >\"$OUT/before\"\nrm -f \"$OUT/ran\""
    ));
    let mut wrong = String::new();
    if repo.out("ran").exists() {
        wrong.push_str("was executed; ");
    }
    if run.code != 0 || repo.newest()["result"] != result {
        wrong.push_str(&format!(
            "exit {} {} {} ",
            run.code,
            run.stderr,
            notes(&repo)
        ));
    }
    if sh(&repo, theirs) != repo.said("before") {
        wrong.push_str("a repository elsewhere was written to; ");
    }
    if result == "improved" {
        let _ = fs::remove_file(repo.out("ran"));
        repo.agent_does(&["true"]);
        let next = repo.run(&["--max-cycles=1"]);
        if repo.out("ran").exists() {
            wrong.push_str(&format!(
                "was executed by the next session: {}",
                next.stderr
            ));
        }
    }
    match wrong.is_empty() {
        true => wrong,
        false => format!("{what}, {result}: {wrong}\n"),
    }
}

#[test]
fn no_git_is_run_in_a_repository_that_an_agent_made_or_changed() {
    let wrong = |(what, script): &(&str, &str)| wrong_with(what, script, ("touch a", "improved"));
    let wrong: Vec<_> = NESTED.iter().map(wrong).collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn no_git_is_run_there_by_an_undo_either() {
    let end = ("git rm -qf b", "regressed");
    let wrong = |(what, script): &(&str, &str)| wrong_with(what, script, end);
    let rows = NESTED
        .iter()
        .filter(|(what, _)| !what.contains("tracked file"));
    let wrong: Vec<_> = rows.map(wrong).collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn the_users_uncommitted_work_in_submodules_is_seen_as_before() {
    let rows = [
        ("a change", "echo 2 >>sm/x", "sm"),
        ("a new file", "echo 2 >old/y", "old"),
        ("a change within", "echo 2 >>sm/deep/x", "sm"),
        (
            "a new commit",
            "git -C sm -c user.name=n -c user.email=n commit -qm n --allow-empty",
            "sm",
        ),
        (
            "a change that is not to be shown",
            "git config submodule.sm.ignore all; echo 2 >>sm/x",
            "sm",
        ),
    ];
    for (what, script, named) in rows {
        let repo = repository();
        sh(&repo, script);
        let before = sh(&repo, "cat sm/x sm/deep/x old/*");
        let run = repo.cycle("touch a").expect(3);
        assert!(
            run.stderr.contains(&format!("\n  {named}\n")),
            "{what}: {}",
            run.stderr
        );
        assert_eq!(repo.calls(), 0, "{what}");
        assert_eq!(sh(&repo, "cat sm/x sm/deep/x old/*"), before, "{what}");
    }
    let repo = repository();
    repo.cycle("touch a; echo 2 >>sm/deep/x; echo 2 >>old/x")
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    for inner in ["sm/deep", "old"] {
        assert!(notes(&repo).contains(&format!(
            "uncommitted changes inside {inner} are in its stash"
        )));
        assert_eq!(repo.git(&["-C", inner, "show", "stash@{0}:x"]), "1\n2");
    }
    assert_eq!(repo.read("sm/deep/x") + &repo.read("old/x"), "1\n1\n");
}
