//! The linters and formatters of a Python project, as they are configured. Pure.

use super::super::join;
use super::super::offer::{Proposal, Role};
use super::{Project, ruff};

impl Project<'_> {
    /// Proposes the tools that are configured.
    pub(super) fn tools(&self) -> Vec<Proposal> {
        let mut goals = Vec::new();
        let mut add = |(role, id): (Role, &str),
                       command: &str,
                       package: &str,
                       says: &str,
                       seen: Option<String>| {
            if let Some(seen) = seen {
                goals.push(
                    self.runs((role, id), command, package)
                        .says(says)
                        .seen_in(seen),
                );
            }
        };
        let seen_ruff = self.configured("ruff", &["ruff.toml", ".ruff.toml"]);
        let hooks = self
            .look
            .read(&join(self.home, ".pre-commit-config.yaml"))
            .unwrap_or_default();
        let ruff_formats = self
            .tool("ruff")
            .is_some_and(|ruff| ruff.get("format").is_some())
            || hooks.contains("id: ruff-format");
        add(
            (Role::Lint, "ruff-clean"),
            match ruff::fixes_by(self.look, self.home) {
                Some(_) => "ruff check --no-fix",
                None => "ruff check",
            },
            "ruff",
            "ruff finds nothing",
            seen_ruff.clone(),
        );
        add(
            (Role::Format, "fmt-clean"),
            "ruff format --check",
            "ruff",
            "Every file is formatted",
            seen_ruff.filter(|_| ruff_formats),
        );
        let mypy = self.configured("mypy", &["mypy.ini", ".mypy.ini"]);
        let own_files = ["files", "packages", "modules"];
        let says_files = self
            .tool("mypy")
            .is_some_and(|mypy| own_files.iter().any(|key| mypy.get(key).is_some()))
            || ["mypy.ini", ".mypy.ini", "setup.cfg"].iter().any(|name| {
                let text = self.look.read(&join(self.home, name)).unwrap_or_default();
                text.contains("[mypy]") && text.lines().any(|line| line.starts_with("files"))
            });
        add(
            (Role::Types, "types-fit"),
            if says_files { "mypy" } else { "mypy ." },
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
            (Role::Format, "black-clean"),
            "black --check --quiet .",
            "black",
            "Every file is formatted by black",
            self.configured("black", &[]),
        );
        add(
            (Role::Style, "imports-sorted"),
            "isort --check-only --quiet .",
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
        goals
    }
}
