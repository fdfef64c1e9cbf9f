//! What nox runs in each of its sessions, as noxfile.py has it. Pure.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::text;

/// The head of a session: what its decorator is told, and what it is called.
static SESSION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^@(?:nox\.)?session(?:\((?<told>[^()]*)\))?[ \t]*\n(?:@[^\n]*\n)*def[ \t]+(?<name>\w+)",
    )
    .expect("BUG: a pattern of ours is no pattern")
});
/// A name that a session is told to have.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\bname\s*=\s*["'](?<name>[\w.-]+)["']"#)
        .expect("BUG: a pattern of ours is no pattern")
});
/// What a session runs.
static RUN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bsession\.run(?:_always)?\(").expect("BUG: a pattern of ours is no pattern")
});

/// Returns the names of the sessions.
pub(super) fn names(file: &str) -> Vec<String> {
    sessions(file).into_iter().map(|(name, _)| name).collect()
}

/// Returns what a session runs, one command a line; without a name, what all of them do. What is no plain text among its words is left
/// out: it is handed on, or an option.
pub(super) fn text_of(file: &str, name: &str) -> Option<String> {
    let is_meant = |own: &str| {
        let version = name.strip_prefix(own);
        name.is_empty() || version.is_some_and(|it| it.is_empty() || it.starts_with('-'))
    };
    let meant = sessions(file).into_iter().filter(|(own, _)| is_meant(own));
    let lines: Vec<String> = meant.flat_map(|(_, body)| commands(&body)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Returns each session with its code.
fn sessions(file: &str) -> Vec<(String, String)> {
    let found = SESSION.captures_iter(file).map(|it| {
        let told = it.name("told").map(|it| it.as_str()).unwrap_or_default();
        let name = match NAMED.captures(told) {
            Some(named) => named["name"].to_owned(),
            None => it["name"].to_owned(),
        };
        let rest = &file[it.get(0).map_or(0, |it| it.end())..];
        // What stands at the beginning of a line is of it no longer.
        let mut lines = rest.lines();
        let mut body: Vec<&str> = lines.next().into_iter().collect();
        let is_of_it = |line: &&str| line.is_empty() || line.starts_with([' ', '\t', ')', '#']);
        body.extend(lines.take_while(is_of_it));
        (name, body.join("\n"))
    });
    found.collect()
}

/// Returns the commands that code runs, in words of the shell.
fn commands(body: &str) -> Vec<String> {
    let found = RUN.find_iter(body).map(|it| words(&body[it.end()..]));
    let plain = found.filter(|words| !words.is_empty());
    let typed = plain.map(|words| {
        let words: Vec<String> = words.iter().map(text::shell_word).collect();
        words.join(" ")
    });
    typed.collect()
}

/// Returns the arguments of a call that are plain texts, up to its end.
fn words(call: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut depth, mut text, mut quote, mut is_plain) = (0_usize, String::new(), None, true);
    let mut chars = call.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', Some(_)) => text.extend(chars.next()),
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => text.push(c),
            ('"' | '\'', None) => quote = Some(c),
            ('(' | '[' | '{', None) => {
                depth += 1;
                is_plain = false;
            }
            (')', None) if depth == 0 => break,
            (')' | ']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                words.extend(is_plain.then(|| std::mem::take(&mut text)));
                text.clear();
                is_plain = true;
            }
            (c, None) => is_plain &= c.is_whitespace(),
        }
    }
    words.extend(is_plain.then_some(text));
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_run_what_their_code_does() {
        let file = "import nox\n\n@nox.session(python=['3.11', '3.12'], name=\"unit\")\n@nox.parametrize('a', [1])\n\
            def tests(session, a):\n    session.install('-e', '.[test]')\n    session.run(\n        \"pytest\", \"-q\",\n        *session.posargs, env={'A': 'b'},\n    )\n\n\
            @nox.session\ndef lint(session: nox.Session) -> None:\n    session.run('ruff', 'check', f\"{x}\")\n    for it in all:\n        session.run('mypy')\n\n\
            def other(session):\n    session.run('rm')\n";
        assert_eq!(names(file), ["unit", "lint"]);
        assert_eq!(text_of(file, "unit").as_deref(), Some("pytest '-q'"));
        assert_eq!(text_of(file, "unit-3.12").as_deref(), Some("pytest '-q'"));
        assert_eq!(text_of(file, "lint").as_deref(), Some("ruff check\nmypy"));
        assert_eq!(
            text_of(file, "").as_deref(),
            Some("pytest '-q'\nruff check\nmypy")
        );
        assert_eq!(text_of(file, "other"), None);
    }
}
