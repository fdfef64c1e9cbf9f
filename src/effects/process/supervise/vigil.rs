//! The second look for KILL, by the supervising process: whoever keeps `evolve` from looking (stops it, or has it wait for
//! something that never comes) has not outrun it. And an `evolve` that was stopped goes on, unless a person at a terminal
//! suspended it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::getppid;

use crate::effects::proc_table;
use crate::effects::stop::KillSwitch;

/// How often it looks.
const LOOK: Duration = Duration::from_millis(250);
/// How long `evolve` has to end what runs by itself. It sees KILL within a fifth of a second and grants 0.4 seconds.
const HEAD_START: Duration = Duration::from_millis(800);

/// Whoever looks, and what was seen.
#[derive(Debug)]
pub struct Vigil {
    switch: KillSwitch,
    looked: Instant,
    seen: Option<Instant>,
    evolve: u32,
}

impl Vigil {
    /// Looks for these.
    pub fn new(kill_files: Vec<PathBuf>) -> Vigil {
        Vigil {
            switch: KillSwitch::watch(kill_files),
            looked: Instant::now(),
            seen: None,
            evolve: getppid().as_raw().unsigned_abs(),
        }
    }

    /// Returns how long it may sleep.
    pub fn wake_up(&self) -> Duration {
        LOOK.saturating_sub(self.looked.elapsed())
    }

    /// Looks, if it is time to. Returns the moment that KILL was seen at, once everything that was started before it has to be
    /// ended from here; what `evolve` starts later is to settle what it had begun.
    pub fn who_is_to_end(&mut self) -> Option<Instant> {
        if self.looked.elapsed() < LOOK {
            return None;
        }
        self.looked = Instant::now();
        if self.seen.is_none() && self.switch.look().is_some() {
            self.seen = Some(self.looked);
        }
        let is_suspended = self.is_parent() && proc_table::is_suspended(self.evolve);
        // One that a person suspended at a terminal stays so, but not through a kill: it has to settle what it had begun.
        if is_suspended && (self.seen.is_some() || !proc_table::is_in_background(self.evolve)) {
            let _ = kill(getppid(), Signal::SIGCONT);
        }
        let seen = self.seen?;
        (is_suspended || seen.elapsed() >= HEAD_START).then_some(seen)
    }

    fn is_parent(&self) -> bool {
        getppid().as_raw().unsigned_abs() == self.evolve
    }
}
