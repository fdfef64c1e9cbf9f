//! What of a working tree may not move, and what of it runs a script that a check runs: the interpreter that its first line names, and
//! the links that lead to it.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use crate::effects::workspace::Workspace;
use crate::effects::{files, program};
use crate::model::check::{self, Used};
use crate::model::goals::Goals;
use crate::model::yardstick::{Tree, Yardstick};

/// The most bytes of a script that are looked into for what it runs itself.
const SCRIPT_LIMIT: u64 = 256 << 10;
/// The most bytes of a script in which its interpreter is looked for.
const HEAD_LIMIT: u64 = 4 << 10;

impl Workspace<'_> {
    /// Returns what may not move of this tree while the `goals` are worked on, the scripts in it looked through; `is_file` tells what
    /// counts as there.
    pub fn yardstick(&self, goals: &Goals, is_file: &dyn Fn(&str) -> bool) -> Yardstick {
        let root = &self.repo.root;
        let found = self.yardstick_alone(goals, is_file).with_scripts(&Tree {
            is_file,
            files_in: &|folder| files::names_in(root, folder),
            folders_in: &|folder| files::folders_in(root, folder),
            read: &|path| read_code(&root.join(path)),
            is_program: &program::is_found,
            run_by: &|used| self.run_by(used),
        });
        found.follow(&|file| self.leads_to(file))
    }

    /// Returns the links on the way to a file and what they lead to, each by its real place; nothing where none of them is a link, or
    /// they lead outside.
    pub(in crate::effects::workspace) fn leads_to(&self, file: &str) -> Vec<String> {
        let way = self.way_to(file);
        let is_inside = !way.links.is_empty() && way.end.is_some();
        let all = way.links.into_iter().chain(way.end);
        all.filter(|_| is_inside).collect()
    }

    /// Returns what may not move of this tree as far as the checks themselves tell, no script looked into.
    pub fn yardstick_alone(&self, goals: &Goals, is_file: &dyn Fn(&str) -> bool) -> Yardstick {
        Yardstick::of(goals, &self.root_as_named(goals), is_file)
    }

    /// Returns the commands that tell whether Python finds the modules that checks run outside of this tree.
    pub fn questions(&self, goals: &Goals, is_file: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
        Yardstick::questions(goals, &self.root_as_named(goals), is_file)
    }

    /// Returns the files of the repository without which a script does not run: its interpreter, and the links on a way that leads
    /// outside.
    fn run_by(&self, used: &Used) -> Vec<String> {
        let path = self.repo.root.join(&used.file);
        let named = head(&path).and_then(|text| {
            let word = check::interpreter(&text)?;
            self.below(used.dir.as_deref(), word)
        });
        named
            .into_iter()
            .chain(self.links_outside(&used.file))
            .collect()
    }

    /// Returns the further links on the way to a file that lies outside of the repository in the end.
    fn links_outside(&self, file: &str) -> Vec<String> {
        let way = self.way_to(file);
        let mut links = way.links;
        links.retain(|link| link != file && way.end.is_none());
        links
    }

    /// Returns the path below the root that `word` stands for in a folder of the repository; none if it lies outside.
    fn below(&self, folder: Option<&str>, word: &str) -> Option<String> {
        let path = Path::new(word);
        if path.is_relative() {
            return check::join(folder?, word);
        }
        // The root may have been named by way of a link.
        let real = |path: &Path| path.canonicalize().ok();
        let root = real(&self.repo.root)?;
        let mut above = path.ancestors().skip(1);
        let root = above.find(|above| real(above).as_ref() == Some(&root))?;
        check::join("", path.strip_prefix(root).ok()?.to_str()?)
    }
}

/// Reads a file as code, up to the first NUL in it: what follows, which may be all of a program, is none.
fn read_code(path: &Path) -> Option<String> {
    let mut text = files::read_text(path, SCRIPT_LIMIT).ok()?;
    text.truncate(text.find('\0').unwrap_or(text.len()));
    Some(text)
}

/// Returns the beginning of a file, behind a link too.
fn head(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = files::open(path).ok()?;
    file.take(HEAD_LIMIT).read_to_end(&mut bytes).ok()?;
    let is_script = bytes.starts_with(b"#!");
    is_script.then(|| String::from_utf8_lossy(&bytes).into_owned())
}
