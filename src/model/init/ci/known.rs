//! Which commands of a step are known to look, check or build and to do nothing else, so that its goal may run at once. What is not
//! known waits until somebody has looked at it. Pure.

mod tables;

use std::sync::LazyLock;

use regex::Regex;

use super::super::writers;
use crate::model::check::{self, Does, Done};
use crate::model::init::{Look, has};
use crate::model::text;
use tables::{
    ASKED_BY, CHECKERS, COMPILERS, DRIVERS, EXCEPT, GIT, HARMS, INTERPRETERS, Interpreter, LEADS,
    NODE, OF_TARGETS, OF_TOOLS, READS, SHELL, TAKES, TELLS_BY_END, VERBS, WITHOUT_TARGET, WRAPPERS,
};

/// What the reader is to do about it.
const FIRST: &str = "look first, then take the # away";
/// How much is shown of a command.
const SHOWN: usize = 40;

/// A file that output goes into.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[^<>\w=-])\d?>>?\|?\s*["']?(?<to>(?:/|~|\$\{?HOME|[\w.])[^\s"'`;&|()<>]*)"#)
        .expect("BUG: a pattern of ours is no pattern")
});

/// Says why a check had better not run before somebody has looked at it.
pub(super) fn strange(look: &dyn Look, check: &str) -> Option<String> {
    let all = check::done(check);
    let written = WRITTEN.captures_iter(check).map(|it| it["to"].to_owned());
    let by_tee = all
        .iter()
        .filter(|one| one.words[0] == "tee")
        .flat_map(|one| one.words[1..].iter().cloned());
    let mut written = written.chain(by_tee);
    if let Some(to) = written.find(|to| is_of_others(look, to)) {
        return Some(format!("it writes to {}: {FIRST}", text::cut(&to, SHOWN)));
    }
    if check.split_whitespace().any(|word| word == "-delete") {
        return Some(format!("it deletes files (find -delete): {FIRST}"));
    }
    let mut places = 0..all.len();
    places.find_map(|at| {
        let before = &all[..at];
        Command { look, before }.strange(&all[at])
    })
}

/// Says whether a file is one of the machine's, or tracked.
fn is_of_others(look: &dyn Look, to: &str) -> bool {
    const ANYBODYS: [&str; 6] = [
        "/dev/null",
        "/dev/stderr",
        "/dev/stdout",
        "/dev/tty",
        "/dev/fd/",
        "/tmp/",
    ];
    match to.starts_with(['/', '~', '$']) {
        true => to.starts_with('$') || !ANYBODYS.iter().any(|it| to.starts_with(it)),
        false => has(look, to.trim_start_matches("./")),
    }
}

/// A command among those of its check that come before it.
struct Command<'a> {
    look: &'a dyn Look,
    before: &'a [Done],
}

