//! Which agent programs there are, what they say of their version, and whether a login of theirs lies about.

use std::path::{Path, PathBuf};

use super::{Asker, Look};
use crate::effects::agent::Agent;
use crate::effects::sandbox;
use crate::model::agent::{BUILT_IN, Entry, Preset, Presets};
use crate::model::doctor::{AgentSeen, AgentsSeen, Answer, Login, Traces, traces_of};
use crate::model::goals::AgentSpec;
use crate::model::sandbox::{Home, expand};

/// Agents that are being asked for their versions.
#[derive(Debug)]
pub struct Agents {
    seen: AgentsSeen,
    asked: Vec<Option<Look<Answer>>>,
    /// The programs that the chosen agent needs, itself and what interprets it.
    pub programs: Vec<String>,
}

impl Agents {
    /// Returns what was seen of them.
    pub fn end(self) -> AgentsSeen {
        let mut seen = self.seen;
        for (one, asked) in seen.installed.iter_mut().zip(self.asked) {
            one.version = asked.map(|look| look.end().unwrap_or(Answer::Silent));
        }
        seen
    }
}

/// Looks which agents are installed, finds the one that a run would call, and begins to ask for versions.
pub fn agents(
    spec: Option<&AgentSpec>,
    entries: &[Vec<Entry>; 2],
    asker: &Asker,
    root: &Path,
) -> Agents {
    let presets = Presets::new(&[&entries[0], &entries[1]]);
    let chosen = Agent::resolve(spec, entries, root).map(|agent| (agent.name, agent.is_found));
    let home = sandbox::home();
    let mut agents = Agents {
        seen: AgentsSeen {
            chosen,
            installed: Vec::new(),
            missing: Vec::new(),
        },
        asked: Vec::new(),
        programs: Vec::new(),
    };
    for preset in presets.all() {
        let Some((program, path)) = program_of(preset, root) else {
            agents.seen.missing.push(preset.name.clone());
            continue;
        };
        let is_chosen = agents.seen.chosen.as_ref();
        if is_chosen.is_ok_and(|(name, _)| *name == preset.name) {
            agents.programs.push(program.clone());
            agents.programs.extend(interpreter(&path));
        }
        agents.asked.push(ask(asker, preset, &program, &path));
        agents.seen.installed.push(AgentSeen {
            name: preset.name.clone(),
            program: path.display().to_string(),
            version: None,
            login: traces_of(&program).map_or(Login::Unknown, |traces| login(traces, &home)),
        });
    }
    agents
}

fn program_of(preset: &Preset, root: &Path) -> Option<(String, PathBuf)> {
    let path = std::env::var_os("PATH");
    let mut programs = preset.programs.iter();
    programs.find_map(|program| {
        let found = which::which_in(program, path.as_ref(), root).ok()?;
        Some((program.clone(), found))
    })
}

/// Asks a program for its version, if it is one of those that are known to have one: any other could start to work.
fn ask(asker: &Asker, preset: &Preset, program: &str, path: &Path) -> Option<Look<Answer>> {
    let presets = Presets::new(&[]);
    let known = BUILT_IN.iter().filter_map(|name| presets.find(name));
    let mut programs = known.flat_map(|known| &known.programs);
    let is_plain = |(_, value): &&(String, String)| !value.contains('{');
    let env = preset.env.iter().filter(is_plain);
    let env = env.map(|(name, value)| (name.into(), value.into()));
    programs
        .any(|known| known == program)
        .then(|| asker.ask(vec![path.into(), "--version".into()], env.collect()))
}

fn login(traces: &'static Traces, home: &Home) -> Login {
    let is_set = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(variable) = traces.variables.iter().find(is_set) {
        return Login::Found((*variable).to_owned());
    }
    if traces.files.is_empty() {
        return Login::Unknown;
    }
    let paths = traces.files.iter().filter_map(|file| {
        let path = expand(file, home).ok().flatten()?;
        path.is_file().then(|| path.display().to_string())
    });
    paths
        .into_iter()
        .next()
        .map_or(Login::NotFound(traces), Login::Found)
}

/// Returns the program that a script names to interpret it, where `env` is to look for that.
fn interpreter(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut start = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(256).read_to_end(&mut start).ok()?;
    let line = String::from_utf8_lossy(&start);
    let line = line.lines().next()?.strip_prefix("#!")?;
    let mut words = line.split_whitespace();
    let is_env = words.next()?.ends_with("/env");
    let word = words.find(|word| !word.starts_with('-') && !word.contains('='));
    word.filter(|_| is_env).map(str::to_owned)
}
