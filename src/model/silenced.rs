//! What a change silences: marks in the code by which a tool looks away, and tests that are gone. Nobody can tell an honest one from a
//! lazy one by its text, so it is told and nothing more. The marks are those of the tools' own pages. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::model::text;

/// Marks by which tools look away, each with the forms that mean the same; the first one is its name.
const MARKS: &[&[&str]] = &[
    &["# noqa", "#noqa", "ruff: noqa", "flake8: noqa"],
    &[
        "# type: ignore",
        "mypy: ignore",
        "pyright: ignore",
        "ty: ignore",
        "pyre-ignore",
    ],
    &["pylint: disable", "pylint: skip"],
    &["# nosec", "#nosec"],
    &[
        "pragma: no cover",
        "istanbul ignore",
        "c8 ignore",
        "v8 ignore",
        "LCOV_EXCL",
        "no-cov",
    ],
    &[
        "fmt: off",
        "fmt: skip",
        "isort: skip",
        "#[rustfmt::skip]",
        "#![rustfmt::skip]",
        "prettier-ignore",
        "clang-format off",
    ],
    &[
        "pytest.mark.skip",
        "pytest.mark.xfail",
        "pytest.skip(",
        "unittest.skip",
        "unittest.expectedFailure",
    ],
    &[
        "eslint-disable",
        "biome-ignore",
        "oxlint-disable",
        "stylelint-disable",
    ],
    &["@ts-ignore", "@ts-expect-error", "@ts-nocheck"],
    &[
        "it.skip(",
        "test.skip(",
        "describe.skip(",
        "it.todo(",
        "test.todo(",
        "xit(",
        "xtest(",
        "xdescribe(",
    ],
    &["#[allow(", "#![allow(", "#[expect(", "#![expect("],
    &["#[ignore", "#[should_panic", "cfg(any())"],
    &["nolint", "lint:ignore"],
    &["go:build ignore"],
    &["t.Skip(", "t.SkipNow(", "t.Skipf("],
    &[
        "@SuppressWarnings",
        "@Suppress(",
        "@file:Suppress",
        "NOSONAR",
        "CHECKSTYLE:OFF",
        "@SuppressFBWarnings",
    ],
    &["@Disabled", "@Ignore"],
    &["shellcheck disable"],
    &["hadolint ignore"],
    &["yamllint disable"],
    &["markdownlint-disable"],
    &[
        "rubocop:disable",
        "rubocop:todo",
        "standard:disable",
        "erb_lint:disable",
    ],
    &["NOLINT", "diagnostic ignored", "cppcheck-suppress"],
    &[
        "phpcs:ignore",
        "phpcs:disable",
        "@phpstan-ignore",
        "@psalm-suppress",
    ],
    &[
        "codespell:ignore",
        "cspell:disable",
        "cspell:ignore",
        "spellchecker:disable",
    ],
    &[
        "swiftlint:disable",
        "ktlint-disable",
        "detekt:disable",
        "credo:disable",
    ],
    &[
        "checkov:skip",
        "tfsec:ignore",
        "tflint-ignore",
        "gitleaks:allow",
        "nosemgrep",
        "pragma: allowlist",
    ],
];

/// Any of these.
static ANY: LazyLock<Regex> = LazyLock::new(|| {
    let forms = MARKS
        .iter()
        .copied()
        .flatten()
        .map(|form| regex::escape(form));
    let forms: Vec<String> = forms.collect();
    Regex::new(&forms.join("|")).expect("BUG: a pattern of ours is no pattern")
});

/// How the names of files end in which such marks say nothing: they are written about there, or are data.
const PROSE: &[&str] = &[
    "adoc", "csv", "diff", "html", "json", "jsonl", "lock", "log", "markdown", "md", "patch", "po",
    "rst", "svg", "txt", "xml",
];

/// How many files are named.
const NAMED: usize = 5;

/// What files held before a change and hold after it, counted.
#[derive(Debug, Default)]
pub struct Silenced {
    marks: BTreeMap<&'static str, Count>,
    tests: Count,
}

