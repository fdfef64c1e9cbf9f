//! Agents by name: how they are chosen and started, what is read of their output, what follows when they cannot run, and the
//! limits of cost and tokens. The programs are scripts that print what the real ones print.

use std::fs;

use serde_json::Value;

use crate::harness::{Run, TestRepo, finish, signal, unpadded, wait_until};

/// A line of an agent that says what it used and that all is well.
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"All done.","total_cost_usd":0.25,"usage":{"input_tokens":1000,"cache_read_input_tokens":500,"output_tokens":34},"permission_denials":[]}"#;
/// A line of an agent that edits a file.
const EDIT: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Edit","input":{"file_path":"/repo/a"}}]}}"#;

fn prints(lines: &[&str]) -> String {
    format!("cat <<'END'\n{}\nEND\n", lines.join("\n"))
}

/// A script that does its work and says so.
fn works(file: &str) -> String {
    format!("touch {file}\n{}", prints(&[EDIT, RESULT]))
}

/// A script that is refused, in the agent's own words and status.
pub fn is_refused(status: u16, words: &str) -> String {
    let line = format!(
        r#"{{"type":"result","subtype":"success","is_error":true,"api_error_status":{status},"result":"{words}","total_cost_usd":0,"usage":{{"input_tokens":0,"output_tokens":0}}}}"#
    );
    format!("{}exit 1\n", prints(&[&line]))
}

/// A repository with goals `a` and `b`, and the program `claude` installed, which does this call by call.
fn with_claude(scripts: &[&str]) -> TestRepo {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5), ("b", 3)]);
    repo.agent_does(scripts);
    repo.installs("claude");
    repo
}

fn status_of(repo: &TestRepo) -> Value {
    let run = repo.evolve(&["status", "--json"]).expect(0);
    serde_json::from_str(&run.stdout).expect("JSON")
}

fn claude(repo: &TestRepo, arguments: &[&str]) -> Run {
    let all: Vec<&str> = ["--agent=claude"]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    repo.evolve(&all)
}

#[test]
fn a_preset_is_started_unattended_and_its_stream_is_told_and_recorded() {
    let repo = with_claude(&[&works("a")]);
    let run = claude(&repo, &["--max-cycles=1", "--json"]).expect(0);
    let events = run.events();
    let activity: Vec<&Value> = events
        .iter()
        .filter(|event| event["event"] == "agent-activity")
        .collect();
    let last = activity.last().expect("what it does is told");
    assert_eq!((&last["files"], &last["turns"]), (&1.into(), &3.into()));
    assert_eq!(
        (&last["tokens"], &last["cost_usd"]),
        (&1534.into(), &0.25.into())
    );
    let agent = &repo.newest()["agent"];
    assert_eq!(agent["name"], "claude");
    assert_eq!(
        (&agent["status"], &agent["tokens"]),
        (&"done".into(), &1534.into())
    );
    assert_eq!(agent["cost_usd"], 0.25);
    let arguments = fs::read_to_string(repo.out("args")).unwrap();
    for wanted in ["-p", "stream-json", "acceptEdits", "Bash(git push *)"] {
        assert!(arguments.lines().any(|line| line == wanted), "{arguments}");
    }
    assert!(repo.brief(1).contains("**a**"), "the brief comes on stdin");
}

#[test]
fn a_known_agent_that_is_named_with_options_is_still_that_one() {
    let repo = with_claude(&[&works("a"), &works("b")]);
    let named = ["--agent=claude --model sonnet", "--max-cycles=1"];
    repo.evolve(&named).expect(0);
    let agent = &repo.newest()["agent"];
    assert_eq!(agent["name"], "claude --model sonnet");
    assert_eq!(agent["tokens"], 1534);
    let arguments = fs::read_to_string(repo.out("args")).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    for wanted in [&["-p"][..], &["acceptEdits"], &["--model", "sonnet"]] {
        let has = |words: &[&str]| words == wanted;
        assert!(arguments.windows(wanted.len()).any(has), "{arguments:?}");
    }
    // Who says how it is called gets just that.
    repo.evolve(&["--agent=claude -p --model sonnet", "--max-cycles=1"])
        .expect(0);
    let arguments = fs::read_to_string(repo.out("args")).unwrap();
    assert!(!arguments.contains("acceptEdits"), "{arguments}");
    assert!(repo.newest()["agent"]["tokens"].is_null());
}

