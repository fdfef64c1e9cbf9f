//! Who watches a session, and how: a person at a terminal, a person who reads it later, a program.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::signal::unix::SignalKind;

use super::options::{Global, Progress};
use super::print;
use crate::effects::{clock, pause, stop};
use crate::error::{Error, Result};
use crate::event::{self, Event, Events};
use crate::view::github::Groups;
use crate::view::live::{self, Live, Screen};
use crate::view::plain::{Detail, Printer, Stream};
use crate::view::{echo, json, width};

/// How often it is looked whether something else is to be seen, such as the next second.
const LOOK: Duration = Duration::from_millis(200);
/// How long the end of a session waits for a terminal that does not keep its size.
const PATIENCE: Duration = Duration::from_secs(1);

/// Who watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watcher {
    /// A program: one event a line.
    Program,
    /// A person, with what was asked for.
    Person(Option<Progress>),
}

/// What is said to those who watch.
#[derive(Debug)]
pub struct Watched {
    /// Where events go.
    pub events: Events,
    /// What goes on is drawn: each check is worth telling.
    pub is_live: bool,
    listener: JoinHandle<()>,
}

impl Watched {
    /// Waits until everything was told.
    pub fn end(self) {
        drop(self.events);
        self.listener.thread().unpark();
        let _ = self.listener.join();
    }
}

/// How lines stand where they go to no terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    /// As they are.
    Bare,
    /// Each with its time.
    Timed,
    /// In the log of a job of GitHub Actions, which knows the times itself: each cycle is a group.
    Grouped,
}

/// Starts whoever watches.
pub fn watch(global: &Global, watcher: Watcher, log: Log) -> Result<Watched> {
    let (sender, receiver) = mpsc::channel::<Event>();
    let is_live = is_live(global, watcher)?;
    let detail = detail(global, watcher, is_live);
    let groups = (log == Log::Grouped && !global.quiet).then(Groups::default);
    let listener = move || match watcher {
        Watcher::Program => event::listen(&receiver, |event| {
            // What cannot be told does not end the run.
            print::note(json::print(
                &mut std::io::stdout(),
                &event,
                &clock::timestamp(),
            ));
        }),
        Watcher::Person(_) => {
            let (mut out, mut err) = (anstream::stdout(), anstream::stderr());
            let stamp = |is_terminal: bool| {
                (log == Log::Timed && !is_terminal).then_some(clock::timestamp as fn() -> _)
            };
            let out = Stream {
                stamp: stamp(std::io::stdout().is_terminal()),
                width: width::of_terminal,
                to: &mut out,
            };
            let err = Stream {
                stamp: stamp(std::io::stderr().is_terminal()),
                width: width::of_stderr,
                to: &mut err,
            };
            let printer = Printer::new(detail, out, err);
            match is_live {
                true => tell_live(&receiver, printer),
                false => {
                    stop::at_signal(leave_echoed_line);
                    tell(&receiver, printer, groups);
                }
            }
        }
    };
    let listener = std::thread::Builder::new()
        .spawn(listener)
        .map_err(|cause| Error::internal(format!("cannot start a thread: {cause}")).advised())?;
    Ok(Watched {
        events: Events::to(sender),
        is_live,
        listener,
    })
}

/// Says whether what goes on is drawn.
fn is_live(global: &Global, watcher: Watcher) -> Result<bool> {
    let is_dumb = || std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let has_terminal = || std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    let wanted = match watcher {
        Watcher::Program => return Ok(false),
        Watcher::Person(wanted) => wanted.unwrap_or_default(),
    };
    match wanted {
        Progress::Plain | Progress::None => Ok(false),
        Progress::Live if !has_terminal() => {
            let error = Error::usage("--progress live needs a terminal on stdout and stderr");
            Err(error.hint("`--progress plain` writes a line for each step"))
        }
        Progress::Live => Ok(!global.quiet),
        // A CI system that lends a terminal keeps every frame in its log; traces would be drawn over.
        Progress::Auto => {
            let is_ci = std::env::var_os("CI").is_some();
            let is_wanted = !global.quiet && global.verbose < 2;
            Ok(is_wanted && !is_ci && !is_dumb() && has_terminal())
        }
    }
}

fn detail(global: &Global, watcher: Watcher, is_live: bool) -> Detail {
    match (global.quiet, global.verbose) {
        (true, _) => Detail::Quiet,
        (false, 1..) => Detail::Verbose,
        (false, 0) if watcher == Watcher::Person(Some(Progress::None)) => Detail::Results,
        (false, 0) if is_live => Detail::Ended,
        (false, 0) => Detail::Normal,
    }
}

