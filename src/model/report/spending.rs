//! What the agents used, by session and by agent. What an agent did not say is unknown, never nothing. Pure.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{NAME, line, moment};
use crate::model::record::Record;
use crate::model::text;
use crate::model::usage::{Spent, Usage};

/// How many sessions, and how many agents, are told.
const ROWS: usize = 20;

/// What the agents used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spending {
    /// How many calls there were.
    pub calls: u64,
    /// Tokens and cost of all of them, in words.
    pub words: String,
    /// By session, the newest first.
    pub sessions: Vec<Spender>,
    /// How many older sessions there are.
    pub more_sessions: usize,
    /// By agent.
    pub agents: Vec<Spender>,
}

/// What one session or one agent used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spender {
    /// Its name.
    pub name: String,
    /// When it began; empty for an agent.
    pub began: String,
    /// How many cycles there were.
    pub cycles: usize,
    /// How many calls of an agent.
    pub calls: u64,
    /// How long agents worked.
    pub worked: String,
    /// The tokens.
    pub amount: String,
    /// The cost.
    pub cost: String,
}

/// Returns what the agents of all cycles used.
pub(super) fn of(records: &[Record]) -> Spending {
    let spent = total(records.iter());
    let mut sessions = groups(records, |record| {
        Some(record.session.as_deref().unwrap_or("unknown").to_owned())
    });
    sessions.reverse();
    let mut agents = groups(records, |record| Some(record.called_agent()?.name.clone()));
    agents.truncate(ROWS);
    for agent in &mut agents {
        agent.began.clear();
    }
    let more_sessions = sessions.len().saturating_sub(ROWS);
    sessions.truncate(ROWS);
    Spending {
        calls: spent.calls,
        words: spent.words(),
        sessions,
        more_sessions,
        agents,
    }
}

/// Returns what the agents of these cycles used together.
pub(super) fn total<'a>(records: impl Iterator<Item = &'a Record>) -> Spent {
    let mut spent = Spent::default();
    for agent in records.filter_map(Record::called_agent) {
        spent.add(Usage {
            tokens: agent.tokens,
            cost_usd: agent.cost_usd,
        });
    }
    spent
}

/// Returns what was used by each of those that `name` tells apart, in the order in which they first appear.
fn groups(records: &[Record], name: impl Fn(&Record) -> Option<String>) -> Vec<Spender> {
    let mut places = BTreeMap::new();
    let mut groups: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records {
        let Some(name) = name(record) else { continue };
        let place = *places.entry(name.clone()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((name, Vec::new()));
        }
        groups[place].1.push(record);
    }
    groups
        .iter()
        .map(|(name, records)| spender(name, records))
        .collect()
}

fn spender(name: &str, records: &[&Record]) -> Spender {
    let spent = total(records.iter().copied());
    let agents = records.iter().filter_map(|record| record.called_agent());
    let seconds: f64 = agents.map(|agent| agent.duration_s.max(0.0)).sum();
    let said = |words: String| match spent.calls {
        0 => "–".to_owned(),
        _ => words,
    };
    Spender {
        name: line(name, NAME),
        began: records
            .first()
            .map_or(String::new(), |it| moment(&it.timestamp)),
        cycles: records.len(),
        calls: spent.calls,
        worked: said(text::duration(seconds)),
        amount: said(spent.token_words()),
        cost: said(spent.cost_words()),
    }
}
