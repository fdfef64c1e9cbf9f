//! How a project calls its tools itself: in CI, in recipes, by tox and nox, and in hooks. Pure.

use super::super::called::{PREK, Task};
use super::super::tasks::TaskFiles;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::super::offer::{Proposal, Role};
use super::super::{Look, Wishes, ci, join};
use super::{OF_REPORT, Project, Runner};
use crate::model::{check, text};

/// Options of pytest behind which a value of theirs stands.
const TAKES: [&str; 27] = [
    "--basetemp",
    "--color",
    "--confcutdir",
    "--cov",
    "--cov-config",
    "--cov-fail-under",
    "--cov-report",
    "--dist",
    "--durations",
    "--html",
    "--import-mode",
    "--junit-xml",
    "--junitxml",
    "--log-cli-level",
    "--log-level",
    "--maxfail",
    "--numprocesses",
    "--override-ini",
    "--rootdir",
    "--show-capture",
    "--tb",
    "--timeout",
    "-W",
    "-c",
    "-n",
    "-o",
    "-p",
];
/// How options of pytest begin by which it runs a part of what it finds.
const NARROWS: [&str; 8] = [
    "--deselect",
    "--ff",
    "--ignore",
    "--last-failed",
    "--lf",
    "--pyargs",
    "-k",
    "-m",
];

/// How many environments of tox are read that are not listed.
const MOST_SESSIONS: usize = 64;

/// Factors of which each makes an environment of its own: `py3{9,14}-tests`.
static FACTORS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\{(?<first>[^,{}]*)[^{}]*\}").expect("BUG: a pattern of ours is no pattern")
});

/// Where a project calls its tools: the lines of each job, recipe, environment or session.
#[derive(Default)]
pub(super) struct Calls {
    ci: Vec<Vec<String>>,
    recipes: Vec<Vec<String>>,
    sessions: Vec<Vec<String>>,
    hooks: Vec<Vec<String>>,
}

/// Which of the formatters somewhere calls.
pub(super) struct Formatting {
    pub by_black: bool,
    pub by_ruff: bool,
    /// Where that is.
    pub place: &'static str,
}

impl Calls {
    /// Reads the calls of the project in a folder.
    pub(super) fn of(look: &dyn Look, tasks: &TaskFiles, home: &str) -> Calls {
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let texts_of = |program: &str, name: &str| {
            let task = Task::named(program, name);
            tasks.texts_of(home, &task).into_iter().map(lines)
        };
        let listed = ["tox", "nox"].into_iter().filter(|_| home.is_empty());
        let listed = listed.filter_map(|program| Some((program, tasks.listed(program)?.1)));
        let mut sessions = Vec::new();
        for (program, mut names) in listed {
            // Those that nobody lists are asked for by their names.
            let tox = Some("tox.ini").filter(|_| program == "tox");
            let tox = tox.and_then(|path| look.read(path)).unwrap_or_default();
            let heads = tox
                .lines()
                .filter_map(|line| line.strip_prefix("[testenv:"));
            let heads = heads.filter_map(|head| head.trim_end().strip_suffix(']'));
            let own = heads.take(MOST_SESSIONS);
            names.extend(own.map(|name| FACTORS.replace_all(name, "$first").into_owned()));
            names.sort();
            names.dedup();
            sessions.extend(names.iter().flat_map(|name| texts_of(program, name)));
            if names.is_empty() {
                sessions.extend(texts_of(program, ""));
            }
        }
        Calls {
            ci: ci::lines_of_jobs(look, home),
            recipes: tasks.recipes_in(home),
            sessions,
            hooks: texts_of(PREK, "").collect(),
        }
    }

    /// Returns the places that say how tools are called, the one that counts most first.
    fn by_commands(&self) -> [&[Vec<String>]; 3] {
        [&self.ci, &self.recipes, &self.sessions]
    }

    /// Returns the lines of recipes, of tox and nox, and of CI.
    pub(super) fn in_order(&self) -> [&[Vec<String>]; 3] {
        [&self.recipes, &self.sessions, &self.ci]
    }

