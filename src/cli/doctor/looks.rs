//! What is looked at beside each other, and the findings of it in the order in which they are told.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Known, Plan, Seen};
use crate::effects::doctor::{self, Agents, Asker, Look};
use crate::effects::repo::{self, Repo};
use crate::effects::sandbox::Sandbox;
use crate::effects::workspace::Workspace;
use crate::effects::{look, program};
use crate::error::{Error, Kind, Result};
use crate::model::doctor::{
    About, Finding, Folder, GitSeen, Kills, Level, Room, Scheduler, Unfound, agents, disk, folders,
    git, goals, identity, kill, paths, repository, sandbox, stuck, unfound, unheard, unignored,
};
use crate::model::goals::Goals;
use crate::model::sandbox::Available;
use crate::model::{check, output};

/// Everything that is being looked at.
pub struct Looks {
    git: Look<GitSeen>,
    identity: Look<Result<Vec<u8>, String>>,
    dirty: Option<Look<Result<Vec<String>>>>,
    untracked: Option<Look<Vec<String>>>,
    agents: Agents,
    schedulers: Look<Vec<Scheduler>>,
    /// Nobody names an agent in what can be read, and some cannot be.
    is_agent_untold: bool,
    /// What the checks of the goals do not find, and how many goals there are.
    unfound: (Look<Vec<Unfound>>, usize),
    /// What the commands that are told of cycles do not find.
    unheard: Look<Vec<Unfound>>,
    /// The folders of the PATH that lie in the repository.
    within: Vec<String>,
    folders: Look<Vec<Folder>>,
    rooms: Look<Vec<Room>>,
    kills: Look<Kills>,
    sandboxes: Look<Sandboxes>,
}

/// Which sandboxes work, and what a run would say of the one that it asks for.
type Sandboxes = (Vec<Available>, Option<Result<Vec<String>, Error>>);

impl Looks {
    /// Begins to look.
    pub fn begin(asker: &Asker, root: &Path, seen: &Seen, plan: &Plan) -> Looks {
        let known = seen.known();
        let (git, identity) = (asker.git(), asker.identity());
        let agents = doctor::agents(plan.agent.as_ref(), &plan.entries, asker, root);
        let places = known.map(|known| (known.root.clone(), known.places.clone()));
        let place = root.to_owned();
        Looks {
            git,
            identity,
            dirty: known
                .filter(|known| known.seen.refused.is_none() && !plan.is_isolated)
                .map(|known| dirty_files(asker, known)),
            untracked: known.map(|known| untracked(asker, known)),
            schedulers: doctor::schedulers(programs(seen.goals(), &agents.programs), asker),
            unfound: (
                doctor::unfound(checks(seen.goals())),
                seen.goals().map_or(0, |goals| goals.goals.len()),
            ),
            unheard: doctor::unfound(hooks(seen.goals())),
            agents,
            is_agent_untold: plan.agent.is_none() && seen.is_any_unread(),
            within: known.map(within).unwrap_or_default(),
            folders: Look::begin(move || {
                let places = places.as_ref();
                doctor::folders(places.map(|(root, places)| (root.as_path(), places)))
            }),
            rooms: Look::begin(move || doctor::rooms(&place)),
            kills: Look::begin(doctor::kills),
            sandboxes: sandboxes(asker, known, plan),
        }
    }

    /// Waits for all of it, as long as each may take.
    pub fn end(self, seen: &Seen) -> Vec<Finding> {
        let of_git = self.git.end();
        let has_git = of_git.as_ref().is_some_and(|seen| seen.program.is_some());
        let mut found = vec![match &of_git {
            Some(seen) => git(seen),
            None => Finding::untold(About::Git, Level::Problem),
        }];
        if has_git {
            found.push(of_identity(self.identity));
        }
        found.extend(of_repository(seen, self.dirty));
        let untracked = self.untracked.and_then(Look::end);
        found.extend(unignored(&output::unignored(
            &untracked.unwrap_or_default(),
        )));
        found.extend(of_config(seen));
        found.extend(agents(&self.agents.end(), self.is_agent_untold));
        let (look, count) = self.unfound;
        let missing = told(look, About::Path, Level::Note, |seen| {
            unfound(seen, count).into_iter().collect()
        });
        let is_all_found = missing.is_empty();
        found.extend(missing);
        found.extend(told(self.unheard, About::Path, Level::Note, |seen| {
            unheard(seen).into_iter().collect()
        }));
        found.extend(told(self.schedulers, About::Path, Level::Note, |seen| {
            paths(seen, &self.within, is_all_found)
        }));
        found.extend(told(
            self.folders,
            About::Permissions,
            Level::Note,
            |seen| folders(seen),
        ));
        found.extend(told(self.rooms, About::Disk, Level::Note, |seen| {
            disk(seen)
        }));
        found.extend(told(self.kills, About::Kill, Level::Problem, kill));
        found.extend(told(
            self.sandboxes,
            About::Sandbox,
            Level::Note,
            |(available, chosen)| sandbox(available, chosen.as_ref()),
        ));
        found
    }
}

/// Returns the findings of a look; where it took too long, that.
fn told<T: Send + 'static>(
    look: Look<T>,
    about: About,
    level: Level,
    findings: impl FnOnce(&T) -> Vec<Finding>,
) -> Vec<Finding> {
    match look.end() {
        Some(seen) => findings(&seen),
        None => vec![Finding::untold(about, level)],
    }
}

