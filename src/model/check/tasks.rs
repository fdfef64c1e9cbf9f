//! What lies one level below a check: the code in the files it hands on to, be it a shell's script, a task of package.json or
//! the recipes of a Makefile's targets. Pure.

use super::Instead;
use super::call::{Call, runs_packages, stem};
use super::code::Code;
use super::commands;
use super::is_shells;
use super::path::join;
use super::places::Places;
use super::spawned::spawned;
use crate::model::recipes::{self, Rules, unfolded};

/// A file that is used, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Below the root.
    pub file: String,
    /// The folder it is run in, below the root; `None` if it lies outside.
    pub dir: Option<String>,
    /// What is asked of it: targets of make, names of package.json's scripts. None for other files, and for make's first target.
    pub tasks: Vec<String>,
    /// Where it looks for programs and modules.
    pub places: Places,
}

impl Used {
    /// Returns a file of which nothing is asked, used in the root.
    pub fn of(file: String) -> Used {
        Used {
            file,
            dir: Some(String::new()),
            tasks: Vec::new(),
            places: Places::default(),
        }
    }

    /// Says whether its words are run.
    pub fn is_list(&self) -> bool {
        self.tasks == [LIST]
    }
}

/// Options of make and of Node's package managers whose argument is the next word.
const TAKES: &[&str] = &[
    "-C",
    "-I",
    "-W",
    "-f",
    "-o",
    "-w",
    "--cwd",
    "--dir",
    "--directory",
    "--file",
    "--filter",
    "--include-dir",
    "--makefile",
    "--prefix",
    "--workspace",
];

/// What is asked of a file whose words are handed to a program.
pub const LIST: &str = "list";

/// What is asked of a file that is handed to a program, or whose words are.
pub const PIPED: &str = "piped";

/// How many words of such a file are followed.
const MOST_LISTED: usize = 64;

/// How many paths in the text of a file are looked for.
const MOST_WORDS: usize = 1024;

/// What is asked of a package.json by running its folder.
const ENTRY: &str = "main";

/// Returns what `call` asks of the package.json or Makefile that steers it.
pub fn asked(call: &Call) -> Vec<String> {
    if runs_packages(&stem(&call.words[0])) {
        return vec![ENTRY.to_owned()];
    }
    let mut operands = Vec::new();
    let mut words = call.words[1..].iter().map(String::as_str);
    while let Some(word) = words.next() {
        if TAKES.contains(&word) {
            words.next();
        } else if !word.starts_with(['-', '+']) && !word.contains('=') {
            operands.push(word);
        }
    }
    if matches!(stem(&call.words[0]).as_str(), "make" | "gmake" | "just") {
        let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
        // The number of jobs may stand apart.
        operands.retain(|word| !is_number(word));
        return operands.into_iter().map(str::to_owned).collect();
    }
    let mut words = operands.into_iter();
    let task = match words.next() {
        Some("run" | "run-script" | "rum" | "urn" | "task") => words.next(),
        Some("workspaces") => words.find(|word| *word == "run").and_then(|_| words.next()),
        Some("t" | "tst") => Some("test"),
        Some("workspace") => match words.nth(1) {
            Some("run") => words.next(),
            word => word,
        },
        word => word,
    };
    let around = |task: &str| [format!("pre{task}"), task.to_owned(), format!("post{task}")];
    task.map(around).into_iter().flatten().collect()
}

/// Returns the code in a file as far as it is used.
pub fn code_in(used: &Used, text: &str) -> Vec<Code> {
    if let Some(commands) = commands::code(&used.tasks, text) {
        // Cargo's settings lie in a folder of their own.
        let beside = |dir: &str| match dir.strip_suffix(".cargo") {
            Some(folder) => folder.trim_end_matches('/').to_owned(),
            None => dir.to_owned(),
        };
        let code = |text: String| {
            let dir = used.dir.as_deref().map(beside);
            Code::of(text, dir, None, used.places.clone())
        };
        return commands.all.into_iter().map(code).collect();
    }
    let places = match kind(&used.file) {
        Kind::Package => used.places.behind_packages(used.dir.as_deref()),
        Kind::Makefile | Kind::Justfile | Kind::Other => used.places.clone(),
    };
    let at = |text: String, script: Option<String>| {
        Code::of(text, used.dir.clone(), script, places.clone())
    };
    let texts = match kind(&used.file) {
        Kind::Package => scripts(text, &used.tasks),
        Kind::Other if used.is_list() => listed(text),
        Kind::Makefile => {
            let rules = Rules::of_makefile(text);
            let mut texts = rules.reached(&used.tasks).1;
            texts.extend(rules.shell().map(str::to_owned));
            texts.extend(set_in(&used.file, text));
            texts
        }
        Kind::Justfile => Rules::of_justfile(text).reached(&used.tasks).1,
        Kind::Other if is_shells(&used.file, text) => {
            return vec![at(text.to_owned(), Some(used.file.clone()))];
        }
        Kind::Other if used.tasks == [PIPED] => listed(text),
        Kind::Other => spawned(&used.file, text),
    };
    texts.into_iter().map(|text| at(text, None)).collect()
}

