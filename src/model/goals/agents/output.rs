//! The `output:` of an agent: rules for reading what it prints. Pure.

use regex::Regex;
use serde_json::Value;

use super::words;
use crate::model::agent::{Condition, Figures, Format, Output, Pointer, Rule};
use crate::model::goals::fields::{self, Fields, Found, Keys};
use crate::model::goals::node::{Complaint, Node, Shape};

const OUTPUT: Keys = Keys {
    owner: "output",
    known: &["format", "usage_file", "rules"],
    free: &[],
    elsewhere: &[],
};

const RULE: Keys = Keys {
    owner: "a rule of output",
    known: &[
        "line",
        "when",
        "turn",
        "turns",
        "file",
        "activity",
        "tokens",
        "cost",
        "figures",
        "error",
        "status",
        "denied",
        "denied_except",
        "done",
    ],
    free: &[],
    elsewhere: &[],
};

const FORMATS: &[(&str, Format)] = &[("text", Format::Text), ("jsonl", Format::Jsonl)];
const FIGURES: &[(&str, Figures)] = &[("last", Figures::Last), ("sum", Figures::Sum)];

/// Reads how the output of a program is read.
pub fn read_output(node: &Node, found: &mut Found) -> Option<Output> {
    let fields = Fields::of(node, &OUTPUT, found)?;
    let format = |node: &Node| fields::word(node, FORMATS);
    let items = fields.optional("rules", &words::list, found);
    let rules = items
        .iter()
        .flatten()
        .filter_map(|item| read_rule(item, found));
    let rules = rules.collect();
    let format = fields.required("format", &format, OUTPUT.owner, node.place, found);
    Some(Output {
        format: format.unwrap_or_default(),
        usage_file: fields.optional("usage_file", &words::placed, found),
        rules,
    })
}

fn read_rule(node: &Node, found: &mut Found) -> Option<Rule> {
    let fields = Fields::of(node, &RULE, found)?;
    let line = fields.optional("line", &words::regex, found);
    let mut places = Places {
        fields: &fields,
        groups: line.as_deref().map(groups),
        found,
    };
    let mut rule = Rule {
        when: places.conditions(),
        turns: places.all("turns"),
        file: places.all("file"),
        activity: places.all("activity"),
        tokens: places.all("tokens"),
        cost: places.all("cost"),
        error: places.all("error"),
        status: places.one("status"),
        denied: places.one("denied"),
        line,
        ..Rule::default()
    };
    let figures = |node: &Node| fields::word(node, FIGURES);
    let flag = |key: &str, found: &mut Found| fields.optional(key, &fields::flag, found);
    rule.turn = flag("turn", found).unwrap_or(false);
    rule.done = flag("done", found).unwrap_or(false);
    rule.figures = fields
        .optional("figures", &figures, found)
        .unwrap_or_default();
    rule.denied_except = fields.optional("denied_except", &words::regex, found);
    Some(rule)
}

/// Returns the names of the groups of a pattern.
fn groups(pattern: &str) -> Vec<String> {
    let regex = Regex::new(pattern).ok();
    let names = regex.iter().flat_map(Regex::capture_names).flatten();
    names.map(str::to_owned).collect()
}

/// Reads the places that a rule names.
struct Places<'a, 'n> {
    fields: &'a Fields<'n>,
    /// The groups of the rule's line, which are all that its event has.
    groups: Option<Vec<String>>,
    found: &'a mut Found,
}

impl Places<'_, '_> {
    fn all(&mut self, key: &str) -> Vec<Pointer> {
        let items = self.fields.optional(key, &words::one_or_list, self.found);
        let items = items.unwrap_or_default();
        items
            .iter()
            .filter_map(|item| self.take(key, item))
            .collect()
    }

    fn one(&mut self, key: &str) -> Option<Pointer> {
        let node = self.fields.node(key)?;
        self.take(key, node)
    }

    fn take(&mut self, key: &str, node: &Node) -> Option<Pointer> {
        let pointer = words::pointer(node).and_then(|pointer| self.in_groups(pointer, node));
        self.found
            .take(pointer.map_err(|complaint| complaint.below(key)))
    }

    fn in_groups(&self, pointer: Pointer, node: &Node) -> Result<Pointer, Complaint> {
        let name = &pointer.as_str()[1..];
        match &self.groups {
            Some(groups) if !groups.iter().any(|group| group == name) => {
                let known: Vec<&str> = groups.iter().map(String::as_str).collect();
                let message = format!("the line has no group {}", fields::quote(name));
                let hint = match fields::nearest(name, &known) {
                    Some(near) => format!("did you mean /{near}?"),
                    None => format!("name a part of the line, as in (?<{name}>…)"),
                };
                Err(Complaint::new(node.place, message).hint(hint))
            }
            Some(_) | None => Ok(pointer),
        }
    }

    fn conditions(&mut self) -> Vec<Condition> {
        let Some(node) = self.fields.node("when") else {
            return Vec::new();
        };
        let Shape::Map(entries) = &node.shape else {
            let complaint = fields::expected(node, "a mapping of places to values");
            self.found
                .report(complaint.below("when").hint("write as in {/type: result}"));
            return Vec::new();
        };
        let mut conditions = Vec::new();
        for entry in entries {
            // The key, as a value at its place.
            let key = Node {
                place: entry.place,
                raw: entry.key.clone(),
                shape: Shape::Text(entry.key.clone()),
            };
            let at = self.take("when", &key);
            let values = values(&entry.value)
                .map_err(|complaint| complaint.below(&format!("when: {}", entry.key)));
            let values = self.found.take(values);
            conditions.extend(at.zip(values).map(|(at, values)| Condition { at, values }));
        }
        conditions
    }
}

/// Reads one value or several, each without parts.
fn values(node: &Node) -> Result<Vec<Value>, Complaint> {
    words::one_or_list(node)?.iter().map(value).collect()
}

fn value(node: &Node) -> Result<Value, Complaint> {
    match &node.shape {
        Shape::Nothing => Ok(Value::Null),
        Shape::Flag(flag) => Ok(Value::Bool(*flag)),
        Shape::Text(text) => Ok(Value::String(text.clone())),
        Shape::Whole(number) => i64::try_from(*number)
            .map(Value::from)
            .map_err(|_| fields::expected(node, "a number that fits")),
        Shape::Fraction(_) | Shape::List(_) | Shape::Map(_) => Err(fields::expected(
            node,
            "a word, a whole number, true, false or null",
        )),
    }
}
