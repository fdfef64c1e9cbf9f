//! What ends a session: KILL, STOP, signals, limits, an agent's own limits or absence; and what each ending leaves.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::harness::{Run, TestRepo, assert_gone, finish, is_alive, pid_in, signal, wait_until};

/// Says that it is there, and would sleep far longer than any test may take.
const SLEEP: &str = "echo $$ >\"$OUT/pid\"; sleep 300";
/// The work of an agent that is not done yet.
const HALF: &str = "touch half; git add half; git commit -qm half; echo x >>tracked; touch loose";

/// A repository with goal `a`, whose check first runs the script `$OUT/check`, if there is one.
fn repo() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - id: a\n    description: file a exists\n    weight: 5\n    check: |\n      if [ -e \"$OUT/check\" ]; then . \"$OUT/check\"; fi; test -e a\n",
    );
    repo.write("tracked", "text\n");
    repo.commit_all("first");
    repo
}

/// The moments at which a session can be ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Baseline,
    FirstChecks,
    Agent,
    SecondChecks,
    Rest,
}

const MOMENTS: [Moment; 5] = [
    Moment::Baseline,
    Moment::FirstChecks,
    Moment::Agent,
    Moment::SecondChecks,
    Moment::Rest,
];

impl Moment {
    /// Whether an agent had been started, so that there is something to undo and to record.
    fn is_after_agent(self) -> bool {
        matches!(self, Moment::Agent | Moment::SecondChecks)
    }
}

/// Starts a session and waits until it has come to this moment.
fn come_to(repo: &TestRepo, moment: Moment, more: &[&str]) -> Child {
    come_to_with(repo, moment, SLEEP, more)
}

fn come_to_with(repo: &TestRepo, moment: Moment, sleep: &str, more: &[&str]) -> Child {
    let mut arguments = more.to_vec();
    match moment {
        Moment::Baseline => fs::write(repo.out("check"), sleep).unwrap(),
        Moment::FirstChecks => {
            fs::write(repo.out("check"), sleep).unwrap();
            arguments.push("--skip-baseline");
        }
        Moment::Agent => repo.agent_does(&[&format!("{HALF}; {sleep}")]),
        Moment::SecondChecks => {
            fs::write(repo.out("sleep"), sleep).unwrap();
            repo.agent_does(&[&format!(
                "touch a; {HALF}; cp \"$OUT/sleep\" \"$OUT/check\""
            )]);
        }
        Moment::Rest => {
            repo.write("a", "");
            repo.commit_all("a");
            arguments.push("--idle-wait=300s");
        }
    }
    let child = repo.spawn_run(&arguments);
    match moment {
        Moment::Rest => wait_until("the first idle cycle", || {
            let subjects = repo.subjects();
            let is_cycle = |subject: &String| subject.starts_with("evolve: cycle 1");
            subjects.iter().any(is_cycle) && !repo.private().join("journal.json").exists()
        }),
        _ => {
            pid_in(&repo.out("pid"));
        }
    }
    child
}

/// What every ended session leaves: nothing alive, the content it began with, a clean tree, each cycle recorded once.
#[track_caller]
fn assert_settled(repo: &TestRepo, moment: Moment, content: &[String]) {
    if moment != Moment::Rest {
        assert_gone(&[repo.out("pid")]);
    }
    assert_eq!(repo.content("HEAD"), content, "{moment:?}");
    assert_eq!(repo.status(), Vec::<String>::new(), "{moment:?}");
    let wanted: &[&str] = match moment {
        Moment::Baseline | Moment::FirstChecks => &[],
        Moment::Agent | Moment::SecondChecks => &["interrupted"],
        Moment::Rest => &["idle"],
    };
    assert_eq!(repo.each("result"), wanted, "{moment:?}");
    assert!(!repo.private().join("journal.json").exists(), "{moment:?}");
    assert!(!repo.has("loose"), "{moment:?}");
    if moment.is_after_agent() {
        let tip = repo.git(&["for-each-ref", "--format=%(objectname)", "refs/evolve/"]);
        assert_eq!(repo.git(&["show", &format!("{tip}:tracked")]), "text\nx");
        assert!(repo.newest()["agent"].is_object(), "{moment:?}");
    }
}

/// Starts a session, brings it to a moment, ends it with `end`, and checks what is left.
#[track_caller]
fn end_at(moment: Moment, more: &[&str], end: impl Fn(&TestRepo, &Child)) -> (TestRepo, Run) {
    let repo = repo();
    let before = repo.content("HEAD");
    let child = come_to(&repo, moment, more);
    let content = match moment {
        // The goal was met first; nothing of the session's has changed since.
        Moment::Rest => repo.content("HEAD"),
        _ => before,
    };
    end(&repo, &child);
    let run = finish(child);
    assert_settled(&repo, moment, &content);
    (repo, run)
}

