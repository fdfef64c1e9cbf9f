//! Runs gates and fitness command in a slot that stands on an attempt.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::effects::files;
use crate::effects::process::{Ending, Job, Ran, Stdout, Supervisor, TAIL_BYTES, keeper};
use crate::effects::program;
use crate::effects::sandbox::{Ground, Profile, Sandbox};
use crate::error::{Error, Result};
use crate::model::search::score::{self, Channel, Score};
use crate::model::{mask, text};

/// The most bytes of a log.
const LOG_LIMIT: u64 = 16 << 20;
/// The most bytes of the document that a fitness command writes.
pub const DOCUMENT_LIMIT: u64 = 1 << 20;
/// The most bytes of the traces that a sample leaves.
const TRACES_LIMIT: u64 = 16 << 20;
/// The longest of a command's last words that are told, in characters.
const SAID: usize = 200;

/// Where and how commands are run.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// Starts and ends them.
    pub supervisor: Supervisor,
    /// The root of the slot.
    pub root: PathBuf,
    /// What holds them back.
    pub sandbox: Sandbox,
    /// Where they work.
    pub ground: Ground,
    /// The session, which marks their processes.
    pub session: String,
    /// How long each may take.
    pub timeout: Duration,
    /// The folder of their logs, and of what is kept of what they write.
    pub folder: PathBuf,
    /// The folder in which each has one to itself. It is emptied when a session begins: a kill leaves some.
    pub own: PathBuf,
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer<T> {
    /// This.
    Found(T),
    /// Nothing, and why.
    Failed(String),
    /// It was ended from outside.
    Stopped,
}

impl Sampler {
    /// Runs a gate.
    pub async fn gate(&self, command: &str, name: &str) -> Result<Answer<()>> {
        let own = Own::make(&self.own)?;
        let ran = self.run(command, name, &own, Vec::new()).await?;
        own.remove();
        Ok(match failure(&ran, self.timeout) {
            Some(Failure::Stopped) => Answer::Stopped,
            Some(Failure::Words(why)) => {
                let line = text::cut(&mask::secrets(&text::clean_line(command)), 60);
                Answer::Failed(format!("{line}: {why}"))
            }
            None => Answer::Found(()),
        })
    }

    /// Runs the fitness command, or the hold-out, once. `name` is that of its log.
    /// The score has to be said where it is `expected`, if that is known.
    pub async fn sample(
        &self,
        command: &str,
        expected: Option<Channel>,
        name: &str,
    ) -> Result<Answer<Score>> {
        let own = Own::make(&self.own)?;
        let (document, traces) = (own.path.join("result.json"), own.path.join("traces"));
        fs::create_dir(&traces).map_err(|cause| Error::io("create", &traces, cause))?;
        let variables = [("EVOLVE_RESULT", &document), ("EVOLVE_TRACES", &traces)];
        let variables = variables.map(|(name, path)| (name, path.clone()));
        let ran = self.run(command, name, &own, variables.to_vec()).await?;
        bound(&traces, TRACES_LIMIT);
        // Most leave nothing there.
        let _ = fs::remove_dir(&traces);
        let document = self.keep(&document, &format!("{name}.result.json"))?;
        self.keep(&traces, &format!("{name}.traces"))?;
        own.remove();
        Ok(match failure(&ran, self.timeout) {
            Some(Failure::Stopped) => Answer::Stopped,
            Some(Failure::Words(why)) => Answer::Failed(why),
            None => match read(&document, &ran.stdout).and_then(|score| score.said_by(expected)) {
                Ok(score) => Answer::Found(score),
                Err(why) => Answer::Failed(why),
            },
        })
    }

