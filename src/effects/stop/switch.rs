//! The kill switch itself: files whose mere presence ends everything. Whatever keeps them from being looked for counts as
//! their presence: a folder that is gone or cannot be read, a link that leads nowhere, more news than can be kept.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};

use super::news::{Happened, News};
use crate::error::{Error, Result};
use crate::model::ledger::UNDECIDABLE;
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
        Err(cause) => Some((path.to_owned(), format!("{UNDECIDABLE}: {cause}"))),
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

/// Returns the permanent kill files of this user: below the home directory, below `$XDG_CONFIG_HOME` if set, and below the
/// home that the system knows of, because a scheduler may set another one than the user's shell.
pub fn kill_files() -> Result<Vec<PathBuf>> {
    let home = std::env::home_dir()
        .filter(|home| home.is_absolute())
        .ok_or_else(|| {
            Error::internal(
                "cannot tell where the KILL file would be: this user has no home directory",
            )
            .hint("set HOME; evolve does not run where it could not be stopped")
        })?;
    let mut files = vec![home.join(".config/evolve/KILL")];
    if let Some(folder) = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from)
        && folder.is_absolute()
    {
        let file = folder.join("evolve/KILL");
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let known = User::from_uid(Uid::current()).ok().flatten();
    files.extend(
        known
            .map(|user| user.dir.join(".config/evolve/KILL"))
            .filter(|file| is_another(file, &files)),
    );
    Ok(files)
}

/// Says whether a kill file is none of these and can be looked for: the home of a user that has none, as of some services, is no
/// folder that could be looked into.
fn is_another(file: &Path, files: &[PathBuf]) -> bool {
    let is_decidable = match fs::symlink_metadata(file) {
        Ok(_) => true,
        Err(cause) => cause.kind() == ErrorKind::NotFound,
    };
    is_decidable && file.is_absolute() && files.iter().all(|known| known != file)
}

/// Makes the folder of the kill file that `evolve stop --kill` writes, so that it is watched from the start. Where that is
/// not possible it is looked for all the same.
pub fn prepare(kill_files: &[PathBuf]) {
    let Some(folder) = kill_files.first().and_then(|file| file.parent()) else {
        return;
    };
    let home = folder.ancestors().nth(2);
    if home.is_some_and(|home| fs::metadata(home).is_ok_and(|meta| meta.is_dir())) {
        let _ = fs::create_dir_all(folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_which_nothing_can_be_told_counts_as_there_and_one_that_is_nowhere_does_not() {
        let home = tempfile::tempdir().expect("a folder");
        let (file, around) = (home.path().join("file"), home.path().join("loop"));
        fs::write(&file, " some\u{1b}words\n").expect("a file");
        std::os::unix::fs::symlink(&around, &around).expect("a link");
        assert_eq!(look_for(&home.path().join("nowhere/KILL")), None);
        for below in [file.join("KILL"), around.join("KILL")] {
            let (path, words) = look_for(&below).expect("undecidable");
            assert_eq!(path, below);
            assert!(words.starts_with("cannot be looked at"), "{words}");
        }
        for (there, words) in [(&around, ""), (&home.path().to_owned(), "")] {
            assert_eq!(look_for(there), Some((there.clone(), words.to_owned())));
        }
        let (_, words) = look_for(&file).expect("a file");
        assert!(words.starts_with("some") && !words.contains('\u{1b}'));
    }

    #[test]
    fn the_home_that_the_system_knows_of_is_looked_into_where_it_is_another_and_a_folder() {
        let home = tempfile::tempdir().expect("a folder");
        let none = home.path().join("none");
        fs::write(&none, "").expect("a file");
        let at = |home: &Path| home.join(".config/evolve/KILL");
        let (there, nowhere) = (at(home.path()), at(Path::new("nowhere")));
        assert!(is_another(&there, &[]) && is_another(&there, &[at(&none)]));
        assert!(!is_another(&there, &[at(&none), there.clone()]));
        assert!(!is_another(&at(&none), &[]) && !is_another(&nowhere, &[]));
    }

    #[test]
    fn the_folder_of_the_first_kill_file_is_made_where_there_is_a_home_for_it() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join(".config/evolve");
        prepare(&[home.path().join("none/.config/evolve/KILL")]);
        assert!(!home.path().join("none").exists());
        prepare(&[folder.join("KILL"), home.path().join("second/KILL")]);
        assert!(folder.is_dir() && !home.path().join("second").exists());
    }
}
