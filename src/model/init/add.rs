//! What an existing goals file lacks, and the same file with it: every other byte stays as it is, but for goals that `init` wrote
//! commented out and that are there now. Pure.

use super::offer::{Part, TOLD};
use super::python::venv::VENVS;
use super::render::{NOT_NOW, commented, head};
use super::same::GAVE_WAY;
use super::settle::{Ids, of_part};
use super::{Found, Proposal, goals, same};
use crate::model::goals::{Goal, Goals, read_goals};

/// Returns the goals that can run here and that no goal of the file tells yet, with ids that are free in it.
pub fn missing(found: &Found, file: &Goals) -> Vec<Proposal> {
    let mut ids = Ids::of(file.goals.iter().map(|goal| goal.id.clone()));
    let mut missing = Vec::new();
    for one in found.runnable().filter(|one| !is_told(one, file)) {
        let id = ids.take(&one.id, &one.source);
        missing.push(Proposal { id, ..one.clone() });
    }
    missing
}

/// Returns the goals that wait only until somebody has looked at them, and that the file has neither as goals nor commented out, with
/// ids that are free in it and among those that are added.
pub fn waiting(found: &Found, file: &Goals, text: &str, new: &[Proposal]) -> Vec<Proposal> {
    let taken = file.goals.iter().map(|goal| goal.id.clone());
    let mut ids = Ids::of(taken.chain(new.iter().map(|one| one.id.clone())));
    let all = found.lacking().filter(|one| one.waits_for_a_look());
    let all = all.filter(|one| !is_told(one, file) && !is_written(one, text));
    let mut waiting = Vec::new();
    for one in all {
        let id = ids.take(&one.id, &one.source);
        waiting.push(Proposal { id, ..one.clone() });
    }
    waiting
}

/// Returns what lacks something here and stands neither in the text, commented out, nor among these.
pub fn unwritten(found: &Found, text: &str, new: &[Proposal]) -> Found {
    let is_new = |one: &Proposal| new.iter().any(|other| other.check == one.check);
    let rest = found
        .lacking()
        .filter(|one| !is_new(one) && !is_written(one, text));
    Found {
        proposals: rest.cloned().collect(),
        ..Found::default()
    }
}

/// Says whether a text has a goal commented out as `init` writes it, be it by another id.
fn is_written(one: &Proposal, text: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let block = &commented(one, "")[1..];
    let is_same = |(line, of_block): (&&str, &String)| is_same_line(line, of_block);
    let mut places = lines.windows(block.len());
    places.any(|place| place.iter().zip(block).all(is_same))
}

/// Says whether a goal of the file does the same: by its check, or one that calls the same in the same folder; or several do, each a
/// part of it.
fn is_told(one: &Proposal, file: &Goals) -> bool {
    let is_measured = one.measured.is_some();
    let plain = file.goals.iter().filter(|goal| goal.continuous.is_none());
    let checks = plain.map(|goal| goal.check.as_str());
    let is_run = || !is_measured && same::is_run_by(&one.check, checks);
    let is_one = file.goals.iter().any(|goal| {
        let check = goal.check.as_str();
        let is_same = one.same.iter().any(|same| same::has(check, same));
        let is_there = match one.folder.trim_matches('/') {
            "" => true,
            folder => check.contains(folder),
        };
        let measures = goal.continuous.is_some();
        let is_check = goal.check.trim() == one.check.trim();
        is_check && (measures || !is_measured) || is_same && is_there && measures == is_measured
    });
    is_one || is_run()
}

/// Names no longer what the file has, or what gave way to a goal that neither the file nor what is added has: another one tells the same
/// there. A goal that has another id there is named by that.
pub fn leave_untold(found: &mut Found, file: &Goals, new: &[Proposal]) {
    let has = |id: &str| {
        let mut ids = file.goals.iter().map(|goal| &goal.id);
        ids.any(|one| one == id) || new.iter().any(|one| one.id == id)
    };
    let id_of = |check: &str| {
        let mut new = new.iter().filter(|one| one.check == check);
        let mut old = file
            .goals
            .iter()
            .filter(|goal| goal.check.trim() == check.trim());
        let new = new.next().map(|one| one.id.clone());
        new.or_else(|| old.next().map(|goal| goal.id.clone()))
    };
    let is_had = |line: &str| {
        let mut all = found.gave_way.iter().filter(|one| one.shown() == line);
        all.any(|one| {
            let checks = file.goals.iter().map(|goal| goal.check.as_str());
            let check = one.check.as_ref();
            check.is_some_and(|check| same::is_run_by(check, checks))
        })
    };
    let told = |line: &String| {
        let Some((what, id)) = line
            .strip_suffix(GAVE_WAY)
            .and_then(|it| it.rsplit_once(' '))
        else {
            let rest = line.strip_suffix(TOLD);
            let id = rest.and_then(|rest| rest.rsplit(' ').next());
            return id.is_none_or(has).then(|| line.clone());
        };
        let mut all = found.proposals.iter();
        let id = match all.find(|one| one.id == id) {
            Some(one) => id_of(&one.check)?,
            None => Some(id.to_owned()).filter(|id| has(id))?,
        };
        (!is_had(line)).then(|| format!("{what} {id}{GAVE_WAY}"))
    };
    found.left_out = found.left_out.iter().filter_map(told).collect();
}

