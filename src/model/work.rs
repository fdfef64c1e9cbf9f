//! The queue of harvested work, `next-work.jsonl`: what is open, what is next, and what became of an item. Pure.
//!
//! The file belongs to several programs. Whatever this one does not understand stays where it is, a line that was not
//! changed is written back byte for byte, and lines are only ever appended, so that a `Key` stays true; only where a merge is
//! put right, before anything else happens, some are dropped.

mod doubled;
mod found;
mod item;
mod line;
mod mended;
mod named;
mod rejoined;
mod rewritten;

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use chrono::DateTime;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::model::record::TakenBack;

pub use found::Appeared;
use item::Identity;
pub use item::{BY_AGENT, Fate, Key, LONGEST_TITLE, NewItem, Severity, State, WorkItem};
use line::Line;
pub use mended::Mended;
pub use named::{Closed, Closing, SHORT_ID, find};
pub use rejoined::{Rejoined, Side};

/// After so many failures an item is set aside.
pub const MOST_FAILURES: u64 = 3;

/// How many problems of the file are named one by one; the rest is counted.
const MOST_PROBLEMS: usize = 50;

/// The lines of `next-work.jsonl`.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    lines: Vec<Line>,
    /// The texts that its lines have or had, and those that were taken in, each as a mark: to tell later what somebody else
    /// added, also where the file is behind memory.
    read: HashSet<u64>,
}

/// How many items of the queue are in which state, for one repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Items that can be worked on.
    pub open: usize,
    /// Items that failed too often.
    pub set_aside: usize,
    /// Items that are off the queue, whatever became of them.
    pub consumed: usize,
    /// Those of them that a person did not want done.
    pub dropped: usize,
    /// Those of them whose change was taken back.
    pub taken_back: usize,
}

impl Counts {
    /// Says what became of the items that are off the queue, as in `3 done, 2 dropped`.
    pub fn off(&self) -> String {
        let done = self.consumed - self.dropped - self.taken_back;
        let mut words = format!("{done} done");
        for (count, fate) in [(self.dropped, "dropped"), (self.taken_back, "taken back")] {
            if count > 0 {
                words.push_str(&format!(", {count} {fate}"));
            }
        }
        words
    }
}

impl Queue {
    /// Reads the file's text; no line is ever refused or lost.
    pub fn parse(text: &str) -> Queue {
        let lines = text.split_inclusive('\n').map(Line::parse).collect();
        let mut queue = Queue {
            lines,
            read: HashSet::new(),
        };
        queue.read = queue.marks();
        queue
    }

    /// Returns the file's text.
    pub fn to_text(&self) -> String {
        self.lines.iter().map(Line::to_text).collect()
    }

    /// Returns what could not be understood, each with its line number; of many the first, and how many more there are.
    pub fn problems(&self) -> Vec<String> {
        let lines = self.lines.iter().enumerate();
        let mut all = lines.flat_map(|(index, line)| {
            let problems = line.problems().into_iter();
            problems.map(move |problem| format!("line {}{problem}", index + 1))
        });
        let mut problems: Vec<_> = all.by_ref().take(MOST_PROBLEMS).collect();
        match all.count() {
            0 => {}
            more => problems.push(format!("{more} more such lines")),
        }
        problems
    }

    /// Returns all items of all lines, in the file's order.
    pub fn items(&self) -> Vec<WorkItem> {
        self.lines
            .iter()
            .enumerate()
            .flat_map(|(index, line)| line.items().map(move |item| at(index, item)))
            .collect()
    }

    /// Returns the item to work on next.
    pub fn next(&self, repo_name: &str) -> Option<WorkItem> {
        let first = self
            .of(repo_name, WorkItem::is_open)
            .min_by_key(|(_, item)| item.turn());
        first.map(|(index, item)| at(index, item))
    }

    /// Returns the items that can be worked on in this repository: what never failed first, then by severity, then in the
    /// file's order.
    ///
    /// An item that a dead session left `in_progress` is among them: items are chosen under the lock, so no living
    /// session can hold one.
    pub fn open(&self, repo_name: &str) -> Vec<WorkItem> {
        let mut open: Vec<_> = self.of(repo_name, WorkItem::is_open).collect();
        open.sort_by_key(|(_, item)| item.turn());
        let open = open.into_iter();
        open.map(|(index, item)| at(index, item)).collect()
    }

    /// Returns the items of this repository that failed too often to be tried again.
    pub fn set_aside(&self, repo_name: &str) -> Vec<WorkItem> {
        let is_set_aside = |item: &WorkItem| !item.is_consumed() && item.is_set_aside();
        let set_aside = self.of(repo_name, is_set_aside);
        set_aside.map(|(index, item)| at(index, item)).collect()
    }

