//! What came of a search: winner, way, curve, ending, attempts, cost, and what to do next.

use super::attempt::changed;
use super::{at_rest, counted, going_on, score, shown, way};
use crate::model::search::view::{Overview, Row};
use crate::model::text::{clean_line, cut};
use crate::view::history::sparkline;
use crate::view::style::{BAD, FAINT, GOOD, paint};
use crate::view::width::{hanging, shown as shown_columns};

/// How wide the names are, with the blanks behind them.
const NAMES: usize = 11;
/// How much of an agent's last words is shown, in characters.
const REASON: usize = 300;
/// How long the line with bars is at most.
const BARS: usize = 60;

/// Returns the final report of a session that ended for this reason.
pub fn page(overview: &Overview, reason: &str, exit_code: u8, width: Option<usize>) -> String {
    let mut page = String::new();
    let mut line = |name: &str, value: String| {
        let lines = hanging(&format!("{name:<NAMES$}{value}"), NAMES, width);
        page.push_str(&format!("{}\n", lines.join("\n")));
    };
    let style = if exit_code == 0 { GOOD } else { BAD };
    line("ended", paint(style, &clean_line(reason)));
    let winner = overview.row(overview.best).filter(|row| !row.is_baseline());
    line("winner", winner_words(overview, winner));
    if let Some(summary) = winner.and_then(|row| row.summary.as_deref()) {
        line("", clean_line(summary));
    }
    if let Some(row) = winner.filter(|row| !row.leaned_on.is_empty()) {
        line("", changed(&row.leaned_on));
    }
    if let Some((style, words)) = shown(overview) {
        line("", paint(style, &words));
    }
    if overview.way.len() > 1 {
        line("way", way(overview));
    }
    let best: Vec<f64> = overview
        .curve
        .iter()
        .filter_map(|point| point.best)
        .collect();
    if best.len() > 1 {
        let digits = overview.digits();
        let [first, last] = [best[0], best[best.len() - 1]].map(|score| digits.show(score));
        let taken = NAMES + shown_columns(&first) + shown_columns(&last) + 2;
        let room = width.map_or(BARS, |width| width.saturating_sub(taken).clamp(2, BARS));
        let bars = sparkline(&best, room);
        line("curve", format!("{first} {bars} {last}"));
    }
    line(
        "attempts",
        counted(overview.attempts(), &at_rest(&overview.endings)),
    );
    if let Some(newest) = overview.failed_throughout() {
        line("agent", paint(BAD, &failed(overview, newest)));
    }
    if overview.spent.calls > 0 {
        line("cost", overview.spent.words());
    }
    for (at, next) in next_steps(overview, winner).into_iter().enumerate() {
        line(if at == 0 { "next" } else { "" }, next);
    }
    page
}

/// Says that nothing came of any attempt, with the agent's last words and where the rest of them is.
fn failed(overview: &Overview, newest: &Row) -> String {
    let reason = newest.reason.as_deref().unwrap_or("it did not say why");
    let mut words = format!(
        "failed each time, so nothing was tried; the last time: {}",
        cut(&clean_line(reason), REASON)
    );
    if let Some(log) = &overview.failed_log {
        words.push_str(&format!("; log: {}", clean_line(log)));
    }
    words
}

fn winner_words(overview: &Overview, winner: Option<&Row>) -> String {
    let digits = overview.digits();
    let baseline = overview.baseline.map(|score| digits.show(score));
    let baseline = baseline.unwrap_or_else(|| "nothing".to_owned());
    match winner {
        Some(row) => {
            let score = score(row, &digits).unwrap_or_default();
            let made = paint(FAINT, &format!("; {}", row.made()));
            format!("attempt {}: {score}, the baseline {baseline}{made}", row.id)
        }
        None => format!("none: nothing is better than the baseline, {baseline}"),
    }
}

/// Returns the commands that come next.
fn next_steps(overview: &Overview, winner: Option<&Row>) -> Vec<String> {
    let mut steps = Vec::new();
    if overview.can_go_on {
        steps.push(going_on(overview));
    }
    match winner {
        Some(row) => {
            steps.push(format!(
                "`evolve search diff {}` shows what it changes",
                row.id
            ));
            steps.push(match overview.shown.is_none_or(|shown| shown.better) {
                true => "`evolve search apply` lands it".to_owned(),
                false => {
                    "`evolve search apply` measures it again, and lands it only where it is better"
                        .to_owned()
                }
            });
        }
        None => steps.push(match overview.failed_throughout() {
            Some(newest) => format!(
                "`evolve search show {}` shows what its agent was told and said",
                newest.id
            ),
            None => "`evolve search board --all` shows what was tried".to_owned(),
        }),
    }
    steps
}