/// Says whether not all code in a file of settings is followed: there is too much, or the file, which has no `text` then, is too long.
pub fn is_cut(used: &Used, text: Option<&str>) -> bool {
    let is_cut = |text| commands::code(&used.tasks, text).is_some_and(|it| it.is_cut);
    text.map_or(commands::is_asked(&used.tasks), is_cut)
}

/// Returns the files that a Makefile or a justfile includes, there or not and as patterns, with what is asked of them; of a package.json
/// whose folder is run, the files that it may name as entry, and of any other the packages of its workspaces, of which the same is
/// asked (`npm test --workspaces`).
pub fn included(used: &Used, text: &str) -> Vec<Used> {
    match kind(&used.file) {
        Kind::Package if used.tasks == [ENTRY] => return entry(used, text),
        Kind::Package => return workspaces(used, text),
        Kind::Justfile => return of_just(used, text),
        Kind::Makefile | Kind::Other => {}
    }
    let Some(dir) = used.dir.as_deref().filter(|_| is_makefile(&used.file)) else {
        return Vec::new();
    };
    let (tasks, _) = Rules::of_makefile(text).reached(&used.tasks);
    let text = unfolded(text);
    let files = recipes::included(&text).filter_map(|word| used.places.root.path(dir, word));
    let files = files.map(|file| Used {
        file,
        tasks: tasks.clone(),
        ..used.clone()
    });
    files.collect()
}

/// Returns the files that a justfile imports, and those of its modules.
fn of_just(used: &Used, text: &str) -> Vec<Used> {
    let (tasks, _) = Rules::of_justfile(text).reached(&used.tasks);
    let folder = used.file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let at = |path: &str, tasks: &[String]| {
        Some(Used {
            file: join(folder, path)?,
            tasks: tasks.to_vec(),
            ..used.clone()
        })
    };
    let mut found: Vec<Used> = recipes::imported(text)
        .filter_map(|path| at(path, &tasks))
        .collect();
    for (name, path) in recipes::modules(text) {
        let before = format!("{name}::");
        let within = |task: &String| task.strip_prefix(&before).unwrap_or(task).to_owned();
        let tasks: Vec<String> = used.tasks.iter().map(within).collect();
        let paths = match path {
            Some(path) => vec![path.to_owned()],
            None => [".just", "/mod.just", "/justfile", "/.justfile"]
                .map(|end| format!("{name}{end}"))
                .to_vec(),
        };
        found.extend(paths.iter().filter_map(|path| at(path, &tasks)));
    }
    found
}

/// Returns the packages of a package.json's workspaces.
fn workspaces(used: &Used, text: &str) -> Vec<Used> {
    let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let listed = &package["workspaces"];
    let listed = listed.as_array().or(listed["packages"].as_array());
    let (Some(dir), Some(listed)) = (used.dir.as_deref(), listed) else {
        return Vec::new();
    };
    let names = listed.iter().filter_map(|name| name.as_str());
    let names = names.filter(|name| !name.starts_with('!'));
    let package = |name: &str| {
        let folder = join(dir, name.trim_end_matches('/'))?;
        Some(Used {
            file: format!("{folder}/package.json"),
            dir: Some(folder),
            ..used.clone()
        })
    };
    names.filter_map(package).collect()
}

/// Returns what make would take for done without running anything, were it there: each target that its file has for `used`.
pub fn done_by_name(used: &Used, text: &str) -> Vec<Instead> {
    let Some(dir) = used.dir.as_deref().filter(|_| is_makefile(&used.file)) else {
        return Vec::new();
    };
    let actions = Rules::of_makefile(text).actions(&used.tasks).into_iter();
    let paths = actions.filter_map(|name| join(dir, &name));
    let of = |path| Instead {
        path,
        of: used.file.clone(),
    };
    paths.map(of).collect()
}

/// Returns the files that a package.json may name as its entry.
fn entry(used: &Used, text: &str) -> Vec<Used> {
    let package: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let (Some(dir), Some(main)) = (used.dir.as_deref(), package["main"].as_str()) else {
        return Vec::new();
    };
    let paths = ["", ".js", "/index.js"].map(|end| join(dir, &format!("{main}{end}")));
    let paths = paths.into_iter().flatten().map(|file| Used {
        file,
        tasks: Vec::new(),
        ..used.clone()
    });
    paths.collect()
}

