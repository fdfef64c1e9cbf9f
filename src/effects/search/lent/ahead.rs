//! What would be taken in place of what the commands of a search run, if it lay in what its copies are lent. An agent that puts it there
//! writes in the user's checkout, where no attempt shows it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::effects::files::is_beneath;
use crate::effects::isolation::lent::is_lent;
use crate::effects::program;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::check::{Front, Instead};
use crate::model::yardstick;

/// Where that could lie, and what of it did.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ahead {
    /// The paths that are lent.
    pub links: Vec<String>,
    /// The folders from which Python takes modules first.
    pub fronts: Vec<Front>,
    /// What would be taken in place of another file, or of a program.
    pub instead: Vec<Instead>,
    /// What of all that lay there before the agents that are at work.
    pub there: Vec<String>,
}

impl Ahead {
    /// Returns what of it lies there now, and in place of what it is taken, in words.
    fn now(&self, root: &Path) -> BTreeMap<String, String> {
        let modules = program::taken_for_own(&self.fronts, root).into_iter();
        let modules = modules.map(|path| {
            let words = yardstick::taken_for_own_words(&path);
            (path, words)
        });
        let instead = self.instead.iter();
        let instead = instead.filter(|one| root.join(&one.path).is_file());
        let instead = instead.map(|one| (one.path.clone(), one.to_string()));
        let all = modules.chain(instead);
        all.filter(|(path, _)| is_lent(&self.links, path.as_bytes()))
            .collect()
    }

    /// Returns what came since.
    pub(super) fn came(&self, root: &Path) -> BTreeMap<String, String> {
        let mut now = self.now(root);
        now.retain(|path, _| !self.there.contains(path));
        now
    }

    /// Takes what lies there now for what lay there before.
    pub(super) fn note(&mut self, root: &Path) {
        self.there = self.now(root).into_keys().collect();
    }

    /// Moves what came since away, which an agent put there; returns what is to be told.
    pub(super) fn take(&self, root: &Path, quarantine: &mut Quarantine) -> Result<Vec<String>> {
        let mut words = Vec::new();
        for (path, what) in self.came(root) {
            if !is_beneath(root, path.as_bytes()) {
                // Behind a link lies what is somebody else's.
                return Err(Error::unsafe_repo(format!(
                    "by way of a link, something came into what copies are lent: {what}"
                ))
                .hint("remove it, or the link, and run `evolve search resume`"));
            }
            quarantine.take(root, path.as_bytes())?;
            words.push(format!(
                "came into what copies are lent while an agent was at work, and is taken away: {what}"
            ));
        }
        Ok(words)
    }

    /// Names what came since while no agent was at work: whether a command builds it, or the code that it runs forges it, cannot be told.
    pub(super) fn told(&self, root: &Path) -> Vec<String> {
        let new = self.came(root).into_values();
        let words = new.map(|what| {
            format!("came into what copies are lent while attempts were measured: {what}")
        });
        words.collect()
    }
}
