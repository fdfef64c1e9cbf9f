//! Says what a slot lacks: a check that fails there on untouched code, and passes in the user's checkout, leans on files that
//! git ignores. An agent would be paid for what no commit can mend.

use crate::effects::keep::Links;
use crate::effects::modes::Folders;
use crate::effects::quarantine::Quarantine;
use crate::effects::sandbox::Inmate;
use crate::effects::workspace::{Workspace, some_of};
use crate::error::Result;
use crate::model::goals::{Goals, Where};
use crate::model::snapshot::{CheckResult, Snapshot};
use crate::session::{Cut, Progress, Session};

/// Looks at the session's first snapshot, if it was made in a slot, and warns of checks that would pass in the checkout.
pub async fn warn(
    session: &Session,
    progress: &mut Progress,
    (goals, snapshot, cycle): (&Goals, &Snapshot, u64),
) -> Result<(), Cut> {
    let is_in_slot = session.isolation.is_some() || goals.settings.measure == Where::Clean;
    if !is_in_slot || progress.first.is_some() {
        return Ok(());
    }
    let missed = |id: &str| {
        let result = snapshot.find(id).map(|measurement| measurement.result);
        matches!(result, Some(CheckResult::Fail | CheckResult::Skip))
    };
    let failing: Vec<_> = goals.goals.iter().filter(|goal| missed(&goal.id)).collect();
    let (lacking, untracked) = match failing.is_empty() {
        true => Default::default(),
        false => lacking(session)?,
    };
    if lacking.is_empty() {
        return Ok(());
    }
    let ground = session.home().ground();
    let fence = session.sandbox.fence(Inmate::Checks, &ground)?;
    let here = session.measurer.at(&session.home().root, fence);
    let logs = session.logs().join("checkout");
    // The user's files lie here, and not where goals are measured else.
    let links = Links::of(session.home());
    links.make(untracked)?;
    let measured = here
        .measure(goals, &failing, &Default::default(), Some(&logs))
        .await;
    let mut quarantine = Quarantine::of(&session.home().private, &session.id, cycle);
    for note in links.settle(&mut quarantine)? {
        if progress.note_found(&note) {
            session.events.warn(note);
        }
    }
    let measured = measured?;
    let passing: Vec<_> = measured
        .iter()
        .filter(|measurement| measurement.result == CheckResult::Pass)
        .map(|measurement| measurement.id.clone())
        .collect();
    if passing.is_empty() {
        return Ok(());
    }
    let dirty = (Workspace {
        repo: session.home(),
    })
    .dirty_files()?;
    let uncommitted = match dirty.is_empty() {
        true => String::new(),
        false => format!(", and changes that are not committed: {}", some_of(&dirty)),
    };
    session.events.warn(format!(
        "{} would pass in the checkout and not in a copy of what is committed; the checkout has what git does not track: {}{uncommitted} — lend it with --link PATH, or let --prepare CMD make it",
        passing.join(", "),
        some_of(&lacking)
    ));
    Ok(())
}

/// Lists what the checkout has that git ignores or does not track, and that no slot is lent; and what git does not track.
fn lacking(session: &Session) -> Result<(Vec<String>, Vec<Vec<u8>>)> {
    let (status, ..) = (Workspace {
        repo: session.home(),
    })
    .look_at_all(&mut Folders::default())?;
    let lent = &session.options.provisions.link;
    let paths = status.ignored.iter().chain(&status.untracked);
    let shown = paths.map(|path| String::from_utf8_lossy(path).into_owned());
    let lacking = shown
        .filter(|path| !path.starts_with(".agents/evolve/"))
        .filter(|path| !lent.iter().any(|lent| path.trim_end_matches('/') == lent))
        .collect();
    Ok((lacking, status.untracked))
}
