//! GitLab's `!reference [job, key]`: the value that stands there, put where it is named. Pure.

use serde_json::{Map, Value};

const REFERENCE: &str = "!reference";
/// How many references one may lead over, as GitLab has it.
const DEEPEST: usize = 10;
/// How many bytes references may bring into a file.
const MOST: usize = 4 << 20;
/// What a value, and what an object beside its entries, takes of them at least.
const VALUE: usize = 100;
const OBJECT: usize = 200;
/// Marks a reference that is not followed any more.
const CUT: &str = "!reference beyond the bound";

/// Returns a file with what its references name in place of them. One that leads nowhere in this file stays.
pub(super) fn resolved(file: &Value) -> Value {
    let mut left = MOST;
    within(file, file, DEEPEST, &mut left)
}

/// Says why a reference is left in a value, if one is.
pub(super) fn why_left(value: &Value) -> Option<&'static str> {
    match value {
        Value::Array(all) => all.iter().find_map(why_left),
        Value::Object(map) if map.contains_key(CUT) => {
            Some("its file refers to more than is followed")
        }
        Value::Object(map) if map.contains_key(REFERENCE) => {
            Some("its !reference names nothing in this file")
        }
        Value::Object(map) => map.values().find_map(why_left),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn within(file: &Value, value: &Value, depth: usize, left: &mut usize) -> Value {
    if let Some(named) = value.get(REFERENCE) {
        let target = target(file, named).filter(|_| depth > 0);
        return match target {
            Some(_) if *left == 0 => Value::Object(Map::from_iter([(CUT.to_owned(), Value::Null)])),
            Some(target) => within(file, target, depth - 1, left),
            None => value.clone(),
        };
    }
    if depth < DEEPEST {
        // It is copied as often as it is named.
        *left = left.saturating_sub(size(value));
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

/// Returns what a value takes without those in it.
fn size(value: &Value) -> usize {
    VALUE
        + match value {
            Value::String(text) => text.len(),
            Value::Object(map) => OBJECT + map.keys().map(String::len).sum::<usize>(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => 0,
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
        assert_eq!(why_left(&resolved["job"]), None);
        for lost in ["none", "self"] {
            let why = Some("its !reference names nothing in this file");
            assert_eq!(why_left(&resolved[lost]), why);
        }
    }

    #[test]
    fn references_cannot_make_a_file_grow_without_end() {
        let mut file = Map::new();
        for level in 0..9 {
            let next = json!({"!reference": [format!("l{}", level + 1)]});
            file.insert(format!("l{level}"), vec![next; 50].into());
        }
        file.insert("l9".to_owned(), json!("end"));
        let resolved = resolved(&Value::Object(file));
        assert!(resolved.to_string().len() < 2 * MOST);
        let why = Some("its file refers to more than is followed");
        assert_eq!(why_left(&resolved["l0"]), why);
    }

    #[test]
    fn long_keys_are_bounded_as_long_texts_are() {
        let long = "k".repeat(100_000);
        let file = json!({
            ".x": {"script": {long: "a"}},
            "job": {"script": vec![json!({"!reference": [".x", "script"]}); 4_000]},
        });
        assert!(resolved(&file).to_string().len() < 2 * MOST);
    }

    #[test]
    fn many_jobs_may_refer_to_a_long_script() {
        let mut file = Map::new();
        file.insert(
            ".setup".to_owned(),
            json!({"script": vec!["x".repeat(100); 30]}),
        );
        for job in 0..120 {
            let script = json!({"before_script": [{"!reference": [".setup", "script"]}]});
            file.insert(format!("job{job}"), script);
        }
        assert_eq!(why_left(&resolved(&Value::Object(file))), None);
    }
}
