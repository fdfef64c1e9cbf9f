//! One cycle: what was tried and what became of it. Text with ANSI styles.

use crate::model::record::Record;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text::{clean_line, duration};
use crate::model::usage::Usage;
use crate::view::history::scores;
use crate::view::style::{self, Cell, FAINT, STRONG, columns, paint};
use crate::view::tables::{output, remarks, value};

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

#[cfg(test)]
mod tests {
    use super::*;
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
}
