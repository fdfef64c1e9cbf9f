//! Reflogs: what git notes of the movements of HEAD and of branches. They are read from their ends, where what is asked for is
//! written, as far as somebody asks: the log of a branch that was worked on for years is long.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Repo;
use super::refs::{id, in_bytes};
use crate::effects::files;
use crate::error::Result;
use crate::model::git::movement::Movement;

/// The most bytes of a reflog that is written anew.
const LOG_LIMIT: u64 = 64 << 20;
/// How many bytes are read at once.
const AT_ONCE: u64 = 16 << 10;
/// The most bytes of a line; git cuts notes much shorter.
const LONGEST: usize = 1 << 20;

/// The movements of a ref, newest first.
#[derive(Debug, Default)]
pub struct Movements {
    /// None where nothing is kept.
    file: Option<File>,
    /// How many bytes of the file were not read yet.
    unread: u64,
    /// What was read and not returned yet; it begins within a line while there is more.
    read: Vec<u8>,
}

impl Movements {
    /// Those that a file holds by now; none where it cannot be read.
    fn of(path: &Path) -> Movements {
        let file = files::open(path).ok();
        let meta = file.as_ref().and_then(|file| file.metadata().ok());
        match meta.filter(std::fs::Metadata::is_file) {
            Some(meta) => Movements {
                file,
                unread: meta.len(),
                read: Vec::new(),
            },
            None => Movements::default(),
        }
    }

    /// Reads what stands before that which was read.
    fn read_on(&mut self, file: &File) -> io::Result<()> {
        let length = self.unread.min(AT_ONCE);
        let mut before = vec![0; usize::try_from(length).unwrap_or_default()];
        self.unread -= length;
        file.read_exact_at(&mut before, self.unread)?;
        before.append(&mut self.read);
        self.read = before;
        Ok(())
    }

    /// Takes the last line that was not returned yet; none where there is none.
    fn take_line(&mut self) -> Option<Vec<u8>> {
        let file = self.file.take()?;
        loop {
            if let Some(end) = self.read.iter().rposition(|byte| *byte == b'\n') {
                let line = self.read.split_off(end + 1);
                self.read.truncate(end);
                self.file = Some(file);
                return Some(line);
            }
            if self.unread == 0 {
                return Some(std::mem::take(&mut self.read));
            }
            // What was cut short or cannot be read holds no more.
            if self.read.len() > LONGEST || self.read_on(&file).is_err() {
                return None;
            }
        }
    }
}

impl Iterator for Movements {
    type Item = Movement;

    fn next(&mut self) -> Option<Movement> {
        loop {
            // What is no movement is passed over, as git does it.
            if let Some(found) = movement(&self.take_line()?) {
                return Some(found);
            }
        }
    }
}

impl Repo {
    /// Returns the movements of a ref, newest first; none where none are kept.
    pub fn movements(&self, name: &str) -> Movements {
        Movements::of(&self.path_of_log(name))
    }

    /// Returns the movements of a ref that were made since the newest one of before, or since there were so many. Of a reflog
    /// that was cut short, those to what `start` does not have.
    pub fn movements_since(
        &self,
        name: &str,
        start: &str,
        newest: Option<&Movement>,
        count: usize,
    ) -> Vec<Movement> {
        let mut movements = self.movements(name);
        let mut since = Vec::new();
        let is_whole = match newest {
            Some(newest) => loop {
                match movements.next() {
                    Some(one) if one == *newest => break true,
                    Some(one) => since.push(one),
                    None => break false,
                }
            },
            None => {
                since.extend(movements);
                let new = since.len().checked_sub(count);
                since.truncate(new.unwrap_or(since.len()));
                new.is_some()
            }
        };
        if !is_whole {
            since.retain(|one| !self.descends(start, &one.new).unwrap_or(false));
        }
        since
    }

