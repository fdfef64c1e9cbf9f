//! Plugins of pytest: it loads those of each distribution whose metadata lies where Python looks for modules, with no word of it
//! in its settings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::effects::files;

/// Where a distribution says what it has for others.
const FILE: &str = "entry_points.txt";
/// What it says there, or in its project's settings, if it has something for pytest.
const SECTION: &str = "pytest11";
/// Where a project says what its distribution is to have.
const PROJECTS: &[&str] = &["pyproject.toml", "setup.cfg", "setup.py"];
/// The most bytes of such a file that are looked at; a longer one may say anything.
const LIMIT: u64 = 1 << 20;

/// Returns the files in these folders below `root` by which distributions declare plugins of pytest, with their texts.
pub fn declared(folders: &BTreeSet<String>, root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for folder in folders {
        for below in files::folders_in(root, folder) {
            let path = format!("{below}/{FILE}");
            let text = says_so(&root.join(&path));
            found.extend(
                text.filter(|_| is_metadata(&below))
                    .map(|text| (path, text)),
            );
        }
    }
    found
}

/// Returns those of these folders whose project says that it has plugins of pytest: in its settings there, or in the folder above.
pub fn meant(folders: &BTreeSet<String>, root: &Path) -> BTreeSet<String> {
    let is_meant = |folder: &&String| {
        let around = Path::new(folder.as_str()).ancestors().take(2);
        let mut settings = around.flat_map(|at| PROJECTS.iter().map(move |name| at.join(name)));
        settings.any(|path| says_so(&root.join(path)).is_some())
    };
    folders.iter().filter(is_meant).cloned().collect()
}

/// Returns the folder in which the metadata lies that a file is part of.
pub fn folder_of(file: &str) -> &str {
    file.rsplitn(3, '/').nth(2).unwrap_or_default()
}

/// Says whether a folder is a distribution's metadata, by its name.
fn is_metadata(folder: &str) -> bool {
    let name = folder.to_lowercase();
    name.ends_with(".dist-info") || name.ends_with(".egg-info")
}

/// Returns the text of a file that may speak of pytest's plugins.
fn says_so(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let text = files::read_text(path, LIMIT).unwrap_or_else(|_| SECTION.to_owned());
    text.contains(SECTION).then_some(text)
}
