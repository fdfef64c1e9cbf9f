//! Two tasks whose best is known, searched as by an agent that varies numbers blindly: the climb is the plain hill climb,
//! both strategies are above what other programs reached, and noise is not taken for progress. `cargo test --test search`;
//! with NIGHTLY=1 the medians are of 20 seeds instead of 5:
//! `NIGHTLY=1 cargo test --release --test search -- --nocapture`.

#[path = "../harness/mod.rs"]
mod harness;

mod figures;
mod plain;
mod program;
mod world;
