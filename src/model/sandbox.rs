//! What a sandbox is asked to be, what it lets through, and what is told of it. Pure.

mod bwrap;
mod doors;
mod paths;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use bwrap::{KEPT, bwrap_argv, covers_what_may_go, without_gone};
pub use doors::{DOORS, Door, LEADING, listening};
pub use paths::{Home, expand};

/// How processes are held back, as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Not at all.
    None,
    /// By the best that works on this machine, or not at all.
    Auto,
    /// By bubblewrap: namespaces of their own.
    Bwrap,
    /// By Landlock: rules that the kernel keeps.
    Landlock,
}

/// The words for `Mode`, in the order in which they are offered.
pub const MODES: &[(&str, Mode)] = &[
    ("auto", Mode::Auto),
    ("bwrap", Mode::Bwrap),
    ("landlock", Mode::Landlock),
    ("none", Mode::None),
];

/// Who may use the network inside a sandbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Everybody.
    #[default]
    All,
    /// The agent, whose model is out there; checks not.
    Agent,
    /// Nobody.
    None,
}

/// The words for `Network`.
pub const NETWORKS: &[(&str, Network)] = &[
    ("all", Network::All),
    ("agent", Network::Agent),
    ("none", Network::None),
];

/// What one place (the command line, GOALS.yaml, the user's configuration) says about the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// How processes are held back.
    pub mode: Option<Mode>,
    /// Rather not run than without it.
    pub require: Option<bool>,
    /// What may be written besides the repository and a temporary folder; `~`, `$NAME` at the start; a `/` at the end makes
    /// a folder that is missing.
    pub write: Vec<String>,
    /// The only variables of the environment that get in, beside those that every program needs.
    pub env: Option<Vec<String>>,
    /// Checks are held back like the agent.
    pub checks: Option<bool>,
    /// Who may use the network.
    pub network: Option<Network>,
}

impl Wish {
    /// Returns this wish, and where it says nothing, the other; the paths of both may be written.
    #[must_use]
    pub fn or(self, other: &Wish) -> Wish {
        let mut write = self.write;
        write.extend(other.write.iter().cloned());
        Wish {
            mode: self.mode.or(other.mode),
            require: self.require.or(other.require),
            write,
            env: self.env.or_else(|| other.env.clone()),
            checks: self.checks.or(other.checks),
            network: self.network.or(other.network),
        }
    }

    /// Returns how processes are to be held back, and whether it has to be; an error is in words for the user.
    pub fn settled(&self) -> Result<(Mode, bool), String> {
        let is_required = self.require.unwrap_or_default();
        let mode = match (self.mode, is_required) {
            (Some(mode), _) => mode,
            (None, true) => Mode::Auto,
            (None, false) => Mode::None,
        };
        if mode == Mode::None && is_required {
            return Err("a sandbox is required, but its mode is none".to_owned());
        }
        if mode == Mode::None {
            return Ok((mode, false));
        }
        let is_for_checks = self.checks.unwrap_or_default();
        if self.network == Some(Network::Agent) && !is_for_checks {
            return Err(
                "network: agent keeps checks from the network, which only checks: true can do"
                    .to_owned(),
            );
        }
        Ok((mode, is_required))
    }
}

/// What holds processes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mechanism {
    /// Nothing.
    #[default]
    None,
    /// Landlock.
    Landlock,
    /// bubblewrap.
    Bwrap,
}

impl Mechanism {
    /// Says whether nothing is held back.
    fn is_none(&self) -> bool {
        *self == Mechanism::None
    }

    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Mechanism::None => "none",
            Mechanism::Landlock => "landlock",
            Mechanism::Bwrap => "bwrap",
        }
    }
}

/// How much of a sandbox this kernel's Landlock can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Every way of writing is held back; before Linux 6.2 files could still be emptied.
    pub writes: bool,
    /// TCP connections can be refused (Linux 6.7).
    pub network: bool,
    /// Signals to others are held back (Linux 6.12).
    pub signals: bool,
}

