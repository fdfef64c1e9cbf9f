//! Each command as its user sees it: what it prints and where, what it writes, and the code it ends with.

use std::fs;
use std::process::Stdio;

use evolve::model::schema;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Run, TestRepo, everything_below, finish, wait_until};

const HISTORY: &str = ".agents/evolve/cycle-history.jsonl";
const QUEUE: &str = ".agents/rpi/next-work.jsonl";

/// Two goals, one of which fails, and an item of work.
fn small() -> TestRepo {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("readme", 3)]);
    repo.write("readme", "");
    repo.write(
        QUEUE,
        "{\"title\":\"say more\",\"severity\":\"high\",\"type\":\"docs\",\"description\":\"in the readme\"}\n",
    );
    repo.commit_all("small");
    repo
}

/// One goal that fails.
fn wanting_a() -> TestRepo {
    TestRepo::with_files_wanted(&[("a", 5)])
}

/// A repository in which every sort of cycle has been run.
fn lived_in() -> TestRepo {
    let repo = small();
    repo.agent_does(&[
        "rm readme && touch a",
        "exit 3",
        "touch a",
        "echo more >>readme",
    ]);
    repo.run(&[]).expect(0);
    assert_eq!(
        repo.each("result"),
        [
            "regressed",
            "failed",
            "improved",
            "harvested",
            "idle",
            "idle",
            "idle"
        ]
    );
    repo
}

/// Asserts that text is exactly one document that the schema of this name describes, and returns it.
#[track_caller]
fn document(name: &str, text: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|cause| panic!("{cause}: {text}"));
    assert_eq!(schema::check(name, &value), Ok(()));
    assert!(text.ends_with("}\n"), "{text}");
    value
}

/// Asserts that each line is an event that its schema describes, and returns them.
#[track_caller]
fn events(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| document("event", &format!("{line}\n")))
        .collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| event["event"].as_str())
        .collect()
}

#[test]
fn the_help_starts_with_examples_and_names_every_command_and_option() {
    let repo = TestRepo::empty();
    let help = repo.answer(&["-h"]);
    assert!(help.starts_with("Examples:\n  evolve --dry-run "), "{help}");
    for word in [
        "--max-cycles",
        "--dry-run",
        "--skip-baseline",
        "--test-first",
        "--agent",
        "--goals",
        "-C <DIR>",
        "--jobs",
        "--max-time",
        "--idle-wait",
        "--json",
        "-q, ",
        "-v, ",
        "EVOLVE_AGENT",
        "EVOLVE_JOBS",
    ] {
        assert!(help.contains(word), "{word} is not in {help}");
    }
    for command in [
        "init", "measure", "validate", "status", "history", "show", "report", "undo", "ratchet",
        "work", "lessons", "stop", "retry", "schema", "demo", "doctor", "help",
    ] {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command} is not in {help}"
        );
        let of_command = repo.answer(&[command, "-h"]);
        assert!(of_command.contains("Usage: evolve "), "{of_command}");
    }
}

#[test]
fn options_of_every_command_stand_before_or_after_it() {
    let repo = small();
    fs::write(
        repo.outside().join("g.yaml"),
        "goals: [{id: other, description: d, check: ls, weight: 1}]\n",
    )
    .unwrap();
    let goals = repo.outside().join("g.yaml").display().to_string();
    for arguments in [
        &["--goals", &goals, "measure"][..],
        &["measure", "--goals", &goals],
        &["--jobs", "1", "measure", "--goals", &goals],
        &["-C", ".", "measure", "--jobs", "1", "--goals", &goals],
    ] {
        assert!(
            repo.answer(arguments).starts_with("pass  other"),
            "{arguments:?}"
        );
    }
    assert_eq!(repo.answer(&["-q", "measure"]), "");
    assert_eq!(repo.answer(&["measure", "-q"]), "");
}

#[test]
fn the_nearest_option_is_named_for_short_ones_too() {
    let repo = small();
    for (arguments, near) in [
        (&["report", "--ot", "x"][..], "'--out'"),
        (&["report", "--jsno"], "try '--help'"),
        (&["validate", "--quite"], "'--quiet'"),
    ] {
        let said = repo.error(2, arguments);
        assert!(said.contains(near), "{said}");
    }
}