/// The acknowledgement of a kill.
#[track_caller]
fn acknowledged(repo: &TestRepo) -> Value {
    let killed = repo.json(".agents/evolve/KILLED.json");
    let at = killed["killed_at"].as_str().unwrap();
    assert!(at.starts_with("2026-02-03T") && at.ends_with('Z'), "{at}");
    killed
}

#[test]
fn a_kill_file_acts_at_once_whatever_runs() {
    for moment in MOMENTS {
        let (repo, run) = end_at(moment, &[], |repo, _| repo.kill());
        let run = run.expect(0);
        assert!(run.stdout.contains("KILL"), "{moment:?}: {}", run.stdout);
        assert!(run.stdout.contains("enough"), "{moment:?}: {}", run.stdout);
        let cycle = acknowledged(&repo)["cycle"].as_u64().unwrap();
        let wanted = match moment {
            Moment::Baseline => 0,
            _ => 1,
        };
        assert_eq!(cycle, wanted, "{moment:?}");
        if moment.is_after_agent() {
            let reason = repo.newest()["reason"].to_string();
            assert!(reason.contains("KILL"), "{reason}");
        }
        // It stays, and so does the acknowledgement, uncommitted.
        assert!(repo.kill_file().exists());
        repo.run(&[]).expect(0);
        assert_eq!(
            repo.records().len(),
            usize::from(moment.is_after_agent() || moment == Moment::Rest)
        );
        assert_eq!(repo.git(&["ls-files", ".agents/evolve/KILLED.json"]), "");
    }
}

#[test]
fn a_kill_file_is_looked_at_before_anything_is_measured() {
    let unused = |_: &TestRepo| {};
    let file = |repo: &TestRepo| repo.kill();
    let folder = |repo: &TestRepo| fs::create_dir_all(repo.kill_file()).unwrap();
    let below = |repo: &TestRepo| {
        fs::create_dir_all(repo.kill_file().parent().unwrap()).unwrap();
        repo.kill_file()
    };
    let dangling = |repo: &TestRepo| {
        std::os::unix::fs::symlink("/no/such/place", below(repo)).unwrap();
    };
    let looping = |repo: &TestRepo| {
        let folder = repo.home().join(".config");
        std::os::unix::fs::symlink(&folder, &folder).unwrap();
    };
    let no_folder = |repo: &TestRepo| fs::write(repo.home().join(".config"), "").unwrap();
    let xdg = |repo: &TestRepo| {
        let folder = repo.outside().join("xdg/evolve");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("KILL"), "").unwrap();
    };
    type Make<'a> = &'a dyn Fn(&TestRepo);
    let rows: [(&str, Make<'_>, bool); 7] = [
        ("nothing", &unused, false),
        ("a file", &file, true),
        ("a folder", &folder, true),
        ("a dangling link", &dangling, true),
        ("a loop of links above", &looping, true),
        ("no folder above", &no_folder, true),
        ("$XDG_CONFIG_HOME", &xdg, true),
    ];
    for (what, make, stops) in rows {
        let mut repo = repo();
        let xdg = repo.outside().join("xdg").display().to_string();
        repo.env.push(("XDG_CONFIG_HOME".to_owned(), xdg));
        fs::write(repo.out("check"), "touch \"$OUT/measured\"").unwrap();
        repo.agent_does(&["touch a"]);
        make(&repo);
        let start = repo.head();
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.calls(), usize::from(!stops), "{what}");
        assert_eq!(repo.out("measured").exists(), !stops, "{what}");
        assert_eq!(repo.head() == start, stops, "{what}");
        assert_eq!(run.stdout.contains("KILL"), stops, "{what}: {}", run.stdout);
        assert_eq!(repo.has(".agents/evolve/KILLED.json"), stops, "{what}");
        if stops {
            assert_eq!(acknowledged(&repo)["cycle"], 0, "{what}");
        }
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
    }
}

#[test]
fn a_kill_file_that_is_taken_away_at_once_has_still_been_seen() {
    let repo = repo();
    let before = repo.content("HEAD");
    let script = "trap 'rm \"$HOME/.config/evolve/KILL\"; exit 0' TERM; echo $$ >\"$OUT/pid\"; sleep 300 & wait";
    let child = come_to_with(&repo, Moment::Agent, script, &[]);
    repo.kill();
    let run = finish(child).expect(0);
    assert!(!repo.kill_file().exists());
    assert!(run.stdout.contains("KILL"), "{}", run.stdout);
    acknowledged(&repo);
    assert_settled(&repo, Moment::Agent, &before);
}

