//! The way for a ref that is written: what leaves it no place goes elsewhere, a ref whose name is above or below its own, or what
//! is no ref at all.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Repo, SYMBOLIC};
use crate::error::Result;
use crate::model::exact;
use crate::model::git::compared::Refs;
use crate::model::git::whose::{OWN, Whose};

/// Where refs are written, and where what is in their way goes.
pub struct Way<'a> {
    /// The repository.
    pub repo: &'a Repo,
    /// Whose the refs are.
    pub whose: &'a Whose,
    /// Where files go.
    pub quarantine: &'a mut Quarantine,
    /// What was in the way, in words.
    pub notes: Vec<String>,
}

impl<'a> Way<'a> {
    /// Nothing was in the way yet.
    pub fn new(repo: &'a Repo, whose: &'a Whose, quarantine: &'a mut Quarantine) -> Way<'a> {
        Way {
            repo,
            whose,
            quarantine,
            notes: Vec::new(),
        }
    }

    /// Writes a ref; if that fails, once more when nothing is in its way.
    pub fn through<T>(&mut self, name: &str, write: impl Fn(&Repo) -> Result<T>) -> Result<T> {
        match write(self.repo) {
            Err(cause) => match self.clear(name)? {
                true => write(self.repo),
                false => Err(cause),
            },
            written => written,
        }
    }

    /// Moves away what leaves a ref no place, unless that is the branch that is checked out; says whether there was anything.
    fn clear(&mut self, name: &str) -> Result<bool> {
        let before = (self.notes.len(), self.quarantine.moved.len());
        let head = self.repo.head().ok().and_then(|head| head.branch);
        if head.is_some_and(|head| excludes(name, &head)) {
            return Ok(false);
        }
        let mut taken = self.repo.all_refs()?;
        taken.retain(|other, _| excludes(name, other));
        let names = [name.to_owned()];
        let notes = displace(self.repo, self.whose, &names, &taken, self.quarantine)?;
        self.notes.extend(notes);
        Ok((self.notes.len(), self.quarantine.moved.len()) != before)
    }
}

/// Moves these refs away, and what is in the places of these names without being a ref. The refs are kept under the names of others;
/// says which.
pub fn displace(
    repo: &Repo,
    whose: &Whose,
    names: &[String],
    taken: &Refs,
    quarantine: &mut Quarantine,
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for name in taken.keys() {
        repo.remove_ref(name)?;
    }
    for name in names {
        clear_place(repo, name, quarantine)?;
    }
    for (name, target) in taken {
        let shown = exact::shown(name);
        let is_kept = !target.starts_with(SYMBOLIC) && !name.starts_with(OWN);
        if !is_kept || !repo.find_object(target)? {
            notes.push(format!(
                "{shown} was in the way of other refs and is removed: it was {target}"
            ));
            continue;
        }
        let kept = whose.kept_as(name);
        repo.set_ref(&kept, target, "evolve: it was in the way")?;
        notes.push(format!(
            "{shown} was in the way of other refs; what it was is {}",
            exact::shown(&kept)
        ));
    }
    Ok(notes)
}

/// Moves away what no ref is and leaves a ref or its reflog no place: a folder with files in it, or a file above.
fn clear_place(repo: &Repo, name: &str, quarantine: &mut Quarantine) -> Result<()> {
    let common = repo.common_path("");
    let below = PathBuf::from(OsString::from_vec(exact::encode(name)));
    for path in [below.clone(), Path::new("logs").join(&below)] {
        let stands = |path: &Path| fs::symlink_metadata(common.join(path)).ok();
        let mut in_the_way = Vec::new();
        if stands(&path).is_some_and(|meta| meta.is_dir()) && has_files(&common.join(&path)) {
            in_the_way.push(path.as_path());
        }
        // A link to a folder is one, as of working trees that share a repository so.
        let is_in_the_way = |path: &&Path| stands(path).is_some() && !common.join(path).is_dir();
        in_the_way.extend(path.ancestors().skip(1).filter(is_in_the_way));
        for path in in_the_way {
            quarantine.take_from(&common, path, &Path::new(".git").join(path))?;
        }
    }
    Ok(())
}

/// Says whether two refs cannot both be there: the name of one is a folder for the other.
pub fn excludes(name: &str, other: &str) -> bool {
    let is_below = |one: &str, above: &str| {
        let rest = one.strip_prefix(above);
        rest.is_some_and(|rest| rest.starts_with('/'))
    };
    is_below(name, other) || is_below(other, name)
}

/// Says whether anything but folders is in a folder.
fn has_files(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| {
        let kind = entry.file_type();
        !kind.is_ok_and(|kind| kind.is_dir()) || has_files(&entry.path())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_excludes_those_below_and_above_its_name() {
        for (other, is_excluded) in [
            ("refs/heads/main", false),
            ("refs/heads/main/x", true),
            ("refs/heads/main/x/y", true),
            ("refs/heads", true),
            ("refs/heads/mainly", false),
            ("refs/heads/other", false),
        ] {
            assert_eq!(excludes("refs/heads/main", other), is_excluded, "{other}");
        }
    }
}
