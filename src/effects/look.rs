//! How `evolve init` asks the disk: git's listing, small text files without following links, programs on the PATH.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use crate::effects::repo::Repo;
use crate::effects::{files, places, process, program};
use crate::error::Result;
use crate::model::init::Look;
use crate::model::{check, ledger, text};

/// The most bytes of a file that are read; a longer one is no manifest of anybody's.
const READ_LIMIT: u64 = 1 << 20;
/// The most files that are listed.
const MOST_FILES: usize = 200_000;
/// What the folder of an environment of Python has.
const ENVIRONMENT: &str = "pyvenv.cfg";
/// How many bytes of a program tell what runs it.
const HEAD: u64 = 1024;
/// How long Python, or Rust's compiler, may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A working tree that is looked at.
pub struct Disk {
    root: PathBuf,
    files: Vec<String>,
    /// The Pythons that did not answer in time: they are asked no more.
    silent: RefCell<BTreeSet<PathBuf>>,
    /// What the compiler said of its version.
    rust_version: OnceCell<Option<String>>,
}

impl Disk {
    /// Lists what git tracks and would track; a path that does not show as it is, is left out, and so is what was installed into the
    /// tree: packages of Node, and environments of Python.
    pub fn of(repo: &Repo) -> Result<Disk> {
        let asked = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ];
        let listed = repo.git.run(&asked)?;
        let is_shown = |path: &&str| {
            let is_odd = |c: char| c.is_control() || text::is_invisible(c);
            !path.is_empty()
                && !path.chars().any(is_odd)
                && !ledger::is_ledger_path(path.as_bytes())
        };
        let paths = listed.split(|byte| *byte == 0);
        let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
        let paths: Vec<&str> = paths.filter(is_shown).collect();
        let environments = paths
            .iter()
            .filter_map(|path| path.strip_suffix(ENVIRONMENT));
        let environments: BTreeSet<&str> = environments.filter(|it| !it.is_empty()).collect();
        let is_installed = |path: &str| {
            let folders = path.match_indices('/').map(|(index, _)| &path[..=index]);
            let mut folders = folders.map(|folder| (folder, folder.ends_with("node_modules/")));
            folders.any(|(folder, is_of_node)| is_of_node || environments.contains(folder))
        };
        let own = paths.iter().filter(|path| !is_installed(path));
        let own = own.take(MOST_FILES).map(|path| (*path).to_owned());
        let mut files: Vec<String> = own.collect();
        files.sort();
        files.dedup();
        Ok(Disk {
            root: repo.root.clone(),
            files,
            silent: RefCell::default(),
            rust_version: OnceCell::new(),
        })
    }

    /// Returns a path only if no folder above it is a link.
    fn place(&self, path: &str) -> Option<PathBuf> {
        files::is_beneath(&self.root, path.as_bytes()).then(|| self.root.join(path))
    }
}

/// Returns what git neither tracks nor ignores; a folder of which it tracks nothing stands for all in it, with a slash at its end.
pub fn untracked(repo: &Repo) -> Result<Vec<String>> {
    let asked = [
        "ls-files",
        "-z",
        "--others",
        "--exclude-standard",
        "--directory",
        "--no-empty-directory",
    ];
    let listed = repo.git.run(&asked)?;
    let paths = listed.split(|byte| *byte == 0);
    let paths = paths.filter_map(|path| std::str::from_utf8(path).ok());
    let paths = paths.filter(|path| !path.is_empty()).take(MOST_FILES);
    Ok(paths.map(str::to_owned).collect())
}

/// Returns the Python that a program is, or is a script for; of any other program that on the PATH, which it may call.
fn python_of(program: &Path) -> Option<PathBuf> {
    let is_python = |path: &Path| {
        let name = path.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with("python") || name.starts_with("pypy"))
    };
    if is_python(program) {
        return Some(program.to_owned());
    }
    let mut start = Vec::new();
    let file = fs::File::open(program).ok()?;
    file.take(HEAD).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let named = check::interpreter(&start).map(PathBuf::from);
    let named = named.filter(|path| is_python(path));
    named.or_else(|| which::which_global("python3").ok())
}

/// Says whether a program of Cargo's is only rustup's word for it, and no toolchain has it.
fn is_hollow(program: &str) -> bool {
    let has = |toolchain: &PathBuf| toolchain.join("bin").join(program).exists();
    program.starts_with("cargo-") && toolchains_for(program).is_some_and(|all| !all.iter().any(has))
}

