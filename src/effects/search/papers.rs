//! What is left of what an attempt's agent was told and printed, and of what measured it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::effects::files;
use crate::effects::papers::{BRIEF_SHOWN, LOG_SHOWN, Paper};
use crate::effects::search::sample::DOCUMENT_LIMIT;
use crate::error::{Error, Result};
use crate::model::mask;
use crate::model::search::score;
use crate::model::search::view::Sampled;

/// An attempt's papers.
#[derive(Clone, Debug, Default)]
pub struct Papers {
    /// What its agent was told.
    pub brief: Option<Paper>,
    /// The end of what it printed the last time it was called.
    pub log: Option<Paper>,
    /// Every file, by name.
    pub files: Vec<PathBuf>,
}

/// Writes a paper in the folder of an attempt; returns where. A folder that somebody put there is removed.
pub fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
        files::remove_all(&path).map_err(|cause| Error::io("remove", &path, cause))?;
    }
    files::replace_unsynced(&path, text.as_bytes())?;
    Ok(path)
}

/// Reads an attempt's papers in the folder of its search.
pub fn of(search: &Path, id: u64) -> Papers {
    let folder = search.join(id.to_string());
    if !files::is_beneath(search, format!("{id}/x").as_bytes()) {
        return Papers::default();
    }
    let is_file = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.filter(is_file).map(|entry| entry.path()).collect();
    found.sort();
    let brief = folder.join("brief.txt");
    let text = files::read_text(&brief, BRIEF_SHOWN).ok();
    let text = text.filter(|text| !text.is_empty());
    // Where the agent is asked once more, its second log has a number.
    let log = ["2-agent.log", "agent.log"]
        .iter()
        .find_map(|name| end(&folder.join(name)));
    Papers {
        brief: text.map(|text| Paper { path: brief, text }),
        log,
        files: found,
    }
}

/// Returns the end of what the command printed with which a measurement of an attempt failed.
pub fn failed(search: &Path, id: u64, sampled: &Sampled) -> Option<Paper> {
    let begin = match sampled.beside {
        Some(other) => format!("{}-{other}-", sampled.purpose),
        None => format!("{}-", sampled.purpose),
    };
    let written = |path: &PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let logs = of(search, id).files.into_iter().filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&begin) && name.ends_with(".log")
    });
    // It is the last that was run: what comes behind it may be there of a session that was killed.
    let last = logs.max_by_key(|path| written(path).unwrap_or(SystemTime::UNIX_EPOCH));
    end(&last?)
}

/// Returns the parts of an attempt's score by name, as the fitness command wrote them when it was first measured.
pub fn tasks(search: &Path, id: u64) -> BTreeMap<String, f64> {
    let folder = format!("{id}/x");
    if !files::is_beneath(search, folder.as_bytes()) {
        return BTreeMap::new();
    }
    let document = search.join(format!("{id}/first-1.result.json"));
    let written = files::read_text(&document, DOCUMENT_LIMIT).unwrap_or_default();
    let score = score::read("", Some(&written));
    score.map_or_else(|_| BTreeMap::new(), |score| score.tasks)
}

fn end(path: &Path) -> Option<Paper> {
    let bytes = files::read_end(path, LOG_SHOWN).ok()??;
    let text = mask::secrets(&String::from_utf8_lossy(&bytes));
    Some(Paper {
        path: path.to_owned(),
        text,
    })
}
