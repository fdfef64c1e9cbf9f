//! What is shown where a search asks a person. Pure.

use crate::model::search::lens;
use crate::model::search::lineage::Id;
use crate::model::text;

/// The longest name of a lens, in characters.
const NAME: usize = 20;

/// How a search stands between two generations.
#[derive(Clone, Debug)]
pub struct Stand<'a> {
    /// The generation that is done.
    pub done: u64,
    /// How many there are at most.
    pub of: u64,
    /// Generations without a new best, in a row.
    pub stale: u64,
    /// The attempts worth showing, the best first, the untouched code among them.
    pub rows: Vec<Row<'a>>,
}

/// One attempt.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Its number; 0 is the untouched code.
    pub id: Id,
    /// Its score.
    pub score: Option<f64>,
    /// How it was made.
    pub operator: &'a str,
    /// Through which lens.
    pub lens: &'a str,
    /// What it came to.
    pub ending: &'a str,
    /// Nothing is made from it any more, because somebody said so.
    pub is_pruned: bool,
}

/// Asks which files attempts may change.
pub fn files(proposed: &[String]) -> String {
    let proposed = proposed.join(" ");
    match proposed.is_empty() {
        true => "Which files may attempts change? ".to_owned(),
        false => format!(
            "Which files may attempts change? [{}] ",
            text::clean_line(&proposed)
        ),
    }
}

/// Shows how it stands.
pub fn stand(stand: &Stand<'_>) -> String {
    let stale = match stand.stale {
        0 => "with a new best".to_owned(),
        1 => "without a new best".to_owned(),
        stale => format!("the {stale} last without a new best"),
    };
    let mut page = format!(
        "generation {} of {} is done, {stale}\n",
        stand.done, stand.of
    );
    page.push_str(&format!(
        "{:>5}  {:>12}  {:<9}  {:<NAME$}  ending\n",
        "id", "score", "made", "lens"
    ));
    for row in &stand.rows {
        let score = row.score.map_or("-".to_owned(), text::number);
        let lens = text::cut(&text::clean_line(lens::name(row.lens)), NAME);
        let Row {
            id,
            operator,
            ending,
            ..
        } = row;
        let more = if row.is_pruned { ", pruned" } else { "" };
        let line = format!("{id:>5}  {score:>12}  {operator:<9}  {lens:<NAME$}  {ending}{more}");
        page.push_str(&format!("{}\n", line.trim_end()));
    }
    page
}

/// Asks how to go on.
pub fn next(generation: u64) -> String {
    format!(
        "generation {generation}: [c]ontinue, [d]iff of the winner, [a]djust, [s]top and keep, or the word discard? [c] "
    )
}
