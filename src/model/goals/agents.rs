//! The `agents:` of GOALS.yaml and config.yaml: how agent programs are started and their output read. Pure.

use super::fields::Found;
use super::node::Node;
use super::report::Problem;
use crate::model::agent::Entry;

/// Reads a document that holds nothing but agents, as the built-in one does.
pub fn read_agents(_bytes: &[u8]) -> Result<Vec<Entry>, Vec<Problem>> {
    Ok(Vec::new())
}

/// Reads the mapping `node`; what is wrong in it is reported.
pub fn read_entries(_node: &Node, _found: &mut Found) -> Vec<Entry> {
    Vec::new()
}
