//! Small words for people: text from outside made safe to show, and numbers, durations and plurals. Pure.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;

use crate::model::exact;

/// Cleans text that came from outside: no escape sequences, no control characters, no invisible change of direction.
/// Newlines and tabs stay; a carriage return becomes a newline. What stands for a byte that is no text (`exact`) becomes the
/// sign for that.
pub fn clean(text: &str) -> String {
    let mut plain = anstream::adapter::strip_str(text).to_string();
    if exact::is_odd(&plain) {
        plain = plain.chars().map(exact::as_text).collect();
    }
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

/// Replaces what a terminal would act on instead of showing it; one character stays one, so that places in the text stay true.
pub fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' => '\n',
        '\t' => ' ',
        c if c.is_control() || is_invisible(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// The styles of this program's own pages: colours and weights, and what ends them.
static STYLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("\u{1b}\\[(?:0|[1-4]|3[0-7]|9[0-7])?m")
        .expect("BUG: the pattern of styles is invalid")
});

/// Returns a page as it may go to a terminal: its own styles stay, all else that `clean` takes out goes. Whoever puts a page
/// together cleans the words of others; this is for those that were forgotten.
pub fn page(text: &str) -> String {
    let is_harmless = |c: char| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(c));
    if text.chars().all(is_harmless) {
        return text.to_owned();
    }
    let mut page = String::with_capacity(text.len());
    let mut end = 0;
    for style in STYLE.find_iter(text) {
        page.push_str(&clean(&text[end..style.start()]));
        page.push_str(style.as_str());
        end = style.end();
    }
    page.push_str(&clean(&text[end..]));
    page
}

/// Returns JSON with every character escaped that a terminal would act on; nothing of it is lost.
pub fn json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        // Outside of strings there is nothing of the kind but ends of lines.
        if c != '\n' && (c.is_control() || is_invisible(c)) {
            let units = c.encode_utf16(&mut [0; 2]).to_vec();
            escaped.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

/// Returns a word as it can be typed in a shell: quoted where that is needed, so that a command which a message shows does
/// what it says, whatever a branch or a file is called. What cannot be shown as it is (bytes that are no UTF-8, control
/// characters, invisible ones, backticks, which messages put around commands) is spelled out for `printf`.
pub fn shell_word(word: impl AsRef<[u8]>) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%,".contains(c);
    let is_shown = |c: char| !(c.is_control() || is_invisible(c) || c == '`');
    match std::str::from_utf8(word.as_ref()) {
        Ok(text) if is_word(text) && text.chars().all(is_plain) => text.to_owned(),
        Ok(text) if text.chars().all(is_shown) => format!("'{}'", text.replace('\'', r"'\''")),
        Ok(_) | Err(_) => spelled(word.as_ref()),
    }
}

/// Returns a path for people: as it is, or where it holds bytes that are no UTF-8, or characters that do not show, in the quotes
/// that `ls` and most shells have for these, as in `$'caf\\351'`.
pub fn path(path: impl AsRef<[u8]>) -> String {
    let bytes = path.as_ref();
    let is_shown = |c: char| !(c.is_control() || is_invisible(c));
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(is_shown) && !text.starts_with("$'") => text.to_owned(),
        Ok(_) | Err(_) => {
            let letter = |byte: &u8| match byte {
                b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
                b' '..=b'~' => char::from(*byte).to_string(),
                byte => format!("\\{byte:03o}"),
            };
            let letters: String = bytes.iter().map(letter).collect();
            format!("$'{letters}'")
        }
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-')
}

