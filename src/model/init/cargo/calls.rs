//! How CI has Cargo test and lint a project: with which features, without which members, and which members apart. Pure.

use super::super::{Look, ci};
use crate::model::check;

/// Options that change nothing in what is tested.
const PLAIN: [&str; 18] = [
    "--all",
    "--all-targets",
    "--frozen",
    "--future-incompat-report",
    "--keep-going",
    "--locked",
    "--no-fail-fast",
    "--offline",
    "--quiet",
    "--release",
    "--tests",
    "--verbose",
    "--workspace",
    "-q",
    "-r",
    "-v",
    "-vv",
    "--no-deps",
];
/// Options that say what is built, and whose value may be the next word.
const TAKES: [&str; 5] = ["--exclude", "--features", "--package", "-F", "-p"];
/// Options of the same kind that say nothing of it.
const TAKES_OTHER: [&str; 5] = ["--color", "--jobs", "--message-format", "--profile", "-j"];

/// One call of Cargo.
#[derive(Clone, Debug, Default, PartialEq)]
struct Call {
    /// The members that it names.
    packages: Vec<String>,
    excluded: Vec<String>,
    features: Vec<String>,
    is_all_features: bool,
    is_without_default: bool,
    is_workspace: bool,
}

/// The calls of one subcommand.
#[derive(Debug, Default)]
pub(super) struct Calls {
    all: Vec<Call>,
}

impl Calls {
    /// Returns those of CI in a folder that run all that they build with one of these subcommands.
    pub(super) fn of(look: &dyn Look, home: &str, subcommands: &[&[&str]]) -> Calls {
        let lines = ci::lines_of_jobs(look, home).into_iter().flatten();
        let done = lines.filter(|line| line.contains("cargo "));
        let done = done.flat_map(|line| check::done(&line));
        let here = done.filter(|one| one.dir.as_deref() == Some(""));
        let mut all: Vec<Call> = Vec::new();
        for one in here {
            let of = |words: &&[&str]| call(&one.words, words);
            if let Some(call) = subcommands.iter().find_map(of)
                && !all.contains(&call)
            {
                all.push(call);
            }
        }
        Calls { all }
    }

    /// Returns those of the whole project: of a workspace that has a package in its root, those that say so.
    fn whole(&self, has_root_in_workspace: bool) -> impl Iterator<Item = &Call> {
        let is_told = move |call: &&Call| {
            let has_features = call.is_all_features || !call.features.is_empty();
            call.is_workspace || !has_root_in_workspace || !has_features
        };
        self.all
            .iter()
            .filter(|call| call.packages.is_empty())
            .filter(is_told)
    }

    /// Returns the members that are left out and the features of the call that tests most of the whole, as options with a space in front;
    /// none where none does.
    pub(super) fn widest(&self, has_root_in_workspace: bool) -> Option<(String, String)> {
        let width = |call: &&Call| {
            (
                call.is_all_features,
                !call.is_without_default,
                call.features.len(),
                std::cmp::Reverse(call.excluded.len()),
            )
        };
        let call = self.whole(has_root_in_workspace).max_by_key(width)?;
        Some((call.left_out(), call.chosen()))
    }

    /// Returns the members that are left out where the whole is tested with its default features.
    pub(super) fn by_default(&self, has_root_in_workspace: bool) -> Option<String> {
        let plain = self.whole(has_root_in_workspace).filter(|call| {
            call.chosen().is_empty() && (call.is_workspace || !has_root_in_workspace)
        });
        let widest = plain.min_by_key(|call| call.excluded.len())?;
        Some(widest.left_out())
    }

    /// Says whether the package in the root of a workspace is tested alone, with its default features.
    pub(super) fn tests_root_by_default(&self) -> bool {
        let mut all = self.all.iter().filter(|call| call.packages.is_empty());
        all.any(|call| call.chosen().is_empty() && !call.is_workspace)
    }

    /// Returns the options of those that name members, each with a space in front.
    pub(super) fn of_members(&self) -> Vec<String> {
        let of_some = self.all.iter().filter(|call| !call.packages.is_empty());
        let options = of_some.map(|call| {
            let packages = call.packages.iter().map(|name| format!(" -p {name}"));
            packages.collect::<String>() + &call.chosen()
        });
        options.collect()
    }

    /// Says whether a feature is chosen for named members.
    pub(super) fn chooses_for_members(&self, feature: &str) -> bool {
        let mut of_some = self.all.iter().filter(|call| !call.packages.is_empty());
        of_some.any(|call| call.is_all_features || call.features.iter().any(|it| it == feature))
    }

