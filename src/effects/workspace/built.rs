//! What checks build before they run it, and what they run of it: ignored by git, or no text.

use std::fs;

use super::{Start, Workspace};
use crate::effects::files;
use crate::effects::keep;
use crate::effects::quarantine::Quarantine;
use crate::error::Result;

/// The most bytes of a file that are looked at to tell text from what is none.
const TEXT_LIMIT: u64 = 256 << 10;

impl Workspace<'_> {
    /// Says whether a file that a check runs may be what checks build: it is not in `tree`, and ignored by git or no text.
    pub fn may_be_built(&self, tree: &str, file: &str) -> bool {
        let target = match self.target_of(file) {
            None => file.to_owned(),
            Some(Some(target)) => target,
            Some(None) => return false,
        };
        let is_tracked = |file: &str| self.repo.has_file(tree, file);
        let is_text = || {
            let bytes = files::read_bounded(&self.repo.root.join(&target), TEXT_LIMIT);
            let bytes = bytes.ok().flatten();
            bytes.is_some_and(|bytes| !bytes.contains(&0) && std::str::from_utf8(&bytes).is_ok())
        };
        !is_tracked(file) && !is_tracked(&target) && (self.repo.is_ignored(file) || !is_text())
    }

    /// Adds the files that links among those built lead to: `node_modules/.bin/tool` is one.
    pub fn with_targets(&self, mut built: Vec<String>) -> Vec<String> {
        let targets = built.iter().filter_map(|file| self.target_of(file)?);
        let targets: Vec<_> = targets.collect();
        built.extend(targets);
        built.sort();
        built.dedup();
        built
    }

    /// Returns where a link leads: to a file of the repository, or elsewhere. None if it is no link.
    fn target_of(&self, file: &str) -> Option<Option<String>> {
        let root = &self.repo.root;
        let path = root.join(file);
        let meta = fs::symlink_metadata(&path).ok()?;
        let target = || {
            let real = path.canonicalize().ok()?;
            let below = real.strip_prefix(root.canonicalize().ok()?).ok()?;
            Some(below.to_str()?.to_owned())
        };
        meta.is_symlink().then(target)
    }

    /// Puts a built file back as it was before the agent, as far as it has a copy; says whether the way to it leads where it did.
    pub fn put_back_built(
        &self,
        start: &Start,
        file: &str,
        quarantine: &mut Quarantine,
    ) -> Result<bool> {
        let folders = keep::folders(&self.repo.own_places());
        let places = (&folders[..], quarantine);
        let kept = &start.kept;
        kept.put_back_built(&self.repo.root, file.as_bytes(), places)
    }
}
