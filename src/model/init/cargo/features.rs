//! The features of Cargo that a package's documentation and tests are made for, as its manifest says. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::{Look, join};
use crate::model::text;

/// How much is shown of a feature's name.
const SHOWN: usize = 40;

/// What keeps features from being built at once.
static EXCLUSIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"cfg\(\s*all\([^\]]*\bfeature\b[^\]]*\)\s*\)\s*\]\s*(?:\w+::)?compile_error!")
        .expect("BUG: a pattern of ours is no pattern")
});

/// A feature of the compiler's that features of the package turn on, at the root of its sources.
static OF_NIGHTLY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"cfg_attr\((?<when>[^#]*?)\bfeature\(")
        .expect("BUG: a pattern of ours is no pattern")
});

/// The options by which features are chosen, each with a space in front; empty where none has to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Features {
    /// Of `cargo doc`, as docs.rs builds it.
    pub of_docs: String,
    /// Why documentation waits: a feature that docs.rs builds it with needs a nightly compiler.
    pub docs_wait: Option<String>,
    /// Of commands that build tests and examples, so that those are built which need features.
    pub of_tests: String,
    /// The features that this turns on.
    pub tested: Vec<String>,
    /// One of the features needs a nightly compiler.
    pub needs_nightly: bool,
}

impl Features {
    /// Reads what the manifest of the package in a folder says.
    pub(super) fn of(look: &dyn Look, home: &str, manifest: &Value) -> Features {
        let roots = ["src/lib.rs", "src/main.rs"].map(|path| join(home, path));
        let roots = roots.iter().filter_map(|path| look.read(path));
        let package = Package {
            manifest,
            roots: roots.collect::<Vec<_>>().join("\n"),
        };
        let tested = package.tested();
        let all = manifest.get("features").and_then(Value::as_object);
        let mut names = all.into_iter().flatten().map(|(name, _)| name);
        Features {
            of_docs: package.of_docs().unwrap_or_default(),
            docs_wait: package.docs_wait(),
            of_tests: option(&tested),
            tested: tested.into_iter().map(str::to_owned).collect(),
            needs_nightly: names.any(|name| package.is_of_nightly(name)),
        }
    }
}

/// A package.
struct Package<'a> {
    manifest: &'a Value,
    /// The text of the files at the root of its sources.
    roots: String,
}

impl Package<'_> {
    fn of_docs(&self) -> Option<String> {
        let settings = self.manifest.pointer("/package/metadata/docs/rs")?;
        // What is told to the compiler may be what the features need.
        let is_told = |key: &&str| {
            let told = settings.get(*key).and_then(Value::as_array);
            told.is_some_and(|told| !told.is_empty())
        };
        if ["cargo-args", "rustc-args"].iter().any(is_told) {
            return None;
        }
        let says = |key: &str| settings.get(key).and_then(Value::as_bool) == Some(true);
        if says("all-features") {
            let all = self.manifest.get("features").and_then(Value::as_object);
            let mut names = all.into_iter().flatten().map(|(name, _)| name);
            let is_stable = !names.any(|name| self.is_of_nightly(name));
            return is_stable.then(|| " --all-features".to_owned());
        }
        let mut wished = texts(settings.get("features"));
        wished.retain(|name| !self.is_of_nightly(name));
        let none = match says("no-default-features") {
            true => " --no-default-features",
            false => "",
        };
        Some(format!("{none}{}", option(&wished)))
    }

    /// Says why documentation waits that is made for all features, of which one cannot be built here.
    fn docs_wait(&self) -> Option<String> {
        let settings = self.manifest.pointer("/package/metadata/docs/rs")?;
        settings.get("all-features").filter(|it| **it == true)?;
        let all = self.manifest.get("features").and_then(Value::as_object)?;
        let name = all.keys().find(|name| self.is_of_nightly(name))?;
        let name = text::clean_line(&text::cut(name, SHOWN));
        Some(format!(
            "docs.rs builds it with all features, and {name} needs a nightly compiler: name the others behind --features, then take the # away"
        ))
    }

    /// Returns the features without which some tests or examples are not built.
    fn tested(&self) -> Vec<&str> {
        let by_default = by_default(self.manifest);
        let targets = ["test", "example"].iter();
        let targets = targets.filter_map(|kind| self.manifest.get(*kind)?.as_array());
        let needed = targets
            .flatten()
            .map(|target| texts(target.get("required-features")));
        // Those that need a nightly compiler are not built with another one.
        let needed = needed.filter(|all| !all.iter().any(|name| self.is_of_nightly(name)));
        let mut wished: Vec<&str> = Vec::new();
        for name in needed.flatten() {
            if !by_default.contains(&name) && !wished.contains(&name) {
                wished.push(name);
            }
        }
        match EXCLUSIVE.is_match(&self.roots) {
            true => Vec::new(),
            false => wished,
        }
    }

    /// Says whether only a nightly compiler can build what a feature turns on.
    fn is_of_nightly(&self, name: &str) -> bool {
        let quoted = format!("\"{name}\"");
        let mut turned_on = OF_NIGHTLY.captures_iter(&self.roots);
        let mut words = name.split(['-', '_', '/']);
        words.any(|word| matches!(word, "nightly" | "docsrs"))
            || turned_on.any(|it| it["when"].contains(&quoted))
    }
}

