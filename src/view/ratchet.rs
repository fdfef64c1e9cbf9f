//! What becomes of thresholds, as a table. Text with ANSI styles.

use crate::model::goals::Direction;
use crate::model::ratchet::Notch;
use crate::model::text::{clean_line, number, some_of};
use crate::view::style::{Cell, FAINT, GOOD, ODD, STRONG, paint};
use crate::view::width::columns_folded;

/// Where in the table the headroom stands: what a narrow terminal can do without.
const SPARE: [usize; 1] = [4];

/// What the headroom is called: that of coverage is in percent of its threshold, too.
const HEADROOM_NAME: &str = "headroom in %";
/// How many goals are named.
const NAMED: usize = 5;
/// The most percent of headroom that are told as a number.
const MOST_PERCENT: f64 = 9_999.0;

/// Returns a line for each threshold, those that change first, within so many characters if there is a limit.
pub fn ratchet_table(notches: &[Notch], width: Option<usize>) -> String {
    let names = ["goal", "", "threshold", "actual", HEADROOM_NAME, "new"];
    let heading = names.map(|name| Cell(FAINT, name.to_owned())).to_vec();
    let mut sorted: Vec<&Notch> = notches.iter().collect();
    sorted.sort_by_key(|notch| notch.new.is_err());
    let rows = sorted.into_iter().map(row);
    let rows: Vec<Vec<Cell>> = std::iter::once(heading).chain(rows).collect();
    columns_folded(&rows, width, &SPARE)
}

fn row(notch: &Notch) -> Vec<Cell> {
    let sign = match notch.direction {
        Direction::AtLeast => "≥",
        Direction::AtMost => "≤",
    };
    let headroom = notch.percent.map(|percent| match percent > MOST_PERCENT {
        true => format!("> {MOST_PERCENT}"),
        false => format!("{percent:.1}"),
    });
    vec![
        Cell(STRONG, clean_line(&notch.id)),
        Cell::plain(sign),
        Cell::plain(number(notch.old)),
        Cell::plain(notch.actual.map_or("–".to_owned(), number)),
        Cell(FAINT, headroom.unwrap_or_default()),
        match &notch.new {
            Ok(new) => Cell(GOOD, new.clone()),
            Err(why) => Cell(FAINT, format!("stays: {why}")),
        },
    ]
}

/// Returns a line of caution where what was measured once would become the threshold of a time; empty where that is not so.
pub fn caution(notches: &[Notch]) -> String {
    let shaky = notches.iter().filter(|it| it.is_shaky && it.new.is_ok());
    let ids: Vec<String> = shaky.map(|notch| clean_line(&notch.id)).collect();
    match ids.is_empty() {
        true => String::new(),
        false => format!(
            "{} of {}: a time, measured once, without a tolerance; a slow run would fail it (`tolerance` in GOALS.yaml lets that pass)\n",
            paint(ODD, "caution"),
            some_of(&ids, NAMED)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_comes_first_and_what_stays_says_why() {
        let notch = |id: &str, new: Result<&str, &'static str>| Notch {
            id: id.to_owned(),
            direction: Direction::AtLeast,
            old: 80.0,
            actual: Some(85.75),
            headroom: Some(5.75),
            percent: Some(7.1875),
            is_shaky: false,
            new: new.map(str::to_owned),
        };
        let notches = [notch("a", Err("it fails")), notch("coverage", Ok("85"))];
        let page = ratchet_table(&notches, None);
        let expected = "\
goal         threshold  actual  headroom in %  new
coverage  ≥  80         85.75   7.2            85
a         ≥  80         85.75   7.2            stays: it fails
";
        assert_eq!(anstream::adapter::strip_str(&page).to_string(), expected);
        let narrow = anstream::adapter::strip_str(&ratchet_table(&notches, Some(40))).to_string();
        assert!(
            narrow.lines().all(|line| line.chars().count() <= 40),
            "{narrow}"
        );
    }
}
