//! What an agent prints, read as it streams: turns, files, tokens, cost, the last thing it did, and its own word for failure.
//! Nothing that it prints breaks the reading: what is not understood yields nothing. Pure.

mod figures;
mod lines;
mod rules;

use serde_json::{Deserializer, Value};

use super::obstacle::{self, Ending};
use super::words::{ERROR_CHARS, Failure, shown};
use super::{CannotRun, Format, Output, Preset, Refusal};
use crate::model::{mask, text, usage};
use figures::Total;
use lines::Lines;
use rules::{Compiled, Read};

/// The most files that are kept.
const MOST_FILES: usize = 200;
/// The longest path that is kept, in characters; nothing longer is one.
const PATH_CHARS: usize = 1000;
/// How much of what the agent did is shown, in characters.
const LAST_CHARS: usize = 120;
/// How many places of an output are tried as the start of its one document.
const STARTS: usize = 20;

/// What is known of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activity {
    /// How often the agent's model answered.
    pub turns: u64,
    /// Files that it touched, as it named them, in the order of first touch; the first 200.
    pub files: Vec<String>,
    /// All tokens that the model read and wrote, if the agent says.
    pub tokens: Option<u64>,
    /// Dollars, if the agent says.
    pub cost_usd: Option<f64>,
    /// The last thing that it did or said: one short line without secrets.
    pub last: Option<String>,
}

/// How a run ended, as seen from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Finished<'a> {
    /// The exit code; none after a signal.
    pub exit: Option<i32>,
    /// The end of standard output and standard error.
    pub tail: &'a str,
    /// The content of the file that the program writes beside its output.
    pub usage_file: Option<&'a str>,
}

/// What a run came to, in the agent's own words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Everything that was read.
    pub activity: Activity,
    /// What the agent says of its failure, whatever its exit code: one line without secrets.
    pub failed: Option<String>,
    /// Why it cannot run at all.
    pub cannot_run: Option<CannotRun>,
}

/// Reads the output of one run piece by piece.
#[derive(Debug)]
pub struct Transcript {
    format: Format,
    rules: Vec<Compiled>,
    refusals: Vec<Refusal>,
    lines: Lines,
    /// Where nothing is said of how the output is read, all of it is for people: what was printed, masked as it comes.
    spoken: Option<mask::Stream>,
    /// All output while no event was seen: it may be one document.
    document: Option<Vec<u8>>,
    activity: Activity,
    tokens: Total<u64>,
    cost: Total<f64>,
    failure: Option<Failure>,
    /// The newest word on it is that an answer came.
    is_done: bool,
    denied: Option<String>,
}

impl Transcript {
    /// Starts reading by the rules of `preset`.
    pub fn new(preset: &Preset) -> Transcript {
        let output = &preset.output;
        Transcript {
            format: output.format,
            rules: output.rules.iter().map(Compiled::new).collect(),
            refusals: preset.cannot_run.clone(),
            lines: Lines::default(),
            spoken: (*output == Output::default()).then(mask::Stream::default),
            document: (output.format == Format::Jsonl).then(Vec::new),
            activity: Activity::default(),
            tokens: Total::default(),
            cost: Total::default(),
            failure: None,
            is_done: false,
            denied: None,
        }
    }

