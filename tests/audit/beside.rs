//! Commits of the ledger hold the ledger and nothing else: what a person or an agent puts beside it there is found.

use serde_json::json;

use super::{audited, honest};
use crate::harness::{TestRepo, output};

#[test]
fn other_changes_in_the_commit_of_a_record_or_of_a_sessions_end_are_found() {
    let repo = honest();
    let tip = repo.head();
    let record = "the record's commit changes more than the ledger: ";
    let session = "the commit that ends a session changes more than the ledger: ";
    // How many commits the one lies back, what is put into it, and what is said of it.
    for (back, change, cycle, words) in [
        (1, "touch more", json!(8), format!("{record}more")),
        (1, "rm a", json!(8), format!("{record}a")),
        (
            1,
            "mkdir .agents/mine && echo x >.agents/mine/y && echo x >.agents/evolve/notes",
            json!(8),
            format!("{record}.agents/mine/y"),
        ),
        (
            0,
            "touch more && chmod +x a",
            json!(null),
            format!("{session}a, more"),
        ),
    ] {
        repo.git(&["reset", "--quiet", "--hard", &format!("HEAD~{back}")]);
        let amend = format!(
            "{change}; git add -Af . && git commit -q --amend --no-edit && git rev-parse HEAD"
        );
        let amended = output(repo.command("sh").args(["-ec", &amend])).stdout;
        let found = audited(&repo, 10);
        let wanted = json!([{
            "cycle": cycle,
            "commit": String::from_utf8_lossy(&amended).trim(),
            "what": words,
        }]);
        assert_eq!(found["disagreements"], wanted, "{change}");
        repo.git(&["reset", "--quiet", "--hard", &tip]);
    }
}

#[test]
fn an_undo_of_which_the_records_commit_keeps_a_part_is_found() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.cycle("git rm -q b && touch a && git add a && git commit -qm 'a for b'")
        .expect(0);
    audited(&repo, 0);
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    repo.write("a", "");
    repo.git(&["add", "a"]);
    repo.git(&["commit", "--quiet", "--amend", "--no-edit"]);
    let told = audited(&repo, 10)["disagreements"][0]["what"].clone();
    assert_eq!(told, "the record's commit changes more than the ledger: a");
}

#[test]
fn what_others_commit_around_the_ledgers_commits_agrees() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3), ("c", 2)]);
    repo.cycle("touch a").expect(0);
    // An agent that commits what never is, and a file where the ledger's folder has to be: the record's commit takes them out.
    let rude = "touch b .agents/evolve/STOP && rm -rf .agents/rpi && echo x >.agents/rpi && \
                git add -Af . && git commit -qm rude && rm .agents/evolve/STOP";
    repo.cycle(rude).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    // Another message, or another date, of the same commit; a merge that quotes it; a change taken back and brought back.
    repo.git(&[
        "commit",
        "--quiet",
        "--amend",
        "--no-edit",
        "--reset-author",
    ]);
    repo.git(&["switch", "--quiet", "--create", "side", "HEAD~1"]);
    repo.write("theirs", "");
    repo.commit_all("theirs");
    repo.git(&["switch", "--quiet", "main"]);
    let quoted = repo.git(&["log", "-1", "--format=%B"]);
    repo.git(&["merge", "--quiet", "--no-ff", "side", "-m", &quoted]);
    repo.cycle("touch other").expect(0);
    repo.evolve(&["undo", "3"]).expect(0);
    repo.cycle("touch c").expect(0);
    audited(&repo, 0);
}
