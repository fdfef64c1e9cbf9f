//! What git keeps for the user beside branches and files is whole after a cycle: objects, reflogs, linked working trees,
//! submodules.

use std::fs;

use evolve::effects::repo::Repo;

use crate::harness::{EVOLVE_PID, TestRepo, output};

/// Ends an agent's script: what the goal wants, committed.
const DONE: &str = "touch a; git add a; git commit -qm a";

/// A repository with a branch whose objects nothing else needs, three commits deep.
fn repository() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    sh(
        &repo,
        "set -e
         git config gc.reflogExpire never; git config gc.reflogExpireUnreachable never
         git checkout -q -b other
         for n in 1 2 3; do mkdir -p deep; echo precious-$n >deep/p$n; git add deep; git commit -qm p$n; done
         git checkout -q -",
    );
    repo
}

fn sh(repo: &TestRepo, script: &str) -> String {
    let shown = output(repo.command("sh").args(["-c", script])).stdout;
    String::from_utf8_lossy(&shown).into_owned()
}

/// What the other branch holds, to the last byte.
fn precious(repo: &TestRepo) -> String {
    repo.git(&["fsck", "--full", "--strict"]);
    sh(
        repo,
        "git log --format=%H other; git archive other | sha1sum",
    )
}

/// The ways to damage the file `$f`.
const WAYS: [(&str, &str); 8] = [
    ("added to", "chmod u+w $f; printf x >>$f"),
    ("truncated", ": >$f"),
    ("cut short", "truncate -s 9 $f"),
    (
        "overwritten at the same length and time",
        "touch -r $f \"$OUT/t\"; printf XXXX | dd of=$f conv=notrunc bs=1 seek=6 2>/dev/null; touch -r \"$OUT/t\" $f",
    ),
    ("removed", "rm $f"),
    ("made a folder", "rm $f; mkdir $f; echo x >$f/x"),
    ("made a link to nowhere", "rm $f; ln -s no/where $f"),
    ("made a pipe", "rm $f; mkfifo $f"),
];

