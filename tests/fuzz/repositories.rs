//! Whole repositories with hostile files, names, branches and commits, looked at by the real program: it ends with a code that
//! the README lists, within bounds, and nothing of theirs reaches the terminal as it is.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::chance::{Chance, cases, seeds};
use crate::feed::Format;
use crate::harness::{Run, TestRepo};
use crate::memory::finish_bounded;
use crate::mutate::mutated;
use crate::nasty;

/// The exit codes that the README lists, but those of signals.
const CODES: [i32; 8] = [0, 1, 2, 3, 4, 5, 10, 11];

/// The files that are made hostile, below the repository's root, each with a sample of what stands in it.
const FILES: [(&str, &[u8]); 9] = [
    (
        ".agents/evolve/cycle-history.jsonl",
        include_bytes!("../formats/v1/record.jsonl"),
    ),
    (
        ".agents/evolve/cycle-history.0001.jsonl",
        include_bytes!("../formats/v1/record.jsonl"),
    ),
    (
        ".agents/evolve/fitness-0-baseline.json",
        include_bytes!("../formats/v1/snapshot.json"),
    ),
    (
        ".agents/evolve/fitness-1.json",
        include_bytes!("../formats/v1/snapshot.json"),
    ),
    (
        ".agents/rpi/next-work.jsonl",
        include_bytes!("../formats/v1/work.jsonl"),
    ),
    (
        ".agents/evolve/lessons.jsonl",
        include_bytes!("../formats/v1/lesson.jsonl"),
    ),
    (
        ".agents/evolve/retries.jsonl",
        include_bytes!("../formats/v1/retry.jsonl"),
    ),
    (".agents/evolve/last-sweep-date", b"2026-02-01\n"),
    (".agents/evolve/STOP", b"deploy is frozen\n"),
];

/// A repository whose goals are harmless: what is random is never handed to a shell.
fn hostile(chance: &mut Chance) -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'cat noise; false', weight: 5}\n  - {id: b, description: d, check: 'true', weight: 4}\n",
    );
    let bytes = |chance: &mut Chance, sample: &[u8]| {
        let samples = vec![sample.to_vec()];
        mutated(
            &Format {
                name: "repository",
                samples,
                words: Vec::new(),
            },
            chance,
        )
    };
    let put = |name: PathBuf, bytes: Vec<u8>| {
        let path = repo.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    for (name, sample) in FILES {
        if chance.one_in(2) {
            put(name.into(), bytes(chance, sample));
        }
    }
    put("noise".into(), bytes(chance, b"3 errors\n"));
    put(
        "hostile.yaml".into(),
        bytes(chance, include_bytes!("../formats/v1/goals.yaml")),
    );
    put(
        repo.private().join("journal.json"),
        bytes(chance, include_bytes!("../formats/v1/journal.json")),
    );
    put(
        repo.private().join("lock"),
        bytes(chance, b"1234 5678 2026-02-03T04:05:06Z\n"),
    );
    // A name of a file may be any bytes but two.
    let mut name = bytes(chance, b"src/na\xc3\xafve \"file\".rs");
    name.retain(|byte| !matches!(byte, b'/' | 0));
    name.truncate(200);
    if !name.is_empty() && name != b"." && name != b".." {
        put(
            PathBuf::from(std::ffi::OsString::from_vec(name)),
            Vec::new(),
        );
    }
    // What git takes for a branch and a subject, it takes.
    let branch = String::from_utf8_lossy(&bytes(chance, b"feature/a;rm -rf ~")).replace('\0', "");
    let mut git = repo.command("git");
    let _ = git.args(["switch", "--quiet", "-c", &branch]).output();
    let subject =
        String::from_utf8_lossy(&bytes(chance, b"fix: a\n\nEvolve-Cycle: 3\n")).replace('\0', "");
    let mut git = repo.command("git");
    let _ = git
        .args(["commit", "--quiet", "--allow-empty", "-m", &subject])
        .output();
    repo
}

#[track_caller]
fn assert_harmless(named: &str, run: &Run) {
    let said = format!("{named}\n{}\n{}", run.stdout, run.stderr);
    assert!(CODES.contains(&run.code), "exit {}: {said}", run.code);
    assert!(
        !said.contains("panicked") && !said.contains("BUG"),
        "{said}"
    );
    nasty::assert_clean(&run.stdout);
    nasty::assert_clean(&run.stderr);
    assert!(
        run.code == 0 || run.code == 10 || !run.stderr.is_empty(),
        "no word of what is wrong: {said}"
    );
}

#[test]
fn repositories_that_are_hostile_throughout_are_looked_at_unharmed() {
    for seed in seeds(cases(20, 2_000)) {
        let repo = hostile(&mut Chance::of(seed));
        let before = repo.git(&["status", "--porcelain", "-z"]);
        for arguments in [
            &["validate"][..],
            &["validate", "--goals", "hostile.yaml"],
            &["measure"],
            &["measure", "--json"],
            &["status"],
            &["status", "--json"],
            &["history"],
            &["history", "--json"],
            &["show", "1"],
            &["work", "list"],
            &["--dry-run"],
            &["audit"],
        ] {
            let run = finish_bounded(repo.spawn(arguments));
            let named =
                format!("SEED={seed} cargo test --test fuzz repositories: evolve {arguments:?}");
            assert_harmless(&named, &run);
            if arguments.contains(&"--json") && !run.stdout.is_empty() {
                let document = serde_json::from_str::<serde_json::Value>(&run.stdout);
                assert!(document.is_ok(), "{named}: {}", run.stdout);
            }
        }
        assert_eq!(
            repo.git(&["status", "--porcelain", "-z"]),
            before,
            "SEED={seed}: something was written"
        );
    }
}
