//! How a file that only ever grows stands to an earlier version of itself: what was added, what is gone. Pure.

use std::collections::HashMap;

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
                missing: lines_beyond(earlier, now),
                added: lines_beyond(now, earlier),
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
}

/// Decides between HEAD's version of a file and that of the last ledger. HEAD is believed as long as it only adds, as after
/// a pull or a merge. Where lines are gone, it depends on whether HEAD `descends` from the last ledger: if it does,
/// somebody took them out of it, and they are put back; if not, a person went to another line of history, which has a
/// ledger of its own.
pub fn rule(growth: Growth, descends: bool) -> Believed {
    match growth {
        Growth::Same | Growth::Added(_) => Believed::Head,
        Growth::Rewritten { .. } if descends => Believed::Anchor,
        Growth::Rewritten { .. } => Believed::Head,
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    let is_blank = |c: char| c.is_ascii_whitespace() || c == '\u{feff}';
    text.lines()
        .map(move |line| line.trim_matches(is_blank))
        .filter(|line| !line.is_empty())
}

/// Counts the lines of `one` for which `other` has no line left.
fn lines_beyond(one: &str, other: &str) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for line in lines(other) {
        *left.entry(line).or_default() += 1;
    }
    lines(one)
        .filter(|line| match left.get_mut(line) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            Some(_) | None => true,
        })
        .count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        for (growth, descends, expected) in [
            (Growth::Same, true, Believed::Head),
            (Growth::Added(3), true, Believed::Head),
            (Growth::Added(3), false, Believed::Head),
            (gone, true, Believed::Anchor),
            (gone, false, Believed::Head),
        ] {
            assert_eq!(rule(growth, descends), expected, "{growth:?} {descends}");
        }
    }

    proptest! {
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
