//! Commands that look and change nothing: they take no lock, write no file and need no agent.

use std::cmp::Reverse;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::config::user_config;
use crate::cli::here::{current_dir, goals_file};
use crate::cli::options::Global;
use crate::cli::past::{is_valid, whole_history};
use crate::cli::print::{print, print_document};
use crate::effects::journal::{Journal, JournalFile};
use crate::effects::ledger::Ledger;
use crate::effects::lock::{self, Holder};
use crate::effects::repo::Repo;
use crate::effects::sandbox::{self, Sandbox};
use crate::effects::search::store::Store;
use crate::effects::{changed, clock};
use crate::effects::{papers, stop, unrecorded};
use crate::error::{Error, Result};
use crate::model::counted::Counted;
use crate::model::exact;
use crate::model::goals::{Goals, Settings, Where, nearest};
use crate::model::ledger as names;
use crate::model::record::Record;
use crate::model::sandbox::Protections;
use crate::model::search::lineage::Lineage;
use crate::model::select::{self, Stuck};
use crate::model::snapshot::{CheckResult, FORMAT, Measurement};
use crate::model::status::{Now, Running, Searching, Status};
use crate::model::told::Waiting;
use crate::model::unrecorded::Unrecorded;
use crate::model::work::WorkItem;
use crate::model::{schema, text};
use crate::session::Progress;
use crate::view::{status, tables, width};

/// Prints where things stand.
pub fn status(global: &Global, as_json: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    let goals = file.load().ok().map(|(goals, _)| goals);
    let mut progress = Progress::to_look_at(&repo, Ledger::look(&repo)?);
    let listed = goals.as_ref().map_or(&[][..], |goals| &goals.goals);
    progress.ledger.foresee_waking(&repo, listed)?;
    let ledger = &progress.ledger;
    let head = repo.head()?;
    let stuck = |goal| Stuck::of(goal, &ledger.history.records, &ledger.retries);
    let mut stuck: Vec<(u8, Stuck)> = listed
        .iter()
        .filter_map(|goal| Some((goal.weight, stuck(goal)?)))
        .collect();
    let standing = |wanted: &str| -> Vec<String> {
        let those = stuck.iter().filter(|(_, one)| one.standing == wanted);
        those.map(|(_, one)| one.goal_id.clone()).collect()
    };
    let (struck, declined) = (standing("struck"), standing("declined"));
    stuck.sort_by_key(|(weight, _)| Reverse(*weight));
    let newest = progress.newest.as_ref();
    // What is no goal any more needs nobody.
    let is_goal = |id: &String| listed.is_empty() || listed.iter().any(|goal| goal.id == *id);
    let ids = |measured: Vec<&Measurement>| -> Vec<String> {
        let ids = measured.into_iter().map(|one| one.id.clone());
        ids.filter(is_goal).collect()
    };
    let those = |is_meant: fn(&Measurement) -> bool| {
        let measured = newest.iter().flat_map(|snapshot| &snapshot.goals);
        ids(measured.filter(|goal| is_meant(goal)).collect())
    };
    let counted = newest.map(|newest| Counted::of(goals.as_ref(), newest));
    let unrecorded = unrecorded::read(&repo.private, ledger.history.newest());
    let measured_at = unrecorded.as_ref().and_then(|one| one.measured.as_ref());
    let measured_at = measured_at.map(|snapshot| snapshot.timestamp.clone());
    let unrecorded = unrecorded.map(Unrecorded::without_measurement);
    let journal_file = JournalFile::of(&repo.own_places());
    let journal = journal_file.look().ok().flatten();
    let session = lock::holder(&repo.private.join("lock"));
    let told = session.as_ref();
    let told = told.and_then(|holder| sandbox::told(&repo.private, holder.pid));
    let waiting = told.as_ref().and_then(|told| told.waiting.clone());
    let records = whole_history()?.records;
    // What is wrong with it ends a run; where things stand can be told all the same.
    let (user, unread) = match user_config() {
        Ok(user) => (Some(user), None),
        Err(error) => (None, Some(error)),
    };
    let passing_left = ledger.history.newest().and_then(Record::passing_left);
    let document = Status {
        format: FORMAT,
        repository: repo.root.display().to_string(),
        branch: head.branch.as_deref().map(exact::shown),
        head: head.commit,
        goals_total: goals.as_ref().map(|goals| goals.goals.len()),
        no_goals: match &goals {
            Some(_) => None,
            None => Some((file.shown.clone(), file.path.symlink_metadata().is_ok())),
        },
        now: journal
            .as_ref()
            .filter(|_| session.is_some())
            .map(|journal| Now {
                since: journal_file.written_at().map(clock::shown),
                ..now(journal, &repo)
            }),
        interrupted_cycle: journal
            .filter(|journal| session.is_none() && journal.is_unsettled())
            .map(|journal| journal.cycle),
        protections: match told {
            Some(told) => told.protections,
            None => protections(&repo, goals.as_ref(), user.as_ref()),
        },
        sandboxes: sandbox::available(),
        unrecorded: unrecorded.filter(|_| session.is_none()),
        session: session.map(|holder| running(holder, waiting)),
        search: searching(&repo),
        kill: stop::kill_file()?,
        stop: stop::stop_file(&repo.root.join(names::STOP)),
        cycles: records.len(),
        newest: ledger
            .history
            .newest()
            .filter(|record| is_valid(record))
            .cloned(),
        score: match newest {
            Some(snapshot) => Some(snapshot.score),
            None => ledger.history.newest().and_then(Record::score_left),
        },
        measured_at,
        goals_passing: match &counted {
            Some(counted) => Some(counted.passing),
            None => passing_left.map(|(passing, _)| passing),
        },
        failing: ids(newest.map_or_else(Vec::new, select::failing_goals)),
        tolerated: those(|goal| goal.tolerated),
        flaky: those(|goal| goal.flaky),
        skipped: those(|goal| goal.result == CheckResult::Skip),
        unmeasured: counted.map_or_else(Vec::new, |counted| counted.unmeasured),
        baseline_score: ledger
            .snapshot(&repo, names::BASELINE)
            .map(|snapshot| snapshot.score),
        struck,
        declined,
        stuck: stuck.into_iter().map(|(_, one)| one).collect(),
        queue: ledger
            .queue
            .counts(&repo.name(), &changed::taken_back(&repo, &records)),
        problems: ledger
            .problems()
            .into_iter()
            .chain(unread.as_ref().map(unread_words))
            .collect(),
    };
    match as_json {
        true => print_document("status", &document)?,
        false => global.say(&status::page(&document, width::of_terminal())),
    }
    Ok(0)
}

