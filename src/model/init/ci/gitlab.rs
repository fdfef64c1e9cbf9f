//! GitLab's jobs: what their `script:` runs. Pure.

mod reference;

use serde_json::Value;

use super::script::is_structure;
use super::{Env, Step};
use crate::model::check;
use crate::model::init::Found;

/// Keys at the top that are no jobs.
const NO_JOBS: [&str; 12] = [
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
];
/// Words in the name of a stage whose jobs send something away.
const SENDING: [&str; 4] = ["deploy", "release", "publish", "upload"];
/// How many `extends:` are followed.
const DEEPEST: usize = 5;

/// Returns the scripts of all jobs that may be checks.
pub(super) fn steps(path: &str, file: &Value, found: &mut Found) -> Vec<Step> {
    for one in included(file.get("include")) {
        found.leave_out(format!("{path}: include {one}: it is not read"));
    }
    let file = &reference::resolved(file);
    let mut steps = Vec::new();
    for (id, job) in file.as_object().into_iter().flatten() {
        if NO_JOBS.contains(&id.as_str()) || id.starts_with('.') || !job.is_object() {
            continue;
        }
        let source = format!("{path}: {id}");
        let stage = key(file, job, "stage", DEEPEST)
            .and_then(Value::as_str)
            .unwrap_or_default();
        let stage = stage.to_lowercase();
        let script = key(file, job, "script", DEEPEST).map(lines);
        let (folder, enters) = entered(file, job);
        let script = script.map(|script| enters + &script).unwrap_or_default();
        let why = match () {
            () if id == "pages"
                || check::is_sending_job(id)
                || SENDING.iter().any(|word| stage.contains(word))
                || job.get("environment").is_some() =>
            {
                Some("it sends something away")
            }
            () if key(file, job, "allow_failure", DEEPEST).and_then(Value::as_str)
                == Some("true") =>
            {
                Some("it may fail")
            }
            () if key(file, job, "tags", DEEPEST)
                .is_some_and(|tags| super::matrix::is_another_system(&lines(tags))) =>
            {
                Some("it is for another system")
            }
            () if is_seldom(file, job) => {
                Some("it runs on a schedule, by hand or for a release only")
            }
            () => why_left(file, job).or_else(|| {
                let is_empty = script.trim().is_empty();
                is_empty.then_some("its script stands elsewhere")
            }),
        };
        match why {
            Some(why) => found.leave_out(format!("{source}: {why}")),
            None => steps.push(Step {
                source,
                name: Some(id.clone()),
                env: env(file, job, &script),
                script,
                folder,
                has_services: key(file, job, "services", DEEPEST).is_some(),
                // Its runner sets it wherever the shell knows it.
                pipefail: true,
                ..Step::default()
            }),
        }
    }
    steps
}

/// Says whether a job waits for somebody, or for what is no change of the code.
fn is_seldom(file: &Value, job: &Value) -> bool {
    let waits = |one: &Value| {
        let when = one.get("when").and_then(Value::as_str);
        matches!(when, Some("manual" | "never"))
    };
    let condition = |rule: &Value| rule.get("if").and_then(Value::as_str).map(is_of_release);
    let rule = |rule: &Value| waits(rule) || condition(rule) == Some(true);
    let rules = key(file, job, "rules", DEEPEST).and_then(Value::as_array);
    let all_rules = rules.is_some_and(|all| !all.is_empty() && all.iter().all(rule));
    let only = match key(file, job, "only", DEEPEST) {
        Some(Value::Object(only)) => only.get("refs"),
        only => only,
    };
    let only = only.map(lines).unwrap_or_default();
    let is_other =
        |word: &str| ["tags", "schedules", "web", "api", "triggers", "pipelines"].contains(&word);
    let all_only = !only.is_empty() && only.lines().all(is_other);
    let own = key(file, job, "when", DEEPEST).and_then(Value::as_str);
    own == Some("manual") || all_rules || all_only
}

/// Says whether a rule's condition asks for a tag, or for an event that is no change.
fn is_of_release(condition: &str) -> bool {
    let words: String = condition.split_whitespace().collect();
    let words = words.replace('\'', "\"");
    let asks = |event: &&str| words == format!("$CI_PIPELINE_SOURCE==\"{event}\"");
    let is_tag = words == "$CI_COMMIT_TAG" || words.starts_with("$CI_COMMIT_TAG=~");
    is_tag || ["schedule", "web", "api", "trigger"].iter().any(asks)
}

