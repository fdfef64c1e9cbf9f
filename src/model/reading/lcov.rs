//! LCOV tracefiles, as geninfo, llvm-cov, coverage.py, istanbul and others write them. Pure.
//!
//! A source file that stands in one section counts as that section's totals say (`LF`, `LH` and their like), or as its single
//! records add up where there are none, as in what geninfo writes. A file that stands in several, one for each run that
//! was recorded, counts once: a line is hit if any run hit it, as `lcov --summary` has it.

use std::collections::HashMap;

use super::{Report, percent as share, shown};

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Of {
    /// Lines that were run.
    #[default]
    Lines,
    /// Functions that were called.
    Functions,
    /// Branches that were taken.
    Branches,
}

/// The words for it.
pub const WORDS: &[(&str, Of)] = &[
    ("lines", Of::Lines),
    ("functions", Of::Functions),
    ("branches", Of::Branches),
];

/// What one section says of its source file.
#[derive(Debug, Default)]
struct Section {
    found: Option<u64>,
    hit: Option<u64>,
    /// Whether each single line, function or branch was hit.
    items: HashMap<String, bool>,
    /// The lines of functions, by the index that newer files give them.
    indexed: HashMap<String, String>,
}

impl Section {
    fn note(&mut self, item: &str, is_hit: bool) {
        *self.items.entry(item.to_owned()).or_default() |= is_hit;
    }

    fn counted(&self) -> (u64, u64) {
        let hit = self.items.values().filter(|is_hit| **is_hit).count();
        (hit as u64, self.items.len() as u64)
    }

    fn totals(&self) -> (u64, u64) {
        match (self.hit, self.found) {
            (Some(hit), Some(found)) => (hit, found),
            (None, _) | (_, None) => self.counted(),
        }
    }
}

/// Returns how much was hit, in percent.
pub fn percent(of: Of, reports: &[Report]) -> Result<f64, String> {
    let mut files: HashMap<String, Vec<Section>> = HashMap::new();
    for report in reports {
        read(of, report, &mut files)?;
    }
    let (mut hit, mut found) = (0_u64, 0_u64);
    for sections in files.values() {
        let (more_hit, more_found) = joined(sections);
        hit = hit.saturating_add(more_hit);
        found = found.saturating_add(more_found);
    }
    let what = WORDS.iter().find(|(_, word)| *word == of);
    share(hit, found, (what.map_or("", |(name, _)| name), reports))
}

/// Joins what several sections say of one source file.
fn joined(sections: &[Section]) -> (u64, u64) {
    let has_only_totals = |section: &&Section| section.items.is_empty() && section.totals().1 > 0;
    match sections {
        [only] => only.totals(),
        // Nothing tells which lines are meant, so that only adding is left.
        several if several.iter().any(|section| has_only_totals(&section)) => {
            several.iter().fold((0, 0), |(hit, found), section| {
                let (more_hit, more_found) = section.totals();
                (
                    hit.saturating_add(more_hit),
                    found.saturating_add(more_found),
                )
            })
        }
        several => {
            let mut all = Section::default();
            for (item, is_hit) in several.iter().flat_map(|section| &section.items) {
                all.note(item, *is_hit);
            }
            all.counted()
        }
    }
}

fn read(of: Of, report: &Report, files: &mut HashMap<String, Vec<Section>>) -> Result<(), String> {
    let name = report.quoted();
    let mut open: Option<(String, Section)> = None;
    let mut is_empty = true;
    for (index, line) in report.text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim_end();
        if let Some(file) = line.strip_prefix("SF:") {
            is_empty = false;
            open = Some((file.to_owned(), Section::default()));
        } else if line == "end_of_record" {
            if let Some((file, section)) = open.take() {
                files.entry(file).or_default().push(section);
            }
        } else if let (Some((_, section)), Some((key, value))) = (&mut open, line.split_once(':')) {
            let number = index + 1;
            take(of, section, key, value).ok_or_else(|| {
                format!(
                    "line {number} of {name} is no LCOV record: `{}`",
                    shown(line)
                )
            })?;
        }
    }
    match (open, is_empty) {
        (Some(_), _) => Err(format!(
            "{name} ends in the middle: its last section has no end_of_record"
        )),
        (None, true) => Err(format!(
            "{name} is no LCOV file with anything in it: it has no line SF:"
        )),
        (None, false) => Ok(()),
    }
}

/// Takes one record; none if it is broken. Records that say nothing of what is counted are passed over.
fn take(of: Of, section: &mut Section, key: &str, value: &str) -> Option<()> {
    match (of, key) {
        (Of::Lines, "LF") | (Of::Functions, "FNF") | (Of::Branches, "BRF") => {
            section.found = Some(value.parse().ok()?);
        }
        (Of::Lines, "LH") | (Of::Functions, "FNH") | (Of::Branches, "BRH") => {
            section.hit = Some(value.parse().ok()?);
        }
        (Of::Lines, "DA") => {
            let (line, rest) = value.split_once(',')?;
            let count = rest.split(',').next()?;
            section.note(line, is_hit(count)?);
        }
        (Of::Branches, "BRDA") => {
            let (branch, taken) = value.rsplit_once(',')?;
            // A dash stands where not even the condition was reached.
            section.note(branch, taken != "-" && is_hit(taken)?);
        }
        (Of::Functions, "FN") => {
            let (_, name) = value.split_once(',')?;
            section.note(without_end_line(name), false);
        }
        (Of::Functions, "FNDA") => {
            let (count, name) = value.split_once(',')?;
            section.note(name, is_hit(count)?);
        }
        (Of::Functions, "FNL") => {
            let (index, lines) = value.split_once(',')?;
            section.note(lines, false);
            section.indexed.insert(index.to_owned(), lines.to_owned());
        }
        (Of::Functions, "FNA") => {
            let mut parts = value.splitn(3, ',');
            let (index, count) = (parts.next()?, parts.next()?);
            let lines = section.indexed.get(index)?.clone();
            section.note(&lines, is_hit(count)?);
        }
        (Of::Lines | Of::Functions | Of::Branches, _) => {}
    }
    Some(())
}

/// Reads how often something was run: whole as a rule, `1.2e+10` in some files, below zero after an overflow in old gcov.
fn is_hit(count: &str) -> Option<bool> {
    let count: f64 = count.trim().parse().ok()?;
    (!count.is_nan()).then_some(count > 0.0)
}

/// Takes the last line of a function away, which newer files put before its name.
fn without_end_line(name: &str) -> &str {
    match name.split_once(',') {
        Some((end, name)) if !end.is_empty() && end.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) | None => name,
    }
}
