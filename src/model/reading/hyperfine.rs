//! What hyperfine exports as JSON (`--export-json`), in seconds. Pure.

use serde_json::Value;

use super::{Report, json, shown};

/// Which figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// The mean of all runs.
    #[default]
    Mean,
    /// The run in the middle.
    Median,
    /// The fastest run.
    Min,
    /// The slowest run.
    Max,
    /// The standard deviation.
    Stddev,
    /// The mean time spent in the program itself.
    User,
    /// The mean time spent in the kernel.
    System,
}

/// The words for it, which are those of the file.
pub const WORDS: &[(&str, Of)] = &[
    ("mean", Of::Mean),
    ("median", Of::Median),
    ("min", Of::Min),
    ("max", Of::Max),
    ("stddev", Of::Stddev),
    ("user", Of::User),
    ("system", Of::System),
];

/// Returns the figure of the command called `command`, or of the only one.
pub fn seconds(of: Of, command: Option<&str>, report: &Report) -> Result<f64, String> {
    let document = json::parse(report)?;
    let name = report.quoted();
    let results = document.get("results").and_then(Value::as_array);
    let results =
        results.ok_or_else(|| format!("{name} is no export of hyperfine: it has no results"))?;
    let named = |result: &&Value| command.is_none_or(|command| called(result) == command);
    let fitting: Vec<&Value> = results.iter().filter(named).collect();
    let all: Vec<String> = results
        .iter()
        .map(|result| quoted(called(result)))
        .collect();
    let all = all.join(", ");
    match (&fitting[..], command) {
        (_, _) if results.is_empty() => Err(format!("{name} holds no result")),
        ([only], _) => {
            let word = WORDS.iter().find(|(_, word)| *word == of);
            let word = word.map_or("", |(word, _)| word);
            json::pointed_at(
                only,
                &format!("/{word}"),
                &format!("{} in {name}", quoted(called(only))),
            )
        }
        ([], command) => {
            let command = quoted(command.unwrap_or_default());
            Err(format!("{name} has no command {command}; it has {all}"))
        }
        (_, None) => Err(format!(
            "{name} has several commands, {all}; say which one with `command`"
        )),
        (several, Some(command)) => Err(format!(
            "{name} has the command {} {} times; give each a name with hyperfine's -n",
            quoted(command),
            several.len()
        )),
    }
}

fn called(result: &Value) -> &str {
    result
        .get("command")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn quoted(command: &str) -> String {
    format!("`{}`", shown(command))
}
