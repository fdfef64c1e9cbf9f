//! Applying an attempt, on a person's word: merged onto the branch's tip, measured there, and only then on the branch
//! (rule S8).

use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Merged, Repo};
use crate::effects::search::goalposts::Goalposts;
use crate::effects::search::lent::Lent;
use crate::effects::search::sample::{Answer, Sampler};
use crate::effects::search::store::Store;
use crate::effects::workspace::{Hindrance, Landed, Landing, Workspace};
use crate::error::{Error, Kind, Result};
use crate::model::search::editable::Editable;
use crate::model::search::lineage::{Id, Lineage, Measure};
use crate::model::search::score::Channel;
use crate::model::search::view::Digits;
use crate::model::{text, yardstick};
use crate::search::is_deterministic;
use crate::search::overview::last_shown;
use crate::search::standing::Standing;
use crate::session::{Cut, Site, Slots};

use super::measure::{channel, commit};

/// The most bytes of the file that tells of a landing.
const LIMIT: u64 = 1 << 16;
/// The most paths that are named.
const NAMED: usize = 5;

/// Where an attempt is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The branch (`refs/heads/…`).
    pub branch: String,
    /// The commit that it is on, or is made on.
    pub tip: String,
    /// The branch is made for it.
    pub is_new: bool,
}

/// What the quarantine of what an attempt took the place of is called.
const QUARANTINE: &str = "search-apply";

/// An attempt that is on its branch.
#[derive(Clone, Debug, PartialEq)]
pub struct Applied {
    /// The commit.
    pub commit: String,
    /// How the merged result was measured.
    pub held: Held,
    /// What of the user's stayed as it was, or is in the quarantine.
    pub notes: Vec<String>,
}

/// How a merged result was measured before it went to the branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Held {
    /// The attempt's score, as the search has it.
    pub recorded: Option<f64>,
    /// The merged result's samples; none where the search's last word was enough.
    pub ours: Vec<f64>,
    /// Those of the branch as it was.
    pub theirs: Vec<f64>,
}

/// Returns branches that an attempt is on; none for the untouched code, which is no attempt.
pub fn branches_with(repo: &Repo, lineage: &Lineage, id: Id) -> Vec<String> {
    match id {
        0 => Vec::new(),
        _ => repo.branches_with(commit(lineage, id), NAMED),
    }
}

/// Applies an attempt.
pub async fn apply(
    site: &Site,
    lineage: &Lineage,
    id: Id,
    message: &str,
    target: &Target,
) -> Result<Applied, Cut> {
    let attempt = commit(lineage, id);
    if site.user.descends(&target.tip, attempt)? {
        return Err(
            Error::usage(format!("attempt {id} is on the branch already"))
                .hint("`git log` shows it; `evolve search board` lists the others")
                .into(),
        );
    }
    let base = &lineage.plan.request.base;
    refuse_others(site, base, attempt, id)?;
    if !site.user.descends(&target.tip, base)? {
        return Err(Error::new(
            Kind::Human,
            "the branch does not go on from the commit that the search began with, so its history would come along".to_owned(),
        )
        .hint(format!(
            "nothing was changed; check out the branch that it began on, or take the change alone: `git diff {base} {attempt} | git apply --3way`"
        ))
        .into());
    }
    let merged = match site.user.merge(&target.tip, attempt, message)? {
        Merged::Clean(merged) => merged,
        Merged::Conflict(paths) => {
            let paths = text::some_of(&paths, NAMED);
            return Err(Error::new(
                Kind::Human,
                format!("attempt {id} conflicts with what was committed since: {paths}"),
            )
            .hint(format!(
                "nothing was changed; `git merge {attempt}` lets you bring both together"
            ))
            .into());
        }
    };
    refuse_moved(site, id, &merged, target).await?;
    let lent = Lent::of(&site.user, &site.store.folder, &site.id, &site.request)?;
    let held = hold_against_tip(site, lineage, id, &merged, target).await;
    let told = lent.end()?;
    told.into_iter().for_each(|words| site.events.warn(words));
    let held = held?;
    let notes = land(site, target, &merged)?;
    Ok(Applied {
        commit: merged,
        held,
        notes,
    })
}

