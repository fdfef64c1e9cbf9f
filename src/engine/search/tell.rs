//! Tells whoever watches what goes on in a search: what begins, what is written down, and what follows from that.

use crate::event::Event;
use crate::model::lineage::{Edited, Entry, Id, Lineage, Measure, Measured, Outcome};
use crate::search::standing::Standing;
use crate::search::{Task, overview};
use crate::session::Searching;

/// Tells that a task begins in a lane.
pub fn begun(session: &Searching, lineage: &Lineage, task: &Task, lane: usize) {
    let lane = lane + 1;
    match *task {
        Task::Edit { id, nth } => {
            let Some(proposal) = lineage.proposal(id) else {
                return;
            };
            session.site.events.send(Event::AttemptStarted {
                attempt: id,
                operator: proposal.operator.word(),
                parents: proposal.parents.clone(),
                lens: proposal.lens.clone(),
                again: nth > 0,
                lane,
            });
        }
        Task::Measure { id, what } => session.site.events.send(Event::AttemptMeasuring {
            attempt: id,
            purpose: what.word(),
            beside: what.beside(),
            lane,
        }),
    }
}

/// Tells of an entry that the lineage has taken in, with which attempts from `was_settled` on may have their endings.
pub fn written(session: &Searching, lineage: &Lineage, entry: &Entry, was_settled: Id) {
    match entry {
        Entry::Edit { id, edited } => session.site.events.send(edited_event(*id, edited)),
        Entry::Measurement { id, what, measured } => {
            session
                .site
                .events
                .send(measured_event(*id, *what, measured));
        }
        Entry::Header(_)
        | Entry::Attempt(_)
        | Entry::Note(_)
        | Entry::End(_)
        | Entry::Resumed { .. } => return,
    }
    if settled(lineage) > was_settled {
        endings(session, &Standing::of(lineage), was_settled);
    }
}

/// Returns how many attempts have their ending.
pub fn settled(lineage: &Lineage) -> Id {
    let first = lineage.attempt(0).measurement(Measure::First);
    match first.map(|first| &first.outcome) {
        Some(Outcome::Scored { .. }) => Standing::of(lineage).len(),
        Some(Outcome::GateFailed(_) | Outcome::Invalid(_)) | None => 0,
    }
}

/// Tells of the attempts that have their endings now, and of the generations that are complete with them.
fn endings(session: &Searching, standing: &Standing, was_settled: Id) {
    let generations = overview::generations(standing);
    for id in was_settled..standing.len() {
        let best = standing.best_after(id);
        session.site.events.send(Event::AttemptEnded {
            attempt: Box::new(overview::ended_row(standing, id)),
            best,
            best_score: standing.score(best),
            baseline: standing.score(0),
        });
        for generation in generations.iter().filter(|one| one.last == id) {
            session.site.events.send(Event::GenerationEnded {
                generation: Box::new(generation.clone()),
            });
        }
    }
}

fn edited_event(attempt: Id, edited: &Edited) -> Event {
    let edited = edited.clone();
    Event::AttemptEdited {
        attempt,
        status: edited.status.word(),
        summary: edited.summary,
        reason: edited.reason,
        left_out: edited.left_out,
        duration_s: edited.duration_s,
        tokens: edited.tokens,
        cost_usd: edited.cost_usd,
    }
}

fn measured_event(attempt: Id, what: Measure, measured: &Measured) -> Event {
    Event::AttemptMeasured {
        attempt,
        sampled: Box::new(overview::one_sampled(what, measured)),
    }
}
