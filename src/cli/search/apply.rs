//! `evolve search apply`: an attempt goes to a branch, because a person says so.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::look::options::Which;
use super::place::{lock_file, take_lock};
use super::steer::{found, heed_words_left, no_attempt, none_here, strange};
use crate::cli::complete;
use crate::cli::config::user_config;
use crate::cli::here::{current_dir, refuse_unsettled};
use crate::cli::options::{Global, attempt};
use crate::cli::start::block_on;
use crate::cli::watch::{Log, Watcher, watch};
use crate::effects::process::Supervisor;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Sandbox;
use crate::effects::search::store::Store;
use crate::effects::slot::Written;
use crate::effects::stop::{self, Stop};
use crate::effects::{clock, git, lock, places, within};
use crate::engine::search::apply::{self, Applied, Held, Target};
use crate::engine::search::{lost, put_right_since};
use crate::error::{Error, Kind, Result};
use crate::event::Events;
use crate::model::search::lineage::{Id, Lineage, Measure};
use crate::model::search::view::Digits;
use crate::model::text;
use crate::search::ending::Ending;
use crate::search::overview::last_shown;
use crate::search::standing::Standing;
use crate::session::{Cut, Ending as SessionEnding, Site, Slots};

/// How many gates are named.
const GATES: usize = 5;

/// What is applied, and where.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ApplyOptions {
    /// The attempt [default: the best]
    #[arg(value_parser = attempt, add = ArgValueCompleter::new(complete::attempts))]
    id: Option<Id>,
    /// Make a branch for it instead of moving the one that is checked out
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    #[command(flatten)]
    which: Which,
}

/// Applies an attempt.
pub fn apply(global: &Global, options: &ApplyOptions) -> Result<u8> {
    let watched = watch(global, Watcher::Person(None), Log::Bare)?;
    let done = block_on(start(options, &watched.events));
    watched.end();
    let done = done?;
    global.say(&done.words);
    Ok(done.exit_code)
}

struct Done {
    words: String,
    exit_code: u8,
}

async fn start(options: &ApplyOptions, events: &Events) -> Result<Done> {
    let mut repo = Repo::discover(&current_dir()?)?;
    within::refuse(&repo.private)?;
    let kill_files = stop::kill_files()?;
    stop::prepare(&kill_files);
    let stop = Stop::watch(kill_files)?;
    if let Some(halt) = stop.look_for_kill() {
        return Ok(of_halt(&SessionEnding::of_halt(&halt)));
    }
    lock::refuse_held(&lock_file(&repo))?;
    let meant = match options.which.number {
        None => Store::last(&repo).ok_or_else(none_here)?,
        Some(_) => found(&repo, options.which)?.0,
    };
    places::refuse_state_within(&repo.root)?;
    let id = clock::session_id();
    let since = clock::timestamp();
    let lock = lock::take(&repo.private.join("lock"), &since).await?;
    let (store, mut lineage) = {
        let (_searching, notes) = take_lock(&repo, &id, &since).await?;
        for words in notes {
            events.note(words);
        }
        put_right_since(&meant, events)?;
        found(&repo, options.which)?
    };
    refuse_unsettled(&repo)?;
    repo.make_durable()?;
    let supervisor = Supervisor::with_lock(stop.clone(), &repo.root, &lock, Vec::new())?;
    git::pack::supervise(&supervisor, &id);
    repo.git = repo.git.supervised(&supervisor, &id);
    let recovered = apply::recover(&repo)?;
    if recovered.has_landed {
        return Ok(Done {
            words: recovered.words.join("\n") + "\n",
            exit_code: 0,
        });
    }
    for words in recovered.words {
        events.note(words);
    }
    if let (Some(words), None) = (strange(&store), options.which.number) {
        let number = store.number;
        return Err(Error::unsafe_repo(words).hint(format!(
            "look at it with `evolve search board`; `evolve search apply --search {number}` applies it all the same"
        )));
    }
    heed_words_left(&store, &mut lineage)?;
    let attempt = chosen(&lineage, options.id)?;
    if let Some(gone) = lost::of(&repo, &store, &lineage, &[attempt]) {
        return Err(gone);
    }
    let target = target(&repo, options.branch.as_deref())?;
    let message = message(&store, &lineage, attempt);
    let ground = repo.ground();
    let wish = lineage
        .plan
        .request
        .sandbox
        .clone()
        .or(&user_config()?.sandbox);
    let (sandbox, _) = Sandbox::choose(&wish, &ground)?;
    let sandbox = sandbox.open(&repo.private)?;
    repo.git.hold_back(&sandbox, &repo.root, ground);
    let request = lineage.plan.request.clone();
    let site = Site {
        id,
        user: repo,
        store,
        request,
        supervisor,
        sandbox,
        stop,
        events: events.clone(),
        written: Written::default(),
    };
    let branch = text::clean_line(target.branch.trim_start_matches("refs/heads/"));
    let applied = apply::apply(&site, &lineage, attempt, &message, &target).await;
    site.remove_slots(&Slots::OF_APPLY);
    match applied {
        Ok(Applied {
            commit,
            held,
            notes,
        }) => Ok(Done {
            words: format!(
                "attempt {attempt} is on {branch} as {0}\n{2}{3}{4}hint: `git diff {0}~1 {0}` shows it; `{1}` takes it back\n",
                short(&commit),
                match target.is_new {
                    true => format!("git branch -D {}", text::shell_word(branch.as_bytes())),
                    false => "git reset --keep HEAD~1".to_owned(),
                },
                gates_again(&site.request.gates),
                measured_again(&lineage, attempt, &held),
                notes
                    .iter()
                    .map(|note| format!("note: {}\n", text::clean_line(note)))
                    .collect::<String>()
            ),
            exit_code: 0,
        }),
        Err(Cut::Halt(halt)) => Ok(of_halt(&SessionEnding::of_halt(&halt))),
        Err(Cut::Over(ending)) => Ok(of_halt(&ending)),
        Err(Cut::Failed(error)) => Err(error),
        Err(Cut::Unprepared(why)) => Err(why.error()),
    }
}

