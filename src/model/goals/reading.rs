//! Where a goal's number stands: the `read:` block of a goal, one source with what belongs beside it. Pure.

use std::path::{Component, Path};

use globset::GlobBuilder;
use regex::Regex;

use super::fields::{self, Fields, Found, Keys};
use super::node::{Complaint, Node, Place, Shape};
use crate::model::reading::{self, Reading, cobertura, criterion, hyperfine, junit, lcov, sarif};

/// A key of which one has to stand under `read:`.
struct Source {
    key: &'static str,
    /// The keys that say more about it.
    beside: &'static [&'static str],
    read: fn(&Fields<'_>, &mut Found) -> Option<Reading>,
}

const SOURCES: &[Source] = &[
    Source {
        key: "json",
        beside: &[],
        read: |fields, found| fields.optional("json", &json, found),
    },
    Source {
        key: "regex",
        beside: &[],
        read: |fields, found| fields.optional("regex", &pattern, found),
    },
    Source {
        key: "lcov",
        beside: &["of"],
        read: |fields, found| {
            let of = one_of(fields, "of", lcov::WORDS, found);
            let files = fields.optional("lcov", &files, found)?;
            Some(Reading::Lcov { files, of })
        },
    },
    Source {
        key: "cobertura",
        beside: &["of"],
        read: |fields, found| {
            let of = one_of(fields, "of", cobertura::WORDS, found);
            let files = fields.optional("cobertura", &files, found)?;
            Some(Reading::Cobertura { files, of })
        },
    },
    Source {
        key: "junit",
        beside: &["of"],
        read: |fields, found| {
            let of = one_of(fields, "of", junit::WORDS, found);
            let files = fields.optional("junit", &files, found)?;
            Some(Reading::Junit { files, of })
        },
    },
    Source {
        key: "sarif",
        beside: &["level"],
        read: |fields, found| {
            let level = one_of(fields, "level", sarif::WORDS, found);
            let files = fields.optional("sarif", &files, found)?;
            Some(Reading::Sarif { files, level })
        },
    },
    Source {
        key: "hyperfine",
        beside: &["of", "command"],
        read: |fields, found| {
            let of = one_of(fields, "of", hyperfine::WORDS, found);
            let command = fields.optional("command", &fields::text, found);
            let file = fields.optional("hyperfine", &file, found)?.into();
            Some(Reading::Hyperfine { file, of, command })
        },
    },
    Source {
        key: "criterion",
        beside: &["of"],
        read: |fields, found| {
            let of = one_of(fields, "of", criterion::WORDS, found);
            let benchmark = fields.optional("criterion", &benchmark, found)?;
            Some(Reading::Criterion { benchmark, of })
        },
    },
];

/// The keys that are told to belong under `read:` where they stand elsewhere.
pub const READ_KEYS: &[(&str, &str)] = &[
    ("json", "under read:"),
    ("regex", "under read:"),
    ("lcov", "under read:"),
    ("cobertura", "under read:"),
    ("junit", "under read:"),
    ("sarif", "under read:"),
    ("hyperfine", "under read:"),
    ("criterion", "under read:"),
    ("of", "under read:"),
    ("level", "under read:"),
    ("command", "under read:"),
];

const READ: Keys = Keys {
    owner: "read",
    known: &[
        "json",
        "regex",
        "lcov",
        "cobertura",
        "junit",
        "sarif",
        "hyperfine",
        "criterion",
        "of",
        "level",
        "command",
    ],
    free: &[],
    elsewhere: &[],
};

/// The keys that say more about a source.
const BESIDE: &[&str] = &["of", "level", "command"];

const FILE_OR_STDOUT: &str = "name a file below the repository's root, or - for stdout";
const FILE_OR_GLOB: &str =
    "name a file below the repository's root, or several as in reports/*.xml";
const ONE_FILE: &str = "name one file below the repository's root";

/// Reads where a number stands. `None` if that is not clear.
pub fn read_reading(node: &Node, found: &mut Found) -> Option<Reading> {
    if let Shape::Text(_) = node.shape {
        found.report(
            Complaint::new(
                node.place,
                format!("read has to be a mapping, not {}", fields::describe(node)),
            )
            .hint("write {json: \"file.json#/pointer\"}, {regex: 'pattern'} or {lcov: file}"),
        );
        return None;
    }
    let before = found.complaints.len();
    let fields = Fields::of(node, &READ, found)?;
    let is_given = |source: &&Source| fields.node(source.key).is_some();
    let given: Vec<&Source> = SOURCES.iter().filter(is_given).collect();
    match &given[..] {
        [source] => {
            report_strangers(&fields, source, found);
            (source.read)(&fields, found)
        }
        // A source whose name is misspelt was reported with what it may mean.
        [] if found.complaints.len() > before => None,
        [] => {
            let hint = format!(
                "add one of {}, or leave read out to take the last number on stdout",
                keys(SOURCES.iter())
            );
            found.report(Complaint::new(node.place, "read names no source").hint(hint));
            None
        }
        [first, second, ..] => {
            let place = fields
                .node(second.key)
                .map_or(node.place, |node| node.place);
            let message = format!("read has both {} and {}", first.key, second.key);
            found.report(Complaint::new(place, message).hint("keep the one that finds the number"));
            None
        }
    }
}

