//! What a search lends from the checkout and its commands run: whoever comes after a search that was killed finds it as it was, or what
//! it was in the quarantine.

use std::process::Child;

use crate::harness::{TestRepo, wait_until};

/// What the copies are lent, and scores them; it runs what is measured first.
const SCRIPT: &str = "sh x >/dev/null 2>&1; wc -l <x\n";
/// What the agent, or the measured code, writes over it.
const FORGED: &str = "echo 1000\n";
/// The words of the search.
const SEARCH: [&str; 6] = [
    "search",
    "sh tools/score.sh",
    "--files=x",
    "--link=tools",
    "--max-attempts=1",
    "--direction=max",
];

/// A repository whose score is what such a script says.
fn with_lent() -> TestRepo {
    let repo = TestRepo::with_number("1").with_out();
    repo.write(".gitignore", "/tools\n");
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n  - {id: scored, description: a thousand, check: sh tools/score.sh | grep -q 1000, weight: 1}\n",
    );
    repo.commit_all("tools are ignored");
    repo.write("tools/score.sh", SCRIPT);
    repo
}

/// Begins a search whose agent does this at first, and kills it when `$OUT/there` is there.
fn killed(repo: &TestRepo, script: &str) {
    repo.attempts(&[&format!(
        "test -e $OUT/there || {{ {script}; }}; echo true >>x"
    )]);
    let agent = format!("--agent={}", repo.agent());
    let mut search: Child = repo.spawn(&[&SEARCH[..], &[&agent]].concat());
    repo.wait_for("there");
    search.kill().unwrap();
    search.wait().unwrap();
}

/// The agent forges the script, and goes on working.
const AT_WORK: &str = "echo 'echo 1000' >tools/score.sh; touch $OUT/there; sleep 600";
/// The code that it leaves does so, as long as it is measured.
const MEASURED: &str =
    "echo \"echo 'echo 1000' >tools/score.sh; touch $OUT/there; sleep 600\" >>x; exit 0";

#[test]
fn what_the_measured_code_of_a_killed_search_wrote_over_is_in_the_quarantine_whatever_comes_next() {
    for next in ["resume", "discard", "apply"] {
        let repo = with_lent();
        killed(&repo, MEASURED);
        assert_eq!(repo.read("tools/score.sh"), FORGED);
        let run = repo.evolve(&["search", next]);
        let told = run.stdout + &run.stderr;
        let said = "tools/score.sh, which the commands run and copies are lent, was written while attempts were measured";
        assert!(told.contains(said), "{next}: {told}");
        let kept = repo.quarantined().into_values().map(|(_, bytes)| bytes);
        let mut kept = kept.filter(|bytes| bytes == SCRIPT.as_bytes());
        assert!(kept.next().is_some(), "{next}: {told}");
        assert!(told.contains("/quarantine/"), "{next}: {told}");
    }
}

#[test]
fn copies_of_which_nobody_knows_what_they_are_copies_are_kept() {
    let repo = with_lent();
    killed(&repo, MEASURED);
    let lent = repo.private().join("search/1/lent");
    let session = std::fs::read_dir(&lent).unwrap().next().unwrap().unwrap();
    std::fs::write(session.path().join("list.json"), "{").unwrap();
    let run = repo.evolve(&["search", "discard"]).expect(0);
    let told = run.stdout + &run.stderr;
    assert!(
        told.contains("moved out of the way: search/1/lent"),
        "{told}"
    );
    let kept = repo.quarantined().into_values().map(|(_, bytes)| bytes);
    assert!(kept.into_iter().any(|bytes| bytes == SCRIPT.as_bytes()));
    assert!(!lent.exists());
}

#[test]
fn the_loop_puts_back_first_what_an_agent_of_a_killed_search_made_of_what_is_lent() {
    let repo = with_lent();
    killed(&repo, AT_WORK);
    assert_eq!(repo.read("tools/score.sh"), FORGED);
    let run = repo.evolve(&["measure"]);
    let said = "a search was killed while its agent was at work, and this is as that agent left it, so that no check that runs it is to be believed: tools/score.sh";
    assert!(run.stderr.contains(said), "{run:?}");
    repo.agent_does(&["echo more >>x"]);
    let run = repo.run(&["--max-cycles=1"]);
    let told = run.stdout + &run.stderr;
    assert_eq!(repo.read("tools/score.sh"), SCRIPT, "{told}");
    let said = "tools/score.sh, which the commands run and copies are lent, was changed while an agent was at work, and is put back";
    assert!(told.contains(said), "{told}");
    assert_eq!(repo.newest()["newly_passing"], serde_json::json!([]));
    assert!(!repo.private().join("search/1/lent").exists());
    let run = repo.evolve(&["measure"]);
    assert!(!run.stderr.contains("search"), "{run:?}");
}

