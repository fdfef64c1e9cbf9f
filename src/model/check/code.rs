//! Code for a shell, and what a walk through it finds. Pure.

use std::cell::OnceCell;

use super::Instead;
use super::call::Call;
use super::places::Places;
use super::root::Root;

/// Code for a shell, and where it runs.
#[derive(Debug)]
pub struct Code {
    pub(super) text: String,
    pub(super) dir: Option<String>,
    /// The script whose text this is; what is no script has no `$0` of its own.
    pub(super) script: Option<String>,
    /// Where programs and modules are looked for.
    pub(super) places: Places,
    /// What a walk through it found, once there was one.
    pub(super) walked: OnceCell<Walked>,
}

impl Code {
    /// Returns a text, run in this folder, maybe as that of a script.
    pub(super) fn of(
        text: String,
        dir: Option<String>,
        script: Option<String>,
        places: Places,
    ) -> Code {
        Code {
            text,
            dir,
            script,
            places,
            walked: OnceCell::new(),
        }
    }

    /// Returns the code of a check: it starts in the root.
    pub fn of_check(check: &str) -> Code {
        let root = Some(String::new());
        Code::of(check.to_owned(), root, None, Places::default())
    }

    /// Returns the code of a shell's script of the repository: it starts in the root.
    pub fn of_script(path: &str, script: &str) -> Code {
        let (root, path) = (Some(String::new()), Some(path.to_owned()));
        Code::of(script.to_owned(), root, path, Places::default())
    }

    /// Returns the code as that of a repository that lies there.
    pub fn at(self, root: &Root) -> Code {
        let root = root.clone();
        let places = Places {
            root,
            ..self.places
        };
        Code::of(self.text, self.dir, self.script, places)
    }
}

/// What a walk through code found.
#[derive(Debug)]
pub struct Walked {
    /// The programs that it calls.
    pub calls: Vec<Call>,
    /// The commands whose output goes on, into a program, a word or a file.
    pub handed_on: Vec<Call>,
    /// A variable in it has a value that was computed.
    pub computes: bool,
    /// It finds the repository by way of what lies around it.
    pub comes_from_outside: bool,
    /// Where in folders of the repository it looks for programs, there or not, with their names.
    pub looked_for: Vec<Instead>,
}
