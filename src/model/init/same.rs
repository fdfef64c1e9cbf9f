//! Whether a check does what the words of another one do, and which goals are left out for that. Pure.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::called::{self, AROUND, TextsOf};
use super::offer::Proposal;
use super::strict::{Strictness, without_denied};
use super::{Found, checkers, writers};
use crate::model::check::{self, Done};

/// Options that change nothing in what is covered, or widen it.
const WIDENS: [&str; 56] = [
    "--",
    "--all",
    "--all-features",
    "--all-targets",
    "--batch-mode",
    "--bail",
    "--check",
    "--check-only",
    "--ci",
    "--cov",
    "--coverage",
    "--diff",
    "--errors",
    "--fail-at-end",
    "--frozen",
    "--frozen-lockfile",
    "--if-present",
    "--include-ignored",
    "--keep-going",
    "--locked",
    "--no-cache",
    "--no-cov",
    "--no-daemon",
    "--no-deps",
    "--no-fail-fast",
    "--no-fix",
    "--no-install",
    "--no-progress",
    "--no-transfer-progress",
    "--nocapture",
    "--offline",
    "--parallel",
    "--pretty",
    "--quiet",
    "--release",
    "--runInBand",
    "--show-error-codes",
    "--show-version",
    "--silent",
    "--stacktrace",
    "--strict",
    "--verbose",
    "--workspace",
    "--workspaces",
    "-B",
    "-ff",
    "-ntp",
    "-q",
    "-qq",
    "-race",
    "-s",
    "-v",
    "-vv",
    "-vvv",
    "-x",
    "-y",
];
/// How options begin that are such whatever their value is.
const BEGIN: [&str; 22] = [
    "--color=",
    "--cov-",
    "--cov=",
    "--coverage.",
    "--deny=",
    "--durations",
    "--jobs=",
    "--junitxml=",
    "--max-warnings=",
    "--maxfail=",
    "--numprocesses=",
    "--output-format=",
    "--reporter=",
    "--tb=",
    "--test-threads=",
    "--timeout=",
    "-count=",
    "-cover",
    "-Dwarnings",
    "-j",
    "-timeout=",
    "V=",
];
/// Options of which the same holds, and whose value is the next word.
const TAKES: [&str; 12] = [
    "--color",
    "--cov-report",
    "--jobs",
    "--maxWorkers",
    "--reporter",
    "--tb",
    "--test-threads",
    "--timeout",
    "-D",
    "-j",
    "-n",
    "-timeout",
];
/// Which of these widen what is covered: without them it is less.
const WIDEN: [&str; 14] = [
    "--all",
    "--all-features",
    "--all-targets",
    "--check",
    "--check-only",
    "--diff",
    "--include-ignored",
    "--max-warnings=",
    "--no-fix",
    "--release",
    "--strict",
    "--workspace",
    "--workspaces",
    "-race",
];
/// Programs whose options these are; of others a letter may mean anything.
const OF_OPTIONS: [&str; 16] = [
    "bun", "cargo", "eslint", "go", "gradle", "gradlew", "jest", "make", "mvn", "mvnw", "mypy",
    "npm", "pnpm", "pytest", "ruff", "yarn",
];
/// What stands for all that there is.
const EVERYTHING: [&str; 3] = [".", "./", "./..."];
/// Where tests are.
const OF_TESTS: [&str; 4] = ["test", "test/", "tests", "tests/"];
/// Programs whose tests stand there and nowhere else.
const TESTERS: [&str; 6] = ["bats", "nose2", "nosetests", "phpunit", "pytest", "rspec"];
/// Options that narrow what some programs do, and change nothing of others.
const NARROWS: [(&str, &str); 5] = [
    ("gradle", "-x"),
    ("gradlew", "-x"),
    ("nox", "-s"),
    ("tox", "-e"),
    ("unittest", "-s"),
];
/// Options of Cargo's that choose features.
const FEATURES: [&str; 3] = ["--all-features", "--features", "-F"];
/// Cargo's option for the tests of the documentation alone.
const DOCTESTS: &str = "--doc";
/// What widens what a program does, each with words that do the same.
const WIDER: [(&str, &str, &[&str]); 5] = [
    ("cargo", "--all-features", &["--all-features"]),
    ("cargo", "--features", &FEATURES),
    ("cargo", "--all-targets", &["--all-targets"]),
    ("cargo", "--workspace", &["--all", "--workspace"]),
    ("go", "./...", &["./..."]),
];
/// Variables that have programs do something else, or less of it.
const SET: [&str; 7] = [
    "CARGO_BUILD_TARGET",
    "GOARCH",
    "GOFLAGS",
    "GOOS",
    "NOXSESSION",
    "PYTEST_ADDOPTS",
    "TOXENV",
];

