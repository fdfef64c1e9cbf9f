//! What code that checks run makes of the git of the copy in which they run.

use std::fs;

use crate::harness::TestRepo;

/// Code that has git in a copy lead into the user's own repository, and goes on with `then`.
fn leads_home(then: &str) -> String {
    format!("case $PWD in \"$HERE\") ;; *) rm -rf .git; ln -s \"$HERE/.git\" .git; {then};; esac\n")
}

/// A repository in which `app` is to be mended, and `two` is not to be broken.
fn repository(settings: &str, code: &str) -> TestRepo {
    let mut repo = TestRepo::empty();
    repo.write("app.txt", "bad\n");
    repo.write("two.txt", "fine\n");
    repo.write("app.sh", code);
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1
evolve: {{jobs: 1, product: [app.sh]{settings}}}
goals:
  - {{id: app, description: d, check: sh app.sh && grep -q good app.txt, weight: 9}}
  - {{id: two, description: d, check: grep -q fine two.txt, weight: 3}}
"
        ),
    );
    repo.commit_all("first");
    let here = repo.root().to_string_lossy().into_owned();
    repo.env.push(("HERE".to_owned(), here));
    repo.write("staged.txt", "staged\n");
    repo.git(&["add", "staged.txt"]);
    repo.git(&["config", "user.nickname", "mine"]);
    repo
}

/// What git has of the user's, beside the ledger.
fn of_user(repo: &TestRepo) -> [String; 2] {
    [
        repo.git(&["ls-files", "--stage", "--", ":!.agents"]),
        repo.read(".git/config"),
    ]
}

#[test]
fn git_in_a_copy_that_the_measured_code_leads_into_the_users_repository_writes_nothing_there() {
    for settings in ["", ", measure: clean"] {
        for then in [":", "touch \"$HOME/.config/evolve/KILL\"; exec sleep 600"] {
            let case = format!("{settings} {then}");
            let repo = repository(settings, ":\n");
            fs::create_dir_all(repo.kill_file().parent().unwrap()).unwrap();
            let code = repo.outside().join("code");
            fs::write(&code, leads_home(then)).unwrap();
            repo.agent_does(&[&format!(
                "echo good >app.txt; echo broken >two.txt; cp '{}' app.sh",
                code.display()
            )]);
            let (before, head) = (of_user(&repo), repo.git(&["rev-parse", "HEAD"]));
            let run = repo.run(&["--isolate", "--max-cycles=1"]);
            assert_ne!(run.code, 1, "{case}: {}", run.stderr);
            assert_eq!(before, of_user(&repo), "{case}");
            let result = if then == ":" {
                "regressed"
            } else {
                "interrupted"
            };
            assert_eq!(repo.each("result"), [result], "{case}");
            assert_eq!(repo.git(&["show", "HEAD:two.txt"]), "fine", "{case}");
            let moves = repo.git(&["log", "--format=%s", &format!("{head}..main")]);
            assert!(
                moves.lines().all(|line| line.starts_with("evolve: ")),
                "{case}: {moves}"
            );
        }
    }
}

#[test]
fn an_audit_measures_again_what_leads_git_into_the_users_repository_and_writes_nothing_there() {
    let repo = repository(
        "",
        &leads_home("echo more >>two.txt; test ! -e \"$HERE/off\" || exit 1"),
    );
    repo.agent_does(&["echo good >app.txt"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
    repo.write("off", "");
    let before = of_user(&repo);
    let told = repo.evolve(&["audit", "--remeasure=5"]);
    assert_eq!(before, of_user(&repo), "{}", told.stdout);
    assert_eq!(told.code, 10, "{} {}", told.stdout, told.stderr);
}

#[test]
fn no_log_of_the_users_refs_is_written_to_through_a_second_name_in_a_copy() {
    let repo = repository("", ":\n");
    let code = repo.outside().join("code");
    let links = "case $PWD in \"$HERE\") ;; *) rm -rf .git/logs; mkdir -p .git/logs/refs/heads; ln \"$HERE/.git/logs/HEAD\" .git/logs/HEAD; ln \"$HERE/.git/logs/refs/heads/main\" .git/logs/refs/heads/main; git -c user.name=n -c user.email=n commit -q --allow-empty -m x;; esac\n";
    fs::write(&code, links).unwrap();
    repo.agent_does(&[&format!(
        "echo good >app.txt; cp '{}' app.sh",
        code.display()
    )]);
    repo.run(&["--isolate", "--max-cycles=1"]);
    for log in ["HEAD", "refs/heads/main"] {
        let log = repo.read(&format!(".git/logs/{log}"));
        assert!(!log.contains("as it was before checks ran"), "{log}");
    }
}
