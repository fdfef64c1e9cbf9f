//! What a command of a step goes by that an earlier step makes, as a folder of a build, so that its goal could never hold in a fresh clone.
//! Pure.

use super::{Command, name_of};
use crate::model::check::{self, Done};
use crate::model::init::called::value_of;
use crate::model::init::has;

impl Command<'_> {
    /// Returns what a program goes by that is not in the repository and that no command before it makes.
    pub(super) fn lacks_ready(&self, dir: &str, name: &str, rest: &[String]) -> Option<String> {
        let has = |option: &str| rest.iter().any(|word| word == option);
        let asks_for = |verb: &str| {
            rest.iter()
                .find(|it| !it.starts_with('-'))
                .is_some_and(|it| it == verb)
        };
        let is_after = |program: &str| self.before.iter().any(|one| name_of(&one.words) == program);
        match name {
            "cmake" if value_of(rest, &["--build"]).is_some_and(|it| it.starts_with('-')) => {
                of_preset(rest).filter(|_| !is_after(name))
            }
            "cmake" => self.lacks_folder(dir, rest, &["--build"]),
            "ctest" => self.lacks_tests(dir, rest),
            "meson" | "ninja" => self.lacks_folder(dir, rest, &["-C"]),
            "make" | "gmake" => self.lacks_makefile(dir, rest),
            "npm" | "pnpm" | "yarn" if runs_script(rest) => self.lacks_package(dir, rest),
            "terraform" | "tofu" if asks_for("validate") => {
                let is_there = self.has_below(dir, ".terraform") || is_after(name);
                (!is_there).then(|| ".terraform".to_owned())
            }
            "dotnet" if has("--no-build") && !is_after(name) => Some("bin".to_owned()),
            "dotnet" if has("--no-restore") && !is_after(name) => Some("obj".to_owned()),
            _ => None,
        }
    }

    /// Returns the folder that an option names, where no command before it makes it.
    fn lacks_folder(&self, dir: &str, rest: &[String], options: &[&str]) -> Option<String> {
        let folder = value_of(rest, options)?;
        let path = check::join(dir, folder)?;
        let is_there = path.is_empty() || self.has_folder(&path) || self.names(&path);
        (!is_there).then(|| folder.to_owned())
    }

    /// Returns what ctest goes by, where no command before it may make it: without, it finds no tests, and passes.
    fn lacks_tests(&self, dir: &str, rest: &[String]) -> Option<String> {
        const LISTED: &str = "CTestTestfile.cmake";
        const BUILDS: [&str; 5] = ["--build-and-test", "--dashboard", "--script", "-D", "-S"];
        let builds_itself = || rest.iter().any(|word| BUILDS.contains(&word.as_str()));
        // A script of the project's may build.
        let is_script = |one: &Done| one.words.iter().take(2).any(|word| word.contains('/'));
        let is_built = || self.builds() || self.before.iter().any(is_script);
        let inside = value_of(rest, &["--test-dir"]);
        if inside.is_some() {
            return self.lacks_folder(dir, rest, &["--test-dir"]);
        }
        let is_kept = check::join(dir, LISTED).is_none_or(|path| has(self.look, &path));
        let is_there = is_kept || is_built() || builds_itself();
        (!is_there).then(|| of_preset(rest).unwrap_or_else(|| LISTED.to_owned()))
    }

    /// Returns the makefile that make goes by, where no command before it may make it.
    fn lacks_makefile(&self, dir: &str, rest: &[String]) -> Option<String> {
        let inside = value_of(rest, &["-C", "--directory"]).unwrap_or_default();
        // Where the command is said to run may be there already.
        let dirs = [dir.to_owned(), check::join(dir, inside)?];
        let asked = value_of(rest, &["-f", "--file", "--makefile"]);
        let names = match asked {
            Some(name) => vec![name],
            None => vec!["GNUmakefile", "Makefile", "makefile"],
        };
        let is_in = |dir: &String| names.iter().any(|name| self.has_below(dir, name));
        let is_there = dirs.iter().any(is_in);
        let is_told = !check::is_pattern(&dirs[1]) && !names[0].contains('$');
        let first = asked.unwrap_or("Makefile");
        (is_told && !is_there && !self.makes_makefile()).then(|| first.to_owned())
    }

    /// Says whether a command before it may make a makefile.
    pub(super) fn makes_makefile(&self) -> bool {
        const MAKERS: [&str; 6] = [
            "autogen.sh",
            "bootstrap",
            "cmake",
            "config",
            "configure",
            "qmake",
        ];
        let is_maker = |one: &Done| MAKERS.contains(&name_of(&one.words));
        self.before.iter().any(is_maker)
    }

    /// Returns the file that tells a package's scripts, where it is neither in the folder nor above.
    fn lacks_package(&self, dir: &str, rest: &[String]) -> Option<String> {
        let inside = value_of(rest, &["--prefix", "--cwd", "--dir", "-C"]).unwrap_or_default();
        let mut at = check::join(dir, inside)?;
        loop {
            if self.has_below(&at, "package.json") || check::is_pattern(&at) {
                return None;
            }
            at = match at.rsplit_once('/') {
                Some((above, _)) => above.to_owned(),
                None if at.is_empty() => return Some("package.json".to_owned()),
                None => String::new(),
            };
        }
    }

    /// Says whether something is there in a folder, be it tracked or not.
    fn has_below(&self, dir: &str, name: &str) -> bool {
        let path = check::join(dir, name);
        path.is_none_or(|path| has(self.look, &path) || self.look.is_there(&path))
    }
}

/// Returns how the folder is called in which a preset of CMake's builds.
fn of_preset(rest: &[String]) -> Option<String> {
    let preset = value_of(rest, &["--preset"])?;
    Some(format!("folder of the preset {preset}"))
}

/// Says whether a package manager of Node's is asked to run a script of the package's.
fn runs_script(rest: &[String]) -> bool {
    let mut operands = rest.iter().filter(|word| !word.starts_with('-'));
    operands
        .next()
        .is_some_and(|word| matches!(word.as_str(), "run" | "run-script" | "t" | "test"))
}
