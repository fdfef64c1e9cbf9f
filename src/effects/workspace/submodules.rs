//! Submodules and other repositories in the tree: what an agent did in one is found, put away, and undone.

mod embedded;
mod inside;
mod replaced;
mod undo;

pub(super) use inside::Home;
pub(super) use undo::EDITED;
