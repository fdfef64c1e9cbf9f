//! The points of a session at which it can be struck: each state-changing system call of `evolve` itself, and of each git
//! that it calls.
//!
//! `strace` without `-f` follows the program's first thread alone, so that a count names one call of one process. For git a
//! program of that name stands first on the PATH: it counts its calls, and runs the one that is meant under `strace`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::str::FromStr;

use super::scenario::Scenario;
use crate::chance::Chance;
use crate::harness::{Run, TestRepo, finish};

/// System calls that change something outside the process, by what they are called on any machine; strace passes over
/// names it does not know where they start with a question mark.
const CHANGING: &str = "?open,openat,?creat,write,?writev,pwrite64,?rename,?renameat,renameat2,?unlink,unlinkat,?rmdir,\
    ?link,linkat,?symlink,symlinkat,?mkdir,mkdirat,fsync,fdatasync,ftruncate,?chmod,fchmod,fchmodat,copy_file_range,\
    sendfile,?fork,?vfork,clone,clone3,wait4,waitid,kill,flock,sendmsg,pipe2,exit_group";

/// The trace of the calls among which one is struck.
const STRUCK: &str = "struck";

/// One moment of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    pub scenario: Scenario,
    /// Which git, counted from 1 in the order of their calls; none is `evolve` itself.
    pub git: Option<usize>,
    /// Git is struck alone and `evolve` lives on; else both are struck, as when the machine goes down.
    pub is_alone: bool,
    pub call: String,
    /// The how-manieth such call of that process, from 1.
    pub count: usize,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = if self.is_alone { "alone" } else { "" };
        let who = self
            .git
            .map_or("evolve".to_owned(), |git| format!("{git}{alone}"));
        write!(
            f,
            "{}:{who}:{}:{}",
            self.scenario.name(),
            self.call,
            self.count
        )
    }
}

impl FromStr for Point {
    type Err = String;

    fn from_str(text: &str) -> Result<Point, String> {
        let words: Vec<&str> = text.split(':').collect();
        let [scenario, who, call, count] = words[..] else {
            return Err(format!("{text} is no point, as in undone:evolve:write:12"));
        };
        let scenario = Scenario::ALL.into_iter().find(|one| one.name() == scenario);
        Ok(Point {
            scenario: scenario.ok_or("no such scenario")?,
            git: who.trim_end_matches("alone").parse().ok(),
            is_alone: who.ends_with("alone"),
            call: call.to_owned(),
            count: count.parse().map_err(|_| "no such count")?,
        })
    }
}

/// Returns every point of a session: one undisturbed run is watched.
pub fn of(scenario: Scenario, template: &TestRepo) -> Vec<Point> {
    let repo = template.copied();
    let evolve = watched(scenario, &repo);
    let mut points = Vec::new();
    let mut add = |git: Option<usize>, is_alone: bool, trace: &str| {
        // Those of one name stand together: seeds are spread evenly over them.
        let mut calls: Vec<_> = changing(trace).collect();
        calls.sort_by_key(|(call, _, _)| *call);
        points.extend(calls.into_iter().map(|(call, count, _)| Point {
            scenario,
            git,
            is_alone,
            call: call.to_owned(),
            count,
        }));
    };
    add(None, false, &evolve);
    for git in 1.. {
        let Ok(trace) = fs::read_to_string(repo.out(&format!("calls-of-git-{git}"))) else {
            break;
        };
        add(Some(git), false, &trace);
        add(Some(git), true, &trace);
    }
    points
}

/// Returns the points of a session at which `evolve` itself makes calls that are wanted, by their lines in the trace.
pub fn of_evolve(
    scenario: Scenario,
    template: &TestRepo,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Point> {
    let trace = watched(scenario, &template.copied());
    let calls = changing(&trace).filter(|(_, _, line)| wanted(line));
    let point = |(call, count, _): (&str, usize, &str)| Point {
        scenario,
        git: None,
        is_alone: false,
        call: call.to_owned(),
        count,
    };
    calls.map(point).collect()
}

/// Watches an undisturbed session; returns the calls of `evolve`. Those of each git are in `calls-of-git-1` and so on.
fn watched(scenario: Scenario, repo: &TestRepo) -> String {
    let log = repo.out("calls-of-evolve");
    let shim = with_git(
        repo,
        "exec strace -y -o \"$OUT/calls-of-git-$n\" -e trace=\"$CHANGING\" \"$GIT\" \"$@\"",
    );
    let trace = [
        "-y".to_owned(),
        "-o".to_owned(),
        log.display().to_string(),
        "-e".to_owned(),
        format!("trace={CHANGING}"),
    ];
    strace((scenario, repo), &trace, &shim).expect(0);
    fs::read_to_string(log).unwrap()
}

/// Returns the calls of a trace that change something: the name, as which of its name, and the line. An open that only reads,
/// a write to something that is no file and a call that failed are passed over, but counted.
fn changing(trace: &str) -> impl Iterator<Item = (&str, usize, &str)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    trace.lines().filter_map(move |line| {
        let (name, rest) = line.split_once('(')?;
        let count = seen.entry(name).or_default();
        *count += 1;
        let changes = match name {
            "open" | "openat" => rest.contains("O_CREAT") || rest.contains("O_TRUNC"),
            "write" | "writev" | "pwrite64" => rest
                .split_once('<')
                .is_some_and(|(_, file)| file.starts_with('/') && !file.starts_with("/dev/null")),
            _ => true,
        };
        let failed = rest.contains(") = -1 ") && !rest.contains("EEXIST");
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        (changes && !failed && name.bytes().all(is_name)).then_some((name, *count, line))
    })
}

