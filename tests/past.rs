//! What was: the history with the way of the score, and which part of it is asked for.

use insta::assert_snapshot;
use serde_json::Value;

use crate::harness::{TestRepo, output};

/// A goal of a number that three cycles raise, one of which breaks another goal, and a second goal.
fn raised() -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: count, description: enough, check: cat number, weight: 5, continuous: {threshold: 9, direction: at-least}}\n  \
         - {id: other, description: there, check: test -e other, weight: 4}\n  \
         - {id: third, description: there, check: test -e third, weight: 1}\n",
    );
    repo.write("number", "1\n");
    repo.write("third", "");
    repo.commit_all("numbers");
    repo.agent_does(&[
        "echo 5 >number",
        "rm third; echo 8 >number",
        "echo 9 >number",
        "touch other",
    ]);
    repo.run(&["--max-cycles=4"]).expect(0);
    assert_eq!(
        repo.each("result"),
        ["unchanged", "regressed", "improved", "improved"]
    );
    repo
}

fn cycles(repo: &TestRepo, arguments: &[&str]) -> Vec<u64> {
    let arguments = [&["history", "--json"], arguments].concat();
    let document: Value = serde_json::from_str(&repo.evolve(&arguments).expect(0).stdout).unwrap();
    let records = document["records"].as_array().unwrap();
    records
        .iter()
        .map(|record| record["cycle"].as_u64().unwrap())
        .collect()
}

/// Removes both snapshots of the third cycle in a commit of the user's.
fn remove_snapshots_of_third(repo: &TestRepo) {
    repo.git(&[
        "rm",
        "-q",
        ".agents/evolve/fitness-3.json",
        ".agents/evolve/fitness-3-post.json",
    ]);
    repo.git(&["commit", "-qm", "cleaned up"]);
}

