//! Tokens and dollars: numbers as agents write them, and their totals. Pure.

use serde_json::Value;

use crate::model::agent::Figures;
use crate::model::usage;

/// More than any run uses; beyond it a number is nonsense.
const MOST: f64 = 1e15;

/// A total of figures that add up, or of which the last counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total<T> {
    sum: Option<T>,
    last: Option<T>,
}

impl<T: Copy> Total<T> {
    /// Takes the figure of one event.
    pub fn add(&mut self, figures: Figures, value: T, plus: impl Fn(T, T) -> T) {
        match figures {
            Figures::Last => self.last = Some(value),
            Figures::Sum => self.sum = Some(self.sum.map_or(value, |sum| plus(sum, value))),
        }
    }

    /// Returns the total: what an event stated as such, else the sum.
    pub fn value(&self) -> Option<T> {
        self.last.or(self.sum)
    }
}

/// Returns the sum of tokens; none if nothing there is a number.
pub fn tokens(found: &[&Value]) -> Option<u64> {
    let numbers = found.iter().filter_map(|value| number(value));
    // Below `MOST`, so no digit is lost.
    numbers
        .map(|number| number.round() as u64)
        .reduce(u64::saturating_add)
}

/// Returns the sum of dollars; none if nothing there is a number.
pub fn dollars(found: &[&Value]) -> Option<f64> {
    found
        .iter()
        .filter_map(|value| number(value))
        .reduce(usage::sum)
}

/// Reads a number that is no less than nothing: `12`, `"1,234"`, `"12k"`, `"3.4M"`, `"$0.05"`.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => written(text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number.filter(|number| (0.0..MOST).contains(number))
}

fn written(text: &str) -> Option<f64> {
    let plain = text.trim().trim_start_matches('$').replace(',', "");
    let (digits, factor) = match plain.chars().next_back()? {
        'k' | 'K' => (&plain[..plain.len() - 1], 1e3),
        'm' | 'M' => (&plain[..plain.len() - 1], 1e6),
        _ => (plain.as_str(), 1.0),
    };
    let is_plain = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let value = digits.parse::<f64>().ok().filter(|_| is_plain)?;
    Some(value * factor)
}
