//! What a copy is lent can lead back into the checkout: a package that is installed there to be edited, a link of a workspace, a
//! build that knows where its sources lie. What runs in the copy would run the checkout's code then. Says which files tell of it,
//! what they name, and what is said to the user. Pure.

pub mod tox;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::model::{check, text};

/// How deep it is looked into what is lent.
const DEEPEST: usize = 6;
/// Folders that lead to those which tell.
const WAYS: [&str; 9] = [
    "lib",
    "lib64",
    "Lib",
    "site-packages",
    "dist-packages",
    "node_modules",
    "composer",
    "meson-info",
    ".bin",
];
/// The line of `CMakeCache.txt` that says where the sources lie.
const CMAKE_HOME: &str = "CMAKE_HOME_DIRECTORY:INTERNAL=";

/// How a file names where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A path on each line, or code that Python runs (`*.pth`, `*.egg-link`).
    Lines,
    /// Paths in quotes.
    Quoted,
    /// The URL of an editable install (`direct_url.json`).
    Url,
    /// Code of Composer's that adds to the folder of the project.
    Composer,
    /// A line of CMake's cache.
    CMake,
}

/// Returns how a file of this name in a folder of that name tells where it leads, if it does.
pub fn form(folder: &str, name: &str) -> Option<Form> {
    let ends = |end: &str| name.ends_with(end);
    match name {
        "direct_url.json" if folder.ends_with(".dist-info") => Some(Form::Url),
        "CMakeCache.txt" => Some(Form::CMake),
        "meson-info.json" if folder == "meson-info" => Some(Form::Quoted),
        _ if ends(".pth") || ends(".egg-link") => Some(Form::Lines),
        _ if ends(".py") && name.contains("editable") => Some(Form::Quoted),
        _ if folder == "composer" && name.starts_with("autoload_") => Some(Form::Composer),
        _ => None,
    }
}

/// Returns the paths that such a file names: relative ones are relative to its folder.
pub fn paths(form: Form, text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    match form {
        Form::Lines => lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .flat_map(|line| match line.split_whitespace().next() {
                Some("import") => quoted(line),
                _ => vec![line.to_owned()],
            })
            .collect(),
        Form::Quoted => quoted(text),
        Form::Url => editable(text).into_iter().collect(),
        Form::Composer => {
            let added = |line: &str| line.split("$baseDir . ").nth(1).map(str::to_owned);
            let added = lines.filter_map(added);
            let named = added.filter_map(|rest| Some(rest.split('\'').nth(1)?.to_owned()));
            named.map(|path| format!("../..{path}")).collect()
        }
        Form::CMake => {
            let home = lines.filter_map(|line| line.strip_prefix(CMAKE_HOME));
            home.map(str::to_owned).collect()
        }
    }
}

/// Returns the paths in a file of this name because of which Python takes modules behind those of PYTHONPATH, each with the folder that
/// it takes them from: lines of a `*.pth` in which nothing runs, which may put itself in front, and what setuptools' finder of an
/// editable install maps, which asks last.
pub fn taken_from(name: &str, text: &str) -> Vec<(String, String)> {
    if name.ends_with(".pth") {
        let lines = || text.lines().map(str::trim);
        let is_code = |line: &str| line.split_whitespace().next() == Some("import");
        let is_run = lines().any(is_code);
        let paths = lines().filter(|line| !is_run && line.starts_with('/'));
        return paths
            .map(|path| (path.to_owned(), path.to_owned()))
            .collect();
    }
    if !(name.starts_with("__editable___") && name.ends_with("_finder.py")) {
        return Vec::new();
    }
    static MAPPED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"'(?<package>[\w.]+)': '(?<path>/[^']*)'").expect("BUG: a pattern that is none")
    });
    let mapped = MAPPED.captures_iter(text);
    let above = mapped.filter_map(|found| {
        let package = found["package"].replace('.', "/");
        let folder = found["path"].strip_suffix(&package)?.strip_suffix('/')?;
        Some((found["path"].to_owned(), folder.to_owned()))
    });
    above.collect()
}

