//! The variables that CI sets for a step, as far as their values stand in its file. Pure.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::commands::commands_of;

/// What `export` sets, each value as it is written: nothing in it stands for anything else.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    let bare = r"(?<bare>[\w./:,@%+=-]*)";
    let quoted = r#"'(?<single>[^']*)'|"(?<double>[^"$`\\]*)""#;
    Regex::new(&format!(
        r"(?:^|\s)(?<name>[A-Za-z_]\w*)=(?:{quoted}|{bare})"
    ))
    .expect("BUG: a pattern of ours is no pattern")
});

/// A variable that a script names without a value in place of none.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\{?([A-Z][A-Z0-9_]*)(?:\}|\b)").expect("BUG: a pattern of ours is no pattern")
});

/// Variables that change only how tools talk and what they keep; left out where the step itself does not set them.
const OF_LOOKS: [&str; 12] = [
    "CARGO_TERM_COLOR",
    "CARGO_TERM_PROGRESS_WHEN",
    "CARGO_INCREMENTAL",
    "CARGO_NET_RETRY",
    "RUSTUP_MAX_RETRIES",
    "RUST_BACKTRACE",
    "FORCE_COLOR",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "PY_COLORS",
    "TERM",
];

/// How variables begin that tools read, by their first part: compilers, interpreters, package managers and what tests, with what they
/// reach. One that is not here is kept all the same, unless its file tells that it is for another step.
const OF_TOOLS: [&str; 92] = [
    "ACTIONLINT",
    "AR",
    "ASAN",
    "AWS",
    "BUN",
    "BUNDLE",
    "CARGO",
    "CC",
    "CCACHE",
    "CGO",
    "CI",
    "CLANG",
    "CLIPPY",
    "CMAKE",
    "COMPOSER",
    "CONDA",
    "COV",
    "COVERAGE",
    "CTEST",
    "CXX",
    "CYPRESS",
    "DATABASE",
    "DENO",
    "DISPLAY",
    "DJANGO",
    "DOCKER",
    "DOTNET",
    "ERL",
    "ESLINT",
    "FLASK",
    "GEM",
    "GIT",
    "GITHUB",
    "GITLAB",
    "GO",
    "GOLANGCI",
    "GRADLE",
    "HATCH",
    "HEX",
    "HTTP",
    "HTTPS",
    "HYPOTHESIS",
    "JAVA",
    "JEST",
    "JRUBY",
    "JVM",
    "KOTLIN",
    "LANG",
    "LC",
    "LD",
    "LLVM",
    "LSAN",
    "MAKE",
    "MAVEN",
    "MIRIFLAGS",
    "MIX",
    "MOCHA",
    "MSAN",
    "MYPY",
    "MYSQL",
    "NEXTEST",
    "NIX",
    "NO",
    "NODE",
    "NOX",
    "NPM",
    "NUGET",
    "OPENSSL",
    "PDM",
    "PG",
    "PHP",
    "PHPUNIT",
    "PIP",
    "PKG",
    "PLAYWRIGHT",
    "PNPM",
    "POETRY",
    "POSTGRES",
    "PRE",
    "PY",
    "PYTEST",
    "RAILS",
    "REDIS",
    "RUBY",
    "RUFF",
    "RUST",
    "SSL",
    "TOX",
    "TSAN",
    "UBSAN",
    "UV",
    "YARN",
];
/// How such names begin that are one word: `PYTHONPATH`, `GOFLAGS`, `RUSTDOCFLAGS`.
const BEGIN: [&str; 6] = ["GO", "JAVA", "NODE", "PYTHON", "RUBY", "RUST"];
/// How the names of variables end that whatever runs may go by.
const END: [&str; 10] = [
    "ARGS", "ENV", "FLAGS", "HOST", "HOME", "OPTIONS", "OPTS", "PATH", "PORT", "URL",
];

/// The variables of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Env {
    /// Names of those that are set for the step itself.
    pub own: Vec<String>,
    /// Names and values, as they are set.
    pub known: Vec<(String, String)>,
    /// Names of those whose values only CI has.
    pub unknown: Vec<String>,
}

impl Env {
    /// Adds a map of variables, which beats what was there. `is_told` says whether a value is what its text is.
    pub fn add(&mut self, map: Option<&Value>, is_told: &dyn Fn(&str) -> bool) {
        let map = map.and_then(Value::as_object);
        for (name, value) in map.into_iter().flatten() {
            if !is_name(name) {
                continue;
            }
            let value = value.get("value").unwrap_or(value);
            let value = value.as_str().unwrap_or_default();
            let is_told = is_told(value) && !value.contains(['\n', '\r']);
            self.set(name, is_told.then_some(value));
        }
    }

