//! Random numbers from a seed that can be said again, and how many cases a run makes.

#![allow(dead_code, reason = "each theme uses its own part")]

/// Returns how many cases to run: for one change, or with `NIGHTLY=1` for a night.
pub fn cases(change: u64, night: u64) -> u64 {
    match std::env::var_os("NIGHTLY") {
        Some(_) => night,
        None => change,
    }
}

/// Returns the seeds of a theme's cases: `cases` of them, or those that `SEED` names: one, or as in `500..800`.
pub fn seeds(cases: u64) -> Vec<u64> {
    let Ok(named) = std::env::var("SEED") else {
        return (0..cases).collect();
    };
    let number = |text: &str| -> u64 { text.parse().expect("SEED is a whole number, or two") };
    match named.split_once("..") {
        Some((first, end)) => (number(first)..number(end)).collect(),
        None => vec![number(&named)],
    }
}

/// A stream of random numbers (splitmix64: Steele, Lea and Flood, 2014).
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// The stream of a seed; the same seed gives the same numbers for ever.
    pub fn of(seed: u64) -> Chance {
        Chance(seed)
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    /// Says yes once in `times`.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Picks one of `things`.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        let count = u64::try_from(things.len()).expect("a list fits into 64 bits");
        &things[usize::try_from(self.below(count)).expect("an index fits")]
    }
}
