//! Looking at a search. Nothing of this takes a lock or writes anything but a report.

mod attempt;
pub mod options;
mod report;

use serde_json::json;

pub use attempt::{diff, show};
pub use report::report;

use options::{BoardOptions, StatusOptions, Which};

use super::steer::{CHANGED, found, heed_words_left, strange};
use crate::cli::here::current_dir;
use crate::cli::options::Global;
use crate::cli::print::print_document;
use crate::effects::lock;
use crate::effects::repo::Repo;
use crate::effects::search::store::{FORMAT, Store};
use crate::engine::search::apply::branches_with;
use crate::error::{Error, Result};
use crate::model::search::lineage::Lineage;
use crate::model::search::view::Overview;
use crate::search::overview;
use crate::view::search::board::{self, Wanted};
use crate::view::search::status::{self, Running};
use crate::view::width;

/// A search, to be looked at.
struct Seen {
    repo: Repo,
    store: Store,
    lineage: Lineage,
    overview: Overview,
}

impl Seen {
    fn of(global: &Global, which: Which) -> Result<Seen> {
        let repo = Repo::discover_to_read(&current_dir()?)?;
        let (store, mut lineage) = found(&repo, which)?;
        if store.is_changed {
            global.warn(CHANGED);
        }
        if let Some(words) = strange(&store) {
            global.warn(&words);
        }
        heed_words_left(&store, &mut lineage)?;
        let mut overview = overview::of(&lineage, store.number);
        overview.applied = branches_with(&repo, &lineage, overview.best);
        Ok(Seen {
            overview,
            repo,
            store,
            lineage,
        })
    }

    /// Returns the number of an attempt that there is.
    fn known(&self, id: u64) -> Result<u64> {
        let newest = self.lineage.newest();
        match id <= newest {
            true => Ok(id),
            false => Err(Error::usage(format!(
                "search {} has no attempt {id}: the newest is {newest}",
                self.store.number
            ))
            .hint("`evolve search board --all` lists them; 0 is the baseline")),
        }
    }
}

/// Shows the attempts, the best first.
pub fn board(global: &Global, options: &BoardOptions) -> Result<u8> {
    let Seen { overview, .. } = Seen::of(global, options.which)?;
    if options.json {
        let document = json!({
            "format": FORMAT,
            "overview": overview,
            "attempts": overview.ranked(),
            "curve": overview.curve,
        });
        print_document("search-board", &document)?;
        return Ok(0);
    }
    let wanted = Wanted {
        all: options.all,
        chart: options.chart,
    };
    global.say(&board::page(&overview, wanted, width::of_terminal()));
    Ok(0)
}

/// Shows where the search stands.
pub fn status(global: &Global, options: &StatusOptions) -> Result<u8> {
    let Seen {
        repo,
        store,
        overview,
        ..
    } = Seen::of(global, options.which)?;
    // What runs, or was being applied, is of the newest.
    let is_newest = Store::last(&repo).is_some_and(|last| last.number == store.number);
    let holder = lock::holder(&super::place::lock_file(&repo)).filter(|_| is_newest);
    let is_applied = lock::holder(&repo.private.join("lock")).is_some();
    let cut_short = is_newest && !is_applied && Store::applying(&repo.private).exists();
    if options.json {
        let session = holder.map(|holder| json!({"pid": holder.pid, "since": holder.since}));
        let document = json!({
            "format": FORMAT,
            "overview": overview,
            "session": session,
            "applied": overview.applied,
            "apply_cut_short": cut_short,
        });
        print_document("search-status", &document)?;
        return Ok(0);
    }
    let running = holder.map(|holder| Running {
        pid: holder.pid,
        since: holder.since,
    });
    global.say(&status::page(
        &overview,
        running.as_ref(),
        cut_short,
        width::of_terminal(),
    ));
    Ok(0)
}
