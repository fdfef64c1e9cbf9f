//! The sandbox around agent and checks: which one works on this machine, what it lets through, and how a program is started
//! in it. A fence that cannot be put up is no fence: what is meant to run inside never runs outside.

mod enter;
mod found;
mod landlock;
mod named;
mod rules;
mod temporary;
mod told;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::effects::places::Places;
use crate::error::{Error, Result};
use crate::model::sandbox::{
    Access, Home, Mechanism, Mode, Network, Protections, Rule, Wish, bwrap_argv, in_order,
    inexpressible,
};
use crate::model::text;

pub use enter::{COMMAND, enter};
use enter::{INSIDE, Inside, within};
use found::{Found, find, is_root, kept_from_root, missing, unavailable};
pub use found::{available, available_after, refused, trial};
use landlock::Bounds;
use rules::{ground_rules, lists, rule, shut_doors};
use temporary::Temporary;
pub use told::{tell, tell_waiting, told};

/// Where this program is, whatever becomes of the file that it was started from.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// The most characters of an agent's words about its own sandbox.
const SAID_CHARS: usize = 120;
/// Where somebody works: what may be written there, and what in it stays as it is as far as the sandbox can tell them apart.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// Folders, with everything below.
    pub write: Vec<PathBuf>,
    /// Files and folders in them.
    pub keep: Vec<PathBuf>,
    /// Variables that lead who works there to what is there.
    pub env: Vec<(OsString, OsString)>,
}

impl Ground {
    /// A slot that only checks enter.
    pub fn of_slot(root: &Path) -> Ground {
        Ground {
            write: vec![root.to_owned()],
            ..Ground::default()
        }
    }

    /// Returns the same with variables that lead to what is there.
    #[must_use]
    pub fn led(self, env: Vec<(OsString, OsString)>) -> Ground {
        Ground { env, ..self }
    }

    /// The repository itself. Its git needs the git directory; what git would run or obey and what is `evolve`'s own stays.
    pub fn of_repo(root: &Path, places: &Places, is_slot: bool) -> Ground {
        let mut keep = vec![places.private.clone()];
        // Nothing in a slot's git directory is believed.
        if !is_slot {
            keep.push(places.common.join("hooks"));
            keep.push(places.common.join("config"));
            keep.push(places.git_dir.join("config.worktree"));
        }
        Ground {
            write: vec![
                root.to_owned(),
                places.git_dir.clone(),
                places.common.clone(),
            ],
            keep,
            env: Vec::new(),
        }
    }
}

/// What is held back in which way.
#[derive(Clone, Copy, Debug)]
pub enum Profile<'a> {
    /// An agent, with what its preset says it writes for itself and a private folder of the run.
    Agent(&'a [String], &'a Path),
    /// Checks.
    Checks,
    /// One command of a measurement, held back as checks are, with a folder that is its alone.
    Measured(&'a Path),
    /// `evolve`'s own git, which runs the user's filters and the like: these may load what an agent has written.
    Git,
}

