//! Thresholds of a goals file made others, and not a byte beside them. Pure.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::Goals;
use super::read::read_goals;

/// A goal's threshold as it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The goal.
    pub id: String,
    /// The number as it is to stand in the file.
    pub text: String,
}

/// Returns the text of a goals file with other thresholds. The result is read again: where it differs from the goals of before in
/// anything but these numbers, or a number does not stand where it could be changed alone, the error says so.
pub fn with_thresholds(text: &str, new: &[Threshold]) -> Result<String, String> {
    let mut spans = Vec::new();
    let places = places_of(text)?;
    for threshold in new {
        let place = places.iter().find(|place| place.id == threshold.id);
        let range = place.and_then(|place| place.range.clone()).ok_or_else(|| {
            format!(
                "the threshold of {} does not stand there as a plain number",
                threshold.id
            )
        })?;
        spans.push((range, &threshold.text));
    }
    spans.sort_by_key(|(range, _)| range.start);
    let mut edited = String::with_capacity(text.len());
    let mut end = 0;
    for (range, number) in spans {
        edited.push_str(&text[end..range.start]);
        edited.push_str(number);
        end = range.end;
    }
    edited.push_str(&text[end..]);
    hold_against(text, &edited, new)?;
    Ok(edited)
}

/// Refuses a text that says anything else than another but these thresholds.
fn hold_against(text: &str, edited: &str, new: &[Threshold]) -> Result<(), String> {
    let read = |text: &str| -> Result<Goals, String> {
        let read = read_goals("goals", text.as_bytes());
        read.map(|(goals, _)| goals)
            .map_err(|problems| problems.iter().map(|one| one.message.clone()).collect())
    };
    let (mut expected, found) = (read(text)?, read(edited)?);
    for goal in &mut expected.goals {
        let Some(threshold) = new.iter().find(|one| one.id == goal.id) else {
            continue;
        };
        if let Some(continuous) = &mut goal.continuous {
            continuous.threshold = threshold.text.parse().ok();
        }
    }
    expected.digest.clone_from(&found.digest);
    match expected == found {
        true => Ok(()),
        false => Err("another value would change with it, as behind an anchor".to_owned()),
    }
}

/// Where the threshold of a goal stands.
struct StatedThreshold {
    id: String,
    /// The bytes of the number, without quotes; none where an alias stands in its place.
    range: Option<std::ops::Range<usize>>,
}

/// A value with where it stands, as far as thresholds are looked for.
enum Value {
    Scalar {
        text: String,
        /// The bytes of it, without quotes; none where it is written otherwise than it is meant.
        range: Option<std::ops::Range<usize>>,
    },
    Alias,
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(entries) = self else {
            return None;
        };
        let is_key = |value: &Value| matches!(value, Value::Scalar { text, .. } if text == key);
        entries
            .iter()
            .find(|(name, _)| is_key(name))
            .map(|(_, value)| value)
    }
}

fn places_of(text: &str) -> Result<Vec<StatedThreshold>, String> {
    let root = tree_of(text)?;
    let Some(Value::List(goals)) = root.as_ref().and_then(|root| root.get("goals")) else {
        return Ok(Vec::new());
    };
    let place = |goal: &Value| {
        let Some(Value::Scalar { text: id, .. }) = goal.get("id") else {
            return None;
        };
        let range = match goal.get("continuous")?.get("threshold")? {
            Value::Scalar { range, .. } => range.clone(),
            Value::Alias | Value::List(_) | Value::Map(_) => None,
        };
        Some(StatedThreshold {
            id: id.clone(),
            range,
        })
    };
    Ok(goals.iter().filter_map(place).collect())
}

