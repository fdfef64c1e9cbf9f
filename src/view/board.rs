//! What goes on at this moment, in a few lines that are drawn over and over. Pure: events and times in, lines out.

use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthChar;

use crate::event::Event;
use crate::model::goals::Limits;
use crate::model::mask;
use crate::model::record::UNDO;
use crate::model::snapshot::CheckResult;
use crate::model::text::{clean_line, clock, count, duration};
use crate::model::usage::{self, Spent, Usage};
use crate::view::search::live::Search;
use crate::view::style::{BAD, Cell, FAINT, STRONG, paint, width};

/// The most lines that are drawn, however tall the screen is: whoever watches looks for what has changed.
const MOST_LINES: usize = 12;
/// What stands between words that each say one thing.
const BETWEEN: &str = " · ";
/// The widest bar, in characters; of few checks each is one.
const BAR: usize = 20;
/// The narrowest bar that is drawn where there is little room.
const LEAST_BAR: usize = 3;
/// How much of an agent's name is shown at least, in characters.
const LEAST_NAME: usize = 16;
/// The purpose that says no more than that goals are measured.
const ITSELF: &str = "measure";

/// How many lines there have to be for one of them to be a mere rule, and how long that is.
const ROOMY: usize = 8;
const RULE: usize = 24;

/// How large a screen is, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How many lines it has.
    pub lines: usize,
    /// How many characters fit on each.
    pub columns: usize,
}

/// How far something has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Nothing is going on.
    None,
    /// Something is, and nobody knows for how long.
    Unknown,
    /// So many percent are done.
    Percent(u8),
}

/// The state of a session, as far as it is drawn.
#[derive(Clone, Debug)]
pub struct Board {
    began: Instant,
    limits: Limits,
    /// How many cycles have ended.
    cycles: u64,
    /// What agents that have ended reported.
    spent: Spent,
    /// The cycle's number, and what is worked on.
    cycle: Option<(u64, String)>,
    /// The cycle's heading was told for good.
    is_headed: bool,
    doing: Doing,
    /// The search, where the session is one.
    search: Option<Box<Search>>,
}

/// What is being done.
#[derive(Clone, Debug)]
enum Doing {
    Nothing,
    Measuring(Checks),
    Sweeping { with: String, since: Instant },
    Agent(Box<AtWork>),
    Waiting { until: Instant, reason: String },
}

#[derive(Clone, Debug)]
struct Checks {
    purpose: &'static str,
    all: usize,
    done: usize,
    failing: usize,
    running: Vec<Running>,
}

#[derive(Clone, Debug)]
struct Running {
    goal_id: String,
    since: Instant,
    expected: Option<f64>,
}

#[derive(Clone, Debug)]
struct AtWork {
    name: String,
    since: Instant,
    turns: u64,
    files: usize,
    usage: Usage,
    last: Option<String>,
}

impl Board {
    /// An empty board of a session that begins now.
    pub fn new(now: Instant) -> Board {
        Board {
            began: now,
            limits: Limits::default(),
            cycles: 0,
            spent: Spent::default(),
            cycle: None,
            is_headed: false,
            doing: Doing::Nothing,
            search: None,
        }
    }

