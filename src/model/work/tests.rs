//! What the queue promises to the other programs that use its file.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const AT: &str = "2026-02-11T21:00:00Z";

const ENTRY: &str = r#"{"source_epic":"ag-1","timestamp":"t","target_repo":"here","items":[{"title":"One","type":"bug","severity":"high","odd":{"b":1,"a":2}},{"title":"Two","severity":"low","target_repo":"*"}],"consumed":false,"consumed_by":null,"later":1}"#;

fn titles(items: &[WorkItem]) -> Vec<&str> {
    items.iter().map(|item| item.title.as_str()).collect()
}

fn item(title: &str) -> NewItem {
    NewItem {
        title: title.to_owned(),
        kind: "bug".to_owned(),
        severity: Severity::High,
        source: "sweep".to_owned(),
        ..NewItem::default()
    }
}

#[test]
fn entries_and_flat_lines_are_read_alike() {
    let queue = Queue::parse(&format!(
        "{ENTRY}\n{{\"title\":\"Three\",\"severity\":\"Moderate\"}}\n"
    ));
    let items = queue.items();
    assert_eq!(titles(&items), ["One", "Two", "Three"]);
    assert_eq!(items[0].target_repo.as_deref(), Some("here"));
    assert_eq!(items[1].target_repo.as_deref(), Some("*"));
    assert_eq!(items[2].severity, Severity::Medium);
    assert_eq!(
        items[0].key,
        Key {
            line: 0,
            item: Some(0)
        }
    );
    assert_eq!(
        items[2].key,
        Key {
            line: 1,
            item: None
        }
    );
    assert!(queue.problems().is_empty());
}

#[test]
fn only_this_repositorys_items_are_open() {
    let queue = Queue::parse(ENTRY);
    assert_eq!(titles(&queue.open("here")), ["One", "Two"]);
    assert_eq!(titles(&queue.open("there")), ["Two"]);
}

#[test]
fn the_worst_goes_first_and_what_failed_goes_last() {
    let queue = Queue::parse(concat!(
        "{\"title\":\"unsaid\"}\n",
        "{\"title\":\"low\",\"severity\":\"low\"}\n",
        "{\"title\":\"tried\",\"severity\":\"critical\",\"failures\":2}\n",
        "{\"title\":\"given up\",\"severity\":\"critical\",\"failures\":3}\n",
        "{\"title\":\"high a\",\"severity\":\"HIGH\"}\n",
        "{\"title\":\"high b\",\"severity\":\"high\"}\n",
        "{\"title\":\"done\",\"severity\":\"critical\",\"consumed\":true}\n",
        "{\"title\":\"left\",\"severity\":\"critical\",\"state\":\"in_progress\",\"claimed_by\":\"dead\"}\n",
    ));
    let order = ["left", "high a", "high b", "low", "unsaid", "tried"];
    assert_eq!(titles(&queue.open("x")), order);
    assert_eq!(queue.next("x").expect("an item").title, "left");
    assert_eq!(titles(&queue.set_aside("x")), ["given up"]);
    let counts = Counts {
        open: 6,
        set_aside: 1,
        consumed: 1,
        ..Counts::default()
    };
    assert_eq!(queue.counts("x", &TakenBack::default()), counts);
}

