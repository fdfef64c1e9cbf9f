//! What CI systems are told of a measurement: a JUnit report, and on GitHub annotations and the job's summary.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::cli::deliver::{self, Place};
use crate::cli::here::{current_dir, goals_file};
use crate::cli::options::Global;
use crate::cli::print::{print, print_error, print_to_runner};
use crate::effects::files;
use crate::effects::repo::Repo;
use crate::error::{Error, Kind, Result};
use crate::model::goals::Goals;
use crate::model::snapshot::Snapshot;
use crate::model::text;
use crate::session::GoalsFile;
use crate::view::github;
use crate::view::junit::{self, Why};

/// Has GitHub show what is wrong: with the goals file at its lines, else what the error says. The runner reads stderr, too, and nobody
/// else reads a document there.
pub fn annotate(global: &Global, error: &Error) {
    let audience = Audience::of(None, Path::new(""));
    // Goals that fail have annotations of their own, and whoever ends a run knows that it ended.
    let is_told = matches!(error.kind, Kind::Failing | Kind::Killed | Kind::Signal(_));
    if !audience.is_github || is_told {
        return;
    }
    let file = current_dir()
        .and_then(|here| Repo::discover(&here))
        .and_then(|repo| goals_file(global, &repo));
    let mut lines = match file {
        Ok(file) => {
            let spots = error.spots.iter().filter(|spot| spot.file == file.shown);
            github::spots(spots, &audience.place_of(&file))
        }
        Err(_) => Vec::new(),
    };
    if lines.is_empty() {
        lines.push(github::error(error));
    }
    lines.iter().for_each(|line| print_error(line));
}

/// Who is told.
#[derive(Clone, Debug, Default)]
pub struct Audience {
    /// Where the JUnit report goes.
    junit: Option<Place>,
    /// A job of GitHub Actions reads along.
    pub is_github: bool,
    /// Where GitHub looks for the summary of the step.
    summary: Option<PathBuf>,
    /// The folder from which GitHub names files.
    workspace: Option<PathBuf>,
}

impl Audience {
    /// Whoever the environment and the command line name; the report's place is meant from the folder `from`.
    pub fn of(junit: Option<&Path>, from: &Path) -> Audience {
        let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from);
        Audience {
            junit: junit.map(|path| Place::of(path, from)),
            is_github,
            summary: summary.filter(|_| is_github),
            workspace: std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from),
        }
    }

    /// Refuses a place for the report that nothing is written over, and stdout where something else goes there.
    pub fn refuse_kept(&self, global: &Global, repo: &Repo, as_json: bool) -> Result<()> {
        match &self.junit {
            Some(Place::Stdout) if as_json => Err(Error::usage(
                "--junit (to stdout) and --json would both write to stdout",
            )
            .hint("name a file, as in `--junit report.xml`")),
            Some(Place::Stdout) if !global.quiet => Err(Error::usage(
                "--junit would write the report between other lines on stdout",
            )
            .hint("`-q` keeps them off; or name a file, as in `--junit report.xml`")),
            Some(Place::Theirs(path) | Place::Own(path)) => {
                deliver::refuse_kept(global, repo, path)
            }
            Some(Place::Stdout) | None => Ok(()),
        }
    }

    /// Refuses a place for the report that cannot be written.
    pub fn refuse_undeliverable(&self) -> Result<()> {
        match &self.junit {
            Some(Place::Theirs(path) | Place::Own(path)) => files::refuse_undeliverable(path),
            Some(Place::Stdout) | None => Ok(()),
        }
    }

    /// Returns the goals file as annotations name it: from the job's workspace, if it lies there, else as the user named it.
    pub fn place_of(&self, file: &GoalsFile) -> String {
        let workspace = self.workspace.as_deref().map(std::fs::canonicalize);
        let (Some(Ok(workspace)), Ok(path)) = (workspace, std::fs::canonicalize(&file.path)) else {
            return file.shown.clone();
        };
        let below = path.strip_prefix(workspace).ok();
        below.map_or_else(
            || file.shown.clone(),
            |path| text::path(path.as_os_str().as_bytes()),
        )
    }

    /// Tells GitHub what was measured; `place` is the goals file as annotations name it. Annotations are only for people. A summary that
    /// cannot be written is a warning: nobody asked for that one.
    pub fn tell(
        &self,
        global: &Global,
        snapshot: &Snapshot,
        goals: &Goals,
        place: &str,
        for_people: bool,
    ) {
        if self.is_github && for_people && self.junit != Some(Place::Stdout) {
            let line = |id: &str| goals.find(id).map(|goal| goal.line);
            print_to_runner(&github::annotations(snapshot, place, line));
        }
        if let Err(error) = self.summarise(snapshot) {
            global.warn(&error.message);
        }
    }

    /// Writes the JUnit report, if one is wanted: what was measured, and what else is to be said of the end.
    pub fn report(&self, snapshot: Option<&Snapshot>, why: Option<&Why>) -> Result<()> {
        match &self.junit {
            Some(Place::Stdout) => {
                print(&junit::report(snapshot, why)?);
                Ok(())
            }
            Some(Place::Theirs(path) | Place::Own(path)) => {
                files::deliver(path, junit::report(snapshot, why)?.as_bytes())
            }
            None => Ok(()),
        }
    }

    /// Does what a report is wanted of. Where it fails the report says why, so that none of an earlier run is taken for its own.
    pub fn reporting<T>(
        &self,
        global: &Global,
        as_json: bool,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        work().inspect_err(|error| self.report_error(global, as_json, error))
    }

    /// Writes a report of an error to a place that may be written over; what keeps it from that is told elsewhere, or is the error.
    pub fn report_error(&self, global: &Global, as_json: bool, error: &Error) {
        if self.junit.is_none() {
            return;
        }
        let repo = current_dir().and_then(|dir| Repo::discover(&dir));
        let is_allowed = repo.is_ok_and(|repo| self.refuse_kept(global, &repo, as_json).is_ok());
        if !is_allowed || self.refuse_undeliverable().is_err() {
            return;
        }
        if let Err(unwritten) = self.report(None, Some(&Why::of(error))) {
            global.warn(&unwritten.message);
        }
    }

    fn summarise(&self, snapshot: &Snapshot) -> Result<()> {
        let Some(path) = &self.summary else {
            return Ok(());
        };
        let page = github::summary(snapshot);
        let opened = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path);
        opened
            .and_then(|mut file| file.write_all(page.as_bytes()))
            .map_err(|cause| Error::io("write", path, cause))
    }
}
