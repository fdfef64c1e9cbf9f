//! Which refs checks compare with: the words of their texts that may be refs, what each means to git, and what became of that. Pure.

mod dynamic;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

/// All refs by name, each with its object, or with another ref as in `ref:refs/heads/main`.
pub type Refs = BTreeMap<String, String>;

const SYMBOLIC: &str = "ref:";
const TRACKING: &str = "refs/remotes/";
/// How many refs may stand for one another, as git counts.
const DEEPEST: usize = 5;
/// Where git looks for a name, the first first.
const PLACES: [(&str, &str); 6] = [
    ("", ""),
    ("refs/", ""),
    ("refs/tags/", ""),
    ("refs/heads/", ""),
    (TRACKING, ""),
    (TRACKING, "/HEAD"),
];
/// Options, and parts of addresses, with which programs other than git are told a ref.
const OPTIONS: [&str; 25] = [
    "against",
    "base",
    "base-branch",
    "base-ref",
    "baseline",
    "baseline-commit",
    "baseline-rev",
    "branch",
    "changedsince",
    "commit",
    "compare-branch",
    "compare-with",
    "from",
    "from-ref",
    "new-from-rev",
    "ref",
    "rev",
    "rev-range",
    "revision",
    "since",
    "since-commit",
    "tag",
    "target-branch",
    "to",
    "to-ref",
];

/// Commands of git whose words are no refs that anything is compared with: paths, names of remotes, what is fetched.
const WITHOUT_REFS: [&str; 21] = [
    "add",
    "apply",
    "check-attr",
    "check-ignore",
    "clean",
    "clone",
    "commit",
    "config",
    "fetch",
    "fsck",
    "gc",
    "hash-object",
    "init",
    "lfs",
    "ls-files",
    "ls-remote",
    "mv",
    "pull",
    "push",
    "remote",
    "status",
];
/// What commands end with.
const ENDS: [char; 7] = ['\n', ';', '|', '&', '(', ')', '`'];
/// Programs whose tags are names of images.
const OF_IMAGES: [&str; 3] = ["buildah", "docker", "podman"];
/// Commands and options of git that list refs, or choose among them.
const ASKING: [&str; 10] = [
    "describe",
    "for-each-ref",
    "tag",
    "branch",
    "show-ref",
    "name-rev",
    "--all",
    "--branches",
    "--remotes",
    "--tags",
];
/// How a branch's place at another repository is asked for.
const UPSTREAMS: [&str; 3] = ["@{u}", "@{upstream}", "@{push}"];

/// The words of a text that may be refs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Those that stand where a ref does, if there is one of the name.
    pub sure: BTreeSet<String>,
    /// All others.
    pub other: BTreeSet<String>,
    /// How names begin of which the rest is put in by a shell.
    pub begun: BTreeSet<String>,
    /// Branches whose place at another repository is asked for, as in `main@{upstream}`.
    pub upstreams: BTreeSet<String>,
    /// The text brings refs of other repositories up to date itself.
    pub fetches: bool,
    /// The text asks git which refs there are.
    pub asks: bool,
    /// The text hands git a revision that only running it tells.
    pub is_dynamic: bool,
}

/// What the checks of a cycle compare with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// Words that stand where a ref does.
    pub sure: BTreeSet<String>,
    /// The same in files of which checks run only a part.
    pub leaned_on: BTreeSet<String>,
    /// Words of checks that may be refs.
    pub other: BTreeSet<String>,
    /// Checks bring refs of other repositories up to date themselves.
    pub fetches: bool,
    /// Checks ask git which refs there are.
    pub asks: bool,
    /// Checks hand git a revision that only running them tells: it may be any.
    pub is_dynamic: bool,
}

impl Compared {
    /// Says whether there is nothing of the kind.
    pub fn is_empty(&self) -> bool {
        *self == Compared::default()
    }

    /// Takes in the words of a check, of a script that one runs, or of a file that one only leans on.
    pub fn add(&mut self, words: Words, source: Source, refs: &Refs) {
        let Words {
            sure,
            other,
            begun,
            fetches,
            asks,
            is_dynamic,
            ..
        } = words;
        let is_begun = |word: &String| begun.iter().any(|front| word.starts_with(front.as_str()));
        let names = all_words(refs).filter(is_begun);
        let (tracking, other): (BTreeSet<_>, BTreeSet<_>) =
            other.into_iter().partition(|word| is_tracking(word, refs));
        let mut sure: BTreeSet<String> = sure.into_iter().chain(names).chain(tracking).collect();
        if source == Source::Check {
            self.other.extend(other);
        } else {
            // Of the many words of a file those that mean something.
            let is_ref = |word: &String| meant(word, refs).is_some();
            sure.retain(is_ref);
        }
        match source {
            Source::LeanedOn => self.leaned_on.extend(sure),
            Source::Check | Source::Script => self.sure.extend(sure),
        }
        self.fetches |= fetches && source != Source::LeanedOn;
        self.is_dynamic |= is_dynamic;
        self.asks |= asks;
    }
}

