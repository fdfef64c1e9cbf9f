//! What git keeps for the user beside the branch and its files: refs, the stash, settings, hooks. An agent may do to them
//! what it likes: they are as before, nothing of it is executed or believed by `evolve`, and what somebody else did
//! meanwhile stays.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::harness::{TestRepo, everything_below, output};

/// A repository whose goal `a` fails and `b` passes, with something of everything that git keeps.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    repo.write("README", "one\n");
    repo.commit_all("first");
    repo.write("README", "two\n");
    repo.commit_all("second");
    sh(
        &repo,
        r#"set -e
git switch -qc side; echo s >s; git add s; git commit -qm side; git switch -q main
git tag v1 HEAD~1; git tag -am annotated v2; git notes add -m remark HEAD
git update-ref refs/remotes/origin/main HEAD~1
git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
for n in 1 2 3; do echo "stashed $n" >>README; git stash push -qm "entry $n"; done
git config alias.st status; git config remote.origin.url https://example.invalid/x.git
printf '/.agents/evolve/%s\n' STOP KILLED.json outbox/ '*.json' '*.md' >>.git/info/exclude
echo '/private' >>.git/info/exclude; echo '*.x text' >.git/info/attributes
printf '#!/bin/sh\nexit 0\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push"#,
    );
    repo
}

fn sh(repo: &TestRepo, script: &str) {
    output(repo.command("sh").args(["-c", script]));
}

/// Refs beside the branch and what `evolve` keeps, the stash with its words, and every setting with its mode.
#[derive(Debug, PartialEq)]
struct Held {
    refs: Vec<String>,
    stash: String,
    settings: BTreeMap<PathBuf, (u32, u64)>,
}

fn held(repo: &TestRepo) -> Held {
    let refs = repo.git(&[
        "for-each-ref",
        "--format=%(refname) %(objectname) %(symref)",
    ]);
    let is_users =
        |line: &&str| !line.starts_with("refs/evolve/") && !line.starts_with("refs/heads/main ");
    let mut settings = everything_below(&repo.path(".git"));
    let is_setting = |path: &PathBuf| {
        let below = path
            .strip_prefix(repo.path(".git"))
            .unwrap()
            .to_str()
            .unwrap();
        let settings = [
            "config",
            "info/",
            "hooks/",
            "shallow",
            "objects/info/alternates",
        ];
        // Git makes the list of refs anew whenever it packs.
        below != "info/refs" && settings.iter().any(|name| below.starts_with(name))
    };
    settings.retain(|path, _| is_setting(path));
    Held {
        refs: refs.lines().filter(is_users).map(str::to_owned).collect(),
        stash: repo.git(&["reflog", "show", "--format=%H %gs", "refs/stash"]),
        settings,
    }
}

/// The notes of the newest record, in one text.
fn notes(repo: &TestRepo) -> String {
    let record = repo.newest();
    let notes = record["notes"].as_array().cloned().unwrap_or_default();
    let notes: Vec<_> = notes.iter().filter_map(|note| note.as_str()).collect();
    notes.join("\n")
}