fn of_identity(look: Look<Result<Vec<u8>, String>>) -> Finding {
    match look.end() {
        Some(Ok(settings)) => {
            let (who, is_named) = repo::committer(&settings);
            identity(&who, is_named)
        }
        Some(Err(why)) => Finding::note(
            About::Identity,
            format!("git does not say whose commits would be: {why}"),
        )
        .hint("`git config --get-regexp '^user'` shows its words"),
        None => Finding::untold(About::Identity, Level::Note),
    }
}

fn of_repository(seen: &Seen, dirty: Option<Look<Result<Vec<String>>>>) -> Vec<Finding> {
    let known = match &seen.repository {
        None => return vec![Finding::untold(About::Repository, Level::Problem)],
        Some(Err(error)) => return vec![Finding::of_error(About::Repository, error)],
        Some(Ok(known)) => known,
    };
    let is_asked = dirty.is_some();
    let dirty = dirty.and_then(Look::end).transpose();
    let (dirty, error) = match dirty {
        Ok(dirty) => (dirty, None),
        Err(error) => (None, Some(error).filter(|error| error.kind == Kind::Unsafe)),
    };
    let mut found = repository(&known.seen, dirty.as_deref());
    if let (None, Some(error)) = (&known.seen.refused, &error) {
        found.push(Finding::of_error(About::Repository, error));
    } else if is_asked && dirty.is_none() && known.seen.refused.is_none() {
        let what = "it could not be told whether tracked files have uncommitted changes";
        found.push(Finding::note(About::Repository, what).hint("`git status` tells"));
    }
    let read = known.goals.as_ref();
    let read = read.map(|(goals, warnings)| (goals.goals.len(), warnings.clone()));
    let read = match &known.refused {
        Some(error) if read.is_ok() => Err(error),
        Some(_) | None => read,
    };
    found.extend(goals(&known.goals_file, &read.map_err(Clone::clone)));
    found.extend(stuck(&known.stuck));
    found
}

fn of_config(seen: &Seen) -> Option<Finding> {
    match &seen.config {
        None => Some(Finding::untold(About::Config, Level::Problem)),
        Some(Err(error)) => Some(Finding::of_error(About::Config, error)),
        Some(Ok(_)) => None,
    }
}

/// Begins to ask git for the tracked files with changes.
fn dirty_files(asker: &Asker, known: &Known) -> Look<Result<Vec<String>>> {
    let (asker, root) = (asker.clone(), known.root.clone());
    Look::begin(move || {
        let mut repo = Repo::discover(&root)?;
        repo.git = asker.supervise(&repo.git);
        Workspace { repo: &repo }.dirty_files()
    })
}

/// Begins to ask git for what it neither tracks nor ignores; nothing where it cannot say.
fn untracked(asker: &Asker, known: &Known) -> Look<Vec<String>> {
    let (asker, root) = (asker.clone(), known.root.clone());
    Look::begin(move || {
        let mut repo = Repo::discover(&root).ok();
        let listed = repo.as_mut().map(|repo| {
            repo.git = asker.supervise(&repo.git);
            look::untracked(repo)
        });
        listed.and_then(Result::ok).unwrap_or_default()
    })
}

/// Returns what is looked for on the PATH: `evolve` itself, git, the agent, and what checks call.
fn programs(goals: Option<&Goals>, of_agent: &[String]) -> BTreeSet<String> {
    let of_checks = goals.into_iter().flat_map(Goals::commands);
    let of_checks = of_checks.flat_map(check::programs);
    let own = ["evolve", "git"].map(str::to_owned);
    own.into_iter()
        .chain(of_agent.iter().cloned())
        .chain(of_checks)
        .collect()
}

/// Returns the id and the check of each goal.
fn checks(goals: Option<&Goals>) -> Vec<(String, String)> {
    let goals = goals.into_iter().flat_map(|goals| &goals.goals);
    goals
        .map(|goal| (goal.id.clone(), goal.check.clone()))
        .collect()
}

/// Returns the name and the command of what is told of cycles.
fn hooks(goals: Option<&Goals>) -> Vec<(String, String)> {
    let hooks = goals.into_iter().flat_map(|goals| goals.settings.hooks());
    hooks
        .map(|(name, command)| (name.to_owned(), command.to_owned()))
        .collect()
}

fn within(known: &Known) -> Vec<String> {
    let folders = program::folders_within(&known.root);
    let shown = folders
        .iter()
        .map(|folder| match folder.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => folder.display().to_string(),
        });
    shown.collect()
}

/// Begins to try sandboxes. That of a run is chosen only where bubblewrap answered: it tries that again.
fn sandboxes(asker: &Asker, known: Option<&Known>, plan: &Plan) -> Look<Sandboxes> {
    let tried = asker.try_bwrap();
    let (wish, ground) = (plan.wish.clone(), known.map(|known| known.ground.clone()));
    Look::begin(move || {
        let (available, has_answered) = tried.end();
        let chosen = has_answered.then(|| {
            let chosen = Sandbox::choose(&wish, &ground.unwrap_or_default());
            chosen.map(|(_, warnings)| warnings)
        });
        (available, chosen)
    })
}
