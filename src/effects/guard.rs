//! What git keeps for the user beside the branch and its files: settings, hooks, refs, the stash. Remembered before an
//! agent works in the user's own repository, and put back afterwards: the settings before the first call of git that could
//! believe or execute them.
//!
//! A setting that changed while the agent ran counts as the agent's; what it had become goes to the quarantine. A ref that
//! is gone is put back; one that only says what a remote had stays gone, and its commits are kept. A branch that went on to a newer commit stays there. One that was moved otherwise is put back where its
//! reflog says that the agent moved it, or says nothing, and stays where somebody else moved it; its other value is kept
//! under `refs/evolve/`. Of the stash every entry is there again, and those that came anew stay on top. New branches and
//! tags stay, new replacements of objects do not. What checks compare with is put back in any case.

pub mod held;
pub mod modules;
mod operations;
pub mod programs;
pub mod refs;
mod settings;
mod stash;
mod strangers;
pub mod submodules;
mod trees;
pub mod users;
pub mod way;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::effects::files;
use crate::effects::mirror::Mirror;
use crate::effects::modes::Folders;
use crate::effects::pipes::Stood;
use crate::effects::places::Places;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::git::config;
use crate::model::git::whose::Whose;
use crate::model::{digest, exact};

use modules::Known;
use programs::{Programs, PutBack};
use settings::Setting;
use way::Way;

/// The most bytes of one remembered thing.
const LIMIT: u64 = 16 << 20;
/// The most bytes of a copy of all of them.
const COPY_LIMIT: u64 = 1 << 30;

/// Everything remembered, by its digest; text stands for its bytes exactly.
type Bytes = BTreeMap<String, String>;

/// What was there before an agent. The bytes lie in memory, and for the next start after a crash in the private directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guarded {
    /// Settings by their path below the shared git directory; a path stands for its bytes exactly.
    settings: BTreeMap<String, Setting>,
    /// The git directories whose settings these are, below the shared one: that itself, a linked tree's, submodules'.
    folders: Vec<String>,
    /// The files that these settings include, whether they are there or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    included: Vec<String>,
    /// The programs in the working trees that settings name.
    #[serde(default, skip_serializing_if = "Programs::is_empty")]
    programs: Programs,
    /// The submodules whose repositories are known.
    #[serde(default, skip_serializing_if = "Known::is_empty")]
    modules: Known,
    /// The digest of the modes of the working tree's folders, and of those of the shared git directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    modes: Option<(String, String)>,
    /// Links in the git directories, with where they lead; none where that was not noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    links: Option<BTreeMap<String, String>>,
    /// The digest of all refs, a line each.
    refs: Option<String>,
    /// The digest of the stash's list of entries.
    stash: Option<String>,
    /// The digest of the copy, which is its name, too.
    copy: Option<String>,
    #[serde(skip)]
    bytes: Arc<Bytes>,
}

/// Returns the folder of the remembered bytes below the private directory.
pub fn folder(private: &Path) -> PathBuf {
    private.join("guard")
}

impl Guarded {
    /// Says whether nothing was taken yet.
    pub fn is_empty(&self) -> bool {
        *self == Guarded::default()
    }

    /// Remembers everything; `tree` are the folders of the working tree.
    pub fn take(repo: &Repo, tree: &Folders) -> Result<Guarded> {
        let places = repo.own_places();
        let mut bytes = Bytes::new();
        repo.modules.renew(&repo.root);
        let modules = repo.modules.known();
        let mut folders = settings::folders(&places);
        folders.extend(modules.values().filter_map(|module| {
            settings::folder_around(&places.common, &repo.root, &module.git_dir())
        }));
        let included = settings::included(&places.common, &folders);
        let settings = settings::list(&places.common, &folders, &included, &mut bytes)?;
        let texts = texts_of(repo, &folders)?;
        let within = modules.keys().map(|name| path_in(&repo.root, name));
        let called_from: Vec<_> = [repo.root.clone()].into_iter().chain(within).collect();
        let roots = [repo.root.clone()];
        let programs = Programs::take(&texts, &roots, &called_from, &mut bytes)?;
        let refs = keep(&mut bytes, refs::text(repo)?.as_bytes());
        let (of_git, links) = links_of(&places.common, &settings::around(&places.common, &folders));
        let modes = (
            keep(&mut bytes, &tree.to_bytes()),
            keep(&mut bytes, &of_git.to_bytes()),
        );
        let stash = stash::remember(repo, &places)?;
        let stash = stash.map(|stash| keep(&mut bytes, &stash));
        Ok(Guarded {
            settings,
            folders,
            included,
            programs,
            modules,
            modes: Some(modes),
            links: Some(links),
            refs: Some(refs),
            stash,
            copy: Some(write_copy(&places, &bytes)?),
            bytes: Arc::new(bytes),
        })
    }

