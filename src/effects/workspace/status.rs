//! What git says of the working tree, sorted into what the loop asks about. What is uncommitted inside submodules is asked
//! there, where git may go.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::effects::git::Git;
use crate::effects::parallel::side_by_side;
use crate::effects::repo::Repo;
use crate::effects::repo::attributes::Said;
use crate::error::{Error, Result};
use crate::model::ledger::{
    BASELINE, BASELINE_REPORT, DELTA, FOLDER, HISTORY, LAST_SWEEP, LESSONS, QUEUE, RETRIES,
    SUMMARY, is_ledger_path, post_snapshot, segment, snapshot,
};
use crate::model::text;

/// How many files with conflicts are named.
const SHOWN: usize = 5;

/// Lists changes, but not those within submodules.
const STATUS: [&str; 5] = [
    "status",
    "--porcelain=v1",
    "-z",
    "--no-renames",
    "--ignore-submodules=dirty",
];

/// The attribute that has git write files in another encoding.
pub const ENCODING: &str = "working-tree-encoding";
/// What git says of an attribute that has no value.
const SET: &str = "set";

/// How many folders git is asked about at once.
const AT_ONCE: usize = 500;

/// The working tree's state, paths as git stores them. Ledger paths are in none of the lists.
#[derive(Debug, Default)]
pub struct Status {
    /// Tracked paths that differ from HEAD, in the index or on disk.
    pub dirty: Vec<Vec<u8>>,
    /// Of these, the ones whose file differs from the index.
    pub unstaged: Vec<Vec<u8>>,
    /// Of the dirty ones, those of which a merge left a conflict.
    pub unmerged: Vec<Vec<u8>>,
    /// Of the dirty ones, those that git took for unchanged before they were compared by content.
    pub concealed: Vec<Vec<u8>>,
    /// Untracked files that are not ignored. A folder with a repository of its own ends with a slash.
    pub untracked: Vec<Vec<u8>>,
    /// Untracked files inside submodules that are not ignored there, in the same form.
    pub within: Vec<Vec<u8>>,
    /// Ignored files and folders, the latter with a slash at the end.
    pub ignored: Vec<Vec<u8>>,
    /// The tracked files that are not as the index has noted them, whatever they hold; none where git was asked about all.
    pub unlike: Option<Vec<Vec<u8>>>,
}

/// What somebody can do about changes that are not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WayOut {
    /// Commit them, or put them aside.
    Commit,
    /// That, or let the agent work in a copy.
    CommitOrCopy,
}

/// Reads the state of the tree, but for what is inside submodules; ignored files only if asked for.
pub fn read(git: &Git, with_ignored: bool) -> Result<Status> {
    ask(git, files_listed(with_ignored))
}

fn files_listed(with_ignored: bool) -> &'static [&'static str] {
    match with_ignored {
        true => &["--untracked-files=all", "--ignored=matching"],
        false => &["--untracked-files=all"],
    }
}

/// Refuses an index with conflicts in the ledger's files, as a merge that git does not remember leaves them: `git merge --squash`,
/// `git stash pop`.
pub fn refuse_conflicts(repo: &Repo) -> Result<()> {
    const FOLDER_ABOVE: &str = ".agents";
    let unmerged: Vec<_> = match repo.indexed_below(&[FOLDER_ABOVE]) {
        Some(indexed) => {
            let unmerged = indexed.into_iter().filter(|one| !one.is_merged);
            unmerged.map(|one| one.path).collect()
        }
        None => {
            let arguments = ["ls-files", "--unmerged", "-z", "--", FOLDER_ABOVE];
            let listed = repo.git.run(&arguments)?;
            let lines = listed.split(|byte| *byte == 0);
            let path = |line: &[u8]| Some(line.splitn(2, |byte| *byte == b'\t').nth(1)?.to_vec());
            lines.filter_map(path).collect()
        }
    };
    let paths = unmerged
        .iter()
        .filter(|path| is_ledger_path(path))
        .map(|path| String::from_utf8_lossy(path).into_owned());
    let files: Vec<String> = paths.collect::<BTreeSet<_>>().into_iter().collect();
    if files.is_empty() {
        return Ok(());
    }
    let of = |place: &&str| files.iter().any(|file| file.starts_with(*place));
    let places = [FOLDER, QUEUE].into_iter().filter(of);
    let places: Vec<&str> = places.collect();
    Err(Error::unsafe_repo(format!(
        "a merge left conflicts in evolve's own files: {}",
        text::some_of(&files, SHOWN)
    ))
    .hint(format!(
        "keep this branch's: `git restore --source=HEAD --staged --worktree {}`, and commit the rest; or take the merge back: `git reset --merge`",
        places.join(" ")
    )))
}

