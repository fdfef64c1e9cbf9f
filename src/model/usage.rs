//! What agents say that their work cost. What is not said is unknown, never nothing. Pure.

use serde::Serialize;

/// What one call of an agent used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Tokens, read and written; none if the agent does not say.
    pub tokens: Option<u64>,
    /// Dollars; none if the agent does not say.
    pub cost_usd: Option<f64>,
}

/// What the calls of a session used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// How many calls there were.
    pub calls: u64,
    /// The tokens that are known.
    pub tokens: u64,
    /// The dollars that are known.
    pub cost_usd: f64,
    /// How many calls did not say their tokens.
    pub unknown_tokens: u64,
    /// How many calls did not say their cost.
    pub unknown_cost: u64,
}

/// Returns the sum of two amounts of dollars, to the millionth: what is beyond that comes from adding binary fractions.
pub fn sum(one: f64, other: f64) -> f64 {
    const PARTS: f64 = 1e6;
    let sum = one + other;
    let rounded = (sum * PARTS).round() / PARTS;
    match rounded.is_finite() {
        true => rounded,
        false => sum,
    }
}

impl Usage {
    /// Returns both together; what one of them does not say is unknown of both.
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            tokens: self
                .tokens
                .zip(other.tokens)
                .map(|(a, b)| a.saturating_add(b)),
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(a, b)| sum(a, b)),
        }
    }

    /// Returns the words for people: `45,120 tokens, $0.42`, `45,120 tokens, cost unknown`, `tokens and cost unknown`.
    pub fn words(&self) -> String {
        let mut spent = Spent::default();
        spent.add(*self);
        spent.words()
    }
}

impl Spent {
    /// Adds one call.
    pub fn add(&mut self, call: Usage) {
        self.calls += 1;
        match call.tokens {
            Some(tokens) => self.tokens = self.tokens.saturating_add(tokens),
            None => self.unknown_tokens += 1,
        }
        match call.cost_usd {
            Some(cost) => self.cost_usd = sum(self.cost_usd, cost),
            None => self.unknown_cost += 1,
        }
    }

    /// Returns tokens and cost for people: `45,120 tokens, $0.42`.
    pub fn words(&self) -> String {
        let all_unknown = (self.knows_tokens(), self.knows_cost()) == (false, false);
        if self.calls > 0 && all_unknown {
            return "tokens and cost unknown".to_owned();
        }
        if self.unknown_tokens == self.unknown_cost && self.unknown_cost > 0 {
            let (tokens, cost) = (tokens(self.tokens), dollars(self.cost_usd));
            return format!(
                "at least {tokens} and {cost}{}",
                self.silent(self.unknown_cost)
            );
        }
        format!("{}, {}", self.token_words(), self.cost_words())
    }

    /// Returns the tokens for people: `45,120 tokens`, `at least 45,120 tokens (2 of 5 calls did not say)`, `tokens unknown`.
    pub fn token_words(&self) -> String {
        let known = tokens(self.tokens);
        match (self.knows_tokens(), self.unknown_tokens) {
            (_, 0) => known,
            (false, _) => "tokens unknown".to_owned(),
            (true, silent) => format!("at least {known}{}", self.silent(silent)),
        }
    }

    /// Returns the cost for people: `$0.42`, `at least $0.42 (2 of 5 calls did not say)`, `cost unknown`.
    pub fn cost_words(&self) -> String {
        let known = dollars(self.cost_usd);
        match (self.knows_cost(), self.unknown_cost) {
            (_, 0) => known,
            (false, _) => "cost unknown".to_owned(),
            (true, silent) => format!("at least {known}{}", self.silent(silent)),
        }
    }

    /// Says whether any call said its tokens, or there was none.
    pub fn tells_tokens(&self) -> bool {
        self.calls == 0 || self.knows_tokens()
    }

    /// Says whether any call said its cost, or there was none.
    pub fn tells_cost(&self) -> bool {
        self.calls == 0 || self.knows_cost()
    }

    /// Returns what all calls cost, in USD; none where one did not say it.
    pub fn known_cost(&self) -> Option<f64> {
        (self.unknown_cost == 0).then_some(self.cost_usd)
    }

    fn knows_tokens(&self) -> bool {
        self.unknown_tokens < self.calls
    }

    fn knows_cost(&self) -> bool {
        self.unknown_cost < self.calls
    }

    fn silent(&self, silent: u64) -> String {
        format!(" ({silent} of {} calls did not say)", self.calls)
    }
}

