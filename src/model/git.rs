//! What decisions have to know of git: its settings as text, what it does to bytes and modes, and whose the movements of its refs
//! are.

pub mod compared;
pub mod config;
pub mod conversion;
pub mod movement;
pub mod patch;
pub mod sharing;
pub mod whose;