#[test]
fn a_kill_is_acknowledged_before_an_agent_that_will_not_end() {
    let repo = repo();
    let script = "trap 'cp .agents/evolve/KILLED.json \"$OUT/acknowledged\"; exit 0' TERM; echo $$ >\"$OUT/pid\"; sleep 300 & wait";
    let child = come_to_with(&repo, Moment::Agent, script, &[]);
    repo.kill();
    finish(child).expect(0);
    assert!(repo.said("acknowledged").contains("killed_at"));
}

#[test]
fn a_kill_does_not_grant_an_agent_that_will_not_end_the_time_that_a_signal_does() {
    let repo = repo();
    let script = "trap '' TERM; echo $$ >\"$OUT/pid\"; n=0; while [ $n -lt 50 ]; do sleep 0.1; n=$((n + 1)); done; touch \"$OUT/lived\"";
    let child = come_to_with(&repo, Moment::Agent, script, &[]);
    repo.kill();
    finish(child).expect(0);
    assert!(!repo.out("lived").exists());
    assert_eq!(repo.each("result"), ["interrupted"]);
}

#[test]
fn without_a_home_the_users_own_is_looked_up_and_an_undecidable_one_is_refused() {
    for (home, code) in [(None, 0), (Some(""), 0), (Some("relative"), 1)] {
        let repo = repo();
        repo.agent_does(&["touch a"]);
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        match home {
            None => command.env_remove("HOME"),
            Some(home) => command.env("HOME", home),
        };
        command.arg(format!("--agent={}", repo.agent()));
        command.args(["--max-cycles=1"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let run = finish(command.spawn().unwrap()).expect(code);
        assert_eq!(repo.calls(), usize::from(code == 0), "{home:?}");
        assert_eq!(run.stderr.contains("set HOME"), code != 0, "{}", run.stderr);
    }
}

#[test]
fn a_stop_file_is_looked_at_before_anything_is_measured_and_stays_until_it_is_taken_off() {
    let repo = repo();
    fs::write(repo.out("check"), "touch \"$OUT/measured\"").unwrap();
    repo.agent_does(&["touch a"]);
    let run = repo.evolve(&["stop", "lunch", "break"]).expect(0);
    assert!(run.stdout.contains(".agents/evolve/STOP"), "{}", run.stdout);
    for _ in 0..2 {
        let run = repo.run(&[]).expect(0);
        assert!(run.stdout.contains("lunch break"), "{}", run.stdout);
        assert!(!repo.out("measured").exists());
    }
    assert_eq!(repo.status(), Vec::<String>::new());
    repo.evolve(&["stop", "--off"]).expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn any_kind_of_stop_file_stops() {
    type Make = fn(PathBuf);
    let rows: [(&str, Make); 3] = [
        ("an empty file", |path| fs::write(path, "").unwrap()),
        ("a folder", |path| fs::create_dir(path).unwrap()),
        ("a dangling link", |path| {
            std::os::unix::fs::symlink("/no/such/place", path).unwrap();
        }),
    ];
    for (what, make) in rows {
        let repo = repo();
        repo.agent_does(&["touch a"]);
        fs::create_dir_all(repo.path(".agents/evolve")).unwrap();
        make(repo.path(".agents/evolve/STOP"));
        repo.run(&[]).expect(0);
        assert_eq!(repo.calls(), 0, "{what}");
    }
}

#[test]
fn a_stop_file_is_neither_written_nor_removed_by_way_of_a_link() {
    for folder in [".agents", ".agents/evolve"] {
        let repo = repo();
        let theirs = repo.out("theirs");
        fs::create_dir_all(theirs.join("evolve")).unwrap();
        let names = ["STOP", "evolve/STOP"].map(|name| theirs.join(name));
        names
            .iter()
            .for_each(|path| fs::write(path, "precious").unwrap());
        fs::create_dir_all(repo.path(folder).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&theirs, repo.path(folder)).unwrap();
        for words in [&["stop"][..], &["stop", "why"], &["stop", "--off"]] {
            let run = repo.evolve(words).expect(3);
            let told = format!("{folder} is not a plain folder");
            assert!(run.stderr.contains(&told), "{words:?}: {}", run.stderr);
            assert!(run.stderr.contains("stop --now"), "{}", run.stderr);
        }
        for path in &names {
            assert_eq!(fs::read_to_string(path).unwrap(), "precious", "{folder}");
        }
    }
}

#[test]
fn a_pipe_in_the_git_folder_keeps_nobody_from_stopping() {
    let repo = repo();
    let script = "mkfifo .git/rebase-merge; touch \"$OUT/here\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; touch a";
    repo.agent_does(&[script]);
    let mut child = repo.spawn_run(&[]);
    repo.wait_for("here");
    let told = repo.evolve(&["stop", "enough"]).expect(0);
    assert!(
        told.stdout.contains("the loop stops after"),
        "{}",
        told.stdout
    );
    assert_eq!(repo.read(".agents/evolve/STOP"), "enough\n");
    repo.evolve(&["stop", "--off"]).expect(0);
    assert!(!repo.has(".agents/evolve/STOP"));
    repo.evolve(&["stop", "--now"]).expect(0);
    assert_ne!(child.wait().unwrap().code(), Some(0));
    fs::write(repo.out("go"), "").unwrap();
}

#[test]
fn a_stop_is_written_whatever_stands_in_the_place_of_gits_list_of_excluded_files() {
    let repo = repo();
    let excluded = repo.path(".git/info/exclude");
    let _ = fs::remove_file(&excluded);
    fs::create_dir_all(excluded.join("deep")).unwrap();
    let run = repo.evolve(&["stop", "enough"]).expect(0);
    assert!(run.stderr.contains("exclude"), "{}", run.stderr);
    assert_eq!(repo.read(".agents/evolve/STOP"), "enough\n");
    // A folder in its place stops, too.
    fs::remove_file(repo.path(".agents/evolve/STOP")).unwrap();
    fs::create_dir(repo.path(".agents/evolve/STOP")).unwrap();
    repo.evolve(&["stop", "enough"]).expect(0);
}

#[test]
fn a_stop_lets_the_running_cycle_finish_and_no_other_begin() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4)]).with_out();
    let script = "touch \"$OUT/here\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; touch a";
    repo.agent_does(&[script, "touch b"]);
    let mut child = repo.spawn_run(&[]);
    repo.wait_for("here");
    repo.evolve(&["stop", "enough"]).expect(0);
    // Said while the cycle runs, which goes on for as long as it takes.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let told = lines.by_ref().map(Result::unwrap);
    let mut told =
        told.skip_while(|line| !line.contains("this session ends with the running cycle"));
    let told = told.next().unwrap_or_default();
    assert!(
        told.contains("a STOP file was seen: enough (written"),
        "{told}"
    );
    fs::write(repo.out("go"), "").unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(repo.has("a") && repo.calls() == 1);
    assert!(rest.join("\n").contains("STOP"), "{rest:?}");
    let summary = repo.read(".agents/evolve/session-summary.md");
    assert!(summary.contains("STOP"), "{summary}");
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn a_stop_ends_a_rest_at_once() {
    let (_, run) = end_at(Moment::Rest, &[], |repo, _| {
        repo.evolve(&["stop"]).expect(0);
    });
    assert!(run.expect(0).stdout.contains("STOP"));
}

