//! Why the untouched code cannot be measured in a copy of its commit, where it could in the checkout: what git ignores is not
//! in the copy (rule S1).

use super::measure::{self, Bed};
use crate::error::Result;
use crate::model::search::lineage::{Lineage, Measure, Outcome};
use crate::model::slot::lendable;
use crate::model::text;
use crate::session::{Cut, Searching, Slots};

/// The most paths that are tried.
const MOST: usize = 1000;

/// Returns the ignored paths of the checkout with which the untouched code can be measured, the topmost of each; none where
/// that does not help.
pub async fn paths(session: &Searching, lineage: &Lineage) -> Result<Vec<String>, Cut> {
    let lacking = ignored(session)?;
    if lacking.is_empty() {
        return Ok(lacking);
    }
    let bed = Bed {
        slots: Slots::Try,
        lane: 0,
        more: &lacking,
    };
    let passes = passes(session, lineage, &bed).await;
    bed.known_slot(session)?.remove()?;
    Ok(match passes {
        Ok(true) => lacking,
        // Why it could not be measured is known already.
        Ok(false) | Err(Cut::Unprepared(_) | Cut::Failed(_)) => Vec::new(),
        Err(cut) => return Err(cut),
    })
}

/// Says whether the checkout has nothing that a copy of its commit lacks: nothing that git ignores or that is not committed.
pub fn is_whole(session: &Searching) -> Result<bool> {
    let git = &session.site.user.git;
    let listed = git.run(&[
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--ignored",
        "--ignore-submodules=dirty",
    ])?;
    let mut entries = listed.split(|byte| *byte == 0);
    let is_more = |entry: &[u8]| {
        let path = std::str::from_utf8(entry.get(3..)?).ok()?;
        lendable(path).ok()
    };
    Ok(!entries.any(|entry| is_more(entry).is_some()))
}

async fn passes(session: &Searching, lineage: &Lineage, bed: &Bed<'_>) -> Result<bool, Cut> {
    let holdout = lineage.plan.has_holdout.then_some(Measure::HoldOut);
    for what in [Measure::First].into_iter().chain(holdout) {
        let job = measure::job(lineage, 0, what);
        match job.outcome_in(session, bed).await?.outcome {
            Outcome::Scored { .. } => {}
            Outcome::GateFailed(_) | Outcome::Invalid(_) => return Ok(false),
        }
    }
    Ok(true)
}

/// Lists the ignored paths that could be lent and are not.
fn ignored(session: &Searching) -> Result<Vec<String>, Cut> {
    let listed = session.site.user.git.run(&[
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
        "-z",
    ])?;
    let paths = listed.split(|byte| *byte == 0);
    let paths = paths.filter_map(|path| lendable(std::str::from_utf8(path).ok()?).ok());
    let is_new = |path: &String| !session.site.request.link.contains(path);
    // A name that does not come out as it went in is no path to be given.
    let is_plain = |path: &String| text::clean_line(path) == *path;
    let paths = paths.filter(is_new).filter(is_plain);
    Ok(paths.take(MOST).collect())
}
