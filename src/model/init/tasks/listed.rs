//! Tasks that stand in lists of settings: the scripts of Composer and the tasks of Deno, Task and Cargo's aliases, and the hooks of
//! pre-commit. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::called::{HOOKS, PREK};
use super::super::toml_of;
use crate::model::goals::read_plain;
use crate::model::text;

/// What Task puts a value in place of.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{\{\s*\.?(?<name>\w*)[^{}]*\}\}").expect("BUG: a pattern of ours is no pattern")
});
/// What well-known hooks run where that is not what they are called: without arguments of the project's own, and with these.
const OF_HOOKS: [(&str, &str, &str); 14] = [
    ("autoflake", "autoflake --in-place", "autoflake"),
    ("cargo-check", "cargo check", "cargo check"),
    ("clang-format", "clang-format -i", "clang-format -i"),
    ("clippy", "cargo clippy", "cargo clippy"),
    ("docformatter", "docformatter --in-place", "docformatter"),
    ("fmt", "cargo fmt", "cargo fmt"),
    ("go-fmt", "gofmt -w", "gofmt -w"),
    ("prettier", "prettier --write", "prettier --write"),
    ("ruff", "ruff check", "ruff check"),
    ("ruff-check", "ruff check", "ruff check"),
    ("ruff-format", "ruff format", "ruff format"),
    ("shfmt", "shfmt -w", "shfmt"),
    ("terraform_fmt", "terraform fmt", "terraform fmt"),
    ("typos", "typos --write-changes", "typos"),
];

/// Returns the names of the tasks in the file of a program; of Composer's those that somebody asks for, and that no event starts.
pub(super) fn names(program: &str, file: &str) -> Option<Vec<String>> {
    let (key, file) = match program {
        "composer" => ("scripts", serde_json::from_str(file).ok()?),
        "deno task" => ("tasks", serde_json::from_str(file).ok()?),
        "task" => ("tasks", read_plain(file).ok()??),
        _ => return None,
    };
    let all = file.get(key).and_then(Value::as_object);
    let is_event = |name: &String| name.starts_with("pre-") || name.starts_with("post-");
    let names = all.into_iter().flatten().map(|(name, _)| name);
    Some(names.filter(|name| !is_event(name)).cloned().collect())
}

