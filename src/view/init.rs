//! What `evolve init` says: what it found and wrote, what it left out, and what comes next. Text with ANSI styles.

use std::collections::{HashMap, HashSet};

use crate::model::goals::Goals;
use crate::model::init::{Found, Proposal};
use crate::model::mask;
use crate::model::text::{clean_line, count, on_one_line, some_of};
use crate::view::style::{BAD, Cell, FAINT, GOOD, ODD, STRONG, columns, paint};
use crate::view::width::{columns_folded, commands, wrapped};

/// How much of a check is shown.
const CHECK: usize = 80;
/// How many of what was left out are named.
const LEFT_OUT: usize = 12;
/// How many lines of one file with the same reason are told as one.
const MANY: usize = 4;
/// How many folders are named.
const NAMED: usize = 5;

/// Says what was found and written: the goals that run, those that lack something, and what makes none: `all` of it, or the first.
pub fn written(found: &Found, shown: &str, all: bool, width: Option<usize>) -> String {
    let runnable: Vec<&Proposal> = found.runnable().collect();
    let mut page = format!(
        "{}\n{} {}\n\n",
        wrapped(&made_with(found), width).join("\n"),
        paint(GOOD, &format!("wrote {shown}:")),
        count(runnable.len(), "goal")
    );
    page.push_str(&table(&runnable, width));
    page.push_str(&lacking("not now, and commented out:", found, width));
    page.push_str(&left_out(found, all, width));
    for note in &found.notes {
        let lines = wrapped(&format!("note: {}", clean_line(note)), width);
        page.push_str(&format!("\n{}\n", paint(ODD, &lines.join("\n"))));
    }
    page
}

/// Says what a file lacks: so many goals, and so many that wait until somebody has looked at them.
pub fn proposed(new: usize, waiting: usize, shown: &str, has: usize) -> String {
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    let waits = match waiting {
        1 => "1 that waits for a look, commented out".to_owned(),
        waiting => format!("{waiting} that wait for a look, commented out"),
    };
    let what = match (new, waiting) {
        (new, 0) => format!("{new} more {} proposed", are(new)),
        (0, waiting) => format!("{waits}, {} proposed", are(waiting)),
        (new, _) => format!("{new} more are proposed, and {waits}"),
    };
    format!("{shown} has {}; {what}:\n\n", count(has, "goal"))
}

/// Says that a file lacks no goal that runs, and whether that is all that was found.
pub fn complete(shown: &str, is_all: bool) -> String {
    match is_all {
        true => format!("{shown} lacks nothing that could run here\n"),
        false => format!("{shown} has every goal that can run here now\n"),
    }
}

/// Says what was added to a file.
pub fn appended(new: usize, waiting: usize, shown: &str) -> String {
    let what = match (new, waiting) {
        (new, 0) => count(new, "goal"),
        (0, waiting) => format!("{}, commented out,", count(waiting, "goal")),
        (new, waiting) => format!("{}, and {waiting} commented out,", count(new, "goal")),
    };
    format!("added {what} to {shown}\n")
}

/// Says that goals which are commented out in a file have other reasons now; nothing if there are none.
pub fn reasons(changed: usize, shown: &str) -> String {
    match changed {
        0 => String::new(),
        1 => format!("1 goal that is commented out in {shown} waits for something else now\n"),
        changed => {
            format!(
                "{changed} goals that are commented out in {shown} wait for something else now\n"
            )
        }
    }
}

/// Names what a file that has all other goals could have, were it installed.
pub fn lacks(found: &Found, file: &Goals, width: Option<usize>) -> String {
    let of_file = |one: &Proposal| file.find(&one.id).is_some();
    let proposals = found
        .lacking()
        .filter(|one| !of_file(one))
        .cloned()
        .collect();
    let rest = Found {
        proposals,
        ..Found::default()
    };
    lacking("could be goals, were it not for this:", &rest, width)
}

