//! YAML that other programs read, such as CI files, as JSON: every scalar is text, merge keys are merged, tags say nothing, but GitLab's
//! `!reference [a, b]` is `{"!reference": ["a", "b"]}`. Held to the same bounds as a goals file. Pure.

use serde_json::{Map, Value};

use super::MAX_BYTES;
use super::tree::{self, Branch, Tree};

/// Reads one document; nothing if it is empty. The error says where and why it is none, too large, nested too deep, or grows by
/// aliases: `3:9: not valid YAML: …`.
pub fn read_plain(text: &str) -> Result<Option<Value>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!(
            "1:1: the file has {} KiB, more than the {} KiB that are read",
            text.len().div_ceil(1024),
            MAX_BYTES / 1024
        ));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match tree::build_untagged(text) {
        Ok(tree) => Ok(tree.as_ref().map(value)),
        Err(complaint) => {
            let place = complaint.place;
            let (line, column) = (place.line, place.column);
            Err(format!("{line}:{column}: {}", complaint.message))
        }
    }
}

fn value(tree: &Tree) -> Value {
    match tree.branch.as_ref() {
        Branch::Scalar(text) => Value::String(text.clone()),
        Branch::List(items) => items.iter().map(value).collect(),
        Branch::Map(entries) => {
            let mut map = Map::new();
            for (key, tree) in entries {
                let Branch::Scalar(name) = key.branch.as_ref() else {
                    continue;
                };
                match name.as_str() {
                    "<<" => merge(&mut map, value(tree)),
                    name => drop(map.insert(name.to_owned(), value(tree))),
                }
            }
            Value::Object(map)
        }
    }
}

/// Takes in what a merge key names, below what stands there itself.
fn merge(map: &mut Map<String, Value>, other: Value) {
    match other {
        Value::Object(other) => {
            for (key, value) in other {
                map.entry(key).or_insert(value);
            }
        }
        Value::Array(all) => all.into_iter().for_each(|one| merge(map, one)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ci_files_are_read_with_their_merge_keys_and_tags() {
        let text = "on: [push]\n.base: &base {stage: test, tags: [a]}\njob:\n  <<: *base\n  stage: lint\n  script:\n  - !reference [.base, script]\n  - ls\n";
        let read = read_plain(text).unwrap().unwrap();
        assert_eq!(
            read["job"],
            json!({"stage": "lint", "tags": ["a"], "script": [{"!reference": [".base", "script"]}, "ls"]})
        );
        assert_eq!(read["on"], json!(["push"]));
        assert_eq!(read_plain("# nothing\n"), Ok(None));
        assert_eq!(
            read_plain("on: push\nname: unit \"tests\": all\n").unwrap_err(),
            "2:19: not valid YAML: mapping values are not allowed in this context"
        );
        for odd in [
            "a: [",
            "a: 1\n---\nb: 2\n",
            &"[".repeat(2000),
            &"a".repeat(MAX_BYTES + 1),
        ] {
            assert!(read_plain(odd).is_err(), "{}", odd.len());
        }
    }
}
