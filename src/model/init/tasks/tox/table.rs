//! What tox runs in each of its environments, as a table of TOML has it: tox.toml, and `[tool.tox]` of pyproject.toml. Pure.

use serde_json::Value;

use crate::model::init::toml_of;
use crate::model::text;

/// The settings that a file holds: those of a file with sections that stand in it as a text, or a table of its own.
pub(super) enum Settings {
    Sections(String),
    Table(Value),
}

/// Returns the settings of a file, if it has any.
pub(super) fn settings(path: &str, file: &str) -> Option<Settings> {
    if path.ends_with(".ini") {
        return Some(Settings::Sections(file.to_owned()));
    }
    let whole = toml_of(file)?;
    let table = match path.ends_with("pyproject.toml") {
        true => whole.pointer("/tool/tox")?.clone(),
        false => whole,
    };
    let legacy = table.get("legacy_tox_ini").and_then(Value::as_str);
    Some(match legacy {
        Some(sections) => Settings::Sections(sections.to_owned()),
        None => Settings::Table(table),
    })
}

/// Returns the names of the environments that are run where none is asked for.
pub(super) fn listed(table: &Value) -> Vec<String> {
    let listed = table.get("env_list").and_then(Value::as_array);
    let listed = listed.into_iter().flatten().filter_map(Value::as_str);
    listed.map(str::to_owned).collect()
}

/// Returns the commands of an environment of this name, one a line; none if it has none.
pub(super) fn commands(table: &Value, name: &str) -> Option<String> {
    let of = |at: &[&str]| {
        let found = at.iter().try_fold(table, |table, key| table.get(*key))?;
        let lines: Vec<String> = found.as_array()?.iter().map(line).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    };
    of(&["env", name, "commands"]).or_else(|| of(&["env_run_base", "commands"]))
}

/// Returns a command as a shell has it; what is handed on stands there as where nothing is.
fn line(command: &Value) -> String {
    let words = command.as_array().into_iter().flatten();
    let words = words.flat_map(|word| match word {
        Value::String(word) => vec![word.clone()],
        other => {
            let default = other.get("default").and_then(Value::as_array);
            let default = default.into_iter().flatten().filter_map(Value::as_str);
            default.map(str::to_owned).collect()
        }
    });
    let words: Vec<String> = words.collect();
    match words.split_first() {
        Some((dash, rest)) if dash == "-" => {
            let rest: Vec<String> = rest.iter().map(text::shell_word).collect();
            format!("{} || true", rest.join(" "))
        }
        _ => words
            .iter()
            .map(text::shell_word)
            .collect::<Vec<_>>()
            .join(" "),
    }
}
