//! The two documents that tell people of this session; rewritten with every record.

use crate::effects::changed;
use crate::error::Result;
use crate::model::ledger as names;
use crate::model::mask;
use crate::model::snapshot::Snapshot;
use crate::model::summary::Summary;
use crate::model::trajectory::Trajectory;
use crate::session::{Ending, Progress, Session};

/// Rewrites both documents; they become part of the next commit.
pub fn write(session: &Session, progress: &mut Progress, ending: Option<&Ending>) -> Result<()> {
    let baseline = progress.ledger.snapshot(session.home(), names::BASELINE);
    let trajectory = trajectory(progress, &baseline);
    let delta = trajectory.to_markdown();
    let ledger = &progress.ledger;
    let taken_back = changed::taken_back(session.home(), &ledger.history.records);
    let queue = &ledger.queue;
    let summary = Summary {
        session: &session.id,
        started: &session.started,
        ended: ending.map(|ending| ending.reason.as_str()),
        trajectory: &trajectory.one_line(),
        recorded: &progress.recorded,
        is_asking: ending.is_some_and(Ending::is_for_a_person),
        stuck: ending.map_or(&[], |ending| &ending.stuck),
        queue: queue.counts(&session.home().name(), &taken_back),
        spent: progress.spent,
    }
    .to_markdown();
    // A record's words are masked already; those of the ending and of goals that wait for a person may be anybody's.
    let summary = mask::secrets(&summary);
    progress
        .ledger
        .write(names::SUMMARY, summary.into_bytes())?;
    progress.ledger.write(names::DELTA, delta.into_bytes())
}

/// Returns the way from the baseline and from the session's start to now.
pub fn trajectory<'a>(progress: &'a Progress, baseline: &'a Option<Snapshot>) -> Trajectory<'a> {
    Trajectory {
        baseline: baseline.as_ref(),
        start: progress.first.as_ref(),
        now: progress.newest.as_ref(),
        tally: progress.recorded.tally(),
    }
}
