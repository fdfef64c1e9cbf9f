//! Finds the program of the agent that was asked for, or the first preset that is installed.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{Agent, Way};
use crate::effects::program;
use crate::error::{Error, Kind, Result};
use crate::model::agent::{Arg, Entry, Preset, Presets};
use crate::model::goals::{self, AgentCommand, AgentSpec};
use crate::model::{mask, text};

impl Agent {
    /// Finds the program of an agent, or the first installed one if none is named. One that is missing or not executable is an
    /// error (exit 4).
    ///
    /// `entries` are those of `agents:`, a later list before an earlier one. They are laid over the built-in presets only where
    /// a preset is meant, or can have been.
    pub fn resolve(
        spec: Option<&AgentSpec>,
        entries: &[Vec<Entry>; 2],
        root: &Path,
    ) -> Result<Agent> {
        let files: [&[Entry]; 2] = [&entries[0], &entries[1]];
        let presets = || Presets::new(&files);
        match spec {
            None => Agent::first(&presets(), root),
            Some(AgentSpec::Line(line)) if is_no_name(line) => {
                let words = known_with_options(line, &files);
                match words.and_then(|words| presets().with_options(&words)) {
                    Some(preset) => Ok(Agent {
                        name: mask::secrets(line.trim()),
                        ..Agent::preset(&preset, root)?
                    }),
                    None => Agent::line(line, root),
                }
            }
            Some(AgentSpec::Line(line)) if !Presets::has(line.trim(), &files) => {
                Agent::line(line, root).map_err(|error| presets().name_nearest(error, line))
            }
            Some(AgentSpec::Line(line)) => {
                let presets = presets();
                let preset = presets.find(line.trim());
                Agent::preset(preset.expect("BUG: a preset that is there is found"), root)
            }
            Some(AgentSpec::Command(command)) => Agent::command(command, root),
        }
    }

    /// Returns who it is: its name, and whether it was found or named.
    pub fn in_words(&self) -> String {
        match self.is_found {
            true => format!("{}, the first known agent that is installed", self.name),
            false => self.name.clone(),
        }
    }

    /// Says what is wrong with a single word that names neither a known agent nor a program; the nearest known one is in it.
    pub fn unknown(
        spec: Option<&AgentSpec>,
        entries: &[Vec<Entry>; 2],
        root: &Path,
    ) -> Option<String> {
        let files: [&[Entry]; 2] = [&entries[0], &entries[1]];
        let Some(AgentSpec::Line(line)) = spec else {
            return None;
        };
        if is_no_name(line) || Presets::has(line.trim(), &files) {
            return None;
        }
        let hints = Agent::resolve(spec, entries, root).err()?.hints;
        let nearest = hints.last().map_or("", String::as_str);
        Some(format!(
            "no agent and no program is called `{}`: {nearest}",
            line.trim()
        ))
    }

    fn first(presets: &Presets, root: &Path) -> Result<Agent> {
        let all = presets.all().iter();
        let found = all
            .filter(|preset| program_of_preset(preset, root).is_some())
            .find_map(|preset| Agent::preset(preset, root).ok());
        let names: Vec<&str> = presets.all().iter().map(|one| one.name.as_str()).collect();
        let is_found = |agent| Agent {
            is_found: true,
            ..agent
        };
        found.map(is_found).ok_or_else(|| {
            Error::new(Kind::Agent, "no agent is configured and none is installed, so nothing could be fixed")
                .hint(format!("install one of {}", names.join(", ")))
                .hint("or name any other: `evolve --agent 'my-agent --flag'`, or `evolve: {agent: …}` in GOALS.yaml or in ~/.config/evolve/config.yaml")
                .hint("`evolve measure` and `evolve --dry-run` need no agent")
        })
    }

    fn preset(preset: &Preset, root: &Path) -> Result<Agent> {
        let name = &preset.name;
        let Some(program) = program_of_preset(preset, root) else {
            let programs: Vec<String> = preset
                .programs
                .iter()
                .map(|one| format!("`{one}`"))
                .collect();
            return Err(Error::new(
                Kind::Agent,
                format!(
                    "the agent cannot run: {name} is not installed: {} is missing or not executable",
                    programs.join(" or ")
                ),
            )
            .hint(format!("install {name}, or name another agent with --agent")));
        };
        let is_set = |name: &String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !preset.needs_env.is_empty() && !preset.needs_env.iter().any(is_set) {
            let needed = preset.needs_env.join(" or ");
            return Err(Error::new(
                Kind::Agent,
                format!(
                    "the agent cannot run: {name} would wait for a login, since {needed} is not set"
                ),
            )
            .hint(format!("set {needed}, or name another agent with --agent")));
        }
        Ok(Agent {
            name: name.clone(),
            is_found: false,
            way: Way::Program(program.clone(), Box::new(preset.clone())),
        })
    }

