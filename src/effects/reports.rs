//! Finds and reads the reports that a check wrote. What is older than the check's start is not read: a report left over from
//! an earlier run is the commonest lie. Nor is one with a time in the future, which would be newer than any check.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use globset::GlobBuilder;

use crate::effects::files;
use crate::model::reading::{self, Report, Source, Written};
use crate::model::text;

/// The most bytes of all reports of one check.
const BYTES: u64 = 32 << 20;
/// The most entries of folders that are looked at for one glob.
const ENTRIES: usize = 200_000;
/// How many reports that do not count are named.
const NAMED: usize = 3;

/// The reports of a check.
#[derive(Debug, Default)]
pub struct Found {
    /// Those that it wrote.
    pub reports: Vec<Report>,
    /// What is to be said of others.
    pub note: Option<String>,
}

/// What a look at a file finds.
enum Look {
    Missing,
    /// Not written by this check, and why that is known.
    Stale(Stale),
    Written(PathBuf),
}

/// Why a file is known not to be the check's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stale {
    Older,
    Ahead,
}

impl Stale {
    /// Says it of so many files.
    fn words(self, count: usize) -> String {
        match (self, count) {
            (Stale::Older, 1) => "is older than the check's start".to_owned(),
            (Stale::Older, _) => "are older than the check's start".to_owned(),
            (Stale::Ahead, 1) => "is dated later than it was last changed".to_owned(),
            (Stale::Ahead, _) => "are dated later than they were last changed".to_owned(),
        }
    }
}

/// Reads what `source` names below `root` and was written since `start`. The error says why there is nothing to read.
pub fn read(root: &Path, source: &Source<'_>, start: SystemTime) -> Result<Found, String> {
    match source {
        Source::Output => Ok(Found::default()),
        Source::First(paths) => read_first(root, paths, start),
        Source::Matching(glob) => read_matching(root, glob, start),
    }
}

fn read_first(root: &Path, paths: &[PathBuf], start: SystemTime) -> Result<Found, String> {
    let mut stale = None;
    for path in paths {
        match look_at(root, path, start)? {
            Look::Missing => {}
            Look::Stale(why) => stale = stale.or(Some((path, why))),
            Look::Written(real) => {
                let report = read_report(path, &real, &mut 0)?;
                return Ok(Found {
                    reports: vec![report],
                    note: None,
                });
            }
        }
    }
    let missing = paths.first().map(|path| quoted(path)).unwrap_or_default();
    Err(match stale {
        Some((path, why)) => format!(
            "{} {}, so the check did not write it",
            quoted(path),
            why.words(1)
        ),
        None => format!("{missing} is missing"),
    })
}

/// Reads all files that match. Others beside those that the check wrote do not count, and that is said: they may be the
/// reports of tests that are gone.
fn read_matching(root: &Path, glob: &str, start: SystemTime) -> Result<Found, String> {
    let mut found = Found::default();
    let mut stale = Vec::new();
    let mut seen = HashSet::new();
    let mut bytes = 0;
    let paths = matching(root, glob)?;
    for path in &paths {
        match look_at(root, path, start)? {
            Look::Missing => {}
            Look::Stale(why) => stale.push((quoted(path), why)),
            // One that is also reached by a link, such as `latest.xml`, counts once.
            Look::Written(real) => {
                if !seen.contains(&real) {
                    found.reports.push(read_report(path, &real, &mut bytes)?);
                    seen.insert(real);
                }
            }
        }
    }
    let what: Vec<_> = [Stale::Older, Stale::Ahead]
        .into_iter()
        .filter_map(|why| named(&stale, why))
        .collect();
    let what = match &what[..] {
        [] if found.reports.is_empty() => return Err(format!("no file matches `{glob}`")),
        [] => return Ok(found),
        what => what.join(", "),
    };
    if found.reports.is_empty() {
        return Err(format!(
            "the check wrote nothing that matches `{glob}`: {what}"
        ));
    }
    found.note = Some(format!("{what} and not counted"));
    Ok(found)
}

/// Names the files that are stale for one reason; none if there are none.
fn named(stale: &[(String, Stale)], why: Stale) -> Option<String> {
    let files = stale.iter().filter(|(_, its)| *its == why);
    let files: Vec<_> = files.map(|(file, _)| file.as_str()).collect();
    let words = why.words(files.len());
    Some(match &files[..] {
        [] => return None,
        [only] => format!("{only} {words}"),
        several => format!(
            "{} {words} ({}{})",
            text::count(several.len(), "report"),
            several[..several.len().min(NAMED)].join(", "),
            if several.len() > NAMED { ", …" } else { "" }
        ),
    })
}

