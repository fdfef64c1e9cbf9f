//! What of a shell's script runs where it is called without arguments: a branch that begins where the first of them is a certain
//! word, as `--fix`, does not. Pure.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// What asks for the first argument to be a certain word.
const ASKS: &str = r#"(?:\[\[?|test)\s+(?:"\$(?:1|\{1(?::?-)?\})"|\$(?:1|\{1(?::?-)?\}))\s+==?\s+["']?[\w-]+["']?(?:\s+\]\]?)?"#;

/// The head of such a branch, where no other command stands around it.
static BRANCH: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"^if\s+{ASKS}\s*;?\s*(?P<then>then)?\s*$")));
/// A command, or a group of them on one line, of which the same holds.
static CHAIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^{ASKS}\s+&&\s+(?:[^;|&{{}}<\\]+|\{{[^{{}}|<]*;\s*\}})\s*$"
    ))
});
/// What may give the script arguments that nobody called it with, or makes functions, which have arguments of their own.
static GIVES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)\bset[ \t]+(?:--|[^-+\s;&|])|\bset[ \t]+-[a-zA-Z]*(?:[a-np-zA-Z]|o[ \t]+\w+)[ \t]+(?:--|\w)|^\s*function\s|\w\s*\(\s*\)|^\s*(?:\.|source)\s",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("BUG: a pattern of ours is no pattern")
}

/// Returns a script without what does not run where it has no arguments, as far as that is told by lines that stand at the margin. A
/// script that has functions, gives itself arguments or reads others is returned as it is.
pub(super) fn called_plainly(script: &str) -> Cow<'_, str> {
    let asks = |line: &str| CHAIN.is_match(line) || BRANCH.is_match(line);
    if !script.lines().any(asks) || GIVES.is_match(script) {
        return Cow::Borrowed(script);
    }
    let mut kept = String::new();
    let mut lines = script.lines();
    // The line that ends a here-document, of which all is text.
    let mut text_until: Option<String> = None;
    let mut quotes = Quotes::default();
    while let Some(line) = lines.next() {
        let is_code = text_until.is_none() && !quotes.may_be_open();
        let branch = BRANCH.captures(line).filter(|_| is_code);
        let skipped = branch.and_then(|head| skipped(head.name("then").is_some(), lines.clone()));
        match (&text_until, skipped) {
            (_, Some((number, instead))) => {
                lines.nth(number);
                kept.push_str(&instead);
                kept.push('\n');
                continue;
            }
            (None, None) if is_code && CHAIN.is_match(line) => continue,
            (None, None) => text_until = here_document(line),
            (Some(end), None) if line.trim_start_matches('\t') == end => text_until = None,
            (Some(_), None) => {}
        }
        quotes.count(line);
        kept.push_str(line);
        kept.push('\n');
    }
    Cow::Owned(kept)
}

/// How many quotes a text has so far, of either kind.
#[derive(Default)]
struct Quotes([usize; 2]);

impl Quotes {
    fn count(&mut self, line: &str) {
        if !line.starts_with('#') {
            self.0[0] += line.matches('\'').count();
            self.0[1] += line.matches('"').count();
        }
    }

    /// Says whether what comes next may stand in quotes.
    fn may_be_open(&self) -> bool {
        self.0.iter().any(|number| number % 2 == 1)
    }
}

/// Returns the number of the line at which a branch ends whose head stands before these lines, and what stands there then; none
/// where that is not told.
fn skipped<'s>(has_then: bool, lines: impl Iterator<Item = &'s str>) -> Option<(usize, String)> {
    for (number, line) in lines.enumerate() {
        let is_then = number == 0 && !has_then;
        if is_then != (line.trim_end() == "then") {
            return None;
        }
        let is_inside = is_then || line.is_empty() || line.starts_with([' ', '\t']);
        match line.trim_end() {
            _ if line.contains("<<") => return None,
            "fi" => return Some((number, String::new())),
            "else" => return Some((number, "if true; then".to_owned())),
            rest if rest.starts_with("elif ") => {
                return Some((number, rest["el".len()..].to_owned()));
            }
            _ if is_inside => {}
            _ => return None,
        }
    }
    None
}

/// Returns the line that ends the here-document which begins behind this line.
fn here_document(line: &str) -> Option<String> {
    let (_, behind) = line
        .split_once("<<")
        .filter(|(_, it)| !it.starts_with('<'))?;
    let word = behind.trim_start_matches('-').split_whitespace().next()?;
    let word: String = word.chars().filter(|c| !"'\"\\;)".contains(*c)).collect();
    Some(word).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_kept(script: &str, expected: &str) {
        let kept = called_plainly(script);
        let lines: Vec<&str> = kept.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.join("\n"), expected, "{script}");
    }

    #[test]
    fn a_branch_for_an_argument_does_not_run_without_one() {
        for head in [
            "if [ \"$1\" = --fix ]; then",
            "if [ \"${1:-}\" = \"--fix\" ]; then",
            "if [[ ${1-} == '--fix' ]]; then",
            "if test \"$1\" = fix; then",
            "if [ \"$1\" = --fix ]\nthen",
        ] {
            check_kept(&format!("a\n{head}\n  b\n\n  c\nfi\nd"), "a\nd");
            let both = format!("{head}\n  b\nelse\n  c\nfi\nd");
            check_kept(&both, "if true; then\n  c\nfi\nd");
            let more = format!("{head}\n  b\nelif x; then\n  c\nfi");
            check_kept(&more, "if x; then\n  c\nfi");
        }
        check_kept("set -e\n[ \"$1\" = --fix ] && exec b\na", "set -e\na");
        check_kept(
            "set -euo pipefail\n[ \"$1\" = --fix ] && b\na",
            "set -euo pipefail\na",
        );
        check_kept("[[ ${1:-} == --fix ]] && { b; exit; }\na", "a");
    }

    #[test]
    fn what_may_run_all_the_same_stays() {
        for script in [
            "if [ \"$1\" != --fix ]; then\n  b\nfi",
            "if [ \"$1\" = \"\" ]; then\n  b\nfi",
            "if [ \"$1\" = $x ]; then\n  b\nfi",
            "if [ \"$1\" = --fix ] || a; then\n  b\nfi",
            "if [ \"${1:---fix}\" = --fix ]; then\n  b\nfi",
            "if [ \"$2\" = --fix ]; then\n  b\nfi",
            "set -- --fix\nif [ \"$1\" = --fix ]; then\n  b\nfi",
            "set -e -- --fix\nif [ \"$1\" = --fix ]; then\n  b\nfi",
            "set -euo pipefail x\nif [ \"$1\" = x ]; then\n  b\nfi",
            "f() {\nif [ \"$1\" = --fix ]; then\n  b\nfi\n}\nf --fix",
            ". ./lib.sh\nif [ \"$1\" = --fix ]; then\n  b\nfi",
            "while read x; do\n  if [ \"$1\" = --fix ]; then\n    b\n  fi\ndone",
            "if [ \"$1\" = --fix ]; then\n  b\nc\nfi",
            "if [ \"$1\" = --fix ]; then\n  cat <<E\nfi\nE\n  b\nfi",
            "[ \"$1\" = --fix ] && a || b",
            "[ \"$1\" = --fix ] && a; b",
            "if [ \"$1\" = --fix ]\n  b\nthen\n  c\nfi",
            "[ \"$1\" = --fix ] && a \\\n  b",
            "sh -c '\n[ \"$1\" = --fix ] && a\n' x --fix",
            "sh <<'E'\n[ \"$1\" = --fix ] && a\nE",
        ] {
            check_kept(script, script);
        }
    }
}
