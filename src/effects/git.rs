//! Calls the `git` program, hardened: no hooks, no file system monitor, no editor, no prompt, no signature, no network
//! helper, literal pathspecs, and none of the variables that name another repository.
//!
//! Everything that writes the working tree or the user's index goes through here, because libgit2 runs no filters. The loop
//! has its git supervised like checks and agent: a filter may hang, or leave something behind. Where there is a sandbox, it
//! holds back git and what that runs as well: a filter of the user's may load what an agent has written.
//!
//! No call looks into submodules or other repositories in the tree by itself; `guard::modules` states the rule.

mod index;
pub mod pack;
mod settings;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::effects::process::{self, Ending, Job, Stdout, Supervisor};
use crate::effects::program;
use crate::effects::sandbox::{Fence, Ground, Profile, Sandbox};
use crate::error::{Error, Kind, NO_GIT, Result};

pub use index::{Listed, Noted, each as each_indexed, is_index, listing};
pub use settings::Settings;

/// Settings that keep the repository's own configuration from running anything, and what git has written on the disk before
/// it says so. Git does not know the last one before 2.36, and passes over it then. Its way to sync many objects at once
/// (`core.fsyncMethod=batch`) is not for us: where it fails, the index names objects that are nowhere. What is derived from
/// objects is not asked: it can say of them what it likes. Of a path that a sparse index leaves out `git status` says nothing, so
/// that git is to see the whole index. With several threads it reads the entries of a large index where a table in it says that they lie,
/// which may be elsewhere. That line ends are not what they will be is no reason not to commit a file.
const HARDENING: [&str; 14] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "commit.gpgSign=false",
    "protocol.ext.allow=never",
    "advice.graftFileDeprecated=false",
    "core.fsync=all",
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    "index.sparse=false",
    "index.threads=1",
    "core.safecrlf=false",
];

/// What keeps it from asking, opening and being told otherwise.
const ENVIRONMENT: [(&str, &str); 9] = [
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_GLOB_PATHSPECS", "0"),
    ("GIT_NOGLOB_PATHSPECS", "0"),
    ("GIT_ICASE_PATHSPECS", "0"),
    ("GIT_EDITOR", "true"),
    ("LC_ALL", "C"),
];

/// What keeps it from reading what the machine's administrator set.
const NO_SYSTEM: [&str; 2] = ["GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"];

/// Variables for git that are left as they are where they are inherited; all others are taken away, because they could have git
/// take another repository, other settings or other attributes for those that are meant. They say where the user's settings
/// lie, and how filters and a partial clone reach what is elsewhere.
const INHERITED: [&str; 13] = [
    "GIT_ALLOW_PROTOCOL",
    "GIT_ASKPASS",
    "GIT_ATTR_NOSYSTEM",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_EXEC_PATH",
    "GIT_PROTOCOL_FROM_USER",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_TERMINAL_PROMPT",
];
/// How more of them begin.
const INHERITED_KINDS: [&str; 6] = [
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_HTTP_",
    "GIT_LFS_",
    "GIT_PROXY_",
    "GIT_SSL_",
];

/// Names the folder above which no repository is looked for.
const CEILING: &str = "GIT_CEILING_DIRECTORIES";

/// How long one call may take that writes: filters fetch what is large from elsewhere.
const LIMIT: Duration = Duration::from_secs(60 * 60);
/// How long one may take that only reads, as long as a check may by default: a status of the largest repositories there are
/// takes a minute or two with nothing in the cache.
const READ_LIMIT: Duration = Duration::from_secs(10 * 60);
/// What only reads, by the first word.
const READING: [&str; 12] = [
    "config",
    "diff",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "hash-object",
    "ls-files",
    "ls-tree",
    "rev-list",
    "rev-parse",
    "status",
    "version",
];

/// What runs no program of the user's, by the first word: it is started without a fence, which costs a moment.
const ALONE: [&str; 6] = [
    "config",
    "for-each-ref",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "version",
];

/// What writes the index. It takes the index's lock before it does anything, so that nothing was done where it could not.
const INDEXING: [&str; 5] = ["add", "read-tree", "restore", "update-index", "write-tree"];
/// How long the lock of another git is waited for: a `git status` in a prompt or an editor holds it for a moment, again and
/// again.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);

