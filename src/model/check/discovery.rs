//! The test files that a runner finds by itself, by their names and folders. The conventions are those of the runners' own pages:
//! pytest's `Conventions for Python test discovery`, Python's `unittest` on `discover`, Cargo's `Cargo Targets`, `go help test`,
//! RSpec's `--pattern`, Jest's `testMatch`, Vitest's `include`, Mocha's `spec`, AVA's `files`, Playwright's `testMatch`, Node's
//! `Test runner`, Deno's and Bun's on `test`, Maven's `Standard Directory Layout`, Gradle's `Java plugin`, ExUnit's `mix test`,
//! PHPUnit's `Organizing Tests`, `prove`, and for .NET, Swift, Dart and CMake what their templates lay out. Pure.

use super::call::{Call, stem};
use super::code::Code;
use super::path::join;

/// Patterns of what runners find by themselves; `*` stops at a slash, and `**` does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    /// Test files, by their names.
    pub tests: Vec<String>,
    /// What lies in folders for tests.
    pub beside: Vec<String>,
    /// What tests take in place of the code that they test, if it is no test itself: a new one counts, too.
    pub shadows: Vec<String>,
}

impl Discovery {
    /// Adds what another one found.
    pub fn extend(&mut self, other: Discovery) {
        for (all, more) in [
            (&mut self.tests, other.tests),
            (&mut self.beside, other.beside),
            (&mut self.shadows, other.shadows),
        ] {
            all.extend(more);
            all.sort();
            all.dedup();
        }
    }

    /// Adds what is found by a convention in a folder, which is empty for the root.
    fn add(&mut self, convention: &Convention, folder: &str) {
        for (found, patterns) in [
            (&mut self.tests, convention.tests),
            (&mut self.beside, convention.beside),
            (&mut self.shadows, convention.shadows),
        ] {
            found.extend(patterns.iter().flat_map(|pattern| below(folder, pattern)));
        }
    }
}

/// How a runner knows test files, seen from where it looks; see `Discovery`.
#[derive(Default)]
struct Convention {
    tests: &'static [&'static str],
    beside: &'static [&'static str],
    shadows: &'static [&'static str],
}

const PYTHON: Convention = Convention {
    tests: &["test*.py", "*_test.py"],
    beside: &["test/**", "tests/**"],
    // The folder of a test stands in front where modules are looked for.
    shadows: &["test/**/*.py", "tests/**/*.py"],
};
const RUST: Convention = Convention {
    tests: &["tests.rs", "*_test.rs", "*_tests.rs"],
    beside: &["tests/**", "benches/**"],
    shadows: &[],
};
const GO: Convention = Convention {
    tests: &["*_test.go"],
    beside: &["testdata/**"],
    shadows: &[],
};
const RUBY: Convention = Convention {
    tests: &["*_spec.rb", "*_test.rb", "test_*.rb"],
    beside: &["spec/**", "test/**"],
    shadows: &[],
};
const JAVASCRIPT: Convention = Convention {
    tests: &[
        "*[._-]{test,spec}.{js,cjs,mjs,jsx,ts,cts,mts,tsx}",
        "{test,test-*}.{js,cjs,mjs,jsx,ts,cts,mts,tsx}",
    ],
    beside: &[
        "__tests__/**",
        "__snapshots__/**",
        "test/**",
        "tests/**",
        "spec/**",
        "e2e/**",
        "cypress/**",
    ],
    shadows: &["__mocks__/**"],
};
const JAVA: Convention = Convention {
    tests: &[
        "src/*[tT]est/**/*{Test,Tests,TestCase,IT,Spec}.{java,kt,groovy,scala}",
        "src/*[tT]est/**/Test*.{java,kt,groovy,scala}",
    ],
    beside: &["src/test/**", "src/*Test/**"],
    // Classes and resources of the tests stand in front of those that they test.
    shadows: &["src/test/**", "src/*Test/**"],
};
/// `all.tcl` of tcltest runs what lies beside it.
const TCL: Convention = Convention {
    tests: &["*.test"],
    beside: &[],
    shadows: &[],
};
/// What looks at types takes a stub in place of the code.
const TYPES: Convention = Convention {
    tests: &[],
    beside: &[],
    shadows: &["*.pyi"],
};
const OTHER: Convention = Convention {
    tests: &["*{_test,_spec,Test,Tests}.*"],
    beside: &["t/**", "test/**", "tests/**", "spec/**", "*Tests/**"],
    shadows: &[],
};

