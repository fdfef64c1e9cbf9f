//! One line of the queue: an entry with items, a flat item, or something that is only kept. Pure.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::item::{self, Identity, Key, State, WorkItem};
use super::rewritten::rewritten;
use crate::model::mask;
use crate::model::mask::json_problem;

/// What a line holds.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// Nothing.
    Blank,
    /// Something that cannot be understood, and why.
    Malformed(String),
    /// One item.
    Item(Understood),
    /// An entry with its `items`.
    Entry(Understood),
}

/// What a line's items say, as far as they are understood. The JSON itself is not kept: the text has it, and each value of a
/// list takes many times the bytes that it is written with.
#[derive(Clone, Debug, Default)]
pub(super) struct Understood {
    parts: Vec<Part>,
    /// What is wrong with the items, to be put behind the line's number.
    problems: Vec<String>,
    /// The digests of what the items stand for.
    findings: Vec<String>,
}

/// One item, where it stands in its line, and what makes it the same as another.
#[derive(Clone, Debug)]
struct Part {
    item: WorkItem,
    identity: Identity,
}

impl Understood {
    fn add(&mut self, index: Option<usize>, value: &Value, entry: Option<&Map<String, Value>>) {
        let place = index.map_or(String::new(), |index| format!(", item {}", index + 1));
        let Some(map) = value.as_object() else {
            self.problems.push(format!("{place}: not a JSON object"));
            return;
        };
        self.findings.extend(item::findings(map));
        let key = Key {
            line: 0,
            item: index,
        };
        let read = WorkItem::read(key, map, entry);
        let problem = match &read {
            Some(_) => state_problem(map),
            None if index.is_some() && !map.contains_key("title") => Some("no title".to_owned()),
            None => Some(no_title(map)),
        };
        let problem = problem.map(|problem| format!("{place}: {problem}"));
        self.problems.extend(problem);
        self.parts
            .extend(read.map(|(item, identity)| Part { item, identity }));
    }

