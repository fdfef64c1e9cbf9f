//! What settings load: other settings that they go on from, plugins. The keys are those of the tools' own documentation: TypeScript's and
//! ESLint's `extends`, Jest's `transform`, mypy's and pylint's `plugins`, pytest's `pytest_plugins`, RuboCop's `inherit_from`, PHPStan's
//! `includes`, Gradle's `apply from`, Maven's `relativePath`, Checkstyle's `configLocation`, Cargo's `build`. What is run before tests is
//! code (`commands`). Pure.

use super::commands::strings;
use super::modules::{self, folder_of};
use super::path::{LONGEST, join};
use super::places::Places;
use super::tasks::Used;

/// What is asked of a file that settings load.
pub const LOADED: &str = "loaded";

/// How many files one file of settings loads at most.
const MOST: usize = 64;
/// How many lines of a list are looked at.
const MOST_LINES: usize = 64;

/// The keys whose values are files that are loaded, if there are such files.
const KEYS: &[&str] = &[
    "alias",
    "bootstrap",
    "config",
    "configFile",
    "customRules",
    "environment",
    "extend",
    "extends",
    "file",
    "import",
    "includes",
    "inherit_from",
    "karmaConfig",
    "load-plugins",
    "moduleNameMapper",
    "parser",
    "plugins",
    "preset",
    "presets",
    "processor",
    "reporter",
    "reporters",
    "require",
    "resolver",
    "rulesDirectory",
    "runner",
    "snapshotResolver",
    "snapshotSerializers",
    "testEnvironment",
    "testResultsProcessor",
    "testRunner",
    "testSequencer",
    "transform",
];
/// The keys whose values are patterns of test files.
const OF_TESTS: &[&str] = &["spec", "specPattern", "testDir", "testMatch"];
/// In a package.json these name what the package itself has.
const OF_PACKAGES: &[&str] = &["import", "require"];
/// These say what a name in the product's own code stands for.
const OF_PRODUCTS: &[&str] = &["alias", "moduleNameMapper"];
/// The keys of Jest and Vitest whose values are run before tests.
const SETUPS: &[&str] = &[
    "globalSetup",
    "globalTeardown",
    "setupFiles",
    "setupFilesAfterEnv",
];
/// The elements of XML that name such files.
const ELEMENTS: &[&str] = &[
    "configLocation",
    "headerLocation",
    "relativePath",
    "ruleset",
    "suppressionsLocation",
];

/// What names may go without.
const ENDINGS: &[&str] = &[
    "",
    ".js",
    ".cjs",
    ".mjs",
    ".ts",
    ".json",
    ".py",
    ".yml",
    ".yaml",
    ".rb",
    "/index.js",
    "/index.ts",
    "/__init__.py",
];

/// How paths begin that are seen from the root.
const ROOTS: &[&str] = &[
    "<rootDir>/",
    "${rootDir}/",
    "$rootDir/",
    "${project.basedir}/",
];

/// How settings are written.
#[derive(Clone, Copy, PartialEq)]
pub enum Form {
    Script,
    Python,
    Cargo,
    Gradle,
    Xml,
    Package,
    /// JSON, YAML, TOML, INI, and whatever has no ending.
    Keyed,
}

/// Returns how the settings in a file are written; none where it is no such file, but code.
pub fn form(used: &Used) -> Option<Form> {
    let name = used.file.rsplit('/').next().unwrap_or(&used.file);
    let is_loaded = used.tasks == [LOADED];
    Some(match name.rsplit_once('.').map_or("", |(_, end)| end) {
        _ if name == "Cargo.toml" => Form::Cargo,
        _ if name == "package.json" => Form::Package,
        _ if name == "conftest.py" => Form::Python,
        "js" | "cjs" | "mjs" | "ts" | "cts" | "mts" => {
            let is_settings = name.starts_with('.') || name.contains(".config.");
            return (is_settings || is_loaded || name.contains(".conf.")).then_some(Form::Script);
        }
        "gradle" | "kts" => Form::Gradle,
        "xml" | "dist" => Form::Xml,
        "json" | "jsonc" | "json5" | "yml" | "yaml" | "toml" | "ini" | "cfg" | "neon" => {
            Form::Keyed
        }
        _ if name.starts_with('.') || name.ends_with("rc") => Form::Keyed,
        _ => return None,
    })
}

