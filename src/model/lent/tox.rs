//! What tox runs from outside of its own environments: where it does not install the project there (`skip_install`), such a program is
//! that of PATH, and finds the project by the environment that PATH leads to. Tox passes no PYTHONPATH on. Pure.

use std::collections::BTreeMap;

/// The section of what holds for all environments, before the name of one.
const COMMON: &str = "testenv";

/// Sections with what is set in each.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

/// Returns the programs of outside that a command has tox run, by the text of its settings in the form of `tox.ini`.
pub fn programs(command: &str, text: &str) -> Vec<String> {
    let sections = read(text);
    let mut found = Vec::new();
    for name in environments(command, &sections) {
        let own = format!("{COMMON}:{name}");
        let set = |key: &str| {
            let of = |section: &str| sections.get(section)?.get(key);
            of(&own).or_else(|| of(COMMON)).map_or("", String::as_str)
        };
        let is_true = |key| ["true", "yes", "on", "1"].contains(&set(key).to_lowercase().as_str());
        let is_led = [set("setenv"), set("set_env")]
            .concat()
            .contains("PYTHONPATH");
        if !is_true("skip_install") || is_led {
            continue;
        }
        let words = |text: &str| -> Vec<String> {
            let parts = text.split(|c: char| c.is_whitespace() || c == ',');
            parts.map(str::to_owned).collect()
        };
        let allowed = [
            words(set("allowlist_externals")),
            words(set("whitelist_externals")),
        ];
        let is_allowed = |program: &str| {
            let mut allowed = allowed.iter().flatten();
            allowed.any(|one| one == "*" || one == program)
        };
        let installs = set("deps");
        for line in set("commands").lines() {
            let program = line
                .trim_start_matches(['-', '!', ' '])
                .split_whitespace()
                .next();
            let Some(program) = program.filter(|it| !it.starts_with("python")) else {
                continue;
            };
            if is_allowed(program) && !installs.contains(program) {
                found.push(program.to_owned());
            }
        }
    }
    found
}

/// Returns the environments in which a command has tox run.
fn environments(command: &str, sections: &Sections) -> Vec<String> {
    let split = |text: &str| -> Vec<String> {
        let parts = text.split(|c: char| c.is_whitespace() || c == ',');
        let named = parts.filter(|part| !part.is_empty());
        named.map(str::to_owned).collect()
    };
    let mut found = Vec::new();
    for part in command.split([';', '&', '|', '(', ')', '\n']) {
        let mut words = part.split_whitespace();
        if !words.any(|word| word == "tox" || word.ends_with("/tox")) {
            continue;
        }
        let mut named = Vec::new();
        while let Some(word) = words.next() {
            if let Some(rest) = word.strip_prefix("-e") {
                let name = rest.trim_start_matches('=');
                let name = if name.is_empty() {
                    words.next()
                } else {
                    Some(name)
                };
                named.extend(split(name.unwrap_or_default()));
            }
        }
        if named.is_empty() {
            let of_tox = sections.get("tox");
            let list = of_tox.and_then(|tox| tox.get("env_list").or_else(|| tox.get("envlist")));
            named = split(list.map_or("py", String::as_str));
        }
        found.extend(named);
    }
    found
}

/// Reads settings: a line that begins with a space goes on with the one before.
fn read(text: &str) -> Sections {
    let mut sections = Sections::new();
    let (mut section, mut key) = (String::new(), String::new());
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        let named = line.strip_prefix('[').and_then(|it| it.split(']').next());
        if let Some(name) = named {
            section = name.trim_start_matches("tox:").to_owned();
            key.clear();
            continue;
        }
        let of_section = sections.entry(section.clone()).or_default();
        match line.split_once('=') {
            Some((name, value)) if !line.starts_with([' ', '\t']) => {
                key = name.trim().to_owned();
                of_section.insert(key.clone(), value.trim().to_owned());
            }
            Some(_) | None => {
                let value = of_section.entry(key.clone()).or_default();
                value.push('\n');
                value.push_str(bare);
            }
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tox_runs_programs_of_outside_where_it_may_and_has_not_installed_them_nor_the_project() {
        const INI: &str = "[tox]\nenv_list = t, extra\n\n[testenv]\nskip_install = true\nallowlist_externals = *\n\
            [testenv:t]\ncommands = pytest -q tests\n\
            [testenv:extra]\nallowlist_externals =\n    make\n    pytest\ncommands =\n    make docs\n    - pytest {posargs}\n    ruff check\n    python -m x\n\
            [testenv:installed]\nskip_install = false\ncommands = pytest\n\
            [testenv:own]\ndeps = pytest>=8\ncommands = pytest\n\
            [testenv:led]\nset_env = PYTHONPATH = src\ncommands = pytest\n";
        for (command, expected) in [
            ("tox -q -e t", &["pytest"][..]),
            ("tox run -et", &["pytest"]),
            ("cd x && tox -e=extra", &["make", "pytest"]),
            ("tox", &["pytest", "make", "pytest"]),
            ("tox -e installed,own,led", &[]),
            ("tox -e none", &[]),
            ("pytest", &[]),
        ] {
            assert_eq!(programs(command, INI), expected, "{command}");
        }
        let of_setup = "[tox:tox]\nenvlist = a\n[testenv:a]\nskip_install = True\nwhitelist_externals = pytest\ncommands = pytest\n";
        assert_eq!(programs("tox", of_setup), ["pytest"]);
        assert_eq!(programs("tox", ""), [""; 0]);
    }
}
