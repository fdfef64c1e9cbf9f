//! Which failing goals are worth another attempt (rule 4): struck after three cycles without progress, declined after an
//! agent gave up. Decided from records and retries alone, so that a shallow clone decides the same. Pure.

use serde::{Deserialize, Serialize};

use crate::model::goals::Goal;
use crate::model::record::{DECLINED, History, Record};
use crate::model::snapshot::FORMAT;

/// How many cycles in a row without progress set a goal aside.
pub const LIMIT: usize = 3;

/// One line of `retries.jsonl`: from here on the earlier attempts at a goal no longer count, or, where `evolve` itself
/// wrote it, an agent's giving up no longer does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// Version of the format.
    pub format: u32,
    /// The goal.
    pub goal_id: String,
    /// The newest cycle when it was asked for; records up to it no longer count.
    pub after_cycle: u64,
    /// When it was asked for, RFC 3339 in UTC.
    pub at: String,
    /// Why, where `evolve` itself wrote it: then strikes stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Reads the lines of `retries.jsonl`; what is no retry is passed over.
pub fn parse(text: &str) -> Vec<Retry> {
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// What a present `retries.jsonl` comes to, held against the one that was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The lines that were known, and after them those that count.
    pub text: String,
    /// How many known lines it no longer has.
    pub missing: usize,
    /// How many of its lines do not count.
    pub refused: usize,
}

/// Judges what was added to the retries: a line counts if it is a retry, and forgives no cycle beyond the `newest`. One
/// that forgave cycles to come would keep a goal from ever being struck.
pub fn judge(known: &str, now: &str, newest: u64) -> Judged {
    let mut left: Vec<&str> = known.lines().collect();
    let mut judged = Judged {
        text: known.to_owned(),
        missing: 0,
        refused: 0,
    };
    for line in now.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(place) = left.iter().position(|known| *known == line) {
            left.remove(place);
            continue;
        }
        let retry = serde_json::from_str::<Retry>(line).ok();
        match retry.is_some_and(|retry| retry.after_cycle <= newest) {
            true => {
                if !judged.text.is_empty() && !judged.text.ends_with('\n') {
                    judged.text.push('\n');
                }
                judged.text.push_str(line);
                judged.text.push('\n');
            }
            false => judged.refused += 1,
        }
    }
    judged.missing = left.iter().filter(|line| !line.trim().is_empty()).count();
    judged
}

/// How a goal stands after its earlier attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may be worked on.
    Open,
    /// Its last three cycles were all without progress, with the newest one's reason.
    Struck(String),
    /// The agent of its newest cycle gave up, with its reason.
    Declined(String),
}

impl Standing {
    /// Says that the goal called `id` is passed over from now on, and how it is worked on again; nothing of one that is open.
    pub fn words(&self, id: &str) -> Option<String> {
        let why = match self {
            Standing::Open => return None,
            Standing::Struck(_) => format!("struck after {LIMIT} cycles without progress"),
            Standing::Declined(_) => "declined".to_owned(),
        };
        Some(format!(
            "{id} is {why} and passed over from now on; `evolve retry {id}` lets it be worked on again"
        ))
    }
}

/// Returns how a goal stands.
pub fn standing(goal: &Goal, records: &[Record], retries: &[Retry]) -> Standing {
    let attempts = attempts_that_count(goal, records, retries);
    let Some(newest) = attempts.last() else {
        return Standing::Open;
    };
    let reason = || {
        newest
            .reason
            .clone()
            .unwrap_or_else(|| newest.result.word().to_owned())
    };
    let is_woken = retries
        .iter()
        .any(|retry| retry.goal_id == goal.id && retry.after_cycle >= newest.cycle);
    if newest.is_declined() && !is_woken {
        let words = reason();
        let words = words.strip_prefix(DECLINED).unwrap_or(&words);
        return Standing::Declined(words.to_owned());
    }
    let last = attempts.iter().rev().take(LIMIT);
    let is_struck =
        attempts.len() >= LIMIT && last.clone().all(|record| record.is_without_progress());
    match is_struck {
        true => Standing::Struck(reason()),
        false => Standing::Open,
    }
}

