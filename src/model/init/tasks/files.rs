//! The Makefiles and justfiles of a repository, each read once however often it is called. Pure.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::node::Package;
use super::super::writers::{NODE, SHELL};
use super::super::{Look, first_of, join};
use super::tox;
use crate::model::check;
use crate::model::recipes::{MAKEFILES, Rules, imported, included, unfolded};

/// How many files are read as one.
const MOST_INCLUDED: usize = 32;
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
        let (names, is_make) = match program {
            "make" | "gmake" => (&MAKEFILES, true),
            "just" => (&JUSTFILES, false),
            _ => return None,
        };
        let name = first_of(self.look, folder, names)?;
        let path = join(folder, name);
        let mut read = self.read.borrow_mut();
        let rules = read.entry(path).or_insert_with_key(|path| {
            let text = self.look.read(path).unwrap_or_default();
            Rc::new(match is_make {
                true => {
                    let included =
                        |text: &str| included(&unfolded(text)).map(str::to_owned).collect();
                    Rules::of_makefile(&self.with_others((path, folder), text, &included))
                }
                false => {
                    let imported = |text: &str| imported(text).map(str::to_owned).collect();
                    Rules::of_justfile(&self.with_others((path, folder), text, &imported))
                }
            })
        });
        Some((name, Rc::clone(rules)))
    }

    /// Returns the text of a file behind which those stand that it includes; those name others from the same folder.
    fn with_others(
        &self,
        (path, folder): (&str, &str),
        text: String,
        named_in: &dyn Fn(&str) -> Vec<String>,
    ) -> String {
        let mut texts = vec![text];
        let mut seen = HashSet::from([path.to_owned()]);
        let mut at = 0;
        while let Some(named) = texts.get(at).map(|text| named_in(text)) {
            at += 1;
            let new = named
                .iter()
                .map(|word| join(folder, word.trim_start_matches("./")));
            let new = new.filter(|path| seen.insert(path.clone()));
            let new = new.filter_map(|path| self.look.read(&path));
            let left = MOST_INCLUDED.saturating_sub(texts.len());
            texts.extend(new.take(left).collect::<Vec<_>>());
        }
        texts.join("\n")
    }

    /// Returns the text of a task that a program runs in a folder, or of a shell's script, where it is known; `package` is the one there.
    pub(in crate::model::init) fn text_of(
        &self,
        (folder, package): (&str, Option<&Package>),
        (program, name): (&str, &str),
    ) -> Option<String> {
        if NODE.contains(&program) {
            return package?.scripts(name);
        }
        if program == SHELL {
            let text = self
                .look
                .read(&join(folder, name.trim_start_matches("./")))?;
            return Some(text).filter(|text| check::is_shells(name, text));
        }
        if program == "tox" {
            let text = self.look.read(&join(folder, "tox.ini"))?;
            return tox::text_of(&text, name);
        }
        let (_, rules) = self.read_by(program, folder)?;
        Some(rules.whole(name))
    }
}
