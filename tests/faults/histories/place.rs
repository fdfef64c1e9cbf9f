//! The repository that an agent does its worst to, and the proof that everything is as it was.

use std::collections::{BTreeMap, HashMap};
use std::fs;

use crate::harness::{TestRepo, output};

/// What makes a repository special.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// What is on disk differs from what is in the objects.
    Filters,
    /// The same by line ends alone, for every text.
    LineEnds,
    /// Not every folder is checked out.
    Sparse,
    /// It has a submodule.
    Submodule,
}

pub const KINDS: [Kind; 5] = [
    Kind::Plain,
    Kind::Filters,
    Kind::LineEnds,
    Kind::Sparse,
    Kind::Submodule,
];

/// What every kind begins with: goal `a` fails, goal `b` passes until somebody takes `b` away. Beside them a file of every
/// sort, odd names, and branches that are behind, beside, at odds with `main` and strange to it.
const COMMON: &str = r#"
printf 'goals:\n' >GOALS.yaml
for goal in a b; do
    printf '  - {id: %s, description: %s, check: test -e %s, weight: 5}\n' $goal $goal $goal >>GOALS.yaml
done
mkdir -p dir/deep
echo b >b; echo one >README; echo 1 >dir/one; echo ignored >.gitignore; echo '*.log' >>.gitignore; echo 'build/' >>.gitignore
git add -A; git commit -qm first; git branch behind
echo 2 >dir/two; echo 3 >dir/deep/three; git add -A; git commit -qm second
git switch -qc side; echo side >from-side; git add -A; git commit -qm side; git switch -q main
git switch -qc third; echo third >from-third; git add -A; git commit -qm third; git switch -q main
git switch -qc clash; echo another >README; git add -A; git commit -qm clash; git switch -q main
git switch -q --orphan lonely; echo lonely >lonely; git add -A; git commit -qm lonely; git switch -q main
echo two >README; echo 'echo run' >run.sh; chmod +x run.sh; ln -s README link
echo new >'n e
w'; echo quote >"q'u\"o$(printf '\377')te"; echo dash >./-dash; echo hidden >.hidden
"#;

/// What the user has lying about: untracked and ignored files, two stashes, tags, notes, a setting, a hook. Git's clock stands
/// still in the past, so that `git gc` would take the agent's own notes for old ones and drop them from the reflog.
const USERS: &str = r#"
git config gc.reflogExpire never; git config gc.reflogExpireUnreachable never
echo stashed >>README; git stash push -qm older
echo stashed again >>dir/one; git stash push -qm newer
git tag v1 HEAD~1; git tag -a -m annotated v2; git notes add -m remark
git config alias.st status; git config remote.origin.url https://example.invalid/x.git
git update-ref refs/remotes/origin/main HEAD; git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main
echo '/private' >>.git/info/exclude; echo private >private
printf '#!/bin/sh\nexit 0\n' >.git/hooks/pre-push; chmod +x .git/hooks/pre-push
mkdir -p own build; echo 'my notes' >notes; echo 'my list' >own/list; chmod 755 own/list; ln -s notes own/link
echo secret >ignored; echo built >build/out; echo log >"odd $(printf '\377').log"
"#;

