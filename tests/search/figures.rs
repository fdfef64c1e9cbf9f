//! What both strategies reach, in medians over seeds, beside what was measured of other programs with the same operator:
//! OpenEvolve 0.4.0 and ShinkaEvolve 0.0.7 at 500 and 2,000 attempts. Blind variation is a yardstick for what a strategy
//! wastes, and no verdict on agents.

use evolve::model::search::lineage::{Lineage, Measure, Population, Strategy};
use evolve::search::ending::{median, scored};

use crate::world::{Server, Skew, best, plan, search};

/// What other programs reached on a task: OpenEvolve and ShinkaEvolve at 500 attempts, OpenEvolve at 2,000.
const OTHERS: [(&str, [f64; 3]); 2] = [
    ("circle26", [2.171, 2.233, 2.229]),
    // Nothing is known of ShinkaEvolve here.
    ("sortnet10", [1.0, f64::NEG_INFINITY, 1.0]),
];

/// Generations of four, as many as there are attempts for.
const POPULATION: Strategy = Strategy::Population(Population {
    k: 4,
    generations: 1000,
});

fn seeds() -> Vec<u64> {
    match std::env::var_os("NIGHTLY") {
        Some(_) => (1..=20).collect(),
        None => (1..=5).collect(),
    }
}

/// Searches 2,000 attempts with each seed, and returns what `figure` finds in each lineage; two at once.
fn searched<const N: usize>(
    (strategy, task, skew): (Strategy, &str, Skew),
    figure: impl Fn(&mut Server, &Lineage) -> [f64; N] + Sync,
) -> [f64; N] {
    let seeds = seeds();
    let work = |half: &[u64]| {
        let mut server = Server::new();
        let one = |seed: &u64| {
            let lineage = search(&mut server, plan(strategy, task, (*seed, 2000)), skew);
            figure(&mut server, &lineage)
        };
        half.iter().map(one).collect::<Vec<_>>()
    };
    let work = &work;
    let figures: Vec<[f64; N]> = std::thread::scope(|scope| {
        let halves = seeds.chunks(seeds.len().div_ceil(2));
        let workers: Vec<_> = halves.map(|half| scope.spawn(move || work(half))).collect();
        let all = workers.into_iter().map(|worker| worker.join().unwrap());
        all.flatten().collect()
    });
    std::array::from_fn(|at| {
        let column: Vec<f64> = figures.iter().map(|row| row[at]).collect();
        median(&column).unwrap()
    })
}

#[test]
fn both_strategies_are_above_what_other_programs_reach() {
    for (task, [open_500, shinka_500, open_2000]) in OTHERS {
        for strategy in [Strategy::Climb, POPULATION] {
            let scores =
                |_: &mut Server, lineage: &Lineage| [500, 2000].map(|at| best(lineage, at).1);
            let [at_500, at_2000] = searched((strategy, task, Skew::None), scores);
            let word = strategy.word();
            let count = seeds().len();
            println!("{task} {word}, {count} seeds: {at_500:.3} @500, {at_2000:.3} @2000");
            assert!(at_500 > open_500.max(shinka_500), "{task} {word}");
            assert!(at_2000 > open_2000, "{task} {word}");
        }
    }
}

#[test]
fn generations_that_keep_the_newer_of_equals_are_as_good_as_those_that_keep_the_older() {
    let score = |_: &mut Server, lineage: &Lineage| [best(lineage, 2000).1.round()];
    let [newer] = searched((POPULATION, "sortnet10", Skew::None), score);
    let [older] = searched((POPULATION, "sortnet10", Skew::Older), score);
    println!("sortnet10 population: ties to the newer {newer}, to the older {older}");
    assert!(newer >= older);
}

#[test]
fn what_is_reported_under_noise_is_true_and_better_than_the_start() {
    let reported_and_true = |server: &mut Server, lineage: &Lineage| {
        let (best, on_board) = best(lineage, 2000);
        let worth = server.score(lineage.content(best).unwrap());
        let start = server.score(&lineage.plan.content);
        // The winner is measured once more at the end, when nothing is chosen by it any more.
        let last = lineage.attempt(best).measurement(Measure::Last);
        let again = last.and_then(|last| scored(&last.outcome));
        let reported = again.map_or(on_board, |(own, _)| median(own).unwrap());
        [
            reported,
            worth,
            reported - worth,
            worth - start,
            on_board - worth,
        ]
    };
    let of = (Strategy::Climb, "circle26", Skew::Noise(0.05));
    let [reported, worth, too_much, gain, on_board] = searched(of, reported_and_true);
    println!(
        "circle26 climb, noise 0.05, {} seeds: reported {reported:.3}, true {worth:.3}, reported - true {too_much:.3}, true - start {gain:.3}; on the board - true {on_board:.3}",
        seeds().len()
    );
    assert!(too_much <= 0.05 && on_board <= 0.05);
    assert!(gain > 0.0);
}
