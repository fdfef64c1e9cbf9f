//! Findings about the repository: its state, its goals, who is at work in it. Pure.

use super::{About, Finding};
use crate::error::Error;
use crate::model::text::{clean_line, count, some_of};

/// What was seen of a repository.
#[derive(Clone, Debug)]
pub struct RepositorySeen {
    /// Its root.
    pub root: String,
    /// The branch that is checked out.
    pub branch: Option<String>,
    /// Why a run would refuse it.
    pub refused: Option<Error>,
    /// The cycle that a dead session left unsettled.
    pub unsettled: Option<u64>,
    /// A cycle is in progress, or unsettled, whose agent works in this tree: the state of that is not the user's alone.
    pub is_worked_in: bool,
    /// The process that holds the lock, and since when.
    pub holder: Option<(u32, String)>,
    /// The same of a search.
    pub searcher: Option<(u32, String)>,
    /// What stands in the place of one of `evolve`'s own files and is of another kind.
    pub misplaced: Vec<String>,
    /// Why one of `evolve`'s own files would keep a run from starting.
    pub unreadable: Option<Error>,
    /// What the stop file says, if it is there.
    pub stop: Option<String>,
}

/// How many dirty files are named.
const NAMED: usize = 5;

/// Says what state a repository is in. `dirty` are the tracked files with changes, where that matters and could be told.
pub fn repository(seen: &RepositorySeen, dirty: Option<&[String]>) -> Vec<Finding> {
    let branch = seen.branch.as_deref().unwrap_or("a detached HEAD");
    let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    let mut found = vec![match &seen.refused {
        None => Finding::ok(
            About::Repository,
            format!("{} on {}", clean_line(&seen.root), clean_line(branch)),
        ),
        Some(error) if seen.is_worked_in => of_the_agent(seen, error.message.clone()),
        Some(error) => Finding::of_error(About::Repository, error),
    }];
    if let Some(dirty) = dirty.filter(|dirty| !dirty.is_empty()) {
        let verb = if dirty.len() == 1 { "has" } else { "have" };
        let noun = count(dirty.len(), "tracked file");
        let named = clean_line(&some_of(dirty, NAMED));
        found.push(match seen.is_worked_in {
            true => of_the_agent(seen, format!("{noun} {verb} uncommitted changes: {named}")),
            false => Finding::problem(
                About::Repository,
                format!("{noun} {verb} uncommitted changes, which an undo could not tell from the agent's: {named}"),
            )
            .hint("commit or stash them first, or let the agent work in a copy of its own: `evolve --isolate`"),
        });
    }
    if let Some(cycle) = seen.unsettled {
        found.push(Finding::note(
            About::Repository,
            format!("cycle {cycle} was cut short; the next run undoes it first"),
        ));
    }
    if !seen.misplaced.is_empty() {
        let named = clean_line(&some_of(&seen.misplaced, NAMED));
        let what = match seen.misplaced.len() {
            1 => "stands in the place of one of evolve's own files",
            _ => "stand in the place of evolve's own files",
        };
        found.push(Finding::note(
            About::Repository,
            format!("{named} {what}; the next run moves that to the quarantine"),
        ));
    }
    let refused = seen.refused.as_ref().map(|error| &error.message);
    if let Some(error) = &seen.unreadable
        && refused != Some(&error.message)
    {
        found.push(Finding::of_error(About::Repository, error));
    }
    found.push(match &seen.stop {
        None => Finding::ok(About::Stop, "there is no STOP file"),
        Some(words) => {
            let words = match words.is_empty() {
                true => String::new(),
                false => format!(": {}", clean_line(words)),
            };
            Finding::problem(
                About::Stop,
                format!("no loop or search begins while .agents/evolve/STOP is there{words}"),
            )
            .hint("`evolve stop --off` takes it away")
        }
    });
    found.push(match (&seen.holder, &seen.searcher) {
        (None, None) => Finding::ok(About::Lock, "nobody is at work here"),
        (None, Some((pid, since))) => Finding::note(
            About::Lock,
            format!(
                "a search is at work here: process {pid} since {}; another one would be refused",
                clean_line(since)
            ),
        )
        .hint("`evolve search status` says what it does, `evolve search stop` ends it"),
        (Some((pid, since)), _) => Finding::note(
            About::Lock,
            format!(
                "an evolve is at work here: process {pid} since {}; another one would be refused",
                clean_line(since)
            ),
        )
        .hint("`evolve status` says what it does, `evolve stop` ends it"),
    });
    found
}

