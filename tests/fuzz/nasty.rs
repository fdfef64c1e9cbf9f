//! Inputs that have broken readers before: nesting, repetition, size, and what no text file should hold.

/// Inputs for any format that is text in brackets and quotes.
pub fn structures() -> Vec<Vec<u8>> {
    let mut inputs = vec![Vec::new(), b"\n".to_vec(), b"\0".to_vec()];
    for (open, times) in [
        ("[", 100_000),
        ("{", 100_000),
        ("{\"a\":", 100_000),
        ("[{\"a\":", 50_000),
        ("[[", 64),
        ("{a: ", 60_000),
        ("- ", 100_000),
        ("? ", 100_000),
        ("<a>", 80_000),
        ("((((", 20_000),
        ("\u{1b}[", 50_000),
        ("\u{1b}]", 50_000),
        ("\u{feff}", 50_000),
        ("e\u{301}", 50_000),
        ("\\", 100_000),
        ("\"", 100_000),
        ("\n", 200_000),
        (" ", 200_000),
        ("a", 250_000),
        ("0", 250_000),
        ("9", 400),
        ("=", 100_000),
        ("eyJ", 60_000),
        ("://:", 50_000),
        ("-----BEGIN PRIVATE KEY-----", 5_000),
    ] {
        inputs.push(open.repeat(times).into_bytes());
    }
    let closed = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth)).into_bytes()
    };
    inputs.push(closed("[", "]", 126));
    inputs.push(closed("[", "]", 20_000));
    inputs.push(closed("{\"a\":", "}", 126));
    inputs.push(closed("{\"a\":", "}", 20_000));
    inputs.push((0..=255).collect());
    inputs.push(b"\xef\xbb\xbf{}".to_vec());
    inputs.push(b"\xff\xfe{\0}\0".to_vec());
    inputs
}

/// Asserts that text that was cleaned for a terminal, a brief or a commit holds nothing that is acted on instead of shown.
#[track_caller]
pub fn assert_clean(text: &str) {
    let found = text
        .chars()
        .find(|c| is_acted_on(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(found, None, "in {text:?}");
}

/// Asserts that a page is clean but for its own styles, which no cleaned text can hold.
#[track_caller]
pub fn assert_clean_page(page: &str) {
    let style = regex::Regex::new("\u{1b}\\[[0-9;]*m").expect("a pattern");
    assert_clean(&style.replace_all(page, ""));
}

/// Control characters, and those that change the direction or the place of their neighbours.
fn is_acted_on(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{2066}'..='\u{2069}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}
