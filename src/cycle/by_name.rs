//! What checks find by its name where no commit need tell of a change: programs, in node_modules too, and plugins of pytest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::effects::{plugins, program};
use crate::model::goals::{Goals, Where};
use crate::model::yardstick::{self, Exchanged, Yardstick};
use crate::session::Session;

/// What of it there was before the agent.
#[derive(Debug, Default)]
pub struct ByName {
    /// Where the programs are that checks call.
    programs: BTreeMap<String, String>,
    /// What tells those of them that lie in the repository from other versions.
    versions: BTreeMap<String, Option<String>>,
    /// The files by which distributions declare plugins of pytest, with their texts.
    plugins: BTreeMap<String, String>,
    /// The folders in which the metadata of a project may lie that says that it has such plugins.
    meant: BTreeSet<String>,
}

/// What of the programs is not what it was.
#[derive(Debug, Default)]
pub struct Programs {
    /// Those that something was put in front of.
    pub exchanged: Vec<Exchanged>,
    /// The files of those in the repository that are other ones, and of those that packages brought in front of others.
    pub changed: Vec<String>,
}

/// What of the files by which distributions declare plugins of pytest is not what it was.
#[derive(Debug, Default)]
pub struct Plugins {
    /// New ones, that the project says nothing of.
    pub new: Vec<String>,
    /// All others.
    pub changed: Vec<String>,
}

impl ByName {
    /// Looks for it.
    pub fn of(session: &Session, goals: &Goals, yardstick: &Yardstick) -> ByName {
        let programs = programs(session, goals, yardstick);
        let root = &session.repo.root;
        let versions = program::versions(&programs, root);
        ByName {
            programs,
            versions,
            plugins: plugins::declared(&yardstick.distributions, root),
            meant: plugins::meant(&yardstick.distributions, root),
        }
    }

    /// Returns what is not what it was of the programs.
    pub fn programs(&self, session: &Session, goals: &Goals, yardstick: &Yardstick) -> Programs {
        let root = &session.repo.root;
        let now = program::versions(&self.programs, root);
        let is_other = |path: &&String| now.get(*path) != self.versions.get(*path);
        let mut changed: Vec<String> = self.versions.keys().filter(is_other).cloned().collect();
        let now = programs(session, goals, yardstick);
        let moved = yardstick::put_in_front(&self.programs, &now);
        let installed = yardstick.installed();
        let (brought, exchanged): (Vec<_>, Vec<_>) = moved
            .into_iter()
            .partition(|one| installed.contains(&one.program));
        changed.extend(brought.into_iter().map(|one| {
            let below = Path::new(&one.is).strip_prefix(root);
            below.map_or(one.is.clone(), |path| path.display().to_string())
        }));
        Programs { exchanged, changed }
    }

    /// Returns what is not what it was of the files by which plugins of pytest are declared.
    pub fn plugins(&self, session: &Session, goals: &Goals, yardstick: &Yardstick) -> Plugins {
        let root = &session.repo.root;
        let mut found = Plugins::default();
        for (path, text) in plugins::declared(&yardstick.distributions, root) {
            let before = self.plugins.get(&path);
            if before == Some(&text) || !is_measured(session, goals, &path) {
                continue;
            }
            match before.is_some() || self.meant.contains(plugins::folder_of(&path)) {
                true => found.changed.push(path),
                false => found.new.push(path),
            }
        }
        found
    }
}

/// Says whether a path below the root is there where goals are measured: what git ignores is in no copy.
fn is_measured(session: &Session, goals: &Goals, path: &str) -> bool {
    goals.settings.measure != Where::Clean || !session.repo.is_ignored(path)
}

/// Returns where the programs are that checks call.
pub fn programs(
    session: &Session,
    goals: &Goals,
    yardstick: &Yardstick,
) -> BTreeMap<String, String> {
    let is_measured = |path: &str| is_measured(session, goals, path);
    program::called_by_checks(goals, &yardstick.packaged, &is_measured, &session.repo.root)
}
