//! Which commands of a check do more than look: formatters that write, linters that are told to mend, and what sends something away or
//! does not end. Pure.

mod tools;

use super::call::{Call, operands, stem};
use super::code::Code;
use super::machine::{alters, updates};
use super::outward::{is_gits_change, sends, serves};
use super::path::{ROOT, join};
use super::typed;
use tools::{
    EXTENDED, Editor, IN_PLACE, LOOKS, MAY_LOOK, OF_TOOLS, OPTIONS, SPARING, TAKES, TEXT, WRITERS,
    WRITTEN,
};

/// What a command does, above all to the files that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// It sends something away.
    Sends,
    /// It starts what goes on until somebody ends it.
    Serves,
    /// It changes files.
    Writes,
    /// It changes the machine.
    Alters,
    /// It would, but is told to look.
    Looks,
    /// It is known, and changes none so.
    Nothing,
    /// Nothing is known of it.
    Unknown,
}

/// A command, and what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What it does.
    pub does: Does,
    /// The folder below the root in which it runs; none where that lies outside, or is not known.
    pub dir: Option<String>,
    /// The text that it reads, a here-document, where that stands there as it is.
    pub text: Option<String>,
    /// Where the files lie that it is handed besides its words, or in the place of `{}`, by `xargs` or `find`; empty where that is not
    /// told, none where it is handed none.
    pub handed: Option<Vec<String>>,
}

impl Done {
    /// Returns the command as one would type it.
    pub fn typed(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| typed(word)).collect();
        words.join(" ")
    }
}

/// Returns the first command of a check that changes files, as one would type it.
pub fn changing(check: &str) -> Option<String> {
    let mut all = done(check).into_iter();
    let one = all.find(|one| one.does == Does::Writes)?;
    Some(one.typed())
}

/// Returns the commands of a check, and what each does to files.
pub fn done(check: &str) -> Vec<Done> {
    done_by(&Code::of_check(check))
}

/// Returns the commands of a shell's script of the repository, by its path, and what each does to files: `$(dirname "$0")/a` is
/// beside it.
pub fn done_in(path: &str, script: &str) -> Vec<Done> {
    let mut all = done_by(&Code::of_script(path, script));
    for one in &mut all {
        let dir = one.dir.as_deref().unwrap_or_default();
        let up = "../".repeat(dir.split('/').filter(|part| !part.is_empty()).count());
        for word in one.words.iter_mut().filter(|word| word.starts_with(ROOT)) {
            if let Some(path) = join("", word) {
                *word = format!("{up}./{path}");
            }
        }
    }
    all
}

fn done_by(code: &Code) -> Vec<Done> {
    let own = code.calls().iter().filter(|call| !call.is_implied);
    let done = own.map(|call| Done {
        does: does(call),
        words: call.words.clone(),
        dir: call.dir.clone(),
        text: call.text.clone().filter(|_| call.is_verbatim),
        handed: call.handed.clone(),
    });
    done.collect()
}

fn does(call: &Call) -> Does {
    let words = &call.words;
    let only_looks = words[1..].iter().any(|word| is_option(word, LOOKS));
    match () {
        () if !only_looks && sends(words) => Does::Sends,
        () if !only_looks && serves(words) => Does::Serves,
        () if !only_looks && (is_gits_change(words) || runs_hooks(call)) => Does::Writes,
        () if !only_looks && alters(words) => Does::Alters,
        () if updates(words, call.variables.as_deref().unwrap_or_default()) => Does::Writes,
        () => does_to_files(call),
    }
}

/// Says whether a command runs the hooks of pre-commit, of which many mend what they find.
fn runs_hooks(call: &Call) -> bool {
    let (tool, _) = call.steered();
    let mut operands = call.words[1..].iter().filter(|word| !word.starts_with('-'));
    let first = match stem(&call.words[0]).as_str() {
        // The module is the first.
        "python" => operands.nth(1),
        _ => operands.next(),
    };
    match (tool.as_str(), first.map(String::as_str)) {
        ("pre-commit" | "pre_commit" | "prek", Some("run")) => true,
        ("prek", first) => first.is_none(),
        _ => false,
    }
}

