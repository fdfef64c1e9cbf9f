//! What every commit wrote to the history and its files, as compared with its parents. A version of the history that is the
//! start of a later one is not read: that its bytes hash to its id shows it.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::effects::files;
use crate::effects::repo::{Past, Repo, hash_blob};
use crate::error::{Error, Result};
use crate::model::audit::{Filed, Trailers, Unseen, Written};
use crate::model::ledger as names;

/// The most bytes that a history may have to be audited.
const LIMIT: usize = 1 << 28;

/// What every commit wrote, oldest first.
#[derive(Debug, Default)]
pub struct Chronicle {
    /// To the history.
    pub written: Vec<Written>,
    /// As snapshots and segments.
    pub filed: Vec<Filed>,
    /// The lines that were there before the oldest commit that can be seen.
    pub unseen: Unseen,
}

/// A version of the history: its segments and its active file, as blobs.
type Version = Vec<String>;

/// The text of a version of the history: the start of a text that is shared with later ones.
#[derive(Clone)]
struct View {
    text: Rc<Vec<u8>>,
    length: usize,
}

impl View {
    fn bytes(&self) -> &[u8] {
        &self.text[..self.length]
    }

    /// Says whether this version is the start of a later one, whole lines of it.
    fn is_start_of(&self, later: &View) -> bool {
        let is_at_line_end = |at: usize| {
            at == 0 || at == later.length || self.text[at - 1] == b'\n' || later.text[at] == b'\n'
        };
        self.length <= later.length
            && (Rc::ptr_eq(&self.text, &later.text) || later.bytes().starts_with(self.bytes()))
            && is_at_line_end(self.length)
    }
}

/// What a commit did to the lines of one of its parents.
#[derive(Default)]
struct Step {
    added: Vec<String>,
    lost: Vec<String>,
    is_reordered: bool,
}

struct Reader<'a> {
    repo: &'a Repo,
    past: &'a Past,
    of_agents: &'a HashSet<usize>,
    /// Where each line stands now.
    now: HashMap<&'a str, usize>,
    views: HashMap<Version, View>,
    listings: HashMap<usize, Rc<Vec<(String, String)>>>,
    /// Parts of texts that are known to be a blob: the text, where it begins in it, the blob.
    proven: HashSet<(*const Vec<u8>, usize, String)>,
}

impl Chronicle {
    /// Reads what every commit wrote. `now` is the newest version: its text and its lines.
    pub fn of(
        repo: &Repo,
        past: &Past,
        text: Vec<u8>,
        now: &[String],
        of_agents: &HashSet<usize>,
    ) -> Result<Chronicle> {
        let places = now
            .iter()
            .enumerate()
            .map(|(place, line)| (line.as_str(), place));
        let mut reader = Reader {
            repo,
            past,
            of_agents,
            now: places.collect(),
            views: HashMap::new(),
            listings: HashMap::new(),
            proven: HashSet::new(),
        };
        let newest = version(&reader.listing(0)?);
        let length = text.len();
        let text = Rc::new(text);
        reader.views.insert(newest, View { text, length });
        let mut chronicle = Chronicle::default();
        for place in 0..past.len() {
            reader.read(place, &mut chronicle)?;
            reader.listings.remove(&place);
        }
        chronicle.written.reverse();
        chronicle.filed.reverse();
        Ok(chronicle)
    }
}

