//! The inside of a sandbox: a hidden command of this program restricts its own process and becomes the program that is meant.
//! It never becomes it unrestricted.

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;
use std::slice;

use rustix::fs::OFlags;
use rustix::io::FdFlags;

use super::landlock::{self, Bounds};
use crate::model::sandbox::{LEADING, Mechanism, covers_what_may_go, without_gone};

/// The hidden command's name.
pub const COMMAND: &str = "__sandbox";
/// bubblewrap's option for where it tells, in JSON, how it goes: an exit code only of a program that it came to start.
pub const STATUS_TO: &str = "--json-status-fd";
/// Says to what is started inside that it is inside, and of what: a sandbox in a sandbox is not needed, and may not be possible.
pub const INSIDE: &str = "_EVOLVE_SANDBOX";
/// Variables that hold nothing secret and without which few programs work.
const ALWAYS: [&str; 14] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TZ", "TMPDIR", "TMP",
    "TEMP", "NO_COLOR", "COLUMNS",
];
/// The starts of the names of variables that are this program's own doing, or say how to write.
const ALWAYS_STARTS: [&str; 4] = ["EVOLVE_", "_EVOLVE_", "GIT_", "LC_"];

/// What the process is to be held back by.
#[derive(Debug, Default)]
pub struct Inside {
    /// What holds it back; bubblewrap does so itself, as the program that is started.
    pub by: Mechanism,
    /// For Landlock.
    pub bounds: Bounds,
    /// bubblewrap is started without a way to sockets that have no file, which namespaces of files do not hide.
    pub scoped: bool,
    /// The only variables that are kept, beside those that are always kept; all if none.
    pub env: Option<Vec<OsString>>,
}

impl Inside {
    /// Returns the arguments from which `parse` makes this again.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![COMMAND.into(), "--by".into(), self.by.word().into()];
        for path in &self.bounds.write {
            words.extend(["--write".into(), path.clone().into()]);
        }
        if !self.bounds.network {
            words.push("--no-network".into());
        }
        if self.scoped {
            words.push("--scoped".into());
        }
        if let Some(names) = &self.env {
            words.push("--env".into());
            words.push(names.join(OsStr::new(",")));
        }
        words.push("--".into());
        words
    }

    /// Reads what `arguments` wrote, without the command's name; the words behind it are the program.
    fn parse(mut words: impl Iterator<Item = OsString>) -> Option<(Inside, Vec<OsString>)> {
        let mut inside = Inside::default();
        inside.bounds.network = true;
        loop {
            let word = words.next()?;
            match word.to_str()? {
                "--by" => {
                    inside.by = match words.next()?.to_str()? {
                        "landlock" => Mechanism::Landlock,
                        "bwrap" => Mechanism::Bwrap,
                        _ => return None,
                    }
                }
                "--write" => inside.bounds.write.push(words.next()?.into()),
                "--no-network" => inside.bounds.network = false,
                "--scoped" => inside.scoped = true,
                "--env" => inside.env = Some(split(&words.next()?)?),
                "--" => return Some((inside, words.collect())),
                _ => return None,
            }
        }
    }

    /// Returns the command for a program with its arguments.
    fn command(&self, argv: &[OsString]) -> Command {
        let mut words = argv.iter();
        let mut command = Command::new(words.next().map_or(OsStr::new(""), OsStr::new));
        command.args(words);
        for (name, _) in std::env::vars_os() {
            if !self.lets_in(&name) {
                command.env_remove(name);
            }
        }
        command.env(INSIDE, self.by.word());
        command
    }

    /// Becomes the program; returns only if it could not, or there is none, with the exit code that says so.
    fn become_program(&self, argv: &[OsString]) -> u8 {
        match argv {
            [] => 0,
            argv => cannot_start(argv, &self.command(argv).exec()),
        }
    }

    /// Waits for bubblewrap; returns its exit code, as a shell has it, and whether it came to start the program. Errors are those of
    /// starting it.
    fn run_bwrap(&self, argv: &[OsString]) -> io::Result<(u8, bool)> {
        let (mut said, say) = io::pipe()?;
        rustix::fs::fcntl_setfl(&said, OFlags::NONBLOCK)?;
        rustix::io::fcntl_setfd(&say, FdFlags::empty())?;
        let (program, arguments) = argv.split_first().ok_or(ErrorKind::NotFound)?;
        let status_to: [OsString; 2] = [STATUS_TO.into(), say.as_raw_fd().to_string().into()];
        let words = [slice::from_ref(program), &status_to, arguments].concat();
        let mut bwrap = self.command(&words).spawn()?;
        drop(say);
        let ended = bwrap.wait()?;
        let mut words = Vec::new();
        // It says less than fits into a pipe, and what it left running may hold the other end still.
        let _ = said.read_to_end(&mut words);
        let has_started = String::from_utf8_lossy(&words).contains("exit-code");
        let code = ended.code().or(ended.signal().map(|signal| 128 + signal));
        let code = code.and_then(|code| u8::try_from(code).ok());
        Ok((code.unwrap_or(1), has_started))
    }

    /// Says whether a variable of the environment gets in.
    fn lets_in(&self, name: &OsStr) -> bool {
        let Some(text) = name.to_str() else {
            return self.env.is_none();
        };
        let is_named = self.env.iter().flatten().any(|named| named == name);
        match &self.env {
            None => !LEADING.contains(&text),
            Some(_) if LEADING.contains(&text) => is_named,
            Some(_) => {
                is_named
                    || ALWAYS.contains(&text)
                    || ALWAYS_STARTS.iter().any(|start| text.starts_with(start))
            }
        }
    }
}