/// Names goals that lack something here.
fn lacking(head: &str, found: &Found, width: Option<usize>) -> String {
    let rows: Vec<Vec<Cell>> = found
        .lacking()
        .map(|one| {
            let why = one.missing.as_deref().unwrap_or_default();
            vec![
                Cell(ODD, format!("  {}", one.id)),
                Cell::plain(clean_line(why)),
            ]
        })
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("\n{head}\n{}", columns_folded(&rows, width, &[])),
    }
}

/// Names what makes no goal: `all` of it, or the first.
pub fn left_out(found: &Found, all: bool, width: Option<usize>) -> String {
    if found.left_out.is_empty() {
        return String::new();
    }
    let mut page = "\nleft out:\n".to_owned();
    let most = if all { usize::MAX } else { LEFT_OUT };
    let shown = if all {
        found.left_out.clone()
    } else {
        folded(&found.left_out)
    };
    for one in shown.iter().take(most) {
        let lines = wrapped(&format!("  {}", clean_line(one)), width);
        page.push_str(&format!("{}\n", paint(FAINT, &lines.join("\n"))));
    }
    let more = shown.len().saturating_sub(most);
    if more > 0 {
        page.push_str(&format!("  and {more} more: -v names them, too\n"));
    }
    page
}

/// Returns lines of which those with the same file and reason, where they are many, are one.
fn folded(lines: &[String]) -> Vec<String> {
    let parts = |line: &str| {
        let (file, rest) = line.split_once(": ")?;
        let (_, why) = rest.rsplit_once(": ")?;
        Some((file.to_owned(), why.to_owned()))
    };
    let mut numbers: HashMap<_, usize> = HashMap::new();
    for line in lines {
        *numbers.entry(parts(line)).or_default() += 1;
    }
    let mut told = HashSet::new();
    let mut shown = Vec::new();
    for line in lines {
        let key = parts(line);
        let number = numbers.get(&key).copied().unwrap_or_default();
        match &key {
            Some((file, why)) if number >= MANY => {
                if told.insert(key.clone()) {
                    shown.push(format!("{file}: {number} times: {why} (-v names each)"));
                }
            }
            Some(_) | None => shown.push(line.clone()),
        }
    }
    shown
}

fn made_with(found: &Found) -> String {
    let kinds = match found.kinds.is_empty() {
        true => "no build or test tool that it knows".to_owned(),
        false => found.kinds.join(", "),
    };
    format!("found: {}", clean_line(&kinds))
}

fn table(goals: &[&Proposal], width: Option<usize>) -> String {
    let rows: Vec<Vec<Cell>> = goals
        .iter()
        .map(|one| {
            vec![
                Cell(FAINT, format!("{:>4}", one.weight)),
                Cell(STRONG, one.id.clone()),
                Cell::plain(mask::line(&on_one_line(&one.check), CHECK)),
            ]
        })
        .collect();
    match width {
        None => columns(&rows),
        Some(_) => columns_folded(&rows, width, &[]),
    }
}

/// What is known when it is said what comes next.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The file as git is told of it; none if it lies elsewhere.
    pub file: Option<&'a str>,
    /// The option that names the file to a command, behind a space; empty if it is the one that is meant anyway.
    pub goals: &'a str,
    /// Whether every goal passes that was measured, if any was.
    pub passes: Option<bool>,
    /// Whether the file has goals besides those that were measured.
    pub is_part: bool,
    /// Whether nothing runs but what needs no tool.
    pub is_bare: bool,
    /// Whether there is nothing but what every repository may have.
    pub is_unknown: bool,
    /// Whether there are checks that wait only for somebody to look at them.
    pub waits: bool,
    /// How many checks cannot run yet.
    pub lacking: usize,
    /// Whether any of these waits for more than a look at it.
    pub lacks_tools: bool,
    /// The goal that would run the project's tests; none where tests run, or nothing would run them.
    pub untested: Option<&'a Untested>,
    /// The file as the user calls it.
    pub shown: &'a str,
    /// The agent that a run would call, or why there is none.
    pub agent: Result<&'a str, &'a str>,
}

