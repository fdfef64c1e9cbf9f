//! Tells whoever watches what goes on in a search: what begins, what is written down, and what follows from that.

use crate::event::Event;
use crate::model::search::lineage::{Edited, Entry, Id, Lineage, Measure, Measured, Outcome, Word};
use crate::model::{mask, text};
use crate::search::standing::{Known, Standing};
use crate::search::{Task, overview};
use crate::session::Searching;

/// How much of a note is told, in characters.
const NOTE: usize = 300;

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

/// Tells of an entry that was written down.
pub fn written(session: &Searching, entry: &Entry) {
    match entry {
        Entry::Edit { id, edited } => session.site.events.send(edited_event(*id, edited)),
        Entry::Measurement { id, what, measured } => {
            session
                .site
                .events
                .send(measured_event(*id, *what, measured));
        }
        Entry::Note(note) => taken_in(&note.word)
            .into_iter()
            .for_each(|words| session.site.events.note(words)),
        Entry::Header(_) | Entry::Attempt(_) | Entry::End(_) | Entry::Resumed { .. } => {}
    }
}

/// Says what somebody asks of a search from now on; what was asked for at the question is told there.
fn taken_in(word: &Word) -> Option<String> {
    match word {
        Word::Instruction(words) if words.is_empty() => None,
        Word::Instruction(words) => Some(format!(
            "noted, for every brief from now on: {}",
            text::cut(&mask::secrets(&text::clean_line(words)), NOTE)
        )),
        Word::Prune(id) => Some(format!(
            "attempt {id} is pruned, and what was made from it: not bred from any more, and not the best"
        )),
        Word::Adjust(_) => None,
    }
}

/// Returns how many attempts have their ending.
pub fn settled(known: &mut Known, lineage: &Lineage) -> Id {
    let first = lineage.attempt(0).measurement(Measure::First);
    match first.map(|first| &first.outcome) {
        Some(Outcome::Scored { .. }) => {
            let standing = Standing::from(std::mem::take(known), lineage);
            let settled = standing.len();
            *known = standing.into_known();
            settled
        }
        Some(Outcome::GateFailed(_) | Outcome::Invalid(_)) | None => 0,
    }
}

/// Tells of the attempts that have their endings now and had none when it was told last.
pub fn endings(session: &Searching, lineage: &Lineage, known: &mut Known, told: &mut Id) {
    let settled = settled(known, lineage);
    if settled > *told {
        let standing = Standing::from(std::mem::take(known), lineage);
        tell_of(session, &standing, *told);
        *known = standing.into_known();
        *told = settled;
    }
}

/// Tells of the attempts from `was_settled` on, and of the generations that are complete with them.
fn tell_of(session: &Searching, standing: &Standing, was_settled: Id) {
    let generations = overview::generations(standing);
    for id in was_settled..standing.len() {
        let best = standing.winner_after(id);
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