    /// Takes in what happened.
    pub fn take(&mut self, event: &Event, now: Instant) {
        if let Some(search) = &mut self.search {
            search.take(event, now);
        }
        match event {
            Event::SessionStarted { limits, .. } => self.limits = limits.clone(),
            Event::CycleStarted { cycle, .. } => {
                self.cycle = Some((*cycle, String::new()));
                self.is_headed = false;
            }
            Event::Selected {
                goal_id, reason, ..
            } => {
                if let Some((_, what)) = &mut self.cycle {
                    *what = clean_line(&format!("{goal_id}: {reason}"));
                }
            }
            Event::MeasureStarted {
                checks, purpose, ..
            } => {
                self.doing = Doing::Measuring(Checks {
                    purpose,
                    all: *checks,
                    done: 0,
                    failing: 0,
                    running: Vec::new(),
                });
            }
            Event::CheckStarted {
                goal_id,
                expected_s,
            } => {
                if let Doing::Measuring(checks) = &mut self.doing {
                    checks.running.push(Running {
                        goal_id: clean_line(goal_id),
                        since: now,
                        expected: *expected_s,
                    });
                }
            }
            Event::CheckFinished { measurement } => {
                if let Doing::Measuring(checks) = &mut self.doing {
                    let id = clean_line(&measurement.id);
                    checks.running.retain(|running| running.goal_id != id);
                    checks.done += 1;
                    checks.failing += usize::from(measurement.result == CheckResult::Fail);
                }
            }
            Event::SweepStarted { with } => {
                self.doing = Doing::Sweeping {
                    with: clean_line(with),
                    since: now,
                }
            }
            Event::AgentStarted { name, .. } => {
                self.doing = Doing::Agent(Box::new(AtWork {
                    name: clean_line(name),
                    since: now,
                    turns: 0,
                    files: 0,
                    usage: Usage::default(),
                    last: None,
                }));
            }
            Event::AgentActivity { .. } => self.agent_did(event),
            Event::AgentFinished {
                tokens, cost_usd, ..
            } => {
                // From here on it stands above what has ended.
                self.is_headed = true;
                if !self.is_undo() {
                    self.spent.add(Usage {
                        tokens: *tokens,
                        cost_usd: *cost_usd,
                    });
                }
                self.doing = Doing::Nothing;
            }
            Event::Waiting { seconds, reason } => {
                let wait = Duration::try_from_secs_f64(*seconds).unwrap_or_default();
                self.doing = Doing::Waiting {
                    until: now.checked_add(wait).unwrap_or(now),
                    reason: clean_line(reason),
                };
            }
            Event::MeasureFinished { .. } => self.doing = Doing::Nothing,
            Event::CycleFinished { .. } => {
                self.cycles += 1;
                self.cycle = None;
                self.doing = Doing::Nothing;
            }
            Event::SearchStarted { overview, .. } => {
                let search = Search::new(overview);
                self.limits.max_time = search
                    .max_time_s()
                    .and_then(|time| Duration::try_from_secs_f64(time).ok());
                self.search = Some(Box::new(search));
            }
            Event::AttemptStarted { .. }
            | Event::AttemptEdited { .. }
            | Event::AttemptMeasuring { .. }
            | Event::AttemptMeasured { .. }
            | Event::AttemptEnded { .. }
            | Event::GenerationEnded { .. }
            | Event::SearchEnded { .. }
            | Event::Warning { .. }
            | Event::SessionEnded { .. } => {}
            // A note is told below the heading.
            Event::Note { .. } => {
                let is_known = self
                    .cycle
                    .as_ref()
                    .is_some_and(|(_, what)| !what.is_empty());
                self.is_headed |= is_known;
            }
        }
    }

    /// Says whether what is at work is no agent: what a person asked `evolve` itself to do costs nothing.
    fn is_undo(&self) -> bool {
        matches!(&self.doing, Doing::Agent(agent) if agent.name == UNDO)
    }

    fn agent_did(&mut self, event: &Event) {
        if let (
            Doing::Agent(agent),
            Event::AgentActivity {
                turns,
                files,
                tokens,
                cost_usd,
                last,
                ..
            },
        ) = (&mut self.doing, event)
        {
            agent.turns = turns.unwrap_or(0);
            agent.files = files.unwrap_or(0);
            agent.usage = Usage {
                tokens: *tokens,
                cost_usd: *cost_usd,
            };
            if let Some(last) = last {
                agent.last = Some(mask::secrets(&clean_line(last)));
            }
        }
    }

    /// Returns how far the present work has come.
    pub fn share(&self) -> Share {
        if self
            .search
            .as_ref()
            .is_some_and(|search| search.is_at_work())
        {
            return Share::Unknown;
        }
        match &self.doing {
            Doing::Measuring(checks) => {
                let percent = 100 * checks.done / checks.all.max(1);
                Share::Percent(u8::try_from(percent.min(100)).unwrap_or(100))
            }
            Doing::Sweeping { .. } | Doing::Agent(_) => Share::Unknown,
            Doing::Waiting { .. } | Doing::Nothing => Share::None,
        }
    }

