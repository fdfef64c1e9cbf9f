//! Repositories that a change makes part of the tree: what only they hold is in no commit of this one, and counts for nothing
//! unless somebody else can get it.

use crate::harness::{TestRepo, output};

/// A repository whose goal wants the word `good` in a file of the folder `d`, and a library beside it.
fn repository() -> TestRepo {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: a is good, check: grep -q good d/a, weight: 5}\n",
    )
    .with_out();
    repo.write("d/a", "bad\n");
    repo.write("d/lib", "lib\n");
    repo.write("f", "f\n");
    repo.commit_all("files");
    let made = output(repo.command("sh").args([
        "-c",
        "git init -q $OUT/theirs && cd $OUT/theirs && echo good >a && git add a &&
         git -c user.name=n -c user.email=n commit -qm theirs",
    ]));
    assert!(made.status.success());
    repo
}

/// Makes the folder at `$1` a repository with all that is in it, and its commit part of this one.
const EMBED: &str = r#"
new() { git init -q "$1"; git -C "$1" add -A; git -C "$1" -c user.name=n -c user.email=n commit -qm n; }
embed() { new "$1"; git rm -rq --cached "$1" 2>/dev/null; git add "$1"; }
add() { git -c protocol.file.allow=always submodule -q add "$OUT/theirs" "$1"; }
"#;

/// What an agent does, and what the reason says then.
const EMBEDDED: [(&str, &str); 7] = [
    (
        "echo good >d/a; embed d; git commit -qm d",
        "files of this repository were put into one of the agent's: d",
    ),
    (
        "echo good >d/a; embed d",
        "files of this repository were put into one of the agent's: d",
    ),
    (
        "git rm -rq d; add d; git commit -qm d",
        "files of this repository were put into one of the agent's: d",
    ),
    (
        "echo good >d/a; rm f; mkdir f; touch f/x; new f; git rm -q --cached f; git add f; git commit -qm f",
        "files of this repository were put into one of the agent's: f",
    ),
    (
        "echo good >d/a; mkdir -p new/e; touch new/e/x; embed new/e; git add d; git commit -qm e",
        "new/e is a repository of the agent's, and .gitmodules names no url for it",
    ),
    (
        "echo good >d/a; mkdir e; touch e/x; embed e; git config -f .gitmodules submodule.e.path e; git add .",
        "e is a repository of the agent's, and .gitmodules names no url for it",
    ),
    (
        "echo good >d/a; echo mine >u/mine; new u; git add u; git commit -qm u",
        "u",
    ),
];

/// Runs each of them; the start's files are there again afterwards, and the next start does not object to anything.
fn refuse_all(option: &str) {
    for (script, reason) in EMBEDDED {
        if script.contains("u/mine") && option == "--isolate" {
            continue;
        }
        let repo = repository();
        repo.write("u/mine", "mine\n");
        let (start, options) = (repo.head(), [option, "--max-cycles=1"]);
        repo.agent_does(&[&format!("{EMBED}\n{script}")]);
        let options: Vec<_> = options.into_iter().filter(|it| !it.is_empty()).collect();
        repo.run(&options).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{script}: {record}");
        let said = record["reason"].as_str().unwrap();
        assert!(said.contains(reason), "{script}: {said}");
        assert_eq!(repo.content("HEAD"), repo.content(&start), "{script}");
        let files = [
            ("d/a", "bad\n"),
            ("d/lib", "lib\n"),
            ("f", "f\n"),
            ("u/mine", "mine\n"),
        ];
        for (file, text) in files {
            assert_eq!(repo.read(file), text, "{script}: {file}");
        }
        assert!(!repo.has("d/.git") && !repo.has("u/.git"), "{script}");
        repo.agent_does(&["true"]);
        repo.run(&options).expect(0);
    }
}

#[test]
fn tracked_files_in_a_repository_of_the_agents_meet_no_goal() {
    refuse_all("");
}

#[test]
fn they_do_not_in_a_copy_either() {
    refuse_all("--isolate");
}

#[test]
fn a_submodule_that_an_agent_adds_stays() {
    for option in [None, Some("--isolate")] {
        let repo = repository();
        repo.agent_does(&[&format!(
            "{EMBED}\necho good >d/a; add lib/e; git commit -qam e"
        )]);
        let options: Vec<_> = option.into_iter().chain(["--max-cycles=1"]).collect();
        repo.run(&options).expect(0);
        let record = repo.newest();
        assert_eq!(record["result"], "improved", "{option:?}: {record}");
        assert!(repo.git(&["ls-tree", "-r", "HEAD"]).contains("lib/e"));
    }
}

#[test]
fn a_submodules_commit_that_only_the_copy_holds_does_not_reach_the_branch() {
    let repo = repository();
    let start = repo.head();
    repo.agent_does(&[&format!(
        "{EMBED}\necho good >d/a; add e; echo more >e/a
         git -C e -c user.name=n -c user.email=n commit -qam more; git add e; git commit -qam e"
    )]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "regressed", "{record}");
    let reason = record["reason"].as_str().unwrap();
    assert!(
        reason.contains("the commit of e lies only in the copy"),
        "{reason}"
    );
    assert_eq!(repo.content("HEAD"), repo.content(&start));
}
