//! One cycle: what was tried and what became of it. Text with ANSI styles.

use crate::model::git::patch::{FileChange, Patch};
use crate::model::record::{BY_OTHERS, Record};
use crate::model::snapshot::{Measurement, Snapshot};
use crate::model::text::{clean, clean_line, count, cut, cut_at_word, duration};
use crate::model::usage::Usage;
use crate::view::style::{self, BAD, Cell, FAINT, GOOD, STRONG, columns, paint};
use crate::view::tables::{self, remarks, value};
use crate::view::width::{self, columns_folded, columns_within, cut_to, fitted, width_of};

/// How many lines of the brief are shown.
const BRIEF_LINES: usize = 30;
/// How many of the last lines of the agent's log are shown.
const LOG_LINES: usize = 20;
/// How much of a line of a log is shown where no terminal says so.
const LINE: usize = 200;
/// How wide the bars of the files are.
const BAR: usize = 20;

/// Everything that is known of one cycle.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Its record.
    pub record: &'a Record,
    /// Which cycle took its change back, in words, if one did.
    pub taken_back: Option<&'a str>,
    /// The snapshot before it.
    pub before: Option<&'a Snapshot>,
    /// The snapshot after it.
    pub after: Option<&'a Snapshot>,
    /// What it changed; the text of the patch is shown if there is any.
    pub patch: Option<&'a Patch>,
    /// The brief, and the file that it stands in.
    pub brief: Option<(&'a str, &'a str)>,
    /// The end of the agent's log, and the file that it stands in.
    pub log: Option<(&'a str, &'a str)>,
}

impl Page<'_> {
    /// Returns the page, within so many characters if there is a limit; a patch is as wide as it is.
    pub fn text(&self, width: Option<usize>) -> String {
        let mut page = width::page(&self.heading(), width);
        for fact in facts(self.record, self.before) {
            page.push_str(&fact_lines(&fact, width));
        }
        page.push_str(&goals(self.before, self.after, width));
        let after = self.after.into_iter();
        after.for_each(|after| page.push_str(&tables::outputs(after, width)));
        page.push_str(&papers(self.brief, self.log, self.patch, width));
        page
    }

    fn heading(&self) -> String {
        let record = self.record;
        let goal = record
            .goal_id
            .as_deref()
            .map_or(String::new(), |goal| format!(" · {}", clean_line(goal)));
        let result = paint(style::of_cycle(record.result), record.result.word());
        let cycle = paint(STRONG, &format!("cycle {}", record.cycle));
        let taken_back = self
            .taken_back
            .or(self.record.untold_fate())
            .map_or(String::new(), |words| format!(" · {words}"));
        format!("{cycle}{goal} · {result}{taken_back}\n")
    }
}

/// A text and the file that it is of.
type Paper<'a> = Option<(&'a str, &'a str)>;

/// Lays out what an agent was told and said last, each with its file, and what came of it.
pub(super) fn papers(
    brief: Paper<'_>,
    log: Paper<'_>,
    patch: Option<&Patch>,
    width: Option<usize>,
) -> String {
    let mut page = String::new();
    if let Some((text, file)) = brief {
        page.push_str(&heading("brief", file, width));
        page.push_str(&task_of(text, width));
    }
    if let Some((text, file)) = log {
        page.push_str(&heading("end of the agent's log", file, width));
        page.push_str(&end_of(text, width));
    }
    if let Some(patch) = patch {
        page.push_str(&files(patch, width));
        page.push_str(&painted(patch));
    }
    page
}

/// Lays out all of a text, with the file that it is of; what is too long for a line goes on below.
pub(super) fn whole(what: &str, (text, file): (&str, &str), width: Option<usize>) -> String {
    let mut page = heading(what, file, width);
    if text.trim().is_empty() {
        page.push_str(&block_line("it printed nothing", width));
    }
    for line in text.trim_end().lines() {
        let line = clean(line).replace(['\n', '\t'], " ");
        let (indent, words) = line.split_at(line.len() - line.trim_start_matches(' ').len());
        let room = width.map(|width| width.saturating_sub(4 + indent.len()).max(1));
        for piece in fitted(words, room) {
            page.push_str(format!("    {indent}{piece}").trim_end());
            page.push('\n');
        }
    }
    page
}

/// Returns what a block is, and the file that it is of, on a line of its own where both do not fit on one.
fn heading(what: &str, file: &str, width: Option<usize>) -> String {
    let file = clean_line(file);
    let is_short = width.is_none_or(|width| what.len() + 1 + file.chars().count() <= width);
    let file: Vec<String> = fitted(&file, width)
        .iter()
        .map(|line| paint(FAINT, line))
        .collect();
    let between = if is_short { ' ' } else { '\n' };
    format!("\n{what}{between}{}\n", file.join("\n"))
}

