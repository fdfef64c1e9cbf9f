//! Rules applied to one event. Pure.

use regex::Regex;
use serde_json::{Map, Value};

use super::figures;
use crate::model::agent::{Condition, Figures, Pointer, Rule};

/// How much of one value becomes words, in characters.
const VALUE_CHARS: usize = 4000;

/// A rule that is ready to be applied.
#[derive(Debug)]
pub struct Compiled {
    rule: Rule,
    line: Option<Regex>,
    denied_except: Option<Regex>,
}

/// What all rules together read from one event.
#[derive(Debug, Default)]
pub struct Read {
    /// It is a turn.
    pub is_turn: bool,
    /// How many turns there were in all.
    pub turns: Option<u64>,
    /// Files that were touched.
    pub files: Vec<String>,
    /// What the agent did or said.
    pub activity: Option<String>,
    /// Tokens of each rule.
    pub tokens: Vec<(Figures, u64)>,
    /// Dollars of each rule.
    pub cost: Vec<(Figures, f64)>,
    /// The agent's own words for its failure.
    pub error: Option<String>,
    /// The HTTP status of it.
    pub status: Option<u16>,
    /// What the agent was refused.
    pub denied: Option<String>,
    /// The agent got an answer.
    pub is_done: bool,
}

impl Compiled {
    /// Compiles the patterns. They were checked when the preset was read; one that is not valid would fit nothing.
    pub fn new(rule: &Rule) -> Compiled {
        let compile = |pattern: &Option<String>| Regex::new(pattern.as_deref()?).ok();
        Compiled {
            line: compile(&rule.line),
            denied_except: compile(&rule.denied_except),
            rule: rule.clone(),
        }
    }

    /// Says whether the rule is about this event.
    pub fn fits(&self, event: &Value) -> bool {
        self.rule.line.is_none()
            && self
                .rule
                .when
                .iter()
                .all(|condition| holds(condition, event))
    }

    /// Returns the named groups of a line that is no event, if the rule is about it.
    pub fn event_of(&self, line: &str) -> Option<Value> {
        let regex = self.line.as_ref()?;
        let captures = regex.captures(line)?;
        let group = |name: &str| {
            let value = captures.name(name)?.as_str();
            Some((name.to_owned(), Value::from(value)))
        };
        let groups = regex.capture_names().flatten().filter_map(group);
        let event = Value::Object(groups.collect::<Map<_, _>>());
        let fits = self
            .rule
            .when
            .iter()
            .all(|condition| holds(condition, &event));
        fits.then_some(event)
    }

    /// Adds what the rule reads from an event that it is about.
    pub fn read(&self, event: &Value, read: &mut Read) {
        let rule = &self.rule;
        read.is_turn |= rule.turn;
        read.is_done |= rule.done;
        read.turns = figures::tokens(&all(&rule.turns, event)).or(read.turns);
        let files = all(&rule.file, event).into_iter().filter_map(path);
        read.files.extend(files);
        let words = words(&all(&rule.activity, event));
        read.activity = words.or(read.activity.take());
        let tokens = figures::tokens(&all(&rule.tokens, event));
        read.tokens
            .extend(tokens.map(|tokens| (rule.figures, tokens)));
        let cost = figures::dollars(&all(&rule.cost, event));
        read.cost.extend(cost.map(|cost| (rule.figures, cost)));
        if read.error.is_none() {
            read.error = all(&rule.error, event).into_iter().find_map(words_of);
            read.status = rule.status.as_ref().and_then(|at| status(&at.find(event)));
        }
        let denied = rule.denied.as_ref().and_then(|at| self.denied(at, event));
        read.denied = denied.or(read.denied.take());
    }

    /// Returns what was refused, but for what is meant to be.
    fn denied(&self, at: &Pointer, event: &Value) -> Option<String> {
        let is_meant = |words: &String| {
            self.denied_except
                .as_ref()
                .is_some_and(|re| re.is_match(words))
        };
        let items = at.find(event).into_iter().flat_map(|found| match found {
            Value::Array(items) => items.iter().collect(),
            other => vec![other],
        });
        items.filter_map(words_of).find(|words| !is_meant(words))
    }
}

fn holds(condition: &Condition, event: &Value) -> bool {
    let found = condition.at.find(event);
    let is_absent = found.iter().all(|value| value.is_null());
    condition.values.iter().any(|wanted| match wanted {
        Value::Null => is_absent,
        wanted => found.contains(&wanted),
    })
}

fn all<'v>(pointers: &[Pointer], event: &'v Value) -> Vec<&'v Value> {
    pointers
        .iter()
        .flat_map(|pointer| pointer.find(event))
        .collect()
}

fn path(value: &Value) -> Option<String> {
    let path = value.as_str()?;
    let is_path = !path.is_empty() && !path.chars().any(char::is_control);
    is_path.then(|| path.to_owned())
}

fn words(found: &[&Value]) -> Option<String> {
    let words: Vec<String> = found.iter().filter_map(|value| words_of(value)).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Returns what a value says: its text, or the texts within it without those that are only marks.
fn words_of(value: &Value) -> Option<String> {
    let words = match value {
        Value::String(text) => text.chars().take(VALUE_CHARS).collect(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) => String::new(),
        Value::Array(items) => join(items.iter()),
        Value::Object(map) => {
            let is_said =
                |(key, value): &(&String, &Value)| !key.ends_with("id") && !value.is_number();
            join(map.iter().filter(is_said).map(|(_, value)| value))
        }
    };
    (!words.trim().is_empty()).then_some(words)
}

fn join<'v>(values: impl Iterator<Item = &'v Value>) -> String {
    let words: Vec<String> = values.filter_map(words_of).take(20).collect();
    words.join(" ")
}

fn status(found: &[&Value]) -> Option<u16> {
    let number = |value: &&Value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let number = found.iter().find_map(number)?;
    u16::try_from(number).ok()
}
