//! Items as people name them who close them by hand. Pure.

use serde::{Deserialize, Serialize};

use super::WorkItem;
use crate::error::{Error, Result};
use crate::model::text::clean_line;
use crate::model::{goals, mask};

/// How many letters of an item's id are shown.
pub const SHORT_ID: usize = 6;
/// How many letters are shown where several items begin alike.
const LONG_ID: usize = 12;
/// How many items are named that somebody may have meant.
const NAMED: usize = 10;
/// How much of a title a message shows, in characters.
const TITLE: usize = 60;

/// How a person closed an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Closed {
    /// It is done.
    Done,
    /// It is not to be done.
    Dropped,
}

impl Closed {
    /// Returns what is recorded as who did it.
    pub fn by(self) -> &'static str {
        match self {
            Closed::Done => "evolve work done",
            Closed::Dropped => "evolve work drop",
        }
    }

    /// Returns the word used in messages.
    pub fn word(self) -> &'static str {
        match self {
            Closed::Done => "done",
            Closed::Dropped => "dropped",
        }
    }
}

/// A person's word that an item is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closing {
    /// The item's id, in full.
    pub id: String,
    /// How it was closed.
    pub how: Closed,
    /// When, RFC 3339 in UTC.
    pub at: String,
}

/// Returns the item that a person means: by its title, by its id or how that begins, or by how the title begins. `closed` are
/// those that could have been meant and are off the queue already.
pub fn find<'a>(word: &str, open: &'a [WorkItem], closed: &[WorkItem]) -> Result<&'a WorkItem> {
    let typed = clean_line(word);
    let word = typed.to_lowercase();
    let begins = |item: &WorkItem| item.title.to_lowercase().starts_with(&word);
    let ways: [&dyn Fn(&WorkItem) -> bool; 3] = [
        &|item| item.title.to_lowercase() == word,
        &|item| item.id().starts_with(&word),
        &begins,
    ];
    for is_meant in ways.into_iter().filter(|_| !word.is_empty()) {
        let mut meant: Vec<&WorkItem> = Vec::new();
        for item in open.iter().filter(|item| is_meant(item)) {
            if meant.iter().all(|other| other.id() != item.id()) {
                meant.push(item);
            }
        }
        match meant.as_slice() {
            [] => {}
            [one] => return Ok(one),
            several => return Err(ambiguous(&typed, several)),
        }
        if let Some(item) = closed.iter().find(|item| is_meant(item)) {
            let by = item.consumed_by.as_deref();
            let how = match by == Some(Closed::Dropped.by()) {
                true => Closed::Dropped,
                false => Closed::Done,
            };
            let what = format!("{} is {} already", shown(&item.title), how.word());
            return Err(Error::usage(what).hint("`evolve work list` shows what is open"));
        }
    }
    Err(unknown(&typed, open))
}

fn shown(word: &str) -> String {
    mask::line(word, TITLE)
}

fn ambiguous(word: &str, several: &[&WorkItem]) -> Error {
    let count = several.len();
    let error = Error::usage(format!("{} could be any of {count} items", shown(word)));
    let named = several.iter().take(NAMED);
    let list: Vec<String> = named.map(|item| name(item, LONG_ID)).collect();
    error.hint(format!("write more of one of\n  {}", list.join("\n  ")))
}

fn unknown(word: &str, open: &[WorkItem]) -> Error {
    let error = Error::usage(format!("no open item is called {}", shown(word)));
    let ids: Vec<String> = open
        .iter()
        .map(|item| cut_id(&item.id(), SHORT_ID))
        .collect();
    let titles: Vec<String> = open.iter().map(|item| item.title.to_lowercase()).collect();
    let known: Vec<&str> = titles.iter().chain(&ids).map(String::as_str).collect();
    let near = goals::nearest(&word.to_lowercase(), &known).and_then(|near| {
        let is_near =
            |item: &&WorkItem| item.title.to_lowercase() == near || item.id().starts_with(near);
        open.iter().find(is_near)
    });
    match near {
        Some(item) => error.hint(format!("did you mean {}", name(item, SHORT_ID))),
        None => error.hint("`evolve work list` shows them"),
    }
}

fn cut_id(id: &str, letters: usize) -> String {
    id.chars().take(letters).collect()
}

