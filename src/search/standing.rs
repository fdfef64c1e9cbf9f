//! How a search stands: the endings of its attempts in the order of their numbers, and what is best after each. Pure.

use std::collections::HashSet;

use super::ending::{self, Ending, Settled, median, scored};
use crate::model::search::lineage::{Id, Lineage, Measure, Word};

/// A generation: the attempts that were made for it, and what they could be made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Its number, from 1.
    pub number: u64,
    /// Its first attempt.
    pub first: Id,
    /// Its last attempt.
    pub last: Id,
    /// Who lived on, the better first.
    pub survivors: Vec<Id>,
    /// Who could have, the better first: those who lived on, and behind them who stands in where one of them is pruned.
    pub(super) living: Vec<Id>,
    /// How many generations before it had no new best, in a row.
    pub stale: u64,
    /// How many attempts of the search were bred before it.
    pub(super) bred: u64,
}

/// How a search stands after some of its attempts.
#[derive(Clone, Debug)]
pub struct Standing<'l> {
    /// The lineage.
    pub lineage: &'l Lineage,
    /// Whether equal content always has an equal score: three samples of the baseline agree.
    pub is_deterministic: bool,
    settled: Vec<Settled>,
    /// Best and incumbent after each.
    tops: Vec<(Id, Id)>,
    /// For each the later attempts that were measured beside it.
    beside: Vec<Vec<Id>>,
    /// A generation that has begun, for who asks for a later one.
    pub(super) generation: Option<Generation>,
}

/// How a lineage stood when it was looked at before. What has its ending keeps it, so that only the rest is looked at again.
#[derive(Clone, Debug, Default)]
pub struct Known {
    settled: Vec<Settled>,
    tops: Vec<(Id, Id)>,
    beside: Vec<Vec<Id>>,
    generation: Option<Generation>,
    /// How many notes there were: each may change what was the best.
    notes: usize,
}

impl<'l> Standing<'l> {
    /// Begins with what was known of a lineage when it was shorter: the baseline at least.
    pub(super) fn begin(known: Known, lineage: &'l Lineage) -> Standing<'l> {
        let mut standing = Standing {
            lineage,
            is_deterministic: super::is_deterministic(lineage),
            settled: known.settled,
            tops: known.tops,
            beside: known.beside,
            generation: known.generation,
        };
        if standing.settled.is_empty() || known.notes != lineage.notes.len() {
            let samples = ending::samples(lineage, 0, Measure::First);
            standing.settled = vec![Settled {
                ending: Ending::Accepted,
                score: median(samples),
                root: 0,
                is_new_best: true,
            }];
            standing.tops = vec![(0, 0)];
            standing.beside = vec![Vec::new()];
            standing.generation = None;
            standing.heed_notes(0);
        }
        standing
    }

    /// Takes in what attempt `id`, the first that has no ending, came to.
    pub(super) fn settle(&mut self, id: Id, settled: Settled) {
        let tops = self.tops_with(id, &settled);
        self.settled.push(settled);
        self.tops.push(tops);
        self.beside.push(Vec::new());
        self.note_beside(id);
        self.heed_notes(id);
    }

    /// Returns what is known from now on.
    pub fn into_known(self) -> Known {
        Known {
            settled: self.settled,
            tops: self.tops,
            beside: self.beside,
            generation: self.generation,
            notes: self.lineage.notes.len(),
        }
    }

    /// Returns how it stood after attempt `id`.
    pub fn up_to(&self, id: Id) -> Standing<'l> {
        let len = id as usize + 1;
        Standing {
            lineage: self.lineage,
            is_deterministic: self.is_deterministic,
            settled: self.settled[..len].to_vec(),
            tops: self.tops[..len].to_vec(),
            beside: self.beside[..len].to_vec(),
            generation: self
                .generation
                .clone()
                .filter(|known| known.first <= len as Id),
        }
    }

    /// Returns how many attempts have their ending, the baseline among them; all with a smaller number do.
    #[expect(clippy::len_without_is_empty, reason = "the baseline is always there")]
    pub fn len(&self) -> Id {
        self.settled.len() as Id
    }

    /// Says whether every attempt that was proposed has its ending.
    pub fn is_settled(&self) -> bool {
        self.len() == self.lineage.newest() + 1
    }

    /// Returns what an attempt with a smaller number than `len` came to.
    pub fn settled(&self, id: Id) -> &Settled {
        &self.settled[id as usize]
    }

    /// Returns an attempt's score, if it has one. Where the fitness command is noisy, what was accepted had luck: samples that
    /// were taken of it later, beside other attempts, count as well.
    pub fn score(&self, id: Id) -> Option<f64> {
        self.score_before(id, self.len())
    }

    /// Returns the score of an attempt with what was measured of it beside attempt `id`, which has no ending yet.
    pub fn score_beside(&self, of: Id, id: Id) -> Option<f64> {
        let score = self.score(of)?;
        let beside = self.samples_beside(id, of);
        match beside.is_empty() {
            true => Some(score),
            false => {
                let mut all = self.samples_before(of, self.len());
                all.extend(beside);
                median(&all)
            }
        }
    }

