//! A program that is run where there is no supervisor, and is not waited for without bound.

use std::io::Result as IoResult;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::send;

/// Runs a program and returns how it ended; none if it did not in its time, and is killed.
pub fn run_alone(mut command: Command, limit: Duration) -> IoResult<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let pid = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiting = thread::Builder::new().spawn(move || {
        let _ = sender.send(child.wait());
    });
    let ended = waiting.map(|_| receiver.recv_timeout(limit));
    match ended {
        Ok(Ok(status)) => status.map(Some),
        Ok(Err(_)) => {
            let _ = send(pid, Signal::SIGKILL);
            Ok(None)
        }
        Err(cause) => {
            let _ = send(pid, Signal::SIGKILL);
            Err(cause)
        }
    }
}
