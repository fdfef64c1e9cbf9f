//! Files beside the ledger that are never committed.

use std::path::Path;

use serde_json::json;

use super::{Ledger, line, refuse_links};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::Result;
use crate::model::ledger as names;
use crate::model::snapshot::FORMAT;

/// The most bytes of git's own list of excluded files that are read.
const EXCLUDE_LIMIT: u64 = 16 << 20;
/// What stands in `info/exclude`: what is never committed, and what is not committed before a cycle is over; a check that wants a clean
/// tree (`git status --porcelain`, `cargo package`) would see it.
const EXCLUDED: [&str; 5] = [
    "/.agents/evolve/STOP",
    "/.agents/evolve/KILLED.json",
    "/.agents/evolve/outbox/",
    "/.agents/evolve/*.json",
    "/.agents/evolve/*.md",
];

impl Ledger {
    /// Acknowledges a kill, beside the ledger. Not where its folder was made something else, which is done away with later.
    pub fn acknowledge_kill(root: &Path, cycle: u64, reason: &str, at: &str) -> Result<()> {
        refuse_links(root)?;
        let killed = json!({"format": FORMAT, "killed_at": at, "cycle": cycle, "reason": reason});
        files::replace(
            &root.join(names::KILLED),
            line("killed", &killed)?.as_bytes(),
        )
    }

    /// Tells git to leave alone what it is not to show: the ledger's private files and new ones, and what an agent leaves for itself.
    pub fn exclude_private_files(repo: &Repo, of_agent: &[String]) -> Result<()> {
        let path = repo.common_path("info/exclude");
        let text = files::read_text(&path, EXCLUDE_LIMIT)?;
        let of_agent = of_agent.iter().map(String::as_str);
        let missing: Vec<_> = EXCLUDED
            .into_iter()
            .chain(of_agent)
            .filter(|line| !text.lines().any(|known| known == *line))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let lines: String = missing.iter().map(|line| format!("{line}\n")).collect();
        files::append(&path, &lines)
    }
}
