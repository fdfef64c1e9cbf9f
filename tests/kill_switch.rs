//! KILL and STOP against an agent that would rather go on: neither can be outrun, taken away or made undecidable.

use std::fs;

use crate::attacks::{assert_right, assert_undone, ledger, lived_in, repository};
use crate::harness::{TestRepo, is_alive, pid_in, wait_until};

/// What an agent may do to the place where KILL is looked for, before a person uses it or without one.
#[test]
fn the_kill_switch_cannot_be_taken_away() {
    let table = [
        ("the folder removed", "rm -r ~/.config/evolve"),
        ("the folder above removed", "rm -r ~/.config"),
        ("the folder moved", "mv ~/.config/evolve ~/elsewhere"),
        (
            "the folder above moved",
            "mv ~/.config ~/elsewhere; mkdir -p ~/.config/evolve",
        ),
        (
            "a file in its place",
            "rm -r ~/.config/evolve; touch ~/.config/evolve",
        ),
        (
            "a link in its place",
            "mv ~/.config/evolve ~/x; mkdir ~/y; ln -s ~/y ~/.config/evolve",
        ),
        (
            "a loop of links in its place",
            "rm -r ~/.config/evolve; ln -s evolve ~/.config/evolve",
        ),
        ("a folder as the file", "mkdir ~/.config/evolve/KILL"),
        ("a pipe as the file", "mkfifo ~/.config/evolve/KILL"),
        (
            "a link as the file",
            "ln -s /dev/null ~/.config/evolve/KILL",
        ),
        (
            "a file for a moment",
            "touch ~/.config/evolve/KILL; rm ~/.config/evolve/KILL",
        ),
    ];
    for (what, script) in table {
        let repo = repository();
        let start = repo.head();
        let run = repo.cycle(&format!("{script}\ntouch a\nsleep 300"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        assert!(run.stdout.contains("KILL"), "{what}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["interrupted"], "{what}");
        let reason = repo.newest()["reason"].to_string();
        assert!(reason.contains("KILL file"), "{what}: {reason}");
        assert!(repo.has(".agents/evolve/KILLED.json"), "{what}");
        assert_undone(&repo, &start, what);
    }
}

#[test]
fn a_kill_is_seen_though_the_agent_removes_it_without_end() {
    let repo = repository();
    let start = repo.head();
    repo.agent_does(&["touch a \"$OUT/here\"; while :; do rm -f ~/.config/evolve/KILL; done"]);
    let child = repo.spawn_run(&[]);
    repo.wait_for("here");
    repo.kill();
    let run = crate::harness::finish(child).expect(0);
    assert!(run.stdout.contains("KILL"), "{}", run.stdout);
    assert_eq!(repo.each("result"), ["interrupted"]);
    assert_undone(&repo, &start, "removed without end");
}

#[test]
fn the_ledgers_folder_made_a_link_or_a_pipe_does_not_keep_a_kill_from_being_acknowledged_safely() {
    for (what, script) in [
        (
            "a link",
            "mv .agents ../agent/gone; ln -s ../agent/gone .agents",
        ),
        ("a pipe", "mv .agents ../agent/gone; mkfifo .agents"),
        ("a file", "rm -r .agents; echo mine >.agents"),
    ] {
        let repo = repository();
        repo.agent_does(&[&format!("{script}; touch \"$OUT/here\"; sleep 300")]);
        let child = repo.spawn_run(&[]);
        repo.wait_for("here");
        repo.kill();
        let run = crate::harness::finish(child).expect(0);
        assert!(run.stdout.contains("KILL"), "{what}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["interrupted"], "{what}");
        let elsewhere = repo.out("gone/evolve/KILLED.json");
        assert!(!elsewhere.exists(), "{what}: written through a link");
        assert!(repo.has(".agents/evolve/KILLED.json"), "{what}");
    }
}

#[test]
fn the_ledgers_folder_made_something_else_is_moved_away_and_named() {
    for (what, script) in [
        (
            "a link",
            "mv .agents ../agent/gone; ln -s ../agent/gone .agents",
        ),
        (
            "a link further down",
            "mv .agents/evolve ../agent/gone; ln -s ../../agent/gone .agents/evolve",
        ),
        ("a pipe", "rm -r .agents; mkfifo .agents"),
        ("a file", "rm -r .agents; echo mine >.agents"),
    ] {
        let repo = lived_in();
        let before = ledger(&repo);
        let run = repo.cycle(&format!("echo 3 >>b; {script}"));
        assert_eq!(run.code, 0, "{what}: {}", run.stderr);
        let notes = repo.newest()["notes"].to_string();
        assert!(
            notes.contains("moved out of the way: .agents"),
            "{what}: {notes}"
        );
        assert_right(&repo, &before, what);
    }
}

#[test]
fn a_stop_of_the_agents_stops_and_says_whose_time_it_was() {
    for (what, script) in [
        ("a file", "echo tired >.agents/evolve/STOP"),
        (
            "a file that is committed",
            "echo tired >.agents/evolve/STOP; git add -f .agents/evolve/STOP; git commit -qm w",
        ),
        ("a folder", "mkdir .agents/evolve/STOP"),
        ("a link", "ln -s nowhere .agents/evolve/STOP"),
    ] {
        let repo = repository();
        repo.agent_does(&[&format!("touch a; {script}"), "touch never"]);
        let run = repo.run(&[]).expect(0);
        assert_eq!(repo.calls(), 1, "{what}");
        let said = "written while the agent of cycle 1 ran";
        assert!(run.stdout.contains(said), "{what}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["improved"], "{what}");
        assert_eq!(repo.git(&["ls-files", ".agents/evolve/STOP"]), "", "{what}");
        let notes = repo.newest()["notes"].to_string();
        assert_eq!(
            notes.contains("STOP: was committed"),
            what.contains("committed"),
            "{what}: {notes}"
        );
    }
}

#[test]
fn a_stop_that_the_agent_takes_away_has_been_seen() {
    let repo = repository();
    let wait = "touch \"$OUT/here\"; until [ -e .agents/evolve/STOP ]; do :; done; rm .agents/evolve/STOP; touch a";
    repo.agent_does(&[wait, "touch never"]);
    let child = repo.spawn_run(&[]);
    repo.wait_for("here");
    repo.evolve(&["stop"]).expect(0);
    let run = crate::harness::finish(child).expect(0);
    assert!(run.stdout.contains("STOP"), "{}", run.stdout);
    assert_eq!(
        (repo.each("result"), repo.calls()),
        (vec!["improved".to_owned()], 1)
    );
}

#[test]
fn a_stop_that_git_tracks_is_said_to_be_and_taken_out_by_the_next_cycle() {
    let repo = repository();
    repo.write(".agents/evolve/STOP", "for all\n");
    repo.commit_all("stop");
    let run = repo.run(&[]).expect(0);
    assert!(
        run.stdout.contains("for all") && run.stdout.contains("git tracks it"),
        "{}",
        run.stdout
    );
    repo.evolve(&["stop", "--off"]).expect(0);
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.git(&["ls-files", ".agents/evolve/STOP"]), "");
}

/// For an agent's script: the pids of `evolve` and of its supervising process.
const PIDS: &str = "evolve=$(head -n 1 .git/evolve/lock | cut -d' ' -f1); supervisor=$(tail -n 1 .git/evolve/lock | cut -d' ' -f1)";

#[test]
fn a_kill_is_not_outrun_by_stopping_whoever_would_obey_it() {
    let stops = [
        "kill -STOP $supervisor",
        "kill -STOP $evolve",
        "while :; do kill -STOP $supervisor; done &",
        "while :; do kill -STOP $evolve; done &",
        "setsid sh -c \"while :; do kill -STOP $supervisor; done\" &",
        "env -i PATH=\"$PATH\" setsid sh -c \"while :; do kill -STOP $evolve; done\" &",
    ];
    for stop in stops {
        let repo = repository();
        let start = repo.head();
        let script = format!(
            "{PIDS}\n{stop}\ntouch a; echo $$ >\"$OUT/pid\"\nwhile :; do echo x >>\"$OUT/works\"; sleep 0.02; done"
        );
        repo.agent_does(&[&script]);
        let child = repo.spawn_run(&[]);
        let agent = pid_in(&repo.out("pid"));
        repo.kill();
        wait_until(stop, || !is_alive(agent));
        let run = crate::harness::finish(child).expect(0);
        assert!(run.stdout.contains("KILL"), "{stop}: {}", run.stdout);
        assert_eq!(repo.each("result"), ["interrupted"], "{stop}");
        // Whichever of the two ended it.
        assert_eq!(repo.newest()["agent"]["status"], "stopped", "{stop}");
        assert_undone(&repo, &start, stop);
    }
}

#[test]
fn both_processes_look_in_the_home_that_the_system_knows_of_whatever_the_environment_says() {
    let repo = repository();
    let users = std::fs::read_to_string("/etc/passwd").unwrap();
    let own = nix::unistd::Uid::current().to_string();
    let fields = users
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let known = fields.filter(|fields| fields.get(2) == Some(&own.as_str()));
    let homes: Vec<_> = known.map(|fields| fields[5].to_owned()).collect();
    repo.agent_does(&["echo $$ >\"$OUT/pid\"; sleep 300"]);
    let child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    let told = std::fs::read(format!("/proc/{}/cmdline", repo.supervisor())).unwrap();
    crate::harness::signal(&child, "TERM");
    crate::harness::finish(child).expect(143);
    let told = String::from_utf8_lossy(&told).into_owned();
    for home in homes.into_iter().chain([repo.home().display().to_string()]) {
        let file = format!("\0{home}/.config/evolve/KILL\0");
        assert!(told.contains(&file), "{file} is not watched: {told}");
    }
}

#[test]
fn a_kill_cuts_short_the_time_that_a_signal_granted() {
    let repo = repository();
    repo.agent_does(&["trap 'touch \"$OUT/asked\"' TERM; echo $$ >\"$OUT/pid\"; i=0; while [ $i -lt 90 ]; do i=$((i + 1)); sleep 0.1; done; touch \"$OUT/lived\""]);
    let child = repo.spawn_run(&[]);
    pid_in(&repo.out("pid"));
    crate::harness::signal(&child, "TERM");
    wait_until("it was asked to end", || repo.out("asked").exists());
    repo.kill();
    crate::harness::finish(child).expect(143);
    assert!(!repo.out("lived").exists(), "it had all its time");
    assert!(repo.has(".agents/evolve/KILLED.json"));
    assert_eq!(repo.each("result"), ["interrupted"]);
}

#[test]
fn stop_kill_and_stop_now_wake_both_where_an_agent_stopped_both() {
    for (arguments, code) in [(&["stop", "--kill"], 0), (&["stop", "--now"], 130)] {
        let repo = repository();
        repo.agent_does(&[&format!(
            "{PIDS}\ntouch a; seen=0
            # Each wakes the other: only what is seen again and again is so.
            while [ $seen -lt 5 ]; do
                if grep -q '^State:.T' /proc/$supervisor/status && grep -q '^State:.T' /proc/$evolve/status
                then seen=$((seen + 1)); sleep 0.1; else seen=0; kill -STOP $supervisor $evolve; fi
            done
            echo $$ >\"$OUT/pid\"; sleep 300"
        )]);
        let child = repo.spawn_run(&[]);
        let agent = pid_in(&repo.out("pid"));
        let supervisor = repo.supervisor();
        assert!([child.id(), supervisor].into_iter().all(is_stopped));
        repo.evolve(arguments).expect(0);
        crate::harness::finish(child).expect(code);
        assert!(!is_alive(agent), "{arguments:?}");
        assert_eq!(repo.each("result"), ["interrupted"], "{arguments:?}");
    }
}

#[test]
fn an_agent_that_stops_evolve_and_ends_leaves_a_session_that_goes_on() {
    let repo = repository();
    repo.cycle(&format!("{PIDS}\ntouch a; kill -STOP $evolve"))
        .expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn a_kill_or_stop_that_is_an_empty_folder_is_taken_away_and_one_with_something_in_it_is_told_of() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    for (file, off) in [
        (repo.kill_file(), &["stop", "--off", "--kill"][..]),
        (repo.path(".agents/evolve/STOP"), &["stop", "--off"]),
    ] {
        fs::create_dir_all(file.join("what's this")).unwrap();
        let status = repo.evolve(&["status"]).expect(0).stdout;
        let way_out = format!("`evolve {}` takes it away", off.join(" "));
        assert!(status.contains(&way_out), "{status}");
        let said = repo.evolve(off).expect(1).stderr;
        let command = said.split('`').nth(1).expect("a command").to_owned();
        assert!(said.contains("has something in it"), "{said}");
        assert!(file.join("what's this").exists(), "{said}");
        fs::remove_dir(file.join("what's this")).unwrap();
        let said = repo.evolve(off).expect(0).stdout;
        assert!(said.starts_with("removed "), "{said}");
        assert!(!file.exists());
        fs::create_dir_all(file.join("what's this")).unwrap();
        let ran = repo.command("sh").args(["-c", &command]).status().unwrap();
        assert!(ran.success() && !file.exists(), "{command}");
    }
    repo.agent_does(&["touch a"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

/// Says whether a process is stopped.
fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| rest.starts_with('T'))
}

#[test]
fn where_it_cannot_be_told_whether_there_is_a_kill_file_the_way_out_is_the_one_that_helps() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let folder = repo.home().join(".config/evolve");
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(folder.parent().unwrap()).unwrap();
    std::fs::write(&folder, "").unwrap();
    let way_out = "mend what is in the place of its folder";
    let run = repo.run(&[]).expect(0);
    assert!(run.stdout.contains(way_out), "{}", run.stdout);
    let run = repo.evolve(&["doctor"]).expect(10);
    assert!(run.stdout.contains(way_out), "{}", run.stdout);
    let run = repo.evolve(&["status"]).expect(0);
    assert!(run.stdout.contains(way_out), "{}", run.stdout);
    let run = repo.evolve(&["report", "--md"]).expect(0);
    assert!(run.stdout.contains(way_out), "{}", run.stdout);
    let run = repo.evolve(&["stop", "--off"]).expect(0);
    assert!(run.stdout.contains(way_out), "{}", run.stdout);
    let run = repo.evolve(&["stop", "--off", "--kill"]).expect(1);
    assert!(run.stderr.contains(way_out), "{}", run.stderr);
    assert_eq!(repo.calls(), 0);
}