/// Looks at one file, following links inside the repository only.
fn look_at(root: &Path, path: &Path, start: SystemTime) -> Result<Look, String> {
    let Some(real) = inside(root, path)? else {
        return Ok(Look::Missing);
    };
    let meta = fs::metadata(&real).map_err(|cause| unreadable(path, &cause))?;
    if !meta.is_file() {
        return Err(format!("{} is no plain file", quoted(path)));
    }
    let modified = meta.modified().map_err(|cause| unreadable(path, &cause))?;
    let changed = last_change(&meta).unwrap_or(modified);
    Ok(match reading::written(modified, changed, start) {
        Written::Since => Look::Written(real),
        Written::Before => Look::Stale(Stale::Older),
        Written::Ahead => Look::Stale(Stale::Ahead),
    })
}

/// Returns the time of the last change of state; none where the file system does not keep it.
fn last_change(meta: &Metadata) -> Option<SystemTime> {
    let seconds = u64::try_from(meta.ctime()).ok().filter(|it| *it > 0)?;
    let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or(0);
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
}

/// Returns where a path leads to, none if it leads nowhere.
fn inside(root: &Path, path: &Path) -> Result<Option<PathBuf>, String> {
    let root = root
        .canonicalize()
        .map_err(|cause| unreadable(root, &cause))?;
    match root.join(path).canonicalize() {
        Ok(real) if real.starts_with(&root) => Ok(Some(real)),
        Ok(_) => Err(format!(
            "{} leads out of the repository through a link",
            quoted(path)
        )),
        Err(cause) if is_nothing(&cause) => Ok(None),
        Err(cause) => Err(unreadable(path, &cause)),
    }
}

fn is_nothing(cause: &io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Reads a report; `bytes` is how much was read of others before it.
fn read_report(path: &Path, real: &Path, bytes: &mut u64) -> Result<Report, String> {
    let rest = BYTES.saturating_sub(*bytes);
    let mut content = Vec::new();
    let read = files::open(real).and_then(|file| file.take(rest + 1).read_to_end(&mut content));
    read.map_err(|cause| unreadable(path, &cause))?;
    let length = content.len() as u64;
    if length > rest {
        let limit = BYTES >> 20;
        return Err(match *bytes {
            0 => format!(
                "{} is larger than the {limit} MiB that are read",
                quoted(path)
            ),
            _ => format!("the reports are together larger than the {limit} MiB that are read"),
        });
    }
    *bytes += length;
    Ok(Report {
        name: path.display().to_string(),
        text: String::from_utf8(content)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    })
}

/// Lists the files that a glob matches, sorted. Looks only below the folder that the glob begins with, and into no folder
/// that is a link.
fn matching(root: &Path, glob: &str) -> Result<Vec<PathBuf>, String> {
    let matcher = GlobBuilder::new(glob)
        .literal_separator(true)
        .build()
        .map_err(|cause| format!("`{glob}` is not a glob: {}", cause.kind()))?
        .compile_matcher();
    let is_plain = |part: &Component<'_>| !reading::is_glob(&part.as_os_str().to_string_lossy());
    let first: PathBuf = Path::new(glob).components().take_while(is_plain).collect();
    let deepest = match glob.contains("**") {
        true => usize::MAX,
        false => Path::new(glob).components().count(),
    };
    let mut found = Vec::new();
    let mut looked_at = 0;
    let mut folders = Vec::from_iter(inside(root, &first)?.map(|_| first));
    while let Some(folder) = folders.pop() {
        for (path, is_folder) in entries(root, &folder)? {
            looked_at += 1;
            match is_folder {
                true if path.components().count() < deepest => folders.push(path),
                false if matcher.is_match(&path) => found.push(path),
                true | false => {}
            }
        }
        if looked_at > ENTRIES {
            return Err(format!(
                "more than {ENTRIES} files have to be looked at for `{glob}`; name a folder nearer to them"
            ));
        }
    }
    found.sort();
    Ok(found)
}

/// Lists a folder: each path below `root` with whether it is a folder itself. Git's own is left out.
fn entries(root: &Path, folder: &Path) -> Result<Vec<(PathBuf, bool)>, String> {
    let list = match fs::read_dir(root.join(folder)) {
        Err(cause) if is_nothing(&cause) => return Ok(Vec::new()),
        list => list,
    };
    let read = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let is_folder = entry.file_type()?.is_dir();
        Ok((folder.join(entry.file_name()), is_folder))
    };
    let all: io::Result<Vec<_>> = list.and_then(|list| list.map(read).collect());
    let mut all = all.map_err(|cause| unreadable(folder, &cause))?;
    all.retain(|(path, _)| !path.ends_with(".git"));
    Ok(all)
}

fn unreadable(path: &Path, cause: &io::Error) -> String {
    format!("{} cannot be read: {cause}", quoted(path))
}

fn quoted(path: &Path) -> String {
    format!("`{}`", path.display())
}