    /// Counts the items of this repository.
    pub fn counts(&self, repo_name: &str, taken_back: &TakenBack) -> Counts {
        let mut counts = Counts::default();
        let all = self.lines.iter().flat_map(Line::items);
        for item in all.filter(|item| item.is_for(repo_name)) {
            let count = match (item.is_consumed(), item.is_set_aside()) {
                (true, _) => &mut counts.consumed,
                (false, true) => &mut counts.set_aside,
                (false, false) => &mut counts.open,
            };
            *count += 1;
            match item.fate(taken_back) {
                Some(Fate::Dropped) => counts.dropped += 1,
                Some(Fate::TakenBack) => counts.taken_back += 1,
                Some(Fate::Done) | None => {}
            }
        }
        counts
    }

    /// Returns the wanted items of this repository, each with the index of its line.
    fn of<'a>(
        &'a self,
        repo_name: &'a str,
        wanted: impl Fn(&WorkItem) -> bool + 'a,
    ) -> impl Iterator<Item = (usize, &'a WorkItem)> {
        let lines = self.lines.iter().enumerate();
        let all = lines.flat_map(|(index, line)| line.items().map(move |item| (index, item)));
        all.filter(move |(_, item)| item.is_for(repo_name) && wanted(item))
    }

    /// Marks an item as being worked on by the session `by`.
    pub fn claim(&mut self, key: Key, by: &str, at: &str) {
        self.edit(key, |item| {
            item.insert("state".into(), json!(State::InProgress.word()));
            item.insert("claimed_by".into(), json!(by));
            item.insert("claimed_at".into(), json!(at));
        });
    }

    /// Gives an item back as if it had not been claimed.
    pub fn release(&mut self, key: Key) {
        self.edit(key, |item| {
            item.insert("state".into(), json!(State::Available.word()));
            remove_claim(item);
        });
    }

    /// Gives all items back that are claimed.
    pub fn release_all(&mut self) {
        let claimed = self.items().into_iter();
        let claimed = claimed.filter(|item| item.claimed_by.is_some());
        claimed.for_each(|item| self.release(item.key));
    }

    /// Gives an item back and counts the failure.
    pub fn fail(&mut self, key: Key, at: &str) {
        self.edit(key, |item| {
            let failures = item::failures(item).saturating_add(1);
            item.insert("state".into(), json!(State::Available.word()));
            item.insert("failed_at".into(), json!(at));
            item.insert("failures".into(), json!(failures));
            remove_claim(item);
        });
    }

    /// Marks an item as done; with its last item an entry is done too.
    pub fn consume(&mut self, key: Key, by: &str, at: &str) {
        self.edit(key, |item| {
            item.insert("state".into(), json!(State::Consumed.word()));
            remove_claim(item);
            if key.item.is_none() {
                item.insert("consumed".into(), json!(true));
            }
            item.insert("consumed_by".into(), json!(by));
            item.insert("consumed_at".into(), json!(at));
        });
        let Some(line) = self.lines.get_mut(key.line) else {
            return;
        };
        if line.items().all(WorkItem::is_consumed) {
            line.edit_entry(|entry| {
                entry.insert("consumed".into(), json!(true));
                entry.insert("consumed_by".into(), json!(by));
                entry.insert("consumed_at".into(), json!(at));
            });
            self.read.insert(mark(&line.body));
        }
    }

    /// Returns a moment, or the one at which an item came if that is later: a loop takes in what it found after a person closed the
    /// same.
    fn not_before_it_came(&mut self, key: Key, at: &str) -> String {
        let mut later = at.to_owned();
        let moment = |text: &str| DateTime::parse_from_rfc3339(text).ok();
        self.edit(key, |item| {
            let came = item.get("timestamp").and_then(Value::as_str);
            let came = came.filter(|came| moment(came) > moment(at) && moment(at).is_some());
            later = came.map_or_else(|| at.to_owned(), str::to_owned);
        });
        later
    }

    /// Marks every open item that a person closed as done; returns how many there were.
    pub fn close(&mut self, closing: &Closing) -> usize {
        let is_meant = |item: &WorkItem| !item.is_consumed() && item.id() == closing.id;
        let keys: Vec<Key> = self
            .items()
            .iter()
            .filter(|it| is_meant(it))
            .map(|it| it.key)
            .collect();
        for key in &keys {
            let at = self.not_before_it_came(*key, &closing.at);
            self.consume(*key, closing.how.by(), &at);
            // It stays so, even where a cycle gives it back that had claimed it before.
            self.edit(*key, |item| {
                item.insert("consumed".into(), json!(true));
            });
        }
        keys.len()
    }

    /// Appends an item unless the queue has, or had, one with the same title and target. Says whether it was appended.
    pub fn add(&mut self, item: NewItem, timestamp: &str) -> bool {
        self.append(item.into_map(timestamp))
    }

    /// Returns the line of an item that a person asks for: also of one that was dropped or taken back, which is then an item
    /// of its own. Of what is in the queue or done it returns the item instead.
    pub fn anew(
        &self,
        mut item: NewItem,
        timestamp: &str,
        taken_back: &TakenBack,
    ) -> Result<String, Box<WorkItem>> {
        loop {
            let identity = item.identity();
            let mut same = self.identified().filter(|(one, _)| **one == identity);
            let Some((_, first)) = same.next() else {
                let mut line = Line::from_map(item.into_map(timestamp));
                line.end_line();
                return Ok(line.to_text());
            };
            let stands = |item: &WorkItem| matches!(item.fate(taken_back), None | Some(Fate::Done));
            let rest = same.map(|(_, item)| item);
            let mut standing: Vec<_> = [first].into_iter().chain(rest).filter(stands).collect();
            // What is still to be done says more than what is done.
            standing.sort_by_key(WorkItem::is_consumed);
            if let Some(item) = standing.into_iter().next() {
                return Err(Box::new(item));
            }
            item.again += 1;
        }
    }

    /// Says whether the queue has, or had, an item with the same title and target.
    pub fn knows(&self, item: &NewItem) -> bool {
        self.has(&item.identity())
    }

    /// Returns the digests of everything that a sweep's items stand for, done or not.
    pub fn findings(&self) -> HashSet<String> {
        let all = self.lines.iter().flat_map(Line::findings);
        all.cloned().collect()
    }

    fn append(&mut self, item: Map<String, Value>) -> bool {
        let identity = item::identity(&item, None);
        if identity.is_none_or(|identity| self.has(&identity)) {
            return false;
        }
        self.push(Line::from_map(item));
        true
    }

    /// Takes over lines that somebody else added to the file, given its present text; returns how many.
    ///
    /// Where both sides changed a line this side wins: a line whose items are all known already is no new line.
    pub fn merge_from(&mut self, now: &str) -> usize {
        // As a rule nobody added anything.
        let mut known = None;
        let before = self.lines.len();
        for raw in now.split_inclusive('\n') {
            let mark = self::mark(Line::split(raw).1);
            if self.read.contains(&mark) {
                continue;
            }
            let known = known.get_or_insert_with(|| self.identities());
            if let Some(line) = Line::parse(raw).without(|one| known.contains(one)) {
                known.extend(line.identities().cloned());
                self.read.insert(mark);
                self.push(line);
            }
        }
        self.lines.len() - before
    }

    /// Puts back the items of an earlier version that this one has not; returns how many lines that took.
    pub fn put_back(&mut self, earlier: &Queue) -> usize {
        let known: HashSet<_> = self.lines.iter().flat_map(Line::identities).collect();
        let lines = earlier.lines.iter().cloned();
        let gone: Vec<_> = lines
            .filter(|line| line.identities().next().is_some())
            .filter_map(|line| line.without(|one| known.contains(one)))
            .collect();
        let count = gone.len();
        for line in gone {
            self.push(line);
        }
        count
    }

    /// Returns those lines of a text of which this queue does not know all.
    pub fn lacks(&self, lines: &str) -> String {
        let known = self.identities();
        let is_new = |raw: &&str| {
            let line = Line::parse(raw);
            !self.read.contains(&mark(&line.body))
                && line.without(|one| known.contains(one)).is_some()
        };
        lines.split_inclusive('\n').filter(is_new).collect()
    }

    /// Returns what tells its lines' texts from others.
    fn marks(&self) -> HashSet<u64> {
        self.lines.iter().map(|line| mark(&line.body)).collect()
    }

    fn has(&self, identity: &Identity) -> bool {
        let mut all = self.lines.iter().flat_map(Line::identities);
        all.any(|one| one == identity)
    }

    fn identities(&self) -> HashSet<Identity> {
        let all = self.lines.iter().flat_map(Line::identities);
        all.cloned().collect()
    }

    fn push(&mut self, mut line: Line) {
        if let Some(last) = self.lines.last_mut() {
            last.end_line();
        }
        line.end_line();
        self.read.insert(mark(&line.body));
        self.lines.push(line);
    }

    fn edit(&mut self, key: Key, change: impl FnOnce(&mut Map<String, Value>)) {
        if let Some(line) = self.lines.get_mut(key.line) {
            line.edit(key.item, change);
            self.read.insert(mark(&line.body));
        }
    }
}

/// Returns the item as one of the line with this index.
fn at(line: usize, item: &WorkItem) -> WorkItem {
    let mut item = item.clone();
    item.key.line = line;
    item
}

/// Returns what tells a line's text from another's.
fn mark(body: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}

/// Removes without disturbing the order of the other keys, which `Map::remove` would.
fn remove_claim(item: &mut Map<String, Value>) {
    item.shift_remove("claimed_by");
    item.shift_remove("claimed_at");
}

#[cfg(test)]
mod tests;