/// Whose words are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A check's.
    Check,
    /// A script's that a check runs.
    Script,
    /// A file's of which a check runs a part: a makefile, what names the scripts of a package.
    LeanedOn,
}

/// Returns what a ref may be called in a text.
fn words_of(name: &str) -> impl Iterator<Item = String> + '_ {
    let fronts = PLACES.iter().filter(|(_, end)| end.is_empty());
    fronts.filter_map(|(front, _)| name.strip_prefix(front).map(str::to_owned))
}

/// Finds the words of a check, or of a script that one runs, be it for a shell or not.
pub fn words(text: &str, is_shells: bool) -> Words {
    let mut found = Words::default();
    let text = text.replace("\\\n", " ");
    let text: Vec<&str> = text.lines().map(without_comment).collect();
    let text = dynamic::unnested(&text.join("\n"));
    let has_git = text.split(is_between).any(is_git);
    found.is_dynamic = has_git && dynamic::hands(&text, is_shells);
    for part in text.split(ENDS) {
        let all = words_in(part);
        let command = command_of_git(&all);
        let is_of_git = command.is_some();
        let takes_refs = command.is_some_and(|(_, command)| !WITHOUT_REFS.contains(&command));
        let has = |wanted: &str| all.contains(&wanted);
        found.fetches |= is_of_git
            && (has("fetch") || has("pull") || has("remote") && has("update") || has("--mirror"));
        found.asks |= is_of_git && ASKING.iter().any(|asking| has(asking));
        let is_of_images = all.first().is_some_and(|word| OF_IMAGES.contains(word));
        // What `git grep` looks for is the first word that is no option.
        let grep = command.filter(|(_, command)| *command == "grep");
        let pattern = grep.and_then(|(command, _)| {
            let mut words = all.iter().enumerate().skip(command + 1);
            words
                .find(|(_, word)| !word.starts_with('-'))
                .map(|(at, _)| at)
        });
        // Loops over refs: `for base in origin/main main`.
        let looped = all.iter().position(|word| *word == "in");
        let looped = looped.filter(|_| has_git && all.contains(&"for"));
        let mut before = "";
        // What follows is paths.
        let words = all.iter().take_while(|word| **word != "--");
        for (place, word) in words.enumerate() {
            if command.is_some_and(|(command, _)| place == command) {
                before = word;
                continue;
            }
            if takes_refs {
                found
                    .upstreams
                    .extend(word.split("..").filter_map(upstream));
                found.begun.extend(begun(word));
            }
            // What stands in front of a word names it only as an option.
            let mut key = match before.starts_with('-') {
                true => before,
                false => "",
            };
            for piece in word.split(['=', ':', '#', '^', '~', '{', '}', '$']) {
                for name in piece.split("..").map(bare).filter(|name| !name.is_empty()) {
                    let is_option = OPTIONS.contains(&bare(key).to_lowercase().as_str());
                    // `BASE=main`, and `BASE = "main"` of other languages.
                    let is_value = word.contains('=') && key != before && !key.is_empty();
                    let is_given = has_git && (is_value || before.ends_with('='))
                        || looped.is_some_and(|within| place > within);
                    let is_sure = takes_refs && pattern != Some(place)
                        || is_option && !is_of_images
                        || is_given;
                    match is_sure || name.starts_with("refs/") {
                        true => found.sure.insert(name.to_owned()),
                        false => found.other.insert(name.to_owned()),
                    };
                }
                key = piece;
            }
            before = word;
        }
    }
    found
}

/// Returns a line without the comment at its end: none begins within a word, or in quotes.
fn without_comment(line: &str) -> &str {
    let (mut single, mut double, mut before) = (0, 0, ' ');
    for (place, c) in line.char_indices() {
        let is_quoted = single % 2 == 1 || double % 2 == 1;
        if c == '#' && [' ', '\t'].contains(&before) && !is_quoted {
            return &line[..place];
        }
        single += usize::from(c == '\'');
        double += usize::from(c == '"');
        before = c;
    }
    line
}

