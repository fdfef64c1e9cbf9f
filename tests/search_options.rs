//! What a search is asked for: flags, SEARCH.yaml, questions at a terminal; and what its agents are told.

use std::fs;

use evolve::model::schema;
use serde_json::Value;

use crate::harness::{TestRepo, finish, signal};
use crate::terminal::Terminal;

/// A repository whose fitness command prints the number in the file `value`.
fn counting() -> TestRepo {
    let repo = TestRepo::empty().with_out();
    repo.write("score.sh", "cat value\n");
    repo.write("value", "1\n");
    repo.commit_all("first");
    repo
}

const COUNT: &str = "echo $(($(cat value) + 1)) >value\n";

impl TestRepo {
    /// An agent that does the same in each call; returns it as an option.
    fn agent_always(&self, script: &str) -> String {
        let file = self.outside().join("always");
        fs::write(
            &file,
            format!("cat >\"$OUT/brief-$EVOLVE_ATTEMPT\"\n{script}"),
        )
        .unwrap();
        format!("--agent=sh {}", file.display())
    }

    /// The lineage of the newest search, line by line.
    fn entries(&self) -> Vec<Value> {
        let folder = self.private().join("search");
        let name = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        let entries = fs::read_dir(&folder).unwrap().flatten();
        let mut numbers: Vec<u64> = entries.filter_map(name).collect();
        numbers.sort_unstable();
        let file = folder.join(numbers.last().unwrap().to_string());
        let text = fs::read_to_string(file.join("lineage.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// What the newest search was asked for.
    fn plan(&self) -> Value {
        self.entries().remove(0)["header"].clone()
    }

    fn edits(&self) -> Vec<Value> {
        let entries = self.entries().into_iter();
        entries
            .filter_map(|entry| entry.get("edit").map(|edit| edit["edited"].clone()))
            .collect()
    }
}

#[test]
fn the_file_says_what_flags_do_not() {
    let repo = counting();
    let agent = repo.agent_always(COUNT);
    let agent = agent.trim_start_matches("--agent=");
    repo.write(
        "SEARCH.yaml",
        &format!(
            "fitness: sh score.sh\nfiles: [value]\ngates: ['true']\nseed: 7\nmax_attempts: 5\nlenses: [caching, 'mine: my own']\nprotect: [other]\nagent: {agent}\nx-free: 1\n"
        ),
    );
    let said = repo.error(3, &["search"]);
    assert!(said.contains("SEARCH.yaml is not committed"), "{said}");
    assert!(
        said.contains("`git add SEARCH.yaml && git commit"),
        "{said}"
    );
    repo.commit_all("search");

    let run = repo.evolve(&["search", "--max-attempts=2"]).expect(0);
    assert!(
        run.stdout
            .contains("winner     attempt 2: 3, +2 (+200 %), the baseline 1"),
        "{run:?}"
    );
    let plan = repo.plan();
    assert_eq!(
        (&plan["seed"], &plan["max_attempts"]),
        (&7.into(), &2.into())
    );
    let mut lenses: Vec<&str> = plan["lenses"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    lenses.sort_unstable();
    assert_eq!(lenses, ["caching: nothing computed twice", "mine: my own"]);
    assert_eq!(plan["request"]["gates"][0], "true");
    assert_eq!(
        plan["request"]["protect"],
        serde_json::json!(["other", "SEARCH.yaml"])
    );

    repo.write("SEARCH.yaml", "fitness: sh score.sh\n");
    let said = repo.error(3, &["search", "--files=value"]);
    assert!(said.contains("not committed: SEARCH.yaml"), "{said}");
    repo.write(
        "elsewhere.yaml",
        "fitness: sh score.sh\nfiles: value\nstal: 3\n",
    );
    let said = repo.error(2, &["search", "--file=elsewhere.yaml"]);
    for line in [
        "elsewhere.yaml:2:8",
        "2 | files: value",
        "files: expected a list of texts, not the text \"value\"",
        "elsewhere.yaml:3:1",
        "did you mean stale?",
    ] {
        assert!(said.contains(line), "{line}\n--- is not in\n{said}");
    }
    let said = repo.error(2, &["search", "--file=none.yaml"]);
    assert!(said.contains("there is no none.yaml"), "{said}");
    fs::remove_file(repo.path("SEARCH.yaml")).unwrap();
    let said = repo.error(2, &["search"]);
    assert!(
        said.contains("no fitness command") && said.contains("evolve search init"),
        "{said}"
    );
}

#[test]
fn what_the_reader_takes_the_schema_describes() {
    let whole = fs::read_to_string("tests/formats/v1/search.yaml").unwrap();
    let takes = |text: &str| evolve::model::search::file::read_search(text.as_bytes()).is_ok();
    let describes = |text: &str| {
        let value: Value = serde_yaml::from_str(text).unwrap();
        schema::check("search", &value).is_ok()
    };
    for (text, is_right) in [
        (whole.as_str(), true),
        ("fitness: a\nstale: off\n", true),
        (
            "fitness: a\nx-b: [1]\nmax_time: 90\nsandbox: {mode: auto}\n",
            true,
        ),
        ("files: [a]\n", false),
        ("fitness: a\nk: 1\n", false),
        ("fitness: a\nnope: 1\n", false),
        ("fitness: a\nmax_cost: 0\n", false),
    ] {
        assert_eq!(
            (takes(text), describes(text)),
            (is_right, is_right),
            "{text}"
        );
    }
}

#[test]
fn neither_the_file_nor_the_yardstick_is_changed_by_attempts() {
    let repo = counting();
    repo.write("SEARCH.yaml", "fitness: sh score.sh\nmax_attempts: 1\n");
    repo.commit_all("search");
    let agent = repo.agent_always(&format!(
        "{COUNT}echo x >>SEARCH.yaml; echo echo 9 >score.sh\n"
    ));
    let run = repo.evolve(&["search", "--files", "**", &agent]).expect(0);
    assert!(!run.stderr.contains("yardstick"), "{run:?}");
    let edit = repo.edits().remove(0);
    assert_eq!(
        edit["left_out"],
        serde_json::json!(["SEARCH.yaml", "score.sh"])
    );
    assert_eq!(
        repo.plan()["request"]["frozen"],
        serde_json::json!(["SEARCH.yaml", "score.sh"])
    );

    // Named without a wildcard it may be, and that is said; the file itself may not.
    let arguments = [
        "search",
        "--files",
        "value",
        "./score.sh",
        "SEARCH.yaml",
        &agent,
    ];
    let run = repo.evolve(&arguments).expect(0);
    let all = format!("{}{}", run.stdout, run.stderr);
    assert!(all.contains("attempts can change the yardstick"), "{all}");
    assert_eq!(
        repo.edits().remove(0)["left_out"],
        serde_json::json!(["SEARCH.yaml"])
    );
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_begun() {
    let repo = counting();
    for (arguments, words) in [
        (
            &["search", "sh score.sh"][..],
            "it is not said which files attempts may change",
        ),
        (
            &["search", "sh score.sh", "--files=value", "-k=3"],
            "-k is an option of the strategy population",
        ),
        (
            &[
                "search",
                "sh score.sh",
                "--files=value",
                "-g=3",
                "--strategy=climb",
            ],
            "-g is an option of the strategy population",
        ),
        (
            &[
                "search",
                "sh score.sh",
                "--files=value",
                "--strategy=population",
            ],
            "add --yes",
        ),
        (
            &[
                "search",
                "sh score.sh",
                "--files=value",
                "--strategy=populations",
            ],
            "did you mean population?",
        ),
        (
            &["search", "shwo", "3"],
            "`shwo` is no command of `evolve search`, and no program that could print a number\nhint: did you mean `evolve search show`?",
        ),
        (
            &["search", "bord", "--chart"],
            "did you mean `evolve search board`?",
        ),
        (
            &["search", "sh score.sh", "3"],
            "cannot be used with '[FITNESS]'",
        ),
        (
            &["--agent=x", "search", "sh score.sh", "--files=value"],
            "write --agent after `search`",
        ),
        (
            &["--max-cost=1", "search", "resume"],
            "write --max-cost after `search`",
        ),
        (
            &["--max-cycles=1", "search", "board"],
            "`search` has no use for it",
        ),
    ] {
        let said = repo.error(2, arguments);
        assert!(said.contains(words), "{words}\n--- is not in\n{said}");
    }
    repo.write(
        "SEARCH.yaml",
        "fitness: sh score.sh\nfiles: [value]\ngenerations: 3\n",
    );
    repo.commit_all("search");
    let said = repo.error(2, &["search"]);
    assert!(
        said.contains("generations is an option of the strategy population"),
        "{said}"
    );
    assert!(said.contains("SEARCH.yaml:3:1"), "{said}");
    assert!(!repo.private().join("search").exists());
}

#[test]
fn goals_that_pass_on_the_untouched_code_are_gates() {
    let repo = counting();
    repo.write(
        "GOALS.yaml",
        "version: 1\ngoals:\n\
         - {id: small, description: small, check: 'test $(cat value) -lt 3', weight: 5}\n\
         - {id: never, description: never, check: 'false', weight: 5}\n\
         - {id: much, description: much, check: 'echo 9', weight: 5, continuous: {metric: m, threshold: 1, direction: at-least}}\n",
    );
    repo.commit_all("goals");
    let agent = repo.agent_always(COUNT);
    let run = repo
        .evolve(&[
            "search",
            "sh score.sh",
            "--files=value",
            "--goals-as-gates",
            "--max-attempts=2",
            &agent,
        ])
        .expect(0);
    let all = format!("{}{}", run.stdout, run.stderr);
    assert!(
        all.contains(
            "1 of 3 goals are gates: small; not passing: never; measured against a threshold: much"
        ),
        "{all}"
    );
    assert!(run.stdout.contains("winner     attempt 1: 2, "), "{all}");
    assert!(all.contains("attempt 2 · gate failed"), "{all}");
    let plan = repo.plan();
    assert_eq!(
        plan["request"]["gates"],
        serde_json::json!(["test $(cat value) -lt 3"])
    );
    assert!(
        plan["request"]["frozen"].to_string().contains("GOALS.yaml"),
        "{plan}"
    );
}

#[test]
fn one_search_runs_at_a_time_and_one_that_is_unfinished_is_named() {
    let repo = counting();
    let agent = repo.agent_always("touch \"$OUT/began\"; sleep 60\n");
    let arguments = ["search", "sh score.sh", "--files=value", &agent];
    let running = repo.spawn(&arguments);
    repo.wait_for("began");
    repo.error(5, &arguments);
    signal(&running, "TERM");
    assert_eq!(finish(running).code, 143);
    let said = repo.error(2, &arguments);
    assert!(said.contains("search 1 is unfinished"), "{said}");
    assert!(
        said.contains("`evolve search resume`") && said.contains("`evolve search discard`"),
        "{said}"
    );
    repo.evolve(&["search", "discard"]).expect(0);
}

#[test]
fn a_file_is_written_from_what_is_found_and_never_over_another() {
    let repo = counting();
    repo.write("bench.sh", "#!/bin/sh\ncat value\n");
    repo.write("lib/a.py", "x = 1\n");
    repo.write("Makefile", "test:\n\tsh -n bench.sh\nbench:\n\ttrue\n");
    repo.commit_all("more");
    let run = repo.evolve(&["search", "init"]).expect(0);
    assert!(run.stdout.contains("wrote SEARCH.yaml"), "{run:?}");
    let guess = "nothing says which way the number is better: change it where less is better";
    let told = format!("  direction  max (a guess, {guess})\n");
    assert!(run.stdout.contains(&told), "{run:?}");
    let page = repo.read("SEARCH.yaml");
    assert!(page.contains(&format!("# A guess, {guess}\n")), "{page}");
    let read = evolve::model::search::file::read_search(page.as_bytes()).unwrap();
    assert_eq!(read.fitness.as_deref(), Some("sh bench.sh"));
    assert_eq!(read.files, ["lib/a.py"]);
    assert_eq!(read.gates, ["make --silent test"]);
    assert!(
        page.contains("# Makefile: bench\n# fitness: make --silent bench\n"),
        "{page}"
    );
    let said = repo.error(2, &["search", "init"]);
    assert!(said.contains("SEARCH.yaml is there already"), "{said}");
    assert_eq!(repo.read("SEARCH.yaml"), page);

    fs::remove_file(repo.path("SEARCH.yaml")).unwrap();
    let flags = [
        "--fitness=sh score.sh",
        "--direction=min",
        "--files",
        "value",
        "lib/**",
    ];
    let run = repo
        .evolve(&[&["search", "init"], &flags[..]].concat())
        .expect(0);
    assert!(
        run.stdout
            .contains("next: look at it, `git add SEARCH.yaml")
            && !run.stdout.contains("guess"),
        "{run:?}"
    );
    repo.commit_all("search");
    let agent = repo.agent_always("echo $(($(cat value) - 1)) >value\n");
    let run = repo
        .evolve(&["search", "--max-attempts=1", &agent])
        .expect(0);
    assert!(
        run.stdout
            .contains("winner     attempt 1: 0, -1 (-100 %), the baseline 1"),
        "{run:?}"
    );
}

#[test]
fn an_agent_finds_what_is_known_in_a_file_and_lessons_come_with_later_briefs() {
    let repo = counting();
    let agent = repo.agent_always(&format!(
        "{COUNT}cp \"$EVOLVE_CALL\" \"$OUT/call-$EVOLVE_ATTEMPT\"\nprintf 'Steps of one work.\\nlesson %s\\n' $EVOLVE_ATTEMPT >\"$EVOLVE_LESSONS\"\necho \"one more\" >\"$EVOLVE_SUMMARY\"\n"
    ));
    repo.evolve(&[
        "search",
        "sh score.sh",
        "--files=value",
        "--objective=a large value",
        "--holdout=echo 1",
        "--lens=caching",
        "--max-attempts=2",
        &agent,
    ])
    .expect(0);
    let call: Value = serde_json::from_str(&repo.said("call-2")).unwrap();
    assert_eq!(schema::check("call", &call), Ok(()));
    assert_eq!(call["objective"], "a large value");
    assert_eq!(call["lens"]["name"], "caching");
    assert_eq!(call["parents"][0]["summary"], "one more");
    assert_eq!(call["best"]["score"], 2.0);
    assert_eq!(
        call["lessons"],
        serde_json::json!(["lesson 1", "Steps of one work."])
    );
    assert!(!call.to_string().contains("echo 1"), "{call}");
    let brief = repo.said("brief-2");
    assert!(brief.contains("\n- lesson 1\n"), "{brief}");
    let lessons: Vec<Value> = repo
        .edits()
        .into_iter()
        .map(|edit| edit["lessons"].clone())
        .collect();
    assert_eq!(
        lessons,
        [
            serde_json::json!(["Steps of one work.", "lesson 1"]),
            serde_json::json!(["lesson 2"])
        ]
    );
}

#[test]
fn an_attempt_starts_from_its_parent_however_fast_the_one_before_it_was() {
    let repo = counting();
    let agent = repo.agent_always(&format!("cat value >>\"$OUT/starts\"\n{COUNT}"));
    let arguments = [
        "search",
        "sh score.sh",
        "--files=value",
        "--strategy=population",
        "-k=12",
        "-g=1",
        "--yes",
        &agent,
    ];
    repo.evolve(&arguments).expect(0);
    assert_eq!(repo.said("starts"), "1\n".repeat(12));
    let contents: Vec<Value> = repo
        .edits()
        .into_iter()
        .map(|edit| edit["content"].clone())
        .collect();
    assert!(
        contents.iter().all(|content| *content == contents[0]),
        "{contents:?}"
    );
}

/// An agent of its own kind that is refused until it was called so often, with these words.
fn refused(repo: &mut TestRepo, words: &str, times: u32) {
    repo.agent_does(&[]);
    let line = format!(
        "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"{words}\",\"usage\":{{\"input_tokens\":0}}}}"
    );
    repo.installs("claude");
    let script = format!(
        "#!/bin/sh\ncat >/dev/null\nn=$(($(cat \"$OUT/n\" 2>/dev/null || echo 0) + 1)); echo $n >\"$OUT/n\"\n[ $n -le {times} ] && {{ echo '{line}'; exit 1; }}\n{COUNT}"
    );
    fs::write(repo.outside().join("bin/claude"), script).unwrap();
}

#[test]
fn a_search_ends_when_its_agents_cost_what_they_may_or_do_not_say_it() {
    for (told, attempts, words) in [
        (r#","total_cost_usd":0.25"#, 2, "limit of $0.40 reached: "),
        ("", 1, "limit of $0.40 cannot be held: "),
    ] {
        let mut repo = counting();
        refused(&mut repo, "", 0);
        let line = format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\"{told}}}"
        );
        let script = format!("#!/bin/sh\n{COUNT}\necho '{line}'\n");
        fs::write(repo.outside().join("bin/claude"), script).unwrap();
        let arguments = [
            "search",
            "sh score.sh",
            "--files=value",
            "--agent=claude",
            "--max-attempts=5",
            "--max-cost=0.40",
        ];
        let run = repo.evolve(&arguments).expect(0);
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(all.contains(words), "{all}");
        assert_eq!(repo.edits().len(), attempts, "{all}");
        let status = repo.answer(&["search", "status"]);
        let more = match attempts {
            2 => "`evolve search resume --max-cost USD` goes on, with more than $0.50\n",
            _ => "`evolve search resume --max-cost off` goes on\n",
        };
        assert!(
            status.contains(more) && run.stdout.contains(more),
            "{status}"
        );
        let limit = ["0.80", "off"][2 - attempts];
        let limit = format!("--max-cost={limit}");
        repo.evolve(&["search", "resume", &limit]).expect(0);
        assert_eq!(repo.edits().len(), [4, 5][2 - attempts], "{limit}");
        let status = repo.answer(&["search", "status"]);
        assert_eq!(
            status.contains("$1.00 of $0.80\n"),
            attempts == 2,
            "{status}"
        );
        assert!(!status.contains("of $0.40"), "{status}");
    }
}

#[test]
fn an_agent_that_is_refused_for_a_while_is_waited_for_and_one_that_cannot_run_ends_it() {
    let mut repo = counting();
    refused(&mut repo, "Rate limited, try again in 1s", 2);
    let arguments = [
        "search",
        "sh score.sh",
        "--files=value",
        "--agent=claude",
        "--max-attempts=1",
    ];
    let run = repo.evolve(&arguments).expect(0);
    let all = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(all.matches("waiting 1.0 s").count(), 2, "{all}");
    assert!(run.stdout.contains("winner     attempt 1: 2, "), "{all}");
    assert_eq!(
        repo.edits().len(),
        1,
        "a call that was refused leaves nothing"
    );

    refused(&mut repo, "Rate limited, try again in 1000s", 9);
    fs::remove_file(repo.out("n")).unwrap();
    let waiting = repo.spawn(&arguments);
    repo.wait_for("n");
    // All at once: it is looked for again and again, and its words are told.
    repo.write(".agents/evolve/written", "enough\n");
    let written = repo.path(".agents/evolve/written");
    fs::rename(written, repo.path(".agents/evolve/STOP")).unwrap();
    let run = finish(waiting);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("STOP file .agents/evolve/STOP: enough"),
        "{run:?}"
    );
    fs::remove_file(repo.path(".agents/evolve/STOP")).unwrap();
    let run = repo
        .evolve(&["search", "resume", "--max-time=20s"])
        .expect(0);
    assert!(
        run.stdout.contains("longer than --max-time leaves"),
        "{run:?}"
    );

    refused(&mut repo, "Invalid API key · Please run /login", 9);
    let said = repo.evolve(&["search", "resume"]).expect(4).stderr;
    assert!(
        said.contains("the agent cannot run: not logged in"),
        "{said}"
    );
}

#[test]
fn a_population_goes_on_by_itself_only_where_that_is_asked_for() {
    let repo = counting();
    let agent = repo.agent_always(COUNT);
    let arguments = [
        "search",
        "sh score.sh",
        "--files=value",
        "--strategy=population",
        "-k=2",
        "-g=2",
        &agent,
    ];
    repo.error(2, &arguments);
    assert_eq!(
        fs::read_dir(repo.private()).map_or(0, Iterator::count),
        0,
        "nothing is begun"
    );
    repo.evolve(&[&arguments[..], &["--yes"]].concat())
        .expect(0);
    assert_eq!(repo.entries().last().unwrap()["end"]["why"], "generations");
}

#[test]
fn between_generations_a_person_decides_at_the_terminal() {
    let repo = counting();
    let agent = repo.agent_always(COUNT);
    let arguments = [
        "search",
        "sh score.sh",
        "--files=value",
        "--strategy=population",
        "-k=2",
        "-g=5",
        "--seed=1",
        &agent,
    ];
    let mut terminal = Terminal::new(50, 160);
    let child = terminal.start_typed(&repo, &arguments);
    let question = "[s]top and keep";
    terminal.answer(1, question, "d");
    terminal.answer(2, question, "?");
    terminal.answer(3, question, "a");
    terminal.answer(1, "what is to be otherwise", "k=one");
    terminal.answer(1, "k: write a whole number", "max-attempts=2 k=4");
    terminal.answer(1, "2 attempts are made already; write more", "max-cost=0");
    terminal.answer(
        1,
        "max-cost cannot be held; leave it out",
        "k=4 lenses=caching max-time=2h",
    );
    terminal.answer(4, question, "c");
    terminal.answer(5, question, "s");
    assert_eq!(terminal.watch(child, |_| {}), 0);
    let text = terminal.all().join("\n");
    assert!(
        text.contains("\n+2\n") && text.contains("write c, d, a, s, or"),
        "{text}"
    );
    assert!(
        text.contains("generation 1 of 5 is done, with a new best"),
        "{text}"
    );
    assert!(
        text.contains(
            "it is k=2 generations=5 stale=3 max-attempts=off max-cost=off max-time=off lenses="
        ),
        "{text}"
    );
    assert!(
        text.contains("from now on: k=4 max-time=2h lenses=caching"),
        "{text}"
    );
    assert!(
        text.contains("   id         score  made       lens                  ending"),
        "{text}"
    );
    let lineage = repo.entries();
    let notes: Vec<&Value> = lineage
        .iter()
        .filter_map(|entry| entry.get("note"))
        .collect();
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0]["after"], 2);
    let change = &notes[0]["word"]["adjust"];
    assert_eq!(change["k"], 4);
    assert_eq!(change["max_time_s"], 7200.0);
    let attempts = lineage
        .iter()
        .filter(|entry| entry.get("attempt").is_some());
    assert_eq!(
        attempts.count(),
        4,
        "two of the first generation, two of the second: {text}"
    );
    assert_eq!(lineage.last().unwrap()["end"]["why"], "stopped");

    let child = terminal.start_typed(&repo, &["search", "resume"]);
    terminal.answer(6, question, "discard");
    assert_eq!(terminal.watch(child, |_| {}), 0);
    assert!(!repo.private().join("search/1").exists());
    assert_eq!(repo.git(&["for-each-ref", "refs/evolve"]), "");
}

#[test]
fn while_a_person_is_asked_status_says_so_and_a_stop_is_heard() {
    let repo = counting();
    let agent = repo.agent_always(COUNT);
    let arguments = [
        "search",
        "sh score.sh",
        "--files=value",
        "--strategy=population",
        "-k=2",
        &agent,
    ];
    let mut terminal = Terminal::new(50, 160);
    let child = terminal.start_typed(&repo, &arguments);
    terminal.answer(1, "or the word discard?", "a");
    terminal.answer(1, "(an empty line goes back)", "c");
    let status = || repo.answer(&["search", "status"]);
    let (at_work, waits) = (
        status(),
        "\nwaits      for an answer at its terminal, before generation 2\nthen       attempt 3 is proposed",
    );
    assert!(at_work.contains(waits), "{at_work}");
    repo.evolve(&["search", "stop"]).expect(0);
    assert_eq!(terminal.watch(child, |_| {}), 0);
    let text = terminal.all().join("\n");
    assert!(text.contains("or an empty line to go back;"), "{text}");
    assert_eq!(repo.entries().last().unwrap()["end"]["why"], "stopped");
    assert!(!status().contains("waits"), "{}", status());
}

#[test]
fn a_limit_of_time_that_a_person_sets_between_generations_ends_the_search() {
    let repo = counting();
    let agent = repo.agent_always(COUNT);
    let arguments = [
        "search",
        "sh score.sh",
        "--files=value",
        "--strategy=population",
        "-k=2",
        "--max-time=1h",
        &agent,
    ];
    let mut terminal = Terminal::new(50, 160);
    let child = terminal.start_typed(&repo, &arguments);
    terminal.answer(1, "[s]top and keep", "a");
    terminal.answer(1, "what is to be otherwise", "max-time=1s");
    assert_eq!(terminal.watch(child, |_| {}), 0);
    let text = terminal.all().join("\n");
    assert!(text.contains("time limit reached"), "{text}");
    assert_eq!(repo.edits().len(), 2);
}

#[test]
fn a_signal_ends_the_wait_for_an_answer() {
    let repo = counting();
    let agent = repo.agent_always(COUNT);
    let arguments = [
        "search",
        "sh score.sh",
        "--files=value",
        "--strategy=population",
        "-k=2",
        &agent,
    ];
    let mut terminal = Terminal::new(50, 160);
    let child = terminal.start_typed(&repo, &arguments);
    terminal.until("the question", |screen| {
        screen.contents().contains("[s]top and keep")
    });
    signal(&child, "TERM");
    assert_eq!(terminal.watch(child, |_| {}), 143);
}

#[test]
fn which_files_may_change_is_asked_at_a_terminal() {
    let repo = counting();
    repo.write("a.py", "x = 1\n");
    repo.commit_all("more");
    let agent = repo.agent_always("echo 'x = 2' >a.py\n");
    let mut terminal = Terminal::new(50, 160);
    let child = terminal.start_typed(
        &repo,
        &["search", "sh score.sh", "--max-attempts=1", &agent],
    );
    terminal.answer(1, "Which files may attempts change? [a.py]", "");
    assert_eq!(terminal.watch(child, |_| {}), 0);
    assert_eq!(repo.plan()["request"]["files"], serde_json::json!(["a.py"]));

    let child = terminal.start_typed(&repo, &["search", "init"]);
    terminal.answer(
        1,
        "Which command prints the number? [./bench.sh]",
        "sh score.sh",
    );
    terminal.answer(1, "larger (max) or smaller (min)? [max]", "min");
    terminal.answer(2, "Which files may attempts change? [a.py]", "value a.py");
    assert_eq!(terminal.watch(child, |_| {}), 0);
    let page = repo.read("SEARCH.yaml");
    let read = evolve::model::search::file::read_search(page.as_bytes()).unwrap();
    assert_eq!(read.fitness.as_deref(), Some("sh score.sh"));
    assert_eq!(read.files, ["value", "a.py"]);
}

#[test]
fn what_protect_names_is_told_to_agents_and_to_who_names_nothing_else() {
    let repo = TestRepo::with_number("1");
    repo.write("keep", "1\n");
    repo.write("SEARCH.yaml", "fitness: sh score.sh\nprotect: [keep]\n");
    repo.commit_all("what stays");
    repo.attempts(&["echo 2 >x; echo 9 >keep"]);
    let agent = format!("--agent={}", repo.agent());
    let said = repo.error(2, &["search", "--files=keep", &agent]);
    assert!(
        said.contains("hint: `protect` has it stay as it is: keep\n"),
        "{said}"
    );
    for beyond in ["/etc/*", "../x"] {
        let files = format!("--files={beyond}");
        let said = repo.error(2, &["search", "--files=x", &files, &agent]);
        let told = format!("--files: {beyond} is not below the repository's root");
        assert!(said.contains(&told), "{said}");
    }
    let words = [
        "search",
        "--files=x",
        "--files=keep",
        "--max-attempts=1",
        &agent,
    ];
    repo.evolve(&words).expect(0);
    let brief = repo.said("brief-1");
    let told = "thrown away: `x`, `keep`\n- Of these files such stay as they are, too: `keep`\n";
    assert!(brief.contains(told), "{brief}");
    let page = repo.answer(&["search", "show", "1"]);
    assert!(page.contains("keep (not editable)"), "{page}");
}

#[test]
fn a_bare_word_that_is_neither_a_command_nor_a_program_is_refused_also_beside_a_file() {
    let repo = TestRepo::empty();
    repo.write("n", "1\n");
    repo.write("SEARCH.yaml", "fitness: cat n\nfiles: [n]\n");
    repo.commit_all("first");
    for word in ["help", "list", "winner"] {
        let said = repo.error(2, &["search", word, "--agent=true"]);
        let expected = format!("`{word}` is no command of `evolve search`, and no program");
        assert!(said.contains(&expected), "{said}");
    }
}

#[test]
fn that_nothing_says_what_is_better_is_told() {
    let repo = TestRepo::empty();
    repo.write("n", "1\n");
    repo.commit_all("first");
    let options = [
        "search",
        "cat n",
        "--files=n",
        "--agent=true",
        "--max-attempts=1",
        "--repeats=1",
    ];
    let words = "nothing says whether a higher or a lower number is better";
    assert!(repo.evolve(&options).stderr.contains(words));
    repo.evolve(&["search", "discard"]).expect(0);
    let said = repo.evolve(&[&options[..], &["--direction=max"]].concat());
    assert!(!said.stderr.contains(words), "{}", said.stderr);
}
