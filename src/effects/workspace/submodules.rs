//! Submodules and other repositories in the tree: what an agent did in one is found, put away, and undone.

mod copied;
mod embedded;
mod inside;
mod replaced;
mod undo;
mod written;

pub use copied::{Edited, Loose};
pub(super) use inside::Home;
pub(super) use undo::EDITED;
