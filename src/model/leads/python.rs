//! How Python is led to a copy's code where an environment knows where the checkout lies: by what it runs at each start. Pure.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The name by which Python finds it.
pub const FILE: &str = "sitecustomize.py";
/// What it runs.
const SCRIPT: &str = include_str!("sitecustomize.py");

/// Returns the folder beside a copy at `root` in which Python finds what leads it.
pub fn folder_beside(root: &Path) -> PathBuf {
    root.with_extension("leads")
}

/// Returns what Python runs at its start: each folder of the checkout leads to the one beside it, the copy's or itself. Paths that are no text lead nowhere.
pub fn script(led: &[(PathBuf, PathBuf)]) -> String {
    let text = |path: &PathBuf| path.to_str().map(str::to_owned);
    let pairs = led.iter().filter_map(|(theirs, ours)| {
        let ours = Value::String(text(ours)?);
        Some((text(theirs)?, ours))
    });
    let led: Map<String, Value> = pairs.collect();
    SCRIPT.replace("LED = {}", &format!("LED = {}", Value::Object(led)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_knows_each_folder_by_its_whole_path() {
        let led = [("/r/\"q\"", "/c/\"q\""), ("/r/src", "/c/src")];
        let led = led.map(|(theirs, ours)| (theirs.into(), ours.into()));
        let said = script(&led);
        let told = r#"LED = {"/r/\"q\"":"/c/\"q\"","/r/src":"/c/src"}"#;
        assert!(said.contains(told), "{said}");
    }
}
