//! With one agent and no end the climb is the plain hill climb, attempt by attempt.

use evolve::model::search::lineage::{Lineage, Strategy};
use evolve::search::dice::roll;
use evolve::search::standing::Standing;

use crate::world::{Server, Skew, plan, search};

/// A plain hill climb that takes what is as good: each attempt's genome and score.
pub fn hill_climb(
    server: &mut Server,
    start: &str,
    (seed, attempts): (u64, u64),
) -> Vec<(String, f64)> {
    let mut top = (start.to_owned(), server.score(start));
    let mut all = Vec::new();
    for id in 1..=attempts {
        let genome = server.mutate(&top.0, roll(seed, id, "edit", 0));
        let score = server.score(&genome);
        if score >= top.1 {
            top = (genome.clone(), score);
        }
        all.push((genome, score));
    }
    all
}

/// Asserts that a lineage is what a hill climb was; `genome` returns what an attempt's content stands for.
pub fn assert_same(
    lineage: &Lineage,
    climbed: &[(String, f64)],
    genome: impl Fn(&str) -> String,
    what: &str,
) {
    let standing = Standing::of(lineage);
    assert_eq!(standing.len(), climbed.len() as u64 + 1, "{what}");
    for (id, (expected, score)) in (1..).zip(climbed) {
        // What came out as it went in has no content of its own.
        let parent = lineage.proposal(id).unwrap().parents[0];
        let content = lineage.content(id).or_else(|| lineage.content(parent));
        assert_eq!(genome(content.unwrap()), *expected, "{what}: attempt {id}");
        assert_eq!(standing.score(id), Some(*score), "{what}: attempt {id}");
    }
}

#[test]
fn the_climb_is_the_plain_hill_climb_for_2000_attempts() {
    std::thread::scope(|scope| {
        for task in ["circle26", "sortnet10"] {
            scope.spawn(move || {
                let mut server = Server::new();
                for seed in 1..=5 {
                    let of = (seed, 2000);
                    let lineage = search(&mut server, plan(Strategy::Climb, task, of), Skew::None);
                    let climbed = hill_climb(&mut server, &lineage.plan.content, of);
                    let what = format!("{task}, seed {seed}");
                    assert_same(&lineage, &climbed, str::to_owned, &what);
                }
            });
        }
    });
}
