//! One line of `cycle-history.jsonl`, and the history that such lines make. Pure.

mod passing;
pub mod put_back;
mod taken_back;

use serde::{Deserialize, Serialize};

use crate::model::mask;
use crate::model::text::{self, json_problem, some_of};

pub use passing::BY_OTHERS;
pub use taken_back::{REFUSED, TakenBack, Turn, UNDO_CYCLE};

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
/// The note of a cycle during which somebody took the commit that it started from out of the branch.
pub const START_IS_GONE: &str = "the branch no longer holds the commit that the cycle started from";
/// The start of the note that says where that commit is kept, and how the branch is put back on it.
pub const START_IS_KEPT: &str = "what the cycle started from is kept: ";
/// Stands in the reason of a cycle that was undone although nothing is wrong with its change: a person may take it in.
pub const IS_GOOD: &str = "the change is good";
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
        let reason = self.reason.as_deref().unwrap_or_default();
        self.result == CycleResult::Interrupted && reason.contains(IS_GOOD)
    }

    /// Returns the last of the commits of others that the change was brought together with, if it was.
    pub fn brought_together_with(&self) -> Option<&str> {
        let mut notes = self.notes.iter();
        notes.find_map(|note| note.strip_prefix(TOGETHER))
    }

    /// Returns the score of what the cycle left: of an undone one, that from before.
    pub fn score_left(&self) -> Option<f64> {
        match self.is_undone() {
            true => self.score_before,
            false => self.score_after.or(self.score_before),
        }
    }

    /// Says whether the cycle was undone.
    pub fn is_undone(&self) -> bool {
        self.reverted_to.is_some()
    }
}

/// The records of a repository as read from its history, oldest first, and what could not be read.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The records of the active file, in the file's order.
    pub records: Vec<Record>,
    /// What is wrong with the file, in words, a line each.
    pub problems: Vec<String>,
}

/// How many problems of a history are named one by one; the rest is counted.
const MOST_PROBLEMS: usize = 50;
/// How many cycles are named that are recorded more than once.
const NAMED: usize = 10;

/// The most bytes of a record that are read. None that is written comes near it: its longest lists name each goal of a file of
/// at most 256 KiB, and its words are cut.
const LONGEST_LINE: usize = 1 << 20;
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

/// Reads one line of a history; the error says why it is no record.
pub fn read_record(line: &str) -> Result<Record, String> {
    if line.len() > LONGEST_LINE {
        let bytes = line.len();
        return Err(format!(
            "it has {bytes} bytes, more than the {LONGEST_LINE} that a record may have"
        ));
    }
    let record: Record = serde_json::from_str(line).map_err(|cause| json_problem(&cause))?;
    match record.cycle > LAST_CYCLE {
        true => Err(format!("{} is no number of a cycle", record.cycle)),
        false => Ok(record),
    }
}

