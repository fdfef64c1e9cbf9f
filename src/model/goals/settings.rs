//! The loop's settings: the `evolve:` block of GOALS.yaml, and config.yaml, which has the same keys but `protect`. Pure.

use globset::Glob;

use super::agents::{PROMPTS, read_entries};
use super::fields::{self, Fields, Found, Keys};
use super::node::{Complaint, Node, Shape};
use super::{AgentCommand, AgentSpec, Limits, Settings, Where};
use super::{sandbox, sweep};
use crate::model::{slot, usage};

/// The keys of the `evolve:` block.
pub const EVOLVE: Keys = Keys {
    owner: "evolve",
    known: &[
        "agent", "agents", "jobs", "timeout", "protect", "product", "sandbox", "sweep", "limits",
        "isolate", "measure", "prepare", "link", "on_cycle", "on_end",
    ],
    free: &[],
    elsewhere: ELSEWHERE,
};

/// The keys of config.yaml.
pub const CONFIG: Keys = Keys {
    owner: "the file",
    known: &[
        "agent", "agents", "jobs", "timeout", "sandbox", "sweep", "limits", "isolate",
    ],
    free: &[],
    elsewhere: &[
        ("protect", "under evolve: in GOALS.yaml"),
        ("product", "under evolve: in GOALS.yaml"),
        ("measure", "under evolve: in GOALS.yaml"),
        ("on_cycle", "under evolve: in GOALS.yaml"),
        ("on_end", "under evolve: in GOALS.yaml"),
        ("prepare", "under evolve: in GOALS.yaml"),
        ("link", "under evolve: in GOALS.yaml"),
        ("evolve", "in GOALS.yaml; here its keys stand at the top"),
        ("goals", "in GOALS.yaml"),
        ("max_time", "under limits:"),
        ("max_cycles", "under limits:"),
        ("max_cost", "under limits:"),
        ("max_tokens", "under limits:"),
        ("max_cost", "under limits:"),
        ("max_tokens", "under limits:"),
        ("idle_timeout", "under agent:, beside command"),
        ("prompt", "under agent:, beside command"),
        ("command", "under agent:"),
    ],
};

const ELSEWHERE: &[(&str, &str)] = &[
    ("max_time", "under limits:"),
    ("max_cycles", "under limits:"),
    ("max_cost", "under limits:"),
    ("max_tokens", "under limits:"),
    ("idle_timeout", "under agent:, beside command"),
    ("prompt", "under agent:, beside command"),
    ("command", "under agent:"),
];

const AGENT: Keys = Keys {
    owner: "agent",
    known: &["command", "prompt", "timeout", "idle_timeout"],
    free: &[],
    elsewhere: &[],
};

/// Where goals are measured, in words.
const WHERE: &[(&str, Where)] = &[("here", Where::Here), ("clean", Where::Clean)];

const LIMITS: Keys = Keys {
    owner: "limits",
    known: &["max_time", "max_cycles", "max_cost", "max_tokens"],
    free: &[],
    elsewhere: &[],
};

/// What these commands run is frozen with the goals; of another file's nobody would know.
fn hook(key: &str, fields: &Fields<'_>, keys: &Keys, found: &mut Found) -> Option<String> {
    match keys.known.contains(&key) {
        true => fields.optional(key, &fields::text, found),
        false => None,
    }
}

/// Reads the mapping `node`; what is wrong in it is reported, and left out of the settings.
pub fn read_settings(node: &Node, keys: &Keys, found: &mut Found) -> Settings {
    let Some(fields) = Fields::of(node, keys, found) else {
        return Settings::default();
    };
    let jobs = fields.optional("jobs", &|node| fields::whole(node, 1..=u64::MAX), found);
    Settings {
        agent: fields
            .node("agent")
            .and_then(|node| read_agent(&fields, node, found)),
        agents: fields
            .node("agents")
            .map(|node| read_entries(node, found))
            .unwrap_or_default(),
        jobs: jobs.map(|jobs| usize::try_from(jobs).unwrap_or(usize::MAX)),
        timeout: fields.optional("timeout", &fields::time, found),
        protect: match keys.known.contains(&"protect") {
            true => read_globs(&fields, "protect", found),
            false => Vec::new(),
        },
        product: match keys.known.contains(&"product") {
            true => read_globs(&fields, "product", found),
            false => Vec::new(),
        },
        sandbox: sandbox::read_sandbox(&fields, found),
        sweep: sweep::read_sweep(&fields, found),
        on_cycle: hook("on_cycle", &fields, keys, found),
        on_end: hook("on_end", &fields, keys, found),
        limits: read_limits(fields.node("limits"), found),
        isolate: fields.optional("isolate", &fields::flag, found),
        measure: fields
            .optional("measure", &|node| fields::word(node, WHERE), found)
            .unwrap_or_default(),
        prepare: fields.optional("prepare", &fields::text, found),
        link: read_link(&fields, found),
    }
}

/// Reads the paths that are lent to a slot: each below the root, and no part of git or `evolve`.
pub fn read_link(fields: &Fields<'_>, found: &mut Found) -> Vec<String> {
    let mut paths = Vec::new();
    for (place, path) in fields::texts(fields, "link", found) {
        match slot::lendable(&path) {
            Ok(path) => paths.push(path),
            Err(why) => found.report(
                Complaint::new(place, format!("link: {} {why}", fields::quote(&path))).hint(
                    "write the path of an ignored file or folder, relative to the repository's root",
                ),
            ),
        }
    }
    paths
}

