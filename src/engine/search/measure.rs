//! Measures an attempt: gates and samples, interleaved with another attempt's where it is held against that.

use std::time::Instant;

use crate::effects::search::goalposts::{Goalposts, Held};
use crate::effects::search::sample::{Answer, Sampler};
use crate::effects::slot::{Base, Slot};
use crate::error::Error;
use crate::model::search::lineage::{Id, Lineage, Measure, Measured, Outcome, Request};
use crate::model::search::score::{Channel, Score};
use crate::model::{text, yardstick};
use crate::session::{Cut, Searching, Slots};

/// How many samples of the baseline show whether the fitness command is deterministic (rule S3).
const BASELINE_SAMPLES: u64 = 3;

/// How many bytes that measuring leaves are worth a line.
const MUCH: u64 = 16 << 20;

/// How often an attempt is measured where others change what measures it.
const TRIES: usize = 3;

/// How many files a reason names.
const NAMED: usize = 5;

/// In which copies it is measured.
#[derive(Clone, Copy, Debug)]
pub struct Bed<'a> {
    /// What they are for.
    pub slots: Slots,
    /// Which of them.
    pub lane: usize,
    /// What of the checkout they are lent beside what was asked for.
    pub more: &'a [String],
}

impl Bed<'_> {
    async fn slot(&self, session: &Searching, commit: &str) -> Result<Slot, Cut> {
        let place = (self.slots, self.lane);
        session.site.slot_with(place, self.more, commit).await
    }

    /// Returns the slot as it is.
    pub fn known_slot(&self, session: &Searching) -> Result<Slot, Cut> {
        session.site.known_slot((self.slots, self.lane), self.more)
    }
}

/// A measurement to be made.
#[derive(Debug)]
pub struct Job {
    id: Id,
    what: Measure,
    commit: String,
    /// What is measured beside it: its number and commit.
    beside: Option<(Id, String)>,
    samples: u64,
    /// Where the score has to be said.
    channel: Option<Channel>,
}

/// What a measurement came to.
#[derive(Debug)]
pub struct Found {
    /// In short.
    pub outcome: Outcome,
    /// Where the score was said.
    channel: Option<Channel>,
    /// What the attempt changes that the measuring leans on.
    leaned_on: Vec<String>,
}

/// What commands came to, and where the score was said.
type Said = (Outcome, Option<Channel>);

/// Puts together what a measurement needs.
pub fn job(lineage: &Lineage, id: Id, what: Measure) -> Job {
    let commit = |id| commit(lineage, id).to_owned();
    let is_deterministic = crate::search::is_deterministic(lineage);
    let repeats = if is_deterministic {
        1
    } else {
        lineage.plan.repeats.max(1)
    };
    let (beside, samples) = match what {
        Measure::First if id == 0 => (None, BASELINE_SAMPLES),
        Measure::First | Measure::Again(_) => (None, 1),
        Measure::HoldOut => (None, repeats),
        Measure::Beside(other) => (Some(other), repeats),
        Measure::Last => (Some(0), repeats),
    };
    Job {
        id,
        what,
        commit: commit(id),
        beside: beside.map(|other| (other, commit(other))),
        samples,
        channel: channel(lineage, what),
    }
}

/// Returns where the score of the untouched code is said by the command that this measurement runs.
pub fn channel(lineage: &Lineage, what: Measure) -> Option<Channel> {
    let of_baseline = match what {
        Measure::HoldOut => Measure::HoldOut,
        _ => Measure::First,
    };
    lineage.attempt(0).measurement(of_baseline)?.channel
}

/// Returns an attempt's commit.
pub fn commit(lineage: &Lineage, id: Id) -> &str {
    let edited = lineage.attempt(id).edited();
    let own = edited.and_then(|edited| edited.commit.as_deref());
    own.unwrap_or(&lineage.plan.request.base)
}

impl Job {
    /// Makes the measurement.
    pub async fn run(&self, session: &Searching, lane: usize) -> Result<Measured, Cut> {
        let started = Instant::now();
        let found = match self.outcome(session, lane).await {
            // A change can be what keeps its slot from being made ready.
            Err(Cut::Unprepared(why)) if self.id > 0 => Found {
                outcome: Outcome::Invalid(why.into()),
                channel: None,
                leaned_on: Vec::new(),
            },
            found => found?,
        };
        Ok(Measured {
            outcome: found.outcome,
            channel: found.channel.filter(|_| self.id == 0),
            leaned_on: found.leaned_on,
            duration_s: (started.elapsed().as_secs_f64() * 1000.0).round() / 1000.0,
        })
    }

