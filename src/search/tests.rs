//! What holds for every search, whatever it searches and in whatever order things finish.

use std::collections::HashSet;

use proptest::prelude::{
    Just, ProptestConfig, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::strategy::Strategy as _;

use super::begins_generation;
use super::dice::roll;
use super::ending::{Ending, scored};
use super::simulated::{Faults, World, plan};
use super::standing::{Known, Standing};
use super::{Next, next, next_from};
use crate::model::search::lineage::{
    Adjustment, Direction, Entry, Id, Lineage, Measure, Note, Operator, Plan, Population, Strategy,
    Why, Word,
};

const CALM: World = World {
    faults: Faults {
        failed: 0,
        declined: 0,
        unchanged: 0,
        gate_failed: 0,
        invalid: 0,
    },
    noise: 0.0,
    numbers: 9,
};

fn strategies() -> impl proptest::strategy::Strategy<Value = Strategy> {
    let population = (2_u64..7, 1_u64..8)
        .prop_map(|(k, generations)| Strategy::Population(Population { k, generations }));
    prop_oneof![Just(Strategy::Climb), population]
}

fn plans() -> impl proptest::strategy::Strategy<Value = Plan> {
    let first = (strategies(), any::<bool>(), 1_u64..4, 1_u64..6);
    let second = (
        proptest::option::of(0_u64..12),
        0_u64..1000,
        proptest::option::of(0_u64..8),
        any::<bool>(),
    );
    (first, second, 0_u64..50).prop_map(
        |((strategy, is_max, repeats, agents), (until, seed, stale, has_holdout), most)| Plan {
            direction: match is_max {
                true => Direction::Max,
                false => Direction::Min,
            },
            repeats,
            agents,
            until: until.filter(|_| is_max).map(|until| until as f64),
            seed,
            stale,
            max_attempts: Some(most),
            has_holdout,
            ..plan(strategy)
        },
    )
}

fn worlds() -> impl proptest::strategy::Strategy<Value = World> {
    let faults = (0_u64..25, 0_u64..15, 0_u64..15, 0_u64..25, 0_u64..25);
    let faults = faults.prop_map(
        |(failed, declined, unchanged, gate_failed, invalid)| Faults {
            failed,
            declined,
            unchanged,
            gate_failed,
            invalid,
        },
    );
    (
        faults,
        prop_oneof![Just(0.0), Just(0.3), Just(2.0)],
        1_u64..9,
    )
        .prop_map(|(faults, noise, numbers)| World {
            faults,
            noise,
            numbers,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_lineage_is_the_same_whatever_finishes_first(plan in plans(), world in worlds(), order in 0_u64..1000) {
        let mut one = Lineage::new(plan);
        let mut other = one.clone();
        world.go_on(&mut one, 0);
        world.go_on(&mut other, order);
        prop_assert_eq!(&one.attempts, &other.attempts);
        prop_assert_eq!(one.end, other.end);
    }

    #[test]
    fn going_on_from_any_part_of_a_lineage_gives_the_same_lineage(plan in plans(), world in worlds(), cut in 0.0..1.0_f64, order in 0_u64..1000) {
        let mut whole = Lineage::new(plan.clone());
        let entries = world.go_on(&mut whole, order);
        let mut part = Lineage::new(plan);
        let kept = (entries.len() as f64 * cut) as usize;
        entries.into_iter().take(kept).for_each(|entry| part.take(entry).unwrap());
        world.go_on(&mut part, order + 1);
        prop_assert_eq!(&whole.attempts, &part.attempts);
        prop_assert_eq!(whole.end, part.end);
    }

    #[test]
    fn what_was_known_of_a_shorter_lineage_changes_nothing(plan in plans(), world in worlds(), order in 0_u64..1000, pruned in proptest::option::of(1_u64..20)) {
        let mut other = Lineage::new(plan.clone());
        let mut entries = world.go_on(&mut other, order);
        if let Some(pruned) = pruned.filter(|pruned| *pruned < other.newest()) {
            let is_next = |entry: &Entry| matches!(entry, Entry::Attempt(one) if one.id == pruned + 1);
            entries.truncate(entries.iter().position(is_next).unwrap());
            entries.push(Entry::Note(Note { after: pruned, word: Word::Prune(pruned) }));
            let mut other = Lineage::new(plan.clone());
            entries.iter().for_each(|entry| other.take(entry.clone()).unwrap());
            entries.extend(world.go_on(&mut other, order));
        }
        let mut lineage = Lineage::new(plan);
        let mut known = Known::default();
        for entry in entries {
            prop_assert_eq!(next_from(&mut known, &lineage, None), next(&lineage, None));
            lineage.take(entry).unwrap();
        }
    }

    #[test]
    fn no_content_is_scored_twice_and_every_parent_has_a_score(plan in plans(), world in worlds(), order in 0_u64..1000) {
        let mut lineage = Lineage::new(plan);
        world.go_on(&mut lineage, order);
        let standing = Standing::of(&lineage);
        prop_assert!(standing.is_settled());
        let mut scored = HashSet::from([lineage.plan.content.clone()]);
        for id in 1..=lineage.newest() {
            for parent in &lineage.proposal(id).unwrap().parents {
                prop_assert!(standing.score(*parent).is_some() || *parent == 0, "{id} from {parent}");
                let ending = standing.settled(*parent).ending;
                prop_assert!(ending.is_valid() || matches!(ending, Ending::Duplicate(_)), "{id} from {parent}: {ending:?}");
            }
            if lineage.attempt(id).measurement(Measure::First).is_some() {
                prop_assert!(scored.insert(lineage.content(id).unwrap().to_owned()), "{id}");
            }
        }
    }

    #[test]
    fn the_best_is_accepted_and_better_than_every_best_before(plan in plans(), world in worlds(), order in 0_u64..1000) {
        let mut lineage = Lineage::new(plan);
        world.go_on(&mut lineage, order);
        let standing = Standing::of(&lineage);
        let bests: Vec<Id> = (0..standing.len()).filter(|id| standing.settled(*id).is_new_best).collect();
        for pair in bests.windows(2) {
            prop_assert_eq!(standing.settled(pair[1]).ending, Ending::Accepted);
            let (before, now) = (standing.score(pair[0]).unwrap(), standing.score(pair[1]).unwrap());
            let beside = lineage.attempt(pair[1]).measurement(Measure::Beside(pair[0]));
            let is_better = match beside.and_then(|beside| scored(&beside.outcome)) {
                None => standing.is_deterministic && lineage.plan.direction.is_better(now, before),
                Some((own, other)) => lineage.plan.direction.are_all_better(own, other),
            };
            prop_assert!(is_better);
        }
        prop_assert_eq!(standing.best(), *bests.last().unwrap());
        if standing.is_deterministic && lineage.plan.strategy == Strategy::Climb {
            let ids = standing.ranked(0..standing.len(), standing.len());
            prop_assert_eq!(standing.score(ids[0]), standing.score(standing.best()));
        }
    }

    #[test]
    fn with_one_agent_a_climb_is_the_plain_climb(world in worlds(), seed in 0_u64..1000) {
        let world = World { noise: 0.0, faults: Faults { failed: 0, declined: 0, unchanged: 0, ..world.faults }, ..world };
        let plan = Plan { seed, stale: None, ..plan(Strategy::Climb) };
        let mut lineage = Lineage::new(plan.clone());
        world.go_on(&mut lineage, 0);
        let standing = Standing::of(&lineage);
        let (mut content, mut score) = (plan.content.clone(), world.worth(&plan.content));
        for id in 1..=lineage.newest() {
            let tried = world.vary(&content, roll(seed, id, "edit", 0));
            prop_assert_eq!(lineage.content(id), Some(&tried[..]));
            let chance = roll(9, 0, &tried, 0) % 100;
            let is_valid = tried == plan.content || chance >= world.faults.gate_failed + world.faults.invalid;
            let worth = world.worth(&tried);
            prop_assert_eq!(standing.score(id), is_valid.then_some(worth));
            if is_valid && worth >= score {
                (content, score) = (tried, worth);
            }
        }
    }
}

fn searched(plan: Plan, world: World) -> Lineage {
    let mut lineage = Lineage::new(plan);
    world.go_on(&mut lineage, 0);
    lineage
}

#[test]
fn a_climb_that_is_stuck_explores_as_long_as_it_waited_and_then_ends() {
    // Nothing is better than the start.
    let plan = Plan {
        direction: Direction::Min,
        stale: Some(3),
        max_attempts: None,
        ..plan(Strategy::Climb)
    };
    let lineage = searched(plan, CALM);
    assert_eq!(
        lineage.end.as_ref().map(|end| (end.why, end.best)),
        Some((Why::Plateau, 0))
    );
    let made: Vec<(Operator, Vec<Id>)> = lineage.attempts[1..]
        .iter()
        .map(|attempt| attempt.proposal.clone().unwrap())
        .map(|proposal| (proposal.operator, proposal.parents))
        .collect();
    let standing = Standing::of(&lineage);
    let explorers: Vec<Id> = (1..=lineage.newest())
        .filter(|id| made[*id as usize - 1].0 != Operator::Mutation)
        .collect();
    assert_eq!(explorers.len(), 3, "{made:?}");
    assert!(explorers[0] > 3, "{made:?}");
    for explorer in explorers {
        let bred: Vec<_> = made
            .iter()
            .filter(|(_, parents)| parents[..] == [explorer])
            .collect();
        let is_valid = standing.settled(explorer).ending.is_valid();
        assert_eq!(bred.len(), usize::from(is_valid), "{explorer}: {made:?}");
    }
}

#[test]
fn generations_are_bred_as_the_source_document_says() {
    let plan = Plan {
        stale: None,
        max_attempts: None,
        ..plan(Strategy::Population(Population {
            k: 4,
            generations: 5,
        }))
    };
    let lineage = searched(
        plan,
        World {
            numbers: 200,
            ..CALM
        },
    );
    assert_eq!(
        lineage.end.as_ref().map(|end| end.why),
        Some(Why::Generations)
    );
    let made = |id: Id| lineage.proposal(id).unwrap();
    let operators: Vec<&str> = (1..=lineage.newest())
        .map(|id| made(id).operator.word())
        .collect();
    let first = ["mutation"; 4];
    let bred = ["mutation", "crossover", "mutation", "fresh"];
    assert_eq!(operators, [&first[..], &bred, &bred].concat());
    assert!((1..=4).all(|id| made(id).parents == [0]));
    let lenses: Vec<_> = (1..=3).map(|id| made(id).lens.clone()).collect();
    assert_eq!(lenses.iter().collect::<HashSet<_>>().len(), 3);
    let standing = Standing::of(&lineage);
    let survivors = standing.ranked(0..5, 5);
    assert_eq!(made(5).parents, [survivors[0]]);
    assert_eq!(made(6).parents, survivors[..2]);
    assert_eq!(made(8).parents, [0]);
}

#[test]
fn noise_alone_is_no_progress() {
    let flat = World {
        numbers: 1,
        noise: 3.0,
        ..CALM
    };
    let mut accepted = 0;
    for seed in 0..200 {
        let plan = Plan {
            seed,
            stale: None,
            max_attempts: Some(30),
            ..plan(Strategy::Climb)
        };
        let lineage = searched(plan, flat);
        let standing = Standing::of(&lineage);
        accepted += (1..standing.len())
            .filter(|id| standing.settled(*id).ending == Ending::Accepted)
            .count();
        let confirmed_twice = standing.settled(standing.best()).ending == Ending::Accepted;
        assert!(confirmed_twice);
    }
    // Of two equal sides with three samples each, one is wholly better once in twenty times.
    assert!(accepted < 600, "{accepted}");
}

#[test]
fn what_is_pruned_is_not_the_best_and_nothing_is_made_from_it() {
    let plan = Plan {
        stale: None,
        ..plan(Strategy::Climb)
    };
    let mut lineage = Lineage::new(Plan {
        max_attempts: Some(30),
        ..plan.clone()
    });
    CALM.go_on(&mut lineage, 0);
    let best = Standing::of(&lineage).best();
    assert!(best > 0);
    lineage.plan.max_attempts = Some(60);
    let after = lineage.newest();
    lineage
        .take(Entry::Note(Note {
            after,
            word: Word::Prune(best),
        }))
        .unwrap();
    CALM.go_on(&mut lineage, 0);
    let standing = Standing::of(&lineage);
    assert_ne!(standing.best(), best);
    for id in after + 1..=lineage.newest() {
        assert!(!standing.is_pruned(id, Id::MAX), "{id}");
    }
}

#[test]
fn what_a_person_adjusts_holds_from_the_next_generation() {
    let population = Population {
        k: 4,
        generations: 2,
    };
    let plan = Plan {
        stale: None,
        max_attempts: None,
        ..plan(Strategy::Population(population))
    };
    let mut lineage = Lineage::new(plan);
    CALM.go_on(&mut lineage, 0);
    assert_eq!(lineage.newest(), 6);
    let change = Adjustment {
        k: Some(8),
        generations: Some(3),
        ..Adjustment::default()
    };
    lineage
        .take(Entry::Note(Note {
            after: 6,
            word: Word::Adjust(change),
        }))
        .unwrap();
    CALM.go_on(&mut lineage, 0);
    assert_eq!(lineage.newest(), 10);
    let change = Adjustment {
        generations: Some(9),
        max_attempts: Some(12),
        ..Adjustment::default()
    };
    lineage
        .take(Entry::Note(Note {
            after: 10,
            word: Word::Adjust(change),
        }))
        .unwrap();
    lineage.end = None;
    CALM.go_on(&mut lineage, 0);
    assert_eq!(lineage.newest(), 12);
    assert_eq!(
        lineage.end.as_ref().map(|end| end.why),
        Some(Why::MaxAttempts)
    );
}

#[test]
fn a_further_generation_begins_with_one_attempt_and_no_lens_comes_twice_in_it() {
    let population = Population {
        k: 6,
        generations: 5,
    };
    let mut plan = Plan {
        stale: None,
        max_attempts: None,
        ..plan(Strategy::Population(population))
    };
    plan.lenses = ["a", "b", "c", "d", "e", "f"].map(String::from).to_vec();
    let mut so_far = Lineage::new(plan.clone());
    let mut begins = Vec::new();
    let mut lenses = Vec::new();
    for entry in CALM.go_on(&mut Lineage::new(plan), 0) {
        if let Entry::Attempt(proposal) = &entry {
            match begins_generation(&so_far, proposal.id) {
                Some(number) => begins.push((number, proposal.id)),
                None => assert!(!begins.iter().any(|(_, id)| *id == proposal.id)),
            }
            if begins.last().is_some_and(|(_, id)| *id == proposal.id) {
                lenses.clear();
            }
            if let Some(lens) = &proposal.lens {
                assert!(!lenses.contains(lens), "{}", proposal.id);
                lenses.push(lens.clone());
            }
        }
        so_far.take(entry).unwrap();
    }
    assert_eq!(begins, [(2, 7), (3, 10), (4, 13), (5, 16)]);
}

#[test]
fn a_score_that_is_enough_ends_a_generation_half_way() {
    for agents in [1, 3] {
        let population = Population {
            k: 40,
            generations: 2,
        };
        let lineage = searched(
            Plan {
                until: Some(2.0),
                agents,
                stale: None,
                ..plan(Strategy::Population(population))
            },
            CALM,
        );
        assert_eq!(lineage.end.as_ref().map(|end| end.why), Some(Why::Until));
        let standing = Standing::of(&lineage);
        let enough = (1..standing.len()).find(|id| standing.score(*id) >= Some(2.0));
        let enough = enough.expect("a score that is enough");
        assert!(enough + agents < 40, "{enough}");
        assert!(
            lineage.newest() < enough + agents,
            "{agents}: {}",
            lineage.newest()
        );
    }
}

#[test]
fn ten_attempts_in_a_row_that_come_to_nothing_put_the_environment_in_doubt() {
    let plan = Plan {
        stale: None,
        max_attempts: Some(25),
        ..plan(Strategy::Climb)
    };
    let all_invalid = World {
        faults: Faults {
            invalid: 100,
            ..Faults::default()
        },
        numbers: 200,
        ..CALM
    };
    let lineage = searched(plan, all_invalid);
    let again: Vec<Measure> = lineage.attempts[0].measured.keys().copied().collect();
    let standing = Standing::of(&lineage);
    let rows = (1..=25)
        .filter(|id| standing.settled(*id).ending == Ending::Invalid)
        .count()
        / 10;
    assert_eq!(again.len(), 1 + rows, "{again:?}");
}

#[test]
fn with_several_agents_nothing_is_made_from_what_was_pruned_either() {
    for agents in 1..5 {
        let plan = Plan {
            stale: None,
            agents,
            ..plan(Strategy::Climb)
        };
        let mut lineage = Lineage::new(Plan {
            max_attempts: Some(30),
            ..plan
        });
        CALM.go_on(&mut lineage, 0);
        let best = Standing::of(&lineage).best();
        lineage.plan.max_attempts = Some(60);
        let after = lineage.newest();
        let word = Word::Prune(best);
        lineage.take(Entry::Note(Note { after, word })).unwrap();
        CALM.go_on(&mut lineage, 0);
        let standing = Standing::of(&lineage);
        for id in after + 1..=lineage.newest() {
            assert!(
                !standing.is_pruned(id, Id::MAX),
                "{id} with {agents} agents"
            );
        }
    }
}

#[test]
fn what_was_confirmed_is_held_against_all_that_is_known_of_the_best() {
    let mut lineage = Lineage::new(Plan {
        repeats: 2,
        ..plan(Strategy::Climb)
    });
    // The baseline is better than it is beside attempt 1, and worse beside attempt 2.
    for line in [
        r#"{"measurement":{"id":0,"what":"first","measured":{"outcome":{"scored":{"samples":[9.8,10.9,9.0]}},"duration_s":0}}}"#,
        r#"{"attempt":{"id":1,"operator":"mutation","parents":[0],"lens":"a"}}"#,
        r#"{"edit":{"id":1,"edited":{"status":"changed","content":"1"}}}"#,
        r#"{"measurement":{"id":1,"what":"first","measured":{"outcome":{"scored":{"samples":[10.4]}},"duration_s":0}}}"#,
        r#"{"measurement":{"id":1,"what":{"beside":0},"measured":{"outcome":{"scored":{"samples":[11.1,8.8],"beside":[10.3,11.0]}},"duration_s":0}}}"#,
        r#"{"attempt":{"id":2,"operator":"mutation","parents":[0],"lens":"b"}}"#,
        r#"{"edit":{"id":2,"edited":{"status":"changed","content":"2"}}}"#,
        r#"{"measurement":{"id":2,"what":"first","measured":{"outcome":{"scored":{"samples":[10.4]}},"duration_s":0}}}"#,
        r#"{"measurement":{"id":2,"what":{"beside":0},"measured":{"outcome":{"scored":{"samples":[10.25,10.2],"beside":[9.4,9.3]}},"duration_s":0}}}"#,
    ] {
        lineage.take(serde_json::from_str(line).unwrap()).unwrap();
    }
    let standing = Standing::of(&lineage);
    assert_eq!(standing.settled(1).ending, Ending::Unconfirmed);
    assert_eq!(standing.settled(2).ending, Ending::Accepted);
    assert_eq!((standing.best(), standing.score(0)), (2, Some(9.8)));
}

/// A population of four whose number is to be small; the baseline has 100, attempts 1 to 4 what is given.
fn first_generation(scores: [u64; 4]) -> Lineage {
    let population = Population {
        k: 4,
        generations: 3,
    };
    let mut lineage = Lineage::new(Plan {
        direction: Direction::Min,
        ..plan(Strategy::Population(population))
    });
    let mut lines = vec![
        r#"{"measurement":{"id":0,"what":"first","measured":{"outcome":{"scored":{"samples":[100,100,100]}},"duration_s":0}}}"#.to_owned(),
    ];
    for (id, score) in (1..).zip(scores) {
        lines.extend([
            format!(r#"{{"attempt":{{"id":{id},"operator":"mutation","parents":[0],"lens":"a"}}}}"#),
            format!(r#"{{"edit":{{"id":{id},"edited":{{"status":"changed","content":"{id}"}}}}}}"#),
            format!(
                r#"{{"measurement":{{"id":{id},"what":"first","measured":{{"outcome":{{"scored":{{"samples":[{score}]}}}},"duration_s":0}}}}}}"#
            ),
        ]);
    }
    for line in lines {
        lineage.take(serde_json::from_str(&line).unwrap()).unwrap();
    }
    lineage
}

fn prune(lineage: &mut Lineage, id: Id) {
    let after = lineage.newest();
    let word = Word::Prune(id);
    lineage.take(Entry::Note(Note { after, word })).unwrap();
}

#[test]
fn what_only_a_pruned_attempt_was_ahead_of_is_the_best_after_it() {
    let mut lineage = first_generation([91, 98, 95, 97]);
    let best = |lineage: &Lineage| {
        let standing = Standing::of(lineage);
        (
            standing.best(),
            standing.winner(),
            standing.incumbent_for(lineage.newest() + 1),
        )
    };
    assert_eq!(best(&lineage), (1, 1, 1));
    for (pruned, next) in [(1, 3), (3, 4), (4, 2), (2, 0)] {
        prune(&mut lineage, pruned);
        assert_eq!(best(&lineage), (next, next, next), "{pruned}");
    }
}

#[test]
fn what_was_not_held_against_the_hold_out_is_not_the_best_after_a_pruned_one() {
    let mut lineage = first_generation([91, 98, 95, 97]);
    lineage.plan.has_holdout = true;
    for id in [0, 1] {
        let line = format!(
            r#"{{"measurement":{{"id":{id},"what":"hold_out","measured":{{"outcome":{{"scored":{{"samples":[1]}}}},"duration_s":0}}}}}}"#
        );
        lineage.take(serde_json::from_str(&line).unwrap()).unwrap();
    }
    assert_eq!(Standing::of(&lineage).winner(), 1);
    prune(&mut lineage, 1);
    assert_eq!(Standing::of(&lineage).winner(), 0);
}

#[test]
fn what_is_pruned_within_a_generation_is_not_bred_from_any_more() {
    let mut lineage = first_generation([91, 98, 95, 120]);
    let proposed = |lineage: &mut Lineage| match next(lineage, None) {
        Next::Propose(proposal) => {
            lineage.take(Entry::Attempt(proposal.clone())).unwrap();
            proposal.parents
        }
        other => panic!("{other:?}"),
    };
    lineage.plan.agents = 2;
    assert_eq!(proposed(&mut lineage), [1]);
    prune(&mut lineage, 1);
    // The next better one takes its place in the crossover.
    assert_eq!(proposed(&mut lineage), [3, 2]);
}
