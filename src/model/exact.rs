//! Text that stands for any bytes: what is no UTF-8 is held as private characters and comes back as the bytes it was. Pure.
//!
//! The queue and the history are written back as a whole; lines that this program does not understand must survive that
//! byte for byte, whatever they are.

/// The characters from here to the last one each stand for one byte.
const FIRST: u32 = 0x10_FF00;

/// Returns bytes as text.
pub fn decode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match stands_for_byte(c) {
                // A file may hold such a character itself; its bytes are then held one by one.
                Some(_) => text.extend(c.to_string().bytes().map(holder)),
                None => text.push(c),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(holder));
    }
    text
}

/// Returns the bytes that `decode` made this text of.
pub fn encode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match stands_for_byte(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
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
    fn characters_that_stand_for_bytes_survive_too() {
        let text = "a\u{10ff41}b\u{10ffff}";
        assert_eq!(encode(&decode(text.as_bytes())), text.as_bytes());
    }

    proptest! {
        #[test]
        fn every_byte_comes_back(bytes: Vec<u8>) {
            prop_assert_eq!(encode(&decode(&bytes)), bytes);
        }
    }
}
