//! Rules for what is on this machine: where somebody works, and the services that would start programs outside.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::Ground;
use crate::model::sandbox::{Access, DOORS, Home, Rule, listening};

/// The folders in which programs open their sockets, of which an agent sees what is in them when it starts.
const LISTED: [&str; 3] = ["/tmp", "/var/tmp", "/run"];
/// The most entries of one: each is a mount, and takes the longer the more there are.
const MOST_LISTED: usize = 500;

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

/// Returns rules that shut the ways out that there are now: what is known, and sockets of any program in temporary folders and the
/// home on which somebody listens. What may be `written`, and what the variables `asked` for lead to, stays open.
pub fn shut_doors(written: &[Rule], home: &Home, asked: &[String]) -> Vec<Rule> {
    let is_asked = |name: &str| asked.iter().any(|asked| asked == name);
    let known = DOORS
        .iter()
        .filter(|door| !door.leading.iter().any(|name| is_asked(name)));
    let known = known.flat_map(|door| {
        let places = places(door.path, home).into_iter();
        places.filter_map(|path| rule(&path, door.access))
    });
    let led_to: Vec<PathBuf> = asked.iter().filter_map(|name| led_to(name)).collect();
    let around: Vec<PathBuf> = ["/tmp", "/var/tmp"]
        .map(PathBuf::from)
        .into_iter()
        .chain(home.home.clone())
        .collect();
    // Who names all of a temporary folder means files.
    let is_wide =
        |path: &Path| path == Path::new("/run") || around.iter().any(|one| one.starts_with(path));
    let is_own = |path: &Path| {
        written.iter().any(|rule| {
            rule.access == Access::Write && path.starts_with(&rule.path) && !is_wide(&rule.path)
        })
    };
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let heard = listening(&table)
        .into_iter()
        .filter(|path| around.iter().any(|folder| path.starts_with(folder)) && is_socket(path));
    let heard = heard.filter_map(|path| rule(&path, Access::Masked));
    let mut shut: Vec<Rule> = known.collect();
    for socket in heard {
        if !shut.iter().any(|door| socket.path.starts_with(&door.path)) {
            shut.push(socket);
        }
    }
    shut.retain(|door| {
        !is_own(&door.path) && !led_to.iter().any(|path| path.starts_with(&door.path))
    });
    shut
}

/// Returns rules that keep what appears later out of the folders in which programs open their sockets: whoever starts sees what
/// lies in them now. A folder that may be `written` stays as it is, and so does one with too much in it.
pub fn lists(written: &[Rule]) -> Vec<Rule> {
    let mut rules = Vec::new();
    for folder in LISTED {
        let Some(folder) = rule(Path::new(folder), Access::Listed) else {
            continue;
        };
        let is_written =
            |one: &Rule| one.access == Access::Write && folder.path.starts_with(&one.path);
        let Ok(entries) = fs::read_dir(&folder.path) else {
            continue;
        };
        let entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        if written.iter().any(is_written) || entries.len() > MOST_LISTED {
            continue;
        }
        rules.push(folder);
        let is_there = |path: &PathBuf| path.exists();
        rules.extend(entries.into_iter().filter(is_there).map(|path| Rule {
            path,
            access: Access::Entry,
        }));
    }
    rules
}

/// Returns rules that keep what the kernel lets be set below `/proc` as it is: settings belong to root by their modes, so that
/// neither a namespace nor the lack of capabilities holds root back. What is about processes stays open, and so does `pressure`,
/// where everybody may ask to be woken.
pub fn settings() -> Vec<Rule> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_setting = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let is_process = name.as_bytes().iter().all(u8::is_ascii_digit);
        let meta = fs::symlink_metadata(entry.path());
        let may_be_written =
            |meta: fs::Metadata| meta.is_dir() || (meta.is_file() && meta.mode() & 0o222 != 0);
        !is_process && name != "pressure" && meta.is_ok_and(may_be_written)
    };
    let settings = entries.filter(is_setting).map(|entry| Rule {
        path: entry.path(),
        access: Access::Entry,
    });
    settings.collect()
}

/// Returns the socket that a variable of this process's environment names: `/path`, or `/path,more` as tmux has it.
fn led_to(name: &str) -> Option<PathBuf> {
    let value = std::env::var(name).ok()?;
    let path = value.split(',').next().unwrap_or_default();
    let path = path
        .strip_prefix("unix:path=")
        .or(path.strip_prefix("unix://"))
        .unwrap_or(path);
    path.starts_with('/')
        .then(|| Path::new(path).canonicalize().ok())?
}

/// Returns what there is of a known place.
fn places(pattern: &str, home: &Home) -> Vec<PathBuf> {
    let path = match (pattern.strip_prefix("~/"), &home.home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) => return Vec::new(),
        (None, _) => PathBuf::from(pattern),
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(start) = name.and_then(|name| name.strip_suffix('*')) else {
        return vec![path];
    };
    let folder = path.parent().unwrap_or(Path::new("/"));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_meant =
        |entry: &fs::DirEntry| entry.file_name().as_bytes().starts_with(start.as_bytes());
    entries.filter(is_meant).map(|entry| entry.path()).collect()
}

fn is_socket(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket())
}
