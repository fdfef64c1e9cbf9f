//! Reflogs: what a ref was is often all that leads to a commit. Lines that are gone are there again, before those that came
//! anew, unless they are so old that any `git gc` drops them. The stash's list is looked after elsewhere.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::MirroredDir;
use crate::effects::files;
use crate::effects::quarantine::Quarantine;
use crate::effects::repo::{Repo, SYMBOLIC};
use crate::error::Result;
use crate::model::git::whose::Whose;
use crate::model::{exact, text};

/// The most bytes of a reflog that is looked at.
const LIMIT: u64 = 256 << 20;
const STASH: &str = "logs/refs/stash";
/// Logs that go with their refs, which whoever fetches has again.
const TRACKING: &str = "logs/refs/remotes";

/// Gives reflogs their lost lines back; names those that have them.
pub fn give_back(
    place: &MirroredDir,
    whose: &Whose,
    quarantine: &mut Quarantine,
) -> Result<Vec<String>> {
    let mut mended = Vec::new();
    let mut folders = vec![PathBuf::from("logs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(place.copy.join(&folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && path != Path::new(STASH) => {
                    mended.extend(give_back_one(place, &path, whose, quarantine)?);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    mended.sort();
    Ok(mended)
}

fn give_back_one(
    place: &MirroredDir,
    path: &Path,
    whose: &Whose,
    quarantine: &mut Quarantine,
) -> Result<Option<String>> {
    let copy = place.copy.join(path);
    if is_same_version(&copy, &place.live.join(path)) {
        return Ok(None);
    }
    let before = files::read_bounded(&copy, LIMIT)?.unwrap_or_default();
    let name = path.strip_prefix("logs").unwrap_or(path);
    let kept = whose.kept_as(&exact::decode(name.as_os_str().as_bytes()));
    let kept = Path::new("logs").join(OsString::from_vec(exact::encode(&kept)));
    for path in [path, &kept] {
        if let Some(is_mended) = add_lost_lines(place, path, &before)? {
            return Ok(is_mended.then(|| text::path(place.bytes_of(path))));
        }
    }
    if path.starts_with(TRACKING) {
        return Ok(None);
    }
    if !before.is_empty() && !is_held(&place.live.join(path), &before) {
        quarantine.keep_bytes(&place.bytes_of(path), &before)?;
    }
    Ok(None)
}

/// Adds lines that a ref's log has lost, and says whether it had lost any; none where there is no such ref, or no place for its
/// log.
fn add_lost_lines(place: &MirroredDir, path: &Path, before: &[u8]) -> Result<Option<bool>> {
    let live = place.live.join(path);
    let is = fs::symlink_metadata(&live).ok();
    // A ref below this one may have taken its name.
    let is_taken = is.as_ref().is_some_and(fs::Metadata::is_dir);
    if is_taken || !has_ref(place, path) || !has_free_way(place, path) {
        return Ok(None);
    }
    let now = match is.is_some_and(|is| is.is_file()) {
        true => files::read_bounded(&live, LIMIT)?.unwrap_or_default(),
        false => Vec::new(),
    };
    let before = without_expired(place, path, before, &now);
    let Some(whole) = merged(&before, &now) else {
        return Ok(Some(false));
    };
    files::replace(&live, &whole).map(|()| Some(true))
}

/// Says whether a log without a ref still begins with what it held.
fn is_held(live: &Path, before: &[u8]) -> bool {
    let now = files::read_bounded(live, LIMIT).ok().flatten();
    now.is_some_and(|now| now.starts_with(before))
}

fn is_same_version(one: &Path, other: &Path) -> bool {
    match (fs::symlink_metadata(one), fs::symlink_metadata(other)) {
        (Ok(one), Ok(other)) => {
            other.is_file()
                && one.len() == other.len()
                && (one.mtime(), one.mtime_nsec()) == (other.mtime(), other.mtime_nsec())
        }
        (Ok(_) | Err(_), _) => false,
    }
}

/// Says whether the ref of a reflog is there: the log of another would be in the way of new refs.
fn has_ref(place: &MirroredDir, log: &Path) -> bool {
    let name = log.strip_prefix("logs").unwrap_or(log);
    if place.live.join(name).is_file() {
        return true;
    }
    let packed = files::read_bounded(&place.live.join("packed-refs"), LIMIT);
    let packed = packed.ok().flatten().unwrap_or_default();
    let is_it = |line: &[u8]| {
        let (_, found) = line.split_at(line.iter().position(|byte| *byte == b' ').unwrap_or(0));
        found
            .strip_prefix(b" ")
            .is_some_and(|found| OsStr::from_bytes(found) == name)
    };
    packed.split(|byte| *byte == b'\n').any(is_it)
}

fn has_free_way(place: &MirroredDir, path: &Path) -> bool {
    let above = path
        .ancestors()
        .skip(1)
        .filter(|it| !it.as_os_str().is_empty());
    let is_free = |folder: &Path| {
        fs::symlink_metadata(place.live.join(folder)).map_or(true, |meta| meta.is_dir())
    };
    above.into_iter().all(is_free)
}

/// Returns a log without those of its lost lines that `git gc` drops, too.
fn without_expired<'a>(
    place: &MirroredDir,
    path: &Path,
    before: &'a [u8],
    now: &[u8],
) -> Cow<'a, [u8]> {
    let lost = lost(before, now);
    let moves: Vec<_> = lost.iter().filter_map(|line| Moved::read(line)).collect();
    if moves.is_empty() {
        return Cow::Borrowed(before);
    }
    let repo = Repo::open_git_dir(&place.live);
    let expired = repo.and_then(|repo| expired(&repo, path, &moves));
    let expired = expired.unwrap_or_else(|cause| {
        tracing::debug!("what git gc may drop is not known: {cause}");
        HashSet::new()
    });
    let lines = before.split_inclusive(|byte| *byte == b'\n');
    let left: Vec<&[u8]> = lines.filter(|line| !expired.contains(line)).collect();
    Cow::Owned(left.concat())
}