    /// Adds what the lines of a script that runs before the step export, which beats what was there: plain words are known. Under a
    /// condition nothing is.
    pub fn add_exports(&mut self, script: &str, is_conditional: bool) {
        let commands = script
            .lines()
            .map(str::trim)
            .filter(|it| !it.starts_with('#'));
        for command in commands.flat_map(commands_of) {
            let Some(words) = command.strip_prefix("export ") else {
                continue;
            };
            let rest = ASSIGNED.replace_all(words, "");
            let is_plain = rest.trim().is_empty() && !is_conditional;
            for assigned in ASSIGNED.captures_iter(words) {
                let value = ["bare", "single", "double"].map(|form| assigned.name(form));
                let value = value
                    .into_iter()
                    .flatten()
                    .next()
                    .map_or("", |it| it.as_str());
                // Where programs are looked for is every machine's own.
                if &assigned["name"] != "PATH" {
                    self.set(&assigned["name"], is_plain.then_some(value));
                }
            }
        }
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        self.known.retain(|(other, _)| other != name);
        self.unknown.retain(|other| other != name);
        match value {
            Some(value) => self.known.push((name.to_owned(), value.to_owned())),
            None => self.unknown.push(name.to_owned()),
        }
    }

    /// Leaves out what `script` does not name and what changes only how tools talk, unless `near` sets it.
    pub fn without_looks(mut self, script: &str, near: Option<&Value>) -> Env {
        let own = near.and_then(Value::as_object);
        self.own = own
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        let is_near = |name: &str| near.is_some_and(|map| map.get(name).is_some());
        self.known.retain(|(name, _)| {
            !OF_LOOKS.contains(&name.as_str()) || is_near(name) || names(script, name)
        });
        self
    }

    /// Leaves out what a file sets for all of its steps and only others need. It has to be told from more than one side, as a tool or a
    /// test may read what no word of its command says: the step itself does not set it and its script does not name it, no tool is known
    /// to read what is called so, the file names it somewhere else, and no code of the repository reads it.
    pub fn leave_to_others(&mut self, file: &str, script: &str, is_read: &dyn Fn(&str) -> bool) {
        let Env { own, known, .. } = self;
        known.retain(|(name, _)| {
            let is_named = || names(file, name) || file.contains(&format!("env.{name}"));
            own.contains(name)
                || names(script, name)
                || is_of_a_tool(name)
                || !is_named()
                || is_read(name)
        });
    }

    /// Returns the first variable that a script names and whose value only CI has.
    pub fn unknown_in(&self, script: &str) -> Option<String> {
        let unknown = self.unknown.iter().find(|name| names(script, name));
        unknown.cloned().or_else(|| self.secret_in(script))
    }

    /// Returns the first variable that a script names, that is called as a secret is, and that nothing sets.
    fn secret_in(&self, script: &str) -> Option<String> {
        let words = ["AUTH", "CREDENTIALS", "KEY", "PASSWORD", "SECRET", "TOKEN"];
        let is_secret = |name: &str| name.split('_').any(|word| words.contains(&word));
        let is_set = |name: &str| {
            self.known.iter().any(|(known, _)| known == name)
                || script.contains(&format!("{name}="))
        };
        let named = NAMED.captures_iter(script).map(|found| found[1].to_owned());
        let mut named = named.filter(|name| is_secret(name) && !is_set(name));
        named.next()
    }
}

/// Says whether a tool may read a variable of this name.
fn is_of_a_tool(name: &str) -> bool {
    let first = name.split('_').next().unwrap_or(name);
    let first = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let last = name.rsplit('_').next().unwrap_or(name);
    let begins = BEGIN.iter().any(|begin| first.starts_with(begin));
    begins || OF_TOOLS.contains(&first) || END.iter().any(|end| last.ends_with(end))
}

fn is_name(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(is_part)
}

/// Says whether a script names a variable: `$NAME` or `${NAME`.
fn names(script: &str, name: &str) -> bool {
    ["$", "${", "${#", "${!"].iter().any(|mark| {
        let word = format!("{mark}{name}");
        script.match_indices(&word).any(|(at, _)| {
            let next = script[at + word.len()..].chars().next();
            !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_sets_for_other_steps_is_left_to_them() {
        let file = "run: cp x ${{ env.OUT_DIRECTORY }}; echo $FEATURE_SET $DATABASE_URL $READ_HERE $RUSTFLAGS";
        let kept = |script: &str, near: Option<&Value>| -> Vec<String> {
            let mut env = Env::default();
            let all = serde_json::json!({
                "OUT_DIRECTORY": "x", "FEATURE_SET": "", "DATABASE_URL": "d", "READ_HERE": "r", "RUSTFLAGS": "f", "NAMED_NOWHERE": "n",
            });
            env.add(Some(&all), &|_| true);
            let mut env = env.without_looks(script, near);
            env.leave_to_others(file, script, &|name| name == "READ_HERE");
            env.known.into_iter().map(|(name, _)| name).collect()
        };
        let usual = ["DATABASE_URL", "NAMED_NOWHERE", "READ_HERE", "RUSTFLAGS"];
        assert_eq!(sorted(kept("cargo test", None)), usual);
        let named = kept("cargo test $FEATURE_SET", None);
        assert!(named.contains(&"FEATURE_SET".to_owned()), "{named:?}");
        let own = serde_json::json!({ "OUT_DIRECTORY": "x" });
        let own = kept("cargo test", Some(&own));
        assert!(own.contains(&"OUT_DIRECTORY".to_owned()), "{own:?}");
    }

    fn sorted(mut all: Vec<String>) -> Vec<String> {
        all.sort();
        all
    }
}
