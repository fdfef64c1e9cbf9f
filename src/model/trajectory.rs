//! The way from the baseline and from the session's start to now: one line for the eye, one table for `session-fitness-delta.md`. Pure.

use crate::model::record::Tally;
use crate::model::snapshot::{Measurement, Snapshot};
use crate::model::table::{self, LINES, Side, Table};
use crate::model::text;

/// Where the repository started, where this session started, where it is now, and what the session's cycles came to.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory<'a> {
    /// The baseline of the first run.
    pub baseline: Option<&'a Snapshot>,
    /// The first snapshot of the session.
    pub start: Option<&'a Snapshot>,
    /// The newest snapshot of what is in the repository: not one whose change was undone.
    pub now: Option<&'a Snapshot>,
    /// What the session's cycles came to.
    pub tally: Tally,
}

impl Trajectory<'_> {
    /// Returns the session's way in one line, and the baseline where that was something else:
    /// `score 61.5 → 92.3, goals passing 8 → 12 of 13, 5 cycles: 3 improved, 1 regressed, 1 idle;
    /// the baseline: score 40, goals passing 5 of 13`.
    pub fn one_line(&self) -> String {
        let from = self.start.or(self.baseline);
        let way = match (from, self.now) {
            (Some(from), Some(now)) => Some(way(from, now)),
            (Some(only), None) | (None, Some(only)) => Some(format!(
                "score {}, goals passing {} of {}",
                text::number(only.score),
                only.goals_passing,
                only.goals_total
            )),
            (None, None) => None,
        };
        let words: Vec<String> = way.into_iter().chain([self.tally.words()]).collect();
        format!("{}{}", words.join(", "), self.baseline_apart())
    }

    /// Returns where the baseline stood, if the session did not start there.
    fn baseline_apart(&self) -> String {
        let Some((baseline, start)) = self.baseline.zip(self.start) else {
            return String::new();
        };
        let stands = |one: &Snapshot| {
            let score = text::number(one.score);
            format!(
                "score {score}, goals passing {} of {}",
                one.goals_passing, one.goals_total
            )
        };
        match stands(baseline) == stands(start) {
            true => String::new(),
            false => format!("; the baseline: {}", stands(baseline)),
        }
    }

    /// Returns the text of `session-fitness-delta.md`.
    pub fn to_markdown(&self) -> String {
        let mut page = format!(
            "# Session fitness delta\n\n{LINES}\n\n{}\n\n",
            self.one_line()
        );
        let mut table = Table::new([
            ("goal", Side::Left),
            ("weight", Side::Right),
            ("baseline", Side::Left),
            ("session start", Side::Left),
            ("now", Side::Left),
            ("change", Side::Right),
        ]);
        for goal in self.goals() {
            let at = |snapshot: Option<&'_ Snapshot>| {
                snapshot.and_then(|snapshot| snapshot.find(&goal.id).cloned())
            };
            let (baseline, start, now) = (at(self.baseline), at(self.start), at(self.now));
            let first = baseline.as_ref().or(start.as_ref());
            table.push([
                table::cell(&goal.id).0,
                goal.weight.to_string(),
                cell(baseline.as_ref()),
                cell(start.as_ref()),
                cell(now.as_ref()),
                change(first, now.as_ref()),
            ]);
        }
        let score = |snapshot: Option<&Snapshot>| {
            snapshot.map_or("–".to_owned(), |snapshot| text::number(snapshot.score))
        };
        let scores = self.baseline.or(self.start).zip(self.now);
        table.push([
            "**score**".to_owned(),
            String::new(),
            score(self.baseline),
            score(self.start),
            score(self.now),
            scores.map_or(String::new(), |(from, now)| signed(now.score - from.score)),
        ]);
        page.push_str(&table.to_markdown());
        page
    }

    /// Returns the goals as they are now, in the file's order, then those that are gone.
    fn goals(&self) -> Vec<&Measurement> {
        let mut goals: Vec<&Measurement> = Vec::new();
        for snapshot in [self.now, self.start, self.baseline].into_iter().flatten() {
            for goal in &snapshot.goals {
                if goals.iter().all(|known| known.id != goal.id) {
                    goals.push(goal);
                }
            }
        }
        goals
    }
}