impl Reader<'_> {
    /// Reads what one commit wrote; its children have been read before.
    fn read(&mut self, place: usize, chronicle: &mut Chronicle) -> Result<()> {
        let past = self.past;
        let trailers = past.message(place).map(Trailers::of).unwrap_or_default();
        let parents = past.parents(place);
        let is_untouched = parents
            .iter()
            .any(|parent| past.has_same_ledger(place, *parent));
        if past.is_cut(place) {
            return self.read_cut(place, chronicle);
        }
        if is_untouched && parents.len() == 1 && trailers.records().is_none() {
            return Ok(());
        }
        let mine = self.listing(place)?;
        let view = self.view(&version(&mine), None)?;
        let mut whole: Option<Step> = None;
        for parent in parents {
            let theirs = self.listing(*parent)?;
            let earlier = self.view(&version(&theirs), Some(&view))?;
            let wants_added = whole.as_ref().is_none_or(|step| !step.added.is_empty());
            let step = self.step(*parent, &earlier, &view, wants_added);
            whole = Some(match whole {
                None => step,
                Some(all) => all.and(step),
            });
        }
        let step = whole.unwrap_or_else(|| Step {
            added: lines_of(view.bytes()).collect(),
            ..Step::default()
        });
        let is_of_agent = self.of_agents.contains(&place);
        chronicle.filed.extend(self.filed(place, &mine)?);
        let says_nothing = step.added.is_empty() && step.lost.is_empty() && !step.is_reordered;
        if !says_nothing || trailers.records().is_some() {
            chronicle.written.push(Written {
                commit: past.id(place),
                trailers,
                is_of_agent,
                is_merge: parents.len() > 1,
                added: step.added,
                lost: step.lost,
                is_reordered: step.is_reordered,
            });
        }
        Ok(())
    }

    /// Reads a commit whose parents cannot be seen: what it has may be from before.
    fn read_cut(&mut self, place: usize, chronicle: &mut Chronicle) -> Result<()> {
        let listing = self.listing(place)?;
        let view = self.view(&version(&listing), None)?;
        let is_of_agent = self.of_agents.contains(&place);
        let unseen = match is_of_agent {
            true => &mut chronicle.unseen.doubtful,
            false => &mut chronicle.unseen.recorded,
        };
        unseen.extend(lines_of(view.bytes()));
        let written_once = listing.iter().filter(|(name, _)| is_written_once(name));
        chronicle.filed.extend(written_once.map(|(name, id)| Filed {
            commit: self.past.id(place),
            name: name.clone(),
            id: id.clone(),
            records: Some(names::cycle_of_snapshot(name).unwrap_or(0)),
            is_of_agent,
        }));
        Ok(())
    }

    /// Returns the snapshots and segments of a commit that none of its parents has in the same version.
    fn filed(&mut self, place: usize, mine: &[(String, String)]) -> Result<Vec<Filed>> {
        let mut new: Vec<_> = mine
            .iter()
            .filter(|(name, _)| is_written_once(name))
            .collect();
        for parent in self.past.parents(place) {
            let theirs = self.listing(*parent)?;
            // Both are in git's order of names.
            new.retain(|(name, id)| {
                let at = theirs.binary_search_by(|(other, _)| other.cmp(name));
                !at.is_ok_and(|at| theirs[at].1 == *id)
            });
        }
        let filed = |(name, id): &(String, String)| Filed {
            commit: self.past.id(place),
            name: name.clone(),
            id: id.clone(),
            records: None,
            is_of_agent: self.of_agents.contains(&place),
        };
        Ok(new.into_iter().map(filed).collect())
    }

    fn listing(&mut self, place: usize) -> Result<Rc<Vec<(String, String)>>> {
        if let Some(known) = self.listings.get(&place) {
            return Ok(Rc::clone(known));
        }
        let listing = Rc::new(self.repo.ledger_listing(self.past, place)?);
        self.listings.insert(place, Rc::clone(&listing));
        Ok(listing)
    }

    /// Returns the text of a version, as the start of a `later` one if it is that.
    fn view(&mut self, version: &Version, later: Option<&View>) -> Result<View> {
        if let Some(known) = self.views.get(version) {
            return Ok(known.clone());
        }
        let proven = match later {
            Some(later) => self.start_of(later, version)?,
            None => None,
        };
        let view = match proven {
            Some(view) => view,
            None => {
                let text = read(self.repo, version)?;
                let length = text.len();
                let text = Rc::new(text);
                View { text, length }
            }
        };
        self.views.insert(version.clone(), view.clone());
        Ok(view)
    }

    /// Returns a version as the start of a later one, if its blobs are just that.
    fn start_of(&mut self, later: &View, version: &Version) -> Result<Option<View>> {
        let mut length = 0;
        for id in version {
            let end = length + self.repo.blob_size(id)?;
            if end > later.length {
                return Ok(None);
            }
            let key = (Rc::as_ptr(&later.text), length, id.clone());
            if !self.proven.contains(&key) {
                if hash_blob(&later.text[length..end]) != *id {
                    return Ok(None);
                }
                // The active file is another one in every version; only segments are met again.
                if version.last() != Some(id) {
                    self.proven.insert(key);
                }
            }
            length = end;
        }
        let text = Rc::clone(&later.text);
        Ok(Some(View { text, length }))
    }

    /// Compares the history of a commit with that of one of its parents. What was added is found out only if it is wanted.
    fn step(&self, parent: usize, earlier: &View, view: &View, wants_added: bool) -> Step {
        if earlier.is_start_of(view) {
            let rest = &view.bytes()[earlier.length..];
            let added = match wants_added {
                true => lines_of(rest).collect(),
                false => Vec::new(),
            };
            return Step {
                added,
                ..Step::default()
            };
        }
        let mine: Vec<String> = lines_of(view.bytes()).collect();
        let theirs: Vec<String> = lines_of(earlier.bytes()).collect();
        let known = theirs.iter().filter_map(|line| self.now.get(line.as_str()));
        let is_reordered = !known.is_sorted() && !self.of_agents.contains(&parent);
        Step {
            added: without(&mine, &theirs),
            lost: without(&theirs, &mine),
            is_reordered,
        }
    }
}