/// Says which gates passed once more.
fn gates_again(gates: &[String]) -> String {
    let shown: Vec<String> = gates.iter().map(|gate| text::clean_line(gate)).collect();
    match shown.is_empty() {
        true => "gates: there are none\n".to_owned(),
        false => format!(
            "gates: {} passed again: {}\n",
            shown.len(),
            text::some_of(&shown, GATES)
        ),
    }
}

/// Says what the fitness command said of the merged result, or why it was not asked again.
fn measured_again(lineage: &Lineage, attempt: Id, held: &Held) -> String {
    let shown = last_shown(lineage, attempt);
    if let Some(shown) = shown.filter(|_| held.ours.is_empty()) {
        let all = [shown.winner, shown.baseline].into_iter();
        let digits = Digits::of(all.chain(held.recorded));
        let recorded = held
            .recorded
            .map_or_else(String::new, |score| digits.show(score));
        return format!(
            "fitness: not measured again, the branch is where the search began: recorded {recorded}, at its end {} against {}\n",
            digits.show(shown.winner),
            digits.show(shown.baseline)
        );
    }
    format!(
        "fitness: measured beside the branch as it was: {}\n",
        held.compared()
    )
}

/// Says that nothing was applied, which an ending in good order is not for who asked for it (exit 10).
fn of_halt(ending: &SessionEnding) -> Done {
    Done {
        words: format!("nothing was applied: {}\n", ending.reason),
        exit_code: match ending.exit_code {
            0 => Kind::Failing.exit_code(),
            other => other,
        },
    }
}

fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// Returns the attempt that is meant; refuses one that cannot be applied.
fn chosen(lineage: &Lineage, id: Option<Id>) -> Result<Id> {
    if lineage.attempt(0).measurement(Measure::First).is_none() {
        return Err(Error::usage("the search has not measured anything yet")
            .hint("`evolve search resume` goes on with it"));
    }
    let standing = Standing::of(lineage);
    if id == Some(0) {
        return Err(
            Error::usage("0 is the untouched code, which is no attempt").hint(
                "without a number the best attempt is applied; `evolve search board` lists them",
            ),
        );
    }
    let id = id.unwrap_or_else(|| standing.winner());
    if id == 0 {
        return Err(Error::usage(
            "there is nothing to apply: no attempt is better than the untouched code",
        )
        .hint("`evolve search board` shows what became of each attempt"));
    }
    if id > lineage.newest() {
        return Err(no_attempt(id, lineage));
    }
    if standing.is_pruned(id, Id::MAX) {
        return Err(Error::usage(format!("attempt {id} is pruned"))
            .hint("`evolve search board` lists those that are not"));
    }
    if id >= standing.len() {
        return Err(Error::usage(format!("attempt {id} is still under way"))
            .hint("`evolve search resume` goes on with it"));
    }
    match standing.settled(id).ending {
        Ending::Accepted | Ending::Equal => Ok(id),
        other => Err(
            Error::usage(format!("attempt {id} is no improvement: {}", other.words()))
                .hint("`evolve search board` lists those that are"),
        ),
    }
}

