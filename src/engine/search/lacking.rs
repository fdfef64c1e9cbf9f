//! Why the untouched code cannot be measured in a copy of its commit, where it could in the checkout: what git ignores is not
//! in the copy (rule S1).

use super::measure;
use crate::effects::slot::Slot;
use crate::model::lineage::{Lineage, Measure, Outcome};
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
    let base = &session.site.request.base;
    let slot = session.site.slot_with(Slots::Try, &lacking, base).await;
    let Ok(slot) = slot else {
        // Why it could not be measured is known already.
        return Ok(Vec::new());
    };
    let passes = passes(session, lineage, &slot).await;
    slot.remove()?;
    Ok(match passes? {
        true => lacking,
        false => Vec::new(),
    })
}

async fn passes(session: &Searching, lineage: &Lineage, slot: &Slot) -> Result<bool, Cut> {
    let holdout = lineage.plan.has_holdout.then_some(Measure::HoldOut);
    for what in [Measure::First].into_iter().chain(holdout) {
        let job = measure::job(lineage, (0, what));
        match job.outcome_in(session, (slot, 0)).await?.0 {
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
