//! Presets of CMake's: how a project says itself that it is configured, built and tested. Pure.

use serde_json::Value;

use super::super::{Look, has, json, split};
use crate::model::check;
use crate::model::text::shell_word;

/// Where they stand.
pub(super) const FILE: &str = "CMakePresets.json";
/// How many files they are read from, and how many they come from by inheritance.
const MOST_FILES: usize = 16;
const MOST_INHERITED: usize = 16;
/// What presets are called that are for whoever works on the project, the likeliest first.
const LIKELY: [&str; 6] = ["default", "dev", "debug", "ci", "release", "linux"];

/// The commands by which a project is built and tested.
#[derive(Debug, PartialEq)]
pub(super) struct Commands {
    /// They configure and build.
    pub build: String,
    /// They test what was built, where there is a preset for that.
    pub test: Option<String>,
    /// The folder below the root that is built in, where that is known.
    pub folder: Option<String>,
    /// The program that builds, beside CMake.
    pub builder: Option<&'static str>,
    /// A variable of the environment that is asked for and is not set.
    pub unset: Option<String>,
}

/// Returns the commands of the likeliest preset that can be built here by a preset for that; one that is tested, too, before others.
pub(super) fn commands(look: &dyn Look) -> Option<Commands> {
    let presets = Presets::read(look);
    let rank = |name: &str| {
        let at = LIKELY.iter().position(|likely| *likely == name);
        at.unwrap_or(LIKELY.len())
    };
    let all = presets.visible("configurePresets");
    let all = all.filter(|preset| presets.is_for_here("configurePresets", preset));
    let all = all.filter_map(|preset| {
        let name = preset["name"].as_str()?;
        let build = presets.of("buildPresets", name)?;
        Some((preset, name, build, presets.of("testPresets", name)))
    });
    let (preset, name, build, test) =
        all.min_by_key(|(_, name, _, test)| (test.is_none(), rank(name)))?;
    let word = |name: &str| shell_word(name);
    let build = format!(
        "cmake --preset {} && cmake --build --preset {}",
        word(name),
        word(build)
    );
    let inherited = |key| presets.inherited("configurePresets", preset, key, MOST_INHERITED);
    let folder = inherited("binaryDir").and_then(Value::as_str);
    let folder = folder.and_then(|folder| {
        let folder = folder.replace("${presetName}", name);
        let below = folder.strip_prefix("${sourceDir}/").unwrap_or(&folder);
        let is_plain = !below.contains('$') && !below.starts_with('/');
        is_plain.then(|| below.trim_end_matches('/').to_owned())
    });
    Some(Commands {
        test: test.map(|test| format!("{build} && ctest --preset {}", word(test))),
        build,
        folder,
        builder: inherited("generator")
            .and_then(Value::as_str)
            .and_then(builder_of),
        unset: presets.unset(look, preset),
    })
}

/// Returns the program that a generator writes files for.
fn builder_of(generator: &str) -> Option<&'static str> {
    match generator {
        "Ninja" | "Ninja Multi-Config" => Some("ninja"),
        "Unix Makefiles" => Some("make"),
        _ => None,
    }
}

/// All presets of the files that are read.
struct Presets(Vec<Value>);

impl Presets {
    fn read(look: &dyn Look) -> Presets {
        let mut files = vec![FILE.to_owned()];
        let mut all = Vec::new();
        let mut at = 0;
        while let Some(file) = files.get(at).cloned() {
            at += 1;
            let Some(text) = has(look, &file).then(|| json(look, &file)).flatten() else {
                continue;
            };
            let included = text["include"].as_array().into_iter().flatten();
            let folder = split(&file).0.to_owned();
            let paths = included.filter_map(|path| check::join(&folder, path.as_str()?));
            for path in paths {
                if files.len() < MOST_FILES && !files.contains(&path) {
                    files.push(path);
                }
            }
            all.push(text);
        }
        Presets(all)
    }

