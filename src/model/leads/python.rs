//! How Python is led to a copy's code where an environment knows where the checkout lies: by what it runs at each start. Pure.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The name by which Python finds it.
pub const FILE: &str = "sitecustomize.py";
/// What it runs.
const SCRIPT: &str = include_str!("sitecustomize.py");
/// What it is called in tracebacks. What measures coverage counts nothing that comes from no file.
const NAME: &str = "<evolve>";

/// Returns the folder beside a copy at `root` in which Python finds what leads it.
pub fn folder_beside(root: &Path) -> PathBuf {
    root.with_extension("leads")
}

/// What leads Python in a copy. Paths that are no text lead nowhere.
#[derive(Debug, Default)]
pub struct Told {
    /// Each folder of the checkout with the one to which it leads, the copy's or itself.
    pub led: Vec<(PathBuf, PathBuf)>,
    /// Folders that PYTHONPATH has in the copy alone.
    pub added: Vec<PathBuf>,
    /// The folders of packages that lead to the checkout.
    pub packages: Vec<PathBuf>,
}

/// Returns what Python runs at its start.
pub fn script(told: &Told) -> String {
    let text = |path: &PathBuf| path.to_str().map(str::to_owned);
    let pairs = told.led.iter().filter_map(|(theirs, ours)| {
        let ours = Value::String(text(ours)?);
        Some((text(theirs)?, ours))
    });
    let led: Map<String, Value> = pairs.collect();
    let all = |paths: &[PathBuf]| paths.iter().filter_map(text).collect::<Value>();
    let script = SCRIPT
        .replace("LED = {}", &format!("LED = {}", Value::Object(led)))
        .replace("ADDED = []", &format!("ADDED = {}", all(&told.added)))
        .replace(
            "PACKAGES = []",
            &format!("PACKAGES = {}", all(&told.packages)),
        );
    // JSON's way to write a text is one of Python's, too.
    let script = Value::String(script);
    format!("exec(compile({script}, \"{NAME}\", \"exec\"))\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_knows_each_folder_by_its_whole_path() {
        let led = [("/r/\"q\"", "/c/\"q\""), ("/r/src", "/c/src")];
        let told = Told {
            led: led
                .map(|(theirs, ours)| (theirs.into(), ours.into()))
                .into(),
            added: vec!["/c/src".into()],
            packages: vec!["/e/p".into(), "/f/p".into()],
        };
        let said = script(&told);
        let expected = [
            r#"LED = {"/r/\"q\"":"/c/\"q\"","/r/src":"/c/src"}"#,
            r#"ADDED = ["/c/src"]"#,
            r#"PACKAGES = ["/e/p","/f/p"]"#,
        ];
        for line in expected {
            let line = Value::String(line.to_owned()).to_string();
            let line = line.trim_matches('"');
            assert!(said.contains(line), "{line}: {said}");
        }
        assert_eq!(said.lines().count(), 1, "the rest comes from no file");
    }
}
