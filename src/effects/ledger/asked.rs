//! What people ask for while a session lives, noted aside: the queue and the retries are tracked files, from which an agent's
//! everyday `git reset --hard`, `git checkout .` or `git stash` takes away what no commit has yet.
//!
//! Whoever adds a line writes it here first and to the file itself then. The loop takes in what the file lacks, and forgets it
//! here once the file has it: a kill at any moment between loses no line, and none is there twice, as a line of which all items
//! are known is no new one. Agents can write here as they can write to the files themselves, and are believed no more.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

use super::lines::{beginning, end_line};
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::ledger as names;
use crate::model::text;
use crate::model::work::Queue;

/// The folder below the private directory.
const FOLDER: &str = "asked";
/// How many lines are taken in at a time: as many as may appear in the queue while one agent runs.
const MOST: usize = 1_000;

/// What is noted aside for one of the files.
#[derive(Debug)]
pub(super) struct Asked {
    name: &'static str,
    /// The lines that the file lacks.
    pub lines: String,
    /// Something is noted, lacking or not.
    is_there: bool,
    /// There is more, or something else than a plain file.
    is_more: bool,
}

impl Asked {
    /// Looks at what is noted for a file; `known` are the file's texts, the one that it would be added to first.
    pub fn look(private: &Path, name: &'static str, known: &[&str]) -> Result<Asked> {
        let path = place(private, name);
        let mut asked = Asked {
            name,
            lines: String::new(),
            is_there: false,
            is_more: false,
        };
        let meta = match fs::symlink_metadata(&path) {
            Ok(meta) => meta,
            Err(cause) if matches!(cause.kind(), NotFound | NotADirectory) => return Ok(asked),
            Err(cause) => return Err(Error::io("look at", &path, cause)),
        };
        asked.is_there = true;
        asked.is_more = !meta.is_file() || meta.len() > names::most_bytes(name);
        let noted = beginning(&path, names::most_bytes(name))?;
        let lacking = known.iter().fold(noted, |noted, text| match name {
            names::QUEUE => Queue::parse(text).lacks(&noted),
            _ => lacks(text, &noted),
        });
        let mut seen = HashSet::new();
        let mut lines = lacking.lines().filter(|line| seen.insert(*line));
        asked.lines = lines
            .by_ref()
            .take(MOST)
            .map(|it| format!("{it}\n"))
            .collect();
        asked.is_more |= lines.next().is_some();
        let first = known.first().copied().unwrap_or_default();
        if names::refusal(name, &asked.joined(first)).is_some() {
            asked.lines.clear();
            asked.is_more = true;
        }
        Ok(asked)
    }

    /// Returns the file's text with what it lacks.
    pub fn joined(&self, text: &str) -> String {
        let mut joined = text.to_owned();
        if !self.lines.is_empty() {
            end_line(&mut joined);
            joined.push_str(&self.lines);
        }
        joined
    }

    /// Says that lines were gone from the file.
    pub fn note(&self) -> Option<String> {
        let count = self.lines.lines().count();
        let words = match count {
            0 => return None,
            1 => "asked for meanwhile was gone, and is put back",
            _ => "asked for meanwhile were gone, and are put back",
        };
        Some(format!(
            "{}: {} {words}",
            self.name,
            text::count(count, "line")
        ))
    }

    /// Forgets what is noted, once the file has it; what was not taken in goes to the quarantine, and that is said.
    pub fn forget(self, private: &Path, cycle: u64) -> Result<Vec<String>> {
        if !self.is_there {
            return Ok(Vec::new());
        }
        let path = place(private, self.name);
        if !self.is_more {
            files::remove(&path)?;
            return Ok(Vec::new());
        }
        let mut quarantine = Quarantine::of(private, "ledger", cycle);
        let below = path.strip_prefix(private).unwrap_or(&path);
        quarantine.take(private, below.as_os_str().as_encoded_bytes())?;
        let said = format!(
            "{}: more than {MOST} lines were asked for meanwhile, or what is none; the rest is left out",
            self.name
        );
        Ok([said].into_iter().chain(quarantine.notes()).collect())
    }
}

/// Notes a line that is about to be added to a file.
pub(super) fn note(private: &Path, name: &str, line: &str) -> Result<()> {
    let path = place(private, name);
    let is_other = |path: &Path, is_fine: fn(&fs::Metadata) -> bool| {
        fs::symlink_metadata(path).is_ok_and(|meta| !is_fine(&meta))
    };
    let folder = private.join(FOLDER);
    for (one, is_fine) in [
        (&folder, fs::Metadata::is_dir as fn(&fs::Metadata) -> bool),
        (&path, fs::Metadata::is_file),
    ] {
        // Behind a link lies somebody else's file.
        if is_other(one, is_fine) {
            files::remove_all(one).map_err(|cause| Error::io("remove", one, cause))?;
        }
    }
    files::append(&path, line)
}

/// Returns where something is noted.
pub(super) fn place(private: &Path, name: &str) -> PathBuf {
    let file = Path::new(name).file_name().unwrap_or_default();
    private.join(FOLDER).join(file)
}

/// Returns those lines of a text that another has not.
fn lacks(text: &str, lines: &str) -> String {
    let there: HashSet<&str> = text.lines().collect();
    let lines = lines.lines().filter(|line| !line.trim().is_empty());
    let lacking = lines.filter(|line| !there.contains(line));
    lacking.map(|line| format!("{line}\n")).collect()
}