/// Returns a line of text as one of a block, cut where it is too long.
fn block_line(line: &str, width: Option<usize>) -> String {
    block_line_cut(line, width, cut)
}

fn block_line_cut(line: &str, width: Option<usize>, cut: fn(&str, usize) -> String) -> String {
    let room = width.unwrap_or(LINE).saturating_sub(4).max(1);
    let line = clean(line).replace(['\n', '\t'], " ");
    let line = format!("    {}", cut_to(&line, room, cut));
    format!("{}\n", line.trim_end())
}

/// Returns the part of a brief that says what is to be done, and how much of it is left out.
fn task_of(brief: &str, width: Option<usize>) -> String {
    let lines = brief.trim_end().lines();
    let lines: Vec<&str> = lines
        .skip_while(|line| line.starts_with("# ") || line.is_empty())
        .collect();
    let task = lines.iter().take_while(|line| !line.starts_with("## "));
    let mut shown: Vec<&str> = task.take(BRIEF_LINES).copied().collect();
    while shown.last().is_some_and(|line| line.is_empty()) {
        shown.pop();
    }
    let left_out = lines.len() - shown.len();
    let line = |line: &&str| block_line_cut(line, width, cut_at_word);
    let mut page: String = shown.iter().map(line).collect();
    if left_out > 0 {
        let words = format!("… and {} more in that file", count(left_out, "line"));
        page.push_str(&block_line(&words, width));
    }
    page
}

fn end_of(log: &str, width: Option<usize>) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LOG_LINES));
    match lines.is_empty() {
        true => block_line("it printed nothing", width),
        false => last.map(|line| block_line(line, width)).collect(),
    }
}

/// Returns the files that changed, each with its lines.
pub(super) fn files(patch: &Patch, width: Option<usize>) -> String {
    let (added, removed) = patch.lines();
    let most = patch
        .files
        .iter()
        .map(|file| file.added + file.removed)
        .max();
    let most = most.unwrap_or(0);
    let rows: Vec<Vec<Cell>> = patch
        .files
        .iter()
        .map(|file| file_row(file, most))
        .collect();
    let line = format!(
        "changed: {}, {} added, {removed} removed",
        count(patch.files.len(), "file"),
        count(added, "line"),
    );
    let line = fitted(&line, width).join("\n");
    format!("\n{line}\n{}", columns_within(&rows, width, &[3]))
}

fn file_row(file: &FileChange, most: usize) -> Vec<Cell> {
    let bar = |lines: usize, sign: &str| match most > BAR {
        true => sign.repeat((lines * BAR).div_ceil(most)),
        false => sign.repeat(lines),
    };
    let counted = match file.is_binary {
        true => "no text".to_owned(),
        false => (file.added + file.removed).to_string(),
    };
    vec![
        Cell::plain(clean_line(&file.path)),
        Cell(FAINT, counted),
        Cell(GOOD, bar(file.added, "+")),
        Cell(BAD, bar(file.removed, "-")),
    ]
}

/// Returns the text of a patch with its lines in colours.
pub(super) fn painted(patch: &Patch) -> String {
    let line = |line: &str| {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") => STRONG,
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@') => FAINT,
            Some(_) | None => style::PLAIN,
        };
        format!("{}\n", paint(style, &clean(line).replace('\n', " ")))
    };
    let mut text: String = patch.text.lines().map(line).collect();
    if !text.is_empty() {
        text.insert(0, '\n');
    }
    if patch.is_cut {
        text.push_str("the patch goes on\n");
    }
    text
}

/// Returns both snapshots side by side, the goals that changed first; where that is too wide, one below the other.
fn goals(before: Option<&Snapshot>, after: Option<&Snapshot>, width: Option<usize>) -> String {
    let pairs = pairs(before, after);
    if pairs.is_empty() {
        return String::new();
    }
    let is_pair = before.is_some() && after.is_some();
    let wide: Vec<Vec<Cell>> = pairs.iter().map(|pair| pair.row()).collect();
    let changed = pairs.iter().filter(|pair| pair.is_changed()).count();
    let heading = match is_pair {
        true => format!("goals, before and after; {changed} changed"),
        false => "goals".to_owned(),
    };
    if width.is_none_or(|width| width_of(&wide) <= width) {
        return format!("\n{heading}\n{}", columns(&wide));
    }
    let below: String = pairs.iter().map(|pair| pair.lines(width)).collect();
    format!("\n{heading}\n{below}")
}

/// A goal before and after a cycle.
struct Pair<'a> {
    before: Option<&'a Measurement>,
    after: Option<&'a Measurement>,
    /// There is a second snapshot to look into.
    has_after: bool,
    /// There is a first one.
    has_before: bool,
}

