//! What shells ask for while a command line is typed. It is read from files and never fails aloud: where nothing can be told,
//! nothing is proposed.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::ValueEnum;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;

use crate::cli::pages::PAGES;
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::effects::search::store::Store;
use crate::error::{Error, Result};
use crate::model::agent::BUILT_IN;
use crate::model::goals::{self, MAX_BYTES};
use crate::model::record::History;
use crate::model::text::{clean_line, cut};
use crate::model::work::Queue;
use crate::model::{ledger as names, lesson, mask, schema};
use crate::search::overview;

/// The variable by which a shell asks, with its own name as value.
const ASKED: &str = "EVOLVE_COMPLETE";
/// How much of what is said of a candidate is shown, in characters.
const SAID: usize = 60;

/// A shell that can complete words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}
/// How many cycles are proposed, the newest first.
const CYCLES: usize = 100;
/// How many attempts of a search are proposed, the newest first.
const ATTEMPTS: usize = 100;

/// Where the line of each shell belongs.
const LINES: &str = "\
Put the line of your shell into what it reads when it starts:
  bash  ~/.bashrc                    source <(evolve completions bash)
  zsh   ~/.zshrc                     source <(evolve completions zsh)
  fish  ~/.config/fish/config.fish   evolve completions fish | source
";

/// Makes the whole command line.
type Whole = fn() -> clap::Command;
/// That of this program, once a shell asks.
static WHOLE: OnceLock<Whole> = OnceLock::new();

/// Returns what this shell is to read when it starts; without one, where the line of each belongs.
pub fn set_up(shell: Option<Shell>) -> Result<String> {
    let name = match shell {
        None => return Ok(LINES.to_owned()),
        Some(Shell::Bash) => "bash",
        Some(Shell::Zsh) => "zsh",
        Some(Shell::Fish) => "fish",
    };
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(name) {
        let program = env!("CARGO_PKG_NAME");
        completer
            .write_registration(ASKED, program, program, &called(), &mut script)
            .map_err(|cause| Error::internal(format!("{name}: no completions: {cause}")))?;
    }
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Returns how this program was called, in words that mean the same in any folder.
fn called() -> String {
    let word = std::env::args_os().next().unwrap_or_default();
    let path = PathBuf::from(word);
    let path = match (path.components().count(), std::env::current_dir()) {
        (2.., Ok(folder)) => folder.join(path),
        _ => path,
    };
    path.to_string_lossy().into_owned()
}

/// Answers a shell and ends the program, where it is a shell that asks.
pub fn answer(whole: Whole) {
    if std::env::var_os(ASKED).is_none() {
        return;
    }
    let _ = WHOLE.set(whole);
    // What the library would say of a shell that it does not know is for whoever sets that up.
    CompleteEnv::with_factory(whole).var(ASKED).complete();
}

/// Proposes these words.
pub fn one_of<T: Sync>(words: &'static [(&'static str, T)]) -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let words = words.iter();
        words
            .map(|(word, _)| CompletionCandidate::new(word))
            .collect()
    })
}

/// Proposes the goals of the goals file.
pub fn goals(typed: &OsStr) -> Vec<CompletionCandidate> {
    let read = || {
        let bytes = files::read_bounded(&goals_file()?, MAX_BYTES as u64).ok()??;
        let (goals, _) = goals::read_goals("", &bytes).ok()?;
        let candidates = goals.goals.into_iter();
        let named = candidates.map(|goal| (goal.id, goal.description));
        Some(named.collect::<Vec<_>>())
    };
    fitting(typed, read().unwrap_or_default())
}

/// Proposes the newest cycles.
pub fn cycles(typed: &OsStr) -> Vec<CompletionCandidate> {
    let read = || {
        let history = History::parse(&of_ledger(names::HISTORY)?);
        let newest = history.records.iter().rev().take(CYCLES);
        let candidate = newest.map(|record| {
            let goal = record.goal_id.as_deref().unwrap_or("nothing to do");
            let said = format!("{} · {goal}", record.result.word());
            (record.cycle.to_string(), said)
        });
        Some(candidate.collect::<Vec<_>>())
    };
    fitting(typed, read().unwrap_or_default())
}

/// Proposes the work that is left to do.
pub fn work(typed: &OsStr) -> Vec<CompletionCandidate> {
    let read = || {
        let items = Queue::parse(&of_ledger(names::QUEUE)?).items();
        let left = items.into_iter().filter(|item| !item.is_consumed());
        let named = left.map(|item| (item.id(), item.title));
        Some(named.collect::<Vec<_>>())
    };
    fitting(typed, read().unwrap_or_default())
}

