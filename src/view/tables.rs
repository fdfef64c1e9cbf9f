//! Answers that are asked for once: a measurement, the history, one cycle, the queue. Text with ANSI styles.

use crate::model::record::Record;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text::{against, clean, clean_line, cut, duration, number};
use crate::model::usage::Usage;
use crate::model::work::WorkItem;
use crate::view::style::{self, BAD, Cell, FAINT, ODD, STRONG, columns, paint};
use crate::view::width::columns_within;

/// How much of a reason a table shows, in characters.
const REASON: usize = 80;
/// How many items of the queue are shown.
const ITEMS_SHOWN: usize = 50;

/// Returns one line per goal in the file's order, the score, and the last output of each goal that fails.
pub fn measure_table(snapshot: &Snapshot) -> String {
    let rows: Vec<Vec<Cell>> = snapshot.goals.iter().map(goal_row).collect();
    let mut page = columns(&rows);
    let skipped = snapshot.with(CheckResult::Skip).count();
    page.push_str(&format!(
        "{}: {} of {} goals pass",
        paint(STRONG, &format!("score {}", number(snapshot.score))),
        snapshot.goals_passing,
        snapshot.goals_total
    ));
    if skipped > 0 {
        page.push_str(&format!(", {skipped} skipped"));
    }
    page.push('\n');
    for goal in snapshot.with(CheckResult::Fail) {
        page.push_str(&output(goal));
    }
    page
}

fn goal_row(goal: &Measurement) -> Vec<Cell> {
    vec![
        style::mark(goal.result),
        Cell::plain(clean_line(&goal.id)),
        Cell::plain(value(goal)),
        Cell(FAINT, duration(goal.duration_s)),
        Cell::plain(remarks(goal)),
    ]
}

fn value(goal: &Measurement) -> String {
    match (goal.value, goal.threshold) {
        (Some(value), Some(threshold)) => against(value, threshold),
        (Some(value), None) => number(value),
        (None, Some(threshold)) => format!("– vs {}", number(threshold)),
        (None, None) => String::new(),
    }
}

fn remarks(goal: &Measurement) -> String {
    let mut remarks: Vec<String> = goal.reason.as_deref().map(clean_line).into_iter().collect();
    if goal.flaky {
        remarks.push("flaky".to_owned());
    }
    if goal.tolerated {
        remarks.push("within its tolerance".to_owned());
    }
    remarks.join(", ")
}

fn output(goal: &Measurement) -> String {
    let tail = goal.output_tail.as_deref().map(clean).unwrap_or_default();
    if tail.trim().is_empty() {
        return String::new();
    }
    let mut part = format!("\noutput of {}\n", paint(BAD, &clean_line(&goal.id)));
    for line in tail.trim_matches('\n').lines() {
        part.push_str(format!("    {line}").trim_end());
        part.push('\n');
    }
    part
}

/// Where in the history's table commit, time and number of passing goals stand: what a narrow terminal can do without.
const SPARE: [usize; 3] = [5, 6, 4];

/// Returns one line per cycle, oldest first, within so many characters if there is a limit.
pub fn history_table(records: &[Record], width: Option<usize>) -> String {
    if records.is_empty() {
        return "no cycles yet\n".to_owned();
    }
    let names = [
        "cycle", "result", "goal", "score", "passing", "commit", "recorded", "why",
    ];
    let heading = names.map(|name| Cell(FAINT, name.to_owned())).to_vec();
    let rows: Vec<Vec<Cell>> = std::iter::once(heading)
        .chain(records.iter().map(record_row))
        .collect();
    columns_within(&rows, width, &SPARE)
}

fn record_row(record: &Record) -> Vec<Cell> {
    vec![
        Cell(STRONG, record.cycle.to_string()),
        Cell(
            style::of_cycle(record.result),
            record.result.word().to_owned(),
        ),
        Cell::plain(record.goal_id.as_deref().map_or("–".to_owned(), clean_line)),
        Cell::plain(scores(record)),
        Cell::plain(format!(
            "{} of {}",
            record.goals_passing, record.goals_total
        )),
        Cell(FAINT, short(&record.commit_sha)),
        Cell(FAINT, clean_line(&record.timestamp)),
        Cell::plain(
            record
                .reason
                .as_deref()
                .map_or(String::new(), |reason| cut(&clean_line(reason), REASON)),
        ),
    ]
}

fn scores(record: &Record) -> String {
    match (record.score_before, record.score_after) {
        (Some(before), Some(after)) if before.to_bits() != after.to_bits() => {
            format!("{} → {}", number(before), number(after))
        }
        (Some(only), Some(_) | None) | (None, Some(only)) => number(only),
        (None, None) => "–".to_owned(),
    }
}

fn short(commit: &str) -> String {
    clean_line(commit).chars().take(10).collect()
}