    async fn outcome(&self, session: &Searching, lane: usize) -> Result<Found, Cut> {
        let bed = Bed {
            slots: Slots::Measure,
            lane,
            more: &[],
        };
        let found = self.outcome_in(session, &bed).await?;
        if self.id == 0 && self.what == Measure::First {
            let slot = bed.known_slot(session)?;
            self.tell_of_leavings(session, &slot);
        }
        Ok(found)
    }

    /// Says of what the untouched code's measurement built that it is built anew for each, where that is much.
    fn tell_of_leavings(&self, session: &Searching, slot: &Slot) {
        let request = &session.site.request;
        let base = Base {
            branch: &request.branch,
            commit: &self.commit,
        };
        // What cannot be counted is not worth a line.
        let left = slot.leavings(&session.site.user, base).unwrap_or(0);
        if left >= MUCH {
            session.site.events.note(format!(
                "measuring leaves {} MiB behind, which are removed before each measurement, so that none finds what another \
                 left; what takes long to build belongs into --prepare",
                left >> 20
            ));
        }
    }

    /// Measures in copies of this kind, unless the attempt puts something in front of what measures it: then nothing that it scores is
    /// believed.
    ///
    /// Where agents that are at work meanwhile, on other attempts, change what the commands run and copies are lent, it is measured again.
    pub async fn outcome_in(&self, session: &Searching, bed: &Bed<'_>) -> Result<Found, Cut> {
        let mut changed = Vec::new();
        for _ in 0..TRIES {
            session.put_back_lent()?;
            let before = session.lent.stood();
            let found = self.found_in(session, bed).await?;
            changed = session.lent.doubtful(&before);
            if changed.is_empty() {
                return Ok(found);
            }
        }
        let why = format!(
            "what the commands run and copies are lent changed each time that it was measured: {}",
            text::some_of(&changed, NAMED)
        );
        Ok(Found {
            outcome: Outcome::Invalid(why),
            channel: self.channel,
            leaned_on: Vec::new(),
        })
    }

    async fn found_in(&self, session: &Searching, bed: &Bed<'_>) -> Result<Found, Cut> {
        let mut slot = bed.slot(session, &self.commit).await?;
        let held = self.held(session, bed, &mut slot).await?;
        let (outcome, channel) = match held.moved.is_empty() {
            true => self.said_in(session, bed, slot).await?,
            false => (
                Outcome::Invalid(yardstick::moved(&held.moved)),
                self.channel,
            ),
        };
        Ok(Found {
            outcome,
            channel,
            leaned_on: held.leaned_on,
        })
    }

    /// Runs the commands, the first of them in `slot`, in which nothing ran. Each begins in a clean one: samples are of the same
    /// conditions.
    async fn said_in(&self, session: &Searching, bed: &Bed<'_>, slot: Slot) -> Result<Said, Cut> {
        let site = &session.site;
        let mut clean = Some(slot);
        if matches!(self.what, Measure::First | Measure::Again(_)) {
            for (number, gate) in site.request.gates.iter().enumerate() {
                let slot = self.clean(session, bed, clean.take()).await?;
                session.put_back_lent()?;
                let place = site.sampler_of_gate(&slot, self.id, gate)?;
                let name = format!("{}-gate-{}", self.name(), number + 1);
                let answer = place.gate(gate, &name).await?;
                self.heed_stop(session, &slot, &self.commit)?;
                if let Failed::Gate(why) = failed(answer, session)? {
                    return Ok((Outcome::GateFailed(why), None));
                }
            }
        }
        let (mut samples, mut beside) = (Vec::new(), Vec::new());
        let mut channel = self.channel;
        for number in 1..=self.samples {
            let slot = self.clean(session, bed, clean.take()).await?;
            session.put_back_lent()?;
            let place = &site.sampler(&slot, self.id)?;
            let score = self.sample(session, place, self.id, number, channel);
            let score = score.await?;
            self.heed_stop(session, &slot, &self.commit)?;
            match score {
                Ok(score) => {
                    channel = Some(score.channel);
                    samples.push(score.score);
                }
                Err(why) => return Ok((Outcome::Invalid(why), channel)),
            }
            let Some((other, commit)) = &self.beside else {
                continue;
            };
            let slot = site.slot(Slots::Beside, bed.lane, commit).await?;
            session.put_back_lent()?;
            let place = &site.sampler(&slot, self.id)?;
            let score = self.sample(session, place, *other, number, channel);
            let score = score.await?;
            self.heed_stop(session, &slot, commit)?;
            match score {
                Ok(score) => beside.push(score.score),
                Err(why) => {
                    let why = format!("attempt {other} beside it: {why}");
                    return Ok((Outcome::Invalid(why), channel));
                }
            }
        }
        Ok((Outcome::Scored { samples, beside }, channel))
    }

