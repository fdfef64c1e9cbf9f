//! GOALS.yaml and the user's config.yaml as a whole: all problems of a file at once, each with its place. The rules of one goal are
//! in `goal`, those of the loop's settings in `settings`, how problems look in `report`. Pure.

use std::collections::HashMap;
use std::path::PathBuf;

use super::fields::{self, FREE, Fields, Found, Keys};
use super::goal::read_goal;
use super::node::{Complaint, Node, Place, Shape};
use super::report::place_problems;
use super::settings::{CONFIG, EVOLVE, read_settings};
use super::yaml;
use super::{Goal, Goals, Problem, Settings};
use crate::model::digest;
use crate::model::reading::Source;

/// What is said of a file without a goal.
const NO_GOALS: &str = "No goals to measure";

const START: Place = Place::new(1, 1);

const FILE: Keys = Keys {
    owner: "the file",
    known: &["version", "mission", "evolve", "goals"],
    free: FREE,
    elsewhere: &[
        ("agent", "under evolve:"),
        ("agents", "under evolve:"),
        ("jobs", "under evolve:"),
        ("timeout", "under evolve:"),
        ("protect", "under evolve:"),
        ("product", "under evolve:"),
        ("sweep", "under evolve:"),
        ("limits", "under evolve:"),
    ],
};

/// Reads a goals file. The warnings are problems that change nothing.
pub fn read_goals(file_name: &str, bytes: &[u8]) -> Result<(Goals, Vec<Problem>), Vec<Problem>> {
    let root = yaml::parse(bytes).map_err(|complaint| place_problems(bytes, complaint.into()))?;
    let mut found = Found::default();
    let mut warnings = Found::default();
    let goals = match &root {
        Some(root) if !matches!(root.shape, Shape::Nothing) => {
            read_file(file_name, root, &mut found, &mut warnings)
        }
        _ => {
            found.report(no_goals(file_name, START));
            None
        }
    };
    match (goals, found.complaints.is_empty()) {
        (Some(goals), true) => {
            let digest = digest::full(bytes);
            Ok((Goals { digest, ..goals }, place_problems(bytes, warnings)))
        }
        (Some(_) | None, _) => Err(place_problems(bytes, found)),
    }
}

/// Reads the user's configuration: the keys of the `evolve:` block, but `protect`. Without any it is all defaults.
pub fn read_config(_file_name: &str, bytes: &[u8]) -> Result<Settings, Vec<Problem>> {
    let root = yaml::parse(bytes).map_err(|complaint| place_problems(bytes, complaint.into()))?;
    let mut found = Found::default();
    let settings = match &root {
        Some(root) if !matches!(root.shape, Shape::Nothing) => {
            read_settings(root, &CONFIG, &mut found)
        }
        _ => Settings::default(),
    };
    match found.complaints.is_empty() {
        true => Ok(settings),
        false => Err(place_problems(bytes, found)),
    }
}

fn read_file(
    file_name: &str,
    root: &Node,
    found: &mut Found,
    warnings: &mut Found,
) -> Option<Goals> {
    let fields = Fields::of(root, &FILE, found)?;
    fields.optional("version", &version, found);
    let mission = fields.optional("mission", &fields::text, found);
    let settings = match fields.node("evolve") {
        // A block of which everything is commented out is no mistake.
        None => Settings::default(),
        Some(node) if matches!(node.shape, Shape::Nothing) => Settings::default(),
        Some(node) => read_settings(node, &EVOLVE, found),
    };
    let goals = read_list(file_name, fields.node("goals"), found, warnings);
    Some(Goals {
        mission,
        prepare: settings.prepare.clone(),
        settings,
        goals,
        digest: String::new(),
    })
}

fn version(node: &Node) -> Result<u64, Complaint> {
    fields::whole(node, 1..=3)
}

