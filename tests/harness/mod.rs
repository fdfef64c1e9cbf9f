//! A real repository in a sealed environment, a scripted agent, and the real binary.
//!
//! The agent is cut into invocations: the first call runs the first script, the second the second, and a call beyond the
//! last one fails, so that a test says exactly what happens in each cycle. Nothing of the caller's environment but PATH
//! leaks in; the clock starts at a fixed time in each process and goes on by a second each time it is asked.

#![allow(dead_code, reason = "each theme uses its own part of the harness")]

pub mod search;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// How long any run of the program may take; a hang fails the test.
const OUTER_LIMIT: Duration = Duration::from_secs(120);

/// A git repository with everything around it.
pub struct TestRepo {
    folder: TempDir,
    steps: AtomicUsize,
    /// Extra environment for the program.
    pub env: Vec<(String, String)>,
    /// Who runs git and the program, if that is not whoever runs the tests.
    user: Option<u32>,
}

/// The user without rights.
const NOBODY: u32 = 65534;

/// What a run of the program came to.
#[derive(Clone, Debug)]
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Asserts the exit code, showing everything that was printed if it is another.
    #[track_caller]
    pub fn expect(self, code: i32) -> Run {
        assert_eq!(
            self.code, code,
            "\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout, self.stderr
        );
        self
    }
}

impl TestRepo {
    /// A repository with one commit that holds these goals, in YAML below `goals:`.
    pub fn with_goals(goals: &str) -> TestRepo {
        let repo = TestRepo::empty();
        repo.write("GOALS.yaml", &format!("version: 1\ngoals:\n{goals}"));
        repo.commit_all("first");
        repo
    }

    /// A repository whose goals are the files that have to exist, as `(id, weight)`: goal `a` passes if the file `a` is
    /// there.
    pub fn with_files_wanted(goals: &[(&str, u8)]) -> TestRepo {
        let mut yaml = String::new();
        for (id, weight) in goals {
            let _ = writeln!(
                yaml,
                "  - {{id: {id}, description: file {id} exists, check: test -e {id}, weight: {weight}}}"
            );
        }
        TestRepo::with_goals(&yaml)
    }

    /// A repository without a commit.
    pub fn empty() -> TestRepo {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("home")).unwrap();
        fs::create_dir_all(folder.path().join("agent")).unwrap();
        fs::create_dir_all(folder.path().join("repo")).unwrap();
        let repo = TestRepo {
            folder,
            steps: AtomicUsize::new(0),
            env: Vec::new(),
            user: None,
        };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.git(&["config", "user.name", "Tester"]);
        repo.git(&["config", "user.email", "tester@example.invalid"]);
        repo
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// The journal outside the repository, if there is one.
    pub fn journal_outside(&self) -> Option<PathBuf> {
        self.kept_outside("journal")
    }

    /// What is kept of a kind outside the repository, if there is anything.
    pub fn kept_outside(&self, kind: &str) -> Option<PathBuf> {
        let entries = fs::read_dir(self.home().join(".local/state/evolve")).ok()?;
        let mut paths = entries.flatten().map(|entry| entry.path());
        paths.find(|path| path.extension().is_some_and(|end| end == kind))
    }

    /// Where it stands that the winner of a search is being applied.
    pub fn applying(&self) -> PathBuf {
        let name = evolve::effects::places::folder_name(&self.path(".git").canonicalize().unwrap());
        let folder = self.home().join(".local/state/evolve");
        fs::create_dir_all(&folder).unwrap();
        folder.join(format!("{name}.applying"))
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A folder beside the repository, for what must not be in it.
    pub fn outside(&self) -> PathBuf {
        self.folder.path().join("agent")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    pub fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.path(name)).is_ok()
    }

    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Commits what is tracked or staged and leaves untracked files alone; `file` is added first.
    pub fn commit_file(&self, file: &str) {
        self.git(&["add", file]);
        self.git(&["commit", "--quiet", "-m", file]);
    }

