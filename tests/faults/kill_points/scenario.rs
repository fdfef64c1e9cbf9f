//! Whole sessions that are run again and again with one fault each: what the user had there, what the agent does, and what
//! may come of it.

use std::collections::BTreeMap;
use std::fs;

use crate::harness::{Run, TestRepo};

/// A session to be disturbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// A first run: baseline, then a change that is kept.
    Kept,
    /// A change that breaks a goal and is undone, beside files of the user's.
    Undone,
    /// A work item that an agent works on, and what it finds and learns.
    Item,
    /// A sweep whose own command changes tracked files, and an idle cycle.
    Sweep,
    /// A change that is made in a copy of the agent's own, and kept.
    Apart,
    /// A change that is made there and breaks a goal.
    ApartUndone,
}

impl Scenario {
    pub const ALL: [Scenario; 6] = [
        Scenario::Kept,
        Scenario::Undone,
        Scenario::Item,
        Scenario::Sweep,
        Scenario::Apart,
        Scenario::ApartUndone,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Scenario::Kept => "kept",
            Scenario::Undone => "undone",
            Scenario::Item => "item",
            Scenario::Sweep => "sweep",
            Scenario::Apart => "apart",
            Scenario::ApartUndone => "apart-undone",
        }
    }

    /// What comes of it undisturbed.
    fn result(self) -> &'static str {
        match self {
            Scenario::Kept | Scenario::Apart => "improved",
            Scenario::Undone | Scenario::ApartUndone => "regressed",
            Scenario::Item => "harvested",
            Scenario::Sweep => "idle",
        }
    }

    fn agent(self) -> &'static str {
        match self {
            Scenario::Kept => KEPT,
            Scenario::Undone => UNDONE,
            Scenario::Item => ITEM,
            Scenario::Sweep => "exit 9",
            Scenario::Apart => APART,
            Scenario::ApartUndone => APART_UNDONE,
        }
    }

    /// The repository before the session.
    pub fn prepared(self) -> TestRepo {
        let repo = TestRepo::empty().with_out();
        let sweep = match self {
            Scenario::Sweep => "[{run: 'sh scripts/look.sh', severity: low, type: bug}]",
            Scenario::Kept | Scenario::Undone | Scenario::Item => "[]",
            Scenario::Apart | Scenario::ApartUndone => "[]\n  isolate: true",
        };
        repo.write(
            "GOALS.yaml",
            &format!("version: 1\nevolve:\n  sweep: {sweep}\n  jobs: 1\ngoals:\n{GOALS}"),
        );
        for (name, text) in [
            ("tracked", "text\n"),
            ("b", "b\n"),
            ("folder/other", "other\n"),
            ("folder/deep/more", "more\n"),
            (
                "scripts/look.sh",
                "for try in 1 2 3; do echo swept >>tracked; done; rm -r folder; echo 'tracked:1: found'\n",
            ),
            (".gitignore", "/build/\n*.o\n"),
        ] {
            repo.write(name, text);
        }
        if matches!(self, Scenario::Item | Scenario::Sweep) {
            repo.write("a", "");
        }
        repo.commit_all("first");
        for (name, text) in USERS {
            repo.write(name, text);
        }
        repo.evolve(&["work", "add", "tidy up"]).expect(0);
        if self == Scenario::Sweep {
            // The queue is only worked on where there is something in it for this repository.
            fs::remove_file(repo.path(".agents/rpi/next-work.jsonl")).unwrap();
        }
        let check = match self {
            // What a check leaves in a copy is nobody's.
            Scenario::Apart | Scenario::ApartUndone => "test -e b",
            Scenario::Kept | Scenario::Undone | Scenario::Item | Scenario::Sweep => CHECK_B,
        };
        fs::write(repo.out("goal-b"), check).unwrap();
        repo.git(&["tag", "before"]);
        repo.git(&["branch", "mine"]);
        self.engage(&repo);
        repo
    }

    /// Lets the agent do what it does in the disturbed session.
    fn engage(self, repo: &TestRepo) {
        let path = std::env::var("PATH").unwrap();
        let script = format!("PATH='{path}'\necho $$ >>\"$OUT/pids\"\n{}", self.agent());
        fs::write(repo.out("agent"), script).unwrap();
    }

    /// The arguments of the session.
    pub fn arguments(self, repo: &TestRepo) -> Vec<String> {
        vec![
            format!("--agent={}", repo.agent()),
            "--max-cycles=1".to_owned(),
        ]
    }
}

const GOALS: &str = r#"  - {id: a, description: file a exists, check: 'echo $$ >>"$OUT/pids"; test -e a', weight: 5}
  - {id: b, description: file b exists, check: '. "$OUT/goal-b"', weight: 3, retries: 1}
"#;

/// Somebody writes a file where an undo has to write one of its own.
const CHECK_B: &str = "if [ ! -e folder/other ] && [ ! -e \"$OUT/wrote\" ]; then mkdir -p folder; echo \"somebody's\" >folder/other && echo yes >\"$OUT/wrote\"; fi; test -e b";

