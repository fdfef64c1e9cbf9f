//! Reads the ledger as git has it: HEAD's or a branch's, unless that takes away from what the last ledger had.

use std::collections::{HashMap, HashSet};

use super::anchor;
use super::merged::Merged;
use super::segments::{before, parts, unmoved, whole};
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::exact;
use crate::model::growth::{self, Believed, Growth};
use crate::model::ledger as names;
use crate::model::text;
use crate::model::work::Side;

/// The files that only grow.
const GROWING: [&str; 3] = [names::HISTORY, names::LESSONS, names::RETRIES];

/// How many changed snapshots are named.
const NAMED: usize = 5;

/// What git has of the ledger.
#[derive(Debug)]
pub(super) struct Chain {
    /// HEAD's tree.
    pub tree: String,
    /// Files of HEAD's that are not believed, as they stood in the last ledger or with what a merge left out.
    pub restored: Vec<(String, Vec<u8>)>,
    /// Those of them that take nothing from what HEAD has.
    pub joined: Vec<String>,
    /// What merges made of the queue.
    pub queues: Vec<Side>,
    /// What was not believed, in words.
    pub said: Vec<String>,
}

/// The last ledger.
struct Last {
    tree: String,
    commit: String,
    /// HEAD descends from it.
    descends: bool,
}

impl Last {
    fn short(&self) -> &str {
        self.commit.get(..10).unwrap_or(&self.commit)
    }
}

impl Chain {
    /// Finds out what is believed; none where git has no ledger yet, neither in HEAD nor at the anchor.
    pub(super) fn of(repo: &Repo, branch: Option<&str>) -> Result<Option<Chain>> {
        let Some(head) = tip(repo, branch)? else {
            return Ok(None);
        };
        let mut chain = Chain::at(repo, &head)?;
        let anchor = anchor::read(repo)?;
        let has_anchor = anchor.is_some();
        let Some(anchor) = anchor.filter(|anchor| *anchor != head) else {
            let has_any = has_anchor || repo.has_file(&chain.tree, names::HISTORY)?;
            return Ok(has_any.then_some(chain));
        };
        let last = repo.tree_of(&anchor)?;
        let descends = repo.descends(&head, &anchor)?;
        let merged = Merged::since(repo, &anchor, descends, &head)?;
        chain.queues = merged.queues(repo)?;
        // As a rule nobody but `evolve` touched it since, and nothing has to be read.
        let is_same = repo.ledger_ids(&last)? == repo.ledger_ids(&chain.tree)?;
        if !is_same || !merged.is_empty() {
            let last = Last {
                tree: last,
                commit: anchor,
                descends,
            };
            chain.hold_snapshots(repo, &last, &merged)?;
            chain.leave_out_moved(repo, &last, &merged)?;
            let mut all = Vec::new();
            for name in GROWING {
                all.push(chain.weigh(repo, &last, &merged, name)?);
            }
            if all.iter().any(|believed| *believed != Believed::Head) {
                let missing = chain.missing(repo, &last.tree)?;
                if !all.contains(&Believed::Anchor) {
                    let names = missing.iter().map(|(name, _)| name.clone());
                    chain.joined.extend(names);
                }
                chain.restored.extend(missing);
            }
        }
        Ok(Some(chain))
    }

    /// Restores snapshots that HEAD has otherwise than the last ledger: they are written once, and may only leave the tree. A merge may
    /// have taken what another branch recorded as the same cycle.
    fn hold_snapshots(&mut self, repo: &Repo, last: &Last, merged: &Merged) -> Result<()> {
        if !last.descends {
            return Ok(());
        }
        let now: HashMap<_, _> = repo.ledger_files(&self.tree)?.into_iter().collect();
        let mut changed = Vec::new();
        for (name, was) in repo.ledger_files(&last.tree)? {
            let now = now.get(&name).filter(|now| now.id != was.id);
            if let Some(now) = now.filter(|_| names::is_snapshot(&name))
                && !merged.has_recorded(repo, &name, &now.id)?
            {
                self.restored.push((name.clone(), repo.blob(&was.id)?));
                changed.push(name);
            }
        }
        if !changed.is_empty() {
            let (have, are) = match changed.len() {
                1 => ("it otherwise than it was", "it is"),
                _ => ("them otherwise than they were", "they are"),
            };
            self.said.push(format!(
                "{}: HEAD has {have} written; {are} put right from the last ledger, commit {} (if that was on purpose, remove {} and start again)",
                text::some_of(&changed, NAMED),
                last.short(),
                repo.private.join("anchor").display()
            ));
        }
        Ok(())
    }