/// What git's attributes make of one of the ledger's files.
pub struct Converted(Said);

impl Converted {
    /// Returns it, for people.
    pub fn words(&self) -> String {
        let Said { path, name, value } = &self.0;
        let value = match &**value {
            SET => String::new(),
            value => format!("={}", text::clean_line(value)),
        };
        format!(
            "git's attributes make something else of evolve's own files: {name}{value} for {path}"
        )
    }
}

/// Returns one of the ledger's files of which git's attributes make something else: they are committed as they are, so that they would
/// look changed for ever, be committed as something else by a person, or not be checked out at all where a filter fails.
pub fn converted(repo: &Repo) -> Option<Converted> {
    const FILES: [&str; 9] = [
        HISTORY,
        BASELINE,
        SUMMARY,
        QUEUE,
        LESSONS,
        RETRIES,
        BASELINE_REPORT,
        DELTA,
        LAST_SWEEP,
    ];
    let numbered = [snapshot(1), post_snapshot(1), segment(1)];
    let numbered = numbered.iter().map(String::as_str);
    let files: Vec<&str> = FILES.into_iter().chain(numbered).collect();
    let said = repo.attributes(&files, &["filter", ENCODING]).into_iter();
    let mut converting = said.filter(|said| match &*said.value.to_ascii_lowercase() {
        "" | "unspecified" | "unset" | "utf-8" | "utf8" => false,
        // Of a filter without a name git makes nothing; an encoding without one it refuses.
        SET => said.name == ENCODING,
        _ => true,
    });
    converting.next().map(Converted)
}

/// Refuses attributes by which git would make something else of the ledger's files (exit 3).
pub fn refuse_converted(repo: &Repo) -> Result<()> {
    match converted(repo) {
        None => Ok(()),
        Some(converted) => Err(Error::unsafe_repo(converted.words()).hint(format!(
            "except them, at the end of `.gitattributes` in the root; where `.git/info/attributes` or a `.gitattributes` below says so, there, by the path from it:\n  {FOLDER}/** -filter -working-tree-encoding\n  {QUEUE} -filter -working-tree-encoding"
        ))),
    }
}

/// Returns untracked files that are not ignored, and instead of what lies in a folder without a tracked file that folder, with
/// a slash at the end.
pub fn read_folders(git: &Git) -> Result<Vec<Vec<u8>>> {
    ask(git, &["--untracked-files=normal"]).map(|status| status.untracked)
}

/// Reads the state of the tracked files alone.
pub fn read_tracked(git: &Git) -> Result<Status> {
    ask(git, &["--untracked-files=no"])
}

/// Reads the state of a submodule, its ignored files only if asked for: what looks like the ledger there is none of this
/// repository's.
pub fn read_inside(git: &Git, with_ignored: bool) -> Result<Status> {
    let output = git.run(&[&STATUS[..], files_listed(with_ignored)].concat())?;
    Ok(parse(&output, |_| false))
}

/// Lists what is neither tracked nor ignored, each ended by a NUL.
pub fn list_untracked(git: &Git) -> Result<Vec<u8>> {
    git.run(&["ls-files", "-z", "--others", "--exclude-standard"])
}

/// Returns what git ignores in these folders and around them, by a pattern for a folder or for one around it. Not by
/// `git check-ignore`, which takes no path as it is.
pub fn ignored_in(git: &Git, folders: &[&OsStr]) -> Result<Vec<Vec<u8>>> {
    // Never listed, and at the root: git fails where all that it is asked for lies deeper than an ignored folder around it.
    const ROOT: &str = ".git";
    const ARGUMENTS: [&str; 8] = [
        "ls-files",
        "-z",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
        "--",
        ROOT,
    ];
    let mut found = Vec::new();
    for part in folders.chunks(AT_ONCE) {
        let listed = git.run(&[&ARGUMENTS.map(OsStr::new)[..], part].concat())?;
        let paths = listed.split(|byte| *byte == 0).filter(|it| !it.is_empty());
        found.extend(paths.map(<[u8]>::to_vec));
    }
    Ok(found)
}

