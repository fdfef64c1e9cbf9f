use super::*;

fn finding(file: &str, line: u64, rule: &str, message: &str) -> Finding {
    Finding {
        file: file.to_owned(),
        line,
        rule: rule.to_owned(),
        message: message.to_owned(),
    }
}

fn batch(tool: &str, findings: Vec<Finding>) -> Batch {
    Batch {
        tool: tool.to_owned(),
        how: format!("{tool} --all"),
        kind: "bug".to_owned(),
        severity: Severity::Medium,
        findings,
        items: Vec::new(),
    }
}

/// Sweeps into the queue; returns the titles of what was queued.
fn sweep(batches: &[Batch], queue: &mut Queue) -> Vec<String> {
    let known = queue.findings();
    let lists = batches
        .iter()
        .map(|batch| items_of(batch, &known, &|_| true))
        .collect();
    let harvest = pick(lists, queue);
    let add = |item: NewItem| {
        let title = item.title.clone();
        assert!(queue.add(item, "2026-01-01T00:00:00Z"), "{title}");
        title
    };
    harvest.items.into_iter().map(add).collect()
}

#[test]
fn one_item_a_tool_and_file_with_the_worst_file_first() {
    let shell = batch(
        "shellcheck",
        vec![
            finding("a.sh", 9, "SC2034", "x appears unused."),
            finding("b.sh", 7, "SC2086", "Double quote."),
            finding("b.sh", 3, "SC2086", "Double quote."),
        ],
    );
    let items = items_of(&shell, &HashSet::new(), &|_| true);
    assert_eq!(
        items[0].title,
        "Mend 2 findings of shellcheck in b.sh (SC2086)"
    );
    assert_eq!(
        items[0].evidence,
        "b.sh:3: SC2086 Double quote.\nb.sh:7: SC2086 Double quote."
    );
    assert_eq!(items[0].source, "sweep:shellcheck");
    assert_eq!(
        items[1].title,
        "Mend a finding of shellcheck in a.sh (SC2034)"
    );
    assert_eq!(items.len(), 2);
}

#[test]
fn what_was_found_once_is_never_found_again() {
    let mut queue = Queue::default();
    let first = [batch(
        "ruff",
        vec![finding(
            "a.py",
            8,
            "F811",
            "Redefinition of `os` from line 1",
        )],
    )];
    assert_eq!(sweep(&first, &mut queue).len(), 1);
    // Lines moved, both the finding's and the one in its words.
    let moved = [batch(
        "ruff",
        vec![finding(
            "a.py",
            28,
            "F811",
            "Redefinition of `os` from line 21",
        )],
    )];
    assert_eq!(sweep(&moved, &mut queue), Vec::<String>::new());
    let key = queue.items()[0].key;
    for _ in 0..3 {
        queue.fail(key, "t");
    }
    assert_eq!(sweep(&moved, &mut queue), Vec::<String>::new());
    queue.consume(key, "me", "t");
    assert_eq!(sweep(&moved, &mut queue), Vec::<String>::new());
    let mut read_again = Queue::parse(&queue.to_text());
    assert_eq!(sweep(&moved, &mut read_again), Vec::<String>::new());
}

#[test]
fn something_else_in_the_same_file_is_new_even_with_the_same_title() {
    let mut queue = Queue::default();
    let of = |message| [batch("x", vec![finding("a", 1, "R1", message)])];
    assert_eq!(
        sweep(&of("one thing"), &mut queue),
        ["Mend a finding of x in a (R1)"]
    );
    assert_eq!(
        sweep(&of("another thing"), &mut queue),
        ["Mend a finding of x in a (R1) (2)"]
    );
    assert_eq!(sweep(&of("one thing"), &mut queue), Vec::<String>::new());
    let other_file = [batch("x", vec![finding("b", 1, "R1", "one thing")])];
    assert_eq!(sweep(&other_file, &mut queue).len(), 1);
}

#[test]
fn ten_items_a_sweep_fairly_shared_and_the_rest_later() {
    let files = |tool: &str, number: usize| {
        let one = |index| finding(&format!("{tool}/{index:02}"), 1, "R", "m");
        batch(tool, (0..number).map(one).collect())
    };
    let batches = [files("a", 20), files("b", 2)];
    let mut queue = Queue::default();
    let first = sweep(&batches, &mut queue);
    assert_eq!(first.len(), MOST_ITEMS);
    assert_eq!(first.iter().filter(|title| title.contains("b/")).count(), 2);
    assert_eq!(sweep(&batches, &mut queue).len(), MOST_ITEMS);
    assert_eq!(sweep(&batches, &mut queue).len(), 2);
    assert_eq!(sweep(&batches, &mut queue).len(), 0);
}

#[test]
fn the_worst_come_first() {
    let mut high = batch("b", vec![finding("b", 1, "", "m")]);
    high.severity = Severity::High;
    let batches = [batch("a", vec![finding("a", 1, "", "m")]), high];
    assert_eq!(
        sweep(&batches, &mut Queue::default()),
        ["Mend a finding of b in b", "Mend a finding of a in a"]
    );
}

#[test]
fn frozen_files_are_no_work() {
    let batch = batch("a", vec![finding("check.sh", 1, "", "m")]);
    assert_eq!(
        items_of(&batch, &HashSet::new(), &|path| path != "check.sh"),
        []
    );
}

#[test]
fn items_of_a_command_are_known_by_their_titles() {
    let mut own = batch("own", Vec::new());
    own.items.push(NewItem {
        title: "Mend  it".to_owned(),
        ..NewItem::default()
    });
    let mut queue = Queue::parse("{\"title\": \"mend IT\", \"consumed\": true}\n");
    assert_eq!(sweep(&[own.clone()], &mut queue), Vec::<String>::new());
    assert_eq!(
        sweep(&[own.clone(), own], &mut Queue::default()),
        ["Mend  it"]
    );
}

#[test]
fn a_file_with_very_many_findings_is_shown_in_part() {
    let one = |index| finding("a", index, "", &format!("finding n{index}"));
    let many = batch("x", (1..=600).map(one).collect());
    let items = items_of(&many, &HashSet::new(), &|_| true);
    assert_eq!(items[0].findings.len(), MOST_FINDINGS);
    assert_eq!(items[0].evidence.lines().count(), SHOWN + 1);
    let known = items[0].findings.iter().cloned().collect();
    assert_eq!(items_of(&many, &known, &|_| true)[0].findings.len(), 100);
}

#[test]
fn secrets_are_hidden() {
    let token = format!("ghp_{}", "a1".repeat(18));
    let found = batch(
        "gitleaks",
        vec![finding("a", 1, "", &format!("token {token}"))],
    );
    let item = &items_of(&found, &HashSet::new(), &|_| true)[0];
    assert_eq!(item.evidence, "a:1: token ***");
}

#[test]
fn markers_have_words_of_their_own() {
    let markers = Batch {
        kind: "tech-debt".to_owned(),
        severity: Severity::Low,
        ..batch(
            "markers",
            vec![
                finding("a.rs", 4, "TODO", "TODO: mend"),
                finding("a.rs", 9, "FIXME", "FIXME later"),
            ],
        )
    };
    let item = &items_of(&markers, &HashSet::new(), &|_| true)[0];
    assert_eq!(item.title, "Settle 2 markers in a.rs (FIXME, TODO)");
    assert_eq!(item.evidence, "a.rs:4: TODO: mend\na.rs:9: FIXME later");
}
