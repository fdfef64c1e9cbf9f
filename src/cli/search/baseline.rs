//! Why the untouched code has no score, and what can be done about it.

use super::plan;
use crate::engine::search::lacking;
use crate::error::{Error, Result};
use crate::model::search::lineage::{Lineage, Measure, Outcome};
use crate::model::search::score;
use crate::model::text;
use crate::session::{Cut, Searching};

/// What a gate that fails is called.
const GATE: &str = "a gate does not pass";
/// What somebody may not expect whose gates build on each other.
const EACH_CLEAN: &str = "each gate begins in a clean copy, without what another one built: join with && what belongs together";

/// Returns the error of a search whose untouched code cannot be measured (exit 2). To be called while its copies are there.
pub async fn missing(session: &Searching, lineage: &Lineage) -> Result<Error> {
    let copy = Copy {
        is_whole: lacking::is_whole(session)?,
        modules: empty_modules(session)?,
        gates: session.site.request.gates.len(),
    };
    match lacking::paths(session, lineage).await {
        Ok(paths) => Ok(error(lineage, &paths, &copy)),
        Err(Cut::Failed(error)) => Ok(error),
        Err(Cut::Halt(_) | Cut::Unprepared(_) | Cut::Over(_)) => Ok(error(lineage, &[], &copy)),
    }
}

/// What a copy of the commit has beside the checkout.
struct Copy {
    /// Everything: the checkout has nothing but what is committed.
    is_whole: bool,
    /// The submodules that nothing fetches for it.
    modules: Vec<String>,
    /// How many gates each begin with it.
    gates: usize,
}

/// Lists the submodules that the copies have as empty folders.
fn empty_modules(session: &Searching) -> Result<Vec<String>> {
    let request = &session.site.request;
    let prepare = request.prepare.as_deref().unwrap_or_default();
    match prepare.contains("submodule") {
        true => Ok(Vec::new()),
        false => Ok(plan::listed(&session.site.user, &request.base)?.1),
    }
}

/// Says why; with what is lacking in the copy there would be a score.
fn error(lineage: &Lineage, lacking: &[String], copy: &Copy) -> Error {
    let baseline = lineage.attempt(0);
    let failed = |what| failure(what, &baseline.measurement(what)?.outcome);
    let mut measured = [Measure::First, Measure::HoldOut].into_iter();
    let (why, advice) = match measured.find_map(failed) {
        Some((GATE, why)) if copy.gates > 1 => (
            format!("{GATE}: {why}"),
            format!("{}; {}", advice(why, copy), EACH_CLEAN),
        ),
        Some((words, why)) => (format!("{words}: {why}"), advice(why, copy)),
        None => (String::new(), advice("", copy)),
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

fn failure(what: Measure, outcome: &Outcome) -> Option<(&'static str, &str)> {
    match outcome {
        Outcome::Scored { .. } => None,
        Outcome::GateFailed(why) => Some((GATE, why)),
        Outcome::Invalid(why) if what == Measure::HoldOut => {
            Some(("the hold-out has no score", why))
        }
        Outcome::Invalid(why) => Some(("there is no score", why)),
    }
}

/// Says what can be done.
fn advice(why: &str, copy: &Copy) -> String {
    if score::is_no_number(why) {
        return "the last line of stdout has to be the number alone, as in 3.5 or 1e-6: no unit, no comma, neither nan nor inf".to_owned();
    }
    if why.contains(score::NO_RESULT) {
        return "write one JSON object to that file, as in {\"score\": 3.5}, or nothing, and print the number".to_owned();
    }
    if why.contains("timed out after ") {
        return "give each command more time, as in --timeout 30m, or timeout: in SEARCH.yaml"
            .to_owned();
    }
    if !copy.modules.is_empty() {
        return format!(
            "a copy has a submodule as an empty folder, so {}: if a command needs what is in it, fetch it with --prepare 'git submodule update --init'",
            text::some_of(&copy.modules, 5)
        );
    }
    match copy.is_whole {
        true => {
            "try the command in the checkout: there is nothing in it that the copy lacks, so it should fail there, too"
        }
        false => {
            "a copy has only what is committed: commit what is missing, or, where git ignores it, make it with --prepare CMD or lend it with --link PATH"
        }
    }
    .to_owned()
}
