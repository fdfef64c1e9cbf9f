//! What a person does to the tree after a session was killed, before the next start, is theirs: nothing of it is undone with the
//! agent's work.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::harness::{
    EVOLVE_PID, TestRepo, finish, is_alive, output, pid_in, signal, signal_pid, wait_until,
    with_git,
};

/// Says that it is there, and would sleep far longer than any test may take.
const SLEEP: &str = "echo $$ >\"$OUT/pid\"; sleep 300";

/// A repository whose goal is the file `a`, with some files of the user's.
fn repo() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: file a exists, check: test -e a, weight: 5}\n",
    );
    for name in ["tracked", "other", "third"] {
        repo.write(name, "text\n");
    }
    repo.commit_all("first");
    repo.write("untracked", "mine\n");
    repo
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Runs the loop with an agent that runs this script, kills the loop then, and waits until nothing of it is left.
fn crash_after(repo: &TestRepo, arguments: &[&str], script: &str) {
    repo.agent_does(&[&format!("{script}\n{SLEEP}")]);
    let child = repo.spawn_run(arguments);
    pid_in(&repo.out("pid"));
    let supervisor = repo.supervisor();
    kill(child);
    wait_until("the supervising process ends", || !is_alive(supervisor));
    wait_for_a_later_date(repo);
}

/// Waits until what is written is dated later than the note of the end.
fn wait_for_a_later_date(repo: &TestRepo) {
    let note = fs::metadata(note(repo).unwrap()).unwrap();
    // The kernel dates files by its ticks, a few milliseconds apart.
    wait_until("files are dated later", || {
        repo.write(".git/probe", "");
        let probe = fs::metadata(repo.path(".git/probe")).unwrap();
        (probe.ctime(), probe.ctime_nsec()) > (note.ctime(), note.ctime_nsec())
    });
}

/// The note of the end that counts, be there a journal or none.
fn note(repo: &TestRepo) -> Option<PathBuf> {
    let entries = fs::read_dir(repo.home().join(".local/state/evolve")).ok()?;
    let mut paths = entries.flatten().map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|end| end == "ended"))
}

/// Has the next session succeed with the work at hand: the half-done cycle is undone, one more is made.
#[track_caller]
fn go_on(repo: &TestRepo) -> String {
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(note(repo), None);
    run.stdout
}

