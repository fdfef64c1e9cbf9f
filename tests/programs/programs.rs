//! The programs: how each is pointed at a model server, and what it tells of its work.

use std::process::{Command, Stdio};

/// One agent program. `{url}` stands for the server's address.
pub struct Program {
    /// Its name, which is that of its preset.
    pub name: &'static str,
    /// Variables that point it at the server.
    pub env: &'static [(&'static str, &'static str)],
    /// Files below the home folder that point it at the server.
    pub files: &'static [(&'static str, &'static str)],
    /// Further arguments, as a YAML list.
    pub extra_args: &'static str,
    /// It tells what the work cost.
    pub tells_cost: bool,
    /// It names the files that it touches.
    pub names_files: bool,
    /// It tells when a plan that is used up may be used again.
    pub tells_reset: bool,
    /// It tries a refused request again by itself for minutes.
    pub is_patient: bool,
}

impl Program {
    /// Returns what it says of its version.
    pub fn version(&self) -> String {
        let said = Command::new(self.name)
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        let said = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let said = said.unwrap_or_default();
        said.lines()
            .next()
            .unwrap_or("of an unknown version")
            .trim()
            .to_owned()
    }
}

const OPENCODE: &str = r#"{"model": "scripted/scripted", "small_model": "scripted/scripted", "autoupdate": false, "share": "disabled",
 "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "scripted",
  "options": {"baseURL": "{url}/v1", "apiKey": "no-key"},
  "models": {"scripted": {"name": "scripted", "cost": {"input": 1, "output": 2, "cache_read": 0.1},
   "limit": {"context": 200000, "output": 8000}, "tool_call": true}}}}}
"#;

/// All programs, in the order of the presets.
pub const PROGRAMS: [Program; 9] = [
    Program {
        name: "claude",
        env: &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_API_KEY", "no-key"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
        files: &[],
        extra_args: "",
        tells_cost: true,
        names_files: true,
        tells_reset: false,
        is_patient: false,
    },
    Program {
        name: "codex",
        env: &[("CODEX_API_KEY", "no-key")],
        files: &[(
            ".codex/config.toml",
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
             base_url = \"{url}/v1\"\nenv_key = \"CODEX_API_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 0\n\
             stream_max_retries = 0\n",
        )],
        extra_args: "",
        tells_cost: false,
        names_files: true,
        tells_reset: true,
        is_patient: false,
    },
    Program {
        name: "gemini",
        env: &[
            ("GOOGLE_GEMINI_BASE_URL", "{url}"),
            ("GEMINI_API_KEY", "no-key"),
        ],
        files: &[(
            ".gemini/settings.json",
            "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \"telemetry\": {\"enabled\": false},\n\
             \"privacy\": {\"usageStatisticsEnabled\": false}, \"general\": {\"maxAttempts\": 1}}\n",
        )],
        // Without a model it asks another one first which to take, and is patient with that.
        extra_args: "[-m, gemini-2.5-flash]",
        tells_cost: false,
        names_files: true,
        tells_reset: false,
        is_patient: true,
    },
    Program {
        name: "opencode",
        env: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ],
        files: &[(".config/opencode/opencode.json", OPENCODE)],
        extra_args: "",
        tells_cost: true,
        names_files: true,
        tells_reset: false,
        is_patient: true,
    },
    Program {
        name: "aider",
        env: &[
            ("OPENAI_API_BASE", "{url}/v1"),
            ("OPENAI_API_KEY", "no-key"),
        ],
        files: &[],
        extra_args: "[--model, openai/scripted]",
        tells_cost: false,
        names_files: true,
        tells_reset: false,
        is_patient: true,
    },
    Program {
        name: "copilot",
        env: &[
            ("COPILOT_PROVIDER_BASE_URL", "{url}/v1"),
            ("COPILOT_PROVIDER_API_KEY", "no-key-at-all"),
            ("COPILOT_PROVIDER_WIRE_API", "responses"),
            ("COPILOT_MODEL", "gpt-5.5"),
            ("COPILOT_OFFLINE", "true"),
        ],
        files: &[],
        extra_args: "",
        tells_cost: false,
        names_files: true,
        tells_reset: false,
        is_patient: true,
    },
    Program {
        name: "qwen",
        env: &[
            ("OPENAI_BASE_URL", "{url}/v1"),
            ("OPENAI_MODEL", "scripted"),
            ("OPENAI_API_KEY", "no-key"),
        ],
        files: &[(
            ".qwen/settings.json",
            "{\"security\": {\"auth\": {\"selectedType\": \"openai\"}}, \"telemetry\": {\"enabled\": false},\n\
             \"privacy\": {\"usageStatisticsEnabled\": false}, \"enableAutoUpdate\": false, \"model\": {\"name\": \"scripted\"}}\n",
        )],
        extra_args: "",
        tells_cost: false,
        names_files: true,
        tells_reset: false,
        is_patient: true,
    },
    Program {
        name: "pi",
        env: &[("PI_OFFLINE", "1")],
        files: &[(
            ".pi/agent/models.json",
            "{\"providers\": {\"scripted\": {\"baseUrl\": \"{url}/v1\", \"api\": \"openai-completions\", \"apiKey\": \"no-key\",\n\
             \"models\": [{\"id\": \"scripted\", \"name\": \"scripted\", \"reasoning\": false, \"input\": [\"text\"],\n\
             \"cost\": {\"input\": 1, \"output\": 2, \"cacheRead\": 0.1, \"cacheWrite\": 0}, \"contextWindow\": 200000,\n\
             \"maxTokens\": 8000}]}}}\n",
        )],
        extra_args: "[--model, scripted/scripted]",
        tells_cost: true,
        names_files: true,
        tells_reset: false,
        is_patient: false,
    },
    Program {
        name: "kilo",
        env: &[
            ("KILO_DISABLE_AUTOUPDATE", "1"),
            ("KILO_DISABLE_MODELS_FETCH", "1"),
            ("KILO_DISABLE_DEFAULT_PLUGINS", "1"),
            ("KILO_DISABLE_LSP_DOWNLOAD", "1"),
        ],
        files: &[(".config/kilo/kilo.json", OPENCODE)],
        extra_args: "",
        tells_cost: true,
        names_files: true,
        tells_reset: false,
        is_patient: true,
    },
];
