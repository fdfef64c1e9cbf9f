//! Findings about the machine: git, identity, what may be written, free space, kill files, sandboxes. Pure.

use super::{About, Answer, Finding, Level};
use crate::error::Error;
use crate::model::ledger::way_past_kill;
use crate::model::sandbox::Available;
use crate::model::text::clean_line;

/// What was seen of the program `git`.
#[derive(Clone, Debug)]
pub struct GitSeen {
    /// Where it is; none if it is not on the PATH outside of the repository.
    pub program: Option<String>,
    /// What it says of its version.
    pub version: Option<Answer>,
    /// The oldest version that is enough, its first two numbers.
    pub oldest: (u32, u32),
}

/// Says whether git is there and new enough.
pub fn git(seen: &GitSeen) -> Finding {
    let oldest = format!("{}.{}", seen.oldest.0, seen.oldest.1);
    let Some(program) = &seen.program else {
        return Finding::problem(About::Git, "git is not on the PATH").hint(format!(
            "install git {oldest} or later, or put its folder on the PATH"
        ));
    };
    match &seen.version {
        Some(Answer::Said(words)) => {
            let words = clean_line(words);
            let shown = words.trim_start_matches("git version ");
            match numbers(&words) {
                Some(version) if version >= seen.oldest => {
                    Finding::ok(About::Git, format!("{shown} at {program}"))
                }
                Some(_) => Finding::problem(About::Git, format!("{shown} at {program} is too old"))
                    .hint(format!("install git {oldest} or later")),
                None => Finding::problem(
                    About::Git,
                    format!("{program} does not say which version it is: {shown}"),
                )
                .hint("look at what the program is"),
            }
        }
        Some(Answer::Failed(why)) => Finding::problem(
            About::Git,
            format!("{program} cannot be run: {}", clean_line(why)),
        )
        .hint(format!("try it by hand: `{program} version`")),
        Some(Answer::Silent) | None => Finding::untold(About::Git, Level::Problem),
    }
}

fn numbers(words: &str) -> Option<(u32, u32)> {
    let mut numbers = words
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// Says whose the commits would be: by name and address, and whether somebody is named at all.
pub fn identity((name, email): &(String, String), is_named: bool) -> Finding {
    let who = format!("commits would be made by {name} <{email}>");
    match is_named {
        true => Finding::ok(About::Identity, who),
        false => Finding::note(About::Identity, format!("{who}: git was told of nobody")).hint(
            "name yourself: `git config --global user.name NAME` and `git config --global user.email ADDRESS`",
        ),
    }
}

/// A folder that is written to.
#[derive(Clone, Debug)]
pub struct Folder {
    /// What is kept there.
    pub holds: &'static str,
    /// The folder.
    pub path: String,
    /// Why it, or the nearest folder above it that is there, cannot be written to; none if it can.
    pub denied: Option<String>,
    /// Without it there is no run.
    pub is_needed: bool,
}

/// Says which folders cannot be written to.
pub fn folders(all: &[Folder]) -> Vec<Finding> {
    let denied = |one: &Folder| {
        let why = one.denied.as_ref()?;
        let level = match one.is_needed {
            true => Level::Problem,
            false => Level::Note,
        };
        let message = format!("{} cannot be written to ({}): {why}", one.path, one.holds);
        let hint = format!(
            "let the user that runs evolve write there: look at `ls -ld {}`",
            one.path
        );
        Some(Finding::new(About::Permissions, level, message).hint(hint))
    };
    let found: Vec<Finding> = all.iter().filter_map(denied).collect();
    match found.is_empty() && !all.is_empty() {
        true => {
            let names: Vec<&str> = all.iter().map(|one| one.path.as_str()).collect();
            let names = names.join(", ");
            vec![Finding::ok(
                About::Permissions,
                format!("may be written to: {names}"),
            )]
        }
        false => found,
    }
}

/// Free space of a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// A folder in it.
    pub path: String,
    /// How many bytes the user may still write.
    pub free: u64,
}

/// Below this a run would end before it had done anything.
const TOO_LITTLE: u64 = 32 << 20;
/// Below this a build or an agent's caches could fill it.
const LITTLE: u64 = 1 << 30;

/// Says how much room there is.
pub fn disk(rooms: &[Room]) -> Vec<Finding> {
    let finding = |room: &Room| {
        let message = format!("{} free at {}", bytes(room.free), room.path);
        match room.free {
            0..TOO_LITTLE => Finding::problem(About::Disk, message)
                .hint("free some space: neither records nor commits could be written"),
            TOO_LITTLE..LITTLE => Finding::note(About::Disk, message)
                .hint("free some space: builds and agents may need more"),
            _ => Finding::ok(About::Disk, message),
        }
    };
    rooms.iter().map(finding).collect()
}

fn bytes(count: u64) -> String {
    const MIB: u64 = 1 << 20;
    match count >= LITTLE {
        true => format!("{}.{} GiB", count >> 30, (count % LITTLE) * 10 / LITTLE),
        false => format!("{} MiB", count / MIB),
    }
}