/// Says whether attempts at a goal count, so that a retry would change something.
pub fn has_attempts(goal: &Goal, records: &[Record], retries: &[Retry]) -> bool {
    !attempts_that_count(goal, records, retries).is_empty()
}

/// Returns the attempts at a goal since it last passed, was defined anew or asked for again; oldest first.
fn attempts_that_count<'a>(
    goal: &Goal,
    records: &'a [Record],
    retries: &[Retry],
) -> Vec<&'a Record> {
    let definition = goal.definition();
    let asked_after = retries
        .iter()
        .filter(|retry| retry.goal_id == goal.id && retry.reason.is_none())
        .map(|retry| retry.after_cycle)
        .max()
        .unwrap_or(0);
    let mut attempts = Vec::new();
    for record in records.iter().filter(|record| record.cycle > asked_after) {
        let is_own = record.goal_id.as_deref() == Some(&goal.id);
        // What passes without a change of its own cycle may fail again by the next one.
        let is_mended = !record.is_undone()
            && record.newly_passing.contains(&goal.id)
            && !(is_own && record.is_without_progress());
        if is_mended || record.is_all_well_beside(&goal.id) {
            attempts.clear();
        }
        if !is_own {
            continue;
        }
        let is_same = record.definition.as_ref().map(|known| *known == definition);
        match (is_same, record.is_without_progress()) {
            (Some(true), true) => attempts.push(record),
            // An interrupted cycle and a changed environment count neither way.
            (Some(true), false) | (None, _) => {}
            (Some(false), _) => attempts.clear(),
        }
    }
    attempts
}