/// Says whether a command of a check has these words, one behind the other.
pub(super) fn has(check: &str, same: &str) -> bool {
    let tokens: Vec<&str> = same.split_whitespace().collect();
    is_mark(same) && check.contains(same)
        || commands(check).any(|words| at(&words, &tokens).is_some())
}

/// Says whether one command of a check does all that `own` does, which has these words, and as strictly: what else it says stands there,
/// too, or takes nothing away from that.
pub(super) fn covers(check: &str, same: &str, own: &str) -> bool {
    let tokens: Vec<&str> = same.split_whitespace().collect();
    let strict = Strictness::of_all(commands(own).map(|words| Strictness::of(own, &words)));
    let own: Vec<String> = commands(own).flatten().collect();
    let is_as_strict = |words: &[String]| Strictness::of(check, words).is_as_strict_as(&strict);
    let sets = |name: &&str| {
        let set = format!("{name}=");
        check.split_whitespace().any(|word| word.starts_with(&set))
    };
    let does_so = |words: Vec<String>| does_all(&words, &tokens, &own) && is_as_strict(&words);
    !SET.iter().any(sets) && commands(check).any(does_so)
}

fn commands(check: &str) -> impl Iterator<Item = Vec<String>> {
    let words = |one: Done| match called::run_by_node(&one) {
        Some(task) => {
            let npm = [called::NODE[0], "run", task.name, "--"].map(str::to_owned);
            npm.into_iter().chain(task.handed).collect()
        }
        None => one.words,
    };
    check::done(check).into_iter().map(words)
}

/// Variables that change how strict or how loud programs are, and not what they look at.
const OF_STRICTNESS: [&str; 6] = [
    "CI=",
    "FORCE_COLOR=",
    "RUSTDOCFLAGS=",
    "RUSTFLAGS=",
    "RUST_BACKTRACE=",
    "RUST_LOG=",
];
/// What a program does besides where it is asked for something.
const BESIDES: [(&str, &str, &[&str]); 6] = [
    ("gradle", "build", &["check", "test"]),
    ("gradle", "check", &["test"]),
    ("gradlew", "build", &["check", "test"]),
    ("gradlew", "check", &["test"]),
    ("mvn", "verify", &["compile", "package", "test"]),
    ("mvnw", "verify", &["compile", "package", "test"]),
];

/// What is said behind the id of a goal of CI by what gave way to it.
pub(super) const GAVE_WAY: &str = " of CI tells the same";
/// Why the goal of a step waits whose job starts services.
pub(super) const SERVICES: &str = "its job has services: start them, then take the # away";
/// With how many goals that call the same programs one is compared.
const MOST_ALIKE: usize = 64;

/// A command that a check comes to.
struct Told {
    /// What else has it do something else: its folder, what its text sets and turns round, and all of that text where the words do not
    /// tell what the command is given.
    around: String,
    /// Its words, without the program that only starts what they name.
    words: Vec<String>,
    /// How strictly it judges.
    strict: Strictness,
}

impl Told {
    /// Returns what its program is called, without the way to it and its version.
    fn program(&self) -> &str {
        check::program_name(&self.words[0])
    }

    /// Returns what two commands have in common that are the same.
    fn key(&self) -> (&str, &[String]) {
        (&self.around, &self.words)
    }

