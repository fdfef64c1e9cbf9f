//! Branches that both ran, and merges that keep one side of the ledger: what the other side had recorded is not lost.

use std::fs;

use evolve::effects::ledger::Ledger;
use evolve::effects::repo::Repo;

use crate::harness::TestRepo;

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";

/// Two branches that ran after they parted: `main` two cycles, `other` one.
fn parted() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 9), ("b", 8), ("c", 7), ("d", 6), ("e", 5)]);
    repo.cycle("touch a").expect(0);
    repo.git(&["branch", "other"]);
    repo.cycle("touch b").expect(0);
    repo.cycle("touch c").expect(0);
    repo.git(&["switch", "--quiet", "other"]);
    repo.cycle("touch d").expect(0);
    repo.git(&["switch", "--quiet", "main"]);
    repo
}

/// The lines of a file of a commit's.
fn lines(repo: &TestRepo, commit: &str, file: &str) -> Vec<String> {
    let text = repo.git(&["show", &format!("{commit}:{file}")]);
    text.lines().map(str::to_owned).collect()
}

/// Asserts that a history holds the lines of both branches, each in its order, and one more.
#[track_caller]
fn assert_joined(repo: &TestRepo, what: &str, sides: [&[String]; 2]) {
    let now = lines(repo, "HEAD", HISTORY);
    for side in sides {
        let kept: Vec<_> = now.iter().filter(|line| side.contains(line)).collect();
        assert_eq!(kept, side.iter().collect::<Vec<_>>(), "{what}");
    }
    let mut cycles = repo.each("cycle");
    assert_eq!(cycles.pop().as_deref(), Some("4"), "{what}: {cycles:?}");
    cycles.sort();
    assert_eq!(cycles, ["1", "2", "2", "3"], "{what}");
}

#[test]
fn a_merge_that_keeps_one_side_of_the_history_loses_no_record_of_the_other() {
    let ways: [&[&str]; 3] = [&["-X", "ours"], &["-X", "theirs"], &["-s", "ours"]];
    let parted = parted();
    for way in ways {
        for (into, from) in [("main", "other"), ("other", "main")] {
            for last in ["main", "other"] {
                let what = format!("{way:?}, {from} into {into}, ran last on {last}");
                let repo = parted.copied();
                if last == "main" {
                    // The anchor is main's.
                    let anchor = repo.git(&["rev-parse", "main"]);
                    repo.write(".git/evolve/anchor", &format!("{anchor}\n"));
                }
                let sides = [into, from].map(|branch| lines(&repo, branch, HISTORY));
                repo.git(&["switch", "--quiet", into]);
                repo.git(&[&["merge", "--quiet", "--no-edit"], way, &[from]].concat());
                let audit = repo.evolve(&["audit"]).expect(10).stdout;
                assert!(audit.contains("run evolve"), "{what}: {audit}");
                let shown = repo.evolve(&["history"]).expect(0);
                let table = shown.stdout.lines().take_while(|line| !line.is_empty());
                assert_eq!(table.count(), 5, "{what}: a head and four records");
                let run = repo.cycle("touch a b c d e").expect(0);
                let said = run.stderr;
                assert!(said.contains("a merge left out"), "{what}: {said}");
                assert!(!said.contains("put right"), "{what}: {said}");
                assert_eq!(
                    said.matches("a merge left out").count(),
                    1,
                    "{what}: {said}"
                );
                assert_joined(&repo, &what, [&sides[0], &sides[1]]);
                repo.evolve(&["audit"]).expect(0);
                assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
                let run = repo.cycle("touch f").expect(0);
                assert!(!run.stderr.contains("left out"), "{what}: {}", run.stderr);
                repo.evolve(&["audit"]).expect(0);
            }
        }
    }
}

