//! `evolve audit`: an honest history agrees, and each way to forge one is found and named.

mod baseline;
mod beside;
mod shallow;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::harness::{TestRepo, everything_below, finish, output, wait_until, write_program};

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";

/// A repository whose history has a cycle of every kind.
fn honest() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3), ("c", 2)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.agent_does(&[
        "touch a && git add a && git commit -qm 'make a'",
        "git rm -q b && touch c && git add c && git commit -qm 'c for b'",
        "touch c && echo no >\"$EVOLVE_GIVE_UP\"",
    ]);
    repo.run(&["--max-cycles=3"]).expect(0);
    repo.evolve(&["retry", "c"]).expect(0);
    repo.cycle("touch other").expect(0);
    let kill = "touch half && mkdir -p ~/.config/evolve && touch ~/.config/evolve/KILL && sleep 60";
    repo.cycle(kill).expect(0);
    fs::remove_file(repo.kill_file()).unwrap();
    repo.cycle("touch c").expect(0);
    repo.evolve(&["work", "add", "tidy up"]).expect(0);
    repo.cycle("echo x >tidy").expect(0);
    repo.run(&["--max-cycles=1"]).expect(0);
    let results = "improved regressed failed unchanged interrupted improved harvested idle";
    assert_eq!(repo.each("result").join(" "), results);
    repo
}

/// The document of an audit that has to end with this code.
#[track_caller]
fn audited(repo: &TestRepo, code: i32) -> Value {
    let run = repo.evolve(&["audit", "--json"]).expect(code);
    assert_eq!(run.stderr, "", "{}", run.stdout);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Changes the history file as a shell command does that has it as `$H`, and commits that on top.
fn edits(repo: &TestRepo, script: &str) {
    change(repo, script);
    repo.git(&["commit", "--quiet", "-m", "by hand"]);
}

/// Changes the commit that recorded the newest cycle, its message as well.
fn rewrites(repo: &TestRepo, script: &str, message: &str) {
    repo.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    let was = repo.git(&["log", "-1", "--format=%B"]);
    change(repo, script);
    let (old, new) = message.split_once('>').unwrap_or(("", ""));
    let said = was.replacen(old, new, usize::from(!old.is_empty()));
    repo.git(&["commit", "--quiet", "--amend", "-m", &said]);
}

fn change(repo: &TestRepo, script: &str) {
    output(repo.command("sh").args(["-ec", script]).env("H", HISTORY));
    repo.git(&["add", "--all", "--force", "."]);
}

#[test]
fn a_history_with_cycles_of_every_kind_agrees_here_and_in_a_clone() {
    let repo = honest();
    let before = everything_below(&repo.root());
    let found = audited(&repo, 0);
    assert_eq!(found["disagreements"], json!([]));
    assert_eq!(found["notes"], json!([]));
    assert_eq!((&found["records"], &found["undos"]), (&8.into(), &3.into()));
    assert_eq!(everything_below(&repo.root()), before, "it wrote something");
    let said = repo.answer(&["audit"]);
    assert!(
        said.starts_with("everything agrees: 8 records, 14 snapshots, 3 undos in "),
        "{said}"
    );
    let origin = format!("file://{}", repo.root().display());
    for depth in ["--depth=1000", "--depth=9", "--depth=1"] {
        let clone = repo.out(depth).display().to_string();
        repo.git(&["clone", "--quiet", depth, &origin, &clone]);
        let run = repo.evolve(&["-C", &clone, "audit", "--json"]).expect(0);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(found["records"], 8, "{found}");
        let notes = found["notes"].to_string();
        assert_eq!(
            notes.contains("shallow"),
            depth != "--depth=1000",
            "{notes}"
        );
    }
}

#[test]
fn a_clone_that_was_cut_later_and_a_bare_one_agree_and_a_partial_one_says_what_it_lacks() {
    let repo = honest();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let origin = format!("file://{}", repo.root().display());
    let clone = |how: &[&str], name: &str| {
        let path = repo.out(name).display().to_string();
        repo.git(&[&["clone", "--quiet"], how, &[&origin, &path]].concat());
        path
    };
    for depth in ["--depth=1", "--depth=3", "--depth=9"] {
        let cut = clone(&[], depth);
        repo.git(&["-C", &cut, "fetch", "--quiet", depth]);
        let said = repo.evolve(&["-C", &cut, "audit"]).expect(0).stdout;
        assert!(said.contains("this clone is shallow"), "{said}");
    }
    let bare = clone(&["--bare"], "bare");
    let before = everything_below(&repo.out("bare"));
    let said = repo
        .evolve(&["-C", &bare, "audit", "--remeasure=2"])
        .expect(0)
        .stdout;
    let wanted = "everything agrees: 8 records, 14 snapshots, 3 undos in ";
    assert!(
        said.starts_with(wanted) && said.contains("2 cycles measured again"),
        "{said}"
    );
    assert_eq!(everything_below(&repo.out("bare")), before);
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let partial = clone(&[filter], filter);
        let run = repo.evolve(&["-C", &partial, "audit"]).expect(3);
        assert!(run.stderr.contains("partial clone"), "{}", run.stderr);
        repo.git(&[
            "-C",
            &partial,
            "fetch",
            "--quiet",
            "--refetch",
            "--no-filter",
        ]);
        repo.evolve(&["-C", &partial, "audit"]).expect(0);
    }
}

