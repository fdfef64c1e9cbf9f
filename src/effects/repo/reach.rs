//! Which commits something still leads to, and how long git keeps those that nothing but a reflog leads to.

use std::collections::{HashMap, HashSet};

use git2::{Oid, Sort};

use super::{Repo, broken};
use crate::error::{Error, Result};

/// Since when movements of refs are remembered, in seconds since 1970: `git gc` drops what is older.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// All of them.
    pub all: u64,
    /// Those from or to commits that the ref does not lead to any more.
    pub left: u64,
}

impl Repo {
    /// Returns those of some objects that none of the tips leads to; what is no commit is led to by nothing. None where history on
    /// the way is not there in whole.
    pub fn beyond(&self, ids: &[&str], tips: &[&str]) -> Result<Option<HashSet<String>>> {
        let what = "list commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        let mut beyond = HashSet::new();
        for id in ids {
            let is_commit = Oid::from_str(id).is_ok_and(|id| walk.push(id).is_ok());
            if !is_commit {
                beyond.insert((*id).to_owned());
            }
        }
        for tip in tips.iter().filter_map(|tip| Oid::from_str(tip).ok()) {
            if let Err(cause) = walk.hide(tip) {
                tracing::debug!("{tip} leads to no commit: {cause}");
            }
        }
        let ids: HashSet<&str> = ids.iter().copied().collect();
        for found in walk {
            let found = match found {
                Ok(found) => found.to_string(),
                Err(cause) => return not_whole(broken(what)(cause)),
            };
            if ids.contains(found.as_str()) {
                beyond.insert(found);
            }
        }
        Ok(Some(beyond))
    }

    /// Returns for each of some commits the first of `ids` that it leads to, if it leads to one. All that the tips lead to is passed
    /// by, so that it takes one walk through what is new. None where history on the way is not there in whole.
    pub fn holding(
        &self,
        commits: &[&str],
        ids: &[&str],
        tips: &[&str],
    ) -> Result<Option<HashMap<String, String>>> {
        let what = "list commits";
        let mut walk = self.inner.revwalk().map_err(broken(what))?;
        let order = Sort::TOPOLOGICAL | Sort::REVERSE;
        walk.set_sorting(order).map_err(broken(what))?;
        let parse = |id: &&str| Oid::from_str(id).ok();
        for commit in commits.iter().filter_map(parse) {
            if let Err(cause) = walk.push(commit) {
                tracing::debug!("{commit} leads to no commit: {cause}");
            }
        }
        for tip in tips.iter().filter_map(parse) {
            if let Err(cause) = walk.hide(tip) {
                tracing::debug!("{tip} leads to no commit: {cause}");
            }
        }
        let places: HashMap<Oid, usize> = ids.iter().filter_map(parse).zip(0..).collect();
        let mut first: HashMap<Oid, usize> = HashMap::new();
        for id in walk {
            let commit = match id.and_then(|id| self.inner.find_commit(id)) {
                Ok(commit) => commit,
                Err(cause) => return not_whole(broken(what)(cause)),
            };
            let id = commit.id();
            let of_parents = commit.parent_ids().filter_map(|id| first.get(&id).copied());
            let place = of_parents.chain(places.get(&id).copied()).min();
            first.extend(place.map(|place| (id, place)));
        }
        let held = commits.iter().filter_map(|commit| {
            let place = first.get(&parse(commit)?)?;
            Some(((*commit).to_owned(), (*ids.get(*place)?).to_owned()))
        });
        Ok(Some(held.collect()))
    }

    /// Returns branches that lead to a commit, without `refs/heads/`, and at most `limit` of them; none where it is gone.
    pub fn branches_with(&self, commit: &str, limit: usize) -> Vec<String> {
        let limit = format!("--count={limit}");
        let asked = [
            "for-each-ref",
            "--format=%(refname)",
            &limit,
            "--contains",
            commit,
            "refs/heads/",
        ];
        let listed = self.git.run(&asked).unwrap_or_default();
        let names = String::from_utf8_lossy(&listed);
        let names = names
            .lines()
            .filter_map(|name| name.strip_prefix("refs/heads/"));
        names.map(str::to_owned).collect()
    }

    /// Says since when `git gc` remembers movements of refs here (git-config, gc.reflogExpire). Where it is set for some refs
    /// only, the longest time counts for all.
    pub fn remembered(&self) -> Result<Remembered> {
        // `never` is 0; the times without a setting are those of git's documentation.
        let since = |name: &str, default: &str| -> Result<u64> {
            let typed = ["config", "--type=expiry-date"];
            let (one, some) = (
                format!("gc.{name}"),
                format!(r"^gc\..*\.{}$", name.to_lowercase()),
            );
            let one = [&typed[..], &["--default", default, "--get", &one]].concat();
            let some = [&typed[..], &["--get-regexp", &some]].concat();
            // Nothing found is an error to git.
            let some = self.git.run(&some).unwrap_or_default();
            let times = [self.git.run(&one)?, some].concat();
            let times = String::from_utf8_lossy(&times).into_owned();
            let time = |line: &str| line.rsplit(' ').next().and_then(|time| time.parse().ok());
            Ok(times.lines().filter_map(time).min().unwrap_or(0))
        };
        Ok(Remembered {
            all: since("reflogExpire", "90.days.ago")?,
            left: since("reflogExpireUnreachable", "30.days.ago")?,
        })
    }
}

/// Returns nothing for history that is not there in whole; what the machine cannot read just now stays an error.
fn not_whole<T>(cause: Error) -> Result<Option<T>> {
    if cause.is_of_machine() {
        return Err(cause);
    }
    tracing::debug!("{cause}");
    Ok(None)
}
