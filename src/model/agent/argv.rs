//! The command line of an agent: placeholders filled in, and what has no value left out. Pure.

use super::{Arg, Preset, Prompt};

/// The words that may stand in braces within arguments.
pub const PLACEHOLDERS: [&str; 5] = ["brief", "brief_file", "check", "folder", "max_cost"];

/// The values of the placeholders in one call.
#[derive(Clone, Debug, Default)]
pub struct Fill<'a> {
    /// `{brief}`: what the agent is told.
    pub brief: &'a str,
    /// `{brief_file}`: where that lies.
    pub brief_file: &'a str,
    /// `{check}`: the commands of the goal's check, each as an agent would run it. What holds it is repeated for each.
    pub checks: &'a [String],
    /// `{folder}`: a private folder of this run, for files that the agent writes beside its work.
    pub folder: &'a str,
    /// `{max_cost}`: the most dollars that the call may cost.
    pub max_cost: Option<f64>,
}

impl Preset {
    /// Returns the command line that starts `program`. Under `prompt: arg` or `file`, the brief or its path is the last argument
    /// unless a placeholder names its place.
    pub fn argv(&self, program: &str, fill: &Fill<'_>) -> Vec<String> {
        let mut argv = vec![program.to_owned()];
        let items = || self.args.iter().chain(&self.extra_args);
        argv.extend(items().flat_map(|item| fill.arg(item)));
        let (placeholder, value) = match self.prompt {
            Prompt::Stdin => return argv,
            Prompt::Arg => ("{brief}", fill.brief),
            Prompt::File => ("{brief_file}", fill.brief_file),
        };
        let is_placed = items().any(|item| item.words().iter().any(|w| w.contains(placeholder)));
        if !is_placed {
            argv.push(value.to_owned());
        }
        argv
    }

    /// Returns the variables to set, filled in; one without a value is left out.
    pub fn env(&self, fill: &Fill<'_>) -> Vec<(String, String)> {
        let filled =
            |(name, value): &(String, String)| Some((name.clone(), fill.word(value, None)?));
        self.env.iter().filter_map(filled).collect()
    }

    /// Returns the path of the file that the program writes beside its output.
    pub fn usage_file(&self, fill: &Fill<'_>) -> Option<String> {
        fill.word(self.output.usage_file.as_deref()?, None)
    }
}

impl Arg {
    /// Returns the words of the item.
    pub fn words(&self) -> &[String] {
        match self {
            Arg::Word(word) => std::slice::from_ref(word),
            Arg::Group(words) => words,
        }
    }
}

impl Fill<'_> {
    fn arg(&self, item: &Arg) -> Vec<String> {
        let words = item.words();
        let once = |check: Option<&str>| -> Option<Vec<String>> {
            words.iter().map(|word| self.word(word, check)).collect()
        };
        if !words.iter().any(|word| word.contains("{check}")) {
            return once(None).unwrap_or_default();
        }
        let checks = self.checks.iter().filter_map(|check| once(Some(check)));
        checks.flatten().collect()
    }

    /// Fills in one word; none if a placeholder has no value.
    fn word(&self, word: &str, check: Option<&str>) -> Option<String> {
        let mut filled = String::new();
        let mut rest = word;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            filled.push_str(before);
            let end = from.find('}').map_or(from.len(), |close| close + 1);
            match &from[..end] {
                "{brief}" => filled.push_str(self.brief),
                "{brief_file}" => filled.push_str(some(self.brief_file)?),
                "{check}" => filled.push_str(check.and_then(some)?),
                "{folder}" => filled.push_str(some(self.folder)?),
                "{max_cost}" => filled.push_str(&self.max_cost?.to_string()),
                _ => {
                    filled.push('{');
                    rest = &from[1..];
                    continue;
                }
            }
            rest = &from[end..];
        }
        filled.push_str(rest);
        Some(filled)
    }
}

