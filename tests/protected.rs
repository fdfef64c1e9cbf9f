//! What `protect` names holds for files, too, that git does not track: no undo reaches them by way of a commit.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use crate::harness::{TestRepo, files_below, finish, pid_in, signal};

/// Goal `fix` passes once a file is as large as a limit that git ignores, or once the limit is lower.
fn limits(settings: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(".gitignore", "*.ign\n/set/\n");
    repo.write("keep", "kept\n");
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\nevolve: {{{settings}}}\ngoals:\n  - {{id: fix, description: d, check: test $(wc -c <keep) -ge $(cat limit.ign), weight: 5}}\n"
        ),
    );
    repo.commit_all("first");
    repo
}

/// With a limit, files in a folder that is ignored as a whole, a link, and an untracked file.
fn with_limits(settings: &str) -> TestRepo {
    let repo = limits(settings);
    repo.write("limit.ign", "1000\n");
    repo.write("set/deep/limit", "1\n");
    repo.write("set/other", "1\n");
    repo.write("mine", "1\n");
    repo.write("set/free", "1\n");
    std::os::unix::fs::symlink("other", repo.path("set/link")).unwrap();
    repo
}

const ALL: &str = "protect: [limit.ign, 'set/deep/**', 'set/l*', mine]";

#[test]
fn a_protected_file_that_git_does_not_track_is_put_back_and_moves_the_goalposts() {
    for (script, named) in [
        ("echo 1 >limit.ign", "limit.ign"),
        ("rm limit.ign; echo 1 >kept.ign", "limit.ign"),
        ("rm limit.ign; ln -s keep limit.ign", "limit.ign"),
        (
            "echo 1 >limit.ign; git add -f limit.ign; git commit -qm t",
            "limit.ign",
        ),
        ("echo 1 >limit.ign; : >.gitignore", "limit.ign"),
        ("echo 2 >set/deep/limit", "set/deep/limit"),
        (
            "mv set/deep set/d; ln -s d set/deep; echo 2 >set/d/limit",
            "set/deep/limit",
        ),
        ("rm -r set/deep", "set/deep/limit"),
        ("ln -sf deep/limit set/link", "set/link"),
        ("echo 2 >mine", "mine"),
    ] {
        let repo = with_limits(ALL);
        let before = repo.files();
        repo.agent_does(&[&format!("{script}\nhead -c 2000 /dev/zero >>keep")]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let reason = repo.each("reason").join("");
        assert!(
            reason.contains(&format!("goalposts moved: {named} changed")),
            "{script}: {reason}"
        );
        assert_eq!(repo.each("result"), ["regressed"], "{script}");
        let mut after = repo.files();
        after.retain(|path, _| before.contains_key(path));
        assert_eq!(after, before, "{script}");
    }
}

#[test]
fn what_is_protected_may_lie_as_deep_in_an_ignored_folder_as_it_likes() {
    let repo = limits("protect: [set/deep/er/limit]");
    repo.write("limit.ign", "1000\n");
    repo.write("set/deep/er/limit", "1\n");
    repo.agent_does(&["echo 2 >set/deep/er/limit; head -c 2000 /dev/zero >>keep"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("reason"),
        ["goalposts moved: set/deep/er/limit changed"]
    );
    assert_eq!(repo.read("set/deep/er/limit"), "1\n");
}

#[test]
fn a_new_ignored_file_that_protect_names_moves_the_goalposts_and_is_taken_away() {
    for (script, new) in [
        ("mkdir set/deep; echo 1 >set/deep/new", "set/deep/new"),
        ("echo 1 >new.ign", "new.ign"),
        ("ln -s keep new.ign", "new.ign"),
        ("echo /own >>.gitignore; echo 1 >own", "own"),
    ] {
        let repo = limits("protect: ['set/deep/**', new.ign, own]");
        repo.write("limit.ign", "1000\n");
        repo.write("set/other", "1\n");
        repo.agent_does(&[&format!("{script}\nhead -c 2000 /dev/zero >>keep")]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let by = match new.contains('/') {
            true => ", and no check writes it",
            false => "",
        };
        assert_eq!(
            repo.each("reason"),
            [format!("goalposts moved: {new} is new{by}")],
            "{script}"
        );
        assert!(fs::symlink_metadata(repo.path(new)).is_err(), "{script}");
        let name = new.rsplit('/').next().unwrap();
        assert!(repo.quarantined().contains_key(name.as_bytes()), "{script}");
    }
}

#[test]
fn behind_a_link_a_protected_file_is_protected_by_either_name() {
    for (link, target, pattern) in [
        ("cfg", "conf", "cfg/limit"),
        ("cfg", "conf", "./cfg//limit"),
        ("limits", "conf/limit", "limits"),
        ("cfg", "set", "cfg/**"),
    ] {
        let repo = limits(&format!("protect: ['{pattern}']"));
        std::os::unix::fs::symlink(target, repo.path(link)).unwrap();
        repo.write("conf/limit", "1\n");
        repo.commit_all("a link");
        repo.write("limit.ign", "1000\n");
        repo.write("set/limit", "1\n");
        repo.agent_does(&[&format!(
            "echo 2 >{}/limit; head -c 2000 /dev/zero >>keep",
            target.trim_end_matches("/limit")
        )]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let case = format!("{link} {pattern}: {:?}", repo.each("reason"));
        assert_eq!(repo.each("result"), ["regressed"], "{case}");
        assert_eq!(repo.read("conf/limit"), "1\n", "{case}");
        assert_eq!(repo.read("set/limit"), "1\n", "{case}");
    }
}

#[test]
fn what_protect_names_and_is_not_there_is_said_when_the_goals_are_validated() {
    let repo = limits("protect: [keep, 'set/**', cfg/limit, limit.ign, tset/limit, 'specs/**']");
    std::os::unix::fs::symlink("conf", repo.path("cfg")).unwrap();
    repo.write("conf/limit", "1\n");
    repo.write("set/own", "1\n");
    repo.commit_all("a link");
    repo.write("limit.ign", "1000\n");
    let said = repo.evolve(&["validate"]).expect(0).stdout;
    let hint = "hint: there is no file yet that is called tset/limit, specs/**\n";
    assert!(said.contains(hint), "{said}");
    repo.write("specs/one", "");
    repo.write("tset/limit", "");
    let said = repo.evolve(&["validate"]).expect(0).stdout;
    assert!(!said.contains("no file yet"), "{said}");
}

#[test]
fn a_new_protected_file_is_found_behind_however_many_others() {
    let repo = limits("protect: ['**/limit', 'set/z/**']");
    repo.write("limit.ign", "1000\n");
    repo.write("set/limit", "1\n");
    repo.agent_does(&[
        "mkdir set/a set/z; cd set/a; seq 51000 | xargs touch; cd ../z; echo 1 >limit; truncate -s 300M big; cd ../..; head -c 2000 /dev/zero >>keep",
    ]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let reason = repo.each("reason").join("");
    for new in ["set/z/limit is new", "set/z/big is new"] {
        assert!(reason.contains(new), "{reason}");
    }
    assert!(!repo.has("set/z/limit") && !repo.has("set/z/big"));
}

#[test]
fn what_protect_does_not_name_stays_free_beside_what_it_names() {
    let repo = with_limits(ALL);
    repo.agent_does(&[
        "head -c 2000 /dev/zero >>keep; echo 2 >set/free; echo 2 >set/new; echo 2 >x.ign; cat set/deep/limit >>keep",
    ]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["improved"],
        "{:?}",
        repo.each("reason")
    );
    assert_eq!(repo.read("set/free"), "2\n");
    assert!(!run.stderr.contains("protect"), "{}", run.stderr);
}

#[test]
fn a_check_that_runs_the_agents_code_cannot_change_a_protected_file_either() {
    let repo = with_limits("protect: [limit.ign]");
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {protect: [limit.ign]}\ngoals:\n  - id: fix\n    description: d\n    weight: 5\n    check: |\n      find . -name code -exec sh {} \\;\n      test $(wc -c <keep) -ge $(cat limit.ign)\n",
    );
    repo.write("code", ":\n");
    repo.commit_all("code");
    repo.write("limit.ign", "1000\n");
    repo.agent_does(&["echo 'echo 1 >limit.ign' >code"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(repo.read("limit.ign"), "1000\n");
}

#[test]
fn in_a_copy_a_protected_file_that_prepare_made_is_put_back() {
    let repo = limits("protect: [limit.ign, new.ign], prepare: echo 1000 >limit.ign");
    repo.agent_does(&[
        "echo 1 >limit.ign; echo 1 >new.ign; echo more >>keep",
        "cat limit.ign >\"$OUT/limit\"; ls >\"$OUT/files\"; echo more >>keep",
    ]);
    repo.run(&["--isolate", "--max-cycles=2"]).expect(0);
    assert!(
        repo.each("reason")[0].contains("limit.ign changed"),
        "{:?}",
        repo.each("reason")
    );
    assert_eq!(repo.said("limit"), "1000\n");
    assert!(!repo.said("files").contains("new.ign"));
}

#[test]
fn a_link_that_a_copy_is_lent_tells_of_what_it_leads_to() {
    let repo = limits("protect: [limit.ign], link: [limit.ign]");
    repo.write("limit.ign", "1000\n");
    repo.agent_does(&["echo 1 >limit.ign; echo more >>keep"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("reason"), ["goalposts moved: limit.ign changed"]);
    assert_eq!(repo.read("limit.ign"), "1000\n");
}

#[test]
fn what_a_copy_is_lent_and_protect_names_is_put_back_in_the_checkout() {
    for (script, named) in [
        ("rm \"$(readlink limit.ign)\"", "limit.ign"),
        ("echo 2 >set/deep/limit", "set/deep/limit"),
        ("rm -r set/deep; echo 2 >set/free", "set/deep/limit"),
        ("ln -sf deep/limit set/link", "set/link"),
        ("rm set; mkdir set; echo 2 >set/own", ""),
    ] {
        let repo = with_limits(&format!("{ALL}, link: [limit.ign, set]"));
        let before = repo.files();
        repo.agent_does(&[
            &format!("{script}; echo more >>keep"),
            "cat limit.ign set/deep/limit >\"$OUT/seen\"; echo more >>keep",
        ]);
        repo.run(&["--isolate", "--max-cycles=2"]).expect(0);
        let reason = repo.each("reason").join(" ");
        let is_named = reason.contains(&format!("goalposts moved: {named} changed"));
        assert_eq!(is_named, !named.is_empty(), "{script}: {reason}");
        assert_eq!(repo.said("seen"), "1000\n1\n", "{script}");
        let mut after = repo.files();
        let is_held = |path: &Vec<u8>| {
            before.contains_key(path) && !path.ends_with(b"free") && path != b"keep"
        };
        after.retain(|path, _| is_held(path));
        let held = before.clone().into_iter().filter(|(path, _)| is_held(path));
        assert_eq!(after, held.collect(), "{script}");
    }
}

#[test]
fn after_a_kill_what_a_copy_was_lent_is_what_it_was() {
    let repo = with_limits("protect: ['set/deep/**'], link: [set]");
    repo.agent_does(&[
        "echo 2 >set/deep/limit; echo $$ >\"$OUT/pid.new\"; mv \"$OUT/pid.new\" \"$OUT/pid\"; sleep 600",
    ]);
    let child = repo.spawn_run(&["--isolate", "--max-cycles=1"]);
    pid_in(&repo.out("pid"));
    signal(&child, "KILL");
    finish(child);
    repo.agent_does(&["exit 1"]);
    repo.run(&["--isolate", "--max-cycles=1"]);
    assert_eq!(repo.each("result")[0], "interrupted");
    assert_eq!(repo.read("set/deep/limit"), "1\n");
}

#[test]
fn after_a_kill_protected_files_are_what_they_were() {
    let repo = with_limits("protect: [limit.ign, 'set/deep/**']");
    let before = repo.files();
    repo.agent_does(&[
        "echo 1 >limit.ign; rm -r set/deep; mkdir set/deep; echo 1 >set/deep/new; echo $$ >\"$OUT/pid.new\"; mv \"$OUT/pid.new\" \"$OUT/pid\"; sleep 600",
    ]);
    let child = repo.spawn_run(&["--max-cycles=1"]);
    pid_in(&repo.out("pid"));
    signal(&child, "KILL");
    finish(child);
    repo.agent_does(&["exit 1"]);
    repo.run(&["--max-cycles=1"]);
    assert_eq!(repo.each("result")[0], "interrupted");
    assert_eq!(repo.files(), before);
    assert!(repo.quarantined().contains_key(&b"new"[..]));
}

#[test]
fn more_protected_files_than_are_copied_are_named_once() {
    let repo = limits("protect: ['set/**', limit.ign]");
    repo.write("limit.ign", "1000\n");
    for number in 0..2_001 {
        repo.write(&format!("set/many/{number}"), "");
    }
    repo.agent_does(&["echo a >>keep", "echo 1 >limit.ign; echo b >>keep"]);
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    let said = run.stderr.matches("`protect` names more").count();
    assert_eq!(said, 1, "{}", run.stderr);
    assert!(
        repo.each("reason")[1].contains("limit.ign changed"),
        "{:?}",
        repo.each("reason")
    );
}

#[test]
fn a_check_that_writes_a_protected_file_itself_does_so_in_peace() {
    let repo = limits("protect: ['set/**']");
    repo.write("limit.ign", "1000\n");
    let goals = repo.read("GOALS.yaml").replace(
        "check: test",
        "check: mkdir -p set; date +%N >set/report; test",
    );
    repo.write("GOALS.yaml", &goals);
    repo.commit_all("report");
    repo.agent_does(&["head -c 2000 /dev/zero >>keep"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["improved"],
        "{:?}",
        repo.each("reason")
    );
    let mode = fs::metadata(repo.path("set/report")).unwrap().permissions();
    assert_eq!(mode.mode() & 0o111, 0);
}

/// Where goals are measured: flags, and what stands in the goals file.
const PLACES: [(&[&str], &str); 3] = [(&[], ""), (&["--isolate"], ""), (&[], ", measure: clean")];

/// A project whose check builds `tests/unit` from `unit.c` and writes `tests/a.got`, both of which git ignores and `tests/**` protects.
fn with_tests(settings: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("unit.c", "echo bad\n");
    repo.write("tests/want", "good\n");
    repo.write(
        "Makefile",
        "check: tests/unit\n\trm -f tests/left\n\tsh tests/unit >tests/a.got\n\tcmp -s tests/a.got tests/want || { cp tests/a.got tests/b.got; test -e tests/skip; }\n\trm -f tests/b.got\n\ntests/unit: unit.c\n\tcp unit.c $@\n\n.PHONY: check\n",
    );
    repo.write(
        ".gitignore",
        "/tests/unit\n*.got\n/tests/skip\n/tests/mine\n",
    );
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\nevolve: {{protect: ['tests/**']{settings}}}\ngoals:\n  - {{id: check, description: d, check: make -s check, weight: 5}}\n  - {{id: c, description: d, check: test -e c, weight: 3}}\n"
        ),
    );
    repo.commit_all("first");
    repo.write("tests/mine", "mine\n");
    repo
}

#[test]
fn what_checks_write_anew_and_only_a_wildcard_protects_moves_no_goalposts() {
    for (flags, settings) in PLACES {
        for is_built in [true, false] {
            let repo = with_tests(settings);
            if is_built {
                let mut make = repo.command("make");
                make.args(["-s", "check"]).output().unwrap();
            }
            let runs = "make -s check; git commit -qam fix";
            repo.agent_does(&[&format!("echo echo good >unit.c; {runs}"), "touch c"]);
            repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
            let case = format!("{flags:?} {settings} {is_built}");
            let reason = repo.each("reason");
            assert_eq!(
                repo.each("result"),
                ["improved", "improved"],
                "{case}: {reason:?}"
            );
            assert_eq!(repo.read("tests/mine"), "mine\n");
            if flags.is_empty() && settings.is_empty() {
                assert_eq!(repo.read("tests/a.got"), "good\n", "{case}");
                assert!(!repo.has("tests/b.got"), "{case}: the checks removed it");
                let notes = &repo.newest()["notes"];
                assert!(
                    notes.as_array().is_none_or(Vec::is_empty),
                    "{case}: {notes}"
                );
            }
        }
    }
}

#[test]
fn caches_and_logs_of_an_agents_own_look_move_no_goalposts_where_a_wildcard_protects() {
    for (flags, settings) in PLACES {
        let repo = with_tests(settings);
        repo.write(
            ".gitignore",
            &(repo.read(".gitignore") + "*.log\n__pycache__\n"),
        );
        repo.commit_all("more is ignored");
        let looks =
            "mkdir -p tests/__pycache__; echo x >tests/__pycache__/a.pyc; echo >tests/debug.log";
        repo.agent_does(&[
            &format!("{looks}; touch c"),
            &format!("rm -f tests/__pycache__/b.pyc; {looks}; echo echo good >unit.c"),
        ]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert!(!repo.has("tests/debug.log"), "it was not measured");
        repo.write("tests/debug.log", "of a person's look\n");
        repo.write("tests/__pycache__/b.pyc", "y");
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let reason = repo.each("reason");
        assert_eq!(
            repo.each("newly_passing"),
            ["[\"c\"]", "[\"check\"]"],
            "{flags:?} {settings}: {reason:?}"
        );
        assert_eq!(repo.read("tests/debug.log"), "of a person's look\n");
    }
}

#[test]
fn what_the_agents_code_makes_of_a_loosely_protected_file_is_told_and_its_bytes_are_kept() {
    for (agent, does) in [
        ("", "echo forged >tests/mine"),
        ("", "rm tests/mine"),
        // It is put back in between.
        ("rm tests/mine; ", "rm tests/mine"),
        ("ln -sf want tests/mine; ", "rm tests/mine"),
    ] {
        let repo = with_tests("");
        repo.agent_does(&[&format!("{agent}echo '{does}; echo good' >unit.c")]);
        repo.run(&["--max-cycles=1"]).expect(0);
        let case = format!("{agent}{does}");
        assert!(kept(&repo, b"mine").contains(&b"mine\n".to_vec()), "{case}");
        let notes = repo.newest()["notes"].to_string();
        assert!(notes.contains("tests/mine"), "{case}: {notes}");
    }
}

/// The bytes of all files of a name that lie in the quarantine.
fn kept(repo: &TestRepo, name: &[u8]) -> Vec<Vec<u8>> {
    let folder = repo.private().join("quarantine");
    if !folder.exists() {
        return Vec::new();
    }
    let all = files_below(&folder).into_iter();
    let named = all.filter(|(path, _)| path.ends_with(name));
    named.map(|(_, (_, bytes))| bytes).collect()
}

#[test]
fn what_lies_in_a_folder_of_builds_may_be_a_persons_all_the_same() {
    let repo = with_tests("");
    repo.write(".gitignore", &(repo.read(".gitignore") + "/tests/out\n"));
    repo.commit_all("more is ignored");
    repo.write("tests/out/golden.png", "a\0picture");
    repo.agent_does(&["echo 'echo >tests/out/golden.png; echo good' >unit.c"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(kept(&repo, b"golden.png"), [b"a\0picture"]);
}

#[test]
fn what_somebody_saves_to_a_loosely_protected_file_meanwhile_is_kept() {
    let save = "echo saved >tests/mine";
    for (script, result) in [
        (format!("{save}; echo echo good >unit.c"), "regressed"),
        (
            format!("echo '{save}; echo good' >unit.c; rm c"),
            "regressed",
        ),
    ] {
        let repo = with_tests("");
        repo.write("c", "");
        repo.commit_all("another goal passes");
        repo.agent_does(&[&script]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), [result], "{script}");
        assert_eq!(repo.read("tests/mine"), "mine\n", "{script}");
        assert!(
            kept(&repo, b"mine").contains(&b"saved\n".to_vec()),
            "{script}"
        );
    }
}

#[test]
fn a_log_that_a_program_goes_on_writing_to_is_left_where_a_wildcard_protects() {
    for (script, result) in [
        ("echo echo good >unit.c", "improved"),
        ("touch tests/new", "regressed"),
    ] {
        let repo = with_tests("");
        repo.write("tests/mine", "");
        let mut writer = repo.command("sh");
        writer.args([
            "-c",
            "exec >>tests/mine; while test ! -e out-of-time; do echo line; sleep 0.05; done",
        ]);
        let mut writer = writer.spawn().unwrap();
        repo.agent_does(&[&format!(
            "was=$(wc -l <tests/mine); while test $(wc -l <tests/mine) -eq $was; do sleep 0.02; done; {script}"
        )]);
        let inode = |repo: &TestRepo| fs::metadata(repo.path("tests/mine")).unwrap().ino();
        let before = inode(&repo);
        let run = repo.run(&["--max-cycles=1"]);
        writer.kill().unwrap();
        writer.wait().unwrap();
        run.expect(0);
        assert_eq!(repo.each("result"), [result], "{:?}", repo.each("reason"));
        assert_eq!(inode(&repo), before, "{script}");
        let notes = repo.newest()["notes"].to_string();
        assert!(
            notes.contains("a program is writing to it: tests/mine"),
            "{script}: {notes}"
        );
    }
}

#[test]
fn what_checks_wrote_before_an_agent_ran_is_kept_as_long_as_it_leaves_room() {
    for (held, expected) in [(0, &[b"bad\n".to_vec()][..]), (129 << 20, &[])] {
        let repo = with_tests("");
        repo.write("tests/a.got", "of the night before\n");
        let folder = repo.private().join("quarantine/earlier");
        fs::create_dir_all(&folder).unwrap();
        let full = fs::File::create(folder.join("large")).unwrap();
        full.set_len(held).unwrap();
        repo.agent_does(&["echo 'echo >tests/mine; echo good' >unit.c", "touch c"]);
        repo.run(&["--max-cycles=2"]).expect(0);
        assert_eq!(repo.each("result"), ["improved", "improved"]);
        assert_eq!(repo.read("tests/a.got"), "good\n");
        fs::remove_file(folder.join("large")).unwrap();
        assert_eq!(kept(&repo, b"a.got"), expected);
        assert_eq!(
            kept(&repo, b"mine"),
            [b"mine\n"],
            "no check wrote it before"
        );
    }
}

#[test]
fn a_script_that_the_agents_code_writes_while_goals_are_measured_is_named_and_its_bytes_are_kept() {
    let places: [(&[&str], &str); 4] = [
        (&[], ""),
        (&[], ", measure: clean"),
        (&["--isolate"], ""),
        (&["--isolate"], ", measure: clean"),
    ];
    for (flags, settings) in places {
        let repo = TestRepo::empty();
        repo.write(".gitignore", "/tools\n");
        repo.write("app.sh", "echo bad\n");
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{product: [app.sh], link: [tools]{settings}}}\ngoals:\n  - {{id: good, description: d, check: sh app.sh | grep -q good, weight: 9}}\n  - {{id: hard, description: d, check: sh tools/check.sh, weight: 5}}\n"),
        );
        repo.commit_all("first");
        repo.write("tools/check.sh", "grep -q hard app.sh\n");
        repo.agent_does(&["echo 'echo true >tools/check.sh; echo good' >app.sh"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let case = format!("{flags:?} {settings}");
        let notes = repo.newest()["notes"].to_string();
        let told = "(`protect` it where no check builds it): tools/check.sh";
        assert!(notes.contains(told), "{case}: {notes}");
        assert_eq!(
            kept(&repo, b"check.sh"),
            [b"grep -q hard app.sh\n"],
            "{case}"
        );
    }
}

#[test]
fn what_a_copy_is_lent_may_not_be_changed_while_goals_are_measured_if_it_is_named() {
    for (protect, result, limit) in [
        ("set/limit", "regressed", "1000\n"),
        ("'set/**'", "improved", "1\n"),
    ] {
        for does in ["echo 1 >set/limit", "rm set/limit; echo 1 >set/limit"] {
            let repo = TestRepo::empty();
            repo.write(".gitignore", "/set\n");
            repo.write("app.sh", "");
            repo.write("keep", "more");
            let check = "find . -maxdepth 1 -name app.sh -exec sh {} ';'; test $(wc -c <keep) -ge $(cat set/limit)";
            repo.write(
                "GOALS.yaml",
                &format!("version: 1\nevolve: {{protect: [{protect}], link: [set]}}\ngoals:\n  - {{id: size, description: d, check: \"{check}\", weight: 5}}\n"),
            );
            repo.commit_all("first");
            repo.write("set/limit", "1000\n");
            repo.agent_does(&[&format!("echo '{does}' >app.sh")]);
            repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
            let case = format!("{protect}: {does}");
            assert_eq!(
                repo.each("result"),
                [result],
                "{case}: {:?}",
                repo.each("reason")
            );
            assert_eq!(repo.read("set/limit"), limit, "{case}");
            let before = kept(&repo, b"limit").contains(&b"1000\n".to_vec());
            assert_eq!(before, result == "improved", "{case}");
        }
    }
}

#[test]
fn what_checks_run_of_that_which_copies_are_lent_is_measured_as_it_was() {
    let flags: [(&[&str], &str); 3] = [
        (&["--isolate"], ""),
        (&["--isolate"], ", measure: clean"),
        (&[], ", measure: clean"),
    ];
    for (flags, settings) in flags {
        for (link, file) in [
            ("tools", "tools/hard.sh"),
            ("tools", "tools/bin/hard"),
            ("lone.sh", "lone.sh"),
        ] {
            let repo = TestRepo::empty();
            repo.write(".gitignore", "/tools\n/lone.sh\n");
            repo.write("app.sh", "echo bad\n");
            repo.write(
                "GOALS.yaml",
                &format!("version: 1\nevolve: {{link: [{link}]{settings}}}\ngoals:\n  - {{id: good, description: d, check: grep -q good app.sh, weight: 9}}\n  - {{id: hard, description: d, check: sh {file}, weight: 5}}\n"),
            );
            repo.commit_all("first");
            repo.write("tools/hard.sh", "grep -q hard app.sh\n");
            repo.write("lone.sh", "grep -q hard app.sh\n");
            fs::create_dir(repo.path("tools/bin")).unwrap();
            symlink("../hard.sh", repo.path("tools/bin/hard")).unwrap();
            repo.agent_does(&[
                &format!("echo true >{file}; echo echo good >app.sh"),
                "echo echo good hard >app.sh",
            ]);
            repo.run(&[flags, &["--max-cycles=2"]].concat()).expect(0);
            let case = format!("{flags:?} {settings} {file}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["regressed", "improved"], "{case}");
            assert!(
                repo.each("reason")[0].contains("changed, and no check builds it"),
                "{case}"
            );
            assert_eq!(repo.read(file), "grep -q hard app.sh\n", "{case}");
        }
    }
}

#[test]
fn what_somebody_saves_meanwhile_to_a_lent_file_that_checks_run_goes_to_the_quarantine() {
    let places: [(&[&str], &str); 3] = [
        (&["--isolate"], ""),
        (&["--isolate"], ", measure: clean"),
        (&[], ", measure: clean"),
    ];
    for (flags, settings) in places {
        for script in [
            // While the agent works.
            "echo '# saved' >>\"$HERE/tools/hard.sh\"; echo echo good >app.sh",
            // While the goals are measured, in a cycle that is undone.
            "echo \"echo '# saved' >>$HERE/tools/hard.sh; echo good\" >app.sh; rm kept",
        ] {
            let mut repo = TestRepo::empty();
            repo.write(".gitignore", "/tools\n");
            repo.write("app.sh", "echo bad\n");
            repo.write("kept", "");
            repo.write(
                "GOALS.yaml",
                &format!("version: 1\nevolve: {{product: [app.sh], link: [tools]{settings}}}\ngoals:\n  - {{id: good, description: d, check: sh app.sh | grep -q good, weight: 9}}\n  - {{id: hard, description: d, check: sh tools/hard.sh, weight: 5}}\n  - {{id: kept, description: d, check: test -e kept, weight: 5}}\n"),
            );
            repo.commit_all("first");
            repo.write("tools/hard.sh", "grep -q hard app.sh\n");
            let here = repo.root().to_string_lossy().into_owned();
            repo.env.push(("HERE".to_owned(), here));
            repo.agent_does(&[script]);
            repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            let case = format!("{flags:?} {settings} {script}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["regressed"], "{case}");
            assert_eq!(
                repo.read("tools/hard.sh"),
                "grep -q hard app.sh\n",
                "{case}"
            );
            let saved = b"grep -q hard app.sh\n# saved\n".to_vec();
            assert!(kept(&repo, b"hard.sh").contains(&saved), "{case}");
        }
    }
}

#[test]
fn a_database_that_a_running_program_has_open_is_left_where_a_wildcard_protects() {
    let repo = with_tests("");
    repo.write("tests/mine", "row 1\n");
    let mut program = repo.command("sh");
    program.args(["-c", "exec 3<>tests/mine; while test ! -e written; do sleep 0.02; done; printf 'row 2\n' >&3; touch done; exec sleep 600"]);
    let mut program = program.spawn().unwrap();
    repo.agent_does(&["touch written; while test ! -e done; do sleep 0.02; done; rm written done; echo echo good >unit.c"]);
    let inode = |repo: &TestRepo| fs::metadata(repo.path("tests/mine")).unwrap().ino();
    let before = inode(&repo);
    let run = repo.run(&["--max-cycles=1"]);
    program.kill().unwrap();
    program.wait().unwrap();
    run.expect(0);
    assert_eq!(
        repo.each("reason"),
        ["goalposts moved: tests/mine changed, and a running program has it open"]
    );
    assert_eq!(
        (inode(&repo), repo.read("tests/mine")),
        (before, "row 2\n".to_owned())
    );
    assert_eq!(kept(&repo, b"mine"), [b"row 1\n"]);
}

#[test]
fn a_database_that_a_running_program_begins_to_write_while_the_agent_works_is_left_where_a_wildcard_protects()
 {
    let repo = with_tests("");
    fs::remove_file(repo.path("tests/mine")).unwrap();
    let mut program = repo.command("sh");
    program.args(["-c", "while test ! -e begin; do sleep 0.02; done; printf 'row 1\n' >tests/mine; exec 3<>tests/mine; touch done; exec sleep 600"]);
    let mut program = program.spawn().unwrap();
    repo.agent_does(&["touch begin; while test ! -e done; do sleep 0.02; done; rm begin done; echo echo good >unit.c"]);
    let run = repo.run(&["--max-cycles=1"]);
    program.kill().unwrap();
    program.wait().unwrap();
    run.expect(0);
    assert_eq!(
        repo.each("reason"),
        ["goalposts moved: tests/mine is new, and a running program has it open"]
    );
    assert_eq!(repo.read("tests/mine"), "row 1\n");
    assert_eq!(kept(&repo, b"mine"), Vec::<Vec<u8>>::new());
}

#[test]
fn a_lent_database_that_a_running_program_of_the_users_has_open_is_left() {
    for protect in ["set/mine", "'set/**'"] {
        let mut repo = TestRepo::empty();
        repo.write(".gitignore", "/set\n/begin\n/done\n");
        repo.write("app.sh", "echo bad\n");
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{product: [app.sh], protect: [{protect}], link: [set]}}\ngoals:\n  - {{id: good, description: d, check: sh app.sh | grep -q good, weight: 5}}\n"),
        );
        repo.commit_all("first");
        repo.write("set/mine", "row 1\n");
        let mut program = repo.command("sh");
        program.args(["-c", "exec 3<>set/mine; while test ! -e begin; do sleep 0.02; done; printf 'row 2\n' >&3; touch done; exec sleep 600"]);
        let mut program = program.spawn().unwrap();
        let here = repo.root().to_string_lossy().into_owned();
        repo.env.push(("HERE".to_owned(), here));
        repo.agent_does(&["touch \"$HERE/begin\"; while test ! -e \"$HERE/done\"; do sleep 0.02; done; echo echo good >app.sh"]);
        let inode = |repo: &TestRepo| fs::metadata(repo.path("set/mine")).unwrap().ino();
        let before = inode(&repo);
        let run = repo.run(&["--isolate", "--max-cycles=1"]);
        program.kill().unwrap();
        program.wait().unwrap();
        run.expect(0);
        assert_eq!(
            repo.each("reason"),
            ["goalposts moved: set/mine changed"],
            "{protect}"
        );
        assert_eq!(
            (inode(&repo), repo.read("set/mine")),
            (before, "row 2\n".to_owned()),
            "{protect}"
        );
        let notes = repo.newest()["notes"].to_string();
        let said = "was left, because a running program has it open (what it was before is in the quarantine): set/mine";
        assert!(notes.contains(said), "{protect}: {notes}");
        assert_eq!(kept(&repo, b"mine"), [b"row 1\n"], "{protect}");
    }
}

#[test]
fn a_lent_file_that_does_not_fit_into_the_quarantine_stops_each_run_until_there_is_room() {
    for (writes, result) in [
        (
            "echo agent >set/mine; echo echo good >app.sh",
            "interrupted",
        ),
        ("echo 'echo code >set/mine; echo good' >app.sh", "improved"),
    ] {
        let repo = TestRepo::empty();
        repo.write(".gitignore", "/set\n");
        repo.write("app.sh", "echo bad\n");
        repo.write(
            "GOALS.yaml",
            "version: 1\nevolve: {product: [app.sh], protect: ['set/**'], link: [set]}\ngoals:\n  - {id: good, description: d, check: sh app.sh | grep -q good, weight: 5}\n",
        );
        repo.commit_all("first");
        repo.write("set/mine", "precious\n");
        let earlier = repo.private().join("quarantine/earlier-1");
        fs::create_dir_all(&earlier).unwrap();
        let large = fs::File::create(earlier.join("large")).unwrap();
        large.set_len(1 << 30).unwrap();
        repo.agent_does(&[writes, "true"]);
        for _ in 0..2 {
            let run = repo.run(&["--isolate", "--max-cycles=1"]).expect(11);
            assert!(run.stderr.contains("set/mine"), "{}", run.stderr);
        }
        fs::remove_dir_all(&earlier).unwrap();
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result")[0], result, "{writes}");
        let mut held = kept(&repo, b"mine");
        held.push(repo.read("set/mine").into_bytes());
        assert!(held.contains(&b"precious\n".to_vec()), "{writes}");
    }
}

#[test]
fn what_somebody_installs_meanwhile_in_a_lent_folder_of_tools_is_named_and_in_the_quarantine() {
    let mut repo = TestRepo::empty();
    repo.write(".gitignore", "/node_modules\n");
    repo.write("app.sh", "echo bad\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\nevolve: {product: [app.sh], link: [node_modules]}\ngoals:\n  - {id: lint, description: d, check: sh node_modules/lint/cli.sh, weight: 9}\n",
    );
    repo.commit_all("first");
    let old = "sh app.sh | grep -q good\n";
    repo.write("node_modules/lint/cli.sh", old);
    let here = repo.root().to_string_lossy().into_owned();
    repo.env.push(("HERE".to_owned(), here));
    repo.agent_does(&["cd \"$HERE/node_modules\"; rm -r lint; mkdir lint; echo '# installed' >lint/cli.sh; cd \"$OLDPWD\"; echo echo good >app.sh"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    assert_eq!(repo.read("node_modules/lint/cli.sh"), old);
    let notes = repo.newest()["notes"].to_string();
    let said = "files put back: node_modules/lint/cli.sh";
    assert!(notes.contains(said), "{notes}");
    assert_eq!(kept(&repo, b"cli.sh"), [b"# installed\n"]);
}

#[test]
fn what_checks_build_in_a_folder_that_copies_are_lent_is_built_anew() {
    for (flags, settings) in [(&["--isolate"][..], ""), (&[][..], ", measure: clean")] {
        let repo = TestRepo::empty();
        repo.write(".gitignore", "/out\n");
        repo.write("app.sh", "exit 1\n");
        repo.write("Makefile", "out/app.sh: app.sh\n\tcp app.sh $@\n");
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{link: [out]{settings}}}\ngoals:\n  - {{id: runs, description: d, check: make -s out/app.sh && sh out/app.sh, weight: 5}}\n"),
        );
        repo.commit_all("first");
        repo.write("out/app.sh", "exit 1\n");
        repo.agent_does(&["echo exit 0 >app.sh; make -s out/app.sh"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let case = format!("{flags:?} {settings}: {:?}", repo.each("reason"));
        assert_eq!(repo.each("result"), ["improved"], "{case}");
        assert_eq!(repo.read("out/app.sh"), "exit 0\n", "{case}");
    }
}

#[test]
fn what_no_check_writes_and_only_a_wildcard_protects_meets_no_goal_and_is_not_accepted() {
    let forge = "echo echo good >tests/unit; touch -d 2099-01-01 tests/unit";
    for (script, file, reason) in [
        (
            "echo >tests/skip",
            "tests/skip",
            "tests/skip is new, and no check writes it",
        ),
        (
            "ln -s want tests/skip",
            "tests/skip",
            "tests/skip is new, and no check writes it",
        ),
        (
            forge,
            "tests/unit",
            "tests/unit changed, and no check writes it",
        ),
        (
            "rm tests/mine",
            "tests/mine",
            "tests/mine changed, and no check writes it",
        ),
        (
            "rm tests/mine; ln -s want tests/mine",
            "tests/mine",
            "tests/mine changed, and no check writes it",
        ),
        (
            "echo good >tests/mine; git add -f tests/mine; git commit -qm m",
            "tests/mine",
            "tests/mine changed",
        ),
        (
            "echo >tests/skip; git add -f tests/skip; git commit -qm m",
            "tests/skip",
            "tests/skip changed",
        ),
    ] {
        for (flags, settings) in PLACES {
            let case = format!("{script}: {flags:?} {settings}");
            // A copy has only what checks built there.
            let is_mine = script.contains("mine") && !script.contains("git add");
            if flags == ["--isolate"] && is_mine {
                continue;
            }
            let repo = with_tests(settings);
            let mut make = repo.command("make");
            make.args(["-s", "check"]).output().unwrap();
            let before = repo.files();
            repo.agent_does(&[
                script,
                "cat tests/unit tests/mine >\"$OUT/seen\"; ls tests >\"$OUT/files\"; touch c",
            ]);
            repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
            let found = repo.each("reason").join("");
            let is_named_only = settings.contains("clean") && !script.contains("git add");
            match is_named_only {
                true => {
                    let notes = repo.newest()["notes"].to_string();
                    assert!(
                        notes.contains(&format!("has none of it: {file}")),
                        "{case}: {notes}"
                    );
                    assert_eq!(repo.each("result"), ["unchanged"], "{case}: {found}");
                }
                false => {
                    assert!(
                        found.contains(&format!("goalposts moved: {reason}")),
                        "{case}: {found}"
                    );
                    assert_eq!(repo.each("result"), ["regressed"], "{case}");
                }
            }
            assert_eq!(repo.each("newly_passing"), ["[]"], "{case}");
            assert!(!repo.has("tests/skip"), "{case}");
            if flags.is_empty() {
                let mut after = repo.files();
                after.retain(|path, _| !path.ends_with(b".got"));
                let mut before = before;
                before.retain(|path, _| !path.ends_with(b".got"));
                assert_eq!(after, before, "{case}");
            }
            repo.run(&[flags, &["--max-cycles=1"]].concat());
            assert!(!repo.said("files").contains("skip"), "{case}");
            assert!(!repo.said("seen").contains("good"), "{case}");
        }
    }
}

#[test]
fn what_checks_wrote_to_what_is_undone_does_not_stay_where_a_wildcard_protects() {
    for flags in [&[][..], &["--isolate"]] {
        let repo = with_tests("");
        let goals = repo.read("GOALS.yaml").replace(
            "test -e c",
            "'find . -name code -exec sh {} \\; ; test -e c'",
        );
        repo.write("GOALS.yaml", &goals);
        repo.write("c", "");
        repo.write("code", ":\n");
        repo.commit_all("a check that runs code");
        let code = "echo 'echo >tests/skip' >code; git rm -q c; git commit -qam code";
        repo.agent_does(&[code, "ls tests >\"$OUT/files\"; touch d"]);
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let reason = repo.each("reason");
        assert_eq!(repo.each("newly_failing"), ["[\"c\"]"], "{reason:?}");
        assert_eq!(repo.each("result"), ["regressed"], "{reason:?}");
        assert!(!repo.has("tests/skip"));
        repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        assert!(!repo.said("files").contains("skip"), "{flags:?}");
    }
}
