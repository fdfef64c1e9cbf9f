//! The `agents:` of GOALS.yaml and config.yaml: how agent programs are started, and how their output is read. The built-in
//! presets are read by the same rules. Pure.

mod output;
mod words;

use super::fields::{self, Fields, Found, Keys};
use super::node::{Complaint, Node, Place, Shape};
use super::report::{Problem, place_problems};
use super::{sandbox, yaml};
use crate::model::agent::{BUILT_IN, Entry, Obstacle, Prompt, Refusal};
use output::read_output;

/// The words for how the brief goes in.
pub const PROMPTS: &[(&str, Prompt)] = &[
    ("stdin", Prompt::Stdin),
    ("file", Prompt::File),
    ("arg", Prompt::Arg),
];

const AGENT: Keys = Keys {
    owner: "an agent",
    known: &[
        "like",
        "command",
        "programs",
        "args",
        "extra_args",
        "prompt",
        "env",
        "needs_env",
        "leaves",
        "writes",
        "sandboxed_args",
        "timeout",
        "idle_timeout",
        "output",
        "cannot_run",
    ],
    free: &[],
    elsewhere: &[
        ("model", "among extra_args, as the program's own option"),
        ("rules", "under output:"),
        ("format", "under output:"),
        ("usage_file", "under output:"),
    ],
};

const REFUSAL: Keys = Keys {
    owner: "a rule of cannot_run",
    known: &["kind", "exit", "status", "says"],
    free: &[],
    elsewhere: &[],
};

const KINDS: &[(&str, Obstacle)] = &[
    ("not-installed", Obstacle::NotInstalled),
    ("not-logged-in", Obstacle::NotLoggedIn),
    ("untrusted-folder", Obstacle::UntrustedFolder),
    ("permission-refused", Obstacle::PermissionRefused),
    ("rate-limited", Obstacle::RateLimited),
    ("out-of-quota", Obstacle::OutOfQuota),
    ("overloaded", Obstacle::Overloaded),
];

/// Reads a document that holds nothing but agents, as the built-in one does.
pub fn read_agents(bytes: &[u8]) -> Result<Vec<Entry>, Vec<Problem>> {
    let root = yaml::parse(bytes).map_err(|complaint| place_problems(bytes, complaint.into()))?;
    let mut found = Found::default();
    let entries = root.map(|root| read_entries(&root, &mut found));
    match found.complaints.is_empty() {
        true => Ok(entries.unwrap_or_default()),
        false => Err(place_problems(bytes, found)),
    }
}

/// Reads the mapping `node`; what is wrong in it is reported, and left out.
pub fn read_entries(node: &Node, found: &mut Found) -> Vec<Entry> {
    let entries = match &node.shape {
        // A block of which everything is commented out is no mistake.
        Shape::Nothing => return Vec::new(),
        Shape::Map(entries) => entries,
        Shape::Flag(_) | Shape::Whole(_) | Shape::Fraction(_) | Shape::Text(_) | Shape::List(_) => {
            let complaint = fields::expected(node, "a mapping of names to agents");
            found.report(Complaint {
                message: format!("agents: {}", complaint.message),
                ..complaint.hint("write a name and its keys, as in claude: {extra_args: […]}")
            });
            return Vec::new();
        }
    };
    let mut read: Vec<Entry> = Vec::new();
    let mut names: Vec<(&str, Place)> = Vec::new();
    for entry in entries.iter().filter(|entry| !entry.key.starts_with("x-")) {
        let name = entry.key.as_str();
        match names.iter().find(|(taken, _)| *taken == name) {
            Some((_, first)) => found.report(fields::repeated(entry, *first)),
            None if !is_name(name) => found.report(bad_name(name, entry.place)),
            None => {
                let known = names.iter().map(|(name, _)| *name).chain(BUILT_IN);
                let known: Vec<&str> = known.collect();
                read.extend(read_entry(name, entry.place, &entry.value, &known, found));
            }
        }
        names.push((name, entry.place));
    }
    read
}

/// Says whether `name` can stand for an agent wherever one is named; a command line never looks like it.
fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_part)
}

fn bad_name(name: &str, place: Place) -> Complaint {
    let message = format!("agents: {} is no name for an agent", fields::quote(name));
    Complaint::new(place, message).hint("write letters, digits and dashes")
}

