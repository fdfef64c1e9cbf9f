//! Where interpreters look for modules: what lies beside a script is taken before what is installed, as a program in an earlier
//! folder of PATH is. Pure.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::call::{Call, stem};
use super::dotted::{self, DEEPEST, first_part};
use super::path::{join, word_in};
use super::walk::is_literal;
use super::{Code, Used, programs, steering};
use crate::model::text;

/// Modules that Python brings along (3.11; `test` and the like, which programs do not use, are left out): none that is new
/// beside a script has one of these names by chance.
const PYTHONS_OWN: &str = "\
    abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii bisect builtins bz2 \
    cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent \
    configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal \
    difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput \
    fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq \
    hmac html http imaplib imghdr imp importlib inspect io ipaddress itertools json keyword linecache locale \
    logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis \
    nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools \
    pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc \
    pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select \
    selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile \
    sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig \
    syslog tabnanny tarfile telnetlib tempfile termios textwrap threading time timeit token tokenize tomllib trace \
    traceback tracemalloc tty types typing unicodedata unittest urllib uu uuid venv warnings wave weakref \
    webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// A folder from which Python takes modules before its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Front {
    /// Below the root; empty for the root.
    pub folder: String,
    /// The module that is run itself, as in `python -m pytest`, with its packages; none that is the repository's own.
    tool: Option<String>,
    /// A command that tells whether Python finds that module elsewhere; none where how Python is called is not known.
    question: Option<String>,
    /// Python looks there before it runs anything, as in the folders of PYTHONPATH.
    is_from_start: bool,
}

/// The modules that Python runs when it starts, where it finds them (`site`).
const AT_START: [&str; 2] = ["sitecustomize", "usercustomize"];

/// The exit code by which Python says that it finds no such module. No failure has it.
pub const MISSING: i32 = 37;

/// What tools that are called by `python -m` are made of.
const PARTS: &[(&str, &str)] = &[
    ("black", "blib2to3 click pathspec platformdirs"),
    ("flake8", "mccabe pycodestyle pyflakes"),
    ("mypy", "mypy_extensions mypyc typing_extensions"),
    ("pylint", "astroid isort mccabe"),
    ("pytest", "_pytest iniconfig packaging pluggy"),
];

/// Says whether a module is a tool that is known, so that it is none of a repository that has not begun yet.
fn is_known(module: &str) -> bool {
    !steering::steering(module, None).is_empty()
}

impl Front {
    /// A folder from which modules are taken, whatever is run.
    pub fn of(folder: String) -> Front {
        Front {
            folder,
            tool: None,
            question: None,
            is_from_start: false,
        }
    }

