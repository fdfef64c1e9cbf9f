//! YAML bytes as one tree of values, each with its place. Structure and places come from one parser (`tree`), values from
//! the other (`values`), and where the two disagree the file is refused. Pure.
//!
//! Refused before any value is read: what is too large, nested too deep, not UTF-8, several documents, or grows by aliases.

use super::MAX_BYTES;
use super::node::{Complaint, Entry, Node, Place, Shape};
use super::tree::{self, Branch, Tree};
use super::values::Value;

/// Reads `bytes` as one YAML document. `None` is a document without any value.
pub fn parse(bytes: &[u8]) -> Result<Option<Node>, Complaint> {
    let text = text_of(bytes)?;
    let Some(tree) = tree::build(text)? else {
        return Ok(None);
    };
    let value: Value = serde_yaml::from_str(text).map_err(|cause| refused(text, &cause))?;
    zip(&tree, value).map(Some)
}

/// Returns the text that is parsed: without a byte order mark, and only if it can be YAML at all.
fn text_of(bytes: &[u8]) -> Result<&str, Complaint> {
    let start = Place::new(1, 1);
    if bytes.len() > MAX_BYTES {
        let message = format!(
            "the file has {} KiB, more than the {} KiB that are read",
            bytes.len().div_ceil(1024),
            MAX_BYTES / 1024
        );
        return Err(Complaint::new(start, message).hint("move long checks into scripts"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|cause| {
        let valid = &bytes[..cause.valid_up_to()];
        let message = format!("byte 0x{:02x} is not UTF-8", bytes[valid.len()]);
        Complaint::new(place_after(&String::from_utf8_lossy(valid)), message)
            .hint("save the file as UTF-8")
    })?;
    match text.char_indices().find(|(_, c)| is_forbidden(*c)) {
        None => Ok(text),
        Some((index, found)) => Err(Complaint::new(
            place_after(&text[..index]),
            format!(
                "the control character U+{:04X} cannot stand in YAML",
                found as u32
            ),
        )
        .hint("delete it")),
    }
}

fn is_forbidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')
}

/// Returns the place of whatever follows `text`.
fn place_after(text: &str) -> Place {
    let unified = text.replace("\r\n", "\n").replace('\r', "\n");
    let last = unified.rsplit('\n').next().unwrap_or("");
    Place::new(unified.matches('\n').count() + 1, last.chars().count() + 1)
}

/// Turns an error of the parser of values into a complaint. It reads YAML 1.1, so it can refuse what the other one takes.
fn refused(text: &str, cause: &serde_yaml::Error) -> Complaint {
    // Its count of lines is of no use: to YAML 1.1 a line ends in more ways than to anybody else. Its index is in bytes.
    let before = |index: usize| String::from_utf8_lossy(&text.as_bytes()[..index.min(text.len())]);
    let place = cause
        .location()
        .map_or(Place::new(1, 1), |at| place_after(&before(at.index())));
    let text = cause.to_string();
    let message = text.split(" at line ").next().unwrap_or(&text);
    Complaint::new(place, format!("not valid YAML: {message}"))
        .hint("put the text in quotes, or after | on lines of its own")
}

/// Puts the values into the skeleton.
fn zip(tree: &Tree, value: Value) -> Result<Node, Complaint> {
    let place = tree.place;
    let mut raw = String::new();
    let shape = match (tree.branch.as_ref(), value) {
        (Branch::List(trees), Value::List(values)) if trees.len() == values.len() => {
            let nodes = trees.iter().zip(values).map(|(t, v)| zip(t, v));
            Shape::List(nodes.collect::<Result<_, _>>()?)
        }
        (Branch::Map(trees), Value::Map(values)) if trees.len() == values.len() => {
            let entries = trees.iter().zip(values).map(|(t, (_, v))| entry(t, v));
            Shape::Map(entries.collect::<Result<_, _>>()?)
        }
        (Branch::Scalar(text), Value::Scalar(shape)) => {
            raw.clone_from(text);
            shape
        }
        (Branch::List(_) | Branch::Map(_) | Branch::Scalar(_), _) => {
            return Err(Complaint::new(place, "this can be read in two ways")
                .hint("put the text in quotes"));
        }
    };
    Ok(Node { place, raw, shape })
}

fn entry((key, tree): &(Tree, Tree), value: Value) -> Result<Entry, Complaint> {
    match key.branch.as_ref() {
        Branch::Scalar(name) if name != "<<" => Ok(Entry {
            key: name.clone(),
            place: key.place,
            value: zip(tree, value)?,
        }),
        Branch::Scalar(_) => Err(Complaint::new(key.place, "a merge key (<<) is not read")
            .hint("write the keys out; an alias (*) that stands for a whole value is read")),
        Branch::List(_) | Branch::Map(_) => {
            Err(Complaint::new(key.place, "a key has to be a word")
                .hint("put text that starts with { or [ in quotes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_the_parser_of_values_refuses_has_the_place_that_people_see() {
        for odd in ["a", "\u{2028}", "\u{85}\u{2029}", "ü\u{1f600}"] {
            let text = format!("# {odd}\na: b\nc: !!x: \u{2028}.\n{}", "d: e\n".repeat(9));
            let complaint = parse(text.as_bytes()).expect_err("YAML 1.1 ends a line there");
            assert_eq!(complaint.place, Place::new(4, 1), "{odd:?}");
        }
    }
}
