//! `evolve search report`: joins what lineage, git and logs tell into one page.

use std::collections::BTreeSet;

use super::Seen;
use super::options::ReportOptions;
use crate::cli::deliver::{Place, deliver, named};
use crate::cli::options::Global;
use crate::effects::clock;
use crate::effects::search::papers;
use crate::error::Result;
use crate::model::search::view::{Entry, Row};
use crate::search::overview;
use crate::view::search::page::{self, Material};

/// The page's name in the private directory.
const FILE: &str = "search-report.html";
/// How many attempts are told one by one: the best, and the newest of the others.
const ENTRIES: usize = 120;
/// The most bytes of a patch that are read.
const PATCH: usize = 64 << 10;
/// The most bytes of briefs and patches together.
const PAGE: usize = 6 << 20;

/// Writes the report, says where it is, and opens it if that is asked for.
pub fn report(global: &Global, options: &ReportOptions) -> Result<u8> {
    let seen = Seen::of(global, options.which)?;
    let name = seen.repo.name();
    let entries = seen.entries()?;
    let page = page::html(&Material {
        name: &name,
        overview: &seen.overview,
        entries: &entries,
        provenance: &seen.provenance()?,
    });
    let own = || Place::Own(seen.repo.private.join(FILE));
    let place =
        named(global, &seen.repo, options.out.as_deref(), options.open)?.unwrap_or_else(own);
    deliver(global, &page, "", &place, options.open)?;
    Ok(0)
}

impl Seen {
    /// Returns the attempts that are told one by one, the best first: with their changes and briefs as far as there is room.
    fn entries(&self) -> Result<Vec<Entry>> {
        let ranked = self.overview.ranked();
        let way: BTreeSet<u64> = self.overview.way.iter().copied().collect();
        let (first, others): (Vec<&Row>, Vec<&Row>) =
            ranked.into_iter().partition(|row| way.contains(&row.id));
        let mut kept: BTreeSet<u64> = first.iter().map(|row| row.id).collect();
        let room = ENTRIES.saturating_sub(kept.len());
        kept.extend(others.iter().take(room).map(|row| row.id));
        let shown = self.overview.ranked().into_iter();
        let shown = shown.filter(|row| kept.contains(&row.id) && !row.is_baseline());
        let mut left = PAGE;
        shown.map(|row| self.entry(row, &mut left)).collect()
    }

    fn entry(&self, row: &Row, left: &mut usize) -> Result<Entry> {
        let digits = self.overview.digits();
        let difference = row
            .difference()
            .map_or(String::new(), |words| format!(", {words}"));
        let score = row
            .score
            .map_or(String::new(), |score| digits.show(score) + &difference);
        let sampled = overview::sampled(&self.lineage, row.id);
        let measured = sampled.iter().map(|one| one.words(&digits)).collect();
        let mut entry = Entry::new(row, score, measured);
        entry.ending.push_str(self.overview.doubt(row));
        let own = self.lineage.attempt(row.id).edited();
        let has_change = own.is_some_and(|edited| edited.commit.is_some());
        if let Some(parent) = row.parents.first().filter(|_| has_change && *left > 0) {
            if let Some(patch) = self.patch_if_there(*parent, row.id, PATCH)? {
                entry = entry.with_patch(&patch);
            }
            *left = left.saturating_sub(entry.patch.len());
        }
        if let Some(brief) = papers::of(&self.store.folder, row.id)
            .brief
            .filter(|_| *left > 0)
        {
            entry = entry.with_brief(&brief.text);
            *left = left.saturating_sub(entry.brief.len());
        }
        Ok(entry)
    }

    /// Returns versions and hashes: what made this page, and of what.
    fn provenance(&self) -> Result<Vec<(&'static str, String)>> {
        let (first, second) = self.repo.git.version()?;
        let plan = &self.lineage.plan;
        let request = &plan.request;
        let or_none = |words: String| match words.is_empty() {
            true => "none".to_owned(),
            false => words,
        };
        let all = [
            ("Made at", clock::timestamp()),
            ("evolve", env!("CARGO_PKG_VERSION").to_owned()),
            ("git", format!("{first}.{second}")),
            ("Strategy", plan.strategy.word().to_owned()),
            ("Objective", request.objective.clone().unwrap_or_default()),
            ("Fitness command", request.fitness.clone()),
            ("Better", plan.direction.better_word().to_owned()),
            ("Files", request.files.join(" ")),
            ("Gates", or_none(request.gates.join("; "))),
            (
                "Hold-out",
                or_none(request.holdout.clone().unwrap_or_default()),
            ),
            ("Repeats", plan.repeats.to_string()),
            ("Prepared with", request.prepare.clone().unwrap_or_default()),
            ("Lent", request.link.join(" ")),
            ("Agent", request.agent.clone()),
            ("Agents at once", plan.agents.to_string()),
            ("Seed", plan.seed.to_string()),
            ("Begun", request.started.clone()),
            ("Branch", self.overview.branch.clone()),
            ("Base", request.base.clone()),
            ("Applied to", self.overview.applied.join(", ")),
        ];
        let said = all.into_iter().filter(|(_, words)| !words.is_empty());
        Ok(said.collect())
    }
}
