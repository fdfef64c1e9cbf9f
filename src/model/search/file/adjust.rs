//! What a person wants otherwise between two generations, in the words of the command line. Pure.

use std::time::Duration;

use crate::model::goals::nearest;
use crate::model::search::lens;
use crate::model::search::lineage::{Adjustment, Id, Lineage, Strategy};
use crate::model::usage::dollars;
use crate::model::{duration, text};

/// What can be adjusted.
const KEYS: [&str; 7] = [
    "k",
    "generations",
    "stale",
    "max-attempts",
    "max-cost",
    "max-time",
    "lenses",
];

/// What is used of the limits already.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Used {
    /// Attempts that are made.
    pub attempts: Id,
    /// Generations that are done.
    pub generations: u64,
    /// Generations without a new best, in a row.
    pub stale: u64,
    /// What agents cost, in USD; none where it is unknown.
    pub cost_usd: Option<f64>,
}

impl Used {
    /// Returns a change that leaves something to do; says why, where a limit would end the search for good.
    pub fn allow(self, change: Adjustment) -> Result<Adjustment, String> {
        let is_spent = |limit: Option<u64>, used| limit.is_some_and(|limit| limit <= used);
        let counted = |count: u64, what, state: &str| {
            let verb = if count == 1 { "is" } else { "are" };
            format!("{} {verb} {state}", text::count(count as usize, what))
        };
        if change.max_cost.is_some_and(|most| most < f64::MAX) && self.cost_usd.is_none() {
            return Err(
                "the agents do not say what they cost, so that max-cost cannot be held; leave it out"
                    .to_owned(),
            );
        }
        let cost_usd = self.cost_usd.unwrap_or(0.0);
        let used = if is_spent(change.max_attempts, self.attempts) {
            counted(self.attempts, "attempt", "made")
        } else if is_spent(change.generations, self.generations) {
            counted(self.generations, "generation", "done")
        } else if is_spent(change.stale, self.stale) {
            counted(self.stale, "generation", "without a new best")
        } else if change.max_cost.is_some_and(|most| most <= cost_usd) {
            format!("{} is spent", dollars(cost_usd))
        } else {
            return Ok(change);
        };
        Err(format!(
            "{used} already; write more, or nothing, and then s to stop"
        ))
    }
}

/// Reads what is to be otherwise, as in `k=6 stale=off lenses=caching, loop structure`.
pub fn adjustment(
    words: &str,
    objective: Option<&str>,
    fitness: &str,
) -> Result<Adjustment, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for word in words.split_whitespace() {
        match (word.split_once('='), pairs.last_mut()) {
            (Some((key, value)), _) => pairs.push((key.to_owned(), value.to_owned())),
            (None, Some((_, value))) => *value = format!("{value} {word}"),
            (None, None) => {
                return Err(format!(
                    "write what changes, as in k=6, or an empty line to go back; there are {}",
                    KEYS.join(", ")
                ));
            }
        }
    }
    let mut change = Adjustment::default();
    for (key, value) in pairs {
        let number = |least: u64| match value.parse() {
            Ok(number) if number >= least => Ok(Some(number)),
            Ok(_) | Err(_) => Err(format!("{key}: write a whole number of at least {least}")),
        };
        let bound = || match value.as_str() {
            "off" => Ok(Some(u64::MAX)),
            _ => number(1).map_err(|why| format!("{why}, or off")),
        };
        match key.replace('_', "-").as_str() {
            "k" => change.k = number(2)?,
            "generations" | "g" => change.generations = number(1)?,
            "stale" => change.stale = bound()?,
            "max-attempts" => change.max_attempts = bound()?,
            "max-cost" => change.max_cost = Some(cost(&value)?),
            "max-time" => change.max_time_s = Some(time(&value)?),
            "lenses" => {
                let names: Vec<String> = value.split(',').map(str::to_owned).collect();
                let lenses = lens::asked(&names, objective, fitness);
                match lenses.is_empty() {
                    true => return Err("lenses: name at least one".to_owned()),
                    false => change.lenses = Some(lenses),
                }
            }
            other => {
                let other = text::clean_line(other);
                let near = nearest(&other, &KEYS);
                let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
                let known = KEYS.join(", ");
                return Err(format!(
                    "{other} cannot be adjusted{near}; there are {known}"
                ));
            }
        }
    }
    Ok(change)
}

/// Reads a limit of cost, in USD.
fn cost(value: &str) -> Result<f64, String> {
    match value {
        "off" => Ok(f64::MAX),
        _ => match value.parse() {
            Ok(cost) if (0.0..f64::MAX).contains(&cost) => Ok(cost),
            _ => Err("max-cost: write a number of USD, or off".to_owned()),
        },
    }
}

