//! What an agent says of itself, made fit to be shown and kept. Pure.

use crate::model::{mask, text};

/// How much of the agent's words for its failure is kept, in characters.
pub(super) const ERROR_CHARS: usize = 500;

/// The agent's own word for its failure.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// One line without secrets.
    pub message: String,
    /// The HTTP status.
    pub status: Option<u16>,
}

impl Failure {
    /// A status that the words leave out is put behind them.
    pub fn new(words: &str, status: Option<u16>) -> Failure {
        let mut message = shown(words, ERROR_CHARS);
        if let Some(status) = status.filter(|status| !message.contains(&status.to_string())) {
            message.push_str(&format!(" (HTTP {status})"));
        }
        Failure { message, status }
    }
}

/// Makes words of the agent fit to show: one line, no secrets, not long.
pub(super) fn shown(words: &str, most: usize) -> String {
    // Far more than is shown, so that a secret is not cut in two before it is found.
    let bounded: String = words.chars().take(most * 8).collect();
    text::cut(&mask::secrets(&text::clean_line(&bounded)), most)
}
