//! A search as a page of its own: HTML that asks for nothing from anywhere, made of the parts of the loop's report.

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::chart::range;
use super::{counted, score, way};
use crate::model::report::Figure;
use crate::model::search::view::{Digits, Entry, Overview, Row, in_percent, name, signed};
use crate::model::text::{clean_line, count};
use crate::model::{mask, usage};
use crate::view::report::{self, chart};

const PAGE: &str = include_str!("page/page.html.j2");
/// How many attempts the tree has at most that others were made from.
const NODES: usize = 300;
/// How far attempts are indented at most.
const DEEPEST: usize = 12;
/// How many attempts are named of those that nothing was made from.
const LEAVES: usize = 12;

/// What the page is made of.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// The repository's name.
    pub name: &'a str,
    /// The search.
    pub overview: &'a Overview,
    /// The attempts that are told one by one.
    pub entries: &'a [Entry],
    /// Versions and hashes, by name.
    pub provenance: &'a [(&'a str, String)],
}

/// An attempt that others were made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Node {
    depth: usize,
    id: u64,
    called: String,
    words: String,
    tone: &'static str,
    /// It leads to the best.
    is_way: bool,
    /// What was made from it and led nowhere.
    leaves: String,
}

/// Returns the page.
pub fn html(material: &Material<'_>) -> String {
    let Material {
        overview,
        entries,
        provenance,
        ..
    } = material;
    let name = mask::secrets(&clean_line(material.name));
    let said = |words: &str| mask::secrets(&clean_line(words));
    let digits = overview.digits();
    let words = curve_words(overview, &digits);
    let range = range(&overview.curve, overview.direction);
    let drawn = report::svg("scores", "Score of each attempt", &words, |room| {
        chart::of_attempts(overview, range, &digits, room)
    });
    let nodes = tree(overview, &digits);
    let more_nodes = nodes.len().saturating_sub(NODES);
    let (mark, tone, verdict) = verdict(overview, &digits);
    let show = |score: Option<f64>| score.map_or("–".to_owned(), |score| digits.show(score));
    let generations = overview.generations.iter().map(|one| {
        context! {
            number => one.number,
            best => show(one.best),
            mean => show(one.mean),
            moved => one.gained.map_or("–".to_owned(), signed),
            valid => format!("{} of {}", one.valid, one.last + 1 - one.first),
            survivors => one.survivors.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
        }
    });
    let told: Vec<u64> = entries.iter().map(|entry| entry.id).collect();
    let values = context! {
        head => report::head(&format!("{name} · search {} · evolve report", overview.search)),
        name,
        number => overview.search,
        objective => overview.objective.as_deref().map(said),
        verdict => context! { tone, mark, words => verdict },
        figures => figures(overview, &digits).iter().map(Serde).map(Value::from).collect::<Vec<_>>(),
        drawn, words,
        way => way(overview),
        has_way => overview.way.len() > 1,
        nodes => nodes.iter().take(NODES).map(|node| Value::from(Serde(node.clone()))).collect::<Vec<_>>(),
        told,
        more_nodes,
        entries => entries.iter().map(|entry| Value::from(Serde(entry.clone()))).collect::<Vec<_>>(),
        more_entries => overview.rows.len().saturating_sub(entries.len() + 1),
        generations => generations.collect::<Vec<_>>(),
        provenance => provenance.iter().map(|(name, value)| context! { name => *name, value => said(value) }).collect::<Vec<_>>(),
    };
    report::environment()
        .render_named_str("page.html.j2", PAGE, values)
        .expect("BUG: the page's template does not fit its values")
}

/// Returns what came of the search: a mark, what it means to the eye, a sentence.
fn verdict(overview: &Overview, digits: &Digits) -> (&'static str, &'static str, String) {
    let ended = overview.ended_words.clone();
    let ended = ended.unwrap_or_else(|| "it is not over".to_owned());
    let best = overview.row(overview.best).filter(|row| !row.is_baseline());
    let shown = overview.shown.is_none_or(|shown| shown.better);
    match best.and_then(|row| Some((row, score(row, digits)?))) {
        Some((row, score)) if shown => (
            "Improved",
            "good",
            format!(
                "Attempt {} scores {score}; {ended}.{}",
                row.id,
                last_failed(overview)
            ),
        ),
        Some((row, _)) => (
            "No improvement shown",
            "odd",
            format!(
                "Measured once more beside the baseline, attempt {} is not better; {ended}.",
                row.id
            ),
        ),
        None => (
            "No improvement",
            "odd",
            format!("Nothing is better than the baseline; {ended}."),
        ),
    }
}

/// Says why winner and baseline could not be measured at the end; nothing where they were.
fn last_failed(overview: &Overview) -> String {
    let why = overview.last_failed.as_deref();
    let said = |why: &str| {
        let why = mask::secrets(&clean_line(why));
        format!(" It could not be measured once more: {why}.")
    };
    why.map_or(String::new(), said)
}

