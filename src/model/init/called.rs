//! Which tasks a command runs by their names, and where: those of make, of package.json and their like. Pure.

use crate::model::check::{self, Done, of_module};

/// Returns the texts of a task, as they run where the command does that asks for it; none where they are not known.
pub(super) type TextsOf<'a> = &'a dyn Fn(&Task) -> Vec<String>;

/// The program for which the text of a shell's script is asked, by its path.
pub(super) const SHELL: &str = "sh";
/// Who runs the scripts of package.json.
pub(super) const NODE: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];
/// What stands around commands that check, and looks at nothing.
pub(super) const AROUND: [&str; 9] = [
    ":", "cd", "echo", "export", "mkdir", "printf", "pwd", "set", "true",
];
/// Who runs what checks a commit.
pub(super) const HOOKS: &str = "pre-commit run";
/// Who does so by a file of its own, too.
pub(super) const PREK: &str = "prek run";
/// Who runs several scripts of package.json.
const OF_SCRIPTS: [&str; 4] = ["run-s", "run-p", "npm-run-all", "concurrently"];
/// Who runs the scripts of that name of every package.
const OF_PACKAGES: [&str; 5] = [
    "turbo run",
    "turbo",
    "lerna run",
    "nx run-many",
    "nx affected",
];
/// Who is asked for one task: what stands behind it is for that.
const OF_ONE: [&str; 4] = ["cargo", "composer", "deno task", "mise run"];
/// What stands before the name of a task.
const RUN: [&str; 5] = ["run", "run-script", "rum", "urn", "foreach"];
/// What these do themselves where no such word stands before it.
const OWN: [(&str, &[&str]); 5] = [
    ("bun", &["audit", "build", "pm", "test"]),
    (
        "composer",
        &[
            "audit",
            "check-platform-reqs",
            "diagnose",
            "licenses",
            "validate",
        ],
    ),
    ("npm", &["audit", "exec", "pack", "publish", "query"]),
    ("pnpm", &["audit", "exec", "licenses", "pack", "publish"]),
    (
        "yarn",
        &["audit", "constraints", "dedupe", "exec", "npm", "pack"],
    ),
];
/// Who runs tasks by their names.
const RUNNERS: [Runner; 29] = [
    Runner::of("make", &OF_MAKE),
    Runner::of("gmake", &OF_MAKE),
    Runner::of("just", &["-d", "-f", "--justfile", "--working-directory"]),
    Runner::of("task", &["-d", "-t", "--dir", "--taskfile"]),
    Runner::of("rake", &["-C", "-f", "--directory", "--rakefile"]),
    Runner::of("cargo make", &["-p", "--cwd", "--makefile", "--profile"]),
    Runner::of("cargo", &["--color", "--config"]),
    Runner::of("composer", &["-d", "--working-dir"]),
    Runner::of("deno task", &["-c", "--config", "--cwd"]),
    Runner::of("doit", &["-d", "-f", "--dir", "--file"]),
    Runner::of("inv", &["-c", "-r"]),
    Runner::of("invoke", &["-c", "-r"]),
    Runner::of("mage", &["-C", "-d", "-w"]),
    Runner::of("mise run", &["-C", "--cd"]),
    Runner::of("poe", &["-C", "--directory"]),
    Runner::of("run-s", &[]),
    Runner::of("run-p", &[]),
    Runner::of("npm-run-all", &[]),
    Runner::of("concurrently", &["-n", "-c", "--names"]),
    Runner::of("turbo run", &["-F", "--filter"]),
    Runner::of("turbo", &["-F", "--filter"]),
    Runner::of("lerna run", &["--scope"]),
    Runner::by("nx run-many", &OF_NX, ""),
    Runner::by("nx affected", &OF_NX, ""),
    Runner::of(HOOKS, &OF_HOOKS),
    Runner::of("pre_commit run", &OF_HOOKS),
    Runner::of(PREK, &OF_HOOKS),
    Runner::by("tox", &["-e", "-f", "-m", "--env"], "ahlqrv"),
    Runner::by(
        "nox",
        &["-e", "-s", "-t", "--session", "--sessions", "--tags"],
        "Rhlrvx",
    ),
];
const OF_NX: [&str; 3] = ["-t", "--target", "--targets"];
const MAKES: [&str; 2] = ["make", "gmake"];
/// Options of make behind which a number may stand.
const OF_JOBS: [&str; 4] = ["-j", "-l", "--jobs", "--load-average"];
const OF_MAKE: [&str; 8] = [
    "-C",
    "-f",
    "-I",
    "-o",
    "-W",
    "--directory",
    "--file",
    "--makefile",
];
const OF_HOOKS: [&str; 7] = [
    "-c",
    "--config",
    "--color",
    "--from-ref",
    "--hook-stage",
    "--stage",
    "--to-ref",
];
/// Options that name their file.
const FILES: [&str; 9] = [
    "-c",
    "-f",
    "-t",
    "--config",
    "--file",
    "--justfile",
    "--makefile",
    "--rakefile",
    "--taskfile",
];

