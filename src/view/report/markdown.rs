//! A report as Markdown, small enough for a pull request.

use minijinja::value::Serde;
use minijinja::{AutoEscape, Error, Output, State, Value, context};

use crate::model::report::Report;
use crate::model::text;

const PAGE: &str = include_str!("page.md.j2");
/// The most characters that a pull request's text may have on GitHub are 65,536; some are left for what people add.
const MOST: usize = 60_000;
/// How many rows of each table are told, as many as fit.
const ROWS: [usize; 5] = [50, 20, 10, 5, 1];
/// The name of this way to escape.
const ESCAPE: &str = "markdown";

/// Returns the report as Markdown. With names as long as can be, the tables are shorter.
pub fn markdown(report: &Report) -> String {
    let pages = ROWS.iter().map(|rows| page(report, *rows));
    let mut shortest = String::new();
    for page in pages {
        if page.chars().count() <= MOST {
            return page;
        }
        shortest = page;
    }
    text::cut(&shortest, MOST)
}

fn page(report: &Report, rows: usize) -> String {
    let mut environment = super::environment();
    environment.set_auto_escape_callback(|_| AutoEscape::Custom(ESCAPE.into()));
    environment.set_formatter(write);
    let values = context! {
        report => Value::from(Serde(report)),
        rows => rows,
        version => env!("CARGO_PKG_VERSION"),
    };
    let page = environment
        .render_named_str("page.md.j2", PAGE, values)
        .expect("BUG: the template for Markdown does not fit its values");
    format!("{page}\n")
}

/// Writes a value; a text that is not marked as safe is escaped.
fn write(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.as_str() {
        Some(words) if !value.is_safe() => out.write_str(&escaped(words))?,
        Some(words) => out.write_str(words)?,
        None => out.write_str(&value.to_string())?,
    }
    Ok(())
}

/// Returns words so that nothing in them is Markdown, calls a person, links to an issue or leads anywhere.
fn escaped(words: &str) -> String {
    let safe = text::markdown(words)
        .replace('~', "\\~")
        .replace('&', "&amp;");
    let safe = safe
        .replace("://", ":<!-- -->//")
        .replace("www.", "www<!-- -->.");
    let mut quiet = String::new();
    for letter in safe.chars() {
        quiet.push(letter);
        // GitHub takes @name for a person and #1 for an issue.
        if matches!(letter, '@' | '#') {
            quiet.push_str("<!-- -->");
        }
    }
    // Part of a sentence keeps its distance from the parts around it.
    if quiet.is_empty() {
        return quiet;
    }
    let blank = |is_apart| if is_apart { " " } else { "" };
    let before = blank(words.trim_start() != words);
    let after = blank(words.trim_end() != words);
    format!("{before}{quiet}{after}")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn words_of_others_call_nobody_and_lead_nowhere() {
        for (words, safe) in [
            ("tests-pass", "tests-pass"),
            ("@team: see #1", "@<!-- -->team: see #<!-- -->1"),
            ("say so: ", "say so: "),
            (" says more", " says more"),
            (" ", ""),
            ("a | b\n# c", "a \\| b #<!-- --> c"),
            ("<b>&amp;", "\\<b\\>&amp;amp;"),
            (
                "https://x.invalid www.x",
                "https:<!-- -->//x.invalid www<!-- -->.x",
            ),
            ("~~no~~ `x` [a](b)", "\\~\\~no\\~\\~ \\`x\\` \\[a\\](b)"),
        ] {
            assert_eq!(escaped(words), safe);
        }
    }
}
