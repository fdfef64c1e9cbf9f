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
        let built_in = goals::read_agents(DOCUMENT.as_bytes())
            .expect("BUG: the built-in presets do not follow their own rules");
        let mut presets = Presets {
            presets: Vec::new(),
        };
        let entries = built_in.iter().chain(files.iter().copied().flatten());
        entries.for_each(|entry| presets.lay(entry));
        presets
    }

    /// Says whether a preset is called `name`, without making any.
    pub fn has(name: &str, files: &[&[Entry]]) -> bool {
        let added = files.iter().copied().flatten();
        BUILT_IN.contains(&name) || added.into_iter().any(|entry| entry.name == name)
    }

    /// Returns the preset called `name`.
    pub fn find(&self, name: &str) -> Option<&Preset> {
        self.presets.iter().find(|preset| preset.name == name)
    }

    /// Returns the presets in the order in which their programs are looked for.
    pub fn all(&self) -> &[Preset] {
        &self.presets
    }

    fn lay(&mut self, entry: &Entry) {
        // An added agent stands for itself: what an earlier file says under its name is replaced as a whole.
        let built_in = BUILT_IN
            .contains(&entry.name.as_str())
            .then_some(&entry.name);
        let base = entry.like.as_ref().or(built_in);
        let base = base.and_then(|name| self.find(name)).cloned();
        let preset = entry.over(base.unwrap_or_default());
        match self
            .presets
            .iter_mut()
            .find(|known| known.name == entry.name)
        {
            Some(known) => *known = preset,
            None => self.presets.push(preset),
        }
    }
}

impl Entry {
    /// Lays the keys that the entry gives over a preset.
    fn over(&self, base: Preset) -> Preset {
        let entry = self.clone();
        // Those of the preset belong to the preset's own `args`.
        let sandboxed_args = match entry.args {
            Some(_) => entry.sandboxed_args,
            None => entry.sandboxed_args.or(base.sandboxed_args),
        };
        Preset {
            name: entry.name,
            programs: entry.programs.unwrap_or(base.programs),
            args: entry.args.unwrap_or(base.args),
            extra_args: entry.extra_args.unwrap_or(base.extra_args),
            prompt: entry.prompt.unwrap_or(base.prompt),
            env: entry.env.unwrap_or(base.env),
            needs_env: entry.needs_env.unwrap_or(base.needs_env),
            leaves: entry.leaves.unwrap_or(base.leaves),
            writes: entry.writes.unwrap_or(base.writes),
            sandboxed_args,
            timeout: entry.timeout.or(base.timeout),
            idle_timeout: entry.idle_timeout.or(base.idle_timeout),
            output: entry.output.unwrap_or(base.output),
            cannot_run: entry.cannot_run.unwrap_or(base.cannot_run),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::agent::Prompt;
    use crate::model::agent::{Arg, Fill};

    fn names(presets: &Presets) -> Vec<&str> {
        presets
            .all()
            .iter()
            .map(|preset| preset.name.as_str())
            .collect()
    }

    #[test]
    fn the_built_in_presets_follow_their_own_rules_in_the_order_that_is_told() {
        let problems = goals::read_agents(DOCUMENT.as_bytes()).err();
        assert_eq!(problems, None);
        let presets = Presets::new(&[]);
        assert_eq!(names(&presets), BUILT_IN);
        for preset in presets.all() {
            assert!(
                !preset.programs.is_empty() && !preset.args.is_empty(),
                "{}",
                preset.name
            );
            assert!(!preset.output.rules.is_empty(), "{}", preset.name);
        }
    }

    #[test]
    fn every_preset_starts_without_values_for_what_may_be_missing() {
        for preset in Presets::new(&[]).all() {
            let fill = Fill {
                brief_file: "/f/brief.txt",
                ..Fill::default()
            };
            let argv = preset.argv("program", &fill);
            assert!(!argv.iter().any(|word| word.contains('{')), "{argv:?}");
            let is_stdin = preset.prompt == Prompt::Stdin;
            let has_brief = argv.iter().any(|word| word == "/f/brief.txt");
            assert_ne!(is_stdin, has_brief, "{argv:?}");
        }
    }

    #[test]
    fn an_added_agent_is_looked_for_behind_the_built_in_ones() {
        let entry = Entry {
            name: "mine".to_owned(),
            programs: Some(vec!["mine".to_owned()]),
            args: Some(vec![Arg::Word("-p".to_owned())]),
            ..Entry::default()
        };
        let presets = Presets::new(&[&[entry]]);
        assert_eq!(names(&presets).last(), Some(&"mine"));
        assert_eq!(
            presets.find("mine").unwrap().argv("mine", &Fill::default()),
            ["mine", "-p"]
        );
        assert!(presets.find("yours").is_none());
    }
}
