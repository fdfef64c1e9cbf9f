//! A session that died is settled by the next one; a session goes on from the files alone; and only one runs at a time.

use std::fs;
use std::process::{Child, Command};

use serde_json::Value;

use crate::harness::{
    EVOLVE_PID, TestRepo, assert_gone, finish, is_alive, output, pid_in, signal, signal_pid,
    wait_until, with_git,
};

/// Says that it is there, and would sleep far longer than any test may take.
const SLEEP: &str = "echo $$ >\"$OUT/pid\"; sleep 300";

/// A repository with goal `a`, whose check first runs the script `$OUT/check`, if there is one.
fn repo() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - id: a\n    description: file a exists\n    weight: 5\n    check: |\n      if [ -e \"$OUT/check\" ]; then . \"$OUT/check\"; fi; test -e a\n",
    );
    repo.write("tracked", "text\n");
    repo.write("folder/other", "other\n");
    repo.commit_all("first");
    repo
}

/// Kills the program so that it can do nothing more.
fn crash(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Kills the program and its supervising process, so that nobody is left to end what they started.
fn crash_both(repo: &TestRepo, child: Child) {
    signal(&child, "STOP");
    signal_pid(repo.supervisor(), "KILL");
    crash(child);
}

/// Starts the loop, waits until a script has written its pid, and kills the loop there.
fn crash_while_something_runs(repo: &TestRepo, arguments: &[&str]) -> u32 {
    let child = repo.spawn_run(arguments);
    let pid = pid_in(&repo.out("pid"));
    crash(child);
    pid
}

/// Runs the loop with an agent that runs this script and then sleeps; kills the loop then.
fn crash_after(repo: &TestRepo, script: &str) -> u32 {
    repo.agent_does(&[&format!("{script}\n{SLEEP}")]);
    crash_while_something_runs(repo, &[])
}

fn journal(repo: &TestRepo) -> Value {
    let text = fs::read_to_string(repo.private().join("journal.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn write_journal(repo: &TestRepo, journal: &Value) {
    fs::write(repo.private().join("journal.json"), journal.to_string()).unwrap();
    if let Some(outside) = repo.journal_outside() {
        fs::write(outside, journal.to_string()).unwrap();
    }
}

/// What must hold after a settled crash: a sound repository on its branch, clean, with each cycle recorded once.
#[track_caller]
fn assert_sound(repo: &TestRepo) {
    repo.git(&["fsck", "--strict", "--no-dangling"]);
    assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(repo.status(), Vec::<String>::new());
    assert!(!repo.private().join("journal.json").exists());
    assert!(!repo.path(".git/index.lock").exists());
    let mut cycles = repo.each("cycle");
    let all = cycles.len();
    cycles.dedup();
    assert_eq!(cycles.len(), all, "{cycles:?}");
    // What is committed is what is on disk.
    let committed = repo.git(&["show", "HEAD:.agents/evolve/cycle-history.jsonl"]);
    assert_eq!(
        committed,
        repo.read(".agents/evolve/cycle-history.jsonl").trim_end()
    );
}

#[test]
fn a_session_that_died_while_checks_ran_has_changed_nothing_and_its_checks_are_ended() {
    for (arguments, what) in [
        (&[][..], "baseline"),
        (&["--skip-baseline"], "first checks"),
    ] {
        let repo = repo();
        let start = repo.head();
        fs::write(repo.out("check"), SLEEP).unwrap();
        let pid = crash_while_something_runs(&repo, arguments);
        fs::remove_file(repo.out("check")).unwrap();
        let status = repo.answer(&["status", "--json"]);
        let status: Value = serde_json::from_str(&status).unwrap();
        assert_eq!(status["interrupted_cycle"], Value::Null, "{what}");
        let run = repo.cycle("touch a").expect(0);
        assert!(!is_alive(pid), "{what}");
        let sentences = run.stdout.matches("session that died").count();
        assert_eq!(sentences, 1, "{what}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["improved"], "{what}");
        assert_eq!(repo.each("cycle"), ["1"], "{what}");
        let log = repo.git(&["log", "--format=%s", &format!("{start}..HEAD")]);
        assert!(!log.contains("revert"), "{what}: {log}");
        assert_sound(&repo);
    }
}

#[test]
fn a_cycle_whose_session_died_is_undone_and_recorded_and_the_next_number_follows() {
    let rows = [
        ("nothing", ""),
        ("another branch at the start", "git switch -qc work"),
        (
            "no branch any more",
            "git switch -q --detach; git branch -qD main",
        ),
        (
            "leftovers",
            "echo x >>tracked; touch new; rm folder/other; mkdir -p d; touch d/deep",
        ),
        (
            "staged leftovers",
            "echo x >>tracked; git add tracked; git rm -qr folder",
        ),
        (
            "commits",
            "touch a; git add a; git commit -qm one; git rm -qr folder; git commit -qm two; touch half",
        ),
        (
            "another branch",
            "git switch -qc work; touch a; git add a; git commit -qm one; echo x >>tracked",
        ),
        (
            "another branch without the start",
            "git switch -q --orphan alone; touch z; git add z; git commit -qm z",
        ),
        (
            "a detached HEAD",
            "git switch -q --detach; touch a; git add a; git commit -qm one",
        ),
        (
            "a merge in conflict",
            "git switch -qc side; echo side >tracked; git commit -qam side; git switch -q main; echo main >tracked; git commit -qam main; git merge side >/dev/null; touch loose",
        ),
        (
            "a rebase in conflict",
            "git switch -qc side; echo side >tracked; git commit -qam side; git switch -q main; echo main >tracked; git commit -qam main; git rebase side >/dev/null 2>&1",
        ),
        (
            "an amended start",
            "echo x >>tracked; git commit -q --amend -am other",
        ),
        (
            "a lock of git's",
            "touch a; git add a; touch .git/index.lock .git/HEAD.lock .git/refs/heads/main.lock",
        ),
        (
            "a mess in the ledger",
            "mkdir -p .agents/evolve; echo '{\"cycle\": 99' >>.agents/evolve/cycle-history.jsonl; echo no >.agents/evolve/fitness-0-baseline.json; git add -A; git commit -qm all",
        ),
    ];
    for (what, script) in rows {
        let repo = repo();
        let (start, content) = (repo.head(), repo.content("HEAD"));
        let pid = crash_after(&repo, script);
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert!(!is_alive(pid), "{what}");
        assert_eq!(
            repo.each("result"),
            ["interrupted", "improved"],
            "{what}: {}",
            run.stdout
        );
        assert_eq!(repo.each("cycle"), ["1", "2"], "{what}");
        let first = &repo.records()[0];
        let settled = first["commit_sha"].as_str().unwrap();
        assert_eq!(repo.content(settled), content, "{what}");
        assert_eq!(
            first["reverted_to"],
            if settled == start {
                Value::Null
            } else {
                start.as_str().into()
            },
            "{what}"
        );
        let sentences = run.stdout.matches("session that died").count();
        assert_eq!(sentences, 1, "{what}: {}", run.stdout);
        assert_eq!(repo.git(&["merge-base", &start, "HEAD"]), start, "{what}");
        assert_sound(&repo);
    }
}

#[test]
fn an_agent_that_outlived_its_session_and_its_supervisor_is_ended_before_its_work_is_undone() {
    let repo = repo();
    let content = repo.content("HEAD");
    let busy = "echo $$ >\"$OUT/pid\"; setsid sh -c 'echo $$ >\"$OUT/helper\"; sleep 300' & i=0; while :; do i=$((i+1)); echo $i >>tracked; git commit -qam $i; done";
    repo.agent_does(&[busy]);
    let child = repo.spawn_run(&[]);
    let pid = pid_in(&repo.out("pid"));
    pid_in(&repo.out("helper"));
    crash_both(&repo, child);
    let died = repo.head();
    wait_until("the agent goes on alone", || repo.head() != died);
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!is_alive(pid));
    assert_gone(&[repo.out("helper")]);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    let first = repo.records()[0]["commit_sha"].as_str().unwrap().to_owned();
    assert_eq!(repo.content(&first), content);
    assert_sound(&repo);
}

#[test]
fn a_cycle_whose_session_died_in_its_second_measurement_is_undone_too() {
    let repo = repo();
    fs::write(repo.out("sleep"), SLEEP).unwrap();
    repo.agent_does(&["touch a; git add a; git commit -qm a; cp \"$OUT/sleep\" \"$OUT/check\""]);
    let pid = crash_while_something_runs(&repo, &[]);
    fs::remove_file(repo.out("check")).unwrap();
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!is_alive(pid));
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_sound(&repo);
}

#[test]
fn a_users_file_that_the_agent_deleted_or_changed_is_put_back_after_a_crash() {
    let repo = repo();
    repo.write("notes", "mine\n");
    repo.write("more/notes", "mine too\n");
    repo.write("taken", "mine as well\n");
    crash_after(
        &repo,
        "rm -r notes more; echo theirs >more; git add -f taken; git commit -qm taken; echo x >>taken",
    );
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.read("notes"), "mine\n");
    assert_eq!(repo.read("more/notes"), "mine too\n");
    assert_eq!(repo.read("taken"), "mine as well\n");
    assert_eq!(repo.status(), ["?? more/", "?? notes", "?? taken"]);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_users_file_that_was_put_back_before_the_goals_were_measured_is_named_after_a_crash() {
    let repo = repo();
    repo.write("notes", "mine\n");
    fs::write(repo.out("sleep"), SLEEP).unwrap();
    repo.agent_does(&["touch a; echo theirs >notes; cp \"$OUT/sleep\" \"$OUT/check\""]);
    crash_while_something_runs(&repo, &[]);
    fs::remove_file(repo.out("check")).unwrap();
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    let notes = repo.each("notes").remove(0).to_string();
    for said in ["untracked files put back: notes", "quarantine"] {
        assert_eq!(notes.matches(said).count(), 1, "{notes}");
    }
}

#[test]
fn a_work_item_whose_session_died_is_worked_on_again() {
    let repo = repo();
    repo.write("a", "");
    repo.commit_all("a");
    repo.evolve(&["work", "add", "tidy up"]).expect(0);
    crash_after(&repo, "touch half");
    repo.agent_does(&["touch tidy"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "harvested"]);
    assert_eq!(
        repo.each("goal_id"),
        ["next-work:tidy up", "next-work:tidy up"]
    );
    let queue = repo.read(".agents/rpi/next-work.jsonl");
    assert!(
        !queue.contains("failed_at") && queue.contains("\"consumed\":true"),
        "{queue}"
    );
    assert_sound(&repo);
}

#[test]
fn a_dead_session_whose_agent_changed_nothing_leaves_neither_a_commit_nor_a_ref_of_an_undo() {
    let repo = repo();
    crash_after(&repo, "true");
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.records()[0]["reverted_to"], Value::Null);
    let subjects = repo.subjects();
    let is_undo = |subject: &String| subject.starts_with("revert");
    assert!(!subjects.iter().any(is_undo), "{subjects:?}");
    assert_eq!(repo.git(&["for-each-ref", "refs/evolve"]), "");
    assert_sound(&repo);
}

#[test]
fn the_second_cycle_of_a_session_that_died_is_settled_though_the_first_is_recorded() {
    let repo = repo();
    let sleeps = format!("touch half\n{SLEEP}");
    repo.agent_does(&["touch other", &sleeps]);
    crash_while_something_runs(&repo, &[]);
    assert_eq!(repo.records().len(), 1);
    repo.cycle("touch a").expect(0);
    assert_eq!(
        repo.each("result")[1..],
        ["interrupted".to_owned(), "improved".to_owned()]
    );
    assert_eq!(repo.each("cycle"), ["1", "2", "3"]);
    assert!(!repo.has("half"));
    assert_sound(&repo);
}

/// Makes of a dead session's cycle one whose undo was planned; returns the undo's commit.
fn plan_undo(repo: &TestRepo, start: &str) -> String {
    let tip = repo.head();
    let undo = repo.git(&[
        "commit-tree",
        "-p",
        &tip,
        "-m",
        "revert: evolve cycle 1 interrupted",
        &format!("{start}^{{tree}}"),
    ]);
    let mut planned = journal(repo);
    planned["phase"] = "undoing".into();
    // What is done afterwards stands for what that session did, and is later than its end.
    planned["writer"] = Value::Null;
    planned["plan"] = serde_json::json!({"tip": tip, "branch_was": tip, "undo": undo});
    write_journal(repo, &planned);
    undo
}

#[test]
fn an_undo_that_a_crash_cut_short_is_carried_on_from_wherever_it_was() {
    // How far the undo had come: commands that do what its first steps do.
    let rows = [
        ("planned", ""),
        (
            "the branch had moved",
            "git update-ref refs/heads/main $UNDO",
        ),
        (
            "some files were gone",
            "git update-ref refs/heads/main $UNDO; rm new; git update-index --force-remove new",
        ),
        (
            "files were written, the index was not",
            "git update-ref refs/heads/main $UNDO; rm new; echo text >tracked; touch .git/index.lock",
        ),
        ("all was done", "git reset -q --hard $UNDO"),
    ];
    for (what, steps) in rows {
        let repo = repo();
        repo.write(".git/info/exclude", "*.ign\n");
        repo.write("own.ign", "mine\n");
        let (start, content) = (repo.head(), repo.content("HEAD"));
        crash_after(
            &repo,
            "touch new; echo x >>tracked; rm -r folder own.ign; git add -A; git commit -qm work",
        );
        let undo = plan_undo(&repo, &start);
        let mut command = repo.command("sh");
        command.args(["-c", steps]).env("UNDO", &undo);
        assert!(command.status().unwrap().success(), "{what}");
        repo.agent_does(&["touch a"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"], "{what}");
        assert_eq!(repo.records()[0]["commit_sha"], undo.as_str(), "{what}");
        assert_eq!(repo.records()[0]["reverted_to"], start.as_str(), "{what}");
        assert_eq!(repo.content(&undo), content, "{what}");
        let notes = repo.records()[0]["notes"].to_string();
        let gone = "ignored files that are gone: own.ign";
        assert!(notes.contains(gone), "{what}: {notes}");
        assert_sound(&repo);
    }
}

#[test]
fn an_undo_that_a_crash_cut_short_is_left_where_somebody_committed_since_and_a_human_is_asked() {
    for has_moved in [false, true] {
        let repo = repo();
        let start = repo.head();
        repo.write("gone", "mine\n");
        repo.write("changed", "mine\n");
        crash_after(
            &repo,
            "rm gone; echo theirs >changed; touch new; git add new; git commit -qm work",
        );
        let undo = plan_undo(&repo, &start);
        if has_moved {
            repo.git(&["reset", "-q", "--hard", &undo]);
        }
        repo.write("mine", "");
        repo.commit_file("mine");
        let mine = repo.head();
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(11);
        assert_eq!(repo.calls(), 1);
        assert!(
            run.stdout.contains("somebody else committed after"),
            "{}",
            run.stdout
        );
        let record = repo.newest();
        assert_eq!(record["result"], "interrupted");
        assert_eq!(
            record["reason"],
            "somebody else committed after the session had died"
        );
        assert_eq!(record["reverted_to"], Value::Null);
        assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine);
        assert_eq!(repo.has("new"), !has_moved);
        // What is missing of the user's is back; what is there may be the version that he committed on.
        assert_eq!(repo.read("gone"), "mine\n");
        assert_eq!(repo.read("changed"), "theirs\n");
        assert!(!repo.private().join("journal.json").exists());
    }
}

#[test]
fn a_record_that_a_crash_cut_short_is_completed_once() {
    // What was already written: nothing, the line, the line and its commit.
    for (what, keeps_line, keeps_commit) in [
        ("nothing", false, false),
        ("the line", true, false),
        ("line and commit", true, true),
    ] {
        let repo = repo();
        crash_after(&repo, "touch a; git add a; git commit -qm a");
        let started = journal(&repo);
        // The same cycle, settled in good order, shows what a whole record is.
        let mut recording = started.clone();
        recording["phase"] = "recording".into();
        recording["record"]["result"] = "improved".into();
        recording["record"]["commit_sha"] = repo.head().into();
        recording["record"]["reason"] = Value::Null;
        let line = format!("{}\n", recording["record"]);
        if keeps_line {
            repo.write(".agents/evolve/cycle-history.jsonl", &line);
        }
        if keeps_commit {
            repo.git(&["add", "-f", ".agents"]);
            repo.git(&["commit", "-qm", "evolve: cycle 1 — a improved"]);
        }
        write_journal(&repo, &recording);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert!(
            run.stdout.contains("was completed"),
            "{what}: {}",
            run.stdout
        );
        assert_eq!(repo.each("result"), ["improved", "idle"], "{what}");
        assert_eq!(repo.each("cycle"), ["1", "2"], "{what}");
        assert!(repo.has("a"), "{what}");
        assert_sound(&repo);
    }
}

#[test]
fn a_record_is_not_recorded_anew_that_the_commit_of_its_cycle_or_one_with_a_later_record_brought() {
    let own = "evolve: cycle 1 — a improved\n\nEvolve-Cycle: 1\nEvolve-Result: improved";
    for (has_later, message) in [(false, own), (true, "squashed")] {
        let repo = repo();
        crash_after(&repo, "touch a; git add a; git commit -qm a");
        let mut recording = journal(&repo);
        recording["phase"] = "recording".into();
        recording["record"]["result"] = "improved".into();
        recording["record"]["commit_sha"] = repo.head().into();
        recording["record"]["reason"] = Value::Null;
        let mut later = recording["record"].clone();
        later["cycle"] = 2.into();
        let mut lines = format!("{}\n", recording["record"]);
        if has_later {
            lines.push_str(&format!("{later}\n"));
        }
        repo.write(".agents/evolve/cycle-history.jsonl", &lines);
        repo.git(&["add", "-f", ".agents"]);
        repo.git(&["commit", "-qm", message]);
        write_journal(&repo, &recording);
        repo.run(&["--max-cycles=1"]).expect(0);
        let history = repo.read(".agents/evolve/cycle-history.jsonl");
        assert!(history.starts_with(&lines), "{message}: {history}");
        assert!(!history.contains("recorded anew"), "{message}: {history}");
        assert_eq!(repo.records().len(), lines.lines().count() + 1, "{message}");
        assert_sound(&repo);
    }
}

#[test]
fn what_a_start_had_settled_that_died_while_it_recorded_that_is_recorded_once() {
    let repo = repo();
    let start = repo.head();
    crash_after(&repo, "touch half; git add half; git commit -qm half");
    let journal = repo.private().join("journal.json").display().to_string();
    let path = with_git(
        &repo,
        &format!(
            "if grep -q '\"phase\":\"recording\"' {journal}; then kill -9 {EVOLVE_PID}; exit 1; fi"
        ),
    );
    let agent = format!("--agent={}", repo.agent());
    repo.evolve_with(&[("PATH", &path)], &[&agent, "--max-cycles=1"])
        .expect(137);
    assert_eq!(repo.calls(), 1);
    let run = repo.cycle("touch a").expect(0);
    assert!(run.stdout.contains("was completed"), "{}", run.stdout);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.records()[0]["reverted_to"], start.as_str());
    assert!(!repo.has("half"));
    assert_sound(&repo);
}

#[test]
fn what_a_finished_cycle_left_is_not_lost_where_its_record_was_cut_short() {
    let repo = repo();
    repo.evolve(&["work", "add", "tidy up"]).expect(0);
    repo.cycle("touch a").expect(0);
    repo.agent_does(&[
        "touch tidy; echo 'a lesson' >\"$EVOLVE_LESSONS\"; echo '{\"title\": \"more\"}' >\"$EVOLVE_NEXT_WORK\"",
    ]);
    // After the record's commit git is told of the ledger's files; the loop is killed in that call.
    let path = with_git(
        &repo,
        &format!(
            "case \"$*\" in *'update-index --add '*) if grep -q recording .git/evolve/journal.json; then kill -9 {EVOLVE_PID}; exit 1; fi;; esac"
        ),
    );
    let agent = format!("--agent={}", repo.agent());
    repo.evolve_with(&[("PATH", &path)], &[&agent, "--max-cycles=1"])
        .expect(137);
    let journal = journal(&repo);
    repo.evolve(&["stop"]).expect(0);
    for what in ["after the commit", "before the commit"] {
        let run = repo.run(&[]).expect(0);
        assert!(
            run.stdout.contains("was completed"),
            "{what}: {}",
            run.stdout
        );
        assert_eq!(repo.each("result"), ["improved", "harvested"], "{what}");
        let queue = repo.read(".agents/rpi/next-work.jsonl");
        assert!(queue.contains("\"more\""), "{what}: {queue}");
        let tidy = queue.lines().find(|line| line.contains("tidy up")).unwrap();
        assert!(tidy.contains("\"consumed\":true"), "{what}: {tidy}");
        let lessons = repo.git(&["show", "HEAD:.agents/evolve/lessons.jsonl"]);
        assert!(lessons.contains("a lesson"), "{what}");
        assert_sound(&repo);
        repo.git(&["reset", "-q", "--soft", "HEAD~1"]);
        repo.git(&["read-tree", "HEAD"]);
        write_journal(&repo, &journal);
    }
}

#[test]
fn a_movement_of_the_branch_that_a_crash_cut_short_is_nobody_elses() {
    // A ref's movement is noted in its log before the lock file becomes the ref.
    for work_ref in [false, true] {
        let repo = repo();
        let content = repo.content("HEAD");
        crash_after(
            &repo,
            "touch half; git add half; git commit -qm half; touch more",
        );
        let session = journal(&repo)["session"].as_str().unwrap().to_owned();
        let head = repo.head();
        let next = repo.git(&["commit-tree", "-p", &head, "-m", "next", "HEAD^{tree}"]);
        let note =
            format!("{head} {next} T <t@example.invalid> 1770000000 +0000\tevolve-{session}-1\n");
        for log in ["logs/HEAD", "logs/refs/heads/main"] {
            let path = repo.path(".git").join(log);
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text + &note).unwrap();
        }
        let lock = match work_ref {
            false => "refs/heads/main.lock".to_owned(),
            true => format!("refs/evolve/{session}/1.lock"),
        };
        let lock = repo.path(".git").join(lock);
        fs::create_dir_all(lock.parent().unwrap()).unwrap();
        fs::write(&lock, format!("{next}\n")).unwrap();
        repo.agent_does(&["touch a"]);
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
        let settled = repo.records()[0]["commit_sha"].as_str().unwrap().to_owned();
        assert_eq!(repo.content(&settled), content);
        assert!(!lock.exists());
        assert_sound(&repo);
    }
}