#[test]
fn a_loop_beside_a_search_leaves_alone_what_that_lends() {
    let repo = with_lent();
    let waits = "touch $OUT/there; until [ -e $OUT/go ]; do sleep 0.1; done; echo true >>x";
    repo.attempts(&[waits]);
    let agent = format!("--agent={}", repo.agent());
    let search = repo.spawn(&[&SEARCH[..], &[&agent]].concat());
    repo.wait_for("there");
    repo.write("tools/score.sh", FORGED);
    let run = repo.evolve(&["measure"]);
    assert!(!run.stderr.contains("search"), "{run:?}");
    repo.evolve(&["--agent=true", "--max-cycles=1"]);
    assert_eq!(repo.read("tools/score.sh"), FORGED);
    std::fs::write(repo.out("go"), "").unwrap();
    crate::harness::finish(search).expect(0);
    assert_eq!(repo.read("tools/score.sh"), SCRIPT);
    assert_eq!(repo.endings(), ["accepted 2"]);
}

#[test]
fn what_an_agent_puts_into_what_is_lent_in_front_of_what_the_commands_run_is_taken_away_and_named()
{
    let python = "print(len(open('x').readlines()))\n";
    for (fitness, lent, came, with) in [
        (
            "python3 -m tools.score",
            [("tools/score.py", python)].as_slice(),
            "tools/score/__init__.py",
            ": >tools/score/__init__.py; echo 'print(1000)' >tools/score/__main__.py",
        ),
        (
            "PATH=$PWD/tools:$PATH; wc -l <x",
            &[("tools/kept", "")],
            "tools/wc",
            "echo 'echo 1000' >tools/wc; chmod +x tools/wc",
        ),
        (
            "PYTHONPATH=tools python3 run.py",
            &[("tools/kept", "")],
            "tools/sitecustomize.py",
            "echo 'import os; os.write(1, b\"1000\"); os._exit(0)' >tools/sitecustomize.py",
        ),
        (
            "python3 tools/score.py",
            &[
                ("tools/score.py", "import helper\nhelper.say()\n"),
                (
                    "tools/helper.py",
                    "def say(): print(len(open('x').readlines()))\n",
                ),
            ],
            "tools/helper/__init__.py",
            "echo 'def say(): print(1000)' >tools/helper/__init__.py",
        ),
    ] {
        let repo = TestRepo::with_number("1");
        repo.write(".gitignore", "/tools\n");
        repo.write("run.py", python);
        repo.commit_all("tools are ignored");
        lent.iter().for_each(|(file, text)| repo.write(file, text));
        repo.attempts(&[&format!(
            "mkdir -p tools/score tools/helper; {with}; echo true >>x"
        )]);
        let agent = format!("--agent={}", repo.agent());
        let more = [
            "--files=x",
            "--link=tools",
            "--max-attempts=1",
            "--direction=max",
            &agent,
        ];
        let fitness = format!("export PYTHONDONTWRITEBYTECODE=1; {fitness}");
        let run = repo
            .evolve(&[&["search", &fitness][..], &more].concat())
            .expect(0);
        let told = run.stdout + &run.stderr;
        let said = format!(
            "came into what copies are lent while an agent was at work, and is taken away: {came}"
        );
        assert!(told.contains(&said), "{fitness}: {told}");
        assert!(!repo.has(came), "{fitness}");
        assert_eq!(repo.endings(), ["accepted 2"], "{fitness}");
        let name = came.rsplit('/').next().unwrap().as_bytes();
        assert!(repo.quarantined().contains_key(name), "{fitness}");
    }
}

#[test]
fn what_lent_scripts_are_called_by_others_or_imported_is_put_back_after_an_agent() {
    let lines = "wc -l <x\n";
    let helper = "def say(): print(len(open('x').readlines()))\n";
    for (fitness, files, lent, forged) in [
        (
            "sh run.sh",
            [("run.sh", "sh tools/b.sh\n")].as_slice(),
            [("tools/b.sh", lines)].as_slice(),
            "echo 1000",
        ),
        (
            "make -s score",
            &[("Makefile", "score:\n\t@sh tools/b.sh\n")],
            &[("tools/b.sh", lines)],
            "echo 1000",
        ),
        (
            "python3 tools/score.py",
            &[("y", "")],
            &[
                ("tools/helper.py", helper),
                ("tools/score.py", "import helper\nhelper.say()\n"),
            ],
            "def say(): print(1000)",
        ),
    ] {
        let repo = TestRepo::with_number("1");
        repo.write(".gitignore", "/tools\n");
        files.iter().for_each(|(file, text)| repo.write(file, text));
        repo.commit_all("tools are ignored");
        lent.iter().for_each(|(file, text)| repo.write(file, text));
        let (file, text) = lent[0];
        repo.attempts(&[&format!("echo '{forged}' >{file}; echo true >>x")]);
        let agent = format!("--agent={}", repo.agent());
        let more = [
            "--files=x",
            "--link=tools",
            "--max-attempts=1",
            "--direction=max",
            &agent,
        ];
        let fitness = format!("export PYTHONDONTWRITEBYTECODE=1; {fitness}");
        let run = repo
            .evolve(&[&["search", &fitness][..], &more].concat())
            .expect(0);
        let told = run.stdout + &run.stderr;
        assert!(
            told.contains(&format!("{file}, which the commands run")),
            "{fitness}: {told}"
        );
        assert_eq!(repo.read(file), text, "{fitness}");
        assert_eq!(repo.endings(), ["accepted 2"], "{fitness}");
    }
}

