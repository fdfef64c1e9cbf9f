//! The middle of a cycle: brief, agent, stock, second measurement. Whatever goes wrong here becomes part of the evidence,
//! so that the cycle is settled on every path.

mod apart;
mod built;
mod call;
mod came;
mod compared;
mod lent;
mod loose;
mod record;
mod second;
mod stock;
mod uncopied;
mod watched;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use crate::cycle::by_checks;
use crate::cycle::by_name::ByName;
use crate::effects::agent::{AgentRun, Outbox};
use crate::effects::gitfile::Gitfile;
use crate::effects::journal::{Journal, Phase};
use crate::effects::keep::Version;
use crate::effects::ledger::Found;
use crate::effects::mirror::Mirror;
use crate::effects::slot::emptied::Tops;
use crate::effects::workspace::{Held, Start, Stock, Written};
use crate::effects::{clock, context, files, guard, keep, program};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::model::agent::CannotRun;
use crate::model::brief::{self, Material};
use crate::model::gate::Fate;
use crate::model::goals::{Goals, Where};
use crate::model::ledger as names;
use crate::model::record::Record;
use crate::model::select::Task;
use crate::model::snapshot::Snapshot;
use crate::model::yardstick::Yardstick;
use crate::session::{Cut, Progress, Session};

/// One attempt of an agent at a task, and everything that became known of it.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// The goals as they were loaded before it.
    pub goals: &'a Goals,
    before: &'a Snapshot,
    /// What is worked on.
    pub task: &'a Task,
    yardstick: Option<Yardstick>,
    fingerprints: Vec<(String, Option<String>)>,
    /// What checks build and then run, with the digests of before the agent.
    built: Vec<(String, Option<String>)>,
    /// What of that the agent changed and was put back.
    put_back: Vec<String>,
    /// What checks run of that which copies are lent, with the digests of before the agent.
    lent: Vec<(String, Option<String>)>,
    /// What of that the agent changed, with its version since it was put back.
    lent_back: Vec<(String, Option<Version>)>,
    /// What the copy has a link to, before the agent.
    links: Vec<String>,
    /// What the checkout had of what copies are lent, when that was looked at last.
    tops: Tops,
    /// What is loosely protected and the agent changed or made, each with its version since it was put back; none where it was taken
    /// away.
    loose: Vec<(String, Option<Version>)>,
    /// What checks find by its name where no commit need tell of a change.
    by_name: ByName,
    /// What lay beside scripts and is taken in place of Python's own modules.
    own_modules: Vec<String>,
    /// The questions to which Python said that it finds no such module.
    missing_modules: BTreeSet<String>,
    goals_outside: Option<Vec<u8>>,
    brief: String,
    brief_file: PathBuf,
    /// How the agent's run ended, if it got that far.
    pub run: Option<AgentRun>,
    stock: Option<Stock>,
    /// The second snapshot, or why there is none.
    pub after: Result<Snapshot, String>,
    /// The files that checks run and that were changed while the goals were measured; and what is said of each.
    swapped: BTreeMap<String, &'static str>,
    /// What checks wrote to tracked files after the agent, and is put back.
    written: Option<Written>,
    /// The untracked files that came while goals were measured after the agent.
    came: Vec<String>,
    /// The names of the files in `evolve`'s own folder, before the agent.
    own_before: BTreeSet<String>,
    /// What was found in these files after the agent.
    pub own_found: Found,
    /// What cut the cycle short.
    pub cut: Option<Cut>,
}

