//! All the randomness of a search: numbers that follow from its seed and from what they are for. Pure.

use crate::model::digest;
use crate::model::search::lineage::Id;

/// Returns the number for an agent's work on an attempt; it fits a JSON number.
pub fn roll(seed: u64, id: Id, role: &str, nth: usize) -> u64 {
    let hex = digest::short(&[&seed.to_string(), &id.to_string(), role, &nth.to_string()]);
    // 53 bits are what a number of JSON and of JavaScript holds exactly.
    u64::from_str_radix(&hex, 16).unwrap_or_default() >> 11
}

/// Puts things into an order that follows from the seed.
pub fn shuffle<T>(seed: u64, things: &mut [T]) {
    for last in (1..things.len()).rev() {
        let chosen = roll(seed, last as Id, "shuffle", 0) % (last as u64 + 1);
        things.swap(last, chosen as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_follows_from_all_that_it_is_for() {
        let one = roll(1, 2, "edit", 0);
        assert_eq!(one, roll(1, 2, "edit", 0));
        let others = [
            roll(2, 2, "edit", 0),
            roll(1, 3, "edit", 0),
            roll(1, 2, "audit", 0),
            roll(1, 2, "edit", 1),
        ];
        assert!(others.iter().all(|other| *other != one), "{one} {others:?}");
        assert!(others.iter().all(|other| *other < 1 << 53));
    }

    #[test]
    fn every_order_comes_up() {
        let mut first = [0; 4];
        for seed in 0..400 {
            let mut things = [0, 1, 2, 3];
            shuffle(seed, &mut things);
            first[things[0]] += 1;
            things.sort_unstable();
            assert_eq!(things, [0, 1, 2, 3]);
        }
        assert!(
            first.iter().all(|times| (60..140).contains(times)),
            "{first:?}"
        );
    }
}
