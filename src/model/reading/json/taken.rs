//! A JSON document that is taken in while it is read, so that what nobody asks for costs no memory. Pure.
//!
//! What is passed over is held against the same rules as what is kept (numbers, escapes, depth): a document is broken or not,
//! whichever part of it is asked for.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt::{Formatter, Result as FmtResult};

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::model::reading::shown;

/// What an element or a member costs beside its text, in bytes, with the room that lists and objects have to spare.
const ONE: usize = 200;

/// Takes in a value. What it does not override is passed over.
pub trait Taker<'t>: Sized {
    /// Takes null, a boolean or a number.
    fn plain(&mut self, _value: Value) {}

    /// Takes a text.
    fn text(&mut self, _text: &str) {}

    /// A list begins.
    fn list(&mut self) {}

    /// An object begins.
    fn object(&mut self) {}

    /// Takes an element of the list.
    fn element<D: Deserializer<'t>>(&mut self, _index: usize, value: D) -> Result<(), D::Error> {
        pass(value)
    }

    /// Takes a member of the object. One of the same key may come again: which of them counts nobody can say, so that whoever
    /// reads one refuses the other (`once`).
    fn member<D: Deserializer<'t>>(&mut self, _key: &str, value: D) -> Result<(), D::Error> {
        pass(value)
    }
}

/// Has a whole document taken.
pub fn read<'t>(taker: &mut impl Taker<'t>, text: &'t str) -> Result<(), serde_json::Error> {
    let text = text.trim_start_matches('\u{feff}');
    let mut document = serde_json::Deserializer::from_str(text);
    take(taker, &mut document)?;
    document.end()
}

/// Has one value taken.
pub fn take<'t, D: Deserializer<'t>>(taker: &mut impl Taker<'t>, value: D) -> Result<(), D::Error> {
    value.deserialize_any(Taking(taker))
}

/// Refuses a second member of a key that was read.
pub fn once<E: Error>(key: &str, is_read: bool) -> Result<(), E> {
    match is_read {
        true => Err(E::custom(format_args!(
            "the key `{}` stands twice in an object",
            shown(key)
        ))),
        false => Ok(()),
    }
}

/// Passes over a value.
pub fn pass<'t, D: Deserializer<'t>>(value: D) -> Result<(), D::Error> {
    take(&mut Nothing, value)
}

struct Nothing;

impl Taker<'_> for Nothing {}

struct Taking<'a, T>(&'a mut T);

impl<'t, T: Taker<'t>> Visitor<'t> for Taking<'_, T> {
    type Value = ();

    fn expecting(&self, to: &mut Formatter<'_>) -> FmtResult {
        to.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.plain(Value::Null);
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.0.plain(value.into());
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.0.plain(value.into());
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.0.plain(value.into());
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.0.plain(value.into());
        Ok(())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.0.text(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut list: A) -> Result<(), A::Error> {
        self.0.list();
        let mut index = 0;
        while list
            .next_element_seed(Element {
                taker: &mut *self.0,
                index,
            })?
            .is_some()
        {
            index += 1;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'t>>(self, mut object: A) -> Result<(), A::Error> {
        self.0.object();
        while let Some(key) = object.next_key_seed(Key)? {
            object.next_value_seed(Member {
                taker: &mut *self.0,
                key: &key,
            })?;
        }
        Ok(())
    }
}

struct Element<'a, T> {
    taker: &'a mut T,
    index: usize,
}

impl<'t, T: Taker<'t>> DeserializeSeed<'t> for Element<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, value: D) -> Result<(), D::Error> {
        self.taker.element(self.index, value)
    }
}

struct Member<'a, T> {
    taker: &'a mut T,
    key: &'a str,
}

impl<'t, T: Taker<'t>> DeserializeSeed<'t> for Member<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, value: D) -> Result<(), D::Error> {
        self.taker.member(self.key, value)
    }
}

/// A key, which is copied only where it has escapes.
struct Key;

impl<'t> DeserializeSeed<'t> for Key {
    type Value = Cow<'t, str>;

    fn deserialize<D: Deserializer<'t>>(self, key: D) -> Result<Cow<'t, str>, D::Error> {
        key.deserialize_str(self)
    }
}

