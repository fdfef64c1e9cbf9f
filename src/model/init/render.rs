//! Goals as YAML, with the comments that a reader wants: what each was found by, and what those lack that cannot run here. Pure.

use super::Found;
use super::linters::YAMLLINT;
use super::offer::{Part, Proposal};
use super::settle::of_part;
use crate::model::{mask, text};

/// How far goals are indented in a new file.
const INDENT: &str = "  ";
/// How much of a text stands in a comment.
const COMMENT: usize = 160;
/// What is said of files that no agent is to change, and how they are named.
const WHY_PROTECT: &str = "# Whoever may change the tests can make them pass: name what no agent is to change. `evolve validate` says what checks lean on.";
/// What stands between where a goal was found and what it lacks.
pub(super) const NOT_NOW: &str = "; not now: ";

/// Returns a whole goals file. `name` is the repository's.
pub fn file(found: &Found, name: &str) -> String {
    let name = found.name.as_deref().unwrap_or(name);
    let name: String = text::clean_line(name).chars().take(60).collect();
    // Commands and reasons are as long as they are. It counts in the first line only.
    let is_linted = found.is_yamllinted || found.proposals.iter().any(calls_yamllint);
    let begin = match is_linted {
        true => "# yamllint disable-file\n",
        false => "",
    };
    let mut page = format!(
        "\
{begin}# yaml-language-server: $schema=./schemas/goals.schema.json
#
# What should hold in this repository, and the commands that tell. `evolve init` wrote it; change what does not fit, then commit it.
# For help in your editor: mkdir -p schemas && evolve schema goals >schemas/goals.schema.json

version: 1
mission: {}
",
        scalar(&format!("Keep {name} healthy"))
    );
    let tests = found.tests.iter().map(|pattern| quoted(pattern));
    let protect = format!("protect: [{}]", tests.collect::<Vec<_>>().join(", "));
    page.push_str(&match found.is_compiled {
        true => format!(
            "\nevolve:\n  timeout: 20m # how long a check may run: the first build takes its time\n  {WHY_PROTECT}\n  # {protect}\n"
        ),
        false => format!("\n{WHY_PROTECT}\n# evolve:\n#   {protect}\n"),
    });
    page.push_str(
        "
# A check is run by `sh -c` in the repository's root: exit 0 passes; 77, 126 and 127 skip; everything else fails. It only looks:
# what fixes is the agent. The heaviest failing goal is worked on first (weight 1 to 10): code health before architecture, testing,
# documentation and cleanup.
goals:
",
    );
    for part in Part::ALL {
        if of_part(&found.proposals, part).next().is_some() {
            let gap = if part == Part::Health { "" } else { "\n" };
            let of_part: Vec<Proposal> = of_part(&found.proposals, part).cloned().collect();
            let heading = part.heading();
            page.push_str(&format!(
                "{gap}{INDENT}# {heading}\n\n{}",
                goals(&of_part, INDENT)
            ));
        }
    }
    page
}

fn calls_yamllint(one: &Proposal) -> bool {
    one.check.contains(YAMLLINT)
}

/// Returns goals as items of a list, a blank line between two. What cannot run is commented out.
pub fn goals(all: &[Proposal], indent: &str) -> String {
    let goals: Vec<String> = all.iter().map(|one| goal(one, indent)).collect();
    goals.join("\n")
}

fn goal(one: &Proposal, indent: &str) -> String {
    let source = comment(&one.source);
    match &one.missing {
        None => {
            let lines = lines(one).into_iter().map(|line| match line.is_empty() {
                true => "\n".to_owned(),
                false => format!("{indent}{line}\n"),
            });
            format!("{indent}# {source}\n{}", lines.collect::<String>())
        }
        Some(missing) => [head(one, missing, indent)]
            .into_iter()
            .chain(commented(one, indent))
            .map(|line| line + "\n")
            .collect(),
    }
}

/// Returns the line above a goal that is commented out, which says why it is.
pub(super) fn head(one: &Proposal, missing: &str, indent: &str) -> String {
    let source = comment(&one.source);
    // It may be a command that somebody is to run.
    let missing = mask::line(missing, 2 * COMMENT);
    format!("{indent}# {source}{NOT_NOW}{missing}")
}

