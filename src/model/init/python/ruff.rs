//! Whether ruff changes files by its settings alone: `fix = true`. Pure.

use serde_json::Value;

use super::super::called::TextsOf;
use super::super::writers;
use super::super::{Look, has, join, toml};

/// Returns the file whose settings have `ruff check` change files in a folder, if they do; the nearest file counts.
pub(super) fn fixes_by(look: &dyn Look, folder: &str) -> Option<String> {
    let own = ["ruff.toml", ".ruff.toml", "pyproject.toml"];
    let places = [folder, ""].into_iter();
    let files = places.flat_map(|place| own.map(|name| join(place, name)));
    let there = files.filter(|path| has(look, path));
    let mut settings = there.filter_map(|path| {
        let whole = toml(look, &path)?;
        match path.ends_with("pyproject.toml") {
            true => whole
                .pointer("/tool/ruff")
                .cloned()
                .map(|ruff| (path, ruff)),
            false => Some((path, whole)),
        }
    });
    let (path, ruff) = settings.next()?;
    let is_on = |key: &&str| ruff.get(*key).and_then(Value::as_bool) == Some(true);
    ["fix", "fix-only"].iter().any(is_on).then_some(path)
}

/// Says why commands in a folder make no goal, if one of them, or of the tasks that they run, is ruff and changes files by its settings.
pub(in crate::model::init) fn why_left(
    look: &dyn Look,
    folder: &str,
    text: &str,
    texts_of: TextsOf,
) -> Option<String> {
    let checks = |words: &[String]| {
        let mut words = words.iter().map(String::as_str);
        let looks = ["--no-fix", "--diff"];
        words.clone().take(3).any(|word| word == "ruff")
            && words.clone().any(|word| word == "check")
            && !words.any(|word| looks.contains(&word))
    };
    let calls = writers::reached(text, texts_of);
    calls.iter().find(|call| checks(&call.words))?;
    let file = fixes_by(look, folder)?;
    Some(format!(
        "it changes files (ruff check: {file} has it fix them; --no-fix does not); a goal only looks"
    ))
}
