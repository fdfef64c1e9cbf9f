//! The sweep inside a cycle: whether it is due, what of its findings is new, and how that gets into the queue (rule 13).

use std::collections::BTreeSet;

use super::by_checks;
use crate::effects::changed;
use crate::effects::clock;
use crate::effects::journal::{Journal, Phase};
use crate::effects::keep;
use crate::effects::sweep::{Plan, Sweeper, Swept};
use crate::effects::workspace::{Start, some_of};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::model::goals::{DEFAULT_CHECK_TIMEOUT, Goals};
use crate::model::ledger as names;
use crate::model::snapshot::Snapshot;
use crate::model::sweep::{self, Batch, Finding, Harvest};
use crate::model::text;
use crate::model::work::Mended;
use crate::session::{Cut, LastSweep, Progress, Session};

/// How many items that are done in vain, and places that no cycle may change, are named.
const NAMED: usize = 5;

/// Sweeps if it is time to; called only where no goal fails. Says whether new items may stand in the queue. Between two
/// sweeps the tools are run again whose findings a cycle of this session was to mend.
pub async fn sweep_if_due(
    session: &Session,
    progress: &mut Progress,
    start: &mut Start,
    goals: &Goals,
    before: &Snapshot,
) -> Result<bool, Cut> {
    let tried = progress.last_sweep.as_ref().map(|last| last.at);
    let now = clock::now();
    if !sweep::is_due(&progress.ledger.last_sweep(session.home()), tried, now) {
        prove(session, progress, start, goals).await?;
        return Ok(false);
    }
    let mut last = LastSweep {
        at: now,
        cycle: start.cycle,
        told: None,
    };
    progress.last_sweep = Some(last.clone());
    let plan = plan(session, goals)?;
    let Some(swept) = look(session, progress, start, goals, &plan).await? else {
        return Ok(false);
    };
    if swept.is_cut {
        session
            .events
            .note("the sweep was cut short by a STOP file and comes again");
        return Ok(false);
    }
    progress.unproven.clear();
    tell_unmended(session, progress, &swept.batches, &done(session, progress));
    let harvest = harvest(session, progress, start, goals, &plan, &swept, before);
    tell(session, &harvest, &swept.failed);
    if swept.failed.is_empty() {
        last.told = Some(told(&harvest));
        progress.last_sweep = Some(last);
        let date = format!("{}\n", clock::timestamp());
        progress
            .ledger
            .write(names::LAST_SWEEP, date.into_bytes())?;
    }
    queue(progress, harvest)?;
    Ok(true)
}

/// Runs the tools again that found what the unproven cycles were to mend, and says whether it is gone. A kept change makes an item
/// done, whatever it is; nothing is queued here. Where the tools do not run now, a later cycle sees to it.
async fn prove(
    session: &Session,
    progress: &mut Progress,
    start: &mut Start,
    goals: &Goals,
) -> Result<(), Cut> {
    if progress.unproven.is_empty() {
        return Ok(());
    }
    let mut mended = done(session, progress);
    mended.retain(|one| progress.unproven.contains(&one.cycle));
    let tools = mended.iter().filter_map(sweep::tool_of).collect();
    let plan = plan(session, goals)?.only(&tools);
    let swept = look(session, progress, start, goals, &plan).await?;
    if plan.is_empty() || swept.as_ref().is_some_and(|swept| !swept.is_cut) {
        progress.unproven.clear();
    }
    let Some(swept) = swept else {
        return Ok(());
    };
    let ran: BTreeSet<&str> = swept.batches.iter().map(|batch| &*batch.tool).collect();
    mended.retain(|one| sweep::tool_of(one).is_some_and(|tool| ran.contains(tool)));
    let left = tell_unmended(session, progress, &swept.batches, &mended);
    mended.retain(|one| !left.contains(&one.cycle));
    for one in &mended {
        let tool = sweep::tool_of(one).unwrap_or_default();
        let said = format!("{tool} no longer finds what cycle {} mended", one.cycle);
        session.events.note(text::clean_line(&said));
    }
    Ok(())
}

