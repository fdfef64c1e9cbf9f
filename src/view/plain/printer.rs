//! Writes the story to two streams.

use std::io::{self, Write};

use super::{Detail, Line, Story};
use crate::event::Event;
use crate::model::mask;
use crate::model::text;
use crate::view::width::{hanging, indent};

/// Writes the story to two streams.
pub struct Printer<'a> {
    story: Story,
    out: Stream<'a>,
    err: Stream<'a>,
}

/// Where lines go.
pub struct Stream<'a> {
    /// The stream; it takes text with ANSI styles.
    pub to: &'a mut dyn Write,
    /// What stands before each line, such as the time; nothing where there is none.
    pub stamp: Option<fn() -> String>,
    /// How many characters fit on a line at this moment; none where that does not matter.
    pub width: fn() -> Option<usize>,
}

/// How much further than its first line the others of a long one are indented: more than what belongs below it.
const HANG: usize = 4;

impl Stream<'_> {
    fn write(&mut self, line: &str) -> io::Result<()> {
        let line = mask::secrets(&text::page(line));
        let Some(stamp) = self.stamp else {
            let width = (self.width)();
            let broken = |line| hanging(line, indent(line) + HANG, width);
            let mut lines = line.split('\n').flat_map(broken);
            return lines.try_for_each(|line| writeln!(self.to, "{line}"));
        };
        let stamp = stamp();
        let mut lines = line.split('\n');
        lines.try_for_each(|line| writeln!(self.to, "{stamp} {line}"))
    }
}

impl<'a> Printer<'a> {
    /// Makes a printer.
    pub fn new(detail: Detail, out: Stream<'a>, err: Stream<'a>) -> Printer<'a> {
        let story = Story::new(detail);
        Printer { story, out, err }
    }

    /// Returns what is to be told of an event.
    pub fn lines(&mut self, event: &Event) -> Vec<Line> {
        self.story.lines(event)
    }

    /// Writes these lines, each as far as its stream takes it. The error is that of the first one; where no problem can be told,
    /// that cannot be told either.
    pub fn print(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut written = Ok(());
        for line in lines {
            match line {
                Line::Out(line) => written = written.and(self.out.write(line)),
                Line::Err(line) => drop(self.err.write(line)),
            }
        }
        written.and(self.out.to.flush())
    }
}