/// The oldest git that reads paths from its input wherever it is given them there.
pub const OLDEST: (u32, u32) = (2, 25);

/// Returns what git said; none where it refused, and not the machine or a halt kept it from its work.
pub fn may_refuse<T>(said: Result<T>) -> Result<Option<T>> {
    match said {
        Ok(said) => Ok(Some(said)),
        Err(cause) if cause.is_of_machine() || cause.is_halt() => Err(cause),
        Err(cause) => {
            tracing::debug!("{cause}");
            Ok(None)
        }
    }
}

/// Calls git in one working tree.
#[derive(Clone, Debug)]
pub struct Git {
    root: PathBuf,
    supervised: Option<(Supervisor, String)>,
    /// The folder with the user's own settings as they were, once something else stands in their places.
    users: Arc<OnceLock<PathBuf>>,
    /// What holds it back, and where it may write then.
    bounds: Arc<Mutex<Option<Arc<Bounds>>>>,
    /// Settings that it has beside those of all calls.
    more: Vec<&'static str>,
    /// Variables that it has beside those of all calls.
    own: Vec<(&'static str, PathBuf)>,
}

/// What holds git back.
#[derive(Debug)]
struct Bounds {
    sandbox: Sandbox,
    /// The working tree of the user, where others than the slots are.
    root: PathBuf,
    /// What may be written in it.
    ground: Ground,
}

impl Bounds {
    /// Returns the fence for a working tree: the user's, one in it, or else a slot, which has all its git needs in it.
    fn fence(&self, root: &Path) -> Result<Fence> {
        let of_slot;
        let ground = match root.starts_with(&self.root) {
            true => &self.ground,
            false => {
                of_slot = Ground::of_slot(root);
                &of_slot
            }
        };
        self.sandbox.fence(Profile::Git, ground)
    }
}

/// What a call came to.
struct Answer {
    has_succeeded: bool,
    /// How it ended, in words.
    end: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Answer {
    /// Says whether another git held the index's lock.
    fn is_locked_out(&self) -> bool {
        String::from_utf8_lossy(&self.stderr).contains("index.lock': File exists")
    }
}

impl Git {
    /// Calls git in the working tree at `root`.
    pub fn at(root: &Path) -> Git {
        Git {
            root: root.to_owned(),
            supervised: None,
            users: Arc::default(),
            bounds: Arc::default(),
            more: Vec::new(),
            own: Vec::new(),
        }
    }

    /// The same git, but nothing that it starts (filters) outlives a call or this process. To be used wherever it writes.
    pub fn supervised(&self, supervisor: &Supervisor, session: &str) -> Git {
        Git {
            supervised: Some((supervisor.clone(), format!("{session}/git"))),
            ..self.clone()
        }
    }

    /// The same git in another working tree.
    pub fn elsewhere(&self, root: &Path) -> Git {
        Git {
            root: root.to_owned(),
            ..self.clone()
        }
    }

    /// The same git with another index, which it writes as a whole: what a split one shares lies elsewhere.
    pub fn with_index(&self, index: &Path) -> Git {
        self.with("GIT_INDEX_FILE", index)
            .set("core.splitIndex=false")
    }

    /// The same git with a variable of its own, such as that for another index.
    pub fn with(&self, name: &'static str, value: &Path) -> Git {
        let mut git = self.clone();
        git.own.push((name, value.to_owned()));
        git
    }

    /// The same git with a setting of its own.
    fn set(&self, setting: &'static str) -> Git {
        let mut git = self.clone();
        git.more.push(setting);
        git
    }

    /// The same git where what it writes is made anew after a crash of the machine: it does not wait for the disk.
    pub fn passing(&self) -> Git {
        self.set("core.fsync=none")
    }

    /// The same git, which takes no folder away that a sparse checkout leaves out. In cone mode it does so with all that is ignored in
    /// it; what its patterns say is the same without.
    pub fn leaving_folders(&self) -> Git {
        self.set("core.sparseCheckoutCone=false")
    }

