//! Whose a changed path is that a dead session left behind: the agent's, or somebody's who came later. Pure.
//!
//! The supervising process outlives a killed `evolve` and notes when nothing of the session was at work any more. The kernel
//! sets the time of a file's last change of state (`ctime`), and nobody can set it: what is later than that end, the agent did
//! not do. The time of its content (`mtime`) tells what that was: written anew, or not. Where it was not, something was made in or
//! removed from its folder later if it was moved there; else it got another mode or owner, as by `chown -R`, and its content is the
//! agent's.
//!
//! All times are nanoseconds since 1970 as the kernel dates files, or since the machine was booted, sleep included.

use serde::{Deserialize, Serialize};

/// By how much a clock may be set back, in nanoseconds, and still be only one that is kept right, as by NTP.
const KEPT_RIGHT: i64 = 60_000_000_000;

/// What two clocks of a machine say in the same moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// The time of day, which can be set.
    pub wall: i64,
    /// The time since the machine was booted, which cannot.
    pub since_boot: i64,
}

impl Clocks {
    /// Returns by how much the time of day was set back since this moment, of the same boot; less than nothing if it was set
    /// forward.
    fn set_back_until(&self, later: Clocks) -> i64 {
        let passed = later.since_boot.saturating_sub(self.since_boot);
        passed.saturating_sub(later.wall.saturating_sub(self.wall))
    }

    /// Returns when the machine was booted, by the time of day as it is now.
    pub fn booted(&self) -> i64 {
        self.wall.saturating_sub(self.since_boot)
    }
}

/// The note that a session has ended with all that it had started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The `evolve` that died: its process id, and when it was started in ticks since boot.
    pub writer: (u32, u64),
    /// Which boot of which machine.
    pub boot: String,
    /// The time that a file was given which was touched then.
    pub at: i64,
    /// When the supervising process began.
    pub began: Clocks,
    /// When nothing was left.
    pub ended: Clocks,
}

impl Note {
    /// Says whether this can be the note of a session whose journal was written at this time: it ended after that, and after it had
    /// begun. Anybody can write one. `now` is the present moment, if the machine was not booted since.
    pub fn can_be_of(&self, journal: i64, now: Option<Clocks>) -> bool {
        let is_in_order = self.began.since_boot <= self.ended.since_boot;
        let is_past = now.is_none_or(|now| self.ended.since_boot <= now.since_boot);
        let set_back = self.began.set_back_until(self.ended).max(0);
        is_in_order && is_past && self.at.saturating_add(set_back) >= journal
    }

    /// Returns the latest time that a file can have which the session changed. `now` is the present moment, if the machine was
    /// not booted since.
    pub fn end(&self, now: Option<Clocks>) -> i64 {
        // Where the clock was set back meanwhile, files from before that are later than the end by its time.
        let end = self.at + self.began.set_back_until(self.ended).max(0);
        // Where it was set back since, somebody's files may be earlier; those of the session's last moments count as theirs.
        let back = now.map_or(0, |now| self.ended.set_back_until(now));
        match back > KEPT_RIGHT {
            true => end - back,
            false => end,
        }
    }
}

/// The times of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// Of its last change of state, which nobody can set.
    pub changed: i64,
    /// Of its content, which anybody can set.
    pub modified: i64,
}

/// What was done to a file after a session had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// Nothing, or nothing to its content.
    None,
    /// It may have been moved here: whose content it has cannot be told.
    Moved,
    /// It was written.
    Written,
}

impl Times {
    /// Says whether it was written after this moment; a folder, whether anything was made in or removed from it. A time of the
    /// content that is later than that of the last change was set by somebody.
    pub fn is_written_after(&self, end: i64) -> bool {
        self.modified > end && self.changed >= self.modified
    }

    /// Says what was done after this moment to a file in a folder with these times.
    pub fn touch_after(&self, end: i64, folder: Option<Times>) -> Touch {
        let is_new_there = || folder.is_some_and(|folder| folder.is_written_after(end));
        match self.changed > end {
            true if self.is_written_after(end) => Touch::Written,
            true if is_new_there() => Touch::Moved,
            true | false => Touch::None,
        }
    }
}

/// What becomes of a path that differs from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// It is the agent's, and undone with the cycle.
    Agents,
    /// It is the user's, and stays as it is.
    Stays,
    /// Nothing may be undone before a person has put it away: an undo would take it along.
    Refused,
}

/// Rules on a path. One that git does not track is left where it is if it was written later, as at any start; a tracked or staged
/// change is refused, as at any start; and so is what only may be the user's.
pub fn rule(is_tracked: bool, touch: Touch) -> Ruling {
    match (is_tracked, touch) {
        (_, Touch::None) => Ruling::Agents,
        (false, Touch::Written) => Ruling::Stays,
        (true, _) | (false, Touch::Moved) => Ruling::Refused,
    }
}

