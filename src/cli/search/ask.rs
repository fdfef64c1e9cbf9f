//! What a person at a terminal is asked: which files attempts may change, and how to go on between generations.

use std::io::{BufRead, IsTerminal, Write};
use std::rc::Rc;
use std::time::Duration;

use super::options::RunningOptions;
use super::plan;
use crate::cli::init;
use crate::cli::options::Global;
use crate::cli::print::print;
use crate::effects::look::Disk;
use crate::effects::repo::Repo;
use crate::engine::search::{Answer, Answering, Between};
use crate::error::{Error, Result};
use crate::event;
use crate::model::init::Look;
use crate::model::search::file::{self, Asked};
use crate::model::search::lineage::{Id, Lineage, Strategy};
use crate::model::text;
use crate::search::population;
use crate::search::standing::{Generation, Standing};
use crate::session::Searching;
use crate::view::live;
use crate::view::search_question as view;

/// Says whether there is somebody to ask.
pub fn is_there(global: &Global) -> bool {
    let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    is_terminal && !global.quiet
}

/// Refuses a population where nobody could be asked between generations, and nobody said that this is meant (exit 2).
pub fn refuse_alone(global: &Global, running: &RunningOptions, strategy: Strategy) -> Result<()> {
    let is_asked = is_there(global) && !running.json;
    match strategy {
        Strategy::Population(_) if !running.yes && !is_asked => Err(Error::usage(
            "a population is asked about between generations, and there is no terminal to ask at",
        )
        .hint("add --yes: it goes on by itself then, and applies and discards nothing")),
        Strategy::Population(_) | Strategy::Climb => Ok(()),
    }
}

/// Asks which files attempts may change (exit 2 where nobody can be asked).
pub fn files(global: &Global, repo: &Repo, asked: &Asked) -> Result<Vec<String>> {
    let missing = || {
        Error::usage("it is not said which files attempts may change")
            .hint("name them, as in --files 'src/**/*.rs', or with `files:` in SEARCH.yaml")
    };
    if !is_there(global) {
        return Err(missing());
    }
    let (_, base) = repo.ready_head()?;
    let mut commands = asked.gates.clone();
    commands.extend(asked.fitness.clone());
    commands.extend(asked.prepare.clone());
    commands.extend(asked.holdout.clone());
    let frozen = plan::run_by(repo, &commands, &repo.tree_of(&base)?);
    let proposed = file::sources(Disk::of(repo)?.files(), &frozen);
    let Some(line) = init::answer(&view::files(&proposed)) else {
        return Err(missing());
    };
    let files = match line.is_empty() {
        true => proposed,
        false => patterns(&line).map_err(Error::usage)?,
    };
    match files.is_empty() {
        true => Err(missing()),
        false => Ok(files),
    }
}

/// Reads patterns with spaces between them.
pub fn patterns(line: &str) -> Result<Vec<String>, String> {
    let words = line.split_whitespace();
    let bare = words.map(|word| word.trim_matches(['\'', '"', ',']).to_owned());
    Ok(bare.filter(|word| !word.is_empty()).collect())
}

/// How many attempts are shown between generations.
const SHOWN: usize = 8;

/// Says how a search stands before generation `next`.
fn stand<'a>(standing: &Standing<'a>, next: u64) -> view::Stand<'a> {
    let lineage = standing.lineage;
    let row = |id: Id| {
        let proposal = lineage.proposal(id);
        view::Row {
            id,
            score: standing.score(id),
            operator: proposal.map_or("untouched", |one| one.operator.word()),
            lens: proposal
                .and_then(|one| one.lens.as_deref())
                .unwrap_or_default(),
            ending: match id {
                0 => "",
                id => standing.settled(id).ending.words(),
            },
            is_pruned: standing.is_pruned(id, Id::MAX),
        }
    };
    let mut ids: Vec<Id> = (0..standing.len()).collect();
    ids.sort_by(|a, b| standing.compare(*a, *b));
    let mut ids: Vec<Id> = ids
        .into_iter()
        .filter(|id| standing.score(*id).is_some())
        .take(SHOWN)
        .collect();
    if !ids.contains(&0) {
        ids.push(0);
    }
    let of = match &lineage.plan.strategy {
        Strategy::Climb => next,
        Strategy::Population(plan) => {
            let adjusted = lineage.adjusted(Id::MAX).generations;
            adjusted.unwrap_or(plan.generations)
        }
    };
    view::Stand {
        done: next - 1,
        of,
        stale: stale(standing),
        rows: ids.into_iter().map(row).collect(),
    }
}

