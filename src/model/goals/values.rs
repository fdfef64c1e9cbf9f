//! The values of a YAML document, from the parser that reads them, with duplicate keys kept. Pure.

use std::fmt;

use serde::de::{Deserialize, Deserializer, EnumAccess, MapAccess, SeqAccess, Visitor};

use super::node::Shape;

/// What the parser of values makes of a document. Unlike its own value type, it keeps duplicate keys.
pub enum Value {
    /// One of the shapes without parts.
    Scalar(Shape),
    /// The items of a list.
    List(Vec<Value>),
    /// Keys and values of a mapping.
    Map(Vec<(Value, Value)>),
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Values)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Nothing))
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Nothing))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Flag(flag)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Whole(number.into())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Whole(number.into())))
    }

    fn visit_i128<E>(self, number: i128) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Whole(number)))
    }

    fn visit_u128<E>(self, number: u128) -> Result<Value, E> {
        let shape = i128::try_from(number).map_or(Shape::Fraction(number as f64), Shape::Whole);
        Ok(Value::Scalar(shape))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Fraction(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Scalar(Shape::Text(text.to_string())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Value::Map(map))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<Value, A::Error> {
        Err(serde::de::Error::custom("a tag means nothing here"))
    }
}
