//! Reading one value as the type that is wanted, and one mapping key by key; what does not fit becomes a complaint with a hint. Pure.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::node::{Complaint, Entry, Node, Place, Shape};
use crate::model::duration;

/// Keys that existing files have, at the top and in goals, and that mean nothing here.
pub const FREE: &[&str] = &["vision", "tagline", "pillars", "added", "affects_files"];

/// Reads one value, or says what is wrong with it. The complaint leaves out the key: whoever asked knows it.
pub type Reader<'r, T> = &'r dyn Fn(&Node) -> Result<T, Complaint>;

/// The most problems that are kept of one file: more help nobody, and each carries its source line.
const MOST: usize = 100;

/// All that was found wrong so far.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of discovery.
    pub complaints: Vec<Complaint>,
}

impl Found {
    /// Notes a complaint.
    pub fn report(&mut self, complaint: Complaint) {
        if self.complaints.len() < MOST {
            self.complaints.push(complaint);
        }
    }

    /// Returns the value of `result`, or notes its complaint.
    pub fn take<T>(&mut self, result: Result<T, Complaint>) -> Option<T> {
        result.map_err(|complaint| self.report(complaint)).ok()
    }
}

/// The keys that a mapping may have.
pub struct Keys {
    /// What holds the keys, for messages: `a goal`, `evolve`.
    pub owner: &'static str,
    /// The keys that are read.
    pub known: &'static [&'static str],
    /// Keys that may stand there and mean nothing.
    pub free: &'static [&'static str],
    /// Keys that are often put here, and where they belong.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

/// A mapping whose keys have been checked.
pub struct Fields<'n> {
    entries: &'n [Entry],
    /// The keys that it may have.
    known: &'static [&'static str],
}

impl<'n> Fields<'n> {
    /// Takes `node` as a mapping with `keys`; reports unknown and repeated ones.
    pub fn of(node: &'n Node, keys: &Keys, found: &mut Found) -> Option<Fields<'n>> {
        let Shape::Map(entries) = &node.shape else {
            let message = format!("{} has to be a mapping, not {}", keys.owner, describe(node));
            let example = keys.known.first().copied().unwrap_or("key");
            found.report(
                Complaint::new(node.place, message).hint(format!("write keys, as in {example}: …")),
            );
            return None;
        };
        let mut seen = std::collections::HashMap::new();
        for entry in entries {
            match seen.insert(entry.key.as_str(), entry.place) {
                Some(first) => found.report(repeated(entry, first)),
                None => found.report_unknown(entry, keys),
            }
        }
        Some(Fields {
            entries,
            known: keys.known,
        })
    }

    /// Says whether an unknown key is told to be `key`, so that nothing more need be said of its absence.
    fn is_mistyped(&self, key: &str) -> bool {
        let mut unknown = self.entries.iter().map(|entry| entry.key.as_str());
        unknown.any(|it| !self.known.contains(&it) && nearest(it, self.known) == Some(key))
    }

    /// Returns the value of `key`.
    pub fn node(&self, key: &str) -> Option<&'n Node> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(&entry.value)
    }

    /// Reads `key` if it is there.
    pub fn optional<T>(&self, key: &str, read: Reader<'_, T>, found: &mut Found) -> Option<T> {
        let node = self.node(key)?;
        if let Shape::Nothing = node.shape {
            found.report(
                Complaint::new(node.place, format!("{key} has no value"))
                    .hint("give it one, or remove the line"),
            );
            return None;
        }
        found.take(read(node).map_err(|complaint| Complaint {
            message: format!("{key}: {}", complaint.message),
            ..complaint
        }))
    }

    /// Reads `key`, which has to be there; `owner` and `place` say where it is missing.
    pub fn required<T>(
        &self,
        key: &str,
        read: Reader<'_, T>,
        owner: &str,
        place: Place,
        found: &mut Found,
    ) -> Option<T> {
        if self.node(key).is_none() && !self.is_mistyped(key) {
            found.report(
                Complaint::new(place, format!("{owner} has no {key}"))
                    .hint(format!("add a line {key}: …")),
            );
        }
        self.optional(key, read, found)
    }
}