#[test]
fn stop_now_ends_the_running_session_like_an_interrupt_and_leaves_no_file() {
    for moment in MOMENTS {
        let (repo, run) = end_at(moment, &[], |repo, _| {
            repo.evolve(&["stop", "--now"]).expect(0);
        });
        let run = run.expect(130);
        assert!(!repo.has(".agents/evolve/STOP"), "{moment:?}");
        let told = format!("{}{}", run.stdout, run.stderr);
        assert!(told.contains("`evolve stop --now`"), "{moment:?}: {told}");
        assert!(!told.contains("SIGINT"), "{moment:?}: {told}");
        for record in repo.records() {
            let is_interrupted = record["result"] == "interrupted";
            let said = record["reason"].to_string();
            assert!(
                !is_interrupted || said.contains("`evolve stop --now`"),
                "{said}"
            );
        }
    }
    let idle = repo();
    let run = idle.evolve(&["stop", "--now"]).expect(0);
    assert!(
        run.stdout.contains("no evolve is at work"),
        "{}",
        run.stdout
    );
    assert!(!idle.has(".agents/evolve/STOP"));
}

#[test]
fn stop_kill_writes_the_permanent_kill_file_and_only_off_kill_takes_it_away() {
    let (repo, run) = end_at(Moment::Agent, &[], |repo, _| {
        repo.evolve(&["stop", "--kill", "fire"]).expect(0);
    });
    assert!(run.expect(0).stdout.contains("fire"));
    repo.evolve(&["stop", "--off"]).expect(0);
    assert!(repo.kill_file().exists());
    repo.evolve(&["stop", "--off", "--kill"]).expect(0);
    assert!(!repo.kill_file().exists());
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
}

#[test]
fn a_signal_ends_whatever_runs_undoes_it_and_is_recorded() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        for moment in MOMENTS {
            let (repo, run) = end_at(moment, &[], |_, child| signal(child, name));
            let run = run.expect(code);
            assert!(run.stdout.contains(name), "{moment:?}: {}", run.stdout);
            if moment.is_after_agent() {
                let reason = repo.newest()["reason"].to_string();
                assert!(reason.contains(name), "{reason}");
                let work = repo.git(&["for-each-ref", "--format=%(refname)", "refs/evolve/"]);
                assert!(run.stdout.contains(&work), "{work}: {}", run.stdout);
            }
            assert!(!repo.has(".agents/evolve/KILLED.json"));
        }
    }
}