/// Returns the lines of a goal that is commented out, below the one that says why.
pub(super) fn commented(one: &Proposal, indent: &str) -> Vec<String> {
    let lines = lines(one).into_iter();
    lines
        .map(|line| format!("{indent}# {line}").trim_end().to_owned())
        .collect()
}

/// Returns text that stays on its line of a comment.
fn comment(text: &str) -> String {
    mask::line(text, COMMENT)
}

fn lines(one: &Proposal) -> Vec<String> {
    let mut lines = vec![
        format!("- id: {}", scalar(&one.id)),
        format!("  description: {}", scalar(&one.description)),
    ];
    lines.extend(block("  check", &one.check));
    lines.push(format!("  weight: {}", one.weight));
    let part = one.role.part();
    lines.extend(part.kind().map(|kind| format!("  type: {kind}")));
    lines.push(format!("  pillar: {}", part.word()));
    if one.is_alone {
        lines.push("  alone: true".to_owned());
    }
    if let Some(measured) = &one.measured {
        lines.push("  continuous:".to_owned());
        lines.push(format!("    metric: {}", scalar(measured.metric)));
        lines.push(format!("    threshold: {}", number(measured.floor)));
        lines.push("    direction: at-least".to_owned());
        lines.push(format!("    read: {}", with_gaps(&measured.read)));
        lines.push("    tolerance: 0.2".to_owned());
    }
    lines
}

/// Returns a map on one line with gaps inside of its braces, as Prettier has it.
fn with_gaps(map: &str) -> String {
    let inside = map.strip_prefix('{').and_then(|map| map.strip_suffix('}'));
    inside.map_or(map.to_owned(), |inside| format!("{{ {} }}", inside.trim()))
}

fn number(value: f64) -> String {
    format!("{value}")
}

/// Returns a key with text that may have several lines.
fn block(key: &str, value: &str) -> Vec<String> {
    let value = value.trim_end_matches('\n');
    let mut lines = value.lines();
    // What a block cannot hold as it is stands on one line, spelled out.
    let is_odd = |line: &str| line.ends_with(char::is_whitespace) || line.chars().any(is_spelled);
    let starts_in = value.starts_with(char::is_whitespace) || value.starts_with('\n');
    if !value.contains('\n') || starts_in || lines.clone().any(is_odd) {
        return vec![format!("{key}: {}", scalar(value))];
    }
    let indent: String = key.chars().take_while(|c| *c == ' ').collect();
    let body = lines.by_ref().map(|line| match line.is_empty() {
        true => String::new(),
        false => format!("{indent}  {line}"),
    });
    [format!("{key}: |")].into_iter().chain(body).collect()
}

/// Returns text as a value of YAML on one line: plain where that is safe, else in the quotes that need the least.
pub(in crate::model) fn scalar(value: &str) -> String {
    match is_plain(value) && !is_odd(value) {
        true => value.to_owned(),
        false => quoted(value),
    }
}

/// Returns text as a value of YAML in the quotes that need the least.
fn quoted(value: &str) -> String {
    match () {
        () if is_odd(value) => spelled(value),
        // As Prettier has it.
        () if !value.contains(['"', '\\']) => format!("\"{value}\""),
        () => format!("'{}'", value.replace('\'', "''")),
    }
}

/// Says whether text needs no quotes: it starts with a letter or a path, reads as nothing but text, and holds no mark of YAML's.
fn is_plain(value: &str) -> bool {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let starts =
        value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') || value.starts_with("./");
    let is_marked = [": ", " #", "\t"].iter().any(|mark| value.contains(mark));
    let ends = value.ends_with([':', ' ']);
    starts && !is_marked && !ends && !WORDS.contains(&value.to_lowercase().as_str())
}

/// Says whether text holds what has to be spelled out.
fn is_odd(value: &str) -> bool {
    value.chars().any(|c| c.is_control() || is_spelled(c))
}

/// Says whether a character is taken for something else by one of the two YAMLs, or is not seen.
fn is_spelled(c: char) -> bool {
    matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\t')
        || text::is_invisible(c)
        || (c as u32) > 0xffff
}

/// Returns text in double quotes with everything odd spelled out.
fn spelled(value: &str) -> String {
    let letters = value.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control() || is_spelled(c) => format!("\\U{:08X}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", letters.collect::<String>())
}
