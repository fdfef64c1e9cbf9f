//! Values: where the number of a check stands, and what to say when it does not stand there. One module per format. Pure.
//!
//! Every value is in the unit that its report uses: percent for coverage, seconds for JUnit and hyperfine, nanoseconds for
//! criterion. A report that counts nothing (0 of 0 lines, no test case) has no value: 100 % or "0 failures" of nothing
//! would be a lie.

pub mod cobertura;
pub mod criterion;
pub mod hyperfine;
mod json;
pub mod junit;
pub mod lcov;
mod printed;
pub mod sarif;
mod xml;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::model::{mask, text};

/// How much of what was found a message shows, in characters.
const SHOWN: usize = 80;

/// Where the value of a check stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reading {
    /// The last number on stdout.
    #[default]
    LastNumber,
    /// The last match of a pattern in stdout and stderr; group 1 if it has one.
    Regex(String),
    /// A JSON Pointer (RFC 6901) into a file below the repository root, or into stdout.
    Json {
        /// Path below the repository root; `None` is stdout.
        file: Option<PathBuf>,
        /// The pointer, with its leading `/`; empty for the whole document.
        pointer: String,
    },
    /// Percent of what LCOV files count.
    Lcov {
        /// Path or glob below the repository root.
        files: String,
        /// What is counted.
        of: lcov::Of,
    },
    /// Percent of what Cobertura reports count.
    Cobertura {
        /// Path or glob below the repository root.
        files: String,
        /// What is counted.
        of: cobertura::Of,
    },
    /// A count or the seconds of JUnit reports.
    Junit {
        /// Path or glob below the repository root.
        files: String,
        /// What is counted.
        of: junit::Of,
    },
    /// How many findings SARIF files hold.
    Sarif {
        /// Path or glob below the repository root.
        files: String,
        /// The least severe level that counts.
        level: sarif::Level,
    },
    /// Seconds from hyperfine's export.
    Hyperfine {
        /// Path below the repository root.
        file: PathBuf,
        /// Which figure.
        of: hyperfine::Of,
        /// Which command or name, where several were measured.
        command: Option<String>,
    },
    /// Nanoseconds from criterion's estimates.
    Criterion {
        /// The benchmark's id, as criterion prints it.
        benchmark: String,
        /// Which estimate.
        of: criterion::Of,
    },
}

/// What a reading reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Source<'r> {
    /// What the check prints.
    Output,
    /// The first of these files that is there.
    First(Vec<PathBuf>),
    /// All files that a glob matches.
    Matching(&'r str),
}

impl Reading {
    /// Returns what this reads.
    pub fn source(&self) -> Source<'_> {
        match self {
            Reading::LastNumber | Reading::Regex(_) | Reading::Json { file: None, .. } => {
                Source::Output
            }
            Reading::Json {
                file: Some(file), ..
            }
            | Reading::Hyperfine { file, .. } => Source::First(vec![file.clone()]),
            Reading::Lcov { files, .. }
            | Reading::Cobertura { files, .. }
            | Reading::Junit { files, .. }
            | Reading::Sarif { files, .. } => match is_glob(files) {
                true => Source::Matching(files),
                false => Source::First(vec![files.into()]),
            },
            Reading::Criterion { benchmark, .. } => Source::First(criterion::files(benchmark)),
        }
    }
}

/// Says whether a path stands for all files that match it.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// A report that a check wrote.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its path below the repository's root.
    pub name: String,
    /// What stands in it.
    pub text: String,
}

impl Report {
    fn quoted(&self) -> String {
        format!("`{}`", self.name)
    }
}

/// How far a file's time may be ahead of its last change: file systems round.
const SLACK: Duration = Duration::from_secs(2);

/// What the times of a file say of a check that may have written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It was written since the check's start.
    Since,
    /// It is older.
    Before,
    /// Its time was set, to one ahead of the clock.
    Ahead,
}

