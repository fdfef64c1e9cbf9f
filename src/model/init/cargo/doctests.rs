//! The libraries of a Cargo project whose documentation may hold examples, which nextest does not run. Pure.

use serde_json::Value;

use super::super::{Look, has, is_own, is_within, join, split, text_at, toml};
use super::MOST_READ;

/// The crate types of libraries whose examples rustdoc runs.
const RUN: [&str; 4] = ["dylib", "lib", "proc-macro", "rlib"];

/// The packages of a project that have a library, by name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Libraries {
    /// The one in the project's folder.
    root: Option<String>,
    /// All whose examples are tests.
    tested: Vec<String>,
    /// Those whose manifest says that they are none: `--doc` runs them all the same.
    untested: Vec<String>,
}

impl Libraries {
    /// Reads the manifests of the project in a folder.
    pub(super) fn of(look: &dyn Look, home: &str, manifest: &Value) -> Libraries {
        let is_workspace = manifest.get("workspace").is_some();
        let files = look.files().iter();
        let manifests = files.filter(|path| split(path).1 == "Cargo.toml" && is_own(path));
        let mut folders: Vec<&str> = manifests.map(|path| split(path).0).collect();
        folders.retain(|folder| *folder == home || is_workspace && is_within(folder, home));
        let excluded = manifest
            .pointer("/workspace/exclude")
            .and_then(Value::as_array);
        let excluded = excluded.into_iter().flatten().filter_map(Value::as_str);
        let excluded: Vec<String> = excluded.map(|folder| join(home, folder)).collect();
        let is_excluded = |folder: &str| {
            let mut all = excluded.iter().map(|path| path.trim_end_matches('/'));
            all.any(|path| folder == path || is_within(folder, path))
        };
        let mut found = Libraries::default();
        for folder in folders.into_iter().take(MOST_READ) {
            let Some(own) = toml(look, &join(folder, "Cargo.toml")) else {
                continue;
            };
            let is_root = folder == home;
            let stands_alone =
                || own.get("workspace").is_some() || has(look, &join(folder, "Cargo.lock"));
            let Some(name) = text_at(&own, "/package/name") else {
                continue;
            };
            if !is_root && (is_excluded(folder) || stands_alone()) || !is_one(look, folder, &own) {
                continue;
            }
            if own.pointer("/lib/doctest") == Some(&Value::Bool(false)) {
                found.untested.push(name.to_owned());
                continue;
            }
            found.tested.push(name.to_owned());
            if is_root {
                found.root = Some(name.to_owned());
            }
        }
        found
    }

    /// Returns the options, with a space in front, by which the examples are run of what other options choose, which may be none; none
    /// where no library is among that.
    pub(super) fn options(&self, chosen: &str) -> Option<String> {
        let words: Vec<&str> = chosen.split_whitespace().collect();
        let values = |option: &'static str| {
            let pairs = words.windows(2).filter(move |pair| pair[0] == option);
            pairs.map(|pair| pair[1]).collect::<Vec<_>>()
        };
        let (named, left_out) = (values("-p"), values("--exclude"));
        let is_whole = words.contains(&"--workspace");
        let is_chosen = |name: &&String| match (named.is_empty(), is_whole) {
            (false, _) => named.contains(&name.as_str()),
            (true, true) => !left_out.contains(&name.as_str()),
            (true, false) => self.root.as_ref() == Some(name),
        };
        self.tested.iter().find(is_chosen)?;
        let untested = self.untested.iter().filter(|_| is_whole);
        let untested = untested.map(|name| format!(" --exclude {name}"));
        Some(format!("{chosen}{}", untested.collect::<String>()))
    }
}

/// Says whether a package has a library whose examples rustdoc can run.
fn is_one(look: &dyn Look, folder: &str, manifest: &Value) -> bool {
    let types = ["/lib/crate-type", "/lib/crate_type"];
    let types = types.iter().find_map(|it| manifest.pointer(it)?.as_array());
    let is_run = |types: &Vec<Value>| {
        let mut types = types.iter().filter_map(Value::as_str);
        types.any(|one| RUN.contains(&one))
    };
    let has_one = manifest.get("lib").is_some() || has(look, &join(folder, "src/lib.rs"));
    has_one && types.is_none_or(is_run)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Files;
    use super::super::super::toml_of;
    use super::*;

    fn libraries(files: &[(&str, &str)]) -> Libraries {
        let root = files[0].1;
        Libraries::of(&Files::of(files), "", &toml_of(root).unwrap())
    }

    #[test]
    fn only_libraries_have_examples_that_are_tests() {
        let package = "[package]\nname = 'x'\n";
        for (lib, file, expected) in [
            ("", "src/lib.rs", Some("")),
            ("", "src/main.rs", None),
            ("[lib]\npath = 'x.rs'\n", "x.rs", Some("")),
            ("[lib]\nproc-macro = true\n", "src/lib.rs", Some("")),
            ("[lib]\ncrate-type = ['cdylib']\n", "src/lib.rs", None),
            (
                "[lib]\ncrate-type = ['cdylib', 'rlib']\n",
                "src/lib.rs",
                Some(""),
            ),
            ("[lib]\ndoctest = false\n", "src/lib.rs", None),
        ] {
            let manifest = format!("{package}{lib}");
            let all = libraries(&[("Cargo.toml", &manifest), (file, "")]);
            assert_eq!(all.options("").as_deref(), expected, "{lib} {file}");
        }
    }

    #[test]
    fn of_a_workspace_the_members_that_have_one_are_asked() {
        let all = libraries(&[
            (
                "Cargo.toml",
                "[workspace]\nmembers = ['crates/*']\nexclude = ['old']\n",
            ),
            ("crates/a/Cargo.toml", "[package]\nname = 'a'\n"),
            ("crates/a/src/lib.rs", ""),
            ("crates/b/Cargo.toml", "[package]\nname = 'b'\n"),
            ("crates/b/src/main.rs", ""),
            (
                "crates/c/Cargo.toml",
                "[package]\nname = 'c'\n[lib]\ndoctest = false\n",
            ),
            ("crates/c/src/lib.rs", ""),
            ("fuzz/Cargo.toml", "[package]\nname = 'fuzz'\n[workspace]\n"),
            ("fuzz/src/lib.rs", ""),
            ("old/Cargo.toml", "[package]\nname = 'old'\n"),
            ("old/src/lib.rs", ""),
        ]);
        for (chosen, expected) in [
            (" --workspace", Some(" --workspace --exclude c")),
            (
                " --workspace --exclude b --features x",
                Some(" --workspace --exclude b --features x --exclude c"),
            ),
            (" --workspace --exclude a", None),
            (" -p b -p a --features x", Some(" -p b -p a --features x")),
            (" -p b", None),
            (" -p fuzz", None),
            ("", None),
        ] {
            assert_eq!(all.options(chosen).as_deref(), expected, "{chosen}");
        }
    }
}
