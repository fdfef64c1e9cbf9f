//! What goes to the terminal: answers, warnings, the one error, traces. Nothing of it is uncleaned.

use std::io;
use std::sync::OnceLock;

use super::options::Global;
use crate::effects::ledger;
use crate::error::{Error, Result, Spot};
use crate::model::{mask, text};
use crate::view::github;
use crate::view::style::{BAD, GOOD, ODD, paint};
use crate::view::{snippet, width};

impl Global {
    /// Prints an answer for people; nothing if only errors are wanted.
    pub(super) fn say(&self, text: &str) {
        if !self.quiet {
            print(&mask::secrets(&text::page(text)));
        }
    }

    /// Prints an answer in sentences, broken between words where the terminal is too narrow for them.
    pub(super) fn tell(&self, text: &str) {
        self.say(&width::page(text, width::of_terminal()));
    }

    /// Prints a warning to stderr; nothing if only errors are wanted.
    pub(super) fn warn(&self, text: &str) {
        if !self.quiet {
            let warning = mask::secrets(&text::clean_line(text));
            let line = format!("{} {warning}", paint(ODD, "warning:"));
            print_error(&width::page(&line, width::of_stderr()));
        }
    }

    /// Prints warnings that point into a file, each with its line; nothing if only errors are wanted.
    pub(super) fn point_out(&self, spots: &[Spot]) {
        if !self.quiet && !spots.is_empty() {
            let page = snippet::warnings(spots, width::of_stderr());
            print_error(&mask::secrets(&page));
        }
    }
}

/// Returns an error as it is printed: what happened, then what to do; one that points into files shows their lines.
pub fn shown(error: &Error) -> String {
    if !error.spots.is_empty() {
        return mask::secrets(&snippet::page(&error.spots, width::of_stderr()));
    }
    let safe = |text: &str| mask::secrets(&text::clean(text));
    let mut shown = format!("{} {}", paint(BAD, "error:"), safe(&error.message));
    for hint in &error.hints {
        shown.push_str(&format!("\n{} {}", paint(GOOD, "hint:"), safe(hint)));
    }
    width::page(&shown, width::of_stderr())
}

/// Prints a page to stdout; a reader that went away is no error. In a job of GitHub Actions none of it is a command to the runner:
/// it may be the output of checks.
pub(super) fn print(page: &str) {
    let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
    match is_github {
        true => print_to_runner(&github::harmless(page)),
        false => print_to_runner(page),
    }
}

/// Prints a page to stdout, commands to the runner of GitHub Actions included.
pub(super) fn print_to_runner(page: &str) {
    use std::io::Write;
    note(write!(anstream::stdout(), "{}", text::page(page)));
}

/// Why stdout did not take something; the first time that it did not.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// Keeps in mind that stdout did not take something: whoever writes goes on. A reader that went away wants nothing more.
pub(super) fn note(written: io::Result<()>) {
    if let Err(cause) = written
        && cause.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = UNWRITTEN.set(cause.to_string());
    }
}

/// Returns what the program ends with: an error where stdout did not take all of it. If it ends with another code than 0 already,
/// that one stays, and the error is only said.
pub(super) fn ended(result: Result<u8>) -> Result<u8> {
    use std::io::Write;
    note(io::stdout().flush());
    let Some(cause) = UNWRITTEN.get() else {
        return result;
    };
    let error = Error::internal(format!("cannot write to stdout: {cause}")).advised();
    match result {
        Ok(0) => Err(error),
        Ok(_) | Err(_) => {
            print_error(&shown(&error));
            result
        }
    }
}

/// Prints a document as indented JSON, after checking it against its schema: with what looks like a secret masked, and what a
/// terminal would act on escaped.
pub(super) fn print_document(name: &str, document: &impl serde::Serialize) -> Result<()> {
    let mut value =
        serde_json::to_value(document).map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    mask::value(&mut value);
    print(&text::json(&ledger::checked(name, &value)?));
    Ok(())
}

/// Prints a line to stderr; a reader that went away is no error.
pub fn print_error(line: &str) {
    use std::io::Write;
    let _ = writeln!(anstream::stderr(), "{}", text::page(line));
}

/// Where traces go: to stderr, as harmless as everything else. One trace comes in one piece.
struct Traces;

impl std::io::Write for Traces {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = text::clean(&String::from_utf8_lossy(bytes));
        std::io::stderr().write_all(mask::secrets(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

pub(super) fn trace() {
    tracing_subscriber::fmt()
        .with_writer(|| Traces)
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .init();
}
