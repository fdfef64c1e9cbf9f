//! Makes one input of others: bytes turned, pieces cut out, doubled, moved and put in, numbers and words exchanged.

use crate::chance::Chance;
use crate::feed::Format;

/// The largest input that is mutated or made, in bytes. What is larger is taken as a sample only.
const LARGEST: usize = 32 * 1024;

/// What is put into any format: characters that terminals, parsers and shells act on, and the edges of numbers.
const NASTY: [&[u8]; 54] = [
    b"\0",
    b"\x1b[31m",
    b"\x1b]0;title\x07",
    b"\x1b",
    b"\x9b2J",
    "\u{9b}2J".as_bytes(),
    b"\x08",
    b"\x7f",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\t",
    "\u{feff}".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{2066}".as_bytes(),
    "\u{200b}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{85}".as_bytes(),
    "\u{ad}".as_bytes(),
    "\u{e0041}".as_bytes(),
    "\u{10ffff}".as_bytes(),
    "\u{10ff41}".as_bytes(),
    "e\u{301}\u{301}\u{301}".as_bytes(),
    "İ".as_bytes(),
    b"\xff\xfe",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
    b"\\ud800",
    b"\\u0000",
    b"\\u001b[2J",
    b"\\",
    b"\"",
    b"'",
    b"`",
    b"$(touch x)",
    b"; rm -rf ~",
    b"%n%s",
    b"{{ x }}",
    b"{% if %}",
    b"../../../etc/passwd",
    b"-1",
    b"-0",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775808",
    b"1e308",
    b"1e999",
    b"-1e-400",
    b"NaN",
    b"Infinity",
    b"0x7fffffff",
    b"ghp_0123456789abcdefghijABCDEFGHIJ012345",
];

/// Makes one input.
pub fn mutated(format: &Format, chance: &mut Chance) -> Vec<u8> {
    let small: Vec<&Vec<u8>> = format
        .samples
        .iter()
        .filter(|sample| sample.len() <= LARGEST)
        .collect();
    let mut input = (*chance.pick(&small)).clone();
    let times = 1 + chance.below(8);
    for _ in 0..times {
        change(&mut input, (format, &small), chance);
        input.truncate(LARGEST);
    }
    input
}

fn change(input: &mut Vec<u8>, (format, samples): (&Format, &[&Vec<u8>]), chance: &mut Chance) {
    let place = below(chance, input.len() + 1);
    match chance.below(12) {
        0 => {
            if let Some(byte) = input.get_mut(place) {
                *byte ^= 1 << chance.below(8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(place) {
                *byte = u8::try_from(chance.below(256)).expect("a byte");
            }
        }
        2 => input.truncate(place),
        3 => drop(input.drain(piece(input, chance))),
        4 => {
            let piece = input[piece(input, chance)].to_vec();
            put(input, place, &piece);
        }
        5 => {
            // Deep nesting and long lists come from a piece that follows itself often.
            let piece = &input[piece(input, chance)];
            let most = (4096 / piece.len().max(1)).max(1);
            let piece = piece.repeat(1 + below(chance, most));
            put(input, place, &piece);
        }
        6 => {
            let other = *chance.pick(samples);
            let piece = &other[piece(other, chance)];
            put(input, place, piece);
        }
        7 | 8 if !format.words.is_empty() => {
            let word = chance.pick(&format.words).as_bytes();
            put(input, place, word);
        }
        9 => exchange_number(input, chance),
        10 => swap_lines(input, chance),
        _ => {
            let word = chance.pick(&NASTY);
            put(input, place, word);
        }
    }
}

/// Puts a nasty word, or another number, in the place of one of the input's numbers.
fn exchange_number(input: &mut Vec<u8>, chance: &mut Chance) {
    let from = below(chance, input.len() + 1);
    let Some(start) = input[from..].iter().position(u8::is_ascii_digit) else {
        return;
    };
    let start = from + start;
    let rest = &input[start..];
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = match chance.below(2) {
        0 => chance.number().to_string().into_bytes(),
        _ => chance.pick(&NASTY).to_vec(),
    };
    drop(input.splice(start..start + length, number));
}

fn swap_lines(input: &mut Vec<u8>, chance: &mut Chance) {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let (one, other) = (below(chance, lines.len()), below(chance, lines.len()));
    lines.swap(one, other);
    *input = lines.concat();
}

fn put(input: &mut Vec<u8>, place: usize, piece: &[u8]) {
    drop(input.splice(place..place, piece.iter().copied()));
}

/// Returns where a piece of the input lies; short ones are likelier.
fn piece(input: &[u8], chance: &mut Chance) -> std::ops::Range<usize> {
    let start = below(chance, input.len() + 1);
    let most = 1 << chance.below(11);
    let length = below(chance, most + 1).min(input.len() - start);
    start..start + length
}

fn below(chance: &mut Chance, bound: usize) -> usize {
    usize::try_from(chance.below(bound as u64)).expect("smaller than a length")
}