/// Returns how the tool of a call finds tests; none if it runs none.
fn convention(
    tool: &str,
    subcommand: Option<&str>,
    words: &[String],
) -> Option<&'static Convention> {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let convention = match (tool, subcommand) {
        ("pytest" | "py.test" | "nose2" | "nose" | "tox" | "nox", _) => &PYTHON,
        ("coverage", Some("run")) => &PYTHON,
        (
            "mypy" | "dmypy" | "stubtest" | "pyright" | "basedpyright" | "ty" | "pyre" | "pyrefly"
            | "pytype",
            _,
        ) => &TYPES,
        ("unittest", _) if looks_for_tests(words) => &PYTHON,
        ("hatch", Some("test")) | ("python", Some("manage.py")) => &PYTHON,
        ("cargo", Some("test" | "t" | "nextest" | "bench" | "llvm-cov" | "tarpaulin")) => &RUST,
        ("go", Some("test")) | ("gotestsum" | "ginkgo", _) => &GO,
        ("rspec", _) | ("rake", None) | ("rake" | "rails", Some("test" | "spec")) => &RUBY,
        (
            "jest" | "vitest" | "mocha" | "ts-mocha" | "ava" | "tap" | "tape" | "jasmine" | "uvu"
            | "qunit" | "lab",
            _,
        ) => &JAVASCRIPT,
        ("turbo" | "nx" | "lerna", _) if has("test") => &JAVASCRIPT,
        ("playwright" | "react-scripts" | "ng" | "deno" | "bun", Some("test")) => &JAVASCRIPT,
        ("cypress", Some("run")) => &JAVASCRIPT,
        ("node" | "nodejs" | "tsx", _) if has("--test") => &JAVASCRIPT,
        ("mvn" | "mvnw" | "gradle" | "gradlew" | "sbt", _) if builds_with_tests(words) => &JAVA,
        ("mix" | "dotnet" | "swift" | "dart" | "flutter" | "meson" | "bazel", Some("test")) => {
            &OTHER
        }
        ("tclsh" | "wish", Some(script)) if script.ends_with("all.tcl") => &TCL,
        ("phpunit" | "pest" | "ctest" | "prove" | "busted", _) => &OTHER,
        _ => return None,
    };
    Some(convention)
}

/// Says whether the goals of Maven or the tasks of Gradle run tests.
fn builds_with_tests(words: &[String]) -> bool {
    let goals = ["test", "check", "verify", "build", "package", "install"];
    let is_goal = |word: &String| goals.iter().any(|goal| word.ends_with(goal));
    words.iter().any(is_goal)
}

/// How many places are told apart; of more, the whole repository is one.
const MOST: usize = 64;

/// Returns what the runners that `code` calls find by themselves.
pub fn discovered(code: &Code) -> Discovery {
    let mut found = Discovery::default();
    let mut places = 0;
    for call in code.calls() {
        let (tool, subcommand) = call.steered();
        let words = behind(&tool, &call.words);
        let Some(convention) = convention(&tool, subcommand.as_deref(), words) else {
            continue;
        };
        let (folders, files) = told(&tool, call, words);
        places += folders.len() + files.len();
        let mut one = Discovery::default();
        if places > MOST {
            one.add(convention, "");
            found.extend(one);
            continue;
        }
        // A test file that is named stands for itself, and a pattern of such for what it fits.
        let patterns = files.iter().filter(|file| is_pattern_of_tests(file));
        one.tests.extend(patterns.cloned());
        for file in files {
            let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
            let patterns = convention.shadows.iter();
            one.shadows
                .extend(patterns.flat_map(|it| below(folder, it)));
        }
        for folder in folders {
            one.add(convention, &folder);
            let own = by_option(&tool, words);
            one.tests
                .extend(own.iter().flat_map(|it| below(&folder, it)));
        }
        found.extend(one);
    }
    found
}

/// Returns what stands behind a tool's name, or the interpreter's that runs it.
fn behind<'w>(tool: &str, words: &'w [String]) -> &'w [String] {
    let mut named = words.iter();
    let at = named.position(|word| word == tool || stem(word) == tool);
    &words[at.unwrap_or(0) + 1..]
}

/// Says whether `unittest` is told no modules, so that it looks for tests.
fn looks_for_tests(words: &[String]) -> bool {
    let is_operand = |at: usize| !words[at].starts_with('-') && (at == 0 || words[at - 1] != "-k");
    let operand = (0..words.len()).find(|at| is_operand(*at));
    operand.is_none_or(|at| words[at] == "discover")
}

/// Returns the names that `unittest discover` is told to look for.
fn by_option(tool: &str, words: &[String]) -> Option<String> {
    let is_option = |word: &str| matches!(word, "-p" | "--pattern");
    let mut pairs = words.windows(2).filter(|_| tool == "unittest");
    let pair = pairs.find(|pair| is_option(&pair[0]))?;
    Some(pair[1].clone())
}