/// A goal that would run the project's tests, and waits in the file.
#[derive(Clone, Debug)]
pub struct Untested {
    /// Its id.
    pub id: String,
    /// The line that says for what it waits.
    pub line: usize,
    /// It waits only until somebody has looked at it.
    pub waits: bool,
}

/// Says what comes next.
pub fn next(known: Known<'_>, width: Option<usize>) -> String {
    let commit = known
        .file
        .map(|file| format!("git add {file} && git commit -m goals"));
    let named = |command: &str| format!("{command}{}", known.goals);
    let mut steps: Vec<(String, &str)> = Vec::new();
    let is_partly = known.passes == Some(true) && known.lacking > 0;
    if (known.is_bare && !known.waits) || is_partly && known.lacks_tools {
        steps.push((
            named("evolve init --add --write"),
            "when what is missing is installed",
        ));
    }
    steps.extend(commit.map(|commit| (commit, "")));
    match known.passes {
        None => steps.push((named("evolve measure"), "every check once")),
        Some(true) if known.is_part => {
            steps.push((named("evolve measure"), "every check once"));
        }
        Some(true) if !known.is_bare => {
            steps.push((
                "evolve work add 'TITLE'".to_owned(),
                "queue what is to be done: no goal fails",
            ));
        }
        Some(_) => {}
    }
    if known.passes != Some(true) || known.is_part {
        steps.push((
            named("evolve --dry-run"),
            "what would be worked on, and why; changes nothing",
        ));
    }
    if !known.is_bare {
        if let Err(why) = known.agent {
            steps.push((named("evolve doctor"), why));
        }
        let with = known.agent.unwrap_or("when there is an agent");
        steps.push((named("evolve --max-cycles=1"), with));
    }
    let head = |style, line: &str| {
        let lines = wrapped(line, width).join("\n");
        format!("{}\n\n", paint(style, &lines))
    };
    let head = match (known.passes, known.is_bare) {
        (Some(true), false) if known.is_part => head(
            GOOD,
            "of the goals added every one passes: the others were not measured",
        ),
        (Some(true), false) if known.is_unknown => head(
            ODD,
            "nothing was found that checks anything: write goals of your own, this one says little",
        ),
        (Some(true), false) if is_partly => {
            let more = match known.lacking {
                1 => "1 more waits".to_owned(),
                more => format!("{more} more wait"),
            };
            let line =
                format!("every goal that runs passes; {more}: \"not now\" above says for what");
            head(ODD, &line)
        }
        (Some(true), false) => head(GOOD, "every goal passes: there is nothing to mend"),
        (_, true) if known.waits => head(
            ODD,
            "no tool of this repository runs yet: look at the commands that wait, and take the # away before what may run",
        ),
        (_, true) => head(
            ODD,
            "no tool of this repository can run here yet: \"not now\" above says what each of them lacks",
        ),
        (Some(false) | None, false) => String::new(),
    };
    let untested = known.untested.map(|untested| {
        let Untested { id, line, waits } = untested;
        let shown = known.shown;
        let then = match waits {
            true => "look at what it runs, then take the # away there",
            false => "the line says for what",
        };
        let tests = "the project's tests are not measured yet";
        let line = format!("{tests}: {id} waits in {shown}:{line}: {then}");
        format!("{}\n\n", paint(ODD, &wrapped(&line, width).join("\n")))
    });
    let head = format!("{head}{}", untested.unwrap_or_default());
    let steps: Vec<(&str, &str)> = steps
        .iter()
        .map(|(step, why)| (step.as_str(), *why))
        .collect();
    let steps = commands(&steps, width);
    format!("\n{head}{}\n{steps}", paint(STRONG, "next:"))
}

