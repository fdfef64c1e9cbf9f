//! Links in a slot to what the user's checkout lends. Whoever was at work in the slot may have put a link of their own where a
//! folder of such a path was: nothing is removed or made behind one.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Slot, remove_all};
use crate::effects::files::{self, is_beneath, is_within};
use crate::effects::led;
use crate::effects::repo::Repo;
use crate::error::{Error, Result};
use crate::model::lent::Led;
use crate::model::slot::lendable;

/// The most bytes of the list of what was lent.
const LIST_LIMIT: u64 = 1 << 20;

impl Slot {
    /// Links to what the user's checkout lends, and removes the links to what it lends no more. What is not there is not lent,
    /// and what the slot's commit holds itself is not replaced.
    pub(super) fn lend(&self, user: &Repo, repo: &Repo) -> Result<()> {
        self.take_back(user)?;
        let links = self.provisions.link.iter();
        let mut missing = links.filter(|path| !self.is_lent(user, path));
        missing.try_for_each(|path| self.lend_one(user, repo, path).map(drop))
    }

    /// Links to one of them; says whether nothing that the slot's commit holds has its place.
    pub fn lend_one(&self, user: &Repo, repo: &Repo, path: &str) -> Result<bool> {
        if self.clear(repo, path)? == Way::Held {
            tracing::warn!("{path} is not lent to the copy: git tracks it there");
            return Ok(false);
        }
        let (from, to) = (user.root.join(path), self.root.join(path));
        if fs::symlink_metadata(&from).is_err() {
            return Ok(true);
        }
        let folder = to.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(|cause| Error::io("create", folder, cause))?;
        symlink(&from, &to).map_err(|cause| Error::io("link", &to, cause))?;
        Ok(true)
    }

    /// Removes the links to what is lent no more, and notes what is lent from now on.
    fn take_back(&self, user: &Repo) -> Result<()> {
        let noted = files::read_text(&self.lent(), LIST_LIMIT)?;
        let lent = self.provisions.link.join("\n");
        if noted == lent {
            return Ok(());
        }
        for path in noted.lines().filter_map(|line| lendable(line).ok()) {
            if !self.provisions.link.contains(&path) && self.is_lent(user, &path) {
                remove_all(&self.root.join(&path))?;
            }
        }
        files::replace(&self.lent(), lent.as_bytes())
    }

    /// Says whether a path is one that is lent here, or below one.
    pub fn is_lent_below(&self, user: &Repo, path: &[u8]) -> bool {
        let mut links = self.provisions.link.iter();
        links.any(|link| is_within(path, link.as_bytes()) && self.is_lent(user, link))
    }

    /// Finds what of all that is lent here leads back into the checkout, or into another copy.
    pub(super) fn led(&self, user: &Repo) -> Option<Led> {
        let links = self.provisions.link.iter().map(String::as_str);
        let links: Vec<&str> = links.filter(|link| self.is_lent(user, link)).collect();
        led::find(&user.root, &links, Some(&self.root))
    }

    /// Says whether the slot has the link to what is lent.
    pub fn is_lent(&self, user: &Repo, path: &str) -> bool {
        is_beneath(&self.root, path.as_bytes())
            && fs::read_link(self.root.join(path)).is_ok_and(|to| to == user.root.join(path))
    }

    /// Removes what stands in the way of a link: whatever has its name, and what stands where one of its folders has to be.
    fn clear(&self, repo: &Repo, path: &str) -> Result<Way> {
        let ends = path.match_indices('/').map(|(index, _)| index);
        for end in ends.chain([path.len()]) {
            let part = &path[..end];
            let place = self.root.join(part);
            let is_folder = match fs::symlink_metadata(&place) {
                Ok(meta) => meta.is_dir(),
                Err(_) => return Ok(Way::Free),
            };
            if is_folder && end < path.len() {
                continue;
            }
            if is_tracked(repo, part)? {
                return Ok(Way::Held);
            }
            return remove_all(&place).map(|()| Way::Free);
        }
        Ok(Way::Free)
    }
}

/// Whether a link can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Nothing is in its way.
    Free,
    /// The slot's commit has something there.
    Held,
}

/// Says whether the slot's commit has something of this name, or below it.
pub fn is_tracked(repo: &Repo, path: &str) -> Result<bool> {
    // Pathspecs are literal in all that is asked of git, and relative to the root.
    let listed = repo.git.run(&["ls-files", "-z", "--", path])?;
    Ok(!listed.is_empty())
}