    fn line(line: &str, root: &Path) -> Result<Agent> {
        let program = program_of(line);
        let is_program = program.as_ref().is_some_and(|word| is_runnable(word, root));
        if let Some(word) = program.filter(|_| !is_program)
            && !is_known_to_the_shell(&word)
        {
            return Err(missing(&word, line, root));
        }
        let is_there = |script: &&str| root.join(script).exists() || is_in_path(script);
        if let Some(script) = script_of(line).filter(|script| !is_there(script)) {
            let error = format!("the agent cannot run: there is no {script}");
            let hint = format!("the agent is `{line}`, called in {}", root.display());
            return Err(Error::new(Kind::Agent, error).hint(hint));
        }
        let is_plain = is_program && line.split_whitespace().all(|word| is_plain(&word));
        if !is_plain && let Some(problem) = program::shell_problem(line) {
            let error = "the agent cannot run: the shell cannot read its command line";
            return Err(Error::new(Kind::Agent, error).hint(format!("{problem}: {line}")));
        }
        Ok(Agent {
            name: mask::secrets(line),
            is_found: false,
            way: Way::Line(line.to_owned()),
        })
    }

    fn command(command: &AgentCommand, root: &Path) -> Result<Agent> {
        let name = mask::secrets(&command.command.join(" "));
        let Some((program, args)) = command.command.split_first() else {
            return Err(Error::usage("the agent's command is empty"));
        };
        if !is_runnable(program, root) {
            return Err(missing(program, &name, root));
        }
        let preset = Preset {
            args: args.iter().cloned().map(Arg::Word).collect(),
            prompt: command.prompt,
            timeout: command.timeout,
            idle_timeout: command.idle_timeout,
            ..Preset::default()
        };
        Ok(Agent {
            name,
            is_found: false,
            way: Way::Program(program.clone(), Box::new(preset)),
        })
    }
}

impl Presets {
    /// Returns a known agent with further options; none where these say themselves how it is to run.
    fn with_options(&self, words: &[&str]) -> Option<Preset> {
        let (name, options) = words.split_first()?;
        let preset = self.find(name)?;
        let sandboxed = preset.sandboxed_args.iter().flatten();
        let args = preset.args.iter().chain(sandboxed);
        let own: Vec<&str> = args
            .flat_map(Arg::words)
            .map(String::as_str)
            .chain(OF_A_CALL)
            .collect();
        let name_of = |option: &str| option.split('=').next().unwrap_or(option).to_owned();
        if options
            .iter()
            .any(|one| own.contains(&name_of(one).as_str()))
        {
            return None;
        }
        let mut preset = preset.clone();
        let words = options.iter().map(|word| Arg::Word((*word).to_owned()));
        preset.extra_args.extend(words);
        Some(preset)
    }

    /// Adds to the error about an unknown name the presets that may have been meant.
    fn name_nearest(&self, error: Error, line: &str) -> Error {
        let names: Vec<&str> = self.all().iter().map(|one| one.name.as_str()).collect();
        let known = format!("known agents are {}", names.join(", "));
        error.hint(match goals::nearest(line.trim(), &names) {
            Some(name) => format!("did you mean `{name}`? The {known}"),
            None => format!("the {known}"),
        })
    }
}

/// Options of agents by which a command line says how one is to be called.
const OF_A_CALL: [&str; 7] = [
    "-p",
    "--print",
    "--prompt",
    "--prompt-interactive",
    "--message",
    "--message-file",
    "--output-format",
];

/// Returns the words of a command line that is a known agent's name with options, and nothing for a shell.
fn known_with_options<'l>(line: &'l str, files: &[&[Entry]; 2]) -> Option<Vec<&'l str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_one = words.iter().all(is_plain) && Presets::has(words.first()?, files);
    // A first word without a dash is a command of the program's.
    let is_option = words.get(1).is_some_and(|word| word.starts_with('-'));
    (is_one && is_option).then_some(words)
}