#[test]
fn either_side_of_the_snapshots_of_a_number_that_both_branches_gave_is_right() {
    for side in ["ours", "theirs"] {
        let repo = parted();
        repo.write(".git/info/attributes", "/.agents/**/*.jsonl merge=union\n");
        repo.git(&["merge", "--quiet", "--no-edit", "-X", side, "other"]);
        let file = ".agents/evolve/fitness-2-post.json";
        let merged = repo.read(file);
        let run = repo.cycle("touch e").expect(0);
        assert!(!run.stderr.contains("put right"), "{side}: {}", run.stderr);
        assert_eq!(repo.read(file), merged, "{side}");
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn numbers_that_both_branches_gave_are_no_problem_but_for_a_note_of_the_audit() {
    let repo = parted();
    let union = "/.agents/**/*.jsonl merge=union\n";
    repo.write(".git/info/attributes", union);
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "other"]);
    assert_eq!(repo.each("cycle"), ["1", "2", "3", "2"]);
    let audit = repo.answer(&["audit"]);
    assert!(
        audit.contains("cycle 2 is recorded more than once"),
        "{audit}"
    );
    let status = repo.answer(&["status"]);
    assert!(!status.contains("problem"), "{status}");
    let history = repo.evolve(&["history"]).expect(0);
    assert_eq!(history.stderr, "");
    let report = repo.answer(&["report", "--md"]);
    assert!(!report.contains("not as it should be"), "{report}");
    let run = repo.cycle("touch e").expect(0);
    assert!(!run.stderr.contains("more than once"), "{}", run.stderr);
}

#[test]
fn a_session_without_a_cycle_commits_what_a_merge_left_out() {
    let repo = TestRepo::with_files_wanted(&[("a", 9)]);
    repo.write("README", "");
    repo.commit_all("readme");
    repo.git(&["branch", "other"]);
    repo.agent_does(&["true", "true", "true"]);
    repo.run(&["--max-cycles=3"]).expect(0);
    repo.git(&["switch", "--quiet", "other"]);
    repo.cycle("true").expect(0);
    repo.git(&["switch", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "other"]);
    let before = repo.head();
    repo.run(&["--dry-run"]).expect(0);
    repo.evolve(&["status"]).expect(0);
    assert_eq!(repo.head(), before);
    assert_eq!(repo.status(), Vec::<String>::new());
    let run = repo.run(&[]).expect(11);
    assert!(run.stderr.contains("a merge left out"), "{}", run.stderr);
    assert_eq!(repo.git(&["rev-parse", "HEAD~1"]), before);
    assert_eq!(lines(&repo, "HEAD", HISTORY).len(), 4);
    assert_eq!(repo.status(), Vec::<String>::new());
    repo.evolve(&["audit"]).expect(0);
    let run = repo.run(&[]).expect(11);
    assert!(!run.stderr.contains("left out"), "{}", run.stderr);
}

const QUEUE: &str = ".agents/rpi/next-work.jsonl";

/// The titles of the queue of HEAD that are done, or are not.
fn titles(repo: &TestRepo, is_done: bool) -> Vec<String> {
    let items = lines(repo, "HEAD", QUEUE).into_iter();
    let items = items.map(|line| serde_json::from_str::<serde_json::Value>(&line).unwrap());
    let mut titles: Vec<String> = items
        .filter(|item| (item["consumed"] == true) == is_done)
        .map(|item| item["title"].as_str().unwrap().to_owned())
        .collect();
    titles.sort();
    titles.dedup();
    titles
}

