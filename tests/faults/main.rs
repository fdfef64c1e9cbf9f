//! Faults by the hundred: kills, I/O errors, random histories, processes that will not die. `cargo test --test faults` runs
//! as many cases as one change deserves; with `NIGHTLY=1` the figures are those of a night.
//!
//! Every random case prints its seed when it fails; `SEED=<seed>` runs that one again.

#[path = "../harness/mod.rs"]
mod harness;

mod chance;

mod histories;
mod io_errors;
mod kill_points;
mod search_kills;
mod soak;
mod supervision;
