//! Says what a slot lacks: a check that fails there on untouched code, and passes in the user's checkout, leans on files that
//! git ignores. An agent would be paid for what no commit can mend.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::effects::keep::Links;
use crate::effects::led;
use crate::effects::modes::Folders;
use crate::effects::quarantine::Quarantine;
use crate::effects::sandbox::Profile;
use crate::effects::watch::version_of;
use crate::effects::workspace::{Workspace, some_of};
use crate::error::Result;
use crate::model::goals::{Goals, Where};
use crate::model::lack;
use crate::model::snapshot::{CheckResult, Measurement, Snapshot};
use crate::model::text;
use crate::session::{Cut, Progress, Session};

/// How much of what is lacking it is asked of whether it leads back.
const ASKED: usize = 10;

/// Tracked files with changes, each with what tells its bytes from others; none where it is gone.
type Changed = BTreeMap<Vec<u8>, Option<String>>;

/// Looks at the session's first snapshot, if it was made in a slot, and warns of checks that would pass in the checkout, or run there
/// alone.
pub async fn warn(
    session: &Session,
    progress: &mut Progress,
    goals: &Goals,
    snapshot: &Snapshot,
    cycle: u64,
) -> Result<(), Cut> {
    let is_in_slot = session.isolation.is_some() || goals.settings.measure == Where::Clean;
    if !is_in_slot || progress.first.is_some() {
        return Ok(());
    }
    let missed = |id: &str| {
        let result = snapshot.find(id).map(|measurement| measurement.result);
        matches!(result, Some(CheckResult::Fail | CheckResult::Skip))
    };
    let failing: Vec<_> = goals.goals.iter().filter(|goal| missed(&goal.id)).collect();
    let (lacking, untracked) = match failing.is_empty() {
        true => Default::default(),
        false => lacking(session)?,
    };
    if lacking.is_empty() {
        return Ok(());
    }
    let ground = session.home().ground();
    let fence = session.sandbox.fence(Profile::Checks, &ground)?;
    let here = session.measurer.at(&session.home().root, fence);
    let logs = session.logs().join("checkout");
    // The user's files lie here, and not where goals are measured else.
    let links = Links::of(session.home());
    links.make(untracked)?;
    let before = changed_here(session)?;
    let measured = here
        .measure(goals, &failing, &Default::default(), Some(&logs))
        .await;
    let mut quarantine = Quarantine::of(&session.home().private, &session.id, cycle);
    let mut notes = links.settle(&mut quarantine)?;
    notes.extend(written(&before, &changed_here(session)?));
    for note in notes {
        if progress.note_found(&note) {
            session.events.warn(note);
        }
    }
    let measured = measured?;
    let told = better(snapshot, &measured);
    if told.is_empty() {
        return Ok(());
    }
    let dirty = (Workspace {
        repo: session.home(),
    })
    .dirty_files()?;
    let uncommitted = match dirty.is_empty() {
        true => String::new(),
        false => format!(", and changes that are not committed: {}", some_of(&dirty)),
    };
    let prepare = session.options.provisions.prepare.as_deref();
    let checks = failing.iter().map(|goal| goal.check.as_str());
    let commands: Vec<&str> = checks.chain(prepare).collect();
    let lacking = in_order(session, &lacking, &commands)?;
    session.events.warn(format!(
        "{told} in the checkout and not in a copy of what is committed; the checkout has what git does not track: {}{uncommitted} — {}",
        some_of(&lacking),
        advice(session, &lacking)
    ));
    Ok(())
}

/// Returns what is lacking as it is told: folders as a whole, and what the commands name or call first.
fn in_order(session: &Session, lacking: &[String], commands: &[&str]) -> Result<Vec<String>> {
    let home = session.home();
    let tracked = home.tracked_folders()?.folders;
    let tops = lack::folded(lacking, &|folder| tracked.contains(folder.as_bytes()));
    let has_program = |folder: &str, word: &str| {
        let folder = home.root.join(folder);
        let is_name = !word.contains('/');
        let mut places = ["bin", ".bin"].iter();
        is_name && places.any(|place| folder.join(place).join(word).is_file())
    };
    Ok(lack::named_first(tops, commands, &has_program))
}

/// Says what can be done about what is lacking; what leads back into the checkout cannot be lent.
fn advice(session: &Session, lacking: &[String]) -> String {
    let shown = lacking.iter().take(ASKED);
    let leads_back = |path: &&String| {
        let path = path.trim_end_matches('/').to_owned();
        led::in_checkout(&session.home().root, &[path]).is_some()
    };
    let led: Vec<String> = shown.filter(leads_back).cloned().collect();
    match led.is_empty() {
        true => "lend it with --link PATH, or let --prepare CMD make it".to_owned(),
        false => format!(
            "let --prepare CMD make it, or lend it with --link PATH, which {} cannot be: it leads back into the checkout",
            led.join(", ")
        ),
    }
}

/// Names the goals that pass in the checkout, and those that can be measured there alone; empty if there are none.
fn better(in_copy: &Snapshot, here: &[Measurement]) -> String {
    let cannot_run = |id: &str| in_copy.find(id).is_some_and(Measurement::cannot_run);
    let words = |wanted: &dyn Fn(&Measurement) -> bool, what: &str| {
        let ids = here.iter().filter(|one| wanted(one));
        let ids: Vec<&str> = ids.map(|one| one.id.as_str()).collect();
        (!ids.is_empty()).then(|| format!("{} {what}", ids.join(", ")))
    };
    let passing = words(&|one| one.result == CheckResult::Pass, "would pass");
    let fails_only_here =
        |one: &Measurement| one.result == CheckResult::Fail && cannot_run(&one.id);
    let running = words(&fails_only_here, "would run");
    let told: Vec<String> = passing.into_iter().chain(running).collect();
    told.join(" and ")
}

/// Returns the tracked files of the checkout that have changes, each with what tells its bytes from others.
fn changed_here(session: &Session) -> Result<Changed> {
    let repo = session.home();
    let changed = Workspace { repo }.tracked_changes()?;
    let version = |path: Vec<u8>| {
        let version = version_of(&repo.root.join(OsStr::from_bytes(&path)));
        (path, version)
    };
    Ok(changed.into_iter().map(version).collect())
}

/// Names the tracked files that changed: a person may be at work on them, so nothing is put back.
fn written(before: &Changed, after: &Changed) -> Option<String> {
    let all: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let differs = |path: &&&Vec<u8>| before.get(**path) != after.get(**path);
    let names: Vec<String> = all.iter().filter(differs).map(text::path).collect();
    (!names.is_empty()).then(|| {
        format!(
            "while checks ran in the checkout, to see what a copy lacks, {} changed: {}; look at `git diff`",
            text::count(names.len(), "tracked file"),
            some_of(&names)
        )
    })
}

/// Lists what the checkout has that git ignores or does not track, and that no slot is lent; and what git does not track.
fn lacking(session: &Session) -> Result<(Vec<String>, Vec<Vec<u8>>)> {
    let (status, ..) = (Workspace {
        repo: session.home(),
    })
    .look_at_all(&mut Folders::default(), &[])?;
    let lent = &session.options.provisions.link;
    let paths = status.ignored.iter().chain(&status.untracked);
    let shown = paths.map(|path| String::from_utf8_lossy(path).into_owned());
    let lacking = shown
        .filter(|path| !lent.iter().any(|lent| path.trim_end_matches('/') == lent))
        .collect();
    Ok((lacking, status.untracked))
}
