//! Which refs checks compare with: the words of their texts that may be refs, what each means to git, and what became of that. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

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
const OPTIONS: [&str; 19] = [
    "against",
    "base",
    "baseline",
    "baseline-rev",
    "branch",
    "changedsince",
    "commit",
    "compare-branch",
    "from",
    "from-ref",
    "new-from-rev",
    "ref",
    "rev",
    "rev-range",
    "revision",
    "since",
    "tag",
    "to",
    "to-ref",
];

/// The words of a text that may be refs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Those that stand where a ref does, if there is one of the name.
    pub sure: BTreeSet<String>,
    /// All others.
    pub other: BTreeSet<String>,
    /// The text brings refs of other repositories up to date itself.
    pub fetches: bool,
}

/// Finds the words of a check, or of a script that one runs.
pub fn words(text: &str) -> Words {
    let mut found = Words::default();
    let text = text.replace("\\\n", " ");
    let has_git = text.split(is_between).any(is_git);
    for part in text.split(['\n', ';', '|', '&', '(', ')', '`']) {
        let all: Vec<&str> = part.split(is_between).filter(|w| !w.is_empty()).collect();
        let is_of_git = all.iter().any(|word| is_git(word));
        let has = |wanted: &str| all.contains(&wanted);
        found.fetches |= is_of_git
            && (has("fetch") || has("pull") || has("remote") && has("update") || has("--mirror"));
        let mut before = "";
        // What follows is paths.
        for word in all.iter().take_while(|word| **word != "--") {
            let mut key = before;
            for piece in word.split(['=', ':', '#', '^', '~', '{', '}', '$']) {
                for name in piece.split("..").map(bare).filter(|name| !name.is_empty()) {
                    let is_option = OPTIONS.contains(&bare(key).to_lowercase().as_str());
                    let is_given = has_git && word.contains('=') && key != before;
                    match is_of_git || is_option || is_given || name.starts_with("refs/") {
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

fn is_between(letter: char) -> bool {
    letter.is_whitespace() || ";|&()`'\"<>,[]".contains(letter)
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

impl Other {
    /// Says whether a word means a ref of which a fetch brings what is newer.
    pub fn is_fetched(&self) -> bool {
        let is_tracking = |name: &String| name.starts_with(TRACKING);
        !matches!(self.fate, Fate::Hidden(_)) && self.names.iter().all(is_tracking)
    }
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = &self.word;
        match &self.fate {
            Fate::Moved => write!(f, "{word} was moved"),
            Fate::Gone => write!(f, "{word} was removed"),
            Fate::Hidden(by) => write!(f, "{word} is {by} now"),
            Fate::Made => write!(f, "{word} was made"),
        }
    }
}

/// Says whether a word means a tracking ref: nobody calls anything else `origin/main`.
pub fn is_tracking(word: &str, refs: &Refs) -> bool {
    let is_tracking = |meant: Meant<'_>| meant.names.iter().any(|n| n.starts_with(TRACKING));
    word.contains('/') && meant(word, refs).is_some_and(is_tracking)
}

/// Says of each word that does not mean the object that it meant before what became of it. The branch that is worked on moves.
pub fn others<'w>(
    words: impl IntoIterator<Item = &'w String>,
    (before, now): (&Refs, &Refs),
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
        ] {
            let found = words(text);
            assert!(found.sure.contains(name), "{text}: {found:?}");
        }
        for (text, name) in [
            ("cargo test && git diff --quiet v1", "test"),
            ("make main", "main"),
            ("diff-cover c.xml origin/main", "origin/main"),
        ] {
            let found = words(text);
            assert!(!found.sure.contains(name), "{text}: {found:?}");
            assert!(found.other.contains(name), "{text}: {found:?}");
        }
        for text in ["git diff v1 -- main", "git diff main2 domain main.rs"] {
            let found = words(text);
            let all: Vec<_> = found.sure.union(&found.other).collect();
            assert!(!all.contains(&&"main".to_owned()), "{text}: {found:?}");
        }
        assert!(words("git fetch -q && git diff origin/main").fetches);
        assert!(!words("git diff origin/fetch").fetches);
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
            let found = others(&words, (&before, &now), "refs/heads/night");
            let found = found.first().map(|other| other.fate.clone());
            assert_eq!(found, fate, "{word}: {name} is {target:?}");
        }
    }
}
