//! The program that runs a script, as the script's first line names it. Pure.

use super::path::join;
use super::{Instead, Used};

/// Returns the path of the program that runs a script with this text: what stands behind `#!`, or behind `env` there if it is a path.
/// None if the script does not say, or names a program that is looked for in PATH.
pub fn interpreter(text: &str) -> Option<&str> {
    named_in(text).filter(|named| named.contains('/'))
}

/// Returns where in folders of the repository the program is looked for, there or not, that runs a script with this text:
/// `#!/usr/bin/env python3`, run with `PATH=bin:$PATH`.
pub fn interpreter_in_path(used: &Used, text: &str) -> Vec<Instead> {
    let Some(program) = named_in(text).filter(|named| !named.contains('/')) else {
        return Vec::new();
    };
    let folders = used.places.programs.iter();
    let paths = folders.filter_map(|folder| join(folder, program));
    let of = || program.to_owned();
    paths.map(|path| Instead { path, of: of() }).collect()
}

fn named_in(text: &str) -> Option<&str> {
    let mut lines = text.lines();
    let mut words = lines.next()?.strip_prefix("#!")?.split_whitespace();
    let first = words.next()?;
    match first.rsplit('/').next() {
        Some("env") => {
            let mut words = words.map(|word| word.strip_prefix("-S").unwrap_or(word));
            words.find(|word| !word.is_empty() && !word.starts_with('-') && !word.contains('='))
        }
        // A path that is too long for the first line stands in the second one, which Python takes for the start of a text.
        Some("sh") => Some(lines.next().and_then(second_line).unwrap_or(first)),
        Some(_) | None => Some(first),
    }
}

/// Returns the path in a line as installers of Python's packages write it: `'''exec' "PATH" "$0" "$@"`.
fn second_line(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("'''exec' ")?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let path = match quote {
        Some(quote) => rest[1..].split(quote).next(),
        None => rest.split_whitespace().next(),
    };
    path.filter(|path| !path.contains('$'))
}

#[cfg(test)]
mod tests {
    use super::interpreter;

    #[test]
    fn the_first_line_names_what_runs_a_script() {
        for (text, path) in [
            (
                "#!/r/.venv/bin/python3\nimport x",
                Some("/r/.venv/bin/python3"),
            ),
            ("#! /r/bin/py -I", Some("/r/bin/py")),
            ("#!.venv/bin/python", Some(".venv/bin/python")),
            ("#!/usr/bin/env /r/bin/py -u", Some("/r/bin/py")),
            ("#!/usr/bin/env -S A=/b bin/py -u", Some("bin/py")),
            ("#!/usr/bin/env -Sbin/py -u", Some("bin/py")),
            ("#!/usr/bin/env python3", None),
            ("#!/bin/sh\necho", Some("/bin/sh")),
            (
                "#!/bin/sh\n'''exec' \"/a b/py\" \"$0\" \"$@\"\n' '''",
                Some("/a b/py"),
            ),
            ("#!/bin/sh\n'''exec' /r/py \"$0\" \"$@\"", Some("/r/py")),
            ("import x\n#!/r/py", None),
            ("#!", None),
            ("", None),
        ] {
            assert_eq!(interpreter(text), path, "{text}");
        }
    }
}
