//! How what runs in a copy is led to the copy's code where it would find the checkout's: by variables that name folders, and by a Python
//! environment that knows where the checkout lies. Pure.

pub mod python;

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::model::lent::VARIABLES;
use crate::model::text;

/// The variable by which Python looks for modules before it does in its environment.
const OF_PYTHON: &str = "PYTHONPATH";

/// A folder in a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// One of the checkout, by its path below the root.
    Within(PathBuf),
    /// Any other, as it is written.
    Elsewhere(PathBuf),
}

/// What code is found by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leads {
    /// Variables, each with its folders.
    variables: Vec<(&'static str, Vec<Place>)>,
    /// Folders of the checkout, below its root, from which an environment of Python takes modules.
    modules: Vec<PathBuf>,
    /// Those of them that PYTHONPATH does not have itself.
    added: Vec<PathBuf>,
    /// The folders of packages because of which it takes them.
    packages: Vec<PathBuf>,
}

impl Leads {
    /// Takes the folders that each of `VARIABLES` has.
    pub fn of(mut set: impl FnMut(&str) -> Vec<Place>) -> Leads {
        let all = VARIABLES.iter().map(|name| (*name, set(name)));
        Leads {
            variables: all.collect(),
            ..Leads::default()
        }
    }

    /// Returns the same with folders of the checkout, below its root, from which an environment of Python takes modules, each because of
    /// what lies in a folder of packages: these come before what PYTHONPATH has.
    #[must_use]
    pub fn with_modules(mut self, taken: Vec<(PathBuf, PathBuf)>) -> Leads {
        let (taken, packages): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
        self.modules = unique(taken);
        self.packages = unique(packages);
        let mut variables = self.variables.iter_mut();
        if let Some((_, places)) = variables.find(|(name, _)| *name == OF_PYTHON) {
            let within: Vec<Place> = self.modules.iter().cloned().map(Place::Within).collect();
            let is_added = |(place, _): &(&Place, _)| !places.contains(place);
            let added = within.iter().zip(&self.modules).filter(is_added);
            self.added = added.map(|(_, folder)| folder.clone()).collect();
            *places = unique(within.into_iter().chain(places.drain(..)).collect());
        }
        self
    }

    /// Returns these folders.
    pub fn modules(&self) -> &[PathBuf] {
        &self.modules
    }

    /// Returns those of them that PYTHONPATH does not have itself.
    pub fn added(&self) -> &[PathBuf] {
        &self.added
    }

    /// Returns the folders of packages because of which modules are taken from the checkout.
    pub fn packages(&self) -> &[PathBuf] {
        &self.packages
    }

    /// Returns those that lead into the checkout.
    fn led(&self) -> impl Iterator<Item = &(&'static str, Vec<Place>)> {
        let is_within = |place: &Place| matches!(place, Place::Within(_));
        self.variables
            .iter()
            .filter(move |(_, places)| places.iter().any(is_within))
    }

    /// Returns what the variables are in a copy at `root`. With an environment, what leads Python is looked for first.
    pub fn at(&self, root: &Path) -> Vec<(OsString, OsString)> {
        let there = |place: &Place| match place {
            Place::Within(path) => within(root, path),
            Place::Elsewhere(path) => path.clone(),
        };
        let set = self.led().filter_map(|(name, places)| {
            let is_led = name == &OF_PYTHON && !self.modules.is_empty();
            let first = is_led.then(|| python::folder_beside(root));
            // A folder with a colon in its name cannot be told.
            let value =
                std::env::join_paths(first.into_iter().chain(places.iter().map(there))).ok()?;
            Some((name.into(), value))
        });
        set.collect()
    }

    /// Returns the folders of the repository from which modules are taken first, below the root; empty stands for the root.
    pub fn folders(&self) -> Vec<String> {
        let places = self.variables.iter().flat_map(|(_, places)| places);
        let below = places.filter_map(|place| {
            let (Place::Within(path) | Place::Elsewhere(path)) = place;
            // Checks run in the root.
            let path = path.strip_prefix(".").unwrap_or(path);
            let mut parts = path.components();
            let is_below = parts.all(|part| matches!(part, Component::Normal(_)));
            path.to_str().filter(|_| is_below).map(str::to_owned)
        });
        unique(below.collect())
    }

    /// Says what the variables are in a copy; none where nothing is led.
    pub fn words(&self) -> Option<String> {
        let shown = |path: &Path| match path.as_os_str().is_empty() {
            true => "its root".to_owned(),
            false => format!("its {}", text::path(path.as_os_str().as_encoded_bytes())),
        };
        let led = self.led().map(|(name, places)| {
            let within = places.iter().filter_map(|place| match place {
                Place::Within(path) => Some(shown(path)),
                Place::Elsewhere(_) => None,
            });
            let within: Vec<String> = within.collect();
            format!("{name} leads to {}", within.join(", "))
        });
        let led: Vec<String> = led.collect();
        (!led.is_empty()).then(|| {
            format!(
                "in a copy, {}, where your environment leads to your checkout",
                led.join(" and ")
            )
        })
    }
}

/// Returns where a path below the checkout's root, which may be empty, is in a copy at `root`.
pub fn within(root: &Path, path: &Path) -> PathBuf {
    match path.as_os_str().is_empty() {
        true => root.to_owned(),
        false => root.join(path),
    }
}

fn unique<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_into_the_checkout_leads_into_the_copy() {
        let set = |name: &str| match name {
            "PYTHONPATH" => vec![
                Place::Elsewhere("/opt/lib".into()),
                Place::Within("lib".into()),
                Place::Within("src".into()),
            ],
            "NODE_PATH" => vec![Place::Elsewhere("/opt/node".into())],
            "PERL5LIB" => vec![Place::Within("".into())],
            _ => Vec::new(),
        };
        let packages = || PathBuf::from("/env/site-packages");
        let taken = ["src", "more", "src"].map(|folder| (folder.into(), packages()));
        let leads = Leads::of(set).with_modules(taken.into());
        assert_eq!(
            leads.at(Path::new("/copy")),
            [
                (
                    "PYTHONPATH".into(),
                    "/copy.leads:/copy/src:/copy/more:/opt/lib:/copy/lib".into()
                ),
                ("PERL5LIB".into(), "/copy".into()),
            ]
        );
        assert_eq!(leads.folders(), ["src", "more", "lib", ""]);
        assert_eq!(
            leads.added(),
            [Path::new("more")],
            "src is told by PYTHONPATH, too"
        );
        assert_eq!(leads.packages(), [packages()]);
        assert_eq!(
            leads.words().unwrap(),
            "in a copy, PYTHONPATH leads to its src, its more, its lib and PERL5LIB leads to its root, where your environment leads to your checkout"
        );
        let none = Leads::of(|_| {
            ["/opt", "./lib", "../x"]
                .map(|it| Place::Elsewhere(it.into()))
                .into()
        });
        assert_eq!((none.at(Path::new("/copy")), none.words()), (vec![], None));
        assert_eq!(none.folders(), ["lib"]);
    }
}
