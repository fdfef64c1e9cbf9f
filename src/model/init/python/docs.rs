//! Documentation that Sphinx or MkDocs builds, be it of a project of Python or of any other. Pure.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::super::offer::{Proposal, Role};
use super::super::{has, join, split};
use super::Project;
use super::installed::By;
use crate::model::text::shell_word;

/// Where Sphinx is configured.
const OF_SPHINX: [&str; 5] = [
    "docs/conf.py",
    "doc/conf.py",
    "docs/source/conf.py",
    "doc/source/conf.py",
    "docs/src/conf.py",
];
/// Where MkDocs is.
const OF_MKDOCS: [&str; 2] = ["mkdocs.yml", "mkdocs.yaml"];
/// Lists of the packages that documentation is made with.
const OF_DOCS: [&str; 6] = [
    "docs/requirements.txt",
    "doc/requirements.txt",
    "requirements/docs.txt",
    "requirements-docs.txt",
    "requirements_docs.txt",
    "docs-requirements.txt",
];
/// What extras and groups for it are called.
const FOR_DOCS: [&str; 3] = ["docs", "doc", "documentation"];
/// The extensions that Sphinx is told to load.
static EXTENSIONS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^extensions\s*\+?=\s*\[(?<all>[^\]]*)\]")
        .expect("BUG: a pattern of ours is no pattern")
});
/// A name of a module in quotes, not behind a `#`.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^[^#\n"']*["'](?<name>[A-Za-z_][\w.]*)["']"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// A theme that is a module of this name.
static THEME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^html_theme\s*=\s*["'](?<name>furo|\w*theme\w*)["']"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// The theme of MkDocs that most have, and that is a module.
static MATERIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?m)^(?:theme:[ \t]*|theme:[ \t]*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*)["']?material\b"#,
    )
    .expect("BUG: a pattern of ours is no pattern")
});

impl Project<'_> {
    /// Proposes that its documentation builds, into a folder that is nobody's; for later where what it is made with is not installed.
    pub(super) fn docs(&self) -> Option<Proposal> {
        let there = |names: &[&'static str]| {
            let mut names = names.iter().copied();
            names.find(|name| self.has_file(name))
        };
        let (command, package, seen, by) = match (there(&OF_MKDOCS), there(&OF_SPHINX)) {
            (Some(seen), _) => (
                // Not `--quiet`: it hides the warnings from what counts them for `--strict`.
                "mkdocs build --strict --site-dir".to_owned(),
                "mkdocs",
                seen,
                By::MkDocs,
            ),
            (None, Some(seen)) => (
                format!("sphinx-build -W -q {}", split(seen).0),
                "sphinx",
                seen,
                By::Sphinx,
            ),
            (None, None) => return None,
        };
        let path = join(self.home, seen);
        let command = format!("{command} \"$(mktemp -d)\"");
        let goal = self
            .runs(Role::Docs, "docs-build", &command, package)
            .says("The documentation builds without a warning")
            .seen_in(&path);
        if goal.missing.is_some() {
            return Some(goal);
        }
        let text = self.look.read(&path).unwrap_or_default();
        let lacks = self.asked(by).and_then(|program| {
            let mut modules = self.loaded(by, &text).into_iter();
            modules.find(|module| !self.look.imports(&program, module))
        });
        let why = lacks.map(|module| {
            let what = self.for_docs().unwrap_or_else(|| package_of(&module));
            format!("{module} is not installed: {} install {what}", self.pip())
        });
        Some(self.held_for_modules(goal, &command, package, why.as_deref()))
    }

    /// Returns the modules of others that are loaded by what a configuration says.
    fn loaded(&self, by: By, text: &str) -> Vec<String> {
        if by == By::MkDocs {
            return MATERIAL
                .is_match(text)
                .then(|| "material".to_owned())
                .into_iter()
                .collect();
        }
        let files = self
            .look
            .files()
            .iter()
            .filter(|path| path.ends_with(".py"));
        let own: HashSet<&str> = files
            .flat_map(|path| path.trim_end_matches(".py").split('/'))
            .collect();
        let extensions = EXTENSIONS.captures_iter(text);
        let listed = extensions.flat_map(|it| {
            let all = it["all"].replace(',', "\n");
            let names = NAME.captures_iter(&all).map(|it| it["name"].to_owned());
            names.collect::<Vec<_>>()
        });
        let theme = THEME.captures_iter(text).map(|it| it["name"].to_owned());
        let named = listed.chain(theme).map(|name| {
            let mut parts = name.split('.');
            let first = parts.next().unwrap_or_default();
            // Sphinx itself brings some of these.
            match (first, parts.next()) {
                ("sphinxcontrib", Some(second)) => format!("{first}.{second}"),
                _ => first.to_owned(),
            }
        });
        named
            .filter(|name| name != "sphinx" && !own.contains(name.as_str()))
            .collect()
    }

    /// Returns what pip is told to install so that the documentation can be built, where the project says that.
    pub(super) fn for_docs(&self) -> Option<String> {
        let lists = OF_DOCS.map(|name| join(self.home, name));
        if let Some(list) = lists.iter().find(|path| has(self.look, path)) {
            return Some(format!("--requirement {}", shell_word(list)));
        }
        let cfg = self
            .look
            .read(&join(self.home, "setup.cfg"))
            .unwrap_or_default();
        self.with_extra_of(&FOR_DOCS, &cfg)
    }
}

/// Returns the package that brings a module of MkDocs or Sphinx.
fn package_of(module: &str) -> String {
    match module {
        "material" => "mkdocs-material".to_owned(),
        "myst_parser" => "myst-parser".to_owned(),
        module => module.replace(['.', '_'], "-"),
    }
}