fn running(holder: Holder, waiting: Option<Waiting>) -> Running {
    Running {
        pid: holder.pid,
        started_at: holder.since,
        waiting,
    }
}

/// Returns what a living session's journal says that it does.
fn now(journal: &Journal, repo: &Repo) -> Now {
    let record = journal.record.as_ref();
    let log = papers::log_of(&repo.private, &journal.session, journal.cycle);
    let shown = |log: PathBuf| {
        let below = log.strip_prefix(&repo.root).unwrap_or(&log);
        below.display().to_string()
    };
    Now {
        log: log.map(shown),
        cycle: journal.cycle,
        phase: journal.phase.word(),
        since: None,
        goal_id: record.and_then(|record| record.goal_id.clone()),
    }
}

/// Returns the search that is at work, or can be gone on with. What cannot be read is for `evolve search status` to say.
fn searching(repo: &Repo) -> Option<Searching> {
    let holder = lock::holder(&repo.private.join(lock::SEARCH));
    let newest = Store::newest(repo).ok().flatten();
    let is_open = |lineage: &Lineage| lineage.end.as_ref().is_none_or(|end| end.why.can_go_on());
    let open = newest.filter(|(_, lineage)| is_open(lineage));
    let number = open.map(|(store, _)| store.number);
    (holder.is_some() || number.is_some()).then(|| Searching {
        number,
        session: holder.map(|holder| running(holder, None)),
    })
}

/// Says on one line what is wrong with the user's configuration: the first of it, and how much more there is.
fn unread_words(error: &Error) -> String {
    let first = error.message.lines().next().unwrap_or_default();
    let more = match error.spots.len() {
        0 | 1 => String::new(),
        all => format!(", and {} more", all - 1),
    };
    format!("a run would be refused: {first}{more}")
}

