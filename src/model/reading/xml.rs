//! XML reports: parsed with what real tools write in mind, and within bounds. Pure.

use std::borrow::Cow;
use std::collections::HashSet;

use roxmltree::{Document, Node, ParsingOptions};

use super::{Report, finite, printed, shown};

/// The most nodes of a document; each takes some 70 bytes of memory.
const NODES: u32 = 2 << 20;
/// The most attributes of an element. The parser compares each with every other.
const ATTRIBUTES: usize = 128;
/// The most prefixes of namespaces, which the parser compares in the same way.
const PREFIXES: usize = 16;

/// Returns the text of a report as XML allows it: some test runners write the colours of a terminal as they are.
pub fn clean(report: &Report) -> Cow<'_, str> {
    let is_fine = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    let text = report.text.trim_start_matches('\u{feff}').trim_start();
    match text.chars().all(is_fine) {
        true => Cow::Borrowed(text),
        false => text
            .chars()
            .map(|c| if is_fine(c) { c } else { ' ' })
            .collect(),
    }
}

/// Parses what `clean` returned. A document type is passed over, but one that defines entities is refused: no report needs
/// them, and a few lines of them can stand for gigabytes.
pub fn parse<'t>(report: &Report, text: &'t str) -> Result<Document<'t>, String> {
    let name = report.quoted();
    if defines_entities(text) {
        return Err(format!("{name} defines entities, which are not read"));
    }
    refuse_slow(text).map_err(|what| format!("{name} has more than {what}, and is not read"))?;
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|cause| match text.is_empty() {
        true => format!("{name} is empty"),
        false => format!("{name} is not XML: {cause}"),
    })
}

/// Says whether the document type brings declarations of its own.
fn defines_entities(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let end = match rest {
            comment if comment.starts_with("<!--") => "-->",
            instruction if instruction.starts_with("<?") => "?>",
            doctype if doctype.starts_with("<!DOCTYPE") => {
                let mut quote = None;
                let end = doctype.chars().find(|c| match (quote, c) {
                    (Some(open), c) if open == *c => {
                        quote = None;
                        false
                    }
                    (Some(_), _) => false,
                    (None, '"' | '\'') => {
                        quote = Some(*c);
                        false
                    }
                    (None, c) => matches!(c, '[' | '>'),
                });
                return end == Some('[');
            }
            _ => return false,
        };
        match rest.split_once(end) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
}

/// Refuses what would keep the parser busy for hours. A text that is no XML is left to the parser.
fn refuse_slow(text: &str) -> Result<(), String> {
    let mut prefixes = HashSet::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        let skipped = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((_, end)) = skipped.iter().find(|(begin, _)| rest.starts_with(begin)) {
            rest = rest.split_once(end).map_or("", |(_, after)| after);
            continue;
        }
        let mut attributes = 0;
        // Of what stands between two attributes the last word is the name of the second.
        loop {
            let Some(at) = rest.find(['"', '\'', '>']) else {
                return Ok(());
            };
            let (before, quote) = (&rest[..at], &rest[at..=at]);
            rest = &rest[at + 1..];
            if quote == ">" {
                break;
            }
            attributes += 1;
            let name = before.trim_end_matches(|c: char| c == '=' || c.is_whitespace());
            let name = name.rsplit(char::is_whitespace).next().unwrap_or_default();
            if name.starts_with("xmlns") {
                prefixes.insert(name);
            }
            if attributes > ATTRIBUTES {
                return Err(format!("{ATTRIBUTES} attributes in an element"));
            }
            if prefixes.len() > PREFIXES {
                return Err(format!("{PREFIXES} prefixes of namespaces"));
            }
            rest = rest.split_once(quote).map_or("", |(_, after)| after);
        }
    }
    Ok(())
}

/// Returns the number that an attribute holds, none if there is none. Thousands may be marked: `1,234.5`.
pub fn number(node: Node<'_, '_>, attribute: &str, name: &str) -> Result<Option<f64>, String> {
    let text = node.attribute(attribute).unwrap_or_default().trim();
    if text.is_empty() {
        return Ok(None);
    }
    let what = format!("{attribute}=\"{}\" in {name}", shown(text));
    match printed::number(text) {
        Some(number) => finite(number, &what).map(Some),
        None => Err(format!("{what} is no number")),
    }
}

/// Returns the whole number that an attribute holds, none if there is none.
pub fn whole(node: Node<'_, '_>, attribute: &str, name: &str) -> Result<Option<u64>, String> {
    let Some(number) = number(node, attribute, name)? else {
        return Ok(None);
    };
    match number >= 0.0 && number.fract() == 0.0 && number < 1e15 {
        true => Ok(Some(number as u64)),
        false => Err(format!("{attribute}=\"{number}\" in {name} is no count")),
    }
}