/// How often something was there, and is, and the files in which it became more, or less.
#[derive(Debug, Default)]
struct Count {
    before: usize,
    after: usize,
    more_in: BTreeSet<String>,
    less_in: BTreeSet<String>,
}

impl Count {
    fn add(&mut self, path: &str, before: usize, after: usize) {
        self.before += before;
        self.after += after;
        let files = match before.cmp(&after) {
            std::cmp::Ordering::Less => &mut self.more_in,
            std::cmp::Ordering::Greater => &mut self.less_in,
            std::cmp::Ordering::Equal => return,
        };
        files.insert(text::path(path.as_bytes()));
    }
}

/// Says whether a file is one in which marks count.
pub fn is_looked_at(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    !PROSE.contains(&ending.to_ascii_lowercase().as_str())
}

impl Silenced {
    /// Counts a file of the change; what is not there is empty. What moves from one file to another is neither more nor less.
    pub fn look(&mut self, path: &str, before: &str, after: &str) {
        let (was, is) = (marks(before), marks(after));
        let names: BTreeSet<&'static str> = was.keys().chain(is.keys()).copied().collect();
        for name in names {
            let of = |counted: &Marks| counted.get(name).copied().unwrap_or(0);
            self.marks
                .entry(name)
                .or_default()
                .add(path, of(&was), of(&is));
        }
        self.tests
            .add(path, tests(path, before), tests(path, after));
    }

    /// Returns what is to be told.
    pub fn words(&self) -> Vec<String> {
        let more = self
            .marks
            .iter()
            .filter(|(_, count)| count.after > count.before);
        let mut files = BTreeSet::new();
        let mut marks = Vec::new();
        for (mark, count) in more {
            let more = count.after - count.before;
            marks.push(format!("{} ({more} more)", shown(mark)));
            files.extend(count.more_in.iter().cloned());
        }
        let named = |files: &BTreeSet<String>| {
            let files: Vec<String> = files.iter().cloned().collect();
            text::some_of(&files, NAMED)
        };
        let marks = (!marks.is_empty()).then(|| {
            format!(
                "tells tools to look away: {}, in {}",
                marks.join(", "),
                named(&files)
            )
        });
        let fewer = self.tests.before.saturating_sub(self.tests.after);
        let tests = (fewer > 0).then(|| {
            format!(
                "{} fewer than before, in {}",
                text::count(fewer, "test"),
                named(&self.tests.less_in)
            )
        });
        marks.into_iter().chain(tests).collect()
    }
}

/// Returns a mark as people write it: with the end that its forms leave open.
fn shown(mark: &str) -> String {
    let arguments = if mark.ends_with('(') { "…)" } else { "" };
    let attribute = if mark.starts_with("#[") { "]" } else { "" };
    format!("{mark}{arguments}{attribute}")
}

/// How often marks stand in a text, by their names.
type Marks = BTreeMap<&'static str, usize>;

/// Returns how often the marks stand in a text as words of their own.
fn marks(text: &str) -> Marks {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut counted = Marks::new();
    for found in ANY.find_iter(text) {
        let form = found.as_str();
        let is_own = !form.starts_with(is_in_word) || !text[..found.start()].ends_with(is_in_word);
        let of_form = MARKS.iter().find(|forms| forms.contains(&form));
        if let Some(forms) = of_form.filter(|_| is_own) {
            *counted.entry(forms[0]).or_default() += 1;
        }
    }
    counted
}

