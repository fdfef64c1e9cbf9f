//! What code names and hands on without plainly running it: scripts that reach a shell by way of a list or a copy, test files
//! handed to a runner, modules that code in quotes imports, settings given by an option. What is merely looked at is not named:
//! the operands of linters, of grep, test and wc are what a goal is about. Pure.

use super::call::{Call, stem};
use super::code::Code;
use super::path::word_in;
use super::programs::{interpreter, is_shell};
use super::steering::folders;
use super::told::{
    reads_text, scripts_in_code, set_by_option, sets_for_others, takes_words, told_by_file,
};
use super::walk::{READ, is_for_all, places};
use super::{dotted, modules, net};

/// Returns what `code` names, as paths and patterns below the root; in a pattern `*` stops at a slash, and `**` does not.
pub fn named(code: &Code) -> Vec<String> {
    let walked = code.walked();
    let mut found = Vec::new();
    for call in &walked.calls {
        let words = [
            set_by_option(call),
            handed_to_runner(call),
            behind(call),
            net::unclear(call),
            loaded_by_option(call),
            of_all_packages(call),
            by_folder(call),
            built_to_check(call),
            fed(call),
            project_to_check(call),
            scripts_in_code(call),
            told_by_file(call),
        ];
        let words = words.concat();
        let words = words.into_iter().chain(modules::in_code(call));
        let words = words.chain(call.scripts().into_iter().filter(|word| is_pattern(word)));
        found.extend(words.filter_map(|word| call.path(&word)));
    }
    let scripts = walked.calls.iter().flat_map(Call::scripts);
    let tails = scripts.filter_map(|word| tail(&word).map(str::to_owned));
    found.extend(tails.flat_map(|tail| [format!("**/{tail}"), tail]));
    // Scripts have many a variable; in the text of a check itself, one that is run is looked at more closely.
    let is_open = |call: &Call| match &code.script {
        None => call.is_open(walked.computes),
        Some(_) => call.is_open(false) && !call.scripts().iter().any(|word| tail(word).is_some()),
    };
    if walked.calls.iter().any(is_open) {
        let is_of_variable =
            |word: &String| word.contains('$') && !word.starts_with(['/', '~', '.']);
        let runs_variable = walked.calls.iter().any(|call| {
            is_open(call)
                && (is_of_variable(&call.words[0]) || call.scripts().iter().any(is_of_variable))
        });
        let handed = walked.handed_on.iter();
        let handed = handed.filter(|call| runs_variable || call.words[0] != READ);
        found.extend(handed.flat_map(handed_on));
    }
    // What a command of the check's own text is told by a file: `export $(cat .env)`, `pytest $(cat options)`.
    if code.script.is_none() {
        let sets_all = sets_for_others(&code.text);
        let takes_words = sets_all || walked.calls.iter().any(takes_words);
        let is_taken =
            |call: &&Call| takes_words && reads_text(call) || sets_all && call.words[0] == READ;
        found.extend(walked.handed_on.iter().filter(is_taken).flat_map(handed_on));
        let loops = walked
            .calls
            .iter()
            .filter(|call| sets_all && call.words[0] == "done");
        found.extend(loops.filter_map(|call| call.path(call.stdin.as_ref()?)));
    }
    found.extend(compiled_to_check(&walked.calls));
    found.retain(|path| !path.contains(['$', '`']) && path != "**");
    found.sort();
    found.dedup();
    found
}

/// Returns the files in which may stand what `code` runs, where its text does not say what that is: those that it sources, and those
/// whose text goes into a word or a program.
pub fn lists(code: &Code) -> Vec<String> {
    let walked = code.walked();
    if !walked
        .calls
        .iter()
        .any(|call| call.is_open(walked.computes))
    {
        return Vec::new();
    }
    let is_sourcing = |call: &&Call| matches!(stem(&call.words[0]).as_str(), "." | "source");
    let sourced = walked.calls.iter().filter(is_sourcing);
    let sourced = sourced.flat_map(|call| call.scripts().into_iter().map(|word| call.path(&word)));
    let loops = walked.calls.iter().filter(|call| call.words[0] == "done");
    let read = loops.filter_map(|call| call.stdin.as_ref().map(|word| call.path(word)));
    let mut found: Vec<String> = sourced.chain(read).flatten().collect();
    found.extend(walked.handed_on.iter().flat_map(handed_on));
    found.retain(|path| !is_pattern(path));
    found.dedup();
    found
}

/// Returns what is known of a path that begins with a folder nobody knows: `g.sh` of `$X/g.sh`.
fn tail(word: &str) -> Option<&str> {
    let (_, rest) = word.rsplit_once('$')?;
    let rest = rest.strip_prefix('/')?.trim_start_matches('/');
    (!rest.is_empty() && !rest.contains("..")).then_some(rest)
}

