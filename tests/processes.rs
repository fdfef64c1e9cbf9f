//! Nothing that a check, an agent or evolve's own git starts outlives it, whoever is killed; and what the supervising process
//! may cost in safety if it is itself attacked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::harness::{
    Run, TestRepo, assert_gone, files_below, finish, is_alive, pid_in, signal, signal_pid,
    wait_until,
};

/// Says that it is there, and would sleep far longer than any test may take.
const SLEEP: &str = "echo $$ >\"$OUT/pid\"; sleep 300";

/// For an agent's script: the pids of `evolve` and of its supervising process, as the lock names them.
const PIDS: &str = "evolve=$(head -n 1 .git/evolve/lock | cut -d' ' -f1); supervisor=$(tail -n 1 .git/evolve/lock | cut -d' ' -f1)";

/// A repository that wants the file `a`, with a file that an agent may break.
fn repo() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: d, check: test -e a, weight: 5}\n  - {id: whole, description: d, check: \"[ $(cat tracked) = text ]\", weight: 5}\n",
    );
    repo.write("tracked", "text\n");
    repo.commit_all("first");
    repo
}

/// Every living process that has this in its environment or command line.
fn processes_with(word: &str) -> Vec<u32> {
    let has = |pid: &u32| {
        ["environ", "cmdline"].iter().any(|file| {
            let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            text.windows(word.len()).any(|part| part == word.as_bytes())
        })
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let own = std::process::id();
    pids.filter(|pid| *pid != own && has(pid) && is_alive(*pid))
        .collect()
}

/// Kills the program so that it can do nothing more.
fn crash(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Says whether nobody holds the session's lock.
fn is_lock_free(repo: &TestRepo) -> bool {
    let lock = fs::File::open(repo.private().join("lock")).unwrap();
    lock.try_lock().is_ok()
}

/// Puts a script in front of git; returns the PATH that finds it.
fn with_git(repo: &TestRepo, script: &str) -> String {
    let git = which::which("git").unwrap();
    let folder = repo.out("bin");
    fs::create_dir_all(&folder).unwrap();
    let shim = folder.join("git");
    let text = format!("#!/bin/sh\n{script}\nexec {} \"$@\"\n", git.display());
    fs::write(&shim, text).unwrap();
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// A shell that waits, in mid-undo only, until `$OUT/go` is there.
const HOLD_UNDO: &str = "if grep -q '\"phase\":\"undoing\"' .git/evolve/journal.json 2>/dev/null && [ ! -e \"$OUT/go\" ]; then echo $$ >\"$OUT/undoing\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; fi";

/// For an agent's script: starts many that are deaf and hard to find, so that their end takes a moment; `$OUT/all` is there
/// when all are.
const BROOD: &str = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh -c \"trap '' TERM HUP; echo \\$\\$ >'$OUT/brood$i'; while :; do sleep 1; done\" & done; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do until [ -s \"$OUT/brood$i\" ]; do sleep 0.01; done; done; echo $$ >\"$OUT/all\"";

/// The files with the pids of the brood.
fn brood(repo: &TestRepo) -> Vec<std::path::PathBuf> {
    let files = (1..=20).map(|number| repo.out(&format!("brood{number}")));
    files.collect()
}

#[test]
fn when_evolve_is_killed_everything_ends_and_the_lock_is_free_only_then() {
    let repo = repo();
    let script = format!("{BROOD}; echo x >>tracked; {SLEEP}");
    repo.agent_does(&[&script]);
    let child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    crash(child);
    wait_until("the lock is free", || is_lock_free(&repo));
    assert_gone(&brood(&repo));
    assert_gone(&[repo.out("pid")]);
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.read("tracked"), "text\n");
}

#[test]
fn when_evolve_is_killed_while_its_supervising_process_is_stopped_everything_ends_all_the_same() {
    let repo = repo();
    let script = format!(
        "{BROOD}; echo x >>tracked; {PIDS}; kill -STOP $supervisor; kill -9 $evolve; {SLEEP}"
    );
    repo.agent_does(&[&script]);
    let child = repo.spawn_run(&[]);
    finish(child).expect(137);
    wait_until("the lock is free", || is_lock_free(&repo));
    assert_gone(&brood(&repo));
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.read("tracked"), "text\n");
}

#[test]
fn whoever_can_open_no_more_files_ends_everything_all_the_same() {
    for (whom, killed) in [("supervisor", "evolve"), ("evolve", "supervisor")] {
        let repo = repo();
        repo.agent_does(&[&format!(
            "{BROOD}; {PIDS}; prlimit --pid ${whom} --nofile=3 && kill -9 ${killed}; {SLEEP}"
        )]);
        let run = finish(repo.spawn_run(&[]));
        assert_ne!(run.code, 0, "{}", run.stdout);
        wait_until("the lock is free", || is_lock_free(&repo));
        assert_gone(&brood(&repo));
    }
}

#[test]
fn the_next_evolve_waits_for_the_remains_of_a_dead_one() {
    let repo = repo();
    let looks = "for pid in $(cat \"$OUT\"/brood*); do if kill -0 $pid; then touch \"$OUT/overlap\"; fi; done; touch a";
    let script = format!("{BROOD}; echo x >>tracked; {SLEEP}");
    repo.agent_does(&[&script, looks]);
    let child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    crash(child);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!repo.out("overlap").exists(), "it did not wait");
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(repo.read("tracked"), "text\n");
}

