//! What a person says to a search: notes, prunings, that it is to stop.

use std::path::PathBuf;

use super::look::options::Which;
use super::place::lock_file;
use crate::cli::deliver::{Place, named};
use crate::cli::here::current_dir;
use crate::cli::options::Global;
use crate::effects::repo::Repo;
use crate::effects::search::store::Store;
use crate::effects::{files, lock, within};
use crate::error::{Error, Result};
use crate::model::search::lineage::{Id, Lineage, Word};
use crate::model::{mask, text};

/// How many searches are named.
const NAMED: usize = 20;
/// The longest note, in characters.
const LONGEST: usize = 2_000;

/// What is said where a lineage is only looked at and its file is not what `evolve` wrote.
pub(super) const CHANGED: &str = "somebody else changed the lineage of this search, maybe an agent; shown is what evolve wrote, and \
     `evolve search resume` or `apply` puts the file right";

/// Says that a search is not as this `evolve` wrote it, where the copies outside of the repository tell so.
pub(super) fn strange(store: &Store) -> Option<String> {
    store.is_strange.then(|| {
        format!(
            "search {} is not as this evolve wrote it: it was gone on with under another HOME or XDG_STATE_HOME, the repository \
             was moved or copied, or somebody made it up, maybe an agent",
            store.number
        )
    })
}

/// Leaves a note for the agents of a search.
pub fn note(global: &Global, words: &[String]) -> Result<u8> {
    let words = mask::secrets(&text::clean_line(&words.join(" ")));
    if words.is_empty() {
        return Err(Error::usage("the note says nothing").hint("write it behind the command"));
    }
    if words.chars().count() > LONGEST {
        return Err(Error::usage(format!(
            "the note is longer than {LONGEST} characters"
        )));
    }
    leave(&Word::Instruction(words))?;
    global.tell("noted: it stands in every brief from now on\n");
    Ok(0)
}

/// Takes an attempt and all that was made from it out of a search.
pub fn prune(global: &Global, id: Id) -> Result<u8> {
    let (repo, store, lineage) = newest()?;
    within::refuse(&repo.private)?;
    refuse_over(&store, &lineage)?;
    if id == 0 || id > lineage.newest() {
        return Err(no_attempt(id, &lineage));
    }
    leave(&Word::Prune(id))?;
    global.say(&format!(
        "attempt {id} and what was made from it are not bred from any more, and not the best\n"
    ));
    Ok(0)
}

/// Has a search propose nothing more.
pub fn stop(global: &Global) -> Result<u8> {
    let (repo, store, _) = newest()?;
    if lock::holder(&lock_file(&repo)).is_none() {
        global.tell("no search is running here\n");
        return Ok(0);
    }
    store.ask_to_stop()?;
    global.tell("the search ends when what runs is done; `evolve search resume` goes on with it\n");
    Ok(0)
}

/// Writes the lineage to where it is wanted.
pub fn export(global: &Global, out: Option<&PathBuf>, which: Which) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let place = named(global, &repo, out.map(PathBuf::as_path), false)?;
    let (store, _) = found(&repo, which)?;
    if store.is_changed {
        global.warn(CHANGED);
    }
    if let Some(words) = strange(&store) {
        global.warn(&words);
    }
    let (bytes, _) = store.believed()?;
    match (place, out) {
        (Some(Place::Theirs(path) | Place::Own(path)), Some(out)) => {
            files::deliver(&path, &bytes)?;
            global.say(&format!("{}\n", out.display()));
        }
        (Some(_) | None, _) => global.say(&String::from_utf8_lossy(&bytes)),
    }
    Ok(0)
}

fn leave(word: &Word) -> Result<()> {
    let (repo, store, lineage) = newest()?;
    within::refuse(&repo.private)?;
    refuse_over(&store, &lineage)?;
    let _turn = lock::turn(&repo.private)?;
    store.leave(word, lineage.words_taken())
}

/// Refuses a search that cannot go on: nothing would follow from what is said to it (exit 2).
fn refuse_over(store: &Store, lineage: &Lineage) -> Result<()> {
    match &lineage.end {
        Some(end) if !end.why.can_go_on() => Err(Error::usage(format!(
            "search {} is over: {}",
            store.number,
            end.why.words()
        ))
        .hint("`evolve search apply ID` applies another attempt than the best; `evolve search` begins another search")),
        Some(_) | None => Ok(()),
    }
}

/// Takes in what persons left for a search and no session of it has read yet; nothing is written.
pub(super) fn heed_words_left(store: &Store, lineage: &mut Lineage) -> Result<()> {
    for word in store.left(lineage.words_taken())? {
        lineage.notes.push(lineage.note_of(word));
    }
    Ok(())
}

/// Returns the newest search, with its repository.
pub(super) fn newest() -> Result<(Repo, Store, Lineage)> {
    let repo = Repo::discover(&current_dir()?)?;
    let (store, lineage) = found(&repo, Which { number: None })?;
    Ok((repo, store, lineage))
}

/// Returns the search that is meant (exit 2 where there is none).
pub(super) fn found(repo: &Repo, which: Which) -> Result<(Store, Lineage)> {
    let Some(number) = which.number else {
        let newest = Store::newest(repo)?;
        return newest.ok_or_else(none_here);
    };
    let numbered = Store::numbered(repo, number)?;
    numbered.ok_or_else(|| {
        let all = Store::all(repo).into_iter();
        let all: Vec<String> = all.map(|number| number.to_string()).collect();
        let error = Error::usage(format!("there is no search {number} here"));
        match all.is_empty() {
            true => error.hint("begin one with `evolve search`"),
            false => error.hint(format!("there are: {}", text::some_of(&all, NAMED))),
        }
    })
}

/// The error of a repository without a search.
pub(super) fn none_here() -> Error {
    Error::usage("there is no search here").hint("begin one with `evolve search`")
}

/// The error of an attempt that there is none of.
pub(super) fn no_attempt(id: Id, lineage: &Lineage) -> Error {
    let newest = lineage.newest();
    Error::usage(format!("there is no attempt {id}: they are 1 to {newest}"))
        .hint("`evolve search board` lists them")
}
