//! The repositories of submodules: which of them `evolve` may go into.
//!
//! This is the rule that keeps a git of `evolve`'s from executing or believing what an agent planted in a repository inside
//! the working tree: **git never goes from one repository into another by itself, and `evolve` sends it only into those that
//! were there before the first agent of the session and that are what they were**: a plain folder, the same `.git`, the same git
//! directory, the same settings. So each call that would look into submodules says on its command line that it does not
//! (`--ignore-submodules=dirty`: what stands in `.gitmodules` or a setting could say otherwise), and sees of them no more
//! than which commit HEAD is; `git add` is never given the path of one, `git update-index` is, which looks at HEAD, too;
//! `submodule.recurse` is off. What is uncommitted inside is asked in the submodule itself, if it may be gone into, and so is
//! what only a repository's own git can do: put changes on its stash, check out the start's commit.
//!
//! A repository that an agent made or changed is named in the private directory, so that later sessions, too, stay out of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use super::settings::{self, Setting};
use super::{Bytes, strangers};
use crate::effects::files;
use crate::effects::files::is_beneath;
use crate::effects::git::Git;
use crate::effects::quarantine::Quarantine;
use crate::error::{Error, Result};
use crate::model::{digest, exact, text};

/// The mode of a submodule in the index.
const SUBMODULE: &[u8] = b"160000 ";
/// The most bytes of a file that stands for a git directory.
const LIMIT: u64 = 1 << 20;

/// A submodule's repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// What `.git` is: a file with a digest, a link, or something else, a folder that is.
    dot_git: Setting,
    /// The git directory; text stands for its bytes exactly.
    git_dir: String,
    /// The settings there.
    settings: BTreeMap<String, Setting>,
}

/// Submodules by their paths below the root of the working tree; text stands for a path's bytes exactly.
pub type Known = BTreeMap<String, Module>;

/// What is known of the submodules of a working tree.
#[derive(Debug, Default)]
pub struct Modules(Mutex<Option<State>>);

#[derive(Debug, Default)]
struct State {
    known: Known,
    strangers: BTreeSet<String>,
    /// The strangers were judged since the start of the program.
    is_judged: bool,
}

/// Where submodules are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The root of the working tree.
    pub root: &'a Path,
    /// `evolve`'s private directory; none in a slot, of which nothing is remembered.
    pub private: Option<&'a Path>,
    /// Git, at work in the tree.
    pub git: &'a Git,
}

impl Modules {
    /// Knows of none, so that none is gone into: where only an agent can have made any.
    pub fn none() -> Modules {
        Modules(Mutex::new(Some(State::default())))
    }

