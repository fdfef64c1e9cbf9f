//! One attempt of a search: what it was to be, what its agent did, how it was measured, what it came to.

use std::collections::BTreeMap;

use super::{of_ending, score};
use crate::model::git::patch::Patch;
use crate::model::search::view::{Digits, Overview, Row, Sampled, name};
use crate::model::text::{clean_line, duration, some_of};
use crate::view::cycle::{fact_lines, files, painted, papers, whole};
use crate::view::style::{STRONG, paint};

/// How many parts of a score are shown.
const TASKS: usize = 100;
/// How many of the files are named that the measuring leans on.
const LEANED_ON: usize = 10;

/// Everything that is known of one attempt.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The search.
    pub overview: &'a Overview,
    /// The attempt.
    pub row: &'a Row,
    /// The agent, as it was named.
    pub agent: &'a str,
    /// How it was measured.
    pub sampled: &'a [Sampled],
    /// The parts of its score, by name.
    pub tasks: &'a BTreeMap<String, f64>,
    /// Its commit.
    pub commit: Option<&'a str>,
    /// What it changes in its parent; the text of the patch is shown if there is any.
    pub patch: Option<&'a Patch>,
    /// Where its logs are.
    pub logs: &'a [String],
    /// The brief, and the file that it stands in.
    pub brief: Option<(&'a str, &'a str)>,
    /// The end of the agent's log, and the file that it stands in.
    pub log: Option<(&'a str, &'a str)>,
    /// The end of the log of the command that gave it no score, and the file that it stands in.
    pub failed: Option<(&'a str, &'a str)>,
}

impl Page<'_> {
    /// Returns the page, within so many characters if there is a limit; a patch is as wide as it is.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut page = self.title();
        for (name, fact) in self.facts() {
            page.push_str(&fact_lines(&(name, clean_line(&fact)), width));
        }
        if let Some(brief) = self.brief {
            page.push_str(&whole("brief", brief, width));
        }
        if let Some(failed) = self.failed {
            let what = match self.row.ending {
                "gate failed" => "end of the gate's log",
                _ => "end of the measurement's log",
            };
            page.push_str(&whole(what, failed, width));
        }
        page.push_str(&papers(None, self.log, self.patch, width));
        page
    }

    fn title(&self) -> String {
        let row = self.row;
        let called = match row.is_baseline() {
            true => "baseline".to_owned(),
            false => name(row.id),
        };
        let more = match (row.best, row.pruned) {
            (true, _) => ", the best",
            (false, true) => ", pruned",
            (false, false) => self.overview.doubt(row),
        };
        let ending = match row.is_baseline() {
            true => String::new(),
            false => format!(" · {}", paint(of_ending(row.ending), row.ending)),
        };
        format!(
            "{} · {}{ending}{more}\n",
            paint(STRONG, &called),
            row.made()
        )
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let row = self.row;
        let digits = self.overview.digits();
        let of_all = row
            .rank
            .map_or(String::new(), |rank| format!(", rank {rank}"));
        let mut facts = vec![
            ("why", row.reason.clone()),
            (
                "score",
                score(row, &digits).map(|score| format!("{score}{of_all}")),
            ),
            ("tasks", self.parts(&digits)),
            ("lens", row.lens.clone()),
            ("summary", row.summary.clone()),
            ("agent", self.worked()),
            (
                "left out",
                (!row.left_out.is_empty())
                    .then(|| format!("{} (not editable)", row.left_out.join(", "))),
            ),
            (
                "caution",
                (!row.leaned_on.is_empty()).then(|| changed(&row.leaned_on)),
            ),
            ("commit", self.commit.map(str::to_owned)),
        ];
        facts.extend(
            self.sampled
                .iter()
                .map(|one| ("measured", Some(one.words(&digits)))),
        );
        facts.extend(self.logs.iter().map(|log| ("log", Some(log.clone()))));
        let known = facts.into_iter();
        known
            .filter_map(|(name, fact)| Some((name, fact?)))
            .collect()
    }

    /// Returns the parts of the score: `latency 12.5, memory 3`.
    fn parts(&self, known: &Digits) -> Option<String> {
        let digits = known.with(self.tasks.values().copied());
        let part = |(name, value): (&String, &f64)| format!("{name} {}", digits.show(*value));
        let parts: Vec<String> = self.tasks.iter().map(part).collect();
        (!parts.is_empty()).then(|| some_of(&parts, TASKS))
    }

    fn worked(&self) -> Option<String> {
        let row = self.row;
        let who = if self.agent.is_empty() {
            ""
        } else {
            self.agent
        };
        let who = if who.is_empty() {
            String::new()
        } else {
            format!("{who}, ")
        };
        let worked = format!("{who}{}, {}", duration(row.agent_s), row.spent.words());
        (row.spent.calls > 0).then_some(worked)
    }
}

/// Returns a patch, or only its files, within so many characters if there is a limit; a patch is as wide as it is.
pub fn diff_page(patch: &Patch, is_stat: bool, width: Option<usize>) -> String {
    let page = match is_stat {
        true => files(patch, width),
        false => painted(patch),
    };
    page.trim_start_matches('\n').to_owned()
}

/// Says what of an attempt's change its measuring leans on.
pub fn changed(leaned_on: &[String]) -> String {
    format!(
        "changed what the measuring leans on: {}",
        clean_line(&some_of(leaned_on, LEANED_ON))
    )
}

impl Sampled {
    /// Returns why it was measured, and what it came to: `beside attempt 3: 2.3, 2.2 against 2, 1.9 (12 s)`.
    pub fn words(&self, known: &Digits) -> String {
        let what = match (self.purpose, self.beside) {
            ("first", _) => "at first".to_owned(),
            ("holdout", _) => "by the hold-out".to_owned(),
            ("last", _) => "at the end, beside the baseline".to_owned(),
            (_, Some(other)) => format!("beside {}", name(other)),
            (_, None) => "again".to_owned(),
        };
        let all = self.samples.iter().chain(&self.beside_samples);
        let digits = known.with(all.copied());
        let list = |samples: &[f64]| {
            let shown: Vec<String> = samples.iter().map(|one| digits.show(*one)).collect();
            shown.join(", ")
        };
        let mut words = list(&self.samples);
        if !self.beside_samples.is_empty() {
            words.push_str(&format!(" against {}", list(&self.beside_samples)));
        }
        let words = self.reason.clone().unwrap_or(words);
        format!("{what}: {words} ({})", duration(self.duration_s))
    }
}