/// Returns the keys whose values may be packages by their names.
pub fn keys_of_packages() -> impl Iterator<Item = &'static str> {
    let keys = KEYS.iter().filter(|key| !OF_PRODUCTS.contains(key));
    keys.chain(SETUPS).copied()
}

/// Returns the files that settings may load, there or not.
pub fn loaded(used: &Used, text: &str) -> Vec<Used> {
    let Some(form) = form(used) else {
        return Vec::new();
    };
    let of = |keys: &[&str]| keys.iter().flat_map(|key| values(text, key)).collect();
    let words: Vec<&str> = match form {
        Form::Script => of(KEYS),
        Form::Keyed => [of(KEYS), plugins_of_pytest(text)].concat(),
        Form::Package => {
            let keys = KEYS.iter().filter(|key| !OF_PACKAGES.contains(key));
            of(&keys.copied().collect::<Vec<_>>())
        }
        Form::Python => of(&["pytest_plugins"]),
        Form::Cargo => of(&["build"]),
        Form::Gradle => text.lines().filter_map(applied).flatten().collect(),
        Form::Xml => ELEMENTS
            .iter()
            .flat_map(|name| elements(text, name))
            .chain(values(text, "bootstrap"))
            .collect(),
    };
    let mut files = Vec::new();
    for word in words.into_iter().take(MOST) {
        files.extend(places(folder_of(&used.file).as_str(), word));
    }
    if form == Form::Keyed {
        let folder = folder_of(&used.file);
        let own = plugins_of_flake8(text);
        files.extend(own.iter().filter_map(|path| join(&folder, path)));
    }
    if form == Form::Script {
        let imported = modules::imported(used, text).into_iter();
        files.extend(imported.filter(|path| !path.ends_with('/')));
    }
    files.retain(|file| *file != used.file);
    files.sort();
    files.dedup();
    let one = |file| Used {
        dir: used.dir.clone(),
        ..settings(file, used.places.clone())
    };
    files.into_iter().map(one).collect()
}

/// Returns a file that is loaded as settings.
pub fn settings(file: String, places: Places) -> Used {
    Used {
        dir: Some(folder_of(&file)),
        tasks: vec![LOADED.to_owned()],
        places,
        file,
    }
}

/// Returns patterns of the test files that a runner finds by its settings. Those of Vitest are what `include` says in them, and Cargo's
/// are those of its tests that have a path of their own.
pub fn tests_by_settings(used: &Used, text: &str) -> Vec<String> {
    let Some(form) = form(used) else {
        return Vec::new();
    };
    let folder = folder_of(&used.file);
    let name = used.file.rsplit('/').next().unwrap_or(&used.file);
    let is_of_vitest = name.starts_with("vitest.") || name.starts_with("vite.");
    let keys = OF_TESTS.iter().chain(is_of_vitest.then_some(&"include"));
    let words: Vec<&str> = match form {
        Form::Cargo => paths_of_tests(text),
        Form::Script | Form::Keyed | Form::Package => {
            keys.flat_map(|key| values(text, key)).collect()
        }
        Form::Python | Form::Gradle | Form::Xml => Vec::new(),
    };
    let by_name = match form {
        Form::Keyed => values(text, "python_files"),
        _ => Vec::new(),
    };
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "$<>|\\^".contains(c);
    let is_pattern =
        |word: &&str| !word.is_empty() && word.len() <= LONGEST && !word.contains(is_odd);
    let below_root = words.into_iter().map(|word| {
        let rooted = ROOTS.iter().find_map(|root| word.strip_prefix(root));
        rooted.unwrap_or(word)
    });
    let in_folder = below_root.filter(is_pattern).filter_map(|word| {
        let path = join(&folder, word)?;
        let last = path.rsplit('/').next().unwrap_or_default();
        Some(match last.contains(['.', '*']) {
            true => path,
            false => format!("{path}/**"),
        })
    });
    let by_name = by_name.into_iter().filter(is_pattern);
    let anywhere = by_name.filter_map(|name| join(&folder, &format!("**/{name}")));
    in_folder.chain(anywhere).take(MOST).collect()
}

