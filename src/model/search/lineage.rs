//! The lineage of a search: what was planned, proposed, edited, measured and noted, as its file says it, and nothing else.
//! One entry a line; what an entry depends on stands before it. Pure.

mod entry;
mod plan;

use std::collections::{BTreeMap, HashMap};

use crate::model::usage::{Spent, Usage};

pub use entry::{
    Adjustment, Edited, End, Entry, Measure, Measured, Note, Operator, Outcome, Proposal, Status,
    Why, Word,
};
pub use plan::{Direction, Plan, Population, Request, Strategy};

/// The number of an attempt; the baseline, which is the untouched code, has 0.
pub type Id = u64;

/// How often an agent that failed is asked in all.
pub const TRIES: usize = 2;

/// What is known of one attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attempt {
    /// What it was to be; none for the baseline.
    pub proposal: Option<Proposal>,
    /// What its agents came to, in their order.
    pub edits: Vec<Edited>,
    /// Its measurements.
    pub measured: BTreeMap<Measure, Measured>,
}

impl Attempt {
    /// Returns what its last agent came to, unless another is to try.
    pub fn edited(&self) -> Option<&Edited> {
        let is_last =
            |edited: &&Edited| edited.status != Status::Failed || self.edits.len() >= TRIES;
        self.edits.last().filter(is_last)
    }

    /// Returns the digest of its editable files, once they are there.
    pub fn content(&self) -> Option<&str> {
        self.edited()?.content.as_deref()
    }

    /// Returns a measurement, if it was made.
    pub fn measurement(&self, what: Measure) -> Option<&Measured> {
        self.measured.get(&what)
    }

    /// Returns what went wrong with it, as far as agents may know: nothing of the hold-out.
    pub fn problem(&self) -> Option<&str> {
        let reason = self.edited().and_then(|edited| edited.reason.as_deref());
        let found = self.measurement(Measure::First).map(|one| &one.outcome);
        match found {
            Some(Outcome::GateFailed(why) | Outcome::Invalid(why)) => Some(why),
            Some(Outcome::Scored { .. }) | None => reason,
        }
    }
}

/// All that is known of a search.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// What was asked for.
    pub plan: Plan,
    /// The attempts by their number, the baseline first.
    pub attempts: Vec<Attempt>,
    /// What persons wrote meanwhile.
    pub notes: Vec<Note>,
    /// Why it ended, if it did.
    pub end: Option<End>,
    /// The first attempt with each content.
    first_with: HashMap<String, Id>,
}

impl Lineage {
    /// Begins a lineage.
    pub fn new(plan: Plan) -> Lineage {
        let first_with = HashMap::from([(plan.content.clone(), 0)]);
        Lineage {
            plan,
            attempts: vec![Attempt::default()],
            notes: Vec::new(),
            end: None,
            first_with,
        }
    }

    /// Returns all that persons wanted otherwise before attempt `before` was proposed.
    pub fn adjusted(&self, before: Id) -> Adjustment {
        let notes = self.notes.iter().filter(|note| note.after < before);
        notes.fold(Adjustment::default(), |all, note| match &note.word {
            Word::Adjust(change) => all.and(change),
            Word::Instruction(_) | Word::Prune(_) => all,
        })
    }

    /// Returns how many words of persons it has taken in, as they left them; what is adjusted is asked for otherwise.
    pub fn words_taken(&self) -> usize {
        let is_left = |note: &&Note| !matches!(note.word, Word::Adjust(_));
        self.notes.iter().filter(is_left).count()
    }

    /// Returns what a person left as a note of now; what nobody can read counts as read.
    pub fn note_of(&self, word: Option<Word>) -> Note {
        Note {
            after: self.newest(),
            word: word.unwrap_or_else(|| Word::Instruction(String::new())),
        }
    }

    /// Returns the number of the newest attempt that was proposed.
    pub fn newest(&self) -> Id {
        self.attempts.len() as Id - 1
    }

