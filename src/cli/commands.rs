//! The commands beside the loop, and what each can be asked.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::cli::complete;
use crate::cli::init::InitOptions;
use crate::cli::options::Progress;
use crate::cli::options::{
    AgentOption, Global, GoalsOption, JobsOption, JunitOption, ProgressOption, RunOptions, cycle,
};
use crate::cli::search::SearchCommand;
use crate::model::since::Since;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Look at the repository, write its GOALS.yaml, and measure at once
    Init(InitOptions),
    /// Run every check, or the named ones, once; needs no agent and changes nothing
    Measure {
        /// Goals to measure [default: all]
        #[arg(add = ArgValueCompleter::new(complete::goals))]
        ids: Vec<String>,
        /// Print the snapshot as JSON
        #[arg(long)]
        json: bool,
        /// Exit with 10 unless every goal passes
        #[arg(long)]
        gate: bool,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
        #[command(flatten)]
        progress: ProgressOption,
        #[command(flatten)]
        report: JunitOption,
    },
    /// Check GOALS.yaml; every problem with its place and a hint
    Validate {
        /// Print one JSON document, problems in it
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Where things stand: score, newest cycle, queue, who is at work, what would stop it
    Status {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Whether the loop could run here, and what to do where it could not; exit 10 then
    Doctor {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        agent: AgentOption,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Every cycle so far, the newest last, and the way of the score
    History(HistoryOptions),
    /// One cycle: what was tried and changed, what became of it, both snapshots
    Show(ShowOptions),
    /// One page about all of it, as a file of its own: verdict, fitness, goals by cycle, who is needed, cost
    Report(ReportOptions),
    /// Hold every record against git: its commit, trailers, snapshots and undo; exit 10 if anything disagrees
    Audit {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        /// Measure the commits of the newest N records again, in a copy beside the repository, and compare
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        remeasure: usize,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
    },
    /// Take the change of one cycle back as a new commit, unless a goal gets worse by that; needs no agent
    Undo {
        /// The cycle's number
        #[arg(value_parser = cycle, add = ArgValueCompleter::new(complete::cycles))]
        cycle: u64,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
        #[command(flatten)]
        progress: ProgressOption,
    },
    /// Show which thresholds have more than 3 % headroom, and what they can become; needs no agent
    Ratchet {
        /// Write the new thresholds to the goals file
        #[arg(long)]
        apply: bool,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        file: GoalsOption,
        #[command(flatten)]
        checks: JobsOption,
        #[command(flatten)]
        progress: ProgressOption,
    },
    /// Make one number as good as it can be: many attempts by agents, each measured; nothing of yours is touched
    Search(Box<SearchCommand>),
    /// The queue of harvested work; alone it is listed
    Work {
        #[command(subcommand)]
        action: Option<WorkAction>,
    },
    /// What agents learned; alone it is listed
    Lessons {
        #[command(subcommand)]
        action: Option<LessonAction>,
    },
    /// Stop the loop after its running cycle; `--now` ends the running cycle too
    Stop(StopOptions),
    /// Let goals that were struck or declined be worked on again
    ///
    /// Their earlier attempts no longer count. Where none counts anyway, that is said and nothing is written.
    #[command(
        override_usage = "evolve retry [OPTIONS] <ID>...\n       evolve retry [OPTIONS] --all"
    )]
    Retry {
        /// The goals
        #[arg(value_name = "ID", required_unless_present = "all", add = ArgValueCompleter::new(complete::goals))]
        ids: Vec<String>,
        /// All goals that wait for a person
        #[arg(long, conflicts_with = "ids")]
        all: bool,
        #[command(flatten)]
        file: GoalsOption,
    },
    /// Print a JSON Schema: of GOALS.yaml, or of a file or stream that evolve writes
    Schema {
        /// Which [omit to list them]
        #[arg(add = ArgValueCompleter::new(complete::schemas))]
        name: Option<String>,
    },
    /// See the loop, or a search, at work on a small repository made for it
    Demo {
        /// What to see: loop or search
        #[arg(value_enum, default_value_t, hide_default_value = true)]
        what: Demonstration,
        /// Where to make the repository [default: a new temporary folder]
        #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        keep_in: Option<PathBuf>,
        #[command(flatten)]
        progress: ProgressOption,
    },
    /// Help on a command, or a page: goals, agents, searching, exit-codes, files
    Help {
        /// The command or page [omit for all]
        #[arg(add = ArgValueCompleter::new(complete::topics))]
        words: Vec<String>,
    },
    /// Have a shell complete words: what it is to read when it starts
    #[command(alias = "completion")]
    Completions {
        /// The shell [omit to see where the line of each belongs]
        #[arg(value_enum)]
        shell: Option<complete::Shell>,
    },
    /// Print the manual page, or write one for each command
    Man {
        /// The folder to write to, made if need be
        #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
        out: Option<PathBuf>,
    },
}