    /// Returns it without what says only how it is told or how fast it goes, and a script of package.json as npm runs it.
    fn plainly(mut self) -> Told {
        let program = self.program().to_owned();
        if called::NODE.contains(&program.as_str())
            && let Some(at) = called::script_at(&self.words)
        {
            let run = [called::NODE[0], "run"].map(str::to_owned);
            self.words.splice(..at, run);
        }
        if !OF_OPTIONS.contains(&program.as_str()) {
            return self;
        }
        // Cargo hands what it is told of these on, be it behind a mark or not.
        if program == "cargo" && self.words.get(1).is_some_and(|it| it == "fmt") {
            self.words.retain(|word| word != "--");
        }
        let mut is_value = false;
        let widens = |word: &str| WIDEN.iter().any(|it| word.starts_with(it));
        self.words.retain(|word| {
            let takes = TAKES.contains(&word.as_str()) && word != "-D";
            let goes = std::mem::replace(&mut is_value, takes) || takes;
            let is_place = EVERYTHING.contains(&word.as_str()) || OF_TESTS.contains(&&**word);
            let is_manner = || changes_nothing(word, &program) && !widens(word) && word != "--";
            !goes && (is_place || !is_manner())
        });
        self.words.pop_if(|last| last == "--");
        // In which order they are told changes nothing.
        let handed = self.words.iter().position(|word| word == "--");
        let handed = self.words.split_off(handed.unwrap_or(self.words.len()));
        let is_wide = |word: &mut String| WIDEN.contains(&word.as_str());
        let mut wide: Vec<String> = self.words.extract_if(.., is_wide).collect();
        wide.sort_unstable();
        self.words.extend(wide);
        self.words.extend(handed);
        self
    }

    /// Says whether it does all that another one does, in the same folder, and as strictly.
    fn covers(&self, other: &Told) -> bool {
        if self.around != other.around || !self.strict.is_as_strict_as(&other.strict) {
            return false;
        }
        let tokens: Vec<&str> = other.words.iter().map(String::as_str).collect();
        let skips = || self.words.iter().any(|word| word.contains("kip"));
        let is_asked = |(name, asked, _): &&(&str, &str, &[&str])| {
            self.program() == *name && self.words.iter().any(|word| word == asked) && !skips()
        };
        let besides = BESIDES.iter().filter(is_asked);
        let mut besides = besides.flat_map(|(_, asked, all)| {
            let with = |word: &&str| {
                let mut words = self.words.clone();
                let asked = words.iter_mut().filter(|it| it == asked);
                asked.for_each(|it| *it = (*word).to_owned());
                words
            };
            all.iter().map(with).collect::<Vec<_>>()
        });
        let does_all = |words: &[String]| does_all(words, &tokens, &other.words);
        does_all(&self.words) || besides.any(|words| does_all(&words))
    }
}

/// Returns the variables that a check sets by which it may do something else.
fn sets(check: &str) -> Vec<&str> {
    let is_set = |word: &&str| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let all = check.split_whitespace().filter(is_set);
    all.filter(|word| !OF_STRICTNESS.iter().any(|name| word.starts_with(name)))
        .collect()
}

/// Returns the commands that a check comes to: in place of those that run tasks by their names, what these run.
fn told(check: &str, texts_of: TextsOf) -> Vec<Told> {
    let calls_on = |one: &Done| {
        let tasks = called::tasks(one).unwrap_or_default();
        !tasks.is_empty() && tasks.iter().all(|task| !texts_of(task).is_empty())
    };
    let mut found = Vec::new();
    for (text, commands) in writers::texts_reached(check, texts_of) {
        let turns = |word: &&str| matches!(*word, "!" | "||");
        let turned = text.split_whitespace().filter(turns).count();
        let own = commands
            .into_iter()
            .filter(|one| !AROUND.contains(&one.words[0].as_str()) && !calls_on(one));
        // What is looked for, and what is read, are no words of a command.
        let is_hidden = text.contains('<') || text.split_whitespace().any(|word| word == "find");
        for one in own {
            let is_unknown = |word: &String| word.contains('$');
            let is_plain = one.dir.is_some() && !one.words.iter().any(is_unknown);
            let whole = if is_plain && !is_hidden { "" } else { &text };
            let around = format!("{:?} {:?} {turned} {whole}", one.dir, sets(&text));
            let words = started(&one.words);
            let strict = Strictness::of(&text, &words);
            let words = without_denied(words);
            found.push(Told {
                around,
                words,
                strict,
            });
        }
    }
    found
}

