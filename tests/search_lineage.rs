//! The lineage of a search beside whoever would change it, and beside copies of it that are of another.

use std::fs;

use crate::harness::{TestRepo, finish, pid_in, signal_pid};

/// An attempt after which the search stops and can go on.
pub const STOPS: &str = "echo 2 >x; touch \"$(dirname \"$EVOLVE_CALL\")/../stop\"";

#[test]
fn what_an_agent_makes_of_the_lineage_before_evolve_is_killed_is_undone_and_told_too() {
    let folder = "$(dirname \"$EVOLVE_CALL\")/..";
    for harm in [
        format!("sed -i 's/\\[2.0\\]/[999.0]/' {folder}/lineage.jsonl"),
        format!("sed -i 's/\"gates\":\\[[^]]*\\]/\"gates\":[]/' {folder}/lineage.jsonl"),
        format!("sed -i '$d' {folder}/lineage.jsonl; sed -i '$d' {folder}/lineage.jsonl"),
        format!("rm {folder}/lineage.jsonl"),
        format!("echo >{folder}/lineage.jsonl"),
    ] {
        let repo = TestRepo::with_number("1");
        let waits = format!(
            "if mkdir $OUT/first; then {harm}; echo $$ >$OUT/pid; sleep 600; fi; echo 3 >x"
        );
        repo.attempts(&["echo 2 >x", &waits]);
        let words = repo.search_words(&["--max-attempts=2", "--gate=true"]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let child = repo.spawn(&words);
        pid_in(&repo.out("pid"));
        signal_pid(child.id(), "KILL");
        finish(child);
        let head = repo.head();
        let lineage = repo.private().join("search/1/lineage.jsonl");
        let left = fs::read(&lineage).ok();
        // Who only looks is shown what it was, is told, and changes nothing.
        for (looks, shows) in [
            (vec!["search", "status"], "attempt 1: 2"),
            (vec!["search", "board", "--all"], "accepted"),
            (vec!["search", "show", "1"], "accepted"),
            (vec!["search", "export"], r#""gates":["true"]"#),
        ] {
            let run = repo.evolve(&looks).expect(0);
            assert!(run.stdout.contains(shows), "{harm}: {run:?}");
            assert!(!run.stdout.contains("999"), "{harm}: {run:?}");
            assert!(run.stderr.contains("shown is what evolve wrote"), "{run:?}");
        }
        assert_eq!(fs::read(&lineage).ok(), left, "{harm}");
        assert_eq!(repo.head(), head);
        let run = repo.resume().expect(0);
        assert!(run.stderr.contains("it is as it was"), "{harm}: {run:?}");
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"], "{harm}");
        let lineage = fs::read_to_string(repo.private().join("search/1/lineage.jsonl")).unwrap();
        assert!(lineage.contains(r#""gates":["true"]"#), "{lineage}");
    }
}

#[test]
fn what_an_agent_makes_of_the_lineage_after_a_killed_search_goes_on_is_undone_and_told() {
    let file = "$(dirname \"$EVOLVE_CALL\")/../lineage.jsonl";
    for harm in [
        format!("sed -i 's/\\[2.0\\]/[999.0]/' {file}"),
        format!("rm {file}"),
    ] {
        let repo = TestRepo::with_number("1");
        let waits = format!(
            "if mkdir $OUT/first; then echo $$ >$OUT/pid; sleep 600; fi; {harm}; echo 3 >x"
        );
        repo.attempts(&["echo 2 >x", &waits]);
        let words = repo.search_words(&["--max-attempts=2"]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let child = repo.spawn(&words);
        pid_in(&repo.out("pid"));
        signal_pid(child.id(), "KILL");
        finish(child);
        let run = repo.resume().expect(0);
        assert!(run.stderr.contains("it is as it was"), "{harm}: {run:?}");
        let board = repo.evolve(&["search", "board", "--all"]).expect(0);
        assert!(!board.stdout.contains("999"), "{harm}: {board:?}");
        assert_eq!(board.stderr, "");
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"], "{harm}");
    }
}

#[test]
fn what_cannot_be_read_is_not_believed_where_the_other_copy_can() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[STOPS, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    let file = repo.private().join("search/1/lineage.jsonl");
    let copy = repo.kept_outside("search-1").unwrap();
    let whole = fs::read_to_string(&file).unwrap();
    for (path, text) in [
        (&file, format!("{whole}garbage\n")),
        (&file, whole.replacen("\"started\":\"2", "\"begun\":\"2", 1)),
        (&copy, whole.replacen("\"header\"", "\"heading\"", 1)),
        (&copy, format!("{whole}garbage\n")),
    ] {
        fs::write(path, text).unwrap();
        assert_eq!(repo.evolve(&["search", "export"]).expect(0).stdout, whole);
        repo.evolve(&["search", "status"]).expect(0);
        if path == &file {
            repo.evolve(&["search", "apply", "--branch=other"])
                .expect(0);
            assert_eq!(fs::read_to_string(&file).unwrap(), whole);
            repo.git(&["branch", "-D", "other"]);
        } else {
            repo.evolve(&["search", "apply"]).expect(3);
            assert_eq!(fs::read_to_string(&file).unwrap(), whole);
        }
    }
    repo.evolve(&["search", "resume", "--search=1"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn a_search_whose_folder_somebody_removed_goes_on() {
    for folder in ["search/1", ""] {
        let repo = TestRepo::with_number("1");
        repo.attempts(&[STOPS, "echo 3 >x"]);
        repo.search(&["--max-attempts=2"]).expect(0);
        fs::remove_dir_all(repo.private().join(folder)).unwrap();
        let status = repo.evolve(&["search", "status"]).expect(0);
        assert!(status.stdout.contains("attempt 1: 2"), "{status:?}");
        let said = repo.search(&["--max-attempts=2"]).expect(2).stderr;
        assert!(said.contains("search 1 is unfinished"), "{said}");
        let run = repo.resume().expect(0);
        assert!(run.stderr.contains("it is as it was"), "{run:?}");
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
        fs::remove_dir_all(repo.private().join(folder)).unwrap();
        let said = repo.answer(&["search", "discard"]);
        assert!(
            said.starts_with("search 1 is discarded\nits winner, attempt 2, "),
            "{said}"
        );
        assert_eq!(repo.git(&["for-each-ref", "refs/evolve/search"]), "");
    }
}

#[test]
fn copies_of_a_repository_that_was_here_before_are_of_no_search() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[STOPS, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    fs::remove_dir_all(repo.path(".git")).unwrap();
    repo.git(&["init", "-q", "-b", "main"]);
    repo.git(&["config", "user.name", "Tester"]);
    repo.git(&["config", "user.email", "tester@example.invalid"]);
    repo.commit_all("another repository");
    let said = repo.error(2, &["search", "status", "--search=1"]);
    assert!(said.contains("there is no search 1 here"), "{said}");
    repo.search(&["--max-attempts=1"]).expect(0);
    assert_eq!(repo.endings().len(), 1);
}

#[test]
fn a_search_that_evolve_has_not_written_goes_on_only_where_it_is_named() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[STOPS, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    let file = repo.private().join("search/1/lineage.jsonl");
    let forged = fs::read_to_string(&file).unwrap();
    let forged = forged.replacen("\"started\":\"2", "\"started\":\"1", 1);
    fs::write(&file, forged.replace("[2.0]", "[9.0]")).unwrap();
    let run = repo.resume().expect(3);
    assert!(
        run.stderr.contains("is not as this evolve wrote it"),
        "{run:?}"
    );
    assert!(run.stderr.contains("resume --search 1"), "{run:?}");
    let said = repo.error(2, &["search", "resume", "--search=2"]);
    assert!(said.contains("only that goes on: it is search 1"), "{said}");
    repo.evolve(&["search", "apply"]).expect(3);
    repo.evolve(&["search", "resume", "--search=1"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 9", "worse 3"]);
    assert_eq!(repo.evolve(&["search", "status"]).expect(0).stderr, "");
}

#[test]
fn a_number_that_no_search_can_have_is_of_none() {
    let repo = TestRepo::with_number("1");
    let forged = repo.private().join("search").join(u64::MAX.to_string());
    fs::create_dir_all(&forged).unwrap();
    fs::write(forged.join("lineage.jsonl"), "{}\n").unwrap();
    repo.git(&[
        "update-ref",
        "refs/evolve/search/18446744073709551615/0",
        "HEAD",
    ]);
    repo.attempts(&["echo 3 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let status = repo.evolve(&["search", "status"]).expect(0).stdout;
    assert!(status.contains("search     1 · climb"), "{status}");
    assert!(status.contains("attempt 1: 3"), "{status}");
}

#[test]
fn a_note_counts_also_after_those_before_it_were_removed() {
    let repo = TestRepo::with_number("1");
    let folder = "$(dirname \"$EVOLVE_CALL\")/..";
    let removes = format!("rm {folder}/notes.jsonl; echo 3 >x; touch {folder}/stop");
    repo.attempts(&[STOPS, &removes, "cp $EVOLVE_BRIEF $OUT/brief; echo 4 >x"]);
    repo.search(&["--max-attempts=3"]).expect(0);
    repo.evolve(&["search", "note", "the first"]).expect(0);
    repo.resume().expect(0);
    repo.evolve(&["search", "note", "mind the cache"]).expect(0);
    repo.resume().expect(0);
    let brief = repo.said("brief");
    assert!(brief.contains("the first"), "{brief}");
    assert!(brief.contains("mind the cache"), "{brief}");
}

#[test]
fn the_copy_of_a_lineage_goes_with_its_search() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[STOPS, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert!(repo.kept_outside("search-1").is_some());
    repo.evolve(&["search", "discard"]).expect(0);
    assert_eq!(repo.kept_outside("search-1"), None);
}

#[test]
fn a_search_that_an_agent_makes_up_is_told_and_not_applied() {
    let repo = TestRepo::with_number("1");
    let folder = "$(dirname \"$EVOLVE_CALL\")/../..";
    let forges = format!(
        "mkdir {folder}/99; sed 's/\\[2.0\\]/[999.0]/g' {folder}/1/lineage.jsonl >{folder}/99/lineage.jsonl; echo 3 >x"
    );
    repo.attempts(&["echo 2 >x", &forges]);
    repo.search(&["--max-attempts=2"]).expect(0);
    let told = "search 99 is not as this evolve wrote it";
    for looks in ["status", "board", "export"] {
        let run = repo.evolve(&["search", looks]).expect(0);
        assert!(run.stderr.contains(told), "{run:?}");
    }
    let head = repo.head();
    let run = repo.evolve(&["search", "apply"]).expect(3);
    assert!(run.stderr.contains(told), "{run:?}");
    assert_eq!(repo.head(), head);
    assert_eq!(
        repo.answer(&["search", "discard"]),
        "search 99 is discarded\n"
    );
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "3\n");
}

#[test]
fn a_search_that_somebody_made_up_is_recommended_by_none_that_follows() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x", "echo 3 >x"]);
    repo.search(&["--max-attempts=1"]).expect(0);
    let folder = repo.private().join("search");
    let whole = fs::read_to_string(folder.join("1/lineage.jsonl")).unwrap();
    fs::create_dir(folder.join("99")).unwrap();
    fs::write(
        folder.join("99/lineage.jsonl"),
        whole.replace("[2.0]", "[999.0]"),
    )
    .unwrap();
    let run = repo.search(&["--max-attempts=1"]).expect(0);
    let told = "search 99 is not as this evolve wrote it";
    assert!(run.stderr.contains(told), "{run:?}");
    assert!(!run.stdout.contains("apply --search 99"), "{run:?}");
    let run = repo.evolve(&["search", "status", "--search=99"]).expect(0);
    assert!(run.stderr.contains(told), "{run:?}");
    let run = repo.evolve(&["search", "status"]).expect(0);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_search_that_was_gone_on_with_under_another_state_folder_is_not_put_back() {
    let mut repo = TestRepo::with_number("1");
    repo.attempts(&[STOPS, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    let copy = repo.kept_outside("search-1").unwrap();
    let other = repo.outside().join("state").display().to_string();
    repo.env.push(("XDG_STATE_HOME".to_owned(), other));
    repo.resume().expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
    repo.env.pop();
    assert!(copy.exists());
    let run = repo.evolve(&["search", "status"]).expect(0);
    assert!(run.stdout.contains("attempt 2: 3"), "{run:?}");
    assert!(run.stderr.contains("under another HOME"), "{run:?}");
    repo.evolve(&["search", "apply"]).expect(3);
    repo.evolve(&["search", "apply", "--search=1"]).expect(0);
    assert_eq!(repo.read("x"), "3\n");
}

#[test]
fn what_stands_where_a_person_is_heard_adjusts_nothing() {
    let repo = TestRepo::with_number("1");
    let folder = "$(dirname \"$EVOLVE_CALL\")/..";
    let words = r#"{"adjust":{"max_attempts":9}}\n"#;
    let speaks = format!("printf '{words}' >>{folder}/notes.jsonl; echo 3 >x");
    repo.attempts(&["echo 2 >x", &speaks]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
    let notes = repo.lineage().notes;
    let said: Vec<String> = notes
        .iter()
        .map(|note| format!("{:?}", note.word))
        .collect();
    assert_eq!(said, ["Instruction(\"\")"]);
}

#[test]
fn what_a_crash_kept_from_the_lineage_is_taken_from_its_copy() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&[STOPS, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    let lineage = repo.private().join("search/1/lineage.jsonl");
    let whole = fs::read_to_string(&lineage).unwrap();
    let cut = whole.trim_end().rfind('\n').unwrap();
    fs::write(&lineage, &whole[..cut + 5]).unwrap();
    assert_eq!(repo.evolve(&["search", "export"]).expect(0).stdout, whole);
    repo.resume().expect(0);
    let now = fs::read_to_string(&lineage).unwrap();
    assert!(now.starts_with(&whole), "{now}");
}

#[test]
fn what_an_agent_makes_of_the_lineage_is_undone_and_told() {
    let folder = "$(dirname \"$EVOLVE_CALL\")/..";
    for harm in [
        format!("sed -i 's/\\[2.0\\]/[999.0]/' {folder}/lineage.jsonl"),
        format!("echo '{{\"x\":1}}' >>{folder}/lineage.jsonl"),
        format!("rm {folder}/lineage.jsonl"),
        format!("rm {folder}/lineage.jsonl; mkdir {folder}/lineage.jsonl"),
    ] {
        let repo = TestRepo::with_number("1");
        repo.attempts(&["echo 2 >x", &format!("{harm}; echo 3 >x")]);
        let run = repo.search(&["--max-attempts=2"]).expect(0);
        assert!(
            run.stderr.contains("somebody else changed the lineage"),
            "{harm}: {run:?}"
        );
        assert_eq!(repo.endings(), ["accepted 2", "accepted 3"], "{harm}");
        repo.evolve(&["search", "apply"]).expect(0);
    }
}