impl Command {
    /// Returns the options that the loop has, too, as they were written behind the command, where it has use for them.
    pub(super) fn shared(&self) -> Shared {
        match self {
            Command::Measure {
                file,
                checks,
                progress,
                report,
                ..
            } => Shared {
                goals: file.goals.clone(),
                jobs: checks.jobs,
                progress: progress.progress,
                junit: report.junit.clone(),
                ..Shared::default()
            },
            Command::Undo {
                file,
                checks,
                progress,
                ..
            }
            | Command::Ratchet {
                file,
                checks,
                progress,
                ..
            } => Shared {
                goals: file.goals.clone(),
                jobs: checks.jobs,
                progress: progress.progress,
                ..Shared::default()
            },
            Command::Init(InitOptions { file, checks, .. })
            | Command::Audit { file, checks, .. } => Shared {
                goals: file.goals.clone(),
                jobs: checks.jobs,
                ..Shared::default()
            },
            Command::Validate { file, .. }
            | Command::Status { file, .. }
            | Command::Retry { file, .. } => Shared {
                goals: file.goals.clone(),
                ..Shared::default()
            },
            Command::Doctor { file, agent, .. } => Shared {
                goals: file.goals.clone(),
                agent: agent.agent.clone(),
                ..Shared::default()
            },
            Command::Demo { progress, .. } => Shared {
                progress: progress.progress,
                ..Shared::default()
            },
            Command::Report(options) => Shared {
                goals: options.file.goals.clone(),
                ..Shared::default()
            },
            Command::History(_)
            | Command::Show(_)
            | Command::Work { .. }
            | Command::Lessons { .. }
            | Command::Stop(_)
            | Command::Schema { .. }
            | Command::Search(_)
            | Command::Help { .. }
            | Command::Completions { .. }
            | Command::Man { .. } => Shared::default(),
        }
    }
}

/// What can be seen at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Demonstration {
    /// The loop
    #[default]
    Loop,
    /// A search
    Search,
}

/// Options of the loop that some commands have, too.
#[derive(Debug, Default)]
pub(super) struct Shared {
    agent: Option<String>,
    goals: Option<PathBuf>,
    jobs: Option<usize>,
    progress: Option<Progress>,
    junit: Option<PathBuf>,
}

impl Shared {
    /// Puts them in the place of those that stand before the command: behind it they count more.
    pub(super) fn apply(self, global: &mut Global, run: &mut RunOptions) {
        run.agent.agent = self.agent.or(run.agent.agent.take());
        global.file.goals = self.goals.or(global.file.goals.take());
        run.checks.jobs = self.jobs.or(run.checks.jobs);
        run.progress.progress = self.progress.or(run.progress.progress);
        run.report.junit = self.junit.or(run.report.junit.take());
    }
}

