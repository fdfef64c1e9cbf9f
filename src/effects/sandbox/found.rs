//! Which sandboxes work on this machine, and how far they reach.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::enter::STATUS_TO;
use super::landlock;
use super::rules::settings;
use crate::effects::program;
use crate::error::Error;
use crate::model::sandbox::{
    Available, Mechanism, Mode, Network, Reach, Rule, Wish, bwrap_argv, in_order,
};

/// A sandbox that works here.
pub enum Found {
    /// bubblewrap, as this program.
    Bwrap(PathBuf),
    /// Landlock.
    Landlock(Reach),
}

/// Returns the sandbox for `mode`, or why there is none. bubblewrap goes before Landlock: it can keep single files in a writable
/// folder as they are, and what runs in it can neither see other processes nor outlive it.
pub fn find(mode: Mode, without_network: bool) -> Result<Found, Vec<String>> {
    let bwrap = || bwrap_program(without_network).map(Found::Bwrap);
    let landlock = || {
        landlock::reach()
            .map(Found::Landlock)
            .ok_or_else(no_landlock)
    };
    match mode {
        Mode::None => Err(Vec::new()),
        Mode::Bwrap => bwrap().map_err(|why| vec![why]),
        Mode::Landlock => landlock().map_err(|why| vec![why]),
        Mode::Auto => bwrap().or_else(|first| landlock().map_err(|second| vec![first, second])),
    }
}

/// Returns what works on this machine and how far, or why not.
pub fn available() -> Vec<Available> {
    available_after(bwrap_program(false))
}

/// Does the same where it was tried elsewhere whether bubblewrap works.
pub fn available_after(bwrap: Result<PathBuf, String>) -> Vec<Available> {
    let bwrap = match bwrap {
        Ok(program) => (true, program.display().to_string()),
        Err(why) => (false, why),
    };
    let landlock = match landlock::reach() {
        Some(reach) => {
            let short = short_of(reach);
            let detail = match short.is_empty() {
                true => "files, TCP and signals".to_owned(),
                false => short.join("; "),
            };
            (true, detail)
        }
        None => (false, no_landlock()),
    };
    [(Mechanism::Bwrap, bwrap), (Mechanism::Landlock, landlock)]
        .map(|(sandbox, (works, detail))| Available {
            sandbox,
            works,
            detail,
        })
        .into()
}

fn no_landlock() -> String {
    "landlock: this kernel has none, or it is turned off (Linux 5.13 or later, `lsm=landlock`)"
        .to_owned()
}

/// Says what of Landlock this kernel does not have.
fn short_of(reach: Reach) -> Vec<String> {
    let mut short = Vec::new();
    if !reach.writes {
        short.push("landlock: before Linux 6.2 files elsewhere can still be emptied");
    }
    if !reach.network {
        short.push("landlock: before Linux 6.7 the network stays open");
    }
    if !reach.signals {
        short.push("landlock: before Linux 6.12 other processes can be signalled, and spoken to through abstract sockets");
    }
    short.into_iter().map(str::to_owned).collect()
}

/// Says what a sandbox cannot do on this machine of what is asked for.
pub fn missing(found: &Found, wish: &Wish) -> Vec<String> {
    let network = wish.network.unwrap_or_default();
    match found {
        Found::Bwrap(_) => Vec::new(),
        Found::Landlock(reach) => {
            let network_matters = network != Network::All;
            let reach = Reach {
                network: reach.network || !network_matters,
                ..*reach
            };
            let mut short = short_of(reach);
            if network_matters && reach.network {
                short.push(
                    "landlock: of the network only TCP is held back, not UDP and with it DNS"
                        .to_owned(),
                );
            }
            short
        }
    }
}

/// Says what is left open, on whatever machine, because the wish says so itself.
pub fn left_open(wish: &Wish) -> Option<String> {
    let is_open = wish.network == Some(Network::None) && wish.checks != Some(true);
    is_open.then(|| "checks keep the network, which only `checks: true` takes from them".to_owned())
}

/// Returns bubblewrap if it is installed and works: containers and hardened kernels often forbid what it needs.
fn bwrap_program(without_network: bool) -> Result<PathBuf, String> {
    let (program, arguments) = trial(without_network)?;
    let tried = Command::new(&program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .output();
    match tried {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(refused(&String::from_utf8_lossy(&output.stderr))),
        Err(cause) => Err(format!("bwrap: {cause}")),
    }
}

/// Returns bubblewrap, if it is installed, with the arguments of a call that tells whether it works.
pub fn trial(without_network: bool) -> Result<(PathBuf, Vec<OsString>), String> {
    let program = program::find("bwrap").ok_or("bwrap: not installed")?;
    let program = program.canonicalize().unwrap_or(program);
    // Older ones than 0.4 cannot say how it goes.
    let mut arguments: Vec<OsString> = vec![STATUS_TO.into(), "1".into()];
    arguments.extend(bwrap_argv(
        &in_order(kept_from_root()),
        !without_network,
        is_root(),
    ));
    arguments.extend(["sh", "-c", ":"].map(OsString::from));
    Ok((program, arguments))
}

/// Says that bubblewrap does not work here, with its own words.
pub fn refused(said: &str) -> String {
    let said = said.trim().trim_start_matches("bwrap: ");
    format!("bwrap: installed, but does not work here: {said}")
}

/// Says whether Landlock can keep what this bubblewrap starts from sockets that have no file. A bubblewrap that becomes root by
/// itself could not do so any more.
pub fn can_be_scoped(bwrap: &Path) -> bool {
    let becomes_root = std::fs::metadata(bwrap).is_ok_and(|meta| meta.mode() & 0o6000 != 0);
    !becomes_root && landlock::reach().is_some_and(|reach| reach.signals)
}

/// The error where a required sandbox is not to be had.
pub fn unavailable(missing: &[String]) -> Error {
    let mut error =
        Error::usage("a sandbox is required, and this machine cannot give what is asked for");
    for why in missing {
        error = error.hint(why.clone());
    }
    error.hint("install bubblewrap, allow unprivileged user namespaces, or use a kernel with Landlock; or leave out --require-sandbox")
}

/// Returns what has to be kept from root alone: to others its modes shut it.
pub fn kept_from_root() -> Vec<Rule> {
    match is_root() {
        true => settings(),
        false => Vec::new(),
    }
}

/// Says whether this is root.
pub fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}