#[test]
fn each_forgery_is_found_and_named() {
    let repo = honest();
    let tip = repo.head();
    let tells = |what: &str, cycle: Value, words: &str| {
        let found = audited(&repo, 10);
        let told = found["disagreements"].as_array().unwrap();
        let names = |one: &Value| {
            one["cycle"] == cycle
                && one["what"].as_str().unwrap().contains(words)
                && one["commit"].is_string()
        };
        assert!(told.iter().any(names), "{what}: {told:#?}");
        repo.git(&["reset", "--quiet", "--hard", &tip]);
    };
    for (cycle, script, words) in [
        (
            json!(1),
            r#"sed -i '1s/"goals_added":0/"goals_added":7/' $H"#,
            "the record was changed: goals_added was 0, is 7",
        ),
        (json!(2), "sed -i 2d $H", "the record was removed"),
        (
            Value::Null,
            "sed -i '2{h;d};3{G}' $H",
            "the order of the records was changed",
        ),
        (
            json!(9),
            r#"sed -n '8s/"cycle":8/"cycle":9/p' $H >x; cat x >>$H; rm x"#,
            "by no commit that records its cycle",
        ),
        (
            json!(8),
            "sed -n 8p $H >x; cat x >>$H; rm x",
            "by no commit that records its cycle",
        ),
        (json!(1), "rm $H", "the record was removed"),
        (
            Value::Null,
            "echo '<<<<<<< HEAD' >>$H",
            "line 9 of the history is no record",
        ),
        (
            json!(1),
            r#"sed -i 's/"score": 80/"score": 90/' .agents/evolve/fitness-1-post.json"#,
            "fitness-1-post.json was changed",
        ),
        (
            Value::Null,
            "sed -i s/pass/fail/ .agents/evolve/fitness-0-baseline.json",
            "fitness-0-baseline.json was changed",
        ),
    ] {
        edits(&repo, script);
        tells(script, cycle, words);
    }
    for (script, message, words) in [
        (
            "true",
            "Evolve-Result: idle>Evolve-Result: improved",
            "the trailer Evolve-Result is \"improved\", the record has \"idle\"",
        ),
        (
            "true",
            "Evolve-Score: 100>Evolve-Score: 99",
            "the trailer Evolve-Score is \"99\", the record has \"100\"",
        ),
        (
            r#"sed -i '8s/"score_after":100.0/"score_after":99.0/' $H"#,
            "Evolve-Score: 100>Evolve-Score: 99",
            "score_after is 99 in the record and 100 in the first snapshot",
        ),
        (
            r#"sed -i '8s/"goals_passing":3/"goals_passing":2/' $H"#,
            "",
            "goals_passing is 2 in the record and 3 in the first snapshot",
        ),
        (
            r#"sed -i '8s/"commit_sha":"./"commit_sha":"0/;8s/"commit_sha":"0[^"]*"/"commit_sha":"0000000000000000000000000000000000000001"/' $H"#,
            "",
            "is no commit of this repository",
        ),
        (
            r#"sed -i '8s/"content":"[^"]*"/"content":"c0ffee"/' $H"#,
            "",
            "content is c0ffee in the record",
        ),
        (
            r#"sed -i '8s/"cycle":8/"cycle":9/' $H"#,
            "Evolve-Cycle: 8>Evolve-Cycle: 9",
            "the numbers do not continue: cycle 9 follows 7",
        ),
        (
            "sed -i 's/\"cycle_start_sha\": \"./\"cycle_start_sha\": \"x/' .agents/evolve/fitness-8.json",
            "",
            "is no commit of this repository",
        ),
        (
            "sed -i 's/\"result\": \"pass\"/\"result\": \"fail\"/' .agents/evolve/fitness-8.json",
            "",
            "its goals come to 0 of 3",
        ),
        (
            "sed -i 's/\"weight\": 5/\"weight\": 6/' .agents/evolve/fitness-8.json",
            "",
            "are not those of the start's goals file",
        ),
        (
            "git rm -q -f .agents/evolve/fitness-8.json",
            "",
            "the first snapshot was not committed",
        ),
        (
            r#"sed -i '8s/"timestamp":"2/"timestamp":"1/' $H"#,
            "",
            "in the record, its session began at 2",
        ),
        (
            r#"sed -i '8s/"session":"20/"session":"19/' $H"#,
            "",
            "in the summary that came with it",
        ),
        (
            "true",
            "Evolve-Result: idle>Evolve-Result: idle\nEvolve-Result: improved",
            "the commit has the trailer Evolve-Result more than once",
        ),
        (
            r#"sed -i '0,/"exit": 0/s//"exit": 1/' .agents/evolve/fitness-8.json"#,
            "",
            "of the first snapshot is pass with exit 1",
        ),
    ] {
        rewrites(&repo, script, message);
        let cycle = if message.contains("Cycle") { 9 } else { 8 };
        tells(script, json!(cycle), words);
    }
    repo.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "x\n\nEvolve-Cycle: 9\nEvolve-Result: improved",
    ]);
    tells("an empty claim", json!(9), "adds no record");
    repo.git(&[
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "revert: evolve cycle 4 regression in a\n\nThe content is again that of x.",
    ]);
    tells("an undo that never was", json!(4), "no record says so");
}