    /// Gives back the room for more: most lines are one item, and there may be thousands.
    fn without_room(mut self) -> Understood {
        self.parts.shrink_to_fit();
        self.problems.shrink_to_fit();
        self.findings.shrink_to_fit();
        self
    }
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
        let (lead, body, tail) = Line::split(raw);
        Line {
            lead: lead.to_owned(),
            body: body.to_owned(),
            tail: tail.to_owned(),
            content: Content::parse(body),
        }
    }

    /// Returns what comes before a line's body, the body, and what comes after it.
    pub(super) fn split(raw: &str) -> (&str, &str, &str) {
        let is_blank = |c: char| c.is_ascii_whitespace() || c == '\u{feff}';
        let inner = raw.trim_start_matches(is_blank);
        let body = inner.trim_end_matches(is_blank);
        let lead = raw.len() - inner.len();
        (&raw[..lead], body, &inner[body.len()..])
    }

    /// Makes a line of this program's own.
    pub(super) fn from_map(map: Map<String, Value>) -> Line {
        let mut line = Line {
            lead: String::new(),
            body: String::new(),
            tail: "\n".to_owned(),
            content: Content::Blank,
        };
        line.rewrite(map);
        line
    }

    /// Returns the line's text, its end included.
    pub(super) fn to_text(&self) -> String {
        format!("{}{}{}", self.lead, self.body, self.tail)
    }

    /// Returns the object that the line is; none if it is none.
    pub(super) fn object(&self) -> Option<Map<String, Value>> {
        match &self.content {
            Content::Item(_) | Content::Entry(_) => serde_json::from_str(&self.body).ok(),
            Content::Blank | Content::Malformed(_) => None,
        }
    }

    /// Makes another object of the line; what is in both stays as it is written.
    fn rewrite(&mut self, map: Map<String, Value>) {
        let value = Value::Object(map);
        self.body = match self.object() {
            Some(old) => rewritten(&self.body, &Value::Object(old), &value),
            None => value.to_string(),
        };
        self.content = Content::of(value);
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

    /// Changes the item with this index, or the line's own.
    pub(super) fn edit(
        &mut self,
        index: Option<usize>,
        change: impl FnOnce(&mut Map<String, Value>),
    ) {
        let Some(mut map) = self.object() else {
            return;
        };
        let item = match (&self.content, index) {
            (Content::Item(_), None) => Some(&mut map),
            (Content::Entry(_), Some(index)) => map
                .get_mut("items")
                .and_then(Value::as_array_mut)
                .and_then(|items| items.get_mut(index)?.as_object_mut()),
            (Content::Item(_) | Content::Entry(_) | Content::Blank | Content::Malformed(_), _) => {
                None
            }
        };
        if let Some(item) = item {
            change(item);
            self.rewrite(map);
        }
    }

    /// Changes the entry around the line's items.
    pub(super) fn edit_entry(&mut self, change: impl FnOnce(&mut Map<String, Value>)) {
        if let (Content::Entry(_), Some(mut entry)) = (&self.content, self.object()) {
            change(&mut entry);
            self.rewrite(entry);
        }
    }

    fn understood(&self) -> Option<&Understood> {
        match &self.content {
            Content::Item(understood) | Content::Entry(understood) => Some(understood),
            Content::Blank | Content::Malformed(_) => None,
        }
    }

    fn parts(&self) -> &[Part] {
        self.understood().map_or(&[], |it| &it.parts)
    }

    /// Returns the items that can be understood. Where the line stands they do not know.
    pub(super) fn items(&self) -> impl Iterator<Item = &WorkItem> {
        self.parts().iter().map(|part| &part.item)
    }

    /// Returns what makes the line's items the same as others.
    pub(super) fn identities(&self) -> impl Iterator<Item = &Identity> {
        self.parts().iter().map(|part| &part.identity)
    }

    /// Returns the digests of what the line's items stand for.
    pub(super) fn findings(&self) -> &[String] {
        self.understood().map_or(&[], |it| &it.findings)
    }

    /// Returns the line without the items that are known; none if nothing is left of it.
    pub(super) fn without(self, known: impl Fn(&Identity) -> bool) -> Option<Line> {
        let is_known = |part: &&Part| known(&part.identity);
        match &self.content {
            Content::Blank => None,
            Content::Malformed(_) => Some(self),
            Content::Item(_) => {
                let is_new = self.parts().iter().any(|part| !is_known(&part));
                is_new.then_some(self)
            }
            Content::Entry(_) => {
                let gone: HashSet<usize> = (self.parts().iter().filter(is_known))
                    .filter_map(|part| part.item.key.item)
                    .collect();
                self.without_items(&gone)
            }
        }
    }

    /// Returns the line without the items at the places that are gone; none if one was there and nothing is left of it.
    pub(super) fn without_at(self, is_gone: impl Fn(Option<usize>) -> bool) -> Option<Line> {
        let places = self.parts().iter().map(|part| part.item.key.item);
        let gone: Vec<_> = places.filter(|place| is_gone(*place)).collect();
        match gone.contains(&None) {
            true => None,
            false => self.without_items(&gone.into_iter().flatten().collect()),
        }
    }

    /// Returns the entry without the items that have these indexes; none if that leaves none.
    fn without_items(mut self, gone: &HashSet<usize>) -> Option<Line> {
        if gone.is_empty() {
            return Some(self);
        }
        let mut is_empty = false;
        self.edit_entry(|entry| {
            let Some(items) = entry.get_mut("items").and_then(Value::as_array_mut) else {
                return;
            };
            let mut index = 0;
            items.retain(|_| {
                index += 1;
                !gone.contains(&(index - 1))
            });
            is_empty = items.is_empty();
        });
        (!is_empty).then_some(self)
    }

    /// Returns what is wrong with the line, to be put behind its number.
    pub(super) fn problems(&self) -> Vec<String> {
        match &self.content {
            Content::Blank => Vec::new(),
            Content::Malformed(problem) => vec![format!(": {problem}")],
            Content::Item(understood) | Content::Entry(understood) => understood.problems.clone(),
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
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Content::of(value),
            Err(cause) => Content::Malformed(format!("not JSON: {}", json_problem(&cause))),
        }
    }

    /// Understands what a line says.
    fn of(value: Value) -> Content {
        let Value::Object(map) = &value else {
            return Content::Malformed("not a JSON object".to_owned());
        };
        let mut understood = Understood::default();
        match map.get("items") {
            Some(Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    understood.add(Some(index), item, Some(map));
                }
                Content::Entry(understood.without_room())
            }
            Some(_) => Content::Malformed("`items` is not a list".to_owned()),
            None => {
                understood.add(None, &value, None);
                match understood.parts.is_empty() {
                    true => Content::Malformed(no_title(map)),
                    false => Content::Item(understood.without_room()),
                }
            }
        }
    }
}

fn no_title(item: &Map<String, Value>) -> String {
    match item.get("title") {
        Some(Value::String(_)) => "the title is empty".to_owned(),
        Some(_) => "the title is not text".to_owned(),
        None => "neither a title nor items".to_owned(),
    }
}

fn state_problem(item: &Map<String, Value>) -> Option<String> {
    match item.get("state") {
        Some(Value::String(word)) if State::parse(word).is_some() => None,
        Some(other) => {
            const SHOWN: usize = 80;
            let shown = mask::line(&other.to_string(), SHOWN);
            Some(format!("state {shown} is not known, taken as available"))
        }
        None => None,
    }
}
