//! GitHub's workflows: the `run:` steps of jobs that look at every change. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::matrix::{self, Chosen};
use super::{Env, Step, toolchain};
use crate::model::init::Found;
use crate::model::{check, mask};

/// What starts a workflow that looks at changes.
const ON_CHANGES: [&str; 5] = [
    "push",
    "pull_request",
    "merge_group",
    "workflow_call",
    "pull_request_target",
];
/// What a job may be allowed to write to by which something is sent away.
const OUTWARD: [&str; 5] = ["contents", "deployments", "id-token", "packages", "pages"];

/// How many of the values of a matrix make goals of one step.
const MOST_CHOICES: usize = 12;
/// Why a step makes no goal that calls an action, and one of the repository's own.
const OF_GITHUB: &str = "an action of GitHub's, which only runs there";
const OWN_ACTION: &str = "an action of the repository's own, whose steps are not read";
/// Why a job makes none that calls a workflow of another repository.
const OF_OTHERS: &str = "a workflow of another repository, which is not read";

/// What GitHub puts a value in place of.
static EXPRESSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\{\{(?<name>[^{}]*)\}\}").expect("BUG: a pattern of ours is no pattern")
});

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
            None => of_job(workflow, job, &place, found, &mut steps),
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
    let sends = [id, text("name")].into_iter().any(check::is_sending_job);
    match () {
        () if sends || job.get("environment").is_some() => Some("it sends something away"),
        () if is_for_another_system(job) => Some("it is for another system"),
        () if text("continue-on-error") == "true" => Some("it may fail"),
        () => match Condition::of(text("if")) {
            Condition::Holds | Condition::May => None,
            condition => Some(condition.why()),
        },
    }
}

/// Says whether a job runs on no system like this one.
fn is_for_another_system(job: &Value) -> bool {
    let system = job.get("runs-on").map(Value::to_string).unwrap_or_default();
    let names = ["os", "runner", "runs-on", "platform"];
    let mut of_job = names
        .iter()
        .filter(|name| system.contains(&format!("matrix.{name}")));
    let of_matrix = of_job.next().map(|name| {
        let all = |at: &str| job.pointer(&format!("/strategy/matrix/{at}"))?.as_array();
        let included = all("include").into_iter().flatten();
        let included = included.filter_map(|one| one.get(*name));
        let own = all(name).into_iter().flatten();
        own.chain(included)
            .map(Value::to_string)
            .collect::<Vec<_>>()
    });
    let all_elsewhere =
        |all: Vec<String>| !all.is_empty() && all.iter().all(|one| matrix::is_another_system(one));
    matrix::is_another_system(&system) || of_matrix.is_some_and(all_elsewhere)
}

/// Says whether a job has the permission to write where others see it: its own permissions, else those of its workflow.
fn may_write(workflow: &Value, job: &Value) -> bool {
    let mut places = [job, workflow].into_iter();
    match places.find_map(|place| place.get("permissions")) {
        Some(Value::String(all)) => all == "write-all",
        Some(Value::Object(all)) => OUTWARD
            .iter()
            .any(|name| all.get(*name).and_then(Value::as_str) == Some("write")),
        _ => false,
    }
}

/// Says whether a job or a step is given a secret by a variable.
fn has_secret(one: &Value) -> bool {
    let values = one.get("env").and_then(Value::as_object);
    let mut values = values
        .into_iter()
        .flatten()
        .map(|(_, value)| value.to_string());
    values.any(|value| value.contains("secrets.") || value.contains("github.token"))
}

