//! Processes that try to outlive the run.