#[test]
fn a_merge_that_keeps_one_side_of_the_queue_loses_no_item_and_what_a_side_has_done_stays_done() {
    let parted = TestRepo::with_files_wanted(&[("a", 9)]);
    parted.evolve(&["work", "add", "one"]).expect(0);
    parted.cycle("touch a").expect(0);
    parted.git(&["branch", "other"]);
    parted.evolve(&["work", "add", "mine"]).expect(0);
    parted.git(&["commit", "--quiet", "--all", "--message=mine"]);
    parted.git(&["switch", "--quiet", "other"]);
    parted.cycle("echo one >one").expect(0);
    parted.evolve(&["work", "add", "theirs"]).expect(0);
    parted.git(&["commit", "--quiet", "--all", "--message=theirs"]);
    assert_eq!(titles(&parted, true), ["one"]);
    let union = "/.agents/**/*.jsonl merge=union\n";
    for (way, into, from) in [
        (["-X", "ours"], "main", "other"),
        (["-X", "ours"], "other", "main"),
        (["-X", "theirs"], "main", "other"),
        (["-s", "ours"], "main", "other"),
        (["-s", "ours"], "other", "main"),
        (["-X", "union"], "main", "other"),
    ] {
        let repo = parted.copied();
        let what = format!("{way:?}, {from} into {into}");
        repo.git(&["switch", "--quiet", into]);
        let mut words = vec!["merge", "--quiet", "--no-edit", way[0], way[1], from];
        if way[1] == "union" {
            repo.write(".git/info/attributes", union);
            words.drain(3..5);
        }
        repo.git(&words);
        let run = repo.cycle("echo new >>new").expect(0);
        let told = match way[1] {
            "union" => "a merge doubled 1 item",
            _ => "a merge left out",
        };
        assert!(run.stderr.contains(told), "{what}: {}", run.stderr);
        assert!(!run.stderr.contains("put back"), "{what}: {}", run.stderr);
        assert_eq!(
            titles(&repo, true).len(),
            2,
            "{what}: one, and this cycle's"
        );
        assert_eq!(titles(&repo, false).len(), 1, "{what}");
        assert!(titles(&repo, true).contains(&"one".to_owned()), "{what}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
        repo.evolve(&["audit"]).expect(0);
        let run = repo.cycle("echo new >>new").expect(0);
        assert!(!run.stderr.contains("left out"), "{what}: {}", run.stderr);
        assert_eq!(titles(&repo, true), ["mine", "one", "theirs"], "{what}");
    }
}

/// Runs these cycles on a branch, the last one on the queue's first item, and somebody changes other items.
fn work_on(repo: &TestRepo, branch: &str, scripts: &[&str]) {
    repo.git(&["switch", "--quiet", branch]);
    for script in scripts {
        repo.cycle(script).expect(0);
    }
    let queue = repo.read(QUEUE).replace("\"low\"", "\"medium\"");
    let added = format!("{{\"title\":\"of {branch}\",\"severity\":\"low\"}}\n");
    repo.write(QUEUE, &[queue, added].concat());
    let of_branch = format!("queue of {branch}");
    repo.git(&["commit", "--quiet", "--all", "--message", &of_branch]);
}

#[test]
fn items_that_both_sides_knew_and_changed_stand_in_the_queue_once() {
    let parted = TestRepo::with_files_wanted(&[("a", 9), ("b", 8), ("c", 7)]);
    let items = ["common", "stays", "twice", "twice"].map(|title| {
        let severity = if title == "common" { "high" } else { "low" };
        format!("{{\"title\":\"{title}\",\"severity\":\"{severity}\"}}\n")
    });
    parted.write(QUEUE, &items.concat());
    parted.cycle("touch a").expect(0);
    parted.git(&["branch", "other"]);
    work_on(&parted, "other", &["touch b c", "touch d"]);
    work_on(&parted, "main", &["touch b", "touch c", "touch e"]);
    for (way, is_union, into, from) in [
        ("ours", true, "main", "other"),
        ("theirs", true, "main", "other"),
        ("ours", true, "other", "main"),
        ("ours", false, "main", "other"),
        ("theirs", false, "main", "other"),
    ] {
        let what = format!("-X {way}, union {is_union}, {from} into {into}");
        let repo = parted.copied();
        if is_union {
            let union = "/.agents/**/*.jsonl merge=union\n";
            repo.write(".git/info/attributes", union);
        }
        repo.git(&["switch", "--quiet", into]);
        repo.git(&["merge", "--quiet", "--no-edit", "-X", way, from]);
        let all = |repo: &TestRepo| lines(repo, "HEAD", QUEUE).len();
        let merged = lines(&repo, "HEAD", QUEUE).concat();
        for title in ["common", "stays"] {
            let count = merged.matches(title).count();
            assert_eq!(count, 1 + usize::from(is_union), "{what}: {merged}");
        }
        let shown = repo.evolve(&["work", "list"]).expect(0).stdout;
        assert_eq!(shown.matches("stays").count(), 1, "{what}: {shown}");
        let run = repo.cycle("echo new >>new").expect(0);
        let said = run.stderr;
        assert_eq!(said.contains("a merge doubled"), is_union, "{what}: {said}");
        assert_eq!(all(&repo), 6, "{what}");
        assert_eq!(titles(&repo, true), ["common", "stays"], "{what}");
        assert_eq!(
            titles(&repo, false),
            ["of main", "of other", "twice"],
            "{what}"
        );
        let mut records = lines(&repo, "HEAD", HISTORY);
        assert_eq!(records.len(), 7, "{what}");
        records.sort();
        records.dedup();
        assert_eq!(records.len(), 7, "{what}: no record twice");
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
        repo.evolve(&["audit"]).expect(0);
        let run = repo.cycle("echo new >>new").expect(0);
        assert!(
            !run.stderr.contains("a merge doubled"),
            "{what}: {}",
            run.stderr
        );
        assert_eq!(all(&repo), 6, "{what}");
    }
}

#[test]
fn a_merge_that_leaves_the_ledger_as_it_was_is_seen_while_a_session_rests() {
    let parted = parted();
    let repo = Repo::discover(&parted.root()).unwrap();
    let mut ledger = Ledger::open(&repo, None).unwrap();
    parted.git(&["commit", "--quiet", "--allow-empty", "--message=else"]);
    assert_eq!(ledger.follow(&repo).unwrap(), Vec::<String>::new());
    let anchor = parted.git(&["rev-parse", "main"]);
    parted.write(".git/evolve/anchor", &format!("{anchor}\n"));
    parted.git(&["merge", "--quiet", "--no-edit", "-s", "ours", "other"]);
    let said = ledger.follow(&repo).unwrap().concat();
    assert!(said.contains("a merge left out 1 line"), "{said}");
    assert_eq!(ledger.history.records.len(), 4);
    assert_eq!(ledger.follow(&repo).unwrap(), Vec::<String>::new());
}

/// A record that nobody recorded: another cycle's, changed.
fn forged(repo: &TestRepo, branch: &str) -> String {
    let lines = lines(repo, branch, HISTORY);
    lines[1].replace("\"cycle\":2", "\"cycle\":9")
}

#[test]
fn lines_that_nobody_recorded_are_put_right_in_a_merge_and_not_taken_in_from_a_side() {
    let parted = parted();
    let line = forged(&parted, "main");
    let append = |repo: &TestRepo| {
        let text = repo.read(HISTORY);
        repo.write(HISTORY, &format!("{text}{line}\n"));
    };
    for (what, is_in_merge) in [("in the merge", true), ("on the side", false)] {
        let repo = parted.copied();
        let sides = ["main", "other"].map(|branch| lines(&repo, branch, HISTORY));
        if !is_in_merge {
            repo.git(&["switch", "--quiet", "other"]);
            append(&repo);
            repo.commit_all("forged");
            repo.git(&["switch", "--quiet", "main"]);
        }
        repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "other"]);
        if is_in_merge {
            append(&repo);
            repo.git(&["commit", "--quiet", "--all", "--amend", "--no-edit"]);
        }
        let run = repo.cycle("touch a b c d e").expect(0);
        let is_told = run.stderr.contains("put right from the last ledger");
        assert_eq!(is_told, is_in_merge, "{what}: {}", run.stderr);
        assert_joined(&repo, what, [&sides[0], &sides[1]]);
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn what_an_agent_made_up_as_a_ledger_of_its_own_does_not_come_back_with_a_merge() {
    let parted = parted();
    let line = forged(&parted, "main");
    parted.git(&["switch", "--quiet", "other"]);
    let script = format!(
        "echo '{line}' >>{HISTORY}; git add -f {HISTORY}
         git commit -qm 'evolve: cycle 9' -m 'Evolve-Cycle: 9\nEvolve-Result: improved'; touch c"
    );
    parted.cycle(&script.replace("\\n", "\n")).expect(0);
    parted.git(&["switch", "--quiet", "main"]);
    for way in ["ours", "theirs"] {
        let repo = parted.copied();
        let sides = ["main", "other"].map(|branch| lines(&repo, branch, HISTORY));
        repo.git(&["merge", "--quiet", "--no-edit", "-X", way, "other"]);
        repo.cycle("touch e").expect(0);
        let now = lines(&repo, "HEAD", HISTORY);
        let all_of_both = sides[0].len() + sides[1].len() - 1;
        assert_eq!(now.len(), all_of_both + 1, "{way}: {now:#?}");
        assert!(!now.contains(&line), "{way}");
        repo.evolve(&["audit"]).expect(0);
    }
}

/// A record as it was made long ago, of a cycle that had nothing to do.
fn old_record(cycle: usize) -> String {
    format!(
        "{{\"format\":1,\"cycle\":{cycle},\"goal_id\":null,\"result\":\"idle\",\"commit_sha\":\"{}\",\"reverted_to\":null,\
         \"goals_passing\":1,\"goals_total\":1,\"goals_added\":0,\"timestamp\":\"2026-01-01T00:00:00Z\",\"score_before\":1.0,\
         \"score_after\":1.0,\"newly_failing\":[],\"newly_passing\":[],\"reason\":null,\"definition\":null,\"content\":null,\
         \"session\":null,\"agent\":null}}\n",
        "a".repeat(40)
    )
}

const SEGMENT: &str = ".agents/evolve/cycle-history.0001.jsonl";

/// Two branches with a long history, whose beginning cannot be seen: `main` ran three cycles and moved its oldest lines to a
/// segment, `other` ran one and did not.
fn rolled_over() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 9), ("b", 8), ("c", 7), ("d", 6), ("e", 5)]);
    repo.write(HISTORY, &(1..=4998).map(old_record).collect::<String>());
    repo.commit_all("long ago");
    repo.write(".git/shallow", &format!("{}\n", repo.head()));
    repo.git(&["branch", "other"]);
    for file in ["a", "b", "c"] {
        repo.cycle(&format!("touch {file}")).expect(0);
    }
    repo.git(&["switch", "--quiet", "other"]);
    repo.cycle("touch d").expect(0);
    assert_eq!(lines(&repo, "main", SEGMENT).len(), 4000);
    assert_eq!(lines(&repo, "main", HISTORY).len(), 1001);
    assert_eq!(lines(&repo, "other", HISTORY).len(), 4999);
    repo
}

