//! Agent programs as data: how each is started, how its output is read, and what it says when it cannot run. The built-in
//! presets are one document in the format that users write under `agents:`. Pure.

mod argv;
mod obstacle;
mod pointer;
mod presets;
mod transcript;
mod wait;
mod words;

use std::time::Duration;

pub use argv::{Fill, PLACEHOLDERS};
pub use obstacle::{CannotRun, Obstacle, Refusal};
pub use pointer::Pointer;
pub use presets::{BUILT_IN, Presets};
pub use transcript::{Activity, Finished, Outcome, Transcript};
pub use wait::wait;

/// One agent program: everything that is needed to start it unattended and to understand what it prints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preset {
    /// The word that chooses it.
    pub name: String,
    /// The names of the program; the first that is found is started. Never empty.
    pub programs: Vec<String>,
    /// The arguments, with placeholders. `argv` fills them in.
    pub args: Vec<Arg>,
    /// Arguments behind `args`, so that one can be added without repeating them.
    pub extra_args: Vec<Arg>,
    /// How the brief goes in.
    pub prompt: Prompt,
    /// Variables that are set for it, with placeholders. `env` fills them in.
    pub env: Vec<(String, String)>,
    /// Variables of which at least one has to be set, since it would wait for a login otherwise; none if it needs none.
    pub needs_env: Vec<String>,
    /// What it leaves in the working tree for itself, as patterns of a .gitignore; git is told to pass it by.
    pub leaves: Vec<String>,
    /// What it writes outside the working tree for itself, for a sandbox; as `model::sandbox::expand` reads it.
    pub writes: Vec<String>,
    /// The arguments instead of `args` in a sandbox, where its own would be one too many.
    pub sandboxed_args: Option<Vec<Arg>>,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// How long it may be silent before it counts as stuck.
    pub idle_timeout: Option<Duration>,
    /// How what it prints is read.
    pub output: Output,
    /// What it looks like when it cannot run; the first rule that fits decides, then the rules that all share.
    pub cannot_run: Vec<Refusal>,
}

/// How the brief reaches the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prompt {
    /// Written to its standard input.
    #[default]
    Stdin,
    /// As one argument: in place of `{brief}`, else the last.
    Arg,
    /// As the path of a file: in place of `{brief_file}`, else the last argument.
    File,
}

/// One item of the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// One argument; left out if a placeholder in it has no value.
    Word(String),
    /// Arguments that stand or fall together.
    Group(Vec<String>),
}

/// How the output of a program is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// What its lines are.
    pub format: Format,
    /// A file that the program writes beside its output, with placeholders; a JSON document that is read with the same rules.
    pub usage_file: Option<String>,
    /// What is read from an event. Every rule that fits is applied.
    pub rules: Vec<Rule>,
}

/// What the lines of an output are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Words for people: only rules with a `line` apply.
    #[default]
    Text,
    /// One JSON document a line, or one document in all; rules with a `line` apply to the other lines.
    Jsonl,
}

/// One rule for reading events: what an event must look like, and what is read from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// A regular expression for a line that is no event; its named groups are the event then, as in `/cost` for `(?<cost>…)`.
    pub line: Option<String>,
    /// What the event must have: all of these.
    pub when: Vec<Condition>,
    /// The event is one turn of the agent.
    pub turn: bool,
    /// How many turns there were in all, where an event says so.
    pub turns: Vec<Pointer>,
    /// Paths of files that were touched.
    pub file: Vec<Pointer>,
    /// What the agent did or said; what is found is put into one line.
    pub activity: Vec<Pointer>,
    /// Tokens, read and written; what is found is summed.
    pub tokens: Vec<Pointer>,
    /// Dollars; what is found is summed.
    pub cost: Vec<Pointer>,
    /// Whether the figures of several events add up.
    pub figures: Figures,
    /// The agent's own words for its failure; the first that is found.
    pub error: Vec<Pointer>,
    /// The HTTP status of the failure.
    pub status: Option<Pointer>,
    /// A list of what the agent was refused.
    pub denied: Option<Pointer>,
    /// A regular expression for refusals that are meant, such as those that the arguments ask for.
    pub denied_except: Option<String>,
    /// The agent got an answer: an error before this event is overcome.
    pub done: bool,
}

/// What an event must have at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The place; with a `*`, one of the places.
    pub at: Pointer,
    /// What may stand there, as JSON; `null` is also what is absent.
    pub values: Vec<serde_json::Value>,
}

/// Whether the figures of several events add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Figures {
    /// Each event has the total so far.
    #[default]
    Last,
    /// Each event has its own.
    Sum,
}

/// An entry of `agents:`: the keys that it gives replace those of what it is like.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The word that chooses it.
    pub name: String,
    /// The preset that it inherits the rest from. A built-in preset's own name is inherited from without saying so.
    pub like: Option<String>,
    /// See `Preset`; so for the rest.
    pub programs: Option<Vec<String>>,
    /// The arguments.
    pub args: Option<Vec<Arg>>,
    /// Further arguments.
    pub extra_args: Option<Vec<Arg>>,
    /// How the brief goes in.
    pub prompt: Option<Prompt>,
    /// Variables that are set for it.
    pub env: Option<Vec<(String, String)>>,
    /// Variables of which at least one has to be set.
    pub needs_env: Option<Vec<String>>,
    /// What it leaves for itself.
    pub leaves: Option<Vec<String>>,
    /// What it writes elsewhere for itself.
    pub writes: Option<Vec<String>>,
    /// The arguments in a sandbox.
    pub sandboxed_args: Option<Vec<Arg>>,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// How long it may be silent.
    pub idle_timeout: Option<Duration>,
    /// How what it prints is read.
    pub output: Option<Output>,
    /// What it looks like when it cannot run.
    pub cannot_run: Option<Vec<Refusal>>,
}
