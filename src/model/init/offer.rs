//! A goal that is proposed, and what it is worth. Pure.

use std::cell::Cell;
use std::sync::LazyLock;

use regex::Regex;

use super::called::{self, AROUND, TextsOf};
use super::loops::ends_well_anyway;
use super::writers;
use super::{Found, Look, split, unclean};
use crate::model::check::{self, cannot_fail, only_asks};
use crate::model::text;

/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 120;
/// The longest id that is proposed.
const LONGEST_ID: usize = 48;
/// The longest one, and of how many words, that is made of what somebody wrote as a sentence or a command.
const LONGEST_SHORT: usize = 30;
const MOST_WORDS: usize = 4;
/// Words that say nothing of what a step looks at, and programs that only start others.
const NOT_TELLING: [&str; 55] = [
    "all", "an", "and", "are", "be", "been", "bin", "bunx", "but", "by", "can", "cannot", "do",
    "does", "don", "done", "ensure", "env", "exec", "fi", "for", "from", "has", "have", "if", "in",
    "is", "it", "no", "not", "npx", "of", "on", "or", "our", "run", "running", "runs", "sh",
    "sudo", "sure", "that", "the", "their", "then", "this", "to", "using", "uv", "uvx", "via",
    "we", "when", "with", "you",
];
/// What a shell puts another command's output in place of.
static SUBSTITUTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\$\([^()]*\)|`[^`]*`").expect("BUG: a pattern of ours is no pattern")
});

/// What a goal looks after, in the order in which they matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// It builds, works, and nothing that looks for mistakes finds one.
    Health,
    /// It is shaped as it is meant to be.
    Architecture,
    /// Tests would notice.
    Testing,
    /// It says how it is used.
    Documentation,
    /// It is tidy.
    Cleanup,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 5] = [
        Part::Health,
        Part::Architecture,
        Part::Testing,
        Part::Documentation,
        Part::Cleanup,
    ];

    /// Returns its heading in the goals file.
    pub fn heading(self) -> &'static str {
        match self {
            Part::Health => {
                "Code health: it builds, works, and what looks for mistakes finds none."
            }
            Part::Architecture => "Architecture: it is shaped as it is meant to be.",
            Part::Testing => "Testing: a mistake would be noticed.",
            Part::Documentation => "Documentation: it can be read, and is right.",
            Part::Cleanup => "Cleanup: it is tidy.",
        }
    }

    /// Returns its word as a goal's `pillar`.
    pub fn word(self) -> &'static str {
        match self {
            Part::Health => "code-health",
            Part::Architecture => "architecture",
            Part::Testing => "testing",
            Part::Documentation => "documentation",
            Part::Cleanup => "cleanup",
        }
    }

    /// Returns the `type` of its goals; none where it is the default.
    pub fn kind(self) -> Option<&'static str> {
        match self {
            Part::Health => None,
            Part::Architecture => Some("architecture"),
            Part::Testing | Part::Documentation | Part::Cleanup => Some("quality"),
        }
    }
}

/// What a goal does for its project; one is enough where two tools would do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It builds.
    Build,
    /// Its tests pass.
    Test,
    /// Types fit.
    Types,
    /// No mistake is found by looking.
    Lint,
    /// Parts depend on each other as they may.
    Structure,
    /// How much tests run.
    Coverage,
    /// Its documentation builds.
    Docs,
    /// Its files are formatted.
    Format,
    /// Words and small things.
    Style,
}

impl Role {
    /// Returns the part it belongs to.
    pub fn part(self) -> Part {
        match self {
            Role::Build | Role::Test | Role::Types | Role::Lint => Part::Health,
            Role::Structure => Part::Architecture,
            Role::Coverage => Part::Testing,
            Role::Docs => Part::Documentation,
            Role::Format | Role::Style => Part::Cleanup,
        }
    }

    /// Returns the weight of its goals.
    pub fn weight(self) -> u8 {
        match self {
            Role::Build => 10,
            Role::Test => 9,
            Role::Types => 8,
            Role::Lint => 7,
            Role::Structure => 6,
            Role::Coverage => 5,
            Role::Docs => 4,
            Role::Format => 3,
            Role::Style => 2,
        }
    }
}

/// A number that a check measures.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What it is.
    pub metric: &'static str,
    /// The least it may be.
    pub floor: f64,
    /// The project says the floor itself.
    pub is_own: bool,
    /// Where it stands: the value of `read:`.
    pub read: String,
}

/// A goal that is proposed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Its id.
    pub id: String,
    /// What should hold.
    pub description: String,
    /// The command that tells.
    pub check: String,
    /// What it does.
    pub role: Role,
    /// 1 to 10.
    pub weight: u8,
    /// What it was found by, for its comment.
    pub source: String,
    /// The folder of its project; empty for the root.
    pub folder: String,
    /// Words of checks that do the same.
    pub same: Vec<String>,
    /// What it lacks to run here, and how that is had.
    pub missing: Option<String>,
    /// Never beside another check.
    pub is_alone: bool,
    /// What it measures, if that is a number.
    pub measured: Option<Measured>,
}

impl Proposal {
    /// Makes a goal of a role for the project in a folder; the check runs there.
    pub fn new(role: Role, id: &str, folder: &str, check: impl AsRef<str>) -> Proposal {
        let check = check.as_ref();
        let (id, check) = match folder {
            "" => (id.to_owned(), check.to_owned()),
            folder => (format!("{}-{id}", slug(folder)), in_folder(folder, check)),
        };
        Proposal {
            id: id_of(&id),
            description: String::new(),
            check,
            role,
            weight: role.weight(),
            source: String::new(),
            folder: folder.to_owned(),
            same: Vec::new(),
            missing: None,
            is_alone: false,
            measured: None,
        }
    }

    /// Says what should hold.
    pub fn says(mut self, description: impl AsRef<str>) -> Proposal {
        let place = match self.folder.as_str() {
            "" => String::new(),
            folder => format!(" (in {folder})"),
        };
        let description = text::cut(description.as_ref(), LONGEST_DESCRIPTION);
        self.description = text::clean_line(&format!("{description}{place}"));
        self
    }

    /// Says what it was found by.
    pub fn seen_in(mut self, source: impl AsRef<str>) -> Proposal {
        self.source = text::clean_line(source.as_ref());
        self
    }

    /// Adds words of checks that do the same.
    pub fn same_as(mut self, words: &[&str]) -> Proposal {
        self.same
            .extend(words.iter().map(|word| (*word).to_owned()));
        self
    }

    /// Says that it needs a program, and how that is installed.
    pub fn needs(self, look: &dyn Look, program: &str, install: &str) -> Proposal {
        match look.finds(program) {
            true => self,
            false => self.lacks(format!("{program} is not installed: {install}")),
        }
    }

    /// Says what it lacks to run; the first thing counts.
    pub fn lacks(mut self, what: impl Into<String>) -> Proposal {
        self.missing.get_or_insert(what.into());
        self
    }

    /// Says whether it waits only until somebody has looked at it, and takes the marks of its comment away.
    pub fn waits_for_a_look(&self) -> bool {
        let why = self.missing.as_ref();
        why.is_some_and(|why| why.ends_with(TAKE_AWAY))
    }

    /// Says that it is never measured beside another one.
    pub fn alone(mut self) -> Proposal {
        self.is_alone = true;
        self
    }

    /// Says which number it measures: coverage, with the project's own floor or else the wished one.
    pub fn covers(mut self, own: Option<f64>, wished: f64, read: &str) -> Proposal {
        let own = own.filter(|own| (1.0..=100.0).contains(own));
        let floor = own.unwrap_or(wished);
        self.description = format!(
            "Tests run at least {} % of the lines{}",
            text::number(floor),
            match self.folder.as_str() {
                "" => String::new(),
                folder => format!(" (in {})", text::clean_line(folder)),
            }
        );
        self.measured = Some(Measured {
            metric: "covered lines, percent",
            floor,
            is_own: own.is_some(),
            read: read.to_owned(),
        });
        self.alone()
    }
}

/// How a reason ends for which a goal waits only until somebody has looked at it.
const TAKE_AWAY: &str = "take the # away";
/// Why something that goes on makes no goal.
pub(super) const ENDLESS: &str = "it does not end by itself";
/// Why something that is called like nothing known makes no goal.
pub(super) const NO_NAME: &str = "not called as a check is";
/// Why what cannot fail makes no goal.
pub(super) const SUCCEEDS: &str = "it succeeds whatever it finds";
/// Why what checks nothing makes no goal.
pub(super) const ONLY_SAYS: &str = "it only says something";
/// What says something, or ends.
const SAYS: [&str; 6] = [":", "echo", "exit", "false", "printf", "true"];
/// What is said behind the id of a goal by what does no more than it.
pub(super) const TOLD: &str = " tells the same";
/// How many tasks are followed that call each other.
pub(super) const MOST_TASKS: usize = 64;
/// What has a shell end well however it ends.
static ENDS_WELL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\btrap\s+["'][^"'\n]*\bexit(?:\s+0)?\s*;?\s*["']\s+(?:EXIT|0)\b"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// How many of those are named in one line.
pub(super) const NAMED: usize = 6;

/// Says why a target, recipe or script of this name and text makes no goal.
pub(super) fn no_goal(name: &str, text: &str, texts_of: TextsOf) -> Option<String> {
    match is_endless(name) {
        true => Some(ENDLESS.to_owned()),
        false => tells_nothing(text, texts_of)
            .map(str::to_owned)
            .or_else(|| no_goal_of_part(name, text, texts_of)),
    }
}

/// Says whether a command only says something, or ends.
pub(super) fn says(one: &check::Done) -> bool {
    SAYS.contains(&one.words[0].as_str())
}

/// Says why commands tell nothing: they cannot fail, or only say something.
pub(super) fn tells_nothing(text: &str, texts_of: TextsOf) -> Option<&'static str> {
    let reached = || writers::reached(text, texts_of);
    let is_passed_by = |one: &check::Done| {
        let mut tasks = called::tasks(one).into_iter().flatten().peekable();
        let is_called = tasks.peek().is_some() && tasks.all(|task| !texts_of(&task).is_empty());
        says(one) || is_called
    };
    let only_says = |all: Vec<check::Done>| all.iter().any(says) && all.iter().all(is_passed_by);
    match () {
        () if succeeds_by(text, texts_of, &Cell::new(MOST_TASKS)) || ends_well(text) => {
            Some(SUCCEEDS)
        }
        () if only_says(reached()) => Some(ONLY_SAYS),
        () => None,
    }
}

/// Says whether a text ends well however it goes, for a shell is told so: `trap 'exit 0' EXIT`.
pub(super) fn ends_well(text: &str) -> bool {
    ENDS_WELL.is_match(text)
}

/// Says whether a command runs a script of the shell that ends well whatever its commands find. An option may have the shell stop.
fn by_script(one: &check::Done, texts_of: TextsOf) -> bool {
    const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];
    let path = match one.words.as_slice() {
        [shell, path, ..] if SHELLS.contains(&shell.as_str()) => path,
        [path, ..] if path.contains('/') => path,
        _ => return false,
    };
    let texts = texts_of(&called::Task::of_script(path, one.dir.as_deref()));
    !texts.is_empty() && texts.iter().all(|text| ends_well_anyway(text))
}

/// Says why a script of the shell tells nothing: it cannot fail, or only says something.
pub(super) fn script_tells_nothing(script: &str, texts_of: TextsOf) -> Option<&'static str> {
    let anyway = || ends_well_anyway(script).then_some(SUCCEEDS);
    tells_nothing(script, texts_of).or_else(anyway)
}

/// Says whether one more task is followed.
pub(super) fn takes_one(left: &Cell<usize>) -> bool {
    let rest = left.get().checked_sub(1);
    left.set(rest.unwrap_or_default());
    rest.is_some()
}

/// Says whether commands cannot fail, or call nothing but tasks that cannot.
fn succeeds_by(text: &str, texts_of: TextsOf, left: &Cell<usize>) -> bool {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let is_around = |line: &str| {
        let all = check::done(line);
        all.iter()
            .all(|one| AROUND.contains(&one.words[0].as_str()))
    };
    let by_tasks = |line: &str| {
        let all = check::done(line);
        let mut all = all
            .iter()
            .filter(|one| !AROUND.contains(&one.words[0].as_str()));
        let mut texts = Vec::new();
        let is_known = all.all(|one| {
            if by_script(one, texts_of) {
                return true;
            }
            let tasks = called::tasks(one).unwrap_or_default();
            let of_each: Vec<_> = tasks.iter().map(texts_of).collect();
            let is_known = !of_each.is_empty() && of_each.iter().all(|it| !it.is_empty());
            texts.extend(of_each.into_iter().flatten());
            is_known
        });
        let succeeds = |text: &String| takes_one(left) && succeeds_by(text, texts_of, left);
        !line.trim_start().starts_with('!') && is_known && texts.iter().all(succeeds)
    };
    // Of a pipe only its end counts.
    let is_of_last = !text.contains("pipefail");
    let by_loop = |line: &str| {
        let end = line.rsplit_once("| while ").filter(|_| is_of_last);
        end.is_some_and(|(before, rest)| {
            !before.ends_with('|') && only_asks(&format!("while {rest}"))
        })
    };
    let goes_well =
        |line: &&str| cannot_fail(line) || is_around(line) || by_tasks(line) || by_loop(line);
    !lines.is_empty()
        && lines.iter().all(goes_well)
        && !lines
            .iter()
            .all(|line| is_around(line) && !cannot_fail(line))
}

/// The same where what it runs before is not known, and may fail.
pub(super) fn no_goal_of_part(name: &str, text: &str, texts_of: TextsOf) -> Option<String> {
    match is_endless(name) {
        true => Some(ENDLESS.to_owned()),
        false => writers::of_task(name, text, texts_of)
            .or_else(|| unclean::why(text, texts_of))
            .or_else(|| {
                let command = writers::hidden(text, texts_of)?;
                Some(format!("evolve cannot tell what it runs ({command})"))
            }),
    }
}

/// Says why a target or recipe makes no goal by its name alone.
pub(super) fn by_name(name: &str) -> Option<&'static str> {
    match () {
        () if is_endless(name) => Some(ENDLESS),
        () if writers::is_called_a_writer(name) => Some(writers::BY_NAME),
        () => None,
    }
}

fn is_endless(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| word == "watch")
}

/// Says whether a target, recipe or script is called as one that checks something of its own: `check-links`, `check:links`.
pub(super) fn is_check(name: &str) -> bool {
    let begins = ["check-", "check:", "check_"];
    let of = begins.iter().find_map(|begin| name.strip_prefix(begin));
    // What others released says nothing of the repository.
    let of_others = ["update", "updates", "upgrade", "upgrades", "outdated"];
    of.is_some_and(|of| {
        let mut words = of.split(|c: char| !c.is_ascii_alphanumeric());
        !of.is_empty() && !words.any(|word| of_others.contains(&word))
    })
}

/// Returns a command that runs in a folder.
fn in_folder(folder: &str, check: &str) -> String {
    let folder = text::shell_word(folder);
    match check.contains('\n') {
        true => format!("cd {folder} || exit\n{check}"),
        false => format!("cd {folder} && {check}"),
    }
}

/// Makes a word that can stand in an id of any text.
pub(super) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(plain) {
        match c.is_ascii_alphanumeric() {
            true => slug.push(c.to_ascii_lowercase()),
            false if slug.ends_with('-') || slug.is_empty() => {}
            false => slug.push('-'),
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// Returns a letter as it is written without marks: `ü` as `ue`.
fn plain(letter: char) -> impl Iterator<Item = char> {
    const PLAIN: [(&str, &str); 22] = [
        ("äæ", "ae"),
        ("öœø", "oe"),
        ("ü", "ue"),
        ("ß", "ss"),
        ("àáâãåāąă", "a"),
        ("çćč", "c"),
        ("ďđ", "d"),
        ("èéêëēęě", "e"),
        ("ğ", "g"),
        ("ìíîïīı", "i"),
        ("ł", "l"),
        ("ñńň", "n"),
        ("òóôõō", "o"),
        ("ř", "r"),
        ("śšşș", "s"),
        ("ťțţ", "t"),
        ("ùúûūů", "u"),
        ("ý", "y"),
        ("ÿ", "y"),
        ("źžż", "z"),
        ("þ", "th"),
        ("ð", "d"),
    ];
    let small = letter.to_lowercase().next().unwrap_or(letter);
    let found = PLAIN.iter().find(|(letters, _)| letters.contains(small));
    let found = found.map(|(_, plain)| *plain).unwrap_or_default();
    let own = found.is_empty().then_some(letter);
    found.chars().chain(own)
}

/// Makes an id of any text: kebab-case, not too long, and no number.
pub(super) fn id_of(text: &str) -> String {
    let slug = slug(text);
    let mut id = String::new();
    for part in slug.split('-') {
        if !id.is_empty() && id.len() + 1 + part.len() > LONGEST_ID {
            break;
        }
        if !id.is_empty() {
            id.push('-');
        }
        id.extend(part.chars().take(LONGEST_ID));
    }
    // Words that YAML has other meanings for are none.
    let is_word = !["false", "n", "no", "null", "off", "on", "true", "y", "yes"].contains(&&*id);
    match is_word && id.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => id,
        false => format!("check-{id}").trim_end_matches('-').to_owned(),
    }
}

/// Returns the text of an id for a command, or for what somebody calls one: as it is where it is short, else its first telling words.
pub(super) fn short(text: &str) -> String {
    let whole = slug(text);
    if whole.len() <= LONGEST_SHORT && whole.split('-').count() <= MOST_WORDS {
        return whole;
    }
    let text = SUBSTITUTED.replace_all(text, " ");
    let is_said =
        |word: &&str| !(word.starts_with('-') || word.contains(['$', '(', '=', '<', '>']));
    let words = text.split_whitespace().filter(is_said);
    // Of a path that leads elsewhere the file says most.
    let words = words.map(|word| match word.starts_with(['.', '/']) {
        true => slug(split(word.trim_end_matches('/')).1),
        false => slug(word),
    });
    let words: Vec<String> = words
        .flat_map(|word| word.split('-').map(str::to_owned).collect::<Vec<_>>())
        .filter(|word| word.len() > 1 && !NOT_TELLING.contains(&word.as_str()))
        .collect();
    let mut id = String::new();
    for word in words.iter().take(MOST_WORDS) {
        if !id.is_empty() && id.len() + 1 + word.len() > LONGEST_SHORT {
            break;
        }
        if !id.is_empty() {
            id.push('-');
        }
        id.extend(word.chars().take(LONGEST_SHORT));
    }
    match id.is_empty() {
        true => whole,
        false => id,
    }
}

/// Returns how a note on a folder begins.
pub(super) fn not_ignored(folder: &str) -> String {
    format!("git does not ignore {folder}:")
}

/// The goal that every repository may have.
pub(super) const GENERAL: &str = "no-conflict-markers";

/// Proposes what every repository may have, and notes what git had better not look at.
pub(super) fn general(look: &dyn Look, found: &mut Found) {
    for folder in ["node_modules", "target", ".venv", "venv"] {
        let below = format!("{folder}/");
        if look.files().iter().any(|path| path.starts_with(&below)) {
            found.notes.push(format!(
                "{} a line {below} in .gitignore keeps its files out of commits and out of the way",
                not_ignored(folder)
            ));
        }
    }
    let check = "! git grep -InE '^(<<<<<<<|>>>>>>>) ' -- . ':!.agents'";
    let mut goal = Proposal::new(Role::Lint, GENERAL, "", check)
        .says("No merge conflict is left over")
        .same_as(&["<<<<<<<"]);
    // Not the role of any tool: it stands in nobody's way.
    goal.folder = "/".to_owned();
    goal.source = "any repository".to_owned();
    found.proposals.push(goal);
}
