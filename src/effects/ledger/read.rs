//! Reads the texts of the ledger, from git or from the tree, and refuses what is not to be read or written beside.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::thread::Builder;

use serde::Deserialize;

use super::chain::{self, Chain};
use crate::effects::files::{self, is_beneath};
use crate::effects::repo::{Repo, hash_blob};
use crate::error::{Error, Result};
use crate::model::exact;
use crate::model::ledger as names;
use crate::model::record::History;
use crate::model::snapshot::FORMAT;
use crate::model::work::Queue;

/// Returns the text of the whole history: its segments, oldest first, and the active file.
pub fn whole_history(repo: &Repo) -> Result<String> {
    match chain::whole_history(repo)? {
        Some(text) => Ok(text),
        None => files::read_text(
            &repo.root.join(names::HISTORY),
            names::most_bytes(names::HISTORY),
        ),
    }
}

/// Reads a text of the ledger as git has it; where git has no ledger yet, as it stands in the tree.
pub(super) fn read(repo: &Repo, chain: Option<&Chain>, name: &str) -> Result<String> {
    match chain {
        Some(chain) => {
            let text = chain.read(repo, name)?.unwrap_or_default();
            refuse_too_large(name, &text)?;
            Ok(text)
        }
        None => read_file(&repo.root, name),
    }
}

/// Reads the active file of the history in the same way, and understands it.
pub(super) fn read_history(repo: &Repo, chain: Option<&Chain>) -> Result<(String, History)> {
    let stored = match chain {
        Some(chain) if !chain.is_restored(names::HISTORY) => {
            repo.unverified(&chain.tree, names::HISTORY)?
        }
        Some(_) | None => None,
    };
    let read_verified = || {
        let text = read(repo, chain, names::HISTORY)?;
        let history = History::parse(&text);
        Ok((text, history))
    };
    let Some(stored) = stored else {
        return read_verified();
    };
    let (verified, text, history) = std::thread::scope(|side| {
        let verified = Builder::new().spawn_scoped(side, || stored.verify());
        let text = exact::decode(&stored.bytes);
        let history = History::parse(&text);
        let verified = match verified {
            Ok(verified) => verified.join().expect("BUG: a digest cannot panic"),
            Err(_) => stored.verify(),
        };
        (verified, text, history)
    });
    if let Err(damaged) = verified {
        // A pack may have it whole.
        let again: (String, History) = read_verified()?;
        return match again.0.is_empty() {
            true => Err(damaged),
            false => Ok(again),
        };
    }
    refuse_too_large(names::HISTORY, &text)?;
    Ok((text, history))
}

/// Reads a file that was written and committed nowhere: by its blob, or, where git has removed that since no ref leads to it, from the
/// tree, if it is that very version; of the queue, but for the claim of the item that was worked on. None if it is neither here
/// nor there.
pub(super) fn read_written(repo: &Repo, name: &str, id: &str) -> Result<Option<Vec<u8>>> {
    if repo.find_object(id)? {
        return repo.blob(id).map(Some);
    }
    if !is_beneath(&repo.root, name.as_bytes()) {
        return Ok(None);
    }
    let bytes = files::read_bounded(&repo.root.join(name), names::most_bytes(name))?;
    let unclaimed = bytes.as_ref().filter(|_| name == names::QUEUE);
    let unclaimed = unclaimed.map(|bytes| {
        let mut queue = Queue::parse(&exact::decode(bytes));
        queue.release_all();
        exact::encode_all(queue.to_text())
    });
    let mut versions = bytes.into_iter().chain(unclaimed);
    Ok(versions.find(|bytes| hash_blob(bytes) == id))
}

/// Reads a text of the ledger as it stands in the tree.
pub(super) fn read_file(root: &Path, name: &str) -> Result<String> {
    let text = files::read_exactly(&root.join(name), names::most_bytes(name))?;
    refuse_too_large(name, &text)?;
    Ok(text)
}

/// Refuses to write beside what a newer program wrote: a document, or any line of one.
pub(super) fn refuse_newer<'a>(read: impl Fn(&'static str) -> Result<Cow<'a, str>>) -> Result<()> {
    for name in [
        names::HISTORY,
        names::BASELINE,
        names::RETRIES,
        names::LESSONS,
    ] {
        let newest = newest_format(&read(name)?);
        if newest > u64::from(FORMAT) {
            return Err(Error::unsafe_repo(format!(
                "{name} was written by a newer evolve (format {newest}, this one writes {FORMAT})"
            ))
            .hint("update evolve; an older one would spoil what the newer one wrote"));
        }
    }
    Ok(())
}

/// Returns the highest format of a text that is one document, or one a line.
fn newest_format(text: &str) -> u64 {
    /// The one field of a document that is of interest; the rest is passed over without being kept.
    #[derive(Deserialize)]
    struct Marked {
        format: u64,
    }
    let format = |text: &str| {
        let marked: Option<Marked> = serde_json::from_str(text).ok();
        marked.map(|marked| marked.format)
    };
    let each = std::iter::once(text).chain(text.lines());
    // A list is no document, and would be taken for one. What says first that it is of this format is not read on: a document with
    // two formats is none.
    let own = format!(r#"{{"format":{FORMAT},"#);
    each.filter(|text| text.trim_start().starts_with('{') && !text.starts_with(&own))
        .filter_map(format)
        .max()
        .unwrap_or_default()
}

/// Refuses folders of the ledger that are links: writing through them would write elsewhere.
pub fn refuse_links(root: &Path) -> Result<()> {
    for folder in names::FOLDERS {
        match fs::symlink_metadata(root.join(folder)) {
            Ok(meta) if !meta.is_dir() => {
                return Err(
                    Error::unsafe_repo(format!("{folder} is not a plain folder"))
                        .hint("evolve writes its files there and follows no links; move it away"),
                );
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Refuses a text that is more than is read of a file.
pub(super) fn refuse_too_large(name: &str, text: &str) -> Result<()> {
    match names::refusal(name, text) {
        None => Ok(()),
        Some(why) => Err(Error::internal(why).hint(files::TOO_LARGE)),
    }
}