/// What protects whom, as it is told in the header of a run and by `evolve status`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Protections {
    /// What holds the agent back.
    pub sandbox: Mechanism,
    /// Checks are held back too.
    pub checks: bool,
    /// Who may use the network.
    pub network: Network,
    /// What else may be written, beside the repository and a temporary folder.
    pub write: Vec<String>,
    /// What this sandbox cannot do here.
    pub lacks: Vec<String>,
    /// Pushes of the agent's git are refused.
    pub pushes_refused: bool,
    /// The agent works in a copy of its own, from which only what is kept comes back.
    pub isolated: bool,
    /// A cycle measures in copies made anew, which no agent enters.
    pub clean: bool,
    /// The sandbox of another `evolve` around this one, which holds all of it back; nothing is added to it.
    #[serde(skip_serializing_if = "Mechanism::is_none")]
    pub within: Mechanism,
}

impl Protections {
    /// Returns everything in one line.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        if self.isolated {
            parts.push("the agent works in a copy of its own".to_owned());
        }
        if self.clean {
            parts.push("checks run in copies made anew".to_owned());
        }
        let who = match self.checks {
            true => "agent and checks",
            false => "the agent",
        };
        match self.sandbox {
            Mechanism::None if self.within != Mechanism::None => {
                let within = self.within.word();
                parts.push(format!(
                    "inside {within} of another evolve, whose bounds hold"
                ));
            }
            Mechanism::None => {
                parts.push("no sandbox: the agent may write wherever you may".to_owned());
            }
            mechanism => {
                let ground = match self.isolated {
                    true => "its copy",
                    false => "the repository",
                };
                let mut places = vec![ground.to_owned(), "a temporary folder".to_owned()];
                places.extend(self.write.iter().cloned());
                let last = places.pop().unwrap_or_default();
                parts.push(format!(
                    "{}: {who} may write only to {} and {last}",
                    mechanism.word(),
                    places.join(", ")
                ));
            }
        }
        let network = match self.sandbox {
            Mechanism::Landlock => "no TCP",
            Mechanism::Bwrap | Mechanism::None => "no network",
        };
        match (self.network, self.checks) {
            (Network::All, _) => {}
            (Network::Agent, _) => parts.push(format!("{network} for checks")),
            (Network::None, true) => parts.push(network.to_owned()),
            (Network::None, false) => parts.push(format!("{network} for the agent")),
        }
        parts.extend(self.lacks.iter().cloned());
        if self.pushes_refused {
            parts.push("its git cannot push".to_owned());
        }
        parts.join("; ")
    }
}

/// A sandbox that may or may not work on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Available {
    /// Which one.
    pub sandbox: Mechanism,
    /// It works here.
    pub works: bool,
    /// How far it reaches, or why it does not work.
    pub detail: String,
}

/// What may be done at a path and below it; of two rules the one for the deeper path holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule {
    /// An absolute path without links; it exists.
    pub path: PathBuf,
    /// What may be done there.
    pub access: Access,
}

/// What may be done at a path, the strictest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Reading, of what lies in a listed folder or can be set in the kernel. It may be gone meanwhile.
    Entry,
    /// Everything.
    Write,
    /// Reading.
    Read,
    /// Reading what other rules are about: what appears in the folder later is not there.
    Listed,
    /// Nothing: a folder that looks empty.
    Hidden,
    /// Nothing: a file or socket that cannot be opened.
    Masked,
}

/// Returns rules in the order in which they are laid over each other: one for each path, the strictest, outer paths first.
pub fn in_order(mut rules: Vec<Rule>) -> Vec<Rule> {
    rules.sort_by(|a, b| a.path.cmp(&b.path).then(b.access.cmp(&a.access)));
    rules.dedup_by(|later, kept| later.path == kept.path);
    rules
}