fn some(value: &str) -> Option<&str> {
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::agent::{Output, Presets};
    use proptest::prelude::*;

    fn word(word: &str) -> Arg {
        Arg::Word(word.to_owned())
    }

    fn group(words: &[&str]) -> Arg {
        Arg::Group(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn argv(prompt: Prompt, args: Vec<Arg>, fill: &Fill<'_>) -> String {
        let preset = Preset {
            prompt,
            args,
            ..Preset::default()
        };
        preset.argv("agent", fill).join("|")
    }

    #[test]
    fn claude_is_started_with_what_the_goal_needs() {
        let checks = ["cargo test".to_owned(), "cargo fmt --check".to_owned()];
        let fill = Fill {
            brief: "Do it.",
            brief_file: "/b",
            checks: &checks,
            folder: "/f",
            max_cost: Some(0.5),
        };
        let presets = Presets::new(&[]);
        let argv = presets.find("claude").unwrap().argv("/bin/claude", &fill);
        let words = [
            "/bin/claude",
            "-p",
            "--output-format stream-json --verbose",
            "--permission-mode acceptEdits",
            "--allowedTools Bash(cargo test) Bash(cargo test *)",
            "--allowedTools Bash(cargo fmt --check) Bash(cargo fmt --check *)",
            "--disallowedTools Bash(git commit *) Bash(git push *)",
            "--max-budget-usd 0.5",
        ];
        assert_eq!(argv.join(" "), words.join(" "));
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        let args = || {
            vec![
                word("-p"),
                group(&["--cost", "{max_cost}"]),
                group(&["--allow", "Bash({check} *)"]),
                word("{folder}/x"),
                word(""),
            ]
        };
        let empty = Fill::default();
        assert_eq!(argv(Prompt::Stdin, args(), &empty), "agent|-p|");
        let checks = ["a".to_owned(), String::new(), "b c".to_owned()];
        let full = Fill {
            checks: &checks,
            folder: "/f",
            max_cost: Some(2.0),
            ..Fill::default()
        };
        assert_eq!(
            argv(Prompt::Stdin, args(), &full),
            "agent|-p|--cost|2|--allow|Bash(a *)|--allow|Bash(b c *)|/f/x|"
        );
    }

    #[test]
    fn the_brief_is_last_unless_it_has_a_place() {
        let fill = Fill {
            brief: "Do {it} {check}.",
            brief_file: "/b",
            ..Fill::default()
        };
        let last = argv(Prompt::Arg, vec![word("-x")], &fill);
        assert_eq!(last, "agent|-x|Do {it} {check}.");
        let placed = argv(Prompt::Arg, vec![word("--p={brief}"), word("-x")], &fill);
        assert_eq!(placed, "agent|--p=Do {it} {check}.|-x");
        assert_eq!(argv(Prompt::File, vec![], &fill), "agent|/b");
        let group = group(&["-f", "{brief_file}"]);
        assert_eq!(
            argv(Prompt::File, vec![group, word("-x")], &fill),
            "agent|-f|/b|-x"
        );
    }

    #[test]
    fn variables_and_files_are_filled_in_too() {
        let preset = Preset {
            env: vec![
                ("A".to_owned(), "{folder}/a".to_owned()),
                ("B".to_owned(), "{max_cost}".to_owned()),
            ],
            output: Output {
                usage_file: Some("{folder}/usage.json".to_owned()),
                ..Output::default()
            },
            ..Preset::default()
        };
        let fill = Fill {
            folder: "/f",
            ..Fill::default()
        };
        assert_eq!(preset.env(&fill), [("A".to_owned(), "/f/a".to_owned())]);
        assert_eq!(preset.usage_file(&fill).as_deref(), Some("/f/usage.json"));
        assert_eq!(preset.usage_file(&Fill::default()), None);
    }

    proptest! {
        #[test]
        fn words_without_placeholders_stay_as_they_are(text in "[a-z{} ]{0,20}") {
            prop_assume!(!PLACEHOLDERS.iter().any(|name| text.contains(&format!("{{{name}}}"))));
            prop_assert_eq!(Fill::default().word(&text, None), Some(text));
        }
    }
}