/// What agents do to what git holds, and how the record names it.
const DONE: [(&str, &str, &str); 29] = [
    (
        "a branch deleted",
        "git branch -qD side",
        "refs/heads/side was removed",
    ),
    (
        "a branch renamed",
        "git branch -m side other",
        "refs/heads/side was removed",
    ),
    (
        "a branch reset",
        "git switch -q side; git reset -q --hard main~1; git switch -q main",
        "refs/heads/side was moved",
    ),
    (
        "a branch forced",
        "git branch -qf side main~1",
        "refs/heads/side was moved",
    ),
    (
        "a branch amended",
        "git switch -q side; git commit -q --amend -m other; git switch -q main",
        "refs/heads/side was moved",
    ),
    (
        "a branch below another's name",
        "git branch -qD side; git branch side/below",
        "refs/heads/side/below was in the way of other refs",
    ),
    ("a tag deleted", "git tag -d v1", "refs/tags/v1 was removed"),
    (
        "a tag moved",
        "git tag -f v1 HEAD; git tag -f v2 HEAD~1",
        "refs/tags/v1 was moved",
    ),
    (
        "notes removed",
        "git notes remove HEAD; git update-ref -d refs/notes/commits",
        "refs/notes/commits was removed",
    ),
    (
        "the remote removed",
        "git remote remove origin",
        ".git/config",
    ),
    (
        "the remote's branch chosen",
        "git symbolic-ref refs/remotes/origin/HEAD refs/heads/side",
        "refs/remotes/origin/HEAD was changed",
    ),
    (
        "every ref deleted",
        "git for-each-ref --format='%(refname)' | grep -v heads/main | while read r; do git update-ref --no-deref -d $r; done",
        "was removed",
    ),
    (
        "an entry dropped",
        "git stash drop -q stash@{1}",
        "an entry of the stash was dropped",
    ),
    (
        "the stash popped",
        "git stash pop -q",
        "an entry of the stash was dropped",
    ),
    (
        "the stash cleared",
        "git stash clear",
        "3 entries of the stash were dropped",
    ),
    (
        "the stash's list removed",
        "rm .git/logs/refs/stash",
        "3 entries of the stash were dropped",
    ),
    (
        "everything forgotten",
        "git branch -qD side; git stash clear; git tag -d v2; git reflog expire --expire=now --all; git gc -q --prune=now",
        "3 entries of the stash were dropped",
    ),
    (
        "a lock left at a tag that was moved",
        "git tag -f v1 HEAD; : >.git/refs/tags/v1.lock",
        "removed a lock that was left behind",
    ),
    (
        "a lock left at the stash",
        "git stash drop -q; : >.git/refs/stash.lock",
        "an entry of the stash was dropped",
    ),
    (
        "a ref below the stash",
        "git stash clear; git update-ref refs/stash/x HEAD",
        "3 entries of the stash were dropped",
    ),
    (
        "a folder in the place of the stash's list",
        "git stash clear; mkdir -p .git/logs/refs/stash/x; echo x >.git/logs/refs/stash/x/y",
        "3 entries of the stash were dropped",
    ),
    (
        "a setting",
        "git config user.name Other; git config core.editor true",
        ".git/config",
    ),
    (
        "a setting removed",
        "git config --unset alias.st",
        ".git/config",
    ),
    ("the settings gone", "rm .git/config", ".git/config"),
    (
        "the settings a folder",
        "rm .git/config; mkdir .git/config",
        ".git/config",
    ),
    (
        "a hook",
        "echo 'exit 1' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; chmod -x .git/hooks/pre-push",
        ".git/hooks/pre-commit",
    ),
    (
        "the hooks a link",
        "rm -rf .git/hooks; ln -s .. .git/hooks",
        ".git/hooks",
    ),
    (
        "excludes and attributes",
        "rm .git/info/exclude; echo '* -diff' >.git/info/attributes; echo x >.git/info/grafts",
        ".git/info/attributes",
    ),
    (
        "objects elsewhere",
        "echo /nowhere >.git/objects/info/alternates; git rev-parse HEAD >.git/shallow",
        ".git/shallow",
    ),
];

