//! Refs of every name and kind: bytes that are no UTF-8, dashes, long and deep ones, thousands of them, other refs' names,
//! refs of one working tree only, broken ones. They are as before whatever an agent did to them.

use crate::harness::{TestRepo, output};

/// A repository whose goal `a` fails and `b` passes, and with two commits.
fn repository() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    let goal =
        |id| format!("  - {{id: {id}, description: {id}, check: test -e {id}, weight: 5}}\n");
    repo.write("GOALS.yaml", &format!("goals:\n{}{}", goal("a"), goal("b")));
    repo.write("b", "b\n");
    repo.commit_all("first");
    repo.write("README", "two\n");
    repo.commit_all("second");
    repo
}

/// Refs of every name and kind; `$2` is the commit that most of them point to.
const ODD: &str = r#"
bad=$(printf 'bad\377x'); deep=$(printf 'd/%.0s' $(seq 300)); long=$(printf 'n%.0s' $(seq 240))
far=$(for n in 1 2 3 4 5 6 7 8; do printf '%s%s/' $long $n; done)
for ref in heads/$bad heads/$bad-2/below tags/$bad notes/$bad remotes/origin/$bad other/$bad heads/-x heads/--help heads/$long \
    heads/${deep}end heads/${far}end bisect/bad worktree/mine original/refs/heads/main rewritten/x "heads/it's" 'heads/$(touch x)' \
    heads/grün heads/%s heads/main.x heads/HEAD tags/main; do
    git update-ref --create-reflog "refs/$ref" HEAD
done
git symbolic-ref refs/heads/alias "refs/heads/$bad"; git symbolic-ref "refs/heads/alias-$bad" refs/heads/-x
git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/nowhere
git tag -a -m annotated "note-$bad"; git tag tree HEAD^{tree}; git tag blob HEAD:b
"#;

fn sh(repo: &TestRepo, script: &str) -> Vec<u8> {
    output(repo.command("sh").args(["-c", script])).stdout
}

/// All refs but the branch and what `evolve` keeps, a line each, byte for byte; symbolic ones that lead nowhere, too.
fn refs(repo: &TestRepo) -> Vec<Vec<u8>> {
    let listed = sh(
        repo,
        "git for-each-ref --format='%(refname) %(objectname) %(symref)'; echo origin: $(git symbolic-ref refs/remotes/origin/HEAD)",
    );
    let lines = listed.split(|byte| *byte == b'\n');
    let is_users =
        |line: &&[u8]| !line.starts_with(b"refs/evolve/") && !line.starts_with(b"refs/heads/main ");
    lines.filter(is_users).map(<[u8]>::to_vec).collect()
}

fn notes(repo: &TestRepo) -> String {
    repo.newest()["notes"].to_string()
}

#[test]
fn refs_of_every_name_and_kind_are_as_before_whatever_an_agent_did_to_them() {
    let each = "git for-each-ref --format='%(refname)' | grep -av -e '^refs/heads/main$' -e '^refs/evolve/' | while read -r r; do";
    for (what, script, end, told) in [
        ("removed", format!("{each} git update-ref --no-deref -d \"$r\"; done"), "rm b", "was removed and is back"),
        ("moved", format!("{each} git update-ref --no-deref \"$r\" HEAD~1; done"), "touch a", "was moved and is as before"),
        ("packed, then removed", format!("git pack-refs --all; {each} git update-ref --no-deref -d \"$r\"; done"), "rm b", "was removed and is back"),
        ("their files removed", "rm -r .git/packed-refs; find .git/refs -type f | grep -av heads/main$ | while read -r f; do rm \"$f\"; done".to_owned(), "touch a", "was removed and is back"),
        ("broken", "find .git/refs -type f | grep -av -e heads/main$ -e refs/evolve | while read -r f; do echo garbage >\"$f\"; done".to_owned(), "rm b", "is back"),
        ("pipes", "find .git/refs -type f | grep -av -e heads/main$ -e refs/evolve | while read -r f; do rm \"$f\"; mkfifo \"$f\"; done; rm .git/logs/HEAD
            mkfifo .git/refs/heads/new .git/logs/HEAD .git/logs/refs/heads/new .git/ORIG_HEAD .git/objects/pack/x.idx".to_owned(), "rm b", "is back"),
        ("emptied", "find .git/refs -type f | grep -av -e heads/main$ -e refs/evolve | while read -r f; do : >\"$f\"; done".to_owned(), "touch a", "is back"),
    ] {
        let repo = repository();
        sh(&repo, ODD);
        // A tracking ref that is gone is a fetch's to bring back; one that is broken is not gone.
        let is_seen = |line: &Vec<u8>| {
            let is_whole = ["moved", "broken", "emptied"].contains(&what);
            is_whole || !(line.starts_with(b"refs/remotes/") || line.starts_with(b"origin:"))
        };
        let mut before = refs(&repo);
        before.retain(is_seen);
        assert!(before.len() > 25, "{}", before.len());
        let run = repo.cycle(&format!("{{ {script}; }} >/dev/null 2>&1; {end}"));
        assert_eq!(run.code, 0, "{what}\n{}\n{}", run.stdout, run.stderr);
        let lossy = |refs: &[Vec<u8>]| {
            let lines = refs.iter().map(|line| String::from_utf8_lossy(line).into_owned());
            lines.collect::<Vec<_>>()
        };
        let mut after = refs(&repo);
        after.retain(is_seen);
        assert_eq!(lossy(&after), lossy(&before), "{what}");
        assert_eq!(after, before, "{what}");
        for words in [told, r"refs/heads/bad\\xffx ", "refs/heads/-x "] {
            assert!(notes(&repo).contains(words), "{what}: {}", notes(&repo));
        }
        assert!(!repo.has("x"), "{what}");
    }
}

#[test]
fn after_a_crash_the_next_start_puts_odd_refs_back_too() {
    let repo = repository();
    sh(&repo, ODD);
    let before = refs(&repo);
    let script = "rm -rf .git/packed-refs .git/refs/tags; git update-ref -d \"refs/heads/$(printf 'bad\\377x')\"; touch \"$OUT/there\"; sleep 300";
    repo.agent_does(&[script, "touch a"]);
    let mut child = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("there");
    child.kill().unwrap();
    child.wait().unwrap();
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["interrupted", "improved"]);
    assert_eq!(refs(&repo), before);
}

