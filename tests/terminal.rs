//! What a person sees who watches: a live block at the end of the terminal, and above it what stays.

use std::fs::File;
use std::io::Read;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{TestRepo, is_time};

/// A terminal with an emulator of its screen behind it.
pub struct Terminal {
    device: OwnedFd,
    reader: File,
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

fn size(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

fn winsize(lines: u16, columns: u16) -> rustix::termios::Winsize {
    rustix::termios::Winsize {
        ws_row: lines,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    }
}

/// How many lines of what has scrolled away are kept.
const SCROLLBACK: usize = 500;

impl Terminal {
    pub fn new(lines: u16, columns: u16) -> Terminal {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let reader =
            openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&reader).unwrap();
        unlockpt(&reader).unwrap();
        let name = ptsname(&reader, Vec::new()).unwrap();
        let mut options = File::options();
        let device = options
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        rustix::termios::tcsetwinsize(&device, winsize(lines, columns)).unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        Terminal {
            device: device.into(),
            reader: reader.into(),
            screen: vt100::Parser::new(size(lines), size(columns), SCROLLBACK),
            bytes: Vec::new(),
        }
    }

    /// Starts `evolve` on it.
    pub fn start(&self, repo: &TestRepo, arguments: &[&str], env: &[(&str, &str)]) -> Child {
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command.args(arguments).env("TERM", "xterm-256color");
        command.envs(env.iter().copied());
        let device = || Stdio::from(self.device.try_clone().unwrap());
        // As a shell starts a job.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdout(device()).stderr(device()).spawn().unwrap()
    }

    /// Starts `evolve` on it, with what is typed as its input.
    pub fn start_typed(&self, repo: &TestRepo, arguments: &[&str]) -> Child {
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command.args(arguments).env("TERM", "xterm-256color");
        let device = || Stdio::from(self.device.try_clone().unwrap());
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.stdin(device()).stdout(device()).stderr(device());
        command.spawn().unwrap()
    }

    /// Starts `evolve` as a shell with this terminal does: it is the one that the terminal belongs to.
    fn start_in_front(&self, repo: &TestRepo, arguments: &[&str]) -> Child {
        let mut command = repo.command("setsid");
        command.args(["--ctty", env!("CARGO_BIN_EXE_evolve")]);
        command.args(arguments).env("TERM", "xterm-256color");
        let device = || Stdio::from(self.device.try_clone().unwrap());
        command.stdin(device()).stdout(device()).stderr(device());
        command.spawn().unwrap()
    }

    /// Asserts that the terminal had to break no line that could be broken between words.
    #[track_caller]
    fn is_whole(&self, what: &str) {
        let screen = self.screen.screen();
        let (lines, columns) = screen.size();
        for row in 0..lines.get() {
            let text = screen.rows(0, columns.get()).nth(row.into()).unwrap();
            let has_words = text.trim_start().contains(' ');
            assert!(
                !screen.row_wrapped(row) || !has_words,
                "{what}: {text}\n{}",
                screen.contents()
            );
        }
    }

    /// Types keys.
    fn press(&mut self, keys: &str) {
        std::io::Write::write_all(&mut self.reader, keys.as_bytes()).unwrap();
    }

    /// Says whether what is typed shows on it.
    fn has_echo(&self) -> bool {
        use rustix::termios::{LocalModes, tcgetattr};
        let modes = tcgetattr(&self.device).unwrap().local_modes;
        modes.contains(LocalModes::ECHO)
    }

    /// Types a line once the screen, or what has scrolled away, shows something `times` times.
    pub fn answer(&mut self, times: usize, question: &str, line: &str) {
        crate::harness::wait_until(question, || {
            while self.take() {}
            self.all().join("").matches(question).count() >= times
        });
        self.press(&format!("{line}\n"));
    }

    /// Watches until the program has ended; `look` sees each state of the screen. Returns the exit code.
    pub fn watch(&mut self, mut child: Child, mut look: impl FnMut(&vt100::Screen)) -> i32 {
        let began = Instant::now();
        loop {
            let ended = child.try_wait().unwrap();
            match self.take() {
                true => look(self.screen.screen()),
                false => match ended {
                    Some(status) => return status.code().unwrap_or(-1),
                    None => std::thread::sleep(Duration::from_millis(5)),
                },
            }
            if began.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("the program hung:\n{}", self.screen.screen().contents());
            }
        }
    }

