//! What git's attributes say of paths.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use git2::{AttrCheckFlags, AttrValue};

use super::Repo;
use crate::effects::files;
use crate::effects::git::Git;
use crate::error::Result;

/// What git's attributes stand in.
pub const FILE: &str = ".gitattributes";
/// The most bytes of such a file that are looked at: git reads no more (`ATTR_MAX_FILE_SIZE` of its `attr.h`).
pub const MOST: u64 = 100 << 20;

/// What an attribute is for a path, as git says it: a value, or one of its words `set`, `unset` and `unspecified`.
pub struct Said {
    /// The path.
    pub path: String,
    /// The attribute.
    pub name: String,
    /// The value, or the word.
    pub value: String,
}

impl Repo {
    /// Returns what git says of attributes of paths; nothing where no file that it would read names one of them, and where a
    /// pipe stands in the place of such a file, so that it would wait.
    pub fn attributes(&self, paths: &[&str], names: &[&str]) -> Vec<Said> {
        let files = self.attribute_files(paths);
        if !files.is_some_and(|files| self.may_say(&files, paths, names)) {
            return Vec::new();
        }
        let arguments = ["check-attr", "-z"].iter().chain(names).chain(&["--"]);
        let arguments: Vec<&str> = arguments.chain(paths).copied().collect();
        let said = self.git.run(&arguments).unwrap_or_default();
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let one = |(path, name, value)| Said {
            path: text(path),
            name: text(name),
            value: text(value),
        };
        self::said(&said).map(one).collect()
    }

    /// Returns the plain files of this repository with attributes of paths; none where something stands there that is no file,
    /// link or folder. Links are passed over, as git does it.
    fn attribute_files(&self, paths: &[&str]) -> Option<Vec<PathBuf>> {
        let folders = paths
            .iter()
            .flat_map(|path| Path::new(path).ancestors().skip(1));
        let files = folders.map(|folder| self.root.join(folder).join(FILE));
        let files: BTreeSet<PathBuf> = files.chain([self.common_path("info/attributes")]).collect();
        let mut plain = Vec::new();
        for file in files {
            let Ok(meta) = fs::symlink_metadata(&file) else {
                continue;
            };
            let kind = meta.file_type();
            match kind.is_file() {
                true => plain.push(file),
                false if kind.is_symlink() || kind.is_dir() => {}
                false => return None,
            }
        }
        Some(plain)
    }

    /// Says whether one of these files names an attribute, or the user's own settings do, which libgit2 finds. It reads no quoted
    /// patterns, and goes by links; git itself has the last word, and the only one where libgit2 would first read a large index.
    fn may_say(&self, files: &[PathBuf], paths: &[&str], names: &[&str]) -> bool {
        let names_one = |file: &PathBuf| {
            let text = files::read_bounded(file, MOST).ok().flatten();
            let text = text.unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            names.iter().any(|name| text.contains(name))
        };
        let is_given = |path: &str, name: &str| {
            let flags = AttrCheckFlags::FILE_THEN_INDEX;
            let value = self.inner.get_attr_bytes(path.as_ref(), name, flags);
            value.is_ok_and(|value| AttrValue::from_bytes(value) != AttrValue::Unspecified)
        };
        files.iter().any(names_one)
            || self.has_large_index()
            || paths
                .iter()
                .any(|path| names.iter().any(|name| is_given(path, name)))
    }
}

/// Reads what `git check-attr -z` says: a path, an attribute and its value each.
pub fn said(listed: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
    let mut words = listed.split(|byte| *byte == 0);
    std::iter::from_fn(move || Some((words.next()?, words.next()?, words.next()?)))
}

/// Returns the paths of all files with attributes, in the tree or the index.
pub fn all_files(git: &Git) -> Result<Vec<Vec<u8>>> {
    let listed = git.run(&["ls-files", "-z", "--cached", "--others"])?;
    let is_one = |path: &&[u8]| path.rsplit(|byte| *byte == b'/').next() == Some(FILE.as_bytes());
    let paths = listed.split(|byte| *byte == 0).filter(is_one);
    let paths: BTreeSet<Vec<u8>> = paths.map(<[u8]>::to_vec).collect();
    Ok(paths.into_iter().collect())
}
