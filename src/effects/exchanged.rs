//! Programs that an agent put in front of those which checks call, where no undo reaches them: remembered from one session to
//! the next until they are gone. Outside the repository, where an agent in a sandbox cannot write; where there is no place
//! for it, in the private directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::effects::files;
use crate::effects::places::{self, Places};
use crate::error::{Error, Result};
use crate::model::snapshot::FORMAT;
use crate::model::yardstick::Exchanged;

/// The most bytes of the list.
const LIMIT: u64 = 1 << 20;

/// The list of a working tree.
#[derive(Clone, Debug)]
pub struct List {
    /// Where it may lie, the best place first.
    files: Vec<PathBuf>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Document {
    format: u32,
    programs: Vec<Exchanged>,
}

impl List {
    /// The list of a working tree; nothing is read yet.
    pub fn of(places: &Places) -> List {
        let inside = places.private.join("exchanged-programs.json");
        let outside = places::outside(places, "programs");
        List {
            files: outside.into_iter().chain([inside]).collect(),
        }
    }

    /// Adds what an agent exchanged just now.
    pub fn add(&self, exchanged: &[Exchanged]) -> Result<()> {
        let mut done = Ok(());
        for file in &self.files {
            done = add(file, exchanged);
            if done.is_ok() {
                break;
            }
        }
        done
    }

    /// Returns what is still in front, where programs are found `now`; the rest is forgotten.
    pub fn standing(&self, now: &BTreeMap<String, String>) -> Result<Vec<Exchanged>> {
        let mut all = Vec::new();
        for file in &self.files {
            let programs = read(file)?;
            let is_standing = |one: &&Exchanged| now.get(&one.program) == Some(&one.is);
            let standing: Vec<_> = programs.iter().filter(is_standing).cloned().collect();
            if standing.len() < programs.len() {
                write(file, standing.clone())?;
            }
            all.extend(standing);
        }
        Ok(all)
    }

    /// Names the files in which something stands, for a message.
    pub fn shown(&self) -> String {
        let there = self.files.iter().filter(|file| file.is_file());
        let names: Vec<_> = there.map(|file| file.display().to_string()).collect();
        names.join(" and ")
    }
}

fn add(file: &Path, exchanged: &[Exchanged]) -> Result<()> {
    let mut programs = read(file)?;
    let is_new = |one: &&Exchanged| !programs.contains(one);
    let new: Vec<_> = exchanged.iter().filter(is_new).cloned().collect();
    if new.is_empty() {
        return Ok(());
    }
    programs.extend(new);
    write(file, programs)
}

fn read(file: &Path) -> Result<Vec<Exchanged>> {
    if !files::is_there(file).map_err(|cause| Error::io("read", file, cause))? {
        return Ok(Vec::new());
    }
    let Some(bytes) = files::read_bounded(file, LIMIT)? else {
        return Ok(Vec::new());
    };
    let document: Document = serde_json::from_slice(&bytes).map_err(|cause| {
        Error::unsafe_repo(format!("{} cannot be understood: {cause}", file.display()))
            .hint("it names programs that an agent put in front of those which checks call: look for such, then remove that file")
    })?;
    Ok(document.programs)
}

fn write(file: &Path, programs: Vec<Exchanged>) -> Result<()> {
    if programs.is_empty() {
        return files::remove(file);
    }
    let document = Document {
        format: FORMAT,
        programs,
    };
    let text = serde_json::to_string(&document)
        .map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    files::replace(file, format!("{text}\n").as_bytes())
}