/// Returns the paths that have to stay as they are, but lie where everything below may be written, for a sandbox that only
/// allows.
pub fn inexpressible(rules: &[Rule]) -> Vec<&PathBuf> {
    let is_inside = |rule: &&Rule| {
        let holds =
            |other: &Rule| other.access == Access::Write && rule.path.starts_with(&other.path);
        rule.access != Access::Write && rules.iter().any(holds)
    };
    rules
        .iter()
        .filter(is_inside)
        .map(|rule| &rule.path)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(path: &str, access: Access) -> Rule {
        Rule {
            path: path.into(),
            access,
        }
    }

    #[test]
    fn of_two_rules_for_a_path_the_stricter_holds_and_outer_paths_come_first() {
        let rules = vec![
            rule("/r/.git/hooks", Access::Read),
            rule("/r", Access::Write),
            rule("/r/.git/hooks", Access::Write),
            rule("/run", Access::Hidden),
        ];
        assert_eq!(
            in_order(rules),
            [
                rule("/r", Access::Write),
                rule("/r/.git/hooks", Access::Read),
                rule("/run", Access::Hidden),
            ]
        );
    }

    #[test]
    fn what_lies_inside_a_writable_folder_cannot_be_kept_by_rules_that_only_allow() {
        let rules = [
            rule("/r", Access::Write),
            rule("/r/.git/config", Access::Read),
            rule("/home/u/.config/evolve", Access::Read),
        ];
        assert_eq!(inexpressible(&rules), [&PathBuf::from("/r/.git/config")]);
    }

    #[test]
    fn what_is_asked_for_is_settled_or_refused_in_words() {
        let wish = |mode, require| Wish {
            mode,
            require,
            ..Wish::default()
        };
        assert_eq!(wish(None, None).settled(), Ok((Mode::None, false)));
        assert_eq!(wish(None, Some(true)).settled(), Ok((Mode::Auto, true)));
        let landlock = wish(Some(Mode::Landlock), None);
        assert_eq!(landlock.settled(), Ok((Mode::Landlock, false)));
        assert!(wish(Some(Mode::None), Some(true)).settled().is_err());
        let network = Wish {
            mode: Some(Mode::Auto),
            network: Some(Network::Agent),
            ..Wish::default()
        };
        assert!(network.settled().unwrap_err().contains("checks: true"));
    }

    #[test]
    fn a_wish_beats_another_key_by_key_and_adds_its_paths() {
        let flags = Wish {
            mode: Some(Mode::Bwrap),
            ..Wish::default()
        };
        let file = Wish {
            mode: Some(Mode::None),
            write: vec!["~/.cache/a/".to_owned()],
            checks: Some(true),
            ..Wish::default()
        };
        let user = Wish {
            write: vec!["~/.cache/b/".to_owned()],
            checks: Some(false),
            ..Wish::default()
        };
        let settled = flags.or(&file).or(&user);
        assert_eq!(settled.mode, Some(Mode::Bwrap));
        assert_eq!(settled.checks, Some(true));
        assert_eq!(settled.write, ["~/.cache/a/", "~/.cache/b/"]);
    }

    #[test]
    fn one_line_tells_what_protects_and_what_does_not() {
        let none = Protections {
            pushes_refused: true,
            ..Protections::default()
        };
        assert_eq!(
            none.line(),
            "no sandbox: the agent may write wherever you may; its git cannot push"
        );
        let landlock = Protections {
            sandbox: Mechanism::Landlock,
            checks: true,
            network: Network::Agent,
            write: vec!["~/.claude".to_owned()],
            lacks: vec![".git stays writable".to_owned()],
            pushes_refused: false,
            ..Protections::default()
        };
        assert_eq!(
            landlock.line(),
            "landlock: agent and checks may write only to the repository, a temporary folder and ~/.claude; no TCP for checks; .git stays writable"
        );
        for (sandbox, checks, told) in [
            (Mechanism::Bwrap, true, "; no network"),
            (Mechanism::Bwrap, false, "; no network for the agent"),
            (Mechanism::Landlock, true, "; no TCP"),
            (Mechanism::Landlock, false, "; no TCP for the agent"),
        ] {
            let closed = Protections {
                sandbox,
                checks,
                network: Network::None,
                ..Protections::default()
            };
            let line = closed.line();
            assert!(line.ends_with(told), "{line}");
        }
        let within = Protections {
            within: Mechanism::Landlock,
            ..Protections::default()
        };
        assert_eq!(
            within.line(),
            "inside landlock of another evolve, whose bounds hold"
        );
        let apart = Protections {
            sandbox: Mechanism::Bwrap,
            isolated: true,
            clean: true,
            ..Protections::default()
        };
        assert_eq!(
            apart.line(),
            "the agent works in a copy of its own; checks run in copies made anew; bwrap: the agent may write only to its copy and a temporary folder"
        );
    }
}