/// Returns the command that prints these bytes, as one word of any POSIX shell. A shell takes newlines off the end of what a
/// command prints, so those follow as they are.
fn spelled(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\n')
        .count();
    let (bytes, ends) = bytes.split_at(bytes.len() - end);
    let letter = |byte: &u8| match byte {
        b'%' => "%%".to_owned(),
        b'/' | b'.' | b'_' | b' ' | b'+' | b':' | b'@' | b',' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    let letters: String = bytes.iter().map(letter).collect();
    format!("\"$(printf '{letters}'){}\"", "\n".repeat(ends.len()))
}

/// Joins a list for people, at most `most` of it and how many more there are.
pub fn some_of(list: &[String], most: usize) -> String {
    match list.get(..most) {
        Some(shown) if shown.len() < list.len() => {
            format!("{} and {} more", shown.join(", "), list.len() - most)
        }
        Some(_) | None => list.join(", "),
    }
}

/// Joins a list for people, as many of it as so many bytes hold.
pub fn some_within(list: &[String], bytes: usize) -> String {
    let mut left = bytes;
    let fits = |one: &&String| {
        let length = one.len() + ", ".len();
        let is_room = length <= left;
        left = left.saturating_sub(length);
        is_room
    };
    some_of(list, list.iter().take_while(fits).count())
}

/// Returns shell text on one line that reads the same; comments of their own lines are left out.
pub fn on_one_line(code: &str) -> String {
    const OPEN: [&str; 13] = [
        "&&", "(", "do", "else", "in", "then", "{", "|", "||", ";;", "&", ";", "\\",
    ];
    let mut line = String::new();
    let lines = code.lines().map(str::trim);
    for next in lines.filter(|it| !it.is_empty() && !it.starts_with('#')) {
        let last = line.split_whitespace().last().unwrap_or_default();
        let goes_on =
            OPEN.contains(&last) || last.ends_with([';', '(', '|']) || last.ends_with("&&");
        match (line.is_empty(), goes_on) {
            (true, _) => {}
            (false, true) if last == "\\" => {
                line.pop();
            }
            (false, true) => line.push(' '),
            (false, false) => line.push_str("; "),
        }
        line.push_str(next);
    }
    line
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

/// Cuts text to at most `most` characters as `cut` does, behind a whole word or a part of one with hyphens; in the middle of a word
/// only where that is all there is.
pub fn cut_at_word(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(1);
    let begun: String = text.chars().take(room).collect();
    let is_whole = text.chars().nth(room).is_some_and(char::is_whitespace);
    let ends = |(at, c): (usize, char)| match c {
        '-' => Some(at + 1),
        c => c.is_whitespace().then_some(at),
    };
    let end = begun.char_indices().rev().find_map(ends);
    let kept = match end.filter(|_| !is_whole) {
        Some(end) => &begun[..end],
        None => &begun,
    };
    let kept = kept.trim_end_matches([' ', ',', ';', ':']);
    match kept.is_empty() {
        true => cut(text, most),
        false => format!("{kept}…"),
    }
}

/// Makes text from outside safe inside a cell of a Markdown table, or inside a line of Markdown. A `_` within a word stays, which is no
/// emphasis, and without a backslash in prettier's eyes.
pub fn markdown(text: &str) -> String {
    let text = clean_line(text);
    let mut safe = String::new();
    for (at, c) in text.char_indices() {
        let is_special = match c {
            '_' => !is_within_word(&text, at),
            _ => matches!(c, '\\' | '|' | '`' | '*' | '[' | ']' | '<' | '>'),
        };
        if is_special {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

/// Says whether plain letters or digits are on both sides of an underscore: with others, prettier's reader may see emphasis.
fn is_within_word(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let is_of_word = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at));
        byte.is_some_and(u8::is_ascii_alphanumeric)
    };
    is_of_word(at.checked_sub(1)) && is_of_word(Some(at + 1))
}

/// Returns what `markdown` made safe as it was.
pub fn plain(markdown: &str) -> String {
    let mut plain = String::new();
    let mut is_escaped = false;
    for c in markdown.chars() {
        is_escaped = c == '\\' && !is_escaped;
        if !is_escaped {
            plain.push(c);
        }
    }
    plain
}

/// Returns a number as people write it: at most four decimals, or four digits where it is small; an exponent only for the very
/// large and very small.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() || !(0.0001..1e15).contains(&size) {
        return format!("{value:e}");
    }
    if size >= 0.1 {
        return ((value * 10_000.0).round() / 10_000.0).to_string();
    }
    // From 0.0001 on: at most seven decimals.
    let decimals = (3.0 - size.log10().floor()) as usize;
    let written = format!("{value:.decimals$}");
    written.trim_end_matches('0').to_owned()
}

