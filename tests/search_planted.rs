//! What an agent puts where a search is going to write, in the folder of its files and in that of its refs: nothing is written
//! through it, and the search goes on.

use crate::harness::TestRepo;

/// Has the agent of the second of three attempts do this; returns its repository after the search. `$G` is the git directory.
fn searched(harm: &str) -> TestRepo {
    let repo = TestRepo::with_number("1");
    let harm = format!("G=$(dirname \"$EVOLVE_CALL\")/../../../..; {harm}; echo 3 >x");
    repo.attempts(&["echo 2 >x", &harm, "echo 4 >x"]);
    let head = repo.head();
    let run = repo.search(&["--max-attempts=3", "--gate=true"]).expect(0);
    let accepted = ["accepted 2", "accepted 3", "accepted 4"];
    assert_eq!(repo.endings(), accepted, "{harm}: {run:?}");
    assert_eq!(repo.head(), head, "{harm}");
    assert_eq!(repo.read("x"), "1\n");
    repo
}

#[test]
fn what_stands_where_refs_of_attempts_belong_is_in_nobodys_way() {
    let refs = "$G/refs/evolve/search/1";
    let git = "git --git-dir=$G";
    for harm in [
        format!("echo junk >{refs}/0; echo junk >{refs}/3"),
        format!("mkdir -p {refs}/3/x; echo junk >{refs}/3/x/y"),
        format!("mkdir {refs}/3.lock"),
        format!("ln -s ../../../heads/main {refs}/3"),
        format!("ln -s refs/heads/main {refs}/3"),
        format!("{git} symbolic-ref refs/evolve/search/1/3 refs/heads/main"),
        format!("mv {refs} $OUT/away; ln -s $OUT/away {refs}"),
        format!("{git} update-ref refs/evolve/search/1/3/x main; {git} pack-refs --all"),
        format!("rm -r $G/refs/evolve; {git} update-ref refs/evolve main"),
        format!(
            "rm -r $G/refs/evolve; {git} update-ref refs/evolve/search/1 main; {git} pack-refs --all"
        ),
    ] {
        let repo = searched(&harm);
        assert!(!repo.out("away/3").exists(), "{harm}");
        repo.evolve(&["search", "apply"]).expect(0);
        assert_eq!(repo.read("x"), "4\n");
        repo.evolve(&["search", "discard"]).expect(0);
        let refs = repo.git(&["for-each-ref", "--format=%(refname)"]);
        assert_eq!(refs, "refs/heads/main", "{harm}");
        assert!(!repo.path(".git/refs/evolve/search/1").exists(), "{harm}");
    }
}

#[test]
fn what_stands_where_files_of_attempts_belong_is_in_nobodys_way() {
    let search = "$G/evolve/search";
    for harm in [
        format!("ln -s $OUT/mine {search}/1/3"),
        format!("echo junk >{search}/1/3"),
        format!(
            "mkdir {search}/1/3; for f in brief.txt call.json agent agent.log first-gate-1.log first-1.log first-1.result.json first-1.traces; do ln -s $OUT/mine/paper {search}/1/3/$f; done"
        ),
        format!(
            "mkdir {search}/1/3; for f in brief.txt call.json agent agent.log first-gate-1.log first-1.log first-1.result.json first-1.traces; do ln $OUT/mine/paper {search}/1/3/$f; done"
        ),
        format!(
            "for f in brief.txt call.json agent agent.log first-gate-1.log first-1.log first-1.result.json first-1.traces; do mkdir -p {search}/1/3/$f/x; done"
        ),
        format!("mv {search}/1 $OUT/away; ln -s $OUT/away {search}/1"),
        format!("mv {search} $OUT/away; ln -s $OUT/away {search}"),
        format!("rm -r {search}/1; echo junk >{search}/1"),
    ] {
        let begins = "mkdir -p $OUT/mine; echo mine >$OUT/mine/paper; ls $OUT/mine >$OUT/before";
        let repo = searched(&format!("{begins}; {harm}"));
        assert_eq!(repo.said("mine/paper"), "mine\n", "{harm}");
        let count = std::fs::read_dir(repo.out("mine")).unwrap().count();
        assert_eq!(count, 1, "{harm}");
        for away in ["away/3", "away/1/3"] {
            assert!(!repo.out(away).exists(), "{harm}");
        }
        let shown = repo.answer(&["search", "show", "3"]);
        assert!(shown.contains("brief"), "{harm}: {shown}");
        repo.evolve(&["search", "discard"]).expect(0);
        assert!(!repo.private().join("search/1").exists(), "{harm}");
        assert_eq!(repo.said("mine/paper"), "mine\n", "{harm}");
    }
}