fn read_list(
    file_name: &str,
    node: Option<&Node>,
    found: &mut Found,
    warnings: &mut Found,
) -> Vec<Goal> {
    let place = node.map_or(START, |node| node.place);
    let items = match node.map(|node| (node, &node.shape)) {
        Some((_, Shape::List(items))) if !items.is_empty() => items,
        None | Some((_, Shape::List(_) | Shape::Nothing)) => {
            found.report(no_goals(file_name, place));
            return Vec::new();
        }
        Some((
            node,
            Shape::Flag(_) | Shape::Whole(_) | Shape::Fraction(_) | Shape::Text(_) | Shape::Map(_),
        )) => {
            let message = format!("goals has to be a list, not {}", fields::describe(node));
            found.report(Complaint::new(place, message).hint("start each goal with - id: …"));
            return Vec::new();
        }
    };
    report_repeated_ids(items, found);
    let mut goals = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if let Some(goal) = read_goal(item, index + 1, found, warnings) {
            warn_of_shared_file(&goal, &goals, item.place, warnings);
            goals.push(goal);
        }
    }
    goals
}

/// Warns of a file that an earlier goal reads too: each check has to write it itself, and beside each other they would be in
/// each other's way.
fn warn_of_shared_file(goal: &Goal, earlier: &[Goal], place: Place, warnings: &mut Found) {
    let source = |goal: &Goal| -> Vec<PathBuf> {
        match goal.continuous.as_ref().map(|one| one.read.source()) {
            Some(Source::First(files)) => files,
            Some(Source::Matching(glob)) => vec![glob.into()],
            Some(Source::Output) | None => Vec::new(),
        }
    };
    let files = source(goal);
    // Most goals read none: then the others are not looked at, however many there are.
    if files.is_empty() {
        return;
    }
    let shared = |other: &Goal| {
        let is_apart = goal.alone && other.alone;
        let file = source(other).into_iter().find(|file| files.contains(file));
        file.filter(|_| !is_apart)
    };
    let first = earlier
        .iter()
        .find_map(|other| shared(other).map(|file| (other, file)));
    let Some((other, file)) = first else {
        return;
    };
    let message = format!(
        "{} reads {}, as {} does: each of the two checks has to write it itself",
        fields::quote(&goal.id),
        fields::quote(&file.to_string_lossy()),
        fields::quote(&other.id)
    );
    let hint = "let each write a file of its own, or set alone: true on both";
    warnings.report(Complaint::new(place, message).hint(hint));
}

fn report_repeated_ids(items: &[Node], found: &mut Found) {
    let mut first_lines = HashMap::new();
    for item in items {
        let Some(id) = id_of(item) else { continue };
        let Shape::Text(name) = &id.shape else {
            continue;
        };
        let Some(first) = first_lines.insert(name, id.place.line) else {
            continue;
        };
        first_lines.insert(name, first);
        let message = format!(
            "the id {} is taken, by the goal on line {first}",
            fields::quote(name)
        );
        found.report(Complaint::new(id.place, message).hint("give each goal an id of its own"));
    }
}

/// Returns the id of a goal that may have any other mistake.
fn id_of(item: &Node) -> Option<&Node> {
    match &item.shape {
        Shape::Map(entries) => entries
            .iter()
            .find(|entry| entry.key == "id")
            .map(|entry| &entry.value),
        Shape::Nothing
        | Shape::Flag(_)
        | Shape::Whole(_)
        | Shape::Fraction(_)
        | Shape::Text(_)
        | Shape::List(_) => None,
    }
}

fn no_goals(file_name: &str, place: Place) -> Complaint {
    Complaint::new(place, NO_GOALS).hint(format!(
        "write one into {file_name}, as in\n    goals:\n      - {{id: no-conflict-markers, description: No merge \
         conflict is left over, weight: 9, check: \"! git grep -InE '^<<<<<<< ' -- . ':!.agents'\"}}"
    ))
}

#[cfg(test)]
mod tests;
