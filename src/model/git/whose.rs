//! Whose what happens to refs is while an agent works, and where the other value of one is kept. Pure.

use crate::model::digest;

/// How the refs begin that nobody but `evolve` writes; clones do not have them.
pub const OWN: &str = "refs/evolve/";
/// How those of searches begin.
pub const OF_SEARCHES: &str = "refs/evolve/search/";
/// The longest name, in bytes, under whose like another value is kept; a longer one goes by its digest, because file systems
/// know no paths of any length.
const LONGEST: usize = 1000;

/// Whose the refs are that an agent moves.
#[derive(Clone, Debug)]
pub struct Whose {
    /// The branch that is worked on, which is the undo's business.
    pub branch: String,
    /// How entries of a reflog begin that are the agent's.
    pub mark: String,
    /// The ref under which the agent's work stays reachable.
    pub work_ref: String,
    /// The commit that the branch was on; none where that is not known.
    pub start: Option<String>,
}

impl Whose {
    /// Returns the ref under which the other value of one is kept.
    pub fn kept_as(&self, name: &str) -> String {
        let name = match name.len() > LONGEST {
            true => &digest::full(name.as_bytes()),
            false => name.strip_prefix("refs/").unwrap_or(name),
        };
        format!("{}-refs/{name}", self.work_ref)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_value_is_kept_under_the_refs_own_name_or_its_digest_where_that_is_too_long() {
        let whose = Whose {
            branch: "refs/heads/main".to_owned(),
            mark: "evolve".to_owned(),
            work_ref: "refs/evolve/s/1".to_owned(),
            start: None,
        };
        let kept = |name: &str| whose.kept_as(name);
        assert_eq!(kept("refs/tags/v1"), "refs/evolve/s/1-refs/tags/v1");
        assert_eq!(kept("HEAD"), "refs/evolve/s/1-refs/HEAD");
        let long = "x".repeat(LONGEST);
        assert_eq!(kept(&long), format!("refs/evolve/s/1-refs/{long}"));
        let longer = "x".repeat(LONGEST + 1);
        let digest = digest::full(longer.as_bytes());
        assert_eq!(kept(&longer), format!("refs/evolve/s/1-refs/{digest}"));
    }
}
