//! An answer that cannot be written is an error that is said; only a reader that went away deserves silence.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::harness::{Run, TestRepo, finish};

/// Runs the program with a stdout that takes nothing.
fn to_a_full_disk(repo: &TestRepo, arguments: &[&str]) -> Run {
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = repo.command(repo.program());
    command.args(arguments).stdout(full);
    run(&mut command)
}

/// Runs a command whose stdout is somewhere already.
fn run(command: &mut Command) -> Run {
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::new(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

const SAID: &str = "error: cannot write to stdout: No space left on device";

#[test]
fn an_answer_that_cannot_be_written_ends_with_an_error() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("a", "");
    repo.commit_all("there");
    for command in [
        &["report", "--md"][..],
        &["report", "--out", "-"],
        &["schema", "goals"],
        &["history"],
        &["audit"],
        &["measure", "--json", "a"],
        &["measure"],
        &["status", "--json"],
        &["man"],
        &["help", "agents"],
    ] {
        let run = to_a_full_disk(&repo, command).expect(1);
        assert_eq!(
            run.stderr.matches(SAID).count(),
            1,
            "{command:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn what_is_found_failing_keeps_its_exit_code_when_it_cannot_be_written() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let run = to_a_full_disk(&repo, &["measure", "--gate"]).expect(10);
    assert_eq!(run.stderr.matches(SAID).count(), 1, "{}", run.stderr);
}

#[test]
fn a_loop_whose_story_cannot_be_written_works_on_to_its_end_and_says_so_once() {
    for told in [&["--json"][..], &[]] {
        let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
        repo.agent_does(&["touch a", "touch b"]);
        let agent = format!("--agent={}", repo.agent());
        let arguments = [&[&*agent, "--max-cycles=2"], told].concat();
        let run = to_a_full_disk(&repo, &arguments).expect(1);
        assert_eq!(run.stderr.matches(SAID).count(), 1, "{}", run.stderr);
        assert_eq!(repo.each("result"), ["improved", "improved"]);
        assert!(repo.subjects()[0].ends_with("ended — limit"));
    }
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = repo.command(repo.program());
    command.args(["schema", "goals"]).stdout(writer);
    let run = run(&mut command).expect(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_file_that_may_not_grow_is_an_error_with_its_path_and_whoever_is_started_ends_as_ever() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let limited = |blocks: &str, agent: &str| {
        let mut command = repo.command("sh");
        command.args(["-c", "ulimit -f $1; shift; exec \"$@\"", "sh", blocks]);
        command.arg(repo.program()).arg("--max-cycles=1");
        command
            .arg(format!("--agent={agent}"))
            .stdout(Stdio::piped());
        finish(command.stderr(Stdio::piped()).spawn().unwrap())
    };
    let run = limited("1", "touch a");
    assert_eq!(run.code, 1, "{run:?}");
    let error = run
        .stderr
        .lines()
        .find(|line| line.starts_with("error: cannot write /"));
    let error = error.unwrap_or_else(|| panic!("{}", run.stderr));
    let wanted = ".json: File too large (os error 27)";
    assert!(
        error.contains("/.agents/evolve/fitness-") && error.ends_with(wanted),
        "{error}"
    );
    // A little more is enough for evolve, and the agent meets the limit with nothing blocked or ignored.
    let agent = "(head -c 9999999 /dev/zero >big); kill -l $? >ended; rm big; grep SigBlk /proc/self/status >a";
    let run = limited("4000", agent);
    assert_eq!(repo.each("result"), ["improved"], "{run:?}");
    assert_eq!(repo.read("ended"), "XFSZ\n");
    assert_eq!(repo.read("a"), "SigBlk:\t0000000000000000\n");
}
