//! Modules that the checkout has and a copy's commit lacks: Python would find them in the checkout, behind all that a copy leads to, and
//! so gets something in their place. Pure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

/// What Python reads in the place of such a module.
const STAND_IN: &str = include_str!("absent.py");

/// Returns the folder beside a copy at `root` that Python asks last of those that lead there.
pub fn folder_beside(root: &Path) -> PathBuf {
    root.with_extension("absent")
}

/// Returns the modules of a folder of modules that a copy lacks, as paths below that folder without an ending: those whose files are
/// `gone` of those that the checkout has. `is_there` says whether the copy has a path; all are below the root.
pub fn modules<'a>(
    folder: &str,
    gone: impl IntoIterator<Item = &'a str>,
    is_there: &dyn Fn(&str) -> bool,
) -> Vec<String> {
    let below = |module: &str| match folder {
        "" => module.to_owned(),
        _ => format!("{folder}/{module}"),
    };
    let has = |file: String| is_there(&below(&file));
    let module = |path: &'a str| {
        let path = match folder {
            "" => path,
            _ => path.strip_prefix(folder)?.strip_prefix('/')?,
        };
        let module = path.strip_suffix(".py")?;
        let module = module.strip_suffix("/__init__").unwrap_or(module);
        // What is below a package is looked for in that package alone.
        let is_in_package = || above(module).any(|package| has(format!("{package}/__init__.py")));
        let is_otherwise = || has(format!("{module}.py")) || has(format!("{module}/__init__.py"));
        let is_name = module.split('/').all(is_name);
        (is_name && !is_otherwise() && !is_in_package()).then_some(module)
    };
    let modules: BTreeSet<&str> = gone.into_iter().filter_map(module).collect();
    let is_first = |module: &&&str| !above(module).any(|package| modules.contains(package));
    let first = modules.iter().filter(is_first);
    first.map(|module| (*module).to_owned()).collect()
}

/// Returns the packages that a module is in, the outermost first.
fn above(module: &str) -> impl Iterator<Item = &str> {
    module.match_indices('/').map(|(end, _)| &module[..end])
}

fn is_name(word: &str) -> bool {
    let is_letter = |it: char| it.is_alphanumeric() || it == '_';
    word.chars().all(is_letter)
        && !word.starts_with(|it: char| it.is_ascii_digit())
        && !word.is_empty()
}

/// Returns what Python reads in the place of a module that is to be found neither in `beside` nor in `theirs`, the checkout's folder of
/// modules: the one of that name that it finds anywhere else, or an error.
pub fn stand_in(beside: &str, theirs: &str) -> String {
    STAND_IN.replace("FOLDERS", &json!([beside, theirs]).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_absent_if_python_would_look_further_for_it() {
        let there = [
            "src/kept/__init__.py",
            "src/turned/__init__.py",
            "src/flat.py",
            "src/part/other.py",
        ];
        let is_there = |path: &str| there.contains(&path);
        let modules = |folder, gone: &[&str]| modules(folder, gone.iter().copied(), &is_there);
        for (gone, expected) in [
            ("src/old.py", &["old"][..]),
            ("src/pack/__init__.py", &["pack"]),
            ("src/part/old.py", &["part/old"]),
            ("src/part/__init__.py", &["part"]),
            ("src/kept/old.py", &[]),
            ("src/kept/deep/old.py", &[]),
            ("src/turned.py", &[]),
            ("src/flat/__init__.py", &[]),
            ("src/notes.txt", &[]),
            ("src/two-words.py", &[]),
            ("src/9.py", &[]),
            ("srcs/old.py", &[]),
            ("old.py", &[]),
        ] {
            assert_eq!(modules("src", &[gone]), expected, "{gone}");
        }
        let package = ["src/pack/__init__.py", "src/pack/core.py", "src/pack.py"];
        assert_eq!(modules("src", &package), ["pack"]);
        assert_eq!(modules("", &["old.py", "src/kept/old.py"]), ["old"]);
    }
}