    /// Takes out of a ref's reflog what is noted with one of these marks and leads from or to what is not there in whole. Nobody
    /// can go back there, and git takes such a reflog for broken.
    pub fn drop_broken_movements(&self, name: &str, marks: &[&str], since: &str) -> Result<()> {
        let path = self.path_of_log(name);
        let Some(log) = files::read_bounded(&path, LOG_LIMIT)? else {
            return Ok(());
        };
        let is_nothing = |id: &str| id.bytes().all(|digit| digit == b'0');
        let is_whole = |id: &str| Ok(is_nothing(id) || self.is_whole(id, since)?);
        let mut left = Vec::new();
        for line in log.split_inclusive(|byte| *byte == b'\n') {
            let found =
                movement(line).filter(|one| marks.iter().any(|mark| one.message.starts_with(mark)));
            let is_left = match found {
                Some(one) => is_whole(&one.old)? && is_whole(&one.new)?,
                None => true,
            };
            if is_left {
                left.extend_from_slice(line);
            }
        }
        match left.len() == log.len() {
            true => Ok(()),
            false => files::replace(&path, &left),
        }
    }

    fn path_of_log(&self, name: &str) -> PathBuf {
        let above = match name {
            "HEAD" => self.git_dir().to_owned(),
            _ => self.common_path(""),
        };
        above.join("logs").join(in_bytes(name))
    }
}

/// Reads a line of a reflog: where the ref was, where it went, who did it, and after a tab the note.
fn movement(line: &[u8]) -> Option<Movement> {
    let tab = line.iter().position(|byte| *byte == b'\t');
    let (places, message) = line.split_at(tab.unwrap_or(line.len()));
    let mut places = places.split(|byte| *byte == b' ');
    Some(Movement {
        old: id(places.next()?)?,
        new: id(places.next()?)?,
        message: String::from_utf8_lossy(message.strip_prefix(b"\t").unwrap_or_default())
            .into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: usize, note: &str) -> String {
        format!(
            "{:040x} {number:040x} N <e@x> 1 +0000\t{note}\n",
            number - 1
        )
    }

    fn notes(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, text).unwrap();
        Movements::of(&log).map(|one| one.message).collect()
    }

    #[test]
    fn movements_are_read_from_the_newest_on_however_long_the_log_and_its_lines_are() {
        assert_eq!(notes(""), Vec::<String>::new());
        assert_eq!(notes(&line(1, "one")), ["one"]);
        let lines: String = (1..=2_000).map(|at| line(at, &at.to_string())).collect();
        let expected: Vec<String> = (1..=2_000).rev().map(|at| at.to_string()).collect();
        assert_eq!(notes(&lines), expected);
        // Without an end, and longer than what is read at once.
        let long = "x".repeat(100_000);
        let text = line(1, "one") + &line(2, &long) + line(3, "three").trim_end();
        assert_eq!(notes(&text), ["three", &*long, "one"]);
    }

    #[test]
    fn what_is_no_movement_is_passed_over_and_a_line_without_an_end_in_sight_ends_the_log() {
        let text = line(1, "one") + "\nno ids at all\n" + &line(2, "two") + "\n";
        assert_eq!(notes(&text), ["two", "one"]);
        let text = line(1, "one") + &"y".repeat(LONGEST + 100_000) + "\n" + &line(2, "two");
        assert_eq!(notes(&text), ["two"]);
        let folder = tempfile::tempdir().unwrap();
        assert!(Movements::of(folder.path()).next().is_none());
        assert!(Movements::of(&folder.path().join("none")).next().is_none());
    }

    #[test]
    fn only_what_is_asked_for_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let lines: String = (1..=10_000).map(|at| line(at, "moved")).collect();
        std::fs::write(&log, &lines).unwrap();
        let mut movements = Movements::of(&log);
        assert!(movements.next().is_some());
        assert_eq!(movements.unread, lines.len() as u64 - AT_ONCE);
    }
}