#[test]
fn lines_that_one_side_moved_to_a_segment_and_the_other_had_not_stand_in_a_merge_once() {
    let rolled_over = rolled_over();
    for (into, from, side, last) in [
        ("other", "main", "--ours", "other"),
        ("other", "main", "--ours", "main"),
        ("main", "other", "--theirs", "other"),
        ("main", "other", "--theirs", "main"),
        ("main", "other", "--ours", "main"),
    ] {
        let what = format!("{from} into {into}, {side}, ran last on {last}");
        let repo = rolled_over.copied();
        let anchor = repo.git(&["rev-parse", last]);
        repo.write(".git/evolve/anchor", &format!("{anchor}\n"));
        let segment = lines(&repo, "main", SEGMENT);
        let own = [into, from].map(|branch| {
            let mut own = lines(&repo, branch, HISTORY);
            own.retain(|line| !segment.contains(line));
            own
        });
        repo.git(&["switch", "--quiet", into]);
        let mut merge = repo.command("git");
        merge.args(["merge", "--quiet", "--no-edit", from]);
        assert!(
            !merge.output().unwrap().status.success(),
            "{what}: a conflict"
        );
        repo.git(&["checkout", "--quiet", side, "--", ".agents"]);
        repo.git(&["add", "--all"]);
        repo.git(&["commit", "--quiet", "--no-edit"]);
        let is_doubled = lines(&repo, "HEAD", HISTORY).len() == 4999;
        assert_eq!(
            is_doubled,
            side == "--ours" && into == "other" || side == "--theirs"
        );
        let audit = repo.evolve(&["audit"]).expect(10).stdout;
        assert_eq!(
            audit.contains("the merge doubled 4000 records: run evolve"),
            is_doubled,
            "{what}: {audit}"
        );
        assert!(audit.len() < 2_000, "{what}: {audit}");
        assert!(
            repo.answer(&["status"]).contains("cycles     5002\n"),
            "{what}"
        );
        let run = repo.cycle("touch a b c d e").expect(0);
        let told = run.stderr.contains("a merge doubled 4000 lines");
        assert_eq!(told, is_doubled, "{what}: {}", run.stderr);
        assert!(
            run.stderr.contains("a merge left out"),
            "{what}: {}",
            run.stderr
        );
        assert!(
            !run.stderr.contains("from the last ledger"),
            "{what}: {}",
            run.stderr
        );
        assert_eq!(lines(&repo, "HEAD", SEGMENT), segment, "{what}");
        let now = lines(&repo, "HEAD", HISTORY);
        assert_eq!(now.len(), 1003, "{what}");
        for own in &own {
            let kept: Vec<_> = now.iter().filter(|line| own.contains(line)).collect();
            assert_eq!(kept, own.iter().collect::<Vec<_>>(), "{what}");
        }
        assert_eq!(repo.newest()["cycle"], 5002, "{what}");
        assert!(
            repo.answer(&["status"]).contains("cycles     5003\n"),
            "{what}"
        );
        assert_eq!(repo.status(), Vec::<String>::new(), "{what}");
        repo.evolve(&["audit"]).expect(0);
        let run = repo.cycle("touch f").expect(0);
        assert!(!run.stderr.contains("a merge"), "{what}: {}", run.stderr);
        repo.evolve(&["audit"]).expect(0);
    }
}

