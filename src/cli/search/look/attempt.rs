//! One attempt: all that is known of it, and what it changes.

use serde_json::json;

use super::Seen;
use super::options::{DiffOptions, ShowOptions};
use crate::cli::options::Global;
use crate::cli::print::print_document;
use crate::effects::search::papers;
use crate::effects::search::store::FORMAT;
use crate::engine::search::{commit, lost};
use crate::error::{Error, Result};
use crate::model::git::patch::Patch;
use crate::search::overview;
use crate::view::search::attempt::{self, Page};
use crate::view::width;

/// The most bytes of a patch that are shown.
const PATCH_SHOWN: usize = 4 << 20;
/// The most bytes of a patch that is asked for alone.
const DIFF_SHOWN: usize = 64 << 20;

/// Shows one attempt.
pub fn show(global: &Global, options: &ShowOptions) -> Result<u8> {
    let seen = Seen::of(global, options.which)?;
    let id = seen.known(options.id.unwrap_or(seen.overview.best))?;
    let row = &seen.overview.rows[usize::try_from(id).unwrap_or(0)];
    let sampled = overview::sampled(&seen.lineage, id);
    let parent = row.parents.first().copied();
    let most = if options.diff { PATCH_SHOWN } else { 0 };
    let own = seen.lineage.attempt(id).edited();
    let own = own.and_then(|edited| edited.commit.as_deref());
    let patch = match (own, parent) {
        (Some(_), Some(parent)) => seen.patch_if_there(parent, id, most)?,
        _ => None,
    };
    let is_there = patch.is_some();
    let is_gone = |commit: &str| match is_there {
        true => commit.to_owned(),
        false => format!("{commit}, which is gone from the repository, or its parent's is"),
    };
    let told = own.map(is_gone);
    let folder = &seen.store.folder;
    let tasks = papers::tasks(folder, id);
    let without = sampled.iter().rfind(|one| one.reason.is_some());
    let failed = without.and_then(|one| papers::failed(folder, id, one));
    let papers = papers::of(folder, id);
    let shown = |path: &std::path::Path| {
        let path = path.strip_prefix(&seen.repo.root).unwrap_or(path);
        path.display().to_string()
    };
    let logs: Vec<String> = papers.files.iter().map(|path| shown(path)).collect();
    if options.json {
        let mut document = json!({
            "format": FORMAT,
            "search": seen.store.number,
            "attempt": row,
            "measured": sampled,
            "tasks": tasks,
            "output_tail": failed.map(|paper| paper.text),
            "commit": own,
            "logs": logs,
        });
        if let Some(patch) = patch {
            document["files"] = json!(patch.files);
            if options.diff {
                document["patch"] = json!(patch.text);
            }
        }
        print_document("search-show", &document)?;
        return Ok(0);
    }
    let brief = papers.brief.map(|paper| (shown(&paper.path), paper.text));
    let log = papers.log.map(|paper| (shown(&paper.path), paper.text));
    let failed = failed.map(|paper| (shown(&paper.path), paper.text));
    let page = Page {
        overview: &seen.overview,
        row,
        agent: &seen.lineage.plan.request.agent,
        sampled: &sampled,
        tasks: &tasks,
        commit: told.as_deref(),
        patch: patch.as_ref(),
        logs: &logs,
        brief: brief.as_ref().map(|(path, text)| (&**text, &**path)),
        log: log.as_ref().map(|(path, text)| (&**text, &**path)),
        failed: failed.as_ref().map(|(path, text)| (&**text, &**path)),
    };
    global.say(&page.text(width::of_terminal()));
    Ok(0)
}

/// Shows what an attempt changes in another one.
pub fn diff(global: &Global, options: &DiffOptions) -> Result<u8> {
    let seen = Seen::of(global, options.which)?;
    let id = match options.id {
        Some(id) => seen.known(id)?,
        None => seen.best()?,
    };
    let other = seen.known(options.other)?;
    for id in [id, other] {
        seen.refuse_without_change(id)?;
    }
    if let Some(gone) = seen.lost(&[other, id]) {
        return Err(gone);
    }
    let patch = seen.patch(other, id, if options.stat { 0 } else { DIFF_SHOWN })?;
    if patch.files.is_empty() {
        global.say("no difference\n");
        return Ok(0);
    }
    global.say(&attempt::diff_page(
        &patch,
        options.stat,
        width::of_terminal(),
    ));
    Ok(0)
}

impl Seen {
    /// Returns what changes from one attempt to another, and so many bytes of the patch; none where a commit is gone.
    pub(super) fn patch_if_there(&self, from: u64, to: u64, most: usize) -> Result<Option<Patch>> {
        match self.lost(&[from, to]) {
            Some(_) => Ok(None),
            None => self.patch(from, to, most).map(Some),
        }
    }

    /// Returns the best attempt, if one is better than the untouched code.
    fn best(&self) -> Result<u64> {
        match self.overview.best {
            0 => Err(
                Error::usage("no attempt is better than the untouched code so far")
                    .hint("`evolve search board --all` lists them; `evolve search diff ID` shows what one changed"),
            ),
            best => Ok(best),
        }
    }

    fn lost(&self, ids: &[u64]) -> Option<Error> {
        lost::of(&self.repo, &self.store, &self.lineage, ids)
    }

    fn patch(&self, from: u64, to: u64, most: usize) -> Result<Patch> {
        let tree = |id| self.repo.tree_of(commit(&self.lineage, id));
        self.repo.patch(&tree(from)?, &tree(to)?, most)
    }

    fn refuse_without_change(&self, id: u64) -> Result<()> {
        let edited = self.lineage.attempt(id).edited();
        if id == 0 || edited.is_some_and(|edited| edited.commit.is_some()) {
            return Ok(());
        }
        let row = self.overview.row(id);
        let ending = row.map_or("under way", |row| row.ending);
        Err(
            Error::usage(format!("attempt {id} has no change to show: {ending}"))
                .hint(format!("`evolve search show {id}` tells more")),
        )
    }
}
