//! The `sandbox:` key: how agent and checks are held back. Pure.

use super::fields::{self, Fields, Found, Keys};
use super::node::{Complaint, Node, Shape};
use crate::model::sandbox::{Home, MODES, NETWORKS, Wish, expand};

const SANDBOX: Keys = Keys {
    owner: "sandbox",
    known: &["mode", "require", "write", "env", "checks", "network"],
    free: &[],
    elsewhere: &[
        ("protect", "under evolve:"),
        ("writes", "under agents:, for one agent; here it is write"),
    ],
};

/// Reads the word or the mapping under `sandbox`.
pub fn read_sandbox(fields: &Fields<'_>, found: &mut Found) -> Wish {
    let mode = |node: &Node| fields::word(node, MODES);
    match fields.node("sandbox") {
        None => Wish::default(),
        Some(node) if matches!(node.shape, Shape::Map(_)) => read_mapping(node, found),
        Some(_) => Wish {
            mode: fields.optional("sandbox", &mode, found),
            ..Wish::default()
        },
    }
}

fn read_mapping(node: &Node, found: &mut Found) -> Wish {
    let Some(fields) = Fields::of(node, &SANDBOX, found) else {
        return Wish::default();
    };
    let wish = Wish {
        mode: fields.optional("mode", &|node| fields::word(node, MODES), found),
        require: fields.optional("require", &fields::flag, found),
        write: paths(&fields, "write", found),
        env: fields::variable_names(&fields, "env", found),
        checks: fields.optional("checks", &fields::flag, found),
        network: fields.optional("network", &|node| fields::word(node, NETWORKS), found),
    };
    if wish.mode.is_some()
        && let Err(why) = wish.settled()
    {
        found.report(
            Complaint::new(node.place, format!("sandbox: {why}")).hint("change one of the two"),
        );
    }
    wish
}

/// Reads a list of paths outside the repository.
pub fn paths(fields: &Fields<'_>, key: &str, found: &mut Found) -> Vec<String> {
    let mut paths = Vec::new();
    for (place, path) in fields::texts(fields, key, found) {
        match expand(&path, &Home::default()) {
            Ok(_) => paths.push(path),
            Err(hint) => {
                let message = format!("{key}: {} is no path for a sandbox", fields::quote(&path));
                found.report(Complaint::new(place, message).hint(hint));
            }
        }
    }
    paths
}
