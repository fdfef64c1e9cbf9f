//! One line of `cycle-history.jsonl`: what became of a cycle. Pure.

mod history;
mod passing;
pub mod put_back;
mod recorded;
mod taken_back;
pub mod times;
pub mod unseen;

use serde::{Deserialize, Serialize};

use crate::model::mask;
use crate::model::text::{self, number};

pub use history::{History, numbers, read_record};
pub use passing::BY_OTHERS;
pub use recorded::{Recorded, Tally};
pub use taken_back::{
    REFUSED, TakenBack, Turn, UNDO_CYCLE, commits_taken_back, only_change, undo_message, work_ref,
};

/// What became of a cycle (the verdict table of the README).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CycleResult {
    /// The chosen goal passes; the change is kept.
    Improved,
    /// Nothing got worse and the chosen goal still fails.
    Unchanged,
    /// The change made something worse; it is undone.
    Regressed,
    /// The agent ended badly without a change, or gave up.
    Failed,
    /// A work item was done; the change is kept.
    Harvested,
    /// The cycle was cut short.
    Interrupted,
    /// There was nothing to do.
    Idle,
}

impl CycleResult {
    /// Returns the word used in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            CycleResult::Improved => "improved",
            CycleResult::Unchanged => "unchanged",
            CycleResult::Regressed => "regressed",
            CycleResult::Failed => "failed",
            CycleResult::Harvested => "harvested",
            CycleResult::Interrupted => "interrupted",
            CycleResult::Idle => "idle",
        }
    }
}

/// How the agent of a cycle ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReport {
    /// What was run, as the user named it.
    pub name: String,
    /// `done`, `failed`, `timed out`, `idle` or `stopped`.
    pub status: String,
    /// Its exit code, unless a signal ended it.
    pub exit: Option<i32>,
    /// Wall time in seconds.
    pub duration_s: f64,
    /// Tokens, if it reported them.
    pub tokens: Option<u64>,
    /// Cost in US dollars, if it reported it.
    pub cost_usd: Option<f64>,
}

/// What one cycle did, for ever.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format; the records of before there was a format are read as the first.
    #[serde(default = "first_format")]
    pub format: u32,
    /// The cycle's number, from 1.
    pub cycle: u64,
    /// The goal, `next-work:<title>` for a work item, none when idle.
    pub goal_id: Option<String>,
    /// What became of it.
    pub result: CycleResult,
    /// HEAD after settling and before this record's own commit.
    pub commit_sha: String,
    /// The cycle's start if it was undone.
    #[serde(default)]
    pub reverted_to: Option<String>,
    /// Passing goals in the last snapshot of the cycle, as measured.
    pub goals_passing: usize,
    /// All goals in that snapshot.
    pub goals_total: usize,
    /// Goals that the cycle added to GOALS.yaml.
    #[serde(default)]
    pub goals_added: usize,
    /// When the record was made, RFC 3339 in UTC.
    pub timestamp: String,
    /// Score of the first snapshot.
    #[serde(default)]
    pub score_before: Option<f64>,
    /// Score of the last snapshot, as measured.
    #[serde(default)]
    pub score_after: Option<f64>,
    /// Goals that passed before and no longer did, or that could no longer be measured.
    #[serde(default)]
    pub newly_failing: Vec<String>,
    /// Goals that pass now and did not at the last record or before the agent.
    #[serde(default)]
    pub newly_passing: Vec<String>,
    /// Why, in words.
    #[serde(default)]
    pub reason: Option<String>,
    /// Digest of the goal's check, threshold and direction.
    #[serde(default)]
    pub definition: Option<String>,
    /// Digest of the content the cycle left.
    #[serde(default)]
    pub content: Option<String>,
    /// The session that ran it.
    #[serde(default)]
    pub session: Option<String>,
    /// How the agent ended, if one ran.
    #[serde(default)]
    pub agent: Option<AgentReport>,
    /// What a reader should know besides: files named by a check that changed, ignored files that are gone, untracked ones
    /// without a copy that are gone or were changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

fn first_format() -> u32 {
    1
}

/// The highest number that a cycle can have: the last one that every reader of JSON understands exactly. No history comes
/// near it, and what follows a number can be counted.
const LAST_CYCLE: u64 = (1 << 53) - 1;

/// The start of the reason of an undone cycle whose regression outlived the undo.
pub const ENVIRONMENT_CHANGED: &str = "environment changed";
/// What stands in it before the goals that failed without the change, too.
const ALSO_WITHOUT: &str = ": also without the change worse than before: ";
/// The note of a cycle during which somebody took the commit that it started from out of the branch.
pub const START_IS_GONE: &str = "the branch no longer holds the commit that the cycle started from";
/// The note of the first cycle where somebody took the commit out of the branch that the session's baseline was measured on.
pub const BASELINE_IS_ADRIFT: &str =
    "the branch no longer holds the commit that the baseline was measured on";
