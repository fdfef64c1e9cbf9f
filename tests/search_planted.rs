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