/// Says whether a file is for make, by its name.
fn is_makefile(path: &str) -> bool {
    matches!(kind(path), Kind::Makefile)
}

/// Says whether something can be asked of a file.
pub fn has_tasks(path: &str) -> bool {
    !matches!(kind(path), Kind::Other)
}

enum Kind {
    Package,
    Makefile,
    Justfile,
    Other,
}

fn kind(path: &str) -> Kind {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "package.json" | "deno.json" | "deno.jsonc" => Kind::Package,
        "GNUmakefile" | "makefile" | "Makefile" => Kind::Makefile,
        "justfile" | "Justfile" | ".justfile" => Kind::Justfile,
        name if name.ends_with(".just") => Kind::Justfile,
        name if name.ends_with(".sh") => Kind::Other,
        name if name.ends_with(".mk") || name.starts_with("Makefile.") => Kind::Makefile,
        _ => Kind::Other,
    }
}

/// Returns the code of these scripts of a package.json, or of these tasks of Deno's.
fn scripts(text: &str, names: &[String]) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let code = |name: &String| {
        let task = &package["tasks"][name];
        let said = [&package["scripts"][name], task, &task["command"]];
        said.iter()
            .find_map(|said| said.as_str())
            .map(str::to_owned)
    };
    names.iter().filter_map(code).collect()
}

/// Returns the code that runs each word of a list.
fn listed(text: &str) -> Vec<String> {
    let words = text.split_whitespace().take(MOST_LISTED);
    words.map(|word| format!("sh {word}")).collect()
}

/// Returns the code that runs each script to which a variable is set in a file that Makefiles include.
fn set_in(file: &str, text: &str) -> Vec<String> {
    let name = file.rsplit('/').next().unwrap_or(file);
    if recipes::MAKEFILES.contains(&name) {
        return Vec::new();
    }
    let values = text
        .lines()
        .filter(|line| !line.starts_with(['\t', '#']))
        .filter_map(|line| line.split_once('=').map(|(_, value)| value));
    let words = values.flat_map(str::split_whitespace);
    let scripts = words.filter(|word| word.ends_with(".sh")).take(MOST_LISTED);
    scripts.map(|word| format!("sh {word}")).collect()
}

