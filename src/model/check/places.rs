//! Folders of the repository in which programs and modules are looked for because code says so: `PATH=tools:$PATH`. Pure.

use super::path::{ROOT, join};
use super::root::Root;
use super::shell::{UNKNOWN, is_assignment};

/// How many folders of a kind are followed.
const MOST: usize = 16;

/// The folders that code added to those in which something is looked for, below the root; empty stands for the root. Beside them
/// where that root is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// By PATH.
    pub programs: Vec<String>,
    /// By PYTHONPATH and its like.
    pub modules: Vec<String>,
    /// Folders whose node_modules/.bin, and those of all folders above, come before PATH, the first one first: a package manager of
    /// Node's runs the code.
    pub packages: Vec<String>,
    /// Where the repository lies.
    pub root: Root,
}

impl Places {
    /// Says whether a word may set one of these variables.
    pub fn concern(word: &str) -> bool {
        let name = word.split('=').next().unwrap_or_default();
        name.ends_with("PATH") || name.ends_with("LIB")
    }

    /// Returns the places of what a package manager of Node's runs in a folder.
    pub fn behind_packages(&self, dir: Option<&str>) -> Places {
        let mut places = self.clone();
        if let Some(dir) = dir.filter(|dir| !dir.starts_with('/')) {
            places.packages.retain(|known| known != dir);
            places.packages.insert(0, dir.to_owned());
            places.packages.truncate(MOST);
        }
        places
    }

    /// Learns from `NAME=VALUE`, seen from a folder; what stood in such a variable before stays in it.
    pub fn learn(&mut self, word: &str, dir: Option<&str>) {
        let Some((name, value)) = word.split_once('=').filter(|_| is_assignment(word)) else {
            return;
        };
        let folders = match name.trim_end_matches('+') {
            "PATH" => &mut self.programs,
            "PYTHONPATH" | "PERL5LIB" | "RUBYLIB" | "NODE_PATH" => &mut self.modules,
            _ => return,
        };
        for part in value.split(':').filter(|part| !part.is_empty()) {
            let dir = dir.or(part.starts_with(ROOT).then_some(""));
            let is_known = !part.contains([UNKNOWN, '`', '~']);
            let folder = dir.filter(|_| is_known).and_then(|dir| join(dir, part));
            if let Some(folder) = folder
                && folders.len() < MOST
                && !folders.contains(&folder)
            {
                folders.push(folder);
            }
        }
    }
}
