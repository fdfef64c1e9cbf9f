//! SARIF 2.1 logs, as linters and scanners write them. Pure.
//!
//! A finding that somebody suppressed, that is gone compared with a baseline, or that is no failure (`kind`) does not count.

use std::collections::HashMap;

use serde::Deserializer;
use serde_json::Value;

use super::json::taken::{Kept, PLAIN, Room, Taker, Wanted, once, pass, take};
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

/// The most that is kept of the rules of a run, in bytes: tens of thousands.
const RULES: usize = 16 << 20;
/// The most that is kept of the kinds of findings of a run, in bytes.
const KINDS: usize = 8 << 20;
/// The most that is kept of one finding or of one call of the tool, in bytes.
const ONE: usize = 1 << 20;

/// What is kept of a tool.
const TOOL: Wanted = Wanted::Members(&[("driver", DRIVER)]);
const DRIVER: Wanted = Wanted::Members(&[("name", PLAIN), ("rules", Wanted::Each(&RULE))]);
const RULE: Wanted = Wanted::Members(&[
    ("id", PLAIN),
    ("defaultConfiguration", Wanted::Members(&[("level", PLAIN)])),
]);
/// What is kept of a finding.
const RESULT: Wanted = Wanted::Members(&[
    ("kind", PLAIN),
    ("baselineState", PLAIN),
    ("suppressions", Wanted::Each(&SUPPRESSION)),
    ("level", PLAIN),
    ("ruleIndex", PLAIN),
    ("ruleId", PLAIN),
    (
        "rule",
        Wanted::Members(&[("index", PLAIN), ("id", PLAIN), ("toolComponent", PLAIN)]),
    ),
]);
const SUPPRESSION: Wanted = Wanted::Members(&[("status", PLAIN)]);
/// What is kept of a call of the tool.
const INVOCATION: Wanted = Wanted::Members(&[("executionSuccessful", PLAIN)]);

/// Returns how many findings of this level or a more severe one there are.
pub fn count(least: Level, reports: &[Report]) -> Result<f64, String> {
    let (mut findings, mut runs) = (0, 0);
    for report in reports {
        let name = report.quoted();
        let mut log = Log { least, runs: None };
        json::take_report(&mut log, report)?;
        let all = log.runs.filter(|runs| runs.is_list);
        let all = all.ok_or_else(|| format!("{name} is no SARIF log: it has no list of runs"))?;
        let (more_findings, more_runs) = all.said.map_err(|why| why.of(&name))?;
        findings += more_findings;
        runs += more_runs;
    }
    match runs {
        0 => Err(format!(
            "{} holds no run with results, so that nothing was looked at",
            names(reports)
        )),
        _ => Ok(findings as f64),
    }
}

/// Why a log gives no count.
enum Why {
    /// The tool itself says that it went wrong: what it found is not all there is.
    Failed { tool: String },
    /// The results of a run are no list.
    NotBegun,
    /// A finding is of a level that nobody knows.
    Unknown { level: String },
    /// A run has more rules, or kinds of findings, than there is room for.
    TooMany,
}

impl Why {
    fn of(self, name: &str) -> String {
        match self {
            Why::Failed { tool } => format!("{tool} says in {name} that its run did not succeed"),
            Why::NotBegun => {
                format!("{name} holds a run that could not begin: its results are null")
            }
            Why::Unknown { level } => {
                format!("{name} holds a result of the unknown level `{level}`")
            }
            Why::TooMany => format!(
                "{name} holds a run with more rules or kinds of findings than anybody reads, and is not read"
            ),
        }
    }
}

/// A log. Its runs are counted while they are read.
struct Log {
    least: Level,
    runs: Option<Runs>,
}

impl<'t> Taker<'t> for Log {
    fn member<D: Deserializer<'t>>(&mut self, key: &str, value: D) -> Result<(), D::Error> {
        if key != "runs" {
            return pass(value);
        }
        once(key, self.runs.is_some())?;
        let mut runs = Runs {
            least: self.least,
            is_list: false,
            said: Ok((0, 0)),
        };
        take(&mut runs, value)?;
        self.runs = Some(runs);
        Ok(())
    }
}

struct Runs {
    least: Level,
    is_list: bool,
    /// How many findings and runs there are.
    said: Result<(usize, usize), Why>,
}

impl<'t> Taker<'t> for Runs {
    fn list(&mut self) {
        self.is_list = true;
    }

    fn element<D: Deserializer<'t>>(&mut self, _index: usize, value: D) -> Result<(), D::Error> {
        let Ok((findings, runs)) = &mut self.said else {
            return pass(value);
        };
        let mut run = Run::default();
        take(&mut run, value)?;
        match run.findings(self.least) {
            Ok(Some(more)) => (*findings, *runs) = (*findings + more, *runs + 1),
            // A run without the list describes a tool that was not run.
            Ok(None) => {}
            Err(why) => self.said = Err(why),
        }
        Ok(())
    }
}

#[derive(Default)]
struct Run {
    invocations: Option<Invocations>,
    tool: Option<Value>,
    is_cut: bool,
    results: Option<Results>,
}

