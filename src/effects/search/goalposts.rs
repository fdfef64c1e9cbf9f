//! What measures attempts is frozen, and so is what stands in front of it: noted of the untouched code, and held against what an
//! attempt comes to, each in a copy that no agent enters.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::effects::repo::{Difference, Repo};
use crate::effects::slot::Slot;
use crate::effects::workspace::Workspace;
use crate::effects::{instead, program};
use crate::error::Result;
use crate::model::goals::Goals;
use crate::model::search::editable::Editable;
use crate::model::yardstick::{self, Yardstick};

/// What commands of a search find in the untouched code.
#[derive(Debug)]
pub struct Goalposts {
    /// The commands.
    goals: Goals,
    yardstick: Yardstick,
    /// The tree of the untouched code.
    tree: String,
    /// What lies beside scripts and is taken in place of Python's own modules.
    own_modules: Vec<String>,
    /// Where the programs are that the commands call, those of the copy by their paths in it.
    programs: BTreeMap<String, String>,
}

/// What an attempt does to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// What it puts in front of what the commands run, in words: then nothing is believed.
    pub moved: Vec<String>,
    /// The settings, tests and their like that it changes and that nothing freezes.
    pub leaned_on: Vec<String>,
}

impl Goalposts {
    /// Notes what commands find in a slot that was made ready on `commit`.
    pub fn of(user: &Repo, slot: &Slot, commit: &str, goals: Goals) -> Result<Goalposts> {
        let tree = user.tree_of(commit)?;
        let repo = Repo::open_slot(&slot.root, user)?;
        let workspace = Workspace { repo: &repo };
        let is_file = |path: &str| {
            user.may_have_file(&tree, path) || workspace.has_file_on_disk(path.as_bytes())
        };
        let yardstick = workspace.yardstick(&goals, &is_file);
        Ok(Goalposts {
            own_modules: program::taken_for_own(&yardstick.fronts, &slot.root),
            programs: programs(&goals, &yardstick, &slot.root),
            goals,
            yardstick,
            tree,
        })
    }

    /// Says what an attempt does to them, in a slot that was made ready on its commit.
    pub fn held(
        &self,
        user: &Repo,
        slot: &Slot,
        commit: &str,
        editable: &Editable,
    ) -> Result<Held> {
        let differences = user.differences(&self.tree, &user.tree_of(commit)?)?;
        Ok(Held {
            moved: self.moved(user, &slot.root, &differences, editable),
            leaned_on: self.leaned_on(user, &differences, editable),
        })
    }

    /// Returns what an attempt changes that the commands lean on and nothing freezes. What `--files` names by its very name a person
    /// let it change.
    fn leaned_on(
        &self,
        user: &Repo,
        differences: &[Difference],
        editable: &Editable,
    ) -> Vec<String> {
        let was_there = |path: &str| user.may_have_file(&self.tree, path);
        let changed = differences.iter().map(|one| (shown(&one.path), one));
        let leaned_on = changed.filter(|(path, _)| {
            !editable.is_named(path) && self.yardstick.is_steering(path, &was_there)
        });
        let mut told: Vec<String> = leaned_on
            .map(|(path, one)| match one.new {
                Some(_) => path,
                None => format!("{path} (removed)"),
            })
            .collect();
        told.dedup();
        told
    }

    /// Says what an attempt puts in front of what the commands run, or beside it where they run all that is there, in the copy at `root`.
    /// What it has of `--files` by its very name is what a person let it change.
    fn moved(
        &self,
        user: &Repo,
        root: &Path,
        differences: &[Difference],
        editable: &Editable,
    ) -> Vec<String> {
        let yardstick = &self.yardstick;
        let there = differences.iter().filter(|one| one.new.is_some());
        let changed = there.map(|one| shown(&one.path));
        let changed: Vec<String> = changed.filter(|path| !editable.is_named(path)).collect();
        // What of what was there is frozen was settled when the search began.
        let is_new = |path: &&String| !user.may_have_file(&self.tree, path);
        let new = changed.iter().filter(is_new);
        let frozen = new.filter(|path| yardstick.is_frozen(path));
        let mut moved: Vec<String> = frozen.map(|path| format!("{path} changed")).collect();
        let mut taken = instead::taken(yardstick, root, &changed);
        taken.retain(|one| yardstick.is_refused(one) && !editable.is_named(&one.path));
        moved.extend(taken.iter().map(ToString::to_string));
        moved.extend(instead::taken_for_done(
            yardstick, user, &self.tree, &changed,
        ));
        let installed = yardstick.installed();
        let now = programs(&self.goals, yardstick, root);
        let mut exchanged = yardstick::put_in_front(&self.programs, &now);
        exchanged.retain(|one| !installed.contains(&one.program) && !editable.is_named(&one.is));
        moved.extend(exchanged.iter().map(ToString::to_string));
        let mut now = program::taken_for_own(&yardstick.fronts, root);
        now.retain(|path| {
            let paths = [path.clone(), format!("{path}/__init__.py")];
            let is_named = paths.iter().any(|path| editable.is_named(path));
            !is_named && !yardstick.may_begin(path, &BTreeSet::new())
        });
        moved.extend(yardstick::taken_for_own(&self.own_modules, &now));
        moved
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Returns where the programs are that commands call, those below `root` by their paths there.
fn programs(goals: &Goals, yardstick: &Yardstick, root: &Path) -> BTreeMap<String, String> {
    let found = program::called_by_checks(goals, &yardstick.packaged, &|_| true, root);
    let below = |place: String| match Path::new(&place).strip_prefix(root) {
        Ok(path) => path.display().to_string(),
        Err(_) => place,
    };
    let found = found.into_iter();
    found.map(|(name, place)| (name, below(place))).collect()
}
