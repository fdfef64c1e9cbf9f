//! What hyperfine exports as JSON (`--export-json`), in seconds. Pure.
//!
//! A command of which a run failed has no time: what ends at once because it is not found would be the fastest of all.

use serde::Deserializer;
use serde_json::Value;

use super::json::taken::{Kept, PLAIN, Room, Taker, once, pass, take};
use super::{Report, json, shown, time};

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

/// The most that is kept of a command, in bytes.
const ROOM: usize = 64 << 10;
/// How many bytes of names of commands a message has.
const NAMED: usize = 2 << 10;
/// The most that is kept of how a run ended, in bytes.
const CODE: usize = 32;

/// Returns the figure of the command called `command`, or of the only one.
pub fn seconds(of: Of, command: Option<&str>, report: &Report) -> Result<f64, String> {
    let mut export = Export {
        command,
        results: None,
    };
    json::take_report(&mut export, report)?;
    let name = report.quoted();
    let results = export
        .results
        .filter(|results| results.is_list)
        .ok_or_else(|| format!("{name} is no export of hyperfine: it has no results"))?;
    let all = results.names;
    match (results.fitting, command) {
        (_, _) if results.count == 0 => Err(format!("{name} holds no result")),
        (1, _) => {
            let word = WORDS.iter().find(|(_, word)| *word == of);
            let word = word.map_or("", |(word, _)| word);
            let Fitting {
                index,
                called,
                codes,
            } = results.first;
            if let Some(failed) = codes.failed() {
                return Err(format!(
                    "{called} in {name} {failed}: what fails is not timed; if it is meant to, put `|| true` behind the command"
                ));
            }
            let (pointer, part) = (format!("/{word}"), format!("{called} in {name}"));
            let found = json::in_part(report, &format!("/results/{index}"), &pointer, &part)?;
            time(found, &format!("`{pointer}` of {part}"))
        }
        (0, command) => {
            let command = quoted(command.unwrap_or_default());
            Err(format!("{name} has no command {command}; it has {all}"))
        }
        (_, None) => Err(format!(
            "{name} has several commands, {all}; say which one with `command`"
        )),
        (several, Some(command)) => Err(format!(
            "{name} has the command {} {several} times; give each a name with hyperfine's -n",
            quoted(command),
        )),
    }
}

/// What hyperfine exported.
struct Export<'c> {
    command: Option<&'c str>,
    results: Option<Results<'c>>,
}

impl<'t> Taker<'t> for Export<'_> {
    fn member<D: Deserializer<'t>>(&mut self, key: &str, value: D) -> Result<(), D::Error> {
        if key != "results" {
            return pass(value);
        }
        once(key, self.results.is_some())?;
        let mut results = Results {
            command: self.command,
            is_list: false,
            count: 0,
            fitting: 0,
            first: Fitting::default(),
            names: String::new(),
        };
        take(&mut results, value)?;
        self.results = Some(results);
        Ok(())
    }
}

/// The results, and which of them fit.
struct Results<'c> {
    command: Option<&'c str>,
    is_list: bool,
    count: usize,
    fitting: usize,
    /// The first that fits.
    first: Fitting,
    /// All commands for people, as far as anybody would read.
    names: String,
}

impl<'t> Taker<'t> for Results<'_> {
    fn list(&mut self) {
        self.is_list = true;
    }

    fn element<D: Deserializer<'t>>(&mut self, index: usize, value: D) -> Result<(), D::Error> {
        let mut result = Outcome::default();
        take(&mut result, value)?;
        let called = result.command.as_ref().and_then(Value::as_str);
        let called = called.unwrap_or_default();
        self.count += 1;
        if self.command.is_none_or(|command| called == command) {
            self.fitting += 1;
            if self.fitting == 1 {
                self.first = Fitting {
                    index,
                    called: quoted(called),
                    codes: result.codes.unwrap_or_default(),
                };
            }
        }
        if self.names.len() < NAMED {
            let comma = if index > 0 { ", " } else { "" };
            self.names += &format!("{comma}{}", quoted(called));
            if self.names.len() >= NAMED {
                self.names += ", …";
            }
        }
        Ok(())
    }
}

/// A result that fits.
#[derive(Default)]
struct Fitting {
    index: usize,
    /// Its command for people.
    called: String,
    codes: Codes,
}

/// One result.
#[derive(Default)]
struct Outcome {
    command: Option<Value>,
    codes: Option<Codes>,
}

impl<'t> Taker<'t> for Outcome {
    fn member<D: Deserializer<'t>>(&mut self, key: &str, value: D) -> Result<(), D::Error> {
        match key {
            "command" => {
                once(key, self.command.is_some())?;
                self.command = Some(Kept::from(&PLAIN, &Room::of(ROOM), value)?);
            }
            "exit_codes" => {
                once(key, self.codes.is_some())?;
                let mut codes = Codes::default();
                take(&mut codes, value)?;
                self.codes = Some(codes);
            }
            _ => pass(value)?,
        }
        Ok(())
    }
}

/// How the runs of a command ended. Older versions do not say it.
#[derive(Default)]
struct Codes {
    runs: usize,
    failed: usize,
    /// How the first that failed ended.
    first: Value,
}

impl Codes {
    /// Says for people that runs failed, if any did.
    fn failed(&self) -> Option<String> {
        let how = match self.first.as_i64() {
            Some(code) => format!("exit {code}"),
            None => "no exit code".to_owned(),
        };
        let (failed, runs) = (self.failed, self.runs);
        (failed > 0).then(|| format!("failed in {failed} of {runs} runs ({how})"))
    }
}

impl<'t> Taker<'t> for Codes {
    fn element<D: Deserializer<'t>>(&mut self, _index: usize, value: D) -> Result<(), D::Error> {
        let code = Kept::from(&PLAIN, &Room::of(CODE), value)?;
        self.runs += 1;
        if code.as_i64() != Some(0) {
            self.failed += 1;
            if self.failed == 1 {
                self.first = code;
            }
        }
        Ok(())
    }
}

fn quoted(command: &str) -> String {
    format!("`{}`", shown(command))
}
