//! What copies are lent from the checkout, and what an install command that runs in a copy makes of it: it takes a link away and puts a
//! folder in its place, and may empty first what the link leads to.

use std::fs;

use crate::harness::TestRepo;

/// A repository that lends its copies a folder of packages, one of which is run by a check.
fn with_packages(check: &str, settings: &str) -> TestRepo {
    let repo = TestRepo::empty();
    repo.write(".gitignore", "node_modules/\nset/\n");
    repo.write("app.js", "bad\n");
    repo.write(
        "GOALS.yaml",
        &format!("version: 1\nevolve: {{link: [node_modules, set]{settings}}}\ngoals:\n  - {{id: lint, description: d, check: {check}, weight: 9}}\n"),
    );
    repo.commit_all("first");
    for (file, text) in [
        ("node_modules/lint/lint.sh", "grep -q good app.js\n"),
        ("node_modules/one/index.js", "1\n"),
        ("node_modules/two/index.js", "2\n"),
        ("set/mine", "mine\n"),
    ] {
        repo.write(file, text);
    }
    repo
}

/// What `npm install` does where `node_modules` is a link.
const INSTALL: &str = "cp -r node_modules/. new; rm node_modules; mv new node_modules; touch node_modules/.package-lock.json";
/// What `npm ci` does there.
const CLEAN_INSTALL: &str =
    "cp -r node_modules/. new; rm -r node_modules/*; rm node_modules; mv new node_modules";

fn notes(repo: &TestRepo) -> String {
    repo.newest()["notes"].to_string()
}

#[test]
fn a_fix_of_an_agent_that_installed_in_its_copy_is_kept_and_measured_with_what_is_lent() {
    for check in [
        "sh node_modules/lint/lint.sh",
        "grep -q good app.js && test ! -e node_modules/.package-lock.json",
    ] {
        for settings in ["", ", measure: clean"] {
            let repo = with_packages(check, settings);
            repo.agent_does(&[&format!("echo good >app.js; {INSTALL}")]);
            repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
            let case = format!("{check} {settings}: {:?}", repo.each("reason"));
            assert_eq!(repo.each("result"), ["improved"], "{case}");
            let told = "lent again by your checkout before the goals were measured: node_modules; an install command does that";
            assert!(notes(&repo).contains(told), "{case}: {}", notes(&repo));
            assert!(repo.has("node_modules/one/index.js"), "{case}");
            assert!(!repo.has("node_modules/.package-lock.json"), "{case}");
            assert!(repo.quarantined().is_empty(), "{case}");
        }
    }
}

#[test]
fn an_agents_own_version_of_what_a_check_runs_in_the_place_of_a_link_meets_no_goal() {
    for does in [
        "rm node_modules; mkdir -p node_modules/lint; echo true >node_modules/lint/lint.sh",
        "rm node_modules; mkdir -p x.ign/lint; echo true >x.ign/lint/lint.sh; ln -s x.ign node_modules",
    ] {
        let repo = with_packages("sh node_modules/lint/lint.sh", "");
        repo.agent_does(&[&format!("echo more >>app.js; {does}")]);
        repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
        assert_ne!(repo.each("result"), ["improved"], "{does}");
    }
    // A folder that no command installs into.
    let repo = with_packages("sh set/check.sh", "");
    repo.write("set/check.sh", "grep -q good app.js\n");
    repo.agent_does(&["echo good >app.js; rm set; mkdir set; echo true >set/check.sh"]);
    repo.run(&["--isolate", "--max-cycles=1"]).expect(0);
    assert_eq!(
        repo.each("reason"),
        ["goalposts moved: set changed, and no check builds it"]
    );
    assert!(notes(&repo).contains("let the copy have its own"));
}

#[test]
fn what_the_checkout_loses_of_what_it_lends_while_an_agent_runs_is_told_and_ends_the_session() {
    for settings in ["", ", measure: clean"] {
        let repo = with_packages("grep -q good app.js", settings);
        repo.agent_does(&[
            &format!("echo good >app.js; {CLEAN_INSTALL}; mv $(readlink set)/mine set.mine; rm set; mkdir set; mv set.mine set/mine"),
            "exit 1",
        ]);
        let run = repo.run(&["--isolate", "--max-cycles=2"]).expect(11);
        let told = "while the agent ran, your checkout lost what copies are lent of it: node_modules (3 of 3 entries), set (1 of 1 entries); an install command does that";
        assert!(notes(&repo).contains(told), "{}", notes(&repo));
        assert!(
            run.stderr.contains(told) || run.stdout.contains(told),
            "{}",
            run.stderr
        );
        assert_eq!(repo.calls(), 1);
        // It may have come from the checkout.
        assert_eq!(repo.quarantined()[b"mine".as_slice()].1, b"mine\n");
    }
}

#[test]
fn what_the_checkout_loses_of_what_it_lends_while_goals_are_measured_is_told() {
    let check = format!("'{CLEAN_INSTALL}; grep -q good app.js'");
    let places: [(&[&str], &str); 2] = [(&["--isolate"], ""), (&[], ", measure: clean")];
    for (flags, settings) in places {
        let repo = with_packages(&check, settings);
        repo.agent_does(&["echo good >app.js"]);
        let run = repo.run(&[flags, &["--max-cycles=1"]].concat()).expect(0);
        let told = "while goals were measured, your checkout lost what copies are lent of it: node_modules (3 of 3 entries)";
        assert!(run.stderr.contains(told), "{}", run.stderr);
        assert!(notes(&repo).contains(told), "{}", notes(&repo));
        assert_eq!(repo.each("result"), ["improved"]);
        assert_eq!(fs::read_dir(repo.path("node_modules")).unwrap().count(), 0);
    }
}

#[test]
fn what_the_checkout_loses_while_a_search_is_at_work_is_told() {
    let repo = TestRepo::empty();
    repo.write(".gitignore", "node_modules/\n");
    repo.write("number", "1\n");
    repo.commit_all("first");
    repo.write("node_modules/one/index.js", "1\n");
    repo.agent_does(&["echo 2 >number; rm -r node_modules/*"]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        "cat number",
        "--files=number",
        "--link=node_modules",
        "--max-attempts=1",
        &agent,
    ];
    let run = repo.evolve(&words).expect(0);
    let told = "while attempts were worked on, your checkout lost what copies are lent of it: node_modules (1 of 1 entries)";
    assert!(run.stderr.contains(told), "{}\n{}", run.stdout, run.stderr);
}