#[test]
fn a_result_that_its_snapshots_and_commits_do_not_show_is_found() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.cycle("touch a").expect(0);
    audited(&repo, 0);
    let tip = repo.head();
    let (first, second) = (
        ".agents/evolve/fitness-1.json",
        ".agents/evolve/fitness-1-post.json",
    );
    let both = format!("{first} {second}");
    let b_fails = format!(
        r#"sed -i '/"id": "b"/,/}}/s/"result": "pass"/"result": "fail"/;s/"score": [0-9.]*/"score": 62.5/;s/"goals_passing": 2/"goals_passing": 1/' {second}
        sed -i 's/"newly_failing":\[\]/"newly_failing":["b"]/;s/"goals_passing":2/"goals_passing":1/;s/"score_after":100.0/"score_after":62.5/' $H"#
    );
    let record = |old: &str, new: &str| format!("sed -i '1s/{old}/{new}/' $H");
    let missing = |field: &str| {
        record(
            &format!(r#""{field}":[^,]*"#),
            &format!(r#""{field}":null"#),
        )
    };
    for (script, message, words) in [
        (
            b_fails,
            "Evolve-Score: 100>Evolve-Score: 62.5",
            "result is improved, and newly_failing has b",
        ),
        (
            record(r#""result":"improved""#, r#""result":"unchanged""#),
            "Evolve-Result: improved>Evolve-Result: unchanged",
            "result is unchanged, and a passes in the second snapshot",
        ),
        (
            record(r#""result":"improved""#, r#""result":"interrupted""#),
            "Evolve-Result: improved>Evolve-Result: interrupted",
            "result is interrupted, and the content is not the start's",
        ),
        (
            record(r#""goal_id":"a""#, r#""goal_id":"b""#),
            "Evolve-Goal: a>Evolve-Goal: b",
            "the cycle worked on b, which does not fail in the first snapshot",
        ),
        (
            record(
                r#""newly_passing":\["a"\]"#,
                r#""newly_passing":["b","zzz"]"#,
            ),
            "",
            "newly_passing is [b, zzz] in the record and [a] in the snapshots",
        ),
        (
            record(r#""goals_added":0"#, r#""goals_added":7"#),
            "",
            "goals_added is 7 in the record and 0 in its commits",
        ),
        (missing("content"), "", "content is missing"),
        (missing("score_before"), "", "score_before is missing"),
        (missing("definition"), "", "definition is missing"),
        (
            record(r#""format":1"#, r#""format":9"#),
            "",
            "the record has format 9",
        ),
        (
            format!(r#"sed -i 's/"format": 1/"format": 9/' {second}"#),
            "",
            "the second snapshot has format 9",
        ),
        (
            format!(r#"sed -i 's/"goals_digest": "[^"]*"/"goals_digest": "00"/' {both}"#),
            "",
            "the goals_digest of the first snapshot is that of no goals file of its start",
        ),
        (
            format!(r#"sed -i 's/"cycle_start_sha": "[^"]*"/"cycle_start_sha": null/' {both}"#),
            "",
            "cycle_start_sha of the first snapshot is missing",
        ),
        (
            format!(r#"sed -i 's/"threshold": null/"threshold": 3.0/' {second}"#),
            "",
            "thresholds of the second snapshot are not those of the start's goals file: a, b",
        ),
        (
            "true".to_owned(),
            "a improved>z regressed",
            "the commit's subject is \"evolve: cycle 1 — z regressed\"",
        ),
    ] {
        rewrites(&repo, &script, message);
        let found = audited(&repo, 10);
        let told = found["disagreements"].as_array().unwrap();
        let names =
            |one: &Value| one["cycle"] == 1 && one["what"].as_str().unwrap().contains(words);
        assert!(told.iter().any(names), "{script}: {told:#?}");
        repo.git(&["reset", "--quiet", "--hard", &tip]);
    }
}

#[test]
fn keys_that_nobody_knows_and_commits_that_were_made_again_are_notes() {
    let repo = honest();
    repo.git(&["config", "user.email", "somebody@example.invalid"]);
    repo.git(&["config", "user.name", "Somebody Else"]);
    rewrites(
        &repo,
        r#"sed -i '8s/^{/{"later":1,/' $H; sed -i 's/"attempts"/"odd": [1], "attempts"/' .agents/evolve/fitness-8.json"#,
        "",
    );
    let found = audited(&repo, 0);
    let notes = found["notes"].to_string();
    let rewritten = format!("{} by Somebody Else", repo.head());
    for words in [
        "later of the record of cycle 8",
        "goals.odd of .agents/evolve/fitness-8.json",
        &rewritten,
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
    // With another message it no longer says what it was.
    repo.git(&["commit", "--quiet", "--amend", "-m", "mine"]);
    let found = audited(&repo, 10);
    let commit = &found["disagreements"][0]["commit"];
    assert_eq!(commit, &json!(repo.head()), "{found}");
    let notes = found["notes"].to_string();
    let rewritten = format!("{} by Somebody Else", repo.head());
    assert!(notes.contains(&rewritten), "{notes}");
}

#[test]
fn goals_that_lie_elsewhere_or_are_written_otherwise_in_a_checkout_agree() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.git(&["mv", "GOALS.yaml", "wanted.yaml"]);
    repo.commit_all("goals elsewhere");
    repo.agent_does(&["touch a"]);
    repo.run(&["--goals=wanted.yaml", "--max-cycles=1"])
        .expect(0);
    let found = audited(&repo, 0);
    assert_eq!(found["notes"], json!([]), "found by what it says");
    // A goals file that git writes with other line ends than it keeps.
    repo.write(".gitattributes", "wanted.yaml text eol=crlf\n");
    repo.commit_all("attributes");
    fs::remove_file(repo.root().join("wanted.yaml")).unwrap();
    repo.git(&["checkout", "--quiet", "wanted.yaml"]);
    assert!(repo.read("wanted.yaml").contains("\r\n"));
    repo.agent_does(&["touch b"]);
    repo.run(&["--goals=wanted.yaml", "--max-cycles=1"])
        .expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert_eq!(audited(&repo, 0)["notes"], json!([]));
    // A goals file outside the repository: what it was cannot be seen.
    let outside = repo.outside().join("goals.yaml");
    let text = repo.read("wanted.yaml").replace("\r\n", "\n");
    let text = text + "  - {id: c, description: d, check: test -e c, weight: 1}\n";
    fs::write(&outside, text).unwrap();
    let outside = format!("--goals={}", outside.display());
    repo.agent_does(&["touch c"]);
    repo.run(&[&outside, "--max-cycles=1"]).expect(0);
    let run = repo.evolve(&["audit", &outside]).expect(0);
    assert!(run.stdout.contains("cannot be seen"), "{}", run.stdout);
}

#[test]
fn an_undo_that_is_not_exact_is_found() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.cycle("git rm -q b && touch a && git add a && git commit -qm 'a for b'")
        .expect(0);
    audited(&repo, 0);
    // The undo commit again, with a file more, and the record as if it had always been so.
    let record = repo.newest();
    let undo = record["commit_sha"].as_str().unwrap().to_owned();
    let message = |commit: &str| repo.git(&["log", "-1", "--format=%B", commit]);
    let (said, recorded) = (message(&undo), message("HEAD~1"));
    let history = repo.read(HISTORY);
    let files = [
        "fitness-1.json",
        "fitness-1-post.json",
        "fitness-0-baseline.json",
    ];
    let kept: Vec<_> = files
        .iter()
        .map(|name| repo.read(&format!(".agents/evolve/{name}")))
        .collect();
    repo.git(&["reset", "--quiet", "--hard", &undo]);
    repo.write("left", "behind\n");
    repo.git(&["add", "left"]);
    repo.git(&["commit", "--quiet", "--amend", "-m", &said]);
    repo.write(HISTORY, &history.replace(&undo, &repo.head()));
    for (name, text) in files.iter().zip(kept) {
        repo.write(&format!(".agents/evolve/{name}"), &text);
    }
    repo.git(&["add", "--force", ".agents/evolve"]);
    repo.commit_all(&recorded);
    let said = repo.evolve(&["audit"]).expect(10).stdout;
    assert!(
        said.contains("the undo did not restore its start: left"),
        "{said}"
    );
    assert!(
        said.contains("result is regressed, and the content is not the start's"),
        "{said}"
    );
}

#[test]
fn an_undo_that_was_taken_over_to_another_branch_is_a_note() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.git(&["branch", "other"]);
    repo.cycle("git rm -q b && touch a && git add a && git commit -qm 'a for b'")
        .expect(0);
    let undo = repo.newest()["commit_sha"].as_str().unwrap().to_owned();
    repo.git(&["switch", "--quiet", "other"]);
    repo.git(&["rm", "--quiet", "b"]);
    repo.write("a", "");
    repo.commit_all("as the agent had it");
    repo.git(&["cherry-pick", &undo]);
    let notes = audited(&repo, 0)["notes"].to_string();
    assert!(
        notes.contains(
            "takes back cycle 1, whose record is not in this history, but on refs/heads/main\""
        ),
        "{notes}"
    );
}

#[test]
fn a_segment_is_part_of_the_history_and_is_never_touched_again() {
    let repo = honest();
    let segment = ".agents/evolve/cycle-history.0001.jsonl";
    let rotate = format!("head -n 4 $H >{segment} && sed -i 1,4d $H");
    rewrites(&repo, &rotate, "");
    assert_eq!(audited(&repo, 0)["records"], 8);
    edits(&repo, &format!("sed -n 1p {segment} >>{segment}"));
    let said = repo.evolve(&["audit"]).expect(10).stdout;
    assert!(
        said.contains("cycle-history.0001.jsonl was changed after it was written"),
        "{said}"
    );
}

#[test]
fn what_others_did_in_between_agrees() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3), ("c", 2), ("d", 1)]).with_out();
    repo.cycle("touch a").expect(0);
    // A session that dies in mid-cycle, and the next one that settles it.
    repo.agent_does(&["touch half && touch \"$OUT\"/there && sleep 60", "touch b"]);
    let mut child = repo.spawn_run(&[]);
    repo.wait_for("there");
    child.kill().unwrap();
    finish(child);
    repo.run(&["--max-cycles=1"]).expect(0);
    // A colleague's commit in mid-cycle, which is left as it is.
    let colleague = "env -u GIT_REFLOG_ACTION git commit -q --allow-empty -m theirs; git commit -q --allow-empty -m ours";
    repo.cycle(colleague).expect(11);
    // An agent that forges the ledger; the record's commit puts it right.
    let forger = "sed -i 's/improved/harvested/' .agents/evolve/cycle-history.jsonl && git add -Af .agents && \
                  git commit -qm forged && touch c";
    repo.cycle(forger).expect(0);
    let results = [
        "improved",
        "interrupted",
        "improved",
        "interrupted",
        "improved",
    ];
    assert_eq!(repo.each("result"), results);
    let found = audited(&repo, 0);
    let notes = found["notes"].to_string();
    assert!(notes.contains("put right"), "{notes}");
    // Two branches that both run, merged by hand.
    repo.git(&["branch", "other"]);
    repo.cycle("touch d").expect(0);
    repo.git(&["switch", "--quiet", "other"]);
    repo.cycle("touch d").expect(0);
    repo.git(&["switch", "--quiet", "main"]);
    let merge = "git merge -q other || true; git show other:$H | sed 1,5d >theirs; git show main:$H >ours; \
                 cat ours theirs >$H; rm ours theirs; git checkout -q --ours .agents/evolve/fitness* .agents/evolve/*.md; \
                 git add -A . && git commit -qm merged";
    output(repo.command("sh").args(["-ec", merge]).env("H", HISTORY));
    let found = audited(&repo, 0);
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("cycle 6 is recorded more than once"),
        "{notes}"
    );
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["cycle"], 7);
    audited(&repo, 0);
}

#[test]
fn clones_that_each_began_a_history_agree_after_they_were_merged() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    let other = repo.out("other").display().to_string();
    repo.git(&["clone", "--quiet", ".", &other]);
    let elsewhere = |words: &[&str]| repo.git(&[&["-C", &other], words].concat());
    repo.cycle("touch a").expect(0);
    elsewhere(&["config", "user.name", "Other"]);
    elsewhere(&["config", "user.email", "other@example.invalid"]);
    fs::write(format!("{other}/c"), "").unwrap();
    elsewhere(&["add", "c"]);
    elsewhere(&["commit", "--quiet", "--message=c"]);
    repo.agent_does(&["touch b && touch a"]);
    repo.run(&["-C", &other, "--max-cycles=1"]).expect(0);
    repo.git(&["fetch", "--quiet", &other, "main:theirs"]);
    // As it is told in the README: the lines of both, and one side of the rest.
    repo.write(".gitattributes", "/.agents/**/*.jsonl merge=union\n");
    repo.commit_all("attributes");
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "theirs"]);
    let found = audited(&repo, 0);
    assert_eq!(found["records"], 2, "{found}");
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("cycle 1 is recorded more than once"),
        "{notes}"
    );
    repo.evolve(&["audit", "--remeasure=2"]).expect(0);
    repo.cycle("touch d").expect(0);
    audited(&repo, 0);
    // What is forged afterwards is found as ever.
    let baseline = ".agents/evolve/fitness-0-baseline.json";
    edits(&repo, &format!("sed -i 's/fail/pass/' {baseline}"));
    let said = repo.evolve(&["audit"]).expect(10).stdout;
    assert!(
        said.contains("fitness-0-baseline.json was changed after it was written"),
        "{said}"
    );
}

