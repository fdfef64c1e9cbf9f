//! Refs that checks compare with: found before the agent, and what became of them afterwards.

use std::sync::Arc;

use super::Attempt;
use crate::effects::files;
use crate::effects::workspace::{Start, When};
use crate::error::Result;
use crate::model::check;
use crate::model::gate::Suspect;
use crate::model::git::compared::{self, Compared, Refs, Source, Words};
use crate::model::yardstick::Yardstick;
use crate::session::Session;

/// How many files that checks run are looked into.
const MOST_FILES: usize = 200;
/// The most bytes of one of them.
const FILE_LIMIT: u64 = 256 << 10;

/// What becomes of a measurement, as the refs are after it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stood {
    /// What checks compare with was what it is measured with all the time.
    Fast,
    /// It was not, in words; it is again.
    Loose(Vec<String>),
    /// Only a fetch moved it, as an editor's in the background; it is again what it was.
    Fetched(Vec<String>),
}

impl Attempt<'_> {
    /// Notes which refs checks compare with, by their own words and those of the files that they run, as these are before the agent.
    pub(super) fn note_compared(
        &self,
        session: &Session,
        yardstick: &Yardstick,
        start: &mut Start,
    ) -> Result<()> {
        let refs = session.repo.all_refs()?;
        let mut found = Compared::default();
        for goal in &self.goals.goals {
            let words = compared::words(&goal.check, true);
            add(session, &mut found, words, Source::Check, &refs);
        }
        // A script that git ignores may be built, and is none the less run.
        let built = self.built.iter().map(|(file, _)| file);
        let run = yardstick.frozen.iter().chain(built);
        let run = run.map(|file| (file, Source::Script));
        let leaned_on = yardstick.leaned_on.iter();
        let leaned_on = leaned_on.map(|file| (file, Source::LeanedOn));
        for (file, source) in run.take(MOST_FILES).chain(leaned_on.take(MOST_FILES)) {
            // What is not read is not compared with.
            let bytes = files::read_bounded(&session.repo.root.join(file), FILE_LIMIT);
            let bytes = bytes.ok().flatten();
            if let Some(bytes) = bytes.filter(|bytes| !bytes.contains(&0)) {
                let text = String::from_utf8_lossy(&bytes);
                let words = compared::words(&text, check::is_shells(file, &text));
                add(session, &mut found, words, source, &refs);
            }
        }
        start.compared = found;
        // In the user's own repository they are remembered with all that git holds.
        start.refs = session.isolation.is_some().then(|| Arc::new(refs));
        Ok(())
    }

    /// Looks at the refs after a measurement. Where somebody else moved one nothing is judged.
    pub(super) fn look_at_refs(&mut self, session: &Session, start: &Start) -> Result<Stood> {
        let Some(stock) = &mut self.stock else {
            return Ok(Stood::Fast);
        };
        let workspace = session.workspace();
        let held = workspace.hold_compared(start, &stock.tip, When::Measured)?;
        let is_new = |note: &String| !stock.notes.contains(note);
        let notes: Vec<_> = held.notes.into_iter().filter(is_new).collect();
        stock.notes.extend(notes);
        let is_newer = |name: &String| held.fetched.iter().any(|(newer, _)| newer == name);
        stock.compared.fetched.retain(|(name, _)| !is_newer(name));
        stock.compared.fetched.extend(held.fetched);
        if !held.by_others.is_empty() {
            stock.change.suspect = Suspect::Check;
            stock.change.by_others = held.by_others;
        }
        Ok(match (held.put_back.is_empty(), held.is_only_fetched) {
            (true, _) => Stood::Fast,
            (false, true) => Stood::Fetched(held.put_back),
            (false, false) => Stood::Loose(held.put_back),
        })
    }
}

/// Takes in the words of a text.
fn add(session: &Session, found: &mut Compared, mut words: Words, source: Source, refs: &Refs) {
    for asked in std::mem::take(&mut words.upstreams) {
        let name = ["rev-parse", "--symbolic-full-name", &asked];
        // There may be none.
        let name = session.repo.git.run(&name).unwrap_or_default();
        let name = String::from_utf8_lossy(&name).trim().to_owned();
        if name.starts_with("refs/") {
            words.sure.insert(name);
        }
    }
    found.add(words, source, refs);
}
