//! Where a JSON Pointer (RFC 6901) leads in a document, found while that is read. Pure.

use serde::Deserializer;
use serde_json::{Map, Value};

use super::taken::{Kept, Room, Taker, Wanted, once, pass, read, take};
use crate::model::reading::shown;
use crate::model::text;

/// The most that is kept of what a pointer leads to, in bytes: a number is shorter, and a message shows less.
const ROOM: usize = 64 << 10;

/// Where a pointer ends.
pub enum End {
    /// At what it leads to.
    There {
        /// What stands there, or how that begins.
        value: Value,
        /// Whether that is all of it.
        is_whole: bool,
    },
    /// Before its last steps.
    Short {
        /// How many steps lead no further.
        left: usize,
        /// What stands there, in words.
        contents: String,
    },
}

/// Follows a pointer, which is empty or begins with `/`, through a document.
pub fn follow(pointer: &str, document: &str) -> Result<End, serde_json::Error> {
    let step = |step: &str| step.replace("~1", "/").replace("~0", "~");
    let steps: Vec<String> = pointer.split('/').skip(1).map(step).collect();
    let mut way = Way::of(&steps);
    read(&mut way, document)?;
    Ok(way.end())
}

/// The way from one value on.
struct Way<'p> {
    steps: &'p [String],
    /// The value, where no step is left; else how it begins.
    here: Value,
    room: Room,
    /// How many elements it has, if it is a list.
    elements: usize,
    further: Option<End>,
}

impl<'p> Way<'p> {
    fn of(steps: &'p [String]) -> Way<'p> {
        Way {
            steps,
            here: Value::Null,
            room: Room::of(ROOM),
            elements: 0,
            further: None,
        }
    }

    fn end(self) -> End {
        match (self.further, self.steps.len()) {
            (_, 0) => End::There {
                value: self.here,
                is_whole: !self.room.is_full(),
            },
            (Some(end), _) => end,
            (None, left) => End::Short {
                left,
                contents: contents(&self.here, self.elements),
            },
        }
    }

    fn go<'t, D: Deserializer<'t>>(&mut self, value: D) -> Result<(), D::Error> {
        let mut way = Way::of(self.steps.get(1..).unwrap_or_default());
        take(&mut way, value)?;
        self.further = Some(way.end());
        Ok(())
    }

    /// Has it taken as what the pointer leads to.
    fn keep(&mut self, taken: impl FnOnce(&mut Kept<'_>)) {
        let mut kept = Kept::of(&Wanted::All, &self.room);
        kept.value = std::mem::take(&mut self.here);
        taken(&mut kept);
        self.here = kept.value;
    }
}

impl<'t> Taker<'t> for Way<'_> {
    fn plain(&mut self, value: Value) {
        self.here = value;
    }

    fn text(&mut self, text: &str) {
        self.here = self.room.begun(text).into();
    }

    fn list(&mut self) {
        self.here = Value::Array(Vec::new());
    }

    fn object(&mut self) {
        self.here = Value::Object(Map::new());
    }

    fn element<D: Deserializer<'t>>(&mut self, index: usize, value: D) -> Result<(), D::Error> {
        self.elements = index + 1;
        match self.steps.first() {
            None => {
                let mut taken = Ok(());
                self.keep(|kept| taken = kept.element(index, value));
                taken
            }
            Some(step) if is_index(step, index) => self.go(value),
            Some(_) => pass(value),
        }
    }

    fn member<D: Deserializer<'t>>(&mut self, key: &str, value: D) -> Result<(), D::Error> {
        let Some(step) = self.steps.first() else {
            let mut taken = Ok(());
            self.keep(|kept| taken = kept.member(key, value));
            return taken;
        };
        if let Value::Object(keys) = &mut self.here
            && !keys.contains_key(key)
            && self.room.holds(key.len())
        {
            keys.insert(key.to_owned(), Value::Null);
        }
        match step == key {
            true => {
                once(key, self.further.is_some())?;
                self.go(value)
            }
            false => pass(value),
        }
    }
}

/// Says whether a step stands for this element; with a sign or a zero before it, it stands for none.
fn is_index(step: &str, index: usize) -> bool {
    let is_plain = step == "0" || !step.starts_with(['+', '0']);
    is_plain && step.parse() == Ok(index)
}

fn contents(value: &Value, elements: usize) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "is empty".to_owned(),
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().map(String::as_str).collect();
            format!("has {}", shown(&keys.join(", ")))
        }
        Value::Array(_) => format!("has {}", text::count(elements, "element")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            format!("is {}", shown(&value.to_string()))
        }
    }
}