/// Says whether a path stands for several.
pub fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?', '['])
}

/// How many places and names of one search are followed.
const MOST: usize = 64;

/// Returns what a tool loads of folders that go by their names.
fn by_folder(call: &Call) -> Vec<String> {
    if is_pattern(call.dir.as_deref().unwrap_or_default()) {
        return Vec::new();
    }
    let (tool, _) = call.steered();
    let by = call.brought_by.as_deref().filter(|by| *by == "mise");
    let names = by.into_iter().chain([tool.as_str()]);
    let patterns = names.flat_map(folders);
    patterns.map(|pattern| (*pattern).to_owned()).collect()
}

/// Parts of the names of programs of a project's own that check it.
const CHECKING: &[&str] = &[
    "audit", "check", "ci", "dev", "doctor", "gate", "lint", "task", "test", "tidy", "tool",
    "validate", "verify",
];

/// Says whether a name, or a part of a path, is that of something that checks a project.
fn is_checking(name: &str) -> bool {
    let mut parts = name.split(['-', '_', '/', '.']);
    let is_known = |part: &str| {
        let stem = part.strip_prefix('x').unwrap_or(part);
        let stem = stem.strip_suffix('s').unwrap_or(stem);
        CHECKING.contains(&part) || CHECKING.contains(&stem)
    };
    !name.contains(['*', '$']) && parts.any(is_known)
}

/// What compiles sources to a program, by an option `-o` or under a name of its own.
const COMPILERS: &[&str] = &[
    "c++",
    "cc",
    "clang",
    "clang++",
    "g++",
    "gcc",
    "ghc",
    "go",
    "gfortran",
    "ocamlfind",
    "ocamlopt",
    "rustc",
    "tcc",
];

/// How the names of sources end that such programs compile.
const SOURCES: &[&str] = &[
    ".c", ".cc", ".cpp", ".cxx", ".f90", ".go", ".hs", ".ml", ".rs",
];

/// Returns the sources of programs that code compiles and then runs, as far as they are named as what checks others: any other
/// program is what a goal is about.
fn compiled_to_check(calls: &[Call]) -> Vec<String> {
    let is_compiler = |call: &&Call| COMPILERS.contains(&stem(&call.words[0]).as_str());
    let sources = calls.iter().filter(is_compiler).flat_map(|call| {
        let output = call.words.windows(2).find(|pair| pair[0] == "-o");
        let output = output.map_or("a.out", |pair| pair[1].as_str());
        let name = |word: &str| word.trim_start_matches("./").to_owned();
        let is_run = calls.iter().any(|one| name(&one.words[0]) == name(output));
        let is_source = |word: &&String| SOURCES.iter().any(|end| word.ends_with(end));
        let sources = call.words[1..].iter().filter(is_source);
        let checking = sources.filter(move |word| is_run && is_checking(word));
        checking.filter_map(|word| call.path(word))
    });
    sources.collect()
}

/// Programs that take what they are to do from standard input.
const FED: &[&str] = &[
    "bc",
    "duckdb",
    "gnuplot",
    "mariadb",
    "mongosh",
    "mysql",
    "octave",
    "psql",
    "redis-cli",
    "sqlite",
];

/// Returns the file that such a program reads.
fn fed(call: &Call) -> Vec<String> {
    let is_fed = FED.contains(&stem(&call.words[0]).as_str());
    call.stdin.iter().filter(|_| is_fed).cloned().collect()
}

/// Returns what a project of .NET is made of that checks others: `dotnet run --project tools/check`.
fn project_to_check(call: &Call) -> Vec<String> {
    let (tool, subcommand) = call.steered();
    if tool != "dotnet" || subcommand.as_deref() != Some("run") {
        return Vec::new();
    }
    let named = call.words.windows(2).find(|pair| pair[0] == "--project");
    let named = named.map(|pair| pair[1].as_str());
    let given = call
        .words
        .iter()
        .find_map(|word| word.strip_prefix("--project="));
    let project = named.or(given).filter(|project| is_checking(project));
    let all = project.map(|project| {
        let folder = project.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_file = project.ends_with("proj");
        let folder = if is_file { folder } else { project };
        format!("{}/**", folder.trim_end_matches('/'))
    });
    all.filter(|all| all != "/**").into_iter().collect()
}