/// Reports keys that say nothing about this source.
fn report_strangers(fields: &Fields<'_>, source: &Source, found: &mut Found) {
    for key in BESIDE.iter().filter(|key| !source.beside.contains(key)) {
        let Some(node) = fields.node(key) else {
            continue;
        };
        let homes = SOURCES.iter().filter(|home| home.beside.contains(key));
        let hint = format!("remove it; it belongs beside {}", keys(homes));
        let message = format!("{key} says nothing beside {}", source.key);
        found.report(Complaint::new(node.place, message).hint(hint));
    }
}

fn keys<'s>(sources: impl Iterator<Item = &'s Source>) -> String {
    let keys: Vec<&str> = sources.map(|source| source.key).collect();
    keys.join(", ")
}

fn one_of<T: Copy + Default>(
    fields: &Fields<'_>,
    key: &str,
    words: &[(&str, T)],
    found: &mut Found,
) -> T {
    let word = |node: &Node| {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let all = format!("write one of {}", names.join(", "));
        fields::word(node, words).map_err(|complaint| match complaint.hint {
            Some(_) => complaint,
            None => complaint.hint(all),
        })
    };
    fields.optional(key, &word, found).unwrap_or_default()
}

/// Reads a path or a glob.
fn files(node: &Node) -> Result<String, Complaint> {
    let path = path(node, FILE_OR_GLOB)?;
    if !reading::is_glob(&path) {
        return Ok(path);
    }
    match GlobBuilder::new(&path).literal_separator(true).build() {
        Ok(_) => Ok(path),
        Err(cause) => {
            let message = format!("not a glob: {}", cause.kind());
            Err(Complaint::new(node.place, message).hint("write it as in reports/**/*.xml"))
        }
    }
}

/// Reads the path of one file.
fn file(node: &Node) -> Result<String, Complaint> {
    let path = path(node, ONE_FILE)?;
    match path.contains('*') {
        true => Err(Complaint::new(node.place, "only one file is read here").hint(ONE_FILE)),
        false => Ok(path),
    }
}

fn path(node: &Node, hint: &str) -> Result<String, Complaint> {
    let path = fields::text(node).map_err(|complaint| match complaint.hint {
        Some(_) => complaint,
        None => complaint.hint(hint),
    })?;
    check_path(&path, node.place, hint)?;
    if path.ends_with('/') {
        let message = format!("{} is a folder", fields::quote(&path));
        return Err(Complaint::new(node.place, message).hint(hint));
    }
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    match parts.is_empty() {
        true => Err(Complaint::new(node.place, "names the repository's root").hint(hint)),
        false => Ok(parts.join("/")),
    }
}

/// Reads the id of a benchmark, as criterion prints it.
fn benchmark(node: &Node) -> Result<String, Complaint> {
    let id = fields::text(node)?;
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    match id.split('/').all(is_plain) && !id.ends_with(".json") {
        true => Ok(id),
        false => {
            let message = format!("{} is no id of a benchmark", fields::quote(&id));
            Err(Complaint::new(node.place, message)
                .hint("write it as criterion prints it, as in group/function/input"))
        }
    }
}

fn pattern(node: &Node) -> Result<Reading, Complaint> {
    let pattern = fields::text(node)?;
    match Regex::new(&pattern) {
        Ok(_) => Ok(Reading::Regex(pattern)),
        Err(cause) => {
            let text = cause.to_string();
            let reason = text.lines().last().unwrap_or("").trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            let message = format!("not a regular expression: {reason}");
            // In double quotes YAML makes another character of it, or none.
            let is_escaped = |c: char| c == '\\' || c.is_control();
            Err(
                Complaint::new(node.place, message).hint(match pattern.contains(is_escaped) {
                    true => "put it in single quotes, in which a backslash stays one",
                    false => {
                        r"a backslash before it makes a character stand for itself, as in '\('"
                    }
                }),
            )
        }
    }
}

fn json(node: &Node) -> Result<Reading, Complaint> {
    let text = fields::text(node)?;
    let Some((file, pointer)) = text.split_once('#') else {
        let message = format!("{} has no # between file and pointer", fields::quote(&text));
        return Err(Complaint::new(node.place, message)
            .hint("write \"target/cov.json#/data/0/total\", or \"-#/total\" for stdout"));
    };
    check_pointer(file, pointer, node.place)?;
    let file = match file {
        "-" => None,
        "" => {
            return Err(
                Complaint::new(node.place, "no file stands before the #").hint(FILE_OR_STDOUT)
            );
        }
        file => {
            check_path(file, node.place, FILE_OR_STDOUT)?;
            Some(file.into())
        }
    };
    Ok(Reading::Json {
        file,
        pointer: pointer.to_string(),
    })
}

fn check_pointer(file: &str, pointer: &str, place: Place) -> Result<(), Complaint> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        let message = format!(
            "the pointer {} does not begin with /",
            fields::quote(pointer)
        );
        let better = format!("{file}#/{}", pointer.replace('.', "/"));
        return Err(
            Complaint::new(place, message).hint(format!("write {}", fields::quote(&better)))
        );
    }
    let mut rest = pointer.split('~').skip(1);
    match rest.all(|part| part.starts_with(['0', '1'])) {
        true => Ok(()),
        false => Err(
            Complaint::new(place, "a ~ in a pointer stands before 0 or 1")
                .hint("write ~0 for ~ and ~1 for /"),
        ),
    }
}

fn check_path(file: &str, place: Place, hint: &str) -> Result<(), Complaint> {
    let wrong = |message: &str| Err(Complaint::new(place, message).hint(hint));
    let mut parts = Path::new(file).components();
    match file {
        _ if parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) => Ok(()),
        file if file.starts_with('/') => wrong("an absolute path cannot be read"),
        _ => wrong("a path with .. leads out of the repository"),
    }
}
