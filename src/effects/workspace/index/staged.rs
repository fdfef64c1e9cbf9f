//! The tree of what is staged. In a large repository git would write the whole index again to say it, because it notes
//! down what it found out about each folder.

use crate::effects::parallel::side_by_side;
use crate::effects::repo::{Difference, Entry};
use crate::effects::workspace::Workspace;
use crate::error::Result;
use crate::model::ledger::is_ledger_path;

impl Workspace<'_> {
    /// Returns the tree of what is staged, but with the ledger of `tip`, a tree: its files are never the agent's to commit. With it
    /// comes what the index lists, where it was not written for that.
    pub(in crate::effects::workspace) fn staged_tree(
        &self,
        tip: &str,
    ) -> Result<(String, Option<Vec<u8>>)> {
        let git = &self.repo.git;
        let arguments = [
            "diff-index",
            "--cached",
            "--raw",
            "-z",
            "--no-renames",
            "--ignore-submodules=none",
            tip,
        ];
        let (staged, listed) = side_by_side(|| git.run(&arguments), || self.repo.listing())?;
        let staged = parse(&staged);
        let is_ledger = |one: &Difference| is_ledger_path(&one.path);
        let is_plain = |one: &Difference| matches!(&one.new, Some(new) if new.is_file());
        if let Some(staged) = staged
            && staged.iter().all(|one| is_plain(one) && !is_ledger(one))
            && let Ok(tree) = self.repo.with_files(tip, &staged)
        {
            return Ok((tree, Some(listed)));
        }
        // What was removed, submodules, conflicts and names that libgit2 refuses are git's business.
        self.reset_ledger_index(&self.repo.ledger_files(tip)?)?;
        let written = git.run(&["write-tree"])?;
        Ok((String::from_utf8_lossy(&written).trim().to_owned(), None))
    }
}

/// Reads raw differences, as in `:100644 100644 <id> <id> M`, the path after it; none if there is more to them than what
/// was and is.
pub fn parse(output: &[u8]) -> Option<Vec<Difference>> {
    let mut parts = output.split(|byte| *byte == 0);
    let mut found = Vec::new();
    while let Some(words) = parts.next().filter(|words| !words.is_empty()) {
        let words = std::str::from_utf8(words).ok()?;
        let words: Vec<&str> = words.strip_prefix(':')?.split(' ').collect();
        let [was, is, old, new, "A" | "M" | "T" | "D"] = words[..] else {
            return None;
        };
        found.push(Difference {
            path: parts.next()?.to_vec(),
            old: entry(was, old),
            new: entry(is, new),
        });
    }
    Some(found)
}

fn entry(mode: &str, id: &str) -> Option<Entry> {
    let mode = u32::from_str_radix(mode, 8).ok()?;
    (mode != 0).then(|| Entry {
        id: id.to_owned(),
        mode,
    })
}
