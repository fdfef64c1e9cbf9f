//! Why the untouched code has no score, and what can be done about it.

use crate::engine::search::lacking;
use crate::error::{Error, Result};
use crate::model::lineage::{Lineage, Measure, Outcome};
use crate::model::{score, text};
use crate::session::{Cut, Searching};

/// Returns the error of a search whose untouched code cannot be measured (exit 2). To be called while its copies are there.
pub async fn missing(session: &Searching, lineage: &Lineage) -> Result<Error> {
    let is_whole = lacking::is_whole(session)?;
    match lacking::paths(session, lineage).await {
        Ok(paths) => Ok(error(lineage, &paths, is_whole)),
        Err(Cut::Failed(error)) => Ok(error),
        Err(Cut::Halt(_) | Cut::Unprepared(_) | Cut::Over(_)) => Ok(error(lineage, &[], is_whole)),
    }
}

/// Says why; with what is lacking in the copy there would be a score.
fn error(lineage: &Lineage, lacking: &[String], is_whole: bool) -> Error {
    let baseline = lineage.attempt(0);
    let outcome = |what: &Measure| Some(&baseline.measurement(*what)?.outcome);
    let outcomes = [Measure::First, Measure::HoldOut];
    let (why, advice) = match outcomes.iter().filter_map(outcome).find_map(failure) {
        Some((words, why)) => (format!("{words}: {why}"), advice(why, is_whole)),
        None => (String::new(), advice("", is_whole)),
    };
    let message = format!("the untouched code cannot be measured in a copy of its commit: {why}");
    if lacking.is_empty() {
        return Error::usage(message).hint(advice);
    }
    let options: Vec<String> = lacking
        .iter()
        .take(5)
        .map(|path| format!("--link {}", text::shell_word(path)))
        .collect();
    Error::usage(format!(
        "{message}; in the checkout it can, where there is what git ignores: {}",
        text::some_of(lacking, 5)
    ))
    .hint(format!(
        "lend the copies what of it is needed, as in {}, or make it there with --prepare CMD",
        options.join(" ")
    ))
}

fn failure(outcome: &Outcome) -> Option<(&'static str, &str)> {
    match outcome {
        Outcome::Scored { .. } => None,
        Outcome::GateFailed(why) => Some(("a gate does not pass", why)),
        Outcome::Invalid(why) => Some(("there is no score", why)),
    }
}

/// Says what can be done; `is_whole` is a checkout that has nothing but what is committed.
fn advice(why: &str, is_whole: bool) -> &'static str {
    if score::is_no_number(why) {
        return "the last line of stdout has to be the number alone, as in 3.5 or 1e-6: no unit, no comma, neither nan nor inf";
    }
    if why.contains("timed out after ") {
        return "give each command more time, as in --timeout 30m, or timeout: in SEARCH.yaml";
    }
    match is_whole {
        true => {
            "try the command in the checkout: there is nothing in it that the copy lacks, so it should fail there, too"
        }
        false => {
            "a copy has only what is committed: commit what is missing, or, where git ignores it, make it with --prepare CMD or lend it with --link PATH"
        }
    }
}
