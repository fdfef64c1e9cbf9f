//! Bytes as lines, wherever they were cut. Pure.

/// The longest line that is read, in bytes.
pub const LONGEST: usize = 1 << 20;

/// Puts pieces together to lines; one that is too long is left out.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
    is_too_long: bool,
}

impl Lines {
    /// Returns the next whole line of `rest`, without its end, and moves `rest` behind it; at the end of `rest`, none.
    pub fn next(&mut self, rest: &mut &[u8]) -> Option<Vec<u8>> {
        loop {
            let end = rest.iter().position(|byte| *byte == b'\n');
            let piece = &rest[..end.unwrap_or(rest.len())];
            self.begin(piece);
            let Some(end) = end else {
                *rest = &[];
                return None;
            };
            *rest = &rest[end + 1..];
            if let Some(line) = self.last() {
                return Some(line);
            }
        }
    }

    /// Returns the line that was begun, without waiting for its end.
    pub fn last(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.begun);
        let is_whole = !std::mem::take(&mut self.is_too_long);
        let has_words = !line.trim_ascii().is_empty();
        (is_whole && has_words).then_some(line)
    }

    fn begin(&mut self, piece: &[u8]) {
        if self.is_too_long || self.begun.len() + piece.len() > LONGEST {
            self.is_too_long = true;
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(piece);
        }
    }
}
