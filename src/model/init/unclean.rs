//! Checks that want nothing to be new: they fail as long as GOALS.yaml is no part of the repository. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::called::TextsOf;
use super::writers;

/// How git is asked for all that is changed or new, wherever that stands.
static ASKED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bgit\b[^\n;|&]*\bstatus\b(?<rest>[^\n;|&)`]*)")
        .expect("BUG: a pattern of ours is no pattern")
});

/// Says why commands make no goal, if they, or what they run by its name, want nothing to be new.
pub(super) fn why(text: &str, texts_of: TextsOf) -> Option<String> {
    let called = writers::reached(text, texts_of);
    let called: Vec<String> = called.iter().map(|one| one.typed()).collect();
    let mut texts = std::iter::once(text).chain(called.iter().map(String::as_str));
    texts.any(wants_nothing_new).then(|| {
        "it fails while anything is new, as GOALS.yaml is (git status --porcelain)".to_owned()
    })
}

fn wants_nothing_new(text: &str) -> bool {
    let mut all = ASKED.captures_iter(text);
    all.any(|found| {
        let words: Vec<&str> = found["rest"].split_whitespace().collect();
        let has = |some: &[&str]| {
            let begins = |word: &&str| some.iter().any(|it| word.starts_with(it));
            words.iter().any(begins)
        };
        has(&["--porcelain", "--short", "-s"]) && !has(&["-uno", "--untracked-files=no"])
    })
}

#[cfg(test)]
mod tests {
    use super::super::called::Task;
    use super::*;

    #[test]
    fn git_is_asked_for_what_is_new_in_many_forms() {
        let none = |_: &Task| Vec::new();
        for (text, expected) in [
            ("[[ `git status --porcelain` ]] && exit 1", true),
            ("test -z \"$(git -C . status --porcelain=v1)\"", true),
            (
                "make\nif [ -n \"$(git status -s)\" ]; then exit 1; fi",
                true,
            ),
            ("git status", false),
            ("git status --porcelain -uno", false),
            ("git diff --exit-code", false),
            ("git log; ./status --short", false),
        ] {
            assert_eq!(why(text, &none).is_some(), expected, "{text}");
        }
        let of_make = |task: &Task| {
            let is_it = (task.program, task.name) == ("make", "clean-tree");
            Vec::from_iter(is_it.then(|| "test -z \"$(git status --porcelain)\"".to_owned()))
        };
        assert!(why("make clean-tree", &of_make).is_some());
    }
}