/// Returns the document with where its scalars stand, in bytes.
fn tree_of(text: &str) -> Result<Option<Value>, String> {
    let starts: Vec<usize> = text
        .char_indices()
        .map(|(byte, _)| byte)
        .chain([text.len()])
        .collect();
    let byte = |index: usize| starts.get(index).copied().unwrap_or(text.len());
    let mut parser = Parser::new_from_str(text);
    let mut open: Vec<(bool, Vec<Value>)> = Vec::new();
    let mut root = None;
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|cause| cause.info().to_owned())?;
        let value = match event {
            Event::Scalar(words, style, ..) => {
                let quote = usize::from(matches!(
                    style,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted
                ));
                let end = byte(span.end.index()).saturating_sub(quote);
                let whole = text.get(byte(span.start.index())..end);
                // An anchor or a tag may stand before it.
                let is_written_so = whole.is_some_and(|whole| whole.ends_with(&*words));
                Value::Scalar {
                    range: is_written_so.then(|| end - words.len()..end),
                    text: words.into_owned(),
                }
            }
            Event::Alias(_) => Value::Alias,
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                open.push((matches!(event, Event::MappingStart(..)), Vec::new()));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some((true, items)) => Value::Map(pairs(items)),
                Some((false, items)) => Value::List(items),
                None => continue,
            },
            _ => continue,
        };
        match open.last_mut() {
            Some((_, items)) => items.push(value),
            None => root = Some(value),
        }
    }
    Ok(root)
}

fn pairs(items: Vec<Value>) -> Vec<(Value, Value)> {
    let mut items = items.into_iter();
    let mut pairs = Vec::new();
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        pairs.push((key, value));
    }
    pairs
}

/// Returns the number as it is written at a goal's threshold; none where it does not stand there itself.
pub fn written_threshold(text: &str, id: &str) -> Option<String> {
    let places = places_of(text).ok()?;
    let place = places.into_iter().find(|place| place.id == id)?;
    text.get(place.range?).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(id: &str, text: &str) -> Threshold {
        Threshold {
            id: id.to_owned(),
            text: text.to_owned(),
        }
    }

    fn goal(rest: &str) -> String {
        format!(
            "goals:\n  - id: a\n    description: d  # ü 80\n    check: c\n    weight: 5\n{rest}"
        )
    }

    #[test]
    fn only_the_number_changes_however_the_file_is_laid_out() {
        for (before, after) in [
            (
                "    continuous:\n      threshold:   80   # the floor, 80\n      direction: at-least\n",
                "    continuous:\n      threshold:   85.5   # the floor, 80\n      direction: at-least\n",
            ),
            (
                "    continuous: {threshold: 80, direction: at-least}\r\n# 80\r\n",
                "    continuous: {threshold: 85.5, direction: at-least}\r\n# 80\r\n",
            ),
            (
                "    continuous: {direction: at-least, threshold: 8e1}",
                "    continuous: {direction: at-least, threshold: 85.5}",
            ),
        ] {
            let text = goal(before);
            assert_eq!(
                with_thresholds(&text, &[set("a", "85.5")]),
                Ok(goal(after)),
                "{before}"
            );
        }
        let marked = format!(
            "\u{feff}{}",
            goal("    continuous: {threshold: 80, direction: at-least}\n")
        );
        let edited = with_thresholds(&marked, &[set("a", "85.5")]);
        assert_eq!(
            edited,
            Ok(marked.replace("threshold: 80", "threshold: 85.5"))
        );
    }

    #[test]
    fn a_number_that_stands_elsewhere_too_is_left_alone() {
        let other = "  - id: b\n    description: d\n    check: c\n    weight: 5\n    continuous: {threshold: *floor, direction: at-least}\n";
        let text = goal("    continuous: {threshold: &floor 80, direction: at-least}\n") + other;
        let why = with_thresholds(&text, &[set("a", "85")]).expect_err("an anchor");
        assert_eq!(
            why,
            "another value would change with it, as behind an anchor"
        );
        let why = with_thresholds(&text, &[set("b", "85")]).expect_err("an alias");
        assert_eq!(
            why,
            "the threshold of b does not stand there as a plain number"
        );
        let both = with_thresholds(&text, &[set("c", "85")]).expect_err("no such goal");
        assert_eq!(
            both,
            "the threshold of c does not stand there as a plain number"
        );
    }
}