    /// Remembers the programs alone that the settings of the user's repository name, for work in the copy at `root`.
    pub fn take_programs(user: &Repo, root: &Path) -> Result<Guarded> {
        let mut bytes = Bytes::new();
        let texts = texts_of(user, &settings::folders(&user.own_places()))?;
        let roots = [root.to_owned(), user.root.clone()];
        let programs = Programs::take(&texts, &roots, &roots, &mut bytes)?;
        if programs.is_empty() {
            return Ok(Guarded::default());
        }
        Ok(Guarded {
            programs,
            copy: Some(write_copy(&user.own_places(), &bytes)?),
            bytes: Arc::new(bytes),
            ..Guarded::default()
        })
    }

    /// Makes the programs in working trees what they were that git runs. Calls no git and opens no repository.
    pub fn put_back_programs(
        &self,
        places: &Places,
        quarantine: &mut Quarantine,
    ) -> Result<PutBack> {
        let wanted = |digest: &str| Ok(of(&*self.remembered(places)?, digest));
        self.programs.put_back(&wanted, quarantine)
    }

    /// Says whether a setting of git names the program at this path.
    pub fn names_program(&self, path: &Path) -> bool {
        self.programs.has(path)
    }

    /// Remembers the settings alone, for a moment in which `evolve`'s own git may run a filter of the user's: that may load what an
    /// agent has written. Nothing where no setting names a program.
    pub fn take_settings(repo: &Repo) -> Result<Guarded> {
        let places = repo.own_places();
        let folders = settings::folders(&places);
        let texts = texts_of(repo, &folders)?;
        if texts.iter().all(|text| config::commands(text).is_empty()) {
            return Ok(Guarded::default());
        }
        let mut bytes = Bytes::new();
        let included = settings::included(&places.common, &folders);
        let settings = settings::list(&places.common, &folders, &included, &mut bytes)?;
        Ok(Guarded {
            settings,
            folders,
            included,
            bytes: Arc::new(bytes),
            ..Guarded::default()
        })
    }

    /// Makes the settings what they were; says what had changed since `when`. Calls no git and opens no repository.
    pub fn put_back_settings(
        &self,
        places: &Places,
        when: &str,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        // Before the first agent nothing is remembered.
        if self.folders.is_empty() {
            return Ok(Vec::new());
        }
        // What stands behind a link is another repository's.
        let folders = settings::still_there(&places.common, &self.folders);
        let before = settings::of_folders(&self.settings, &folders, &self.included);
        let now = settings::list(&places.common, &folders, &self.included, &mut Bytes::new())?;
        if now == before {
            return Ok(Vec::new());
        }
        let all = self.remembered(places)?;
        let wanted = |digest: &str| of(&all, digest);
        let names = settings::put_back(&places.common, &before, &now, wanted, quarantine)?;
        let note = format!(
            "settings of git changed while {when} ran and are as before: {}",
            names.join(", ")
        );
        Ok((!names.is_empty()).then_some(note).into_iter().collect())
    }

    /// Returns the folders of the working tree and of the shared git directory as they were. None are known before the first
    /// agent, nor where what was remembered is lost, which whoever needs more of it finds out.
    pub fn folders(&self, places: &Places) -> (Folders, Folders) {
        let remembered = self.modes.as_ref().zip(self.remembered(places).ok());
        remembered
            .map(|((tree, git), all)| {
                let of = |digest: &String| Folders::from_bytes(&of(&all, digest));
                (of(tree), of(git))
            })
            .unwrap_or_default()
    }

    /// Returns what stood in the git directories, at a time in seconds since 1970.
    pub fn stood(&self, places: &Places, since: i64) -> Stood {
        Stood {
            links: self.links.clone(),
            folders: self.folders(places).1,
            since,
        }
    }

    /// Returns the submodules whose repositories were known.
    pub fn modules(&self) -> &Known {
        &self.modules
    }

    /// Puts back refs and entries of the stash that are gone, and refs that the agent moved away; says which.
    pub fn put_back_refs(
        &self,
        repo: &Repo,
        whose: &Whose,
        quarantine: &mut Quarantine,
    ) -> Result<Vec<String>> {
        let Some(refs) = &self.refs else {
            return Ok(Vec::new());
        };
        let places = repo.own_places();
        let all = self.remembered(&places)?;
        let text = String::from_utf8_lossy(&of(&all, refs)).into_owned();
        let mut way = Way::new(repo, whose, quarantine);
        let mut notes = refs::put_back(&mut way, &text)?;
        if let Some(stash) = &self.stash {
            notes.extend(stash::put_back(&mut way, &places, &of(&all, stash))?);
            notes.append(&mut way.notes);
        }
        if let Ok(mirror) = Mirror::of(&places) {
            notes.extend(trees::keep(&mirror, &mut way)?);
            notes.append(&mut way.notes);
            notes.extend(submodules::put_back(&mirror, whose, way.quarantine)?);
        }
        Ok(notes)
    }

