//! The settings of the agent's git, handed over in its environment: what it passes by, that it notes what it does to
//! branches, and that it pushes nowhere. A push cannot be undone. This is a guard against habit, not a wall: who unsets a variable gets by.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::effects::git::Settings;

/// What the addresses of pushes are turned into; no git can go there, and its words name this.
const REFUSED: &str = "evolve-refuses-pushes://";

/// Returns the variables that set `core.excludesFile` to `excludes`, have movements of branches noted, and send every push
/// nowhere.
pub fn git_settings(of_git: &Settings, excludes: &Path) -> Vec<(OsString, OsString)> {
    let mut settings: Vec<(OsString, OsString)> = vec![
        ("core.excludesFile".into(), excludes.into()),
        // Without notes of them the agent's commits could not be told from somebody else's.
        ("core.logAllRefUpdates".into(), "true".into()),
        (format!("url.{REFUSED}.pushInsteadOf").into(), "".into()),
    ];
    // An address that is for pushes alone is not turned into another by `pushInsteadOf`.
    settings.extend(
        push_addresses(of_git)
            .into_iter()
            .map(|address| (format!("url.{REFUSED}.insteadOf").into(), address)),
    );
    let count = settings.len().to_string();
    let numbered = settings
        .into_iter()
        .enumerate()
        .flat_map(|(n, (key, value))| {
            [
                (format!("GIT_CONFIG_KEY_{n}").into(), key),
                (format!("GIT_CONFIG_VALUE_{n}").into(), value),
            ]
        });
    let mut variables: Vec<(OsString, OsString)> = numbered.collect();
    variables.push(("GIT_CONFIG_COUNT".into(), count.into()));
    variables
}

/// Returns the addresses that remotes have for pushes alone.
fn push_addresses(of_git: &Settings) -> Vec<OsString> {
    let is_it = |name: &[u8]| name.starts_with(b"remote.") && name.ends_with(b".pushurl");
    let addresses = of_git.values(is_it).filter(|address| !address.is_empty());
    addresses
        .map(|address| OsStr::from_bytes(address).to_owned())
        .collect()
}