/// A task that a command runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Task<'w> {
    /// Who runs it; for all that run the scripts of package.json, the first of them.
    pub program: &'w str,
    /// Its name; empty for what runs where none is asked for.
    pub name: &'w str,
    /// Where it stands.
    pub place: Place<'w>,
    /// The file in which it stands, where that is named.
    pub file: Option<&'w str>,
    /// What its text is handed, behind all that stands there.
    pub handed: Vec<String>,
}

/// Where a task stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place<'w> {
    /// In a folder, seen from where the text runs that asks for it.
    Folder(String),
    /// In the package of this name, or in that folder.
    Package(&'w str),
    /// In every package.
    Packages,
    /// That cannot be told.
    Unknown,
}

impl Task<'_> {
    /// Makes the task of this name, in the folder of the text that asks for it, which is handed nothing.
    pub(super) fn named<'w>(program: &'w str, name: &'w str) -> Task<'w> {
        Task {
            program,
            name,
            place: Place::Folder(String::new()),
            file: None,
            handed: Vec::new(),
        }
    }

    /// Makes the task that is a shell's script.
    pub(super) fn of_script<'w>(path: &'w str, dir: Option<&str>) -> Task<'w> {
        Task {
            program: SHELL,
            name: path,
            place: dir.map_or(Place::Unknown, |dir| Place::Folder(dir.to_owned())),
            file: None,
            handed: Vec::new(),
        }
    }
}

/// A program that runs tasks by their names.
struct Runner {
    /// The words it begins with.
    program: &'static str,
    /// Its options whose value is the next word.
    takes: &'static [&'static str],
    /// Its options whose values are tasks; where there are none, its operands are.
    named_by: &'static [&'static str],
    /// The letters that may stand before one of these in a word, as in `-rs`.
    flags: &'static str,
}

impl Runner {
    const fn of(program: &'static str, takes: &'static [&'static str]) -> Runner {
        Runner {
            program,
            takes,
            named_by: &[],
            flags: "",
        }
    }

    const fn by(
        program: &'static str,
        named_by: &'static [&'static str],
        flags: &'static str,
    ) -> Runner {
        Runner {
            program,
            takes: &["-c", "--config"],
            named_by,
            flags,
        }
    }

    /// Returns the tasks that a command runs; none if it is of another program.
    fn tasks<'w>(&self, words: &'w [String]) -> Option<Vec<&'w str>> {
        let mut rest = of_module(words).iter().map(String::as_str);
        let mut begins = self.program.split(' ');
        if !begins.all(|word| rest.next() == Some(word)) {
            return None;
        }
        // What stands behind is for what the task runs.
        let rest: Vec<&str> = rest.take_while(|word| *word != "--").collect();
        Some(match self.named_by {
            [] => {
                let rest = match MAKES.contains(&self.program) {
                    true => without_jobs(&rest),
                    false => rest,
                };
                let mut operands = check::operands(&rest, |word| self.takes.contains(&word));
                operands.retain(|word| !word.contains('=') && !word.starts_with('+'));
                if OF_ONE.contains(&self.program) {
                    operands.retain(|word| !RUN.contains(word));
                    operands.truncate(1);
                }
                operands
            }
            options => values(&rest, options, self.flags),
        })
    }

    /// Returns the file of tasks that it is told to read.
    fn file<'w>(&self, words: &'w [String]) -> Option<&'w str> {
        let mut own = FILES.iter().filter(|it| self.takes.contains(it));
        own.find_map(|option| value_of(words, &[option]))
    }

    /// Returns what the tasks are handed: what stands behind `--`, or behind the name where only one is asked for.
    fn handed(&self, words: &[String], named: &[&str]) -> Vec<String> {
        let is_name = |word: &String| named.first() == Some(&word.as_str());
        let is_of_one = OF_ONE.contains(&self.program);
        let mut places = words.iter();
        let from = match places.position(|word| is_of_one && is_name(word) || word == "--") {
            Some(at) => at + 1,
            None => words.len(),
        };
        let rest = words[from..].iter().filter(|word| *word != "--");
        rest.cloned().collect()
    }
}

