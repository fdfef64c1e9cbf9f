//! Runs of the real programs against a scripted model, good and bad.

mod more;

use super::*;
use more::MORE;

/// A captured run, with its exit code and what is read from it.
struct Run {
    name: &'static str,
    exit: i32,
    turns: u64,
    tokens: Option<u64>,
    cost: Option<f64>,
    files: &'static [&'static str],
    failed: Option<&'static str>,
    cannot_run: Option<Obstacle>,
}

/// Reads a captured run, with what it printed beside its output, as evolve does.
fn outcome(run: &Run) -> Outcome {
    let agent = run.name.split('-').next().unwrap();
    let file = |end: &str| std::fs::read(format!("tests/agent-outputs/runs/{}.{end}", run.name));
    let output = file("jsonl").or_else(|_| file("txt")).unwrap();
    let mut transcript = transcript(agent);
    transcript.push(&output);
    let mut tail = output;
    tail.extend(file("stderr").unwrap_or_default());
    let usage = file("usage.json").ok();
    let usage = usage.as_deref().map(String::from_utf8_lossy);
    transcript.finish(&Finished {
        // A negative one stands for a run that was ended from outside.
        exit: (run.exit >= 0).then_some(run.exit),
        tail: &String::from_utf8_lossy(&tail),
        usage_file: usage.as_deref(),
    })
}

#[test]
fn every_captured_run_is_read_exactly() {
    for run in RUNS.iter().chain(&MORE) {
        let outcome = outcome(run);
        let (name, activity) = (run.name, outcome.activity);
        assert_eq!(activity.turns, run.turns, "{name}");
        assert_eq!(activity.tokens, run.tokens, "{name}");
        assert_eq!(activity.cost_usd, run.cost, "{name}");
        assert_eq!(activity.files, run.files, "{name}");
        assert_eq!(outcome.failed.as_deref(), run.failed, "{name}");
        let kind = outcome.cannot_run.map(|cannot_run| cannot_run.kind);
        assert_eq!(kind, run.cannot_run, "{name}");
    }
}

#[test]
fn no_captured_run_is_left_out() {
    let entries = std::fs::read_dir("tests/agent-outputs/runs").unwrap();
    for entry in entries {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let name = file.split('.').next().unwrap();
        let mut all = RUNS.iter().chain(&MORE);
        assert!(
            name == "README" || all.any(|run| run.name == name),
            "{file}"
        );
    }
}

/// A run that was good: two answers, of which the first changes a file.
const fn good(name: &'static str) -> Run {
    Run {
        name,
        exit: 0,
        turns: 2,
        tokens: Some(3154),
        cost: None,
        files: &[],
        failed: None,
        cannot_run: None,
    }
}

/// A run that came to nothing.
const fn bad(name: &'static str, cannot_run: Obstacle, failed: &'static str) -> Run {
    Run {
        name,
        exit: 1,
        turns: 0,
        tokens: None,
        cost: None,
        files: &[],
        failed: Some(failed),
        cannot_run: Some(cannot_run),
    }
}