#[test]
fn a_loose_object_that_an_agent_damaged_or_removed_is_whole_again() {
    let file = file_of("other~1:deep/p1");
    for (what, script) in WAYS {
        let repo = repository();
        let before = precious(&repo);
        let run = repo.cycle(&format!("{DONE}; {file}; {script}"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["improved"], "{what}");
        assert_eq!(precious(&repo), before, "{what}");
        let notes = repo.newest()["notes"].to_string();
        assert!(notes.contains("objects of git"), "{what}: {notes}");
    }
}

#[test]
fn a_pack_that_an_agent_damaged_or_removed_is_whole_again() {
    for ending in ["pack", "idx"] {
        for (what, script) in WAYS {
            let repo = repository();
            sh(&repo, "git gc -q");
            let before = precious(&repo);
            let file = format!("f=$(ls .git/objects/pack/*.{ending}); chmod u+w $f");
            let run = repo.cycle(&format!("{DONE}; {file}; {script}"));
            // What was written to in place is mapped into the memory of the program.
            let is_in_place =
                ["truncated", "cut short", "added to"].contains(&what) || what.contains("over");
            assert_eq!(
                run.code,
                if is_in_place { 3 } else { 0 },
                "{ending} {what}: {}",
                run.stderr
            );
            assert_eq!(precious(&repo), before, "{ending} {what}");
            if is_in_place {
                repo.agent_does(&["touch a"]);
                repo.run(&["--max-cycles=1"]).expect(0);
                assert_eq!(repo.each("result"), ["interrupted", "improved"]);
                assert_eq!(precious(&repo), before, "{ending} {what}");
            }
        }
    }
}

#[test]
fn a_pack_that_bears_the_name_of_one_only_begun_is_whole_again_when_an_agent_removed_it() {
    for begin in ["pack_", "tmp_pack_", "tmp_obj_"] {
        let repo = repository();
        let before = precious(&repo);
        sh(
            &repo,
            &format!(
                "cd .git/objects/pack && git repack -adq && for e in pack idx; do mv pack-*.$e {begin}mine.$e; done"
            ),
        );
        repo.agent_does(&[&format!("rm -f .git/objects/pack/{begin}mine.*; {DONE}")]);
        repo.run(&["--max-cycles=1"]);
        assert_eq!(precious(&repo), before, "{begin}");
    }
}

#[test]
fn a_link_or_a_folder_that_comes_among_packs_goes_to_the_quarantine_and_the_next_sessions_go_on() {
    let ways = [
        "ln -s /nowhere $p",
        "ln -s \"$OUT\" $p",
        "echo theirs >\"$OUT/theirs\"; ln -s \"$OUT/theirs\" $p",
        "mkdir $p; echo x >$p/x",
    ];
    for name in ["pack-x.pack", "pack-x.idx", "pack-x.rev"] {
        for way in ways {
            let repo = repository();
            sh(&repo, "git gc -q");
            let before = precious(&repo);
            let run = repo.cycle(&format!("{DONE}; p=.git/objects/pack/{name}; {way}"));
            assert_eq!(run.code, 0, "{name} {way}: {}", run.stderr);
            assert_eq!(repo.each("result"), ["improved"], "{name} {way}");
            let place = repo.path(".git/objects/pack").join(name);
            assert!(fs::symlink_metadata(place).is_err(), "{name} {way}");
            repo.cycle("true").expect(0);
            assert_eq!(precious(&repo), before, "{name} {way}");
        }
    }
}

#[test]
fn packs_that_the_user_has_behind_links_are_worked_with_and_stay_there() {
    for script in [
        "true",
        "rm .git/objects/pack/*.idx",
        "for p in .git/objects/pack/*.pack; do rm $p; echo junk >$p; done",
    ] {
        let repo = repository();
        sh(
            &repo,
            "git gc -q; mkdir \"$OUT/packs\"; cd .git/objects/pack
             for p in *; do mv $p \"$OUT/packs\"; ln -s \"$OUT/packs/$p\" $p; done",
        );
        let before = precious(&repo);
        let links =
            "find .git/objects/pack -name '*.pack' -o -name '*.idx' | sort | xargs readlink";
        let listed = sh(&repo, links);
        for result in ["improved", "idle"] {
            let script = match result {
                "improved" => format!("{DONE}; {script}"),
                _ => "true".to_owned(),
            };
            let run = repo.cycle(&script);
            assert_eq!(run.code, 0, "{script}: {}", run.stderr);
            assert_eq!(repo.newest()["result"], result, "{script}");
            assert_eq!(sh(&repo, links), listed, "{script}");
            assert_eq!(precious(&repo), before, "{script}");
        }
    }
}

#[test]
fn all_that_has_a_good_copy_is_whole_again_also_where_something_has_none() {
    let repo = repository();
    let before = precious(&repo);
    // An object that was damaged before anybody worked is what it was.
    let bad = sh(
        &repo,
        "id=$(echo nobody-needs-it | git hash-object -w --stdin); f=.git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); chmod u+w $f; echo bad >$f; echo $f",
    );
    repo.agent_does(&[&format!("rm -rf .git/objects/??; {DONE}")]);
    repo.run(&["--max-cycles=1"]);
    assert_eq!(repo.read(bad.trim()), "bad\n");
    fs::remove_file(repo.path(bad.trim())).unwrap();
    assert_eq!(precious(&repo), before);
}

#[test]
fn folders_of_objects_that_are_gone_or_lead_elsewhere_are_whole_again() {
    for (what, script) in [
        ("removed", "rm -rf .git/objects/??"),
        (
            "all removed",
            "rm -rf .git/objects/?? .git/objects/pack .git/objects/info",
        ),
        (
            "moved behind links",
            "for d in .git/objects/??; do mv $d \"$OUT/\"; ln -s \"$OUT/${d##*/}\" $d; done",
        ),
    ] {
        let repo = repository();
        let before = precious(&repo);
        let run = repo.cycle(&format!("touch a; {script}"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let moved = repo.outside();
        for entry in fs::read_dir(moved).unwrap().flatten() {
            if entry.file_name().len() == 2 {
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
        assert_eq!(precious(&repo), before, "{what}");
    }
}

#[test]
fn objects_that_an_agent_had_git_pack_anew_are_not_put_back_beside_the_pack() {
    let repo = repository();
    sh(
        &repo,
        "find .git/objects -type f -exec touch -d '1 hour ago' {} +",
    );
    let before = precious(&repo);
    repo.cycle(&format!(
        "{DONE}; git -c gc.reflogExpire=never -c gc.reflogExpireUnreachable=never gc -q"
    ))
    .expect(0);
    assert_eq!(precious(&repo), before);
    assert_eq!(repo.newest().get("notes"), None, "{}", repo.newest());
    let object = repo.git(&["rev-parse", "other:deep/p1"]);
    let (folder, file) = object.split_at(2);
    assert!(!repo.has(&format!(".git/objects/{folder}/{file}")));
}

#[test]
fn objects_whose_times_alone_changed_are_left_alone() {
    for pack in ["true", "git gc -q"] {
        let repo = repository();
        sh(&repo, pack);
        let before = precious(&repo);
        repo.cycle(&format!(
            "{DONE}; find .git/objects -type f -exec touch {{}} +"
        ))
        .expect(0);
        assert_eq!(precious(&repo), before);
        assert_eq!(repo.newest().get("notes"), None, "{}", repo.newest());
    }
}

#[test]
fn objects_that_were_damaged_before_evolve_was_killed_are_whole_after_the_next_start() {
    let repo = repository();
    let before = precious(&repo);
    repo.agent_does(&[&format!(
        "touch a; for f in $(find .git/objects -type f); do chmod u+w $f; : >$f; done; kill -9 {EVOLVE_PID}; sleep 60"
    )]);
    repo.run(&["--max-cycles=1"]);
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(precious(&repo), before);
}

#[test]
fn refs_and_reflogs_that_an_agent_wrote_to_in_place_are_as_they_were() {
    let damage = "for f in $(find .git/refs .git/logs -type f); do";
    for script in [
        format!("{damage} : >$f; done; touch a"),
        format!("{damage} echo bad >$f; done; touch a"),
        format!("{damage} : >$f; done; kill -9 {EVOLVE_PID}; sleep 60"),
    ] {
        let repo = repository();
        sh(&repo, "touch b; git add b; git commit -qm b");
        let seen = |what| repo.git(&["reflog", "--format=%H %gs", what]);
        let before = ["other", "HEAD"].map(|what| (what, seen(what)));
        let tip = repo.git(&["rev-parse", "other"]);
        repo.cycle(&script);
        if script.contains("kill") {
            repo.agent_does(&["touch a"]);
            repo.run(&["--max-cycles=1"]).expect(0);
        }
        assert_eq!(repo.git(&["rev-parse", "other"]), tip, "{script}");
        for (what, before) in before {
            let after = seen(what);
            assert!(after.ends_with(&before), "{script}: {what}: {after}");
        }
        repo.git(&["fsck", "--strict"]);
    }
}

#[test]
fn commits_that_only_a_reflog_held_are_there_after_an_agent_expired_it_and_collected_garbage() {
    let collect =
        "git reflog expire --expire=now --expire-unreachable=now --all; git gc -q --prune=now";
    // Where the note of the agent's own commit is gone, too, nobody can tell whose it is.
    for (script, code) in [
        (format!("{collect}; {DONE}"), 0),
        (format!("{DONE}; {collect}"), 11),
        (
            format!("rm -rf .git/logs; {DONE}; git -c gc.reflogExpire=now gc -q --prune=now"),
            11,
        ),
    ] {
        let repo = repository();
        sh(
            &repo,
            "echo precious >p; git add p; git commit -qm precious; git reset -q --hard HEAD~1",
        );
        let lost = repo.git(&["rev-parse", "HEAD@{1}"]);
        let before = repo.git(&["reflog", "--format=%H %gs"]);
        repo.cycle(&script).expect(code);
        let whole = || repo.git(&["show", &format!("{lost}:p")]);
        assert_eq!(whole(), "precious", "{script}");
        let after = repo.git(&["reflog", "--format=%H %gs"]);
        assert!(after.ends_with(&before), "{script}: {after}");
        // What a later collection must not take.
        sh(
            &repo,
            "git -c gc.reflogExpire=never -c gc.reflogExpireUnreachable=never gc -q --prune=now",
        );
        assert_eq!(whole(), "precious", "{script}");
    }
}

#[test]
fn what_any_collection_drops_from_a_reflog_stays_dropped_and_the_rest_is_back() {
    let expire = "git reflog expire --expire=now --expire-unreachable=now --all";
    let all = ["ancient", "old", "left", "middle", "fresh"];
    for (all_for, left_for, script, there) in [
        ("", "", "git gc -q", &all[3..]),
        ("", "", expire, &all[3..]),
        ("never", "", expire, &["ancient", "middle", "fresh"]),
        ("never", "never", expire, &all[..]),
        ("20.days", "20.days", expire, &all[4..]),
        ("never", "20.days", expire, &["ancient", "middle", "fresh"]),
    ] {
        let repo = repository();
        let set = |name, value: &str| match value {
            "" => repo.git(&["config", "--unset", name]),
            value => repo.git(&["config", name, value]),
        };
        set("gc.reflogExpire", all_for);
        set("gc.reflogExpireUnreachable", left_for);
        sh(
            &repo,
            r#"set -e
            commit() { git commit -q --allow-empty -m "$1"; }
            export GIT_COMMITTER_DATE=2001-01-01T00:00:00Z
            commit ancient; commit old; git reset -q --hard HEAD~1
            export GIT_COMMITTER_DATE="$(date -R -d '45 days ago')"
            commit left; git reset -q --hard HEAD~1; commit middle
            export GIT_COMMITTER_DATE="$(date -R)"
            commit fresh; git reset -q --hard HEAD~1"#,
        );
        repo.cycle(&format!(
            "export GIT_COMMITTER_DATE=\"$(date -R)\"; {script}; {DONE}"
        ))
        .expect(0);
        let log = repo.git(&["reflog", "--format=%gs"]);
        let is_there = |what: &&str| log.contains(&format!("commit: {what}"));
        let found: Vec<&str> = all.into_iter().filter(is_there).collect();
        assert_eq!(found, there, "{all_for} {left_for} {script}: {log}");
        let notes = repo.newest()["notes"].to_string();
        let is_told = notes.contains("lines of reflogs");
        assert_eq!(is_told, script == expire, "{notes}");
    }
}

#[test]
fn a_reflog_whose_ref_cannot_be_where_it_was_is_kept_elsewhere() {
    let repo = repository();
    sh(
        &repo,
        "git switch -q other; echo precious >p; git add p; git commit -qm precious; git reset -q --hard HEAD~1; git switch -q main
         cp .git/logs/refs/heads/other .git/logs/refs/heads/orphan",
    );
    let lost = repo.git(&["rev-parse", "other@{1}"]);
    let before = fs::read_to_string(repo.path(".git/logs/refs/heads/other")).unwrap();
    repo.cycle(&format!(
        "{DONE}; git branch -qD other; rm .git/logs/refs/heads/orphan; git switch -qc other/below"
    ))
    .expect(0);
    let notes = repo.newest()["notes"].to_string();
    let kept = repo.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/evolve/*/1-refs/heads/other",
    ]);
    assert!(notes.contains(&format!(".git/logs/{kept}")), "{notes}");
    assert!(notes.contains(".git/logs/refs/heads/orphan"), "{notes}");
    let log = fs::read_to_string(repo.path(&format!(".git/logs/{kept}"))).unwrap();
    assert!(log.starts_with(&before), "{log}");
    let aside = sh(
        &repo,
        "find .git/evolve/quarantine -name orphan -exec cat {} +",
    );
    assert_eq!(aside, before);
    sh(
        &repo,
        "git -c gc.reflogExpire=never -c gc.reflogExpireUnreachable=never gc -q --prune=now",
    );
    assert_eq!(repo.git(&["show", &format!("{lost}:p")]), "precious");
}

#[test]
fn a_linked_working_tree_keeps_its_commits_and_what_is_staged_there() {
    for (what, script) in [
        ("removed", "rm -rf .git/worktrees"),
        (
            "pruned",
            "mv \"$OUT/linked\" \"$OUT/x\"; git worktree prune --expire=now; mv \"$OUT/x\" \"$OUT/linked\"",
        ),
        (
            "emptied",
            "cd .git/worktrees/linked; rm -rf HEAD index logs; cd ../../..",
        ),
        ("the index damaged", ": >.git/worktrees/linked/index"),
        (
            "led nowhere",
            "echo /nowhere/.git >.git/worktrees/linked/gitdir",
        ),
        (
            "led to no repository",
            "echo ../nowhere >.git/worktrees/linked/commondir",
        ),
    ] {
        let repo = repository();
        sh(
            &repo,
            "set -e; git worktree add -q --detach \"$OUT/linked\"; cd \"$OUT/linked\"
             echo detached >d; git add d; git commit -qm detached; echo staged >s; git add s",
        );
        let seen = "git worktree prune --expire=now; cd \"$OUT/linked\"; git log --format=%H; git status --short; git show :s; git reflog";
        let before = sh(&repo, seen);
        let run = repo.cycle(&format!(
            "{script}; git reflog expire --expire=now --all; git gc -q --prune=now; {DONE}"
        ));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(sh(&repo, seen), before, "{what}");
        repo.git(&["fsck", "--strict"]);
    }
}

#[test]
fn what_a_user_does_in_a_linked_working_tree_meanwhile_stays() {
    let repo = repository();
    sh(
        &repo,
        "git worktree add -q -b work \"$OUT/linked\"; git worktree add -q -b gone \"$OUT/gone\"",
    );
    let user = "(unset GIT_REFLOG_ACTION; cd \"$OUT/linked\"; echo mine >m; git add m; git commit -qm mine; echo more >n; git add n; git switch -q --detach HEAD)";
    repo.cycle(&format!(
        "{DONE}; {user}; git log -1 --format=%H work >\"$OUT/tip\""
    ))
    .expect(0);
    let seen = sh(
        &repo,
        "cd \"$OUT/linked\"; git log -1 --format=%H; git status --short; git symbolic-ref -q HEAD || echo detached",
    );
    assert_eq!(
        seen,
        format!("{}\nA  n\ndetached\n", repo.said("tip").trim())
    );
}

/// A repository with a submodule that has work of its own: a branch nobody else has, a stash, a commit in its reflog only.
/// Its git directory is the repository's own business, or lies in the working tree, as old ones have it.
fn with_submodule(is_old: bool) -> TestRepo {
    let repo = repository();
    let clone = match is_old {
        true => "git clone -q \"$OUT/lib\" sub",
        false => "true",
    };
    let script = format!(
        "set -e
         export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=o GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=o
         git init -q \"$OUT/lib\"; cd \"$OUT/lib\"; echo l >l; git add l; git commit -qm l; cd - >/dev/null; {clone}
         git -c protocol.file.allow=always submodule -q add \"$OUT/lib\" sub; git commit -qm sub; cd sub
         git config gc.reflogExpire never; git config gc.reflogExpireUnreachable never
         git checkout -q -b mine; echo m >m; git add m; git commit -qm mine
         echo r >r; git add r; git commit -qm reflog; git reset -q --hard HEAD~1
         git checkout -q --detach HEAD~1
         echo stashed >>l; git stash -q"
    );
    sh(&repo, &script);
    repo
}

const IN_SUBMODULE: &str = "cd sub; git show-ref --head; git stash list; git log -g --format='%H %gs' HEAD; git log -g --format='%H %gs' mine; git show stash; git fsck --strict";

#[test]
fn a_submodule_keeps_its_branches_stash_and_reflogs() {
    for (what, script) in [
        (
            "branch deleted",
            "git branch -qD mine; git stash drop -q; git reflog expire --expire=now --all; git gc -q --prune=now",
        ),
        (
            "branch moved",
            "git branch -qf mine HEAD; git reflog expire --expire=now --all; git gc -q --prune=now",
        ),
        (
            "refs removed",
            "cd $(git rev-parse --git-dir); rm -rf refs/heads/* packed-refs logs; cd -",
        ),
        (
            "objects removed",
            "rm -rf $(git rev-parse --git-dir)/objects/*",
        ),
        ("all removed", "rm -rf $(git rev-parse --git-dir)"),
    ] {
        for is_old in [false, true] {
            let repo = with_submodule(is_old);
            let before = sh(&repo, IN_SUBMODULE);
            let run = repo.cycle(&format!("{DONE}; cd sub; {script}"));
            assert_eq!(run.code, 0, "{what}: {}", run.stderr);
            let after = sh(&repo, IN_SUBMODULE);
            for line in before.lines() {
                let is_there = after.contains(line);
                assert!(is_there, "{what}, {is_old}: {line} is gone:\n{after}");
            }
        }
    }
}

#[test]
fn work_of_an_agent_in_a_submodule_stays() {
    let repo = with_submodule(false);
    let run = repo.cycle(
        "cd sub; git checkout -q mine; echo w >w; git add w; git commit -qm work; git rev-parse HEAD >\"$OUT/tip\"; cd ..
         touch a; git add a sub; git commit -qm a",
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(
        repo.git(&["-C", "sub", "rev-parse", "mine"]),
        repo.said("tip").trim()
    );
    assert_eq!(repo.status(), Vec::<String>::new());
}

/// Ends an agent's script with two commits of its own, the older of which is `HEAD~1`.
const TWO: &str = "echo 1 >b; mkdir -p in; echo 2 >in/c; git add -A; git commit -qm b; echo 3 >a; git add a; git commit -qm a";

/// Sets `$f` to the file of a loose object.
fn file_of(object: &str) -> String {
    format!(
        "o=$(git rev-parse {object}); f=.git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); chmod u+w $f"
    )
}

#[test]
fn a_ledger_that_cannot_be_read_just_now_is_an_error_and_no_empty_one() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.cycle("touch a").expect(0);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
    let opened = || Repo::discover(&repo.root()).unwrap();
    let known = opened().ledger_files(&tree).unwrap();
    assert!(known.iter().any(|(name, _)| name == HISTORY), "{known:?}");
    for place in [".agents", ".agents/evolve", HISTORY] {
        let id = repo.git(&["rev-parse", &format!("HEAD:{place}")]);
        let file = repo.path(&format!(".git/objects/{}/{}", &id[..2], &id[2..]));
        let aside = file.with_extension("aside");
        fs::rename(&file, &aside).unwrap();
        // It is there, and reading it fails.
        fs::create_dir(&file).unwrap();
        let read = opened().file(&tree, HISTORY);
        assert!(read.is_err(), "{place}: {read:?}");
        if place != HISTORY {
            let listed = opened().ledger_files(&tree);
            assert!(listed.is_err(), "{place}: {listed:?}");
            let found = opened().has_file(&tree, HISTORY);
            assert!(found.is_err(), "{place}: {found:?}");
            let found = opened().is_folder(&tree, b".agents/evolve/none");
            assert!(found.is_err(), "{place}: {found:?}");
            let id = opened().id_at(&tree, HISTORY);
            assert!(id.is_err(), "{place}: {id:?}");
        }
        if place == ".agents" {
            let ids = opened().ledger_ids(&tree);
            assert!(ids.is_err(), "{ids:?}");
            let content = opened().content(&tree);
            assert!(content.is_err(), "{content:?}");
        }
        fs::remove_dir(&file).unwrap();
        fs::rename(&aside, &file).unwrap();
        assert_eq!(opened().ledger_files(&tree).unwrap(), known);
    }
    // What is not there is none.
    assert_eq!(opened().file(&tree, ".agents/none/none").unwrap(), None);
    assert_eq!(opened().file(&tree, "GOALS.yaml/none").unwrap(), None);
    assert!(!opened().has_file(&tree, "none/none").unwrap());
    assert!(opened().is_folder(&tree, b".agents/evolve/").unwrap());
    assert_eq!(opened().id_at(&tree, "GOALS.yaml/none").unwrap(), None);
}

#[test]
fn an_object_where_git_cannot_look_is_an_error_and_none_that_is_gone() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let opened = || Repo::discover(&repo.root()).unwrap();
    let head = repo.head();
    assert!(opened().find_object(&head).unwrap());
    let gone = format!("{}{}", &head[..2], "0".repeat(38));
    assert!(!opened().find_object(&gone).unwrap());
    let folder = repo.path(&format!(".git/objects/{}", &head[..2]));
    let aside = repo.path(".git/objects/aside");
    fs::rename(&folder, &aside).unwrap();
    assert!(!opened().find_object(&head).unwrap(), "it is gone");
    fs::write(&folder, "").unwrap();
    let found = opened().find_object(&head);
    assert!(found.is_err(), "{found:?}");
    fs::remove_file(&folder).unwrap();
    fs::rename(&aside, &folder).unwrap();
    let packs = repo.path(".git/objects/pack");
    fs::remove_dir(&packs).unwrap();
    fs::write(&packs, "").unwrap();
    let found = opened().find_object(&gone);
    assert!(found.is_err(), "{found:?}");
}

#[test]
fn an_anchor_that_cannot_be_read_lets_no_rewritten_history_be_believed() {
    const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 5)]);
    repo.cycle("touch a").expect(0);
    repo.cycle("true").expect(0);
    let anchor = repo.private().join("anchor");
    let noted = fs::read(&anchor).unwrap();
    let first = repo.read(HISTORY).lines().next().unwrap().to_owned();
    repo.write(HISTORY, &format!("{first}\n"));
    repo.commit_all("rewritten");
    let head = repo.head();
    fs::remove_file(&anchor).unwrap();
    fs::create_dir(&anchor).unwrap();
    let said = repo.cycle("touch b").expect(1).stderr;
    assert!(said.contains("anchor is no plain file"), "{said}");
    assert!(said.contains("what HEAD has is believed"), "{said}");
    assert_eq!(repo.head(), head);
    fs::remove_dir(&anchor).unwrap();
    fs::write(&anchor, noted).unwrap();
    repo.cycle("touch b").expect(0);
    assert_eq!(repo.each("result"), ["improved", "unchanged", "improved"]);
}

/// The ways to leave HEAD or the branch where git cannot read on.
fn broken_places() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut damaged: Vec<_> = WAYS[..4].iter().map(|way| ("HEAD", way)).collect();
    for object in [
        "HEAD^{tree}",
        "HEAD:a",
        "HEAD~1",
        "HEAD~1:in",
        "HEAD~1:in/c",
    ] {
        damaged.extend([(object, &WAYS[1]), (object, &WAYS[3])]);
    }
    for (object, (way, script)) in damaged {
        let file = file_of(object);
        all.push((format!("{object} {way}"), format!("{file}; {script}")));
    }
    for place in [".git/HEAD", ".git/refs/heads/main"] {
        for (what, text) in [
            ("nothing", ""),
            ("garbage", "garbage"),
            ("an unknown id", "1234567890123456789012345678901234567890"),
            ("no id", "0000000000000000000000000000000000000000"),
            ("another place", "ref: nowhere"),
            ("a ref that is none", "ref: refs/heads/../.."),
        ] {
            all.push((
                format!("{place} {what}"),
                format!("printf '{text}\\n' >{place}"),
            ));
        }
    }
    let locked = "echo garbage >.git/refs/heads/main; : >.git/refs/heads/main.lock; : >.git/HEAD.lock; : >.git/index.lock";
    all.push(("the branch locked".to_owned(), locked.to_owned()));
    let pack = "git repack -adq; f=$(ls .git/objects/pack/*.pack); chmod u+w $f; truncate -s 99 $f";
    all.push(("a pack".to_owned(), pack.to_owned()));
    let elsewhere = "git switch -qc new; git commit -q --allow-empty -m e; : >.git/refs/heads/main";
    all.push((
        "the branch while another is checked out".to_owned(),
        elsewhere.to_owned(),
    ));
    all
}

fn assert_undone(repo: &TestRepo, (what, before): (&str, &str)) {
    assert_eq!(precious(repo), before, "{what}");
    assert_eq!(
        repo.git(&["symbolic-ref", "HEAD"]),
        "refs/heads/main",
        "{what}"
    );
    assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
    for file in ["a", "b", "in"] {
        assert!(!repo.has(file), "{what}: {file} was kept");
    }
}

#[test]
fn an_agent_that_leaves_its_branch_broken_gets_nothing_kept() {
    let wrong: Vec<String> = broken_places()
        .iter()
        .filter_map(|(what, script)| {
            let repo = repository();
            let (before, head) = (precious(&repo), repo.head());
            let run = repo.cycle(&format!("{TWO}; {script}"));
            if run.code != 0 {
                return Some(format!("{what}: {} {}", run.code, run.stderr));
            }
            assert_eq!(repo.each("result"), ["regressed"], "{what}");
            assert_undone(&repo, (what, &before));
            repo.git(&["merge-base", "--is-ancestor", &head, "main"]);
            None
        })
        .collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn a_branch_that_was_left_broken_when_evolve_was_killed_is_back_after_the_next_start() {
    let wrong: Vec<String> = broken_places()
        .iter()
        .step_by(3)
        .filter_map(|(what, script)| {
            let repo = repository();
            let (before, head) = (precious(&repo), repo.head());
            repo.cycle(&format!("{TWO}; {script}; kill -9 {EVOLVE_PID}; sleep 60"));
            repo.agent_does(&["false"]);
            let run = repo.run(&["--max-cycles=1"]);
            if run.code != 0 {
                return Some(format!("{what}: {} {}", run.code, run.stderr));
            }
            assert_eq!(repo.each("result"), ["interrupted", "failed"], "{what}");
            assert_undone(&repo, (what, &before));
            repo.git(&["merge-base", "--is-ancestor", &head, "main"]);
            None
        })
        .collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn a_branch_of_the_users_that_an_agent_moved_on_to_a_broken_commit_is_back() {
    for (what, script) in &WAYS[..4] {
        let repo = repository();
        let before = precious(&repo);
        let file = file_of("other");
        let run = repo.cycle(&format!(
            "git switch -q other; echo x >x; git add x; git commit -qm x; git branch new; git switch -q main
             {file}; {script}; {DONE}"
        ));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["improved"], "{what}");
        assert_eq!(precious(&repo), before, "{what}");
        assert!(!repo.has(".git/refs/heads/new"), "{what}");
    }
}

#[test]
fn a_commit_that_was_cut_short_holds_nothing_up_where_there_is_no_copy_and_in_a_slot() {
    let script = format!("{TWO}; {}; truncate -s 9 $f", file_of("HEAD"));
    for arguments in [vec!["--max-cycles=1"], vec!["--max-cycles=1", "--isolate"]] {
        let mut repo = repository();
        let before = precious(&repo);
        fs::write(repo.out("file"), "no folder").unwrap();
        let state = repo.out("file").display().to_string();
        repo.env.push(("XDG_STATE_HOME".to_owned(), state));
        repo.agent_does(&[&script]);
        repo.run(&arguments).expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{arguments:?}");
        assert_undone(&repo, ("cut short", &before));
    }
}