/// The start of the note that says where that commit is kept, and how the branch is put back on it.
pub const START_IS_KEPT: &str = "what the cycle started from is kept: ";
/// Stands in the reason of a cycle that was undone although nothing is wrong with its change: a person may take it in.
pub const IS_GOOD: &str = "the change is good";
/// The start of the reason where somebody else's commits kept such a change from the branch.
pub const KEPT_OFF: &str = "somebody else committed ";
/// The start of the note of a change that was brought together with commits of others; the last of these follows.
pub const TOGETHER: &str = "brought together with what somebody else committed meanwhile, up to ";
/// How the reason begins where a change was made, and the goal that it was made for still fails.
pub const STILL_FAILS: &str = "it still fails";
/// The start of the reason of a cycle whose agent gave up.
pub const DECLINED: &str = "declined: ";
/// Who worked where a person had a change taken back, as the record has it.
pub const UNDO: &str = "evolve undo";
/// The start of `goal_id` for a work item.
pub const NEXT_WORK: &str = "next-work:";

/// Returns the reason of an undone cycle after which these goals still fail.
pub fn environment_changed(still: &[String]) -> String {
    format!("{ENVIRONMENT_CHANGED}{ALSO_WITHOUT}{}", still.join(", "))
}

/// Says whether a change is undone and yet left to a person who may take it in. An agent's own words, which a reason may hold, do not
/// make it one.
pub fn is_offered(result: CycleResult, reason: Option<&str>) -> bool {
    let reason = reason.unwrap_or_default();
    let is_in_the_way = || {
        let rest = reason.strip_prefix(IS_GOOD);
        rest.is_some_and(|rest| rest.starts_with(", but "))
    };
    let is_kept_off = || reason.starts_with(KEPT_OFF) && reason.contains(IS_GOOD);
    result == CycleResult::Interrupted && (is_in_the_way() || is_kept_off())
}

/// The longest reason or note that is kept, in characters.
const LONGEST_WORDS: usize = 20_000;
/// The most bytes of notes that are kept.
const NOTES_BYTES: usize = 128 << 10;

/// Returns as many of the notes as are kept, and how many there are besides.
fn few(notes: Vec<String>) -> Vec<String> {
    if notes.iter().map(String::len).sum::<usize>() <= NOTES_BYTES {
        return notes;
    }
    let (count, mut bytes) = (notes.len(), 0);
    let mut few: Vec<String> = notes
        .into_iter()
        .take_while(|note| {
            bytes += note.len();
            // With room for what is said of the others.
            bytes <= NOTES_BYTES - 100
        })
        .collect();
    few.push(format!("and {} more", count - few.len()));
    few
}

impl Record {
    /// Returns the record as it may be kept for ever: words of others in one clean line each, without secrets.
    #[must_use]
    pub fn kept(self) -> Record {
        let safe =
            |words: String| text::cut(&mask::secrets(&text::clean_line(&words)), LONGEST_WORDS);
        let agent = self.agent.map(|agent| AgentReport {
            name: safe(agent.name),
            status: safe(agent.status),
            ..agent
        });
        Record {
            goal_id: self.goal_id.map(safe),
            reason: self.reason.map(safe),
            notes: few(self.notes.into_iter().map(safe).collect()),
            agent,
            ..self
        }
    }

    /// Says whether every goal passes after a cycle of which something came, or that had nothing to do, and that was not one of
    /// this goal's own: what passes only until the next cycle does not.
    pub fn is_all_well_beside(&self, goal_id: &str) -> bool {
        let is_own = self.goal_id.as_deref() == Some(goal_id);
        let is_good = matches!(
            self.result,
            CycleResult::Idle | CycleResult::Improved | CycleResult::Harvested
        );
        !is_own && is_good && !self.is_undone() && self.goals_passing == self.goals_total
    }

    /// Says whether the cycle counts as one without progress (rule 4). Interrupted cycles and changed environments count
    /// neither way.
    pub fn is_without_progress(&self) -> bool {
        match self.result {
            CycleResult::Regressed => !self.is_environment_change(),
            CycleResult::Unchanged | CycleResult::Failed => true,
            CycleResult::Improved
            | CycleResult::Harvested
            | CycleResult::Interrupted
            | CycleResult::Idle => false,
        }
    }

    /// Says whether the undone cycle's regression was not its own.
    pub fn is_environment_change(&self) -> bool {
        self.reason
            .as_deref()
            .is_some_and(|reason| reason.starts_with(ENVIRONMENT_CHANGED))
    }

    /// Returns the goals that failed without the undone change, too.
    pub fn still_failing(&self) -> impl Iterator<Item = &str> {
        let reason = self.reason.as_deref().unwrap_or_default();
        let ids = reason.strip_prefix(ENVIRONMENT_CHANGED);
        let ids = ids.and_then(|it| it.strip_prefix(ALSO_WITHOUT));
        ids.into_iter().flat_map(|ids| ids.split(", "))
    }

