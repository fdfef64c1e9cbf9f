//! Commands that steer the loop through its files: stop (searches, too), retry, work add, work drop and done. They work beside a running
//! loop too.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;

use crate::cli::commands::{Level, NewWork, StopOptions};
use crate::cli::here::{current_dir, goals_file, refuse_in_copy, to_steer};
use crate::cli::measure::find_goal;
use crate::cli::options::Global;
use crate::effects::isolation::Isolation;
use crate::effects::ledger::{self, Ledger};
use crate::effects::process;
use crate::effects::repo::Repo;
use crate::effects::slot::Slot;
use crate::effects::{changed, clock, files, lock, stop};
use crate::error::{Error, Kind, Result};
use crate::model::goals::Goal;
use crate::model::ledger as names;
use crate::model::record::History;
use crate::model::select::Stuck;
use crate::model::snapshot::FORMAT;
use crate::model::strikes::{self, Retry};
use crate::model::text;
use crate::model::work::{
    self, Closed, Closing, LONGEST_TITLE, NewItem, Queue, Severity, State, WorkItem,
};
use crate::session::Slots;

/// Stops the loop, or lets it run again.
pub fn stop(global: &Global, options: &StopOptions) -> Result<u8> {
    let words = options.reason.join(" ");
    match (options.kill, options.off) {
        (true, true) => {
            let mut files = stop::kill_files()?;
            let first = files.first().cloned();
            files.retain(|path| std::fs::symlink_metadata(path).is_ok());
            let absent = first.iter().filter(|_| files.is_empty());
            let taken = files.iter().chain(absent);
            // Each of them, whatever becomes of another one.
            let taken: Vec<_> = taken.map(|path| take_away(global, path)).collect();
            taken.into_iter().collect::<Result<()>>()?;
        }
        (true, false) => {
            let path = stop::kill_files()?
                .into_iter()
                .next()
                .ok_or_else(|| Error::internal("BUG: no kill file"))?;
            files::replace(&path, format!("{words}\n").as_bytes())?;
            if let Some(places) = Repo::places(&current_dir()?) {
                wake(&places.private)?;
            }
            global.tell(&format!(
                "every loop and search of this user stops within a second: {}\n",
                path.display()
            ));
            global.tell("`evolve stop --off --kill` takes it away\n");
        }
        (false, off) => {
            let here = Here::find()?;
            // Whoever works in a copy is heeded there as in place.
            let in_copy = Slot::copied_from(&here.root).and_then(|_| stops_in_copy(&here.root));
            if in_copy.is_none() || off || options.now {
                refuse_in_copy(&here.root)?;
            }
            match (off, options.now) {
                (true, _) => {
                    let path = stop_file(&here.root, "removed")?;
                    take_away(global, &path)?;
                    tell_of_kill(global)?;
                }
                (false, true) => end_now(global, &here.private)?,
                (false, false) => {
                    let path = stop_file(&here.root, "written")?;
                    // An agent may have seen to it that this cannot be done, and the loop is to stop all the same.
                    let repo = here.repo.as_ref().map_err(Error::clone);
                    let excluded = repo.and_then(|repo| Ledger::exclude_private_files(repo, &[]));
                    if let Err(cause) = excluded {
                        global.warn(&cause.message);
                    }
                    let there = std::fs::symlink_metadata(&path).map(|there| there.file_type());
                    // One that is there says why, and any kind of it stops.
                    let is_kept = there.is_ok_and(|kind| kind.is_dir() || words.is_empty());
                    if !is_kept {
                        files::replace(&path, format!("{words}\n").as_bytes())?;
                    }
                    match in_copy {
                        Some(words) => global.tell(&format!("{words}: {}\n", names::STOP)),
                        None => {
                            global.tell(&format!("{}\n", what_stops(&here.private)));
                            global.tell("`evolve stop --off` takes it away\n");
                        }
                    }
                }
            }
        }
    }
    Ok(0)
}

/// Where something is to be stopped.
struct Here {
    root: PathBuf,
    private: PathBuf,
    /// Why it cannot be opened, if that is so.
    repo: Result<Repo>,
}

