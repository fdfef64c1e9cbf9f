//! A full disk, I/O errors, a read-only file system, no file descriptors left: a clear error, nothing half-written, and a
//! state from which the next start goes on once the fault is gone.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::chance::{Chance, cases, seeds};
use crate::harness::{Run, TestRepo, finish, output};
use crate::kill_points::invariants;
use crate::kill_points::points::{self, Point, Strike, has_struck_no_file, strike};
use crate::kill_points::scenario::{Before, Scenario, go_on, settle};
use crate::kill_points::{Ground, run_all};

/// How many writes are tried one after the other until one to a file is met.
const TRIES: usize = 30;

/// The errors that a call can have on a real machine.
fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "write" | "pwrite64" | "writev" | "copy_file_range" | "sendfile" | "ftruncate" => {
            &["ENOSPC", "EIO", "EDQUOT"]
        }
        "fsync" | "fdatasync" => &["EIO", "ENOSPC", "EDQUOT"],
        "open" | "openat" | "creat" => &["ENOSPC", "EIO", "EDQUOT", "EROFS", "EMFILE", "EACCES"],
        "pipe2" => &["EMFILE"],
        "rename" | "renameat" | "renameat2" | "mkdir" | "mkdirat" | "link" | "linkat"
        | "symlink" | "symlinkat" => &["ENOSPC", "EIO", "EDQUOT", "EROFS", "EACCES"],
        "unlink" | "unlinkat" | "rmdir" | "chmod" | "fchmod" | "fchmodat" => {
            &["EIO", "EROFS", "EACCES"]
        }
        "clone" | "clone3" | "fork" | "vfork" => &["EAGAIN"],
        _ => &[],
    }
}

#[test]
fn after_an_io_error_at_any_point_there_is_a_clear_word_and_the_next_start_goes_on() {
    let mut ground = Ground::new();
    // Where both are struck it is a kill.
    let can_fail =
        |point: &Point| !errors(&point.call).is_empty() && (point.git.is_none() || point.is_alone);
    ground.points.retain(can_fail);
    let seeds = seeds(cases(200, 5_000));
    eprintln!("{} cases at {} points", seeds.len(), ground.points.len());
    run_all(&seeds, |seed| {
        let point = ground.point(seed);
        let mut chance = Chance::of(seed);
        let error = *chance.pick(errors(&point.call));
        // Once, as for a bad sector, or from then on, as on a full disk. A write may also be its last words.
        let lasts = chance.one_in(2) && point.call != "write";
        let mut point = point;
        let (mut repo, before) = ground.scene(point.scenario);
        let mut struck = strike(&repo, &point, Strike::Error(error, lasts));
        for _ in 0..TRIES {
            if !has_struck_no_file(&repo) {
                break;
            }
            // What no machine does says nothing of what is told, and is no reason to lose anything either.
            settles(&repo, before, &struck)
                .map_err(|why| format!("POINT={point} {error}: {why}"))?;
            point.count += 1;
            repo = ground.scene(point.scenario).0;
            struck = strike(&repo, &point, Strike::Error(error, lasts));
        }
        if has_struck_no_file(&repo) {
            return Err(format!("POINT={point}: no write to a file was met"));
        }
        let when = format!(
            "POINT={point} {error}{}",
            if lasts { ", lasting" } else { "" }
        );
        recovers(&repo, before, &struck).map_err(|why| format!("{when}: {why}"))
    });
}

#[test]
fn a_lock_of_git_that_could_not_be_taken_away_at_once_is_gone_at_the_end() {
    let is_lock = |line: &str| {
        let is_meant = ["/.git/refs/", "/.git/HEAD.lock", "/.git/index.lock"];
        line.starts_with("unlink")
            && line.contains(".lock\"")
            && is_meant.iter().any(|meant| line.contains(meant))
    };
    let mut cases = 0;
    for scenario in Scenario::ALL {
        let template = scenario.prepared();
        let before = Before::of(scenario, &template);
        // One that lasts is the same whatever the session does with the change.
        let lasting: &[bool] = match scenario {
            Scenario::Kept => &[false, true],
            _ => &[false],
        };
        for point in points::of_evolve(scenario, &template, is_lock) {
            for &lasts in lasting {
                let repo = template.copied();
                let struck = strike(&repo, &point, Strike::Error("EIO", lasts));
                recovers(&repo, &before, &struck)
                    .unwrap_or_else(|why| panic!("POINT={point}, lasting {lasts}: {why}"));
                cases += 1;
            }
        }
    }
    assert!(cases > 0, "no lock was met");
}

/// Checks what a failed session said and left, and that the next one goes on.
fn recovers(repo: &TestRepo, before: &Before, struck: &Run) -> Result<(), String> {
    let said =
        |what: &str, run: &Run| format!("\n--- {what}: {}\n{}{}", run.code, run.stdout, run.stderr);
    if (struck.stderr.clone() + &struck.stdout).contains("panicked") || struck.code > 100 {
        return Err(said("it broke down", struck));
    }
    let is_told = struck.code == 0
        || struck.stderr.starts_with("error: ")
        || struck.stderr.contains("\nerror: ");
    if !is_told || ![0, 1, 3].contains(&struck.code) {
        return Err(said("no clear word", struck));
    }
    settles(repo, before, struck)
}

