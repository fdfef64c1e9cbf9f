use std::sync::LazyLock;

use super::*;
use crate::model::agent::{Obstacle, Presets};
use proptest::prelude::*;

mod runs;

/// One captured output, with the exit code of its run and what is read from it.
struct Captured {
    file: &'static str,
    exit: i32,
    tokens: Option<u64>,
    cost: Option<f64>,
    turns: u64,
    failed: Option<&'static str>,
    cannot_run: Option<Obstacle>,
}

fn captured(file: &'static str, exit: i32, tokens: Option<u64>, cost: Option<f64>) -> Captured {
    Captured {
        file,
        exit,
        tokens,
        cost,
        turns: 1,
        failed: None,
        cannot_run: None,
    }
}

impl Captured {
    fn turns(self, turns: u64) -> Captured {
        Captured { turns, ..self }
    }

    fn failed(self, message: &'static str) -> Captured {
        let failed = Some(message);
        Captured { failed, ..self }
    }

    fn cannot_run(self, kind: Obstacle) -> Captured {
        let cannot_run = Some(kind);
        Captured { cannot_run, ..self }
    }
}

fn content(file: &str) -> Vec<u8> {
    std::fs::read(format!("tests/agent-outputs/{file}")).unwrap()
}

/// Read once: it is a long document.
static PRESETS: LazyLock<Presets> = LazyLock::new(|| Presets::new(&[]));

fn transcript(agent: &str) -> Transcript {
    Transcript::new(PRESETS.find(agent).unwrap())
}

#[test]
fn of_an_agent_that_prints_for_people_the_last_line_is_known_clean_and_without_secrets() {
    let mut transcript = Transcript::new(&Preset::default());
    let mut last = |printed: &str| {
        transcript.push(printed.as_bytes());
        transcript.activity().last.clone().unwrap_or_default()
    };
    assert_eq!(last("no end yet"), "");
    assert_eq!(
        last(" and\n\u{1b}[31mnow\u{1b}[0m reading\n\n"),
        "now reading"
    );
    assert_eq!(last("10 %\r90 %\r\n"), "90 %");
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    assert_eq!(last(&format!("uses {secret}\n")), "uses ***");
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
    assert_eq!(last("-----BEGIN RSA PRIVATE KEY-----\n"), "***");
    assert_eq!(last(key), "***");
    assert_eq!(last("-----END RSA PRIVATE KEY-----\nwritten\n"), "written");
    assert_eq!(last(&"x".repeat(500)), "written");
    assert!(last("\n").len() <= 4 * LAST_CHARS);
}

fn run(agent: &str, output: &[u8], exit: i32) -> Outcome {
    let mut transcript = transcript(agent);
    transcript.push(output);
    let tail = &output[output.len().saturating_sub(2000)..];
    transcript.finish(&Finished {
        exit: Some(exit),
        tail: &String::from_utf8_lossy(tail),
        usage_file: None,
    })
}

fn last_of(agent: &str, output: &str) -> Option<String> {
    run(agent, output.as_bytes(), 0).activity.last
}

