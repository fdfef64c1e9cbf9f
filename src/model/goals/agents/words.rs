//! Words of an agent's entry: programs, arguments with placeholders, variables, patterns. Pure.

use regex::Regex;

use crate::model::agent::{Arg, PLACEHOLDERS, Pointer};
use crate::model::goals::fields::{self, Fields, Found};
use crate::model::goals::node::{Complaint, Node, Shape};

/// Reads a list, of whatever.
pub fn list(node: &Node) -> Result<Vec<Node>, Complaint> {
    match &node.shape {
        Shape::List(items) => Ok(items.clone()),
        Shape::Nothing
        | Shape::Flag(_)
        | Shape::Whole(_)
        | Shape::Fraction(_)
        | Shape::Text(_)
        | Shape::Map(_) => Err(fields::expected(node, "a list").hint("write [one, another]")),
    }
}

/// Reads a list, or one item as a list of it.
pub fn one_or_list(node: &Node) -> Result<Vec<Node>, Complaint> {
    Ok(list(node).unwrap_or_else(|_| vec![node.clone()]))
}

/// Reads `programs`: one name or several.
pub fn programs(fields: &Fields<'_>, found: &mut Found) -> Option<Vec<String>> {
    let node = fields.node("programs")?;
    let items = fields.optional("programs", &one_or_list, found)?;
    if items.is_empty() {
        found.report(
            Complaint::new(node.place, "programs: the list is empty").hint("name the program"),
        );
    }
    let names = items.iter().filter_map(|item| {
        let name = fields::text(item).map_err(|complaint| complaint.below("programs"));
        found.take(name)
    });
    Some(names.collect())
}

/// Reads `command`: the program and its arguments in one list.
pub fn command(fields: &Fields<'_>, found: &mut Found) -> (Option<Vec<String>>, Option<Vec<Arg>>) {
    for key in ["programs", "args"] {
        if let Some(node) = fields.node(key) {
            let message =
                format!("{key} stands beside command, which has the program and its arguments");
            found.report(Complaint::new(node.place, message).hint("remove one of the two"));
        }
    }
    let Some(items) = fields.optional("command", &list, found) else {
        return (None, None);
    };
    let Some((program, rest)) = items.split_first() else {
        let place = fields.node("command").map(|node| node.place);
        found.complaints.extend(place.map(|place| {
            Complaint::new(place, "command: the list is empty").hint("name the program")
        }));
        return (None, None);
    };
    let program = fields::text(program).map_err(|complaint| complaint.below("command"));
    let args = read_args(rest, "command", found);
    (found.take(program).map(|program| vec![program]), Some(args))
}

/// Reads a list of arguments, each a word or a group of words.
pub fn args(fields: &Fields<'_>, key: &str, found: &mut Found) -> Option<Vec<Arg>> {
    let items = fields.optional(key, &list, found)?;
    Some(read_args(&items, key, found))
}

fn read_args(items: &[Node], key: &str, found: &mut Found) -> Vec<Arg> {
    let read = |item: &Node| -> Result<Arg, Complaint> {
        match &item.shape {
            Shape::List(words) => words
                .iter()
                .map(argument)
                .collect::<Result<_, _>>()
                .map(Arg::Group),
            Shape::Nothing
            | Shape::Flag(_)
            | Shape::Whole(_)
            | Shape::Fraction(_)
            | Shape::Text(_)
            | Shape::Map(_) => argument(item).map(Arg::Word),
        }
    };
    let args = items
        .iter()
        .map(|item| read(item).map_err(|complaint| complaint.below(key)));
    args.filter_map(|arg| found.take(arg)).collect()
}

/// Reads one argument; it may be empty.
fn argument(node: &Node) -> Result<String, Complaint> {
    match &node.shape {
        Shape::Text(text) if text.is_empty() => Ok(String::new()),
        _ => placed(node),
    }
}

/// Reads text whose placeholders are known.
pub fn placed(node: &Node) -> Result<String, Complaint> {
    let text = fields::text(node)?;
    let pieces = text.split('{').skip(1);
    for name in pieces.filter_map(|piece| Some(piece.split_once('}')?.0)) {
        // Anything else in braces is the program's own.
        if let (false, Some(known)) = (
            PLACEHOLDERS.contains(&name),
            fields::nearest(name, &PLACEHOLDERS),
        ) {
            let message = format!(
                "unknown placeholder {}",
                fields::quote(&format!("{{{name}}}"))
            );
            return Err(
                Complaint::new(node.place, message).hint(format!("did you mean {{{known}}}?"))
            );
        }
    }
    Ok(text)
}

/// Reads `env`: names and their values.
pub fn variables(fields: &Fields<'_>, found: &mut Found) -> Option<Vec<(String, String)>> {
    let node = fields.node("env")?;
    let Shape::Map(entries) = &node.shape else {
        let complaint = fields::expected(node, "a mapping of names to values");
        found.report(complaint.below("env").hint("write NAME: value"));
        return None;
    };
    let mut variables: Vec<(String, String)> = Vec::new();
    for entry in entries {
        let is_repeated = variables.iter().any(|(name, _)| *name == entry.key);
        let value = match &entry.value.shape {
            Shape::Text(text) if text.is_empty() => Ok(String::new()),
            _ => placed(&entry.value),
        };
        let value =
            found.take(value.map_err(|complaint| complaint.below(&format!("env: {}", entry.key))));
        if !fields::is_variable(&entry.key) {
            let message = format!(
                "env: {} is no name of a variable",
                fields::quote(&entry.key)
            );
            found.report(Complaint::new(entry.place, message).hint("write letters, digits and _"));
        } else if is_repeated {
            let message = format!("env: {} stands here again", fields::quote(&entry.key));
            found.report(Complaint::new(entry.place, message).hint("remove one of the two"));
        } else {
            variables.extend(value.map(|value| (entry.key.clone(), value)));
        }
    }
    Some(variables)
}

/// Reads `leaves`: patterns as in a .gitignore.
pub fn patterns(fields: &Fields<'_>, found: &mut Found) -> Option<Vec<String>> {
    fields.node("leaves")?;
    let mut patterns = Vec::new();
    for (place, pattern) in fields::texts(fields, "leaves", found) {
        if pattern.starts_with(['!', '#']) || pattern.contains(['\n', '\r']) {
            let message = format!("leaves: {} is no pattern", fields::quote(&pattern));
            let hint = "write one as in a .gitignore, such as \".cache/\"";
            found.report(Complaint::new(place, message).hint(hint));
        } else {
            patterns.push(pattern);
        }
    }
    Some(patterns)
}

/// Reads a regular expression.
pub fn regex(node: &Node) -> Result<String, Complaint> {
    let pattern = fields::text(node)?;
    match Regex::new(&pattern) {
        Ok(_) => Ok(pattern),
        Err(cause) => {
            let said = cause.to_string();
            let why = said.lines().next_back().unwrap_or("").trim();
            let why = why.strip_prefix("error: ").unwrap_or(why);
            Err(
                Complaint::new(node.place, format!("not a regular expression: {why}"))
                    .hint("put a \\ before a character that stands for itself"),
            )
        }
    }
}

/// Reads a JSON Pointer, in which `*` is every element.
pub fn pointer(node: &Node) -> Result<Pointer, Complaint> {
    let text = fields::text(node)?;
    Pointer::parse(&text).map_err(|message| {
        Complaint::new(
            node.place,
            format!("{} is no place: {message}", fields::quote(&text)),
        )
        .hint("write it as in /message/content/*/text")
    })
}