const RUNS: [Run; 35] = [
    Run {
        turns: 1,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "claude-401",
            Obstacle::NotLoggedIn,
            "Invalid API key · Fix external API key (HTTP 401)",
        )
    },
    Run {
        turns: 1,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "claude-429",
            Obstacle::RateLimited,
            "API Error: Request rejected (429) · This request would exceed your organization's rate limit of 50 requests per minute.",
        )
    },
    Run {
        failed: Some("Reached maximum budget ($0.001)"),
        exit: 1,
        turns: 1,
        tokens: Some(1577),
        cost: Some(0.0037400000000000003),
        files: &["/scratch/repo/fixed.txt"],
        ..good("claude-budget")
    },
    Run {
        cannot_run: Some(Obstacle::PermissionRefused),
        cost: Some(0.0074800000000000005),
        ..good("claude-denied")
    },
    Run {
        cost: Some(0.0074800000000000005),
        files: &["/scratch/repo/fixed.txt"],
        ..good("claude-good")
    },
    Run {
        turns: 2,
        tokens: Some(1577),
        cost: Some(0.0037400000000000003),
        files: &["/scratch/repo/fixed.txt"],
        ..bad(
            "claude-midrun-429",
            Obstacle::RateLimited,
            "API Error: Request rejected (429) · This request would exceed your organization's rate limit of 50 requests per minute.",
        )
    },
    Run {
        turns: 1,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "claude-no-account",
            Obstacle::NotLoggedIn,
            "Not logged in · Please run /login",
        )
    },
    Run {
        turns: 1,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "claude-overloaded",
            Obstacle::Overloaded,
            "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:34403).",
        )
    },
    Run {
        turns: 1,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "claude-quota",
            Obstacle::OutOfQuota,
            "Credit balance is too low (HTTP 400)",
        )
    },
    bad(
        "claude-root",
        Obstacle::PermissionRefused,
        "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
    ),
    Run {
        turns: 1,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "claude-usage-plan",
            Obstacle::OutOfQuota,
            "You've hit your 5-hour limit · resets 7:57am (UTC) (HTTP 429)",
        )
    },
    bad(
        "codex-401",
        Obstacle::NotLoggedIn,
        "unexpected status 401 Unauthorized: Incorrect API key provided: no-key., url: http://127.0.0.1:37675/v1/responses",
    ),
    bad(
        "codex-429",
        Obstacle::RateLimited,
        "exceeded retry limit, last status: 429 Too Many Requests",
    ),
    Run {
        turns: 1,
        ..good("codex-denied-readonly")
    },
    good("codex-good-shell"),
    Run {
        turns: 1,
        files: &["/scratch/repo/fixed.txt"],
        ..bad(
            "codex-midrun-429",
            Obstacle::RateLimited,
            "exceeded retry limit, last status: 429 Too Many Requests",
        )
    },
    bad(
        "codex-no-key",
        Obstacle::NotLoggedIn,
        "Missing environment variable: `CODEX_API_KEY`.",
    ),
    bad(
        "codex-overloaded",
        Obstacle::Overloaded,
        "Selected model is at capacity. Please try a different model.",
    ),
    bad(
        "codex-quota",
        Obstacle::OutOfQuota,
        "Quota exceeded. Check your plan and billing details.",
    ),
    bad(
        "codex-usage-plan",
        Obstacle::OutOfQuota,
        "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/settings/usage to purchase more credits or try again at 7:59 AM.",
    ),
    bad(
        "copilot-no-account",
        Obstacle::NotLoggedIn,
        "Error: No authentication information found.",
    ),
    Run {
        exit: 144,
        turns: 1,
        tokens: Some(0),
        ..bad(
            "gemini-401",
            Obstacle::NotLoggedIn,
            r#"[API Error: {"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}]"#,
        )
    },
    Run {
        exit: -1,
        ..bad(
            "gemini-429",
            Obstacle::RateLimited,
            "Attempt 1 failed: Resource has been exhausted (e.g. check quota).",
        )
    },
    Run {
        tokens: Some(4731),
        files: &["/scratch/repo/fixed.txt"],
        ..good("gemini-good")
    },
    Run {
        failed: Some(
            "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in settings.json.",
        ),
        exit: 53,
        files: &["/scratch/repo/fixed.txt"],
        ..good("gemini-max-turns")
    },
    Run {
        exit: 173,
        turns: 2,
        tokens: Some(3154),
        files: &["/scratch/repo/fixed.txt"],
        ..bad(
            "gemini-midrun-429",
            Obstacle::RateLimited,
            "[API Error: Resource has been exhausted (e.g. check quota). Suggested retry after 60s.] Please wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method",
        )
    },
    Run {
        exit: 41,
        ..bad(
            "gemini-no-account",
            Obstacle::NotLoggedIn,
            "When using Gemini API, you must specify the GEMINI_API_KEY environment variable.",
        )
    },
    Run {
        exit: 41,
        ..bad(
            "gemini-no-auth",
            Obstacle::NotLoggedIn,
            "Invalid auth method selected.",
        )
    },
    Run {
        exit: -1,
        ..bad(
            "gemini-overloaded-defaults",
            Obstacle::Overloaded,
            r#"Attempt 3 failed with status 503. Retrying with backoff... _ApiError: {"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE","details":[]}}"#,
        )
    },
    Run {
        exit: 247,
        turns: 1,
        tokens: Some(0),
        ..bad(
            "gemini-overloaded",
            Obstacle::Overloaded,
            "[API Error: The model is overloaded. Please try again later.]",
        )
    },
    Run {
        exit: 173,
        turns: 1,
        tokens: Some(0),
        ..bad(
            "gemini-quota",
            Obstacle::OutOfQuota,
            "[API Error: You exceeded your current quota, please check your plan and billing details.] Please wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method",
        )
    },
    Run {
        exit: 55,
        ..bad(
            "gemini-untrusted",
            Obstacle::UntrustedFolder,
            "Gemini CLI is not running in a trusted directory. To proceed, either use `--skip-trust`, set the `GEMINI_CLI_TRUST_WORKSPACE=true` environment variable, or trust this directory in interactive mode. For more details, see https://geminicli.com/docs/cli/trusted-folders/#headless-and-automated-environments",
        )
    },
    Run {
        exit: 173,
        turns: 1,
        tokens: Some(0),
        ..bad(
            "gemini-usage-day",
            Obstacle::OutOfQuota,
            "[API Error: You have exhausted your daily quota on this model.] Please wait and try again later. To increase your limits, request a quota increase through AI Studio, or switch to another /auth method",
        )
    },
    bad(
        "pi-no-account",
        Obstacle::NotLoggedIn,
        "No API key found for the selected model.",
    ),
    Run {
        tokens: Some(0),
        ..bad(
            "qwen-no-account",
            Obstacle::NotLoggedIn,
            "No auth type is selected. Please configure an auth type (e.g. via settings or `--auth-type`) before running in non-interactive mode.",
        )
    },
];
