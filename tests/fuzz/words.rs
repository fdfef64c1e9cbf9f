//! Words from outside on their way to a terminal, a commit or a brief; masking; and the values of flags.

use evolve::model::{duration, exact, mask, text};

use crate::feed::{Format, feed};
use crate::nasty::{self, assert_clean};

#[test]
fn words_are_clean_whatever_they_were() {
    const WORDS: &[&str] = &[
        "\u{1b}[0m",
        "\u{1b}P",
        "\u{1b}\\",
        "\u{9d}",
        "\u{90}",
        "\u{9c}",
        "\u{1b}(B",
        "\u{1b}#8",
        "|",
        "`",
        "**",
        "](",
        "<b>",
        "\r",
    ];
    let mut samples: Vec<Vec<u8>> = [
        "refs/heads/a;rm -rf ~",
        "src/na\u{ef}ve \"file\".rs",
        "a\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{7}",
        "deploy is frozen until Monday",
        "fix: a | b `c` [d](e)",
        "\u{1b}[38;5;196mred\u{1b}[0m plain",
        "caf\u{65}\u{301} \u{1f468}\u{200d}\u{1f469}",
        "a\tb\nc\r\nd\re",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect();
    samples.push(b"caf\xe9/\xff\xfe.txt".to_vec());
    samples.extend(nasty::structures());
    feed(
        Format {
            name: "words",
            samples,
            words: WORDS.to_vec(),
        },
        |input| {
            let lossy = String::from_utf8_lossy(input);
            let exactly = exact::decode(input);
            assert_eq!(exact::encode(&exactly), input);
            for raw in [&*lossy, &exactly] {
                let clean = text::clean(raw);
                assert_clean(&clean);
                assert_eq!(
                    text::clean(&clean),
                    clean,
                    "cleaning twice changes something"
                );
                let line = text::clean_line(raw);
                assert_clean(&line);
                assert!(!line.contains(['\n', '\t']));
                let cell = text::markdown(raw);
                assert_clean(&cell);
                let bare = cell.replace("\\\\", "").replace("\\|", "");
                assert!(!bare.contains('|'), "{cell:?} leaves its cell");
                assert!(text::cut(&line, 20).chars().count() <= 20);
            }
        },
    );
}

#[test]
fn masked_text_has_no_secret_and_stays_masked() {
    const WORDS: &[&str] = &[
        "ghp_",
        "github_pat_",
        "glpat-",
        "AKIA",
        "sk-ant-api03-",
        "sk-proj-",
        "xoxb-",
        "AIza",
        "npm_",
        "pypi-",
        "eyJhbGciOiJIUzI1NiJ9.",
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "-----END RSA PRIVATE KEY-----\n",
        "password=",
        "PASSWORD: ",
        "Authorization: Bearer ",
        "https://u:",
        "@host/",
        "token",
        "secret = \"",
        "***",
        "=",
        "\"",
        "\\n",
        "=\n",
    ];
    let samples: Vec<Vec<u8>> = [
        "token ghp_0123456789abcdefghijABCDEFGHIJ012345 end",
        "\"password\": \"hunter2222\"",
        "https://ci:hunter2@git.example.org/x.git",
        "Authorization: Bearer abc.def.ghi",
        "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n",
        "aws AKIAABCDEFGHIJKLMNOP",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .chain(nasty::structures())
    .collect();
    feed(
        Format {
            name: "masked",
            samples,
            words: WORDS.to_vec(),
        },
        |input| {
            const TOKEN: &str = "ghp_ZYXWVUTSRQPONMLKJIHG9876543210zyxwvuts";
            let text = String::from_utf8_lossy(input);
            let masked = mask::secrets(&text);
            // Behind a mask something may begin that began in the middle of a word before.
            assert!(
                only_takes_away(&mask::secrets(&masked), &masked),
                "masking twice brings something back"
            );
            // Whatever stands around it, a token on a line of its own is found.
            let around = format!("{text}\n {TOKEN} \n{text}");
            assert!(!mask::secrets(&around).contains(TOKEN));
            // So it is in a stream, wherever that is cut.
            let mut stream = mask::Stream::default();
            let (one, other) = around
                .as_bytes()
                .split_at(around.len() * (input.len() % 8) / 8);
            let streamed = [stream.push(one), stream.push(other), stream.finish()].concat();
            assert!(!String::from_utf8_lossy(&streamed).contains(TOKEN));
        },
    );
}

#[test]
fn flags_are_read_or_refused() {
    use clap::Parser;
    const WORDS: &[&str] = &[
        "s", "m", "h", "d", "ms", "1h30m", "k", "M", "$", ".", "-", "e9", "inf", "0",
    ];
    let samples = [
        "90",
        "2m",
        "1h30",
        "4h",
        "1.5h",
        "5",
        "2.50",
        "500k",
        "2M",
        "18446744073709551615d",
        "$3",
    ];
    let samples = samples
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    feed(
        Format {
            name: "flags",
            samples,
            words: WORDS.to_vec(),
        },
        |input| {
            let text = String::from_utf8_lossy(input);
            if let Err(why) = duration::parse(&text) {
                assert!(!why.is_empty());
            }
            for flag in [
                "--max-time",
                "--max-cost",
                "--max-tokens",
                "--max-cycles",
                "--idle-wait",
                "--jobs",
                "--timeout",
            ] {
                let _ =
                    evolve::cli::Arguments::try_parse_from(["evolve", &format!("{flag}={text}")]);
            }
        },
    );
}

/// Says whether all that a masked text shows is in another one, in the same order.
fn only_takes_away(masked: &str, earlier: &str) -> bool {
    let mut earlier = earlier.chars();
    let mut shown = masked.chars().filter(|c| *c != '*');
    shown.all(|c| earlier.any(|it| it == c))
}