impl Kind {
    /// The script that makes it special, right before the last commit.
    fn script(self) -> &'static str {
        match self {
            Kind::Plain => "echo up >text.up; echo lines >lines.txt; echo wide >wide.u16",
            Kind::Filters => {
                "git config filter.up.clean 'sed s/PLAIN/stored/'; git config filter.up.smudge 'sed s/stored/PLAIN/'
                git config filter.up.required true
                printf '*.up filter=up\\n*.txt text eol=crlf\\n*.u16 text working-tree-encoding=UTF-16LE\\n' >.gitattributes
                echo 'is PLAIN here' >text.up; printf 'one\\r\\ntwo\\r\\n' >lines.txt
                printf 'w\\000i\\000\\n\\000' >wide.u16"
            }
            Kind::LineEnds => {
                "git config core.autocrlf true
                printf 'up\\r\\n' >text.up; printf 'one\\r\\ntwo\\r\\n' >lines.txt; printf 'w\\000\\n' >wide.u16"
            }
            Kind::Sparse => {
                "mkdir -p out/side; echo far >out/side/far; echo out >out/near
                echo up >text.up; echo lines >lines.txt; echo wide >wide.u16
                git add -A; git commit -qm out; git sparse-checkout set dir"
            }
            Kind::Submodule => {
                "echo up >text.up; echo lines >lines.txt; echo wide >wide.u16
                git init -q \"$OTHER\"; echo 1 >\"$OTHER/x\"; git -C \"$OTHER\" add -A
                git -C \"$OTHER\" -c user.name=o -c user.email=o commit -qm one
                git -c protocol.file.allow=always submodule --quiet add \"$OTHER\" sm
                echo 2 >\"$OTHER/x\"; git -C \"$OTHER\" -c user.name=o -c user.email=o commit -qam two"
            }
        }
    }
}

/// Brings every file into the form that a checkout gives it.
const FRESH: &str = "git ls-files -z | grep -zvx sm | xargs -0 rm -f --; git checkout -q -- .";

/// A repository of each kind, made once and copied for each case.
#[derive(Default)]
pub struct Templates(HashMap<Kind, TestRepo>);

impl Templates {
    /// Returns a fresh repository of a kind.
    pub fn place(&mut self, kind: Kind) -> Place {
        let template = self.0.entry(kind).or_insert_with(|| made(kind));
        let repo = TestRepo::empty().with_out();
        fs::remove_dir_all(repo.root()).unwrap();
        output(
            repo_less("cp")
                .arg("-a")
                .args([template.root(), repo.root()]),
        );
        Place { repo, kind }
    }
}

fn repo_less(program: &str) -> std::process::Command {
    std::process::Command::new(program)
}

fn made(kind: Kind) -> TestRepo {
    let repo = TestRepo::empty();
    let script = format!(
        "set -e\n{COMMON}\n{}\ngit add -A; git commit -q --allow-empty -m last\n{FRESH}\n{USERS}",
        kind.script()
    );
    let mut shell = repo.command("sh");
    shell.env("OTHER", repo.out("other")).args(["-c", &script]);
    output(&mut shell);
    let changes = repo.git(&["status", "--porcelain", "--untracked-files=no"]);
    assert_eq!(changes, "", "{kind:?} begins with changes");
    repo
}

/// A repository with everything around it.
pub struct Place {
    repo: TestRepo,
    kind: Kind,
}

/// Files with their modes and bytes, by path.
type Files = BTreeMap<Vec<u8>, (u32, Vec<u8>)>;

/// Everything that must be as it was.
#[derive(Debug, PartialEq)]
struct State {
    content: Vec<String>,
    tracked: Files,
    untracked: Files,
    status: Vec<String>,
    branch: String,
    refs: Vec<String>,
    settings: Files,
}

impl Place {
    /// Lets the agent do its worst in one cycle, and asserts that all is as it was.
    pub fn undoes(&self, script: &str) {
        let repo = &self.repo;
        let (start, before, ignored) = (repo.head(), self.state(), self.ignored());
        let (branches, stash) = (self.branches(), self.stash());
        let run = repo.cycle(script);
        assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
        let record = repo.newest();
        assert_eq!(record["result"], "regressed", "{record:#}");
        let after = self.state();
        for (was, is) in [
            (&before.tracked, &after.tracked),
            (&before.untracked, &after.untracked),
            (&before.settings, &after.settings),
        ] {
            assert_eq!(
                names_of_differences(was, is),
                Vec::<String>::new(),
                "{record:#}"
            );
        }
        assert_eq!(after, before);
        for (name, id) in branches {
            match name.starts_with("refs/remotes/") {
                // A fetch that prunes may take it away, but no commit.
                true => {
                    let holders = repo.git(&["for-each-ref", "--contains", &id]);
                    assert_ne!(holders, "", "no ref leads to what {name} was");
                }
                false => drop(repo.git(&["merge-base", "--is-ancestor", &id, &name])),
            }
        }
        let stashed = self.stash();
        assert!(
            stashed.ends_with(&stash),
            "{stashed:?} instead of {stash:?}"
        );
        self.assert_fresh(&start);
        // Forced into a commit, they go wherever the agent's branch goes.
        if !script.contains("add -Af") {
            self.assert_ignored(&ignored, &record);
        }
        self.assert_sound(&start);
    }

