//! One program that is called: the files it runs, and those that steer it. Pure.

use super::programs::{Arguments, interpreter, scan, script_by_option};
use super::steering::{Groups, steering};

/// What a path below the root begins with that does not depend on the current folder.
pub const ROOT: char = '\u{2}';

/// One program that is called, and from where.
pub struct Call {
    /// Directory below the root, empty for the root; `None` if it lies outside.
    pub dir: Option<String>,
    /// Program and arguments; never empty.
    pub words: Vec<String>,
    /// The file on its standard input.
    pub stdin: Option<String>,
}

impl Call {
    /// Returns `word` as a path below the root.
    pub fn path(&self, word: &str) -> Option<String> {
        let dir = self.dir.as_deref().or(word.starts_with(ROOT).then_some(""));
        join(dir?, word).filter(|path| !path.is_empty())
    }

    /// Returns the files by which the tool is steered, as they are.
    pub fn steered_by(&self, is_file: &dyn Fn(&str) -> bool) -> Vec<String> {
        let there = |group: Vec<String>| group.into_iter().find(|path| is_file(path));
        let groups = self.choices(steering);
        groups.into_iter().filter_map(there).collect()
    }

    /// Returns the paths of files that steer the tool: in each group the first that exists counts.
    pub fn choices(&self, groups: fn(&str, Option<&str>) -> Groups) -> Vec<Vec<String>> {
        let (name, subcommand) = self.steered();
        if matches!(name.as_str(), "make" | "gmake") && !self.scripts().is_empty() {
            return Vec::new();
        }
        let paths = |group: &&[&str]| {
            let there = group.iter().filter_map(|name| self.path(name));
            // Most tools look upwards from where they are started.
            let mut paths: Vec<String> = there.collect();
            for name in group.iter().map(|name| name.to_string()) {
                if !paths.contains(&name) {
                    paths.push(name);
                }
            }
            paths
        };
        let groups = groups(&name, subcommand.as_deref());
        groups.iter().map(paths).collect()
    }

    /// Returns the words that name a file which is run.
    pub fn scripts(&self) -> Vec<String> {
        let mut scripts = Vec::new();
        let command = self.words[0].as_str();
        // A command without a slash is looked for in PATH, not in the directory.
        if command.contains('/') {
            scripts.push(command.to_string());
        }
        let name = stem(command);
        let words = arguments_of(&name, &self.words);
        if matches!(name.as_str(), "." | "source") {
            scripts.extend(self.words.get(1).cloned());
        } else if let Some(options) = script_by_option(&name) {
            scripts.extend(scan(words, &options).files);
        } else if let Some(options) = interpreter(&name) {
            let found = scan(words, &options);
            let Arguments {
                operand,
                code,
                files,
            } = found;
            scripts.extend(files);
            let script = operand
                .map(|at| words[at].clone())
                .filter(|word| word != "-");
            if code.is_none() {
                scripts.extend(script.or_else(|| self.stdin.clone()));
            }
        }
        scripts
    }

    /// Returns the tool whose configuration counts, with its first operand; of `python -m tool` that is the tool.
    pub fn steered(&self) -> (String, Option<String>) {
        let name = stem(&self.words[0]);
        let operand = |words: &[String]| {
            let is_plain = |word: &&String| !word.starts_with(['-', '+']);
            words.iter().skip(1).find(is_plain).cloned()
        };
        match interpreter(&name).map(|options| scan(&self.words, &options).code) {
            Some(Some(('m', module))) => (module, None),
            Some(_) | None => (name, operand(&self.words)),
        }
    }
}

/// Returns the arguments to look at for a script: `deno run FILE` and `bun run FILE` have a word in between.
fn arguments_of<'w>(name: &str, words: &'w [String]) -> &'w [String] {
    match (name, words.get(1).map(String::as_str)) {
        ("deno" | "bun", Some("run" | "test")) => &words[1..],
        _ => words,
    }
}

/// Returns the program's name: the last part of its path, without a version at its end.
pub fn stem(command: &str) -> String {
    let name = command.rsplit('/').next().unwrap_or(command);
    match name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "" => name.to_string(),
        stem => stem.to_string(),
    }
}

/// Returns `path`, seen from `dir`, without `.` and `..`; `None` if it lies outside the repository.
pub fn join(dir: &str, path: &str) -> Option<String> {
    let (dir, path) = match path.strip_prefix(ROOT) {
        Some(path) => ("", path),
        None => (dir, path),
    };
    if path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = dir.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}
