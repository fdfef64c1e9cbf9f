//! YAML that other programs read, such as CI files, as JSON: every scalar is text, merge keys are merged, tags say nothing. Held to the
//! same bounds as a goals file. Pure.

use serde_json::{Map, Value};

use super::MAX_BYTES;
use super::tree::{self, Branch, Tree};

/// Reads one document; nothing if it is none, too large, nested too deep, or grows by aliases.
pub fn read_plain(text: &str) -> Option<Value> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let tree = tree::build_untagged(text).ok()??;
    Some(value(&tree))
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
        let read = read_plain(text).unwrap();
        assert_eq!(
            read["job"],
            json!({"stage": "lint", "tags": ["a"], "script": [[".base", "script"], "ls"]})
        );
        assert_eq!(read["on"], json!(["push"]));
        for odd in [
            "",
            "a: [",
            "a: 1\n---\nb: 2\n",
            &"[".repeat(2000),
            &"a".repeat(MAX_BYTES + 1),
        ] {
            assert_eq!(read_plain(odd), None, "{}", odd.len());
        }
    }
}
