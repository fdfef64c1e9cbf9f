//! XML reports: parsed with what real tools write in mind, and within bounds. Pure.

use std::borrow::Cow;

use roxmltree::{Document, Node, ParsingOptions};

use super::{Report, finite, printed, shown};

/// The most nodes of a document; each takes some 70 bytes of memory.
const NODES: u32 = 2 << 20;

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
