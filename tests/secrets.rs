//! Secrets: what is in the environment, or looks like a token, and is printed by checks and agents stands in nothing that is
//! kept or shown.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::TestRepo;

/// Looks like nothing in particular: only that it is in the environment makes it a secret.
const CANARY: &str = "correct-horse-9-battery-staple";
/// Looks like a token, wherever it stands.
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
/// Is assigned to a name.
const PASSWORD: &str = "hunter2hunter2";

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match fs::symlink_metadata(&path).unwrap() {
            meta if meta.is_dir() => files_below(&path, found),
            meta if meta.is_file() => found.push(path),
            _ => {}
        }
    }
}

#[track_caller]
fn assert_without_secrets(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    for secret in [CANARY, TOKEN, PASSWORD] {
        let lines: Vec<_> = text.lines().filter(|line| line.contains(secret)).collect();
        assert!(lines.is_empty(), "{secret} is in {what}: {lines:#?}");
    }
}

#[test]
fn a_secret_that_checks_and_agents_print_is_in_nothing_that_is_kept_or_shown() {
    let mut repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'echo \"$NOISE\"; echo \"$NOISE\" >&2; test -e a', weight: 5}\n  \
         - {id: b, description: d, check: 'echo \"$NOISE\"; test ! -e bad', weight: 4}\n",
    )
    .with_out();
    let noise = format!(
        "say {CANARY} and {TOKEN}, then password={PASSWORD} and https://u:{PASSWORD}@host/; curl -u me:{PASSWORD} x; scp me:{PASSWORD}@a.example:b ."
    );
    repo.env
        .push(("CANARY_SECRET".to_owned(), CANARY.to_owned()));
    repo.env.push(("NOISE".to_owned(), noise));
    let tell = "echo \"$NOISE\"; printf '%s' \"$NOISE\" | while IFS= read -r -n 7 piece; do printf '%s' \"$piece\"; done; \
        echo \"$NOISE\" >\"$EVOLVE_LESSONS\"; \
        printf '{\"title\":\"%s\",\"description\":\"%s\"}\\n' \"$NOISE\" \"$NOISE\" >\"$EVOLVE_NEXT_WORK\"; ";
    repo.agent_does(&[
        // Worked in vain, undone, given up, done.
        &format!("{tell} touch other"),
        &format!("{tell} touch bad; git add bad; git commit -qm \"$NOISE\""),
        &format!("{tell} echo \"$NOISE\" >\"$EVOLVE_GIVE_UP\""),
    ]);
    let mut shown = vec![
        repo.run(&["--max-cycles=1", "-vv"]),
        repo.run(&["--max-cycles=1", "--json"]),
    ];
    repo.write(".agents/evolve/STOP", &format!("{CANARY} {TOKEN}\n"));
    shown.push(repo.run(&["--max-cycles=1"]).expect(0));
    repo.evolve(&["stop", "--off"]).expect(0);
    shown.push(repo.run(&["--max-cycles=1"]));
    for arguments in [
        &["status"][..],
        &["status", "--json"],
        &["history"],
        &["history", "--json"],
        &["show", "1"],
        &["show", "2"],
        &["work", "list"],
        &["measure"],
        &["measure", "--json"],
        &["measure", "-vv"],
        &["validate"],
        &["--dry-run"],
    ] {
        shown.push(repo.evolve(arguments));
    }
    assert_eq!(repo.calls(), 3, "{shown:#?}");
    for run in &shown {
        assert_without_secrets("what was shown", run.stdout.as_bytes());
        assert_without_secrets("what was shown", run.stderr.as_bytes());
    }
    for call in 1..=3 {
        assert_without_secrets("a brief", repo.brief(call).as_bytes());
    }
    let mut kept = Vec::new();
    files_below(&repo.path(".agents"), &mut kept);
    files_below(&repo.private(), &mut kept);
    let is_log = |path: &&PathBuf| path.extension().is_some_and(|end| end == "log");
    assert!(kept.iter().filter(is_log).count() >= 4, "{kept:#?}");
    for path in &kept {
        assert_without_secrets(&path.display().to_string(), &fs::read(path).unwrap());
    }
    // The agent's own commit says what the agent wrote; everything of evolve's on the branch is checked.
    for commit in repo.git(&["rev-list", "main"]).lines() {
        let message = repo.git(&["log", "-1", "--format=%B", commit]);
        if message.contains("evolve") && !message.starts_with("say ") {
            assert_without_secrets("a commit's message", message.as_bytes());
        }
    }
    let ledger = repo.git(&["log", "-p", "--format=", "main", "--", ".agents"]);
    assert_without_secrets("the ledger in git", ledger.as_bytes());
    assert!(ledger.contains("***"), "{ledger}");
}