/// Reads a limit of time, in seconds.
fn time(value: &str) -> Result<f64, String> {
    match value {
        "off" => Ok(f64::MAX),
        _ => match duration::parse(value) {
            Ok(time) => Ok(time.as_secs_f64()),
            Err(why) => Err(format!("max-time: {why}; or write off")),
        },
    }
}

/// Says how it stands with all that can be adjusted, in the same words.
pub fn adjusted(lineage: &Lineage) -> String {
    let plan = &lineage.plan;
    let off = Some(u64::MAX);
    let mut planned = Adjustment {
        stale: plan.stale.or(off),
        max_attempts: plan.max_attempts.or(off),
        max_cost: plan.request.max_cost.or(Some(f64::MAX)),
        max_time_s: plan.request.max_time_s.or(Some(f64::MAX)),
        lenses: Some(plan.lenses.clone()),
        ..Adjustment::default()
    };
    if let Strategy::Population(population) = plan.strategy {
        (planned.k, planned.generations) = (Some(population.k), Some(population.generations));
    }
    in_words(&planned.and(&lineage.adjusted(Id::MAX)))
}

/// Says what is otherwise, in the same words.
pub fn in_words(change: &Adjustment) -> String {
    let off = || "off".to_owned();
    let count = |number: u64| match number {
        u64::MAX => off(),
        number => number.to_string(),
    };
    let cost = |most: f64| match most < f64::MAX {
        true => text::number(most),
        false => off(),
    };
    let time = |most: f64| match Duration::try_from_secs_f64(most) {
        Ok(time) => humantime::format_duration(time).to_string(),
        Err(_) => off(),
    };
    let lenses = change.lenses.as_ref().map(|lenses| {
        let names: Vec<&str> = lenses.iter().map(|lens| lens::name(lens)).collect();
        text::clean_line(&names.join(","))
    });
    let values = [
        change.k.map(count),
        change.generations.map(count),
        change.stale.map(count),
        change.max_attempts.map(count),
        change.max_cost.map(cost),
        change.max_time_s.map(time),
        lenses,
    ];
    let pairs = KEYS.iter().zip(values);
    let pairs = pairs.filter_map(|(key, value)| Some(format!("{key}={}", value?)));
    let pairs: Vec<String> = pairs.collect();
    pairs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_used_up_already_is_asked_for_once_more() {
        let used = Used {
            attempts: 8,
            generations: 3,
            stale: 1,
            cost_usd: Some(0.31),
        };
        for (words, why) in [
            ("max-attempts=8", "8 attempts are made already; "),
            ("generations=2", "3 generations are done already; "),
            ("stale=1", "1 generation is without a new best already; "),
            ("max-cost=0.2", "$0.31 is spent already; "),
        ] {
            let change = adjustment(words, None, "").unwrap();
            let said = used.allow(change).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
        let words = "k=2 generations=4 stale=2 max-attempts=off max-cost=0.5 max-time=1h";
        let change = adjustment(words, None, "").unwrap();
        assert_eq!(in_words(&change), words);
        assert_eq!(used.allow(change.clone()), Ok(change.clone()));
        let unknown = Used {
            cost_usd: None,
            ..used
        };
        let said = unknown.allow(change).unwrap_err();
        assert!(said.contains("do not say what they cost"), "{said}");
        let lifts = adjustment("max-cost=off", None, "").unwrap();
        assert_eq!(unknown.allow(lifts.clone()), Ok(lifts));
    }

    #[test]
    fn what_is_to_be_otherwise_is_written_as_options_are() {
        let change = adjustment(
            "k=6 stale=off  lenses=loop structure, my own: words max_attempts=9 max-cost=2.5 max-time=90m",
            None,
            "bench",
        );
        let expected = Adjustment {
            k: Some(6),
            stale: Some(u64::MAX),
            max_attempts: Some(9),
            max_cost: Some(2.5),
            max_time_s: Some(5400.0),
            generations: None,
            lenses: Some(vec![
                "loop structure: order, fusion, early exit".to_owned(),
                "my own: words".to_owned(),
            ]),
        };
        assert_eq!(change, Ok(expected));
        assert_eq!(adjustment("", None, ""), Ok(Adjustment::default()));
        for (words, why) in [
            ("6", "write what changes, as in k=6"),
            ("k=1", "k: write a whole number of at least 2"),
            ("max-cost=-1", "max-cost: write a number of USD, or off"),
            ("max-cost=nan", "max-cost: write a number of USD, or off"),
            ("max-time=soon", "max-time: "),
            (
                "stale=x",
                "stale: write a whole number of at least 1, or off",
            ),
            (
                "generation=3",
                "generation cannot be adjusted (did you mean generations?); there are k, generations, stale,",
            ),
            (
                "k=6 lens=foo",
                "lens cannot be adjusted (did you mean lenses?); there are k, generations, stale,",
            ),
            ("lenses=", "lenses: name at least one"),
            ("seed=3", "seed cannot be adjusted"),
        ] {
            let said = adjustment(words, None, "").unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }
}
