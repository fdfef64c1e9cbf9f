//! What of the tree and of the refs judges a change: the files that checks run or build, those that are protected, and the refs
//! that checks compare with.

pub(super) mod built;
pub mod compared;
pub(super) mod protected;
pub(super) mod root;
pub(super) mod run_by;