    /// Runs git in the sealed environment and returns its stdout, trimmed.
    #[track_caller]
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = self.command("git").args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Clones it without all of its objects to `clone` outside of it, as git does with these options; returns where.
    pub fn partial_clone(&self, options: &[&str]) -> String {
        self.git(&["config", "uploadpack.allowFilter", "true"]);
        let clone = self.out("clone").display().to_string();
        let url = format!("file://{}", self.root().display());
        self.git(&[&["clone", "--quiet"], options, &[&url, &clone]].concat());
        for name in ["user.name", "user.email"] {
            self.git(&["-C", &clone, "config", name, "n"]);
        }
        clone
    }

    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// The subjects of all commits, newest first.
    pub fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Every path outside the ledger with its mode and blob, as the commit has it.
    pub fn content(&self, commit: &str) -> Vec<String> {
        let listed = self.git(&["ls-tree", "-r", "-z", commit]);
        let is_content = |line: &&str| {
            !line.contains("\t.agents/evolve/") && !line.ends_with("\t.agents/rpi/next-work.jsonl")
        };
        listed
            .split('\0')
            .filter(|line| !line.is_empty())
            .filter(is_content)
            .map(str::to_owned)
            .collect()
    }

    /// `git status` in short form, a line each.
    pub fn status(&self) -> Vec<String> {
        self.git(&["status", "--porcelain"])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// A command in the repository, in the sealed environment.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.root()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap());
        command
            .env("HOME", self.home())
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        command
            .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
            .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z");
        command
            .env("EVOLVE_CLOCK", "2026-02-03T04:05:06Z")
            .env("NO_COLOR", "1");
        command.envs(self.env.iter().cloned());
        command.stdin(Stdio::null());
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// From here on everything is run by a user without special rights: nothing is denied to the one who may do all. Where a
    /// normal user runs the tests, that one it is already.
    pub fn by_normal_user(mut self) -> TestRepo {
        if nix::unistd::geteuid().is_root() {
            give_to(NOBODY, self.folder.path());
            let reachable = self.folder.path().join("evolve");
            copy_program(&reachable);
            self.user = Some(NOBODY);
        }
        self
    }

    /// Gives what a test made in the repository since to the user who runs everything.
    pub fn hand_over(&self) {
        if let Some(user) = self.user {
            give_to(user, &self.root());
        }
    }

    /// The program, in a place where its user can reach it.
    pub fn program(&self) -> PathBuf {
        match self.user {
            Some(_) => self.folder.path().join("evolve"),
            None => PathBuf::from(env!("CARGO_BIN_EXE_evolve")),
        }
    }

    /// Adds scripts for the next calls of the agent, one each.
    pub fn agent_does(&self, scripts: &[&str]) {
        let folder = self.outside();
        for script in scripts {
            let number = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
            fs::write(folder.join(format!("{number}.sh")), script).unwrap();
        }
        let agent = format!(
            "here=$PWD\ncd '{folder}'\nn=$(($(cat calls 2>/dev/null || echo 0) + 1))\necho $n >calls\ncat >brief-$n\ncd \"$here\"\n\
             [ -e '{folder}'/$n.sh ] || {{ echo \"the agent was called $n times\" >&2; exit 99; }}\n. '{folder}'/$n.sh\n",
            folder = folder.display(),
        );
        fs::write(folder.join("agent"), agent).unwrap();
    }

    /// Installs the scripted agent under the name of a real program, for a PATH that has nothing else but git, a shell and
    /// what scripts need. Its arguments are in `$OUT/args`, a line each.
    pub fn installs(&mut self, program: &str) {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let bin = self.outside().join("bin");
        if !bin.exists() {
            fs::create_dir_all(&bin).unwrap();
            for tool in ["git", "sh", "cat", "touch", "sleep", "rm", "echo", "test"] {
                symlink(which::which(tool).unwrap(), bin.join(tool)).unwrap();
            }
            let path = bin.display().to_string();
            self.env.push(("PATH".to_owned(), path));
        }
        if program.is_empty() {
            return;
        }
        let out = self.outside().display().to_string();
        let script = format!(
            "#!/bin/sh\nfor word in \"$@\"; do echo \"$word\"; done >'{out}/args'\n. '{out}/agent'\n"
        );
        fs::write(bin.join(program), script).unwrap();
        fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The command line of the scripted agent; one that has nothing to do fails when it is called.
    pub fn agent(&self) -> String {
        let script = self.outside().join("agent");
        if !script.exists() {
            self.agent_does(&[]);
        }
        format!("sh {}", script.display())
    }

    /// How often the agent was called; the script may be about to write it down.
    pub fn calls(&self) -> usize {
        fs::read_to_string(self.outside().join("calls"))
            .map_or(0, |calls| calls.trim().parse().unwrap_or(0))
    }

    /// The brief of the agent's n-th call, from 1.
    #[track_caller]
    pub fn brief(&self, call: usize) -> String {
        fs::read_to_string(self.outside().join(format!("brief-{call}"))).unwrap()
    }

    /// Runs the loop with the scripted agent and these arguments.
    pub fn run(&self, arguments: &[&str]) -> Run {
        let agent = format!("--agent={}", self.agent());
        let all: Vec<&str> = [agent.as_str()]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        self.evolve(&all)
    }

    /// Runs the scripted agent for one cycle with this script.
    pub fn cycle(&self, script: &str) -> Run {
        self.agent_does(&[script]);
        self.run(&["--max-cycles=1"])
    }

    /// Runs the program with these arguments only.
    pub fn evolve(&self, arguments: &[&str]) -> Run {
        finish(self.spawn(arguments))
    }

    /// Starts the program.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(self.program());
        command
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Starts the loop with the scripted agent.
    pub fn spawn_run(&self, arguments: &[&str]) -> Child {
        let agent = format!("--agent={}", self.agent());
        let all: Vec<&str> = [agent.as_str()]
            .into_iter()
            .chain(arguments.iter().copied())
            .collect();
        self.spawn(&all)
    }

    /// The records, oldest first.
    pub fn records(&self) -> Vec<Value> {
        let path = self.path(".agents/evolve/cycle-history.jsonl");
        let text = fs::read_to_string(path).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// One field of each record, as text.
    pub fn each(&self, field: &str) -> Vec<String> {
        let text = |record: &Value| match &record[field] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        self.records().iter().map(text).collect()
    }

    /// The newest record.
    #[track_caller]
    pub fn newest(&self) -> Value {
        self.records().pop().expect("there is no record")
    }

    #[track_caller]
    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The pid of the supervising process of the session that holds the lock, or held it last.
    #[track_caller]
    pub fn supervisor(&self) -> u32 {
        let lock = fs::read_to_string(self.private().join("lock")).unwrap();
        let line = lock.lines().last().unwrap();
        line.split(' ').next().unwrap().parse().unwrap()
    }

    /// The private directory.
    pub fn private(&self) -> PathBuf {
        self.path(".git/evolve")
    }

    /// Every file and link of the working tree outside the ledger and git's own folders, with mode and bytes: what an undo
    /// must not differ in.
    pub fn files(&self) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        collect(&self.root(), &self.root(), &mut found);
        found.retain(|path, _| {
            !path.starts_with(b".agents/evolve/") && path != b".agents/rpi/next-work.jsonl"
        });
        found
    }

    /// What lies in the quarantine, by file name.
    pub fn quarantined(&self) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
        let folder = self.private().join("quarantine");
        let mut found = BTreeMap::new();
        if folder.is_dir() {
            collect(&folder, &folder, &mut found);
        }
        let name = |path: Vec<u8>| path.rsplit(|byte| *byte == b'/').next().unwrap().to_vec();
        found
            .into_iter()
            .map(|(path, file)| (name(path), file))
            .collect()
    }
}

/// Every file and link below a folder outside git's own folders, with mode and bytes.
pub fn files_below(folder: &Path) -> BTreeMap<Vec<u8>, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    collect(folder, folder, &mut found);
    found
}

fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<Vec<u8>, (u32, Vec<u8>)>) {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let meta = fs::symlink_metadata(&path).unwrap();
        let bytes = match (meta.is_dir(), meta.is_symlink()) {
            (true, _) if path.file_name().is_some_and(|name| name == ".git") => continue,
            (true, _) => {
                collect(root, &path, found);
                continue;
            }
            (false, true) => fs::read_link(&path)
                .unwrap()
                .as_os_str()
                .as_bytes()
                .to_vec(),
            (false, false) if meta.is_file() => fs::read(&path).unwrap(),
            (false, false) => b"a pipe or its like".to_vec(),
        };
        let name = path.strip_prefix(root).unwrap().as_os_str().as_bytes();
        found.insert(name.to_vec(), (meta.mode(), bytes));
    }
}

/// Makes a user the owner of a folder and of all that is in it.
fn give_to(user: u32, folder: &Path) {
    std::os::unix::fs::lchown(folder, Some(user), Some(user)).unwrap();
    if !fs::symlink_metadata(folder).unwrap().is_dir() {
        return;
    }
    for entry in fs::read_dir(folder).unwrap() {
        give_to(user, &entry.unwrap().path());
    }
}

/// Puts the program where another user can reach it. `cp` writes it: what this process has open for writing, a program that another
/// test is just starting has open, too, and the kernel starts no program that is open for writing.
pub fn copy_program(to: &Path) {
    output(Command::new("cp").arg(env!("CARGO_BIN_EXE_evolve")).arg(to));
}