    /// Returns how many members are named.
    pub(super) fn members(&self) -> usize {
        let mut names: Vec<&String> = self.all.iter().flat_map(|call| &call.packages).collect();
        names.sort();
        names.dedup();
        names.len()
    }
}

impl Call {
    fn left_out(&self) -> String {
        let excluded = self
            .excluded
            .iter()
            .map(|name| format!(" --exclude {name}"));
        excluded.collect()
    }

    fn chosen(&self) -> String {
        let all = if self.is_all_features {
            " --all-features"
        } else {
            ""
        };
        let none = if self.is_without_default {
            " --no-default-features"
        } else {
            ""
        };
        let some = match self.features.is_empty() || self.is_all_features {
            true => String::new(),
            false => format!(" --features {}", self.features.join(",")),
        };
        format!("{all}{none}{some}")
    }
}

/// Returns the call that these words are; none where they are of another one, or where a part is run of what is built.
fn call(words: &[String], subcommand: &[&str]) -> Option<Call> {
    let (program, rest) = words.split_first()?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    // What another compiler builds may be built by none but that.
    let rest = rest.strip_prefix(&["+stable"][..]).unwrap_or(&rest);
    let rest = rest.strip_prefix(subcommand)?;
    if check::program_name(program) != "cargo" {
        return None;
    }
    let mut call = Call::default();
    let mut words = rest.iter().copied();
    while let Some(word) = words.next() {
        if word == "--" {
            let is_flag =
                |word: &str| word.starts_with("--nocapture") || word.starts_with("--test-threads=");
            let lints = |word: &str| subcommand == ["clippy"] && !word.starts_with("--");
            if !words.by_ref().all(|word| is_flag(word) || lints(word)) {
                return None;
            }
            break;
        }
        call.is_workspace |= matches!(word, "--all" | "--workspace");
        call.is_all_features |= word == "--all-features";
        call.is_without_default |= word == "--no-default-features";
        if PLAIN.contains(&word) || matches!(word, "--all-features" | "--no-default-features") {
            continue;
        }
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, value),
            None if TAKES.contains(&word) || TAKES_OTHER.contains(&word) => {
                (word, words.next().unwrap_or_default())
            }
            None => (word, ""),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_+./@:?".contains(c);
        let mut names = value
            .split([',', ' '])
            .filter(|it| !it.is_empty())
            .peekable();
        if TAKES_OTHER.contains(&option) {
            continue;
        }
        if !TAKES.contains(&option) || names.peek().is_none() {
            return None;
        }
        for name in names {
            if !name.chars().all(is_name) {
                return None;
            }
            let list = match option {
                "--exclude" => &mut call.excluded,
                "--package" | "-p" => &mut call.packages,
                _ => &mut call.features,
            };
            list.push(name.to_owned());
        }
    }
    Some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_by_its_options_and_one_of_a_part_is_none() {
        let of = |line: &str, subcommand: &[&str]| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let call = call(&words, subcommand)?;
            let packages = call.packages.join("+");
            Some(format!("{packages}{}{}", call.left_out(), call.chosen()))
        };
        for (line, expected) in [
            ("cargo test", Some("")),
            ("cargo +stable test --locked -j 2 -- --nocapture", Some("")),
            ("cargo +nightly test", None),
            (
                "cargo test --workspace --exclude a --exclude=b",
                Some(" --exclude a --exclude b"),
            ),
            (
                "cargo test -p a --package=b -F c,d --features e",
                Some("a+b --features c,d,e"),
            ),
            (
                "cargo test --all-features --features a",
                Some(" --all-features"),
            ),
            (
                "cargo test --no-default-features",
                Some(" --no-default-features"),
            ),
            ("cargo test --features $(x)", None),
            ("cargo test --features", None),
            ("cargo test --lib", None),
            ("cargo test --doc", None),
            ("cargo test --manifest-path a/Cargo.toml", None),
            ("cargo test --target x", None),
            ("cargo test some", None),
            ("cargo test -- --ignored", None),
            ("cargo build", None),
        ] {
            assert_eq!(of(line, &["test"]).as_deref(), expected, "{line}");
        }
        let lints = "cargo clippy --all-targets --all-features -- -D warnings";
        assert_eq!(of(lints, &["clippy"]).as_deref(), Some(" --all-features"));
        assert_eq!(
            of("cargo nextest run -p a", &["nextest", "run"]).as_deref(),
            Some("a")
        );
    }
}