    fn state(&self) -> MutexGuard<'_, Option<State>> {
        self.0.lock().expect("BUG: a holder of the lock panicked")
    }

    /// Says whether they were looked for.
    pub fn is_found(&self) -> bool {
        self.state().is_some()
    }

    /// Finds those that are there before any agent, the first time this is called; `listed` are the index's.
    pub fn find(&self, ground: Ground<'_>, listed: Vec<Vec<u8>>) {
        let mut state = self.state();
        if state.is_some() {
            return;
        }
        let mut found = State {
            strangers: ground.strangers(),
            ..State::default()
        };
        let is_known = |path: &str| !found.strangers.contains(path);
        found.known = walk(ground, listed, is_known)
            .into_iter()
            .filter(|(path, _)| is_known(path))
            .collect();
        *state = Some(found);
    }

    /// Returns those that are known.
    pub fn known(&self) -> Known {
        let state = self.state();
        state
            .as_ref()
            .map_or_else(Known::new, |state| state.known.clone())
    }

    /// Knows these from now on: those that a dead session knew before its agent.
    pub fn know(&self, ground: Ground<'_>, known: &Known) {
        *self.state() = Some(State {
            known: known.clone(),
            strangers: ground.strangers(),
            is_judged: false,
        });
    }

    /// Judges, once, the strangers among these submodules of the index: one that is as git itself makes it is none any more, but
    /// for those within it that are not. Refuses the others (exit 3): what the user has there could not be protected.
    pub fn judge_strangers(&self, ground: Ground<'_>, listed: Vec<Vec<u8>>) -> Result<()> {
        let mut state = self.state();
        let Some(state) = state.as_mut().filter(|state| !state.is_judged) else {
            return Ok(());
        };
        let is_stranger = |path: &Vec<u8>| state.strangers.contains(&exact::decode(path));
        let mut doubtful: Vec<_> = listed.into_iter().filter(is_stranger).collect();
        while let Some(path) = doubtful.pop() {
            let Some(module) = Module::at(ground.root, &path) else {
                continue;
            };
            let name = exact::decode(&path);
            if let Some(what) = module.oddity(ground, &path) {
                return Err(refused(&name, &module, &what));
            }
            doubtful.extend(within(ground, &path));
            state.strangers.remove(&name);
            state.known.insert(name, module);
        }
        state.is_judged = true;
        ground.remember(&state.strangers)
    }

    /// Takes their settings for the user's again, right before an agent.
    pub fn renew(&self, root: &Path) {
        if let Some(state) = &mut *self.state() {
            for (path, module) in &mut state.known {
                if let Some(now) = Module::at(root, &exact::encode(path))
                    && now.is_in_place_of(module)
                {
                    *module = now;
                }
            }
        }
    }

    /// Says whether git may be run in the submodule at this path: it is known and is what it was.
    pub fn is_open(&self, root: &Path, path: &[u8]) -> bool {
        let before = self.known().remove(&exact::decode(path));
        before.is_some_and(|before| Module::at(root, path).as_ref() == Some(&before))
    }

    /// Says whether git may check out files of the submodule at this path, whose `.git` may be gone.
    pub fn may_be_checked_out(&self, root: &Path, path: &[u8]) -> bool {
        let Some(before) = self.known().remove(&exact::decode(path)) else {
            return false;
        };
        let dot_git = [path, b"/.git"].concat();
        let is_gone = std::fs::symlink_metadata(root.join(OsStr::from_bytes(&dot_git))).is_err();
        match is_gone {
            true => before.has_settings(),
            false => Module::at(root, path).as_ref() == Some(&before),
        }
    }

    /// Notes which repositories of submodules are not to be gone into, now that an agent was at work; says which. `listed`
    /// are the index's.
    pub fn note_strangers(&self, ground: Ground<'_>, listed: Vec<Vec<u8>>) -> Result<Vec<String>> {
        let is_open = |path: &str| self.is_open(ground.root, &exact::encode(path));
        let there = walk(ground, listed, is_open);
        let new: Vec<_> = there.into_keys().filter(|path| !is_open(path)).collect();
        if let Some(state) = &mut *self.state() {
            let is_there = |path: &String| {
                let dot_git = ground.root.join(path_of(path)).join(".git");
                std::fs::symlink_metadata(dot_git).is_ok()
            };
            state.strangers.extend(new.iter().cloned());
            state.strangers.retain(is_there);
            ground.remember(&state.strangers)?;
        }
        Ok(new)
    }

    /// Makes the file again that leads to a submodule's git directory, in a folder that has none any more. Says whether that could
    /// be done.
    pub fn make_dot_git(&self, ground: Ground<'_>, path: &[u8]) -> Result<bool> {
        let Some((before, text)) = self.lead_of(ground, path) else {
            return Ok(false);
        };
        let folder = ground.root.join(OsStr::from_bytes(path));
        if dot_git_in(&folder)?.is_some() || !before.has_settings() {
            return Ok(false);
        }
        files::replace(&folder.join(".git"), &text)?;
        Ok(true)
    }

    /// Returns a known submodule with the bytes of the file that led to its git directory; none if that was no file.
    fn lead_of(&self, ground: Ground<'_>, path: &[u8]) -> Option<(Module, Vec<u8>)> {
        let place = [path, b"/.git"].concat();
        let before = self.known().remove(&exact::decode(path))?;
        let text = before.lead_from(ground.root, path)?;
        is_beneath(ground.root, &place).then_some((before, text))
    }

    /// Puts back the file that leads to a submodule's git directory, where something else stands in its place; that goes to the
    /// quarantine. Says whether that was so.
    pub fn put_back_dot_git(
        &self,
        ground: Ground<'_>,
        path: &[u8],
        quarantine: &mut Quarantine,
    ) -> Result<bool> {
        let name = exact::decode(path);
        let place = [path, b"/.git"].concat();
        let Some((before, text)) = self.lead_of(ground, path) else {
            return Ok(false);
        };
        let folder = ground.root.join(OsStr::from_bytes(path));
        let now = dot_git_in(&folder)?;
        if now.is_none() || now.as_ref() == Some(&before.dot_git) {
            return Ok(false);
        }
        quarantine.take(ground.root, &place)?;
        files::replace(&folder.join(".git"), &text)?;
        if let Some(state) = &mut *self.state() {
            state.strangers.remove(&name);
            ground.remember(&state.strangers)?;
        }
        Ok(true)
    }
}