    /// Takes in a piece of what was written; says whether there was any.
    fn take(&mut self) -> bool {
        let mut piece = [0; 4096];
        let Ok(count) = self.reader.read(&mut piece) else {
            return false;
        };
        self.bytes.extend_from_slice(&piece[..count]);
        self.screen.process(&piece[..count]);
        count > 0
    }

    /// Watches until the screen shows something, or `holds` for another reason.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&vt100::Screen) -> bool) {
        crate::harness::wait_until(what, || {
            while self.take() {}
            holds(self.screen.screen())
        });
    }

    /// Makes it another size, as terminals do that break their lines anew: what had wrapped is one line again.
    fn resize(&mut self, lines: u16, columns: u16) {
        self.break_anew(lines, columns);
        self.tell_size(lines, columns);
    }

    /// Tells programs how large it is.
    fn tell_size(&self, lines: u16, columns: u16) {
        rustix::termios::tcsetwinsize(&self.device, winsize(lines, columns)).unwrap();
    }

    /// Makes it another size and tells nobody yet.
    fn break_anew(&mut self, lines: u16, columns: u16) {
        while self.take() {}
        let (height, width) = self.screen.screen().size();
        let (height, width) = (height.get(), width.get());
        let (row, _) = self.screen.screen().cursor_position();
        self.screen.screen_mut().set_scrollback(SCROLLBACK);
        let above = self.screen.screen().scrollback();
        let mut text = String::new();
        let mut add = |screen: &vt100::Screen, row: u16| {
            let line = screen.rows(0, width).nth(row.into()).unwrap_or_default();
            match screen.row_wrapped(row) {
                true => text.push_str(&format!("{line:<0$}", usize::from(width))),
                false => text.push_str(&format!("{}\r\n", line.trim_end())),
            }
        };
        for back in (1..=above).rev() {
            self.screen.screen_mut().set_scrollback(back);
            add(self.screen.screen(), 0);
        }
        self.screen.screen_mut().set_scrollback(0);
        (0..=row.min(height - 1)).for_each(|row| add(self.screen.screen(), row));
        self.screen = vt100::Parser::new(size(lines), size(columns), SCROLLBACK);
        let text = text.strip_suffix("\r\n").unwrap_or(&text);
        self.screen.process(text.as_bytes());
    }

    /// Everything that is to be read on it, what has scrolled away included.
    pub fn all(&mut self) -> Vec<String> {
        let (height, width) = self.screen.screen().size();
        let (height, width) = (height.get(), width.get());
        self.screen.screen_mut().set_scrollback(SCROLLBACK);
        let above = self.screen.screen().scrollback();
        let mut lines = Vec::new();
        for back in (1..=above).rev() {
            self.screen.screen_mut().set_scrollback(back);
            lines.extend(self.screen.screen().rows(0, width).next());
        }
        self.screen.screen_mut().set_scrollback(0);
        lines.extend(self.screen.screen().rows(0, width));
        assert!(lines.len() >= usize::from(height));
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        lines
            .iter()
            .map(|line| line.trim_end().to_owned())
            .collect()
    }
}

/// A repository whose goal `a` takes a while to measure, and an agent that takes a while to make it pass.
fn slow() -> TestRepo {
    let repo = slowly_measured();
    repo.agent_does(&["sleep 1; touch a"]);
    repo
}

/// The same with no agent yet.
fn slowly_measured() -> TestRepo {
    TestRepo::with_goals(
        "  - {id: a, description: file a, check: 'sleep 0.7; test -e a', weight: 5}\n  - {id: b, description: file b, check: 'sleep 0.7; test -e b', weight: 3}\n",
    )
}

