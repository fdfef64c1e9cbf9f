//! Findings about the PATH: what agent and checks call, and whether a scheduler would find it too. Pure.

use super::{About, Finding};
use crate::model::text::some_of;

/// The PATH of cron's jobs, as cron itself sets it.
pub const CRON: &str = "/usr/bin:/bin";
/// The PATH of a service of the user's where systemd was not told another.
pub const SYSTEMD: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How many programs are named in one line.
const NAMED: usize = 8;

/// A program that is called, and found on the PATH of whoever asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its name.
    pub program: String,
    /// The folder in which it is found.
    pub folder: String,
}

/// What starts programs when nobody is there.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// What it is called.
    pub name: &'static str,
    /// What to do to set a PATH there; behind it comes the PATH.
    pub setting: &'static str,
    /// The PATH that it sets.
    pub path: String,
    /// What of the needs it would not find.
    pub lacks: Vec<Need>,
}

/// Says what each scheduler would not find, and which folders an agent could put programs in.
pub fn paths(schedulers: &[Scheduler], within: &[String]) -> Vec<Finding> {
    let within = within.iter().map(|folder| {
        Finding::note(
            About::Path,
            format!("the PATH leads into the repository, to {folder}: an agent can put programs there that checks would run"),
        )
        .hint("take that folder off the PATH")
    });
    schedulers.iter().map(scheduler).chain(within).collect()
}

fn scheduler(one: &Scheduler) -> Finding {
    let Scheduler { name, path, .. } = one;
    if one.lacks.is_empty() {
        return Finding::ok(
            About::Path,
            format!("{name} would find all that is called (its PATH is {path})"),
        );
    }
    let names: Vec<String> = one.lacks.iter().map(|need| need.program.clone()).collect();
    Finding::note(
        About::Path,
        format!(
            "{name} would not find {}: its PATH is {path}",
            some_of(&names, NAMED)
        ),
    )
    .hint(format!("{}{}", one.setting, wider(one)))
}

/// Returns the PATH of a scheduler with the folders before it that it lacks.
fn wider(one: &Scheduler) -> String {
    let mut folders: Vec<&str> = Vec::new();
    let needed = one.lacks.iter().map(|need| need.folder.as_str());
    for folder in needed.chain(one.path.split(':')) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders.join(":")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::doctor::Level;

    #[test]
    fn a_scheduler_that_would_not_find_a_program_is_told_the_path_that_does() {
        let need = |program: &str, folder: &str| Need {
            program: program.to_owned(),
            folder: folder.to_owned(),
        };
        let cron = |lacks| Scheduler {
            name: "cron",
            setting: "PATH=",
            path: CRON.to_owned(),
            lacks,
        };
        let lacks = vec![need("cargo", "/h/.cargo/bin"), need("rg", "/h/.cargo/bin")];
        let found = paths(&[cron(lacks), cron(Vec::new())], &[]);
        assert_eq!(found[0].level, Level::Note);
        assert_eq!(
            found[0].message,
            "cron would not find cargo, rg: its PATH is /usr/bin:/bin"
        );
        assert_eq!(found[0].hints, ["PATH=/h/.cargo/bin:/usr/bin:/bin"]);
        assert_eq!(found[1].level, Level::Ok);
        assert_eq!(paths(&[], &["bin".to_owned()])[0].level, Level::Note);
    }
}