/// What a program is started with where it works, so that it is held back where there is a sandbox.
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
    is_scoped: bool,
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
        if mode == Mode::None {
            return Ok((sandbox, Vec::new()));
        }
        if let Some(within) = within() {
            sandbox.protections.within = within;
            return Ok((sandbox, Vec::new()));
        }
        let mut warnings = Vec::new();
        if std::env::var_os(INSIDE).is_some() {
            warnings.push(format!(
                "{INSIDE} in the environment says that this runs in a sandbox of evolve's, which it does not: it is passed over"
            ));
        }
        let network = wish.network.unwrap_or_default();
        let found = find(mode, network != Network::All);
        let mut lacks = match &found {
            Ok(found) => missing(found, wish),
            Err(why) => why.clone(),
        };
        let open = found::left_open(wish);
        if is_required && !lacks.is_empty() {
            lacks.extend(open);
            return Err(unavailable(&lacks));
        }
        if let (true, Some(open)) = (is_required, &open) {
            return Err(Error::usage(format!(
                "a sandbox is required in which nobody has the network, but {open}"
            ))
            .hint("add `checks: true` beside `network: none`, or do not require the sandbox"));
        }
        lacks.extend(open.filter(|_| found.is_ok()));
        if !lacks.is_empty() {
            let lacks = lacks.join("; ");
            warnings.push(match found {
                Ok(_) => format!("the sandbox is not all that is asked for: {lacks}"),
                Err(_) => format!(
                    "no sandbox, although one is asked for: {lacks}; --require-sandbox would not run then"
                ),
            });
        }
        let Ok(found) = found else {
            return Ok((sandbox, warnings));
        };
        let told = &mut sandbox.protections;
        told.checks = wish.checks.unwrap_or_default();
        told.network = network;
        told.lacks = lacks;
        match found {
            Found::Bwrap(program) => {
                told.sandbox = Mechanism::Bwrap;
                sandbox.is_scoped = found::can_be_scoped(&program);
                sandbox.bwrap = program;
            }
            Found::Landlock(reach) => {
                told.sandbox = Mechanism::Landlock;
                if !reach.network {
                    told.network = Network::All;
                }
            }
        }
        let (granted, left_out) = sandbox.granted(ground);
        sandbox.protections.write = granted;
        warnings.extend(left_out);
        let holes = sandbox.holes(ground);
        sandbox.protections.lacks.extend(holes);
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

    /// Says which of the paths to be written cannot be granted, and why, where `ground` is the place of work.
    pub fn left_out(wish: &Wish, ground: &Ground) -> Vec<String> {
        Sandbox::none(wish).granted(ground).1
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

    /// Returns what a program of `profile` is started with, where `ground` is its place of work.
    pub fn fence(&self, profile: Profile<'_>, ground: &Ground) -> Result<Fence> {
        let is_held_back = match profile {
            Profile::Agent(..) | Profile::Git => self.is_on(),
            Profile::Checks | Profile::Measured(_) => self.is_on() && self.protections.checks,
        };
        let mut env = ground.env.clone();
        if !is_held_back {
            return Ok(Fence {
                before: Vec::new(),
                env,
            });
        }
        let temporary = self.temporary.as_ref();
        let temporary = temporary.expect("BUG: a sandbox is opened before it is used");
        let (own, folder) = match profile {
            Profile::Agent(writes, folder) => (writes, Some(folder.to_owned())),
            Profile::Measured(folder) => (&[][..], Some(folder.to_owned())),
            Profile::Checks | Profile::Git => (&[][..], None),
        };
        let network = match profile {
            Profile::Agent(..) => self.protections.network != Network::None,
            Profile::Checks | Profile::Measured(_) | Profile::Git => {
                self.protections.network == Network::All
            }
        };
        let scratch = match profile {
            Profile::Agent(..) => temporary.folder("agent")?,
            Profile::Checks => temporary.folder("checks")?,
            Profile::Git => temporary.folder("git")?,
            // Nothing in it is of the one before. Sockets in it need a short path.
            Profile::Measured(folder) => temporary.empty(name_of(folder))?,
        };
        let mut rules = ground_rules(ground);
        let named = self.named(own, ground)?;
        let written = folder.iter().chain([&scratch]).chain(&named);
        rules.extend(written.filter_map(|path| rule(path, Access::Write)));
        let kept = self.own_folders();
        rules.extend(kept.iter().filter_map(|path| rule(path, Access::Read)));
        if let (Profile::Agent(..), Mechanism::Bwrap) = (profile, self.protections.sandbox) {
            rules.extend(lists(&rules));
        }
        let inside = Inside {
            by: self.protections.sandbox,
            bounds: Bounds::default(),
            scoped: self.is_scoped,
            env: self.wish.env.as_ref().map(|names| {
                let led = env.iter().map(|(name, _)| name.clone());
                names.iter().map(Into::into).chain(led).collect()
            }),
        };
        let of_scratch =
            ["TMPDIR", "TMP", "TEMP"].map(|name| (name.into(), scratch.clone().into()));
        env.extend(of_scratch);
        Ok(Fence {
            before: self.before(inside, in_order(rules), network),
            env,
        })
    }

    /// Removes the temporary folder of a command of a measurement that has ended.
    pub fn clear_up(&self, folder: &Path) {
        if let Some(temporary) = &self.temporary {
            temporary.remove(name_of(folder));
        }
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

    /// Says what the sandbox leaves open by its nature where `ground` is the place of work.
    fn holes(&self, ground: &Ground) -> Vec<String> {
        let is_kept = inexpressible(&ground_rules(ground)).is_empty();
        let keeps_network = self.protections.network != Network::None;
        let holes: &[(bool, &str)] = match self.protections.sandbox {
            Mechanism::None => &[],
            Mechanism::Bwrap => &[(
                keeps_network && !self.is_scoped,
                "sockets without a file, as a desktop has, can be reached",
            )],
            Mechanism::Landlock => &[
                (!is_kept, "all of .git stays writable"),
                (
                    true,
                    "sockets of other programs (tmux, Docker, a desktop) can be reached",
                ),
            ],
        };
        let open = holes.iter().filter(|(is_open, _)| *is_open);
        open.map(|(_, words)| (*words).to_owned()).collect()
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
                let asked = self.wish.env.as_deref().unwrap_or_default();
                rules.extend(shut_doors(&rules, &self.home, asked));
                rules.extend(kept_from_root());
                before.extend(bwrap_argv(&in_order(rules), network, is_root()));
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
}

/// Returns what the paths that users and presets name may start with.
pub fn home() -> Home {
    Home {
        home: std::env::home_dir().filter(|home| home.is_absolute()),
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, PathBuf::from(value))))
            .filter(|(_, value)| value.is_absolute())
            .collect(),
    }
}

/// Returns how the temporary folder of a command is called that has this folder to itself.
fn name_of(folder: &Path) -> &OsStr {
    folder.file_name().unwrap_or_default()
}
