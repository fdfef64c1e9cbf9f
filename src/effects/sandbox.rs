//! The sandbox around agent and checks: which one works on this machine, what it lets through, and how a program is started
//! in it. A fence that cannot be put up is no fence: what is meant to run inside never runs outside.

mod enter;
mod landlock;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::effects::lock::{self, Lock};
use crate::effects::repo::Repo;
use crate::effects::{files, ledger, program};
use crate::error::{Error, Result};
use crate::model::sandbox::{
    Access, Available, Home, Mechanism, Mode, Network, Protections, Reach, Rule, Told, Wish,
    bwrap_argv, expand, in_order, inexpressible,
};
use crate::model::snapshot::FORMAT;
use crate::model::{digest, text};

pub use enter::{COMMAND, enter};
use enter::{INSIDE, Inside};
use landlock::Bounds;

/// Where this program is, whatever becomes of the file that it was started from.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// Sockets through which services start programs for others: behind them nobody is held back.
const SERVICES: [&str; 4] = ["/run/user", "/run/dbus", "/run/podman", "/run/containerd"];
/// Such sockets that lie beside what is needed.
const SOCKETS: [&str; 2] = ["/run/docker.sock", "/run/systemd/private"];

/// The most characters of an agent's words about its own sandbox.
const SAID_CHARS: usize = 120;
/// The file in which a session says what protects whom.
const TOLD: &str = "session.json";
/// The most bytes that are read of it.
const TOLD_LIMIT: u64 = 1 << 20;

/// Where somebody works: what may be written there, and what in it stays as it is as far as the sandbox can tell them apart.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// Folders, with everything below.
    pub write: Vec<PathBuf>,
    /// Files and folders in them.
    pub keep: Vec<PathBuf>,
}

impl Ground {
    /// A slot that only checks enter.
    pub fn of_slot(root: &Path) -> Ground {
        Ground {
            write: vec![root.to_owned()],
            keep: Vec::new(),
        }
    }

    /// The repository itself. Its git needs the git directory; what git would run or obey and what is `evolve`'s own stays.
    pub fn of_repo(repo: &Repo) -> Ground {
        let mut keep = vec![repo.private.clone()];
        // Nothing in a slot's git directory is believed.
        if !repo.is_slot {
            keep.push(repo.common_path("hooks"));
            keep.push(repo.common_path("config"));
            keep.push(repo.git_dir().join("config.worktree"));
        }
        Ground {
            write: vec![
                repo.root.clone(),
                repo.git_dir().to_owned(),
                repo.common_path(""),
            ],
            keep,
        }
    }
}

/// Who is to be held back.
#[derive(Clone, Copy, Debug)]
pub enum Inmate<'a> {
    /// An agent, with what its preset says it writes for itself and a private folder of the run.
    Agent(&'a [String], &'a Path),
    /// Checks.
    Checks,
}

/// What a program is started with so that it is held back; nothing where there is no sandbox.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    before: Vec<OsString>,
    /// Variables to set for it.
    pub env: Vec<(OsString, OsString)>,
}

impl Fence {
    /// Returns the words that start `argv` inside.
    pub fn around(&self, argv: Vec<OsString>) -> Vec<OsString> {
        let mut words = self.before.clone();
        words.extend(argv);
        words
    }
}

/// The sandbox of a session.
#[derive(Clone, Debug, Default)]
pub struct Sandbox {
    /// What it does, to be told.
    pub protections: Protections,
    wish: Wish,
    bwrap: PathBuf,
    home: Home,
    temporary: Option<Arc<Temporary>>,
}

