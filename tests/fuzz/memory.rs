//! What a run of the program holds in memory at most.

use std::fs;
use std::process::Child;
use std::time::Duration;

use crate::harness::{Run, finish};

/// What each run may hold at most, in KiB: 64 MB above an empty one, which holds 8. The pages of the program's own file are not
/// among it: how many these are is a matter of how it was built.
const MOST: u64 = (64 + 8) << 10;

/// Waits for a started program, and asserts that it held no more than it may.
#[track_caller]
pub fn finish_bounded(child: Child) -> Run {
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        // What is read is gone with the program.
        while let Some(kilobytes) = fs::read_to_string(&status).ok().as_deref().and_then(held) {
            most = kilobytes.max(most);
            std::thread::sleep(Duration::from_millis(1));
        }
        most
    });
    let run = finish(child);
    let most = watch.join().expect("it only reads");
    assert!(most <= MOST, "it held {most} KiB");
    run
}

/// Returns the most that a program held so far without the pages of its own file, in KiB, as its `/proc/PID/status` says.
pub fn held(status: &str) -> Option<u64> {
    let figure = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some(figure("VmHWM:")?.saturating_sub(figure("RssFile:")?))
}
