//! Tightens thresholds that have much headroom.

use serde_json::{Value, json};

use crate::cli::here::{current_dir, goals_file, refuse_beside_loop};
use crate::cli::measure::snapshot_of;
use crate::cli::options::{Global, RunOptions};
use crate::cli::print::print_document;
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::goals::{self, Goal, Goals, Threshold};
use crate::model::ratchet::{HEADROOM, Notch, notches};
use crate::model::snapshot::FORMAT;
use crate::model::text;
use crate::session::GoalsFile;
use crate::view::ratchet::{caution, ratchet_table};
use crate::view::width;

/// Measures, shows what thresholds can become, and with `apply` writes that to the goals file.
pub fn ratchet(global: &Global, run: &RunOptions, apply: bool, as_json: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    if apply {
        refuse_beside_loop(&repo)?;
        files::remove_temporaries_of(&file.path);
    }
    let (goals, warnings) = file.load()?;
    global.point_out(&warnings);
    let text = text_of(&file, &goals)?;
    let notches = measured(global, as_json, run, &repo, &goals, &text)?;
    if !as_json {
        global.say(&match notches.is_empty() {
            true => "no goal has a threshold with a direction\n".to_owned(),
            false => ratchet_table(&notches, width::of_terminal()),
        });
        global.tell(&caution(&notches));
    }
    let new: Vec<Threshold> = notches.iter().filter_map(threshold).collect();
    let applies = apply && !new.is_empty();
    if applies {
        let edited = goals::with_thresholds(&text, &new).map_err(|why| cannot_edit(&file, &why))?;
        refuse_beside_loop(&repo)?;
        // Measuring takes a while; what was written meanwhile is not overwritten.
        text_of(&file, &goals)?;
        write(&file, &edited)?;
    }
    let count = text::count(new.len(), "threshold");
    match (as_json, applies) {
        (true, _) => print_document("ratchet", &document(&notches, applies))?,
        (false, _) if notches.is_empty() => {}
        (false, true) => global.tell(&format!(
            "{count} tightened in {}; commit it to have it count\n",
            file.shown
        )),
        (false, false) if new.is_empty() => global.tell(&match notches.iter().any(has_much) {
            true => "nothing to tighten\n".to_owned(),
            false => {
                let points = match notches.iter().any(|one| one.headroom != one.percent) {
                    true => format!(", of coverage {HEADROOM} points"),
                    false => String::new(),
                };
                format!(
                    "nothing to tighten: no threshold has more than {HEADROOM} % headroom{points}\n"
                )
            }
        }),
        (false, false) => global.tell(&format!(
            "{count} can be tightened: `evolve ratchet --apply` writes that\n"
        )),
    }
    Ok(0)
}

/// Measures the goals that have a threshold with a direction, and returns what can become of each.
fn measured(
    global: &Global,
    as_json: bool,
    run: &RunOptions,
    repo: &Repo,
    goals: &Goals,
    text: &str,
) -> Result<Vec<Notch>> {
    let has_number = |goal: &&Goal| {
        let continuous = goal.continuous.as_ref();
        continuous.is_some_and(|one| one.threshold.is_some() && one.direction.is_some())
    };
    let chosen: Vec<_> = goals.goals.iter().filter(has_number).collect();
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let mut global = global.clone();
    if as_json {
        // Nothing but the document goes to stdout.
        global.verbose = 0;
    }
    let snapshot = snapshot_of(&global, run, repo, goals, &chosen)?;
    Ok(notches(goals, text, &snapshot))
}

/// Returns what becomes of each threshold as a document.
fn document(notches: &[Notch], is_applied: bool) -> Value {
    let thresholds = notches.iter().map(|notch| {
        let new = notch.new.as_ref().ok();
        json!({
            "goal_id": notch.id,
            "direction": notch.direction.word(),
            "old": notch.old,
            "actual": notch.actual,
            "headroom_percent": notch.headroom,
            "new": new.and_then(|new| new.parse::<f64>().ok()),
            "stays": notch.new.as_ref().err(),
        })
    });
    json!({"format": FORMAT, "applied": is_applied, "thresholds": Vec::from_iter(thresholds)})
}

fn has_much(notch: &Notch) -> bool {
    notch.headroom.is_some_and(|percent| percent > HEADROOM)
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
        false => Err(left(file, "somebody changed it meanwhile").hint("run it again")),
    }
}

fn left(file: &GoalsFile, why: &str) -> Error {
    Error::usage(format!("{} is left as it is: {why}", file.shown))
}

fn cannot_edit(file: &GoalsFile, why: &str) -> Error {
    left(file, why)
        .hint("write the new thresholds yourself; `evolve validate` says whether the file is right")
}

/// Writes the goals file in one step, with the mode that it has.
fn write(file: &GoalsFile, text: &str) -> Result<()> {
    let failed = |cause| Error::io("write", &file.path, cause);
    let mode = std::fs::metadata(&file.path).map_err(failed)?.permissions();
    files::replace(&file.path, text.as_bytes())?;
    std::fs::set_permissions(&file.path, mode).map_err(failed)
}
