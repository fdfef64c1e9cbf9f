//! What a run of the program holds in memory at most.

use std::fs;
use std::process::Child;
use std::time::Duration;

use crate::harness::{Run, finish};

/// What each run may hold at most, in KiB: 64 MB above an empty one, which holds 16 when it is built for tests.
const MOST: u64 = (64 + 16) << 10;

/// Waits for a started program, and asserts that it held no more than it may.
#[track_caller]
pub fn finish_bounded(child: Child) -> Run {
    let status = format!("/proc/{}/status", child.id());
    let watch = std::thread::spawn(move || {
        let mut most = 0;
        // The figure only grows, and is gone with the program.
        while let Some(kilobytes) = fs::read_to_string(&status).ok().as_deref().and_then(held) {
            most = kilobytes;
            std::thread::sleep(Duration::from_millis(1));
        }
        most
    });
    let run = finish(child);
    let most = watch.join().expect("it only reads");
    assert!(most <= MOST, "it held {most} KiB");
    run
}

fn held(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