#[test]
fn a_folder_that_stands_for_the_wish_to_stop_keeps_no_search_from_going_on() {
    let repo = TestRepo::with_number("1");
    let stops = "mkdir -p \"$(dirname \"$EVOLVE_CALL\")/../stop/x\"; echo 2 >x";
    repo.attempts(&[stops, "echo 3 >x"]);
    repo.search(&["--max-attempts=2"]).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    repo.resume().expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn a_folder_elsewhere_that_a_link_leads_to_is_not_emptied_when_a_search_begins() {
    let repo = TestRepo::with_number("1");
    repo.attempts(&["echo 2 >x"]);
    std::fs::create_dir_all(repo.out("mine/1")).unwrap();
    std::fs::write(repo.out("mine/1/paper"), "mine\n").unwrap();
    std::fs::create_dir_all(repo.private()).unwrap();
    std::os::unix::fs::symlink(repo.out("mine"), repo.private().join("search")).unwrap();
    repo.search(&["--max-attempts=1"]).expect(0);
    assert_eq!(repo.said("mine/1/paper"), "mine\n");
    assert_eq!(std::fs::read_dir(repo.out("mine/1")).unwrap().count(), 1);
}

/// Has the agent of the second of three attempts put each kind of junk where `place` is.
const KINDS: [&str; 4] = [
    "mkdir -p \"$P/deep\"; echo junk >\"$P/deep/file\"",
    "ln -s /nowhere/at/all \"$P\"",
    "mkdir -p \"$OUT/mine\"; ln -s \"$OUT/mine\" \"$P\"",
    "mkfifo \"$P\"",
];

#[test]
fn what_stands_in_the_place_of_a_searchs_own_files_goes_to_the_quarantine_and_is_told() {
    for place in [
        "$G/evolve/search.lock",
        "$G/evolve/search/excludes",
        "$G/evolve/search.session",
        "$G/evolve/search-report.html",
        "$(echo \"$HOME\"/.local/state/evolve/*.session)",
    ] {
        for kind in KINDS {
            let repo = searched(&format!("P={place}; rm -rf \"$P\"; {kind}"));
            let what = format!("{place} {kind}");
            repo.evolve(&["search", "report"]).expect(0);
            repo.evolve(&["search", "status"]).expect(0);
            repo.evolve(&["search", "apply"]).expect(0);
            assert_eq!(repo.read("x"), "4\n", "{what}");
            let kept = repo.private().join("quarantine");
            assert_eq!(std::fs::read_dir(kept).unwrap().count(), 1, "{what}");
            repo.evolve(&["search", "discard"]).expect(0);
        }
    }
}

#[test]
fn what_stands_there_when_a_search_was_killed_keeps_no_command_from_what_it_does() {
    for name in ["search.lock", "search/excludes", "search-report.html"] {
        for kind in &KINDS[..2] {
            let repo = searched("true");
            let place = repo.private().join(name);
            let script = format!("P='{}'; rm -rf \"$P\"; {kind}", place.display());
            crate::harness::output(repo.command("sh").args(["-c", &script]));
            let run = repo.evolve(&["search", "report"]).expect(0);
            let is_report = name == "search-report.html";
            let told = run.stderr.contains("moved out of the way: search-report");
            assert_eq!(told, is_report, "{}", run.stderr);
            let run = repo.evolve(&["search", "apply"]).expect(0);
            let said = [run.stdout, run.stderr].concat();
            let moved = format!("moved out of the way: {name}");
            assert!(said.contains(&moved) || is_report, "{name}: {said}");
            assert_eq!(repo.read("x"), "4\n", "{name} {kind}");
        }
    }
}

#[test]
fn a_pipe_that_comes_into_the_git_folder_during_a_search_keeps_no_command_waiting() {
    for name in ["evolve-landing", "rebase-merge", "hooks/post-commit"] {
        let repo = searched(&format!("mkdir -p $G/hooks; mkfifo $G/{name}"));
        assert!(!repo.path(".git").join(name).exists(), "{name}");
        repo.evolve(&["search", "board"]).expect(0);
        repo.evolve(&["search", "apply"]).expect(0);
        assert_eq!(repo.read("x"), "4\n", "{name}");
    }
}