    /// Returns the score that an attempt had before attempt `before` was measured.
    fn score_before(&self, id: Id, before: Id) -> Option<f64> {
        let score = self.settled(id).score?;
        match self.later(id, before).next() {
            None => Some(score),
            Some(_) => median(&self.samples_before(id, before)),
        }
    }

    /// Lists those before attempt `before` that were measured beside an attempt later.
    fn later(&self, id: Id, before: Id) -> impl Iterator<Item = Id> {
        // One that is looked at as of earlier does not know the later ones.
        let before = before.min(self.len());
        let beside = self.beside[id as usize].iter().copied();
        beside.filter(move |other| *other < before)
    }

    /// Lists the samples of an attempt, its own and those beside others before attempt `before`.
    fn samples_before(&self, id: Id, before: Id) -> Vec<f64> {
        let mut all = ending::own_samples(self.lineage, id);
        for other in self.later(id, before) {
            all.extend(self.samples_beside(other, id));
        }
        all
    }

    /// Returns what was measured of an attempt beside attempt `id`.
    fn samples_beside(&self, id: Id, of: Id) -> &'l [f64] {
        let measured = self.lineage.attempt(id).measurement(Measure::Beside(of));
        let measured = measured.and_then(|measured| scored(&measured.outcome));
        measured.map_or(&[], |(_, beside)| beside)
    }

    /// Returns the best attempt, the baseline if nothing is better.
    pub fn best(&self) -> Id {
        self.tops.last().map_or(0, |tops| tops.0)
    }

    /// Returns the best attempt that nobody has taken out by now, also before what is under way has its ending; the baseline if
    /// nothing else is left.
    pub fn winner(&self) -> Id {
        self.winner_after(self.len() - 1)
    }

    /// Returns what of the attempts up to `id` would be that.
    pub fn winner_after(&self, id: Id) -> Id {
        self.newest_best(id, Id::MAX)
    }

    /// Returns the best up to attempt `last` of those that were not pruned before attempt `before` was proposed: the newest that
    /// was the best when it ended, or what is better than that and only one that was pruned since was ahead of.
    fn newest_best(&self, last: Id, before: Id) -> Id {
        let is_new_best = |id: &Id| self.settled(*id).is_new_best;
        let mut bests = (1..=last).rev().filter(is_new_best);
        // Asked for each attempt, of which most searches prune none.
        if self.pruned(before).next().is_none() {
            return bests.next().unwrap_or(0);
        }
        let is_out = self.taken_out(last, before);
        let best = bests.find(|id| !is_out[*id as usize]).unwrap_or(0);
        let was_denied = |id: &Id| {
            let settled = self.settled(*id);
            settled.ending == Ending::Accepted
                && !settled.is_new_best
                && !is_out[*id as usize]
                && is_out[self.best_after(id - 1) as usize]
        };
        let denied = (1..=last).filter(was_denied);
        let direction = self.lineage.plan.direction;
        let is_better = |one: Id, other: Id| {
            let scores = self.score(one).zip(self.score(other));
            scores.is_some_and(|(one, other)| direction.is_better(one, other))
        };
        let better = denied.filter(|id| is_better(*id, best) && self.has_beaten(*id, best));
        better
            .reduce(|best, id| if is_better(id, best) { id } else { best })
            .unwrap_or(best)
    }

    /// Says whether what was measured shows that an accepted attempt is better than `other`, and what the hold-out asks for. One that
    /// was not the best was not held against the hold-out.
    fn has_beaten(&self, id: Id, other: Id) -> bool {
        let direction = self.lineage.plan.direction;
        let beside = ending::outcome(self.lineage, id, Measure::Beside(other)).and_then(scored);
        let is_confirmed = self.is_deterministic
            || beside.is_some_and(|(own, beside)| direction.are_all_better(own, beside));
        is_confirmed && !self.lineage.plan.has_holdout
    }

    /// Says of each attempt up to `last` whether it, or one that it was made from, was pruned before attempt `before` was proposed.
    fn taken_out(&self, last: Id, before: Id) -> Vec<bool> {
        let mut is_out = vec![false; last as usize + 1];
        for id in self.pruned(before).filter(|id| *id <= last) {
            is_out[id as usize] = true;
        }
        for id in 1..=last {
            let proposal = self.lineage.proposal(id);
            let mut parents = proposal.iter().flat_map(|one| &one.parents);
            is_out[id as usize] |= parents.any(|parent| is_out[*parent as usize]);
        }
        is_out
    }

    /// Returns what was the best once attempt `id` had its ending.
    pub fn best_after(&self, id: Id) -> Id {
        self.tops[id as usize].0
    }

    /// Returns the newest among the accepted and equal attempts with the best score: what a climb varies.
    pub fn incumbent(&self) -> Id {
        self.tops.last().map_or(0, |tops| tops.1)
    }

    /// The same for attempt `id`, before which it may have been pruned.
    pub fn incumbent_for(&self, id: Id) -> Id {
        let stands = |one: &Id| *one == 0 || !self.is_pruned(*one, id);
        let incumbent = Some(self.incumbent()).filter(stands);
        incumbent.unwrap_or_else(|| self.newest_best(self.len() - 1, id))
    }

    /// Returns the nearest accepted ancestor of attempt `id`, whose parents have their endings: the better one's of two.
    pub fn root_of(&self, id: Id) -> Id {
        let parents = self
            .lineage
            .proposal(id)
            .map_or(&[][..], |proposal| &proposal.parents);
        let roots = parents.iter().map(|parent| self.settled(*parent).root);
        let better_first = |a: &Id, b: &Id| self.compare(*a, *b);
        roots.min_by(better_first).unwrap_or(0)
    }

    /// Orders attempts with a score by it, the better first, of equals the newer.
    pub fn compare(&self, a: Id, b: Id) -> std::cmp::Ordering {
        self.compare_before(a, b, self.len())
    }

    fn compare_before(&self, a: Id, b: Id, before: Id) -> std::cmp::Ordering {
        let worst = f64::NAN;
        let scores = (
            self.score_before(a, before).unwrap_or(worst),
            self.score_before(b, before).unwrap_or(worst),
        );
        let direction = self.lineage.plan.direction;
        direction.better_first(scores.0, scores.1).then(b.cmp(&a))
    }

    /// Says whether a person took an attempt, or one that it was made from, out of the search before attempt `before` was
    /// proposed.
    pub fn is_pruned(&self, id: Id, before: Id) -> bool {
        let pruned: HashSet<Id> = self.pruned(before).collect();
        if pruned.is_empty() {
            return false;
        }
        let mut open = vec![id];
        let mut seen = HashSet::new();
        while let Some(id) = open.pop() {
            if pruned.contains(&id) {
                return true;
            }
            let parents = self
                .lineage
                .proposal(id)
                .map_or(&[][..], |proposal| &proposal.parents);
            open.extend(parents.iter().filter(|parent| seen.insert(**parent)));
        }
        false
    }

    fn pruned(&self, before: Id) -> impl Iterator<Item = Id> + '_ {
        let notes = self
            .lineage
            .notes
            .iter()
            .filter(move |note| note.after < before);
        notes.filter_map(|note| match note.word {
            Word::Prune(id) => Some(id),
            Word::Instruction(_) | Word::Adjust(_) => None,
        })
    }

    /// Returns the valid attempts among `ids` that nobody pruned, one for each content, the better first, as it was before attempt
    /// `before`.
    pub fn ranked(&self, ids: impl Iterator<Item = Id>, before: Id) -> Vec<Id> {
        let is_fit = |id: &Id| self.settled(*id).ending.is_valid() && !self.is_pruned(*id, before);
        let mut ids: Vec<Id> = ids.filter(is_fit).collect();
        ids.sort_by(|a, b| self.compare_before(*a, *b, before));
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(self.lineage.content(*id)));
        ids
    }

    /// Notes what a settled attempt was measured beside.
    fn note_beside(&mut self, id: Id) {
        for what in self.lineage.attempt(id).measured.keys() {
            if let Measure::Beside(other) = what {
                self.beside[*other as usize].push(id);
            }
        }
    }

    /// Returns best and incumbent once attempt `id` ended so.
    fn tops_with(&self, id: Id, settled: &Settled) -> (Id, Id) {
        let (best, incumbent) = (self.best(), self.incumbent());
        if settled.is_new_best {
            return (id, id);
        }
        let may_stand = match settled.ending {
            Ending::Accepted | Ending::Equal => self.is_deterministic,
            Ending::Duplicate(first) => {
                let is_fit = first == 0 || self.settled(first).ending.is_valid();
                self.is_deterministic && is_fit && !self.is_pruned(first, id)
            }
            _ => false,
        };
        let is_as_good = settled.score.is_some() && settled.score == self.score(best);
        match may_stand && is_as_good && !self.is_pruned(id, id) {
            true => (best, id),
            false => (best, incumbent),
        }
    }

    /// Lets what was pruned after attempt `id` was proposed be the best no more.
    fn heed_notes(&mut self, id: Id) {
        let is_prune = |word: &Word| matches!(word, Word::Prune(_));
        let mut notes = self.lineage.notes.iter();
        if !notes.any(|note| note.after == id && is_prune(&note.word)) {
            return;
        }
        let stands = |id: &Id| *id == 0 || !self.is_pruned(*id, self.len());
        let best = self.newest_best(self.len() - 1, self.len());
        let incumbent =
            match stands(&self.incumbent()) && self.score(self.incumbent()) == self.score(best) {
                true => self.incumbent(),
                false => best,
            };
        if let Some(tops) = self.tops.last_mut() {
            *tops = (best, incumbent);
        }
    }
}