/// Says whether all that a check runs is run by others, too, each command by one that does all that it does.
pub(super) fn is_run_by<'c>(check: &str, others: impl Iterator<Item = &'c str>) -> bool {
    let no_texts = &|_: &called::Task| Vec::new();
    let plainly = |check: &str| told(check, no_texts).into_iter().map(Told::plainly);
    let others: Vec<Told> = others.flat_map(plainly).collect();
    let own: Vec<Told> = plainly(check).collect();
    let is_run = |one: &Told| others.iter().any(|other| other.covers(one));
    !own.is_empty() && own.iter().all(is_run)
}

/// Says whether a check lets pass what another one does not.
pub(super) fn is_laxer(check: &str, other: &str) -> bool {
    let of = |check: &str| {
        let all = commands(check).map(|words| Strictness::of(check, &words));
        Strictness::of_all(all)
    };
    !of(check).is_as_strict_as(&of(other))
}

/// Returns the words of a command from the script on that a shell runs, or the module that Python does; of a linter, its name, wherever
/// it lies.
fn started(words: &[String]) -> Vec<String> {
    let words = match words {
        [shell, script @ ..]
            if matches!(shell.as_str(), "bash" | "sh")
                && script.first().is_some_and(|it| !it.starts_with('-')) =>
        {
            script
        }
        [_, option, ..] if matches!(option.as_str(), "-m" | "-Im") => check::of_module(words),
        words => words,
    };
    let mut words = words.to_vec();
    let name = check::program_name(&words[0]);
    if checkers::is_checker(name) {
        words[0] = name.to_owned();
    }
    words
}

/// Leaves out goals of which another one does all that they do, or several do, each a part. The first one stays, unless it cannot run
/// here and the other can, or both are of CI and the other does more. Only those are compared that call the same programs, and of
/// these so many.
pub(super) fn told_once(
    goals: Vec<Proposal>,
    texts_of: TextsOf,
    how: &'static str,
    found: &mut Found,
) -> Vec<Proposal> {
    told_once_by(&Told::covers, goals, texts_of, how, found)
}

/// Says whether one command does all that another one does.
type Covers<'c> = &'c dyn Fn(&Told, &Told) -> bool;

