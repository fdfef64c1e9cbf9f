//! Git's configuration as text: which files one includes, and settings written so that git reads the same. Pure.

use std::fmt::Write as _;

/// A setting: its name, as in `core.eol`, and its value; none where the name alone stands for true.
pub type Setting = (String, Option<String>);

/// A setting as it stands in a file: its section in small letters and without the part's name, its own name in small letters,
/// and its value.
type Line = (String, String, Option<String>);

/// Returns the settings in a file of git's configuration, in its order.
fn lines(text: &str) -> Vec<Line> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in joined(text).lines() {
        let mut rest = line.trim();
        if let Some(header) = rest.strip_prefix('[') {
            let end = header_end(header);
            let name = header[..end].trim();
            let name = name
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
                .next();
            section = name.unwrap_or_default().to_ascii_lowercase();
            rest = header.get(end + 1..).unwrap_or_default().trim();
        }
        if rest.is_empty() || rest.starts_with(['#', ';']) {
            continue;
        }
        let (key, value) = match rest.split_once('=') {
            Some((key, value)) => (key, Some(unquoted(value))),
            None => (rest, None),
        };
        found.push((section.clone(), key.trim().to_ascii_lowercase(), value));
    }
    found
}

/// Returns the paths that a file of git's configuration includes, on whatever condition, as they stand there.
pub fn included(text: &str) -> Vec<String> {
    let is_include = |section: &str| ["include", "includeif"].contains(&section);
    let all = lines(text).into_iter();
    let paths = all.filter(|(section, key, _)| is_include(section) && key == "path");
    paths.filter_map(|(_, _, path)| path).collect()
}

/// What git itself writes into the configuration of a repository that it clones or makes for a submodule, by the section's name
/// and the setting's (`builtin/clone.c`, `setup.c`, `builtin/submodule--helper.c`), and who the user is. None of it has git run or
/// believe anything; `core.worktree` has to be looked at.
const PLAIN: [(&str, &str); 16] = [
    ("core", "repositoryformatversion"),
    ("core", "filemode"),
    ("core", "bare"),
    ("core", "logallrefupdates"),
    ("core", "symlinks"),
    ("core", "ignorecase"),
    ("core", "precomposeunicode"),
    ("core", "worktree"),
    ("remote", "url"),
    ("remote", "fetch"),
    ("branch", "remote"),
    ("branch", "merge"),
    ("submodule", "url"),
    ("submodule", "active"),
    ("user", "name"),
    ("user", "email"),
];

/// Returns the first setting in a file of git's configuration that is not one which git writes there by itself.
pub fn not_plain(text: &str) -> Option<String> {
    let is_plain = |section: &str, key: &str| PLAIN.contains(&(section, key));
    let mut all = lines(text).into_iter();
    let odd = all.find(|(section, key, _)| !is_plain(section, key))?;
    Some(format!("{}.{}", odd.0, odd.1))
}

/// Returns the values of `core.worktree` in a file of git's configuration.
pub fn worktrees(text: &str) -> Vec<String> {
    let all = lines(text).into_iter();
    let named = all.filter(|(section, key, _)| section == "core" && key == "worktree");
    named.map(|(_, _, path)| path.unwrap_or_default()).collect()
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
    let is_command = |section: &str, key: &str| COMMANDS.contains(&(section, key));
    let all = lines(text).into_iter();
    let commands = all.filter(|(section, key, _)| is_command(section, key));
    commands.filter_map(|(_, _, command)| command).collect()
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

/// Says whether a value stands for true (`git_parse_maybe_bool`); one that git refuses counts as true.
pub fn is_true(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    let is_false = [&b"false"[..], b"no", b"off", b""].contains(&&value[..]);
    let is_zero = !value.is_empty() && value.iter().all(|byte| *byte == b'0');
    !is_false && !is_zero
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_true_or_false_as_git_reads_them() {
        for value in ["1", "true", "YES", "on", "2", "-1", "10"] {
            assert!(is_true(value.as_bytes()), "{value}");
        }
        for value in ["0", "00", "False", "no", "OFF", ""] {
            assert!(!is_true(value.as_bytes()), "{value}");
        }
    }

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
    fn only_what_git_writes_by_itself_is_plain() {
        let plain = "# made by git\n[core]\n\trepositoryformatversion = 0\n\tBare = false\n\tworktree = ../../../sm\n\
                     [remote \"origin\"]\n\turl = /a\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[user]\n\tname = a\n";
        assert_eq!(not_plain(plain), None);
        assert_eq!(worktrees(plain), ["../../../sm"]);
        for (odd, name) in [
            ("[core]\n\tfsmonitor\n", "core.fsmonitor"),
            ("[core] hooksPath = x\n", "core.hookspath"),
            ("[filter \"x\"]\n\tclean = y\n", "filter.clean"),
            ("[submodule \"x\"]\n\tupdate = !y\n", "submodule.update"),
            ("[url \"x\"]\n\tinsteadOf = y\n", "url.insteadof"),
            ("[include]\n\tpath = y\n", "include.path"),
            ("[user-x]\n\tname = y\n", "user-x.name"),
            ("[core]\n\tbare = false \\\n\n\tpager = y\n", "core.pager"),
            ("nonsense\n", "user.nonsense"),
        ] {
            assert_eq!(
                not_plain(&format!("{plain}{odd}")).as_deref(),
                Some(name),
                "{odd}"
            );
        }
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