/// Returns where the source of what `cargo run` builds may lie, as far as that is no product: an example, and what is named as what
/// checks others. `cargo run` without a name, and `cargo run --bin cli`, are what a goal is about.
fn built_to_check(call: &Call) -> Vec<String> {
    let (tool, subcommand) = call.steered();
    if tool != "cargo" || !matches!(subcommand.as_deref(), Some("run" | "r")) {
        return Vec::new();
    }
    let own = call.words.iter().take_while(|word| *word != "--");
    let own: Vec<&str> = own.map(String::as_str).collect();
    let mut found = Vec::new();
    for (at, word) in own.iter().enumerate() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (*word, own.get(at + 1).copied()),
        };
        let Some(value) = value else { continue };
        match option {
            "-p" | "--package" if is_checking(value) => {
                let places = ["", "crates/", "tools/"];
                found.extend(places.map(|place| format!("{place}{value}/Cargo.toml")));
                found.extend(places.map(|place| format!("{place}{value}/build.rs")));
                found.extend(places.map(|place| format!("{place}{value}/src/main.rs")));
                found.extend(places.map(|place| format!("{place}{value}/src/**")));
            }
            "--bin" if is_checking(value) => {
                found.push(format!("src/bin/{value}.rs"));
                found.push(format!("src/bin/{value}/*.rs"));
            }
            "--example" => {
                found.push(format!("examples/{value}.rs"));
                found.push(format!("examples/{value}/*.rs"));
            }
            "--manifest-path" => {
                let folder = value
                    .strip_suffix("/Cargo.toml")
                    .filter(|it| is_checking(it));
                found.extend(
                    folder
                        .iter()
                        .flat_map(|it| [value.to_owned(), format!("{it}/src/**")]),
                );
            }
            _ => {}
        }
    }
    found
}

/// Returns what steers a package manager that works on all packages of a repository.
fn of_all_packages(call: &Call) -> Vec<String> {
    let is_one = is_pattern(call.dir.as_deref().unwrap_or_default());
    match is_for_all(&call.words) && !is_one {
        true => vec!["**/package.json".to_owned()],
        false => Vec::new(),
    }
}

/// Returns the modules that options of Perl and Ruby load, and the files of the package that `go run` builds.
fn loaded_by_option(call: &Call) -> Vec<String> {
    let ending = match stem(&call.words[0]).as_str() {
        "perl" => ".pm",
        "ruby" => ".rb",
        "go" if call.words.get(1).is_some_and(|word| word == "run") => {
            let folder = call.words[2..].iter().find(|word| !word.starts_with('-'));
            let folder = folder.filter(|word| !word.ends_with(".go"));
            let pattern = folder.map(|word| format!("{}/*.go", word.trim_end_matches('/')));
            return pattern.into_iter().collect();
        }
        _ => return Vec::new(),
    };
    let mut folders: Vec<&str> = vec!["."];
    let mut modules: Vec<String> = Vec::new();
    let mut words = call.words[1..].iter().take(MOST).map(String::as_str);
    while let Some(word) = words.next().filter(|word| word.starts_with('-')) {
        if let Some(folder) = word.strip_prefix("-I") {
            folders.extend(match folder {
                "" => words.next(),
                folder => Some(folder),
            });
        } else if let Some(module) = word.strip_prefix(match ending {
            ".pm" => "-M",
            _ => "-r",
        }) {
            let module = match module {
                "" => words.next().unwrap_or_default(),
                module => module,
            };
            let name = module.split('=').next().unwrap_or(module);
            modules.push(name.replace("::", "/").trim_end_matches(ending).to_owned());
        }
    }
    let own = call.places.modules.iter();
    let further = modules.iter().flat_map(|module| {
        own.clone()
            .map(move |folder| word_in(folder, &format!("{module}{ending}")))
    });
    let beside = modules.iter().flat_map(|module| {
        folders
            .iter()
            .map(move |folder| format!("{folder}/{module}{ending}"))
    });
    beside.chain(further).collect()
}

/// Returns the test files and modules that are handed to a program which runs them. A folder names none: what is tested may
/// lie in it, too.
fn handed_to_runner(call: &Call) -> Vec<String> {
    let (tool, _) = call.steered();
    let takes_folders = matches!(tool.as_str(), "bats" | "prove" | "run-parts" | "shellspec");
    let is_runner = matches!(
        tool.as_str(),
        "ava"
            | "behave"
            | "coverage"
            | "hyperfine"
            | "jasmine"
            | "jest"
            | "kcov"
            | "lab"
            | "mocha"
            | "nose2"
            | "phpunit"
            | "py.test"
            | "pytest"
            | "qunit"
            | "robot"
            | "rspec"
            | "tap"
            | "tape"
            | "ts-mocha"
            | "unittest"
            | "uvu"
            | "vitest"
    ) || runs_tests(&call.words);
    if tool == "unittest" && call.words.iter().any(|word| word == "discover") {
        return discovered(&call.words);
    }
    if !is_runner && !takes_folders {
        return Vec::new();
    }
    let mut found = Vec::new();
    for word in call
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
    {
        let word = word.split("::").next().unwrap_or(word);
        found.push(word.to_owned());
        if takes_folders {
            found.push(format!("{}/**", word.trim_end_matches('/')));
        }
        if tool == "unittest" {
            found.extend(dotted::files_of(word));
        }
    }
    found
}

