//! Which agent a search calls: the flag's, the search's own, that of GOALS.yaml, the user's, else the first that is installed.

use super::place::Place;
use crate::effects::agent::Agent;
use crate::error::{Error, Kind, Result};
use crate::model::goals::{AgentSpec, Settings};
use crate::session::GoalsFile;

/// Finds the program of the agent; `named` is what flag or search say, if they do.
pub fn resolve(place: &Place<'_>, named: Option<String>, user: &Settings) -> Result<Agent> {
    let file = of_goals(place, named.is_none());
    let spec = named.map(AgentSpec::Line).or(file.agent);
    let spec = spec.or_else(|| user.agent.clone());
    let entries = [user.agents.clone(), file.agents];
    let found = Agent::resolve(spec.as_ref(), &entries, &place.repo.root);
    match spec {
        None => found.map_err(none_installed),
        Some(_) => found,
    }
}

/// Returns what GOALS.yaml says of agents. A search needs no goals, so one that cannot be read is only told of, where it counts.
fn of_goals(place: &Place<'_>, counts: bool) -> Settings {
    let file = GoalsFile::of_root(place.repo);
    if std::fs::symlink_metadata(&file.path).is_err() {
        return Settings::default();
    }
    match file.load() {
        Ok((goals, _)) => goals.settings,
        Err(error) => {
            tracing::debug!("{error}");
            if counts {
                place.events.warn(
                    "GOALS.yaml cannot be read, so no agent is taken from it; `evolve validate` says why",
                );
            }
            Settings::default()
        }
    }
}

/// Says the same in the words of a search.
fn none_installed(error: Error) -> Error {
    if error.kind != Kind::Agent {
        return error;
    }
    let message = "no agent is configured and none is installed, so no attempt could be made";
    let install = error.hints.into_iter().next().unwrap_or_default();
    Error::new(Kind::Agent, message).hint(install).hint(
        "or name any other: `evolve search --agent 'my-agent --flag'`, `agent:` in SEARCH.yaml, or `evolve: {agent: …}` in GOALS.yaml or in ~/.config/evolve/config.yaml",
    )
}