#[test]
fn what_git_holds_for_the_user_is_as_before_whatever_an_agent_did_to_it() {
    let is_wrong = |(index, (what, script, named)): (usize, &(&'static str, &str, &str))| {
        // Whether the cycle is undone or kept.
        let end = ["rm b", "touch a"][index % 2];
        let repo = repository();
        let before = held(&repo);
        let run = repo
            .cycle(&format!("{{ {script}; }} >/dev/null 2>&1\n{end}"))
            .expect(0);
        let told = notes(&repo);
        let mut wrong = match told.contains(named) {
            true => String::new(),
            false => format!("{what}: not named: {told}\n{}", run.stderr),
        };
        let mut after = held(&repo);
        // A new branch is the agent's to make.
        after
            .refs
            .retain(|line| !line.starts_with("refs/heads/other "));
        if after != before {
            wrong.push_str(&format!("{what}: {after:#?} instead of {before:#?}"));
        }
        repo.git(&["fsck", "--strict", "--no-dangling"]);
        wrong
    };
    let wrong: Vec<_> = DONE.iter().enumerate().map(is_wrong).collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn tracking_refs_that_a_fetch_pruned_stay_gone_and_no_commit_is_lost() {
    for (script, end) in [
        ("env -i PATH=\"$PATH\" git fetch -q --prune up", "touch a"),
        ("git fetch -q --prune up", "rm b"),
    ] {
        let repo = repository();
        sh(
            &repo,
            r#"set -e
            git init -q --bare "$OUT/up"; git remote add up "$OUT/up"
            lost=$(git commit-tree -m lost HEAD^{tree}); git push -q up main main:merged $lost:refs/heads/lost
            git fetch -q up; git -C "$OUT/up" update-ref -d refs/heads/merged
            git -C "$OUT/up" update-ref -d refs/heads/lost"#,
        );
        let lost = repo.git(&["rev-parse", "refs/remotes/up/lost"]);
        repo.cycle(&format!("{script}; {end}")).expect(0);
        let names = |pattern| repo.git(&["for-each-ref", "--format=%(objectname)", pattern]);
        let left = repo.git(&["for-each-ref", "--format=%(refname)", "refs/remotes/up"]);
        assert_eq!(left, "refs/remotes/up/main", "{script}");
        assert_eq!(names("refs/evolve/*/1-refs/remotes/up/*"), lost, "{script}");
        let told = notes(&repo);
        assert!(
            told.contains("refs/remotes/up/lost was removed; nothing else"),
            "{told}"
        );
        assert!(!told.contains("up/merged"), "{told}");
        assert!(!told.contains("moved out of the way: .git/logs"), "{told}");
    }
}

#[test]
fn tracking_refs_that_no_fetch_removed_are_back() {
    for (what, script) in [
        ("a remote with a slash", "git remote remove team/up"),
        ("the packed ones", "rm .git/packed-refs"),
        ("one of no remote", "git update-ref -d refs/remotes/pr/1"),
        ("a remote's HEAD", "git remote set-head origin -d"),
        (
            "a remote made anew",
            "u=$(git remote get-url origin); git remote remove origin; git remote add origin \"$u\"; git fetch -q origin",
        ),
        ("a remote renamed", "git remote rename origin new"),
        (
            "one with a slash renamed",
            "git remote rename team/up team/down; git remote rename team/two x/y/z",
        ),
    ] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        sh(
            &repo,
            r#"set -e
            git init -q --bare "$OUT/up"; git push -q "$OUT/up" HEAD:main HEAD:merged
            for it in team/up team/two origin; do git remote add $it "$OUT/up"; git fetch -q $it; done
            for it in 1 2; do git update-ref refs/remotes/pr/$it HEAD; done
            git remote set-head origin merged; git pack-refs --all"#,
        );
        let refs = || {
            let pattern = "refs/remotes";
            repo.git(&["for-each-ref", "--format=%(refname) %(symref)", pattern])
        };
        let before = refs();
        repo.agent_does(&[&format!("touch a; {script}")]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(refs(), before, "{what}");
    }
}

#[test]
fn a_remote_that_is_renamed_in_a_cycle_has_its_name_in_settings_and_refs() {
    let rename = "git remote rename origin new";
    for (what, check, script) in [
        ("by the agent", "", rename),
        ("while goals are measured", rename, "true"),
    ] {
        let repo = TestRepo::empty().with_out();
        let check = format!("test -e a || exit 1; {check}");
        repo.write(
            "GOALS.yaml",
            &format!("goals:\n  - {{id: a, description: a, check: '{check}', weight: 5}}\n"),
        );
        repo.commit_all("first");
        sh(
            &repo,
            r#"set -e
            git init -q --bare "$OUT/up"; git push -q "$OUT/up" HEAD:main HEAD:side
            git remote add origin "$OUT/up"; git fetch -q origin; git remote set-head origin main"#,
        );
        let state = || {
            let refs = [
                "for-each-ref",
                "--format=%(refname) %(symref)",
                "refs/remotes",
            ];
            let settings = ["config", "--get-regexp", "^(remote|branch)[.]"];
            (repo.git(&refs), repo.git(&settings))
        };
        let before = state();
        repo.agent_does(&[&format!("touch a; {script}")]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(state(), before, "{what}");
        let told = "tracking refs of origin were renamed to those of new, which is no remote, and have their names again";
        assert_eq!(
            notes(&repo).matches(told).count(),
            1,
            "{what}: {}",
            notes(&repo)
        );
    }
}

/// Everything that has git run a program or believe something else. Nothing of it may be in the way of `evolve`, which runs
/// git right afterwards: the file `ran` never appears.
const PLANTED: [(&str, &str); 19] = [
    ("a monitor", "git config core.fsmonitor \"$OUT/evil\""),
    (
        "hooks",
        "for hook in pre-commit commit-msg post-commit post-checkout post-index-change reference-transaction; do cp \"$OUT/evil\" .git/hooks/$hook; done",
    ),
    (
        "hooks elsewhere",
        "mkdir hooks; cp \"$OUT/evil\" hooks/reference-transaction; cp \"$OUT/evil\" hooks/post-index-change; git config core.hooksPath hooks",
    ),
    (
        "a filter",
        "git config filter.evil.clean \"$OUT/evil\"; git config filter.evil.smudge \"$OUT/evil\"; echo 'a filter=evil' >.gitattributes",
    ),
    (
        "a filter of the user's attributes",
        "git config filter.evil.process \"$OUT/evil\"; echo '* filter=evil' >.git/info/attributes",
    ),
    (
        "attributes elsewhere",
        "git config filter.evil.clean \"$OUT/evil\"; echo '* filter=evil' >\"$OUT/attributes\"; git config core.attributesFile \"$OUT/attributes\"",
    ),
    (
        "a diff driver",
        "git config diff.evil.command \"$OUT/evil\"; git config diff.evil.textconv \"$OUT/evil\"; git config diff.external \"$OUT/evil\"; echo '* diff=evil' >.gitattributes",
    ),
    (
        "an include",
        "git config -f \"$OUT/more\" core.fsmonitor \"$OUT/evil\"; git config include.path \"$OUT/more\"",
    ),
    (
        "an include on a condition",
        "git config -f \"$OUT/more\" core.fsmonitor \"$OUT/evil\"; git config includeIf.gitdir:/.path \"$OUT/more\"",
    ),
    (
        "settings of the tree",
        "git config extensions.worktreeConfig true; git config --worktree core.fsmonitor \"$OUT/evil\"",
    ),
    (
        "programs",
        "for key in core.sshCommand core.editor core.pager core.gitProxy core.askPass gpg.program credential.helper alias.status alias.add uploadpack.packObjectsHook; do git config $key \"!$OUT/evil\"; done; git config commit.gpgSign true",
    ),
    (
        "another tree",
        "mkdir \"$OUT/tree\"; git config core.worktree \"$OUT/tree\"",
    ),
    ("no tree", "git config core.bare true"),
    ("no settings", "echo '[' >.git/config"),
    ("excludes", "echo '*' >.git/info/exclude"),
    (
        "excludes elsewhere",
        "echo '*' >\"$OUT/all\"; git config core.excludesFile \"$OUT/all\"",
    ),
    (
        "another start",
        "git replace HEAD^{tree} $(git mktree </dev/null); git replace HEAD $(git commit-tree -m x $(git mktree </dev/null))",
    ),
    ("a graft", "git rev-parse HEAD >.git/info/grafts"),
    (
        "objects elsewhere",
        "echo \"$OUT\" >.git/objects/info/alternates",
    ),
];

#[test]
fn planted_settings_are_neither_executed_nor_believed() {
    let is_wrong = |(what, script): &(&'static str, &str)| {
        let repo = repository();
        fs::write(
            repo.out("evil"),
            "#!/bin/sh\necho ran >>\"$OUT/ran\"; cat\n",
        )
        .unwrap();
        sh(&repo, "chmod +x \"$OUT/evil\"");
        let before = held(&repo);
        // What is planted last is not run by the agent's own git.
        let run = repo.cycle(&format!("touch a; {script}; rm -f \"$OUT/ran\""));
        let wrong = |words: &str| format!("{what}: {words}\n{}\n{}\n", notes(&repo), run.stderr);
        if run.code != 0 {
            return wrong(&format!("exit {}", run.code));
        }
        if repo.out("ran").exists() {
            return wrong("was executed");
        }
        if repo.newest()["result"] != "improved"
            || !repo
                .content("HEAD")
                .iter()
                .any(|line| line.ends_with("\ta"))
        {
            return wrong("was believed");
        }
        if held(&repo) != before {
            return wrong("is still there");
        }
        match notes(&repo).contains("as before")
            || *what == "another start" && notes(&repo).contains("refs/replace/")
        {
            true => String::new(),
            false => wrong("is not named"),
        }
    };
    let wrong: Vec<_> = PLANTED.iter().map(is_wrong).collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn what_checks_plant_in_the_second_measurement_is_put_back_too() {
    let repo = repository();
    fs::write(repo.out("evil"), "#!/bin/sh\necho ran >>\"$OUT/ran\"\n").unwrap();
    sh(&repo, "chmod +x \"$OUT/evil\"");
    let step = format!(
        "cd '{}' && git stash clear && git branch -qD side && git config core.fsmonitor '{}' && exit 1",
        repo.root().display(),
        repo.out("evil").display()
    );
    let check = repo.check_in_turn("check", &["exit 0", &step, "exit 1", "exit 1", "exit 0"]);
    repo.commit_goals(&format!(
        "  - {{id: a, description: a, check: test -e a, weight: 5}}\n  - {{id: c, description: c, check: {check}, weight: 5}}\n"
    ));
    let before = held(&repo);
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    assert_eq!(held(&repo), before);
    assert!(!repo.out("ran").exists());
}

#[test]
fn a_replacement_of_an_object_is_as_before_whatever_its_reflog_says() {
    let repo = repository();
    let object = repo.git(&["rev-parse", "HEAD:b"]);
    sh(
        &repo,
        &format!("git replace {object} $(echo mine | git hash-object -w --stdin)"),
    );
    let before = held(&repo);
    repo.cycle(&format!(
        "env -u GIT_REFLOG_ACTION git update-ref --create-reflog -m 'commit: x' refs/replace/{object} $(echo theirs | git hash-object -w --stdin); touch a"
    ))
    .expect(0);
    assert_eq!(held(&repo).refs, before.refs, "{}", notes(&repo));
}

#[test]
fn what_somebody_else_did_meanwhile_stays() {
    let repo = repository();
    let side = repo.git(&["rev-parse", "side"]);
    // The user works in another tree, in which git's notes bear no mark.
    let tree = repo.out("tree").display().to_string();
    let user = format!("env -u GIT_REFLOG_ACTION git -C '{tree}'");
    let script = format!(
        "git worktree add -q '{tree}' side; touch a; git add a; git commit -qm a; git stash drop -q stash@{{2}}
         {user} tag theirs; {user} branch theirs
         echo mine >'{tree}/mine'; {user} stash push -qum mine
         {user} commit -q --amend --allow-empty -m amended; {user} rev-parse HEAD >\"$OUT/amended\""
    );
    repo.cycle(&script).expect(0);
    assert_eq!(
        repo.git(&["rev-parse", "side"]),
        repo.said("amended").trim()
    );
    repo.git(&["rev-parse", "theirs^{commit}", "refs/heads/theirs"]);
    let kept = repo.git(&[
        "for-each-ref",
        "--format=%(objectname)",
        "refs/evolve/*/1-refs/heads/side",
    ]);
    assert_eq!(kept, side);
    let stash = repo.git(&["stash", "list", "--format=%gs"]);
    let entries = [
        "On side: mine",
        "On main: entry 3",
        "On main: entry 2",
        "On main: entry 1",
    ];
    assert_eq!(stash.lines().collect::<Vec<_>>(), entries);
    assert!(notes(&repo).contains("somebody else moved refs/heads/side"));
}

#[test]
fn refs_that_an_agent_rewrites_with_the_branch_are_back_and_one_that_is_rewritten_alone_stays() {
    const REWRITE: &str =
        "FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'cat; echo x' --";
    let those = [
        "refs/heads/side",
        "refs/notes/commits",
        "refs/remotes/origin/main",
    ];
    for end in ["rm b", "touch a"] {
        let repo = repository();
        let before = those.map(|name| repo.git(&["rev-parse", name]));
        let script = format!("{REWRITE} --all >/dev/null 2>&1; {end}");
        repo.cycle(&script).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{end}");
        for (name, was) in those.iter().zip(&before) {
            assert_eq!(repo.git(&["rev-parse", name]), *was, "{end}");
            let told = notes(&repo);
            let said = format!("{name} was moved and is as before");
            assert!(told.contains(&said), "{end}: {told}");
        }
    }
    let repo = repository();
    let was = repo.git(&["rev-parse", "side"]);
    let script = format!("{REWRITE} side >/dev/null 2>&1; touch a");
    repo.cycle(&script).expect(0);
    assert_ne!(repo.git(&["rev-parse", "side"]), was);
    assert!(notes(&repo).contains("somebody else moved refs/heads/side"));
}

#[test]
fn marks_that_hide_files_from_git_are_as_before() {
    let repo = repository();
    repo.write("c", "c\n");
    repo.commit_all("c");
    repo.git(&["update-index", "--assume-unchanged", "README"]);
    repo.git(&["update-index", "--skip-worktree", "c"]);
    let marks =
        |repo: &TestRepo| repo.git(&["ls-files", "-v", "--", "GOALS.yaml", "README", "b", "c"]);
    let before = marks(&repo);
    for end in ["git update-index --force-remove b; rm b", "echo 2 >>README"] {
        repo.cycle(&format!(
            "git update-index --no-assume-unchanged README; git update-index --no-skip-worktree c
             git update-index --assume-unchanged GOALS.yaml; git update-index --skip-worktree b; touch a; {end}"
        ))
        .expect(0);
        assert_eq!(marks(&repo), before, "{end}");
        repo.git(&["fsck"]);
    }
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(repo.git(&["show", "HEAD:README"]), "two\n2");
}

/// Lets an agent run this script and then wait, kills the program there, and returns what the next start says.
fn settled_after_a_crash(repo: &TestRepo, script: &str) -> crate::harness::Run {
    repo.agent_does(&[
        &format!("{script}; touch \"$OUT/there\"; sleep 300"),
        "touch a",
    ]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("there");
    child.kill().unwrap();
    child.wait().unwrap();
    repo.run(&["--max-cycles=1"])
}

#[test]
fn after_a_crash_the_next_start_puts_everything_back_before_it_calls_git() {
    for script in [
        "git branch -qD side; git stash clear; git tag -f v1 HEAD; echo 'exit 1' >.git/hooks/pre-commit; git config core.fsmonitor \"$OUT/evil\"",
        "git config core.worktree \"$OUT\"",
        "git config core.bare true",
        "echo '[' >.git/config",
    ] {
        let repo = repository();
        fs::write(repo.out("evil"), "#!/bin/sh\necho ran >>\"$OUT/ran\"\n").unwrap();
        sh(&repo, "chmod +x \"$OUT/evil\"");
        let before = held(&repo);
        let run = settled_after_a_crash(&repo, &format!("{script}; rm -f \"$OUT/ran\""));
        assert_eq!(run.code, 0, "{script}\n{}", run.stderr);
        assert_eq!(held(&repo), before, "{script}");
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{script}");
        assert!(!repo.out("ran").exists(), "{script}");
        let first = repo.records()[0]["notes"].to_string();
        assert!(first.contains(".git/"), "{script}: {first}");
    }
}

#[test]
fn an_agents_git_gc_is_no_change_of_settings() {
    for script in [
        "git gc -q",
        "git gc -q; git update-server-info; git commit-graph write --reachable; git repack -Adq; git pack-refs --all",
        "echo failed >.git/gc.log; git -c gc.auto=1 -c gc.autoDetach=false gc -q --auto",
    ] {
        let repo = repository();
        // What was there before has the harness's date, and would be dropped for its age.
        sh(
            &repo,
            "git config gc.reflogExpire never; git config gc.reflogExpireUnreachable never",
        );
        let before = held(&repo);
        // Today, so that the notes of movements are too young for git to drop them.
        let today = "export GIT_COMMITTER_DATE=\"$(date -R)\"";
        repo.cycle(&format!(
            "{today}; touch a; git add a; git commit -qm a; {script}"
        ))
        .expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{script}");
        assert!(
            repo.newest().get("notes").is_none(),
            "{script}: {}",
            notes(&repo)
        );
        assert_eq!(held(&repo), before, "{script}");
        assert!(repo.quarantined().is_empty(), "{script}");
    }
}

#[test]
fn a_stash_that_its_list_does_not_name_is_there_again() {
    for unlisted in ["git reflog expire --expire=now --all", "rm -rf .git/logs"] {
        for (script, is_named) in [
            ("git stash clear", true),
            ("git update-ref -d refs/stash", true),
            ("echo x >>tracked; git stash -q; git stash pop -q", true),
            ("touch b", false),
        ] {
            let repo = TestRepo::with_files_wanted(&[("a", 5)]);
            repo.write("tracked", "one\n");
            repo.commit_file("tracked");
            repo.write("tracked", "precious\n");
            repo.git(&["stash", "push", "-q"]);
            let stash = repo.git(&["rev-parse", "refs/stash"]);
            sh(&repo, unlisted);
            repo.agent_does(&[&format!("touch a; {script}")]);
            repo.run(&["--max-cycles=1"]).expect(0);
            let now = repo.git(&["for-each-ref", "--format=%(objectname)", "refs/stash"]);
            assert_eq!(now, stash, "{unlisted}: {script}");
            let notes = repo.newest()["notes"].to_string();
            // Git itself forgets such an entry when another one is popped.
            let calmly = "an entry of the stash that its list did not name is there again";
            assert_eq!(notes.contains("stash"), is_named, "{script}: {notes}");
            assert_eq!(notes.contains(calmly), is_named, "{script}: {notes}");
            assert!(
                repo.git(&["stash", "show", "-p", "stash"])
                    .contains("precious")
            );
        }
    }
}

#[test]
fn entries_that_come_into_the_stash_stay_and_are_named() {
    let push = |name: &str| format!("echo {name} >>README; git stash push -qm '{name}'");
    let came = "came into the stash while the agent ran, and stay";
    let two = format!("2 entries {came}: On main: two, On main: one");
    let cases = [
        (
            format!("{}; touch a", push("one")),
            format!("an entry {came}s: On main: one"),
        ),
        (format!("{}; {}", push("one"), push("two")), two.clone()),
        (
            format!("git stash drop -q; {}; {}", push("one"), push("two")),
            two,
        ),
    ];
    for (script, said) in cases {
        let repo = repository();
        let run = repo.cycle(&script).expect(0);
        assert!(run.stdout.contains(&said), "{}", run.stdout);
        assert_eq!(notes(&repo).matches(&said).count(), 1, "{}", notes(&repo));
        // The next agent's cycle says nothing of it.
        repo.cycle("touch a").expect(0);
        assert!(!notes(&repo).contains("stash"), "{}", notes(&repo));
    }
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("b", "b\n");
    repo.commit_all("b");
    repo.cycle("echo 1 >>b; git stash -q; touch a").expect(0);
    assert!(
        notes(&repo).contains("the agent ran, and stays: WIP on main: "),
        "{}",
        notes(&repo)
    );
    repo.git(&["stash", "show", "stash@{0}"]);
}

#[test]
fn a_tag_of_the_agents_that_git_would_take_for_a_branch_or_head_is_removed_and_named() {
    let repo = repository();
    repo.agent_does(&["git tag main; git tag HEAD; git tag side; git tag v3; touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "improved", "{record}");
    let notes = record["notes"].to_string();
    for name in ["main", "HEAD", "side"] {
        let said = format!(
            "refs/tags/{name} was added, would be taken for HEAD or a branch and is removed"
        );
        assert!(notes.contains(&said), "{name}: {notes}");
    }
    let tags = repo.git(&["tag", "--list"]);
    assert_eq!(tags.lines().collect::<Vec<_>>(), ["v1", "v2", "v3"]);
}