    /// Says whether the agent of the cycle gave up.
    pub fn is_declined(&self) -> bool {
        self.result == CycleResult::Failed
            && self
                .reason
                .as_deref()
                .is_some_and(|reason| reason.starts_with(DECLINED))
    }

    /// Returns the message of the commit that records the cycle.
    pub fn message(&self) -> String {
        let result = self.result.word();
        let goal = self.goal_id.as_deref().map(text::clean_line);
        let (subject, trailer) = match &goal {
            Some(goal) => (
                format!("{} {result}", text::cut(goal, 60)),
                format!("Evolve-Goal: {goal}\n"),
            ),
            None => (result.to_owned(), String::new()),
        };
        let score = self
            .score_after
            .map_or(String::new(), |score| format!("Evolve-Score: {score}\n"));
        format!(
            "evolve: cycle {0} — {subject}\n\nEvolve-Cycle: {0}\n{trailer}Evolve-Result: {result}\n{score}",
            self.cycle
        )
    }

    /// Says whether somebody took the cycle's start out of the branch meanwhile.
    pub fn has_lost_its_start(&self) -> bool {
        let is_on_the_branch =
            matches!(self.result, CycleResult::Improved | CycleResult::Harvested);
        !is_on_the_branch && self.notes.iter().any(|note| note == START_IS_GONE)
    }

    /// Says whether somebody took the commit out of the branch that the session's baseline was measured on.
    pub fn has_lost_its_baseline(&self) -> bool {
        self.notes.iter().any(|note| note == BASELINE_IS_ADRIFT)
    }

    /// Notes where the commit is kept that the cycle started from, if the branch no longer holds it.
    pub fn note_lost_start(&mut self, kept: Option<String>) {
        let Some(kept) = kept else {
            return;
        };
        if !self.notes.iter().any(|note| note == START_IS_GONE) {
            self.notes.push(START_IS_GONE.to_owned());
        }
        self.notes.push(format!("{START_IS_KEPT}{kept}"));
    }

    /// Says where the commit is kept that the cycle started from, if the branch no longer holds it, and how that is put back on it.
    pub fn kept_start(&self) -> Option<&str> {
        let mut notes = self.notes.iter();
        notes.find_map(|note| note.strip_prefix(START_IS_KEPT))
    }

    /// Says whether the change is undone and yet left to a person who may take it in.
    pub fn is_offered(&self) -> bool {
        is_offered(self.result, self.reason.as_deref())
    }

    /// Returns the last of the commits of others that the change was brought together with, if it was.
    pub fn brought_together_with(&self) -> Option<&str> {
        let mut notes = self.notes.iter();
        notes.find_map(|note| note.strip_prefix(TOGETHER))
    }

    /// Returns the score of what the cycle left: of an undone one, that from before. Where the environment changed, nobody measured it.
    pub fn score_left(&self) -> Option<f64> {
        match self.is_undone() {
            true if self.is_environment_change() => None,
            true => self.score_before,
            false => self.score_after.or(self.score_before),
        }
    }

    /// Returns the scores before a cycle and after it. Of an undone one it says that the second was measured only, and what the
    /// repository is back at.
    pub fn scores(&self) -> String {
        let Some(way) = self.measured_way() else {
            return self
                .score_left()
                .or(self.score_after)
                .map_or("–".to_owned(), number);
        };
        match (self.fate().filter(|_| self.is_undone()), self.score_left()) {
            (Some(fate), Some(left)) => format!("measured {way}, {fate}: back at {}", number(left)),
            (Some(fate), None) => format!("measured {way}, {fate}"),
            (None, _) => way,
        }
    }

    /// Returns them in few words: behind the score of an undone one stands that which it is back at.
    pub fn course(&self) -> String {
        match (self.measured_way(), self.score_left()) {
            (Some(way), Some(left)) if self.is_undone() => format!("{way} → {}", number(left)),
            (Some(way), _) => way,
            (None, _) => self.scores(),
        }
    }

    /// Says behind a number of passing goals, where that is no longer so, that it was measured only.
    pub fn as_measured(&self) -> &'static str {
        match self.is_undone() && self.measured_way().is_some() {
            true => " (measured, not kept)",
            false => "",
        }
    }

    /// Returns the scores before and after, where they differ.
    pub fn measured_way(&self) -> Option<String> {
        let (before, after) = self.score_before.zip(self.score_after)?;
        let differ = before.to_bits() != after.to_bits();
        differ.then(|| format!("{} → {}", number(before), number(after)))
    }

    /// Returns how many goals pass in what the cycle left, of how many; none of one that was undone, which does not say.
    pub fn passing_left(&self) -> Option<(usize, usize)> {
        (!self.is_undone()).then_some((self.goals_passing, self.goals_total))
    }

    /// Says whether the cycle was undone.
    pub fn is_undone(&self) -> bool {
        self.reverted_to.is_some()
    }
}

#[cfg(test)]
mod tests;