#[test]
fn every_captured_output_is_read_exactly() {
    let quota =
        "unexpected status 401 Unauthorized: mock failure, url: http://127.0.0.1:8765/v1/responses";
    for capture in [
        captured("claude-ok.json", 0, Some(6542), Some(0.006854999999999999)),
        captured("claude-stream-tool.jsonl", 0, Some(13_084), Some(0.01628)).turns(2),
        captured("claude-denied.json", 0, Some(13_084), Some(0.01628))
            .turns(2)
            .cannot_run(Obstacle::PermissionRefused),
        captured("claude-max-budget.json", 1, Some(13_084), Some(0.01628))
            .turns(2)
            .failed("Reached maximum budget ($0.01)"),
        captured("claude-max-turns.json", 1, Some(13_084), Some(0.01628))
            .turns(3)
            .failed("Reached maximum number of turns (2)"),
        captured("claude-not-logged-in.json", 1, Some(0), Some(0.0))
            .failed("Not logged in · Please run /login")
            .cannot_run(Obstacle::NotLoggedIn),
        captured("claude-api-error.json", 1, Some(0), Some(0.0)).failed("API Error: 400 mock failure"),
        captured("codex-ok.jsonl", 0, Some(1577), None),
        captured("codex-error.jsonl", 1, None, None)
            .turns(0)
            .failed(quota)
            .cannot_run(Obstacle::NotLoggedIn),
        captured("copilot-ok.jsonl", 0, None, None),
        captured("copilot-error.jsonl", 1, None, None)
            .turns(0)
            .failed("Authentication failed with provider at http://127.0.0.1:8765/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.")
            .cannot_run(Obstacle::NotLoggedIn),
        captured("gemini-ok.json", 0, Some(1577), None).turns(0),
        captured("gemini-ok.jsonl", 0, Some(1577), None),
        captured("kilo-ok.jsonl", 0, Some(1577), Some(0.000754)),
        captured("opencode-ok.jsonl", 0, Some(1577), Some(0.000754)),
        captured("opencode-error.jsonl", 1, None, None)
            .turns(0)
            .failed("mock failure (HTTP 401)")
            .cannot_run(Obstacle::NotLoggedIn),
        captured("pi-ok.jsonl", 0, Some(1577), Some(0.0007540000000000001)),
        captured("pi-error-exit0.jsonl", 0, Some(0), Some(0.0))
            .turns(0)
            .failed(r#"401: {"type":"mock_error","message":"mock failure","code":401}"#)
            .cannot_run(Obstacle::NotLoggedIn),
        captured("qwen-ok.jsonl", 0, Some(3154), None),
        captured("qwen-error.jsonl", 1, Some(0), None)
            .failed("[API Error: 401 mock failure]")
            .cannot_run(Obstacle::NotLoggedIn),
    ] {
        let file = capture.file;
        let agent = file.split('-').next().unwrap();
        let outcome = run(agent, &content(file), capture.exit);
        assert_eq!(outcome.activity.tokens, capture.tokens, "{file}");
        assert_eq!(outcome.activity.cost_usd, capture.cost, "{file}");
        assert_eq!(outcome.activity.turns, capture.turns, "{file}");
        assert_eq!(outcome.failed.as_deref(), capture.failed, "{file}");
        let kind = outcome.cannot_run.map(|cannot_run| cannot_run.kind);
        assert_eq!(kind, capture.cannot_run, "{file}");
    }
}

#[test]
fn tokens_in_a_file_beside_the_output_count() {
    let usage = String::from_utf8(content("copilot-usage.json")).unwrap();
    let mut transcript = transcript("copilot");
    transcript.push(&content("copilot-ok.jsonl"));
    assert_eq!(transcript.activity().tokens, None);
    let outcome = transcript.finish(&Finished {
        exit: Some(0),
        tail: "",
        usage_file: Some(&usage),
    });
    assert_eq!(outcome.activity.tokens, Some(1577));
    assert_eq!(outcome.activity.cost_usd, None);
}

#[test]
fn what_the_agent_does_is_told_as_it_does_it() {
    let mut transcript = transcript("claude");
    let output = content("claude-stream-tool.jsonl");
    let lines: Vec<&[u8]> = output.split_inclusive(|byte| *byte == b'\n').collect();
    assert!(transcript.push(lines[0]));
    let last = |transcript: &Transcript| transcript.activity().last.clone();
    assert_eq!(
        last(&transcript).as_deref(),
        Some("Bash echo hi >> made.txt")
    );
    assert_eq!(transcript.activity().turns, 1);
    assert!(
        !transcript.push(lines[1]),
        "a tool's result is nothing that the agent does"
    );
    assert!(
        !transcript.push(&lines[2][..100]),
        "half a line is nothing yet"
    );
    assert!(transcript.push(&lines[2][100..]));
    assert_eq!(last(&transcript).as_deref(), Some("All done."));
}

#[test]
fn files_are_kept_once_in_the_order_of_first_touch() {
    let edit = |path: &str| {
        let content =
            serde_json::json!([{"type": "tool_use", "name": "Edit", "input": {"file_path": path}}]);
        serde_json::json!({"type": "assistant", "message": {"content": content}}).to_string() + "\n"
    };
    let read = edit("c").replace("Edit", "Read");
    let output = [edit("b"), edit("a"), read, edit("b")].concat();
    assert_eq!(
        run("claude", output.as_bytes(), 0).activity.files,
        ["b", "a"]
    );
    let many: String = (0..1000).map(|number| edit(&number.to_string())).collect();
    assert_eq!(run("claude", many.as_bytes(), 0).activity.files.len(), 200);
}

#[test]
fn aider_is_read_line_by_line() {
    let output = "\
Aider v0.86.2
Applied edit to src/a.rs
Tokens: 12k sent, 3.4k cache hit, 1.1k received. Cost: $0.02 message, $0.02 session.
Applied edit to src/b c.rs
Tokens: 950 sent, 50 received. Cost: $0.03 message, $0.05 session.
Done
";
    let activity = run("aider", output.as_bytes(), 0).activity;
    assert_eq!(activity.tokens, Some(14_100));
    assert_eq!(activity.cost_usd, Some(0.05));
    assert_eq!(activity.turns, 2);
    assert_eq!(activity.files, ["src/a.rs", "src/b c.rs"]);
    assert_eq!(activity.last.as_deref(), Some("Done"));
    let free = run("aider", b"Tokens: 1.2M sent, 2,000 received.", 0).activity;
    assert_eq!((free.tokens, free.cost_usd), (Some(1_202_000), None));
}

#[test]
fn aider_that_ends_with_exit_0_is_still_asked_whether_it_failed() {
    let failure = "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided";
    let output = format!("{failure}\nThe API provider is not able to authenticate you.\n");
    let outcome = run("aider", output.as_bytes(), 0);
    assert_eq!(outcome.failed.as_deref(), Some(failure));
    assert_eq!(outcome.cannot_run.unwrap().kind, Obstacle::NotLoggedIn);
    let waits =
        "No LLM model was specified and no API keys were provided.\nWaiting up to 5 minutes\n";
    let outcome = run("aider", waits.as_bytes(), 1);
    assert_eq!(outcome.cannot_run.unwrap().kind, Obstacle::NotLoggedIn);
    let overcome = format!("{output}Tokens: 1k sent, 1k received.\n");
    assert_eq!(run("aider", overcome.as_bytes(), 0).failed, None);
}

#[test]
fn an_error_that_was_overcome_is_none() {
    let error = r#"{"type":"error","message":"Reconnecting... 1/5 (429 Too Many Requests)"}"#;
    let done = r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#;
    let outcome = run("codex", format!("{error}\n{done}\n").as_bytes(), 0);
    assert_eq!((outcome.failed, outcome.cannot_run), (None, None));
    let outcome = run("codex", format!("{error}\n").as_bytes(), 1);
    assert_eq!(outcome.cannot_run.unwrap().kind, Obstacle::RateLimited);
}

#[test]
fn an_agent_that_talks_about_limits_is_not_limited() {
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Error: rate limit exceeded, 429 Too Many Requests"}]}}"#;
    let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"Error: not logged in\nquota exceeded"}]}}"#;
    let done =
        r#"{"type":"result","is_error":false,"result":"I fixed the error: rate limit exceeded"}"#;
    let output = format!("{said}\n{result}\n{done}\n");
    let outcome = run("claude", output.as_bytes(), 0);
    assert_eq!((outcome.failed, outcome.cannot_run), (None, None));
    // Nor where it ended badly for another reason, or was ended.
    for exit in [1, 143] {
        let outcome = run("claude", format!("{said}\n{result}\n").as_bytes(), exit);
        assert_eq!((outcome.failed, outcome.cannot_run), (None, None));
    }
    let prose = "The test says that the rate limit is exceeded.\nI fixed it: too many requests.\n";
    assert_eq!(run("aider", prose.as_bytes(), 1).cannot_run, None);
}