/// Returns the features that are on where none is chosen.
fn by_default(manifest: &Value) -> Vec<&str> {
    let brings = |name: &str| texts(manifest.get("features").and_then(|all| all.get(name)));
    let mut all = brings("default");
    let mut at = 0;
    while let Some(name) = all.get(at).copied() {
        at += 1;
        let new: Vec<&str> = brings(name);
        let new = new.into_iter().filter(|name| !all.contains(name));
        all.extend(new.collect::<Vec<_>>());
    }
    all
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    let all = value.and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

/// Returns the option that turns features on; those whose names the shell would read otherwise are none.
fn option(names: &[&str]) -> String {
    let is_name = |name: &&&str| {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_+./".contains(c);
        !name.is_empty() && name.chars().all(is_of_name)
    };
    let plain: Vec<&str> = names.iter().filter(is_name).copied().collect();
    match plain.is_empty() {
        true => String::new(),
        false => format!(" --features {}", plain.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Files;
    use super::super::super::toml_of;
    use super::*;

    fn options(manifest: &str, library: &str) -> (String, String) {
        let files = Files::of(&[("src/lib.rs", library)]);
        let features = Features::of(&files, "", &toml_of(manifest).unwrap());
        (features.of_docs, features.of_tests)
    }

    #[test]
    fn documentation_is_built_with_the_features_that_docs_rs_builds_it_with() {
        for (settings, expected) in [
            (
                "all-features = true\nrustdoc-args = ['--cfg', 'docsrs']",
                " --all-features",
            ),
            ("features = ['a', 'b/c']", " --features a,b/c"),
            (
                "no-default-features = true\nfeatures = ['a', 'nightly']",
                " --no-default-features --features a",
            ),
            ("all-features = true\nrustc-args = ['--cfg', 'x']", ""),
            ("all-features = true\n[features]\nnightly = []", ""),
            ("features = ['a;b', '$(x)']", ""),
            ("targets = []", ""),
            ("features = ['unstable-doc']", " --features unstable-doc"),
            ("features = ['a', 'odd']", " --features a"),
            ("all-features = true\n[features]\nodd = []", ""),
        ] {
            let manifest = format!("[package.metadata.docs.rs]\n{settings}\n");
            let root = "#![cfg_attr(docsrs, feature(doc_cfg))]\n#![cfg_attr(\n    all(feature = \"odd\", x),\n    feature(test)\n)]\n";
            let (of_docs, of_tests) = options(&manifest, root);
            assert_eq!((&*of_docs, &*of_tests), (expected, ""), "{settings}");
        }
    }

    #[test]
    fn documentation_waits_that_is_made_for_what_only_a_nightly_compiler_builds() {
        let why = "docs.rs builds it with all features, and odd needs a nightly compiler: name the others behind --features, then take the # away";
        let root = "#![cfg_attr(feature = \"odd\", feature(test))]\n";
        for (manifest, expected) in [
            (
                "all-features = true\n[features]\na = []\nodd = []",
                Some(why),
            ),
            ("all-features = false\n[features]\nodd = []", None),
            ("features = ['a', 'odd']\n[features]\nodd = []", None),
            ("all-features = true\n[features]\na = []", None),
        ] {
            let files = Files::of(&[("src/lib.rs", root)]);
            let manifest = format!("[package.metadata.docs.rs]\n{manifest}\n");
            let features = Features::of(&files, "", &toml_of(&manifest).unwrap());
            assert_eq!(features.docs_wait.as_deref(), expected, "{manifest}");
        }
    }

    #[test]
    fn tests_are_built_with_the_features_that_they_need() {
        let all = "[features]\ndefault = ['std']\nstd = ['alloc']\nalloc = []\nserde = []\nnightly = []\n";
        let exclusive =
            "#[cfg(all(feature = \"serde\", feature = \"std\"))]\ncompile_error!(\"one\");";
        let needed = "#[cfg(not(feature = \"std\"))]\ncompile_error!(\"std\");";
        let serde = "[[test]]\nname = 'a'\nrequired-features = ['serde', 'alloc']\n";
        for (targets, library, expected) in [
            (serde, "", " --features serde"),
            (serde, needed, " --features serde"),
            (serde, exclusive, ""),
            (
                "[[test]]\nname = 'a'\nrequired-features = ['serde']\n[[example]]\nname = 'b'\nrequired-features = ['b', 'serde']\n",
                "",
                " --features serde,b",
            ),
            (
                "[[test]]\nname = 'a'\nrequired-features = ['serde', 'nightly']\n",
                "",
                "",
            ),
            (
                "[[bench]]\nname = 'a'\nrequired-features = ['serde']\n",
                "",
                "",
            ),
            ("[[test]]\nname = 'a'\n", "", ""),
        ] {
            let (_, of_tests) = options(&format!("{all}{targets}"), library);
            assert_eq!(of_tests, expected, "{targets} {library}");
        }
    }
}
