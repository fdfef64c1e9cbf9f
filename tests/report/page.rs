//! What every page has to be, whatever it tells.

use std::collections::HashSet;

use roxmltree::{Document, Node, ParsingOptions};

/// Parses a page. It is well-formed enough for a parser that forgives nothing.
pub fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(page, options).unwrap_or_else(|cause| panic!("{cause}\n{page}"))
}

pub fn text(node: Node<'_, '_>) -> String {
    let words = node.descendants().filter_map(|node| match node.is_text() {
        true => node.text(),
        false => None,
    });
    words.collect::<String>().trim().to_owned()
}

pub fn elements<'a, 'i>(page: &'a Document<'i>, name: &str) -> Vec<Node<'a, 'i>> {
    let all = page.descendants();
    all.filter(|node| node.is_element() && node.tag_name().name() == name)
        .collect()
}

pub fn has_class(node: &Node<'_, '_>, class: &str) -> bool {
    let classes = node.attribute("class").unwrap_or_default();
    classes.split(' ').any(|one| one == class)
}

/// Asserts what every page has to be, whatever it tells: readable without script, style and network, and by ear.
#[track_caller]
pub fn assert_well_built(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>\n"), "{page}");
    let page = parsed(page);
    assert_eq!(page.root_element().attribute("lang"), Some("en"));
    assert_eq!(elements(&page, "h1").len(), 1);
    let mut level = 0;
    for node in page.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        if let Some(depth) = name.strip_prefix('h').and_then(|it| it.parse::<u32>().ok()) {
            assert!(
                depth <= level + 1,
                "{name} follows a heading of level {level}"
            );
            assert_ne!(text(node), "", "an empty {name}");
            level = depth;
        }
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            assert!(!name.starts_with("on"), "{name}={value}");
            let leads = ["href", "src", "action", "data", "poster", "srcset"].contains(&name);
            let is_within = value.starts_with('#') || value == "data:,";
            assert!(!leads || is_within, "{name} leads to {value}");
        }
    }
    for name in ["script", "img", "iframe", "object", "embed", "form", "base"] {
        assert_eq!(elements(&page, name).len(), 0, "{name}");
    }
    assert_ids(&page);
    for head in elements(&page, "th") {
        assert!(
            head.attribute("scope").is_some(),
            "no scope: {}",
            text(head)
        );
        assert_ne!(text(head), "");
    }
    for table in elements(&page, "table") {
        let first = table.first_element_child().unwrap();
        assert_eq!(first.tag_name().name(), "caption");
        assert_ne!(text(first), "");
    }
    for node in page.descendants().filter(Node::is_element) {
        let tones = [
            "good", "bad", "odd", "faint", "pass", "fail", "skip", "near", "mark",
        ];
        let is_drawn = node.ancestors().any(|it| it.tag_name().name() == "svg");
        if !is_drawn && tones.iter().any(|tone| has_class(&node, tone)) {
            assert_ne!(text(node), "", "a colour without words: {node:?}");
        }
    }
    for path in elements(&page, "path") {
        // Without the style a line would be an area.
        assert_eq!(path.attribute("fill"), Some("none"));
    }
    for drawing in elements(&page, "svg") {
        assert_eq!(drawing.attribute("role"), Some("img"));
        for name in ["title", "desc"] {
            let own = drawing.children().find(|it| it.tag_name().name() == name);
            assert_ne!(text(own.unwrap()), "", "{name} of a drawing");
        }
    }
}

/// Asserts that each id is there once, and each that is named is there.
fn assert_ids(page: &Document<'_>) {
    let mut ids = HashSet::new();
    for id in page.descendants().filter_map(|node| node.attribute("id")) {
        assert!(ids.insert(id), "{id} is there twice");
    }
    for node in page.descendants().filter(Node::is_element) {
        let link = node
            .attribute("href")
            .and_then(|link| link.strip_prefix('#'));
        let labels = node.attribute("aria-labelledby").unwrap_or_default();
        for id in link.into_iter().chain(labels.split_whitespace()) {
            assert!(ids.contains(id), "{id} is nowhere");
        }
    }
}