/// Returns the files whose paths stand as words in the text of a file, seen from the root or from beside it.
pub fn told_in(file: &str, text: &str, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
    let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_end = |c: char| c.is_whitespace() || "\"'`=:;,&|()<>{}".contains(c);
    let words = text.split(is_end).filter(|word| !word.is_empty());
    let paths = words.flat_map(|word| [join("", word), join(folder, word)]);
    let mut found = Vec::new();
    for path in paths.flatten().take(MOST_WORDS) {
        if found.len() < MOST_LISTED && !found.contains(&path) && is_file(&path) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::uses;

    fn used(file: &str, tasks: &str) -> Used {
        Used {
            file: file.to_owned(),
            dir: Some(file.rsplit_once('/').map_or("", |(dir, _)| dir).to_owned()),
            tasks: tasks.split_whitespace().map(str::to_owned).collect(),
            places: Places::default(),
        }
    }

    /// Shows what the code in a file uses, and what it includes.
    fn shown(used: &Used, text: &str) -> String {
        let is_file = |path: &str| {
            !path.contains('$') && (path.ends_with(".sh") || path.ends_with("Makefile"))
        };
        let code = code_in(used, text);
        let all = code.iter().flat_map(|code| uses(code, &is_file));
        all.chain(included(used, text))
            .map(|one| match one.tasks.as_slice() {
                [] => one.file,
                tasks => format!("{}:{}", one.file, tasks.join("+")),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn what_a_file_hands_on_to_is_found_for_what_is_asked_of_it() {
        let package = r#"{"scripts": {"test": "sh t.sh && npm run x", "x": "./x.sh", "start": "sh s.sh", "pretest": "sh p.sh"}}"#;
        let deno =
            "{\n// tasks\n\"tasks\": {\"x\": \"./x.sh\", \"y\": {\"command\": \"sh y.sh\"}}}";
        let makefile = "X := a:b\nall: t\n\techo\nt: u v.o # w\n\t@sh t.sh\nu:; -sh u.sh\nw:\n\tsh w.sh\nm:\n\t$(MAKE) -C sub n\n";
        for (file, tasks, text, expected) in [
            ("package.json", "pretest test", package, "p.sh t.sh"),
            ("web/package.json", "x", package, "web/x.sh"),
            ("package.json", "none", package, ""),
            ("package.json", "test", "{no json", ""),
            ("deno.json", "x", deno, "x.sh"),
            ("deno.jsonc", "y", deno, "y.sh"),
            ("Makefile", "", makefile, "t.sh u.sh"),
            ("Makefile", "w", makefile, "w.sh"),
            ("Makefile", "m", makefile, "sub/Makefile:n"),
            (
                "sub/Makefile",
                "t",
                "include a.mk b.mk # c.mk\n-include $(CURDIR)/d.mk \\\n e.mk\nt:\n\tinclude f.mk\n",
                "sub/a.mk:t sub/b.mk:t sub/d.mk:t sub/e.mk:t",
            ),
            (
                "sub/config.mk",
                "t",
                "T = ci/t.sh # x\nS := a.c b.sh\n",
                "sub/ci/t.sh sub/b.sh",
            ),
            // Each line begins in the folder, unless all of them are for one shell.
            ("Makefile", "", "t:\n\tcd a\n\tsh t.sh\n", "t.sh"),
            (
                "Makefile",
                "",
                "t:\n\tcd a\n\tsh t.sh\n.ONESHELL:\n",
                "a/t.sh",
            ),
            (
                "sub/Makefile",
                "u",
                ".ONESHELL:\nt:\n\tcd a\nu: t\n\t@f() {\n\t  sh $$1/u.sh\n\t}\n\tcd b\n\tsh u.sh\n",
                "sub/b/u.sh",
            ),
            (
                "justfile",
                "t",
                "t:\n  #!/bin/sh\n  cd a\n  sh t.sh\n",
                "a/t.sh",
            ),
            ("justfile", "t", "t:\n  cd a\n  sh t.sh\n", "t.sh"),
            (
                "justfile",
                "t",
                "t:\n  #!/usr/bin/env python3\n  it's = 1\n  sh t.sh\n",
                "t.sh",
            ),
            // What runs the recipes is run.
            (
                "sub/Makefile",
                "",
                "D := ci\nSHELL = ./$(D)/in.sh\nt:\n\tsh t.sh\n",
                "sub/t.sh sub/ci/in.sh",
            ),
            (
                "Makefile",
                "",
                "SHELL := bash\n.SHELLFLAGS := -eu ci/in.sh\nt:\n\tsh t.sh\n",
                "t.sh ci/in.sh",
            ),
            (
                "Makefile",
                "",
                "SHELL := /bin/bash\n.SHELLFLAGS := -eu -o pipefail -c\nt:\n\tsh t.sh\n",
                "t.sh",
            ),
            (
                "Makefile",
                "",
                "SHELL := python3\n.ONESHELL:\nt:\n\tit's = 1\n\tsh t.sh\n",
                "t.sh",
            ),
            (
                "justfile",
                "t",
                "x:\n  sh x.sh\nt: u\n  sh t.sh\nu:\n  ./u.sh\n",
                "t.sh u.sh",
            ),
            (
                "s/c.sh",
                "",
                "D=$(dirname \"$0\")\nsh \"$D/l.sh\"",
                "s/l.sh",
            ),
            ("s/c.sh", "", "cd \"$(dirname $0)/..\" && ./l.sh", "l.sh"),
            ("s/c.sh", "", "sh \"${BASH_SOURCE%/*}/../l.sh\"", "l.sh"),
            ("s/c.sh", "", "sh -c 'sh \"$0/l.sh\"' x", "x/l.sh"),
            ("s/c.sh", "", "sh \"${0%/*}/../../l.sh\"", ""),
        ] {
            let dir = match file {
                "s/c.sh" => Used {
                    dir: Some(String::new()),
                    ..used(file, tasks)
                },
                _ => used(file, tasks),
            };
            assert_eq!(shown(&dir, text), expected, "{file} {tasks}: {text}");
        }
    }

    #[test]
    fn what_is_asked_stands_in_the_call() {
        for (check, expected) in [
            ("npm test --silent", "pretest test posttest"),
            ("npm run --silent x -- y", "prex x postx"),
            ("yarn x", "prex x postx"),
            ("pnpm -r run x", "prex x postx"),
            ("yarn workspaces foreach -A run x", "prex x postx"),
            ("deno task --quiet x y", "prex x postx"),
            ("make -s t V=1", "t"),
            ("just t u", "t u"),
            ("make -C sub -j 4 -f x.mk", ""),
        ] {
            let code = Code::of_check(check);
            assert_eq!(asked(&code.calls()[0]).join(" "), expected, "{check}");
        }
    }
}