    fn state(&self) -> State {
        let repo = &self.repo;
        let lines = |text: String| text.split('\0').map(str::to_owned).collect::<Vec<_>>();
        let (tracked, untracked) = self.sorted();
        State {
            content: repo.content("HEAD"),
            tracked,
            untracked,
            status: lines(repo.git(&["status", "--porcelain", "-z"])),
            branch: repo.git(&["symbolic-ref", "HEAD"]),
            refs: self.refs(),
            settings: self.settings(),
        }
    }

    /// The refs that were there at the start, those of kinds that go on to newer commits aside, and those that a fetch makes
    /// anew; new ones are the agent's.
    fn refs(&self) -> Vec<String> {
        const NAMES: [&str; 2] = ["refs/tags/v1", "refs/tags/v2"];
        let format = "--format=%(refname) %(objectname) %(symref)";
        let listed = self
            .repo
            .git(&[&["for-each-ref", format][..], &NAMES].concat());
        listed.lines().map(str::to_owned).collect()
    }

    /// Branches, notes and tracking refs with their commits.
    fn branches(&self) -> Vec<(String, String)> {
        const KINDS: [&str; 3] = ["refs/heads", "refs/notes", "refs/remotes/origin/main"];
        let format = "--format=%(refname) %(objectname)";
        let listed = self
            .repo
            .git(&[&["for-each-ref", format][..], &KINDS].concat());
        let pair = |line: &str| {
            let (name, id) = line.split_once(' ').unwrap();
            (name.to_owned(), id.to_owned())
        };
        listed.lines().map(pair).collect()
    }

    fn stash(&self) -> Vec<String> {
        let list = ["reflog", "show", "--format=%H %gs", "refs/stash"];
        let listed = self.repo.git(&list);
        listed.lines().map(str::to_owned).collect()
    }

    /// What decides how git reads and runs things, beside what a submodule or another tree that the agent added brings.
    fn settings(&self) -> Files {
        let mut files = crate::harness::files_below(&self.repo.path(".git"));
        let names = [
            "config",
            "config.worktree",
            "shallow",
            "objects/info/alternates",
        ];
        files.retain(|path, _| {
            let path = String::from_utf8_lossy(path).into_owned();
            let is_folder = path.starts_with("hooks/") || path.starts_with("info/");
            is_folder && path != "info/exclude" && path != "info/refs"
                || names.contains(&path.as_str())
        });
        files
    }

    /// The files on disk: those that git tracks, and those that it neither tracks nor ignores.
    fn sorted(&self) -> (Files, Files) {
        let listed = |arguments: &[&str]| {
            let mut command = self.repo.command("git");
            let listed = output(command.args(["ls-files", "-z"]).args(arguments)).stdout;
            let paths = listed.split(|byte| *byte == 0).map(<[u8]>::to_vec);
            paths.collect::<std::collections::HashSet<_>>()
        };
        let tracked = listed(&["--cached"]);
        let untracked = listed(&["--others", "--exclude-standard"]);
        let files = comparable(self.repo.files());
        let of = |names: &std::collections::HashSet<Vec<u8>>| {
            let named = files.iter().filter(|(path, _)| names.contains(*path));
            named
                .map(|(path, file)| (path.clone(), file.clone()))
                .collect()
        };
        (of(&tracked), of(&untracked))
    }

    fn ignored(&self) -> Files {
        let names: [&[u8]; 4] = [b"ignored", b"build/out", b"private", b"odd \xff.log"];
        let mut files = self.repo.files();
        files.retain(|path, _| names.contains(&path.as_slice()));
        assert_eq!(files.len(), names.len());
        files
    }

