//! A copy of the git directory outside the repository while an agent works: an agent can remove or replace `.git`, and
//! damage or remove what is in it. Refreshed right before each agent, at the cost of what changed; what was lost since is
//! given back from it after the agent (`give_back`), object by object and line by line. Removed when the session has ended
//! in order.
//!
//! It lies in `$XDG_STATE_HOME/evolve/<name and digest of the git directory's path>/git`. The bytes of small files lie beside it
//! (`store`): loose objects are nothing else until a person needs the copy as a whole; refs and reflogs are hard links in it, and
//! before anything is read from it, those that were written to are made files again (`mend`). Objects beyond a limit are hard
//! links, too (`copy`). Where these cannot be linked, because that is another file system, there is no copy, and that is said.

mod copy;
mod derived;
mod dirs;
mod fresh;
mod lend;
pub mod linked;
mod logs;
mod names;
mod new;
mod objects;
mod packs;
mod rest;
mod store;
pub mod way_back;
mod worktrees;

use std::collections::BTreeMap;
use std::fs;
use std::io::Result as IoResult;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::effects::files::{self, Moment};
use crate::effects::modes;
use crate::effects::places::{Places, folder_name};
use crate::effects::quarantine::{self, Quarantine};
use crate::effects::repo::root_of_linked;
use crate::error::{Error, Result};
use crate::model::git::whose::Whose;
use crate::model::{exact, text};

use copy::{Noted, Purpose};
use dirs::MirroredDir;
pub use dirs::Tree;
use lend::{lend, lend_missing};
use new::New;
use objects::Keeper;
pub use objects::is_sha256;
use way_back::quoted;

/// How many names a note lists.
const SHOWN: usize = 10;
/// The working tree that is no linked one, for people.
const MAIN: &str = "the main working tree";
/// The files beside a copy.
const NOTES: [&str; 8] = [
    "bytes",
    "handed-over",
    "linked",
    "mapped",
    "of",
    "of-tree",
    "paths",
    "whole",
];
/// More bytes than it takes to say which git directory was copied.
const NOTE_LIMIT: u64 = 4096;

/// Where the copy of one git directory lies.
#[derive(Clone, Debug)]
pub struct Mirror {
    folder: PathBuf,
    /// The git directory that all working trees share.
    common: PathBuf,
    /// The git directory of the working tree.
    git_dir: PathBuf,
}

impl Mirror {
    /// Names the copy of a git directory; it is made by the first `refresh`.
    pub fn of(places: &Places) -> Result<Mirror> {
        let real = |path: &Path| {
            let real = path.canonicalize();
            real.map_err(|cause| Error::io("open", path, cause))
        };
        let git_dir = real(&places.git_dir)?;
        Ok(Mirror {
            folder: way_back::folder_of(&git_dir)?,
            common: real(&places.common)?,
            git_dir,
        })
    }

    fn copy(&self) -> PathBuf {
        self.folder.join("git")
    }

    /// Opens the copy to its owner where it was shut by a mode, with the folder that it lies in; `since` as for a git directory.
    pub fn open(&self, since: i64) {
        let above = self.folder.parent().unwrap_or(&self.folder);
        let way = [above, &self.folder, &self.copy()];
        // All of them, one after the other.
        let shut = way.iter().filter(|folder| modes::open_folder(folder));
        if shut.count() > 0 {
            modes::open_copies(&self.folder, since);
        }
    }

    /// Brings the copy up to date. `around` are git directories of submodules that lie in the working tree.
    pub fn refresh(&self, around: &[PathBuf]) -> Result<()> {
        if self.folder.starts_with(&self.common) || self.common.starts_with(&self.folder) {
            return Err(Error::internal(format!(
                "{} lies in the repository itself",
                self.folder.display()
            ))
            .hint("set XDG_STATE_HOME to a folder outside the repository"));
        }
        let done = make_copy_folder(&self.folder).and_then(|()| {
            files::remove_all(&self.whole())?;
            files::remove_all(&self.handed_over())?;
            // First of all: what is cut short here is still a copy of this one.
            fs::write(
                self.folder.join("of"),
                identity(&self.common).unwrap_or_default(),
            )?;
            self.note_tree()?;
            copy::refresh(&self.common, &self.copy(), &self.folder, Purpose::ToLend)?;
            self.copy_around(around)?;
            fs::write(self.whole(), "")
        });
        done.map_err(|cause| {
            let _ = self.remove();
            Error::io("copy .git to", &self.copy(), cause)
        })
    }

