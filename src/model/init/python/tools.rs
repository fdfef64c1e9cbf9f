//! The linters and formatters of a Python project, as they are configured. Pure.

use serde_json::Value;

use super::super::offer::{Proposal, Role};
use super::super::{Found, ini, join};
use super::own::Places;
use super::{Project, held, ruff};
use crate::model::init::known::FIRST;

/// What else checks types.
const OF_TYPES: [&str; 6] = [
    "stubtest",
    "pyright",
    "basedpyright",
    "ty",
    "pyrefly",
    "pytype",
];
/// Why mypy waits that the project itself calls in several ways.
const ELSEWHERE: &str = "the project has mypy look at other places, in several calls";

/// pylint for each tracked file of Python's.
const PYLINT: &str = "pylint $(git ls-files '*.py')";

/// The formatters that are in use, each with what it is seen in.
struct Formatters {
    black: Option<String>,
    ruff: Option<String>,
}

impl Project<'_> {
    /// Proposes the tools that are configured.
    pub(super) fn tools(&self, found: &mut Found) {
        let mut goals = Vec::new();
        let mut add = |(role, id): (Role, &str),
                       command: &str,
                       package: &str,
                       says: &str,
                       seen: Option<String>| {
            if let Some(seen) = seen {
                let plain = command.trim_end_matches(" .");
                // What the options of some take are no words of the tool's.
                let tool = plain.split(" --").next().unwrap_or_default().split(' ');
                let tool: Vec<&str> = tool.collect();
                // As the project's own recipes have it, unless its configuration says so.
                let (command, why) = match self.places(&tool) {
                    Places::Told(places) => (format!("{plain} {places}"), None),
                    // What has options of init's own is called with these.
                    Places::Called(words) if !command.contains(" --") => {
                        (format!("{plain} {words}"), None)
                    }
                    // By itself it would go into environments, too.
                    Places::Called(_) | Places::Differ | Places::Untold
                        if command == "pylint ." =>
                    {
                        (PYLINT.to_owned(), None)
                    }
                    Places::Differ if command == "mypy ." => {
                        (command.to_owned(), Some(format!("{ELSEWHERE}: {FIRST}")))
                    }
                    Places::Called(_) | Places::Differ | Places::Untold => {
                        (command.to_owned(), None)
                    }
                };
                let others = || self.calls.calls_any(&OF_TYPES);
                let is_called = || self.calls.calls_any(&["mypy", "dmypy"]).is_some();
                let lacking = match package {
                    "mypy" => self.lacks_for_types(&command),
                    _ => None,
                };
                let instead = match package {
                    "mypy" if !is_called() => others(),
                    _ => None,
                };
                let instead = instead
                    .map(|other| format!("the project calls {other}, and not mypy: {FIRST}"));
                let goal = self
                    .runs(role, id, &command, package)
                    .says(says)
                    .seen_in(seen);
                let goal = held(goal, why.or(instead).as_deref());
                let goal = self.held_for_modules(goal, &command, package, lacking.as_deref());
                goals.push(goal);
            }
        };
        let seen_ruff = self.configured("ruff", &["ruff.toml", ".ruff.toml"]);
        let formatters = self.formatters(seen_ruff.as_ref(), found);
        add(
            (Role::Lint, "ruff-clean"),
            match ruff::fixes_by(self.look, self.home) {
                Some(_) => "ruff check --no-fix",
                None => "ruff check",
            },
            "ruff",
            "ruff finds nothing",
            seen_ruff,
        );
        add(
            (Role::Format, "fmt-clean"),
            "ruff format --check",
            "ruff",
            "Every file is formatted",
            formatters.ruff,
        );
        let mypy = self.configured("mypy", &["mypy.ini", ".mypy.ini"]);
        add(
            (Role::Types, "types-fit"),
            if self.tells_mypy_files() {
                "mypy"
            } else {
                "mypy ."
            },
            "mypy",
            "Types fit",
            mypy,
        );
        add(
            (Role::Types, "pyright-clean"),
            "pyright",
            "pyright",
            "pyright finds nothing",
            self.configured("pyright", &["pyrightconfig.json"]),
        );
        add(
            (Role::Lint, "flake8-clean"),
            "flake8",
            "flake8",
            "flake8 finds nothing",
            self.configured("flake8", &[".flake8"]),
        );
        add(
            (Role::Lint, "pylint-clean"),
            "pylint .",
            "pylint",
            "pylint finds nothing",
            self.pylint(),
        );
        add(
            (Role::Format, "black-clean"),
            match self.looks_into_venvs("black", "exclude", "extend-exclude") {
                true => r"black --check --quiet --extend-exclude '/\.?venv/' .",
                false => "black --check --quiet .",
            },
            "black",
            "Every file is formatted by black",
            formatters.black,
        );
        add(
            (Role::Style, "imports-sorted"),
            match self.looks_into_venvs("isort", "skip", "extend_skip") {
                true => "isort --check-only --quiet --extend-skip .venv --extend-skip venv .",
                false => "isort --check-only --quiet .",
            },
            "isort",
            "Imports are sorted",
            self.configured("isort", &[".isort.cfg"]),
        );
        add(
            (Role::Structure, "imports-allowed"),
            "lint-imports",
            "import-linter",
            "Modules import only what they may",
            self.configured("importlinter", &[".importlinter"]),
        );
        found.proposals.extend(goals);
    }

    /// Returns where pylint is configured.
    pub(super) fn pylint(&self) -> Option<String> {
        let own = self.configured("pylint", &[".pylintrc", "pylintrc"]);
        own.filter(|_| self.is_python())
    }

    /// Proposes pylint alone, of Python files that no project's file stands beside.
    pub(super) fn pylint_alone(&self) -> Option<Proposal> {
        let goal = self.runs(Role::Lint, "pylint-clean", PYLINT, "pylint");
        let seen = self.pylint()?;
        Some(goal.says("pylint finds nothing").seen_in(seen))
    }

    /// Chooses the formatter: the one that the project calls itself, be it by both, else the one that is configured.
    fn formatters(&self, seen_ruff: Option<&String>, found: &mut Found) -> Formatters {
        let formats = |ruff: &Value| ruff.get("format").is_some();
        let configured = Formatters {
            black: self.configured("black", &[]),
            ruff: seen_ruff
                .filter(|_| self.tool("ruff").is_some_and(formats))
                .cloned(),
        };
        let called = self.calls.formatting();
        let (by_black, by_ruff) = match &called {
            Some(called) => (called.by_black, called.by_ruff),
            // What is configured for both and called nowhere is told by what the project needs.
            None if configured.black.is_some() && configured.ruff.is_some() => {
                let by_black = self.names("black") && !self.names("ruff");
                (by_black, !by_black)
            }
            None => (configured.black.is_some(), configured.ruff.is_some()),
        };
        let place = called.map(|called| called.place.to_owned());
        // Those of tox, nox and hooks are goals of their own.
        let is_by_hand = |place: &String| matches!(place.as_str(), "CI" | "its recipes");
        let by_command = place.clone().filter(is_by_hand);
        let instead = place.filter(|_| by_command.is_some() || configured.black.is_some());
        let black = configured.black.clone().or(by_command);
        let ruff = configured.ruff.clone();
        let chosen = Formatters {
            black: black.filter(|_| by_black),
            ruff: ruff.or(seen_ruff.cloned()).or(instead).filter(|_| by_ruff),
        };
        let other = match (&chosen.black, &chosen.ruff) {
            (None, None) => return configured,
            (Some(_), None) => configured.ruff.map(|source| (source, "black-clean")),
            (None, Some(_)) => configured.black.map(|source| (source, "fmt-clean")),
            (Some(_), Some(_)) => None,
        };
        if let Some((source, id)) = other {
            found.leave_out(format!("{source}: {id} is there for that"));
        }
        chosen
    }

    /// Says whether a tool looks into the project's own environment, as its configuration passes by other places in place of those that
    /// the tool passes by itself, and by no more.
    fn looks_into_venvs(&self, tool: &str, instead: &str, more: &str) -> bool {
        let of_table = |key: &str| Some(self.tool(tool)?.get(key)?.to_string());
        let read = |name: &str, section: &str, key: &str| {
            let text = self.look.read(&join(self.home, name)).unwrap_or_default();
            let values = ini::values(&text, section, key).join(" ");
            Some(values).filter(|values| !values.is_empty())
        };
        let value = |key: &str| {
            of_table(key)
                .or_else(|| read(".isort.cfg", "settings", key).filter(|_| tool == "isort"))
                .or_else(|| read("setup.cfg", tool, key))
        };
        value(more).is_none() && value(instead).is_some_and(|places| !places.contains("venv"))
    }
}
