//! GitLab's `!reference [job, key]`: the value that stands there, put where it is named. Pure.

use serde_json::{Map, Value};

const REFERENCE: &str = "!reference";
/// How many references one may lead over, as GitLab has it.
const DEEPEST: usize = 10;
/// How many values references may bring into a file.
const MOST: usize = 10_000;

/// Returns a file with what its references name in place of them. One that leads nowhere in this file stays.
pub(super) fn resolved(file: &Value) -> Value {
    let mut left = MOST;
    within(file, file, DEEPEST, &mut left)
}

/// Says whether a reference is left in a value.
pub(super) fn is_left(value: &Value) -> bool {
    match value {
        Value::Array(all) => all.iter().any(is_left),
        Value::Object(map) => map.contains_key(REFERENCE) || map.values().any(is_left),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn within(file: &Value, value: &Value, depth: usize, left: &mut usize) -> Value {
    if let Some(named) = value.get(REFERENCE) {
        let target = target(file, named).filter(|_| depth > 0 && *left > 0);
        return match target {
            Some(target) => within(file, target, depth - 1, left),
            None => value.clone(),
        };
    }
    if depth < DEEPEST {
        // A long text is copied as often as it is named.
        let size = value.as_str().map_or(0, str::len) / 32;
        *left = left.saturating_sub(1 + size);
    }
    match value {
        Value::Array(all) => {
            let all = all.iter().map(|one| within(file, one, depth, left));
            all.collect()
        }
        Value::Object(map) => {
            let mut resolved = Map::new();
            for (key, value) in map {
                resolved.insert(key.clone(), within(file, value, depth, left));
            }
            Value::Object(resolved)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Returns what stands at the end of a way of keys.
fn target<'a>(file: &'a Value, way: &Value) -> Option<&'a Value> {
    let way = way.as_array().filter(|way| !way.is_empty())?;
    way.iter().try_fold(file, |at, key| at.get(key.as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_reference_is_what_it_names_and_ends_where_it_names_itself() {
        let to = |way: &[&str]| json!({"!reference": way});
        let file = json!({
            ".x": {"script": ["a", to(&[".y", "script"])], "variables": {"A": "1"}},
            ".y": {"script": "b"},
            "job": {"script": [to(&[".x", "script"]), "c"], "variables": {"A": to(&[".x", "variables", "A"])}},
            "none": {"script": [to(&[".z", "script"])]},
            "self": {"script": [to(&["self", "script"])]},
        });
        let resolved = resolved(&file);
        let expected = json!({"script": [["a", "b"], "c"], "variables": {"A": "1"}});
        assert_eq!(resolved["job"], expected);
        assert!(!is_left(&resolved["job"]));
        assert!(is_left(&resolved["none"]) && is_left(&resolved["self"]));
    }

    #[test]
    fn references_cannot_make_a_file_grow_without_end() {
        let mut file = Map::new();
        for level in 0..9 {
            let next = json!({"!reference": [format!("l{}", level + 1)]});
            file.insert(format!("l{level}"), vec![next; 50].into());
        }
        file.insert("l9".to_owned(), json!("end"));
        let text = resolved(&Value::Object(file)).to_string();
        assert!(text.len() < 100 * MOST, "{}", text.len());
    }
}
