//! Items that a merge put into the queue more often than any side of it had them: `merge=union` keeps the lines of both sides,
//! also where both changed the line of one item. Pure.

use std::collections::{HashMap, HashSet};

use serde_json::json;

use super::{Identity, Key, Queue, Side, WorkItem};

/// One of the items that are the same.
#[derive(Clone, Copy)]
struct Twin<'a> {
    key: Key,
    item: &'a WorkItem,
}

impl<'a> Twin<'a> {
    /// Returns what it says of the work, whatever became of it.
    fn words(self) -> (Option<&'a str>, Option<&'a str>) {
        let WorkItem {
            description,
            evidence,
            ..
        } = self.item;
        (description.as_deref(), evidence.as_deref())
    }
}

/// The items of a queue, by what makes them the same.
type Twins<'a> = HashMap<&'a Identity, Vec<Twin<'a>>>;

/// The versions of a queue that a merge was made of.
struct Versions<'a> {
    merge: Twins<'a>,
    base: Twins<'a>,
    sides: Vec<Twins<'a>>,
}

impl<'a> Versions<'a> {
    fn of(side: &'a Side) -> Versions<'a> {
        let sides = std::iter::once(&side.side).chain(&side.others);
        Versions {
            merge: side.merge.twins(),
            base: side.base.twins(),
            sides: sides.map(Queue::twins).collect(),
        }
    }

    fn family(&self, identity: &Identity, now: &[Twin<'a>]) -> Family<'a> {
        let of = |twins: &Twins<'a>| twins.get(identity).cloned().unwrap_or_default();
        Family {
            now: now.to_vec(),
            merge: of(&self.merge),
            base: of(&self.base),
            sides: self.sides.iter().map(of).collect(),
        }
    }
}

/// Items that are the same, in each version of a queue.
struct Family<'a> {
    now: Vec<Twin<'a>>,
    merge: Vec<Twin<'a>>,
    base: Vec<Twin<'a>>,
    sides: Vec<Vec<Twin<'a>>>,
}

impl<'a> Family<'a> {
    /// Returns what is too much, if anything is.
    fn surplus(&self) -> Vec<Surplus> {
        let is_one = self.base.len() == 1 && self.sides.iter().all(|side| side.len() <= 1);
        if is_one {
            return self.surplus_of_one().into_iter().collect();
        }
        // Queued twice on purpose, or by each side for itself: only what says the same is the same.
        let words: HashSet<_> = self.now.iter().map(|twin| twin.words()).collect();
        let alike = words.into_iter().map(|words| {
            let of = |twins: &Vec<Twin<'a>>| -> Vec<Twin<'a>> {
                let alike = twins.iter().filter(|twin| twin.words() == words);
                alike.copied().collect()
            };
            Family {
                now: of(&self.now),
                merge: of(&self.merge),
                base: of(&self.base),
                sides: self.sides.iter().map(of).collect(),
            }
        });
        alike.filter_map(|one| one.surplus_of_one()).collect()
    }

    /// Returns what is beyond the most that a version had, unless somebody added to it after the merge.
    fn surplus_of_one(&self) -> Option<Surplus> {
        let most = self.most();
        if most == 0 || self.now.len() <= most || self.now.len() > self.merge.len() {
            return None;
        }
        let (done, open): (Vec<_>, Vec<_>) =
            (self.now.iter().copied()).partition(|twin| twin.item.is_consumed());
        let (first, rest) = done.split_at(self.done(most).min(done.len()));
        let ranked = [first, &open, rest].concat();
        let (kept, gone) = ranked.split_at(most);
        Some(Surplus {
            gone: gone.iter().map(|twin| twin.key).collect(),
            failed: failed(kept, gone),
        })
    }

    fn most(&self) -> usize {
        let sides = self.sides.iter().map(Vec::len);
        sides.fold(self.base.len(), usize::max)
    }

    /// Returns how many of so many are done: the first, the second and so on is if it is on any side, or was done since.
    fn done(&self, most: usize) -> usize {
        let is_done = |twin: &&Twin<'_>| twin.item.is_consumed();
        let count = |twins: &[Twin<'_>]| twins.iter().filter(is_done).count();
        let since = count(&self.now).saturating_sub(count(&self.merge));
        let is_done_at = |place: &usize| {
            let mut sides = self.sides.iter();
            sides.any(|side| side.get(*place).is_some_and(|twin| is_done(&twin)))
        };
        (0..most).filter(is_done_at).count() + since
    }
}

/// Returns an open item of those that are `kept`, with the failures of one that goes where it failed more often.
fn failed(kept: &[Twin<'_>], gone: &[Twin<'_>]) -> Option<(Key, WorkItem)> {
    let is_open = |twin: &&Twin<'_>| !twin.item.is_consumed();
    let kept = kept.iter().find(is_open)?;
    let most = gone.iter().max_by_key(|twin| twin.item.failures)?;
    (most.item.failures > kept.item.failures).then(|| (kept.key, most.item.clone()))
}

/// What is to be done about items that stand in the queue too often.
struct Surplus {
    gone: Vec<Key>,
    /// One that stays, and one that goes and failed more often.
    failed: Option<(Key, WorkItem)>,
}

impl Queue {
    /// Drops the items that merges put in more often than any side had them; returns how many. One that is done on a side stays
    /// done, the failures are the most of any, and where somebody added one more after the merge all stay.
    pub(super) fn drop_doubled(&mut self, sides: &[Side]) -> usize {
        let mut count = 0;
        loop {
            // The newest first: it had what an earlier one doubled on its sides.
            let sides = sides.iter().rev();
            let dropped: usize = sides.map(|side| self.drop_doubled_by(side)).sum();
            count += dropped;
            if dropped == 0 {
                return count;
            }
        }
    }

    fn drop_doubled_by(&mut self, side: &Side) -> usize {
        let mut doubled = self.twins();
        doubled.retain(|_, twins| twins.len() > 1);
        if doubled.is_empty() {
            return 0;
        }
        let versions = Versions::of(side);
        let all: Vec<_> = doubled
            .iter()
            .flat_map(|(identity, now)| versions.family(identity, now).surplus())
            .collect();
        self.drop_all(all)
    }

    fn drop_all(&mut self, all: Vec<Surplus>) -> usize {
        let mut gone = HashSet::new();
        for one in all {
            gone.extend(one.gone);
            if let Some((key, failed)) = one.failed {
                self.edit(key, |item| {
                    item.insert("failures".into(), json!(failed.failures));
                    if let Some(at) = failed.failed_at {
                        item.insert("failed_at".into(), json!(at));
                    }
                });
            }
        }
        if gone.is_empty() {
            return 0;
        }
        let lines = std::mem::take(&mut self.lines).into_iter().enumerate();
        let left =
            lines.filter_map(|(line, it)| it.without_at(|item| gone.contains(&Key { line, item })));
        self.lines = left.collect();
        let marks = self.marks();
        self.read.extend(marks);
        gone.len()
    }

    fn twins(&self) -> Twins<'_> {
        let mut twins = Twins::new();
        for (index, line) in self.lines.iter().enumerate() {
            for (identity, item) in line.identities().zip(line.items()) {
                let key = Key {
                    line: index,
                    item: item.key.item,
                };
                twins.entry(identity).or_default().push(Twin { key, item });
            }
        }
        twins
    }
}

#[cfg(test)]
mod tests;
