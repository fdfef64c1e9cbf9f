//! The folders are layers: this reads the sources and enforces the arrows that `lib.rs` states.

use std::fs;
use std::path::{Path, PathBuf};

/// Which parts of the crate a part may name, beside `error`, `model` and itself.
const ALLOWED: [(&str, &[&str]); 10] = [
    ("model", &[]),
    ("error", &[]),
    ("search", &[]),
    ("event", &[]),
    ("effects", &["event"]),
    ("view", &["event"]),
    ("session", &["event", "effects"]),
    ("cycle", &["event", "effects", "session"]),
    (
        "engine",
        &["event", "effects", "session", "cycle", "search"],
    ),
    (
        "cli",
        &[
            "event", "effects", "session", "cycle", "engine", "search", "view",
        ],
    ),
];

/// Crates that only one place names, with that place.
const ONLY_IN: [(&str, &str); 8] = [
    ("git2", "effects/repo"),
    ("fs2", "effects/lock"),
    ("serde_yaml", "model/goals"),
    ("saphyr_parser", "model/goals"),
    ("Utc::now", "effects/clock"),
    ("jsonschema", "model/schema"),
    ("roxmltree", "model/reading"),
    ("AccessFs", "effects/sandbox/landlock"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Every source file as its path below `src`, without what is there for tests only and without comments.
fn code() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let read = |path: PathBuf| {
        let name = path
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let text = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default()
            .to_owned();
        let code: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        (name, code.join("\n"))
    };
    let is_for_tests = |name: &str| name.ends_with("tests.rs") || name.ends_with("samples.rs");
    files
        .into_iter()
        .map(read)
        .filter(|(name, _)| !is_for_tests(name))
        .collect()
}

#[test]
fn each_layer_names_only_the_layers_below_it() {
    let code = code();
    assert!(code.len() > 40, "the sources were not found");
    for (name, text) in &code {
        let part = name.split(['/', '.']).next().unwrap();
        let Some((_, allowed)) = ALLOWED.iter().find(|(layer, _)| *layer == part) else {
            assert!(matches!(part, "lib" | "main"), "{name} belongs to no layer");
            continue;
        };
        for (layer, _) in ALLOWED {
            let is_fine =
                layer == part || ["error", "model"].contains(&layer) || allowed.contains(&layer);
            let is_pure = part != "model" && part != "error"
                || layer == part
                || (part == "model" && layer == "error");
            let names_it = text.contains(&format!("crate::{layer}"));
            assert!(
                !names_it || (is_fine && is_pure),
                "{name} may not name {layer}"
            );
        }
    }
}

#[test]
fn each_outside_crate_is_named_in_one_place() {
    for (name, text) in code() {
        for (word, place) in ONLY_IN {
            assert!(
                !text.contains(word) || name.starts_with(place),
                "{name} may not name {word}"
            );
        }
    }
}
