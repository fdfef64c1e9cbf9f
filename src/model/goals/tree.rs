//! The skeleton of a YAML document: what stands where, from the parser that has places. Refuses what is nested too deep, grows by
//! aliases, or is more than one document, before any value is read. Pure.

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};

use super::MAX_DEPTH;
use super::node::{Complaint, Place};

/// How many values aliases may add to a file, so that a few lines cannot grow into gigabytes.
const MAX_ALIASED: usize = 10_000;

/// Builds the skeleton of `text`; `None` if it holds no value at all.
pub fn build(text: &str) -> Result<Option<Tree>, Complaint> {
    Builder::default().build(text)
}

/// The tag of GitLab's files for what stands elsewhere in them.
pub const REFERENCE: &str = "!reference";

/// Builds the skeleton of what another program reads: tags are passed over, but a list tagged [`REFERENCE`] is the value of that key.
pub fn build_untagged(text: &str) -> Result<Option<Tree>, Complaint> {
    let builder = Builder {
        passes_tags: true,
        ..Builder::default()
    };
    builder.build(text)
}

/// The skeleton of a document: what stands where. Its height is the number of collections on the deepest way down.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Where it begins.
    pub place: Place,
    height: usize,
    size: usize,
    /// Shared, because an anchor keeps what it names and each alias repeats it.
    pub branch: Rc<Branch>,
}

/// What a tree consists of.
#[derive(Clone, Debug)]
pub enum Branch {
    /// A scalar as written, without quotes.
    Scalar(String),
    /// The items of a list.
    List(Vec<Tree>),
    /// Keys and values of a mapping.
    Map(Vec<(Tree, Tree)>),
}

/// A collection that is still open.
struct Open {
    place: Place,
    anchor: usize,
    is_map: bool,
    is_reference: bool,
    items: Vec<Tree>,
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Tree>,
    /// Finished values by anchor; 0 is "no anchor".
    anchored: HashMap<usize, Tree>,
    aliased: usize,
    documents: usize,
    passes_tags: bool,
}

impl Builder {
    fn build(mut self, text: &str) -> Result<Option<Tree>, Complaint> {
        let mut parser = Parser::new_from_str(text);
        let lines: Vec<&str> = text.lines().collect();
        loop {
            match parser.next_event() {
                None | Some(Ok((Event::StreamEnd, _))) => return Ok(self.root),
                Some(Err(cause)) => {
                    let place = place(*cause.marker());
                    let unclosed = self.unclosed(text, place);
                    return Err(
                        unclosed.unwrap_or_else(|| Self::syntax_error(text, place, cause.info()))
                    );
                }
                Some(Ok((event, span))) => self.take(event, span, &lines)?,
            }
        }
    }

