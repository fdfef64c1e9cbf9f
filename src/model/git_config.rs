//! Git's configuration as text: which files one includes, and settings written so that git reads the same. Pure.

use std::fmt::Write as _;

/// A setting: its name, as in `core.eol`, and its value; none where the name alone stands for true.
pub type Setting = (String, Option<String>);

/// Returns the paths that a file of git's configuration includes, on whatever condition, as they stand there.
pub fn included(text: &str) -> Vec<String> {
    let mut is_include = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        if let Some(header) = rest.strip_prefix('[') {
            let end = header_end(header);
            let name = header[..end].trim();
            let name = name.split(|c: char| !c.is_ascii_alphabetic()).next();
            is_include = ["include", "includeif"]
                .contains(&name.unwrap_or_default().to_ascii_lowercase().as_str());
            rest = header.get(end + 1..).unwrap_or_default().trim();
        }
        let Some((key, value)) = rest.split_once('=') else {
            continue;
        };
        if is_include && key.trim().eq_ignore_ascii_case("path") {
            found.push(unquoted(value));
        }
    }
    found
}

/// Settings whose value git runs, by the section's name and the setting's.
const COMMANDS: [(&str, &str); 10] = [
    ("filter", "clean"),
    ("filter", "smudge"),
    ("filter", "process"),
    ("diff", "textconv"),
    ("diff", "command"),
    ("diff", "external"),
    ("merge", "driver"),
    ("core", "sshcommand"),
    ("core", "alternaterefscommand"),
    ("gpg", "program"),
];

/// Returns the commands that a file of git's configuration has git run.
pub fn commands(text: &str) -> Vec<String> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in joined(text).lines() {
        let mut rest = line.trim();
        if let Some(header) = rest.strip_prefix('[') {
            let end = header_end(header);
            let name = header[..end].trim();
            let name = name.split(|c: char| !c.is_ascii_alphanumeric()).next();
            section = name.unwrap_or_default().to_ascii_lowercase();
            rest = header.get(end + 1..).unwrap_or_default().trim();
        }
        if let Some((key, value)) = rest.split_once('=') {
            let key = key.trim().to_ascii_lowercase();
            if COMMANDS.contains(&(section.as_str(), key.as_str())) {
                found.push(unquoted(value));
            }
        }
    }
    found
}

/// Returns the text with lines made one that a backslash joins.
fn joined(text: &str) -> String {
    let mut joined = String::new();
    for line in text.lines() {
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        match backslashes % 2 {
            0 => joined.extend([line, "\n"]),
            _ => joined.push_str(&line[..line.len() - 1]),
        }
    }
    joined
}

/// Returns where the header of a section ends: at the first bracket that is in no quotes.
fn header_end(header: &str) -> usize {
    let mut is_quoted = false;
    let mut is_escaped = false;
    for (at, letter) in header.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return at,
            _ => {}
        }
    }
    header.len()
}

/// Reads a value: quotes and escapes taken away, without the comment behind it.
fn unquoted(value: &str) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    let mut letters = value.trim().chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text.trim_end().to_owned()
}

/// Writes settings as a file of git's configuration.
pub fn written(settings: &[Setting]) -> String {
    let mut text = String::new();
    for (name, value) in settings {
        let (Some(first), Some(last)) = (name.find('.'), name.rfind('.')) else {
            continue;
        };
        let section = &name[..first];
        let _ = match name.get(first + 1..last) {
            Some(sub) => writeln!(text, "[{section} {}]", quoted(sub)),
            None => writeln!(text, "[{section}]"),
        };
        let key = &name[last + 1..];
        let _ = match value {
            Some(value) => writeln!(text, "\t{key} = {}", quoted(value)),
            None => writeln!(text, "\t{key}"),
        };
    }
    text
}

/// Quotes a value or the name of a part as git's configuration wants it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_is_included_is_found() {
        let text = "[core]\n\tpath = no\n[include]\n  path = ../one # why\n\tPath=\"two # \\\"2\\\"\" ; x\n\
                    [includeIf \"gitdir:~/a]b/\"] path = ~/three\n[Include]path=/four\n\
                    [remote \"include\"]\n\tpath = no\n[include \n";
        let wanted = ["../one", "two # \"2\"", "~/three", "/four"];
        assert_eq!(included(text), wanted);
        assert!(included("[include]\npath\n= x\n[").is_empty());
    }

    #[test]
    fn every_command_that_git_would_run_is_found() {
        let text = "[filter \"a.clean\"]\n\tclean = one %f # why\n\tSmudge=\"two ; \\\"x\\\"\" ; c\n\trequired = true\n\
                    [Diff \"x\"] textconv = thr\\\nee\n\tcommand=four\\\\\n[merge \"m\"]\ndriver = five\n\
                    [core]\n\tsshCommand = six\n\tclean = no\n[gpg \"ssh\"]\n program = seven\n[alias]\n\tclean = no\n";
        let wanted = [
            "one %f",
            "two ; \"x\"",
            "three",
            "four\\",
            "five",
            "six",
            "seven",
        ];
        assert_eq!(commands(text), wanted);
    }

    #[test]
    fn what_is_written_says_what_was_meant() {
        let setting = |name: &str, value: Option<&str>| (name.to_owned(), value.map(str::to_owned));
        let text = written(&[
            setting("core.eol", Some("lf")),
            setting("filter.a.\"b\".clean", Some("sed 's/\\n/\n/'")),
            setting("core.bare", None),
            setting("nothing", None),
        ]);
        assert_eq!(
            text,
            "[core]\n\teol = \"lf\"\n[filter \"a.\\\"b\\\"\"]\n\tclean = \"sed 's/\\\\n/\\n/'\"\n[core]\n\tbare\n"
        );
    }
}