    fn copy_around(&self, around: &[PathBuf]) -> IoResult<()> {
        let folder = self.folder.join("around");
        let names: Vec<_> = around
            .iter()
            .map(|path| exact::decode(path.as_os_str().as_bytes()))
            .collect();
        if around.is_empty() {
            return files::remove_all(&folder);
        }
        make_copy_folder(&folder)?;
        for path in around {
            let folder = folder.join(folder_name(path));
            make_copy_folder(&folder)?;
            copy::refresh(path, &folder.join("git"), &folder, Purpose::ToOpen)?;
        }
        fs::write(folder.join("paths"), serde_json::to_vec(&names)?)
    }

    /// Returns each git directory that was copied as a whole, with the folder of its copy.
    fn copied(&self) -> Vec<(PathBuf, PathBuf)> {
        way_back::copied(&self.folder, &self.common)
    }

    /// Returns the git directories of submodules, each with its copy and its name for people.
    pub fn submodules(&self) -> Vec<(PathBuf, PathBuf, String)> {
        if !self.is_whole() {
            return Vec::new();
        }
        let places = self.git_dirs().into_iter();
        places
            .filter(|place| !self.is_own(place) && !place.copy.join("commondir").exists())
            .map(|place| {
                let shown = place.shown(Path::new(""));
                (place.live, place.copy, shown)
            })
            .collect()
    }

    /// Returns the private parts of other working trees. That of the main one is the git directory that all share.
    pub fn trees(&self) -> Vec<Tree> {
        if !self.is_whole() {
            return Vec::new();
        }
        let (mut trees, places) = (Vec::new(), self.git_dirs());
        for place in places.into_iter().filter(|it| it.live != self.git_dir) {
            let (name, shown) = match self.is_main(&place) {
                true => ("main-worktree".to_owned(), MAIN.to_owned()),
                false if place.below.starts_with("worktrees") => {
                    let name = place.live.file_name().unwrap_or_default();
                    let name = format!("worktrees/{}", name.to_string_lossy());
                    (name, place.shown(Path::new("")))
                }
                false => continue,
            };
            trees.push(Tree {
                name,
                shown,
                path: place.shown,
                live: place.live,
                copy: place.copy,
            });
        }
        trees
    }

    /// The file that says that the copy was finished before an agent began.
    fn whole(&self) -> PathBuf {
        self.folder.join("whole")
    }

    /// Gives the git directory back what it has lost since the copy was made: objects, the private parts of other working
    /// trees, and all of these of submodules; says what. What is in the way goes to the quarantine. Opens no
    /// repository, and can be done again wherever it was cut short.
    pub fn give_back(&self, quarantine: &mut Quarantine) -> Result<Vec<String>> {
        if !self.is_whole() {
            return Ok(Vec::new());
        }
        let noted = self.mended()?;
        let mut notes = Vec::new();
        for place in self.git_dirs() {
            let Some(noted) = noted.get(&place.folder) else {
                continue;
            };
            let lent = Keeper::of(&place, noted, &self.folder).give_back(quarantine)?;
            if lent > 0 {
                let shown = place.shown(Path::new(""));
                notes.push(format!(
                    "objects of git were damaged or removed and are whole again: {lent} in {shown}"
                ));
            }
            if place.live == self.common {
                // Libgit2 does not look anew at objects without it.
                files::make_folder(&place.live.join("objects/pack"))?;
            }
            if self.is_main(&place) && self.git_dir != self.common {
                let back = worktrees::give_main_back(&place, quarantine)?;
                if !back.is_empty() {
                    let names = back.join(", ");
                    notes.push(format!("what was removed from {MAIN} is back: {names}"));
                }
            } else if self.is_own(&place) {
                worktrees::make_folders(&place)?;
            } else if worktrees::give_back(&place, quarantine)? {
                let shown = place.shown(Path::new(""));
                notes.push(format!("what was removed from {shown} is back"));
            }
            if let Some(named) = rest::give_back(&place, quarantine)? {
                notes.push(format!("what was removed is back: {named}"));
            }
        }
        notes.extend(self.give_quarantine_back()?);
        Ok(notes)
    }

