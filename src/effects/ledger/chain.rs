//! Reads the ledger as git has it: HEAD's or a branch's, unless that takes away from what the last ledger had.

use super::anchor;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::exact;
use crate::model::growth::{self, Believed, Growth};
use crate::model::ledger as names;
use crate::model::text;

/// The files that only grow.
const GROWING: [&str; 3] = [names::HISTORY, names::LESSONS, names::RETRIES];

/// What git has of the ledger.
#[derive(Debug)]
pub(super) struct Chain {
    /// HEAD's tree.
    pub tree: String,
    /// Files of HEAD's that are not believed, as they stood in the last ledger.
    pub restored: Vec<(String, Vec<u8>)>,
    /// What was not believed, in words.
    pub said: Vec<String>,
}

impl Chain {
    /// Finds out what is believed; none where git has no ledger yet, neither in HEAD nor at the anchor.
    pub(super) fn of(repo: &Repo, branch: Option<&str>) -> Result<Option<Chain>> {
        let Some(head) = tip(repo, branch)? else {
            return Ok(None);
        };
        let mut chain = Chain::at(repo, &head)?;
        let Some(anchor) = anchor::read(repo).filter(|anchor| *anchor != head) else {
            let has_any = repo.has_file(&chain.tree, names::HISTORY);
            return Ok((has_any || anchor::read(repo).is_some()).then_some(chain));
        };
        let last = repo.tree_of(&anchor)?;
        // As a rule nobody but `evolve` touched it since, and nothing has to be read.
        if repo.ledger_ids(&last) != repo.ledger_ids(&chain.tree) {
            let descends = repo.descends(&head, &anchor)?;
            for name in GROWING {
                chain.weigh(repo, (&last, &anchor, descends), name)?;
            }
            chain.restore_missing(repo, &last)?;
        }
        Ok(Some(chain))
    }

    /// Where lines were taken away, files of the last ledger that are gone from HEAD's went with them: snapshots above all.
    fn restore_missing(&mut self, repo: &Repo, last: &str) -> Result<()> {
        if self.restored.is_empty() {
            return Ok(());
        }
        for (name, entry) in repo.ledger_files(last)? {
            let is_restored = self.restored.iter().any(|(known, _)| *known == name);
            if !is_restored && !names::is_private(&name) && !repo.has_file(&self.tree, &name) {
                self.restored.push((name, repo.blob(&entry.id)?));
            }
        }
        Ok(())
    }

    /// Returns what a commit has, whatever the anchor says.
    pub(super) fn at(repo: &Repo, commit: &str) -> Result<Chain> {
        Ok(Chain {
            tree: repo.tree_of(commit)?,
            restored: Vec::new(),
            said: Vec::new(),
        })
    }

    /// Reads a file, as it is believed, as text that stands for its bytes exactly; none if there is none.
    pub(super) fn read(&self, repo: &Repo, name: &str) -> Result<Option<String>> {
        let restored = self.restored.iter().find(|(known, _)| known == name);
        let bytes = match restored {
            Some((_, bytes)) => Some(bytes.clone()),
            None => repo.file(&self.tree, name)?,
        };
        Ok(bytes.map(|bytes| exact::decode(&bytes)))
    }

    /// Holds HEAD's version of a file against the last ledger's, and restores the latter where lines were taken away.
    fn weigh(
        &mut self,
        repo: &Repo,
        (last, anchor, descends): (&str, &str, bool),
        name: &str,
    ) -> Result<()> {
        let growth = Growth::of(
            &whole(repo, last, name, &self.tree)?,
            &whole(repo, &self.tree, name, last)?,
        );
        let Some(words) = growth.in_words() else {
            return Ok(());
        };
        let at = anchor.get(..10).unwrap_or(anchor);
        match (growth, growth::rule(growth, descends)) {
            (Growth::Rewritten { missing, .. }, Believed::Head) => {
                self.said.push(format!(
                    "{name}: this branch is another line of history than the one that evolve wrote to last, and does not have {} of commit {at}; nothing is lost, they stay in that commit, and evolve goes on with what this branch has",
                    text::count(missing, "line")
                ));
            }
            (_, Believed::Head) => {}
            (_, Believed::Anchor) => {
                self.said.push(format!(
                    "{name}: HEAD has {words}; it is put right from the last ledger, commit {at} (if it was rewritten on purpose, remove {} and start again)",
                    repo.private.join("anchor").display()
                ));
                for file in parts(repo, last, name) {
                    if let Some(bytes) = repo.file(last, &file)? {
                        self.restored.push((file, bytes));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the newest commit of a branch; without one, HEAD's.
pub(super) fn tip(repo: &Repo, branch: Option<&str>) -> Result<Option<String>> {
    match branch {
        Some(branch) => repo.resolve(branch),
        None => Ok(repo.head()?.commit),
    }
}

/// Returns the files that make up a growing file, oldest first: the history has its segments before it.
fn parts(repo: &Repo, tree: &str, name: &str) -> Vec<String> {
    let mut parts: Vec<String> = match name {
        names::HISTORY => (1..)
            .map(names::segment)
            .take_while(|segment| repo.has_file(tree, segment))
            .collect(),
        _ => Vec::new(),
    };
    parts.push(name.to_owned());
    parts
}

/// Returns the text of a growing file, without the segments that are the same in `other`: they are long.
fn whole(repo: &Repo, tree: &str, name: &str, other: &str) -> Result<String> {
    let mut text = String::new();
    for part in parts(repo, tree, name) {
        let is_same = repo.id_at(tree, &part) == repo.id_at(other, &part);
        if part != name && is_same {
            continue;
        }
        text.push_str(&exact::decode(&repo.file(tree, &part)?.unwrap_or_default()));
    }
    Ok(text)
}

/// Returns the text of the whole history as it is believed, its segments before it; none where git has no ledger yet.
pub(super) fn whole_history(repo: &Repo) -> Result<Option<String>> {
    let Some(chain) = Chain::of(repo, None)? else {
        return Ok(None);
    };
    let mut text = String::new();
    for part in parts(repo, &chain.tree, names::HISTORY) {
        text.push_str(&chain.read(repo, &part)?.unwrap_or_default());
    }
    Ok(Some(text))
}