/// Returns the paths of the tests and benches in a Cargo.toml.
fn paths_of_tests(text: &str) -> Vec<&str> {
    let parts = text.split("\n[").filter(|part| {
        ["[test]]", "[bench]]"]
            .iter()
            .any(|begin| part.starts_with(begin))
    });
    parts.flat_map(|part| values(part, "path")).collect()
}

/// Returns the modules of flake8's plugins of a repository's own, in the folders that its settings name.
fn plugins_of_flake8(text: &str) -> Vec<String> {
    let Some((_, section)) = text.split_once("[flake8:local-plugins]") else {
        return Vec::new();
    };
    let section = section.split("\n[").next().unwrap_or(section);
    let keys = ["extension", "report"];
    let named = keys.iter().flat_map(|key| values(section, key));
    let modules: Vec<String> = named
        .filter_map(|word| word.split_once(':'))
        .map(|(module, _)| module.replace('.', "/"))
        .collect();
    let folders = values(section, "paths").into_iter().chain(["."]);
    let paths = folders.flat_map(|folder| {
        modules
            .iter()
            .map(move |module| format!("{folder}/{module}.py"))
    });
    paths.collect()
}

/// Returns the modules that pytest is told to load by options in its settings: `addopts = -p own.plugin`.
fn plugins_of_pytest(text: &str) -> Vec<&str> {
    let values = values(text, "addopts").into_iter();
    let words: Vec<&str> = values.flat_map(str::split_whitespace).collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == "-p");
    pairs.map(|pair| pair[1]).collect()
}

/// Returns the words that stand for files among the values of a key.
pub fn values<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let mut found = Vec::new();
    for (at, _) in text.match_indices(key).take(MOST) {
        let rest = &text[at + key.len()..];
        let rest = rest.strip_prefix(['"', '\'']).unwrap_or(rest);
        let rest = rest.trim_start_matches([' ', '\t']);
        let value = rest.strip_prefix([':', '=']);
        let is_key = !text[..at].ends_with(is_name);
        if let Some(value) = value.filter(|_| is_key) {
            found.extend(words(value.trim_start_matches(['=', ' ', '\t'])));
        }
    }
    found
}

/// Returns the words of a value: a string, what stands in brackets, the rest of a line, or the lines of a list below it.
fn words(value: &str) -> Vec<&str> {
    let line = value.lines().next().unwrap_or_default();
    match value.chars().next() {
        Some(quote @ ('"' | '\'' | '`')) => line[1..].split(quote).take(1).collect(),
        Some('[' | '{' | '(') => {
            let (strings, end) = strings(value, 0);
            // As in YAML, where they need no quotes.
            let is_closed = value[..end].ends_with([']', '}', ')']);
            match strings.is_empty() && is_closed {
                true => bare(&value[1..end - 1]),
                false => strings,
            }
        }
        Some('\n' | '\r') => {
            let lines = value.trim_start_matches(['\r', '\n']).lines();
            let listed = lines.map_while(|line| {
                let item = line.trim_start();
                let is_within = item.len() < line.len() || item.starts_with('-');
                let item = item.strip_prefix('-').unwrap_or(item).trim();
                (is_within && !item.is_empty()).then_some(item)
            });
            listed.take(MOST_LINES).flat_map(bare).collect()
        }
        Some(_) | None => bare(line),
    }
}

/// Returns the words of a line that stand without quotes, or in quotes of their own; what follows a `#` says nothing.
fn bare(text: &str) -> Vec<&str> {
    let lines = text.lines();
    let code = lines.map(|line| line.split(" #").next().unwrap_or_default());
    let words = code.flat_map(|line| line.split([',', ' ', '\t']));
    let words = words.map(|word| word.trim_matches(['"', '\'', '`', ';']));
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the strings behind the `from` of a line of Gradle's that applies a script.
fn applied(line: &str) -> Option<Vec<&str>> {
    let (_, rest) = line
        .trim_start()
        .strip_prefix("apply")?
        .split_once("from")?;
    Some(strings(rest, 0).0)
}

/// Returns what stands in the elements of XML with this name.
fn elements<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let begin = format!("<{name}>");
    let behind = text.split(&begin).skip(1).take(MOST);
    behind
        .filter_map(|rest| rest.split('<').next())
        .map(str::trim)
        .collect()
}