#[test]
fn a_change_touches_its_line_alone_and_keeps_unknown_keys_in_order() {
    let other = "{ \"title\" : \"Other\" , \"x\":1.50 }";
    let mut queue = Queue::parse(&format!("\u{feff}{ENTRY}\r\n{other}\r\nnonsense"));
    queue.claim(
        Key {
            line: 0,
            item: Some(0),
        },
        "s-1",
        AT,
    );
    let text = queue.to_text();
    let first = format!(
        "\u{feff}{}\r\n",
        ENTRY.replace(
            r#""a":2}}"#,
            r#""a":2},"state":"in_progress","claimed_by":"s-1","claimed_at":"2026-02-11T21:00:00Z"}"#
        )
    );
    assert_eq!(text, format!("{first}{other}\r\nnonsense"));
    queue.release(Key {
        line: 0,
        item: Some(0),
    });
    assert!(queue.to_text().contains(r#""a":2},"state":"available"},"#));
}

#[test]
fn a_failure_is_counted_and_the_claim_removed() {
    let mut queue = Queue::parse("{\"title\":\"a\",\"z\":0}\n");
    let key = Key {
        line: 0,
        item: None,
    };
    for _ in 0..3 {
        queue.claim(key, "s", AT);
        queue.fail(key, AT);
    }
    let item = &queue.items()[0];
    assert_eq!((item.failures, item.state), (3, State::Available));
    assert_eq!(item.claimed_by, None);
    assert!(item.is_set_aside() && queue.next("x").is_none());
}

#[test]
fn an_entry_is_consumed_with_its_last_item() {
    let mut queue = Queue::parse(ENTRY);
    queue.consume(
        Key {
            line: 0,
            item: Some(0),
        },
        "s",
        AT,
    );
    let value: Value = serde_json::from_str(&queue.to_text()).expect("JSON");
    assert_eq!(value["consumed"], false);
    assert_eq!(value["items"][0]["state"], "consumed");
    queue.consume(
        Key {
            line: 0,
            item: Some(1),
        },
        "s",
        AT,
    );
    let value: Value = serde_json::from_str(&queue.to_text()).expect("JSON");
    assert_eq!(value["consumed"], true);
    assert_eq!(value["consumed_by"], "s");
    assert_eq!(value["consumed_at"], AT);
    assert_eq!(value["later"], 1);
    assert!(queue.open("here").is_empty());
}

#[test]
fn a_consumed_flat_line_says_so_to_older_readers() {
    let mut queue = Queue::default();
    assert!(queue.add(item("a"), AT));
    queue.consume(
        Key {
            line: 0,
            item: None,
        },
        "s",
        AT,
    );
    let value: Value = serde_json::from_str(&queue.to_text()).expect("JSON");
    assert_eq!(
        (&value["consumed"], &value["state"]),
        (&json!(true), &json!("consumed"))
    );
    assert!(!queue.add(item(" A\n"), AT), "a consumed title came back");
}

#[test]
fn a_title_is_added_once_for_each_target() {
    let mut queue = Queue::parse(ENTRY);
    assert!(!queue.add(item("two"), AT));
    assert!(
        queue.add(item("one"), AT),
        "the known one is for `here` alone"
    );
    let there = NewItem {
        target_repo: Some("there".to_owned()),
        ..item("One")
    };
    assert!(queue.add(there, AT));
    assert!(
        queue
            .to_text()
            .starts_with(&format!("{ENTRY}\n{{\"title\":\"one\""))
    );
    assert!(queue.to_text().ends_with("\"consumed\":false}\n"));
}

#[test]
fn lines_that_cannot_be_understood_are_named_and_kept() {
    let text = concat!(
        "<<<<<<< HEAD\n",
        "{\"title\":1}\n",
        "\n",
        "{\"items\":{}}\n",
        "[1]\r\n",
        "{\"items\":[{\"title\":\"\"},3,{\"title\":\"x\",\"state\":\"done\"}]}\n",
        "{\"a\":1}\n",
        "{\"title\":\"a\",\"title\":\"b\"}\n",
        "{\"title\":",
    );
    let queue = Queue::parse(text);
    let problems = queue.problems();
    let numbers: Vec<&str> = problems
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    let expected = [
        "line 1",
        "line 2",
        "line 4",
        "line 5",
        "line 6, item 1",
        "line 6, item 2",
        "line 6, item 3",
        "line 7",
        "line 9",
    ];
    assert_eq!(numbers, expected);
    assert_eq!(titles(&queue.open("x")), ["x", "b"]);
    assert_eq!(queue.to_text(), text);
}

#[test]
fn a_state_that_is_not_known_is_told_in_clean_words_and_cut() {
    let state = format!("con\u{7f}\u{202e}{}", "x".repeat(500));
    let queue = Queue::parse(&format!("{{\"title\":\"t\",\"state\":\"{state}\"}}\n"));
    let problems = queue.problems();
    assert!(
        problems[0].starts_with("line 1: state \"conxxx"),
        "{problems:?}"
    );
    assert!(problems[0].len() < 150, "{problems:?}");
}

#[test]
fn found_work_is_reset_cut_and_bounded() {
    let text = format!(
        "{}\n{}\nplain words\n{}\n{}\n",
        json!({"title": "x".repeat(300), "state": "consumed", "consumed": true, "claimed_by": "me", "odd": 1}),
        json!({"target_repo": "there", "items": [{"title": "b\u{1b}[31m\nc", "failures": 9, "evidence": "log"}]}),
        json!({"title": "b c", "target_repo": "there"}),
        json!({"title": "one too many"}),
    );
    let mut queue = Queue::default();
    let (added, problems) = queue.take_found(&text, "cycle 3", AT, 2);
    assert_eq!(added, 2);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("line 3: not JSON"));
    let items = queue.items();
    assert_eq!(items[0].title.chars().count(), 200);
    assert_eq!(items[1].title, "b c");
    assert_eq!(items[1].target_repo.as_deref(), Some("there"));
    assert_eq!(items[1].evidence.as_deref(), Some("log"));
    for item in items {
        assert_eq!(
            (item.state, item.failures, item.claimed_by),
            (State::Available, 0, None)
        );
        assert_eq!(item.source.as_deref(), Some("cycle 3"));
    }
    assert!(!queue.to_text().contains("odd"));
}

#[test]
fn lines_that_somebody_added_are_taken_over_and_their_edits_are_not() {
    let mut queue = Queue::parse(&format!("{ENTRY}\n{{\"title\":\"Kept\"}}\n"));
    let key = Key {
        line: 0,
        item: Some(0),
    };
    queue.claim(key, "s", AT);
    let claimed = queue.to_text();
    let tampered = ENTRY.replace("\"consumed\":false", "\"consumed\":true");
    let grown = r#"{"items":[{"title":"one","target_repo":"here"},{"title":"Fresh"}]}"#;
    let now = format!("{tampered}\r\n{{\"title\":\"New\"}}\r\n{grown}\n{{\"title\":\"new\"}}\nhm");
    assert_eq!(queue.merge_from(&now), 3);
    let expected =
        format!("{claimed}{{\"title\":\"New\"}}\r\n{{\"items\":[{{\"title\":\"Fresh\"}}]}}\nhm\n");
    assert_eq!(queue.to_text(), expected);
    assert_eq!(queue.merge_from(&now), 0);
    assert_eq!(queue.merge_from(""), 0);
}

#[test]
fn where_found_work_came_from_is_told_without_secrets() {
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    let mut queue = Queue::parse("");
    let appeared = format!("{{\"title\":\"one\",\"source\":\"{token}\"}}\n");
    queue.take_appeared(&appeared, 1, AT, 9);
    assert_eq!(queue.items().len(), 1);
    assert!(!queue.to_text().contains("ghp_"), "{}", queue.to_text());
}

#[test]
fn what_this_program_wrote_is_no_new_line_whatever_else_stands_in_it() {
    let entry = r#"{"items":[{"title":"one"},{"note":"no item"}]}"#;
    let mut queue = Queue::parse(&format!("{entry}\n"));
    let first = queue.items()[0].key;
    queue.claim(first, "s", AT);
    let claimed = queue.to_text();
    assert_eq!(queue.merge_from(&claimed), 0);
    assert_eq!(queue.to_text(), claimed);
    // The file is behind memory then.
    queue.fail(first, AT);
    assert_eq!(queue.merge_from(&claimed), 0);
    let added = r#"{"items":[{"title":"one"},{"title":"two"},5]}"#;
    assert_eq!(queue.merge_from(&format!("{claimed}{added}\n")), 1);
    let written = queue.to_text();
    let two = queue.items()[1].key;
    queue.claim(two, "s", AT);
    assert_eq!(queue.merge_from(&written), 0);
    queue.consume(two, "s", AT);
    assert_eq!(queue.merge_from(&written), 0);
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        ".*",
        Just(ENTRY.to_owned()),
        "[ \t\r\u{feff}]{0,3}",
        "[{}\\[\\]\":,a-c0-9\r]{0,12}",
        Just("{\"title\":\"t\",\"state\":\"x\"}\r".to_owned()),
    ]
}

proptest! {
    #[test]
    fn any_text_is_written_back_as_it_was_read(lines in proptest::collection::vec(line(), 0..6)) {
        let text = lines.join("\n");
        let queue = Queue::parse(&text);
        prop_assert_eq!(queue.to_text(), text);
        queue.problems();
    }

    #[test]
    fn what_is_added_can_be_read_again(lines in proptest::collection::vec(line(), 0..4), title in "\\PC{1,9}") {
        let mut queue = Queue::parse(&lines.join("\n"));
        let before = queue.items().len();
        if queue.add(item(&title), AT) {
            prop_assert_eq!(Queue::parse(&queue.to_text()).items().len(), before + 1);
        }
    }
}