    /// Says which entries of the stash came since.
    pub fn stashed_since(&self, repo: &Repo) -> Result<Option<String>> {
        if self.refs.is_none() {
            return Ok(None);
        }
        let places = repo.own_places();
        let before = match &self.stash {
            Some(stash) => of(&*self.remembered(&places)?, stash),
            None => Vec::new(),
        };
        stash::came(&places, &before)
    }

    /// Returns the refs that were there, with where they led; none where that is not known.
    pub fn refs(&self, repo: &Repo) -> Result<Option<BTreeMap<String, String>>> {
        let Some(refs) = &self.refs else {
            return Ok(None);
        };
        let all = self.remembered(&repo.own_places())?;
        let text = String::from_utf8_lossy(&of(&all, refs)).into_owned();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let pair = |(target, name): (&str, &str)| (name.to_owned(), target.to_owned());
        Ok(Some(lines.map(pair).collect()))
    }

    /// Returns the git directories of submodules that lie in the working tree, as old ones have it.
    pub fn around(&self, places: &Places) -> Vec<PathBuf> {
        settings::around(&places.common, &self.folders)
    }

    fn remembered(&self, places: &Places) -> Result<Arc<Bytes>> {
        if !self.bytes.is_empty() {
            return Ok(self.bytes.clone());
        }
        let name = self.copy.as_deref().unwrap_or_default();
        let copy = folder(&places.private).join(name);
        // The agent can write to the one in the repository.
        let mirrored = Mirror::of(places).ok().and_then(|mirror| mirror.private());
        let mirrored = mirrored.map(|private| folder(&private).join(name));
        let whole = [Some(copy.clone()), mirrored]
            .into_iter()
            .flatten()
            .find_map(|copy| {
                let text = files::read_bounded(&copy, COPY_LIMIT).ok().flatten();
                text.filter(|text| digest::full(text) == name)
            });
        let all = whole.and_then(|text| serde_json::from_slice(&text).ok());
        all.map(Arc::new).ok_or_else(|| {
            Error::unsafe_repo(format!(
                "{} is gone or was changed: what git held before the agent cannot be put back",
                copy.display()
            ))
            .hint("look at `git config --local --list`, .git/hooks, `git branch` and `git stash list`, put them in order, then remove the journal: .git/evolve/journal.json and, below ~/.local/state/evolve, the one that ends in .journal")
        })
    }
}

/// Returns git's configuration as it decides what git runs: the user's own, that of the repository and its submodules, and what
/// these include.
fn texts_of(repo: &Repo, folders: &[String]) -> Result<Vec<String>> {
    let common = repo.own_places().common;
    let configs = folders.iter().flat_map(|folder| {
        let folder = path_in(&common, folder);
        [folder.join("config"), folder.join("config.worktree")]
    });
    let included = settings::included(&common, folders);
    let included = included.iter().map(|file| path_in(&common, file));
    let read = |path: PathBuf| files::read_text(&path, LIMIT).unwrap_or_default();
    let texts = configs.chain(included).map(read);
    Ok(texts
        .chain([repo.read_users()?.config().to_owned()])
        .collect())
}

/// Returns the folders of a git directory, and the links in it and in those that lie around it, with where they lead.
fn links_of(common: &Path, around: &[PathBuf]) -> (Folders, BTreeMap<String, String>) {
    let (folders, mut found) = Folders::of_git_dir(common);
    found.iter_mut().for_each(|link| *link = common.join(&link));
    for git_dir in around {
        let links = Folders::of_git_dir(git_dir).1;
        found.extend(links.into_iter().map(|link| git_dir.join(link)));
    }
    let with_target = |link: PathBuf| {
        let target = std::fs::read_link(&link).ok()?;
        let target = exact::decode(target.as_os_str().as_bytes());
        Some((Stood::name_of(common, &link), target))
    };
    (folders, found.into_iter().filter_map(with_target).collect())
}

fn path_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(OsStr::from_bytes(&exact::encode(name)))
}

/// Writes everything into one file, unless it is there; what earlier agents found is not needed any more.
fn write_copy(places: &Places, bytes: &Bytes) -> Result<String> {
    let text =
        serde_json::to_vec(bytes).map_err(|cause| Error::internal(format!("BUG: {cause}")))?;
    let name = digest::full(&text);
    let folder = folder(&places.private);
    if folder.join(&name).exists() {
        return Ok(name);
    }
    for old in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let old = old.path();
        files::remove_all(&old).map_err(|cause| Error::io("remove", &old, cause))?;
    }
    files::replace(&folder.join(&name), &text)?;
    Ok(name)
}

/// Keeps bytes by their digest.
fn keep(all: &mut Bytes, bytes: &[u8]) -> String {
    let digest = digest::full(bytes);
    all.insert(digest.clone(), exact::decode(bytes));
    digest
}

/// Returns the bytes with a digest.
fn of(all: &Bytes, digest: &str) -> Vec<u8> {
    all.get(digest)
        .map(|text| exact::encode(text))
        .unwrap_or_default()
}
