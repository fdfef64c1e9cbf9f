//! Random git histories, undone exactly (Q3, Q10): an agent does some of everything that git can do to a branch, an index
//! and a working tree, and ends with a regression. Afterwards everything is as it was.

mod agent;
mod place;

use crate::chance::{Chance, cases, seeds};

use place::{KINDS, Templates};

/// Runs the history of one seed; tells what is not as it was.
fn restored(templates: &mut Templates, seed: u64) -> Result<(), String> {
    let mut chance = Chance::of(seed);
    let kind = *chance.pick(&KINDS);
    let script = agent::script(&mut chance, kind);
    let what = format!("seed {seed}, {kind:?}:\n{script}");
    let place = templates.place(kind);
    let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| place.undoes(&script)));
    tried.map_err(|_| what)
}

#[test]
fn random_histories_are_all_undone_exactly() {
    let mut templates = Templates::default();
    let failed: Vec<String> = seeds(cases(200, 5_000))
        .into_iter()
        .filter_map(|seed| restored(&mut templates, seed).err())
        .collect();
    assert!(
        failed.is_empty(),
        "{} histories are not undone; SEED=<seed> runs one again\n{}",
        failed.len(),
        failed.join("\n")
    );
}
