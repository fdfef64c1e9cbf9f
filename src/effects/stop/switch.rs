//! The kill switch itself: files whose mere presence ends everything. Whatever keeps them from being looked for counts as
//! their presence: a folder that is gone or cannot be read, a link that leads nowhere, more news than can be kept.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::news::{Happened, News};
use crate::model::text;

/// The most bytes of a stop file that are shown.
const REASON_BYTES: u64 = 400;

/// The kill files of a user, watched: one that is there for a moment only is seen, too.
#[derive(Debug)]
pub struct KillSwitch {
    /// Where they would be.
    pub files: Vec<PathBuf>,
    news: News,
}

impl KillSwitch {
    /// Watches these from now on.
    pub fn watch(files: Vec<PathBuf>) -> KillSwitch {
        let mut news = News::new();
        for file in &files {
            news.add(file);
        }
        KillSwitch { files, news }
    }

    /// Looks now. Returns the file that is there or was there since the last look, or what keeps it from being looked for; and
    /// what it says.
    pub fn look(&mut self) -> Option<(PathBuf, String)> {
        let there = self.files.iter().find_map(|path| look_for(path));
        let happened = self.news.read();
        there.or_else(|| {
            let (path, words) = match happened.into_iter().next()? {
                Happened::Appeared(path) => (path, "it was taken away again at once"),
                Happened::FolderLost(folder) => (folder, "the folder was taken away or moved"),
                Happened::TooMuch => (PathBuf::from("?"), "too much happened in its folder"),
            };
            Some((path, words.to_owned()))
        })
    }
}

/// Returns a stop file that is there, or whose absence cannot be told: whatever is undecidable means stop.
pub fn look_for(path: &Path) -> Option<(PathBuf, String)> {
    match fs::symlink_metadata(path) {
        Ok(_) => Some((path.to_owned(), words(path))),
        Err(cause) if cause.kind() == ErrorKind::NotFound => None,
        Err(cause) => Some((path.to_owned(), format!("cannot be looked at: {cause}"))),
    }
}

/// Returns the start of a file's text, made harmless for a terminal; empty if it is no plain file.
fn words(path: &Path) -> String {
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return String::new();
    }
    // A pipe may have taken its place meanwhile: that is not waited for.
    let way = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(way)
        .open(path);
    let mut bytes = Vec::new();
    if let Ok(file) = file {
        let _ = file.take(REASON_BYTES).read_to_end(&mut bytes);
    }
    text::clean_line(String::from_utf8_lossy(&bytes).trim())
}