/// Says what a file's times prove of a check that started at `start`. A file system may keep whole seconds only.
///
/// Anybody can set the time of the last write (`modified`): tools that copy, unpack or restore from a cache set an earlier one,
/// so that an early time proves that the content is not new, but a late one proves nothing. The time of the last change of
/// state (`changed`, `ctime`) is set by the kernel alone, by each write and also by a new mode or name: an early one proves that
/// the check did not touch the file at all, a late one not that it wrote. So both have to be late; and as each is read from the
/// same clock, which need not be this machine's, a last write after the last change was set ahead by hand.
pub fn written(modified: SystemTime, changed: SystemTime, start: SystemTime) -> Written {
    if !is_since(modified, start) {
        return Written::Before;
    }
    if modified > changed + SLACK {
        return Written::Ahead;
    }
    match is_since(changed, start) {
        true => Written::Since,
        false => Written::Before,
    }
}

fn is_since(time: SystemTime, start: SystemTime) -> bool {
    let since_epoch = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (time, start) = (since_epoch(time), since_epoch(start));
    match time.subsec_nanos() {
        0 => time.as_secs() >= start.as_secs(),
        _ => time >= start,
    }
}

/// Returns the number that `reading` describes. `combined` is stdout with stderr, `reports` what stands in the files that
/// `reading` names, or why they cannot be read. The error says what was looked for and what was found.
pub fn read_value(
    reading: &Reading,
    stdout: &str,
    combined: &str,
    reports: Result<&[Report], &str>,
) -> Result<f64, String> {
    let value = || match reading {
        Reading::LastNumber => printed::last_number(stdout),
        Reading::Regex(pattern) => printed::last_match(pattern, combined),
        Reading::Json {
            file: None,
            pointer,
        } => json::in_output(stdout, pointer),
        Reading::Json {
            file: Some(_),
            pointer,
        } => json::in_report(only(reports?), pointer),
        Reading::Lcov { of, .. } => lcov::percent(*of, reports?),
        Reading::Cobertura { of, .. } => cobertura::percent(*of, reports?),
        Reading::Junit { of, .. } => junit::value(*of, reports?),
        Reading::Sarif { level, .. } => sarif::count(*level, reports?),
        Reading::Hyperfine { of, command, .. } => {
            hyperfine::seconds(*of, command.as_deref(), only(reports?))
        }
        Reading::Criterion { of, .. } => criterion::nanoseconds(*of, only(reports?)),
    };
    value().map_err(|why| format!("no value: {why}"))
}

fn only(reports: &[Report]) -> &Report {
    reports
        .first()
        .expect("BUG: a reading of one file was given none")
}

/// Returns how much of `found` was hit; none of none has no share.
fn percent(hit: u64, found: u64, of: (&str, &[Report])) -> Result<f64, String> {
    let (what, reports) = of;
    let names = names(reports);
    match found {
        0 => Err(format!(
            "{names} counts no {what} at all, and 0 of 0 is no coverage"
        )),
        found if hit > found => Err(format!("{names} says that {hit} of {found} {what} are hit")),
        found => Ok(100.0 * hit as f64 / found as f64),
    }
}

/// Names reports in a message.
fn names(reports: &[Report]) -> String {
    match reports {
        [] => "no report".to_owned(),
        [only] => only.quoted(),
        [first, ..] => format!("{} with {} more", first.quoted(), reports.len() - 1),
    }
}

fn finite(value: f64, what: &str) -> Result<f64, String> {
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("{what} is not finite"))
    }
}

fn time(value: f64, what: &str) -> Result<f64, String> {
    match value < 0.0 {
        true => Err(format!("{what} is below zero, as no time is")),
        false => Ok(value),
    }
}

fn shown(found: &str) -> String {
    text::cut(&mask::secrets(&text::clean_line(found)), SHOWN)
}

fn ending(output: &str) -> String {
    match output
        .lines()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .map(shown)
        .find(|line| !line.is_empty())
    {
        Some(line) => format!("ends with `{line}`"),
        None => "is empty".to_owned(),
    }
}

#[cfg(test)]
mod tests;