    /// Goes by the user's own settings, attributes and excludes in this folder from now on instead of those in their places;
    /// so do all copies of this one.
    pub fn go_by(&self, folder: &Path) {
        self.users.get_or_init(|| folder.to_owned());
    }

    /// Is held back by this sandbox from now on, in whatever it runs for the working tree at `root` and what belongs to that
    /// (`ground`), and for slots; so are all copies of this one. Only supervised calls are.
    pub fn hold_back(&self, sandbox: &Sandbox, root: &Path, ground: Ground) {
        let bounds = sandbox.is_on().then(|| {
            Arc::new(Bounds {
                sandbox: sandbox.clone(),
                root: root.to_owned(),
                ground,
            })
        });
        *self.bounds.lock().unwrap_or_else(PoisonError::into_inner) = bounds;
    }

    /// Returns the fence for a call; none to speak of where nothing holds it back.
    fn fence<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Fence> {
        let bounds = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        let bounds = bounds.clone();
        match bounds.filter(|_| !is_one_of(&ALONE, arguments)) {
            Some(bounds) => bounds.fence(&self.root),
            None => Ok(Fence::default()),
        }
    }

    /// Returns all settings that go before the repository's.
    fn settings(&self) -> Vec<OsString> {
        let file = |(key, name): (&str, &str)| {
            let path = self.users.get()?.join(name);
            Some([OsStr::new(key), path.as_os_str()].join(OsStr::new("=")))
        };
        let files = [
            ("core.attributesFile", "attributes"),
            ("core.excludesFile", "excludes"),
        ];
        HARDENING
            .iter()
            .map(OsString::from)
            .chain(files.into_iter().filter_map(file))
            .chain(self.more.iter().map(OsString::from))
            .collect()
    }

    /// Returns the program and all arguments of a call with these, for who starts it otherwise; `variables` go with it.
    pub fn words<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Vec<OsString> {
        let mut words = without_foreign(&self.own);
        words.push(program::git().to_owned());
        let settings = self.settings().into_iter();
        words.extend(settings.flat_map(|setting| ["-c".into(), setting]));
        words.extend(arguments.iter().map(|word| word.as_ref().to_owned()));
        words
    }

    /// Returns all variables that a call has of its own.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = ENVIRONMENT
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec();
        variables.push((CEILING.into(), self.ceiling().into()));
        let own = self.own.iter();
        variables.extend(own.map(|(name, value)| (OsString::from(name), value.into())));
        if let Some(folder) = self.users.get() {
            variables.push(("GIT_CONFIG_GLOBAL".into(), folder.join("config").into()));
            variables.extend(NO_SYSTEM.map(|name| (name.into(), "1".into())));
        }
        variables
    }

    /// Returns the version of this git, its first two numbers.
    pub fn version(&self) -> Result<(u32, u32)> {
        let said = String::from_utf8_lossy(&self.run(&["version"])?).into_owned();
        let mut numbers = said
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse().ok());
        Ok((
            numbers.next().unwrap_or_default(),
            numbers.next().unwrap_or_default(),
        ))
    }

    /// Refuses a git that cannot do what an undo needs. To be called before anything is measured.
    pub fn refuse_old(&self) -> Result<()> {
        match self.version()? {
            version if version >= OLDEST => Ok(()),
            (first, second) => Err(Error::unsafe_repo(format!(
                "the program `git` is of version {first}.{second}, which is too old"
            ))
            .hint("install git 2.25 or later")),
        }
    }