/// Says whether an interpreter is told to run test files.
pub fn runs_tests(words: &[String]) -> bool {
    let has = |wanted: &str| words[1..].iter().any(|word| word == wanted);
    match stem(&words[0]).as_str() {
        "node" | "nodejs" => has("--test"),
        "deno" | "bun" => words.get(1).is_some_and(|word| word == "test"),
        _ => false,
    }
}

/// Returns what `unittest discover` loads first: where it begins, which is its operand or stands behind `-s`.
fn discovered(words: &[String]) -> Vec<String> {
    let behind = words.iter().skip_while(|word| *word != "discover").skip(1);
    let behind: Vec<&String> = behind.collect();
    let by_option = behind.windows(2).find_map(|pair| {
        let is_start = matches!(pair[0].as_str(), "-s" | "--start-directory");
        is_start.then_some(pair[1])
    });
    let first = behind.first().filter(|word| !word.starts_with('-'));
    let folder = by_option.or(first.copied());
    vec![format!(
        "{}/__init__.py",
        folder.map_or(".", String::as_str)
    )]
}

/// Returns the script of an interpreter that stands among the words of a program nothing is known of.
fn behind(call: &Call) -> Vec<String> {
    let name = stem(&call.words[0]);
    let only_prints = matches!(
        name.as_str(),
        "[" | "ag"
            | "command"
            | "echo"
            | "egrep"
            | "fgrep"
            | "git"
            | "grep"
            | "printf"
            | "rg"
            | "test"
            | "type"
            | "which"
    );
    let is_program = |word: &String| {
        let name = stem(word);
        is_shell(&name) || interpreter(&name).is_some()
    };
    if only_prints || interpreter(&name).is_some() {
        return Vec::new();
    }
    let at = call.words.iter().skip(1).position(is_program);
    at.map(|at| Call::of(call.dir.clone(), call.words[at + 1..].to_vec()).scripts())
        .unwrap_or_default()
}

/// Returns what could reach a program from a command that hands on files or their names.
fn handed_on(call: &Call) -> Vec<String> {
    let operands = call
        .words
        .iter()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let below = |path: String| match path.as_str() {
        "" => Vec::new(),
        folder => vec![format!("{folder}/**"), path],
    };
    let paths = operands.filter_map(|word| call.path(word));
    match stem(&call.words[0]).as_str() {
        "find" => looked_for(call),
        READ => paths.collect(),
        "git" => {
            // In a pattern of git's, `*` does not stop at a slash.
            let anywhere = |path: String| match (is_pattern(&path), path.rsplit_once('/')) {
                (false, _) => below(path),
                (true, Some((folder, name))) => vec![format!("{folder}/**/{name}")],
                (true, None) => vec![format!("**/{path}")],
            };
            let inner = |path: String| match path.split_once(':') {
                Some((_, path)) => path.to_owned(),
                None => path,
            };
            // The first is the name of git's command.
            let paths = paths.skip(1);
            paths.map(inner).flat_map(anywhere).collect()
        }
        "awk" | "base" | "cat" | "cp" | "cut" | "dd" | "echo" | "egrep" | "envsubst" | "grep"
        | "gunzip" | "head" | "install" | "ln" | "ls" | "mv" | "printf" | "rsync" | "sed"
        | "sort" | "tac" | "tail" | "tar" | "tee" | "tr" | "uniq" | "zcat" => {
            paths.flat_map(below).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns what `find` finds.
fn looked_for(call: &Call) -> Vec<String> {
    let is_name = |word: &str| matches!(word, "-name" | "-iname");
    let pairs = call.words.windows(2).filter(|pair| is_name(&pair[0]));
    let names: Vec<&String> = pairs.map(|pair| &pair[1]).take(MOST).collect();
    let mut found = Vec::new();
    for place in places(&call.words).iter().take(MOST).filter_map(|word| {
        let is_here = matches!(word.trim_end_matches('/'), "." | "");
        match is_here {
            true => call.dir.clone(),
            false => call.path(word),
        }
    }) {
        let inside = match place.as_str() {
            "" => String::new(),
            place => format!("{place}/"),
        };
        match names.as_slice() {
            [] => found.push(format!("{inside}**")),
            names => found.extend(names.iter().map(|name| format!("{inside}**/{name}"))),
        }
        found.push(place);
    }
    found.retain(|path| !path.is_empty());
    found
}

#[cfg(test)]
mod tests;
