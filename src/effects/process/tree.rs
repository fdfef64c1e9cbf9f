//! The processes below this one, and their end.
//!
//! This process is the reaper of orphans: whatever below it loses its parent becomes its child, in the same instant for
//! everybody who looks (the kernel moves children before their parent's end can be seen). So every living descendant has an
//! ancestor among this process's children, and where there are no children, nothing is left. A child that nobody here
//! started is an orphan. Only children are killed, and groups whose leader's status nobody has taken yet: the kernel gives
//! neither's number to anybody else.

use std::collections::HashSet;
use std::fmt::Write as _;

use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::effects::proc_table::{self, Children};

/// Makes this process the reaper of orphaned descendants, hides its memory and environment from other processes of the same
/// user, and lets nothing that crashes leave a core file in somebody's repository.
pub fn take_charge() {
    #[cfg(target_os = "linux")]
    {
        let mut failed = String::new();
        if let Err(cause) = nix::sys::prctl::set_child_subreaper(true) {
            let _ = write!(failed, "cannot become a subreaper: {cause}");
        }
        if let Err(cause) = nix::sys::prctl::set_dumpable(false) {
            let _ = write!(failed, "cannot hide the environment: {cause}");
        }
        if !failed.is_empty() {
            tracing::warn!("{failed}");
        }
    }
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
}

/// Returns the children that are not in `known` and live on; takes the status of those that have ended.
pub fn orphans(all: &Children, known: &HashSet<u32>) -> Vec<u32> {
    living(|| all.read(), known, has_been_reaped)
}

/// The same for any list and any way to take a status. The list is read again as long as somebody on it has ended: what that
/// one had handed over before its end may have come after the reading.
fn living(
    read: impl Fn() -> Vec<u32>,
    known: &HashSet<u32>,
    mut has_been_reaped: impl FnMut(u32) -> bool,
) -> Vec<u32> {
    loop {
        let mut children = read();
        children.retain(|pid| !known.contains(pid));
        let listed = children.len();
        children.retain(|pid| !has_been_reaped(*pid));
        if children.len() == listed {
            return children;
        }
    }
}

/// Kills those orphans that `is_meant` picks, and again what a killed parent handed over, until there is nobody new.
/// Returns those that are left: most of them are about to end.
pub fn kill_orphans(
    all: &Children,
    known: &HashSet<u32>,
    is_meant: impl Fn(u32) -> bool,
) -> Vec<u32> {
    let mut killed = HashSet::new();
    loop {
        let mut left = orphans(all, known);
        left.retain(|pid| is_meant(*pid));
        let fresh: Vec<u32> = left
            .iter()
            .copied()
            .filter(|pid| killed.insert(*pid))
            .collect();
        if fresh.is_empty() {
            return left;
        }
        for pid in fresh {
            // It has ended already: that is what was wanted.
            let _ = kill(nix_pid(pid), Signal::SIGKILL);
        }
    }
}

/// Sends a signal to a group whose leader is a child that was not reaped.
pub fn signal_group(leader: u32, signal: Signal) {
    // The group is gone: that is what was wanted.
    let _ = killpg(nix_pid(leader), signal);
}

/// Says whether a living process below these belongs to the group. One that changes its parent at this very moment may be
/// missed.
pub fn has_group_member(group: u32, below: &[u32]) -> bool {
    let mut pids = below.to_vec();
    let mut seen = HashSet::new();
    while let Some(pid) = pids.pop() {
        if !seen.insert(pid) {
            continue;
        }
        if proc_table::group(pid) == Some(group) && proc_table::is_alive(pid, None) {
            return true;
        }
        pids.extend(proc_table::children_of(pid));
    }
    false
}

/// Takes the exit status of a child that has ended; says whether there was one to take.
pub fn has_been_reaped(pid: u32) -> bool {
    match waitpid(nix_pid(pid), Some(WaitPidFlag::WNOHANG)) {
        Ok(WaitStatus::StillAlive) => false,
        Ok(_) | Err(_) => true,
    }
}

/// Returns a pid as system calls want it.
pub fn nix_pid(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).expect("BUG: a pid fits into 31 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn what_is_handed_over_while_its_parent_ends_is_not_missed() {
        // The parent ends after the list was read and before it is asked for: its child came in between.
        let table = RefCell::new(vec![10]);
        let ends = |pid: u32| {
            let has_ended = pid == 10;
            if has_ended {
                *table.borrow_mut() = vec![11];
            }
            has_ended
        };
        let left = living(|| table.borrow().clone(), &HashSet::new(), ends);
        assert_eq!(left, [11]);
    }

    #[test]
    fn the_status_of_those_who_are_known_is_not_taken() {
        let none = |pid: u32| panic!("asked for {pid}");
        let left = living(|| vec![7], &HashSet::from([7]), none);
        assert_eq!(left, [0u32; 0]);
    }
}
