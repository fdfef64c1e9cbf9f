//! A shallow clone of an honest history agrees wherever it is cut: what it cannot show is a note.

use serde_json::Value;

use super::{audited, edits};
use crate::harness::{TestRepo, output};

/// Audits clones of every depth, which all have to agree, as the whole history does.
fn agrees_at_every_depth(repo: &TestRepo) {
    audited(repo, 0);
    let origin = format!("file://{}", repo.root().display());
    let commits: usize = repo
        .git(&["rev-list", "--count", "HEAD"])
        .trim()
        .parse()
        .unwrap();
    for depth in 1..=commits {
        let clone = repo
            .out(&format!("{depth}-of-{commits}"))
            .display()
            .to_string();
        let depth = format!("--depth={depth}");
        repo.git(&["clone", "--quiet", &depth, &origin, &clone]);
        let run = repo.evolve(&["-C", &clone, "audit", "--json"]);
        assert_eq!(run.code, 0, "{depth}: {}", run.stdout);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(found["records"], repo.records().len(), "{depth}: {found}");
    }
}

/// A repository of two branches that both ran: `main` a short way, `other` a long one.
fn parted() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3), ("c", 2)]);
    repo.cycle("touch a").expect(0);
    repo.git(&["switch", "--quiet", "--create", "other"]);
    repo.cycle(
        "for i in 1 2 3 4; do touch o$i && git add o$i && git commit -qm o$i; done; touch b",
    )
    .expect(0);
    repo.cycle("touch other").expect(0);
    repo.git(&["switch", "--quiet", "main"]);
    repo
}

#[test]
fn of_branches_that_both_ran_and_were_merged() {
    let repo = parted();
    repo.cycle("touch b other && rm a").expect(0);
    assert_eq!(repo.newest()["result"], "regressed");
    // As it is told in the README: the lines of both, and one side of the rest.
    repo.write(".gitattributes", "/.agents/**/*.jsonl merge=union\n");
    repo.commit_all("attributes");
    let merge = "git merge -q other || true; git checkout -q --ours -- .agents && git add .agents && git commit -qm merged";
    output(repo.command("sh").args(["-ec", merge]));
    agrees_at_every_depth(&repo);
}

#[test]
fn of_a_merge_that_left_out_what_the_next_session_took_in_again() {
    let repo = parted();
    repo.cycle("touch b").expect(0);
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "other"]);
    repo.cycle("touch c").expect(0);
    agrees_at_every_depth(&repo);
    // Of a line that somebody changes every clone says so.
    edits(&repo, r#"sed -i '2s/"goals_added":0/"goals_added":7/' $H"#);
    let origin = format!("file://{}", repo.root().display());
    let clone = repo.out("changed").display().to_string();
    repo.git(&["clone", "--quiet", "--depth=2", &origin, &clone]);
    let said = repo.evolve(&["-C", &clone, "audit"]).expect(10).stdout;
    let words = "the record was changed: goals_added was 0, is 7";
    assert!(said.contains(words), "{said}");
}

#[test]
fn of_an_agent_that_makes_up_commits_of_evolves() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.cycle("touch a").expect(0);
    let forger = "touch b && git add b && git commit -qm b; H=.agents/evolve/cycle-history.jsonl; \
        sed 's/\"cycle\":1/\"cycle\":2/' $H >x && cat x >>$H && mv x f1 && git add -Af . && \
        git commit -qm 'evolve: cycle 2 — b improved' -m 'Evolve-Cycle: 2\nEvolve-Result: improved'; \
        touch f2 && git add f2 && git commit -qm 'evolve: session x ended — limit'; \
        git commit -q --allow-empty -m 'revert: evolve cycle 1 regression in a'; \
        sed -i s/improved/harvested/ $H .agents/evolve/fitness-1.json && git commit -qam changed; \
        touch f3 && git add f3 && git commit -qm last";
    repo.cycle(forger).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    agrees_at_every_depth(&repo);
}