    /// Heeds a STOP file that a command left in a slot on this commit.
    fn heed_stop(&self, session: &Searching, slot: &Slot, commit: &str) -> Result<(), Cut> {
        let when = format!("while attempt {} was measured", self.id);
        Ok(session.site.heed_stop(slot, commit, &when)?)
    }

    /// Returns a slot on the attempt's commit in which nothing ran: this one, where there is one.
    async fn clean(
        &self,
        session: &Searching,
        bed: &Bed<'_>,
        known: Option<Slot>,
    ) -> Result<Slot, Cut> {
        match known {
            Some(slot) => Ok(slot),
            None => bed.slot(session, &self.commit).await,
        }
    }

    /// Says what the attempt, which is in the slot, does to what measures it now.
    async fn held(&self, session: &Searching, bed: &Bed<'_>, slot: &mut Slot) -> Result<Held, Cut> {
        let request = &session.site.request;
        let (known, goals) = match self.what {
            Measure::First => (
                &session.goalposts,
                Request::measured_by as fn(&Request) -> _,
            ),
            Measure::HoldOut => (&session.goalposts_of_holdout, Request::held_out_by as _),
            // It was measured at first.
            Measure::Beside(_) | Measure::Again(_) | Measure::Last => return Ok(Held::default()),
        };
        if self.id == 0 {
            return Ok(Held::default());
        }
        let user = &session.site.user;
        let goalposts = match known.get() {
            Some(goalposts) => goalposts,
            None => {
                let base = bed.slot(session, &request.base).await?;
                let found = Goalposts::of(user, &base, &request.base, goals(request))?;
                *slot = bed.slot(session, &self.commit).await?;
                known.get_or_init(|| found)
            }
        };
        Ok(goalposts.held(user, slot, &self.commit, &session.editable)?)
    }

    async fn sample(
        &self,
        session: &Searching,
        place: &Sampler,
        of: Id,
        number: u64,
        channel: Option<Channel>,
    ) -> Result<Result<Score, String>, Cut> {
        let request = &session.site.request;
        let command = match self.what {
            Measure::HoldOut => request.holdout.as_ref().unwrap_or(&request.fitness),
            _ => &request.fitness,
        };
        let name = match of == self.id {
            true => format!("{}-{number}", self.name()),
            false => format!("{}-{number}-of-{of}", self.name()),
        };
        match place.sample(command, channel, &name).await? {
            Answer::Found(score) => Ok(Ok(score)),
            Answer::Failed(why) => Ok(Err(why)),
            Answer::Stopped => Err(stopped(session)),
        }
    }

    fn name(&self) -> String {
        match self.what {
            Measure::First => "first".to_owned(),
            Measure::Beside(other) => format!("beside-{other}"),
            Measure::HoldOut => "holdout".to_owned(),
            Measure::Again(after) => format!("again-{after}"),
            Measure::Last => "last".to_owned(),
        }
    }
}

enum Failed {
    Gate(String),
    No,
}

fn failed(answer: Answer<()>, session: &Searching) -> Result<Failed, Cut> {
    match answer {
        Answer::Found(()) => Ok(Failed::No),
        Answer::Failed(why) => Ok(Failed::Gate(why)),
        Answer::Stopped => Err(stopped(session)),
    }
}

/// Says what ended a command from outside.
pub fn stopped(session: &Searching) -> Cut {
    match session.site.stop.halt() {
        Some(halt) => halt.into(),
        None => Error::internal("a command was stopped").into(),
    }
}
