//! Rules for what is on this machine: where somebody works, and the services that would start programs outside.

use std::path::Path;

use super::Ground;
use crate::model::sandbox::{Access, Rule};

/// Sockets through which services start programs for others: behind them nobody is held back.
const SERVICES: [&str; 4] = ["/run/user", "/run/dbus", "/run/podman", "/run/containerd"];
/// Such sockets that lie beside what is needed.
const SOCKETS: [&str; 2] = ["/run/docker.sock", "/run/systemd/private"];

/// Returns the rule for a path, without links; none if there is nothing.
pub fn rule(path: &Path, access: Access) -> Option<Rule> {
    let path = path.canonicalize().ok()?;
    Some(Rule { path, access })
}

/// Returns the rules for a place of work.
pub fn ground_rules(ground: &Ground) -> Vec<Rule> {
    let written = ground.write.iter().map(|path| (path, Access::Write));
    let kept = ground.keep.iter().map(|path| (path, Access::Read));
    let rules = written.chain(kept);
    rules
        .filter_map(|(path, access)| rule(path, access))
        .collect()
}

/// Returns rules that hide the services that would start programs outside.
pub fn services() -> Vec<Rule> {
    let folders = SERVICES.iter().map(|path| (path, Access::Hidden));
    let files = SOCKETS.iter().map(|path| (path, Access::Masked));
    let rules = folders.chain(files);
    rules
        .filter_map(|(path, access)| rule(Path::new(path), access))
        .collect()
}