impl Ground<'_> {
    /// Says whether there are repositories that an agent of an earlier session made or changed.
    pub fn has_strangers(self) -> bool {
        !self.strangers().is_empty()
    }

    fn strangers(self) -> BTreeSet<String> {
        self.private.map_or_else(BTreeSet::new, strangers::read)
    }

    /// Says whether a git directory is where git has that of the submodule in a folder: below the one around it, or in that folder.
    fn is_home_of(self, folder: &Path, git_dir: &Path) -> bool {
        let around = self.private.and_then(Path::parent);
        let modules = around.and_then(|around| around.join("modules").canonicalize().ok());
        let own = folder.canonicalize().map(|folder| folder.join(".git"));
        modules.is_some_and(|modules| git_dir.starts_with(modules))
            || own.is_ok_and(|own| git_dir == own)
    }

    fn remember(self, strangers: &BTreeSet<String>) -> Result<()> {
        self.private
            .map_or(Ok(()), |private| strangers::write(private, strangers))
    }
}

fn refused(name: &str, module: &Module, what: &str) -> Error {
    let (name, git_dir) = (text::clean_line(&exact::shown(name)), module.git_dir());
    Error::unsafe_repo(format!(
        "the submodule {name} has a repository that an agent made or changed, with {what}: evolve does not send git there, and could not protect what you have in it"
    ))
    .hint(format!(
        "look into {}, and remove what is not yours; or let the agent work apart, with --isolate; if all of it is yours: rm .git/evolve/{}",
        git_dir.display(),
        strangers::FILE
    ))
}

/// Finds the repositories that are there of these submodules, and of those within; git goes only into those that are `open`.
fn walk(ground: Ground<'_>, mut listed: Vec<Vec<u8>>, is_open: impl Fn(&str) -> bool) -> Known {
    let mut found = Known::new();
    while let Some(path) = listed.pop() {
        let name = exact::decode(&path);
        let Some(module) = Module::at(ground.root, &path) else {
            continue;
        };
        if is_open(&name) && !found.contains_key(&name) {
            listed.extend(within(ground, &path));
        }
        found.insert(name, module);
    }
    found
}

/// Returns the paths of the submodules within one, which git goes into.
fn within(ground: Ground<'_>, path: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let inside = ground
        .git
        .elsewhere(&ground.root.join(OsStr::from_bytes(path)));
    let listed = inside.run(&["ls-files", "--stage", "-z"]);
    let below = submodules(&listed.unwrap_or_default()).into_iter();
    below.map(move |below| [path, b"/", &below].concat())
}

/// Returns the paths of the submodules that `git ls-files --stage -z` lists.
pub fn submodules(listed: &[u8]) -> Vec<Vec<u8>> {
    let lines = listed.split(|byte| *byte == 0);
    let path = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        line.starts_with(SUBMODULE)
            .then(|| line[tab + 1..].to_vec())
    };
    lines.filter_map(path).collect()
}

/// Says whether a submodule is checked out at this path, and not just its `.git`.
pub fn is_checked_out(root: &Path, path: &[u8]) -> bool {
    let folder = root.join(OsStr::from_bytes(path));
    std::fs::symlink_metadata(folder.join(".git")).is_ok()
        && std::fs::read_dir(&folder).is_ok_and(|entries| entries.count() > 1)
}

/// Returns the git directory of the repository at this path, which may be anybody's; none if there is none in a plain folder.
pub fn git_dir_at(root: &Path, path: &[u8]) -> Option<PathBuf> {
    Module::at(root, path).map(|module| module.git_dir())
}