    /// Takes the next bytes, wherever they were cut; true if the activity changed.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        if let Some(document) = &mut self.document {
            document.extend_from_slice(bytes);
            if document.len() > lines::LONGEST {
                self.document = None;
            }
        }
        let mut changed = false;
        let mut rest = bytes;
        while let Some(line) = self.lines.next(&mut rest) {
            changed |= self.take_line(&line);
        }
        changed
    }

    /// Returns what is known so far.
    pub fn activity(&self) -> &Activity {
        &self.activity
    }

    /// Ends the reading: what the run came to.
    pub fn finish(mut self, finished: &Finished<'_>) -> Outcome {
        if let Some(line) = self.lines.last() {
            self.take_line(&line);
        }
        if let Some(document) = self.document.take().as_deref().and_then(one_document) {
            self.take_events(&document);
        }
        let usage = finished.usage_file.map(serde_json::from_str::<Value>);
        if let Some(Ok(usage)) = usage {
            self.take_events(&usage);
        }
        let ending = Ending {
            format: self.format,
            is_known: !(self.rules.is_empty() && self.refusals.is_empty()),
            exit: finished.exit,
            failure: self.failure,
            is_done: self.is_done,
            denied: self.denied,
            tail: finished.tail,
        };
        let cannot_run = obstacle::recognise(&self.refusals, &ending);
        Outcome {
            activity: self.activity,
            failed: ending.failed(cannot_run.as_ref()),
            cannot_run,
        }
    }

    fn take_line(&mut self, line: &[u8]) -> bool {
        let event = match self.format {
            Format::Jsonl => serde_json::from_slice::<Value>(line).ok(),
            Format::Text => None,
        };
        match event {
            Some(event) => {
                if is_event(&event) {
                    self.document = None;
                }
                self.take_events(&event)
            }
            None => self.take_text(&String::from_utf8_lossy(line)),
        }
    }

    fn take_text(&mut self, line: &str) -> bool {
        let mut read = Read::default();
        if let Some(spoken) = &mut self.spoken {
            let masked = spoken.push(format!("{line}\n").as_bytes());
            let masked = String::from_utf8_lossy(&masked);
            // What a carriage return brings back to the start of its line is drawn over.
            let last = masked.rsplit(['\n', '\r']).find(|it| !it.trim().is_empty());
            read.activity = last.map(str::to_owned);
        }
        let line = text::clean(line);
        for rule in &self.rules {
            if let Some(event) = rule.event_of(&line) {
                rule.read(&event, &mut read);
            }
        }
        self.note(read)
    }

    /// Takes one event, or several in a list.
    fn take_events(&mut self, value: &Value) -> bool {
        match value {
            Value::Array(items) => {
                let mut changed = false;
                for event in items.iter().filter(|item| is_event(item)) {
                    changed |= self.take_event(event);
                }
                changed
            }
            Value::Object(_) => self.take_event(value),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    fn take_event(&mut self, event: &Value) -> bool {
        let mut read = Read::default();
        for rule in self.rules.iter().filter(|rule| rule.fits(event)) {
            rule.read(event, &mut read);
        }
        self.note(read)
    }

    /// Notes what was read from one event; true if the activity changed.
    fn note(&mut self, read: Read) -> bool {
        let activity = &mut self.activity;
        let mut changed = read.is_turn || read.turns.is_some_and(|all| all != activity.turns);
        activity.turns = read
            .turns
            .unwrap_or_else(|| activity.turns.saturating_add(u64::from(read.is_turn)));
        for file in read.files {
            let is_kept = activity.files.len() < MOST_FILES && !activity.files.contains(&file);
            if is_kept && file.chars().count() <= PATH_CHARS {
                activity.files.push(file);
                changed = true;
            }
        }
        for (figures, tokens) in read.tokens {
            self.tokens.add(figures, tokens, u64::saturating_add);
        }
        for (figures, cost) in read.cost {
            self.cost.add(figures, cost, usage::sum);
        }
        let last = read.activity.map(|said| shown(&said, LAST_CHARS));
        let last = last.filter(|said| !said.is_empty());
        let now = (self.tokens.value(), self.cost.value());
        changed |= now != (activity.tokens, activity.cost_usd);
        changed |= last.is_some() && last != activity.last;
        (activity.tokens, activity.cost_usd) = now;
        activity.last = last.or(activity.last.take());
        match read.error {
            Some(error) => {
                self.failure = Some(Failure::new(&error, read.status));
                self.is_done = false;
            }
            None if read.is_done => {
                self.failure = None;
                self.is_done = true;
            }
            None => {}
        }
        if let Some(denied) = read.denied {
            self.denied = Some(shown(&denied, ERROR_CHARS));
        }
        changed
    }
}

/// An empty mapping tells nothing, and stands alone on a line within larger documents.
fn is_event(value: &Value) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty())
        || value
            .as_array()
            .is_some_and(|items| items.iter().any(Value::is_object))
}

/// Returns the one document that an output holds, whatever was said before and behind it.
fn one_document(output: &[u8]) -> Option<Value> {
    let mut start = 0;
    let mut tried = 0;
    for line in output.split_inclusive(|byte| *byte == b'\n') {
        if tried < STARTS && matches!(line.trim_ascii_start().first(), Some(b'{' | b'[')) {
            tried += 1;
            let mut documents = Deserializer::from_slice(&output[start..]).into_iter::<Value>();
            if let Some(Ok(document)) = documents.next().filter(|d| d.as_ref().is_ok_and(is_event))
            {
                return Some(document);
            }
        }
        start += line.len();
    }
    None
}

#[cfg(test)]
mod tests;
