//! The scripts of a package.json. Pure.

use serde_json::Value;

use crate::model::init::text_at;

/// Returns what a script runs.
pub(in crate::model::init) fn one<'j>(package: &'j Value, name: &str) -> Option<&'j str> {
    package.get("scripts")?.get(name)?.as_str()
}

/// Returns what a script runs behind what is run before and after it without being asked for.
pub(in crate::model::init) fn whole(package: &Value, name: &str) -> Option<String> {
    let script = one(package, name)?;
    let said = text_at(package, "/packageManager").unwrap_or_default();
    // Yarn does so in its first versions only.
    let is_of_later = said.starts_with("yarn@") && !said.starts_with("yarn@1");
    let around = ["pre", "post"].map(|when| format!("{when}{name}"));
    let around = around.iter().filter(|_| !is_of_later);
    let around = around.filter_map(|name| one(package, name));
    // What the script is handed is put behind all of it.
    Some(around.chain([script]).collect::<Vec<_>>().join("\n"))
}

/// Returns what the scripts run that a name stands for: `lint:*` for each that begins so.
pub(in crate::model::init) fn meant(package: &Value, name: &str) -> Option<String> {
    let Some((begin, _)) = name.split_once('*') else {
        return whole(package, name);
    };
    let all = package.get("scripts")?.as_object()?.iter();
    let meant = all.filter(|(name, _)| name.starts_with(begin));
    let texts: Vec<&str> = meant.filter_map(|(_, text)| text.as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
