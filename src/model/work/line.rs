//! One line of the queue: an entry with items, a flat item, or something that is only kept. Pure.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::item::{self, Identity, Key, State, WorkItem};
use crate::model::text::json_problem;

/// What a line holds.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Nothing.
    Blank,
    /// Something that cannot be understood, and why.
    Malformed(String),
    /// One item.
    Item(Map<String, Value>),
    /// An entry with its `items`.
    Entry(Map<String, Value>),
}

/// One line: what stands around it, its text, and what the text means.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// A byte order mark and blanks before the text.
    lead: String,
    /// The text as it is written.
    pub(super) body: String,
    /// Blanks after the text and the end of the line.
    tail: String,
    /// What the text means.
    pub(super) content: Content,
}

impl Line {
    /// Splits a line, its end included, into its parts.
    pub(super) fn parse(raw: &str) -> Line {
        let is_blank = |c: char| c.is_ascii_whitespace() || c == '\u{feff}';
        let inner = raw.trim_start_matches(is_blank);
        let lead = &raw[..raw.len() - inner.len()];
        let body = inner.trim_end_matches(is_blank);
        Line {
            lead: lead.to_owned(),
            body: body.to_owned(),
            tail: inner[body.len()..].to_owned(),
            content: Content::parse(body),
        }
    }

    /// Makes a line of this program's own.
    pub(super) fn from_map(content: Content) -> Line {
        let mut line = Line {
            lead: String::new(),
            body: String::new(),
            tail: "\n".to_owned(),
            content,
        };
        line.rewrite();
        line
    }

    /// Returns the line's text, its end included.
    pub(super) fn to_text(&self) -> String {
        format!("{}{}{}", self.lead, self.body, self.tail)
    }

    /// Brings the text up to what the line now means.
    pub(super) fn rewrite(&mut self) {
        match &self.content {
            Content::Item(map) | Content::Entry(map) => {
                self.body = serde_json::to_string(map).expect("BUG: a JSON object is always text");
            }
            Content::Blank | Content::Malformed(_) => {}
        }
    }

    /// Makes sure that something can follow.
    pub(super) fn end_line(&mut self) {
        let ends = if self.body.is_empty() {
            &self.lead
        } else {
            &self.tail
        };
        if !ends.ends_with('\n') {
            self.tail.push('\n');
        }
    }

    /// Returns the item with this index, or the line's own.
    pub(super) fn item_mut(&mut self, index: Option<usize>) -> Option<&mut Map<String, Value>> {
        match (&mut self.content, index) {
            (Content::Item(item), None) => Some(item),
            (Content::Entry(entry), Some(index)) => entry
                .get_mut("items")?
                .as_array_mut()?
                .get_mut(index)?
                .as_object_mut(),
            (Content::Item(_) | Content::Entry(_) | Content::Blank | Content::Malformed(_), _) => {
                None
            }
        }
    }

    /// Returns the items that can be understood; `line` is this line's index.
    pub(super) fn items(&self, line: usize) -> Vec<WorkItem> {
        match &self.content {
            Content::Item(item) => WorkItem::read(Key { line, item: None }, item, None)
                .into_iter()
                .collect(),
            Content::Entry(entry) => parts(entry)
                .iter()
                .enumerate()
                .filter_map(|(index, value)| {
                    let key = Key {
                        line,
                        item: Some(index),
                    };
                    WorkItem::read(key, value.as_object()?, Some(entry))
                })
                .collect(),
            Content::Blank | Content::Malformed(_) => Vec::new(),
        }
    }

    /// Returns what makes the line's items the same as others.
    pub(super) fn identities(&self) -> Vec<Identity> {
        match &self.content {
            Content::Item(item) => item::identity(item, None).into_iter().collect(),
            Content::Entry(entry) => parts(entry)
                .iter()
                .filter_map(|value| item::identity(value.as_object()?, Some(entry)))
                .collect(),
            Content::Blank | Content::Malformed(_) => Vec::new(),
        }
    }

