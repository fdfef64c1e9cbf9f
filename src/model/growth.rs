//! How a file that only ever grows stands to an earlier version of itself: what was added, what is gone; and what branches
//! that both added to it come to together. Pure.

use std::collections::{HashMap, HashSet};

/// How a text stands to an earlier one, line by line. Blank lines, line ends and byte order marks do not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The same lines in the same order.
    Same,
    /// All lines are there in their order, and this many more, before, between or after them.
    Added(usize),
    /// Lines are gone or stand in another order.
    Rewritten {
        /// How many are gone.
        missing: usize,
        /// How many are new.
        added: usize,
    },
}

impl Growth {
    /// Compares a text with an earlier one.
    pub fn of(earlier: &str, now: &str) -> Growth {
        let mut expected = lines(earlier).peekable();
        let mut added = 0;
        for line in lines(now) {
            match expected.next_if(|wanted| *wanted == line) {
                Some(_) => {}
                None => added += 1,
            }
        }
        match (expected.peek(), added) {
            (None, 0) => Growth::Same,
            (None, added) => Growth::Added(added),
            (Some(_), _) => Growth::Rewritten {
                missing: beyond(earlier, now).count(),
                added: beyond(now, earlier).count(),
            },
        }
    }

    /// Says what happened to the text, in words; none if nothing did.
    pub fn in_words(self) -> Option<String> {
        let lines = |count: usize| match count {
            1 => "1 line".to_owned(),
            more => format!("{more} lines"),
        };
        match self {
            Growth::Same => None,
            Growth::Added(added) => Some(format!("{} more", lines(added))),
            Growth::Rewritten {
                missing: 0,
                added: 0,
            } => Some("its lines in another order".to_owned()),
            Growth::Rewritten { missing, added } => Some(format!(
                "{} missing, {added} in their place",
                lines(missing)
            )),
        }
    }
}

/// Which version of a file is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Believed {
    /// HEAD's.
    Head,
    /// That of the anchor, the commit of `evolve`'s last ledger.
    Anchor,
    /// The lines of both: a merge left out what one side had.
    Both,
}

/// Decides between HEAD's version of a file and that of the last ledger. HEAD is believed as long as it only adds, as after
/// a pull or a merge. Where lines are gone, it depends on whether HEAD `descends` from the last ledger: if it does not, a
/// person went to another line of history, which has a ledger of its own. If it does, lines were taken out of it, and they
/// are put back: to what HEAD has, if a merge brought just that (`is_merged`, see [`is_merged`]), in place of it otherwise.
pub fn rule(growth: Growth, descends: bool, is_merged: impl FnOnce() -> bool) -> Believed {
    match growth {
        Growth::Same | Growth::Added(_) => Believed::Head,
        Growth::Rewritten { .. } if !descends => Believed::Head,
        Growth::Rewritten { .. } => match is_merged() {
            true => Believed::Both,
            false => Believed::Anchor,
        },
    }
}

/// Says whether a text comes from an earlier one as a merge makes it that keeps one side: the lines that it has of the earlier
/// one stand in their order, and all others were `recorded` on the other side. What somebody changed or made up was not.
pub fn is_merged(earlier: &str, now: &str, recorded: &HashSet<String>) -> bool {
    let has: HashSet<&str> = lines(now).collect();
    let kept: Vec<&str> = lines(earlier).filter(|line| has.contains(line)).collect();
    let is_in_order = !matches!(Growth::of(&kept.join("\n"), now), Growth::Rewritten { .. });
    let mut known = HashSet::new();
    let mut new = beyond(now, earlier);
    is_in_order && new.all(|line| recorded.contains(line) && known.insert(line))
}

/// Joins the wanted lines of an `other` text to a `text` that has them not, nor has its `beginning`, which is kept apart and
/// stays as it is. What stands there stays, byte for byte; each new line goes to the end, or before the lines that follow it
/// in the other text. Returns the text and how many lines are new; none if there is none.
pub fn joined(
    (beginning, text): (&str, &str),
    other: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Option<(String, usize)> {
    let old: Vec<&str> = text.split_inclusive('\n').collect();
    let mut places: HashMap<&str, usize> = lines(beginning).map(|line| (line, 0)).collect();
    for (place, line) in old.iter().enumerate() {
        places.entry(bare(line)).or_insert(place);
    }
    let mut new: Vec<(usize, &str)> = Vec::new();
    let (mut known, mut before) = (HashSet::new(), old.len());
    for line in lines(other).rev() {
        match places.get(line) {
            Some(place) => before = before.min(*place),
            None if known.insert(line) && is_wanted(line) => new.push((before, line)),
            None => {}
        }
    }
    let count = new.len();
    let mut joined = String::with_capacity(text.len() + other.len());
    for (place, line) in old.into_iter().map(Some).chain([None]).enumerate() {
        while let Some((_, line)) = new.pop_if(|(before, _)| *before <= place) {
            if !joined.is_empty() && !joined.ends_with('\n') {
                joined.push('\n');
            }
            joined.extend([line, "\n"]);
        }
        joined.push_str(line.unwrap_or_default());
    }
    (count > 0).then_some((joined, count))
}

/// Returns a text without the lines that an `other` text has, and how many these are; none if it has none of them. What stays is as
/// it was, byte for byte.
pub fn apart(text: &str, other: &str) -> Option<(String, usize)> {
    let known: HashSet<&str> = lines(other).collect();
    let is_own = |line: &&str| bare(line).is_empty() || !known.contains(bare(line));
    let (own, had): (Vec<&str>, Vec<&str>) = text.split_inclusive('\n').partition(is_own);
    (!had.is_empty()).then(|| (own.concat(), had.len()))
}

fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.lines().map(bare).filter(|line| !line.is_empty())
}