/// The same, where this says which command does all that another one does.
fn told_once_by(
    covers: Covers<'_>,
    mut goals: Vec<Proposal>,
    texts_of: TextsOf,
    how: &'static str,
    found: &mut Found,
) -> Vec<Proposal> {
    let does: Vec<Vec<Told>> = goals.iter().map(|one| told(&one.check, texts_of)).collect();
    let runs = |at: usize| goals[at].missing.is_none();
    let stands_for = |by: usize, at: usize| {
        (runs(by) || !runs(at)) && sets(&goals[by].check) == sets(&goals[at].check)
    };
    let rarest = rarest_first(&does);
    let is_told =
        |by: usize, at: usize| stands_for(by, at) && does_all_of(&does[by], &rarest[at], covers);
    let may_go = |before: usize, at: usize| {
        (how == GAVE_WAY || !runs(before) && runs(at)) && is_told(at, before)
    };
    let mut alike: HashMap<BTreeSet<&str>, Vec<usize>> = HashMap::new();
    // Each with those that it gives way to.
    let mut gone: Vec<(usize, Vec<usize>)> = Vec::new();
    let tells = |at: &usize| goals[*at].measured.is_none() && !does[*at].is_empty();
    for at in (0..goals.len()).filter(tells) {
        let programs = does[at].iter().map(|one| one.program());
        let kept = alike.entry(programs.collect()).or_default();
        if let Some(by) = kept.iter().find(|by| is_told(**by, at)) {
            gone.push((at, vec![*by]));
            continue;
        }
        let given_way = kept.extract_if(.., |before| may_go(*before, at));
        gone.extend(given_way.map(|before| (before, vec![at])));
        if kept.len() < MOST_ALIKE {
            kept.push(at);
        }
    }
    if how != GAVE_WAY {
        let mut kept: Vec<usize> = alike.into_values().flatten().collect();
        kept.sort_unstable();
        gone.extend(told_in_parts(&does, &kept, &stands_for, covers));
    }
    for (at, by) in &gone {
        let ids = by.iter().map(|by| goals[*by].id.clone()).collect();
        found.leave_told(&goals[*at].source, ids, how);
        let waits = goals[*at].missing.as_deref() == Some(SERVICES);
        for by in by {
            if waits && goals[*by].missing.is_none() {
                let note = "CI starts services for it: if it fails without, start them first";
                found.notes.push(format!("{}: {note}", goals[*by].id));
            }
        }
        // Who has the one under its other name lacks neither.
        if let [by] = by[..] {
            let same = goals[*at].same.clone();
            goals[by].same.extend(same);
        }
    }
    // What one gave way to may have given way itself.
    for _ in 0..gone.len() {
        let mut is_any = false;
        for (at, by) in &gone {
            let ids: Vec<String> = by.iter().map(|by| goals[*by].id.clone()).collect();
            is_any |= found.hands_on(&goals[*at].id, &ids, how == GAVE_WAY);
        }
        if !is_any {
            break;
        }
    }
    let gone: HashSet<usize> = gone.into_iter().map(|(at, _)| at).collect();
    let goals = goals.into_iter().enumerate();
    let kept = goals.filter(|(at, _)| !gone.contains(at));
    kept.map(|(_, one)| one).collect()
}

/// Returns which of these goals do nothing but what others do, each a part of it, with these others.
fn told_in_parts(
    does: &[Vec<Told>],
    goals: &[usize],
    stands_for: &dyn Fn(usize, usize) -> bool,
    covers: Covers<'_>,
) -> Vec<(usize, Vec<usize>)> {
    // Those that do least come first.
    let mut least: Vec<usize> = goals.to_vec();
    least.sort_by_key(|at| does[*at].len());
    let mut calling: HashMap<&str, Vec<usize>> = HashMap::new();
    for at in least {
        for one in &does[at] {
            let callers = calling.entry(one.program()).or_default();
            if callers.len() < MOST_ALIKE && callers.last() != Some(&at) {
                callers.push(at);
            }
        }
    }
    let parts = |at: usize| {
        let mut all: Vec<usize> = Vec::new();
        for one in &does[at] {
            let mut callers = calling.get(one.program())?.iter();
            let by = callers.find(|by| {
                let is_part = does[**by].len() < does[at].len() && stands_for(**by, at);
                is_part && does[**by].iter().any(|it| covers(it, one))
            })?;
            if !all.contains(by) {
                all.push(*by);
            }
        }
        Some((at, all))
    };
    goals.iter().filter_map(|at| parts(*at)).collect()
}

/// Says whether so many commands do all that others do, each in the same folder.
fn does_all_of(some: &[Told], others: &[&Told], covers: Covers<'_>) -> bool {
    // One that does more in one go is no reason to miss what each of its parts says.
    let is_as_long = !others.is_empty() && some.len() == others.len();
    let is_covered = |other: &&Told| some.iter().any(|one| covers(one, other));
    is_as_long && others.iter().all(is_covered)
}

/// Returns the commands of each goal, first those that the fewest goals have: what many need is no difference between them.
fn rarest_first(does: &[Vec<Told>]) -> Vec<Vec<&Told>> {
    let mut numbers: HashMap<(&str, &[String]), usize> = HashMap::new();
    for one in does.iter().flatten() {
        *numbers.entry(one.key()).or_default() += 1;
    }
    let sorted = does.iter().map(|all| {
        let mut all: Vec<&Told> = all.iter().collect();
        all.sort_by_key(|one| numbers.get(&one.key()));
        all
    });
    sorted.collect()
}

