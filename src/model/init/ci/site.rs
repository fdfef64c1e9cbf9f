//! Whether a goal builds the site that a step of CI builds, into a folder that is nobody's in place of one of the repository's. Pure.

use std::sync::LazyLock;

use regex::Regex;

use super::same;

/// The folder that such a goal names.
const NOBODYS: &str = "--site-dir \"$(mktemp -d)\"";
/// What MkDocs is told of where it builds to, and of how much it says.
static MANNER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"\s(?:(?:--site-dir|-d)[ =](?:"\$\(mktemp -d\)"|[\w./-]+)|--clean\b|-c\b|--quiet\b|-q\b|--verbose\b|-v\b)"#,
    )
    .expect("BUG: a pattern of ours is no pattern")
});

/// Says whether the goal with this check is one for MkDocs that tells all that a step's tells, and leaves no site among the files.
pub(super) fn leaves_none(check: &str, step: &str) -> bool {
    let plainly = |check: &str| MANNER.replace_all(check, "").into_owned();
    let own = plainly(check);
    check.contains(NOBODYS) && same::is_run_by(&plainly(step), std::iter::once(&*own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_build_leaves_no_site_where_it_is_built_elsewhere() {
        let own = "mkdocs build --strict --site-dir \"$(mktemp -d)\"";
        for (check, step, expected) in [
            (own, "mkdocs build --strict", true),
            (own, "mkdocs build", true),
            (own, "mkdocs build -q --clean --strict -d public/docs", true),
            (own, "mkdocs build --site-dir=site --strict", true),
            (own, "mkdocs build --strict -f docs/mkdocs.yml", false),
            (own, "mkdocs build --strict\nhtmltest site", false),
            (own, "cd docs && mkdocs build", false),
            (own, "mkdocs gh-deploy", false),
            ("mkdocs build --strict", "mkdocs build --strict", false),
            (
                "uv run --locked mkdocs build --strict --site-dir \"$(mktemp -d)\"",
                "uv run mkdocs build --strict",
                true,
            ),
        ] {
            assert_eq!(leaves_none(check, step), expected, "{check}: {step}");
        }
    }
}