/// Returns all goals of both snapshots, those that changed first.
fn pairs<'a>(before: Option<&'a Snapshot>, after: Option<&'a Snapshot>) -> Vec<Pair<'a>> {
    let of = |snapshot: Option<&'a Snapshot>| snapshot.into_iter().flat_map(|one| &one.goals);
    let pair = |id: &str| Pair {
        before: before.and_then(|one| one.find(id)),
        after: after.and_then(|one| one.find(id)),
        has_after: after.is_some(),
        has_before: before.is_some(),
    };
    let is_gone = |goal: &&Measurement| after.is_some_and(|one| one.find(&goal.id).is_none());
    let now = if after.is_some() { after } else { before };
    let gone = of(before).filter(is_gone);
    let mut pairs: Vec<Pair<'a>> = of(now).chain(gone).map(|goal| pair(&goal.id)).collect();
    pairs.sort_by_key(|pair| !pair.is_changed());
    pairs
}

impl Pair<'_> {
    fn is_changed(&self) -> bool {
        let state = |goal: &Measurement| (goal.result, goal.value);
        self.has_after && self.has_before && self.before.map(state) != self.after.map(state)
    }

    fn id(&self) -> String {
        let goal = self.after.or(self.before);
        goal.map_or(String::new(), |goal| clean_line(&goal.id))
    }

    fn cells(goal: Option<&Measurement>, lack: &str) -> [Cell; 2] {
        match goal {
            Some(goal) => [style::mark(goal.result), Cell::plain(value(goal))],
            None => [Cell(FAINT, lack.to_owned()), Cell::plain("")],
        }
    }

    fn remarks(&self) -> String {
        self.after.or(self.before).map_or(String::new(), remarks)
    }

    fn row(&self) -> Vec<Cell> {
        let mut row = vec![Cell::plain(self.id())];
        if self.has_before {
            row.extend(Pair::cells(self.before, "new"));
        }
        if self.has_before && self.has_after {
            row.push(Cell::plain(if self.is_changed() { "→" } else { "" }));
        }
        if self.has_after {
            row.extend(Pair::cells(self.after, "gone"));
        }
        row.push(Cell::plain(self.remarks()));
        row
    }

    fn lines(&self, width: Option<usize>) -> String {
        let row = |when: &str, goal, lack| {
            let mut row = vec![Cell::plain(""), Cell(FAINT, when.to_owned())];
            row.extend(Pair::cells(goal, lack));
            row
        };
        let mut rows = Vec::new();
        if self.has_before {
            rows.push(row("  before", self.before, "new"));
        }
        if self.has_after {
            rows.push(row("  after", self.after, "gone"));
        }
        if let Some(last) = rows.last_mut() {
            last.push(Cell::plain(self.remarks()));
        }
        let id = cut_to(&self.id(), width.unwrap_or(LINE), cut);
        format!("{id}\n{}", columns_folded(&rows, width, &[]))
    }
}

/// Returns a fact as lines: what does not fit goes on below.
pub(super) fn fact_lines((name, fact): &(&str, String), width: Option<usize>) -> String {
    let room = width.map(|width| width.saturating_sub(FACTS).max(1));
    let mut lines = fitted(fact, room).into_iter();
    let first = lines.next().unwrap_or_default();
    let name = format!("{name:<FACTS$}");
    let mut text = format!("{}{first}\n", paint(FAINT, &name));
    for line in lines {
        text.push_str(&format!("{:FACTS$}{line}\n", ""));
    }
    text
}

/// How wide the names of facts are, with the blanks behind them.
const FACTS: usize = 15;