fn tell(receiver: &Receiver<Event>, mut printer: Printer<'_>, mut groups: Option<Groups>) {
    event::listen(receiver, |event| {
        let mut lines = printer.lines(&event);
        if let Some(groups) = &mut groups {
            lines = groups.lines(&event, lines);
        }
        print::note(printer.print(&lines));
    });
}

/// Begins a new line where the terminal shows the Ctrl-C that was typed: what is told next would stand behind it.
fn leave_echoed_line(signal: SignalKind) {
    if signal == SignalKind::interrupt() && echo::is_shown() {
        print::note(std::io::stderr().write_all(b"\n"));
    }
}

/// Has a panic take away what is drawn, and speak on a line of its own.
fn restore_in_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        live::restore();
        before(panic);
    }));
}

fn tell_live(receiver: &Receiver<Event>, mut printer: Printer<'_>) {
    restore_in_panic();
    stop::before_exit(live::restore);
    stop::at_signal(|_| echo::show_for_good());
    pause::around(live::suspend, live::resume);
    let screen = Screen {
        out: Arc::new(Mutex::new(std::io::stderr())),
        size: width::of_screen,
        has_styles: anstream::AutoStream::choice(&std::io::stderr())
            != anstream::ColorChoice::Never,
        has_progress: anstyle_progress::supports_term_progress(true),
        has_echo: true,
    };
    let mut live = Live::on(screen, Instant::now());
    let mut lines = Vec::new();
    loop {
        let received = receiver.recv_timeout(LOOK);
        let is_over = matches!(received, Err(RecvTimeoutError::Disconnected));
        for event in received.into_iter().chain(receiver.try_iter()) {
            live.take(&event, Instant::now());
            lines.extend(printer.lines(&event));
        }
        let told = Instant::now();
        while is_over && !live.is_calm(Instant::now()) && told.elapsed() < PATIENCE {
            std::thread::sleep(event::REST);
        }
        if !lines.is_empty() && (is_over || live.is_calm(Instant::now())) {
            let lines = std::mem::take(&mut lines);
            live.above(|| print::note(printer.print(&lines)));
        }
        if is_over {
            break live.close();
        }
        live.draw(Instant::now());
        std::thread::sleep(event::REST);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::view::board::Size;

    /// Says to the program of these tests, which is started once more, that it is to draw and panic.
    const IS_CHILD: &str = "DRAWS_AND_PANICS";
    const NAME: &str = "cli::watch::tests::a_panic_takes_away_what_is_drawn_and_is_seen_whole";

    fn draw_and_panic() {
        restore_in_panic();
        let screen = Screen {
            out: Arc::new(Mutex::new(std::io::stderr())),
            size: || Size {
                lines: 24,
                columns: 80,
            },
            has_styles: true,
            has_progress: true,
            has_echo: false,
        };
        let began = Instant::now();
        let mut live = Live::on(screen, began);
        let measuring = Event::MeasureStarted {
            checks: 2,
            longest_id: 0,
            purpose: "after",
        };
        live.take(&measuring, began);
        let started = Event::CheckStarted {
            goal_id: "drawn-goal".to_owned(),
            expected_s: None,
        };
        live.take(&started, began);
        live.draw(began + Duration::from_secs(2));
        panic!("a bug of ours");
    }

    #[test]
    fn a_panic_takes_away_what_is_drawn_and_is_seen_whole() {
        if std::env::var_os(IS_CHILD).is_some() {
            draw_and_panic();
        }
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let reader = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&reader).unwrap();
        unlockpt(&reader).unwrap();
        let name = ptsname(&reader, Vec::new()).unwrap();
        let mut options = std::fs::File::options();
        let device = options
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture", "--test-threads=1"])
            .env(IS_CHILD, "1")
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::null())
            .stderr(Stdio::from(device))
            .spawn()
            .unwrap();
        assert!(!child.wait().unwrap().success());
        let mut bytes = Vec::new();
        // Once nobody has the other end, there is an error.
        let _ = std::fs::File::from(reader).read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains("drawn-goal"), "nothing was drawn: {text:?}");
        let mut screen = vt100::Parser::new(
            std::num::NonZero::new(24).unwrap(),
            std::num::NonZero::new(80).unwrap(),
            0,
        );
        screen.process(&bytes);
        let seen = screen.screen().contents();
        assert!(seen.contains("a bug of ours"), "{seen}");
        assert!(!seen.contains("drawn-goal"), "{seen}");
        let told = text.rfind("\x1b]9;4;").map(|at| &text[at..at + 7]);
        assert_eq!(told, Some("\x1b]9;4;0"), "{text:?}");
    }
}