impl Sandbox {
    /// Returns the sandbox that is asked for, or the best that works here. Where none works: an error (exit 2) if one is
    /// required, else a warning beside it.
    ///
    /// Nothing is written. `ground` is where the session works.
    pub fn choose(wish: &Wish, ground: &Ground) -> Result<(Sandbox, Vec<String>)> {
        let (mode, is_required) = wish.settled().map_err(|why| {
            Error::usage(why).hint("see `sandbox:` in GOALS.example.yaml, and --sandbox")
        })?;
        let mut sandbox = Sandbox::none(wish);
        if mode == Mode::None || std::env::var_os(INSIDE).is_some() {
            return Ok((sandbox, Vec::new()));
        }
        let network = wish.network.unwrap_or_default();
        let found = find(mode, network != Network::All);
        let mut missing = Vec::new();
        match found {
            Ok(Found::Bwrap(program)) => {
                sandbox.protections.sandbox = Mechanism::Bwrap;
                sandbox.bwrap = program;
            }
            Ok(Found::Landlock(reach)) => {
                sandbox.protections.sandbox = Mechanism::Landlock;
                missing = short_of(reach, network);
            }
            Err(why) => missing = why,
        }
        if is_required && !missing.is_empty() {
            return Err(unavailable(&missing));
        }
        let warning = match sandbox.is_on() {
            false => format!(
                "no sandbox, although one is asked for: {}; --require-sandbox would not run then",
                missing.join("; ")
            ),
            true => format!(
                "the sandbox is not all that is asked for: {}",
                missing.join("; ")
            ),
        };
        let warnings = if missing.is_empty() {
            Vec::new()
        } else {
            vec![warning]
        };
        if sandbox.is_on() {
            sandbox.protections.checks = wish.checks.unwrap_or_default();
            sandbox.protections.network = network;
            sandbox.protections.write = wish.write.clone();
            sandbox.protections.lacks = missing;
            sandbox.protections.lacks.extend(sandbox.holes(ground));
        }
        Ok((sandbox, warnings))
    }

    /// No sandbox.
    pub fn none(wish: &Wish) -> Sandbox {
        Sandbox {
            protections: Protections {
                pushes_refused: true,
                ..Protections::default()
            },
            wish: wish.clone(),
            home: home(),
            ..Sandbox::default()
        }
    }

    /// Makes the temporary folder that fences need; `private` is the session's own folder.
    pub fn open(mut self, private: &Path) -> Result<Sandbox> {
        if self.is_on() {
            self.temporary = Some(Arc::new(Temporary::make(private)?));
        }
        Ok(self)
    }

    /// Says whether anything is held back.
    pub fn is_on(&self) -> bool {
        self.protections.sandbox != Mechanism::None
    }

    /// Returns what a program of `inmate` is started with, where `ground` is its place of work.
    pub fn fence(&self, inmate: Inmate<'_>, ground: &Ground) -> Result<Fence> {
        let is_held_back = match inmate {
            Inmate::Agent(..) => self.is_on(),
            Inmate::Checks => self.is_on() && self.protections.checks,
        };
        if !is_held_back {
            return Ok(Fence::default());
        }
        let temporary = self.temporary.as_ref();
        let temporary = temporary.expect("BUG: a sandbox is opened before it is used");
        let (own, network, folder) = match inmate {
            Inmate::Agent(writes, folder) => {
                let network = self.protections.network != Network::None;
                (
                    writes,
                    network,
                    Some((folder.to_owned(), temporary.folder("agent")?)),
                )
            }
            Inmate::Checks => {
                let network = self.protections.network == Network::All;
                (&[][..], network, None)
            }
        };
        let (folder, scratch) = match folder {
            Some((folder, scratch)) => (Some(folder), scratch),
            None => (None, temporary.folder("checks")?),
        };
        let mut rules = ground_rules(ground);
        let named = self.named(own)?;
        let written = folder.iter().chain([&scratch]).chain(&named);
        rules.extend(written.filter_map(|path| rule(path, Access::Write)));
        let kept = self.own_folders();
        rules.extend(kept.iter().filter_map(|path| rule(path, Access::Read)));
        let inside = Inside {
            by: self.protections.sandbox,
            bounds: Bounds::default(),
            env: self
                .wish
                .env
                .as_ref()
                .map(|names| names.iter().map(Into::into).collect()),
        };
        Ok(Fence {
            before: self.before(inside, in_order(rules), network),
            env: ["TMPDIR", "TMP", "TEMP"]
                .map(|name| (name.into(), scratch.clone().into()))
                .to_vec(),
        })
    }

    /// Says what to do where an agent's own sandbox could not start inside this one, as the end of its output tells.
    pub fn own_sandbox_failed(&self, tail: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(tail);
        let at = text.find("bwrap: ").filter(|_| self.is_on())?;
        let said = text[at..].lines().next().unwrap_or_default();
        let said: String = text::clean_line(said).chars().take(SAID_CHARS).collect();
        Some(format!(
            "the agent's own sandbox cannot start inside this one ({said}): turn it off with `sandboxed_args` under `agents:`, \
             as the built-in codex does, or run without --sandbox"
        ))
    }

    /// Says what Landlock, which can only allow, leaves open where `ground` is the place of work.
    fn holes(&self, ground: &Ground) -> Option<String> {
        let rules = ground_rules(ground);
        let is_open = self.protections.sandbox == Mechanism::Landlock;
        let is_open = is_open && !inexpressible(&rules).is_empty();
        is_open.then(|| "all of .git stays writable".to_owned())
    }