impl Here {
    /// Finds the repository, also where an agent left in `.git` what opening it would wait for.
    fn find() -> Result<Here> {
        let folder = current_dir()?;
        let cause = match Repo::discover(&folder) {
            Ok(repo) => {
                return Ok(Here {
                    root: repo.root.clone(),
                    private: repo.private.clone(),
                    repo: Ok(repo),
                });
            }
            Err(cause) => cause,
        };
        let is_root = |folder: &&Path| std::fs::symlink_metadata(folder.join(".git")).is_ok();
        let root = folder.ancestors().find(is_root).map(Path::to_owned);
        match (Repo::places(&folder), root) {
            (Some(places), Some(root)) if cause.kind == Kind::Unsafe => Ok(Here {
                root,
                private: places.private,
                repo: Err(cause),
            }),
            _ => Err(cause),
        }
    }
}

/// Returns where the STOP file is; refuses where a link in the place of a folder leads elsewhere, so that nothing is done there.
fn stop_file(root: &Path, what: &str) -> Result<PathBuf> {
    let above = Path::new(names::STOP).ancestors().skip(1);
    let leads_elsewhere = |folder: &&Path| {
        let meta = std::fs::symlink_metadata(root.join(folder));
        meta.is_ok_and(|meta| !meta.is_dir())
    };
    match above.into_iter().find(leads_elsewhere) {
        None => Ok(root.join(names::STOP)),
        Some(folder) => Err(Error::unsafe_repo(format!(
            "{} is not a plain folder, so no {} is {what} there",
            folder.display(),
            names::STOP
        ))
        .hint("`evolve stop --now` ends what runs here at once, `evolve stop --kill` everything of this user's")
        .hint("if nothing runs here, move it away")),
    }
}

/// Removes a stop file, or an empty folder in its place. What is in one is for the user to decide on.
fn take_away(global: &Global, path: &Path) -> Result<()> {
    let words = match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => {
            remove_empty(path)?;
            "removed"
        }
        Ok(_) => {
            files::remove(path)?;
            "removed"
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => "was not there:",
        Err(cause) => {
            let error = Error::io("look at", path, cause);
            return Err(error.hint(names::way_past_kill(names::UNDECIDABLE)));
        }
    };
    global.tell(&format!("{words} {}\n", path.display()));
    Ok(())
}

/// Says that a KILL file keeps everything from running, also where a STOP file does no more.
fn tell_of_kill(global: &Global) -> Result<()> {
    if let Some(kill) = stop::kill_file()? {
        global.tell(&format!(
            "a KILL file still keeps every loop and search of this user from running: {}; {}\n",
            kill.path,
            kill.way_past()
        ));
    }
    Ok(())
}

fn remove_empty(folder: &Path) -> Result<()> {
    std::fs::remove_dir(folder).map_err(|cause| match cause.kind() {
        ErrorKind::DirectoryNotEmpty => Error::internal(format!(
            "{} is a folder and has something in it, so it stays",
            folder.display()
        ))
        .hint(format!(
            "look what it is; `rm -r {}` takes it away",
            text::shell_word(folder.as_os_str().as_encoded_bytes())
        )),
        _ => Error::io("remove", folder, cause),
    })
}

/// Says what a STOP file has stop.
fn what_stops(private: &Path) -> String {
    let [is_looping, is_searching] = locks(private).map(|lock| lock::holder(&lock).is_some());
    let at_work = [
        is_looping.then_some("the loop stops after its running cycle"),
        is_searching.then_some("the search ends when what runs is done"),
    ];
    let at_work: Vec<&str> = at_work.into_iter().flatten().collect();
    match at_work.is_empty() {
        true => format!(
            "no evolve is at work here; no loop or search begins while {} is there",
            names::STOP
        ),
        false => format!("{}: {}", at_work.join(", "), names::STOP),
    }
}

