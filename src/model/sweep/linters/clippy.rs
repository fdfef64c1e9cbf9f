//! What `cargo clippy --message-format=json` prints: an event of cargo's a line, among them the compiler's messages. Pure.

use serde::Deserialize;

use crate::model::sweep::Finding;

/// The error of what needs another compiler (`#![feature(test)]` in a bench): nothing in the code is to be mended.
const OTHER_COMPILER: &str = "E0554";

#[derive(Deserialize)]
struct Event {
    reason: String,
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    message: String,
    level: String,
    code: Option<Code>,
    spans: Vec<Span>,
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

#[derive(Deserialize)]
struct Span {
    file_name: String,
    line_start: u64,
    is_primary: bool,
}

/// Reads the output; an error says why it cannot be read. What a library and its tests both say is found once.
pub fn read(output: &str) -> Result<Vec<Finding>, String> {
    let events = output
        .lines()
        .filter_map(|line| serde_json::from_str::<Event>(line).ok());
    let mut found: Vec<Finding> = Vec::new();
    let mut has_finished = false;
    for event in events {
        has_finished |= event.reason == "build-finished";
        let Some(finding) = event.message.and_then(finding) else {
            continue;
        };
        if !found.contains(&finding) {
            found.push(finding);
        }
    }
    match has_finished || !found.is_empty() {
        true => Ok(found),
        false => Err("it did not get as far as building".to_owned()),
    }
}

/// Warnings and errors with a place; summaries such as "2 warnings emitted" have none.
fn finding(message: Message) -> Option<Finding> {
    if !matches!(message.level.as_str(), "warning" | "error") {
        return None;
    }
    let span = message.spans.into_iter().find(|span| span.is_primary)?;
    let rule = message.code.map_or(String::new(), |code| code.code);
    (rule != OTHER_COMPILER).then_some(Finding {
        file: span.file_name,
        line: span.line_start,
        rule,
        message: message.message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let found = read(text).unwrap();
        found
            .iter()
            .map(|one| format!("{}:{} {}", one.file, one.line, one.rule))
            .collect()
    }

    #[test]
    fn warnings_are_read_once() {
        assert_eq!(
            shown(include_str!("../../../../tests/sweep_outputs/clippy.jsonl")),
            [
                "src/lib.rs:2 unused_variables",
                "src/lib.rs:3 clippy::needless_return",
                "src/lib.rs:1 clippy::ptr_arg",
            ]
        );
    }

    #[test]
    fn what_needs_another_compiler_is_no_finding() {
        let message = |code: &str| {
            format!(
                r#"{{"reason":"compiler-message","message":{{"message":"m","level":"error","code":{{"code":"{code}"}},"spans":[{{"file_name":"benches/a.rs","line_start":1,"is_primary":true}}]}}}}"#
            )
        };
        let ended = r#"{"reason":"build-finished","success":false}"#;
        for (code, found) in [("E0554", 0), ("E0308", 1)] {
            let text = format!("{}\n{ended}\n", message(code));
            assert_eq!(shown(&text).len(), found, "{code}");
        }
    }

    #[test]
    fn what_does_not_compile_is_found_too() {
        assert_eq!(
            shown(include_str!(
                "../../../../tests/sweep_outputs/clippy_broken.jsonl"
            )),
            ["src/lib.rs:1 E0308"]
        );
    }
}