    /// Runs git with `arguments` and returns its stdout; a failure is an error that shows the command and its words.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>> {
        self.run_with(arguments, &[])
    }

    /// Like `run`, with `input` on stdin.
    pub fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<Vec<u8>> {
        let until = Instant::now() + LOCK_PATIENCE;
        let mut pause = Duration::from_millis(5);
        loop {
            let answer = self.answer(arguments, input)?;
            if answer.has_succeeded {
                return Ok(answer.stdout);
            }
            let is_waited_for = is_one_of(&INDEXING, arguments) && answer.is_locked_out();
            if !is_waited_for || Instant::now() >= until || self.is_halted() {
                return Err(failure(&self.root, arguments, &answer));
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(200));
        }
    }

    fn answer<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<Answer> {
        match &self.supervised {
            Some((supervisor, mark)) => {
                let job = self.job(arguments, input, mark)?;
                self.ask(supervisor, &job, &self.named(arguments))
            }
            None => self.call(arguments, input),
        }
    }

    fn is_halted(&self) -> bool {
        let supervised = self.supervised.as_ref();
        supervised.is_some_and(|(supervisor, _)| supervisor.halt().is_some())
    }

    /// Runs a call under supervision.
    fn ask(&self, supervisor: &Supervisor, job: &Job, call: &str) -> Result<Answer> {
        let said = supervisor.run_now(job).map_err(cannot_start)?;
        let end = match &said.ending {
            Ending::Exited(code) => format!("exit {code}"),
            Ending::Signalled(number) => format!("signal {number}"),
            Ending::NotStarted(_) if program::find("git").is_none() => {
                return Err(cannot_start(std::io::ErrorKind::NotFound.into()));
            }
            Ending::NotStarted(why) => {
                return Err(cannot_start(std::io::Error::other(why.clone())));
            }
            Ending::TimedOut => return Err(too_slow(call, job.timeout)),
            Ending::Stopped | Ending::Idle => return Err(was_ended(supervisor, call)),
        };
        Ok(Answer {
            has_succeeded: said.ending == Ending::Exited(0),
            end,
            stdout: said.stdout,
            stderr: said.stderr,
        })
    }

    fn job<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8], mark: &str) -> Result<Job> {
        tracing::debug!(command = %shown(arguments), "git");
        let timeout = limit(arguments);
        let fence = self.fence(arguments)?;
        let mut env = self.variables();
        env.extend(fence.env.iter().cloned());
        Ok(Job {
            argv: fence.around(self.words(arguments)),
            folder: Some(self.root.clone()),
            env,
            stdin: (!input.is_empty()).then(|| input.to_vec()),
            log: None,
            log_limit: 0,
            timeout,
            idle_timeout: None,
            tail_limit: 0,
            stdout: Stdout::End,
            mark: mark.to_owned(),
        })
    }

    fn call<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<Answer> {
        let mut command = self.command();
        command.args(arguments);
        tracing::debug!(command = %shown(arguments), "git");
        let mut child = command.spawn().map_err(|cause| match self.root.is_dir() {
            true => cannot_start(cause),
            false => Error::io("enter", &self.root, cause),
        })?;
        let pid = child.id();
        let mut stdin = child.stdin.take().expect("BUG: stdin is piped");
        let input = input.to_vec();
        // Input is written beside reading the output: either pipe may fill up first.
        let (told, untold) = mpsc::channel();
        let write = move || {
            let written = stdin.write_all(&input);
            let _ = told.send(written.err());
        };
        let (sender, receiver) = mpsc::channel();
        let wait = move || {
            let _ = sender.send(child.wait_with_output());
        };
        let both = [Box::new(write) as Box<dyn FnOnce() + Send>, Box::new(wait)];
        for one in both {
            if let Err(cause) = thread::Builder::new().spawn(one) {
                // Half an input is another command than the one that was meant.
                let _ = process::send(pid, Signal::SIGKILL);
                return Err(cannot_start(cause));
            }
        }
        let Ok(output) = receiver.recv_timeout(limit(arguments)) else {
            let _ = process::send(pid, Signal::SIGKILL);
            return Err(too_slow(&self.named(arguments), limit(arguments)));
        };
        let output = output.map_err(cannot_start)?;
        // One that closes its input early says itself how it ended.
        if let Ok(Some(cause)) = untold.try_recv()
            && cause.kind() != std::io::ErrorKind::BrokenPipe
        {
            return Err(cannot_start(cause));
        }
        Ok(Answer {
            has_succeeded: output.status.success(),
            end: output.status.to_string(),
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    fn named<S: AsRef<OsStr>>(&self, arguments: &[S]) -> String {
        format!("`git {}` in {}", shown(arguments), self.root.display())
    }

    /// Returns the folder above the working tree: a repository that lies around it is not meant, should its own be gone.
    fn ceiling(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(program::git());
        command.current_dir(&self.root);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in foreign() {
            command.env_remove(name);
        }
        command.envs(self.variables());
        for setting in self.settings() {
            command.arg("-c").arg(setting);
        }
        command
    }
}

/// Returns the words that go before a program which is to have none of these variables, but those that are its own.
fn without_foreign(own: &[(&str, PathBuf)]) -> Vec<OsString> {
    let mut words = Vec::new();
    let is_own = |name: &&OsString| own.iter().any(|(own, _)| name.as_os_str() == *own);
    let foreign: Vec<_> = foreign().iter().filter(|name| !is_own(name)).collect();
    if !foreign.is_empty() {
        words.push(program::env().to_owned());
        words.extend(
            foreign
                .iter()
                .flat_map(|name| ["-u".into(), (*name).clone()]),
        );
    }
    words
}

/// Returns the inherited variables for git that are taken away from each call, but those that a call sets itself.
fn foreign() -> &'static [OsString] {
    static FOREIGN: OnceLock<Vec<OsString>> = OnceLock::new();
    let is_foreign = |name: &OsString| {
        let name = name.to_string_lossy();
        let is_kept = INHERITED.contains(&&*name)
            || INHERITED_KINDS.iter().any(|kind| name.starts_with(kind))
            || ENVIRONMENT.iter().any(|(own, _)| *own == name);
        name.starts_with("GIT_") && name != CEILING && !is_kept
    };
    FOREIGN.get_or_init(|| {
        let names = std::env::vars_os().map(|(name, _)| name);
        names.filter(is_foreign).collect()
    })
}

/// Says whether a call's first word is among these.
fn is_one_of<S: AsRef<OsStr>>(words: &[&str], arguments: &[S]) -> bool {
    let first = arguments.first().map(AsRef::as_ref);
    words.iter().any(|word| first == Some(OsStr::new(word)))
}

/// Returns how long a call may take.
fn limit<S: AsRef<OsStr>>(arguments: &[S]) -> Duration {
    match is_one_of(&READING, arguments) {
        true => READ_LIMIT,
        false => LIMIT,
    }
}

/// The error of a call that was ended with everything else.
fn was_ended(supervisor: &Supervisor, call: &str) -> Error {
    let error = match supervisor.halt() {
        Some(halt) => halt.error(call),
        None => Error::internal(format!("{call} was ended")),
    };
    error.hint("the next start settles what this call left half done")
}

/// The error of a call that did not end in its time.
fn too_slow(call: &str, limit: Duration) -> Error {
    let limit = humantime::format_duration(limit);
    Error::internal(format!("{call} took longer than {limit}")).hint(
        "run that command by hand to see what it waits for: a pipe in place of a file, a filter, a slow disk",
    )
}

/// The error of a call that failed.
fn failure<S: AsRef<OsStr>>(root: &Path, arguments: &[S], answer: &Answer) -> Error {
    let said = String::from_utf8_lossy(&answer.stderr);
    let said = said.trim();
    let command = shown(arguments);
    let root = root.display();
    let error = match said.is_empty() {
        false => Error::internal(format!("`git {command}` in {root} failed: {said}")),
        true => Error::internal(format!("`git {command}` in {root} failed: {}", answer.end))
            .hint("something ended it; run evolve again"),
    };
    let error = error.advised().of_damage();
    let is_of_filter = ["smudge filter", "clean filter"]
        .iter()
        .any(|it| said.contains(it));
    if said.contains(".lock': File exists") {
        error.hint("another git is at work here; if none is, remove the lock file it names")
    } else if is_of_filter {
        error.hint("mend that filter of git's, or what it needs (a server, an object), and run evolve again: nothing of what it was to write is lost")
    } else {
        error
    }
}

fn shown<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let words: Vec<_> = arguments
        .iter()
        .map(|word| word.as_ref().to_string_lossy())
        .collect();
    words.join(" ")
}

fn cannot_start(cause: std::io::Error) -> Error {
    match cause.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(Kind::Unsafe, "the program `git` is not on the PATH")
                .hint("install git 2.25 or later")
        }
        _ => Error::internal(format!("{NO_GIT}{cause}")).advised(),
    }
}
