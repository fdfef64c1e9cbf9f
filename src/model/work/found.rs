//! Work that an agent found and left: taken over with its own words, but never with its own say on state. Pure.

use serde_json::{Map, Value};

use super::line::Line;
use super::{NewItem, Queue, Severity, item, mark};
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
            for mut map in found(&line, source, timestamp) {
                // Only a person queues anew what was dropped.
                map.shift_remove(item::AGAIN);
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

/// What became of lines that appeared in the queue's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appeared {
    /// How many items were taken in.
    pub added: usize,
    /// The lines that were not, each with its end.
    pub refused: Vec<String>,
}

impl Queue {
    /// Takes over items that appeared in the file itself while the agent of a cycle ran: at most `limit`, each with its own
    /// words, but not with its own say on state, and marked with the cycle.
    pub fn take_appeared(
        &mut self,
        now: &str,
        cycle: u64,
        timestamp: &str,
        limit: usize,
    ) -> Appeared {
        let mut appeared = Appeared::default();
        let known = self.identities();
        for raw in now.split_inclusive('\n') {
            let body = Line::split(raw).1;
            let known_as = mark(body);
            if body.is_empty() || self.read.contains(&known_as) {
                continue;
            }
            let line = Line::parse(raw);
            let is_changed = line.identities().next().is_some()
                && line.identities().all(|one| known.contains(one));
            if is_changed {
                continue;
            }
            let items = found(&line, "", timestamp);
            let is_full = appeared.added + items.len() > limit;
            if items.is_empty() || is_full {
                appeared.refused.push(format!("{}\n", line.body));
                continue;
            }
            let source = line
                .object()
                .and_then(|object| match object.contains_key("items") {
                    true => item::line_of(&object, "source_epic"),
                    false => item::line_of(&object, "source"),
                });
            let source = source.map(|words| text::cut(&mask::secrets(&words), LONGEST_TITLE));
            for mut map in items {
                let source = source.clone();
                map.insert("source".into(), Value::from(source.unwrap_or_default()));
                map.insert(item::APPEARED.into(), Value::from(cycle));
                appeared.added += usize::from(self.append(map));
            }
        }
        appeared
    }
}

/// Returns the items of a line as this program would have written them.
fn found(line: &Line, source: &str, timestamp: &str) -> Vec<Map<String, Value>> {
    let Some(object) = line.object() else {
        return Vec::new();
    };
    match object.get("items") {
        None => rewritten(&object, None, source, timestamp)
            .into_iter()
            .collect(),
        Some(items) => items
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|value| rewritten(value.as_object()?, Some(&object), source, timestamp))
            .collect(),
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
        again: item::again(item),
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