    fn all<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        let lists = self.0.iter().filter_map(move |file| file[kind].as_array());
        lists.flatten()
    }

    /// Returns those that can be asked for.
    fn visible<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        self.all(kind)
            .filter(|preset| preset["hidden"].as_bool() != Some(true))
    }

    /// Returns the name of the first of this kind that goes by such a configuration; the one of the same name before others.
    fn of<'s>(&'s self, kind: &'s str, configuration: &str) -> Option<&'s str> {
        let is_it = |preset: &&Value| {
            let said = self.inherited(kind, preset, "configurePreset", MOST_INHERITED);
            said.and_then(Value::as_str) == Some(configuration) && self.is_for_here(kind, preset)
        };
        let all = self.visible(kind).filter(is_it);
        let mut names: Vec<&str> = all.filter_map(|preset| preset["name"].as_str()).collect();
        names.sort_by_key(|name| *name != configuration);
        names.first().copied()
    }

    /// Returns what a preset, or the first that it comes from, says of a thing.
    fn inherited<'s>(
        &'s self,
        kind: &'s str,
        preset: &'s Value,
        key: &str,
        left: usize,
    ) -> Option<&'s Value> {
        let own = preset.get(key);
        let bases = || {
            let bases = match &preset["inherits"] {
                Value::Array(names) => names.iter().collect(),
                name => vec![name],
            };
            bases.into_iter().filter_map(Value::as_str)
        };
        let of_base = |name: &str| {
            let base = self.all(kind).find(|base| base["name"] == name)?;
            self.inherited(kind, base, key, left.checked_sub(1)?)
        };
        own.or_else(|| bases().find_map(of_base))
    }

    /// Says whether a preset is for this system, as far as its condition can be told.
    fn is_for_here(&self, kind: &str, preset: &Value) -> bool {
        let generator = self.inherited(kind, preset, "generator", MOST_INHERITED);
        let generator = generator.and_then(Value::as_str).unwrap_or_default();
        let is_elsewhere = ["Visual Studio", "Xcode", "NMake", "MinGW"];
        let condition = self.inherited(kind, preset, "condition", MOST_INHERITED);
        !is_elsewhere.iter().any(|name| generator.starts_with(name))
            && condition.is_none_or(|condition| holds(condition).unwrap_or(true))
    }

    /// Returns the first variable of the environment that a preset asks for and that is not set.
    fn unset(&self, look: &dyn Look, preset: &Value) -> Option<String> {
        let keys = ["toolchainFile", "cacheVariables", "cmakeExecutable"];
        let kind = "configurePresets";
        let said = keys.iter();
        let said = said.filter_map(|key| self.inherited(kind, preset, key, MOST_INHERITED));
        let own = self.inherited(kind, preset, "environment", MOST_INHERITED);
        let is_own = |name: &str| own.is_some_and(|own| !own[name].is_null());
        said.flat_map(|said| variables_in(&said.to_string()))
            .find(|name| !look.is_set(name) && !is_own(name))
    }
}