#[test]
fn the_loop_puts_back_what_an_agent_of_a_killed_search_put_in_front_of_what_is_lent() {
    let repo = with_lent();
    repo.write("tools/kept", "");
    let forges = "echo 'echo 1000' >tools/wc; chmod +x tools/wc; touch $OUT/there; sleep 600";
    repo.attempts(&[forges]);
    let agent = format!("--agent={}", repo.agent());
    let fitness = "PATH=tools:$PATH; wc -l <x";
    let words = [&["search", fitness][..], &SEARCH[2..], &[&agent]].concat();
    let mut search = repo.spawn(&words);
    repo.wait_for("there");
    search.kill().unwrap();
    search.wait().unwrap();
    let run = repo.evolve(&["measure"]);
    assert!(run.stderr.contains("to be believed: tools/wc"), "{run:?}");
    let run = repo.evolve(&["--agent=true", "--max-cycles=1"]);
    assert!(run.stderr.contains("is taken away: tools/wc"), "{run:?}");
    assert!(!repo.has("tools/wc"));
}

/// A repository in which a script is built into a lent folder, by a note of what it was built from.
fn with_build(note: &str) -> TestRepo {
    let repo = TestRepo::with_number("1");
    repo.write(".gitignore", "/out\n/cache\n");
    repo.write(
        "build.sh",
        &format!("cmp -s x {note} || {{ echo \"echo $(cat x)\" >out/score.sh; cp x {note}; }}\n"),
    );
    repo.commit_all("a build");
    repo
}

/// Searches it with these attempts, and these folders lent.
fn search_build(repo: &TestRepo, links: &[&str], attempts: &[&str]) -> String {
    repo.attempts(attempts);
    let agent = format!("--agent={}", repo.agent());
    let most = format!("--max-attempts={}", attempts.len());
    let fitness = "sh build.sh && { test -e nowhere && node out/score.js; sh out/score.sh; }";
    let words = ["search", fitness, "--files=x", "--direction=max"];
    let run = repo
        .evolve(&[&words[..], links, &[&most, &agent]].concat())
        .expect(0);
    run.stdout + &run.stderr
}

#[test]
fn an_attempt_is_measured_by_its_own_build_also_where_its_agent_built_and_builds_go_by_notes() {
    for is_built in [true, false] {
        let repo = with_build("out/of");
        repo.write("out/kept", "");
        if is_built {
            repo.write("out/score.sh", "echo 1\n");
            repo.write("out/of", &repo.read("x"));
            // Node would look for more in a folder of that name.
            repo.write("out/score.js", "");
        }
        let told = search_build(
            &repo,
            &["--link=out"],
            &[
                "echo 2 >x; sh build.sh",
                "echo 3 >x; sh build.sh; echo 9 >x; sh build.sh; echo 3 >x",
                "echo 4 >x; sh build.sh; echo 'echo 1000' >out/score.sh; echo more >out/new",
            ],
        );
        let accepted = ["accepted 2", "accepted 3", "accepted 4"];
        assert_eq!(repo.endings(), accepted, "{is_built}: {told}");
        assert!(
            told.contains("what else changed in out meanwhile"),
            "{told}"
        );
        assert!(!repo.has("out/new"), "{told}");
        // Whatever was measured last.
        let built = format!("echo {}", repo.read("out/of"));
        assert_eq!(repo.read("out/score.sh"), built, "{told}");
        assert!(repo.quarantined().contains_key(&b"new"[..]));
    }
}