/// Returns the absolute paths that stand in quotes.
fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for quote in ['\'', '"'] {
        for line in text.lines() {
            let parts = line.split(quote);
            found.extend(
                parts
                    .filter(|part| part.starts_with('/'))
                    .map(str::to_owned),
            );
        }
    }
    found
}

/// Returns the folder of an editable install.
fn editable(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let is_editable = value["dir_info"]["editable"].as_bool() == Some(true);
    let path = value["url"].as_str()?.strip_prefix("file://")?;
    is_editable.then(|| decoded(path))
}

/// Undoes what a URL does to letters (`%20`).
fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, more @ ..] = rest {
        let code = more.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = match code {
            Some(_) => &more[2..],
            None => more,
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Says whether it is looked into a folder, by its name and that of the folder that it is in. What lies deeper than that is what
/// was installed, and is as large as it likes.
pub fn leads_on(folder: &str, name: &str, depth: usize) -> bool {
    depth < DEEPEST
        && match folder {
            _ if has_packages(folder) => name.ends_with(".dist-info"),
            "node_modules" => name.starts_with('@') || [".pnpm", ".bin"].contains(&name),
            ".pnpm" => name == "node_modules",
            _ => depth == 0 || is_way(name),
        }
}

/// Says whether Python takes what is installed from a folder of this name.
pub fn has_packages(folder: &str) -> bool {
    matches!(folder, "site-packages" | "dist-packages")
}

/// Says whether a folder of this name leads to those which tell.
pub fn is_way(name: &str) -> bool {
    let starts = |start: &str| name.starts_with(start);
    WAYS.contains(&name) || starts("python") || starts("pypy") || starts("@")
}

/// Where what is lent to a copy must not lead. All of them are real paths.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// The checkout.
    pub checkout: PathBuf,
    /// What is lent of it: all copies share that.
    pub lent: Vec<PathBuf>,
    /// The folder of the copies, if there is one yet.
    pub copies: Option<PathBuf>,
    /// The copy that it is about.
    pub copy: Option<PathBuf>,
}

impl Bounds {
    /// Says whether a real path is one of the checkout or of another copy.
    pub fn forbid(&self, to: &Path) -> bool {
        let is_in = |folder: &Option<PathBuf>| {
            let folder = folder.as_ref();
            folder.is_some_and(|folder| to.starts_with(folder))
        };
        let is_theirs = to.starts_with(&self.checkout) || is_in(&self.copies);
        let is_lent = self.lent.iter().any(|lent| to.starts_with(lent));
        is_theirs && !is_lent && !is_in(&self.copy)
    }
}

/// Something lent that leads back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Led {
    /// The path that is lent.
    pub link: String,
    /// The file or link in it that leads there, with the path that is lent before it.
    pub file: String,
    /// Where it leads.
    pub to: PathBuf,
}

impl Led {
    /// Says what leads where.
    pub fn words(&self) -> String {
        let file = match self.file == self.link {
            true => "it".to_owned(),
            false => text::path(&self.file),
        };
        format!(
            "{} cannot be linked: {file} leads to {}, so that the checks of a copy would run the code there, and not the copy's",
            text::path(&self.link),
            text::path(self.to.as_os_str().as_encoded_bytes())
        )
    }

    /// Says what can be done instead.
    pub fn way_out(&self) -> String {
        let link = text::path(&self.link);
        let has = |word: &str| self.file.split('/').any(|part| part == word);
        let ends = |end: &str| self.file.ends_with(end);
        let command = match () {
            () if has("node_modules") => "npm ci",
            () if has("composer") => "composer install",
            () if ends(".pth") || ends(".egg-link") || ends(".py") || has("direct_url.json") => {
                return format!(
                    "let a copy have its own, as in `prepare: uv sync`, and take {link} out of link; or lend one in which this project is not installed, and begin the checks with PYTHONPATH=src:$PYTHONPATH"
                );
            }
            () => {
                return format!("take {link} out of link, and let `prepare` make it in the copy");
            }
        };
        format!("let a copy have its own, as in `prepare: {command}`, and take {link} out of link")
    }
}

