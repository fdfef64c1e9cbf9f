//! What CI systems make of it: a JUnit report, annotations, groups and a summary on GitHub, and what the README sets up.

use std::fs;

use crate::harness::{Run, TestRepo};

const GOALS: &str = "  - {id: docs, description: d, check: 'true', weight: 5}\n  - {id: lint, description: d, check: 'echo a::b; false', weight: 3}\n";

#[test]
fn a_measurement_is_a_junit_report_wherever_it_is_asked_for() {
    let repo = TestRepo::with_goals(GOALS);
    repo.evolve(&["measure", "--junit", "out/report.xml"])
        .expect(0);
    let text = repo.read("out/report.xml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let cases = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"));
    let names: Vec<_> = cases.map(|case| case.attribute("name").unwrap()).collect();
    assert_eq!(names, ["docs", "lint"]);
    let failure = document
        .descendants()
        .find(|node| node.has_tag_name("failure"))
        .unwrap();
    assert_eq!(failure.attribute("message"), Some("exit 1"));
    // A session writes what counts at its end, outside of the repository here.
    let report = repo.out("report.xml");
    repo.agent_does(&["exit 0"]);
    let option = format!("--junit={}", report.display());
    repo.run(&["--max-cycles=1", &option]).expect(0);
    assert!(
        fs::read_to_string(report)
            .unwrap()
            .contains("name=\"lint\"")
    );
}