/// Returns the variables of the environment that a text asks for: `$env{NAME}`, `$penv{NAME}`.
fn variables_in(text: &str) -> Vec<String> {
    let parts = text.split("env{").skip(1);
    parts
        .filter_map(|part| part.split_once('}'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Says whether a condition holds here; none where that is not known.
fn holds(condition: &Value) -> Option<bool> {
    let text = |key: &str| condition[key].as_str().map(filled);
    let is_known = |text: &String| !text.contains('$');
    let both = || {
        let (left, right) = (text("lhs")?, text("rhs")?);
        (is_known(&left) && is_known(&right)).then_some(left == right)
    };
    let each = || condition["conditions"].as_array().into_iter().flatten();
    match (condition, condition["type"].as_str()) {
        (Value::Bool(holds), _) => Some(*holds),
        (_, Some("const")) => condition["value"].as_bool(),
        (_, Some("equals")) => both(),
        (_, Some("notEquals")) => both().map(|equals| !equals),
        (_, Some("inList" | "notInList")) => {
            let text = text("string").filter(is_known)?;
            let mut list = condition["list"].as_array()?.iter();
            let is_in = list.any(|one| one.as_str() == Some(&text));
            Some(is_in == (condition["type"] == "inList"))
        }
        (_, Some("not")) => holds(&condition["condition"]).map(|holds| !holds),
        (_, Some("allOf")) if each().any(|one| holds(one) == Some(false)) => Some(false),
        (_, Some("anyOf")) if each().all(|one| holds(one) == Some(false)) => Some(false),
        _ => None,
    }
}

/// Puts the system's name in.
fn filled(text: &str) -> String {
    let here = match std::env::consts::OS {
        "macos" => "Darwin",
        "windows" => "Windows",
        _ => "Linux",
    };
    text.replace("${hostSystemName}", here)
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::Files;
    use super::*;

    #[test]
    fn the_likeliest_preset_that_is_built_and_tested_here_is_taken() {
        let of = |text: &str| {
            let files = Files::of(&[
                (FILE, text),
                (
                    "cmake/more.json",
                    r#"{"include": ["../CMakePresets.json"], "configurePresets": [{"name": "base", "hidden": true, "generator": "Ninja", "binaryDir": "${sourceDir}/out/${presetName}"}]}"#,
                ),
            ]);
            commands(&files)
        };
        let whole = r#"{"version": 6, "include": ["cmake/more.json", "none.json"],
            "configurePresets": [
                {"name": "vs", "generator": "Visual Studio 17 2022"},
                {"name": "win", "inherits": "base", "condition": {"type": "equals", "lhs": "${hostSystemName}", "rhs": "Windows"}},
                {"name": "rel", "inherits": ["base"], "toolchainFile": "$env{VCPKG}/x.cmake"},
                {"name": "dev", "inherits": ["none", "base"], "condition": {"type": "notEquals", "lhs": "${hostSystemName}", "rhs": "Windows"}}],
            "buildPresets": [
                {"name": "v", "configurePreset": "vs"}, {"name": "w", "configurePreset": "win"}, {"name": "h", "hidden": true, "configurePreset": "rel"},
                {"name": "a b", "inherits": "h"}, {"name": "other", "configurePreset": "dev"}, {"name": "dev", "configurePreset": "dev"}],
            "testPresets": [TESTS]}"#;
        let dev = Commands {
            build: "cmake --preset dev && cmake --build --preset dev".to_owned(),
            test: None,
            folder: Some("out/dev".to_owned()),
            builder: Some("ninja"),
            unset: None,
        };
        let rel = "cmake --preset rel && cmake --build --preset 'a b'";
        assert_eq!(of(&whole.replace("TESTS", "")), Some(dev));
        let tested = r#"{"name": "t", "configurePreset": "rel"}"#;
        assert_eq!(
            of(&whole.replace("TESTS", tested)),
            Some(Commands {
                build: rel.to_owned(),
                test: Some(format!("{rel} && ctest --preset t")),
                folder: Some("out/rel".to_owned()),
                builder: Some("ninja"),
                unset: Some("VCPKG".to_owned()),
            })
        );
        for text in [
            "{}",
            "[",
            r#"{"configurePresets": [{"name": "a"}]}"#,
            r#"{"configurePresets": [{"name": "a", "hidden": true}], "buildPresets": [{"name": "a", "configurePreset": "a"}]}"#,
            r#"{"configurePresets": [{"name": "a", "condition": false}], "buildPresets": [{"name": "a", "configurePreset": "a"}]}"#,
            r#"{"configurePresets": [{"name": "a"}], "buildPresets": [{"name": "a", "inherits": "a"}]}"#,
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_condition_is_told_as_far_as_it_is_known() {
        for (condition, expected) in [
            (r#"{"type": "const", "value": false}"#, Some(false)),
            (
                r#"{"type": "equals", "lhs": "${hostSystemName}", "rhs": "none"}"#,
                Some(false),
            ),
            (r#"{"type": "equals", "lhs": "$env{X}", "rhs": "1"}"#, None),
            (
                r#"{"type": "inList", "string": "a", "list": ["b", "a"]}"#,
                Some(true),
            ),
            (
                r#"{"type": "notInList", "string": "a", "list": ["b", "a"]}"#,
                Some(false),
            ),
            (
                r#"{"type": "not", "condition": {"type": "notEquals", "lhs": "a", "rhs": "a"}}"#,
                Some(true),
            ),
            (
                r#"{"type": "allOf", "conditions": [{"type": "matches"}, false]}"#,
                Some(false),
            ),
            (
                r#"{"type": "anyOf", "conditions": [{"type": "matches"}, false]}"#,
                None,
            ),
            ("null", None),
        ] {
            let condition = serde_json::from_str(condition).unwrap();
            assert_eq!(holds(&condition), expected, "{condition}");
        }
    }
}