#[test]
fn the_story_tells_turns_tokens_and_cost_and_the_summary_those_of_each_cycle() {
    let repo = with_claude(&[&works("a"), "touch b"]);
    let run = claude(&repo, &["--max-cycles=2"]).expect(0);
    assert!(
        run.stdout
            .contains(": 3 turns, 1,534 tokens, $0.25; 1 file, committed by evolve\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains(": tokens and cost unknown; 1 file, committed by evolve\n"),
        "{}",
        run.stdout
    );
    let spent = "agent: 2 calls, at least 1,534 tokens and $0.25 (1 of 2 calls did not say)\n";
    assert!(run.stdout.ends_with(spent), "{}", run.stdout);
    let summary = unpadded(&repo.read(".agents/evolve/session-summary.md"));
    assert!(
        summary.contains("| 1 | a | improved | 0 → 62.5 | 1,534 | $0.25 | |"),
        "{summary}"
    );
    assert!(
        summary.contains("| 2 | b | improved | 62.5 → 100 | unknown | unknown | |"),
        "{summary}"
    );
}

#[test]
fn without_a_name_the_first_preset_that_is_installed_is_taken_and_the_first_line_says_so() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch a"]);
    repo.installs("gemini");
    repo.installs("codex");
    let run = repo.evolve(&["--max-cycles=1"]).expect(0);
    let first = run.stdout.lines().next().unwrap();
    assert!(
        first.contains(" · agent codex, the first that is installed · "),
        "{first}"
    );
    assert_eq!(repo.newest()["agent"]["name"], "codex");
    // A name beats what is found, the command line beats the file, and the file beats the user's configuration.
    let first_of = |repo: &TestRepo, arguments: &[&str]| {
        let run = repo.evolve(arguments).expect(0);
        run.stdout.lines().next().unwrap().to_owned()
    };
    repo.agent_does(&["true", "true", "true"]);
    fs::create_dir_all(repo.home().join(".config/evolve")).unwrap();
    fs::write(
        repo.home().join(".config/evolve/config.yaml"),
        "agent: gemini\n",
    )
    .unwrap();
    assert!(first_of(&repo, &["--max-cycles=1"]).contains(" · agent gemini · "));
    repo.commit_goals(
        "  - {id: z, description: d, check: test -e z, weight: 1}\nevolve: {agent: codex}\n",
    );
    assert!(first_of(&repo, &["--max-cycles=1"]).contains(" · agent codex · "));
    assert!(first_of(&repo, &["--max-cycles=1", "--agent=gemini"]).contains(" · agent gemini · "));
}

#[test]
fn nothing_installed_and_a_preset_that_is_not_are_told_before_anything_is_written() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.installs("");
    let none = repo.error(4, &[]);
    assert!(
        none.starts_with("error: no agent is configured and none is installed"),
        "{none}"
    );
    let claude = repo.error(4, &["--agent=claude"]);
    assert!(
        claude.starts_with(
            "error: the agent cannot run: claude is not installed: `claude` is missing"
        ),
        "{claude}"
    );
    let mistyped = repo.error(4, &["--agent=cluade"]);
    assert!(
        mistyped.contains("hint: did you mean `claude`? The known agents are claude, codex, "),
        "{mistyped}"
    );
    assert!(!repo.has(".agents"));
}

#[test]
fn a_preset_is_changed_and_another_added_in_the_configuration() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&[&works("a"), &works("b")]);
    repo.installs("claude");
    repo.installs("mine");
    let goals = "  - {id: a, description: d, check: test -e a, weight: 5}\n  - {id: b, description: d, check: test -e b, weight: 4}\n";
    repo.commit_goals(&format!(
        "{goals}evolve:\n  agents:\n    claude: {{args: [--only, this]}}\n    ours: {{like: claude, programs: [mine], args: [--file, '{{brief_file}}']}}\n"
    ));
    claude(&repo, &["--max-cycles=1"]).expect(0);
    assert_eq!(repo.said("args"), "--only\nthis\n");
    repo.evolve(&["--agent=ours", "--max-cycles=1"]).expect(0);
    let arguments = repo.said("args");
    let file = arguments.lines().nth(1).unwrap();
    assert!(
        arguments.starts_with("--file\n") && file.ends_with("2-brief.txt"),
        "{arguments}"
    );
    assert_eq!(
        repo.newest()["agent"]["tokens"],
        1534,
        "the output is read like claude's"
    );
}

