//! Draws the board at the end of a terminal, over and over at the same place, below what has been said for good.
//!
//! Cursor, wrapping and clearing are `indicatif`'s business; the terminal's own progress (OSC 9;4, as in a taskbar) is told in
//! the same stream.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use anstyle_progress::TermProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::event::Event;
use crate::view::board::{Board, Share, Size};
use crate::view::{echo, width};

/// What is over sooner than this is not drawn at all.
const PATIENCE: Duration = Duration::from_millis(400);

/// How long a terminal has kept its size when that is believed: who drags a window makes it many sizes, and some terminals are of
/// the next one before they say so.
const CALM: Duration = Duration::from_millis(400);

/// How often it is tried to take away what somebody draws at this moment.
const TRIES: usize = 20;

/// How wide each line is that is on the screen and has to be taken away again. Whoever draws holds it.
static SHOWN: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// The terminal was told of a progress.
static TOLD: AtomicBool = AtomicBool::new(false);
/// The program is about to end, or to be stopped: nothing more is drawn.
static OVER: AtomicBool = AtomicBool::new(false);
/// What was drawn was taken away by somebody else.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// What is drawn on.
#[derive(Clone)]
pub struct Screen {
    /// Where it goes.
    pub out: Arc<Mutex<dyn Write + Send>>,
    /// How large it is at this moment.
    pub size: fn() -> Size,
    /// Styles are to be seen on it.
    pub has_styles: bool,
    /// It shows a progress of its own.
    pub has_progress: bool,
    /// It is the terminal of stderr, which shows what is typed.
    pub has_echo: bool,
}

/// A board on a screen.
#[derive(Debug)]
pub struct Live {
    screen: Screen,
    board: Board,
    bar: ProgressBar,
    /// Nothing is drawn before.
    from: Instant,
    drawn: Vec<String>,
    /// How large the screen was when it was looked at last.
    size: Size,
    /// Since when it has been as large as that; none from the start.
    resized: Option<Instant>,
    /// The screen has had another size since the frame was drawn.
    is_broken: bool,
    told: Share,
}

impl Live {
    /// Begins with an empty board; nothing is drawn yet.
    pub fn on(screen: Screen, now: Instant) -> Live {
        let target = target(&screen);
        let style = ProgressStyle::with_template("{msg}").expect("BUG: the template is one field");
        Live {
            size: (screen.size)(),
            screen,
            board: Board::new(now),
            bar: ProgressBar::with_draw_target(None, target).with_style(style),
            from: now + PATIENCE,
            drawn: Vec::new(),
            resized: None,
            is_broken: false,
            told: Share::None,
        }
    }

    /// Takes in what happened.
    pub fn take(&mut self, event: &Event, now: Instant) {
        self.board.take(event, now);
    }

    /// Says whether the terminal keeps its size, so that it is known what a frame takes there. Nothing is to be said before.
    pub fn is_calm(&mut self, now: Instant) -> bool {
        let size = (self.screen.size)();
        if size != self.size {
            self.size = size;
            self.resized = Some(now);
            self.is_broken = true;
        }
        self.resized.is_none_or(|since| now >= since + CALM)
    }

    /// Has something said for good where the board is, which comes below it once it is drawn next: as it was, it may hold what is
    /// said now.
    pub fn above(&mut self, say: impl FnOnce()) {
        let mut shown = lock(&SHOWN);
        self.follow(&mut shown);
        if !self.drawn.is_empty() {
            self.clear(&mut shown);
        }
        say();
    }

