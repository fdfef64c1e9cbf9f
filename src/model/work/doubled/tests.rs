use super::*;
use proptest::prelude::*;

const OPEN: &str = "{\"title\":\"a\"}\n";
const DONE: &str = "{\"title\":\"a\",\"consumed\":true}\n";
const DONE_ELSE: &str = "{\"title\":\"a\",\"consumed\":true,\"consumed_by\":\"s\"}\n";
const FAILED: &str = "{\"title\":\"a\",\"failures\":1}\n";
const FAILED_MORE: &str = "{\"title\":\"a\",\"failures\":2,\"failed_at\":\"t\"}\n";
const TOLD: &str = "{\"title\":\"a\",\"description\":\"told\"}\n";
const B: &str = "{\"title\":\"b\"}\n";

/// The sides of a merge of these queues, each side's with the other's.
fn sides([base, ours, theirs, merge]: [&str; 4]) -> [Side; 2] {
    [(ours, theirs), (theirs, ours)].map(|(side, other)| Side {
        side: Queue::parse(side),
        others: vec![Queue::parse(other)],
        base: Queue::parse(base),
        merge: Queue::parse(merge),
    })
}

/// What becomes of a queue whose merge was made of these versions.
fn rejoined(now: &str, versions: [&str; 4]) -> String {
    let mut queue = Queue::parse(now);
    queue.rejoin(&sides(versions));
    queue.to_text()
}

#[test]
fn what_stood_once_on_each_side_stands_once_and_what_was_queued_twice_stays_so() {
    let of = |lines: &[&str]| lines.concat();
    let [two, all] = [of(&[OPEN, OPEN]), of(&[OPEN, OPEN, OPEN])];
    let told = of(&[OPEN, TOLD]);
    for (what, base, ours, theirs, merge, expected) in [
        ("open", OPEN, OPEN, OPEN, &*two, OPEN),
        (
            "done twice",
            OPEN,
            DONE,
            DONE_ELSE,
            &of(&[DONE, DONE_ELSE]),
            DONE,
        ),
        (
            "done by one",
            OPEN,
            FAILED,
            DONE,
            &of(&[FAILED, DONE]),
            DONE,
        ),
        (
            "failed",
            OPEN,
            FAILED,
            FAILED_MORE,
            &of(&[FAILED, FAILED_MORE]),
            FAILED_MORE,
        ),
        ("in the base twice", &two, &two, &two, &all, &two),
        ("on one side twice", OPEN, OPEN, &two, &all, &two),
        (
            "in the merge itself",
            B,
            B,
            B,
            &of(&[B, OPEN, OPEN]),
            &of(&[B, OPEN, OPEN]),
        ),
        (
            "added by both",
            B,
            &of(&[B, OPEN]),
            &of(&[B, FAILED]),
            &of(&[B, OPEN, FAILED]),
            &of(&[B, FAILED]),
        ),
        ("added otherwise", "", OPEN, TOLD, &told, &told),
        (
            "the first done",
            &two,
            &of(&[DONE, OPEN]),
            &of(&[DONE_ELSE, OPEN]),
            &of(&[DONE, DONE_ELSE, OPEN]),
            &of(&[DONE, OPEN]),
        ),
        (
            "each one done",
            &two,
            &of(&[DONE, OPEN]),
            &of(&[OPEN, DONE]),
            &of(&[DONE, OPEN, OPEN, DONE]),
            &of(&[DONE, DONE]),
        ),
        (
            "different ones",
            &told,
            &of(&[DONE, TOLD]),
            &of(&[FAILED, TOLD]),
            &of(&[DONE, FAILED, TOLD]),
            &of(&[DONE, TOLD]),
        ),
    ] {
        assert_eq!(
            rejoined(merge, [base, ours, theirs, merge]),
            expected,
            "{what}"
        );
    }
}

#[test]
fn what_became_of_the_queue_after_the_merge_counts() {
    let two = [OPEN, OPEN].concat();
    let three = [OPEN, OPEN, OPEN].concat();
    let done = [OPEN, DONE].concat();
    for (what, now, expected) in [
        ("one was dropped", OPEN, OPEN),
        ("one was added", &three, &three),
        ("one was done", &done, DONE),
    ] {
        assert_eq!(rejoined(now, [OPEN, OPEN, OPEN, &two]), expected, "{what}");
    }
}

