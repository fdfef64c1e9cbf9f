//! Runs of the programs that are not among the first three.

use super::*;

pub(super) const MORE: [Run; 31] = [
    Run {
        cost: Some(0.001508),
        files: &["/scratch/repo/fixed.txt"],
        ..good("opencode-good")
    },
    Run {
        cost: Some(0.001508),
        files: &["/scratch/repo/fixed.txt"],
        ..good("kilo-good")
    },
    bad(
        "opencode-401",
        Obstacle::NotLoggedIn,
        "Incorrect API key provided: no-key. (HTTP 401)",
    ),
    bad(
        "opencode-429-after",
        Obstacle::RateLimited,
        "Rate limit reached for requests. Please try again in 5s. (HTTP 429)",
    ),
    bad(
        "opencode-quota",
        Obstacle::OutOfQuota,
        "You exceeded your current quota, please check your plan and billing details. (HTTP 429)",
    ),
    bad(
        "opencode-overloaded",
        Obstacle::Overloaded,
        "The server is currently overloaded. Please try again later. (HTTP 503)",
    ),
    Run {
        turns: 1,
        tokens: Some(1577),
        cost: Some(0.000754),
        files: &["/scratch/repo/fixed.txt"],
        ..bad(
            "opencode-midrun-401",
            Obstacle::NotLoggedIn,
            "Incorrect API key provided: no-key. (HTTP 401)",
        )
    },
    bad(
        "kilo-401",
        Obstacle::NotLoggedIn,
        "Incorrect API key provided: no-key. (HTTP 401)",
    ),
    Run {
        failed: Some("Model not found: nope/nope. Did you mean: standardcompute?"),
        exit: 1,
        turns: 0,
        tokens: None,
        ..good("kilo-bad-model")
    },
    Run {
        files: &["/scratch/repo/fixed.txt"],
        ..good("qwen-good")
    },
    Run {
        turns: 1,
        tokens: Some(0),
        ..bad(
            "qwen-401",
            Obstacle::NotLoggedIn,
            "[API Error: 401 Incorrect API key provided: no-key.]",
        )
    },
    Run {
        turns: 2,
        tokens: Some(1577),
        files: &["/scratch/repo/fixed.txt"],
        ..bad(
            "qwen-midrun-401",
            Obstacle::NotLoggedIn,
            "[API Error: 401 Incorrect API key provided: no-key.]",
        )
    },
    Run {
        failed: Some(
            "Reached max session turns for this session. Increase the number of turns by specifying maxSessionTurns in settings.json.",
        ),
        exit: 53,
        turns: 1,
        tokens: None,
        files: &["/scratch/repo/fixed.txt"],
        ..good("qwen-max-turns")
    },
    Run {
        cost: Some(0.001508),
        files: &["/scratch/repo/fixed.txt"],
        ..good("pi-good")
    },
    Run {
        exit: 0,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "pi-401",
            Obstacle::NotLoggedIn,
            r#"401: {"message":"Incorrect API key provided: no-key.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}"#,
        )
    },
    Run {
        exit: 0,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "pi-429",
            Obstacle::RateLimited,
            r#"429: {"message":"Rate limit reached for requests. Please try again later.","type":"requests","param":null,"code":"rate_limit_exceeded"}"#,
        )
    },
    Run {
        exit: 0,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "pi-quota",
            Obstacle::OutOfQuota,
            r#"429: {"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}"#,
        )
    },
    Run {
        exit: 0,
        tokens: Some(0),
        cost: Some(0.0),
        ..bad(
            "pi-overloaded",
            Obstacle::Overloaded,
            r#"503: {"message":"The server is currently overloaded. Please try again later.","type":"server_error","param":null,"code":"server_is_overloaded"}"#,
        )
    },
    Run {
        exit: 0,
        turns: 1,
        tokens: Some(1577),
        cost: Some(0.000754),
        files: &["/scratch/repo/fixed.txt"],
        ..bad(
            "pi-midrun-401",
            Obstacle::NotLoggedIn,
            r#"401: {"message":"Incorrect API key provided: no-key.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}"#,
        )
    },
    Run {
        files: &["/scratch/repo/fixed.txt"],
        ..good("copilot-good")
    },
    Run {
        files: &["/scratch/repo/fixed.txt"],
        ..good("copilot-good-patch")
    },
    bad(
        "copilot-401",
        Obstacle::NotLoggedIn,
        "Authentication failed with provider at http://127.0.0.1:45079/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.",
    ),
    bad(
        "copilot-429-after",
        Obstacle::RateLimited,
        "Failed to get response from the AI model; retried 5 times (total retry wait time: 28.59 seconds) Last error: 429 Rate limit reached for requests. Please try again in 5s.",
    ),
    bad(
        "copilot-quota",
        Obstacle::OutOfQuota,
        "Failed to get response from the AI model; retried 5 times (total retry wait time: 55.62 seconds) Last error: 429 You exceeded your current quota, please check your plan and billing details.",
    ),
    bad(
        "copilot-overloaded",
        Obstacle::Overloaded,
        "Failed to get response from the AI model; retried 5 times (total retry wait time: 14.79 seconds) Last error: 503 The server is currently overloaded. Please try again later.",
    ),
    Run {
        cannot_run: Some(Obstacle::PermissionRefused),
        ..good("copilot-denied")
    },
    good("copilot-denied-commit"),
    Run {
        turns: 1,
        tokens: Some(1577),
        files: &["/scratch/repo/fixed.txt"],
        ..bad(
            "copilot-midrun-401",
            Obstacle::NotLoggedIn,
            "Authentication failed with provider at http://127.0.0.1:38841/v1 (HTTP 401). Check your COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.",
        )
    },
    Run {
        turns: 1,
        tokens: Some(1577),
        files: &["fixed.txt"],
        ..good("aider-good")
    },
    Run {
        exit: 0,
        ..bad(
            "aider-401",
            Obstacle::NotLoggedIn,
            "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect",
        )
    },
    Run {
        exit: 0,
        ..bad(
            "aider-quota-wide",
            Obstacle::OutOfQuota,
            "litellm.RateLimitError: RateLimitError: OpenAIException - You exceeded your current quota, please check your plan and billing details.",
        )
    },
];
