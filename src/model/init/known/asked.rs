//! What programs are asked for, and how the words are told that say so. Pure.

/// What programs are asked for that checks, and is not called so.
pub(super) const CHECKS: &[(&str, &[&str])] = &[
    ("cypress", &["run"]),
    ("go", &["env"]),
    ("mix", &["sobelow", "xref"]),
    ("rebar3", &["ct", "eunit", "proper", "xref"]),
];
/// What stands before what they are asked to run.
pub(super) const LEADS: &[&str] = &[
    "dlx",
    "exec",
    "foreach",
    "node-run",
    "run",
    "run-script",
    "task",
    "workspaces",
    "x",
];
/// What stands there with others.
pub(super) const ASKED_BY: &[(&str, &[&str])] = &[
    ("bundle", &["exec"]),
    ("cargo", &["+nightly", "hack", "llvm-cov", "make", "xtask"]),
    ("composer", &["exec", "run", "run-script"]),
    ("deno", &["task"]),
    ("go", &["mod", "tool"]),
    ("hatch", &["run"]),
    ("mise", &["exec", "run", "x"]),
    ("nix", &["flake"]),
    ("opam", &["exec"]),
    ("pdm", &["run"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("pixi", &["run"]),
    ("poetry", &["run"]),
    ("rebar3", &["as", "test"]),
    ("rye", &["run"]),
    ("uv", &["run", "tool"]),
];
/// Options whose value is the next word.
pub(super) const TAKES: &[&str] = &[
    "--color",
    "--config",
    "--cwd",
    "--dir",
    "--directory",
    "--file",
    "--filter",
    "--justfile",
    "--makefile",
    "--manifest-path",
    "--package",
    "--prefix",
    "--profile",
    "--project",
    "--settings",
    "--target-dir",
    "--taskfile",
    "--toolchain",
    "--workspace-root",
    "-C",
    "-F",
    "-I",
    "-f",
    "-p",
    "-pl",
    "-w",
];
