//! Hostile input by the thousand: every format that `evolve` reads, mutated. No panic, no hang, bounded time and memory, and
//! what is true of every input: what is written back survives, what is shown is clean, what looks like a secret is masked.
//!
//! `cargo test --test fuzz` takes a thousand inputs for each format, `NIGHTLY=1` a million. An input that fails is printed
//! with its seed; `SEED=<seed> cargo test --test fuzz <format>` takes that one again.

#[path = "../faults/chance.rs"]
mod chance;

#[path = "../harness/mod.rs"]
mod harness;

mod feed;
mod memory;
mod mutate;
mod nasty;

mod agents;
mod checks;
mod goals;
mod ledger;
mod repositories;
mod sizes;
mod words;
