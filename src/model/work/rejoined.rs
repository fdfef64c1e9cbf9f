//! What a merge made of the queue where both branches wrote to it, and what it left out of one side. Pure.

use std::collections::HashMap;

use super::{Identity, Queue, WorkItem, at, item};

/// One side of a merge.
#[derive(Clone, Debug)]
pub struct Side {
    /// The queue as this side had it.
    pub side: Queue,
    /// As the other sides had it.
    pub others: Vec<Queue>,
    /// As it was where the sides parted.
    pub base: Queue,
    /// As the merge has it.
    pub merge: Queue,
}

/// What was put right of a queue that branches wrote to, in items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejoined {
    /// Those taken in again.
    pub taken: usize,
    /// Those that stood there more often than on any side, and do no longer.
    pub doubled: usize,
}

impl Queue {
    /// Puts right what merges, the oldest first, made of the queue.
    ///
    /// What they left out of a side is taken in again: the items that it added, and that an item is done. What the other side
    /// removed stays removed, and what somebody removed after the merge, too. What they put in twice stands there as often as
    /// the most of the sides and their base had it.
    pub fn rejoin(&mut self, sides: &[Side]) -> Rejoined {
        let added: usize = sides.iter().map(|side| self.take_added(side)).sum();
        let doubled = self.drop_doubled(sides);
        let done: usize = sides.iter().map(|side| self.take_done(side)).sum();
        Rejoined {
            taken: added + done,
            doubled,
        }
    }

    fn take_added(&mut self, version: &Side) -> usize {
        let Side {
            side, base, merge, ..
        } = version;
        let mut known = self.identities();
        known.extend(base.identities());
        known.extend(merge.identities());
        let mut count = 0;
        for line in side.lines.iter().cloned() {
            let has_items = line.identities().next().is_some();
            let Some(line) = line
                .without(|one| known.contains(one))
                .filter(|_| has_items)
            else {
                continue;
            };
            count += line.items().count();
            self.push(line);
        }
        count
    }

    fn take_done(&mut self, version: &Side) -> usize {
        let Side {
            side, base, merge, ..
        } = version;
        let was_done = base.of_state(WorkItem::is_consumed);
        let [is_open, stays_open] =
            [merge, side].map(|queue| queue.of_state(|it| !it.is_consumed()));
        let mut present = self.of_state(|_| true);
        let mut count = 0;
        for (identity, done) in side.of_state(WorkItem::is_consumed) {
            let before = was_done.get(&identity).map_or(0, Vec::len);
            let Some(last) = done.last().filter(|_| done.len() > before) else {
                continue;
            };
            let mut now = present.remove(&identity).unwrap_or_default();
            let all = now.len();
            now.retain(|item| !item.is_consumed());
            if now.is_empty() || !is_open.contains_key(&identity) {
                continue;
            }
            if stays_open.contains_key(&identity) {
                // Queued more than once, and not all of them done.
                now.truncate(done.len().saturating_sub(all - now.len()));
            }
            let (by, time) = side.done_by(last);
            count += usize::from(!now.is_empty());
            for item in now {
                self.consume(item.key, &by, &time);
            }
        }
        count
    }

    /// Returns the items of a state, by what makes them the same.
    fn of_state(&self, is_wanted: impl Fn(&WorkItem) -> bool) -> HashMap<Identity, Vec<WorkItem>> {
        let mut found: HashMap<_, Vec<_>> = HashMap::new();
        for (identity, item) in self.identified().filter(|(_, item)| is_wanted(item)) {
            found.entry(identity.clone()).or_default().push(item);
        }
        found
    }

    /// Returns all items, with what makes each the same as another.
    pub(super) fn identified(&self) -> impl Iterator<Item = (&Identity, WorkItem)> {
        self.lines.iter().enumerate().flat_map(|(index, line)| {
            let items = line.items().map(move |item| at(index, item));
            line.identities().zip(items)
        })
    }

    /// Returns who did an item, and when, as far as it says so.
    fn done_by(&self, item: &WorkItem) -> (String, String) {
        let mut line = self.lines[item.key.line].clone();
        let mut said = (String::new(), String::new());
        line.edit(item.key.item, |map| {
            let text = |name| item::text_of(map, name).unwrap_or_default();
            said = (text("consumed_by"), text("consumed_at"));
        });
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "{\"title\":\"a\"}\n";
    const B: &str = "{\"title\":\"b\"}\n";
    const DONE: &str = "{\"title\":\"a\",\"state\":\"consumed\",\"consumed\":true,\"consumed_by\":\"s\",\"consumed_at\":\"t\"}\n";

    /// What becomes of a queue whose merge was made of these versions.
    fn rejoined(now: &str, [side, base, merge]: [&str; 3]) -> (String, usize) {
        let mut queue = Queue::parse(now);
        let rejoined = queue.rejoin(&[Side {
            side: Queue::parse(side),
            others: Vec::new(),
            base: Queue::parse(base),
            merge: Queue::parse(merge),
        }]);
        (queue.to_text(), rejoined.taken + rejoined.doubled)
    }

    #[test]
    fn what_a_side_added_or_did_is_taken_in_and_what_somebody_removed_or_opened_again_stays_so() {
        let both = [A, B].concat();
        let twice = [B, B].concat();
        for (what, now, versions, expected, count) in [
            ("added", A, [B, "", A], &both, 1),
            ("known by now", &both, [B, "", A], &both, 0),
            (
                "removed by the other side",
                A,
                [&both, &both, A],
                &A.to_owned(),
                0,
            ),
            (
                "removed after the merge",
                A,
                [B, "", &both],
                &A.to_owned(),
                0,
            ),
            ("done", A, [DONE, A, A], &DONE.to_owned(), 1),
            (
                "done, and put in twice",
                &[DONE, A].concat(),
                [DONE, A, &[DONE, A].concat()],
                &DONE.to_owned(),
                1,
            ),
            (
                "done before, and opened again",
                A,
                [DONE, DONE, A],
                &A.to_owned(),
                0,
            ),
            (
                "opened after the merge",
                A,
                [DONE, A, DONE],
                &A.to_owned(),
                0,
            ),
            (
                "one of two done",
                &[A, A].concat(),
                [&[DONE, A].concat(), &[A, A].concat(), &[A, A].concat()],
                &[DONE, A].concat(),
                1,
            ),
            ("added twice", A, [&twice, "", A], &[A, &twice].concat(), 2),
            ("no item", A, ["nonsense\n", "", A], &A.to_owned(), 0),
        ] {
            let found = rejoined(now, versions);
            assert_eq!(found, (expected.clone(), count), "{what}");
        }
    }
}
