//! What of an undone cycle is on other branches and tags: what went on to newer commits stays there, and may be published.

use std::collections::BTreeMap;

use crate::effects::guard::refs;
use crate::effects::workspace::{Start, Workspace};
use crate::error::Result;
use crate::model::exact;
use crate::model::text;

/// How many refs are named.
const NAMED: usize = 10;
/// How many of the undone commits are looked for.
const COMMITS: usize = 100;
/// How much of an id is shown.
const SHORT: usize = 10;

impl Workspace<'_> {
    /// Names each branch and tag, but for the branch that is worked on, that was moved to commits of the undone work or made there,
    /// with the command that takes them out. Nothing where it is not known what was there before.
    pub(in crate::effects::workspace) fn note_spread(
        &self,
        start: &Start,
        tip: &str,
    ) -> Result<Vec<String>> {
        let Some(before) = start.guarded.refs(self.repo)? else {
            return Ok(Vec::new());
        };
        let is_other = |name: &str, target: &str| {
            let is_kind = name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
            is_kind && name != start.branch && before.get(name).is_none_or(|was| was != target)
        };
        let mut now = self.repo.all_refs()?;
        now.retain(|name, target| is_other(name, target));
        if now.is_empty() {
            return Ok(Vec::new());
        }
        let undone = self.repo.commits_since(&start.commit, tip, COMMITS)?;
        let ids: Vec<&str> = undone.iter().map(|commit| commit.id.as_str()).collect();
        let tips: Vec<&str> = before.values().map(String::as_str).collect();
        // A tag may lead to what is no commit.
        let commit = |(name, target): (&String, &String)| {
            let commit = self.repo.resolve(name).ok().flatten()?;
            Some((name.clone(), (target.clone(), commit)))
        };
        let now: BTreeMap<_, _> = now.iter().filter_map(commit).collect();
        let commits: Vec<&str> = now.values().map(|(_, commit)| commit.as_str()).collect();
        // What was there before is nobody's work of this cycle.
        let Some(held) = self.repo.holding(&commits, &ids, &tips)? else {
            return Ok(Vec::new());
        };
        let mut notes = Vec::new();
        for (name, (target, commit)) in &now {
            let Some(newest) = held.get(commit) else {
                continue;
            };
            if notes.len() == NAMED {
                notes.push("more branches and tags like these: see `git branch -a --contains` and `git tag --contains`".to_owned());
                break;
            }
            let newest = newest.get(..SHORT).unwrap_or(newest);
            let shown = exact::shown(
                name.strip_prefix("refs/heads/")
                    .or_else(|| name.strip_prefix("refs/tags/"))
                    .unwrap_or(name),
            );
            let held = format!("{shown} holds commits of the undone work ({newest})");
            let whose = start.whose();
            notes.push(
                match refs::is_by_somebody_else(self.repo, name, target, &whose) {
                    true => format!("{held}; somebody else moved it there"),
                    false => {
                        let way_out = self.way_out_of(name, before.get(name).map(String::as_str));
                        format!("{held}: `{way_out}` takes them out")
                    }
                },
            );
        }
        Ok(notes)
    }

    /// Returns the command that puts a branch or tag back to where it was.
    fn way_out_of(&self, name: &str, was: Option<&str>) -> String {
        let word = |name: &str| text::shell_word(exact::encode(name));
        match (name.strip_prefix("refs/heads/"), was) {
            (Some(branch), was) => {
                let tree = self.repo.tree_on(name);
                let tree = tree.map(|tree| text::shell_word(tree.as_os_str().as_encoded_bytes()));
                match (tree, was) {
                    (Some(tree), Some(was)) => format!("git -C {tree} reset --keep {was}"),
                    (None, Some(was)) => format!("git branch --force {} {was}", word(branch)),
                    (Some(tree), None) => {
                        let branch = word(branch);
                        format!("git -C {tree} checkout --detach && git branch -D {branch}")
                    }
                    (None, None) => format!("git branch -D {}", word(branch)),
                }
            }
            (None, Some(was)) => format!("git update-ref {} {was}", word(name)),
            (None, None) => {
                let tag = name.strip_prefix("refs/tags/").unwrap_or(name);
                format!("git tag -d {}", word(tag))
            }
        }
    }
}
