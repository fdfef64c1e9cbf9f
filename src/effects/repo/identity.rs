//! Whose the commits are that are made here. It is found as git finds it: what the environment says goes before the settings.

use git2::{Signature, Time};

use super::Repo;
use super::failure::broken;
use crate::effects::clock;
use crate::error::Result;

/// The settings that name somebody, as `git config --get-regexp` reads them.
pub const SETTINGS: &str = r"^(user|author|committer)\.(name|email)$";

/// Who writes and who makes the commits, each with name and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    author: (String, String),
    committer: (String, String),
}

impl Identity {
    /// Finds it in what git says of its settings, and in the environment. What nobody said, or git would not take, is `evolve`'s.
    fn of(settings: &[u8], variable: impl Fn(&str) -> Option<String>) -> Identity {
        let set = |key: &str| {
            let entries = settings.split(|byte| *byte == 0).rev();
            let mut entries = entries.filter_map(|entry| std::str::from_utf8(entry).ok());
            entries.find_map(|entry| Some(entry.strip_prefix(key)?.strip_prefix('\n')?.to_owned()))
        };
        let field = |who: &str, field: &str, default: &str| {
            let name = format!("GIT_{who}_{field}").to_uppercase();
            let keys = [format!("{who}.{field}"), format!("user.{field}")];
            let said = variable(&name).into_iter();
            let mut said = said.chain(keys.iter().filter_map(|key| set(key)));
            let found = said.find_map(|words| {
                let words = words.replace(['<', '>', '\n'], "");
                is_usable(&words).then_some(words)
            });
            found.unwrap_or_else(|| default.to_owned())
        };
        let person = |who| {
            (
                field(who, "name", "evolve"),
                field(who, "email", "evolve@localhost"),
            )
        };
        Identity {
            author: person("author"),
            committer: person("committer"),
        }
    }
}

/// Returns who would make commits, by name and address, with these settings and this process's environment; and whether that was
/// said at all.
pub fn committer(settings: &[u8]) -> ((String, String), bool) {
    let found = Identity::of(settings, |name| std::env::var(name).ok()).committer;
    let nobody = Identity::of(&[], |_| None).committer;
    let is_named = found != nobody;
    (found, is_named)
}

fn is_usable(words: &str) -> bool {
    Signature::new(words, words, &Time::new(0, 0)).is_ok()
}

impl Repo {
    /// Returns who is named to make commits.
    pub(super) fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| {
            // It fails where nobody is named.
            let asked = ["config", "-z", "--get-regexp", SETTINGS];
            let settings = self.git.run(&asked).unwrap_or_default();
            Identity::of(&settings, |name| std::env::var(name).ok())
        })
    }

    /// Returns the signatures of a commit that is made now: its author's and its committer's.
    pub(super) fn signatures(&self) -> Result<[Signature<'static>; 2]> {
        let Identity { author, committer } = self.identity();
        // One time for both: a commit with two was made again.
        let time = Time::new(clock::now().timestamp(), 0);
        Ok([signed(author, &time)?, signed(committer, &time)?])
    }
}

fn signed((name, email): &(String, String), time: &Time) -> Result<Signature<'static>> {
    Signature::new(name, email, time).map_err(broken("sign a commit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(settings: &[&str], environment: &[(&str, &str)]) -> [String; 2] {
        let variable = |name: &str| {
            let found = environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let Identity { author, committer } = Identity::of(settings.join("\0").as_bytes(), variable);
        [author, committer].map(|(name, email)| format!("{name} <{email}>"))
    }

    #[test]
    fn the_environment_goes_before_the_settings_and_nobody_is_evolve() {
        let settings = ["user.name\nJane", "user.email\nold@x", "user.email\njane@x"];
        let nobody = "evolve <evolve@localhost>";
        assert_eq!(found(&[], &[]), [nobody; 2]);
        assert_eq!(found(&settings, &[]), ["Jane <jane@x>"; 2]);
        assert_eq!(
            found(&settings, &[("GIT_AUTHOR_NAME", "CI")]),
            ["CI <jane@x>", "Jane <jane@x>"]
        );
        assert_eq!(
            found(&[], &[("GIT_COMMITTER_EMAIL", "ci@x")]),
            [nobody, "evolve <ci@x>"]
        );
        let of_author = ["author.name\nAnn", "user.name\nJane", "user.email\njane@x"];
        assert_eq!(found(&of_author, &[]), ["Ann <jane@x>", "Jane <jane@x>"]);
    }

    #[test]
    fn what_git_would_not_take_is_passed_over() {
        for name in ["", " ", "<>", "\n"] {
            let made = found(
                &["user.name\nJane", "user.email\nj@x"],
                &[("GIT_AUTHOR_NAME", name)],
            );
            assert_eq!(made, ["Jane <j@x>"; 2], "{name:?}");
        }
        let made = found(&[], &[("GIT_AUTHOR_NAME", "The <Bot>")]);
        assert_eq!(made[0], "The Bot <evolve@localhost>");
    }
}