#[test]
fn a_report_goes_to_stdout_where_nothing_else_does() {
    let repo = TestRepo::with_goals(GOALS);
    repo.agent_does(&["exit 0"]);
    let github = [("GITHUB_ACTIONS", "true")];
    let agent = format!("--agent={}", repo.agent());
    for arguments in [
        &["measure", "-q", "--junit=-"][..],
        &["-q", "--dry-run", "--junit", "-"],
        &["-q", "--junit", "-", "--max-cycles=1", &agent],
    ] {
        let run = repo.evolve_with(&github, arguments).expect(0);
        let document = roxmltree::Document::parse(&run.stdout);
        assert!(document.is_ok(), "{arguments:?} {}", run.stdout);
    }
    for (arguments, why) in [
        (&["measure", "--junit", "-"][..], "`-q` keeps them off"),
        (&["--dry-run", "--junit", "-"], "`-q` keeps them off"),
        (
            &["measure", "-q", "--json", "--junit", "-"],
            "and --json would both",
        ),
        (
            &["--junit", "-", "--max-cycles=1", &agent],
            "`-q` keeps them off",
        ),
    ] {
        let run = repo.evolve(arguments).expect(2);
        assert!(run.stderr.contains(why), "{arguments:?} {}", run.stderr);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
    assert!(!repo.has("-"));
}

#[test]
fn where_a_report_is_asked_for_by_a_name_of_stdout_nothing_is_written_over() {
    let repo = TestRepo::with_goals(GOALS);
    let log = repo.out("out.log");
    let page = |script: &str| {
        let script = format!("(echo before; {script}; echo after) >{}", log.display());
        let mut shell = repo.command("sh");
        let ran = crate::harness::output(shell.arg("-c").arg(script).arg(repo.program()));
        let (stdout, stderr) = (fs::read_to_string(&log).unwrap(), ran.stderr);
        (stdout, String::from_utf8(stderr).unwrap())
    };
    for place in [
        "/dev/stdout",
        "/dev/fd/1",
        "/proc/self/fd/1",
        log.to_str().unwrap(),
    ] {
        let (said, _) = page(&format!("$0 measure -q --junit {place}"));
        let report = said
            .strip_prefix("before\n")
            .expect("what was written stays");
        let report = report.strip_suffix("after\n").expect("and what comes");
        assert!(
            roxmltree::Document::parse(report).is_ok(),
            "{place}: {said}"
        );
        let (said, why) = page(&format!("$0 measure --junit {place}"));
        assert_eq!(said, "before\nafter\n", "{place}: {why}");
        assert!(why.contains("`-q` keeps them off"), "{place}: {why}");
        let (said, _) = page(&format!("$0 report --out {place}"));
        assert!(
            said.starts_with("before\n<!DOCTYPE html>"),
            "{place}: {said}"
        );
        assert!(said.ends_with("after\n"), "{place}");
    }
    let elsewhere = repo.out("err.log").display().to_string();
    for (words, place) in [
        (
            format!("measure -q --junit /dev/stderr 2>{elsewhere}"),
            "stderr",
        ),
        (format!("report --out {elsewhere} 2>{elsewhere}"), "stderr"),
        (
            format!("report --out /dev/fd/5 5>{elsewhere}"),
            "descriptor 5",
        ),
        (
            format!(
                "man --out {0}/man >{0}/man/evolve.1",
                repo.out("").display()
            ),
            "stdout",
        ),
    ] {
        fs::create_dir_all(repo.out("man")).unwrap();
        let (said, why) = page(&format!("$0 {words}"));
        let why = why + &fs::read_to_string(&elsewhere).unwrap_or_default();
        assert!(
            said == "before\nafter\n" && why.contains(&format!("written over: {place} goes there")),
            "{words}: {said}{why}"
        );
    }
    let (_, why) = page("$0 measure --junit /dev/null >/dev/null && echo fine >&2");
    assert_eq!(why, "fine\n");
}

#[test]
fn what_is_wrong_with_the_goals_file_is_annotated_where_it_stands() {
    let repo = TestRepo::with_goals(GOALS);
    repo.write("GOALS.yaml", &(repo.read("GOALS.yaml") + "colour: blue\n"));
    repo.commit_all("wrong");
    repo.agent_does(&["exit 0"]);
    let line = repo.read("GOALS.yaml").lines().count();
    let agent = format!("--agent={}", repo.agent());
    let root = repo.root().display().to_string();
    let above = repo.root().parent().unwrap().display().to_string();
    let name = root.strip_prefix(&above).unwrap().trim_start_matches('/');
    for arguments in [
        &["measure"][..],
        &["measure", "--json"],
        &["validate"],
        &["--max-cycles=1", &agent],
    ] {
        for (workspace, file) in [
            (&root, "GOALS.yaml".to_owned()),
            (&above, format!("{name}/GOALS.yaml")),
        ] {
            let env = [("GITHUB_ACTIONS", "true"), ("GITHUB_WORKSPACE", workspace)];
            let run = repo.evolve_with(&env, arguments).expect(2);
            let expected = format!("::error file={file},line={line},col=1::unknown key \"colour\"");
            assert!(
                run.stderr.starts_with(&expected),
                "{arguments:?} {}",
                run.stderr
            );
            assert_eq!(run.stderr.matches("::error").count(), 1, "{}", run.stderr);
        }
        let run = repo.evolve(arguments).expect(2);
        assert!(!run.stderr.contains("::error"), "{}", run.stderr);
    }
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let repo = TestRepo::with_goals(
        "  - {id: run, description: d, check: 'touch \"$OUT/has-run\"', weight: 5}\n",
    )
    .with_out();
    repo.write("file", "no folder\n");
    for place in ["/proc/none/report.xml", "file/report.xml", "."] {
        let option = format!("--junit={place}");
        for command in [&["measure", &option][..], &[&option, "--dry-run"]] {
            let refused = repo.evolve(command);
            assert_ne!(refused.code, 0, "{place}");
            assert!(
                refused.stderr.contains("error: cannot write "),
                "{place}: {}",
                refused.stderr
            );
            assert!(!repo.out("has-run").exists(), "{place}");
        }
    }
}

#[test]
fn a_loop_whose_report_or_summary_cannot_be_written_ends_as_it_ended() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.agent_does(&["touch a; rm -r \"$OUT/reports\"; : >\"$OUT/reports\""]);
    std::fs::create_dir(repo.out("reports")).unwrap();
    let junit = format!("--junit={}", repo.out("reports/a.xml").display());
    let agent = format!("--agent={}", repo.agent());
    let env = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", "/proc/none/summary"),
    ];
    let run = repo.evolve_with(&env, &[&agent, "--max-cycles=1", &junit]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    for path in ["reports", "/proc/none/summary"] {
        let warns = |line: &str| line.starts_with("warning: cannot ") && line.contains(path);
        assert!(run.stderr.lines().any(warns), "{path}: {}", run.stderr);
    }
    // Where a job has no place for its summary, what was measured counts all the same.
    let run = repo.evolve_with(&env, &["measure"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("warning: cannot "), "{}", run.stderr);
}

/// Returns the one case that is no goal: what it is, with its message.
fn own_case(report: &std::path::Path) -> (String, String) {
    let text = fs::read_to_string(report).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let mut cases = document
        .descendants()
        .filter(|node| node.attribute("classname") == Some("evolve"));
    let case = cases.next().unwrap();
    assert!(cases.next().is_none(), "{text}");
    let status = case.children().find(|node| node.is_element()).unwrap();
    let kind = status.attribute("type").unwrap_or_default();
    let message = status.attribute("message").unwrap_or_default();
    (
        format!("{} {kind}", status.tag_name().name()),
        message.to_owned(),
    )
}

#[test]
fn what_ends_without_a_measurement_leaves_a_report_that_says_why() {
    let repo = TestRepo::with_goals(GOALS);
    let report = repo.out("report.xml");
    let junit = format!("--junit={}", report.display());
    let expect = |expected: (&str, &str)| {
        let (status, message) = own_case(&report);
        assert_eq!(status, expected.0);
        assert!(message.contains(expected.1), "{message}");
        fs::remove_file(&report).unwrap();
    };
    repo.agent_does(&["exit 0"]);
    let goals = repo.read("GOALS.yaml");
    repo.write("GOALS.yaml", &format!("{goals}# mine\n"));
    repo.run(&["--max-cycles=1", &junit]).expect(3);
    expect(("error exit 3", "1 tracked file has uncommitted changes"));
    repo.write("GOALS.yaml", "goals: 1\n");
    for command in [&["measure", &junit][..], &["--dry-run", &junit]] {
        repo.evolve(command).expect(2);
        expect(("error exit 2", "GOALS.yaml"));
    }
    repo.write("GOALS.yaml", &goals);
    repo.evolve(&["measure", "no-such-goal", &junit]).expect(2);
    expect(("error exit 2", "there is no goal no-such-goal"));
    // Somebody asked for nothing to be done: that is no error.
    repo.write(".agents/evolve/STOP", "enough");
    repo.run(&["--max-cycles=1", &junit]).expect(0);
    expect(("skipped ", "enough"));
    repo.evolve(&["--dry-run", &junit]).expect(0);
    expect(("skipped ", "enough"));
    // What is refused as a place stays as it is.
    repo.evolve(&["measure", "--junit=GOALS.yaml"]).expect(2);
    assert_eq!(repo.read("GOALS.yaml"), goals);
}

#[test]
fn on_github_failing_goals_are_annotated_at_their_line_and_the_job_has_a_summary() {
    let repo = TestRepo::with_goals(GOALS);
    let summary = repo.out("summary.md");
    fs::write(&summary, "before\n").unwrap();
    let env = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
    ];
    let run = repo.evolve_with(&env, &["measure"]);
    assert!(
        run.stdout
            .ends_with("\n::error file=GOALS.yaml,line=4,title=goal lint::exit 1%0Aa::b\n"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.matches("::error").count(), 1);
    let page = fs::read_to_string(&summary).unwrap();
    assert!(
        page.starts_with("before\n### evolve: score 62.5, 1 of 2 goals pass\n"),
        "{page}"
    );
    assert!(page.contains("| **FAIL** | lint |"), "{page}");
    // Programs that read JSON get JSON.
    let json = repo.evolve_with(&env, &["measure", "--json"]).stdout;
    assert!(
        serde_json::from_str::<serde_json::Value>(&json).is_ok(),
        "{json}"
    );
}

#[test]
fn what_checks_print_is_no_command_to_githubs_runner() {
    let repo = TestRepo::with_goals(
        "  - {id: bad, description: d, check: \"echo '::warning::x'; echo 'y ##[error]z'; false\", weight: 5}\n",
    );
    let run = repo.evolve_with(&[("GITHUB_ACTIONS", "true")], &["measure"]);
    let commands = run
        .stdout
        .lines()
        .filter(|line| line.trim_start().starts_with("::"));
    assert_eq!(commands.count(), 1, "{}", run.stdout);
    assert!(
        run.stdout.contains("warning::x") && !run.stdout.contains("##["),
        "{}",
        run.stdout
    );
}

#[test]
fn what_is_named_for_a_report_stays_what_it_is() {
    let repo = TestRepo::with_goals(GOALS);
    let out = |name: &str| repo.out(name).display().to_string();
    fs::write(repo.out("mine"), "mine\n").unwrap();
    std::os::unix::fs::symlink(repo.out("mine"), repo.out("link")).unwrap();
    repo.evolve(&["measure", "--junit", &out("link")]).expect(0);
    assert!(repo.out("link").is_symlink());
    assert!(
        fs::read_to_string(repo.out("mine"))
            .unwrap()
            .contains("testsuite")
    );
    nix::unistd::mkfifo(&repo.out("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut reader = fs::File::options()
        .read(true)
        .write(true)
        .open(repo.out("pipe"))
        .unwrap();
    repo.evolve(&["measure", "--junit", &out("pipe")]).expect(0);
    assert!(!fs::metadata(repo.out("pipe")).unwrap().is_file());
    let mut bytes = [0; 5];
    std::io::Read::read_exact(&mut reader, &mut bytes).unwrap();
    assert_eq!(&bytes, b"<?xml");
    nix::unistd::mkfifo(&repo.out("unread"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let run = repo
        .evolve(&["measure", "-q", "--junit", &out("unread")])
        .expect(1);
    assert!(
        run.stderr.contains(
            "unread: it is a pipe from which nobody reads\nhint: begin to read from it first"
        ),
        "{}",
        run.stderr
    );
    // A shell that writes there makes the file, too.
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, repo.out(name)).unwrap();
    link("later.xml", "early");
    link("early", "earlier");
    repo.evolve(&["measure", "--junit", &out("earlier")])
        .expect(0);
    assert!(repo.out("early").is_symlink() && repo.out("earlier").is_symlink());
    assert!(
        fs::read_to_string(repo.out("later.xml"))
            .unwrap()
            .contains("testsuite")
    );
    link("no/where", "lost");
    link("itself", "itself");
    for name in ["lost", "itself"] {
        repo.evolve(&["report", "--out", &out(name)]).expect(1);
        assert!(repo.out(name).is_symlink());
    }
}

#[test]
fn on_github_the_goals_file_is_named_from_the_workspace_if_it_lies_there() {
    let repo = TestRepo::with_goals(GOALS);
    repo.write("sub/b.yaml", &repo.read("GOALS.yaml"));
    let root = repo.path("").canonicalize().unwrap();
    let above = root.parent().unwrap().to_str().unwrap().to_owned();
    let name = root.file_name().unwrap().to_str().unwrap().to_owned();
    let outside = repo.path("sub").to_str().unwrap().to_owned();
    for (workspace, words, place) in [
        (&above, &["measure"][..], format!("{name}/GOALS.yaml")),
        (&above, &["--dry-run"], format!("{name}/GOALS.yaml")),
        (
            &above,
            &["measure", "-C", "sub", "--goals", "b.yaml"],
            format!("{name}/sub/b.yaml"),
        ),
        (&outside, &["measure"], "GOALS.yaml".to_owned()),
    ] {
        let env = [("GITHUB_ACTIONS", "true"), ("GITHUB_WORKSPACE", workspace)];
        let said = repo.evolve_with(&env, words).stdout;
        let named = format!("::error file={place},line=");
        assert!(said.contains(&named), "{words:?} {place}: {said}");
    }
}

#[test]
fn on_github_what_keeps_a_run_from_starting_is_annotated_once() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let github = [("GITHUB_ACTIONS", "true")];
    let annotations = |run: &Run| -> Vec<String> {
        let lines = run.stdout.lines().chain(run.stderr.lines());
        let found = lines.filter(|line| line.starts_with("::error"));
        found.map(str::to_owned).collect()
    };
    let run = repo.evolve_with(&github, &["--agent=no-such-agent"]);
    let said = annotations(&run.expect(4));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("::error title=evolve::"), "{said:?}");
    assert!(said[0].contains("no-such-agent"), "{said:?}");
    repo.write("keep", "100%\n");
    repo.git(&["add", "keep"]);
    let run = repo.evolve_with(&github, &["--agent=true"]);
    let said = annotations(&run.expect(3));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("keep"), "{said:?}");
    // A goal that fails has its own.
    let run = repo.evolve_with(&github, &["measure", "--gate"]);
    assert_eq!(annotations(&run.expect(10)).len(), 1);
}

#[test]
fn on_github_each_cycle_is_a_group_of_the_log() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch a"]);
    let agent = format!("--agent={}", repo.agent());
    let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
    command
        .env("GITHUB_ACTIONS", "true")
        .args([&agent, "--max-cycles=1"]);
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let at = |words: &str| text.lines().position(|line| line.contains(words)).unwrap();
    assert!(
        text.lines()
            .nth(at("::group::cycle 1 · a: "))
            .unwrap()
            .starts_with("::group::")
    );
    assert!(at("::group::") < at("agent done after"), "{text}");
    assert!(at("agent done after") < at("::endgroup::"), "{text}");
    assert_eq!(at("::endgroup::") + 1, at("  improved · "), "{text}");
    assert_eq!(
        text.matches("::group::").count(),
        text.matches("::endgroup::").count()
    );
    assert!(!text.contains("::error"), "{text}");
}

