//! `evolve undo`: the change of one cycle is taken back as a new commit that passes the gate, or everything stays as it was.

use insta::assert_snapshot;

use crate::harness::{TestRepo, finish, signal_pid};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// A goal that passes, and a file that three items of work change: its first line, its last one, and the first one again.
fn worked_on(scripts: &[&str]) -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.write("a", "");
    repo.write("text", LINES);
    repo.commit_all("text");
    for number in 1..=scripts.len() {
        repo.answer(&["work", "add", &format!("item {number}")]);
    }
    repo.agent_does(scripts);
    repo.run(&[&format!("--max-cycles={}", scripts.len())])
        .expect(0);
    assert!(
        repo.each("result")
            .iter()
            .all(|result| result == "harvested")
    );
    repo
}

const FIRST: &str = "sed -i 's/one/ONE/' text && git commit -qam 'shout one'";
const LAST: &str = "sed -i 's/nine/NINE/' text && git commit -qam 'shout nine'";
const FIRST_AGAIN: &str = "sed -i 's/ONE/One/' text && git commit -qam 'one with a capital'";

#[test]
fn the_change_of_one_cycle_is_taken_back_and_what_came_later_stays() {
    let repo = worked_on(&[FIRST, LAST]);
    repo.write("mine", "untracked\n");
    let run = repo.evolve(&["undo", "1"]).expect(0);
    assert!(
        run.stdout
            .contains("\ndone: the change of cycle 1 is taken back, in cycle 3\n"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("limit"), "{}", run.stdout);
    assert_eq!(repo.read("text"), LINES.replace("nine", "NINE"));
    assert_eq!(repo.read("mine"), "untracked\n");
    assert_eq!(repo.status(), ["?? mine"]);
    let newest = repo.newest();
    assert_eq!(newest["goal_id"], "next-work:undo cycle 1");
    assert_eq!(newest["result"], "harvested");
    assert_eq!(newest["agent"]["name"], "evolve undo");
    let commit = newest["commit_sha"].as_str().unwrap().to_owned();
    assert_eq!(repo.trailer(&commit, "Evolve-Undoes"), "1");
    let message = repo.git(&["show", "-s", "--format=%B", &commit]);
    assert!(
        message.starts_with("evolve: take back cycle 1 (next-work:item 1)\n"),
        "{message}"
    );
    assert!(message.contains(" shout one\n"), "{message}");
    let said = repo.answer(&["audit"]);
    let counted = "0 undos, 1 change taken back by `evolve undo` in ";
    assert!(said.contains(counted), "{said}");
    // Once is enough, and what took it back can be taken back.
    assert_snapshot!(repo.error(2, &["undo", "1"]), @r#"
    error: there is nothing to take back of cycle 1: it was taken back already
    hint: `evolve show 1` tells what became of it
    "#);
    let run = repo.evolve(&["undo", "3"]).expect(0);
    assert_eq!(
        repo.read("text"),
        LINES.replace("nine", "NINE").replace("one", "ONE")
    );
    for told in [
        "next-work:undo cycle 3: asked for by a person: brings back the change of cycle 1, which cycle 3 took back\n",
        "\ndone: the change of cycle 1, which cycle 3 took back, is there again, in cycle 4\n",
    ] {
        assert!(run.stdout.contains(told), "{}", run.stdout);
    }
    let commit = repo.newest()["commit_sha"].as_str().unwrap().to_owned();
    assert_eq!(
        repo.git(&["show", "-s", "--format=%s", &commit]),
        "evolve: bring back cycle 1 (next-work:item 1), which cycle 3 took back"
    );
    let shown = repo.answer(&["show", "4"]);
    assert!(
        shown.contains("brings back the change of cycle 1"),
        "{shown}"
    );
    assert!(
        repo.answer(&["show", "1"])
            .contains("brought back by cycle 4")
    );
    // And so on.
    repo.evolve(&["undo", "4"]).expect(0);
    assert_eq!(repo.read("text"), LINES.replace("nine", "NINE"));
    let commit = repo.newest()["commit_sha"].as_str().unwrap().to_owned();
    assert_eq!(
        repo.git(&["show", "-s", "--format=%s", &commit]),
        "evolve: take back cycle 1 (next-work:item 1) again, which cycle 4 brought back"
    );
    repo.answer(&["audit"]);
}

#[test]
fn a_change_whose_commits_a_rebase_made_anew_is_taken_back_as_far_as_it_is_here() {
    let repo = worked_on(&[FIRST, LAST]);
    let root = repo.git(&["rev-list", "--max-parents=0", "HEAD"]);
    repo.git(&["switch", "-qc", "upstream", &root]);
    repo.write("up", "");
    repo.commit_all("upstream");
    repo.git(&["switch", "-q", "main"]);
    repo.git(&["rebase", "-q", "upstream"]);
    repo.evolve(&["undo", "1"]).expect(0);
    assert_eq!(repo.read("text"), LINES.replace("nine", "NINE"));
    assert!(
        repo.answer(&["show", "1"])
            .contains("taken back by cycle 3")
    );
    // Where the lines are others by now, and where they never were.
    repo.write("text", &LINES.replace("nine", "9"));
    repo.commit_all("figures");
    let said = repo.error(3, &["undo", "2"]);
    assert!(
        said.contains(
            "its commits are not on this branch, and what it changed in text is not here as it was"
        ),
        "{said}"
    );
    repo.write("text", LINES);
    repo.commit_all("words");
    let said = repo.error(2, &["undo", "2"]);
    assert!(said.contains("its change is not on this branch"), "{said}");
    assert_eq!(repo.status(), [""; 0]);
}

#[test]
fn work_that_was_taken_back_can_be_queued_anew_and_is_not_counted_as_done() {
    let repo = worked_on(&[FIRST, LAST]);
    repo.evolve(&["undo", "1"]).expect(0);
    let said = repo.answer(&["status"]);
    assert!(
        said.contains("0 open, 0 set aside, 1 done, 1 taken back\n"),
        "{said}"
    );
    let queue: serde_json::Value =
        serde_json::from_str(&repo.answer(&["status", "--json"])).unwrap();
    assert_eq!(queue["queue"]["taken_back"], 1);
    assert_snapshot!(repo.answer(&["work", "add", "item 1"]), @"queued: item 1");
    repo.agent_does(&[FIRST]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["goal_id"], "next-work:item 1");
    assert!(repo.read("text").starts_with("ONE\n"));
}

#[test]
fn a_change_whose_lines_were_changed_later_stays_and_the_later_commits_are_named() {
    let repo = worked_on(&[FIRST, LAST, FIRST_AGAIN]);
    let (head, files) = (repo.head(), repo.files());
    let said = repo.error(3, &["undo", "1"]);
    let short: String = repo
        .git(&["log", "-1", "--format=%H", "--grep=capital"])
        .chars()
        .take(10)
        .collect();
    assert_snapshot!(said.replace(&short, "[short]"), @r#"
    error: cycle 1 cannot be taken back alone: the same lines of text were changed later, by [id] (one with a capital)
    hint: take these back first, the newest first, or do it by hand: nothing was changed
    "#);
    assert_eq!((repo.head(), repo.files()), (head, files));
    assert_eq!(repo.records().len(), 3);
    // The later one first, then it works.
    repo.evolve(&["undo", "3"]).expect(0);
    repo.evolve(&["undo", "1"]).expect(0);
    assert_eq!(repo.read("text"), LINES.replace("nine", "NINE"));
}

#[test]
fn a_change_that_a_goal_needs_comes_back_and_that_is_said() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.cycle("echo 1 >a").expect(0);
    let files = repo.files();
    let run = repo.evolve(&["undo", "1"]).expect(10);
    // Each is said once.
    assert_eq!(run.stderr, "");
    for said in [
        "refused: the change of cycle 1 stays\n",
        "  refused: passed before and no longer: a (exit 1)\n",
        "  the commit of the undo stays under refs/evolve/",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    let (_, way_out) = run
        .stdout
        .split_once("`git cherry-pick ")
        .expect("a way out");
    let (commit, _) = way_out.split_once('`').unwrap();
    repo.git(&["cherry-pick", commit]);
    assert!(!repo.has("a"));
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let shown = repo.answer(&["show"]);
    assert!(shown.contains(" · regressed · refused\n"), "{shown}");
    for words in ["You work in a git repository", "it printed nothing"] {
        assert!(!shown.contains(words), "{shown}");
    }
    assert_eq!(repo.files(), files);
    assert_eq!(repo.each("result"), ["improved", "regressed"]);
    repo.answer(&["audit"]);
}

#[test]
fn what_was_undone_since_stands_in_no_undos_way() {
    let repo = worked_on(&[FIRST, FIRST_AGAIN]);
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &format!("{goals}  - {{id: good, description: d, check: grep -q ^One text, weight: 5}}\n"),
    );
    repo.commit_all("a goal");
    repo.evolve(&["undo", "2"]).expect(10);
    let said = repo.error(3, &["undo", "1"]);
    assert!(said.contains("by [id] (one with a capital)\n"), "{said}");
}

#[test]
fn an_undo_that_is_refused_is_called_that_wherever_it_is_told() {
    // Cycle 1 brings a bad file, cycle 2 is its undo; a goal that came since does not let it come back.
    let repo = worked_on(&["touch bad"]);
    repo.evolve(&["undo", "1"]).expect(0);
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &format!("{goals}  - {{id: good, description: d, check: test ! -e bad, weight: 5}}\n"),
    );
    repo.commit_all("a goal");
    let run = repo.evolve(&["undo", "2"]).expect(10);
    let told = [
        run.stdout,
        repo.answer(&["history"]),
        repo.answer(&["show", "3"]),
        repo.answer(&["status"]),
        repo.answer(&["report", "--md"]),
        repo.read(".agents/evolve/session-summary.md"),
    ];
    let again = repo.evolve(&["undo", "3"]).expect(2).stderr;
    assert!(
        again.contains("nothing to take back of cycle 3: it was an undo that was refused\n"),
        "{again}"
    );
    for text in told {
        assert!(text.contains("refused"), "{text}");
        // Nothing was taken back by it, and nothing but it was undone.
        for other in ["not taken back", "takes it back", "undone"] {
            assert!(!text.contains(other), "{other}: {text}");
        }
    }
}

#[test]
fn what_changed_nothing_or_was_undone_has_nothing_to_take_back() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.agent_does(&["rm b; touch a", "exit 3"]);
    repo.run(&["--max-cycles=2"]).expect(0);
    assert_snapshot!(repo.error(2, &["undo", "1"]), @r#"
    error: there is nothing to take back of cycle 1: its change was undone
    hint: `evolve show 1` tells what became of it
    "#);
    assert_snapshot!(repo.error(2, &["undo", "2"]), @r#"
    error: there is nothing to take back of cycle 2: it changed nothing
    hint: `evolve show 2` tells what became of it
    "#);
    assert_snapshot!(repo.error(2, &["undo", "7"]), @r#"
    error: there is no cycle 7
    hint: the newest is 2; `evolve history` lists them
    "#);
    assert_eq!(repo.records().len(), 2);
}

#[test]
fn changes_that_are_not_committed_stop_it_and_files_in_the_way_stay() {
    let repo = worked_on(&["git rm -q text && git commit -qm 'no text'"]);
    repo.write("a", "changed\n");
    let said = repo.evolve(&["undo", "1"]).expect(3).stderr;
    assert!(
        said.ends_with("agent's:\n  a\nhint: commit or stash them first\n"),
        "{said}"
    );
    assert_eq!(repo.read("a"), "changed\n");
    repo.git(&["checkout", "-q", "a"]);
    repo.write("text", "my own notes\n");
    let (head, files) = (repo.head(), repo.files());
    assert_snapshot!(repo.error(3, &["undo", "1"]), @r#"
    error: cycle 1 cannot be taken back: files that git does not know stand where its change would come to: text
    hint: move them away, and run it again: nothing was changed
    "#);
    assert_eq!((repo.head(), repo.files()), (head, files));
    assert_eq!(repo.records().len(), 1);
    std::fs::remove_file(repo.path("text")).unwrap();
    repo.evolve(&["undo", "1"]).expect(0);
    assert_eq!(repo.read("text"), LINES);
}

#[test]
fn whatever_of_the_users_stands_in_the_way_is_named_before_anything_is_done() {
    let remove = "git rm -rq text dir && git commit -qm 'no text'";
    type Way = fn(&TestRepo);
    let ways: [(&str, Way); 4] = [
        ("text/mine", |repo| repo.write("text/mine", "notes\n")),
        ("dir", |repo| repo.write("dir", "notes\n")),
        ("dir/inner", |repo| {
            std::fs::create_dir_all(repo.path("dir")).unwrap();
            std::os::unix::fs::symlink("/nowhere", repo.path("dir/inner")).unwrap();
        }),
        ("text", |repo| {
            repo.write(".git/info/exclude", "text\n");
            repo.write("text", "ignored\n");
        }),
    ];
    for (named, stand) in ways {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        repo.write("a", "");
        repo.write("text", LINES);
        repo.write("dir/inner", "inner\n");
        repo.commit_all("text");
        repo.answer(&["work", "add", "item"]);
        repo.cycle(remove).expect(0);
        stand(&repo);
        let files = repo.files();
        let said = repo.error(3, &["undo", "1"]);
        let words = format!("its change would come to: {named}\n");
        assert!(said.contains(&words), "{named}: {said}");
        assert_eq!(repo.files(), files, "{named}");
        assert_eq!(repo.records().len(), 1, "{named}");
    }
}

#[test]
fn a_file_that_comes_in_the_way_meanwhile_stays_and_is_named() {
    let repo = worked_on(&["git rm -q text && git commit -qm 'no text'"]);
    repo.commit_goals(
        "  - {id: slow, description: d, check: 'test -e text || echo mine >text', weight: 5}\n",
    );
    let run = repo.evolve(&["undo", "1"]).expect(3);
    let said = "the change of cycle 1 stays: files that git does not know stand where its change would come to: text";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(repo.read("text"), "mine\n");
    let reason = repo.newest()["reason"].as_str().unwrap().to_owned();
    assert!(!reason.contains("agent"), "{reason}");
    let told = run.stdout.replace("2-agent.log", "");
    assert!(!told.contains("agent"), "{told}");
}

#[test]
fn what_git_does_to_every_merge_of_the_branch_is_no_business_of_an_undo() {
    let repo = worked_on(&[FIRST]);
    for options in ["-s ours", "--squash", "--no-commit --no-ff"] {
        repo.git(&["config", "branch.main.mergeoptions", options]);
        let before = repo.read("text");
        let number = repo.records().len();
        let run = repo.evolve(&["undo", &number.to_string()]).expect(0);
        assert!(
            run.stdout.contains("\ndone: the change of cycle "),
            "{options}: {}",
            run.stdout
        );
        assert_ne!(repo.read("text"), before, "{options}");
        assert_eq!(repo.status(), Vec::<String>::new(), "{options}");
    }
}

#[test]
fn what_is_odd_about_the_goals_is_no_business_of_an_undo() {
    let repo = worked_on(&[FIRST]);
    let goals = repo.read("GOALS.yaml");
    let odd =
        "  - {id: odd, description: d, check: echo 3, weight: 1, continuous: {threshold: 2}}\n";
    repo.write("GOALS.yaml", &format!("{goals}{odd}"));
    repo.commit_all("a threshold without a direction");
    let warning = "without a direction the exit code alone decides";
    for command in ["validate", "measure"] {
        let said = repo.evolve(&[command]).expect(0).stderr;
        assert_eq!(said.matches(warning).count(), 1, "{command}: {said}");
    }
    let run = repo.evolve(&["undo", "1"]).expect(0);
    assert!(!run.stderr.contains(warning), "{}", run.stderr);
}

#[test]
fn goals_that_a_cycle_added_cannot_be_taken_back_so() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let goal = "  - {id: more, description: d, check: 'true', weight: 1}";
    repo.cycle(&format!("touch a; echo \"{goal}\" >>GOALS.yaml"))
        .expect(0);
    assert_eq!(repo.newest()["goals_added"], 1);
    let goals = repo.read("GOALS.yaml");
    let said = repo.evolve(&["undo", "1"]).expect(10).stdout;
    for words in [
        "  refused: goalposts moved",
        "refused: the change of cycle 1 stays\n",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert_eq!(repo.read("GOALS.yaml"), goals);
}

#[test]
fn it_waits_for_no_loop_at_work() {
    let repo = worked_on(&[FIRST]);
    repo.answer(&["work", "add", "more"]);
    repo.agent_does(&["touch $OUT/at-work; until [ -e $OUT/go ]; do sleep 0.05; done"]);
    let run = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("at-work");
    repo.evolve(&["undo", "1"]).expect(5);
    std::fs::write(repo.out("go"), "").unwrap();
    finish(run).expect(0);
    assert_eq!(repo.read("text"), LINES.replace("one", "ONE"));
}

#[test]
fn killed_half_way_the_next_start_puts_everything_back() {
    let repo = worked_on(&[FIRST]);
    let check = repo.check_in_turn("slow", &["true", "touch $OUT/second; sleep 1000", "true"]);
    repo.commit_goals(&format!(
        "  - {{id: slow, description: d, check: {check}, weight: 5}}\n"
    ));
    let before = repo.files();
    let mut run = repo.spawn(&["undo", "1"]);
    repo.wait_for("second");
    assert_eq!(repo.read("text"), LINES);
    signal_pid(run.id(), "KILL");
    run.wait().unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.files(), before);
    assert_eq!(repo.each("result")[1], "interrupted");
    repo.answer(&["audit"]);
}

#[test]
fn in_a_copy_of_its_own_it_works_beside_changes_that_are_not_committed() {
    let repo = worked_on(&[FIRST, LAST]);
    let goals = repo.read("GOALS.yaml");
    repo.write("GOALS.yaml", &format!("evolve: {{isolate: true}}\n{goals}"));
    repo.commit_all("isolate");
    repo.write("a", "changed\n");
    repo.evolve(&["undo", "1"]).expect(0);
    assert_eq!(repo.read("text"), LINES.replace("nine", "NINE"));
    assert_eq!(repo.read("a"), "changed\n");
}

#[test]
fn a_number_that_two_branches_gave_to_a_cycle_each_is_not_taken_back() {
    let repo = worked_on(&[FIRST]);
    let records = ".agents/evolve/cycle-history.jsonl";
    let line = repo.read(records);
    repo.write(
        records,
        &format!(
            "{line}{}",
            line.replace("\"cycle\":1,", "\"cycle\":1,\"x-other\":true,")
        ),
    );
    repo.git(&["commit", "-qam", "as a merge leaves it"]);
    let said = repo.error(3, &["undo", "1"]);
    assert!(said.contains("there is more than one cycle 1"), "{said}");
    assert!(repo.read("text").contains("ONE"));
}

/// A branch that did the first two items, and one that parted from it after the first and ran once with `other`; both merged.
fn merged_with(other: &str) -> TestRepo {
    let repo = worked_on(&[FIRST]);
    repo.write(".gitattributes", "/.agents/**/*.jsonl merge=union\n");
    repo.commit_all("as the README says");
    repo.git(&["branch", "other"]);
    repo.answer(&["work", "add", "item 2"]);
    repo.cycle(LAST).expect(0);
    repo.git(&["switch", "--quiet", "other"]);
    if !other.is_empty() {
        repo.answer(&["work", "add", "item 3"]);
    }
    repo.cycle(other).expect(0);
    repo.git(&["switch", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "other"]);
    assert_eq!(repo.each("cycle"), ["1", "2", "2"]);
    repo
}

#[test]
fn of_two_cycles_with_one_number_the_one_that_left_a_change_is_taken_back_and_marked() {
    let repo = merged_with("");
    assert_eq!(repo.each("result"), ["harvested", "harvested", "idle"]);
    repo.evolve(&["undo", "2"]).expect(0);
    assert_eq!(repo.read("text"), LINES.replace("one", "ONE"));
    assert_eq!(repo.newest()["cycle"], 3);
    let history = repo.answer(&["history"]);
    let marked: Vec<_> = history
        .lines()
        .filter(|line| line.contains("taken back by cycle 3"))
        .collect();
    assert_eq!(marked.len(), 1, "{history}");
    assert!(marked[0].contains("item 2"), "{history}");
    let told = "takes back the change of cycle 2";
    assert!(history.contains(told), "{history}");
    repo.answer(&["audit"]);
    // And what took it back can be taken back.
    repo.evolve(&["undo", "3"]).expect(0);
    assert!(repo.read("text").contains("NINE"));
    let history = repo.answer(&["history"]);
    assert!(
        history.contains("brings back the change of cycle 2"),
        "{history}"
    );
}

#[test]
fn where_two_cycles_with_one_number_left_a_change_each_is_named_with_its_own_commits() {
    let repo = merged_with("echo more >more && git add more && git commit -qm 'write more'");
    assert_eq!(repo.each("result"), ["harvested"; 3]);
    let head = repo.head();
    let said = repo.evolve(&["undo", "2"]).expect(3).stderr;
    for (title, subject) in [("item 2", "shout nine"), ("item 3", "write more")] {
        let commit = repo.git(&["log", "-1", "--format=%H", &format!("--grep={subject}")]);
        let line = said.lines().find(|line| line.contains(title));
        let line = line.unwrap_or_else(|| panic!("{said}"));
        assert!(line.ends_with(&format!(": git revert {commit}")), "{said}");
        assert!(line.contains("harvested, session "), "{said}");
    }
    assert_eq!(repo.head(), head);
}

#[test]
fn an_undo_of_before_a_merge_is_told_after_it_where_the_other_branch_has_its_number_too() {
    let repo = worked_on(&[FIRST]);
    repo.write(".gitattributes", "/.agents/**/*.jsonl merge=union\n");
    repo.commit_all("as the README says");
    repo.git(&["branch", "other"]);
    repo.answer(&["work", "add", "item 2"]);
    repo.cycle(LAST).expect(0);
    repo.evolve(&["undo", "2"]).expect(0);
    repo.git(&["switch", "--quiet", "other"]);
    for (item, file) in [("item 3", "more"), ("item 4", "most")] {
        repo.answer(&["work", "add", item]);
        let script = format!("echo x >{file} && git add {file} && git commit -qm {file}");
        repo.cycle(&script).expect(0);
    }
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "main"]);
    let history = repo.answer(&["history"]);
    let marked: Vec<_> = history
        .lines()
        .filter(|line| line.contains("taken back by cycle 3"))
        .collect();
    assert_eq!(marked.len(), 1, "{history}");
    assert!(marked[0].contains("item 2"), "{history}");
}

#[test]
fn where_git_would_keep_both_sides_lines_nothing_is_taken_back() {
    let repo = worked_on(&[FIRST, FIRST_AGAIN]);
    repo.write(".gitattributes", "text merge=union\n");
    repo.commit_all("attributes");
    let files = repo.files();
    let said = repo.error(3, &["undo", "1"]);
    assert!(
        said.contains("the same lines of text were changed later"),
        "{said}"
    );
    assert_eq!(repo.files(), files);
}

#[test]
fn a_stop_file_leaves_the_change_and_that_is_no_success() {
    let repo = worked_on(&[FIRST]);
    repo.write(".agents/evolve/STOP", "");
    let run = repo.evolve(&["undo", "1"]).expect(10);
    assert!(
        run.stderr
            .contains("the change of cycle 1 stays: STOP file"),
        "{}",
        run.stderr
    );
    assert!(repo.read("text").contains("ONE"));
}

#[test]
fn another_branch_that_is_gone_to_meanwhile_gets_nothing_of_this_one() {
    let mut repo = worked_on(&[FIRST]);
    repo.git(&["branch", "old"]);
    repo.write("later", "");
    repo.commit_all("work on main only");
    // The first check goes to the other branch, once.
    let goals = repo.read("GOALS.yaml");
    let switch = "test -e \\\"$OUT/switched\\\" || { touch \\\"$OUT/switched\\\"; git switch -q old; }; test -e a";
    repo.write(
        "GOALS.yaml",
        &goals.replace("check: test -e a", &format!("check: \"{switch}\"")),
    );
    repo.commit_all("a check that goes away");
    repo = repo.with_out();
    let run = repo.evolve(&["undo", "1"]);
    assert_ne!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let old = repo.git(&["log", "--format=%s", "old"]);
    assert!(!old.contains("work on main only"), "{old}");
}

#[test]
fn what_was_taken_back_is_marked_wherever_its_cycle_is_told() {
    let repo = worked_on(&[FIRST, LAST]);
    repo.evolve(&["undo", "1"]).expect(0);
    let told = |words: &str| {
        for command in [
            &["history"][..],
            &["show", "1"],
            &["report", "--md"],
            &["report", "--out", "-"],
        ] {
            let said = repo.evolve(command).expect(0).stdout;
            let times = said.matches(words).count();
            assert!(times > 0, "{command:?}: {said}");
        }
    };
    told("taken back by cycle 3");
    let history = repo.answer(&["history"]);
    assert_eq!(history.matches("taken back").count(), 1, "{history}");
    // The last cycle alone counts: it may have taken back what took something back.
    repo.evolve(&["undo", "3"]).expect(0);
    let history = repo.answer(&["history"]);
    assert_eq!(history.matches("taken back").count(), 1, "{history}");
    assert!(history.contains("taken back by cycle 4"), "{history}");
    assert!(!repo.answer(&["show", "1"]).contains("taken back"));
}

#[test]
fn an_undo_is_no_call_of_an_agent_and_its_cost_is_not_unknown() {
    let repo = worked_on(&[FIRST, LAST]);
    let run = repo.evolve(&["undo", "1"]).expect(0);
    assert!(!run.stdout.contains("unknown"), "{}", run.stdout);
    let page = repo.answer(&["report", "--md"]);
    assert!(page.contains("2 calls of an agent"), "{page}");
    let page = repo.evolve(&["report", "--out", "-"]).expect(0).stdout;
    assert!(page.contains("2 calls of an agent"), "{page}");
    let (_, cost) = page.split_once("id=\"cost\"").unwrap();
    let (cost, _) = cost.split_once("</section>").unwrap();
    assert!(!cost.contains("evolve undo"), "{cost}");
}

#[test]
fn an_undo_was_told_nothing_and_so_no_brief_of_it_is_shown() {
    let repo = worked_on(&[FIRST]);
    let page = || repo.evolve(&["report", "--out", "-"]).expect(0).stdout;
    let briefs = page().matches("<h4>Brief</h4>").count();
    assert_eq!(briefs, 1);
    assert!(repo.answer(&["show", "1"]).contains("\nbrief "));
    repo.evolve(&["undo", "1"]).expect(0);
    assert_eq!(page().matches("<h4>Brief</h4>").count(), briefs);
    assert!(!repo.answer(&["show", "2"]).contains("\nbrief "));
}
