//! Refs that checks compare with: which of them the agent moved, removed, or made another one in front of.

use std::collections::BTreeSet;

use super::Attempt;
use crate::effects::guard::refs;
use crate::effects::workspace::{Start, Stock, some_of};
use crate::error::Result;
use crate::model::compared::{self, Fate, Other, Refs, Words};
use crate::session::Session;

/// How many files that checks run are looked into.
const MOST_FILES: usize = 200;
/// The most bytes of one of them.
const FILE_LIMIT: usize = 256 << 10;

impl Attempt<'_> {
    /// Refuses what the agent did to refs that checks compare with, and makes them what they were: they are the yardstick. What is
    /// no doubt somebody else's, or may not be compared with, is only named.
    pub(super) fn look_at_refs(
        &self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        let repo = &session.repo;
        let mut now = repo.all_refs()?;
        let is_compared = |(name, _): &(&String, &String)| {
            **name != start.branch && !name.starts_with("refs/evolve/")
        };
        let compared = |refs: &Refs| -> Refs {
            let some = refs.iter().filter(is_compared);
            some.map(|(name, to)| (name.clone(), to.clone())).collect()
        };
        let mut is_same = compared(&self.refs) == compared(&now);
        let whose = start.whose();
        let is_theirs = |other: &Other, now: &Refs| {
            let is_moved = |name: &&String| self.refs.get(*name) != now.get(*name);
            let mut moved = other.names.iter().filter(is_moved);
            session.isolation.is_none()
                && moved.all(|name| {
                    let is = now.get(name);
                    is.is_some_and(|is| refs::is_by_somebody_else(repo, (name, is), &whose))
                })
        };
        let (mut refused, mut named) = (BTreeSet::new(), BTreeSet::new());
        let mut names = BTreeSet::new();
        for (words, is_check) in self.words(session, start) {
            for word in &words.sure {
                if let Some(target) = start.root_ref(repo, word) {
                    now.insert(word.clone(), target);
                    is_same = false;
                }
            }
            if is_same {
                continue;
            }
            let all = words.sure.iter().chain(&words.other);
            for other in compared::others(all, (&self.refs, &now), &start.branch) {
                let is_sure = words.sure.contains(&other.word)
                    || compared::is_tracking(&other.word, &self.refs);
                // A goal may be about a tag that is to be made.
                let is_free = other.fate == Fate::Made
                    || words.fetches && other.is_fetched()
                    || is_theirs(&other, &now);
                match is_sure && !is_free {
                    true => {
                        refused.insert(format!("{other}, and checks compare with it"));
                        names.extend(other.names);
                    }
                    false if is_sure || is_check => {
                        named.insert(other.to_string());
                    }
                    false => {}
                }
            }
        }
        if !names.is_empty() && session.isolation.is_none() {
            let put_back = refs::put_back_these(repo, (&self.refs, &now), &names, &whose)?;
            stock.notes.extend(put_back);
            // HEAD may be on one of them.
            stock.place = session.workspace().place_again(start, stock)?;
        }
        stock.change.goalposts.extend(refused);
        if !named.is_empty() {
            let named: Vec<_> = named.into_iter().collect();
            stock.notes.push(format!(
                "refs that checks may compare with: {}",
                some_of(&named)
            ));
        }
        Ok(())
    }

    /// Returns the words of each check, and of each file that one runs as it was before the agent; says of each whether it is a
    /// check's.
    fn words(&self, session: &Session, start: &Start) -> Vec<(Words, bool)> {
        let checks = self.goals.goals.iter().map(|goal| &goal.check);
        let mut found: Vec<_> = checks.map(|check| (compared::words(check), true)).collect();
        let files = self
            .yardstick
            .iter()
            .flat_map(|yardstick| &yardstick.frozen);
        for file in files.take(MOST_FILES) {
            let bytes = session.repo.file(&start.tree, file).ok().flatten();
            let bytes = bytes.filter(|bytes| bytes.len() <= FILE_LIMIT);
            if let Some(text) = bytes.and_then(|bytes| String::from_utf8(bytes).ok()) {
                found.push((compared::words(&text), false));
            }
        }
        found
    }
}