/// Options of `evolve report`.
#[derive(Clone, Debug, Args)]
pub(super) struct ReportOptions {
    /// Markdown for a pull request, on stdout unless --out says otherwise
    #[arg(long)]
    pub(super) md: bool,
    /// Where to write it; - is stdout [default: report.html in evolve's private folder, .git/evolve]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Look at it in the browser
    #[arg(long, conflicts_with = "md")]
    pub(super) open: bool,
    #[command(flatten)]
    pub(super) file: GoalsOption,
}

#[derive(Debug, Subcommand)]
pub(super) enum WorkAction {
    /// What is queued for this repository
    List {
        /// Print one JSON document, as `evolve schema queue` describes it
        #[arg(long)]
        json: bool,
    },
    /// Queue a piece of work
    Add(NewWork),
    /// Take items off the queue that are not to be done
    Drop {
        /// The id of each as `work list` shows it, its title, or how one of them begins
        #[arg(value_name = "ITEM", required = true, add = ArgValueCompleter::new(complete::work))]
        items: Vec<String>,
    },
    /// Take items off the queue that are done
    Done {
        /// The id of each as `work list` shows it, its title, or how one of them begins
        #[arg(value_name = "ITEM", required = true, add = ArgValueCompleter::new(complete::work))]
        items: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum LessonAction {
    /// What is known, the newest last
    List {
        /// As work on this goal is told it, first what counts most, with how often it was told in vain
        #[arg(long, value_name = "ID", add = ArgValueCompleter::new(complete::goals))]
        goal: Option<String>,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Drop a lesson, so that no agent is told it and none learns it again
    Drop {
        /// Its id as `lessons list` shows it, or how its words begin
        #[arg(add = ArgValueCompleter::new(complete::lessons))]
        lesson: String,
    },
}

/// Options of `evolve history`.
#[derive(Clone, Debug, Args)]
pub(super) struct HistoryOptions {
    /// What this goal came to in each cycle, and the way of its value
    #[arg(long, value_name = "ID", add = ArgValueCompleter::new(complete::goals))]
    pub(super) goal: Option<String>,
    /// Only cycles from here on: a cycle's number, as in 12, a time before now, as in 3d, or a date (UTC), as in 2026-11-20
    #[arg(long, value_name = "WHEN", value_parser = crate::model::since::parse)]
    pub(super) since: Option<Since>,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `evolve show`.
#[derive(Clone, Debug, Args)]
pub(super) struct ShowOptions {
    /// The cycle's number [default: the newest]
    #[arg(value_parser = cycle, add = ArgValueCompleter::new(complete::cycles))]
    pub(super) cycle: Option<u64>,
    /// The whole patch as well
    #[arg(long)]
    pub(super) diff: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of `evolve stop`.
#[derive(Clone, Debug, Args)]
pub(super) struct StopOptions {
    /// Why; shown when the loop stops
    pub(super) reason: Vec<String>,
    /// End the running session at once, as Ctrl-C would; leaves no file
    #[arg(long, conflicts_with_all = ["kill", "off"])]
    pub(super) now: bool,
    /// Stop every loop and search of this user within a second, for good
    #[arg(long)]
    pub(super) kill: bool,
    /// Take the stop file away (with --kill: the kill file)
    #[arg(long, conflicts_with = "reason")]
    pub(super) off: bool,
}

/// Options of `evolve work add`.
#[derive(Clone, Debug, Args)]
pub(super) struct NewWork {
    /// What is to be done, in one line
    pub(super) title: String,
    /// More about it
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(super) description: String,
    /// How much it matters
    #[arg(long, value_enum, default_value = "medium")]
    pub(super) severity: Level,
    /// What sort of work it is, as in bug or tech-debt
    #[arg(long = "type", default_value = "task")]
    pub(super) kind: String,
    /// The repository it is for [default: this one]
    #[arg(long)]
    pub(super) target_repo: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Level {
    Critical,
    High,
    Medium,
    Low,
}
