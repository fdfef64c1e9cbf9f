//! What an existing goals file lacks, and the same file with it: every other byte stays as it is, but for goals that `init` wrote
//! commented out and that are there now. Pure.

use super::offer::TOLD;
use super::render::{NOT_NOW, commented, head};
use super::same::GAVE_WAY;
use super::settle::Ids;
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
pub fn waiting(found: &Found, (file, text): (&Goals, &str), new: &[Proposal]) -> Vec<Proposal> {
    let taken = file.goals.iter().map(|goal| goal.id.clone());
    let mut ids = Ids::of(taken.chain(new.iter().map(|one| one.id.clone())));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_written = |one: &Proposal| {
        // Its id may be another one there.
        let block = &commented(one, "")[1..];
        let mut places = lines.windows(block.len());
        places.any(|place| place.iter().eq(block))
    };
    let all = found.lacking().filter(|one| one.waits_for_a_look());
    let all = all.filter(|one| !is_told(one, file) && !is_written(one));
    let mut waiting = Vec::new();
    for one in all {
        let id = ids.take(&one.id, &one.source);
        waiting.push(Proposal { id, ..one.clone() });
    }
    waiting
}

/// Says whether a goal of the file does the same: by its check, or one that calls the same in the same folder.
fn is_told(one: &Proposal, file: &Goals) -> bool {
    let is_measured = one.measured.is_some();
    file.goals.iter().any(|goal| {
        let check = goal.check.as_str();
        let is_same = one.same.iter().any(|same| same::has(check, same));
        let is_there = match one.folder.trim_matches('/') {
            "" => true,
            folder => check.contains(folder),
        };
        let measures = goal.continuous.is_some();
        let is_check = goal.check.trim() == one.check.trim();
        is_check && (measures || !is_measured) || is_same && is_there && measures == is_measured
    })
}

/// Names no longer what gave way to a goal that neither the file nor what is added has: another one tells the same there.
pub fn leave_untold(found: &mut Found, file: &Goals, new: &[Proposal]) {
    let has = |id: &str| {
        let mut ids = file.goals.iter().map(|goal| &goal.id);
        ids.any(|one| one == id) || new.iter().any(|one| one.id == id)
    };
    found.left_out.retain(|line| {
        let rest = line.strip_suffix(GAVE_WAY);
        let rest = rest.or_else(|| line.strip_suffix(TOLD));
        rest.and_then(|rest| rest.rsplit(' ').next())
            .is_none_or(has)
    });
}

/// Returns the file with these goals behind its last one, those that wait commented out; none where that cannot be done without touching
/// anything else.
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
    let (before, after) = (lines[..end].concat(), lines[end..].concat());
    let added = goals(new, &" ".repeat(indent));
    let gap = if before.ends_with('\n') { "\n" } else { "\n\n" };
    let added = format!("{gap}{added}");
    // As the line ends that they stand behind.
    let ends = |line: &&&str| line.ends_with('\n');
    let beside = lines[..end].iter().rfind(ends).unwrap_or(first);
    let added = match beside.ends_with("\r\n") {
        true => added.replace('\n', "\r\n"),
        false => added,
    };
    let whole = format!("{before}{added}{after}");
    let run: Vec<Proposal> = new
        .iter()
        .filter(|one| one.missing.is_none())
        .cloned()
        .collect();
    let only = without_comments_of(&whole, &run, &" ".repeat(indent));
    let mut ways = [only, whole].into_iter();
    ways.find(|whole| is_as_before(whole, file, &run))
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
        && block
            .iter()
            .all(|of_block| lines.next() == Some(of_block.trim()))
        && lines.next().is_none_or(str::is_empty)
}

/// Takes out the goals that `init` wrote commented out, as it wrote them, and that are there now.
fn without_comments_of(text: &str, new: &[Proposal], indent: &str) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    for one in new {
        let block = commented(one, indent);
        let mut places = 0..lines.len();
        let Some(at) = places.find(|at| is_block(&lines[*at..], &block)) else {
            continue;
        };
        let end = at + 1 + block.len();
        let is_gap = end < lines.len();
        lines.drain(at..end + usize::from(is_gap));
    }
    lines.concat()
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

/// Says whether a file still has all that it had, and the new goals behind it.
fn is_as_before(whole: &str, file: &Goals, new: &[Proposal]) -> bool {
    let Ok((goals, _)) = read_goals("GOALS.yaml", whole.as_bytes()) else {
        return false;
    };
    let (old, added) = goals
        .goals
        .split_at(file.goals.len().min(goals.goals.len()));
    let are_added = added.iter().map(|goal| (&goal.id, goal.check.trim()));
    let without_line = |goal: &Goal| Goal {
        line: 0,
        ..goal.clone()
    };
    old.iter()
        .map(without_line)
        .eq(file.goals.iter().map(without_line))
        && goals.settings == file.settings
        && goals.mission == file.mission
        && are_added.eq(new.iter().map(|one| (&one.id, one.check.trim())))
}
