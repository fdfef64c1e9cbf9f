//! What a person wants otherwise between two generations, in the words of the command line. Pure.

use super::Bound;
use crate::model::goals::nearest;
use crate::model::lineage::{Adjustment, Lineage, Strategy, Word};
use crate::model::{lens, text};

/// What can be adjusted.
const KEYS: [&str; 5] = ["k", "generations", "stale", "max-attempts", "lenses"];

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
                    "write what changes, as in k=6; there are {}",
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
                return Err(match nearest(&other, &KEYS) {
                    Some(near) => format!("{other}: did you mean {near}?"),
                    None => format!("{other} cannot be adjusted; there are {}", KEYS.join(", ")),
                });
            }
        }
    }
    Ok(change)
}

/// Says how it stands with all that can be adjusted, in the same words.
pub fn adjusted(lineage: &Lineage) -> String {
    let plan = &lineage.plan;
    let mut now = Adjustment {
        stale: plan.stale,
        max_attempts: plan.max_attempts,
        lenses: Some(plan.lenses.clone()),
        ..Adjustment::default()
    };
    if let Strategy::Population(population) = plan.strategy {
        (now.k, now.generations) = (Some(population.k), Some(population.generations));
    }
    for note in &lineage.notes {
        if let Word::Adjust(change) = &note.word {
            now.k = change.k.or(now.k);
            now.generations = change.generations.or(now.generations);
            now.stale = change.stale.or(now.stale);
            now.max_attempts = change.max_attempts.or(now.max_attempts);
            now.lenses = change.lenses.clone().or(now.lenses);
        }
    }
    let bound = |bound: Option<u64>| match bound.map_or(Bound::Off, Bound::At) {
        Bound::At(u64::MAX) | Bound::Off => "off".to_owned(),
        Bound::At(number) => number.to_string(),
    };
    let lenses = now.lenses.unwrap_or_default();
    let names: Vec<&str> = lenses.iter().map(|lens| lens::name(lens)).collect();
    format!(
        "k={} generations={} stale={} max-attempts={} lenses={}",
        bound(now.k),
        bound(now.generations),
        bound(now.stale),
        bound(now.max_attempts),
        text::clean_line(&names.join(","))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_otherwise_is_written_as_options_are() {
        let change = adjustment(
            "k=6 stale=off  lenses=loop structure, my own: words max_attempts=9",
            None,
            "bench",
        );
        let expected = Adjustment {
            k: Some(6),
            stale: Some(u64::MAX),
            max_attempts: Some(9),
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
            (
                "stale=x",
                "stale: write a whole number of at least 1, or off",
            ),
            ("generation=3", "generation: did you mean generations?"),
            ("lenses=", "lenses: name at least one"),
            ("seed=3", "seed cannot be adjusted"),
        ] {
            let said = adjustment(words, None, "").unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }
}
