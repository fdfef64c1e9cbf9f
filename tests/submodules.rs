//! Submodules: after an undo HEAD and branches in each of them are what they were, and what was committed there stays
//! below `refs/evolve/` of that submodule.

use crate::harness::{EVOLVE_PID, TestRepo, output};

mod fooled;
mod landed;
mod unstashed;

/// A repository whose goal `a` fails and `b` passes, with two submodules: `sm`, on a branch of its own and with a submodule
/// `deep` in it that is on one, too, and `fixed`, whose HEAD is detached.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    set_up(
        &repo,
        r#"for name in deep sm fixed; do
    git init -q -b trunk "$OUT/$name"; echo 1 >"$OUT/$name/x"
    git -C "$OUT/$name" add .; git -C "$OUT/$name" commit -qm one
done
git -C "$OUT/sm" submodule -q add "$OUT/deep" deep; git -C "$OUT/sm" commit -qm deep
git submodule -q add "$OUT/sm" sm; git submodule -q add "$OUT/fixed" fixed
git submodule -q update --init --recursive
git -C sm/deep checkout -q trunk; git -C sm branch other; git -C fixed checkout -q --detach
git add .; git commit -qm first"#,
    );
    repo
}

/// Runs a script that makes repositories and adds them as submodules.
fn set_up(repo: &TestRepo, script: &str) {
    let may = "export GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
        export GIT_CONFIG_KEY_1=user.name GIT_CONFIG_VALUE_1=o GIT_CONFIG_KEY_2=user.email GIT_CONFIG_VALUE_2=o";
    sh(repo, &format!("set -e; {may}\n{script}"));
}

fn sh(repo: &TestRepo, script: &str) -> String {
    let said = output(repo.command("sh").args(["-c", script])).stdout;
    String::from_utf8_lossy(&said).into_owned()
}

/// HEAD, branches, status and files of each submodule.
fn state(repo: &TestRepo) -> String {
    sh(
        repo,
        "for one in sm sm/deep fixed; do echo $one; cd $one; git symbolic-ref -q HEAD || echo detached
         git rev-parse HEAD; git for-each-ref --format='%(refname) %(objectname)' refs/heads
         git status --porcelain; cat x; cd - >/dev/null; done; git status --porcelain",
    )
}

/// Defines `commit`, which commits in the folder at `$1`.
const COMMIT: &str = r#"
commit() { echo "$2" >"$1/x"; git -C "$1" -c user.name=n -c user.email=n commit -qam "$2"; git -C "$1" rev-parse HEAD >>"$OUT/made"; }
"#;

/// What an agent does in submodules.
const WORK: [(&str, &str); 6] = [
    (
        "commits, taken over",
        "commit sm 2; commit fixed 2; git add sm fixed; git commit -qm bump",
    ),
    (
        "commits that nobody took over, rewritten ones, and one on a branch where HEAD was detached",
        "git -C sm -c user.name=n -c user.email=n commit -q --amend -m other; commit sm 3
         git -C fixed checkout -q -B trunk; commit fixed 2; commit sm/deep 2",
    ),
    (
        "another branch that was sent on and left",
        "git -C sm checkout -q other; commit sm 2; git -C sm checkout -q trunk",
    ),
    (
        "HEAD detached, in one with its branches gone",
        "git -C sm checkout -q --detach; git -C sm branch -qD trunk other; git -C sm/deep checkout -q --detach",
    ),
    (
        "a merge left in progress",
        "git -C sm checkout -q other; commit sm 2; git -C sm checkout -q trunk; commit sm 3
         git -C sm -c user.name=n -c user.email=n merge -q other || true",
    ),
    (
        "folders gone",
        "commit sm/deep 2; commit sm 3; git add sm; git commit -qm bump; rm -rf sm; git submodule -q deinit -f fixed",
    ),
];