    /// Returns the module that a file or folder of this name would be taken for in place of Python's own or the tool, if any;
    /// a folder's counts with `__init__` in it.
    pub fn taken_for<'n>(&self, name: &'n str) -> Option<&'n str> {
        let (module, ending) = name.split_once('.').unwrap_or((name, ""));
        let is_module = matches!(ending, "" | "py" | "pyc" | "so") || ending.ends_with(".so");
        let tool = self.tool.as_deref().map(first_part);
        let parts = PARTS.iter().filter(|(whole, _)| Some(*whole) == tool);
        let mut parts = parts.flat_map(|(_, parts)| parts.split_whitespace());
        let mut is_tool = || tool == Some(module) || parts.any(|part| part == module);
        let is_at_start = self.is_from_start && AT_START.contains(&module);
        let is_own = || PYTHONS_OWN.split_whitespace().any(|own| own == module);
        let mut is_known = || is_at_start || is_tool() || is_own();
        (is_module && is_known()).then_some(module)
    }

    /// Says whether a file at this path, which is relative to the root, is taken in place of Python's own or the tool.
    pub fn takes(&self, path: &str) -> bool {
        let folder = match self.folder.as_str() {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let name = path.strip_prefix(folder.as_str()).unwrap_or_default();
        let name = name
            .strip_suffix("/__init__.py")
            .or_else(|| name.strip_suffix("/__init__.pyc"))
            .unwrap_or(name);
        !name.contains('/') && self.taken_for(name).is_some()
    }

    /// Says whether the module that is run itself lies in the folder, or in its `src`.
    fn has_tool(&self, is_file: &dyn Fn(&str) -> bool) -> bool {
        let Some(tool) = &self.tool else {
            return false;
        };
        let files = [paths_of(tool), dotted::files_of(tool)].concat();
        let folders = [Some(self.folder.clone()), join(&self.folder, "src")];
        let mut paths = folders
            .iter()
            .flatten()
            .flat_map(|folder| files.iter().filter_map(|file| join(folder, file)));
        paths.any(|path| is_file(&path))
    }

    /// Returns the paths of the module that is run itself, there or not.
    pub fn of_tool(&self) -> Vec<String> {
        let tool = self.tool.as_deref().map(first_part).unwrap_or_default();
        let files = dotted::files_of(tool).into_iter();
        files.filter_map(|file| join(&self.folder, &file)).collect()
    }

    /// Returns the paths of what Python runs of the folder when it starts, there or not.
    pub fn of_start(&self) -> Vec<String> {
        let modules = AT_START.iter().filter(|_| self.is_from_start);
        let files = modules.flat_map(|module| paths_of(module));
        files.filter_map(|file| join(&self.folder, &file)).collect()
    }

    /// Returns a command that tells whether Python finds the module that is run itself elsewhere: it ends with `MISSING` if not.
    pub fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }

    /// Forgets how to ask: what is known of the call is not all.
    pub fn unasked(self) -> Front {
        Front {
            question: None,
            ..self
        }
    }

    /// Says whether a path would be taken for the module that is run itself.
    pub fn is_tool(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let module = name.split('.').next();
        module.is_some() && module == self.tool.as_deref().map(first_part)
    }
}

/// Returns a command that asks the Python of a call where it finds a module that it is told to run by `-m`, as it is called there.
fn question(call: &Call, module: &str) -> Option<String> {
    let module = first_part(module);
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let at = call.words.iter().position(|word| word == "-m")?;
    let dir = call.dir.as_deref()?;
    let mut words = call.variables.clone()?;
    words.extend_from_slice(&call.words[..at]);
    let all_literal = words.iter().all(|word| is_literal(word)) && is_literal(dir);
    if module.is_empty() || !module.chars().all(is_name) || !all_literal {
        return None;
    }
    words.insert(0, "env".to_owned());
    words.push("-c".to_owned());
    words.push(code_that_looks_for(module));
    let words: Vec<String> = words.iter().map(text::shell_word).collect();
    let folder = match dir {
        "" => ".".to_owned(),
        dir => text::shell_word(format!("./{dir}")),
    };
    Some(format!("cd {folder} && {}", words.join(" ")))
}

/// Returns the code by which Python looks for a module, that of a name in it, and ends with `MISSING` if it finds none. What lies in its
/// own folder does not count, and nothing of the module is run.
pub fn code_that_looks_for(module: &str) -> String {
    format!(
        "import sys; sys.path = [it for it in sys.path if it]; import importlib.util; \
         sys.exit({MISSING} if importlib.util.find_spec('{module}') is None else 0)"
    )
}

/// Returns the folders from which the Python that `code` calls takes modules first. `is_file` says what the repository has.
pub fn fronts(code: &Code, is_file: &dyn Fn(&str) -> bool) -> Vec<Front> {
    let mut found = fronts_of(code.calls());
    let own: HashSet<String> = found
        .iter()
        .filter(|front| front.has_tool(is_file))
        .filter_map(|front| front.tool.clone())
        .collect();
    for front in &mut found {
        let tool = front.tool.take();
        front.tool = tool.filter(|module| is_known(first_part(module)) || !own.contains(module));
        let tool = front.tool.as_deref().map(first_part);
        front.question.take_if(|_| tool.is_none_or(is_known));
    }
    found
}

