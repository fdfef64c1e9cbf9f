//! A world of numbers to search in: an attempt's content is a list of small numbers, and everything that happens in it
//! follows from what it happens to, whatever the order.

use super::dice::roll;
use super::{Next, Task, next};
use crate::model::search::lineage::{
    Direction, Edited, Entry, Id, Lineage, Measure, Measured, Operator, Outcome, Plan, Status,
    Strategy,
};

/// What can go wrong in it, each in so many of 100 cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub failed: u64,
    pub declined: u64,
    pub unchanged: u64,
    pub gate_failed: u64,
    pub invalid: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct World {
    pub faults: Faults,
    /// The most that a sample differs from what an attempt is worth.
    pub noise: f64,
    /// How many different numbers there are: few make duplicates likely.
    pub numbers: u64,
}

pub fn plan(strategy: Strategy) -> Plan {
    Plan {
        format: 1,
        strategy,
        direction: Direction::Max,
        repeats: 3,
        agents: 1,
        until: None,
        seed: 1,
        stale: Some(5),
        max_attempts: Some(60),
        lenses: ["a", "b", "c"].map(String::from).to_vec(),
        has_holdout: false,
        content: "0 0 0 0".to_owned(),
        request: crate::model::search::lineage::Request::default(),
    }
}

impl World {
    /// Returns what a content is worth.
    pub fn worth(&self, content: &str) -> f64 {
        let numbers: Vec<f64> = content
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        let sum: f64 = numbers.iter().sum();
        // A hill with terraces.
        (sum / 2.0).floor() - if numbers[0] > numbers[1] { 1.5 } else { 0.0 }
    }

    /// Returns what an agent makes of a content.
    pub fn vary(&self, content: &str, dice: u64) -> String {
        let mut numbers: Vec<u64> = content
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        let at = (dice % 4) as usize;
        numbers[at] = match (dice / 4) % 3 {
            0 => numbers[at].saturating_sub(1),
            1 => (numbers[at] + 1).min(self.numbers),
            _ => (dice / 12) % (self.numbers + 1),
        };
        let words: Vec<String> = numbers.iter().map(u64::to_string).collect();
        words.join(" ")
    }

    /// Does a task.
    pub fn perform(&self, lineage: &Lineage, task: &Task) -> Entry {
        match *task {
            Task::Edit { id, nth } => Entry::Edit {
                id,
                edited: self.edit(lineage, id, nth),
            },
            Task::Measure { id, what } => Entry::Measurement {
                id,
                what,
                measured: Measured {
                    outcome: self.measure(lineage, id, what),
                    channel: None,
                    leaned_on: Vec::new(),
                    duration_s: 0.0,
                },
            },
        }
    }

    fn edit(&self, lineage: &Lineage, id: Id, nth: usize) -> Edited {
        let proposal = lineage.proposal(id).unwrap();
        let dice = roll(lineage.plan.seed, id, "edit", nth);
        let chance = roll(lineage.plan.seed, id, "fault", nth) % 100;
        let faults = self.faults;
        let bounds = [
            (faults.failed, Status::Failed),
            (faults.failed + faults.declined, Status::Declined),
            (
                faults.failed + faults.declined + faults.unchanged,
                Status::Unchanged,
            ),
        ];
        let fault = bounds.iter().find(|(bound, _)| chance < *bound);
        let status = fault.map_or(Status::Changed, |(_, status)| *status);
        let contents: Vec<&str> = proposal
            .parents
            .iter()
            .map(|id| lineage.content(*id).unwrap())
            .collect();
        let content = match (proposal.operator, &contents[..]) {
            (Operator::Crossover, [a, b]) => {
                let (a, b) = (a.split(' '), b.split(' '));
                let mixed = a
                    .zip(b)
                    .enumerate()
                    .map(|(at, (a, b))| if dice >> at & 1 == 0 { a } else { b });
                mixed.collect::<Vec<_>>().join(" ")
            }
            (_, [parent, ..]) => self.vary(parent, dice),
            _ => unreachable!("an attempt without parents"),
        };
        Edited {
            status,
            content: (status == Status::Changed).then_some(content),
            commit: None,
            summary: None,
            reason: None,
            lessons: Vec::new(),
            left_out: Vec::new(),
            duration_s: 0.0,
            tokens: None,
            cost_usd: None,
        }
    }

    fn measure(&self, lineage: &Lineage, id: Id, what: Measure) -> Outcome {
        let content = lineage.content(id).unwrap();
        let chance = roll(9, 0, content, 0) % 100;
        if id > 0 && what == Measure::First && chance < self.faults.gate_failed {
            return Outcome::GateFailed("no".to_owned());
        }
        if id > 0
            && what == Measure::First
            && chance < self.faults.gate_failed + self.faults.invalid
        {
            return Outcome::Invalid("no".to_owned());
        }
        let sample = |of: Id, nth: u64| {
            let role = format!("{what:?} of {id}");
            let share = roll(7, of, &role, nth as usize) as f64 / (1_u64 << 53) as f64;
            self.worth(lineage.content(of).unwrap()) + self.noise * (2.0 * share - 1.0)
        };
        let repeats = lineage.plan.repeats;
        let several = |of| (0..repeats).map(|nth| sample(of, nth)).collect();
        match what {
            Measure::First if id == 0 => Outcome::Scored {
                samples: several(0),
                beside: Vec::new(),
            },
            Measure::First | Measure::HoldOut | Measure::Again(_) => Outcome::Scored {
                samples: vec![sample(id, 0)],
                beside: Vec::new(),
            },
            Measure::Beside(other) => Outcome::Scored {
                samples: several(id),
                beside: several(other),
            },
            Measure::Last => Outcome::Scored {
                samples: several(id),
                beside: several(0),
            },
        }
    }

    /// Goes on with a search until it ends, doing in each step one of the tasks that may be done, by `order`; returns what was
    /// added.
    pub fn go_on(&self, lineage: &mut Lineage, order: u64) -> Vec<Entry> {
        let mut added = Vec::new();
        for step in 0.. {
            assert!(step < 100_000, "a search without end");
            let entry = match next(lineage, None) {
                Next::Propose(proposal) => Entry::Attempt(proposal),
                Next::Do(tasks) => {
                    assert!(!tasks.is_empty(), "nothing to do and no end");
                    let chosen = roll(order, step, "order", 0) as usize % tasks.len();
                    self.perform(lineage, &tasks[chosen])
                }
                Next::End(why) => {
                    let best = super::standing::Standing::of(lineage).best();
                    lineage
                        .take(Entry::End(crate::model::search::lineage::End { why, best }))
                        .unwrap();
                    return added;
                }
            };
            lineage.take(entry.clone()).unwrap();
            added.push(entry);
        }
        unreachable!()
    }
}
