//! `evolve search init`: looks at the repository and writes its SEARCH.yaml.

use std::path::Path;

use super::ask;
use super::options::InitOptions;
use crate::cli::here::{current_dir, refuse_beside_loop};
use crate::cli::init;
use crate::cli::options::Global;
use crate::effects::look::Disk;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::goals;
use crate::model::init::Look;
use crate::model::mask;
use crate::model::search::file::{self, Bench, DIRECTIONS, NAME, Wishes};
use crate::model::search::lineage::Direction;

/// The fitness command where none is found and none is said.
const FITNESS: &str = "./bench.sh";

/// Writes the file.
pub fn init(global: &Global, options: &InitOptions) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let path = repo.root.join(NAME);
    if std::fs::symlink_metadata(&path).is_ok() {
        return Err(is_there());
    }
    refuse_beside_loop(&repo)?;
    let disk = Disk::of(&repo)?;
    let benches = file::benches(&disk);
    let gates = file::gates(&disk);
    let wishes = wishes(global, options, &repo, &disk, &benches)?;
    let has_goals = disk.is_there("GOALS.yaml");
    let page = file::file(&wishes, &benches, &gates, has_goals);
    understood(&page)?;
    refuse_beside_loop(&repo)?;
    create(&path, page.as_bytes())?;
    global.say(&written(&wishes, &benches, gates.len()));
    Ok(0)
}

fn is_there() -> Error {
    Error::usage(format!("{NAME} is there already"))
        .hint("change it, or to start anew move it away; `evolve schema search` prints every key")
}

/// Takes what goes into the file from flags, else answers, else what was found.
fn wishes(
    global: &Global,
    options: &InitOptions,
    repo: &Repo,
    disk: &Disk,
    benches: &[Bench],
) -> Result<Wishes> {
    let asks = ask::is_there(global);
    let first = benches.first().filter(|one| one.missing.is_none());
    let found = first.map_or(FITNESS, |one| one.command.as_str()).to_owned();
    let fitness = match &options.fitness {
        Some(fitness) => fitness.clone(),
        None if asks => {
            let question = format!("Which command prints the number? [{found}] ");
            init::ask(&question, found, &|line| Ok(line.to_owned()))?
        }
        None => found,
    };
    let bench = benches.iter().find(|one| one.command == fitness);
    let known = bench.and_then(|one| one.direction);
    let likely = match bench.is_some_and(|one| one.speaks_of_time) {
        true => Direction::Min,
        false => Direction::Max,
    };
    let is_guess = options.direction.is_none() && known.is_none() && !asks;
    let direction = match (options.direction, known) {
        (Some(direction), _) | (None, Some(direction)) => direction,
        (None, None) if asks => {
            let read = crate::cli::options::one_of(DIRECTIONS);
            let question = format!(
                "Is the number better when larger (max) or smaller (min)? [{}] ",
                likely.word()
            );
            init::ask(&question, likely, &read)?
        }
        (None, None) => likely,
    };
    let files = match options.files.is_empty() {
        false => options.files.clone(),
        true => {
            let head = repo.ready_head().and_then(|(_, base)| repo.tree_of(&base));
            let run =
                head.map(|tree| super::plan::run_by(repo, std::slice::from_ref(&fitness), &tree));
            let proposed = file::sources(disk.files(), &run.unwrap_or_default());
            match asks {
                true => {
                    let question = crate::view::search_question::files(&proposed);
                    init::ask(&question, proposed, &ask::patterns)?
                }
                false => proposed,
            }
        }
    };
    Ok(Wishes {
        fitness,
        direction,
        is_guess,
        files,
    })
}

/// Refuses to write what could not be read back.
fn understood(page: &str) -> Result<()> {
    file::read_search(page.as_bytes())
        .map(drop)
        .map_err(|problems| {
            let error = goals::to_error(NAME, &problems);
            Error::usage(format!("what was asked for makes no {NAME}: {error}"))
        })
}

fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    init::create(path, bytes, NAME).map_err(|error| match path.exists() {
        true => is_there(),
        false => error,
    })
}

/// Says what was written, and what comes next.
fn written(wishes: &Wishes, benches: &[Bench], gates: usize) -> String {
    let line = |words: &str| mask::line(words, 100);
    let mut page = format!("wrote {NAME}\n  fitness    {}\n", line(&wishes.fitness));
    let guess = file::guess(wishes, benches);
    let guess = guess.map_or(String::new(), |words| {
        format!(" (a guess, {})", line(&words))
    });
    page.push_str(&format!(
        "  direction  {}{guess}\n",
        wishes.direction.word()
    ));
    let files = match wishes.files.is_empty() {
        true => "none found: name them in the file".to_owned(),
        false => line(&wishes.files.join(" ")),
    };
    page.push_str(&format!("  files      {files}\n"));
    page.push_str(&format!("  gates      {gates}\n"));
    let is_found = benches.iter().any(|one| one.command == wishes.fitness);
    if !is_found && wishes.fitness == FITNESS {
        page.push_str(&format!(
            "nothing was found that measures anything: write {FITNESS}, whose last line of stdout is the number\n"
        ));
    }
    page.push_str(&format!(
        "next: look at it, `git add {NAME} && git commit -m 'what to search for'`, then `evolve search`\n"
    ));
    page
}
