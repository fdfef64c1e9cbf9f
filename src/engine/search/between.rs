//! Between generations somebody may be asked how to go on.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crate::error::Result;
use crate::model::search::lineage::{Adjustment, Lineage};
use crate::session::{Cut, Site};

/// How often it is looked for a STOP file meanwhile.
const LOOK: Duration = Duration::from_millis(200);

/// How to go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// As before.
    Go,
    /// Otherwise; then it is asked again.
    Adjust(Adjustment),
    /// Not now; what there is stays.
    Stop,
    /// Not at all: everything of the search is removed.
    Discard,
}

/// An answer that is waited for.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer>> + 'a>>;

/// Who is asked. Nothing else of the search runs meanwhile.
pub trait Between {
    /// Asks before a further generation begins.
    fn ask<'a>(&'a mut self, lineage: &'a Lineage, generation: u64) -> Answering<'a>;
}

/// Nobody: it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

impl Between for Nobody {
    fn ask<'a>(&'a mut self, _lineage: &'a Lineage, _generation: u64) -> Answering<'a> {
        Box::pin(async { Ok(Answer::Go) })
    }
}

/// Asks; a STOP file, `evolve search stop`, KILL, a signal or the limit of time ends the wait.
pub async fn ask(
    site: &Site,
    between: &mut dyn Between,
    lineage: &Lineage,
    generation: u64,
) -> Result<Answer, Cut> {
    let mut answer = between.ask(lineage, generation);
    loop {
        tokio::select! {
            answer = &mut answer => return Ok(answer?),
            () = site.stop.halted() => {}
            () = tokio::time::sleep(LOOK) => {}
        }
        if let Some(halt) = site.stop.halt() {
            return Err(halt.into());
        }
        if site.stop.asked_to_stop().is_some() || site.store.is_asked_to_stop() {
            return Ok(Answer::Stop);
        }
    }
}