impl From<Complaint> for Found {
    fn from(complaint: Complaint) -> Found {
        Found {
            complaints: vec![complaint],
        }
    }
}

impl Found {
    fn report_unknown(&mut self, entry: &Entry, keys: &Keys) {
        let key = entry.key.as_str();
        if keys.known.contains(&key) || keys.free.contains(&key) || key.starts_with("x-") {
            return;
        }
        let home = keys.elsewhere.iter().find(|(name, _)| *name == key);
        let hint = match (home, nearest(key, keys.known)) {
            (Some((_, home)), _) => format!("{key} belongs {home}"),
            (None, Some(known)) => format!("did you mean {known}?"),
            (None, None) => format!("known keys are {}", keys.known.join(", ")),
        };
        let message = format!("unknown key {}", quote(key));
        self.report(Complaint::new(entry.place, message).hint(hint));
    }
}

/// Says that the key of `entry` was given before.
pub fn repeated(entry: &Entry, first: Place) -> Complaint {
    let message = format!(
        "the key {} stands here again, first on line {}",
        quote(&entry.key),
        first.line
    );
    Complaint::new(entry.place, message).hint("remove one of the two")
}

/// Returns the word of `known` that somebody who wrote `word` may have meant.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.chars().count() > 40 {
        return None;
    }
    let word = word.to_lowercase().replace(['_', ' '], "-");
    known
        .iter()
        .map(|candidate| {
            let plain = candidate.replace('_', "-");
            (strsim::jaro_winkler(&word, &plain), *candidate)
        })
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Returns the goal's id that somebody who wrote `word` may have meant: one that differs by some letters, or of which a part
/// begins with the word or nearly is it; else the one that is most like it.
pub fn nearest_id<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = word.to_lowercase().replace(['_', ' '], "-");
    let far = |other: &str| strsim::damerau_levenshtein(other, &plain);
    let distance = |id: &str| {
        let whole = Some(far(id)).filter(|far| *far <= 1 + plain.len() / 3);
        let parts = id
            .split('-')
            .filter_map(|part| match part.starts_with(&plain) {
                true => Some(1),
                false => Some(1 + far(part)).filter(|far| *far <= 1 + plain.len() / 3),
            });
        parts.chain(whole).min()
    };
    let is_word = (2..=40).contains(&plain.chars().count());
    let near = known.iter().filter(|_| is_word);
    let near = near.filter_map(|id| Some((distance(id)?, far(id), *id)));
    let near = near.min_by_key(|(distance, far, _)| (*distance, *far));
    near.map(|(.., id)| id).or_else(|| nearest(word, known))
}

/// Returns `text` in quotes, cut to what fits a message, with control characters made visible.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars().take(40) {
        match c {
            '"' | '\'' | '\\' => quoted.push(c),
            c => quoted.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(40).is_some() {
        quoted.push('…');
    }
    quoted.push('"');
    quoted
}

/// Says what a value is, for "…, not …".
pub fn describe(node: &Node) -> String {
    match &node.shape {
        Shape::Nothing => "nothing".to_string(),
        Shape::Flag(flag) => format!("the value {flag}"),
        Shape::Whole(_) | Shape::Fraction(_) => {
            let raw: String = node.raw.chars().take(40).collect();
            format!("the number {raw}")
        }
        Shape::Text(text) if text.is_empty() => "an empty text".to_string(),
        Shape::Text(text) => format!("the text {}", quote(text)),
        Shape::List(_) => "a list".to_string(),
        Shape::Map(_) => "a mapping".to_string(),
    }
}

/// Says that something else was `expected` at `node`.
pub fn expected(node: &Node, expected: &str) -> Complaint {
    Complaint::new(
        node.place,
        format!("expected {expected}, not {}", describe(node)),
    )
}