/// Returns the files of CI of which goals were made, be they commented out, that a goals file with this text lacks.
pub fn ci_files_with_more(
    found: &Found,
    files: &[String],
    file: &Goals,
    text: &str,
) -> Vec<String> {
    let new = missing(found, file);
    let waiting = waiting(found, file, text, &new);
    let has_more = |path: &&String| {
        let begin = format!("{path}: ");
        let mut all = new.iter().chain(&waiting);
        all.any(|one| one.source.starts_with(&begin))
    };
    files.iter().filter(has_more).cloned().collect()
}

/// Returns the file with these goals, those that wait commented out: where `init` wrote one commented out, in its place, else below the
/// heading of its part, else behind the last one. None where that cannot be done without touching anything else.
pub fn appended(text: &str, file: &Goals, new: &[Proposal]) -> Option<String> {
    let start = file.goals.last()?.line;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let first = lines.get(start.checked_sub(1)?)?;
    let indent = indent_of(first);
    let dash = first.trim_start_matches([' ']).strip_prefix('-')?;
    if !dash.starts_with([' ', '\n', '\r']) {
        return None;
    }
    let end = end_of_list(&lines, start, indent);
    let indent = " ".repeat(indent);
    let run: Vec<Proposal> = new
        .iter()
        .filter(|one| one.missing.is_none())
        .cloned()
        .collect();
    let placed = || {
        let (whole, rest) = in_their_places(&lines, new, &indent);
        let lines: Vec<&str> = whole.iter().map(String::as_str).collect();
        let end = lines.len() - (text.split_inclusive('\n').count() - end);
        with_inserted(&lines, below_headings(&lines[..end], &rest, &indent))
    };
    let behind = || with_inserted(&lines, vec![(end, goals(new, &indent))]);
    let ways: [&dyn Fn() -> String; 2] = [&placed, &behind];
    let mut ways = ways.iter().map(|way| way());
    ways.find(|whole| is_as_before(whole, file, &run))
}

/// Puts goals where `init` wrote them commented out, as it wrote them, and returns the lines with those that stand nowhere yet.
fn in_their_places(lines: &[&str], new: &[Proposal], indent: &str) -> (Vec<String>, Vec<Proposal>) {
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let mut rest = Vec::new();
    for one in new {
        let block = commented(one, "");
        let mut places = 0..lines.len();
        let place = places.find(|at| is_block(&lines[*at..], &block));
        let Some(at) = place.filter(|_| one.missing.is_none()) else {
            rest.push(one.clone());
            continue;
        };
        let goal = ended_as(&goals(std::slice::from_ref(one), indent), &lines[at]);
        let goal = goal.split_inclusive('\n').map(str::to_owned);
        lines.splice(at..=at + block.len(), goal);
    }
    (lines, rest)
}

/// Returns where goals belong in a list, which these lines end with, and the text of each place: below the heading of their part, which
/// is written where only those of others are there; where there is none at all, at the end.
fn below_headings(lines: &[&str], new: &[Proposal], indent: &str) -> Vec<(usize, String)> {
    let heading = |part: Part| format!("{indent}# {}", part.heading());
    let places = Part::ALL.map(|part| {
        let heading = heading(part);
        lines.iter().position(|line| line.trim_end() == heading)
    });
    let headings = || places.iter().copied().flatten();
    if headings().next().is_none() {
        return vec![(lines.len(), goals(new, indent))];
    }
    let mut all = Vec::new();
    for (number, part) in Part::ALL.into_iter().enumerate() {
        let of_part: Vec<Proposal> = of_part(new, part).cloned().collect();
        if of_part.is_empty() {
            continue;
        }
        let goals = goals(&of_part, indent);
        let (next, text) = match places[number] {
            Some(at) => (headings().filter(|next| *next > at).min(), goals),
            None => (
                places[number..].iter().copied().flatten().next(),
                format!("{}\n\n{goals}", heading(part)),
            ),
        };
        all.push((next.unwrap_or(lines.len()), text));
    }
    all
}

/// Returns lines with texts before some of them, each with an empty line around it.
fn with_inserted(lines: &[&str], mut texts: Vec<(usize, String)>) -> String {
    texts.sort_by_key(|(at, _)| *at);
    let mut whole = String::new();
    let mut done = 0;
    for (at, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        let is_empty = |line: &&&str| line.trim().is_empty();
        let gap = lines[done..*at].iter().rev().take_while(is_empty).count();
        let at = at - gap;
        whole.extend(lines[done..at].iter().copied());
        done = at;
        let ends = |line: &&&str| line.ends_with('\n');
        let beside = lines[..at].iter().rfind(ends);
        let before = if whole.ends_with('\n') || whole.is_empty() {
            "\n"
        } else {
            "\n\n"
        };
        let is_apart = lines
            .get(at)
            .is_none_or(|next| next.trim().is_empty() || !next.trim_start().starts_with('#'));
        let after = if is_apart { "" } else { "\n" };
        let text = format!("{before}{text}{after}");
        whole.push_str(&ended_as(&text, beside.copied().unwrap_or_default()));
    }
    whole.extend(lines[done..].iter().copied());
    whole
}