#[test]
fn what_two_merges_doubled_stands_once() {
    let [two, three] = [2, 3].map(|count| OPEN.repeat(count));
    let first = sides([OPEN, OPEN, OPEN, &two]);
    let second = sides([OPEN, &two, OPEN, &three]);
    let mut queue = Queue::parse(&three);
    queue.rejoin(&[first, second].concat());
    assert_eq!(queue.to_text(), OPEN);
}

#[test]
fn an_item_of_an_entry_goes_alone_and_other_lines_stay_byte_for_byte() {
    let entry = "{\"items\":[{\"title\":\"a\"},{\"title\":\"c\"}]}\n";
    let rest = "nonsense \n\n{ \"title\": \"b\" }\n";
    let merge = [rest, DONE, entry].concat();
    let ours = [rest, DONE].concat();
    let theirs = [rest, entry].concat();
    let now = rejoined(&merge, [OPEN, &ours, &theirs, &merge]);
    let left = "{\"items\":[{\"title\":\"c\"}]}\n";
    assert_eq!(now, [rest, DONE, left].concat());
}

/// A line of an item: which one, whether it is done, and how often it failed.
type Written = (u8, bool, u64);

fn text(lines: &[Written]) -> String {
    let lines = lines.iter().map(|(title, is_done, failures)| {
        format!(
            "{}\n",
            json!({"title": format!("t{title}"), "consumed": is_done, "failures": failures})
        )
    });
    lines.collect()
}

fn any_lines(most: usize) -> impl Strategy<Value = Vec<Written>> {
    proptest::collection::vec((0..4u8, any::<bool>(), 0..4u64), 0..most)
}

/// A branch: what became of each item of the base, and what was added.
fn branch(base: &[Written], changes: &[Option<(bool, u64)>], added: &[Written]) -> Vec<Written> {
    let changed = base.iter().zip(changes);
    let changed = changed.map(|(line, change)| match change {
        Some((is_done, failures)) => (line.0, *is_done, *failures),
        None => *line,
    });
    changed.chain(added.iter().copied()).collect()
}

/// What git makes of two branches where it keeps the lines of both: all that does not begin alike.
fn union(ours: &[Written], theirs: &[Written]) -> Vec<Written> {
    let pairs = ours.iter().zip(theirs);
    let alike = pairs.take_while(|(one, other)| one == other).count();
    [ours, &theirs[alike..]].concat()
}

proptest! {
    #[test]
    fn no_item_is_lost_or_stands_there_more_often_than_on_any_side(
        base in any_lines(6),
        changes in proptest::collection::vec(proptest::option::of((any::<bool>(), 0..4u64)), 12),
        [our, their] in [any_lines(4), any_lines(4)],
        is_union in any::<bool>(),
    ) {
        let ours = branch(&base, &changes[..6], &our);
        let theirs = branch(&base, &changes[6..], &their);
        let merge = match is_union {
            true => union(&ours, &theirs),
            false => ours.clone(),
        };
        let texts = [&base, &ours, &theirs, &merge].map(|lines| text(lines));
        let sides = sides([&texts[0], &texts[1], &texts[2], &texts[3]]);
        let mut queue = Queue::parse(&texts[3]);
        queue.rejoin(&sides);
        let once = queue.to_text();
        prop_assert_eq!(queue.rejoin(&sides), super::super::Rejoined::default());
        prop_assert_eq!(queue.to_text(), once);
        let items = queue.items();
        for title in 0..4 {
            let count = |lines: &[Written]| lines.iter().filter(|line| line.0 == title).count();
            let most = count(&base).max(count(&ours)).max(count(&theirs));
            let mut same = items.iter().filter(|item| item.title == format!("t{title}"));
            let now = same.clone().count();
            prop_assert!(now <= most && (now > 0 || most == 0), "{title}: {now} of {most}");
            prop_assert!(!is_union || now == most, "{title}: {now} of {most}");
            let mut both = ours.iter().chain(&theirs);
            if is_union && most == 1 && both.any(|line| line.0 == title && line.1) {
                prop_assert!(same.all(WorkItem::is_consumed), "{title} is done");
            }
        }
    }
}