#[test]
fn what_checks_would_run_and_somebody_puts_there_after_a_kill_stays() {
    for (file, ignored) in [("bin/tool", "/bin/\n"), ("bin/tool", ""), ("check.sh", "")] {
        let repo = repo();
        repo.write(".gitignore", ignored);
        repo.write(
            "GOALS.yaml",
            "version: 1\ngoals:\n  - {id: a, description: d, check: bin/tool && sh check.sh && test -e a, weight: 5}\n  - {id: b, description: d, check: test -e b, weight: 3}\n",
        );
        repo.commit_all("checks that run what is not there");
        crash_after(&repo, &[], "true");
        repo.write(file, "\u{0}mine\n");
        repo.agent_does(&["touch b"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{file}");
        assert_eq!(repo.read(file), "\u{0}mine\n", "{file} {ignored:?}");
    }
}

#[test]
fn what_a_person_made_after_a_crash_stays_where_an_agent_removed_the_journal_in_the_repository() {
    for script in ["rm -rf .git/evolve", "rm .git/evolve/journal.json"] {
        let repo = repo();
        let later =
            format!("until [ -e \"$OUT/go\" ]; do sleep 0.02; done; {script}; touch \"$OUT/done\"");
        repo.agent_does(&[&format!("echo theirs >>tracked; ({later}) & {SLEEP}")]);
        let child = repo.spawn_run(&[]);
        pid_in(&repo.out("pid"));
        let supervisor = repo.supervisor();
        fs::write(repo.out("go"), "").unwrap();
        repo.wait_for("done");
        kill(child);
        wait_until("the supervising process ends", || !is_alive(supervisor));
        wait_for_a_later_date(&repo);
        repo.write("new", "mine\n");
        repo.agent_does(&["touch a"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
        assert_eq!(repo.read("new"), "mine\n", "{script}");
        assert_eq!(repo.read("tracked"), "text\n", "{script}");
    }
}

#[test]
fn what_a_person_made_after_a_crash_stays_where_the_next_start_has_another_state_home() {
    let repo = repo();
    crash_after(&repo, &[], "echo theirs >>tracked");
    repo.write("new", "mine\n");
    repo.agent_does(&["touch a"]);
    let agent = format!("--agent={}", repo.agent());
    let go_on = |limit: &str| {
        let mut command = repo.command(repo.program());
        command.env("XDG_STATE_HOME", repo.outside().join("another"));
        command.args([&agent, limit]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap()).expect(0);
    };
    go_on("--max-cycles=1");
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.read("new"), "mine\n");
    assert_eq!(repo.read("tracked"), "text\n");
    assert_eq!(note(&repo), None);
    // Nothing is left there that a start with the first one would settle again.
    repo.write("tracked", "mine\n");
    repo.commit_all("mine");
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.read("tracked"), "mine\n");
    assert_eq!(repo.each("result")[..2], ["interrupted", "improved"]);
}

#[test]
fn a_tracked_file_that_a_person_changed_after_a_crash_is_refused_before_anything_is_touched() {
    let repo = repo();
    crash_after(
        &repo,
        &[],
        "echo theirs >>tracked; echo theirs >half; git add half; git commit -qm half; echo theirs >loose; rm third",
    );
    repo.write("tracked", "mine\n");
    repo.write("staged", "mine\n");
    repo.git(&["add", "staged"]);
    repo.write("new", "mine\n");
    let (files, index, head) = (repo.files(), repo.git(&["ls-files", "-s"]), repo.head());
    for _ in 0..2 {
        let run = repo.run(&[]).expect(3);
        assert!(
            run.stderr.contains("2 files were changed or staged after")
                && run.stderr.contains("\n  staged\n  tracked\n")
                && run
                    .stderr
                    .contains("`git stash push --include-untracked -- staged tracked`"),
            "{}",
            run.stderr
        );
        assert_eq!(repo.files(), files);
        assert_eq!(repo.git(&["ls-files", "-s"]), index);
        assert_eq!(repo.head(), head);
    }
    assert_eq!(repo.calls(), 1);
    repo.git(&[
        "stash",
        "push",
        "-q",
        "--include-untracked",
        "--",
        "staged",
        "tracked",
    ]);
    go_on(&repo);
    assert_eq!(repo.read("tracked"), "text\n");
    assert_eq!(repo.read("third"), "text\n");
    assert!(!repo.has("half") && !repo.has("loose"));
    assert_eq!(repo.read("new"), "mine\n");
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(repo.read("tracked"), "mine\n");
    assert_eq!(repo.read("staged"), "mine\n");
    assert_eq!(repo.read("untracked"), "mine\n");
}

/// Does what a refusal tells.
fn put_aside(repo: &TestRepo) -> String {
    let said = repo.run(&[]).expect(3).stderr;
    let command = said
        .split('`')
        .find(|part| part.starts_with("git stash push"));
    output(repo.command("sh").args(["-c", command.unwrap()]));
    said
}

#[test]
fn what_the_agent_had_staged_does_not_come_back_from_the_stash() {
    for (what, mine) in [("few", 1), ("many", 12)] {
        let repo = repo();
        crash_after(
            &repo,
            &[],
            "echo theirs >other; echo theirs >half; git add other half; git rm -q tracked; echo more >>other",
        );
        for number in 0..mine {
            repo.write(&format!("mine {number}"), "mine\n");
            repo.git(&["add", &format!("mine {number}")]);
        }
        let said = put_aside(&repo);
        assert!(!said.contains("had staged of"), "{what}: {said}");
        go_on(&repo);
        repo.git(&["stash", "pop", "-q"]);
        for number in 0..mine {
            assert_eq!(repo.read(&format!("mine {number}")), "mine\n", "{what}");
        }
        for name in ["other", "tracked"] {
            assert_eq!(repo.read(name), "text\n", "{what}: {name}");
        }
        assert!(!repo.has("half"), "{what}");
    }
}

#[test]
fn a_file_that_both_changed_is_said_to_be_so_and_both_versions_are_kept() {
    let repo = repo();
    crash_after(&repo, &[], "echo theirs >tracked; git add tracked other");
    repo.write("tracked", "theirs\nmine\n");
    let said = put_aside(&repo);
    assert!(
        said.contains("what the agent had staged of tracked before"),
        "{said}"
    );
    go_on(&repo);
    assert_eq!(repo.read("tracked"), "text\n");
    assert_eq!(repo.git(&["show", "stash@{0}^2:tracked"]), "theirs");
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(repo.read("tracked"), "theirs\nmine\n");
}

#[test]
fn a_plain_stash_is_enough_and_gives_back_what_it_took() {
    let repo = repo();
    crash_after(&repo, &[], "echo theirs >>other; touch half");
    repo.write("tracked", "mine\n");
    repo.run(&[]).expect(3);
    repo.git(&["stash", "-q"]);
    go_on(&repo);
    repo.git(&["stash", "pop", "-q"]);
    assert_eq!(repo.read("tracked"), "mine\n");
    assert!(!repo.has("half"));
}

/// Runs the loop, which asks a human, as somebody else committed this.
fn expect_left_to_others(repo: &TestRepo, commit: &str) {
    let run = repo.run(&[]).expect(11);
    assert!(
        run.stdout.contains("somebody else committed"),
        "{}",
        run.stdout
    );
    assert_eq!(repo.git(&["merge-base", commit, "HEAD"]), commit);
}

#[test]
fn a_commit_of_what_was_changed_after_a_crash_stays_and_a_human_is_asked() {
    let repo = repo();
    crash_after(&repo, &[], "touch half; echo theirs >>other");
    repo.write("tracked", "mine\n");
    repo.run(&[]).expect(3);
    repo.git(&["commit", "-qm", "mine", "tracked"]);
    let mine = repo.head();
    expect_left_to_others(&repo, &mine);
    assert_eq!(repo.read("tracked"), "mine\n");
    assert_eq!(repo.read("other"), "text\ntheirs\n");
    assert!(repo.has("half"));
    assert_eq!(repo.each("result"), ["interrupted"]);
}

#[test]
fn what_is_changed_beside_a_commit_after_a_crash_is_left_alone_as_the_commit_is() {
    let repo = repo();
    crash_after(&repo, &[], "touch half");
    repo.write("other", "mine\n");
    repo.git(&["commit", "-qm", "mine", "other"]);
    let mine = repo.head();
    repo.write("tracked", "mine, not committed\n");
    expect_left_to_others(&repo, &mine);
    assert_eq!(repo.read("tracked"), "mine, not committed\n");
    assert!(repo.has("half"));
    assert_eq!(repo.each("result"), ["interrupted"]);
}

#[test]
fn what_a_person_left_untracked_after_a_crash_stays_and_the_run_goes_on() {
    let repo = repo();
    crash_after(
        &repo,
        &[],
        "echo theirs >untracked; touch half; mkdir d; touch d/half",
    );
    repo.write("untracked", "mine, newer\n");
    repo.write("new", "mine\n");
    repo.write("d/new", "mine\n");
    repo.git(&["init", "-q", "clone"]);
    repo.write("clone/file", "mine\n");
    let said = go_on(&repo);
    assert_eq!(repo.read("untracked"), "mine, newer\n");
    assert_eq!(repo.read("new"), "mine\n");
    assert_eq!(repo.read("d/new"), "mine\n");
    assert_eq!(repo.read("clone/file"), "mine\n");
    assert!(!repo.has("half") && !repo.has("d/half"));
    assert_eq!(repo.quarantined()[&b"untracked"[..]].1, b"mine\n");
    let told =
        "written after the session had died, and left as it is: clone/, d/new, new, untracked";
    assert!(said.contains(told), "{said}");
    let notes = repo.records()[0]["notes"].to_string();
    assert!(notes.contains(told), "{notes}");
}

#[test]
fn what_a_person_wrote_where_a_file_comes_back_that_the_agent_removed_is_not_said_to_stay() {
    let repo = repo();
    let before = repo.read("other");
    crash_after(&repo, &[], "git rm -q other; git commit -qm removed");
    repo.write("other", "mine\n");
    let said = go_on(&repo);
    assert_eq!(repo.read("other"), before);
    assert_eq!(repo.quarantined()[&b"other"[..]].1, b"mine\n");
    assert!(!said.contains("left as it is"), "{said}");
    let told = "where a file is that comes back, and moved out of its way: other";
    assert!(said.contains(told), "{said}");
}

#[test]
fn what_is_only_staged_after_a_crash_is_refused_too() {
    let repo = repo();
    crash_after(&repo, &[], "touch half; echo theirs >>other; git add other");
    repo.write("tracked", "mine, staged\n");
    repo.git(&["add", "tracked"]);
    let blob = repo.git(&["rev-parse", ":tracked"]);
    fs::remove_file(repo.path("tracked")).unwrap();
    let run = repo.run(&[]).expect(3);
    assert!(run.stderr.contains("1 file was"), "{}", run.stderr);
    assert!(run.stderr.contains("\n  tracked\n"), "{}", run.stderr);
    assert_eq!(repo.git(&["rev-parse", ":tracked"]), blob);
}

#[test]
fn what_the_agent_staged_is_nobody_elses_where_its_object_is_stored_again_and_nothing_is_staged() {
    let repo = repo();
    crash_after(&repo, &[], "echo theirs >>other; git add other");
    let index = fs::metadata(repo.path(".git/index")).unwrap().mtime_nsec();
    repo.git(&["hash-object", "-w", "other"]);
    let unstaged = fs::metadata(repo.path(".git/index")).unwrap().mtime_nsec();
    assert_eq!(unstaged, index);
    go_on(&repo);
    assert_eq!(repo.read("other"), "text\n");
}

#[test]
fn a_file_that_a_person_moved_into_the_tree_after_a_crash_is_refused_whatever_its_time() {
    let repo = repo();
    let mine = repo.out("mine");
    fs::write(&mine, "mine\n").unwrap();
    let file = fs::File::options().write(true).open(&mine).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    file.set_modified(long_ago).unwrap();
    crash_after(&repo, &[], "touch half");
    fs::rename(&mine, repo.path("moved")).unwrap();
    let run = repo.run(&[]).expect(3);
    assert!(run.stderr.contains("\n  moved\n"), "{}", run.stderr);
    assert_eq!(repo.read("moved"), "mine\n");
    fs::rename(repo.path("moved"), &mine).unwrap();
    go_on(&repo);
}

#[test]
fn nothing_that_an_agent_did_passes_for_a_persons() {
    let repo = repo();
    // A time of the content anybody can set.
    crash_after(
        &repo,
        &[],
        "echo theirs | tee -a tracked other >half; echo theirs >untracked; touch -d 2099-01-01 tracked half untracked; git add other half; touch -d 2099-01-01 .git/index .git/objects/*/*",
    );
    // A container that starts anew gives all of it another owner.
    for name in ["tracked", "half", "untracked"] {
        let file = repo.path(name);
        let mode = fs::metadata(&file).unwrap().permissions();
        fs::set_permissions(&file, mode).unwrap();
    }
    // Neither what git notes for itself nor what evolve says of it is a change.
    repo.git(&["status"]);
    repo.evolve(&["status"]).expect(0);
    repo.evolve(&["work", "add", "later"]).expect(0);
    let said = go_on(&repo);
    assert_eq!(repo.read("tracked"), "text\n");
    assert_eq!(repo.read("untracked"), "mine\n");
    assert!(!repo.has("half"));
    assert!(!said.contains("after the session had died"), "{said}");
}

#[test]
fn a_file_that_is_gone_after_a_crash_is_back_and_named_where_a_person_may_have_removed_it() {
    let repo = repo();
    repo.write("d/one", "text\n");
    repo.write("d/two", "text\n");
    repo.git(&["add", "d"]);
    repo.git(&["commit", "-qm", "two more"]);
    // In that folder nothing was done later.
    crash_after(&repo, &[], "touch half; rm d/one");
    fs::remove_file(repo.path("tracked")).unwrap();
    let said = go_on(&repo);
    assert_eq!(repo.read("tracked"), "text\n");
    assert_eq!(repo.read("d/one"), "text\n");
    assert!(
        said.contains("removed by the agent, or after the session had died, and back: tracked"),
        "{said}"
    );
}

#[test]
fn what_a_start_that_died_itself_had_done_is_no_persons_work() {
    let repo = repo();
    crash_after(
        &repo,
        &[],
        "echo theirs >>tracked; touch half; git add -A; git commit -qm half; touch loose",
    );
    repo.write("tracked", "mine\n");
    repo.run(&[]).expect(3);
    assert!(journal(&repo)["ended"].is_number());
    repo.git(&["checkout", "-q", "tracked"]);
    // The next start is killed in its undo, when it has half-written a file.
    let shim = format!(
        "case \"$*\" in *'restore --source'*) $GIT \"$@\"; echo half >>tracked; kill -9 {EVOLVE_PID}; exit 1;; esac"
    );
    let path = with_git(&repo, &shim);
    let agent = format!("--agent={}", repo.agent());
    repo.evolve_with(&[("PATH", &path)], &[&agent, "--max-cycles=1"])
        .expect(137);
    assert_eq!(repo.read("tracked"), "text\nhalf\n");
    assert_eq!(journal(&repo)["ended"], Value::Null);
    go_on(&repo);
    assert_eq!(repo.read("tracked"), "text\n");
    assert!(!repo.has("half") && !repo.has("loose"));
}

fn journal(repo: &TestRepo) -> Value {
    let text = fs::read_to_string(repo.journal_outside().unwrap()).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_crash_of_both_processes_leaves_no_end_that_is_known_and_what_is_undone_is_named() {
    let repo = repo();
    repo.agent_does(&[&format!("touch half; {SLEEP}")]);
    let child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    signal(&child, "STOP");
    signal_pid(repo.supervisor(), "KILL");
    kill(child);
    assert_eq!(note(&repo), None);
    repo.write("new", "mine\n");
    let said = go_on(&repo);
    assert!(!repo.has("new"));
    assert!(
        said.contains("new files that the undo removed (they are in refs/evolve/")
            && said.contains("): half, new"),
        "{said}"
    );
    let work = repo.git(&["for-each-ref", "--format=%(refname)", "refs/evolve"]);
    assert_eq!(repo.git(&["show", &format!("{work}:new")]), "mine");
}

#[test]
fn a_boot_of_the_machine_ends_a_session_of_this_git_folder_too_unless_the_clock_contradicts() {
    let (long_ago, now) = (SystemTime::UNIX_EPOCH, SystemTime::now());
    for (place, last_written, code) in [
        ("another-boot FOLDER", long_ago, 3),
        ("another-boot FOLDER", now, 0),
        ("BOOT FOLDER", long_ago, 0),
        (" FOLDER", long_ago, 0),
        ("another-boot 1 1", long_ago, 0),
    ] {
        let repo = repo();
        crash_after(&repo, &[], "touch half");
        repo.write("tracked", "mine\n");
        // The session was another boot's, and its supervising process went down with it.
        fs::remove_file(note(&repo).unwrap()).unwrap();
        let mut told = journal(&repo);
        let own = told["place"].as_str().unwrap().to_owned();
        let (boot, folder) = own.split_once(' ').unwrap();
        told["place"] = place.replace("BOOT", boot).replace("FOLDER", folder).into();
        let outside = repo.journal_outside().unwrap();
        fs::write(&outside, told.to_string()).unwrap();
        let file = fs::File::options().write(true).open(&outside).unwrap();
        file.set_modified(last_written).unwrap();
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]);
        assert_eq!(run.code, code, "{place}: {}", run.stderr);
        let expected = if code == 3 { "mine\n" } else { "text\n" };
        assert_eq!(repo.read("tracked"), expected, "{place}");
    }
}

#[test]
fn a_note_of_another_process_or_boot_or_of_a_time_before_the_journal_tells_of_no_end() {
    for (what, key, value) in [
        ("the session's own", "", Value::Null),
        ("another process's", "writer", serde_json::json!([1, 1])),
        ("another boot's", "boot", "another-boot".into()),
        ("older than the journal", "", Value::Null),
    ] {
        let repo = repo();
        crash_after(&repo, &[], "touch half");
        let file = note(&repo).unwrap();
        if !key.is_empty() {
            let text = fs::read_to_string(&file).unwrap();
            let mut told: Value = serde_json::from_str(&text).unwrap();
            told[key] = value;
            fs::write(&file, told.to_string()).unwrap();
            wait_for_a_later_date(&repo);
        }
        if what == "older than the journal" {
            let outside = repo.journal_outside().unwrap();
            let outside = fs::File::options().write(true).open(outside).unwrap();
            outside.set_modified(SystemTime::now()).unwrap();
        }
        repo.write("tracked", "mine\n");
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]);
        let (code, text) = match what {
            "the session's own" => (3, "mine\n"),
            _ => (0, "text\n"),
        };
        assert_eq!(run.code, code, "{what}: {}", run.stderr);
        assert_eq!(repo.read("tracked"), text, "{what}");
    }
}

