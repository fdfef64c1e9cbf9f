//! A report as a page of its own (HTML), and as text for a pull request (Markdown).
//!
//! Both come from templates that escape every value by themselves; what goes in unescaped is the style sheet alone, which is ours.
//! The page asks for nothing from anywhere and needs no script, which its own policy says to the browser as well.

pub(in crate::view) mod chart;
mod markdown;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value, context};

use crate::model::report::Report;

use chart::{Chart, Room};

pub use markdown::markdown;

const HEAD: &str = include_str!("report/head.html.j2");
const CHART: &str = include_str!("report/chart.html.j2");
const PAGE: &str = include_str!("report/page.html.j2");
const STYLE: &str = include_str!("report/page.css");

/// Returns the report as a page of its own.
pub fn html(report: &Report) -> String {
    let series = report.series.iter().map(|series| {
        context! {
            told => Value::from(Serde(series)),
            chart => Value::from(Serde(chart::of_values(series))),
        }
    });
    let words = &report.curve.words;
    let drawn = svg("fitness", "Score after each cycle", words, |room| {
        chart::of_scores(&report.curve, room)
    });
    let values = context! {
        head => head(&format!("{} · evolve report", report.name)),
        report => Value::from(Serde(report)),
        drawn,
        has_dots => chart::has_dots(&report.curve),
        series => series.collect::<Vec<_>>(),
    };
    let environment = environment();
    // Its name's end is what has it escape like HTML.
    environment
        .render_named_str("page.html.j2", PAGE, values)
        .expect("BUG: the page's template does not fit its values")
}

/// Returns how a page with this title begins, up to its body. Its style sheet is the one of all pages.
pub(in crate::view) fn head(title: &str) -> Value {
    let values = context! {
        title,
        version => env!("CARGO_PKG_VERSION"),
        style => Value::from_safe_string(STYLE.to_owned()),
    };
    part("head.html.j2", HEAD, values)
}

/// Returns a chart as a picture with its title and what it shows in words, once for wide pages and once for narrow ones, of which
/// the page shows one; `id` is its own on the page.
pub(in crate::view) fn svg(
    id: &str,
    title: &str,
    words: &str,
    draw: impl Fn(Room) -> Option<Chart>,
) -> Option<Value> {
    let pictures = [Room::Wide, Room::Narrow].map(|room| {
        let curve = Value::from(Serde(draw(room)?));
        let values = context! { curve, id, title, words, room => Value::from(Serde(room)) };
        Some(part("chart.html.j2", CHART, values))
    });
    let [wide, narrow] = pictures;
    Some(Value::from_safe_string(format!("{}{}", wide?, narrow?)))
}

/// Renders a part of a page, in which every value is escaped.
fn part(name: &str, template: &str, values: Value) -> Value {
    let rendered = environment().render_named_str(name, template, values);
    Value::from_safe_string(rendered.expect("BUG: a template of the page does not fit its values"))
}

/// Returns an environment in which a line with a tag alone leaves no trace, and a name that a template gets wrong is found.
pub(in crate::view) fn environment<'source>() -> Environment<'source> {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build()
        .expect("BUG: the usual syntax is invalid");
    let mut environment = Environment::new();
    environment.set_syntax(syntax);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
}

#[cfg(test)]
mod tests {
    use super::STYLE;

    /// The colours of a block of the style sheet, by name.
    fn colours(block: &str) -> Vec<(&str, [f64; 3])> {
        let declared = block.lines().filter_map(|line| {
            let (name, value) = line.trim().strip_prefix("--")?.split_once(": #")?;
            let hex = value.strip_suffix(';')?;
            let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
            Some((name, [part(0), part(2), part(4)]))
        });
        declared.collect()
    }

    /// Contrast as the Web Content Accessibility Guidelines define it.
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let light = |colour: [f64; 3]| {
            let [red, green, blue] = colour.map(|part| {
                let part = part / 255.0;
                match part <= 0.040_45 {
                    true => part / 12.92,
                    false => ((part + 0.055) / 1.055).powf(2.4),
                }
            });
            0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
        };
        let (one, other) = (light(one), light(other));
        one.max(other) / one.min(other)
    }

    #[test]
    fn every_colour_of_text_can_be_read_on_every_ground_it_stands_on() {
        let (light, rest) = STYLE.split_once("prefers-color-scheme: dark").unwrap();
        let (dark, _) = rest.split_once("/* end of dark */").unwrap();
        for block in [light, dark] {
            let colours = colours(block);
            let find = |name: &str| {
                let found = colours.iter().find(|(known, _)| *known == name);
                found.unwrap_or_else(|| panic!("there is no {name}")).1
            };
            let mut checked = 0;
            for ground in ["page", "raised"] {
                for text in ["text", "muted", "accent", "good", "bad", "odd"] {
                    let contrast = contrast(find(text), find(ground));
                    assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2}");
                    checked += 1;
                }
            }
            for tone in ["good", "bad", "odd"] {
                let ground = find(&format!("{tone}-ground"));
                for text in [tone, "text"] {
                    let contrast = contrast(find(text), ground);
                    assert!(contrast >= 4.5, "{text} on {tone}-ground: {contrast:.2}");
                    checked += 1;
                }
            }
            assert_eq!(checked, 18);
        }
    }
}
