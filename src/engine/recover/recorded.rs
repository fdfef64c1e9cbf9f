//! Whether a record whose session died is in the history, and came there by the commit of its cycle.

use crate::effects::repo::Repo;
use crate::effects::workspace::Start;
use crate::error::Result;
use crate::model::audit::Trailers;
use crate::model::ledger as names;
use crate::model::record::{History, Record};

/// How many commits since the start of a cycle are looked through for that of its record.
const LOOKED_THROUGH: usize = 1_000;
/// The note of a record that somebody else's commit took along before its own was made.
const TAKEN_ALONG: &str = "a commit of somebody else's had taken this record along after a crash, which counts for nothing: it is recorded anew";

/// How a record stands at the tip of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is not there.
    Unrecorded,
    /// It is the last one of the history, and the commit that brought it records no cycle.
    TakenAlong,
    /// It is there, and whatever came later.
    Recorded,
}

/// Returns a record as it is recorded after somebody else's commit took it along.
pub fn anew(record: &Record) -> Record {
    let mut anew = record.clone();
    anew.notes.push(TAKEN_ALONG.to_owned());
    anew
}

/// Says how a record stands in the history that `head` has, of a cycle that began at `start`.
pub fn standing(repo: &Repo, start: &Start, head: &str, record: &Record) -> Result<Standing> {
    let records = records_at(repo, head)?;
    let anew = anew(record);
    let place = records.iter().rposition(|it| *it == *record || *it == anew);
    Ok(match place {
        None => Standing::Unrecorded,
        Some(place) if place + 1 < records.len() || records[place] == anew => Standing::Recorded,
        Some(_) if has_commit_of_its_own(repo, start, head, record)? => Standing::Recorded,
        Some(_) => Standing::TakenAlong,
    })
}

/// Says whether the commit that brought the last record of the history at `head` is that of its cycle. Where it is not to be found,
/// nothing says that it is not.
fn has_commit_of_its_own(repo: &Repo, start: &Start, head: &str, record: &Record) -> Result<bool> {
    let Ok(since) = repo.commits_since(&start.commit, head, LOOKED_THROUGH) else {
        return Ok(true);
    };
    let mut bringer = None;
    for commit in &since {
        if !records_at(repo, &commit.id)?.contains(record) {
            break;
        }
        bringer = Some(commit);
    }
    let Some(bringer) = bringer.filter(|_| since.len() < LOOKED_THROUGH) else {
        return Ok(true);
    };
    let message = repo.message(&bringer.id)?;
    Ok(Trailers::of(&message).records() == Some(record.cycle))
}

fn records_at(repo: &Repo, commit: &str) -> Result<Vec<Record>> {
    let history = repo.file(&repo.tree_of(commit)?, names::HISTORY)?;
    let history = history.unwrap_or_default();
    Ok(History::parse(&String::from_utf8_lossy(&history)).records)
}
