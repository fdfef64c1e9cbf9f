//! A JSON text with other values, in which everything that did not change stays as it is written. Pure.

use std::ops::Range;

use serde_json::{Map, Value};

/// Returns the text of `old` as that of `new`: spaces, numbers and escapes of what is in both stay byte for byte.
pub(super) fn rewritten(text: &str, old: &Value, new: &Value) -> String {
    match (old, new) {
        _ if old == new => text.to_owned(),
        (Value::Object(old), Value::Object(new)) => object(text, old, new),
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            array(text, old.iter().zip(new))
        }
        _ => new.to_string(),
    }
}

fn array<'v>(text: &str, items: impl Iterator<Item = (&'v Value, &'v Value)>) -> String {
    let mut page = String::new();
    let mut end = 0;
    for (part, (old, new)) in parts(text).into_iter().zip(items) {
        page.push_str(&text[end..part.start]);
        page.push_str(&rewritten(&text[part.clone()], old, new));
        end = part.end;
    }
    page + &text[end..]
}

fn object(text: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> String {
    let parts = parts(text);
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return Value::Object(new.clone()).to_string();
    };
    let between = parts
        .get(1)
        .map_or(",", |second| &text[first.end..second.start]);
    let colon = split(&text[first.clone()]).map_or(":", |(_, colon, _)| colon);
    let mut members = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let Some((key, colon, value)) = split(&text[part.clone()]) else {
            return Value::Object(new.clone()).to_string();
        };
        let name: String = serde_json::from_str(key).unwrap_or_default();
        let (Some(old), Some(new)) = (old.get(&name), new.get(&name)) else {
            continue;
        };
        let before = index.checked_sub(1).and_then(|before| parts.get(before));
        let gap = before.map_or("", |before| &text[before.end..part.start]);
        members.push((gap, format!("{key}{colon}{}", rewritten(value, old, new))));
    }
    for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        let key = Value::String(name.clone());
        members.push((between, format!("{key}{colon}{value}")));
    }
    let mut page = text[..first.start].to_owned();
    for (index, (gap, member)) in members.iter().enumerate() {
        page.push_str(if index == 0 {
            ""
        } else if gap.is_empty() {
            between
        } else {
            gap
        });
        page.push_str(member);
    }
    page + &text[last.end..]
}

/// Returns a member's key with its quotes, what stands between that and the value, and the value.
fn split(member: &str) -> Option<(&str, &str, &str)> {
    let end = end_of_string(member)?;
    let (key, rest) = member.split_at(end);
    let value = rest.trim_start_matches(|c: char| c == ':' || c.is_ascii_whitespace());
    let colon = &rest[..rest.len() - value.len()];
    colon.contains(':').then_some((key, colon, value))
}

/// Returns where a string that a text begins with ends.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return Some(index + 1),
            _ => {}
        }
    }
    None
}

/// Returns where the members of an object or the items of a list stand, without the blanks around each.
fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut depth, mut start, mut index) = (0_usize, 1, 0);
    while let Some(byte) = text.as_bytes().get(index) {
        match byte {
            b'"' => match end_of_string(&text[index..]) {
                Some(length) => index += length - 1,
                None => return Vec::new(),
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    parts.push(start..index);
                }
            }
            b',' if depth == 1 => {
                parts.push(start..index);
                start = index + 1;
            }
            _ => {}
        }
        index += 1;
    }
    let trimmed = |part: Range<usize>| {
        let inner = text[part.clone()].trim_start();
        let start = part.end - inner.len();
        start..start + inner.trim_end().len()
    };
    let parts = parts.into_iter().map(trimmed);
    parts.filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn changed(text: &str, change: impl FnOnce(&mut Value)) -> String {
        let old: Value = serde_json::from_str(text).expect("JSON");
        let mut new = old.clone();
        change(&mut new);
        let page = rewritten(text, &old, &new);
        let read: Value = serde_json::from_str(&page).expect("JSON");
        assert_eq!(read, new, "{page}");
        page
    }

    #[test]
    fn what_did_not_change_stays_as_it_is_written() {
        let text = r#"{ "a" : 1.50, "b\u00fc}": [ {"c": "x,]"}, 2 ],"d":{}}"#;
        assert_eq!(changed(text, |_| {}), text);
        assert_eq!(
            changed(text, |value| value["e"] = true.into()),
            r#"{ "a" : 1.50, "b\u00fc}": [ {"c": "x,]"}, 2 ],"d":{}, "e" : true}"#
        );
        assert_eq!(
            changed(text, |value| value["bü}"][0]["c"] = 5.into()),
            r#"{ "a" : 1.50, "b\u00fc}": [ {"c": 5}, 2 ],"d":{}}"#
        );
        let without = |key: &'static str| {
            move |value: &mut Value| {
                value.as_object_mut().expect("an object").shift_remove(key);
            }
        };
        assert_eq!(
            changed(text, without("a")),
            r#"{ "b\u00fc}": [ {"c": "x,]"}, 2 ],"d":{}}"#
        );
        assert_eq!(
            changed(text, without("d")),
            r#"{ "a" : 1.50, "b\u00fc}": [ {"c": "x,]"}, 2 ]}"#
        );
        assert_eq!(changed("{}", |value| value["a"] = 1.into()), r#"{"a":1}"#);
        // Of a key that is there twice the last one counts.
        let twice = r#"{"a": 1, "a": 2}"#;
        assert!(changed(twice, |value| value["a"] = 3.into()).contains(r#""a": 3"#));
    }

    proptest! {
        #[test]
        fn the_result_always_says_what_it_should(
            old in prop::collection::btree_map("[a-d\"\\\\ü{,]", "[a-c\"\\\\,:{}]{0,3}", 0..4),
            new in prop::collection::btree_map("[a-d\"\\\\ü{,]", "[a-c\"\\\\,:{}]{0,3}", 0..4),
            is_pretty: bool,
        ) {
            let (old, new) = (serde_json::json!(old), serde_json::json!(new));
            let text = match is_pretty {
                true => serde_json::to_string_pretty(&old).expect("JSON"),
                false => old.to_string(),
            };
            let page = rewritten(&text, &old, &new);
            let read: Value = serde_json::from_str(&page).expect("JSON");
            prop_assert_eq!(read, new);
        }
    }
}
