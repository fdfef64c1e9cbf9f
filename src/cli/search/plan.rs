//! What a search is begun with: flags, what they do not say from SEARCH.yaml, and what the repository makes of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::options::SearchOptions;
use super::place::Place;
use super::steer::strange;
use crate::cli::here::current_dir;
use crate::effects::repo::Repo;
use crate::effects::search::store::{FORMAT, Store};
use crate::effects::workspace::Workspace;
use crate::effects::{clock, files, program};
use crate::engine::search::apply::branches_with;
use crate::engine::search::commit;
use crate::error::{Error, Result};
use crate::model::check;
use crate::model::goals::{self, Goals, MAX_BYTES};
use crate::model::search::editable::{self, Editable};
use crate::model::search::file::{self, Asked, Bound, StrategyName};
use crate::model::search::lens;
use crate::model::search::lineage::{Id, Lineage, Plan, Request};
use crate::model::yardstick::Yardstick;
use crate::model::{mask, text};
use crate::search::{dice, overview};
use crate::session::GoalsFile;

/// What is asked for, all in all.
#[derive(Clone, Debug)]
pub struct Given {
    /// Flags, and what they do not say from the file.
    pub asked: Asked,
    /// The file, if there is one.
    file: Option<File>,
}

/// The file that says what flags do not.
#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    /// Its path below the repository's root; none if it lies elsewhere.
    in_repo: Option<String>,
    /// Its name in messages.
    shown: String,
}

/// Takes flags and file together.
pub fn given(repo: &Repo, options: &SearchOptions) -> Result<Given> {
    refuse_mistyped(repo, options)?;
    let flags = options.asked();
    let file = find(repo, options.file.as_deref())?;
    let of_file = match &file {
        Some(file) => file.read()?,
        None => Asked::default(),
    };
    let is_climb = |asked: &Asked| asked.strategy.unwrap_or_default() == StrategyName::Climb;
    let mut asked = flags.clone().or(of_file);
    if is_climb(&asked) {
        if let Some(option) = flags.of_population() {
            let what = format!("{option} is an option of the strategy population");
            let hint = format!("add --strategy population, or leave {option} out");
            return Err(Error::usage(what).hint(hint));
        }
        // The file's are of the strategy that it names, and a flag names another one.
        (asked.k, asked.generations) = (None, None);
    }
    if asked.fitness.is_none() {
        return Err(no_fitness(options));
    }
    Ok(Given { asked, file })
}