/// Returns a time in whole seconds, so that a line changes once a second at the most.
pub fn clock(time: Duration) -> String {
    let whole = time.as_secs();
    match whole {
        0..10 => format!("{whole} s"),
        _ => duration(Duration::from_secs(whole).as_secs_f64()),
    }
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

/// Returns a count with its noun: `1 cycle`, `2 cycles`.
pub fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// Says how many of the goals pass: `1 of 1 goal passes`, `1 of 2 goals pass`.
pub fn passing(passing: usize, total: usize) -> String {
    let verb = if total == 1 { "passes" } else { "pass" };
    format!("{passing} of {} {verb}", count(total, "goal"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_text_on_one_line_reads_the_same() {
        for (code, expected) in [
            ("set -e\nmake\n", "set -e; make"),
            (
                "if [ -e a ]; then\n  b\nelse\n  c\nfi",
                "if [ -e a ]; then b; else c; fi",
            ),
            ("for a in *; do\n  b\ndone", "for a in *; do b; done"),
            ("verify &&\nfind .", "verify && find ."),
            ("a |\n  b\n\n# note\nc", "a | b; c"),
            ("a \\\n  --b", "a --b"),
            ("f() {\n  a\n}", "f() { a; }"),
            ("case $a in\nb) c ;;\nesac", "case $a in b) c ;; esac"),
        ] {
            assert_eq!(on_one_line(code), expected, "{code}");
        }
    }

    #[test]
    fn a_path_is_shown_as_it_is_or_so_that_it_can_be_pasted() {
        for (path, shown) in [
            (&b"a b/caf\xc3\xa9"[..], "a b/café"),
            (b"caf\xe9 it's \\", r"$'caf\351 it\'s \\'"),
            (b"two\nlines\x1b", r"$'two\012lines\033'"),
            (b"$'x'", r"$'$\'x\''"),
        ] {
            assert_eq!(super::path(path), shown);
        }
    }

    #[test]
    fn what_was_made_safe_for_markdown_can_be_had_back() {
        for words in ["a_b", r"\\ \n", "*`<x>`* | [y]", ""] {
            assert_eq!(plain(&markdown(words)), words);
        }
    }

    #[test]
    fn colours_and_control_characters_go_and_the_layout_stays() {
        let text = "\u{1b}[31mred\u{1b}[0m\tone\r\ntwo\u{7}\u{0}\u{9b}\u{202e}";
        assert_eq!(clean(text), "red\tone\ntwo");
        assert_eq!(clean_line(text), "red one two");
        assert_eq!(clean("a\u{1b}]0;title\u{7}b"), "ab");
    }

    #[test]
    fn characters_that_hide_words_or_turn_them_round_go_and_what_joins_letters_stays() {
        let hidden =
            "a\u{61c}\u{180e}\u{200b}\u{200f}\u{202e}\u{2066}\u{feff}\u{fff9}\u{e0041}\u{e0100}b";
        assert_eq!(clean(hidden), "ab");
        let joined = "नमस्\u{200d}ते \u{1f468}\u{200d}\u{1f469} ❤\u{fe0f}";
        assert_eq!(clean(joined), joined);
    }

    #[test]
    fn a_page_keeps_its_own_styles_and_nothing_else_that_a_terminal_acts_on() {
        let page_of = "\u{1b}[1mscore\u{1b}[0m \u{1b}[31mbad\u{1b}[0m";
        assert_eq!(page(page_of), page_of);
        let hostile = "a\u{1b}[2J\u{1b}[8mb\u{1b}]0;t\u{7}c\u{9b}1m\u{202e}d\u{1b}[38;5;1me";
        assert_eq!(
            page(&format!("{page_of}{hostile}\n")),
            format!("{page_of}abc1mde\n")
        );
    }

    #[test]
    fn json_is_escaped_and_stays_the_same_document() {
        let document =
            serde_json::json!({"branch": "a\u{9b}\u{202e}\u{e0041}\n\"b\\", "c": ["\u{7f}", "ü"]});
        let text = json(&format!("{document:#}\n"));
        assert!(
            text.chars()
                .all(|c| c == '\n' || !(c.is_control() || is_invisible(c))),
            "{text:?}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).ok(),
            Some(document)
        );
    }

    #[test]
    fn a_word_in_a_shown_command_is_one_word_to_the_shell() {
        for word in [
            "main",
            "a;rm -rf ~",
            "it's",
            "$(x)",
            "`x`",
            "a\nb",
            "",
            "-f",
            "a b",
            "feature/ü-1",
            "*",
            "~root",
            "#x",
            "!x",
            "100%d\t\\n",
            "turned \u{202e}around",
            "\u{1b}[2Jgone",
            "-n\n",
            "ends\n\n",
        ] {
            assert_one_word(word.as_bytes());
        }
        for word in [&b"caf\xe9"[..], b"\xff\xfe's `x` $HOME %s\\", b"-\x80\n"] {
            assert_one_word(word);
        }
    }

    fn assert_one_word(word: &[u8]) {
        let shown = shell_word(word);
        let line = format!("printf %s. {shown} end");
        let ran = std::process::Command::new("sh")
            .args(["-c", &line])
            .output()
            .expect("sh runs");
        let printed = [word, b".end."].concat();
        assert_eq!(ran.stdout, printed, "{line}");
        assert_eq!(page(&shown), shown, "a terminal would get something else");
        assert!(!shown.contains('`'), "{shown}");
    }

    #[test]
    fn a_cell_cannot_leave_its_table() {
        assert_eq!(markdown("a|b\nc `d`"), "a\\|b c \\`d\\`");
        for (text, safe) in [
            (
                "tests/test_calc.sh node_modules/.bin",
                "tests/test_calc.sh node_modules/.bin",
            ),
            ("a__b_c", "a\\_\\_b_c"),
            ("__init__.py", "\\_\\_init\\_\\_.py"),
            ("src/_x.py x_ (_y_)", "src/\\_x.py x\\_ (\\_y\\_)"),
            ("ä_ö_1 _", "ä\\_ö\\_1 \\_"),
        ] {
            assert_eq!(markdown(text), safe);
        }
    }

    #[test]
    fn long_text_is_cut_between_characters() {
        assert_eq!(cut("äöüß", 4), "äöüß");
        assert_eq!(cut("äöüßx", 4), "äöü…");
    }

    #[test]
    fn long_text_is_cut_between_words_where_it_has_any() {
        for (most, expected) in [
            (26, "tests-pass: it still fails"),
            (25, "tests-pass: it still…"),
            (21, "tests-pass: it still…"),
            (15, "tests-pass: it…"),
            (12, "tests-pass…"),
            (9, "tests-…"),
            (5, "test…"),
            (1, "…"),
        ] {
            assert_eq!(
                cut_at_word("tests-pass: it still fails", most),
                expected,
                "{most}"
            );
        }
        assert_eq!(cut_at_word(" 目標目標", 3), " 目…");
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
            (0.000_118_23, "0.0001182"),
            (-0.047_3, "-0.0473"),
            (0.05, "0.05"),
            (0.099_999_9, "0.1"),
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
