//! `evolve demo search`: a real search on a small repository made for it, with a scripted agent.

use std::path::Path;

use clap::Parser;

use super::{folder, make};
use crate::cli::arguments::Arguments;
use crate::cli::options::{Global, ProgressOption};
use crate::error::{Error, Result};
use crate::model::text;
use crate::view::width;

/// The files of the repository.
const FILES: [(&str, &str); 4] = [
    (
        "README.md",
        "# top\n\nThe three most frequent words of a text.\n",
    ),
    ("top.sh", include_str!("search/top.sh")),
    ("size.sh", include_str!("search/size.sh")),
    ("test.sh", include_str!("search/test.sh")),
];
/// How many attempts the agent has something for.
const ATTEMPTS: &str = "8";

/// Makes the repository, searches in it, and says where to look.
pub fn demo(global: &Global, keep_in: Option<&Path>, progress: ProgressOption) -> Result<u8> {
    let script = include_str!("search/agent.sh");
    let (root, agent) = make(&folder(keep_in), "top", &FILES, "agent.sh", script)?;
    std::env::set_current_dir(&root).map_err(|cause| Error::io("enter", &root, cause))?;
    let agent = format!(
        "sh {}",
        text::shell_word(std::os::unix::ffi::OsStrExt::as_bytes(agent.as_os_str()))
    );
    let shown = root.display();
    let about = format!(
        "A small repository in {shown}, with a script that is to become as small as it can be and still pass its tests:"
    );
    global.say(&width::page(&about, width::of_terminal()));
    global.say(&format!(
        "\n\n  evolve search 'sh size.sh' --direction min --files top.sh --gate 'sh test.sh' --max-attempts {ATTEMPTS}\n\n"
    ));
    let words = [
        "evolve",
        "search",
        "sh size.sh",
        "--direction",
        "min",
        "--files",
        "top.sh",
        "--gate",
        "sh test.sh",
        "--max-attempts",
        ATTEMPTS,
        "--seed",
        "1",
        "--agent",
        &agent,
        "--max-time",
        "10m",
    ];
    let mut asked = Arguments::try_parse_from(words).map_err(|cause| {
        Error::internal(format!(
            "BUG: the demonstration cannot be asked for: {cause}"
        ))
    })?;
    asked.global = Global {
        dir: None,
        ..global.clone()
    };
    asked.run.progress = progress;
    asked.run.ignores_config = true;
    let code = crate::cli::run(asked)?;
    let root = std::os::unix::ffi::OsStrExt::as_bytes(root.as_os_str());
    let enter = format!("cd {}", text::shell_word(root));
    let steps = [
        (enter.as_str(), ""),
        ("evolve search board", "the attempts, the best first"),
        ("evolve search diff 6", "what the winner changed"),
        (
            "evolve search apply",
            "brings it to the branch, untouched so far",
        ),
    ];
    let steps = width::commands(&steps, width::of_terminal());
    global.say(&format!(
        "\nWhere to look, and what would be next:\n{steps}"
    ));
    Ok(code)
}