/// Reads the state of the tracked files where at most these are not as the index has them. What is staged is asked beside it: git
/// compares the index with HEAD by folders.
pub fn read_tracked_of(git: &Git, paths: &[Vec<u8>]) -> Result<Status> {
    const STAGED: [&str; 6] = [
        "diff-index",
        "--cached",
        "--name-only",
        "-z",
        "--no-renames",
        "--ignore-submodules=dirty",
    ];
    let staged = || git.run(&[&STAGED[..], &["HEAD"]].concat());
    let unlike = || match paths {
        [] => Ok(Status::default()),
        paths => {
            let which = [&STATUS[..], &["--untracked-files=no", "--"]].concat();
            let which = which.into_iter().map(OsStr::new);
            let paths = paths.iter().map(|path| OsStr::from_bytes(path));
            let output = git.run(&which.chain(paths).collect::<Vec<_>>())?;
            Ok(parse(&output, is_ledgers))
        }
    };
    let (staged, mut status) = side_by_side(staged, unlike)?;
    let known: BTreeSet<_> = status.dirty.iter().cloned().collect();
    let staged = staged.split(|byte| *byte == 0);
    let staged = staged.filter(|path| !path.is_empty() && !is_ledgers(path));
    let more = staged.filter(|path| !known.contains(*path));
    status.dirty.extend(more.map(<[u8]>::to_vec));
    status.dirty.sort();
    Ok(status)
}

fn ask(git: &Git, which: &[&str]) -> Result<Status> {
    let output = git.run(&[&STATUS[..], which].concat())?;
    Ok(parse(&output, is_ledgers))
}

fn parse(output: &[u8], is_left_out: impl Fn(&[u8]) -> bool) -> Status {
    let mut status = Status::default();
    for entry in output
        .split(|byte| *byte == 0)
        .filter(|entry| entry.len() > 3)
    {
        let (code, path) = (&entry[..2], entry[3..].to_vec());
        if is_left_out(&path) {
            continue;
        }
        match code {
            b"??" => status.untracked.push(path),
            b"!!" => status.ignored.push(path),
            _ => {
                if code[1] != b' ' {
                    status.unstaged.push(path.clone());
                }
                if matches!(code, b"DD" | b"AA") || code.contains(&b'U') {
                    status.unmerged.push(path.clone());
                }
                status.dirty.push(path);
            }
        }
    }
    status
}

/// Says whether a path is the ledger's, be it an untracked folder that git shows as one.
fn is_ledgers(path: &[u8]) -> bool {
    is_ledger_path(path) || path == b".agents/evolve/"
}

impl Status {
    /// Adds untracked files to a state that was read without them, as git lists them, each ended by a NUL.
    pub fn add_untracked(&mut self, listed: &[u8]) {
        let paths = listed.split(|byte| *byte == 0);
        let content = paths.filter(|path| !path.is_empty() && !is_ledgers(path));
        self.untracked.extend(content.map(<[u8]>::to_vec));
    }

    /// Adds a submodule with changes inside.
    pub fn add_submodule(&mut self, path: Vec<u8>) {
        for list in [&mut self.dirty, &mut self.unstaged] {
            if !list.contains(&path) {
                list.push(path.clone());
            }
        }
    }

    /// Refuses a tree with tracked changes, listing them; `hidden` are those that git does not look at.
    pub fn refuse_dirty(&self, hidden: &[String], is_new: bool, way_out: WayOut) -> Result<()> {
        if self.dirty.is_empty() && hidden.is_empty() {
            return Ok(());
        }
        let named = self.dirty_files().into_iter().zip(&self.dirty);
        let named = named.map(|(name, path)| match self.concealed.contains(path) {
            true => format!(
                "{name} (hidden from git until now: by its time and size it was as committed)"
            ),
            false => name,
        });
        let mut files: Vec<String> = named.collect();
        files.extend(hidden.iter().map(|path| {
            format!("{path} (hidden from git: --no-assume-unchanged and --no-skip-worktree of `git update-index` show it)")
        }));
        let (noun, verb) = match files.len() {
            1 => ("file", "has"),
            _ => ("files", "have"),
        };
        let list: String = files
            .iter()
            .take(20)
            .map(|file| format!("\n  {file}"))
            .collect();
        let more = match files.len() {
            0..=20 => String::new(),
            more => format!("\n  … and {} more", more - 20),
        };
        let way_out = match way_out {
            WayOut::CommitOrCopy => {
                "commit or stash them first, or let the agent work in a copy: `evolve --isolate`"
            }
            WayOut::Commit => "commit or stash them first",
        };
        let (since, hint) = match is_new {
            false => ("", way_out.to_owned()),
            true => (
                " since the session began",
                format!(
                    "if a check or a sweep's command writes them, let it write where git ignores it; if it was you, {way_out}"
                ),
            ),
        };
        Err(Error::unsafe_repo(format!(
            "{} tracked {noun} {verb} uncommitted changes{since}, which an undo could not tell from the agent's:{list}{more}",
            files.len()
        ))
        .hint(hint))
    }

    /// Returns the dirty paths for people.
    pub fn dirty_files(&self) -> Vec<String> {
        self.dirty
            .iter()
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect()
    }
}