    /// The file that says that the quarantine is the user's to clear.
    fn handed_over(&self) -> PathBuf {
        self.folder.join("handed-over")
    }

    /// Gives the quarantine back what was removed from it, for the last time in this cycle: its agent is gone, and the user was told to
    /// remove from it what he does not need.
    pub fn hand_over_quarantine(&self) -> Result<()> {
        if !self.is_whole() {
            return Ok(());
        }
        self.give_quarantine_back()?;
        files::replace(&self.handed_over(), b"")
    }

    /// Gives the quarantine back what was removed from it; says how much.
    fn give_quarantine_back(&self) -> Result<Option<String>> {
        if self.handed_over().is_file() {
            return Ok(None);
        }
        let [from, to] = [self.copy(), self.common.clone()]
            .map(|common| self.evolve_in(&common).join(quarantine::FOLDER));
        if fs::symlink_metadata(&from).is_err() {
            return Ok(None);
        }
        let lent = lend(&from, &to).map_err(|cause| Error::io("restore", &to, cause))?;
        Ok(
            (lent > 0)
                .then(|| format!("files of the quarantine were removed and are back: {lent}")),
        )
    }

    /// Lends the files again that were at these places and no other step gives back: HEAD, and lists of git's.
    pub fn lend_again(&self, places: &[PathBuf]) -> Result<()> {
        if places.is_empty() || !self.is_whole() {
            return Ok(());
        }
        for place in self.git_dirs() {
            let has = |name: &str| places.iter().any(|it| *it == place.live.join(name));
            for name in ["HEAD", "packed-refs"].into_iter().filter(|name| has(name)) {
                lend_missing(&place, name.as_ref())?;
            }
            if !has("index") && !places.iter().any(|it| is_shared_index(&place, it)) {
                continue;
            }
            for entry in fs::read_dir(&place.copy).into_iter().flatten().flatten() {
                let path = place.live.join(entry.file_name());
                if is_shared_index(&place, &path) || path == place.live.join("index") {
                    lend_missing(&place, Path::new(&entry.file_name()))?;
                }
            }
        }
        Ok(())
    }

    /// Moves links away that came to stand for folders of objects. Where there is no copy, those count as new that were made since
    /// a moment. To be done before anything is read or written there.
    pub fn clear_links(&self, since: Moment, quarantine: &mut Quarantine) -> Result<()> {
        self.in_each(since, |git_dir, shown, new| {
            fresh::clear_links(git_dir, shown, new, quarantine)
        })
    }

    /// Moves objects and packs away that came anew and cannot be relied on, and removes what is derived from objects and
    /// changed; `since` as above. To be done before a repository is opened.
    pub fn clear_damaged(&self, since: Moment, quarantine: &mut Quarantine) -> Result<()> {
        self.in_each(since, |git_dir, shown, new| {
            fresh::clear(git_dir, shown, new, quarantine)
        })
    }