/// Says what a STOP file has stop in a copy, where somebody is at work in it who is heeded there.
fn stops_in_copy(root: &Path) -> Option<&'static str> {
    let of_loop = "the loop at work in this copy stops after its running cycle";
    let of_search = "the search at work in this copy ends when what runs is done";
    let is_of_loop = Isolation::is_of_loop(root).then_some(of_loop);
    is_of_loop.or_else(|| Slots::is_of_search(root).then_some(of_search))
}

/// Returns the locks of a session of the loop and of one of a search: both may run at once.
fn locks(private: &Path) -> [PathBuf; 2] {
    ["lock", lock::SEARCH].map(|name| private.join(name))
}

/// Has the sessions at work and whoever supervises them go on, should an agent have stopped both: neither could wake the other.
fn wake(private: &Path) -> Result<()> {
    let locks = locks(private).into_iter();
    let mut holders = locks.flat_map(|lock| lock::holders(&lock));
    holders.try_for_each(|holder| process::send(holder.pid, Signal::SIGCONT))
}

/// Ends the sessions at work as SIGINT would; they know who asked.
fn end_now(global: &Global, private: &Path) -> Result<()> {
    let [looping, searching] = locks(private).map(|lock| lock::holder(&lock));
    if looping.is_none() && searching.is_none() {
        global.tell("no evolve is at work here\n");
        return Ok(());
    }
    for holder in [&looping, &searching].into_iter().flatten() {
        process::send(holder.pid, stop::NOW)?;
    }
    wake(private)?;
    if let Some(holder) = looping {
        let pid = holder.pid;
        global.tell(&format!("process {pid} undoes its cycle and ends\n"));
    }
    if let Some(holder) = searching {
        global.tell(&format!(
            "process {} ends what its search runs; `evolve search resume` does that again\n",
            holder.pid
        ));
    }
    Ok(())
}

/// Lets goals be worked on again: those that are named, or all that wait for a person. Nothing is written where one is unknown.
pub fn retry(global: &Global, ids: &[String], all: bool) -> Result<u8> {
    let repo = to_steer()?;
    let (goals, _) = goals_file(global, &repo)?.load()?;
    let ledger = Ledger::look(&repo)?;
    let (records, retries) = (&ledger.history.records, &ledger.retries);
    let mut asked: Vec<&Goal> = Vec::new();
    for id in ids {
        let goal = find_goal(&goals, id)?;
        if asked.iter().all(|other| other.id != goal.id) {
            asked.push(goal);
        }
    }
    if all {
        let waits = |goal: &&Goal| Stuck::of(goal, records, retries).is_some();
        asked.extend(goals.goals.iter().filter(waits));
        if asked.is_empty() {
            global.tell("nothing to retry: no goal waits for a person\n");
            return Ok(0);
        }
    }
    let counts = |goal: &&Goal| strikes::has_attempts(goal, records, retries);
    let after_cycle = ledger.history.next_cycle() - 1;
    let line = |goal: &Goal| {
        let retry = Retry {
            format: FORMAT,
            goal_id: goal.id.clone(),
            after_cycle,
            at: clock::timestamp(),
            reason: None,
        };
        ledger::line("retry", &retry)
    };
    ledger::append(&repo, names::RETRIES, |_| {
        let counting = asked.iter().copied().filter(counts);
        let lines: Vec<String> = counting.map(line).collect::<Result<_>>()?;
        Ok((!lines.is_empty()).then(|| lines.concat()))
    })?;
    for goal in &asked {
        let id = &goal.id;
        global.tell(&match counts(goal) {
            true => {
                format!("{id} may be worked on again; its earlier attempts no longer count\n")
            }
            false => format!(
                "nothing to retry: no attempt at {id} counts, so it is worked on when it fails\n"
            ),
        });
    }
    Ok(0)
}

