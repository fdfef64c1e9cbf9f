//! What cycles did of a sweep's work, so that a later look can tell whether it is gone. Pure.

use std::collections::HashSet;

use super::{BY_AGENT, Queue};

/// An item of a sweep that counts as done because a cycle's change was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// The cycle.
    pub cycle: u64,
    /// Who found it, as in `sweep:clippy`.
    pub source: String,
    /// The digests of what was found.
    pub findings: HashSet<String>,
}

impl Queue {
    /// Returns the items with findings that cycles took off the queue, in the file's order.
    pub fn mended(&self) -> Vec<Mended> {
        let mended = |line: &super::Line| {
            let item = line.items().next().filter(|item| item.is_consumed())?;
            let by = item.consumed_by.as_deref()?;
            Some(Mended {
                cycle: by.strip_prefix(BY_AGENT)?.parse().ok()?,
                source: item.source.clone()?,
                findings: line.findings().iter().cloned().collect(),
            })
        };
        let all = self.lines.iter().filter_map(mended);
        all.filter(|it| !it.findings.is_empty()).collect()
    }
}
