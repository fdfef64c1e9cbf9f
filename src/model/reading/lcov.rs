//! LCOV tracefiles, as geninfo, llvm-cov, coverage.py, istanbul and others write them. Pure.
//!
//! A source file that stands in one section counts as that section's totals say (`LF`, `LH` and their like), or as its single
//! records add up where there are none, as in what geninfo writes. A file that stands in several, one for each run that
//! was recorded, counts once: a line is hit if any run hit it, as `lcov --summary` has it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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

/// The most source files of all reports, and the most functions of one that have an index.
const MOST: usize = 100_000;

/// What one section says of its source file.
#[derive(Debug, Default)]
struct Section<'t> {
    found: Option<u64>,
    hit: Option<u64>,
    /// Whether each single line, function or branch was hit.
    items: Items,
    /// The lines of functions, by the index that newer files give them.
    indexed: HashMap<&'t str, &'t str>,
}

impl Section<'_> {
    fn totals(&mut self) -> (u64, u64) {
        match (self.hit, self.found) {
            (Some(hit), Some(found)) => (hit, found),
            (None, _) | (_, None) => self.items.counted(),
        }
    }
}

/// Whether each single line, function or branch was hit: eight bytes for each, of which the lowest bit says it, and the others are
/// its digest. A report may hold millions.
#[derive(Debug, Default)]
struct Items {
    all: Vec<u64>,
}

impl Items {
    fn note(&mut self, item: &str, is_hit: bool) {
        self.push(digest(item) & !1 | u64::from(is_hit));
    }

    fn push(&mut self, item: u64) {
        if self.all.len() == self.all.capacity() {
            self.join_same();
            self.all.reserve_exact(self.all.len() / 2 + 16);
        }
        self.all.push(item);
    }

    /// Makes one of those that stand for the same; it was hit if any was.
    fn join_same(&mut self) {
        self.all.sort_unstable();
        self.all.dedup_by(|later, kept| {
            let is_same = *later | 1 == *kept | 1;
            *kept |= u64::from(is_same) & *later;
            is_same
        });
    }

    fn counted(&mut self) -> (u64, u64) {
        self.join_same();
        let hit = self.all.iter().filter(|item| *item & 1 == 1).count();
        (hit as u64, self.all.len() as u64)
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// What all sections say of one source file.
#[derive(Debug, Default)]
struct File {
    has_several: bool,
    /// Whether one has totals and nothing else.
    has_only_totals: bool,
    /// The sums of the totals.
    hit: u64,
    found: u64,
    items: Items,
}

impl File {
    fn add(&mut self, mut section: Section<'_>, is_first: bool) {
        let (hit, found) = section.totals();
        self.has_several |= !is_first;
        self.has_only_totals |= section.items.all.is_empty() && found > 0;
        self.hit = self.hit.saturating_add(hit);
        self.found = self.found.saturating_add(found);
        if is_first {
            self.items = section.items;
            self.items.join_same();
            self.items.all.shrink_to_fit();
        } else {
            section
                .items
                .all
                .into_iter()
                .for_each(|item| self.items.push(item));
        }
    }

    /// Joins what the sections say.
    fn joined(mut self) -> (u64, u64) {
        // Without items nothing tells which lines are meant, so that only adding is left.
        match self.has_several && !self.has_only_totals {
            true => self.items.counted(),
            false => (self.hit, self.found),
        }
    }
}

/// Returns how much was hit, in percent.
pub fn percent(of: Of, reports: &[Report]) -> Result<f64, String> {
    let mut files: HashMap<u64, File> = HashMap::new();
    for report in reports {
        read(of, report, &mut files)?;
    }
    let (mut hit, mut found) = (0_u64, 0_u64);
    for (_, file) in files {
        let (more_hit, more_found) = file.joined();
        hit = hit.saturating_add(more_hit);
        found = found.saturating_add(more_found);
    }
    let what = WORDS.iter().find(|(_, word)| *word == of);
    share(hit, found, (what.map_or("", |(name, _)| name), reports))
}

fn read(of: Of, report: &Report, files: &mut HashMap<u64, File>) -> Result<(), String> {
    let name = report.quoted();
    let mut open: Option<(u64, Section<'_>)> = None;
    let mut is_empty = true;
    for (index, line) in report.text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}').trim_end();
        if let Some(file) = line.strip_prefix("SF:") {
            is_empty = false;
            if open.is_some() {
                return Err(format!(
                    "line {} of {name} begins a section where the one before has no end_of_record",
                    index + 1
                ));
            }
            open = Some((digest(file), Section::default()));
        } else if line == "end_of_record" {
            if let Some((file, section)) = open.take() {
                let is_first = !files.contains_key(&file);
                files.entry(file).or_default().add(section, is_first);
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
        let functions = open
            .as_ref()
            .map_or(0, |(_, section)| section.indexed.len());
        if files.len() > MOST || functions > MOST {
            let what = if files.len() > MOST {
                "source files"
            } else {
                "functions in a source file"
            };
            return Err(format!(
                "{name} has more than {MOST} {what}, and is not read"
            ));
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
fn take<'t>(of: Of, section: &mut Section<'t>, key: &str, value: &'t str) -> Option<()> {
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
            section.items.note(line, is_hit(count)?);
        }
        (Of::Branches, "BRDA") => {
            let (branch, taken) = value.rsplit_once(',')?;
            // A dash stands where not even the condition was reached.
            section.items.note(branch, taken != "-" && is_hit(taken)?);
        }
        (Of::Functions, "FN") => {
            let (_, name) = value.split_once(',')?;
            section.items.note(without_end_line(name), false);
        }
        (Of::Functions, "FNDA") => {
            let (count, name) = value.split_once(',')?;
            section.items.note(name, is_hit(count)?);
        }
        (Of::Functions, "FNL") => {
            let (index, lines) = value.split_once(',')?;
            section.items.note(lines, false);
            section.indexed.insert(index, lines);
        }
        (Of::Functions, "FNA") => {
            let mut parts = value.splitn(3, ',');
            let (index, count) = (parts.next()?, parts.next()?);
            let lines = *section.indexed.get(index)?;
            section.items.note(lines, is_hit(count)?);
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