/// Refuses an attempt that changes what attempts may not: none that `evolve` made does.
fn refuse_others(site: &Site, base: &str, attempt: &str, id: Id) -> Result<()> {
    let request = &site.request;
    let editable =
        Editable::of(&request.files, &request.frozen, &request.protect).map_err(Error::internal)?;
    let trees = (site.user.tree_of(base)?, site.user.tree_of(attempt)?);
    let changed = site.user.differences(&trees.0, &trees.1)?;
    let paths = changed
        .iter()
        .map(|one| String::from_utf8_lossy(&one.path).into_owned());
    let others: Vec<String> = paths.filter(|path| !editable.has(path)).collect();
    match others.is_empty() {
        true => Ok(()),
        false => Err(Error::unsafe_repo(format!(
            "attempt {id} changes what no attempt may: {}",
            text::some_of(&others, NAMED)
        ))
        .hint("nothing was changed; somebody else made it, as evolve makes none that does")),
    }
}

/// Refuses an attempt that would be measured by something else than what the branch is: none that `evolve` accepted is.
async fn refuse_moved(site: &Site, id: Id, merged: &str, target: &Target) -> Result<(), Cut> {
    let (user, request) = (&site.user, &site.request);
    let editable =
        Editable::of(&request.files, &request.frozen, &request.protect).map_err(Error::internal)?;
    let slot = site.slot(Slots::Apply, 0, &target.tip).await?;
    let goalposts = Goalposts::of(user, &slot, &target.tip, request.measured_by())?;
    let slot = site.slot(Slots::Apply, 0, merged).await?;
    let moved = goalposts.held(user, &slot, merged, &editable)?.moved;
    match moved.is_empty() {
        true => Ok(()),
        false => Err(Error::unsafe_repo(format!(
            "attempt {id}: {}",
            yardstick::moved(&moved)
        ))
        .hint("nothing was changed; something else would measure it than what measures the branch")
        .into()),
    }
}

/// Measures the merged result: gates, and where others committed since, or the search did not show it in the end, whether it is
/// better than what is on the branch.
async fn hold_against_tip(
    site: &Site,
    lineage: &Lineage,
    id: Id,
    merged: &str,
    target: &Target,
) -> Result<Held, Cut> {
    let recorded = Standing::of(lineage).score(id);
    for (number, gate) in site.request.gates.iter().enumerate() {
        let slot = site.slot(Slots::Apply, 0, merged).await?;
        let place = site.sampler_of_gate(&slot, id, gate)?;
        let name = format!("apply-gate-{}", number + 1);
        if let Answer::Failed(why) = heard(site, place.gate(gate, &name).await?)? {
            return Err(lost(format!("a gate does not pass on the branch: {why}")));
        }
    }
    // The search's last word is as good where nobody committed since.
    let is_shown = last_shown(lineage, id).is_some_and(|shown| shown.better);
    if target.tip == lineage.plan.request.base && is_shown {
        return Ok(Held {
            recorded,
            ..Held::default()
        });
    }
    let samples = match is_deterministic(lineage) {
        true => 1,
        false => lineage.plan.repeats.max(1),
    };
    let channel = channel(lineage, Measure::First);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for number in 1..=samples {
        let slot = site.slot(Slots::Apply, 0, merged).await?;
        let (place, name) = (site.sampler(&slot, id)?, format!("apply-{number}"));
        ours.push(sample(site, &place, channel, &name).await?);
        let slot = site.slot(Slots::Tip, 0, &target.tip).await?;
        let (place, name) = (site.sampler(&slot, id)?, format!("apply-{number}-of-tip"));
        theirs.push(sample(site, &place, channel, &name).await?);
    }
    let held = Held {
        recorded,
        ours,
        theirs,
    };
    match lineage
        .plan
        .direction
        .are_all_better(&held.ours, &held.theirs)
    {
        true => Ok(held),
        false => Err(lost(format!(
            "on the branch as it is now it is no longer better: {}",
            held.compared()
        ))),
    }
}

impl Held {
    /// Says what was measured, and what the search has: `2.1 against 1.9; the search recorded 2.2`.
    pub fn compared(&self) -> String {
        let all = self.ours.iter().chain(&self.theirs).chain(&self.recorded);
        let digits = Digits::of(all.copied());
        let list = |samples: &[f64]| {
            let words: Vec<String> = samples.iter().map(|one| digits.show(*one)).collect();
            words.join(", ")
        };
        let recorded = self.recorded.map_or(String::new(), |score| {
            format!("; the search recorded {}", digits.show(score))
        });
        format!(
            "{} against {}{recorded}",
            list(&self.ours),
            list(&self.theirs)
        )
    }
}

