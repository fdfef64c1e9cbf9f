//! Commands that tell what was: the history, one cycle of it. They take no lock and write nothing.

use serde_json::{Value, json};

use crate::cli::commands::{HistoryOptions, ShowOptions};
use crate::cli::here::{current_dir, goals_file};
use crate::cli::options::Global;
use crate::cli::print::print_document;
use crate::cli::undo::no_such_cycle;
use crate::effects::changed::{self, Changed};
use crate::effects::clock;
use crate::effects::ledger::{self, Ledger};
use crate::effects::papers::{self, Paper};
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::git::patch::Patch;
use crate::model::goals::nearest_id;
use crate::model::ledger as names;
use crate::model::record::{History, Record};
use crate::model::schema;
use crate::model::snapshot::{FORMAT, Measurement, Snapshot};
use crate::model::text::{clean_line, some_of};
use crate::view::cycle::Page;
use crate::view::history::{Course, Stage, course_page, history_page, scores_of};
use crate::view::width;

/// The most bytes of a patch that are shown.
const PATCH_SHOWN: usize = 4 << 20;
/// How many cycles of the same number are named.
const NAMED: usize = 5;

/// Prints every cycle so far, segments included, or those that are asked for.
pub fn history(global: &Global, options: &HistoryOptions) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let history = whole_history()?;
    for problem in &history.problems {
        global.warn(&format!("{}, {problem}", names::HISTORY));
    }
    if let Some(id) = &options.goal {
        refuse_unknown(global, &repo, id, &history.records, &[])?;
    }
    let now = clock::now();
    let is_asked_for = |record: &Record| {
        let goal = options.goal.as_ref();
        goal.is_none_or(|id| record.goal_id.as_ref() == Some(id))
            && options.since.is_none_or(|since| since.holds(record, now))
    };
    let is_whole = options.goal.is_none() && options.since.is_none();
    let had_any = !history.records.is_empty();
    let records = history.records;
    let asked_for: Vec<Record> = records
        .iter()
        .filter(|it| is_asked_for(it))
        .cloned()
        .collect();
    let ledger = Ledger::look(&repo);
    let baseline = match (options.since, &ledger) {
        (None, Ok(ledger)) => ledger.snapshot(&repo, names::BASELINE),
        (Some(_), _) | (None, Err(_)) => None,
    };
    let is_since = |record: &&Record| options.since.is_none_or(|since| since.holds(record, now));
    let cycles = || records.iter().filter(is_since);
    let course = match &options.goal {
        Some(id) => {
            let baseline = baseline.as_ref();
            Some(course_of(&repo, &ledger?, id, baseline, cycles()))
        }
        None => None,
    };
    if options.json {
        let valid: Vec<_> = asked_for.iter().filter(|it| is_valid(it)).collect();
        let mut document = json!({"format": FORMAT, "records": valid});
        if let Some(course) = &course {
            document["measurements"] = measurements(course);
        }
        print_document("history", &document)?;
        return Ok(0);
    }
    let from = baseline.map(|baseline| baseline.score);
    let from = from.or_else(|| cycles().next().and_then(|first| first.score_before));
    let scores = scores_of(from, cycles());
    let (taken_back, width) = (changed::taken_back(&repo, &records), width::of_terminal());
    let is_empty = match &course {
        Some(course) => course.baseline.is_none() && course.stages.is_empty(),
        None => asked_for.is_empty(),
    };
    let page = match course {
        _ if is_empty && had_any && !is_whole => "no such cycles\n".to_owned(),
        Some(course) if !is_empty => course_page(&course, &taken_back, &scores, width),
        Some(_) | None => history_page(&asked_for, &taken_back, &scores, width),
    };
    global.say(&page);
    Ok(0)
}

/// Refuses a goal that neither a record nor the goals file names, nor somebody else.
pub(super) fn refuse_unknown(
    global: &Global,
    repo: &Repo,
    id: &str,
    records: &[Record],
    others: &[&str],
) -> Result<()> {
    let goals = goals_file(global, repo)?.load().ok();
    let of_file = goals.iter().flat_map(|(goals, _)| &goals.goals);
    let of_file = of_file.map(|goal| goal.id.as_str());
    let recorded = records
        .iter()
        .filter_map(|record| record.goal_id.as_deref());
    let known: Vec<&str> = of_file
        .chain(recorded)
        .chain(others.iter().copied())
        .collect();
    if known.contains(&id) {
        return Ok(());
    }
    let error = Error::usage(format!("no cycle worked on {id}, and no goal is called so"));
    Err(match nearest_id(id, &known) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("`evolve history` lists all cycles, `evolve validate` the goals"),
    })
}

/// Returns what a goal came to in each of these cycles, as far as their snapshots are there.
fn course_of<'a>(
    repo: &Repo,
    ledger: &Ledger,
    id: &str,
    baseline: Option<&Snapshot>,
    cycles: impl Iterator<Item = &'a Record>,
) -> Course {
    let mut course = Course {
        id: id.to_owned(),
        baseline: baseline.and_then(|snapshot| snapshot.find(id)).cloned(),
        ..Course::default()
    };
    for record in cycles {
        let snapshots = changed::snapshots(repo, ledger, record);
        let of = |snapshot: &'_ Option<Snapshot>| snapshot.as_ref()?.find(id).cloned();
        match Stage::of(id, record, of(&snapshots.before), of(&snapshots.after)) {
            Some(stage) => course.stages.push(stage),
            None => course.unknown += 1,
        }
    }
    course
}