fn figures(overview: &Overview, digits: &Digits) -> Vec<Figure> {
    let figure = |name: &str, value: String, note: String| Figure {
        name: name.to_owned(),
        value,
        note,
    };
    let show = |score: Option<f64>| score.map_or("none".to_owned(), |score| digits.show(score));
    let best = overview.row(overview.best);
    let percent = best
        .and_then(|row| row.percent)
        .map_or(String::new(), in_percent);
    let better = format!("{} is better", overview.direction.better_word());
    let spent = &overview.spent;
    vec![
        figure("Best score", show(overview.best_score), name(overview.best)),
        figure("Baseline", show(overview.baseline), better),
        figure(
            "Difference",
            best.and_then(|row| row.delta)
                .map_or("none".to_owned(), signed),
            percent,
        ),
        figure(
            "Attempts",
            overview.attempts().to_string(),
            counted_shortly(overview),
        ),
        figure(
            "Cost",
            match spent.tells_cost() {
                true => usage::dollars(spent.cost_usd),
                false => "unknown".to_owned(),
            },
            match spent.calls {
                0 => "no agent was called".to_owned(),
                _ => spent.words(),
            },
        ),
    ]
}

fn counted_shortly(overview: &Overview) -> String {
    let words = counted(overview.attempts(), &overview.endings);
    words
        .split_once(": ")
        .map_or(String::new(), |(_, endings)| endings.to_owned())
}

/// Returns what the chart shows, in words.
fn curve_words(overview: &Overview, digits: &Digits) -> String {
    let bests = overview.rows.iter().filter(|row| row.new_best);
    let bests: Vec<String> = bests
        .filter_map(|row| {
            Some(format!(
                "{} with attempt {}",
                digits.show(row.score?),
                row.id
            ))
        })
        .collect();
    let from = overview
        .baseline
        .map_or("nothing".to_owned(), |score| digits.show(score));
    match bests.is_empty() {
        true => format!("The baseline scores {from}, and no attempt is better."),
        false => format!(
            "From {from} to {}.",
            crate::model::text::some_of(&bests, 20)
        ),
    }
}

/// Returns the attempts that others were made from, each below the one that its agent started from.
fn tree(overview: &Overview, digits: &Digits) -> Vec<Node> {
    let count = overview.rows.len();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut others: Vec<bool> = vec![false; count];
    for (at, row) in overview.rows.iter().enumerate() {
        for (nth, parent) in row.parents.iter().enumerate() {
            let parent = usize::try_from(*parent).unwrap_or(0);
            match nth {
                0 => children[parent].push(at),
                _ => others[parent] = true,
            }
        }
    }
    let way: std::collections::BTreeSet<u64> = overview.way.iter().copied().collect();
    let is_inner = |at: usize| !children[at].is_empty() || others[at] || way.contains(&(at as u64));
    let mut nodes = Vec::new();
    let mut open = vec![(0, 0)];
    while let Some((at, depth)) = open.pop() {
        let row = &overview.rows[at];
        let (inner, leaves): (Vec<usize>, Vec<usize>) =
            children[at].iter().partition(|child| is_inner(**child));
        nodes.push(Node {
            depth: depth.min(DEEPEST),
            id: row.id,
            called: name(row.id),
            words: node_words(row, digits),
            tone: crate::model::search::view::tone(row.ending),
            is_way: way.contains(&row.id),
            leaves: leaf_words(overview, &leaves),
        });
        open.extend(inner.into_iter().rev().map(|child| (child, depth + 1)));
    }
    nodes
}

fn node_words(row: &Row, digits: &Digits) -> String {
    let mut words = vec![row.made()];
    if !row.is_baseline() {
        words.push(row.ending.to_owned());
    }
    if row.pruned {
        words.push("pruned".to_owned());
    }
    words.extend(score(row, digits));
    words.extend(
        row.summary
            .as_deref()
            .map(|summary| crate::model::text::cut(&mask::secrets(&clean_line(summary)), 120)),
    );
    words.join(" · ")
}

/// Returns what came of attempts that nothing was made from: `7 attempts led nowhere: 4 worse (4, 5, 6, 8), 3 invalid (…)`.
fn leaf_words(overview: &Overview, leaves: &[usize]) -> String {
    let mut by_ending: Vec<(&str, Vec<String>)> = Vec::new();
    for row in leaves.iter().map(|at| &overview.rows[*at]) {
        let id = row.id.to_string();
        match by_ending
            .iter_mut()
            .find(|(ending, _)| *ending == row.ending)
        {
            Some((_, ids)) => ids.push(id),
            None => by_ending.push((row.ending, vec![id])),
        }
    }
    let told = by_ending.iter().map(|(ending, ids)| {
        format!(
            "{} {ending} ({})",
            ids.len(),
            crate::model::text::some_of(ids, LEAVES)
        )
    });
    let told: Vec<String> = told.collect();
    match leaves.len() {
        0 => String::new(),
        many => format!(
            "{} from it led no further: {}",
            count(many, "attempt"),
            told.join(", ")
        ),
    }
}