fn read_agent(fields: &Fields<'_>, node: &Node, found: &mut Found) -> Option<AgentSpec> {
    match node.shape {
        Shape::Map(_) => read_command(node, found).map(AgentSpec::Command),
        Shape::List(_) => {
            let complaint = fields::expected(node, "a command line or a mapping");
            found.report(Complaint {
                message: format!("agent: {}", complaint.message),
                ..complaint.hint("write {command: [program, argument]}")
            });
            None
        }
        Shape::Nothing | Shape::Flag(_) | Shape::Whole(_) | Shape::Fraction(_) | Shape::Text(_) => {
            fields
                .optional("agent", &fields::text, found)
                .map(AgentSpec::Line)
        }
    }
}

fn read_command(node: &Node, found: &mut Found) -> Option<AgentCommand> {
    let fields = Fields::of(node, &AGENT, found)?;
    let command = read_words(&fields, node, found);
    Some(AgentCommand {
        prompt: fields
            .optional("prompt", &|node| fields::word(node, PROMPTS), found)
            .unwrap_or_default(),
        timeout: fields.optional("timeout", &fields::time, found),
        idle_timeout: fields.optional("idle_timeout", &fields::time, found),
        command: command?,
    })
}

/// Reads the program and its arguments; an argument may be empty, the program not.
fn read_words(fields: &Fields<'_>, owner: &Node, found: &mut Found) -> Option<Vec<String>> {
    let items = fields.required("command", &words, "agent", owner.place, found)?;
    let mut command = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let word = match (&item.shape, index) {
            (Shape::Text(text), 1..) if text.is_empty() => Ok(String::new()),
            _ => fields::text(item),
        };
        let word = word.map_err(|complaint| Complaint {
            message: format!("command[{index}]: {}", complaint.message),
            ..complaint
        });
        command.push(found.take(word));
    }
    command.into_iter().collect()
}

fn words(node: &Node) -> Result<Vec<Node>, Complaint> {
    match &node.shape {
        Shape::List(items) if items.is_empty() => {
            Err(Complaint::new(node.place, "the list is empty").hint("name the program"))
        }
        Shape::List(items) => Ok(items.clone()),
        Shape::Text(text) => {
            let split: Vec<&str> = text.split_whitespace().take(8).collect();
            Err(fields::expected(node, "a list of words").hint(format!(
                "write [{}], or agent: {} for a command line",
                split.join(", "),
                fields::quote(text)
            )))
        }
        Shape::Nothing | Shape::Flag(_) | Shape::Whole(_) | Shape::Fraction(_) | Shape::Map(_) => {
            Err(fields::expected(node, "a list of words").hint("write [program, argument]"))
        }
    }
}

/// Reads a list of globs of files below the root.
pub fn read_globs(fields: &Fields<'_>, key: &str, found: &mut Found) -> Vec<String> {
    let mut globs = Vec::new();
    for (place, glob) in fields::texts(fields, key, found) {
        let complaint = match Glob::new(&glob) {
            Err(cause) => Complaint::new(place, format!("{key}: {}", cause.kind())),
            Ok(_) if glob.starts_with('/') => Complaint::new(
                place,
                format!("{key}: a pattern is relative to the repository's root"),
            )
            .hint(format!(
                "write {}",
                fields::quote(glob.trim_start_matches('/'))
            )),
            Ok(_) if glob.starts_with('!') => Complaint::new(
                place,
                format!("{key}: a pattern cannot be turned round with !"),
            )
            .hint("list what is meant"),
            Ok(_) if glob.split('/').any(|part| part == "..") => Complaint::new(
                place,
                format!("{key}: a pattern stays below the repository's root"),
            )
            .hint("write it without .."),
            Ok(_) if plain(&glob).is_empty() => Complaint::new(
                place,
                format!("{key}: a pattern names files below the root"),
            )
            .hint("write ** for all of them"),
            Ok(_) => {
                globs.push(plain(&glob));
                continue;
            }
        };
        found.report(complaint);
    }
    globs
}

/// Returns a pattern without the parts of it that say nothing: `./a//b` is `a/b`.
fn plain(glob: &str) -> String {
    let parts = glob
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".");
    let plain = parts.collect::<Vec<_>>().join("/");
    match glob.ends_with('/') && !plain.is_empty() {
        true => plain + "/",
        false => plain,
    }
}

fn read_limits(node: Option<&Node>, found: &mut Found) -> Limits {
    let Some(node) = node.filter(|node| !matches!(node.shape, Shape::Nothing)) else {
        return Limits::default();
    };
    let Some(fields) = Fields::of(node, &LIMITS, found) else {
        return Limits::default();
    };
    let count = |node: &Node| fields::whole(node, 1..=u64::MAX);
    Limits {
        max_time: fields.optional("max_time", &fields::time, found),
        max_cycles: fields.optional("max_cycles", &count, found),
        max_cost: fields.optional("max_cost", &dollars, found),
        max_tokens: fields.optional("max_tokens", &tokens, found),
    }
}

/// Reads a number of tokens, which may end in `k` or `M`.
fn tokens(node: &Node) -> Result<u64, Complaint> {
    let with_unit = match node.shape {
        Shape::Text(_) if node.raw.ends_with(['k', 'K', 'm', 'M']) => usage::read_tokens(&node.raw),
        _ => None,
    };
    with_unit.map_or_else(|| fields::whole(node, 1..=u64::MAX), Ok)
}

/// Reads an amount of US dollars.
pub fn dollars(node: &Node) -> Result<f64, Complaint> {
    match fields::number(node)? {
        amount if amount > 0.0 => Ok(amount),
        _ => Err(
            fields::expected(node, "an amount in US dollars, more than 0")
                .hint("leave the key out for no limit"),
        ),
    }
}