/// Returns the program that a command line starts, where that can be told without a shell.
fn program_of(line: &str) -> Option<String> {
    let is_assignment = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.contains('/'))
    };
    // What an assignment runs may be written in several words.
    let mut plain = line.split_whitespace().take_while(is_plain);
    plain.find(|word| !is_assignment(word)).map(str::to_owned)
}

/// Says whether the shell takes a word as it is.
fn is_plain(word: &&str) -> bool {
    !word.contains(|letter| "\"'`$()[]{}<>|&;*?~#\\!".contains(letter))
}

/// Returns the file that a command line hands to an interpreter as its script, where that can be told without a shell. Node finds
/// files for names that none has.
fn script_of(line: &str) -> Option<&str> {
    const INTERPRETERS: [&str; 7] = ["bash", "perl", "python", "python3", "ruby", "sh", "zsh"];
    let mut words = line.split_whitespace().take_while(is_plain);
    let is_interpreter = words
        .next()
        .is_some_and(|word| INTERPRETERS.contains(&word));
    let script = words.next().filter(|_| is_interpreter)?;
    (!script.starts_with('-') && script.contains(['/', '.'])).then_some(script)
}

/// Says whether a file of this name is in a folder of the PATH, where shells look for a script whose name has no slash.
fn is_in_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    !name.contains('/') && std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Says whether a command line cannot be the name of a preset.
fn is_no_name(line: &str) -> bool {
    line.trim()
        .contains(|letter: char| letter.is_whitespace() || letter == '/')
}

/// Returns the first program of a preset that is installed.
fn program_of_preset<'a>(preset: &'a Preset, root: &Path) -> Option<&'a String> {
    let mut programs = preset.programs.iter();
    programs.find(|program| is_runnable(program, root))
}

fn is_runnable(program: &str, root: &Path) -> bool {
    which::which_in(program, std::env::var_os("PATH"), root).is_ok()
}

/// Says whether the shell knows a word as a builtin or keyword.
fn is_known_to_the_shell(word: &str) -> bool {
    let asked = Command::new("sh")
        .args(["-c", "command -v -- \"$1\"", "sh", word])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    !word.contains('/') && asked.is_ok_and(|status| status.success())
}

fn missing(program: &str, line: &str, root: &Path) -> Error {
    let is_there = program.contains('/') && root.join(program).is_file();
    let way_out = match is_there {
        true => format!(
            "make it one that can be run: `chmod +x {}`",
            text::shell_word(program)
        ),
        false => "install it, or name another with --agent".to_owned(),
    };
    let is_by_way = program.contains('/') && !program.starts_with('/');
    // Whoever names a file goes by the folder that they are in.
    let looked_in = match is_by_way {
        true => format!(" in {}, where the agent is called", root.display()),
        false => String::new(),
    };
    let error = Error::new(
        Kind::Agent,
        format!("the agent cannot run: `{program}` is missing or not executable{looked_in}"),
    )
    .hint(format!("the agent is `{line}`; {way_out}"));
    let here = std::env::current_dir()
        .ok()
        .filter(|_| is_by_way && !is_there);
    match here.and_then(|here| here.join(program).canonicalize().ok()) {
        Some(file) => error.hint(format!(
            "there is one at {}: name it by its whole path, or commit it to the repository",
            file.display()
        )),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_of_a_line_is_told_where_an_interpreter_is_handed_one() {
        assert_eq!(script_of("sh agent.sh --fast"), Some("agent.sh"));
        assert_eq!(script_of("python3 tools/agent"), Some("tools/agent"));
        for line in [
            "sh -c true",
            "sh $AGENT",
            "node ./agent",
            "python3 -m some.agent",
            "my-agent a.sh",
            "A=1 sh a.sh",
        ] {
            assert_eq!(script_of(line), None, "{line}");
        }
    }

    #[test]
    fn the_program_of_a_line_is_told_where_no_shell_is_needed_for_it() {
        let told = ["prog x", "A=1 B=2 prog x", "  ./prog"];
        for line in told {
            let program = program_of(line).expect(line);
            assert!(program.ends_with("prog"), "{line}: {program}");
        }
        let untold = [
            "A=$(git rev-parse HEAD) prog",
            "A=`git rev-parse HEAD`; prog",
            "A=\"x y\" prog",
            "$AGENT run",
            "(cd src; prog)",
            "A=1",
        ];
        for line in untold {
            assert_eq!(program_of(line), None, "{line}");
        }
    }
}