/// Returns what lets declined goals be worked on again: somebody else changed the content since the newest record, so
/// that a cycle starts from another than that one left. What a cycle kept wakes nothing.
pub fn woken(
    goals: &[Goal],
    history: &History,
    retries: &[Retry],
    content: &str,
    now: &str,
) -> Vec<Retry> {
    let newest = history.newest();
    let is_changed = newest
        .and_then(|newest| newest.content.as_deref())
        .is_some_and(|left| left != content);
    let is_declined = |goal: &&Goal| {
        matches!(
            standing(goal, &history.records, retries),
            Standing::Declined(_)
        )
    };
    goals
        .iter()
        .filter(|goal| is_changed && is_declined(goal))
        .map(|goal| Retry {
            format: FORMAT,
            goal_id: goal.id.clone(),
            after_cycle: history.next_cycle() - 1,
            at: now.to_owned(),
            reason: Some("somebody else changed the content".to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::goals;
    use crate::model::record::{CycleResult, ENVIRONMENT_CHANGED};

    fn goal() -> Goal {
        let text = "goals:\n  - {id: a, description: d, check: 'false', weight: 5}\n";
        let (goals, _) = goals::read_goals("GOALS.yaml", text.as_bytes()).expect("valid goals");
        goals.goals[0].clone()
    }

    fn record(cycle: u64, goal_id: &str, result: CycleResult) -> Record {
        Record {
            format: FORMAT,
            cycle,
            goal_id: Some(goal_id.to_owned()),
            result,
            commit_sha: String::new(),
            reverted_to: None,
            goals_passing: 0,
            goals_total: 1,
            goals_added: 0,
            timestamp: String::new(),
            score_before: None,
            score_after: None,
            newly_failing: vec![],
            newly_passing: vec![],
            reason: None,
            definition: Some(goal().definition()),
            content: Some("left".to_owned()),
            session: None,
            agent: None,
            notes: vec![],
        }
    }

    /// A history told in letters, one cycle each, of the goal `a`: u unchanged, r regressed, f failed, d declined,
    /// i interrupted, e environment changed, o another definition, ? no definition, x another goal's, k that is kept and all goals pass, p that one mends
    /// `a`, q that one mends `a` and is undone, w unchanged and `a` passes without a change, l idle and all is well, s idle and a
    /// goal skips.
    fn history(told: &str) -> Vec<Record> {
        let one = |(index, letter)| {
            let plain = |result| record(index as u64 + 1, "a", result);
            let other = record(index as u64 + 1, "b", CycleResult::Unchanged);
            let mended = vec!["a".to_owned()];
            match letter {
                'u' => plain(CycleResult::Unchanged),
                'r' => plain(CycleResult::Regressed),
                'f' => plain(CycleResult::Failed),
                'd' => Record {
                    reason: Some("declined: no".to_owned()),
                    ..plain(CycleResult::Failed)
                },
                'i' => plain(CycleResult::Interrupted),
                'e' => Record {
                    reason: Some(format!("{ENVIRONMENT_CHANGED}: b")),
                    ..plain(CycleResult::Regressed)
                },
                'o' => Record {
                    definition: Some("another".to_owned()),
                    ..plain(CycleResult::Unchanged)
                },
                '?' => Record {
                    definition: None,
                    ..plain(CycleResult::Unchanged)
                },
                'x' => other,
                'k' => Record {
                    goals_passing: 1,
                    result: CycleResult::Improved,
                    ..other
                },
                'w' => Record {
                    newly_passing: mended,
                    ..plain(CycleResult::Unchanged)
                },
                'l' | 's' => Record {
                    goal_id: None,
                    goals_passing: usize::from(letter == 'l'),
                    ..plain(CycleResult::Idle)
                },
                'p' => Record {
                    newly_passing: mended,
                    ..other
                },
                'q' => Record {
                    newly_passing: mended,
                    reverted_to: Some("start".to_owned()),
                    ..other
                },
                letter => panic!("{letter}"),
            }
        };
        told.chars().enumerate().map(one).collect()
    }

    fn retry(goal_id: &str, after_cycle: u64, reason: Option<&str>) -> Retry {
        Retry {
            format: FORMAT,
            goal_id: goal_id.to_owned(),
            after_cycle,
            at: String::new(),
            reason: reason.map(str::to_owned),
        }
    }

    fn word(standing: &Standing) -> &'static str {
        match standing {
            Standing::Open => "open",
            Standing::Struck(_) => "struck",
            Standing::Declined(_) => "declined",
        }
    }

    fn retry_line(after_cycle: u64) -> String {
        format!(
            r#"{{"format":1,"goal_id":"a","after_cycle":{after_cycle},"at":"2026-01-01T00:00:00Z"}}"#
        )
    }

    #[test]
    fn retries_are_read_line_by_line_and_what_is_none_is_passed_over() {
        let text = format!("{}\nnonsense\n\n{}\n", retry_line(3), retry_line(5));
        let cycles: Vec<_> = parse(&text).iter().map(|retry| retry.after_cycle).collect();
        assert_eq!(cycles, [3, 5]);
    }

    #[test]
    fn retries_that_were_added_count_if_they_forgive_no_cycle_to_come() {
        let (three, four, five) = (retry_line(3), retry_line(4), retry_line(5));
        for (what, known, now, text, missing, refused) in [
            ("nothing", String::new(), String::new(), String::new(), 0, 0),
            (
                "one that forgives the newest cycle",
                String::new(),
                format!("{four}\n"),
                format!("{four}\n"),
                0,
                0,
            ),
            (
                "one beyond the newest cycle, and no retry",
                format!("{three}\n"),
                format!("{three}\n{five}\n\n nonsense\n"),
                format!("{three}\n"),
                0,
                2,
            ),
            (
                "the same once more, behind a line without its end",
                three.clone(),
                format!("{three}\n{three}"),
                format!("{three}\n{three}\n"),
                0,
                0,
            ),
            (
                "known lines that are gone, empty ones apart",
                format!("{three}\n\n\n{four}\n"),
                format!("{four}\n"),
                format!("{three}\n\n\n{four}\n"),
                1,
                0,
            ),
        ] {
            let wanted = Judged {
                text,
                missing,
                refused,
            };
            assert_eq!(judge(&known, &now, 4), wanted, "{what}");
        }
    }

    #[test]
    fn three_cycles_without_progress_strike_and_what_happened_since_forgives() {
        for (told, expected) in [
            ("", "open"),
            ("u", "open"),
            ("uu", "open"),
            ("uuu", "struck"),
            ("urf", "struck"),
            ("uuuu", "struck"),
            // The records of other goals in between count for nothing.
            ("uxuxxux", "struck"),
            // Neither way.
            ("uui", "open"),
            ("uiueiu", "struck"),
            ("eee", "open"),
            ("iii", "open"),
            // It passed, whoever mended it; if that was undone it did not.
            ("uuup", "open"),
            ("uuupuu", "open"),
            ("uuupuuu", "struck"),
            ("uuq", "open"),
            ("uuqu", "struck"),
            ("uuuq", "struck"),
            // It passes without a change, and by the next cycle fails again.
            ("ww", "open"),
            ("www", "struck"),
            ("uwf", "struck"),
            ("wwp", "open"),
            // It still passed when nothing was to be done.
            ("wwlw", "open"),
            ("wwsw", "struck"),
            ("wwkw", "open"),
            ("wwxw", "struck"),
            ("dl", "open"),
            // Another definition forgives, also if it is later the old one again.
            ("ooo", "open"),
            ("uuuo", "open"),
            ("ouuu", "struck"),
            ("uuuouu", "open"),
            ("???", "open"),
            ("uu?u", "struck"),
            ("d", "declined"),
            ("uud", "declined"),
            ("dp", "open"),
            ("do", "open"),
            ("di", "declined"),
            ("dx", "declined"),
        ] {
            let standing = standing(&goal(), &history(told), &[]);
            assert_eq!(word(&standing), expected, "{told}");
        }
    }

    #[test]
    fn a_retry_forgives_everything_up_to_it_and_a_change_by_others_only_that_an_agent_gave_up() {
        let others = Some("somebody else changed the content");
        for (told, retries, expected) in [
            ("uuu", vec![retry("a", 3, None)], "open"),
            ("uuu", vec![retry("a", 1, None)], "open"),
            ("uuu", vec![retry("b", 3, None)], "struck"),
            ("uuuuuu", vec![retry("a", 3, None)], "struck"),
            (
                "uuuuu",
                vec![retry("a", 1, None), retry("a", 3, None)],
                "open",
            ),
            (
                "uuuuu",
                vec![retry("a", 3, None), retry("a", 1, None)],
                "open",
            ),
            ("d", vec![retry("a", 1, None)], "open"),
            ("d", vec![retry("b", 1, None)], "declined"),
            ("dd", vec![retry("a", 1, None)], "declined"),
            ("uuu", vec![retry("a", 3, others)], "struck"),
            ("d", vec![retry("a", 1, others)], "open"),
            ("dd", vec![retry("a", 1, others)], "declined"),
            ("uud", vec![retry("a", 3, others)], "struck"),
            ("uud", vec![retry("a", 3, None)], "open"),
            ("ddd", vec![retry("a", 3, others)], "struck"),
        ] {
            let standing = standing(&goal(), &history(told), &retries);
            assert_eq!(word(&standing), expected, "{told} {retries:?}");
        }
    }

    #[test]
    fn the_reason_is_that_of_the_newest_attempt() {
        let mut records = history("uuux");
        records[1].reason = Some("older".to_owned());
        records[2].reason = Some("newest".to_owned());
        let struck = standing(&goal(), &records, &[]);
        assert_eq!(struck, Standing::Struck("newest".to_owned()));
        records[2].reason = None;
        let struck = standing(&goal(), &records, &[]);
        assert_eq!(struck, Standing::Struck("unchanged".to_owned()));
    }

    #[test]
    fn only_what_the_newest_record_did_not_leave_wakes_a_declined_goal() {
        for (told, content, expected) in [
            ("d", "left", vec![]),
            ("d", "other", vec![1]),
            ("dx", "left", vec![]),
            ("dxx", "other", vec![3]),
            ("uuu", "other", vec![]),
            ("", "other", vec![]),
        ] {
            let history = History {
                records: history(told),
                problems: vec![],
            };
            let woken = woken(&[goal()], &history, &[], content, "now");
            let after: Vec<_> = woken.iter().map(|retry| retry.after_cycle).collect();
            assert_eq!(after, expected, "{told} {content}");
            let standing = standing(&goal(), &history.records, &woken);
            assert_eq!(
                word(&standing) == "open",
                !woken.is_empty() || told.is_empty(),
                "{told}"
            );
        }
    }
}
