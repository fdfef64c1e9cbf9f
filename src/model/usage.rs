//! What agents say that their work cost. What is not said is unknown, never nothing. Pure.

use serde::Serialize;

use crate::model::text;

/// What one call of an agent used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Usage {
    /// Tokens, read and written; none if the agent does not say.
    pub tokens: Option<u64>,
    /// Dollars; none if the agent does not say.
    pub cost_usd: Option<f64>,
}

/// What the calls of a session used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

impl Usage {
    /// Returns both together; what one of them does not say is unknown of both.
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            tokens: self
                .tokens
                .zip(other.tokens)
                .map(|(a, b)| a.saturating_add(b)),
            cost_usd: self.cost_usd.zip(other.cost_usd).map(|(a, b)| a + b),
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
            Some(cost) => self.cost_usd += cost,
            None => self.unknown_cost += 1,
        }
    }

    /// Returns the words for people.
    pub fn words(&self) -> String {
        text::count(0, "call")
    }
}