/// Returns how many generations had no new best, in a row.
fn stale(standing: &Standing) -> u64 {
    match &standing.lineage.plan.strategy {
        Strategy::Climb => 0,
        Strategy::Population(plan) => {
            let found = population::generation_of(plan, standing, standing.len());
            found.ok().flatten().map_or(0, |one: Generation| one.stale)
        }
    }
}

/// Whoever sits at the terminal while a search goes on.
pub struct Person {
    /// The search.
    pub session: Rc<Searching>,
}

impl Between for Person {
    fn ask<'a>(&'a mut self, lineage: &'a Lineage, generation: u64) -> Answering<'a> {
        Box::pin(async move {
            live::suspend();
            // What was told before stands above the question.
            tokio::time::sleep(10 * event::REST).await;
            let answer = self.answer(lineage, generation).await;
            live::resume();
            answer
        })
    }
}

impl Person {
    async fn answer(&self, lineage: &Lineage, generation: u64) -> Result<Answer> {
        let standing = Standing::of(lineage);
        print(&view::stand(&stand(&standing, generation)));
        loop {
            let Some(line) = ask(&view::next(generation)).await else {
                print("\n");
                return Ok(Answer::Stop);
            };
            match line.to_lowercase().as_str() {
                "" | "c" | "continue" => return Ok(Answer::Go),
                "d" | "diff" => print(&self.diff(lineage, standing.best())?),
                "a" | "adjust" => {
                    if let Some(change) = self.adjust(&standing, generation).await {
                        return Ok(change);
                    }
                }
                "s" | "stop" => return Ok(Answer::Stop),
                "discard" => return Ok(Answer::Discard),
                _ => print("write c, d, a, s, or the whole word discard\n"),
            }
        }
    }

    /// Asks what is to be otherwise; none where nothing is.
    async fn adjust(&self, standing: &Standing<'_>, generation: u64) -> Option<Answer> {
        let lineage = standing.lineage;
        let used = file::Used {
            attempts: lineage.newest(),
            generations: generation - 1,
            stale: stale(standing),
            cost_usd: lineage.spent().known_cost(),
        };
        let request = &lineage.plan.request;
        let now = file::adjusted(lineage);
        print(&format!("it is {now}\n"));
        loop {
            let line =
                ask("what is to be otherwise, as in k=6 stale=off? (an empty line goes back) ")
                    .await?;
            if line.is_empty() {
                return None;
            }
            let objective = request.objective.as_deref();
            let change = file::adjustment(&line, objective, &request.fitness);
            match change.and_then(|change| used.allow(change)) {
                Ok(change) => {
                    print(&format!("from now on: {}\n", file::in_words(&change)));
                    return Some(Answer::Adjust(change));
                }
                Err(why) => print(&format!("{why}\n")),
            }
        }
    }

    /// Returns what the best attempt changes of the untouched code.
    fn diff(&self, lineage: &Lineage, best: Id) -> Result<String> {
        let commit = lineage
            .attempt(best)
            .edited()
            .and_then(|edited| edited.commit.as_deref());
        let Some(commit) = commit else {
            return Ok("nothing is better than the untouched code yet\n".to_owned());
        };
        let base = &lineage.plan.request.base;
        let words = [
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            base,
            commit,
        ];
        let diff = self.session.site.user.git.run(&words)?;
        Ok(text::page(&String::from_utf8_lossy(&diff)))
    }
}

/// Asks for a line, and lets everything else go on meanwhile; none at the end of what is typed.
async fn ask(question: &str) -> Option<String> {
    print(question);
    let _ = std::io::stdout().flush();
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let read = move || {
        let mut line = String::new();
        let count = std::io::stdin().lock().read_line(&mut line);
        let is_line = count.is_ok_and(|count| count > 0);
        let _ = sender.send(is_line.then(|| line.trim().to_owned()));
    };
    std::thread::Builder::new().spawn(read).ok()?;
    let line = receiver.await.ok().flatten();
    // Whoever reads what was typed ends its line: a moment for the terminal.
    tokio::time::sleep(Duration::from_millis(1)).await;
    line
}