fn name(item: &WorkItem, letters: usize) -> String {
    format!("{} ({})", cut_id(&item.id(), letters), shown(&item.title))
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::*;

    fn queue() -> Queue {
        Queue::parse(concat!(
            "{\"title\":\"Fix the parser\"}\n",
            "{\"title\":\"Fix the printer\"}\n",
            "{\"title\":\"fix the PARSER\",\"description\":\"the same once more\"}\n",
            "{\"title\":\"add\"}\n",
            "{\"title\":\"Old\",\"state\":\"consumed\"}\n",
        ))
    }

    fn found(word: &str) -> Result<String, (String, String)> {
        let (open, items) = (queue().open("x"), queue().items());
        let closed: Vec<WorkItem> = items.into_iter().filter(WorkItem::is_consumed).collect();
        find(word, &open, &closed)
            .map(|item| item.title.clone())
            .map_err(|error| (error.message, error.hints.join("\n")))
    }

    #[test]
    fn an_item_is_named_by_its_title_its_id_or_how_one_of_them_begins() {
        let items = queue().items();
        for (word, expected) in [
            ("fix  the printer", "Fix the printer"),
            ("Fix the pars", "Fix the parser"),
            (&items[1].id()[..SHORT_ID], "Fix the printer"),
            (&items[1].id(), "Fix the printer"),
            // Also where it could be an id.
            ("add", "add"),
        ] {
            assert_eq!(found(word), Ok(expected.to_owned()), "{word}");
        }
    }

    #[test]
    fn what_names_no_item_or_several_says_which_ones_may_be_meant() {
        let (message, hint) = found("fix").expect_err("two items");
        assert_eq!(message, "fix could be any of 2 items");
        let (message, _) = found("Fix The").expect_err("two items");
        assert_eq!(message, "Fix The could be any of 2 items");
        assert!(
            hint.contains("(Fix the parser)\n") && hint.contains("(Fix the printer)"),
            "{hint}"
        );
        let (message, hint) = found("fix the prniter").expect_err("no item");
        assert_eq!(message, "no open item is called fix the prniter");
        assert!(
            hint.starts_with("did you mean ") && hint.ends_with("(Fix the printer)"),
            "{hint}"
        );
        assert_eq!(found("Old").expect_err("done").0, "Old is done already");
        assert_eq!(
            found("").expect_err("nothing").1,
            "`evolve work list` shows them"
        );
    }

    #[test]
    fn a_closed_item_is_done_for_good_with_all_that_are_the_same() {
        let mut queue = queue();
        let closing = Closing {
            id: queue.items()[0].id(),
            how: Closed::Dropped,
            at: "2026-01-01T00:00:00Z".to_owned(),
        };
        let key = queue.items()[0].key;
        queue.claim(key, "evolve cycle 3", "t");
        assert_eq!(queue.close(&closing), 2);
        assert_eq!(queue.close(&closing), 0);
        queue.release(key);
        queue.fail(key, "t");
        let open: Vec<String> = queue.open("x").into_iter().map(|item| item.title).collect();
        assert_eq!(open, ["Fix the printer", "add"]);
        assert!(
            queue
                .to_text()
                .contains("\"consumed_by\":\"evolve work drop\"")
        );
    }

    #[test]
    fn nothing_is_done_before_it_came() {
        for (came, at, done) in [
            (
                "2026-01-01T00:00:05Z",
                "2026-01-01T00:00:02Z",
                "2026-01-01T00:00:05Z",
            ),
            (
                "2026-01-01T00:00:01Z",
                "2026-01-01T00:00:02Z",
                "2026-01-01T00:00:02Z",
            ),
            (
                "2026-01-01T01:00:01+01:00",
                "2026-01-01T00:00:02Z",
                "2026-01-01T00:00:02Z",
            ),
            ("once", "2026-01-01T00:00:02Z", "2026-01-01T00:00:02Z"),
        ] {
            let line = format!("{{\"title\":\"a\",\"timestamp\":\"{came}\"}}\n");
            let mut queue = Queue::parse(&line);
            let closing = Closing {
                id: queue.items()[0].id(),
                how: Closed::Done,
                at: at.to_owned(),
            };
            assert_eq!(queue.close(&closing), 1);
            let expected = format!("\"consumed_at\":\"{done}\"");
            assert!(queue.to_text().contains(&expected), "{}", queue.to_text());
        }
    }

    #[test]
    fn an_item_of_an_entry_is_closed_alone_until_all_are() {
        let mut queue =
            Queue::parse("{\"items\":[{\"title\":\"a\"},{\"title\":\"b\"}],\"consumed\":false}\n");
        for (index, is_whole) in [(0, false), (1, true)] {
            let closing = Closing {
                id: queue.items()[index].id(),
                how: Closed::Done,
                at: "t".to_owned(),
            };
            assert_eq!(queue.close(&closing), 1);
            assert_eq!(queue.to_text().contains("],\"consumed\":true"), is_whole);
        }
    }
}