/// Returns the items with findings that cycles did and nobody took back.
fn done(session: &Session, progress: &Progress) -> Vec<Mended> {
    let taken_back = changed::taken_back(session.home(), &progress.ledger.history.records);
    let mut mended = progress.ledger.queue.mended();
    mended.retain(|one| !taken_back.has(one.cycle));
    mended
}

/// Has the next record say what of the items that are done is still found; returns the cycles that did them.
fn tell_unmended(
    session: &Session,
    progress: &mut Progress,
    batches: &[Batch],
    mended: &[Mended],
) -> BTreeSet<u64> {
    let left = sweep::unmended(batches, mended);
    for one in left.iter().take(NAMED) {
        progress.note_for_record(&one.to_string());
    }
    if left.len() > NAMED {
        let more = text::count(left.len() - NAMED, "more item");
        session.events.warn(format!(
            "of {more} that cycles did something is still found, too"
        ));
    }
    left.iter().map(|one| one.cycle).collect()
}

/// Finds out what there is to look with.
fn plan(session: &Session, goals: &Goals) -> Result<Plan> {
    let parts = sweep::parts(
        goals.settings.sweep.as_deref(),
        session.options.sweep.as_deref(),
    );
    Plan::of(&session.repo, &parts)
}

/// Looks with what was planned; none where there is nothing to look with, or tracked files have changes.
async fn look(
    session: &Session,
    progress: &mut Progress,
    start: &mut Start,
    goals: &Goals,
    plan: &Plan,
) -> Result<Option<Swept>, Cut> {
    if plan.is_empty() {
        return Ok(None);
    }
    let dirty = session.workspace().dirty_files()?;
    if !dirty.is_empty() {
        // Whoever changed them, the sweep's programs could not be told from them.
        let files = some_of(&dirty);
        session.events.warn(format!(
            "no sweep, because tracked files have changes: {files}"
        ));
        return Ok(None);
    }
    session
        .events
        .send(Event::SweepStarted { with: plan.names() });
    let swept = run(session, progress, start, goals, plan).await?;
    look_again(session, start)?;
    Ok(Some(swept))
}

/// Runs the sweep's programs; until the tree is known to be clean again, the journal says that it may not be.
async fn run(
    session: &Session,
    progress: &mut Progress,
    start: &Start,
    goals: &Goals,
    plan: &Plan,
) -> Result<Swept, Cut> {
    let settled = Journal::measuring(&session.id, start.cycle);
    session.journal_file.write(&Journal {
        phase: Phase::Sweeping,
        start: Some(start.clone()),
        ..settled.clone()
    })?;
    session.link_untracked(start)?;
    let swept = sweeper(session, goals, start).run(plan, start).await;
    // Linters build what is in the tree.
    by_checks::clear(session, progress, start)?;
    let workspace = session.workspace();
    let is_clean = workspace.dirty_files()?.is_empty();
    if is_clean && workspace.refuse_locks(&start.branch).is_ok() {
        session.journal_file.write(&settled)?;
    }
    Ok(swept??)
}

/// Looks at the tree again: what the sweep's programs left untracked was not there when the cycle began, and is not the
/// agent's either.
fn look_again(session: &Session, start: &mut Start) -> Result<()> {
    let now = session
        .workspace()
        .begin(&session.id, start.cycle, session.way_out(), &[])?;
    if now.commit != start.commit {
        return Err(Error::unsafe_repo(
            "somebody committed while the sweep ran, so the goals were measured on something else",
        )
        .hint("start evolve again; if a sweep's own command commits, stop it from doing so"));
    }
    if now.branch != start.branch {
        let branch = |name: &str| name.trim_start_matches("refs/heads/").to_owned();
        let (old, new) = (branch(&start.branch), branch(&now.branch));
        return Err(Error::unsafe_repo(format!(
            "somebody switched from the branch {old} to {new} while the sweep ran"
        ))
        .hint(format!(
            "go back with `git switch {}`; if a sweep's own command switches, stop it from doing so",
            text::shell_word(&old)
        )));
    }
    let is_new = |name: &&String| !start.kept.untracked.contains_key(*name);
    let left: Vec<String> = now
        .kept
        .untracked
        .keys()
        .filter(is_new)
        .map(|name| String::from_utf8_lossy(&keep::from_hex(name)).into_owned())
        .collect();
    if !left.is_empty() {
        session.events.note(format!(
            "the sweep's programs left files that git does not track: {}",
            some_of(&left)
        ));
    }
    // What the sweep's programs hid from git is compared with the rest.
    let unverified_since = start.unverified_since.or(start.dated);
    *start = Start {
        unverified_since,
        ..now
    };
    Ok(())
}