/// Returns a text whose lines end as another one does.
fn ended_as(text: &str, line: &str) -> String {
    match line.ends_with("\r\n") {
        true => text.replace('\n', "\r\n"),
        false => text.to_owned(),
    }
}

/// Returns the file with the reasons that hold now above the goals that `init` wrote commented out, as it wrote them, and how many of
/// these were others.
pub fn with_reasons(text: &str, file: &Goals, found: &Found) -> (String, usize) {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut count = 0;
    for one in found.lacking() {
        let block = commented(one, "");
        let mut places = 0..lines.len();
        let Some(at) = places.find(|at| is_block(&lines[*at..], &block)) else {
            continue;
        };
        let indent = " ".repeat(indent_of(&lines[at]));
        let line = head(one, one.missing.as_deref().unwrap_or_default(), &indent);
        let end = lines[at].trim_end().len();
        if lines[at][..end] != line {
            lines[at].replace_range(..end, &line);
            count += 1;
        }
    }
    let whole = lines.concat();
    match is_as_before(&whole, file, &[]) {
        true => (whole, count),
        false => (text.to_owned(), 0),
    }
}

/// Says whether a line is one that stands above a goal that is commented out.
fn is_head_of_one(line: &str) -> bool {
    line.trim_start().starts_with("# ") && line.contains(NOT_NOW)
}

/// Says whether lines begin with the one above a goal that is commented out, and with that goal; what goes on was not written so.
fn is_block(lines: &[impl AsRef<str>], block: &[String]) -> bool {
    let mut lines = lines.iter().map(AsRef::as_ref).map(str::trim);
    let is_head = lines.next().is_some_and(is_head_of_one);
    is_head
        && block.iter().all(|of_block| {
            lines
                .next()
                .is_some_and(|line| is_same_line(line, of_block))
        })
        && lines.next().is_none_or(str::is_empty)
}

/// Says whether two lines of goals that are commented out say the same, whatever the quotes, and wherever the programs of Python lie.
fn is_same_line(one: &str, other: &str) -> bool {
    let plain = |line: &str| {
        let line = line.trim();
        let (key, value) = line.split_once(": ").unwrap_or(("", line));
        let value = unquoted(value).replace("{ ", "{").replace(" }", "}");
        let words = value.split(' ').map(|word| {
            let mut venvs = VENVS.iter();
            let program = venvs.find_map(|venv| word.strip_prefix(venv)?.strip_prefix("/bin/"));
            program.unwrap_or(word)
        });
        (key.to_owned(), words.collect::<Vec<_>>().join(" "))
    };
    plain(one) == plain(other)
}

/// Returns a value of YAML without the quotes around it.
fn unquoted(value: &str) -> String {
    let within = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    match (within('\''), within('"')) {
        (Some(inside), _) => inside.replace("''", "'"),
        (None, Some(_)) => serde_json::from_str(value).unwrap_or_else(|_| value.to_owned()),
        (None, None) => value.to_owned(),
    }
}

/// Returns the number of lines up to the end of the last goal: what is indented further than its dash belongs to it, and so do
/// comments that stand at the list.
fn end_of_list(lines: &[&str], start: usize, indent: usize) -> usize {
    let mut end = start;
    for (index, line) in lines.iter().enumerate().skip(start) {
        let rest = line.trim();
        if rest.is_empty() {
            continue;
        }
        let is_of_goal = indent_of(line) > indent;
        let is_note = rest.starts_with('#') && indent_of(line) >= indent && indent > 0;
        if !is_of_goal && !is_note {
            break;
        }
        end = index + 1;
    }
    end
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Says whether a file still has all that it had, and the new goals among it.
fn is_as_before(whole: &str, file: &Goals, new: &[Proposal]) -> bool {
    let Ok((goals, _)) = read_goals("GOALS.yaml", whole.as_bytes()) else {
        return false;
    };
    let is_new = |goal: &&Goal| new.iter().any(|one| one.id == goal.id);
    let (added, old): (Vec<&Goal>, Vec<&Goal>) = goals.goals.iter().partition(is_new);
    let mut are_added: Vec<_> = added.iter().map(|it| (&it.id, it.check.trim())).collect();
    let mut wanted: Vec<_> = new.iter().map(|one| (&one.id, one.check.trim())).collect();
    are_added.sort();
    wanted.sort();
    let without_line = |goal: &Goal| Goal {
        line: 0,
        ..goal.clone()
    };
    old.into_iter()
        .map(without_line)
        .eq(file.goals.iter().map(without_line))
        && goals.settings == file.settings
        && goals.mission == file.mission
        && are_added == wanted
}
