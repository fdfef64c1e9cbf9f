//! What CI systems are told of a measurement: a JUnit report, and on GitHub annotations and the job's summary.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::error::{Error, Result};
use crate::model::goals::Goals;
use crate::model::snapshot::Snapshot;
use crate::view::{github, junit};

/// Who is told.
#[derive(Clone, Debug, Default)]
pub struct Audience {
    /// Where the JUnit report goes.
    junit: Option<PathBuf>,
    /// A job of GitHub Actions reads along.
    pub is_github: bool,
    /// Where GitHub looks for the summary of the step.
    summary: Option<PathBuf>,
}

impl Audience {
    /// Whoever the environment and the command line name; the report's place is meant from the folder `from`.
    pub fn of(junit: Option<&Path>, from: &Path) -> Audience {
        let is_github = std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let summary = std::env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from);
        Audience {
            junit: junit.map(|path| from.join(path)),
            is_github,
            summary: summary.filter(|_| is_github),
        }
    }

    /// Tells what was measured; `shown` is the goals file as the user named it. Annotations are only for people.
    pub fn tell(
        &self,
        snapshot: &Snapshot,
        (goals, shown): (&Goals, &str),
        for_people: bool,
    ) -> Result<()> {
        if let Some(path) = &self.junit {
            files::deliver(path, junit::report(snapshot)?.as_bytes())?;
        }
        if self.is_github && for_people {
            let line = |id: &str| goals.find(id).map(|goal| goal.line);
            super::print::print_to_runner(&github::annotations(snapshot, shown, line));
        }
        if let Some(path) = &self.summary {
            let page = github::summary(snapshot);
            let written = std::fs::OpenOptions::new()
                .append(true)
                .create(true)
                .open(path);
            written
                .and_then(|mut file| file.write_all(page.as_bytes()))
                .map_err(|cause| Error::io("write", path, cause))?;
        }
        Ok(())
    }
}