    fn before(&self, mut inside: Inside, mut rules: Vec<Rule>, network: bool) -> Vec<OsString> {
        let mut before = vec![OsString::from(OWN_PROGRAM)];
        match inside.by {
            Mechanism::None => return Vec::new(),
            Mechanism::Landlock => {
                let written = rules.iter().filter(|rule| rule.access == Access::Write);
                inside.bounds = Bounds {
                    write: written.map(|rule| rule.path.clone()).collect(),
                    network,
                };
                before.extend(inside.arguments());
            }
            Mechanism::Bwrap => {
                inside.bounds.network = true;
                before.extend(inside.arguments());
                before.push(self.bwrap.clone().into());
                rules.extend(services());
                before.extend(bwrap_argv(&in_order(rules), (network, is_root())));
            }
        }
        before
    }

    /// Returns the folders outside the repository that are `evolve`'s own: kill file, configuration, caches.
    fn own_folders(&self) -> Vec<PathBuf> {
        let names = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
        let mut folders: Vec<PathBuf> = names
            .iter()
            .filter_map(|name| self.home.folder(name))
            .collect();
        folders.extend(self.home.home.iter().map(|home| home.join(".config")));
        folders.iter().map(|folder| folder.join("evolve")).collect()
    }

    /// Returns the paths that the user and a preset name, as they are on this machine; makes the folders among them that are
    /// missing.
    fn named(&self, own: &[String]) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for entry in self.wish.write.iter().chain(own) {
            let path = expand(entry, &self.home)
                .map_err(|why| Error::usage(format!("sandbox: write: {entry}: {why}")))?;
            let Some(path) = path else { continue };
            if entry.ends_with('/') {
                fs::create_dir_all(&path).map_err(|cause| Error::io("create", &path, cause))?;
            }
            paths.push(path);
        }
        Ok(paths)
    }
}

/// Notes what protects whom in the session of this process.
pub fn tell(private: &Path, protections: &Protections) -> Result<()> {
    let told = Told {
        format: FORMAT,
        pid: std::process::id(),
        protections: protections.clone(),
    };
    let text = ledger::line("session", &told)?;
    files::replace(&private.join(TOLD), text.as_bytes())
}

/// Returns what protects whom in the session of the process `pid`, if it said so.
pub fn told(private: &Path, pid: u32) -> Option<Protections> {
    let text = files::read_text(&private.join(TOLD), TOLD_LIMIT).ok()?;
    let told: Told = serde_json::from_str(&text).ok()?;
    (told.pid == pid).then_some(told.protections)
}

/// A sandbox that works here.
enum Found {
    Bwrap(PathBuf),
    Landlock(Reach),
}

/// Returns the sandbox for `mode`, or why there is none. bubblewrap goes before Landlock: it can keep single files in a writable
/// folder as they are, and what runs in it can neither see other processes nor outlive it.
fn find(mode: Mode, without_network: bool) -> Result<Found, Vec<String>> {
    let bwrap = || bwrap_program(without_network).map(Found::Bwrap);
    let landlock = || {
        landlock::reach()
            .map(Found::Landlock)
            .ok_or_else(no_landlock)
    };
    match mode {
        Mode::None => Err(Vec::new()),
        Mode::Bwrap => bwrap().map_err(|why| vec![why]),
        Mode::Landlock => landlock().map_err(|why| vec![why]),
        Mode::Auto => bwrap().or_else(|first| landlock().map_err(|second| vec![first, second])),
    }
}

/// Returns what works on this machine and how far, or why not.
pub fn available() -> Vec<Available> {
    let bwrap = match bwrap_program(false) {
        Ok(program) => (true, program.display().to_string()),
        Err(why) => (false, why),
    };
    let landlock = match landlock::reach() {
        Some(reach) => {
            let short = short_of(reach, Network::None);
            let detail = match short.is_empty() {
                true => "files, TCP and signals".to_owned(),
                false => short.join("; "),
            };
            (true, detail)
        }
        None => (false, no_landlock()),
    };
    [(Mechanism::Bwrap, bwrap), (Mechanism::Landlock, landlock)]
        .map(|(sandbox, (works, detail))| Available {
            sandbox,
            works,
            detail,
        })
        .into()
}

fn no_landlock() -> String {
    "landlock: this kernel has none, or it is turned off (Linux 5.13 or later, `lsm=landlock`)"
        .to_owned()
}