#[test]
fn a_merge_that_keeps_one_side_of_the_history_says_so_and_how_to_mend_it() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.cycle("touch a").expect(0);
    repo.git(&["branch", "other"]);
    repo.write("mine", "");
    repo.commit_all("mine");
    repo.cycle("touch b").expect(0);
    repo.git(&["switch", "--quiet", "other"]);
    repo.cycle("touch b c").expect(0);
    repo.git(&["switch", "--quiet", "main"]);
    repo.git(&["merge", "--quiet", "--no-edit", "-X", "ours", "other"]);
    let found = audited(&repo, 10);
    let told = found["disagreements"].to_string();
    assert!(
        told.contains("the record was removed by a merge, which kept one side of the history"),
        "{told}"
    );
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("append their lines to the history again"),
        "{notes}"
    );
    edits(&repo, "git show other:$H | tail -n 1 >>$H");
    let notes = audited(&repo, 0)["notes"].to_string();
    assert!(
        notes.contains("cycle 2 is recorded more than once"),
        "{notes}"
    );
    repo.cycle("touch d").expect(0);
    assert_eq!(repo.newest()["cycle"], 3);
    audited(&repo, 0);
}

#[test]
fn recorded_commits_are_measured_again_in_a_copy_and_compared() {
    let repo = honest();
    let before = everything_below(&repo.root());
    let run = repo.evolve(&["audit", "--json", "--remeasure=6"]).expect(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["remeasured"], json!([8, 7, 6, 5, 4, 3]), "{found}");
    assert_eq!(everything_below(&repo.root()), before, "it wrote something");
    // A check that depends on something outside the repository.
    let flag = repo.outside().join("flag");
    fs::write(&flag, "").unwrap();
    let check = format!(
        "  - {{id: outside, description: d, check: test -e {}, weight: 9}}\n",
        flag.display()
    );
    repo.commit_goals(&check);
    repo.run(&["--max-cycles=1"]).expect(0);
    repo.evolve(&["audit", "--remeasure=2"]).expect(0);
    fs::remove_file(&flag).unwrap();
    let said = repo.evolve(&["audit", "--remeasure=2"]).expect(10).stdout;
    let wanted = "outside is recorded as pass and was measured again as fail (exit 1)";
    assert!(
        said.starts_with("cycle 9 · ") && said.contains(wanted),
        "{said}"
    );
    assert!(
        said.contains("1 disagreement: ") && said.contains("2 cycles measured again"),
        "{said}"
    );
    assert!(said.contains("nothing that git ignores"), "{said}");
    assert_eq!(copies(&repo), Vec::<String>::new());
}

