//! `.gitignore` files of an agent's that name themselves, too: git shows neither them nor what they hide, so no commit holds what a goal
//! may be met by. They are named and stay: tools hide what they keep for themselves in this way, too.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::strays::Left;
use crate::effects::git::Git;
use crate::effects::workspace::status::ignored_in;
use crate::effects::workspace::{Start, Workspace, some_of};
use crate::error::Result;
use crate::model::{output, text};

impl Workspace<'_> {
    /// Names what came anew and hides itself, but for what tools fill.
    pub(in crate::effects::workspace) fn note_hiding(
        &self,
        start: &Start,
        ignoring: Vec<PathBuf>,
        left: &mut Left,
    ) -> Result<()> {
        let Some(before) = &start.ignoring else {
            return Ok(());
        };
        let is_new = |path: &PathBuf| {
            let is_of_tools = output::is_of_tools(&text::path(path.as_os_str().as_bytes()));
            !before.contains(path) && !is_of_tools
        };
        let new: Vec<PathBuf> = ignoring.into_iter().filter(is_new).collect();
        let hidden = self.hidden_by_themselves(&new)?;
        if !hidden.is_empty() {
            let shown: Vec<String> = hidden
                .iter()
                .map(|path| text::path(path.as_os_str().as_bytes()))
                .collect();
            left.notes.push(format!(
                "hides itself from git, and other files in its folder, which no commit holds and goals may be met by: {}",
                some_of(&shown)
            ));
        }
        Ok(())
    }

    /// Returns those of these files that git ignores by no pattern for a folder around them, in order.
    fn hidden_by_themselves(&self, files: &[PathBuf]) -> Result<BTreeSet<PathBuf>> {
        let mut homes: BTreeMap<&[u8], (Git, Vec<&OsStr>)> = BTreeMap::new();
        for file in files {
            let path = file.as_os_str().as_bytes();
            let (git, below) = self.around(path);
            let home = &path[..path.len() - below.len()];
            let (_, asked) = homes.entry(home).or_insert((git, Vec::new()));
            asked.push(OsStr::from_bytes(below));
        }
        let mut found = BTreeSet::new();
        for (home, (git, asked)) in homes {
            let ignored: BTreeSet<_> = ignored_in(&git, &asked)?.into_iter().collect();
            let hidden = asked.iter().filter(|it| ignored.contains(it.as_bytes()));
            let whole = hidden.map(|it| Path::new(OsStr::from_bytes(home)).join(it));
            found.extend(whole);
        }
        Ok(found)
    }
}
