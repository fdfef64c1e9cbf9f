//! SARIF 2.1 logs, as linters and scanners write them. Pure.
//!
//! A finding that somebody suppressed, that is gone compared with a baseline, or that is no failure (`kind`) does not count.

use std::collections::HashMap;

use serde_json::Value;

use super::{Report, json, names, shown};

/// How severe a finding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// All findings.
    #[default]
    Note,
    /// Warnings and errors.
    Warning,
    /// Errors only.
    Error,
}

/// The words for it.
pub const WORDS: &[(&str, Level)] = &[
    ("error", Level::Error),
    ("warning", Level::Warning),
    ("note", Level::Note),
];

/// Returns how many findings of this level or a more severe one there are.
pub fn count(least: Level, reports: &[Report]) -> Result<f64, String> {
    let (mut findings, mut runs) = (0, 0);
    for report in reports {
        let document = json::parse(report)?;
        let name = report.quoted();
        let all = document.get("runs").and_then(Value::as_array);
        let all = all.ok_or_else(|| format!("{name} is no SARIF log: it has no list of runs"))?;
        for run in all {
            refuse_failed(run, &name)?;
            // A run without the list describes a tool that was not run.
            let Some(results) = run.get("results") else {
                continue;
            };
            let results = results.as_array().ok_or_else(|| {
                format!("{name} holds a run that could not begin: its results are null")
            })?;
            runs += 1;
            let rules = Rules::of(run);
            for result in results {
                let level = level(result, &rules, &name)?;
                let counts = is_finding(result) && level.is_some_and(|level| level >= least);
                findings += usize::from(counts);
            }
        }
    }
    match runs {
        0 => Err(format!(
            "{} holds no run with results, so that nothing was looked at",
            names(reports)
        )),
        _ => Ok(findings as f64),
    }
}

/// Refuses a run of which the tool itself says that it went wrong: what it found is not all there is.
fn refuse_failed(run: &Value, name: &str) -> Result<(), String> {
    let invocations = run.get("invocations").and_then(Value::as_array);
    let is_failed = |invocation: &Value| {
        invocation
            .get("executionSuccessful")
            .and_then(Value::as_bool)
            == Some(false)
    };
    match invocations.is_some_and(|all| all.iter().any(is_failed)) {
        true => {
            let tool = run.pointer("/tool/driver/name").and_then(Value::as_str);
            let tool = shown(tool.unwrap_or("the tool"));
            Err(format!(
                "{tool} says in {name} that its run did not succeed"
            ))
        }
        false => Ok(()),
    }
}

fn is_finding(result: &Value) -> bool {
    let word = |key| result.get(key).and_then(Value::as_str);
    let is_pending = |suppression: &Value| {
        let status = suppression.get("status").and_then(Value::as_str);
        matches!(status, Some("underReview" | "rejected"))
    };
    let suppressions = result.get("suppressions").and_then(Value::as_array);
    let is_suppressed =
        suppressions.is_some_and(|all| !all.is_empty() && !all.iter().any(is_pending));
    word("kind").is_none_or(|kind| kind == "fail")
        && word("baselineState") != Some("absent")
        && !is_suppressed
}

/// Returns the level of a finding: its own, else its rule's, else `warning`; none for the level `none`.
fn level(result: &Value, rules: &Rules<'_>, name: &str) -> Result<Option<Level>, String> {
    let own = result.get("level").and_then(Value::as_str);
    let word = own.or_else(|| rules.level(result)).unwrap_or("warning");
    match WORDS.iter().find(|(known, _)| *known == word) {
        Some((_, level)) => Ok(Some(*level)),
        None if word == "none" => Ok(None),
        None => Err(format!(
            "{name} holds a result of the unknown level `{}`",
            shown(word)
        )),
    }
}

/// The rules that a run's tool describes.
struct Rules<'r> {
    all: &'r [Value],
    by_id: HashMap<&'r str, &'r Value>,
}

impl<'r> Rules<'r> {
    fn of(run: &'r Value) -> Rules<'r> {
        let all = run.pointer("/tool/driver/rules").and_then(Value::as_array);
        let all = all.map_or(&[][..], Vec::as_slice);
        let id = |rule: &'r Value| Some((rule.get("id")?.as_str()?, rule));
        Rules {
            all,
            by_id: all.iter().filter_map(id).collect(),
        }
    }

    fn level(&self, result: &Value) -> Option<&'r str> {
        let own = |pointer| result.pointer(pointer);
        // A rule of an extension has an index of its own.
        if own("/rule/toolComponent").is_some() {
            return None;
        }
        let index = own("/ruleIndex").or_else(|| own("/rule/index"));
        let index = index.and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let id = own("/ruleId").or_else(|| own("/rule/id"));
        let rule = index.and_then(|index| self.all.get(index)).or_else(|| {
            let id = id.and_then(Value::as_str)?;
            self.by_id.get(id).copied()
        })?;
        rule.pointer("/defaultConfiguration/level")?.as_str()
    }
}
