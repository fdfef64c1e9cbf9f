//! A full disk, I/O errors, a read-only file system, no file descriptors left: a clear error, nothing half-written, and a
//! state from which the next start goes on once the fault is gone.

use crate::chance::{Chance, cases, seeds};
use crate::harness::{Run, TestRepo};
use crate::kill_points::invariants;
use crate::kill_points::points::{Point, Strike, strike};
use crate::kill_points::scenario::{Before, go_on, settle};
use crate::kill_points::{Ground, run_all};

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
        let (repo, before) = ground.scene(point.scenario);
        let struck = strike(&repo, &point, Strike::Error(error, lasts));
        let when = format!(
            "POINT={point} {error}{}",
            if lasts { ", lasting" } else { "" }
        );
        recovers(&repo, before, &struck).map_err(|why| format!("{when}: {why}"))
    });
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