impl<'t> Visitor<'t> for Key {
    type Value = Cow<'t, str>;

    fn expecting(&self, to: &mut Formatter<'_>) -> FmtResult {
        to.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'t str) -> Result<Cow<'t, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Cow<'t, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

/// How much may be kept.
pub struct Room {
    left: Cell<usize>,
    is_full: Cell<bool>,
}

impl Room {
    /// Returns room for so many bytes.
    pub fn of(bytes: usize) -> Room {
        Room {
            left: Cell::new(bytes),
            is_full: Cell::new(false),
        }
    }

    /// Says whether there was less room than was asked for.
    pub fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// Leaves no room.
    pub fn fill(&self) {
        self.is_full.set(true);
    }

    /// Takes room for one thing with so many bytes of text. Says whether there is any.
    pub fn holds(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(ONE.saturating_add(bytes));
        match left {
            Some(left) if !self.is_full() => self.left.set(left),
            Some(_) | None => self.is_full.set(true),
        }
        !self.is_full()
    }

    /// Returns as much of a text as there is room for.
    pub fn begun<'s>(&self, text: &'s str) -> &'s str {
        let mut end = self.left.get().min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.left.set(self.left.get() - end);
        if end < text.len() {
            self.is_full.set(true);
        }
        &text[..end]
    }
}

/// What is to be kept of a value.
pub enum Wanted {
    /// All of it.
    All,
    /// These members of an object, and what is neither a list nor an object.
    Members(&'static [(&'static str, Wanted)]),
    /// This much of each element of a list.
    Each(&'static Wanted),
}

/// What is neither a list nor an object, and of those only that they are there.
pub const PLAIN: Wanted = Wanted::Members(&[]);

/// Keeps a value as far as it is wanted and there is room.
pub struct Kept<'k> {
    /// What is kept.
    pub value: Value,
    wanted: &'k Wanted,
    room: &'k Room,
}

impl<'k> Kept<'k> {
    /// Returns a keeper that holds nothing yet.
    pub fn of(wanted: &'k Wanted, room: &'k Room) -> Kept<'k> {
        Kept {
            value: Value::Null,
            wanted,
            room,
        }
    }

    /// Returns what is kept of a value.
    pub fn from<'t, D: Deserializer<'t>>(
        wanted: &'k Wanted,
        room: &'k Room,
        value: D,
    ) -> Result<Value, D::Error> {
        let mut kept = Kept::of(wanted, room);
        take(&mut kept, value)?;
        Ok(kept.value)
    }
}

impl<'t> Taker<'t> for Kept<'_> {
    fn plain(&mut self, value: Value) {
        self.value = value;
    }

    fn text(&mut self, text: &str) {
        self.value = self.room.begun(text).into();
    }

    fn list(&mut self) {
        self.value = Value::Array(Vec::new());
    }

    fn object(&mut self) {
        self.value = Value::Object(Map::new());
    }

    fn element<D: Deserializer<'t>>(&mut self, _index: usize, value: D) -> Result<(), D::Error> {
        let wanted = match self.wanted {
            Wanted::All => &Wanted::All,
            Wanted::Each(wanted) => wanted,
            Wanted::Members(_) => return pass(value),
        };
        match &mut self.value {
            Value::Array(list) if self.room.holds(0) => {
                list.push(Kept::from(wanted, self.room, value)?);
                Ok(())
            }
            _ => pass(value),
        }
    }

    fn member<D: Deserializer<'t>>(&mut self, key: &str, value: D) -> Result<(), D::Error> {
        let wanted = match self.wanted {
            Wanted::All => Some(&Wanted::All),
            Wanted::Members(all) => all.iter().find(|(known, _)| *known == key).map(|it| &it.1),
            Wanted::Each(_) => None,
        };
        if let (Some(_), Value::Object(object)) = (wanted, &self.value) {
            once(key, object.contains_key(key))?;
        }
        match (wanted, &mut self.value) {
            (Some(wanted), Value::Object(object)) if self.room.holds(key.len()) => {
                object.insert(key.to_owned(), Kept::from(wanted, self.room, value)?);
                Ok(())
            }
            _ => pass(value),
        }
    }
}