#[test]
fn an_agent_that_is_not_logged_in_ends_the_session_at_once_and_leaves_no_record() {
    let repo = with_claude(&[&is_refused(401, "Invalid API key")]);
    let head = repo.head();
    let run = claude(&repo, &[]).expect(4);
    assert!(
        run.stderr
            .contains("the agent cannot run: not logged in: Invalid API key"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("hint: log in once by hand"),
        "{}",
        run.stderr
    );
    assert_eq!(
        (repo.head(), repo.calls(), repo.records().len()),
        (head, 1, 0)
    );
    // The baseline waits for the first record.
    assert!(repo.has(".agents/evolve/fitness-0-baseline.json"));
    assert_eq!(repo.status(), Vec::<String>::new());
    assert!(!repo.has(".agents/evolve/fitness-1.json"));
}

#[test]
fn what_agents_talk_about_is_not_taken_for_a_refusal() {
    let talk = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"HTTP 429 rate limit exceeded, not logged in, quota exceeded"}]}}"#;
    let repo = with_claude(&[&prints(&[talk, RESULT])]);
    claude(&repo, &["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "unchanged");
}

#[test]
fn a_rate_limit_is_waited_out_and_the_same_cycle_calls_the_agent_again() {
    let repo = with_claude(&[
        &is_refused(429, "Rate limited, try again in 1s"),
        &works("a"),
    ]);
    let run = claude(&repo, &["--max-cycles=1"]).expect(0);
    assert!(
        run.stdout.contains(
            "waiting 1.0 s: STOP or KILL ends it; rate limited: Rate limited, try again in 1s"
        ),
        "{}",
        run.stdout
    );
    assert_eq!(repo.calls(), 2);
    assert_eq!(repo.each("result"), ["improved"]);
    assert_eq!(repo.newest()["agent"]["tokens"], 1534);
    assert!(repo.path(".agents/evolve/fitness-1.json").exists());
}

#[test]
fn a_limit_that_does_not_pass_ends_the_session_after_the_third_wait() {
    let refused = is_refused(429, "Rate limited, try again in 1s");
    let repo = with_claude(&[&refused, &refused, &refused, &refused]);
    let run = claude(&repo, &["--max-cycles=1"]).expect(4);
    assert!(
        run.stderr.contains("the agent cannot run: rate limited"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.ends_with("agent: 4 calls, 0 tokens, $0.00\n"),
        "{}",
        run.stdout
    );
    assert_eq!((repo.calls(), repo.records().len()), (4, 0));
    assert!(!repo.has(".agents/evolve/fitness-1.json"));
}

#[test]
fn a_refused_agent_that_has_cost_what_it_may_is_not_called_again() {
    let refused = is_refused(429, "Rate limited, try again in 1s")
        .replace(r#""total_cost_usd":0,"#, r#""total_cost_usd":0.25,"#);
    let repo = with_claude(&[&refused, &refused, &works("a")]);
    let run = claude(&repo, &["--max-cost=0.40"]).expect(0);
    assert!(
        run.stdout.contains("limit of $0.40 reached"),
        "{}",
        run.stdout
    );
    assert_eq!((repo.calls(), repo.records().len()), (2, 0));
}

#[test]
fn a_refusal_with_a_change_is_measured_and_judged_first() {
    let script = format!(
        "touch a\n{}",
        is_refused(429, "Rate limited, try again in 1s")
    );
    let repo = with_claude(&[&script]);
    claude(&repo, &["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(
        (&record["result"], &record["agent"]["status"]),
        (&"improved".into(), &"failed".into())
    );
}

#[test]
fn an_agent_that_gave_up_has_run_whatever_it_says_besides() {
    let refused = is_refused(429, "Rate limited, try again in 1s");
    let repo = with_claude(&[&format!(
        "echo 'needs a password' >\"$EVOLVE_GIVE_UP\"\n{refused}"
    )]);
    claude(&repo, &["--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["reason"], "declined: needs a password");
}

#[test]
fn what_is_said_behind_a_good_end_does_not_tell_why_an_agent_cannot_run() {
    let script = format!(
        "{}echo 'error: rate limit exceeded' >&2\nexit 3\n",
        prints(&[EDIT, RESULT])
    );
    let repo = with_claude(&[&script]);
    claude(&repo, &["--max-cycles=1"]).expect(0);
    assert_eq!(
        (repo.calls(), repo.each("result")),
        (1, vec!["failed".to_owned()])
    );
}

#[test]
fn an_empty_commit_of_a_refused_agent_is_nobody_elses() {
    let refused = is_refused(429, "Rate limited, try again in 1s");
    let script = format!("git commit -q --allow-empty -m nothing\n{refused}");
    let repo = with_claude(&[&script, &works("a")]);
    let run = claude(&repo, &["--max-cycles=1"]).expect(0);
    assert_eq!(run.stdout.matches("cycle 1 ·").count(), 1, "{}", run.stdout);
    assert_eq!(repo.each("result"), ["improved"]);
    assert!(
        run.stdout.contains("/1-agent.log") && run.stdout.contains("/1-agent-2.log"),
        "{}",
        run.stdout
    );
    // The log that counts is that of the last call.
    let report = repo.evolve(&["report", "--out", "-"]).expect(0).stdout;
    assert!(!report.contains("api_error_status"), "{report}");
    assert!(report.contains("total_cost_usd"), "{report}");
}

#[test]
fn a_stop_file_ends_the_wait_and_a_kill_file_within_a_second() {
    for is_kill in [false, true] {
        let repo = with_claude(&[&is_refused(429, "Rate limited, try again in 1 hour")]);
        let child = repo.spawn(&["--agent=claude", "--json"]);
        let waits = || repo.private().join("journal.json").exists() && repo.calls() == 1;
        wait_until("the wait", || {
            let journal = fs::read_to_string(repo.private().join("journal.json"));
            waits() && journal.is_ok_and(|text| text.contains("\"measuring\""))
        });
        match is_kill {
            true => repo.kill(),
            false => repo.write(".agents/evolve/STOP", ""),
        }
        let run = finish(child).expect(0);
        let ended = run.events().pop().unwrap();
        assert_eq!(ended["ending"], if is_kill { "killed" } else { "stopped" });
        assert_eq!(repo.has(".agents/evolve/KILLED.json"), is_kill);
        assert_eq!((repo.calls(), repo.records().len()), (1, 0));
        assert!(!repo.private().join("journal.json").exists());
    }
}

#[test]
fn a_wait_that_is_longer_than_the_sessions_time_is_not_begun() {
    let repo = with_claude(&[&is_refused(429, "Rate limited, try again in 1 hour")]);
    let run = claude(&repo, &["--max-time=10m"]).expect(0);
    assert!(run.stdout.contains("rate limited: Rate limited, try again in 1 hour (HTTP 429); that takes 1h, longer than --max-time leaves"), "{}", run.stdout);
    assert_eq!(repo.records().len(), 0);
}

#[test]
fn how_a_session_ended_that_recorded_nothing_is_told_until_one_has_a_record() {
    let refused = is_refused(401, "Invalid API key");
    let repo = with_claude(&[&refused, &works("a"), &refused]);
    let told = || status_of(&repo)["unrecorded"].clone();
    let report = || repo.evolve(&["report", "--md"]).expect(0).stdout;
    let why = "the agent cannot run: not logged in: Invalid API key";
    claude(&repo, &[]).expect(4);
    assert_eq!(told()["ending"], "failed");
    assert!(
        told()["reason"].as_str().unwrap().starts_with(why),
        "{}",
        told()
    );
    let status = repo.evolve(&["status"]).expect(0).stdout;
    assert!(
        status.contains("recorded nothing: failed: the agent cannot run: not logged in"),
        "{status}"
    );
    assert!(report().contains("one thing waits for you"), "{}", report());
    assert!(
        report().contains("The newest session ended: the agent cannot run"),
        "{}",
        report()
    );
    claude(&repo, &["--max-cycles=1"]).expect(0);
    assert_eq!(told(), Value::Null);
    assert!(
        report().contains("The newest session ended: limit of 1 cycle"),
        "{}",
        report()
    );
    // Nor is a record that is older the end of it.
    claude(&repo, &["--max-cycles=1"]).expect(4);
    assert!(
        report().contains("The newest session ended: the agent cannot run"),
        "{}",
        report()
    );
}

#[test]
fn what_the_user_does_during_a_wait_is_the_users() {
    let refused = is_refused(429, "Rate limited, try again in 2s");
    let repo = with_claude(&[&refused, &works("b")]);
    repo.write("notes", "before\n");
    let child = repo.spawn(&["--agent=claude", "--max-cycles=1"]);
    wait_until("the wait", || {
        let journal = fs::read_to_string(repo.private().join("journal.json"));
        repo.calls() == 1 && journal.is_ok_and(|text| text.contains("\"measuring\""))
    });
    repo.write("notes", "during\n");
    repo.write("new", "mine\n");
    repo.write("a", "");
    repo.commit_file("a");
    finish(child).expect(0);
    assert_eq!(
        (repo.read("notes").as_str(), repo.read("new").as_str()),
        ("during\n", "mine\n")
    );
    let record = repo.newest();
    assert_eq!(
        (&record["cycle"], &record["goal_id"]),
        (&1.into(), &"b".into()),
        "{record}"
    );
    assert_eq!(repo.status(), ["?? new", "?? notes"]);
}

#[test]
fn a_wait_is_told_to_who_asks_for_the_status_with_its_reason_and_its_end() {
    let refused = is_refused(429, "Rate limited, try again in 1 hour");
    for isolate in [&[][..], &["--isolate"]] {
        let repo = with_claude(&[&refused]);
        let child = repo.spawn(&[&["--agent=claude", "--max-cycles=1"], isolate].concat());
        let status =
            || -> Value { serde_json::from_str(&repo.answer(&["status", "--json"])).unwrap() };
        wait_until("the wait", || status()["session"]["waiting"].is_object());
        let document = status();
        let page = repo.answer(&["status"]);
        signal(&child, "INT");
        finish(child).expect(130);
        let waiting = &document["session"]["waiting"];
        let reason = waiting["reason"].as_str().unwrap();
        assert!(
            reason.contains("rate limited: Rate limited, try again in 1 hour"),
            "{reason}"
        );
        let until = waiting["until"].as_str().unwrap();
        let now = format!(
            "now        cycle 1: waits until {until}: STOP or KILL ends it; rate limited: Rate limited"
        );
        assert!(page.contains(&now), "{page}");
        assert!(!page.contains("goals are measured"), "{page}");
        let told = fs::read_to_string(repo.private().join("session.json")).unwrap();
        assert!(!told.contains("waiting"), "{told}");
        assert_eq!(status()["session"], Value::Null);
    }
}

#[test]
fn work_that_is_queued_while_an_agent_is_refused_or_waited_for_is_kept() {
    let queue = ".agents/rpi/next-work.jsonl";
    let append = |title: &str| format!("echo '{{\"title\":\"{title}\"}}' >> {queue}\n");
    let refused = is_refused(429, "Rate limited, try again in 2s");
    let meanwhile = format!("{}{refused}", append("meanwhile"));
    let repo = with_claude(&[&meanwhile, &works("c")]);
    for file in ["a", "b"] {
        repo.write(file, "");
        repo.commit_file(file);
    }
    repo.write(queue, "{\"title\":\"first\"}\n");
    let child = repo.spawn(&["--agent=claude", "--max-cycles=1"]);
    wait_until("the wait", || {
        let journal = fs::read_to_string(repo.private().join("journal.json"));
        repo.calls() == 1 && journal.is_ok_and(|text| text.contains("\"measuring\""))
    });
    let now = repo.read(queue);
    repo.write(queue, &format!("{now}{{\"title\":\"waiting\"}}\n"));
    finish(child).expect(0);
    assert_eq!(repo.newest()["result"], "harvested");
    let titles: Vec<Value> = repo
        .read(queue)
        .lines()
        .map(|line| {
            let item: Value = serde_json::from_str(line).unwrap();
            item["title"].clone()
        })
        .collect();
    assert_eq!(titles, ["first", "meanwhile", "waiting"]);
}

#[test]
fn the_session_ends_when_the_agents_cost_what_they_may() {
    let repo = with_claude(&[&works("x"), &works("y"), &works("z")]);
    let run = claude(&repo, &["--max-cost=0.50"]).expect(0);
    assert!(
        run.stdout
            .contains("limit of $0.50 reached: 3,068 tokens, $0.50 (--max-cost)"),
        "{}",
        run.stdout
    );
    assert_eq!(repo.calls(), 2);
    // What is left is told to an agent that takes it.
    assert!(
        repo.said("args").contains("--max-budget-usd\n0.25\n"),
        "{}",
        repo.said("args")
    );
    let repo = with_claude(&[&works("x"), &works("y"), &works("z")]);
    let run = claude(&repo, &["--max-tokens=3k"]).expect(0);
    assert!(
        run.stdout
            .contains("limit of 3,000 tokens reached: 3,068 tokens, $0.50 (--max-tokens)"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_cost_that_is_not_told_is_never_taken_for_none() {
    let repo = with_claude(&["touch x", "touch y"]);
    let run = claude(&repo, &["--max-cost=5"]).expect(0);
    assert!(
        run.stdout
            .contains("limit of $5.00 cannot be held: tokens and cost unknown (--max-cost)"),
        "{}",
        run.stdout
    );
    assert_eq!(repo.calls(), 1);
}

#[test]
fn an_agent_that_says_it_failed_has_failed_whatever_its_exit_code() {
    let error = r#"{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"totalTokens":7,"cost":{"total":0}},"stopReason":"error","errorMessage":"the model fell over"}}"#;
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&[&prints(&[error])]);
    repo.installs("pi");
    repo.evolve(&["--agent=pi", "--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(record["result"], "failed");
    assert!(
        record["reason"]
            .as_str()
            .unwrap()
            .contains("the model fell over"),
        "{record}"
    );
}

#[test]
fn what_an_agent_leaves_for_itself_is_not_committed() {
    let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch .aider.tags.cache a"]);
    repo.installs("aider");
    repo.evolve(&["--agent=aider", "--max-cycles=1"]).expect(0);
    assert_eq!(repo.newest()["result"], "improved");
    assert!(repo.has(".aider.tags.cache"));
    assert_eq!(repo.git(&["ls-files", ".aider.tags.cache"]), "");
    assert_eq!(repo.status(), Vec::<String>::new());
}

#[test]
fn no_output_breaks_a_cycle() {
    let noise = "head -c 3000000 /dev/urandom; echo; echo '{\"type\":\"result\",\"usage\":[1,{\"x\":null}],\"total_cost_usd\":\"much\"}'; printf '{\"type\":'; touch a";
    let mut repo = with_claude(&[noise]);
    repo.env.push((
        "PATH".to_owned(),
        format!("{}:/usr/bin:/bin", repo.outside().join("bin").display()),
    ));
    claude(&repo, &["--max-cycles=1"]).expect(0);
    let record = repo.newest();
    assert_eq!(
        (&record["result"], &record["agent"]["cost_usd"]),
        (&"improved".into(), &Value::Null)
    );
}

#[test]
fn an_empty_variable_is_none_and_an_empty_agent_is_refused() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let nobody = [
        ("EVOLVE_AGENT", ""),
        ("EVOLVE_JOBS", ""),
        ("PATH", "/usr/bin:/bin"),
    ];
    let run = repo.evolve_with(&nobody, &[]).expect(4);
    assert!(run.stderr.contains("no agent"), "{}", run.stderr);
    repo.evolve_with(&nobody, &["measure"]).expect(0);
    for agent in ["--agent=", "--agent= "] {
        let run = repo.evolve(&[agent]).expect(2);
        assert!(
            run.stderr
                .contains("name an agent, or write a command line"),
            "{}",
            run.stderr
        );
    }
    assert!(!repo.has(".agents"));
}

#[test]
fn what_a_session_measured_that_recorded_nothing_is_what_status_and_report_tell() {
    let repo = with_claude(&[&works("a"), &works("b"), &is_refused(429, "limit")]);
    claude(&repo, &["--max-cycles=2"]).expect(0);
    assert!(repo.answer(&["report", "--md"]).contains("All is well"));
    repo.git(&["rm", "-q", "a"]);
    repo.git(&["commit", "-qm", "broken"]);
    claude(&repo, &["--max-time=2s"]).expect(0);
    let page = repo.answer(&["status"]);
    assert!(
        page.contains("score      37.5 (baseline 0), 1 of 2 goals pass, measured [time]"),
        "{page}"
    );
    assert!(page.contains("failing    a\n"), "{page}");
    let document = status_of(&repo);
    assert_eq!(document["failing"], serde_json::json!(["a"]));
    assert!(document["measured_at"].is_string(), "{document}");
    assert!(document["unrecorded"]["measured"].is_null(), "{document}");
    let report = repo.answer(&["report", "--md"]);
    assert!(!report.contains("All is well"), "{report}");
    assert!(report.contains("1 of 2 goals pass"), "{report}");
}

#[test]
fn a_limit_of_cost_that_an_agent_cannot_be_held_to_is_said_before_it_is_paid() {
    let said =
        "does not say what its calls cost, so that --max-cost ends the session after the first one";
    for (program, expected) in [("codex", true), ("claude", false)] {
        let mut repo = TestRepo::with_files_wanted(&[("a", 5)]);
        repo.agent_does(&["touch a"]);
        repo.installs(program);
        let agent = format!("--agent={program}");
        let run = repo
            .evolve(&[&agent, "--max-cost=1", "--max-cycles=1"])
            .expect(0);
        assert_eq!(
            run.stderr.contains(said),
            expected,
            "{program}: {}",
            run.stderr
        );
    }
}
