//! Holds what the agent left against the yardstick: frozen files by their bytes, the goals file by what it says.

use super::Attempt;
use crate::effects::keep::Kept;
use crate::effects::quarantine::Quarantine;
use crate::effects::workspace::{Start, Stock, Workspace, some_of};
use crate::effects::{exchanged, files, instead, program};
use crate::error::Result;
use crate::model::check;
use crate::model::gate::Suspect;
use crate::model::goals;
use crate::model::ledger as names;
use crate::model::select::Task;
use crate::model::yardstick::{self, Yardstick};
use crate::session::{Progress, Session};

impl Attempt<'_> {
    /// Returns the digests of the yardstick's bytes on disk: no tree tells of a change to what git does not track, nor of
    /// one behind a link.
    pub(super) fn fingerprints(
        session: &Session,
        yardstick: &Yardstick,
        kept: &Kept,
    ) -> Vec<(String, Option<String>)> {
        let mut files = yardstick.frozen.clone();
        // A copy may be lent one, as a link: what it leads to is another's to put back.
        let links = kept.protected_links().map(String::from_utf8);
        files.extend(links.flatten());
        if session.goals_file.in_repo.is_none() {
            files.push(session.goals_file.path.to_string_lossy().into_owned());
        }
        Attempt::digests(session, &files)
    }

    /// Returns the digests of files' bytes on disk.
    pub(super) fn digests(session: &Session, files: &[String]) -> Vec<(String, Option<String>)> {
        let digest = |file: &String| (file.clone(), session.workspace().fingerprint(file));
        files.iter().map(digest).collect()
    }

    /// Takes stock, and holds the change against the yardstick.
    pub(super) fn stock(&mut self, session: &Session, start: &Start) -> Result<Stock> {
        let mut stock = session.take_stock(start)?;
        self.lend_again(session, start, &mut stock)?;
        if !stock.change.by_others.is_empty() {
            return Ok(stock);
        }
        self.put_back_built(session, start, &mut stock)?;
        self.put_back_loose(session, start, &mut stock)?;
        self.put_back_lent(session, start, &mut stock)?;
        if !stock.compared.by_others.is_empty() {
            stock.change.by_others.clone_from(&stock.compared.by_others);
            stock.change.suspect = Suspect::Agent;
            return Ok(stock);
        }
        if let Some(yardstick) = &self.yardstick {
            // A script that can be executed now is the same script.
            let is_other = |file: &&String| !stock.made_executable.contains(file);
            for file in stock.files.iter().filter(is_other) {
                let is_goals = session.goals_file.in_repo.as_ref() == Some(file);
                let words = format!("{file} changed");
                let is_said = stock.change.goalposts.contains(&words);
                if !is_goals && !is_said && yardstick.is_frozen(file) {
                    stock.change.goalposts.push(words);
                }
            }
            // What it holds in a commit is no other; what is run of it is.
            let converted = stock.converted.iter();
            let frozen = converted.filter(|file| yardstick.is_frozen(file));
            let words = frozen.map(|file| {
                format!("{file} is written otherwise by a checkout, as attributes changed")
            });
            let words: Vec<String> = words.collect();
            stock.change.goalposts.extend(words);
            self.advise_product(yardstick, &mut stock);
            for (file, before) in &self.fingerprints {
                let words = format!("{file} changed");
                if session.workspace().fingerprint(file) != *before
                    && !stock.change.goalposts.contains(&words)
                    && !stock.converted.contains(file)
                {
                    stock.change.goalposts.push(words);
                }
            }
            self.put_back_goals(session, start, &mut stock)?;
            let mut plugins = self.by_name.plugins(session, self.goals, yardstick);
            // What comes in a commit can be seen there.
            let (held, hidden) = plugins
                .new
                .into_iter()
                .partition(|file| stock.files.contains(file));
            plugins.changed.extend::<Vec<_>>(held);
            let programs = self.by_name.programs(session, self.goals, yardstick);
            let found = [programs.changed, plugins.changed].concat();
            self.note_leaned_on(session, yardstick, start, found, &mut stock);
            refuse_plugins(session, start, &hidden, &mut stock)?;
            refuse_instead(session, start, yardstick, &mut stock)?;
            let done = instead::taken_for_done(yardstick, &session.repo, &start.tree, &stock.files);
            stock.change.goalposts.extend(done);
            // No undo reaches what git does not track, and the next session would believe it.
            exchanged::List::of(&session.home().own_places()).add(&programs.exchanged)?;
            let exchanged = programs.exchanged.iter().map(ToString::to_string);
            stock.change.goalposts.extend(exchanged);
            let mut now = program::taken_for_own(&yardstick.fronts, &session.repo.root);
            now.retain(|path| !yardstick.may_begin(path, &self.missing_modules));
            self.refuse_modules(session, start, &now, &mut stock)?;
        }
        let tree = session.repo.tree_of(&stock.tip)?;
        let is_goals = |file: &String| session.goals_file.in_repo.as_ref() == Some(file);
        if let Some(path) = stock.files.iter().find(|file| is_goals(file)) {
            let bytes = session.repo.file(&tree, path)?.unwrap_or_default();
            match goals::read_goals(path, &bytes) {
                Ok((edited, _)) => {
                    let edit = yardstick::compare_goals(self.goals, &edited);
                    stock.change.goalposts.extend(edit.moved);
                    stock.change.goals_added = edit.added;
                    if !edit.told.is_empty() {
                        let told = some_of(&edit.told);
                        stock.notes.push(format!("the agent edited {path}: {told}"));
                    }
                }
                Err(_) => stock
                    .change
                    .goalposts
                    .push(format!("{path} no longer validates")),
            }
        }
        Ok(stock)
    }

    /// Names what of the change a check leans on without freezing it, with what is `found` by its name and is not what it was.
    fn note_leaned_on(
        &self,
        session: &Session,
        yardstick: &Yardstick,
        start: &Start,
        found: Vec<String>,
        stock: &mut Stock,
    ) {
        let was_there = |file: &str| session.repo.may_have_file(&start.tree, file);
        let is_leaned_on = |file: &&String| yardstick.is_leaned_on(file, &was_there);
        let mut changed = found;
        changed.retain(|file| {
            !yardstick.is_frozen(file) && !self.built.iter().any(|(built, _)| built == file)
        });
        let by_content = stock.files.iter().chain(&stock.converted);
        changed.extend(by_content.filter(is_leaned_on).cloned());
        changed.sort();
        changed.dedup();
        // What was there and is another now says more than what is new: it comes first, where not all can be named.
        changed.sort_by_cached_key(|file| !was_there(file));
        let workspace = session.workspace();
        let told = |file: String| match workspace.is_gone(&file) {
            true => format!("{file} (removed)"),
            false => file,
        };
        let changed: Vec<String> = changed.into_iter().map(told).collect();
        Workspace::note_leaned_on(stock, &changed);
        let new = stock.files.iter().filter(|file| !was_there(file));
        let new: Vec<(&String, String)> = new
            .filter(|file| yardstick.may_be_test(file))
            .filter_map(|file| {
                let text = files::read_text(&session.repo.root.join(file), MOST_OF_TEST);
                Some((file, text.ok()?))
            })
            .collect();
        let told = |words: &str, is_it: fn(&str) -> bool| {
            let files = new.iter().filter(|(_, text)| is_it(text));
            let files: Vec<String> = files.map(|(file, _)| (*file).clone()).collect();
            (!files.is_empty()).then(|| format!("new tests that can {words}: {}", some_of(&files)))
        };
        let ending = told(
            "end the program which runs all of them",
            yardstick::ends_tests,
        );
        let changing = told(
            "take others out or change what these test",
            yardstick::changes_tests,
        );
        stock.notes.extend(ending.into_iter().chain(changing));
    }

    /// Says what a person can do where the very file that the goal is about is frozen, because its check runs it.
    fn advise_product(&self, yardstick: &Yardstick, stock: &mut Stock) {
        let Task::Goal(id) = self.task else {
            return;
        };
        let Some(goal) = self.goals.goals.iter().find(|goal| goal.id == *id) else {
            return;
        };
        let is_changed = |file: &str| stock.files.iter().any(|changed| changed == file);
        let mut run = check::runs(&goal.check, &is_changed);
        run.retain(|file| yardstick.is_frozen(file) && !yardstick.protected.is_match(file));
        if !run.is_empty() {
            let run = some_of(&run);
            stock.notes.push(format!(
                "the check of {id} runs {run}: if that is what the goal is about, name it in GOALS.yaml under `evolve:` as `product`"
            ));
        }
    }

    /// Looks whether somebody else moved the branch while the change was measured: then nothing is judged.
    pub fn look_again(
        &mut self,
        session: &Session,
        progress: &mut Progress,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        let is_theirs = !stock.change.by_others.is_empty();
        // A git directory that is gone is refused when the cycle is settled.
        if is_theirs || !session.has_git_dir() {
            return Ok(());
        }
        self.refuse_unbuilt(session, stock);
        self.refuse_loose(session, stock);
        self.refuse_lent(session, stock);
        self.note_written(session, start, stock);
        if session.isolation.is_some() {
            return self.look_at_watched(session, start, stock);
        }
        let moved = session.workspace().moved_since(start, stock)?;
        if moved.is_empty() {
            self.look_at_watched(session, start, stock)?;
        } else {
            stock.change.by_others = moved;
            stock.change.suspect = Suspect::Check;
            self.after = Err("not measured".to_owned());
            progress
                .ledger
                .unwrite(&names::post_snapshot(start.cycle))?;
        }
        Ok(())
    }

    /// Refuses what Python would take in place of its own modules now. What no commit holds goes to the quarantine: no undo
    /// would reach it.
    fn refuse_modules(
        &self,
        session: &Session,
        start: &Start,
        now: &[String],
        stock: &mut Stock,
    ) -> Result<()> {
        let new = now.iter().filter(|path| !self.own_modules.contains(path));
        quarantine_unheld(session, start, new, stock)?;
        let taken = yardstick::taken_for_own(&self.own_modules, now);
        stock.change.goalposts.extend(taken);
        Ok(())
    }

    /// Puts a goals file that lies outside the repository back as it was loaded: no undo reaches it, and the next cycle would
    /// believe it. What stood there instead is kept in the quarantine.
    pub(super) fn put_back_goals(
        &self,
        session: &Session,
        start: &Start,
        stock: &mut Stock,
    ) -> Result<()> {
        let path = &session.goals_file.path;
        let Some(loaded) = &self.goals_outside else {
            return Ok(());
        };
        let now = files::read_followed(path, MOST_OF_GOALS).ok().flatten();
        if now.as_ref() == Some(loaded) {
            return Ok(());
        }
        let there = match now {
            Some(now) => {
                let name = format!("quarantine/{}-{}/goals.yaml", session.id, start.cycle);
                let kept = session.write_private(&name, &now)?;
                format!("what stood there is in {}", kept.display())
            }
            None if path.exists() => "what stood there could not be read".to_owned(),
            None => "it was gone".to_owned(),
        };
        match path.is_file() {
            true => files::rewrite(path, loaded)?,
            false => files::replace(path, loaded)?,
        }
        let shown = &session.goals_file.shown;
        stock.notes.push(format!("{shown} was put back; {there}"));
        Ok(())
    }
}