fn sweeper<'a>(session: &'a Session, goals: &Goals, start: &Start) -> Sweeper<'a> {
    Sweeper {
        repo: &session.repo,
        home: &session.home().root,
        supervisor: &session.measurer.supervisor,
        fence: &session.measurer.fence,
        stop: &session.stop,
        events: &session.events,
        logs: session.logs().join(format!("{}-sweep", start.cycle)),
        timeout: goals.settings.timeout.unwrap_or(DEFAULT_CHECK_TIMEOUT),
    }
}

/// Makes items of what was found. What is in a frozen file is no work for an agent.
fn harvest(
    session: &Session,
    progress: &Progress,
    start: &Start,
    goals: &Goals,
    plan: &Plan,
    swept: &Swept,
    before: &Snapshot,
) -> Harvest {
    let is_file = |path: &str| session.repo.may_have_file(&start.tree, path);
    let yardstick = session.workspace().yardstick_alone(goals, &is_file);
    let goals_file = session.goals_file.in_repo.as_deref();
    let is_free = |path: &str| {
        !names::is_ledger_path(path.as_bytes())
            && goals_file != Some(path)
            && !yardstick.is_frozen(path)
    };
    let queue = &progress.ledger.queue;
    let known = queue.findings();
    let batches = swept.batches.iter();
    let mut lists: Vec<_> = batches
        .map(|batch| sweep::items_of(batch, &known, &is_free))
        .collect();
    if plan.with_floors {
        lists.push(sweep::floors(goals, before, &known).into_iter().collect());
    }
    let findings = swept.batches.iter().flat_map(|batch| &batch.findings);
    let frozen = findings.filter(|finding| !is_free(&finding.file));
    Harvest {
        frozen: frozen.map(Finding::place).collect(),
        ..sweep::pick(lists, queue)
    }
}

fn told(harvest: &Harvest) -> String {
    let mut told = match (harvest.items.len(), harvest.left_out) {
        (0, _) => "the sweep found nothing new".to_owned(),
        (new, 0) => format!("the sweep found {}", text::count(new, "new item")),
        (new, more) => format!(
            "the sweep found {}, {more} more wait for the next one",
            text::count(new, "new item")
        ),
    };
    if !harvest.frozen.is_empty() {
        let findings = text::count(harvest.frozen.len(), "finding");
        let places = text::some_of(&harvest.frozen, NAMED);
        told.push_str(&format!(
            ", and {findings} in files that no cycle may change: {places}"
        ));
    }
    told
}

fn tell(session: &Session, harvest: &Harvest, failed: &[String]) {
    let hint = match (harvest.items.is_empty(), harvest.frozen.is_empty()) {
        (true, _) => "",
        (false, true) => ": see `evolve work list`",
        (false, false) => "; `evolve work list` has what is new",
    };
    session.events.note(format!("{}{hint}", told(harvest)));
    if !failed.is_empty() {
        session.events.note(format!(
            "the next session sweeps again, because of {}",
            failed.join(", ")
        ));
    }
}

/// Writes the new items; the cycle's record takes them into its commit.
fn queue(progress: &mut Progress, harvest: Harvest) -> Result<()> {
    if harvest.items.is_empty() {
        return Ok(());
    }
    let now = clock::timestamp();
    for item in harvest.items {
        progress.ledger.queue.add(item, &now);
    }
    progress.ledger.write_queue()
}