#[test]
fn the_history_ends_with_the_way_of_the_score_in_what_cycles_left() {
    let repo = raised();
    assert_snapshot!(repo.answer(&["history"]), @r#"
    cycle  result     goal   score        passing         agent   commit      recorded              why
    1      unchanged  count  10           1 of 3 [s]  [id]  [time]  kept: it still fails: the value is 5, wanted at least 9
    2      regressed  count  10 → 0 → 10  0 of 3, undone [s]  [id]  [time]  passed before and no longer: third (exit 1)
    3      improved   count  10 → 60      2 of 3 [s]  [id]  [time]
    4      improved   other  60 → 100     3 of 3 [s]  [id]  [time]

    score  10 ▁▁▁▅█ 100
    "#);
    assert_snapshot!(repo.answer(&["history", "--goal", "count"]), @r#"
    cycle  result     goal   measured     value  agent   commit      recorded              why
    0      baseline          FAIL         1
    1      unchanged  count  FAIL         1 → 5 [s]  [id]  [time]  kept: it still fails: the value is 5, wanted at least 9
    2      regressed  count  FAIL         5 → 8 [s]  [id]  [time]  passed before and no longer: third (exit 1)
    3      improved   count  FAIL → pass  5 → 9 [s]  [id]  [time]
    4      improved   other  pass         9 [s]  [id]  [time]

    score  10 ▁▁▁▅█ 100
    value  1 ▁▅▅██ 9 (threshold 9)
    "#);
}

#[test]
fn of_a_goal_that_no_cycle_worked_on_is_shown_what_it_came_to_in_each() {
    let repo = raised();
    assert_snapshot!(repo.answer(&["history", "--goal", "third"]), @r#"
    cycle  result     goal   measured     agent   commit      recorded              why
    0      baseline          pass
    1      unchanged  count  pass [s]  [id]  [time]
    2      regressed  count  pass → FAIL [s]  [id]  [time]  passed before and no longer: third (exit 1)
    3      improved   count  pass [s]  [id]  [time]
    4      improved   other  pass [s]  [id]  [time]

    score  10 ▁▁▁▅█ 100
    "#);
    assert_snapshot!(repo.answer(&["history", "--goal", "count", "--since", "3"]), @r#"
    cycle  result    goal   measured     value  agent   commit      recorded              why
    3      improved  count  FAIL → pass  5 → 9 [s]  [id]  [time]
    4      improved  other  pass         9 [s]  [id]  [time]

    score  10 ▁▅█ 100
    value  5 ▁██ 9 (threshold 9)
    "#);
    let document = repo
        .evolve(&["history", "--goal=third", "--json"])
        .expect(0);
    let document: Value = serde_json::from_str(&document.stdout).unwrap();
    let of = |index: usize, when: &str| document["measurements"][index][when]["result"].clone();
    assert_eq!(
        (of(0, "before"), of(0, "after")),
        (Value::Null, "pass".into())
    );
    assert_eq!(
        (of(2, "before"), of(2, "after")),
        ("pass".into(), "fail".into())
    );
    assert_eq!(document["measurements"].as_array().unwrap().len(), 5);
    remove_snapshots_of_third(&repo);
    std::fs::remove_file(repo.private().join("anchor")).unwrap();
    let page = repo.answer(&["history", "--goal", "third"]);
    let known = "of 1 more cycle nothing is known: it was not measured, or the snapshot is gone\n";
    assert!(page.contains(known), "{page}");
}

#[test]
fn a_part_of_the_history_is_asked_for_by_goal_and_by_cycle_or_time() {
    let repo = raised();
    assert_eq!(cycles(&repo, &[]), [1, 2, 3, 4]);
    assert_eq!(cycles(&repo, &["--goal", "other"]), [4]);
    assert_eq!(cycles(&repo, &["--goal", "count", "--since", "2"]), [2, 3]);
    assert_eq!(cycles(&repo, &["--since=1d"]), [1, 2, 3, 4]);
    assert_eq!(cycles(&repo, &["--since", "2020-01-01"]), [1, 2, 3, 4]);
    assert_eq!(cycles(&repo, &["--since", "2999-01-01"]), [0; 0]);
    assert_eq!(cycles(&repo, &["--goal", "third"]), [0; 0]);
    assert_snapshot!(repo.answer(&["history", "--goal", "third", "--since", "2999-01-01"]), @"no such cycles");
    assert_snapshot!(repo.error(2, &["history", "--goal", "cuont"]), @r#"
    error: no cycle worked on cuont, and no goal is called so
    hint: did you mean count?
    "#);
    assert_snapshot!(repo.error(2, &["history", "--goal", "something"]), @r#"
    error: no cycle worked on something, and no goal is called so
    hint: `evolve history` lists all cycles, `evolve validate` the goals
    "#);
    let unread = repo.evolve(&["history", "--since", "yesterday"]).expect(2);
    assert!(
        unread.stderr.contains("a time before now, as in 3d"),
        "{}",
        unread.stderr
    );
}

#[test]
fn a_cycle_is_shown_with_what_it_changed_what_was_asked_for_and_what_was_said() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "one\ntwo\n");
    repo.commit_all("b");
    repo.agent_does(&["echo working; echo 'three' >>b; git mv b a; echo token=ghp_0123456789abcdefghijABCDEFGHIJ012345"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let page = repo.answer(&["show"]);
    assert_snapshot!(page, @r#"
    cycle 1 · a · regressed
    why            passed before and no longer: b (exit 1)
    score          measured 37.5 → 62.5, undone: back at 37.5
    passing        1 of 2 goals (measured, not kept)
    newly passing  a
    newly failing  b
    agent          sh [outside]/agent: done after [s], exit 0, tokens and cost unknown
    commit         [commit]
    undone to      [commit]
    recorded       [time]
    session        [session]
    note           new files that the undo removed (they are in refs/evolve/[session]/1): a

    goals, before and after; 2 changed
    a  FAIL  →  pass
    b  pass  →  FAIL  exit 1

    brief .git/evolve/logs/[session]/1-brief.txt
        You work in a git repository, in your current directory, unattended: nobody answers questions.

        Make this goal pass: **a** — file a exists

        It counts as met when this command, run in the repository's root, ends with exit code 0:

            test -e a

        It fails now: exit 1.
        … and 15 lines more in that file

    end of the agent's log .git/evolve/logs/[session]/1-agent.log
        working
        token=***

    changed: 1 file, 1 line added, 0 removed
    b → a  1  +
    "#);
    let page = repo.answer(&["show", "1", "--diff"]);
    let patch = page.split("removed\n").nth(1).unwrap_or_default();
    assert_snapshot!(patch, @r#"
    b → a  1  +

    diff --git a/b b/a
    similarity index 80%
    rename from b
    rename to a
    index 814f4a4..4cb29ea 100644
    --- a/b
    +++ b/a
    @@ -1,2 +1,3 @@
     one
     two
    +three
    "#);
    let document: Value =
        serde_json::from_str(&repo.evolve(&["show", "--json", "--diff"]).expect(0).stdout).unwrap();
    assert_eq!(document["record"]["cycle"], 1);
    assert_eq!(document["files"][0]["path"], "b → a");
    assert!(
        document["patch"].as_str().unwrap().contains("\n+three\n"),
        "{document}"
    );
    let short: Value =
        serde_json::from_str(&repo.evolve(&["show", "--json"]).expect(0).stdout).unwrap();
    assert!(
        short.get("patch").is_none() && short["files"].is_array(),
        "{short}"
    );
}

#[test]
fn a_cycle_whose_papers_and_snapshots_are_gone_is_shown_all_the_same() {
    let repo = raised();
    remove_snapshots_of_third(&repo);
    std::fs::remove_dir_all(repo.private().join("logs")).unwrap();
    std::fs::remove_file(repo.private().join("anchor")).unwrap();
    assert_snapshot!(repo.answer(&["show", "3"]), @r#"
    cycle 3 · count · improved
    score          10 → 60
    passing        2 of 3 goals
    newly passing  count
    agent          sh [outside]/agent: done after [s], exit 0, tokens and cost unknown
    commit         [commit]
    recorded       [time]
    session        [session]

    changed: 1 file, 1 line added, 1 removed
    number  2  +  -
    "#);
}

#[test]
fn in_a_clone_the_work_of_an_undone_cycle_is_shown_from_its_history_and_no_ref_is_named_as_if_it_were_there()
 {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]).with_out();
    repo.write("b", "one\n");
    repo.commit_all("b");
    repo.agent_does(&["git mv b a && git commit --quiet -m 'b to a'"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed"]);
    let here = repo.answer(&["show", "1", "--diff"]);
    assert!(here.contains("rename from b"), "{here}");
    assert!(!here.contains("not in this repository"), "{here}");
    let clone = repo.outside().join("clone");
    repo.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    let shown = |session: &str| {
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command.args(["show", "1", "--diff"]).current_dir(&clone);
        let shown = String::from_utf8(output(&mut command).stdout).unwrap();
        let told = format!("refs/evolve/{session}/1, which is not in this repository): a");
        assert!(shown.contains(&told), "{shown}");
        shown
    };
    let session = repo.newest()["session"].as_str().unwrap().to_owned();
    let there = shown(&session);
    assert!(there.contains("rename from b"), "{there}");
    // What was undone in a copy of its own never came to the branch.
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "one\n");
    repo.commit_all("b");
    repo.agent_does(&["git mv b a"]);
    repo.run(&["--max-cycles=1", "--isolate"]).expect(0);
    let work = format!(
        "refs/evolve/{}/1",
        repo.newest()["session"].as_str().unwrap()
    );
    assert!(
        repo.answer(&["show", "1", "--diff"])
            .contains("rename from b")
    );
    repo.git(&["update-ref", "-d", &work]);
    let gone = repo.answer(&["show", "1", "--diff"]);
    let words = "no patch: this repository does not have the work that was undone\n";
    assert!(gone.ends_with(words), "{gone}");
}

#[test]
fn a_number_that_two_branches_gave_is_told_and_each_cycle_has_its_own_change() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.git(&["branch", "other"]);
    repo.cycle("echo from-main >a").expect(0);
    repo.git(&["switch", "-q", "other"]);
    repo.write("unrelated", "1\n2\n");
    repo.commit_all("unrelated");
    repo.cycle("echo from-other >a; echo more >more").expect(0);
    let theirs = repo.newest();
    repo.git(&["switch", "-q", "main"]);
    let ours = repo.newest();
    // Both records, and the snapshots of one of them only.
    let merge = "git merge -q -X ours other -m both || true; git checkout -q --ours . ; \
        git show other:.agents/evolve/cycle-history.jsonl >>.agents/evolve/cycle-history.jsonl; git add -A; git commit -qm both";
    crate::harness::output(repo.command("sh").args(["-c", merge]));
    assert_eq!(
        repo.records().len(),
        2,
        "{}",
        repo.git(&["log", "--oneline"])
    );
    let run = repo.evolve(&["show", "1"]).expect(0);
    let (ours, theirs) = (
        ours["session"].as_str().unwrap(),
        theirs["session"].as_str().unwrap(),
    );
    assert_eq!(
        run.stderr.trim_end(),
        format!(
            "warning: 2 cycles are called 1: this is the one of session {theirs}; session {ours} had one, too"
        )
    );
    assert!(run.stdout.contains(theirs), "{}", run.stdout);
    assert!(
        run.stdout.contains("changed: 2 files, 2 lines added"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("unrelated"), "{}", run.stdout);
    let report = repo.evolve(&["report", "--out", "-"]).expect(0).stdout;
    assert!(!report.contains("unrelated"), "{report}");
}

#[test]
fn a_cycle_is_not_credited_with_what_somebody_else_mended_before_it() {
    let repo = TestRepo::with_files_wanted(&[("human-fixed", 5), ("agentg", 3)]);
    repo.cycle("exit 7");
    repo.write("human-fixed", "");
    repo.commit_all("fixed by hand");
    repo.cycle("touch agentg");
    let newest = repo.newest();
    assert_eq!(newest["goal_id"], "agentg");
    assert_eq!(
        newest["newly_passing"],
        serde_json::json!(["agentg", "human-fixed"])
    );
    let shown = repo.answer(&["show"]);
    for line in [
        "newly passing  agentg\n",
        "passes since   before its agent was called: human-fixed\n",
    ] {
        assert!(shown.contains(line), "{shown}");
    }
    let said = "passes now: agentg; passes since, before its agent was called: human-fixed";
    for report in [&["report", "--md"][..], &["report", "--out", "-"]] {
        let report = repo.evolve(report).expect(0).stdout;
        assert!(report.contains(said), "{report}");
    }
}

#[test]
fn snapshots_that_are_not_what_was_recorded_are_not_believed() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.cycle("touch a").expect(0);
    let files =
        ["fitness-1.json", "fitness-1-post.json"].map(|name| format!(".agents/evolve/{name}"));
    let recorded = files.clone().map(|file| repo.read(&file));
    for file in &files {
        let mut forged = repo.json(file);
        for goal in forged["goals"].as_array_mut().unwrap() {
            goal["result"] = "pass".into();
        }
        forged["score"] = 100.0.into();
        forged["goals_passing"] = 2.into();
        repo.write(file, &forged.to_string());
    }
    repo.commit_all("forged");
    let origin = format!("file://{}", repo.root().display());
    for (depth, left) in [("--depth=100", "Work is left"), ("--depth=1", "Not known")] {
        let clone = repo.out(depth).display().to_string();
        repo.git(&["clone", "--quiet", depth, &origin, &clone]);
        let there = |words: &[&str]| repo.evolve(&[&["-C", &clone], words].concat()).expect(0);
        let status: Value = serde_json::from_str(&there(&["status", "--json"]).stdout).unwrap();
        assert_eq!(status["score"], 62.5, "{depth}: {status}");
        assert_eq!(status["goals_passing"], 1, "{depth}: {status}");
        let doubt = "the snapshots of cycle 1 are not what it recorded: \
                     score_before is 0 in the record and 100 in the first snapshot";
        let problem = status["problems"][0].as_str().unwrap();
        assert!(problem.contains(doubt), "{depth}: {problem}");
        let report = there(&["report", "--md"]).stdout;
        assert!(report.contains(left), "{depth}: {report}");
        assert!(!report.contains("All is well"), "{depth}: {report}");
        let shown = there(&["show", "1"]);
        assert!(shown.stderr.contains(doubt), "{depth}: {}", shown.stderr);
        assert!(
            !shown.stdout.contains("0 changed"),
            "{depth}: {}",
            shown.stdout
        );
    }
    // Where the ledger was written they are put right.
    let problem = "HEAD has them otherwise than they were written; they are put right";
    let status = repo.answer(&["status"]);
    assert!(
        status.contains("62.5") && status.contains(problem),
        "{status}"
    );
    assert!(!repo.answer(&["report", "--md"]).contains("All is well"));
    let run = repo.cycle("touch b").expect(0);
    assert!(run.stderr.contains(problem), "{}", run.stderr);
    for (file, text) in files.iter().zip(recorded) {
        assert_eq!(repo.read(file), text);
        assert_eq!(
            repo.git(&["show", &format!("HEAD:{file}")]),
            text.trim_end()
        );
    }
    let run = repo.run(&["--max-cycles=1"]).expect(0);
    assert!(!run.stderr.contains("put right"), "{}", run.stderr);
    assert!(!repo.answer(&["status"]).contains("problem"));
}
