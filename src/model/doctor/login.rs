//! Where agent programs keep a login, so that one can be told without starting them. That none is found proves nothing: a key
//! chain or a settings file may have it. Pure.

/// Where a login of a program would show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traces {
    /// The program.
    pub program: &'static str,
    /// Variables of the environment that hold a key.
    pub variables: &'static [&'static str],
    /// Files that it writes when somebody logs in; as `model::sandbox::expand` reads them.
    pub files: &'static [&'static str],
}

/// Keys that programs for models of many makers take.
const KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "MISTRAL_API_KEY",
    "GROQ_API_KEY",
    "XAI_API_KEY",
];

const KNOWN: [Traces; 10] = [
    Traces {
        program: "claude",
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ],
        files: &[
            "$CLAUDE_CONFIG_DIR/.credentials.json",
            "~/.claude/.credentials.json",
        ],
    },
    Traces {
        program: "codex",
        variables: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        files: &["$CODEX_HOME/auth.json", "~/.codex/auth.json"],
    },
    Traces {
        program: "gemini",
        variables: &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
            "GOOGLE_GENAI_USE_GCA",
        ],
        files: &["~/.gemini/oauth_creds.json"],
    },
    Traces {
        program: "opencode",
        variables: KEYS,
        files: &["$XDG_DATA_HOME/opencode/auth.json"],
    },
    Traces {
        program: "kilo",
        variables: KEYS,
        files: &["$XDG_DATA_HOME/kilo/auth.json"],
    },
    Traces {
        program: "kilocode",
        variables: KEYS,
        files: &["$XDG_DATA_HOME/kilo/auth.json"],
    },
    Traces {
        program: "aider",
        variables: KEYS,
        files: &["~/.aider/oauth-keys.env"],
    },
    Traces {
        program: "copilot",
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
        files: &[],
    },
    Traces {
        program: "qwen",
        variables: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
        files: &["~/.qwen/oauth_creds.json"],
    },
    Traces {
        program: "pi",
        variables: KEYS,
        files: &["~/.pi/agent/auth.json"],
    },
];

/// Returns where a login of a program would show, if that is known.
pub fn traces_of(program: &str) -> Option<&'static Traces> {
    KNOWN.iter().find(|known| known.program == program)
}

/// What can be told of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Login {
    /// There is one: a file or a variable.
    Found(String),
    /// None was found where there usually is one.
    NotFound(&'static Traces),
    /// Nothing is known of where it would be.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::agent::Presets;
    use crate::model::sandbox::{Home, expand};

    #[test]
    fn a_login_of_every_built_in_agent_can_be_looked_for() {
        for preset in Presets::new(&[]).all() {
            for program in &preset.programs {
                assert!(traces_of(program).is_some(), "{program}");
            }
        }
        for file in KNOWN.iter().flat_map(|known| known.files) {
            assert!(expand(file, &Home::default()).is_ok(), "{file}");
        }
    }
}