#[test]
fn a_goal_that_cannot_be_measured_again_is_a_note_and_no_disagreement() {
    let goals = |link: &str| {
        format!(
            "version: 1\nmission: m\n{link}goals:\n  - {{id: a, description: d, check: tools/check, weight: 5}}\n"
        )
    };
    let repo = TestRepo::empty();
    repo.write(".gitignore", "tools/\n");
    fs::create_dir(repo.path("tools")).unwrap();
    write_program(&repo.path("tools/check"), "#!/bin/sh\nexec test -e a\n");
    repo.write("GOALS.yaml", &goals(""));
    repo.commit_all("first");
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    let run = repo.evolve(&["audit", "--remeasure=1", "--json"]).expect(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (
            &found["remeasured"],
            &found["unmeasured"],
            &found["disagreements"]
        ),
        (&json!([]), &json!([1]), &json!([]))
    );
    let said = repo.evolve(&["audit", "--remeasure=1"]).expect(0).stdout;
    assert!(
        said.contains("note: cycle 1: a could not be measured again: it is recorded as pass and was skipped (cannot be executed (exit 127)"),
        "{said}"
    );
    assert!(
        said.contains("`prepare:` or `link:` below `evolve:`"),
        "{said}"
    );
    assert!(
        said.contains("nothing disagrees, as far as it could be measured: ")
            && said.ends_with(", 1 cycle not measured again in full\n"),
        "{said}"
    );
    // A bare clone has nothing to lend.
    let bare = repo.out("bare").display().to_string();
    repo.git(&["clone", "--quiet", "--bare", ".", &bare]);
    let bare = repo.evolve(&["-C", &bare, "audit", "--remeasure=1"]);
    let said = bare.expect(0).stdout;
    assert!(said.contains("`prepare:` below `evolve:`"), "{said}");
    // As the note says: what is recorded from then on can be measured again.
    repo.write("GOALS.yaml", &goals("evolve: {link: [tools]}\n"));
    repo.git(&["rm", "--quiet", "a"]);
    repo.commit_all("lent");
    repo.cycle("touch a").expect(0);
    let said = repo.evolve(&["audit", "--remeasure=1"]).expect(0).stdout;
    assert!(!said.contains("note:"), "{said}");
}