#[test]
fn a_session_that_died_while_it_ended_leaves_nothing_in_the_way() {
    let repo = repo();
    repo.agent_does(&["touch a"]);
    let path = with_git(
        &repo,
        &format!(
            "if grep -q closing .git/evolve/journal.json; then kill -9 {EVOLVE_PID}; exit 1; fi"
        ),
    );
    let agent = format!("--agent={}", repo.agent());
    repo.evolve_with(&[("PATH", &path)], &[&agent, "--max-cycles=1"])
        .expect(137);
    let lock = repo.path(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    assert_ne!(repo.status(), Vec::<String>::new());
    repo.evolve(&["stop"]).expect(0);
    let run = repo.run(&[]).expect(0);
    assert!(
        run.stdout.contains("when all was recorded"),
        "{}",
        run.stdout
    );
    assert!(!lock.exists());
    assert_eq!(repo.each("result"), ["improved"]);
    assert_sound(&repo);
}

#[test]
fn what_the_sweep_of_a_session_that_died_changed_is_put_back_and_kept_aside() {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "evolve:\n  sweep: [{run: '. \"$OUT/look\"', severity: low, type: bug}]\ngoals:\n  - {id: a, description: file a exists, check: test -e a, weight: 5}\n",
    );
    repo.write("a", "");
    repo.write("tracked", "text\n");
    repo.commit_all("first");
    let files = repo.files();
    let look = format!("echo swept >>tracked; rm a; git add --all; touch .git/index.lock; {SLEEP}");
    fs::write(repo.out("look"), look).unwrap();
    repo.agent_does(&[]);
    let pid = crash_while_something_runs(&repo, &[]);
    fs::write(repo.out("look"), "").unwrap();
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!is_alive(pid));
    assert!(
        run.stdout.contains("died in the sweep of cycle 1") && run.stdout.contains("tracked → "),
        "{}",
        run.stdout
    );
    assert_eq!(repo.files(), files);
    assert_eq!(repo.quarantined()[&b"tracked"[..]].1, b"text\nswept\n");
    assert_eq!(repo.each("result"), ["idle"]);
    assert_sound(&repo);
}

