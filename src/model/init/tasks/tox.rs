//! What tox runs in each of its environments, as tox.ini has it. Pure.

/// Returns the commands of an environment; without a name, the calls of those that are run where none is asked for.
pub(super) fn text_of(file: &str, name: &str) -> Option<String> {
    match name {
        "" => {
            let named = ["envlist", "env_list"].iter();
            let all = named.flat_map(|key| values(file, "tox", key));
            let names = all.flat_map(|line| line.split(','));
            // One of several factors, `py{311,312}-lint`, is called as a whole by nobody.
            let names = names
                .map(str::trim)
                .filter(|name| !name.is_empty() && !name.contains(['{', '}']));
            let calls: Vec<String> = names.map(|name| format!("tox -e {name}")).collect();
            (!calls.is_empty()).then(|| calls.join("\n"))
        }
        name => {
            let commands = values(file, &format!("testenv:{name}"), "commands");
            let commands = commands
                .into_iter()
                .map(|line| match line.strip_prefix('-') {
                    Some(line) => format!("{} || true", line.trim_start()),
                    None => line.to_owned(),
                });
            let commands: Vec<String> = commands.collect();
            (!commands.is_empty()).then(|| commands.join("\n"))
        }
    }
}

/// Returns the lines of a value: what stands behind its key, and what is indented below.
fn values<'t>(file: &'t str, section: &str, key: &str) -> Vec<&'t str> {
    let head = format!("[{section}]");
    let mut found = Vec::new();
    let (mut is_section, mut is_value) = (false, false);
    for line in file.lines().filter(|line| !line.trim().is_empty()) {
        let is_below = line.starts_with([' ', '\t']);
        let line = line.trim();
        if line.starts_with(['#', ';']) {
            continue;
        }
        let value = match line.split_once('=') {
            Some((name, value)) if !is_below && name.trim() == key => Some(value.trim()),
            _ => None,
        };
        match (line.starts_with('['), value) {
            _ if is_below && is_value => found.push(line),
            (true, _) => (is_section, is_value) = (line == head, false),
            (false, Some(value)) if is_section => {
                is_value = true;
                found.extend(Some(value).filter(|value| !value.is_empty()));
            }
            (false, _) => is_value = false,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_are_those_of_the_list_and_their_commands_those_of_their_section() {
        let file = "[tox]\nminversion = 4\nenv_list =\n    py3{11,12}, lint\n    # none\n    fmt\nskip = a\n\n\
            [testenv]\ncommands = pytest\n[testenv:fmt]\ndeps =\n  black\ncommands =\n  black .\n  - isort .\n[testenv:lint]\n\
            commands = ruff check .\n[other]\ncommands = x\n";
        assert_eq!(
            text_of(file, "").as_deref(),
            Some("tox -e lint\ntox -e fmt")
        );
        assert_eq!(
            text_of(file, "fmt").as_deref(),
            Some("black .\nisort . || true")
        );
        assert_eq!(text_of(file, "lint").as_deref(), Some("ruff check ."));
        assert_eq!(text_of(file, "py311"), None);
        assert_eq!(text_of("", ""), None);
    }
}