fn target(repo: &Repo, name: Option<&str>) -> Result<Target> {
    let Some(name) = name else {
        let (branch, tip) = repo.ready_head()?;
        let dirty = repo.git.run(&[
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=no",
            "--ignore-submodules=dirty",
        ])?;
        if !dirty.is_empty() {
            return Err(
                Error::unsafe_repo("there are changes that are not committed")
                    .hint("commit or stash them, or name a new branch with --branch NAME"),
            );
        }
        return Ok(Target {
            branch,
            tip,
            is_new: false,
        });
    };
    let tip = repo.ready_commit()?;
    let branch = new_branch(repo, name)?;
    Ok(Target {
        branch,
        tip,
        is_new: true,
    })
}

/// Returns the ref of a branch that can be made; else says why it cannot (exit 2).
fn new_branch(repo: &Repo, name: &str) -> Result<String> {
    let shown = text::clean_line(name);
    let no_name = || Error::usage(format!("{shown} is no name for a branch"));
    if name.starts_with("refs/") {
        return Err(no_name().hint("name it without refs/heads/, as in --branch faster"));
    }
    let branch = format!("refs/heads/{name}");
    let is_name = |said: &[u8]| said.trim_ascii_end() == name.as_bytes();
    let said = repo.git.run(&["check-ref-format", "--branch", name]);
    if !said.is_ok_and(|said| is_name(&said)) {
        return Err(
            no_name().hint("name it as in --branch faster, without spaces, `..` and the like")
        );
    }
    if repo.resolve(&branch)?.is_some() {
        return Err(Error::usage(format!("the branch {name} is there already"))
            .hint("name another one, or remove it with `git branch -D`"));
    }
    let is_below = |one: &str, other: &str| {
        let below = one.strip_prefix(other);
        below.is_some_and(|below| below.starts_with('/'))
    };
    let refs = repo.all_refs()?;
    let mut others = refs.keys();
    match others.find(|other| is_below(other, &branch) || is_below(&branch, other)) {
        Some(other) => Err(Error::usage(format!(
            "the branch {} is there, and {name} cannot be beside it",
            text::clean_line(other.trim_start_matches("refs/heads/"))
        ))
        .hint("name another one")),
        None => Ok(branch),
    }
}

/// Writes the message of the merge commit.
fn message(store: &Store, lineage: &Lineage, id: Id) -> String {
    let standing = Standing::of(lineage);
    let [before, after] = match last_shown(lineage, id).filter(|_| standing.is_deterministic) {
        // A number that was taken for sure and is not, after all.
        Some(shown) => [Some(shown.baseline), Some(shown.winner)],
        None => [0, id].map(|id| standing.score(id)),
    };
    let digits = Digits::of(before.into_iter().chain(after));
    let score = |score: Option<f64>| score.map_or_else(String::new, |score| digits.show(score));
    let summary = lineage
        .attempt(id)
        .edited()
        .and_then(|edited| edited.summary.clone());
    let summary = summary.map_or_else(String::new, |summary| format!("\n{summary}\n"));
    format!(
        "evolve: search {}, attempt {id}: {} → {}\n{summary}\nMeasured with: {}\n\nEvolve-Search: {}\nEvolve-Attempt: {id}\nEvolve-Score: {}\nEvolve-Base: {}\n",
        store.number,
        score(before),
        score(after),
        text::clean_line(&lineage.plan.request.fitness),
        store.number,
        after.map_or_else(String::new, |score| score.to_string()),
        lineage.plan.request.base
    )
}
