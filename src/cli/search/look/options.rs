//! What can be asked of a search that is looked at.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use crate::cli::complete;
use crate::cli::options::{at_least_one, attempt};

/// Which search is looked at.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::cli) struct Which {
    /// An earlier search, by its number [default: the newest]
    #[arg(long = "search", value_name = "N", value_parser = at_least_one::<u64>)]
    pub number: Option<u64>,
}

/// `evolve search board`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct BoardOptions {
    /// Every attempt, not only the best and a few of the others
    #[arg(long)]
    pub all: bool,
    /// The scores over the attempts as well, drawn with characters
    #[arg(long)]
    pub chart: bool,
    /// Print one JSON document
    #[arg(long, conflicts_with_all = ["all", "chart"])]
    pub json: bool,
    #[command(flatten)]
    pub which: Which,
}

/// `evolve search status`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct StatusOptions {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub which: Which,
}

/// `evolve search show`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ShowOptions {
    /// The attempt's number; 0 is the baseline [default: the best]
    #[arg(value_parser = attempt, add = ArgValueCompleter::new(complete::attempts))]
    pub id: Option<u64>,
    /// The whole patch as well
    #[arg(long)]
    pub diff: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub which: Which,
}

/// `evolve search diff`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct DiffOptions {
    /// The attempt's number [default: the best]
    #[arg(value_parser = attempt, add = ArgValueCompleter::new(complete::attempts))]
    pub id: Option<u64>,
    /// What it is compared with [default: 0, the baseline]
    #[arg(value_parser = attempt, add = ArgValueCompleter::new(complete::attempts), default_value_t = 0, hide_default_value = true)]
    pub other: u64,
    /// Only the files and how much changed in each
    #[arg(long)]
    pub stat: bool,
    #[command(flatten)]
    pub which: Which,
}

/// `evolve search report`.
#[derive(Clone, Debug, Args)]
pub(in crate::cli) struct ReportOptions {
    /// Where to write it; - is stdout [default: search-report.html in evolve's private folder, .git/evolve]
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Look at it in the browser
    #[arg(long)]
    pub open: bool,
    #[command(flatten)]
    pub which: Which,
}
