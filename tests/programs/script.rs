//! What the model does, turn by turn, and how a turn becomes a call of a tool that a program offers.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// One turn of the model.
#[derive(Clone, Debug)]
pub enum Turn {
    /// Writes a file, through whatever tool the program has for it.
    Write {
        /// The file, absolute.
        path: PathBuf,
        /// What it is to hold.
        content: String,
    },
    /// Is not to be had.
    Refuse(Refusal),
}

/// Why the model is not to be had, as the services of this world say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The key is wrong.
    NotLoggedIn,
    /// Too many requests; the seconds to wait, if the service names them.
    RateLimit(Option<u32>),
    /// The plan's share is used up until this time, in seconds since 1970.
    UsageLimit(u64),
    /// There is no money left.
    Quota,
    /// The service has too much to do.
    Overloaded,
}

/// What the model says to one request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Calls a tool.
    Call(Call),
    /// Says something.
    Text(String),
    /// Says no.
    Refuse(Refusal),
}

/// A tool that a program offers.
#[derive(Clone, Debug)]
pub struct Tool {
    pub name: String,
    /// The group of tools that it belongs to, where the protocol has such.
    pub namespace: Option<String>,
    /// The schema of its arguments; `None` where it takes plain text.
    pub schema: Option<Value>,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: String,
    pub namespace: Option<String>,
    /// An object, or a string where the tool takes plain text.
    pub arguments: Value,
}

/// What the model says last.
pub const FAREWELL: &str = "All done.";
/// What the model says to a question beside the work.
const ASIDE: &str = "A small change";

/// The tools that write a file whole, as programs name them; the first that is offered is used.
const WRITERS: [&str; 6] = [
    "Write",
    "write",
    "write_file",
    "create",
    "write_to_file",
    "apply_patch",
];
/// The tools that run a command.
const SHELLS: [&str; 7] = [
    "Bash",
    "bash",
    "run_shell_command",
    "exec_command",
    "shell_command",
    "shell",
    "local_shell",
];

/// What a program asks the model.
#[derive(Clone, Debug)]
pub struct Question {
    /// How many results of tools the conversation holds.
    pub results: usize,
    /// The tools to choose from.
    pub tools: Vec<Tool>,
    /// The form that the answer is to have, where it is to be a document.
    pub form: Option<Value>,
    /// Everything that was said, as it was sent.
    pub text: String,
}

/// Returns what the model says.
pub fn answer(turns: &[Turn], question: &Question) -> Answer {
    match (turns.get(question.results), &question.form) {
        (Some(Turn::Refuse(refusal)), _) => Answer::Refuse(*refusal),
        (Some(_) | None, Some(form)) => Answer::Text(anything(form).to_string()),
        (Some(Turn::Write { path, content }), None) if question.tools.is_empty() => {
            Answer::Text(written_out(&question.text, path, content))
        }
        (Some(turn), None) => {
            call(turn, &question.tools).map_or_else(|| helpless(&question.tools), Answer::Call)
        }
        (None, None) => Answer::Text(FAREWELL.to_owned()),
    }
}

/// A file in the answer's text, for programs that offer no tools and read edits from the text. Any other request without
/// tools is a question beside the work, such as for a title.
fn written_out(asked: &str, path: &Path, content: &str) -> String {
    let path = path.file_name().unwrap_or_default().to_string_lossy();
    if asked.contains("SEARCH/REPLACE") {
        format!("{path}\n```\n<<<<<<< SEARCH\n=======\n{content}>>>>>>> REPLACE\n```\n")
    } else if asked.contains("file listing") {
        format!("{path}\n```\n{content}```\n")
    } else {
        ASIDE.to_owned()
    }
}

/// What the model says where no tool fits: the names of those that it has, so that a failing test shows them.
fn helpless(tools: &[Tool]) -> Answer {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    Answer::Text(format!("None of my tools fits: {}", names.join(", ")))
}

fn call(turn: &Turn, tools: &[Tool]) -> Option<Call> {
    let (writer, shell) = (first_of(&WRITERS, tools), first_of(&SHELLS, tools));
    let tool = match turn {
        Turn::Write { .. } => writer.or(shell)?,
        Turn::Refuse(_) => return None,
    };
    let arguments = match &tool.schema {
        Some(schema) => fill(schema, turn),
        None => Value::String(patch(turn)),
    };
    Some(Call {
        name: tool.name.clone(),
        namespace: tool.namespace.clone(),
        arguments,
    })
}

fn first_of<'a>(names: &[&str], tools: &'a [Tool]) -> Option<&'a Tool> {
    names
        .iter()
        .find_map(|name| tools.iter().find(|tool| tool.name == *name))
}

/// Fills in a tool's arguments from the names in its schema.
fn fill(schema: &Value, turn: &Turn) -> Value {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut arguments = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = argument(name, property, turn) {
            arguments.insert(name.clone(), value);
        } else if required.contains(&name.as_str()) {
            arguments.insert(name.clone(), anything(property));
        }
    }
    Value::Object(arguments)
}

fn argument(name: &str, property: &Value, turn: &Turn) -> Option<Value> {
    match (name, turn) {
        ("file_path" | "filePath" | "path" | "absolute_path", Turn::Write { path, .. }) => {
            Some(json!(path))
        }
        ("content" | "file_text", Turn::Write { content, .. }) => Some(json!(content)),
        ("input" | "patch" | "patchText", Turn::Write { .. }) => Some(json!(patch(turn))),
        ("command" | "cmd", _) if property["type"] == "array" => {
            Some(json!(["sh", "-c", command(turn)]))
        }
        ("command" | "cmd", _) => Some(json!(command(turn))),
        _ => None,
    }
}

/// A value that the schema allows, for what the script says nothing about.
fn anything(property: &Value) -> Value {
    if let Some(first) = property["enum"].get(0) {
        return first.clone();
    }
    match property["type"]
        .as_str()
        .map(str::to_ascii_lowercase)
        .as_deref()
    {
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        Some("object") => {
            let parts = property["properties"].as_object().into_iter().flatten();
            parts
                .map(|(name, part)| (name.clone(), anything(part)))
                .collect()
        }
        _ => json!("as asked"),
    }
}

fn command(turn: &Turn) -> String {
    match turn {
        Turn::Write { path, content } => {
            format!("printf '%s' '{content}' >'{}'", path.display())
        }
        Turn::Refuse(_) => String::new(),
    }
}

fn patch(turn: &Turn) -> String {
    let Turn::Write { path, content } = turn else {
        return String::new();
    };
    let lines: String = content.lines().map(|line| format!("+{line}\n")).collect();
    let path = path.display();
    format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n")
}
