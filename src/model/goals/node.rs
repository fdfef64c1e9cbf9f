//! A YAML document as a tree of values, each with its place, and what is said of a place. Pure.

/// Where something stands: line and column, both from 1, and how far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// How many characters of that line it takes; 1 where that is not known, or nobody wants to see all of it marked.
    pub length: usize,
}

impl Place {
    /// Makes a place of one character.
    pub const fn new(line: usize, column: usize) -> Place {
        Place {
            line,
            column,
            length: 1,
        }
    }
}

/// Something wrong at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Complaint {
    /// Makes a complaint without a hint.
    pub fn new(place: Place, message: impl Into<String>) -> Complaint {
        Complaint {
            place,
            message: message.into(),
            hint: None,
        }
    }

    /// Says below which key it was found.
    pub fn below(self, key: &str) -> Complaint {
        Complaint {
            message: format!("{key}: {}", self.message),
            ..self
        }
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Complaint {
        self.hint = Some(hint.into());
        self
    }
}

/// One value and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// Where it begins.
    pub place: Place,
    /// The scalar as written, without quotes; empty for lists and mappings.
    pub raw: String,
    /// Its value.
    pub shape: Shape,
}

/// The value of a node.
#[derive(Clone, Debug)]
pub enum Shape {
    /// No value, `~` or `null`.
    Nothing,
    /// `true` or `false`.
    Flag(bool),
    /// Any number without a fraction.
    Whole(i128),
    /// Any other number, `.nan` and `.inf` included.
    Fraction(f64),
    /// Text, quoted or not.
    Text(String),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping, in file order, duplicate keys included.
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key as written, without quotes.
    pub key: String,
    /// Where the key begins.
    pub place: Place,
    /// The value.
    pub value: Node,
}
