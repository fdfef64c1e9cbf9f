//! How much of what slots are lent is gone from the user's checkout: an install command that runs in a slot may first empty what a
//! link leads to. Told by the names at the top of each folder, as what is lent can be as large as it likes.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::model::emptied::lost;

/// The folders that are lent and what they had at their top, by their paths.
#[derive(Clone, Debug, Default)]
pub struct Tops(BTreeMap<String, BTreeSet<OsString>>);

impl Tops {
    /// Looks at what a checkout has of these paths.
    pub fn of(root: &Path, links: &[String]) -> Tops {
        let folder = |path: &String| Some((path.clone(), names(&root.join(path))?));
        Tops(links.iter().filter_map(folder).collect())
    }

    /// Looks again; names what is gone since, or has lost most of what was at its top.
    pub fn look_again(&mut self, root: &Path) -> Vec<String> {
        let mut all = Vec::new();
        for (path, before) in std::mem::take(&mut self.0) {
            let place = root.join(&path);
            match names(&place) {
                Some(now) => {
                    let gone = before.difference(&now).count();
                    all.extend(lost(&path, true, (gone, before.len())));
                    self.0.insert(path, now);
                }
                None if place.exists() => {}
                None => all.extend(lost(&path, false, (before.len(), before.len()))),
            }
        }
        all
    }
}

/// Returns the names in a folder; none if it cannot be read.
fn names(folder: &Path) -> Option<BTreeSet<OsString>> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    Some(entries.map(|entry| entry.file_name()).collect())
}
