//! JSON Pointers (RFC 6901) in which `*` is every element of a list or mapping. Pure.

use serde_json::Value;

/// A place, or several, in a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Each,
    Key(String),
}

impl Pointer {
    /// Reads a pointer. The error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Pointer, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err("a JSON Pointer starts with /".to_owned());
        };
        let steps = rest.split('/').map(step).collect::<Result<_, _>>()?;
        Ok(Pointer {
            text: text.to_owned(),
            steps,
        })
    }

    /// Returns the pointer as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns what stands there, in the order of the document.
    pub fn find<'v>(&self, document: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![document];
        for step in &self.steps {
            found = found.into_iter().flat_map(|value| step.of(value)).collect();
        }
        found
    }
}

fn step(word: &str) -> Result<Step, String> {
    if word == "*" {
        return Ok(Step::Each);
    }
    let mut key = String::new();
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '~' => match letters.next() {
                Some('0') => key.push('~'),
                Some('1') => key.push('/'),
                _ => return Err("in a JSON Pointer, ~ is written ~0".to_owned()),
            },
            letter => key.push(letter),
        }
    }
    Ok(Step::Key(key))
}

impl Step {
    fn of<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match (self, value) {
            (Step::Each, Value::Array(items)) => items.iter().collect(),
            (Step::Each, Value::Object(map)) => map.values().collect(),
            (Step::Key(key), Value::Object(map)) => map.get(key).into_iter().collect(),
            (Step::Key(key), Value::Array(items)) => {
                let index = key.parse::<usize>().ok();
                index
                    .and_then(|index| items.get(index))
                    .into_iter()
                    .collect()
            }
            (
                Step::Each | Step::Key(_),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_),
            ) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pointer: &str) -> String {
        let document = serde_json::json!({"a": [{"b": 1}, {"c": 2}, {"b": 3}], "x/y": {"p": 4, "q~": 5}, "*": 6});
        let pointer = Pointer::parse(pointer).unwrap();
        let found = pointer.find(&document).into_iter().map(Value::to_string);
        found.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_star_is_every_element() {
        assert_eq!(find("/a/*/b"), "1 3");
        assert_eq!(find("/a/1/c"), "2");
        assert_eq!(find("/x~1y/*"), "4 5");
        assert_eq!(find("/x~1y/q~0"), "5");
        assert_eq!(find("/*/p"), "4");
        assert_eq!(find("/a/b/c/*"), "");
    }

    #[test]
    fn what_is_no_pointer_is_refused() {
        for text in ["", "a", "#/a", "/a~", "/~2"] {
            assert!(Pointer::parse(text).is_err(), "{text}");
        }
    }
}
