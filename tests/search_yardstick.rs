//! What an attempt puts in front of what measures it: the attempt is none.

use crate::harness::{TestRepo, write_program};

/// A repository in which a number is printed in several ways, each of them by what stands in `x`.
fn with_ways() -> TestRepo {
    let repo = TestRepo::with_number("1");
    for (path, text) in [
        (
            "bench/run.py",
            "import json\nprint(json.dumps(int(open('x').read())))\n",
        ),
        ("score.py", "print(open('x').read().strip())\n"),
        (
            "test_x.py",
            "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertNotIn('bad', open('x').read())\n",
        ),
        ("Makefile", "score:\n\t@cat x\nfine:\n\t@! grep bad x\n"),
        ("checks/10.sh", "! grep bad x || exit 1\n"),
        ("lib/own.py", "\n"),
        ("pack/__init__.py", "\n"),
        ("pack/__main__.py", "print(open('x').read().strip())\n"),
        ("bin/.keep", ""),
    ] {
        repo.write(path, text);
    }
    repo.commit_all("ways to a number");
    repo
}

/// What an attempt of everything came to that does this, and why.
fn tried(repo: &TestRepo, words: &[&str], script: &str) -> (String, String) {
    repo.attempts(&[script]);
    let agent = format!("--agent={}", repo.agent());
    let all = [&["search", "--files=**", "--max-attempts=1", &agent], words].concat();
    repo.evolve(&all).expect(0);
    let shown = repo.evolve(&["search", "show", "1"]).stdout;
    let why = shown.lines().find_map(|line| line.strip_prefix("why "));
    let found = (
        repo.endings().remove(0),
        why.unwrap_or_default().trim().to_owned(),
    );
    repo.evolve(&["search", "discard"]).expect(0);
    found
}

const TESTS: &str = "--gate=python3 -m unittest -q";

#[test]
fn an_attempt_is_invalid_that_puts_something_in_front_of_what_measures_it() {
    let repo = with_ways();
    let ends = "echo 'raise SystemExit(0)'";
    for (words, script, why) in [
        (
            &["cat x", TESTS][..],
            format!("echo 99 >x; {ends} >unittest.py"),
            "unittest.py would be taken in place of Python's own module",
        ),
        (
            &["cat x", TESTS],
            format!("echo 99 >x; mkdir unittest; {ends} >unittest/__init__.py"),
            "unittest would be taken in place of Python's own module",
        ),
        (
            &["python3 bench/run.py"],
            "echo 'def dumps(x): return 99' >bench/json.py".to_owned(),
            "bench/json.py would be taken in place of Python's own module",
        ),
        // What was renamed is new where it is now.
        (
            &["python3 bench/run.py"],
            "echo 'def dumps(x): return 99' >lib/__init__.py; mv lib bench/json".to_owned(),
            "bench/json would be taken in place of Python's own module",
        ),
        (
            &["python3 -m score"],
            "mkdir score; echo 'print(99)' >score/__main__.py; echo 'print(99)' >score/__init__.py"
                .to_owned(),
            "score/__init__.py would be taken in place of score.py",
        ),
        (
            &["cat x", "--gate=make -s fine"],
            "echo 99 >x; touch fine".to_owned(),
            "fine is new, so that make takes the target of that name in Makefile for done",
        ),
        (
            &["PATH=bin:$PATH; cat x"],
            "printf '#!/bin/sh\\necho 99\\n' >bin/cat; chmod +x bin/cat".to_owned(),
            "bin/cat would be taken in place of cat",
        ),
        (
            &["cat x", "--gate=for f in checks/*.sh; do . ./$f; done"],
            "echo 99 >x; echo exit 0 >checks/00.sh".to_owned(),
            "checks/00.sh changed",
        ),
    ] {
        let (ending, told) = tried(&repo, words, &script);
        assert_eq!(ending, "invalid", "{words:?}: {told}");
        assert!(
            told.starts_with(&format!("goalposts moved: {why}")),
            "{words:?}: {told}"
        );
    }
}

#[test]
fn what_comes_beside_what_measures_and_in_front_of_nothing_counts() {
    let repo = with_ways();
    for (words, script) in [
        (&["cat x", TESTS][..], "echo 99 >x; echo >more.py"),
        // A package may begin, with nothing in it.
        (
            &["python3 -m bench.run"],
            "echo 99 >x; : >bench/__init__.py",
        ),
        (&["cat x", "--gate=make -s fine"], "echo 99 >x; echo >fined"),
        (&["PATH=bin:$PATH; cat x"], "echo 99 >x; echo >bin/other"),
    ] {
        let found = tried(&repo, words, script);
        assert_eq!(found.0, "accepted 99", "{words:?}: {}", found.1);
    }
}

#[test]
fn a_package_that_measures_does_not_give_way_to_a_module_of_its_name() {
    let repo = with_ways();
    let script = "rm pack/__init__.py; echo 'print(99)' >pack.py";
    let (ending, told) = tried(&repo, &["python3 -m pack"], script);
    assert_eq!(ending, "equal 1", "{told}");
}

#[test]
fn what_a_change_has_prepare_put_in_front_makes_the_attempt_invalid_too() {
    let repo = with_ways();
    repo.write("Makefile", "ready:\n\t@true\n");
    repo.commit_all("what makes ready");
    let script = "echo 99 >x; printf 'ready:\\n\\techo raise SystemExit >unittest.py\\n' >Makefile; echo unittest.py >>.gitignore; echo {} >package.json";
    let words = ["cat x", TESTS, "--prepare=make -s ready"];
    let (ending, told) = tried(&repo, &words, script);
    assert_eq!(ending, "invalid", "{told}");
    assert!(told.contains("unittest.py would be taken"), "{told}");
}