    /// Returns an attempt; one that was never proposed is a bug of whoever asks.
    pub fn attempt(&self, id: Id) -> &Attempt {
        &self.attempts[id as usize]
    }

    /// Returns what an attempt was to be; none for the baseline.
    pub fn proposal(&self, id: Id) -> Option<&Proposal> {
        self.attempt(id).proposal.as_ref()
    }

    /// Returns the digest of an attempt's editable files.
    pub fn content(&self, id: Id) -> Option<&str> {
        match id {
            0 => Some(&self.plan.content),
            _ => self.attempt(id).content(),
        }
    }

    /// Returns the first attempt with a content.
    pub fn first_with(&self, content: &str) -> Option<Id> {
        self.first_with.get(content).copied()
    }

    /// Returns what agents reported of their use.
    pub fn spent(&self) -> Spent {
        let mut spent = Spent::default();
        for edited in self.attempts.iter().flat_map(|attempt| &attempt.edits) {
            spent.add(Usage {
                tokens: edited.tokens,
                cost_usd: edited.cost_usd,
            });
        }
        spent
    }

    /// Takes in one more entry; says why where it cannot follow what there is.
    pub fn take(&mut self, entry: Entry) -> Result<(), String> {
        match entry {
            Entry::Header(_) => return Err("a second header".to_owned()),
            Entry::Attempt(proposal) => self.take_proposal(proposal)?,
            Entry::Edit { id, edited } => self.take_edit(id, edited)?,
            Entry::Measurement { id, what, measured } => self.take_measured(id, what, measured)?,
            Entry::Note(note) => self.notes.push(note),
            Entry::End(end) => self.end = Some(end),
            Entry::Resumed { .. } => self.resume(),
        }
        Ok(())
    }

    /// Forgets that it ended, and what said that the environment changed: that is looked at again.
    fn resume(&mut self) {
        self.end = None;
        let is_good = |what: &Measure, measured: &mut Measured| {
            !matches!(what, Measure::Again(_)) || matches!(measured.outcome, Outcome::Scored { .. })
        };
        self.attempts[0].measured.retain(is_good);
    }

    fn take_proposal(&mut self, proposal: Proposal) -> Result<(), String> {
        let next = self.newest() + 1;
        if proposal.id != next {
            return Err(format!(
                "attempt {} stands where {next} is next",
                proposal.id
            ));
        }
        if proposal.parents.is_empty() || proposal.parents.iter().any(|parent| *parent >= next) {
            return Err(format!("attempt {next} has a parent that is none"));
        }
        self.attempts.push(Attempt {
            proposal: Some(proposal),
            ..Attempt::default()
        });
        Ok(())
    }

    fn take_edit(&mut self, id: Id, edited: Edited) -> Result<(), String> {
        let attempt = self.known(id)?;
        if attempt.edited().is_some() {
            return Err(format!("attempt {id} is edited once more"));
        }
        if (edited.status == Status::Changed) != edited.content.is_some() {
            return Err(format!(
                "the edit of attempt {id} has a content or none against its status"
            ));
        }
        attempt.edits.push(edited);
        if let Some(content) = self.attempt(id).content().map(str::to_owned) {
            let first = self.first_with.entry(content).or_insert(id);
            *first = id.min(*first);
        }
        Ok(())
    }

    fn take_measured(&mut self, id: Id, what: Measure, measured: Measured) -> Result<(), String> {
        let attempt = match id {
            0 => &mut self.attempts[0],
            _ => self.known(id)?,
        };
        match attempt.measured.insert(what, measured) {
            None => Ok(()),
            Some(_) => Err(format!(
                "attempt {id} is measured once more for the same reason"
            )),
        }
    }

    fn known(&mut self, id: Id) -> Result<&mut Attempt, String> {
        let attempt = self.attempts.get_mut(id as usize).filter(|_| id > 0);
        attempt.ok_or_else(|| format!("attempt {id} was never proposed"))
    }
}