#[test]
fn what_goes_on_is_drawn_at_the_end_of_the_terminal_and_nothing_of_it_stays() {
    for (lines, columns) in [(24, 120), (8, 40)] {
        let repo = slow();
        let mut terminal = Terminal::new(lines, columns);
        let agent = format!("--agent={}", repo.agent());
        let child = terminal.start(&repo, &[&agent, "--max-cycles=1"], &[]);
        let mut frames = Vec::new();
        let code = terminal.watch(child, |screen| frames.push(screen.contents()));
        assert_eq!(code, 0, "{}", frames.join("\n---\n"));
        let seen = |words: &str| {
            assert!(
                frames.iter().any(|frame| frame.contains(words)),
                "{words} was never seen at {lines} x {columns}:\n{}",
                frames.join("\n---\n")
            );
        };
        seen("measuring (baseline)");
        seen("cycle 1 · a: ");
        seen("  agent sh ");
        seen("cycle 1 of 1");
        let twice = |frame: &&String| frame.matches("cycle 1 · a: ").count() > 1;
        assert_eq!(frames.iter().find(twice), None);
        // What stays is what a session tells line by line.
        let left = terminal.all();
        let text = left.join("\n");
        for words in ["measuring (", "cycle 1 of 1", "agent at work"] {
            assert!(!text.contains(words), "{words} stayed:\n{text}");
        }
        let count = |word: &str| left.iter().filter(|line| line.contains(word)).count();
        assert_eq!(count("cycle 1 · a: "), 1, "{text}");
        assert_eq!(count("improved · "), 1, "{text}");
        assert_eq!(count("agent done after "), 1, "{text}");
        assert!(left.iter().all(|line| !line.is_empty()), "{text}");
    }
}

#[test]
fn what_stays_is_broken_between_words_at_the_width_of_the_moment() {
    let repo = TestRepo::with_goals(
        "  - {id: a, description: file a, check: 'sleep 0.3; test -e a', weight: 5}\n  - {id: with-a-long-name, description: file b, check: 'test -e b', weight: 3}\n",
    )
    .with_out();
    repo.agent_does(&[
        "until [ -e $OUT/go ]; do sleep 0.05; done; touch a",
        "echo it needs the date of the release, which only somebody else here knows >$EVOLVE_GIVE_UP",
    ]);
    let mut terminal = Terminal::new(60, 60);
    let agent = format!("--agent={}", repo.agent());
    let child = terminal.start(&repo, &[&agent, "--max-cycles=2"], &[]);
    terminal.until("the agent to be shown", |screen| {
        let shown = screen.contents();
        shown.contains("heaviest failing") && shown.contains("cycle 1 of 2")
    });
    terminal.is_whole("at first");
    terminal.resize(60, 80);
    std::fs::write(repo.out("go"), "").unwrap();
    assert_eq!(terminal.watch(child, |_| {}), 0);
    terminal.is_whole("after it became wider");
    let left = terminal.all();
    assert!(
        left.iter().any(|line| line.chars().count() > 60),
        "{left:?}"
    );
    let child = terminal.start(&repo, &["status"], &[]);
    assert_eq!(terminal.watch(child, |_| {}), 0);
    terminal.is_whole("status");
}

