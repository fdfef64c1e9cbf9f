//! One entry of the `goals:` list: its keys, its id, and what its value is held against. Pure.

use super::fields::{self, FREE, Fields, Found, Keys};
use super::node::{Complaint, Node, Shape};
use super::reading::{READ_KEYS, read_reading};
use super::{Continuous, DEFAULT_RETRIES, Direction, Goal, GoalKind};
use crate::model::check;

/// The longest id, in characters; ids stand in file names and commit subjects.
const LONGEST_ID: usize = 100;

const GOAL: Keys = Keys {
    owner: "a goal",
    known: &[
        "id",
        "description",
        "check",
        "weight",
        "type",
        "pillar",
        "tags",
        "timeout",
        "alone",
        "retries",
        "continuous",
    ],
    free: FREE,
    elsewhere: &[
        ("metric", "under continuous:"),
        ("threshold", "under continuous:"),
        ("direction", "under continuous:"),
        ("read", "under continuous:"),
        ("tolerance", "under continuous:"),
    ],
};

const CONTINUOUS: Keys = Keys {
    owner: "continuous",
    known: &["metric", "threshold", "direction", "read", "tolerance"],
    free: &[],
    elsewhere: READ_KEYS,
};

const KINDS: &[(&str, GoalKind)] = &[
    ("health", GoalKind::Health),
    ("architecture", GoalKind::Architecture),
    ("quality", GoalKind::Quality),
    ("meta", GoalKind::Meta),
];

const DIRECTIONS: &[(&str, Direction)] = &[
    ("at-least", Direction::AtLeast),
    ("at-most", Direction::AtMost),
];

/// Reads the goal `node`, the list's item `number` (from 1). `None` if anything mandatory is missing or wrong.
pub fn read_goal(
    node: &Node,
    number: usize,
    found: &mut Found,
    warnings: &mut Found,
) -> Option<Goal> {
    let fields = Fields::of(node, &GOAL, found)?;
    let owner = owner(&fields, number);
    let id = fields.required("id", &id, &owner, node.place, found);
    let description = fields.required("description", &fields::text, &owner, node.place, found);
    let check = fields.required("check", &fields::text, &owner, node.place, found);
    let weight = fields.required("weight", &weight, &owner, node.place, found);
    let kind = fields.optional("type", &|node| fields::word(node, KINDS), found);
    let tags = fields::texts(&fields, "tags", found);
    let retries = fields.optional("retries", &retries, found);
    let continuous = fields.optional("continuous", &|node| Ok(node.clone()), found);
    let goal = Goal {
        id: String::new(),
        description: String::new(),
        check: String::new(),
        weight: 1,
        kind: kind.unwrap_or_default(),
        pillar: fields.optional("pillar", &fields::text, found),
        tags: tags.into_iter().map(|(_, tag)| tag).collect(),
        timeout: fields.optional("timeout", &fields::time, found),
        alone: fields
            .optional("alone", &fields::flag, found)
            .unwrap_or(false),
        retries: retries.unwrap_or(DEFAULT_RETRIES),
        continuous: continuous.and_then(|node| read_continuous(&node, found, warnings)),
        line: node.place.line,
    };
    let check = check?;
    if let Some(node) = fields
        .node("check")
        .filter(|_| passes_anyway(&goal, &check))
    {
        warnings.report(
            Complaint::new(node.place, "this check passes whatever its commands find")
                .hint("leave out what has it succeed in any case, such as || true"),
        );
    }
    Some(Goal {
        id: id?,
        description: description?,
        check,
        weight: weight?,
        ..goal
    })
}

/// Says whether the exit code of a goal decides, and tells nothing.
fn passes_anyway(goal: &Goal, check: &str) -> bool {
    let has_direction = |value: &Continuous| value.direction.is_some();
    !goal.continuous.as_ref().is_some_and(has_direction) && check::passes_anyway(check)
}

/// Names the goal for a message: by its id if it has one, else by its number.
fn owner(fields: &Fields<'_>, number: usize) -> String {
    match fields.node("id").map(|node| &node.shape) {
        Some(Shape::Text(id)) => format!("the goal {}", fields::quote(id)),
        _ => format!("goal {number}"),
    }
}