    /// Does something in each git directory, with its path for people.
    fn in_each(
        &self,
        since: Moment,
        mut clear: impl FnMut(&Path, &Path, &New<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.is_whole() {
            return clear(&self.common, Path::new(".git"), &New::Since(since));
        }
        let noted = self.noted(Noted::read)?;
        let places = self.git_dirs().into_iter();
        places
            .filter(MirroredDir::is_in_place)
            .try_for_each(|place| match noted.get(&place.folder) {
                Some(noted) => {
                    let new = New::Beside(&place, noted, since);
                    clear(&place.live, &place.shown, &new)
                }
                None => Ok(()),
            })
    }

    /// Makes links that were written to files again, and returns what is noted of the copies by their folders.
    fn mended(&self) -> Result<BTreeMap<PathBuf, Noted>> {
        self.noted(|folder| {
            let mut noted = Noted::read(folder)?;
            noted.store.mend(&folder.join("git"))?;
            Ok(noted)
        })
    }

    /// Reads what is noted of the copies, by their folders.
    fn noted(&self, read: impl Fn(&Path) -> IoResult<Noted>) -> Result<BTreeMap<PathBuf, Noted>> {
        let copied = self.copied().into_iter().map(|(_, folder)| {
            let noted = read(&folder).map_err(|cause| Error::io("read", &folder, cause))?;
            Ok((folder, noted))
        });
        copied.collect()
    }

    /// Gives reflogs back the lines that they have lost; says which. Those of a ref that could not be put back go on as the log of
    /// the one that is kept instead, and where there is none to the quarantine. Whoever reads them to see who moved a ref does
    /// that before.
    pub fn give_logs_back(
        &self,
        whose: &Whose,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        if !self.is_whole() {
            return Ok(Vec::new());
        }
        let mut mended = Vec::new();
        for place in self.git_dirs() {
            mended.extend(logs::give_back(&place, whose, quarantine)?);
        }
        Ok(match mended.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "lines of reflogs were removed and are back: {}",
                text::some_of(&mended, SHOWN)
            )],
        })
    }

    /// Says whether a git directory is the one that all working trees share, which is the main one's.
    fn is_main(&self, place: &MirroredDir) -> bool {
        place.live == self.common
    }

    /// Says whether git directories other than the one that is worked in are not concerned.
    fn is_own(&self, place: &MirroredDir) -> bool {
        [&self.common, &self.git_dir].contains(&&place.live)
    }

    /// Returns the git directories that were copied: the shared one, linked working trees' and submodules'.
    fn git_dirs(&self) -> Vec<MirroredDir> {
        let root = self.common.parent().unwrap_or(&self.common);
        let mut found = Vec::new();
        for (whole, folder) in self.copied() {
            let shown = match whole == self.common {
                true => Path::new(".git"),
                false => whole.strip_prefix(root).unwrap_or(&whole),
            };
            let mut folders = vec![PathBuf::new()];
            while let Some(below) = folders.pop() {
                let copy = folder.join("git").join(&below);
                let is_git_dir = copy.join("HEAD").is_file();
                for entry in fs::read_dir(&copy).into_iter().flatten().flatten() {
                    let name = entry.file_name();
                    let holds_others = !is_git_dir || name == "modules" || name == "worktrees";
                    if holds_others && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                        folders.push(below.join(name));
                    }
                }
                if is_git_dir {
                    found.push(MirroredDir {
                        live: whole.join(&below),
                        shown: shown.join(&below),
                        folder: folder.clone(),
                        copy,
                        below,
                    });
                }
            }
        }
        found
    }

    /// Says whether there is a copy.
    fn has_copy(&self) -> bool {
        way_back::has_copy(&self.folder)
    }

    /// Returns the command that puts the git directory back, in backticks, or what has to be done first; none if there is no copy.
    pub fn way_back(&self) -> Option<String> {
        way_back::command(&self.folder, &self.common)
    }

    /// Returns the copy of the private directory, if a whole copy is there and the git directory is still the one that was
    /// copied.
    pub fn private(&self) -> Option<PathBuf> {
        if !self.has_copy() {
            return None;
        }
        self.is_of_same().then(|| self.evolve_in(&self.copy()))
    }

    /// Returns what the private directory had in a file when the copy was finished, right before an agent: nothing where it had no such
    /// file. An outer none is that no such copy is there.
    pub fn file_before(&self, name: &str, limit: u64) -> Option<Option<Vec<u8>>> {
        if !self.is_whole() {
            return None;
        }
        let copy = self.evolve_in(&self.copy()).join(name);
        files::read_bounded(&copy, limit).ok()
    }

    /// Gives the private directory back what it has lost; copies of the user's files and settings, and the journal, as they
    /// were before the agent. What else is there stays.
    pub fn lend_private(&self) -> Result<()> {
        let (from, to) = (self.evolve_in(&self.copy()), self.evolve_in(&self.common));
        let old = ["keep", "guard", "journal.json"];
        let done = old
            .iter()
            .try_for_each(|name| files::remove_all(&to.join(name)));
        done.and_then(|()| lend(&from, &to).map(drop))
            .map_err(|cause| Error::io("restore", &to, cause))
    }

    /// Notes that the cycle is settled that the copy was made for: there is nothing to go back to.
    pub fn note_settled(&self) -> Result<()> {
        let folder = self.evolve_in(&self.copy());
        if !self.is_unsettled() {
            return Ok(());
        }
        files::remove(&folder.join("journal.json"))?;
        files::sync_folder(&folder).map_err(|cause| Error::io("sync", &folder, cause))
    }

    /// Says whether the copy was made for a cycle that was not settled yet.
    pub fn is_unsettled(&self) -> bool {
        let folder = self.evolve_in(&self.copy());
        fs::symlink_metadata(folder.join("journal.json")).is_ok()
    }

    fn is_of_same(&self) -> bool {
        is_of(&self.folder, &self.common)
    }

    /// Says whether a copy of this git directory is there that was finished before an agent began.
    fn is_whole(&self) -> bool {
        self.whole().is_file() && self.is_of_same()
    }

    /// Notes which git directory the working tree has: that of a linked one can be made anew by itself.
    fn note_tree(&self) -> IoResult<()> {
        let identity = identity(&self.git_dir).unwrap_or_default();
        fs::write(self.folder.join("of-tree"), identity)
    }

    /// Says whether the working tree's git directory is the one that was noted.
    fn is_of_tree(&self) -> bool {
        let noted = files::read_text(&self.folder.join("of-tree"), NOTE_LIMIT);
        // A copy of an earlier version has no such note.
        noted.is_ok_and(|noted| noted.is_empty() || Some(noted) == identity(&self.git_dir))
    }

    /// Returns the private directory in a shared git directory.
    fn evolve_in(&self, common: &Path) -> PathBuf {
        let below = self.git_dir.strip_prefix(&self.common);
        common.join(below.unwrap_or(Path::new(""))).join("evolve")
    }

    /// Refuses a git directory that is not the one that was copied, nor the copy put back: going on would lose the copy.
    pub fn refuse_another(&self) -> Result<()> {
        let is_same = self.is_of_same();
        let journal =
            |git_dir: &Path| files::read(&self.evolve_in(git_dir).join("journal.json")).ok();
        if is_same && self.is_of_tree() || journal(&self.copy()) == journal(&self.common) {
            return Ok(());
        }
        if is_same && self.has_copy() {
            return Err(self.other_tree());
        }
        match self.way_back() {
            Some(way_back) => Err(Error::unsafe_repo(format!(
                "{} is not the one that a session of evolve worked in when it was cut short",
                self.common.display()
            ))
            .hint(format!(
                "if you made it yourself, as with a new clone, remove the copy of the old one: `rm -rf {}`",
                quoted(&self.folder)
            ))
            .hint(format!(
                "if not, put the old one back, as it was before the agent: {way_back}"
            ))),
            None => Ok(()),
        }
    }

    /// The error of a linked working tree that was removed and made again since a session was cut short there.
    fn other_tree(&self) -> Error {
        let root = root_of_linked(&self.git_dir).unwrap_or_default();
        let root = quoted(&root);
        Error::unsafe_repo(format!(
            "{} is not the one that a session of evolve worked in when it was cut short: the working tree was removed and made again",
            self.git_dir.display()
        ))
        .hint(format!(
            "to have that cycle undone and the untracked files of then back, give up what is there now: `cd {} && git worktree remove --force {root} && mkdir {root} && cd {root} && evolve --max-cycles=1`",
            quoted(&self.common)
        ))
        .hint(format!(
            "if nothing of it is needed, remove its copy, which has these files in {}: `rm -rf {}`",
            quoted(&self.evolve_in(&self.copy()).join("keep")),
            quoted(&self.folder)
        ))
    }

    /// Removes the copy. It gives up its name first: what a failure leaves of it is no copy any more.
    pub fn remove(&self) -> Result<()> {
        if !fs::symlink_metadata(&self.folder).is_ok_and(|meta| meta.is_dir()) {
            return Ok(());
        }
        let failed = |cause| Error::io("remove", &self.folder, cause);
        let going = self.folder.join("going");
        files::remove_all(&going).map_err(failed)?;
        if fs::symlink_metadata(self.copy()).is_ok() {
            fs::rename(self.copy(), going).map_err(failed)?;
        }
        fs::remove_dir_all(&self.folder).map_err(failed)
    }
}