#[test]
fn a_copy_of_a_repository_in_which_a_session_runs_is_settled_without_touching_that_session() {
    let repo = repo();
    repo.agent_does(&[&format!(
        "touch half; git add half; git commit -qm half; {SLEEP}"
    )]);
    let child = repo.spawn_run(&[]);
    let pid = pid_in(&repo.out("pid"));
    let copy = repo.copied();
    copy.agent_does(&["touch a"]);
    let run = copy.run(&["--max-cycles=1"]).expect(0);
    assert!(run.stdout.contains("session that died"), "{}", run.stdout);
    assert_eq!(copy.each("result"), ["interrupted", "improved"]);
    assert_sound(&copy);
    assert!(is_alive(pid), "it was ended from the copy");
    signal(&child, "TERM");
    finish(child).expect(143);
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_sound(&repo);
}

#[test]
fn an_index_that_names_objects_which_are_nowhere_is_made_anew() {
    // So leaves it a machine that went down, or a git that could not write any more.
    let lose = "id=$(git rev-parse :$1); rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)";
    let repo = repo();
    fs::write(repo.out("lose"), lose).unwrap();
    repo.cycle(
        "echo new >new; echo more >>tracked; touch a; git add --all; sh \"$OUT/lose\" new; sh \"$OUT/lose\" tracked",
    )
    .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.git(&["show", "HEAD:new"]), "new");
    assert_eq!(repo.git(&["show", "HEAD:tracked"]), "text\nmore");
    assert_sound(&repo);
}

