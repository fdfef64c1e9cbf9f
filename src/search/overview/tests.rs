use super::*;
use crate::model::search::lineage::{Note, Population, Word};
use crate::search::simulated::{Faults, World, plan};

const FAULTS: Faults = Faults {
    failed: 10,
    declined: 10,
    unchanged: 10,
    gate_failed: 10,
    invalid: 10,
};

fn searched(strategy: Strategy, noise: f64, seed: u64) -> Lineage {
    let world = World {
        faults: FAULTS,
        noise,
        numbers: 9,
    };
    let mut plan = plan(strategy);
    plan.seed = seed;
    plan.has_holdout = seed.is_multiple_of(2);
    let mut lineage = Lineage::new(plan);
    world.go_on(&mut lineage, seed);
    lineage
}

fn all() -> impl Iterator<Item = Lineage> {
    let population = Strategy::Population(Population {
        k: 4,
        generations: 6,
    });
    let both = [Strategy::Climb, population];
    let each = both
        .into_iter()
        .flat_map(|one| [0.0, 0.8].map(|noise| (one, noise)));
    each.flat_map(|(one, noise)| (1..6).map(move |seed| searched(one, noise, seed)))
}

#[test]
fn every_ending_but_a_new_best_has_its_reason() {
    let mut seen = std::collections::BTreeSet::new();
    for lineage in all() {
        let overview = of(&lineage, 1);
        for row in overview.rows.iter().skip(1) {
            seen.insert(row.ending);
            let says = row.reason.is_some();
            let by_agent = ["declined", "agent failed"].contains(&row.ending);
            assert!(says || row.new_best || by_agent, "{row:?}");
        }
        let told: u64 = overview.endings.iter().map(|(_, count)| count).sum();
        assert_eq!(told, overview.attempts());
    }
    assert!(seen.len() >= 9, "{seen:?}");
}

#[test]
fn ranks_go_from_the_best_to_the_worst_and_the_way_from_the_baseline_to_the_best() {
    for lineage in all() {
        let overview = of(&lineage, 1);
        let ranked = overview.ranked();
        let scores = ranked.iter().filter(|row| row.rank.is_some());
        let scores: Vec<f64> = scores.map(|row| row.score.unwrap()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        assert_eq!(overview.way.first(), Some(&0));
        assert_eq!(overview.way.last(), Some(&overview.best));
        assert_eq!(overview.rows.iter().filter(|row| row.best).count(), 1);
        assert_eq!(overview.curve.len(), overview.rows.len());
        let last = overview.curve.last().unwrap();
        assert_eq!(last.best, overview.best_score);
    }
}

#[test]
fn generations_follow_each_other_without_a_gap_and_their_gains_add_up() {
    for lineage in all().filter(|one| one.plan.strategy != Strategy::Climb) {
        let overview = of(&lineage, 1);
        let mut next = 1;
        for one in &overview.generations {
            assert_eq!(one.first, next);
            next = one.last + 1;
        }
        assert!(!overview.generations.is_empty());
        let gained: f64 = overview
            .generations
            .iter()
            .filter_map(|one| one.gained)
            .sum();
        let whole = overview.best_score.unwrap() - overview.baseline.unwrap();
        // Attempts after the last whole generation gain something, too.
        let is_whole = next == overview.attempts() + 1;
        assert!(
            !is_whole || (gained - whole).abs() < 1e-9,
            "{gained} {whole}"
        );
    }
}

#[test]
fn a_generation_tells_nothing_of_what_was_pruned_out_of_it() {
    for mut lineage in all().filter(|one| one.plan.strategy != Strategy::Climb) {
        let before = of(&lineage, 1);
        let Some(first) = before.generations.first().filter(|_| before.best > 0) else {
            continue;
        };
        let word = Word::Prune(before.best);
        lineage.notes.push(Note {
            after: first.last,
            word,
        });
        let overview = of(&lineage, 1);
        let gained: f64 = overview
            .generations
            .iter()
            .filter_map(|one| one.gained)
            .sum();
        let last = overview.generations.last().map_or(0, |one| one.last);
        if last == overview.attempts() {
            let whole = overview.best_score.unwrap() - overview.baseline.unwrap();
            assert!((gained - whole).abs() < 1e-9, "{gained} {whole}");
        }
        for one in &overview.generations {
            let rows = (one.first..=one.last).filter_map(|id| overview.row(id));
            let living = rows.filter(|row| !row.pruned && row.rank.is_some());
            let best = living.filter_map(|row| row.score).max_by(f64::total_cmp);
            assert_eq!(one.best, best, "generation {}", one.number);
        }
    }
}

#[test]
fn a_search_that_goes_on_says_what_comes_next_and_what_is_used() {
    let mut plan = plan(Strategy::Climb);
    plan.max_attempts = Some(3);
    let mut lineage = Lineage::new(plan);
    let first = of(&lineage, 1);
    assert_eq!(first.ahead[0].words, "the baseline is measured");
    assert_eq!((first.baseline, first.rows.len()), (None, 1));
    let world = World {
        faults: FAULTS,
        noise: 0.0,
        numbers: 9,
    };
    let task = Task::Measure {
        id: 0,
        what: Measure::First,
    };
    let entry = world.perform(&lineage, &task);
    lineage.take(entry).unwrap();
    let then = of(&lineage, 1);
    assert!(
        then.ahead[0]
            .words
            .starts_with("attempt 1 is proposed: mutation of the baseline, lens ")
    );
    let attempts = &then.limits[0];
    assert_eq!(
        (attempts.name, attempts.used, attempts.of),
        ("attempts", Some(0.0), 3.0)
    );
    world.go_on(&mut lineage, 1);
    assert!(of(&lineage, 1).ahead.is_empty());
}

#[test]
fn one_goes_before_those_that_are_as_good_as_it_and_no_further() {
    let scores = [Some(1.0), Some(3.0), Some(2.0), Some(2.0), Some(2.0), None];
    let moved = |one: Id| {
        let mut ranked: Vec<Id> = vec![1, 2, 3, 4, 0];
        put_before_equals(&mut ranked, one, |id| scores[id as usize]);
        ranked
    };
    assert_eq!(moved(4), [1, 4, 2, 3, 0]);
    assert_eq!(moved(1), [1, 2, 3, 4, 0]);
    assert_eq!(moved(0), [1, 2, 3, 4, 0]);
    assert_eq!(moved(5), [1, 2, 3, 4, 0]);
}

#[test]
fn the_limits_are_known_before_anything_has_a_score() {
    let population = Strategy::Population(Population {
        k: 4,
        generations: 6,
    });
    for (strategy, generations) in [(Strategy::Climb, None), (population, Some((1.0, 6.0)))] {
        let mut plan = plan(strategy);
        plan.max_attempts = Some(20);
        let limits = of(&Lineage::new(plan), 1).limits;
        let limit = |name| {
            let limit = limits.iter().find(|limit| limit.name == name)?;
            Some((limit.used?, limit.of))
        };
        assert_eq!(limit("attempts"), Some((0.0, 20.0)));
        assert_eq!(limit("generations"), generations);
    }
}
