//! More context for a brief, from a tool of the user's: `ao inject`, if `ao` is installed.

use std::path::Path;
use std::time::Duration;

use crate::effects::process::{Ending, Job, Stdout, Supervisor, TAIL_BYTES};
use crate::effects::program;
use crate::effects::sandbox::Fence;
use crate::model::text;

/// How long the tool may take.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The most characters that are taken over.
const MOST: usize = 8_000;

/// Returns what `ao inject` prints at `root`; empty if there is no `ao`, or it fails. It is held back like a check.
pub async fn from_ao(
    supervisor: &Supervisor,
    fence: &Fence,
    root: &Path,
    logs: &Path,
    session: &str,
) -> String {
    let Some(ao) = program::ao() else {
        return String::new();
    };
    let ran = supervisor
        .run(Job {
            argv: fence.around(vec![ao.into(), "inject".into()]),
            folder: Some(root.to_owned()),
            env: fence.env.clone(),
            stdin: None,
            log: Some(logs.join("ao-inject.log")),
            log_limit: 1 << 20,
            timeout: TIMEOUT,
            idle_timeout: None,
            tail_limit: TAIL_BYTES,
            stdout: Stdout::Start(1 << 20),
            mark: format!("{session}/ao"),
        })
        .await;
    match ran.ending {
        Ending::Exited(0) => text::clean(&String::from_utf8_lossy(&ran.stdout))
            .trim()
            .chars()
            .take(MOST)
            .collect(),
        Ending::Exited(_)
        | Ending::Signalled(_)
        | Ending::TimedOut
        | Ending::Idle
        | Ending::Stopped
        | Ending::NotStarted(_) => String::new(),
    }
}