#[test]
fn a_lock_that_a_dead_agent_left_on_any_ref_is_removed() {
    let repo = repo();
    crash_after(
        &repo,
        "touch half .git/refs/heads/side.lock .git/packed-refs.lock .git/config.lock; mkdir -p .git/refs/tags/deep; touch .git/refs/tags/deep/one.lock",
    );
    let older = repo.path(".git/refs/heads/older.lock");
    fs::write(&older, "").unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    let file = fs::File::options().write(true).open(&older).unwrap();
    file.set_modified(long_ago).unwrap();
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    for lock in [
        "refs/heads/side",
        "packed-refs",
        "config",
        "refs/tags/deep/one",
    ] {
        assert!(!repo.path(&format!(".git/{lock}.lock")).exists(), "{lock}");
    }
    assert!(older.exists(), "it is somebody else's");
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_lock_is_nobodys_to_remove_while_a_git_is_at_work() {
    let repo = repo();
    crash_after(&repo, "touch half");
    // As `git commit -a` does while its editor is open.
    let mut command = repo.command("git");
    command
        .args(["commit", "-aqm", "mine"])
        .env("GIT_EDITOR", "sh");
    command.args(["--edit", "--allow-empty"]);
    let editor = repo.out("editor");
    fs::write(&editor, "echo $$ >\"$OUT/editor-pid\"; exec sleep 300").unwrap();
    command.env("GIT_EDITOR", format!("sh {}", editor.display()));
    let mut user = command.spawn().unwrap();
    let editor = pid_in(&repo.out("editor-pid"));
    let lock = repo.path(".git/index.lock");
    assert!(lock.exists());
    let run = repo.run(&[]).expect(3);
    assert!(
        run.stderr.contains("another git is at work"),
        "{}",
        run.stderr
    );
    assert!(lock.exists() && repo.has("half"));
    Command::new("kill")
        .args(["-9", &editor.to_string()])
        .status()
        .unwrap();
    user.wait().unwrap();
    let _ = fs::remove_file(&lock);
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn temporary_files_of_the_dead_are_removed_and_those_of_the_living_are_not() {
    let repo = repo();
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let name = |pid: u32| format!(".agents/evolve/.session-summary.md.{pid:x}.tmp");
    let rows = [
        (name(dead.id()), false),
        (name(std::process::id()), true),
        (".agents/evolve/.mine.tmp".to_owned(), true),
        (".agents/evolve/notes".to_owned(), true),
    ];
    for (name, _) in &rows {
        repo.write(name, "half");
    }
    repo.cycle("touch a").expect(0);
    for (name, stays) in &rows {
        assert_eq!(repo.has(name), *stays, "{name}");
    }
}

#[test]
fn commits_that_somebody_made_after_a_crash_are_left_alone_and_a_human_is_asked() {
    let repo = repo();
    crash_after(&repo, "touch half; git add half; git commit -qm half");
    repo.write("mine", "");
    repo.git(&["add", "mine"]);
    repo.git(&["commit", "-qm", "my own"]);
    let mine = repo.head();
    repo.agent_does(&["touch a"]);
    let run = repo.run(&[]).expect(11);
    assert_eq!(repo.calls(), 1);
    assert!(
        run.stdout.contains("somebody else committed"),
        "{}",
        run.stdout
    );
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine);
    assert!(repo.has("mine") && repo.has("half"));
    assert_sound(&repo);
    // Asked once; the next start is the human's word.
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_commit_that_somebody_made_after_a_crash_is_theirs_even_where_the_agent_made_none() {
    let repo = repo();
    crash_after(&repo, "touch half");
    repo.write("mine", "");
    repo.git(&["add", "mine"]);
    repo.git(&["commit", "-qm", "my own"]);
    let mine = repo.head();
    repo.agent_does(&["touch a"]);
    repo.run(&[]).expect(11);
    assert_eq!(repo.calls(), 1);
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(repo.git(&["merge-base", &mine, "HEAD"]), mine);
    assert!(repo.has("mine") && repo.has("half"));
}

#[test]
fn whoever_takes_the_work_of_a_dead_session_back_himself_is_left_alone_and_the_history_agrees() {
    for takes_back in [
        "git revert --no-edit HEAD",
        "git reset -q --hard HEAD~1; git commit -q --allow-empty -m own",
        "git revert --no-edit HEAD; touch later; git add later; git commit -qm later",
    ] {
        let repo = repo();
        crash_after(&repo, "touch half; git add half; git commit -qm half");
        output(repo.command("sh").args(["-c", takes_back]));
        let theirs = repo.head();
        repo.agent_does(&["touch a"]);
        let run = repo.run(&[]).expect(11);
        assert!(!run.stdout.contains("was undone"), "{}", run.stdout);
        let record = repo.newest();
        assert_eq!(record["result"], "interrupted", "{takes_back}");
        assert_eq!(record["reverted_to"], Value::Null, "{takes_back}");
        assert_eq!(record["commit_sha"], theirs, "{takes_back}");
        repo.evolve(&["audit"]).expect(0);
        repo.run(&["--max-cycles=1"]).expect(0);
        repo.evolve(&["audit"]).expect(0);
        assert_sound(&repo);
    }
}

#[test]
fn a_journal_that_cannot_be_understood_is_refused_with_the_way_out() {
    for garbage in ["", "{", "[]", "{\"format\": 1}", "\u{0}\u{0}\u{0}"] {
        let repo = repo();
        repo.agent_does(&["touch a"]);
        fs::create_dir_all(repo.private()).unwrap();
        let path = repo.private().join("journal.json");
        fs::write(&path, garbage).unwrap();
        let start = repo.head();
        let run = repo.run(&[]).expect(3);
        assert!(run.stderr.contains("journal.json"), "{}", run.stderr);
        assert!(run.stderr.contains("remove that file"), "{}", run.stderr);
        assert_eq!((repo.head(), repo.calls()), (start, 0), "{garbage}");
        assert_eq!(fs::read_to_string(&path).unwrap(), garbage);
        repo.evolve(&["status"]).expect(0);
        fs::remove_file(&path).unwrap();
        repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"]);
    }
}

#[test]
fn a_dead_session_is_told_of_and_settled_by_nobody_but_the_loop() {
    let repo = repo();
    let pid = crash_after(&repo, "touch half; git add half; git commit -qm half");
    let head = repo.head();
    let status = repo.evolve(&["status", "--json"]).expect(0);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["interrupted_cycle"], 1);
    let run = repo.evolve(&["--dry-run"]).expect(0);
    assert!(
        run.stdout.contains("cycle 1") && run.stdout.contains("unsettled"),
        "{}",
        run.stdout
    );
    let shown = repo.evolve(&["status"]).expect(0);
    for said in [run.stdout, shown.stdout] {
        let words = "and tells what you changed here since from it";
        assert!(said.contains(words), "{said}");
    }
    repo.evolve(&["measure"]).expect(0);
    assert_eq!(repo.head(), head);
    // A stop file does not keep the half-done cycle from being undone.
    repo.evolve(&["stop"]).expect(0);
    repo.run(&[]).expect(0);
    assert!(!is_alive(pid) && !repo.has("half"));
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_sound(&repo);
}

#[test]
fn numbers_strikes_and_queue_go_on_from_the_files_alone() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 1)]);
    for cycle in 1..=3 {
        repo.cycle(&format!("touch try-{cycle}")).expect(0);
    }
    assert_eq!(repo.each("goal_id"), ["a", "a", "a"]);
    // A clone has nothing but the files: no private directory, no reflog.
    let clone = TestRepo::empty();
    clone.git(&[
        "pull",
        "--quiet",
        &repo.root().display().to_string(),
        "main",
    ]);
    clone.evolve(&["work", "add", "later"]).expect(0);
    clone.cycle("touch b").expect(0);
    assert_eq!(clone.each("cycle"), ["1", "2", "3", "4"]);
    // The heavier goal is struck.
    assert_eq!(clone.each("goal_id"), ["a", "a", "a", "b"]);
    let run = clone.run(&[]).expect(11);
    assert!(run.stdout.contains("a human is needed"), "{}", run.stdout);
    clone.write("a", "");
    clone.commit_all("a");
    clone.cycle("touch later").expect(0);
    assert_eq!(clone.newest()["goal_id"], "next-work:later");
    assert_eq!(clone.newest()["cycle"], 5);
}