impl History {
    /// Reads the text of `cycle-history.jsonl`; lines that are no record are reported and left out.
    pub fn parse(text: &str) -> History {
        let mut history = History::default();
        let mut seen = std::collections::HashSet::new();
        let mut again = std::collections::BTreeSet::new();
        let mut problems = 0;
        let mut report = |line: usize, problem: String| {
            problems += 1;
            (problems <= MOST_PROBLEMS).then(|| format!("line {line}: {problem}"))
        };
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() {
                continue;
            }
            let problem = match read_record(line) {
                Ok(record) => {
                    let cycle = record.cycle;
                    history.records.push(record);
                    if !seen.insert(cycle) {
                        again.insert(cycle);
                    }
                    None
                }
                Err(why) => Some(format!("not a record: {why}")),
            };
            let problem = problem.and_then(|problem| report(index + 1, problem));
            history.problems.extend(problem);
        }
        if problems > MOST_PROBLEMS {
            let more = problems - MOST_PROBLEMS;
            history.problems.push(format!("{more} more such lines"));
        }
        if !again.is_empty() {
            let cycles: Vec<String> = again.iter().map(u64::to_string).collect();
            history.problems.push(format!(
                "cycles that are recorded more than once, as after a merge of two branches that both ran: {}",
                some_of(&cycles, NAMED)
            ));
        }
        history
    }

    /// Returns the number of the next cycle: the highest so far, plus one.
    pub fn next_cycle(&self) -> u64 {
        self.records
            .iter()
            .map(|record| record.cycle)
            .max()
            .unwrap_or(0)
            + 1
    }

    /// Returns the newest record.
    pub fn newest(&self) -> Option<&Record> {
        self.records.last()
    }

    /// Returns how many idle cycles in a row, up to the newest record, found exactly `content`.
    pub fn idle_streak(&self, content: &str) -> usize {
        self.records
            .iter()
            .rev()
            .take_while(|record| {
                record.result == CycleResult::Idle && record.content.as_deref() == Some(content)
            })
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RESULTS: [CycleResult; 7] = [
        CycleResult::Improved,
        CycleResult::Unchanged,
        CycleResult::Regressed,
        CycleResult::Failed,
        CycleResult::Harvested,
        CycleResult::Interrupted,
        CycleResult::Idle,
    ];

    fn record(cycle: u64, result: CycleResult) -> Record {
        Record {
            format: 1,
            cycle,
            goal_id: None,
            result,
            commit_sha: "c".repeat(40),
            reverted_to: None,
            goals_passing: 1,
            goals_total: 2,
            goals_added: 0,
            timestamp: "2026-02-11T21:00:00Z".to_owned(),
            score_before: Some(50.0),
            score_after: None,
            newly_failing: vec![],
            newly_passing: vec!["a".to_owned()],
            reason: None,
            definition: None,
            content: Some("content".to_owned()),
            session: None,
            agent: None,
            notes: vec![],
        }
    }

    #[test]
    fn a_cycle_whose_work_is_not_on_the_branch_can_have_lost_its_start() {
        for result in RESULTS {
            let is_on_the_branch =
                [CycleResult::Improved, CycleResult::Harvested].contains(&result);
            let mut record = record(1, result);
            record.notes = vec!["another note".to_owned()];
            assert!(!record.has_lost_its_start(), "{result:?}");
            record.notes.push(START_IS_GONE.to_owned());
            assert_eq!(record.has_lost_its_start(), !is_on_the_branch, "{result:?}");
        }
    }

    fn text_of(records: &[Record]) -> String {
        let line = |record| serde_json::to_string(record).expect("JSON") + "\n";
        records.iter().map(line).collect()
    }

    #[test]
    fn a_number_that_no_cycle_can_have_is_no_record() {
        let last = text_of(&[record(LAST_CYCLE, CycleResult::Idle)]);
        assert_eq!(History::parse(&last).next_cycle(), LAST_CYCLE + 1);
        for cycle in [LAST_CYCLE + 1, u64::MAX] {
            let history = History::parse(&text_of(&[record(cycle, CycleResult::Idle)]));
            assert_eq!((history.records.len(), history.next_cycle()), (0, 1));
            let problem = format!("line 1: not a record: {cycle} is no number of a cycle");
            assert_eq!(history.problems, [problem]);
        }
    }

    #[test]
    fn what_is_wrong_with_a_history_is_named_in_few_clean_lines() {
        let line = format!("{{\"cycle\":\"\u{1b}[2J\u{202e}{}\"}}\n", "x".repeat(1000));
        let history = History::parse(&line.repeat(MOST_PROBLEMS + 3));
        assert_eq!(history.problems.len(), MOST_PROBLEMS + 1);
        let [first, .., last] = history.problems.as_slice() else {
            panic!("{history:?}");
        };
        assert!(first.chars().count() < 250, "{first}");
        assert!(!first.contains(['\u{1b}', '\u{202e}']), "{first}");
        assert_eq!(last, "3 more such lines");
    }

    #[test]
    fn a_record_is_never_too_long_to_be_read_and_what_is_kept_stays_as_it_is() {
        let long = Record {
            goal_id: Some("\u{1f600}".repeat(100_000)),
            reason: Some("\"".repeat(3_000_000)),
            notes: vec!["\\".repeat(10_000); 500],
            ..record(1, CycleResult::Failed)
        };
        let text = text_of(std::slice::from_ref(&long));
        let history = History::parse(&text);
        assert!(history.records.is_empty());
        let problem = format!("line 1: not a record: it has {} bytes", text.len() - 1);
        assert!(
            history.problems[0].starts_with(&problem),
            "{:?}",
            history.problems
        );
        let kept = long.kept();
        assert_eq!(kept.clone().kept(), kept);
        assert_eq!(kept.notes.last().map(String::as_str), Some("and 487 more"));
        assert_eq!(
            History::parse(&text_of(std::slice::from_ref(&kept))).records,
            [kept]
        );
    }

    #[test]
    fn notes_and_lines_are_kept_up_to_their_bounds_and_not_beyond() {
        let many = Record {
            notes: vec!["n".repeat(131); 2_000],
            ..record(1, CycleResult::Failed)
        };
        let kept = many.kept();
        let bytes: usize = kept.notes.iter().map(String::len).sum();
        assert!(bytes <= NOTES_BYTES, "{bytes}");
        assert_eq!(kept.clone().kept(), kept);
        let line = text_of(&[record(1, CycleResult::Idle)]);
        let line = line.trim_end();
        let padded = |bytes: usize| line.to_owned() + &" ".repeat(bytes - line.len());
        assert!(read_record(&padded(LONGEST_LINE)).is_ok());
        assert!(read_record(&padded(LONGEST_LINE + 1)).is_err());
    }

    #[test]
    fn words_of_others_are_kept_clean_and_without_secrets() {
        let words =
            |what: &str| format!("{what}\u{1b}[2J\nghp_abcdefghijklmnopqrstuvwxyz0123456789");
        let agent = AgentReport {
            name: words("agent"),
            status: words("status"),
            exit: Some(3),
            duration_s: 1.0,
            tokens: Some(2),
            cost_usd: None,
        };
        let kept = Record {
            goal_id: Some(words("goal")),
            reason: Some(words("reason")),
            notes: vec![words("note")],
            agent: Some(agent),
            ..record(1, CycleResult::Failed)
        }
        .kept();
        let agent = kept.agent.unwrap_or_else(|| panic!("the agent is gone"));
        assert_eq!((agent.duration_s, agent.tokens), (1.0, Some(2)));
        let all = [
            Some(agent.name),
            Some(agent.status),
            kept.goal_id,
            kept.reason,
        ];
        let all: Vec<_> = all.into_iter().flatten().chain(kept.notes).collect();
        let starts = ["agent", "status", "goal", "reason", "note"];
        assert_eq!(all.len(), starts.len());
        for (words, start) in all.iter().zip(starts) {
            assert!(words.starts_with(start), "{words:?}");
            assert!(
                !words.contains(['\u{1b}', '\n']) && !words.contains("ghp_abc"),
                "{words:?}"
            );
        }
    }

    #[test]
    fn without_progress_are_cycles_that_brought_nothing_by_their_own_fault() {
        let declined = "declined: no";
        let environment = "environment changed: b";
        use CycleResult::{Failed, Harvested, Idle, Improved, Interrupted, Regressed, Unchanged};
        for (result, reason, is_without_progress, is_declined) in [
            (Improved, None, false, false),
            (Harvested, None, false, false),
            (Unchanged, None, true, false),
            (Regressed, Some("goalposts moved: x"), true, false),
            (Regressed, Some(environment), false, false),
            (Failed, Some("no change"), true, false),
            (Failed, Some(declined), true, true),
            (Unchanged, Some(declined), true, false),
            (Interrupted, None, false, false),
            (Idle, None, false, false),
        ] {
            let record = Record {
                reason: reason.map(str::to_owned),
                ..record(1, result)
            };
            let found = (record.is_without_progress(), record.is_declined());
            assert_eq!(
                found,
                (is_without_progress, is_declined),
                "{result:?} {reason:?}"
            );
        }
    }

    #[test]
    fn a_number_that_not_every_reader_understands_is_no_cycle() {
        let highest = record(9_007_199_254_740_991, CycleResult::Idle);
        let beyond = record(9_007_199_254_740_992, CycleResult::Idle);
        let history = History::parse(&text_of(&[highest.clone(), beyond]));
        assert_eq!(history.records, [highest]);
        let problem = "line 2: not a record: 9007199254740992 is no number of a cycle";
        assert_eq!(history.problems, [problem]);
    }

    #[test]
    fn problems_beyond_the_first_fifty_are_counted() {
        let of = |count: usize| History::parse(&"nonsense\n".repeat(count)).problems;
        assert_eq!(of(50).len(), 50);
        assert!(of(50)[49].starts_with("line 50: "), "{:?}", of(50)[49]);
        assert_eq!(of(52).len(), 51);
        assert_eq!(of(52)[50], "2 more such lines");
    }

    #[test]
    fn a_history_keeps_what_it_understands_and_reports_the_rest_by_its_line() {
        let (one, two) = (record(1, CycleResult::Idle), record(2, CycleResult::Idle));
        let text = format!(
            "\u{feff}{}\nnot json\n{{\"cycle\": 3}}\n{}{}",
            text_of(std::slice::from_ref(&one)),
            text_of(std::slice::from_ref(&two)),
            text_of(std::slice::from_ref(&one)).trim_end(),
        );
        let history = History::parse(&text);
        assert_eq!(history.records, [one.clone(), two, one]);
        let starts = [
            "line 3: not a record: ",
            "line 4: not a record: ",
            "cycles that are recorded more than once, as after a merge of two branches that both ran: 1",
        ];
        assert_eq!(
            history.problems.len(),
            starts.len(),
            "{:?}",
            history.problems
        );
        for (problem, start) in history.problems.iter().zip(starts) {
            assert!(problem.starts_with(start), "{problem}");
        }
    }

    #[test]
    fn the_lines_of_the_document_that_evolve_was_asked_for_are_records() {
        let line = r#"{"cycle": 2, "goal_id": "doc-coverage", "result": "regressed", "commit_sha": "def5678", "reverted_to": "abc1234", "goals_passing": 17, "goals_total": 23, "goals_added": 0, "timestamp": "2026-02-11T21:30:00Z", "format": 1, "mine": [1]}"#;
        let history = History::parse(line);
        assert_eq!(history.problems, Vec::<String>::new());
        assert!(history.records[0].is_undone());
        assert_eq!(history.next_cycle(), 3);
        let of_then = line.replace("\"format\": 1, ", "");
        assert_eq!(History::parse(&of_then).records[0].format, 1);
    }

    #[test]
    fn idle_cycles_count_in_a_row_and_on_the_same_content_only() {
        let idle = |cycle, content: &str| Record {
            content: Some(content.to_owned()),
            ..record(cycle, CycleResult::Idle)
        };
        for (records, streak) in [
            (vec![], 0),
            (vec![idle(1, "now")], 1),
            (vec![idle(1, "now"), idle(2, "now"), idle(3, "now")], 3),
            (vec![idle(1, "old"), idle(2, "now")], 1),
            (vec![idle(1, "now"), idle(2, "old")], 0),
            (
                vec![
                    idle(1, "now"),
                    record(2, CycleResult::Harvested),
                    idle(3, "now"),
                ],
                1,
            ),
            (vec![idle(1, "now"), idle(2, "old"), idle(3, "now")], 1),
        ] {
            let history = History {
                records,
                problems: vec![],
            };
            assert_eq!(history.idle_streak("now"), streak, "{:?}", history.records);
        }
    }

    proptest! {
        #[test]
        fn a_history_is_read_as_it_was_written_and_goes_on_after_its_highest_cycle(
            cycles in prop::collection::vec((1u64..1000, prop::sample::select(RESULTS.to_vec())), 0..8)
        ) {
            let records: Vec<_> = cycles.iter().map(|(cycle, result)| record(*cycle, *result)).collect();
            let history = History::parse(&text_of(&records));
            let highest = cycles.iter().map(|(cycle, _)| *cycle).max().unwrap_or(0);
            prop_assert_eq!(history.next_cycle(), highest + 1);
            prop_assert_eq!(history.newest(), records.last());
            prop_assert_eq!(history.records, records);
        }

        #[test]
        fn no_text_makes_a_history_panic(text in "(\\PC|\n|\\{\"cycle\":1\\}){0,40}") {
            let history = History::parse(&text);
            prop_assert!(history.next_cycle() >= 1);
        }
    }
}