fn of_job(workflow: &Value, job: &Value, place: &str, found: &mut Found, steps: &mut Vec<Step>) {
    let called = job.get("uses").and_then(Value::as_str);
    if let Some(called) = called.filter(|it| !it.starts_with("./")) {
        let called = mask::line(called, 60);
        found.leave_out(format!("{place}: {called}: {OF_OTHERS}"));
    }
    let list = job.get("steps").and_then(Value::as_array);
    let mut ready = Ready::default();
    for (at, step) in list.into_iter().flatten().enumerate() {
        ready.learn(workflow, job, step);
        let keys = ["run", "name", "working-directory"];
        let texts = keys.map(|key| step.get(key).and_then(Value::as_str).unwrap_or_default());
        let action = step.get("uses").and_then(Value::as_str);
        if let Some(action) = action.filter(|it| !makes_ready(it)) {
            let action = mask::line(action, 60);
            let why = match action.starts_with("./") {
                true => OWN_ACTION,
                false => OF_GITHUB,
            };
            found.leave_out(format!("{place}: {action}: {why}"));
        }
        let mut choices = Vec::new();
        let ways = matrix::ways(job, &texts.join(" "));
        for chosen in &ways {
            let choice = matrix::choice(&format!("{place}: {at}"), chosen);
            if !choices.contains(&choice) {
                choices.push(choice.clone());
            }
            if choices.iter().take(MOST_CHOICES).all(|one| *one != choice) {
                continue;
            }
            let told = Told::of(workflow, job, step, chosen.clone());
            match of_step(workflow, job, step, &told, &ready) {
                Ok(Some(read)) => {
                    let told = apart(&ways, chosen, texts[1]);
                    steps.push(Step {
                        source: format!("{place}: {}{told}", read.source),
                        name: read.name.map(|name| format!("{name}{told}")),
                        choice,
                        ..read
                    });
                }
                Ok(None) => {}
                Err(why) => found.leave_out(format!("{place}: {why}")),
            }
        }
        let more = choices.len().saturating_sub(MOST_CHOICES);
        if more > 0 {
            let shown = texts[..2].iter().rfind(|text| !text.is_empty());
            let shown = mask::line(shown.map_or("", |text| super::first_line(text)), 60);
            found.leave_out(format!(
                "{place}: {shown}: {more} more values of its matrix"
            ));
        }
    }
}

/// Returns what tells a way of a step from its others, if the step's own name does not.
fn apart(ways: &[Chosen], chosen: &Chosen, name: &str) -> String {
    let words = matrix::words(chosen);
    let is_one_of_many = ways.iter().any(|way| matrix::words(way) != words);
    match is_one_of_many && !words.trim().is_empty() && !name.contains("${{") {
        true => format!(" ({})", mask::line(&words, 30)),
        false => String::new(),
    }
}

/// Reads a step that runs commands; the error says why it makes no goal.
fn of_step(
    workflow: &Value,
    job: &Value,
    step: &Value,
    told: &Told,
    ready: &Ready,
) -> Result<Option<Step>, String> {
    let text = |key: &str| step.get(key).and_then(Value::as_str);
    let Some(script) = text("run") else {
        return Ok(None);
    };
    let name = text("name").map(|name| told.put_into(name, ""));
    let shown = name.as_deref().unwrap_or_else(|| super::first_line(script));
    let source = mask::line(shown, 60);
    let default = |key: &str| {
        let within = [job, workflow].into_iter();
        let mut within =
            within.filter_map(|one| one.pointer(&format!("/defaults/run/{key}"))?.as_str());
        within.next()
    };
    let folder = text("working-directory").or_else(|| default("working-directory"));
    let folder = folder.unwrap_or_default();
    let folder = told.put_into(folder, ".");
    let folder = folder.trim_start_matches("./").trim_matches('/');
    let script = &told.put_into(script, &told.root(folder, script));
    let named = text("shell").or_else(|| default("shell"));
    let shell = named.unwrap_or("bash");
    let condition = Condition::of(text("if").unwrap_or_default());
    let why = match () {
        () if !(shell.starts_with("bash") || shell.starts_with("sh")) => {
            Some("it is for another shell")
        }
        () if text("continue-on-error") == Some("true") => Some("it may fail"),
        () if condition != Condition::Holds => Some(condition.why()),
        () if has_secret(job) || has_secret(step) => Some("it needs a secret"),
        () if folder.contains("${{") || folder.split('/').any(|part| part == "..") => {
            Some("it goes by what only CI has")
        }
        () => None,
    };
    if let Some(why) = why {
        return Err(format!("{source}: {why}"));
    }
    Ok(Some(Step {
        source,
        name,
        choice: None,
        script: script.to_owned(),
        folder: if folder == "." {
            String::new()
        } else {
            folder.to_owned()
        },
        env: env(workflow, job, step, script),
        may_write: may_write(workflow, job),
        has_services: job.get("services").is_some(),
        of_ci: of_ci(job, step),
        toolchain: ready.toolchain.clone(),
        has_artifact: ready.has_artifact,
        // `bash` that is asked for is `bash -eo pipefail`, that of nobody's asking `bash -e`.
        pipefail: named.is_some_and(|shell| shell == "bash" || shell.contains("pipefail")),
    }))
}