/// Reads text that says something.
pub fn text(node: &Node) -> Result<String, Complaint> {
    match &node.shape {
        Shape::Text(text) if text.trim().is_empty() => {
            Err(Complaint::new(node.place, "is empty").hint("write at least a word"))
        }
        Shape::Text(text) if text.contains('\0') => {
            Err(Complaint::new(node.place, "a NUL byte cannot stand here").hint("remove \\0"))
        }
        Shape::Text(text) => Ok(text.clone()),
        Shape::Flag(_) | Shape::Whole(_) | Shape::Fraction(_) => {
            let raw: String = node.raw.chars().take(40).collect();
            Err(expected(node, "text").hint(format!("put it in quotes: \"{raw}\"")))
        }
        Shape::Map(_) => {
            Err(expected(node, "text")
                .hint("put text that holds \": \" or starts with { in quotes"))
        }
        // The shell's `[ -f x ]` and `[ "$x" = y ]`.
        Shape::List(items)
            if items
                .first()
                .is_some_and(|first| first.raw.starts_with(['-', '!', '$'])) =>
        {
            Err(expected(node, "text").hint("put text that starts with [ in quotes"))
        }
        Shape::List(_) => Err(expected(node, "text")),
        Shape::Nothing => Err(expected(node, "text").hint("write at least a word")),
    }
}

/// Reads `true` or `false`.
pub fn flag(node: &Node) -> Result<bool, Complaint> {
    match node.shape {
        Shape::Flag(flag) => Ok(flag),
        Shape::Nothing
        | Shape::Whole(_)
        | Shape::Fraction(_)
        | Shape::Text(_)
        | Shape::List(_)
        | Shape::Map(_) => {
            let complaint = expected(node, "true or false");
            Err(match node.raw.to_lowercase().as_str() {
                "yes" | "on" | "true" | "1" => complaint.hint("write true, without quotes"),
                "no" | "off" | "false" | "0" => complaint.hint("write false, without quotes"),
                _ => complaint,
            })
        }
    }
}

/// Reads a whole number in `range`.
pub fn whole(node: &Node, range: RangeInclusive<u64>) -> Result<u64, Complaint> {
    let in_range = |number: i128| u64::try_from(number).ok().filter(|n| range.contains(n));
    let wanted = match *range.end() {
        u64::MAX => format!("a whole number, {} or more", range.start()),
        end => format!("a whole number from {} to {end}", range.start()),
    };
    let complaint = expected(node, &wanted);
    match node.shape {
        Shape::Whole(number) if is_decimal(&node.raw) => {
            in_range(number).ok_or_else(|| complaint.hint(nearest_end(number, &range)))
        }
        Shape::Whole(number) => Err(match in_range(number) {
            Some(number) => complaint.hint(format!("write {number}")),
            None => complaint,
        }),
        // `5.0` and `"5"` say clearly enough which number is meant.
        Shape::Fraction(_) | Shape::Text(_) => {
            let digits = node.raw.trim().trim_start_matches('0');
            let digits = digits.strip_suffix(".0").unwrap_or(digits);
            Err(match digits.parse().ok().and_then(in_range) {
                Some(number) => complaint.hint(format!("write {number}")),
                None => complaint,
            })
        }
        Shape::Nothing | Shape::Flag(_) | Shape::List(_) | Shape::Map(_) => Err(complaint),
    }
}

/// Says whether `raw` is a number as people write it; `0x1F`, `0o17` and `010` are read differently by different readers.
fn is_decimal(raw: &str) -> bool {
    let digits = raw.strip_prefix('-').unwrap_or(raw);
    let leads_with_zero = digits.len() > 1 && digits.starts_with('0');
    !leads_with_zero && digits.bytes().all(|b| b.is_ascii_digit())
}

