//! Whether the supervising process still answers. An agent may stop it (SIGSTOP cannot be blocked), and whoever waits for its
//! answer would wait for ever.

use std::time::{Duration, Instant};

use super::ANSWER;

/// How often it is asked for a sign of life while something is to end.
pub const BEAT: Duration = Duration::from_millis(100);
/// How long it may be silent before it is woken: an answer takes less than a thousandth of a second, and a machine that is
/// busy a few hundredths.
const WAKE: Duration = Duration::from_millis(250);
/// How long one may be silent that was found stopped though it was woken.
const STOPPED: Duration = Duration::from_millis(600);
/// How often it must have been found so.
const TIMES: u32 = 3;
/// For how long `evolve` itself has not run if it did not ask: suspended, or at work on something else.
const ABSENT: Duration = Duration::from_secs(1);
/// How long any may be silent once KILL was seen, which has to act within about a second.
const KILLED: Duration = Duration::from_secs(1);

/// What is to be done about the silence of the supervising process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing: it answers, or is not late.
    Short,
    /// It is to be woken, should it be stopped.
    Long,
    /// It is given up: what it supervises is to be ended without it.
    Lost,
}

/// When it was heard last.
#[derive(Debug)]
pub struct Pulse {
    heard: Instant,
    /// When its silence was judged last.
    judged: Instant,
    stopped: u32,
}

impl Pulse {
    /// Begins to listen.
    pub fn from(now: Instant) -> Pulse {
        Pulse {
            heard: now,
            judged: now,
            stopped: 0,
        }
    }

    /// Notes that it was heard.
    pub fn heard(&mut self, now: Instant) {
        *self = Pulse::from(now);
    }

    /// Judges its silence; `is_stopped` is how it was found now, `is_killed` whether KILL was seen.
    pub fn judge(&mut self, now: Instant, is_stopped: bool, is_killed: bool) -> Silence {
        // Whoever was not asked all the while, because `evolve` itself did not run, owes no answer.
        if now.saturating_duration_since(self.judged) > ABSENT {
            self.heard(now);
        }
        self.judged = now;
        let silent = now.saturating_duration_since(self.heard);
        if silent < WAKE {
            return Silence::Short;
        }
        self.stopped += u32::from(is_stopped);
        let is_lost = silent >= ANSWER
            || (silent >= KILLED && is_killed)
            || (silent >= STOPPED && self.stopped >= TIMES);
        match is_lost {
            true => Silence::Lost,
            false => Silence::Long,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The silence of one that is asked each `BEAT`, until it is lost or the time is over.
    fn last(is_stopped: bool, is_killed: bool, milliseconds: u64) -> Silence {
        let began = Instant::now();
        let mut pulse = Pulse::from(began);
        let mut silence = Silence::Short;
        let beat = BEAT.as_millis() as u64;
        for after in (0..=milliseconds).step_by(beat as usize) {
            let now = began + Duration::from_millis(after);
            silence = pulse.judge(now, is_stopped, is_killed);
        }
        silence
    }

    #[test]
    fn one_that_was_stopped_and_stays_so_is_given_up_soon_and_one_that_is_only_slow_late() {
        let table = [
            (false, false, 200, Silence::Short),
            (true, true, 200, Silence::Short),
            (false, false, 300, Silence::Long),
            (true, false, 500, Silence::Long),
            (true, false, 600, Silence::Lost),
            (false, false, 4_900, Silence::Long),
            (false, false, 5_000, Silence::Lost),
            (false, true, 900, Silence::Long),
            (false, true, 1_000, Silence::Lost),
        ];
        for (is_stopped, is_killed, milliseconds, wanted) in table {
            let silence = last(is_stopped, is_killed, milliseconds);
            assert_eq!(
                silence, wanted,
                "stopped {is_stopped}, killed {is_killed}, {milliseconds} ms"
            );
        }
    }

    #[test]
    fn one_that_was_not_asked_while_evolve_stood_still_is_not_given_up() {
        let began = Instant::now();
        let mut pulse = Pulse::from(began);
        let at = |milliseconds| began + Duration::from_millis(milliseconds);
        assert_eq!(pulse.judge(at(100), false, false), Silence::Short);
        assert_eq!(pulse.judge(at(60_000), true, true), Silence::Short);
        assert_eq!(pulse.judge(at(60_300), false, false), Silence::Long);
        for after in (60_400..64_900).step_by(100) {
            assert_eq!(pulse.judge(at(after), false, false), Silence::Long);
        }
        assert_eq!(pulse.judge(at(65_000), false, false), Silence::Lost);
    }

    #[test]
    fn what_was_heard_begins_the_wait_anew() {
        let began = Instant::now();
        let mut pulse = Pulse::from(began);
        let at = |milliseconds| began + Duration::from_millis(milliseconds);
        for now in [300, 400, 500] {
            assert_eq!(pulse.judge(at(now), true, true), Silence::Long);
        }
        pulse.heard(at(550));
        assert_eq!(pulse.judge(at(750), true, true), Silence::Short);
        assert_eq!(pulse.judge(at(1_200), true, false), Silence::Long);
    }
}