/// Says whether words are a mark in a text, and no command.
fn is_mark(same: &str) -> bool {
    !same.contains(char::is_alphanumeric)
}

fn does_all(words: &[String], tokens: &[&str], own: &[String]) -> bool {
    let program = tokens.first().copied().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    let Some(tokens) = with_doctests(words, tokens) else {
        return false;
    };
    let is_narrower = WIDER.iter().any(|(name, word, alike)| {
        let is_wide = own.iter().any(|one| one == word);
        let mut said = words.iter().map(String::as_str);
        *name == program && is_wide && !said.any(|one| alike.contains(&one))
    });
    // Features may put other code in the place of what is tested by default.
    let tests = matches!(tokens.get(1), Some(&("test" | "t" | "nextest")));
    let has_features = |words: &[String]| {
        let mut words = words.iter().map(String::as_str);
        words.any(|one| FEATURES.iter().any(|it| one.split('=').next() == Some(it)))
    };
    let is_of_others = program == "cargo" && tests && has_features(words) && !has_features(own);
    if is_narrower || is_of_others {
        return false;
    }
    let mut rest: Vec<&str> = Vec::new();
    let mut is_value = false;
    for word in words {
        let is_asked = tokens
            .iter()
            .any(|token| is_same(word, token, rest.is_empty()));
        if std::mem::take(&mut is_value) && !is_asked {
            continue;
        }
        is_value = TAKES.contains(&word.as_str()) && !is_asked;
        let takes_nothing = || own.contains(word) || changes_nothing(word, program);
        if is_asked || !(is_value || takes_nothing()) {
            rest.push(word);
        }
    }
    let Some(at) = at(&rest, &tokens) else {
        return false;
    };
    let is_started = match &rest[..at] {
        [] | ["sh" | "bash"] => true,
        [python, "-m" | "-Im"] => python.contains("python"),
        _ => false,
    };
    is_started && rest.len() == at + tokens.len()
}

/// Returns the words that a command needs to do what others do: tests of Cargo's are those of the documentation, too. None where it
/// names all targets, to which those do not belong.
fn with_doctests<'t>(words: &[String], tokens: &[&'t str]) -> Option<Vec<&'t str>> {
    let says = |asked: &str| words.iter().any(|word| word == asked);
    let is_of_docs = tokens.contains(&DOCTESTS) && tokens.first() == Some(&"cargo");
    if !is_of_docs || says(DOCTESTS) {
        return Some(tokens.to_vec());
    }
    let rest = tokens.iter().copied().filter(|token| *token != DOCTESTS);
    (!says("--all-targets")).then(|| rest.collect())
}

fn changes_nothing(word: &str, program: &str) -> bool {
    let narrows = NARROWS.contains(&(program, word));
    let widens = WIDENS.contains(&word) || BEGIN.iter().any(|begin| word.starts_with(begin));
    let is_of_tests = TESTERS.contains(&program) && OF_TESTS.contains(&word);
    !narrows && (widens || is_of_tests || EVERYTHING.contains(&word))
}

/// Returns where words stand among others, one behind the other.
fn at(words: &[impl AsRef<str>], tokens: &[&str]) -> Option<usize> {
    let mut places = words.windows(tokens.len().max(1));
    places.position(|some| {
        let mut pairs = some.iter().zip(tokens).enumerate();
        pairs.all(|(index, (word, token))| is_same(word.as_ref(), token, index == 0))
    })
}

