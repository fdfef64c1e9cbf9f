//! The words of names by which something checks, builds or does more. Pure.

use crate::model::init::checkers::CHECKERS;

/// Words by which something checks or builds.
const VERBS: &[&str] = &[
    "acceptance",
    "all",
    "analyse",
    "analysis",
    "analyze",
    "audit",
    "bandit",
    "breaking",
    "build",
    "builds",
    "check",
    "checking",
    "checks",
    "checkstyle",
    "clippy",
    "codestyle",
    "compile",
    "compiles",
    "conformance",
    "cov",
    "coverage",
    "credo",
    "deny",
    "dialyzer",
    "doc",
    "docs",
    "doctest",
    "doctests",
    "documentation",
    "e2e",
    "fmt",
    "format",
    "formatting",
    "html",
    "integration",
    "license",
    "licenses",
    "links",
    "lint",
    "linter",
    "linters",
    "linting",
    "machete",
    "miri",
    "nextest",
    "package",
    "quality",
    "sanity",
    "sast",
    "sdist",
    "self-test",
    "selftest",
    "smoke",
    "spec",
    "specs",
    "spell",
    "spelling",
    "static",
    "style",
    "t",
    "test",
    "testing",
    "tests",
    "type",
    "typecheck",
    "typechecking",
    "types",
    "typing",
    "udeps",
    "unit",
    "unittest",
    "unittests",
    "validate",
    "validation",
    "verification",
    "verify",
    "vet",
    "wheel",
];
/// How such words end.
const TELLS_BY_END: &[&str] = &[
    "build", "check", "checker", "checks", "lint", "linter", "test", "tests",
];
/// Words that end so and mean something else.
const EXCEPT: &[&str] = &[
    "attest", "contest", "fastest", "greatest", "harvest", "latest", "manifest", "newest",
    "oldest", "protest", "request", "splint",
];
/// Words in a name by which it does more, whatever else it says.
const HARMS: &[&str] = &[
    "apply",
    "bootstrap",
    "bump",
    "commit",
    "create",
    "db-reset",
    "delete",
    "deploy",
    "deps",
    "destroy",
    "down",
    "drop",
    "fixtures",
    "flash",
    "gen",
    "generate",
    "init",
    "install",
    "installs",
    "kill",
    "load",
    "login",
    "logout",
    "migrate",
    "move",
    "prepare",
    "provision",
    "prune",
    "publish",
    "purge",
    "push",
    "register",
    "release",
    "releases",
    "remove",
    "rename",
    "reset",
    "restart",
    "restore",
    "seed",
    "send",
    "serve",
    "server",
    "setup",
    "shutdown",
    "start",
    "stop",
    "submit",
    "sync",
    "tag",
    "teardown",
    "uninstall",
    "unpublish",
    "up",
    "update",
    "updates",
    "upgrade",
    "upload",
    "watch",
    "write",
];

/// Says whether a target, a task or a script's file is called as one that checks or builds, and as nothing else.
pub(super) fn is_called_a_check(name: &str) -> bool {
    is_verb_in(name) && !harms(name)
}

pub(super) fn is_verb_in(name: &str) -> bool {
    words_of(name).iter().any(|word| {
        let ends = TELLS_BY_END.iter().any(|end| word.ends_with(end));
        let word = word.as_str();
        VERBS.contains(&word) || CHECKERS.contains(&word) || ends && !EXCEPT.contains(&word)
    }) || CHECKERS.contains(&name)
}

pub(super) fn harms(name: &str) -> bool {
    words_of(name)
        .iter()
        .any(|word| HARMS.contains(&word.as_str()) || word.ends_with("install"))
}

/// Returns the words of a name: `check-links`, `checkLinks`, `check_links.sh`.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let begins = c.is_ascii_uppercase() && was_small;
        if begins || !c.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            last.push(c.to_ascii_lowercase());
        }
        was_small = c.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