/// What the user has beside what is committed.
const USERS: [(&str, &str); 7] = [
    ("notes", "my notes\n"),
    ("precious", "my only copy\n"),
    ("drafts/one", "a draft\n"),
    ("drafts/deep/two", "another\n"),
    ("build/cache.o", "built\n"),
    ("secret.o", "an ignored file of mine\n"),
    ("drafts/ignored.o", "another ignored one\n"),
];

const KEPT: &str = r#"
echo "the agent's" >>notes; rm -r drafts/deep
git switch -qC side; echo s >s; git add s; git commit -qm side; git switch -q main; echo m >m; git add m; git commit -qm m
git rev-parse HEAD >>"$OUT/commits"
git merge -q --no-edit side; git rev-parse HEAD >>"$OUT/commits"
touch a; echo x >>tracked; echo new >new; git tag -f before >/dev/null
echo 'a lesson' >"$EVOLVE_LESSONS"; echo '{"title": "more"}' >"$EVOLVE_NEXT_WORK"
"#;

const UNDONE: &str = r#"
echo "the agent's" >>notes; rm precious; rm -r drafts/deep; echo in the way >drafts/deep
git switch -qC side; echo s >s; git add s; git commit -qm side; git switch -q main; echo m >m; git add m; git commit -qm m
git rev-parse HEAD >>"$OUT/commits"
git merge -q --no-edit side; git rev-parse HEAD >>"$OUT/commits"
git rm -qr b folder; mkdir -p b; echo z >b/z; git add b; git commit -qm gone; git rev-parse HEAD >>"$OUT/commits"
git tag -d before >/dev/null; rm -r b; mkdir b; touch a; echo x >>tracked; echo new >new; mkdir -p fresh/deep; echo f >fresh/deep/f
echo 'a lesson' >"$EVOLVE_LESSONS"; echo '{"title": "more"}' >"$EVOLVE_NEXT_WORK"
rm -r b
"#;

const APART: &str = r#"
git switch -qC side; echo s >s; git add s; git commit -qm side; git switch -q main; echo m >m; git add m; git commit -qm m
git rev-parse HEAD >>"$OUT/commits"
git merge -q --no-edit side; git rev-parse HEAD >>"$OUT/commits"
touch a; echo x >>tracked; git rm -q folder/deep/more; echo new >new; rm -rf .git/hooks
echo 'a lesson' >"$EVOLVE_LESSONS"; echo '{"title": "more"}' >"$EVOLVE_NEXT_WORK"
"#;

const APART_UNDONE: &str = r#"
echo m >m; git add m; git commit -qm m; git rev-parse HEAD >>"$OUT/commits"
git rm -qr b folder; mkdir -p b; echo z >b/z; git add b; git commit -qm gone; git rev-parse HEAD >>"$OUT/commits"
git switch -qC side HEAD~2; echo s >s; git add s; git commit -qm side; git rev-parse HEAD >>"$OUT/commits"
touch a; rm -f b; rm -rf folder; echo new >new; git stash -q; git stash drop -q; rm -f b
"#;

const ITEM: &str = r#"
echo tidy >tidy; git add tidy; git commit -qm tidy; git rev-parse HEAD >>"$OUT/commits"
echo half >>tracked; rm .agents/rpi/next-work.jsonl
echo 'a lesson' >"$EVOLVE_LESSONS"; echo '{"title": "more"}' >"$EVOLVE_NEXT_WORK"
"#;

/// What must be the same or found again after any fault.
pub struct Before {
    /// The contents that HEAD may have: the start's, and the accepted change's.
    pub contents: Vec<Vec<String>>,
    /// The user's bytes, by path.
    pub users: BTreeMap<String, Vec<u8>>,
    /// Refs that were there, with what they are at.
    pub refs: Vec<String>,
}

impl Before {
    /// Looks at a prepared repository and at what an undisturbed session makes of a copy of it.
    pub fn of(scenario: Scenario, repo: &TestRepo) -> Before {
        let reference = repo.copied();
        let arguments = scenario.arguments(&reference);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = reference.evolve(&arguments).expect(0);
        assert_eq!(
            reference.newest()["result"],
            scenario.result(),
            "{}",
            run.stdout
        );
        let mut contents = vec![repo.content("HEAD")];
        contents.push(reference.content("HEAD"));
        contents.dedup();
        let users = USERS.iter();
        Before {
            contents,
            users: users
                .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
                .collect(),
            refs: refs(repo),
        }
    }
}

/// The refs that are the user's and that no cycle moves.
pub fn refs(repo: &TestRepo) -> Vec<String> {
    let listed = repo.git(&[
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/tags",
        "refs/heads/mine",
    ]);
    listed.lines().map(str::to_owned).collect()
}

/// Settles what is left and nothing else: a STOP file keeps the next session from beginning.
pub fn settle(repo: &TestRepo) -> Run {
    repo.write(".agents/evolve/STOP", "");
    let run = repo.run(&[]);
    fs::remove_file(repo.path(".agents/evolve/STOP")).unwrap();
    run
}

/// Runs one more cycle with an agent that does what is asked for.
pub fn go_on(repo: &TestRepo) -> Run {
    let path = std::env::var("PATH").unwrap();
    let good = format!("PATH='{path}'\ntouch a tidy\n");
    fs::write(repo.out("agent"), good).unwrap();
    repo.run(&["--max-cycles=1"])
}