#[test]
fn answers_are_broken_between_words_on_narrow_terminals_and_leave_nothing_out() {
    let goal = |id: &str, check: &str, more: &str| {
        format!("  - {{id: {id}, description: d, check: '{check}', weight: 5{more}}}\n")
    };
    let threshold = ", continuous: {metric: lines covered, threshold: 80, direction: at-least}";
    let goals = [
        goal("file-a", "test -e a", ""),
        goal("every-file-that-b-needs-is-there", "test -e b", ""),
        goal("coverage", "cat covered", threshold),
        goal("no-words-of-caution", "! git grep -n CAUTIO[N]", ""),
        goal("seen", "node tests/seen.js", ""),
    ];
    let repo = TestRepo::with_goals(&goals.concat());
    repo.write("covered", "79.5\n");
    repo.write("tests/seen.js", "");
    repo.commit_all("more");
    repo.agent_does(&[
        "touch a; echo 'what makes a is touch, and nothing else that is known here' >$EVOLVE_LESSONS",
        "touch b && rm a",
        "touch b",
    ]);
    repo.run(&["--max-cycles=3"]).expect(0);
    assert_eq!(repo.each("result"), ["improved", "regressed", "improved"]);
    let title = "Teach the parser what stands in braces and in quotes";
    repo.answer(&["work", "add", title]);
    repo.evolve(&["undo", "3"]).expect(10);
    for columns in [40, 60, 80] {
        for (arguments, words) in [
            (&["status"][..], "baseline"),
            (&["history"], "passed before and no longer: file-a"),
            (
                &["history", "--goal=file-a"],
                "passed before and no longer: file-a",
            ),
            (&["show", "2"], "passed before and no longer: file-a"),
            (&["validate"], "to leave them out, end the git command with"),
            (&["work", "list"], title),
            (
                &["lessons", "list"],
                "what makes a is touch, and nothing else that is known here",
            ),
            (&["measure", "--progress=plain"], "79.5 vs 80"),
            (&["measure"], "79.5 vs 80"),
            (
                &["ratchet", "--progress=plain"],
                "no threshold has more than",
            ),
            (&["audit"], "snapshots"),
            (&["report"], "the next run goes on with 1 failing goal"),
            (
                &["help", "measure"],
                "Exit with 10 unless every goal passes",
            ),
            (&["--dry-run", "--progress=plain"], title),
            (&["doctor"], "the loop could"),
            (&["stop"], "takes it away"),
            (&["stop", "--off"], "removed "),
        ] {
            let what = format!("{arguments:?} at {columns}");
            let mut terminal = Terminal::new(100, columns);
            let child = terminal.start(&repo, arguments, &[]);
            terminal.watch(child, |_| {});
            terminal.is_whole(&what);
            let lines = terminal.all();
            assert!(lines.len() < 100, "{what}: {lines:?}");
            let said: Vec<&str> = lines
                .iter()
                .flat_map(|line| line.split_whitespace())
                .collect();
            let said = said.join(" ");
            assert!(said.contains(words), "{what}: {words} is not in\n{said}");
        }
    }
}

#[test]
fn of_a_plain_agent_the_line_that_it_printed_last_is_shown_whichever_stream_it_came_by() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.agent_does(&[
        "echo one; printf '\\033[2Jreading\\n' >&2; until [ -e $OUT/seen ]; do sleep 0.05; done
         echo uses ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2; until [ -e $OUT/go ]; do sleep 0.05; done; touch a",
    ]);
    let mut terminal = Terminal::new(24, 100);
    let agent = format!("--agent={}", repo.agent());
    let child = terminal.start(&repo, &[&agent, "--max-cycles=1"], &[]);
    terminal.until("the line", |screen| {
        screen.contents().contains("\n    reading\n")
    });
    std::fs::write(repo.out("seen"), "").unwrap();
    terminal.until("the next line", |screen| {
        screen.contents().contains("\n    uses ***\n")
    });
    std::fs::write(repo.out("go"), "").unwrap();
    assert_eq!(terminal.watch(child, |_| {}), 0);
    let text = terminal.all().join("\n");
    assert!(!text.contains("uses"), "{text}");
}

