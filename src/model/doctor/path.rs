//! Findings about the PATH: what agent and checks call, and whether a scheduler would find it too. Pure.

use super::{About, Finding};
use crate::model::text::{clean_line, some_of};

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

/// A goal whose check calls programs that the PATH does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfound {
    /// The goal's id.
    pub goal: String,
    /// What it calls in vain.
    pub programs: Vec<String>,
    /// Nothing that it calls tells anything without them.
    pub has_none: bool,
}

/// Names the programs that checks call and that are not found, with their goals; a problem where no goal of `count` has any that is.
pub fn unfound(goals: &[Unfound], count: usize) -> Option<Finding> {
    let mut programs: Vec<&String> = goals.iter().flat_map(|one| &one.programs).collect();
    programs.sort();
    programs.dedup();
    let calling = |program: &String| {
        let goals = goals.iter().filter(|one| one.programs.contains(program));
        let goals: Vec<String> = goals.map(|one| one.goal.clone()).collect();
        format!("{program} (called by {})", some_of(&goals, NAMED))
    };
    let named: Vec<String> = programs.into_iter().map(calling).collect();
    if named.is_empty() {
        return None;
    }
    let named = clean_line(&some_of(&named, NAMED));
    let has_none = goals.iter().filter(|one| one.has_none).count() == count;
    let finding = match has_none {
        true => Finding::problem(
            About::Path,
            format!(
                "no check finds its program on the PATH, so the loop would have nothing to do: {named}"
            ),
        ),
        false => Finding::note(
            About::Path,
            format!("not on the PATH, so that the goals that need it are skipped: {named}"),
        ),
    };
    Some(finding.hint("install what is missing, or put the folder that has it on the PATH: PATH=FOLDER:$PATH evolve"))
}

/// Names the programs that the commands of `on_cycle` and `on_end` call and that are not found.
pub fn unheard(hooks: &[Unfound]) -> Option<Finding> {
    let of_hook = |hook: &Unfound| format!("{} ({})", hook.goal, some_of(&hook.programs, NAMED));
    let named: Vec<String> = hooks.iter().map(of_hook).collect();
    (!named.is_empty()).then(|| {
        let named = clean_line(&named.join(", "));
        let message =
            format!("not on the PATH, so that what is to tell of cycles fails each time: {named}");
        Finding::note(About::Path, message)
            .hint("install what is missing, or mend the command in GOALS.yaml")
    })
}

/// Says what each scheduler would not find of what is found here, and which folders an agent could put programs in.
pub fn paths(schedulers: &[Scheduler], within: &[String], is_all_found: bool) -> Vec<Finding> {
    let within = within.iter().map(|folder| {
        Finding::note(
            About::Path,
            format!("the PATH leads into the repository, to {folder}: an agent can put programs there that checks would run"),
        )
        .hint("take that folder off the PATH")
    });
    let schedulers = schedulers.iter().map(|one| scheduler(one, is_all_found));
    schedulers.chain(within).collect()
}

fn scheduler(one: &Scheduler, is_all_found: bool) -> Finding {
    let Scheduler { name, path, .. } = one;
    if one.lacks.is_empty() {
        let all = match is_all_found {
            true => "all that is called",
            false => "the rest of what is called",
        };
        return Finding::ok(
            About::Path,
            format!("{name} would find {all} (its PATH is {path})"),
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
        let found = paths(&[cron(lacks), cron(Vec::new())], &[], true);
        assert_eq!(found[0].level, Level::Note);
        assert_eq!(
            found[0].message,
            "cron would not find cargo, rg: its PATH is /usr/bin:/bin"
        );
        assert_eq!(found[0].hints, ["PATH=/h/.cargo/bin:/usr/bin:/bin"]);
        assert_eq!(found[1].level, Level::Ok);
        assert_eq!(paths(&[], &["bin".to_owned()], true)[0].level, Level::Note);
    }

    #[test]
    fn programs_that_are_not_there_are_named_with_their_goals() {
        let of = |goal: &str, has_none| Unfound {
            goal: goal.to_owned(),
            programs: vec!["cargo".to_owned()],
            has_none,
        };
        assert_eq!(unfound(&[], 2), None);
        let some = unfound(&[of("builds", true), of("tests", false)], 2).unwrap();
        assert_eq!(some.level, Level::Note);
        assert_eq!(
            some.message,
            "not on the PATH, so that the goals that need it are skipped: cargo (called by builds, tests)"
        );
        let none = unfound(&[of("builds", true), of("tests", true)], 2).unwrap();
        assert_eq!(none.level, Level::Problem);
    }

    #[test]
    fn programs_that_are_to_tell_of_cycles_and_are_not_there_are_named_with_their_setting() {
        let of = |hook: &str, program: &str| Unfound {
            goal: hook.to_owned(),
            programs: vec![program.to_owned()],
            has_none: true,
        };
        assert_eq!(unheard(&[]), None);
        let found = unheard(&[of("on_cycle", "jq"), of("on_end", "mail")]).unwrap();
        assert_eq!(found.level, Level::Note);
        assert!(found.message.ends_with(": on_cycle (jq), on_end (mail)"));
    }
}
