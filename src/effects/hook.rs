//! Runs a command of the user's that is told what became of a cycle or a session: a chat message, an e-mail, a pull request.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::effects::files;
use crate::effects::process::{Ending, Job, Stdout, Supervisor};
use crate::effects::program;
use crate::effects::sandbox::Fence;
use crate::model::text;

/// How long such a command may take: the loop waits for it.
pub const LIMIT: Duration = Duration::from_secs(60);
/// The most of its output that is kept.
const LOG_LIMIT: usize = 1 << 20;

/// A command that is told something.
#[derive(Debug)]
pub struct Hook<'a> {
    /// Its key in GOALS.yaml.
    pub name: &'static str,
    /// The command line, for `sh -c`.
    pub command: &'a str,
    /// Where it runs.
    pub root: &'a Path,
    /// What holds it back: the same as checks.
    pub fence: &'a Fence,
    /// Where its output goes.
    pub log: PathBuf,
    /// Marks its processes.
    pub mark: String,
}

impl Hook<'_> {
    /// Runs it while the session goes on; returns what is to be said if it did not do well. What ends the session ends it, too.
    pub async fn run(&self, supervisor: &Supervisor, told: String) -> Option<String> {
        let ran = supervisor.run(self.job(told)).await;
        if !ran.unkillable.is_empty() {
            let pids = &ran.unkillable;
            return Some(format!(
                "{} left processes that could not be ended: {pids:?}",
                self.name
            ));
        }
        match &ran.ending {
            // It may or may not have done its work: told twice would be wrong, too.
            Ending::Stopped => Some(format!("{} was ended with the session", self.name)),
            ending => self.fault(ending),
        }
    }

    /// Runs it though the session is over or about to be, whatever ended that.
    pub fn run_last(&self, supervisor: &Supervisor, told: String) -> Option<String> {
        let job = Job {
            stdout: Stdout::Start(LOG_LIMIT),
            ..self.job(told)
        };
        match supervisor.run_now(&job) {
            Ok(said) => {
                let output = [said.stdout, said.stderr].concat();
                if !output.is_empty() {
                    // Whoever is told has been told.
                    let _ = files::replace(&self.log, &output);
                }
                self.fault(&said.ending)
            }
            Err(cause) => Some(format!("{} could not be run: {cause}", self.name)),
        }
    }

    fn job(&self, told: String) -> Job {
        let argv = [program::shell(), "-c".as_ref(), self.command.as_ref()];
        Job {
            argv: self.fence.around(argv.map(OsStr::to_owned).to_vec()),
            folder: Some(self.root.to_owned()),
            env: self.fence.env.clone(),
            stdin: Some(told.into_bytes()),
            log: Some(self.log.clone()),
            log_limit: LOG_LIMIT as u64,
            timeout: LIMIT,
            idle_timeout: None,
            tail_limit: 0,
            stdout: Stdout::Merged,
            mark: self.mark.clone(),
        }
    }

    fn fault(&self, ending: &Ending) -> Option<String> {
        let how = match ending {
            Ending::Exited(0) | Ending::Stopped => return None,
            Ending::Exited(code) => format!("ended with exit {code}"),
            Ending::Signalled(number) => format!("was ended by signal {number}"),
            Ending::TimedOut | Ending::Idle => {
                format!("took longer than {}", text::duration(LIMIT.as_secs_f64()))
            }
            Ending::NotStarted(why) => format!("could not be started: {why}"),
        };
        Some(format!(
            "{} {how}; its output is in {}",
            self.name,
            self.log.display()
        ))
    }
}
