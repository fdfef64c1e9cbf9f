//! What is left of what an attempt's agent was told and printed, and of what measured it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::effects::logs::Paper;

/// The most bytes of an agent's log that are shown, from its end.
const LOG_SHOWN: u64 = 16 << 10;
/// The most bytes of a brief that are read.
const BRIEF_SHOWN: u64 = 1 << 20;

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
    let end = |path: &Path| {
        let bytes = files::read_end(path, LOG_SHOWN).ok()??;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(Paper {
            path: path.to_owned(),
            text,
        })
    };
    let brief = folder.join("brief.md");
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
