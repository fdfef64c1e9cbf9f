//! The stash: a list of entries that only one reflog holds. Each one is there again after an agent, in its order, below
//! those that came anew.

use std::path::PathBuf;

use super::way::Way;
use super::{LIMIT, Places};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::mask;
use crate::model::text;

const REF: &str = "refs/stash";
/// What stands for no commit.
const NONE: &str = "0000000000000000000000000000000000000000";

/// Returns the file with the list, oldest entry first.
pub fn file(places: &Places) -> PathBuf {
    places.common.join("logs").join(REF)
}

/// How the entry is called that the list does not name, by the time that is set for it.
const UNLISTED: &str = "evolve <evolve> 0 +0000\tan entry that the list did not name";

/// Returns the list with the commit that the ref names as its newest entry: `git reflog expire` may have left it out.
pub fn remember(repo: &Repo, places: &Places) -> Result<Option<Vec<u8>>> {
    let list = files::read_bounded(&file(places), LIMIT)?;
    let Some(newest) = repo.target_of(REF) else {
        return Ok(list);
    };
    let mut list = list.unwrap_or_default();
    let all = entries(&list);
    if all
        .last()
        .is_none_or(|top| commit(top) != newest.as_bytes())
    {
        if !list.is_empty() && !list.ends_with(b"\n") {
            list.push(b'\n');
        }
        list.extend(format!("{NONE} {newest} {UNLISTED}\n").into_bytes());
    }
    Ok(Some(list))
}

/// Puts back the entries that are gone; says how many.
pub fn put_back(way: &mut Way<'_>, places: &Places, before: &[u8]) -> Result<Option<String>> {
    let repo = way.repo;
    let file = file(places);
    let before = entries(before);
    let is_unlisted = |entry: &Vec<u8>| entry.ends_with(UNLISTED.as_bytes());
    let now = match before.last().is_some_and(is_unlisted) {
        true => way.through(REF, |repo| remember(repo, places))?,
        false => way.through(REF, |_| files::read_bounded(&file, LIMIT))?,
    };
    let now = entries(&now.unwrap_or_default());
    let has = |list: &[Vec<u8>], entry: &Vec<u8>| list.iter().any(|one| what(one) == what(entry));
    let missing = before.iter().filter(|entry| !has(&now, entry));
    let (unlisted, dropped): (Vec<_>, Vec<_>) = missing.partition(|entry| is_unlisted(entry));
    let newest = repo.target_of(REF);
    let is_on_top =
        newest.is_some_and(|id| now.last().is_some_and(|top| commit(top) == id.as_bytes()));
    if unlisted.is_empty() && dropped.is_empty() && is_on_top {
        return Ok(None);
    }
    let anew = now.iter().filter(|entry| !has(&before, entry));
    let mut all = Vec::new();
    for entry in before.iter().chain(anew) {
        if repo.find_object(&String::from_utf8_lossy(commit(entry)))? {
            all.push(entry);
        }
    }
    let Some(top) = all.last() else {
        return Ok(Some("the entries of the stash are gone".to_owned()));
    };
    let top = String::from_utf8_lossy(commit(top)).into_owned();
    way.through(REF, |repo| repo.set_ref(REF, &top, "evolve: as before"))?;
    let mut text = Vec::new();
    let mut previous = NONE.as_bytes();
    for entry in &all {
        text.extend_from_slice(previous);
        text.push(b' ');
        text.extend_from_slice(what(entry));
        text.push(b'\n');
        previous = commit(entry);
    }
    files::replace(&file, &text)?;
    Ok(Some(match dropped.len() {
        // Git itself forgets one when another is popped.
        0 if !unlisted.is_empty() => {
            "an entry of the stash that its list did not name is there again".to_owned()
        }
        0 => "the stash is in order again".to_owned(),
        1 => "an entry of the stash was dropped and is back".to_owned(),
        more => format!("{more} entries of the stash were dropped and are back"),
    }))
}

/// How many entries that came are named.
const NAMED: usize = 5;
/// The longest subject of one that is shown, in characters.
const LONGEST_SUBJECT: usize = 120;

/// Says which entries came since. Git leaves no mark on them, so that nobody can say whose they are.
pub fn came(places: &Places, before: &[u8]) -> Result<Option<String>> {
    let before = entries(before);
    let now = entries(&files::read_bounded(&file(places), LIMIT)?.unwrap_or_default());
    let is_new = |entry: &&Vec<u8>| before.iter().all(|old| commit(old) != commit(entry));
    // The newest is the first in git's own list.
    let came: Vec<_> = now.iter().rev().filter(is_new).collect();
    let subject = |entry: &&Vec<u8>| {
        let subject = entry.split(|byte| *byte == b'\t').nth(1);
        let subject = String::from_utf8_lossy(subject.unwrap_or_default()).into_owned();
        mask::line(&subject, LONGEST_SUBJECT)
    };
    let named: Vec<String> = came.iter().map(subject).collect();
    Ok(match named.len() {
        0 => None,
        1 => Some(format!(
            "an entry came into the stash while the agent ran, and stays: {}",
            named.concat()
        )),
        more => Some(format!(
            "{more} entries came into the stash while the agent ran, and stay: {}",
            text::some_of(&named, NAMED)
        )),
    })
}

fn entries(list: &[u8]) -> Vec<Vec<u8>> {
    let lines = list.split(|byte| *byte == b'\n');
    lines
        .filter(|line| line.len() > 2 * NONE.len())
        .map(<[u8]>::to_vec)
        .collect()
}

/// Returns an entry without the commit of the one before it: that one may be another now.
fn what(entry: &[u8]) -> &[u8] {
    &entry[NONE.len() + 1..]
}

fn commit(entry: &[u8]) -> &[u8] {
    &what(entry)[..NONE.len()]
}