    /// What is on disk is what a fresh clone checks out.
    fn assert_fresh(&self, start: &str) {
        let clone = tempfile::tempdir().unwrap();
        let folder = clone.path().join("clone");
        let to = folder.to_str().unwrap();
        self.repo
            .git(&["clone", "--quiet", "--no-checkout", "--no-local", ".", to]);
        let own = fs::read(self.repo.path(".git/config")).unwrap();
        fs::write(folder.join(".git/config"), own).unwrap();
        self.repo.git(&["-C", to, "read-tree", start]);
        self.repo
            .git(&["-C", to, "checkout", "--quiet", start, "--", "."]);
        let mut fresh = comparable(crate::harness::files_below(&folder));
        let (mut tracked, _) = self.sorted();
        if self.kind == Kind::Sparse {
            fresh.retain(|path, _| !path.starts_with(b"out/"));
        }
        tracked.retain(|path, _| !path.starts_with(b"sm/"));
        let left = names_of_differences(&fresh, &tracked);
        assert_eq!(left, Vec::<String>::new(), "differs from a fresh clone");
    }

    /// What git ignores is there, or in the quarantine, or named in the record as gone.
    fn assert_ignored(&self, before: &Files, record: &serde_json::Value) {
        let (now, away) = (self.repo.files(), self.repo.quarantined());
        let notes = record["notes"].to_string();
        for (path, file) in before {
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap();
            let shown = String::from_utf8_lossy(path);
            let folder = shown.split_inclusive('/').next().unwrap();
            let quoted = shown.split('\u{fffd}').next().unwrap();
            let is_named = notes.contains(quoted) || notes.contains(folder);
            // The agent's own git writes an ignored file anew, if that was in a commit, and has it end its lines as it does all.
            let is_there = match self.kind {
                Kind::LineEnds => now.get(path).map(words) == Some(words(file)),
                _ => now.get(path) == Some(file),
            };
            assert!(
                is_there || away.get(name) == Some(file) || is_named,
                "{shown} is lost: {notes}"
            );
        }
    }

    /// The repository is whole, nothing is in progress, and the agent's work is still there.
    fn assert_sound(&self, start: &str) {
        let repo = &self.repo;
        // A rebase of the root has the empty tree in a reflog without storing it.
        repo.git(&["hash-object", "-t", "tree", "-w", "/dev/null"]);
        repo.git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
        repo.git(&["merge-base", "--is-ancestor", start, "refs/heads/main"]);
        for left in [
            "MERGE_HEAD",
            "CHERRY_PICK_HEAD",
            "REVERT_HEAD",
            "BISECT_LOG",
            "rebase-merge",
            "rebase-apply",
            "index.lock",
            "sequencer",
        ] {
            assert!(!repo.path(".git").join(left).exists(), "{left} is left");
        }
        let Ok(tip) = fs::read_to_string(repo.out("tip")) else {
            return;
        };
        if !tip.trim().is_empty() {
            let holders = repo.git(&[
                "for-each-ref",
                "--contains",
                tip.trim(),
                "refs/evolve",
                "refs/heads/main",
            ]);
            assert_ne!(holders, "", "no ref holds the agent's {tip}");
        }
    }
}

/// The bytes of a file without what ends its lines.
fn words((_, bytes): &(u32, Vec<u8>)) -> Vec<u8> {
    let mut words = bytes.clone();
    words.retain(|byte| *byte != b'\r');
    words
}

/// Of the modes what git knows: the kind of the file, and whether it can be run.
fn comparable(mut files: Files) -> Files {
    for (mode, _) in files.values_mut() {
        *mode &= 0o170_100;
    }
    files
}

/// Paths that one has and the other has not, or has otherwise.
fn names_of_differences(one: &Files, other: &Files) -> Vec<String> {
    let paths = one.keys().chain(other.keys());
    let differs = |path: &&Vec<u8>| one.get(*path) != other.get(*path);
    paths
        .filter(differs)
        .map(|path| String::from_utf8_lossy(path).into_owned())
        .collect()
}