/// The README's blocks of code of this kind that contain `words`.
fn blocks(kind: &str, words: &str) -> Vec<String> {
    let readme = include_str!("../README.md");
    let fence = format!("```{kind}\n");
    let blocks = readme.split(&fence).skip(1);
    let blocks = blocks.map(|block| block.split_once("```").unwrap().0.to_owned());
    blocks.filter(|block| block.contains(words)).collect()
}

#[test]
fn the_units_of_the_readme_are_what_systemd_takes() {
    let folder = tempfile::tempdir().unwrap();
    let [service, timer] =
        [("[Service]", "evolve.service"), ("[Timer]", "evolve.timer")].map(|(words, name)| {
            let found = blocks("ini", words);
            assert_eq!(found.len(), 1, "{words}");
            // The program need not be installed where this is tested.
            let program = env!("CARGO_BIN_EXE_evolve");
            let text = found[0]
                .replace("%h/.cargo/bin/evolve", program)
                .replace("%h/project", "/");
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        });
    let mut command = std::process::Command::new("systemd-analyze");
    // No user need be logged in.
    command.env("XDG_RUNTIME_DIR", folder.path());
    let output = command
        .args(["verify", "--user"])
        .args([service, timer])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let ours: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("evolve."))
        .collect();
    assert!(output.status.success() && ours.is_empty(), "{said}");
}

