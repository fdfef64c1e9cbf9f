//! What a merge made of the queue where both branches wrote to it, and what it left out of one side. Pure.

use std::collections::HashSet;

use super::{Identity, Queue, WorkItem, at, item, mark};

/// One side of a merge.
#[derive(Clone, Debug)]
pub struct Side {
    /// The queue as this side had it.
    pub side: Queue,
    /// As it was where the sides parted.
    pub base: Queue,
    /// As the merge has it.
    pub merge: Queue,
}

impl Queue {
    /// Takes in again what a merge left out of one side: the items that this side added, and that an item is done. What the
    /// other side removed stays removed, and what somebody removed after the merge, too. Returns how many items that were.
    pub fn rejoin(&mut self, side: &Side) -> usize {
        self.take_added(side) + self.take_done(side)
    }

    fn take_added(&mut self, Side { side, base, merge }: &Side) -> usize {
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
            known.extend(line.identities().cloned());
            self.read.insert(mark(&line.body));
            self.push(line);
        }
        count
    }

    fn take_done(&mut self, Side { side, base, merge }: &Side) -> usize {
        let was_done = base.of_state(|item| item.is_consumed());
        let is_open = merge.of_state(|item| !item.is_consumed());
        let done: Vec<(Identity, WorkItem)> = side
            .identified()
            .filter(|(one, item)| {
                item.is_consumed() && !was_done.contains(one) && is_open.contains(one)
            })
            .map(|(one, item)| (one.clone(), item))
            .collect();
        let mut count = 0;
        for (identity, item) in done {
            let open: Vec<_> = self
                .identified()
                .filter(|(one, item)| **one == identity && !item.is_consumed())
                .map(|(_, item)| item.key)
                .collect();
            let (by, time) = side.done_by(&item);
            count += usize::from(!open.is_empty());
            for key in open {
                self.consume(key, &by, &time);
            }
        }
        count
    }

    fn of_state(&self, is_wanted: impl Fn(&WorkItem) -> bool) -> HashSet<Identity> {
        let wanted = self.identified().filter(|(_, item)| is_wanted(item));
        wanted.map(|(identity, _)| identity.clone()).collect()
    }

    /// Returns all items, with what makes each the same as another.
    fn identified(&self) -> impl Iterator<Item = (&Identity, WorkItem)> {
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
        let count = queue.rejoin(&Side {
            side: Queue::parse(side),
            base: Queue::parse(base),
            merge: Queue::parse(merge),
        });
        (queue.to_text(), count)
    }

    #[test]
    fn what_a_side_added_or_did_is_taken_in_and_what_somebody_removed_or_opened_again_stays_so() {
        let both = [A, B].concat();
        let done_twice = [DONE, DONE].concat();
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
                "done, and kept twice",
                &[DONE, A].concat(),
                [DONE, A, &[DONE, A].concat()],
                &done_twice,
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
            ("no item", A, ["nonsense\n", "", A], &A.to_owned(), 0),
        ] {
            let found = rejoined(now, versions);
            assert_eq!(found, (expected.clone(), count), "{what}");
        }
    }
}