/// Tells of something that an agent may have done: whoever mends that by hand would take it for his own.
fn of_the_agent(seen: &RepositorySeen, what: String) -> Finding {
    let hint = match (seen.unsettled, &seen.holder) {
        (None, Some(_)) => "leave it to the evolve that is at work: its agent may have done it",
        (_, None) | (Some(_), Some(_)) => {
            "leave it to the next run: it undoes what the agent did, and names what you changed since"
        }
    };
    Finding::note(About::Repository, what).hint(hint)
}

/// Names the folders that tools fill and that git does not ignore, as lines for .gitignore.
pub fn unignored(lines: &[String]) -> Option<Finding> {
    let lines = clean_line(&some_of(lines, NAMED));
    (!lines.is_empty()).then(|| {
        Finding::note(
            About::Repository,
            format!("git does not ignore {lines}: what tools put there may come into commits"),
        )
        .hint(format!("add to .gitignore: {lines}"))
    })
}

/// Says what is wrong with a goals file, or how many goals there are; beside the goals are the warnings of reading them.
pub fn goals(shown: &str, read: &Result<(usize, Vec<String>), Error>) -> Vec<Finding> {
    match read {
        Err(Error { spots, .. }) if spots.len() > 1 => {
            let first = &spots[0];
            let message = format!(
                "{shown} has {} problems, the first on line {}: {}",
                spots.len(),
                first.line,
                clean_line(&first.message)
            );
            let hint = "`evolve validate` shows each of them at its line";
            vec![Finding::problem(About::Goals, message).hint(hint)]
        }
        Err(error) => vec![Finding::of_error(About::Goals, error)],
        Ok((goals, warnings)) => {
            let ok = Finding::ok(About::Goals, format!("{shown}: {}", count(*goals, "goal")));
            let notes = warnings.iter();
            let notes = notes.map(|warning| Finding::note(About::Goals, clean_line(warning)));
            std::iter::once(ok).chain(notes).collect()
        }
    }
}

