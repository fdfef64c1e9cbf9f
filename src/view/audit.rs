//! What an audit found, for people. Text with ANSI styles.

use crate::model::audit::{Audit, Disagreement};
use crate::model::text::{clean_line, count};
use crate::view::style::{BAD, FAINT, GOOD, ODD, paint};

/// Returns one line per disagreement, with its record and commit, the notes, and what was looked at.
pub fn page(audit: &Audit) -> String {
    let mut page = String::new();
    for one in &audit.disagreements {
        page.push_str(&disagreement(one));
    }
    for note in &audit.notes {
        page.push_str(&format!("{} {}\n", paint(ODD, "note:"), clean_line(note)));
    }
    let verdict = match audit.disagreements.len() {
        0 if audit.unmeasured.is_empty() => paint(GOOD, "everything agrees"),
        0 => paint(ODD, "nothing disagrees, as far as it could be measured"),
        found => paint(BAD, &count(found, "disagreement")),
    };
    let taken_back = match audit.taken_back {
        0 => String::new(),
        taken_back => format!(
            ", {} taken back by `evolve undo`",
            count(taken_back, "change")
        ),
    };
    page.push_str(&format!(
        "{verdict}: {}, {}, {}{taken_back} in {}",
        count(audit.records, "record"),
        count(audit.snapshots, "snapshot"),
        count(audit.undos, "undo"),
        count(audit.commits, "commit"),
    ));
    if !audit.remeasured.is_empty() {
        page.push_str(&format!(
            ", {} measured again",
            count(audit.remeasured.len(), "cycle")
        ));
    }
    if !audit.unmeasured.is_empty() {
        page.push_str(&format!(
            ", {} not measured again in full",
            count(audit.unmeasured.len(), "cycle")
        ));
    }
    page.push('\n');
    page
}

fn disagreement(one: &Disagreement) -> String {
    let cycle = one
        .cycle
        .map_or("history".to_owned(), |cycle| format!("cycle {cycle}"));
    let commit = one.commit.as_deref().map_or(String::new(), |commit| {
        let short: String = clean_line(commit).chars().take(10).collect();
        format!(" · {}", paint(FAINT, &short))
    });
    format!(
        "{}{commit} · {}\n",
        paint(BAD, &cycle),
        clean_line(&one.what)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_disagreement_names_record_commit_and_what_differs() {
        let mut audit = Audit {
            format: 1,
            head: "h".repeat(40),
            commits: 9,
            records: 3,
            snapshots: 5,
            undos: 1,
            taken_back: 0,
            remeasured: vec![3],
            unmeasured: Vec::new(),
            disagreements: vec![Disagreement {
                cycle: Some(2),
                commit: Some("c".repeat(40)),
                what: "the record was \u{1b}[2Jremoved".to_owned(),
            }],
            notes: vec!["this clone is shallow".to_owned()],
        };
        let plain = |audit: &Audit| anstream::adapter::strip_str(&page(audit)).to_string();
        let expected = "\
cycle 2 · cccccccccc · the record was removed
note: this clone is shallow
1 disagreement: 3 records, 5 snapshots, 1 undo in 9 commits, 1 cycle measured again
";
        assert_eq!(plain(&audit), expected);
        audit.disagreements.clear();
        audit.notes.clear();
        audit.remeasured.clear();
        assert_eq!(
            plain(&audit),
            "everything agrees: 3 records, 5 snapshots, 1 undo in 9 commits\n"
        );
        audit.unmeasured = vec![2, 3];
        assert_eq!(
            plain(&audit),
            "nothing disagrees, as far as it could be measured: 3 records, 5 snapshots, 1 undo in 9 commits, 2 cycles not measured again in full\n"
        );
        audit.unmeasured.clear();
        audit.taken_back = 2;
        assert_eq!(
            plain(&audit),
            "everything agrees: 3 records, 5 snapshots, 1 undo, 2 changes taken back by `evolve undo` in 9 commits\n"
        );
    }
}
