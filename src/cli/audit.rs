//! `evolve audit`: proves a history from git alone. Takes no lock and writes nothing in the repository.

use crate::cli::config::user_config;
use crate::cli::here::{current_dir, goals_file};
use crate::cli::measure::{cut_short, sandbox_of_checks, warn_of_left};
use crate::cli::options::{Global, RunOptions};
use crate::cli::print::print_document;
use crate::cli::start::{block_on, effective_jobs};
use crate::effects::audit::{Again, Recorded, remeasure};
use crate::effects::clock;
use crate::effects::measure::Measurer;
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Profile;
use crate::effects::slot::Slot;
use crate::effects::stop::Stop;
use crate::error::{Error, Kind, Result};
use crate::event::Events;
use crate::model::audit::Audit;
use crate::model::goals::{self, Settings};
use crate::session::GoalsFile;
use crate::view;

/// Says what may be why goals have other results in a copy that nothing made ready. Nothing can be lent where there is no checkout.
fn unprepared(is_bare: bool) -> String {
    let keys = match is_bare {
        true => "`prepare:`",
        false => "`prepare:` or `link:`",
    };
    format!(
        "they were measured in a copy, which has nothing that git ignores, such as node_modules: where a check needs that, \
         {keys} below `evolve:` in GOALS.yaml brings it, for what is recorded from then on"
    )
}

/// Holds the history of HEAD against git, and says what does not agree.
pub fn audit(global: &Global, run: &RunOptions, as_json: bool, again: usize) -> Result<u8> {
    let repo = Repo::discover_to_read(&current_dir()?)?;
    let goals = goals_file(global, &repo)?;
    let (mut audit, recorded) =
        crate::effects::audit::audit(&repo, goals.in_repo.as_deref(), again)?;
    if again > 0 {
        measure_again(global, run, &repo, &recorded, &goals, &mut audit)?;
    }
    match as_json {
        true => print_document("audit", &audit)?,
        false => global.tell(&view::audit::page(&audit)),
    }
    match audit.disagreements.is_empty() {
        true => Ok(0),
        false => Ok(Kind::Failing.exit_code()),
    }
}

/// Returns what the present goals file says besides goals: the one of the tree, or where there is none, of the newest commit.
fn present_settings(repo: &Repo, file: &GoalsFile, name: &str, head: &str) -> Result<Settings> {
    if !repo.is_bare() {
        return Ok(file.load()?.0.settings);
    }
    let bytes = repo.file(&repo.tree_of(head)?, name)?.unwrap_or_default();
    match goals::read_goals(name, &bytes) {
        Ok((goals, _)) => Ok(goals.settings),
        Err(problems) => Err(goals::to_error(name, &problems)),
    }
}

/// Measures recorded commits again, one after the other in a slot of their own, which is removed at the end. Their checks are held
/// back as those of the present goals file are to be.
fn measure_again(
    global: &Global,
    run: &RunOptions,
    repo: &Repo,
    recorded: &[Recorded],
    file: &GoalsFile,
    audit: &mut Audit,
) -> Result<()> {
    let Some(goals_file) = &file.in_repo else {
        return Err(Error::usage(
            "the goals file is not in the repository, so what it was then is not known",
        )
        .hint("leave --remeasure out, or name a goals file of the repository"));
    };
    let settings = present_settings(repo, file, goals_file, &audit.head)?;
    warn_of_left(global, repo);
    let user = user_config()?;
    let (slot, lock) = Slot::claim(repo, "audit")?;
    let measured = block_on(async {
        std::fs::create_dir_all(&slot.root)
            .map_err(|cause| Error::io("create", &slot.root, cause))?;
        let ground = repo.ground_of_slot(&slot.root);
        let sandbox = sandbox_of_checks(global, run, &settings, &user, repo, &ground)?;
        let stop = Stop::watch(Vec::new())?;
        let measurer = Measurer {
            supervisor: Supervisor::with_lock(stop.clone(), &slot.root, &lock, Vec::new())?,
            stop,
            events: Events::default(),
            root: slot.root.clone(),
            jobs: effective_jobs(run, &settings, &user),
            session: clock::session_id(),
            fence: sandbox.fence(Profile::Checks, &ground)?,
        };
        let mut is_unprepared = false;
        for one in recorded {
            match remeasure(repo, &slot, &measurer, one, goals_file).await? {
                Again::Halted(halt) => return Err(cut_short(&halt)),
                Again::NoGoals => audit.notes.push(format!(
                    "cycle {} cannot be measured again: its goals are not in {goals_file}",
                    one.cycle
                )),
                Again::NotReady(why) => audit.notes.push(format!(
                    "cycle {} cannot be measured again: {why}",
                    one.cycle
                )),
                Again::Measured(compared) => {
                    if compared.skipped.is_empty() {
                        audit.remeasured.push(one.cycle);
                    }
                    let is_other = !compared.differs.is_empty() || !compared.skipped.is_empty();
                    is_unprepared |= is_other && settings.prepare.is_none();
                    audit.disagreements.extend(compared.differs);
                    let skipped = compared.skipped.iter();
                    let skipped = skipped.map(|what| format!("cycle {}: {what}", one.cycle));
                    audit.notes.extend(skipped);
                    audit.notes.extend(compared.unsteady.iter().map(|id| {
                        format!(
                            "{id} of cycle {} agreed only when it was measured once more",
                            one.cycle
                        )
                    }));
                }
            }
        }
        let asked = recorded.iter().map(|one| one.cycle);
        let unmeasured = asked.filter(|cycle| !audit.remeasured.contains(cycle));
        audit.unmeasured = unmeasured.collect();
        if is_unprepared {
            audit.notes.push(unprepared(repo.is_bare()));
        }
        Ok(())
    });
    slot.give_up(lock)?;
    measured
}