    /// Returns what is to be seen now: never more than fits on the screen, with a line left for what is above.
    pub fn lines(&self, now: Instant, size: Size) -> Vec<String> {
        let most = size.lines.saturating_sub(1).min(MOST_LINES);
        let cycle = self.cycle.as_ref().filter(|_| !self.is_headed);
        let heading = cycle.map(|(cycle, what)| {
            let cycle = Cell::plain(format!("cycle {cycle}"));
            match what.is_empty() {
                true => vec![cycle],
                false => vec![cycle, Cell::plain(" · "), Cell(STRONG, what.clone())],
            }
        });
        let of_search = self.search.as_ref().map(|search| search.heading());
        let heading = heading.or(of_search);
        let heading = Vec::from_iter(heading);
        // Apart from what is said for good above it.
        let rule = (most >= ROOMY).then(|| vec![Cell(FAINT, "─".repeat(RULE))]);
        let footing_lines = 1 + usize::from(rule.is_some());
        let footing = packed(
            &self.footing(now),
            size.columns.saturating_sub(1),
            footing_lines,
        );
        let footing = footing.into_iter().map(|line| vec![Cell(FAINT, line)]);
        let room = most.saturating_sub(usize::from(rule.is_some()) + heading.len() + footing.len());
        let doing = match &self.search {
            Some(search) => search.lines(now, room),
            None => self.doing.lines(now, room, size.columns),
        };
        let all = rule.into_iter().chain(heading);
        let all = all.chain(doing).chain(footing);
        all.take(most)
            .map(|line| fitted(&line, size.columns.saturating_sub(1)))
            .collect()
    }

    /// Returns how long the session has taken, and what of its limits is used, in words of which each says one thing.
    fn footing(&self, now: Instant) -> Vec<String> {
        let took = clock(now.duration_since(self.began));
        let mut words = vec![match self.limits.max_time {
            Some(limit) => format!("{took} of {}", clock(limit)),
            None => took,
        }];
        if let Some(limit) = self.limits.max_cycles {
            words.push(match self.cycles + u64::from(self.cycle.is_some()) {
                0 => format!(
                    "at most {}",
                    count(usize::try_from(limit).unwrap_or(usize::MAX), "cycle")
                ),
                now => format!("cycle {now} of {limit}"),
            });
        }
        if let Some(search) = &self.search {
            words.extend(search.used());
            return words;
        }
        let mut spent = self.spent;
        if let Doing::Agent(agent) = &self.doing
            && !self.is_undo()
        {
            spent.add(agent.usage);
        }
        let cost = usage::dollars(spent.cost_usd);
        match self.limits.max_cost {
            Some(limit) if spent.tells_cost() => {
                words.push(format!("{cost} of {}", usage::dollars(limit)));
            }
            Some(limit) => words.push(format!("cost unknown, limit {}", usage::dollars(limit))),
            None if spent.cost_usd > 0.0 => words.push(cost),
            None => {}
        }
        if let Some(limit) = self.limits.max_tokens {
            let (known, limit) = (usage::tokens(spent.tokens), usage::tokens(limit));
            let known = known.split(' ').next().unwrap_or_default();
            words.push(match spent.tells_tokens() {
                true => format!("{known} of {limit}"),
                false => format!("tokens unknown, limit {limit}"),
            });
        }
        words
    }
}

impl Doing {
    fn lines(&self, now: Instant, most: usize, columns: usize) -> Vec<Vec<Cell>> {
        let since = |then: Instant| clock(now.duration_since(then));
        let lines = match self {
            Doing::Nothing => Vec::new(),
            Doing::Measuring(checks) => checks.lines(now, most, columns),
            Doing::Sweeping { with, since: then } => {
                vec![vec![Cell::plain(format!(
                    "  sweep {} · {with}",
                    since(*then)
                ))]]
            }
            Doing::Agent(agent) => agent.lines(now, columns),
            Doing::Waiting { until, reason } => {
                let left = clock(until.saturating_duration_since(now));
                vec![vec![Cell::plain(format!(
                    "  waiting {left} more: {reason}"
                ))]]
            }
        };
        lines.into_iter().take(most).collect()
    }
}

/// Says what is measured, where its purpose in one word does not.
fn in_words(purpose: &str) -> &str {
    match purpose {
        "blame" => "again without the change",
        "confirm" => "again what fails newly",
        "recheck" => "the goal again, alone",
        "rebuilt" => "again what ran an older build",
        "alone" => "which check changed files",
        "apart" => "each goal on what is committed",
        "apart-start" => "each goal on what was committed before",
        purpose => purpose,
    }
}

