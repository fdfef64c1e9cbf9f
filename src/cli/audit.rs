//! `evolve audit`: proves a history from git alone. Takes no lock and writes nothing in the repository.

use crate::cli::config::user_config;
use crate::cli::measure::cut_short;
use crate::cli::start::{block_on, current_dir, effective_jobs, goals_file};
use crate::cli::{Global, RunOptions, print_document};
use crate::effects::audit::{Again, Recorded, remeasure};
use crate::effects::clock;
use crate::effects::measure::Measurer;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Fence;
use crate::effects::slot::Slot;
use crate::effects::stop::Stop;
use crate::error::{Error, Kind, Result};
use crate::event::Events;
use crate::model::audit::Audit;
use crate::model::goals::Settings;
use crate::model::slot::Provisions;
use crate::view;

/// Holds the history of HEAD against git, and says what does not agree.
pub fn audit(global: &Global, run: &RunOptions, (as_json, again): (bool, usize)) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let goals = goals_file(global, &repo)?;
    let goals = goals.in_repo.as_deref();
    let (mut audit, recorded) = crate::effects::audit::audit(&repo, goals, again)?;
    if again > 0 {
        let goals = goals.ok_or_else(|| {
            Error::usage(
                "the goals file is not in the repository, so what it was then is not known",
            )
            .hint("leave --remeasure out, or name a goals file of the repository")
        })?;
        measure_again(&repo, (&recorded, goals), run, &mut audit)?;
    }
    match as_json {
        true => print_document("audit", &audit)?,
        false => global.say(&view::audit::page(&audit)),
    }
    match audit.disagreements.is_empty() {
        true => Ok(0),
        false => Ok(Kind::Failing.exit_code()),
    }
}

/// Measures recorded commits again, one after the other in a slot of their own, which is removed at the end.
fn measure_again(
    repo: &Repo,
    (recorded, goals_file): (&[Recorded], &str),
    run: &RunOptions,
    audit: &mut Audit,
) -> Result<()> {
    let purpose = format!("audit-{}", std::process::id());
    let slot = Slot::of(repo, &purpose, Provisions::default())?;
    let measured = block_on(async {
        std::fs::create_dir_all(&slot.root)
            .map_err(|cause| Error::io("create", &slot.root, cause))?;
        let stop = Stop::watch(Vec::new())?;
        let measurer = Measurer {
            supervisor: Supervisor::new(stop.clone(), &slot.root)?,
            stop,
            events: Events::default(),
            root: slot.root.clone(),
            jobs: effective_jobs(run, &Settings::default(), &user_config()?),
            session: clock::session_id(),
            fence: Fence::default(),
        };
        for one in recorded {
            match remeasure(repo, &slot, &measurer, (one, goals_file)).await? {
                Again::Halted(halt) => return Err(cut_short(&halt)),
                Again::NoGoals => audit.notes.push(format!(
                    "cycle {} cannot be measured again: its goals are not in {goals_file}",
                    one.cycle
                )),
                Again::NotReady(why) => audit.notes.push(format!(
                    "cycle {} cannot be measured again: {why}",
                    one.cycle
                )),
                Again::Measured(found, unsteady) => {
                    audit.remeasured.push(one.cycle);
                    audit.disagreements.extend(found);
                    audit.notes.extend(unsteady.iter().map(|id| {
                        format!(
                            "{id} of cycle {} agreed only when it was measured once more",
                            one.cycle
                        )
                    }));
                }
            }
        }
        Ok(())
    });
    slot.remove()?;
    measured
}