impl Step {
    /// Joins what a merge did to its parents: it added what none of them had.
    fn and(mut self, other: Step) -> Step {
        let others: HashSet<String> = other.added.into_iter().collect();
        self.added.retain(|line| others.contains(line));
        self.lost.extend(other.lost);
        self.is_reordered |= other.is_reordered;
        self
    }
}

/// Returns the lines of `all` that are not in `known`, each as often as it is there more often.
fn without(all: &[String], known: &[String]) -> Vec<String> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in known {
        *left.entry(line).or_default() += 1;
    }
    let is_new = |line: &&String| match left.get_mut(line.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    };
    all.iter().filter(is_new).cloned().collect()
}

/// Says whether a file of the ledger is written once and never again.
fn is_written_once(name: &str) -> bool {
    names::is_snapshot(name) || is_segment(name)
}

fn is_segment(name: &str) -> bool {
    let number = || {
        let rest = name
            .strip_prefix(names::FOLDER)?
            .strip_prefix("/cycle-history.")?;
        rest.strip_suffix(".jsonl")?.parse::<usize>().ok()
    };
    number().is_some_and(|number| name == names::segment(number))
}

/// Returns the blobs that the history of a listing is made of: its segments, oldest first, and the active file.
fn version(listing: &[(String, String)]) -> Version {
    let id = |wanted: &str| {
        let found = listing.iter().find(|(name, _)| name == wanted);
        found.map(|(_, id)| id.clone())
    };
    let segments = (1..).map_while(|number| id(&names::segment(number)));
    segments.chain(id(names::HISTORY)).collect()
}

fn read(repo: &Repo, version: &Version) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    for id in version {
        let size = repo.blob_size(id)?;
        // Of its segments too: they are what the active file was.
        if let Some(why) = names::too_large(names::HISTORY, size as u64) {
            return Err(Error::unsafe_repo(why).hint(files::TOO_LARGE));
        }
        if text.len() + size > LIMIT {
            return Err(Error::unsafe_repo(format!(
                "the history is larger than {LIMIT} bytes and is not audited"
            )));
        }
        text.extend(repo.blob(id)?);
    }
    Ok(text)
}

/// Returns the text of the history that a commit has, its segments included.
pub fn text_of(repo: &Repo, past: &Past, place: usize) -> Result<Vec<u8>> {
    read(repo, &version(&repo.ledger_listing(past, place)?))
}

/// Returns the lines of a history that are not empty.
pub fn lines_of(text: &[u8]) -> impl Iterator<Item = String> {
    text.split(|byte| *byte == b'\n')
        .map(|line| String::from_utf8_lossy(line))
        .map(|line| line.trim_start_matches('\u{feff}').trim().to_owned())
        .filter(|line| !line.is_empty())
}
