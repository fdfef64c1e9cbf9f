//! Events for programs: one JSON object a line, as `schemas/event.schema.json` describes.

use std::io::{self, Write};

use crate::event::Event;

/// Writes the event as one line and hands it on at once, so that a reader can follow.
pub fn print(out: &mut dyn Write, event: &Event, time: &str) -> io::Result<()> {
    writeln!(out, "{}", event.line(time))?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema;
    use crate::view::samples;

    #[test]
    fn every_event_is_one_line_that_its_schema_describes() {
        let events = samples::events();
        for event in events.into_iter().chain(samples::events_of_search()) {
            let mut out = Vec::new();
            print(&mut out, &event, "2026-02-11T21:00:00Z").expect("written");
            let text = String::from_utf8(out).expect("UTF-8");
            assert_eq!(text.matches('\n').count(), 1, "{text}");
            assert!(
                text.starts_with("{\"time\":\"2026-02-11T21:00:00Z\",\"event\":\""),
                "{text}"
            );
            let value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(schema::check("event", &value), Ok(()), "{text}");
        }
    }
}