/// The names of what audits have beside the repository.
fn copies(repo: &TestRepo) -> Vec<String> {
    let of_repo = fs::read_dir(repo.home().join(".cache/evolve")).unwrap();
    let all = of_repo.flat_map(|entry| fs::read_dir(entry.unwrap().path()).unwrap());
    let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut copies: Vec<_> = names.filter(|name| name.starts_with("audit")).collect();
    copies.sort();
    copies
}

#[test]
fn a_copy_is_made_ready_again_for_each_commit_that_is_measured_again() {
    let repo = TestRepo::empty();
    repo.write(".gitignore", "built/\n");
    let goal = |id: &str| {
        format!(
            "  - {{id: {id}, description: d, check: test -e {id} && test -e built/it, weight: 5}}\n"
        )
    };
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\nevolve: {{measure: clean, prepare: mkdir -p built && touch built/it}}\ngoals:\n{}{}{}",
            goal("a"),
            goal("b"),
            goal("c")
        ),
    );
    repo.commit_all("first");
    repo.agent_does(&["touch a", "touch b", "touch c"]);
    repo.run(&["--max-cycles=3"]).expect(0);
    let run = repo.evolve(&["audit", "--remeasure=3", "--json"]).expect(0);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["remeasured"], json!([3, 2, 1]), "{found}");
}