#[test]
fn a_second_loop_gives_way_and_everything_that_only_looks_works_beside_the_first() {
    let repo = repo();
    repo.agent_does(&[
        "touch \"$OUT/here\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; touch a",
    ]);
    let first = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("here");
    let everything = || {
        let listed = Command::new("find")
            .args([
                ".",
                "-path",
                "./.git/evolve/lock",
                "-prune",
                "-o",
                "-printf",
                "%p %s %T@\\n",
            ])
            .current_dir(repo.root())
            .output()
            .unwrap();
        String::from_utf8(listed.stdout).unwrap()
    };
    let before = everything();
    let run = repo.run(&["--max-cycles=1"]).expect(5);
    assert!(
        run.stderr.contains(&first.id().to_string()),
        "{}",
        run.stderr
    );
    for arguments in [
        &["measure"][..],
        &["measure", "a", "--json"],
        &["validate"],
        &["status"],
        &["status", "--json"],
        &["history"],
        &["--dry-run"],
        &["work", "list"],
    ] {
        repo.evolve(arguments).expect(0);
    }
    assert_eq!(everything(), before);
    let status = repo.evolve(&["status", "--json"]).expect(0);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["session"]["pid"], first.id());
    fs::write(repo.out("go"), "").unwrap();
    finish(first).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.calls(), 1);
    let status = repo.evolve(&["status", "--json"]).expect(0);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["session"], Value::Null);
}