fn does_to_files(call: &Call) -> Does {
    let arguments = &call.words[1..];
    let has = |all: &[&str]| {
        let mut told = arguments.iter().enumerate();
        told.any(|(at, word)| is_told(word, all) && !is_to_write(word, arguments.get(at + 1)))
    };
    let (tool, operand) = call.steered();
    let tool = stem(&tool);
    let of_tool = |table: &[(&str, &'static [&'static str])]| -> Option<&'static [&'static str]> {
        let mut table = table.iter();
        table.find(|(name, _)| *name == tool).map(|(_, all)| *all)
    };
    let begins = begin(call, &tool, operand);
    let is_begun = |(words, _): &&(&str, &[&str])| {
        let rest = begins.strip_prefix(words);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    let writer = WRITERS.iter().find(is_begun);
    let own = of_tool(OF_TOOLS);
    let mut editors = IN_PLACE.iter();
    let editor = editors.find(|editor| editor.names.contains(&tool.as_str()));
    let is_mended = editor.is_some_and(|editor| editor.mends_in_place(arguments));
    // Gradle's tasks stand behind the way to their project: `:app:spotlessApply`.
    let is_of_project = |word: &String| {
        let task = word.rsplit_once(':').map(|(_, task)| task);
        task.is_some_and(|task| own.is_some_and(|own| own.contains(&task)))
    };
    let is_of_project = arguments.iter().any(is_of_project);
    let is_asked = own.is_some_and(has) || is_of_project || is_mended || has(OPTIONS);
    let adds = tool == "npm" && adds_packages(arguments);
    match (writer, own) {
        _ if EXTENDED.contains(&tool.as_str()) && loads_in_place(arguments) => Does::Writes,
        _ if TEXT.contains(&tool.as_str()) => Does::Nothing,
        _ if arguments.iter().any(|word| is_option(word, LOOKS)) => Does::Looks,
        _ if is_asked && !of_tool(SPARING).is_some_and(has) => Does::Writes,
        (Some((_, looks)), _) if has(looks) => Does::Looks,
        (Some(_), _) => Does::Writes,
        _ if adds => Does::Writes,
        (None, _) if is_to_look(arguments) => Does::Looks,
        (None, Some(_)) => Does::Nothing,
        (None, None) => Does::Unknown,
    }
}

/// Says whether npm is told to install packages by their names: it writes them into package.json.
fn adds_packages(arguments: &[String]) -> bool {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let takes = |word: &str| matches!(word, "--prefix" | "--workspace" | "-w" | "-C");
    let operands = operands(&words, takes);
    let installs = matches!(operands.as_slice(), ["add" | "i" | "install", _, ..]);
    installs && !words.contains(&"--no-save")
}

/// Says whether arguments of which nothing is known have an option that tells most tools to look only.
pub fn is_to_look(arguments: &[String]) -> bool {
    let tells = |word: &String| is_option(word, LOOKS) || is_option(word, MAY_LOOK);
    arguments.iter().any(tells)
}

/// Says whether a word is one of these, or one of them with a value for which a tool does not write: `-check=true`.
fn is_told(word: &str, all: &[&str]) -> bool {
    let is_one = |one: &&str| match word.strip_prefix(one) {
        Some("") => true,
        Some(rest) => {
            let value = rest.strip_prefix('=');
            value.is_some_and(|value| !WRITTEN.contains(&value))
        }
        None => false,
    };
    all.iter().any(is_one)
}

/// Says whether an option has a tool write for the word behind it: `--emit files`.
fn is_to_write(option: &str, next: Option<&String>) -> bool {
    TAKES.contains(&option) && next.is_some_and(|next| WRITTEN.contains(&next.as_str()))
}

/// Says whether awk is told to load what mends files: `-i inplace`.
fn loads_in_place(arguments: &[String]) -> bool {
    let mut before = "";
    arguments.iter().any(|word| {
        let is_value = matches!(std::mem::replace(&mut before, word), "-i" | "--include");
        is_value && word == "inplace" || word == "-iinplace" || word == "--include=inplace"
    })
}

/// Says whether a word is an option of one of these names, as Go's flags are, too: `-dry-run=true`.
fn is_option(word: &str, names: &[&str]) -> bool {
    let option = word.strip_prefix('-');
    option.is_some_and(|option| is_told(option.strip_prefix('-').unwrap_or(option), names))
}

