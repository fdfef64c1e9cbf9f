//! What a search does in the world: its lineage is written, agents work on attempts in slots of their own, attempts are
//! measured in slots that no agent enters.

pub mod edit;
pub mod goalposts;
pub mod lent;
pub mod papers;
pub mod refs;
pub mod sample;
mod session;
pub mod store;
mod twin;
mod words;