    /// Returns which formatters the first place that calls any of them calls.
    pub(super) fn formatting(&self) -> Option<Formatting> {
        let [ci, recipes, sessions] = self.by_commands();
        let places = [
            (ci, "CI"),
            (recipes, "its recipes"),
            (sessions, "tox, nox"),
            (&self.hooks, "its hooks"),
        ];
        places.into_iter().find_map(|(jobs, place)| {
            let lines = || jobs.iter().flatten();
            let by_black = lines().any(|line| is_called(line, &["black"]));
            let by_ruff = lines().any(|line| is_called(line, &["ruff", "format"]));
            (by_black || by_ruff).then_some(Formatting {
                by_black,
                by_ruff,
                place,
            })
        })
    }
}

impl Calls {
    /// Returns the floor of coverage that a report is told, in percent.
    fn floor(&self) -> Option<f64> {
        let lines = self.by_commands().into_iter().flatten().flatten();
        let mut told = lines.filter(|line| line.contains("coverage report"));
        told.find_map(|line| {
            let (_, rest) = line.split_once("--fail-under")?;
            let rest = rest.trim_start_matches(['=', ' ']);
            rest.split_whitespace().next()?.parse().ok()
        })
    }

    /// Returns the first of these programs that is called anywhere.
    pub(super) fn calls_any<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        let all = [&self.ci, &self.recipes, &self.sessions, &self.hooks];
        let lines = || all.iter().copied().flatten().flatten();
        let mut names = names.iter().copied();
        names.find(|name| lines().any(|line| is_called(line, &[name])))
    }
}

/// Says whether a line may call a program with these words.
fn is_called(line: &str, words: &[&str]) -> bool {
    line.contains(words[0])
        && check::done(line)
            .iter()
            .any(|one| is_call(&one.words, words))
}

fn is_call(called: &[String], words: &[&str]) -> bool {
    let called = check::of_module(called);
    let name = check::program_name(&called[0]);
    let rest = called[1..].iter().map(String::as_str);
    std::iter::once(name)
        .chain(rest)
        .take(words.len())
        .eq(words.iter().copied())
}

