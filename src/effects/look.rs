//! How `evolve init` asks the disk: git's listing, small text files without following links, programs on the PATH.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::effects::repo::Repo;
use crate::effects::{files, program};
use crate::error::Result;
use crate::model::init::Look;
use crate::model::{ledger, text};

/// The most bytes of a file that are read; a longer one is no manifest of anybody's.
const READ_LIMIT: u64 = 1 << 20;
/// The most files that are listed.
const MOST_FILES: usize = 200_000;

/// A working tree that is looked at.
pub struct Disk {
    root: PathBuf,
    files: Vec<String>,
}

impl Disk {
    /// Lists what git tracks and would track; a path that does not show as it is, is left out.
    pub fn of(repo: &Repo) -> Result<Disk> {
        let asked = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let listed = repo.git.run(&asked)?;
        let is_shown = |path: &&str| {
            let is_odd = |c: char| c.is_control() || text::is_invisible(c);
            !path.is_empty()
                && !path.chars().any(is_odd)
                && !ledger::is_ledger_path(path.as_bytes())
        };
        let paths = listed.split(|byte| *byte == 0);
        let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
        let paths = paths.filter(is_shown).take(MOST_FILES);
        let mut files: Vec<String> = paths.map(str::to_owned).collect();
        files.sort();
        files.dedup();
        Ok(Disk {
            root: repo.root.clone(),
            files,
        })
    }

    /// Returns a path only if no folder above it is a link.
    fn place(&self, path: &str) -> Option<PathBuf> {
        files::is_beneath(&self.root, path.as_bytes()).then(|| self.root.join(path))
    }
}

/// Returns what git neither tracks nor ignores; a folder of which it tracks nothing stands for all in it, with a slash at its end.
pub fn untracked(repo: &Repo) -> Result<Vec<String>> {
    let asked = [
        "ls-files",
        "-z",
        "--others",
        "--exclude-standard",
        "--directory",
        "--no-empty-directory",
    ];
    let listed = repo.git.run(&asked)?;
    let paths = listed.split(|byte| *byte == 0);
    let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
    let paths = paths.filter(|path| !path.is_empty()).take(MOST_FILES);
    Ok(paths.map(str::to_owned).collect())
}

impl Look for Disk {
    fn files(&self) -> &[String] {
        &self.files
    }

    fn read(&self, path: &str) -> Option<String> {
        let bytes = files::read_bounded(&self.place(path)?, READ_LIMIT).ok()??;
        let text = String::from_utf8(bytes).ok()?;
        Some(
            text.strip_prefix('\u{feff}')
                .map(str::to_owned)
                .unwrap_or(text),
        )
    }

    fn is_there(&self, path: &str) -> bool {
        // A virtual environment is full of links: this one is only looked for.
        self.root.join(path).exists()
    }

    fn is_executable(&self, path: &str) -> bool {
        let is_so = |place: &Path| {
            let meta = fs::symlink_metadata(place);
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        self.place(path).is_some_and(|place| is_so(&place))
    }

    fn finds(&self, program: &str) -> bool {
        program::is_found(program)
    }

    fn is_set(&self, variable: &str) -> bool {
        std::env::var_os(variable).is_some_and(|value| !value.is_empty())
    }
}