/// Names folders that tools filled and that git does not ignore, as lines for .gitignore.
pub fn unignored(lines: &[String], width: Option<usize>) -> String {
    let are = if lines.len() == 1 { "is" } else { "are" };
    let them = if lines.len() == 1 { "it" } else { "them" };
    let shown = clean_line(&some_of(lines, NAMED));
    let line = format!("note: {shown} {are} not ignored by git: add {them} to .gitignore");
    match lines.is_empty() {
        true => String::new(),
        false => format!("\n{}\n", paint(ODD, &wrapped(&line, width).join("\n"))),
    }
}

/// Says that checks run now, and how to leave it at that.
pub fn measuring(is_compiled: bool, width: Option<usize>) -> String {
    let slow = match is_compiled {
        true => "; a first build may take minutes",
        false => "",
    };
    let line = format!("measuring each of them once{slow} (Ctrl-C ends it; the file stays)");
    format!("\n{}\n\n", wrapped(&line, width).join("\n"))
}

/// Returns what an answer that makes no sense is met with.
pub fn again(why: &str) -> String {
    format!("{} {why}\n", paint(BAD, "?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::init::{Look, Wishes, propose};

    /// A repository with much in it, and nothing installed but what Rust needs.
    struct Much(Vec<String>);

    impl Look for Much {
        fn files(&self) -> &[String] {
            &self.0
        }

        fn read(&self, path: &str) -> Option<String> {
            path.ends_with(".toml").then(String::new)
        }

        fn is_there(&self, _path: &str) -> bool {
            false
        }

        fn is_executable(&self, _path: &str) -> bool {
            false
        }

        fn finds(&self, program: &str) -> bool {
            program.starts_with("cargo")
        }

        fn imports(&self, _program: &str, _module: &str) -> bool {
            true
        }

        fn is_set(&self, _variable: &str) -> bool {
            false
        }
    }

    #[test]
    fn everything_fits_into_a_narrow_terminal() {
        let mut files: Vec<String> = [
            "Cargo.toml",
            "go.mod",
            "package.json",
            "pom.xml",
            "pyproject.toml",
            "a.py",
            "test_a.py",
            ".pre-commit-config.yaml",
            "deny.toml",
            "node_modules/a",
        ]
        .map(str::to_owned)
        .to_vec();
        files.sort();
        let wishes = Wishes {
            coverage: 80.0,
            from_ci: false,
        };
        let found = propose(&Much(files), &wishes);
        let known = |passes, is_bare| Known {
            file: Some("GOALS.yaml"),
            goals: "",
            passes,
            is_part: passes == Some(true),
            is_bare,
            is_unknown: false,
            waits: passes == Some(true),
            lacking: 0,
            lacks_tools: true,
            untested: None,
            shown: "GOALS.yaml",
            agent: match is_bare {
                true => Err("what a run needs: no agent is configured and none is installed"),
                false => Ok("with claude, the first known agent that is installed"),
            },
        };
        for width in [40, 60, 100] {
            let at = Some(width);
            let mut page = written(&found, "GOALS.yaml", true, at) + &measuring(true, at);
            for passes in [None, Some(true), Some(false)] {
                page += &next(known(passes, false), at);
                page += &next(known(passes, true), at);
            }
            let plain = anstream::adapter::strip_str(&page).to_string();
            // What is to be copied is one line.
            let commit = "  git add GOALS.yaml && git commit -m goals";
            let wide: Vec<&str> = plain
                .lines()
                .filter(|line| line.chars().count() > width && *line != commit)
                .collect();
            assert_eq!(wide, Vec::<&str>::new(), "{width}");
        }
    }

    #[test]
    fn where_nothing_runs_it_says_where_the_reasons_stand() {
        let known = Known {
            file: None,
            goals: "",
            passes: None,
            is_part: false,
            is_bare: true,
            is_unknown: false,
            waits: false,
            lacking: 0,
            lacks_tools: true,
            untested: None,
            shown: "GOALS.yaml",
            agent: Err("there is none"),
        };
        let said = anstream::adapter::strip_str(&next(known, None)).to_string();
        let words = "no tool of this repository can run here yet: \"not now\" above says what each of them lacks\n";
        assert!(said.contains(words), "{said}");
        let found = propose(
            &Much(vec!["go.mod".to_owned()]),
            &Wishes {
                coverage: 80.0,
                from_ci: false,
            },
        );
        assert!(written(&found, "GOALS.yaml", false, None).contains("not now, and commented out:"));
    }

    #[test]
    fn where_some_cannot_run_it_does_not_say_that_all_is_well() {
        let known = |lacking| Known {
            file: None,
            goals: "",
            passes: Some(true),
            is_part: false,
            is_bare: false,
            is_unknown: false,
            waits: false,
            lacking,
            lacks_tools: true,
            untested: None,
            shown: "GOALS.yaml",
            agent: Err("there is none"),
        };
        let said = |lacking| anstream::adapter::strip_str(&next(known(lacking), None)).to_string();
        let words = "\nevery goal that runs passes; 2 more wait: \"not now\" above says for what\n";
        assert!(said(2).starts_with(words), "{}", said(2));
        assert!(said(2).contains("evolve init --add --write"), "{}", said(2));
        assert!(said(0).starts_with("\nevery goal passes: there is nothing to mend\n"));
    }

    #[test]
    fn tests_that_wait_are_said_not_to_be_measured() {
        let said = |waits, is_bare| {
            let untested = Untested {
                id: "tests-pass".to_owned(),
                line: 12,
                waits,
            };
            let known = Known {
                file: None,
                goals: "",
                passes: Some(true),
                is_part: false,
                is_bare,
                is_unknown: false,
                waits,
                lacking: 1,
                lacks_tools: !waits,
                untested: Some(&untested),
                shown: "GOALS.yaml",
                agent: Err("there is none"),
            };
            anstream::adapter::strip_str(&next(known, None)).to_string()
        };
        let begin =
            "\nthe project's tests are not measured yet: tests-pass waits in GOALS.yaml:12: ";
        for is_bare in [true, false] {
            let look = said(true, is_bare);
            let line = format!("{begin}look at what it runs, then take the # away there\n");
            assert!(look.contains(&line), "{look}");
            assert!(!look.contains("is installed"), "{look}");
            let lacks = said(false, is_bare);
            assert!(
                lacks.contains(&format!("{begin}the line says for what\n")),
                "{lacks}"
            );
        }
    }

    #[test]
    fn where_nothing_checks_it_does_not_deny_what_it_found() {
        let known = Known {
            file: None,
            goals: "",
            passes: Some(true),
            is_part: false,
            is_bare: false,
            is_unknown: true,
            waits: false,
            lacking: 0,
            lacks_tools: true,
            untested: None,
            shown: "GOALS.yaml",
            agent: Err("there is none"),
        };
        let said = anstream::adapter::strip_str(&next(known, None)).to_string();
        let words = "\nnothing was found that checks anything: write goals of your own, this one says little\n";
        assert!(said.starts_with(words), "{said}");
    }

    #[test]
    fn many_lines_of_one_file_with_the_same_reason_are_one() {
        let all = [
            "a.yml: t: x: it may fail",
            "a.yml: t: y: it may fail",
            "b.yml: it is empty",
            "a.yml: u: it may fail",
            "a.yml: u: z: it needs a secret",
            "a.yml: v: it may fail",
        ]
        .map(str::to_owned);
        assert_eq!(
            folded(&all),
            [
                "a.yml: 4 times: it may fail (-v names each)",
                "b.yml: it is empty",
                "a.yml: u: z: it needs a secret",
            ]
        );
        assert_eq!(folded(&all[..5]), all[..5]);
    }
}
