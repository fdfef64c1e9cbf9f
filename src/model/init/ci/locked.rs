//! Calls of Cargo that want a Cargo.lock, and whether git tracks one for them. Pure.

use crate::model::check::{self, Done};
use crate::model::init::{Look, join, split};

/// The file.
const LOCK: &str = "Cargo.lock";
/// Options by which Cargo wants it, as it is.
const WANTS: [&str; 2] = ["--frozen", "--locked"];
/// What Cargo does by it.
const DOES: [&str; 24] = [
    "b",
    "bench",
    "build",
    "c",
    "check",
    "clippy",
    "d",
    "doc",
    "fix",
    "hack",
    "llvm-cov",
    "metadata",
    "miri",
    "nextest",
    "package",
    "publish",
    "r",
    "run",
    "rustc",
    "rustdoc",
    "t",
    "tarpaulin",
    "test",
    "tree",
];
/// Options whose value is the next word.
const TAKES: [&str; 4] = ["--color", "--config", "-C", "-Z"];

/// Says why a check cannot pass here that wants a Cargo.lock where git tracks none; earlier steps of CI may make one. What names the file
/// itself may make it, too.
pub(super) fn why(look: &dyn Look, folder: &str, check: &str) -> Option<String> {
    let wanted = |one: &Done| {
        let option = option_of(one)?;
        let dir = one.dir.as_ref().filter(|dir| !dir.contains('$'));
        let is_there = match dir {
            Some(dir) => is_above(look, &join(folder, &place_of(one, dir))),
            None => look.files().iter().any(|path| split(path).1 == LOCK),
        };
        (!is_there).then(|| format!("it needs a {LOCK} ({option}), and git tracks none"))
    };
    let all = check::done(check);
    let mut all = all.iter().filter(|_| !check.contains(LOCK));
    all.find_map(wanted)
}

/// Returns the option by which a command wants the file.
fn option_of(one: &Done) -> Option<&str> {
    let words = one.words.iter().map(String::as_str);
    // What stands behind is for what Cargo runs.
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let (_, rest) = words
        .split_first()
        .filter(|(first, _)| **first == "cargo")?;
    let operands = check::operands(rest, |word| TAKES.contains(&word));
    let does = operands.first().filter(|word| DOES.contains(word));
    let mut rest = rest.iter().copied();
    rest.find(|word| does.is_some() && WANTS.contains(word))
}

/// Returns the folder of the project that a command is for, which runs in another one.
fn place_of(one: &Done, dir: &str) -> String {
    let manifest = super::super::called::value_of(&one.words, &["--manifest-path"]);
    let place = manifest.map_or("", |path| split(path.trim_start_matches("./")).0);
    match (dir, place) {
        (dir, "") => dir.to_owned(),
        (dir, place) => join(dir, place),
    }
}

/// Says whether git tracks the file in a folder, or in one above it.
fn is_above(look: &dyn Look, folder: &str) -> bool {
    let mut folder = folder.trim_end_matches('/');
    loop {
        match (look.has(&join(folder, LOCK)), folder) {
            (true, _) => return true,
            (false, "") => return false,
            (false, _) => folder = split(folder).0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::init::tests::Files;

    #[test]
    fn cargo_wants_a_lock_file_where_it_is_told_so_and_finds_one_above() {
        let files = Files::of(&[("fuzz/Cargo.lock", ""), ("fuzz/a/Cargo.toml", "")]);
        let why = |folder: &str, check: &str| why(&files, folder, check);
        for (option, check) in [
            ("--locked", "cargo check --locked --features a"),
            ("--frozen", "cargo +nightly -Z x test --frozen"),
            (
                "--locked",
                "set -e\ncargo fmt\ncd b && cargo build --locked",
            ),
            (
                "--locked",
                "cargo test --locked --manifest-path b/Cargo.toml",
            ),
        ] {
            let expected = format!("it needs a Cargo.lock ({option}), and git tracks none");
            assert_eq!(why("", check), Some(expected), "{check}");
        }
        for (folder, check) in [
            ("", "cargo check"),
            ("", "cargo install --locked a"),
            ("", "cargo run -- --locked"),
            ("", "cargo own --locked"),
            ("", "cd fuzz/a && cargo test --locked"),
            ("fuzz/a", "cargo test --locked"),
            (
                "",
                "cargo test --locked --manifest-path=./fuzz/a/Cargo.toml",
            ),
            ("", "cd $d && cargo test --locked"),
            ("", "set -e\ncp min.lock Cargo.lock\ncargo test --locked"),
        ] {
            assert_eq!(why(folder, check), None, "{check}");
        }
    }
}
