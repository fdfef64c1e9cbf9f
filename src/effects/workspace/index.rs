//! Git's index: what is marked not to be looked at, what is looked at anew, and what is staged.

pub(super) mod follow;
pub(super) mod hidden;
pub mod lock;
mod noted;
pub mod restat;
pub(super) mod sparse;
pub(super) mod staged;
