//! The baseline is held against itself, the goals of its start and the cycle that took it over.

use std::fs;

use serde_json::json;

use super::{audited, rewrites};
use crate::harness::TestRepo;

/// Where the baseline lies, and the first snapshot that was taken over from it.
const FILES: &str = "B=.agents/evolve/fitness-0-baseline.json; F=.agents/evolve/fitness-1.json; ";

#[test]
fn a_baseline_that_is_committed_with_a_false_word_in_it_is_found() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.cycle("touch a").expect(0);
    assert_eq!(audited(&repo, 0)["disagreements"], json!([]));
    let tip = repo.head();
    let taken = "the first snapshot says that it was taken over from fitness-0-baseline.json, ";
    for (script, words) in [
        ("echo 'not json{' >$B", "the baseline cannot be read: ".to_owned()),
        ("echo 'not json{' >$B", format!("{taken}which cannot be read: ")),
        ("echo '{}' >$B", "the baseline cannot be read: ".to_owned()),
        (
            r#"sed -i 's/"score": 0/"score": 50/' $B"#,
            "the baseline snapshot says 0 of 2 and score 50, its goals come to 0 of 2 and score 0".to_owned(),
        ),
        (
            r#"sed -i 's/"goals_total": 2/"goals_total": 77/' $B"#,
            "the baseline snapshot says 0 of 77".to_owned(),
        ),
        (
            r#"sed -i 's/"weight": 5/"weight": 6/' $B"#,
            "the goals and weights of the baseline snapshot are not those of the start's goals file".to_owned(),
        ),
        (
            r#"sed -i 's/"goals_digest": "./"goals_digest": "x/' $B"#,
            format!("{taken}and differs in goals_digest"),
        ),
        (
            r#"sed -i 's/"goals_digest": "./"goals_digest": "x/' $B"#,
            "the goals_digest of the baseline snapshot is that of no goals file of its start".to_owned(),
        ),
        (
            r#"sed -i 's/"exit": 1/"exit": 0/' $B"#,
            "a of the baseline snapshot is fail with exit 0".to_owned(),
        ),
        (
            r#"sed -i 's/"cycle_start_sha": "[0-9a-f]*/"cycle_start_sha": "1111111111111111111111111111111111111111/' $B"#,
            "of the baseline is no commit of this repository".to_owned(),
        ),
        (
            r#"sed -i '/"cycle_start_sha"/d' $B"#,
            "the baseline is missing".to_owned(),
        ),
        // Nobody says any more where the first snapshot comes from.
        (
            r"sed -i '/taken_from/d' $F",
            "the first snapshot does not say that it was taken over from the baseline".to_owned(),
        ),
    ] {
        rewrites(&repo, &format!("{FILES}{script}"), "");
        let found = audited(&repo, 10)["disagreements"].to_string();
        assert!(found.contains(&words), "{script}: {words}\n{found}");
        repo.git(&["reset", "--quiet", "--hard", &tip]);
    }
}

#[test]
fn a_baseline_whose_start_was_amended_before_a_later_session_recorded_it_agrees() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: 'test -e go || (mkdir -p .agents/evolve; touch .agents/evolve/STOP); test -e a', weight: 5}\n",
    );
    // The first session measures, and records nothing.
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), Vec::<String>::new());
    repo.write("go", "");
    repo.git(&["add", "go"]);
    repo.git(&["commit", "--quiet", "--amend", "--message=other"]);
    for words in [
        &["reflog", "expire", "--expire=now", "--all"][..],
        &["gc", "--quiet", "--prune=now"],
    ] {
        repo.git(words);
    }
    fs::remove_file(repo.path(".agents/evolve/STOP")).unwrap();
    let agent = format!("--agent={}", repo.agent());
    let later = [("EVOLVE_CLOCK", "2026-02-03T05:00:00Z")];
    let run = repo.evolve_with(&later, &["--max-cycles=1", &agent]);
    assert_eq!(repo.each("result"), ["improved"], "{run:?}");
    assert_eq!(audited(&repo, 0)["disagreements"], json!([]));
}
