//! Files whose bytes git changes on their way into a commit (`model::git::conversion`): an agent can leave bytes in one that no
//! commit holds, and git calls it unchanged. Those that were touched since the start are made what a checkout writes: what is
//! measured is then what a clone has, and what an undo leaves is what was there.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::effects::files::{self, is_beneath};
use crate::effects::near::Near;
use crate::effects::parallel::side_by_side;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::attributes::said;
use crate::effects::repo::hash_blob;
use crate::effects::workspace::index::restat::{self, Untouched};
use crate::effects::workspace::{Start, Workspace, ended, some_of};
use crate::error::{Error, Result};
use crate::model::git::conversion::{ATTRIBUTES, Conversion, LineEnds};
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
    /// Writes files anew that were touched since the start, or are `converted` by other attributes since, that git calls unchanged, and
    /// whose bytes are not those that a checkout of the index would write; names them, but for those in which only line ends were others.
    /// Their earlier bytes, which may be the user's, go to the quarantine. What git calls changed is somebody's edit, and stays. `listed`
    /// is what the index lists, where that is known by now.
    pub(in crate::effects::workspace) fn write_converted(
        &self,
        start: &Start,
        untouched: &Untouched,
        converted: &BTreeSet<Vec<u8>>,
        listed: Option<Vec<u8>>,
    ) -> Result<Vec<String>> {
        let listed = listed.map_or_else(|| self.repo.listing(), Ok)?;
        let touched = self.touched(start, untouched, converted, &listed);
        if touched.is_empty() {
            return Ok(Vec::new());
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
            return Ok(Vec::new());
        }
        let edited = self.edited_since_stock()?;
        doubtful.retain(|one| !edited.contains(&one.path));
        let mut quarantine = Quarantine::of(&self.repo.private, &start.session, start.cycle);
        let (written, others) = self.check_out(&doubtful, &mut quarantine)?;
        let mut notes = Vec::new();
        match written {
            Err(cause) if cause.is_of_machine() || cause.is_halt() => return Err(cause),
            Err(cause) => notes.push(format!(
                "files stay as they were left, because git cannot write them anew: {cause}"
            )),
            Ok(()) if others.is_empty() => {}
            Ok(()) => notes.push(format!(
                "what no commit holds was in files that git converts (see `git help attributes`); they were written anew: {}",
                some_of(&others)
            )),
        }
        notes.extend(quarantine.notes());
        Ok(notes)
    }

    fn touched(
        &self,
        start: &Start,
        untouched: &Untouched,
        converted: &BTreeSet<Vec<u8>>,
        listed: &[u8],
    ) -> Vec<Touched> {
        let mut is_untouched = untouched.in_turn();
        let mut near = Near::below(&self.repo.root);
        let (known, _) = start.guarded.folders(&self.repo.own_places());
        let mut is_fresh = restat::fresh(start, &known, &self.repo.root);
        let mut is_new = |path: &[u8]| {
            let is_other = converted.contains(path);
            (!is_untouched(path) || is_other)
                && near
                    .look(path)
                    .is_some_and(|seen| seen.is_file() && (is_fresh(path, seen) || is_other))
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
        listed.split(|byte| *byte == 0).filter_map(read).collect()
    }

    /// Returns what git does to these files.
    fn conversions(&self, touched: &[Touched]) -> Result<HashMap<Vec<u8>, Conversion>> {
        let git = &self.repo.git;
        let paths: Vec<_> = touched.iter().map(|one| one.path.clone()).collect();
        let arguments = [&["check-attr", "-z", "--stdin"][..], &ATTRIBUTES].concat();
        let (settings, listed) = side_by_side(
            || git.run(&["config", "--list", "-z"]),
            || git.run_with(&arguments, &ended(&paths)),
        )?;
        let ends = LineEnds::of_settings(&settings);
        let mut found: HashMap<Vec<u8>, Conversion> = HashMap::new();
        for (path, attribute, value) in said(&listed) {
            let (attribute, value) = [attribute, value].map(String::from_utf8_lossy).into();
            found
                .entry(path.to_vec())
                .or_default()
                .add(&attribute, &value, ends);
        }
        Ok(found)
    }

    /// Has git write these files as the index has them; returns what it says, and the names of those that had other words. One that it
    /// cannot write is as it was.
    fn check_out(
        &self,
        files: &[Touched],
        quarantine: &mut Quarantine,
    ) -> Result<(Result<()>, Vec<String>)> {
        let mut others = Vec::new();
        if files.is_empty() {
            return Ok((Ok(()), others));
        }
        let git = &self.repo.git;
        // Git writes no file of which it has noted that it is unchanged.
        let entries: Vec<_> = files.iter().map(|one| one.entry.clone()).collect();
        git.run_with(&["update-index", "-z", "--index-info"], &ended(&entries))?;
        let folder = self.repo.private.join("converted");
        files::make_own_folder(&folder)?;
        for (number, one) in files.iter().enumerate() {
            let (file, second) = (self.file(one), folder.join(number.to_string()));
            files::remove_all(&second).map_err(|cause| Error::io("remove", &second, cause))?;
            let linked = fs::hard_link(&file, &second);
            let kept = linked.or_else(|_| fs::copy(&file, &second).map(drop));
            kept.map_err(|cause| Error::io("keep", &file, cause))?;
        }
        let paths: Vec<_> = files.iter().map(|one| one.path.clone()).collect();
        let arguments = ["checkout-index", "--force", "--index", "-z", "--stdin"];
        let written = git.run_with(&arguments, &ended(&paths));
        for (number, one) in files.iter().enumerate() {
            let number = number.to_string();
            let (file, second) = (self.file(one), folder.join(&number));
            // A filter that fails leaves nothing.
            if fs::symlink_metadata(&file).is_err() {
                let _ = fs::rename(&second, &file);
            } else if words(&file) != words(&second) {
                let name = OsStr::from_bytes(&one.path);
                quarantine.take_from(&folder, Path::new(&number), Path::new(name))?;
                others.push(text::clean_line(&String::from_utf8_lossy(&one.path)));
            }
            files::remove(&second)?;
        }
        let _ = fs::remove_dir(&folder);
        Ok((written.map(|_| ()), others))
    }

    fn file(&self, one: &Touched) -> PathBuf {
        self.repo.root.join(OsStr::from_bytes(&one.path))
    }

    fn bytes(&self, one: &Touched) -> Option<Vec<u8>> {
        files::read_bounded(&self.file(one), files::LARGEST).ok()?
    }
}

/// Returns the digest of a file without what ends its lines.
fn words(file: &Path) -> Option<String> {
    let mut bytes = files::read_bounded(file, files::LARGEST).ok()??;
    bytes.retain(|byte| *byte != b'\r');
    Some(crate::model::digest::full(&bytes))
}
