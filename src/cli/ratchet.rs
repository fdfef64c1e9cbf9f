//! Tightens thresholds that have much headroom.

use crate::cli::arguments::{Global, RunOptions};
use crate::cli::measure::snapshot_of;
use crate::cli::start::{current_dir, goals_file};
use crate::effects::repo::Repo;
use crate::effects::{files, lock};
use crate::error::{Error, Kind, Result};
use crate::model::goals::{self, Goals, Threshold};
use crate::model::ratchet::{HEADROOM, Notch, notches};
use crate::model::text;
use crate::session::GoalsFile;
use crate::view::ratchet::ratchet_table;
use crate::view::width;

/// Measures, shows what thresholds can become, and with `apply` writes that to the goals file.
pub fn ratchet(global: &Global, run: &RunOptions, apply: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    if apply {
        refuse_beside_loop(&repo)?;
    }
    let (goals, warnings) = file.load()?;
    global.point_out(&warnings);
    let text = text_of(&file, &goals)?;
    let has_number = |goal: &&goals::Goal| {
        let continuous = goal.continuous.as_ref();
        continuous.is_some_and(|one| one.threshold.is_some() && one.direction.is_some())
    };
    let chosen: Vec<_> = goals.goals.iter().filter(has_number).collect();
    if chosen.is_empty() {
        global.say("no goal has a threshold with a direction\n");
        return Ok(0);
    }
    let snapshot = snapshot_of(global, (run, &repo), (&goals, &chosen))?;
    let notches = notches(&goals, &text, &snapshot);
    global.say(&ratchet_table(&notches, width::of_terminal()));
    let new: Vec<Threshold> = notches.iter().filter_map(threshold).collect();
    if new.is_empty() {
        global.say(&format!(
            "nothing to tighten: no threshold has more than {HEADROOM} % headroom\n"
        ));
        return Ok(0);
    }
    let edited = goals::with_thresholds(&text, &new).map_err(|why| cannot_edit(&file, &why))?;
    let count = text::count(new.len(), "threshold");
    if !apply {
        global.say(&format!(
            "{count} can be tightened: `evolve ratchet --apply` writes that\n"
        ));
        return Ok(0);
    }
    refuse_beside_loop(&repo)?;
    // Measuring takes a while; what was written meanwhile is not overwritten.
    text_of(&file, &goals)?;
    write(&file, &edited)?;
    global.say(&format!(
        "{count} tightened in {}; commit it to have it count\n",
        file.shown
    ));
    Ok(0)
}

fn threshold(notch: &Notch) -> Option<Threshold> {
    Some(Threshold {
        id: notch.id.clone(),
        text: notch.new.clone().ok()?,
    })
}

/// Returns the text of the goals file, which has to be the one that these goals were read from.
fn text_of(file: &GoalsFile, goals: &Goals) -> Result<String> {
    let (now, _) = file.load()?;
    let bytes = files::read(&file.path).map_err(|cause| Error::io("read", &file.path, cause))?;
    let text = String::from_utf8(bytes).map_err(|_| cannot_edit(file, "it is not UTF-8"))?;
    match now.digest == goals.digest {
        true => Ok(text),
        false => Err(cannot_edit(file, "somebody changed it meanwhile")),
    }
}

fn cannot_edit(file: &GoalsFile, why: &str) -> Error {
    Error::usage(format!("{} is left as it is: {why}", file.shown))
        .hint("write the new thresholds yourself; `evolve validate` says whether the file is right")
}

/// Writes the goals file in one step, with the mode that it has.
fn write(file: &GoalsFile, text: &str) -> Result<()> {
    let failed = |cause| Error::io("write", &file.path, cause);
    let mode = std::fs::metadata(&file.path).map_err(failed)?.permissions();
    files::replace(&file.path, text.as_bytes())?;
    std::fs::set_permissions(&file.path, mode).map_err(failed)
}

/// Refuses to change the goalposts under a running cycle (exit 5).
fn refuse_beside_loop(repo: &Repo) -> Result<()> {
    match lock::holder(&repo.private.join("lock")) {
        None => Ok(()),
        Some(holder) => Err(Error::new(
            Kind::Locked,
            format!(
                "the loop is at work here (process {}), and would take that for moved goalposts",
                holder.pid
            ),
        )
        .hint("wait until it has ended, or `evolve stop`")),
    }
}