#[test]
fn an_agent_may_measure_in_mid_cycle() {
    let repo = repo();
    let evolve = env!("CARGO_BIN_EXE_evolve");
    let script = format!(
        "{evolve} measure a --gate >\"$OUT/before\"; echo $? >>\"$OUT/before\"; touch a; {evolve} measure a --gate >\"$OUT/after\"; echo $? >>\"$OUT/after\""
    );
    repo.cycle(&script).expect(0);
    assert!(
        repo.said("before").ends_with("10\n"),
        "{}",
        repo.said("before")
    );
    assert!(
        repo.said("after").ends_with("\n0\n"),
        "{}",
        repo.said("after")
    );
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_lock_file_that_git_left_before_the_session_is_refused_before_an_agent_is_paid() {
    let repo = repo();
    repo.agent_does(&["touch a"]);
    let lock = repo.path(".git/index.lock");
    fs::write(&lock, "").unwrap();
    let run = repo.run(&[]).expect(3);
    assert!(run.stderr.contains("index.lock"), "{}", run.stderr);
    assert_eq!(repo.calls(), 0);
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_lock_that_the_dead_left_is_no_lock() {
    let repo = repo();
    fs::create_dir_all(repo.private()).unwrap();
    fs::write(repo.private().join("lock"), "1 0 2026-01-01T00:00:00Z\n").unwrap();
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_session_interrupted_by_signal_needs_no_recovery() {
    let repo = repo();
    repo.agent_does(&[SLEEP, "touch a"]);
    let child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    signal(&child, "TERM");
    finish(child).expect(143);
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!run.stdout.contains("died"), "{}", run.stdout);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}