#[test]
fn the_crontab_line_of_the_readme_runs_the_loop_as_cron_would() {
    let lines = blocks("crontab", "evolve");
    let [line] = &lines[..] else {
        panic!("{lines:?}")
    };
    let fields: Vec<&str> = line.trim().splitn(6, char::is_whitespace).collect();
    assert_eq!(fields[..5], ["0", "2", "*", "*", "*"]);
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    fs::write(repo.path("a"), "").unwrap();
    repo.commit_all("a");
    let bin = repo.home().join(".cargo/bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_evolve"), bin.join("evolve")).unwrap();
    let line = fields[5]
        .trim()
        .replace("/home/me/project", repo.root().to_str().unwrap());
    let mut command = repo.command("/bin/sh");
    command
        .args(["-c", &line])
        .env("PATH", "/usr/bin:/bin")
        .env("EVOLVE_AGENT", "true");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (output.status.code(), said.as_str()),
        (Some(0), ""),
        "{output:?}"
    );
    assert_eq!(repo.newest()["result"], "idle");
}

#[test]
fn the_action_runs_evolve_with_its_arguments_and_runs_nothing_else() {
    let action = include_str!("../action.yml");
    let action: serde_json::Value = serde_yaml::from_str(action).unwrap();
    let steps = action["runs"]["steps"].as_array().unwrap();
    let script = steps.last().unwrap()["run"].as_str().unwrap();
    let repo = TestRepo::with_goals(GOALS);
    let bin = repo.out("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_evolve"), bin.join("evolve")).unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let run = |arguments: &str| {
        let mut command = repo.command("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]);
        command
            .env("PATH", &path)
            .env("ARGUMENTS", arguments)
            .output()
            .unwrap()
    };
    let measured = run(action["inputs"]["arguments"]["default"].as_str().unwrap());
    assert_eq!(measured.status.code(), Some(10), "{measured:?}");
    assert!(
        String::from_utf8_lossy(&measured.stdout).contains("lint"),
        "{measured:?}"
    );
    // What cannot be split as it stands is not run in part.
    let open = run("measure --gate 'lint");
    assert_eq!(
        (open.status.code(), &open.stdout[..]),
        (Some(1), &b""[..]),
        "{open:?}"
    );
    let planted = run("measure 'no such'; touch planted $(touch planted)");
    assert!(!repo.path("planted").exists(), "{planted:?}");
    assert!(
        String::from_utf8_lossy(&planted.stderr).contains("there is no goal no such;"),
        "{planted:?}"
    );
}