impl<'a> Attempt<'a> {
    /// An attempt that has not begun.
    pub fn new(goals: &'a Goals, before: &'a Snapshot, task: &'a Task) -> Attempt<'a> {
        Attempt {
            goals,
            before,
            task,
            yardstick: None,
            fingerprints: Vec::new(),
            built: Vec::new(),
            put_back: Vec::new(),
            lent: Vec::new(),
            lent_back: Vec::new(),
            links: Vec::new(),
            tops: Tops::default(),
            loose: Vec::new(),
            by_name: ByName::default(),
            own_modules: Vec::new(),
            missing_modules: BTreeSet::new(),
            goals_outside: None,
            brief: String::new(),
            brief_file: PathBuf::new(),
            run: None,
            stock: None,
            after: Err("not reached".to_owned()),
            swapped: BTreeMap::new(),
            written: None,
            came: Vec::new(),
            own_before: BTreeSet::new(),
            own_found: Found::default(),
            cut: None,
        }
    }

    /// Freezes the yardstick, copies the user's untracked files, writes the brief, and opens the journal: from here on the
    /// cycle is settled, whatever happens.
    pub async fn prepare(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &mut Start,
    ) -> Result<(), Cut> {
        let yardstick = self.freeze(session, progress, start).await?;
        self.keep(session, progress, start, &yardstick)?;
        // Before the item is claimed: after a crash it is anybody's again.
        let ledger = progress.ledger.stored(session.home())?;
        if let Task::Item(item) = self.task {
            progress.ledger.queue.claim(
                item.key,
                &format!("evolve cycle {}", start.cycle),
                &clock::timestamp(),
            );
            progress.ledger.write_queue()?;
        }
        let measurer = &session.measurer;
        let context = context::from_ao(
            &measurer.supervisor,
            &measurer.fence,
            &session.repo.root,
            &session.logs(),
            &session.id,
        )
        .await;
        self.brief = self.write_brief(session, progress, &yardstick, &context);
        let name = format!("logs/{}/{}-brief.txt", session.id, start.cycle);
        self.brief_file = session.write_private(&name, self.brief.as_bytes())?;
        self.yardstick = Some(yardstick);
        session.journal_file.write(&Journal {
            phase: Phase::Agent,
            slot: session.lent_to_agent(),
            record: Some(Record {
                notes: progress.found.clone(),
                ..self.interrupted_record(session, start)
            }),
            start: Some(start.clone()),
            ledger,
            ..Journal::measuring(&session.id, start.cycle)
        })?;
        self.own_before = progress.ledger.there();
        // Last, so that the copy tells what has to be settled.
        if let Some(mirror) = session.mirror.as_ref().filter(|_| !progress.is_unmirrored)
            && let Err(error) = mirror.refresh(&start.guarded.around(&session.repo.own_places()))
        {
            progress.is_unmirrored = true;
            session.events.warn(format!(
                "an agent could remove .git for good, because there is no copy of it: {}",
                error.message
            ));
        }
        Ok(())
    }

    /// Returns what the agent's change is measured by, as it is now; what checks build before they run it is noted apart.
    async fn freeze(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &mut Start,
    ) -> Result<Yardstick, Cut> {
        let tree = start.tree.clone();
        let is_file = |path: &str| {
            session.repo.may_have_file(&tree, path)
                || session.workspace().has_file_on_disk(path.as_bytes())
        };
        self.missing_modules = session.missing_modules(self.goals, &is_file).await;
        // What is copied after this counts as known from then on.
        by_checks::clear(session, progress, start)?;
        let mut yardstick = session.workspace().yardstick(self.goals, &is_file);
        if progress.unfollowed != yardstick.unfollowed {
            let words = yardstick.unfollowed_words().into_iter();
            words.for_each(|words| session.events.warn(words));
            progress.unfollowed.clone_from(&yardstick.unfollowed);
        }
        self.by_name = ByName::of(session, self.goals, &yardstick);
        self.own_modules = program::taken_for_own(&yardstick.fronts, &session.repo.root);
        let workspace = session.workspace();
        let built = yardstick.let_go(&|file| workspace.may_be_built(&start.tree, file));
        self.note_lent(session, &built);
        let built = workspace.behind(&built);
        let version = |file: &String| (file.clone(), workspace.version_of(file));
        self.built = built.iter().map(version).collect();
        if session.goals_file.in_repo.is_none() {
            self.goals_outside = files::read(&session.goals_file.path).ok();
        }
        Ok(yardstick)
    }

    /// Copies what no commit holds, and notes what git keeps beside the tree, so that all of it can be put back.
    fn keep(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &mut Start,
        yardstick: &Yardstick,
    ) -> Result<()> {
        let workspace = session.workspace();
        let built: Vec<String> = self.built.iter().map(|(file, _)| file.clone()).collect();
        let began = progress.began.take();
        workspace.keep_untracked(
            start,
            &Held {
                frozen: &yardstick.frozen,
                built: &built,
                protection: &yardstick.protected,
                came: &progress.came,
                began,
            },
            progress.kept.as_ref(),
        )?;
        if let Some(isolation) = &session.isolation {
            let last = progress.lent.as_ref();
            let run: Vec<_> = self.lent.iter().map(|(file, _)| file.clone()).collect();
            start.lent = isolation.keep_lent(&yardstick.protected, &run, last, began)?;
            uncopied::warn(session, &start.lent, progress.lent.as_ref());
            progress.lent = Some(start.lent.clone());
            start.in_modules = workspace.loose_in_modules(&isolation.user.root)?.into();
        }
        self.fingerprints = Attempt::fingerprints(session, yardstick, &start.kept);
        let (mut unbuilt, mut open) = workspace.unbuilt(self.goals, &start.tree);
        if self.goals.settings.measure == Where::Clean {
            // A copy has nothing of what git ignores.
            unbuilt.retain(|file| !session.repo.is_ignored(file));
            open.clear();
        }
        start.kept.note_unbuilt(&session.repo.root, &unbuilt, &open);
        start.users.clone_from(session.home().read_users()?);
        session.guard_start(start)?;
        self.note_compared(session, yardstick, start)?;
        uncopied::warn(session, &start.kept, progress.kept.as_ref());
        progress.kept = Some(start.kept.clone());
        Ok(())
    }

    fn write_brief(
        &self,
        session: &Session,
        progress: &Progress,
        yardstick: &Yardstick,
        context: &str,
    ) -> String {
        let outbox = Outbox::below(&session.repo.root);
        let (give_up, next_work, lessons) = (
            outbox.give_up.to_string_lossy(),
            outbox.next_work.to_string_lossy(),
            outbox.lessons.to_string_lossy(),
        );
        brief::write(
            &Material {
                task: self.task,
                goals: self.goals,
                goals_file: &session.goals_file.shown,
                before: self.before,
                records: &progress.ledger.history.records,
                broken: &self.broken_before(session, progress),
                lessons: &progress.ledger.lessons,
                frozen: &yardstick.frozen,
                test_first: session.options.test_first,
                context,
            },
            &brief::Outbox {
                give_up: &give_up,
                next_work: &next_work,
                lessons: &lessons,
            },
        )
    }

    /// Returns what earlier attempts at the same task broke, as their checks said it.
    fn broken_before(&self, session: &Session, progress: &Progress) -> Vec<(u64, String)> {
        let id = self.task.goal_id();
        let records = progress.ledger.history.records.iter().rev();
        records
            .filter(|record| record.goal_id.as_deref() == Some(&id))
            .take(brief::ATTEMPTS_LISTED)
            .filter(|record| !record.newly_failing.is_empty())
            .filter_map(|record| {
                let after = progress
                    .ledger
                    .snapshot(session.home(), &names::post_snapshot(record.cycle))?;
                let output = brief::broken_output(record, &after);
                (!output.is_empty()).then_some((record.cycle, output))
            })
            .collect()
    }

    /// Runs the agent, takes stock and measures again; a failure ends up in the evidence.
    pub async fn carry_out(&mut self, session: &Session, progress: &mut Progress, start: &Start) {
        if let Err(cut) = self.try_out(session, progress, start).await {
            self.cut = Some(session.cause_of(cut).await);
        }
    }

    async fn try_out(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
    ) -> Result<(), Cut> {
        let run = self.run.insert(self.call(session, progress, start).await?);
        let words = run.cannot_run.as_ref().map(|cannot| &cannot.message);
        if let Some(error) = words.and_then(|words| Error::of_shortage("the agent", words)) {
            return Err(error.into());
        }
        if let Some(error) = self.unended() {
            return Err(error.into());
        }
        if let Some(halt) = session.stop.look_for_kill() {
            return Err(halt.into());
        }
        if let Some(isolation) = &session.isolation {
            isolation.refuse_gone()?;
        }
        if session.options.errand.is_some() {
            // Its git wrote all that it changed.
            session.workspace().keep_sparse(start)?;
        }
        let stock = self.stock(session, start)?;
        // Where others moved the branch nothing was compared.
        if stock.change.by_others.is_empty() {
            progress.verified = start.dated;
        }
        self.tell_agent(session, &stock);
        let needs_no_measuring = !stock.change.by_others.is_empty()
            || stock.change.is_condemned()
            || self.refusal(&stock).is_some();
        self.stock = Some(stock);
        if needs_no_measuring {
            self.after = Err("not measured".to_owned());
            return Ok(());
        }
        self.measure_after(session, progress, start).await
    }

    /// Returns why nothing may be judged or undone now: something of the agent's that cannot be ended could still write.
    pub fn unended(&self) -> Option<Error> {
        let left = &self.run.as_ref()?.unkillable;
        (!left.is_empty()).then(|| {
            Error::unsafe_repo(format!(
                "the agent left processes that cannot be ended, so its work is neither judged nor undone: {left:?}"
            ))
            .hint("end them, or what they wait for (a device, a file system), then run evolve again: it settles the cycle first")
        })
    }

    fn tell_agent(&self, session: &Session, stock: &Stock) {
        let is_all_its_own = stock.change.by_others.is_empty();
        if let Some(run) = &self.run {
            session.events.send(Event::AgentFinished {
                status: run.report.status.clone(),
                duration_s: run.report.duration_s,
                commits: is_all_its_own.then_some(stock.commits.len()),
                has_leftovers: is_all_its_own && stock.has_leftovers,
                files: is_all_its_own.then_some(stock.files.len()),
                turns: run.activity.as_ref().map(|activity| activity.turns),
                tokens: run.report.tokens,
                cost_usd: run.report.cost_usd,
            });
        }
    }

    /// Returns what was taken stock of; after a cut it is taken now.
    pub fn take_stock(&mut self, session: &Session, start: &Start) -> Result<Stock> {
        match self.stock.take() {
            Some(stock) => Ok(stock),
            None => self.take_stock_late(session, start),
        }
    }

    /// Takes stock where that was cut short, or the agent's call itself.
    fn take_stock_late(&self, session: &Session, start: &Start) -> Result<Stock> {
        let Some(opened) = session.open(start) else {
            return Ok(Stock::untouched(start));
        };
        let mut stock = session.take_stock(start)?;
        stock.notes.extend(opened);
        Ok(stock)
    }

    /// Says why the agent could not run, where that is all that came of it.
    pub fn refusal(&self, stock: &Stock) -> Option<CannotRun> {
        let change = &stock.change;
        let is_all = !change.is_made && change.by_others.is_empty() && self.cut.is_none();
        // An agent that gave up has run.
        let run = self.run.as_ref().filter(|run| run.gave_up.is_none());
        let refusal = run.and_then(|run| run.cannot_run.clone());
        refusal.filter(|_| is_all)
    }

    /// Puts everything back after an agent that could not run and changed nothing: nothing is in progress any more. What was done
    /// is told, and a reader of the next record is told it, too. Returns the commit that HEAD is on then; none where what checks
    /// compare with is another now, so that the goals have to be measured anew.
    pub fn give_back(
        &self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
        stock: &Stock,
    ) -> Result<Option<String>> {
        let settled = match &session.isolation {
            Some(isolation) => isolation.settle(start, stock, Fate::Keep)?,
            None => session.workspace().settle(start, stock, Fate::Keep, None)?,
        };
        if let Task::Item(item) = self.task {
            progress.ledger.queue.release(item.key);
            progress.ledger.write_queue()?;
        }
        session.hold_settings(start)?;
        let fetched = session.give_fetched_back(start, stock)?;
        let done = [&stock.notes[..], &settled.notes, &fetched].concat();
        for note in done {
            if progress.note_found(&note) {
                session.events.note(note);
            }
        }
        session.note_settled()?;
        session
            .journal_file
            .write(&Journal::measuring(&session.id, start.cycle))?;
        Ok(fetched.is_empty().then_some(settled.commit))
    }
}

/// Removes the copies of the user's files that no cycle needs any more.
pub fn drop_copies(session: &Session) -> Result<()> {
    let private = &session.repo.private;
    for folder in [keep::folder(private), guard::folder(private)] {
        match fs::remove_dir_all(&folder) {
            Ok(()) => {}
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
            Err(cause) => return Err(Error::io("remove", &folder, cause)),
        }
    }
    session
        .gitfile
        .as_ref()
        .map_or(Ok(()), Gitfile::drop_stored)?;
    session.mirror.as_ref().map_or(Ok(()), Mirror::remove)
}