    /// Leaves out of the active history what a merge left there though a segment has it: one side had moved its oldest lines to one
    /// since the branches parted. Only segments count that the last ledger has, too, or that a commit of the ledger wrote which
    /// came with the merges: any other could be made up to have records forgotten.
    fn leave_out_moved(&mut self, repo: &Repo, last: &Last, merged: &Merged) -> Result<()> {
        let all = parts(|part| repo.has_file(&self.tree, part), names::HISTORY)?;
        let mut segments = Vec::new();
        for segment in all.into_iter().rev().filter(|part| part != names::HISTORY) {
            if let Some(id) = repo.id_at(&self.tree, &segment)?
                && (repo.id_at(&last.tree, &segment)?.as_ref() == Some(&id)
                    || merged.has_recorded(repo, &segment, &id)?)
            {
                segments.push(id);
            }
        }
        if segments.is_empty() {
            return Ok(());
        }
        let segments = segments.iter();
        let segments = segments.map(|id| Ok(exact::decode_all(repo.blob(id)?)));
        let text = self.read(repo, names::HISTORY)?.unwrap_or_default();
        let Some((text, count)) = unmoved(&text, segments)? else {
            return Ok(());
        };
        self.said.push(format!(
            "{}: a merge doubled {} that a segment has, too, and that is put right",
            names::HISTORY,
            text::count(count, "line")
        ));
        let bytes = exact::encode_all(text);
        self.restored.push((names::HISTORY.to_owned(), bytes));
        self.joined.push(names::HISTORY.to_owned());
        Ok(())
    }

    /// Where lines were taken away, files of the last ledger that are gone from HEAD's went with them: snapshots above all.
    fn missing(&self, repo: &Repo, last: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let mut missing = Vec::new();
        for (name, entry) in repo.ledger_files(last)? {
            let is_known = self.is_restored(&name) || names::is_private(&name);
            if !is_known && !repo.has_file(&self.tree, &name)? {
                missing.push((name, repo.blob(&entry.id)?));
            }
        }
        Ok(missing)
    }

    /// Returns what a commit has, whatever the anchor says.
    pub(super) fn at(repo: &Repo, commit: &str) -> Result<Chain> {
        Ok(Chain {
            tree: repo.tree_of(commit)?,
            restored: Vec::new(),
            joined: Vec::new(),
            queues: Vec::new(),
            said: Vec::new(),
        })
    }

    /// Says whether a file is not believed as HEAD has it.
    pub(super) fn is_restored(&self, name: &str) -> bool {
        self.restored.iter().any(|(known, _)| known == name)
    }

    /// Reads a file, as it is believed, as text that stands for its bytes exactly; none if there is none.
    pub(super) fn read(&self, repo: &Repo, name: &str) -> Result<Option<String>> {
        let restored = self.restored.iter().find(|(known, _)| known == name);
        let bytes = match restored {
            Some((_, bytes)) => Some(bytes.clone()),
            None => repo.file(&self.tree, name)?,
        };
        Ok(bytes.map(exact::decode_all))
    }

    /// Holds HEAD's version of a file against the last ledger's, and restores the latter where lines were taken away. What
    /// merges left out is joined to either.
    fn weigh(
        &mut self,
        repo: &Repo,
        last: &Last,
        merged: &Merged,
        name: &'static str,
    ) -> Result<Believed> {
        let earlier = whole(repo, &last.tree, name, Some(&self.tree))?;
        let now = self.whole(repo, name, Some(&last.tree))?;
        let growth = Growth::of(&earlier, &now);
        let sides = match merged.is_empty() {
            true => Vec::new(),
            false => merged.texts(repo, name)?,
        };
        // As a rule the sides have nothing that HEAD has not, and no record has to be looked for.
        let is_rewritten = matches!(growth, Growth::Rewritten { .. });
        let recorded = match is_rewritten || self.lacks_any(repo, name, &sides)? {
            true if !sides.is_empty() => merged.recorded(repo, name)?,
            true | false => HashSet::new(),
        };
        let is_merged = || !sides.is_empty() && growth::is_merged(&earlier, &now, &recorded);
        let believed = growth::rule(growth, last.descends, is_merged);
        match (growth, believed) {
            (Growth::Rewritten { missing, .. }, Believed::Head) => self.said.push(format!(
                "{name}: this branch is another line of history than the one that evolve wrote to last, and does not have {} of commit {}; nothing is lost, they stay in that commit, and evolve goes on with what this branch has",
                text::count(missing, "line"),
                last.short()
            )),
            (_, Believed::Head | Believed::Both) => {}
            (_, Believed::Anchor) => self.restore(repo, last, name, growth)?,
        }
        let is_recorded = |line: &str| recorded.contains(line);
        let count = match believed {
            Believed::Head if sides.is_empty() => 0,
            Believed::Head => self.join(repo, name, &sides, is_recorded)?,
            Believed::Both => {
                let had: HashSet<&str> = growth::beyond(&earlier, &now).collect();
                let is_wanted = |line: &str| had.contains(line) || recorded.contains(line);
                let earlier = whole(repo, &last.tree, name, None)?;
                let sides = [vec![earlier], sides].concat();
                self.join(repo, name, &sides, is_wanted)?
            }
            Believed::Anchor => {
                let now = whole(repo, &self.tree, name, None)?;
                let sides = [vec![now], sides].concat();
                self.join(repo, name, &sides, is_recorded)?
            }
        };
        if count > 0 && believed != Believed::Anchor {
            self.joined.push(name.to_owned());
        }
        Ok(believed)
    }

