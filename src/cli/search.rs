//! `evolve search` and what belongs to it.

mod look;
mod options;
mod start;

pub(super) use options::{SearchAction, SearchCommand};

use crate::cli::arguments::Global;
use crate::error::Result;

/// Does what was asked for; returns the exit code.
pub(super) fn search(global: &Global, command: &SearchCommand) -> Result<u8> {
    match &command.action {
        None => start::begin(global, &command.options),
        Some(SearchAction::Resume(running)) => start::resume(global, running),
        Some(SearchAction::Board { json }) => look::board(global, *json),
        Some(SearchAction::Discard) => start::discard(global),
    }
}