fn fronts_of(calls: &[Call]) -> Vec<Front> {
    let mut found = Vec::new();
    for call in calls {
        let scripts = call.scripts();
        // Of a folder that is run, modules are taken from within it.
        let within = match scripts.as_slice() {
            [_, entry] if entry.ends_with("/__main__.py") => call.path(entry),
            _ => None,
        };
        let within = within.map(|path| Front::of(folder_of(&path)));
        let front = front(call, &scripts);
        // Those of PYTHONPATH come right behind it.
        let folders = call.places.modules.iter().chain(call.places.root.modules());
        let further = front.iter().flat_map(|front| {
            let folders = folders.clone().cloned();
            folders.map(|folder| Front {
                folder,
                tool: front.tool.clone(),
                question: front.question.clone(),
                is_from_start: true,
            })
        });
        let further: Vec<Front> = further.collect();
        // A tool that is called by its name alone takes its parts from there, too.
        let name = stem(&call.words[0]);
        let by_name = PARTS.iter().filter(|(whole, _)| *whole == name);
        let by_name = by_name.flat_map(|(whole, _)| {
            let folders = folders.clone().cloned();
            folders.map(|folder| Front {
                folder,
                tool: Some((*whole).to_owned()),
                question: None,
                is_from_start: true,
            })
        });
        let further: Vec<Front> = further.into_iter().chain(by_name).collect();
        for front in front.into_iter().chain(further).chain(within) {
            if !found.contains(&front) {
                found.push(front);
            }
        }
    }
    found
}

fn front(call: &Call, scripts: &[String]) -> Option<Front> {
    let name = stem(&call.words[0]);
    if !matches!(name.as_str(), "python" | "pypy") {
        let script = scripts.iter().find(|script| script.ends_with(".py"))?;
        return Some(Front::of(folder_of(&call.path(script)?)));
    }
    let options = programs::interpreter(&name)?;
    let found = programs::scan(&call.words, &options);
    // These say that nothing is to be taken from there.
    let is_apart = |word: &String| {
        let letters = word.strip_prefix('-').filter(|word| !word.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(['I', 'P']))
    };
    let end = found.operand.unwrap_or(call.words.len());
    let before = call.words[1..end].iter();
    if before
        .take_while(|word| *word != "-c" && *word != "-m")
        .any(is_apart)
    {
        return None;
    }
    match (scripts.first(), found.code) {
        (Some(script), None) => Some(Front::of(folder_of(&call.path(script)?))),
        (_, code) => {
            let module = code
                .filter(|(letter, _)| *letter == 'm')
                .map(|(_, module)| module);
            Some(Front {
                folder: call.dir.clone()?,
                question: module.as_deref().and_then(|it| question(call, it)),
                tool: module,
                is_from_start: false,
            })
        }
    }
}

/// Returns the folders in which the Python that `code` calls, or a pytest, may find the metadata of distributions: where it takes
/// modules from, and the `src` of a project that is installed from there.
pub fn distributions(code: &Code) -> Vec<String> {
    let calls = code.calls();
    let fronts = fronts_of(calls).into_iter();
    let mut found: Vec<String> = fronts.map(|front| front.folder).collect();
    let is_pytest = |word: &String| matches!(stem(word).as_str(), "pytest" | "py.test");
    for call in calls {
        if call.words.iter().any(is_pytest) {
            found.extend(call.dir.clone().filter(|dir| !dir.starts_with('/')));
            found.extend_from_slice(&call.places.modules);
            found.extend_from_slice(call.places.root.modules());
        }
    }
    let sources: Vec<_> = found
        .iter()
        .filter_map(|folder| join(folder, "src"))
        .collect();
    found.extend(sources);
    found
}