    /// Returns the digests of what the line's items stand for.
    pub(super) fn findings(&self) -> Vec<String> {
        match &self.content {
            Content::Item(item) => item::findings(item).collect(),
            Content::Entry(entry) => parts(entry)
                .iter()
                .filter_map(Value::as_object)
                .flat_map(item::findings)
                .collect(),
            Content::Blank | Content::Malformed(_) => Vec::new(),
        }
    }

    /// Returns the line without the items that are known; none if nothing is left of it.
    pub(super) fn without(mut self, known: &HashSet<Identity>) -> Option<Line> {
        let is_new = |identity: &Identity| !known.contains(identity);
        match &mut self.content {
            Content::Blank => None,
            Content::Malformed(_) => Some(self),
            Content::Item(item) => item::identity(item, None)
                .is_some_and(|identity| is_new(&identity))
                .then_some(self),
            Content::Entry(entry) => {
                let is_known = |value: &Value| {
                    let identity = value
                        .as_object()
                        .and_then(|item| item::identity(item, Some(entry)));
                    identity.is_some_and(|identity| !is_new(&identity))
                };
                let all = parts(entry);
                let left: Vec<Value> = all
                    .iter()
                    .filter(|value| !is_known(value))
                    .cloned()
                    .collect();
                if left.len() == all.len() {
                    return Some(self);
                }
                if left.is_empty() {
                    return None;
                }
                entry.insert("items".into(), Value::Array(left));
                self.rewrite();
                Some(self)
            }
        }
    }

    /// Returns what is wrong with the line, to be put behind its number.
    pub(super) fn problems(&self) -> Vec<String> {
        match &self.content {
            Content::Blank => Vec::new(),
            Content::Malformed(problem) => vec![format!(": {problem}")],
            Content::Item(item) => item_problem(item)
                .map(|problem| format!(": {problem}"))
                .into_iter()
                .collect(),
            Content::Entry(entry) => parts(entry)
                .iter()
                .enumerate()
                .filter_map(|(index, value)| {
                    let problem = match value.as_object() {
                        Some(item) => item_problem(item)?,
                        None => "not a JSON object".to_owned(),
                    };
                    Some(format!(", item {}: {problem}", index + 1))
                })
                .collect(),
        }
    }
}

impl Content {
    /// Reads a line's text. Of a key that is there twice the last one counts.
    fn parse(body: &str) -> Content {
        if body.is_empty() {
            return Content::Blank;
        }
        if ["<<<<<<<", "=======", ">>>>>>>", "|||||||"]
            .iter()
            .any(|mark| body.starts_with(mark))
        {
            return Content::Malformed("a conflict marker of an unfinished merge".to_owned());
        }
        let map = match serde_json::from_str::<Value>(body) {
            Ok(Value::Object(map)) => map,
            Ok(
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_),
            ) => {
                return Content::Malformed("not a JSON object".to_owned());
            }
            Err(cause) => return Content::Malformed(format!("not JSON: {}", json_problem(&cause))),
        };
        match map.get("items") {
            Some(Value::Array(_)) => Content::Entry(map),
            Some(_) => Content::Malformed("`items` is not a list".to_owned()),
            None if item::title(&map).is_some() => Content::Item(map),
            None => Content::Malformed(no_title(&map)),
        }
    }
}

fn parts(entry: &Map<String, Value>) -> &[Value] {
    entry
        .get("items")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn no_title(item: &Map<String, Value>) -> String {
    match item.get("title") {
        Some(Value::String(_)) => "the title is empty".to_owned(),
        Some(_) => "the title is not text".to_owned(),
        None => "neither a title nor items".to_owned(),
    }
}

fn item_problem(item: &Map<String, Value>) -> Option<String> {
    if item::title(item).is_none() {
        return Some(match item.get("title") {
            None => "no title".to_owned(),
            Some(_) => no_title(item),
        });
    }
    match item.get("state") {
        Some(Value::String(word)) if State::parse(word).is_some() => None,
        Some(other) => Some(format!("state {other} is not known, taken as available")),
        None => None,
    }
}
