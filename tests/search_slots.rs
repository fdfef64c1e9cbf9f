//! Where attempts are worked on and measured: what a copy lacks, what is lent to it, and what is not committed.

use crate::harness::TestRepo;

/// A repository whose number comes from `folder/data.ignored`, too, which git ignores.
fn with_ignored() -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.write(
        "score.sh",
        "echo $(($(cat x) + $(cat folder/data.ignored)))\n",
    );
    repo.write("folder/kept", "kept\n");
    repo.commit_all("data");
    repo.write("folder/data.ignored", "10\n");
    repo.write("other.ignored", "\n");
    repo.attempts(&["echo 2 >x"]);
    repo
}

#[test]
fn a_copy_that_lacks_what_git_ignores_explains_itself() {
    let repo = with_ignored();
    let run = repo.search(&["--max-attempts=1"]).expect(2);
    let said = run.stderr;
    for words in [
        "the untouched code cannot be measured in a copy of its commit",
        "data.ignored",
        "in the checkout it can, where there is what git ignores: folder/data.ignored, other.ignored",
        "--link folder/data.ignored",
        "--prepare",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!repo.out("called").exists());
    assert!(!repo.private().join("search/1").exists());
}

#[test]
fn a_fitness_command_that_fails_in_the_checkout_too_names_nothing() {
    let repo = with_ignored();
    repo.write("folder/data.ignored", "no number\n");
    let said = repo.search(&["--max-attempts=1"]).expect(2).stderr;
    assert!(!said.contains("in the checkout"), "{said}");
    assert!(said.contains("--link PATH"), "{said}");
}

#[test]
fn a_hold_out_without_a_score_is_named_as_what_has_none() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["true"]);
    let said = repo.search(&["--holdout=false"]).expect(2).stderr;
    assert!(
        said.contains("a copy of its commit: the hold-out has no score: exit 1"),
        "{said}"
    );
}

#[test]
fn what_is_lent_is_there_for_agents_and_measurements() {
    let repo = with_ignored();
    repo.attempts(&["cat folder/data.ignored >$OUT/seen; echo 2 >x"]);
    let more = ["--link=folder/data.ignored", "--max-attempts=2"];
    repo.search(&more).expect(0);
    assert_eq!(repo.endings(), ["accepted 12", "unchanged 12"]);
    assert_eq!(repo.said("seen"), "10\n");
    assert_eq!(repo.read("folder/data.ignored"), "10\n");
}

#[test]
fn a_copy_is_made_ready_once_and_again_when_what_it_depends_on_changes() {
    let repo = with_ignored();
    repo.write("package.json", "{}\n");
    repo.commit_all("a file that says what is needed");
    repo.attempts(&[
        "echo 2 >x",
        "echo 3 >x",
        "echo 4 >x; echo '{ }' >package.json",
    ]);
    let prepare = "echo 5 >folder/data.ignored; echo once >>$OUT/prepared";
    let prepare = format!("--prepare={prepare}");
    let more = ["--files=package.json", &prepare, "--max-attempts=3"];
    repo.search(&more).expect(0);
    assert_eq!(repo.endings(), ["accepted 7", "accepted 8", "accepted 9"]);
    // Once where agents work, where is measured and where the winner's other side is, and for the file that changed.
    assert_eq!(repo.said("prepared").lines().count(), 4);
    assert_eq!(repo.read("folder/data.ignored"), "10\n");
}

#[test]
fn an_attempt_that_keeps_its_copy_from_being_made_ready_is_invalid() {
    let repo = with_ignored();
    repo.write("package.json", "{}\n");
    repo.commit_all("a file that says what is needed");
    repo.attempts(&["echo 2 >x; echo bad >package.json", "echo 3 >x"]);
    let prepare = "--prepare=! grep -q bad package.json && echo 5 >folder/data.ignored";
    let more = ["--files=package.json", prepare, "--max-attempts=2"];
    repo.search(&more).expect(0);
    assert_eq!(repo.endings(), ["invalid", "accepted 8"]);
}

#[test]
fn changes_that_are_not_committed_count_where_the_search_is_about_them() {
    for (file, code) in [
        ("x", 3),
        ("score.sh", 3),
        ("gate.sh", 3),
        (".gitignore", 0),
        ("new", 0),
    ] {
        let repo = TestRepo::with_number("1");
        repo.attempts(&["echo 2 >x"]);
        let text = format!("{}\n", repo.read(".gitignore"));
        let text = if repo.has(file) {
            repo.read(file) + "\n"
        } else {
            text
        };
        repo.write(file, &text);
        let run = repo.search(&["--gate=sh gate.sh", "--max-attempts=1"]);
        let said = run.stdout.clone() + &run.stderr;
        run.expect(code);
        assert_eq!(
            said.lines()
                .filter(|line| line.contains(file) && line.contains("not committed"))
                .count(),
            1,
            "{said}"
        );
        assert_eq!(repo.read(file), text);
    }
}

#[test]
fn patterns_that_match_nothing_are_said_before_anything_is_spent() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    let agent = format!("--agent={}", repo.agent());
    let run = repo
        .evolve(&["search", "sh score.sh", "--files=src/**", &agent])
        .expect(2);
    assert!(run.stderr.contains("src/**"), "{}", run.stderr);
    assert!(!repo.out("called").exists());
}

#[test]
fn how_the_user_has_an_index_written_is_not_asked_in_a_copy() {
    let repo = TestRepo::with_number("1");
    let settings =
        "[core]\nsplitIndex = true\nuntrackedCache = true\n[feature]\nmanyFiles = true\n";
    std::fs::write(repo.home().join(".gitconfig"), settings).unwrap();
    repo.attempts(&["echo 2 >x; git add x", "echo 3 >x; git commit -qam 3"]);
    repo.search(&["--max-attempts=2", "--gate=true"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("x"), "3\n");
}

#[test]
fn what_leads_back_into_the_checkout_is_not_lent() {
    for (link, file, to) in [
        ("lent.ignored", "lent.ignored", "folder"),
        (
            "node_modules.ignored",
            "node_modules.ignored/core",
            "../folder",
        ),
    ] {
        let repo = with_ignored();
        let path = repo.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, path).unwrap();
        let link = format!("--link={link}");
        let more = ["--link=folder/data.ignored", &link, "--max-attempts=1"];
        let said = repo.search(&more).expect(2).stderr;
        assert!(said.contains("cannot be linked: "), "{said}");
        assert!(said.contains("leads to "), "{said}");
        assert!(!repo.out("called").exists() && !repo.private().join("search/1").exists());
    }
}

#[test]
fn an_attempt_by_which_what_is_lent_leads_into_its_copy_has_no_score() {
    let repo = with_ignored();
    std::fs::create_dir(repo.path("lib.ignored")).unwrap();
    repo.attempts(&[
        "pwd >lib.ignored/x.pth; echo 2 >x",
        "rm -f lib.ignored/x.pth; echo 3 >x",
    ]);
    let more = [
        "--link=folder/data.ignored",
        "--link=lib.ignored",
        "--max-attempts=1",
    ];
    repo.search(&more).expect(0);
    assert_eq!(repo.endings(), ["invalid"]);
}

#[test]
fn what_is_left_of_a_copy_that_somebody_removes_is_no_attempt() {
    let repo = TestRepo::with_number("1");
    // Who removes copies has come to the note beside them, and not yet to the copy.
    repo.attempts(&["echo 9 >x; rm ../owner", "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["agent failed", "accepted 3"]);
}
