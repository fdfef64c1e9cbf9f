//! What a command of the user's printed: `path:line: message` a line, or a work item as JSON on a line of its own. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::{Batch, Finding, OwnCommand, path_below};
use crate::model::mask;
use crate::model::text;
use crate::model::work::{NewItem, Severity};

/// The longest title that is taken over, in characters.
const LONGEST_TITLE: usize = 200;
/// The longest other text that is taken over, in characters.
const LONGEST_TEXT: usize = 4000;

/// As compilers, linters and `grep -n` print it; the column, where there is one, is of no use.
static PLACED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(.+?):(\d+):(?:\d+:)?\s*(.*)$").expect("BUG: the pattern is invalid")
});

/// Reads what the command printed. Lines of any other form, and findings in files that git does not track, are left out.
pub fn read_own(
    command: &OwnCommand,
    output: &str,
    root: &str,
    is_tracked: &dyn Fn(&str) -> bool,
) -> Batch {
    let output = mask::secrets(&text::clean(output));
    let mut batch = Batch {
        tool: command.name(),
        how: command.run.clone(),
        kind: command.kind.clone(),
        severity: command.severity,
        findings: Vec::new(),
        items: Vec::new(),
    };
    for line in output.lines() {
        if let Ok(Value::Object(map)) = serde_json::from_str(line) {
            batch.items.extend(item(&map, command));
        } else if let Some(finding) = placed(line, root).filter(|finding| is_tracked(&finding.file))
        {
            batch.findings.push(finding);
        }
    }
    batch
}

fn placed(line: &str, root: &str) -> Option<Finding> {
    let found = PLACED.captures(line)?;
    Some(Finding {
        file: path_below(&found[1], root, "")?,
        line: found[2].parse().ok()?,
        rule: String::new(),
        message: text::cut(&text::clean_line(&found[3]), LONGEST_TITLE),
    })
}

/// Reads an item; what it does not say is as the `sweep:` entry says it. None without a title.
fn item(map: &Map<String, Value>, command: &OwnCommand) -> Option<NewItem> {
    let words = |key: &str| map.get(key).and_then(Value::as_str);
    let line = |key: &str| {
        let text = text::cut(&text::clean_line(words(key)?), LONGEST_TITLE);
        (!text.is_empty()).then_some(text)
    };
    let long = |key: &str| text::cut(words(key).unwrap_or_default().trim(), LONGEST_TEXT);
    let severity = line("severity").map_or(Severity::Unknown, |word| Severity::parse(&word));
    Some(NewItem {
        title: line("title")?,
        kind: line("type").unwrap_or_else(|| command.kind.clone()),
        severity: match severity {
            Severity::Unknown => command.severity,
            known => known,
        },
        source: format!("{}{}", super::SOURCE, command.name()),
        description: long("description"),
        evidence: long("evidence"),
        target_repo: line("target_repo"),
        findings: Vec::new(),
        again: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command() -> OwnCommand {
        OwnCommand {
            run: "./find.sh".to_owned(),
            severity: Severity::Low,
            kind: "bug".to_owned(),
        }
    }

    #[test]
    fn places_and_items_are_read_and_all_else_is_left_out() {
        let output = "a.sh:3:7: error: odd\n\
                      ./b c.sh:4: plain\n\
                      /home/me/project/a.sh:5:grep -n prints this\n\
                      not-tracked.sh:1: x\n\
                      12:30:45 a clock\n\
                      Found 3 problems.\n\
                      {\"title\": \"Mend it\", \"severity\": \"high\", \"evidence\": \"e\"}\n\
                      {\"title\": \"Tidy\", \"type\": \"docs\"}\n\
                      {\"title\": \" \"}\n{\"text\": 1}\n[1]\n";
        let batch = read_own(&command(), output, "/home/me/project", &|path| {
            ["a.sh", "b c.sh"].contains(&path)
        });
        let shown: Vec<_> = batch
            .findings
            .iter()
            .map(|one| format!("{}:{} {}", one.file, one.line, one.message))
            .collect();
        assert_eq!(
            shown,
            [
                "a.sh:3 error: odd",
                "b c.sh:4 plain",
                "a.sh:5 grep -n prints this"
            ]
        );
        let items: Vec<_> = batch
            .items
            .iter()
            .map(|item| {
                (
                    item.title.as_str(),
                    item.severity,
                    item.kind.as_str(),
                    item.evidence.as_str(),
                )
            })
            .collect();
        assert_eq!(
            items,
            [
                ("Mend it", Severity::High, "bug", "e"),
                ("Tidy", Severity::Low, "docs", ""),
            ]
        );
    }
}