/// Returns a number of tokens for people: `45,120 tokens`.
pub fn tokens(tokens: u64) -> String {
    match tokens {
        1 => "1 token".to_owned(),
        _ => format!("{} tokens", grouped(&tokens.to_string())),
    }
}

/// Reads a number of tokens as people write it: `800000`, `500k`, `2M`.
pub fn read_tokens(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        _ => (text, 1),
    };
    let number = digits.parse::<u64>().ok()?.checked_mul(unit);
    number.filter(|number| *number > 0)
}

/// Returns dollars in cents; what is less than one, and not nothing, is said to be.
pub fn dollars(cost: f64) -> String {
    if !cost.is_finite() {
        return "cost unknown".to_owned();
    }
    if cost > 0.0 && cost < 0.01 {
        return "<$0.01".to_owned();
    }
    let cents = format!("{:.2}", cost.max(0.0));
    let (whole, rest) = cents.split_once('.').unwrap_or((&cents, "00"));
    format!("${}.{rest}", grouped(whole))
}

/// Puts a comma before every three digits.
pub fn grouped(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len() - index;
        if index > 0 && left.is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sums_of_dollars_have_no_more_digits_than_what_was_added() {
        let mut spent = Spent::default();
        for _ in 0..3 {
            spent.add(usage(None, Some(0.0512)));
        }
        assert_eq!(spent.cost_usd.to_string(), "0.1536");
        let twice = usage(None, Some(0.1)).plus(usage(None, Some(0.2)));
        assert_eq!(twice.cost_usd, Some(0.3));
        assert_eq!(sum(f64::MAX, 1.0), f64::MAX);
        assert_eq!(sum(0.000_001, 0.000_002), 0.000_003);
    }

    fn usage(tokens: Option<u64>, cost_usd: Option<f64>) -> Usage {
        Usage { tokens, cost_usd }
    }

    fn spent(calls: &[Usage]) -> String {
        let mut spent = Spent::default();
        calls.iter().for_each(|call| spent.add(*call));
        spent.words()
    }

    #[test]
    fn what_is_known_is_said_as_it_is() {
        assert_eq!(
            usage(Some(45_120), Some(0.42)).words(),
            "45,120 tokens, $0.42"
        );
        assert_eq!(usage(Some(1), Some(0.001)).words(), "1 token, <$0.01");
        assert_eq!(usage(Some(0), Some(0.0)).words(), "0 tokens, $0.00");
        assert_eq!(
            usage(Some(1_234_567), Some(1234.5)).words(),
            "1,234,567 tokens, $1,234.50"
        );
        assert_eq!(spent(&[]), "0 tokens, $0.00");
        let two = [
            usage(Some(40_000), Some(0.4)),
            usage(Some(5_120), Some(0.02)),
        ];
        assert_eq!(spent(&two), "45,120 tokens, $0.42");
    }

    #[test]
    fn what_is_unknown_is_never_taken_for_nothing() {
        assert_eq!(usage(None, None).words(), "tokens and cost unknown");
        assert_eq!(
            usage(Some(1500), None).words(),
            "1,500 tokens, cost unknown"
        );
        assert_eq!(usage(None, Some(0.05)).words(), "tokens unknown, $0.05");
        let said = usage(Some(100), Some(0.14));
        let silent = usage(None, None);
        assert_eq!(
            spent(&[said, silent, said, silent, said]),
            "at least 300 tokens and $0.42 (2 of 5 calls did not say)"
        );
        let half = usage(Some(100), None);
        assert_eq!(
            spent(&[said, half]),
            "200 tokens, at least $0.14 (1 of 2 calls did not say)"
        );
        assert_eq!(spent(&[silent, silent]), "tokens and cost unknown");
    }

    #[test]
    fn two_calls_together_know_only_what_both_know() {
        let said = usage(Some(100), Some(0.25));
        assert_eq!(said.plus(said), usage(Some(200), Some(0.5)));
        assert_eq!(said.plus(usage(None, Some(1.0))), usage(None, Some(1.25)));
        assert_eq!(
            usage(Some(u64::MAX), None).plus(said),
            usage(Some(u64::MAX), None)
        );
    }

    proptest! {
        #[test]
        fn commas_change_no_digit(tokens: u64) {
            prop_assert_eq!(grouped(&tokens.to_string()).replace(',', ""), tokens.to_string());
        }
    }
}
