//! Looks at what a run needs, for `evolve doctor`: changes nothing, takes no lock, and waits for nothing without bound. What is
//! only looked at is so in a thread that is left behind when its time is over; programs run under supervision, each ended with
//! all that it started.

mod agents;
mod machine;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::effects::git::{Git, OLDEST};
use crate::effects::process::{Ending, Job, Said, Stdout, Supervisor};
use crate::effects::program;
use crate::effects::repo::IDENTITY;
use crate::effects::sandbox;
use crate::effects::stop::Stop;
use crate::error::Result;
use crate::model::doctor::{ANSWER_SECONDS, Answer, GitSeen, LOOK_SECONDS};
use crate::model::sandbox::Available;

pub use agents::{Agents, agents};
pub use machine::{folders, kills, rooms, schedulers, unfound};

/// How long git, and whatever is only looked at, may take.
const LOOK: Duration = Duration::from_secs(LOOK_SECONDS);
/// How long any other program may take.
const ANSWER: Duration = Duration::from_secs(ANSWER_SECONDS);
/// How much later than its time a program is ended that does not go by itself.
const ENDED: Duration = Duration::from_secs(3);

/// A look that goes on beside others.
#[derive(Debug)]
pub struct Look<T> {
    receiver: Receiver<T>,
    until: Instant,
}

impl<T: Send + 'static> Look<T> {
    /// Begins to look.
    pub fn begin(look: impl FnOnce() -> T + Send + 'static) -> Look<T> {
        Look::within(LOOK, look)
    }

    fn within(limit: Duration, look: impl FnOnce() -> T + Send + 'static) -> Look<T> {
        let (sender, receiver) = mpsc::channel();
        // Without a thread nobody sends, and nothing could be told.
        let _ = thread::Builder::new().spawn(move || {
            let _ = sender.send(look());
        });
        Look {
            receiver,
            until: Instant::now() + limit,
        }
    }

    /// Returns what was seen; none if that took too long.
    pub fn end(self) -> Option<T> {
        let left = self.until.saturating_duration_since(Instant::now());
        self.receiver.recv_timeout(left).ok()
    }
}

/// Asks programs, in one folder.
#[derive(Clone, Debug)]
pub struct Asker {
    supervisor: Supervisor,
    folder: PathBuf,
    git: Git,
}

impl Asker {
    /// Makes `folder` the working directory of this process. Ctrl-C ends it as it ends any program, and all that was asked with it.
    pub fn new(folder: &Path) -> Result<Asker> {
        let supervisor = Supervisor::new(Stop::unwatched(), folder)?;
        Ok(Asker {
            git: Git::at(folder).supervised(&supervisor, "doctor"),
            supervisor,
            folder: folder.to_owned(),
        })
    }

    /// Returns a git whose calls are supervised.
    pub fn supervise(&self, git: &Git) -> Git {
        git.supervised(&self.supervisor, "doctor")
    }

    /// Asks a program something, in a folder where it finds nothing to work on.
    pub fn ask(&self, argv: Vec<OsString>, env: Vec<(OsString, OsString)>) -> Look<Answer> {
        let job = job(argv, env, Path::new("/"), ANSWER);
        let supervisor = self.supervisor.clone();
        Look::within(ANSWER + ENDED, move || {
            answer(supervisor.run_now(&job).map_err(|cause| cause.to_string()))
        })
    }

    /// Begins to try whether bubblewrap works.
    pub fn try_bwrap(&self) -> Trial {
        Trial(sandbox::trial(false).map(|(program, mut arguments)| {
            arguments.insert(0, program.clone().into_os_string());
            (program, self.ask(arguments, Vec::new()))
        }))
    }

    /// Asks git for its version.
    pub fn git(&self) -> Look<GitSeen> {
        let look = self.git_job(&["version"]);
        Look::within(LOOK + ENDED, move || {
            let program = program::find("git").map(|path| path.display().to_string());
            let version = program.is_some().then(|| answer(look()));
            GitSeen {
                program,
                version,
                oldest: OLDEST,
            }
        })
    }

    /// Asks git for the settings that name somebody, as it prints them; an error is why they cannot be told.
    pub fn identity(&self) -> Look<Result<Vec<u8>, String>> {
        let look = self.git_job(&["config", "-z", "--get-regexp", IDENTITY]);
        Look::within(LOOK + ENDED, move || {
            let said = look()?;
            match said.ending {
                Ending::Exited(0) => Ok(said.stdout),
                // So it ends where there are none.
                Ending::Exited(1) if said.stderr.is_empty() => Ok(Vec::new()),
                _ => Err(why(&said)),
            }
        })
    }

    fn git_job(&self, arguments: &[&str]) -> impl FnOnce() -> Result<Said, String> + Send + use<> {
        let supervisor = self.supervisor.clone();
        let (words, env) = (self.git.words(arguments), self.git.variables());
        let job = job(words, env, &self.folder, LOOK);
        move || supervisor.run_now(&job).map_err(|cause| cause.to_string())
    }
}

/// bubblewrap while it is tried; or why it is not.
#[derive(Debug)]
pub struct Trial(Result<(PathBuf, Look<Answer>), String>);

impl Trial {
    /// Returns which sandboxes work on this machine; beside it, whether bubblewrap answered if there is one.
    pub fn end(self) -> (Vec<Available>, bool) {
        let tried = self.0.map(|(program, look)| (program, look.end()));
        let has_answered = !matches!(tried, Ok((_, Some(Answer::Silent) | None)));
        let bwrap = tried.and_then(|(program, answer)| match answer {
            Some(Answer::Said(_)) => Ok(program),
            Some(Answer::Failed(why)) => Err(sandbox::refused(&why)),
            Some(Answer::Silent) | None => Err(sandbox::refused("it does not answer")),
        });
        (sandbox::available_after(bwrap), has_answered)
    }
}

fn job(
    argv: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    folder: &Path,
    timeout: Duration,
) -> Job {
    Job {
        argv,
        folder: Some(folder.to_owned()),
        env,
        stdin: None,
        log: None,
        log_limit: 0,
        timeout,
        idle_timeout: None,
        tail_limit: 0,
        stdout: Stdout::End,
        mark: "doctor".to_owned(),
    }
}

fn answer(said: Result<Said, String>) -> Answer {
    match said {
        Ok(said) => match said.ending {
            Ending::Exited(0) => Answer::Said(String::from_utf8_lossy(&said.stdout).into_owned()),
            Ending::TimedOut => Answer::Silent,
            _ => Answer::Failed(why(&said)),
        },
        Err(cause) => Answer::Failed(cause),
    }
}

fn why(said: &Said) -> String {
    let words = String::from_utf8_lossy(&said.stderr);
    let line = words.lines().find(|line| !line.trim().is_empty());
    let line = line.map_or(String::new(), |line| format!(": {}", line.trim()));
    match &said.ending {
        Ending::Exited(code) => format!("exit {code}{line}"),
        Ending::Signalled(number) => format!("signal {number}{line}"),
        Ending::TimedOut | Ending::Idle => "it did not answer".to_owned(),
        Ending::Stopped => "it was ended".to_owned(),
        Ending::NotStarted(cause) => cause.clone(),
    }
}