/// Returns the folders of rustup's toolchains, if a program is its word for one of theirs.
fn toolchains_for(program: &str) -> Option<Vec<PathBuf>> {
    let real = which::which_global(program).ok()?.canonicalize().ok()?;
    let is_rustups = real.file_name() == Some(OsStr::new("rustup"));
    let home = places::of_user("RUSTUP_HOME", ".rustup").filter(|_| is_rustups)?;
    let all = fs::read_dir(home.join("toolchains")).ok()?;
    Some(all.filter_map(|one| Some(one.ok()?.path())).collect())
}

/// Asks a Python whether it finds a module, from where none of the repository's lies; none if it does not answer in time.
fn finds_module(python: &Path, module: &str) -> Option<bool> {
    let mut asked = Command::new(python);
    asked.args(["-c", &check::code_that_looks_for(module)]);
    asked.current_dir("/").stdin(Stdio::null());
    asked.stdout(Stdio::null()).stderr(Stdio::null());
    let ended = process::run_alone(asked, PATIENCE).ok().flatten()?;
    Some(ended.code() != Some(check::MISSING))
}

/// Asks Rust's compiler for its version, as it is called in a folder; none if it does not say one in time.
fn rust_version(folder: &Path) -> Option<String> {
    let (mut said, told) = std::io::pipe().ok()?;
    // What it may have started holds the other end; what it said is there by its end.
    fcntl(&said, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).ok()?;
    let mut asked = Command::new("rustc");
    asked.arg("--version").current_dir(folder);
    asked
        .stdin(Stdio::null())
        .stdout(told)
        .stderr(Stdio::null());
    let ended = process::run_alone(asked, PATIENCE).ok().flatten()?;
    let mut line = [0; 256];
    let length = said.read(&mut line).ok()?;
    let line = std::str::from_utf8(&line[..length]).ok()?;
    // As in `rustc 1.95.0 (f2d3ce0bd 2026-03-21)`.
    let version = line.strip_prefix("rustc ")?.split_whitespace().next()?;
    ended.success().then(|| version.to_owned())
}

impl Look for Disk {
    fn files(&self) -> &[String] {
        &self.files
    }

    fn read(&self, path: &str) -> Option<String> {
        let bytes = files::read_bounded(&self.place(path)?, READ_LIMIT).ok()??;
        let text = String::from_utf8(bytes).ok()?;
        Some(
            text.strip_prefix('\u{feff}')
                .map(str::to_owned)
                .unwrap_or(text),
        )
    }

    fn is_there(&self, path: &str) -> bool {
        // A virtual environment is full of links: this one is only looked for.
        self.root.join(path).exists()
    }

    fn is_executable(&self, path: &str) -> bool {
        let is_so = |place: &Path| {
            let meta = fs::symlink_metadata(place);
            meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        };
        self.place(path).is_some_and(|place| is_so(&place))
    }

    fn finds(&self, program: &str) -> bool {
        program::is_found(program) && !is_hollow(program)
    }

    fn imports(&self, program: &str, module: &str) -> bool {
        let path = match program.contains('/') {
            true => Some(self.root.join(program)),
            false => which::which_global(program).ok(),
        };
        let Some(python) = path.and_then(|path| python_of(&path)) else {
            return true;
        };
        if self.silent.borrow().contains(&python) {
            return true;
        }
        finds_module(&python, module).unwrap_or_else(|| {
            self.silent.borrow_mut().insert(python);
            true
        })
    }

    fn has_toolchain(&self, name: &str) -> bool {
        // The machine stands behind it, and a date may: `nightly-2026-01-02-x86_64-unknown-linux-gnu`.
        let is_it = |toolchain: &PathBuf| {
            let toolchain = toolchain.file_name().and_then(OsStr::to_str);
            let rest = toolchain.and_then(|toolchain| toolchain.strip_prefix(name));
            rest.is_some_and(|rest| {
                let machine = rest.strip_prefix('-');
                rest.is_empty() || machine.is_some_and(|it| it.starts_with(char::is_alphabetic))
            })
        };
        toolchains_for("cargo").is_none_or(|all| all.iter().any(is_it))
    }

    fn rust_version(&self) -> Option<&str> {
        let asked = || rust_version(&self.root);
        self.rust_version.get_or_init(asked).as_deref()
    }

    fn has_target(&self, name: &str) -> bool {
        let has = |toolchain: &PathBuf| toolchain.join("lib/rustlib").join(name).exists();
        toolchains_for("cargo").is_none_or(|all| all.iter().any(has))
    }

    fn is_set(&self, variable: &str) -> bool {
        std::env::var_os(variable).is_some_and(|value| !value.is_empty())
    }
}
