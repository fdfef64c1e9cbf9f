//! Sources of Python that an undo writes anew. Python tells by the whole second and the size whether what it compiled is of the same
//! source (PEP 552): where the agent's version has both, what was compiled of that would go on being run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::effects::files;
use crate::effects::repo::Difference;

/// Waits until what is written bears a later second than these files have now; a second at most, and only where there are such.
pub(super) fn outlast(root: &Path, content: &[Difference]) {
    let sources = content.iter().filter(|one| one.path.ends_with(b".py"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let is_of_now = |one: &Difference| {
        let written = files::seconds_of(&root.join(OsStr::from_bytes(&one.path)));
        written.is_ok_and(|second| u64::try_from(second) == Ok(now.as_secs()))
    };
    if sources.into_iter().any(is_of_now) {
        // A tick of the kernel's clock, by which files are dated, is a few milliseconds.
        let next = Duration::from_secs(now.as_secs() + 1) + Duration::from_millis(10);
        thread::sleep(next - now);
    }
}