/// Returns what a goal came to in each cycle as a part of a document; the baseline has the number 0.
fn measurements(course: &Course) -> Value {
    let brief = |goal: &Measurement| json!({"result": goal.result, "value": goal.value, "threshold": goal.threshold});
    let baseline = course
        .baseline
        .iter()
        .map(|goal| json!({"cycle": 0, "before": null, "after": brief(goal)}));
    let stages = course.stages.iter().map(|stage| {
        let (before, after) = (stage.before.as_ref(), stage.after.as_ref());
        json!({"cycle": stage.record.cycle, "before": before.map(brief), "after": after.map(brief)})
    });
    baseline.chain(stages).collect()
}

/// Says whether a record is what this program would write: only such ones go into a document.
pub(super) fn is_valid(record: &Record) -> bool {
    serde_json::to_value(record).is_ok_and(|value| schema::check("record", &value).is_ok())
}

/// Reads the records of all cycles.
pub(super) fn whole_history() -> Result<History> {
    let repo = Repo::discover(&current_dir()?)?;
    Ok(History::parse(&ledger::whole_history(&repo)?))
}

/// Prints one cycle; the newest if no other is asked for.
pub fn show(global: &Global, options: &ShowOptions) -> Result<u8> {
    let history = whole_history()?;
    let mut records = history.records.iter().rev();
    let is_it = |record: &&Record| options.cycle.is_none_or(|cycle| record.cycle == cycle);
    let Some(record) = records.find(is_it) else {
        return Err(no_such_cycle(&history, options.cycle));
    };
    let same: Vec<&Record> = records.filter(|it| it.cycle == record.cycle).collect();
    if !same.is_empty() {
        global.warn(&called_the_same(record, &same));
    }
    let repo = Repo::discover(&current_dir()?)?;
    let ledger = Ledger::look(&repo)?;
    let snapshots = changed::snapshots(&repo, &ledger, record);
    if let Some(doubt) = &snapshots.doubt {
        global.warn(doubt);
    }
    let (before, after) = (snapshots.before, snapshots.after);
    let patch = patch_of(&repo, &ledger, record, options.diff)?;
    if options.json {
        let document = cycle_document(record, before, after, patch, options.diff)?;
        print_document("show", &document)?;
        return Ok(0);
    }
    let papers = papers::papers(&repo.private, record);
    let shown = |paper: &Option<Paper>| {
        let paper = paper.as_ref()?;
        let file = paper.path.strip_prefix(&repo.root).unwrap_or(&paper.path);
        Some((paper.text.clone(), file.display().to_string()))
    };
    let (brief, log) = (shown(&papers.brief), shown(&papers.log));
    let taken_back = changed::taken_back(&repo, &history.records).words(record);
    let is_there = |name: &str| repo.resolve(name).is_ok_and(|found| found.is_some());
    let page = Page {
        record: &record.with_absent_refs_told(is_there),
        taken_back: taken_back.as_deref(),
        before: before.as_ref(),
        after: after.as_ref(),
        patch: patch.as_ref(),
        brief: brief.as_ref().map(|(text, file)| (&**text, &**file)),
        log: log.as_ref().map(|(text, file)| (&**text, &**file)),
    };
    let width = width::of_terminal();
    global.say(&page.text(width));
    if options.diff && patch.is_none() && record.is_undone() {
        let words = "\nno patch: this repository does not have the work that was undone\n";
        global.say(&width::page(words, width));
    }
    Ok(0)
}

/// Says that branches with a history each gave one number to several cycles, and which of them is meant.
fn called_the_same(record: &Record, others: &[&Record]) -> String {
    let session = |record: &Record| match &record.session {
        Some(session) => format!("session {}", clean_line(session)),
        None => format!("commit {}", record.commit_sha),
    };
    let named: Vec<String> = others.iter().map(|it| session(it)).collect();
    format!(
        "{} cycles are called {}: this is the one of {}; {} had one, too",
        others.len() + 1,
        record.cycle,
        session(record),
        some_of(&named, NAMED)
    )
}

/// Returns what a cycle changed, if that can still be told.
fn patch_of(
    repo: &Repo,
    ledger: &Ledger,
    record: &Record,
    is_whole: bool,
) -> Result<Option<Patch>> {
    let most = if is_whole { PATCH_SHOWN } else { 0 };
    let Some(changed) = Changed::of(repo, ledger, record)? else {
        return Ok(None);
    };
    let (from, to) = (repo.tree_of(&changed.from)?, repo.tree_of(&changed.to)?);
    repo.patch(&from, &to, most).map(Some)
}

/// Returns what is known of a cycle as a document. A snapshot that this program would not write is left out of it.
fn cycle_document(
    record: &Record,
    before: Option<Snapshot>,
    after: Option<Snapshot>,
    patch: Option<Patch>,
    is_whole: bool,
) -> Result<Value> {
    if !is_valid(record) {
        let cycle = record.cycle;
        let what = format!("the record of cycle {cycle} is none that evolve writes");
        return Err(
            Error::internal(what).hint(format!("`evolve show {cycle}` shows what can be read"))
        );
    }
    let snapshot = |snapshot: Option<Snapshot>| {
        let value = serde_json::to_value(snapshot?).ok()?;
        schema::check("snapshot", &value).is_ok().then_some(value)
    };
    let (before, after) = (snapshot(before), snapshot(after));
    let mut document =
        json!({"format": FORMAT, "record": record, "before": before, "after": after});
    if let Some(patch) = patch {
        document["files"] = json!(patch.files);
        if is_whole {
            document["patch"] = json!(patch.text);
        }
    }
    Ok(document)
}