#[test]
fn the_rest_of_an_event_that_standard_error_cut_in_two_is_no_word_of_the_program() {
    let tail = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"how to
warning: slow
wait after a rate limit exceeded {sic}"}]}}
"#;
    let finish = |tail| {
        transcript("claude").finish(&Finished {
            exit: Some(7),
            tail,
            usage_file: None,
        })
    };
    let outcome = finish(tail);
    assert_eq!(outcome.cannot_run, None);
    assert_eq!(outcome.failed.as_deref(), Some("warning: slow"));
    let whole = "Attempt 1 failed: {\"error\":{\"message\":\"Rate limit exceeded\"}}\n";
    let kind = finish(whole).cannot_run.map(|cannot_run| cannot_run.kind);
    assert_eq!(kind, Some(Obstacle::RateLimited));
}

#[test]
fn the_subject_of_the_work_is_no_reason() {
    for printed in [
        "Error: cannot read src/billing/invoice.rs",
        "warning: billing: 3 tests are ignored",
    ] {
        assert_eq!(run("claude", printed.as_bytes(), 7).cannot_run, None);
    }
    for printed in [
        "Error: check your plan and billing details.",
        "Your billing account is not active.",
        "Error: go to Plans & Billing to buy more.",
        "Billing hard limit has been reached",
    ] {
        let cannot_run = run("claude", printed.as_bytes(), 1).cannot_run;
        let kind = cannot_run.map(|cannot_run| cannot_run.kind);
        assert_eq!(kind, Some(Obstacle::OutOfQuota), "{printed}");
    }
}