fn read_entry(
    name: &str,
    place: Place,
    node: &Node,
    known: &[&str],
    found: &mut Found,
) -> Option<Entry> {
    let fields = Fields::of(node, &AGENT, found)?;
    let like = |node: &Node| read_like(node, known);
    let time = |key: &str, found: &mut Found| fields.optional(key, &fields::time, found);
    let mut entry = Entry {
        name: name.to_owned(),
        like: fields.optional("like", &like, found),
        programs: words::programs(&fields, found),
        args: words::args(&fields, "args", found),
        extra_args: words::args(&fields, "extra_args", found),
        prompt: fields.optional("prompt", &|node| fields::word(node, PROMPTS), found),
        env: words::variables(&fields, found),
        needs_env: fields::variable_names(&fields, "needs_env", found),
        leaves: words::patterns(&fields, found),
        writes: (fields.node("writes").is_some()).then(|| sandbox::paths(&fields, "writes", found)),
        sandboxed_args: words::args(&fields, "sandboxed_args", found),
        timeout: time("timeout", found),
        idle_timeout: time("idle_timeout", found),
        output: fields
            .node("output")
            .and_then(|node| read_output(node, found)),
        cannot_run: read_refusals(&fields, found),
    };
    if fields.node("command").is_some() {
        (entry.programs, entry.args) = words::command(&fields, found);
    }
    let names_program = ["like", "command", "programs"]
        .iter()
        .any(|key| fields.node(key).is_some());
    if !names_program && !BUILT_IN.contains(&name) {
        found.report(no_program(name, place));
    }
    Some(entry)
}

fn no_program(name: &str, place: Place) -> Complaint {
    let message = format!("the agent {} has no command", fields::quote(name));
    Complaint::new(place, message).hint(match fields::nearest(name, &BUILT_IN) {
        Some(built_in) => format!("did you mean {built_in}? Otherwise add command: [program, argument], or like: {built_in}"),
        None => "add command: [program, argument], or like: with the name of a built-in agent".to_owned(),
    })
}

fn read_like(node: &Node, known: &[&str]) -> Result<String, Complaint> {
    let name = fields::text(node)?;
    if known.contains(&name.as_str()) {
        return Ok(name);
    }
    let message = format!("there is no agent {}", fields::quote(&name));
    let hint = match fields::nearest(&name, known) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known here are {}", known.join(", ")),
    };
    Err(Complaint::new(node.place, message).hint(hint))
}

fn read_refusals(fields: &Fields<'_>, found: &mut Found) -> Option<Vec<Refusal>> {
    let items = fields.optional("cannot_run", &words::list, found)?;
    let rules = items.iter().filter_map(|item| read_refusal(item, found));
    Some(rules.collect())
}

fn read_refusal(node: &Node, found: &mut Found) -> Option<Refusal> {
    let fields = Fields::of(node, &REFUSAL, found)?;
    let kind = |node: &Node| fields::word(node, KINDS);
    let kind = fields.required("kind", &kind, REFUSAL.owner, node.place, found);
    let exit = numbers(&fields, "exit", 0..=255, found);
    let status = numbers(&fields, "status", 100..=599, found);
    let says = fields.optional("says", &words::regex, found);
    let names_something = ["exit", "status", "says"]
        .iter()
        .any(|key| fields.node(key).is_some());
    if !names_something {
        let message = "a rule of cannot_run has nothing to recognise it by";
        found.report(
            Complaint::new(node.place, message)
                .hint("add exit: [codes], status: [codes] or says: …"),
        );
    }
    Some(Refusal {
        kind: kind?,
        exit,
        status,
        says,
    })
}

/// Reads one number or a list of them.
fn numbers<T: TryFrom<u64>>(
    fields: &Fields<'_>,
    key: &str,
    range: std::ops::RangeInclusive<u64>,
    found: &mut Found,
) -> Vec<T> {
    let read = |node: &Node| fields::whole(node, range.clone());
    let items = fields
        .optional(key, &words::one_or_list, found)
        .unwrap_or_default();
    let numbers = items.iter().filter_map(|item| {
        let number = read(item).map_err(|complaint| complaint.below(key));
        T::try_from(found.take(number)?).ok()
    });
    numbers.collect()
}

#[cfg(test)]
mod tests;
