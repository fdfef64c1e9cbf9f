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
named() {
    git config -f .gitmodules "submodule.$1.path" "$1"; git config -f .gitmodules "submodule.$1.url" ./x
    git add .gitmodules "$1"
}
"#;

/// What an agent does with repositories in the tree.
const NESTED: [(&str, &str); 17] = [
    ("a new one", "new sub; plant sub"),
    (
        "a new one, committed as a submodule",
        "new sub; named sub; git commit -qm sub; plant sub",
    ),
    (
        "a new one, committed, that no look at submodules is to miss",
        "new sub; git config -f .gitmodules submodule.sub.ignore none; named sub; git commit -qm sub; plant sub",
    ),
    (
        "a new one in a folder",
        "mkdir -p d; new d/sub; named d/sub; git commit -qm sub; plant d/sub",
    ),
    ("one in a tracked file's place", "rm b; new b; plant b"),
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

/// What of that is no part of a change to keep: what stands in the way inside .git, and files that are not those of the commit.
const NOT_KEPT: [&str; 8] = [
    "a new one, committed as a submodule",
    "a new one, committed, that no look at submodules is to miss",
    "a new one in a folder",
    "another repository in a submodule's place",
    "another repository in place of one within a submodule",
    "another repository behind a submodule's .git",
    "a link in place of a submodule's git directory",
    "a link in place of a .git",
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
    let wrong = |(what, script): &(&str, &str)| {
        let result = match NOT_KEPT.contains(what) {
            true => "regressed",
            false => "improved",
        };
        wrong_with(what, script, ("touch a", result))
    };
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

/// A repository whose user has settings of their own: a filter in `~/.gitconfig`, which includes `~/more`, and excludes.
fn with_users_settings() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    repo.write(".gitattributes", "*.up filter=up\n*.evil filter=evil\n");
    let evil = repo.out("evil");
    fs::write(&evil, "#!/bin/sh\necho ran >>\"$OUT/ran\"; cat\n").unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    sh(
        &repo,
        r#"set -e
git config --global filter.up.clean 'sed s/PLAIN/stored/'; git config --global include.path more
git config -f ~/more filter.up.smudge 'sed s/stored/PLAIN/'
mkdir -p ~/.config/git; echo '*.mine' >~/.config/git/ignore; echo mine >x.mine
echo PLAIN >t.up; git add .; git commit -qm first"#,
    );
    assert_eq!(repo.git(&["show", "HEAD:t.up"]), "stored");
    repo
}

/// What an agent does to them, and the file that is named for it.
const OF_USER: [(&str, &str, &str); 12] = [
    (
        "a filter",
        "git config --global filter.evil.clean \"$OUT/evil\"; git config --global filter.evil.smudge \"$OUT/evil\"",
        "~/.gitconfig",
    ),
    (
        "another command of a filter",
        "git config --global filter.up.clean \"$OUT/evil\"; git config --global filter.up.smudge \"$OUT/evil\"",
        "~/.gitconfig",
    ),
    (
        "a filter in what is included",
        "git config -f ~/more filter.evil.clean \"$OUT/evil\"; git config -f ~/more filter.evil.smudge \"$OUT/evil\"",
        "~/more",
    ),
    (
        "a filter in the other file",
        "git config -f ~/.config/git/config filter.evil.clean \"$OUT/evil\"; git config -f ~/.config/git/config filter.evil.smudge \"$OUT/evil\"",
        "~/.config/git/config",
    ),
    (
        "a filter in a file that is included from now on",
        "git config -f ~/new filter.evil.clean \"$OUT/evil\"; git config --global --add include.path new",
        "~/.gitconfig",
    ),
    (
        "attributes",
        "git config --global filter.evil.clean \"$OUT/evil\"; echo '* filter=evil' >~/.config/git/attributes; touch b",
        "~/.config/git/attributes",
    ),
    (
        "attributes elsewhere",
        "git config --global filter.evil.clean \"$OUT/evil\"; echo '* filter=evil' >~/all; git config --global core.attributesFile ~/all; touch b",
        "~/.gitconfig",
    ),
    (
        "excludes",
        "echo '*' >~/.config/git/ignore",
        "~/.config/git/ignore",
    ),
    (
        "excludes elsewhere",
        "echo '*' >~/all; git config --global core.excludesFile ~/all",
        "~/.gitconfig",
    ),
    (
        "no excludes",
        "rm ~/.config/git/ignore",
        "~/.config/git/ignore",
    ),
    ("no settings", "rm ~/.gitconfig", "~/.gitconfig"),
    (
        "somebody else's name",
        "git config --global user.name Evil; git config --unset user.name",
        "~/.gitconfig",
    ),
];

/// Says what is wrong with what came of an agent that changes the user's settings.
fn wrong_with_users(what: &str, script: &str, named: &str, arguments: &[&str]) -> String {
    let repo = with_users_settings();
    let of_user = "(cd; for file in .gitconfig more .config/git/*; do echo $file; cat $file; done) 2>&1; true";
    repo.agent_does(&[
        &format!(
            "touch a; echo n >new.evil; echo PLAIN new >>t.up; {script}; ({of_user}) >\"$OUT/left\"; rm -f \"$OUT/ran\""
        ),
        "echo PLAIN more >>t.up; rm b",
    ]);
    repo.commit_goals(
        "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: test -e b, weight: 5}\n  - {id: c, description: c, check: test -e c, weight: 5}\n",
    );
    let run = repo.run(&[&["--max-cycles=2"], arguments].concat());
    let mut wrong = String::new();
    if repo.out("ran").exists() {
        wrong.push_str("was executed; ");
    }
    if run.code != 0 || repo.each("result") != ["improved", "regressed"] {
        wrong.push_str(&format!(
            "exit {} {} {:?} ",
            run.code,
            run.stderr,
            repo.each("reason")
        ));
        return format!("{what}: {wrong}\n");
    }
    let tree = repo.git(&["ls-tree", "--name-only", "HEAD"]);
    if !tree.lines().any(|name| name == "new.evil") || tree.contains("x.mine") {
        wrong.push_str(&format!("{tree:?} was committed; "));
    }
    let content = [repo.git(&["show", "HEAD:t.up"]), repo.read("t.up")];
    if content != ["stored\nstored new", "PLAIN\nPLAIN new\n"] {
        wrong.push_str(&format!("it went by other filters: {content:?}; "));
    }
    if sh(&repo, of_user) != repo.said("left") {
        wrong.push_str("the user's file was written to; ");
    }
    if repo.git(&["log", "--format=%an"]).contains("Evil") {
        wrong.push_str("another name; ");
    }
    let notes = repo.records()[0]["notes"].to_string();
    if !notes.contains(named) || !run.stdout.contains(named) {
        wrong.push_str(&format!("is not named: {notes} {}", run.stdout));
    }
    match wrong.is_empty() {
        true => wrong,
        false => format!("{what}: {wrong}\n"),
    }
}

#[test]
fn git_goes_by_the_users_own_settings_as_they_were_when_the_session_began() {
    let wrong =
        |(what, script, named): &(&str, &str, &str)| wrong_with_users(what, script, named, &[]);
    let wrong: Vec<_> = OF_USER.iter().map(wrong).collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn it_does_in_a_copy_of_its_own_too() {
    let rows = OF_USER
        .iter()
        .filter(|(what, ..)| ["a filter", "attributes", "excludes"].contains(what));
    let wrong =
        rows.map(|(what, script, named)| wrong_with_users(what, script, named, &["--isolate"]));
    assert_eq!(wrong.collect::<Vec<_>>().concat(), "");
}

#[test]
fn it_does_after_a_crash_too() {
    let repo = with_users_settings();
    let (_, script, named) = OF_USER[0];
    let agent =
        format!("echo n >new.evil; {script}; rm -f \"$OUT/ran\"; touch \"$OUT/there\"; sleep 300");
    repo.agent_does(&[&agent, "touch a"]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("there");
    child.kill().unwrap();
    child.wait().unwrap();
    let next = repo.run(&["--max-cycles=1"]);
    assert_eq!(next.code, 0, "{}", next.stderr);
    assert!(!repo.out("ran").exists());
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    let notes = repo.records()[0]["notes"].to_string();
    assert!(notes.contains(named), "{notes}");
}

#[test]
fn a_pipe_among_the_users_settings_is_refused_and_not_waited_for() {
    for (script, named) in [
        ("rm ~/.gitconfig; mkfifo ~/.gitconfig", "~/.gitconfig"),
        ("mkfifo ~/.config/git/config", "~/.config/git/config"),
        (
            "mkfifo ~/pipe; git config --global --add include.path pipe",
            "~/pipe",
        ),
    ] {
        let repo = with_users_settings();
        let run = repo.cycle(&format!("touch a; {script}"));
        assert_eq!(run.code, 3, "{script}: {}", run.stderr);
        assert!(run.stderr.contains(&format!(
            "{named} is among your settings of git and is no file"
        )));
        let next = repo.run(&["--max-cycles=1"]);
        assert_eq!(next.code, 3, "{script}: {}", next.stderr);
        sh(
            &repo,
            "rm -f ~/pipe; [ -f ~/.gitconfig ] || rm ~/.gitconfig; [ ! -p ~/.config/git/config ] || rm ~/.config/git/config",
        );
        repo.agent_does(&["touch a"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    }
}

#[test]
fn what_an_agent_plants_is_no_way_out_of_a_sandbox() {
    for mode in ["--sandbox=landlock", "--sandbox=bwrap"] {
        let repo = repository();
        repo.agent_does(&[&format!(
            "touch a\n{PLANT}\n(echo direct >\"$OUT/ran\") || echo denied >denied
             new sub; named sub; git commit -qm sub; plant sub; echo 1 >sub/x; plant old; plant sm"
        )]);
        repo.run(&["--max-cycles=1", mode]).expect(0);
        assert!(repo.has("denied"), "{mode}: the agent is not held back");
        assert!(!repo.out("ran").exists(), "{mode}");
        assert_eq!(repo.newest()["result"], "improved", "{mode}");
    }
}

/// A repository whose settings of git name programs inside it: the filter `up`, which `named` says how it is called.
fn with_filter_of_the_tree(named: &str) -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5)]).with_out();
    repo.write("b", "b\n");
    repo.write("t.up", "one\n");
    repo.write(".gitignore", ".venv/\nmine/\n");
    repo.write(".gitattributes", "*.up filter=up\n");
    let evil = repo.out("evil");
    fs::write(
        &evil,
        "#!/bin/sh\necho ran >>\"$OUT/ran\"; : \"filter\"; cat\n",
    )
    .unwrap();
    sh(
        &repo,
        &format!(
            r#"set -e
chmod 755 "$OUT/evil"; mkdir -p tools real .venv/bin mine
printf '#!/bin/sh\n. tools/lib.sh\nexec cat\n' >tools/clean.sh; echo : >tools/lib.sh; cp tools/clean.sh real/clean.sh
chmod 755 tools/clean.sh real/clean.sh; cp tools/clean.sh .venv/bin/strip; cp tools/clean.sh mine/clean.sh
ln -s ../real/clean.sh tools/link; ln -s real linked
git add .; git commit -qm first
git config filter.up.clean '{named}'"#
        ),
    );
    repo
}

/// How the filter is called, what an agent does to its program, and what is named for it.
const FILTERS: [(&str, &str, &str); 13] = [
    (
        "tools/clean.sh",
        "cp $OUT/evil tools/clean.sh",
        "tools/clean.sh",
    ),
    (
        "tools/clean.sh %f",
        "cp $OUT/evil tools/clean.sh; git commit -qam evil",
        "tools/clean.sh",
    ),
    (
        "$PWD/tools/clean.sh",
        "cp $OUT/evil tools/clean.sh",
        "tools/clean.sh",
    ),
    (
        "sh tools/clean.sh",
        "cp $OUT/evil tools/clean.sh",
        "tools/clean.sh",
    ),
    (
        "tools/clean.sh",
        "echo \". $OUT/evil\" >tools/lib.sh",
        "tools/lib.sh",
    ),
    (
        "tools/clean.sh",
        "rm -r tools; mkdir new; cp $OUT/evil new/clean.sh; ln -s new tools",
        "tools/clean.sh",
    ),
    (
        "tools/clean.sh",
        "mkdir $OUT/new; cp $OUT/evil $OUT/new/clean.sh; rm -r tools; ln -s $OUT/new tools",
        "tools/clean.sh",
    ),
    ("tools/link", "cp $OUT/evil real/clean.sh", "real/clean.sh"),
    ("tools/link", "ln -sf $OUT/evil tools/link", "tools/link"),
    (
        "linked/clean.sh",
        "cp -r real new; cp $OUT/evil new/clean.sh; ln -sfn new linked",
        "linked",
    ),
    (
        ".venv/bin/strip",
        "cp $OUT/evil .venv/bin/strip",
        ".venv/bin/strip",
    ),
    (
        "mine/clean.sh || cat",
        "rm mine/clean.sh; cp $OUT/evil mine/clean.sh",
        "mine/clean.sh",
    ),
    (
        "if [ -e ./later ]; then ./later; else cat; fi",
        "cp $OUT/evil later",
        "later",
    ),
];

/// Says what is wrong with what came of an agent that changes the program of a filter.
fn wrong_with_filter((named, script, program): (&str, &str, &str), arguments: &[&str]) -> String {
    let repo = with_filter_of_the_tree("cat");
    let named = named.replace("$PWD", &repo.root().display().to_string());
    repo.git(&["config", "filter.up.clean", &named]);
    let programs = "ls -l tools linked | grep -o '[^ ]* -> .*'; cat tools/* real/* mine/* .venv/bin/*; stat -c %A tools/* mine/*; cat later 2>&1; true";
    let before = sh(&repo, programs);
    let of_user = format!("cd '{}'; {programs}", repo.root().display());
    repo.agent_does(&[
        &format!("touch a; {script}; echo two >>t.up; sleep 0.02; touch t.up; rm -f \"$OUT/ran\""),
        "touch a; echo two >>t.up",
    ]);
    let run = repo.run(&[&["--max-cycles=2"], arguments].concat());
    let mut wrong = String::new();
    if repo.out("ran").exists() {
        wrong.push_str("was executed; ");
    }
    if run.code != 0 || repo.each("result") != ["regressed", "improved"] {
        wrong.push_str(&format!(
            "exit {} {} {:?} ",
            run.code,
            run.stderr,
            repo.each("result")
        ));
    }
    let record = repo.records().first().cloned().unwrap_or_default();
    let reason = record["reason"].as_str().unwrap_or_default();
    if !reason.contains("goalposts moved")
        || !reason.contains(&format!("{program}, which git runs, changed"))
    {
        wrong.push_str(&format!(
            "{program} is not named: {reason} {}; ",
            record["notes"]
        ));
    }
    if sh(&repo, &of_user) != before {
        wrong.push_str(&format!("is not as before: {}", sh(&repo, &of_user)));
    }
    let is_evil =
        |(_, bytes): &(u32, Vec<u8>)| bytes.windows(10).any(|part| part == b": \"filter\"");
    let is_moved = script.contains("cp $OUT/evil ") && !script.contains("rm -r tools");
    if is_moved && !script.contains(" new") && !repo.quarantined().values().any(is_evil) {
        wrong.push_str("is not in the quarantine");
    }
    match wrong.is_empty() {
        true => wrong,
        false => format!("{named}, {script}: {wrong}\n"),
    }
}

#[test]
fn programs_of_the_tree_that_git_runs_are_what_they_were_before_git_is_called() {
    let wrong: Vec<_> = FILTERS
        .iter()
        .map(|row| wrong_with_filter(*row, &[]))
        .collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn they_are_in_a_copy_of_its_own_too() {
    // What git does not track is not in the copy.
    let is_tracked =
        |row: &&(&str, &str, &str)| !row.1.contains(".venv") && !row.1.contains("mine");
    let rows = FILTERS.iter().filter(is_tracked);
    let wrong: Vec<_> = rows
        .map(|row| wrong_with_filter(*row, &["--isolate"]))
        .collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn they_are_after_a_crash_too() {
    for arguments in [&["--max-cycles=1"][..], &["--max-cycles=1", "--isolate"]] {
        let repo = with_filter_of_the_tree("tools/clean.sh");
        let agent = "cp \"$OUT/evil\" tools/clean.sh; echo two >>t.up; rm -f \"$OUT/ran\"; touch \"$OUT/there\"; sleep 300";
        repo.agent_does(&[agent, "touch a; echo two >>t.up"]);
        let mut child = repo.spawn_run(arguments);
        repo.wait_for("there");
        child.kill().unwrap();
        child.wait().unwrap();
        let next = repo.run(arguments);
        assert_eq!(next.code, 0, "{arguments:?} {}", next.stderr);
        assert!(!repo.out("ran").exists(), "{arguments:?}");
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
        let notes = repo.records()[0]["notes"].to_string();
        assert!(notes.contains("tools/clean.sh"), "{arguments:?} {notes}");
        assert!(repo.read("tools/clean.sh").contains("exec cat"));
    }
}

#[test]
fn a_filter_of_the_tree_is_no_way_out_of_a_sandbox() {
    for arguments in [
        &["--max-cycles=1", "--sandbox=landlock"][..],
        &["--max-cycles=1", "--sandbox=bwrap"],
        &["--max-cycles=1", "--sandbox=landlock", "--isolate"],
    ] {
        let repo = with_filter_of_the_tree("tools/clean.sh");
        repo.agent_does(&[
            "touch a; (echo direct >\"$OUT/ran\") || echo denied >denied; cp \"$OUT/evil\" tools/clean.sh; echo two >>t.up",
        ]);
        repo.run(arguments);
        assert!(!repo.out("ran").exists(), "{arguments:?}");
        assert_eq!(repo.newest()["result"], "regressed", "{arguments:?}");
    }
}

#[test]
fn a_program_too_large_to_be_remembered_stops_everything_when_it_changed() {
    let repo = with_filter_of_the_tree("mine/clean.sh");
    sh(
        &repo,
        "(cat mine/clean.sh; head -c 5000000 /dev/zero) >mine/x; cat mine/x >mine/clean.sh",
    );
    let run = repo.cycle("touch a; cp mine/clean.sh mine/y; cat mine/y >mine/clean.sh");
    assert_eq!(
        (run.code, &repo.newest()["result"]),
        (0, &"improved".into()),
        "{}",
        run.stderr
    );
    sh(&repo, "git rm -q a; git commit -qm 'no a'");
    repo.agent_does(&[
        "touch a; cp \"$OUT/evil\" mine/clean.sh; echo two >>t.up; rm -f \"$OUT/ran\"",
        "touch a",
    ]);
    for _ in 0..2 {
        let run = repo.run(&["--max-cycles=1"]);
        assert_eq!(run.code, 3, "{}", run.stderr);
        assert!(
            run.stderr
                .contains("mine/clean.sh, which git runs, changed"),
            "{}",
            run.stderr
        );
    }
    sh(&repo, "cat mine/x >mine/clean.sh");
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!repo.out("ran").exists());
    assert_eq!(repo.each("result"), ["improved", "interrupted", "improved"]);
}
