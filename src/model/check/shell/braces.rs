//! Braces that stand for several words: `{a,b}.sh`, `{1..3}`. Pure.

use super::{BRACE, MOST_WORDS};

/// How many groups of one word are followed.
const MOST_GROUPS: usize = 8;

/// Returns where, behind its first, a group of braces ends that stands for several words and has nothing but plain letters in it.
pub fn end_of(chars: &[char]) -> Option<usize> {
    let is_plain = |c: &char| c.is_alphanumeric() || "._-+/,".contains(*c);
    let end = chars.iter().position(|c| !is_plain(c))?;
    let group: String = chars[..end].iter().collect();
    (chars[end] == '}' && (group.contains(',') || bounds(&group).is_some())).then_some(end)
}

/// Returns the words that a word stands for in which such groups are marked.
pub fn words(word: &str) -> Vec<String> {
    if word.matches(BRACE).count() > 2 * MOST_GROUPS {
        return vec![literal(word)];
    }
    let mut found = vec![String::new()];
    for (at, part) in word.split(BRACE).enumerate() {
        let values = match (at % 2, range(part)) {
            (0, _) => vec![part.to_owned()],
            (_, Some(values)) => values,
            (_, None) => part.split(',').map(str::to_owned).collect(),
        };
        let each = found
            .iter()
            .flat_map(|start| values.iter().map(move |value| format!("{start}{value}")));
        found = each.take(MOST_WORDS).collect();
    }
    found
}

/// Returns a word in which such groups are marked as it was written.
pub fn literal(word: &str) -> String {
    let mut found = String::new();
    for (at, part) in word.split(BRACE).enumerate() {
        match at % 2 {
            0 => found.push_str(part),
            _ => found.push_str(&format!("{{{part}}}")),
        }
    }
    found
}

/// Returns the numbers of `1..3`.
fn range(group: &str) -> Option<Vec<String>> {
    let (from, to) = bounds(group)?;
    let numbers = (from..=to).take(MOST_WORDS);
    Some(numbers.map(|number| number.to_string()).collect())
}

fn bounds(group: &str) -> Option<(u32, u32)> {
    let (from, to) = group.split_once("..")?;
    Some((from.parse().ok()?, to.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_stands_for_its_words_and_a_range_for_its_numbers() {
        for (written, expected) in [
            ("{a,b}.sh", "a.sh b.sh"),
            ("{a,}{1..2}", "a1 a2 1 2"),
            ("x{9..10}", "x9 x10"),
        ] {
            let marked = written.replace(['{', '}'], &BRACE.to_string());
            assert_eq!(words(&marked).join(" "), expected, "{written}");
            assert_eq!(literal(&marked), written);
        }
        let group = format!("{BRACE}1..9999999{BRACE}");
        assert_eq!(words(&group.repeat(MOST_GROUPS)).len(), MOST_WORDS);
        assert_eq!(words(&group.repeat(MOST_GROUPS + 1)).len(), 1);
        for (text, end) in [
            ("a,b}c", Some(3)),
            ("a}", None),
            ("a,b", None),
            ("a, b}", None),
        ] {
            let chars: Vec<char> = text.chars().collect();
            assert_eq!(end_of(&chars), end, "{text}");
        }
    }
}