#[test]
fn what_is_typed_while_the_board_is_drawn_leaves_nothing_on_the_screen_and_shows_again_afterwards()
{
    for ends_by_itself in [true, false] {
        let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
        let waits =
            "trap '' INT TERM; echo $$ >$OUT/pid; until [ -e $OUT/go ]; do sleep 0.05; done";
        repo.agent_does(&[&format!("{waits}; touch a")]);
        let mut terminal = Terminal::new(24, 100);
        let agent = format!("--agent={}", repo.agent());
        let mut child = terminal.start_in_front(&repo, &[&agent, "--max-cycles=1"]);
        let at_work = |screen: &vt100::Screen| screen.contents().contains("  agent sh ");
        terminal.until("the agent at work", at_work);
        assert!(!terminal.has_echo());
        terminal.press("\nwords\n\n");
        let before = terminal.screen.screen().contents();
        let is_later = |screen: &vt100::Screen| screen.contents() != before;
        terminal.until("a later frame", is_later);
        let shown = terminal.screen.screen().contents();
        assert_eq!(shown.matches("────────").count(), 3, "{shown}");
        assert!(!shown.contains("words"), "{shown}");
        if !ends_by_itself {
            terminal.press("\x03");
            // At once: whoever started it may take the terminal before the agent has ended.
            crate::harness::wait_until("typing to show", || terminal.has_echo());
            assert!(child.try_wait().unwrap().is_none());
            let agent = crate::harness::pid_in(&repo.out("pid"));
            assert!(crate::harness::is_alive(agent));
        }
        std::fs::write(repo.out("go"), "").unwrap();
        assert_eq!(
            terminal.watch(child, |_| {}),
            if ends_by_itself { 0 } else { 130 }
        );
        assert!(terminal.has_echo());
        let left = terminal.all().join("\n");
        assert!(!left.contains('─') && !left.contains("words"), "{left}");
    }
}

#[test]
fn the_terminal_is_in_order_after_any_end() {
    for (signals, traps) in [(1, ""), (2, "trap '' TERM INT; ")] {
        let repo = slowly_measured().with_out();
        repo.agent_does(&[&format!("{traps}echo $$ >$OUT/pid; sleep 30")]);
        let mut terminal = Terminal::new(24, 100);
        let agent = format!("--agent={}", repo.agent());
        let child = terminal.start(&repo, &[&agent, "--max-cycles=1"], &[]);
        let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
        let (mut sent, mut last) = (0, Instant::now());
        terminal.watch(child, |screen| {
            // Two that come as one are one.
            let is_next = last.elapsed() > Duration::from_millis(500);
            let is_at_work = repo.out("pid").exists() && screen.contents().contains("  agent sh ");
            if sent < signals && is_next && (is_at_work || sent > 0) {
                (sent, last) = (sent + 1, Instant::now());
                nix::sys::signal::kill(pid, nix::sys::signal::SIGINT).unwrap();
            }
        });
        assert_eq!(sent, signals);
        let text = terminal.all().join("\n");
        assert!(!text.contains("  agent sh "), "{text}");
        assert!(!terminal.screen.screen().hide_cursor(), "{text}");
    }
}

/// A session whose agent works until it is told to end, beside lines that stood on the terminal before.
fn at_work(terminal: &mut Terminal) -> (TestRepo, Child) {
    let repo = slowly_measured().with_out();
    let says = format!("echo 'says {}'", "so much ".repeat(11));
    repo.agent_does(&[&format!(
        "{says}; until [ -e $OUT/go ]; do sleep 0.05; done; touch a"
    )]);
    terminal
        .screen
        .process(b"$ one\r\n$ two\r\n$ three\r\n$ four\r\n");
    let agent = format!("--agent={}", repo.agent());
    let child = terminal.start(&repo, &[&agent, "--max-cycles=1"], &[]);
    terminal.until("the agent to be shown", |screen| {
        let shown = screen.contents();
        shown.contains("  agent sh ") && shown.contains("so much")
    });
    (repo, child)
}

/// Asserts that nothing of the block stayed, and that everything else did, once.
#[track_caller]
fn nothing_stayed(terminal: &mut Terminal, expected: &[&str]) {
    let left = terminal.all();
    let text = left.join("\n");
    let of_block = [
        "measuring (",
        "cycle 1 of 1",
        "  agent sh ",
        "────",
        "so much",
    ];
    for words in of_block {
        assert!(!text.contains(words), "{words} stayed:\n{text}");
    }
    for words in [
        &[
            "$ one",
            "$ two",
            "$ three",
            "$ four",
            "cycle 1 · a: ",
            "improved · ",
        ],
        expected,
    ]
    .concat()
    {
        let count = left.iter().filter(|line| line.contains(words)).count();
        assert_eq!(count, 1, "{words}:\n{text}");
    }
}