#[test]
fn tracked_files_that_a_check_changed_before_it_was_interrupted_are_named() {
    for moment in [Moment::Baseline, Moment::FirstChecks] {
        let repo = repo();
        repo.write("theirs", "");
        repo.commit_all("theirs");
        let child = come_to_with(&repo, moment, &format!("echo >>theirs; {SLEEP}"), &[]);
        signal(&child, "INT");
        let run = finish(child).expect(130);
        assert!(
            run.stdout.contains(
                "while the checks ran, 1 tracked file changed: theirs; look at them with `git diff`"
            ),
            "{moment:?}: {}",
            run.stdout
        );
    }
}

#[test]
fn a_second_signal_leaves_at_once_and_the_next_start_settles() {
    for (second, code) in [("INT", 130), ("TERM", 143)] {
        let repo = repo();
        let before = repo.content("HEAD");
        let deaf =
            "trap 'touch \"$OUT/asked\"' TERM; echo $$ >\"$OUT/pid\"; while :; do sleep 0.1; done";
        let child = come_to_with(&repo, Moment::Agent, deaf, &[]);
        signal(&child, "INT");
        repo.wait_for("asked");
        std::thread::sleep(Duration::from_millis(1_500));
        signal(&child, second);
        let run = finish(child).expect(code);
        let told = "Ctrl-C (SIGINT): what runs was asked to end, and is killed 10s after that; a second Ctrl-C leaves at once";
        assert!(run.stdout.contains(told), "{}", run.stdout);
        let told = "left at once; the next start of evolve settles what had begun\n";
        assert!(run.stderr.ends_with(told), "{}", run.stderr);
        assert!(repo.private().join("journal.json").exists());
        assert_eq!(repo.records().len(), 0);
        wait_until("the agent is dead", || !is_alive(pid_in(&repo.out("pid"))));
        repo.agent_does(&["touch a"]);
        let run = repo.run(&["--max-cycles=1"]).expect(0);
        assert!(run.stdout.contains("interrupted"), "{}", run.stdout);
        assert_eq!(repo.each("result"), ["interrupted", "improved"]);
        assert_eq!(repo.each("cycle"), ["1", "2"]);
        repo.git(&["revert", "--no-edit", "HEAD~2"]);
        assert_eq!(repo.content("HEAD"), before);
    }
}

#[test]
fn a_terminal_that_is_closed_says_so_more_than_once_and_all_is_settled() {
    let repo = repo();
    let slow = "trap 'touch \"$OUT/asked\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; exit' TERM; echo $$ >\"$OUT/pid\"; while :; do sleep 0.1; done";
    let child = come_to_with(&repo, Moment::Agent, slow, &[]);
    signal(&child, "HUP");
    repo.wait_for("asked");
    signal(&child, "HUP");
    fs::write(repo.out("go"), "").unwrap();
    finish(child).expect(129);
    assert_eq!(repo.each("result"), ["interrupted"]);
}

#[test]
fn two_signals_leave_at_once_also_where_the_sessions_time_was_over_before() {
    let repo = repo();
    let deaf =
        "trap 'touch \"$OUT/asked\"' TERM; echo $$ >\"$OUT/pid\"; while :; do sleep 0.1; done";
    let mut child = come_to_with(&repo, Moment::Agent, deaf, &["--max-time=3s"]);
    repo.wait_for("asked");
    // Two that come as one are one.
    wait_until("it leaves", || {
        signal(&child, "INT");
        child.try_wait().unwrap().is_some()
    });
    finish(child).expect(130);
    assert!(repo.private().join("journal.json").exists());
    assert_eq!(repo.records().len(), 0);
}

