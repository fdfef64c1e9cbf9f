//! The Makefiles and justfiles of a repository, each read once however often it is called. Pure.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::super::{Look, first_of, join};
use crate::model::recipes::{MAKEFILES, Rules};

const JUSTFILES: [&str; 3] = ["justfile", "Justfile", ".justfile"];

/// The files of tasks.
pub(in crate::model::init) struct TaskFiles<'l> {
    look: &'l dyn Look,
    read: RefCell<HashMap<String, Rc<Rules>>>,
}

impl<'l> TaskFiles<'l> {
    pub(in crate::model::init) fn of(look: &'l dyn Look) -> TaskFiles<'l> {
        let read = RefCell::default();
        TaskFiles { look, read }
    }

    /// Returns the name of the file in a folder that a program goes by, and its rules.
    pub(super) fn read_by(&self, program: &str, folder: &str) -> Option<(&'static str, Rc<Rules>)> {
        let (names, parse): (_, fn(&str) -> Rules) = match program {
            "make" | "gmake" => (&MAKEFILES, Rules::of_makefile),
            "just" => (&JUSTFILES, Rules::of_justfile),
            _ => return None,
        };
        let name = first_of(self.look, folder, names)?;
        let path = join(folder, name);
        let mut read = self.read.borrow_mut();
        let rules = read.entry(path).or_insert_with_key(|path| {
            let text = self.look.read(path);
            Rc::new(parse(&text.unwrap_or_default()))
        });
        Some((name, Rc::clone(rules)))
    }

    /// Returns the text of a task that a program runs in a folder, where it is known.
    pub(in crate::model::init) fn text_of(
        &self,
        folder: &str,
        (program, name): (&str, &str),
    ) -> Option<String> {
        let (_, rules) = self.read_by(program, folder)?;
        Some(rules.whole(name))
    }
}