impl Checks {
    /// Returns how many checks are done, then the running ones, those first that run the longest.
    fn lines(&self, now: Instant, most: usize, columns: usize) -> Vec<Vec<Cell>> {
        let what = match self.purpose {
            ITSELF => "  measuring".to_owned(),
            purpose => format!("  measuring ({})", in_words(purpose)),
        };
        let mut counted = vec![Cell::plain(format!(
            "{} of {}",
            self.done,
            count(self.all, "check")
        ))];
        if self.failing > 0 {
            counted.push(Cell::plain(" · "));
            counted.push(Cell(BAD, format!("{} failing", self.failing)));
        }
        // The counts say more than the bar, which takes what they leave.
        let taken: usize = counted.iter().map(|Cell(_, text)| width(text)).sum();
        let room = columns.saturating_sub(width(&what) + taken + 3);
        let bar = match room < LEAST_BAR {
            true => " ".to_owned(),
            false => {
                let wide = self.all.clamp(1, BAR).min(room);
                format!(" {} ", bar(self.done, self.all, wide))
            }
        };
        let mut head = vec![Cell::plain(format!("{what}{bar}"))];
        head.extend(counted);
        let room = most.saturating_sub(1);
        let shown = match self.running.len() > room {
            true => room.saturating_sub(1),
            false => room,
        };
        let widest = self.running.iter().take(shown);
        // However long ids are, the times beside them are to be seen.
        let widest = widest.map(|one| width(&one.goal_id)).max().unwrap_or(0);
        let widest = widest.min(columns / 2);
        let mut lines = vec![head];
        for one in self.running.iter().take(shown) {
            let id = fitted(&[Cell::plain(one.goal_id.as_str())], widest);
            let gap = " ".repeat(widest.saturating_sub(width(&id)));
            let expected = one.expected.map_or(String::new(), |expected| {
                format!(" of about {}", duration(expected))
            });
            let took = clock(now.duration_since(one.since));
            lines.push(vec![
                Cell::plain(format!("    {id}{gap}  ")),
                Cell(FAINT, format!("{took}{expected}")),
            ]);
        }
        if self.running.len() > shown {
            let left = self.running.len() - shown;
            lines.push(vec![Cell(FAINT, format!("    and {left} more"))]);
        }
        lines
    }
}

impl AtWork {
    /// However long its name is, what it has used stands beside it.
    fn lines(&self, now: Instant, columns: usize) -> Vec<Vec<Cell>> {
        let who = match self.name == UNDO {
            true => self.name.clone(),
            false => format!("agent {}", self.name),
        };
        let mut words = vec![clock(now.duration_since(self.since))];
        if self.turns > 0 {
            let turns = usize::try_from(self.turns).unwrap_or(usize::MAX);
            words.push(count(turns, "turn"));
        }
        if self.files > 0 {
            words.push(count(self.files, "file"));
        }
        if self.usage.tokens.is_some() || self.usage.cost_usd.is_some() {
            words.push(self.usage.words());
        }
        let room = columns.saturating_sub(1);
        let figures: usize = words.iter().map(|word| width(word) + width(BETWEEN)).sum();
        let least = width(&who).min(LEAST_NAME);
        let name = room.saturating_sub(figures + 2).max(least);
        words.insert(0, fitted(&[Cell::plain(who)], name));
        let lines = packed(&words, room, 1).into_iter();
        let mut lines: Vec<_> = lines.map(|line| vec![Cell::plain(line)]).collect();
        if let Some(last) = &self.last {
            lines.push(vec![Cell(FAINT, format!("    {last}"))]);
        }
        lines
    }
}

/// Returns words side by side in at most so many lines; those that do not fit are left out. Only one for itself may be longer.
fn packed(words: &[String], columns: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        let is_last = lines.len() == most;
        match lines.last_mut() {
            Some(line) if width(line) + width(BETWEEN) + width(word) <= columns => {
                line.push_str(BETWEEN);
                line.push_str(word);
            }
            Some(_) if is_last => break,
            Some(_) | None => lines.push(format!("  {word}")),
        }
    }
    lines
}

/// Returns a bar of which as much is filled as is done.
fn bar(done: usize, all: usize, wide: usize) -> String {
    let filled = (done * wide / all.max(1)).min(wide);
    format!("{}{}", "━".repeat(filled), "╌".repeat(wide - filled))
}

/// Returns the cells side by side in their styles, cut to what fits.
fn fitted(cells: &[Cell], columns: usize) -> String {
    let whole: usize = cells.iter().map(|Cell(_, text)| width(text)).sum();
    let room = match whole > columns {
        true => columns.saturating_sub(1),
        false => columns,
    };
    let mut line = String::new();
    let mut used = 0;
    'cells: for Cell(style, text) in cells {
        let mut piece = String::new();
        for c in text.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > room {
                piece.push('…');
                line.push_str(&paint(*style, &piece));
                break 'cells;
            }
            used += wide;
            piece.push(c);
        }
        line.push_str(&paint(*style, &piece));
    }
    line
}

#[cfg(test)]
mod tests;
