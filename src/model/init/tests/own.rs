//! What a project says itself is what counts: its own calls, its own tests, what its targets only call.

use super::*;

#[test]
fn the_id_of_a_step_is_a_few_telling_words() {
    for (text, expected) in [
        ("Run tests", "run-tests"),
        ("cargo fmt -- --check", "cargo-fmt-check"),
        (
            "Ensure we can import attr and attrs packages",
            "import-attr-attrs-packages",
        ),
        (
            "uvx --with=tox-uv --python $(cat .python-version) tox run -e lint",
            "tox-lint",
        ),
        (
            ".venv/bin/python -Ic 'import structlog; print(structlog.__version__)'",
            "python-import-structlog",
        ),
        (
            "Run clippy (on minimum supported rust version to prevent warnings we can't fix)",
            "clippy-minimum-supported-rust",
        ),
        (
            "Supercalifragilisticexpialidociousness",
            "supercalifragilisticexpialidoc",
        ),
        ("if the on and of to by we", "if-the-on-and-of-to-by-we"),
    ] {
        assert_eq!(offer::short(text), expected);
    }
}