/// Says whether a path is that of the part of an index that others are based on.
fn is_shared_index(place: &MirroredDir, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    path.parent() == Some(&place.live) && name.starts_with(b"sharedindex.")
}

/// Moves away and removes the same in whatever git directory this is: where nothing says where a copy could lie, what counts as
/// new is what was made since that time.
pub fn clear_damaged(places: &Places, since: Moment, quarantine: &mut Quarantine) -> Result<()> {
    match Mirror::of(places) {
        Ok(mirror) => mirror.clear_damaged(since, quarantine),
        Err(_) => {
            let shown = Path::new(".git");
            fresh::clear(&places.common, shown, &New::Since(since), quarantine)
        }
    }
}

/// Does the same in a repository of the agent's own, in which all objects are new.
pub fn clear_damaged_in(root: &Path, quarantine: &mut Quarantine) -> Result<()> {
    let git_dir = root.join(".git");
    match fs::symlink_metadata(&git_dir) {
        Ok(meta) if meta.is_dir() => {
            let shown = Path::new(".git");
            fresh::clear_links(&git_dir, shown, &New::All, quarantine)?;
            fresh::clear(&git_dir, shown, &New::All, quarantine)
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Makes a folder for a copy and what is noted of it. What stands in its place and is no folder is removed, and so is one in which
/// something is neither a folder nor a file of one name: by way of a link, what lies elsewhere would be written over.
fn make_copy_folder(folder: &Path) -> IoResult<()> {
    if !is_copy_folder(folder) {
        files::remove_all(folder)?;
    }
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

fn is_copy_folder(folder: &Path) -> bool {
    let is_folder = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    let is_own = |entry: fs::DirEntry| {
        let is_note = NOTES.iter().any(|name| entry.file_name() == *name);
        entry.metadata().is_ok_and(|meta| match meta.is_dir() {
            true => !is_note,
            false => meta.is_file() && meta.nlink() == 1,
        })
    };
    let are_own = |mut all: fs::ReadDir| all.all(|entry| entry.is_ok_and(is_own));
    is_folder(folder) && fs::read_dir(folder).is_ok_and(are_own)
}

/// Says whether the copy in a folder is that of this git directory.
fn is_of(folder: &Path, common: &Path) -> bool {
    let noted = files::read_text(&folder.join("of"), NOTE_LIMIT).ok();
    is_copy_folder(folder) && noted.filter(|noted| !noted.is_empty()) == identity(common)
}

/// Says which git directory this is: a new one in the same place is another.
fn identity(common: &Path) -> Option<String> {
    let meta = fs::metadata(common).ok()?;
    let born = meta
        .created()
        .ok()
        .and_then(|born| born.duration_since(UNIX_EPOCH).ok());
    Some(format!("{} {} {born:?}", meta.dev(), meta.ino()))
}

#[cfg(test)]
mod tests;
