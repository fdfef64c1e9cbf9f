//! Masks a stream as it comes, in pieces that are cut anywhere: no secret slips through between two of them. Pure.

use std::ops::Range;

use super::{found, replaced};

/// A line that is longer than this is masked in parts.
const LONGEST_LINE: usize = 64 * 1024;
/// How much of a longer line is held back for what follows: no secret but a private key has more.
const HELD: usize = 4 * 1024;
/// What a private key begins and ends with.
const KEY_BEGINS: &str = "-----BEGIN ";
const KEY_ENDS: &str = "-----END ";
/// The shortest line of a key but its last.
const KEY_LINE: usize = 16;

/// A stream that is masked line by line.
#[derive(Debug, Default)]
pub struct Stream {
    pending: Vec<u8>,
    /// The last line was part of a private key that has not ended.
    is_in_key: bool,
}

impl Stream {
    /// Takes the next bytes; returns those that are complete, masked.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.iter().rposition(|byte| *byte == b'\n');
        let mut done = match whole {
            Some(end) => self.mask(end + 1),
            None => Vec::new(),
        };
        if self.pending.len() > LONGEST_LINE {
            let end = self.before_a_secret(self.pending.len() - HELD);
            done.extend(self.mask(end));
        }
        done
    }

    /// Returns what is left at the end of the stream, masked.
    pub fn finish(&mut self) -> Vec<u8> {
        self.mask(self.pending.len())
    }

    fn mask(&mut self, end: usize) -> Vec<u8> {
        let rest = self.pending.split_off(end);
        let bytes = std::mem::replace(&mut self.pending, rest);
        let mut masked = Vec::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            let text = self.after_key(chunk.valid());
            let secrets = found(text);
            self.is_in_key |= ends_in_key(text, secrets.last());
            masked.extend_from_slice(replaced(text, &secrets).as_bytes());
            masked.extend_from_slice(chunk.invalid());
        }
        masked
    }

    /// Returns the text behind the private key that it goes on with.
    fn after_key<'t>(&mut self, text: &'t str) -> &'t str {
        let mut rest = text;
        while self.is_in_key && !rest.is_empty() {
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
            let words = line.trim();
            let is_key = words.chars().all(is_base64)
                && (words.len() >= KEY_LINE || words.ends_with('=') || words.is_empty());
            let is_end = words.starts_with(KEY_ENDS);
            let is_header = words.contains(": ") && words.starts_with(['P', 'D', 'V', 'C']);
            self.is_in_key = is_key || is_header;
            if !(is_key || is_end || is_header) {
                break;
            }
            rest = &rest[line.len()..];
        }
        rest
    }

    /// Returns a place at or before `end` where no secret is cut, and no character.
    fn before_a_secret(&self, end: usize) -> usize {
        let mut end = end;
        while end > 0 && self.pending[end] & 0xC0 == 0x80 {
            end -= 1;
        }
        let text = String::from_utf8_lossy(&self.pending);
        // Places in text that was mended are not those of the bytes; such a line is no text, and cut where it is.
        if text.len() != self.pending.len() {
            return end;
        }
        let cut = found(&text)
            .into_iter()
            .find(|secret| secret.start < end && end < secret.end);
        match cut {
            Some(Range { start: 0, .. }) | None => end,
            Some(Range { start, .. }) => start,
        }
    }
}

fn ends_in_key(text: &str, last: Option<&Range<usize>>) -> bool {
    last.is_some_and(|last| {
        let secret = &text[last.clone()];
        secret.starts_with(KEY_BEGINS)
            && !secret.contains(KEY_ENDS)
            && text[last.end..].trim().is_empty()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::mask::{MASK, secrets};

    fn streamed(pieces: &[&[u8]]) -> String {
        let mut stream = Stream::default();
        let mut bytes: Vec<u8> = pieces.iter().flat_map(|piece| stream.push(piece)).collect();
        bytes.extend(stream.finish());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    #[test]
    fn a_token_that_is_cut_anywhere_is_masked() {
        let text = format!("before {TOKEN} after\nAPI_KEY={TOKEN}");
        for cut in 0..text.len() {
            let (one, other) = text.as_bytes().split_at(cut);
            assert_eq!(
                streamed(&[one, other]),
                format!("before {MASK} after\nAPI_KEY={MASK}")
            );
        }
    }

    #[test]
    fn a_private_key_that_comes_line_by_line_is_masked_and_what_follows_is_not() {
        let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(40);
        let text = format!(
            "a\n-----BEGIN RSA PRIVATE KEY-----\n{body}q83v\n-----END RSA PRIVATE KEY-----\nb\n"
        );
        let lines: Vec<&[u8]> = text.split_inclusive('\n').map(str::as_bytes).collect();
        let masked = streamed(&lines);
        assert!(!masked.contains("MIIE"), "{masked}");
        assert!(
            masked.starts_with("a\n***") && masked.ends_with("b\n"),
            "{masked}"
        );
        // One that never ends hides no more than itself.
        let open = format!("-----BEGIN RSA PRIVATE KEY-----\n{body}the tests failed\nb\n");
        let lines: Vec<&[u8]> = open.split_inclusive('\n').map(str::as_bytes).collect();
        assert!(streamed(&lines).ends_with("the tests failed\nb\n"));
    }

    #[test]
    fn a_line_without_end_is_bounded_and_no_token_in_it_is_lost() {
        let mut stream = Stream::default();
        let mut masked = Vec::new();
        let piece = format!("{} {TOKEN} ", "x".repeat(997));
        for _ in 0..500 {
            masked.extend(stream.push(piece.as_bytes()));
            assert!(stream.pending.len() <= LONGEST_LINE + piece.len());
        }
        masked.extend(stream.finish());
        let masked = String::from_utf8(masked).expect("UTF-8");
        assert!(!masked.contains("0123456789"));
        assert_eq!(masked.matches(MASK).count(), 500);
    }

    #[test]
    fn bytes_that_are_no_text_come_through() {
        let bytes = [b"\xff\xfe a\x80b \x00".as_slice(), &[0xE2, 0x82, b'\n']].concat();
        let mut stream = Stream::default();
        let mut out = stream.push(&bytes[..5]);
        out.extend(stream.push(&bytes[5..]));
        out.extend(stream.finish());
        assert_eq!(out, bytes);
    }

    proptest! {
        #[test]
        fn where_a_stream_is_cut_makes_no_difference(
            words in prop::collection::vec("[ a-z=:\"\n]{0,12}|ghp_[A-Za-z0-9]{24}|password[=:]|eyJ[a-z]{9}\\.", 0..30),
            cuts in prop::collection::vec(0.0..1.0, 0..5),
        ) {
            let text = words.concat();
            let mut places: Vec<usize> = cuts.iter().map(|cut| (text.len() as f64 * cut) as usize).collect();
            places.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for place in places {
                pieces.push(&text.as_bytes()[from..place]);
                from = place;
            }
            pieces.push(&text.as_bytes()[from..]);
            prop_assert_eq!(streamed(&pieces), secrets(&text));
        }
    }
}