#[test]
fn a_terminal_of_another_size_keeps_what_stood_there_and_no_piece_of_an_old_frame() {
    for (lines, columns) in [(24, 20), (24, 41), (10, 60), (40, 160)] {
        let mut terminal = Terminal::new(24, 100);
        let (repo, child) = at_work(&mut terminal);
        terminal.resize(lines, columns);
        // The next second is drawn at the new size.
        let before = terminal.bytes.len();
        crate::harness::wait_until("another frame", || {
            terminal.take();
            terminal.bytes.len() > before
        });
        std::fs::write(repo.out("go"), "").unwrap();
        assert_eq!(terminal.watch(child, |_| {}), 0);
        // As wide as it takes to read whole lines again.
        terminal.resize(24, 200);
        nothing_stayed(&mut terminal, &[]);
    }
}

#[test]
fn a_window_that_is_dragged_keeps_no_piece_of_an_old_frame() {
    for told_every in [1, 4] {
        let mut terminal = Terminal::new(30, 100);
        let (repo, child) = at_work(&mut terminal);
        let sizes = (40..100).rev().step_by(3).chain((40..120).step_by(5));
        for (at, columns) in sizes.chain([70]).enumerate() {
            terminal.break_anew(30, columns);
            // Some tell programs of a size a while after they have it.
            if at % told_every == 0 || columns == 70 {
                terminal.tell_size(30, columns);
            }
            let began = Instant::now();
            while began.elapsed() < Duration::from_millis(60) {
                terminal.take();
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        std::fs::write(repo.out("go"), "").unwrap();
        assert_eq!(terminal.watch(child, |_| {}), 0);
        terminal.resize(24, 200);
        nothing_stayed(&mut terminal, &[]);
    }
}

#[test]
fn who_stops_it_at_the_terminal_finds_that_in_order_and_then_goes_on() {
    let mut terminal = Terminal::new(24, 100);
    let (repo, child) = at_work(&mut terminal);
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    let is_stopped = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    };
    for number in ["first", "second"] {
        // Without a shell that has the terminal meanwhile its supervisor has it go on soon: it may have to be asked again.
        let mut asked = None;
        terminal.until("it to be stopped with nothing drawn", |screen| {
            if asked.is_none_or(|at: Instant| at.elapsed() > Duration::from_millis(600)) {
                nix::sys::signal::kill(pid, nix::sys::signal::SIGTSTP).unwrap();
                asked = Some(Instant::now());
            }
            is_stopped() && !screen.contents().contains("  agent sh ")
        });
        terminal
            .screen
            .process(format!("^Z stopped\r\n$ fg {number}\r\n").as_bytes());
        nix::sys::signal::kill(pid, nix::sys::signal::SIGCONT).unwrap();
        terminal.until("the agent to be shown again", |screen| {
            screen.contents().contains("  agent sh ")
        });
    }
    std::fs::write(repo.out("go"), "").unwrap();
    assert_eq!(terminal.watch(child, |_| {}), 0);
    nothing_stayed(&mut terminal, &["$ fg first", "$ fg second"]);
}

#[test]
fn the_terminals_own_progress_is_told_where_it_has_one_and_taken_back() {
    let repo = slow();
    let mut terminal = Terminal::new(24, 100);
    let agent = format!("--agent={}", repo.agent());
    let env = [("TERM_PROGRAM", "ghostty")];
    let child = terminal.start(&repo, &[&agent, "--max-cycles=1"], &env);
    assert_eq!(terminal.watch(child, |_| {}), 0);
    let text = String::from_utf8_lossy(&terminal.bytes).into_owned();
    let last = text.rfind("\u{1b}]9;4;").unwrap();
    assert!(text.contains("\u{1b}]9;4;1;"), "no percentage: {text:?}");
    assert!(text.contains("\u{1b}]9;4;3;"), "no agent: {text:?}");
    assert!(text[last..].starts_with("\u{1b}]9;4;0;"), "{text:?}");
    let mut plain = Terminal::new(24, 100);
    let child = plain.start(&slow(), &[&agent, "--max-cycles=1"], &[]);
    plain.watch(child, |_| {});
    assert!(!String::from_utf8_lossy(&plain.bytes).contains("\u{1b}]9;4;"));
}

#[test]
fn a_measurement_shows_what_runs_and_each_goal_stays_as_its_check_ends() {
    let repo = TestRepo::with_goals(
        "  - {id: slow, description: slow, check: 'until [ -e $OUT/go ]; do sleep 0.05; done', weight: 5}\n  - {id: b, description: file b, check: 'echo no b; test -e b', weight: 3}\n  - {id: count, description: count, check: 'echo 7', weight: 1, continuous: {threshold: 9, direction: at-most}}\n",
    )
    .with_out();
    let mut terminal = Terminal::new(24, 100);
    let child = terminal.start(&repo, &["measure", "--jobs=2"], &[]);
    terminal.until("what has ended above what runs", |screen| {
        let shown = screen.contents();
        let at = |words| shown.find(words);
        let ended = at("FAIL").max(at("  7 vs 9\n"));
        ended.is_some() && ended < at("measuring ") && shown.contains("    slow  ")
    });
    std::fs::write(repo.out("go"), "").unwrap();
    assert_eq!(terminal.watch(child, |_| {}), 0);
    let words = |line: &str| {
        let is_time = |word: &str| word.ends_with('s') && word.len() < 3 || word.contains('.');
        let words: Vec<_> = line.split_whitespace().filter(|it| !is_time(it)).collect();
        words.join(" ")
    };
    let left: Vec<String> = terminal.all().iter().map(|line| words(line)).collect();
    let expected = [
        "FAIL b exit 1",
        "pass count 7 vs 9",
        "pass slow",
        "score 66.67: 2 of 3 goals pass",
        "",
        "output of b",
        "no b",
    ];
    let expected = expected.map(words);
    assert_eq!(left, expected);
}

#[test]
fn a_check_that_is_another_one_now_is_not_expected_to_take_what_the_old_one_took() {
    let goals = |other: &str| {
        let same = "  - {id: same, description: d, check: 'sh $OUT/check', weight: 5}";
        format!("{same}\n  - {{id: other, description: d, check: '{other}', weight: 3}}\n")
    };
    let repo = TestRepo::with_goals(&goals("false")).with_out();
    std::fs::write(repo.out("check"), "true").unwrap();
    repo.cycle("true").expect(0);
    let until = "until [ -e $OUT/go ]; do sleep 0.05; done";
    std::fs::write(repo.out("check"), until).unwrap();
    let old = repo.read("GOALS.yaml");
    let new = old.replace(&goals("false"), &goals(until));
    assert_ne!(old, new);
    repo.write("GOALS.yaml", &new);
    let mut terminal = Terminal::new(24, 100);
    let child = terminal.start(&repo, &["measure", "--jobs=2"], &[]);
    terminal.until("both checks", |screen| {
        let shown = screen.contents();
        shown.contains("    same ") && shown.contains("    other ")
    });
    let shown = terminal.screen.screen().contents();
    let of = |id: &str| shown.lines().find(|line| line.trim().starts_with(id));
    assert!(of("same").unwrap().contains(" of about "), "{shown}");
    assert!(!of("other").unwrap().contains(" of about "), "{shown}");
    std::fs::write(repo.out("go"), "").unwrap();
    assert_eq!(terminal.watch(child, |_| {}), 0);
}

#[test]
fn of_a_measurement_that_is_interrupted_stays_what_was_measured() {
    let repo = TestRepo::with_goals(
        "  - {id: slow, description: slow, check: sleep 300, weight: 5}\n  - {id: b, description: file b, check: 'echo no b; test -e b', weight: 3}\n",
    );
    let mut terminal = Terminal::new(24, 100);
    let child = terminal.start(&repo, &["measure", "--jobs=2"], &[]);
    terminal.until("a check to have ended", |screen| {
        screen.contents().contains("1 of 2 checks")
    });
    crate::harness::signal(&child, "INT");
    assert_eq!(terminal.watch(child, |_| {}), 130);
    let left = terminal.all();
    assert!(left[0].starts_with("FAIL  "), "{left:?}");
    let rest = [
        "",
        "output of b",
        "    no b",
        "error: interrupted: 1 of 2 measured (Ctrl-C (SIGINT))",
    ];
    assert_eq!(left[1..], rest);
}

#[test]
fn what_is_told_after_a_ctrl_c_that_the_terminal_shows_begins_a_line() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]).with_out();
    repo.agent_does(&["echo $$ >$OUT/pid; exec sleep 300"]);
    let mut terminal = Terminal::new(24, 100);
    let agent = format!("--agent={}", repo.agent());
    let arguments = [&*agent, "--max-cycles=1", "--progress=plain"];
    let child = terminal.start_in_front(&repo, &arguments);
    crate::harness::pid_in(&repo.out("pid"));
    assert!(terminal.has_echo());
    terminal.press("\x03");
    assert_eq!(terminal.watch(child, |_| {}), 130);
    let left = terminal.all();
    let typed: Vec<_> = left.iter().filter(|line| line.contains("^C")).collect();
    assert_eq!(typed, ["^C"], "{left:?}");
    let told = "interrupted after 1 cycle: Ctrl-C (SIGINT)";
    assert!(left.iter().any(|line| line == told), "{left:?}");
}