/// Returns what a task of a program runs, by the text of its file; where the name is empty, what runs where none is asked for.
pub(super) fn text_of(program: &str, file: &str, name: &str) -> Option<String> {
    let lines = match program {
        "composer" => {
            let file: Value = serde_json::from_str(file).ok()?;
            let script = file.get("scripts")?.get(name)?;
            let lines = texts(script).into_iter().map(of_composer);
            lines.collect()
        }
        "deno task" => {
            let file: Value = serde_json::from_str(file).ok()?;
            let task = file.get("tasks")?.get(name)?;
            let needs = task.get("dependencies").map(texts).unwrap_or_default();
            let needs = needs.into_iter().map(|name| format!("deno task {name}"));
            let own = texts(task.get("command").unwrap_or(task));
            needs.chain(own.into_iter().map(str::to_owned)).collect()
        }
        "cargo" => {
            let file = toml_of(file)?;
            let alias = texts(file.get("alias")?.get(name)?);
            vec![format!("cargo {}", alias.join(" "))]
        }
        "task" => of_taskfile(&read_plain(file).ok()??, name)?,
        HOOKS => of_hooks(&read_plain(file).ok()??, name)?,
        PREK => of_hooks(&toml_of(file)?, name)?,
        _ => return None,
    };
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns a text, or all of a list.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns a line of Composer's as a shell has it.
fn of_composer(line: &str) -> String {
    match line.strip_prefix('@') {
        Some(rest) if rest.starts_with("php ") || rest.starts_with("composer ") => rest.to_owned(),
        Some(rest) if rest.starts_with("putenv ") => ":".to_owned(),
        Some(name) => format!("composer {name}"),
        None => line.to_owned(),
    }
}

/// Returns what a task of a Taskfile runs: those that it needs, and its commands in its folder.
fn of_taskfile(file: &Value, name: &str) -> Option<Vec<String>> {
    let name = if name.is_empty() { "default" } else { name };
    let task = file.get("tasks")?.get(name)?;
    let list = |key: &str| match task.get(key) {
        Some(Value::Array(all)) => all.clone(),
        Some(one) => vec![one.clone()],
        None => Vec::new(),
    };
    let called = |one: &Value| {
        let name = one.get("task").unwrap_or(one).as_str()?;
        Some(format!("task {name}"))
    };
    let command = |one: &Value| {
        let is_call = one.get("task").is_some();
        let own = one.get("cmd").unwrap_or(one).as_str().map(str::to_owned);
        let own = own.map(
            |own| match one.get("ignore_error").and_then(Value::as_str) {
                Some("true") => format!("{own} || true"),
                _ => own,
            },
        );
        if is_call { called(one) } else { own }
    };
    let needs = list("deps").iter().filter_map(called).collect::<Vec<_>>();
    let dir = task.get("dir").and_then(Value::as_str);
    let enters = dir.map(|dir| format!("cd {}", text::shell_word(dir)));
    let own = match task {
        Value::Object(_) => [list("cmds"), list("cmd")].concat(),
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    let own = own.iter().filter_map(command);
    let lines = needs.into_iter().chain(enters).chain(own);
    // Of a value nothing is known but its name.
    let put = |line: String| VALUE.replace_all(&line, "$${_$name}").into_owned();
    Some(lines.map(put).collect())
}

/// Returns what the hooks run that check a commit: all of them, or the one of this name.
fn of_hooks(file: &Value, name: &str) -> Option<Vec<String>> {
    let repos = file.get("repos")?.as_array()?.iter();
    let hooks = repos.flat_map(|repo| {
        let own = repo.get("repo").and_then(Value::as_str);
        let hooks = repo.get("hooks").and_then(Value::as_array);
        hooks.into_iter().flatten().map(move |hook| (own, hook))
    });
    let is_wanted = |hook: &Value| {
        let stages = hook.get("stages").map(texts).unwrap_or_default();
        let is_manual = !stages.is_empty() && stages.iter().all(|stage| *stage == "manual");
        let names = ["id", "alias"].map(|key| hook.get(key).and_then(Value::as_str));
        match name {
            "" => !is_manual,
            name => names.contains(&Some(name)),
        }
    };
    let wanted = hooks.filter(|(_, hook)| is_wanted(hook));
    wanted.map(|(repo, hook)| of_hook(repo, hook)).collect()
}

/// Returns what a hook runs.
fn of_hook(repo: Option<&str>, hook: &Value) -> Option<String> {
    let text = |key: &str| hook.get(key).and_then(Value::as_str);
    let id = text("id")?;
    let given = hook.get("args").map(texts).unwrap_or_default();
    let given: Vec<String> = given.into_iter().map(text::shell_word).collect();
    let mut hooks = OF_HOOKS.iter().filter(|(name, _, _)| *name == id);
    let own = match (repo, text("language"), text("entry")) {
        (Some("meta"), _, _) | (_, Some("pygrep" | "fail"), _) => return Some("true".to_owned()),
        (_, _, Some(entry)) => entry,
        (Some("local"), _, None) => return None,
        (_, _, None) => match hooks.next() {
            Some((_, alone, _)) if given.is_empty() => alone,
            Some((_, _, with)) => with,
            None => id,
        },
    };
    Some([vec![own.to_owned()], given].concat().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_runs_stands_behind_its_name() {
        let composer = r#"{"scripts": {"test": ["@lint", "@php artisan test"], "lint": "phpcs"}}"#;
        let deno = r#"{"tasks": {"a": "deno lint", "b": {"command": "deno test", "dependencies": ["a"]}}}"#;
        let cargo = "[alias]\nlint = 'clippy --fix'\nt = ['test', '-q']\n";
        let task = "version: '3'\ntasks:\n  default: go vet\n  a: [go test, {task: b}]\n  b:\n    deps: [a, {task: c}]\n    dir: web\n    cmds:\n      - cmd: '{{.GO}} test {{.X | f}}'\n        ignore_error: true\n      - task: d\n";
        let hooks = "repos:\n- repo: https://x\n  hooks:\n  - id: ruff\n    args: [--fix, 'a b']\n  - id: ruff-format\n  - id: typos\n    stages: [manual]\n  - id: check-yaml\n- repo: local\n  hooks:\n  - {id: a, entry: make lint, language: system}\n  - {id: b, entry: TODO, language: pygrep}\n- repo: meta\n  hooks: [{id: identity}]\n";
        for (program, file, name, expected) in [
            (
                "composer",
                composer,
                "test",
                Some("composer lint\nphp artisan test"),
            ),
            ("composer", composer, "lint", Some("phpcs")),
            ("composer", composer, "audit", None),
            ("deno task", deno, "b", Some("deno task a\ndeno test")),
            ("deno task", deno, "a", Some("deno lint")),
            ("cargo", cargo, "lint", Some("cargo clippy --fix")),
            ("cargo", cargo, "t", Some("cargo test -q")),
            ("cargo", cargo, "build", None),
            ("task", task, "", Some("go vet")),
            ("task", task, "a", Some("go test\ntask b")),
            (
                "task",
                task,
                "b",
                Some("task a\ntask c\ncd web\n${_GO} test ${_X} || true\ntask d"),
            ),
            (
                HOOKS,
                hooks,
                "",
                Some("ruff check '--fix' 'a b'\nruff format\ncheck-yaml\nmake lint\ntrue\ntrue"),
            ),
            (HOOKS, hooks, "typos", Some("typos --write-changes")),
            (HOOKS, "repos: [{repo: local, hooks: [{id: a}]}]", "", None),
        ] {
            assert_eq!(
                text_of(program, file, name).as_deref(),
                expected,
                "{program} {name}"
            );
        }
    }
}