#[test]
fn what_is_not_utf8_is_named_with_its_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let repo = small();
    let word = |bytes: &'static [u8]| std::ffi::OsStr::from_bytes(bytes);
    let refused = |words: &[&'static [u8]], variable: Option<(&str, &'static [u8])>| {
        let mut command = repo.command(repo.program());
        command.args(words.iter().map(|bytes| word(bytes)));
        command.envs(variable.map(|(name, value)| (name, word(value))));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (words, named) in [
        (
            &[&b"--agent"[..], b"caf\xe9"][..],
            r"the value of --agent, caf\xe9, is",
        ),
        (
            &[b"--jobs=\xff1", b"measure"],
            r"the value of --jobs, \xff1, is",
        ),
        (&[b"measure", b"a", b"b\xffc"], r"the argument b\xffc is"),
        // A path may be anything; it is not what is refused.
        (
            &[b"measure", b"--goals", b"g\xff", b"\xfe"],
            r"the argument \xfe is",
        ),
        (
            &[b"search", b"-k", b"\xff", b"true"],
            r"the value of -k, \xff, is",
        ),
    ] {
        let said = refused(words, None);
        assert_eq!(said, format!("error: {named} not UTF-8\n"));
    }
    let mistyped: [(&[&'static [u8]], &str); 3] = [
        (&[b"sta\xfftus"], r"unrecognized subcommand 'sta\xfftus'"),
        (
            &[b"work", b"\x1b[31mli\xffst"],
            r"unrecognized subcommand 'li\xffst'",
        ),
        (&[b"--jo\xffbs"], r"unexpected argument '--jo\xffbs' found"),
    ];
    for (words, named) in mistyped {
        let said = refused(words, None);
        assert!(said.starts_with(&format!("error: {named}\n")), "{said}");
    }
    assert_snapshot!(refused(&[b"--dry-run"], Some(("EVOLVE_AGENT", b"caf\xe9 \x1b"))), @r"
    error: the variable EVOLVE_AGENT, caf\xe9, is not UTF-8
    hint: set it anew, or `unset EVOLVE_AGENT`
    ");
}

#[test]
fn options_of_the_loop_before_a_command_are_refused_and_not_ignored() {
    let repo = small();
    for option in [
        "--dry-run",
        "--max-cycles=1",
        "--skip-baseline",
        "--test-first",
        "--agent=x",
        "--max-time=1s",
        "--idle-wait=1s",
        "--json",
    ] {
        let said = repo.error(2, &[option, "stop"]);
        assert!(said.contains(option.split('=').next().unwrap()), "{said}");
    }
    for arguments in [
        &["stop", "--jobs=1"][..],
        &["--jobs=1", "validate"],
        &["--goals=x", "stop"],
        &["history", "--goals=x"],
        &["demo", "--goals=x"],
    ] {
        let said = repo.error(2, arguments);
        let option = ["--jobs", "--goals"].iter().any(|it| said.contains(it));
        assert!(option, "{said}");
    }
    assert!(!repo.has(".agents/evolve/STOP"));
    assert!(!repo.answer(&["stop", "--help"]).contains("--jobs"));
    assert_snapshot!(repo.error(2, &["--dry-run", "measure"]), @r#"
    error: --dry-run is an option of the loop itself; `measure` has no use for it

    Usage: evolve [OPTIONS] [COMMAND]

    For more information, try '--help'.
    "#);
    assert_snapshot!(repo.error(2, &["--json", "status"]), @r#"
    error: write --json after `status`

    Usage: evolve [OPTIONS] [COMMAND]

    For more information, try '--help'.
    "#);
}

#[test]
fn numbers_and_times_that_make_no_sense_are_refused() {
    let repo = small();
    for option in [
        "--max-cycles=0",
        "--max-cycles=-1",
        "--max-cycles=x",
        "--jobs=0",
        "--jobs=1.5",
        "--max-time=x",
        "--max-time=0",
        "--max-time=-1s",
        "--idle-wait=soon",
    ] {
        let said = repo.error(2, &[option]);
        assert!(said.contains(option.split('=').next().unwrap()), "{said}");
    }
    assert_snapshot!(repo.error(2, &["--max-cycles=0"]), @r#"
    error: invalid value '0' for '--max-cycles <N>': write a whole number of at least 1

    For more information, try '--help'.
    "#);
}

#[test]
fn every_json_document_is_alone_on_stdout_and_what_its_schema_describes() {
    let fresh = small();
    let lived_in = lived_in();
    let stopped = small();
    stopped.evolve(&["stop", "for", "today"]).expect(0);
    stopped.evolve(&["stop", "--kill", "for good"]).expect(0);
    let unborn = TestRepo::empty();
    for repo in [&fresh, &lived_in, &stopped, &unborn] {
        let status = document(
            "status",
            &repo.evolve(&["status", "--json"]).expect(0).stdout,
        );
        let history = document(
            "history",
            &repo.evolve(&["history", "--json"]).expect(0).stdout,
        );
        assert_eq!(
            status["cycles"],
            history["records"].as_array().unwrap().len()
        );
    }
    for repo in [&fresh, &lived_in] {
        for extra in [&[][..], &["a"], &["-v"], &["-q"], &["--gate"]] {
            let all: Vec<_> = ["measure", "--json"].iter().chain(extra).copied().collect();
            let run = repo.evolve(&all);
            let snapshot = document("snapshot", &run.stdout);
            assert_eq!(snapshot["cycle"], Value::Null);
            assert_eq!(run.stderr, "");
        }
    }
    let shown = |number: &str| {
        let run = lived_in.evolve(&["show", number, "--json"]).expect(0);
        document("show", &run.stdout)
    };
    let first = shown("1");
    assert_eq!(first["record"]["cycle"], 1);
    assert_eq!(first["before"]["cycle"], 1);
    fresh
        .evolve(&["work", "add", "one", "--severity", "critical"])
        .expect(0);
    let queue = fresh.evolve(&["work", "list", "--json"]).expect(0);
    let queue = document("queue", &queue.stdout);
    assert_eq!(queue["open"][0]["title"], "one");
    assert_eq!(queue["set_aside"], serde_json::json!([]));
    let ratchet = fresh.evolve(&["ratchet", "--json"]).expect(0);
    let ratchet = document("ratchet", &ratchet.stdout);
    assert_eq!(ratchet["thresholds"], serde_json::json!([]));
    for repo in [&fresh, &lived_in] {
        for extra in [&[][..], &["--goal=a"]] {
            let all = [&["lessons", "list", "--json"], extra].concat();
            document("lessons", &repo.evolve(&all).expect(0).stdout);
        }
    }
    assert_eq!(
        document(
            "status",
            &stopped.evolve(&["status", "--json"]).expect(0).stdout
        )["stop"],
        "for today"
    );
}

#[test]
fn the_printed_schemas_are_those_that_the_program_checks_against() {
    let repo = TestRepo::empty();
    let names = repo.evolve(&["schema"]).expect(0).stdout;
    assert!(
        names.contains("\nsnapshot       All measurements of one tree"),
        "{names}"
    );
    for line in names.lines() {
        let (name, about) = line.split_once("  ").unwrap();
        assert!(about.trim().len() > 10, "{line}");
        let printed = repo.evolve(&["schema", name]).expect(0).stdout;
        assert_eq!(Some(printed.as_str()), schema::text(name));
        assert!(
            jsonschema::draft7::meta::is_valid(&serde_json::from_str(&printed).unwrap()),
            "{name}"
        );
    }
    assert_snapshot!(repo.error(2, &["schema", "snapshots"]), @r"
    error: there is no schema snapshots
    hint: did you mean snapshot?
    hint: there are audit, call, config, doctor, event, goals, history, journal, killed, lesson, lessons, queue, ratchet, record, retry, search, search-board, search-show, search-status, session, show, snapshot, status, validation, work
    ");
    let error = repo.error(2, &["schema", "measure"]);
    assert!(error.contains("hint: did you mean snapshot?"), "{error}");
}

#[test]
fn a_whole_run_is_told_in_events_and_nothing_else_reaches_stdout() {
    let repo = small();
    repo.write(HISTORY, "nonsense\n");
    repo.agent_does(&[
        "echo loud; echo noise >&2; touch a; rm readme",
        "exit 3",
        "touch a",
        "echo more >>readme",
    ]);
    let run = repo.run(&["--json", "--idle-wait=10ms"]).expect(0);
    assert_eq!(run.stderr, "");
    let events = events(&run.stdout);
    let kinds = kinds(&events);
    assert_eq!(
        (kinds.first(), kinds.last()),
        (Some(&"session-started"), Some(&"session-ended"))
    );
    for kind in [
        "warning",
        "cycle-started",
        "measure-started",
        "check-started",
        "check-finished",
        "measure-finished",
        "selected",
        "agent-started",
        "agent-finished",
        "cycle-finished",
        "waiting",
    ] {
        assert!(kinds.contains(&kind), "{kind} is not in {kinds:?}");
    }
    let finished: Vec<_> = events
        .iter()
        .filter(|event| event["event"] == "cycle-finished")
        .collect();
    let results: Vec<_> = finished
        .iter()
        .map(|event| event["record"]["result"].as_str().unwrap())
        .collect();
    assert_eq!(
        results,
        [
            "regressed",
            "failed",
            "improved",
            "harvested",
            "idle",
            "idle",
            "idle"
        ]
    );
    // What an agent does that does not report it is unknown.
    let mut activities = events
        .iter()
        .filter(|event| event["event"] == "agent-activity");
    let activity = activities.next().unwrap();
    assert_eq!(
        (&activity["turns"], &activity["files"]),
        (&Value::Null, &Value::Null)
    );
    let log = events
        .iter()
        .find(|event| event["event"] == "agent-started")
        .unwrap()["log"]
        .as_str()
        .unwrap();
    assert!(log.starts_with(".git/evolve/logs/"), "{log}");
    // Two streams have no order between them.
    let mut said: Vec<_> = repo.read(log).lines().map(str::to_owned).collect();
    said.sort();
    assert_eq!(said, ["loud", "noise"]);
}

#[test]
fn a_dry_run_that_tells_of_each_check_tells_of_it_once() {
    let repo = small();
    for (flags, told) in [
        (&["--dry-run"][..], "FAIL  a  "),
        (&["--dry-run", "-v"], "FAIL  a  "),
    ] {
        let out = repo.evolve(flags).expect(0).stdout;
        let lines = out.lines().filter(|line| line.contains("FAIL"));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), 1, "{out}");
        assert!(lines[0].starts_with(told), "{out}");
        assert!(out.contains("\nscore 37.5: 1 of 2 goals"), "{out}");
        assert!(out.contains("dry run: would work on a\n"), "{out}");
    }
}

#[test]
fn a_dry_run_tells_what_fails_and_what_would_be_done_and_an_early_ending_is_an_event_too() {
    let repo = small();
    let told = events(&repo.evolve(&["--dry-run", "--json"]).expect(0).stdout);
    assert_eq!(
        kinds(&told),
        [
            "check-finished",
            "check-finished",
            "measure-finished",
            "selected"
        ]
    );
    assert_eq!(told[2]["failing"], json!(["a"]));
    let planned = &told[3]["planned"];
    assert_eq!(
        planned["no_agent"],
        "no agent is configured and none is installed"
    );
    assert_eq!(planned["agent"], Value::Null);
    let told = repo.run(&["--dry-run", "--json"]).expect(0);
    let told = events(&told.stdout);
    let planned = &told[3]["planned"];
    assert_eq!(
        (&planned["weight"], &planned["check"]),
        (&json!(5), &json!("test -e a"))
    );
    let agent = planned["agent"].as_str().unwrap();
    assert!(agent.contains("agent"), "{agent}");
    repo.evolve(&["stop"]).expect(0);
    assert_eq!(
        kinds(&events(
            &repo.evolve(&["--dry-run", "--json"]).expect(0).stdout
        )),
        ["note"]
    );
    assert_eq!(
        kinds(&events(&repo.run(&["--json"]).expect(0).stdout)),
        ["session-ended"]
    );
}

#[test]
fn quiet_prints_errors_only() {
    let repo = small();
    repo.write(HISTORY, "nonsense\n");
    repo.agent_does(&["touch a", "echo more >>readme"]);
    for arguments in [
        &["measure", "-q"][..],
        &["validate", "-q"],
        &["status", "-q"],
        &["history", "-q"],
        &["work", "list", "-q"],
        &["--dry-run", "-q"],
        &["stop", "-q"],
        &["stop", "--off", "-q"],
        &["retry", "a", "-q"],
        &["work", "add", "x", "--target-repo=elsewhere", "-q"],
    ] {
        assert_eq!(repo.answer(arguments), "", "{arguments:?}");
    }
    let run = repo.run(&["-q"]).expect(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    let history = document(
        "history",
        &repo.evolve(&["history", "--json", "-q"]).expect(0).stdout,
    );
    assert_eq!(history["records"].as_array().unwrap().len(), 5);
    assert_snapshot!(repo.error(2, &["measure", "nowhere", "-q"]), @r#"
    error: there is no goal nowhere
    hint: `evolve validate` lists the goals
    "#);
}

#[test]
fn a_human_who_is_needed_is_told_even_by_the_quiet() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["echo 'it is too hard' >\"$EVOLVE_GIVE_UP\""]);
    let run = repo.run(&["-q"]).expect(11);
    assert_eq!(run.stdout, "");
    assert_snapshot!(run.stderr, @"error: a human is needed: a (declined: it is too hard)");
}

#[test]
fn the_exit_code_of_measure_says_what_the_gate_asks() {
    let goals = |checks: &[&str]| {
        let lines: String = (checks.iter().enumerate())
            .map(|(index, check)| {
                format!("  - {{id: g{index}, description: d, check: {check}, weight: 1}}\n")
            })
            .collect();
        TestRepo::with_goals(&lines)
    };
    for (checks, plain, gated) in [
        (&["exit 0", "exit 0"][..], 0, 0),
        (&["exit 0", "exit 1"], 0, 10),
        (&["exit 1"], 0, 10),
        (&["exit 0", "exit 77"], 0, 10),
        (&["exit 77"], 2, 2),
        (&["no-such-program", "exit 126"], 2, 2),
    ] {
        let repo = goals(checks);
        repo.evolve(&["measure"]).expect(plain);
        repo.evolve(&["measure", "--gate"]).expect(gated);
        repo.evolve(&["measure", "--gate", "--json"]).expect(gated);
    }
}

#[test]
fn measure_takes_the_named_goals_and_an_unknown_one_names_the_nearest() {
    let repo =
        TestRepo::with_files_wanted(&[("tests-pass", 5), ("docs-build", 3), ("lint-clean", 3)]);
    let text = repo
        .evolve(&["measure", "lint-clean", "tests-pass", "--json"])
        .expect(0)
        .stdout;
    let ids: Vec<_> = document("snapshot", &text)["goals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|goal| goal["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, ["tests-pass", "lint-clean"]);
    let said = repo.answer(&["measure", "tests-pass"]);
    let score = said.lines().find(|line| line.starts_with("score "));
    assert_eq!(
        score,
        Some("score 0, of the goals measured: 0 of 1 goal passes")
    );
    assert_snapshot!(repo.error(2, &["measure", "test-pass"]), @r#"
    error: there is no goal test-pass
    hint: did you mean tests-pass?
    "#);
    assert_snapshot!(repo.error(2, &["retry", "docs-biuld"]), @r#"
    error: there is no goal docs-biuld
    hint: did you mean docs-build?
    "#);
    for (word, near) in [
        ("lint", "lint-clean"),
        ("lnt", "lint-clean"),
        ("clean", "lint-clean"),
        ("docs", "docs-build"),
    ] {
        for command in [&["retry"][..], &["measure"], &["history", "--goal"]] {
            let said = repo.error(2, &[command, &[word]].concat());
            let hint = format!("\nhint: did you mean {near}?\n");
            assert!(said.ends_with(&hint), "{command:?} {word}: {said}");
        }
    }
    assert_snapshot!(repo.error(2, &["measure", "something-else"]), @r#"
    error: there is no goal something-else
    hint: `evolve validate` lists the goals
    "#);
    repo.evolve(&["measure", "tests-pass", "--gate"]).expect(10);
}

/// The agent and the number of checks at once that a session has, as its first event says.
#[track_caller]
fn settings(repo: &TestRepo, arguments: &[&str]) -> (String, u64) {
    let all: Vec<_> = ["--json", "--max-cycles=1"]
        .iter()
        .chain(arguments)
        .copied()
        .collect();
    let run = repo.evolve(&all).expect(0);
    let first = events(&run.stdout).remove(0);
    (
        first["agent"].as_str().unwrap().to_owned(),
        first["jobs"].as_u64().unwrap(),
    )
}

#[test]
fn a_flag_beats_the_environment_which_beats_the_file_which_beats_the_user() {
    let mut repo = TestRepo::empty();
    let goals = "goals: [{id: a, description: d, check: ls, weight: 1}]\n";
    repo.write("GOALS.yaml", goals);
    repo.commit_all("first");
    repo.evolve(&["--max-cycles=1"]).expect(4);
    let config = repo.home().join(".config/evolve/config.yaml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "agent: 'true of-user'\njobs: 3\n").unwrap();
    assert_eq!(settings(&repo, &[]), ("true of-user".to_owned(), 3));
    let misnamed = config.with_extension("yml");
    fs::rename(&config, &misnamed).unwrap();
    let said = repo.evolve(&["--dry-run"]).expect(2).stderr;
    let words = "config.yml is not read: the configuration is called config.yaml\n";
    assert!(said.contains(words), "{said}");
    fs::rename(&misnamed, &config).unwrap();
    // Dotfiles are often links.
    let dotfile = repo.outside().join("dotfile.yaml");
    fs::rename(&config, &dotfile).unwrap();
    std::os::unix::fs::symlink(&dotfile, &config).unwrap();
    assert_eq!(settings(&repo, &[]), ("true of-user".to_owned(), 3));
    let elsewhere = repo.outside().join("evolve");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(
        elsewhere.join("config.yaml"),
        "agent: 'true of-xdg'\njobs: 4\n",
    )
    .unwrap();
    repo.env.push((
        "XDG_CONFIG_HOME".to_owned(),
        repo.outside().display().to_string(),
    ));
    assert_eq!(settings(&repo, &[]), ("true of-xdg".to_owned(), 4));
    repo.write(
        "GOALS.yaml",
        &format!("evolve: {{agent: 'true of-file', jobs: 5}}\n{goals}"),
    );
    repo.commit_all("settings");
    assert_eq!(settings(&repo, &[]), ("true of-file".to_owned(), 5));
    repo.env
        .push(("EVOLVE_AGENT".to_owned(), "true of-env".to_owned()));
    repo.env.push(("EVOLVE_JOBS".to_owned(), "6".to_owned()));
    assert_eq!(settings(&repo, &[]), ("true of-env".to_owned(), 6));
    assert_eq!(
        settings(&repo, &["--agent=true of-flag", "--jobs=7"]),
        ("true of-flag".to_owned(), 7)
    );
    // Commands that need no agent do not mind the variable.
    repo.evolve(&["measure"]).expect(0);
}

#[test]
fn a_variable_with_a_senseless_value_is_named_and_not_the_option_that_nobody_wrote() {
    let mut repo = small();
    repo.env.push(("EVOLVE_JOBS".to_owned(), "many".to_owned()));
    for command in ["measure", "status"] {
        let error = repo.error(2, &[command]);
        let expected = "invalid value 'many' for 'EVOLVE_JOBS': write a whole number";
        assert!(error.contains(expected), "{error}");
    }
    let error = repo.error(2, &["measure", "--jobs=few"]);
    assert!(error.contains("'few' for '--jobs <N>'"), "{error}");
}

#[test]
fn a_configuration_with_mistakes_is_refused_with_their_places() {
    let repo = small();
    let config = repo.home().join(".config/evolve/config.yaml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "agnet: x\njobs: many\n").unwrap();
    assert_snapshot!(repo.error(2, &["--max-cycles=1"]), @r#"
    error: unknown key "agnet"
     --> [home]/.config/evolve/config.yaml:1:1
      |
    1 | agnet: x
      | ^^^^^
    hint: did you mean agent?

    error: jobs: expected a whole number, 1 or more, not the text "many"
     --> [home]/.config/evolve/config.yaml:2:7
      |
    2 | jobs: many
      |       ^^^^
    hint: `evolve schema goals`, or for config.yaml `evolve schema config`, prints everything that may stand there
    "#);
}

#[test]
fn the_status_is_told_beside_a_configuration_with_mistakes_and_names_them() {
    let repo = small();
    let config = repo.home().join(".config/evolve/config.yaml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "agnet: x\njobs: many\n").unwrap();
    let page = repo.answer(&["status"]);
    let problem = "\nproblem    a run would be refused: [home]/.config/evolve/config.yaml:1:1: unknown key \"agnet\", and 1 more\n";
    assert!(page.contains(problem), "{page}");
    assert!(page.contains("\ngoals      2\n"), "{page}");
    let protected = page.lines().find(|line| line.starts_with("protected"));
    let is_told = protected.is_some_and(|line| line.contains("your config.yaml cannot be read"));
    assert!(is_told, "{page}");
    let run = repo.evolve(&["status", "--json"]).expect(0);
    let status = document("status", &run.stdout);
    let problem = status["problems"][0].as_str().unwrap();
    assert!(problem.contains("config.yaml:1:1"), "{problem}");
}

#[test]
fn a_limit_on_the_command_line_beats_the_files() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4), ("c", 3)]);
    let goals = repo.read("GOALS.yaml");
    repo.write(
        "GOALS.yaml",
        &format!("evolve: {{limits: {{max_cycles: 1}}}}\n{goals}"),
    );
    repo.commit_all("limits");
    repo.agent_does(&["touch a", "touch b", "touch c"]);
    let run = repo.run(&[]).expect(0);
    assert!(
        run.stdout.contains("limit of 1 cycle reached"),
        "{}",
        run.stdout
    );
    let run = repo.run(&["--max-cycles=2"]).expect(0);
    assert!(
        run.stdout.contains("limit of 2 cycles reached"),
        "{}",
        run.stdout
    );
    assert_eq!(repo.each("result"), ["improved"; 3]);
}

/// Runs the program with nobody reading what it prints.
fn unread(repo: &TestRepo, arguments: &[&str]) -> Run {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
    command
        .args(arguments)
        .stdout(writer.try_clone().unwrap())
        .stderr(Stdio::piped());
    let run = {
        let mut child = command.spawn().unwrap();
        child.stdout = None;
        let output = child.wait_with_output().unwrap();
        Run {
            code: output.status.code().unwrap_or(-1),
            stdout: String::new(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    };
    command.stderr(writer);
    // With nobody reading the errors either, the code is the same.
    let code = command.status().unwrap().code();
    assert_eq!(code, Some(run.code), "{arguments:?}");
    run
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let repo = lived_in();
    for arguments in [
        &["measure"][..],
        &["measure", "--json"],
        &["validate"],
        &["status"],
        &["status", "--json"],
        &["history"],
        &["history", "--json"],
        &["show", "1"],
        &["work", "list"],
        &["schema"],
        &["schema", "event"],
        &["--dry-run"],
        &["--agent=true"],
        &["--agent=true", "--json"],
        &["--agent=true", "-v"],
        &["stop"],
        &["stop", "--off"],
        &["-h"],
        &["--version"],
    ] {
        let run = unread(&repo, arguments).expect(0);
        assert_eq!(run.stderr, "", "{arguments:?}");
    }
    unread(&repo, &["show", "99"]).expect(2);
    unread(&repo, &["measure", "--nonsense"]).expect(2);
}

#[test]
fn looking_writes_nothing_at_all() {
    let repo = lived_in();
    repo.write("readme", "changed\n");
    repo.write("untracked", "");
    repo.write("scripts/check-unwired.sh", "");
    repo.write(HISTORY, &(repo.read(HISTORY) + "{\"torn"));
    let before = (
        everything_below(&repo.root()),
        everything_below(&repo.home()),
    );
    for arguments in [
        &["measure"][..],
        &["measure", "--json", "--gate"],
        &["validate"],
        &["status"],
        &["status", "--json"],
        &["history"],
        &["history", "--json"],
        &["show", "1"],
        &["audit"],
        &["work", "list"],
        &["schema"],
        &["schema", "goals"],
        &["--dry-run"],
        &["--dry-run", "--json"],
        &["--dry-run", "-vv"],
    ] {
        repo.evolve(arguments).expect(0);
        let after = (
            everything_below(&repo.root()),
            everything_below(&repo.home()),
        );
        assert_eq!(after, before, "{arguments:?}");
    }
    let fresh = small();
    let before = everything_below(&fresh.root());
    for arguments in [
        &["measure"][..],
        &["validate"],
        &["status"],
        &["history"],
        &["--dry-run"],
    ] {
        fresh.evolve(arguments).expect(0);
        assert_eq!(everything_below(&fresh.root()), before, "{arguments:?}");
    }
}

#[test]
fn the_score_beside_a_cycle_at_work_says_whose_it_is() {
    let repo = small().with_out();
    let score = || {
        let page = repo.answer(&["status"]);
        let line = page.lines().find(|line| line.starts_with("score "));
        line.unwrap().replace("score      ", "")
    };
    let waits = "touch $OUT/at-work; until [ -e $OUT/go ]; do sleep 0.05; done; touch a";
    repo.agent_does(&["touch b", waits]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let known = "37.5 (baseline 37.5), 1 of 2 goals pass";
    assert_eq!(score(), known);
    let busy = repo.spawn_run(&["--max-cycles=1"]);
    repo.wait_for("at-work");
    let during = score();
    std::fs::write(repo.out("go"), "").unwrap();
    finish(busy).expect(0);
    let whose = format!("{known}, after cycle 1; cycle 2 is not recorded yet");
    assert_eq!(during, whose);
    assert_eq!(score(), "100 (baseline 37.5), 2 of 2 goals pass");
}

#[test]
fn the_status_names_the_worst_goals_that_fail_and_those_that_wait_for_a_person() {
    let failing = "abcdefg".chars().zip(3..).map(|(id, weight)| {
        format!("  - {{id: {id}, description: d, check: test -e {id}, weight: {weight}}}\n")
    });
    let skipped = "  - {id: s, description: d, check: exit 77, weight: 10}\n";
    let repo = TestRepo::with_goals(&(failing.collect::<String>() + skipped));
    repo.cycle("echo no key >\"$EVOLVE_GIVE_UP\"").expect(0);
    let page = repo.answer(&["status"]);
    for row in [
        "\nfailing    g, f, e, d, c and 2 more\n",
        "\nskipped    s — `evolve measure` says why\n",
        "\ndeclined   g: no key — `evolve retry g` allows another attempt\n",
    ] {
        assert!(page.contains(row), "{row}{page}");
    }
    let run = repo.evolve(&["status", "--json"]).expect(0);
    let status = document("status", &run.stdout);
    assert_eq!(
        status["failing"],
        json!(["g", "f", "e", "d", "c", "b", "a"])
    );
    assert_eq!(status["skipped"], json!(["s"]));
    assert_eq!(
        status["stuck"],
        json!([{"goal_id": "g", "standing": "declined", "reason": "no key"}])
    );
}

#[test]
fn the_status_names_goals_that_are_worse_within_their_tolerance() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: test -e a, weight: 9}
  - {id: size, description: d, check: cat size, weight: 5, continuous: {metric: kB, threshold: 10, direction: at-most, tolerance: 20}}
",
    );
    repo.write("size", "10\n");
    repo.commit_all("size");
    repo.cycle("touch a; echo 11 >size").expect(0);
    let page = repo.answer(&["status"]);
    assert!(
        page.contains("\ntolerated  size — worse, but within tolerance\n"),
        "{page}"
    );
    let run = repo.evolve(&["status", "--json"]).expect(0);
    let status = document("status", &run.stdout);
    assert_eq!(status["tolerated"], json!(["size"]));
    assert_eq!(status["failing"], json!([]));
}

#[test]
fn looking_works_beside_a_session_at_work() {
    let repo = small();
    let go = repo.outside().join("go");
    let slow = format!(
        "--agent=until [ -e {} ]; do sleep 0.05; done; touch a",
        go.display()
    );
    let busy = repo.spawn(&[&slow, "--max-cycles=1"]);
    wait_until("a session is at work", || {
        repo.answer(&["status"]).contains("the agent works on a")
    });
    assert_snapshot!(repo.answer(&["status"]), @r#"
    repository [root] on main
    goals      2
    session    at work, process [pid] since [time]
    now        cycle 1: the agent works on a, or its change is measured, since [time]
    log        .git/evolve/logs/[session]/1-agent.log
    protected  no sandbox: the agent may write wherever you may; its git cannot push
    sandboxes  [here]
    score      37.5 (baseline 37.5), 1 of 2 goals pass, before cycle 1
    failing    a
    cycles     0
    queue      1 open, 0 set aside, 0 done
    "#);
    assert_snapshot!(repo.error(5, &["--agent=true"]), @r#"
    error: another evolve is at work in this repository: process [pid] since [time]
    hint: wait for it, look at it with `evolve status`, or end it with `evolve stop`
    "#);
    for arguments in [
        &["measure"][..],
        &["validate"],
        &["history"],
        &["work", "list"],
        &["--dry-run"],
    ] {
        repo.evolve(arguments).expect(0);
    }
    fs::write(go, "").unwrap();
    finish(busy).expect(0);
    assert_eq!(repo.each("result"), ["improved"]);
}

#[test]
fn every_way_to_end_has_its_exit_code() {
    let repo = || TestRepo::with_files_wanted(&[("a", 5)]);
    let passing = TestRepo::with_files_wanted(&[("readme", 5)]);
    passing.write("readme", "");
    passing.commit_all("readme");
    passing.agent_does(&[]);
    passing.run(&[]).expect(0);
    repo()
        .evolve(&["--agent=touch a", "--max-cycles=1"])
        .expect(0);
    repo()
        .evolve(&["--agent=sleep 60", "--max-time=1s"])
        .expect(0);
    repo().evolve(&["--dry-run"]).expect(0);
    repo().evolve(&["--no-such-option"]).expect(2);
    repo().evolve(&["--goals=nowhere.yaml"]).expect(2);
    repo().evolve(&["--agent=no-such-agent"]).expect(4);
    repo().evolve(&["measure", "--gate"]).expect(10);
    repo()
        .evolve(&["--agent=echo no >\"$EVOLVE_GIVE_UP\""])
        .expect(11);
    let dirty = repo();
    dirty.write("GOALS.yaml", &(dirty.read("GOALS.yaml") + "# edited\n"));
    dirty.evolve(&["--agent=touch a"]).expect(3);
    let blocked = repo();
    blocked.write(".agents/evolve/fitness-1.json/in-the-way", "");
    blocked
        .evolve(&["--agent=touch a", "--skip-baseline"])
        .expect(1);
    let signalled = repo();
    let child = signalled.spawn(&["--agent=touch \"$HOME/called\"; sleep 60"]);
    wait_until("the agent is called", || {
        signalled.home().join("called").exists()
    });
    signalled.evolve(&["stop", "--now"]).expect(0);
    finish(child).expect(130);
}

#[test]
fn an_error_that_ends_a_session_is_printed_once() {
    let repo = small();
    let run = repo.evolve(&["--agent=exit 127"]).expect(4);
    let all = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(all.matches("cannot run").count(), 1, "{all}");
    assert_snapshot!(repo.redacted(&run.stdout), @r#"
    evolve 0.1.0 · session [session] · 2 goals · agent exit 127 · [jobs] at once
    protections: no sandbox: the agent may write wherever you may; its git cannot push
    baseline: score 37.5, 1 of 2 goals pass; failing a
    cycle 1 · a: the only failing goal, weight 5
      agent at work, log .git/evolve/logs/[session]/1-agent.log
      agent failed after [s]: 0 commits, 0 files
    agent: 1 call, tokens and cost unknown
    "#);
    assert_snapshot!(repo.redacted(&run.stderr), @r#"
    error: the agent cannot run: missing or not executable: exit 127
    hint: the agent is `exit 127`; try it by hand, install it, or name another with --agent
    "#);
}

fn record(cycle: u64) -> String {
    format!(
        "{{\"format\":1,\"cycle\":{cycle},\"goal_id\":\"z\",\"result\":\"improved\",\"commit_sha\":\"{}\",\"reverted_to\":null,\
         \"goals_passing\":1,\"goals_total\":1,\"goals_added\":0,\"timestamp\":\"2026-01-01T00:00:00Z\",\"score_before\":1.0,\
         \"score_after\":2.0,\"newly_failing\":[],\"newly_passing\":[],\"reason\":null,\"definition\":null,\"content\":null,\
         \"session\":null,\"agent\":null}}\n",
        "a".repeat(40)
    )
}

#[test]
fn a_long_history_moves_its_oldest_lines_to_a_segment_and_goes_on() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    let lines: Vec<String> = (1..=5000).map(record).collect();
    repo.write(HISTORY, &lines.concat());
    repo.commit_all("history");
    repo.agent_does(&["touch a", "touch b"]);
    repo.run(&["--max-cycles=1"]).expect(0);
    let segment = repo.read(".agents/evolve/cycle-history.0001.jsonl");
    assert_eq!(segment, lines[..4000].concat());
    let active = repo.read(HISTORY);
    assert_eq!(active.lines().count(), 1001);
    assert!(active.starts_with(&lines[4000..].concat()));
    assert_eq!(repo.newest()["cycle"], 5001);
    assert_eq!(repo.status(), Vec::<String>::new());
    repo.run(&["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["cycle"], 5002);
    assert_eq!(
        repo.read(".agents/evolve/cycle-history.0001.jsonl"),
        segment
    );
    let shown = document(
        "history",
        &repo.evolve(&["history", "--json"]).expect(0).stdout,
    );
    let cycles: Vec<_> = shown["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["cycle"].as_u64().unwrap())
        .collect();
    assert_eq!(cycles, (1..=5002).collect::<Vec<_>>());
    assert!(repo.answer(&["show", "17"]).starts_with("cycle 17 "));
    assert!(repo.answer(&["show", "5002"]).starts_with("cycle 5002 "));
    assert!(repo.answer(&["status"]).contains("cycles     5002\n"));
}

#[test]
fn a_record_of_a_branch_that_is_left_meanwhile_rotates_and_prunes_what_that_branch_has() {
    const FOLDER: &str = ".agents/evolve";
    const ONE: &str = ".agents/evolve/cycle-history.0001.jsonl";
    const TWO: &str = ".agents/evolve/cycle-history.0002.jsonl";
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.git(&["branch", "side"]);
    let lines: Vec<String> = (1..=9000).map(record).collect();
    repo.write(ONE, &lines[..4000].concat());
    repo.write(HISTORY, &lines[4000..].concat());
    repo.write(&format!("{FOLDER}/fitness-8000.json"), "{}");
    repo.commit_all("history");
    // A person, in an environment of their own.
    repo.agent_does(&["env -i HOME=\"$HOME\" PATH=\"$PATH\" git switch -q side"]);
    repo.run(&["--max-cycles=1"]).expect(11);
    assert_eq!(repo.git(&["branch", "--show-current"]), "side");
    assert_eq!(repo.status(), Vec::<String>::new());
    let on_main = |name: &str| repo.git(&["show", &format!("main:{name}")]) + "\n";
    assert_eq!(on_main(ONE), lines[..4000].concat());
    assert_eq!(on_main(TWO), lines[4000..8000].concat());
    let listed = repo.git(&["ls-tree", "-r", "--name-only", "main", FOLDER]);
    assert!(!listed.contains("fitness-8000.json"), "{listed}");
}

#[test]
fn a_second_segment_follows_the_first() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write(".agents/evolve/cycle-history.0001.jsonl", &record(1));
    repo.write(HISTORY, &(2..=5001).map(record).collect::<String>());
    repo.commit_all("history");
    repo.cycle("touch a").expect(0);
    assert_eq!(
        repo.read(".agents/evolve/cycle-history.0001.jsonl"),
        record(1)
    );
    assert!(
        repo.read(".agents/evolve/cycle-history.0002.jsonl")
            .starts_with(&record(2))
    );
    let history = repo.evolve(&["history", "--json"]).expect(0);
    assert_eq!(
        document("history", &history.stdout)["records"]
            .as_array()
            .unwrap()
            .len(),
        5002
    );
}

#[test]
fn the_newest_hundred_snapshots_stay_and_older_ones_live_in_git() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write(HISTORY, &(1..=150).map(record).collect::<String>());
    for cycle in 1..=150 {
        repo.write(&format!(".agents/evolve/fitness-{cycle}.json"), "{}\n");
        repo.write(&format!(".agents/evolve/fitness-{cycle}-post.json"), "{}\n");
    }
    repo.write(".agents/evolve/fitness-0-baseline.json", "{}\n");
    repo.commit_all("history");
    repo.cycle("touch a").expect(0);
    let listed = repo.git(&["ls-tree", "--name-only", "HEAD", ".agents/evolve/"]);
    let of = |end: &str| -> Vec<u64> {
        let mut cycles: Vec<u64> = listed
            .lines()
            .filter_map(|path| {
                path.strip_prefix(".agents/evolve/fitness-")?
                    .strip_suffix(end)?
                    .parse()
                    .ok()
            })
            .collect();
        cycles.sort();
        cycles
    };
    assert_eq!(of(".json"), (52..=151).collect::<Vec<_>>());
    assert_eq!(of("-post.json"), (52..=151).collect::<Vec<_>>());
    assert!(listed.contains("fitness-0-baseline.json"));
    assert_eq!(repo.status(), Vec::<String>::new());
    assert!(
        !repo.has(".agents/evolve/fitness-51.json") && repo.has(".agents/evolve/fitness-52.json")
    );
}

#[test]
fn stop_and_its_ways_back_say_what_they_did() {
    let repo = small();
    assert_snapshot!(repo.answer(&["stop", "done", "for", "today"]), @r#"
    no evolve is at work here; no loop or search begins while .agents/evolve/STOP is there
    `evolve stop --off` takes it away
    "#);
    assert_eq!(repo.read(".agents/evolve/STOP"), "done for today\n");
    assert_eq!(repo.status(), Vec::<String>::new());
    assert_snapshot!(repo.answer(&["--dry-run"]), @"dry run: nothing would be done: STOP file .agents/evolve/STOP: done for today — `evolve stop --off` takes it away");
    assert_snapshot!(repo.answer(&["stop", "--off"]), @"removed [root]/.agents/evolve/STOP");
    assert_snapshot!(repo.answer(&["stop", "--off"]), @"was not there: [root]/.agents/evolve/STOP");
    assert_snapshot!(repo.answer(&["stop", "--kill", "on holiday"]), @r#"
    every loop and search of this user stops within a second: [home]/.config/evolve/KILL
    `evolve stop --off --kill` takes it away
    "#);
    assert_eq!(
        fs::read_to_string(repo.home().join(".config/evolve/KILL")).unwrap(),
        "on holiday\n"
    );
    assert_snapshot!(repo.answer(&["status"]), @r#"
    repository [root] on main
    goals      2
    session    none
    protected  no sandbox: the agent may write wherever you may; its git cannot push
    sandboxes  [here]
    KILL       [home]/.config/evolve/KILL — `evolve stop --off --kill` takes it away
    score      none is recorded yet
    cycles     0
    queue      1 open, 0 set aside, 0 done
    "#);
    assert_snapshot!(repo.answer(&["stop", "--off"]), @r#"
    was not there: [root]/.agents/evolve/STOP
    a KILL file still keeps every loop and search of this user from running: [home]/.config/evolve/KILL; `evolve stop --off --kill` takes it away
    "#);
    assert_snapshot!(repo.answer(&["stop", "--off", "--kill"]), @"removed [home]/.config/evolve/KILL");
    assert_snapshot!(repo.answer(&["stop", "--now"]), @"no evolve is at work here");
    repo.error(2, &["stop", "--now", "--kill"]);
    repo.error(2, &["stop", "--off", "why"]);
}

#[test]
fn retry_writes_a_line_that_its_schema_describes() {
    let repo = small();
    repo.cycle("true").expect(0);
    assert_snapshot!(repo.answer(&["retry", "a"]), @"a may be worked on again; its earlier attempts no longer count");
    let line = document("retry", &repo.read(".agents/evolve/retries.jsonl"));
    assert_eq!(
        (&line["goal_id"], &line["after_cycle"]),
        (&Value::from("a"), &Value::from(1))
    );
}

#[test]
fn retry_of_a_goal_that_was_not_tried_says_so_and_writes_nothing() {
    let repo = small();
    let nothing = "nothing to retry: no attempt at a counts, so it is worked on when it fails\n";
    assert_eq!(repo.answer(&["retry", "a"]), nothing);
    assert!(!repo.has(".agents/evolve/retries.jsonl"));
    repo.cycle("true").expect(0);
    repo.evolve(&["retry", "a"]).expect(0);
    let written = repo.read(".agents/evolve/retries.jsonl");
    assert_eq!(repo.answer(&["retry", "a"]), nothing);
    assert_eq!(repo.read(".agents/evolve/retries.jsonl"), written);
}

#[test]
fn several_goals_are_retried_at_once_or_none_where_one_is_unknown() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 4), ("c", 3)]);
    repo.agent_does(&["exit 1"; 6]);
    repo.run(&["--max-cycles=6"]).expect(0);
    let retries = ".agents/evolve/retries.jsonl";
    repo.error(2, &["retry", "a", "nope"]);
    repo.error(2, &["retry", "--all", "a"]);
    let error = repo.error(2, &["retry"]);
    assert!(error.contains("evolve retry [OPTIONS] --all"), "{error}");
    assert!(!repo.has(retries));
    let again = "may be worked on again; its earlier attempts no longer count\n";
    assert_eq!(
        repo.answer(&["retry", "--all"]),
        format!("a {again}b {again}")
    );
    assert_eq!(repo.read(retries).lines().count(), 2);
    assert_eq!(
        repo.answer(&["retry", "--all"]),
        "nothing to retry: no goal waits for a person\n"
    );
    repo.agent_does(&["exit 1"; 4]);
    repo.run(&["--max-cycles=4"]).expect(0);
    assert_eq!(
        repo.answer(&["retry", "b", "a", "b"]),
        format!("b {again}a {again}")
    );
}

#[test]
fn work_is_queued_and_listed_in_the_order_in_which_it_will_be_done() {
    let repo = small();
    let mut said = String::new();
    for arguments in [
        &["work", "add", "tidy up", "--severity=low"][..],
        &[
            "work",
            "add",
            "stop the leak",
            "--severity=critical",
            "--type=bug",
            "--description",
            "it drips",
        ],
        &["work", "add", "stop the leak"],
        &["work", "add", "not here", "--target-repo=elsewhere"],
        &["work", "list"],
    ] {
        said.push_str(&repo.answer(arguments));
    }
    assert_snapshot!(said, @r#"
    queued: tidy up
    queued: stop the leak
    already in the queue, as 690ef8
    queued: not here
    690ef8  [critical]  stop the leak  (bug)   evolve work add
    aa4cb1  [high]      say more       (docs)
    897fd2  [low]       tidy up        (task)  evolve work add
    "#);
    for line in repo.read(QUEUE).lines() {
        document("work", &format!("{line}\n"));
    }
    repo.error(2, &["work", "add", "x", "--severity=urgent"]);
    repo.error(2, &["work", "add"]);
    repo.error(2, &["work", "add", " \t"]);
    assert_snapshot!(TestRepo::empty().answer(&["work", "list"]), @"nothing is queued for repo");
}

#[test]
fn the_screens_of_a_fresh_repository() {
    let repo = small();
    assert_snapshot!(repo.answer(&["measure"]), @r#"
    FAIL  a [s]  exit 1
    pass  readme [s]
    score 37.5: 1 of 2 goals pass
    "#);
    assert_snapshot!(repo.answer(&["validate"]), @r#"
    GOALS.yaml: 2 goals, no problems
      a (weight 5)
      readme (weight 3)
    "#);
    assert_snapshot!(repo.answer(&["status"]), @r#"
    repository [root] on main
    goals      2
    session    none
    protected  no sandbox: the agent may write wherever you may; its git cannot push
    sandboxes  [here]
    score      none is recorded yet
    cycles     0
    queue      1 open, 0 set aside, 0 done
    "#);
    assert_snapshot!(repo.answer(&["history"]), @"no cycles yet");
    assert_snapshot!(repo.answer(&["--dry-run"]), @r#"
    FAIL  a [s]  exit 1
    pass  readme [s]
    score 37.5: 1 of 2 goals pass

    dry run: would work on a
      reason:      the only failing goal, weight 5
      weight:      5
      description: file a exists
      check:       test -e a
      agent:       no agent is configured and none is installed; `evolve doctor` looks closer

    queue for repo:
    [high]  say more  (docs)
    "#);
    assert_snapshot!(repo.error(2, &["show", "1"]), @r#"
    error: there is no cycle 1
    hint: no cycle is recorded yet
    "#);
}

#[test]
fn the_screens_of_a_repository_that_was_lived_in() {
    let repo = lived_in();
    assert_snapshot!(repo.answer(&["status"]), @r#"
    repository [root] on main
    goals      2
    session    none
    protected  no sandbox: the agent may write wherever you may; its git cannot push
    sandboxes  [here]
    score      100 (baseline 37.5), 2 of 2 goals pass
    cycles     7
    newest     cycle 7, nothing to do: idle — no goal fails and the queue is empty
    queue      0 open, 0 set aside, 1 done
    "#);
    assert_snapshot!(repo.answer(&["history"]), @r#"
    cycle  result     goal                score               passing         agent   commit      recorded              why
    1      regressed  a                   37.5 → 62.5 → 37.5  1 of 2, undone [s]  [id]  [time]  passed before and no longer: readme (exit 1)
    2      failed     a                   37.5                1 of 2 [s]  [time]  no change; the agent ended with exit 3
    3      improved   a                   37.5 → 100          2 of 2 [s]  [id]  [time]
    4      harvested  next-work:say more  100                 2 of 2 [s]  [id]  [time]
    5      idle       –                   100                 2 of 2                              [time]  no goal fails and the queue is empty
    6      idle       –                   100                 2 of 2                              [time]  no goal fails and the queue is empty
    7      idle       –                   100                 2 of 2                              [time]  no goal fails and the queue is empty

    score  37.5 ▁▁▁█████ 100
    "#);
    assert_snapshot!(repo.answer(&["show", "1"]), @r#"
    cycle 1 · a · regressed
    why            passed before and no longer: readme (exit 1)
    score          measured 37.5 → 62.5, undone: back at 37.5
    passing        1 of 2 goals (measured, not kept)
    newly passing  a
    newly failing  readme
    agent          sh [outside]/agent: done after [s], exit 0, tokens and cost unknown
    commit         [commit]
    undone to      [commit]
    recorded       [time]
    session        [session]
    note           new files that the undo removed (they are in refs/evolve/[session]/1): a

    goals, before and after; 2 changed
    a       FAIL  →  pass
    readme  pass  →  FAIL  exit 1

    brief .git/evolve/logs/[session]/1-brief.txt
        You work in a git repository, in your current directory, unattended: nobody answers questions.

        Make this goal pass: **a** — file a exists

        It counts as met when this command, run in the repository's root, ends with exit code 0:

            test -e a

        It fails now: exit 1.
        … and 15 lines more in that file

    end of the agent's log .git/evolve/logs/[session]/1-agent.log
        it printed nothing

    changed: 1 file, 0 lines added, 0 removed
    readme → a  0
    "#);
    assert_snapshot!(repo.answer(&["show", "4"]), @r#"
    cycle 4 · next-work:say more · harvested
    score          100
    passing        2 of 2 goals
    agent          sh [outside]/agent: done after [s], exit 0, tokens and cost unknown
    commit         [commit]
    recorded       [time]
    session        [session]

    goals, before and after; 0 changed
    a       pass  pass
    readme  pass  pass

    brief .git/evolve/logs/[session]/4-brief.txt
        You work in a git repository, in your current directory, unattended: nobody answers questions.

        Do this piece of work: **say more**

        in the readme

        Severity high, type docs.
        … and 15 lines more in that file

    end of the agent's log .git/evolve/logs/[session]/4-agent.log
        it printed nothing

    changed: 1 file, 1 line added, 0 removed
    readme  1  +
    "#);
    assert_snapshot!(repo.answer(&["show", "7"]), @r#"
    cycle 7 · idle
    why            no goal fails and the queue is empty
    score          100
    passing        2 of 2 goals
    commit         none of its own; the branch stood at [commit]
    recorded       [time]
    session        [session]

    goals
    a       pass
    readme  pass
    "#);
    assert_snapshot!(repo.answer(&["--dry-run"]), @r#"
    pass  a [s]
    pass  readme [s]
    score 100: 2 of 2 goals pass

    dry run: nothing to do — no goal fails and the queue is empty
    "#);
    assert_snapshot!(repo.error(2, &["show", "8"]), @r#"
    error: there is no cycle 8
    hint: the newest is 7; `evolve history` lists them
    "#);
    assert_snapshot!(repo.redacted(&repo.run(&[]).expect(0).stdout), @r#"
    evolve 0.1.0 · session [session] · 2 goals · agent sh [outside]/agent · [jobs] at once
    protections: no sandbox: the agent may write wherever you may; its git cannot push
    measured: score 100, 2 of 2 goals pass
    dormant: still nothing to do: no goal fails and the queue is empty
    score 100 → 100, goals passing 2 → 2 of 2, 0 cycles; the baseline: score 37.5, goals passing 1 of 2
    "#);
}

#[test]
fn validate_tells_what_is_frozen_and_what_only_protect_would_freeze() {
    let repo = TestRepo::empty();
    repo.write("Makefile", "check:\n\ttrue\n");
    repo.write("scripts/check.sh", "true\n");
    repo.write(
        "GOALS.yaml",
        "evolve: {protect: [\"tests/**\"]}\ngoals:\n  - {id: a, description: d, check: sh scripts/check.sh, weight: 1}\n  \
         - {id: b, description: d, check: make check, weight: 1}\n  \
         - {id: c, description: d, check: echo 1, weight: 1, continuous: {metric: m, threshold: 1}}\n",
    );
    repo.commit_all("first");
    let run = repo.evolve(&["validate"]).expect(0);
    assert_snapshot!(run.stdout, @r#"
    GOALS.yaml: 3 goals, no problems
      a (weight 1)
      b (weight 1)
      c (weight 1)
    frozen while a cycle runs: scripts/check.sh
    hint: checks lean on Makefile without running it directly; to freeze it too, add under `evolve:` (or as `product`, if it is what agents work on)
      protect: ["Makefile"]
    protected, new files included: tests/** — with --test-first an agent can add no test there
    hint: there is no file yet that is called tests/**
    "#);
    let (said, _) = run.stderr.split_once('\n').unwrap();
    assert_snapshot!(said, @"warning: without a direction the exit code alone decides, the value is only shown");
    assert!(run.stderr.contains("GOALS.yaml:5:90\n"), "{}", run.stderr);
}

#[test]
fn validate_names_several_files_that_checks_lean_on_as_several() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: d, check: make check, weight: 1}\n  - {id: b, description: d, check: just check, weight: 1}\n",
    );
    repo.write("Makefile", "check:\n\ttrue\n");
    repo.write("justfile", "check:\n\ttrue\n");
    repo.commit_all("tasks");
    let said = repo.answer(&["validate"]);
    let hint = "without running them directly; to freeze them too, add under `evolve:` (or as `product`, if they are what agents work on)";
    assert!(said.contains(hint), "{said}");
}

#[test]
fn validate_refuses_commands_that_the_shell_cannot_read_and_points_to_them() {
    let repo = TestRepo::with_goals(
        "  - {id: open, description: d, weight: 1, check: 'if true; then touch ran'}\n  - {id: fine, description: d, weight: 1, check: 'touch ran'}\n",
    );
    let run = repo.evolve(&["validate"]).expect(2);
    let said = "error: check: the shell cannot read it: sh: ";
    assert!(run.stderr.starts_with(said), "{}", run.stderr);
    assert!(
        run.stderr.contains("GOALS.yaml:3:50") && run.stderr.contains("'if true; then touch ran'"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("fine") && run.stdout.is_empty());
    assert!(!repo.has("ran"));
}

#[test]
fn validate_names_checks_that_change_what_they_look_at() {
    let goal = "  - {id: fmt, description: d, weight: 1, check: cargo fmt}\n";
    let repo = TestRepo::with_goals(goal);
    let said = repo.evolve(&["validate"]).expect(0).stderr;
    let warning = "warning: the check of fmt changes files (cargo fmt); a goal only looks, as `cargo fmt --check` does";
    assert!(said.contains(warning), "{said}");
    repo.write(
        "GOALS.yaml",
        &format!("evolve: {{measure: clean}}\ngoals:\n{goal}"),
    );
    let said = repo.evolve(&["validate"]).expect(0).stderr;
    assert!(!said.contains("changes files"), "{said}");
}

#[test]
fn validate_names_checks_that_would_see_evolves_own_files() {
    let repo = TestRepo::empty();
    repo.write("tool.cfg", "x\n");
    repo.write(
        "GOALS.yaml",
        "evolve: {protect: [tool.cfg]}\ngoals:\n  - {id: no-markers, description: d, check: \"! git grep -n TODO\", weight: 1}\n  \
         - {id: few-files, description: d, check: \"git ls-files -- . ':!.agents' | wc -l\", weight: 1}\n",
    );
    repo.commit_all("first");
    let run = repo.evolve(&["validate"]).expect(0);
    assert_snapshot!(run.stdout, @r"
    GOALS.yaml: 2 goals, no problems
      no-markers (weight 1)
      few-files (weight 1)
    hint: no-markers would see evolve's own files in .agents too, which are committed with every cycle; to leave them out, end the git command with
      -- . ':!.agents'
    protected: tool.cfg
    ");
}

#[test]
fn measure_with_more_words_tells_each_check_once_as_it_begins_and_ends() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("longer", 3)]);
    assert_snapshot!(repo.answer(&["measure", "-v", "--jobs=1"]), @r"
    running 2 checks (measure)
      a …
    FAIL  a [s]  exit 1
      longer …
    FAIL  longer [s]  exit 1
    score 0: 0 of 2 goals pass
    ");
}

#[test]
fn what_several_checks_print_alike_is_printed_once() {
    let goal = |id: &str, last: &str| {
        let check = format!("for n in a b c d; do echo $n: no network; done; {last}exit 1");
        format!("  - {{id: {id}, description: d, check: '{check}', weight: 5}}\n")
    };
    let goals = [
        goal("builds", ""),
        goal("vet", ""),
        goal("tests-pass", "echo FAIL; "),
    ];
    let repo = TestRepo::with_goals(&goals.concat());
    assert_snapshot!(repo.answer(&["measure"]), @r"
    FAIL  builds [s]  exit 1
    FAIL  vet [s]  exit 1
    FAIL  tests-pass [s]  exit 1
    score 0: 0 of 3 goals pass

    output of builds
        a: no network
        b: no network
        c: no network
        d: no network

    output of vet: the same as that of builds

    output of tests-pass: much as that of builds, and
        FAIL
    ");
}

#[test]
fn measure_shows_values_reasons_and_the_last_output_of_what_fails() {
    let repo = TestRepo::with_goals(
        "  - {id: tests-pass, description: d, check: \"echo one; echo two; exit 3\", weight: 5}\n  \
         - {id: coverage, description: d, check: echo 79.5, weight: 5, continuous: {metric: lines covered, threshold: 80, direction: at-least}}\n  \
         - {id: warnings, description: d, check: echo 3, weight: 5, continuous: {metric: warnings, threshold: 5, direction: at-most}}\n  \
         - {id: linted, description: d, check: no-such-linter, weight: 5}\n  \
         - {id: quick, description: d, check: sleep 60, weight: 1, timeout: 1}\n",
    );
    assert_snapshot!(repo.answer(&["measure"]), @r#"
    FAIL  tests-pass [s]  exit 3
    FAIL  coverage [s]  79.5 vs 80  lines covered is 79.5, wanted at least 80
    pass  warnings [s]  3 vs 5
    skip  linted [s]  cannot be executed (exit 127): sh: 1: no-such-linter: not found
    FAIL  quick [s]  timed out after 1s
    score 23.81: 1 of 5 goals pass, 1 skipped

    output of tests-pass
        one
        two

    output of coverage
        79.5
    "#);
}

#[test]
fn the_story_of_a_run_that_needs_a_human_at_the_end() {
    let repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.agent_does(&[
        "echo 'needs a password' >\"$EVOLVE_GIVE_UP\"",
        "exit 1",
        "true",
        "echo x >x",
    ]);
    let run = repo.run(&[]).expect(11);
    assert_snapshot!(repo.redacted(&run.stdout), @r#"
    evolve 0.1.0 · session [session] · 2 goals · agent sh [outside]/agent · [jobs] at once
    protections: no sandbox: the agent may write wherever you may; its git cannot push
    baseline: score 0, 0 of 2 goals pass; failing a, b
    cycle 1 · a: heaviest failing goal, weight 5
      agent at work, log .git/evolve/logs/[session]/1-agent.log
      agent done after [s]: 0 commits, 0 files
      failed · score 0 (0 of 2 goals)
      declined: needs a password
      a is declined and passed over from now on; `evolve retry a` lets it be worked on again
    cycle 2 · b: heaviest failing goal, weight 3; passed over: a (declined)
      measured: score 0, 0 of 2 goals pass; failing a, b
      agent at work, log .git/evolve/logs/[session]/2-agent.log
      agent failed after [s]: 0 commits, 0 files
      failed · score 0 (0 of 2 goals)
      no change; the agent ended with exit 1
    cycle 3 · b: heaviest failing goal, weight 3; passed over: a (declined)
      agent at work, log .git/evolve/logs/[session]/3-agent.log
      agent done after [s]: 0 commits, 0 files
      unchanged · score 0 (0 of 2 goals)
      the agent changed nothing
    cycle 4 · b: heaviest failing goal, weight 3; passed over: a (declined)
      agent at work, log .git/evolve/logs/[session]/4-agent.log
      agent done after [s]: 1 file, committed by evolve
      unchanged · score 0 (0 of 2 goals)
      kept: it still fails: exit 1
      b is struck after 3 cycles without progress and passed over from now on; `evolve retry b` lets it be worked on again
    stopped after 4 cycles: a human is needed: a (declined: needs a password); b (struck: it still fails: exit 1)
    hint: `evolve retry ID` lets a goal be worked on again
    score 0 → 0, goals passing 0 → 0 of 2, 4 cycles: 2 unchanged, 2 failed
    agent: 4 calls, tokens and cost unknown
    "#);
    assert_eq!(run.stderr, "");
}

#[test]
fn verbose_tells_of_each_check_and_twice_of_git() {
    let repo = wanting_a();
    repo.agent_does(&["touch a"]);
    let run = repo.run(&["-v", "--jobs=1", "--max-cycles=1"]).expect(0);
    assert_snapshot!(repo.redacted(&run.stdout), @r#"
    evolve 0.1.0 · session [session] · 1 goal · agent sh [outside]/agent · [jobs] at once
    protections: no sandbox: the agent may write wherever you may; its git cannot push
    running 1 check (baseline)
      a …
      FAIL a [s]: exit 1
    baseline: score 0, 0 of 1 goal passes; failing a
    cycle 1 · a: the only failing goal, weight 5
      agent at work, log .git/evolve/logs/[session]/1-agent.log
      agent done after [s]: 1 file, committed by evolve
      running 1 check (after)
        a …
        pass a [s]
      measured: score 100, 1 of 1 goal passes (after)
      improved · score 0 → 100 (0 → 1 of 1 goal)
    limit of 1 cycle reached (--max-cycles)
    score 0 → 100, goals passing 0 → 1 of 1, 1 cycle: 1 improved
    agent: 1 call, tokens and cost unknown
    "#);
    assert_eq!(run.stderr, "");
    let run = repo.run(&["-vv", "--max-cycles=1"]).expect(0);
    assert!(run.stderr.contains("status --porcelain"), "{}", run.stderr);
}

#[test]
fn skip_baseline_takes_none_and_test_first_asks_for_a_failing_test() {
    for (option, has_baseline) in [("--skip-baseline", false), ("--test-first", true)] {
        let repo = small();
        repo.agent_does(&["touch a"]);
        repo.run(&[option, "--max-cycles=1"]).expect(0);
        assert_eq!(
            repo.has(".agents/evolve/fitness-0-baseline.json"),
            has_baseline,
            "{option}"
        );
        assert_eq!(
            repo.brief(1).contains("failing test"),
            option == "--test-first",
            "{option}"
        );
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let repo = TestRepo::empty();
    let version = format!("evolve {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(repo.evolve(&["--version"]).expect(0).stdout, version);
}

#[test]
fn without_goals_status_says_how_to_have_some() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.write("GOALS.yaml", "goals: 1\n");
    let said = repo.answer(&["status"]);
    let broken = "\ngoals      GOALS.yaml cannot be read; `evolve validate` says why\n";
    assert!(said.contains(broken), "{said}");
    std::fs::remove_file(repo.path("GOALS.yaml")).unwrap();
    let said = repo.answer(&["status"]);
    let none = "\ngoals      none: there is no GOALS.yaml; `evolve init` writes one\n";
    assert!(said.contains(none), "{said}");
    let said = repo.answer(&["status", "--goals", "other.yaml"]);
    let none = "none: there is no other.yaml; `evolve init --goals other.yaml` writes one\n";
    assert!(said.contains(none), "{said}");
}

#[test]
fn programs_are_told_what_validate_finds_problems_with_their_places_too() {
    let repo = TestRepo::empty();
    repo.write("Makefile", "t:\n\tsh t.sh\n");
    repo.write("t.sh", "");
    let goals = "goals:\n  - {id: a, description: d, check: make t && sh t.sh, weight: 5}\n";
    repo.write(
        "GOALS.yaml",
        &format!("evolve: {{protect: [new.sh]}}\n{goals}"),
    );
    repo.commit_all("first");
    let asked = |code: i32| -> Value {
        let run = repo.evolve(&["validate", "--json"]).expect(code);
        assert_eq!(run.stderr, "");
        serde_json::from_str(&run.stdout).unwrap()
    };
    let found = asked(0);
    assert_eq!(found["valid"], true);
    assert_eq!(
        found["goals"],
        serde_json::json!([{"id": "a", "weight": 5}])
    );
    assert_eq!(found["frozen"], serde_json::json!(["t.sh"]));
    assert_eq!(found["protect_without_file"], serde_json::json!(["new.sh"]));
    assert_eq!(found["proposals"][0]["add"], "protect: [\"Makefile\"]");
    repo.write(
        "GOALS.yaml",
        &goals.replace("weight: 5", "weight: 50, wieght: 1"),
    );
    let found = asked(2);
    assert_eq!(found["valid"], false);
    let problems = found["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{found}");
    assert!(problems.iter().all(|one| one["line"] == 2), "{found}");
    repo.write("GOALS.yaml", "");
    let found = asked(2);
    assert_eq!(found["problems"].as_array().unwrap().len(), 1, "{found}");
}

#[test]
fn the_status_is_told_while_the_baseline_is_measured() {
    let repo = TestRepo::empty();
    let (begun, go) = (repo.outside().join("begun"), repo.outside().join("go"));
    let check = format!(
        "touch {}; until [ -e {} ]; do sleep 0.02; done; test -e a",
        begun.display(),
        go.display()
    );
    repo.write(
        "GOALS.yaml",
        &format!(
            "version: 1\ngoals:\n  - {{id: a, description: d, check: '{check}', weight: 5}}\n"
        ),
    );
    repo.commit_all("first");
    let child = repo.spawn(&["--agent=touch a", "--max-cycles=1"]);
    wait_until("the baseline", || begun.exists());
    let (page, document) = (repo.evolve(&["status"]), repo.evolve(&["status", "--json"]));
    fs::write(go, "").unwrap();
    finish(child).expect(0);
    let page = page.expect(0).stdout;
    assert!(
        page.contains("now        the baseline: goals are measured, since 2"),
        "{page}"
    );
    let mut document: Value = serde_json::from_str(&document.expect(0).stdout).unwrap();
    let since = document["now"].as_object_mut().unwrap().remove("since");
    assert!(since.is_some_and(|since| since.as_str().is_some_and(|it| it.ends_with('Z'))));
    let now = json!({"cycle": 0, "phase": "measuring", "goal_id": null});
    assert_eq!(document["now"], now);
}
