//! Which tasks do more than look: they change files, send something away or start what does not end. Their text tells where it is known,
//! and where it tells nothing, their name. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::called::{self, HOOKS, NODE, PREK, Place, Task, TextsOf};
use crate::model::check::{self, Does, Done, of_module};
use crate::model::{mask, text};

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

/// A variable, as a shell has it, or a command whose output stands for itself.
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\$(?:\w+|[@*?]|\{[^{}\n]*\}|\([^()\n]*\))")
        .expect("BUG: a pattern of ours is no pattern")
});

/// Says why a task makes no goal, if it does more than look.
pub(super) fn of_task(name: &str, text: &str, texts_of: TextsOf) -> Option<String> {
    task(name, Some(text), texts_of, &mut Left::default()).map(why)
}

/// Says why commands make no goal, if one does more than look.
pub(super) fn of_commands(text: &str, texts_of: TextsOf) -> Option<String> {
    command(text, texts_of, &mut Left::default()).map(why)
}

/// Says why commands make no goal, if one sends something away.
pub(super) fn sends(text: &str, texts_of: TextsOf) -> Option<String> {
    let mut all = harms(text, texts_of, &mut Left::default()).into_iter();
    all.find(|harm| harm.does == Does::Sends).map(why)
}

/// Says why a script that checks makes no goal: it sends something away, or changes the machine. What files it changes may be its own.
pub(super) fn of_script(path: &str, body: &str, texts_of: TextsOf) -> Option<String> {
    let mut all = harms(body, texts_of, &mut Left::default()).into_iter();
    let harm = all.find(|harm| matches!(harm.does, Does::Sends | Does::Alters));
    let harm = harm.or_else(|| is_called_so(path).then(|| Harm::of(Does::Sends)));
    harm.map(|harm| why(harm.by(format!("sh {}", text::shell_word(path)))))
}

/// What is left to follow of the texts of tasks that call each other, and which are being followed.
struct Left {
    bytes: usize,
    open: Vec<(String, Place<'static>)>,
}

impl Default for Left {
    fn default() -> Left {
        Left {
            bytes: MOST_FOLLOWED,
            open: Vec::new(),
        }
    }
}

impl Left {
    /// Says whether so much is left that a text is followed, too.
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.bytes.checked_sub(text.len().max(LEAST_OF_TASK));
        self.bytes = rest.unwrap_or(self.bytes);
        rest.is_some()
    }
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