/// Returns the lines that are too old to be remembered by git.
fn expired<'a>(repo: &Repo, path: &Path, moves: &[Moved<'a>]) -> Result<HashSet<&'a [u8]>> {
    let remembered = repo.remembered()?;
    let is_old = |one: &&Moved<'_>| one.time < remembered.all.max(remembered.left);
    let old: Vec<_> = moves.iter().filter(is_old).collect();
    if old.is_empty() {
        return Ok(HashSet::new());
    }
    let refs = repo.all_refs()?;
    let name = path.strip_prefix("logs").unwrap_or(path);
    // What HEAD was counts as long as any ref leads there.
    let tips: Vec<&str> = match refs.get(&exact::decode(name.as_os_str().as_bytes())) {
        Some(tip) if !tip.starts_with(SYMBOLIC) => vec![tip],
        Some(_) | None => refs.values().map(String::as_str).collect(),
    };
    let ends: Vec<&str> = old
        .iter()
        .flat_map(|one| [one.old, one.new])
        .filter(|id| id.bytes().any(|digit| digit != b'0'))
        .collect();
    // Where it cannot be told what is left, nothing is: a line too many does no harm.
    let beyond = repo.beyond(&ends, &tips)?.unwrap_or_default();
    let is_expired = |one: &&&Moved<'_>| {
        let is_left = [one.old, one.new].iter().any(|id| beyond.contains(*id));
        one.time < remembered.all || (is_left && one.time < remembered.left)
    };
    let expired = old.iter().filter(is_expired);
    Ok(expired.map(|one| one.line).collect())
}

/// A line of a reflog, as far as git goes by it to tell how long it is kept.
struct Moved<'a> {
    line: &'a [u8],
    old: &'a str,
    new: &'a str,
    /// In seconds since 1970.
    time: u64,
}

impl Moved<'_> {
    fn read(line: &[u8]) -> Option<Moved<'_>> {
        let head = line.split(|byte| *byte == b'\t').next()?;
        let (ids, who) = head.split_at_checked(head.iter().position(|byte| *byte == b'<')?)?;
        let mut ids = std::str::from_utf8(ids.get(..82)?).ok()?.split(' ');
        let when = who.rsplit(|byte| *byte == b'>').next()?;
        let when = std::str::from_utf8(when).ok()?;
        Some(Moved {
            line,
            old: ids.next()?,
            new: ids.next()?,
            time: when.split_whitespace().next()?.parse().ok()?,
        })
    }
}

/// Returns the lines of before that are gone, as often as they are.
fn lost<'a>(before: &'a [u8], now: &[u8]) -> Vec<&'a [u8]> {
    if now.starts_with(before) {
        return Vec::new();
    }
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for line in now.split_inclusive(|byte| *byte == b'\n') {
        *counts.entry(said(line)).or_default() += 1;
    }
    let mut lost = Vec::new();
    for line in before.split_inclusive(|byte| *byte == b'\n') {
        match counts.get_mut(said(line)) {
            Some(count) if *count > 0 => *count -= 1,
            Some(_) | None => lost.push(line),
        }
    }
    lost
}

/// Returns what a line says: git puts a tab behind one without a note when it writes the log anew, as `git gc` does.
fn said(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\t").unwrap_or(line)
}

/// Says whether the first lines of a log say what those of before did.
fn begins_with(now: &[u8], before: &[u8]) -> bool {
    let mut now = now.split_inclusive(|byte| *byte == b'\n').map(said);
    let mut before = before.split_inclusive(|byte| *byte == b'\n').map(said);
    before.all(|line| now.next() == Some(line))
}

/// Returns the lines of before and, after them, those that came anew; none where no line is lost.
fn merged(before: &[u8], now: &[u8]) -> Option<Vec<u8>> {
    let end = before.iter().rposition(|byte| *byte == b'\n')? + 1;
    let before = &before[..end];
    if begins_with(now, before) {
        return None;
    }
    let mut counts: HashMap<&[u8], usize> = HashMap::new();
    for line in before.split_inclusive(|byte| *byte == b'\n') {
        *counts.entry(said(line)).or_default() += 1;
    }
    let mut whole = before.to_vec();
    for line in now.split_inclusive(|byte| *byte == b'\n') {
        match counts.get_mut(said(line)) {
            Some(count) if *count > 0 => *count -= 1,
            Some(_) | None => whole.extend_from_slice(line),
        }
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_lines_are_back_before_those_that_came_anew_and_none_is_there_twice() {
        for (before, now, whole) in [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nb\nc\n", None),
            ("a\nb\n", "a\t\nb\nc\n", None),
            ("a\nb\nc\n", "a\t\nc\nd\n", Some("a\nb\nc\nd\n")),
            ("a\nb\n", "c\n", Some("a\nb\nc\n")),
            ("a\nb\n", "b\nc\n", Some("a\nb\nc\n")),
            ("a\na\nb\n", "a\nb\na\na\n", Some("a\na\nb\na\n")),
            ("a\nb\n", "", Some("a\nb\n")),
            ("a\ncut", "x\n", Some("a\nx\n")),
            ("cut", "x\n", None),
            ("", "x\n", None),
        ] {
            let found = merged(before.as_bytes(), now.as_bytes());
            assert_eq!(
                found.as_deref(),
                whole.map(str::as_bytes),
                "{before:?} {now:?}"
            );
        }
    }
}
