//! Whose what happens to refs is while an agent works, and where the other value of one is kept. Pure.

use super::digest;

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