/// Folders that hold tests, by their names.
const FOLDERS: &[&str] = &["test", "tests", "spec", "e2e", "__tests__", "t"];

/// How the names of scripts end.
const SCRIPTS: &[&str] = &[
    "py", "js", "cjs", "mjs", "jsx", "ts", "mts", "tsx", "rb", "exs", "php", "t",
];

/// Returns the folders and the files in which a runner is told to look; the folder that it is called in where it is told none, or
/// where that is not clear.
fn told(tool: &str, call: &Call, words: &[String]) -> (Vec<String>, Vec<String>) {
    let here = || call.dir.clone().unwrap_or_default();
    let paths = match tool {
        "pytest" | "py.test" | "unittest" | "nose2" | "rspec" | "jest" | "vitest" | "mocha"
        | "ts-mocha" | "ava" | "tap" | "tape" | "jasmine" | "uvu" | "qunit" | "lab"
        | "playwright" | "node" | "nodejs" | "tsx" | "deno" | "bun" | "go" | "mix" | "phpunit"
        | "pest" | "prove" => paths(words),
        _ => Vec::new(),
    };
    if paths.is_empty() {
        return (vec![here()], Vec::new());
    }
    let (files, folders): (Vec<&str>, Vec<&str>) =
        paths.into_iter().partition(|path| is_file(path));
    let below_root = |path: &str| match path.contains(['$', '`']) {
        true => None,
        false => join(call.dir.as_deref()?, path),
    };
    let folders = folders.into_iter();
    let folders = folders.map(|path| below_root(path).unwrap_or_else(here));
    (
        folders.collect(),
        files.into_iter().filter_map(below_root).collect(),
    )
}

/// Says whether a path is a pattern that by its folders or its name fits nothing but tests.
fn is_pattern_of_tests(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in_folder = folders.split('/').any(|folder| FOLDERS.contains(&folder));
    path.contains(['*', '?', '[', '{'])
        && (is_in_folder || name.contains("test") || name.contains("spec"))
}

fn is_file(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| SCRIPTS.contains(&ending))
}

/// Returns the words that are paths, and not the values of options.
fn paths(words: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    let mut may_be_value = false;
    for (at, word) in words.iter().enumerate() {
        if at == 0 && matches!(word.as_str(), "test" | "run" | "discover") {
            continue;
        }
        if let Some(option) = word.strip_prefix('-') {
            let is_switch = option.chars().all(|c| "bfqrsuvx".contains(c));
            may_be_value = !is_switch && !option.contains('=');
            continue;
        }
        let path = word.split("::").next().unwrap_or(word);
        // All packages below, as Go writes it.
        let path = path.strip_suffix("...").unwrap_or(path);
        let first = path.trim_start_matches("./").split('/').next();
        let is_for_tests = first.is_some_and(|part| FOLDERS.contains(&part));
        if is_for_tests || !may_be_value && (path.contains('/') || is_file(path)) {
            found.push(path);
        }
        may_be_value = false;
    }
    found
}