    /// Says whether its command ends, and leaves behind it what it starts: `docker compose up -d`.
    fn is_left(&self) -> bool {
        let command = self.by.as_ref().or(self.command.as_ref());
        let mut words = command.into_iter().flat_map(|it| it.split_whitespace());
        let starts = ["docker", "docker-compose", "podman", "podman-compose"];
        let is_one = words.any(|word| starts.contains(&word));
        is_one && words.any(|word| ["-d", "--detach", "start"].contains(&word))
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
    let shown = |command: &String| mask::line(command, SHOWN);
    let by = harm.by.as_ref().map(|by| format!(": {}", shown(by)));
    let command = harm.command.as_ref();
    let command = command.map(|command| format!(" ({}{})", shown(command), by.unwrap_or_default()));
    let command = command.unwrap_or_default();
    match harm.does {
        Does::Sends => format!("it sends something away{command}"),
        Does::Serves if harm.is_left() => format!("it starts services that go on{command}"),
        Does::Serves => format!("it starts what does not end by itself{command}"),
        Does::Alters => format!("it changes the machine{command}"),
        Does::Writes | Does::Looks | Does::Nothing | Does::Unknown => {
            format!("it changes files{command}; a goal only looks")
        }
    }
}

/// Says what a task does that makes it no goal, and with which command if its text tells.
fn task(name: &str, text: Option<&str>, texts_of: TextsOf, left: &mut Left) -> Option<Harm> {
    let text = text.unwrap_or_default();
    match command(text, texts_of, left) {
        Some(harm) => Some(harm),
        None if check::done(text).iter().any(looks) => None,
        None => is_called_a_writer(name).then(|| Harm::of(Does::Writes)),
    }
}

/// Says whether a command only looks at how files are formatted, or at what else it could change.
fn looks(one: &Done) -> bool {
    let lists = ["gofmt", "gofumpt", "goimports"].contains(&one.words[0].as_str());
    let is_told = one.words.iter().any(|word| word == "-l" || word == "-d");
    one.does == Does::Looks || lists && is_told
}

/// The same of a task that another one calls, and which may be there for more than looking.
fn called(name: &str, text: Option<&str>, texts_of: TextsOf, left: &mut Left) -> Option<Harm> {
    let by_name = || match () {
        () if check::is_called_a_sender(name) => Some(Harm::of(Does::Sends)),
        () if check::is_called_a_server(name) => Some(Harm::of(Does::Serves)),
        () => None,
    };
    task(name, text, texts_of, left).or_else(by_name)
}

/// Returns the first command of a text that makes it no goal.
fn command(text: &str, texts_of: TextsOf, left: &mut Left) -> Option<Harm> {
    let first = harms(text, texts_of, left).into_iter().next();
    first.or_else(|| asked(text))
}

/// Returns what the commands of a text do that makes it no goal.
fn harms(text: &str, texts_of: TextsOf, left: &mut Left) -> Vec<Harm> {
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
        let harm = does(one, texts_of, left).filter(|harm| !is_of_its_own(one, harm));
        let is_ended = |harm: &Harm| goes_on_beside && (ends(one) || harm.does == Does::Serves);
        found.extend(
            harm.filter(|harm| !is_ended(harm))
                .map(|harm| harm.by(as_written(text, &one.typed()))),
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
fn does(one: &Done, texts_of: TextsOf, left: &mut Left) -> Option<Harm> {
    let words = &one.words;
    let program = words[0].as_str();
    let tasks = called::tasks(one).unwrap_or_default();
    // Of hooks that are known it is they that tell.
    let is_told = |task: &Task| matches!(task.program, HOOKS | PREK) && !texts_of(task).is_empty();
    let is_known = matches!(
        one.does,
        Does::Sends | Does::Serves | Does::Writes | Does::Alters
    );
    if is_known && !tasks.iter().any(is_told) {
        return Some(Harm::of(one.does));
    }
    let is_of_node = NODE.contains(&program);
    if let Some(task) = tasks.first() {
        let mut tasks = tasks
            .iter()
            .filter(|_| is_of_node || one.does != Does::Looks);
        let harm = tasks.find_map(|task| of_called(one, task, texts_of, left));
        // What is no alias is a command of Cargo's, or of Composer's.
        if harm.is_some() || !matches!(task.program, "cargo" | "composer") {
            return harm;
        }
    }
    let is_named = is_named_so(program) || begins_so(words);
    let script = script_of(words).filter(|_| one.does != Does::Looks);
    let dir = one.dir.as_deref();
    if let Some(harm) = script.and_then(|script| sent_by(script, dir, texts_of, left)) {
        return Some(harm);
    }
    match one.does {
        Does::Unknown if script.is_some_and(is_called_so) => Some(Harm::of(Does::Sends)),
        Does::Unknown if is_named => Some(Harm::of(Does::Writes)),
        _ => None,
    }
}

/// Says what a task does that a command runs by its name.
fn of_called(one: &Done, task: &Task, texts_of: TextsOf, left: &mut Left) -> Option<Harm> {
    let mut texts = texts_of(task);
    let key = (task.name.to_owned(), owned(&task.place));
    if !texts.is_empty() && left.open.contains(&key) && task.program == NODE[0] {
        return Some(Harm::of(Does::Serves));
    }
    texts.retain(|text| left.takes(text));
    let is_to_look =
        || check::is_to_look(&task.handed) || one.words.iter().any(|it| it == "--dry-run");
    if texts.is_empty() {
        let is_own = !matches!(task.program, "cargo" | "composer");
        let is_asked = is_own && !(task.program == NODE[0] && is_to_look());
        let harm = is_asked.then(|| called(task.name, None, texts_of, left));
        return harm.flatten();
    }
    left.open.push(key);
    let mut texts = texts.iter();
    let harm = texts.find_map(|text| called(task.name, Some(text), texts_of, left));
    left.open.pop();
    harm
}

fn owned(place: &Place) -> Place<'static> {
    match place {
        Place::Folder(folder) => Place::Folder(folder.clone()),
        Place::Package(name) => Place::Folder(format!("{name}:")),
        Place::Packages => Place::Packages,
        Place::Unknown => Place::Unknown,
    }
}

/// Returns the commands of a text with those of the tasks that it runs by their names, where their texts are known.
pub(super) fn reached(text: &str, texts_of: TextsOf) -> Vec<Done> {
    let all = texts_reached(text, texts_of).into_iter();
    all.flat_map(|(_, commands)| commands).collect()
}

/// Returns a text and those of the tasks that it runs, each with its commands.
pub(super) fn texts_reached(text: &str, texts_of: TextsOf) -> Vec<(String, Vec<Done>)> {
    let mut left = Left::default();
    let mut texts = vec![text.to_owned()];
    let mut found = Vec::new();
    while let Some(text) = texts.pop() {
        let all = check::done(&text);
        for one in &all {
            let tasks = called::tasks(one).unwrap_or_default();
            let called = tasks.iter().flat_map(texts_of);
            texts.extend(called.filter(|text| left.takes(text)));
        }
        found.push((text, all));
    }
    found
}

/// Returns the first command whose program is not known at all, among those of a text and of the tasks that it runs by their names.
pub(super) fn hidden(text: &str, texts_of: TextsOf) -> Option<String> {
    let all = texts_reached(text, texts_of);
    let mut hidden = all.iter().filter_map(|(text, commands)| {
        let one = commands.iter().find(|one| is_hidden(&one.words[0]))?;
        let shown = mask::line(&one.typed(), SHOWN);
        Some(as_written(text, &shown))
    });
    hidden.next()
}

/// Returns a line about a command with the variables, and the commands in place of words, that it has in a text, where these are
/// nothing but `$`.
pub(super) fn as_written(text: &str, line: &str) -> String {
    let mut rest = text;
    let mut named = String::new();
    for part in line.split_inclusive('$') {
        let Some(before) = part.strip_suffix('$') else {
            named.push_str(part);
            continue;
        };
        // It is known by what stands before it: the whole command, else the word before it, or the beginning of its own; be it in quotes.
        let command = before.rsplit('`').next().unwrap_or_default();
        let begin = command.trim_end_matches(' ').rfind(' ');
        let words = [0, begin.map_or(0, |begin| begin + 1)].map(|begin| &command[begin..]);
        let own = command.rsplit(' ').next().filter(|own| !own.is_empty());
        let found = words.into_iter().chain(own).find_map(|words| {
            let mut ways = [format!("{words}$"), format!("{words}\"$")].into_iter();
            ways.find_map(|way| Some(&rest[rest.find(&way)? + way.len() - 1..]))
        });
        let name = found.and_then(|found| VARIABLE.find(found));
        named.push_str(before);
        named.push_str(name.map_or("$", |name| name.as_str()));
        if let (Some(found), Some(name)) = (found, name) {
            rest = &found[name.end()..];
        }
    }
    named
}

/// Says whether the name of a program is not known at all, as with `$TOOL` and `$(call f,x)`.
fn is_hidden(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    program.starts_with('$') && name.contains('$')
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
fn sent_by(script: &str, dir: Option<&str>, texts_of: TextsOf, left: &mut Left) -> Option<Harm> {
    let mut texts = texts_of(&Task::of_script(script, dir));
    texts.retain(|text| left.takes(text));
    let mut all = texts.iter().flat_map(|text| harms(text, texts_of, left));
    all.find(|harm| matches!(harm.does, Does::Sends | Does::Alters))
}

/// Says whether a script's file is called as one that sends something away.
fn is_called_so(path: &str) -> bool {
    check::is_called_a_sender(path.rsplit('/').next().unwrap_or(path))
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

    fn texts_of(task: &Task) -> Vec<String> {
        let text = match task.name {
            "format" => "prettier --write .",
            "pretty" => "prettier --write --list-different .",
            "show-format" => "prettier .",
            "fmt-ruff" => "ruff format --check",
            "both" => "npm run lint && npm run format",
            "self" => "npm run self",
            "lint" => "eslint .",
            "lint:*" => "eslint .\nprettier --write .",
            "" if task.program == "tox" => "prettier --write .",
            _ => return Vec::new(),
        };
        let is_here = task.place == Place::Folder(String::new());
        let whole = [vec![text.to_owned()], task.handed.clone()].concat();
        Vec::from_iter((is_here && task.file.is_none()).then(|| whole.join(" ")))
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
            ("npm run self", true),
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
            assert_eq!(of_commands(text, &texts_of).is_some(), writes, "{text}");
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
            assert_eq!(of_commands(text, &texts_of), why, "{text}");
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
            let why = of_task(name, text, &texts_of);
            assert_eq!(why.is_some(), writes, "{name}: {text}: {why:?}");
        }
    }
}