#[test]
fn an_agent_that_stops_its_supervisor_has_no_more_time_for_that() {
    for loop_around in ["", "while :; do kill -STOP $supervisor; done &"] {
        let repo = TestRepo::empty().with_out();
        let agent = repo.out("script").display().to_string();
        let script = format!("touch loose; {PIDS}; kill -STOP $supervisor; {loop_around}\n{SLEEP}");
        fs::write(&agent, script).unwrap();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve: {{agent: {{command: [sh, {agent}], timeout: 1}}}}\ngoals:\n  - {{id: a, description: d, check: test -e a, weight: 5}}\n"),
        );
        repo.commit_all("goals");
        let run = repo.evolve(&["--max-cycles=1"]);
        assert_gone(&[repo.out("pid")]);
        // One that is stopped again and again may be given up.
        let is_lost = run.stdout.contains("supervises");
        assert!(!is_lost || !loop_around.is_empty(), "{}", run.stdout);
        assert_eq!(run.code, i32::from(is_lost), "{}", run.stderr);
        let wanted = ["unchanged", "interrupted"][usize::from(is_lost)];
        assert_eq!(repo.each("result"), [wanted], "{loop_around}");
        assert_eq!(repo.has("loose"), !is_lost, "{loop_around}");
    }
}

#[test]
fn an_agent_that_kills_its_supervisor_is_ended_and_undone_and_the_session_ends() {
    let repo = repo();
    let script = format!(
        "echo x >>tracked; setsid sh -c 'echo $$ >\"$OUT/other\"; sleep 300' & until [ -s \"$OUT/other\" ]; do sleep 0.02; done; {PIDS}; echo $supervisor >\"$OUT/supervisor\"; kill -9 $supervisor; {SLEEP}"
    );
    repo.agent_does(&[&script, "touch a"]);
    let run = repo.run(&[]).expect(1);
    assert!(run.stdout.contains("supervises"), "{}", run.stdout);
    assert_gone(&["other", "supervisor"].map(|name| repo.out(name)));
    assert_eq!(repo.each("result"), ["interrupted"]);
    let reason = repo.newest()["reason"].to_string();
    assert!(reason.contains("supervises"), "{reason}");
    assert_eq!(repo.read("tracked"), "text\n");
    assert_eq!(repo.status(), Vec::<String>::new());
    // Nothing is in the way of the next.
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_check_that_kills_its_supervisor_is_no_measurement() {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: a, description: d, check: \"kill -9 $PPID\", weight: 5}\n  - {id: b, description: d, check: \"echo $$ >$OUT/pid; sleep 300\", weight: 5}\n",
    );
    repo.commit_all("first");
    let run = repo.evolve(&["measure", "--jobs=2"]).expect(1);
    assert!(run.stderr.contains("supervises"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    // It may have been ended before it had written its pid.
    if fs::read_to_string(repo.out("pid")).is_ok_and(|pid| pid.ends_with('\n')) {
        assert_gone(&[repo.out("pid")]);
    }
}

#[test]
fn an_agent_that_asks_evolve_to_end_is_a_signal_like_any_other() {
    let repo = repo();
    repo.agent_does(&[&format!(
        "echo x >>tracked; {PIDS}; kill -TERM $evolve; {SLEEP}"
    )]);
    repo.run(&[]).expect(143);
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_eq!(repo.read("tracked"), "text\n");
}

#[test]
fn a_process_that_hops_from_pid_to_pid_is_caught() {
    let repo = repo();
    let hop = "trap '' TERM HUP; echo x >>\"$OUT/hops\"; [ -e \"$OUT/enough\" ] || { setsid sh \"$OUT/hop\" & }";
    fs::write(repo.out("hop"), hop).unwrap();
    repo.cycle("touch a; env -i OUT=\"$OUT\" PATH=\"$PATH\" setsid sh \"$OUT/hop\" & until [ -s \"$OUT/hops\" ]; do sleep 0.01; done; touch a")
        .expect(0);
    let hops = repo.said("hops").len();
    let left = processes_with(repo.out("hop").to_str().unwrap());
    std::thread::sleep(std::time::Duration::from_millis(100));
    let later = repo.said("hops").len();
    fs::write(repo.out("enough"), "").unwrap();
    assert_eq!((left, later), (Vec::new(), hops));
}

#[test]
fn a_clock_that_jumps_between_sessions_changes_neither_order_nor_bounds() {
    let mut repo = repo();
    for (cycle, clock) in [
        (1, "2026-02-03T04:05:06Z"),
        (2, "2026-02-02T04:05:06Z"),
        (3, "2026-02-04T04:05:06Z"),
    ] {
        repo.env.retain(|(name, _)| name != "EVOLVE_CLOCK");
        repo.env.push(("EVOLVE_CLOCK".to_owned(), clock.to_owned()));
        repo.cycle(&format!("echo {cycle} >file")).expect(0);
    }
    assert_eq!(repo.each("cycle"), ["1", "2", "3"]);
}

#[test]
fn a_tree_that_was_stopped_and_goes_on_has_lost_nothing() {
    let repo = repo();
    repo.agent_does(&[
        "echo $$ >\"$OUT/pid\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; touch a",
    ]);
    let child = repo.spawn_run(&["--max-cycles=1"]);
    let pid = pid_in(&repo.out("pid"));
    let all = [pid, repo.supervisor(), child.id()];
    for pid in all {
        signal_pid(pid, "STOP");
    }
    fs::write(repo.out("go"), "").unwrap();
    for pid in all.into_iter().rev() {
        signal_pid(pid, "CONT");
    }
    finish(child).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn agents_that_cannot_be_executed_are_told_before_a_cycle_is_begun() {
    for name in ["./folder", "./file"] {
        let repo = repo();
        match name {
            "./folder" => fs::create_dir(repo.path(name)).unwrap(),
            _ => fs::write(repo.path(name), "no program").unwrap(),
        }
        fs::write(repo.path(".git/info/exclude"), &name[1..]).unwrap();
        let run = repo.evolve(&[&format!("--agent={name}")]).expect(4);
        assert!(run.stderr.contains(name), "{}", run.stderr);
        assert!(!repo.has(".agents"), "{name}");
    }
    // What only the kernel can tell makes no record.
    let repo = repo();
    repo.write("script", "#!/no/such/interpreter\n");
    fs::set_permissions(repo.path("script"), fs::Permissions::from_mode(0o755)).unwrap();
    repo.commit_all("script");
    repo.evolve(&["--agent=./script"]).expect(4);
    assert_eq!(repo.records().len(), 0);
}

#[test]
fn an_exit_code_that_means_cannot_execute_counts_wherever_it_comes_from() {
    let repo = TestRepo::empty().with_out();
    let rows = [
        ("pipe", "true | no-such-program", "skip"),
        ("wrapped", "sh -c no-such-program", "skip"),
        ("wrapper", "sh -c 'no-such-program || exit 1'", "fail"),
        ("middle", "no-such-program | cat", "pass"),
    ];
    let goals: String = rows
        .iter()
        .map(|(id, check, _)| {
            format!("  - {{id: {id}, description: d, check: \"{check}\", weight: 5}}\n")
        })
        .collect();
    repo.commit_goals(&goals);
    let run = repo.evolve(&["measure", "--json"]).expect(0);
    let snapshot: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    for (index, (id, _, wanted)) in rows.iter().enumerate() {
        assert_eq!(snapshot["goals"][index]["result"], *wanted, "{id}");
    }
}

/// Starts a loop in a group of its own, as a terminal does, and brings it to the middle of an undo.
fn come_to_undo(repo: &TestRepo) -> Child {
    come_to_undo_of(repo, &["echo broken >tracked; touch a"])
}

/// The same with what agents do.
fn come_to_undo_of(repo: &TestRepo, scripts: &[&str]) -> Child {
    repo.agent_does(scripts);
    let path = with_git(repo, HOLD_UNDO);
    let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
    command
        .arg(format!("--agent={}", repo.agent()))
        .env("PATH", path)
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    pid_in(&repo.out("undoing"));
    child
}

fn signal_group(child: &Child, name: &str) {
    let group = format!("-{}", child.id());
    let status = Command::new("kill")
        .args([&format!("-{name}"), "--", &group])
        .status();
    assert!(status.unwrap().success());
}

#[test]
fn a_signal_to_the_whole_group_in_mid_undo_lets_the_undo_finish() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let repo = repo();
        let content = repo.content("HEAD");
        let child = come_to_undo(&repo);
        signal_group(&child, name);
        fs::write(repo.out("go"), "").unwrap();
        let run: Run = finish(child).expect(code);
        // Nobody measured what fails without the change, so it is not blamed.
        let results = repo.each("result");
        assert_eq!(results, ["interrupted"], "{name}: {}", run.stderr);
        assert_eq!(repo.content("HEAD"), content, "{name}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{name}");
        assert!(!repo.private().join("journal.json").exists(), "{name}");
    }
}

#[test]
fn what_a_person_saved_twice_while_goals_were_measured_is_not_lost_where_the_undo_is_killed() {
    let saves = "for n in 1 2; do test -e $OUT/saved$n || { echo saved $n >notes; touch $OUT/saved$n; break; }; done";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: b, description: d, check: '{saves}; test -e b', weight: 9}}
  - {{id: a, description: d, check: test -e a, weight: 5}}
  - {{id: t, description: d, check: '! grep -q broken tracked', weight: 5}}\n"
    ))
    .with_out();
    repo.write("tracked", "begun\n");
    repo.commit_all("tracked");
    repo.write("notes", "first\n");
    let bad = "echo broken >tracked; touch a; echo agents >notes";
    let child = come_to_undo_of(&repo, &["touch b", bad]);
    let git = pid_in(&repo.out("undoing"));
    crash(child);
    fs::write(repo.out("go"), "").unwrap();
    wait_until("the lock is free", || is_lock_free(&repo));
    assert!(!is_alive(git));
    repo.cycle("true").expect(0);
    assert_eq!(repo.each("result")[..2], ["improved", "interrupted"]);
    let kept = files_below(&repo.private().join("quarantine"));
    let is_saved = |(_, bytes): &(u32, Vec<u8>)| bytes == b"saved 2\n";
    assert!(kept.values().any(is_saved), "{kept:?}");
}

