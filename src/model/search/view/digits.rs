//! How scores are written: short, and so that two different ones never look equal. Pure.

use crate::model::text::number;

/// Four decimals are what numbers are shown with elsewhere.
const FEWEST: usize = 4;
/// No two numbers below a thousand look equal with so many.
const MOST: usize = 17;

/// The scores that stand together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Digits {
    /// Each once, in order.
    scores: Vec<f64>,
}

impl Digits {
    /// Takes in the scores that stand together.
    pub fn of(scores: impl IntoIterator<Item = f64>) -> Digits {
        let mut scores: Vec<f64> = scores.into_iter().collect();
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        Digits { scores }
    }

    /// Takes in more scores that stand beside these.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = f64>) -> Digits {
        Digits::of(self.scores.iter().copied().chain(more))
    }

    /// Returns a score with as many decimals as it takes to tell it from the next ones.
    pub fn show(&self, score: f64) -> String {
        let at = self.scores.partition_point(|other| *other < score);
        let before = at.checked_sub(1).and_then(|at| self.scores.get(at));
        let after = self.scores[at..].iter().find(|other| **other > score);
        let is_apart = |written: &dyn Fn(f64) -> String| {
            let mut others = before.into_iter().chain(after);
            others.all(|other| written(*other) != written(score))
        };
        if is_apart(&number) {
            return number(score);
        }
        let with = |decimals: usize| move |value: f64| trimmed(&format!("{value:.decimals$}"));
        let decimals = (FEWEST..=MOST).find(|decimals| is_apart(&with(*decimals)));
        decimals.map_or_else(|| format!("{score}"), |decimals| with(decimals)(score))
    }
}

fn trimmed(shown: &str) -> String {
    shown.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_scores_never_look_equal_and_others_stay_short() {
        let scores = [2.123_45, 2.123_451, 5.0, -1.0, 1e-9, 1.1e-9, 7.123_456_789];
        let digits = Digits::of(scores);
        let shown = scores.map(|score| digits.show(score));
        assert_eq!(
            shown,
            ["2.12345", "2.123451", "5", "-1", "1e-9", "1.1e-9", "7.1235"]
        );
        let close = Digits::of([0.1 + 0.2, 0.3]);
        assert_ne!(close.show(0.1 + 0.2), close.show(0.3));
    }

    #[test]
    fn a_score_that_stands_alone_is_short() {
        assert_eq!(Digits::default().show(2.123_456), "2.1235");
        assert_eq!(Digits::of([3.0, 3.0]).show(3.0), "3");
    }
}
