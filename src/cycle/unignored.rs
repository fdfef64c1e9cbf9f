//! What tools put into folders that git neither tracks nor ignores: said once in a session, with the way out.

use crate::effects::workspace::Start;
use crate::model::output;
use crate::session::{Progress, Session};

/// Names the folders that came since it was last said.
pub fn warn(session: &Session, progress: &mut Progress, start: &Start) {
    let files = start.kept.untracked_paths();
    let files: Vec<String> = files
        .map(|path| String::from_utf8_lossy(&path).into_owned())
        .collect();
    let mut folders = output::folders_of(files.iter().map(String::as_str));
    folders.retain(|folder| {
        let folder = folder.trim_end_matches('/').as_bytes();
        matches!(session.repo.is_folder(&start.tree, folder), Ok(false))
    });
    let mut lines = output::unignored(&folders);
    lines.retain(|line| progress.unignored.insert(line.clone()));
    if !lines.is_empty() {
        session.events.warn(output::warning(&lines));
    }
}
