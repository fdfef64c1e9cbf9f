//! A search: what comes next follows from the lineage alone; here it is done, several things at once, and written down
//! before anything follows from it.

pub mod apply;
mod between;
mod edit;
mod gates;
pub mod lacking;
pub mod lost;
mod measure;
mod tell;

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::time::Duration;

use tokio::task::{JoinSet, LocalSet};

pub use between::{Answer, Answering, Between, Nobody};
pub use gates::add_goals;

use crate::effects::quarantine::Quarantine;
use crate::effects::search::store::{PutRight, Store};
use crate::effects::slot::emptied::Tops;
use crate::effects::{pipes, private};
use crate::error::Result;
use crate::event::Events;
use crate::model::emptied;
use crate::model::goals::Limits;
use crate::model::limit;
use crate::model::search::lineage::{End, Entry, Lineage, Note, Why, Word};
use crate::model::search::view::name;
use crate::model::text;
use crate::search::standing::{Known, Standing};
use crate::search::{Next, Task, begins_generation, next_from};
use crate::session::{Cut, Searching};

pub use measure::commit;

/// The most attempts that a line names.
const NAMED: usize = 5;

/// How a session of a search ended.
#[derive(Debug)]
pub enum Ended {
    /// It is over, and why.
    Over(Why),
    /// It was cut short and can be resumed.
    Cut(Cut),
    /// Somebody who was asked wants nothing of it.
    Discarded,
}

/// What runs, and where there is room for more.
struct Crew {
    jobs: JoinSet<(Task, usize, Result<Entry, Cut>)>,
    running: HashMap<Task, usize>,
    /// The lanes that nobody is in.
    agents: BTreeSet<usize>,
    benches: BTreeSet<usize>,
    /// The most that all agents may cost, in USD.
    max_cost: Option<f64>,
    /// What the checkout had of what copies are lent, when the last task was done.
    tops: Tops,
}

/// Searches until the search is over or cut short.
pub async fn run(
    session: &Rc<Searching>,
    lineage: &mut Lineage,
    between: &mut dyn Between,
) -> Result<Ended> {
    hold_refs(session, lineage)?;
    let local = LocalSet::new();
    let ended = local.run_until(search(session, lineage, between)).await;
    session.warn(session.lent.end()?);
    put_right(session)?;
    if matches!(ended, Ok(Ended::Over(_) | Ended::Cut(_))) {
        hold_refs(session, lineage)?;
    }
    ended
}

/// Undoes what somebody else did to the refs of attempts, and says so.
fn hold_refs(session: &Searching, lineage: &Lineage) -> Result<()> {
    let site = &session.site;
    let held = lost::hold(&site.user, &site.store, lineage)?;
    if !held.is_empty() {
        let names: Vec<String> = held.into_iter().map(name).collect();
        site.events.warn(format!(
            "somebody else removed or moved refs of this search, maybe an agent, those of {}; they are as they were",
            text::some_of(&names, NAMED)
        ));
    }
    Ok(())
}

/// Undoes what somebody else did to the file of the lineage, and says so.
fn put_right(session: &Searching) -> Result<()> {
    tell_put_right(session.site.store.put_right()?, &session.site.events);
    Ok(())
}

/// The same, of what was done after the last session of a search ended. To be called before its lineage is read.
pub fn put_right_since(store: &Store, events: &Events) -> Result<()> {
    tell_put_right(store.put_right_by_twin()?, events);
    Ok(())
}

fn tell_put_right(put_right: Option<PutRight>, events: &Events) {
    match put_right.map(|put_right| put_right.kept) {
        Some(Some(kept)) => events.warn(format!(
            "somebody else changed the lineage of this search, maybe an agent; it is as it was, and what stood there is in {}",
            kept.display()
        )),
        Some(None) => events.warn(
            "somebody else changed the lineage of this search, maybe an agent: it was gone; it is as it was",
        ),
        None => {}
    }
}

async fn search(
    session: &Rc<Searching>,
    lineage: &mut Lineage,
    between: &mut dyn Between,
) -> Result<Ended> {
    let mut crew = Crew {
        jobs: JoinSet::new(),
        running: HashMap::new(),
        agents: (0..lineage.plan.agents.max(1) as usize).collect(),
        benches: (0..session.site.request.benchmarks.max(1) as usize).collect(),
        max_cost: session.site.request.max_cost,
        tops: Tops::of(&session.site.user.root, &session.site.request.link),
    };
    let mut approved = 1;
    let mut enough = None;
    let mut known = Known::default();
    // What has its ending when a session begins was told by an earlier one.
    let mut told = tell::settled(&mut known, lineage);
    loop {
        tell::endings(session, lineage, &mut known, &mut told);
        if let Some(halt) = session.site.stop.halt() {
            return Ok(Ended::Cut(crew.ended(session, lineage, halt.into()).await?));
        }
        take_notes(session, lineage)?;
        match next_from(
            &mut known,
            lineage,
            enough.or_else(|| reason_to_stop(session, lineage, crew.max_cost)),
        ) {
            Next::Propose(proposal) => {
                let generation = begins_generation(lineage, proposal.id);
                let Some(generation) = generation.filter(|generation| *generation > approved)
                else {
                    note(session, lineage, Entry::Attempt(proposal))?;
                    continue;
                };
                match between::ask(&session.site, between, lineage, generation).await {
                    Ok(Answer::Go) => approved = generation,
                    Ok(Answer::Adjust(change)) => {
                        crew.max_cost = change.max_cost.or(crew.max_cost);
                        if let Some(limit) = change.max_time_s {
                            session
                                .site
                                .stop
                                .after(Duration::try_from_secs_f64(limit).ok());
                        }
                        let after = lineage.newest();
                        let word = Word::Adjust(change);
                        note(session, lineage, Entry::Note(Note { after, word }))?;
                    }
                    Ok(Answer::Stop) => enough = Some(Why::Stopped),
                    Ok(Answer::Discard) => return Ok(Ended::Discarded),
                    Err(cut) => return Ok(Ended::Cut(cut)),
                }
            }
            Next::Do(tasks) => {
                for task in tasks {
                    crew.begin(session, lineage, task);
                }
                if let Err(cut) = crew.finish_one(session, lineage).await? {
                    return Ok(Ended::Cut(crew.ended(session, lineage, cut).await?));
                }
            }
            Next::End(why) => {
                let best = match why {
                    Why::NoBaseline => 0,
                    _ => Standing::of(lineage).best(),
                };
                note(session, lineage, Entry::End(End { why, best }))?;
                return Ok(Ended::Over(why));
            }
        }
    }
}