fn weight(node: &Node) -> Result<u8, Complaint> {
    let weight = fields::whole(node, 1..=10)?;
    Ok(u8::try_from(weight).expect("BUG: ten is more than a byte holds"))
}

fn retries(node: &Node) -> Result<u32, Complaint> {
    let retries = fields::whole(node, 0..=10)?;
    Ok(u32::try_from(retries).expect("BUG: ten is more than an integer holds"))
}

fn id(node: &Node) -> Result<String, Complaint> {
    let id = match &node.shape {
        // A number is a good id; it only has to be text.
        Shape::Text(text) if text.is_empty() => return fields::text(node),
        Shape::Text(text) => text,
        Shape::Nothing
        | Shape::Flag(_)
        | Shape::Whole(_)
        | Shape::Fraction(_)
        | Shape::List(_)
        | Shape::Map(_) => return fields::text(node),
    };
    if id.chars().count() > LONGEST_ID {
        return Err(Complaint::new(
            node.place,
            format!("is longer than {LONGEST_ID} characters"),
        )
        .hint("say the rest in the description"));
    }
    if is_kebab(id) {
        return Ok(id.clone());
    }
    let message = format!("{} is not in kebab-case", fields::quote(id));
    let complaint = Complaint::new(node.place, message);
    Err(match to_kebab(id) {
        better if better.is_empty() => {
            complaint.hint("write small letters, digits and single dashes")
        }
        better => complaint.hint(format!("write {better}")),
    })
}

fn is_kebab(id: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    id.split('-')
        .all(|part| !part.is_empty() && part.bytes().all(is_plain))
}

/// Turns `TestsPass`, `tests_pass` and `Tests pass!` into `tests-pass`.
fn to_kebab(id: &str) -> String {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in id.chars() {
        let starts_word = c.is_ascii_uppercase() && was_lower;
        if starts_word || !c.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(c.to_ascii_lowercase());
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words.join("-")
}

fn read_continuous(node: &Node, found: &mut Found, warnings: &mut Found) -> Option<Continuous> {
    let fields = Fields::of(node, &CONTINUOUS, found)?;
    report_halves(&fields, found, warnings);
    Some(Continuous {
        metric: fields.optional("metric", &fields::text, found),
        threshold: fields.optional("threshold", &fields::number, found),
        direction: fields.optional("direction", &direction, found),
        read: fields
            .optional("read", &|node| Ok(node.clone()), found)
            .and_then(|node| read_reading(&node, found))
            .unwrap_or_default(),
        tolerance: fields
            .optional("tolerance", &tolerance, found)
            .unwrap_or(0.0),
    })
}

/// Reports keys that say nothing without another one.
fn report_halves(fields: &Fields<'_>, found: &mut Found, warnings: &mut Found) {
    let place = |key| fields.node(key).map(|node| node.place);
    let (threshold, direction) = (place("threshold"), place("direction"));
    match (threshold, direction) {
        (None, Some(place)) => found.report(
            Complaint::new(place, "a direction needs a threshold").hint("add a line threshold: …"),
        ),
        (Some(place), None) => warnings.report(
            Complaint::new(
                place,
                "without a direction the exit code alone decides, the value is only shown",
            )
            .hint("add direction: at-least or direction: at-most"),
        ),
        (Some(_), Some(_)) | (None, None) => {}
    }
    if let (Some(place), None) = (place("tolerance"), direction) {
        found.report(
            Complaint::new(place, "a tolerance needs a direction")
                .hint("add direction: at-least or direction: at-most"),
        );
    }
}

fn direction(node: &Node) -> Result<Direction, Complaint> {
    fields::word(node, DIRECTIONS).map_err(|complaint| match node.raw.as_str() {
        ">=" | ">" | "min" | "minimum" | "up" | "higher" | "above" | "floor" => {
            complaint.hint("did you mean at-least?")
        }
        "<=" | "<" | "max" | "maximum" | "down" | "lower" | "below" | "ceiling" => {
            complaint.hint("did you mean at-most?")
        }
        _ => complaint,
    })
}

fn tolerance(node: &Node) -> Result<f64, Complaint> {
    match fields::number(node)? {
        value if value < 0.0 => {
            Err(fields::expected(node, "a number, 0 or more")
                .hint("write how far off is still fine"))
        }
        value => Ok(value),
    }
}