fn way(from: &Snapshot, now: &Snapshot) -> String {
    let first = if from.goals_total == now.goals_total {
        from.goals_passing.to_string()
    } else {
        format!("{} of {}", from.goals_passing, from.goals_total)
    };
    format!(
        "score {} → {}, goals passing {first} → {} of {}",
        text::number(from.score),
        text::number(now.score),
        now.goals_passing,
        now.goals_total
    )
}

fn cell(goal: Option<&Measurement>) -> String {
    let Some(goal) = goal else {
        return "–".to_owned();
    };
    match goal.value {
        Some(value) => format!("{} ({})", goal.result.word(), text::number(value)),
        None => goal.result.word().to_owned(),
    }
}

fn change(first: Option<&Measurement>, now: Option<&Measurement>) -> String {
    let values = |goal: Option<&Measurement>| goal.and_then(|goal| goal.value);
    match (values(first), values(now)) {
        (Some(first), Some(now)) => signed(now - first),
        (Some(_), None) | (None, Some(_)) | (None, None) => String::new(),
    }
}

fn signed(difference: f64) -> String {
    let short = text::number(difference);
    if difference > 0.0 && short != "0" {
        format!("+{short}")
    } else {
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::CycleResult;
    use crate::model::snapshot::CheckResult;

    fn goal(id: &str, result: CheckResult, value: Option<f64>) -> Measurement {
        Measurement {
            id: id.to_owned(),
            result,
            weight: 5,
            value,
            threshold: None,
            duration_s: 0.1,
            reason: None,
            exit: Some(0),
            attempts: 1,
            flaky: false,
            tolerated: false,
            output_tail: None,
        }
    }

    fn snapshot(goals: Vec<Measurement>) -> Snapshot {
        Snapshot::new(
            Some(0),
            "2026-02-11T21:00:00Z".into(),
            None,
            "d".into(),
            goals,
        )
    }

    #[test]
    fn one_line_tells_the_way_and_the_cycles() {
        let before = snapshot(vec![
            goal("a", CheckResult::Pass, None),
            goal("b", CheckResult::Fail, Some(79.5)),
        ]);
        let after = snapshot(vec![
            goal("a", CheckResult::Pass, None),
            goal("b", CheckResult::Pass, Some(81.0)),
        ]);
        let results = [
            CycleResult::Idle,
            CycleResult::Improved,
            CycleResult::Improved,
        ];
        let trajectory = Trajectory {
            baseline: Some(&before),
            start: Some(&before),
            now: Some(&after),
            tally: results.into_iter().collect(),
        };
        let line = "score 50 → 100, goals passing 1 → 2 of 2, 3 cycles: 2 improved, 1 idle";
        assert_eq!(trajectory.one_line(), line);
        let page = table::unpadded(&trajectory.to_markdown());
        assert!(
            page.contains("| b | 5 | fail (79.5) | fail (79.5) | pass (81) | +1.5 |\n"),
            "{page}"
        );
        assert!(
            page.contains("| **score** | | 50 | 50 | 100 | +50 |\n"),
            "{page}"
        );
    }

    #[test]
    fn goals_that_came_and_went_are_told_apart() {
        let before = snapshot(vec![goal("gone", CheckResult::Pass, None)]);
        let after = snapshot(vec![
            goal("new|er", CheckResult::Skip, None),
            goal("other", CheckResult::Pass, None),
        ]);
        let trajectory = Trajectory {
            baseline: Some(&before),
            start: None,
            now: Some(&after),
            tally: Tally::default(),
        };
        let line = "score 100 → 50, goals passing 1 of 1 → 1 of 2, 0 cycles";
        assert_eq!(trajectory.one_line(), line);
        let page = table::unpadded(&trajectory.to_markdown());
        assert!(
            page.contains("| new\\|er | 5 | – | – | skip | |\n"),
            "{page}"
        );
        assert!(page.contains("| gone | 5 | pass | – | – | |\n"), "{page}");
    }

    #[test]
    fn without_a_snapshot_only_the_cycles_are_told() {
        let trajectory = Trajectory {
            baseline: None,
            start: None,
            now: None,
            tally: [CycleResult::Failed].into_iter().collect(),
        };
        assert_eq!(trajectory.one_line(), "1 cycle: 1 failed");
    }
}