/// The most bytes of a new test that are looked at.
const MOST_OF_TEST: u64 = 1 << 20;
/// The most bytes that are kept of what stood in a goals file's place.
const MOST_OF_GOALS: u64 = 16 << 20;

/// Refuses what a tool would take in place of a frozen file, or a shell in place of a program, now, and names what it would take in
/// place of another one.
fn refuse_instead(
    session: &Session,
    start: &Start,
    yardstick: &Yardstick,
    stock: &mut Stock,
) -> Result<()> {
    let taken = instead::taken(yardstick, &session.repo.root, &stock.files);
    let (refused, named): (Vec<_>, Vec<_>) =
        taken.into_iter().partition(|one| yardstick.is_refused(one));
    quarantine_unheld(session, start, refused.iter().map(|one| &one.path), stock)?;
    stock
        .change
        .goalposts
        .extend(refused.iter().map(ToString::to_string));
    stock.notes.extend(named.iter().map(ToString::to_string));
    Ok(())
}

/// Refuses plugins of pytest that no commit shows.
fn refuse_plugins(
    session: &Session,
    start: &Start,
    new: &[String],
    stock: &mut Stock,
) -> Result<()> {
    quarantine_unheld(session, start, new.iter(), stock)?;
    let words = new
        .iter()
        .map(|path| format!("{path} declares a plugin of pytest"));
    stock.change.goalposts.extend(words);
    Ok(())
}

/// Takes away what no commit holds: no undo would reach it.
fn quarantine_unheld<'p>(
    session: &Session,
    start: &Start,
    paths: impl Iterator<Item = &'p String>,
    stock: &mut Stock,
) -> Result<()> {
    let mut quarantine = Quarantine::of(&session.repo.private, &start.session, start.cycle);
    for path in paths {
        let below = format!("{path}/");
        let is_held = |file: &String| file == path || file.starts_with(&below);
        if !stock.files.iter().any(is_held) {
            quarantine.take(&session.repo.root, path.as_bytes())?;
        }
    }
    stock.notes.extend(quarantine.notes());
    Ok(())
}