/// Says whether an action only makes ready what other steps need, or hands on what they made, by its name.
fn makes_ready(action: &str) -> bool {
    const WORDS: [&str; 40] = [
        "agent",
        "artifact",
        "artifacts",
        "cache",
        "cachix",
        "cancel",
        "ccache",
        "changed",
        "checkout",
        "codecov",
        "comment",
        "configure",
        "coveralls",
        "credentials",
        "deploy",
        "download",
        "filter",
        "harden",
        "install",
        "installer",
        "labeler",
        "login",
        "metadata",
        "mise",
        "pages",
        "publish",
        "qemu",
        "buildx",
        "release",
        "sccache",
        "script",
        "setup",
        "space",
        "ssh",
        "summary",
        "token",
        "toolchain",
        "tmate",
        "upload",
        "wait",
    ];
    let path = action.split('@').next().unwrap_or_default();
    let name = match path.starts_with("./") {
        true => path,
        false => path.split_once('/').map_or(path, |(_, name)| name),
    };
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| WORDS.contains(&word.to_lowercase().as_str()))
}

/// What the steps of a job so far have made ready for the later ones.
#[derive(Default)]
struct Ready {
    /// The toolchain of Rust's, where it is not the newest stable one.
    toolchain: Option<String>,
    /// There is what another job made.
    has_artifact: bool,
}

impl Ready {
    fn learn(&mut self, workflow: &Value, job: &Value, step: &Value) {
        let text = |at: &str| step.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let action = text("/uses");
        self.has_artifact |= action.contains("/download-artifact");
        let ways = |value: &str| {
            let told = |chosen| Told::of(workflow, job, step, chosen).put_into(value, "");
            let ways = matrix::ways(job, value).into_iter().map(told);
            ways.collect::<Vec<String>>()
        };
        let by_action = toolchain::of_action(action, text("/with/toolchain"));
        for name in by_action
            .into_iter()
            .chain(toolchain::of_script(text("/run")))
        {
            let all = ways(name);
            // Of several the newest one is what counts here.
            let others = || all.iter().all(|name| toolchain::is_other(name));
            self.toolchain = all.first().filter(|_| others()).cloned();
        }
    }
}

/// What is told of expressions by the workflow itself.
struct Told {
    /// Names of expressions, each with its value.
    values: Vec<(String, String)>,
}

impl Told {
    fn of(workflow: &Value, job: &Value, step: &Value, chosen: Chosen) -> Told {
        let mut env = Env::default();
        for place in [workflow, job, step] {
            env.add(place.get("env"), &|value| !value.contains("${{"));
        }
        let env = env.known.into_iter();
        let env = env.map(|(name, value)| (format!("env.{name}"), value));
        let chosen = chosen.into_iter();
        let chosen = chosen.map(|(name, value)| (format!("matrix.{name}"), value));
        Told {
            values: env.chain(chosen).collect(),
        }
    }

    /// Returns a text with the values of the expressions that are told, `root` being the repository's.
    fn put_into(&self, text: &str, root: &str) -> String {
        let value = |found: &regex::Captures| {
            let name = found["name"].trim();
            let value = self.values.iter().find(|(it, _)| it == name);
            match value {
                Some((_, value)) => value.clone(),
                None if name == "github.workspace" && !root.is_empty() => root.to_owned(),
                None => found[0].to_owned(),
            }
        };
        EXPRESSION.replace_all(text, value).into_owned()
    }

    /// Returns the way to the repository's root from where a script runs; none where it goes elsewhere.
    fn root(&self, folder: &str, script: &str) -> String {
        let words = script.split_whitespace();
        if words.clone().any(|word| word == "cd" || word == "pushd") {
            return String::new();
        }
        let parts = folder.split('/').filter(|part| !matches!(*part, "" | "."));
        match parts.map(|_| "..").collect::<Vec<_>>().join("/").as_str() {
            "" => ".".to_owned(),
            up => up.to_owned(),
        }
    }
}

/// When a job or a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    /// On every change, on a system like this one.
    Holds,
    /// Never.
    Never,
    /// For an event that is no change of the code.
    Seldom,
    /// On some branches, or where something failed.
    Rarely,
    /// It cannot be told.
    May,
}

