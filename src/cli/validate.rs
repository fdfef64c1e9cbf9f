//! `evolve validate`: what is wrong with the goals file, what is frozen while a cycle runs, and what could be.

use crate::cli::config::user_config;
use crate::cli::here::{current_dir, goals_file};
use crate::cli::options::Global;
use crate::cli::place::{refuse_led_back, refuse_tracked_links};
use crate::cli::print::print_document;
use crate::effects::agent::Agent;
use crate::effects::repo::Repo;
use crate::effects::sandbox::Sandbox;
use crate::effects::workspace::Workspace;
use crate::error::{Kind, Result, Spot};
use crate::model::check;
use crate::model::goals::{Goal, Goals, Where};
use crate::model::text;
use crate::model::validation::{Problem, Proposal, Validation};
use crate::session::GoalsFile;
use crate::view::{validation, width};

/// Checks the goals file. Its errors are in the document, too; the exit code is the same.
pub fn validate(global: &Global, as_json: bool) -> Result<u8> {
    let repo = Repo::discover(&current_dir()?)?;
    let file = goals_file(global, &repo)?;
    let (goals, spots, missing) = match load(&repo, &file) {
        Err(error) if as_json && error.kind == Kind::Usage => {
            print_document("validation", &Validation::of_error(&file.shown, &error))?;
            return Ok(error.kind.exit_code());
        }
        loaded => loaded?,
    };
    let mut warnings = warnings(&repo, &goals);
    warnings.extend(missing);
    let (mut found, unfollowed) = examine(&repo, &goals, &file.shown)?;
    let later: Vec<String> = unfollowed.into_iter().chain(changing(&goals)).collect();
    let words = warnings.iter().chain(&later).cloned();
    found.warnings = spots
        .iter()
        .map(Problem::from)
        .chain(words.map(Problem::from))
        .collect();
    if as_json {
        print_document("validation", &found)?;
        return Ok(0);
    }
    global.point_out(&spots);
    for warning in warnings.iter().chain(&later) {
        global.warn(warning);
    }
    global.say(&validation::page(&found, width::of_terminal()));
    Ok(0)
}

/// Reads the goals; what the shell cannot read is an error like any other, and so is what cannot be linked. Returns their warnings,
/// and what is to be linked and is not there.
fn load(repo: &Repo, file: &GoalsFile) -> Result<(Goals, Vec<Spot>, Vec<String>)> {
    let (goals, spots) = file.load()?;
    file.refuse_unread(&goals)?;
    let missing = refuse_tracked_links(repo, &goals.settings.link)?;
    refuse_led_back(repo, &goals.settings.link)?;
    Ok((goals, spots, missing))
}

/// Says what the loop would do without here.
fn warnings(repo: &Repo, goals: &Goals) -> Vec<String> {
    let mut said = Sandbox::left_out(&goals.settings.sandbox, &repo.ground());
    let of_user = user_config().map_or_else(|_| Vec::new(), |user| user.agents);
    let entries = [of_user, goals.settings.agents.clone()];
    said.extend(Agent::unknown(
        goals.settings.agent.as_ref(),
        &entries,
        &repo.root,
    ));
    said
}

/// Finds out what a cycle would freeze and what only `protect` could; beside it is what is not followed, in words.
fn examine(repo: &Repo, goals: &Goals, shown: &str) -> Result<(Validation, Option<String>)> {
    let workspace = Workspace { repo };
    let on_disk = |path: &str| workspace.has_file_on_disk(path.as_bytes());
    let mut yardstick = workspace.yardstick(goals, &on_disk);
    let built = match repo.head()?.commit {
        Some(commit) => {
            let tree = repo.tree_of(&commit)?;
            yardstick
                .leaned_on
                .retain(|path| !workspace.is_product(&tree, path));
            yardstick.let_go(&|path| workspace.may_be_built(&tree, path))
        }
        None => Vec::new(),
    };
    let leaned_on = Proposal::to_protect(&yardstick.leaned_on, goals.prepare.is_some());
    let proposals = leaned_on.into_iter().chain(proposal_on_own_files(goals));
    let unfollowed = yardstick.unfollowed_words();
    let idle = workspace.protecting_nothing(&goals.settings.protect)?;
    let found = Validation {
        frozen: yardstick.frozen,
        built,
        protect_without_file: idle.into_iter().map(str::to_owned).collect(),
        proposals: proposals.collect(),
        ..Validation::of_goals(shown, goals)
    };
    Ok((found, unfollowed))
}

/// Says which checks change files that they should look at; in a clean copy that does no harm.
fn changing(goals: &Goals) -> Vec<String> {
    if goals.settings.measure == Where::Clean {
        return Vec::new();
    }
    let told = |goal: &Goal| {
        let command = check::changing(&goal.check)?;
        Some(format!(
            "the check of {} changes files ({}); a goal only looks, as `cargo fmt --check` does",
            goal.id,
            text::clean_line(&command)
        ))
    };
    goals.goals.iter().filter_map(told).collect()
}

/// Proposes what to do where checks count what `evolve` itself commits: the words that they look for stand in its records.
fn proposal_on_own_files(goals: &Goals) -> Option<Proposal> {
    let everywhere = |goal: &&Goal| check::looks_at_everything(&goal.check);
    let ids: Vec<&str> = goals
        .goals
        .iter()
        .filter(everywhere)
        .map(|goal| goal.id.as_str())
        .collect();
    (!ids.is_empty()).then(|| Proposal {
        message: format!(
            "{} would see evolve's own files in .agents too, which are committed with every cycle; to leave them out, end the git command with",
            ids.join(", ")
        ),
        add: "-- . ':!.agents'".to_owned(),
    })
}
