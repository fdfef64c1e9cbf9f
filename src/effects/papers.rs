//! What is left of what a recorded cycle's agent was told and of what it printed. Reads within bounds, and follows no link.

use std::path::{Path, PathBuf};

use crate::effects::files;
use crate::model::record::Record;

/// The most bytes of an agent's log that are shown, from its end: a character has up to four, and colours are cleaned away.
pub const LOG_SHOWN: u64 = 64 << 10;
/// The most bytes of a brief that are read; none that is written is larger.
pub const BRIEF_SHOWN: u64 = 1 << 20;

/// Text of a file that was written when a cycle ran, and where it is.
#[derive(Clone, Debug)]
pub struct Paper {
    /// The file.
    pub path: PathBuf,
    /// What it says, or the end of that.
    pub text: String,
}

/// The papers of a cycle.
#[derive(Clone, Debug, Default)]
pub struct Papers {
    /// What its agent was told.
    pub brief: Option<Paper>,
    /// The end of what it printed the last time it was called.
    pub log: Option<Paper>,
}

/// Reads what is left of a recorded cycle's papers. An undo that somebody asked for has no brief: git was given a command.
pub fn papers(private: &Path, record: &Record) -> Papers {
    let Some(session) = &record.session else {
        return Papers::default();
    };
    let mut papers = papers_of(private, session, record.cycle);
    if record.is_undo() {
        papers.brief = None;
        papers.log.take_if(|log| log.text.trim().is_empty());
    }
    papers
}

/// Returns the log that the agent of a cycle writes to or wrote to last, if there is one.
pub fn log_of(private: &Path, session: &str, cycle: u64) -> Option<PathBuf> {
    papers_of(private, session, cycle).log.map(|log| log.path)
}

fn papers_of(private: &Path, session: &str, cycle: u64) -> Papers {
    let folder = private.join("logs").join(session);
    if !is_session(session) || !files::is_beneath(private, format!("logs/{session}/x").as_bytes()) {
        return Papers::default();
    }
    let paper = |name: String, text: &dyn Fn(&Path) -> Option<String>| {
        let path = folder.join(name);
        let text = text(&path)?;
        Some(Paper { path, text })
    };
    let brief = |path: &Path| {
        let bytes = files::read_bounded(path, BRIEF_SHOWN).ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let end = |path: &Path| {
        let bytes = files::read_end(path, LOG_SHOWN).ok()??;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    // An agent that could not run is called again, and writes to the next one.
    let calls = (2..).map(|call| format!("{cycle}-agent-{call}.log"));
    let logs = std::iter::once(format!("{cycle}-agent.log")).chain(calls);
    Papers {
        // No `.md`: linters of these look into `.git`, too.
        brief: paper(format!("{cycle}-brief.txt"), &brief),
        log: logs.map_while(|name| paper(name, &end)).last(),
    }
}

/// Says whether a word can be the name of a session: it stands in paths.
fn is_session(word: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    !word.is_empty() && word.len() <= 100 && word.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_a_session_as_they_are_called_leads_to_files() {
        assert!(is_session("20260203T040506Z-1a2b"));
        for word in ["", "..", "a/b", "a b", "../../etc", &"a".repeat(101)] {
            assert!(!is_session(word), "{word}");
        }
    }

    #[test]
    fn the_log_is_that_of_the_last_call_and_begins_with_a_whole_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let logs = folder.path().join("logs/s");
        fs::create_dir_all(&logs).expect("a folder");
        let log = || papers_of(folder.path(), "s", 1).log.map(|paper| paper.text);
        assert_eq!(log(), None);
        fs::write(logs.join("1-agent.log"), "first\n").expect("a file");
        assert_eq!(log().as_deref(), Some("first\n"));
        fs::write(logs.join("1-agent-2.log"), "0123456789\n".repeat(10_000)).expect("a file");
        let end = log().expect("a log");
        assert!(end.starts_with("0123456789\n") && end.len() as u64 <= LOG_SHOWN);
    }
}
