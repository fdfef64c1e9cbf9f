//! `evolve search` and what belongs to it.

mod agent;
mod apply;
mod ask;
mod baseline;
mod init;
mod look;
mod options;
mod place;
mod plan;
mod start;
mod steer;
mod tell;

pub(super) use options::{SearchAction, SearchCommand};
pub(super) use plan::mistyped;

use crate::cli::options::Global;
use crate::error::Result;

/// Does what was asked for; returns the exit code.
pub(super) fn search(global: &Global, command: &SearchCommand) -> Result<u8> {
    match &command.action {
        None => start::begin(global, &command.options),
        Some(SearchAction::Init(options)) => init::init(global, options),
        Some(SearchAction::Resume(options)) => start::resume(global, options),
        Some(SearchAction::Note { words }) => steer::note(global, words),
        Some(SearchAction::Prune { id }) => steer::prune(global, *id),
        Some(SearchAction::Stop) => steer::stop(global),
        Some(SearchAction::Apply(options)) => apply::apply(global, options),
        Some(SearchAction::Board(options)) => look::board(global, options),
        Some(SearchAction::Status(options)) => look::status(global, options),
        Some(SearchAction::Show(options)) => look::show(global, options),
        Some(SearchAction::Diff(options)) => look::diff(global, options),
        Some(SearchAction::Report(options)) => look::report(global, options),
        Some(SearchAction::Discard) => start::discard(global),
        Some(SearchAction::Export { out, which }) => steer::export(global, out.as_ref(), *which),
    }
}
