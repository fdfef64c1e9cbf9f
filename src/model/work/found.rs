//! Work that an agent found and left: taken over with its own words, but never with its own say on state. Pure.

use serde_json::{Map, Value};

use super::line::{Content, Line};
use super::{NewItem, Queue, Severity, item};
use crate::model::{mask, text};

/// The longest title that is taken over, in characters.
const LONGEST_TITLE: usize = 200;
/// The longest description, evidence or other word that is taken over, in characters.
const LONGEST_TEXT: usize = 4000;
/// How many problems are named one by one.
const MOST_PROBLEMS: usize = 10;

impl Queue {
    /// Takes over items that an agent left, one JSON object a line, flat or as entries with `items`; at most `limit`.
    /// Returns how many were new, and what was left out and why.
    pub fn take_found(
        &mut self,
        text: &str,
        source: &str,
        timestamp: &str,
        limit: usize,
    ) -> (usize, Vec<String>) {
        let mut added = 0;
        let mut surplus = 0;
        let mut problems = Vec::new();
        for (index, raw) in text.lines().enumerate() {
            let line = Line::parse(raw);
            problems.extend(
                line.problems()
                    .iter()
                    .map(|problem| format!("line {}{problem}", index + 1)),
            );
            for map in found(&line.content, source, timestamp) {
                if added == limit {
                    surplus += 1;
                } else if self.append(map) {
                    added += 1;
                }
            }
        }
        let unnamed = problems.len().saturating_sub(MOST_PROBLEMS);
        problems.truncate(MOST_PROBLEMS);
        if unnamed > 0 {
            problems.push(format!("and {unnamed} more"));
        }
        if surplus > 0 {
            problems.push(format!("more than {limit} items, {surplus} left out"));
        }
        (added, problems)
    }
}

/// Returns the items of a line as this program would have written them.
fn found(content: &Content, source: &str, timestamp: &str) -> Vec<Map<String, Value>> {
    match content {
        Content::Item(item) => rewritten(item, None, source, timestamp)
            .into_iter()
            .collect(),
        Content::Entry(entry) => entry
            .get("items")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|value| rewritten(value.as_object()?, Some(entry), source, timestamp))
            .collect(),
        Content::Blank | Content::Malformed(_) => Vec::new(),
    }
}

fn rewritten(
    item: &Map<String, Value>,
    entry: Option<&Map<String, Value>>,
    source: &str,
    timestamp: &str,
) -> Option<Map<String, Value>> {
    // Masked before it is cut: half a secret would not be told.
    let masked = |text: String, most| text::cut(&mask::secrets(&text), most);
    let line = |name| item::line_of(item, name).map(|text| masked(text, LONGEST_TITLE));
    let long = |name| item::text_of(item, name).map(|text| masked(text, LONGEST_TEXT));
    let new = NewItem {
        title: line("title")?,
        kind: line("type").unwrap_or_else(|| "task".to_owned()),
        severity: line("severity").map_or(Severity::Unknown, |word| Severity::parse(&word)),
        source: source.to_owned(),
        description: long("description").unwrap_or_default(),
        target_repo: item::target(item, entry).map(|target| masked(target, LONGEST_TITLE)),
        evidence: long("evidence").unwrap_or_default(),
        findings: Vec::new(),
    };
    Some(new.into_map(timestamp))
}