#[test]
fn checks_that_are_measured_again_are_held_back_like_all_checks_or_do_not_run() {
    let repo = TestRepo::empty();
    let reach = repo.outside().join("reached");
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\nevolve: {{sandbox: {{mode: bwrap, checks: true, require: true}}}}\ngoals:\n  \
             - {{id: a, description: d, check: touch {}; test -e a, weight: 5}}\n",
            reach.display()
        ),
    );
    repo.commit_all("first");
    repo.cycle("touch a").expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    repo.evolve(&["audit", "--remeasure=1"]).expect(0);
    assert!(
        !reach.exists(),
        "a check of an old commit wrote outside its copy"
    );
    let mut repo = repo;
    repo.installs("");
    let said = repo.error(2, &["audit", "--remeasure=1"]);
    assert!(said.contains("a sandbox is required"), "{said}");
    assert!(!reach.exists());
    assert_eq!(copies(&repo), Vec::<String>::new());
}

#[test]
fn what_an_audit_that_was_killed_left_is_used_and_removed_by_the_next() {
    // A check that sleeps for as long as it is told to beside the copies, and says that it does.
    let check = "test -e a && { [ ! -e ../slow ] || { touch ../there && sleep 60; }; }";
    let repo = TestRepo::with_goals(&format!(
        "  - {{id: a, description: d, check: '{check}', weight: 5}}\n"
    ));
    repo.cycle("touch a").expect(0);
    repo.evolve(&["audit", "--remeasure=1"]).expect(0);
    let mut of_repo = fs::read_dir(repo.home().join(".cache/evolve")).unwrap();
    let folder = of_repo.next().unwrap().unwrap().path();
    fs::write(folder.join("slow"), "").unwrap();
    let mut child = repo.spawn(&["audit", "--remeasure=1"]);
    wait_until("the check sleeps", || folder.join("there").exists());
    child.kill().unwrap();
    finish(child);
    assert_eq!(copies(&repo), ["audit-0", "audit-0.lock"]);
    wait_until("nothing of it is left", || {
        let lock = folder.join("audit-0.lock");
        let mut flock = repo.command("flock");
        flock.arg("--nonblock").arg(lock).arg("true");
        flock.status().unwrap().success()
    });
    fs::remove_file(folder.join("slow")).unwrap();
    repo.evolve(&["audit", "--remeasure=1"]).expect(0);
    assert_eq!(copies(&repo), Vec::<String>::new());
}

