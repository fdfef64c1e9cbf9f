//! Two things at once.

use std::sync::Mutex;
use std::thread;

use crate::error::Result;

/// Does two things at once, the first in a thread of its own; one after the other where no thread can be had.
pub fn side_by_side<A: Send, B>(
    one: impl FnOnce() -> Result<A> + Send,
    other: impl FnOnce() -> Result<B>,
) -> Result<(A, B)> {
    let one = Mutex::new(Some(one));
    let take = || {
        one.lock()
            .expect("BUG: a holder of the lock panicked")
            .take()
    };
    let run = || take().map(|one| one());
    thread::scope(|scope| {
        let beside = thread::Builder::new().spawn_scoped(scope, run);
        let other = other();
        let done = match beside {
            Ok(thread) => thread.join().expect("BUG: a thread panicked"),
            Err(_) => run(),
        };
        Ok((done.expect("BUG: it was done twice")?, other?))
    })
}
