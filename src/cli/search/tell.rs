//! Tells that a session of a search begins and ends.

use crate::event::Event;
use crate::model::search::lineage::Lineage;
use crate::model::search::view::{Limit, Overview};
use crate::search::overview;
use crate::session::Searching;

/// How a session of a search ended.
#[derive(Debug)]
pub struct Ending {
    /// The ending in one word.
    pub word: &'static str,
    /// In words.
    pub reason: String,
    /// The exit code that follows.
    pub exit_code: u8,
}

/// Tells that a session begins, with the limits that it has.
pub fn began(session: &Searching, lineage: &Lineage, max_time_s: Option<f64>) {
    let site = &session.site;
    let mut overview = overview::of(lineage, site.store.number);
    overview
        .limits
        .retain(|limit| !matches!(limit.name, "cost" | "time"));
    let mut limit = |name, used, of: Option<f64>| {
        overview
            .limits
            .extend(of.map(|of| Limit { name, used, of }));
    };
    limit("cost", lineage.spent().known_cost(), site.request.max_cost);
    limit("time", None, max_time_s);
    site.events.send(Event::SearchStarted {
        session: site.id.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        overview: Box::new(overview),
        agent: session.agent.name.clone(),
        agent_found: session.agent.is_found,
        protections: site.sandbox.protections.clone(),
    });
}

/// Tells that it ended; returns where the search stands.
pub fn ended(session: &Searching, lineage: &Lineage, ending: &Ending) -> Overview {
    let overview = overview::of(lineage, session.site.store.number);
    session.site.events.send(Event::SearchEnded {
        reason: ending.reason.clone(),
        ending: ending.word,
        exit_code: ending.exit_code,
        overview: Box::new(overview.clone()),
    });
    overview
}