fn split(names: &OsStr) -> Option<Vec<OsString>> {
    let names = names.to_str()?.split(',').filter(|name| !name.is_empty());
    Some(names.map(Into::into).collect())
}

/// Returns the sandbox of `evolve`'s that this process is inside, as it shows from here. The variable alone proves nothing:
/// anybody can set it.
pub fn within() -> Option<Mechanism> {
    let said = std::env::var_os(INSIDE)?;
    match said.to_str()? {
        "landlock" => {
            // Nothing but a list of what may be written forbids a process to name itself.
            let own_name = OpenOptions::new().write(true).open("/proc/self/comm");
            let is_refused = own_name.is_err_and(|why| why.kind() == ErrorKind::PermissionDenied);
            let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
            let is_bound = status.lines().any(|line| line == "NoNewPrivs:\t1");
            (is_refused && is_bound).then_some(Mechanism::Landlock)
        }
        "bwrap" => {
            let first = fs::read_to_string("/proc/1/comm").unwrap_or_default();
            (first.trim_end() == "bwrap").then_some(Mechanism::Bwrap)
        }
        _ => None,
    }
}

fn is_gone(path: &Path) -> bool {
    let found = fs::symlink_metadata(path);
    found.is_err_and(|why| matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
}

/// Becomes the program that `words` name, inside; returns only if it could not, with the exit code that says so.
pub fn enter(words: impl Iterator<Item = OsString>) -> u8 {
    let Some((inside, argv)) = Inside::parse(words) else {
        eprintln!("evolve: `{COMMAND}` is for evolve itself");
        return 2;
    };
    let bound = match (inside.by, inside.scoped) {
        (Mechanism::Landlock, _) => landlock::restrict(&inside.bounds),
        (_, true) => landlock::scope(),
        (_, false) => Ok(()),
    };
    if let Err(why) = bound {
        eprintln!("evolve: cannot enter the sandbox, so nothing was started: {why}");
        return 126;
    }
    match inside.by {
        Mechanism::Bwrap => enter_bwrap(&inside, argv),
        Mechanism::Landlock | Mechanism::None => inside.become_program(&argv),
    }
}

/// Starts bubblewrap: what it starts with was put together when the session began, and other programs have come and gone since.
/// One may go even while bubblewrap covers what is there: then it starts nothing, and is started once more without that.
fn enter_bwrap(inside: &Inside, argv: Vec<OsString>) -> u8 {
    let mut argv = without_gone(argv, &is_gone);
    if !covers_what_may_go(&argv) {
        return inside.become_program(&argv);
    }
    loop {
        let (code, has_started) = match inside.run_bwrap(&argv) {
            Ok(ended) => ended,
            Err(cause) => return cannot_start(&argv, &cause),
        };
        if has_started {
            return code;
        }
        let count = argv.len();
        argv = without_gone(argv, &is_gone);
        if argv.len() == count {
            return code;
        }
    }
}

fn cannot_start(argv: &[OsString], cause: &io::Error) -> u8 {
    let program = argv.first().map(|it| it.to_string_lossy());
    eprintln!(
        "evolve: cannot start {}: {cause}",
        program.unwrap_or_default()
    );
    match cause.kind() {
        ErrorKind::NotFound => 127,
        _ => 126,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_arguments_is_read_again() {
        let inside = Inside {
            by: Mechanism::Landlock,
            bounds: Bounds {
                write: vec!["/r".into(), "/a b".into()],
                network: false,
            },
            scoped: true,
            env: Some(vec!["API_KEY".into()]),
        };
        let mut words = inside.arguments();
        words.extend(["sh".into(), "-c".into(), "--write".into()]);
        let (read, argv) = Inside::parse(words.into_iter().skip(1)).unwrap();
        assert_eq!(format!("{read:?}"), format!("{inside:?}"));
        assert_eq!(argv, ["sh", "-c", "--write"]);
    }

    #[test]
    fn only_named_and_needed_variables_get_in_where_some_are_named() {
        let all = Inside::default();
        assert!(all.lets_in(OsStr::new("AWS_SECRET_ACCESS_KEY")));
        for name in [
            "SSH_AUTH_SOCK",
            "TMUX",
            "DISPLAY",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            assert!(!all.lets_in(OsStr::new(name)), "{name}");
        }
        let some = Inside {
            env: Some(vec!["API_KEY".into(), "SSH_AUTH_SOCK".into()]),
            ..Inside::default()
        };
        for name in [
            "API_KEY",
            "SSH_AUTH_SOCK",
            "PATH",
            "EVOLVE_BRIEF",
            "GIT_CONFIG_COUNT",
        ] {
            assert!(some.lets_in(OsStr::new(name)), "{name}");
        }
        for name in ["AWS_SECRET_ACCESS_KEY", "GIT_ASKPASS"] {
            assert!(!some.lets_in(OsStr::new(name)), "{name}");
        }
    }
}