/// Returns everything known of one cycle; the snapshots add the goals that it changed.
pub fn show_record(record: &Record, before: Option<&Snapshot>, after: Option<&Snapshot>) -> String {
    let goal = record
        .goal_id
        .as_deref()
        .map_or(String::new(), |goal| format!(" · {}", clean_line(goal)));
    let result = paint(style::of_cycle(record.result), record.result.word());
    let mut page = format!(
        "{}{goal} · {result}\n",
        paint(STRONG, &format!("cycle {}", record.cycle))
    );
    page.push_str(&columns(&facts(record)));
    if let (Some(before), Some(after)) = (before, after) {
        let rows: Vec<Vec<Cell>> = after
            .goals
            .iter()
            .filter_map(|goal| change_row(before, goal))
            .collect();
        if !rows.is_empty() {
            page.push_str(&format!("\ngoals that changed\n{}", columns(&rows)));
        }
    }
    for goal in after
        .into_iter()
        .flat_map(|after| after.with(CheckResult::Fail))
    {
        page.push_str(&output(goal));
    }
    page
}

/// Returns what the record says, a line each; what it does not say has none.
fn facts(record: &Record) -> Vec<Vec<Cell>> {
    let list = |ids: &[String]| (!ids.is_empty()).then(|| ids.join(", "));
    let passing = format!("{} of {} goals", record.goals_passing, record.goals_total);
    let added = (record.goals_added > 0).then(|| record.goals_added.to_string());
    let mut facts = vec![
        ("why", record.reason.clone()),
        ("score", Some(scores(record))),
        ("passing", Some(passing)),
        ("newly passing", list(&record.newly_passing)),
        ("newly failing", list(&record.newly_failing)),
        ("goals added", added),
        ("agent", record.agent.as_ref().map(|_| agent(record))),
        ("commit", Some(record.commit_sha.clone())),
        ("undone to", undone_to(record)),
        ("recorded", Some(record.timestamp.clone())),
        ("session", record.session.clone()),
    ];
    facts.extend(record.notes.iter().map(|note| ("note", Some(note.clone()))));
    facts
        .into_iter()
        .filter_map(|(name, fact)| {
            Some(vec![
                Cell(FAINT, name.to_owned()),
                Cell::plain(clean_line(&fact?)),
            ])
        })
        .collect()
}

/// Returns the commit that an undo went back to. One in a copy of its own left the branch where it was.
fn undone_to(record: &Record) -> Option<String> {
    let start = record.reverted_to.as_ref()?;
    Some(match *start == record.commit_sha {
        true => format!("{start}, where the branch still was: the change was in a copy only"),
        false => start.clone(),
    })
}

fn agent(record: &Record) -> String {
    let Some(agent) = &record.agent else {
        return String::new();
    };
    let mut line = format!(
        "{}: {} after {}",
        agent.name,
        agent.status,
        duration(agent.duration_s)
    );
    if let Some(exit) = agent.exit {
        line.push_str(&format!(", exit {exit}"));
    }
    let usage = Usage {
        tokens: agent.tokens,
        cost_usd: agent.cost_usd,
    };
    line.push_str(&format!(", {}", usage.words()));
    line
}

/// Returns the row of a goal whose result or value is not what it was.
fn change_row(before: &Snapshot, goal: &Measurement) -> Option<Vec<Cell>> {
    let earlier = before.find(&goal.id);
    if earlier.is_some_and(|earlier| earlier.result == goal.result && earlier.value == goal.value) {
        return None;
    }
    let was = earlier.map_or(Cell(FAINT, "new".to_owned()), |earlier| {
        style::mark(earlier.result)
    });
    Some(vec![
        Cell::plain(clean_line(&goal.id)),
        was,
        Cell::plain(earlier.map(value).unwrap_or_default()),
        Cell::plain("→"),
        style::mark(goal.result),
        Cell::plain(value(goal)),
        Cell::plain(remarks(goal)),
    ])
}

/// Returns the queue of this repository: what is open in the order in which it will be worked on, then what is set aside.
pub fn work_table(open: &[WorkItem], set_aside: &[WorkItem]) -> String {
    if open.is_empty() && set_aside.is_empty() {
        return "no open work\n".to_owned();
    }
    let all = open.iter().chain(set_aside);
    let rows: Vec<Vec<Cell>> = all.take(ITEMS_SHOWN).map(work_row).collect();
    let mut table = columns(&rows);
    let more = (open.len() + set_aside.len()).saturating_sub(ITEMS_SHOWN);
    if more > 0 {
        table.push_str(&format!("and {more} more\n"));
    }
    table
}