    /// Returns the text of a growing file as it is believed so far, without the segments that are the same in an `other` tree.
    fn whole(&self, repo: &Repo, name: &str, other: Option<&str>) -> Result<String> {
        let restored = self.restored.iter().find(|(known, _)| known == name);
        match restored {
            Some((_, bytes)) => {
                let segments = before(repo, &self.tree, name, other)?;
                Ok([segments, exact::decode(bytes)].concat())
            }
            None => whole(repo, &self.tree, name, other),
        }
    }

    /// Says whether HEAD's version of a growing file has not all lines of the others.
    fn lacks_any(&self, repo: &Repo, name: &str, others: &[String]) -> Result<bool> {
        if others.is_empty() {
            return Ok(false);
        }
        let whole = self.whole(repo, name, None)?;
        let mut others = others.iter();
        Ok(others.any(|other| growth::beyond(other, &whole).next().is_some()))
    }

    /// Makes a growing file what the last ledger has.
    fn restore(&mut self, repo: &Repo, last: &Last, name: &str, growth: Growth) -> Result<()> {
        self.said.push(format!(
            "{name}: HEAD has {}; it is put right from the last ledger, commit {} (if it was rewritten on purpose, remove {} and start again)",
            growth.in_words().unwrap_or_default(),
            last.short(),
            repo.private.join("anchor").display()
        ));
        self.restored.retain(|(known, _)| known != name);
        self.joined.retain(|known| known != name);
        for file in parts(|part| repo.has_file(&last.tree, part), name)? {
            if let Some(bytes) = repo.file(&last.tree, &file)? {
                self.restored.push((file, bytes));
            }
        }
        Ok(())
    }

    /// Joins the wanted lines of other versions to a growing file as it is believed so far; returns how many that were.
    fn join(
        &mut self,
        repo: &Repo,
        name: &str,
        others: &[String],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<usize> {
        let is_there = |part: &str| match self.is_restored(part) {
            true => Ok(true),
            false => repo.has_file(&self.tree, part),
        };
        let mut beginning = String::new();
        for part in parts(is_there, name)?.iter().filter(|part| *part != name) {
            beginning.push_str(&self.read(repo, part)?.unwrap_or_default());
        }
        let mut text = self.read(repo, name)?.unwrap_or_default();
        let mut count = 0;
        for other in others {
            if let Some((whole, new)) = growth::joined((&beginning, &text), other, &is_wanted) {
                (text, count) = (whole, count + new);
            }
        }
        if count == 0 {
            return Ok(0);
        }
        let lines = text::count(count, "line");
        if let Some(why) = names::refusal(name, &text) {
            self.said.push(format!(
                "{name}: a merge left out {lines} of one side that evolve had recorded, and they stay out: with them {why}"
            ));
            return Ok(0);
        }
        let words = match count {
            1 => "it is",
            _ => "they are",
        };
        self.said.push(format!(
            "{name}: a merge left out {lines} of one side that evolve had recorded, and {words} in it again"
        ));
        self.restored.retain(|(known, _)| known != name);
        self.restored.push((name.to_owned(), exact::encode(&text)));
        Ok(count)
    }
}

/// Says whether a merge since the last ledger did not take over a side's ledger as it was.
pub(super) fn has_merge(repo: &Repo, head: &str) -> Result<bool> {
    let Some(anchor) = anchor::read(repo)?.filter(|anchor| anchor != head) else {
        return Ok(false);
    };
    let descends = repo.descends(head, &anchor)?;
    let merged = Merged::since(repo, &anchor, descends, head)?;
    Ok(merged.has_sides())
}

/// Returns the newest commit of a branch; without one, HEAD's.
pub(super) fn tip(repo: &Repo, branch: Option<&str>) -> Result<Option<String>> {
    match branch {
        Some(branch) => repo.resolve(branch),
        None => Ok(repo.head()?.commit),
    }
}

/// Returns the text of the whole history as it is believed, its segments before it, and nothing twice that one of these has; none
/// where git has no ledger yet.
pub(super) fn whole_history(repo: &Repo) -> Result<Option<String>> {
    let Some(chain) = Chain::of(repo, None)? else {
        return Ok(None);
    };
    let mut text = String::new();
    let parts = parts(|part| repo.has_file(&chain.tree, part), names::HISTORY)?;
    for part in parts.iter().filter(|part| *part != names::HISTORY) {
        text.push_str(&chain.read(repo, part)?.unwrap_or_default());
    }
    let active = chain.read(repo, names::HISTORY)?.unwrap_or_default();
    let unmoved = growth::apart(&active, &text).map(|(rest, _)| rest);
    text.push_str(&unmoved.unwrap_or(active));
    Ok(Some(text))
}
