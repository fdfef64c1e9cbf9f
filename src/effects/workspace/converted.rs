//! Files whose bytes git changes on their way into a commit (`model::conversion`): an agent can leave bytes in one that no
//! commit holds, and git calls it unchanged. Those that were touched since the start are made what a checkout writes: what is
//! measured is then what a clone has, and what an undo leaves is what was there.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::restat::{self, Untouched};
use super::{Start, Workspace, ended, some_of};
use crate::effects::files::{self, is_beneath};
use crate::effects::repo::hash_blob;
use crate::error::Result;
use crate::model::conversion::{ATTRIBUTES, Conversion, LineEnds};
use crate::model::text;

/// A tracked file that somebody touched since the start.
struct Touched {
    path: Vec<u8>,
    /// The id of its content in the index.
    id: String,
    /// Its line for `update-index --index-info`.
    entry: Vec<u8>,
}

impl Workspace<'_> {
    /// Writes files anew that were touched since the start, that git calls unchanged, and whose bytes are not those that a
    /// checkout of the index would write; names them, but for those in which only line ends were others. What git calls changed
    /// is somebody's edit, and stays.
    pub(super) fn write_converted(
        &self,
        start: &Start,
        untouched: &Untouched,
    ) -> Result<Option<String>> {
        let touched = self.touched(start, untouched)?;
        if touched.is_empty() {
            return Ok(None);
        }
        let conversions = self.conversions(&touched)?;
        let conversion = |one: &Touched| conversions.get(&one.path).copied().unwrap_or_default();
        let mut doubtful: Vec<_> = touched
            .into_iter()
            .filter(|one| match conversion(one) {
                Conversion::None => false,
                Conversion::In => self.bytes(one).is_some_and(|it| hash_blob(&it) != one.id),
                Conversion::Both => true,
            })
            .collect();
        if doubtful.is_empty() {
            return Ok(None);
        }
        let edited = self.edited_since_stock()?;
        doubtful.retain(|one| !edited.contains(&one.path));
        let before: Vec<_> = doubtful.iter().map(|one| self.words(one)).collect();
        let written = self.check_out(&doubtful);
        let after = doubtful.iter().map(|one| self.words(one));
        let pairs = doubtful.iter().zip(before.into_iter().zip(after));
        let others = pairs.filter(|(_, (before, after))| before != after);
        let name = |one: &Touched| text::clean_line(&String::from_utf8_lossy(&one.path));
        let others: Vec<_> = others.map(|(one, _)| name(one)).collect();
        match written {
            Err(cause) if cause.is_of_machine() || cause.is_halt() => Err(cause),
            Err(cause) => Ok(Some(format!(
                "files stay as they were left, because git cannot write them anew: {cause}"
            ))),
            Ok(()) if others.is_empty() => Ok(None),
            Ok(()) => Ok(Some(format!(
                "what no commit holds was in files that git converts (see `git help attributes`); they were written anew: {}",
                some_of(&others)
            ))),
        }
    }

    fn touched(&self, start: &Start, untouched: &Untouched) -> Result<Vec<Touched>> {
        let listed = self.repo.git.run(&["ls-files", "-v", "--stage", "-z"])?;
        let mut is_untouched = untouched.in_turn();
        let mut is_new = |path: &[u8]| {
            !is_untouched(path)
                && restat::touched(&self.repo.root, path, start).is_some_and(|meta| meta.is_file())
                // What git did not track is the user's, byte for byte, also where an agent put it into a commit.
                && !start.kept.was_there(path)
        };
        // As in `H 100644 <id> 0<tab>path`.
        let read = |line: &[u8]| {
            let entry = line.strip_prefix(b"H 100")?;
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let words = std::str::from_utf8(&entry[..tab]).ok()?;
            let mut words = words.split(' ').skip(1);
            let (id, stage, path) = (words.next()?, words.next()?, &entry[tab + 1..]);
            (stage == "0" && is_new(path) && is_beneath(&self.repo.root, path)).then(|| Touched {
                path: path.to_vec(),
                id: id.to_owned(),
                entry: line[2..].to_vec(),
            })
        };
        Ok(listed.split(|byte| *byte == 0).filter_map(read).collect())
    }

    /// Returns what git does to these files.
    fn conversions(&self, touched: &[Touched]) -> Result<HashMap<Vec<u8>, Conversion>> {
        let git = &self.repo.git;
        let ends = LineEnds::of_settings(&git.run(&["config", "--list", "-z"])?);
        let paths: Vec<_> = touched.iter().map(|one| one.path.clone()).collect();
        let arguments = [&["check-attr", "-z", "--stdin"][..], &ATTRIBUTES].concat();
        let listed = git.run_with(&arguments, &ended(&paths))?;
        let mut found: HashMap<Vec<u8>, Conversion> = HashMap::new();
        let mut words = listed.split(|byte| *byte == 0);
        while let (Some(path), Some(attribute), Some(value)) =
            (words.next(), words.next(), words.next())
        {
            let (attribute, value) = [attribute, value].map(String::from_utf8_lossy).into();
            found
                .entry(path.to_vec())
                .or_default()
                .add(&attribute, &value, ends);
        }
        Ok(found)
    }

    /// Has git write these files as the index has them. One that it cannot write is as it was.
    fn check_out(&self, files: &[Touched]) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        let git = &self.repo.git;
        // Git writes no file of which it has noted that it is unchanged.
        let entries: Vec<_> = files.iter().map(|one| one.entry.clone()).collect();
        git.run_with(&["update-index", "-z", "--index-info"], &ended(&entries))?;
        let folder = self.repo.private.join("converted");
        files::make_folder(&folder)?;
        let second_name = |number: usize| folder.join(number.to_string());
        for (number, one) in files.iter().enumerate() {
            let second = second_name(number);
            files::remove(&second)?;
            // Where there can be no second name, git's own care has to do.
            let _ = fs::hard_link(self.file(one), second);
        }
        let paths: Vec<_> = files.iter().map(|one| one.path.clone()).collect();
        let arguments = ["checkout-index", "--force", "--index", "-z", "--stdin"];
        let written = git.run_with(&arguments, &ended(&paths));
        for (number, one) in files.iter().enumerate() {
            let (file, second) = (self.file(one), second_name(number));
            // A filter that fails leaves nothing.
            if fs::symlink_metadata(&file).is_err() {
                let _ = fs::rename(&second, &file);
            }
            files::remove(&second)?;
        }
        let _ = fs::remove_dir(&folder);
        written.map(|_| ())
    }

    fn file(&self, one: &Touched) -> PathBuf {
        self.repo.root.join(OsStr::from_bytes(&one.path))
    }

    fn bytes(&self, one: &Touched) -> Option<Vec<u8>> {
        files::read(&self.file(one)).ok()
    }

    /// Returns the digest of a file without what ends its lines.
    fn words(&self, one: &Touched) -> Option<String> {
        let mut bytes = self.bytes(one)?;
        bytes.retain(|byte| *byte != b'\r');
        Some(crate::model::digest::full(&bytes))
    }
}