/// Returns the place of git's command among words, and the command; what follows is no git's if there is none.
fn command_of_git<'w>(words: &[&'w str]) -> Option<(usize, &'w str)> {
    let git = words.iter().position(|word| is_git(word))?;
    let mut place = git + 1;
    while let Some(word) = words.get(place) {
        place += match *word {
            "-C" | "-c" => 2,
            word if word.starts_with('-') => 1,
            word => return Some((place, word)),
        };
    }
    Some((git, "git"))
}

/// Returns the branch of which a word asks what its place at another repository is.
fn upstream(word: &str) -> Option<String> {
    let end = word.find('}')? + 1;
    let asked = word[..end].trim_start_matches(['^', '.']);
    let place = asked.find("@{")?;
    let is_asked = UPSTREAMS.contains(&asked[place..].to_lowercase().as_str());
    is_asked.then(|| asked.to_owned())
}

/// Returns how a name begins in which a shell puts something.
fn begun(word: &str) -> Option<String> {
    let (front, _) = word.split_once('$')?;
    let front = front.rsplit(['=', ':', '^', '{']).next().unwrap_or(front);
    let front = front.rsplit("..").next().unwrap_or(front);
    let is_name =
        !front.is_empty() && !front.starts_with(['/', '.', '-']) && !front.contains(['~', '@']);
    is_name.then(|| front.to_owned())
}

fn is_between(letter: char) -> bool {
    letter.is_whitespace() || ";|&()`'\"<>,[]".contains(letter)
}

/// Returns the words of a command.
fn words_in(part: &str) -> Vec<&str> {
    let all = part.split(is_between);
    all.filter(|word| !word.is_empty()).collect()
}

fn is_git(word: &str) -> bool {
    word.rsplit('/').next() == Some("git")
}

/// Returns a word without what can be at neither end of a ref's name, or is no part of it there.
fn bare(word: &str) -> &str {
    word.trim_matches(['-', '+', '!', '@', '/', '.', '*', '?', '\\'])
}

/// What git takes a name for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Meant<'r> {
    /// The ref, and those that it stands for.
    names: Vec<&'r str>,
    object: &'r str,
}

fn meant<'r>(word: &str, refs: &'r Refs) -> Option<Meant<'r>> {
    PLACES.iter().find_map(|(front, end)| {
        let (name, mut target) = refs.get_key_value(&format!("{front}{word}{end}"))?;
        let mut names = vec![name.as_str()];
        while let Some(other) = target.strip_prefix(SYMBOLIC) {
            let (name, next) = refs.get_key_value(other)?;
            names.push(name);
            target = next;
            if names.len() > DEEPEST {
                return None;
            }
        }
        let object = target;
        Some(Meant { names, object })
    })
}

/// What became of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It leads elsewhere.
    Moved,
    /// It is gone.
    Gone,
    /// Another one is in front of it.
    Hidden(String),
    /// It was not there before.
    Made,
}

/// A ref that means something else now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// What it is called in a text.
    pub word: String,
    /// What became of it.
    pub fate: Fate,
    /// The refs that may have to do with that, by their full names.
    pub names: BTreeSet<String>,
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = &self.word;
        match &self.fate {
            Fate::Moved => write!(f, "{word} was moved"),
            Fate::Gone => write!(f, "{word} was removed"),
            Fate::Hidden(by) if by == word => write!(f, "{word} is the file .git/{by} now"),
            Fate::Hidden(by) => write!(f, "{word} is {by} now"),
            Fate::Made => write!(f, "{word} was made"),
        }
    }
}

/// Returns what became of the branches, tags and tracking refs that were moved, and of refs beside HEAD, where any may be meant: each
/// once, by the shortest of its names. Of a new one only a name counts that meant something, as does the beginning of an object's id.
pub fn any_others<'n>(
    moved: impl Iterator<Item = &'n String>,
    before: &Refs,
    now: &Refs,
    branch: &str,
    names_object: &dyn Fn(&str) -> bool,
) -> Vec<Other> {
    const KINDS: [&str; 3] = ["refs/heads/", "refs/tags/", TRACKING];
    let is_meant = |name: &&String| {
        !name.starts_with("refs/") || KINDS.iter().any(|kind| name.starts_with(kind))
    };
    let words: BTreeSet<String> = moved.filter(is_meant).flat_map(|it| words_of(it)).collect();
    let had_meaning = |word: &&String| meant(word, before).is_some() || names_object(word);
    let mut all = others(words.iter().filter(had_meaning), before, now, branch);
    all.sort_by_key(|other| other.word.len());
    let mut seen = BTreeSet::new();
    all.retain(|other| seen.insert(other.names.clone()));
    all
}

