//! `evolve demo`: the real loop on a small repository made for it, with a scripted agent. Needs nothing but git and sh.

pub mod search;

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::options::{
    AgentOption, Global, GoalsOption, JobsOption, JunitOption, ProgressOption, RunOptions,
};
use crate::cli::start::run_loop;
use crate::effects::git::Git;
use crate::error::{Error, Result};
use crate::model::text;
use crate::view::width;

const README: &str = "# calc\n\nA calculator in shell.\n";
const CALC: &str = "add() { echo $(($1 + $2)); }\n# TODO: sub gives the right answer only for small numbers\nsub() { expr \"$1\" - \"$2\"; }\n";
const TESTS: &str = "set -eu\n. ./calc.sh\n[ \"$(add 1 2)\" = 3 ]\n[ \"$(sub 5 3)\" = 2 ]\necho 'all tests passed'\n";
const QUEUE: &str = "{\"title\":\"Teach calc to multiply\",\"severity\":\"medium\",\"type\":\"feature\",\"description\":\"mul 2 3 prints 6\"}\n";

/// The files of the repository.
const FILES: [(&str, &str); 5] = [
    ("README.md", README),
    ("calc.sh", CALC),
    ("tests/run.sh", TESTS),
    ("GOALS.yaml", include_str!("demo/GOALS.yaml")),
    (crate::model::ledger::QUEUE, QUEUE),
];
/// Limits that are never reached; without them those of the user's configuration would hold.
const CYCLES: u64 = 20;
const TIME: Duration = Duration::from_secs(600);
/// What the user's own git configuration must not decide here: commits of the scripted agent go through plain git.
const CONFIGURATION: [[&str; 2]; 5] = [
    ["user.name", "Demo"],
    ["user.email", "demo@example.invalid"],
    ["commit.gpgSign", "false"],
    ["core.hooksPath", "/dev/null"],
    ["core.autocrlf", "false"],
];

/// Makes the repository, runs the loop in it until it is dormant, and says where to look.
pub fn demo(global: &Global, keep_in: Option<&Path>, progress: ProgressOption) -> Result<u8> {
    let script = include_str!("demo/agent.sh");
    let (root, agent) = make(&folder(keep_in), "calc", &FILES, "agent.sh", script)?;
    std::env::set_current_dir(&root).map_err(|cause| Error::io("enter", &root, cause))?;
    let about = format!(
        "A small repository in {}, with three goals and one item of work.\n\n",
        root.display()
    );
    global.say(&width::page(&about, width::of_terminal()));
    let run = RunOptions {
        max_cycles: Some(CYCLES),
        dry_run: false,
        skip_baseline: false,
        test_first: false,
        agent: AgentOption {
            agent: Some(format!(
                "sh {}",
                text::shell_word(agent.as_os_str().as_bytes())
            )),
        },
        checks: JobsOption { jobs: None },
        progress,
        report: JunitOption::default(),
        max_time: Some(TIME),
        max_cost: None,
        max_tokens: None,
        idle_wait: None,
        isolate: None,
        prepare: None,
        link: Vec::new(),
        sandbox: None,
        require_sandbox: false,
        json: false,
        ignores_config: true,
        undo: None,
    };
    let global = Global {
        file: GoalsOption { goals: None },
        dir: None,
        ..global.clone()
    };
    let code = run_loop(&global, &run)?;
    let enter = format!("cd {}", text::shell_word(root.as_os_str().as_bytes()));
    let steps = [
        (enter.as_str(), ""),
        ("git log --stat", "every step, the undo included"),
        ("evolve history", "what became of each cycle"),
        ("evolve show 2", "the cycle that was undone"),
        (
            "evolve report --open",
            "one page about all of it, in the browser",
        ),
        ("cat .agents/evolve/session-summary.md", ""),
    ];
    let steps = width::commands(&steps, width::of_terminal());
    global.say(&format!("\nWhere to look:\n{steps}"));
    Ok(code)
}

/// Returns the folder in which the repository is made.
fn folder(keep_in: Option<&Path>) -> PathBuf {
    match keep_in {
        Some(folder) => folder.to_owned(),
        None => std::env::temp_dir().join(format!("evolve-demo-{}", std::process::id())),
    }
}

/// Makes a repository of these files in a folder, where it must not be there yet; returns its root and the agent's script
/// beside it.
fn make(
    folder: &Path,
    name: &str,
    files: &[(&str, &str)],
    agent: &str,
    script: &str,
) -> Result<(PathBuf, PathBuf)> {
    let root = folder.join(name);
    if root.exists() {
        return Err(Error::usage(format!("{} is there already", root.display()))
            .hint("name another folder with --keep-in"));
    }
    let write = |path: PathBuf, text: &str| -> Result<()> {
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|cause| Error::io("create", parent, cause))?;
        fs::write(&path, text).map_err(|cause| Error::io("write", &path, cause))
    };
    for (path, text) in files {
        write(root.join(path), text)?;
    }
    let agent = folder.join(agent);
    write(agent.clone(), script)?;
    let git = Git::at(&root);
    git.run(&["init", "--quiet", "--initial-branch=main"])?;
    for [name, value] in CONFIGURATION {
        git.run(&["config", name, value])?;
    }
    git.run(&["add", "--all"])?;
    let message = format!("{name}: first version");
    git.run(&["commit", "--quiet", "--message", &message])?;
    let root = root
        .canonicalize()
        .map_err(|cause| Error::io("open", &root, cause))?;
    let agent = agent
        .canonicalize()
        .map_err(|cause| Error::io("open", &agent, cause))?;
    Ok((root, agent))
}
