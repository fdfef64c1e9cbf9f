//! Random git histories, undone exactly.