    /// Moves what a command left to where it is kept, in the place of what is there.
    fn keep(&self, from: &Path, name: &str) -> Result<PathBuf> {
        let to = self.folder.join(name);
        files::remove_all(&to).map_err(|cause| Error::io("remove", &to, cause))?;
        match fs::rename(from, &to) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                Err(Error::io("move", from, cause))
            }
            Ok(()) | Err(_) => Ok(to),
        }
    }

    async fn run(
        &self,
        command: &str,
        name: &str,
        own: &Own,
        variables: Vec<(&str, PathBuf)>,
    ) -> Result<Ran> {
        let argv = [program::shell(), "-c".as_ref(), command.as_ref()];
        let fence = self
            .sandbox
            .fence(Profile::Measured(&own.path), &self.ground)?;
        let mut env = fence.env.clone();
        env.extend(
            variables
                .into_iter()
                .map(|(name, path)| (name.into(), path.into())),
        );
        // It tells by the second whether what it compiled is of the same source, and attempts follow faster.
        env.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
        let ran = self
            .supervisor
            .run(Job {
                argv: keeper::around(fence.around(argv.map(ToOwned::to_owned).to_vec())),
                folder: Some(self.root.clone()),
                env,
                stdin: None,
                log: Some(self.folder.join(format!("{name}.log"))),
                log_limit: LOG_LIMIT,
                timeout: self.timeout,
                idle_timeout: None,
                tail_limit: TAIL_BYTES,
                stdout: Stdout::End,
                mark: format!("{}/{}", self.session, own.name),
            })
            .await;
        self.sandbox.clear_up(&own.path);
        if let Ending::NotStarted(why) = &ran.ending
            && let Some(error) = Error::of_shortage(&format!("`{command}`"), why)
        {
            return Err(error);
        }
        match ran.unkillable.is_empty() {
            true => Ok(ran),
            false => Err(Error::unsafe_repo(format!(
                "`{command}` left processes that cannot be ended: {:?}",
                ran.unkillable
            ))
            .hint("end them, or what they wait for, then run `evolve search resume`")),
        }
    }
}

/// A folder that one command has to itself. Its name tells nothing of what is measured: the code that is measured sees it.
struct Own {
    name: String,
    path: PathBuf,
}

impl Own {
    fn make(folder: &Path) -> Result<Own> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("own-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = folder.join(&name);
        files::remove_all(&path).map_err(|cause| Error::io("empty", &path, cause))?;
        fs::create_dir_all(&path).map_err(|cause| Error::io("create", &path, cause))?;
        Ok(Own { name, path })
    }

    /// Removes what is left in it; what cannot be removed is in nobody's way.
    fn remove(self) {
        let _ = files::remove_all(&self.path);
    }
}

/// Keeps of a folder the plain files that come first by their names and together have at most `limit` bytes. What cannot be
/// removed stays: nothing follows from it.
fn bound(folder: &Path, limit: u64) -> u64 {
    // What was measured may have put a link there, to where files are somebody's.
    if !fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir()) {
        let _ = fs::remove_file(folder);
        return 0;
    }
    let mut entries: Vec<_> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut kept = 0;
    for path in entries.iter().map(fs::DirEntry::path) {
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        if meta.is_dir() {
            kept += bound(&path, limit - kept);
        } else if meta.is_file() && meta.len() <= limit - kept {
            kept += meta.len();
        } else {
            let _ = fs::remove_file(&path);
        }
    }
    kept
}

/// Reads what a sample says.
fn read(document: &Path, stdout: &[u8]) -> Result<Score, String> {
    let written = files::read_bounded(document, DOCUMENT_LIMIT).map_err(|error| error.message)?;
    let written = written.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    score::read(&String::from_utf8_lossy(stdout), written.as_deref())
}

enum Failure {
    Words(String),
    Stopped,
}

/// Says why a command did not end well.
fn failure(ran: &Ran, timeout: Duration) -> Option<Failure> {
    let why = match &ran.ending {
        Ending::Exited(0) => return None,
        Ending::Stopped => return Some(Failure::Stopped),
        Ending::Exited(code) => format!("exit {code}"),
        Ending::Signalled(number) => format!("ended by signal {number}"),
        Ending::TimedOut | Ending::Idle => {
            format!("timed out after {}", humantime::format_duration(timeout))
        }
        Ending::NotStarted(why) => format!("could not be started: {why}"),
    };
    let said = mask::secrets(&text::clean(&String::from_utf8_lossy(&ran.tail)));
    let last = said.trim_end().lines().next_back().unwrap_or_default();
    Some(Failure::Words(match last.is_empty() {
        true => why,
        false => format!("{why}: {}", text::cut(last, SAID)),
    }))
}
