//! What somebody types while a board is drawn: not shown, since it would move what is drawn from its place. It is kept for whoever
//! reads it afterwards, such as a shell.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

/// How the terminal was before; none while what is typed is shown.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
/// The program was asked to end: whoever started it may go on before it has, and takes the terminal as it finds it.
static OVER: AtomicBool = AtomicBool::new(false);

/// Has the terminal no longer show what is typed. Nothing is done where it is not ours at this moment: a program in the background
/// that changes its terminal is stopped by the kernel.
pub fn hide() {
    let mut before = lock();
    if before.is_some() || OVER.load(Ordering::SeqCst) || !is_ours() {
        return;
    }
    let Ok(found) = tcgetattr(io::stderr()) else {
        return;
    };
    if !found.local_modes.contains(LocalModes::ECHO) {
        return;
    }
    let mut quiet = found.clone();
    quiet.local_modes.remove(LocalModes::ECHO);
    // What is typed shows on a terminal that refuses; nothing else is lost.
    if tcsetattr(io::stderr(), OptionalActions::Now, &quiet).is_ok() {
        *before = Some(found);
    }
}

/// Has it show what is typed again, if it was `hide` that ended that. Never waits: a program that ends calls this.
pub fn show() {
    let mut before = match BEFORE.try_lock() {
        Ok(before) => before,
        Err(TryLockError::Poisoned(before)) => before.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    if !is_ours() {
        return;
    }
    if let Some(found) = before.take() {
        let _ = tcsetattr(io::stderr(), OptionalActions::Now, &found);
    }
}

/// Has it show what is typed from now on, whatever is drawn.
pub fn show_for_good() {
    OVER.store(true, Ordering::SeqCst);
    show();
}

/// Says whether the terminal that this program has in front shows the keys that end programs, as `^C`.
pub fn is_shown() -> bool {
    let shows = LocalModes::ECHO | LocalModes::ECHOCTL;
    is_ours() && tcgetattr(io::stderr()).is_ok_and(|found| found.local_modes.contains(shows))
}

/// Says whether this program is the one that the terminal belongs to now, and not one in its background.
fn is_ours() -> bool {
    tcgetpgrp(io::stderr()).is_ok_and(|group| group == getpgrp())
}

fn lock() -> MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}
