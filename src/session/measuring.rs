//! How a session measures: where, made ready by whom, and what is told of it.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::{Blamed, Cut, Session, Unready};
use crate::effects::isolation::MEASURING;
use crate::effects::measure::Measurer;
use crate::effects::repo::Repo;
use crate::effects::sandbox::{Fence, Profile};
use crate::effects::slot::emptied::Tops;
use crate::effects::slot::{Base, Ignored, Preparation, Prepared, Slot};
use crate::effects::stop::Halt;
use crate::effects::watch::Watch;
use crate::effects::workspace::{Noted, Start, Workspace};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::model::check;
use crate::model::goals::{Goal, Goals, Where, longest_id};
use crate::model::snapshot::Measurement;

/// Where goals are measured.
#[derive(Debug)]
struct Place {
    measurer: Measurer,
    /// The copy that it is; none where it is the user's own tree.
    slot: Option<Slot>,
    /// The repository of one that was made for it alone.
    copy: Option<Repo>,
}

impl Session {
    /// Measures goals and tells of it. `purpose` names the logs and the event.
    pub async fn measure(
        &self,
        goals: &Goals,
        chosen: &[&Goal],
        expected: &HashMap<String, f64>,
        cycle: u64,
        purpose: &'static str,
    ) -> Result<Vec<Measurement>, Cut> {
        let unwatched = &mut Watch::default();
        self.measure_watched(goals, chosen, expected, cycle, purpose, unwatched)
            .await
    }