/// Returns the names of the files that a file includes.
fn included(include: Option<&Value>) -> Vec<String> {
    match include {
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(all)) => all.iter().flat_map(|one| included(Some(one))).collect(),
        Some(Value::Object(one)) => {
            let keys = ["local", "file", "remote", "template", "component"];
            let named = keys.iter().find_map(|key| one.get(*key));
            match included(named) {
                names if names.is_empty() => vec!["of another form".to_owned()],
                names => names,
            }
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => Vec::new(),
    }
}

/// Says why what a job runs, or what is set for it, stands behind a reference that is not followed.
fn why_left(file: &Value, job: &Value) -> Option<&'static str> {
    let keys = ["script", "before_script", "variables", "parallel"];
    let own = keys.iter().filter_map(|name| key(file, job, name, DEEPEST));
    let all = ["/variables", "/before_script", "/default/before_script"];
    let of_all = all.iter().filter_map(|way| file.pointer(way));
    own.chain(of_all).find_map(reference::why_left)
}

/// Returns the variables that are set for a job: its own beat those that it extends, and these those of all jobs.
fn env(file: &Value, job: &Value, script: &str) -> Env {
    let mut env = Env::default();
    // A value may name others there.
    let is_told = |value: &str| !value.contains('$');
    env.add(file.get("variables"), &is_told);
    let mut all = vec![job];
    let mut left = DEEPEST;
    while left > 0 {
        let lowest = all.last().and_then(|one| one.get("extends"));
        let Some(next) = lowest.and_then(|one| file.get(last_of(one)?)) else {
            break;
        };
        all.push(next);
        left -= 1;
    }
    for one in all.into_iter().rev() {
        env.add(one.get("variables"), &is_told);
    }
    let matrix = key(file, job, "parallel", DEEPEST).and_then(|it| it.get("matrix"));
    // Each of its values is a run of its own.
    for one in matrix.and_then(Value::as_array).into_iter().flatten() {
        env.add(Some(one), &|_| false);
    }
    if let Some(before) = before(file, job) {
        env.add_exports(&before, before.lines().any(is_structure));
    }
    env.without_looks(script, job.get("variables"))
}

/// Returns what runs before the script of a job, in the same shell.
fn before(file: &Value, job: &Value) -> Option<String> {
    let inherits = match key(file, job, "inherit", DEEPEST).and_then(|it| it.get("default")) {
        Some(Value::Array(all)) => all.iter().any(|one| one == "before_script"),
        inherit => inherit.map(lines).as_deref() != Some("false"),
    };
    let of_all = || file.get("default").and_then(|it| it.get("before_script"));
    let of_all = || of_all().or_else(|| file.get("before_script"));
    let of_all = || of_all().filter(|_| inherits);
    key(file, job, "before_script", DEEPEST)
        .or_else(of_all)
        .map(lines)
}

/// Returns the folder that is entered before the script of a job, and, where that is more than one, the lines that do so.
fn entered(file: &Value, job: &Value) -> (String, String) {
    let before = before(file, job).unwrap_or_default();
    let lines = before.lines().map(str::trim);
    let enters: Vec<&str> = lines.filter(|line| line.starts_with("cd ")).collect();
    let is_of_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let is_below = |path: &str| {
        let leads_out = path.starts_with(['/', '-']) || path.split('/').any(|part| part == "..");
        !path.is_empty() && path.chars().all(is_of_path) && !leads_out
    };
    match enters.as_slice() {
        [line] if is_below(line[3..].trim()) => {
            let path = line[3..].trim().trim_start_matches("./").trim_matches('/');
            (
                if path == "." { "" } else { path }.to_owned(),
                String::new(),
            )
        }
        lines => {
            let lines = lines.iter().map(|line| format!("{line}\n"));
            (String::new(), lines.collect())
        }
    }
}

/// Returns the last name of one or several: it beats the others.
fn last_of(names: &Value) -> Option<&str> {
    match names {
        Value::String(one) => Some(one),
        Value::Array(all) => all.last()?.as_str(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
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