    /// Draws what is to be seen now, if that is not what is drawn already.
    pub fn draw(&mut self, now: Instant) {
        let mut shown = lock(&SHOWN);
        if now < self.from || OVER.load(Ordering::SeqCst) || !self.is_calm(now) {
            return;
        }
        self.follow(&mut shown);
        self.tell(self.board.share());
        let mut lines = self.board.lines(now, (self.screen.size)());
        if !self.screen.has_styles {
            let bare = |line: &String| anstream::adapter::strip_str(line).to_string();
            lines = lines.iter().map(bare).collect();
        }
        if lines == self.drawn {
            return;
        }
        if self.screen.has_echo {
            echo::hide();
        }
        *shown = lines.iter().map(|line| width::shown(line)).collect();
        self.bar.set_message(lines.join("\n"));
        self.drawn = lines;
    }

    /// Takes the board away. That is done once the terminal keeps its size, see `is_calm`.
    pub fn close(mut self) {
        let mut shown = lock(&SHOWN);
        self.follow(&mut shown);
        if !self.drawn.is_empty() {
            self.bar.finish_and_clear();
        }
        shown.clear();
        self.tell(Share::None);
        echo::show();
    }

    /// Forgets a frame that was taken away, and takes one away that a terminal of another size has broken anew.
    fn follow(&mut self, shown: &mut Vec<usize>) {
        let was_taken = TAKEN.swap(false, Ordering::SeqCst);
        let was_broken = std::mem::take(&mut self.is_broken) && !self.drawn.is_empty();
        if !was_taken && !was_broken {
            return;
        }
        if was_taken {
            self.told = Share::None;
        }
        match was_broken {
            true => self.clear(shown),
            false => self.forget(shown),
        }
    }

    /// Takes the frame away, for another one to be drawn from its place on.
    fn clear(&mut self, shown: &mut Vec<usize>) {
        let mut out = lock(&self.screen.out);
        // A terminal that went away shows nothing; the run goes on.
        let _ = write!(out, "{}", taken_away(shown, self.size)).and_then(|()| out.flush());
        drop(out);
        self.forget(shown);
    }

    fn forget(&mut self, shown: &mut Vec<usize>) {
        shown.clear();
        self.drawn.clear();
        self.bar.set_draw_target(target(&self.screen));
    }

    fn tell(&mut self, share: Share) {
        if !self.screen.has_progress || share == self.told {
            return;
        }
        let progress = match share {
            Share::None => TermProgress::remove(),
            Share::Unknown => TermProgress::start(),
            Share::Percent(percent) => TermProgress::start().percent(percent.min(100)),
        };
        TOLD.store(share != Share::None, Ordering::SeqCst);
        self.told = share;
        let mut out = lock(&self.screen.out);
        // A terminal that went away shows nothing; the run goes on.
        let _ = write!(out, "{progress}").and_then(|()| out.flush());
    }
}

/// Takes away what is on the terminal, for whoever ends the program without waiting for anybody. Draws nothing any more.
pub fn restore() {
    OVER.store(true, Ordering::SeqCst);
    let mut shown = Vec::new();
    // Whoever draws is done in no time, unless it is the one that calls: a panic.
    for _ in 0..TRIES {
        match SHOWN.try_lock() {
            Ok(mut held) => shown = std::mem::take(&mut *held),
            Err(TryLockError::Poisoned(held)) => shown = std::mem::take(&mut *held.into_inner()),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
        }
        break;
    }
    take_away(&shown);
    echo::show();
}

/// Takes away what is on the terminal before the program is stopped there; nothing is drawn until it goes on.
pub fn suspend() {
    let mut shown = lock(&SHOWN);
    OVER.store(true, Ordering::SeqCst);
    TAKEN.store(true, Ordering::SeqCst);
    take_away(&std::mem::take(&mut *shown));
    echo::show();
}

/// Draws again after the program was stopped.
pub fn resume() {
    OVER.store(false, Ordering::SeqCst);
}

/// Returns what clears lines of these widths, the last of which the cursor is in. On a screen that became narrower each takes as
/// many as it needs there: terminals break lines anew.
fn taken_away(widths: &[usize], size: Size) -> String {
    let rows = |width: &usize| width.div_ceil(size.columns.max(1)).max(1);
    match widths.iter().map(rows).sum::<usize>() {
        0 => String::new(),
        1 => "\r\x1b[J".to_owned(),
        lines => format!("\r\x1b[{}A\x1b[J", lines - 1),
    }
}

