//! What a running session says of itself to others. Pure.

use serde::{Deserialize, Serialize};

use crate::model::sandbox::Protections;

/// What a running session says of itself, for `evolve status`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Told {
    /// Version of the format.
    pub format: u32,
    /// Its process.
    pub pid: u32,
    /// What protects whom.
    pub protections: Protections,
    /// What it waits for now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
}

/// A wait of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// When it ends at the latest, RFC 3339.
    pub until: String,
    /// What ends it earlier, and why it is.
    pub reason: String,
}