/// Returns how many tests a file of code has, by how its language writes them.
fn tests(path: &str, text: &str) -> usize {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_test: fn(&str) -> bool = match ending {
        "rs" => |line| {
            let attribute = line.strip_prefix("#[").filter(|it| !it.starts_with("cfg"));
            attribute.is_some_and(|it| it.contains("test"))
        },
        "py" => |line| line.starts_with("def test") || line.starts_with("async def test"),
        "go" => |line| line.starts_with("func Test"),
        "java" | "kt" | "groovy" | "scala" => {
            |line| line.starts_with("@Test") || line.starts_with("@ParameterizedTest")
        }
        "js" | "cjs" | "mjs" | "jsx" | "ts" | "cts" | "mts" | "tsx" => {
            |line| line.starts_with("it(") || line.starts_with("test(")
        }
        "rb" => |line| line.starts_with("it ") || line.starts_with("def test_"),
        _ => return 0,
    };
    text.lines()
        .filter(|line| is_test(line.trim_start()))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str, &str)]) -> String {
        let mut silenced = Silenced::default();
        for (path, before, after) in files {
            silenced.look(path, before, after);
        }
        silenced.words().join("; ")
    }

    #[test]
    fn marks_that_are_more_than_before_are_told_with_their_files() {
        for (path, before, after, expected) in [
            (
                "a.py",
                "x = 1\n",
                "x = 1  # noqa: E501\n",
                "# noqa (1 more), in a.py",
            ),
            ("a.py", "import x  # noqa\n", "import x\n", ""),
            (
                "a.py",
                "",
                "# mypy: ignore-errors\n# pylint: skip-file\n",
                "# type: ignore (1 more), pylint: disable (1 more), in a.py",
            ),
            (
                "src/lib.rs",
                "",
                "#![allow(warnings)]\n",
                "#[allow(…)] (1 more), in src/lib.rs",
            ),
            (
                "a.js",
                "",
                "/* eslint-disable */\n",
                "eslint-disable (1 more), in a.js",
            ),
            (
                "a.js",
                "process.exit(1)\n",
                "process.exit(1); exit(2)\n",
                "",
            ),
            ("a.rs", "", "all.iter().skip(1)\n", ""),
            ("a.rs", "", "#[ignore]\n", "#[ignore] (1 more), in a.rs"),
            ("a.js", "", "it.skip('x')\n", "it.skip(…) (1 more), in a.js"),
            (
                "a.sh",
                "",
                "# shellcheck disable=all\n",
                "shellcheck disable (1 more), in a.sh",
            ),
            (
                "a.yml",
                "",
                "# yamllint disable-line\n",
                "yamllint disable (1 more), in a.yml",
            ),
        ] {
            let expected = match expected {
                "" => String::new(),
                some => format!("tells tools to look away: {some}"),
            };
            assert_eq!(told(&[(path, before, after)]), expected, "{path} {after}");
        }
    }

    #[test]
    fn what_moves_from_file_to_file_is_not_more() {
        let marked = "x = 1  # noqa\ndef test_x():\n    pass\n";
        assert_eq!(told(&[("a.py", marked, ""), ("b.py", "", marked)]), "");
        let twice = format!("{marked}{marked}");
        let said = "tells tools to look away: # noqa (1 more), in b.py";
        assert_eq!(told(&[("a.py", marked, ""), ("b.py", "", &twice)]), said);
    }

    #[test]
    fn tests_that_are_gone_are_told() {
        for (path, test) in [
            ("src/lib.rs", "    #[test]\n    fn adds() {}\n"),
            (
                "src/lib.rs",
                "#[tokio::test(flavor = \"multi_thread\")]\nasync fn adds() {}\n",
            ),
            ("calc.py", "def test_adds():\n    pass\n"),
            ("a_test.go", "func TestAdds(t *testing.T) {}\n"),
            ("a.ts", "  it('adds', () => {})\n"),
        ] {
            let said = format!("1 test fewer than before, in {path}");
            assert_eq!(told(&[(path, test, "#[cfg(test)]\n")]), said, "{path}");
            assert_eq!(told(&[(path, "#[cfg(test)]\n", test)]), "", "{path}");
        }
        assert_eq!(told(&[("a.txt", "def test_adds()", "")]), "");
    }

    #[test]
    fn prose_and_data_are_not_looked_at() {
        for (path, is_it) in [
            ("README.md", false),
            ("a/b.json", false),
            ("src/a.py", true),
            ("Makefile", true),
        ] {
            assert_eq!(is_looked_at(path), is_it, "{path}");
        }
    }
}
