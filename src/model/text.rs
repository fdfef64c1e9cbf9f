//! Small words for people: text from outside made safe to show, and numbers, durations and plurals. Pure.

/// Cleans text that came from outside: no escape sequences, no control characters, no invisible change of direction.
/// Newlines and tabs stay; a carriage return becomes a newline.
pub fn clean(text: &str) -> String {
    let plain = anstream::adapter::strip_str(text).to_string();
    plain
        .replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(*c)))
        .collect()
}

/// Cleans text like `clean` and folds it into one line.
pub fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says whether a character shows nothing but changes how its neighbours are shown, pretends that nothing is there, or
/// hides words from a person that a program reads. What joins letters and emoji (U+200C, U+200D, U+FE0F) is none of these.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Cuts text to at most `most` characters; the last of them tells that something is missing.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Makes text from outside safe inside a cell of a Markdown table, or inside a line of Markdown.
pub fn markdown(text: &str) -> String {
    let mut safe = String::new();
    for c in clean_line(text).chars() {
        if matches!(c, '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>') {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

/// Returns a number as people write it: at most four decimals, an exponent only for the very large and very small.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() || !(0.0001..1e15).contains(&size) {
        return format!("{value:e}");
    }
    ((value * 10_000.0).round() / 10_000.0).to_string()
}

/// Returns what was measured and what it was held against; both in full where rounding would make them look equal.
pub fn against(value: f64, threshold: f64) -> String {
    let (short, held) = (number(value), number(threshold));
    if short == held && value.to_bits() != threshold.to_bits() {
        return format!("{value} vs {threshold}");
    }
    format!("{short} vs {held}")
}

/// Returns seconds as people say them: `<0.1 s`, `0.3 s`, `42 s`, `3m 07s`, `1h 02m`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "0 s".to_owned();
    }
    if seconds < 0.1 {
        return "<0.1 s".to_owned();
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    // Far beyond any session, so the cast below cannot saturate unseen.
    let whole = seconds.round().min(1e12) as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        _ => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// The longest problem of a line of JSON, in characters: it may quote what stands there.
const JSON_PROBLEM: usize = 200;

/// Returns what is wrong with a line of JSON, without the place: that is a line of its own to the parser. The parser quotes
/// what it found, so that is cleaned and cut.
pub fn json_problem(cause: &serde_json::Error) -> String {
    let said = cause.to_string();
    let said = match said.rfind(" at line ") {
        Some(end) => &said[..end],
        None => &said,
    };
    cut(&clean_line(said), JSON_PROBLEM)
}

/// Returns a count with its noun: `1 cycle`, `2 cycles`.
pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_control_characters_go_and_the_layout_stays() {
        let text = "\u{1b}[31mred\u{1b}[0m\tone\r\ntwo\u{7}\u{0}\u{9b}\u{202e}";
        assert_eq!(clean(text), "red\tone\ntwo");
        assert_eq!(clean_line(text), "red one two");
        assert_eq!(clean("a\u{1b}]0;title\u{7}b"), "ab");
    }

    #[test]
    fn a_cell_cannot_leave_its_table() {
        assert_eq!(markdown("a|b\nc `d`"), "a\\|b c \\`d\\`");
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(cut("äöüß", 4), "äöüß");
        assert_eq!(cut("äöüßx", 4), "äöü…");
    }

    #[test]
    fn numbers_are_short_unless_that_would_mislead() {
        let cases = [
            (0.0, "0"),
            (61.5, "61.5"),
            (85.714_285_7, "85.7143"),
            (-2.0, "-2"),
            (1e-5, "1e-5"),
            (1e20, "1e20"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text);
        }
        assert_eq!(against(79.5, 80.0), "79.5 vs 80");
        assert_eq!(against(79.999_999, 80.0), "79.999999 vs 80");
    }

    #[test]
    fn durations_are_read_at_a_glance() {
        let cases = [
            (0.0, "<0.1 s"),
            (0.099, "<0.1 s"),
            (0.1, "0.1 s"),
            (0.26, "0.3 s"),
            (9.99, "10 s"),
            (187.0, "3m 07s"),
            (3725.0, "1h 02m"),
            (-1.0, "0 s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text);
        }
    }
}
