//! Where a project has its own Python, with what it has installed.

/// The folders that a project's own environment may have.
pub(in crate::model::init) const VENVS: [&str; 2] = [".venv", "venv"];
