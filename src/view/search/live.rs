//! What goes on in a search at this moment, lane by lane, for the live board. Pure: events and times in, lines out.

use std::collections::BTreeMap;
use std::time::Instant;

use super::{counted, stale, story};
use crate::event::Event;
use crate::model::mask;
use crate::model::search::view::{Digits, Overview, Row, in_percent, percent};
use crate::model::text::{clean_line, clock, count};
use crate::model::usage::{Spent, Usage, dollars};
use crate::view::style::{Cell, FAINT, STRONG};

/// The state of a search, as far as it is drawn.
#[derive(Clone, Debug)]
pub struct Search {
    overview: Overview,
    /// How many attempts ended how.
    endings: Vec<(&'static str, u64)>,
    /// The best attempt with its score, if it is not the baseline.
    best: Option<(u64, Option<f64>)>,
    /// How many attempts (climb) or generations (population) had no new best, in a row.
    stale: u64,
    /// The generation that is under way, where there are some.
    generation: Option<u64>,
    spent: Spent,
    /// By lane.
    agents: BTreeMap<usize, AtWork>,
    benches: BTreeMap<usize, AtWork>,
}

/// What is done in a lane.
#[derive(Clone, Debug)]
struct AtWork {
    attempt: u64,
    what: String,
    since: Instant,
    usage: Usage,
    turns: u64,
    last: Option<String>,
}

impl AtWork {
    fn new(attempt: u64, what: String, since: Instant) -> AtWork {
        AtWork {
            attempt,
            what,
            since,
            usage: Usage::default(),
            turns: 0,
            last: None,
        }
    }
}

impl Search {
    /// Begins where a search stands.
    pub fn new(overview: &Overview) -> Search {
        let used = |name| {
            let limit = overview.limits.iter().find(|limit| limit.name == name);
            limit.and_then(|limit| limit.used).map(|used| used as u64)
        };
        let ended = overview
            .endings
            .iter()
            .filter(|(ending, _)| *ending != "under way");
        Search {
            endings: ended.copied().collect(),
            best: overview
                .row(overview.best)
                .filter(|row| !row.is_baseline())
                .map(|row| (row.id, row.score)),
            stale: used("stale").unwrap_or(0),
            generation: used("generations"),
            spent: overview.spent,
            agents: BTreeMap::new(),
            benches: BTreeMap::new(),
            overview: overview.clone(),
        }
    }

    /// Takes in what happened.
    pub fn take(&mut self, event: &Event, now: Instant) {
        match event {
            Event::AttemptStarted { attempt, lane, .. } => {
                let what = story::begun(event);
                self.agents.insert(*lane, AtWork::new(*attempt, what, now));
            }
            Event::AttemptMeasuring {
                attempt,
                purpose,
                beside,
                lane,
            } => {
                let what = story::measuring(*attempt, purpose, *beside);
                self.benches.insert(*lane, AtWork::new(*attempt, what, now));
            }
            Event::AgentActivity { .. } => self.agent_did(event),
            Event::AttemptEdited {
                attempt,
                tokens,
                cost_usd,
                ..
            } => {
                self.agents.retain(|_, one| one.attempt != *attempt);
                self.spent.add(Usage {
                    tokens: *tokens,
                    cost_usd: *cost_usd,
                });
            }
            Event::AttemptMeasured { attempt, .. } => {
                self.benches.retain(|_, one| one.attempt != *attempt);
            }
            Event::AttemptEnded {
                attempt,
                best,
                best_score,
                baseline,
            } => {
                // Somebody may have pruned what was the best.
                self.best = (*best > 0).then_some((*best, *best_score));
                self.ended(attempt, *baseline);
            }
            Event::GenerationEnded { generation } => {
                self.stale = generation.stale;
                self.generation = Some(generation.number + 1);
            }
            _ => {}
        }
    }

    fn agent_did(&mut self, event: &Event) {
        let Event::AgentActivity {
            turns,
            tokens,
            cost_usd,
            last,
            attempt: Some(attempt),
            ..
        } = event
        else {
            return;
        };
        for one in self
            .agents
            .values_mut()
            .filter(|one| one.attempt == *attempt)
        {
            one.turns = turns.unwrap_or(0);
            one.usage = Usage {
                tokens: *tokens,
                cost_usd: *cost_usd,
            };
            if let Some(last) = last {
                one.last = Some(mask::secrets(&clean_line(last)));
            }
        }
    }