impl Editor {
    /// Says whether it is told to mend files: `-i.bak`, `-ni`, `-pi`. What follows an option that takes a value is that.
    fn mends_in_place(&self, arguments: &[String]) -> bool {
        let mut arguments = arguments.iter();
        while let Some(word) = arguments.next() {
            let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
                match self.is_of_code {
                    // What stands behind a program's file is for that.
                    true => return false,
                    false => continue,
                }
            };
            if letters == "-" {
                return false;
            }
            let is_flag = |c: char| self.flags.contains(c) || c.is_ascii_digit();
            let mut rest = letters.trim_start_matches(is_flag).chars();
            match (rest.next(), rest.as_str()) {
                (Some('i'), _) => return true,
                (Some(letter), "") if self.takes.contains(letter) => {
                    arguments.next();
                }
                (Some(_) | None, _) => {}
            }
        }
        false
    }
}

/// Returns the tool and its first operands: what it is asked to do.
fn begin(call: &Call, tool: &str, operand: Option<String>) -> String {
    let is_plain = |word: &&String| !word.starts_with(['-', '+']);
    let operands = call.words.iter().skip(1).filter(is_plain).take(2);
    let mut words = vec![tool.to_owned()];
    // Of `python -m tool` the operands come after it, and none of the tools above is asked for more than its name there.
    words.extend(operand.iter().flat_map(|_| operands.clone()).cloned());
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_formats_and_mends_is_told_from_what_looks() {
        for (check, expected) in [
            ("cargo fmt", Some("cargo fmt")),
            ("cargo +nightly fmt --all", Some("cargo +nightly fmt --all")),
            ("cargo fmt --all -- --check", None),
            ("cargo fmt --check", None),
            ("terraform fmt --check --recursive", None),
            ("terraform fmt -check=true", None),
            (
                "terraform fmt -check=false",
                Some("terraform fmt -check=false"),
            ),
            ("terraform fmt -recursive", Some("terraform fmt -recursive")),
            (
                "cargo clippy --fix --allow-dirty",
                Some("cargo clippy --fix --allow-dirty"),
            ),
            ("cd a && black .", Some("black .")),
            ("black --check .", None),
            ("black --version", None),
            (
                "./gradlew :app:spotlessApply",
                Some("./gradlew :app:spotlessApply"),
            ),
            ("./gradlew :app:spotlessCheck", None),
            (
                "biome check --apply-unsafe .",
                Some("biome check --apply-unsafe ."),
            ),
            ("yq -i .a=1 f.yml", Some("yq -i .a=1 f.yml")),
            ("yq .a f.yml", None),
            ("npx sort-package-json", Some("sort-package-json")),
            ("sort-package-json --check", None),
            ("python3 -m black src", Some("python3 -m black src")),
            ("python3 -m black --check src", None),
            ("uv run ruff format", Some("ruff format")),
            ("poetry run isort .", Some("isort .")),
            ("uv format", Some("uv format")),
            ("uv add x", Some("uv add x")),
            ("pnpm add -D x", Some("pnpm add -D x")),
            ("poetry add x", Some("poetry add x")),
            ("yarn add x", Some("yarn add x")),
            ("npm uninstall x", Some("npm uninstall x")),
            ("npm install -D x", Some("npm install -D x")),
            ("npm i x", Some("npm i x")),
            ("npm install", None),
            ("npm install --no-save x", None),
            ("npm install --prefix web", None),
            ("hatch fmt --check", None),
            ("ruff check", None),
            ("ruff check --fix --diff", None),
            ("npx prettier --write .", Some("prettier --write .")),
            ("npx prettier --check .", None),
            ("gofmt -l .", None),
            ("test -z \"$(gofmt -l -w .)\"", Some("gofmt -l -w .")),
            ("go mod tidy && git diff --exit-code", Some("go mod tidy")),
            ("go mod tidy -diff", None),
            ("go mod verify", None),
            ("./gradlew spotlessApply", Some("./gradlew spotlessApply")),
            ("bundle exec rubocop -A", Some("rubocop -A")),
            ("bundle exec rubocop", None),
            ("! grep -rn -- --fix docs", None),
            ("echo \"run cargo fmt\"", None),
            ("terraform fmt -check", None),
            ("terraform fmt -diff", Some("terraform fmt -diff")),
            ("tofu fmt -diff", Some("tofu fmt -diff")),
            (
                "prettier --write --list-different .",
                Some("prettier --write --list-different ."),
            ),
            (
                "prettier --write --check .",
                Some("prettier --write --check ."),
            ),
            ("prettier -w . --check", Some("prettier -w . --check")),
            ("yarn prettier --check .", None),
            ("eslint --fix --dry-run .", None),
            ("ruff format --diff", None),
            ("ruff check --fix", Some("ruff check --fix")),
            ("isort --check-only .", None),
            ("isort --diff .", None),
            ("gofmt -d .", None),
            ("go fix -diff ./...", None),
            ("dart format --output=none .", None),
            ("dart format .", Some("dart format .")),
            ("sed -i s/foo/bar/ f.txt", Some("sed -i s/foo/bar/ f.txt")),
            ("sed -n 1p f.txt", None),
            ("perl -pi -e s/a/b/ f.txt", Some("perl -pi -e s/a/b/ f.txt")),
            ("perl -e 'print 1'", None),
            ("sed -n -e 1p -Ei.bak f", Some("sed -n -e 1p -Ei.bak f")),
            ("sed -e -i f.txt", None),
            ("sed s/a/b/ f.txt -i", Some("sed s/a/b/ f.txt -i")),
            (
                "perl -0777 -i -pe s/a/b/ f",
                Some("perl -0777 -i -pe s/a/b/ f"),
            ),
            ("perl -Mintegerpi -ne print f", None),
            ("perl -Ilib tool.pl -i", None),
            ("perl -E'if (1) { }'", None),
            ("ruby -ri18n -e 'puts 1'", None),
            ("ruby -r i18n -ne 'puts 1' f", None),
            ("ruby -Eiso-8859-1 x.rb", None),
            (
                "ruby -rset -i.bak -pe 1 f",
                Some("ruby -rset -i.bak -pe 1 f"),
            ),
            ("ruby -e 1 -- -i", None),
            ("treefmt", Some("treefmt")),
            ("sqlfluff fix .", Some("sqlfluff fix .")),
            ("npm audit fix", Some("npm audit fix")),
            ("vendor/bin/pint", Some("vendor/bin/pint")),
            ("vendor/bin/pint --test", None),
            ("nixfmt .", Some("nixfmt .")),
            ("golangci-lint fmt", Some("golangci-lint fmt")),
            ("golangci-lint run", None),
            ("rye fmt", Some("rye fmt")),
            ("flutter format .", Some("flutter format .")),
            ("sbt scalafmtAll", Some("sbt scalafmtAll")),
            ("mvn fmt:format", Some("mvn fmt:format")),
            ("mvn fmt:check", None),
            ("make check-format", None),
            (
                "rustfmt --emit files a.rs",
                Some("rustfmt --emit files a.rs"),
            ),
            (
                "rustfmt --emit=files a.rs",
                Some("rustfmt --emit=files a.rs"),
            ),
            ("rustfmt --emit stdout a.rs", None),
            ("rustfmt --check files", None),
            ("dart format -o write .", Some("dart format -o write .")),
            ("dart format --output none .", None),
            ("gawk -i inplace 1 f", Some("gawk -i inplace 1 f")),
            ("awk -iinplace 1 f", Some("awk -iinplace 1 f")),
            ("awk 1 inplace", None),
            ("npx jest -u", Some("jest -u")),
            ("vitest run --update", Some("vitest run --update")),
            ("pytest --snapshot-update", Some("pytest --snapshot-update")),
            ("jest --ci", None),
            ("poetry run pre-commit run -a", Some("pre-commit run -a")),
            (
                "python -m pre_commit run --all-files",
                Some("python -m pre_commit run --all-files"),
            ),
            ("prek -a", Some("prek -a")),
            ("prek install", None),
            ("pre-commit --version", None),
            ("cargo test", None),
        ] {
            assert_eq!(changing(check).as_deref(), expected, "{check}");
        }
    }
}