#[test]
fn thousands_of_refs_are_as_before() {
    let repo = repository();
    sh(
        &repo,
        "c=$(git rev-parse HEAD); seq 4000 | sed \"s|.*|create refs/heads/many/& $c|\" | git update-ref --stdin; git pack-refs --all
        seq 1000 | sed \"s|.*|create refs/tags/many/& $c|\" | git update-ref --stdin",
    );
    let before = refs(&repo);
    repo.cycle("c=$(git rev-parse HEAD); rm .git/packed-refs; rm -r .git/refs/tags; git update-ref refs/heads/main $c; rm b")
        .expect(0);
    let told = notes(&repo);
    assert!(
        told.contains("more refs like these") && told.len() < 5_000,
        "{told}"
    );
    assert_eq!(refs(&repo), before);
}

#[test]
fn a_branch_whose_name_is_no_text_is_refused_in_plain_words_and_looked_at_all_the_same() {
    let repo = repository();
    sh(&repo, "git switch -qc \"$(printf 'bad\\377x')\"");
    repo.agent_does(&["touch a"]);
    for arguments in [&[][..], &["--isolate"]] {
        let run = repo.run(arguments).expect(3);
        let words = r"the name of the branch bad\xffx is not UTF-8";
        assert!(run.stderr.contains(words), "{}", run.stderr);
        assert!(run.stderr.contains("git branch -m"), "{}", run.stderr);
    }
    assert_eq!(repo.calls(), 0);
    let status = repo.evolve(&["status"]).expect(0);
    assert!(status.stdout.contains(r"bad\xffx"), "{}", status.stdout);
    assert!(!status.stdout.contains("detached"), "{}", status.stdout);
    repo.evolve(&["measure"]).expect(0);
    // The way out that it names.
    repo.git(&["branch", "-m", "maintenance"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
}

#[test]
fn work_that_an_agent_left_on_such_a_branch_is_followed() {
    for (end, result) in [
        ("touch a; git add a", "improved"),
        ("git rm -q b", "regressed"),
    ] {
        let repo = repository();
        repo.cycle(&format!(
            "git switch -qc \"$(printf 'bad\\377x')\"; {end}; git commit -qm agent"
        ))
        .expect(0);
        assert_eq!(repo.newest()["result"], result);
        assert_eq!(repo.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
        let told = notes(&repo).contains(r"the work was on bad\\xffx");
        assert!(told, "{}", notes(&repo));
    }
}

#[test]
fn refs_of_one_working_tree_are_as_before_in_that_tree() {
    let repo = repository();
    let tree = repo.out("tree");
    let at = tree.display().to_string();
    sh(
        &repo,
        &format!(
            "git worktree add -q -b topic '{at}'; cd '{at}'; git update-ref refs/worktree/mine HEAD; git update-ref refs/bisect/bad HEAD"
        ),
    );
    let list = [
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/worktree",
        "refs/bisect",
    ];
    let listed = || output(repo.command("git").current_dir(&tree).args(list)).stdout;
    let before = listed();
    assert!(!before.is_empty());
    repo.agent_does(&[
        "git update-ref -d refs/worktree/mine; git update-ref -d refs/bisect/bad; touch a",
    ]);
    let run = repo.evolve(&[
        "-C",
        &at,
        &format!("--agent={}", repo.agent()),
        "--max-cycles=1",
    ]);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
    assert_eq!(
        String::from_utf8_lossy(&listed()),
        String::from_utf8_lossy(&before)
    );
}

#[test]
fn a_ref_is_back_where_another_one_took_the_place_of_its_folder_and_that_one_is_kept() {
    let repo = repository();
    repo.git(&["branch", "folder/below", "HEAD~1"]);
    let was = repo.git(&["rev-parse", "folder/below"]);
    repo.cycle("git branch -qD folder/below; git branch folder; touch a")
        .expect(0);
    let told = notes(&repo);
    assert!(told.contains("refs/heads/folder was in the way"), "{told}");
    assert_eq!(repo.git(&["rev-parse", "folder/below"]), was);
    let kept = "refs/evolve/*/1-refs/heads/folder";
    let kept = repo.git(&["for-each-ref", "--format=%(refname)", kept]);
    assert!(kept.ends_with("1-refs/heads/folder"), "{kept}");
}
