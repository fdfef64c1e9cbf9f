//! Django, as a project's manage.py runs it: its tests, its own look at the project, and whether migrations lack a change. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::super::offer::{Proposal, Role};
use super::super::{is_own, is_within, join, split};
use super::installed::By;
use super::{Project, TESTS_READ, held};

/// By what Django is run.
pub(super) const MANAGE: &str = "manage.py";
/// The module of settings that manage.py names.
static SETTINGS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"DJANGO_SETTINGS_MODULE["']\s*,\s*["'](?<name>[\w.]+)["']"#)
        .expect("BUG: a pattern of ours is no pattern")
});

/// Says whether a manage.py of this text is Django's.
pub(super) fn is_django(manage: &str) -> bool {
    manage.contains("django")
}

impl Project<'_> {
    /// Returns the text of manage.py, if it is Django's.
    fn manage(&self) -> Option<String> {
        let text = self.look.read(&join(self.home, MANAGE))?;
        (self.has_file(MANAGE) && is_django(&text)).then_some(text)
    }

    /// Proposes the tests that Django finds and runs itself, unless pytest is set up for them.
    pub(super) fn django_tests(&self, has_pytest: bool) -> Option<Proposal> {
        let manage = self.manage()?;
        if has_pytest || self.names("pytest-django") {
            return None;
        }
        let is_test = |path: &&String| {
            let name = split(path).1;
            let is_named = name.starts_with("test") && name.ends_with(".py");
            is_named && is_within(path, self.home) && is_own(path)
        };
        let tests = self.look.files().iter().filter(is_test).take(TESTS_READ);
        let tests: Vec<&String> = tests.collect();
        let first = self.of_unittest(&tests)?;
        let goal = self
            .runs_python(Role::Test, "tests-pass", &format!("{MANAGE} test"))
            .says("All tests pass")
            .seen_in(first)
            .same_as(&["manage.py test", "pytest", "tox -e py"]);
        let why = self.lacks_for_django(&manage, &tests);
        Some(held(goal, why.as_deref()))
    }

    /// Proposes what Django looks at besides its tests.
    pub(super) fn django(&self) -> Vec<Proposal> {
        let Some(manage) = self.manage() else {
            return Vec::new();
        };
        let is_migration = |path: &&String| {
            let folder = split(path).0;
            split(folder).1 == "migrations" && path.ends_with(".py")
        };
        let files = self.look.files().iter();
        let mut own = files.filter(|path| is_within(path, self.home) && is_own(path));
        let migration = own.find(is_migration).map(|path| split(path).0);
        let seen = join(self.home, MANAGE);
        let check = self
            .runs_python(Role::Lint, "django-clean", &format!("{MANAGE} check"))
            .says("Django's own check finds nothing")
            .seen_in(&seen)
            .same_as(&["manage.py check"]);
        let migrations = migration.map(|folder| {
            let command = format!("{MANAGE} makemigrations --check --dry-run");
            self.runs_python(Role::Structure, "migrations-complete", &command)
                .says("Migrations lack no change of the models")
                .seen_in(format!("{seen}, {folder}"))
                .same_as(&["manage.py makemigrations"])
        });
        let why = self.lacks_for_django(&manage, &[]);
        let all = std::iter::once(check).chain(migrations);
        all.map(|goal| held(goal, why.as_deref())).collect()
    }

    /// Says why Django cannot run: it is not there, or what its settings or these tests import is not.
    fn lacks_for_django(&self, manage: &str, tests: &[&String]) -> Option<String> {
        let program = self.found(By::Unittest)?;
        if !self.look.imports(&program, "django") {
            let install = self.installing(Some("django"), false);
            let install = install.unwrap_or_else(|| format!("{} install django", self.pip()));
            return Some(format!("django is not installed: {install}"));
        }
        let settings = SETTINGS.captures(manage).map(|found| {
            let path = found["name"].replace('.', "/");
            join(self.home, &format!("{path}.py"))
        });
        let files: Vec<&String> = settings.iter().chain(tests.iter().copied()).collect();
        self.not_installed(&files, By::Unittest)
    }
}