/// Tells of the failing goals that a run leaves to a person: they were struck, or an agent gave up.
pub fn stuck(ids: &[String]) -> Option<Finding> {
    let wait = match ids.len() {
        0 => return None,
        1 => "waits",
        _ => "wait",
    };
    let named = clean_line(&some_of(ids, NAMED));
    let message = format!("{named} {wait} for a person: no agent got further");
    let hint = format!(
        "`evolve status` says which were struck and which declined; `evolve retry {}` allows another attempt",
        clean_line(&ids[0])
    );
    Some(Finding::note(About::Goals, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Spot;
    use crate::model::doctor::Level;

    fn seen() -> RepositorySeen {
        RepositorySeen {
            root: "/r".to_owned(),
            branch: Some("refs/heads/main".to_owned()),
            refused: None,
            unsettled: None,
            is_worked_in: false,
            holder: None,
            searcher: None,
            misplaced: Vec::new(),
            unreadable: None,
            stop: None,
        }
    }

    fn levels(found: &[Finding]) -> Vec<(About, Level)> {
        found.iter().map(|one| (one.about, one.level)).collect()
    }

    #[test]
    fn a_clean_repository_with_nobody_at_work_is_in_order() {
        let found = repository(&seen(), Some(&[]));
        assert_eq!(found[0].message, "/r on main");
        assert!(found.iter().all(|one| one.level == Level::Ok));
    }

    #[test]
    fn what_stands_in_a_wrong_place_is_a_note_and_what_cannot_be_read_a_problem() {
        let seen = RepositorySeen {
            misplaced: vec!["/r/.git/evolve/guard".to_owned()],
            unreadable: Some(Error::unsafe_repo("/r/.git/evolve/lock is no plain file")),
            ..seen()
        };
        let found = repository(&seen, None);
        assert_eq!(found[1].level, Level::Note);
        assert_eq!(
            found[1].message,
            "/r/.git/evolve/guard stands in the place of one of evolve's own files; the next run moves that to the quarantine"
        );
        assert_eq!(found[2].level, Level::Problem);
    }

    #[test]
    fn what_a_run_would_refuse_is_a_problem_and_a_run_that_goes_on_is_none() {
        let refused = RepositorySeen {
            refused: Some(Error::unsafe_repo("HEAD is detached").hint("check out a branch")),
            holder: Some((7, "2026-02-11T21:00:00Z".to_owned())),
            stop: Some("enough".to_owned()),
            unsettled: Some(3),
            ..seen()
        };
        let found = repository(&refused, Some(&["a".to_owned()]));
        assert_eq!(
            levels(&found),
            [
                (About::Repository, Level::Problem),
                (About::Repository, Level::Problem),
                (About::Repository, Level::Note),
                (About::Stop, Level::Problem),
                (About::Lock, Level::Note),
            ]
        );
        assert_eq!(found[0].hints, ["check out a branch"]);
        assert!(found[1].message.starts_with("1 tracked file has "));
    }

    #[test]
    fn what_an_agent_may_have_done_is_no_problem_of_the_users() {
        let (at_work, died) = (
            RepositorySeen {
                holder: Some((7, "2026-02-11T21:00:00Z".to_owned())),
                ..seen()
            },
            RepositorySeen {
                unsettled: Some(3),
                ..seen()
            },
        );
        for (seen, hint) in [(at_work, "is at work"), (died, "the next run")] {
            let seen = RepositorySeen {
                refused: Some(Error::unsafe_repo("HEAD is detached").hint("check out a branch")),
                is_worked_in: true,
                ..seen
            };
            let found = repository(&seen, Some(&["a".to_owned()]));
            assert!(found.iter().all(|one| one.level != Level::Problem));
            assert_eq!(found[0].message, "HEAD is detached");
            assert_eq!(
                found[1].message,
                "1 tracked file has uncommitted changes: a"
            );
            for one in &found[..2] {
                assert!(one.hints[0].contains(hint), "{:?}", one.hints);
            }
        }
    }

    #[test]
    fn goals_are_counted_and_warnings_are_notes() {
        let found = goals("GOALS.yaml", &Ok((2, vec!["odd".to_owned()])));
        assert_eq!(found[0].message, "GOALS.yaml: 2 goals");
        assert_eq!(found[1].level, Level::Note);
        let spot = |line| Spot {
            file: "G".to_owned(),
            line,
            column: 1,
            length: 1,
            text: String::new(),
            skipped: 0,
            message: "odd".to_owned(),
            hint: "mend it".to_owned(),
        };
        let two = Error::usage("bad").at(vec![spot(3), spot(4)]);
        let found = goals("G", &Err(two));
        assert_eq!(
            found[0].message,
            "G has 2 problems, the first on line 3: odd"
        );
        assert_eq!(found[0].hints.len(), 1);
        assert_eq!(
            goals("G", &Err(Error::usage("bad")))[0].level,
            Level::Problem
        );
    }

    #[test]
    fn goals_that_wait_for_a_person_are_a_note_with_the_way_on() {
        assert_eq!(stuck(&[]), None);
        let found = stuck(&["a".to_owned(), "b".to_owned()]).unwrap();
        assert_eq!(found.level, Level::Note);
        assert_eq!(
            found.message,
            "a, b wait for a person: no agent got further"
        );
        assert!(found.hints[0].contains("`evolve retry a`"));
    }

    #[test]
    fn folders_that_are_not_ignored_are_a_note() {
        assert_eq!(unignored(&[]), None);
        let found = unignored(&["target/".to_owned()]).unwrap();
        assert_eq!(found.level, Level::Note);
        assert_eq!(found.hints, ["add to .gitignore: target/"]);
    }
}