impl Command<'_> {
    fn strange(&self, one: &Done) -> Option<String> {
        let unknown = || {
            let shown = text::clean_line(&text::cut(&one.typed(), SHOWN));
            Some(format!("evolve does not know what `{shown}` does: {FIRST}"))
        };
        let Some(dir) = one.dir.as_deref() else {
            return unknown();
        };
        let is_there = dir.is_empty() || check::is_pattern(dir) || self.has_folder(dir);
        if !is_there && !self.names(dir) {
            return Some(lacking(dir));
        }
        let words = of_module(&one.words);
        if let [program, folder, ..] = words
            && program == "mkdir"
            && !folder.starts_with('-')
        {
            let folder = text::cut(folder, SHOWN);
            return Some(format!("`mkdir {folder}` fails where it ran before"));
        }
        match self.knows(dir, words, one.does) {
            Known::Yes => None,
            Known::No => unknown(),
            Known::Lacks(path) => Some(lacking(&path)),
        }
    }

    fn knows(&self, dir: &str, words: &[String], does: Does) -> Known {
        let program = words[0].as_str();
        if program.contains(['$', '`']) {
            return Known::No;
        }
        let name = program.rsplit('/').next().unwrap_or(program);
        let is_of_system = ["/bin/", "/usr/bin/", "/usr/local/bin/"]
            .iter()
            .any(|folder| program.strip_prefix(folder) == Some(name));
        match program.contains('/') && !is_of_system {
            true => self.knows_file(dir, words, does),
            false => self.knows_name(dir, (name, &words[1..]), does),
        }
    }

    /// The same of a program that is a file of the repository, or one that is made there.
    fn knows_file(&self, dir: &str, words: &[String], does: Does) -> Known {
        let program = words[0].as_str();
        let name = program.rsplit('/').next().unwrap_or(program);
        let Some(path) = check::join(dir, program) else {
            return Known::No;
        };
        let is_tracked = has(self.look, &path);
        let is_installed = OF_TOOLS
            .iter()
            .any(|folder| format!("/{path}").contains(&format!("/{folder}/")));
        match () {
            () if !is_tracked && is_installed => self.knows_name(dir, (name, &words[1..]), does),
            () if !is_tracked && !self.builds() => Known::Lacks(program.to_owned()),
            () if WRAPPERS.contains(&name) => Known::of(asks(name, &words[1..], does)),
            () => Known::of(is_called_a_check(name)),
        }
    }

    /// The same of a program that is looked for by its name.
    fn knows_name(&self, dir: &str, (name, rest): (&str, &[String]), does: Does) -> Known {
        let is_one = |all: &[&str]| is_among(all, name);
        let mut interpreters = INTERPRETERS.iter();
        if let Some(found) = interpreters.find(|it| is_one(it.names)) {
            return self.knows_script(dir, found.script(rest), does);
        }
        let tells_itself = |word: &String| READS.contains(&word.as_str());
        let is_sourced = matches!(name, "." | "source");
        if let Some(folder) = self.lacks_build(dir, rest).filter(|_| name == "cmake") {
            return Known::Lacks(folder);
        }
        Known::of(match () {
            () if is_sourced => rest.first().is_some_and(|file| {
                let path = check::join(dir, file);
                let is_there = path.is_some_and(|path| self.look.is_there(&path));
                file.ends_with("/bin/activate") && is_there
            }),
            () if name == "git" => reads_by_git(rest),
            () if name == "mkdir" => rest.iter().any(|it| it == "-p" || it == "--parents"),
            () if is_one(SHELL) || is_one(CHECKERS) || is_compiler(name) => true,
            () if name == "cmake" => {
                let acts = ["-P", "-E", "--install", "--open"];
                !rest.iter().any(|word| acts.contains(&word.as_str()))
            }
            () if is_one(DRIVERS) || is_one(OF_TARGETS) => {
                let is_whole = DRIVERS.contains(&name) || OF_TARGETS.contains(&name);
                let name = if is_whole { name } else { stem(name) };
                asks(name, rest, does)
            }
            () => rest.len() == 1 && rest.iter().all(tells_itself),
        })
    }

    /// The same of what an interpreter is given.
    fn knows_script(&self, dir: &str, script: Script, does: Does) -> Known {
        let (file, rest) = match script {
            Script::Reads => return Known::Yes,
            Script::Unknown => return Known::No,
            Script::File(file, rest) => (file, rest),
        };
        let name = file.trim_end_matches('/').rsplit('/').next();
        let name = name.unwrap_or(file);
        let Some(path) = check::join(dir, file).filter(|_| !file.contains(['$', '`'])) else {
            return Known::No;
        };
        let is_there = has(self.look, &path) || self.has_folder(&path);
        match () {
            () if !is_there && !self.builds() => Known::Lacks(file.to_owned()),
            () if WRAPPERS.contains(&name) => Known::of(asks(name, rest, does)),
            () => Known::of(is_called_a_check(name)),
        }
    }

    /// Returns the folder that CMake is to build in, where no command before it makes it.
    fn lacks_build(&self, dir: &str, rest: &[String]) -> Option<String> {
        let at = rest.iter().position(|word| word == "--build")?;
        let folder = rest.get(at + 1)?;
        let path = check::join(dir, folder)?;
        let is_there = path.is_empty() || self.has_folder(&path) || self.names(&path);
        (!is_there).then(|| folder.clone())
    }

    fn has_folder(&self, folder: &str) -> bool {
        let inside = format!("{}/", folder.trim_end_matches('/'));
        let mut files = self.look.files().iter();
        files.any(|file| file.starts_with(&inside))
    }

    /// Says whether a command before it names a folder that it may make.
    fn names(&self, dir: &str) -> bool {
        let first = dir.split('/').next().unwrap_or(dir);
        let is_it = |word: &String| word.split(['/', '=']).any(|part| part == first);
        let mut words = self.before.iter().flat_map(|one| &one.words[1..]);
        words.any(is_it)
    }

    /// Says whether a command before it may make a program.
    fn builds(&self) -> bool {
        self.before.iter().any(|one| {
            let name = one.words[0].rsplit('/').next().unwrap_or_default();
            let is_one = |all: &[&str]| is_among(all, name);
            is_compiler(name) || is_one(DRIVERS) || is_one(OF_TARGETS) || name == "cmake"
        })
    }
}