/// Returns what protects whom in a session that would be started now; none would be where the user's configuration cannot be read.
fn protections(repo: &Repo, goals: Option<&Goals>, user: Option<&Settings>) -> Protections {
    let Some(user) = user else {
        let unread = "your config.yaml cannot be read, and a run would be refused".to_owned();
        return Protections {
            lacks: vec![unread],
            ..Sandbox::none(&Settings::default().sandbox).protections
        };
    };
    let file = goals.map(|goals| &goals.settings);
    let wish = file.map(|file| file.sandbox.clone().or(&user.sandbox));
    let wish = wish.unwrap_or_else(|| user.sandbox.clone());
    let isolate = file.and_then(|file| file.isolate).or(user.isolate);
    // A run would end with this error; where things stand can be told all the same.
    let chosen = Sandbox::choose(&wish, &repo.ground());
    let protections = match chosen {
        Ok((sandbox, _)) => sandbox.protections,
        Err(error) => Protections {
            lacks: vec![format!("a run would be refused: {}", error.message)],
            ..Sandbox::none(&wish).protections
        },
    };
    Protections {
        isolated: isolate.unwrap_or_default(),
        clean: file.is_some_and(|file| file.measure == Where::Clean),
        ..protections
    }
}

/// Prints the queue.
pub fn work_list(global: &Global, as_json: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let ledger = Ledger::look(&repo)?;
    for problem in ledger.queue.problems() {
        global.warn(&format!("{}, {problem}", names::QUEUE));
    }
    let name = repo.name();
    let (open, set_aside) = (ledger.queue.open(&name), ledger.queue.set_aside(&name));
    if as_json {
        let list = |items: &[WorkItem]| items.iter().filter_map(item_document).collect::<Vec<_>>();
        let (open, set_aside) = (list(&open), list(&set_aside));
        let document =
            json!({"format": FORMAT, "repository": name, "open": open, "set_aside": set_aside});
        print_document("queue", &document)?;
        return Ok(0);
    }
    match open.is_empty() && set_aside.is_empty() {
        true => global.say(&format!(
            "nothing is queued for {}\n",
            text::clean_line(&name)
        )),
        false => global.say(&tables::work_list(&open, &set_aside, width::of_terminal())),
    }
    Ok(0)
}

/// Returns an item as it stands in a document; none if it is no item that its schema describes.
fn item_document(item: &WorkItem) -> Option<Value> {
    let mut value = serde_json::to_value(item).ok()?;
    // Where it stands in the file is nobody else's business.
    value.as_object_mut()?.shift_remove("key");
    value["id"] = json!(item.id());
    schema::check("work", &value).is_ok().then_some(value)
}

/// Prints a schema, or the names of all with what each describes.
pub fn schema(name: Option<&str>) -> Result<u8> {
    match name {
        None => {
            let width = schema::names().map(str::len).max().unwrap_or(0);
            let about = |name| schema::about(name).trim_end_matches('.').to_owned();
            let line = |name| format!("{name:width$}  {}\n", about(name));
            print(&schema::names().map(line).collect::<String>());
        }
        Some(name) => match schema::text(name) {
            Some(text) => print(text),
            None => {
                let names: Vec<_> = schema::names().collect();
                let error = Error::usage(format!("there is no schema {name}"));
                let printed = format!("`evolve {name} ");
                let mut by_command = names.iter().copied();
                let by_command = by_command.find(|it| schema::about(it).contains(&printed));
                let error = match by_command.or_else(|| nearest(name, &names)) {
                    Some(near) => error.hint(format!("did you mean {near}?")),
                    None => error,
                };
                return Err(error.hint(format!("there are {}", names.join(", "))));
            }
        },
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;
    use crate::cli::arguments::Arguments;

    /// Collects the commands that print JSON, as they are typed.
    fn printing(command: &Command, typed: &str, found: &mut Vec<String>) {
        if command.get_arguments().any(|it| it.get_id() == "json") {
            found.push(format!("{typed} --json"));
        }
        for below in command.get_subcommands() {
            printing(below, &format!("{typed} {}", below.get_name()), found);
        }
    }

    #[test]
    fn of_what_each_command_prints_as_json_one_schema_says_so() {
        let mut found = Vec::new();
        printing(&Arguments::command(), "evolve", &mut found);
        assert!(found.contains(&"evolve work list --json".to_owned()));
        for typed in found {
            let command = typed.strip_suffix(" --json").unwrap();
            // One may be told with what it is asked for, as in `evolve show N --json`.
            let told = regex::Regex::new(&format!("`{command}( [A-Z]+)? --json`")).unwrap();
            let prints = |name: &&str| {
                let about = schema::about(name);
                told.is_match(about.split("; what").next().unwrap())
            };
            let named: Vec<&str> = schema::names().filter(prints).collect();
            assert_eq!(named.len(), 1, "{typed}: {named:?}");
        }
    }
}