    fn take(&mut self, event: Event<'_>, span: Span, lines: &[&str]) -> Result<(), Complaint> {
        let place = place(span.start);
        match event {
            Event::DocumentStart(_) => self.start_document(place)?,
            Event::Alias(anchor) => self.repeat(place, anchor)?,
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                let place = match style {
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => {
                        within_quotes(lines, along(place, span))
                    }
                    _ => along(place, span),
                };
                // A value that is not there is marked where the next thing stands; its key's place says more.
                let place = match (text.is_empty(), style, self.key_place()) {
                    (true, ScalarStyle::Plain, Some(key)) => key,
                    _ => place,
                };
                let branch = Branch::Scalar(text.into_owned());
                self.add(anchor, Tree::new(place, branch));
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                let is_reference = tag
                    .as_deref()
                    .is_some_and(|tag| tag.handle == "!" && tag.suffix == REFERENCE[1..]);
                self.enter(place, anchor, false)?;
                if let Some(open) = self.open.last_mut() {
                    open.is_reference = is_reference;
                }
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_tag(tag.as_deref(), place)?;
                self.enter(place, anchor, true)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.leave(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
        Ok(())
    }

    fn start_document(&mut self, place: Place) -> Result<(), Complaint> {
        self.documents += 1;
        match self.documents {
            1 => Ok(()),
            _ => Err(Complaint::new(place, "a second document starts here")
                .hint("keep one document in the file, and remove the line ---")),
        }
    }

    /// Returns the place of the key whose value comes next.
    fn key_place(&self) -> Option<Place> {
        let open = self.open.last()?;
        match open.is_map && open.items.len() % 2 == 1 {
            true => open.items.last().map(|key| key.place),
            false => None,
        }
    }

    fn enter(&mut self, place: Place, anchor: usize, is_map: bool) -> Result<(), Complaint> {
        if self.open.len() >= MAX_DEPTH {
            return Err(too_deep(place));
        }
        self.open.push(Open {
            place,
            anchor,
            is_map,
            is_reference: false,
            items: Vec::new(),
        });
        Ok(())
    }

    fn leave(&mut self) {
        let open = self.open.pop().expect("BUG: an end without its start");
        let branch = match open.is_map {
            true => Branch::Map(pairs(open.items)),
            false => Branch::List(open.items),
        };
        let mut tree = Tree::new(open.place, branch);
        if open.is_reference {
            let key = Tree::new(open.place, Branch::Scalar(REFERENCE.to_owned()));
            tree = Tree::new(open.place, Branch::Map(vec![(key, tree)]));
        }
        self.add(open.anchor, tree);
    }

    fn add(&mut self, anchor: usize, tree: Tree) {
        if anchor != 0 {
            self.anchored.insert(anchor, tree.clone());
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(tree),
            None => self.root = Some(tree),
        }
    }

    fn repeat(&mut self, place: Place, anchor: usize) -> Result<(), Complaint> {
        if self.open.iter().any(|open| open.anchor == anchor) {
            return Err(
                Complaint::new(place, "this alias stands inside its own anchor")
                    .hint("write the value out"),
            );
        }
        let mut tree = self
            .anchored
            .get(&anchor)
            .expect("BUG: an alias without its anchor")
            .clone();
        self.aliased += tree.size;
        if self.aliased > MAX_ALIASED {
            return Err(
                Complaint::new(place, "the aliases up to here repeat too much")
                    .hint("write the values out, or repeat smaller ones"),
            );
        }
        if self.open.len() + tree.height > MAX_DEPTH {
            return Err(too_deep(place));
        }
        tree.place = place;
        self.add(0, tree);
        Ok(())
    }

    fn refuse_tag(&self, tag: Option<&saphyr_parser::Tag>, place: Place) -> Result<(), Complaint> {
        match tag {
            None => Ok(()),
            Some(tag) if self.passes_tags || tag.is_yaml_core_schema() => Ok(()),
            Some(_) => Err(
                Complaint::new(place, "what starts with ! is a tag in YAML, not text")
                    .hint("put it in quotes, or after | on lines of its own"),
            ),
        }
    }

    /// Complains about the bracket that is open where the parser gave up, if that is at the end of the text or where a line begins as
    /// those outside of brackets do.
    fn unclosed(&self, text: &str, place: Place) -> Option<Complaint> {
        let open = self.open.last()?.place;
        let line = text.lines().nth(open.line - 1)?;
        let bracket = line.chars().nth(open.column - 1)?;
        let is_outside = match text.lines().nth(place.line - 1).map(str::trim_start) {
            None | Some("") => true,
            Some(line) => line.starts_with("- ") || is_key(line),
        };
        let is_unclosed = place.line > open.line && is_outside && matches!(bracket, '[' | '{');
        is_unclosed.then(|| {
            Complaint::new(
                open,
                format!("not valid YAML: this {bracket} is not closed"),
            )
            .hint("close it, or put text that begins with it in quotes")
        })
    }

    /// Says what the parser could not read, in words for the mistakes that people make.
    fn syntax_error(text: &str, place: Place, info: &str) -> Complaint {
        if info.contains("recursion limit") {
            return too_deep(place);
        }
        if let Some(complaint) = tab(text, place, info) {
            return complaint;
        }
        if info.contains("unknown anchor") {
            return Complaint::new(place, "this alias (*) names no anchor (&) that stands above it")
                .hint("write & and its name before the value that it repeats, or put text that begins with * in quotes");
        }
        if info.contains("expect ':'")
            && let Some(complaint) = no_key(text, place)
        {
            return complaint;
        }
        let hint = match info.contains("mapping values are not allowed") {
            true => misplaced_key(text, place),
            false => None,
        };
        let hint = hint.unwrap_or_else(|| remedy(info).to_owned());
        Complaint::new(place, format!("not valid YAML: {info}")).hint(hint)
    }
}

/// Complains about a tab that the parser gave up at: before a line's text, be it one of the lines after the value in which the parser
/// met it, or right behind a colon.
fn tab(text: &str, place: Place, info: &str) -> Option<Complaint> {
    let lines = text.lines().enumerate().skip(place.line - 1);
    let says = |line: &str| !line.trim().is_empty();
    let first = lines.clone().take(1);
    let next = lines.skip(1).filter(|(_, line)| says(line)).take(1);
    let next = next.filter(|_| info.contains("tab"));
    let indenting = |(number, line): (usize, &str)| {
        let blank = line.len() - line.trim_start().len();
        let before = line[..blank].find('\t')?;
        Some(Place::new(number + 1, before + 1))
    };
    if let Some(place) = first.clone().chain(next).find_map(indenting) {
        return Some(Complaint::new(place, "a tab cannot indent YAML").hint("indent with spaces"));
    }
    let (number, line) = first.last()?;
    let colon = line.find(":\t").filter(|_| info.contains("':'"))?;
    let place = Place::new(number + 1, line[..colon].chars().count() + 2);
    let complaint = Complaint::new(place, "a tab cannot follow a colon in YAML");
    Some(complaint.hint("put a space there"))
}

/// Says whether a line begins with a key that is a plain word, and its colon.
fn is_key(line: &str) -> bool {
    let word = line.find(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
    word.is_some_and(|end| end > 0 && line[end..].starts_with(':'))
}

/// Complains about the line that was read as a key, where the parser looks for a colon behind it: the last one above `place` that
/// says anything. None where that has one.
fn no_key(text: &str, place: Place) -> Option<Complaint> {
    const CONFLICT: [&str; 3] = ["<<<<<<<", "=======", ">>>>>>>"];
    let lines = text.lines().enumerate().take(place.line - 1);
    let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let (number, line) = lines.filter(|(_, line)| says(line)).last()?;
    let start = line.len() - line.trim_start_matches(['-', ' ']).len();
    let said = line[start..].trim_end();
    let place = Place {
        length: said.chars().count(),
        ..Place::new(number + 1, start + 1)
    };
    if CONFLICT.iter().any(|mark| said.starts_with(mark)) {
        let complaint = Complaint::new(place, "a merge conflict is left over here");
        return Some(complaint.hint("keep one side, and remove the lines that mark it"));
    }
    if said.contains(": ") || said.ends_with(':') {
        return None;
    }
    let key: String = said
        .chars()
        .take_while(|c| !c.is_whitespace() && *c != ':')
        .collect();
    let value = said[key.len()..].trim_start_matches(':').trim_start();
    let complaint = Complaint::new(
        place,
        "not valid YAML: a key needs a colon and a blank behind it",
    );
    Some(complaint.hint(format!(
        "as in `{key}: {value}`; or is it part of the text above, then indent it further"
    )))
}

/// Returns what to do about a key that stands deeper than the one above it, which has a value: the parser takes it for more of that.
fn misplaced_key(text: &str, place: Place) -> Option<String> {
    let above = text.lines().take(place.line.saturating_sub(1));
    let above = above.filter(|line| !line.trim().is_empty()).last()?;
    let line = text.lines().nth(place.line - 1)?;
    let key = line.trim_start().split(':').next()?;
    let begin = line.len() - line.trim_start().len();
    // The colon at which it gave up is that of the line's own key.
    let is_key = begin + key.chars().count() + 1 == place.column;
    let wanted = above.len() - above.trim_start_matches(['-', ' ']).len();
    let is_deeper = above.contains(": ") && begin > wanted;
    (is_key && is_deeper).then(|| format!("indent `{key}` like the key above it, by {wanted}"))
}

/// Returns what to do about a syntax error, by the parser's words for it.
fn remedy(info: &str) -> &'static str {
    let in_quotes = "put the text in quotes, or after | on lines of its own";
    let remedies = [
        ("mapping values are not allowed", in_quotes),
        (
            "expected ',' or",
            "close the [ or { that is open here, or put text that begins with one in quotes",
        ),
        ("unexpected character", in_quotes),
        ("block sequence entries", in_quotes),
        ("end of stream", "close what is opened here"),
        (
            "trailing content after",
            "inside '…' write a quote twice, inside \"…\" write a backslash before it",
        ),
        (
            "unknown escape",
            "use single quotes, in which a backslash stays one",
        ),
        ("block collection", "indent this like the lines above it"),
    ];
    remedies
        .iter()
        .find(|(words, _)| info.contains(words))
        .map_or(
            "look at indentation, quotes and brackets up to here",
            |(_, remedy)| remedy,
        )
}

impl Tree {
    fn new(place: Place, branch: Branch) -> Tree {
        let (height, size) = match &branch {
            Branch::Scalar(_) => (0, 0),
            Branch::List(items) => items.iter().fold((1, 0), Tree::joined),
            Branch::Map(entries) => entries
                .iter()
                .flat_map(|(key, value)| [key, value])
                .fold((1, 0), Tree::joined),
        };
        Tree {
            place,
            height,
            size: size + 1,
            branch: Rc::new(branch),
        }
    }

    fn joined((height, size): (usize, usize), child: &Tree) -> (usize, usize) {
        (height.max(child.height + 1), size + child.size)
    }
}

fn pairs(items: Vec<Tree>) -> Vec<(Tree, Tree)> {
    let mut items = items.into_iter();
    let mut pairs = Vec::with_capacity(items.len() / 2);
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        pairs.push((key, value));
    }
    pairs
}

fn place(marker: Marker) -> Place {
    Place::new(marker.line().max(1), marker.col() + 1)
}

/// Returns the place of a scalar with its length; one of several lines is marked where it begins.
fn along(place: Place, span: Span) -> Place {
    let is_one_line = span.start.line() == span.end.line();
    let length = span.end.col().saturating_sub(span.start.col());
    Place {
        length: if is_one_line { length.max(1) } else { 1 },
        ..place
    }
}

/// Returns the place of a scalar in quotes without what stands behind them on the line, which the parser counts, too.
fn within_quotes(lines: &[&str], place: Place) -> Place {
    let line = lines.get(place.line - 1).copied().unwrap_or_default();
    let mut said = line.chars().skip(place.column - 1).take(place.length);
    let quote = said.next();
    let mut said = said.enumerate().peekable();
    while let Some((at, c)) = said.next() {
        let is_escape = match quote {
            Some('"') => c == '\\',
            _ => c == '\'' && said.peek().is_some_and(|(_, next)| *next == '\''),
        };
        if is_escape {
            said.next();
        } else if Some(c) == quote {
            let length = at + 2;
            return Place { length, ..place };
        }
    }
    place
}

fn too_deep(place: Place) -> Complaint {
    Complaint::new(place, format!("nested deeper than {MAX_DEPTH} levels"))
        .hint("look for a [ or { that is never closed")
}