#[test]
fn nothing_is_drawn_where_it_is_not_wanted_or_would_stay() {
    type Asked<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)]);
    let quiet: [Asked<'_>; 4] = [
        (&["--progress=plain"], &[]),
        (&["--progress=none"], &[]),
        (&[], &[("TERM", "dumb")]),
        (&[], &[("CI", "true")]),
    ];
    for (arguments, env) in quiet {
        let repo = slow();
        let mut terminal = Terminal::new(24, 100);
        let agent = format!("--agent={}", repo.agent());
        let arguments = [&[agent.as_str(), "--max-cycles=1"], arguments].concat();
        let child = terminal.start(&repo, &arguments, env);
        assert_eq!(terminal.watch(child, |_| {}), 0, "{arguments:?}");
        let text = String::from_utf8_lossy(&terminal.bytes).into_owned();
        assert!(!text.contains('\u{1b}'), "{arguments:?}: {text:?}");
        assert!(text.contains("improved · "), "{text}");
        let has_steps = text.contains("agent done after");
        let is_told = arguments[2..] != ["--progress=none"];
        assert_eq!(has_steps, is_told, "{text}");
        assert_eq!(text.contains("· session "), is_told, "{text}");
        assert_eq!(text.contains("protections: "), is_told, "{text}");
    }
}