/// The kill files that are there, each with its words; or why it cannot be told where they would be.
pub type Kills = Result<Vec<(String, String)>, Error>;

/// Says whether a kill file is there.
pub fn kill(kills: &Kills) -> Vec<Finding> {
    let found = match kills {
        Ok(found) => found,
        Err(error) => return vec![Finding::of_error(About::Kill, error)],
    };
    let finding = |(path, words): &(String, String)| {
        let way_on = way_past_kill(words);
        let words = match words.is_empty() {
            true => String::new(),
            false => format!(": {}", clean_line(words)),
        };
        let message = format!("{path} stops every loop and search of this user{words}");
        Finding::problem(About::Kill, message).hint(way_on)
    };
    match found.is_empty() {
        true => vec![Finding::ok(About::Kill, "there is no KILL file")],
        false => found.iter().map(finding).collect(),
    }
}

/// Says which sandboxes work, and whether the one that is asked for does: `chosen` has the warnings, or the error, of a run.
pub fn sandbox(
    available: &[Available],
    chosen: Option<&Result<Vec<String>, Error>>,
) -> Vec<Finding> {
    let works = |one: &Available| match one.works {
        true => format!("{} works ({})", one.sandbox.word(), one.detail),
        false => one.detail.clone(),
    };
    let modes: Vec<String> = available.iter().map(works).collect();
    let modes = clean_line(&modes.join("; "));
    let mut found = vec![match available.iter().any(|one| one.works) {
        true => Finding::ok(About::Sandbox, modes),
        false => Finding::note(About::Sandbox, modes).hint(
            "to hold agents back, install bubblewrap and allow unprivileged user namespaces, or use a kernel with Landlock",
        ),
    }];
    match chosen {
        None => found.push(Finding::untold(About::Sandbox, Level::Note)),
        Some(Ok(warnings)) => {
            let note = |warning: &String| Finding::note(About::Sandbox, warning.clone());
            found.extend(warnings.iter().map(note));
        }
        Some(Err(error)) => found.push(Finding::of_error(About::Sandbox, error)),
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_has_to_be_there_to_answer_and_to_be_new_enough() {
        let seen = |program: Option<&str>, version| GitSeen {
            program: program.map(str::to_owned),
            version,
            oldest: (2, 25),
        };
        let said = |words: &str| Some(Answer::Said(words.to_owned()));
        for (seen, level, words) in [
            (seen(None, None), Level::Problem, "git is not on the PATH"),
            (
                seen(Some("/bin/git"), said("git version 2.53.0\n")),
                Level::Ok,
                "2.53.0 at /bin/git",
            ),
            (
                seen(Some("/bin/git"), said("git version 2.24.4 (Apple Git-1)")),
                Level::Problem,
                "2.24.4 (Apple Git-1) at /bin/git is too old",
            ),
            (
                seen(Some("/bin/git"), said("hello")),
                Level::Problem,
                "/bin/git does not say which version it is: hello",
            ),
            (
                seen(Some("/bin/git"), Some(Answer::Failed("exit 1".to_owned()))),
                Level::Problem,
                "/bin/git cannot be run: exit 1",
            ),
            (
                seen(Some("/bin/git"), Some(Answer::Silent)),
                Level::Problem,
                "could not be looked at within 10 s",
            ),
        ] {
            let found = git(&seen);
            assert_eq!((found.level, found.message.as_str()), (level, words));
            assert_eq!(found.hints.is_empty(), level == Level::Ok, "{words}");
        }
    }

    #[test]
    fn room_is_told_and_too_little_of_it_is_a_problem() {
        let room = |free| Room {
            path: "/r".to_owned(),
            free,
        };
        for (free, level, words) in [
            (0, Level::Problem, "0 MiB free at /r"),
            (100 << 20, Level::Note, "100 MiB free at /r"),
            (5 << 29, Level::Ok, "2.5 GiB free at /r"),
        ] {
            let found = disk(&[room(free)]);
            assert_eq!((found[0].level, found[0].message.as_str()), (level, words));
        }
    }

    #[test]
    fn a_folder_that_is_needed_and_cannot_be_written_is_a_problem() {
        let folder = |denied: Option<&str>, is_needed| Folder {
            holds: "h",
            path: "/p".to_owned(),
            denied: denied.map(str::to_owned),
            is_needed,
        };
        let level = |folder: Folder| folders(&[folder])[0].level;
        assert_eq!(level(folder(None, true)), Level::Ok);
        assert_eq!(level(folder(Some("denied"), true)), Level::Problem);
        assert_eq!(level(folder(Some("denied"), false)), Level::Note);
        assert!(folders(&[]).is_empty());
    }

    #[test]
    fn a_kill_file_is_a_problem_with_its_words() {
        assert_eq!(kill(&Ok(Vec::new()))[0].level, Level::Ok);
        let found = kill(&Ok(vec![("/k".to_owned(), "enough".to_owned())]));
        assert_eq!(
            found[0].message,
            "/k stops every loop and search of this user: enough"
        );
        assert_eq!(found[0].level, Level::Problem);
    }
}