/// Variables that say where code lies which is run.
pub const VARIABLES: [&str; 5] = [
    "PYTHONPATH",
    "NODE_PATH",
    "RUBYLIB",
    "PERL5LIB",
    "CLASSPATH",
];
/// Programs that run others in an environment of the folder that they are called in.
const WITH_THEIR_OWN: [&str; 7] = ["uv", "poetry", "pdm", "pipenv", "hatch", "tox", "nox"];

/// Says whether a command sees to it itself whose code it runs: in an environment of its folder, or by a variable.
pub fn has_its_own(command: &str) -> bool {
    let mut words = command.split(|c: char| c.is_whitespace() || ";&|()".contains(c));
    command.contains("PYTHONPATH=") || words.any(|word| WITH_THEIR_OWN.contains(&word))
}

/// Says whether a command sets PYTHONPATH itself, and to none of these folders below the root, nor to what it was; or has Python not ask it.
pub fn leads_elsewhere(command: &str, folders: &[String]) -> bool {
    let mut set = command.split("PYTHONPATH=").skip(1).map(|rest| {
        let end = rest.find(|c: char| c.is_whitespace() || ";&|".contains(c));
        rest[..end.unwrap_or(rest.len())].trim_matches(['"', '\''])
    });
    let has = |value: &str, folder: &String| {
        let mut parts = value.split(':').map(|part| {
            let part = part.strip_prefix("$PWD/").unwrap_or(part);
            part.strip_prefix("./")
                .unwrap_or(part)
                .trim_end_matches('/')
        });
        let is_root = |part: &str| folder.is_empty() && ["", ".", "$PWD"].contains(&part);
        parts.any(|part| part == folder.as_str() || is_root(part))
    };
    let is_set_otherwise = set.any(|value| {
        !value.contains("PYTHONPATH") && !folders.iter().any(|folder| has(value, folder))
    });
    is_set_otherwise || asks_no_variable(command)
}

/// Says whether a command calls Python so that it asks no variable (`-I`, `-E`), or a program without any (`env -i`).
fn asks_no_variable(command: &str) -> bool {
    let parts = command.split(|c: char| c.is_whitespace() || ";&|()".contains(c));
    let words: Vec<&str> = parts.filter(|word| !word.is_empty()).collect();
    let is_option = |word: &&&str| word.len() > 1 && word.starts_with('-');
    words.iter().enumerate().any(|(at, word)| {
        let mut options = words[at + 1..].iter().take_while(is_option);
        match word.rsplit('/').next().unwrap_or(word) {
            "env" => options.any(|option| ["-i", "--ignore-environment"].contains(option)),
            name if name.starts_with("python") => options.any(|option| {
                // What follows one of these is no option.
                let flags = option[1..].split(['c', 'm', 'W', 'X', '-']).next();
                flags.is_some_and(|flags| flags.contains(['I', 'E']))
            }),
            _ => false,
        }
    })
}

/// Says whether a folder of modules is one that setuptools builds of links (`editable_mode=strict`), which no copy has.
pub fn is_built(folder: &Path) -> bool {
    let mut parts = folder.iter().filter_map(|part| part.to_str());
    parts.any(|part| part.starts_with("__editable__."))
}

/// Says whether a folder of programs, below the checkout's root, is one that tools fill: what is there is not what a change is about.
pub fn is_of_tools(folder: &Path) -> bool {
    let mut parts = folder.iter().filter_map(|part| part.to_str());
    parts.any(|part| part == "node_modules" || part.starts_with('.'))
}

/// Says that a folder of the checkout in PATH has the programs that these call.
pub fn by_folder(calling: &[&str], folder: &Path) -> String {
    format!(
        "{}: the program that PATH leads to is your checkout's, and not the copy's with the change: it lies in {} — call it relative to the root",
        calling.join(", "),
        text::path(folder.as_os_str().as_encoded_bytes())
    )
}

/// Says whether a command calls a program of an environment; `is_there` says which are found there.
pub fn calls(command: &str, is_there: &dyn Fn(&str) -> bool) -> bool {
    check::programs(command).iter().any(|name| is_there(name))
}