impl Project<'_> {
    /// Returns the files and folders that the project hands pytest where it runs its tests, each time the same, as they are typed behind
    /// it; its recipes count before tox and nox, and these before CI.
    pub(super) fn test_places(&self) -> Option<String> {
        let Calls {
            ci,
            recipes,
            sessions,
            ..
        } = &self.calls;
        let handed = |jobs: &Vec<Vec<String>>| -> Vec<Vec<String>> {
            let lines = jobs.iter().flatten().filter(|line| line.contains("pytest"));
            let all = lines.flat_map(|line| check::done(line));
            let calls = all.filter(|one| one.dir.as_deref() == Some(""));
            calls.filter_map(|one| operands(&one.words)).collect()
        };
        let mut all = [recipes, sessions, ci].into_iter().map(handed);
        let all = all.find(|all| !all.is_empty())?;
        let first = all.first()?;
        let is_told = !first.is_empty()
            && all.iter().all(|other| other == first)
            && first.iter().all(|place| self.is_there(place));
        let words: Vec<String> = first.iter().map(text::shell_word).collect();
        is_told.then(|| words.join(" "))
    }

    /// Returns the options of `coverage run` with which the project measures a module itself, `pytest` or `unittest`, with spaces in front.
    fn coverage_run(&self, module: &str) -> Option<String> {
        let lines = self.calls.by_commands().into_iter().flatten().flatten();
        // Of environments by several factors the names are not told.
        let lines = lines.map(String::as_str).chain(self.sections.lines());
        let mut calls = lines.filter_map(|line| line.split_once("coverage run"));
        calls.find_map(|(_, rest)| {
            let mut words = rest.split_whitespace();
            let options = words.by_ref().take_while(|word| *word != "-m");
            let options: Vec<String> = options
                .map(|word| text::shell_word(word.replace(['\'', '"'], "")))
                .collect();
            let is_plain = |it: &String| {
                it.trim_start_matches('\'').starts_with('-') && !it.contains(['$', ';', '|', '&'])
            };
            let is_it = words.next() == Some(module) && options.iter().all(is_plain);
            is_it.then(|| options.iter().map(|it| format!(" {it}")).collect())
        })
    }

    /// Proposes coverage of a module with its arguments as the project measures it itself: by `coverage run -m`.
    pub(super) fn coverage_by_itself(&self, module: &str, wishes: &Wishes) -> Option<Proposal> {
        let name = module.split(' ').next().unwrap_or(module);
        let options = self.coverage_run(name)?;
        let command = format!("coverage run{options} -m {module}");
        let goal = self.runs(Role::Coverage, "coverage-floor", &command, "coverage");
        let before = goal.check.strip_suffix(&command).unwrap_or_default();
        let by = match self.home {
            "" => before,
            _ => before.rsplit_once(" && ").map_or("", |(_, by)| by),
        };
        let set = self
            .tool("coverage")
            .and_then(|it| it.pointer("/run/parallel"));
        let texts = [".coveragerc", "setup.cfg", "tox.ini"];
        let mut texts = texts
            .iter()
            .filter_map(|name| self.look.read(&join(self.home, name)));
        let says = |text: String| {
            let mut lines = text
                .lines()
                .map(|line| line.replace(' ', "").to_lowercase());
            lines.any(|line| line == "parallel=true")
        };
        let is_parallel = set.and_then(Value::as_bool) == Some(true)
            || texts.any(says)
            || options
                .split(' ')
                .any(|it| matches!(it, "-p" | "--parallel-mode"));
        let check = match is_parallel {
            true => format!(
                "{before}coverage erase && {by}{command} && {by}coverage combine --quiet && {by}coverage report"
            ),
            false => format!("{before}{command} && {by}coverage report"),
        };
        let floor = self.floor().or_else(|| self.calls.floor());
        let goal = Proposal { check, ..goal }
            .covers(floor, wishes.coverage, OF_REPORT)
            .seen_in("the project's calls of coverage run");
        Some(Proposal {
            same: vec!["--cov".to_owned(), "coverage".to_owned()],
            ..goal
        })
    }

    /// Says whether a file or folder is there.
    pub(super) fn is_there(&self, place: &str) -> bool {
        let place = place.trim_start_matches("./").trim_end_matches('/');
        let path = join(self.home, place);
        self.look.has(&path) || self.look.has_below(&path)
    }

    /// Returns the options by which uv brings what a program of a package needs, each with a space behind it: what the project has it
    /// bring where it calls the program itself, and the group or extra that the package is in.
    pub(super) fn brought_for(&self, program: &str, package: &str) -> String {
        // What measures tests needs what they need.
        let (mut options, packages) = match program {
            "coverage" => (self.asked_for("pytest"), vec!["pytest", package]),
            _ => (self.asked_for(program), vec![package]),
        };
        for own in packages.into_iter().filter_map(|it| self.group_of(it)) {
            let whole = match own.starts_with("--extra") {
                true => "--all-extras",
                false => "--all-groups",
            };
            if !options.iter().any(|it| it == whole || *it == own) {
                options.push(own);
            }
        }
        options.iter().map(|option| format!("{option} ")).collect()
    }

    /// Returns the options by which the project has uv bring extras and groups where it calls a program, where it asks for most; else
    /// those that tox brings.
    fn asked_for(&self, program: &str) -> Vec<String> {
        let of_jobs = |jobs: &[Vec<String>]| {
            let calls = |job: &&Vec<String>| job.iter().any(|it| is_called(it, &[program]));
            let all = jobs.iter().filter(calls).map(|job| {
                let mut options = Vec::new();
                for line in job {
                    self.add_asked(line, program, &mut options);
                }
                options.sort_by_key(|it| (it.contains("group"), it.starts_with("--all")));
                options
            });
            all.max_by_key(|options| {
                let whole = options.iter().filter(|it| it.starts_with("--all"));
                (whole.count(), options.len())
            })
        };
        let mut all = self.calls.by_commands().into_iter().filter_map(of_jobs);
        let asked = all.find(|options| !options.is_empty());
        asked.unwrap_or_else(|| match matches!(program, "pytest" | "unittest") {
            true => self.brought_by_tox(),
            false => Vec::new(),
        })
    }

    /// Adds the options of a line that has uv bring something, by itself or for the program that it runs.
    fn add_asked(&self, line: &str, program: &str, options: &mut Vec<String>) {
        let mut words = line.split_whitespace().skip_while(|word| *word != "uv");
        let does = words.by_ref().find(|word| matches!(*word, "run" | "sync"));
        if does.is_none() || does == Some("run") && !is_called(line, &[program]) {
            return;
        }
        let mut words = words.take_while(|word| !matches!(*word, "&&" | "||" | ";" | "|"));
        while let Some(word) = words.next().filter(|word| *word != program) {
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, None),
            };
            let option = match option {
                "--all-extras" | "--all-groups" if self.has_list(option, None) => {
                    Some(option.to_owned())
                }
                "--extra" | "--group" => {
                    let value = value.or_else(|| words.next()).unwrap_or_default();
                    self.has_list(option, Some(value))
                        .then(|| format!("{option} {}", text::shell_word(value)))
                }
                _ => None,
            };
            options.extend(option.filter(|it| !options.contains(it)));
        }
    }

    /// Says whether the project has the extra or group that an option asks for, or any.
    pub(super) fn has_list(&self, option: &str, name: Option<&str>) -> bool {
        let at = match option.contains("extra") {
            true => "/project/optional-dependencies",
            false => "/dependency-groups",
        };
        let plain = |name: &str| name.to_lowercase().replace(['_', '.'], "-");
        let lists = self.pyproject.pointer(at).and_then(|it| it.as_object());
        let mut names = lists.into_iter().flatten().map(|(name, _)| plain(name));
        match name {
            Some(name) => names.any(|it| it == plain(name)),
            None => names.next().is_some(),
        }
    }

    /// Returns the options for what tox brings for the tests.
    fn brought_by_tox(&self) -> Vec<String> {
        let (extras, groups) = self.of_tox_alone();
        let some = |option: &'static str, names: Vec<String>| {
            let there = names
                .into_iter()
                .filter(move |name| self.has_list(option, Some(name)));
            there.map(move |name| format!("{option} {}", text::shell_word(name)))
        };
        some("--extra", extras)
            .chain(some("--group", groups))
            .collect()
    }

    /// Returns the option by which uv brings the group or extra that a package is in; none where it does so by itself.
    fn group_of(&self, package: &str) -> Option<String> {
        let groups = self.groups(package);
        let groups = groups.trim_end();
        (self.runner == Runner::Uv && !groups.is_empty()).then(|| groups.to_owned())
    }
}

/// Returns what stands behind pytest in the words of a call that runs all that it finds there; none in another one.
fn operands(words: &[String]) -> Option<Vec<String>> {
    let words = check::of_module(words);
    let at = words.iter().position(|word| {
        let name = check::program_name(word);
        matches!(name, "pytest" | "py.test")
    })?;
    let rest = &words[at + 1..];
    let narrows = |word: &String| {
        let only_lists = matches!(word.as_str(), "--co" | "--collect-only");
        only_lists || NARROWS.iter().any(|it| word.starts_with(it))
    };
    if rest.iter().any(narrows) {
        return None;
    }
    let mut found = Vec::new();
    let mut is_value = false;
    for word in rest {
        match word.starts_with('-') {
            true => is_value = TAKES.contains(&word.as_str()),
            false if std::mem::take(&mut is_value) => {}
            false => found.push(word.clone()),
        }
    }
    Some(found)
}
