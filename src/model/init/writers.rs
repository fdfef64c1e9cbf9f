//! Which tasks do more than look: they change files, send something away or start what does not end. Their text tells where it is known,
//! and where it tells nothing, their name. Pure.

use crate::model::check::{self, Does, Done};
use crate::model::text;

/// Returns the text of a task that a program runs by its name, or without one, where it is known.
pub(super) type TextOf<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// The program for which the text of a shell's script is asked, by its path.
pub(super) const SHELL: &str = "sh";
/// Why a task makes no goal that is called as one that changes files.
pub(super) const BY_NAME: &str = "it changes files; a goal only looks";
/// How much is shown of a command.
const SHOWN: usize = 40;
/// How many bytes of the texts of tasks that call each other are followed, where a task counts as so many at least.
const MOST_FOLLOWED: usize = 16 * 1024;
const LEAST_OF_TASK: usize = 1024;
/// Words in the name of a task that says what it looks for.
const LOOKS: [&str; 6] = ["check", "ci", "diff", "dry", "lint", "verify"];
/// Words in the name of a task that runs tests, be they of what formats.
const TESTS: [&str; 3] = ["spec", "test", "tests"];
/// Who runs the scripts of package.json.
pub(super) const NODE: [&str; 4] = ["npm", "pnpm", "yarn", "bun"];
/// Who runs several scripts of package.json.
const OF_SCRIPTS: [&str; 4] = ["run-s", "run-p", "npm-run-all", "concurrently"];
/// What stands before the name of a script of package.json.
const RUN: [&str; 5] = ["run", "run-script", "rum", "urn", "foreach"];
/// Who runs tasks by their names.
const RUNNERS: [Runner; 16] = [
    Runner::of("make", &OF_MAKE),
    Runner::of("gmake", &OF_MAKE),
    Runner::of("just", &["-d", "-f", "--justfile", "--working-directory"]),
    Runner::of("task", &["-d", "-t", "--dir", "--taskfile"]),
    Runner::of("rake", &["-C", "-f", "--directory", "--rakefile"]),
    Runner::of("cargo make", &["-p", "--cwd", "--makefile", "--profile"]),
    Runner::of("cargo xtask", &[]),
    Runner::of("run-s", &[]),
    Runner::of("run-p", &[]),
    Runner::of("npm-run-all", &[]),
    Runner::of("concurrently", &["-n", "-c", "--names"]),
    Runner::of("turbo run", &[]),
    Runner::of("turbo", &[]),
    Runner::of("lerna run", &["--scope"]),
    Runner::by("tox", &["-e", "-f", "-m", "--env"], "ahlqrv"),
    Runner::by(
        "nox",
        &["-e", "-s", "-t", "--session", "--sessions", "--tags"],
        "Rhlrvx",
    ),
];

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

/// How options begin by which make and just read another file.
const ELSEWHERE: [&str; 6] = [
    "-C",
    "-f",
    "--directory",
    "--file",
    "--makefile",
    "--justfile",
];

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
            takes: &[],
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
                let mut operands = check::operands(&rest, |word| self.takes.contains(&word));
                operands.retain(|word| !word.contains('='));
                operands
            }
            options => values(&rest, options, self.flags),
        })
    }
}

