//! Refs and stash of submodules: what is gone from them since the copy of their git directories was made is there again, by
//! the same rules as the repository's own. A branch that is checked out there is where it was left, for the commit that the
//! repository has of the submodule may need it; where it led before stays under `refs/evolve/`.

use std::path::Path;

use super::{LIMIT, Whose, refs, stash};
use crate::effects::files;
use crate::effects::mirror::Mirror;
use crate::effects::places::Places;
use crate::effects::repo::Repo;
use crate::error::Result;

/// Puts back refs and entries of the stash that are gone, and refs that the agent moved away; says which.
pub fn put_back(mirror: &Mirror, whose: &Whose) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for (live, copy, shown) in mirror.submodules() {
        // One that cannot be opened was none that anybody could work in.
        let Ok(before) = Repo::open_git_dir(&copy).and_then(|repo| refs::text(&repo)) else {
            continue;
        };
        let found = put_back_one(&live, (&before, &copy), whose)?;
        notes.extend(found.into_iter().map(|note| format!("{shown}: {note}")));
    }
    Ok(notes)
}

fn put_back_one(live: &Path, (before, copy): (&str, &Path), whose: &Whose) -> Result<Vec<String>> {
    let repo = Repo::open_git_dir(live)?;
    let branch = repo.symbolic_head()?.unwrap_or_default();
    let whose = Whose {
        branch,
        start: None,
        ..whose.clone()
    };
    let mut notes = refs::put_back(&repo, before, &whose)?;
    notes.extend(refs::keep_reachable(&repo, before, &whose)?);
    let places = Places {
        git_dir: live.to_owned(),
        common: live.to_owned(),
        private: repo.private.clone(),
    };
    let list = Places {
        common: copy.to_owned(),
        ..places.clone()
    };
    if let Some(list) = files::read_bounded(&stash::file(&list), LIMIT)? {
        notes.extend(stash::put_back(&repo, &places, &list)?);
    }
    Ok(notes)
}