#[test]
fn what_a_program_prints_beside_its_events_tells_why_it_ended() {
    for (agent, exit, printed, kind) in [
        (
            "claude",
            1,
            "Invalid API key · Please run /login",
            Obstacle::NotLoggedIn,
        ),
        (
            "codex",
            1,
            "Not inside a trusted directory and --skip-git-repo-check was not specified.",
            Obstacle::UntrustedFolder,
        ),
        (
            "gemini",
            41,
            "Please set an Auth method in your settings.json",
            Obstacle::NotLoggedIn,
        ),
        (
            "gemini",
            55,
            "Gemini CLI is not running in a trusted directory.",
            Obstacle::UntrustedFolder,
        ),
        (
            "pi",
            1,
            "No API key found for anthropic.",
            Obstacle::NotLoggedIn,
        ),
        (
            "copilot",
            1,
            "Error: No authentication information found.",
            Obstacle::NotLoggedIn,
        ),
        (
            "opencode",
            127,
            "opencode: error while loading shared libraries",
            Obstacle::NotInstalled,
        ),
    ] {
        let outcome = run(agent, printed.as_bytes(), exit);
        assert_eq!(outcome.failed.as_deref(), Some(printed), "{agent}");
        let cannot_run = outcome
            .cannot_run
            .unwrap_or_else(|| panic!("{agent}: {printed}"));
        assert_eq!(
            (cannot_run.kind, cannot_run.message.as_str()),
            (kind, printed),
            "{agent}"
        );
    }
    let silent = run("gemini", b"", 41);
    assert_eq!(silent.failed, None);
    let cannot_run = silent.cannot_run.unwrap();
    assert_eq!(
        (cannot_run.kind, cannot_run.message.as_str()),
        (Obstacle::NotLoggedIn, "")
    );
}

#[test]
fn the_words_of_an_unknown_program_prove_nothing() {
    let mut transcript = Transcript::new(&Preset::default());
    transcript.push(b"Error: rate limit exceeded\n");
    let outcome = transcript.finish(&Finished {
        exit: Some(1),
        tail: "Error: rate limit exceeded\n",
        usage_file: None,
    });
    assert_eq!(
        outcome.failed.as_deref(),
        Some("Error: rate limit exceeded")
    );
    assert_eq!(outcome.cannot_run, None);
}

#[test]
fn refusals_that_the_arguments_ask_for_are_none() {
    let refused = |command: &str| {
        let denials =
            serde_json::json!([{"tool_name": "Bash", "tool_input": {"command": command}}]);
        let event =
            serde_json::json!({"type": "result", "is_error": false, "permission_denials": denials});
        run("claude", event.to_string().as_bytes(), 0).cannot_run
    };
    assert_eq!(refused("git add . && git commit -m x"), None);
    assert_eq!(refused("cargo test").unwrap().message, "Bash cargo test");
}

#[test]
fn secrets_in_what_an_agent_says_are_hidden() {
    let line = r#"{"type":"assistant","message":{"content":[{"text":"curl -H 'token: ghp_abcdefghijklmnopqrstuvwxyz0123456789'"}]}}"#;
    assert_eq!(
        last_of("claude", line).as_deref(),
        Some("curl -H 'token: ***'")
    );
    let error = r#"{"type":"turn.failed","error":{"message":"Incorrect API key: sk-abcdefghijklmnopqrstuvwx"}}"#;
    let failed = run("codex", error.as_bytes(), 1).failed.unwrap();
    assert!(!failed.contains("sk-abc"), "{failed}");
}

