//! A copy that somebody removes while it is in use. Whoever removes copies begins anywhere in them, and comes to what tells of it
//! (`Isolation::refuse_gone`) a moment later; until then what is gone looks like the agent's work, or has git fail.

use std::time::Duration;

use super::{Cut, Session};
use crate::error::Error;

/// How long it is waited for that: a tree of usual size is gone by then.
const MOMENT: Duration = Duration::from_millis(200);

impl Session {
    /// Looks whether the copy that the agent worked in is being removed; to be asked before its work is condemned.
    pub async fn look_for_removal(&self) -> Option<Error> {
        let isolation = self.isolation.as_ref()?;
        if isolation.refuse_gone().is_ok() {
            tokio::time::sleep(MOMENT).await;
        }
        isolation.refuse_gone().err()
    }

    /// Returns what cut a cycle short: the removal, where something failed because of it.
    pub async fn cause_of(&self, cut: Cut) -> Cut {
        match cut {
            Cut::Failed(error) if !error.is_halt() => {
                Cut::Failed(self.look_for_removal().await.unwrap_or(error))
            }
            cut => cut,
        }
    }
}