/// Checks what a failed session left, and that the next one goes on.
fn settles(repo: &TestRepo, before: &Before, struck: &Run) -> Result<(), String> {
    let said =
        |what: &str, run: &Run| format!("\n--- {what}: {}\n{}{}", run.code, run.stdout, run.stderr);
    invariants::hold_at_once(repo).map_err(|why| why + &said("struck", struck))?;
    let settled = settle(repo);
    let told = said("struck", struck) + &said("settled", &settled);
    if settled.code != 0 {
        return Err(format!("the next start failed{told}"));
    }
    invariants::hold_when_settled(repo, before).map_err(|why| why + &told)?;
    let gone_on = go_on(repo);
    let told = told + &said("gone on", &gone_on);
    if gone_on.code != 0
        || !repo
            .content("HEAD")
            .iter()
            .any(|line| line.ends_with("\ta"))
    {
        return Err(format!("the next session failed{told}"));
    }
    invariants::sound(repo).map_err(|why| format!("after the next session: {why}{told}"))
}

/// Runs an ignored test of this file again in a namespace with a small file system of its own, which root may make and
/// anybody who may have a user namespace.
fn in_a_small_file_system(test: &str, size: &str) {
    let folder = tempfile::tempdir().unwrap();
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut command = Command::new("unshare");
    if !is_root {
        command.args(["--user", "--map-root-user"]);
    }
    let script = "mount -t tmpfs -o size=$1 tmpfs \"$TMPDIR\" && exec \"$0\" --ignored --exact \"$2\" --nocapture";
    command.args(["--mount", "sh", "-c", script]);
    command.arg(std::env::current_exe().unwrap());
    command.args([size, &format!("io_errors::{test}")]);
    let output = command.env("TMPDIR", folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

fn remount(how: &str) {
    let folder = std::env::var_os("TMPDIR").unwrap();
    let mut command = Command::new("mount");
    output(command.args(["-o", &format!("remount,{how}")]).arg(folder));
}

#[test]
fn a_full_disk_is_told_and_the_next_start_goes_on() {
    in_a_small_file_system("full_disk", "16m");
}

#[test]
#[ignore = "needs a file system of its own: see a_full_disk_is_told_and_the_next_start_goes_on"]
fn full_disk() {
    let mut told = 0;
    for scenario in [Scenario::Kept, Scenario::Undone] {
        let template = scenario.prepared();
        let before = Before::of(scenario, &template);
        for pages in (0..cases(40, 240)).map(|case| case * 240 / cases(40, 240)) {
            let repo = template.copied();
            let filler = fill(pages * 4096);
            let struck = repo.run(&["--max-cycles=1"]);
            fs::remove_file(filler).unwrap();
            recovers(&repo, &before, &struck)
                .unwrap_or_else(|why| panic!("{} with {pages} pages left: {why}", scenario.name()));
            if struck.code != 0 {
                told += 1;
                let advice = "free some space, then run evolve again";
                assert!(
                    struck.stderr.contains(advice),
                    "{pages} pages: {}",
                    struck.stderr
                );
            }
        }
    }
    assert!(told > 20, "the disk was full only {told} times");
}

/// Fills the file system but for so many bytes; returns the file that does it.
fn fill(left: u64) -> PathBuf {
    let filler = std::env::temp_dir().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    let page = [0; 4096];
    let mut size = 0;
    while file.write_all(&page).is_ok() {
        size += 4096;
    }
    file.set_len(size - left.min(size)).unwrap();
    filler
}

#[test]
fn a_read_only_file_system_is_told_and_the_next_start_goes_on() {
    in_a_small_file_system("read_only", "64m");
}

#[test]
#[ignore = "needs a file system of its own: see a_read_only_file_system_is_told_and_the_next_start_goes_on"]
fn read_only() {
    for scenario in Scenario::ALL {
        let repo = scenario.prepared();
        let before = Before::of(scenario, &repo);
        remount("ro");
        let struck = repo.run(&["--max-cycles=1"]);
        remount("rw");
        assert_eq!(struck.code, 1, "{}", struck.stderr);
        let root = repo.root().display().to_string();
        let advice = "make the file system writable, then run evolve again";
        assert!(
            struck.stderr.contains(&root) && struck.stderr.contains(advice),
            "{}",
            struck.stderr
        );
        recovers(&repo, &before, &struck)
            .unwrap_or_else(|why| panic!("{}: {why}", scenario.name()));
    }
}

#[test]
fn with_few_file_descriptors_left_there_is_a_clear_word_and_the_next_start_goes_on() {
    let mut told = 0;
    for scenario in [Scenario::Kept, Scenario::Undone, Scenario::Sweep] {
        let template = scenario.prepared();
        let before = Before::of(scenario, &template);
        for limit in (8..100).step_by(7) {
            let repo = template.copied();
            let mut command = repo.command("sh");
            command.args([
                "-c",
                "ulimit -n $1; shift; exec \"$@\"",
                "sh",
                &limit.to_string(),
            ]);
            command
                .arg(env!("CARGO_BIN_EXE_evolve"))
                .args(scenario.arguments(&repo));
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let struck = finish(command.spawn().unwrap());
            if struck.code != 0 {
                told += 1;
                assert!(
                    struck.code == 1 && struck.stderr.contains("ulimit -n"),
                    "{} with {limit}: {} {}{}",
                    scenario.name(),
                    struck.code,
                    struck.stdout,
                    struck.stderr
                );
            }
            recovers(&repo, &before, &struck).unwrap_or_else(|why| {
                panic!("{} with {limit} descriptors: {why}", scenario.name())
            });
        }
    }
    assert!(told > 10, "there were too few only {told} times");
}
