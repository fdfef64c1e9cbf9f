//! The toolchain of Rust's that a job sets up, and whether what a step calls of it is here. Pure.

use super::Step;
use crate::model::check::{self, Done};
use crate::model::init::{Look, first_of};
use crate::model::text;

/// Who runs another toolchain where the first word says so.
const PROXIES: [&str; 3] = ["cargo", "rustc", "rustdoc"];
/// Which toolchain a repository goes by, whatever is set up.
const PINS: [&str; 2] = ["rust-toolchain", "rust-toolchain.toml"];
/// How much is shown of a name.
const SHOWN: usize = 40;

/// Returns the toolchain that an action sets up, with the input in which most say it; none where it sets up none, or does not say
/// which.
pub(super) fn of_action<'a>(action: &'a str, input: &'a str) -> Option<&'a str> {
    let (path, version) = action.split_once('@')?;
    let (owner, name) = path.split_once('/')?;
    if !matches!(
        name,
        "rust-toolchain" | "toolchain" | "setup-rust-toolchain" | "setup-rust"
    ) {
        return None;
    }
    match input {
        "" if (owner, name) == ("dtolnay", "rust-toolchain") => Some(version),
        "" => None,
        input => Some(input),
    }
}

/// Returns the toolchain that a script has rustup take by default: the last one.
pub(super) fn of_script(script: &str) -> Option<&str> {
    let mut chosen = script.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["rustup", "default", name] | ["rustup", "override", "set", name] => Some(*name),
            _ => None,
        }
    });
    chosen.next_back()
}

/// Says whether a name is that of a toolchain, and not of the newest stable one.
pub(super) fn is_other(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_version = name.starts_with(|c: char| c.is_ascii_digit()) && name.contains('.');
    let is_channel = |channel: &&str| {
        let rest = name.strip_prefix(*channel);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    name.chars().all(is_plain) && (is_version || ["beta", "nightly"].iter().any(is_channel))
}

/// Says whether a name is that of the toolchain that has this version. Of a dated one, and of one for a machine, that cannot be told.
fn is_version(name: &str, version: &str) -> bool {
    let (number, channel) = version.split_once('-').unwrap_or((version, ""));
    match name {
        "nightly" | "beta" => channel.split('.').next() == Some(name),
        name => {
            let behind = number.strip_prefix(name);
            channel.is_empty() && behind.is_some_and(|it| it.is_empty() || it.starts_with('.'))
        }
    }
}

/// Says whether a job sets up a nightly compiler, and neither does the repository go by one of its own nor is that called here.
pub(super) fn needs_nightly(look: &dyn Look, step: &Step) -> bool {
    other(look, step).is_some_and(|name| name.starts_with("nightly"))
}

/// Returns the toolchain that a job sets up, unless it is the newest stable one or the very one that is called here, or the repository
/// goes by one of its own.
fn other<'s>(look: &dyn Look, step: &'s Step) -> Option<&'s String> {
    let folders = ["", step.folder.as_str()];
    let is_pinned = || {
        let mut folders = folders.iter();
        folders.any(|folder| first_of(look, folder, &PINS).is_some())
    };
    let is_called = |name: &str| look.rust_version().is_some_and(|it| is_version(name, it));
    let other = step.toolchain.as_ref().filter(|_| !is_pinned());
    other.filter(|name| !is_called(name))
}

/// Says that a step would not run by the toolchain that its job sets up, or that it names one, or a target, that is not there.
pub(super) fn lacking(look: &dyn Look, step: &Step, check: &str) -> Option<String> {
    let all = check::done(check);
    let mut all = all
        .iter()
        .filter(|one| PROXIES.contains(&one.words[0].as_str()));
    let other = other(look, step);
    all.find_map(|one| lacks(look, one, other))
}

fn lacks(look: &dyn Look, one: &Done, other: Option<&String>) -> Option<String> {
    let named = one.words.get(1).and_then(|word| word.strip_prefix('+'));
    let targets = one.words.iter().enumerate().filter_map(|(at, word)| {
        let next = || one.words.get(at + 1).map(String::as_str);
        word.strip_prefix("--target=")
            .or_else(|| next().filter(|_| word == "--target"))
    });
    // One of a file is nobody's to install, and what builds the standard library needs none.
    let is_plain = |target: &&str| !target.contains(['/', '.', '$', '`']);
    let builds = one.words.iter().any(|word| word.contains("build-std"));
    let mut targets = targets.filter(|it| !builds && is_plain(it));
    let shown = |name: &str| text::clean_line(&text::cut(name, SHOWN));
    match (named, other) {
        (Some(name), _) if is_other(name) && !look.has_toolchain(name) => Some(format!(
            "the toolchain {name} is not installed: rustup toolchain install {name}"
        )),
        (None, Some(name)) => Some(format!(
            "its job runs Rust {name}, and not the toolchain that is here: `cargo +{name}` runs that one"
        )),
        _ => targets
            .find(|target| !look.has_target(target))
            .map(|target| {
                let target = shown(target);
                format!("the target {target} is not installed: rustup target add {target}")
            }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_is_known_by_the_version_that_its_compiler_says() {
        for (name, version) in [
            ("1.95.0", "1.95.0"),
            ("1.95", "1.95.0"),
            ("nightly", "1.97.0-nightly"),
            ("beta", "1.96.0-beta.3"),
        ] {
            assert!(is_version(name, version), "{name} {version}");
        }
        for (name, version) in [
            ("1.9", "1.95.0"),
            ("1.95.0-i686-pc-windows-gnu", "1.95.0"),
            ("1.95.1", "1.95.0"),
            ("1.95.0", "1.95.0-nightly"),
            ("nightly", "1.95.0"),
            ("nightly", "1.96.0-beta.3"),
            ("nightly-2026-01-02", "1.97.0-nightly"),
            ("beta", "1.97.0-nightly"),
        ] {
            assert!(!is_version(name, version), "{name} {version}");
        }
    }
}
