//! Looking at a search.

use crate::cli::arguments::Global;
use crate::cli::start::current_dir;
use crate::effects::repo::Repo;
use crate::effects::search::store::Store;
use crate::error::{Error, Result};
use crate::model::lineage::{Lineage, Measure, Why};
use crate::search::standing::{Standing, median, scored};

/// Shows the attempts, the best first.
pub fn board(global: &Global, json: bool) -> Result<u8> {
    let repo = Repo::discover_to_read(&current_dir()?)?;
    let Some((_, lineage)) = Store::newest(&repo.private)? else {
        return Err(Error::usage("there is no search here").hint("begin one with `evolve search`"));
    };
    let _ = json;
    global.say(&table(&lineage));
    Ok(0)
}

fn table(lineage: &Lineage) -> String {
    let standing = Standing::of(lineage);
    let mut ids: Vec<u64> = (0..standing.len()).collect();
    ids.sort_by(|a, b| standing.compare(*a, *b));
    let mut text = String::new();
    for id in ids {
        let settled = standing.settled(id);
        let operator = lineage
            .proposal(id)
            .map_or("baseline", |one| one.operator.word());
        text.push_str(&format!(
            "{id:>5}  {:>12}  {operator:<10} {}\n",
            settled
                .score
                .map_or("-".to_owned(), |score| format!("{score}")),
            settled.ending.words()
        ));
    }
    text
}

/// Says why a search ended.
pub fn words(why: Why) -> &'static str {
    match why {
        Why::NoBaseline => "the untouched code has no score",
        Why::Plateau => "plateau: no new best for as long as was asked for",
        Why::Generations => "all generations are done",
        Why::Until => "the score that was asked for is reached",
        Why::MaxAttempts => "all attempts are done",
        Why::EnvironmentChanged => {
            "the untouched code can no longer be measured: the environment changed"
        }
        Why::Stopped => "stopped",
    }
}

/// Tells how a search ended.
pub fn ended(lineage: &Lineage, why: &str) -> String {
    let standing = Standing::of(lineage);
    let best = standing.best();
    let score = |id| standing.score(id).unwrap_or(f64::NAN);
    let last = lineage.attempt(best).measurement(Measure::Last);
    let shown =
        last.and_then(|last| scored(&last.outcome))
            .map_or(String::new(), |(own, beside)| {
                let (own, beside) = (
                    median(own).unwrap_or(f64::NAN),
                    median(beside).unwrap_or(f64::NAN),
                );
                format!("; measured once more: {own} against {beside}")
            });
    match best {
        0 => format!(
            "{why}\nno improvement in {} attempts: the untouched code scores {}\n",
            lineage.newest(),
            score(0)
        ),
        _ => format!(
            "{why}\nbest: attempt {best} of {}, {} (untouched {}){shown}\n",
            lineage.newest(),
            score(best),
            score(0)
        ),
    }
}