/// Says that an environment leads into the checkout, in which those who are named run.
pub fn by_environment(calling: &[&str], file: &str, to: &Path) -> String {
    let who = match calling.is_empty() {
        true => "what checks run of the environment in PATH".to_owned(),
        false => format!("{}: the program that PATH leads to", calling.join(", ")),
    };
    let way_out = match file.split('/').any(|part| part == "node_modules") {
        true => "as in `prepare: npm ci`, and call that (`node_modules/.bin/tsc`)",
        false => {
            "as in `prepare: uv sync`, and call that (`.venv/bin/pytest`), or begin the check with PYTHONPATH=src:$PYTHONPATH"
        }
    };
    format!(
        "{who} runs your checkout's code, and not the copy's with the change: {} leads to {} — let the copy have its own, {way_out}",
        text::path(file),
        text::path(to.as_os_str().as_encoded_bytes())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_runs_in_the_environment_whose_programs_it_calls_unless_it_has_its_own() {
        let is_there = |program: &str| ["pytest", "python"].contains(&program);
        let calls = |command, is_there| !has_its_own(command) && calls(command, is_there);
        for (command, expected) in [
            ("pytest -q", true),
            ("cd a && python -m pytest", true),
            (".venv/bin/pytest", false),
            ("uv run pytest", false),
            ("PYTHONPATH=src pytest", false),
            ("cargo test", false),
        ] {
            assert_eq!(calls(command, &is_there), expected, "{command}");
        }
    }

    #[test]
    fn a_command_that_sets_pythonpath_otherwise_undoes_what_leads_it() {
        let src = ["src".to_owned()];
        for (command, expected) in [
            ("PYTHONPATH=. python t.py", true),
            ("PYTHONPATH=\"lib:tests\" pytest", true),
            ("PYTHONPATH=./src/ pytest", false),
            ("PYTHONPATH=lib:$PWD/src pytest", false),
            ("PYTHONPATH=lib:$PYTHONPATH pytest", false),
            ("pytest", false),
            ("python3 -I -c 'import a'", true),
            ("cd x && /usr/bin/python3.12 -sE t.py", true),
            ("env -i python3 t.py", true),
            ("python3 -W Error -c 'import I'", false),
            ("python3 -cI", false),
            ("python3 -m a -E", false),
            ("env A=b python3 t.py -I", false),
        ] {
            assert_eq!(leads_elsewhere(command, &src), expected, "{command}");
        }
        assert!(!leads_elsewhere(
            "PYTHONPATH=. python t.py",
            &[String::new()]
        ));
    }

    #[test]
    fn what_comes_behind_pythonpath_is_told_from_what_does_not() {
        let mapping =
            "MAPPING: dict[str, str] = {'calc': '/r/src/calc', 'a.b': '/r/lib/a/b', 'c': '/r/d'}\n";
        let both = [("/r/src/calc", "/r/src"), ("/r/lib/a/b", "/r/lib")];
        for (name, text, expected) in [
            (
                "__editable__.calc-1.pth",
                "/r/src\n\n# x\n./egg\n",
                &[("/r/src", "/r/src")][..],
            ),
            (
                "a.pth",
                "import sys; sys.path.insert(0, '/r/src')\n/r/src\n",
                &[],
            ),
            ("__editable___calc_1_finder.py", mapping, &both),
            ("_calc_editable.py", mapping, &[]),
            ("direct_url.json", r#"{"url": "file:///r"}"#, &[]),
        ] {
            let owned = |(path, folder): &(&str, &str)| ((*path).to_owned(), (*folder).to_owned());
            let expected: Vec<_> = expected.iter().map(owned).collect();
            assert_eq!(taken_from(name, text), expected, "{name}");
        }
    }

    #[test]
    fn a_file_that_tells_names_where_it_leads() {
        let site = "site-packages";
        for (folder, name, text, expected) in [
            (site, "__editable__.calc-1.pth", "/r/src\n", &["/r/src"][..]),
            (
                site,
                "easy-install.pth",
                "# x\n\n./a.egg\n/r\n",
                &["./a.egg", "/r"],
            ),
            (
                site,
                "a.pth",
                "import sys; sys.path.insert(0, '/r/src'); x = \"/r/x\"\n",
                &["/r/src", "/r/x"],
            ),
            (site, "calc.egg-link", "/r/src\n../", &["/r/src", "../"]),
            (
                site,
                "__editable___calc_1_finder.py",
                "import sys\nMAPPING: dict[str, str] = {'calc': '/r/src/calc', 'b': '/r/b'}\n",
                &["/r/src/calc", "/r/b"],
            ),
            (
                "calc-1.dist-info",
                "direct_url.json",
                r#"{"dir_info": {"editable": true}, "url": "file:///a%20b/caf%C3%A9%"}"#,
                &["/a b/café%"],
            ),
            (
                "calc-1.dist-info",
                "direct_url.json",
                r#"{"dir_info": {}, "url": "file:///r"}"#,
                &[],
            ),
            (
                "composer",
                "autoload_psr4.php",
                "$baseDir = dirname($vendorDir);\nreturn array(\n    'App\\\\' => array($baseDir . '/src'),\n    'X\\\\' => array($vendorDir . '/x/src'),\n",
                &["../../src"],
            ),
            (
                "build",
                "CMakeCache.txt",
                "CMAKE_CACHEFILE_DIR:INTERNAL=/r/build\nCMAKE_HOME_DIRECTORY:INTERNAL=/r\n",
                &["/r"],
            ),
            (
                "meson-info",
                "meson-info.json",
                "{\"directories\": {\"source\": \"/r\", \"info\": \"meson-info\"}}",
                &["/r"],
            ),
        ] {
            let form = form(folder, name).expect(name);
            assert_eq!(paths(form, text), expected, "{name}");
        }
        for (folder, name) in [
            (site, "six.py"),
            ("a", "direct_url.json"),
            ("a", "autoload_psr4.php"),
        ] {
            assert_eq!(form(folder, name), None, "{name}");
        }
    }

    #[test]
    fn it_is_looked_where_things_are_installed_and_not_into_what_is_installed() {
        let leads = |path: &str| {
            let names: Vec<&str> = path.split('/').collect();
            let pairs = names.windows(2).enumerate();
            let mut each = pairs.map(|(depth, pair)| leads_on(pair[0], pair[1], depth));
            each.all(|leads| leads)
        };
        for path in [
            ".venv/lib/python3.12/site-packages/calc-1.dist-info",
            ".tox/py312/lib/python3.12/site-packages",
            "node_modules/@m",
            "node_modules/.pnpm/node_modules/@m",
            "vendor/acme",
            "build/meson-info",
        ] {
            assert!(leads(path), "{path}");
        }
        for path in [
            ".venv/lib/python3.12/site-packages/numpy",
            "node_modules/react",
            "node_modules/@m/core",
            "node_modules/.pnpm/react@18",
            "vendor/acme/core",
            "data/one/two",
        ] {
            assert!(!leads(path), "{path}");
        }
    }

    #[test]
    fn the_checkout_and_other_copies_are_forbidden_and_what_is_lent_is_not() {
        let bounds = Bounds {
            checkout: "/r".into(),
            lent: vec!["/r/.venv".into(), "/r/build".into()],
            copies: Some("/c".into()),
            copy: Some("/c/agent".into()),
        };
        for (to, expected) in [
            ("/r", true),
            ("/r/src", true),
            ("/r/.venv2", true),
            ("/c/measure/src", true),
            ("/r/.venv/lib", false),
            ("/r/build/x", false),
            ("/c/agent/src", false),
            ("/r2", false),
            ("/usr/lib", false),
        ] {
            assert_eq!(bounds.forbid(Path::new(to)), expected, "{to}");
        }
    }

    #[test]
    fn an_environment_is_told_with_the_way_out_of_its_own_tools() {
        for (file, way_out) in [
            ("/g/lib/node_modules/calc", "`prepare: npm ci`"),
            (".venv/lib/site-packages/calc.pth", "`prepare: uv sync`"),
        ] {
            let told = by_environment(&["calc"], file, Path::new("/r"));
            let named = format!(
                "calc: the program that PATH leads to runs your checkout's code, and not the copy's with the change: {file} leads to /r — "
            );
            assert!(told.starts_with(&named) && told.contains(way_out), "{told}");
        }
    }
}