#[test]
fn a_closed_terminal_does_not_end_a_session_that_ignores_it() {
    let repo = repo();
    repo.agent_does(&[
        "echo $$ >\"$OUT/pid\"; until [ -e \"$OUT/go\" ]; do sleep 0.02; done; touch a",
    ]);
    let mut command = repo.command("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    command.arg(env!("CARGO_BIN_EXE_evolve"));
    command.arg(format!("--agent={}", repo.agent()));
    command.arg("--max-cycles=1");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    pid_in(&repo.out("pid"));
    signal(&child, "HUP");
    fs::write(repo.out("go"), "").unwrap();
    finish(child).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn the_sessions_time_ends_what_runs_like_a_signal_but_in_good_order() {
    for moment in MOMENTS {
        let (repo, run) = end_at(moment, &["--max-time=3s"], |_, _| {});
        let run = run.expect(0);
        assert!(
            run.stdout.contains("--max-time 3s"),
            "{moment:?}: {}",
            run.stdout
        );
        if moment.is_after_agent() {
            assert!(repo.newest()["reason"].to_string().contains("time limit"));
        }
    }
}

#[test]
fn a_session_does_not_rest_where_no_cycle_can_follow() {
    let rows: [(&[&str], usize, &str); 3] = [
        (&["--max-cycles=1", "--idle-wait=1ms"], 0, "--max-cycles"),
        (&["--max-cycles=2", "--idle-wait=1ms"], 1, "--max-cycles"),
        (
            &["--max-time=90m", "--idle-wait=2h"],
            0,
            "nothing to do; a rest of 2h takes longer than --max-time 1h 30m leaves",
        ),
    ];
    for (arguments, rests, reason) in rows {
        let repo = TestRepo::with_files_wanted(&[("a", 1)]);
        repo.write("a", "");
        repo.commit_all("a");
        let run = repo.run(&[&["--json"], arguments].concat()).expect(0);
        let events = run.stdout.lines().map(|line| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            event
        });
        let events: Vec<_> = events.collect();
        let waiting = events.iter().filter(|event| event["event"] == "waiting");
        assert_eq!(waiting.count(), rests, "{arguments:?}");
        let last = events.last().unwrap();
        assert_eq!(last["ending"], "limit", "{arguments:?}");
        assert!(last["reason"].to_string().contains(reason), "{last}");
    }
}

#[test]
fn limits_stand_in_the_goals_file_and_the_flag_beats_them() {
    let rows: [(&str, &[&str], usize); 3] = [
        ("", &["--max-cycles=2"], 2),
        ("evolve: {limits: {max_cycles: 1}}\n", &[], 1),
        (
            "evolve: {limits: {max_cycles: 1}}\n",
            &["--max-cycles=2"],
            2,
        ),
    ];
    for (settings, arguments, cycles) in rows {
        let repo = TestRepo::empty();
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\n{settings}goals:\n  - {{id: a, description: a, check: test -e a, weight: 1}}\n"),
        );
        repo.commit_all("first");
        repo.agent_does(&["touch x", "touch y"]);
        let run = repo.run(arguments).expect(0);
        assert_eq!(repo.records().len(), cycles, "{settings} {arguments:?}");
        assert!(run.stdout.contains("--max-cycles"), "{}", run.stdout);
    }
    let settings = "version: 1\nevolve: {limits: {max_time: 1s}}\n";
    let goals = "goals:\n  - {id: a, description: a, check: test -e a, weight: 1}\n";
    for (arguments, result) in [(&[][..], "interrupted"), (&["--max-time=1h"], "improved")] {
        let repo = TestRepo::empty();
        repo.write("GOALS.yaml", &format!("{settings}{goals}"));
        repo.commit_all("first");
        repo.agent_does(&["touch a; sleep 2"]);
        let all: Vec<&str> = ["--max-cycles=1"]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        repo.run(&all).expect(0);
        assert_eq!(repo.newest()["result"], result);
    }
}

/// A repository whose agent is described in GOALS.yaml; its program is a script beside the repository.
fn with_agent(settings: &str, script: &str) -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let program = repo.out("my-agent");
    fs::write(&program, script).unwrap();
    let settings = settings.replace("PROGRAM", &format!("sh, {}", program.display()));
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve: {{agent: {{{settings}}}}}\ngoals:\n  - {{id: a, description: a, check: test -e a, weight: 1}}\n"),
    );
    repo.commit_all("first");
    repo
}

#[test]
fn an_agent_that_is_over_its_own_time_is_judged_by_what_it_left() {
    let talking = "while :; do echo still here; sleep 0.2; done";
    let rows = [
        (
            "timeout: 1",
            format!("touch a; {talking}"),
            "improved",
            "timed out",
        ),
        ("timeout: 1", talking.to_owned(), "failed", "timed out"),
        (
            "idle_timeout: 1",
            "touch a; sleep 300".to_owned(),
            "improved",
            "idle",
        ),
        ("idle_timeout: 1", "sleep 300".to_owned(), "failed", "idle"),
        (
            "idle_timeout: 30, timeout: 2",
            talking.to_owned(),
            "failed",
            "timed out",
        ),
        (
            "idle_timeout: 2",
            "for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done; touch a".to_owned(),
            "improved",
            "done",
        ),
    ];
    for (limits, script, result, status) in rows {
        let settings = format!("command: [PROGRAM], {limits}");
        let repo = with_agent(&settings, &format!("echo $$ >\"$OUT/pid\"\n{script}\n"));
        repo.evolve(&["--max-cycles=1"]).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], result, "{limits} {script}: {record}");
        assert_eq!(
            record["agent"]["status"], status,
            "{limits} {script}: {record}"
        );
        assert_gone(&[repo.out("pid")]);
    }
}

