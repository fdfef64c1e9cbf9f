//! The second look for KILL, by the supervising process: whoever keeps `evolve` from looking (stops it, or has it wait for
//! something that never comes) has not outrun it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::getppid;

use crate::effects::proc_table;
use crate::effects::stop::KillSwitch;

/// How often it looks while a job runs.
const LOOK: Duration = Duration::from_millis(250);
/// How long `evolve` has to end what runs by itself. It sees KILL within a fifth of a second and grants 0.4 seconds.
const HEAD_START: Duration = Duration::from_millis(800);

/// Whoever looks, and what was seen.
#[derive(Debug)]
pub struct Vigil {
    switch: Option<KillSwitch>,
    looked: Instant,
    seen: Option<Instant>,
    evolve: u32,
}

impl Vigil {
    /// Looks for these; for nothing if there are none.
    pub fn new(kill_files: Vec<PathBuf>) -> Vigil {
        Vigil {
            switch: (!kill_files.is_empty()).then(|| KillSwitch::watch(kill_files)),
            looked: Instant::now(),
            seen: None,
            evolve: getppid().as_raw().unsigned_abs(),
        }
    }

    /// Returns how long it may sleep.
    pub fn wake_up(&self, has_jobs: bool) -> Option<Duration> {
        let next = LOOK.saturating_sub(self.looked.elapsed());
        self.is_on_watch(has_jobs).then_some(next)
    }

    /// After a kill `evolve` has to be kept awake until it is settled, whether a job runs or not.
    fn is_on_watch(&self, has_jobs: bool) -> bool {
        self.switch.is_some() && (has_jobs || self.seen.is_some())
    }

    /// Looks, if it is time to. Returns the moment that KILL was seen at, once everything that was started before it has to be
    /// ended from here; what `evolve` starts later is to settle what it had begun.
    pub fn who_is_to_end(&mut self, has_jobs: bool) -> Option<Instant> {
        if !self.is_on_watch(has_jobs) || self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        if self.seen.is_none() && self.switch.as_mut()?.look().is_some() {
            self.seen = Some(self.looked);
        }
        let seen = self.seen?;
        let is_stopped = proc_table::is_stopped(self.evolve) && is_parent(self.evolve);
        if is_stopped {
            // It has to settle what it had begun; a stop is no way around that.
            let _ = kill(getppid(), Signal::SIGCONT);
        }
        (is_stopped || seen.elapsed() >= HEAD_START).then_some(seen)
    }
}

fn is_parent(pid: u32) -> bool {
    getppid().as_raw().unsigned_abs() == pid
}