#[test]
fn an_isolated_cycle_that_was_cut_short_is_settled_whatever_a_person_changed_since() {
    let repo = repo();
    crash_after(&repo, &["--isolate"], "touch half");
    repo.write("tracked", "mine\n");
    repo.write("new", "mine\n");
    repo.git(&["add", "new"]);
    repo.agent_does(&["touch a"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.read("tracked"), "mine\n");
    assert_eq!(repo.git(&["show", ":new"]), "mine");
}

#[test]
fn a_session_that_ended_in_order_leaves_no_note() {
    let repo = repo();
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(note(&repo), None);
    assert!(!repo.private().join("journal.ended").exists());
}

#[test]
fn a_note_of_the_end_that_the_agent_wrote_makes_nothing_of_its_work_the_users() {
    let repo = repo();
    let forged = r#"for it in "$HOME"/.local/state/evolve/*.journal; do
    boot=$(sed 's/.*"place":"\([^ ]*\) .*/\1/' "$it"); zero='{"wall":1,"since_boot":1}'
    echo "{\"writer\":[$ev,$(cut -d' ' -f22 /proc/$ev/stat)],\"boot\":\"$boot\",\"at\":1,\"began\":$zero,\"ended\":$zero}" >"${it%.journal}.ended"
done"#;
    repo.agent_does(&[&format!(
        "ev={EVOLVE_PID}; p=$PPID; until grep -q __supervise /proc/$p/cmdline; do p=$(cut -d' ' -f4 /proc/$p/stat); done; echo evil >new; echo evil >untracked; echo evil >tracked\n{forged}\nkill -9 $ev $p"
    )]);
    assert_ne!(repo.run(&["--max-cycles=1"]).code, 0);
    assert!(note(&repo).is_some());
    go_on(&repo);
    assert!(!repo.has("new"));
    assert_eq!(repo.read("untracked"), "mine\n");
    assert_eq!(repo.read("tracked"), "text\n");
}

#[test]
fn a_record_that_a_commit_of_somebody_elses_took_along_after_a_crash_is_recorded_anew() {
    for arguments in [&["--max-cycles=1"][..], &["--max-cycles=1", "--isolate"]] {
        let repo = repo();
        repo.cycle("echo 1 >work").expect(0);
        // What evolve commits goes through a filter of the user's, which ends it as the record is being committed.
        repo.write(
            ".git/info/attributes",
            ".agents/evolve/fitness-2* filter=end\n",
        );
        let end = format!(
            "cat; git -C '{}' log -1 --format=%s main | grep -q 'evolve: cycle 2 —' && [ -e '{1}' ] && kill -9 $(cat '{1}'); true",
            repo.root().display(),
            repo.out("ev").display()
        );
        fs::write(repo.out("end.sh"), end).unwrap();
        let end = format!("sh {}", repo.out("end.sh").display());
        repo.git(&["config", "filter.end.clean", &end]);
        repo.agent_does(&[&format!("touch a; echo {EVOLVE_PID} >\"$OUT/ev\"")]);
        let supervisor = {
            let mut child = repo.spawn_run(arguments);
            let supervisor = repo.supervisor();
            child.wait().unwrap();
            supervisor
        };
        wait_until("the supervising process ends", || !is_alive(supervisor));
        fs::remove_file(repo.out("ev")).unwrap();
        // As though it had been somebody else's commit that took it along.
        let _ = fs::remove_file(repo.path(".git/index.lock"));
        repo.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
        repo.git(&["commit", "--quiet", "--all", "--message=mine"]);
        repo.agent_does(&["true"]);
        let journal = repo.private().join("journal.json");
        let left = fs::read(&journal).unwrap();
        repo.run(arguments).expect(0);
        let audit = repo.evolve(&["audit"]);
        assert_eq!(audit.code, 0, "{arguments:?}: {}", audit.stdout);
        // That start dies as well, right after it.
        let records = repo.records().len();
        fs::write(&journal, &left).unwrap();
        repo.run(arguments).expect(0);
        let audit = repo.evolve(&["audit"]);
        assert_eq!(audit.code, 0, "{arguments:?}: {}", audit.stdout);
        assert_eq!(repo.records().len(), records + 1);
        // What was recorded later stays, be it by another clone and in one commit.
        repo.git(&["reset", "--quiet", "--soft", "HEAD~3"]);
        repo.git(&["commit", "--quiet", "--all", "--message=squashed"]);
        fs::write(&journal, &left).unwrap();
        repo.run(arguments).expect(0);
        assert_eq!(repo.records().len(), records + 2);
        assert_eq!(repo.each("result")[..2], ["unchanged", "improved"]);
        let note = repo.records()[1]["notes"].to_string();
        assert!(note.contains("it is recorded anew"), "{note}");
    }
}

#[test]
fn what_a_file_held_that_a_wildcard_protects_is_kept_where_somebody_wrote_to_it_since() {
    let repo = repo();
    let goals = repo.read("GOALS.yaml");
    let goals = goals.replace("goals:", "evolve: {protect: ['tests/**']}\ngoals:");
    repo.write("GOALS.yaml", &goals);
    repo.write(".gitignore", "/tests/mine\n");
    repo.commit_all("protected");
    repo.write("tests/mine", "mine\n");
    crash_after(&repo, &["--max-cycles=1"], "echo forged >tests/mine");
    let added = repo.read("tests/mine") + "a person's line\n";
    repo.write("tests/mine", &added);
    go_on(&repo);
    assert_eq!(repo.read("tests/mine"), "forged\na person's line\n");
    let kept = repo.quarantined();
    let kept = kept.get(&b"mine"[..]).map(|(_, bytes)| bytes.as_slice());
    assert_eq!(kept, Some(&b"mine\n"[..]));
}
