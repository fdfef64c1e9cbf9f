//! The `sweep:` list: what a sweep looks with. Pure.

use super::fields::{self, Fields, Found, Keys};
use super::node::{Complaint, Node, Shape};
use crate::model::sweep::{OwnCommand, Part};
use crate::model::work::Severity;

const PARTS: &[(&str, Part)] = &[
    ("linters", Part::Linters),
    ("markers", Part::Markers),
    ("floors", Part::Floors),
];

const OWN: Keys = Keys {
    owner: "a sweep command",
    known: &["run", "severity", "type"],
    free: &[],
    elsewhere: &[("timeout", "under evolve:, for checks and sweeps alike")],
};

const SEVERITIES: &[(&str, Severity)] = &[
    ("critical", Severity::Critical),
    ("high", Severity::High),
    ("medium", Severity::Medium),
    ("low", Severity::Low),
];

/// Reads the list; an empty one turns the sweep off, none leaves it to the default.
pub fn read_sweep(fields: &Fields<'_>, found: &mut Found) -> Option<Vec<Part>> {
    let items = fields.optional("sweep", &list, found)?;
    let parts: Vec<Part> = items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| read_part(item, index, found))
        .collect();
    Some(parts)
}

fn list(node: &Node) -> Result<Vec<Node>, Complaint> {
    let complaint = || fields::expected(node, "a list");
    match &node.shape {
        Shape::List(items) => Ok(items.clone()),
        Shape::Text(word) => Err(complaint().hint(format!("write [{word}]"))),
        Shape::Flag(false) => Err(complaint().hint("write [] to turn it off")),
        Shape::Map(_) => Err(complaint().hint("write [{run: …}], a command in a list")),
        Shape::Nothing | Shape::Flag(true) | Shape::Whole(_) | Shape::Fraction(_) => {
            Err(complaint().hint("write [linters, markers, floors], or fewer of them"))
        }
    }
}

fn read_part(node: &Node, index: usize, found: &mut Found) -> Option<Part> {
    match &node.shape {
        Shape::Map(_) => read_own(node, found),
        Shape::Nothing
        | Shape::Flag(_)
        | Shape::Whole(_)
        | Shape::Fraction(_)
        | Shape::Text(_)
        | Shape::List(_) => {
            let part = word(node).map_err(|complaint| Complaint {
                message: format!("sweep[{index}]: {}", complaint.message),
                ..complaint
            });
            found.take(part)
        }
    }
}

fn word(node: &Node) -> Result<Part, Complaint> {
    let known = |text: &str| PARTS.iter().find(|(name, _)| *name == text);
    if let Shape::Text(text) = &node.shape
        && let Some((_, part)) = known(text)
    {
        return Ok(part.clone());
    }
    let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
    let complaint = fields::expected(node, "linters, markers, floors or {run: a command}");
    Err(match (fields::nearest(&node.raw, &names), &node.shape) {
        (Some(name), _) => complaint.hint(format!("did you mean {name}?")),
        (None, Shape::Text(text)) => complaint.hint(format!(
            "if it is a command, write {{run: {}}}",
            fields::quote(text)
        )),
        (None, _) => complaint,
    })
}

fn read_own(node: &Node, found: &mut Found) -> Option<Part> {
    let fields = Fields::of(node, &OWN, found)?;
    let run = fields.required("run", &fields::text, "a sweep command", node.place, found);
    let severity = fields.optional("severity", &|node| fields::word(node, SEVERITIES), found);
    let kind = fields.optional("type", &fields::text, found);
    Some(Part::Own(OwnCommand {
        run: run?,
        severity: severity.unwrap_or(Severity::Medium),
        kind: kind.unwrap_or_else(|| "bug".to_owned()),
    }))
}