/// Queues a piece of work.
pub fn work_add(global: &Global, item: &NewWork) -> Result<u8> {
    let repo = to_steer()?;
    if item.title.trim().is_empty() {
        return Err(Error::usage("the title is empty").hint("say in one line what is to be done"));
    }
    let length = item.title.chars().count();
    if length > LONGEST_TITLE {
        return Err(Error::usage(format!(
            "the title has {length} characters, more than the {LONGEST_TITLE} that a title may have"
        ))
        .hint("say in one line what is to be done, and the rest with --description"));
    }
    let new = NewItem {
        title: item.title.clone(),
        kind: item.kind.clone(),
        severity: match item.severity {
            Level::Critical => Severity::Critical,
            Level::High => Severity::High,
            Level::Medium => Severity::Medium,
            Level::Low => Severity::Low,
        },
        source: "evolve work add".to_owned(),
        description: item.description.clone(),
        target_repo: item.target_repo.clone(),
        ..NewItem::default()
    };
    let history = History::parse(&ledger::whole_history(&repo)?);
    let taken_back = changed::taken_back(&repo, &history.records);
    let mut standing = None;
    // Only the new line is appended, so that a running loop and this command never write over each other.
    ledger::append(&repo, names::QUEUE, |known| {
        let mut queue = Queue::parse(known);
        // The loop at work has not taken these in yet.
        for closing in ledger::closings(&repo)? {
            queue.close(&closing);
        }
        match queue.anew(new, &clock::timestamp(), &taken_back) {
            Ok(line) => Ok(Some(line)),
            Err(item) => {
                standing = Some(item);
                Ok(None)
            }
        }
    })?;
    if let Some(item) = standing {
        global.tell(&already(&item));
        return Ok(0);
    }
    global.tell(&format!("queued: {}\n", text::clean_line(&item.title)));
    Ok(0)
}

/// Says how it stands with an item that is not queued once more, and what leads on.
fn already(item: &WorkItem) -> String {
    let id: String = item.id().chars().take(work::SHORT_ID).collect();
    match (item.is_consumed(), item.is_set_aside()) {
        (true, _) => {
            let by = item.consumed_by.as_deref();
            let by = by.map_or(String::new(), |by| format!(" ({by})"));
            format!("done already{by}; what is left of it can be queued under another title\n")
        }
        (false, true) => format!(
            "already in the queue as {id}, set aside after {}; `evolve work drop {id}` takes it off, and it can be queued anew\n",
            text::count(
                usize::try_from(item.failures).unwrap_or(usize::MAX),
                "failure"
            )
        ),
        (false, false) => format!("already in the queue, as {id}\n"),
    }
}

/// Takes items off the queue, in which each of these words names one; where one does not, none is.
pub fn work_close(global: &Global, words: &[String], how: Closed) -> Result<u8> {
    let repo = to_steer()?;
    let queue = Ledger::look(&repo)?.queue;
    let name = repo.name();
    let open = [queue.open(&name), queue.set_aside(&name)].concat();
    let is_closed = |item: &WorkItem| item.is_consumed() && item.is_for(&name);
    let closed: Vec<WorkItem> = queue.items().into_iter().filter(is_closed).collect();
    let is_at_work = lock::holder(&repo.private.join("lock")).is_some();
    let mut items: Vec<&WorkItem> = Vec::new();
    for word in words {
        let item = work::find(word, &open, &closed)?;
        if is_at_work && item.state == State::InProgress {
            let by = item.claimed_by.as_deref().unwrap_or("the loop");
            let title = text::clean_line(&item.title);
            return Err(
                Error::new(Kind::Locked, format!("{by} is at work on {title}"))
                    .hint("wait until that cycle is over, or end it with `evolve stop --now`"),
            );
        }
        if items.iter().all(|other| other.id() != item.id()) {
            items.push(item);
        }
    }
    let at = clock::timestamp();
    let closing = |item: &&WorkItem| Closing {
        id: item.id(),
        how,
        at: at.clone(),
    };
    let closings: Vec<Closing> = items.iter().map(closing).collect();
    let when = match ledger::close(&repo, &closings)? {
        true => "; the loop at work takes that in before its next cycle",
        false => "",
    };
    for item in items {
        let title = text::clean_line(&item.title);
        global.tell(&format!("{}: {title}{when}\n", how.word()));
    }
    Ok(0)
}