/// Says what Landlock cannot hold back here of what is asked for.
fn short_of(reach: Reach, network: Network) -> Vec<String> {
    let mut short = Vec::new();
    if !reach.writes {
        short.push("landlock: before Linux 6.2 files elsewhere can still be emptied");
    }
    if !reach.network && network != Network::All {
        short.push("landlock: before Linux 6.7 the network stays open");
    }
    if !reach.signals {
        short.push("landlock: before Linux 6.12 other processes can be signalled");
    }
    short.into_iter().map(str::to_owned).collect()
}

/// Returns bubblewrap if it is installed and works: containers and hardened kernels often forbid what it needs.
fn bwrap_program(without_network: bool) -> Result<PathBuf, String> {
    let program = program::find("bwrap").ok_or("bwrap: not installed")?;
    let program = program.canonicalize().unwrap_or(program);
    let tried = Command::new(&program)
        .args(bwrap_argv(&[], (!without_network, is_root())))
        .args(["sh", "-c", ":"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output();
    match tried {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().trim_start_matches("bwrap: ");
            Err(format!("bwrap: installed, but does not work here: {said}"))
        }
        Err(cause) => Err(format!("bwrap: {cause}")),
    }
}

fn unavailable(missing: &[String]) -> Error {
    let mut error =
        Error::usage("a sandbox is required, and this machine cannot give what is asked for");
    for why in missing {
        error = error.hint(why.clone());
    }
    error.hint("install bubblewrap, allow unprivileged user namespaces, or use a kernel with Landlock; or leave out --require-sandbox")
}

fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

fn home() -> Home {
    Home {
        home: std::env::home_dir().filter(|home| home.is_absolute()),
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, PathBuf::from(value))))
            .filter(|(_, value)| value.is_absolute())
            .collect(),
    }
}

/// Returns the rule for a path, without links; none if there is nothing.
fn rule(path: &Path, access: Access) -> Option<Rule> {
    let path = path.canonicalize().ok()?;
    Some(Rule { path, access })
}

fn ground_rules(ground: &Ground) -> Vec<Rule> {
    let written = ground.write.iter().map(|path| (path, Access::Write));
    let kept = ground.keep.iter().map(|path| (path, Access::Read));
    let rules = written.chain(kept);
    rules
        .filter_map(|(path, access)| rule(path, access))
        .collect()
}

/// Returns rules that hide the services that would start programs outside.
fn services() -> Vec<Rule> {
    let folders = SERVICES.iter().map(|path| (path, Access::Hidden));
    let files = SOCKETS.iter().map(|path| (path, Access::Masked));
    let rules = folders.chain(files);
    rules
        .filter_map(|(path, access)| rule(Path::new(path), access))
        .collect()
}

/// The temporary folder of a session or a measurement, outside every repository; gone with it. What a killed one left is emptied
/// by the next of the same repository.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    /// Held as long as the folder is in use.
    _lock: Lock,
}

impl Temporary {
    fn make(private: &Path) -> Result<Temporary> {
        let name = format!("evolve-{}", digest::short(&[&private.to_string_lossy()]));
        let place = |number| std::env::temp_dir().join(format!("{name}-{number}"));
        let open = |path: &Path| match fs::DirBuilder::new().mode(0o700).create(path) {
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => Err(cause),
            Err(_) if !is_own_folder(path) => Ok(None),
            Ok(()) | Err(_) => File::open(path).map(Some),
        };
        let (path, lock) = lock::first_free(place, open).map_err(|error| {
            error.hint(
                "the sandbox needs a temporary folder: make room, or set TMPDIR to another one",
            )
        })?;
        let entries = fs::read_dir(&path).map_err(|cause| Error::io("list", &path, cause))?;
        for entry in entries.flatten() {
            let left = entry.path();
            files::remove_all(&left).map_err(|cause| Error::io("remove", &left, cause))?;
        }
        Ok(Temporary { path, _lock: lock })
    }

    fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        match fs::create_dir(&path) {
            Err(cause) if cause.kind() != ErrorKind::AlreadyExists => {
                Err(Error::io("create", &path, cause))
            }
            Ok(()) | Err(_) => Ok(path),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = files::remove_all(&self.path);
    }
}

/// Says whether a path is a folder of this user's, no link to one: anybody may have made it.
fn is_own_folder(path: &Path) -> bool {
    let own = nix::unistd::Uid::effective().as_raw();
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == own)
}