#[test]
fn a_clone_in_which_evolve_never_ran_counts_doubled_lines_once_and_moves_none_to_a_second_segment()
{
    let repo = rolled_over();
    let main = repo.git(&["show", &format!("main:{SEGMENT}")]) + "\n";
    let added: String = (4999..=5000).map(old_record).collect();
    let active = repo.read(HISTORY);
    repo.write(SEGMENT, &main);
    repo.write(HISTORY, &[active, added].concat());
    repo.commit_all("doubled");
    fs::remove_file(repo.path(".git/evolve/anchor")).unwrap();
    assert!(repo.answer(&["status"]).contains("cycles     5001\n"));
    repo.cycle("touch a").expect(0);
    assert_eq!(lines(&repo, "HEAD", HISTORY).len(), 1002);
    assert_eq!(lines(&repo, "HEAD", SEGMENT).len(), 4000);
    assert!(!repo.has(".agents/evolve/cycle-history.0002.jsonl"));
    assert!(repo.answer(&["status"]).contains("cycles     5002\n"));
}

#[test]
fn a_segment_that_an_agent_made_up_has_no_record_forgotten() {
    let repo = parted();
    repo.git(&["switch", "--quiet", "other"]);
    repo.agent_does(&[&format!(
        "touch b; cp {HISTORY} {SEGMENT}; git add -f {SEGMENT} b; git commit -qm more"
    )]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let known = lines(&repo, "HEAD", HISTORY);
    repo.git(&["switch", "--quiet", "main"]);
    for way in ["ours", "theirs"] {
        let repo = repo.copied();
        repo.git(&["merge", "--quiet", "--no-edit", "-X", way, "other"]);
        repo.cycle("touch e").expect(0);
        let now = lines(&repo, "HEAD", HISTORY);
        assert!(
            known.iter().all(|line| now.contains(line)),
            "{way}: {now:#?}"
        );
    }
}