/// Returns what the record says, by name; what it does not say has none.
fn facts(record: &Record, before: Option<&Snapshot>) -> Vec<(&'static str, String)> {
    let (own, others) = record.passing_since(before);
    let list = |ids: &[String]| (!ids.is_empty()).then(|| ids.join(", "));
    let total = count(record.goals_total, "goal");
    let passing = format!(
        "{} of {total}{}",
        record.goals_passing,
        record.as_measured()
    );
    let added = (record.goals_added > 0).then(|| record.goals_added.to_string());
    let mut facts = vec![
        ("why", record.reason.clone()),
        ("score", Some(record.scores())),
        ("passing", Some(passing)),
        ("newly passing", list(&own)),
        (
            "passes since",
            list(&others).map(|ids| format!("{BY_OTHERS}{ids}")),
        ),
        ("newly failing", list(&record.newly_failing)),
        ("goals added", added),
        ("agent", record.agent.as_ref().map(|_| agent(record))),
        ("commit", Some(record.commit_words())),
        (
            match record.is_refused() {
                true => "stays at",
                false => "undone to",
            },
            undone_to(record),
        ),
        ("recorded", Some(record.timestamp.clone())),
        ("session", record.session.clone()),
    ];
    facts.extend(record.notes.iter().map(|note| ("note", Some(note.clone()))));
    facts
        .into_iter()
        .filter_map(|(name, fact)| Some((name, clean_line(&fact?))))
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
    if !record.is_undo() {
        line.push_str(&format!(", {}", usage.words()));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::snapshot::CheckResult;
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

    fn page<'a>(
        record: &'a Record,
        before: Option<&'a Snapshot>,
        after: Option<&'a Snapshot>,
    ) -> Page<'a> {
        Page {
            record,
            taken_back: None,
            before,
            after,
            patch: None,
            brief: None,
            log: None,
        }
    }

    #[test]
    fn one_cycle_is_shown_with_both_snapshots_the_goals_that_changed_first() {
        let before = snapshot(vec![
            measurement("same", CheckResult::Pass),
            measurement("coverage", CheckResult::Pass),
            measurement("old", CheckResult::Pass),
        ]);
        let after = snapshot(vec![
            measurement("same", CheckResult::Pass),
            failing(),
            measurement("added", CheckResult::Pass),
        ]);
        let record = record();
        let page = page(&record, Some(&before), Some(&after));
        let text = plain(&page.text(None));
        assert!(
            text.starts_with("cycle 3 · tests-pass · improved\nscore          61.5 → 92.3\n"),
            "{text}"
        );
        assert!(
            text.contains(
                "\nagent          claude: done after 3m 07s, exit 0, tokens and cost unknown\n"
            ),
            "{text}"
        );
        let goals = "\ngoals, before and after; 3 changed\n\
                     coverage  pass  →  FAIL  79.5 vs 80  79.5 is less than 80\n\
                     added     new   →  pass\n\
                     old       pass  →  gone\n\
                     same      pass     pass\n";
        assert!(text.contains(goals), "{text}");
        let narrow = plain(&page.text(Some(40)));
        let below =
            "\ncoverage\n  before  pass\n  after   FAIL  79.5 vs 80\n      79.5 is less than 80\n";
        assert!(narrow.contains(below), "{narrow}");
        let goals = narrow.split("\noutput of").next().unwrap_or_default();
        assert!(
            goals.lines().all(|line| line.chars().count() <= 40),
            "{goals}"
        );
    }

    #[test]
    fn an_undone_cycle_in_a_copy_says_that_the_branch_never_moved() {
        let in_a_copy = Record {
            reverted_to: Some(record().commit_sha),
            ..record()
        };
        let text = plain(&page(&in_a_copy, None, None).text(None));
        let words = ", where the branch still was: the change was in a copy only\n";
        assert!(text.contains(words), "{text}");
        assert!(
            text.contains("\nscore          measured 61.5 → 92.3, undone: back at 61.5\n"),
            "{text}"
        );
        assert!(
            text.contains("\npassing        12 of 13 goals (measured, not kept)\n"),
            "{text}"
        );
        assert!(!text.contains("goals,"), "{text}");
    }

    #[test]
    fn what_was_asked_for_what_was_said_and_what_changed_follow_cut_to_the_terminal() {
        let record = record();
        let file = |path: &str, added, removed| FileChange {
            path: path.to_owned(),
            added,
            removed,
            is_binary: false,
        };
        let patch = Patch {
            files: vec![file("src/a.rs", 30, 10), file("b\u{1b}[2J", 1, 0)],
            text: "--- a/b\n+++ b/b\n@@ -0,0 +1 @@\n+one\u{1b}[2J\n".to_owned(),
            is_cut: true,
        };
        let log: String = (1..=30).map(|line| format!("line {line}\n")).collect();
        let page = Page {
            patch: Some(&patch),
            brief: Some((
                "# Task\n\nDo it.\n\n## Rules\n\nNever.\n",
                "logs/s/3-brief.txt",
            )),
            log: Some((&log, "logs/s/3-agent.log")),
            ..page(&record, None, None)
        };
        let text = plain(&page.text(None));
        let end = "
brief logs/s/3-brief.txt
    Do it.
    … and 4 lines more in that file

end of the agent's log logs/s/3-agent.log
    line 11
";
        assert!(text.contains(end), "{text}");
        let end = "    line 30

changed: 2 files, 31 lines added, 10 removed
src/a.rs  40  +++++++++++++++  -----
b         1   +

--- a/b
+++ b/b
@@ -0,0 +1 @@
+one
the patch goes on
";
        assert!(text.ends_with(end), "{text}");
        let narrow = plain(&page.text(Some(40)));
        assert!(
            narrow.lines().all(|line| line.chars().count() <= 40),
            "{narrow}"
        );
    }
}
