//! From findings to work items: one for each tool and file, without what is known, at most ten. Pure.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::{Finding, SOURCE};
use crate::model::digest;
use crate::model::mask;
use crate::model::text;
use crate::model::work::{NewItem, Queue, Severity};

/// How many items one sweep queues.
pub const MOST_ITEMS: usize = 10;
/// How many different findings one item stands for; what is beyond comes with a later sweep.
const MOST_FINDINGS: usize = 500;
/// How many findings an item shows.
const SHOWN: usize = 20;
/// How many rules a title names.
const RULES_NAMED: usize = 3;
/// The longest title, in characters.
const LONGEST_TITLE: usize = 200;
/// The longest message that is shown, in characters.
const LONGEST_MESSAGE: usize = 300;

/// A number that stands alone: a line or a count in a message, which moves while the finding stays the same.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b\d+\b").expect("BUG: the pattern is invalid"));

/// What one tool found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The tool's name.
    pub tool: String,
    /// The command line that shows the same to a person; `{file}` in it stands for the file.
    pub how: String,
    /// What sort of work it is.
    pub kind: String,
    /// How bad it is.
    pub severity: Severity,
    /// What it found in files.
    pub findings: Vec<Finding>,
    /// Whole items that it made itself.
    pub items: Vec<NewItem>,
}

/// What a sweep came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harvest {
    /// The new items, the worst first.
    pub items: Vec<NewItem>,
    /// How many more there would be.
    pub left_out: usize,
    /// Where the findings are that are in files which no cycle may change, as `file:line`.
    pub frozen: Vec<String>,
}

/// Makes the items of a batch: one a file, with the findings that are not known; the file with the most findings first.
/// `is_free` says whether an agent may change a file.
pub fn items_of(
    batch: &Batch,
    known: &HashSet<String>,
    is_free: &dyn Fn(&str) -> bool,
) -> Vec<NewItem> {
    let mut files: BTreeMap<&str, BTreeMap<String, Vec<&Finding>>> = BTreeMap::new();
    for finding in batch.findings.iter().filter(|one| is_free(&one.file)) {
        let key = key(&batch.tool, finding);
        if known.contains(&key) {
            continue;
        }
        let same = files.entry(&finding.file).or_default();
        if same.len() < MOST_FINDINGS || same.contains_key(&key) {
            same.entry(key).or_default().push(finding);
        }
    }
    let mut groups: Vec<_> = files.into_iter().collect();
    groups.sort_by_key(|(_, found)| std::cmp::Reverse(count(found)));
    groups
        .into_iter()
        .map(|(file, found)| item(batch, file, found))
        .chain(batch.items.iter().cloned())
        .collect()
}

/// Picks what is queued: the worst first, and among equals each tool's first, then each tool's second, and so on.
pub fn pick(lists: Vec<Vec<NewItem>>, queue: &Queue) -> Harvest {
    let mut all: Vec<(usize, NewItem)> = Vec::new();
    for list in lists {
        let new = list.into_iter().filter(|item| is_new(item, queue));
        all.extend(new.enumerate());
    }
    all.sort_by_key(|(rank, item)| (item.severity, *rank));
    let mut harvest = Harvest::default();
    let mut titles = HashSet::new();
    for (_, mut item) in all {
        if !item.findings.is_empty() {
            rename(&mut item, &titles, queue);
        }
        if !titles.insert(item.title.to_lowercase()) {
            continue;
        }
        match harvest.items.len() < MOST_ITEMS {
            true => harvest.items.push(item),
            false => harvest.left_out += 1,
        }
    }
    harvest
}

/// An item that names findings is new by these; one that a command made, by its title.
fn is_new(item: &NewItem, queue: &Queue) -> bool {
    !item.findings.is_empty() || !queue.knows(item)
}

/// Gives an item with other findings than an earlier one of the same title a title of its own.
fn rename(item: &mut NewItem, titles: &HashSet<String>, queue: &Queue) {
    let title = item.title.clone();
    let mut number = 1;
    while queue.knows(item) || titles.contains(&item.title.to_lowercase()) {
        number += 1;
        item.title = format!("{title} ({number})");
    }
}

/// Returns what makes a finding the same as one of another day: neither its line nor numbers in its words.
pub(super) fn key(tool: &str, finding: &Finding) -> String {
    let said = text::clean_line(&finding.message);
    let said = NUMBER.replace_all(&said, "#");
    digest::short(&[tool, &finding.file, &finding.rule, &said])
}

fn count(found: &BTreeMap<String, Vec<&Finding>>) -> usize {
    found.values().map(Vec::len).sum()
}

fn item(batch: &Batch, file: &str, found: BTreeMap<String, Vec<&Finding>>) -> NewItem {
    let number = count(&found);
    let mut all: Vec<&Finding> = found.values().flatten().copied().collect();
    all.sort_by_key(|finding| (finding.line, &finding.rule));
    let mut shown: Vec<String> = all.iter().take(SHOWN).map(|one| line(one)).collect();
    if number > SHOWN {
        shown.push(format!("… and {} more", number - SHOWN));
    }
    let (title, description) = words(batch, file, &all);
    NewItem {
        title: text::cut(&mask::secrets(&title), LONGEST_TITLE),
        kind: batch.kind.clone(),
        severity: batch.severity,
        source: format!("{SOURCE}{}", batch.tool),
        description,
        evidence: mask::secrets(&shown.join("\n")),
        findings: found.into_keys().collect(),
        ..NewItem::default()
    }
}

fn line(finding: &Finding) -> String {
    let place = match finding.line {
        0 => finding.file.clone(),
        line => format!("{}:{line}", finding.file),
    };
    let message = text::cut(
        &mask::secrets(&text::clean_line(&finding.message)),
        LONGEST_MESSAGE,
    );
    // A marker is the first word of what stands behind it.
    match finding.rule.is_empty() || message.starts_with(&finding.rule) {
        true => format!("{place}: {message}"),
        false => format!("{place}: {} {message}", finding.rule),
    }
}

/// Returns title and description.
fn words(batch: &Batch, file: &str, all: &[&Finding]) -> (String, String) {
    let rules = rules(all);
    let (tool, how) = (&batch.tool, batch.how.replace("{file}", file));
    if tool == "markers" {
        let markers = match all.len() {
            1 => "a marker".to_owned(),
            number => format!("{number} markers"),
        };
        let title = format!("Settle {markers} in {file}{rules}");
        let description = "Somebody marked what was left to do. Do it and remove the marker; remove one that no \
                           longer holds. What is too much for one change stays, with what is missing said more exactly.";
        return (title, description.to_owned());
    }
    let findings = match all.len() {
        1 => "a finding".to_owned(),
        number => format!("{number} findings"),
    };
    let title = format!("Mend {findings} of {tool} in {file}{rules}");
    let description = format!(
        "`{how}` reports what is listed below. Mend the cause; silence it only where the finding is wrong, and say \
         why beside it. Lines may have moved since."
    );
    (title, description)
}

fn rules(all: &[&Finding]) -> String {
    let parts = all.iter().map(|one| one.rule.rsplit("::").next());
    let rules: BTreeSet<&str> = parts.flatten().collect();
    let mut names: Vec<&str> = rules.into_iter().filter(|rule| !rule.is_empty()).collect();
    if names.len() > RULES_NAMED {
        names.truncate(RULES_NAMED);
        names.push("…");
    }
    match names.is_empty() {
        true => String::new(),
        false => format!(" ({})", names.join(", ")),
    }
}

#[cfg(test)]
mod tests;