#[test]
fn a_second_signal_leaves_even_where_git_hangs_and_takes_the_git_along() {
    let repo = repo();
    let content = repo.content("HEAD");
    let child = come_to_undo(&repo);
    let git = pid_in(&repo.out("undoing"));
    signal(&child, "INT");
    std::thread::sleep(std::time::Duration::from_millis(200));
    signal(&child, "INT");
    finish(child).expect(130);
    assert!(!is_alive(git));
    assert!(is_lock_free(&repo));
    assert!(repo.private().join("journal.json").exists());
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    let settled = repo.records()[0]["commit_sha"].to_string();
    assert_eq!(repo.content(settled.trim_matches('"')), content);
}

#[test]
fn a_filter_that_hangs_or_stays_does_not_outlive_evolve() {
    let repo = repo();
    repo.write(".gitattributes", "tracked filter=slow\n");
    repo.commit_all("attributes");
    let filter = repo.out("filter");
    fs::write(&filter, "#!/bin/sh\nenv -i setsid sh -c \"echo \\$\\$ >'$OUT/stays'; exec sleep 300\" >/dev/null 2>&1 &\nuntil [ -s \"$OUT/stays\" ]; do sleep 0.02; done\n[ ! -e \"$OUT/hang\" ] || { echo $$ >\"$OUT/hangs\"; exec sleep 300; }\ncat\n").unwrap();
    let smudge = format!("sh {}", filter.display());
    repo.git(&["config", "filter.slow.smudge", &smudge]);
    // What a filter that is ended wrote is no file then, whichever of the processes ends first.
    repo.git(&["config", "filter.slow.required", "true"]);
    repo.git(&["config", "filter.slow.clean", "cat"]);
    fs::write(repo.out("hang"), "").unwrap();
    repo.agent_does(&["echo broken >tracked; touch a"]);
    let child = repo.spawn_run(&[]);
    let hangs = pid_in(&repo.out("hangs"));
    crash(child);
    wait_until("the lock is free", || is_lock_free(&repo));
    assert!(!is_alive(hangs));
    assert_gone(&[repo.out("stays")]);
    fs::remove_file(repo.out("hang")).unwrap();
    fs::remove_file(repo.out("stays")).unwrap();
    repo.cycle("touch a").expect(0);
    assert_gone(&[repo.out("stays")]);
    assert_eq!(repo.read("tracked"), "text\n");
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn an_ordinary_user_s_agent_cannot_read_the_environment_of_evolve_and_nothing_outlives_it() {
    let repo = repo();
    repo.agent_does(&[&format!(
        "{PIDS}; cat /proc/$evolve/environ /proc/$supervisor/environ >\"$OUT/seen\" 2>/dev/null; setsid sh -c 'echo $$ >\"$OUT/other\"; sleep 300' & until [ -s \"$OUT/other\" ]; do sleep 0.02; done; touch a"
    )]);
    let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
    let mut command = match is_root {
        true => {
            let folder = repo.root().parent().unwrap().display().to_string();
            let owned = Command::new("chown")
                .args(["-R", "65534:65534", &folder])
                .status();
            assert!(owned.unwrap().success());
            let mut command = repo.command("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(env!("CARGO_BIN_EXE_evolve"));
            command
        }
        false => repo.command(env!("CARGO_BIN_EXE_evolve")),
    };
    command
        .arg(format!("--agent={}", repo.agent()))
        .args(["--max-cycles=1", "--jobs=2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command.spawn().unwrap()).expect(0);
    assert_eq!(repo.said("seen"), "");
    assert_gone(&[repo.out("other")]);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn the_supervising_process_is_none_to_be_called_and_none_that_stays() {
    let repo = repo();
    let run = repo.evolve(&["__supervise"]).expect(2);
    assert!(run.stderr.contains("for evolve itself"), "{}", run.stderr);
    repo.cycle("tail -n 1 .git/evolve/lock | cut -d' ' -f1 >\"$OUT/pid\"; touch a")
        .expect(0);
    assert_gone(&[repo.out("pid")]);
    assert!(is_lock_free(&repo));
}
