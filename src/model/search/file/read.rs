//! SEARCH.yaml as a whole: all problems of the file at once, each with its place. Pure.

use super::{Asked, Bound, DIRECTIONS, MOST_AT_ONCE, STRATEGIES, StrategyName};
use crate::model::goals::Problem;
use crate::model::goals::fields::{self, Fields, Found, Keys};
use crate::model::goals::node::{Complaint, Node, Place, Shape};
use crate::model::goals::report::place_problems;
use crate::model::goals::sandbox::read_sandbox;
use crate::model::goals::settings::{dollars, read_globs, read_link};
use crate::model::goals::yaml;

/// What to do about a problem that says nothing of its own.
const ANY_HINT: &str = "`evolve schema search` prints everything that may stand there";

const FILE: Keys = Keys {
    owner: "the file",
    known: &[
        "fitness",
        "files",
        "strategy",
        "objective",
        "direction",
        "gates",
        "holdout",
        "repeats",
        "agents",
        "benchmarks",
        "timeout",
        "prepare",
        "link",
        "until",
        "seed",
        "stale",
        "max_attempts",
        "max_cost",
        "max_time",
        "k",
        "generations",
        "lenses",
        "protect",
        "goals_as_gates",
        "agent",
        "sandbox",
    ],
    free: &[],
    elsewhere: &[
        ("g", "here as generations"),
        (
            "goals",
            "in GOALS.yaml; goals_as_gates: true makes gates of those that pass",
        ),
        ("max_cycles", "to the loop; here it is max_attempts"),
    ],
};

/// Reads a SEARCH.yaml.
pub fn read_search(bytes: &[u8]) -> Result<Asked, Vec<Problem>> {
    let root = yaml::parse(bytes).map_err(|complaint| place_problems(bytes, complaint.into()))?;
    let mut found = Found::default();
    let asked = match &root {
        Some(root) if !matches!(root.shape, Shape::Nothing) => read_file(root, &mut found),
        _ => {
            let message = "the file says nothing of what to search for";
            let hint = "name the command that prints the number, as in fitness: ./bench.sh; `evolve search init` writes a file";
            found.report(Complaint::new(Place::new(1, 1), message).hint(hint));
            None
        }
    };
    for complaint in &mut found.complaints {
        complaint.hint.get_or_insert_with(|| ANY_HINT.to_owned());
    }
    match (asked, found.complaints.is_empty()) {
        (Some(asked), true) => Ok(asked),
        (Some(_) | None, _) => Err(place_problems(bytes, found)),
    }
}

fn read_file(root: &Node, found: &mut Found) -> Option<Asked> {
    let fields = Fields::of(root, &FILE, found)?;
    let count = |node: &Node| fields::whole(node, 1..=u64::MAX);
    let few = |node: &Node| fields::whole(node, 1..=MOST_AT_ONCE);
    let two = |node: &Node| at_least_two(node);
    let seed = |node: &Node| fields::whole(node, 0..=u64::MAX);
    let asked = Asked {
        fitness: fields.required("fitness", &fields::text, "the file", root.place, found),
        files: read_globs(&fields, "files", found),
        strategy: fields.optional("strategy", &strategy, found),
        objective: fields.optional("objective", &fields::text, found),
        direction: fields.optional("direction", &|node| fields::word(node, DIRECTIONS), found),
        gates: texts(&fields, "gates", found),
        holdout: fields.optional("holdout", &fields::text, found),
        repeats: fields.optional("repeats", &few, found),
        agents: fields.optional("agents", &few, found),
        benchmarks: fields.optional("benchmarks", &few, found),
        timeout: fields.optional("timeout", &fields::time, found),
        prepare: fields.optional("prepare", &fields::text, found),
        link: read_link(&fields, found),
        until: fields.optional("until", &fields::number, found),
        seed: fields.optional("seed", &seed, found),
        stale: fields.optional("stale", &bound, found),
        max_attempts: fields.optional("max_attempts", &bound, found),
        max_cost: fields.optional("max_cost", &dollars, found),
        max_time: fields.optional("max_time", &fields::time, found),
        k: fields.optional("k", &two, found),
        generations: fields.optional("generations", &count, found),
        lenses: texts(&fields, "lenses", found),
        protect: read_globs(&fields, "protect", found),
        goals_as_gates: fields.optional("goals_as_gates", &fields::flag, found),
        agent: fields.optional("agent", &agent, found),
        sandbox: read_sandbox(&fields, found),
    };
    if asked.strategy.unwrap_or_default() != StrategyName::Population {
        report_of_population(root, found);
    }
    Some(asked)
}

fn strategy(node: &Node) -> Result<StrategyName, Complaint> {
    match node.shape {
        Shape::Map(_) => Err(fields::expected(node, "climb or population").hint(
            "write strategy: population, and k and generations beside it, where fitness stands",
        )),
        _ => fields::word(node, STRATEGIES),
    }
}

/// Reports the keys that only a population knows.
fn report_of_population(root: &Node, found: &mut Found) {
    let Shape::Map(entries) = &root.shape else {
        return;
    };
    let is_of_it = |key: &str| matches!(key, "k" | "generations");
    for entry in entries.iter().filter(|entry| is_of_it(&entry.key)) {
        let key = &entry.key;
        let message = format!("{key} is an option of the strategy population");
        let hint = format!("add strategy: population, or leave {key} out");
        found.report(Complaint::new(entry.place, message).hint(hint));
    }
}

fn texts(fields: &Fields<'_>, key: &str, found: &mut Found) -> Vec<String> {
    let list = fields::texts(fields, key, found).into_iter();
    list.map(|(_, text)| text).collect()
}

/// Reads a whole number or `off`, which YAML 1.1 takes for false.
fn bound(node: &Node) -> Result<Bound, Complaint> {
    if node.raw == "off" {
        return Ok(Bound::Off);
    }
    fields::whole(node, 1..=u64::MAX)
        .map(Bound::At)
        .map_err(|complaint| Complaint {
            message: complaint
                .message
                .replacen("or more,", "or more, or off,", 1),
            ..complaint
        })
}

fn at_least_two(node: &Node) -> Result<u64, Complaint> {
    match fields::whole(node, 1..=u64::MAX)? {
        1 => Err(
            Complaint::new(node.place, "one attempt at a time is a climb")
                .hint("write strategy: climb, or at least 2"),
        ),
        number => Ok(number),
    }
}

/// Reads an agent by its name or command line; what more there is to say of one stands in config.yaml.
fn agent(node: &Node) -> Result<String, Complaint> {
    match node.shape {
        Shape::Map(_) | Shape::List(_) => Err(fields::expected(node, "a name or a command line")
            .hint(
                "spell it out under agents: in ~/.config/evolve/config.yaml, and write its name",
            )),
        Shape::Nothing | Shape::Flag(_) | Shape::Whole(_) | Shape::Fraction(_) | Shape::Text(_) => {
            fields::text(node)
        }
    }
}