#[test]
fn what_is_not_understood_yields_nothing() {
    let long = format!(
        "{{\"type\":\"result\",\"is_error\":true,\"result\":\"{}\"}}",
        "x".repeat(2 << 20)
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for output in [
        "",
        "\n\n\r\n",
        "null\n1\n\"x\"\n[]\n{}\n[1, {}]",
        r#"{"type": "a.new.event", "usage": {"input_tokens": 5}}"#,
        r#"{"type": "result", "usage": {"input_tokens": -5, "output_tokens": 1e300}, "total_cost_usd": "dear", "num_turns": "x"}"#,
        r#"{"type": "result", "usage": 5, "total_cost_usd": -1, "permission_denials": "x y"#,
        r#"{"type": ["result"], "#,
        &long,
        &deep,
    ] {
        let outcome = run("claude", output.as_bytes(), 0);
        let nothing = Outcome::default();
        assert_eq!(outcome, nothing, "{}", &output[..output.len().min(80)]);
    }
    let after = format!("{long}\n{{\"type\":\"result\",\"total_cost_usd\":0.5}}\n");
    assert_eq!(
        run("claude", after.as_bytes(), 0).activity.cost_usd,
        Some(0.5)
    );
}

#[test]
fn one_document_is_found_among_other_words() {
    let document = String::from_utf8(content("gemini-ok.json")).unwrap();
    let output = format!("Loaded cached credentials.\n{{not json\n{document}\nbye\n");
    assert_eq!(
        run("gemini", output.as_bytes(), 0).activity.tokens,
        Some(1577)
    );
    let all = r#"[{"type": "system"}, {"type": "result", "total_cost_usd": 0.25}]"#;
    assert_eq!(
        run("claude", all.as_bytes(), 0).activity.cost_usd,
        Some(0.25)
    );
}

#[test]
fn several_rules_for_figures_agree_on_one_total() {
    let step = |total: &str| {
        format!(r#"{{"type":"step_finish","part":{{"tokens":{total},"cost":0.25}}}}"#)
    };
    let new = step(r#"{"total":100,"input":60,"output":30,"cache":{"read":10}}"#);
    let old = step(r#"{"input":60,"output":30,"reasoning":0,"cache":{"read":10,"write":0}}"#);
    let activity = run("opencode", format!("{new}\n{old}\n").as_bytes(), 0).activity;
    assert_eq!((activity.tokens, activity.cost_usd), (Some(200), Some(0.5)));
}

fn any_output() -> impl Strategy<Value = (&'static str, Vec<u8>)> {
    let files: Vec<&str> = vec![
        "claude-stream-tool.jsonl",
        "codex-error.jsonl",
        "copilot-error.jsonl",
        "gemini-ok.json",
        "opencode-ok.jsonl",
        "pi-ok.jsonl",
        "qwen-error.jsonl",
    ];
    let noise = proptest::collection::vec(any::<u8>(), 0..40);
    let at = any::<proptest::sample::Index>();
    (proptest::sample::select(files), at, noise).prop_map(|(file, at, noise)| {
        let mut output = content(file);
        let at = at.index(output.len());
        output.splice(at..at, noise);
        (file.split('-').next().unwrap(), output)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn wherever_the_output_is_cut_the_result_is_the_same(
        (agent, output) in any_output(),
        size in 1..5000usize,
        exit in 0..2,
    ) {
        let whole = run(agent, &output, exit);
        let mut transcript = transcript(agent);
        let mut before = transcript.activity().clone();
        for piece in output.chunks(size) {
            let changed = transcript.push(piece);
            prop_assert!(changed || *transcript.activity() == before);
            before = transcript.activity().clone();
        }
        let tail = String::from_utf8_lossy(&output[output.len().saturating_sub(2000)..]).into_owned();
        let pieces = transcript.finish(&Finished { exit: Some(exit), tail: &tail, usage_file: None });
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn no_bytes_break_the_reading(bytes in proptest::collection::vec(any::<u8>(), 0..400), exit in 0..256) {
        for agent in ["claude", "aider"] {
            let outcome = run(agent, &bytes, exit);
            prop_assert_eq!(outcome.activity.tokens, None);
        }
    }
}