impl Condition {
    fn of(condition: &str) -> Condition {
        const ALWAYS: [&str; 8] = [
            "",
            "always()",
            "success()",
            "!cancelled()",
            "!failure()",
            "!failure()&&!cancelled()",
            "success()||failure()",
            "true",
        ];
        let words: String = condition.split_whitespace().collect();
        let words = words.replace('"', "'");
        let words = words.trim_start_matches("${{").trim_end_matches("}}");
        let parts: Vec<&str> = words.split("||").collect();
        let all = |is_so: fn(&str) -> bool| parts.iter().all(|part| is_so(part));
        match () {
            () if ALWAYS.contains(&words) || is_of_this_system(words) => Condition::Holds,
            () if all(|part| part == "false") => Condition::Never,
            () if all(is_seldom) => Condition::Seldom,
            () if all(|part| is_seldom(part) || is_rare(part)) => Condition::Rarely,
            () => Condition::May,
        }
    }

    /// Says why what runs so is no check of every change.
    fn why(self) -> &'static str {
        match self {
            Condition::Never => "it never runs",
            Condition::Seldom => "it runs on a schedule, by hand or for a release only",
            Condition::Holds | Condition::Rarely | Condition::May => {
                "it runs under a condition only"
            }
        }
    }
}

/// Says whether a condition asks for an event that is no change of the code.
fn is_seldom(condition: &str) -> bool {
    let asks = |event: &&str| condition.contains(&format!("github.event_name=='{event}'"));
    let mut events = ["schedule", "workflow_dispatch", "release"].iter();
    condition.starts_with("startsWith(github.ref,'refs/tags") || events.any(asks)
}

/// Says whether a condition asks for a branch, a push, or that something failed.
fn is_rare(condition: &str) -> bool {
    let asks = [
        "github.ref==",
        "github.ref_name==",
        "github.ref_type==",
        "startsWith(github.ref,",
        "startsWith(github.ref_name,",
        "github.event_name=='push'",
    ];
    let of_failure = condition.contains("failure()") && !condition.contains("!failure()");
    asks.iter().any(|it| condition.contains(it)) || of_failure
}

/// Says whether a condition asks for a system like this one, and for nothing else.
fn is_of_this_system(condition: &str) -> bool {
    let rest = ["matrix.os", "matrix.platform", "matrix.runner", "runner.os"]
        .iter()
        .find_map(|name| condition.strip_prefix(name));
    let rest = rest.unwrap_or_default().to_lowercase();
    let has = |names: &[&str]| names.iter().any(|name| rest.contains(name));
    let is_one = !rest.contains(['&', '|']);
    let is_ours = rest.starts_with("==") && has(&["ubuntu", "linux"]);
    let is_no_others = rest.starts_with("!=") && has(&["windows", "macos"]);
    is_one && (is_ours || is_no_others)
}

/// Returns the variables that are set for a step: its own beat those of its job, and these those of the workflow.
fn env(workflow: &Value, job: &Value, step: &Value, script: &str) -> Env {
    let mut env = Env::default();
    for place in [workflow, job, step] {
        env.add(place.get("env"), &|value| !value.contains("${{"));
    }
    env.without_looks(script, step.get("env"))
}

/// Returns the variables that a job or its step sets to what only CI has.
fn of_ci(job: &Value, step: &Value) -> Vec<String> {
    let mut env = Env::default();
    for place in [job, step] {
        env.add(place.get("env"), &|value| !value.contains("${{"));
    }
    env.unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_told_from_each_other() {
        for (condition, expected) in [
            ("", Condition::Holds),
            ("${{ always() }}", Condition::Holds),
            ("success() || failure()", Condition::Holds),
            ("matrix.os == 'ubuntu-latest'", Condition::Holds),
            ("${{ runner.os != 'Windows' }}", Condition::Holds),
            ("matrix.os == 'windows-latest'", Condition::May),
            ("matrix.os == 'ubuntu-latest' && matrix.x", Condition::May),
            ("false", Condition::Never),
            ("${{ false }}", Condition::Never),
            ("github.event_name == \"schedule\"", Condition::Seldom),
            ("startsWith(github.ref, 'refs/tags/v')", Condition::Seldom),
            ("github.ref == 'refs/heads/main'", Condition::Rarely),
            (
                "github.event_name == 'push' && github.ref == 'refs/heads/main'",
                Condition::Rarely,
            ),
            ("failure()", Condition::Rarely),
            (
                "github.event_name == 'pull_request' || github.ref == 'refs/heads/main'",
                Condition::May,
            ),
            ("github.event_name != 'schedule'", Condition::May),
        ] {
            assert_eq!(Condition::of(condition), expected, "{condition}");
        }
    }
}