/// Returns where a file could lie that is named so in a folder: beside it or below the root, by its path or as a module of Python's.
fn places(folder: &str, word: &str) -> Vec<String> {
    let rooted = ROOTS.iter().find_map(|root| word.strip_prefix(root));
    // As in `module:function`.
    let word = rooted.unwrap_or(word);
    let word = word.split(':').next().unwrap_or(word);
    let is_path = word.contains(['/', '.']) && !word.trim_matches(['.', '/']).is_empty();
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "*?$<>{}".contains(c);
    if !is_path || word.len() > LONGEST || word.contains(is_odd) || word.starts_with(['~', '/']) {
        return Vec::new();
    }
    let is_module = !word.contains('/') && !word.starts_with('.');
    let module = is_module.then(|| word.replace('.', "/"));
    let names = [Some(word.to_owned()), module].into_iter().flatten();
    let names: Vec<String> = names.collect();
    let folders = match folder {
        "" => vec![""],
        folder => vec![folder, ""],
    };
    let mut found = Vec::new();
    for folder in folders {
        for name in &names {
            let paths = ENDINGS.iter().map(|end| format!("{name}{end}"));
            found.extend(paths.filter_map(|path| join(folder, &path)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns which of these files the settings load.
    fn of(file: &str, text: &str, there: &str) -> String {
        let found = loaded(&Used::of(file.to_owned()), text);
        let found: Vec<&str> = found.iter().map(|one| one.file.as_str()).collect();
        let there = there.split(' ').filter(|path| found.contains(path));
        there.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn settings_load_what_their_keys_name() {
        for (file, text, expected) in [
            (
                "tsconfig.json",
                "{\n // base\n \"extends\": \"./conf/tsconfig.base.json\",\n}",
                "conf/tsconfig.base.json",
            ),
            (
                "web/tsconfig.json",
                r#"{"extends": ["../base", "./more.json"]}"#,
                "base.json web/more.json",
            ),
            (
                ".eslintrc",
                "extends:\n  - eslint:recommended\n  - ./lint/base.js\nrules:\n  x: ./not.js",
                "lint/base.js",
            ),
            (".eslintrc.yml", "extends: [./a, b/c.js]\n", "a.js b/c.js"),
            (
                "eslint.config.mjs",
                "import own from './rules/own.js'\nimport js from \"@eslint/js\"\nexport default [js]",
                "rules/own.js",
            ),
            (
                "jest.config.js",
                "module.exports = {\n  reporters: ['default', '<rootDir>/test/r.js'],\n  transform: {'^.+$': './t.cjs'},\n  preset: './g' }",
                "t.cjs test/r.js g.js",
            ),
            (
                "vitest.config.ts",
                "export default defineConfig({ test: { environment: './src/dom.ts', include: ['./src/a.ts'] } })",
                "src/dom.ts",
            ),
            (
                "package.json",
                r#"{"main": "./index.js", "exports": {"import": "./index.mjs"}, "jest": {"runner": "./s.js"}, "prettier": "x"}"#,
                "s.js",
            ),
            (
                "pyproject.toml",
                "[tool.mypy]\nplugins = [\n  \"tools/plugin.py\", # ours\n  \"own.checks\",\n]\n",
                "tools/plugin.py own/checks.py",
            ),
            (
                "mypy.ini",
                "[mypy]\nplugins = tools/p.py, own.q:begin\n",
                "tools/p.py own/q.py",
            ),
            (
                "pytest.ini",
                "[pytest]\naddopts = -q -p own.plugin\n",
                "own/plugin.py",
            ),
            (
                "pyproject.toml",
                "[tool.pytest.ini_options]\naddopts = [\"-p\", \"own.plugin\"]\n",
                "own/plugin.py",
            ),
            (
                "setup.cfg",
                "[flake8:local-plugins]\nextension =\n    X1 = own:P\npaths =\n    ./tools\n",
                "tools/own.py",
            ),
            (
                ".pylintrc",
                "[MASTER]\nload-plugins=\n    own.r,\n    pylint.extensions.x\n",
                "own/r.py",
            ),
            ("ruff.toml", "extend = \"conf/ruff.toml\"", "conf/ruff.toml"),
            (
                "conftest.py",
                "import product.core\npytest_plugins = (\"tests.fixtures\", 'own.f')\n",
                "tests/fixtures.py own/f.py",
            ),
            (
                ".rubocop.yml",
                "inherit_from: .rubocop_base.yml\nrequire:\n  - ./lib/cop\n",
                ".rubocop_base.yml lib/cop.rb",
            ),
            (
                "build.gradle",
                "apply plugin: 'java'\napply from: \"$rootDir/gradle/lint.gradle\"\n",
                "gradle/lint.gradle",
            ),
            (
                "app/build.gradle.kts",
                "apply(from = \"../gradle/k.gradle.kts\")",
                "gradle/k.gradle.kts",
            ),
            (
                "pom.xml",
                "<parent><relativePath> ../parent/pom.xml </relativePath></parent><configLocation>conf/checks.xml</configLocation>",
                "conf/checks.xml",
            ),
            (
                "phpunit.xml",
                "<phpunit bootstrap=\"conf/boot.php\" colors=\"true\">",
                "conf/boot.php",
            ),
            (
                "Cargo.toml",
                "[package]\nbuild = \"build/main.rs\"\ninclude = [\"src/lib.rs\"]\n",
                "build/main.rs",
            ),
        ] {
            let there = format!("{expected} index.js index.mjs src/a.ts not.js src/lib.rs");
            let there = format!("{there} product/core.py product/__init__.py package.json");
            assert_eq!(of(file, text, &there), expected, "{file}");
        }
    }

    #[test]
    fn runners_find_tests_by_their_settings() {
        for (file, text, expected) in [
            (
                ".mocharc.yml",
                "spec: [\"checks/**/*.js\"]\n",
                "checks/**/*.js",
            ),
            (
                "web/.mocharc.json",
                r#"{"spec": "./checks"}"#,
                "web/checks/**",
            ),
            (
                "jest.config.js",
                "module.exports={testMatch:[\"<rootDir>/checks/**/*.js\"]};",
                "checks/**/*.js",
            ),
            (
                "package.json",
                r#"{"jest": {"testMatch": ["**/c/*.js"]}}"#,
                "**/c/*.js",
            ),
            (
                "pytest.ini",
                "[pytest]\ntestpaths = checks\npython_files = check_*.py\n",
                "**/check_*.py",
            ),
            (
                "vitest.config.ts",
                "test: { include: ['checks/*.ts'] }",
                "checks/*.ts",
            ),
            ("tsconfig.json", r#"{"include": ["src/*.ts"]}"#, ""),
            (
                "Cargo.toml",
                "[lib]\npath = \"src/l.rs\"\n[[test]]\nname = \"a\"\npath = \"checks/a.rs\"\n",
                "checks/a.rs",
            ),
        ] {
            let found = tests_by_settings(&Used::of(file.to_owned()), text);
            assert_eq!(found.join(" "), expected, "{file}");
        }
    }

    #[test]
    fn code_and_what_leads_out_loads_nothing() {
        for (file, text) in [
            ("src/app.js", "import './a.js'; const extends = './a.js'"),
            ("build.rs", "extends = \"./a.js\""),
            ("tsconfig.json", r#"{"extends": "/a.js"}"#),
            ("tsconfig.json", r#"{"extends": "../a.js"}"#),
            ("tsconfig.json", r#"{"extends": "https://a.js"}"#),
            ("tsconfig.json", r#"{"never_extends": "a.js"}"#),
            ("tsconfig.json", r#"{"extends": ["./a"#),
            (".rc", "extends: ..\nplugins: ./\nextend:\n"),
        ] {
            assert_eq!(of(file, text, "a.js a"), "", "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_looked_through(text in "(extends|plugins|:|=|\\[|\\{|\\)|\\]|\"|'|\\n|-|é|日|.){0,60}", at in 0..6_usize) {
            let files = ["a.json", "a.config.js", "conftest.py", "a.gradle", "pom.xml", "Cargo.toml"];
            loaded(&Used::of(files[at].to_owned()), &text);
        }
    }
}