#[test]
fn a_program_put_in_front_of_the_one_that_measures_makes_an_attempt_invalid() {
    let mut repo = with_ways();
    let late = repo.outside().join("late");
    std::fs::create_dir_all(&late).unwrap();
    write_program(&late.join("judge"), "#!/bin/sh\ncat x\n");
    let path = std::env::var("PATH").unwrap();
    let path = format!("bin:{}:{path}", late.display());
    repo.env.push(("PATH".to_owned(), path));
    let script = "printf '#!/bin/sh\\necho 99\\n' >bin/judge; chmod +x bin/judge";
    let (ending, told) = tried(&repo, &["judge"], script);
    assert_eq!(ending, "invalid", "{told}");
    assert!(
        told.starts_with("goalposts moved: judge is bin/judge now and was /"),
        "{told}"
    );
}

#[test]
fn what_comes_in_front_counts_where_files_names_it_and_the_start_says_so() {
    let repo = with_ways();
    repo.attempts(&["echo 'def dumps(x): return 99' >bench/json.py"]);
    let agent = format!("--agent={}", repo.agent());
    let words = ["search", "python3 bench/run.py", "--max-attempts=1", &agent];
    let named = [&words[..], &["--files=x", "--files=bench/json.py"]].concat();
    let run = repo.evolve(&named).expect(0);
    let warned = "bench/json.py would come in front of what the number is measured with, and --files names it";
    assert!(run.stderr.contains(warned), "{run:?}");
    assert_eq!(repo.endings(), ["accepted 99"]);
    repo.evolve(&["search", "apply"]).expect(0);
    assert_eq!(repo.read("bench/json.py"), "def dumps(x): return 99\n");
}

#[test]
fn what_comes_in_front_of_the_hold_out_refutes_an_attempt_and_no_agent_is_told() {
    let repo = with_ways();
    repo.attempts(&[
        "echo 2 >x; echo 'def dumps(x): return 99' >bench/json.py",
        "echo 3 >x",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let words = ["search", "cat x", "--files=**", "--max-attempts=2", &agent];
    let all = [&words[..], &["--holdout=python3 bench/run.py"]].concat();
    repo.evolve(&all).expect(0);
    assert_eq!(repo.endings(), ["refuted 2", "accepted 3"]);
    assert!(!repo.brief(2).contains("goalposts"));
}

#[test]
fn an_attempt_that_would_come_in_front_of_what_measures_the_branch_is_not_applied() {
    let repo = with_ways();
    repo.attempts(&["echo 2 >x; echo 'def dumps(x): return 99' >bench/json.py"]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        "search",
        "sh score.sh",
        "--files=x",
        "--files=bench/*",
        "--max-attempts=1",
        &agent,
    ];
    repo.evolve(&words).expect(0);
    assert_eq!(repo.endings(), ["accepted 2"]);
    repo.write("score.sh", "python3 bench/run.py\n");
    repo.commit_all("measured otherwise");
    let head = repo.head();
    let run = repo.evolve(&["search", "apply"]).expect(3);
    assert!(
        run.stderr
            .contains("attempt 1: goalposts moved: bench/json.py would be taken"),
        "{run:?}"
    );
    assert_eq!(repo.head(), head);
}

#[test]
fn what_came_in_front_is_told_to_the_next_agent() {
    let repo = with_ways();
    repo.attempts(&["echo 99 >x; echo >unittest.py", "echo 3 >x"]);
    repo.search(&["--files=*", TESTS, "--max-attempts=2"])
        .expect(0);
    assert_eq!(repo.endings(), ["invalid", "accepted 3"]);
    let brief = repo.brief(2);
    assert!(brief.contains("unittest.py would be taken"), "{brief}");
}

#[test]
fn what_makes_the_copies_ready_is_frozen() {
    let repo = with_ways();
    repo.write("ready.sh", "true\n");
    repo.commit_all("what makes ready");
    let script = "echo 2 >x; echo 'echo echo 99 >score.sh' >ready.sh";
    let words = ["sh score.sh", "--prepare=sh ready.sh"];
    assert_eq!(tried(&repo, &words, script).0, "accepted 2");
}

#[test]
fn what_an_attempt_changes_that_its_measuring_leans_on_is_told() {
    let repo = with_ways();
    repo.attempts(&[
        "echo 2 >x",
        "echo 3 >x; printf 'score:\\n\\t@echo 4\\n' >Makefile; rm test_x.py; echo >test_y.py",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let words = ["search", "make -s score", "--files=**", &agent];
    let gate = "--gate=python3 -m unittest -q 2>&1 || true";
    let run = repo
        .evolve(&[&words[..], &[gate, "--max-attempts=2"]].concat())
        .expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 4"]);
    let told = "changed what the measuring leans on: Makefile, test_x.py (removed)";
    assert!(run.stdout.contains(told), "{run:?}");
    let shown = repo.evolve(&["search", "show", "2"]).expect(0).stdout;
    assert!(shown.contains(told), "{shown}");
    let shown = repo.evolve(&["search", "show", "1"]).expect(0).stdout;
    assert!(!shown.contains("leans on"), "{shown}");
    let page = repo.answer(&["search", "report", "--out=-"]);
    assert!(
        page.contains("Changed what the measuring leans on"),
        "{page}"
    );
    let json = repo.evolve(&["search", "show", "2", "--json"]).expect(0);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["attempt"]["leaned_on"][0], "Makefile", "{json:#}");
}