/// Returns all that refs may be called in a text.
pub fn all_words(refs: &Refs) -> impl Iterator<Item = String> + '_ {
    refs.keys().flat_map(|name| words_of(name))
}

/// Says whether a ref says what another repository had.
pub fn is_of_remote(name: &str) -> bool {
    name.starts_with(TRACKING)
}

/// Says whether a word means a tracking ref: nobody calls anything else `origin/main`.
fn is_tracking(word: &str, refs: &Refs) -> bool {
    let is_tracking = |meant: Meant<'_>| meant.names.iter().any(|n| n.starts_with(TRACKING));
    word.contains('/') && meant(word, refs).is_some_and(is_tracking)
}

/// Says of each word that does not mean the object that it meant before what became of it. The branch that is worked on moves.
pub fn others<'w>(
    words: impl IntoIterator<Item = &'w String>,
    before: &Refs,
    now: &Refs,
    branch: &str,
) -> Vec<Other> {
    let found = words.into_iter().filter_map(|word| {
        let (was, is) = (meant(word, before), meant(word, now));
        let last = |meant: &Option<Meant<'_>>| meant.as_ref()?.names.last().map(|n| n.to_string());
        let is_branch = |meant| last(meant).is_some_and(|name| name == branch);
        let object = |meant: &Option<Meant<'_>>| meant.as_ref().map(|m| m.object.to_owned());
        if object(&was) == object(&is) || is_branch(&was) && is_branch(&is) {
            return None;
        }
        let first =
            |meant: &Option<Meant<'_>>| meant.as_ref()?.names.first().map(|n| n.to_string());
        let fate = match (first(&was), first(&is)) {
            (None, _) => Fate::Made,
            (_, None) => Fate::Gone,
            (Some(was), Some(is)) if was != is && !before.contains_key(&is) => Fate::Hidden(is),
            (Some(was), Some(_)) if !now.contains_key(&was) => Fate::Gone,
            (Some(_), Some(_)) => Fate::Moved,
        };
        let names = [was, is]
            .into_iter()
            .flatten()
            .flat_map(|meant| meant.names);
        Some(Other {
            word: word.clone(),
            fate,
            names: names.map(str::to_owned).collect(),
        })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refs(all: &[(&str, &str)]) -> Refs {
        let pair = |(name, target): &(&str, &str)| ((*name).to_owned(), (*target).to_owned());
        all.iter().map(pair).collect()
    }

    #[test]
    fn a_ref_stands_as_a_word_where_git_or_an_option_takes_one() {
        for (text, name) in [
            ("git diff --quiet origin/main -- api.txt", "origin/main"),
            ("git diff --quiet main -- api.txt", "main"),
            ("git show origin/main:c.sh | sh", "origin/main"),
            ("git log origin/main..HEAD", "origin/main"),
            ("git log main...HEAD", "main"),
            ("git diff \"$(git merge-base HEAD 'main')\"", "main"),
            ("git show main@{1}:a", "main"),
            ("git diff main~2^ HEAD", "main"),
            ("git diff refs/heads/main", "refs/heads/main"),
            ("/usr/bin/git diff v1.0", "v1.0"),
            ("git diff \\\n  main", "main"),
            ("base=main\ngit diff \"$base\"", "main"),
            ("git diff ${BASE:-main}", "main"),
            ("subprocess.run([\"git\", \"diff\", \"main\"])", "main"),
            ("buf breaking --against '.git#branch=main'", "main"),
            ("commitlint --from main", "main"),
            ("cargo semver-checks --baseline-rev v1.0", "v1.0"),
            ("diff-cover c.xml --compare-branch=main", "main"),
            ("jest --changedSince main", "main"),
            ("tool refs/tags/v1", "refs/tags/v1"),
            ("git grep -q word main -- api", "main"),
            ("BASE = \"main\"\nrun([\"git\", \"diff\", BASE])", "main"),
            (
                "for b in origin/main main; do git diff --quiet \"$b\"; done",
                "main",
            ),
        ] {
            let found = words(text, true);
            assert!(found.sure.contains(name), "{text}: {found:?}");
        }
        for (text, name) in [
            ("cargo test && git diff --quiet v1", "test"),
            ("make main", "main"),
            ("diff-cover c.xml origin/main", "origin/main"),
            ("git status --porcelain test", "test"),
            ("git ls-remote origin", "origin"),
            ("git fetch -q origin main; git diff x", "main"),
            ("from main import app", "main"),
            ("git grep -q main GOALS.yaml", "main"),
            ("git commit -m main", "main"),
            ("docker build --tag=main .", "main"),
        ] {
            let found = words(text, true);
            assert!(!found.sure.contains(name), "{text}: {found:?}");
            assert!(found.other.contains(name), "{text}: {found:?}");
        }
        for text in [
            "git diff v1 -- main",
            "git diff main2 domain main.rs",
            "git main",
            "# see the git docs of main\ntest -e f",
            "git diff v1 # or git diff main",
        ] {
            let found = words(text, true);
            let all: Vec<_> = found.sure.union(&found.other).collect();
            assert!(!all.contains(&&"main".to_owned()), "{text}: {found:?}");
        }
        assert!(words("git fetch -q && git diff origin/main", true).fetches);
        assert!(!words("git diff origin/fetch", true).fetches);
        let said = words("echo 'a # b'; git diff main", true);
        assert!(said.sure.contains("main"), "{said:?}");
    }

    #[test]
    fn what_git_or_a_shell_has_to_find_out_is_no_word_but_is_seen() {
        for (text, upstream) in [
            ("git diff @{u} -- api", "@{u}"),
            ("git log main@{upstream}..HEAD", "main@{upstream}"),
            ("git log HEAD...@{push}", "@{push}"),
        ] {
            let found = words(text, true);
            assert!(found.upstreams.contains(upstream), "{text}: {found:?}");
        }
        for text in ["git diff origin/$B", "git log HEAD..origin/${B:-x}"] {
            let found = words(text, true);
            assert!(found.begun.contains("origin/"), "{text}: {found:?}");
        }
        assert!(words("git diff \"$(git describe --tags)\"", true).asks);
        assert!(!words("git diff main", true).asks);
        let refs = refs(&[("refs/remotes/origin/main", "1"), ("refs/heads/side", "1")]);
        let mut compared = Compared::default();
        compared.add(words("git diff origin/$B", true), Source::Check, &refs);
        assert!(compared.sure.contains("origin/main"), "{compared:?}");
        assert!(!compared.sure.contains("side"), "{compared:?}");
    }

    #[test]
    fn a_word_means_what_git_finds_first() {
        let before = refs(&[
            ("refs/heads/main", "1"),
            ("refs/heads/night", "1"),
            ("refs/remotes/origin/main", "1"),
            ("refs/remotes/origin/HEAD", "ref:refs/remotes/origin/main"),
        ]);
        let hidden = |by: &str| Some(Fate::Hidden(by.to_owned()));
        for (word, name, target, fate) in [
            (
                "origin/main",
                "refs/remotes/origin/main",
                "2",
                Some(Fate::Moved),
            ),
            ("origin", "refs/remotes/origin/main", "2", Some(Fate::Moved)),
            (
                "origin/main",
                "refs/remotes/origin/main",
                "",
                Some(Fate::Gone),
            ),
            (
                "origin/HEAD",
                "refs/remotes/origin/main",
                "",
                Some(Fate::Gone),
            ),
            (
                "origin",
                "refs/remotes/origin/HEAD",
                "ref:refs/heads/night",
                None,
            ),
            (
                "origin/main",
                "refs/tags/origin/main",
                "2",
                hidden("refs/tags/origin/main"),
            ),
            (
                "origin/main",
                "refs/heads/origin/main",
                "2",
                hidden("refs/heads/origin/main"),
            ),
            ("heads/main", "refs/heads/main", "2", Some(Fate::Moved)),
            ("main", "refs/remotes/main/HEAD", "2", None),
            ("main", "main", "2", hidden("main")),
            ("main", "refs/heads/other", "2", None),
            ("night", "refs/heads/night", "2", None),
            ("night", "refs/tags/night", "2", hidden("refs/tags/night")),
            ("v1", "refs/tags/v1", "2", Some(Fate::Made)),
        ] {
            let mut now = before.clone();
            match target {
                "" => now.remove(name),
                _ => now.insert(name.to_owned(), target.to_owned()),
            };
            let words = [word.to_owned()];
            let found = others(&words, &before, &now, "refs/heads/night");
            let found = found.first().map(|other| other.fate.clone());
            assert_eq!(found, fate, "{word}: {name} is {target:?}");
        }
    }
}