    fn ended(&mut self, row: &Row, baseline: Option<f64>) {
        self.overview.baseline = baseline;
        if row.is_baseline() {
            return;
        }
        match self
            .endings
            .iter_mut()
            .find(|(ending, _)| *ending == row.ending)
        {
            Some((_, count)) => *count += 1,
            None => self.endings.push((row.ending, 1)),
        }
        if self.overview.strategy == "climb" {
            self.stale = if row.new_best { 0 } else { self.stale + 1 };
        }
    }

    /// Says whether something is under way.
    pub fn is_at_work(&self) -> bool {
        !self.agents.is_empty() || !self.benches.is_empty()
    }

    /// Returns what the best is.
    pub fn heading(&self) -> Vec<Cell> {
        let overview = &self.overview;
        let name = format!("search {} · {} · ", overview.search, overview.strategy);
        let best = match (self.best, overview.baseline) {
            (Some((id, score)), baseline) => {
                let digits = Digits::of(score.into_iter().chain(baseline));
                let shown =
                    score.map_or(String::new(), |score| format!(", {}", digits.show(score)));
                let percent = percent(score, baseline)
                    .map_or(String::new(), |it| format!(" ({})", in_percent(it)));
                format!("best: attempt {id}{shown}{percent}")
            }
            (None, Some(baseline)) => {
                let digits = Digits::default();
                format!("best: the baseline, {}", digits.show(baseline))
            }
            (None, None) => "no score yet".to_owned(),
        };
        vec![Cell::plain(name), Cell(STRONG, best)]
    }

    /// Returns what is done in each lane, and how attempts ended so far.
    pub fn lines(&self, now: Instant, most: usize) -> Vec<Vec<Cell>> {
        let mut lines = Vec::new();
        let ended: u64 = self.endings.iter().map(|(_, count)| count).sum();
        if ended > 0 {
            lines.push(vec![Cell::plain(format!(
                "  {}",
                counted(ended, &self.endings)
            ))]);
        }
        let lanes: Vec<&AtWork> = self.agents.values().chain(self.benches.values()).collect();
        let room = most.saturating_sub(lines.len());
        // What agents do is told where there is a line for it.
        let has_last = lanes.iter().filter(|one| one.last.is_some()).count() + lanes.len() <= room;
        let shown = if lanes.len() > room {
            room.saturating_sub(1)
        } else {
            lanes.len()
        };
        for one in &lanes[..shown] {
            let turns = usize::try_from(one.turns).unwrap_or(usize::MAX);
            let turns = match turns {
                0 => String::new(),
                turns => format!(" · {}", count(turns, "turn")),
            };
            lines.push(vec![
                Cell::plain(format!("  {}", one.what)),
                Cell(
                    FAINT,
                    format!("  {}{turns}", clock(now.duration_since(one.since))),
                ),
            ]);
            if let Some(last) = one.last.as_ref().filter(|_| has_last) {
                lines.push(vec![Cell(FAINT, format!("    {last}"))]);
            }
        }
        if lanes.len() > shown {
            let left = lanes.len() - shown;
            lines.push(vec![Cell(FAINT, format!("  and {left} more"))]);
        }
        lines
    }

    /// Returns what of the limits is used, besides time.
    pub fn used(&self) -> Vec<String> {
        let mut spent = self.spent;
        self.agents.values().for_each(|one| {
            if one.usage != Usage::default() {
                spent.add(one.usage);
            }
        });
        let ended: u64 = self.endings.iter().map(|(_, count)| count).sum();
        let under_way = self.agents.values().chain(self.benches.values());
        // One may be measured again after its ending.
        let newest = under_way.map(|one| one.attempt).max();
        let attempts = ended.max(newest.unwrap_or(0));
        let mut words = Vec::new();
        let mut costs = None;
        for limit in &self.overview.limits {
            match limit.name {
                "attempts" => words.push(format!("attempt {attempts} of {}", limit.of)),
                "generations" => {
                    let now = self.generation.unwrap_or(1).min(limit.of as u64);
                    words.push(format!("generation {now} of {}", limit.of));
                }
                "stale" => words.push(stale(self.stale, limit.of)),
                "cost" => costs = Some(limit.of),
                _ => {}
            }
        }
        let cost = match spent.tells_cost() {
            true => dollars(spent.cost_usd),
            false => "cost unknown".to_owned(),
        };
        match costs {
            Some(limit) => words.push(format!("{cost} of {}", dollars(limit))),
            None if spent.cost_usd > 0.0 => words.push(cost),
            None => {}
        }
        words
    }

    /// Returns how long a session may last, in seconds, if that is limited.
    pub fn max_time_s(&self) -> Option<f64> {
        let time = self
            .overview
            .limits
            .iter()
            .find(|limit| limit.name == "time");
        time.map(|limit| limit.of)
    }
}