impl Run {
    /// Returns how many findings count; none if the tool was not run.
    fn findings(&self, least: Level) -> Result<Option<usize>, Why> {
        let tool = self.tool.as_ref().unwrap_or(&Value::Null);
        if self.invocations.as_ref().is_some_and(|all| all.is_failed) {
            let tool = tool.pointer("/driver/name").and_then(Value::as_str);
            let tool = shown(tool.unwrap_or("the tool"));
            return Err(Why::Failed { tool });
        }
        let Some(results) = &self.results else {
            return Ok(None);
        };
        if !results.is_list {
            return Err(Why::NotBegun);
        }
        if self.is_cut || results.room.is_full() {
            return Err(Why::TooMany);
        }
        let rules = Rules::of(tool);
        let mut kinds: Vec<_> = results.kinds.iter().collect();
        kinds.sort_by_key(|(_, tally)| tally.first);
        let mut findings = 0;
        for (kind, tally) in kinds {
            let counts = level(kind, &rules)?.is_some_and(|level| level >= least);
            findings += if counts { tally.findings } else { 0 };
        }
        Ok(Some(findings))
    }
}

impl<'t> Taker<'t> for Run {
    fn member<D: Deserializer<'t>>(&mut self, key: &str, value: D) -> Result<(), D::Error> {
        match key {
            "invocations" => {
                once(key, self.invocations.is_some())?;
                let mut invocations = Invocations { is_failed: false };
                take(&mut invocations, value)?;
                self.invocations = Some(invocations);
            }
            "tool" => {
                once(key, self.tool.is_some())?;
                let room = Room::of(RULES);
                self.tool = Some(Kept::from(&TOOL, &room, value)?);
                self.is_cut = room.is_full();
            }
            "results" => {
                once(key, self.results.is_some())?;
                let mut results = Results::default();
                take(&mut results, value)?;
                self.results = Some(results);
            }
            _ => pass(value)?,
        }
        Ok(())
    }
}

struct Invocations {
    is_failed: bool,
}

impl<'t> Taker<'t> for Invocations {
    fn element<D: Deserializer<'t>>(&mut self, _index: usize, value: D) -> Result<(), D::Error> {
        let invocation = Kept::from(&INVOCATION, &Room::of(ONE), value)?;
        let is_successful = invocation
            .get("executionSuccessful")
            .and_then(Value::as_bool);
        self.is_failed |= is_successful == Some(false);
        Ok(())
    }
}

/// The findings of a run, by kind: their rules may be described behind them.
struct Results {
    is_list: bool,
    kinds: HashMap<Kind, Tally>,
    room: Room,
}

impl Default for Results {
    fn default() -> Results {
        Results {
            is_list: false,
            kinds: HashMap::new(),
            room: Room::of(KINDS),
        }
    }
}

/// What the level of a finding follows from.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Kind {
    level: Option<String>,
    rule_index: Option<u64>,
    rule_id: Option<String>,
}

/// How many findings of a kind there are.
struct Tally {
    findings: usize,
    /// The index of the first, be it no finding.
    first: usize,
}

impl<'t> Taker<'t> for Results {
    fn list(&mut self) {
        self.is_list = true;
    }

    fn element<D: Deserializer<'t>>(&mut self, index: usize, value: D) -> Result<(), D::Error> {
        let room = Room::of(ONE);
        let result = Kept::from(&RESULT, &room, value)?;
        let kind = Kind::of(&result);
        let findings = usize::from(is_finding(&result));
        if let Some(tally) = self.kinds.get_mut(&kind) {
            tally.findings += findings;
        } else if self.room.holds(kind.text()) && !room.is_full() {
            let first = index;
            self.kinds.insert(kind, Tally { findings, first });
        }
        if room.is_full() {
            self.room.fill();
        }
        Ok(())
    }
}

impl Kind {
    fn of(result: &Value) -> Kind {
        let own = |pointer| result.pointer(pointer);
        let text = |value: Option<&Value>| Some(value?.as_str()?.to_owned());
        let level = text(own("/level"));
        // A rule of an extension has an index of its own.
        if level.is_some() || own("/rule/toolComponent").is_some() {
            return Kind {
                level,
                ..Kind::default()
            };
        }
        Kind {
            level,
            rule_index: own("/ruleIndex")
                .or_else(|| own("/rule/index"))
                .and_then(Value::as_u64),
            rule_id: text(own("/ruleId").or_else(|| own("/rule/id"))),
        }
    }

    /// Returns how many bytes of text it holds.
    fn text(&self) -> usize {
        let texts = [&self.level, &self.rule_id].into_iter().flatten();
        texts.map(String::len).sum()
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

/// Returns the level of a kind of findings: their own, else their rule's, else `warning`; none for the level `none`.
fn level(kind: &Kind, rules: &Rules<'_>) -> Result<Option<Level>, Why> {
    let own = kind.level.as_deref();
    let word = own.or_else(|| rules.level(kind)).unwrap_or("warning");
    match WORDS.iter().find(|(known, _)| *known == word) {
        Some((_, level)) => Ok(Some(*level)),
        None if word == "none" => Ok(None),
        None => Err(Why::Unknown { level: shown(word) }),
    }
}

/// The rules that a run's tool describes.
struct Rules<'r> {
    all: &'r [Value],
    by_id: HashMap<&'r str, &'r Value>,
}

impl<'r> Rules<'r> {
    fn of(tool: &'r Value) -> Rules<'r> {
        let all = tool.pointer("/driver/rules").and_then(Value::as_array);
        let all = all.map_or(&[][..], Vec::as_slice);
        let id = |rule: &'r Value| Some((rule.get("id")?.as_str()?, rule));
        Rules {
            all,
            by_id: all.iter().filter_map(id).collect(),
        }
    }

    fn level(&self, kind: &Kind) -> Option<&'r str> {
        let index = kind.rule_index;
        let index = index.and_then(|index| usize::try_from(index).ok());
        let rule = index.and_then(|index| self.all.get(index)).or_else(|| {
            let id = kind.rule_id.as_deref()?;
            self.by_id.get(id).copied()
        })?;
        rule.pointer("/defaultConfiguration/level")?.as_str()
    }
}
