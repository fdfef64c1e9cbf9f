//! The shell that the commands of a step need, as CI would run them. Pure.

use super::commands::commands_of;
use crate::model::text;

/// What bash knows, and a plain shell may not or understands in another way (tried with dash 0.5.12).
const BASH: [&str; 33] = [
    "[[",
    "((",
    "<(",
    ">(",
    "<<<",
    "|&",
    "&>",
    "$'",
    "$\"",
    "=(",
    "+=",
    " == ",
    "pipefail",
    "source ",
    "function ",
    "declare ",
    "typeset ",
    "shopt ",
    "pushd ",
    "popd",
    "mapfile ",
    "readarray ",
    "let ",
    "select ",
    "coproc ",
    "echo -e",
    "read -",
    "printf -v",
    "printf %q",
    "wait -n",
    "test -v",
    "PIPESTATUS",
    "RANDOM",
];

/// Returns the commands for `sh -c`, which stop at the first that fails as CI has it; through bash where they need it.
pub(super) fn in_its_shell(body: &str, env: &[(String, String)], pipefail: bool) -> String {
    let needs_pipefail = pipefail && has_pipe(body);
    let is_bash = needs_pipefail || needs_bash(body);
    let flags = if pipefail { "-eo pipefail" } else { "-e" };
    // `a && b` stops by itself, and of a pipe it is the shell that tells.
    let is_list = commands_of(&body.replace(['|', '&'], " ")).len() > 1;
    let several = body.contains('\n') || is_list;
    let exports: Vec<String> = env
        .iter()
        .map(|(name, value)| format!("{name}={}", text::shell_word(value)))
        .collect();
    match (is_bash, several) {
        (true, _) => {
            let set = exports
                .iter()
                .map(|one| format!("{one} "))
                .collect::<String>();
            // As text and not as input, which is for its commands: one that reads it all would take the rest away.
            format!("{set}bash {flags} -c '{}'", body.replace('\'', r"'\''"))
        }
        (false, false) => {
            // What stands in front of one command is set for that alone, and only after the shell has put values into its words.
            let is_simple = !body.contains(['|', '&', ';', '$', '`', '(', '{', '!']);
            match (exports.is_empty(), is_simple) {
                (true, _) => body.to_owned(),
                (false, true) => format!("{} {body}", exports.join(" ")),
                (false, false) => format!("export {}\n{body}", exports.join(" ")),
            }
        }
        (false, true) => {
            let set = match exports.is_empty() {
                true => String::new(),
                false => format!("export {}\n", exports.join(" ")),
            };
            format!("set -e\n{set}{body}")
        }
    }
}

/// Says whether there is something that bash knows and a plain shell may not. Where that stands in quotes, bash is used for
/// nothing.
fn needs_bash(body: &str) -> bool {
    let expands = |rest: &str| {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let behind = rest.trim_start_matches('#').trim_start_matches(is_of_name);
        let mut behind = behind.chars();
        match behind.next() {
            Some(':') => !behind.next().is_some_and(|c| "-=?+".contains(c)),
            Some(c) => !"}-=?+%#@*".contains(c),
            None => false,
        }
    };
    let braces = |word: &str| {
        let bare = word.replace("${", "");
        let inside = bare
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'));
        inside.is_some_and(|(inside, _)| inside.contains(',') || inside.contains(".."))
    };
    BASH.iter().any(|word| body.contains(word))
        || body.split("${").skip(1).any(expands)
        || body.split_whitespace().any(braces)
}

/// Says whether a pipe may be in it; one in quotes is none, and does no harm here.
fn has_pipe(body: &str) -> bool {
    body.replace("||", "").replace(">|", "").contains('|')
}