#[test]
fn an_undo_leaves_head_and_branches_of_submodules_as_they_were() {
    let repo = repository();
    let wrong = WORK.iter().map(|row| wrong_after(&repo.copied(), row));
    let wrong: Vec<_> = wrong.collect();
    assert_eq!(wrong.concat(), "");
}

#[test]
fn a_bisect_in_a_submodule_is_what_it_was_after_an_undo() {
    let of_bisect = "cd .git/modules; for one in sm fixed; do git -C $one for-each-ref refs/bisect; (cd $one; grep . BISECT_* || true); done";
    let bisect =
        "git -C fixed bisect start; git -C fixed bisect bad; git -C fixed bisect good HEAD~3";
    let is_wrong = |(before, agent): &(&str, &str)| {
        let repo = repository();
        sh(
            &repo,
            &format!(
                "{COMMIT}for n in 2 3 4; do commit fixed $n; done; {before}; rm \"$OUT/made\"; git add fixed; git commit -qm bumped"
            ),
        );
        let was = (state(&repo), sh(&repo, of_bisect));
        repo.cycle(&format!("{COMMIT}{agent}; git rm -qf b"))
            .expect(0);
        assert_eq!(repo.each("result"), ["regressed"], "{agent}");
        let is = (state(&repo), sh(&repo, of_bisect));
        (is != was).then(|| format!("{agent}: {is:#?} instead of {was:#?}"))
    };
    let rows = [
        (bisect, "git -C fixed bisect reset"),
        (bisect, "commit fixed 9"),
        (bisect, "git -C fixed bisect good"),
        ("git -C fixed bisect start", "git -C fixed bisect reset"),
        ("true", bisect),
    ];
    let wrong: Vec<_> = rows.iter().filter_map(is_wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Says what an undo of this work leaves that it should not.
fn wrong_after(repo: &TestRepo, (what, script): &(&str, &str)) -> String {
    let before = state(repo);
    let run = repo.cycle(&format!("{COMMIT}{script}; git rm -qf b"));
    assert_eq!(run.code, 0, "{what}: {}", run.stderr);
    assert_eq!(repo.each("result"), ["regressed"], "{what}");
    let (after, notes) = (state(repo), repo.newest()["notes"].to_string());
    let mut wrong = String::new();
    if after != before {
        wrong.push_str(&format!("{what}: {after} instead of {before}, {notes}\n"));
    }
    for commit in sh(repo, "cat \"$OUT/made\" 2>/dev/null || true").lines() {
        let kept = format!(
            "for one in sm sm/deep fixed; do git -C $one for-each-ref --contains {commit} refs/evolve 2>/dev/null; done; true"
        );
        if sh(repo, &kept).is_empty() {
            wrong.push_str(&format!("{what}: {commit} is kept nowhere, {notes}\n"));
        }
    }
    if !notes.contains("as before") {
        wrong.push_str(&format!("{what}: nothing is said of it, {notes}\n"));
    }
    wrong
}

#[test]
fn what_checks_change_inside_submodules_beside_an_undone_cycle_is_put_back() {
    let cases = [
        (
            "echo evil >sm/x; git -C sm/deep rm -q --cached x; rm -f sm/deep/x; echo evil >fixed/x; git -C fixed add x",
            true,
        ),
        ("git -C sm checkout -q other; git add sm", false),
        ("rm -rf fixed; echo evil >fixed", true),
    ];
    for (script, is_version) in cases {
        let repo = repository();
        repo.write("calc.sh", "true\n");
        repo.write("tests/run.sh", "sh \"$CALC\"; test -e b\n");
        repo.commit_goals(
            "  - {id: a, description: a, check: test -e a, weight: 5}\n  - {id: b, description: b, check: CALC=calc.sh sh tests/run.sh, weight: 5, retries: 0}\n",
        );
        repo.commit_all("calc");
        let before = (state(&repo), repo.content("HEAD"));
        let agent =
            format!("cat >calc.sh <<'END'\n{script}\nEND\ngit rm -q b; git commit -qam work");
        repo.agent_does(&[&agent, "true"]);
        repo.run(&["--max-cycles=2"]).expect(0);
        let notes = repo.records()[0]["notes"].to_string();
        assert_eq!(
            repo.each("result"),
            ["regressed", "unchanged"],
            "{script}: {notes}"
        );
        let after = (state(&repo), repo.content("HEAD"));
        assert_eq!(after, before, "{script}: {notes}");
        let mut kept = repo.quarantined().into_values();
        let is_kept = kept.any(|(_, bytes)| bytes == b"evil\n");
        assert_eq!(is_kept, is_version, "{script}: {notes}");
    }
}

#[test]
fn what_a_user_has_in_a_submodule_and_the_mode_of_its_git_file_say_nothing_of_a_new_commit_there() {
    let repo = repository();
    repo.write("sm/mine", "mine\n");
    let run = repo.cycle(&format!(
        "{COMMIT}chmod 777 sm/.git; commit sm 2; touch a; git add sm a; git commit -qm a"
    ));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
    assert_eq!(repo.read("sm/mine"), "mine\n");
    let notes = repo.newest()["notes"].to_string();
    assert!(!notes.contains("repository"), "{notes}");
    let run = repo.cycle("git rm -qf b; echo dirty >sm/x");
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (x, mine) = (repo.read("sm/x"), repo.read("sm/mine"));
    assert_eq!((x.as_str(), mine.as_str()), ("2\n", "mine\n"));
}

/// Has the agent make the repository of `fixed` anew, with this setting besides.
fn made_anew(repo: &TestRepo, setting: &str) {
    let run = repo.cycle(&format!(
        r#"rm -rf .git/modules/fixed fixed; git clone -q "$OUT/fixed" fixed; {setting}; touch a; git add a; git commit -qm a"#
    ));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
    let notes = repo.newest()["notes"].to_string();
    assert!(
        notes.contains("fixed has a repository that an agent made or changed"),
        "{notes}"
    );
}

#[test]
fn what_a_user_does_in_a_submodule_that_an_agent_made_anew_is_the_users() {
    let repo = repository();
    made_anew(&repo, "true");
    repo.write("fixed/x", "mine\n");
    let run = repo.cycle("git rm -qf b");
    assert_eq!(run.code, 3, "{}", run.stdout);
    assert!(run.stderr.contains("fixed"), "{}", run.stderr);
    repo.write("fixed/x", "1\n");
    repo.write("fixed/mine", "mine\n");
    repo.git(&["rm", "--quiet", "a"]);
    repo.git(&["commit", "--quiet", "--message=again"]);
    let run = repo.cycle("touch a; git rm -qf b; echo evil >fixed/x; rm fixed/mine");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    let (x, mine) = (repo.read("fixed/x"), repo.read("fixed/mine"));
    assert_eq!((x.as_str(), mine.as_str()), ("1\n", "mine\n"));
}

#[test]
fn a_submodule_that_an_agent_gave_settings_is_refused_and_nothing_of_them_is_run() {
    let repo = repository();
    made_anew(
        &repo,
        r#"git -C fixed config core.fsmonitor "touch $OUT/ran; false""#,
    );
    let run = repo.cycle("true");
    assert_eq!(run.code, 3, "{}", run.stdout);
    assert!(
        run.stderr.contains("fixed has a repository"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("core.fsmonitor"), "{}", run.stderr);
    assert!(!repo.out("ran").exists());
    repo.git(&[
        "config",
        "--file",
        "fixed/.git/config",
        "--unset",
        "core.fsmonitor",
    ]);
    let run = repo.cycle("git rm -qf b");
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn what_an_agent_makes_of_a_submodule_in_its_copy_says_nothing_of_the_users() {
    let repo = repository();
    let run = repo.evolve(&[
        "--isolate",
        "--max-cycles=1",
        "--agent=git -C sm init -q; touch a; git add a; git commit -qm a",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved"], "{}", run.stdout);
    repo.write("sm/x", "mine\n");
    let run = repo.cycle("git rm -qf b");
    assert_eq!(run.code, 3, "{}", run.stdout);
}

#[test]
fn a_kept_change_leaves_them_where_the_agent_went() {
    let repo = repository();
    let run = repo.cycle(&format!(
        "{COMMIT}commit sm 2; git add sm; touch a; git add a; git commit -qm a"
    ));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result"), ["improved"]);
    let made = repo.said("made");
    assert_eq!(repo.git(&["-C", "sm", "rev-parse", "trunk"]), made.trim());
    let head = repo.git(&["-C", "sm", "symbolic-ref", "HEAD"]);
    assert_eq!(head, "refs/heads/trunk");
}

#[test]
fn what_somebody_else_committed_in_a_submodule_stays_in_its_branch() {
    for (what, script) in [
        ("alone", "env -u GIT_REFLOG_ACTION sh -c"),
        (
            "beside the agent",
            "git -C sm -c user.name=n -c user.email=n commit -q --allow-empty -m mine; env -u GIT_REFLOG_ACTION sh -c",
        ),
    ] {
        let repo = repository();
        let before = repo.git(&["-C", "sm", "rev-parse", "HEAD"]);
        let run = repo.cycle(&format!(
            "{script} '{COMMIT}commit sm 2'; git add sm; git rm -qf b; git commit -qm bump"
        ));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{what}");
        let made = repo.said("made");
        assert_eq!(repo.git(&["-C", "sm", "rev-parse", "trunk"]), made.trim());
        assert_eq!(repo.git(&["-C", "sm", "rev-parse", "HEAD"]), before);
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
        let notes = repo.newest()["notes"].to_string();
        assert!(
            notes.contains("sm: somebody else") && notes.contains("trunk"),
            "{what}: {notes}"
        );
    }
}

#[test]
fn a_session_that_died_leaves_them_as_they_were_too() {
    let repo = repository();
    let before = state(&repo);
    repo.agent_does(&[&format!(
        "{COMMIT}commit sm/deep 2; commit sm 3; git add sm; git commit -qm bump; touch \"$OUT/there\"; sleep 100"
    )]);
    let mut dying = repo.spawn_run(&[]);
    repo.wait_for("there");
    dying.kill().unwrap();
    dying.wait().unwrap();
    repo.agent_does(&["true"]);
    let run = repo.run(&["--max-cycles=1"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(repo.each("result")[0], "interrupted");
    assert_eq!(state(&repo), before);
}

#[test]
fn untracked_files_in_submodules_are_the_users_as_elsewhere() {
    let repo = repository();
    sh(
        &repo,
        "for one in sm sm/deep fixed; do echo mine >$one/mine; echo changed >$one/changed; echo gone >$one/gone; done",
    );
    let users = |repo: &TestRepo| {
        sh(
            repo,
            "for one in sm sm/deep fixed; do (cd $one; git status --porcelain -uall; cat mine changed gone); done",
        )
    };
    let before = users(&repo);
    for (what, end) in [("improved", "touch a"), ("regressed", "git rm -qf b")] {
        let repo = repo.copied();
        let run = repo.cycle(&format!(
            "for one in sm sm/deep fixed; do echo other >$one/changed; rm $one/gone; echo new >$one/new; done
             echo edited >fixed/x; {end}"
        ));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), [what]);
        let notes = repo.newest()["notes"].to_string();
        for inside in ["sm", "sm/deep", "fixed"] {
            let said = format!("uncommitted changes inside {inside} are in its stash");
            assert!(notes.contains(&said), "{what}: {inside}: {notes}");
            assert_eq!(repo.git(&["-C", inside, "show", "stash@{0}:new"]), "new");
        }
        assert_eq!(users(&repo), before, "{what}: {notes}");
    }
}

#[test]
fn a_commit_that_takes_an_untracked_file_of_a_submodule_is_undone() {
    let in_sm = "git -C sm -c user.name=n -c user.email=n";
    for then in [
        String::new(),
        format!("git -C sm rm -q --cached mine; {in_sm} commit -qm out;"),
    ] {
        let repo = repository();
        repo.write("sm/mine", "mine\n");
        let run = repo.cycle(&format!(
            "echo other >sm/mine; git -C sm add mine; {in_sm} commit -qm mine; {then}
             git add sm; touch a; git add a; git commit -qm a"
        ));
        assert_eq!(run.code, 0, "{then} {}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{then}");
        let reason = repo.newest()["reason"].to_string();
        assert!(
            reason.contains("took a file of the user's: sm/mine"),
            "{then} {reason}"
        );
        assert_eq!(repo.read("sm/mine"), "mine\n", "{then}");
        let status = repo.git(&["-C", "sm", "status", "--porcelain"]);
        assert_eq!(status, "?? mine", "{then}");
    }
}

#[test]
fn an_undo_that_is_cut_short_in_a_submodule_goes_on_there() {
    for inside in ["sm", "sm/deep"] {
        let repo = repository();
        let smudge = format!(
            "cat; [ -e \"$OUT/armed\" ] || exit 0; rm \"$OUT/armed\"; kill -9 {EVOLVE_PID}; sleep 60\n"
        );
        std::fs::write(repo.out("smudge"), smudge).unwrap();
        sh(
            &repo,
            &format!(
                "cd {inside}; git config filter.cut.smudge \"sh '$OUT/smudge'\"; echo 'x filter=cut' >\"$(git rev-parse --git-dir)/info/attributes\""
            ),
        );
        let before = state(&repo);
        let script =
            format!("{COMMIT}commit sm/deep 2; commit sm 2; git rm -qf b; touch \"$OUT/armed\"");
        repo.agent_does(&[&script, "true"]);
        repo.run(&["--max-cycles=1"]);
        assert!(!repo.out("armed").exists(), "{inside}: never cut short");
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result")[0], "interrupted", "{inside}");
        assert_eq!(state(&repo), before, "{inside}");
    }
}

/// What an agent puts in the way of a submodule's git.
const IN_THE_WAY: [(&str, &str); 6] = [
    (
        "refs/heads",
        "rm -rf .git/modules/sm/refs/heads; ln -s \"$OUT/theirs\" .git/modules/sm/refs/heads",
    ),
    (
        "a link as .git",
        "rm sm/.git; ln -s \"$OUT/theirs\" sm/.git",
    ),
    ("junk as .git", "echo junk >sm/.git"),
    ("an empty index", ": >.git/modules/sm/index"),
    ("junk as HEAD", "echo junk >.git/modules/sm/HEAD"),
    (
        "index.lock",
        "mkdir .git/modules/sm/index.lock; git -C sm checkout -q other",
    ),
];

#[test]
fn what_is_put_in_the_way_of_their_git_is_moved_away_and_they_are_as_before() {
    for (what, script) in IN_THE_WAY {
        let repo = repository();
        let before = state(&repo);
        sh(
            &repo,
            "mkdir \"$OUT/theirs\"; echo theirs >\"$OUT/theirs/trunk\"",
        );
        let run = repo.cycle(&format!("rm b; echo changed >sm/x; {script}"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert_eq!(repo.each("result"), ["regressed"], "{what}");
        assert_eq!(state(&repo), before, "{what}: {}", run.stderr);
        assert_eq!(sh(&repo, "cat \"$OUT\"/theirs/*"), "theirs\n", "{what}");
        let next = repo.cycle("true");
        assert_eq!(next.code, 0, "{what}: {}", next.stderr);
    }
}