#[test]
fn what_a_running_program_of_the_users_has_open_stays_where_it_is_with_what_is_put_back_around_it()
{
    let repo = with_build("out/of");
    repo.write("out/score.sh", "echo 1\n");
    repo.write("out/of", &repo.read("x"));
    repo.write("out/log", "one\n");
    repo.write("out/rows", "one\n");
    let mut program = repo.command("sh");
    program.args(["-c", "exec 3>>out/log 4<>out/rows 5>out/new; touch open; until test -e begun; do sleep 0.02; done
echo two >&3; echo TWO >&4; echo more >&5; touch done; exec sleep 600"]);
    let mut program = program.spawn().unwrap();
    wait_until("the program has its files open", || {
        repo.path("open").exists()
    });
    let here = repo.root().display().to_string();
    let waits = format!("touch {here}/begun; until test -e {here}/done; do sleep 0.02; done");
    let told = search_build(
        &repo,
        &["--link=out"],
        &[&format!("{waits}; echo 2 >x; sh build.sh")],
    );
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(repo.endings(), ["accepted 2"], "{told}");
    let now = ["out/log", "out/rows", "out/new"].map(|name| repo.read(name));
    assert_eq!(now, ["one\ntwo\n", "TWO\n", "more\n"], "{told}");
    let moved = repo.quarantined();
    assert!(!moved.contains_key(&b"new"[..]) && !moved.contains_key(&b"log"[..]));
    assert_eq!(moved[&b"rows"[..]].1, b"one\n");
}

#[test]
fn so_it_is_where_the_notes_lie_in_another_lent_folder() {
    let repo = with_build("cache/of");
    repo.write("out/score.sh", "echo 1\n");
    repo.write("cache/of", &repo.read("x"));
    let attempts = ["echo 2 >x; sh build.sh", "echo 3 >x; sh build.sh"];
    let told = search_build(&repo, &["--link=out", "--link=cache"], &attempts);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"], "{told}");
}

#[test]
fn a_lent_folder_that_is_too_full_to_be_copied_is_named_where_an_agent_built_in_it() {
    let repo = with_build("out/of");
    (0..600).for_each(|number| repo.write(&format!("out/{number}"), ""));
    repo.write("out/score.sh", "echo 1\n");
    repo.write("out/of", &repo.read("x"));
    let told = search_build(&repo, &["--link=out"], &["echo 2 >x; sh build.sh"]);
    assert!(told.contains("out holds more than is copied"), "{told}");
    assert!(repo.has("out/599"));
}

#[test]
fn an_agent_that_writes_to_a_lent_program_without_a_copy_ends_the_search() {
    let large = format!("wc -l <x\nexit\n{}", "#".repeat(11 << 20));
    let repo = with_lent();
    repo.write("tools/score.sh", &large);
    repo.attempts(&[
        "echo true >>x",
        "echo true >>x; echo 'echo 1000' >tools/score.sh",
    ]);
    let agent = format!("--agent={}", repo.agent());
    let words = [
        &SEARCH[..4],
        &["--max-attempts=2", "--direction=max", &agent],
    ]
    .concat();
    let run = repo.evolve(&words).expect(3);
    let warned = "have no copy, as they are too large or cannot be read; where an agent writes to one, the search ends: tools/score.sh";
    assert!(run.stderr.contains(warned), "{run:?}");
    let said = "tools/score.sh, which the commands run and copies are lent, was written to while an agent was at work, and it has no copy";
    assert!(run.stderr.contains(said), "{run:?}");
    assert_eq!(repo.endings(), ["accepted 2"]);
    let run = repo.resume().expect(3);
    assert!(
        run.stderr.contains("put it back as it was, remove "),
        "{run:?}"
    );
    repo.write("tools/score.sh", &large);
    std::fs::remove_dir_all(repo.private().join("search/1/lent")).unwrap();
    repo.attempts(&["echo true >>x"]);
    repo.resume().expect(0);
    assert_eq!(repo.endings(), ["accepted 2", "accepted 3"]);
}

#[test]
fn nothing_is_taken_away_from_behind_a_link_that_an_agent_put_into_what_is_lent() {
    for (place, file) in [("tools/helper", "__init__.py"), ("tools/sub", "part.sh")] {
        let repo = TestRepo::with_number("1").with_out();
        repo.write(".gitignore", "/tools\n");
        repo.commit_all("tools are ignored");
        repo.write(
            "tools/score.py",
            "import helper, subprocess\nsubprocess.run(['sh', 'tools/sub/part.sh'])\n",
        );
        repo.write("tools/helper.py", "print(len(open('x').readlines()))\n");
        std::fs::create_dir_all(repo.out("mine")).unwrap();
        std::fs::write(repo.out("mine").join(file), "print(1000)\n").unwrap();
        let line = format!("ln -s $OUT/mine {place}; echo true >>x");
        repo.attempts(&[&line]);
        let agent = format!("--agent={}", repo.agent());
        let fitness = "test -e tools/sub/part.sh && sh tools/sub/part.sh; PYTHONDONTWRITEBYTECODE=1 python3 tools/score.py";
        let more = ["--files=x", "--link=tools", "--max-attempts=1", &agent];
        let run = repo
            .evolve(&[&["search", fitness][..], &more].concat())
            .expect(3);
        assert!(
            run.stderr.contains("link") || run.stderr.contains("the way to it"),
            "{run:?}"
        );
        assert!(repo.out("mine").join(file).is_file(), "{place}: {run:?}");
    }
}