    /// Measures goals like that; `watch` learns what checks did to its files, where they ran.
    pub async fn measure_watched(
        &self,
        goals: &Goals,
        chosen: &[&Goal],
        expected: &HashMap<String, f64>,
        cycle: u64,
        purpose: &'static str,
        watch: &mut Watch,
    ) -> Result<Vec<Measurement>, Cut> {
        self.events.send(Event::MeasureStarted {
            checks: chosen.len(),
            longest_id: longest_id(chosen),
            purpose,
        });
        let logs = self.logs().join(format!("{cycle}-{purpose}"));
        let place = self
            .measurer_in_place(goals.settings.measure, cycle)
            .await?;
        let (measurer, copy) = (&place.measurer, self.copy(&place));
        if measurer.root == self.repo.root {
            self.workspace().drop_doubtful_compiled()?;
        }
        let before = watch.look(&measurer.root);
        let noted = copy.map(|repo| Workspace { repo }.noted()).transpose()?;
        let measured = measurer.measure(goals, chosen, expected, Some(&logs));
        let measured = measured.await;
        self.heed_stop(measurer);
        let noted = noted.flatten();
        let measured = self.with_git_again(&place, noted.as_ref(), measured)?;
        self.refuse_unmeasured(measurer, &measured)?;
        watch.compare(&measurer.root, &before);
        if let Some(noted) = noted {
            let is_asked = watch.tracked.is_some();
            let lender = &self.home().root;
            let look = |workspace: Workspace<'_>| match is_asked {
                true => workspace.written_in_copy(&noted, lender).map(Some),
                false => workspace.drop_in_modules(&noted, lender).map(|()| None),
            };
            let found = self.with_git(&place, &noted, look)?;
            if let (Some(tracked), Some(found)) = (&mut watch.tracked, found) {
                tracked.add(found);
            }
        }
        Ok(measured)
    }

    /// Measures goals one after the other, each on what is committed: what another check writes to tracked files is gone by then, and
    /// what it builds is there. In the user's own working tree `put_back` sees to that.
    pub async fn measure_apart(
        &self,
        goals: &Goals,
        expected: &HashMap<String, f64>,
        cycle: u64,
        watch: &mut Watch,
        put_back: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Measurement>, Cut> {
        let measuring = self.begin_apart(goals, cycle, "apart");
        let place = self.measurer_in_place(goals.settings.measure, cycle);
        let place = place.await?;
        let before = watch.look(&place.measurer.root);
        let measured = self
            .one_by_one(&place, goals, expected, &measuring, put_back)
            .await?;
        watch.compare(&place.measurer.root, &before);
        Ok(measured)
    }

    /// Measures goals like that on what a cycle started from, in a copy made anew. Nothing is measured where that cannot be made ready:
    /// the change is not to blame for it.
    pub async fn measure_start_apart(
        &self,
        goals: &Goals,
        expected: &HashMap<String, f64>,
        start: &Start,
    ) -> Result<Vec<Measurement>, Cut> {
        let measuring = self.begin_apart(goals, start.cycle, "apart-start");
        match self.clean_place(&start.branch, &start.commit).await {
            Ok(place) => {
                let put_back = &mut || Ok(());
                self.one_by_one(&place, goals, expected, &measuring, put_back)
                    .await
            }
            Err(Cut::Unprepared(_)) => Ok(Vec::new()),
            Err(cut) => Err(cut),
        }
    }

    /// Tells that goals are measured one after the other; returns where their logs go.
    fn begin_apart(&self, goals: &Goals, cycle: u64, purpose: &'static str) -> PathBuf {
        let all: Vec<&Goal> = goals.goals.iter().collect();
        self.events.send(Event::MeasureStarted {
            checks: all.len(),
            longest_id: longest_id(&all),
            purpose,
        });
        self.logs().join(format!("{cycle}-{purpose}"))
    }

    async fn one_by_one(
        &self,
        place: &Place,
        goals: &Goals,
        expected: &HashMap<String, f64>,
        logs: &Path,
        put_back: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Vec<Measurement>, Cut> {
        let measurer = &place.measurer;
        let mut measured = Vec::new();
        let copy = self.copy(place);
        let noted = copy.map(|repo| Workspace { repo }.noted()).transpose()?;
        let noted = noted.flatten();
        if copy.is_some() && noted.is_none() {
            return Ok(measured);
        }
        for goal in &goals.goals {
            match &noted {
                Some(noted) => self.with_git(place, noted, |workspace| {
                    workspace.drop_written_since(noted, &self.home().root)?;
                    workspace.drop_doubtful_compiled()
                })?,
                None => {
                    put_back()?;
                    self.workspace().drop_doubtful_compiled()?;
                }
            }
            let one = measurer.measure(goals, &[goal], expected, Some(logs)).await;
            self.heed_stop(measurer);
            measured.extend(self.with_git_again(place, noted.as_ref(), one)?);
            self.refuse_unmeasured(measurer, &measured)?;
        }
        match &noted {
            Some(noted) => {
                let lender = &self.home().root;
                self.with_git(place, noted, |it| it.drop_in_modules(noted, lender))?;
            }
            None => put_back()?,
        }
        Ok(measured)
    }

    /// Does something in the copy after checks ran there, with git as it was noted before. Where that cannot be, because they removed or
    /// broke its git directory, this is made anew.
    fn with_git<T>(
        &self,
        place: &Place,
        noted: &Noted,
        act: impl Fn(Workspace<'_>) -> Result<T>,
    ) -> Result<T> {
        // By a link there the user's own would be written to.
        let is_own = place.slot.as_ref().is_none_or(Slot::has_own_git_dir);
        let there = self.copy(place).filter(|_| is_own);
        let first = there.map(|repo| {
            let workspace = Workspace { repo };
            workspace.note_again(noted)?;
            act(workspace)
        });
        match (first.transpose(), &place.slot) {
            (Ok(Some(done)), _) => Ok(done),
            (Err(cause), _) if cause.is_of_machine() || cause.is_halt() => Err(cause),
            (_, Some(slot)) => {
                let base = Base {
                    branch: &noted.branch,
                    commit: &noted.commit,
                };
                let repo = slot.remake_git_dir(self.home(), base)?;
                act(Workspace { repo: &repo })
            }
            (Err(cause), None) => Err(cause),
            (Ok(None), None) => Err(Error::internal("BUG: no copy is measured in")),
        }
    }

    /// Returns what was measured; where that was cut short, git is as it was noted before, too, as what follows asks it.
    fn with_git_again<T>(
        &self,
        place: &Place,
        noted: Option<&Noted>,
        measured: Result<T, Halt>,
    ) -> Result<T, Cut> {
        if let (Err(_), Some(noted)) = (&measured, noted) {
            self.with_git(place, noted, |_| Ok(()))?;
        }
        Ok(measured?)
    }

    /// Returns the copy that is measured in; none where the user's own tree is.
    fn copy<'a>(&'a self, place: &'a Place) -> Option<&'a Repo> {
        let has_own = || self.isolation.is_some() && self.has_git_dir();
        let own = || has_own().then_some(&self.repo);
        place.copy.as_ref().or_else(own)
    }

    /// Takes a STOP file that checks left in a copy for the word of who works there.
    fn heed_stop(&self, measurer: &Measurer) {
        if measurer.root != self.home().root {
            let when = "while goals were measured";
            self.stop.heed_in_copy(&measurer.root, when);
        }
    }

    /// Refuses where checks, or the machine, left nothing to be judged.
    fn refuse_unmeasured(&self, measurer: &Measurer, measured: &[Measurement]) -> Result<(), Cut> {
        if !measurer.root.exists() {
            let root = measurer.root.display();
            return Err(
                Error::unsafe_repo(format!("{root} was removed while checks ran there"))
                    .hint("run evolve again; a copy is made anew")
                    .into(),
            );
        }
        // What is gone by now is no fault of the change.
        if let Some(isolation) = &self.isolation {
            isolation.refuse_gone()?;
        }
        for measurement in measured {
            // Nothing was learned of the goal where the machine had nothing left to run its check.
            let words = measurement.reason.as_deref().unwrap_or_default();
            let words = words.strip_prefix("could not be started: ");
            let what = format!("the check of {}", measurement.id);
            if let Some(error) = words.and_then(|words| Error::of_shortage(&what, words)) {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Looks at what the checkout has of what copies are lent in which an agent works, or goals are measured.
    pub fn tops(&self, goals: &Goals) -> Tops {
        match (&self.isolation, goals.settings.measure) {
            (None, Where::Here) => Tops::default(),
            (Some(_), _) | (_, Where::Clean) => {
                Tops::of(&self.home().root, &self.options.provisions.link)
            }
        }
    }

    /// Asks the Python of checks which of the modules that they run it does not find outside of the repository; returns the questions
    /// whose answer was that. In a clean copy, which is gone by now, it may find others, and is not asked.
    pub async fn missing_modules(
        &self,
        goals: &Goals,
        is_file: &dyn Fn(&str) -> bool,
    ) -> BTreeSet<String> {
        let mut missing = BTreeSet::new();
        if goals.settings.measure == Where::Clean {
            return missing;
        }
        for question in self.workspace().questions(goals, is_file) {
            if self.measurer.ask(&question).await == Some(check::MISSING) {
                missing.insert(question);
            }
        }
        missing
    }

    /// Goes where a cycle measures: where the agent works, or in a slot made anew that no agent enters.
    async fn measurer_in_place(&self, place: Where, cycle: u64) -> Result<Place, Cut> {
        let measurer = self.measurer.clone();
        match (place, &self.isolation) {
            (Where::Here, None) => Ok(Place {
                measurer,
                slot: None,
                copy: None,
            }),
            (Where::Here, Some(isolation)) => {
                let (branch, commit) = self.tip_of_branch()?;
                let base = Base {
                    branch: &branch,
                    commit: &commit,
                };
                let slot = isolation.slot.clone();
                self.make_ready(&slot, base, &measurer.fence).await?;
                Ok(Place {
                    measurer,
                    slot: Some(slot),
                    copy: None,
                })
            }
            (Where::Clean, _) => {
                let (branch, commit) = self.tip_of_branch()?;
                let commit = self.with_own_files_of_start(cycle, commit)?;
                self.clean_place(&branch, &commit).await
            }
        }
    }

    /// Returns the branch that is worked on, and its commit.
    fn tip_of_branch(&self) -> Result<(String, String)> {
        let head = self.repo.head()?;
        let tip = head.branch.zip(head.commit);
        tip.ok_or_else(|| Error::unsafe_repo("HEAD names no branch with a commit"))
    }

    /// Makes a slot anew on a commit, for goals to be measured there.
    async fn clean_place(&self, branch: &str, commit: &str) -> Result<Place, Cut> {
        let home = self.home();
        let base = Base { branch, commit };
        let slot = Slot::of(home, MEASURING, self.options.provisions.clone())?;
        slot.remove()?;
        let copy = slot.renew(home, base, Ignored::Go)?;
        let ground = home.ground_of_slot(&slot.root);
        let fence = self.sandbox.fence(Profile::Checks, &ground)?;
        let measurer = self.measurer.at(&slot.root, fence);
        self.make_ready(&slot, base, &measurer.fence).await?;
        Ok(Place {
            measurer,
            slot: Some(slot),
            copy: Some(copy),
        })
    }

    /// Returns the commit that stands for this one where it is measured: what an agent committed of evolve's own files is not kept,
    /// so these are there as they were at the cycle's start.
    fn with_own_files_of_start(&self, cycle: u64, commit: String) -> Result<String, Cut> {
        let Some(start) = self.journal(cycle)?.start else {
            return Ok(commit);
        };
        let home = self.home();
        let tree = home.tree_of(&commit)?;
        if home.ledger_ids(&tree)? == home.ledger_ids(&start.tree)? {
            return Ok(commit);
        }
        let tree = home.with_ledger(&tree, &home.ledger_files(&start.tree)?)?;
        let message = "evolve: without what was done to its own files\n";
        Ok(home.store_commit(&tree, &commit, message)?)
    }

    /// Makes a slot on a commit ready with the user's command, unless it is. What somebody left there may be in the command's
    /// way: before the command is blamed, such a slot is made anew.
    async fn make_ready(&self, slot: &Slot, base: Base<'_>, fence: &Fence) -> Result<(), Cut> {
        let home = self.home();
        let log = self.logs().join("prepare.log");
        let preparation = Preparation {
            user: home,
            base,
            supervisor: &self.measurer.supervisor,
            fence,
            log: Some(&log),
            session: &self.id,
        };
        let was_used = slot.note_use()?;
        let mut prepared = slot.prepare(&preparation).await?;
        if let Prepared::Failed(why) = &prepared
            && was_used
        {
            self.events
                .note(format!("the copy is made anew, it was used before: {why}"));
            slot.remove()?;
            slot.renew(home, base, Ignored::Go)?;
            slot.note_use()?;
            prepared = slot.prepare(&preparation).await?;
        }
        match (prepared, self.stop.halt()) {
            (Prepared::Ready, _) => Ok(()),
            (Prepared::Stopped, Some(halt)) => Err(halt.into()),
            (Prepared::Failed(why), _) => {
                let log = log.strip_prefix(&home.root).unwrap_or(&log);
                Err(Cut::Unprepared(Unready {
                    why,
                    by: Blamed::Command(log.to_owned()),
                }))
            }
            (Prepared::Astray(led), _) => Err(Cut::Unprepared(led.into())),
            (Prepared::Stopped, None) => Err(Error::internal("prepare was stopped").into()),
        }
    }
}