#[test]
fn without_a_terminal_each_line_has_its_time_and_no_control_character() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    repo.agent_does(&["touch a"]);
    let agent = format!("--agent={}", repo.agent());
    let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
    let output = command.args([&agent, "--max-cycles=1"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("Z cycle 1 · a: "), "{text}");
    for line in text.lines() {
        let (time, rest) = line.split_once("Z ").unwrap();
        assert!(is_time(time), "{line}");
        assert!(!rest.chars().any(char::is_control), "{line:?}");
    }
    let refused = repo.evolve(&["--progress=live"]).expect(2).stderr;
    assert!(
        refused.contains("--progress live needs a terminal"),
        "{refused}"
    );
}

#[test]
fn colours_are_as_they_are_asked_for() {
    let repo = TestRepo::with_files_wanted(&[("a", 5)]);
    let has_colours = |arguments: &[&str], env: &[(&str, &str)]| {
        let mut command = repo.command(env!("CARGO_BIN_EXE_evolve"));
        command.env_remove("NO_COLOR").args(["measure"]);
        command.args(arguments).envs(env.iter().copied());
        let output = command.output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!has_colours(&[], &[]));
    assert!(has_colours(&["--color=always"], &[]));
    assert!(has_colours(&["--color=always"], &[("NO_COLOR", "1")]));
    assert!(has_colours(&[], &[("FORCE_COLOR", "1")]));
    assert!(has_colours(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!has_colours(&[], &[("FORCE_COLOR", "0")]));
    assert!(!has_colours(
        &[],
        &[("FORCE_COLOR", "1"), ("NO_COLOR", "1")]
    ));
    assert!(!has_colours(&["--color=never"], &[("FORCE_COLOR", "1")]));
}
