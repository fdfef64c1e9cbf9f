//! The README's transcripts are what the program prints: `init` and `doctor` here, where its programs are scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::TestRepo;

/// What the README shows of a command, without the line that calls it.
fn transcript(command: &str) -> String {
    let readme = include_str!("../README.md");
    let call = format!("```console\n$ {command}\n");
    let (_, rest) = readme.split_once(&call).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// Asserts that an output is a transcript, in which `...` stands for any lines.
#[track_caller]
fn is_told(transcript: &str, output: &str) {
    let pieces: Vec<&str> = transcript.split("...\n").collect();
    let mut rest = output;
    for (index, piece) in pieces.iter().enumerate() {
        let at = match index {
            0 => rest.starts_with(piece).then_some(0),
            last if last + 1 == pieces.len() => rest
                .rfind(piece)
                .filter(|at| rest.len() == at + piece.len()),
            _ => rest.find(piece),
        };
        let Some(at) = at else {
            panic!("the README says\n{piece}\nand the program\n{rest}");
        };
        rest = &rest[at + piece.len()..];
    }
}

fn install(folder: &std::path::Path, name: &str, script: &str) {
    fs::create_dir_all(folder).unwrap();
    let program = folder.join(name);
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn init_says_what_the_readme_shows() {
    let mut repo = TestRepo::empty();
    repo.installs("");
    let bin = repo.outside().join("bin");
    install(
        &bin,
        "cargo",
        "[ \"$1\" != clippy ] || { echo 'warning: odd'; exit 1; }",
    );
    install(&bin, "cargo-clippy", "");
    install(&bin, "cargo-fmt", "");
    repo.write("Cargo.toml", "[package]\nname = \"calc\"\n");
    repo.write("src/lib.rs", "");
    repo.commit_all("first");
    let shown = repo.redacted(&transcript("evolve init"));
    is_told(&shown, &repo.answer(&["init"]));
}

#[test]
fn doctor_says_what_the_readme_shows() {
    let goal =
        |id: &str| format!("  - {{id: {id}, description: d, check: cargo {id}, weight: 5}}\n");
    let goals: String = ["build", "test", "clippy", "doc"].map(goal).concat();
    let mut repo = TestRepo::with_goals(&goals);
    repo.installs("");
    let home = repo.home();
    install(&home.join(".cargo/bin"), "cargo", "");
    install(
        &home.join(".local/bin"),
        "claude",
        "echo '2.1.329 (Claude Code)'",
    );
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(home.join(".claude/.credentials.json"), "{}").unwrap();
    let folders = [
        home.join(".cargo/bin"),
        home.join(".local/bin"),
        repo.outside().join("bin"),
    ];
    let path = std::env::join_paths(folders).unwrap();
    repo.env.retain(|(name, _)| name != "PATH");
    repo.env
        .push(("PATH".to_owned(), path.into_string().unwrap()));
    for name in ["user.name", "user.email"] {
        repo.git(&["config", "--unset", name]);
    }
    let run = repo.evolve(&["doctor"]).expect(0);
    let same = |text: &str| {
        let text = repo.redacted(text);
        // What differs from machine to machine.
        let text = regex::Regex::new(r"(?m)^(ok       git          )\S+ at \S+$")
            .unwrap()
            .replace(&text, "${1}[git]")
            .into_owned();
        let text = regex::Regex::new(r"\d+ notes?$")
            .unwrap()
            .replace(&text, "[notes]")
            .into_owned();
        regex::Regex::new(r":\[outside\]/bin|:/usr/bin:/bin")
            .unwrap()
            .replace_all(&text, "")
            .into_owned()
    };
    let shown = transcript("evolve doctor");
    let shown = shown
        .replace("/home/me/project", "[root]")
        .replace("/home/me", "[home]");
    is_told(&same(shown.trim_end()), &same(run.stdout.trim_end()));
}
