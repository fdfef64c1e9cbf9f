//! Whether what cycles were to mend is gone: a kept change makes an item done, but only the tool can tell. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::harvest::key;
use super::{Batch, SOURCE};
use crate::model::text;
use crate::model::work::Mended;

/// Something that a tool still finds though the item that stood for it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmended {
    /// The cycle whose change was kept.
    pub cycle: u64,
    /// The tool that finds it.
    pub tool: String,
    /// The files it finds it in.
    pub files: Vec<String>,
}

impl fmt::Display for Unmended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmended { cycle, tool, files } = self;
        let files = files.join(", ");
        write!(
            f,
            "{tool} still finds in {files} what cycle {cycle} was to mend; the item counts as done, and no sweep queues it again: see `evolve show {cycle}`"
        )
    }
}

/// Returns the tool that found what an item stands for; none if no sweep's did.
pub fn tool_of(mended: &Mended) -> Option<&str> {
    mended.source.strip_prefix(SOURCE)
}

/// Returns what the programs of a sweep still find of what cycles were to mend.
pub fn unmended(batches: &[Batch], mended: &[Mended]) -> Vec<Unmended> {
    let mut found: BTreeMap<(&str, String), &str> = BTreeMap::new();
    for batch in batches {
        let keys = batch.findings.iter().map(|finding| {
            let key = key(&batch.tool, finding);
            ((batch.tool.as_str(), key), finding.file.as_str())
        });
        found.extend(keys);
    }
    let still = |one: &Mended| {
        let tool = tool_of(one)?;
        let of_tool = one.findings.iter();
        let files: BTreeSet<&&str> = of_tool
            .filter_map(|key| found.get(&(tool, key.clone())))
            .collect();
        let files = files.into_iter().map(|file| text::clean_line(file));
        let unmended = Unmended {
            cycle: one.cycle,
            tool: text::clean_line(tool),
            files: files.collect(),
        };
        (!unmended.files.is_empty()).then_some(unmended)
    };
    mended.iter().filter_map(still).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Finding;
    use super::*;
    use crate::model::work::Severity;

    fn batch(tool: &str, findings: &[(&str, u64, &str)]) -> Batch {
        let finding = |(file, line, message): &(&str, u64, &str)| Finding {
            file: (*file).to_owned(),
            line: *line,
            rule: "R".to_owned(),
            message: (*message).to_owned(),
        };
        Batch {
            tool: tool.to_owned(),
            how: String::new(),
            kind: "bug".to_owned(),
            severity: Severity::Medium,
            findings: findings.iter().map(finding).collect(),
            items: Vec::new(),
        }
    }

    fn mended(cycle: u64, tool: &str, findings: &[&Batch]) -> Mended {
        let all = findings.iter().flat_map(|batch| &batch.findings);
        Mended {
            cycle,
            source: format!("{SOURCE}{tool}"),
            findings: all.map(|finding| key(tool, finding)).collect(),
        }
    }

    #[test]
    fn only_what_the_same_tool_finds_again_is_unmended() {
        let old = batch("a", &[("x.sh", 3, "word 7"), ("x.sh", 9, "other")]);
        let done = [mended(4, "a", &[&old]), mended(5, "b", &[&old])];
        let gone = batch("a", &[("x.sh", 3, "something else")]);
        assert_eq!(unmended(&[gone, batch("b", &[])], &done), []);
        let moved = batch("a", &[("x.sh", 30, "word 8")]);
        let still = unmended(&[moved], &done);
        assert_eq!(still.len(), 1, "{still:?}");
        assert_eq!((still[0].cycle, still[0].tool.as_str()), (4, "a"));
        assert!(
            still[0]
                .to_string()
                .starts_with("a still finds in x.sh what cycle 4 was to mend;"),
            "{}",
            still[0]
        );
    }
}
