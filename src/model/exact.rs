//! Text that stands for any bytes: what is no UTF-8 is held as private characters and comes back as the bytes it was. Pure.
//!
//! The queue and the history are written back as a whole; lines that this program does not understand must survive that
//! byte for byte, whatever they are.

/// The characters from here to the last one each stand for one byte.
const FIRST: u32 = 0x10_FF00;
/// The byte that each of them starts with in UTF-8. Text without it, which is nearly all there is, stands for itself.
const LEAD: u8 = 0xF4;

/// Returns bytes as text.
pub fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&LEAD) => text.to_owned(),
        Ok(_) | Err(_) => decode_chunks(bytes),
    }
}

/// The same of bytes that need not be copied where they are plain text.
pub fn decode_all(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) if !text.as_bytes().contains(&LEAD) => text,
        Ok(text) => decode_chunks(text.as_bytes()),
        Err(cause) => decode_chunks(cause.as_bytes()),
    }
}

fn decode_chunks(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        match chunk.valid().as_bytes().contains(&LEAD) {
            true => decode_each(chunk.valid(), &mut text),
            false => text.push_str(chunk.valid()),
        }
        text.extend(chunk.invalid().iter().copied().map(holder));
    }
    text
}

fn decode_each(valid: &str, text: &mut String) {
    for c in valid.chars() {
        match stands_for_byte(c) {
            // A file may hold such a character itself; its bytes are then held one by one.
            Some(_) => text.extend(c.to_string().bytes().map(holder)),
            None => text.push(c),
        }
    }
}

/// Returns the bytes that `decode` made this text of.
pub fn encode(text: &str) -> Vec<u8> {
    if !text.as_bytes().contains(&LEAD) {
        return text.as_bytes().to_vec();
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match stands_for_byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

/// The same of text that need not be copied where it is plain.
pub fn encode_all(text: String) -> Vec<u8> {
    match text.as_bytes().contains(&LEAD) {
        true => encode(&text),
        false => text.into_bytes(),
    }
}

/// Says whether this text is what `decode` makes of these bytes.
pub fn is_of(text: &str, bytes: &[u8]) -> bool {
    match text.as_bytes().contains(&LEAD) {
        true => decode(bytes) == text,
        // Of bytes that are no UTF-8 it makes text with that byte.
        false => text.as_bytes() == bytes,
    }
}

/// Says whether text stands for bytes that are no UTF-8, or that text could not tell from such.
pub fn is_odd(text: &str) -> bool {
    text.as_bytes().contains(&LEAD) && text.chars().any(|c| stands_for_byte(c).is_some())
}

/// Returns text for people, in which each byte that is no UTF-8 is written as in `\xff`.
pub fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match stands_for_byte(c) {
            Some(byte) => shown.push_str(&format!("\\x{byte:02x}")),
            None => shown.push(c),
        }
    }
    shown
}

/// Returns a branch's name without `refs/heads/`.
pub fn short_branch(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

/// Returns a branch's name for people, without `refs/heads/`.
pub fn shown_branch(name: &str) -> String {
    shown(short_branch(name))
}

/// Returns a character as it may stand in text of this program's own: what stands for a byte, or could be taken for such, is
/// replaced, because it would be written as that byte.
pub fn as_text(c: char) -> char {
    match stands_for_byte(c) {
        Some(_) => char::REPLACEMENT_CHARACTER,
        None => c,
    }
}

fn holder(byte: u8) -> char {
    char::from_u32(FIRST + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn stands_for_byte(c: char) -> Option<u8> {
    u32::from(c)
        .checked_sub(FIRST)
        .and_then(|byte| u8::try_from(byte).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(decode("grün ✓\n".as_bytes()), "grün ✓\n");
    }

    #[test]
    fn people_see_which_bytes_are_no_text() {
        let text = decode(b"gr\xc3\xbcn\xff\x80");
        assert_eq!(shown(&text), r"grün\xff\x80");
        assert!(is_odd(&text) && !is_odd("grün"));
    }

    #[test]
    fn a_character_that_only_begins_like_a_stand_in_is_not_odd() {
        assert!(is_odd("\u{10ffff}") && !is_odd("\u{100000}"));
    }

    #[test]
    fn own_text_holds_nothing_that_could_be_taken_for_a_byte() {
        assert_eq!(
            ['a', '\u{100000}', '\u{10ff41}'].map(as_text),
            ['a', '\u{100000}', '\u{fffd}']
        );
    }

    #[test]
    fn characters_that_stand_for_bytes_survive_too() {
        let text = "a\u{10ff41}b\u{10ffff}";
        assert_eq!(encode(&decode(text.as_bytes())), text.as_bytes());
    }

    proptest! {
        #[test]
        fn every_byte_comes_back(bytes: Vec<u8>) {
            prop_assert_eq!(encode(&decode(&bytes)), bytes.clone());
            prop_assert_eq!(decode_all(bytes.clone()), decode_chunks(&bytes));
            prop_assert_eq!(decode(&bytes), decode_chunks(&bytes));
        }

        #[test]
        fn text_is_told_to_be_of_bytes_as_if_they_were_decoded(
            bytes in "[a\u{fff}\u{10ff41}\u{10ffff}]{0,4}",
            cut in 0usize..4,
            other in "[a\u{fff}\u{10ff41}\u{10ffff}]{0,4}",
        ) {
            let bytes = &bytes.as_bytes()[..cut.min(bytes.len())];
            for text in [decode(bytes), other] {
                prop_assert_eq!(is_of(&text, bytes), decode(bytes) == text);
            }
        }
    }
}