/// Proposes the lessons that are known.
pub fn lessons(typed: &OsStr) -> Vec<CompletionCandidate> {
    let read = || {
        let all = lesson::parse(&of_ledger(names::LESSONS)?);
        let named = lesson::standing(&all).into_iter().rev();
        let named = named.map(|lesson| (lesson.id(), lesson.text.clone()));
        Some(named.collect::<Vec<_>>())
    };
    fitting(typed, read().unwrap_or_default())
}

/// Reads a file of the ledger.
fn of_ledger(name: &str) -> Option<String> {
    let path = root()?.join(name);
    let bytes = files::read_bounded(&path, names::most_bytes(name)).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Proposes the attempts of the newest search, the newest first.
pub fn attempts(typed: &OsStr) -> Vec<CompletionCandidate> {
    let read = || {
        let repo = Repo::discover_to_read(&place()?).ok()?;
        let (store, lineage) = Store::newest(&repo).ok()??;
        let overview = overview::of(&lineage, store.number);
        let digits = overview.digits();
        let newest = overview.rows.iter().rev().take(ATTEMPTS);
        let candidate = newest.map(|row| {
            let score = row
                .score
                .map_or(String::new(), |score| format!(" {}", digits.show(score)));
            let best = if row.best { ", the best" } else { "" };
            let said = format!("{}{score}{best} · {}", row.ending, row.made());
            (row.id.to_string(), said)
        });
        Some(candidate.collect::<Vec<_>>())
    };
    fitting(typed, read().unwrap_or_default())
}

/// Proposes the built-in agents.
pub fn agents(typed: &OsStr) -> Vec<CompletionCandidate> {
    let candidate = |name: &str| (name.to_owned(), String::new());
    fitting(typed, BUILT_IN.map(candidate).to_vec())
}

/// Proposes the schemas.
pub fn schemas(typed: &OsStr) -> Vec<CompletionCandidate> {
    let candidate = |name: &str| (name.to_owned(), String::new());
    fitting(typed, schema::names().map(candidate).collect())
}

/// Proposes what there is help on.
pub fn topics(typed: &OsStr) -> Vec<CompletionCandidate> {
    let pages = PAGES.map(|(name, about, _)| (name.to_owned(), about.to_owned()));
    let command = WHOLE.get().map(|whole| whole()).unwrap_or_default();
    let commands = command.get_subcommands().filter(|one| !one.is_hide_set());
    let commands = commands.map(|one| {
        let about = one.get_about().map(ToString::to_string);
        (one.get_name().to_owned(), about.unwrap_or_default())
    });
    fitting(typed, pages.into_iter().chain(commands).collect())
}

/// Returns the candidates that begin with what is typed, each with what is said of it.
fn fitting(typed: &OsStr, all: Vec<(String, String)>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy();
    let fits = all
        .into_iter()
        .filter(|(word, _)| word.starts_with(&*typed));
    let candidate = |(word, said): (String, String)| {
        let said = cut(&mask::secrets(&clean_line(&said)), SAID);
        let said = (!said.is_empty()).then(|| said.into());
        CompletionCandidate::new(word).help(said)
    };
    fits.map(candidate).collect()
}

/// Returns the goals file that is meant: the one that is named on the line so far, else that of the repository.
fn goals_file() -> Option<PathBuf> {
    let place = place()?;
    match named("--goals") {
        Some(file) => Some(place.join(file)),
        None => Some(root_above(&place)?.join("GOALS.yaml")),
    }
}

fn root() -> Option<PathBuf> {
    root_above(&place()?)
}

/// Returns the folder in which the command would run.
fn place() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    Some(match named("-C") {
        Some(folder) => here.join(folder),
        None => here,
    })
}

fn root_above(place: &Path) -> Option<PathBuf> {
    let is_root = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok();
    place.ancestors().find(is_root).map(Path::to_owned)
}

/// Returns the value of an option on the line that is being typed, as far as it is typed.
fn named(option: &str) -> Option<OsString> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let with_value = format!("{option}=");
    words.iter().enumerate().rev().find_map(|(index, word)| {
        match word.to_str()?.strip_prefix(&with_value) {
            Some(value) => Some(value.into()),
            None if word == option => words.get(index + 1).cloned(),
            None => None,
        }
    })
}