/// Says whether a program is one of these, be its version behind its name: `gcc-12`.
fn is_among(all: &[&str], name: &str) -> bool {
    all.contains(&name) || all.contains(&stem(name))
}

fn stem(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    stem.trim_end_matches('-')
}

/// Says whether a program is a compiler, be it for another machine: `arm-none-eabi-gcc`.
fn is_compiler(name: &str) -> bool {
    let is_for_another = |it: &&str| {
        let machine = stem(name).strip_suffix(it);
        machine.is_some_and(|machine| machine.ends_with('-'))
    };
    is_among(COMPILERS, name) || COMPILERS.iter().any(is_for_another)
}

/// What is known of a command.
enum Known {
    /// It looks, checks or builds.
    Yes,
    /// Nothing.
    No,
    /// What it runs is not there.
    Lacks(String),
}

impl Known {
    fn of(is_known: bool) -> Known {
        match is_known {
            true => Known::Yes,
            false => Known::No,
        }
    }
}

fn lacking(path: &str) -> String {
    format!(
        "there is no {}: an earlier step makes it",
        text::cut(path, SHOWN)
    )
}

/// Returns the words from the module on that Python is to run.
fn of_module(words: &[String]) -> &[String] {
    if !words[0]
        .rsplit('/')
        .next()
        .is_some_and(|it| it.starts_with("python"))
    {
        return words;
    }
    let mut rest = &words[1..];
    loop {
        rest = match rest {
            [option, module, ..] if option.starts_with('-') && option.ends_with('m') => {
                let is_plain = !module.is_empty() && !option.starts_with("--");
                return if is_plain { &rest[1..] } else { words };
            }
            [option, _, rest @ ..] if option == "-W" || option == "-X" => rest,
            [option, rest @ ..] if option.starts_with('-') => rest,
            _ => return words,
        };
    }
}

/// What an interpreter is given.
enum Script<'a> {
    /// It only reads it.
    Reads,
    /// Code, or nothing that is known.
    Unknown,
    /// A file, and what that is given.
    File(&'a str, &'a [String]),
}

impl Interpreter {
    fn script<'a>(&self, words: &'a [String]) -> Script<'a> {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let Some(option) = word.strip_prefix('-') else {
                return Script::File(word, &words[at..]);
            };
            if let Some(long) = option.strip_prefix('-') {
                match long {
                    "" => {}
                    "check" | "test" | "version" | "help" => return Script::Reads,
                    "eval" | "print" => return Script::Unknown,
                    "require" | "import" | "loader" => at += 1,
                    _ => {}
                }
                continue;
            }
            for (index, letter) in option.char_indices() {
                match () {
                    () if self.code.contains(letter) => return Script::Unknown,
                    () if self.reads.contains(letter) => return Script::Reads,
                    () if self.takes.contains(letter) => {
                        at += usize::from(index + 1 == option.len());
                        break;
                    }
                    () if self.eats.contains(letter) => break,
                    () => {}
                }
            }
        }
        Script::Unknown
    }
}

