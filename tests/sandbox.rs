//! The sandbox around agent and checks: real Landlock, real bubblewrap.

use crate::harness::TestRepo;

const GOALS: &str = "  - {id: a, description: file a exists, check: test -e a, weight: 5}\n";

/// A repository with a home and a sibling folder whose files a script may try to change: `$HOME/canary`, `$OUT/canary`.
fn repo() -> TestRepo {
    let repo = TestRepo::with_goals(GOALS).with_out();
    std::fs::write(repo.home().join("canary"), "mine\n").unwrap();
    std::fs::write(repo.out("canary"), "mine\n").unwrap();
    repo
}

/// Tries to write everywhere and makes `a`; what could be written it tells in the repository.
const ROAM: &str = r#"
try() { (eval "$2") 2>/dev/null && echo "$1" >>written; }
try home 'echo x >>"$HOME/canary"'
try home-new 'echo x >"$HOME/new"'
try home-empty 'truncate -s 0 "$HOME/canary"'
try home-remove 'rm "$HOME/canary"'
try sibling 'echo x >>"$OUT/canary"'
try sibling-move 'mv "$OUT/canary" moved'
try private 'echo x >.git/evolve/x'
try hooks 'echo x >.git/hooks/pre-commit'
try config 'git config a.b c'
try temporary 'f=$(mktemp) && echo x >"$f"'
try repository 'mkdir -p src && echo x >src/x && mv src/x y && rm y'
try null 'echo x >/dev/null'
try commit 'git add written && git commit -qm work'
echo done >a
"#;

fn written(repo: &TestRepo) -> Vec<String> {
    repo.read("written").lines().map(str::to_owned).collect()
}

fn roams(mode: &str) -> (TestRepo, Vec<String>) {
    let repo = repo();
    repo.agent_does(&[ROAM]);
    let run = repo
        .run(&["--max-cycles=1", &format!("--sandbox={mode}")])
        .expect(0);
    assert_eq!(
        repo.each("result"),
        ["improved"],
        "{}{}",
        run.stdout,
        run.stderr
    );
    println!("{}{}", run.stdout, run.stderr);
    let written = written(&repo);
    (repo, written)
}

#[test]
fn an_agent_under_landlock_writes_only_to_the_repository_and_its_temporary_folder() {
    let (repo, written) = roams("landlock");
    assert_eq!(
        written,
        [
            "private",
            "hooks",
            "config",
            "temporary",
            "repository",
            "null",
            "commit"
        ]
    );
    assert_eq!(
        std::fs::read_to_string(repo.home().join("canary")).unwrap(),
        "mine\n"
    );
}

#[test]
fn an_agent_in_bubblewrap_writes_neither_elsewhere_nor_where_git_and_evolve_obey() {
    let (_, written) = roams("bwrap");
    assert_eq!(written, ["temporary", "repository", "null", "commit"]);
}