fn nearest_end(number: i128, range: &RangeInclusive<u64>) -> String {
    match number < i128::from(*range.start()) {
        true => format!("{} is the least", range.start()),
        false => format!("{} is the most", range.end()),
    }
}

/// Reads a finite number.
pub fn number(node: &Node) -> Result<f64, Complaint> {
    let value = match node.shape {
        Shape::Whole(number) if is_decimal(&node.raw) => number as f64,
        Shape::Fraction(number) if number.is_finite() => number,
        Shape::Text(_) if node.raw.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
            let digits = node.raw.trim().trim_start_matches('0');
            let zero = if digits.is_empty() || digits.starts_with('.') {
                "0"
            } else {
                ""
            };
            return Err(expected(node, "a number").hint(format!("write {zero}{digits}")));
        }
        Shape::Fraction(_) => return Err(expected(node, "a finite number")),
        Shape::Whole(number) => {
            let complaint = expected(node, "a number written plainly");
            return Err(complaint.hint(format!("write {number}")));
        }
        Shape::Nothing | Shape::Flag(_) | Shape::Text(_) | Shape::List(_) | Shape::Map(_) => {
            return Err(expected(node, "a number").hint("write a number, as in 80 or 0.5"));
        }
    };
    Ok(value)
}

/// Reads a duration.
pub fn time(node: &Node) -> Result<Duration, Complaint> {
    let text = match &node.shape {
        Shape::Whole(_) | Shape::Fraction(_) | Shape::Text(_) => &node.raw,
        Shape::Nothing | Shape::Flag(_) | Shape::List(_) | Shape::Map(_) => {
            return Err(expected(node, "a duration").hint(duration::HINT));
        }
    };
    duration::parse(text)
        .map_err(|message| Complaint::new(node.place, message).hint(duration::HINT))
}

/// Reads one of a few words.
pub fn word<T: Copy>(node: &Node, words: &[(&str, T)]) -> Result<T, Complaint> {
    let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
    if let Shape::Text(text) = &node.shape
        && let Some((_, value)) = words.iter().find(|(name, _)| name == text)
    {
        return Ok(*value);
    }
    let complaint = expected(node, &names.join(" or "));
    Err(match nearest(&node.raw, &names) {
        Some(name) => complaint.hint(format!("did you mean {name}?")),
        None => complaint,
    })
}

/// Reads a list of texts; each item that is none is its own complaint.
pub fn texts(fields: &Fields<'_>, key: &str, found: &mut Found) -> Vec<(Place, String)> {
    let read_list = |node: &Node| match &node.shape {
        Shape::List(items) => Ok(items.clone()),
        Shape::Text(text) => {
            Err(expected(node, "a list of texts").hint(format!("write [{}]", quote(text))))
        }
        Shape::Nothing | Shape::Flag(_) | Shape::Whole(_) | Shape::Fraction(_) | Shape::Map(_) => {
            Err(expected(node, "a list of texts"))
        }
    };
    let items = fields.optional(key, &read_list, found).unwrap_or_default();
    let mut list = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match text(item) {
            Ok(text) => list.push((item.place, text)),
            Err(complaint) => found.report(Complaint {
                message: format!("{key}[{index}]: {}", complaint.message),
                ..complaint
            }),
        }
    }
    list
}

/// Reads a list of names of environment variables.
pub fn variable_names(fields: &Fields<'_>, key: &str, found: &mut Found) -> Option<Vec<String>> {
    fields.node(key)?;
    let mut names = Vec::new();
    for (place, name) in texts(fields, key, found) {
        if is_variable(&name) {
            names.push(name);
        } else {
            let message = format!("{key}: {} is no name of a variable", quote(&name));
            found.report(Complaint::new(place, message).hint("write letters, digits and _"));
        }
    }
    Some(names)
}

/// Says whether this is the name of an environment variable.
pub fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.starts_with(|c: char| c.is_ascii_digit()) && !name.is_empty() && name.chars().all(is_part)
}
