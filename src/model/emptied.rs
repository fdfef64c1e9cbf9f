//! What the user's checkout lost of what copies are lent: when that is told, and how. Pure.

/// How it is told of what was lost while an agent ran.
pub const BY_AGENT: &str = "while the agent ran, your checkout lost what copies are lent of it: ";
/// How it is told of what was lost while goals were measured.
pub const BY_CHECKS: &str =
    "while goals were measured, your checkout lost what copies are lent of it: ";
/// How it is told of what was lost while a search was at work.
pub const BY_SEARCH: &str =
    "while attempts were worked on, your checkout lost what copies are lent of it: ";
/// How something else in the place of what was lent is told.
const REPLACED: &str =
    "replaced in the copy, and lent again by your checkout before the goals were measured: ";
/// What leads to it, and the way out.
const ADVICE: &str = "an install command does that where `link` lends what it writes: let the copy have its own (`prepare: npm ci`, say)";

/// Names what is lent if it is gone, or most of the names at its top are: so many of so many.
pub fn lost(path: &str, is_there: bool, (gone, of): (usize, usize)) -> Option<String> {
    match is_there {
        false => Some(format!("{path} (all of it)")),
        true if gone * 2 > of => Some(format!("{path} ({gone} of {of} entries)")),
        true => None,
    }
}

/// Tells what was lost, if anything was, and what to do.
pub fn lost_words(when: &str, lost: &[String]) -> Option<String> {
    let lost = (!lost.is_empty()).then(|| lost.join(", "))?;
    Some(format!(
        "{when}{lost}; {ADVICE}, and install again in your checkout"
    ))
}

/// Tells what was replaced, if anything was, and what to do.
pub fn replaced_words(replaced: &[&str]) -> Option<String> {
    let replaced = (!replaced.is_empty()).then(|| replaced.join(", "))?;
    Some(format!("{REPLACED}{replaced}; {ADVICE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lent_is_lost_where_it_is_gone_or_has_less_than_half_of_its_names() {
        for (is_there, counts, expected) in [
            (true, (0, 0), None),
            (true, (0, 2), None),
            (true, (1, 2), None),
            (true, (2, 3), Some("set (2 of 3 entries)")),
            (true, (1, 1), Some("set (1 of 1 entries)")),
            (false, (0, 0), Some("set (all of it)")),
            (false, (3, 3), Some("set (all of it)")),
        ] {
            assert_eq!(lost("set", is_there, counts).as_deref(), expected);
        }
    }

    #[test]
    fn nothing_is_told_where_nothing_was_lost_or_replaced() {
        assert_eq!(lost_words(BY_AGENT, &[]), None);
        assert_eq!(replaced_words(&[]), None);
        let told = lost_words(BY_AGENT, &["set (all of it)".to_owned()]).unwrap();
        assert!(told.starts_with(BY_AGENT) && told.contains("`prepare: npm ci`"));
    }
}