impl Module {
    /// Looks at the repository of the submodule at this path; none if there is none in a plain folder.
    fn at(root: &Path, path: &[u8]) -> Option<Module> {
        let folder = root.join(OsStr::from_bytes(path));
        if !is_beneath(root, &[path, b"/.git"].concat()) {
            return None;
        }
        let dot_git = dot_git_in(&folder).ok().flatten()?;
        let place = folder.join(".git");
        let git_dir = match &dot_git {
            Setting::File(..) => {
                let text = files::read_bounded(&place, LIMIT).ok().flatten()?;
                let to = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
                folder.join(OsStr::from_bytes(to))
            }
            Setting::Link(_) | Setting::Other => place,
        };
        let git_dir = git_dir.canonicalize().ok().filter(|path| path.is_dir())?;
        let git_dir = exact::decode(git_dir.as_os_str().as_bytes());
        let settings = settings_of(&git_dir)?;
        Some(Module {
            dot_git,
            git_dir,
            settings,
        })
    }

    /// Says what of it is not as git itself makes the repository of a submodule; nothing if all is.
    fn oddity(&self, ground: Ground<'_>, path: &[u8]) -> Option<String> {
        let folder = ground.root.join(OsStr::from_bytes(path));
        let git_dir = self.git_dir();
        if matches!(self.dot_git, Setting::Link(_)) || !ground.is_home_of(&folder, &git_dir) {
            return Some("a git directory elsewhere".to_owned());
        }
        strangers::oddity(&git_dir, &folder, &self.settings).or_else(|| {
            let listed = ground.git.elsewhere(&folder).run(&["ls-files", "-v", "-z"]);
            let listed = listed.unwrap_or_else(|_| b"?".to_vec());
            // Files that git was told not to look at.
            let mut lines = listed
                .split(|byte| *byte == 0)
                .filter(|line| !line.is_empty());
            let is_odd = lines.any(|line| !line.starts_with(b"H "));
            is_odd.then(|| "an index that hides changes".to_owned())
        })
    }

    /// Says whether the settings are what they were.
    fn has_settings(&self) -> bool {
        let now = path_of(&self.git_dir).canonicalize();
        now.is_ok_and(|now| now == path_of(&self.git_dir))
            && settings_of(&self.git_dir).as_ref() == Some(&self.settings)
    }

    /// Says whether this is the repository that `before` was, whatever its settings are.
    fn is_in_place_of(&self, before: &Module) -> bool {
        self.dot_git == before.dot_git && self.git_dir == before.git_dir
    }

    /// Returns the bytes of the file that led from the submodule at `path` to its git directory; none if that was no file, or
    /// one that git does not write.
    fn lead_from(&self, root: &Path, path: &[u8]) -> Option<Vec<u8>> {
        let Setting::File(digest, _) = &self.dot_git else {
            return None;
        };
        let git_dir = self.git_dir();
        let up = "../".repeat(path.split(|byte| *byte == b'/').count());
        let below = git_dir.strip_prefix(root).ok();
        let ways = [
            below.map(|below| Path::new(&up).join(below)),
            Some(git_dir.clone()),
        ];
        let mut texts = ways
            .into_iter()
            .flatten()
            .map(|way| [b"gitdir: ", way.as_os_str().as_bytes(), b"\n"].concat());
        texts.find(|text| digest::full(text) == *digest)
    }

    /// Returns the git directory.
    pub fn git_dir(&self) -> PathBuf {
        path_of(&self.git_dir)
    }
}

/// Looks at what is called `.git` in a folder. Nobody runs it, so that its mode says nothing.
fn dot_git_in(folder: &Path) -> Result<Option<Setting>> {
    let without_mode = |setting| match setting {
        Setting::File(digest, _) => Setting::File(digest, 0),
        Setting::Link(_) | Setting::Other => setting,
    };
    Ok(settings::at(folder, Path::new(".git"))?.map(without_mode))
}

/// Reads the settings of a git directory; none if there are too many, or one cannot be read.
fn settings_of(git_dir: &str) -> Option<BTreeMap<String, Setting>> {
    let (git_dir, whole) = (path_of(git_dir), [String::new()]);
    let included = settings::included(&git_dir, &whole);
    settings::list(&git_dir, &whole, &included, &mut Bytes::new()).ok()
}

fn path_of(name: &str) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&exact::encode(name)))
}
