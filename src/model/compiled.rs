//! What Python compiled of a source, and takes for the source's as long as the time and size that it noted are (PEP 552). It notes whole
//! seconds: of two versions of one size that were written within one second it cannot tell them apart. Pure.

/// The bytes at the beginning of a compiled file that tell of its source.
pub const HEAD: u64 = 16;
/// How many seconds after its source was written a compiled file may still be of an earlier version: what was read in the same second
/// may be written in the next one.
const DOUBTFUL: i64 = 1;

/// A file as it is dated, in seconds, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dated {
    /// When it was written.
    pub seconds: i64,
    /// In bytes.
    pub size: i64,
}

/// Returns the name of the source of a compiled file, as in `name.cpython-312.opt-1.pyc`.
pub fn source_of(name: &str) -> Option<String> {
    let module = name.strip_suffix(".pyc")?.split('.').next()?;
    Some(format!("{module}.py"))
}

/// Says whether a compiled file may be of another version of its source than the one that is there: it was made within the second in
/// which that was written.
pub fn may_be_of_another(compiled_at: i64, source: Dated) -> bool {
    compiled_at <= source.seconds + DOUBTFUL
}

/// Says whether Python would run a compiled file that begins with `head` for a source.
pub fn is_taken_for(head: &[u8], source: Dated) -> bool {
    let number = |at: usize| {
        let bytes = head.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    // One that tells its source by a digest has a bit set there.
    let goes_by_time = number(4) == Some(0);
    // The lowest 32 bits are noted.
    let is_noted = |at, of: i64| number(at).map(i64::from) == Some(of & i64::from(u32::MAX));
    goes_by_time && is_noted(8, source.seconds) && is_noted(12, source.size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Python writes in front of what it compiled.
    fn head(flags: u32, seconds: u32, size: u32) -> Vec<u8> {
        let numbers = [0x0a0d_0da7, flags, seconds, size].map(u32::to_le_bytes);
        numbers.concat()
    }

    const SOURCE: Dated = Dated {
        seconds: 1000,
        size: 6,
    };

    #[test]
    fn python_takes_what_it_compiled_for_a_source_of_the_same_second_and_size() {
        for (head, expected) in [
            (head(0, 1000, 6), true),
            (head(0, 999, 6), false),
            (head(0, 1000, 7), false),
            (head(1, 1000, 6), false),
            (head(0, 1000, 6)[..15].to_vec(), false),
            (Vec::new(), false),
        ] {
            assert_eq!(is_taken_for(&head, SOURCE), expected, "{head:?}");
        }
        let later = Dated {
            seconds: (1 << 32) + 5,
            size: 6,
        };
        assert!(is_taken_for(&head(0, 5, 6), later));
    }

    #[test]
    fn what_was_compiled_in_the_second_of_its_source_may_be_of_another_version() {
        for (compiled_at, expected) in [(1000, true), (1001, true), (1002, false)] {
            assert_eq!(may_be_of_another(compiled_at, SOURCE), expected);
        }
    }

    #[test]
    fn the_source_of_a_compiled_file_has_its_name() {
        for (name, expected) in [
            ("a.cpython-312.pyc", Some("a.py")),
            ("a.cpython-312.opt-1.pyc", Some("a.py")),
            ("a.pyc", Some("a.py")),
            ("a.cpython-312.pyc.1234", None),
            ("a.py", None),
        ] {
            assert_eq!(source_of(name).as_deref(), expected, "{name}");
        }
    }
}