impl Crew {
    /// Begins a task, unless it runs or there is no room for it.
    fn begin(&mut self, session: &Rc<Searching>, lineage: &Lineage, task: Task) {
        let lanes = match task {
            Task::Edit { .. } => &mut self.agents,
            Task::Measure { .. } => &mut self.benches,
        };
        if self.running.contains_key(&task) {
            return;
        }
        let Some(lane) = lanes.pop_first() else {
            return;
        };
        self.running.insert(task.clone(), lane);
        tell::begun(session, lineage, &task, lane);
        let session = Rc::clone(session);
        match task {
            Task::Edit { id, nth } => {
                let job = edit::job(lineage, id, nth, self.max_cost);
                self.jobs.spawn_local(async move {
                    let edited = match job {
                        Ok(job) => job.run(&session, lane).await,
                        Err(error) => Err(error.into()),
                    };
                    (task, lane, edited.map(|edited| Entry::Edit { id, edited }))
                });
            }
            Task::Measure { id, what } => {
                let job = measure::job(lineage, id, what);
                self.jobs.spawn_local(async move {
                    let measured = job.run(&session, lane).await;
                    let entry = |measured| Entry::Measurement { id, what, measured };
                    (task, lane, measured.map(entry))
                });
            }
        }
    }

    /// Waits until a task is done, and writes down what came of it.
    async fn finish_one(
        &mut self,
        session: &Searching,
        lineage: &mut Lineage,
    ) -> Result<Result<(), Cut>> {
        let joined = self.jobs.join_next().await;
        let done = joined.expect("BUG: a search waits for nothing");
        let (task, lane, entry) = done.expect("BUG: a task of a search panicked");
        clear_way(session)?;
        let lost = self.tops.look_again(&session.site.user.root);
        if let Some(words) = emptied::lost_words(emptied::BY_SEARCH, &lost) {
            session.site.events.warn(words);
        }
        self.running.remove(&task);
        match task {
            Task::Edit { .. } => self.agents.insert(lane),
            Task::Measure { .. } => self.benches.insert(lane),
        };
        Ok(match entry {
            Ok(entry) => {
                note(session, lineage, entry)?;
                Ok(())
            }
            Err(cut) => Err(cut),
        })
    }

    /// Waits for what still runs, which is worth keeping where it ends in order; returns what cut the search short.
    async fn ended(&mut self, session: &Searching, lineage: &mut Lineage, cut: Cut) -> Result<Cut> {
        while !self.jobs.is_empty() {
            // One reason is enough.
            let _ = self.finish_one(session, lineage).await?;
        }
        Ok(cut)
    }
}

/// Moves what somebody left in the place of `evolve`'s own files, or where git would wait for it, to the quarantine, and says so.
fn clear_way(session: &Searching) -> Result<()> {
    let user = &session.site.user;
    let mut quarantine = Quarantine::of(&user.private, &session.site.id, 0);
    private::clear(&user.own_places(), &mut quarantine)?;
    pipes::clear_waiting(&user.own_places(), &user.plain, &mut quarantine)?;
    quarantine
        .notes()
        .for_each(|words| session.site.events.warn(words));
    Ok(())
}

/// Takes in what persons wrote meanwhile; it holds for what is proposed from now on.
fn take_notes(session: &Searching, lineage: &mut Lineage) -> Result<()> {
    for word in session.site.store.left(lineage.words_taken())? {
        let left = lineage.note_of(word);
        note(session, lineage, Entry::Note(left))?;
    }
    Ok(())
}

/// Writes an entry down, and tells of it.
fn note(session: &Searching, lineage: &mut Lineage, entry: Entry) -> Result<()> {
    put_right(session)?;
    session.site.store.append(&entry)?;
    if let Some(cause) = session.site.store.lost_copy() {
        session.site.events.warn(format!(
            "the lineage has no copy outside of the repository, so an agent that changes it and then ends evolve is not found out: {}",
            cause.message
        ));
    }
    tell::written(session, &entry);
    lineage
        .take(entry)
        .map_err(|why| crate::error::Error::internal(format!("BUG: {why}")))
}

/// Returns why no more attempts are proposed.
fn reason_to_stop(session: &Searching, lineage: &Lineage, max_cost: Option<f64>) -> Option<Why> {
    let limits = Limits {
        max_cost,
        ..Limits::default()
    };
    let is_spent = limit::reached(&limits, 0, &lineage.spent()).is_some();
    let is_asked =
        session.site.store.is_asked_to_stop() || session.site.stop.asked_to_stop().is_some();
    let is_spent = is_spent.then_some(Why::MaxCost);
    is_asked.then_some(Why::Stopped).or(is_spent)
}
