//! The processes below this one, and their end.
//!
//! This process is the reaper of orphans: whatever below it loses its parent becomes its child, in the same instant for
//! everybody who looks (the kernel moves children before their parent's end can be seen). So every living descendant has an
//! ancestor among this process's children, and where there are no children, nothing is left. A child that nobody here
//! started is an orphan. Only children are killed, and groups whose leader's status nobody has taken yet: the kernel gives
//! neither's number to anybody else.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::effects::proc_table::{self, Children};

/// How long is looked for somebody new at once: in a storm of forks there is always somebody.
const AT_ONCE: Duration = Duration::from_millis(100);

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

/// The children that live on, as far as they were seen.
#[derive(Debug, PartialEq, Eq)]
pub struct Living {
    /// Those that were seen.
    pub pids: Vec<u32>,
    /// Not all of them may have been.
    pub may_be_more: bool,
}

impl Living {
    /// Says whether it is sure that there is none.
    pub fn is_nobody(&self) -> bool {
        self.pids.is_empty() && !self.may_be_more
    }

    /// Names them. For those that were not seen stands this process, whose children they are.
    pub fn names(self) -> Vec<u32> {
        let mut names = self.pids;
        names.extend(self.may_be_more.then(std::process::id));
        names
    }
}

/// Returns the children that are not in `known` and live on; takes the status of those that have ended.
pub fn orphans(all: &Children, known: &HashSet<u32>) -> Living {
    let until = Instant::now() + AT_ONCE;
    living(|| all.read(), known, has_been_reaped, until)
}

/// The same for any list and any way to take a status. The list is read again as long as somebody on it has ended, and it is not
/// too late: what that one had handed over before its end may have come after the reading.
fn living(
    read: impl Fn() -> io::Result<Vec<u32>>,
    known: &HashSet<u32>,
    mut has_been_reaped: impl FnMut(u32) -> bool,
    until: Instant,
) -> Living {
    loop {
        let Ok(mut pids) = read() else {
            let (pids, may_be_more) = (Vec::new(), true);
            return Living { pids, may_be_more };
        };
        pids.retain(|pid| !known.contains(pid));
        let listed = pids.len();
        pids.retain(|pid| !has_been_reaped(*pid));
        let may_be_more = pids.len() < listed;
        if !may_be_more || Instant::now() >= until {
            return Living { pids, may_be_more };
        }
    }
}

/// Kills those orphans that `is_meant` picks, and again what a killed parent handed over, until there is nobody new or that
/// took too long. Returns those that are left: most of them are about to end.
pub fn kill_orphans(
    all: &Children,
    known: &HashSet<u32>,
    is_meant: impl Fn(u32) -> bool,
) -> Living {
    let find = |until| {
        let mut left = living(|| all.read(), known, has_been_reaped, until);
        left.pids.retain(|pid| is_meant(*pid));
        left
    };
    let end = |pid| {
        // It has ended already: that is what was wanted.
        let _ = kill(nix_pid(pid), Signal::SIGKILL);
    };
    kill_found(find, end, Instant::now() + AT_ONCE)
}

/// The same for any way to find and to kill them.
fn kill_found(
    find: impl Fn(Instant) -> Living,
    mut end: impl FnMut(u32),
    until: Instant,
) -> Living {
    let mut killed = HashSet::new();
    loop {
        let mut left = find(until);
        let fresh = left.pids.iter().copied();
        let fresh: Vec<u32> = fresh.filter(|pid| killed.insert(*pid)).collect();
        if fresh.is_empty() {
            return left;
        }
        fresh.into_iter().for_each(&mut end);
        if Instant::now() >= until {
            left.may_be_more = true;
            return left;
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

/// Takes the status of every child that has ended; says whether none is left. No list has to be read for that.
pub fn is_childless() -> bool {
    let until = Instant::now() + AT_ONCE;
    while Instant::now() < until {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::ECHILD) => return true,
            Ok(WaitStatus::StillAlive) => return false,
            Ok(_) | Err(_) => {}
        }
    }
    false
}

/// Returns a pid as system calls want it.
pub fn nix_pid(pid: u32) -> Pid {
    Pid::from_raw(i32::try_from(pid).expect("BUG: a pid fits into 31 bits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

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
        let left = living(|| Ok(table.borrow().clone()), &HashSet::new(), ends, soon());
        assert_eq!(left.pids, [11]);
        assert!(!left.may_be_more);
    }

    #[test]
    fn the_status_of_those_who_are_known_is_not_taken() {
        let none = |pid: u32| panic!("asked for {pid}");
        let left = living(|| Ok(vec![7]), &HashSet::from([7]), none, soon());
        assert!(left.is_nobody());
    }

    #[test]
    fn where_there_is_always_somebody_new_the_search_ends_and_nobody_believes_that_none_is_left() {
        let newest = Cell::new(10);
        let read = || Ok(vec![newest.replace(newest.get() + 1)]);
        // Each of them has ended once it is asked for.
        let left = living(read, &HashSet::new(), |_| true, Instant::now());
        assert!(left.pids.is_empty() && !left.is_nobody());
        assert_eq!(left.names(), [std::process::id()]);
        // Each of them lives until it is killed.
        let mut killed = Vec::new();
        let find = |until| living(read, &HashSet::new(), |_| false, until);
        let left = kill_found(find, |pid| killed.push(pid), Instant::now());
        assert!(left.may_be_more);
        assert_eq!(left.pids, killed);
    }

    #[test]
    fn a_list_that_cannot_be_read_does_not_say_that_nobody_is_left() {
        let read = || Err(Errno::EMFILE.into());
        let left = living(read, &HashSet::new(), |_| false, soon());
        assert!(!left.is_nobody());
    }

    /// Later than any list is read here.
    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }
}