fn work_row(item: &WorkItem) -> Vec<Cell> {
    let state = if item.is_set_aside() {
        format!("set aside after {} failures", item.failures)
    } else if item.failures > 0 {
        format!("failed {}×", item.failures)
    } else {
        String::new()
    };
    vec![
        Cell::plain(format!("[{}]", item.severity.word())),
        Cell(STRONG, clean_line(&item.title)),
        Cell::plain(
            item.kind
                .as_deref()
                .map_or(String::new(), |kind| format!("({})", clean_line(kind))),
        ),
        Cell(ODD, state),
        Cell(
            FAINT,
            item.source.as_deref().map_or(String::new(), clean_line),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::record::CycleResult;
    use crate::model::work::Queue;
    use crate::view::samples::{measurement, record, snapshot};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn failing() -> Measurement {
        Measurement {
            value: Some(79.5),
            threshold: Some(80.0),
            reason: Some("79.5 is less than 80".to_owned()),
            output_tail: Some("\nline 1\u{1b}[31m\r\n  line 2\n".to_owned()),
            ..measurement("coverage", CheckResult::Fail)
        }
    }

    #[test]
    fn a_measurement_shows_each_goal_then_the_score_then_why() {
        let skipped = Measurement {
            reason: Some("shellcheck: not found".to_owned()),
            ..measurement("sh", CheckResult::Skip)
        };
        let goals = vec![
            measurement("tests-pass", CheckResult::Pass),
            failing(),
            skipped,
        ];
        let expected = "\
pass  tests-pass              0.3 s
FAIL  coverage    79.5 vs 80  0.3 s  79.5 is less than 80
skip  sh                      0.3 s  shellcheck: not found
score 33.33: 1 of 3 goals pass, 1 skipped

output of coverage
    line 1
      line 2
";
        assert_eq!(plain(&measure_table(&snapshot(goals))), expected);
    }

    #[test]
    fn the_history_is_one_line_per_cycle() {
        let idle = Record {
            cycle: 4,
            result: CycleResult::Idle,
            goal_id: None,
            reason: Some("nothing to do".to_owned()),
            score_after: None,
            ..record()
        };
        let expected = "\
cycle  result    goal        score        passing   commit      recorded              why
3      improved  tests-pass  61.5 → 92.3  12 of 13  aaaaaaaaaa  2026-02-11T21:00:00Z
4      idle      –           61.5         12 of 13  aaaaaaaaaa  2026-02-11T21:00:00Z  nothing to do
";
        assert_eq!(
            plain(&history_table(&[record(), idle.clone()], None)),
            expected
        );
        let narrow = "\
cycle  result    goal        score        passing   why
3      improved  tests-pass  61.5 → 92.3  12 of 13
4      idle      –           61.5         12 of 13  nothing to do
";
        let narrow_table = plain(&history_table(&[record(), idle.clone()], Some(80)));
        assert_eq!(narrow_table, narrow);
        assert_eq!(history_table(&[], None), "no cycles yet\n");
    }

    #[test]
    fn one_cycle_is_shown_with_the_goals_it_changed() {
        let before = snapshot(vec![
            measurement("same", CheckResult::Pass),
            measurement("coverage", CheckResult::Pass),
        ]);
        let after = snapshot(vec![
            measurement("same", CheckResult::Pass),
            failing(),
            measurement("added", CheckResult::Pass),
        ]);
        let page = plain(&show_record(&record(), Some(&before), Some(&after)));
        assert!(
            page.starts_with("cycle 3 · tests-pass · improved\nscore          61.5 → 92.3\n"),
            "{page}"
        );
        assert!(
            page.contains(
                "\nagent          claude: done after 3m 07s, exit 0, tokens and cost unknown\n"
            ),
            "{page}"
        );
        let changed = "\ngoals that changed\n\
                       coverage  pass  →  FAIL  79.5 vs 80  79.5 is less than 80\n\
                       added     new   →  pass\n";
        assert!(page.contains(changed), "{page}");
        assert!(!page.contains("same"), "{page}");
        assert!(plain(&show_record(&record(), None, None)).contains("commit "));
        let in_a_copy = Record {
            reverted_to: Some(record().commit_sha),
            ..record()
        };
        let page = plain(&show_record(&in_a_copy, None, None));
        let words = ", where the branch still was: the change was in a copy only\n";
        assert!(page.contains(words), "{page}");
    }

    #[test]
    fn the_queue_is_shown_in_its_order() {
        let queue = Queue::parse(concat!(
            "{\"title\":\"tidy\\u001b[2J\",\"severity\":\"low\",\"type\":\"debt\"}\n",
            "{\"title\":\"fix\",\"severity\":\"high\",\"failures\":4,\"source\":\"sweep\"}\n",
        ));
        let expected = "\
[low]   tidy  (debt)
[high]  fix           set aside after 4 failures  sweep
";
        let table = work_table(&queue.open("x"), &queue.set_aside("x"));
        assert_eq!(plain(&table), expected);
        assert_eq!(work_table(&[], &[]), "no open work\n");
    }
}