#[test]
fn the_brief_comes_as_the_agent_wants_it() {
    let rows = [
        (
            "command: [PROGRAM]",
            "cat >\"$OUT/brief\"; echo $# >\"$OUT/count\"",
            "0",
        ),
        (
            "command: [PROGRAM, -x], prompt: stdin",
            "cat >\"$OUT/brief\"; echo $# >\"$OUT/count\"",
            "1",
        ),
        (
            "command: [PROGRAM, -p], prompt: arg",
            "printf %s \"$2\" >\"$OUT/brief\"; echo $# >\"$OUT/count\"",
            "2",
        ),
        (
            "command: [PROGRAM, '{brief}', -x], prompt: arg",
            "printf %s \"$1\" >\"$OUT/brief\"; echo $# >\"$OUT/count\"",
            "2",
        ),
        (
            "command: [PROGRAM], prompt: file",
            "cat \"$1\" >\"$OUT/brief\"; echo $# >\"$OUT/count\"",
            "1",
        ),
        (
            "command: [PROGRAM, -f, '{brief_file}', -x], prompt: file",
            "cat \"$2\" >\"$OUT/brief\"; echo $# >\"$OUT/count\"",
            "3",
        ),
    ];
    for (settings, script, count) in rows {
        let end = "\ncp \"$EVOLVE_BRIEF\" \"$OUT/file\"; cat >\"$OUT/rest\"; touch a\n";
        let repo = with_agent(settings, &format!("{script}{end}"));
        repo.evolve(&["--max-cycles=1"]).expect(0);
        assert_eq!(repo.newest()["result"], "improved", "{settings}");
        assert!(repo.said("brief").contains("test -e a"), "{settings}");
        assert_eq!(repo.said("brief"), repo.said("file"), "{settings}");
        assert_eq!(repo.said("rest"), "", "{settings}");
        assert_eq!(repo.said("count").trim(), count, "{settings}");
    }
}

#[test]
fn the_agents_environment_names_cycle_goal_brief_and_outbox() {
    let show = "printf '%s|' \"$EVOLVE_CYCLE\" \"${EVOLVE_GOAL_ID-unset}\" \"$PWD\" >\"$OUT/env-$EVOLVE_CYCLE\"; \
                for f in \"$EVOLVE_NEXT_WORK\" \"$EVOLVE_LESSONS\" \"$EVOLVE_GIVE_UP\"; do dirname \"$f\"; [ -e \"$f\" ] && echo full; [ -e \"$(dirname \"$f\")\" ] || echo no folder; done >\"$OUT/box-$EVOLVE_CYCLE\"; \
                set -- $(cut -d' ' -f5,6 /proc/$PPID/stat); echo $1 $2 $PPID >\"$OUT/group-$EVOLVE_CYCLE\"; \
                echo stale >\"$(dirname \"$EVOLVE_LESSONS\")/stale\"; echo 'a lesson' >\"$EVOLVE_LESSONS\"; \
                echo '{\"title\": \"more to do\", \"severity\": \"low\"}' >\"$EVOLVE_NEXT_WORK\"";
    let repo = TestRepo::with_files_wanted(&[("a", 1)]).with_out();
    repo.agent_does(&[&format!("{show}; touch a"), &format!("{show}; touch b")]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("goal_id"), ["a", "next-work:more to do"]);
    let root = repo.root().canonicalize().unwrap();
    assert_eq!(repo.said("env-1"), format!("1|a|{}|", root.display()));
    assert_eq!(repo.said("env-2"), format!("2||{}|", root.display()));
    let outbox = format!("{}\n", root.join(".agents/evolve/outbox").display());
    for cycle in [1, 2] {
        assert_eq!(repo.said(&format!("box-{cycle}")), outbox.repeat(3));
    }
    assert_eq!(repo.git(&["ls-files", ".agents/evolve/outbox"]), "");
    let lessons = repo.read(".agents/evolve/lessons.jsonl");
    assert_eq!(lessons.matches("a lesson").count(), 1, "{lessons}");
}

