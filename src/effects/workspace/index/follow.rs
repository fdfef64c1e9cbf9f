//! Has the index follow a commit of the ledger in one call of git, where nothing stands in the way: git notes the files as they
//! stand in the tree, and the index is read afterwards. Whatever in it is not the committed then is left to the longer way.

use std::collections::HashMap;
use std::path::Path;

use crate::effects::git::Git;
use crate::effects::repo::{Entry, Indexed, indexed_in};
use crate::effects::workspace::{Workspace, ended};
use crate::error::Result;
use crate::model::ledger;

/// Where the ledger lies.
const PLACES: [&str; 2] = [ledger::FOLDER, ledger::QUEUE];

impl Workspace<'_> {
    /// Notes the ledger's files in the index that this git has at `file`; says whether it has just what is `wanted` there afterwards, and the files' times.
    ///
    /// What a filter of the user's makes of a file is no matter: the ids are compared. So is a file that was changed meanwhile.
    pub(in crate::effects::workspace) fn follow_ledger(
        &self,
        git: &Git,
        file: &Path,
        wanted: &[(String, Entry)],
    ) -> Result<bool> {
        let paths = wanted.iter().map(|(path, _)| path.as_bytes().to_vec());
        let paths = ended(&paths.collect::<Vec<_>>());
        // What a sparse checkout leaves out is not gone.
        let arguments = [
            "update-index",
            "--add",
            "--remove",
            "--ignore-skip-worktree-entries",
            "-z",
            "--stdin",
        ];
        match git.run_with(&arguments, &paths) {
            Ok(_) => has_in_index(git, file, wanted),
            // Of what the machine denies the longer way may still make something: a file that cannot be read is made anew. What
            // ended this ends that.
            Err(_) => Ok(false),
        }
    }
}

/// Says whether the index has just these entries where the ledger lies.
fn has_in_index(git: &Git, file: &Path, wanted: &[(String, Entry)]) -> Result<bool> {
    let indexed = match indexed_in(file, &PLACES) {
        Some(indexed) => indexed,
        None => listed_below(git)?,
    };
    let wanted: HashMap<_, _> = wanted
        .iter()
        .map(|(path, entry)| (path.as_bytes(), entry))
        .collect();
    let is_wanted =
        |one: &Indexed| one.is_merged && wanted.get(&one.path[..]).copied() == Some(&one.entry);
    Ok(indexed.len() == wanted.len() && indexed.iter().all(is_wanted))
}

/// Asks git for the entries of its index where the ledger lies.
fn listed_below(git: &Git) -> Result<Vec<Indexed>> {
    let arguments = ["ls-files", "--stage", "-z", "--", PLACES[0], PLACES[1]];
    Ok(entries(&git.run(&arguments)?))
}

/// Reads entries of the index as git lists them, as in `100644 <id> 0<tab>path`.
fn entries(listed: &[u8]) -> Vec<Indexed> {
    let read = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let words = std::str::from_utf8(&line[..tab]).ok()?;
        let mut words = words.split(' ');
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        let id = words.next()?.to_owned();
        Some(Indexed {
            path: line[tab + 1..].to_vec(),
            entry: Entry { id, mode },
            is_merged: words.next()? == "0",
        })
    };
    let lines = listed.split(|byte| *byte == 0);
    lines.filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_mode_and_id_and_any_path_and_are_merged_at_stage_0_alone() {
        let listed = b"100644 ab 0\ta\tb\n\xff\x00100755 cd 2\tc d\x00";
        let one = |path: &[u8], mode, id: &str, is_merged| Indexed {
            path: path.to_vec(),
            entry: Entry {
                id: id.to_owned(),
                mode,
            },
            is_merged,
        };
        let expected = [
            one(b"a\tb\n\xff", 0o100_644, "ab", true),
            one(b"c d", 0o100_755, "cd", false),
        ];
        assert_eq!(entries(listed), expected);
        assert!(entries(b"").is_empty());
    }
}