/// Refuses a bare word that is neither a command nor a program (exit 2).
fn refuse_mistyped(repo: &Repo, options: &SearchOptions) -> Result<()> {
    let Some(word) = &options.fitness else {
        return Ok(());
    };
    let is_file = repo.root.join(word).exists();
    match mistyped(word).filter(|_| !is_file) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Returns the error of a bare word that is neither a command nor a program, if it is none.
pub fn mistyped(word: &str) -> Option<Error> {
    let is_bare = !word.contains(|letter: char| letter.is_whitespace() || letter == '/');
    let names = super::options::actions();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if !is_bare || names.contains(&word) || program::is_found(word) {
        return None;
    }
    let near = goals::nearest(word, &names);
    let error = Error::usage(format!(
        "`{}` is no command of `evolve search`, and no program that could print a number",
        text::clean_line(word)
    ));
    Some(error.hint(match near {
        Some(near) => format!("did you mean `evolve search {near}`?"),
        None => format!(
            "its commands are {}; `evolve help searching` explains them, and a fitness command of the shell's own goes as `sh -c '…'`",
            names.join(", ")
        ),
    }))
}

/// Says that there is no fitness command (exit 2), and which words may have been meant as one: an option that takes many takes
/// what stands behind it.
fn no_fitness(options: &SearchOptions) -> Error {
    let error = Error::usage("there is no fitness command to search with");
    let many = [
        ("--files", &options.files),
        ("--gate", &options.gate),
        ("--lens", &options.lens),
    ];
    let taken = many.into_iter().find_map(|(option, words)| {
        let is_line = |word: &&String| option == "--files" && word.contains(' ');
        let last = words.last().filter(|_| words.len() > 1);
        let word = words.iter().find(is_line).or(last)?;
        Some((option, mask::secrets(&text::clean_line(word))))
    });
    match taken {
        Some((option, word)) => error.hint(format!(
            "`{word}` was taken as one of {option}: put the fitness command first, or after `--`"
        )),
        None => error.hint(
            "name the command that prints the number, as in `evolve search './bench.sh' --files 'src/**'`, or let `evolve search init` write a SEARCH.yaml",
        ),
    }
}

/// Finds the file: the one that is named, else that of the repository's root if it is there.
fn find(repo: &Repo, named: Option<&Path>) -> Result<Option<File>> {
    let Some(named) = named else {
        let path = repo.root.join(file::NAME);
        let is_there = std::fs::symlink_metadata(&path).is_ok();
        return Ok(is_there.then(|| File {
            path,
            in_repo: Some(file::NAME.to_owned()),
            shown: file::NAME.to_owned(),
        }));
    };
    let path = current_dir()?.join(named);
    let real = path.canonicalize().map_err(|_| {
        Error::usage(format!("there is no {}", named.display()))
            .hint("`evolve search init` writes a SEARCH.yaml")
    })?;
    let below = real.strip_prefix(&repo.root).ok();
    let in_repo = below.map(|below| below.to_string_lossy().into_owned());
    Ok(Some(File {
        path: real,
        in_repo,
        shown: named.display().to_string(),
    }))
}

impl File {
    fn read(&self) -> Result<Asked> {
        let is_plain = std::fs::symlink_metadata(&self.path).is_ok_and(|meta| meta.is_file());
        if !is_plain {
            return Err(Error::usage(format!("{} is no plain file", self.shown))
                .hint("put what to search for into a plain file, or name one with --file"));
        }
        let bytes = files::read_bounded(&self.path, MAX_BYTES as u64 + 1)?.unwrap_or_default();
        file::read_search(&bytes).map_err(|problems| goals::to_error(&self.shown, &problems))
    }

    /// Refuses a file of the repository that is not in the commit which the search starts from (exit 3).
    fn refuse_uncommitted(&self, repo: &Repo, tree: &str) -> Result<()> {
        let is_in = |path: &String| repo.has_file(tree, path);
        if self.in_repo.as_ref().map_or(Ok(true), is_in)? {
            return Ok(());
        }
        let word = text::shell_word(&self.shown);
        Err(
            Error::unsafe_repo(format!("{} is not committed", self.shown)).hint(format!(
                "commit it first: `git add {word} && git commit -m 'what to search for'`"
            )),
        )
    }
}

/// A search that is about to begin.
pub struct Planned {
    /// Its files.
    pub store: Store,
    /// What it is.
    pub plan: Plan,
    /// The goals of which those that pass become gates.
    pub goals: Option<Goals>,
}

/// Resolves what was asked for.
pub fn plan(place: &Place<'_>, given: &Given) -> Result<Planned> {
    let repo = place.repo;
    let last = last_one(repo)?;
    let (branch, base) = repo.ready_head()?;
    repo.refuse_damaged()?;
    let tree = repo.tree_of(&base)?;
    if let Some(file) = &given.file {
        file.refuse_uncommitted(repo, &tree)?;
    }
    let Given { asked, .. } = given;
    let fitness = asked.fitness.clone().unwrap_or_default();
    let goals = match asked.goals_as_gates.unwrap_or_default() {
        true => Some(goals_of(repo, &tree)?),
        false => None,
    };
    let editable = editable(place, given, goals.as_ref(), &tree)?;
    refuse_unfit(place, &editable, asked, &branch, &base)?;
    let seed = asked
        .seed
        .unwrap_or_else(|| dice::roll(0, 0, &clock::session_id(), 0) % 1_000_000);
    let (strategy, stale) = asked.strategy();
    let mut lenses = match asked.lenses.is_empty() {
        true => lens::built_in(asked.objective.as_deref(), &fitness),
        false => lens::asked(&asked.lenses, asked.objective.as_deref(), &fitness),
    };
    dice::shuffle(seed, &mut lenses);
    let plan = Plan {
        format: FORMAT,
        strategy,
        direction: asked.direction.unwrap_or_default(),
        repeats: asked.repeats.unwrap_or(3),
        agents: asked.agents.unwrap_or(1),
        until: asked.until,
        seed,
        stale: stale.number(),
        max_attempts: asked.max_attempts.and_then(Bound::number),
        lenses,
        has_holdout: asked.holdout.is_some(),
        content: tree,
        request: Request {
            started: clock::timestamp(),
            branch,
            base,
            fitness,
            objective: asked.objective.clone(),
            files: asked.files.clone(),
            frozen: editable.frozen,
            hidden: editable.hidden,
            protect: editable.protect,
            gates: asked.gates.clone(),
            holdout: asked.holdout.clone(),
            benchmarks: asked.benchmarks.unwrap_or(1),
            gate_timeouts_s: BTreeMap::new(),
            timeout_s: asked.timeout.unwrap_or(file::TIMEOUT).as_secs_f64(),
            prepare: asked.prepare.clone(),
            link: asked.link.clone(),
            agent: asked.agent.clone().unwrap_or_default(),
            sandbox: asked.sandbox.clone(),
            max_cost: asked.max_cost.filter(|most| *most < f64::MAX),
            max_time_s: asked.max_time.map(|limit| limit.as_secs_f64()),
        },
    };
    if let Some(file) = &given.file {
        let shown = text::clean_line(&file.shown);
        let message = format!("what flags do not say is from {shown}");
        place.events.note(message);
    }
    if asked.direction.is_none() {
        place.events.warn(
            "nothing says whether a higher or a lower number is better: higher is taken for it, `--direction min` turns it round",
        );
    }
    if let Some((store, lineage)) = &last {
        tell_of_winner(place, store, lineage);
    }
    let store = Store::next(repo)?;
    Ok(Planned { store, plan, goals })
}

/// Says that the last search has a winner which is on no branch: `apply` alone is from now on about the one that begins.
fn tell_of_winner(place: &Place<'_>, store: &Store, lineage: &Lineage) {
    if let Some(words) = strange(store) {
        return place.events.warn(words);
    }
    if let Some(best) = winner_alone(place.repo, store, lineage) {
        place.events.note(format!(
            "the winner of search {0}, attempt {best}, is on no branch: `evolve search apply --search {0}` lands it, later too",
            store.number
        ));
    }
}

/// Returns the winner of a search that is on no branch, if there is one.
pub fn winner_alone(repo: &Repo, store: &Store, lineage: &Lineage) -> Option<Id> {
    let best = overview::of(lineage, store.number).best;
    let is_there = best > 0 && repo.has_object(commit(lineage, best));
    (is_there && branches_with(repo, lineage, best).is_empty()).then_some(best)
}

/// Returns the newest search; refuses to begin another one while it is unfinished.
fn last_one(repo: &Repo) -> Result<Option<(Store, Lineage)>> {
    match Store::newest(repo)? {
        Some((store, lineage)) if lineage.end.as_ref().is_none_or(|end| end.why.can_go_on()) => {
            Err(
                Error::usage(format!("search {} is unfinished", store.number)).hint(
                    "go on with `evolve search resume`, or give it up with `evolve search discard`",
                ),
            )
        }
        last => Ok(last),
    }
}

/// Reads the goals whose checks may become gates.
fn goals_of(repo: &Repo, tree: &str) -> Result<Goals> {
    let file = GoalsFile::of_root(repo);
    let (goals, _) = file.load()?;
    file.refuse_uncommitted(repo, tree)?;
    Ok(goals)
}

/// What attempts may change, and its parts.
struct Parts {
    whole: Editable,
    frozen: Vec<String>,
    /// Those that only the hold-out runs.
    hidden: Vec<String>,
    protect: Vec<String>,
}

/// Finds out what attempts may change: what commands run is only among it where `--files` names it without a wildcard.
fn editable(place: &Place<'_>, given: &Given, goals: Option<&Goals>, tree: &str) -> Result<Parts> {
    let asked = &given.asked;
    for (name, patterns) in [("--files", &asked.files), ("protect", &asked.protect)] {
        if let Some(pattern) = editable::beyond(patterns) {
            let pattern = text::clean_line(pattern);
            return Err(Error::usage(format!(
                "{name}: {pattern} is not below the repository's root"
            ))
            .hint("patterns are relative to the root, as in 'src/**/*.rs'"));
        }
    }
    let mut commands = asked.gates.clone();
    commands.extend(asked.fitness.clone());
    commands.extend(asked.prepare.clone());
    let of_goals = goals.iter().flat_map(|goals| &goals.goals);
    commands.extend(of_goals.map(|goal| goal.check.clone()));
    let told = run_by(place.repo, &commands, tree);
    commands.extend(asked.holdout.clone());
    let yardstick = yardstick_of(place.repo, &commands, tree);
    let run = yardstick.frozen.clone();
    let hidden = run.iter().filter(|path| !told.contains(path)).cloned();
    let hidden = hidden.collect();
    let own = given.file.as_ref().and_then(|file| file.in_repo.clone());
    let own: Vec<String> = own
        .into_iter()
        .chain(goals.map(|_| "GOALS.yaml".to_owned()))
        .collect();
    let mut protect = asked.protect.clone();
    protect.extend([file::NAME.to_owned()]);
    let is_named = |path: &String| {
        let mut named = asked.files.iter().map(|file| editable::plain(file));
        named.any(|file| file == path)
    };
    let (named, mut frozen): (Vec<_>, Vec<_>) = run.into_iter().partition(is_named);
    frozen.extend(own);
    frozen.sort();
    frozen.dedup();
    let whole = Editable::of(&asked.files, &frozen, &protect).map_err(Error::usage)?;
    for path in named.iter().filter(|path| whole.has(path)) {
        place.events.warn(format!(
            "{path} is what the number is measured with, and --files names it: attempts can change the yardstick"
        ));
    }
    let named = asked.files.iter().map(|file| editable::plain(file));
    for path in named.filter(|path| !check::is_pattern(path) && whole.has(path)) {
        if !place.repo.may_have_file(tree, path) && yardstick.is_in_front(path) {
            place.events.warn(format!(
                "{path} would come in front of what the number is measured with, and --files names it: attempts can change the yardstick"
            ));
        }
    }
    if let Some(path) = whole.conversion() {
        place.events.warn(format!(
            "{path} says how git writes files, and --files names it: attempts can change what frozen files are measured as"
        ));
    }
    Ok(Parts {
        whole,
        frozen,
        hidden,
        protect,
    })
}

/// Returns the files that commands run.
pub fn run_by(repo: &Repo, commands: &[String], tree: &str) -> Vec<String> {
    yardstick_of(repo, commands, tree).frozen
}

/// Returns what commands measure by.
fn yardstick_of(repo: &Repo, commands: &[String], tree: &str) -> Yardstick {
    let goals = Goals::of_commands(commands);
    let is_file = |path: &str| repo.may_have_file(tree, path);
    let workspace = Workspace { repo };
    workspace.yardstick(&goals, &is_file)
}

/// Refuses uncommitted changes of files that count, and patterns that name no file of the commit.
fn refuse_unfit(
    place: &Place<'_>,
    editable: &Parts,
    asked: &Asked,
    branch: &str,
    base: &str,
) -> Result<()> {
    let repo = place.repo;
    let touched = refuse_dirty(repo, &editable.whole)?;
    if !touched.is_empty() {
        place.events.note(format!(
            "not committed, so not in the copies: {}",
            text::some_of(&touched, 5)
        ));
    }
    let (files, modules) = listed(repo, base)?;
    if files.iter().any(|path| editable.whole.has(path)) {
        return Ok(());
    }
    let names = |module: &&String| {
        let of = |pattern: &String| pattern.trim_start_matches("./").starts_with(*module);
        asked.files.iter().any(of)
    };
    let branch = [branch.trim_start_matches("refs/heads/").to_owned()];
    let none = Error::usage(format!(
        "no file of {} is one that attempts may change: {}",
        text::some_of(&branch, 1),
        asked.files.join(" ")
    ));
    let withheld = files
        .into_iter()
        .filter(|path| editable.whole.is_withheld(path));
    let withheld: Vec<String> = withheld.collect();
    Err(match modules.iter().find(names) {
        Some(module) => none.hint(format!(
            "{} is another repository: run evolve in it",
            text::clean_line(module)
        )),
        None if !withheld.is_empty() => none.hint(format!(
            "`protect` has it stay as it is: {}",
            text::some_of(&withheld, 5)
        )),
        None => none.hint("patterns are relative to the repository's root, as in 'src/**/*.rs'; what the commands run is never editable"),
    })
}

/// Lists the files of a commit, and its submodules.
pub(super) fn listed(repo: &Repo, commit: &str) -> Result<(Vec<String>, Vec<String>)> {
    let listed = repo.files_of(commit)?.into_iter();
    let (modules, files): (Vec<_>, Vec<_>) = listed.partition(|(_, entry)| !entry.is_file());
    let paths = |entries: Vec<(Vec<u8>, _)>| {
        let paths = entries.into_iter().map(|(path, _)| path);
        paths
            .map(|path| String::from_utf8_lossy(&path).into_owned())
            .collect()
    };
    Ok((paths(files), paths(modules)))
}

/// Refuses uncommitted changes of files that count; returns the others.
fn refuse_dirty(repo: &Repo, editable: &Editable) -> Result<Vec<String>> {
    let listed = repo.git.run(&[
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=all",
        "--ignore-submodules=dirty",
    ])?;
    let entries = listed.split(|byte| *byte == 0);
    let paths = entries.filter_map(|entry| entry.get(3..));
    let paths = paths.map(|path| String::from_utf8_lossy(path).into_owned());
    let counts = |path: &String| editable.has(path) || editable.is_frozen(path);
    let (counting, others): (Vec<_>, Vec<_>) = paths.partition(counts);
    match counting.is_empty() {
        true => Ok(others),
        false => Err(Error::unsafe_repo(format!(
            "files that the search is about have changes that are not committed: {}",
            text::some_of(&counting, 5)
        ))
        .hint("commit or stash them; a search starts from a commit")),
    }
}