/// Returns the paths at which the modules could lie that a script takes from beside it, there or not; one that ends with a
/// slash stands for all that is below.
pub fn imported(used: &Used, text: &str) -> Vec<String> {
    let script = &used.file;
    let folder = folder_of(script);
    let first = text.lines().next().unwrap_or_default();
    let is_for = |name: &str, ends: &[&str]| {
        ends.iter().any(|end| script.ends_with(end))
            || first.starts_with("#!") && first.contains(name)
    };
    let mut found = Vec::new();
    let at = |path: &str| join(&folder, path);
    let from_where_it_runs = |path: &str| join(used.dir.as_deref()?, path);
    if is_for("python", &[".py"]) {
        for path in python_modules(text) {
            found.extend(at(&path));
            // What a script tests lies elsewhere; what lies in its own folder is part of it.
            let is_within = !folder.is_empty() && path.starts_with(&format!("{folder}/"));
            found.extend(is_within.then_some(path));
        }
        found.extend(python_files(text).filter_map(from_where_it_runs));
    } else if is_for("node", &[".js", ".mjs", ".cjs", ".ts"]) {
        for name in text.lines().flat_map(|line| quoted(line, NODES)) {
            if name.starts_with("./") || name.starts_with("../") {
                for end in [
                    "",
                    ".js",
                    ".mjs",
                    ".cjs",
                    ".ts",
                    ".json",
                    "/index.js",
                    "/package.json",
                ] {
                    found.extend(at(&format!("{name}{end}")));
                }
            } else if !name.starts_with(['/', '.']) && !name.starts_with("node:") {
                // Beside it, or beside a folder above it.
                let levels = folder.split('/').count() + 1;
                let above = (0..levels).map(|count| "../".repeat(count));
                let paths = above.filter_map(|up| at(&format!("{up}node_modules/{name}")));
                found.extend(paths.map(|path| path + "/"));
                // What lies in NODE_PATH may be what is tested; but this says which file of it counts.
                let modules = used.places.modules.iter();
                let package = format!("{name}/package.json");
                found.extend(modules.filter_map(|folder| join(folder, &package)));
            }
        }
    } else if let Some((name, end)) = OTHERS.iter().find(|(name, end)| is_for(name, &[end])) {
        for path in text.lines().flat_map(|line| quoted(line, loads(name))) {
            for path in [path.to_owned(), format!("{path}{end}")] {
                found.extend(at(&path));
                found.extend(from_where_it_runs(&path));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Releases of Python 3 whose names for compiled modules are known: 3.6, the oldest one about, to some that are still to come.
const RELEASES: RangeInclusive<u32> = 6..=20;

/// Returns the files that an interpreter would load before this one where it looks for a module.
///
/// Python looks for compiled modules first (`importlib.machinery.EXTENSION_SUFFIXES`), Perl for `.pmc` (perldoc -f require), and Node
/// for the very name that it was asked for (`is_asked_for`).
pub fn loaded_before(path: &str, is_asked_for: &dyn Fn(&str) -> bool) -> Vec<String> {
    let Some((stem, ending)) = path.rsplit_once('.') else {
        return Vec::new();
    };
    match ending {
        "py" => {
            let machine = match std::env::consts::OS {
                "macos" => "darwin".to_owned(),
                _ => format!("{}-linux-gnu", std::env::consts::ARCH),
            };
            let tagged = RELEASES.map(|release| {
                let abi = if release < 8 { "m" } else { "" };
                format!("{stem}.cpython-3{release}{abi}-{machine}.so")
            });
            let plain = ["abi3.so", "so"].map(|ending| format!("{stem}.{ending}"));
            tagged.chain(plain).collect()
        }
        "pm" => vec![format!("{path}c")],
        "js" | "json" | "node" if is_asked_for(stem) => vec![stem.to_owned()],
        _ => Vec::new(),
    }
}

/// Returns the files of a package that Python would take before the module at a path.
pub fn packages_before(path: &str) -> Vec<String> {
    let module = path
        .strip_suffix(".py")
        .filter(|it| !it.ends_with("/__init__"));
    module.map(dotted::inits_of).unwrap_or_default()
}

/// Says whether Python runs what lies at a path, a file or a package, when it starts.
pub fn is_run_at_start(path: &str) -> bool {
    AT_START.contains(&first_part(path.rsplit('/').next().unwrap_or(path)))
}

/// Returns the paths of the modules that a line of Python imports, seen from where modules are looked for.
fn python_imports(line: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for statement in line.split(';').map(str::trim) {
        if let Some(list) = statement.strip_prefix("import ") {
            modules.extend(list.split(',').map(|one| dotted_name(one).to_owned()));
        } else if let Some((module, names)) = statement
            .strip_prefix("from ")
            .and_then(|rest| rest.split_once(" import "))
        {
            let module = dotted_name(module.trim().trim_start_matches('.'));
            let names = names
                .split(',')
                .map(|name| first_part(name.trim_start_matches(['(', ' '])));
            let inside = names.map(|name| format!("{module}.{name}"));
            modules.extend(inside.map(|name| name.trim_matches('.').to_owned()));
            modules.push(module.to_owned());
        }
    }
    modules.iter().flat_map(|module| paths_of(module)).collect()
}

/// Returns the start of a word up to where a module's name with its packages ends.
fn dotted_name(word: &str) -> &str {
    let word = word.trim();
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
    &word[..end.unwrap_or(word.len())]
}

/// Returns the files of a module and of the packages on the way to it.
fn paths_of(module: &str) -> Vec<String> {
    let parts: Vec<&str> = module.split('.').filter(|part| !part.is_empty()).collect();
    let counts = 1..=parts.len().min(DEEPEST);
    let paths = counts.map(|count| parts[..count].join("/"));
    paths
        .flat_map(|path| [format!("{path}.py"), format!("{path}/__init__.py")])
        .collect()
}

/// Returns the files that code among the words of `call` imports or loads, seen from where it is called.
pub fn in_code(call: &Call) -> Vec<String> {
    let mut found = loaded(call);
    let own = found.clone();
    let here = call.places.modules.iter();
    let further = here.flat_map(|folder| own.iter().map(|path| word_in(folder, path)));
    found.extend(further);
    found
}

/// Returns what code among the words of `call` imports or loads, seen from where modules are looked for.
fn loaded(call: &Call) -> Vec<String> {
    let Some((name, code)) = call.code() else {
        return Vec::new();
    };
    if !matches!(name.as_str(), "python" | "pypy") {
        let found = code.lines().flat_map(|line| quoted(line, loads(&name)));
        return found.map(str::to_owned).collect();
    }
    let mut found: Vec<String> = python_modules(&code).collect();
    // Folders that it adds itself.
    let added = code
        .lines()
        .flat_map(|line| quoted(line, &["sys.path.insert(0,", "sys.path.append("]));
    let own = found.clone();
    for folder in added.take(DEEPEST) {
        found.extend(own.iter().map(|path| format!("{folder}/{path}")));
    }
    found.extend(python_files(&code).map(str::to_owned));
    found
}

/// Returns the paths of the modules that code of Python's imports, by a statement or by their names in quotes.
fn python_modules(code: &str) -> impl Iterator<Item = String> {
    let imported = code.lines().flat_map(python_imports);
    let named = code
        .lines()
        .flat_map(|line| quoted(line, &["import_module(", "__import__("]));
    imported.chain(named.flat_map(paths_of))
}

/// Returns the paths in quotes that code of Python's runs.
fn python_files(code: &str) -> impl Iterator<Item = &str> {
    code.lines()
        .flat_map(|line| quoted(line, &["exec(open(", "run_path("]))
}

/// Other languages whose scripts load others by a path in quotes, with the end of their names.
const OTHERS: &[(&str, &str)] = &[
    ("lua", ".lua"),
    ("perl", ".pl"),
    ("php", ".php"),
    ("ruby", ".rb"),
];

/// Returns what stands before the name of what a program is to load.
fn loads(program: &str) -> &'static [&'static str] {
    match program {
        "perl" => &["do ", "require "],
        "ruby" => &["load ", "load(", "require_relative ", "require "],
        "php" => &["include ", "include_once ", "require ", "require_once "],
        "lua" => &["dofile(", "require(", "require "],
        _ => NODES,
    }
}

/// What stands before the name of a module that Node is to load.
const NODES: &[&str] = &["require(", "import(", "from ", "import "];

/// Returns what stands in quotes behind one of these beginnings.
pub(super) fn quoted<'l>(line: &'l str, beginnings: &[&str]) -> Vec<&'l str> {
    let mut found = Vec::new();
    for before in beginnings {
        for (at, _) in line.match_indices(before) {
            let rest = line[at + before.len()..].trim_start();
            let quote = rest.chars().next().filter(|c| "'\"`".contains(*c));
            let name = quote.and_then(|quote| rest[1..].split_once(quote));
            found.extend(name.map(|(name, _)| name));
        }
    }
    found
}

pub(super) fn folder_of(path: &str) -> String {
    path.rsplit_once('/')
        .map_or("", |(folder, _)| folder)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fronts(check: &str) -> Vec<Front> {
        super::fronts(&Code::of_check(check), &|path| path.starts_with("mine"))
    }

    #[test]
    fn modules_are_taken_from_the_scripts_folder_or_where_python_is_started() {
        for (check, folders) in [
            ("python3 s/c.py", "s"),
            ("cd s && python c.py | cat", "s"),
            ("./s/c.py -q", "s"),
            ("python3 -m pytest -q", "."),
            ("cd t; python3 -c 'import json'", "t"),
            ("pytest -q", ""),
            ("PYTHONPATH=src:t pytest -q", "src t"),
            ("PYTHONPATH=src node c.js", ""),
            ("uv run c.py", "."),
            ("python3 c.py && python3 d.py && python3 s/e.py", ". s"),
            ("python3 -I s/c.py", ""),
            ("python3 -P -m pytest", ""),
            ("python3 s/c.py -I", "s"),
            ("python3 /outside/c.py", ""),
            ("node s/c.js; sh c.sh", ""),
            ("python3 s/t", "s s/t"),
        ] {
            let found = fronts(check);
            let dot = |front: &Front| match front.folder.as_str() {
                "" => ".".to_owned(),
                folder => folder.to_owned(),
            };
            let mut found: Vec<_> = found.iter().map(dot).collect();
            found.dedup();
            assert_eq!(found.join(" "), folders, "{check}");
        }
    }

    #[test]
    fn only_names_of_pythons_own_modules_and_of_the_tool_count() {
        let script = &fronts("python3 s/c.py")[0];
        let tool = &fronts("python3 -m pytest")[0];
        let own = &fronts("python3 -m mine.tool")[0];
        let other = &fronts("python3 -m vulture src")[0];
        let part = &fronts("python3 -m house.tool")[0];
        let in_path = &fronts("PYTHONPATH=s python3 c.py")[1];
        for (front, name, module) in [
            (script, "json.py", Some("json")),
            (script, "json", Some("json")),
            (script, "json.pyc", Some("json")),
            (script, "math.cpython-311-x86_64-linux-gnu.so", Some("math")),
            (script, "json.txt", None),
            (script, "jsonx.py", None),
            (script, "test", None),
            (script, "pytest.py", None),
            (tool, "pytest.py", Some("pytest")),
            (tool, "enum.py", Some("enum")),
            (tool, "pluggy", Some("pluggy")),
            (tool, "mccabe.py", None),
            (own, "mine.py", None),
            (other, "vulture.py", Some("vulture")),
            (other, "bandit.py", None),
            (part, "house", Some("house")),
            (part, "tool.py", None),
            (in_path, "sitecustomize.py", Some("sitecustomize")),
            (in_path, "usercustomize", Some("usercustomize")),
            (script, "sitecustomize.py", None),
        ] {
            assert_eq!(front.taken_for(name), module, "{name}");
        }
    }

    #[test]
    fn python_is_asked_as_the_check_calls_it_or_not_at_all() {
        let ask = format!(
            "'import sys; sys.path = [it for it in sys.path if it]; import importlib.util; \
             sys.exit({MISSING} if importlib.util.find_spec('\\''cli'\\'') is None else 0)'"
        );
        for (check, before) in [
            ("python3 -m cli", Some("cd . && env python3 '-c' ")),
            (
                "python3 -m cli.x >/dev/null",
                Some("cd . && env python3 '-c' "),
            ),
            (
                "test -e a && A='b c' timeout 9 python3 -W error -m cli | tail -1",
                Some("cd . && env 'A=b c' python3 '-W' error '-c' "),
            ),
            (
                "cd s; env PYTHONPATH=src .venv/bin/python -m cli",
                Some("cd ./s && env 'PYTHONPATH=src' .venv/bin/python '-c' "),
            ),
            (
                "PYTHONPATH=/a sh -c 'python3 -m cli'",
                Some("cd . && env 'PYTHONPATH=/a' python3 '-c' "),
            ),
            ("PYTHONPATH=a:$PYTHONPATH python3 -m cli", None),
            ("PYTHONPATH=~/a python3 -m cli", None),
            ("export PYTHONPATH=/a; python3 -m cli", None),
            ("PYTHONPATH=/a; python3 -m cli", None),
            (". ./env.sh && python3 -m cli", None),
            ("f() { python3 -m cli; }; PYTHONPATH=/a f", None),
            ("for p in a b; do PYTHONPATH=$p python3 -m cli; done", None),
            ("uv run python3 -m cli", None),
            ("env -u PYTHONPATH python3 -m cli", None),
            ("$PYTHON -m cli; python3 -m pytest; python3 -m mine", None),
        ] {
            let found = fronts(check);
            let questions: Vec<_> = found.iter().filter_map(Front::question).collect();
            let expected = before.map(|before| format!("{before}{ask}"));
            let expected = expected.as_deref();
            assert_eq!(questions.first().copied(), expected, "{check}");
        }
    }

    #[test]
    fn a_package_comes_before_the_module_of_its_name() {
        let found = packages_before("s/h.py");
        assert!(found.contains(&"s/h/__init__.py".to_owned()), "{found:?}");
        assert_eq!(packages_before("s/h/__init__.py"), Vec::<String>::new());
        assert_eq!(packages_before("s/h.js"), Vec::<String>::new());
    }

    /// What a script with this text imports, run in the root.
    fn imported(script: &str, text: &str) -> Vec<String> {
        super::imported(&Used::of(script.to_owned()), text)
    }

    #[test]
    fn what_a_script_imports_is_looked_for_beside_it() {
        let python =
            "import os, a.b as c\n  from d.e import f; import g\nfrom . import x\nimported = 1\n";
        let found = imported("s/c.py", python);
        for path in "a.py a/__init__.py a/b.py d.py d/__init__.py d/e.py g.py os.py x.py".split(' ')
        {
            assert!(found.contains(&format!("s/{path}")), "{path}: {found:?}");
        }
        let all_within = found.iter().all(|path| path.starts_with("s/"));
        assert!(
            all_within && !found.contains(&"s/imported.py".to_owned()),
            "{found:?}"
        );
        // By way of PYTHONPATH: what lies in its own folder is part of the script, what it tests is not.
        let found = imported("t/c.py", "import t.lib.h\nfrom app.core import x\n");
        assert!(found.contains(&"t/lib/h.py".to_owned()), "{found:?}");
        assert!(!found.contains(&"app/core.py".to_owned()), "{found:?}");
        let node = "const a = require('./a'), p = require(\"left-pad\");\nimport x from '../x.mjs';\nimport 'node:fs'";
        let found = imported("s/c.js", node);
        for path in [
            "s/a.js",
            "s/a/index.js",
            "s/node_modules/left-pad/",
            "node_modules/left-pad/",
            "x.mjs",
        ] {
            assert!(found.contains(&path.to_owned()), "{path}: {found:?}");
        }
        assert!(!found.iter().any(|path| path.contains("node:fs")));
        assert!(imported("s/c.sh", python).is_empty());
        assert!(imported("c.js", "require('../x')").is_empty());
        // What is run or loaded by a path, from where the script runs, too.
        for (script, text, path) in [
            ("s/c.py", "runpy.run_path('h.py')", "h.py"),
            ("s/c.py", "importlib.import_module(\"a.b\")", "s/a/b.py"),
            ("s/c.pl", "require \"./l.pl\";", "l.pl"),
            ("s/c.pl", "do './l.pl';", "s/l.pl"),
            ("s/c.rb", "require_relative 'l'", "s/l.rb"),
        ] {
            let found = imported(script, text);
            assert!(found.contains(&path.to_owned()), "{text}: {found:?}");
        }
    }
}