#[test]
fn cycles_in_a_slot_agree_too() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.write("b", "");
    repo.commit_all("b");
    repo.agent_does(&["git rm -q b && touch a", "touch a && touch more"]);
    repo.run(&["--isolate", "--max-cycles=2"]).expect(0);
    assert_eq!(repo.each("result"), ["regressed", "improved"]);
    assert_eq!(audited(&repo, 0)["records"], 2);
}

#[test]
fn a_person_who_amends_the_commit_that_the_first_baseline_is_measured_on_is_only_noted() {
    let note = "the branch no longer holds the commit that the baseline was measured on";
    for (amends, notes) in [
        ("commit -q --amend --allow-empty -m better", 1),
        ("reset -q --soft HEAD~1", 1),
        ("commit -q --allow-empty -m more", 0),
    ] {
        let repo = TestRepo::empty().with_out();
        repo.write("GOALS.yaml", &format!("version: 1\ngoals:\n  - id: a\n    description: d\n    weight: 5\n    check: |\n      [ -e \"$OUT/once\" ] || {{ touch \"$OUT/once\"; git -C \"$OUT/../repo\" {amends}; }}\n      test -e a\n"));
        repo.commit_all("first");
        repo.git(&["commit", "-q", "--allow-empty", "-m", "two"]);
        repo.agent_does(&["touch a", "touch b"]);
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), ["improved"], "{amends}");
        let found = audited(&repo, 0);
        let said = found["notes"].as_array().unwrap();
        assert_eq!(said.len(), notes, "{amends}: {found}");
        let said = found["notes"].to_string();
        assert_eq!(said.contains(note), notes == 1, "{amends}: {found}");
        // It tells of that one alone.
        repo.git(&["commit", "-q", "--allow-empty", "-m", "three"]);
        repo.run(&["--isolate", "--max-cycles=1"]);
        assert_eq!(audited(&repo, 0)["notes"], found["notes"], "{amends}");
    }
}

#[test]
fn a_cycle_in_a_slot_that_dies_right_before_or_after_its_change_lands_agrees() {
    for (dies_at, result) in [("status", "interrupted"), ("--refresh", "improved")] {
        let mut repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
        // The first such call of git's in the user's repository after the landing was written down ends the session.
        let deadly = format!(
            "#!/bin/sh\ncase \" $* \" in *' {dies_at} '*) \
             grep -q '\"landing\":{{' '{private}/journal.json' && kill -9 \"$(cut -d' ' -f1 <'{private}/lock' | head -n 1)\" && exit 1;; \
             esac\nexec '{git}' \"$@\"\n",
            private = repo.private().display(),
            git = which::which("git").unwrap().display(),
        );
        let bin = repo.outside().join("bin");
        fs::create_dir(&bin).unwrap();
        fs::write(bin.join("git"), deadly).unwrap();
        fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        repo.env.push(("PATH".to_owned(), path));
        repo.agent_does(&["touch a && git add a && git commit -qm a", "touch a b"]);
        let died = repo.run(&["--isolate", "--max-cycles=1"]);
        assert_eq!(died.code, 137, "{died:?}");
        repo.env.clear();
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_eq!(repo.each("result"), [result, "improved"], "{dies_at}");
        let found = audited(&repo, 0);
        assert_eq!(found["snapshots"], 4, "{dies_at}: {found}");
    }
}

#[test]
fn without_a_commit_there_is_nothing_to_audit_and_without_a_cycle_nothing_disagrees() {
    let repo = TestRepo::empty();
    let said = repo.error(3, &["audit"]);
    assert!(said.contains("no commit yet"), "{said}");
    let repo = TestRepo::with_files_wanted(&[("a", 1)]);
    assert_eq!(audited(&repo, 0)["records"], 0);
}

#[test]
fn a_baseline_that_git_does_not_have_is_measured_anew_whoever_put_it_there() {
    let file = ".agents/evolve/fitness-0-baseline.json";
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["exit 1"]);
    repo.run(&["--max-cycles=1"]);
    let honest = repo.json(file);
    let mut forged = honest.clone();
    forged["session"] = "nobody".into();
    forged["score"] = 1.5.into();
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write(file, &forged.to_string());
    repo.agent_does(&["exit 1"]);
    repo.run(&["--max-cycles=1"]);
    let measured = repo.json(file);
    assert_eq!(measured["score"], honest["score"]);
    assert_ne!(measured["session"], "nobody");
}