/// Says whether a word is another one, be it with a value, a version, or as a program with the way to it.
fn is_same(word: &str, token: &str, is_first: bool) -> bool {
    fn plain(path: &str) -> &str {
        path.trim_start_matches("./")
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let version = word.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_valued = || {
        let value = word.strip_prefix(token).filter(|_| token.starts_with('-'));
        value.is_some_and(|value| value.starts_with('='))
    };
    word == token
        || plain(word) == plain(token)
        || is_first && name == token
        || !token.is_empty() && version == token
        || is_valued()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::model::init::Role;

    #[test]
    fn goals_that_need_much_in_common_are_told_apart_by_what_each_has_of_its_own() {
        const NEEDED: usize = 30;
        let compared = |number: usize| {
            let needed: String = (0..NEEDED).map(|at| format!("cc -c n{at}.c\n")).collect();
            let goals = (0..number).map(|at| {
                let check = format!("{needed}cc -c own{at}.c");
                Proposal::new(Role::Build, &format!("g{at}"), "", check)
            });
            let count = Cell::new(0);
            let covers = |one: &Told, other: &Told| {
                count.set(count.get() + 1);
                one.covers(other)
            };
            let no_texts = &|_: &called::Task| Vec::new();
            let kept = told_once_by(
                &covers,
                goals.collect(),
                no_texts,
                "",
                &mut Found::default(),
            );
            assert_eq!(kept.len(), number);
            count.get()
        };
        for number in [10, 40] {
            // Each pair both ways, and of the commands of one those of the other.
            let most = number * number * (NEEDED + 1);
            assert!(compared(number) <= most, "{} > {most}", compared(number));
        }
    }

    #[test]
    fn what_says_less_does_not_cover_what_says_all() {
        for (check, same, expected) in [
            ("cargo test", "cargo test", true),
            ("cargo test --workspace --locked", "cargo test", true),
            ("cargo test -- --nocapture", "cargo test", true),
            (
                "set -e\ncargo test --all\ncargo test --doc",
                "cargo test",
                true,
            ),
            (
                "RUSTFLAGS='-D warnings' cargo clippy -- -D warnings",
                "cargo clippy",
                true,
            ),
            ("cargo test -p evolve", "cargo test", false),
            ("cargo test --doc", "cargo test", false),
            ("cargo test --locked", "cargo test --doc", true),
            ("cargo test --doc --locked", "cargo test --doc", true),
            ("cargo test --all-targets", "cargo test --doc", false),
            ("cargo test --lib", "cargo test --doc", false),
            ("cargo test tests", "cargo test", false),
            ("cargo test --features x", "cargo test", false),
            ("cargo build --target wasm32-wasip1", "cargo build", false),
            ("go test -race -count=1 -timeout 10m ./...", "go test", true),
            ("go test ./cmd/x", "go test", false),
            ("GOOS=windows go build ./...", "go build", false),
            ("python -m pytest -n auto --cov=x tests/", "pytest", true),
            ("pytest --durations=10 -vv", "pytest", true),
            ("pytest tests/unit", "pytest", false),
            ("pytest -k fast", "pytest", false),
            ("pytest --doctest-modules", "pytest", false),
            ("python -m pytester", "pytest", false),
            ("npm run test:unit", "npm run test", false),
            ("npm run lint -- --max-warnings=0", "npm run lint", true),
            ("npm --prefix web run lint", "npm run lint", false),
            ("make -j4 check V=1", "make check", true),
            ("make -C docs check", "make check", false),
            ("make check-links", "make check", false),
            ("make check HAVE_X=0", "make check", false),
            ("mvn -B -ntp verify", "mvn verify", true),
            ("mvn -B -pl core verify", "mvn verify", false),
            ("./gradlew check -x test", "gradlew check", false),
            ("./gradlew check", "gradlew check", true),
            ("./scripts/check-x.sh --all", "scripts/check-x.sh", true),
            ("eslint src", "eslint", false),
            ("vendor/bin/phpunit", "phpunit", true),
            ("echo cargo test", "cargo test", false),
        ] {
            assert_eq!(covers(check, same, same), expected, "{check}: {same}");
        }
    }

    #[test]
    fn what_stands_in_both_takes_nothing_away() {
        for (check, same, own, expected) in [
            ("ruff check .", "ruff", "ruff check", true),
            ("ruff check src", "ruff", "ruff check src", true),
            ("ruff check src", "ruff", "ruff check", false),
            (
                "golangci-lint run",
                "golangci-lint",
                "golangci-lint run",
                true,
            ),
            (
                "golangci-lint run ./a",
                "golangci-lint",
                "golangci-lint run",
                false,
            ),
            (
                "cargo build",
                "cargo build",
                "cargo build --workspace",
                false,
            ),
            (
                "cargo build --all --locked",
                "cargo build",
                "cargo build --workspace",
                true,
            ),
            (
                "cargo clippy -- -D warnings",
                "cargo clippy",
                "cargo clippy --all-targets -- -D warnings",
                false,
            ),
            (
                "cargo clippy --all-targets",
                "cargo clippy",
                "cargo clippy --all-targets -- -D warnings",
                false,
            ),
            (
                "RUSTFLAGS='-D warnings' cargo clippy --all-targets",
                "cargo clippy",
                "cargo clippy --all-targets -- -D warnings",
                true,
            ),
            (
                "cargo doc --no-deps",
                "cargo doc",
                "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps",
                false,
            ),
            ("go vet", "go vet", "go vet ./...", false),
            (
                "npx eslint src",
                "eslint",
                "npx --no-install eslint .",
                false,
            ),
        ] {
            assert_eq!(covers(check, same, own), expected, "{check}: {own}");
        }
    }

    #[test]
    fn a_check_is_run_by_others_where_each_of_its_commands_is() {
        for (check, others, expected) in [
            ("cargo test --verbose", &["cargo test --quiet"][..], true),
            ("cargo test --locked -- --nocapture", &["cargo test"], true),
            ("cargo build -j 4", &["cargo build"], true),
            ("npm run test", &["npm test --silent"], true),
            ("yarn lint", &["npm run --silent lint"], true),
            ("pytest -v --cov=a", &[".venv/bin/pytest -q"], true),
            ("go test -v ./...", &["go test ./..."], true),
            (
                "set -e\ncargo test\ncargo test --no-default-features",
                &["cargo test", "cargo test --no-default-features --quiet"],
                true,
            ),
            (
                "set -e\ncargo test\ncargo test --no-default-features",
                &["cargo test"],
                false,
            ),
            ("cargo test --all-features", &["cargo test"], false),
            ("cargo fmt -- --check", &["cargo fmt --check"], true),
            (
                "cargo clippy --locked --all-targets",
                &["cargo clippy --quiet --all-targets --locked -- -D warnings"],
                true,
            ),
            ("cargo clippy -- -D warnings", &["cargo clippy"], false),
            (
                "cargo test --workspace --all-targets",
                &["cargo test --all-targets --workspace"],
                true,
            ),
            ("cargo test --release", &["cargo test"], false),
            ("cargo test", &["cargo test --lib"], false),
            ("cargo test --doc", &["cargo test --quiet"], true),
            (
                "cargo test --doc --workspace",
                &["cargo test --all-targets --workspace"],
                false,
            ),
            ("cargo test --doc --workspace", &["cargo test"], false),
            ("cargo test --doc", &["cargo nextest run"], false),
            ("go test -race ./...", &["go test ./..."], false),
            ("npm run lint -- --fix-dry-run", &["npm run lint"], false),
            ("cd a && cargo test", &["cargo test"], false),
            ("grep -v a b", &["grep a b"], false),
            ("set -e", &["cargo test"], false),
        ] {
            let others = others.iter().copied();
            assert_eq!(is_run_by(check, others), expected, "{check}");
        }
    }

    #[test]
    fn words_are_whole_and_of_one_command() {
        for (check, same, expected) in [
            ("cargo test -p x", "cargo test", true),
            ("cargo tests", "cargo test", false),
            ("cargo build && go test", "build go", false),
            ("npm run test:unit", "npm run test", false),
            ("make check-links", "make check", false),
            ("go test -coverprofile=c ./...", "-coverprofile", true),
            ("tox -e py312", "tox -e py", true),
            ("cd web && .venv/bin/pytest -q", "pytest", true),
            ("! git grep '^<<<<<<< '", "<<<<<<<", true),
        ] {
            assert_eq!(has(check, same), expected, "{check}: {same}");
        }
    }
}