/// Returns the words of a call of make without how many jobs it may run at once: `-j 4`, `-j $(nproc)`.
fn without_jobs<'w>(words: &[&'w str]) -> Vec<&'w str> {
    let is_number = |word: &str| word.starts_with('$') || word.parse::<f64>().is_ok();
    let asks = |word: &str| OF_JOBS.contains(&word);
    let mut before = "";
    let mut kept = words.to_vec();
    kept.retain(|word| {
        let is_jobs = asks(before) && is_number(word);
        before = word;
        !is_jobs
    });
    kept
}

/// Returns the tasks that a command runs by their names; none if its program runs none, an empty list if it does something itself.
pub(super) fn tasks(one: &Done) -> Option<Vec<Task<'_>>> {
    let words = &one.words;
    let program = words[0].as_str();
    if NODE.contains(&program) {
        return Some(Vec::from_iter(script(one)));
    }
    if let Some(task) = run_by_node(one) {
        return Some(vec![task]);
    }
    let run = |runner: &'static Runner| Some((runner, runner.tasks(words)?));
    let (runner, mut named) = RUNNERS.iter().find_map(run)?;
    if named.first().is_some_and(|name| is_own(words, name)) {
        return Some(Vec::new());
    }
    let handed = runner.handed(words, &named);
    if named.is_empty() {
        named.push("");
    }
    let folder = place_of(one);
    let (program, place) = match runner.program {
        name if OF_SCRIPTS.contains(&name) => (NODE[0], folder),
        name if OF_PACKAGES.contains(&name) => (NODE[0], Place::Packages),
        "pre_commit run" => (HOOKS, folder),
        name => (name, folder),
    };
    let all = named.into_iter().map(|name| Task {
        program,
        name: without_marks(name),
        place: place.clone(),
        file: runner.file(words),
        handed: handed.clone(),
    });
    Some(all.collect())
}

/// Says whether a program does what it is asked for itself.
fn is_own(words: &[String], name: &str) -> bool {
    let mut own = OWN.iter();
    let is_run = words.iter().any(|word| RUN.contains(&word.as_str()));
    !is_run && own.any(|(program, own)| *program == words[0] && own.contains(&name))
}

/// Returns the name of a task without what tells whose it is: `npm:lint`, `web#lint`.
fn without_marks(name: &str) -> &str {
    let name = name.rsplit('#').next().unwrap_or(name);
    name.trim_start_matches("npm:")
}

/// Returns where a command runs, be it told by an option.
fn place_of(one: &Done) -> Place<'static> {
    let dir = one.dir.clone().filter(|dir| !dir.contains('$'));
    dir.map_or(Place::Unknown, Place::Folder)
}