fn take_away(widths: &[usize]) {
    let mut words = taken_away(widths, width::of_screen());
    if TOLD.swap(false, Ordering::SeqCst) {
        words.push_str(&TermProgress::remove().to_string());
    }
    if !words.is_empty() {
        let _ = io::stderr().write_all(words.as_bytes());
    }
}

/// Returns a screen on which nothing is drawn yet.
fn target(screen: &Screen) -> ProgressDrawTarget {
    ProgressDrawTarget::term_like(Box::new(Terminal {
        screen: screen.clone(),
        frame: Mutex::default(),
        is_filled: AtomicBool::new(false),
    }))
}

/// The screen as `indicatif` draws on it; what belongs to one frame is written at once.
#[derive(Debug)]
struct Terminal {
    screen: Screen,
    frame: Mutex<String>,
    /// The line was filled up: what is written next belongs below it.
    is_filled: AtomicBool,
}

impl Terminal {
    fn add(&self, text: &str) -> io::Result<()> {
        lock(&self.frame).push_str(text);
        Ok(())
    }

    fn moved(&self, count: usize, where_to: char) -> io::Result<()> {
        match count {
            0 => Ok(()),
            _ => self.add(&format!("\x1b[{count}{where_to}")),
        }
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        u16::try_from((self.screen.size)().columns).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        u16::try_from((self.screen.size)().lines).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'A')
    }

    fn move_cursor_down(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'B')
    }

    fn move_cursor_right(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'C')
    }

    fn move_cursor_left(&self, count: usize) -> io::Result<()> {
        self.moved(count, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.add(text)?;
        self.add("\n")
    }

    /// A line is filled with blanks, so that the next one begins below it; at the margin, whatever else is written there (such as
    /// the echo of Ctrl-C) would begin a line that nobody knows of.
    fn write_str(&self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if text.bytes().all(|byte| byte == b' ') {
            self.is_filled.store(true, Ordering::SeqCst);
            return Ok(());
        }
        if self.is_filled.swap(false, Ordering::SeqCst) {
            self.add("\r\n")?;
        }
        self.add(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.add("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        self.is_filled.store(false, Ordering::SeqCst);
        let frame = std::mem::take(&mut *lock(&self.frame));
        if frame.is_empty() || OVER.load(Ordering::SeqCst) {
            return Ok(());
        }
        let mut out = lock(&self.screen.out);
        out.write_all(frame.as_bytes())?;
        out.flush()
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples;

    #[test]
    fn what_is_said_for_good_is_never_on_the_screen_beside_the_frame_that_held_it() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let screen = Screen {
            out: written.clone(),
            size: || Size {
                lines: 24,
                columns: 120,
            },
            has_styles: false,
            has_progress: false,
            has_echo: false,
        };
        let began = Instant::now();
        let mut live = Live::on(screen, began);
        let events = samples::events();
        let ended = |event: &&Event| matches!(event, Event::AgentFinished { .. });
        for event in events.iter().take_while(|event| !ended(event)) {
            live.take(event, began);
        }
        live.draw(began + PATIENCE);
        let frame = String::from_utf8(lock(&written).clone()).unwrap();
        assert!(frame.contains("cycle 3 · "), "{frame:?}");
        live.take(events.iter().find(ended).unwrap(), began);
        let mut before = 0;
        live.above(|| before = lock(&written).len());
        let after = String::from_utf8(lock(&written)[before..].to_vec()).unwrap();
        assert_eq!(after, "", "the old frame came back");
        live.draw(began + PATIENCE);
        let frame = String::from_utf8(lock(&written)[before..].to_vec()).unwrap();
        assert!(
            !frame.is_empty() && !frame.contains("cycle 3 · "),
            "{frame:?}"
        );
    }
}