/// Returns the words from the module on that Python is to run: `python3 -m tox -e a`.
fn of_module(words: &[String]) -> &[String] {
    match words {
        [python, option, module @ ..] if python.starts_with("python") && option == "-m" => module,
        words => words,
    }
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

/// Says why a task makes no goal, if it does more than look.
pub(super) fn of_task(name: &str, text: &str, text_of: TextOf) -> Option<String> {
    task(name, Some(text), text_of, &mut { MOST_FOLLOWED }).map(why)
}

/// Says why commands make no goal, if one does more than look.
pub(super) fn of_commands(text: &str, text_of: TextOf) -> Option<String> {
    command(text, text_of, &mut { MOST_FOLLOWED }).map(why)
}

/// Says why commands make no goal, if one sends something away.
pub(super) fn sends(text: &str, text_of: TextOf) -> Option<String> {
    let mut all = harms(text, text_of, &mut { MOST_FOLLOWED }).into_iter();
    all.find(|harm| harm.does == Does::Sends).map(why)
}

/// Says why a script that checks makes no goal: it sends something away, or changes the machine. What files it changes may be its own.
pub(super) fn of_script(path: &str, text_of: TextOf) -> Option<String> {
    let by_name = sends(&format!("sh {}", text::shell_word(path)), text_of);
    by_name.or_else(|| sent_by(path, text_of, &mut { MOST_FOLLOWED }).map(why))
}

/// What makes a command no goal.
struct Harm {
    does: Does,
    /// The command that does it, as it is typed; where a name alone tells, none.
    command: Option<String>,
    /// The command that does it in what this one runs by its name, where the text of that is known.
    by: Option<String>,
}

impl Harm {
    fn of(does: Does) -> Harm {
        Harm {
            does,
            command: None,
            by: None,
        }
    }

    /// Returns it as what a command does by what it runs.
    fn by(self, command: String) -> Harm {
        Harm {
            does: self.does,
            command: Some(command),
            by: self.by.or(self.command),
        }
    }
}

fn why(harm: Harm) -> String {
    let shown = |command: &String| text::clean_line(&text::cut(command, SHOWN));
    let by = harm.by.as_ref().map(|by| format!(": {}", shown(by)));
    let command = harm.command.as_ref();
    let command = command.map(|command| format!(" ({}{})", shown(command), by.unwrap_or_default()));
    let command = command.unwrap_or_default();
    match harm.does {
        Does::Sends => format!("it sends something away{command}"),
        Does::Serves => format!("it starts what does not end by itself{command}"),
        Does::Alters => format!("it changes the machine{command}"),
        Does::Writes | Does::Looks | Does::Nothing | Does::Unknown => {
            format!("it changes files{command}; a goal only looks")
        }
    }
}

/// Says what a task does that makes it no goal, and with which command if its text tells.
fn task(name: &str, text: Option<&str>, text_of: TextOf, left: &mut usize) -> Option<Harm> {
    let text = text.unwrap_or_default();
    match command(text, text_of, left) {
        Some(harm) => Some(harm),
        None if check::done(text).iter().any(|one| one.does == Does::Looks) => None,
        None => is_called_a_writer(name).then(|| Harm::of(Does::Writes)),
    }
}

/// The same of a task that another one calls, and which may be there for more than looking.
fn called(name: &str, text: Option<&str>, text_of: TextOf, left: &mut usize) -> Option<Harm> {
    let by_name = || match () {
        () if check::is_called_a_sender(name) => Some(Harm::of(Does::Sends)),
        () if check::is_called_a_server(name) => Some(Harm::of(Does::Serves)),
        () => None,
    };
    task(name, text, text_of, left).or_else(by_name)
}

/// Returns the first command of a text that makes it no goal.
fn command(text: &str, text_of: TextOf, left: &mut usize) -> Option<Harm> {
    let first = harms(text, text_of, left).into_iter().next();
    first.or_else(|| asked(text))
}

/// Returns what the commands of a text do that makes it no goal.
fn harms(text: &str, text_of: TextOf, left: &mut usize) -> Vec<Harm> {
    let all = check::done(text);
    let begins = |one: &Done, words: &[&str]| one.words.iter().zip(words).all(|(a, b)| a == b);
    // What git changes in a repository that is made for it is nobody's.
    let is_of_git = |one: &Done| one.words[0] == "git";
    let makes_its_own = all.iter().any(|one| begins(one, &["git", "init"]));
    let is_own = |one: &&Done| !(makes_its_own && is_of_git(one));
    let goes_on_beside = goes_on_beside(text);
    let ends = |one: &Done| one.does == Does::Serves || one.words[0] == "kill";
    let mut found = Vec::new();
    for one in all.iter().filter(is_own) {
        let harm = does(one, text_of, left).filter(|harm| !is_of_its_own(one, harm));
        let is_ended = |harm: &Harm| goes_on_beside && (ends(one) || harm.does == Does::Serves);
        found.extend(
            harm.filter(|harm| !is_ended(harm))
                .map(|harm| harm.by(one.typed())),
        );
    }
    let altering = check::altering(text).map(|what| Harm::of(Does::Alters).by(what));
    found.into_iter().chain(altering).collect()
}

/// Says whether what a command installs stays in an environment that it makes for it.
fn is_of_its_own(one: &Done, harm: &Harm) -> bool {
    let program = of_module(&one.words).first();
    let makes_one = program.is_some_and(|it| ["nox", "tox"].contains(&it.as_str()));
    makes_one && harm.does == Does::Alters
}

/// Says whether a text leaves a command to itself: what goes on so is ended with the check.
fn goes_on_beside(text: &str) -> bool {
    let others = ["&&", ">&", "&>", "<&"];
    let rest = others
        .iter()
        .fold(text.to_owned(), |rest, other| rest.replace(other, ""));
    rest.contains('&')
}

/// Returns the command behind others by which git is asked what these changed.
fn asked(text: &str) -> Option<Harm> {
    let commands = check::commands(text);
    let asks = |command: &String| {
        let begins = |words: &str| command.starts_with(words);
        let has = |all: &[&str]| command.split(' ').any(|word| all.contains(&word));
        begins("git diff ") && has(&["--exit-code", "--quiet"])
            || begins("git status ") && has(&["--porcelain", "--short", "-s"])
    };
    let at = commands.iter().position(asks)?;
    let mut before = commands[..at].iter().rev();
    let before = before.find(|command| !command.starts_with("git "))?;
    Some(Harm::of(Does::Writes).by(format!("{} behind {before}", commands[at])))
}

/// Says what a command does that makes it no goal, and what does so in what it runs by its name.
fn does(one: &Done, text_of: TextOf, left: &mut usize) -> Option<Harm> {
    let words = &one.words;
    let program = words[0].as_str();
    if matches!(
        one.does,
        Does::Sends | Does::Serves | Does::Writes | Does::Alters
    ) {
        return Some(Harm::of(one.does));
    }
    if NODE.contains(&program) {
        return script(words, text_of, left);
    }
    if let Some(named) = tasks_of(words) {
        let is_elsewhere = leads_on(words);
        let mut named = named.iter().filter(|_| one.does != Does::Looks);
        return named.find_map(|(runner, name)| {
            let text = text_of(runner, name).filter(|_| !is_elsewhere);
            let text = text.filter(|text| is_followed(text, left));
            called(name, text.as_deref(), text_of, left)
        });
    }
    let is_named = is_named_so(program) || begins_so(words);
    let script = script_of(words).filter(|_| one.does != Does::Looks);
    if let Some(harm) = script.and_then(|script| sent_by(script, text_of, left)) {
        return Some(harm);
    }
    match one.does {
        Does::Unknown if script.is_some_and(is_called_so) => Some(Harm::of(Does::Sends)),
        Does::Unknown if is_named => Some(Harm::of(Does::Writes)),
        _ => None,
    }
}

/// Returns the tasks that a command runs, each with who knows their texts; none if it is of a program that runs none.
fn tasks_of(words: &[String]) -> Option<Vec<(&'static str, &str)>> {
    let run = |runner: &Runner| Some((runner.program, runner.tasks(words)?));
    let (runner, mut tasks) = RUNNERS.iter().find_map(run)?;
    if tasks.is_empty() {
        tasks.push("");
    }
    let of = match OF_SCRIPTS.contains(&runner) {
        true => NODE[0],
        false => runner,
    };
    let named = tasks.into_iter();
    Some(
        named
            .map(|name| (of, name.trim_start_matches("npm:")))
            .collect(),
    )
}

/// Says whether a command makes its program read another file of tasks.
fn leads_on(words: &[String]) -> bool {
    let leads_on = |word: &String| ELSEWHERE.iter().any(|option| word.starts_with(option));
    words.iter().any(leads_on)
}

/// Returns the commands of a text with those of the tasks that it runs by their names, where their texts are known.
pub(super) fn reached(text: &str, text_of: TextOf) -> Vec<Done> {
    let mut left = MOST_FOLLOWED;
    let mut texts = vec![text.to_owned()];
    let mut found = Vec::new();
    while let Some(text) = texts.pop() {
        for one in check::done(&text) {
            let words = &one.words;
            let script = script_at(words).filter(|_| NODE.contains(&words[0].as_str()));
            let named = match script {
                Some(at) => Some(vec![(words[0].as_str(), words[at].as_str())]),
                None => tasks_of(words).filter(|_| !leads_on(words)),
            };
            let called = named.into_iter().flatten();
            let called = called.filter_map(|(program, name)| text_of(program, name));
            texts.extend(called.filter(|text| is_followed(text, &mut left)));
            found.push(one);
        }
    }
    found
}

/// Returns the file of a script that a command runs: itself, or what it hands to an interpreter.
fn script_of(words: &[String]) -> Option<&str> {
    const INTERPRETERS: [&str; 8] = [
        "bash", "node", "perl", "python", "python3", "ruby", "sh", "zsh",
    ];
    let program = words[0].as_str();
    let is_path = |word: &str| word.contains('/') || word.contains('.');
    match INTERPRETERS.contains(&program) {
        true => {
            let mut operands = words[1..].iter().filter(|word| !word.starts_with('-'));
            operands.next().map(String::as_str).filter(|it| is_path(it))
        }
        false => program.contains('/').then_some(program),
    }
}

/// Returns what a script of a shell sends away, or changes of the machine. What files it changes may be its own, so that they count
/// for nothing.
fn sent_by(script: &str, text_of: TextOf, left: &mut usize) -> Option<Harm> {
    let text = text_of(SHELL, script).filter(|text| is_followed(text, left))?;
    let mut all = harms(&text, text_of, left).into_iter();
    all.find(|harm| matches!(harm.does, Does::Sends | Does::Alters))
}

/// Says whether a script's file is called as one that sends something away.
fn is_called_so(path: &str) -> bool {
    check::is_called_a_sender(path.rsplit('/').next().unwrap_or(path))
}

/// Says whether so much is left that a text is followed, too.
fn is_followed(text: &str, left: &mut usize) -> bool {
    let rest = left.checked_sub(text.len().max(LEAST_OF_TASK));
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// Says what a script of package.json does with what it is handed that makes it no goal.
fn script(words: &[String], text_of: TextOf, left: &mut usize) -> Option<Harm> {
    let at = script_at(words)?;
    let (program, name) = (words[0].as_str(), words[at].as_str());
    let handed = handed_on(program, &words[at + 1..]);
    match text_of(program, name).filter(|text| is_followed(text, left)) {
        Some(text) => {
            let whole = [vec![text], handed].concat().join(" ");
            called(name, Some(&whole), text_of, left)
        }
        None if check::is_to_look(&handed) || words.iter().any(|it| it == "--dry-run") => None,
        None => called(name, None, text_of, left),
    }
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

/// Says whether a program, or a script's file, is called as one that changes files.
fn is_named_so(program: &str) -> bool {
    let file = program.rsplit('/').next().unwrap_or(program);
    let is_of_tasks = program.contains(['/', ':']) || ["fix", "fmt", "format"].contains(&file);
    is_of_tasks && is_called_a_writer(file)
}

/// Says whether the first word that a program is given has it change files: `poe format`.
fn begins_so(words: &[String]) -> bool {
    let mut operands = words.iter().skip(1).filter(|word| !word.starts_with('-'));
    let first = operands.next().map(String::as_str);
    let looks = operands
        .next()
        .is_some_and(|word| LOOKS.contains(&word.as_str()));
    matches!(first, Some("fix" | "fmt" | "format")) && !looks
}

/// Says whether a task is called as one that changes files: it mends, or it formats and no word says that it only looks.
pub(super) fn is_called_a_writer(name: &str) -> bool {
    let words = || name.split(|c: char| !c.is_ascii_alphanumeric());
    let has = |all: &[&str]| words().any(|word| all.contains(&word));
    let formats = has(&["fmt", "format", "prettier"]) && !has(&LOOKS);
    !has(&TESTS) && (has(&["fix"]) || formats)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(program: &str, name: &str) -> Option<String> {
        let text = match name {
            "format" => "prettier --write .",
            "pretty" => "prettier --write --list-different .",
            "show-format" => "prettier .",
            "fmt-ruff" => "ruff format --check",
            "both" => "npm run lint && npm run format",
            "self" => "npm run self",
            "lint" => "eslint .",
            "lint:*" => "eslint .\nprettier --write .",
            "" if program == "tox" => "prettier --write .",
            _ => return None,
        };
        Some(text.to_owned())
    }

    #[test]
    fn commands_that_change_files_are_told_by_texts_and_where_these_are_not_known_by_names() {
        for (text, writes) in [
            ("npm run format -- --check", true),
            ("npm run format --check", true),
            ("npm run show-format -- --check", false),
            ("npm run show-format --check", true),
            ("yarn show-format --check", false),
            ("npm run pretty", true),
            ("npm run both", true),
            ("npm run self", false),
            ("npm run lint", false),
            ("npm run lint -- --fix", true),
            ("yarn lint --fix", true),
            ("bun run lint --fix", true),
            ("npm --prefix web run fmt", true),
            ("pnpm --filter web fmt", true),
            ("pnpm -r run fmt", true),
            ("yarn workspace web fmt", true),
            ("npm run fmt:check", false),
            ("npm run test:format", false),
            ("npm test", false),
            ("make fmt-ruff", false),
            ("make", false),
            ("python3 -m tox", true),
            ("tox --version", false),
            ("make test-prettier-plugin", false),
            ("make test_fix", false),
            ("make -C fmt test", false),
            ("make -C fmt fmt", true),
            ("make pretty", true),
            ("make -C sub pretty", false),
            ("make -f format.mk test", false),
            ("make check-format", false),
            ("make lint-format", false),
            ("make fmt", true),
            ("just -d fix test", false),
            ("tox -e fmt", true),
            ("tox -eformat", true),
            ("tox -e lint,format", true),
            ("tox -e py", false),
            ("tox -e py -- tests/test_format.py", false),
            ("tox -e py-fix", true),
            ("tox run -e py312-fix", true),
            ("tox -qe fix", true),
            ("tox -p auto -e fix", true),
            ("python3 -m tox -e fix", true),
            ("uvx tox -e fix", true),
            ("tox -e test-format", false),
            ("tox -e py-format-check", false),
            ("tox -re lint", false),
            ("python -m nox -s format", true),
            ("nox -rs format", true),
            ("nox -R -s 'format-3.12'", true),
            ("nox -s 'format(python=\"3.12\")'", true),
            ("nox -k format", false),
            ("nox -rs tests_format", false),
            ("nox -s=fmt", true),
            ("nox -s lint fmt", true),
            ("nox -s tests -- format", false),
            ("cargo make format", true),
            ("cargo xtask fmt --check", false),
            ("hatch run fmt", true),
            ("hatch run style:fmt", true),
            ("uv run poe format", true),
            ("uv run poe format --check", false),
            ("./scripts/format.sh", true),
            ("./scripts/format.sh --check", false),
            ("./scripts/check-format.sh", false),
            ("node_modules/.bin/clang-format --dry-run a.c", false),
            ("yarn prettier --check .", false),
            ("run-s lint", false),
            ("npx run-p lint 'lint:*'", true),
            ("npm-run-all -s both", true),
            ("concurrently 'npm:format' npm:lint", true),
            ("turbo run format --cache-dir=x", true),
            ("turbo run lint test", false),
            ("lerna run fmt", true),
            ("npm run gen && git diff --exit-code", true),
            ("npm run gen\ntest -z \"$(git status --porcelain)\"", true),
            ("git fetch && git diff --exit-code origin/main", false),
            ("git diff --name-only main | xargs eslint", false),
            ("npm run lint && git diff --check", false),
            ("black --check .", false),
            ("bash -eo pipefail -c 'black . | tee log'", true),
            ("A=b bash -e -c 'cd a\nblack --check .'", false),
            ("biome format .", false),
            ("swift format lint .", false),
            ("pytest tests/format", false),
            ("grep -rn fmt src", false),
        ] {
            assert_eq!(of_commands(text, &text_of).is_some(), writes, "{text}");
        }
    }

    #[test]
    fn the_command_that_changes_files_is_named_behind_the_task_that_runs_it() {
        for (text, command) in [
            ("black .", "black ."),
            ("make lint", ""),
            ("npm run format", "npm run format: prettier --write ."),
            ("npm run both", "npm run both: prettier --write ."),
            ("npm run lint -- --fix", "npm run lint -- --fix"),
            ("npm run fmt", "npm run fmt"),
            ("gen && git diff --quiet", "git diff --quiet behind gen"),
        ] {
            let why = match command {
                "" => None,
                command => Some(format!("it changes files ({command}); a goal only looks")),
            };
            assert_eq!(of_commands(text, &text_of), why, "{text}");
        }
    }

    #[test]
    fn a_tasks_text_beats_its_name() {
        for (name, text, writes) in [
            ("lint", "sed -i s/foo/bar/ f.txt", true),
            ("lint", "ruff check --fix .", true),
            ("check:fmt", "prettier -w .", true),
            ("pretty", "prettier --write --list-different .", true),
            ("fmt", "prettier --check .", false),
            ("fmt", "./x", true),
            ("fmt", "", true),
            ("lint-format", "./x", false),
            ("test-fmt", "./x", false),
        ] {
            let why = of_task(name, text, &text_of);
            assert_eq!(why.is_some(), writes, "{name}: {text}: {why:?}");
        }
    }
}