/// Says whether git is asked for something, and not told to change it.
fn reads_by_git(rest: &[String]) -> bool {
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let operands = check::operands(&rest, |word| matches!(word, "-C" | "-c" | "--git-dir"));
    let has = |all: &[&str]| rest.iter().any(|word| all.contains(word));
    match operands.as_slice() {
        ["config", ..] => has(&["--get", "--get-all", "--get-regexp", "--list", "-l"]),
        ["hash-object", ..] => !has(&["-w"]),
        ["branch", ..] => has(&["--list", "--show-current", "--contains", "-r", "-a"]),
        ["tag"] => true,
        ["tag", ..] => has(&["--list", "-l", "--contains", "--points-at"]),
        ["submodule", "status", ..] | ["remote"] | ["stash" | "worktree", "list"] => true,
        [first, ..] => GIT.contains(first),
        [] => has(&["--version", "--help"]),
    }
}

/// Says whether a program is asked to check or to build something by the names of what it is asked for.
fn asks(name: &str, rest: &[String], does: Does) -> bool {
    let before: Vec<&str> = rest
        .iter()
        .map(String::as_str)
        .take_while(|word| *word != "--")
        .collect();
    let mut operands = check::operands(&before, |word| TAKES.contains(&word));
    operands.retain(|word| !word.contains('='));
    // What runs tasks hands it on, or to nobody.
    let is_own = !OF_TARGETS.contains(&name) && !NODE.contains(&name);
    let packs = || matches!(before.first(), Some(&("audit" | "pack" | "publish")));
    if does == Does::Looks && (is_own || packs()) {
        return true;
    }
    if OF_TARGETS.contains(&name) {
        let is_maven = matches!(name, "mvn" | "mvnw");
        let of_maven = ["install", "package"];
        let checks =
            |word: &&str| is_verb_in(word, is_maven) || is_maven && of_maven.contains(word);
        let harms = |word: &&str| !is_maven && harms(word);
        return match operands.is_empty() {
            true => WITHOUT_TARGET.contains(&name),
            false => operands.iter().any(checks) && !operands.iter().any(harms),
        };
    }
    let first = match NODE.contains(&name) {
        true => {
            let words: Vec<String> = std::iter::once(name.to_owned())
                .chain(before.iter().map(|word| (*word).to_owned()))
                .collect();
            let at = writers::script_at(&words);
            let rest = at.map(|at| &before[at - 1..]).unwrap_or_default();
            let mut rest = rest.iter().filter(|it| !it.starts_with('-'));
            rest.find(|word| !LEADS.contains(word)).copied()
        }
        false => {
            let mut leads = ASKED_BY.iter();
            let leads = leads.find(|(program, _)| *program == name);
            let leads = leads.map(|(_, leads)| *leads).unwrap_or_default();
            operands.into_iter().find(|word| !leads.contains(word))
        }
    };
    match first {
        Some(word) => READS.contains(&word) || is_called_a_check(word),
        None => WITHOUT_TARGET.contains(&name) || before.iter().any(|word| READS.contains(word)),
    }
}

/// Says whether a target, a task or a script's file is called as one that checks or builds, and as nothing else.
fn is_called_a_check(name: &str) -> bool {
    is_verb_in(name, false) && !harms(name)
}

fn is_verb_in(name: &str, is_one_word: bool) -> bool {
    if is_one_word && VERBS.contains(&name) {
        return true;
    }
    words_of(name).iter().any(|word| {
        let ends = TELLS_BY_END.iter().any(|end| word.ends_with(end));
        let word = word.as_str();
        VERBS.contains(&word) || CHECKERS.contains(&word) || ends && !EXCEPT.contains(&word)
    }) || CHECKERS.contains(&name)
}

fn harms(name: &str) -> bool {
    words_of(name)
        .iter()
        .any(|word| HARMS.contains(&word.as_str()) || word.ends_with("install"))
}

/// Returns the words of a name: `check-links`, `checkLinks`, `check_links.sh`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let begins = c.is_ascii_uppercase() && was_small;
        if begins || !c.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            last.push(c.to_ascii_lowercase());
        }
        was_small = c.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