/// Returns the patterns for a pattern below a folder; of a folder that lies in one for tests, all that it has is meant.
fn below(folder: &str, pattern: &str) -> Vec<String> {
    let inside = match folder {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    let mut found = vec![format!("{inside}**/{pattern}")];
    if let Some((name, rest)) = pattern.split_once("/**")
        && format!("/{inside}").contains(&format!("/{name}/"))
    {
        found.push(format!("{inside}**{rest}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use globset::GlobBuilder;

    fn has(patterns: &[String], path: &str) -> bool {
        let glob = |it: &String| {
            GlobBuilder::new(it)
                .literal_separator(true)
                .build()
                .unwrap()
        };
        let mut globs = patterns.iter().map(|it| glob(it).compile_matcher());
        globs.any(|glob| glob.is_match(path))
    }

    #[test]
    fn each_runner_finds_tests_by_its_own_names_below_where_it_is_told_to_look() {
        for (check, test, other) in [
            ("pytest", "tests/a/test_x.py", "src/x.py"),
            ("pytest", "src/x_test.py", "src/latest.py"),
            (
                "python3 -m pytest -q tests/a",
                "tests/a/test_x.py",
                "tests/b/test_x.py",
            ),
            (
                "pytest -k tests_x -n 4 tests",
                "tests/data/x.json",
                "test_x.py",
            ),
            ("pytest --cov=src -q", "tests/test_x.py", "src/x.py"),
            (
                "pytest --junitxml build/x.xml",
                "tests/test_x.py",
                "build/x.py",
            ),
            ("pytest \"$DIR/tests\"", "tests/test_x.py", "src/x.py"),
            ("pytest tests/test_a.py::test_x", "", "tests/test_b.py"),
            ("python3 -m unittest", "tests/test_x.py", "x.py"),
            (
                "python3 -m unittest discover -s tests",
                "tests/testx.py",
                "test_x.py",
            ),
            (
                "python3 -m unittest discover -s ./t/a -p 'c_*.py'",
                "t/a/c_x.py",
                "t/b/c_x.py",
            ),
            ("python3 -m unittest -k x", "tests/test_x.py", "x.py"),
            ("python3 -m unittest tests.test_a", "", "tests/test_b.py"),
            ("coverage run -m pytest", "tests/test_x.py", "x.py"),
            ("uv run pytest; tox", "tests/test_x.py", "x.py"),
            ("cd web && pytest", "web/tests/test_x.py", "tests/test_x.py"),
            ("go test ./...", "a/x_test.go", "a/x.go"),
            ("go test -v ./a/...", "a/testdata/x", "b/x_test.go"),
            (
                "cargo test --locked tests",
                "crates/a/tests/it.rs",
                "src/lib.rs",
            ),
            ("cargo nextest run", "src/a/tests.rs", "Cargo.lock"),
            ("bundle exec rspec", "spec/a_spec.rb", "lib/a.rb"),
            ("npx jest", "src/a/__tests__/x.js", "src/a/x.js"),
            ("npx jest --ci src", "src/x.test.tsx", "src/test.css"),
            ("npx vitest run", "x.spec.ts", "spec.md"),
            ("npx playwright test e2e", "e2e/x.spec.ts", "src/x.spec.ts"),
            ("npx c8 npx mocha", "test/x.js", "lib/x.js"),
            ("npx nyc tape test", "test/a/x.js", "lib/x.js"),
            ("tape 'test/**/*.js'", "test/a/x.js", "lib/x.js"),
            ("mocha src/*.test.js", "src/x.test.js", "src/x.js"),
            ("ava 'src/**/*.js'", "", "src/x.js"),
            ("npx jasmine", "spec/x_spec.js", "lib/x.js"),
            ("node --test test/", "test/x.mjs", "x.test.mjs"),
            ("deno test -A", "a/x_test.ts", "a/x.ts"),
            ("bun test", "x.test.ts", "x.ts"),
            (
                "./mvnw -q verify",
                "app/src/test/java/XTest.java",
                "src/main/X.java",
            ),
            ("gradle :app:test", "app/src/test/X.kt", "build.gradle"),
            ("mix test", "test/x_test.exs", "lib/x.ex"),
            ("dotnet test", "My.Tests/X.cs", "My/X.cs"),
            ("vendor/bin/phpunit", "tests/XTest.php", "src/X.php"),
            ("prove -r", "t/x.t", "lib/X.pm"),
            ("tclsh tests/all.tcl", "tests/calc.test", "calc.tcl"),
            ("ctest --test-dir build", "tests/x.cpp", "src/x.cpp"),
        ] {
            let Discovery { tests, beside, .. } = discovered(&Code::of_check(check));
            let found = [tests, beside].concat();
            assert!(test.is_empty() || has(&found, test), "{check}: {found:?}");
            assert!(!has(&found, other), "{check}: {found:?}");
        }
        for check in [
            "cargo build",
            "go vet ./...",
            "coverage report",
            "grep -r test tests",
            "npm ci",
        ] {
            let found = discovered(&Code::of_check(check));
            assert_eq!(found, Discovery::default(), "{check}");
        }
    }

    #[test]
    fn a_class_of_tests_is_one_by_its_name() {
        let found = discovered(&Code::of_check("mvn test")).tests;
        for name in ["CalcTest", "TestCalc", "CalcIT"] {
            let path = format!("core/src/test/java/app/{name}.java");
            assert!(has(&found, &path), "{path}: {found:?}");
        }
        assert!(!has(&found, "core/src/test/java/app/Calc.java"));
    }

    #[test]
    fn what_tests_take_in_place_of_code_counts_in_their_folders() {
        for (check, shadow, other) in [
            ("pytest", "tests/calc/__init__.py", "calc/__init__.py"),
            (
                "python3 -m unittest discover -s tests",
                "tests/calc.py",
                "calc.py",
            ),
            ("pytest tests/test_a.py", "tests/calc.py", "calc.py"),
            ("npx jest", "src/__mocks__/x.js", "src/x.js"),
            (
                "mvn test",
                "core/src/test/java/app/Calc.java",
                "core/src/main/java/app/Calc.java",
            ),
            ("gradle check", "src/integrationTest/resources/x", "src/x"),
            ("mypy src", "src/calc.pyi", "src/calc.py"),
        ] {
            let found = discovered(&Code::of_check(check)).shadows;
            assert!(has(&found, shadow), "{check}: {found:?}");
            assert!(!has(&found, other), "{check}: {found:?}");
        }
    }
}