#[test]
fn links_in_the_outbox_are_not_followed() {
    let secret = "{\"title\": \"from outside\"}";
    let repo = TestRepo::with_files_wanted(&[("a", 1)]).with_out();
    fs::write(repo.out("secret"), secret).unwrap();
    let link = "for f in \"$EVOLVE_NEXT_WORK\" \"$EVOLVE_LESSONS\" \"$EVOLVE_GIVE_UP\"; do ln -s \"$OUT/secret\" \"$f\"; done";
    repo.cycle(&format!("touch a; {link}")).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    for name in [
        ".agents/evolve/lessons.jsonl",
        ".agents/rpi/next-work.jsonl",
    ] {
        assert!(!repo.has(name), "{name}");
    }
    // An outbox that is itself a link leads nowhere else either: what lies there is not emptied.
    let elsewhere = repo.out("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("mine"), "").unwrap();
    repo.git(&["rm", "-q", "a"]);
    repo.commit_all("no a");
    let swap = "rm -r .agents/evolve/outbox; ln -s \"$OUT/elsewhere\" .agents/evolve/outbox; cp \"$OUT/secret\" \"$OUT/elsewhere/lessons\"";
    repo.agent_does(&[&format!("{swap}; touch x"), "touch a"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert!(elsewhere.join("mine").exists());
    assert_eq!(repo.each("result"), ["improved", "unchanged", "improved"]);
    assert!(!repo.has(".agents/evolve/lessons.jsonl"));
}

#[test]
fn an_agent_that_is_missing_ends_the_session_before_anything_is_written() {
    let rows = [
        "no-such-agent --flag",
        "./no-such-agent",
        "./not-executable",
        "/no/such/agent x",
        "X=1 no-such-agent",
    ];
    for line in rows {
        let repo = repo();
        fs::write(repo.out("check"), "touch \"$OUT/measured\"").unwrap();
        repo.write("not-executable", "#!/bin/sh\n");
        repo.commit_all("a file");
        let run = repo.evolve(&[&format!("--agent={line}")]).expect(4);
        assert!(
            run.stderr.contains("missing or not executable"),
            "{line}: {}",
            run.stderr
        );
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
        assert!(
            !repo.has(".agents") && !repo.out("measured").exists(),
            "{line}"
        );
    }
    let repo = with_agent("command: [no-such-agent]", "");
    repo.evolve(&[]).expect(4);
    assert!(!repo.has(".agents"));
    // None at all.
    let mut none = TestRepo::with_files_wanted(&[("a", 1)]);
    none.installs("");
    let run = none.evolve(&[]).expect(4);
    assert!(
        run.stderr.contains("no agent is configured"),
        "{}",
        run.stderr
    );
    assert!(!none.has(".agents"));
}

#[test]
fn an_agent_that_turns_out_not_to_run_makes_no_record_unless_it_changed_something() {
    for code in [126, 127] {
        let repo = repo();
        let before = repo.head();
        repo.agent_does(&[&format!("echo out of order; exit {code}")]);
        let run = repo.run(&["--skip-baseline"]).expect(4);
        assert!(run.stderr.contains("out of order"), "{}", run.stderr);
        assert_eq!(repo.records().len(), 0);
        assert_eq!(repo.head(), before);
        assert!(!repo.has(".agents/evolve/fitness-1.json"));
        assert_eq!(repo.status(), Vec::<String>::new());
        assert!(!repo.private().join("journal.json").exists());
        // The number is used again.
        repo.cycle("touch a").expect(0);
        assert_eq!(repo.each("cycle"), ["1"]);
        let changed = self::repo();
        changed.cycle(&format!("touch a; exit {code}")).expect(0);
        assert_eq!(changed.each("result"), ["improved"]);
    }
    // Any other ending is a cycle.
    let other = repo();
    other.cycle("echo no luck; exit 7").expect(0);
    assert_eq!(other.each("result"), ["failed"]);
    let reason = other.newest()["reason"].to_string();
    assert!(
        reason.contains("exit 7") && reason.contains("no luck"),
        "{reason}"
    );
}

#[test]
fn every_ending_with_a_record_completes_the_summary_and_says_why() {
    let rows: [(&str, &[&str], &str); 4] = [
        ("touch a", &[], "no goal fails"),
        ("touch a", &["--max-cycles=1"], "--max-cycles"),
        (
            "touch a; mkdir -p .agents/evolve; echo enough >.agents/evolve/STOP",
            &[],
            "enough",
        ),
        (
            "touch a; mkdir -p \"$HOME/.config/evolve\"; touch \"$HOME/.config/evolve/KILL\"; sleep 300",
            &[],
            "KILL",
        ),
    ];
    for (script, arguments, why) in rows {
        let repo = repo();
        repo.agent_does(&[script]);
        let run = repo.run(arguments).expect(0);
        assert!(run.stdout.contains(why), "{script}: {}", run.stdout);
        let summary = repo.git(&["show", "HEAD:.agents/evolve/session-summary.md"]);
        assert!(summary.contains(why), "{script}: {summary}");
        assert!(
            repo.subjects()[0].starts_with("evolve: session"),
            "{script}"
        );
        let delta = repo.git(&["show", "HEAD:.agents/evolve/session-fitness-delta.md"]);
        assert!(delta.contains('0'), "{script}: {delta}");
    }
}
