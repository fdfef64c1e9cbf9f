//! GitLab's jobs: what their `script:` runs. Pure.

use serde_json::Value;

use super::Step;
use crate::model::init::Found;

/// Keys at the top that are no jobs.
const NO_JOBS: [&str; 13] = [
    "stages",
    "variables",
    "default",
    "include",
    "workflow",
    "image",
    "services",
    "before_script",
    "after_script",
    "cache",
    "spec",
    "types",
    "pages",
];
const SENDING: [&str; 4] = ["deploy", "release", "publish", "upload"];
/// How many `extends:` are followed.
const DEEPEST: usize = 5;

/// Returns the scripts of all jobs that may be checks.
pub(super) fn steps(path: &str, file: &Value, found: &mut Found) -> Vec<Step> {
    let mut steps = Vec::new();
    for (id, job) in file.as_object().into_iter().flatten() {
        if NO_JOBS.contains(&id.as_str()) || id.starts_with('.') || !job.is_object() {
            continue;
        }
        let source = format!("{path}: {id}");
        let stage = key(file, job, "stage", DEEPEST)
            .and_then(Value::as_str)
            .unwrap_or_default();
        let name = format!("{id} {stage}").to_lowercase();
        let script = key(file, job, "script", DEEPEST)
            .map(lines)
            .unwrap_or_default();
        let why = match () {
            () if SENDING.iter().any(|word| name.contains(word))
                || job.get("environment").is_some() =>
            {
                Some("it sends something away")
            }
            () if key(file, job, "allow_failure", DEEPEST).and_then(Value::as_str)
                == Some("true") =>
            {
                Some("it may fail")
            }
            () if key(file, job, "services", DEEPEST).is_some() => Some("it needs services"),
            () if script.trim().is_empty() => Some("its script stands elsewhere"),
            () => None,
        };
        match why {
            Some(why) => found.leave_out(format!("{source}: {why}")),
            None => steps.push(Step {
                source,
                name: Some(id.clone()),
                script,
                ..Step::default()
            }),
        }
    }
    steps
}

/// Returns what a job, or one that it extends, says under a key.
fn key<'a>(file: &'a Value, job: &'a Value, name: &str, left: usize) -> Option<&'a Value> {
    if let Some(value) = job.get(name) {
        return Some(value);
    }
    let left = left.checked_sub(1)?;
    let upper = match job.get("extends")? {
        Value::String(one) => vec![one.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    upper
        .into_iter()
        .rev()
        .find_map(|one| key(file, file.get(one)?, name, left))
}

/// Returns a script, which may be one line or lists of lines.
fn lines(script: &Value) -> String {
    match script {
        Value::String(line) => line.clone(),
        Value::Array(all) => all.iter().map(lines).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => String::new(),
    }
}