/// Returns the script of package.json that a command runs.
fn script(one: &Done) -> Option<Task<'_>> {
    let words = &one.words;
    let program = words[0].as_str();
    let at = script_at(words).filter(|at| !is_own(words, &words[*at]))?;
    // Of npm they may stand behind the script's name, too.
    let end = words.iter().position(|word| word == "--");
    let own = match program {
        "npm" => &words[1..end.unwrap_or(words.len())],
        _ => &words[1..at],
    };
    let has = |all: &[&str]| own.iter().any(|word| all.contains(&word.as_str()));
    let named = match program {
        "npm" => value_of(own, &["--workspace", "-w"]),
        "yarn" => {
            let at = own.iter().position(|word| word == "workspace");
            at.and_then(|at| own.get(at + 1)).map(String::as_str)
        }
        _ => value_of(own, &["--filter", "-F"]),
    };
    let all = ["--recursive", "--workspaces", "-r", "-ws", "workspaces"];
    let place = match named {
        None if has(&all) => Place::Packages,
        Some(_) if has(&["-ws"]) => Place::Packages,
        Some(pattern) if pattern.contains(['*', '{', '[', '!']) => Place::Packages,
        Some(name) => Place::Package(name.trim_start_matches("./").trim_matches('.')),
        None => place_of(one),
    };
    Some(Task {
        program: NODE[0],
        name: &words[at],
        place,
        file: None,
        handed: handed_on(program, &words[at + 1..]),
    })
}

/// Returns the script of package.json that Node runs itself.
pub(super) fn run_by_node(one: &Done) -> Option<Task<'_>> {
    let (name, handed) = check::run_by_node(&one.words)?;
    Some(Task {
        program: NODE[0],
        name,
        place: place_of(one),
        file: None,
        handed: handed.to_vec(),
    })
}

/// Returns the values of options, before which letters of `flags` may stand: `-e a,b`, `-ea`, `-re a`, `-e=a`, `--env=a`, `-s a b`.
fn values<'w>(words: &[&'w str], options: &[&str], flags: &str) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut is_value = false;
    for word in words {
        let is_option = word.starts_with('-');
        let joined = options.iter().find_map(|option| {
            let is_short = !option.starts_with("--");
            let value = match option.strip_prefix('-').filter(|_| is_short) {
                Some(letter) => {
                    let letters = word.strip_prefix('-')?;
                    letters
                        .trim_start_matches(|c| flags.contains(c))
                        .strip_prefix(letter)?
                }
                None => word.strip_prefix(option)?,
            };
            (is_short || value.is_empty() || value.starts_with('=')).then_some(value)
        });
        match (is_option, joined) {
            (true, Some(value)) => {
                is_value = value.is_empty();
                let values = value.trim_start_matches('=').split(',');
                found.extend(values.filter(|value| !value.is_empty()));
            }
            (true, None) => is_value = false,
            (false, _) if is_value => found.extend(word.split(',')),
            (false, _) => {}
        }
    }
    found
}

/// Returns what a script is handed. npm takes options before `--` for its own.
fn handed_on(program: &str, rest: &[String]) -> Vec<String> {
    let end = rest.iter().position(|word| word == "--");
    let (before, behind) = rest.split_at(end.unwrap_or(rest.len()));
    let is_handed = |word: &&String| program != "npm" || !word.starts_with('-');
    let before = before.iter().filter(is_handed);
    before.chain(behind.iter().skip(1)).cloned().collect()
}

/// Returns where the name of a script stands in the words of a package manager.
pub(super) fn script_at(words: &[String]) -> Option<usize> {
    const TAKES: [&str; 9] = [
        "--prefix",
        "-C",
        "--dir",
        "--cwd",
        "--filter",
        "-F",
        "--workspace",
        "-w",
        "--include",
    ];
    let mut at = 1;
    loop {
        let word = words.get(at)?.as_str();
        match word {
            // pnpm's `-w` takes nothing.
            "-w" if words[0] == "pnpm" => at += 1,
            "workspace" => at += 2,
            word if TAKES.contains(&word) => at += 2,
            "workspaces" => at += 1,
            word if RUN.contains(&word) || word.starts_with('-') => at += 1,
            _ => return Some(at),
        }
    }
}

/// Returns the value of the first of these options: the next word, what stands behind `=`, or close behind a letter.
pub(super) fn value_of<'w>(words: &'w [String], options: &[&str]) -> Option<&'w str> {
    let mut places = 0..words.len();
    places.find_map(|at| {
        let mut options = options.iter();
        options.find_map(|option| match words[at].strip_prefix(option)? {
            "" => words.get(at + 1).map(String::as_str),
            value if !option.starts_with("--") => Some(value),
            value => value.strip_prefix('='),
        })
    })
}
