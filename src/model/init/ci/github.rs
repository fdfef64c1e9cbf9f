//! GitHub's workflows: the `run:` steps of jobs that look at every change. Pure.

use serde_json::Value;

use super::{Env, Step};
use crate::model::init::Found;

/// What starts a workflow that looks at changes.
const ON_CHANGES: [&str; 5] = [
    "push",
    "pull_request",
    "merge_group",
    "workflow_call",
    "pull_request_target",
];
/// Words in the name of a job that sends something away.
const SENDING: [&str; 4] = ["deploy", "release", "publish", "upload"];

/// Returns the steps of a workflow that may be checks.
pub(super) fn steps(path: &str, workflow: &Value, found: &mut Found) -> Vec<Step> {
    if !looks_at_changes(workflow) {
        found.leave_out(format!("{path}: it does not run on every change"));
        return Vec::new();
    }
    let mut steps = Vec::new();
    let jobs = workflow.get("jobs").and_then(Value::as_object);
    for (id, job) in jobs.into_iter().flatten() {
        let place = format!("{path}: {id}");
        match passed_by(id, job) {
            Some(why) => found.leave_out(format!("{place}: {why}")),
            None => of_job((workflow, job), &place, found, &mut steps),
        }
    }
    steps
}

fn looks_at_changes(workflow: &Value) -> bool {
    let starts = |word: &str| ON_CHANGES.contains(&word);
    match workflow.get("on") {
        Some(Value::String(word)) => starts(word),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).any(starts),
        Some(Value::Object(words)) => words.iter().any(|(word, how)| {
            // A push of tags alone is a release.
            let is_tags = how.get("tags").is_some() && how.get("branches").is_none();
            starts(word) && !is_tags
        }),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => false,
    }
}

/// Says why a job is passed by as a whole.
fn passed_by(id: &str, job: &Value) -> Option<&'static str> {
    let text = |key: &str| job.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = format!("{id} {}", text("name")).to_lowercase();
    let is_elsewhere = |system: &str| system.contains("windows") || system.contains("macos");
    let system = job.get("runs-on").map(Value::to_string).unwrap_or_default();
    let of_matrix = ["os", "runner", "runs-on", "platform"]
        .iter()
        .filter(|name| system.contains(&format!("matrix.{name}")))
        .find_map(|name| job.pointer(&format!("/strategy/matrix/{name}"))?.as_array());
    let all_elsewhere = |all: &Vec<Value>| all.iter().all(|one| is_elsewhere(&one.to_string()));
    match () {
        () if SENDING.iter().any(|word| name.contains(word)) => Some("it sends something away"),
        () if is_elsewhere(&system) || of_matrix.is_some_and(all_elsewhere) => {
            Some("it is for another system")
        }
        () if job.get("services").is_some() => Some("it needs services"),
        () if text("continue-on-error") == "true" => Some("it may fail"),
        () if is_seldom(text("if")) => Some("it runs on a schedule, by hand or for a release only"),
        () => None,
    }
}

fn of_job(
    (workflow, job): (&Value, &Value),
    place: &str,
    found: &mut Found,
    steps: &mut Vec<Step>,
) {
    let list = job.get("steps").and_then(Value::as_array);
    for step in list.into_iter().flatten() {
        let text = |key: &str| step.get(key).and_then(Value::as_str);
        let Some(script) = text("run") else { continue };
        let name = text("name");
        let shown = name.unwrap_or_else(|| script.lines().next().unwrap_or_default());
        let source = format!("{place}: {}", crate::model::text::cut(shown, 60));
        let default = |key: &str| {
            let within = [job, workflow].into_iter();
            let mut within =
                within.filter_map(|one| one.pointer(&format!("/defaults/run/{key}"))?.as_str());
            within.next()
        };
        let folder = text("working-directory").or_else(|| default("working-directory"));
        let folder = folder
            .unwrap_or_default()
            .trim_start_matches("./")
            .trim_matches('/');
        let named = text("shell").or_else(|| default("shell"));
        let shell = named.unwrap_or("bash");
        let condition = text("if").unwrap_or("always()");
        let why = match () {
            () if !(shell.starts_with("bash") || shell.starts_with("sh")) => {
                Some("it is for another shell")
            }
            () if text("continue-on-error") == Some("true") => Some("it may fail"),
            () if !is_always(condition) => Some("it runs under a condition only"),
            () if folder.contains("${{") || folder.split('/').any(|part| part == "..") => {
                Some("it goes by what only CI has")
            }
            () => None,
        };
        if let Some(why) = why {
            found.leave_out(format!("{source}: {why}"));
            continue;
        }
        steps.push(Step {
            source,
            name: name.map(str::to_owned),
            script: script.to_owned(),
            folder: if folder == "." {
                String::new()
            } else {
                folder.to_owned()
            },
            env: env((workflow, job), step, script),
            // `bash` that is asked for is `bash -eo pipefail`, that of nobody's asking `bash -e`.
            pipefail: named.is_some_and(|shell| shell == "bash" || shell.contains("pipefail")),
        });
    }
}

/// Says whether a condition asks for an event that is no change of the code.
fn is_seldom(condition: &str) -> bool {
    let words: String = condition.split_whitespace().collect();
    let words = words.replace('"', "'");
    let asks = |event: &&str| words.contains(&format!("github.event_name=='{event}'"));
    let is_alone = !words.contains("||");
    let is_release = words.starts_with("startsWith(github.ref,'refs/tags");
    is_alone
        && (is_release
            || ["schedule", "workflow_dispatch", "release"]
                .iter()
                .any(asks))
}

fn is_always(condition: &str) -> bool {
    let condition = condition
        .trim()
        .trim_start_matches("${{")
        .trim_end_matches("}}")
        .trim();
    [
        "always()",
        "success()",
        "!cancelled()",
        "success() || failure()",
        "true",
    ]
    .contains(&condition)
}

/// Returns the variables that are set for a step: its own beat those of its job, and these those of the workflow.
fn env((workflow, job): (&Value, &Value), step: &Value, script: &str) -> Env {
    let mut env = Env::default();
    for place in [workflow, job, step] {
        env.add(place.get("env"), &|value| !value.contains("${{"));
    }
    env.without_looks(script, step.get("env"))
}