/// What happens at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    /// SIGKILL.
    Kill,
    /// The call fails with this error; all later ones of its name, too, where that is said.
    Error(&'static str, bool),
}

/// Runs the session with a strike at the point.
pub fn strike(repo: &TestRepo, point: &Point, strike: Strike) -> Run {
    let what = match strike {
        Strike::Kill => "signal=SIGKILL".to_owned(),
        Strike::Error(name, _) => format!("error={name}"),
    };
    let lasts = if matches!(strike, Strike::Error(_, true)) {
        "+"
    } else {
        ""
    };
    let call = &point.call;
    let inject = format!("inject={call}:{what}:when={}{lasts}", point.count);
    let options = [
        "-y".to_owned(),
        "-o".to_owned(),
        repo.out(STRUCK).display().to_string(),
        "-e".to_owned(),
        format!("trace={call}"),
        "-e".to_owned(),
        inject.clone(),
    ];
    let Some(git) = point.git else {
        let shim = std::env::var("PATH").unwrap();
        return strace((point.scenario, repo), &options, &shim);
    };
    let with_evolve = match point.is_alone {
        false => "kill -9 $PPID",
        true => ":",
    };
    let script = format!(
        "[ $n = {git} ] || exec \"$GIT\" \"$@\"\n\
         strace -y -o \"$OUT/{STRUCK}\" -e trace={call} -e {inject} \"$GIT\" \"$@\"\ncode=$?\n\
         [ $code != 137 ] || {with_evolve}\nexit $code"
    );
    let shim = with_git(repo, &script);
    let mut command = command(repo, env!("CARGO_BIN_EXE_evolve"), &shim);
    command.args(point.scenario.arguments(repo));
    finish(command.spawn().unwrap())
}

/// Says whether a call was struck that no machine fails at: the how-manieth write it is depends on how busy the machine is,
/// and this one went to a pipe or to what wakes a thread.
pub fn has_struck_no_file(repo: &TestRepo) -> bool {
    let trace = fs::read(repo.out(STRUCK)).unwrap_or_default();
    let trace = String::from_utf8_lossy(&trace);
    let mut struck = trace.lines().filter(|line| line.contains("(INJECTED)"));
    struck.any(|line| {
        line.starts_with("write")
            && line
                .split_once('<')
                .is_none_or(|(_, file)| !file.starts_with('/'))
    })
}

/// Kills the start that settles what an earlier kill left, somewhere; or it comes through.
pub fn strike_again(scene: (Scenario, &TestRepo), chance: &mut Chance) -> Run {
    let calls = [
        "write", "rename", "unlink", "fsync", "mkdir", "link", "clone3", "openat",
    ];
    let call = *chance.pick(&calls);
    let most = if call == "openat" { 250 } else { 20 };
    let inject = format!(
        "inject={call}:signal=SIGKILL:when={}",
        1 + chance.below(most)
    );
    let options = [
        "-o",
        "/dev/null",
        "-e",
        &format!("trace={call}"),
        "-e",
        &inject,
    ];
    let path = std::env::var("PATH").unwrap();
    strace(scene, &options.map(str::to_owned), &path)
}

fn strace((scenario, repo): (Scenario, &TestRepo), options: &[String], path: &str) -> Run {
    let mut command = command(repo, "strace", path);
    command.args(options).arg(env!("CARGO_BIN_EXE_evolve"));
    command.args(scenario.arguments(repo));
    finish(command.spawn().unwrap())
}

fn command(repo: &TestRepo, program: &str, path: &str) -> Command {
    let mut command = repo.command(program);
    command.env("PATH", path).env("CHANGING", CHANGING);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Puts a script in front of git that knows the call's number as `$n` and the real git as `$GIT`; returns the PATH that has
/// it.
fn with_git(repo: &TestRepo, script: &str) -> String {
    let real = which::which("git").unwrap();
    let folder = repo.out("bin");
    fs::create_dir_all(&folder).unwrap();
    let shim = folder.join("git");
    // A folder is made by one alone, so that two calls at once get two numbers. When the test is gone, so is the place.
    let number = "n=1; until mkdir \"$OUT/bin/call-$n\" 2>/dev/null; do [ -d \"$OUT/bin\" ] || exit 1; n=$((n + 1)); done";
    fs::write(
        &shim,
        format!("#!/bin/sh\nGIT='{}'\n{number}\n{script}\n", real.display()),
    )
    .unwrap();
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}