/// Returns the end of a session that nobody noted, where the machine went down with it: files that are later than the boot are
/// later than the session. None if the clock contradicts that: then the session wrote later than it could have.
pub fn end_by_boot(last_written: i64, now: Clocks) -> Option<i64> {
    let booted = now.booted();
    (last_written <= booted).then_some(booted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    const HOUR: i64 = 3_600 * SECOND;

    fn clocks(wall: i64, since_boot: i64) -> Clocks {
        Clocks { wall, since_boot }
    }

    /// A session of an hour, from 10:00 by the clock that was set back by `back` in its course.
    #[test]
    fn a_note_of_an_end_before_the_journal_was_written_is_none() {
        let (note, now) = (note(0), Some(note(0).ended));
        assert!(note.can_be_of(note.at, now) && note.can_be_of(note.at, None));
        assert!(!note.can_be_of(note.at + 1, now));
        let later = Note {
            began: Clocks {
                since_boot: note.ended.since_boot + 1,
                ..note.began
            },
            ..note.clone()
        };
        assert!(!later.can_be_of(later.at, now));
        let before = Clocks {
            since_boot: note.ended.since_boot - 1,
            ..note.ended
        };
        assert!(!note.can_be_of(note.at, Some(before)));
    }

    fn note(back: i64) -> Note {
        Note {
            writer: (7, 70),
            boot: "boot".to_owned(),
            at: 11 * HOUR - back,
            began: clocks(10 * HOUR, HOUR),
            ended: clocks(11 * HOUR - back, 2 * HOUR),
        }
    }

    #[test]
    fn what_is_later_than_the_end_by_both_its_times_was_written_then() {
        let times = |(changed, modified)| Times { changed, modified };
        let (old, new) = (times((100, 100)), times((101, 101)));
        for (file, folder, touch) in [
            ((99, 50), new, Touch::None),
            ((100, 100), new, Touch::None),
            // Anybody can set a file's time, the agent included.
            ((100, 1_000), new, Touch::None),
            // Another mode or owner.
            ((101, 100), old, Touch::None),
            ((101, 100), times((101, 100)), Touch::None),
            ((101, 100), times((100, 101)), Touch::None),
            ((101, 100), new, Touch::Moved),
            ((101, 1_000), old, Touch::None),
            ((101, 1_000), new, Touch::Moved),
            ((101, 101), old, Touch::Written),
            ((102, 101), old, Touch::Written),
            ((101, 101), new, Touch::Written),
        ] {
            let found = times(file).touch_after(100, Some(folder));
            assert_eq!(found, touch, "{file:?} {folder:?}");
        }
        assert_eq!(times((101, 100)).touch_after(100, None), Touch::None);
        assert_eq!(new.touch_after(100, None), Touch::Written);
    }

    #[test]
    fn what_an_undo_would_take_along_is_refused_and_what_it_can_leave_stays() {
        for (is_tracked, touch, ruling) in [
            (true, Touch::None, Ruling::Agents),
            (false, Touch::None, Ruling::Agents),
            (true, Touch::Moved, Ruling::Refused),
            (false, Touch::Moved, Ruling::Refused),
            (true, Touch::Written, Ruling::Refused),
            (false, Touch::Written, Ruling::Stays),
        ] {
            assert_eq!(rule(is_tracked, touch), ruling, "{is_tracked} {touch:?}");
        }
    }

    #[test]
    fn the_end_is_when_it_was_noted_and_later_where_the_clock_was_set_back_before() {
        assert_eq!(note(0).end(None), 11 * HOUR);
        // The agent's files can be as late as 11:00 by the clock that stood then.
        assert_eq!(note(HOUR / 2).end(None), 11 * HOUR);
        // Set forward: no file is later than the note.
        assert_eq!(note(-HOUR).end(None), 12 * HOUR);
    }

    #[test]
    fn a_clock_that_was_set_back_since_makes_the_end_earlier_and_one_that_is_kept_right_does_not() {
        let after = |passed: i64, back: i64| {
            let now = clocks(11 * HOUR + passed - back, 2 * HOUR + passed);
            note(0).end(Some(now))
        };
        assert_eq!(after(8 * HOUR, 0), 11 * HOUR);
        assert_eq!(after(8 * HOUR, 10 * SECOND), 11 * HOUR);
        assert_eq!(after(8 * HOUR, 60 * SECOND), 11 * HOUR);
        assert_eq!(after(8 * HOUR, 61 * SECOND), 11 * HOUR - 61 * SECOND);
        assert_eq!(after(8 * HOUR, 2 * HOUR), 9 * HOUR);
        assert_eq!(after(8 * HOUR, -2 * HOUR), 11 * HOUR);
    }

    #[test]
    fn a_boot_ends_what_was_before_it_unless_the_clock_says_otherwise() {
        let now = clocks(20 * HOUR, HOUR);
        assert_eq!(end_by_boot(18 * HOUR, now), Some(19 * HOUR));
        assert_eq!(end_by_boot(19 * HOUR, now), Some(19 * HOUR));
        assert_eq!(end_by_boot(19 * HOUR + 1, now), None);
    }
}