/// Returns a line without what does not count.
fn bare(line: &str) -> &str {
    line.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}')
}

/// Returns the lines of `one` for which `other` has no line left.
pub fn beyond<'a>(one: &'a str, other: &'a str) -> impl Iterator<Item = &'a str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in lines(other) {
        *left.entry(line).or_default() += 1;
    }
    lines(one).filter(move |line| match left.get_mut(line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        Some(_) | None => true,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_became_of_a_text_is_told_in_words() {
        let said = |earlier: &str, now: &str| Growth::of(earlier, now).in_words();
        assert_eq!(said("a\nb\n", "a\n\nb\n"), None);
        assert_eq!(said("a\n", "a\nb\n").as_deref(), Some("1 line more"));
        assert_eq!(said("a\n", "x\na\nb\n").as_deref(), Some("2 lines more"));
        assert_eq!(
            said("a\nb\n", "b\na\n").as_deref(),
            Some("its lines in another order")
        );
        assert_eq!(
            said("a\nb\nc\n", "a\nx\n").as_deref(),
            Some("2 lines missing, 1 in their place")
        );
    }

    #[test]
    fn lines_that_another_text_has_are_left_out_and_the_rest_stays_byte_for_byte() {
        for (text, other, expected) in [
            ("a\nb\n", "c\nd\n", None),
            ("a\n\nb\n", "\n", None),
            ("a\nb\nc\n", "a\nb\n", Some(("c\n", 2))),
            ("\u{feff}a\r\nb\r\n\nc", "x\na\n", Some(("b\r\n\nc", 1))),
            ("a\nb\na\n", "a\n", Some(("b\n", 2))),
            ("a\n", "a", Some(("", 1))),
        ] {
            let expected = expected.map(|(text, count)| (text.to_owned(), count));
            assert_eq!(apart(text, other), expected, "{text:?} {other:?}");
        }
    }

    #[test]
    fn what_became_of_a_text_is_told_line_by_line() {
        let rewritten = |missing, added| Growth::Rewritten { missing, added };
        for (earlier, now, expected) in [
            ("", "", Growth::Same),
            ("a\nb\n", "a\nb\n", Growth::Same),
            ("a\nb\n", "\u{feff}a\r\n\r\n b\r\n", Growth::Same),
            ("a\nb\n", "a\nb", Growth::Same),
            ("a\nb\n", "a\nb\nc\n", Growth::Added(1)),
            ("a\nb\n", "x\na\ny\nb\n", Growth::Added(2)),
            ("a\nb\n", "a\na\nb\n", Growth::Added(1)),
            ("a\nb\n", "a\nb\n{\"cy", Growth::Added(1)),
            ("", "a\n", Growth::Added(1)),
            ("a\nb\n", "b\n", rewritten(1, 0)),
            ("a\nb\n", "", rewritten(2, 0)),
            ("a\nb\n", "b\na\n", rewritten(0, 0)),
            ("a\nb\n", "a\nB\n", rewritten(1, 1)),
            ("a\na\n", "a\nb\n", rewritten(1, 1)),
        ] {
            assert_eq!(Growth::of(earlier, now), expected, "{earlier:?} {now:?}");
        }
    }

    #[test]
    fn a_text_that_was_cut_off_at_any_byte_has_lost_what_was_cut() {
        let whole = "{\"cycle\": 1}\n{\"cycle\": 2}\n";
        for cut in 0..whole.len() {
            let lines = whole.lines().count() - whole[..cut].lines().count();
            let is_torn = !whole[..cut].is_empty()
                && whole.as_bytes()[cut] != b'\n'
                && !whole[..cut].ends_with('\n');
            let torn = usize::from(is_torn);
            let expected = match lines + torn {
                0 => Growth::Same,
                missing => Growth::Rewritten {
                    missing,
                    added: torn,
                },
            };
            assert_eq!(Growth::of(whole, &whole[..cut]), expected, "{cut}");
        }
    }

    #[test]
    fn what_only_adds_is_believed_and_what_takes_away_is_not_unless_it_is_another_line_of_history()
    {
        let gone = Growth::Rewritten {
            missing: 1,
            added: 7,
        };
        for (growth, descends, is_merged, expected) in [
            (Growth::Same, true, true, Believed::Head),
            (Growth::Added(3), true, true, Believed::Head),
            (Growth::Added(3), false, false, Believed::Head),
            (gone, true, false, Believed::Anchor),
            (gone, true, true, Believed::Both),
            (gone, false, true, Believed::Head),
        ] {
            let found = rule(growth, descends, || is_merged);
            assert_eq!(found, expected, "{growth:?} {descends} {is_merged}");
        }
    }

    #[test]
    fn a_merge_keeps_lines_in_order_and_has_no_others_than_the_recorded_ones() {
        let recorded = HashSet::from(["x".to_owned(), "y".to_owned()]);
        for (now, expected) in [
            ("x\ny\n", true),
            ("a\nx\n", true),
            ("x\na\nc\n", true),
            ("", true),
            ("c\na\n", false),
            ("x\nforged\n", false),
            ("a\nB\nc\n", false),
            ("a\na\nx\n", false),
        ] {
            assert_eq!(is_merged("a\nb\nc\n", now, &recorded), expected, "{now:?}");
        }
    }

    #[test]
    fn lines_are_joined_where_they_belong_and_what_stands_there_stays_as_it_is() {
        for (beginning, text, other, expected) in [
            ("", "a\nb\n", "x\ny\n", Some(("a\nb\nx\ny\n", 2))),
            ("", "a\nb\n", "a\nx\ny\n", Some(("a\nb\nx\ny\n", 2))),
            ("", "a\nb\n", "a\nx\nb\ny", Some(("a\nx\nb\ny\n", 2))),
            ("", "a\r\n\n b", " x\r\nb\n", Some(("a\r\n\nx\n b", 1))),
            ("", "a\nb", "b\nx\n", Some(("a\nb\nx\n", 1))),
            ("a\n", "b\n", "a\nx\nx\n", Some(("b\nx\n", 1))),
            ("a\n", "b\n", "x\na\n", Some(("x\nb\n", 1))),
            ("", "", "x\n", Some(("x\n", 1))),
            ("", "a\nb\n", "b\na\n", None),
            ("a\n", "b\n", "a\nb\nforged\n", None),
        ] {
            let found = joined((beginning, text), other, |line| line != "forged");
            let expected = expected.map(|(text, count)| (text.to_owned(), count));
            assert_eq!(found, expected, "{beginning:?} {text:?} {other:?}");
        }
    }

    proptest! {
        #[test]
        fn two_branches_joined_have_all_lines_of_both_each_in_its_order(
            ours in prop::collection::btree_set(0_u8..20, 0..12),
            theirs in prop::collection::btree_set(0_u8..20, 0..12),
            cut in 0_usize..12,
        ) {
            let ours: Vec<String> = ours.iter().map(|line| format!("{line}\n")).collect();
            let theirs: String = theirs.iter().map(|line| format!("{line}\n")).collect();
            let cut = cut.min(ours.len());
            let (beginning, text) = (ours[..cut].concat(), ours[cut..].concat());
            let found = joined((&beginning, &text), &theirs, |_| true);
            let text = found.map_or(text, |(text, _)| text);
            for side in [&ours[cut..].concat(), &theirs] {
                let is_there = |line: &&str| !lines(&beginning).any(|known| known == *line);
                let side: Vec<&str> = lines(side).filter(is_there).collect();
                let growth = Growth::of(&side.join("\n"), &text);
                prop_assert!(!matches!(growth, Growth::Rewritten { .. }), "{} {}", growth.in_words().unwrap_or_default(), text);
            }
        }

        #[test]
        fn lines_put_in_anywhere_are_additions_and_any_line_taken_out_is_seen(
            mut lines in prop::collection::vec("[a-c]{1,2}", 1..12),
            at in any::<prop::sample::Index>(),
        ) {
            let earlier = lines.join("\n");
            let place = at.index(lines.len());
            lines.insert(place, "new".to_owned());
            prop_assert_eq!(Growth::of(&earlier, &lines.join("\n")), Growth::Added(1));
            lines.remove(place);
            lines.remove(place);
            let is_seen = matches!(Growth::of(&earlier, &lines.join("\n")), Growth::Rewritten { missing: 1, added: 0 });
            prop_assert!(is_seen);
        }
    }
}