async fn sample(
    site: &Site,
    place: &Sampler,
    channel: Option<Channel>,
    name: &str,
) -> Result<f64, Cut> {
    let answer = place.sample(&site.request.fitness, channel, name).await?;
    match heard(site, answer)? {
        Answer::Found(score) => Ok(score.score),
        Answer::Failed(why) => Err(lost(format!("there is no score on the branch: {why}"))),
        Answer::Stopped => Err(Error::internal("BUG: a stopped command was heard").into()),
    }
}

/// Ends where everything was ended.
fn heard<T>(site: &Site, answer: Answer<T>) -> Result<Answer<T>, Cut> {
    match (answer, site.stop.halt()) {
        (Answer::Stopped, Some(halt)) => Err(halt.into()),
        (Answer::Stopped, None) => Err(Error::internal("a command was stopped").into()),
        (answer, _) => Ok(answer),
    }
}

fn lost(why: String) -> Cut {
    Error::new(Kind::Human, why)
        .hint("nothing was changed; search again from the branch as it is now")
        .into()
}

/// Moves the branch, and the checkout with it. What is about to be done is written down first, so that a crash half way is
/// completed by the next start.
fn land(site: &Site, target: &Target, merged: &str) -> Result<Vec<String>> {
    let user = &site.user;
    if target.is_new {
        user.make_ref(&target.branch, merged, "evolve: an attempt of a search")?;
        return Ok(Vec::new());
    }
    let landing = Landing {
        branch: target.branch.clone(),
        from: target.tip.clone(),
        to: merged.to_owned(),
    };
    let told = serde_json::to_vec(&landing).expect("BUG: a landing is always JSON");
    let file = Store::applying(&user.private);
    files::replace(&file, &told)?;
    let mut quarantine = Quarantine::of(&user.private, QUARANTINE, 1);
    let landed = Workspace { repo: user }.land(&landing, &mut quarantine)?;
    files::remove(&file)?;
    let mut hint = "nothing was changed; run `evolve search apply` again";
    let (kind, why) = match landed {
        Landed::Done(notes) => return Ok(notes),
        Landed::Moved(_) => (
            Kind::Human,
            "somebody committed while it was measured".to_owned(),
        ),
        Landed::Hindered(Hindrance::Files(paths)) => {
            hint = "nothing was changed; move it away or commit it, then run `evolve search apply` again";
            let paths = text::some_of(&paths, NAMED);
            (
                Kind::Unsafe,
                format!("what is not committed is in the way: {paths}"),
            )
        }
        Landed::Hindered(Hindrance::Busy(why)) => (Kind::Unsafe, why),
        Landed::Hindered(Hindrance::Unwritable(why)) => {
            hint = "nothing was changed; mend the filter of git's that fails, or what it needs";
            (
                Kind::Unsafe,
                format!("git cannot write its files into the working tree: {why}"),
            )
        }
        Landed::Hindered(Hindrance::Locked(what)) => (
            Kind::Unsafe,
            format!(
                "another git is at work here: {}",
                text::some_of(&what, NAMED)
            ),
        ),
    };
    Err(Error::new(kind, why).hint(hint))
}

/// What was done about an `apply` that was killed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// In words.
    pub words: Vec<String>,
    /// What was being applied is on its branch.
    pub has_landed: bool,
}

/// Completes what a killed `apply` had begun. To be called by who holds the loop's lock, before anything else is done.
pub fn recover(user: &Repo) -> Result<Recovered> {
    let file = Store::applying(&user.private);
    let Some(bytes) = files::read_bounded(&file, LIMIT)? else {
        return Ok(Recovered::default());
    };
    let mut recovered = Recovered::default();
    if let Ok(landing) = serde_json::from_slice::<Landing>(&bytes) {
        let workspace = Workspace { repo: user };
        let began = files::seconds_of(&file)?;
        recovered.words = workspace.clear_locks_of(&[&landing.branch], began)?;
        let mut quarantine = Quarantine::of(&user.private, QUARANTINE, 1);
        let landed = workspace.complete_landing(&landing, &mut quarantine)?;
        recovered.has_landed = landed.is_some();
        recovered.words.extend(landed.unwrap_or_default());
        if recovered.has_landed {
            let to = &landing.to;
            let words = format!("completed: what was being applied is on the branch ({to})");
            recovered.words.push(words);
        }
    }
    files::remove(&file)?;
    Ok(recovered)
}
