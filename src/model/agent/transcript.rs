//! What an agent prints, read as it streams: turns, files, tokens, cost, the last thing it did, and its own word for failure.
//! Nothing that it prints breaks the reading: what is not understood yields nothing. Pure.

use super::{CannotRun, Preset};

/// What is known of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// How often the agent's model answered.
    pub turns: u64,
    /// Files that it touched, as it named them, in the order of first touch; the first 200.
    pub files: Vec<String>,
    /// All tokens that the model read and wrote, if the agent says.
    pub tokens: Option<u64>,
    /// Dollars, if the agent says.
    pub cost_usd: Option<f64>,
    /// The last thing that it did or said: one short line without secrets.
    pub last: Option<String>,
}

/// How a run ended, as seen from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finished<'a> {
    /// The exit code; none after a signal.
    pub exit: Option<i32>,
    /// The end of standard output and standard error.
    pub tail: &'a str,
    /// The content of the file that the program writes beside its output.
    pub usage_file: Option<&'a str>,
}

/// What a run came to, in the agent's own words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Everything that was read.
    pub activity: Activity,
    /// What the agent says of its failure, whatever its exit code: one line without secrets.
    pub failed: Option<String>,
    /// Why it cannot run at all.
    pub cannot_run: Option<CannotRun>,
}

/// Reads the output of one run piece by piece.
#[derive(Debug)]
pub struct Transcript {
    activity: Activity,
}

impl Transcript {
    /// Starts reading by the rules of `preset`.
    pub fn new(_preset: &Preset) -> Transcript {
        Transcript {
            activity: Activity::default(),
        }
    }

    /// Takes the next bytes, wherever they were cut; true if the activity changed.
    pub fn push(&mut self, _bytes: &[u8]) -> bool {
        false
    }

    /// Returns what is known so far.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Ends the reading: what the run came to.
    pub fn finish(self, _finished: &Finished<'_>) -> Outcome {
        Outcome {
            activity: self.activity,
            failed: None,
            cannot_run: None,
        }
    }
}
