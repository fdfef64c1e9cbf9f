//! Where a session works: in the user's checkout, or in a slot beside it, and what slots are given.

use std::path::Path;

use crate::cli::config::user_config;
use crate::cli::options::RunOptions;
use crate::effects::isolation::Isolation;
use crate::effects::led;
use crate::effects::modes;
use crate::effects::repo::Repo;
use crate::engine;
use crate::error::{Error, Result};
use crate::event::Events;
use crate::model::goals::{Settings, Where};
use crate::model::slot::Provisions;
use crate::session::GoalsFile;

/// What can be linked.
const ONLY_IGNORED: &str = "link only what git ignores";

/// Where a session works.
pub struct Place {
    /// The repository that is worked in.
    pub repo: Repo,
    /// The goals file, in the slot if there is one: what counts there is what is committed.
    pub goals_file: GoalsFile,
    /// The slot, if there is one.
    pub isolation: Option<Isolation>,
}

/// Goes to the folder that was named. Where a session in it was cut short after its agent had shut it, it is opened for the loop.
pub fn go_to(dir: &Path, is_loop: bool) -> Result<()> {
    let go = || std::env::set_current_dir(dir);
    let Err(cause) = go() else {
        return Ok(());
    };
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    if is_loop {
        engine::open_shut(&absolute);
    }
    go().or_else(|_| {
        modes::refuse_shut(&absolute)?;
        let what = format!("cannot go to {}: {cause}", dir.display());
        Err(Error::usage(what).hint("name a folder with -C that is there, or leave it out"))
    })
}

/// Finds the place, and makes the slot if there is to be one.
pub fn of(goals_file: GoalsFile, run: &RunOptions, repo: Repo) -> Result<Place> {
    if !is_isolated(run, &goals_file)? {
        return Ok(Place {
            repo,
            goals_file,
            isolation: None,
        });
    }
    let isolation = Isolation::of(repo)?;
    let (_, commit) = isolation.user.ready_head()?;
    goals_file.refuse_uncommitted(&isolation.user, &isolation.user.tree_of(&commit)?)?;
    let repo = isolation.renew()?;
    let path = match &goals_file.in_repo {
        Some(path) => repo.root.join(path),
        None => goals_file.path.clone(),
    };
    Ok(Place {
        repo,
        goals_file: goals_file.at(path),
        isolation: Some(isolation),
    })
}

/// Says whether the agent is to work in a slot: by flag, else by GOALS.yaml, else by the user's configuration.
pub fn is_isolated(run: &RunOptions, goals_file: &GoalsFile) -> Result<bool> {
    if let Some(flag) = run.isolate {
        return Ok(flag);
    }
    let user = match run.ignores_config {
        true => Settings::default(),
        false => user_config()?,
    };
    let of_file = goals_file.load()?.0.settings.isolate;
    Ok(of_file.or(user.isolate).unwrap_or(false))
}

/// Says what slots are given: by flags, else by GOALS.yaml. Refuses to lend what git tracks and what leads back into the checkout;
/// what is not there is told of.
pub fn provisions(
    run: &RunOptions,
    file: &Settings,
    isolation: Option<&Isolation>,
    home: &Repo,
    events: &Events,
) -> Result<Provisions> {
    let is_for_nothing = !makes_copies(isolation.is_some(), file);
    let flag = match (&run.prepare, run.link.is_empty()) {
        (Some(_), _) => Some("--prepare"),
        (None, false) => Some("--link"),
        (None, true) => None,
    };
    if let Some(flag) = flag.filter(|_| is_for_nothing) {
        return Err(
            Error::usage(format!("{flag} is for copies, and this run makes none"))
                .hint("add --isolate, or write `measure: clean` under evolve: in GOALS.yaml"),
        );
    }
    let link = links(run, file).to_vec();
    for warning in refuse_tracked_links(home, &link)? {
        events.warn(warning);
    }
    if !is_for_nothing {
        refuse_led_back(home, &link)?;
    }
    Ok(Provisions {
        link,
        prepare: run.prepare.clone().or_else(|| file.prepare.clone()),
    })
}

/// Says whether a run makes copies.
pub fn makes_copies(is_isolated: bool, file: &Settings) -> bool {
    is_isolated || file.measure == Where::Clean
}

/// Returns what slots are lent: by flags, else by GOALS.yaml.
pub fn links<'a>(run: &'a RunOptions, file: &'a Settings) -> &'a [String] {
    match run.link.is_empty() {
        true => &file.link,
        false => &run.link,
    }
}

/// Refuses to lend what leads back into the checkout: the checks of a copy would run its code, and not the copy's.
pub fn refuse_led_back(home: &Repo, links: &[String]) -> Result<()> {
    for path in links {
        let to = led::to_another(&home.root, path).unwrap_or_default();
        if !to.is_empty() && !home.git.run(&["ls-files", "-z", "--", &to])?.is_empty() {
            let error = format!("{path} cannot be linked: it leads to {to}, which git tracks");
            return Err(Error::usage(error).hint(ONLY_IGNORED));
        }
    }
    match led::in_checkout(&home.root, links) {
        Some(led) => Err(Error::usage(led.words()).hint(led.way_out())),
        None => Ok(()),
    }
}

/// Refuses to lend what git tracks; returns a warning of what is not there.
pub fn refuse_tracked_links(home: &Repo, links: &[String]) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    for path in links {
        let tracked = home.git.run(&["ls-files", "-z", "--", path])?;
        if !tracked.is_empty() {
            let error = format!("{path} cannot be linked: git tracks it, so a copy has it");
            return Err(Error::usage(error).hint(ONLY_IGNORED));
        }
        if std::fs::symlink_metadata(home.root.join(path)).is_err() {
            warnings.push(format!(
                "{path} is to be linked, and is not in the checkout"
            ));
        }
    }
    Ok(warnings)
}