/// Waits for a started program; kills it if it takes longer than any test may.
pub fn finish(child: Child) -> Run {
    finish_within(child, OUTER_LIMIT)
}

/// Waits for a started program; kills it if it takes longer than this.
pub fn finish_within(mut child: Child, limit: Duration) -> Run {
    let mut stdout = child.stdout.take().unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let out = std::thread::spawn(move || read_all(&mut stdout));
    let err = std::thread::spawn(move || read_all(&mut stderr));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > limit {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!(
                "the program hung:\n{}\n{}",
                out.join().unwrap(),
                err.join().unwrap()
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    use std::os::unix::process::ExitStatusExt;
    Run {
        code: status
            .code()
            .unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
        stdout: without_times(&out.join().unwrap()),
        stderr: without_times(&err.join().unwrap()),
    }
}

/// A page of Markdown without the blanks that its tables are padded with.
pub fn unpadded(page: &str) -> String {
    let row = |line: &str| match line.starts_with('|') {
        true => line.split_whitespace().collect::<Vec<_>>().join(" "),
        false => line.to_owned(),
    };
    page.lines().map(|line| row(line) + "\n").collect()
}

/// What was told, without the time that each line of a session begins with where nobody watches at a terminal.
pub fn without_times(text: &str) -> String {
    let mut left = String::new();
    for line in text.split_inclusive('\n') {
        left.push_str(match line.split_once("Z ") {
            Some((time, rest)) if is_time(time) => rest,
            Some(_) | None => line,
        });
    }
    left
}

/// Says whether this is a time as in 2026-02-03T04:05:06, with any digits.
pub fn is_time(text: &str) -> bool {
    let like = "0000-00-00T00:00:00";
    let fits = |(a, b): (char, char)| a == b || (a == '0' && b.is_ascii_digit());
    text.len() == like.len() && like.chars().zip(text.chars()).all(fits)
}

fn read_all(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The pid of `evolve` itself, for the script of a check, an agent or a git: the parent of its supervising process, below which
/// all of them run, with a shell between or none.
pub const EVOLVE_PID: &str = "$(p=$PPID; until grep -q __supervise /proc/$p/cmdline; do p=$(cut -d' ' -f4 /proc/$p/stat); done; cut -d' ' -f4 /proc/$p/stat)";

/// Puts a script in front of git, which it can call as `$GIT`; returns the PATH that has it.
pub fn with_git(repo: &TestRepo, script: &str) -> String {
    let git = which::which("git").unwrap().display().to_string();
    let folder = repo.out("bin");
    fs::create_dir(&folder).unwrap();
    let shim = format!("#!/bin/sh\nGIT={git}\n{script}\nexec $GIT \"$@\"\n");
    write_program(&folder.join("git"), &shim);
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

/// Writes a script that can be run by its name.
pub fn write_program(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Waits until something holds; fails the test if it never does.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < OUTER_LIMIT, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Says whether a process lives (a zombie does not).
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Reads a pid that a script wrote to a file.
#[track_caller]
pub fn pid_in(path: &Path) -> u32 {
    wait_until("a script writes its pid", || {
        fs::read_to_string(path).is_ok_and(|text| text.ends_with('\n'))
    });
    fs::read_to_string(path).unwrap().trim().parse().unwrap()
}

/// Sends a signal by its name, as in `INT`.
pub fn signal(child: &Child, name: &str) {
    signal_pid(child.id(), name);
}

/// The same to any process.
pub fn signal_pid(pid: u32, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// The output of a command that must succeed.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

impl TestRepo {
    /// Lets scripts name the folder beside the repository as `$OUT`.
    pub fn with_out(mut self) -> TestRepo {
        let out = self.outside().display().to_string();
        self.env.push(("OUT".to_owned(), out));
        self
    }

    /// The same repository once more, with its home and `$OUT`, in a folder of its own: in memory where there is a place for
    /// that, because thousands of short sessions would mostly wait for the disk.
    pub fn copied(&self) -> TestRepo {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() && std::env::var_os("TMPDIR").is_none() {
            true => tempfile::tempdir_in(memory).unwrap(),
            false => tempfile::tempdir().unwrap(),
        };
        let mut copy = Command::new("cp");
        let from = self.folder.path().join(".");
        output(copy.arg("-a").arg(from).arg(folder.path()));
        let copied = TestRepo {
            folder,
            steps: AtomicUsize::new(self.steps.load(Ordering::Relaxed)),
            user: self.user,
            env: Vec::new(),
        };
        copied.with_out()
    }

    /// A file in `$OUT`.
    pub fn out(&self, name: &str) -> PathBuf {
        self.outside().join(name)
    }

    /// What a script wrote to a file in `$OUT`.
    #[track_caller]
    pub fn said(&self, name: &str) -> String {
        let path = self.out(name);
        fs::read_to_string(path).unwrap_or_else(|cause| panic!("{name}: {cause}"))
    }

    /// Waits until a script has made a file in `$OUT`.
    #[track_caller]
    pub fn wait_for(&self, name: &str) {
        wait_until(name, || self.out(name).exists());
    }

    /// The user's permanent kill file.
    pub fn kill_file(&self) -> PathBuf {
        self.home().join(".config/evolve/KILL")
    }

    /// Makes the user's permanent kill file.
    pub fn kill(&self) {
        fs::create_dir_all(self.kill_file().parent().unwrap()).unwrap();
        // In one step: the program may look between making and filling a file.
        let file = self.out("kill");
        fs::write(&file, "enough\n").unwrap();
        fs::rename(file, self.kill_file()).unwrap();
    }

    /// Runs the program with these arguments and this extra environment.
    pub fn evolve_with(&self, env: &[(&str, &str)], arguments: &[&str]) -> Run {
        let mut command = self.command(env!("CARGO_BIN_EXE_evolve"));
        command.envs(env.iter().copied()).args(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().unwrap())
    }
}

/// Asserts that the processes whose ids stand in these files are gone.
#[track_caller]
pub fn assert_gone(files: &[PathBuf]) {
    for file in files {
        let pid = pid_in(file);
        assert!(!is_alive(pid), "{} lives: {pid}", file.display());
    }
}

impl TestRepo {
    /// Text of the program with everything that differs from run to run replaced by a word for it.
    pub fn redacted(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (folder, word) in [
            (self.root(), "[root]"),
            (self.home(), "[home]"),
            (self.outside(), "[outside]"),
            (self.folder.path().to_owned(), "[folder]"),
        ] {
            text = text.replace(&folder.canonicalize().unwrap().display().to_string(), word);
            text = text.replace(&folder.display().to_string(), word);
        }
        redacted(&text)
    }

    /// What the program says on stderr, redacted; it has to end with `code`, and to say nothing on stdout.
    #[track_caller]
    pub fn error(&self, code: i32, arguments: &[&str]) -> String {
        let run = self.evolve(arguments).expect(code);
        assert_eq!(run.stdout, "", "{}", run.stderr);
        self.redacted(&run.stderr)
    }

    /// What the program says on stdout, redacted; it has to end with 0, and to say nothing on stderr.
    #[track_caller]
    pub fn answer(&self, arguments: &[&str]) -> String {
        let run = self.evolve(arguments).expect(0);
        assert_eq!(run.stderr, "", "{}", run.stdout);
        self.redacted(&run.stdout)
    }
}

/// Text with ids, times and durations replaced by a word for each.
pub fn redacted(text: &str) -> String {
    let mut text = text.to_owned();
    for (pattern, word) in [
        (r"\b\d{8}T\d{6}Z-[0-9a-f]+\b", "[session]"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[time]"),
        (r"\b[0-9a-f]{40}\b", "[commit]"),
        (r"\b[0-9a-f]{10}\b", "[id]"),
        // What pads a duration differs with its length.
        (r" *(?:<0\.1 s|\b\d+\.\d s\b|\b\d+ s\b) {2,}", " [s]  "),
        (r" *(?:<0\.1 s|\b\d+\.\d s\b|\b\d+ s\b)", " [s]"),
        (r"\bprocess \d+", "process [pid]"),
        (r"\b\d+ checks? at once", "[jobs] at once"),
        (r"PATH is \S+", "PATH is [path]"),
        (r"(?:/usr)?/bin/sh: ", "sh: "),
        // What works differs from machine to machine.
        (r"(?m)^sandboxes .*$", "sandboxes  [here]"),
    ] {
        let pattern = regex::Regex::new(pattern).unwrap();
        text = pattern.replace_all(&text, word).into_owned();
    }
    text
}

/// Every path below a folder with its mode and a digest of what it holds: equal before and after what writes nothing.
pub fn everything_below(folder: &Path) -> std::collections::BTreeMap<PathBuf, (u32, u64)> {
    use std::hash::{DefaultHasher, Hash, Hasher};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let held = if meta.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if meta.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .as_os_str()
                    .as_bytes()
                    .to_vec()
            } else if meta.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            let mut digest = DefaultHasher::new();
            held.hash(&mut digest);
            found.insert(path, (meta.mode(), digest.finish()));
        }
    }
    found
}

impl TestRepo {
    /// Commits a goals file with these goals, in YAML below `goals:`.
    pub fn commit_goals(&self, goals: &str) {
        self.write("GOALS.yaml", &format!("version: 1\ngoals:\n{goals}"));
        self.commit_all("goals");
    }

    /// A check outside the repository that does one of these steps each time it is run, in turn; the last one stays.
    pub fn check_in_turn(&self, name: &str, steps: &[&str]) -> String {
        let folder = self.outside();
        for (index, step) in steps.iter().enumerate() {
            fs::write(folder.join(format!("{name}.{}", index + 1)), step).unwrap();
        }
        let script = format!(
            "cd '{}'\nn=$(($(cat {name}.runs 2>/dev/null || echo 0) + 1))\necho $n >{name}.runs\n\
             [ $n -le {last} ] || n={last}\n. ./{name}.$n\n",
            folder.display(),
            last = steps.len()
        );
        fs::write(folder.join(name), script).unwrap();
        format!("sh {}", folder.join(name).display())
    }

    /// How often a check that `check_in_turn` made was run.
    pub fn runs(&self, name: &str) -> usize {
        fs::read_to_string(self.outside().join(format!("{name}.runs")))
            .map_or(0, |runs| runs.trim().parse().unwrap())
    }

    /// The value of a trailer of a commit.
    pub fn trailer(&self, commit: &str, key: &str) -> String {
        let format = format!("--format=%(trailers:key={key},valueonly)");
        self.git(&["log", "-1", &format, commit]).trim().to_owned()
    }
}

impl Run {
    /// The events that `--json` printed; each fits its schema.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let event = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                evolve::model::schema::check("event", &value),
                Ok(()),
                "{line}"
            );
            value
        };
        self.stdout.lines().map(event).collect()
    }
}
