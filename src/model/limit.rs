//! Which of the user's limits a session has reached. Pure.

use crate::model::goals::Limits;
use crate::model::text;
use crate::model::usage::{self, Spent};

/// The least that an agent is told it may cost, in US dollars, when next to nothing of a limit is left.
const LEAST_COST: f64 = 0.01;

/// Returns the words for the limit that is reached after so many cycles, if one is. What an agent did not report is unknown and
/// never taken for nothing: a limit that can no longer be held is reached.
pub fn reached(limits: &Limits, cycles: u64, spent: &Spent) -> Option<String> {
    let of_cycles = || {
        let most = limits.max_cycles.filter(|most| cycles >= *most)?;
        let most = text::count(usize::try_from(most).unwrap_or(usize::MAX), "cycle");
        Some(format!("limit of {most} reached (--max-cycles)"))
    };
    let of_cost = || {
        let most = limits.max_cost?;
        let limit = format!("limit of {}", usage::dollars(most));
        let is_reached = spent.cost_usd >= most;
        held(is_reached, spent.unknown_cost, &limit, "--max-cost", spent)
    };
    let of_tokens = || {
        let most = limits.max_tokens?;
        let limit = format!("limit of {}", usage::tokens(most));
        let is_reached = spent.tokens >= most;
        held(
            is_reached,
            spent.unknown_tokens,
            &limit,
            "--max-tokens",
            spent,
        )
    };
    of_cycles().or_else(of_cost).or_else(of_tokens)
}

/// Returns the words for a limit of cost or tokens that is reached by what is known alone.
pub fn used_up(limits: &Limits, spent: &Spent) -> Option<String> {
    let limits = Limits {
        max_cost: limits.max_cost.filter(|most| spent.cost_usd >= *most),
        max_tokens: limits.max_tokens.filter(|most| spent.tokens >= *most),
        ..limits.clone()
    };
    reached(&limits, 0, spent)
}

fn held(is_reached: bool, unknown: u64, limit: &str, flag: &str, spent: &Spent) -> Option<String> {
    let spent = spent.words();
    match (is_reached, unknown) {
        (true, _) => Some(format!("{limit} reached: {spent} ({flag})")),
        (false, 0) => None,
        (false, _) => Some(format!("{limit} cannot be held: {spent} ({flag})")),
    }
}

/// Returns what one more call may cost, in US dollars, as far as that is known; none without a limit.
pub fn left(limits: &Limits, spent: &Spent) -> Option<f64> {
    let left = limits.max_cost? - spent.cost_usd;
    // Cents, rounded down, as agents take it; 0.29 × 100 is a little less than 29.
    Some(((left * 100.0 + 1e-6).floor() / 100.0).max(LEAST_COST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::usage::Usage;

    fn spent(calls: &[(Option<u64>, Option<f64>)]) -> Spent {
        let mut spent = Spent::default();
        for (tokens, cost_usd) in calls {
            spent.add(Usage {
                tokens: *tokens,
                cost_usd: *cost_usd,
            });
        }
        spent
    }

    #[test]
    fn a_limit_is_reached_when_the_sum_is_there() {
        let limits = Limits {
            max_cost: Some(1.0),
            max_tokens: Some(100),
            max_cycles: Some(3),
            ..Limits::default()
        };
        assert_eq!(reached(&limits, 2, &spent(&[])), None);
        assert_eq!(reached(&limits, 2, &spent(&[(Some(99), Some(0.99))])), None);
        let words = |cycles, spent: &Spent| reached(&limits, cycles, spent).unwrap_or_default();
        assert!(words(3, &spent(&[])).ends_with("(--max-cycles)"));
        assert!(
            words(0, &spent(&[(Some(1), Some(0.5)), (Some(1), Some(0.5))]))
                .ends_with("(--max-cost)")
        );
        assert!(words(0, &spent(&[(Some(100), Some(0.5))])).ends_with("(--max-tokens)"));
    }

    #[test]
    fn what_is_known_alone_uses_a_limit_up() {
        let limits = Limits {
            max_cost: Some(1.0),
            max_tokens: Some(100),
            max_cycles: Some(1),
            ..Limits::default()
        };
        assert_eq!(used_up(&limits, &spent(&[(None, None)])), None);
        assert_eq!(used_up(&limits, &spent(&[(Some(99), Some(0.5))])), None);
        let words = |calls| used_up(&limits, &spent(calls)).unwrap_or_default();
        assert!(words(&[(None, Some(1.0))]).starts_with("limit of $1.00 reached"));
        assert!(words(&[(Some(100), None)]).starts_with("limit of 100 tokens reached"));
    }

    #[test]
    fn what_is_unknown_is_never_taken_for_nothing() {
        let limits = Limits {
            max_cost: Some(5.0),
            ..Limits::default()
        };
        let words = reached(&limits, 1, &spent(&[(Some(7), None)])).unwrap_or_default();
        assert!(
            words.starts_with("limit of $5.00 cannot be held: "),
            "{words}"
        );
        assert!(words.contains("cost unknown"), "{words}");
        assert_eq!(reached(&limits, 1, &spent(&[(None, Some(0.1))])), None);
    }

    #[test]
    fn a_call_is_told_what_is_left() {
        let limits = Limits {
            max_cost: Some(1.0),
            ..Limits::default()
        };
        assert_eq!(left(&limits, &spent(&[(None, Some(0.255))])), Some(0.74));
        assert_eq!(left(&limits, &spent(&[(None, Some(2.0))])), Some(0.01));
        for cents in 1..2000 {
            let max_cost = f64::from(cents) / 100.0;
            let limits = Limits {
                max_cost: Some(max_cost),
                ..Limits::default()
            };
            assert_eq!(left(&limits, &spent(&[])), Some(max_cost));
        }
        assert_eq!(left(&Limits::default(), &spent(&[])), None);
    }
}
